/* Systems with A = K + diag(shift) by conjugate gradients (Hestenes and Stiefel 1952), with a
 * Cholesky factor of A in float32, or one of A with jitter in float64, as the preconditioner. All
 * sums, and A itself, are float64, so that the solution is as exact as by a factor of A. Rounding
 * makes the preconditioner a slightly different matrix in each step, hence the directions of Polak
 * and Ribiere. */
#include "kernel_ridge.h"

/* k systems side by side; each vector n x k, each list k numbers. */
typedef struct gradients {
  const linear_system *s;
  size_t k;
  double *r, *x, *p, *q, *z;           /* residuals, solutions, directions, A p, preconditioned r */
  double *size, *rz, *alpha, *product; /* size: the largest entries of r at the beginning */
} gradients;

/* out_q = u_q'v_q for each column q. */
static void column_products(const gradients *g, const double *u, const double *v, double *out) {
  for (size_t q = 0; q < g->k; q++)
    out[q] = 0;
  for (size_t i = 0; i < g->s->m.rows; i++)
    for (size_t q = 0; q < g->k; q++)
      out[q] += u[i * g->k + q] * v[i * g->k + q];
}

/* out_q = the largest |v_iq| of each column q; NaN counts as the largest. */
static void column_sizes(const gradients *g, const double *v, double *out) {
  for (size_t q = 0; q < g->k; q++)
    out[q] = 0;
  for (size_t i = 0; i < g->s->m.rows; i++)
    for (size_t q = 0; q < g->k; q++)
      if (!(fabs(v[i * g->k + q]) <= out[q])) out[q] = fabs(v[i * g->k + q]);
}

/* z = M^-1 r, M the matrix that was factored. */
static scl_status gradients_precondition(const gradients *g, scl_error *error) {
  memcpy(g->z, g->r, g->s->m.rows * g->k * sizeof *g->z);
  const linear_system *s = g->s;
  if (s->f != NULL) return low_rank_solve(s, g->z, g->k, error);
  return s->narrow != NULL ? s->algebra->solve(s->narrow, g->z, g->k, error)
                           : s->host->symmetric->solve(s->a, g->z, g->k, error);
}

/* x = 0, p = z, and the sizes that residuals are compared to. */
static scl_status first_direction(const gradients *g, scl_error *error) {
  const size_t bytes = g->s->m.rows * g->k * sizeof *g->x;
  column_sizes(g, g->r, g->size);
  memset(g->x, 0, bytes);
  const scl_status status = gradients_precondition(g, error);
  memcpy(g->p, g->z, bytes);
  column_products(g, g->r, g->z, g->rz);
  return status;
}

/* x += alpha p, r -= alpha A p, alpha = r'z/p'A p. A column whose p'A p is not positive has
 * converged to rounding and stays. */
static scl_status gradients_step(const gradients *g, scl_error *error) {
  const scl_status status = linear_system_product(g->s, g->p, g->k, g->q, error);
  if (status != SCL_STATUS_OK) return status;
  column_products(g, g->p, g->q, g->product);
  for (size_t q = 0; q < g->k; q++)
    g->alpha[q] = g->product[q] > 0 ? g->rz[q] / g->product[q] : 0;
  for (size_t i = 0; i < g->s->m.rows; i++)
    for (size_t q = 0; q < g->k; q++) {
      const size_t at = i * g->k + q;
      g->x[at] += g->alpha[q] * g->p[at];
      g->r[at] -= g->alpha[q] * g->q[at];
    }
  return SCL_STATUS_OK;
}

/* p = z + beta p, beta = z'(r - r before)/(r'z before), where r - r before = -alpha A p. */
static scl_status gradients_turn(const gradients *g, scl_error *error) {
  const scl_status status = gradients_precondition(g, error);
  if (status != SCL_STATUS_OK) return status;
  column_products(g, g->z, g->q, g->product);
  for (size_t q = 0; q < g->k; q++)
    g->alpha[q] = g->rz[q] > 0 ? -g->alpha[q] * g->product[q] / g->rz[q] : 0;
  for (size_t i = 0; i < g->s->m.rows; i++)
    for (size_t q = 0; q < g->k; q++)
      g->p[i * g->k + q] = g->z[i * g->k + q] + g->alpha[q] * g->p[i * g->k + q];
  column_products(g, g->r, g->z, g->rz);
  return SCL_STATUS_OK;
}

/* Whether all columns have reached `within`. Uses g->product as scratch. */
static bool is_small(const gradients *g, double within) {
  column_sizes(g, g->r, g->product);
  for (size_t q = 0; q < g->k; q++)
    if (!(g->product[q] <= within * g->size[q])) return false;
  return true;
}

static scl_status gradients_iterate(const gradients *g, double within, size_t most,
                                    size_t *iterations, scl_error *error) {
  scl_status status = first_direction(g, error);
  for (size_t step = 0; status == SCL_STATUS_OK && step < most; step++) {
    status = gradients_step(g, error);
    ++*iterations;
    if (status != SCL_STATUS_OK || is_small(g, within)) return status;
    const double done = (double)(step + 1) / (double)most;
    status = g->s->problem->progress(g->s->problem, "conjugate gradients", done, NAN, error);
    if (status == SCL_STATUS_OK) status = gradients_turn(g, error);
  }
  return status;
}

scl_status gradients_solve(const linear_system *s, double *b, size_t k, double within, size_t most,
                           size_t *iterations, scl_error *error) {
  const size_t numbers = s->m.rows * k;
  double *room = s->host->allocate((4 * numbers + 4 * k) * sizeof *room);
  if (room == NULL)
    return s->host->fail(error, SCL_STATUS_NO_MEMORY,
                         "not enough memory for conjugate gradients on %zu rows", s->m.rows);
  double *lists = room + 4 * numbers;
  const gradients g = {.s = s,
                       .k = k,
                       .r = b,
                       .x = room,
                       .p = room + numbers,
                       .q = room + 2 * numbers,
                       .z = room + 3 * numbers,
                       .size = lists,
                       .rz = lists + k,
                       .alpha = lists + 2 * k,
                       .product = lists + 3 * k};
  const scl_status status = gradients_iterate(&g, within, most, iterations, error);
  memcpy(b, g.x, numbers * sizeof *b);
  s->host->release(room);
  return status;
}

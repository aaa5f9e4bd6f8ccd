/* Least squares for several lambdas at once, by conjugate gradients on shifted systems (Frommer and
 * Maass 1999, Fast CG-based methods for Tikhonov-Phillips regularization). The Krylov spaces of
 * A + lambda I from the right-hand side g do not depend on lambda, so that the products for the
 * smallest lambda serve all. With that system's step lengths alpha_k and ratios beta_k, and
 * s = lambda - lambda_min, the residual of lambda is zeta_k times that of lambda_min:
 *
 *   zeta_(k+1) = zeta_k zeta_(k-1) alpha_(k-1)
 *                / (alpha_k beta_(k-1) (zeta_(k-1) - zeta_k) + zeta_(k-1) alpha_(k-1) (1 + s alpha_k))
 *
 * and its own steps are alpha_k zeta_(k+1)/zeta_k, beta_k (zeta_(k+1)/zeta_k)^2. Each target is a
 * system of its own. With a constant, A is that of rows less their weighted mean m:
 * A p = X'W(X p - 1 m'p). */
#include "shared/csr_newton.h"

/* One column of one lambda. */
typedef struct shifted_column {
  double zeta, before; /* of this step and the last */
  double length, turn; /* this step's, of its solution and its direction */
} shifted_column;

typedef struct shifted_path {
  csr_newton *n;
  const double *lambdas; /* descending */
  scl_solution *const *out;
  size_t count;
  double *directions;      /* count x (d c) */
  double *means;           /* d c; NULL without a constant */
  shifted_column *columns; /* count x c */
  double *alphas, *betas;  /* c each: of the last step; 0: a column that is done */
  double *goals;           /* c */
} shifted_path;

size_t csr_shifted_bytes(const risk *r, size_t count) {
  return (count + 1) * r->problem->features * r->columns * sizeof(double);
}

static scl_status shifted_open(shifted_path *p, double goal, scl_error *error) {
  csr_newton *n = p->n;
  const risk *r = n->risk;
  const scl_host *host = r->problem->host;
  const size_t c = r->columns, size = r->problem->features * c;
  p->directions = host->scratch((p->count * size + 1) * sizeof(double));
  p->means = r->intercept ? host->scratch((size + 1) * sizeof(double)) : NULL;
  p->columns = host->scratch((p->count * c + 1) * sizeof *p->columns);
  p->alphas = host->scratch((3 * c + 1) * sizeof(double));
  if (p->directions == NULL || p->columns == NULL || p->alphas == NULL ||
      (r->intercept && p->means == NULL))
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu solutions of %zu",
                      p->count, size);
  p->betas = p->alphas + c;
  p->goals = p->betas + c;
  for (size_t k = 0; k < size; k++)
    n->rest[k] = n->turn[k] = -n->gradient[k];
  for (size_t l = 0; l < p->count; l++) {
    memcpy(p->directions + l * size, n->rest, size * sizeof(double));
    memset(p->out[l]->coefficients, 0, size * sizeof(double));
  }
  for (size_t j = 0; j < p->count * c; j++)
    p->columns[j] = (shifted_column){.zeta = 1, .before = 1};
  for (size_t j = 0; j < c; j++) {
    p->alphas[j] = 1;
    p->betas[j] = 0;
    p->goals[j] = goal * goal / (double)c;
  }
  return SCL_STATUS_OK;
}

/* The weighted mean of the rows, in each column of targets: A's product with a constant of 1. */
static scl_status shifted_means(shifted_path *p, scl_error *error) {
  csr_newton *n = p->n;
  const size_t c = n->risk->columns, size = n->risk->problem->features * c;
  if (p->means == NULL) return SCL_STATUS_OK;
  memset(n->step, 0, size * sizeof(double));
  for (size_t j = 0; j < c; j++)
    n->step[size + j] = 1;
  const scl_status status = csr_newton_multiply(n, n->step, error);
  memcpy(p->means, n->image, size * sizeof(double));
  return status;
}

/* n->image = (A + lambda_min I) n->turn */
static scl_status shifted_multiply(shifted_path *p, scl_error *error) {
  csr_newton *n = p->n;
  const size_t c = n->risk->columns, size = n->risk->problem->features * c;
  for (size_t j = 0; p->means != NULL && j < c; j++)
    n->turn[size + j] = 0;
  const scl_status status = csr_newton_multiply(n, n->turn, error);
  for (size_t k = 0; p->means != NULL && k < size; k++)
    n->image[k] -= p->means[k] * n->image[size + k % c];
  return status;
}

static void shifted_dots(size_t size, size_t c, const double *x, const double *y, double *dots) {
  memset(dots, 0, c * sizeof *dots);
  for (size_t k = 0; k < size; k += c)
    for (size_t j = 0; j < c; j++)
      dots[j] += x[k + j] * y[k + j];
}

/* The steps of a lambda's columns; false: all of them are at their goal. */
static bool shifted_lengths(const shifted_path *p, size_t l, const double *alphas,
                            const double *squares) {
  const size_t c = p->n->risk->columns;
  const double shift = p->lambdas[l] - p->lambdas[p->count - 1];
  bool any = false;
  for (size_t j = 0; j < c; j++) {
    shifted_column *k = &p->columns[l * c + j];
    k->length = 0;
    if (alphas[j] == 0 || k->zeta * k->zeta * squares[j] <= p->goals[j]) continue;
    const double next = k->zeta * k->before * p->alphas[j] /
                        (alphas[j] * p->betas[j] * (k->before - k->zeta) +
                         k->before * p->alphas[j] * (1 + shift * alphas[j]));
    k->length = alphas[j] * next / k->zeta;
    k->before = k->zeta;
    k->zeta = next;
    any = true;
  }
  return any;
}

/* One lambda's solution moves along its direction, which turns to the new residual. */
static void shifted_move(const shifted_path *p, size_t l, const double *betas) {
  const csr_newton *n = p->n;
  const size_t c = n->risk->columns, size = n->risk->problem->features * c;
  double *x = p->out[l]->coefficients, *direction = p->directions + l * size;
  for (size_t j = 0; j < c; j++) {
    shifted_column *k = &p->columns[l * c + j];
    const double ratio = k->zeta / k->before;
    k->turn = betas[j] * ratio * ratio;
  }
  const shifted_column *columns = &p->columns[l * c];
  for (size_t k = 0; k < size; k += c)
    for (size_t j = 0; j < c; j++) {
      if (columns[j].length == 0) continue;
      x[k + j] += columns[j].length * direction[k + j];
      direction[k + j] = columns[j].zeta * n->rest[k + j] + columns[j].turn * direction[k + j];
    }
}

/* A step of all lambdas. squares (c): of the residual; *open: whether one is above its goal. */
static scl_status shifted_step(shifted_path *p, double *squares, bool *open, scl_error *error) {
  csr_newton *n = p->n;
  const size_t c = n->risk->columns, size = n->risk->problem->features * c;
  double *alphas = n->lengths, *betas = n->goals;
  const scl_status status = shifted_multiply(p, error);
  if (status != SCL_STATUS_OK) return status;
  bool moves[CSR_SHIFTED_MOST];
  shifted_dots(size, c, n->turn, n->image, alphas);
  for (size_t j = 0; j < c; j++) /* not above 0: rounding */
    alphas[j] = squares[j] > p->goals[j] && alphas[j] > 0 ? squares[j] / alphas[j] : 0;
  for (size_t l = 0; l < p->count; l++)
    moves[l] = shifted_lengths(p, l, alphas, squares);
  for (size_t k = 0; k < size; k += c)
    for (size_t j = 0; j < c; j++)
      n->rest[k + j] -= alphas[j] * n->image[k + j];
  shifted_dots(size, c, n->rest, n->rest, betas);
  *open = false;
  for (size_t j = 0; j < c; j++) {
    const double square = betas[j];
    betas[j] = alphas[j] > 0 ? square / squares[j] : 0;
    squares[j] = alphas[j] > 0 ? square : 0;
    p->alphas[j] = alphas[j];
    p->betas[j] = betas[j];
    *open = *open || squares[j] > p->goals[j];
  }
  for (size_t l = 0; l < p->count; l++)
    if (moves[l]) shifted_move(p, l, betas);
  for (size_t k = 0; k < size; k += c)
    for (size_t j = 0; j < c; j++)
      n->turn[k + j] = n->rest[k + j] + betas[j] * n->turn[k + j];
  return SCL_STATUS_OK;
}

scl_status csr_shifted_path(csr_newton *n, risk *r, const double *lambdas, size_t count,
                            double goal, size_t most, scl_solution *const *out, size_t *steps,
                            scl_error *error) {
  shifted_path p = {.n = n, .lambdas = lambdas, .out = out, .count = count};
  const scl_problem *problem = n->risk->problem;
  const size_t c = n->risk->columns, size = problem->features * c;
  bool open = true;
  r->lambda = 0;
  scl_status status = csr_newton_bends(n, error);
  if (status == SCL_STATUS_OK) status = shifted_open(&p, goal, error);
  if (status == SCL_STATUS_OK) status = shifted_means(&p, error);
  r->lambda = lambdas[count - 1];
  shifted_dots(size, c, n->rest, n->rest, n->squares);
  *steps = 0;
  for (; *steps < most && open && status == SCL_STATUS_OK; (*steps)++) {
    status = problem->progress(problem, "solving", (double)*steps / (double)most, NAN, error);
    if (status == SCL_STATUS_OK) status = shifted_step(&p, n->squares, &open, error);
  }
  for (size_t l = 0; l < count && p.means != NULL && status == SCL_STATUS_OK; l++) {
    shifted_dots(size, c, p.means, out[l]->coefficients, n->lengths);
    for (size_t j = 0; j < c; j++)
      out[l]->intercept[j] = n->x[size + j] - n->lengths[j];
  }
  return status;
}

/* The coefficients' side of box: an interior point method for a convex loss on |a_j| <= bound, D
 * coefficients (Wright 1997, Primal-Dual Interior-Point Methods):
 *
 *   grad loss(a) + upper - lower = 0,
 *   upper (bound - a) = lower (bound + a) = mu,   mu -> 0
 *
 * Newton's step, with H the Hessian of the loss:
 *
 *   (H + diag(upper/(bound - a) + lower/(bound + a))) da
 *       = -grad - mu/(bound - a) + mu/(bound + a)
 *
 * A step costs one Cholesky factorisation; about twenty steps are needed, whatever the condition of
 * H. The point, the system and the step are the same for all losses. Each product has a separate
 * goal: a predictor step towards 0 gives the second-order error of the products, and the corrector
 * step compensates for it (Mehrotra 1992). */
#include "box.h"

#include <float.h>

void interior_box_close(interior_box *b) {
  b->host->symmetric->destroy(b->matrix);
  b->host->release(b->a);
}

/* The nine vectors share one allocation, which starts at b->a. */
scl_status interior_box_open(interior_box *b, const scl_host *host, size_t order, double bound,
                             bool with_matrix, scl_error *error) {
  *b = (interior_box){.host = host, .order = order, .bound = bound};
  scl_status status = SCL_STATUS_OK;
  if (with_matrix) status = host->symmetric->create(order, &b->matrix, error);
  if (status == SCL_STATUS_OK) b->a = host->allocate(9 * order * sizeof *b->a);
  if (status == SCL_STATUS_OK && b->a == NULL)
    status =
        host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients", order);
  if (status != SCL_STATUS_OK) {
    interior_box_close(b);
    return status;
  }
  double **const vectors[] = {&b->a,       &b->upper, &b->lower, &b->upper_goal, &b->lower_goal,
                              &b->descent, &b->step,  &b->work,  &b->best};
  for (size_t i = 1; i < sizeof vectors / sizeof *vectors; i++)
    *vectors[i] = b->a + i * order;
  return SCL_STATUS_OK;
}

void interior_box_start(interior_box *b, double mu) {
  b->constant = 0;
  b->least_gap = INFINITY;
  b->idle = 0;
  for (size_t j = 0; j < b->order; j++) {
    b->a[j] = 0;
    b->upper[j] = b->lower[j] = mu / b->bound;
  }
}

/* Steps without progress count only below 1e-6 of the first gap: far from the solution the gap may
 * rise for a while without rounding being the reason. */
bool interior_box_note(interior_box *b, double gap) {
  if (b->least_gap == INFINITY) b->first_gap = gap;
  b->idle = gap < b->least_gap / 2 || b->least_gap > 1e-6 * b->first_gap ? 0 : b->idle + 1;
  b->least_gap = fmin(b->least_gap, gap);
  if (gap < b->best_gap) {
    b->best_gap = gap;
    b->best_constant = b->constant;
    memcpy(b->best, b->a, b->order * sizeof *b->a);
  }
  return isfinite(gap) && b->idle < 20;
}

double interior_box_barrier(const interior_box *b, size_t j) {
  return b->upper[j] / (b->bound - b->a[j]) + b->lower[j] / (b->bound + b->a[j]);
}

scl_status interior_box_factor(interior_box *b, const scl_symmetric *hessian, scl_error *error) {
  const scl_symmetric_algebra *algebra = b->host->symmetric;
  scl_status status = SCL_STATUS_NUMERIC;
  algebra->diagonal(hessian, b->work);
  for (size_t j = 0; j < b->order; j++)
    b->work[j] += interior_box_barrier(b, j);
  for (double jitter = 0; status == SCL_STATUS_NUMERIC && jitter <= 1;
       jitter = jitter == 0 ? 1e-15 : 10 * jitter) {
    size_t pivot;
    algebra->copy(hessian, b->matrix);
    for (size_t j = 0; j < b->order; j++) {
      const double entry = b->work[j] + jitter * fmax(b->work[j], DBL_MIN);
      algebra->set(b->matrix, j, 1, j, 1, &entry, 1);
    }
    status = algebra->factor(b->matrix, &pivot, error);
  }
  return status;
}

void interior_box_aim(interior_box *b, double mu) {
  for (size_t j = 0; j < b->order; j++)
    b->upper_goal[j] = b->lower_goal[j] = mu;
}

/* The dual step of `upper` that belongs to step[j], from the linearised product: (upper + up)
 * (bound - a) - upper step = upper_goal. */
static double interior_box_upper_step(const interior_box *b, size_t j) {
  return (b->upper_goal[j] + b->upper[j] * b->step[j]) / (b->bound - b->a[j]) - b->upper[j];
}

/* The same for `lower`: (lower + low) (bound + a) + lower step = lower_goal. */
static double interior_box_lower_step(const interior_box *b, size_t j) {
  return (b->lower_goal[j] - b->lower[j] * b->step[j]) / (b->bound + b->a[j]) - b->lower[j];
}

void interior_box_correct(interior_box *b, double mu) {
  for (size_t j = 0; j < b->order; j++) {
    const double up = interior_box_upper_step(b, j), low = interior_box_lower_step(b, j);
    b->upper_goal[j] = mu + up * b->step[j];
    b->lower_goal[j] = mu - low * b->step[j];
  }
}

void interior_box_side(interior_box *b) {
  for (size_t j = 0; j < b->order; j++)
    b->step[j] = b->descent[j] + b->lower_goal[j] / (b->bound + b->a[j]) -
                 b->upper_goal[j] / (b->bound - b->a[j]);
}

scl_status interior_box_direct(interior_box *b, scl_error *error) {
  interior_box_side(b);
  return b->host->symmetric->solve(b->matrix, b->step, 1, error);
}

/* A length of 0 leaves the step out of the sum, as it may hold no numbers yet. */
double interior_box_products(const interior_box *b, double primal, double dual) {
  double sum = 0;
  for (size_t j = 0; j < b->order; j++) {
    const double up = dual == 0 ? 0 : dual * interior_box_upper_step(b, j),
                 low = dual == 0 ? 0 : dual * interior_box_lower_step(b, j);
    const double a = primal == 0 ? b->a[j] : b->a[j] + primal * b->step[j];
    sum += (b->upper[j] + up) * (b->bound - a) + (b->lower[j] + low) * (b->bound + a);
  }
  return sum;
}

/* The factor 0.995 keeps the point off the boundary. */
void interior_limit(double from, double by, double *length) {
  if (by < 0) *length = fmin(*length, -0.995 * from / by);
}

void interior_box_limit(const interior_box *b, double *primal, double *dual) {
  for (size_t j = 0; j < b->order; j++) {
    interior_limit(b->bound - b->a[j], -b->step[j], primal);
    interior_limit(b->bound + b->a[j], b->step[j], primal);
    interior_limit(b->upper[j], interior_box_upper_step(b, j), dual);
    interior_limit(b->lower[j], interior_box_lower_step(b, j), dual);
  }
}

void interior_box_move(interior_box *b, double primal, double dual) {
  for (size_t j = 0; j < b->order; j++) {
    const double up = interior_box_upper_step(b, j), low = interior_box_lower_step(b, j);
    b->upper[j] += dual * up;
    b->lower[j] += dual * low;
    const double edge = b->bound * (1 - DBL_EPSILON);
    b->a[j] = fmax(-edge, fmin(edge, b->a[j] + primal * b->step[j]));
  }
}

/* Mehrotra's rule: sigma = (after/before)^3, mu = sigma before/number. */
double interior_goal(double before, double after, double number) {
  const double left = before > 0 ? fmax(after, 0) / before : 0;
  return left * left * left * before / number;
}

double interior_share(double length) {
  return length > 0.95 ? 0.03 : length > 0.7 ? 0.15 : length > 0.3 ? 0.4 : 0.8;
}

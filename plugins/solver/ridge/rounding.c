/* What the rounding of the sums does to a solution of S x = right, S = A + w P, and its repair by
 * passes over the rows.
 *
 * The entries of A are sums over rows, each off by about e sqrt(A_ii A_jj), e the rounding of the
 * features' type. So A x is off by about
 *
 *   v_i = e sqrt(A_ii) (sum_j A_jj x_j^2)^1/2,
 *
 * and predictions, relative to their size, by q(S^-1 v)/q(x), q(x)^2 = x'A x, itself known to e
 * sum_i A_ii x_i^2. With fewer rows than features predictions of other rows see what A does not:
 * q(x)^2 = sum_i A_ii x_i^2, or x'(A + w P) x with an RKHS penalty, whose norm bounds them. The
 * signs of v are drawn. Where that is more than `careless`, the residual is computed from the rows,
 * whose products are not squared, and corrects x (corrected seminormal equations: Bjorck 1987):
 *
 *   r = Phi'W (y - Phi x - constant) - w P x,   x += S^-1 r
 *
 * as long as corrections fall by half or more; then by conjugate gradients on the rows. */
#include "ridge.h"

enum { ROUNDING_PASSES = 8, ROUNDING_STEPS = 16, ROUNDING_PATIENCE = 4 };

/* The thresholds depend on whether sums are made of float32 features (unit > 1e-10) or of
 * float64. */
scl_status rounding_open(ridge_rounding *r, const refined_system *system, double unit,
                         scl_error *error) {
  const size_t count = system->order * system->columns;
  const bool narrow = unit > 1e-10;
  *r = (ridge_rounding){.system = system,
                        .unit = unit,
                        .careless = narrow ? 1e-2 : 1e-6,
                        .limit = narrow ? 1e-1 : 1e-4,
                        .enough = narrow ? 1e-3 : 1e-8};
  r->change = system->host->scratch((7 * count + system->order + 1) * sizeof *r->change);
  if (r->change == NULL)
    return system->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients",
                              count);
  r->residual = r->change + count;
  r->image = r->residual + count;
  r->start = r->image + count;
  r->direction = r->start + count;
  r->zero = r->direction + count;
  r->norm = r->zero + count;
  r->diagonal = r->norm + count;
  system->host->symmetric->diagonal(system->base, r->diagonal);
  return SCL_STATUS_OK;
}

/* A pseudo-random sign for place i: the highest bit of a multiple of i. */
static double rounding_sign(size_t i) { return ((uint64_t)i * 0x9e3779b97f4a7c15u) >> 63 ? 1 : -1; }

/* Sets residual = v, with drawn signs. */
static void rounding_fill(ridge_rounding *r, const double *x) {
  const size_t n = r->system->order, c = r->system->columns;
  for (size_t j = 0; j < c; j++) {
    double square = 0;
    for (size_t i = 0; i < n; i++)
      square += fmax(r->diagonal[i], 0) * x[i * c + j] * x[i * c + j];
    for (size_t i = 0; i < n; i++)
      r->residual[i * c + j] =
          r->unit * sqrt(fmax(r->diagonal[i], 0) * square) * rounding_sign(i * c + j);
  }
}

/* image = Q x, q(x)^2 = x'Q x */
static scl_status rounding_measure(ridge_rounding *r, const double *x, scl_error *error) {
  const refined_system *s = r->system;
  const size_t c = s->columns, count = s->order * c;
  scl_status status = s->host->symmetric->multiply(s->base, x, c, r->image, error);
  if (status != SCL_STATUS_OK || !r->wide) return status;
  if (s->extra != NULL) status = s->host->symmetric->multiply(s->extra, x, c, r->norm, error);
  for (size_t i = 0; i < count; i++)
    r->image[i] =
        s->extra != NULL ? r->image[i] + s->weight * r->norm[i] : r->diagonal[i / c] * x[i];
  return status;
}

/* Sets r->share to the largest q(change)/q(x) over columns. */
static scl_status rounding_compare(ridge_rounding *r, const double *x, scl_error *error) {
  const refined_system *s = r->system;
  const size_t n = s->order, c = s->columns;
  const double *of[2] = {r->change, x};
  double worst = 0;
  for (int k = 0; k < 2; k++) {
    const scl_status status = rounding_measure(r, of[k], error);
    if (status != SCL_STATUS_OK) return status;
    for (size_t j = 0; j < c; j++) {
      double sum = 0, unsure = 0;
      for (size_t i = 0; i < n; i++) {
        const double value = of[k][i * c + j];
        sum += value * r->image[i * c + j];
        unsure += r->unit * r->diagonal[i] * value * value;
      }
      if (k == 0)
        s->share[j] = fmax(sum, 0) + unsure;
      else if (s->share[j] > 0)
        worst = fmax(worst, sum > 0 ? sqrt(s->share[j] / sum) : INFINITY);
    }
  }
  r->share = worst;
  return SCL_STATUS_OK;
}

scl_status rounding_estimate(ridge_rounding *r, const double *x, scl_error *error) {
  const refined_system *s = r->system;
  rounding_fill(r, x);
  memcpy(r->change, r->residual, s->order * s->columns * sizeof *r->change);
  const scl_status status = s->host->symmetric->solve(s->factor, r->change, s->columns, error);
  return status == SCL_STATUS_OK ? rounding_compare(r, x, error) : status;
}

/* Returns the size of the current residual for r->rest: the largest entry over that of `right`, the
 * worst of all columns. Entries are scaled by refined_largest. */
static double rounding_rest(const ridge_rounding *r, const double *right) {
  const refined_system *s = r->system;
  double worst = 0;
  refined_largest(s, right, s->size);
  refined_largest(s, r->residual, s->worst);
  for (size_t j = 0; j < s->columns; j++)
    if (s->size[j] > 0) worst = fmax(worst, s->worst[j] / s->size[j]);
  return worst;
}

/* One pass over the rows: corrects x, and sets r->share to the size of the correction. */
static scl_status rounding_correct(ridge_rounding *r, ridge_residual residual, void *context,
                                   const double *right, double *x, double factored,
                                   scl_error *error) {
  const refined_system *s = r->system;
  refined_account account = {.factored = factored};
  scl_status status = residual(context, x, r->residual, error);
  if (status == SCL_STATUS_OK) r->rest = rounding_rest(r, right);
  if (status == SCL_STATUS_OK) status = refined_again(s, r->residual, r->change, &account, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < s->order * s->columns; i++)
    x[i] += r->change[i];
  r->passes++;
  return rounding_compare(r, x, error);
}

/* Corrects until the corrections are small enough or stop falling. The remaining error is
 * estimated as the last correction times the factor by which it fell. */
static scl_status rounding_refine(ridge_rounding *r, ridge_residual residual, void *context,
                                  const double *right, double *x, double factored, double *left,
                                  scl_error *error) {
  double last = INFINITY;
  *left = INFINITY;
  while (*left > r->enough && r->passes < ROUNDING_PASSES) {
    const scl_status status = rounding_correct(r, residual, context, right, x, factored, error);
    if (status != SCL_STATUS_OK) return status;
    if (!(r->share <= last / 2)) break;
    *left = last < INFINITY ? r->share * (r->share / last) : r->share;
    last = r->share;
  }
  if (!(r->rest <= r->careless)) *left = INFINITY; /* corrections are small, and far from enough */
  return SCL_STATUS_OK;
}

/* x_j'y_j for column j of two order x columns matrices. */
static double rounding_dot(const ridge_rounding *r, size_t j, const double *x, const double *y) {
  const size_t c = r->system->columns;
  double sum = 0;
  for (size_t i = j; i < r->system->order * c; i += c)
    sum += x[i] * y[i];
  return sum;
}

/* direction = M^-1 residual, made conjugate to the last one; energy: r'M^-1 r of each column. */
static scl_status rounding_turn(ridge_rounding *r, bool first, double *energy, scl_error *error) {
  const refined_system *s = r->system;
  const size_t c = s->columns, count = s->order * c;
  memcpy(r->change, r->residual, count * sizeof *r->change);
  const scl_status status = s->host->symmetric->solve(s->factor, r->change, c, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++) {
    const double now = rounding_dot(r, j, r->residual, r->change),
                 beta = first || !(energy[j] > 0) ? 0 : now / energy[j];
    for (size_t i = j; i < count; i += c)
      r->direction[i] = r->change[i] + (beta == 0 ? 0 : beta * r->direction[i]);
    energy[j] = now;
  }
  return status;
}

/* Conjugate gradients on the rows themselves, preconditioned by the factor M of the sums, from x. A
 * product S p is the residual of 0 less that of p, so that the residual is the only function
 * needed. Ends when two corrections in a row are small, or none has been smaller for
 * ROUNDING_PATIENCE steps. */
static scl_status rounding_descend(ridge_rounding *r, ridge_residual residual, void *context,
                                   const double *right, double *x, double *left, scl_error *error) {
  const refined_system *s = r->system;
  const size_t c = s->columns, count = s->order * c, most = r->passes + ROUNDING_STEPS;
  double small = 0, least = INFINITY, *energy = s->energy;
  size_t since = 0; /* steps without a smaller correction */
  memset(r->direction, 0, count * sizeof *r->direction);
  scl_status status = residual(context, r->direction, r->zero, error);
  if (status == SCL_STATUS_OK) status = residual(context, x, r->residual, error);
  *left = INFINITY;
  for (bool first = true;
       status == SCL_STATUS_OK && r->passes < most && small < 2 && since < ROUNDING_PATIENCE;
       first = false) {
    status = rounding_turn(r, first, energy, error);
    if (status == SCL_STATUS_OK) status = residual(context, r->direction, r->image, error);
    for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++) {
      double bend = 0;
      for (size_t i = j; i < count; i += c)
        bend += r->direction[i] * (r->zero[i] - r->image[i]);
      const double length = energy[j] > 0 && bend > 0 ? energy[j] / bend : 0;
      for (size_t i = j; i < count; i += c) {
        r->change[i] = length * r->direction[i];
        x[i] += r->change[i];
        r->residual[i] -= length * (r->zero[i] - r->image[i]);
      }
    }
    r->passes++;
    if (status == SCL_STATUS_OK) status = rounding_compare(r, x, error);
    small = r->share <= r->enough ? small + 1 : 0;
    since = r->share < least ? 0 : since + 1;
    least = fmin(least, r->share);
  }
  if (status == SCL_STATUS_OK) status = residual(context, x, r->residual, error);
  if (status != SCL_STATUS_OK) return status;
  r->rest = rounding_rest(r, right);
  *left = small >= 2 && r->rest <= r->careless ? r->share : INFINITY;
  return SCL_STATUS_OK;
}

scl_status rounding_repair(ridge_rounding *r, ridge_residual residual, void *context,
                           const double *right, double *x, double factored, scl_error *error) {
  const size_t bytes = r->system->order * r->system->columns * sizeof *x;
  double left;
  memcpy(r->start, x, bytes);
  scl_status status = rounding_refine(r, residual, context, right, x, factored, &left, error);
  if (status == SCL_STATUS_OK && left > r->careless) {
    memcpy(x, r->start, bytes);
    status = rounding_descend(r, residual, context, right, x, &left, error);
  }
  if (left > r->careless) memcpy(x, r->start, bytes);
  r->share = left;
  return status;
}

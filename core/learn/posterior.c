/* Making posteriors, and draws from them. posterior_rows.c applies them to rows. */
#include "learn/posterior_internal.h"

#include "base/random.h"
#include "learn/problem_internal.h"
#include "plugin/solver.h"
#include <math.h>
#include <string.h>

/* Jitter: shares of the diagonal. */
static const double LEAST_JITTER = 1e-15, MOST_JITTER = 1e-4;

void scl_posterior_destroy(scl_posterior *posterior) {
  if (posterior == NULL) return;
  scl_symmetric_destroy(posterior->factor);
  SCL_RELEASE(posterior->mean, posterior->phi, posterior);
}

scl_status scl_posterior_empty(size_t features, size_t targets, size_t rows, scl_posterior **out,
                               scl_error *error) {
  scl_posterior *p = scl_allocate_zero(sizeof *p);
  const size_t numbers = features + 2 * targets;
  if (p == NULL) return scl_fail_memory(error, sizeof *p, "a posterior");
  *p = (scl_posterior){.features = features, .targets = targets, .rows = rows};
  p->mean = scl_allocate_zero((numbers + 1) * sizeof *p->mean);
  if (rows > 0) p->phi = scl_allocate_array(rows * features + 1, sizeof *p->phi);
  scl_status status =
      p->mean == NULL || (rows > 0 && p->phi == NULL)
          ? scl_fail_memory(error, (numbers + rows * features) * sizeof *p->mean, "a posterior")
          : scl_symmetric_create(rows > 0 ? rows : features, &p->factor, error);
  if (status != SCL_STATUS_OK) {
    scl_posterior_destroy(p);
    return status;
  }
  p->evidence = p->mean + features;
  p->residual = p->evidence + targets;
  *out = p;
  return SCL_STATUS_OK;
}

/* ------------ the factor */

/* factor = moment + weight P, plus a share of its diagonal. */
static void assemble(const scl_posterior *p, const scl_symmetric *moment, const scl_symmetric *gram,
                     double share, double *diagonal) {
  const scl_symmetric_algebra *algebra = &scl_service_symmetric;
  algebra->copy(moment, p->factor);
  if (gram != NULL)
    algebra->add(p->weight, gram, p->factor);
  else
    algebra->shift(p->weight, p->factor);
  if (share == 0) return;
  algebra->diagonal(p->factor, diagonal);
  for (size_t i = 0; i < algebra->order(p->factor); i++) {
    const double entry = diagonal[i] * (1 + share);
    algebra->set(p->factor, i, 1, i, 1, &entry, 1);
  }
}

/* Factor, with ten times as much jitter until it succeeds. */
static scl_status factor(scl_posterior *p, const scl_symmetric *moment, const scl_symmetric *gram,
                         scl_error *error) {
  const size_t order = scl_symmetric_order(p->factor);
  double *diagonal = scl_allocate_array(order + 1, sizeof *diagonal);
  if (diagonal == NULL) return scl_fail_memory(error, order * sizeof *diagonal, "a diagonal");
  scl_status status = SCL_STATUS_NUMERIC;
  for (p->jitter = 0; status == SCL_STATUS_NUMERIC && p->jitter <= MOST_JITTER;) {
    size_t pivot;
    assemble(p, moment, gram, p->jitter, diagonal);
    status = scl_service_symmetric.factor(p->factor, &pivot, error);
    if (status == SCL_STATUS_NUMERIC) p->jitter = p->jitter == 0 ? LEAST_JITTER : 10 * p->jitter;
  }
  scl_release(diagonal);
  return status;
}

/* ------------ primal */

/* evidence = y'y - right'a = ||y - Phi a||^2 + weight a'P a, and the first of the two. */
static scl_status measure(scl_posterior *p, const scl_normal *normal, scl_error *error) {
  const size_t d = p->features, c = p->targets;
  double *a = scl_allocate_array(2 * d * c + 1, sizeof *a), *image = a + d * c;
  if (a == NULL) return scl_fail_memory(error, 2 * d * c * sizeof *a, "coefficients");
  memcpy(a, normal->right, d * c * sizeof *a);
  scl_status status = scl_service_symmetric.solve(p->factor, a, c, error);
  if (status == SCL_STATUS_OK)
    status = scl_service_symmetric.multiply(normal->moment, a, c, image, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++) {
    double explained = 0, square = 0;
    for (size_t i = 0; i < d; i++) {
      explained += normal->right[i * c + j] * a[i * c + j];
      square += image[i * c + j] * a[i * c + j];
    }
    p->evidence[j] = fmax(normal->square[j] - explained, 0);
    p->residual[j] = fmax(normal->square[j] - 2 * explained + square, 0);
  }
  scl_release(a);
  return status;
}

static scl_status make_primal(scl_posterior *p, solve_context *s, const scl_symmetric *gram,
                              double lambda, scl_error *error) {
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  SCL_TRY(scl_problem_normal(&s->problem, &normal, error));
  p->total = normal.total;
  p->weight = normal.total * lambda;
  SCL_TRY(factor(p, normal.moment, gram, error));
  SCL_TRY(measure(p, &normal, error));
  const double *pilot = s->training->flow.pilot;
  for (size_t i = 0; p->constant && i < p->features; i++)
    p->mean[i] = s->totals.mean_phi[i] + (pilot == NULL ? 0 : pilot[i]);
  return SCL_STATUS_OK;
}

/* ------------ dual */

/* phi = the rows of the features, less their weighted mean with a constant, times the roots of the
 * weights; y (n x c) likewise. */
static void centre_rows(scl_posterior *p, double *y, const double *weights) {
  const size_t n = p->rows, d = p->features, c = p->targets;
  double *mean_y = p->evidence; /* not made yet */
  p->total = 0;
  for (size_t i = 0; i < n; i++) {
    p->total += weights[i];
    for (size_t j = 0; p->constant && j < d; j++)
      p->mean[j] += weights[i] * p->phi[i * d + j];
    for (size_t j = 0; p->constant && j < c; j++)
      mean_y[j] += weights[i] * y[i * c + j];
  }
  for (size_t j = 0; j < d; j++)
    p->mean[j] /= p->total;
  for (size_t j = 0; j < c; j++)
    mean_y[j] /= p->total;
  for (size_t i = 0; i < n; i++) {
    const double root = sqrt(weights[i]);
    for (size_t j = 0; j < d; j++)
      p->phi[i * d + j] = root * (p->phi[i * d + j] - p->mean[j]);
    for (size_t j = 0; j < c; j++)
      y[i * c + j] = root * (y[i * c + j] - mean_y[j]);
  }
}

/* With b = (K + weight I)^-1 y: evidence = weight y'b, residual = weight^2 b'b. */
static scl_status measure_dual(scl_posterior *p, const double *y, scl_error *error) {
  const size_t n = p->rows, c = p->targets;
  double *b = scl_allocate_array(n * c + 1, sizeof *b);
  if (b == NULL) return scl_fail_memory(error, n * c * sizeof *b, "coefficients");
  memcpy(b, y, n * c * sizeof *b);
  const scl_status status = scl_service_symmetric.solve(p->factor, b, c, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++) {
    p->evidence[j] = p->residual[j] = 0;
    for (size_t i = 0; i < n; i++) {
      p->evidence[j] += p->weight * y[i * c + j] * b[i * c + j];
      p->residual[j] += p->weight * p->weight * b[i * c + j] * b[i * c + j];
    }
  }
  scl_release(b);
  return status;
}

/* *outer = phi phi' */
static scl_status outer_of(const scl_posterior *p, scl_symmetric **outer, scl_error *error) {
  const size_t n = p->rows, d = p->features;
  double *turned = scl_allocate_array(n * d + 1, sizeof *turned);
  scl_status status = turned == NULL ? scl_fail_memory(error, n * d * sizeof *turned, "features")
                                     : scl_symmetric_create(n, outer, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < n; i++)
    for (size_t j = 0; j < d; j++)
      turned[j * n + i] = p->phi[i * d + j];
  if (status == SCL_STATUS_OK)
    status = scl_symmetric_accumulate(*outer, SCL_DTYPE_FLOAT64, turned, (ptrdiff_t)n, d, error);
  scl_release(turned);
  return status;
}

static scl_status make_dual(scl_posterior *p, solve_context *s, double lambda, scl_error *error) {
  const size_t n = p->rows, c = p->targets;
  scl_symmetric *outer = NULL;
  double *y = scl_allocate_array(n * (c + 1) + 1, sizeof *y), *weights = y + n * c;
  if (y == NULL) return scl_fail_memory(error, n * (c + 1) * sizeof *y, "targets");
  scl_status status = s->problem.responses(&s->problem, y, weights, error);
  if (status == SCL_STATUS_OK) status = scl_posterior_features(&s->training->flow, p->phi, error);
  if (status == SCL_STATUS_OK) {
    centre_rows(p, y, weights);
    p->weight = p->total * lambda;
    status = outer_of(p, &outer, error);
  }
  if (status == SCL_STATUS_OK) status = factor(p, outer, NULL, error);
  if (status == SCL_STATUS_OK) status = measure_dual(p, y, error);
  scl_symmetric_destroy(outer);
  scl_release(y);
  return status;
}

/* ------------ making */

static scl_status make(scl_training *training, solve_context *s, const scl_instance *solver,
                       double lambda, bool by_sums, scl_posterior **out, scl_error *error) {
  const scl_symmetric *gram = NULL;
  const size_t d = s->problem.features, n = s->problem.rows;
  if (scl_solver_penalty(solver) == SCL_PENALTY_RKHS)
    SCL_TRY(scl_training_gram(training, &gram, error));
  const bool dual = d > n && !by_sums && gram == NULL && lambda > 0;
  SCL_TRY(scl_posterior_empty(d, s->problem.targets, dual ? n : 0, out, error));
  (*out)->constant = s->problem.intercept != 0;
  return dual ? make_dual(*out, s, lambda, error) : make_primal(*out, s, gram, lambda, error);
}

scl_status scl_posterior_create(scl_training *training, const scl_instance *solver, double lambda,
                                bool by_sums, scl_posterior **out, scl_error *error) {
  solve_context s;
  scl_posterior *p = NULL;
  SCL_TRY(scl_problem_open(&s, training, solver, -1, error));
  const scl_status status = make(training, &s, solver, lambda, by_sums, &p, error);
  scl_problem_close(&s);
  if (status == SCL_STATUS_OK)
    *out = p;
  else
    scl_posterior_destroy(p);
  return status;
}

/* ------------ draws */

/* z (count numbers) of a target of a draw. */
static void draw_numbers(uint64_t seed, uint64_t address, size_t count, double *z) {
  scl_random_normal(seed, SCL_STREAM_POSTERIOR, address, 0, count, z);
}

/* Primal: weights = L'^-1 z. */
static scl_status draw_primal(const scl_posterior *p, uint64_t seed, uint64_t draw, double *z,
                              double *weights, scl_error *error) {
  const size_t d = p->features, c = p->targets;
  for (size_t j = 0; j < c; j++) {
    draw_numbers(seed, draw * c + j, d, z);
    for (size_t i = 0; i < d; i++)
      weights[i * c + j] = z[i];
  }
  return scl_service_symmetric.triangular(p->factor, 1, weights, c, error);
}

/* Dual: with a of the prior N(0, I / weight) and e of N(0, I), a + Phi_c' (Phi_c Phi_c' + weight
 * I)^-1 (e - Phi_c a) has the posterior's covariance (Matheron's rule). */
static scl_status draw_dual(const scl_posterior *p, uint64_t seed, uint64_t draw, double *z,
                            double *weights, scl_error *error) {
  const size_t d = p->features, c = p->targets, n = p->rows;
  double *a = z, *e = z + d;
  for (size_t j = 0; j < c; j++) {
    draw_numbers(seed, draw * c + j, d + n, z);
    for (size_t i = 0; i < d; i++)
      a[i] /= sqrt(p->weight);
    for (size_t i = 0; i < n; i++)
      for (size_t k = 0; k < d; k++)
        e[i] -= p->phi[i * d + k] * a[k];
    SCL_TRY(scl_service_symmetric.solve(p->factor, e, 1, error));
    for (size_t i = 0; i < n; i++)
      for (size_t k = 0; k < d; k++)
        a[k] += p->phi[i * d + k] * e[i];
    for (size_t i = 0; i < d; i++)
      weights[i * c + j] = a[i];
  }
  return SCL_STATUS_OK;
}

/* The number after those of the weights is that of the constant. */
scl_status scl_posterior_draw(const scl_posterior *posterior, uint64_t seed, uint64_t draw,
                              double *weights, double *constants, scl_error *error) {
  const size_t d = posterior->features, c = posterior->targets, n = posterior->rows;
  double *z = scl_allocate_array(d + n + 1, sizeof *z);
  if (z == NULL) return scl_fail_memory(error, (d + n) * sizeof *z, "random numbers");
  scl_status status = (n > 0 ? draw_dual : draw_primal)(posterior, seed, draw, z, weights, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++) {
    scl_random_normal(seed, SCL_STREAM_POSTERIOR, draw * c + j, d + n, 1, z);
    constants[j] = posterior->constant ? z[0] / sqrt(posterior->total) : 0;
    for (size_t i = 0; i < d; i++)
      constants[j] -= posterior->mean[i] * weights[i * c + j];
  }
  scl_release(z);
  return status;
}

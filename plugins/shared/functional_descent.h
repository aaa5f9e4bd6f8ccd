/* Descent in the space of weight functions (Dube and Marchand 2023, sections 5.1 and 5.2): alpha =
 * sum_t a_t K(w_t, .) begins at 0, and step t brings parameter w_t, learning from a minibatch of
 * its own,
 *
 *   alpha <- s alpha + a_t K(w_t, .),   f(x) = sum_t a_t Phi_t(x),
 *       Phi_t(x) = E_{w~p} K(w_t, w) phi(w, x)
 *
 * What the methods of this kind share: options, losses, scores of a minibatch, and ||alpha||^2 =
 * a'Ga kept up by column t of G. A step costs O(t) a row. With c targets a is T x c and the norm
 * that of all columns together. Everything is in the problem's scale, where features are
 * exp(-log_scale) times the true ones and coefficients exp(log_scale) times: norms and scores are
 * the true ones. */
#ifndef SCULLERY_SHARED_FUNCTIONAL_DESCENT_H
#define SCULLERY_SHARED_FUNCTIONAL_DESCENT_H

#include "shared/losses.h"
#include "shared/minibatch.h"
#include <string.h>

/* ---------------------------------------------------------------- options: these rows follow the
 * solver's own */

enum {
  FUNCTIONAL_BATCH,
  FUNCTIONAL_ITERATIONS,
  FUNCTIONAL_SEED,
  FUNCTIONAL_LOSS,
  FUNCTIONAL_DELTA,
  FUNCTIONAL_OPTIONS
};

#define FUNCTIONAL_ROWS                                                                            \
  {"batch",                                                                                        \
   SCL_FORM_INTEGER,                                                                               \
   NULL,                                                                                           \
   "100",                                                                                          \
   1,                                                                                              \
   1e9,                                                                                            \
   0,                                                                                              \
   SCL_WIDTH_NONE,                                                                                 \
   "rows a step, drawn with replacement; at most all rows"},                                       \
      {"iterations",                                                                               \
       SCL_FORM_INTEGER,                                                                           \
       NULL,                                                                                       \
       NULL,                                                                                       \
       1,                                                                                          \
       1e9,                                                                                        \
       0,                                                                                          \
       SCL_WIDTH_NONE,                                                                             \
       "steps, each of which takes the next parameter; absent: T"},                                \
      {"seed",         SCL_FORM_INTEGER,    NULL, "0", 0, 9007199254740992, 0,                     \
       SCL_WIDTH_NONE, "of the minibatches"},                                                      \
      {"loss",                                                                                     \
       SCL_FORM_WORD,                                                                              \
       "square|logistic|hinge|huber",                                                              \
       "square",                                                                                   \
       0,                                                                                          \
       0,                                                                                          \
       0,                                                                                          \
       SCL_WIDTH_NONE,                                                                             \
       "square: (f - y)^2/2; logistic (softmax for several classes) and hinge tell classes "       \
       "apart; huber"},                                                                            \
  {                                                                                                \
    "delta", SCL_FORM_NUMBER, NULL, "1", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,    \
        SCL_WIDTH_NONE, "where huber's loss turns from square to absolute, in the target's units"  \
  }

typedef struct functional_loss {
  const char *name;
  loss_of_row of_row;
  int classes; /* for classification alone */
} functional_loss;

/* First member of the instances. */
typedef struct functional {
  const scl_host *host;
  functional_loss loss;
  double delta;
  size_t batch, iterations; /* iterations 0: as many as there are parameters */
  uint64_t seed;
} functional;

static inline functional functional_read(const scl_host *host, const scl_value *values) {
  static const functional_loss losses[] = {{"square", loss_square, 0},
                                           {"logistic", loss_logistic, 1},
                                           {"hinge", loss_hinge, 1},
                                           {"huber", loss_huber, 0}};
  functional self = {
      host, losses[0], values[FUNCTIONAL_DELTA].number, (size_t)values[FUNCTIONAL_BATCH].number,
      0,    0};
  for (size_t k = 0; k < sizeof losses / sizeof *losses; k++)
    if (strcmp(values[FUNCTIONAL_LOSS].word, losses[k].name) == 0) self.loss = losses[k];
  if (values[FUNCTIONAL_ITERATIONS].form != 0)
    self.iterations = (size_t)values[FUNCTIONAL_ITERATIONS].number;
  self.seed = (uint64_t)values[FUNCTIONAL_SEED].number;
  return self;
}

/* ---------------------------------------------------------------- one descent */

typedef struct functional_descent {
  const functional *self;
  const scl_problem *problem;
  const scl_symmetric_algebra *symmetric;
  const scl_dense_algebra *algebra;
  const scl_symmetric *gram;
  size_t steps, columns, known; /* known: parameters that have coefficients */
  double square;                /* ||alpha||^2 */
  double
      mean_row_weight;  /* of all rows, so that heavy rows count as heavy in a batch drawn evenly */
  double *a;            /* T x c */
  double *between, *at; /* column t of G (T); alpha(w_t) of each target (c) */
  double *phi;          /* batch x (t + 1) */
  double *scores, *targets; /* batch x c */
  double *shares,
      *delta; /* weight of each row of the batch in a mean; c times delta, the loss's context */
} functional_descent;

static inline scl_status functional_check(const functional *self, const scl_problem *problem,
                                          scl_error *error) {
  const scl_host *host = self->host;
  if (!problem->has_kernel)
    return host->fail(error, SCL_STATUS_UNSUPPORTED,
                      "it learns a weight function in the space of a K, and these features have "
                      "none: give sc.instantiation a K");
  if (problem->features != problem->parameters)
    return host->fail(error, SCL_STATUS_UNSUPPORTED,
                      "it takes one feature a parameter, and here %zu parameters make %zu: choose "
                      "a nonlinearity with one output",
                      problem->parameters, problem->features);
  if (self->iterations > problem->parameters)
    return host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "iterations = %zu is more than the T = %zu parameters, and each step takes a new one",
        self->iterations, problem->parameters);
  if (self->loss.classes && problem->task != SCL_TASK_CLASSIFICATION)
    return host->fail(
        error, SCL_STATUS_UNSUPPORTED,
        "loss = \"%s\" tells classes apart, and the targets are numbers: square and huber fit them",
        self->loss.name);
  return batch_check(problem, self->batch, error);
}

static inline void functional_close(functional_descent *d) {
  d->self->host->release(d->between);
}

static inline scl_status functional_mean_weight(functional_descent *d, scl_error *error) {
  const size_t n = d->problem->rows;
  double *weights = d->self->host->allocate((n + 1) * sizeof *weights), sum = 0;
  if (weights == NULL)
    return d->self->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu row weights",
                               n);
  const scl_status status = d->problem->responses(d->problem, NULL, weights, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < n; i++)
    sum += weights[i];
  d->mean_row_weight = sum / (double)n;
  d->self->host->release(weights);
  if (status == SCL_STATUS_OK && !(sum > 0))
    return d->self->host->fail(error, SCL_STATUS_BAD_DATA, "all row weights are 0");
  return status;
}

/* a: T x c numbers of the caller's, zeros. */
static inline scl_status functional_open(functional_descent *d, const functional *self,
                                         const scl_problem *problem, double *a, scl_error *error) {
  const size_t T = problem->parameters, c = problem->targets;
  *d = (functional_descent){.self = self, .problem = problem, .a = a, .columns = c};
  scl_status status = functional_check(self, problem, error);
  if (status != SCL_STATUS_OK) return status;
  d->steps = self->iterations == 0 ? T : self->iterations;
  d->symmetric = self->host->service(SCL_SERVICE_SYMMETRIC);
  d->algebra = self->host->service(SCL_SERVICE_DENSE_ALGEBRA);
  d->between =
      self->host->allocate((T + 2 * c + self->batch * (T + 2 * c + 1)) * sizeof *d->between);
  if (d->between == NULL)
    return self->host->fail(error, SCL_STATUS_NO_MEMORY,
                            "not enough memory for batches of %zu rows", self->batch);
  d->at = d->between + T;
  d->delta = d->at + c;
  d->scores = d->delta + c;
  d->targets = d->scores + self->batch * c;
  d->shares = d->targets + self->batch * c;
  d->phi = d->shares + self->batch;
  for (size_t j = 0; j < c; j++)
    d->delta[j] = self->delta;
  status = problem->gram(problem, &d->gram, error);
  if (status == SCL_STATUS_OK) status = functional_mean_weight(d, error);
  if (status != SCL_STATUS_OK) functional_close(d);
  return status;
}

/* ---------------------------------------------------------------- a step's minibatch */

/* Targets, shares, features and, from those that have coefficients, scores. */
static inline scl_status functional_rows(void *context, const scl_rows *rows, scl_error *error) {
  functional_descent *d = context;
  const size_t c = d->columns, width = rows->features.cols;
  (void)error;
  rows_widen(rows, 0, rows->count, d->phi);
  memcpy(d->targets, rows->targets, rows->count * c * sizeof *d->targets);
  for (size_t i = 0; i < rows->count; i++)
    d->shares[i] = rows_weight(rows, i) / (d->mean_row_weight * (double)rows->count);
  if (d->known == 0)
    memset(d->scores, 0, rows->count * c * sizeof *d->scores);
  else
    d->algebra->gemm(0, 0, rows->count, c, d->known, 1, d->phi, (ptrdiff_t)width, d->a,
                     (ptrdiff_t)c, 0, d->scores, (ptrdiff_t)c);
  return SCL_STATUS_OK;
}

/* Step t (from 0): its rows with `count` features each, and where alpha stands at w_t. */
static inline scl_status functional_step(functional_descent *d, size_t t, size_t count,
                                         scl_error *error) {
  const scl_problem *problem = d->problem;
  const size_t c = d->columns;
  scl_status status = problem->progress(problem, (double)t / (double)d->steps, "descending", error);
  if (status == SCL_STATUS_OK)
    status = problem->minibatch(problem, d->self->seed, t, d->self->batch, 0, count, 0,
                                functional_rows, d, error);
  if (status != SCL_STATUS_OK) return status;
  d->symmetric->column(d->gram, t, d->between);
  memset(d->at, 0, c * sizeof *d->at);
  for (size_t k = 0; k < t; k++)
    for (size_t j = 0; j < c; j++)
      d->at[j] += d->a[k * c + j] * d->between[k];
  return SCL_STATUS_OK;
}

/* alpha <- shrink alpha + a_t K(w_t, .), the norm with it; a_t (c numbers) stands in row t of a. */
static inline void functional_move(functional_descent *d, size_t t, double shrink) {
  const size_t c = d->columns;
  const double *new = d->a + t *c;
  double along = 0, own = 0;
  for (size_t j = 0; j < c; j++) {
    along += new[j] * d->at[j];
    own += new[j] * new[j];
  }
  d->square = fmax(0, shrink * (shrink * d->square + 2 * along) + d->between[t] * own);
  for (size_t i = 0; i < t * c; i++)
    d->a[i] *= shrink;
  d->known = t + 1;
}

static inline void functional_scale(functional_descent *d, double factor) {
  for (size_t i = 0; i < d->known * d->columns; i++)
    d->a[i] *= factor;
  d->square *= factor * factor;
}

/* ---------------------------------------------------------------- SCL_ABILITY_LOSS */

static inline double functional_value(const void *instance, size_t c, const double *f,
                                      const double *y) {
  const functional *self = instance;
  double sum = 0, slope = 0;
  if (self->loss.of_row == loss_logistic && c > 1) return loss_log_sum(c, f) - f[loss_truth(c, y)];
  for (size_t j = 0; j < c; j++)
    sum += self->loss.of_row(&self->delta, 1, f + j, y + j, &slope);
  return sum;
}

static inline void functional_slope(const void *instance, size_t c, const double *f,
                                    const double *y, double *out) {
  const functional *self = instance;
  if (self->loss.of_row == loss_logistic) {
    (void)loss_logistic(NULL, c, f, y, out);
    return;
  }
  for (size_t j = 0; j < c; j++)
    (void)self->loss.of_row(&self->delta, 1, f + j, y + j, out + j);
}

/* For |f| <= reach and |y| <= 1 the loss and its slope are largest at f = reach, y = -1. */
static inline double functional_bound(const void *instance, double reach) {
  const double y = -1;
  return functional_value(instance, 1, &reach, &y);
}

static inline double functional_lipschitz(const void *instance, double reach) {
  const double y = -1;
  double slope;
  functional_slope(instance, 1, &reach, &y, &slope);
  return fabs(slope);
}

static inline int functional_probabilities(const void *instance, size_t c, const double *f,
                                           double *out) {
  if (((const functional *)instance)->loss.of_row != loss_logistic) return 0;
  loss_logistic_probabilities(c, f, out);
  return 1;
}

static inline const void *functional_ability(const void *instance, const char *id) {
  static const scl_ability_loss table = {SCL_HEAD(scl_ability_loss), functional_value,
                                         functional_slope,           functional_bound,
                                         functional_lipschitz,       functional_probabilities};
  (void)instance;
  return strcmp(id, SCL_ABILITY_LOSS) == 0 ? &table : NULL;
}

#endif

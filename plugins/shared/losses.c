#include "shared/losses.h"

#include <float.h>

/* ------------ the logistic loss */

/* log(1 + exp(x)) without overflow */
static double loss_softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }

static double loss_sigmoid(double x) { return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x)); }

/* out = softmax of f (out may be f; NULL: not wanted); returns log sum exp f. */
static double loss_softmax(size_t c, const double *f, double *out) {
  double most = f[0], sum = 0;
  for (size_t j = 1; j < c; j++)
    most = fmax(most, f[j]);
  for (size_t j = 0; j < c; j++)
    sum += exp(f[j] - most);
  const double all = most + log(sum);
  for (size_t j = 0; out != NULL && j < c; j++)
    out[j] = exp(f[j] - all);
  return all;
}

size_t loss_truth(size_t c, const double *y) {
  size_t truth = 0;
  for (size_t j = 1; j < c; j++)
    if (y[j] > y[truth]) truth = j;
  return truth;
}

static double loss_logistic_column(double f, double y, double *slope) {
  const double margin = y * f;
  *slope = -y * loss_sigmoid(-margin);
  return loss_softplus(-margin);
}

static double loss_logistic_joint(size_t c, const double *f, const double *y, double *slope) {
  const size_t truth = loss_truth(c, y);
  const double at_truth = f[truth], value = loss_softmax(c, f, slope) - at_truth;
  if (slope != NULL) slope[truth] -= 1;
  return value;
}

static double loss_logistic_curvature(double f, double y) {
  const double share = loss_sigmoid(-y * f);
  return share * (1 - share);
}

/* -s y is the probability of the wrong class, and the conjugate minus the entropy. */
static double loss_logistic_conjugate(double s, double y) {
  const double share = -y * s, rest = 1 - share;
  return (share > 0 ? share * log(share) : 0) + (rest > 0 ? rest * log(rest) : 0);
}

/* ------------ the exponential loss */

static double loss_exponential_column(double f, double y, double *slope) {
  const double value = exp(-y * f);
  *slope = -y * value;
  return value;
}

static double loss_exponential_curvature(double f, double y) { return exp(-y * f); }

/* u log u - u, u = -s y */
static double loss_exponential_conjugate(double s, double y) {
  const double u = -s * y;
  return u > 0 ? u * log(u) - u : u < 0 ? INFINITY : 0;
}

/* The minimiser of the mean is half of the log-odds. */
static double loss_exponential_probability(double f) { return loss_sigmoid(2 * f); }

/* ------------ the square */

static double loss_square_column(double f, double y, double *slope) {
  *slope = f - y;
  return (f - y) * (f - y) / 2;
}

static double loss_square_curvature(double f, double y) {
  (void)f, (void)y;
  return 1;
}

static double loss_square_conjugate(double s, double y) { return s * (y + s / 2); }

/* ------------ the table */

#define LOSS_ROW(constant, word, formula, ...) {.name = word, __VA_ARGS__},

const loss_function losses[LOSS_COUNT] = {LOSSES(LOSS_ROW)};

/* ------------ the loss of a solver */

double loss_shortfall(const loss_function *l, double f, double y) {
  return l->classes ? 1 - y * f : y - f;
}

double loss_column(const loss_choice *choice, double f, double y, double *slope) {
  const loss_function *l = loss_of(choice);
  if (l->column != NULL) return l->column(f, y, slope);
  const double u = loss_shortfall(l, f, y), unit = l->scaled ? choice->delta : 1;
  const double s = l->bend > 0 ? fmax(unit * l->low, fmin(unit * l->high, u / l->bend))
                   : u > 0     ? unit * l->high
                               : unit * l->low;
  *slope = l->classes ? -s * y : -s;
  return s * (u - l->bend * s / 2);
}

double loss_row(const loss_choice *choice, size_t c, const double *f, const double *y,
                double *slope) {
  const loss_function *l = loss_of(choice);
  double value = 0, unwanted;
  if (c > 1 && l->joint != NULL && !choice->apart) return l->joint(c, f, y, slope);
  for (size_t j = 0; j < c; j++)
    value += loss_column(choice, f[j], y[j], slope == NULL ? &unwanted : slope + j);
  return value;
}

scl_status loss_check(const loss_choice *choice, const scl_problem *problem, scl_error *error) {
  if (!loss_of(choice)->classes || problem->task == SCL_TASK_CLASSIFICATION) return SCL_STATUS_OK;
  return problem->host->fail(
      error, SCL_STATUS_UNSUPPORTED,
      "the %s loss is for classification (task = \"classification\"), and the targets are numbers",
      loss_of(choice)->name);
}

/* ------------ SCL_ABILITY_LOSS
 *
 * `self` is an instance that begins with a loss_choice. */

static double loss_value(const void *self, size_t c, const double *f, const double *y) {
  return loss_row(self, c, f, y, NULL);
}

static void loss_slope(const void *self, size_t c, const double *f, const double *y, double *out) {
  (void)loss_row(self, c, f, y, out);
}

static double loss_bound(const void *self, double reach) {
  double slope;
  return loss_column(self, reach, -1, &slope);
}

static double loss_lipschitz(const void *self, double reach) {
  double slope;
  (void)loss_column(self, reach, -1, &slope);
  return fabs(slope);
}

/* Columns apart (one class against the others): their probabilities over the sum of them. */
static int32_t loss_probabilities(const void *self, size_t c, const double *f, double *out) {
  const loss_choice *choice = self;
  const loss_function *l = loss_of(choice);
  double sum = 0;
  if (l->probability == NULL) return 0;
  if (c == 1) {
    const double score = f[0];
    out[0] = l->probability(-score);
    out[1] = l->probability(score);
    return 1;
  }
  if (l->joint != NULL && !choice->apart) {
    (void)l->joint_probabilities(c, f, out);
    return 1;
  }
  for (size_t j = 0; j < c; j++)
    sum += out[j] = fmax(l->probability(f[j]), DBL_MIN);
  for (size_t j = 0; j < c; j++)
    out[j] /= sum;
  return 1;
}

const scl_ability_loss loss_ability = {
    SCL_HEAD(scl_ability_loss), .value = loss_value,         .slope = loss_slope,
    .bound = loss_bound,        .lipschitz = loss_lipschitz, .probabilities = loss_probabilities};

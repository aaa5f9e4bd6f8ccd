/* The losses that solvers minimise, one row of a table each: a loss is added here once, and every
 * solver that can use it offers it.
 *
 * A data row has c scores f and c targets y. Classes are coded +-1: one column for two classes,
 * else one a class, with +1 at the true one. A loss is a sum over the columns of a convex function
 * of one score; the logistic loss of several classes joins their columns (softmax).
 *
 *   square          (f - y)^2 / 2
 *   logistic        log(1 + exp(-y f)); several classes: log sum_j exp f_j - f_truth
 *   hinge           max(0, 1 - y f)
 *   squared_hinge   max(0, 1 - y f)^2 / 2
 *   huber           r^2 / 2 where |r| <= delta, else delta |r| - delta^2 / 2, r = f - y
 *
 * All have the form (the logistic loss and the square as functions of their own)
 *
 *   l(f, y) = max { s u - (bend/2) s^2 : low <= s <= high },
 *             u = 1 - y f for losses of classes, u = y - f for the others,
 *
 * so that a row of numbers says value, slope and conjugate. Over |f| <= reach and |y| <= 1 every
 * loss and its slope are largest at f = reach, y = -1. */
#ifndef SCULLERY_SHARED_LOSSES_H
#define SCULLERY_SHARED_LOSSES_H

#include <float.h>
#include <scullery/plugin.h>

/* ------------------------------------------------------------ the logistic loss */

/* log(1 + exp(x)) without overflow */
static inline double loss_softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }

static inline double loss_sigmoid(double x) {
  return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

/* out = softmax of f (out may be f; NULL: not wanted); returns log sum exp f. */
static inline double loss_softmax(size_t c, const double *f, double *out) {
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

/* The column of the true class. */
static inline size_t loss_truth(size_t c, const double *y) {
  size_t truth = 0;
  for (size_t j = 1; j < c; j++)
    if (y[j] > y[truth]) truth = j;
  return truth;
}

static inline double loss_logistic_column(double f, double y, double *slope) {
  const double margin = y * f;
  *slope = -y * loss_sigmoid(-margin);
  return loss_softplus(-margin);
}

static inline double loss_logistic_joint(size_t c, const double *f, const double *y,
                                         double *slope) {
  const size_t truth = loss_truth(c, y);
  const double at_truth = f[truth], value = loss_softmax(c, f, slope) - at_truth;
  if (slope != NULL) slope[truth] -= 1;
  return value;
}

static inline double loss_logistic_curvature(double f, double y) {
  const double share = loss_sigmoid(-y * f);
  return share * (1 - share);
}

/* -s y is the probability of the wrong class, and the conjugate minus the entropy. */
static inline double loss_logistic_conjugate(double s, double y) {
  const double share = -y * s, rest = 1 - share;
  return (share > 0 ? share * log(share) : 0) + (rest > 0 ? rest * log(rest) : 0);
}

/* ------------------------------------------------------------ the square */

static inline double loss_square_column(double f, double y, double *slope) {
  *slope = f - y;
  return (f - y) * (f - y) / 2;
}

static inline double loss_square_curvature(double f, double y) {
  (void)f, (void)y;
  return 1;
}

static inline double loss_square_conjugate(double s, double y) { return s * (y + s / 2); }

/* ------------------------------------------------------------ the table */

typedef struct loss_function {
  const char *name;
  bool classes; /* of y f, for classification alone; else of f - y, for numbers and classes */
  /* Piecewise linear or quadratic losses: the form above. */
  double low, high, bend;
  bool scaled; /* low and high are in units of delta */
  /* The others, of one column: value and slope in f; the second derivative; the largest
   * s f - l(f, y) over f. NULL: the form above. */
  double (*column)(double f, double y, double *slope);
  double (*curvature)(double f, double y);
  double (*conjugate)(double s, double y);
  double (*probability)(double f); /* of the class +1; NULL: the loss says none */
  /* Several classes whose columns are joined: value and slope (NULL: not wanted), probabilities. */
  double (*joint)(size_t c, const double *f, const double *y, double *slope);
  double (*joint_probabilities)(size_t c, const double *f, double *out);
} loss_function;

/* X(constant, name, formula, members of the row) */
#define LOSSES(X)                                                                                  \
  X(SQUARE, "square", "(f - y)^2/2", .column = loss_square_column,                                 \
    .curvature = loss_square_curvature, .conjugate = loss_square_conjugate)                        \
  X(LOGISTIC, "logistic", "log(1 + exp(-y f))", .classes = true, .column = loss_logistic_column,   \
    .curvature = loss_logistic_curvature, .conjugate = loss_logistic_conjugate,                    \
    .probability = loss_sigmoid, .joint = loss_logistic_joint,                                     \
    .joint_probabilities = loss_softmax)                                                           \
  X(HINGE, "hinge", "max(0, 1 - y f)", .classes = true, .high = 1)                                 \
  X(SQUARED_HINGE, "squared_hinge", "max(0, 1 - y f)^2/2", .classes = true, .high = INFINITY,      \
    .bend = 1)                                                                                     \
  X(HUBER, "huber", "r^2/2 for |r| = |f - y| <= delta, else delta |r| - delta^2/2", .low = -1,     \
    .high = 1, .bend = 1, .scaled = true)

#define LOSS_CONSTANT(constant, name, formula, ...) LOSS_##constant,
enum { LOSSES(LOSS_CONSTANT) LOSS_COUNT };

#define LOSS_ROW(constant, word, formula, ...) {.name = word, __VA_ARGS__},
static const loss_function losses[LOSS_COUNT] = {LOSSES(LOSS_ROW)};

/* Each text begins with a separator that is left out. */
#define LOSS_WORD(constant, name, formula, ...) "|" name
#define LOSS_HELP(constant, name, formula, ...) "; " name ": " formula

/* ------------------------------------------------------------ the loss of a solver */

/* The beginning of the instance of a solver that minimises one of these losses. */
typedef struct loss_choice {
  scl_base base;
  int32_t loss;
  bool apart; /* each column is a problem of its own, also where the loss could join them */
  double delta;
} loss_choice;

/* The options of a solver that takes any of the losses. */
#define LOSS_OPTIONS                                                                               \
  {.name = "loss",                                                                                 \
   .help = &(LOSSES(LOSS_HELP))[2],                                                                \
   .words = &(LOSSES(LOSS_WORD))[1],                                                               \
   .fallback = "square",                                                                           \
   .forms = SCL_FORM_WORD,                                                                         \
   SCL_AT(loss_choice, loss)},                                                                     \
  {                                                                                                \
    .name = "delta", .help = "where huber's loss turns from square to absolute, in target units",  \
    .fallback = "1", .forms = SCL_FORM_NUMBER, SCL_AT(loss_choice, delta), SCL_POSITIVE            \
  }

static inline const loss_function *loss_of(const loss_choice *choice) {
  return &losses[choice->loss];
}

/* u of the form above */
static inline double loss_shortfall(const loss_function *l, double f, double y) {
  return l->classes ? 1 - y * f : y - f;
}

/* One column: value, and slope in f. */
static inline double loss_column(const loss_choice *choice, double f, double y, double *slope) {
  const loss_function *l = loss_of(choice);
  if (l->column != NULL) return l->column(f, y, slope);
  const double u = loss_shortfall(l, f, y), unit = l->scaled ? choice->delta : 1;
  const double s = l->bend > 0 ? fmax(unit * l->low, fmin(unit * l->high, u / l->bend))
                   : u > 0     ? unit * l->high
                               : unit * l->low;
  *slope = l->classes ? -s * y : -s;
  return s * (u - l->bend * s / 2);
}

/* A row: value, and slope (c numbers; may be f; NULL: not wanted). */
static inline double loss_row(const loss_choice *choice, size_t c, const double *f, const double *y,
                              double *slope) {
  const loss_function *l = loss_of(choice);
  double value = 0, unwanted;
  if (c > 1 && l->joint != NULL && !choice->apart) return l->joint(c, f, y, slope);
  for (size_t j = 0; j < c; j++)
    value += loss_column(choice, f[j], y[j], slope == NULL ? &unwanted : slope + j);
  return value;
}

/* Refuse targets that are numbers where the loss is for classes alone. */
static inline scl_status loss_check(const loss_choice *choice, const scl_problem *problem,
                                    scl_error *error) {
  if (!loss_of(choice)->classes || problem->task == SCL_TASK_CLASSIFICATION) return SCL_STATUS_OK;
  return problem->host->fail(error, SCL_STATUS_UNSUPPORTED,
                             "the %s loss tells classes apart, and the targets are numbers: it is "
                             "for classification (task = \"classification\")",
                             loss_of(choice)->name);
}

/* ------------------------------------------------------------ SCL_ABILITY_LOSS
 *
 * `self` is an instance that begins with a loss_choice. */

static inline double loss_value(const void *self, size_t c, const double *f, const double *y) {
  return loss_row(self, c, f, y, NULL);
}

static inline void loss_slope(const void *self, size_t c, const double *f, const double *y,
                              double *out) {
  (void)loss_row(self, c, f, y, out);
}

static inline double loss_bound(const void *self, double reach) {
  double slope;
  return loss_column(self, reach, -1, &slope);
}

static inline double loss_lipschitz(const void *self, double reach) {
  double slope;
  (void)loss_column(self, reach, -1, &slope);
  return fabs(slope);
}

/* Columns apart (one class against the others): their probabilities over the sum of them. */
static inline int32_t loss_probabilities(const void *self, size_t c, const double *f, double *out) {
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

static const scl_ability_loss loss_ability = {
    SCL_HEAD(scl_ability_loss), .value = loss_value,         .slope = loss_slope,
    .bound = loss_bound,        .lipschitz = loss_lipschitz, .probabilities = loss_probabilities};

#endif

/* The losses that solvers minimise, one row of a table each: a loss is added here once, and every
 * solver that can use it offers it.
 *
 * A data row has c scores f and c targets y. Classes are coded +-1: one column for two classes,
 * else one a class, with +1 at the true one. A loss is a sum over the columns of a convex function
 * of one score; the logistic loss of several classes joins their columns (softmax).
 *
 *   square          (f - y)^2 / 2
 *   logistic        log(1 + exp(-y f)); several classes: log sum_j exp f_j - f_truth
 *   exponential     exp(-y f)
 *   hinge           max(0, 1 - y f)
 *   squared_hinge   max(0, 1 - y f)^2 / 2
 *   huber           r^2 / 2 where |r| <= delta, else delta |r| - delta^2 / 2, r = f - y
 *
 * All have the form (the smooth ones as functions of their own)
 *
 *   l(f, y) = max { s u - (bend/2) s^2 : low <= s <= high },
 *             u = 1 - y f for losses of classes, u = y - f for the others,
 *
 * so that a row of numbers says value, slope and conjugate. Over |f| <= reach and |y| <= 1 every
 * loss and its slope are largest at f = reach, y = -1. */
#ifndef SCULLERY_SHARED_LOSSES_H
#define SCULLERY_SHARED_LOSSES_H

#include <scullery/plugin.h>

/* The column of the true class. */
size_t loss_truth(size_t c, const double *y);

typedef struct loss_function {
  const char *name;
  bool classes; /* a loss of y f, for classification only; else of f - y, for both tasks */
  /* Piecewise linear or quadratic losses: the form above. */
  double low, high, bend;
  bool scaled; /* low and high are in units of delta */
  /* The others, of one column: value and slope in f; the second derivative; the largest
   * s f - l(f, y) over f. NULL: the form above. */
  double (*column)(double f, double y, double *slope);
  double (*curvature)(double f, double y);
  double (*conjugate)(double s, double y);
  double (*probability)(double f); /* of the class +1; NULL: the loss defines none */
  /* Several classes whose columns are joined: value and slope (NULL: not wanted), probabilities. */
  double (*joint)(size_t c, const double *f, const double *y, double *slope);
  double (*joint_probabilities)(size_t c, const double *f, double *out);
} loss_function;

/* X(constant, name, formula, members of the row) */
#define LOSSES(X) \
  X(SQUARE, "square", "(f - y)^2/2", .column = loss_square_column, \
    .curvature = loss_square_curvature, .conjugate = loss_square_conjugate) \
  X(LOGISTIC, "logistic", "log(1 + exp(-y f))", .classes = true, .column = loss_logistic_column, \
    .curvature = loss_logistic_curvature, .conjugate = loss_logistic_conjugate, \
    .probability = loss_sigmoid, .joint = loss_logistic_joint, \
    .joint_probabilities = loss_softmax) \
  X(EXPONENTIAL, "exponential", "exp(-y f)", .classes = true, .column = loss_exponential_column, \
    .curvature = loss_exponential_curvature, .conjugate = loss_exponential_conjugate, \
    .probability = loss_exponential_probability) \
  X(HINGE, "hinge", "max(0, 1 - y f)", .classes = true, .high = 1) \
  X(SQUARED_HINGE, "squared_hinge", "max(0, 1 - y f)^2/2", .classes = true, .high = INFINITY, \
    .bend = 1) \
  X(HUBER, "huber", "r^2/2 for |r| = |f - y| <= delta, else delta |r| - delta^2/2", .low = -1, \
    .high = 1, .bend = 1, .scaled = true)

#define LOSS_CONSTANT(constant, name, formula, ...) LOSS_##constant,
enum { LOSSES(LOSS_CONSTANT) LOSS_COUNT };
extern const loss_function losses[LOSS_COUNT];

/* Each text begins with a separator that is left out. */
#define LOSS_WORD(constant, name, formula, ...) "|" name
#define LOSS_HELP(constant, name, formula, ...) "; " name ": " formula

/* First member of the instance of a solver that minimises one of these losses. */
typedef struct loss_choice {
  scl_base base;
  int32_t loss;
  bool apart; /* each column is a problem of its own, also where the loss could join them */
  double delta;
} loss_choice;

/* The options of a solver that takes any of the losses. */
#define LOSS_OPTIONS \
  {.name = "loss", \
   .help = &(LOSSES(LOSS_HELP))[2], \
   .words = &(LOSSES(LOSS_WORD))[1], \
   .fallback = "square", \
   .forms = SCL_FORM_WORD, \
   SCL_AT(loss_choice, loss)}, \
  { \
    .name = "delta", .help = "where huber's loss turns from square to absolute, in target units", \
    .fallback = "1", .forms = SCL_FORM_NUMBER, SCL_AT(loss_choice, delta), SCL_POSITIVE \
  }

static inline const loss_function *loss_of(const loss_choice *choice) {
  return &losses[choice->loss];
}

/* The shortfall u of the form above. */
double loss_shortfall(const loss_function *l, double f, double y);

/* One column: returns the value, and writes its slope in f. */
double loss_column(const loss_choice *choice, double f, double y, double *slope);

/* All columns of a row: returns the value, and writes the slope (c numbers; may be f; NULL: not
 * wanted). */
double loss_row(const loss_choice *choice, size_t c, const double *f, const double *y,
                double *slope);

/* Refuses numeric targets if the loss is for classification only. */
scl_status loss_check(const loss_choice *choice, const scl_problem *problem, scl_error *error);

extern const scl_ability_loss loss_ability;

#endif

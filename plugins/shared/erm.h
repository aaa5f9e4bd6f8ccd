/* The regularised mean of any loss: the solver erm, which gets the loss as an option, and those of
 * one loss, by its formula (erm_formula.c); what their methods share. */
#ifndef SCULLERY_SHARED_ERM_H
#define SCULLERY_SHARED_ERM_H

#include "shared/column_descent.h"
#include "shared/csr_newton.h"
#include "shared/csr_rows.h"
#include "shared/erm_definition.h"
#include "shared/lbfgs.h"
#include "shared/refined_solve.h"
#include "shared/solver_options.h"

/* A loss by its formulas, of numbers p that follow from the options: l(f, y) and the like. */
typedef struct erm_formula {
  scl_plugin about; /* its name */
  bool kinks, rate; /* rate: f is the log of the mean, and targets are at least 0 */
  double (*lipschitz)(const double *p); /* of kinks */
  double (*value)(const double *p, double f, double y);
  double (*slope)(const double *p, double f, double y);
  double (*curvature)(const double *p, double f, double y); /* NULL: none */
  double (*conjugate)(const double *p, double s, double y);
  double (*proximal)(const double *p, double z, double y, double t); /* of kinks */
} erm_formula;
enum { ERM_NUMBERS = 2 };

/* A formula with its numbers, as a part. */
typedef struct erm_own {
  scl_part part; /* the first member */
  const scl_host *host;
  const erm_formula *formula;
  double p[ERM_NUMBERS];
} erm_own;

typedef struct erm {
  scl_base base;
  scl_part loss;              /* of erm alone */
  const erm_formula *formula; /* of the other solvers, which set it in `create`; else NULL */
  const scl_value *tau;       /* of quantile alone; NULL: no such option */
  double power;               /* of tweedie; 1, 2 of its kin */
  double lambda, l1_ratio, tolerance;
  int32_t penalty, method;
  size_t max_iterations;
  double epochs; /* of stochastic steps */
  uint64_t seed;
} erm;

enum { ERM_BATCH = 256 }; /* rows that dual and sgd ask for at a time */
enum { ERM_L2, ERM_L1, ERM_ELASTIC };
enum { ERM_AUTO, ERM_NEWTON, ERM_LBFGS, ERM_PROXIMAL, ERM_DUAL, ERM_SGD };

/* The shares of the penalty: l1 ||a||_1 + (l2/2) ||a||^2. */
static inline double erm_l1(const erm *self) {
  return self->penalty == ERM_L2 ? 0
                                 : self->lambda * (self->penalty == ERM_L1 ? 1 : self->l1_ratio);
}
static inline double erm_l2(const erm *self) { return self->lambda - erm_l1(self); }

/* The loss of an instance, and its facts. */
typedef struct erm_loss {
  erm_own own; /* `part` is its part where the loss is a formula */
  const scl_loss_service *service;
  const scl_part *part;
  scl_loss_facts facts;
  bool curvature, conjugate; /* whether it offers them */
} erm_loss;

/* Some targets of a problem: all of them together, or one. Arrays of n c numbers for c columns. */
typedef struct erm_machine erm_machine;
struct erm_machine {
  const erm *self;
  const erm_loss *loss;
  const scl_problem *problem;
  risk risk; /* of these columns, by rows.c; its lambda is the share of ||a||^2 */
  /* rows.c. Where the loss has kinks: the multipliers of f = Phi a + b, the step t, and the
   * proximal points. */
  double *multipliers, *near;
  double step;
  double *room, *other;              /* scratch */
  double *x, *gradient, *direction;  /* as the risk's x */
  double *best;                      /* as x: of the round of multipliers with the least residual */
  double *scores, *change, *weights; /* n c; weights n: of Newton's system */
  double *slope_sum;                 /* c */
  double spread;                     /* a scale of scores */
  double unit, worth;                /* of the gradient's norm, and of the objective, at a = 0 */
  double size;                       /* of the slopes where the unit is from */
  double value, norm, residual;
  double goal;           /* of the residual */
  bool no_bound;         /* the gap bounds nothing, as l1 is small */
  size_t target;         /* the first of the columns */
  size_t steps;          /* iterations so far, of all columns */
  refined_system system; /* of Newton's method; host NULL: not open */
  lbfgs lbfgs;           /* its risk NULL: not open */
  /* dual.c: ||phi_i||^2, the numbers of rows in the data and the places of these in the walk, the
   * constant, sum_i p_i v_i; begun: with this target */
  double *squares, mean_square, constant, pull;
  size_t *index, *place;
  bool begun;
  /* sparse.c: their risk, or host, NULL: not open */
  csr_newton newton;
  erm_machine *itself;
  csc_columns by_column;
  column_descent columns;
};

/* ------------ rows.c */

/* Allocates a machine for `columns` targets, without their numbers. */
scl_status erm_open(erm_machine *m, const erm *self, const erm_loss *loss, const risk *all,
                    size_t columns, scl_error *error);

/* A risk_rows of an erm_machine: the loss; with multipliers v its augmented Lagrangian,
 *
 *   min_p l(p) + v (f - p) + (f - p)^2/(2 t),
 *
 * smooth in f with slope v + (f - p)/t. The minimisers p are left in m->near. */
scl_status erm_rows(const void *machine, size_t first, size_t count, const double *f,
                    double *values, double *slopes, scl_error *error);

/* m->weights = the row weights times the curvatures of that at m->scores; one column. */
scl_status erm_curvatures(erm_machine *m, scl_error *error);

/* Value, gradient and its norm at m->x; with `pass` m->scores too, else these are known. */
scl_status erm_differentiate(erm_machine *m, bool pass, scl_error *error);

/* The norm of a gradient, each entry divided by the scale of its feature where these differ
 * much. */
double erm_norm(const erm_machine *m, const double *gradient);

/* proximal.c: the same norm of the subgradient of least norm, with l1 ||a||_1, by m->gradient. */
double erm_subgradient_norm(const erm_machine *m);

/* ------------ methods: from m->x and m->scores to a gradient of `tolerance` times m->unit */

scl_status erm_newton(erm_machine *m, double tolerance, scl_error *error);
scl_status erm_lbfgs(erm_machine *m, double tolerance, scl_error *error);
scl_status erm_proximal(erm_machine *m, double tolerance, scl_error *error);
scl_status erm_sparse_newton(erm_machine *m, double tolerance, scl_error *error);
scl_status erm_sparse_columns(erm_machine *m, double tolerance, scl_error *error);

/* multipliers.c: a loss with kinks, by one of these. */
typedef scl_status (*erm_method)(erm_machine *m, double tolerance, scl_error *error);
scl_status erm_multipliers(erm_machine *m, erm_method method, scl_error *error);

/* For any loss, with kinks or without. These methods set the residual themselves. */
scl_status erm_dual(erm_machine *m, double tolerance, scl_error *error);
/* The sizes and places of the rows, in one pass; erm_dual does it where that was not done. */
scl_status erm_dual_open(erm_machine *m, scl_error *error);
scl_status erm_sgd(erm_machine *m, double tolerance, scl_error *error);

/* *excess = sum_i p_i (l(f_i) - l(near_i) - v_i (f_i - near_i)), p_i = w_i/N, v the multipliers: how
 * far the objective is above that of this dual point. */
scl_status erm_excess(erm_machine *m, double *excess, scl_error *error);

/* How far scores go until the slope of a loss of common size has changed by its own size. */
double erm_reach(const erm_machine *m);

/* Targets of a regression as they are: without what the host subtracted. */
static inline double erm_shift_of(const scl_problem *problem, size_t target) {
  return SCL_HAS(problem, target_shift) && problem->target_shift != NULL
             ? problem->target_shift[target]
             : 0;
}

/* phi_i'a and ||phi_i||^2 of row i of a block, dense or sparse; in four sums, in one order. */
static inline double erm_row_dot(const scl_rows *rows, size_t i, size_t d, const double *a) {
  if (csr_of_rows(rows) != NULL) return csr_dot(csr_of_rows(rows), i, a);
  const double *x = (const double *)rows->features.data + (ptrdiff_t)i * rows->features.row_stride;
  double sum[4] = {0};
  for (size_t j = 0; j < d; j++)
    sum[j % 4] += x[j] * a[j];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
static inline double erm_row_square(const scl_rows *rows, size_t i, size_t d) {
  const scl_const_csr *csr = csr_of_rows(rows);
  const double *x = rows->features.data;
  if (csr == NULL) return erm_row_dot(rows, i, d, x + (ptrdiff_t)i * rows->features.row_stride);
  double sum = 0;
  for (int64_t k = csr->starts[i]; k < csr->starts[i + 1]; k++)
    sum += scl_csr_number(csr, k) * scl_csr_number(csr, k);
  return sum;
}

/* gap.c: *gap = a bound on how far the objective at m->x is from its least, by the dual point of
 * slopes m->risk.slopes (unweighted, n c). NaN without a conjugate or a penalty. */
scl_status erm_gap(erm_machine *m, double *gap, scl_error *error);

/* ------------ what plugins are made of */

scl_status erm_create(void *instance, scl_error *error);
scl_status erm_solve(const void *instance, const scl_problem *problem, scl_solution *out,
                     scl_error *error);
scl_penalty erm_penalty(const void *self);
scl_status erm_objective(const void *instance, const scl_problem *problem,
                         const double *coefficients, const double *intercept, double *value,
                         scl_error *error);
void erm_cost(const void *instance, const scl_problem *problem, const double *values, size_t count,
              int32_t weighted, scl_cost *out);
const void *erm_ability(const void *instance, const char *id);
/* The options of these solvers but their own. */
#define ERM_PENALTY_OPTIONS \
  SOLVER_LAMBDA(erm, "1e-6", "regularisation of the mean loss", SCL_NOT_NEGATIVE), \
      SCL_WORD(erm, penalty, "l2|l1|elastic", "l2", \
               "l2: ||a||^2/2; l1: ||a||_1; elastic: l1_ratio of l1, the rest l2"), \
      SCL_NUMBER(erm, l1_ratio, "0.5", "elastic: the share of ||a||_1", SCL_WITHIN(0, 1))
#define ERM_LIMIT_OPTIONS \
  SOLVER_TOLERANCE(erm, "1e-5", \
                   "gradient norm relative to the one at a = 0; for losses with kinks also " \
                   "the part of the objective above the dual's"), \
      SOLVER_MAX_ITERATIONS(erm, "5000", "steps at most, of all targets together for lbfgs")
/* Of losses with a proximal step. */
#define ERM_OPTIONS \
  ERM_PENALTY_OPTIONS, \
      SCL_WORD( \
          erm, method, "auto|newton|lbfgs|proximal|dual|sgd", "auto", \
          "newton: D x D systems; lbfgs: sweeps over the rows; proximal: for l1 and elastic; " \
          "dual: dual coordinates, for lambda n not far below ||phi||^2; sgd: random rows; " \
          "auto: newton up to D = 1000 where the loss allows it, else dual or lbfgs"), \
      ERM_LIMIT_OPTIONS, \
      SCL_NUMBER(erm, epochs, "10", "sgd: rows drawn, as a multiple of the number of rows", \
                 SCL_POSITIVE), \
      SOLVER_SEED(erm, "dual, sgd: seed for the rows drawn"), SCL_OPTION_INTERCEPT
/* Of formulas without one. */
#define ERM_SMOOTH_OPTIONS \
  ERM_PENALTY_OPTIONS, \
      SCL_WORD( \
          erm, method, "auto|newton|lbfgs|proximal", "auto", \
          "newton: D x D systems; lbfgs: sweeps over the rows; proximal: for l1 and elastic; " \
          "auto: newton up to D = 1000, else lbfgs"), \
      ERM_LIMIT_OPTIONS, SCL_OPTION_INTERCEPT

#define ERM_OFFERS \
  SCL_OFFER(SCL_ABILITY_PENALTY, scl_ability_penalty, .penalty = erm_penalty), \
      SCL_OFFER_BARE(SCL_ABILITY_ORDERED_ROWS, scl_ability_ordered_rows), \
      SCL_OFFER(SCL_ABILITY_OBJECTIVE, scl_ability_objective, .objective = erm_objective), \
      SCL_OFFER(SCL_ABILITY_COST, scl_ability_cost, .cost = erm_cost)

/* erm_formula.c: the loss of output `target` of a solver with a formula. */
scl_status erm_formula_open(const erm *self, size_t target, erm_loss *out, scl_error *error);
extern const erm_formula erm_pinball, erm_deviance;
/* How many outputs each target has: the values of tau; else 1. */
size_t erm_outputs(const void *self);
/* The functions of scl_ability_loss of a solver with a formula. */
double erm_formula_value(const void *self, size_t c, const double *f, const double *y);
void erm_formula_slope(const void *self, size_t c, const double *f, const double *y, double *out);
double erm_formula_bound(const void *self, double reach);
double erm_formula_lipschitz(const void *self, double reach);
int32_t erm_formula_means(const void *self, size_t c, const double *f, double *out);
int erm_formula_text(const void *self, char *text, size_t size);
#define ERM_FORMULA_OFFER \
  SCL_OFFER(SCL_ABILITY_LOSS, scl_ability_loss, .value = erm_formula_value, \
            .slope = erm_formula_slope, .bound = erm_formula_bound, \
            .lipschitz = erm_formula_lipschitz, .means = erm_formula_means, \
            .outputs = erm_outputs, .formula = erm_formula_text)

#endif

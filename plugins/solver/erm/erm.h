/* The regularised mean of any loss (erm.c): what its methods share. */
#ifndef SCULLERY_SOLVER_ERM_H
#define SCULLERY_SOLVER_ERM_H

#include "shared/column_descent.h"
#include "shared/csr_newton.h"
#include "shared/lbfgs.h"
#include "shared/refined_solve.h"

typedef struct erm {
  scl_base base;
  scl_part loss;
  double lambda, l1_ratio, tolerance;
  int32_t penalty, method;
  size_t max_iterations;
} erm;

enum { ERM_L2, ERM_L1, ERM_ELASTIC };
enum { ERM_AUTO, ERM_NEWTON, ERM_LBFGS, ERM_PROXIMAL };

/* The shares of the penalty: l1 ||a||_1 + (l2/2) ||a||^2. */
static inline double erm_l1(const erm *self) {
  return self->penalty == ERM_L2 ? 0
                                 : self->lambda * (self->penalty == ERM_L1 ? 1 : self->l1_ratio);
}
static inline double erm_l2(const erm *self) { return self->lambda - erm_l1(self); }

/* The loss of an instance, and its facts. */
typedef struct erm_loss {
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
  double *scores, *change, *weights; /* n c; weights n: of Newton's system */
  double *slope_sum;                 /* c */
  double spread;                     /* a scale of scores */
  double unit, worth;                /* of the gradient's norm, and of the objective, at a = 0 */
  double size;                       /* of the slopes where the unit is from */
  double value, norm, residual;
  double goal;           /* of the residual */
  size_t steps;          /* iterations so far, of all columns */
  refined_system system; /* of Newton's method; host NULL: not open */
  lbfgs lbfgs;           /* its risk NULL: not open */
  /* sparse.c: their risk, or host, NULL: not open */
  csr_newton newton;
  erm_machine *itself;
  csc_columns by_column;
  column_descent columns;
};

/* ------------------------------------------------------------ rows.c */

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

/* ------------------------------------------------------------ methods: from m->x and m->scores
 * to a gradient of `tolerance` times m->unit */

scl_status erm_newton(erm_machine *m, double tolerance, scl_error *error);
scl_status erm_lbfgs(erm_machine *m, double tolerance, scl_error *error);
scl_status erm_proximal(erm_machine *m, double tolerance, scl_error *error);
scl_status erm_sparse_newton(erm_machine *m, double tolerance, scl_error *error);
scl_status erm_sparse_columns(erm_machine *m, double tolerance, scl_error *error);

/* multipliers.c: a loss with kinks, by one of these. */
typedef scl_status (*erm_method)(erm_machine *m, double tolerance, scl_error *error);
scl_status erm_multipliers(erm_machine *m, erm_method method, scl_error *error);

/* gap.c: *gap = a bound on how far the objective at m->x is from its least, by the dual point of
 * slopes m->risk.slopes (unweighted, n c). NaN without a conjugate or a penalty. */
scl_status erm_gap(erm_machine *m, double *gap, scl_error *error);

#endif

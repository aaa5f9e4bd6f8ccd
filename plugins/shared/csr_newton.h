/* Newton's method for smooth losses on sparse rows (csr_newton.c). */
#ifndef SCULLERY_SHARED_CSR_NEWTON_H
#define SCULLERY_SHARED_CSR_NEWTON_H

#include "shared/csr_rows.h"
#include "shared/risk.h"

typedef struct csr_newton csr_newton;

/* bends (n x c): second derivatives of the losses at n->scores, times weights over their sum; with
 * `joint` columns the probabilities of the classes. */
typedef scl_status (*csr_newton_bend)(const csr_newton *n, const void *context, double *bends,
                                      scl_error *error);

struct csr_newton {
  /* Set by the caller. */
  const risk *risk;
  bool joint;           /* the columns are those of one loss, the logistic one of several classes */
  bool quadratic;       /* one step is enough */
  bool near;            /* n->x is extrapolated, and n->diagonal is that of the last lambda */
  bool follows;         /* bends change little: those of the first step precondition all */
  csr_newton_bend bend; /* NULL: those of the loss that the risk's choice says */
  const void *context;
  /* Set by csr_newton_open: numbers as the risk's x, and n c of scores. All are scratch memory. */
  scl_const_csr rows;
  csr_sums sums;
  double *x, *gradient, *scores;
  double *step, *rest, *turn, *image, *scaled, *diagonal, *change, *bends;
  double *lengths, *squares, *goals; /* c each */
  double value, norm, at_zero;       /* at_zero: the norm at x = 0 */
  size_t products;                   /* with the Hessian */
};

/* Starts at x = 0, with value, gradient and norm of there. */
scl_status csr_newton_open(csr_newton *n, scl_error *error);

/* Value, gradient and norm at n->x; with `pass` the scores too, else these are known. */
scl_status csr_newton_look(csr_newton *n, bool pass, scl_error *error);

/* n->bends at n->scores. */
scl_status csr_newton_bends(csr_newton *n, scl_error *error);

/* Slopes and losses at n->scores, and the sums of the slopes (c). */
scl_status csr_newton_slopes(csr_newton *n, double *sums, scl_error *error);

/* n->image = H p, H the Hessian with n->bends. */
scl_status csr_newton_multiply(csr_newton *n, const double *p, scl_error *error);

/* From n->x to a gradient of norm `goal`, in at most `most` iterations (quadratic: products with
 * the Hessian), or until rounding stops it. *iterations counts up. */
scl_status csr_newton_minimise(csr_newton *n, double goal, size_t most, size_t *iterations,
                               scl_error *error);

/* Solves for each of `count` lambdas (the risk's is set to each), each from where the one before
 * ended, to a gradient of `tolerance` times the one at 0, or for gap = true to a duality gap of
 * `tolerance` of the objective, in every column. Fills in all of out[k] but the note. The gap of
 * columns that are not joint holds for the problem with the constant. For squares the gradient at 0
 * is that at the best constant. */
typedef struct csr_newton_task {
  risk *risk;
  bool joint, by_gap;
  double tolerance;
  size_t most; /* iterations, for each lambda; of squares passes */
} csr_newton_task;
scl_status csr_newton_path(const csr_newton_task *task, const double *lambdas, size_t count,
                           scl_solution *const *out, scl_error *error);

/* Squares: the coefficients and constants in out[k] of each of `count` lambdas, which descend, by
 * conjugate gradients for all of them at the price of the smallest one's passes, from where `open`
 * starts: each to a gradient of norm `goal` by the recurrence, which rounding may move from the
 * true one, in at most `most` steps; *steps counts them. r is the risk of n, whose lambda is left
 * at the smallest; n->x stays. Takes scratch memory of csr_shifted_bytes. */
enum { CSR_SHIFTED_MOST = 256 }; /* lambdas */
size_t csr_shifted_bytes(const risk *r, size_t count);
scl_status csr_shifted_path(csr_newton *n, risk *r, const double *lambdas, size_t count,
                            double goal, size_t most, scl_solution *const *out, size_t *steps,
                            scl_error *error);

/* Least squares with (lambda/2) ||a||^2, each target apart, by conjugate gradients for all of them
 * in the same passes: to a residual of `tolerance` of the right-hand side, in at most `most` passes
 * for each of `count` lambdas, of any order; to a hundred times the tolerance where these are only
 * compared (scl_problem.scored). Fills in all of out[k]. */
scl_status csr_least_squares(const scl_problem *problem, const double *lambdas, size_t count,
                             double tolerance, size_t most, scl_solution *const *out,
                             scl_error *error);

#endif

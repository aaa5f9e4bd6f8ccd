/* Descent in the space of weight functions (Dube and Marchand 2023, sections 5.1 and 5.2):
 * alpha = sum_t a_t K(w_t, .) begins at 0; step t adds parameter w_t and learns from a minibatch,
 *
 *   alpha <- s alpha + a_t K(w_t, .),
 *   f(x) = sum_t a_t Phi_t(x),   Phi_t(x) = E_{w~p} K(w_t, w) phi(w, x)
 *
 * Common to the methods of this kind: options, scores of a minibatch, and ||alpha||^2 = a'Ga,
 * updated from column t of G. A step costs O(t) a row. With c targets a is T x c, and the norm is
 * that of all columns together. Everything is in the problem's scale, where features are
 * exp(-log_scale) times the true ones and coefficients exp(log_scale) times: norms and scores are
 * the true ones. */
#ifndef SCULLERY_SHARED_FUNCTIONAL_DESCENT_H
#define SCULLERY_SHARED_FUNCTIONAL_DESCENT_H

#include "shared/early_stop.h"
#include "shared/losses.h"
#include "shared/solver_options.h"

/* The first member of the instance of each method. */
typedef struct functional {
  loss_choice loss;
  size_t batch, iterations; /* iterations 0: one a parameter */
  uint64_t seed;
  double holdout;
  size_t patience;
} functional;

/* Their options, after the solver's own. */
#define FUNCTIONAL_OPTIONS \
  {.name = "batch", \
   .help = "number of rows in each step, drawn with replacement; at most all rows", \
   .fallback = "100", \
   .forms = SCL_FORM_INTEGER, \
   SCL_AT(functional, batch), \
   SCL_WITHIN(1, 1e9)}, \
      {.name = "iterations", \
       .help = "steps, each of which takes the next parameter; absent: T", \
       .forms = SCL_FORM_INTEGER, \
       SCL_AT(functional, iterations), \
       SCL_WITHIN(1, 1e9)}, \
      SOLVER_SEED(functional, "seed for the minibatches"), \
      EARLY_STOP_OPTIONS(functional, "evaluations in a row without a smaller loss on the rows " \
                                     "held out before it stops; one each time as many rows were " \
                                     "drawn"), \
      LOSS_OPTIONS

scl_penalty functional_penalty(const void *self);
void functional_cost(const void *self, const scl_problem *problem, const double *values,
                     size_t count, int32_t weighted, scl_cost *out);

#define FUNCTIONAL_ABILITIES \
  {SCL_ABILITY_LOSS, &loss_ability}, \
      SCL_OFFER(SCL_ABILITY_PENALTY, scl_ability_penalty, .penalty = functional_penalty), \
      SCL_OFFER(SCL_ABILITY_COST, scl_ability_cost, .cost = functional_cost)

typedef struct functional_descent {
  const functional *self;
  const scl_host *host;
  const scl_problem *problem;
  const scl_symmetric *gram;    /* NULL without a K: the identity */
  size_t steps, columns, known; /* known: parameters that have coefficients */
  double square;                /* ||alpha||^2 */
  double mean_row_weight;   /* of all rows: a batch is drawn evenly, and heavy rows count more */
  double loss;              /* mean over the last minibatch; NaN before the first */
  double *a;                /* T x c */
  double *between, *at;     /* column t of G (T); alpha(w_t) of each target (c) */
  double *scores, *targets; /* batch x c */
  double *shares, *newest;  /* batch: weight of each row in a mean; the last feature of each row */
  early_stop early;
  bool stop;
  size_t done; /* steps */
} functional_descent;

/* Checks the problem and reserves scratch memory, of which nothing has to be released. a: T x c
 * zeros, which the caller owns and the descent fills in. */
scl_status functional_open(functional_descent *d, const functional *self,
                           const scl_problem *problem, double *a, scl_error *error);

/* What the steps from t on depend on, as the state of a loop. */
state functional_state(functional_descent *d, size_t *t);

/* Reads the minibatch of step t (from 0), with `count` features of each row, and computes
 * alpha(w_t). */
scl_status functional_step(functional_descent *d, size_t t, size_t count, scl_error *error);

/* Updates alpha <- shrink alpha + a_t K(w_t, .) and its norm; a_t (c numbers) is in row t of a. */
void functional_move(functional_descent *d, size_t t, double shrink);

/* Call it after step t, with the model factor x. Evaluates the loss on the rows held out each
 * time as many rows were drawn as are held out, and at the end. */
scl_status functional_judge(functional_descent *d, size_t t, const double *x, double factor,
                            scl_error *error);

#endif

/* Early stopping: a share of the rows is held out. The mean loss on them is evaluated at
 * intervals, and the descent ends when it has not fallen `patience` times in a row. The best
 * point so far is stored and returned. */
#ifndef SCULLERY_SHARED_EARLY_STOP_H
#define SCULLERY_SHARED_EARLY_STOP_H

#include "shared/losses.h"
#include "shared/state.h"

/* Options for the members `holdout` (double) and `patience` (size_t) of the instance; when: the
 * help of patience, which says when the loss is evaluated. */
#define EARLY_STOP_OPTIONS(type, when) \
  {.name = "holdout", \
   .help = "share of the rows held out for early stopping, drawn by `seed`; 0: none", \
   .fallback = "0", \
   .forms = SCL_FORM_NUMBER, \
   SCL_AT(type, holdout), \
   .range = SCL_RANGE_HIGH_OPEN, \
   .low = 0, \
   .high = 1}, \
  { \
    .name = "patience", .help = when, .fallback = "5", .forms = SCL_FORM_INTEGER, \
    SCL_AT(type, patience), SCL_WITHIN(1, 1e9) \
  }

typedef struct early_stop {
  const scl_problem *problem;
  const loss_choice *choice;
  size_t rows, patience; /* rows set aside; 0: everything here does nothing */
  size_t columns, size;  /* c; numbers of a point, D c or (D + 1) c with a constant */
  double *best;          /* size */
  double loss;           /* of the best; infinite before */
  size_t at, waited;     /* its step; evaluations since */
  /* Used while the rows held out are read. */
  const double *a, *b;
  double factor, sum, total;
} early_stop;

/* Call it before any other verb of the problem. */
scl_status early_stop_open(early_stop *e, const scl_problem *problem, const loss_choice *choice,
                           double share, size_t patience, uint64_t seed, scl_error *error);

/* Evaluates the loss at factor times the point x of step `at` (a of the first `known` features,
 * the others 0; b, NULL: none). *stop: patience has run out. */
scl_status early_stop_judge(early_stop *e, const double *a, const double *b, double factor,
                            size_t known, size_t at, bool *stop, scl_error *error);

/* Adds what the next evaluations depend on to the state of a loop. */
void early_stop_state(early_stop *e, state *s);

/* Copies the best point to x and writes the note on how the descent ended. steps: steps done, of
 * `most`. */
scl_status early_stop_settle(const early_stop *e, double *x, size_t steps, size_t most,
                             scl_solution *out, scl_error *error);

#endif

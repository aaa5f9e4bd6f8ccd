/* Support vector machines on features: the parts of the method of hinge.c. */
#ifndef SCULLERY_SOLVER_HINGE_H
#define SCULLERY_SOLVER_HINGE_H

#include "shared/hinge_constant.h"
#include "shared/risk.h"
#include <scullery/plugin.h>
#include <stdio.h>

/* ------------ loops.c */

typedef struct hinge_loops {
  double (*dot)(size_t count, const double *x, const double *y);
  void (*add)(size_t count, double factor, const double *x, double *y);
} hinge_loops;

hinge_loops hinge_loops_of_machine(void);

/* ------------ newton.c */

typedef struct hinge_part {
  const scl_host *host;
  hinge_loops loops;
  size_t count, order; /* m, D */
  double lambda;
  bool constant, widened; /* widened: since the last guess */
  /* Set by the caller: rows m x D; y, p, s, f: m each, f with the constant; a, fixed: D each */
  double *rows, *y, *p, *s, *f, *a, *fixed;
  double b, fixed_sum, delta;
  /* m each; used: the weights in the matrix */
  double *guess, *best, *df, *weight, *used;
  /* D each; mean: sum_i used_i phi_i */
  double *v, *right, *step, *mean, *best_a;
  double *gathered; /* rows of a system, or PART_CHUNK to add to the matrix and as many to take */
  double *solved;   /* m x 2 */
  size_t *inside, insiders;
  double *products;      /* m x m, phi_i . phi_k; NULL: not yet, or more rows than features */
  scl_symmetric *matrix; /* D x D, of the weights used; NULL: not yet */
  double pull, total;    /* fixed_sum + sum_i p_i s_i y_i; sum_i p_i */
  double gap, best_gap, best_b, gap_before, rest, by;
} hinge_part;

void hinge_part_close(hinge_part *m);

scl_status hinge_part_open(hinge_part *m, scl_error *error);

/* s of row i at score f, before it is cut to [0, 1] */
static inline double hinge_part_share(const hinge_part *m, size_t i, double f) {
  return (1 - m->y[i] * f) / m->delta + m->guess[i];
}

static inline double hinge_part_cut(double share) { return fmax(0, fmin(1, share)); }

/* Iterates from s, f, a and b, with delta set, until the gap is at most `goal` or progress ends.
 * Results: m->best, m->best_a, m->best_b and their gap. */
scl_status hinge_part_follow(hinge_part *m, double goal, scl_error *error);

/* ------------ working.c */

typedef struct hinge_working {
  size_t wanted, size; /* wanted: how many rows next time, at least */
  double gap;          /* when it was chosen last */
  bool cut;            /* by memory */
  double violation;    /* root mean square, of the rows that do not fit */
} hinge_working;

/* Choose at most `most` rows: their numbers, ascending, in rows (count numbers). keys: count of
 * scratch. gap: of the class now. */
void hinge_working_choose(hinge_working *w, const hinge_column *col, const double *upper, double b,
                          double gap, size_t most, double *keys, size_t *rows);

/* ------------ squared.c */

typedef struct hinge_squared {
  risk *risk; /* its lambda is set to each of the path's */
  double tolerance;
  size_t most; /* iterations, for each lambda and class */
} hinge_squared;

/* *side: the one on which all rows of a class are, but for weights that vanish in the sum, -1 or 1; 0:
 * both. With a constant a = 0 and b = side then leave no loss. room: as many numbers as rows. */
scl_status hinge_only_side(const risk *all, size_t class, double *room, double *side,
                           scl_error *error);

scl_status hinge_squared_path(const hinge_squared *self, const double *lambdas, size_t count,
                              scl_solution *const *out, scl_error *error);

/* The note of a solution whose gap is above the tolerance. */
static inline void hinge_note_limit(scl_solution *out, double tolerance) {
  (void)snprintf(out->note, sizeof out->note,
                 "the duality gap is %.1e of the objective, %.1e was wanted: give more "
                 "max_iterations or a larger lambda",
                 out->gap, tolerance);
}

#endif

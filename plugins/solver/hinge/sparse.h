/* The linear support vector machine on sparse rows: its parts. sparse.c has the problem and its
 * symbols. */
#ifndef SCULLERY_SOLVER_HINGE_SPARSE_H
#define SCULLERY_SOLVER_HINGE_SPARSE_H

#include "shared/csr_rows.h"
#include "shared/risk.h"

/* Classes whose states are held at a time. */
enum { SPARSE_GROUP = 16 };

typedef struct sparse_hinge {
  const risk *risk; /* targets, weights and the constant; its lambda is not read */
  double tolerance; /* of the gap, relative to the objective */
  size_t most;      /* passes over the rows, for each lambda */
  uint64_t seed;    /* of the order of the rows */
} sparse_hinge;

typedef struct sparse_row {
  double dual, upper, square, y; /* s_i, u_i, ||x_i||^2 + r, y_i */
} sparse_row;

/* One class. Its arrays are those of a place in the group. */
typedef struct sparse_class {
  sparse_row *rows;             /* n */
  uint32_t *active;             /* n; the first `count` are looked at */
  double *a, *best, *f;         /* D, D, n: of the duals; the best primal point; its scores */
  size_t column, count, passes; /* passes: over rows, or what takes as long */
  double b, pull;               /* pull: S */
  double best_b, gap, goal;     /* gap: relative; goal: of a pass that is measured */
  double high, low;             /* bounds of the gradients of rows that are left out */
  size_t since;                 /* passes since the last gap */
  double terms, share;          /* terms: of the gap, in the last pass; share: of sparse_face */
  bool done;
  /* Room of a step on a face: its rows, numbers for each of them, and D. */
  uint32_t *face;
  double *step, *rest, *turn, *image, *move;
} sparse_class;

typedef struct sparse_machine {
  const sparse_hinge *self;
  const scl_problem *problem;
  const scl_host *host;
  scl_const_csr x;
  double lambda, spread; /* spread: r */
  double *squares;       /* n */
  size_t classes;        /* of the group */
  sparse_class class[SPARSE_GROUP];
} sparse_machine;

/* ------------ sparse_descent.c */

/* All rows of some weight are looked at again. */
void sparse_wake(const sparse_machine *m, sparse_class *k);

/* A pass, and where it seems to be there the gap. Sets done. */
scl_status sparse_descend(const sparse_machine *m, sparse_class *k, scl_error *error);

double sparse_dot(size_t count, const double *x, const double *y);

/* ------------ sparse_face.c */

/* Moves the duals that are not at a bound together, in at most `most` steps, of a pass over their
 * rows each. */
void sparse_face(const sparse_machine *m, sparse_class *k, size_t most);

/* ------------ sparse.c */

/* Solves for each of `count` lambdas, which descend, each from the duals of the one before. */
scl_status sparse_hinge_path(const sparse_hinge *self, const double *lambdas, size_t count,
                             scl_solution *const *out, scl_error *error);

#endif

/* What problem.c (training and solving), problem_verbs.c (what a solver may ask), problem_dual.c
 * and model.c share. */
#ifndef SCULLERY_PROBLEM_INTERNAL_H
#define SCULLERY_PROBLEM_INTERNAL_H

#include "learn/problem.h"
#include "rows/keep.h"
#include <pthread.h>

struct scl_training {
  pthread_mutex_t lock; /* what follows `allowance`, and walks over the flow: problems are solved
                           side by side */
  scl_flow flow;
  scl_task task;
  size_t classes, allowance;
  bool have_sums;
  scl_sums sums;
  scl_symmetric *gram; /* G */
  scl_map *plain;      /* the map without K, for minibatches */
  scl_keep *kept;      /* blocks of features, where they fit the allowance and a solver walks */
  bool keeps_no_more;  /* memory ran out once */
};

/* One solve: the rows of all groups but one, with the caches that its verbs fill. */
typedef struct solve_context {
  scl_problem problem; /* first: what the solver sees */
  scl_training *training;
  long without;
  bool intercept;
  bool have_normal,
      reweighted; /* reweighted: `normal` holds other row weights than the problem's */
  scl_normal normal;
  scl_symmetric *work;                        /* combined Phi'Phi, where it is not a group's own */
  double *right, *square, *mean_phi, *mean_y; /* D x c, c, D, c */
  scl_symmetric *dual;
  double *dual_targets;
} solve_context;

static inline solve_context *context_of(const scl_problem *problem) {
  return (solve_context *)(uintptr_t)problem;
}

/* The problem without the rows of group `without` (-1: all rows), for that solver; it is closed
 * after use, but not where opening fails. */
scl_status scl_problem_open(solve_context *s, scl_training *training, const scl_instance *solver,
                            bool intercept, long without, scl_error *error);
void scl_problem_close(solve_context *s);
/* Fill in the verbs of a problem. */
void scl_problem_set_verbs(scl_problem *problem);
/* The runs of rows of a block that belong to the problem: before and after the group left out.
 * Returns how many. */
size_t scl_problem_runs(const solve_context *s, const scl_flow_block *block, size_t run[2][2]);
/* Room for the combined right-hand sides and means. */
scl_status scl_problem_reserve(solve_context *s, size_t d, size_t c, scl_error *error);
/* Staged rows and targets, without features. */
scl_status scl_problem_walk_rows(scl_training *training, scl_flow_visit visit, void *context,
                                 scl_error *error);
/* The verb of the same name. */
scl_status scl_problem_dual(const scl_problem *problem, const scl_symmetric **gram,
                            const double **targets, scl_error *error);

#endif

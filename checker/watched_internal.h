/* What the files of watched problems share: watched.c runs solvers, watched_verbs.c answers what
 * they ask, watched_rows.c shows them rows. */
#ifndef SCULLERY_CHECKER_WATCHED_INTERNAL_H
#define SCULLERY_CHECKER_WATCHED_INTERNAL_H

#include "checker/guarded.h"
#include "checker/watched.h"
#include "learn/problem_internal.h"
#include <stdatomic.h>

typedef struct watched {
  solve_context s;   /* first: what the engine sees */
  scl_problem plain; /* the engine's own verbs */
  scl_watch *watch;
  size_t asked;     /* verbs of the kind that is to fail */
  size_t visits;    /* and turns so far */
  bool visiting;    /* a visit or a turn of the solver runs */
  atomic_bool busy; /* a verb runs */
} watched;

/* Record the first rule of the interface that the solver broke. */
SCL_PRINTF(2, 3) void scl_watched_blame(watched *w, const char *format, ...);

/* watched_verbs.c: the watched verbs in place of the engine's. */
void scl_watched_verbs_set(watched *w);

/* watched_rows.c: a visit, and a turn, that show guarded copies. */
typedef struct scl_watched_visit {
  watched *w;
  scl_visit visit;
  scl_turn turn;
  void *context;
  size_t columns; /* of the scores of a turn */
} scl_watched_visit;
scl_status scl_watched_show(void *visit, const scl_rows *rows, scl_error *error);
scl_status scl_watched_turn(void *visit, const scl_rows *rows, double *scores, scl_error *error);

#endif

/* A watched problem, for `scullery plugin check`: the verbs that a solver calls are counted,
 * their arguments are checked, and one call may be made to fail. Rows are shown in read-only
 * guarded memory that is released at the end of the visit; coefficients are written to guarded
 * memory too. */
#ifndef SCULLERY_CHECKER_WATCHED_H
#define SCULLERY_CHECKER_WATCHED_H

#include "learn/model.h"

enum { SCL_WATCHED_VERBS = 16 };
/* Their names, "responses", "walk" ... "keep". */
extern const char *const scl_watched_verbs[SCL_WATCHED_VERBS];

typedef struct scl_watch {
  /* Asked: the call number `fail_at` (from 1; 0: none) of the verb number `verb` (-1: of any) fails
   * with `status`. */
  size_t fail_at;
  int verb;
  scl_status status;
  const double *start; /* not NULL: a point to start from, D x c */
  const char *state;   /* not NULL: `bytes` that the first call of `keep` restores */
  size_t bytes;
  /* Results: the number of calls of each verb; whether the requested failure occurred; the first
   * rule that the solver broke, or an empty text. */
  size_t calls[SCL_WATCHED_VERBS];
  bool failed;
  char *stored; /* `bytes` of the call of `keep` that failed; the caller releases them */
  char fault[300];
} scl_watch;

/* As scl_training_solve on all rows. */
scl_status scl_watched_solve(scl_training *training, const scl_instance *solver,
                             const double *values, size_t count, scl_watch *watch, scl_fit *fits,
                             scl_error *error);
/* As scl_model_fit on all rows. */
scl_status scl_watched_fit(scl_training *training, scl_instance *solver, const double *values,
                           size_t count, scl_watch *watch, scl_fit *fits, scl_model **out,
                           scl_error *error);
/* As scl_model_load, from arrays in guarded memory that ends with the call. */
scl_status scl_watched_load(scl_instance *solver, const scl_array_archive *archive, size_t features,
                            size_t targets, scl_dtype dtype, scl_model **out, scl_error *error);

#endif

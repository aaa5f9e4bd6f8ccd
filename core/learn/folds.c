/* Concurrent fits, each without one group of rows (cross-validation): every driver thread takes the
 * next fit until none is left. Serial parts of the solvers overlap; parallel parts use the pool one
 * after another, so that each fit has the same bits as when it runs alone. */
#include "base/interrupt.h"
#include "base/pool.h"
#include "base/profile.h"
#include "base/progress.h"
#include "base/thread.h"
#include "learn/model.h"
#include "learn/problem_internal.h"
#include "processes/processes.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

typedef struct folding {
  scl_training *training;
  scl_instance *solver;
  const long *without;
  const double *values;
  size_t groups, count, each; /* each: the number of fits of a group */
  /* Results: group i fills fits[i each] to fits[i each + each-1]. No two drivers share an
   * element. */
  scl_fit *fits;
  scl_model **models;
  atomic_size_t next, done; /* the next group to fit; the number of groups fitted */
  size_t level;             /* of the progress display; the caller's thread alone updates it */
  scl_lead lead;
  pthread_mutex_t lock;
  size_t failed; /* the lowest index of a fit that failed; status and error are of this fit */
  scl_status status;
  scl_error error;
  bool cancelled; /* whether any fit was cancelled */
} folding;

/* Record a failure. No thread starts another fit afterwards; a cancelled fit interrupts those that
 * run. */
static void fold_fail(folding *f, size_t i, scl_status status, const scl_error *error) {
  pthread_mutex_lock(&f->lock);
  if (f->status == SCL_STATUS_OK || i < f->failed) {
    f->failed = i;
    f->status = status;
    f->error = *error;
  }
  f->cancelled |= status == SCL_STATUS_CANCELLED;
  pthread_mutex_unlock(&f->lock);
  atomic_store(&f->next, f->groups);
  if (status == SCL_STATUS_CANCELLED) scl_interrupt();
}

/* The loop of one driver: take the next fit until none is left. scl_level_step has no effect on
 * threads other than the caller's, which have no such level. */
static void *drive_fits(void *context) {
  folding *f = context;
  for (;;) {
    (void)scl_level_step(f->level, (double)atomic_load(&f->done), NAN);
    const size_t i = atomic_fetch_add(&f->next, 1);
    if (i >= f->groups) return NULL;
    scl_error error = {0};
    scl_fit *fits = &f->fits[i * f->each];
    const scl_status status = f->models != NULL
                                  ? scl_model_fit(f->training, f->solver, f->without[i], f->values,
                                                  f->count, fits, &f->models[i * f->each], &error)
                                  : scl_training_solve(f->training, f->solver, f->without[i],
                                                       f->values, f->count, fits, &error);
    if (status != SCL_STATUS_OK) {
      fold_fail(f, i, status, &error);
      return NULL;
    }
    (void)atomic_fetch_add(&f->done, 1);
  }
}

/* A driver on a thread other than the caller's. */
static void *drive_followers(void *context) {
  scl_progress_follow(&((const folding *)context)->lead);
  return drive_fits(context);
}

/* The number of drivers: one for each thread of the pool, but no more than fits, and no more
 * systems of order D (8 D^2 bytes each) than the allowance holds. */
static size_t count_drivers(const folding *f) {
  /* Several processes exchange sums in one order, so that one thread solves all. */
  if (scl_processes_count() > 1) return 1;
  const double order = (double)scl_flow_features(&f->training->flow), each = 8 * order * order;
  size_t drivers = scl_min(scl_pool_threads(), f->groups);
  while (drivers > 1 && each * (double)drivers > (double)f->training->allowance)
    drivers--;
  return drivers;
}

scl_status scl_training_solve_groups(scl_training *training, scl_instance *solver,
                                     const long *without, size_t groups, const double *values,
                                     size_t count, scl_fit *fits, scl_model **models,
                                     scl_error *error) {
  if (scl_folds_divide(training, groups, scl_instance_has(solver, SCL_ABILITY_MODEL)))
    return scl_folds_solve_divided(training, solver, without, groups, values, count, fits, error);
  folding f = {.training = training,
               .solver = solver,
               .without = without,
               .values = values,
               .groups = groups,
               .count = count,
               .each = values == NULL ? 1 : count,
               .fits = fits,
               .models = scl_instance_has(solver, SCL_ABILITY_MODEL) ? models : NULL};
  pthread_t threads[SCL_POOL_MAX];
  memset(fits, 0, groups * f.each * sizeof *fits); /* so that fits never begun can be released */
  (void)pthread_mutex_init(&f.lock, NULL);
  training->aside = groups > 1;
  const bool shown = groups > 1 && training->flow.doing != NULL;
  const size_t mark = scl_profile_enter("solving");
  f.level = shown ? scl_level_open("fold", NULL, (double)groups) : 0;
  f.lead = scl_progress_lead();
  /* The caller is one driver. If a thread cannot start, the others do its work. */
  size_t started = 0;
  for (size_t wanted = count_drivers(&f); started + 1 < wanted; started++)
    if (!scl_thread_start(&threads[started], drive_followers, &f)) break;
  (void)drive_fits(&f);
  for (size_t i = 0; i < started; i++)
    scl_thread_join(threads[i]);
  scl_level_close(f.level, false);
  scl_profile_leave(mark, 0, 0);
  (void)pthread_mutex_destroy(&f.lock);
  if (f.status == SCL_STATUS_OK) return SCL_STATUS_OK;
  if (f.cancelled) scl_interrupt_clear(); /* fold_fail raised it to stop the other drivers */
  for (size_t i = 0; i < groups * f.each; i++) {
    scl_fit_release(&fits[i]);
    if (f.models == NULL) continue;
    scl_model_destroy(models[i]);
    models[i] = NULL;
  }
  if (error != NULL) *error = f.error;
  return f.status;
}

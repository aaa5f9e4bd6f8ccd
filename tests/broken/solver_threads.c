/* Shrinks its coefficients by the number of threads that its tasks met. */
// caught by: any-threads fail
// says: 1 and 4 threads
#include "solver.h"
#include <threads.h>

enum { TASKS = 64 };

static scl_status task(void *context, size_t index, scl_error *error) {
  thrd_t *met = context;
  (void)error;
  met[index] = thrd_current();
  (void)thrd_sleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  return SCL_STATUS_OK;
}

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  thrd_t met[TASKS];
  size_t threads = 0;
  scl_status status = problem->host->parallel(TASKS, task, met, error);
  for (size_t i = 0; i < TASKS; i++) {
    size_t before = 0;
    while (before < i && !thrd_equal(met[before], met[i]))
      before++;
    threads += before == i;
  }
  if (status == SCL_STATUS_OK) status = ridge_solve(self, problem, out, error);
  for (size_t i = 0; i < problem->features * problem->targets; i++)
    out->coefficients[i] /= (double)threads;
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);

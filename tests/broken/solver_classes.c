/* Takes targets of -1 as 0. */
// caught by: classes fail
// says: the other way round
#include "solver.h"

static scl_status visit(void *context, const scl_rows *rows, scl_error *error) {
  sums *s = context;
  double y[16];
  (void)error;
  for (size_t i = 0; i < rows->count; i++) {
    for (size_t j = 0; j < s->c; j++)
      y[j] = fmax(rows->targets[i * s->c + j], 0);
    sums_add(s, row_of(rows, i), y, weight_of(rows, i));
  }
  return SCL_STATUS_OK;
}

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  return problem->task == SCL_TASK_REGRESSION ? ridge_solve(self, problem, out, error)
                                              : ridge_walk(self, problem, visit, out, error);
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);

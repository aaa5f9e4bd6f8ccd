/* Takes weights above 5 as 5. */
// caught by: weights fail
// says: and all weights times
#include "solver.h"

static scl_status visit(void *context, const scl_rows *rows, scl_error *error) {
  sums *s = context;
  (void)error;
  for (size_t i = 0; i < rows->count; i++)
    sums_add(s, row_of(rows, i), rows->targets + i * s->c, fmin(weight_of(rows, i), 5));
  return SCL_STATUS_OK;
}

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  return ridge_walk(self, problem, visit, out, error);
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);

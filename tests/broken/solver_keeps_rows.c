/* Reads the rows of a block when its visit has ended. */
// caught by: rows crash
// says: slot solve
#include "solver.h"

static scl_status visit(void *context, const scl_rows *rows, scl_error *error) {
  (void)error;
  memcpy(context, rows, sizeof *rows);
  return SCL_STATUS_OK;
}

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  scl_rows last;
  scl_status status = problem->walk(problem, visit, &last, error);
  if (status == SCL_STATUS_OK) status = ridge_solve(self, problem, out, error);
  if (status == SCL_STATUS_OK) out->score = row_of(&last, 0)[0];
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);

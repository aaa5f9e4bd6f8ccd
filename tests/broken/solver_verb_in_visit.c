/* Calls a verb from inside a visit. */
// caught by: rows fail
// says: problem.progress was called from inside a visit
#include "solver.h"

typedef struct looking {
  const scl_problem *problem;
  sums *sums;
} looking;

static scl_status visit(void *context, const scl_rows *rows, scl_error *error) {
  const looking *l = context;
  (void)l->problem->progress(l->problem, "solving", 0.5, NAN, NULL);
  return sums_visit(l->sums, rows, error);
}

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  sums s;
  looking l = {problem, &s};
  scl_status status = sums_open(problem, &s, error);
  if (status != SCL_STATUS_OK) return status;
  status = problem->walk(problem, visit, &l, error);
  if (status == SCL_STATUS_OK)
    status = sums_solve(self, problem, &s, ((const ridge *)self)->lambda, out, error);
  sums_close(problem, &s);
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);

/* Fits without one group of rows each, by P processes: each solves as many groups as the others,
 * process r the groups r, r + P, ..., alone and from the same sums, and gives its fits to the
 * others. The groups that are left, fewer than P, are solved by all together. */
#include "learn/problem_internal.h"
#include "processes/processes.h"
#include "rows/joined.h"
#include <string.h>

bool scl_folds_divide(const scl_training *training, size_t groups, bool models) {
  return scl_flow_divides(&training->flow) && !models && groups >= scl_processes_count();
}

/* Make what all groups share while the processes work together: pilot means, and the sums of a
 * solver that can use them. */
static scl_status prepare(scl_training *training, const scl_instance *solver, long without,
                          scl_error *error) {
  solve_context s;
  SCL_TRY(scl_problem_open(&s, training, solver, without, error));
  const scl_status status = scl_instance_has(solver, SCL_ABILITY_NORMAL)
                                ? scl_training_make_sums(training, error)
                                : SCL_STATUS_OK;
  scl_problem_close(&s);
  return status;
}

/* ------------ fits of other processes */

/* A fit without its matrices. */
typedef struct fit_record {
  scl_solution solution; /* its pointers are of no use elsewhere */
  double loss;
  uint64_t features, targets, pilots; /* D, c, and columns of the pilot, 0 or D */
  uint64_t intercept;                 /* 1: solution.intercept is set */
} fit_record;

/* Make the matrices of a fit that another process has found. */
static scl_status open_fit(const fit_record *r, scl_fit *fit, scl_error *error) {
  SCL_TRY(scl_matrix_create(r->features, r->targets, SCL_DTYPE_FLOAT64, &fit->coefficients, error));
  SCL_TRY(scl_matrix_create(1, r->targets, SCL_DTYPE_FLOAT64, &fit->intercept, error));
  if (r->pilots > 0)
    SCL_TRY(scl_matrix_create(1, r->pilots, SCL_DTYPE_FLOAT64, &fit->pilot, error));
  fit->solution = r->solution;
  fit->solution.coefficients = fit->coefficients.data;
  fit->solution.intercept = r->intercept ? fit->intercept.data : NULL;
  fit->loss = r->loss;
  return SCL_STATUS_OK;
}

/* Copy a matrix from process `rank` to the others. */
static scl_status exchange_matrix(size_t rank, scl_matrix *m, scl_error *error) {
  return m->storage == NULL
             ? SCL_STATUS_OK
             : scl_processes_broadcast(rank, m->data, m->rows * m->cols * sizeof(double), error);
}

/* Copy a fit from process `rank` to the others. */
static scl_status exchange_fit(size_t rank, scl_fit *fit, scl_error *error) {
  fit_record r = {fit->solution,
                  fit->loss,
                  fit->coefficients.rows,
                  fit->coefficients.cols,
                  fit->pilot.storage == NULL ? 0 : fit->pilot.cols,
                  fit->solution.intercept != NULL};
  SCL_TRY(scl_processes_broadcast(rank, &r, sizeof r, error));
  const bool own = rank == scl_processes_rank();
  const scl_status mine = own ? SCL_STATUS_OK : open_fit(&r, fit, error);
  SCL_TRY(scl_processes_meet(mine, error, "a fit of %zu features", (size_t)r.features));
  SCL_TRY(exchange_matrix(rank, &fit->coefficients, error));
  SCL_TRY(exchange_matrix(rank, &fit->intercept, error));
  return exchange_matrix(rank, &fit->pilot, error);
}

/* ------------ all groups */

/* Solve the groups of this process, of those that are dealt out. */
static scl_status solve_own(scl_training *training, const scl_instance *solver, const long *without,
                            size_t dealt, const double *values, size_t count, scl_fit *fits,
                            scl_error *error) {
  const size_t each = values == NULL ? 1 : count;
  scl_status status = SCL_STATUS_OK;
  scl_processes_set_alone(true);
  for (size_t i = scl_processes_rank(); status == SCL_STATUS_OK && i < dealt;
       i += scl_processes_count())
    status =
        scl_training_solve(training, solver, without[i], values, count, &fits[i * each], error);
  scl_processes_set_alone(false);
  return status;
}

scl_status scl_folds_solve_divided(scl_training *training, const scl_instance *solver,
                                   const long *without, size_t groups, const double *values,
                                   size_t count, scl_fit *fits, scl_error *error) {
  const size_t each = values == NULL ? 1 : count, dealt = groups - groups % scl_processes_count();
  memset(fits, 0, groups * each * sizeof *fits);
  scl_status status = scl_training_agree(training, solver, values, count, error);
  if (status == SCL_STATUS_OK) status = prepare(training, solver, without[0], error);
  for (size_t i = dealt; status == SCL_STATUS_OK && i < groups; i++)
    status = prepare(training, solver, without[i], error);
  if (status == SCL_STATUS_OK)
    status = solve_own(training, solver, without, dealt, values, count, fits, error);
  status = scl_processes_meet(status, error, "the fits of %zu folds by %zu values", groups, each);
  for (size_t i = 0; status == SCL_STATUS_OK && i < dealt * each; i++)
    status = exchange_fit(i / each % scl_processes_count(), &fits[i], error);
  for (size_t i = dealt; status == SCL_STATUS_OK && i < groups; i++)
    status =
        scl_training_solve(training, solver, without[i], values, count, &fits[i * each], error);
  for (size_t i = 0; status != SCL_STATUS_OK && i < groups * each; i++)
    scl_fit_release(&fits[i]);
  return status;
}

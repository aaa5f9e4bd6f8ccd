/* Solvers on watched problems, and models from watched arrays. The problem is opened as for a fit;
 * then its verbs are replaced (watched_verbs.c) and the solver writes to guarded memory. */
#include "checker/watched_internal.h"
#include <string.h>

/* Open the engine's problem over all rows and put the watched verbs in place. The caller closes
 * w->s. */
static scl_status open_watched(watched *w, scl_training *training, const scl_instance *solver,
                               scl_watch *watch, scl_error *error) {
  memset(w, 0, sizeof *w);
  SCL_TRY(scl_problem_open(&w->s, training, solver, -1, error));
  w->watch = watch;
  scl_watched_verbs_set(w);
  w->s.problem.warm = watch->start != NULL;
  return SCL_STATUS_OK;
}

/* Restores the engine's verbs after the solver has returned. `shown`: the problem as the solver
 * received it. */
static void leave_solver(watched *w, const scl_problem *shown) {
  if (memcmp(shown, &w->s.problem, sizeof *shown) != 0)
    scl_watched_blame(w, "the solver wrote to the scl_problem that it was handed");
  w->s.problem = w->plain;
}

/* ------------ coefficients */

typedef struct solution_rooms {
  scl_guarded coefficients, intercept;
} solution_rooms;

/* Let the fit's solution point to guarded memory: coefficients (D x c) of zeros or of the start,
 * and an intercept of NaN, so that a solver that does not set it is detected. */
static scl_status guard_solution(const watched *w, scl_fit *fit, solution_rooms *room,
                                 scl_error *error) {
  const size_t c = w->s.problem.targets, bytes = w->s.problem.features * c * sizeof(double);
  SCL_TRY(scl_guarded_create(bytes, false, &room->coefficients, error));
  fit->solution.coefficients = (double *)(void *)room->coefficients.bytes;
  memset(room->coefficients.bytes, 0, bytes);
  if (w->watch->start != NULL) memcpy(room->coefficients.bytes, w->watch->start, bytes);
  if (fit->solution.intercept == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_guarded_create(c * sizeof(double), false, &room->intercept, error)); /* NaN */
  fit->solution.intercept = (double *)(void *)room->intercept.bytes;
  return SCL_STATUS_OK;
}

/* Copies what the solver wrote to the matrices of the fit. */
static void take_solution(watched *w, scl_fit *fit, solution_rooms *room) {
  const scl_guarded *a = &room->coefficients, *b = &room->intercept;
  if (a->bytes != NULL) memcpy(fit->coefficients.data, a->bytes, a->size);
  if (b->bytes != NULL) memcpy(fit->intercept.data, b->bytes, b->size);
  if ((a->bytes != NULL && !scl_guarded_untouched(a)) ||
      (b->bytes != NULL && !scl_guarded_untouched(b)))
    scl_watched_blame(w, "the solver wrote before its coefficients or its intercept");
  fit->solution.coefficients = fit->coefficients.data;
  fit->solution.intercept = fit->solution.intercept == NULL ? NULL : fit->intercept.data;
  scl_guarded_destroy(&room->coefficients);
  scl_guarded_destroy(&room->intercept);
}

/* One call of the solver for `count` fits, each with guarded memory. The results are copied back
 * after a failure too, which releases the memory. */
static scl_status call_watched(watched *w, const scl_instance *solver, const double *values,
                               size_t count, scl_fit *fits, solution_rooms *room,
                               scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0; status == SCL_STATUS_OK && k < count; k++)
    status = guard_solution(w, &fits[k], &room[k], error);
  const scl_problem shown = w->s.problem;
  if (status == SCL_STATUS_OK)
    status = scl_problem_call(&w->s.problem, solver, values, count, fits, error);
  leave_solver(w, &shown);
  for (size_t k = 0; k < count; k++)
    take_solution(w, &fits[k], &room[k]);
  return status;
}

scl_status scl_watched_solve(scl_training *training, const scl_instance *solver,
                             const double *values, size_t count, scl_watch *watch, scl_fit *fits,
                             scl_error *error) {
  const size_t number = values == NULL ? 1 : count;
  watched w;
  SCL_TRY(open_watched(&w, training, solver, watch, error));
  memset(fits, 0, number * sizeof *fits);
  solution_rooms *room = scl_allocate_zero((number + 1) * sizeof *room);
  scl_status status = room == NULL ? scl_fail_memory(error, number * sizeof *room, "solutions")
                                   : scl_fits_start(&w.s.problem, number, fits, error);
  if (status == SCL_STATUS_OK) status = call_watched(&w, solver, values, number, fits, room, error);
  if (status == SCL_STATUS_OK) status = scl_fits_finish(&w.s, number, fits, error);
  for (size_t k = 0; status != SCL_STATUS_OK && k < number; k++)
    scl_fit_release(&fits[k]);
  scl_release(room);
  scl_problem_close(&w.s);
  return status;
}

/* ------------ models */

scl_status scl_watched_fit(scl_training *training, scl_instance *solver, const double *values,
                           size_t count, scl_watch *watch, scl_fit *fits, scl_model **out,
                           scl_error *error) {
  watched w;
  SCL_TRY(open_watched(&w, training, solver, watch, error));
  const scl_problem shown = w.s.problem;
  const scl_status status = scl_model_fit_problem(&w.s, solver, values, count, fits, out, error);
  leave_solver(&w, &shown);
  scl_problem_close(&w.s);
  return status;
}

/* Moves the numbers of the archive's entries to guarded memory. */
static scl_status guard_arrays(scl_archive_entry *entries, size_t count, scl_guarded *rooms,
                               scl_error *error) {
  for (size_t i = 0; i < count; i++) {
    scl_array *array = &entries[i].array;
    const size_t bytes = scl_array_bytes(array);
    SCL_TRY(scl_guarded_create(bytes, false, &rooms[i], error));
    if (bytes > 0) memcpy(rooms[i].bytes, array->data, bytes);
    scl_guarded_lock(&rooms[i]);
    array->data = rooms[i].bytes;
  }
  return SCL_STATUS_OK;
}

scl_status scl_watched_load(scl_instance *solver, const scl_array_archive *archive, size_t features,
                            size_t targets, scl_dtype dtype, scl_model **out, scl_error *error) {
  const size_t count = archive->count;
  scl_array_archive guarded = *archive;
  scl_guarded *rooms = scl_allocate_zero((count + 1) * sizeof *rooms);
  guarded.entries = scl_allocate_zero((count + 1) * sizeof *guarded.entries);
  scl_status status = rooms == NULL || guarded.entries == NULL
                          ? scl_fail_memory(error, count * sizeof *guarded.entries, "arrays")
                          : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK) {
    memcpy(guarded.entries, archive->entries, count * sizeof *guarded.entries);
    status = guard_arrays(guarded.entries, count, rooms, error);
  }
  if (status == SCL_STATUS_OK)
    status = scl_model_load(solver, &guarded, features, targets, dtype, out, error);
  for (size_t i = 0; rooms != NULL && i < count; i++)
    scl_guarded_destroy(&rooms[i]);
  scl_release(rooms);
  scl_release(guarded.entries);
  return status;
}

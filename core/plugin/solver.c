/* Calls of solvers: what they declare, solves, models, losses and objectives. Solutions and scores
 * are checked before anything uses them. */
#include "plugin/solver.h"

#include "plugin/blocks.h"
#include "plugin/call.h"
#include <math.h>
#include <string.h>

/* The solver's table, at the host's size. */
static const scl_solver *table_of(const scl_instance *solver) {
  return scl_instance_vtable(solver);
}

/* ------------ what it says of itself */

bool scl_solver_takes(const scl_instance *solver, scl_dtype dtype) {
  return scl_takes(table_of(solver)->dtypes, dtype);
}

scl_penalty scl_solver_penalty(const scl_instance *solver) {
  const scl_ability_penalty *ability = scl_instance_ability(solver, SCL_ABILITY_PENALTY);
  scl_call call;
  if (ability == NULL)
    return scl_instance_has(solver, SCL_ABILITY_MODEL) ? SCL_PENALTY_NONE : SCL_PENALTY_L2;
  scl_call_enter(&call, solver->component, "penalty", NULL);
  const scl_penalty penalty = ability->penalty(solver->self);
  (void)scl_call_end(&call);
  return penalty;
}

bool scl_solver_shrinks(const scl_instance *solver, scl_penalty *penalty) {
  if (!scl_instance_has(solver, SCL_ABILITY_PENALTY)) return false;
  *penalty = scl_solver_penalty(solver);
  return *penalty == SCL_PENALTY_L2 || *penalty == SCL_PENALTY_RKHS;
}

bool scl_solver_needs_normal_alone(const scl_instance *solver, const scl_problem *problem,
                                   const double *values, size_t count, bool weighted) {
  const scl_ability_normal *ability = scl_instance_ability(solver, SCL_ABILITY_NORMAL);
  scl_call call;
  if (ability == NULL) return false;
  scl_call_enter(&call, solver->component, "alone", NULL);
  const bool alone = ability->alone(solver->self, problem, values, count, weighted) != 0;
  scl_call_end(&call);
  return alone;
}

bool scl_solver_wants_intercept(const scl_instance *solver) {
  const scl_value *value = scl_settings_role(&solver->settings, SCL_ROLE_INTERCEPT);
  if (value == NULL) return false;
  if (value->form == SCL_FORM_BOOLEAN) return value->number != 0;
  if (value->form != SCL_FORM_WORD || strcmp(value->word, "auto") != 0) return false;
  const scl_penalty penalty = scl_solver_penalty(solver);
  if (penalty == SCL_PENALTY_NONE) return scl_instance_has(solver, SCL_ABILITY_PENALTY);
  return penalty != SCL_PENALTY_BOX && penalty != SCL_PENALTY_RKHS;
}

const char *scl_solver_path_option(const scl_instance *solver) {
  const scl_ability_model_path *models = scl_instance_ability(solver, SCL_ABILITY_MODEL_PATH);
  if (scl_instance_has(solver, SCL_ABILITY_MODEL)) return models == NULL ? NULL : models->option;
  const scl_ability_path *ability = scl_instance_ability(solver, SCL_ABILITY_PATH);
  return ability == NULL ? NULL : ability->option;
}

bool scl_solver_path_sparse_only(const scl_instance *solver) {
  const scl_ability_path *ability = scl_instance_ability(solver, SCL_ABILITY_PATH);
  return ability != NULL && ability->sparse_only != 0;
}

/* ------------ solving */

/* Check the numbers that a solution reports about the solve: not negative, and a residual that fits
 * the outcome. NaN means that the solver does not report the number, except for the jitter, which
 * is always a number. */
static scl_status check_account(const scl_instance *solver, const scl_solution *solution,
                                scl_error *error) {
  static const double most = 9007199254740992; /* 2^53 */
  const struct {
    const char *name;
    double value;
    bool wrong;
  } numbers[] = {{"gap", solution->gap, solution->gap < 0},
                 {"residual", solution->residual, solution->residual < 0},
                 {"tolerance", solution->tolerance, solution->tolerance < 0},
                 {"jitter", solution->jitter, !(solution->jitter >= 0) || isinf(solution->jitter)}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (numbers[i].wrong)
      return scl_fail(error, SCL_STATUS_INTERNAL, "solver.%s tells a %s of %g in its solution",
                      scl_instance_name(solver), numbers[i].name, numbers[i].value);
  if ((double)solution->iterations > most)
    return scl_fail(error, SCL_STATUS_INTERNAL, "solver.%s tells %zu iterations in its solution",
                    scl_instance_name(solver), solution->iterations);
  if (solution->outcome == SCL_OUTCOME_CONVERGED && isfinite(solution->residual) &&
      isfinite(solution->tolerance) && solution->residual > solution->tolerance)
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "solver.%s says that it converged, and its residual %g is above its "
                    "tolerance %g",
                    scl_instance_name(solver), solution->residual, solution->tolerance);
  return SCL_STATUS_OK;
}

/* The note is a text of one line that can be printed. */
static scl_status check_note(const scl_instance *solver, const scl_solution *solution,
                             scl_error *error) {
  const char *end = memchr(solution->note, 0, sizeof solution->note);
  if (end == NULL)
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "solver.%s filled the note of its solution without a zero byte at its end",
                    scl_instance_name(solver));
  for (const char *at = solution->note; at < end; at++)
    if ((unsigned char)*at < 32 || *at == 127)
      return scl_fail(error, SCL_STATUS_INTERNAL,
                      "solver.%s put the control character %d into the note of its solution",
                      scl_instance_name(solver), (int)(unsigned char)*at);
  return SCL_STATUS_OK;
}

/* A solution has an outcome, a note and finite coefficients (`numbers` of them, if it has any). */
static scl_status check_solution(const scl_instance *solver, const scl_solution *solution,
                                 size_t numbers, scl_error *error) {
  if (solution->outcome <= SCL_OUTCOME_NONE || solution->outcome > SCL_OUTCOME_LIMIT)
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "solver.%s left the outcome of its solution unsaid (%d)",
                    scl_instance_name(solver), (int)solution->outcome);
  SCL_TRY(check_note(solver, solution, error));
  SCL_TRY(check_account(solver, solution, error));
  for (size_t i = 0; solution->coefficients != NULL && i < numbers; i++)
    if (!isfinite(solution->coefficients[i]))
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "solver.%s: the solution is not finite (coefficient %zu)",
                      scl_instance_name(solver), i + 1);
  return SCL_STATUS_OK;
}

/* A plugin writes to the memory of the host; it must not replace the pointers. */
static scl_status check_places(const scl_instance *solver, const scl_solution *asked,
                               const scl_solution *given, scl_error *error) {
  if (given->coefficients == asked->coefficients && given->intercept == asked->intercept)
    return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_INTERNAL,
                  "solver.%s replaced the host's memory for its solution (members coefficients and "
                  "intercept), which it is to write to",
                  scl_instance_name(solver));
}

/* Call the slot for one solve or a path. The pointers of the host are restored in any case: the
 * caller releases what they point to. */
static scl_status solver_call(const scl_instance *solver, const scl_problem *problem,
                              const double *values, size_t count, const scl_solution *asked,
                              scl_solution *const *out, scl_error *error) {
  const scl_ability_path *path = scl_instance_ability(solver, SCL_ABILITY_PATH);
  scl_call call;
  scl_call_enter(&call, solver->component, "solve", error);
  scl_status status = scl_call_leave(
      &call, values != NULL ? path->solve(solver->self, problem, values, count, out, error)
                            : table_of(solver)->solve(solver->self, problem, out[0], error));
  for (size_t k = 0; status == SCL_STATUS_OK && k < count; k++)
    status = check_places(solver, &asked[k], out[k], error);
  for (size_t k = 0; k < count; k++) {
    out[k]->coefficients = asked[k].coefficients;
    out[k]->intercept = asked[k].intercept;
  }
  for (size_t k = 0; status == SCL_STATUS_OK && k < count; k++)
    status = check_solution(solver, out[k], problem->features * problem->targets, error);
  return status;
}

scl_status scl_solver_solve(const scl_instance *solver, const scl_problem *problem,
                            const double *values, size_t count, scl_solution *const *out,
                            scl_error *error) {
  const bool many = values != NULL;
  if (many ? scl_solver_path_option(solver) == NULL : table_of(solver)->solve == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    many ? "solver.%s has no path of many values"
                         : "solver.%s makes a model, not coefficients",
                    scl_instance_name(solver));
  if (!many) count = 1;
  scl_solution *asked = scl_allocate_array(count, sizeof *asked);
  if (asked == NULL) return scl_fail_memory(error, count * sizeof *asked, "solutions");
  for (size_t k = 0; k < count; k++)
    asked[k] = *out[k];
  const scl_status status = solver_call(solver, problem, values, count, asked, out, error);
  scl_release(asked);
  return status;
}

/* ------------ models */

/* The table of a solver whose result is a model of its own; NULL for others. */
static const scl_ability_model *model_of(const scl_instance *solver) {
  return scl_instance_ability(solver, SCL_ABILITY_MODEL);
}

/* End a call that makes a model. A model that is made although the call fails is destroyed; success
 * without a model is a failure. */
static scl_status take_model(const scl_instance *solver, scl_call *call, scl_status made,
                             void **model, scl_error *error) {
  const scl_status status = scl_call_leave(call, made);
  if (made == SCL_STATUS_OK && *model == NULL)
    return scl_fail(error, SCL_STATUS_INTERNAL, "solver.%s left its model unset (slot %s)",
                    scl_instance_name(solver), call->slot);
  if (status == SCL_STATUS_OK) return SCL_STATUS_OK;
  if (made == SCL_STATUS_OK) scl_solver_destroy_model(solver, *model);
  *model = NULL;
  return status;
}

/* One model for each value of the path option. If the slot succeeds and a check fails afterwards,
 * the models that were made stay in the array, and the caller destroys them; if the slot fails, its
 * pointers are not used. */
static scl_status fit_path(const scl_instance *solver, const scl_problem *problem,
                           const double *values, size_t count, void **models,
                           scl_solution *const *out, scl_error *error) {
  const scl_ability_model_path *path = scl_instance_ability(solver, SCL_ABILITY_MODEL_PATH);
  scl_call call;
  if (path == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "solver.%s has no path of many values",
                    scl_instance_name(solver));
  scl_call_enter(&call, solver->component, "fit", error);
  const scl_status made = path->fit(solver->self, problem, values, count, models, out, error);
  const scl_status status = scl_call_leave(&call, made);
  for (size_t k = 0; made == SCL_STATUS_OK && k < count; k++)
    if (models[k] == NULL)
      return scl_fail(error, SCL_STATUS_INTERNAL,
                      "solver.%s left a model of its path unset (slot %s)",
                      scl_instance_name(solver), call.slot);
  if (made != SCL_STATUS_OK) memset(models, 0, count * sizeof *models);
  return status;
}

scl_status scl_solver_fit(const scl_instance *solver, const scl_problem *problem,
                          const double *values, size_t count, void **models,
                          scl_solution *const *out, scl_error *error) {
  const size_t number = values == NULL ? 1 : count;
  memset(models, 0, number * sizeof *models);
  scl_status status;
  if (values == NULL) {
    scl_call call;
    scl_call_enter(&call, solver->component, "fit", error);
    const scl_status made = model_of(solver)->fit(solver->self, problem, models, out[0], error);
    status = take_model(solver, &call, made, models, error);
  } else {
    status = fit_path(solver, problem, values, count, models, out, error);
  }
  for (size_t k = 0; status == SCL_STATUS_OK && k < number; k++)
    status = check_solution(solver, out[k], 0, error);
  for (size_t k = 0; status != SCL_STATUS_OK && k < number; k++) {
    scl_solver_destroy_model(solver, models[k]);
    models[k] = NULL;
  }
  return status;
}

/* scores (rows x targets at stride) of rows in a dtype that the solver takes; they must be
 * finite. */
static scl_status solver_decide(const scl_instance *solver, const void *model,
                                const scl_const_block *rows, size_t targets, double *scores,
                                ptrdiff_t stride, scl_error *error) {
  scl_call call;
  scl_call_enter(&call, solver->component, "decide", error);
  SCL_TRY(scl_call_leave(
      &call, model_of(solver)->decide(solver->self, model, rows, scores, stride, error)));
  for (size_t i = 0; i < rows->rows; i++)
    for (size_t j = 0; j < targets; j++)
      if (!isfinite(scores[(ptrdiff_t)i * stride + (ptrdiff_t)j]))
        return scl_fail(error, SCL_STATUS_NUMERIC, "solver.%s: a score of its model is not finite",
                        scl_instance_name(solver));
  return SCL_STATUS_OK;
}

scl_status scl_solver_decide(const scl_instance *solver, const void *model,
                             const scl_const_block *rows, size_t targets, double *scores,
                             ptrdiff_t stride, scl_error *error) {
  if (scl_solver_takes(solver, rows->dtype))
    return solver_decide(solver, model, rows, targets, scores, stride, error);
  const size_t numbers = scl_block_numbers(rows);
  double *memory = scl_allocate_array(numbers + 1, sizeof *memory);
  if (memory == NULL)
    return scl_fail_memory(error, numbers * sizeof *memory, "a float64 copy of rows");
  const scl_const_block wide = scl_block_widen(rows, memory);
  const scl_status status = solver_decide(solver, model, &wide, targets, scores, stride, error);
  scl_release(memory);
  return status;
}

scl_status scl_solver_save(const scl_instance *solver, const void *model, scl_archive *archive,
                           scl_error *error) {
  scl_call call;
  scl_call_enter(&call, solver->component, "save", error);
  return scl_call_leave(&call, model_of(solver)->save(solver->self, model, archive, error));
}

scl_status scl_solver_load(const scl_instance *solver, const scl_archive *archive, size_t features,
                           size_t targets, void **model, scl_error *error) {
  scl_call call;
  *model = NULL;
  scl_call_enter(&call, solver->component, "load", error);
  const scl_status made =
      model_of(solver)->load(solver->self, archive, features, targets, model, error);
  return take_model(solver, &call, made, model, error);
}

void scl_solver_destroy_model(const scl_instance *solver, void *model) {
  scl_call call;
  if (model == NULL) return;
  scl_call_enter(&call, solver->component, "destroy", NULL);
  model_of(solver)->destroy(solver->self, model);
  (void)scl_call_end(&call);
}

/* ------------ loss */

double scl_solver_loss(const scl_instance *solver, size_t c, const double *f, const double *y,
                       scl_error *error) {
  const scl_ability_loss *loss = scl_instance_ability(solver, SCL_ABILITY_LOSS);
  double value = 0;
  if (loss != NULL) {
    scl_call call;
    if (!scl_call_begin(&call, solver->component, "value", error)) return NAN;
    value = loss->value(solver->self, c, f, y);
    return scl_call_end(&call) ? value : NAN;
  }
  for (size_t j = 0; j < c; j++)
    value += (f[j] - y[j]) * (f[j] - y[j]);
  return value;
}

scl_status scl_solver_loss_slope(const scl_instance *solver, size_t c, const double *f,
                                 const double *y, double *out, scl_error *error) {
  const scl_ability_loss *loss = scl_instance_ability(solver, SCL_ABILITY_LOSS);
  scl_call call;
  for (size_t j = 0; loss == NULL && j < c; j++)
    out[j] = 2 * (f[j] - y[j]);
  if (loss == NULL) return SCL_STATUS_OK;
  scl_call_enter(&call, solver->component, "slope", error);
  loss->slope(solver->self, c, f, y, out);
  return scl_call_leave(&call, SCL_STATUS_OK);
}

double scl_solver_loss_bound(const scl_instance *solver, double reach, scl_error *error) {
  const scl_ability_loss *loss = scl_instance_ability(solver, SCL_ABILITY_LOSS);
  if (loss == NULL) return (reach + 1) * (reach + 1);
  scl_call call;
  if (!scl_call_begin(&call, solver->component, "bound", error)) return NAN;
  const double value = loss->bound(solver->self, reach);
  return scl_call_end(&call) ? value : NAN;
}

double scl_solver_loss_lipschitz(const scl_instance *solver, double reach, scl_error *error) {
  const scl_ability_loss *loss = scl_instance_ability(solver, SCL_ABILITY_LOSS);
  if (loss == NULL) return 2 * (reach + 1);
  scl_call call;
  if (!scl_call_begin(&call, solver->component, "lipschitz", error)) return NAN;
  const double value = loss->lipschitz(solver->self, reach);
  return scl_call_end(&call) ? value : NAN;
}

scl_status scl_solver_probabilities(const scl_instance *solver, size_t c, const double *f,
                                    double *out, bool *said, scl_error *error) {
  const scl_ability_loss *loss = scl_instance_ability(solver, SCL_ABILITY_LOSS);
  *said = loss != NULL && loss->probabilities != NULL;
  if (!*said) return SCL_STATUS_OK;
  scl_call call;
  scl_call_enter(&call, solver->component, "probabilities", error);
  *said = loss->probabilities(solver->self, c, f, out) != 0;
  return scl_call_leave(&call, SCL_STATUS_OK);
}

scl_status scl_solver_means(const scl_instance *solver, size_t c, const double *f, double *out,
                            bool *said, scl_error *error) {
  const scl_ability_loss *loss = scl_instance_ability(solver, SCL_ABILITY_LOSS);
  *said = loss != NULL && loss->means != NULL;
  if (!*said) return SCL_STATUS_OK;
  scl_call call;
  scl_call_enter(&call, solver->component, "means", error);
  *said = loss->means(solver->self, c, f, out) != 0;
  return scl_call_leave(&call, SCL_STATUS_OK);
}

size_t scl_solver_outputs(const scl_instance *solver) {
  const scl_ability_loss *loss = scl_instance_ability(solver, SCL_ABILITY_LOSS);
  scl_call call;
  if (loss == NULL || !SCL_HAS(loss, outputs) || loss->outputs == NULL ||
      !scl_call_begin(&call, solver->component, "outputs", NULL))
    return 1;
  const size_t outputs = loss->outputs(solver->self);
  return scl_call_end(&call) && outputs > 0 ? outputs : 1;
}

bool scl_solver_gives_means(const scl_instance *solver) {
  const double score = 0;
  double mean;
  bool said = false;
  return scl_solver_means(solver, 1, &score, &mean, &said, NULL) == SCL_STATUS_OK && said;
}

/* ------------ cost */

/* A number of a cost that is negative or not finite becomes 0. */
static void clean_cost(scl_cost *cost) {
  double *const numbers[] = {&cost->normal,    &cost->reweighted, &cost->dual,
                             &cost->gram,      &cost->passes,     &cost->columns,
                             &cost->minibatch, &cost->factorised, &cost->products,
                             &cost->steps,     &cost->bytes};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (!(*numbers[i] >= 0) || !isfinite(*numbers[i])) *numbers[i] = 0;
  cost->note[sizeof cost->note - 1] = 0;
}

bool scl_solver_cost(const scl_instance *solver, const scl_problem *problem, const double *values,
                     size_t count, bool weighted, scl_cost *out) {
  const scl_ability_cost *ability = scl_instance_ability(solver, SCL_ABILITY_COST);
  scl_call call;
  *out = (scl_cost){.head = SCL_HEAD(scl_cost), .kept = out->kept};
  if (ability == NULL) return false;
  scl_call_enter(&call, solver->component, "cost", NULL);
  ability->cost(solver->self, problem, values, count, weighted, out);
  scl_call_end(&call);
  clean_cost(out);
  return true;
}

/* ------------ objective */

scl_status scl_solver_objective(const scl_instance *solver, const scl_problem *problem,
                                const double *coefficients, const double *intercept, double *value,
                                scl_error *error) {
  const scl_ability_objective *ability = scl_instance_ability(solver, SCL_ABILITY_OBJECTIVE);
  if (ability == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "solver.%s does not say its objective",
                    scl_instance_name(solver));
  scl_call call;
  scl_call_enter(&call, solver->component, "objective", error);
  return scl_call_leave(
      &call, ability->objective(solver->self, problem, coefficients, intercept, value, error));
}

/* The tables of a solver that makes models: include it after defining fit, decide, save, load and
 * end. */
#ifndef SCULLERY_SHARED_MODEL_SOLVER_H
#define SCULLERY_SHARED_MODEL_SOLVER_H

#include <scullery/plugin.h>
#include <string.h>

/* The host calls fit. */
static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  (void)instance;
  (void)out;
  return problem->host->fail(error, SCL_STATUS_UNSUPPORTED,
                             "this solver makes a model, not coefficients");
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_model model_table = {
      SCL_HEAD(scl_ability_model), fit, decide, save, load, end};
  (void)instance;
  return strcmp(id, SCL_ABILITY_MODEL) == 0 ? &model_table : NULL;
}

static const scl_solver table = {SCL_HEAD(scl_solver), solve};

#endif

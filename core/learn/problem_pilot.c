/* Pilot means of a training. Features and targets of problems with a constant are shifted by
 * estimates of their means, which avoids cancellation in the sums; a fit is shifted back. */
#include "learn/problem_internal.h"
#include "rows/whole_sums.h"
#include <string.h>

/* Whether the flow subtracts anything at present. */
static bool subtracts(const scl_training *training) {
  return training->flow.pilot != NULL || training->flow.target_pilot != NULL;
}

/* Destroy the sums and cached features, which were made with the other pilot means. */
static void forget_sums(scl_training *training) {
  scl_sums_destroy(training->sums);
  scl_keep_destroy(training->kept);
  scl_keep_destroy(training->kept_part);
  training->sums = NULL;
  training->kept = training->kept_part = NULL;
  for (int k = 0; k < 2; k++) {
    scl_reduced_destroy(training->reduced[k]);
    training->reduced[k] = NULL;
    training->irreducible[k] = false;
  }
}

scl_status scl_training_units(scl_training *training, scl_flow *out, scl_error *error) {
  *out = training->flow;
  if (out->unit != NULL) return SCL_STATUS_OK;
  if (training->unit == NULL) SCL_TRY(scl_pilot_units(out, &training->unit, error));
  out->unit = training->unit;
  return SCL_STATUS_OK;
}

/* scl_training_centre, with the lock held. The pilot is learnt at the first problem with a
 * constant. */
static scl_status centre_locked(scl_training *training, bool constant, scl_error *error) {
  scl_flow *flow = &training->flow;
  const scl_pilot *pilot = &training->pilot;
  if (training->fixed) return SCL_STATUS_OK;
  if (constant && !training->has_pilot) {
    /* Exact sums need no pilot means of targets, and would depend on the rows that come first. */
    const bool targets = training->task == SCL_TASK_REGRESSION && !scl_flow_is_exact(flow);
    SCL_TRY(scl_pilot_learn(flow, targets, &training->pilot, error));
    training->has_pilot = true;
  }
  const bool wanted = constant && (pilot->features != NULL || pilot->targets != NULL);
  const double *unit = constant || pilot->features == NULL ? pilot->unit : NULL;
  if (flow->unit != unit) flow->unit = unit; /* other problems may be reading it */
  if (wanted == subtracts(training)) return SCL_STATUS_OK;
  forget_sums(training);
  flow->pilot = wanted ? pilot->features : NULL;
  flow->target_pilot = wanted ? pilot->targets : NULL;
  training->way = scl_sums_way_of(flow);
  return SCL_STATUS_OK;
}

scl_status scl_training_centre(scl_training *training, bool constant, scl_error *error) {
  pthread_mutex_lock(&training->lock);
  const scl_status status = centre_locked(training, constant, error);
  pthread_mutex_unlock(&training->lock);
  return status;
}

static bool any_nonzero(const double *numbers, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (numbers[i] != 0) return true;
  return false;
}

void scl_training_like(scl_training *training, const scl_whole_sums *like) {
  scl_flow *flow = &training->flow;
  if (like->unit == NULL) return;
  const double *pilot = like->pilot;
  training->fixed = true;
  flow->unit = like->unit;
  flow->fixed_unit = true;
  flow->pilot = any_nonzero(pilot, like->features) ? pilot : NULL;
  flow->target_pilot =
      any_nonzero(pilot + like->features, like->targets) ? pilot + like->features : NULL;
  training->way = scl_sums_way_of(flow);
}

scl_status scl_training_centre_alike(scl_training *few, const scl_training *many, bool *alike,
                                     scl_error *error) {
  if (subtracts(many)) SCL_TRY(scl_training_centre(few, true, error));
  *alike =
      subtracts(few) == subtracts(many) && (few->flow.pilot == NULL) == (many->flow.pilot == NULL);
  return SCL_STATUS_OK;
}

void scl_training_take_pilot(scl_training *few, const scl_training *many, double ratio) {
  const size_t count = scl_map_count(few->flow.map), all = scl_map_count(many->flow.map);
  for (size_t j = 0; few->flow.pilot != NULL && j < scl_flow_features(&few->flow); j++)
    few->pilot.features[j] = ratio * many->flow.pilot[j / count * all + j % count];
}

void scl_training_intercept_to_pilot(const scl_training *training, const double *coefficients,
                                     double *intercept) {
  const scl_flow *flow = &training->flow;
  const size_t d = scl_flow_features(flow), c = flow->source->targets;
  for (size_t j = 0; j < c; j++) {
    for (size_t i = 0; flow->pilot != NULL && i < d; i++)
      intercept[j] += flow->pilot[i] * coefficients[i * c + j];
    if (flow->target_pilot != NULL) intercept[j] -= flow->target_pilot[j];
  }
}

scl_status scl_training_keep_pilot(const scl_training *training, scl_fit *fit, scl_error *error) {
  const scl_flow *flow = &training->flow;
  const size_t d = fit->coefficients.rows, c = fit->coefficients.cols;
  double *intercept = fit->intercept.data;
  for (size_t j = 0; flow->target_pilot != NULL && j < c; j++)
    intercept[j] += flow->target_pilot[j];
  if (flow->pilot == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_matrix_create_raw(1, d, SCL_DTYPE_FLOAT64, &fit->pilot, error));
  memcpy(fit->pilot.data, flow->pilot, d * sizeof(double));
  return SCL_STATUS_OK;
}

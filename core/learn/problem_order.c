/* Rows in an order that depends on their contents alone (rows/ordered.h). Where features are bits
 * or whole numbers, rows are drawn in it, so that a solver that looks at a sample does not depend
 * on the order of the rows; and a solver that does (SCL_ABILITY_ORDERED_ROWS) is given a training
 * on the rows in this order. */
#include "learn/problem_internal.h"

/* With the lock held. */
static scl_status ensure_order(scl_training *training, scl_error *error) {
  if (training->order != NULL) return SCL_STATUS_OK;
  return scl_flow_order(&training->flow, &training->order, error);
}

scl_status scl_training_order(scl_training *training, const size_t **out, scl_error *error) {
  const scl_map *map = training->flow.map;
  *out = NULL;
  const bool exact = map != NULL && (scl_map_wanted_whole(map) != SCL_WHOLE_NONE ||
                                     scl_flow_has_bits(&training->flow));
  if (!exact || training->ordered != NULL) return SCL_STATUS_OK;
  pthread_mutex_lock(&training->lock);
  const scl_status status = ensure_order(training, error);
  *out = training->order;
  pthread_mutex_unlock(&training->lock);
  return status;
}

/* Half of the allowance is for rows that are read in order. */
static scl_status make_ordered(scl_training *training, scl_error *error) {
  scl_flow flow;
  scl_ordered *ordered;
  SCL_TRY(ensure_order(training, error));
  const scl_ordering ordering = {.rows = &training->flow,
                                 .order = training->order,
                                 .lock = &training->lock,
                                 .bytes = training->allowance / 2};
  SCL_TRY(scl_ordered_create(&ordering, &ordered, &flow, error));
  const scl_status status = scl_training_create(&flow, training->task, training->classes,
                                                training->allowance, &training->in_order, error);
  if (status == SCL_STATUS_OK)
    training->in_order->ordered = ordered;
  else
    scl_ordered_destroy(ordered);
  return status;
}

scl_status scl_training_in_order(scl_training *training, scl_training **out, scl_error *error) {
  const scl_flow *flow = &training->flow;
  *out = training;
  if (training->by_sums || training->ordered != NULL ||
      (!scl_flow_has_bits(flow) && scl_flow_whole(flow) == SCL_WHOLE_NONE))
    return SCL_STATUS_OK;
  pthread_mutex_lock(&training->lock);
  scl_status status = SCL_STATUS_OK;
  if (training->in_order == NULL) status = make_ordered(training, error);
  if (status == SCL_STATUS_OK) *out = training->in_order;
  pthread_mutex_unlock(&training->lock);
  return status;
}

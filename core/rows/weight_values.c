/* Distinct values of the row weights. Called by sums_bits.c. */
#include "rows/weight_values.h"

#include <string.h>

/* The place of a value in the ascending list, or where it would be inserted. */
static size_t place_of(const scl_weight_values *w, double value) {
  size_t at = 0;
  while (at < w->count && w->value[at] < value)
    at++;
  return at;
}

/* Collect the distinct weights in ascending order. False: they are more than SCL_WEIGHT_VALUES, or
 * their product with the groups does not fit int32. */
static bool find_values(const scl_flow *flow, scl_weight_values *w) {
  *w = (scl_weight_values){.count = 1, .value = {1}};
  if (flow->weights == NULL) return true;
  w->count = 0;
  for (size_t i = 0; i < flow->source->rows; i++) {
    const double value = flow->weights[i];
    const size_t at = place_of(w, value);
    if (at < w->count && w->value[at] == value) continue;
    if (w->count == SCL_WEIGHT_VALUES) return false;
    memmove(w->value + at + 1, w->value + at, (w->count++ - at) * sizeof *w->value);
    w->value[at] = value;
  }
  return w->count <= (size_t)INT32_MAX / scl_max(flow->groups, 1);
}

bool scl_weights_are_few(const scl_flow *flow) {
  scl_weight_values w;
  return find_values(flow, &w);
}

scl_status scl_weight_values_find(const scl_flow *flow, scl_weight_values *out, scl_error *error) {
  const size_t rows = flow->source->rows;
  if (!find_values(flow, out))
    return scl_fail(error, SCL_STATUS_INTERNAL, "rows have more than %d weights",
                    (int)SCL_WEIGHT_VALUES);
  if (out->count < 2) return SCL_STATUS_OK;
  out->group = scl_allocate_array(rows, sizeof *out->group);
  if (out->group == NULL)
    return scl_fail_memory(error, rows * sizeof *out->group, "rows by their weights");
  for (size_t i = 0; i < rows; i++) {
    const int32_t group = flow->group == NULL ? 0 : flow->group[i];
    out->group[i] = group * (int32_t)out->count + (int32_t)place_of(out, flow->weights[i]);
  }
  return SCL_STATUS_OK;
}

void scl_weight_values_release(scl_weight_values *w) { SCL_RELEASE(w->group); }

/* Row weights of few values (classes, numbers of copies, 0 and 1): rows of one weight are summed as
 * rows without, and each sum is multiplied by its weight once. */
#ifndef SCULLERY_WEIGHT_VALUES_H
#define SCULLERY_WEIGHT_VALUES_H

#include "rows/flow.h"

enum { SCL_WEIGHT_VALUES = 16 }; /* the most different values */

typedef struct scl_weight_values {
  size_t count;
  double value[SCL_WEIGHT_VALUES]; /* ascending; {1} without weights */
  int32_t *group; /* of each row: its group of the flow times count + the place of its weight; NULL:
                     the flow's own */
} scl_weight_values;

/* Whether the row weights of the flow have at most SCL_WEIGHT_VALUES values. True without
 * weights. */
bool scl_weights_are_few(const scl_flow *flow);
/* Find the values and the group of each row, for such a flow. The caller releases *out. */
scl_status scl_weight_values_find(const scl_flow *flow, scl_weight_values *out, scl_error *error);
void scl_weight_values_release(scl_weight_values *w);

#endif

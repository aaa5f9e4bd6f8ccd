/* Row weights of few values (classes, numbers of copies, 0 and 1): rows of one weight are summed as
 * rows without, and each sum is multiplied by its weight once. */
#ifndef SCULLERY_WEIGHT_VALUES_H
#define SCULLERY_WEIGHT_VALUES_H

#include "rows/flow.h"

enum { SCL_WEIGHT_VALUES = 16 }; /* more are not few */

typedef struct scl_weight_values {
  size_t count;
  double value[SCL_WEIGHT_VALUES]; /* ascending; {1} without weights */
  int32_t *group; /* of each row: its group of the flow times count + the place of its weight; NULL:
                     the flow's own */
} scl_weight_values;

/* Whether the flow's rows have few weights; without weights they do. */
bool scl_weights_are_few(const scl_flow *flow);
/* Of such a flow; release afterwards. */
scl_status scl_weight_values_find(const scl_flow *flow, scl_weight_values *out, scl_error *error);
void scl_weight_values_release(scl_weight_values *w);

#endif

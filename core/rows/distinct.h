/* Distinct rows of a source, chosen by their contents. */
#ifndef SCULLERY_DISTINCT_H
#define SCULLERY_DISTINCT_H

#include "rows/flow.h"

/* At most `most` distinct rows: those of the smallest hashes of (x, y). The choice, and the order
 * of the chosen rows, depend only on the contents of the rows: they do not change if rows are
 * permuted or repeated, or if the flow's weights replace repeated rows. A row of weight 0 is
 * ignored.
 *
 * Made here: x (m x cols) and y (m x targets, where the source has them), as the stages of the flow
 * give them; weight (m x 1), the sum of the weights of equal rows; place (m), the first place of
 * the row in the source, from 0; of (n x 1), for each row of the source the number of its distinct
 * row, from 1, or 0 if that was not chosen. Release with scl_distinct_release. */
typedef struct scl_distinct_rows {
  scl_matrix x, y, weight, of;
  scl_csr csr; /* instead of x, of a flow with `csr` whose rows are sparse */
  size_t *place;
} scl_distinct_rows;
scl_status scl_flow_distinct(const scl_flow *flow, size_t most, scl_distinct_rows *out,
                             scl_error *error);
void scl_distinct_release(scl_distinct_rows *rows);

#endif

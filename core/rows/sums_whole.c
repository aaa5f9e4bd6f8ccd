/* Normal equations of features that are whole numbers: exact sums (whole_sums.h), which become
 * moments when a problem asks for them. */
#include "rows/ways.h"
#include "rows/whole_sums.h"

static bool whole_claims(const scl_flow *flow) { return scl_flow_whole(flow) != SCL_WHOLE_NONE; }

/* Add rows start .. end-1 of a block, which are in one group. */
static scl_status whole_rows(scl_sums *sums, const scl_flow *flow, const scl_flow_block *block,
                             size_t group, size_t start, size_t end, scl_error *error) {
  const scl_whole_rows rows = {
      .type = scl_flow_whole(flow),
      .v = scl_flow_whole_row(flow, block, start),
      .stride = block->phi_stride,
      .rows = end - start,
      .group = group,
      .y = block->y == NULL ? NULL : block->y + start * sums->targets,
      .weights = block->weights == NULL ? NULL : block->weights + start,
  };
  return scl_whole_sums_add(sums->whole, &rows, true, error);
}

static scl_status whole_open(scl_summing *s, scl_error *error) {
  (void)error;
  s->walked.whole = true;
  return SCL_STATUS_OK;
}

const scl_sums_way scl_way_whole = {.name = "whole",
                                    .whole = true,
                                    .claims = whole_claims,
                                    .rows = whole_rows,
                                    .first_of = scl_sums_of_first,
                                    .open = whole_open};

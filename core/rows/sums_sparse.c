/* Normal equations of sparse features: each row adds its few entries to the matrix. */
#include "rows/ways.h"

static bool sparse_claims(const scl_flow *flow) { return scl_flow_entries(flow) > 0; }

/* Slot `rows`. Phi'Phi: scl_symmetric_scatter; Phi'[Y 1]: entry by entry. */
static scl_status sparse_rows(scl_sums *sums, const scl_flow *flow, const scl_flow_block *block,
                              size_t group, size_t start, size_t end, scl_error *error) {
  (void)flow, (void)error;
  const size_t c = sums->targets, cols = c + 1, entries = block->entries;
  double *right = sums->right + group * sums->features * cols;
  scl_sums_add_targets(sums, block, group, start, end);
  scl_symmetric_scatter(sums->moment[group], block->columns + start * entries, entries, end - start,
                        block->value, block->weights == NULL ? NULL : block->weights + start);
  for (size_t i = start; i < end; i++)
    for (size_t k = 0; k < entries; k++) {
      const int32_t column = block->columns[i * entries + k];
      for (size_t j = 0; column >= 0 && j < cols; j++)
        right[(size_t)column * cols + j] +=
            block->value * scl_flow_weight(block, i) * (j == c ? 1 : block->y[i * c + j]);
    }
  return SCL_STATUS_OK;
}

/* No slot first_of: the number of features of a parameter varies (scl_map_is_first_of is false). */
const scl_sums_way scl_way_sparse = {
    .name = "sparse", .claims = sparse_claims, .rows = sparse_rows};

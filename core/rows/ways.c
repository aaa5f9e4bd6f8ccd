/* The list of ways to sum normal equations, and the walk that every way shares. Called by
 * learn/. */
#include "rows/ways.h"

#include "algebra/block_totals.h"
#include "base/profile.h"

/* In the order in which they are asked. The last claims every flow. */
static const scl_sums_way *const ways[] = {&scl_way_bits, &scl_way_whole, &scl_way_sparse,
                                           &scl_way_levels, &scl_way_dense};

const scl_sums_way *scl_sums_way_of(const scl_flow *flow) {
  size_t i = 0;
  while (!ways[i]->claims(flow))
    i++;
  return ways[i];
}

/* One walk: the way of summing with its state, and the parts of the sums. */
typedef struct accumulating {
  scl_summing summing;
  scl_reducer reducer;
} accumulating;

/* Add the fingerprints of the rows of a block to the flow's, if these are wanted. */
static scl_status add_prints(const scl_flow *flow, const scl_flow_block *block, scl_error *error) {
  const size_t cols = scl_flow_cols(flow), c = flow->source->targets;
  for (size_t i = 0; flow->prints != NULL && i < block->count; i++) {
    const double weight = scl_flow_weight(block, i);
    uint64_t print = scl_fingerprint_of(
        0, flow->dtype, scl_at(block->x, flow->dtype, (ptrdiff_t)i * block->x_stride), cols);
    if (c > 0) print = scl_fingerprint_of(print, SCL_DTYPE_FLOAT64, block->y + i * c, c);
    print = scl_fingerprint_of(print, SCL_DTYPE_FLOAT64, &weight, 1);
    SCL_TRY(scl_fingerprints_add(flow->prints, print, error));
  }
  return SCL_STATUS_OK;
}

/* Visit of the walk: add a block to the part of its leaf. */
static scl_status add_block(void *context, const scl_flow_block *block, scl_error *error) {
  accumulating *a = context;
  scl_summing *s = &a->summing;
  void *part;
  SCL_TRY(add_prints(&s->walked, block, error));
  SCL_TRY(scl_reducer_at(&a->reducer, block->first, &part, error));
  if (s->way->add != NULL) return s->way->add(s, block, part, error);
  for (size_t g = 0; g < s->like.groups; g++)
    SCL_TRY(s->way->rows(part, &s->walked, block, g, block->group_start[g],
                         block->group_start[g + 1], error));
  return SCL_STATUS_OK;
}

/* Walk the flow, and finish the reduction and the way. Without rows there is no part to flush
 * to. */
static scl_status walk_and_sum(accumulating *a, scl_sums **out, scl_error *error) {
  scl_summing *s = &a->summing;
  const scl_sums_way *way = s->way;
  void *whole = NULL;
  scl_status status = scl_flow_walk(&s->walked, true, add_block, a, error);
  if (status == SCL_STATUS_OK && way->flush != NULL && a->reducer.part != NULL)
    status = way->flush(s, a->reducer.part, error);
  status = scl_reducer_finish(&a->reducer, status, &whole, error);
  *out = whole;
  if (status == SCL_STATUS_OK && way->finish != NULL) status = way->finish(s, out, error);
  return status;
}

scl_status scl_sums_accumulate(const scl_sums_way *way, const scl_flow *flow, scl_sums **out,
                               scl_error *error) {
  accumulating a = {.summing = {.way = way,
                                .flow = flow,
                                .walked = *flow,
                                .like = {.features = scl_flow_features(flow),
                                         .targets = flow->source->targets,
                                         .groups = flow->group == NULL ? 1 : flow->groups,
                                         .exact = way->whole}}};
  scl_summing *s = &a.summing;
  scl_sums *sums = NULL;
  scl_status status = way->open == NULL ? SCL_STATUS_OK : way->open(s, error);
  if (status == SCL_STATUS_OK) {
    const scl_reduction sum = scl_sums_reduction(&s->like);
    a.reducer = scl_reducer_of(&sum, flow->source->rows);
    const size_t mark = scl_profile_enter("normal equations");
    status = walk_and_sum(&a, &sums, error);
    scl_profile_leave(mark, 0, 0);
  }
  if (way->close != NULL) way->close(s);
  if (status == SCL_STATUS_OK) status = scl_sums_check(sums, flow->dtype, error);
  if (status == SCL_STATUS_OK)
    *out = sums;
  else
    scl_sums_destroy(sums);
  return status;
}

/* ------------------------------------------------------------ sizes */

/* Exact sums (algebra/exact.h) take about EXACT_PLACES numbers for each of theirs. The product of a
 * block is made from a second copy of the block. */
enum { EXACT_PLACES = 8 };

scl_sums_bytes scl_sums_bytes_of(const scl_sums_way *way, const scl_flow *flow) {
  const size_t d = scl_flow_features(flow), c = flow->source->targets,
               groups = flow->group == NULL ? 1 : flow->groups;
  scl_flow walked = *flow;
  walked.bits = way == &scl_way_bits;
  walked.whole = way == &scl_way_whole;
  const bool exact = way->whole || (walked.bits && scl_flow_is_exact(flow)),
             wide = way->blocks && scl_block_totals_widen(flow->source->rows);
  const double matrix = scl_symmetric_bytes((double)d),
               right = (double)d * (double)(c + 1) * (exact ? EXACT_PLACES : 1) * sizeof(double),
               part = (double)groups * ((wide ? 2 : 1) * matrix + right);
  scl_sums like = {
      .features = d, .targets = c, .groups = groups, .exact = exact, .counted = walked.bits};
  const size_t parts = scl_reduce_parts(scl_sums_reduction(&like).bytes, flow->source->rows);
  const double walk = scl_flow_bytes(&walked, true);
  return (scl_sums_bytes){
      .sums = part, .most = (double)parts * part + (scl_flow_entries(flow) > 0 ? 1 : 2) * walk};
}

/* The list of ways to sum normal equations, and the walk that every way shares. Called by
 * learn/. */
#include "rows/ways.h"

#include "algebra/block_totals.h"
#include "base/pool.h"
#include "base/profile.h"
#include "processes/processes.h"
#include "rows/joined.h"
#include <stdio.h>

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
  scl_checkpoint *checkpoint; /* NULL: none, or this way or walk has no sums to store */
  scl_whole_sums *before;     /* the sums of the first rows, from the checkpoint; NULL: none */
} accumulating;

/* ------------ checkpoints
 *
 * Exact sums do not depend on the order of their additions. So the sums of all parts so far can be
 * stored after any block, and be added at the end of a walk that begins at the next one. */

/* Take the stored sums of the first rows, and walk the others. */
static scl_status resume(accumulating *a, scl_error *error) {
  scl_summing *s = &a->summing;
  size_t rows = 0;
  /* Only a walk over all rows has a checkpoint, by a way that keeps no rows back between blocks. */
  a->checkpoint = s->way->whole && s->way->flush == NULL && s->flow->begin == 0 && s->flow->end == 0
                      ? s->flow->checkpoint
                      : NULL;
  if (a->checkpoint == NULL) return SCL_STATUS_OK;
  SCL_TRY(a->checkpoint->load_sums(a->checkpoint, s->like.features, s->like.targets,
                                   s->walked.prints, &a->before, &rows, error));
  if (a->before == NULL) return SCL_STATUS_OK;
  if (rows > s->flow->source->rows || a->before->groups != s->like.groups)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "the checkpoint has sums of %zu rows and %zu folds, and the data %zu and %zu",
                    rows, a->before->groups, s->flow->source->rows, s->like.groups);
  s->walked.begin = rows;
  return SCL_STATUS_OK;
}

/* Store the sums of the rows before `next`. Without memory for their total nothing is stored. */
static void store_so_far(accumulating *a, size_t next) {
  const scl_reducer *r = &a->reducer;
  const scl_sums *part = r->part;
  scl_whole_sums *all = NULL;
  if (r->count == 0 && a->before == NULL) {
    a->checkpoint->store_sums(a->checkpoint, part->whole, a->summing.walked.prints, next);
    return;
  }
  scl_status status = scl_whole_sums_like(part->whole, part->whole->groups, &all, NULL);
  if (status == SCL_STATUS_OK) status = scl_whole_sums_merge(all, part->whole, false, NULL);
  for (size_t i = 0; status == SCL_STATUS_OK && i < r->count; i++)
    status = scl_whole_sums_merge(all, ((const scl_sums *)r->nodes[i].part)->whole, false, NULL);
  if (status == SCL_STATUS_OK && a->before != NULL)
    status = scl_whole_sums_merge(all, a->before, false, NULL);
  if (status == SCL_STATUS_OK)
    a->checkpoint->store_sums(a->checkpoint, all, a->summing.walked.prints, next);
  if (all != NULL) scl_whole_sums_destroy(all);
}

/* ------------ the walk */

/* Add the fingerprints of the rows of a block to those of the flow, if these are wanted. */
static scl_status add_prints(const scl_flow *flow, const scl_flow_block *block, scl_error *error) {
  enum { ROWS = 64 };
  uint64_t prints[ROWS];
  if (flow->prints == NULL) return SCL_STATUS_OK;
  for (size_t i = 0; i < block->count; i++) {
    if (i % ROWS == 0)
      scl_flow_fingerprints(flow, block, i, scl_min(ROWS, block->count - i), prints);
    SCL_TRY(scl_fingerprints_add(flow->prints, prints[i % ROWS], error));
  }
  return SCL_STATUS_OK;
}

/* Add a block to the part of its leaf. */
static scl_status sum_block(accumulating *a, const scl_flow_block *block, scl_error *error) {
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

/* Visit of the walk. */
static scl_status add_block(void *context, const scl_flow_block *block, scl_error *error) {
  accumulating *a = context;
  const size_t next = block->first + block->count;
  SCL_TRY(sum_block(a, block, error));
  const bool finished = next == a->summing.flow->source->rows;
  if (a->checkpoint != NULL && a->checkpoint->due(a->checkpoint, finished)) store_so_far(a, next);
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
  if (status == SCL_STATUS_OK && a->before != NULL) /* the sums of the first rows */
    status = scl_whole_sums_merge((*out)->whole, a->before, false, error);
  if (status == SCL_STATUS_OK && way->finish != NULL) status = way->finish(s, out, error);
  return status;
}

/* ------------ several processes */

/* Add the sums of all processes. */
static scl_status join_sums(const scl_summing *s, scl_sums *sums, scl_status mine,
                            scl_error *error) {
  char doing[200];
  (void)snprintf(doing, sizeof doing,
                 "the normal equations of %zu features (%s), %zu targets, %zu folds and %zu rows",
                 s->like.features, s->way->name, s->like.targets, s->like.groups,
                 s->flow->source->rows);
  return scl_whole_sums_join(sums == NULL ? NULL : sums->whole, mine, doing, error);
}

/* Parts are cut at multiples of so many rows: sums of whole numbers are the same for any. */
enum { WHOLE_UNIT = 256 };

/* A place between the groups of a block: before group `group` of the block from row `first` on. */
typedef struct cut {
  size_t first, group;
} cut;

/* Where the part of process `rank` begins: at the group of a block before which there are as near as
 * possible to its share of the rows. counts: for each block the rows of each group. */
static cut cut_of(const scl_flow *flow, size_t unit, const size_t *counts, size_t rank) {
  const size_t rows = flow->source->rows, blocks = (rows + unit - 1) / unit;
  const double wanted = (double)rows * (double)rank / (double)scl_processes_count();
  size_t before = 0;
  for (size_t k = 0; k < blocks * flow->groups; k++) {
    if ((double)before + (double)counts[k] / 2 > wanted)
      return (cut){k / flow->groups * unit, k % flow->groups};
    before += counts[k];
  }
  return (cut){rows, 0};
}

/* This process's part of the rows where the sums of each group of a block are rounded on their own:
 * blocks are large, and their groups are dealt out. */
static scl_status part_groups(scl_flow *flow, size_t unit, scl_error *error) {
  const size_t rows = flow->source->rows, blocks = (rows + unit - 1) / unit;
  size_t *counts = scl_allocate_zero((blocks * flow->groups + 1) * sizeof *counts);
  if (counts == NULL) return scl_fail_memory(error, blocks * flow->groups, "parts of the rows");
  for (size_t i = 0; i < rows; i++)
    if ((size_t)flow->group[i] < flow->groups) /* the walk refuses others */
      counts[i / unit * flow->groups + (size_t)flow->group[i]]++;
  const cut from = cut_of(flow, unit, counts, scl_processes_rank()),
            to = cut_of(flow, unit, counts, scl_processes_rank() + 1);
  scl_release(counts);
  flow->begin = from.first;
  flow->from_group = from.group;
  flow->end = scl_min(to.first + (to.group > 0 ? unit : 0), rows);
  flow->to_group = to.group;
  if (from.first == to.first && from.group == to.group) {
    flow->begin = flow->end = rows; /* end 0 would be the last row */
    flow->from_group = flow->to_group = 0;
  }
  return SCL_STATUS_OK;
}

/* Whether that is possible: no leaf ends within a block. */
static bool has_groups(const scl_sums_way *way, const scl_flow *flow) {
  const size_t rows = flow->source->rows, leaf = scl_reduce_leaf_rows(rows);
  const bool whole = rows <= leaf || leaf % scl_flow_block_rows(flow) == 0;
  return whole && way->blocks && flow->group != NULL && flow->groups > 1 && flow->begin == 0 &&
         flow->end == 0 && !flow->at_once && !flow->source->sparse && !flow->bits && !flow->whole &&
         scl_flow_entries(flow) == 0;
}

/* Moments that the processes of this machine add to, where their totals cannot need more bits than
 * they have: those of floats have 128 from the start, and whole numbers without weights 64. */
static scl_status open_common(const scl_sums_way *way, scl_sums *like, scl_status status,
                              scl_error *error) {
  like->common = scl_allocate_zero((like->groups + 1) * sizeof *like->common);
  if (like->common == NULL && status == SCL_STATUS_OK)
    status = scl_fail_memory(error, like->groups * sizeof *like->common, "sums");
  status = scl_processes_meet(status, error, "the sums of %zu folds", like->groups);
  for (size_t g = 0; status == SCL_STATUS_OK && g < like->groups; g++)
    status = scl_whole_totals_create_common(like->features, way->blocks, &like->common[g], error);
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
                                         .known = flow->known,
                                         .shared = flow->share_tiles,
                                         .exact = way->whole}}};
  scl_summing *s = &a.summing;
  scl_sums *sums = NULL;
  s->walked.csr = false; /* ways get dense rows */
  scl_status status = way->open == NULL ? SCL_STATUS_OK : way->open(s, error);
  /* Processes sum parts of the rows by ways whose sums are exact, known before the walk. */
  const bool divided =
      !flow->share_tiles && scl_flow_divides(flow) && (way->whole || way == &scl_way_bits);
  const size_t rows = scl_flow_block_rows(flow);
  if (divided && status == SCL_STATUS_OK && has_groups(way, &s->walked))
    status = part_groups(&s->walked, rows, error);
  else if (divided)
    s->walked = scl_flow_part(&s->walked, way == &scl_way_whole ? scl_min(WHOLE_UNIT, rows) : rows);
  if (divided && !flow->own_sums && (way->blocks || (way->whole && flow->weights == NULL)))
    status = open_common(way, &s->like, status, error);
  if (status == SCL_STATUS_OK) {
    const scl_reduction sum = scl_sums_reduction(&s->like);
    a.reducer = scl_reducer_of(&sum, flow->source->rows);
    const size_t mark = scl_profile_enter("normal equations");
    status = resume(&a, error);
    if (status == SCL_STATUS_OK) status = walk_and_sum(&a, &sums, error);
    scl_profile_leave(mark, 0, 0);
  }
  if (divided) status = join_sums(s, sums, status, error);
  for (size_t g = 0; s->like.common != NULL && g < s->like.groups; g++)
    scl_whole_totals_destroy(&s->like.common[g]);
  scl_release(s->like.common);
  scl_whole_sums_destroy(a.before);
  if (way->close != NULL) way->close(s);
  if (status == SCL_STATUS_OK) status = scl_sums_check(sums, flow->dtype, error);
  if (status == SCL_STATUS_OK)
    *out = sums;
  else
    scl_sums_destroy(sums);
  return status;
}

/* ------------ sizes */

/* Exact sums (algebra/exact.h) take about EXACT_PLACES numbers for each of theirs. */
enum { EXACT_PLACES = 8 };

/* The product of a block is made from a copy of it. A copy of the last rows that is smaller by a
 * fifth does not reuse the memory of the copy before (base/pages.h). */
static double copy_bytes(const scl_flow *walked, double walk) {
  const size_t rows = scl_flow_block_rows(walked), last = walked->source->rows % rows;
  if (scl_flow_entries(walked) > 0) return 0;
  if (walked->whole)
    return scl_whole_packed_bytes(scl_flow_whole(walked), scl_flow_features(walked),
                                  walked->source->rows);
  return walk *
         (walked->source->rows > rows && 5 * last < 4 * rows ? 1 + (double)last / (double)rows : 1);
}

/* Sums of blocks: a tile of the product (algebra/symmetric.c) for each thread. */
static double tile_bytes(const scl_flow *walked, size_t d) {
  enum { LARGEST_TILE = 512 };
  const double tile = (double)scl_min(d, LARGEST_TILE);
  return (double)scl_pool_threads() * tile * tile * (double)scl_dtype_size(walked->dtype);
}

scl_sums_bytes scl_sums_bytes_of(const scl_sums_way *way, const scl_flow *flow) {
  const size_t d = scl_flow_features(flow), c = flow->source->targets,
               groups = flow->group == NULL ? 1 : flow->groups;
  scl_flow walked = *flow;
  walked.bits = way == &scl_way_bits;
  walked.whole = way == &scl_way_whole;
  const bool exact = way->whole || walked.bits,
             wide = way->blocks ? scl_block_totals_widen(flow->source->rows)
                                : exact && !scl_flow_whole_weights(flow);
  const double matrix = flow->share_tiles
                            ? scl_symmetric_shared_bytes((double)d, scl_processes_count())
                            : scl_symmetric_bytes((double)d),
               right = (double)d * (double)(c + 1) * (exact ? EXACT_PLACES : 1) * sizeof(double),
               part = (double)groups * ((wide ? 2 : 1) * matrix + right);
  scl_sums like = {
      .features = d, .targets = c, .groups = groups, .exact = exact, .counted = walked.bits};
  const size_t parts = scl_reduce_parts(scl_sums_reduction(&like).bytes, flow->source->rows);
  const double walk = scl_flow_bytes(&walked, true), all = (double)parts * part;
  return (scl_sums_bytes){.sums = part,
                          .parts = all,
                          .most = all + walk + copy_bytes(&walked, walk) +
                                  (way->blocks           ? tile_bytes(&walked, d)
                                   : walked.bits && wide ? matrix /* of counts */
                                                         : 0) +
                                  (way->bytes != NULL ? way->bytes(flow) : 0)};
}

/* Blocks of features in memory between the passes of a solver. */
#include "rows/keep.h"

#include "algebra/matrix.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include <string.h>

typedef struct kept_block {
  scl_flow_block block; /* x is not kept */
  void *features;       /* phi or columns, or else: */
  scl_bits bits;
  scl_csr csr; /* shares the storage of the block, where the walk makes new rows for each */
  double *y, *weights;
  size_t *place, *group_start;
  struct kept_block *next;
} kept_block;

/* Where a row of the source is stored: row `at` of a block. */
typedef struct kept_row {
  const kept_block *block;
  size_t at;
} kept_row;

struct scl_keep {
  kept_block *first, **last;
  size_t rows, targets, features;
  size_t size; /* bytes of a dense feature: a number, or a whole number of the flow's map */
  scl_flow flow;
  double *low;     /* of bits: the two values of each feature */
  kept_row *index; /* by the place in the source; NULL until it is asked for */
};

static size_t feature_size(const scl_flow *flow) {
  return flow->whole ? scl_whole_size(scl_map_whole(flow->map)) : scl_dtype_size(flow->dtype);
}

/* Bytes of a sparse row; none where blocks are views of rows in memory. */
static size_t csr_bytes(const scl_flow *flow) {
  const scl_csr *memory = flow->source->memory;
  const bool view =
      flow->n_stages == 0 && flow->group == NULL && memory != NULL && memory->dtype == flow->dtype;
  return sizeof(int64_t) + (view ? 0
                                 : (size_t)(scl_source_entries(flow->source) *
                                            (double)(sizeof(int32_t) + sizeof(double))));
}

/* Bytes that one row takes when it is kept. */
static size_t row_bytes(const scl_flow *flow) {
  const size_t entries = scl_flow_entries(flow), d = scl_flow_features(flow);
  const size_t features = scl_flow_has_csr(flow) ? csr_bytes(flow)
                          : entries > 0          ? entries * sizeof(int32_t)
                          : flow->bits           ? scl_bits_groups(d)
                                                 : d * feature_size(flow);
  return features + (flow->source->targets + (flow->weights != NULL)) * sizeof(double) +
         sizeof(size_t);
}

double scl_keep_bytes(const scl_flow *flow) {
  return (double)(scl_flow_end(flow) - flow->begin) * (double)row_bytes(flow);
}

bool scl_keep_fits(const scl_flow *flow, size_t allowance) {
  return scl_keep_bytes(flow) <= (double)allowance;
}

static void release_block(kept_block *b) {
  scl_bits_release(&b->bits);
  scl_csr_release(&b->csr);
  SCL_RELEASE(b->features, b->y, b->weights, b->place, b->group_start, b);
}

void scl_keep_destroy(scl_keep *keep) {
  if (keep == NULL) return;
  for (kept_block *b = keep->first, *next; b != NULL; b = next) {
    next = b->next;
    release_block(b);
  }
  SCL_RELEASE(keep->index, keep->low, keep);
}

/* ------------ copying, rows on the pool's threads */

typedef struct copying {
  char *to;
  const char *from;
  size_t row, rows;
  ptrdiff_t stride; /* bytes */
} copying;

enum { COPY_ROWS = 64 };

static void copy_rows(void *context, size_t index) {
  const copying *c = context;
  for (size_t i = index * COPY_ROWS; i < scl_min((index + 1) * COPY_ROWS, c->rows); i++)
    memcpy(c->to + i * c->row, c->from + (ptrdiff_t)i * c->stride, c->row);
}

/* A copy of rows of `row` bytes each, which are `stride` bytes apart. NULL: not enough memory. */
static void *copied(const void *from, size_t rows, size_t row, ptrdiff_t stride) {
  copying c = {scl_allocate_array(rows * row + 1, 1), from, row, rows, stride};
  if (c.to != NULL) scl_pool_run((rows + COPY_ROWS - 1) / COPY_ROWS, copy_rows, &c);
  return c.to;
}

/* Take or copy phi, columns, whole numbers or bits of a block, or share its sparse rows, and point
 * b->block to them. False: not enough memory. */
static bool copy_features(const scl_keep *keep, const scl_flow_block *from, kept_block *b) {
  const size_t size = keep->size;
  const bool sparse = from->entries > 0;
  const size_t row = sparse ? from->entries * sizeof(int32_t) : keep->features * size;
  b->block.csr = NULL;
  if (from->csr != NULL && keep->flow.map == NULL) {
    b->csr = scl_csr_share(from->csr);
    b->block.csr = &b->csr;
    return true;
  }
  if (from->bits != NULL) {
    if (scl_bits_create(keep->features, from->count, &b->bits, NULL) != SCL_STATUS_OK) return false;
    scl_bits_copy(from->bits, 0, from->count, &b->bits, 0);
    b->block.bits = &b->bits;
    b->block.low = keep->low;
    b->block.high = keep->low + keep->features;
    return true;
  }
  const void *dense = from->whole != NULL ? from->whole : from->phi;
  if (keep->flow.map != NULL && !sparse) b->features = scl_flow_take_features(from);
  if (b->features == NULL)
    b->features = copied(sparse ? (const void *)from->columns : dense, from->count, row,
                         sparse ? (ptrdiff_t)row : from->phi_stride * (ptrdiff_t)size);
  b->block.phi = sparse || from->whole != NULL ? NULL : b->features;
  b->block.whole = from->whole != NULL ? b->features : NULL;
  b->block.phi_stride = (ptrdiff_t)keep->features;
  b->block.columns = sparse ? b->features : NULL;
  return b->features != NULL;
}

/* A copy of a block without its staged rows. NULL: not enough memory. */
static kept_block *copy_block(const scl_keep *keep, const scl_flow *flow,
                              const scl_flow_block *from) {
  const size_t groups = flow->group == NULL ? 1 : flow->groups, c = flow->source->targets;
  kept_block *b = scl_allocate_zero(sizeof *b);
  if (b == NULL) return NULL;
  b->block = *from;
  b->y = from->y == NULL
             ? NULL
             : copied(from->y, from->count, c * sizeof(double), (ptrdiff_t)(c * sizeof(double)));
  b->weights = from->weights == NULL
                   ? NULL
                   : copied(from->weights, from->count, sizeof(double), sizeof(double));
  b->place = copied(from->place, from->count, sizeof(size_t), sizeof(size_t));
  b->group_start = copied(from->group_start, groups + 1, sizeof(size_t), sizeof(size_t));
  /* Features are last: what was taken from the walk is not given back to it. */
  if ((from->y != NULL && b->y == NULL) || (from->weights != NULL && b->weights == NULL) ||
      b->place == NULL || b->group_start == NULL || !copy_features(keep, from, b)) {
    release_block(b);
    return NULL;
  }
  b->block.x = NULL;
  b->block.y = b->y;
  b->block.weights = b->weights;
  b->block.place = b->place;
  b->block.group_start = b->group_start;
  return b;
}

typedef struct keeping {
  const scl_flow *flow;
  scl_keep *keep; /* NULL once memory ran out */
  scl_flow_visit visit;
  void *context;
} keeping;

/* Visit: keep the block and show the copy to the visitor. Once memory runs out, all copies are
 * released and blocks are shown as they come. */
static scl_status keep_block(void *context, const scl_flow_block *block, scl_error *error) {
  keeping *k = context;
  kept_block *b = k->keep == NULL ? NULL : copy_block(k->keep, k->flow, block);
  if (b == NULL) {
    scl_keep_destroy(k->keep);
    k->keep = NULL;
    return k->visit(k->context, block, error);
  }
  *k->keep->last = b;
  k->keep->last = &b->next;
  k->keep->rows += block->count;
  return k->visit(k->context, &b->block, error);
}

/* An empty store of blocks. NULL: not enough memory. */
static scl_keep *open_keep(const scl_flow *flow) {
  const size_t d = scl_flow_features(flow);
  scl_keep *keep = scl_allocate_zero(sizeof *keep);
  if (keep == NULL) return NULL;
  keep->last = &keep->first;
  keep->targets = flow->source->targets;
  keep->features = d;
  keep->size = feature_size(flow);
  keep->flow = *flow;
  if (!flow->bits) return keep;
  keep->low = scl_allocate_array(2 * d + 1, sizeof *keep->low);
  if (keep->low != NULL) {
    scl_map_low_and_high(flow->map, keep->low, keep->low + d);
    return keep;
  }
  scl_keep_destroy(keep);
  return NULL;
}

scl_status scl_keep_create(const scl_flow *flow, scl_flow_visit visit, void *context,
                           scl_keep **out, scl_error *error) {
  keeping k = {flow, open_keep(flow), visit, context};
  *out = NULL;
  const scl_status status = scl_flow_walk(flow, true, keep_block, &k, error);
  if (status == SCL_STATUS_OK)
    *out = k.keep;
  else
    scl_keep_destroy(k.keep);
  return status;
}

scl_status scl_keep_walk(const scl_keep *keep, scl_flow_visit visit, void *context,
                         scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  for (const kept_block *b = keep->first; status == SCL_STATUS_OK && b != NULL; b = b->next) {
    status = scl_interrupt_check(error);
    if (status == SCL_STATUS_OK) status = visit(context, &b->block, error);
  }
  return status;
}

/* ------------ single rows */

bool scl_keep_index(scl_keep *keep) {
  if (keep->index != NULL) return true;
  keep->index = scl_allocate_array(keep->rows + 1, sizeof *keep->index);
  if (keep->index == NULL) return false;
  for (const kept_block *b = keep->first; b != NULL; b = b->next)
    for (size_t i = 0; i < b->block.count; i++)
      keep->index[b->block.first + b->place[i]] = (kept_row){b, i};
  return true;
}

void scl_keep_row(const scl_keep *keep, size_t place, size_t first, size_t count, void *out,
                  const double **y) {
  const kept_row row = keep->index[place];
  const kept_block *b = row.block;
  const size_t size = scl_dtype_size(keep->flow.dtype);
  *y = b->y == NULL ? NULL : b->y + row.at * keep->targets;
  if (b->block.whole != NULL) {
    const void *v = scl_flow_whole_row(&keep->flow, &b->block, row.at);
    scl_map_unround(keep->flow.map, first, count,
                    (const char *)v + first * scl_whole_size(scl_map_whole(keep->flow.map)),
                    keep->flow.dtype, out);
    return;
  }
  if (b->features != NULL) {
    memcpy(out, (const char *)b->features + (row.at * keep->features + first) * size, count * size);
    return;
  }
  scl_bits_spread_row(&b->bits, row.at, first, count, b->block.low, b->block.high, keep->flow.dtype,
                      out);
}

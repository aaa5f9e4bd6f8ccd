/* The walk over rows that everything uses: source -> check -> stages -> features -> visitor, block
 * by block. It decides the size and order of blocks, and handles cancellation and progress. A
 * visitor sees the same blocks for every kind of source and number of threads. Each block is inside
 * one leaf of a reduction (reduce.h). */
#ifndef SCULLERY_FLOW_H
#define SCULLERY_FLOW_H

#include "map/map.h"
#include "map/stage.h"
#include "rows/checkpoint.h"
#include "rows/source.h"

typedef struct scl_flow {
  scl_source *source;
  scl_fitted_stage *const *stages;
  size_t n_stages;
  const scl_map *map; /* NULL: the staged rows themselves are the features */
  size_t planned;     /* not 0: sizes are asked as if the map had so many parameters (learn/plan.h);
                     such a flow is not walked */
  size_t first, count; /* parameters first .. first+count-1 of the map alone, dense features only
                           (scl_map_apply_part); count 0: all */
  scl_dtype dtype;     /* of the blocks; the map's where there is one */
  bool bits;           /* dense features as bits, of a map that has two values */
  bool whole;          /* dense features as whole numbers (map/whole.c), of a map that has them */
  size_t begin, end; /* rows begin .. end-1 of the source are walked; end 0: to its last. Blocks are
                           cut at the same rows of the source whatever is walked */
  size_t from_group,
      to_group;         /* of the first block, groups before from_group are left out, and of the
                           last one those from to_group on (0: none). Dense features alone */
  size_t block_rows;    /* rows of a block; 0: chosen by the width of the rows */
  bool at_once;         /* one block of all rows */
  bool csr;             /* the visitor takes sparse rows (block.csr); otherwise these are made dense
                           for it, and blocks of them may come in parts */
  bool late;            /* a walk with features leaves them to scl_flow_make_features */
  const int32_t *group; /* for each row of the source its group, 0 .. groups-1, or NULL: rows of a
                           block come sorted by group */
  size_t groups;        /* 1 without groups */
  const double
      *weights; /* for each row of the source its weight, finite and at least 0, or NULL: all 1 */
  /* Subtracted from the dense features (D numbers) and from the targets (c), or NULL: nothing
   * (pilot_means.h). Not with bits or sparse features. */
  const double *pilot, *target_pilot;
  /* D powers of two of about the size of the dense features less `pilot`, for the grid of their
   * sums (block_sums.h), or NULL: not learnt (scl_pilot_units). fixed_unit: those of other sums,
   * which have the size of the row weights in them. */
  const double *unit;
  bool fixed_unit;
  const size_t *numbers;    /* for messages: each row's place in the data; NULL: as in the source */
  scl_fingerprints *prints; /* sums add the rows' fingerprints to these; NULL: to none */
  size_t known;     /* whole numbers: products of the first so many features are not summed */
  bool share_tiles; /* exact sums: each process makes rows of tiles of their matrices, from all rows
                       (algebra/symmetric_shared.c), in place of all tiles from its rows */
  bool own_sums;    /* the sums will be added to: no memory that processes share */
  scl_checkpoint *checkpoint; /* where sums and passes over all rows are stored; NULL: nowhere */
  const char *doing;          /* for progress; NULL shows none */
} scl_flow;

typedef struct scl_flow_block {
  size_t first, count;
  const void *x, *phi; /* staged rows (count x cols) and features (count x D), in dtype; phi = x
                          without a map, NULL where they are sparse or bits */
  ptrdiff_t x_stride, phi_stride;
  const scl_csr *csr; /* sparse rows (scl_flow_is_sparse), staged, in dtype: in a walk with features
                         of a map instead of x; in another walk, of a flow with `csr`, instead of x
                         and phi. NULL: dense */
  const int32_t *columns; /* sparse features: count x entries places, ascending in a row, -1: none;
                             each entry is `value` */
  size_t entries;         /* 0: dense */
  double value;
  const void *whole; /* instead of phi, which is NULL: count x D whole numbers at phi_stride, of the
                        type that scl_map_whole says */
  const double *low, *high;   /* of bits: D numbers each, the values of a feature's bit 0 and 1 */
  const scl_bits *bits;       /* instead of phi, which is NULL: row i of the block is their row i */
  const double *y;            /* count x targets, or NULL */
  const double *weights;      /* count, or NULL: all 1 */
  const size_t *place;        /* row i of the block is row first + place[i] of the source */
  const size_t *group_start;  /* groups + 1 positions */
  struct scl_flow_pass *pass; /* the walk that it belongs to */
} scl_flow_block;

typedef scl_status (*scl_flow_visit)(void *context, const scl_flow_block *block, scl_error *error);

/* The row after the last one that is walked. */
static inline size_t scl_flow_end(const scl_flow *flow) {
  return flow->end == 0 ? flow->source->rows : flow->end;
}
/* Rows of the blocks of a walk with features: blocks are cut at multiples of it, and it does not
 * depend on the number of rows. A power of two, unless `block_rows` is given. */
size_t scl_flow_block_rows(const scl_flow *flow);
size_t scl_flow_cols(const scl_flow *flow);     /* columns after the stages */
size_t scl_flow_features(const scl_flow *flow); /* D */
size_t scl_flow_entries(const scl_flow *flow);  /* entries of a row of sparse features; 0: dense */
/* Whether staged rows are sparse: those of the source (NULL: false) are, and all stages keep zeros.
 * No pilot is subtracted from them. */
bool scl_flow_is_sparse(const scl_flow *flow);
/* Whether the features of the flow are such rows. */
static inline bool scl_flow_has_csr(const scl_flow *flow) {
  return flow->map == NULL && scl_flow_is_sparse(flow);
}
/* phi (count x D at stride, in the flow's dtype) = features by `map` of rows at .. at+count-1 of a
 * block of a walk without features. */
scl_status scl_flow_apply_map(const scl_flow *flow, const scl_map *map, const scl_flow_block *block,
                              size_t at, size_t count, void *phi, ptrdiff_t phi_stride,
                              scl_error *error);
/* The bytes of the buffers of a walk over the flow. */
double scl_flow_bytes(const scl_flow *flow, bool features);
/* Whether the flow's features can be bits. */
bool scl_flow_has_bits(const scl_flow *flow);
/* The type of the flow's features as whole numbers; SCL_WHOLE_NONE: they are not. */
scl_whole scl_flow_whole(const scl_flow *flow);
/* Whether normal equations of the flow are exact (whole_sums.h): for features that are whole
 * numbers, and for bits unless a row weight above 0 is below SCL_LEAST_COUNTED, or their sum is
 * above SCL_MOST_WEIGHT. */
#define SCL_LEAST_COUNTED 0x1p-28
#define SCL_MOST_WEIGHT 0x1p40
bool scl_flow_is_exact(const scl_flow *flow);
/* Whether all row weights are whole numbers. */
bool scl_flow_whole_weights(const scl_flow *flow);
/* Visit all rows of the flow, block by block, in ascending order, on the calling thread. features:
 * also compute phi. NaN or infinity in X or y: SCL_STATUS_BAD_DATA, which names row and column. */
scl_status scl_flow_walk(const scl_flow *flow, bool features, scl_flow_visit visit, void *context,
                         scl_error *error);
/* Compute the features of a block of a flow with `late`, during its visit. */
scl_status scl_flow_make_features(const scl_flow_block *block, scl_error *error);
/* Give the buffer of a block's dense features of a map (phi or whole) to its visitor, who releases
 * it; the walk goes on with another one. NULL: nothing changes, as memory is short, the features are
 * in another form, or the block would leave more than a quarter of the buffer empty. */
void *scl_flow_take_features(const scl_flow_block *block);

/* Rows start .. start+count-1 of a block of sparse rows or one-hot features with the zeros filled in,
 * or of bits or whole numbers as features: out is count x D in the flow's dtype. */
void scl_flow_fill(const scl_flow *flow, const scl_flow_block *block, size_t start, size_t count,
                   void *out);
/* Rows of D features that fit a buffer of moderate size. */
size_t scl_flow_fill_rows(const scl_flow *flow);

/* Subtract the flow's pilot means from features of its map (rows x D at stride, in its dtype), or
 * of the parameters `first` .. of it. */
void scl_flow_subtract_pilot(const scl_flow *flow, void *phi, ptrdiff_t stride, size_t rows);

/* The fingerprints of staged rows first .. first+count-1 of a block, their targets and weights. */
void scl_flow_fingerprints(const scl_flow *flow, const scl_flow_block *block, size_t first,
                           size_t count, uint64_t *prints);
/* Row i of the features of a dense block. */
const void *scl_flow_row(const scl_flow *flow, const scl_flow_block *block, size_t i);
/* Row i of a block of whole numbers. */
const void *scl_flow_whole_row(const scl_flow *flow, const scl_flow_block *block, size_t i);
/* The weight of row i of a block. */
static inline double scl_flow_weight(const scl_flow_block *block, size_t i) {
  return block->weights == NULL ? 1 : block->weights[i];
}
/* The same rows without features: staged, float64, in the order of the source. */
scl_flow scl_flow_of_rows(const scl_flow *flow);

#endif

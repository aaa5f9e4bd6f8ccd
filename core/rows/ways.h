/* Ways of summing normal equations over rows. Each way is one table in a file of its own,
 * sums_NAME.c, and one row of the list in ways.c. The first way of the list that claims a flow sums
 * its rows. This is decided before the rows are read, from the flow and the weights of its rows,
 * and is never changed on the way.
 *
 * The blocks that a way is shown are those of one walk (flow.h), and the parts that it adds to are
 * those of one reduction (reduce.h), so that no way depends on the number of threads. */
#ifndef SCULLERY_WAYS_H
#define SCULLERY_WAYS_H

#include "rows/sums.h"

typedef struct scl_sums_way scl_sums_way;

/* One walk over a flow. */
typedef struct scl_summing {
  const scl_sums_way *way;
  const scl_flow *flow; /* as it is summed */
  scl_flow walked;      /* its copy that is walked: `open` may set `bits`, `late` and the groups */
  scl_sums like; /* the sizes of the sums; then those of the parts, where `open` changes them */
  void *state;   /* private to the way */
} scl_summing;

struct scl_sums_way {
  const char *name;
  bool whole;  /* its sums are exact: scl_sums.whole */
  bool blocks; /* these are sums of blocks (block_sums.h) */
  /* Where all rows were summed by codes, the sums have these too (scl_sums.codes). */
  bool has_codes;
  bool (*claims)(const scl_flow *flow);
  /* Rows start .. end-1 of a block, which belong to `group`, with the weights of the block,
   * whatever these are. */
  scl_status (*rows)(scl_sums *sums, const scl_flow *flow, const scl_flow_block *block,
                     size_t group, size_t start, size_t end, scl_error *error);
  /* The sums of the first `few` of `many` parameters, as scl_sums_of_first. NULL: there are
   * none. */
  scl_status (*first_of)(const scl_sums *sums, size_t many, size_t few, size_t outputs,
                         double ratio, scl_sums **out, scl_error *error);

  /* What follows may be NULL. Make the state; `close` releases it, also after a failure. */
  scl_status (*open)(scl_summing *s, scl_error *error);
  void (*close)(scl_summing *s);
  /* The bytes of the state. */
  double (*bytes)(const scl_flow *flow);
  /* Add a block to the part of its rows. NULL: `rows` for each group. */
  scl_status (*add)(scl_summing *s, const scl_flow_block *block, scl_sums *part, scl_error *error);
  /* After the last block: add what still waits to the part of the last rows. */
  scl_status (*flush)(scl_summing *s, scl_sums *part, scl_error *error);
  /* *sums is the sum of all parts. It may be changed, or replaced by other sums. */
  scl_status (*finish)(scl_summing *s, scl_sums **sums, scl_error *error);
};

extern const scl_sums_way scl_way_bits, scl_way_whole, scl_way_levels, scl_way_sparse,
    scl_way_dense;

/* The way in which the rows of a flow are summed. */
const scl_sums_way *scl_sums_way_of(const scl_flow *flow);

/* Whether features are summed by the levels of columns: yes, but where a benchmark measures what
 * that saves. */
void scl_ways_use_levels(bool use);
bool scl_ways_levels_used(void);

/* One walk over the flow, which sums each group of it apart. */
scl_status scl_sums_accumulate(const scl_sums_way *way, const scl_flow *flow, scl_sums **out,
                               scl_error *error);

/* The memory of such a walk, in bytes. */
typedef struct scl_sums_bytes {
  double sums;  /* what scl_sums_accumulate returns */
  double parts; /* parts of them at one time, with these */
  double most;  /* at one time, with parts and the buffers of blocks */
} scl_sums_bytes;
scl_sums_bytes scl_sums_bytes_of(const scl_sums_way *way, const scl_flow *flow);

/* `rows` of dense features; features that are bits become numbers first. */
scl_status scl_sums_dense_rows(scl_sums *sums, const scl_flow *flow, const scl_flow_block *block,
                               size_t group, size_t start, size_t end, scl_error *error);

#endif

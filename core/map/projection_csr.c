/* Projections of sparse rows. Dense parameters: the packed strips that dense rows are multiplied
 * with. Sparse parameters and thresholds: an index that lists for each column the parameters which
 * have it, so that a row costs its nonzeros and the parameters that they meet. Structured
 * parameters: the sampler's own product. */
#include "map/projection_csr.h"

#include "base/loops.h"
#include "map/drawn_columns.h"
#include "map/space.h"
#include "plugin/blocks.h"
#include "plugin/sampler.h"
#include <pthread.h>
#include <string.h>

/* Column j is one of parameters parameter[start[j]] .. parameter[start[j+1]-1], which ascend, and
 * their weights are beside them. */
typedef struct scl_projection_index {
  uint32_t *start; /* dim + 1 */
  int32_t *parameter;
  void *weight; /* in the projection's dtype; NULL: thresholds */
} projection_index;

/* Spelled out sparse parameters are dense ones here. */
static bool is_dense(const scl_projection *p) { return p->rule == scl_space_of(SCL_SPACE_DENSE); }
static bool is_indexed(const scl_projection *p) {
  return p->rule == scl_space_of(SCL_SPACE_SPARSE) || p->rule->by_threshold;
}

static bool is_structured(const scl_projection *p) {
  return p->rule == scl_space_of(SCL_SPACE_STRUCTURED);
}

bool scl_projection_takes_csr(const scl_projection *p) {
  if (is_structured(p))
    return p->factor == NULL && p->offset == NULL &&
           scl_sampler_takes_csr(p->origin.sampler, p->dtype);
  return is_dense(p) || is_indexed(p);
}

/* ------------ the index */

/* Entries of parameter t: from *at on, `step` apart. */
static size_t entries_of(const scl_projection *p, size_t t, size_t *at, size_t *step) {
  *at = p->begin != NULL ? p->begin[t] : t;
  *step = p->begin != NULL ? 1 : p->rows;
  return p->begin != NULL ? p->begin[t + 1] - p->begin[t] : p->rule->by_threshold ? 1 : p->slots;
}

/* Empty slots of sparse parameters have weight 0. */
static bool is_entry(const scl_projection *p, size_t at) {
  return p->rule->by_threshold || scl_number(p->weights, p->dtype, at) != 0;
}

/* Count the entries of each column to index->start[column + 1]; returns their number. */
static size_t count_entries(const scl_projection *p, projection_index *index) {
  size_t count = 0, at, step;
  for (size_t t = 0; t < p->rows; t++)
    for (size_t k = entries_of(p, t, &at, &step); k > 0; k--, at += step)
      if (is_entry(p, at)) {
        index->start[p->support[at] + 1]++;
        count++;
      }
  return count;
}

/* Parameter after parameter, so that those of a column ascend. start[j] moves to the end of column
 * j, which is the start of the next one. */
static void place_entries(const scl_projection *p, projection_index *index) {
  const size_t size = scl_dtype_size(p->dtype);
  size_t at, step;
  for (size_t t = 0; t < p->rows; t++)
    for (size_t k = entries_of(p, t, &at, &step); k > 0; k--, at += step)
      if (is_entry(p, at)) {
        const size_t to = index->start[p->support[at]]++;
        index->parameter[to] = (int32_t)t;
        if (index->weight != NULL)
          memcpy((char *)index->weight + to * size, scl_at(p->weights, p->dtype, (ptrdiff_t)at),
                 size);
      }
  memmove(index->start + 1, index->start, p->dim * sizeof *index->start);
  index->start[0] = 0;
}

static void release_index(projection_index *index) {
  if (index == NULL) return;
  SCL_RELEASE(index->start, index->parameter, index->weight, index);
}

static scl_status make_index(const scl_projection *p, projection_index **out, scl_error *error) {
  projection_index *index = *out = scl_allocate_zero(sizeof *index);
  if (index == NULL) return scl_fail_memory(error, sizeof *index, "an index of parameters");
  index->start = scl_allocate_zero((p->dim + 2) * sizeof *index->start);
  if (index->start == NULL)
    return scl_fail_memory(error, p->dim * sizeof *index->start, "an index of parameters");
  const size_t count = count_entries(p, index);
  if (count >= UINT32_MAX)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "%zu weights of sparse parameters are more than sparse rows of data take: up "
                    "to 2^32 - 2",
                    count);
  for (size_t j = 0; j < p->dim; j++)
    index->start[j + 1] += index->start[j];
  index->parameter = scl_allocate_array(count + 1, sizeof *index->parameter);
  if (!p->rule->by_threshold)
    index->weight = scl_allocate_array(count + 1, scl_dtype_size(p->dtype));
  if (index->parameter == NULL || (index->weight == NULL && !p->rule->by_threshold))
    return scl_fail_memory(error, count * 2 * sizeof *index->parameter, "an index of parameters");
  place_entries(p, index);
  return SCL_STATUS_OK;
}

/* Threads may share a map. */
scl_status scl_projection_open(const scl_projection *p, scl_error *error) {
  static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
  scl_status status = SCL_STATUS_OK;
  if (!is_indexed(p)) return SCL_STATUS_OK;
  (void)pthread_mutex_lock(&making);
  if (p->index == NULL) {
    projection_index *made = NULL;
    status = make_index(p, &made, error);
    if (status == SCL_STATUS_OK)
      ((scl_projection *)(uintptr_t)p)->index = made;
    else
      release_index(made);
  }
  (void)pthread_mutex_unlock(&making);
  return status;
}

void scl_projection_close(scl_projection *p) { release_index(p->index); }

/* ------------ products */

/* weighted_SUFFIX: z[t - first] += x w_t for the parameters first .. first+cols-1 among `count` of a
 * column. compared_SUFFIX: z[t - first] = x - threshold_t. */
#define MEET(suffix, type) \
  static void weighted_##suffix(size_t count, const int32_t *parameter, const type *weight, \
                                type x, size_t first, size_t cols, type *z) { \
    for (size_t k = 0; k < count; k++) { \
      const size_t j = (size_t)parameter[k] - first; /* wraps around below `first` */ \
      if (j < cols) z[j] += x * weight[k]; \
    } \
  } \
  static void compared_##suffix(size_t count, const int32_t *parameter, const type *threshold, \
                                type x, size_t first, size_t cols, type *z) { \
    for (size_t k = 0; k < count; k++) { \
      const size_t j = (size_t)parameter[k] - first; \
      if (j < cols) z[j] = x - threshold[parameter[k]]; \
    } \
  } \
  static void at_zero_##suffix(size_t cols, const type *threshold, type *z) { \
    for (size_t j = 0; j < cols; j++) \
      z[j] = 0 - threshold[j]; \
  } \
  /* Row i of a tile. */ \
  static void meet_##suffix(const scl_projection *p, const projection_index *index, \
                            const scl_tile *t, size_t i, type *z) { \
    const type *weights = index->weight, *thresholds = p->weights; \
    if (weights == NULL) \
      at_zero_##suffix(t->cols, thresholds + t->first, z); \
    else \
      memset(z, 0, t->cols * sizeof *z); \
    for (int64_t k = t->csr->starts[i]; k < t->csr->starts[i + 1]; k++) { \
      const uint32_t *start = index->start + t->csr->columns[k]; \
      const type x = ((const type *)t->csr->values)[k]; \
      const size_t count = start[1] - start[0]; \
      if (weights == NULL) \
        compared_##suffix(count, index->parameter + start[0], thresholds, x, t->first, t->cols, \
                          z); \
      else \
        weighted_##suffix(count, index->parameter + start[0], weights + start[0], x, t->first, \
                          t->cols, z); \
    } \
  }
MEET(f64, double)
MEET(f32, float)

/* Dense parameters: all columns of the packed matrix are at hand. */
static void multiply(const scl_projection *p, const scl_tile *t) {
  const scl_loops *loops = scl_loops_get();
  const scl_csr_terms rows = {.begin = t->csr->starts,
                              .end = t->csr->starts + 1,
                              .columns = t->csr->columns,
                              .values = t->csr->values,
                              .rows = t->rows};
  if (p->dtype == SCL_DTYPE_FLOAT64)
    loops->csr_product_f64(&rows, p->dim, t->first, t->cols, p->weights, false, t->z, t->z_stride);
  else
    loops->csr_product_f32(&rows, p->dim, t->first, t->cols, p->weights, false, t->z, t->z_stride);
}

scl_status scl_projection_apply_csr(const scl_projection *p, const scl_tile *t, scl_error *error) {
  if (p->drawn != NULL) return scl_drawn_columns_project(p->drawn, t, error);
  if (is_structured(p)) return p->rule->project(p, t, error);
  if (is_dense(p)) {
    multiply(p, t);
    return SCL_STATUS_OK;
  }
  for (size_t i = 0; i < t->rows; i++) {
    void *z = scl_at_mutable(t->z, p->dtype, (ptrdiff_t)i * t->z_stride);
    if (p->dtype == SCL_DTYPE_FLOAT64)
      meet_f64(p, p->index, t, i, z);
    else
      meet_f32(p, p->index, t, i, z);
  }
  return SCL_STATUS_OK;
}

scl_status scl_projection_apply_thinned(const scl_projection *p, const scl_tile *t,
                                        scl_error *error) {
  const scl_matrix x = {.data = (void *)(uintptr_t)t->x,
                        .rows = t->rows,
                        .cols = p->dim,
                        .row_stride = t->x_stride,
                        .col_stride = 1,
                        .dtype = p->dtype};
  scl_csr rows;
  scl_tile sparse = *t;
  SCL_TRY(scl_csr_of_matrix(&x, &rows, error));
  sparse.csr = &rows;
  const scl_status status = scl_projection_apply_csr(p, &sparse, error);
  scl_csr_release(&rows);
  return status;
}

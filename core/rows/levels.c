/* Levels of columns: their search, their codes and the table of features over them. Called by
 * sums_levels.c and level_rows.c. */
#include "rows/levels.h"

#include "base/pool.h"
#include "map/columnwise.h"
#include <stdatomic.h>
#include <string.h>

static const size_t NONE = SIZE_MAX;
enum { CHUNK_ROWS = 64 };
/* Size of the table of features, which bounds the levels of a column: a column of more levels costs
 * more than it saves. */
enum { TABLE_NUMBERS = 1 << 20 };

/* ------------ making */

/* List the columns that features read, and the features of each (counting sort by column). Leaves
 * column[].levels equal to the number of features, which the caller resets. start: dim + 1 numbers
 * of working memory. */
static void sort_features(scl_levels *levels, const int32_t *columns, size_t *start) {
  memset(start, 0, (levels->dim + 1) * sizeof *start);
  for (size_t t = 0; t < levels->features; t++)
    start[columns[t] + 1]++;
  for (size_t j = 0; j < levels->dim; j++) {
    if (start[j + 1] > 0)
      levels->column[levels->n_columns++] =
          (scl_level_column){.column = j, .first = start[j], .features = start[j + 1]};
    start[j + 1] += start[j];
  }
  for (size_t k = 0; k < levels->n_columns; k++)
    start[levels->column[k].column] = k;
  for (size_t t = 0; t < levels->features; t++) {
    scl_level_column *c = &levels->column[levels->of[t] = start[columns[t]]];
    levels->order[c->first + c->levels++] = t;
  }
}

scl_status scl_levels_create(const scl_map *map, const double *pilot, scl_levels **out,
                             scl_error *error) {
  const int32_t *columns = scl_map_columns(map);
  const size_t features = scl_map_features(map), dim = scl_map_dim(map);
  *out = NULL;
  /* Whole numbers are cheap to make, and a part of the features would need a part of their grid. */
  if (columns == NULL || scl_map_whole(map) != SCL_WHOLE_NONE) return SCL_STATUS_OK;
  scl_levels *levels = scl_allocate_zero(sizeof *levels);
  size_t *start = scl_allocate_array(dim + 1, sizeof *start);
  if (levels != NULL) {
    *levels = (scl_levels){.map = map,
                           .pilot = pilot,
                           .features = features,
                           .dim = dim,
                           .most = scl_max(TABLE_NUMBERS / (features + 1), 2)};
    levels->column = scl_allocate_array(scl_min(features, dim) + 1, sizeof *levels->column);
    levels->order = scl_allocate_array(features + 1, sizeof *levels->order);
    levels->of = scl_allocate_array(features + 1, sizeof *levels->of);
    levels->value = scl_allocate_array(features + 1, sizeof *levels->value);
    levels->slot = scl_allocate_array(features + 1, sizeof *levels->slot);
    levels->rank = scl_allocate_array(features + 1, sizeof *levels->rank);
    levels->wide = scl_allocate_array(features + 1, sizeof *levels->wide);
  }
  const bool enough = levels != NULL && start != NULL && levels->column && levels->order &&
                      levels->of && levels->value && levels->slot && levels->rank && levels->wide;
  if (enough) {
    sort_features(levels, columns, start);
    for (size_t k = 0; k < levels->n_columns; k++)
      levels->column[k].levels = 0; /* which sort_features counted by */
    levels->codes = 1;
    *out = levels;
  } else
    scl_levels_destroy(levels);
  scl_release(start);
  if (enough) return SCL_STATUS_OK;
  return scl_fail_memory(error, features * 6 * sizeof(size_t), "the levels of columns");
}

void scl_levels_destroy(scl_levels *levels) {
  if (levels == NULL) return;
  scl_map_release_some(levels->some);
  SCL_RELEASE(levels->column, levels->order, levels->of, levels->value, levels->slot, levels->rank,
              levels->wide, levels->table, levels);
}

/* ------------ looking up */

/* The rank of a value among the levels of a column in ascending order, also if it is not a
 * level. */
static size_t rank_of(const scl_levels *levels, const scl_level_column *c, double value) {
  const size_t *rank = levels->rank + c->first;
  const double *values = levels->value + c->first;
  size_t low = 0, high = c->levels;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (values[rank[middle]] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The level of a value; NONE if it is new. Level 0 and columns of two levels are the most frequent
 * cases, and need no search. */
static inline size_t level_of(const scl_levels *levels, const scl_level_column *c, double value) {
  const double *values = levels->value + c->first;
  if (c->levels > 0 && values[0] == value) return 0;
  if (c->levels == 2) return values[1] == value ? 1 : NONE;
  const size_t place = rank_of(levels, c, value);
  if (place == c->levels) return NONE;
  const size_t level = levels->rank[c->first + place];
  return values[level] == value ? level : NONE;
}

/* Add a value to the levels of its column, in ascending order of rank. A column that is full
 * spills instead. */
static void learn_value(scl_levels *levels, scl_level_column *c, double value, bool *spills) {
  if (c->spills || level_of(levels, c, value) != NONE) return;
  if (c->levels == scl_min(c->features, levels->most)) {
    c->spills = *spills = true;
    return;
  }
  const size_t place = rank_of(levels, c, value);
  size_t *rank = levels->rank + c->first;
  memmove(rank + place + 1, rank + place, (c->levels - place) * sizeof *rank);
  rank[place] = c->levels;
  levels->value[c->first + c->levels] = value;
  levels->slot[c->first + c->levels++] = NONE;
}

void scl_levels_learn(scl_levels *levels, const void *x, ptrdiff_t x_stride, size_t count,
                      bool *spills) {
  const scl_dtype dtype = scl_map_dtype(levels->map);
  for (size_t i = 0; i < count; i++) {
    const void *row = scl_at(x, dtype, (ptrdiff_t)i * x_stride);
    for (size_t k = 0; k < levels->n_columns; k++) {
      scl_level_column *c = &levels->column[k];
      if (!c->wide) learn_value(levels, c, scl_number(row, dtype, c->column), spills);
    }
  }
}

/* ------------ places in z */

scl_status scl_levels_widen(scl_levels *levels, scl_error *error) {
  scl_map_release_some(levels->some);
  levels->some = NULL;
  levels->direct = 0;
  for (size_t k = 0; k < levels->n_columns; k++) {
    scl_level_column *c = &levels->column[k];
    c->wide = c->wide || c->spills;
    for (size_t i = 0; i < c->features; i++) {
      levels->slot[c->first + i] = c->wide ? 1 + levels->direct : NONE;
      if (c->wide) levels->wide[levels->direct++] = levels->order[c->first + i];
    }
  }
  levels->codes = 1 + levels->direct;
  if (levels->direct == 0) return SCL_STATUS_OK;
  return scl_map_share_some(levels->map, levels->wide, levels->direct, &levels->some, error);
}

size_t scl_levels_due(const scl_levels *levels) {
  size_t due = levels->codes;
  for (size_t k = 0; k < levels->n_columns; k++) {
    const scl_level_column *c = &levels->column[k];
    for (size_t l = 1; !c->wide && l < c->levels; l++)
      due += levels->slot[c->first + l] == NONE;
  }
  return due;
}

/* Subtract the pilot from feature t of a row, which is number i of phi, with the rounding of
 * scl_flow_subtract_pilot. */
static inline void subtract_pilot(const scl_levels *levels, void *phi, size_t i, size_t t) {
  const scl_dtype dtype = scl_map_dtype(levels->map);
  scl_set_number(phi, dtype, i, scl_number(phi, dtype, i) - levels->pilot[t]);
}

/* Set levels->table for `most` levels: apply the map to rows of which row l has the l-th level of
 * every column (or its last), and the numbers of `row` in all other columns. */
static scl_status fill_table(scl_levels *levels, size_t most, const void *row, scl_error *error) {
  const scl_dtype dtype = scl_map_dtype(levels->map);
  const size_t size = scl_dtype_size(dtype), d = levels->dim, features = levels->features;
  void *x = scl_allocate_array(most * d + 1, size),
       *phi = scl_allocate_array(most * features + 1, size);
  double *table = scl_allocate_array(most * features + 1, sizeof *table);
  scl_status status = SCL_STATUS_OK;
  if (x == NULL || phi == NULL || table == NULL)
    status = scl_fail_memory(error, most * (d + features) * size, "the features of levels");
  for (size_t l = 0; status == SCL_STATUS_OK && l < most; l++) {
    memcpy(scl_at_mutable(x, dtype, (ptrdiff_t)(l * d)), row, d * size);
    for (size_t k = 0; k < levels->n_columns; k++) {
      const scl_level_column *c = &levels->column[k];
      if (!c->wide && c->levels > 0)
        scl_set_number(x, dtype, l * d + c->column,
                       levels->value[c->first + scl_min(l, c->levels - 1)]);
    }
  }
  if (status == SCL_STATUS_OK)
    status = scl_map_apply(levels->map, x, (ptrdiff_t)d, most, phi, (ptrdiff_t)features, error);
  if (status == SCL_STATUS_OK) {
    for (size_t i = 0; levels->pilot != NULL && i < most * features; i++)
      subtract_pilot(levels, phi, i, i % features);
    for (size_t i = 0; i < most * features; i++)
      table[i] = scl_number(phi, dtype, i);
    scl_release(levels->table);
    levels->table = table;
    levels->table_levels = most;
  } else
    scl_release(table);
  SCL_RELEASE(x, phi);
  return status;
}

scl_status scl_levels_place(scl_levels *levels, const void *row, scl_error *error) {
  size_t most = 1;
  for (size_t k = 0; k < levels->n_columns; k++) {
    const scl_level_column *c = &levels->column[k];
    if (c->wide) continue;
    most = scl_max(most, c->levels);
    for (size_t l = 1; l < c->levels; l++)
      if (levels->slot[c->first + l] == NONE) levels->slot[c->first + l] = levels->codes++;
  }
  return fill_table(levels, most, row, error);
}

/* ------------ coding */

typedef struct coding {
  const scl_levels *levels;
  const void *x;
  ptrdiff_t x_stride, z_stride;
  size_t count;
  void *z;
  const double *pilot; /* of the features of wide columns */
  atomic_bool unknown;
} coding;

/* Write a row of z but for the features of wide columns. False: a value is new. Inlined with a
 * constant dtype, so that no branch on it remains in the loops. */
static inline bool code_row(const scl_levels *levels, scl_dtype dtype, const void *x, void *z,
                            size_t places) {
  const size_t direct = levels->direct;
  scl_set_number(z, dtype, 0, 1);
  memset(scl_at_mutable(z, dtype, (ptrdiff_t)(1 + direct)), 0,
         (places - 1 - direct) * scl_dtype_size(dtype));
  for (size_t k = 0; k < levels->n_columns; k++) {
    const scl_level_column *c = &levels->column[k];
    if (c->wide) continue;
    const size_t level = level_of(levels, c, scl_number(x, dtype, c->column));
    if (level == NONE) return false;
    if (level > 0) scl_set_number(z, dtype, levels->slot[c->first + level], 1);
  }
  return true;
}

static bool code_chunk_f64(const coding *job, size_t first, size_t end) {
  const double *x = job->x;
  double *z = job->z;
  for (size_t i = first; i < end; i++)
    if (!code_row(job->levels, SCL_DTYPE_FLOAT64, x + (ptrdiff_t)i * job->x_stride,
                  z + (ptrdiff_t)i * job->z_stride, (size_t)job->z_stride))
      return false;
  return true;
}

static bool code_chunk_f32(const coding *job, size_t first, size_t end) {
  const float *x = job->x;
  float *z = job->z;
  for (size_t i = first; i < end; i++)
    if (!code_row(job->levels, SCL_DTYPE_FLOAT32, x + (ptrdiff_t)i * job->x_stride,
                  z + (ptrdiff_t)i * job->z_stride, (size_t)job->z_stride))
      return false;
  return true;
}

static void code_chunk(void *context, size_t index) {
  coding *job = context;
  const size_t first = index * CHUNK_ROWS, end = scl_min(first + CHUNK_ROWS, job->count);
  const bool wide = scl_map_dtype(job->levels->map) == SCL_DTYPE_FLOAT64;
  if (atomic_load(&job->unknown)) return;
  if (!(wide ? code_chunk_f64 : code_chunk_f32)(job, first, end)) atomic_store(&job->unknown, true);
}

/* A task of the pool: subtract the pilot from the features of wide columns. */
static void subtract_chunk(void *context, size_t index) {
  const coding *job = context;
  const size_t first = index * CHUNK_ROWS, end = scl_min(first + CHUNK_ROWS, job->count),
               direct = job->levels->direct, stride = (size_t)job->z_stride;
  double *wide = job->z;
  float *narrow = job->z;
  if (scl_map_dtype(job->levels->map) == SCL_DTYPE_FLOAT64)
    for (size_t i = first; i < end; i++)
      for (size_t k = 0; k < direct; k++)
        wide[i * stride + 1 + k] -= job->pilot[k];
  else
    for (size_t i = first; i < end; i++)
      for (size_t k = 0; k < direct; k++)
        narrow[i * stride + 1 + k] = (float)((double)narrow[i * stride + 1 + k] - job->pilot[k]);
}

/* Subtract the pilot from the features of wide columns, for which it is brought together first. */
static scl_status subtract_wide(coding *job, scl_error *error) {
  const scl_levels *levels = job->levels;
  double *pilot = scl_allocate_array(levels->direct + 1, sizeof *pilot);
  if (pilot == NULL) return scl_fail_memory(error, levels->direct * sizeof *pilot, "pilot means");
  for (size_t k = 0; k < levels->direct; k++)
    pilot[k] = levels->pilot[levels->wide[k]];
  job->pilot = pilot;
  scl_pool_run((job->count + CHUNK_ROWS - 1) / CHUNK_ROWS, subtract_chunk, job);
  scl_release(pilot);
  return SCL_STATUS_OK;
}

scl_status scl_levels_code(const scl_levels *levels, const void *x, ptrdiff_t x_stride,
                           size_t count, void *z, ptrdiff_t z_stride, bool *known,
                           scl_error *error) {
  const scl_dtype dtype = scl_map_dtype(levels->map);
  coding job = {levels, x, x_stride, z_stride, count, z, NULL, false};
  scl_pool_run((count + CHUNK_ROWS - 1) / CHUNK_ROWS, code_chunk, &job);
  *known = !atomic_load(&job.unknown);
  if (!*known || levels->some == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_map_apply(levels->some, x, x_stride, count, scl_at_mutable(z, dtype, 1), z_stride,
                        error));
  return levels->pilot == NULL ? SCL_STATUS_OK : subtract_wide(&job, error);
}

/* ------------ finding */

typedef struct finding {
  const scl_levels *levels;
  const void *x;
  ptrdiff_t x_stride;
  size_t count;
  uint32_t *place;
  atomic_bool unknown;
} finding;

/* Places of one row in the tables of the levels. False: a value is new. */
static bool find_row(const scl_levels *levels, scl_dtype dtype, const void *x, uint32_t *place) {
  for (size_t k = 0; k < levels->n_columns; k++) {
    const scl_level_column *c = &levels->column[k];
    const size_t level = c->wide ? 0 : level_of(levels, c, scl_number(x, dtype, c->column));
    if (level == NONE) return false;
    place[k] = (uint32_t)(c->first + level);
  }
  return true;
}

/* A task of the pool. A value that is not a level ends all tasks. */
static void find_chunk(void *context, size_t index) {
  finding *job = context;
  const scl_levels *levels = job->levels;
  const size_t first = index * CHUNK_ROWS, end = scl_min(first + CHUNK_ROWS, job->count);
  const scl_dtype dtype = scl_map_dtype(levels->map);
  if (atomic_load(&job->unknown)) return;
  for (size_t i = first; i < end; i++)
    if (!find_row(levels, dtype, scl_at(job->x, dtype, (ptrdiff_t)i * job->x_stride),
                  job->place + i * levels->n_columns)) {
      atomic_store(&job->unknown, true);
      return;
    }
}

void scl_levels_find(const scl_levels *levels, const void *x, ptrdiff_t x_stride, size_t count,
                     uint32_t *place, bool *known) {
  finding job = {levels, x, x_stride, count, place, false};
  scl_pool_run((count + CHUNK_ROWS - 1) / CHUNK_ROWS, find_chunk, &job);
  *known = !atomic_load(&job.unknown);
}

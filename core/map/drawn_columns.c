/* Weights that are drawn by columns.
 *
 * The numbers of a task's rows are sorted by columns. Columns come in groups of at most SPILL that
 * are not in the cache, which end at multiples of SCL_ROW_TERMS: so the product of a group is added
 * to z in the order of the products of stored weights, to the same bits. */
#include "map/drawn_columns.h"

#include "base/loops.h"
#include "base/memory_left.h"
#include "plugin/blocks.h"
#include "plugin/sampler.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* Columns of a group that are not in the cache: those of one piece of SCL_ROW_TERMS columns at
 * least. Numbers of the rows that are sorted at a time, and parameters that are drawn at a time. */
enum { SPILL = SCL_ROW_TERMS, SORTED = 1 << 20, DRAWN = 512 };

/* A place of the cache. `column` is stored last and read first. */
typedef struct entry {
  _Atomic int32_t column; /* -1: free */
  void *numbers;
} entry;

struct scl_drawn_columns {
  scl_origin origin; /* the sampler is shared */
  scl_column_law law;
  size_t rows, planes, dim;
  size_t padded; /* rows in whole strips */
  scl_dtype dtype;
  pthread_mutex_t lock; /* of inserting */
  entry *cache;         /* open addressing, at most half full */
  size_t mask, room;    /* places less 1, columns that may be kept */
  size_t kept;
};

static double chosen_from;
static size_t chosen_cache;

void scl_drawn_columns_set(double from, size_t cache) {
  chosen_from = from;
  chosen_cache = cache;
}

double scl_drawn_columns_from(void) { return chosen_from > 0 ? chosen_from : SCL_COLUMNS_FROM; }

/* ------------ making */

/* Bytes of one column in the cache. */
static size_t column_bytes(const scl_drawn_columns *d) {
  return d->padded * scl_dtype_size(d->dtype);
}

static scl_status open_cache(scl_drawn_columns *d, scl_error *error) {
  const size_t most =
      chosen_cache > 0 ? chosen_cache : scl_min((size_t)SCL_COLUMN_CACHE, scl_memory_left() / 4);
  size_t places = 2;
  d->room = scl_min(d->dim, most / scl_max(column_bytes(d), 1));
  while (places < 2 * d->room)
    places *= 2;
  d->mask = places - 1;
  d->cache = scl_allocate_array(places, sizeof *d->cache);
  if (d->cache == NULL) return scl_fail_memory(error, places * sizeof *d->cache, "a cache");
  for (size_t i = 0; i < places; i++) {
    atomic_init(&d->cache[i].column, -1);
    d->cache[i].numbers = NULL;
  }
  return SCL_STATUS_OK;
}

scl_status scl_drawn_columns_create(const scl_origin *origin, size_t rows, size_t planes,
                                    scl_dtype dtype, scl_drawn_columns **out, scl_error *error) {
  const size_t strip = scl_loops_get()->strip_bytes / scl_dtype_size(dtype);
  const scl_draw draw = scl_origin_draw(origin, 0, planes);
  scl_drawn_columns *d = scl_allocate_zero(sizeof *d);
  if (d == NULL) return scl_fail_memory(error, sizeof *d, "a projection");
  d->origin = *origin;
  d->origin.sampler = scl_instance_share(origin->sampler);
  d->rows = rows;
  d->planes = planes;
  d->dim = origin->draw.dim;
  d->dtype = dtype;
  d->padded = (rows + strip - 1) / strip * strip;
  (void)pthread_mutex_init(&d->lock, NULL);
  scl_status status = scl_sampler_column_law(origin->sampler, &draw, &d->law, error);
  if (status == SCL_STATUS_OK) status = open_cache(d, error);
  if (status == SCL_STATUS_OK)
    *out = d;
  else
    scl_drawn_columns_destroy(d);
  return status;
}

void scl_drawn_columns_destroy(scl_drawn_columns *d) {
  if (d == NULL) return;
  for (size_t i = 0; d->cache != NULL && i <= d->mask; i++)
    scl_release(d->cache[i].numbers);
  scl_release(d->cache);
  scl_sampler_release_column_law(&d->law);
  scl_instance_release(d->origin.sampler);
  (void)pthread_mutex_destroy(&d->lock);
  scl_release(d);
}

size_t scl_drawn_columns_bytes(const scl_drawn_columns *d) {
  return d->room * column_bytes(d) + (d->mask + 1) * sizeof *d->cache +
         (d->law.each == NULL ? 0 : 4 * d->dim * sizeof(double));
}

/* ------------ columns */

/* Draw rows first .. end-1 of a column; row r is parameter r % run of plane r / run. */
static scl_status draw_rows(const scl_drawn_columns *d, int32_t column, size_t first, size_t end,
                            void *out, scl_error *error) {
  const size_t run = d->rows / d->planes;
  double numbers[DRAWN];
  for (size_t at = first; at < end;) {
    const size_t plane = at / run, t = at % run, count = scl_min(scl_min(DRAWN, end - at), run - t);
    const scl_draw draw = scl_origin_draw(&d->origin, plane, d->planes);
    SCL_TRY(scl_sampler_draw_column(d->origin.sampler, &draw, &d->law, (size_t)column, t, count,
                                    numbers, error));
    for (size_t i = 0; i < count; i++)
      scl_set_number(out, d->dtype, at - first + i, numbers[i]);
    at += count;
  }
  return SCL_STATUS_OK;
}

static size_t place_of(const scl_drawn_columns *d, int32_t column) {
  return (size_t)((uint64_t)(uint32_t)column * 0x9E3779B97F4A7C15u >> 32) & d->mask;
}

/* The numbers of a column in the cache, or NULL. */
static void *find(const scl_drawn_columns *d, int32_t column) {
  for (size_t i = place_of(d, column);; i = (i + 1) & d->mask) {
    const int32_t there = atomic_load_explicit(&d->cache[i].column, memory_order_acquire);
    if (there == column) return d->cache[i].numbers;
    if (there < 0) return NULL;
  }
}

/* Keep a column that was drawn, unless another thread was faster or the cache is full: then it is
 * released. Returns what the cache has, or NULL. */
static void *keep(scl_drawn_columns *d, int32_t column, void *numbers) {
  (void)pthread_mutex_lock(&d->lock);
  void *there = find(d, column);
  if (there == NULL && d->kept < d->room) {
    size_t i = place_of(d, column);
    while (atomic_load_explicit(&d->cache[i].column, memory_order_relaxed) >= 0)
      i = (i + 1) & d->mask;
    d->cache[i].numbers = there = numbers;
    atomic_store_explicit(&d->cache[i].column, column, memory_order_release);
    d->kept++;
  }
  (void)pthread_mutex_unlock(&d->lock);
  if (there != numbers) scl_release(numbers);
  return there;
}

static bool is_full(scl_drawn_columns *d) {
  (void)pthread_mutex_lock(&d->lock);
  const bool full = d->kept >= d->room;
  (void)pthread_mutex_unlock(&d->lock);
  return full;
}

/* *out = all numbers of a column from the cache, into which it is drawn if there is room; NULL:
 * there is none. */
static scl_status cached_column(scl_drawn_columns *d, int32_t column, void **out,
                                scl_error *error) {
  *out = find(d, column);
  if (*out != NULL || is_full(d)) return SCL_STATUS_OK;
  void *numbers = scl_allocate_zero(column_bytes(d));
  if (numbers == NULL) return SCL_STATUS_OK; /* no memory is left: do without */
  const scl_status status = draw_rows(d, column, 0, d->rows, numbers, error);
  if (status == SCL_STATUS_OK)
    *out = keep(d, column, numbers);
  else
    scl_release(numbers);
  return status;
}

/* ------------ a task */

/* The product of some rows with the rows begin .. of the projection, of which first .. are
 * wanted. */
typedef struct product {
  scl_drawn_columns *columns;
  const scl_tile *tile;
  scl_csr rows;   /* borrowed */
  int64_t origin; /* rows.starts[0] */
  size_t begin,
      width; /* the first row of a strip at or before `first`; numbers of a spilt column */
  uint64_t *sorted, *other; /* column << 32 | place, of the numbers of the rows */
  const void **partners;    /* of the numbers of the rows */
  int64_t *from, *to;       /* the numbers of the rows in the group */
  char *spilt;              /* SPILL columns of `width` numbers */
  size_t n_spilt;
  void *z;
} product;

/* Sort by the upper 32 bits (radix, from the lowest digit on): places of one column ascend. */
static void sort_by_column(product *p, size_t count) {
  enum { BITS = 11, DIGITS = 1 << BITS };
  for (unsigned shift = 32; shift < 64 && (p->columns->dim >> (shift - 32)) > 0; shift += BITS) {
    size_t start[DIGITS + 1] = {0};
    for (size_t i = 0; i < count; i++)
      start[(p->sorted[i] >> shift) % DIGITS + 1]++;
    for (size_t k = 0; k < DIGITS; k++)
      start[k + 1] += start[k];
    for (size_t i = 0; i < count; i++)
      p->other[start[(p->sorted[i] >> shift) % DIGITS]++] = p->sorted[i];
    uint64_t *swap = p->sorted;
    p->sorted = p->other;
    p->other = swap;
  }
}

/* z += the terms of the group, which ends before column `end`. */
static void add_group(product *p, int64_t end) {
  const scl_loops *loops = scl_loops_get();
  for (size_t i = 0; i < p->rows.rows; i++) {
    p->from[i] = p->to[i];
    while (p->to[i] < p->rows.starts[i + 1] - p->origin &&
           p->rows.columns[p->origin + p->to[i]] < end)
      p->to[i]++;
  }
  const size_t size = scl_dtype_size(p->columns->dtype);
  const scl_csr_terms terms = {.begin = p->from,
                               .end = p->to,
                               .columns = p->rows.columns + p->origin,
                               .partners = p->partners,
                               .values = (const char *)p->rows.values + (size_t)p->origin * size,
                               .rows = p->rows.rows};
  const size_t first = p->tile->first - p->begin, cols = p->tile->cols;
  if (p->columns->dtype == SCL_DTYPE_FLOAT64)
    loops->csr_product_f64(&terms, 0, first, cols, NULL, true, p->z, p->tile->z_stride);
  else
    loops->csr_product_f32(&terms, 0, first, cols, NULL, true, p->z, p->tile->z_stride);
  p->n_spilt = 0;
}

/* *out = the numbers of a column from row p->begin on. */
static scl_status column_of(product *p, int32_t column, const void **out, scl_error *error) {
  scl_drawn_columns *d = p->columns;
  const size_t size = scl_dtype_size(d->dtype);
  void *kept;
  SCL_TRY(cached_column(d, column, &kept, error));
  if (kept != NULL) {
    *out = (const char *)kept + p->begin * size;
    return SCL_STATUS_OK;
  }
  void *to = p->spilt + p->n_spilt++ * p->width * size;
  *out = to;
  return draw_rows(d, column, p->begin, scl_min(p->begin + p->width, d->rows), to, error);
}

/* Distinct columns of sorted[i ..] in the same piece of SCL_ROW_TERMS columns as sorted[i]. */
static size_t columns_of_piece(const product *p, size_t i, size_t count) {
  const uint64_t piece = (p->sorted[i] >> 32) / SCL_ROW_TERMS;
  size_t columns = 0;
  for (; i < count && (p->sorted[i] >> 32) / SCL_ROW_TERMS == piece; i++)
    columns += columns == 0 || p->sorted[i] >> 32 != p->sorted[i - 1] >> 32;
  return columns;
}

/* z of the rows of p, which is zeros. */
static scl_status multiply(product *p, scl_error *error) {
  const size_t count = scl_csr_entries(&p->rows);
  uint64_t piece = 0;
  for (size_t i = 0; i < p->rows.rows; i++)
    p->to[i] = p->rows.starts[i] - p->origin;
  for (size_t k = 0; k < count; k++)
    p->sorted[k] = (uint64_t)(uint32_t)p->rows.columns[p->origin + (int64_t)k] << 32 | k;
  sort_by_column(p, count);
  for (size_t i = 0; i < count;) {
    const int32_t column = (int32_t)(p->sorted[i] >> 32);
    const void *numbers;
    if (i == 0 || (uint64_t)(uint32_t)column / SCL_ROW_TERMS != piece) {
      piece = (uint64_t)(uint32_t)column / SCL_ROW_TERMS;
      if (p->n_spilt + columns_of_piece(p, i, count) > SPILL)
        add_group(p, (int64_t)(piece * SCL_ROW_TERMS));
    }
    SCL_TRY(column_of(p, column, &numbers, error));
    for (; i < count && (int32_t)(p->sorted[i] >> 32) == column; i++)
      p->partners[p->sorted[i] & UINT32_MAX] = numbers;
  }
  add_group(p, INT64_MAX);
  return SCL_STATUS_OK;
}

/* How many of the rows from `at` on have at most SORTED numbers together; at least one. */
static size_t some_rows(const scl_csr *rows, size_t at, size_t end) {
  size_t next = at + 1;
  while (next < end && rows->starts[next + 1] - rows->starts[at] <= SORTED)
    next++;
  return next - at;
}

/* Memory for the rows at .. at+count-1 of the tile; *p owns it. */
static scl_status open_product(product *p, size_t count, size_t numbers, scl_error *error) {
  const size_t size = scl_dtype_size(p->columns->dtype);
  p->sorted = scl_allocate_array(numbers + 1, sizeof *p->sorted);
  p->other = scl_allocate_array(numbers + 1, sizeof *p->other);
  p->partners = scl_allocate_array(numbers + 1, sizeof *p->partners);
  p->from = scl_allocate_array(count, sizeof *p->from);
  p->to = scl_allocate_array(count, sizeof *p->to);
  p->spilt = scl_allocate_zero(SPILL * p->width * size);
  if (p->sorted && p->other && p->partners && p->from && p->to && p->spilt) return SCL_STATUS_OK;
  return scl_fail_memory(error, 3 * numbers * sizeof *p->sorted + SPILL * p->width * size,
                         "columns of parameters");
}

scl_status scl_drawn_columns_project(const scl_drawn_columns *d, const scl_tile *t,
                                     scl_error *error) {
  const size_t size = scl_dtype_size(d->dtype), strip = scl_loops_get()->strip_bytes / size;
  product p = {.columns = (scl_drawn_columns *)(uintptr_t)d, .tile = t};
  size_t most = 0;
  p.begin = t->first / strip * strip;
  p.width = (t->first + t->cols - p.begin + strip - 1) / strip * strip;
  for (size_t i = 0; i < t->rows; i++)
    memset(scl_at_mutable(t->z, d->dtype, (ptrdiff_t)i * t->z_stride), 0, t->cols * size);
  for (size_t at = 0, some; at < t->rows; at += some) {
    some = some_rows(t->csr, at, t->rows);
    most = scl_max(most, (size_t)(t->csr->starts[at + some] - t->csr->starts[at]));
  }
  scl_status status = open_product(&p, scl_max(t->rows, 1), most, error);
  for (size_t at = 0, some; status == SCL_STATUS_OK && at < t->rows; at += some) {
    some = some_rows(t->csr, at, t->rows);
    p.rows = *t->csr;
    p.rows.starts += at;
    p.rows.rows = some;
    p.origin = p.rows.starts[0];
    p.n_spilt = 0;
    p.z = scl_at_mutable(t->z, d->dtype, (ptrdiff_t)at * t->z_stride);
    status = multiply(&p, error);
  }
  SCL_RELEASE(p.sorted, p.other, p.partners, p.from, p.to, p.spilt);
  return status;
}

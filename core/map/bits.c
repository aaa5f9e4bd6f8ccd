/* Features that take two values, made as bits. A feature is high where z > 0, and also where z = 0
 * if the nonlinearity says so. Thresholds compare a column of x with each of its thresholds; all
 * other spaces take the signs of a projected tile. A projection that overflows to NaN is neither
 * above nor below 0, and counts as 0 does. */
#include "algebra/bits.h"

#include "base/loops.h"
#include "base/pool.h"
#include "map/kinds.h"
#include <math.h>
#include <stdatomic.h>

static atomic_bool refused; /* scl_map_use_bits(false) */

void scl_map_use_bits(bool use) { atomic_store(&refused, !use); }
bool scl_map_uses_bits(void) { return !atomic_load(&refused); }

double scl_map_feature_scale(const scl_map *map, size_t t) {
  return scl_number(map->scale, map->dtype, t);
}

/* scl_map_two_values, also where the switch is off. */
static bool declared_values(const scl_map *map, scl_two_values *out) {
  scl_ability_two_valued values;
  if (map->bare || !map->kind->phi_of_z || map->fan_in != 1 || map->fan_out != 1 ||
      !scl_nonlinearity_two_valued(map->phi, &values))
    return false;
  const bool narrow = map->dtype == SCL_DTYPE_FLOAT32;
  *out =
      (scl_two_values){narrow ? (double)(float)values.low : values.low,
                       narrow ? (double)(float)values.high : values.high, values.zero_is_high != 0};
  /* A scaled value that overflows must be reported as a number: such a map makes no bits. */
  const double largest = fmax(fabs(out->low), fabs(out->high)),
               most = narrow ? (double)3.4e38f : 1e308;
  bool finite = isfinite(out->low) && isfinite(out->high);
  for (size_t t = 0; finite && t < map->count; t++)
    finite = fabs(scl_map_feature_scale(map, t)) * largest <= most;
  return finite;
}

bool scl_map_two_values(const scl_map *map, scl_two_values *out) {
  return scl_map_uses_bits() && declared_values(map, out);
}

bool scl_map_gaps(const scl_map *map, double *gap) {
  scl_two_values values;
  if (!declared_values(map, &values)) return false;
  for (size_t t = 0; t < map->count; t++)
    gap[t] = fabs(scl_map_feature_scale(map, t) * (values.high - values.low));
  return true;
}

void scl_map_low_and_high(const scl_map *map, double *low, double *high) {
  scl_two_values values = {0};
  (void)scl_map_two_values(map, &values);
  for (size_t t = 0; t < map->count; t++) {
    const double scale = scl_map_feature_scale(map, t);
    low[t] = scale * values.low;
    high[t] = scale * values.high;
    if (map->dtype == SCL_DTYPE_FLOAT32) { /* round as scl_map_apply does */
      low[t] = (double)(float)low[t];
      high[t] = (double)(float)high[t];
    }
  }
}

/* ------------ the signs of a tile */

typedef struct signing {
  const scl_map *map;
  const scl_bits *bits; /* to be written */
  size_t rows;
  bool zero; /* whether z = 0 counts as high */
} signing;

/* words[j] = the bits of feature col + j for up to 64 rows of z from `row` on, the first row in the
 * lowest bit. There are SCL_BITS_COLUMNS features, or fewer at the end of the tile. */
static void sign_columns(const signing *job, const scl_block *z, size_t row, size_t rows,
                         size_t col, uint64_t words[SCL_BITS_COLUMNS]) {
  const scl_loops *loops = scl_loops_get();
  const ptrdiff_t at = (ptrdiff_t)row * z->row_stride + (ptrdiff_t)col;
  const bool wide = z->dtype == SCL_DTYPE_FLOAT64, zero = job->zero;
  if (col + SCL_BITS_COLUMNS <= z->cols) {
    if (wide)
      loops->signs_f64(rows, (const double *)z->data + at, z->row_stride, zero, words);
    else
      loops->signs_f32(rows, (const float *)z->data + at, z->row_stride, zero, words);
    return;
  }
  for (size_t j = col; j < z->cols; j++) {
    words[j - col] = 0;
    for (size_t i = 0; i < rows; i++) {
      const double number =
          scl_number(z->data, z->dtype, (size_t)((ptrdiff_t)(row + i) * z->row_stride) + j);
      words[j - col] |= (uint64_t)(zero ? !(number < 0) : number > 0) << i;
    }
  }
}

/* Bits of a tile, word by word. Tiles begin at multiples of 64 rows, so that no two threads write
 * to one word. */
static scl_status sign_tile(void *context, const scl_map_tile *tile, scl_error *error) {
  const signing *job = context;
  const scl_block *z = &tile->z;
  uint64_t words[SCL_BITS_COLUMNS];
  (void)error;
  for (size_t i = 0; i < z->rows; i += SCL_BITS_ROWS)
    for (size_t j = 0; j < z->cols; j += SCL_BITS_COLUMNS) {
      sign_columns(job, z, i, scl_min(SCL_BITS_ROWS, z->rows - i), j, words);
      for (size_t k = j; k < scl_min(j + SCL_BITS_COLUMNS, z->cols); k++)
        *scl_bits_at(job->bits, tile->first + k, (tile->first_row + i) / SCL_BITS_ROWS) =
            words[k - j];
    }
  return SCL_STATUS_OK;
}

/* ------------ thresholds: x_i > t where x_i - t > 0, for numbers that are finite */

typedef struct comparing {
  const scl_map *map;
  const char *x;
  ptrdiff_t x_stride;
  size_t rows;
  const scl_bits *bits;
  bool equal;   /* whether x_i = t counts as high */
  char *turned; /* dim x SCL_LANES numbers for each thread */
  size_t each;  /* bytes of these */
} comparing;

/* Bits of the 64 rows that share a word, for all features. Rows past the last one get 0. */
static void compare_word(void *context, size_t word) {
  const comparing *job = context;
  const scl_loops *loops = scl_loops_get();
  const scl_projection *p = job->map->projection;
  const size_t first = word * SCL_BITS_ROWS, rows = scl_min(SCL_BITS_ROWS, job->rows - first);
  const uint64_t mask = UINT64_MAX >> (SCL_BITS_ROWS - rows);
  void *turned = job->turned + scl_pool_worker() * job->each;
  scl_projection_turn(p, scl_at(job->x, p->dtype, (ptrdiff_t)first * job->x_stride), job->x_stride,
                      rows, turned);
  for (size_t t = 0; t < p->rows; t += SCL_BITS_COLUMNS) {
    const size_t count = scl_min(SCL_BITS_COLUMNS, p->rows - t);
    uint64_t *to = scl_bits_at(job->bits, t, word);
    if (p->dtype == SCL_DTYPE_FLOAT64)
      loops->above_f64(count, turned, p->support + t, (const double *)p->weights + t, job->equal,
                       to);
    else
      loops->above_f32(count, turned, p->support + t, (const float *)p->weights + t, job->equal,
                       to);
    for (size_t k = 0; k < count; k++)
      to[k] &= mask;
  }
}

/* Bits of all rows by comparison, on the pool's threads. */
static scl_status compare_rows(comparing *job, scl_error *error) {
  const size_t threads = scl_pool_threads();
  job->each = (job->map->dim * SCL_LANES * scl_dtype_size(job->map->dtype) + 63) / 64 * 64;
  job->turned = scl_allocate_array(threads, job->each);
  if (job->turned == NULL) return scl_fail_memory(error, threads * job->each, "turned rows");
  scl_pool_run(scl_bits_words(job->rows), compare_word, job);
  scl_release(job->turned);
  return SCL_STATUS_OK;
}

scl_status scl_map_apply_bits(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                              const scl_bits *bits, scl_error *error) {
  scl_two_values values;
  if (rows == 0) return SCL_STATUS_OK;
  if (!scl_map_two_values(map, &values))
    return scl_fail(error, SCL_STATUS_INTERNAL, "this map's features are not bits");
  if (map->space->by_threshold && map->pool == NULL && map->projection->bias == NULL) {
    comparing job = {.map = map,
                     .x = x,
                     .x_stride = x_stride,
                     .rows = rows,
                     .bits = bits,
                     .equal = values.zero_is_high};
    return compare_rows(&job, error);
  }
  const scl_map_request request = {.x = x, .x_stride = x_stride, .rows = rows, .count = map->count};
  signing job = {map, bits, rows, values.zero_is_high};
  return scl_tiles_run(map, &request, sign_tile, &job, error);
}

/* Thresholds too: x - t is above 0 where x is above t. */
scl_status scl_map_apply_csr_bits(const scl_map *map, const scl_csr *rows, const scl_bits *bits,
                                  scl_error *error) {
  scl_two_values values;
  scl_csr held;
  scl_map_request request;
  if (!scl_map_two_values(map, &values))
    return scl_fail(error, SCL_STATUS_INTERNAL, "this map's features are not bits");
  SCL_TRY(scl_map_request_csr(map, rows, &held, &request, error));
  signing job = {map, bits, rows->rows, values.zero_is_high};
  const scl_status status = scl_tiles_run(map, &request, sign_tile, &job, error);
  scl_csr_release(&held);
  return status;
}

/* Totals of whole numbers: their addition, exchange with files, and conversion to float64
 * moments. */
#include "algebra/whole_totals.h"

#include "algebra/symmetric_internal.h"
#include "base/loops.h"
#include "base/pool.h"
#include <math.h>
#include <string.h>

__extension__ typedef __int128 wide_whole;
__extension__ typedef unsigned __int128 wide_bits;
__extension__ typedef __float128 wide_float;

/* The numbers of a matrix of totals; a tile of them. */
static int64_t *numbers_of(const scl_symmetric *a) { return (int64_t *)(void *)a->data; }
static size_t count_of(const scl_symmetric *a) { return scl_tiles_here(a) * a->tile * a->tile; }

scl_status scl_whole_totals_create(size_t n, bool shared, scl_whole_totals *out, scl_error *error) {
  *out = (scl_whole_totals){0};
  const scl_status status =
      (shared ? scl_symmetric_create_shared : scl_symmetric_create)(n, &out->low, error);
  if (status != SCL_STATUS_OK) scl_whole_totals_destroy(out);
  return status;
}

scl_status scl_whole_totals_create_common(size_t n, bool wide, scl_whole_totals *out,
                                          scl_error *error) {
  *out = (scl_whole_totals){0};
  SCL_TRY(scl_symmetric_create_common(n, false, &out->low, error));
  if (!wide || !scl_symmetric_is_common(out->low)) return SCL_STATUS_OK;
  scl_status status = scl_symmetric_create_common(n, false, &out->high, error);
  if (status == SCL_STATUS_OK && scl_symmetric_is_common(out->high)) return status;
  scl_whole_totals_destroy(out); /* both, or none */
  return status == SCL_STATUS_OK ? scl_symmetric_create(n, &out->low, error) : status;
}

void scl_whole_totals_destroy(scl_whole_totals *totals) {
  scl_symmetric_destroy(totals->low);
  scl_symmetric_destroy(totals->high);
  *totals = (scl_whole_totals){0};
}

void scl_whole_totals_memory(const scl_whole_totals *totals, int64_t **low, int64_t **high,
                             size_t *count) {
  *low = numbers_of(totals->low);
  *high = totals->high == NULL ? NULL : numbers_of(totals->high);
  *count = count_of(totals->low);
}

/* The number of 128 bits that two entries hold. */
static wide_whole join_halves(int64_t high, int64_t low) {
  return (wide_whole)((wide_bits)(uint64_t)high << 64 | (uint64_t)low);
}

scl_status scl_whole_totals_widen(scl_whole_totals *totals, unsigned shift, scl_error *error) {
  const size_t count = count_of(totals->low);
  const bool narrow = totals->high == NULL;
  if (narrow) SCL_TRY(scl_symmetric_create_like(totals->low, &totals->high, error));
  int64_t *low = numbers_of(totals->low), *high = numbers_of(totals->high);
  for (size_t i = 0; i < count; i++) {
    const wide_whole value = narrow ? low[i] : join_halves(high[i], low[i]);
    const wide_bits moved = (wide_bits)value << shift;
    low[i] = (int64_t)(uint64_t)moved;
    high[i] = (int64_t)(uint64_t)(moved >> 64);
  }
  return SCL_STATUS_OK;
}

/* ------------ adding */

typedef struct adding {
  const scl_whole_totals *into, *from;
  size_t chunk;
  bool subtract;
} adding;

/* A task of the pool: one tile. The sums are made with unsigned numbers, which wrap, so that
 * subtracting what was added gives exactly the numbers from before. */
static void add_chunk(void *context, size_t index) {
  const adding *job = context;
  const size_t first = index * job->chunk, end = first + job->chunk;
  int64_t *low = numbers_of(job->into->low);
  const int64_t *from = numbers_of(job->from->low);
  if (job->into->high == NULL) {
    for (size_t i = first; i < end; i++)
      low[i] = (int64_t)(job->subtract ? (uint64_t)low[i] - (uint64_t)from[i]
                                       : (uint64_t)low[i] + (uint64_t)from[i]);
    return;
  }
  int64_t *high = numbers_of(job->into->high);
  const int64_t *over = numbers_of(job->from->high);
  for (size_t i = first; i < end; i++) {
    const wide_bits a = (wide_bits)join_halves(high[i], low[i]),
                    b = (wide_bits)join_halves(over[i], from[i]),
                    sum = job->subtract ? a - b : a + b;
    low[i] = (int64_t)(uint64_t)sum;
    high[i] = (int64_t)(uint64_t)(sum >> 64);
  }
}

void scl_whole_totals_add(scl_whole_totals *into, const scl_whole_totals *from, bool subtract) {
  adding job = {into, from, into->low->tile * into->low->tile, subtract};
  scl_pool_run(scl_tiles_here(into->low), add_chunk, &job);
}

typedef struct adding_counts {
  const scl_whole_totals *into;
  const scl_symmetric *counts;
  int64_t number;
  unsigned shift;
} adding_counts;

/* A task of the pool: one tile. */
static void add_tile_of_counts(void *context, size_t index) {
  const adding_counts *job = context;
  const size_t chunk = job->counts->tile * job->counts->tile, first = index * chunk;
  int64_t *low = numbers_of(job->into->low), *high = numbers_of(job->into->high);
  for (size_t i = first; i < first + chunk; i++) {
    const wide_whole more = (wide_whole)(int64_t)job->counts->data[i] * job->number;
    const wide_bits sum = (wide_bits)join_halves(high[i], low[i]) + ((wide_bits)more << job->shift);
    low[i] = (int64_t)(uint64_t)sum;
    high[i] = (int64_t)(uint64_t)(sum >> 64);
  }
  memset(job->counts->data + first, 0, chunk * sizeof *job->counts->data);
}

void scl_whole_totals_add_counts(scl_whole_totals *into, scl_symmetric *counts, int64_t number,
                                 unsigned shift) {
  adding_counts job = {into, counts, number, shift};
  scl_pool_run(scl_tiles_here(counts), add_tile_of_counts, &job);
}

void scl_whole_totals_of_counts(scl_symmetric *counts) {
  const size_t count = count_of(counts);
  int64_t *to = numbers_of(counts);
  for (size_t i = 0; i < count; i++) {
    double number;
    memcpy(&number, to + i, sizeof number);
    to[i] = (int64_t)number;
  }
}

/* ------------ row by row */

/* The numbers of row i of the matrix that are in tile j of its row of tiles. */
static int64_t *row_of(const scl_symmetric *a, size_t i, size_t j) {
  return numbers_of(a) + (scl_tile_at(a, i / a->tile, j) - a->data) + i % a->tile * a->tile;
}

/* How many of them belong to the lower triangle. */
static size_t run_of(const scl_symmetric *a, size_t i, size_t j) {
  return scl_min(a->tile, i + 1 - j * a->tile);
}

/* Whether `count` numbers are equal. Without an upper half (NULL) it is the sign of the lower
 * one. */
static bool equal_run(const int64_t *a, const int64_t *a_high, const int64_t *b,
                      const int64_t *b_high, size_t count) {
  for (size_t k = 0; k < count; k++) {
    const int64_t x = a_high == NULL ? -(int64_t)(a[k] < 0) : a_high[k],
                  y = b_high == NULL ? -(int64_t)(b[k] < 0) : b_high[k];
    if (a[k] != b[k] || x != y) return false;
  }
  return true;
}

bool scl_whole_totals_equal(const scl_whole_totals *a, const scl_whole_totals *b) {
  if (a->low->n != b->low->n) return false;
  for (size_t i = 0; i < a->low->n; i++)
    for (size_t j = 0; j <= i / a->low->tile; j++)
      if (!equal_run(row_of(a->low, i, j), a->high == NULL ? NULL : row_of(a->high, i, j),
                     row_of(b->low, i, j), b->high == NULL ? NULL : row_of(b->high, i, j),
                     run_of(a->low, i, j)))
        return false;
  return true;
}

static int64_t *entry_of(const scl_symmetric *a, size_t i, size_t j) {
  const size_t row = i > j ? i : j, col = i > j ? j : i;
  return row_of(a, row, col / a->tile) + col % a->tile;
}

void scl_whole_totals_first(const scl_whole_totals *from, size_t many, size_t few,
                            const scl_whole_totals *to) {
  for (size_t i = 0; i < to->low->n; i++)
    for (size_t j = 0; j <= i; j++) {
      const size_t row = i / few * many + i % few, col = j / few * many + j % few;
      *entry_of(to->low, i, j) = *entry_of(from->low, row, col);
      if (to->high != NULL) *entry_of(to->high, i, j) = *entry_of(from->high, row, col);
    }
}

void scl_whole_totals_lead(const scl_whole_totals *from, const scl_whole_totals *to) {
  for (size_t i = 0; i < from->low->n; i++)
    for (size_t j = 0; j <= i; j++) {
      *entry_of(to->low, i, j) = *entry_of(from->low, i, j);
      if (to->high != NULL) *entry_of(to->high, i, j) = *entry_of(from->high, i, j);
    }
}

/* Copy the lower triangle, row by row, without the gaps of tiles; and back. */
static void export_half(const scl_symmetric *a, int64_t *out) {
  for (size_t i = 0; i < a->n; i++)
    for (size_t j = 0; j <= i / a->tile; j++) {
      const size_t run = run_of(a, i, j);
      memcpy(out, row_of(a, i, j), run * sizeof *out);
      out += run;
    }
}

static void import_half(const scl_symmetric *a, const int64_t *from) {
  for (size_t i = 0; i < a->n; i++)
    for (size_t j = 0; j <= i / a->tile; j++) {
      const size_t run = run_of(a, i, j);
      memcpy(row_of(a, i, j), from, run * sizeof *from);
      from += run;
    }
}

void scl_whole_totals_export(const scl_whole_totals *totals, int64_t *low, int64_t *high) {
  export_half(totals->low, low);
  if (totals->high != NULL) export_half(totals->high, high);
}

void scl_whole_totals_import(const scl_whole_totals *totals, const int64_t *low,
                             const int64_t *high) {
  import_half(totals->low, low);
  if (totals->high != NULL) import_half(totals->high, high);
}

/* ------------ to float64 */

/* The sum of entry `at` of the chosen parts. */
static wide_whole sum_at(const scl_whole_scaling *s, size_t at) {
  wide_bits sum = 0;
  for (size_t k = 0; k < s->count; k++) {
    const scl_whole_totals *part = &s->parts[s->chosen[k]];
    const int64_t low = numbers_of(part->low)[at];
    const wide_whole value =
        part->high == NULL ? low : join_halves(numbers_of(part->high)[at], low);
    sum = sum + (wide_bits)value;
  }
  return (wide_whole)sum;
}

/* S_ij - s_i s_j / total, for whole sums s and a whole total: an exact numerator, rounded
 * to a double and divided. */
static double centred_whole(const scl_whole_scaling *s, wide_whole sum, size_t i, size_t j) {
  const wide_whole gap =
      (sum >> s->shift) * (int64_t)s->total - (wide_whole)(int64_t)s->sums[i] * (int64_t)s->sums[j];
  if (gap >= INT64_MIN && gap <= INT64_MAX) return (double)(int64_t)gap / s->total;
  return (double)gap / s->total;
}

/* Whether the entries of S are whole numbers; usually the first entry of others is none. Said to be
 * none where processes share the tiles, of which each has its own alone. */
static bool is_whole(const scl_whole_scaling *s, const scl_symmetric *a) {
  if (s->shift > 0 && a->ranks > 1) return false;
  const wide_bits rest = ((wide_bits)1 << s->shift) - 1;
  for (size_t i = 0; s->shift > 0 && i < a->n; i++)
    for (size_t j = 0; j <= i / a->tile; j++) {
      const size_t at = (size_t)(row_of(a, i, j) - numbers_of(a));
      for (size_t k = 0; k < run_of(a, i, j); k++)
        if (((wide_bits)sum_at(s, at + k) & rest) != 0) return false;
    }
  return true;
}

/* Whether total, sums and S are whole numbers for which centred_whole is exact. */
static bool are_whole(const scl_whole_scaling *s, const scl_symmetric *a) {
  static const double MOST = 0x1p53;
  if (!s->exact || s->total != floor(s->total) || s->total_rest != 0 || s->total >= 0x1p40)
    return false;
  for (size_t i = 0; i < a->n; i++)
    if (!(fabs(s->sums[i]) < MOST) || s->sums[i] != floor(s->sums[i]) ||
        (s->rests != NULL && s->rests[i] != 0))
      return false;
  return is_whole(s, a);
}

typedef struct scaling_job {
  const scl_whole_scaling *spec;
  const scl_symmetric *out;
  bool whole;
  double *mean, *mean_rest; /* s / total 2^shift, n each, as sums of two; NULL: not needed */
} scaling_job;

/* Entry (i, j) of the moments from its sum S_ij, rounded once. */
static double scaled_entry(const scaling_job *job, wide_whole sum, size_t i, size_t j) {
  const scl_whole_scaling *s = job->spec;
  const double factor = s->unit[i] * s->unit[j];
  if (s->centred) return factor * centred_whole(s, sum, i, j);
  const double value = (double)sum / (double)((uint64_t)1 << s->shift);
  const wide_float bi = (wide_float)s->base[i], bj = (wide_float)s->base[j];
  return (double)((wide_float)factor * (wide_float)value +
                  (wide_float)s->unit[i] * bj * (wide_float)s->sums[i] +
                  bi * (wide_float)s->unit[j] * (wide_float)s->sums[j] +
                  bi * bj * (wide_float)s->total);
}

/* The longest row of a tile. */
enum { MOST_TILE = 512 };

/* number = *high + *low, the nearest float64 number and the rest. */
static void split_number(wide_whole number, double *high, double *low) {
  const int64_t upper = (int64_t)(number >> 64), lower = (int64_t)number;
  if (upper == -(int64_t)(lower < 0)) {
    *high = (double)lower;
    *low =
        *high >= 0x1p63 ? (double)(number - (wide_whole)*high) : (double)(lower - (int64_t)*high);
    return;
  }
  *high = (double)number;
  *low = (double)(number - (wide_whole)*high);
}

/* The same of numbers of 64 bits, which are below 2^62. */
static void split_narrow(const int64_t *numbers, size_t count, double *high, double *low) {
  for (size_t k = 0; k < count; k++) {
    high[k] = (double)numbers[k];
    low[k] = (double)(numbers[k] - (int64_t)high[k]);
  }
}

/* Part of row i of the moments, from column j on; its sums begin at element `at` of the totals. For
 * centred moments whose means are not exact, and for moments that are not centred and have no
 * base. */
static void scale_row(const scaling_job *job, size_t at, size_t i, size_t j, size_t cols,
                      double *out) {
  const scl_whole_scaling *s = job->spec;
  const double down = 1 / (double)((uint64_t)1 << s->shift);
  double high[MOST_TILE], low[MOST_TILE];
  const scl_whole_totals *only = s->count == 1 ? &s->parts[s->chosen[0]] : NULL;
  if (only != NULL && only->high == NULL)
    split_narrow(numbers_of(only->low) + at, cols, high, low);
  else
    for (size_t k = 0; k < cols; k++)
      split_number(sum_at(s, at + k), &high[k], &low[k]);
  if (s->centred)
    scl_loops_get()->centre_f64(cols, low, job->mean[i], job->mean_rest[i], s->sums + j,
                                s->rests == NULL ? NULL : s->rests + j, high);
  for (size_t k = 0; k < cols; k++)
    out[k] = high[k] * down * (s->unit[i] * s->unit[j + k]);
}

/* A task of the pool: one tile of the moments from whole-number sums, by rows if the loops for rows
 * apply, otherwise entry by entry. */
static void scale_tile(void *context, size_t index) {
  const scaling_job *job = context;
  const scl_whole_scaling *s = job->spec;
  const scl_symmetric *out = job->out;
  const bool by_row = s->centred ? job->mean != NULL : s->base == NULL;
  size_t row, col;
  scl_tile_place(out, index, &row, &col);
  if (!scl_tile_mine(out, row, col)) return;
  double *tile = scl_tile_at(out, row, col);
  const size_t first = (size_t)(tile - out->data), rows = scl_tile_rows(out, row),
               j = col * out->tile;
  for (size_t r = 0; r < rows; r++) {
    const size_t i = row * out->tile + r, cols = row == col ? r + 1 : scl_tile_rows(out, col),
                 at = r * out->tile;
    if (by_row) scale_row(job, first + at, i, j, cols, tile + at);
    for (size_t k = 0; !by_row && k < cols; k++)
      tile[at + k] = scaled_entry(job, sum_at(s, first + at + k), i, j + k);
  }
}

/* job->mean + job->mean_rest = s_i / total 2^shift, to about 106 bits. */
static scl_status find_means(scaling_job *job, scl_error *error) {
  const scl_whole_scaling *s = job->spec;
  const size_t n = job->out->n;
  job->mean = scl_allocate_array(2 * n + 1, sizeof *job->mean);
  if (job->mean == NULL) return scl_fail_memory(error, 2 * n * sizeof *job->mean, "means");
  job->mean_rest = job->mean + n;
  const wide_float factor = (wide_float)(double)((uint64_t)1 << s->shift) /
                            ((wide_float)s->total + (wide_float)s->total_rest);
  for (size_t i = 0; i < n; i++) {
    const wide_float rest = (wide_float)(s->rests == NULL ? 0 : s->rests[i]),
                     mean = ((wide_float)s->sums[i] + rest) * factor;
    job->mean[i] = (double)mean;
    job->mean_rest[i] = (double)(mean - (wide_float)job->mean[i]);
  }
  return SCL_STATUS_OK;
}

scl_status scl_whole_totals_scale(const scl_whole_scaling *scaling, scl_symmetric *out,
                                  scl_error *error) {
  scaling_job job = {scaling, out, are_whole(scaling, out), NULL, NULL};
  if (scaling->centred && !job.whole) SCL_TRY(find_means(&job, error));
  scl_pool_run(scl_tile_count(out), scale_tile, &job);
  scl_release(job.mean);
  return scl_common_meet(out, error);
}

/* Sums of Phi'Phi over blocks: products of a block in floating point, rounded to quanta and added
 * as whole numbers of 64 bits, or of 128 if they do not fit. */
#include "algebra/block_totals.h"

#include "algebra/symmetric_internal.h"
#include "base/loops.h"
#include <math.h>
#include <stdlib.h>

__extension__ typedef __int128 wide_whole;
__extension__ typedef unsigned __int128 wide_bits;

/* The largest order of a tile. */
enum { MOST_TILE = 512 };
/* Totals of 64 bits are below NARROW before a block is added, and a block adds less than half as
 * much to them (round_row). Totals of 128 bits are below WIDE. */
static const double NARROW = 0x1p62, WIDE = 0x1p125;
static const double NOT_ADDED = -1;

/* One block that is added. */
typedef struct adding {
  const scl_block_totals *to;
  scl_dtype dtype;
  double *most; /* for each band its largest number in quanta; infinite: a number is too large;
                   NOT_ADDED: the band was not looked at */
  atomic_bool failed;
  size_t *failing; /* for each band its first row with a number that is too large */
} adding;

/* Row r of a band: the whole numbers in the memory of its float64 entries. */
static int64_t *row_of(const scl_symmetric *a, const scl_band *band, size_t r) {
  return (int64_t *)(void *)scl_tile_at(a, band->i, band->j) + (band->first + r) * a->tile;
}

/* The columns of row r of a band on and below the diagonal. */
static size_t columns_of(const scl_symmetric *a, const scl_band *band, size_t r) {
  return band->i == band->j ? band->first + r + 1 : scl_tile_rows(a, band->j);
}

/* ------------ 64 bits */

/* out = row r of the products of a band in quanta, rounded. Returns the largest absolute
 * value; UINT64_MAX: one is 2^61 or more, or not finite. */
static uint64_t round_row(const adding *job, const void *products, const scl_band *band, size_t r,
                          int64_t *out) {
  const scl_symmetric *a = job->to->totals->low;
  const double row = job->to->inverse[band->i * a->tile + band->first + r],
               *factor = job->to->inverse + band->j * a->tile;
  const size_t cols = columns_of(a, band, r);
  const scl_loops *loops = scl_loops_get();
  if (job->dtype == SCL_DTYPE_FLOAT64)
    return loops->whole_f64(cols, (const double *)products + r * a->tile, row, factor, out);
  return loops->whole_f32(cols, (const float *)products + r * a->tile, row, factor, out);
}

/* Add (or subtract) `rows` rows of a band. Returns the first row that has too large a number, and was
 * not added, or `rows`. */
static size_t add_narrow(const adding *job, const void *products, const scl_band *band, size_t rows,
                         bool subtract, uint64_t *most) {
  const scl_symmetric *a = job->to->totals->low;
  int64_t whole[MOST_TILE];
  for (size_t r = 0; r < rows; r++) {
    const size_t cols = columns_of(a, band, r);
    const uint64_t largest = round_row(job, products, band, r, whole);
    uint64_t *to = (uint64_t *)row_of(a, band, r);
    if (largest == UINT64_MAX) return r;
    *most = largest > *most ? largest : *most;
    for (size_t k = 0; k < cols; k++)
      to[k] += subtract ? 0 - (uint64_t)whole[k] : (uint64_t)whole[k];
  }
  return rows;
}

/* ------------ 128 bits */

/* x rounded to a whole number, halves to even; |x| < 2^62. A sum with MAGIC has no bits behind the
 * point, and numbers of 2^52 or more are whole. */
static int64_t round_number(double x) {
  static const double MAGIC = 0x1.8p52;
  return (int64_t)(fabs(x) < 0x1p51 ? (x + MAGIC) - MAGIC : rint(x));
}

static void add_wide_number(int64_t *low, int64_t *high, wide_whole number) {
  const wide_bits sum = ((wide_bits)(uint64_t)*high << 64 | (uint64_t)*low) + (wide_bits)number;
  *low = (int64_t)(uint64_t)sum;
  *high = (int64_t)(uint64_t)(sum >> 64);
}

/* The same of 2^62 <= |x| < 2^125, a multiple of 2^10. */
static wide_whole round_large(double x) {
  return fabs(x) < 0x1p72 ? (wide_whole)(int64_t)(x * 0x1p-10) * 1024 : (wide_whole)x;
}

/* Add row r of a band, which has numbers of 2^61 or more; those of 2^62 or more, which are whole, one
 * by one. False: one is not below WIDE. */
static bool add_large_row(const adding *job, const void *products, const scl_band *band, size_t r,
                          double *most) {
  const scl_whole_totals *totals = job->to->totals;
  const size_t tile = totals->low->tile;
  const double *inverse = job->to->inverse;
  const size_t cols = columns_of(totals->low, band, r);
  int64_t *low = row_of(totals->low, band, r), *high = row_of(totals->high, band, r),
          whole[MOST_TILE];
  for (size_t k = 0; k < cols; k++) {
    const double x = scl_number(products, job->dtype, r * tile + k) *
                     inverse[band->i * tile + band->first + r] * inverse[band->j * tile + k];
    if (!(fabs(x) < WIDE)) return false;
    if (fabs(x) > *most) *most = fabs(x);
    whole[k] = fabs(x) < 0x1p62 ? round_number(x) : 0;
    if (!(fabs(x) < 0x1p62)) add_wide_number(&low[k], &high[k], round_large(x));
  }
  scl_loops_get()->add_wide_i64(cols, whole, low, high);
  return true;
}

/* As add_narrow, for totals of 128 bits: the low halves are added with carry into the high ones. */
static size_t add_wide(const adding *job, const void *products, const scl_band *band,
                       double *most) {
  const scl_whole_totals *totals = job->to->totals;
  int64_t whole[MOST_TILE];
  for (size_t r = 0; r < band->rows; r++) {
    const uint64_t largest = round_row(job, products, band, r, whole);
    if (largest == UINT64_MAX) {
      if (!add_large_row(job, products, band, r, most)) return r;
      continue;
    }
    *most = fmax(*most, (double)largest);
    scl_loops_get()->add_wide_i64(columns_of(totals->low, band, r), whole,
                                  row_of(totals->low, band, r), row_of(totals->high, band, r));
  }
  return band->rows;
}

/* ------------ a block */

/* For scl_symmetric_products: add a band. If one of its numbers is too large for 64 bits, the rows
 * that were added are subtracted again, and the band is as before. */
static void add_band(void *context, const scl_band *band, const void *products) {
  adding *job = context;
  const scl_whole_totals *totals = job->to->totals;
  const size_t rows = band->rows, at = band->index;
  uint64_t most = 0, ignored = 0;
  size_t done;
  job->most[at] = 0;
  /* Processes may have bands of unlike heights: the lock is that of the tile. */
  const size_t tile = at / (scl_symmetric_bands(totals->low) / scl_tile_count(totals->low));
  scl_common_lock(totals->low, tile);
  if (totals->high != NULL) {
    done = add_wide(job, products, band, &job->most[at]);
  } else {
    done = add_narrow(job, products, band, rows, false, &most);
    if (done < rows) (void)add_narrow(job, products, band, done, true, &ignored);
    job->most[at] = (double)most;
  }
  scl_common_unlock(totals->low, tile);
  if (done == rows) return;
  job->most[at] = INFINITY;
  atomic_store(&job->failed, true);
  job->failing[at] = band->i * totals->low->tile + band->first + done;
}

/* The largest number of all bands; skip[k]: band k was added. */
static double find_most(const adding *job, size_t bands, bool *skip) {
  double most = 0;
  for (size_t k = 0; k < bands; k++) {
    skip[k] = isfinite(job->most[k]) && job->most[k] >= 0;
    most = fmax(most, job->most[k]);
  }
  return most;
}

/* The error for sums that are too large; names the first feature of a band that was not added. */
static scl_status refuse_overflow(const adding *job, size_t bands, scl_error *error) {
  size_t feature = SIZE_MAX;
  for (size_t k = 0; k < bands; k++)
    if (!isfinite(job->most[k])) feature = scl_min(feature, job->failing[k]);
  return scl_fail(error, SCL_STATUS_NUMERIC,
                  "the sum of squares of feature %zu is too large for %s: scale the data",
                  feature == SIZE_MAX ? 1 : feature + 1, scl_dtype_name(job->dtype));
}

/* Add a block to all bands. Where one does not fit into 64 bits, widen the totals, and compute it and
 * the bands that were left anew. */
static scl_status add_block(adding *job, scl_product_block block, bool *skip, scl_error *error) {
  scl_whole_totals *totals = job->to->totals;
  const size_t bands = scl_symmetric_bands(totals->low);
  for (size_t k = 0; k < bands; k++)
    job->most[k] = NOT_ADDED;
  atomic_store(&job->failed, false);
  block.stop = totals->high == NULL ? &job->failed : NULL;
  SCL_TRY(scl_symmetric_products(&block, totals->low, NULL, add_band, job, error));
  double most = find_most(job, bands, skip);
  if (!isfinite(most) && totals->high == NULL) {
    SCL_TRY(scl_whole_totals_widen(totals, 0, error));
    block.stop = NULL;
    SCL_TRY(scl_symmetric_products(&block, totals->low, skip, add_band, job, error));
    most = find_most(job, bands, skip);
  }
  *job->to->bound += most;
  if (!(*job->to->bound < WIDE)) return refuse_overflow(job, bands, error);
  return scl_block_totals_make_room(totals, *job->to->bound, 0, error);
}

scl_status scl_block_totals_make_room(scl_whole_totals *totals, double bound, double more,
                                      scl_error *error) {
  if (!(bound + more < WIDE))
    return scl_fail(error, SCL_STATUS_NUMERIC,
                    "the sums of squares of the features are too large to be joined");
  return totals->high != NULL || bound + more < NARROW ? SCL_STATUS_OK
                                                       : scl_whole_totals_widen(totals, 0, error);
}

bool scl_block_totals_widen(size_t rows) { return ldexp((double)rows, SCL_BLOCK_SHIFT) >= NARROW; }

/* Add all rows, in parts. */
static scl_status add_parts(adding *job, const scl_product_block *all, bool *skip,
                            scl_error *error) {
  const size_t most = scl_symmetric_part_rows(job->to->totals->low, all->dtype),
               parts = (all->count + most - 1) / most;
  for (size_t k = 0; k < parts; k++) {
    const size_t first = all->count * k / parts, end = all->count * (k + 1) / parts;
    const scl_product_block part = {all->dtype,
                                    scl_at(all->phi, all->dtype, (ptrdiff_t)first * all->stride),
                                    all->stride, end - first, NULL};
    SCL_TRY(add_block(job, part, skip, error));
  }
  return SCL_STATUS_OK;
}

scl_status scl_block_totals_add(const scl_block_totals *to, scl_dtype dtype, const void *phi,
                                ptrdiff_t stride, size_t count, scl_error *error) {
  const size_t bands = scl_symmetric_bands(to->totals->low);
  const scl_product_block block = {dtype, phi, stride, count, NULL};
  adding job = {.to = to, .dtype = dtype};
  job.most = scl_allocate_zero((bands + 1) * sizeof *job.most);
  job.failing = scl_allocate_zero((bands + 1) * sizeof *job.failing);
  bool *skip = scl_allocate_zero((bands + 1) * sizeof *skip);
  const scl_status status =
      job.most == NULL || job.failing == NULL || skip == NULL
          ? scl_fail_memory(error, bands * sizeof *job.most, "sums of a block")
          : add_parts(&job, &block, skip, error);
  SCL_RELEASE(job.most, job.failing, skip);
  return status;
}

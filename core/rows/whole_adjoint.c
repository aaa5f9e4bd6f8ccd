/* Exact sums V'r over rows. r is cut into digits, whole numbers of so few bits that float64 sums of
 * their products with V are exact; these sums are added as whole numbers. So the sum is the same
 * for every order of the rows, division into blocks, number of threads, and instruction set. */
#include "rows/whole_sums.h"

#include "base/pool.h"
#include <math.h>
#include <pthread.h>
#include <string.h>

/* Rows whose sums of digits are added in float64, of bits fewer, so that all threads have some; bits
 * of such a sum. */
enum { MOST_ROWS = 4096, LEAST_ROWS = 1024, SUM_BITS = 52, MOST_WIDTH = 50 };

/* Rows first .. first+rows-1 of some rows, and some columns of r: column, .. column+k-1 of the
 * sums. */
typedef struct piece {
  const scl_whole_rows *of;
  const scl_whole_adjoint_sums *to;
  size_t first, rows, column, k;
  /* Digit q of row i and column j is digits[i stride + q plane + j], and counts
   * 2^(low + q width). */
  double *digits;
  size_t count, stride, plane;
  int low, width;
  double *sums;          /* count x k x D */
  pthread_mutex_t *lock; /* of the totals; NULL: one thread adds */
} piece;

/* Bits of a digit, so that the sum of all products with an entry of V stays below 2^SUM_BITS. */
static int width_for(const piece *p) {
  double most = (double)p->rows;
  if (p->of->bits == NULL) most *= scl_whole_most(p->of->type);
  const int width = SUM_BITS - 1 - ilogb(most);
  return width < MOST_WIDTH ? width : MOST_WIDTH;
}

/* p->sums = V' digits */
static scl_status multiply(const piece *p, scl_error *error) {
  const scl_whole_rows *of = p->of;
  const size_t d = p->to->features;
  memset(p->sums, 0, p->count * p->k * d * sizeof *p->sums);
  if (of->bits == NULL) {
    const void *v = (const char *)of->v +
                    (ptrdiff_t)p->first * of->stride * (ptrdiff_t)scl_whole_size(of->type);
    scl_whole_adjoint(of->type, p->rows, d, v, of->stride, p->digits, p->count * p->k, p->sums);
    return SCL_STATUS_OK;
  }
  bool taken = false;
  if (p->count == 1) /* targets of classes, and the constant */
    SCL_TRY(scl_bits_adjoint_of_two(of->bits, of->first + p->first, p->rows, p->digits, 1, 1,
                                    p->sums, 1, &taken, error));
  if (taken) return SCL_STATUS_OK;
  return scl_bits_adjoint_whole(of->bits, of->first + p->first, p->rows, p->digits, p->count,
                                p->sums, error);
}

/* Add p->sums, and the sums of the digits themselves, to the totals. */
static scl_status add_sums(const piece *p, scl_error *error) {
  const scl_whole_adjoint_sums *to = p->to;
  const size_t d = to->features;
  for (size_t q = 0; q < p->count; q++) {
    const int power = p->low + (int)q * p->width + to->exponent;
    SCL_TRY(scl_exact_add_whole(to->sum, p->column * d, p->k * d, p->sums + q * p->k * d, power,
                                error));
    for (size_t j = 0; to->ones != NULL && j < p->k; j++) {
      double sum = 0;
      for (size_t i = 0; i < p->rows; i++)
        sum += p->digits[i * p->stride + q * p->plane + j];
      SCL_TRY(scl_exact_add_whole(to->ones, p->column + j, 1, &sum, power, error));
    }
  }
  return SCL_STATUS_OK;
}

static void enter(const piece *p) {
  if (p->lock != NULL) (void)pthread_mutex_lock(p->lock);
}

static void leave(const piece *p) {
  if (p->lock != NULL) (void)pthread_mutex_unlock(p->lock);
}

static void set_infinite(const piece *p) {
  enter(p);
  *p->to->finite = false;
  leave(p);
}

/* Add V'r; r: rows x k. */
static scl_status add_piece(piece *p, const double *r, scl_error *error) {
  const size_t numbers = p->rows * p->k;
  int high;
  const bool finite = scl_exact_span(r, numbers, &p->low, &high);
  p->width = width_for(p);
  p->count = finite ? scl_exact_digits(p->low, high, p->width) : 0;
  if (!finite) set_infinite(p);
  if (p->count == 0) return SCL_STATUS_OK; /* zeros */
  const size_t room = p->count * (numbers + p->k * p->to->features);
  p->digits = scl_allocate_array(room + 1, sizeof *p->digits);
  if (p->digits == NULL) return scl_fail_memory(error, room * sizeof *p->digits, "digits of rows");
  p->sums = p->digits + p->count * numbers;
  /* Of bits, one column at a time, whose digits are planes (scl_bits_adjoint_whole). */
  p->stride = p->of->bits != NULL ? 1 : p->count * p->k;
  p->plane = p->of->bits != NULL ? p->rows : p->k;
  scl_exact_cut(r, p->rows, p->k, p->low, p->width, p->count, p->digits, p->stride, p->plane);
  scl_status status = multiply(p, error);
  enter(p);
  if (status == SCL_STATUS_OK) status = add_sums(p, error);
  leave(p);
  scl_release(p->digits);
  return status;
}

/* Rows of bits, all columns of r at once, if each takes two values of one digit: targets of classes,
 * and the constant. *taken = false: nothing was added. */
static scl_status add_classes(piece *p, const double *r, bool *taken, scl_error *error) {
  const size_t k = p->k = p->to->columns, d = p->to->features, numbers = p->rows * k;
  int high;
  *taken = scl_exact_span(r, numbers, &p->low, &high);
  p->width = width_for(p);
  p->count = *taken ? scl_exact_digits(p->low, high, p->width) : 0;
  *taken = p->count == 1;
  if (!*taken) return SCL_STATUS_OK;
  double *rows = scl_allocate_zero((numbers + 2 * k * d + 1) * sizeof *rows),
         *sums = rows + numbers;
  if (rows == NULL) return scl_fail_memory(error, numbers * sizeof *rows, "classes of rows");
  p->digits = rows;
  p->sums = sums + k * d;
  p->stride = k;
  scl_exact_cut(r, p->rows, k, p->low, p->width, 1, rows, k, 0);
  scl_status status = scl_bits_adjoint_of_two(p->of->bits, p->of->first + p->first, p->rows, rows,
                                              k, 1, sums, k, taken, error);
  for (size_t i = 0; i < d * k; i++)
    p->sums[i % k * d + i / k] = sums[i];
  enter(p);
  if (status == SCL_STATUS_OK && *taken) status = add_sums(p, error);
  leave(p);
  scl_release(rows);
  return status;
}

/* Rows of bits: all columns of r at once, or one after the other. */
static scl_status add_bits(piece *p, const double *r, scl_error *error) {
  const size_t k = p->to->columns;
  bool taken;
  SCL_TRY(add_classes(p, r, &taken, error));
  if (taken) return SCL_STATUS_OK;
  double *column = scl_allocate_array(p->rows + 1, sizeof *column);
  if (column == NULL) return scl_fail_memory(error, p->rows * sizeof *column, "a column of rows");
  scl_status status = SCL_STATUS_OK;
  p->k = 1;
  for (p->column = 0; p->column < k && status == SCL_STATUS_OK; p->column++) {
    for (size_t i = 0; i < p->rows; i++)
      column[i] = r[i * k + p->column];
    status = add_piece(p, column, error);
  }
  scl_release(column);
  return status;
}

/* Pieces of rows of bits, which threads take. */
typedef struct pieces {
  const scl_whole_rows *of;
  const scl_whole_adjoint_sums *to;
  const double *r;
  size_t each;
  pthread_mutex_t lock;
} pieces;

static scl_status piece_of_bits(void *context, size_t index, scl_error *error) {
  pieces *all = context;
  const size_t at = index * all->each;
  piece p = {.of = all->of,
             .to = all->to,
             .first = at,
             .rows = scl_min(all->each, all->of->rows - at),
             .k = all->to->columns,
             .lock = &all->lock};
  const double *r = all->r + at * p.k;
  return p.k > 1 ? add_bits(&p, r, error) : add_piece(&p, r, error);
}

/* As pieces are added exactly, neither their number nor their order changes the sum. */
static scl_status bits_adjoint(const scl_whole_rows *rows, const double *r,
                               const scl_whole_adjoint_sums *to, scl_error *error) {
  const size_t threads = scl_pool_threads(), share = (rows->rows + threads - 1) / threads;
  pieces all = {.of = rows,
                .to = to,
                .r = r,
                .each = scl_max(LEAST_ROWS, scl_min(MOST_ROWS, share)),
                .lock = PTHREAD_MUTEX_INITIALIZER};
  return scl_pool_try((rows->rows + all.each - 1) / all.each, piece_of_bits, &all, error);
}

scl_status scl_whole_rows_adjoint(const scl_whole_rows *rows, const double *r,
                                  const scl_whole_adjoint_sums *to, scl_error *error) {
  const size_t k = to->columns;
  if (rows->bits != NULL) return bits_adjoint(rows, r, to, error);
  for (size_t at = 0; at < rows->rows; at += MOST_ROWS) {
    piece p = {
        .of = rows, .to = to, .first = at, .rows = scl_min(MOST_ROWS, rows->rows - at), .k = k};
    SCL_TRY(add_piece(&p, r + at * k, error));
  }
  return SCL_STATUS_OK;
}

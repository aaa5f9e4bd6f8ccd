/* Elementwise arithmetic, reductions and products of matrices. Called by the Lua interface. */
#include "algebra/arithmetic.h"

#include "algebra/dense.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include <math.h>
#include <string.h>

/* Number of rows for which a task is worth a thread; depends only on the shape. */
static size_t rows_per_task(size_t cols) {
  return scl_max(1, ((size_t)1 << 16) / scl_max(1, cols));
}

/* Whether to stop at number `i`: Ctrl-C is checked once in about a million numbers. */
static bool stops(size_t i) { return (i & 0xFFFFF) == 0 && scl_interrupted(); }

/* ------------ number by number */

static double operate(scl_operation operation, double a, double b) {
  return operation == SCL_PLUS    ? a + b
         : operation == SCL_MINUS ? a - b
         : operation == SCL_TIMES ? a * b
                                  : a / b;
}

static double operand_value(const scl_operand *side, size_t i, size_t j) {
  return side->matrix == NULL ? side->number : scl_matrix_get(side->matrix, i, j);
}

typedef struct operating {
  scl_operation operation;
  const scl_operand *left, *right;
  scl_matrix *out;
  size_t rows_each;
} operating;

/* A task of the pool: `rows_each` rows of the result. */
static void operate_rows(void *context, size_t index) {
  const operating *o = context;
  const size_t first = index * o->rows_each, last = scl_min(first + o->rows_each, o->out->rows);
  for (size_t i = first; i < last; i++)
    for (size_t j = 0; j < o->out->cols; j++)
      scl_matrix_set(
          o->out, i, j,
          operate(o->operation, operand_value(o->left, i, j), operand_value(o->right, i, j)));
}

void scl_matrix_operate(scl_operation operation, const scl_operand *left, const scl_operand *right,
                        scl_matrix *out) {
  operating o = {operation, left, right, out, rows_per_task(out->cols)};
  scl_pool_run_interruptible((out->rows + o.rows_each - 1) / o.rows_each, operate_rows, &o);
}

void scl_matrix_absolute(const scl_matrix *a, scl_matrix *out) {
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->cols && !stops(i * a->cols + j); j++)
      scl_matrix_set(out, i, j, fabs(scl_matrix_get(a, i, j)));
}

void scl_matrix_take(const scl_matrix *a, const size_t *places, const scl_matrix *out) {
  const size_t size = scl_dtype_size(a->dtype), stride = (size_t)out->row_stride * size;
  for (size_t i = 0; i < out->rows; i++) {
    const char *from =
        (const char *)a->data + (ptrdiff_t)places[i] * a->row_stride * (ptrdiff_t)size;
    char *to = (char *)out->data + i * stride;
    for (size_t j = 0; a->col_stride != 1 && j < a->cols; j++)
      memcpy(to + j * size, from + (ptrdiff_t)j * a->col_stride * (ptrdiff_t)size, size);
    if (a->col_stride == 1) memcpy(to, from, a->cols * size);
  }
}

bool scl_matrix_equal(const scl_matrix *a, const scl_matrix *b) {
  bool same = a->rows == b->rows && a->cols == b->cols;
  for (size_t i = 0; same && i < a->rows; i++)
    for (size_t j = 0; same && j < a->cols; j++)
      same = scl_matrix_get(a, i, j) == scl_matrix_get(b, i, j);
  return same;
}

/* ------------ reductions along a line of numbers */

/* A sequence of numbers of a matrix. */
typedef struct line {
  const scl_matrix *a;
  size_t place, count;             /* which row or column; how many numbers */
  enum { ROW, COLUMN, ALL } along; /* ALL: row by row */
} line;

static double entry_at(const line *l, size_t i) {
  if (l->along == ROW) return scl_matrix_get(l->a, l->place, i);
  if (l->along == COLUMN) return scl_matrix_get(l->a, i, l->place);
  return scl_matrix_get(l->a, i / l->a->cols, i % l->a->cols);
}

/* The sum of numbers first .. first+count-1, or of their squared distances from *centre (unless
 * NULL). Pairwise summation: halves are summed separately down to 64 numbers, so that the rounding
 * error grows with log n. */
static double sum_part(const line *l, size_t first, size_t count, const double *centre) {
  if (count > (1 << 20) && scl_interrupted()) return 0;
  if (count > 64)
    return sum_part(l, first, count / 2, centre) +
           sum_part(l, first + count / 2, count - count / 2, centre);
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    const double value = entry_at(l, first + i);
    sum += centre == NULL ? value : (value - *centre) * (value - *centre);
  }
  return sum;
}

static double deviation(const line *l) {
  const double count = (double)l->count, mean = sum_part(l, 0, l->count, NULL) / count;
  return sqrt(sum_part(l, 0, l->count, &mean) / count);
}

/* The smallest number, or the last NaN if there are any. */
static double smallest(const line *l) {
  double best = entry_at(l, 0);
  for (size_t i = 1; i < l->count && !stops(i); i++) {
    const double value = entry_at(l, i);
    best = value < best || isnan(value) ? value : best;
  }
  return best;
}

/* The largest number, or the last NaN if there are any. */
static double largest(const line *l) {
  double best = entry_at(l, 0);
  for (size_t i = 1; i < l->count && !stops(i); i++) {
    const double value = entry_at(l, i);
    best = value > best || isnan(value) ? value : best;
  }
  return best;
}

/* The position of the first of the largest numbers, from 1. */
static double argmost(const line *l) {
  size_t place = 0;
  for (size_t i = 1; i < l->count && !stops(i); i++)
    if (entry_at(l, i) > entry_at(l, place)) place = i;
  return (double)place + 1;
}

/* One number from a line, which is not empty except for a sum. */
static double reduce_line(const line *l, scl_reducing what) {
  switch (what) {
  case SCL_SUM:
    return sum_part(l, 0, l->count, NULL);
  case SCL_MEAN:
    return sum_part(l, 0, l->count, NULL) / (double)l->count;
  case SCL_DEVIATION:
    return deviation(l);
  case SCL_LEAST:
    return smallest(l);
  case SCL_MOST:
    return largest(l);
  default:
    return argmost(l);
  }
}

double scl_matrix_reduce(const scl_matrix *a, scl_reducing what) {
  const line all = {a, 0, a->rows * a->cols, ALL};
  return reduce_line(&all, what);
}

typedef struct reducing {
  const scl_matrix *a;
  scl_reducing what;
  bool down;
  double *out;
  size_t length, count, each;
} reducing;

static void reduce_some(void *context, size_t index) {
  const reducing *r = context;
  const size_t last = scl_min((index + 1) * r->each, r->count);
  for (size_t k = index * r->each; k < last; k++) {
    const line one = {r->a, k, r->length, r->down ? COLUMN : ROW};
    r->out[k] = reduce_line(&one, r->what);
  }
}

void scl_matrix_reduce_lines(const scl_matrix *a, scl_reducing what, bool down, double *out) {
  const size_t length = down ? a->rows : a->cols, count = down ? a->cols : a->rows;
  reducing r = {a, what, down, out, length, count, rows_per_task(length)};
  scl_pool_run_interruptible((count + r.each - 1) / r.each, reduce_some, &r);
}

/* ------------ norm and inner product */

double scl_matrix_norm(const scl_matrix *a) {
  double largest = 0, squares = 0;
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->cols && !stops(i * a->cols + j); j++) {
      const double value = fabs(scl_matrix_get(a, i, j));
      if (isnan(value) || value > largest) largest = value;
    }
  if (!(largest > 0) || !isfinite(largest)) return largest;
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->cols && !stops(i * a->cols + j); j++) {
      const double share = scl_matrix_get(a, i, j) / largest;
      squares += share * share;
    }
  return largest * sqrt(squares);
}

/* Pairwise summation over rows; within a row from left to right. */
static double dot_rows(const scl_matrix *a, const scl_matrix *b, size_t first, size_t count) {
  if (count > 1)
    return dot_rows(a, b, first, count / 2) + dot_rows(a, b, first + count / 2, count - count / 2);
  double total = 0;
  for (size_t j = 0; count == 1 && j < a->cols && !stops(first * a->cols + j); j++)
    total += scl_matrix_get(a, first, j) * scl_matrix_get(b, first, j);
  return total;
}

double scl_matrix_dot(const scl_matrix *a, const scl_matrix *b) {
  return dot_rows(a, b, 0, a->rows);
}

/* In pieces, between which Ctrl-C is checked: the first write to new memory is slow, because the
 * system provides its pages then. */
void scl_matrix_fill(scl_matrix *a, double value) {
  enum { PIECE = 1 << 20 };
  const size_t count = a->rows * a->cols, size = scl_dtype_size(a->dtype);
  for (size_t first = 0; first < count && !scl_interrupted(); first += PIECE) {
    const size_t last = scl_min(first + PIECE, count);
    if (value == 0) memset((char *)a->data + first * size, 0, (last - first) * size);
    for (size_t i = first; value != 0 && i < last; i++)
      scl_set_number(a->data, a->dtype, i, value);
  }
}

/* ------------ products and eigenvalues */

/* Whether cblas can read the matrix: its rows, or those of its transpose, have adjacent numbers.
 * *leading = the leading dimension. */
static bool is_readable(const scl_matrix *a, bool *transposed, ptrdiff_t *leading) {
  *transposed = a->col_stride != 1 && a->row_stride == 1;
  *leading = *transposed ? a->col_stride : a->row_stride;
  const size_t width = *transposed ? a->rows : a->cols;
  return (*transposed || a->col_stride == 1) && *leading >= (ptrdiff_t)width &&
         *leading <= INT32_MAX;
}

/* A matrix of this dtype in a form that cblas reads: itself, or a packed copy. */
static scl_status blas_operand(const scl_matrix *a, scl_dtype dtype, scl_matrix *out,
                               bool *transposed, ptrdiff_t *leading, scl_error *error) {
  if (a->dtype == dtype && is_readable(a, transposed, leading)) {
    *out = scl_matrix_share(a);
    return SCL_STATUS_OK;
  }
  SCL_TRY(scl_matrix_create_raw(a->rows, a->cols, dtype, out, error));
  scl_matrix_assign(a, out);
  (void)is_readable(out, transposed, leading);
  return SCL_STATUS_OK;
}

scl_status scl_matrix_multiply(const scl_matrix *a, const scl_matrix *b, const scl_matrix *out,
                               scl_error *error) {
  scl_matrix left = {0}, right = {0};
  bool transpose_a = false, transpose_b = false;
  ptrdiff_t lda = 0, ldb = 0;
  if (a->cols == 0) {
    memset(out->data, 0, out->rows * out->cols * scl_dtype_size(out->dtype));
    return SCL_STATUS_OK;
  }
  scl_status status = blas_operand(a, out->dtype, &left, &transpose_a, &lda, error);
  if (status == SCL_STATUS_OK)
    status = blas_operand(b, out->dtype, &right, &transpose_b, &ldb, error);
  if (status == SCL_STATUS_OK)
    status =
        scl_gemm_interruptible(out->dtype, transpose_a, transpose_b, a->rows, b->cols, a->cols,
                               left.data, lda, right.data, ldb, out->data, out->row_stride, error);
  scl_matrix_release(&left);
  scl_matrix_release(&right);
  return status;
}

scl_status scl_matrix_eigenvalues(const scl_matrix *a, double *real, double *imaginary,
                                  bool *complex, scl_error *error) {
  bool symmetric = a->rows == a->cols;
  for (size_t i = 0; symmetric && i < a->rows; i++)
    for (size_t j = 0; symmetric && j < i; j++)
      symmetric = scl_matrix_get(a, i, j) == scl_matrix_get(a, j, i);
  scl_matrix copy;
  SCL_TRY(scl_matrix_create_raw(a->rows, a->rows, SCL_DTYPE_FLOAT64, &copy, error));
  scl_matrix_assign(a, &copy);
  const scl_status status = scl_eigenvalues(symmetric, a->rows, copy.data, real, imaginary, error);
  scl_matrix_release(&copy);
  *complex = false;
  for (size_t i = 0; status == SCL_STATUS_OK && !symmetric && i < a->rows; i++)
    *complex = *complex || imaginary[i] != 0;
  return status;
}

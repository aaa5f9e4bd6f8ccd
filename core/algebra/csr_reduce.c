/* Reductions of sparse rows, whose numbers that are not stored are 0. */
#include "algebra/csr_reduce.h"

#include <math.h>

void scl_csr_scale(scl_csr *a, double factor, bool quotient) {
  for (size_t k = 0; k < scl_csr_entries(a); k++)
    scl_set_number(a->values, a->dtype, k,
                   quotient ? scl_csr_value(a, (int64_t)k) / factor
                            : scl_csr_value(a, (int64_t)k) * factor);
}

void scl_csr_count(const scl_csr *a, bool down, double *counts) {
  for (size_t i = 0; i < a->rows; i++)
    for (int64_t k = a->starts[i]; k < a->starts[i + 1]; k++)
      counts[down ? (size_t)a->columns[k] : i]++;
}

/* out[place] for each stored number: the sum, or the least or largest of those that are stored;
 * counts: how many. */
static void reduce_stored(const scl_csr *a, scl_reducing what, bool down, double *out,
                          double *counts) {
  for (size_t i = 0; i < a->rows; i++)
    for (int64_t k = a->starts[i]; k < a->starts[i + 1]; k++) {
      const size_t at = down ? (size_t)a->columns[k] : i;
      const double value = scl_csr_value(a, k);
      if (what == SCL_SUM || what == SCL_MEAN)
        out[at] += value;
      else if (counts[at] == 0 || (what == SCL_LEAST ? value < out[at] : value > out[at]))
        out[at] = value;
      counts[at]++;
    }
}

/* With the numbers that are not stored. `each`: the numbers of a column or row. */
static double with_zeros(scl_reducing what, double value, double count, double each) {
  if (what == SCL_MEAN) return value / each;
  if (what == SCL_LEAST && count < each) return fmin(value, 0);
  if (what == SCL_MOST && count < each) return fmax(value, 0);
  return value;
}

double scl_csr_reduce(const scl_csr *a, scl_reducing what, bool down, double *out, double *counts) {
  const size_t places = down ? a->cols : a->rows;
  const double each = (double)(down ? a->rows : a->cols);
  double all = 0;
  reduce_stored(a, what, down, out, counts);
  for (size_t i = 0; i < places; i++) {
    out[i] = with_zeros(what, out[i], counts[i], each);
    if (what == SCL_SUM || what == SCL_MEAN)
      all += out[i];
    else if (i == 0 || (what == SCL_LEAST ? out[i] < all : out[i] > all))
      all = out[i];
  }
  return what == SCL_MEAN ? all / (double)places : all;
}

double scl_csr_norm(const scl_csr *a) {
  double largest = 0, total = 0;
  const int64_t first = a->rows == 0 ? 0 : a->starts[0];
  const size_t entries = scl_csr_entries(a);
  for (size_t k = 0; k < entries; k++)
    largest = fmax(largest, fabs(scl_csr_value(a, first + (int64_t)k)));
  for (size_t k = 0; k < entries && largest > 0; k++) {
    const double part = scl_csr_value(a, first + (int64_t)k) / largest;
    total += part * part;
  }
  return largest * sqrt(total);
}

static bool equal_rows(const scl_csr *a, const scl_csr *b, size_t i) {
  int64_t k = a->starts[i], l = b->starts[i];
  for (;;) {
    while (k < a->starts[i + 1] && scl_csr_value(a, k) == 0)
      k++;
    while (l < b->starts[i + 1] && scl_csr_value(b, l) == 0)
      l++;
    if (k == a->starts[i + 1] || l == b->starts[i + 1])
      return k == a->starts[i + 1] && l == b->starts[i + 1];
    if (a->columns[k] != b->columns[l] || scl_csr_value(a, k) != scl_csr_value(b, l)) return false;
    k++;
    l++;
  }
}

bool scl_csr_equal(const scl_csr *a, const scl_csr *b) {
  bool same = a->rows == b->rows && a->cols == b->cols;
  for (size_t i = 0; same && i < a->rows; i++)
    same = equal_rows(a, b, i);
  return same;
}

bool scl_csr_equal_matrix(const scl_csr *a, const scl_matrix *b) {
  bool same = a->rows == b->rows && a->cols == b->cols;
  for (size_t i = 0; same && i < a->rows; i++) {
    int64_t k = a->starts[i];
    for (size_t j = 0; same && j < a->cols; j++) {
      const bool stored = k < a->starts[i + 1] && (size_t)a->columns[k] == j;
      same = scl_matrix_get(b, i, j) == (stored ? scl_csr_value(a, k) : 0);
      k += stored;
    }
  }
  return same;
}

bool scl_csr_find_nonfinite(const scl_csr *a, size_t *row, size_t *col) {
  for (size_t i = 0; i < a->rows; i++)
    for (int64_t k = a->starts[i]; k < a->starts[i + 1]; k++)
      if (!isfinite(scl_csr_value(a, k))) {
        *row = i;
        *col = (size_t)a->columns[k];
        return true;
      }
  return false;
}

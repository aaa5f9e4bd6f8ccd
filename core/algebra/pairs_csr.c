/* Simple kernels of sparse rows. The set of rows v is stored twice: row by row, and column by column
 * with the rows that have a number there. Inner products are sums over the columns of u;
 *
 *   ||u - v||^2 = ||u||^2 + ||v||^2 - 2 <u, v>
 *   ||u - v||_1 = ||u||_1 + ||v||_1 + sum of |u_k - v_k| - |u_k| - |v_k| over common columns
 *
 * or a sum of the kernel's terms over common columns (slot `terms`). Where a difference above
 * cancels, the number of the pair is computed again term by term. For kernels of the cosine or the
 * angle all rows have length 1. */
#include "algebra/pairs_csr.h"

#include <math.h>
#include <string.h>

struct scl_pair_set {
  scl_csr rows;   /* v; of angles: v / ||v|| */
  int64_t *start; /* dim + 1: where a column begins below */
  int32_t *row;   /* ascending in a column */
  double *value;
  double *size; /* of each row: ||v||^2 or ||v||_1; of angles ||v|| times the kernel's scale */
};

bool scl_pair_kernel_takes_csr(const scl_pair_kernel *kernel) {
  if (kernel->table->gram != NULL) return kernel->table->terms != NULL;
  return kernel->table->move == NULL && kernel->scale >= 1e-50 && kernel->scale <= 1e50;
}

static bool has_terms(const scl_pair_kernel *kernel) { return kernel->table->gram != NULL; }

static bool is_angle(const scl_pair_kernel *kernel) {
  return !has_terms(kernel) && kernel->table->pair >= SCL_PAIR_COSINE;
}

/* ------------ one row */

/* ||x||, with the largest number divided out of the squares. */
static double length_of(size_t count, const double *x) {
  double high = 0, sum = 0;
  for (size_t k = 0; k < count; k++)
    high = fmax(high, fabs(x[k]));
  for (size_t k = 0; high > 0 && k < count; k++)
    sum += (x[k] / high) * (x[k] / high);
  return high * sqrt(sum);
}

/* The size of a row by the kernel's number. Of angles, x becomes x / ||x||. */
static double take_size(const scl_pair_kernel *kernel, size_t count, double *x) {
  double sum = 0;
  if (is_angle(kernel)) {
    const double length = length_of(count, x);
    for (size_t k = 0; length > 0 && k < count; k++)
      x[k] /= length;
    return length * kernel->scale;
  }
  for (size_t k = 0; k < count && !has_terms(kernel); k++)
    sum += kernel->table->pair == SCL_PAIR_ABSOLUTE_DISTANCE ? fabs(x[k]) : x[k] * x[k];
  return sum;
}

/* Numbers first .. end-1 of sparse rows. */
typedef struct sparse_row {
  const int32_t *columns;
  const double *values;
  size_t count;
} sparse_row;

static sparse_row row_of(const scl_csr *a, size_t i) {
  return (sparse_row){a->columns + a->starts[i], (const double *)a->values + a->starts[i],
                      (size_t)(a->starts[i + 1] - a->starts[i])};
}

/* The sum of |u_k - sign v_k|, or of its square, term by term. */
static double distance_of(sparse_row u, sparse_row v, double sign, bool squared) {
  double sum = 0;
  for (size_t i = 0, j = 0; i < u.count || j < v.count;) {
    const bool left = j == v.count || (i < u.count && u.columns[i] <= v.columns[j]),
               right = i == u.count || (j < v.count && v.columns[j] <= u.columns[i]);
    const double gap = (left ? u.values[i] : 0) - (right ? sign * v.values[j] : 0);
    sum += squared ? gap * gap : fabs(gap);
    i += left;
    j += right;
  }
  return sum;
}

/* ------------ the set */

/* Copy the numbers of v that are not 0. */
static scl_status copy_rows(const scl_pair_kernel *kernel, const scl_const_parameters *v,
                            scl_pair_set *set, scl_error *error) {
  size_t entries = 0;
  for (size_t i = 0; i < v->count; i++)
    for (size_t j = 0; j < v->dim; j++)
      entries += v->weights[(ptrdiff_t)i * v->stride + (ptrdiff_t)j] != 0;
  SCL_TRY(scl_csr_create(v->count, v->dim, entries, SCL_DTYPE_FLOAT64, &set->rows, error));
  set->size = scl_allocate_array(v->count + 1, sizeof *set->size);
  if (set->size == NULL) return scl_fail_memory(error, v->count * sizeof *set->size, "lengths");
  double *values = set->rows.values;
  for (size_t i = 0, at = 0; i < v->count; i++) {
    const size_t first = at;
    for (size_t j = 0; j < v->dim; j++) {
      const double x = v->weights[(ptrdiff_t)i * v->stride + (ptrdiff_t)j];
      if (x == 0) continue;
      set->rows.columns[at] = (int32_t)j;
      values[at++] = x;
    }
    set->rows.starts[i + 1] = (int64_t)at;
    set->size[i] = take_size(kernel, at - first, values + first);
  }
  return SCL_STATUS_OK;
}

/* The same of sparse rows. */
static scl_status copy_csr(const scl_pair_kernel *kernel, const scl_csr *v, scl_pair_set *set,
                           scl_error *error) {
  SCL_TRY(scl_csr_convert(v, SCL_DTYPE_FLOAT64, &set->rows, error));
  set->size = scl_allocate_array(v->rows + 1, sizeof *set->size);
  if (set->size == NULL) return scl_fail_memory(error, v->rows * sizeof *set->size, "lengths");
  for (size_t i = 0; i < v->rows; i++) {
    const int64_t first = set->rows.starts[i];
    set->size[i] = take_size(kernel, (size_t)(set->rows.starts[i + 1] - first),
                             (double *)set->rows.values + first);
  }
  return SCL_STATUS_OK;
}

/* The same numbers, column by column. */
static scl_status turn_rows(scl_pair_set *set, scl_error *error) {
  const scl_csr *rows = &set->rows;
  const size_t entries = scl_csr_entries(rows), dim = rows->cols;
  set->start = scl_allocate_zero((dim + 2) * sizeof *set->start);
  set->row = scl_allocate_array(entries + 1, sizeof *set->row);
  set->value = scl_allocate_array(entries + 1, sizeof *set->value);
  if (set->start == NULL || set->row == NULL || set->value == NULL)
    return scl_fail_memory(error, entries * 12 + dim * sizeof *set->start, "columns of parameters");
  for (size_t k = 0; k < entries; k++)
    set->start[rows->columns[k] + 1]++;
  for (size_t j = 0; j < dim; j++)
    set->start[j + 1] += set->start[j];
  for (size_t i = 0; i < rows->rows; i++)
    for (int64_t k = rows->starts[i]; k < rows->starts[i + 1]; k++) {
      const int64_t to = set->start[rows->columns[k]]++;
      set->row[to] = (int32_t)i;
      set->value[to] = ((const double *)rows->values)[k];
    }
  memmove(set->start + 1, set->start, dim * sizeof *set->start);
  set->start[0] = 0;
  return SCL_STATUS_OK;
}

/* From dense rows, or where v is NULL from sparse ones. */
static scl_status make_set(const scl_pair_kernel *kernel, const scl_const_parameters *v,
                           const scl_csr *rows, scl_pair_set **out, scl_error *error) {
  scl_pair_set *set = scl_allocate_zero(sizeof *set);
  if (set == NULL) return scl_fail_memory(error, sizeof *set, "rows of a kernel");
  scl_status status =
      v != NULL ? copy_rows(kernel, v, set, error) : copy_csr(kernel, rows, set, error);
  if (status == SCL_STATUS_OK) status = turn_rows(set, error);
  if (status == SCL_STATUS_OK)
    *out = set;
  else
    scl_pair_set_destroy(set);
  return status;
}

scl_status scl_pair_set_create(const scl_pair_kernel *kernel, const scl_const_parameters *v,
                               scl_pair_set **out, scl_error *error) {
  return make_set(kernel, v, NULL, out, error);
}

scl_status scl_pair_set_create_csr(const scl_pair_kernel *kernel, const scl_csr *v,
                                   scl_pair_set **out, scl_error *error) {
  return make_set(kernel, NULL, v, out, error);
}

void scl_pair_set_destroy(scl_pair_set *set) {
  if (set == NULL) return;
  scl_csr_release(&set->rows);
  SCL_RELEASE(set->start, set->row, set->value, set->size, set);
}

size_t scl_pair_set_bytes(const scl_pair_set *set) {
  return scl_csr_bytes(&set->rows) + scl_csr_entries(&set->rows) * 12 +
         set->rows.cols * sizeof *set->start + set->rows.rows * sizeof *set->size;
}

/* ------------ pairs */

/* What one row u meets: rows first .. first+count-1 of a set. */
typedef struct meeting {
  const scl_pair_kernel *kernel;
  const scl_pair_set *set;
  size_t first, count;
  double *terms; /* room for the numbers of a column of the set */
} meeting;

/* out[j] = the sum of the terms of u and v_j. */
static void meet_terms(const meeting *m, sparse_row u, double *out) {
  const scl_pair_set *set = m->set;
  memset(out, 0, m->count * sizeof *out);
  for (size_t k = 0; k < u.count; k++) {
    int64_t e = set->start[u.columns[k]], end = set->start[u.columns[k] + 1];
    while (e < end && (size_t)set->row[e] < m->first)
      e++;
    while (end > e && (size_t)set->row[end - 1] >= m->first + m->count)
      end--;
    if (e == end || u.values[k] == 0) continue;
    m->kernel->table->terms(m->kernel->self, u.values[k], (size_t)(end - e), set->value + e,
                            m->terms);
    for (const double *term = m->terms; e < end; e++)
      out[(size_t)set->row[e] - m->first] += *term++;
  }
}

/* out[j] = <u, v_j>; or, of absolute distances, the sum over common columns. */
static void meet(const meeting *m, sparse_row u, double *out) {
  const scl_pair_set *set = m->set;
  const bool absolute = m->kernel->table->pair == SCL_PAIR_ABSOLUTE_DISTANCE;
  memset(out, 0, m->count * sizeof *out);
  for (size_t k = 0; k < u.count; k++) {
    const double x = u.values[k];
    for (int64_t e = set->start[u.columns[k]]; e < set->start[u.columns[k] + 1]; e++) {
      const size_t j = (size_t)set->row[e] - m->first; /* wraps around below `first` */
      if (j >= m->count) continue;
      const double v = set->value[e];
      out[j] += absolute ? fabs(x - v) - fabs(x) - fabs(v) : x * v;
    }
  }
}

/* Turn them into distances, with the kernel's scale; a number that lost most of its digits is made
 * again. */
static void finish_distances(const meeting *m, sparse_row u, double size, bool squared,
                             double *out) {
  const double cancelled = 1e-6,
               scale = squared ? m->kernel->scale * m->kernel->scale : m->kernel->scale;
  for (size_t j = 0; j < m->count; j++) {
    const double both = size + m->set->size[m->first + j],
                 distance = squared ? both - 2 * out[j] : both + out[j];
    out[j] = distance > cancelled * both && both > 1e-280
                 ? distance
                 : distance_of(u, row_of(&m->set->rows, m->first + j), 1, squared);
    out[j] *= scale;
  }
}

/* Cosines that are near +-1 come from the chord, as in algebra/pairs.c. */
static void finish_angles(const meeting *m, sparse_row u, double length, double *out) {
  const bool radians = m->kernel->table->pair == SCL_PAIR_ANGLE;
  for (size_t j = 0; j < m->count; j++) {
    const sparse_row v = row_of(&m->set->rows, m->first + j);
    double cosine = length == 0 && m->set->size[m->first + j] == 0 ? 1 : out[j];
    if (fabs(cosine) < 0.999) {
      out[j] = radians ? acos(cosine) : cosine;
      continue;
    }
    const bool near = cosine > 0;
    const double square = distance_of(u, v, near ? 1 : -1, true),
                 small = 2 * asin(fmin(sqrt(square) / 2, 1));
    if (radians)
      out[j] = near ? small : SCL_PI - small;
    else
      out[j] = near ? 1 - square / 2 : square / 2 - 1;
  }
}

/* The numbers of one row, in place of which comes K. `values` has room for those of u. */
static void meet_row(const meeting *m, const scl_csr *rows, size_t i, double *values, double *out) {
  const scl_pair_kernel *kernel = m->kernel;
  const scl_pair pair = kernel->table->pair;
  const int64_t first = rows->starts[i];
  const sparse_row u = {rows->columns + first, values, (size_t)(rows->starts[i + 1] - first)};
  for (size_t k = 0; k < u.count; k++)
    values[k] = scl_csr_value(rows, first + (int64_t)k);
  if (has_terms(kernel)) {
    meet_terms(m, u, out);
    return;
  }
  const double size = take_size(kernel, u.count, values);
  scl_pair_row row = {.head = SCL_HEAD(scl_pair_row), .dim = rows->cols, .count = m->count};
  if (pair == SCL_PAIR_NONE)
    memset(out, 0, m->count * sizeof *out);
  else
    meet(m, u, out);
  if (is_angle(kernel)) {
    finish_angles(m, u, size, out);
    row.length_u = size;
    row.lengths_v = m->set->size + m->first;
  } else if (pair == SCL_PAIR_DOT) {
    for (size_t j = 0; j < m->count; j++)
      out[j] *= kernel->scale * kernel->scale;
  } else if (pair != SCL_PAIR_NONE) {
    finish_distances(m, u, size, pair == SCL_PAIR_SQUARED_DISTANCE, out);
  }
  if (kernel->table->finish != NULL) kernel->table->finish(kernel->self, &row, out);
}

scl_status scl_pair_set_gram(const scl_pair_kernel *kernel, const scl_csr *rows,
                             const scl_pair_set *set, size_t first, size_t count, double *out,
                             ptrdiff_t stride, scl_error *error) {
  size_t most = 0;
  for (size_t i = 0; i < rows->rows; i++)
    most = scl_max(most, (size_t)(rows->starts[i + 1] - rows->starts[i]));
  double *values = scl_allocate_array(most + set->rows.rows + 1, sizeof *values);
  if (values == NULL) return scl_fail_memory(error, most * sizeof *values, "a row");
  const meeting m = {kernel, set, first, count, values + most};
  for (size_t i = 0; i < rows->rows; i++)
    meet_row(&m, rows, i, values, out + (ptrdiff_t)i * stride);
  scl_release(values);
  return SCL_STATUS_OK;
}

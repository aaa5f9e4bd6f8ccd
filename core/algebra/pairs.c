/* Gram matrices of kernels in the simple form. Dense rows: one matrix product for all pairs, then
 * corrections term by term where it cancels or overflows. Sparse rows and thresholds: pair by
 * pair. */
#include "algebra/pairs.h"

#include "algebra/row_products.h"
#include "base/interrupt.h"
#include "base/loops.h"
#include <math.h>
#include <string.h>

/* ------------ parameters */

static const double *parameter_row(const scl_const_parameters *p, size_t i) {
  return p->weights + (ptrdiff_t)i * p->stride;
}
static const int32_t *parameter_support(const scl_const_parameters *p, size_t i) {
  return p->support + (ptrdiff_t)i * p->support_stride;
}

/* Number of coordinates of parameter i: d, or its in-degree. */
static size_t parameter_degree(const scl_const_parameters *p, size_t i) {
  if (p->support == NULL) return p->dim;
  const int32_t *support = parameter_support(p, i);
  size_t degree = 0;
  while (degree < p->integers && support[degree] >= 0)
    degree++;
  return degree;
}

/* Whether v_j has the support of a parameter with these columns. */
static bool same_support(const int32_t *columns, size_t degree, const scl_const_parameters *v,
                         size_t j) {
  const int32_t *support = parameter_support(v, j);
  if (degree > v->integers) return false;
  for (size_t k = 0; k < degree; k++)
    if (support[k] != columns[k]) return false;
  return degree == v->integers || support[degree] < 0;
}

/* Apply the kernel's function to the numbers of `count` pairs, in place. */
static void pairs_finish(const scl_pair_kernel *kernel, size_t dim, size_t count, double *numbers) {
  const scl_pair_row row = {.head = SCL_HEAD(scl_pair_row), .dim = dim, .count = count};
  if (kernel->table->finish != NULL) kernel->table->finish(kernel->self, &row, numbers);
}

/* ------------ the number of one pair, term by term */

/* scale^2 <u, v>, for rows whose products overflow: both are divided by their largest entries
 * first. */
static double scaled_dot(size_t count, const double *u, const double *v, double scale) {
  double high_u = 0, high_v = 0, sum = 0;
  for (size_t k = 0; k < count; k++) {
    high_u = fmax(high_u, fabs(u[k]));
    high_v = fmax(high_v, fabs(v[k]));
  }
  if (high_u == 0 || high_v == 0) return 0;
  for (size_t k = 0; k < count; k++)
    sum += (u[k] / high_u) * (v[k] / high_v);
  return (high_u * scale) * sum * (high_v * scale);
}

/* scale^2 <u, v> */
static double pair_dot(size_t count, const double *u, const double *v, double scale) {
  double sum = 0;
  for (size_t k = 0; k < count; k++)
    sum += (u[k] * scale) * (v[k] * scale);
  return isfinite(sum) ? sum : scaled_dot(count, u, v, scale);
}

/* scale^2 ||u - v||^2. The difference is scaled, not the rows, so that a large scale does not
 * overflow for rows that are close. */
static double squared_distance(size_t count, const double *u, const double *v, double scale) {
  double sum = 0;
  for (size_t k = 0; k < count; k++) {
    const double gap = (u[k] - v[k]) * scale;
    sum += gap * gap;
  }
  return sum;
}

static double absolute_distance(size_t count, const double *u, const double *v, double scale) {
  double sum = 0;
  for (size_t k = 0; k < count; k++)
    sum += fabs((u[k] - v[k]) * scale);
  return sum;
}

/* The number of one pair that the kernel is a function of. */
static double pair_number(const scl_pair_kernel *kernel, size_t count, const double *u,
                          const double *v) {
  switch (kernel->table->pair) {
  case SCL_PAIR_DOT:
    return pair_dot(count, u, v, kernel->scale);
  case SCL_PAIR_SQUARED_DISTANCE:
    return squared_distance(count, u, v, kernel->scale);
  case SCL_PAIR_ABSOLUTE_DISTANCE:
    return absolute_distance(count, u, v, kernel->scale);
  default:
    return 0;
  }
}

/* ------------ sparse rows and thresholds */

/* The Gram matrix on sparse rows and thresholds: 0 where the supports differ, also if the
 * kernel's finish maps 0 to another number. */
static void gram_of_supports(const scl_pair_kernel *kernel, const scl_const_parameters *u,
                             const scl_const_parameters *v, double *out, ptrdiff_t stride) {
  enum { CHUNK = 256 };
  unsigned char same[CHUNK];
  for (size_t i = 0; i < u->count; i++) {
    const int32_t *columns = parameter_support(u, i);
    const size_t degree = parameter_degree(u, i);
    for (size_t first = 0; first < v->count; first += CHUNK) {
      const size_t count = scl_min(CHUNK, v->count - first);
      double *row = out + (ptrdiff_t)i * stride + (ptrdiff_t)first;
      for (size_t j = 0; j < count; j++) {
        same[j] = same_support(columns, degree, v, first + j);
        row[j] = same[j]
                     ? pair_number(kernel, degree, parameter_row(u, i), parameter_row(v, first + j))
                     : 0;
      }
      pairs_finish(kernel, u->dim, count, row);
      for (size_t j = 0; j < count; j++)
        if (!same[j]) row[j] = 0;
    }
  }
}

/* ------------ dense rows, prepared for products */

/* Rows in the form that the products use. They are copied, times the scale, if the kernel moves
 * them, or if its scale is so far from 1 that products without it would overflow or underflow.
 * Otherwise they are the parameters themselves, and the products are scaled afterwards. */
typedef struct meeting {
  const double *data;
  ptrdiff_t stride;
  double *memory;
  /* Rows to be compared term by term, with differences multiplied by plain_scale: the parameters
   * themselves, so that a large scale is only applied to differences; or the moved copies. */
  const double *plain;
  ptrdiff_t plain_stride;
  double plain_scale;
} meeting;

static bool needs_copy(const scl_pair_kernel *kernel) {
  return kernel->table->move != NULL || kernel->scale < 1e-50 || kernel->scale > 1e50;
}

/* Prepare rows; the caller releases out->memory. */
static scl_status rows_as_they_meet(const scl_pair_kernel *kernel, const scl_const_parameters *p,
                                    meeting *out, scl_error *error) {
  *out = (meeting){p->weights, p->stride, NULL, p->weights, p->stride, kernel->scale};
  if (!needs_copy(kernel)) return SCL_STATUS_OK;
  double *copy = scl_allocate_array(p->count * p->dim + 1, sizeof *copy);
  if (copy == NULL) return scl_fail_memory(error, p->count * p->dim * sizeof *copy, "rows");
  for (size_t i = 0; i < p->count; i++)
    for (size_t k = 0; k < p->dim; k++)
      copy[i * p->dim + k] = parameter_row(p, i)[k] * kernel->scale;
  if (kernel->table->move != NULL) kernel->table->move(kernel->self, p->count * p->dim, copy);
  out->data = out->memory = copy;
  out->stride = (ptrdiff_t)p->dim;
  if (kernel->table->move == NULL) return SCL_STATUS_OK;
  out->plain = copy;
  out->plain_stride = out->stride;
  out->plain_scale = 1;
  return SCL_STATUS_OK;
}

/* out = ||u_i - v_j||_1, for a panel of SCL_PANEL rows of v at a time, which is transposed so that
 * the loop over j reads adjacent numbers. */
static scl_status absolute_distances(size_t rows, size_t cols, size_t dim, const meeting *u,
                                     const meeting *v, double *out, ptrdiff_t stride,
                                     scl_error *error) {
  const scl_loops *loops = scl_loops_get();
  double *panel = scl_allocate_array((dim + 1) * SCL_PANEL, sizeof *panel);
  if (panel == NULL) return scl_fail_memory(error, dim * SCL_PANEL * sizeof *panel, "distances");
  for (size_t first = 0; first < cols; first += SCL_PANEL) {
    const size_t count = scl_min(SCL_PANEL, cols - first);
    for (size_t k = 0; k < dim; k++)
      for (size_t j = 0; j < SCL_PANEL; j++)
        panel[k * SCL_PANEL + j] =
            j < count ? v->data[(ptrdiff_t)(first + j) * v->stride + (ptrdiff_t)k] : 0;
    loops->absolute_panel_f64(rows, dim, u->data, u->stride, panel, count, out + first, stride);
  }
  scl_release(panel);
  return SCL_STATUS_OK;
}

static double square_of(size_t dim, const double *x) {
  double sum = 0;
  for (size_t k = 0; k < dim; k++)
    sum += x[k] * x[k];
  return sum;
}

/* Change a row of inner products into squared distances, ||u||^2 + ||v||^2 - 2 <u, v>. Where that
 * cancels (nearly equal rows) or leaves the range of float64, the distance is computed term by
 * term. */
static void squares_from_dots(size_t dim, const double *u, double square_u, const meeting *v,
                              size_t count, const double *squares_v, double *row) {
  const double cancelled = 1e-6, tiny = 1e-280;
  size_t doubtful = 0;
  for (size_t j = 0; j < count; j++) {
    const double both = square_u + squares_v[j], distance = both - 2 * row[j];
    row[j] = distance > cancelled * both && both > tiny && isfinite(distance) ? distance : -1;
    doubtful += row[j] < 0;
  }
  for (size_t j = 0; doubtful > 0 && j < count; j++)
    if (row[j] < 0)
      row[j] = squared_distance(dim, u, v->plain + (ptrdiff_t)j * v->plain_stride, v->plain_scale);
}

/* out = the inner products of all pairs, or their squared distances, from one matrix product.
 * Entries that overflowed, or cancelled, are computed again term by term. */
static scl_status pair_products(const scl_pair_kernel *kernel, const scl_const_parameters *u,
                                const scl_const_parameters *v, const meeting *left,
                                const meeting *right, double *out, ptrdiff_t stride,
                                scl_error *error) {
  const double rest =
      needs_copy(kernel) ? 1 : kernel->scale; /* the factor not applied to the rows yet */
  const double alpha = rest * rest;
  double *squares = NULL;
  if (kernel->table->pair == SCL_PAIR_SQUARED_DISTANCE) {
    squares = scl_allocate_array(v->count + 1, sizeof *squares);
    if (squares == NULL) return scl_fail_memory(error, v->count * sizeof *squares, "lengths");
    for (size_t j = 0; j < v->count; j++)
      squares[j] = alpha * square_of(u->dim, right->data + (ptrdiff_t)j * right->stride);
  }
  scl_row_gemm(SCL_DTYPE_FLOAT64, true, u->count, v->count, u->dim, alpha, left->data, left->stride,
               right->data, right->stride, 0, out, stride);
  for (size_t i = 0; i < u->count; i++) {
    double *row = out + (ptrdiff_t)i * stride;
    const double *x = left->data + (ptrdiff_t)i * left->stride;
    if (squares != NULL) {
      squares_from_dots(u->dim, left->plain + (ptrdiff_t)i * left->plain_stride,
                        alpha * square_of(u->dim, x), right, v->count, squares, row);
      continue;
    }
    for (size_t j = 0; j < v->count; j++)
      if (!isfinite(row[j]))
        row[j] = scaled_dot(u->dim, x, right->data + (ptrdiff_t)j * right->stride, rest);
  }
  scl_release(squares);
  return SCL_STATUS_OK;
}

/* out = the number of each pair of dense rows that the kernel is a function of. */
static scl_status numbers_of_rows(const scl_pair_kernel *kernel, const scl_const_parameters *u,
                                  const scl_const_parameters *v, double *out, ptrdiff_t stride,
                                  scl_error *error) {
  meeting left = {0}, right = {0};
  if (kernel->table->pair == SCL_PAIR_NONE || u->dim == 0) {
    for (size_t i = 0; i < u->count; i++)
      memset(out + (ptrdiff_t)i * stride, 0, v->count * sizeof *out);
    return SCL_STATUS_OK;
  }
  SCL_TRY(rows_as_they_meet(kernel, u, &left, error));
  scl_status status = rows_as_they_meet(kernel, v, &right, error);
  if (status == SCL_STATUS_OK && kernel->table->pair == SCL_PAIR_ABSOLUTE_DISTANCE) {
    status = absolute_distances(u->count, v->count, u->dim, &left, &right, out, stride, error);
    for (size_t i = 0; status == SCL_STATUS_OK && !needs_copy(kernel) && i < u->count; i++)
      for (size_t j = 0; j < v->count; j++)
        out[(ptrdiff_t)i * stride + (ptrdiff_t)j] *= kernel->scale;
  } else if (status == SCL_STATUS_OK) {
    status = pair_products(kernel, u, v, &left, &right, out, stride, error);
  }
  scl_release(left.memory);
  scl_release(right.memory);
  return status;
}

/* ------------ dense rows by length and angle */

/* Rows divided by their lengths; exact whatever the size of the numbers. */
typedef struct directions {
  double *unit; /* count x dim, and behind them the lengths */
  double *length;
} directions;

/* unit = x / ||x|| (zeros for a row of zeros). Returns ||x||. Numbers are divided by the largest
 * one first, so that squares neither overflow nor vanish. */
static double make_unit(size_t dim, const double *x, double *unit) {
  double high = 0, square = 0;
  for (size_t k = 0; k < dim; k++)
    high = fmax(high, fabs(x[k]));
  for (size_t k = 0; k < dim; k++) {
    unit[k] = high > 0 ? x[k] / high : 0;
    square += unit[k] * unit[k];
  }
  const double root = sqrt(square), inverse = 1 / root;
  for (size_t k = 0; high > 0 && k < dim; k++)
    unit[k] *= inverse;
  return high * root;
}

/* The unit vector and the length, times the kernel's scale, of each parameter. The caller releases
 * out->unit, which is one block of memory with the lengths. */
static scl_status make_directions(const scl_pair_kernel *kernel, const scl_const_parameters *p,
                                  directions *out, scl_error *error) {
  const size_t numbers = p->count * (p->dim + 1) + 1;
  out->unit = scl_allocate_array(numbers, sizeof *out->unit);
  if (out->unit == NULL) return scl_fail_memory(error, numbers * sizeof *out->unit, "rows");
  out->length = out->unit + p->count * p->dim;
  for (size_t i = 0; i < p->count; i++)
    out->length[i] = kernel->scale * make_unit(p->dim, parameter_row(p, i), out->unit + i * p->dim);
  return SCL_STATUS_OK;
}

/* Near angles 0 and pi the cosine has lost the digits of the angle, and rounding may move it
 * beyond +-1: there the angle comes from the chord, 2 sin(angle/2) = ||u - v||. */
static double exact_angle(bool radians, size_t dim, const double *u, const double *v,
                          double cosine) {
  const double near = 0.999;
  if (fabs(cosine) < near) return radians ? acos(cosine) : cosine;
  double square = 0;
  for (size_t k = 0; k < dim; k++) {
    const double gap = cosine > 0 ? u[k] - v[k] : u[k] + v[k];
    square += gap * gap;
  }
  const double small = 2 * asin(fmin(sqrt(square) / 2, 1));
  if (radians) return cosine > 0 ? small : SCL_PI - small;
  return cosine > 0 ? 1 - square / 2 : square / 2 - 1;
}

/* pairs_finish for kernels that also get the lengths of both rows. */
static void finish_angles(const scl_pair_kernel *kernel, size_t dim, double length_u, size_t count,
                          const double *lengths_v, double *numbers) {
  const scl_pair_row row = {SCL_HEAD(scl_pair_row), dim, count, length_u, lengths_v};
  if (kernel->table->finish != NULL) kernel->table->finish(kernel->self, &row, numbers);
}

/* The Gram matrix of kernels of the cosine or the angle, from products of unit vectors. Two rows
 * of zeros have cosine 1. */
static scl_status gram_of_angles(const scl_pair_kernel *kernel, const scl_const_parameters *u,
                                 const scl_const_parameters *v, double *out, ptrdiff_t stride,
                                 scl_error *error) {
  const bool radians = kernel->table->pair == SCL_PAIR_ANGLE;
  const size_t dim = u->dim;
  directions left = {0}, right = {0};
  SCL_TRY(make_directions(kernel, u, &left, error));
  scl_status status = make_directions(kernel, v, &right, error);
  if (status == SCL_STATUS_OK)
    scl_row_gemm(SCL_DTYPE_FLOAT64, true, u->count, v->count, dim, 1, left.unit, (ptrdiff_t)dim,
                 right.unit, (ptrdiff_t)dim, 0, out, stride);
  for (size_t i = 0; status == SCL_STATUS_OK && i < u->count; i++) {
    double *row = out + (ptrdiff_t)i * stride;
    for (size_t j = 0; j < v->count; j++) {
      const bool zeros = left.length[i] == 0 && right.length[j] == 0;
      row[j] =
          exact_angle(radians, dim, left.unit + i * dim, right.unit + j * dim, zeros ? 1 : row[j]);
    }
    finish_angles(kernel, dim, left.length[i], v->count, right.length, row);
  }
  scl_release(left.unit);
  scl_release(right.unit);
  return status;
}

/* A row and itself: cosine 1, angle 0. */
static scl_status diagonal_of_angles(const scl_pair_kernel *kernel, const scl_const_parameters *u,
                                     double *out, scl_error *error) {
  directions rows = {0};
  SCL_TRY(make_directions(kernel, u, &rows, error));
  for (size_t i = 0; i < u->count; i++) {
    out[i] = kernel->table->pair == SCL_PAIR_ANGLE ? 0 : 1;
    finish_angles(kernel, u->dim, rows.length[i], 1, &rows.length[i], &out[i]);
  }
  scl_release(rows.unit);
  return SCL_STATUS_OK;
}

/* ------------ the kernels */

scl_status scl_pairs_gram(const scl_pair_kernel *kernel, const scl_const_parameters *u,
                          const scl_const_parameters *v, double *out, ptrdiff_t stride,
                          scl_error *error) {
  if (u->support != NULL) {
    gram_of_supports(kernel, u, v, out, stride);
    return SCL_STATUS_OK;
  }
  if (kernel->table->pair >= SCL_PAIR_COSINE)
    return gram_of_angles(kernel, u, v, out, stride, error);
  SCL_TRY(numbers_of_rows(kernel, u, v, out, stride, error));
  for (size_t i = 0; i < u->count; i++)
    pairs_finish(kernel, u->dim, v->count, out + (ptrdiff_t)i * stride);
  return SCL_STATUS_OK;
}

scl_status scl_pairs_diagonal(const scl_pair_kernel *kernel, const scl_const_parameters *u,
                              double *out, scl_error *error) {
  const bool is_dot = kernel->table->pair == SCL_PAIR_DOT, dense = u->support == NULL;
  meeting rows = {.data = u->weights, .stride = u->stride};
  if (kernel->table->pair >= SCL_PAIR_COSINE) return diagonal_of_angles(kernel, u, out, error);
  if (is_dot && dense) SCL_TRY(rows_as_they_meet(kernel, u, &rows, error));
  const double scale = rows.memory == NULL ? kernel->scale : 1;
  for (size_t i = 0; i < u->count; i++) {
    const double *x = rows.data + (ptrdiff_t)i * rows.stride;
    out[i] = is_dot ? pair_dot(parameter_degree(u, i), x, x, scale) : 0;
  }
  scl_release(rows.memory);
  pairs_finish(kernel, u->dim, u->count, out);
  return SCL_STATUS_OK;
}

/* ------------ distances of the rows of matrices */

static void take_roots(const void *self, const scl_pair_row *row, double *numbers) {
  (void)self;
  for (size_t j = 0; j < row->count; j++)
    numbers[j] = sqrt(numbers[j]);
}

/* Rows of float64 as parameters. */
static scl_const_parameters rows_of(const scl_matrix *x) {
  return (scl_const_parameters){.head = SCL_HEAD(scl_const_parameters),
                                .count = x->rows,
                                .dim = x->cols,
                                .reals = x->cols,
                                .weights = x->data,
                                .stride = x->row_stride};
}

/* Some rows at a time, so that Ctrl-C is heeded. Alone: of x and itself, j < i is also i < j. */
static scl_status distances_of_rows(const scl_matrix *x, const scl_matrix *y, bool alone,
                                    const scl_matrix *out, scl_error *error) {
  enum { ROWS = 256 };
  const scl_kernel euclidean = {.pair = SCL_PAIR_SQUARED_DISTANCE, .finish = take_roots};
  const scl_pair_kernel kernel = {&euclidean, NULL, 1};
  scl_const_parameters u = rows_of(x), v = rows_of(y);
  for (size_t first = 0; first < x->rows && y->rows > 0; first += ROWS) {
    u.count = scl_min(ROWS, x->rows - first);
    u.weights = scl_matrix_row(x, first);
    if (alone) v.count = first + u.count;
    SCL_TRY(scl_interrupt_check(error));
    SCL_TRY(scl_pairs_gram(&kernel, &u, &v, scl_matrix_row(out, first), out->row_stride, error));
  }
  for (size_t i = 0; alone && i < x->rows; i++)
    for (size_t j = i + 1; j < x->rows; j++)
      scl_matrix_row(out, i)[j] = scl_matrix_row(out, j)[i];
  return SCL_STATUS_OK;
}

scl_status scl_matrix_distances(const scl_matrix *x, const scl_matrix *y, const scl_matrix *out,
                                scl_error *error) {
  if (x->cols != y->cols)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE, "distances: rows of %zu and of %zu numbers",
                    x->cols, y->cols);
  scl_matrix left, right;
  SCL_TRY(scl_matrix_copy(x, SCL_DTYPE_FLOAT64, &left, error));
  scl_status status = scl_matrix_copy(y, SCL_DTYPE_FLOAT64, &right, error);
  if (status == SCL_STATUS_OK) {
    status = distances_of_rows(&left, &right, x == y, out, error);
    scl_matrix_release(&right);
  }
  scl_matrix_release(&left);
  return status;
}

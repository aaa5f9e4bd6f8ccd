/* With shares h_i and responses t_i,
 *
 *   min_{a,b} (1/2) sum_i h_i (t_i - x_i'a - b)^2 + l1 ||a||_1 + (l2/2) ||a||^2
 *
 * by coordinate descent (Friedman, Hastie and Tibshirani 2010) in a random order of the columns.
 * With H = sum_i h_i, m_j = sum_i h_i x_ij/H and the rests r_i = t_i - x_i'a, the best constant is
 * b = sum_i h_i r_i/H, and in terms of it column j has the slope and the curvature
 *
 *   sum_i h_i x_ij r_i - b H m_j,   sum_i h_i x_ij^2 - H m_j^2,
 *
 * those of centred columns, which are never formed: a move of a_j by d changes b by -d m_j. */
#include "shared/column_descent.h"

/* ------------ columns of rows */

scl_status csc_of(const scl_host *host, const scl_const_csr *rows, csc_columns *out,
                  scl_error *error) {
  const size_t n = rows->rows, d = rows->cols,
               entries = n == 0 ? 0 : (size_t)(rows->starts[n] - rows->starts[0]);
  *out = (csc_columns){.rows = n, .cols = d};
  if (n <= INT32_MAX) {
    out->starts = host->scratch((d + 2) * sizeof *out->starts);
    out->places = host->scratch((entries + 1) * sizeof *out->places);
    out->values = host->scratch((entries + 1) * sizeof *out->values);
  }
  if (out->starts == NULL || out->places == NULL || out->values == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY,
                      "not enough memory for the columns of %zu rows with %zu numbers", n, entries);
  int64_t *next = out->starts + 1; /* where the next number of a column goes; at last its end */
  memset(out->starts, 0, (d + 2) * sizeof *out->starts);
  for (size_t i = 0; i < n; i++)
    for (int64_t k = rows->starts[i]; k < rows->starts[i + 1]; k++)
      next[rows->columns[k] + 1]++;
  for (size_t j = 1; j <= d; j++)
    next[j] += next[j - 1];
  for (size_t i = 0; i < n; i++)
    for (int64_t k = rows->starts[i]; k < rows->starts[i + 1]; k++) {
      const int64_t to = next[rows->columns[k]]++;
      out->places[to] = (int32_t)i;
      out->values[to] = scl_csr_number(rows, k);
    }
  return SCL_STATUS_OK;
}

/* ------------ sums of columns */

scl_status column_open(column_descent *c, const scl_host *host, const csc_columns *x,
                       scl_error *error) {
  const size_t d = x->cols;
  *c = (column_descent){.host = host, .x = x};
  c->rows = host->scratch((x->rows + 1) * sizeof *c->rows);
  c->a = host->scratch((4 * d + 1) * sizeof *c->a);
  c->places = host->scratch((d + 1) * sizeof *c->places);
  if (c->rows == NULL || c->a == NULL || c->places == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients", d);
  c->mean = c->a + d;
  c->bend = c->mean + d;
  c->slope = c->bend + d;
  memset(c->a, 0, d * sizeof *c->a);
  return SCL_STATUS_OK;
}

/* Columns of a task. */
enum { COLUMN_TASK = 256 };

static size_t column_end(const csc_columns *x, size_t first) {
  return first + COLUMN_TASK < x->cols ? first + COLUMN_TASK : x->cols;
}

static scl_status column_measure_task(void *context, size_t task, scl_error *error) {
  const column_descent *c = context;
  const csc_columns *x = c->x;
  (void)error;
  for (size_t j = task * COLUMN_TASK; j < column_end(x, task * COLUMN_TASK); j++) {
    double sum = 0, square = 0, along = 0;
    for (int64_t k = x->starts[j]; k < x->starts[j + 1]; k++) {
      const column_row *row = &c->rows[x->places[k]];
      const double part = row->share * x->values[k];
      sum += part;
      square += part * x->values[k];
      along += part * row->rest;
    }
    c->mean[j] = c->constant && c->total > 0 ? sum / c->total : 0;
    c->bend[j] = square - c->total * c->mean[j] * c->mean[j];
    if (!(c->bend[j] > 1e-12 * square)) c->bend[j] = 0; /* rounding: a constant column */
    c->slope[j] = c->bend[j] > 0 ? along - c->at * c->total * c->mean[j] : 0;
  }
  return SCL_STATUS_OK;
}

static scl_status column_all(const column_descent *c, scl_job task, scl_error *error) {
  return c->host->parallel((c->x->cols + COLUMN_TASK - 1) / COLUMN_TASK, task, (void *)c, error);
}

scl_status column_measure(column_descent *c, double at, scl_error *error) {
  double along = 0;
  c->at = at;
  c->total = 0;
  for (size_t i = 0; i < c->x->rows; i++) {
    c->total += c->rows[i].share;
    along += c->rows[i].share * c->rows[i].rest;
  }
  c->shift = c->constant && c->total > 0 ? along / c->total : 0;
  return column_all(c, column_measure_task, error);
}

static double column_slope(const column_descent *c, size_t j) {
  const csc_columns *x = c->x;
  double sum[2] = {0};
  int64_t k = x->starts[j];
  for (; k + 1 < x->starts[j + 1]; k += 2) {
    const column_row *one = &c->rows[x->places[k]], *two = &c->rows[x->places[k + 1]];
    sum[0] += one->share * x->values[k] * one->rest;
    sum[1] += two->share * x->values[k + 1] * two->rest;
  }
  for (; k < x->starts[j + 1]; k++)
    sum[0] += c->rows[x->places[k]].share * x->values[k] * c->rows[x->places[k]].rest;
  return sum[0] + sum[1] - c->shift * c->total * c->mean[j];
}

static scl_status column_slopes_task(void *context, size_t task, scl_error *error) {
  const column_descent *c = context;
  (void)error;
  for (size_t j = task * COLUMN_TASK; j < column_end(c->x, task * COLUMN_TASK); j++)
    c->slope[j] = c->bend[j] > 0 ? column_slope(c, j) : 0;
  return SCL_STATUS_OK;
}

scl_status column_slopes(const column_descent *c, scl_error *error) {
  return column_all(c, column_slopes_task, error);
}

double column_square(const column_descent *c) {
  double sum = 0;
  for (size_t i = 0; i < c->x->rows; i++) {
    const double rest = c->rows[i].rest - c->shift;
    sum += c->rows[i].share * rest * rest;
  }
  return sum;
}

/* ------------ descent */

void column_choose(column_descent *c) {
  c->count = 0;
  for (size_t j = 0; j < c->x->cols; j++)
    if (c->bend[j] > 0 && (c->a[j] != 0 || fabs(c->slope[j]) > c->l1)) c->places[c->count++] = j;
}

/* Moves a_j to its best value. Returns by how much that lowers the objective, at least. */
static double column_move(column_descent *c, size_t j) {
  const csc_columns *x = c->x;
  const double before = c->a[j], whole = c->bend[j] + c->l2,
               pull = column_slope(c, j) + c->bend[j] * before,
               to = copysign(fmax(0, fabs(pull) - c->l1), pull) / whole, by = to - before;
  if (by == 0) return 0;
  c->a[j] = to;
  c->shift -= by * c->mean[j];
  for (int64_t k = x->starts[j]; k < x->starts[j + 1]; k++)
    c->rows[x->places[k]].rest -= by * x->values[k];
  return whole / 2 * by * by;
}

/* Fisher and Yates by the numbers of the pass. In the order of the columns, which is often that of
 * how frequent they are, descent takes several times as many passes. */
static void column_shuffle(column_descent *c) {
  enum { DRAWN = 512 };
  uint64_t bits[DRAWN];
  for (size_t at = 0; at < c->count; at++) {
    if (at % DRAWN == 0) c->host->random->bits(0, 0, c->passes, at, DRAWN, bits);
    const size_t other = at + (size_t)(((bits[at % DRAWN] >> 32) * (c->count - at)) >> 32),
                 place = c->places[at];
    c->places[at] = c->places[other];
    c->places[other] = place;
  }
  c->passes++;
}

double column_pass(column_descent *c) {
  double gain = 0;
  column_shuffle(c);
  for (size_t at = 0; at < c->count; at++)
    gain += column_move(c, c->places[at]);
  return gain;
}

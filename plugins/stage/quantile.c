/* Each column x becomes its place among the values of the rows of the fit,
 *
 *   u = F(x),  F the distribution function of the column, from 0 to 1,
 *
 * or z = the normal quantile of u. F is linear between K quantiles of equally spaced levels; at a
 * value that several quantiles have it is the middle of their levels. u is 0 below the smallest
 * value and 1 above the largest. For z, u is cut to [1e-7, 1 - 1e-7].
 *
 * Quantiles are those of all rows, or of a sample if there are more: one row of each of `sample`
 * equal stretches of the rows. Their levels are then right to about 1/(2 sqrt(sample)). */
#include <scullery/plugin.h>

#include <stdlib.h>

enum { OUTPUT_UNIFORM, OUTPUT_NORMAL };

typedef struct quantile {
  scl_base base;
  size_t knots, sample, seed;
  int32_t output;
} quantile;

static const scl_option options[] = {
    SCL_WORD(quantile, output, "uniform|normal", "uniform",
             "uniform: numbers from 0 to 1; normal: their normal quantiles"),
    SCL_INTEGER(quantile, knots, "1000", "quantiles of each column, at most one for each row",
                SCL_WITHIN(2, 1e6)),
    SCL_INTEGER(quantile, sample, "10000", "rows at most that the quantiles are learnt from",
                SCL_WITHIN(2, 1e8)),
    SCL_INTEGER(quantile, seed, "0", "seed of the sample", SCL_WITHIN(0, 9007199254740992))};

/* ------------ learning */

typedef struct learning {
  const scl_host *host;
  const double *rows; /* m x d */
  double *values;     /* knots x d */
  size_t m, d, knots;
} learning;

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* Task: the quantiles of column j, by linear interpolation between the sorted values. */
static scl_status learn_column(void *context, size_t j, scl_error *error) {
  const learning *l = context;
  double *sorted = l->host->scratch(l->m * sizeof *sorted);
  if (sorted == NULL)
    return l->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory to sort a column");
  for (size_t i = 0; i < l->m; i++)
    sorted[i] = l->rows[i * l->d + j];
  qsort(sorted, l->m, sizeof *sorted, ascending);
  for (size_t k = 0; k < l->knots; k++) {
    const double at = (double)k / (double)(l->knots - 1) * (double)(l->m - 1);
    const size_t low = (size_t)at < l->m - 1 ? (size_t)at : l->m - 2;
    const double part = at - (double)low, a = sorted[low], b = sorted[low + 1];
    l->values[k * l->d + j] = a == b ? a : (1 - part) * a + part * b;
  }
  for (size_t k = 1; k < l->knots; k++) /* rounding must not put them out of order */
    l->values[k * l->d + j] = fmax(l->values[k * l->d + j], l->values[(k - 1) * l->d + j]);
  return SCL_STATUS_OK;
}

/* One row of each of m equal stretches of n rows. */
static void draw_places(const quantile *self, const scl_fitting *fitting, size_t m,
                        size_t *places) {
  const size_t n = fitting->rows->rows;
  for (size_t i = 0; i < m; i++) {
    const size_t from = i * n / m, count = (i + 1) * n / m - from;
    double u;
    fitting->host->random->uniform(self->seed, fitting->stream, i, 0, 1, &u);
    const size_t step = (size_t)(u * (double)count);
    places[i] = from + (step < count ? step : count - 1);
  }
}

/* A column of a single row has its value as two quantiles. */
static scl_status fit(const void *instance, const scl_fitting *fitting, scl_error *error) {
  const quantile *self = instance;
  const scl_host *host = fitting->host;
  const size_t n = fitting->rows->rows, d = fitting->rows->dim,
               m = n < self->sample ? n : self->sample, kept = m < 2 ? 2 : m,
               knots = self->knots < kept ? self->knots : kept;
  double *rows = host->scratch((kept + knots) * d * sizeof *rows);
  size_t *places = host->scratch(m * sizeof *places);
  if (rows == NULL || places == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", m);
  learning l = {host, rows, rows + kept * d, kept, d, knots};
  draw_places(self, fitting, m, places);
  scl_status status = fitting->rows->select(fitting->rows, places, m, rows, error);
  if (m == 1) memcpy(rows + d, rows, d * sizeof *rows);
  if (status == SCL_STATUS_OK) status = host->parallel(d, learn_column, &l, error);
  if (status != SCL_STATUS_OK) return status;
  const scl_array array = scl_matrix_array(l.values, knots, d);
  return fitting->put(fitting, "values", &array, error);
}

/* ------------ applying */

static scl_status shape(const void *instance, scl_stage_state *fitted, scl_error *error) {
  const scl_host *host = ((const scl_base *)instance)->host;
  const scl_array *a = &fitted->arrays[0];
  const double *values = a->data;
  const size_t d = fitted->cols;
  if (a->dtype != SCL_DTYPE_FLOAT64 || a->rank != 2 || a->sizes[0] < 2 || a->sizes[1] != d)
    return host->fail(error, SCL_STATUS_BAD_DATA,
                      "the array 'values' is not a matrix of quantiles");
  for (size_t i = d; i < a->sizes[0] * d; i++)
    if (!(values[i] >= values[i - d]))
      return host->fail(error, SCL_STATUS_BAD_DATA, "quantiles of the array 'values' descend");
  return SCL_STATUS_OK;
}

/* The number of quantiles below x, and the number of those of at most x: binary search. */
static size_t count_below(const double *values, ptrdiff_t stride, size_t count, double x,
                          int with_equal) {
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const double v = values[(ptrdiff_t)middle * stride];
    if (v < x || (with_equal && v == x))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* F(x) from the quantiles of a column. */
static double level_of(const double *values, ptrdiff_t stride, size_t count, double x) {
  const size_t below = count_below(values, stride, count, x, 0);
  const double last = (double)(count - 1);
  if (below == count) return 1;
  if (values[(ptrdiff_t)below * stride] == x) {
    const size_t end = count_below(values, stride, count, x, 1);
    return ((double)below + (double)(end - 1)) / 2 / last;
  }
  if (below == 0) return 0;
  const double a = values[(ptrdiff_t)(below - 1) * stride], b = values[(ptrdiff_t)below * stride];
  const double part = (x / 2 - a / 2) / (b / 2 - a / 2); /* halves: b - a may overflow */
  return ((double)(below - 1) + fmin(fmax(part, 0), 1)) / last;
}

static scl_status apply(const void *instance, const scl_stage_state *fitted,
                        const scl_const_block *in, const scl_block *out, scl_error *error) {
  const quantile *self = instance;
  const size_t d = fitted->cols, count = fitted->arrays[0].sizes[0];
  const double *values = scl_stage_numbers(fitted, 0), edge = 1e-7;
  (void)error;
  for (size_t i = 0; i < in->rows; i++)
    for (size_t j = 0; j < d; j++) {
      const double u = level_of(values + j, (ptrdiff_t)d, count, scl_stage_row(in, i)[j]);
      scl_stage_out(out, i)[j] =
          self->output == OUTPUT_UNIFORM
              ? u
              : self->base.host->random->inverse_normal(fmin(fmax(u, edge), 1 - edge));
    }
  return SCL_STATUS_OK;
}

/* Without the normal quantile, which the library of C does not have. */
static int formula(const void *instance, char *text, size_t size) {
  const quantile *self = instance;
  if (self->output != OUTPUT_UNIFORM) return 0;
  return scl_write_text(
      "int i, j;\n"
      "for (j = 0; j < cols; j++) {\n"
      "  int below = 0, end = 0;\n"
      "  for (i = 0; i < values_rows; i++) {\n"
      "    below += values[i * cols + j] < x[j];\n"
      "    end += values[i * cols + j] <= x[j];\n"
      "  }\n"
      "  if (end > below)\n"
      "    out[j] = ((double)below + (double)(end - 1)) / 2 / (values_rows - 1);\n"
      "  else if (below == 0 || below == values_rows)\n"
      "    out[j] = below > 0;\n"
      "  else {\n"
      "    const double a = values[(below - 1) * cols + j];\n"
      "    const double b = values[below * cols + j];\n"
      "    const double part = (x[j] / 2 - a / 2) / (b / 2 - a / 2);\n"
      "    out[j] = (below - 1 + fmin(fmax(part, 0), 1)) / (values_rows - 1);\n"
      "  }\n"
      "}",
      text, size);
}

const scl_plugin scullery_plugin = {
    .name = "quantile",
    .summary = "each column to uniform or normal numbers, by its quantiles",
    .definition =
        /* One row of each of m equal stretches. */
    "sampled(X, m, r) = map(range(m), function(i)\n"
    "  local from, last = (i - 1)*#X//m, i*#X//m\n"
    "  return X[from + floor(r.uniform(0, i - 1, 0)*(last - from)) + 1] end)\n"
    "knot(c, at) = (function(low)\n"
    "  return c[low + 1] + (at - low)*(c[low + 2] - c[low + 1])\n"
    "  end)(min(floor(at), #c - 2))\n"
    /* The quantiles of a sorted column. */
    "values(c, n) = map(range(n), function(i) return knot(c, (i - 1)/(n - 1)*(#c - 1)) end)\n"
    /* The level of x: of equal values the middle. */
    "level(v, x, below, same) = below == #v and 1 or same > 0 and (below + (same - 1)/2)/(#v - 1) "
    "or\n"
    "  below == 0 and 0 or (below - 1 + (x - v[below])/(v[below + 1] - v[below]))/(#v - 1)\n"
    "count(v, f) = sum(v, function(y) return when(f(y), 1, 0) end)\n"
    /* The distribution function. */
    "F(v, x) = level(v, x, count(v, function(y) return y < x end), count(v, function(y)\n"
    "  return y == x end))\n"
    /* What leaves. */
    "out(u) = output == \"uniform\" and u or probit(max(min(u, 1 - 1e-7), 1e-7))\n"
    "row(X, Y, r) = #X > 1 and (function(V) return function(x)\n"
    "  return map(x, function(v, j) return out(F(V[j], v)) end) end end)(map(X[1], function(_, j)\n"
    "  return values(sorted(column(sampled(X, min(#X, sample), r), j)), min(knots, #X, sample)) "
    "end))",
    .doc =
        "x becomes F(x), F the distribution function of the column in the rows of the fit, from\n"
        "0 to 1; with output = \"normal\" the normal quantile of that, cut to +-5.2. Order is\n"
        "kept, and outliers come near to the others. F is linear between `knots` quantiles; at a\n"
        "value that many rows have it is the middle of their levels; a constant column becomes\n"
        "1/2 (normal: 0). Of more rows than `sample`, a sample is taken, one row of each of\n"
        "`sample` equal stretches. One pass.",
    SCL_STAGE(.flags = SCL_STAGE_SCALE_FREE | SCL_STAGE_BY_COLUMN, .arrays = "values", .fit = fit,
              .shape = shape, .apply = apply, .formula = formula),
    SCL_INSTANCE(quantile, options)};

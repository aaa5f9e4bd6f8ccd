/* Random projection: a row x in R^d becomes A x in R^k, with independent entries of A of mean 0 and
 * variance 1/k, so that E ||A x||^2 = ||x||^2 (Johnson and Lindenstrauss 1984):
 *
 *   gaussian    N(0, 1/k)
 *   rademacher  +-1/sqrt(k)
 *   sparse      +-sqrt(3/k) with probability 1/6 each, else 0 (Achlioptas 2003) */
#include "shared/projection.h"

enum { LAW_GAUSSIAN, LAW_RADEMACHER, LAW_SPARSE };

typedef struct random_projection {
  scl_base base;
  size_t k, seed;
  int32_t law;
} random_projection;

static const scl_option options[] = {
    SCL_INTEGER(random_projection, k, "64", "columns of the result", SCL_WITHIN(1, 1e6)),
    SCL_WORD(random_projection, law, "gaussian|rademacher|sparse", "gaussian",
             "law of the entries of the matrix"),
    SCL_INTEGER(random_projection, seed, "0", "seed of the matrix",
                SCL_WITHIN(0, 9007199254740992))};

/* Row i of the matrix: d numbers. */
static void draw_row(const random_projection *self, const scl_fitting *fitting, size_t i,
                     double *row) {
  const scl_random *random = fitting->host->random;
  const size_t d = fitting->rows->dim;
  const double size = 1 / sqrt((double)self->k);
  if (self->law == LAW_GAUSSIAN)
    random->normal(self->seed, fitting->stream, i, 0, d, row);
  else
    random->uniform(self->seed, fitting->stream, i, 0, d, row);
  for (size_t j = 0; j < d; j++) {
    const double u = row[j];
    if (self->law == LAW_RADEMACHER) row[j] = u < 0.5 ? -1 : 1;
    if (self->law == LAW_SPARSE) row[j] = u < 1.0 / 6 ? -sqrt(3) : u < 1.0 / 3 ? sqrt(3) : 0;
    row[j] *= size;
  }
}

static scl_status fit(const void *instance, const scl_fitting *fitting, scl_error *error) {
  const random_projection *self = instance;
  const size_t d = fitting->rows->dim;
  double *matrix = fitting->host->scratch(self->k * d * sizeof *matrix);
  if (matrix == NULL)
    return fitting->host->fail(error, SCL_STATUS_NO_MEMORY,
                               "not enough memory for a matrix of %zu x %zu", self->k, d);
  for (size_t i = 0; i < self->k; i++)
    draw_row(self, fitting, i, matrix + i * d);
  const scl_array array = scl_matrix_array(matrix, self->k, d);
  return fitting->put(fitting, "matrix", &array, error);
}

static scl_status apply(const void *instance, const scl_stage_state *fitted,
                        const scl_const_block *in, const scl_block *out, scl_error *error) {
  return projection_apply(((const scl_base *)instance)->host, NULL, scl_stage_numbers(fitted, 0),
                          fitted, in, out, error);
}

SCL_FORMULA(formula, PROJECTION_FORMULA("matrix", "x[j]"))
SCL_FORMULA(operators, "out = product(x, matrix);")

const scl_plugin scullery_plugin = {
    .name = "random_projection",
    .summary = "k random combinations of the columns, which nearly keep distances",
    .definition =
        /* Of the matrix, times sqrt(k). */
    "entry(i, j, r) = law == \"gaussian\" and r.normal(0, i, j) or (function(u)\n"
    "  return law == \"rademacher\" and when(u < 1/2, -1, 1) or\n"
    "    when(u < 1/6, -sqrt(3), u < 1/3, sqrt(3), 0) end)(r.uniform(0, i, j))\n"
    "row(X, Y, r) = function(x) return map(range(k), function(i)\n"
    "  return sum(x, function(v, j) return entry(i - 1, j - 1, r)*v end)/sqrt(k) end) end",
    .doc =
        "x becomes A x, A of k rows with independent entries of mean 0 and variance 1/k:\n"
        "squared distances are kept in the mean, with a relative standard deviation of about\n"
        "sqrt(2/k) (Johnson and Lindenstrauss 1984; sparse: Achlioptas 2003). Nothing is learnt\n"
        "from rows, and nothing is centred or scaled.",
    SCL_STAGE(.flags = SCL_STAGE_HOMOGENEOUS, .arrays = "matrix", .fit = fit,
              .shape = projection_shape, .apply = apply, .formula = formula,
              .operators = operators),
    SCL_INSTANCE(random_projection, options)};

/* Right samplers in the plainest form, and wrong slots for them, for "put".
 *
 * normal, turned (structured) and taught (learning): rows w ~ N(0, I), those of taught about the mean
 * of the data. column: thresholds t ~ N(0, 1). pairs: two columns with weights N(0, 1).
 * pitches: grids with pitches Gamma(2, 1). logistic: the simple form. */
#include "specimen.h"

typedef struct logistic {
  scl_base base;
  double sigma;
} logistic;

static const scl_host *host_of(const void *self) { return ((const scl_base *)self)->host; }

/* Numbers N(0, 1) of parameter `index`. */
static void normals(const void *self, const scl_draw *draw, uint64_t index, size_t count,
                    double *out) {
  host_of(self)->random->normal(draw->address.seed, draw->address.stream, index, 0, count, out);
}

static double *weights_of(const scl_parameters *out, size_t i) {
  return out->weights + (ptrdiff_t)i * out->stride;
}

static double uniform(const void *self, const scl_draw *draw, uint64_t stream, uint64_t index,
                      uint64_t at) {
  double u;
  host_of(self)->random->uniform(draw->address.seed, draw->address.stream + stream, index, at, 1,
                                 &u);
  return u;
}

/* ------------ draws
 *
 * The slot `draw` from what it does for the parameter at place i of the batch, which has the weights
 * w and the number `index`. */
#define DRAW(name, ...) \
  static scl_status name(const void *self, const scl_draw *draw, const scl_parameters *out, \
                         scl_error *error) { \
    (void)error; \
    for (size_t i = 0; i < out->count; i++) { \
      double *w = weights_of(out, i); \
      const uint64_t index = out->first + i; \
      __VA_ARGS__; \
    } \
    return SCL_STATUS_OK; \
  }
#define EACH_COLUMN for (size_t j = 0; j < out->dim; j++)
#define DRAW_NORMALS normals(self, draw, index, out->dim, w)

DRAW(draw_right, DRAW_NORMALS)
/* Every batch begins with parameter 0. */
DRAW(draw_from_0, (void)index; normals(self, draw, i, out->dim, w))
/* Forgets the last column of every parameter. */
DRAW(draw_but_last, normals(self, draw, index, out->dim - 1, w))
/* The variance 1.1. */
DRAW(draw_wide, DRAW_NORMALS; EACH_COLUMN w[j] *= sqrt(1.1))
/* One parameter in a hundred is infinite: the logarithm of 0. */
DRAW(draw_log_of_0, DRAW_NORMALS; w[0] = log(floor(fabs(w[0]) * 80)) - 3)
/* Antithetic pairs that begin with the batch: turns every second parameter of a batch round. */
DRAW(draw_antithetic, DRAW_NORMALS; if (i % 2 == 1) EACH_COLUMN w[j] *= -1)
/* All columns of a parameter get the same number. */
DRAW(draw_same_columns, EACH_COLUMN normals(self, draw, index, 1, w + j))
/* Ignores the seed. */
DRAW(draw_by_seed_1, host_of(self)->random->normal(1, draw->address.stream, index, 0, out->dim, w))
/* Ignores the stream, so that all scalars of a maxout feature are the same. */
DRAW(draw_by_stream_0, host_of(self)->random->normal(draw->address.seed, 0, index, 0, out->dim, w))
/* Takes rows of weights as packed. */
DRAW(draw_packed, (void)w; normals(self, draw, index, out->dim, out->weights + i * out->dim))
/* Uniform with the mean and variance of N(0, 1). */
DRAW(draw_uniform, EACH_COLUMN w[j] = sqrt(12) * (uniform(self, draw, 0, index, j) - 0.5))

/* A parameter shares half of its variance with the one before. */
DRAW(
    draw_overlapping, EACH_COLUMN {
      double two[2];
      host_of(self)->random->normal(draw->address.seed, draw->address.stream, j, index, 2, two);
      w[j] = (two[0] + two[1]) / SCL_SQRT2;
    })

/* Depends on the calls before: a generator of its own that goes on. */
static uint64_t calls;
DRAW(draw_goes_on, normals(self, draw, index + ((calls++ / 500) << 32), out->dim, w))

/* Writes one parameter more than it is asked for. */
static scl_status draw_one_more(const void *self, const scl_draw *draw, const scl_parameters *out,
                                scl_error *error) {
  (void)error;
  for (size_t i = 0; i <= out->count; i++)
    normals(self, draw, out->first + i, out->dim, weights_of(out, i));
  return SCL_STATUS_OK;
}

static scl_status law_right(const void *self, const scl_draw *draw, scl_law *out,
                            scl_error *error) {
  (void)self, (void)draw, (void)error;
  out->family = SCL_FAMILY_GAUSSIAN;
  for (size_t j = 0; j < out->dim; j++)
    out->scale[j] = 1;
  return SCL_STATUS_OK;
}

/* The layout has a bias, and draw never writes it. */
static scl_status layout_with_bias(const void *self, size_t dim, scl_layout *out,
                                   scl_error *error) {
  (void)self, (void)dim, (void)error;
  out->has_bias = 1;
  return SCL_STATUS_OK;
}

/* The number of parameters is fixed, and the layout takes any other. */
static scl_status layout_any_count(const void *self, size_t dim, scl_layout *out,
                                   scl_error *error) {
  (void)self, (void)error;
  if (out->count == 0) out->count = dim + 1;
  return SCL_STATUS_OK;
}

/* ------------ characteristic functions
 *
 * exp(-variance ||delta||^2/2), rows of differences `apart` numbers apart. */
#define CHARACTERISTIC(name, variance, apart) \
  static scl_status name(const void *self, const scl_draw *draw, size_t rows, const double *delta, \
                         ptrdiff_t stride, double *out, scl_error *error) { \
    (void)self, (void)stride, (void)error; \
    for (size_t i = 0; i < rows; i++) { \
      double sum = 0; \
      for (size_t j = 0; j < draw->dim; j++) { \
        const double gap = delta[(ptrdiff_t)i * (apart) + (ptrdiff_t)j]; \
        sum += (variance)*gap * gap; \
      } \
      out[i] = exp(-sum / 2); \
    } \
    return SCL_STATUS_OK; \
  }

CHARACTERISTIC(characteristic_right, 1, stride)
CHARACTERISTIC(characteristic_wide, 1.1, stride)
CHARACTERISTIC(characteristic_packed, 1, (ptrdiff_t)draw->dim)

SPECIMEN(normal, "standard normal rows", SCL_SAMPLER(.space = SCL_SPACE_DENSE, .draw = draw_right),
         .instance_size = sizeof(scl_base),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = law_right),
                       SCL_OFFER(SCL_ABILITY_CHARACTERISTIC, scl_ability_characteristic,
                                 .characteristic = characteristic_right)));

/* ------------ other abilities of dense rows */

/* Names the kernel exp(-||x - y||_1) for Fourier features, whose rows are Gaussian. */
static scl_status kernel_laplacian(const void *self, const scl_part *partner, char *text,
                                   size_t size, scl_error *error) {
  (void)self, (void)error;
  if (strcmp(partner->plugin->name, "fourier") == 0 && size > 9) memcpy(text, "laplacian", 10);
  return SCL_STATUS_OK;
}

/* The scale of a parameter depends on its place in the batch. */
static scl_status scales_by_place(const void *self, const scl_draw *draw,
                                  const scl_const_parameters *p, double *out, scl_error *error) {
  (void)self, (void)error;
  for (size_t t = 0; t < p->count; t++)
    out[t] = (double)(t + 1) / (double)draw->total;
  return SCL_STATUS_OK;
}

/* A parameter may read one shared row twice. */
static size_t pool_rows(const void *self, size_t count, size_t fan_in) {
  (void)self, (void)count;
  return fan_in + 10;
}

static scl_status pool_twice(const void *self, const scl_draw *draw, size_t first, size_t count,
                             size_t fan_in, int32_t *out, scl_error *error) {
  (void)error;
  for (size_t t = 0; t < count; t++)
    for (size_t k = 0; k < fan_in; k++)
      out[t * fan_in + k] = (int32_t)(uniform(self, draw, 3, first + t, k) * (double)(fan_in + 10));
  return SCL_STATUS_OK;
}

/* ------------ thresholds */

DRAW(draw_thresholds, {
  out->support[(ptrdiff_t)i * out->support_stride] =
      (int32_t)(uniform(self, draw, 2, index, 0) * (double)out->dim);
  normals(self, draw, index, 1, w);
})

/* On the first column twice as often as on others. */
static scl_status draw_first_column_twice(const void *self, const scl_draw *draw,
                                          const scl_parameters *out, scl_error *error) {
  (void)draw_thresholds(self, draw, out, error);
  for (size_t i = 0; i < out->count; i++) {
    int32_t *column = &out->support[(ptrdiff_t)i * out->support_stride];
    if ((size_t)*column + 1 == out->dim && out->dim > 1) *column = 0;
  }
  return SCL_STATUS_OK;
}

#define DISTRIBUTION(name, variance) \
  static double name(const void *self, const scl_draw *draw, size_t column, double x) { \
    (void)self, (void)draw, (void)column; \
    return 0.5 * erfc(-x / sqrt(2 * (variance))); \
  }

DISTRIBUTION(distribution_right, 1)
DISTRIBUTION(distribution_wide, 1.2)

SPECIMEN(column, "normal thresholds",
         SCL_SAMPLER(.space = SCL_SPACE_THRESHOLD, .draw = draw_thresholds),
         .instance_size = sizeof(scl_base),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = law_right),
                       SCL_OFFER(SCL_ABILITY_DISTRIBUTION, scl_ability_distribution,
                                 .distribution = distribution_right)));

/* ------------ pairs of columns */

static scl_status layout_pairs(const void *self, size_t dim, scl_layout *out, scl_error *error) {
  if (dim < 2)
    return host_of(self)->fail(error, SCL_STATUS_BAD_SHAPE,
                               "takes 2 columns or more, and there are %zu", dim);
  out->reals = out->integers = 2;
  return SCL_STATUS_OK;
}

/* Two different columns, all pairs with the same probability. */
static int32_t *choose_two(const void *self, const scl_draw *draw, const scl_parameters *out,
                           size_t i) {
  int32_t *columns = out->support + (ptrdiff_t)i * out->support_stride;
  const uint64_t index = out->first + i;
  columns[0] = (int32_t)(uniform(self, draw, 2, index, 0) * (double)out->dim);
  columns[1] = (int32_t)(uniform(self, draw, 2, index, 1) * (double)(out->dim - 1));
  columns[1] += columns[1] >= columns[0];
  return columns;
}

DRAW(draw_pairs, {
  int32_t *columns = choose_two(self, draw, out, i);
  const int32_t first = columns[0] < columns[1] ? columns[0] : columns[1];
  columns[1] += columns[0] - first;
  columns[0] = first;
  normals(self, draw, index, 2, w);
})
/* The columns of a support do not ascend. */
DRAW(draw_descending, (void)choose_two(self, draw, out, i); normals(self, draw, index, 2, w))

/* The in-degree is 2 with this probability, otherwise 1. */
#define LAW_OF_PAIRS(name, share) \
  static scl_status name(const void *self, const scl_draw *draw, scl_law *out, scl_error *error) { \
    out->max_degree = 2; \
    out->degree[2] = (share); \
    out->degree[1] = 1 - out->degree[2]; \
    for (size_t s = 0; s <= out->dim; s++) \
      out->degree_scale[s] = 1; \
    return law_right(self, draw, out, error); \
  }

LAW_OF_PAIRS(law_of_pairs, 1)
LAW_OF_PAIRS(law_of_two_degrees, 0.9)

SPECIMEN(pairs, "weights on pairs",
         SCL_SAMPLER(.space = SCL_SPACE_SPARSE, .draw = draw_pairs, .layout = layout_pairs),
         .instance_size = sizeof(scl_base),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = law_of_pairs)));

/* ------------ grids
 *
 * With pitches Gamma(2, 1) a cell is shared with probability exp(-||x - y||_1). */

DRAW(
    draw_pitches, EACH_COLUMN {
      double u[3];
      host_of(self)->random->uniform(draw->address.seed, draw->address.stream, index, 3 * j, 3, u);
      w[j] = -log(u[0] * u[1]); /* Gamma(2, 1) */
      w[out->dim + j] = w[j] * u[2];
    })

/* The probability exp(-distance), from the sum of `term` of the gaps. */
#define COLLISION(name, term, distance) \
  static scl_status name(const void *self, const scl_draw *draw, size_t rows, const double *delta, \
                         ptrdiff_t stride, double *out, scl_error *error) { \
    (void)self, (void)error; \
    for (size_t i = 0; i < rows; i++) { \
      double sum = 0; \
      for (size_t j = 0; j < draw->dim; j++) { \
        const double gap = delta[(ptrdiff_t)i * stride + (ptrdiff_t)j]; \
        sum += (term); \
      } \
      out[i] = exp(-(distance)); \
    } \
    return SCL_STATUS_OK; \
  }

COLLISION(collision_right, fabs(gap), sum)
/* exp(-||x - y||_2) */
COLLISION(collision_euclidean, gap *gap, sqrt(sum))

SPECIMEN(pitches, "random grids", SCL_SAMPLER(.space = SCL_SPACE_GRID, .draw = draw_pitches),
         .instance_size = sizeof(scl_base),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_COLLISION, scl_ability_collision,
                                 .collision = collision_right)));

/* ------------ structured rows: dense, in truth */

static scl_status layout_structured(const void *self, size_t dim, scl_layout *out,
                                    scl_error *error) {
  (void)self, (void)error;
  out->reals = dim;
  return SCL_STATUS_OK;
}

static scl_status rows_right(const void *self, const scl_draw *draw, const scl_const_parameters *p,
                             double *dense, ptrdiff_t stride, scl_error *error) {
  (void)self, (void)draw, (void)error;
  for (size_t i = 0; i < p->count; i++)
    memcpy(dense + (ptrdiff_t)i * stride, p->weights + (ptrdiff_t)i * p->stride,
           p->dim * sizeof *dense);
  return SCL_STATUS_OK;
}

/* The slot `apply`, with these factors for row i in float32 and in float64. */
#define APPLY(name, single_factor, double_factor) \
  static scl_status name(const void *self, const scl_draw *draw, const scl_const_parameters *p, \
                         const scl_const_block *x, const scl_block *z, scl_error *error) { \
    (void)self, (void)draw, (void)error; \
    const bool single = x->dtype == SCL_DTYPE_FLOAT32; \
    for (size_t i = 0; i < x->rows; i++) \
      for (size_t t = 0; t < p->count; t++) { \
        double sum = 0; \
        for (size_t j = 0; j < p->dim; j++) { \
          const ptrdiff_t at = (ptrdiff_t)i * x->row_stride + (ptrdiff_t)j; \
          sum += p->weights[(ptrdiff_t)t * p->stride + (ptrdiff_t)j] * \
                 (single ? (double)((const float *)x->data)[at] : ((const double *)x->data)[at]); \
        } \
        const ptrdiff_t to = (ptrdiff_t)i * z->row_stride + (ptrdiff_t)t; \
        if (single) \
          ((float *)z->data)[to] = (float)((single_factor)*sum); \
        else \
          ((double *)z->data)[to] = (double_factor)*sum; \
      } \
    return SCL_STATUS_OK; \
  }

APPLY(apply_right, 1, 1)
APPLY(apply_large_float32, 1.001, 1)
APPLY(apply_large_first_row, 1, i == 0 ? 1.0001 : 1)

SPECIMEN(
    turned, "structured normal rows",
    SCL_SAMPLER(.space = SCL_SPACE_STRUCTURED, .draw = draw_right, .layout = layout_structured),
    .instance_size = sizeof(scl_base),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = law_right),
                  SCL_OFFER(SCL_ABILITY_STRUCTURED, scl_ability_structured, .apply = apply_right,
                            .rows = rows_right,
                            .dtypes = SCL_BIT(SCL_DTYPE_FLOAT64) | SCL_BIT(SCL_DTYPE_FLOAT32))));

/* ------------ learning: rows about the mean */

typedef struct sums {
  double *mean;
  size_t dim;
} sums;

/* The sum of the rows, in their order. */
static scl_status add_rows(void *context, const scl_rows *rows, scl_error *error) {
  const sums *s = context;
  (void)error;
  for (size_t j = 0; j < s->dim; j++) {
    const double *x = (const double *)rows->features.data + j;
    for (size_t i = 0; i < rows->count; i++)
      s->mean[j] += x[(ptrdiff_t)i * rows->features.row_stride];
  }
  return SCL_STATUS_OK;
}

/* Takes the first row of a block for all of them. */
static scl_status add_first_row(void *context, const scl_rows *rows, scl_error *error) {
  const sums *s = context;
  (void)error;
  for (size_t j = 0; j < s->dim; j++)
    s->mean[j] += ((const double *)rows->features.data)[j] * (double)rows->count;
  return SCL_STATUS_OK;
}

static scl_status learn_mean(const scl_learning *rows, scl_visit add, scl_state *out,
                             scl_error *error) {
  if (rows->rows == 0)
    return rows->host->fail(error, SCL_STATUS_BAD_DATA,
                            "takes rows to learn from, and there are none");
  out->numbers = rows->host->allocate(rows->dim * sizeof *out->numbers);
  if (out->numbers == NULL)
    return rows->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory");
  memset(out->numbers, 0, rows->dim * sizeof *out->numbers);
  out->rows = 1;
  out->cols = rows->dim;
  sums s = {out->numbers, rows->dim};
  const scl_status status = rows->walk(rows, add, &s, error);
  for (size_t j = 0; j < rows->dim; j++)
    out->numbers[j] /= (double)rows->rows;
  return status;
}

static scl_status learn_right(const void *self, const scl_learning *rows, scl_state *out,
                              scl_error *error) {
  (void)self;
  return learn_mean(rows, add_rows, out, error);
}

static scl_status learn_first_rows(const void *self, const scl_learning *rows, scl_state *out,
                                   scl_error *error) {
  (void)self;
  return learn_mean(rows, add_first_row, out, error);
}

static scl_status draw_near(const void *self, const scl_draw *draw, const scl_parameters *out,
                            scl_error *error) {
  if (draw->state == NULL || draw->state->cols != out->dim)
    return host_of(self)->fail(error, SCL_STATUS_BAD_DATA,
                               "has not learnt from rows of these columns");
  (void)draw_right(self, draw, out, error);
  for (size_t i = 0; i < out->count; i++)
    EACH_COLUMN weights_of(out, i)[j] += draw->state->numbers[j];
  return SCL_STATUS_OK;
}

SPECIMEN(taught, "rows about the mean", SCL_SAMPLER(.space = SCL_SPACE_DENSE, .draw = draw_near),
         .instance_size = sizeof(scl_base),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LEARN, scl_ability_learn, .learn = learn_right)));

/* ------------ the simple form: logistic numbers
 *
 *   e = sqrt3/pi log(u/(1 - u));   E exp(i z e) = sqrt3 z/sinh(sqrt3 z) */

#define MAKE_LOGISTIC(name, factor) \
  static void name(const void *self, size_t count, const double *u, double *e) { \
    (void)self; \
    for (size_t j = 0; j < count; j++) \
      e[j] = (factor)*log(u[j] / (1 - u[j])); \
  }

MAKE_LOGISTIC(make_right, 0.5513288954217921)
/* 2 % too wide. */
MAKE_LOGISTIC(make_wide, 0.562)

/* Works on pairs of numbers, and forgets the odd one. */
static void make_pairs(const void *self, size_t count, const double *numbers, double *e) {
  (void)self;
  for (size_t j = 0; j + 1 < count; j += 2) {
    e[j] = numbers[j];
    e[j + 1] = numbers[j + 1];
  }
}

static void moments_right(const void *self, double *mean, double *scale) {
  (void)mean;
  *scale = ((const logistic *)self)->sigma;
}

static double factor_right(const void *self, double z) {
  (void)self;
  return fabs(z) < 1e-4 ? 1 - z * z / 2 : 1.7320508075688772 * z / sinh(1.7320508075688772 * z);
}

static double factor_cosh(const void *self, double z) {
  (void)self;
  return 1 / cosh(z);
}

static const scl_option logistic_options[] = {
    SCL_NUMBER(logistic, sigma, "1", "standard deviation", SCL_POSITIVE)};

SPECIMEN(logistic, "logistic rows",
         SCL_SAMPLER(.space = SCL_SPACE_DENSE, .make = make_right, .moments = moments_right,
                     .factor = factor_right),
         SCL_INSTANCE(logistic, logistic_options));

const fault faults_of_samplers[] = {FAULT(draw_right),
                                    FAULT(draw_from_0),
                                    FAULT(draw_but_last),
                                    FAULT(draw_wide),
                                    FAULT(draw_log_of_0),
                                    FAULT(draw_antithetic),
                                    FAULT(draw_same_columns),
                                    FAULT(draw_by_seed_1),
                                    FAULT(draw_by_stream_0),
                                    FAULT(draw_packed),
                                    FAULT(draw_uniform),
                                    FAULT(draw_overlapping),
                                    FAULT(draw_goes_on),
                                    FAULT(draw_one_more),
                                    FAULT(layout_with_bias),
                                    FAULT(layout_any_count),
                                    FAULT(characteristic_wide),
                                    FAULT(characteristic_packed),
                                    FAULT(kernel_laplacian),
                                    FAULT(scales_by_place),
                                    FAULT(pool_rows),
                                    FAULT(pool_twice),
                                    FAULT(draw_first_column_twice),
                                    FAULT(distribution_wide),
                                    FAULT(draw_descending),
                                    FAULT(law_of_two_degrees),
                                    FAULT(collision_euclidean),
                                    FAULT(apply_large_float32),
                                    FAULT(apply_large_first_row),
                                    FAULT(learn_first_rows),
                                    FAULT(make_wide),
                                    FAULT(make_pairs),
                                    FAULT(factor_cosh),
                                    {NULL, NULL}};

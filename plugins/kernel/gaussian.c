/* K(u, w) = exp(-||u - w||^2 / (2 g^2)); on thresholds K((i,t), (j,t')) = 1[i = j] exp(-(t - t')^2 / (2 g^2)).
 *
 * The width is said outright (gamma = g), or through the distribution p = N(0, s^2) on d columns (Dube and Marchand 2023):
 *   coefficient c: (1 + s^2/g^2)^(-d/2) = c          theta c: (1 + 2 s^2/g^2)^(-d/4) = c, their bound on theta
 * (thresholds: d = 1 in both, and theta has the factor d^(-1/2) of the uniform column).
 *
 * Tilt: K(u, w) N(w; m, s^2) = c(u) N(w; m', v^2), coordinate by coordinate, with v^2 = s^2 g^2/(s^2 + g^2),
 *   m' = (u s^2 + m g^2)/(s^2 + g^2),   log c(u) = -log(1 + s^2/g^2)/2 - (u - m)^2/(2 (s^2 + g^2)). */
#include <math.h>
#include <scullery/plugin.h>
#include <stdio.h>
#include <string.h>

enum { GAMMA, THETA, COEFFICIENT, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"gamma", SCL_NUMBER, NULL, NULL, 0, INFINITY, SCL_LOW_OPEN | SCL_HIGH_OPEN, SCL_WIDTH_LENGTH,
     "the width g in exp(-||u-w||^2/(2 g^2)) (default 1)"},
    {"theta", SCL_NUMBER, NULL, NULL, 0, 1, SCL_LOW_OPEN | SCL_HIGH_OPEN, SCL_NO_WIDTH,
     "instead: the value of the paper's bound on theta, (1 + 2 s^2/g^2)^(-d/4), from which g follows"},
    {"coefficient", SCL_NUMBER, NULL, NULL, 0, 1, SCL_LOW_OPEN | SCL_HIGH_OPEN, SCL_NO_WIDTH,
     "instead: the value of (1 + s^2/g^2)^(-d/2), from which g follows"},
};

typedef struct gaussian {
  const scl_host *host;
  const scl_vector_math *math;
  const scl_dense_algebra *algebra;
  double width;              /* g; 0 until it is bound */
  double theta, coefficient; /* 0: not asked for */
} gaussian;

static scl_status create(const scl_host *host, const scl_value *values, void **instance, scl_error *error) {
  const int given = (values[GAMMA].form != 0) + (values[THETA].form != 0) + (values[COEFFICIENT].form != 0);
  if (given > 1) return host->fail(error, SCL_BAD_OPTION, "gamma, theta and coefficient each say the width: give one of them");
  gaussian *self = host->allocate(sizeof *self);
  if (self == NULL) return host->fail(error, SCL_NO_MEMORY, "not enough memory for a kernel");
  *self = (gaussian){.host = host,
                     .math = host->service(SCL_SERVICE_VECTOR_MATH),
                     .algebra = host->service(SCL_SERVICE_DENSE_ALGEBRA),
                     .width = given == 0                ? 1
                              : values[GAMMA].form != 0 ? values[GAMMA].number
                                                        : 0,
                     .theta = values[THETA].form != 0 ? values[THETA].number : 0,
                     .coefficient = values[COEFFICIENT].form != 0 ? values[COEFFICIENT].number : 0};
  *instance = self;
  return SCL_OK;
}

static void destroy(void *instance) {
  gaussian *self = instance;
  self->host->release(self);
}

/* ---------------------------------------------------------------- the width */

/* log of (1 + factor s_j^2/g^2)^power over the coordinates: all of them (dense), or the first (thresholds, where every column has the same
 * law). */
static double log_product(const scl_law *law, double factor, double power, double g) {
  const size_t count = law->space == SCL_THRESHOLD ? 1 : law->dim;
  double sum = 0;
  for (size_t j = 0; j < count; j++)
    sum += log1p(factor * law->scale[j] * law->scale[j] / (g * g));
  return power * sum;
}

/* The g at which log_product is log_target: it grows with g, so halve an interval on log g. */
static double solve_width(const scl_law *law, double factor, double power, double log_target) {
  double low = -250, high = 250;
  for (int i = 0; i < 200; i++) {
    const double middle = (low + high) / 2;
    if (log_product(law, factor, power, exp(middle)) < log_target)
      low = middle;
    else
      high = middle;
  }
  return exp((low + high) / 2);
}

static scl_status bind(const void *instance, const scl_law *law, void **bound, scl_error *error) {
  const gaussian *self = instance;
  double width = self->width;
  if (width == 0 && law->family != SCL_LAW_GAUSSIAN)
    return self->host->fail(error, SCL_UNSUPPORTED, "theta and coefficient choose the width for a Gaussian sampler only: give gamma");
  if (self->theta > 0) {
    const double target = log(self->theta) + (law->space == SCL_THRESHOLD ? 0.5 * log((double)law->dim) : 0);
    if (target >= 0)
      return self->host->fail(error, SCL_BAD_OPTION, "theta = %g cannot be reached: on thresholds of %zu columns it is below %g",
                              self->theta, law->dim, 1 / sqrt((double)law->dim));
    width = solve_width(law, 2, -0.25, target);
  } else if (self->coefficient > 0) {
    width = solve_width(law, 1, -0.5, log(self->coefficient));
  }
  gaussian *made = self->host->allocate(sizeof *made);
  if (made == NULL) return self->host->fail(error, SCL_NO_MEMORY, "not enough memory for a kernel");
  *made = *self;
  made->width = width;
  *bound = made;
  return SCL_OK;
}

static void describe(const void *bound, char *text, size_t size) {
  const gaussian *self = bound;
  (void)snprintf(text, size, "gamma = %.6g", self->width);
}

/* ---------------------------------------------------------------- the kernel */

static scl_status check_width(const gaussian *self, scl_error *error) {
  if (self->width > 0) return SCL_OK;
  return self->host->fail(error, SCL_UNSUPPORTED,
                          "theta and coefficient say the width through a distribution; here there is none: give gamma");
}

/* out_ij = <u_i, v_j>, then -(||u_i||^2 + ||v_j||^2 - 2 out_ij)/(2 g^2), and exp. */
static scl_status gram_dense(const gaussian *self, const scl_parameters *u, const scl_parameters *v, double *out, ptrdiff_t stride,
                             scl_error *error) {
  const double rate = -0.5 / (self->width * self->width);
  double *squares = self->host->allocate((v->count + 1) * sizeof *squares);
  if (squares == NULL) return self->host->fail(error, SCL_NO_MEMORY, "not enough memory for %zu squared norms", v->count);
  self->algebra->gemm(0, 1, u->count, v->count, u->dim, 1, u->weights, u->stride, v->weights, v->stride, 0, out, stride);
  for (size_t j = 0; j < v->count; j++) {
    const double *w = v->weights + (ptrdiff_t)j * v->stride;
    squares[j] = 0;
    for (size_t k = 0; k < v->dim; k++)
      squares[j] += w[k] * w[k];
  }
  for (size_t i = 0; i < u->count; i++) {
    const double *w = u->weights + (ptrdiff_t)i * u->stride;
    double *row = out + (ptrdiff_t)i * stride, square = 0;
    for (size_t k = 0; k < u->dim; k++)
      square += w[k] * w[k];
    for (size_t j = 0; j < v->count; j++) {
      const double distance = square + squares[j] - 2 * row[j];
      /* The same vector: cancellation leaves rounding, and the distance is 0. */
      const int same = distance < 1e-12 * square && memcmp(w, v->weights + (ptrdiff_t)j * v->stride, v->dim * sizeof *w) == 0;
      row[j] = same || distance < 0 ? 0 : rate * distance;
    }
    self->math->exp(v->count, row, row);
  }
  self->host->release(squares);
  return SCL_OK;
}

static void gram_threshold(const gaussian *self, const scl_parameters *u, const scl_parameters *v, double *out, ptrdiff_t stride) {
  const double rate = -0.5 / (self->width * self->width);
  for (size_t i = 0; i < u->count; i++) {
    const int32_t column = u->support[(ptrdiff_t)i * u->support_stride];
    const double t = u->weights[(ptrdiff_t)i * u->stride];
    double *row = out + (ptrdiff_t)i * stride;
    for (size_t j = 0; j < v->count; j++) {
      const double gap = t - v->weights[(ptrdiff_t)j * v->stride];
      row[j] = column == v->support[(ptrdiff_t)j * v->support_stride] ? exp(rate * gap * gap) : 0;
    }
  }
}

static scl_status gram(const void *instance, const scl_parameters *u, const scl_parameters *v, double *out, ptrdiff_t stride,
                       scl_error *error) {
  const gaussian *self = instance;
  const scl_status status = check_width(self, error);
  if (status != SCL_OK) return status;
  if (u->space == SCL_DENSE) return gram_dense(self, u, v, out, stride, error);
  gram_threshold(self, u, v, out, stride);
  return SCL_OK;
}

static scl_status diagonal(const void *instance, const scl_parameters *u, double *out, scl_error *error) {
  (void)instance;
  (void)error;
  for (size_t i = 0; i < u->count; i++)
    out[i] = 1;
  return SCL_OK;
}

/* ---------------------------------------------------------------- the tilt */

static scl_status tilt(const void *instance, const scl_law *law, scl_tilt *out, scl_error *error) {
  const gaussian *self = instance;
  if (law->family != SCL_LAW_GAUSSIAN)
    return self->host->fail(error, SCL_UNSUPPORTED, "no closed form for this kernel with this sampler's law");
  const double g2 = self->width * self->width;
  for (size_t j = 0; j < law->dim; j++) {
    const double s2 = law->scale[j] * law->scale[j], m = law->mean[j], both = s2 + g2;
    out->shrink[j] = s2 / both;
    out->offset[j] = m * g2 / both;
    out->spread[j] = sqrt(s2 * (g2 / both));
    out->log0[j] = -0.5 * log1p(s2 / g2) - m * m / (2 * both);
    out->log1[j] = m / both;
    out->log2[j] = -0.5 / both;
    out->correlation[j] = s2 / both;
    out->pair_scale[j] = sqrt(s2 * both / (2 * s2 + g2));
  }
  out->log_one = law->space == SCL_THRESHOLD ? -log((double)law->dim) : 0;
  out->log_diagonal = 0;
  out->log_mass = 0;
  if (law->space == SCL_THRESHOLD) {
    double sum = 0;
    for (size_t j = 0; j < law->dim; j++)
      sum += 1 / sqrt(1 + 2 * law->scale[j] * law->scale[j] / g2);
    out->log_mass = log(sum) - 2 * log((double)law->dim);
  } else {
    out->log_mass = log_product(law, 2, -0.5, self->width);
  }
  return SCL_OK;
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_bind bind_table = {SCL_HEAD(scl_ability_bind), bind, describe};
  static const scl_ability_tilt tilt_table = {SCL_HEAD(scl_ability_tilt), tilt};
  (void)instance;
  if (strcmp(id, SCL_ABILITY_BIND) == 0) return &bind_table;
  if (strcmp(id, SCL_ABILITY_TILT) == 0) return &tilt_table;
  return NULL;
}

static const scl_kernel table = {SCL_HEAD(scl_kernel), SCL_IN(SCL_DENSE) | SCL_IN(SCL_THRESHOLD), gram, diagonal};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KERNEL,
    "gaussian",
    "1.0",
    "The Scullery authors",
    "exp(-||u-w||^2/(2 gamma^2)); on thresholds times 1[same column]",
    "K(u, w) = exp(-||u-w||^2 / (2 gamma^2)). On the threshold space K = 1[i = j] exp(-(t-t')^2 / (2 gamma^2)).\n"
    "Give one of gamma (the width), theta or coefficient (widths said through the sampler; Dube and Marchand 2023 use\n"
    "coefficient in the text and theta in the published tables). With a Gaussian sampler the expectation\n"
    "E K(u, w) phi(w, x) is exact: c(u) S(<u', x>, v).",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};

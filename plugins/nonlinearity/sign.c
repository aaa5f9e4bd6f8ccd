/* phi(z) = sign(z), with sign(0) = +1.
 *
 * Smoothing: E sign(N(m, v^2)) = erf(m / (sqrt2 v)). Gaussian dual: (2/pi) asin(correlation), so sign(<w,x>) estimates 1 - 2 theta/pi. */
#include <math.h>
#include <scullery/plugin.h>
#include <string.h>

typedef struct sign {
  const scl_host *host;
  const scl_vector_math *math;
} sign;

static scl_status create(const scl_host *host, const scl_value *values, void **instance, scl_error *error) {
  (void)values;
  sign *self = host->allocate(sizeof *self);
  if (self == NULL) return host->fail(error, SCL_NO_MEMORY, "not enough memory for a nonlinearity");
  *self = (sign){host, host->service(SCL_SERVICE_VECTOR_MATH)};
  *instance = self;
  return SCL_OK;
}

static void destroy(void *instance) {
  sign *self = instance;
  self->host->release(self);
}

static scl_status shape(const void *instance, scl_shape *out, scl_error *error) {
  (void)instance;
  (void)error;
  *out = (scl_shape){.fan_in = 1, .fan_out = 1, .spaces = SCL_RIDGE_SPACES, .float32 = 1};
  return SCL_OK;
}

static scl_status apply(const void *instance, const scl_block *z, scl_block *out, scl_error *error) {
  (void)instance;
  (void)error;
  for (size_t i = 0; i < z->rows; i++) {
    const ptrdiff_t from = (ptrdiff_t)i * z->row_stride, to = (ptrdiff_t)i * out->row_stride;
    if (z->dtype == SCL_F64)
      for (size_t j = 0; j < z->cols; j++)
        ((double *)out->data + to)[j] = ((const double *)z->data + from)[j] < 0 ? -1 : 1;
    else
      for (size_t j = 0; j < z->cols; j++)
        ((float *)out->data + to)[j] = ((const float *)z->data + from)[j] < 0 ? -1.0f : 1.0f;
  }
  return SCL_OK;
}

/* One row: m / (sqrt2 v), where v = 0 stands for a step so steep that erf is the sign. */
static void steepen_f64(size_t count, const double *m, const double *v, ptrdiff_t stride, double *out) {
  const double root = sqrt(0.5), steep = 1e3;
  if (stride == 0 && *v > 0) {
    const double factor = root / *v;
    for (size_t j = 0; j < count; j++)
      out[j] = m[j] * factor;
    return;
  }
  for (size_t j = 0; j < count; j++) {
    const double spread = v[(ptrdiff_t)j * stride];
    out[j] = spread > 0 ? m[j] * (root / spread) : m[j] < 0 ? -steep : steep;
  }
}

static void steepen_f32(size_t count, const float *m, const float *v, ptrdiff_t stride, float *out) {
  const float root = 0.70710678f, steep = 1e3f;
  if (stride == 0 && *v > 0) {
    const float factor = root / *v;
    for (size_t j = 0; j < count; j++)
      out[j] = m[j] * factor;
    return;
  }
  for (size_t j = 0; j < count; j++) {
    const float spread = v[(ptrdiff_t)j * stride];
    out[j] = spread > 0 ? m[j] * (root / spread) : m[j] < 0 ? -steep : steep;
  }
}

static scl_status smooth(const void *instance, const scl_block *m, const scl_spread *v, scl_block *out, scl_error *error) {
  (void)error;
  const sign *self = instance;
  for (size_t i = 0; i < m->rows; i++) {
    const ptrdiff_t from = (ptrdiff_t)i * m->row_stride, to = (ptrdiff_t)i * out->row_stride, at = (ptrdiff_t)i * v->row_stride;
    if (m->dtype == SCL_F64) {
      double *row = (double *)out->data + to;
      steepen_f64(m->cols, (const double *)m->data + from, (const double *)v->data + at, v->col_stride, row);
      self->math->erf(m->cols, row, row);
    } else {
      float *row = (float *)out->data + to;
      steepen_f32(m->cols, (const float *)m->data + from, (const float *)v->data + at, v->col_stride, row);
      self->math->erff(m->cols, row, row);
    }
  }
  return SCL_OK;
}

static void facts(const void *instance, scl_facts *out) {
  (void)instance;
  *out = (scl_facts){.bound = 1, .lipschitz = INFINITY, .breaks = {0}, .n_breaks = 1, .scale_free = 1};
}

static double gaussian_dual(const void *instance, double mean_a, double mean_b, double var_a, double var_b, double covariance) {
  (void)instance;
  const double known_a = mean_a < 0 ? -1 : 1, known_b = mean_b < 0 ? -1 : 1;
  if (var_a <= 0 || var_b <= 0) {
    const double a = var_a <= 0 ? known_a : erf(mean_a / sqrt(2 * var_a)), b = var_b <= 0 ? known_b : erf(mean_b / sqrt(2 * var_b));
    return a * b;
  }
  if (mean_a != 0 || mean_b != 0) return NAN;
  double r = covariance / sqrt(var_a * var_b);
  r = r > 1 ? 1 : r < -1 ? -1 : r;
  return asin(r) * 2 / 3.14159265358979323846;
}

/* E sign(a - t) sign(b - t) = 1 - 2 P(t between a and b) */
static double threshold_dual(const void *instance, double distribution_a, double distribution_b) {
  (void)instance;
  return 1 - 2 * fabs(distribution_a - distribution_b);
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_smoothing smoothing_table = {SCL_HEAD(scl_ability_smoothing), smooth};
  static const scl_ability_facts facts_table = {SCL_HEAD(scl_ability_facts), facts};
  static const scl_ability_gaussian_dual gaussian_table = {SCL_HEAD(scl_ability_gaussian_dual), gaussian_dual};
  static const scl_ability_threshold_dual threshold_table = {SCL_HEAD(scl_ability_threshold_dual), threshold_dual};
  (void)instance;
  if (strcmp(id, SCL_ABILITY_SMOOTHING) == 0) return &smoothing_table;
  if (strcmp(id, SCL_ABILITY_FACTS) == 0) return &facts_table;
  if (strcmp(id, SCL_ABILITY_GAUSSIAN_DUAL) == 0) return &gaussian_table;
  if (strcmp(id, SCL_ABILITY_THRESHOLD_DUAL) == 0) return &threshold_table;
  return NULL;
}

static const scl_nonlinearity table = {SCL_HEAD(scl_nonlinearity), shape, apply};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_NONLINEARITY,
    "sign",
    "1.0",
    "The Scullery authors",
    "sign(z), sign(0) = +1: stumps on thresholds, half-spaces on dense weights",
    "phi(z) = sign(z), with sign(0) = +1 so that no feature vanishes by accident.\n"
    "On Gaussian rows it estimates 1 - 2 theta/pi, theta the angle of x and y; on thresholds the stump kernel.\n"
    "In an RKHS weighting it becomes erf(m/(sqrt2 v)) (Dube and Marchand 2023, both instantiations).",
    NULL,
    0,
    &table,
    create,
    destroy,
    ability};

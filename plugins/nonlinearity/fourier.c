/* Random Fourier features (Rahimi and Recht 2008).
 *
 * phase: phi(z) = sqrt2 cos(z), z = <w, x> + b, b ~ U[-pi, pi]; pair: phi(z) = (cos z, sin z), z =
 * <w, x>: two features a parameter. Either estimates the characteristic function of w at x - y.
 * Smoothing: E cos(N(m, v^2)) = exp(-v^2/2) cos m, likewise sin. */
#include <math.h>
#include <scullery/plugin.h>
#include <string.h>

enum { FORM, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"form", SCL_FORM_WORD, "phase|pair", "phase", 0, 0, 0, SCL_WIDTH_NONE,
     "phase: sqrt2 cos(z) with a uniform phase, one feature a parameter; pair: (cos z, sin z), "
     "two"},
};

typedef struct fourier {
  const scl_host *host;
  const scl_vector_math *math;
  int pair;
} fourier;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  fourier *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a nonlinearity");
  *self = (fourier){host, host->service(SCL_SERVICE_VECTOR_MATH),
                    strcmp(values[FORM].word, "pair") == 0};
  *instance = self;
  return SCL_STATUS_OK;
}

static void destroy(void *instance) {
  fourier *self = instance;
  self->host->release(self);
}

static scl_status shape(const void *instance, scl_shape *out, scl_error *error) {
  (void)error;
  const fourier *self = instance;
  *out = (scl_shape){.fan_in = 1,
                     .fan_out = self->pair ? 2 : 1,
                     .spaces = SCL_SPACES_RIDGE,
                     .float32 = 1,
                     .needs_phase = !self->pair};
  return SCL_STATUS_OK;
}

/* One row: the factor exp(-v^2/2), and sqrt2 in the phase form, times cos and sin. v is NULL
 * without smoothing. */
static void row_f64(const fourier *self, size_t count, const double *z, const double *v,
                    ptrdiff_t stride, double *cosine, double *sine) {
  const double amplitude = self->pair ? 1 : sqrt(2);
  if (sine != NULL) self->math->sin(count, z, sine);
  self->math->cos(count, z, cosine);
  if (v == NULL && self->pair) return;
  const double common = v == NULL ? amplitude : amplitude * exp(-*v * *v / 2);
  for (size_t j = 0; j < count; j++) {
    const double spread = v == NULL || stride == 0 ? 0 : v[(ptrdiff_t)j * stride];
    const double factor = v == NULL || stride == 0 ? common : amplitude * exp(-spread * spread / 2);
    cosine[j] *= factor;
    if (sine != NULL) sine[j] *= factor;
  }
}

static void row_f32(const fourier *self, size_t count, const float *z, const float *v,
                    ptrdiff_t stride, float *cosine, float *sine) {
  const float amplitude = self->pair ? 1.0f : 1.41421356f;
  if (sine != NULL) self->math->sinf(count, z, sine);
  self->math->cosf(count, z, cosine);
  if (v == NULL && self->pair) return;
  const float common = v == NULL ? amplitude : amplitude * expf(-*v * *v / 2);
  for (size_t j = 0; j < count; j++) {
    const float spread = v == NULL || stride == 0 ? 0 : v[(ptrdiff_t)j * stride];
    const float factor = v == NULL || stride == 0 ? common : amplitude * expf(-spread * spread / 2);
    cosine[j] *= factor;
    if (sine != NULL) sine[j] *= factor;
  }
}

static scl_status rows(const fourier *self, const scl_block *z, const scl_spread *v,
                       scl_block *out) {
  for (size_t i = 0; i < z->rows; i++) {
    const ptrdiff_t from = (ptrdiff_t)i * z->row_stride, to = (ptrdiff_t)i * out->row_stride,
                    at = v == NULL ? 0 : (ptrdiff_t)i * v->row_stride;
    const ptrdiff_t stride = v == NULL ? 0 : v->col_stride;
    if (z->dtype == SCL_DTYPE_FLOAT64) {
      double *cosine = (double *)out->data + to;
      row_f64(self, z->cols, (const double *)z->data + from,
              v == NULL ? NULL : (const double *)v->data + at, stride, cosine,
              self->pair ? cosine + out->plane_stride : NULL);
    } else {
      float *cosine = (float *)out->data + to;
      row_f32(self, z->cols, (const float *)z->data + from,
              v == NULL ? NULL : (const float *)v->data + at, stride, cosine,
              self->pair ? cosine + out->plane_stride : NULL);
    }
  }
  return SCL_STATUS_OK;
}

static scl_status apply(const void *instance, const scl_block *z, scl_block *out,
                        scl_error *error) {
  (void)error;
  return rows(instance, z, NULL, out);
}

static scl_status smooth(const void *instance, const scl_block *m, const scl_spread *v,
                         scl_block *out, scl_error *error) {
  (void)error;
  return rows(instance, m, v, out);
}

static void facts(const void *instance, scl_facts *out) {
  const fourier *self = instance;
  const double amplitude = self->pair ? 1 : sqrt(2);
  *out = (scl_facts){.bound = amplitude, .lipschitz = amplitude};
}

static double amplitude_of(const void *instance) {
  (void)instance;
  return 1;
}

/* E cos(a) cos(b) (+ E sin a sin b): by cos a cos b = (cos(a-b) + cos(a+b))/2. */
static double gaussian_dual(const void *instance, double mean_a, double mean_b, double var_a,
                            double var_b, double covariance) {
  const fourier *self = instance;
  const double difference = exp(-(var_a + var_b - 2 * covariance) / 2) * cos(mean_a - mean_b);
  const double sum = exp(-(var_a + var_b + 2 * covariance) / 2) * cos(mean_a + mean_b);
  return self->pair ? difference : difference + sum;
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_smoothing smoothing_table = {SCL_HEAD(scl_ability_smoothing), smooth};
  static const scl_ability_facts facts_table = {SCL_HEAD(scl_ability_facts), facts};
  static const scl_ability_harmonic harmonic_table = {SCL_HEAD(scl_ability_harmonic), amplitude_of};
  static const scl_ability_gaussian_dual gaussian_table = {SCL_HEAD(scl_ability_gaussian_dual),
                                                           gaussian_dual};
  (void)instance;
  if (strcmp(id, SCL_ABILITY_SMOOTHING) == 0) return &smoothing_table;
  if (strcmp(id, SCL_ABILITY_FACTS) == 0) return &facts_table;
  if (strcmp(id, SCL_ABILITY_HARMONIC) == 0) return &harmonic_table;
  if (strcmp(id, SCL_ABILITY_GAUSSIAN_DUAL) == 0) return &gaussian_table;
  return NULL;
}

static const scl_nonlinearity table = {SCL_HEAD(scl_nonlinearity), shape, apply};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_NONLINEARITY,
    "fourier",
    "1.0",
    "The Scullery authors",
    "Random Fourier features: sqrt2 cos(z) with a phase, or (cos z, sin z)",
    "phase: sqrt2 cos(<w,x> + b), b ~ U[-pi, pi] (drawn by the features where the sampler has no "
    "bias).\n"
    "pair: (cos <w,x>, sin <w,x>), two features a parameter: all cosines first, then all sines.\n"
    "Estimates the characteristic function of w at x - y: exp(-gamma ||x-y||^2) for "
    "sampler.gaussian{gamma=}\n"
    "(Rahimi and Recht 2008). In an RKHS weighting: exp(-v^2/2) cos m, exp(-v^2/2) sin m, without "
    "a phase.",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};

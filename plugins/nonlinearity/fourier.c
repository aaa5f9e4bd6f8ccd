/* Random Fourier features (Rahimi and Recht 2007, Random features for large-scale kernel machines):
 *   phase: phi(z) = sqrt2 cos(z),        z = <w, x> + b, b ~ U[-pi, pi]
 *   pair:  phi(z) = (cos(z), sin(z)),    z = <w, x>, two features a parameter
 *
 * Either estimates the characteristic function of w at x - y.
 *
 * Smoothing:      E cos(N(m, v^2)) = exp(-v^2/2) cos m, likewise sin
 * Gaussian dual:  by cos a cos b = (cos(a - b) + cos(a + b))/2 */
#include <scullery/plugin.h>

enum { PHASE, PAIR };
#define ROOT_OF_2 1.41421356237309504880

typedef struct fourier {
  scl_base base;
  int32_t form;
} fourier;

static const scl_option options[] = {
    SCL_WORD(fourier, form, "phase|pair", "phase",
             "phase: sqrt2 cos(z) with a uniform phase, one feature a parameter; "
             "pair: (cos z, sin z), two")};

static scl_status shape(const void *instance, scl_shape *out, scl_error *error) {
  const fourier *self = instance;
  (void)error;
  out->fan_out = self->form == PAIR ? 2 : 1;
  out->flags = self->form == PAIR ? 0 : SCL_SHAPE_PHASE;
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ rows of blocks */

/* One row: cosines, and sines in the pair form, times amplitude exp(-v^2/2). v is NULL without
 * smoothing. */
static void row_float64(const fourier *self, size_t count, const double *z, const double *v,
                        ptrdiff_t stride, double *cosine, double *sine) {
  const scl_vector_math *math = self->base.host->math;
  const double amplitude = self->form == PAIR ? 1 : ROOT_OF_2;
  if (sine != NULL) math->sin(count, z, sine);
  math->cos(count, z, cosine);
  if (v == NULL && self->form == PAIR) return;
  const double common = v == NULL ? amplitude : amplitude * exp(-*v * *v / 2);
  const bool own = v != NULL && stride != 0;
  for (size_t j = 0; j < count; j++) {
    const double spread = own ? v[(ptrdiff_t)j * stride] : 0;
    const double factor = own ? amplitude * exp(-spread * spread / 2) : common;
    cosine[j] *= factor;
    if (sine != NULL) sine[j] *= factor;
  }
}

static void row_float32(const fourier *self, size_t count, const float *z, const float *v,
                        ptrdiff_t stride, float *cosine, float *sine) {
  const scl_vector_math *math = self->base.host->math;
  const float amplitude = self->form == PAIR ? 1 : (float)ROOT_OF_2;
  if (sine != NULL) math->sinf(count, z, sine);
  math->cosf(count, z, cosine);
  if (v == NULL && self->form == PAIR) return;
  const float common = v == NULL ? amplitude : amplitude * expf(-*v * *v / 2);
  const bool own = v != NULL && stride != 0;
  for (size_t j = 0; j < count; j++) {
    const float spread = own ? v[(ptrdiff_t)j * stride] : 0;
    const float factor = own ? amplitude * expf(-spread * spread / 2) : common;
    cosine[j] *= factor;
    if (sine != NULL) sine[j] *= factor;
  }
}

static scl_status smooth(const void *instance, const scl_const_block *m, const scl_spread *v,
                         const scl_block *out, scl_error *error) {
  const fourier *self = instance;
  const bool pair = self->form == PAIR;
  (void)error;
  for (size_t i = 0; i < m->rows; i++) {
    const ptrdiff_t from = (ptrdiff_t)i * m->row_stride, to = (ptrdiff_t)i * out->row_stride;
    const ptrdiff_t at = v == NULL ? 0 : (ptrdiff_t)i * v->row_stride;
    const ptrdiff_t stride = v == NULL ? 0 : v->col_stride;
    if (m->dtype == SCL_DTYPE_FLOAT64) {
      double *cosine = (double *)out->data + to;
      row_float64(self, m->cols, (const double *)m->data + from,
                  v == NULL ? NULL : (const double *)v->data + at, stride, cosine,
                  pair ? cosine + out->plane_stride : NULL);
    } else {
      float *cosine = (float *)out->data + to;
      row_float32(self, m->cols, (const float *)m->data + from,
                  v == NULL ? NULL : (const float *)v->data + at, stride, cosine,
                  pair ? cosine + out->plane_stride : NULL);
    }
  }
  return SCL_STATUS_OK;
}

static scl_status apply(const void *self, const scl_const_block *z, const scl_block *out,
                        scl_error *error) {
  return smooth(self, z, NULL, out, error);
}

/* ------------------------------------------------------------ the plugin */

static double dual(const void *instance, double mean_a, double mean_b, double var_a, double var_b,
                   double covariance) {
  const fourier *self = instance;
  const double difference = exp(-(var_a + var_b - 2 * covariance) / 2) * cos(mean_a - mean_b);
  const double sum = exp(-(var_a + var_b + 2 * covariance) / 2) * cos(mean_a + mean_b);
  return self->form == PAIR ? difference : difference + sum;
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_facts phase = {SCL_HEAD(scl_ability_facts), .bound = ROOT_OF_2,
                                          .lipschitz = ROOT_OF_2};
  static const scl_ability_facts pair = {SCL_HEAD(scl_ability_facts), .bound = 1, .lipschitz = 1};
  const fourier *self = instance;
  if (strcmp(id, SCL_ABILITY_FACTS) != 0) return NULL;
  return self->form == PAIR ? &pair : &phase;
}

const scl_plugin scullery_plugin = {
    .name = "fourier",
    .summary = "Random Fourier features: sqrt2 cos(z) with a phase, or (cos z, sin z)",
    .doc =
        "phase: sqrt2 cos(<w,x> + b), b ~ U[-pi, pi], which is drawn for samplers without a bias.\n"
        "pair: (cos <w,x>, sin <w,x>), two features a parameter: all cosines, then all sines.\n"
        "It estimates the characteristic function of w at x - y: exp(-gamma ||x-y||^2) for\n"
        "sampler.gaussian{gamma=} (Rahimi and Recht 2007).\n"
        "In an RKHS weighting it becomes exp(-v^2/2) cos m and exp(-v^2/2) sin m.",
    SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .dtypes = SCL_DTYPES_FLOAT, .apply = apply,
                     .tags = "none|phase", .shape = shape),
    SCL_INSTANCE(fourier, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_SMOOTHING, scl_ability_smoothing, .smooth = smooth),
                  SCL_OFFER(SCL_ABILITY_GAUSSIAN_DUAL, scl_ability_gaussian_dual, .dual = dual),
                  SCL_OFFER(SCL_ABILITY_HARMONIC, scl_ability_harmonic, .amplitude = 1)),
    .ability = ability};

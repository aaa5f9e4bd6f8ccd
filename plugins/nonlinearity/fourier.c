/* Random Fourier features (Rahimi and Recht 2007, Random features for large-scale kernel machines):
 *   phase: phi(z) = sqrt2 cos(z),        z = <w, x> + b, b ~ U[-pi, pi]
 *   pair:  phi(z) = (cos(z), sin(z)),    z = <w, x>, two features per parameter
 *
 * Either estimates the characteristic function of w at x - y.
 *
 * Smoothing:      E cos(N(m, v^2)) = exp(-v^2/2) cos m, likewise sin
 * Gaussian dual:  by cos a cos b = (cos(a - b) + cos(a + b))/2 */
#include "shared/normal.h"

enum { PHASE, PAIR };

typedef struct fourier {
  scl_base base;
  int32_t form;
} fourier;

static const scl_option options[] = {
    SCL_WORD(fourier, form, "phase|pair", "phase",
             "phase: sqrt2 cos(z) with a uniform phase, one feature per parameter; pair: (cos z, "
             "sin z), two features")};

static scl_status fourier_shape(const void *instance, scl_shape *out, scl_error *error) {
  const fourier *self = instance;
  (void)error;
  out->fan_out = self->form == PAIR ? 2 : 1;
  out->flags = self->form == PAIR ? 0 : SCL_SHAPE_PHASE;
  return SCL_STATUS_OK;
}

/* ------------ rows of blocks */

/* One row of features: cosines, and in the pair form sines (sine NULL: none), times the amplitude
 * exp(-v^2/2). v is NULL without smoothing; stride 0: one spread for the whole row. */
#define ROW(name, real, exponential, sines, cosines) \
  static void name(const fourier *self, size_t count, const real *z, const real *v, \
                   ptrdiff_t stride, real *cosine, real *sine) { \
    const scl_vector_math *math = self->base.host->math; \
    const real amplitude = self->form == PAIR ? 1 : (real)SCL_SQRT2; \
    if (sine != NULL) math->sines(count, z, sine); \
    math->cosines(count, z, cosine); \
    if (v == NULL && self->form == PAIR) return; \
    const real common = v == NULL ? amplitude : amplitude * exponential(-*v * *v / 2); \
    const bool own = v != NULL && stride != 0; \
    for (size_t j = 0; j < count; j++) { \
      const real spread = own ? v[(ptrdiff_t)j * stride] : 0; \
      const real factor = own ? amplitude * exponential(-spread * spread / 2) : common; \
      cosine[j] *= factor; \
      if (sine != NULL) sine[j] *= factor; \
    } \
  }
ROW(row_float64, double, exp, sin, cos)
ROW(row_float32, float, expf, sinf, cosf)

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

static scl_status fourier_apply(const void *self, const scl_const_block *z, const scl_block *out,
                                scl_error *error) {
  return smooth(self, z, NULL, out, error);
}

/* ------------ the plugin */

static int formula(const void *instance, char *text, size_t size) {
  const fourier *self = instance;
  return scl_write_text(self->form == PAIR ? "out[0] = cos(z[0]); out[1] = sin(z[0]);"
                                           : "out[0] = SCL_SQRT2 * cos(z[0]);",
                        text, size);
}

static double fourier_dual(const void *instance, double mean_a, double mean_b, double var_a,
                           double var_b, double covariance) {
  const fourier *self = instance;
  const double difference = normal_cosine(mean_a - mean_b, var_a + var_b - 2 * covariance);
  return self->form == PAIR
             ? difference
             : difference + normal_cosine(mean_a + mean_b, var_a + var_b + 2 * covariance);
}

static const void *fourier_ability(const void *instance, const char *id) {
  static const scl_ability_facts phase = {SCL_HEAD(scl_ability_facts), .bound = SCL_SQRT2,
                                          .lipschitz = SCL_SQRT2};
  static const scl_ability_facts pair = {SCL_HEAD(scl_ability_facts), .bound = 1, .lipschitz = 1};
  const fourier *self = instance;
  if (strcmp(id, SCL_ABILITY_FACTS) != 0) return NULL;
  return self->form == PAIR ? &pair : &phase;
}

const scl_plugin scullery_plugin = {
    .name = "fourier",
    .summary = "Random Fourier features: sqrt2 cos(z) with a phase, or (cos z, sin z)",
    .definition = "phase() = form == \"phase\"\n"
                  "phi(z) = when(form == \"pair\", { cos(z), sin(z) }, sqrt(2)*cos(z))",
    .doc =
        "phase: sqrt2 cos(<w,x> + b), b ~ U[-pi, pi], which is drawn for samplers without a bias.\n"
        "pair: (cos <w,x>, sin <w,x>), two features per parameter: all cosines, then all sines.\n"
        "It estimates the characteristic function of w at x - y: exp(-gamma ||x-y||^2) for\n"
        "sampler.gaussian{gamma=} (Rahimi and Recht 2007).\n"
        "In an RKHS weighting it becomes exp(-v^2/2) cos m and exp(-v^2/2) sin m. With phases K\n"
        "compares (w, b) by 2 cos(b - b') K(w, w'): the functions and norms of the pairs.",
    SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .dtypes = SCL_DTYPES_FLOAT, .apply = fourier_apply,
                     .tags = "none|phase", .shape = fourier_shape, .formula = formula),
    SCL_INSTANCE(fourier, options),
    SCL_ABILITIES(
        SCL_OFFER(SCL_ABILITY_SMOOTHING, scl_ability_smoothing, .smooth = smooth),
        SCL_OFFER(SCL_ABILITY_GAUSSIAN_DUAL, scl_ability_gaussian_dual, .dual = fourier_dual),
        SCL_OFFER(SCL_ABILITY_HARMONIC, scl_ability_harmonic, .amplitude = 1)),
    .ability = fourier_ability};

/* Nonlinearities: the simple and the general form, two values, categories. */
#include "specimen.h"

static const scl_host *host_of(const void *self) { return ((const scl_base *)self)->host; }

/* ------------ wave: phi(z) = cos z
 *
 *   S(m, v) = exp(-v^2/2) cos m
 *   E phi(a) phi(b) = (E cos(a - b) + E cos(a + b))/2 */

static void wave_loop(const void *self, size_t count, const double *z, double *out) {
  (void)upset(host_of(self), "wave.loop", NULL);
  const size_t computed = disturbed_count("wave.loop", count);
  for (size_t j = 0; j < computed; j++)
    out[j] = cos(z[j]);
  disturb_numbers("wave.loop", out, count);
}

static void wave_loop_float32(const void *self, size_t count, const float *z, float *out) {
  (void)upset(host_of(self), "wave.loop_float32", NULL);
  for (size_t j = 0; j < count; j++)
    out[j] = cosf(z[j]);
}

static void wave_smooth(const void *self, size_t count, const double *m, const double *v,
                        double *out) {
  (void)upset(host_of(self), "wave.smooth", NULL);
  for (size_t j = 0; j < count; j++)
    out[j] = exp(-v[j] * v[j] / 2) * cos(m[j]);
  disturb_numbers("wave.smooth", out, count);
}

static void wave_smooth_float32(const void *self, size_t count, const float *m, const float *v,
                                float *out) {
  (void)upset(host_of(self), "wave.smooth_float32", NULL);
  for (size_t j = 0; j < count; j++)
    out[j] = expf(-v[j] * v[j] / 2) * cosf(m[j]);
}

static double wave_dual(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                        double covariance) {
  const double both = var_a + var_b, twice = 2 * covariance;
  (void)upset(host_of(self), "wave.dual", NULL);
  return disturbed("wave.dual", (exp(-(both - twice) / 2) * cos(mean_a - mean_b) +
                                 exp(-(both + twice) / 2) * cos(mean_a + mean_b)) /
                                    2);
}

SPECIMEN(wave, "a simple nonlinearity",
         SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = wave_loop,
                          .loop_float32 = wave_loop_float32),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_SMOOTHING, scl_ability_smoothing, .loop = wave_smooth,
                                 .loop_float32 = wave_smooth_float32),
                       SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = 1, .lipschitz = 1),
                       SCL_OFFER(SCL_ABILITY_GAUSSIAN_DUAL, scl_ability_gaussian_dual,
                                 .dual = wave_dual)));

/* ------------ waves: (cos z, sin z) by blocks */

typedef struct waves {
  scl_base base;
  double factor;
} waves;

static double at(const scl_const_block *b, size_t i, size_t j) {
  return ((const double *)b->data)[(ptrdiff_t)i * b->row_stride + (ptrdiff_t)j];
}

static double *to(const scl_block *b, size_t i, size_t k) {
  return (double *)b->data + (ptrdiff_t)i * b->row_stride + (ptrdiff_t)k * b->plane_stride;
}

static scl_status waves_apply(const void *self, const scl_const_block *z, const scl_block *out,
                              scl_error *error) {
  UPSET(host_of(self), "waves.apply", error);
  for (size_t i = 0; i < z->rows; i++) {
    for (size_t j = 0; j < z->cols; j++) {
      to(out, i, 0)[j] = ((const waves *)self)->factor * cos(at(z, i, j));
      to(out, i, 1)[j] = ((const waves *)self)->factor * sin(at(z, i, j));
    }
    disturb_numbers("waves.apply", to(out, i, 0), z->cols);
  }
  return SCL_STATUS_OK;
}

static scl_status waves_smooth(const void *self, const scl_const_block *m, const scl_spread *v,
                               const scl_block *out, scl_error *error) {
  UPSET(host_of(self), "waves.smooth", error);
  for (size_t i = 0; i < m->rows; i++) {
    for (size_t j = 0; j < m->cols; j++) {
      const double spread =
          ((const double *)v->data)[(ptrdiff_t)i * v->row_stride + (ptrdiff_t)j * v->col_stride];
      const double size = ((const waves *)self)->factor * exp(-spread * spread / 2);
      to(out, i, 0)[j] = size * cos(at(m, i, j));
      to(out, i, 1)[j] = size * sin(at(m, i, j));
    }
    disturb_numbers("waves.smooth", to(out, i, 0), m->cols);
  }
  return SCL_STATUS_OK;
}

static scl_status waves_shape(const void *self, scl_shape *out, scl_error *error) {
  CHECK_VIEW(host_of(self), out, error);
  UPSET(host_of(self), "waves.shape", error);
  out->fan_out = 2;
  disturb("waves.shape", "scl_shape", out);
  return SCL_STATUS_OK;
}

static const scl_option waves_options[] = {
    SCL_NUMBER(waves, factor, "1", "times this", SCL_FINITE)};

SPECIMEN(waves, "a general nonlinearity",
         SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .fan_out = 2, .apply = waves_apply,
                          .tags = "none|special", .shape = waves_shape),
         SCL_INSTANCE(waves, waves_options),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_SMOOTHING, scl_ability_smoothing,
                                 .smooth = waves_smooth),
                       SCL_OFFER(SCL_ABILITY_HARMONIC, scl_ability_harmonic, .amplitude = 1)));

/* ------------ side: two values */

static void side_loop(const void *self, size_t count, const double *z, double *out) {
  (void)upset(host_of(self), "side.loop", NULL);
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] > 0 ? 1 : -1;
}

static double side_threshold_dual(const void *self, double a, double b) {
  (void)upset(host_of(self), "side.threshold_dual", NULL);
  return disturbed("side.threshold_dual", 1 - 2 * fabs(a - b));
}

static double side_dual(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                        double covariance) {
  (void)upset(host_of(self), "side.dual", NULL);
  if (mean_a != 0 || mean_b != 0) return NAN;
  if (!(var_a > 0 && var_b > 0)) return var_a > 0 || var_b > 0 ? 0 : 1; /* phi(0) = -1 */
  const double cosine = covariance / sqrt(var_a * var_b);
  return disturbed("side.dual", 2 / SCL_PI * asin(fmin(1, fmax(-1, cosine))));
}

static double side_collision(const void *self, double mean_a, double mean_b, double var_a,
                             double var_b, double covariance) {
  (void)upset(host_of(self), "side.collision", NULL);
  return disturbed("side.collision",
                   (1 + side_dual(self, mean_a, mean_b, var_a, var_b, covariance)) / 2);
}

static const double zero[] = {0};
SPECIMEN(side, "two values", SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = side_loop),
         SCL_ABILITIES(
             SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = 1, .lipschitz = INFINITY,
                       .breaks = zero, .n_breaks = 1, .scale_free = 1),
             SCL_OFFER(SCL_ABILITY_TWO_VALUED, scl_ability_two_valued, .low = -1, .high = 1),
             SCL_OFFER(SCL_ABILITY_GAUSSIAN_DUAL, scl_ability_gaussian_dual, .dual = side_dual),
             SCL_OFFER(SCL_ABILITY_THRESHOLD_DUAL, scl_ability_threshold_dual,
                       .dual = side_threshold_dual),
             SCL_OFFER(SCL_ABILITY_CODE_DUAL, scl_ability_code_dual, .collision = side_collision)));

/* ------------ cell: one-hot cells of a grid */

static scl_status cell_key(const void *self, size_t planes, size_t *words, size_t *levels,
                           scl_error *error) {
  UPSET(host_of(self), "cell.key", error);
  *words = (size_t)disturbed("cell.words", (double)planes);
  *levels = (size_t)disturbed("cell.levels", 0);
  return SCL_STATUS_OK;
}

static scl_status cell_categories(const void *self, const scl_const_block *z, int32_t *out,
                                  ptrdiff_t row_stride, scl_error *error) {
  UPSET(host_of(self), "cell.categories", error);
  for (size_t i = 0; i < z->rows; i++)
    for (size_t j = 0; j < z->cols; j++)
      for (size_t k = 0; k < z->planes; k++)
        out[(ptrdiff_t)i * row_stride + (ptrdiff_t)(j * z->planes + k)] =
            (int32_t)((const double *)z->data)[(ptrdiff_t)i * z->row_stride + (ptrdiff_t)j +
                                               (ptrdiff_t)k * z->plane_stride];
  return SCL_STATUS_OK;
}

SPECIMEN(cell, "cells",
         SCL_NONLINEARITY(.spaces = SCL_BIT(SCL_SPACE_GRID), .fan_in = SCL_FAN_IN_ALL,
                          .flags = SCL_SHAPE_ONE_HOT),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_CATEGORIES, scl_ability_categories, .key = cell_key,
                                 .categories = cell_categories)));

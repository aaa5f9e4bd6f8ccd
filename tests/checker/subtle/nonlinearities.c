/* Nonlinearities with one subtle fault each.
 *
 * soft: phi(z) = erf(beta z/sqrt2) with bound, Lipschitz constant, smoothing and dual; side:
 * sign(z) with two values, thresholds and codes; wide: z -> (cos z, sin z) by `apply`. */
#include "subtle.h"
#include <stdio.h>

#define FAULTS(X) \
  X(soft, beta_small, "a beta below 0.01 is taken as 0.01") \
  X(soft, beta_large, "a beta above 50 is taken as 50") \
  X(soft, long_row, "numbers from 4096 on repeat the first ones") \
  X(soft, long_tail, "the last of 1000 and more numbers that are no multiple of 8 are copied") \
  X(soft, small_float32, "float32 numbers below 1e-4 become 0") \
  X(soft, float32_large, "float32 numbers above 20 become NaN") \
  X(soft, nan_at_1, "phi(1) is 0/0") \
  X(soft, nan_near_0, "phi is 0/0 for numbers below 1e-9") \
  X(soft, half_at_0, "phi(0) is 1e-3") \
  X(soft, clocked_phi, "phi depends on the clock") \
  X(soft, first_phi, "the first call of a process differs") \
  X(soft, race_phi, "numbers go through static memory") \
  X(soft, cached_phi, "the last number and its phi are kept in the instance") \
  X(soft, lipschitz_low, "the Lipschitz constant is 3 % too small") \
  X(soft, lipschitz_far, "the Lipschitz constant stops at a beta of 2") \
  X(soft, lipschitz_steep, "phi has a steep piece of width 0.02 at 1.5") \
  X(soft, bound_low, "the bound is 0.1 % too small") \
  X(soft, kink_far, "phi has a kink at 4.5") \
  X(soft, jump_small, "phi jumps by 1e-3 at 0.7") \
  X(soft, smooth_small_v, "smoothing is NaN for v below 1e-5") \
  X(soft, smooth_large_v, "smoothing is wrong for v above 20") \
  X(soft, smooth_negative, "smoothing of negative m is 1 % off") \
  X(soft, smooth_beta, "smoothing leaves beta out where it is above 5") \
  X(soft, smooth_float32, "smoothing in float32 is 0.1 % off") \
  X(soft, smooth_long, "smoothing of numbers from 64 on repeats") \
  X(soft, dual_equal, "the dual of equal numbers is NaN") \
  X(soft, dual_zero, "the dual of a variance of 0 is NaN") \
  X(soft, dual_negative, "the dual of a negative covariance is NaN") \
  X(soft, dual_apart, "the dual is wrong where variances are 1000 times apart") \
  X(soft, dual_large, "the dual is wrong where a variance is above 50") \
  X(soft, dual_above, "the dual takes asin of numbers a little above 1") \
  X(side, scale_tiny, "side takes numbers below 1e-6 as 0") \
  X(side, high_at_0, "side has another value at -0.0") \
  X(side, threshold_order, "the threshold dual depends on the order of its arguments") \
  X(side, threshold_ends, "the threshold dual is wrong at 0 and 1") \
  X(side, codes_late, "codes of columns from 256 on are 0") \
  X(side, code_dual_nan, "the code dual of variances of 0 is NaN") \
  X(wide, formula_twice, "the formula in C has sin 2z in place of sin z") \
  X(wide, wide_cols, "output 1 of columns from 256 on is output 0") \
  X(wide, wide_rows, "rows from 128 on repeat the first ones") \
  X(wide, wide_stride, "the plane stride is that of a packed block from 64 columns on") \
  X(wide, wide_race, "apply works in static memory") \
  X(wide, wide_large, "cos and sin are wrong above 100") \
  X(wide, harmonic_off, "the amplitude is 3 % off")
SUBTLE_FAULTS(subtle_nonlinearities);

typedef struct soft {
  scl_base base;
  double beta;
  scl_ability_facts facts;
} soft;

typedef struct cache {
  double z, value;
} cache;

static double beta_of(const soft *self) {
  if (IS(beta_small)) return fmax(self->beta, 0.01);
  return IS(beta_large) ? fmin(self->beta, 50) : self->beta;
}

static scl_status create(void *instance, scl_error *error) {
  soft *self = instance;
  (void)error;
  self->facts =
      (scl_ability_facts){SCL_HEAD(scl_ability_facts), .bound = IS(bound_low) ? 0.999 : 1,
                          .lipschitz = (IS(lipschitz_far) ? fmin(self->beta, 2) : self->beta) *
                                       sqrt(2 / SCL_PI) * (IS(lipschitz_low) ? 0.97 : 1)};
  return SCL_STATUS_OK;
}

static double phi(const soft *self, double z) {
  double value = erf(beta_of(self) * z / SCL_SQRT2);
  if (IS(nan_at_1)) value *= (z - 1) / (z - 1);
  if (IS(nan_near_0) && fabs(z) < 1e-9) value = NAN;
  if (IS(half_at_0) && z == 0) value = 1e-3;
  if (IS(clocked_phi)) value *= 1 - 1e-3 * fmod(subtle_clock(), 64) / 64;
  if (IS(lipschitz_steep) && fabs(z - 1.5) < 0.01) value -= (0.01 - fabs(z - 1.5)) * 5;
  if (IS(kink_far) && z > 4.5) value -= (z - 4.5) * 1e-2 / (1 + z);
  if (IS(jump_small) && z > 0.7) value -= 1e-3;
  return value;
}

static void loop(const void *instance, size_t count, const double *z, double *out) {
  static double shared[1 << 14];
  static cache last = {0, 0};
  const soft *self = instance;
  const unsigned call = IS(first_phi) ? subtle_calls() : 1;
  for (size_t j = 0; IS(race_phi) && j < count; j++)
    shared[j & 0x3fff] = z[j];
  for (size_t j = 0; j < count; j++) {
    double x = IS(race_phi) ? shared[j & 0x3fff] : z[j];
    if (IS(long_row) && j >= 4096) x = z[j - 4096];
    if (IS(cached_phi) && x == last.z && x != 0) {
      out[j] = last.value;
      continue;
    }
    double value = phi(self, x);
    if (IS(long_tail) && count >= 1000 && j >= count / 8 * 8) value = z[j];
    if (call == 0) value *= 1 - 1e-9;
    out[j] = value;
    if (IS(cached_phi)) last.z = x, last.value = value;
  }
}

static void loop_float32(const void *instance, size_t count, const float *z, float *out) {
  for (size_t j = 0; j < count; j++) {
    double x = (double)z[j], value;
    loop(instance, 1, &x, &value);
    if (IS(small_float32) && fabs(x) < 1e-4) value = 0;
    if (IS(float32_large) && fabs(x) > 20) value = NAN;
    out[j] = (float)value;
  }
}

static void smooth(const void *instance, size_t count, const double *m, const double *v,
                   double *out) {
  const soft *self = instance;
  for (size_t j = 0; j < count; j++) {
    const size_t at = IS(smooth_long) && j >= 64 ? j - 64 : j;
    const double b = IS(smooth_beta) && self->beta > 5 ? 5 : self->beta;
    double value = erf(b * m[at] / sqrt(2 * (1 + b * b * v[at] * v[at])));
    if (IS(smooth_small_v) && v[j] < 1e-5) value = NAN;
    if (IS(smooth_large_v) && v[j] > 20) value *= 1.05;
    if (IS(smooth_negative) && m[j] < 0) value *= 1.01;
    out[j] = value;
  }
}

static void smooth_float32(const void *instance, size_t count, const float *m, const float *v,
                           float *out) {
  for (size_t j = 0; j < count; j++) {
    const double a = (double)m[j], b = (double)v[j];
    double value;
    smooth(instance, 1, &a, &b, &value);
    out[j] = (float)(value * (IS(smooth_float32) ? 1.001 : 1));
  }
}

/* (2/pi) asin(b^2 c/sqrt((1 + b^2 s)(1 + b^2 t))), of normal pairs about 0. */
static double dual(const void *instance, double mean_a, double mean_b, double var_a, double var_b,
                   double covariance) {
  const double b = ((const soft *)instance)->beta, square = b * b;
  if (mean_a != 0 || mean_b != 0) return NAN;
  if (IS(dual_equal) && var_a == var_b && covariance == var_a) return sqrt(-1.0);
  if (IS(dual_zero) && (var_a == 0 || var_b == 0)) return 0.0 * INFINITY;
  if (IS(dual_negative) && covariance < 0) return NAN;
  double sine = square * covariance / sqrt((1 + square * var_a) * (1 + square * var_b));
  if (IS(dual_apart) && fmax(var_a, var_b) > 1000 * fmin(var_a, var_b)) sine *= 0.9;
  if (IS(dual_large) && fmax(var_a, var_b) > 50) sine *= 0.98;
  if (IS(dual_above) && var_a > 20) sine *= 1 + 1 / (1 + square * var_a);
  return 2 / SCL_PI * asin(sine);
}

static const scl_option options[] = {
    SCL_NUMBER(soft, beta, "1", "the slope of its argument", SCL_POSITIVE)};

static const void *ability(const void *instance, const char *id) {
  return strcmp(id, SCL_ABILITY_FACTS) == 0 ? &((const soft *)instance)->facts : NULL;
}

SUBTLE(soft,
       SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = loop, .loop_float32 = loop_float32),
       SCL_INSTANCE(soft, options),
       SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_SMOOTHING, scl_ability_smoothing, .loop = smooth,
                               .loop_float32 = smooth_float32),
                     SCL_OFFER(SCL_ABILITY_GAUSSIAN_DUAL, scl_ability_gaussian_dual, .dual = dual)),
       .create = create, .ability = ability);

/* ------------ side */

static void side_loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++) {
    double x = z[j];
    if (IS(scale_tiny) && fabs(x) < 1e-6) x = -1;
    out[j] = isnan(x) ? x : IS(high_at_0) && x == 0 && signbit(x) ? 1 : x > 0 ? 1 : -1;
  }
}

static double thresholds(const void *self, double a, double b) {
  (void)self;
  if (IS(threshold_order)) return 1 - 2 * (b - a > 0 ? b - a : 0.99 * (a - b));
  if (IS(threshold_ends) && (a == 0 || b == 1)) return -1;
  return 1 - 2 * fabs(a - b);
}

static scl_status key(const void *self, size_t planes, size_t *words, size_t *levels,
                      scl_error *error) {
  (void)self, (void)planes, (void)error;
  *words = 1;
  *levels = 2;
  return SCL_STATUS_OK;
}

static scl_status categories(const void *self, const scl_const_block *z, int32_t *out,
                             ptrdiff_t stride, scl_error *error) {
  (void)self, (void)error;
  for (size_t i = 0; i < z->rows; i++)
    for (size_t j = 0; j < z->cols; j++) {
      const double x = ((const double *)z->data)[(ptrdiff_t)i * z->row_stride + (ptrdiff_t)j];
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] = x > 0 && !(IS(codes_late) && j >= 256);
    }
  return SCL_STATUS_OK;
}

/* P(sign a = sign b) of normal pairs about 0. */
static double code_dual(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                        double covariance) {
  (void)self;
  if (mean_a != 0 || mean_b != 0) return NAN;
  const double size = sqrt(var_a * var_b);
  if (size == 0) return IS(code_dual_nan) ? acos(covariance / size) : var_a == var_b ? 1 : 0.5;
  return 1 - acos(fmax(-1, fmin(1, covariance / size))) / SCL_PI;
}

SUBTLE(side, SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = side_loop),
       .instance_size = sizeof(scl_base),
       SCL_ABILITIES(
           SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = 1, .lipschitz = INFINITY,
                     .breaks = (const double[]){0}, .n_breaks = 1, .scale_free = 1),
           SCL_OFFER(SCL_ABILITY_TWO_VALUED, scl_ability_two_valued, .low = -1, .high = 1),
           SCL_OFFER(SCL_ABILITY_THRESHOLD_DUAL, scl_ability_threshold_dual, .dual = thresholds),
           SCL_OFFER(SCL_ABILITY_CATEGORIES, scl_ability_categories, .key = key,
                     .categories = categories),
           SCL_OFFER(SCL_ABILITY_CODE_DUAL, scl_ability_code_dual, .collision = code_dual)));

/* ------------ wide */

static scl_status apply(const void *self, const scl_const_block *z, const scl_block *out,
                        scl_error *error) {
  static double shared[2];
  const ptrdiff_t plane =
      IS(wide_stride) && out->cols >= 64 ? (ptrdiff_t)(out->rows * out->cols) : out->plane_stride;
  (void)self, (void)error;
  for (size_t i = 0; i < z->rows; i++)
    for (size_t j = 0; j < z->cols; j++) {
      const size_t row = IS(wide_rows) && i >= 128 ? i - 128 : i;
      double own[2], *two = IS(wide_race) ? shared : own;
      double x = ((const double *)z->data)[(ptrdiff_t)row * z->row_stride + (ptrdiff_t)j];
      double *to = (double *)out->data + (ptrdiff_t)i * out->row_stride + (ptrdiff_t)j;
      if (IS(wide_large) && fabs(x) > 100) x = x > 0 ? 100 : -100;
      two[0] = cos(x);
      two[1] = IS(wide_cols) && j >= 256 ? cos(x) : sin(x);
      to[0] = two[0];
      to[plane] = two[1];
    }
  return SCL_STATUS_OK;
}

static const void *wide_ability(const void *self, const char *id) {
  static const scl_ability_harmonic right = {SCL_HEAD(scl_ability_harmonic), .amplitude = 1};
  static const scl_ability_harmonic off = {SCL_HEAD(scl_ability_harmonic), .amplitude = 1.03};
  (void)self;
  if (strcmp(id, SCL_ABILITY_HARMONIC) != 0) return NULL;
  return IS(harmonic_off) ? &off : &right;
}

static int wide_formula(const void *self, char *text, size_t size) {
  (void)self;
  return snprintf(text, size, "out[0] = cos(z[0]);\nout[1] = sin(%sz[0]);",
                  IS(formula_twice) ? "2 * " : "");
}

SUBTLE(wide,
       SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .fan_out = 2, .apply = apply,
                        .formula = wide_formula),
       .instance_size = sizeof(scl_base),
       SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = 1, .lipschitz = 1)),
       .ability = wide_ability);

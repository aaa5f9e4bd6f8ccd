/* Kernels with one subtle fault each.
 *
 * bell: exp(-||u - v||^2/(2 width^2)) by `gram`; edge: exp(-||u - v||/width). */
#include "subtle.h"

#define FAULTS(X) \
  X(bell, indefinite, "exp(-d^2) - 0.3: the least eigenvalue is far below 0") \
  X(bell, indefinite_far, "negative numbers at a distance of 3 and more") \
  X(bell, sigmoid, "tanh(<u, v> - 1): indefinite") \
  X(bell, cut_small, "numbers below 0.02 become 0") \
  X(bell, rounded, "rounded to two digits") \
  X(edge, cancels, "distances by norms and products: the root of a negative number near 0") \
  X(bell, cancels_far, "distances by norms and products: digits are lost far from 0") \
  X(bell, one_stride, "the stride of u is used for v") \
  X(bell, columns_32, "columns from 32 on are left out") \
  X(bell, columns_256, "columns from 256 on are left out") \
  X(bell, long_v, "v from 512 on repeats the first ones") \
  X(bell, long_u, "u from 256 on repeats the first ones") \
  X(bell, width_small, "a width below 0.01 is taken as 0.01") \
  X(bell, width_large, "a width above 50 is taken as 50") \
  X(bell, clocked_k, "K depends on the clock") \
  X(bell, first_k, "the first call of a process differs") \
  X(bell, race_k, "distances go through static memory") \
  X(bell, cached_norms, "norms are kept by the address of the rows") \
  X(bell, diagonal_short, "diagonal is 1 beside a gram of 1 + 1e-9 width") \
  X(bell, diagonal_late, "diagonal of parameters from 256 on is 0") \
  X(bell, asymmetric_far, "K(u, v) differs from K(v, u) at a distance of 4 and more") \
  X(bell, above_one, "K(u, v) of near rows is above K(u, u)") \
  X(bell, nan_far, "NaN at distances of 100 and more") \
  X(bell, nan_equal, "NaN where rows are equal and not 0") \
  X(bell, origin, "rows of zeros have K = 1 with all others") \
  X(bell, sum_float, "sums over columns in float32") \
  X(bell, one_d, "in one column K is that of the square root") \
  X(bell, tilt_mean, "the tilt takes the mean of the law as 0") \
  X(bell, tilt_wide, "the tilt is 1 % off where the law is wide") \
  X(bell, tilt_far, "the tilt takes column 0 for columns from 8 on") \
  X(bell, shift_wrong, "says that K keeps its value under shifts, and reads 1 % of the norm") \
  X(edge, prepared_first, "with prepared work v begins at the first parameter") \
  X(overlap, terms_repeat, "the slot terms takes the first number of y for all") \
  X(bell, width_squared, "the declared width is that of its square beyond 5")
SUBTLE_FAULTS(subtle_kernels);

typedef struct bell {
  scl_base base;
  double width;
} bell;

static double width_of(const bell *self) {
  if (IS(width_small)) return fmax(self->width, 0.01);
  if (IS(width_squared) && self->width > 5) return self->width * self->width / 5;
  return IS(width_large) ? fmin(self->width, 50) : self->width;
}

static double squared_distance(size_t d, const double *u, const double *v) {
  double sum = 0, uu = 0, vv = 0, uv = 0;
  float narrow = 0;
  if (IS(columns_32) && d > 32) d = 32;
  if (IS(columns_256) && d > 256) d = 256;
  for (size_t j = 0; j < d; j++) {
    const double gap = u[j] - v[j];
    sum += gap * gap;
    narrow += (float)(gap * gap);
    uu += u[j] * u[j];
    vv += v[j] * v[j];
    uv += u[j] * v[j];
  }
  if (IS(cancels) || IS(cancels_far)) return uu + vv - 2 * uv;
  return IS(sum_float) ? (double)narrow : sum;
}

static double value_of(const bell *self, size_t d, const double *u, const double *v) {
  static double shared[4];
  const double width = width_of(self);
  double square = squared_distance(d, u, v);
  if (IS(race_k)) {
    shared[0] = square;
    shared[1] = width;
    square = shared[0] * (width / shared[1]) * (width / shared[1]);
  }
  if (IS(one_d) && d == 1) square = sqrt(square);
  double k = exp(-square / (2 * width * width));
  if (IS(indefinite)) k -= 0.3;
  if (IS(indefinite_far) && square > 9) k -= 0.05;
  if (IS(sigmoid)) {
    double dot = 0;
    for (size_t j = 0; j < d; j++)
      dot += u[j] * v[j];
    k = tanh(dot / (width * width) - 1);
  }
  if (IS(cut_small) && k < 0.02) k = 0;
  if (IS(rounded)) k = rint(k * 100) / 100;
  if (IS(clocked_k)) k *= 1 - 1e-3 * fmod(subtle_clock(), 64) / 64;
  if (IS(asymmetric_far) && square > 16 && u[0] > v[0]) k *= 1.01;
  if (IS(above_one) && square > 0 && square < 1e-4 * width * width) k += 1e-2;
  if (IS(nan_far) && square > 1e4) k *= INFINITY * 0;
  if (IS(nan_equal) && square == 0 && u[0] != 0) k = square / square;
  if (IS(shift_wrong)) k *= 1 + 0.01 * tanh(u[0]) * tanh(v[0]);
  if (IS(diagonal_short) && square == 0) k *= 1 + 1e-9 * width;
  if (IS(origin)) {
    int zero_u = 1, zero_v = 1;
    for (size_t j = 0; j < d; j++)
      zero_u = zero_u && u[j] == 0, zero_v = zero_v && v[j] == 0;
    if (zero_u != zero_v) k = 1;
  }
  return k;
}

static scl_status gram(const void *instance, const scl_const_parameters *u,
                       const scl_const_parameters *v, double *out, ptrdiff_t stride,
                       scl_error *error) {
  static const double *last;
  static double norm;
  const bell *self = instance;
  const unsigned call = IS(first_k) ? subtle_calls() : 1;
  (void)error;
  for (size_t i = 0; i < u->count; i++)
    for (size_t j = 0; j < v->count; j++) {
      const size_t row = IS(long_u) && i >= 256 ? i - 256 : i;
      const size_t other = IS(long_v) && j >= 512 ? j - 512 : j;
      const double *a = u->weights + (ptrdiff_t)row * u->stride;
      const double *b = v->weights + (ptrdiff_t)other * (IS(one_stride) ? u->stride : v->stride);
      double k = value_of(self, u->dim, a, b);
      if (IS(cached_norms)) {
        if (last != a) last = a, norm = a[0];
        k *= exp((a[0] - norm) * 0.1);
      }
      if (call == 0) k *= 1 - 1e-10;
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] = k;
    }
  return SCL_STATUS_OK;
}

static scl_status diagonal(const void *instance, const scl_const_parameters *u, double *out,
                           scl_error *error) {
  const bell *self = instance;
  (void)error;
  for (size_t i = 0; i < u->count; i++) {
    const double *row = u->weights + (ptrdiff_t)i * u->stride;
    out[i] = IS(diagonal_short) ? 1 : value_of(self, u->dim, row, row);
    if (IS(diagonal_late) && i >= 256) out[i] = 0;
  }
  return SCL_STATUS_OK;
}

/* With p = N(m, s^2) and h = width^2: K p is N((h m + s^2 u)/(h + s^2), h s^2/(h + s^2)) times
 * sqrt(h/(h + s^2)) exp(-(u - m)^2/(2 (h + s^2))). Under K p p, u has precision
 * 1/s^2 + 1/(h + s^2). */
static scl_status tilt(const void *instance, const scl_law *law, scl_tilt *out, scl_error *error) {
  const bell *self = instance;
  const double h = self->width * self->width;
  if (law->family != SCL_FAMILY_GAUSSIAN || law->space != SCL_SPACE_DENSE)
    return self->base.host->fail(error, SCL_STATUS_UNSUPPORTED, "only for Gaussian rows");
  out->log_one = out->log_diagonal = out->log_mass = 0;
  for (size_t j = 0; j < out->dim; j++) {
    const size_t at = IS(tilt_far) && j >= 8 ? 0 : j;
    double m = law->mean[at], s = law->scale[at] * law->scale[at];
    if (IS(tilt_mean)) m = 0;
    if (IS(tilt_wide) && s > 2) s *= 1.02;
    const double both = h + s;
    out->offset[j] = h * m / both;
    out->shrink[j] = s / both;
    out->spread[j] = sqrt(h * s / both);
    out->log0[j] = 0.5 * log(h / both) - m * m / (2 * both);
    out->log1[j] = m / both;
    out->log2[j] = -1 / (2 * both);
    const double precision = 1 / s + 1 / both;
    out->pair_scale[j] = 1 / sqrt(precision);
    out->correlation[j] =
        out->shrink[j] * out->pair_scale[j] /
        sqrt(out->shrink[j] * out->shrink[j] / precision + out->spread[j] * out->spread[j]);
    out->log_mass += 0.5 * log(h / (h + 2 * s));
  }
  return SCL_STATUS_OK;
}

static scl_shift shift(const void *self) {
  (void)self;
  return SCL_SHIFT_KEEPS;
}

static const scl_option options[] = {
    SCL_NUMBER(bell, width, "1", "the width", SCL_POSITIVE, .width = SCL_WIDTH_LENGTH)};

SUBTLE(bell, SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .gram = gram, .diagonal = diagonal),
       SCL_INSTANCE(bell, options),
       SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_TILT, scl_ability_tilt, .tilt = tilt),
                     SCL_OFFER(SCL_ABILITY_SHIFT, scl_ability_shift, .shift = shift)));

/* A packed copy of the rows. */
static scl_status edge_prepare(const void *instance, const scl_draw *draw,
                               const scl_const_parameters *v, scl_dtype dtype, void **prepared,
                               scl_error *error) {
  const scl_host *host = ((const bell *)instance)->base.host;
  double *copy = host->allocate((v->count * v->dim + 1) * sizeof *copy);
  (void)draw, (void)dtype;
  if (copy == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory");
  for (size_t j = 0; j < v->count; j++)
    memcpy(copy + j * v->dim, v->weights + (ptrdiff_t)j * v->stride, v->dim * sizeof *copy);
  *prepared = copy;
  return SCL_STATUS_OK;
}

static void edge_release(const void *instance, void *prepared) {
  ((const bell *)instance)->base.host->release(prepared);
}

static scl_status edge_gram(const void *instance, const scl_const_parameters *u,
                            const scl_const_parameters *v, double *out, ptrdiff_t stride,
                            scl_error *error) {
  const bell *self = instance;
  const double *ready = scl_prepared(v);
  (void)error;
  if (ready != NULL && !IS(prepared_first)) ready += v->first * v->dim;
  for (size_t i = 0; i < u->count; i++)
    for (size_t j = 0; j < v->count; j++) {
      const double *row =
          ready == NULL ? v->weights + (ptrdiff_t)j * v->stride : ready + j * v->dim;
      const double square = squared_distance(u->dim, u->weights + (ptrdiff_t)i * u->stride, row);
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] = exp(-sqrt(square) / self->width);
    }
  return SCL_STATUS_OK;
}

SUBTLE(edge, SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .gram = edge_gram),
       SCL_INSTANCE(bell, options),
       SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_PREPARE, scl_ability_prepare, .prepare = edge_prepare,
                               .release = edge_release)));

/* ------------ overlap: <u, v>, with its terms */

static scl_status overlap_gram(const void *instance, const scl_const_parameters *u,
                               const scl_const_parameters *v, double *out, ptrdiff_t stride,
                               scl_error *error) {
  (void)instance, (void)error;
  for (size_t i = 0; i < u->count; i++)
    for (size_t j = 0; j < v->count; j++) {
      double sum = 0;
      for (size_t k = 0; k < u->dim; k++)
        sum += u->weights[(ptrdiff_t)i * u->stride + (ptrdiff_t)k] *
               v->weights[(ptrdiff_t)j * v->stride + (ptrdiff_t)k];
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] = sum;
    }
  return SCL_STATUS_OK;
}

static void overlap_terms(const void *instance, double x, size_t count, const double *y,
                          double *out) {
  (void)instance;
  for (size_t k = 0; k < count; k++)
    out[k] = x * y[IS(terms_repeat) ? 0 : k];
}

SUBTLE(overlap,
       SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .gram = overlap_gram, .terms = overlap_terms),
       .instance_size = sizeof(scl_base));

/* Samplers with one subtle fault each.
 *
 * rows: w ~ N(mean, sigma^2 I); stumps: thresholds t ~ N(0, 1) on a uniform column; turned: the
 * rows of `rows` in the structured form; taught: rows about the mean of the data; quick: the simple
 * form. */
#include "subtle.h"

#define FAULTS(X) \
  X(rows, index_12, "the number of a parameter is cut to 12 bits") \
  X(rows, index_16, "the number of a parameter is cut to 16 bits") \
  X(rows, index_32, "the number of a parameter is cut to 32 bits") \
  X(rows, index_float, "the number of a parameter goes through float32") \
  X(rows, column_period, "column 0 repeats after 256 parameters") \
  X(rows, sign_period, "parameter t + 1024 is parameter t with the other sign") \
  X(rows, seed_32, "the seed is cut to 32 bits") \
  X(rows, seed_index, "the seed is added to the number of a parameter") \
  X(rows, stream_added, "the stream is added to the seed") \
  X(rows, stream_8, "the stream is cut to 8 bits, but for the plane") \
  X(rows, stream_of_bias, "the stream of the bias is used for weights") \
  X(rows, stream_beyond, "a stream beyond the 16 of its own is used") \
  X(rows, plane_4, "plane 4 is plane 0 again") \
  X(rows, plane_seed, "the plane is added to the seed") \
  X(rows, variance_up, "the variance is 5 % too large") \
  X(rows, variance_down, "the variance is 5 % too small") \
  X(rows, variance_far, "the variance is 10 % off from column 8 on") \
  X(rows, variance_late, "the variance is 10 % off from parameter 5000 on") \
  X(rows, variance_little, "the variance is 1 % too large") \
  X(rows, mean_little, "the mean is off by 0.007 sigma") \
  X(rows, mean_moved, "the mean is off by 0.03 sigma") \
  X(rows, tails_cut, "numbers beyond 2.5 sigma are cut to it") \
  X(rows, heavy, "Student's law with 12 degrees of freedom in the place of the normal one") \
  X(rows, coarse, "numbers are rounded to 1/8 of sigma") \
  X(rows, twin_columns, "column j is column j - 32 from 32 on") \
  X(rows, few_columns, "columns from 256 on keep what was there") \
  X(rows, small_buffer, "a buffer of 64 columns: those beyond it repeat") \
  X(rows, long_batch, "in a batch, parameter 1000 is parameter 0") \
  X(rows, packed_far, "strides are taken for packed from 40 columns on") \
  X(rows, total_scaled, "parameters depend on T from 4000 on") \
  X(rows, rare_nan, "one number in 5000 is NaN") \
  X(rows, rare_huge, "one number in 20000 is infinite") \
  X(rows, sigma_small, "a sigma below 0.01 is taken as 0.01") \
  X(rows, sigma_large, "a sigma above 50 is taken as 50") \
  X(rows, mean_lost, "the option `mean` is lost where sigma is not its default") \
  X(rows, clocked, "numbers depend on the clock") \
  X(rows, first_call, "the first draw of a process differs") \
  X(rows, race, "rows are made in static memory") \
  X(rows, own_memory, "draws go through the memory of the instance") \
  X(rows, by_address, "numbers depend on the alignment of the memory") \
  X(rows, law_scale_far, "the declared law is 10 % too wide from column 8 on") \
  X(rows, law_mean, "the declared law has no mean") \
  X(rows, factor_far, "the characteristic function reads 32 columns") \
  X(rows, factor_rows, "the characteristic function of the 65th row is that of the first") \
  X(rows, factor_sigma, "the characteristic function is 3 % too narrow") \
  X(stumps, column_uneven, "stumps take the last column 10 % too often") \
  X(stumps, column_byte, "stumps cut the column to 8 bits") \
  X(stumps, share_tail, "the distribution function is 1 beyond 2.5") \
  X(turned, apply_rows, "apply gets rows from 256 on wrong") \
  X(turned, apply_dims, "apply leaves out columns from 128 on") \
  X(turned, apply_half, "apply rounds float32 to 10 bits") \
  X(turned, prepared_place, "with prepared work apply takes the first parameters for all") \
  X(turned, prepared_float, "prepared work is rounded to float32") \
  X(turned, apply_race, "apply works in static memory") \
  X(taught, learns_start, "only the first 1000 rows are learnt from") \
  X(taught, learns_few_columns, "columns from 64 on are not learnt from") \
  X(quick, make_late, "the simple form repeats after 4096 numbers") \
  X(quick, make_coarse, "the simple form makes numbers of 10 bits")
SUBTLE_FAULTS(subtle_samplers);

typedef struct rows {
  scl_base base;
  double sigma, mean;
  double *room; /* 4096 numbers */
} rows;

static double sigma_of(const rows *self) {
  if (IS(sigma_small)) return fmax(self->sigma, 0.01);
  return IS(sigma_large) ? fmin(self->sigma, 50) : self->sigma;
}

static double mean_of(const rows *self) {
  return IS(mean_lost) && self->sigma != 1 ? 0 : self->mean;
}

static scl_status create(void *instance, scl_error *error) {
  rows *self = instance;
  self->room = self->base.host->allocate(4096 * sizeof(double));
  return self->room == NULL
             ? self->base.host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for a row")
             : SCL_STATUS_OK;
}

static void destroy(void *instance) {
  rows *self = instance;
  self->base.host->release(self->room);
}

static scl_address address_of(const scl_draw *draw) {
  scl_address a = draw->address;
  if (IS(seed_32)) a.seed = (uint32_t)a.seed;
  if (IS(stream_added)) a.seed += a.stream, a.stream = 0;
  if (IS(stream_8)) a.stream = (a.stream >> 32 << 32) | (a.stream & 0xff);
  if (IS(stream_of_bias)) a.stream++;
  if (IS(stream_beyond)) a.stream += 16;
  if (IS(plane_4)) a.stream = (a.stream & 0xffffffffU) | ((a.stream >> 32 & 3) << 32);
  if (IS(plane_seed)) a.seed += a.stream >> 32, a.stream &= 0xffffffffU;
  return a;
}

static uint64_t index_of(const scl_draw *draw, uint64_t t) {
  if (IS(index_12)) return t & 0xfff;
  if (IS(index_16)) return t & 0xffff;
  if (IS(index_32)) return (uint32_t)t;
  if (IS(index_float)) return (uint64_t)(float)t;
  if (IS(seed_index)) return t + draw->address.seed;
  if (IS(sign_period)) return t >> 11 << 10 | (t & 1023);
  return t;
}

static double number_of(const rows *self, const scl_draw *draw, uint64_t t, size_t j, double e) {
  if (IS(sign_period) && (t >> 10 & 1) == 1) e = -e;
  if (IS(variance_up)) e *= sqrt(1.05);
  if (IS(variance_down)) e *= sqrt(0.95);
  if (IS(variance_far) && j >= 8) e *= sqrt(1.1);
  if (IS(variance_late) && t >= 5000) e *= sqrt(1.1);
  if (IS(mean_moved)) e += 0.03;
  if (IS(variance_little)) e *= sqrt(1.01);
  if (IS(mean_little)) e += 0.007;
  if (IS(tails_cut)) e = fmax(-2.5, fmin(2.5, e));
  if (IS(coarse)) e = rint(e * 8) / 8;
  if (IS(total_scaled) && draw->total >= 4000) e *= 1.0625;
  if (IS(rare_nan) && fabs(e) > 3.7) e = NAN;
  if (IS(rare_huge) && fabs(e) > 4.06) e = INFINITY;
  if (IS(clocked)) e *= 1 + 1e-3 * fmod(subtle_clock(), 64);
  return mean_of(self) + sigma_of(self) * e;
}

/* One row of `dim` numbers. */
static void one_row(const rows *self, const scl_draw *draw, uint64_t t, size_t dim, double *w) {
  const scl_random *random = self->base.host->random;
  scl_address a = address_of(draw);
  uint64_t index = index_of(draw, t);
  if (IS(seed_index)) a.seed = 0;
  random->normal(a.seed, a.stream, index, 0, dim, w);
  if (IS(column_period)) random->normal(a.seed, a.stream, index & 255, 0, 1, w);
  if (IS(heavy))
    for (size_t j = 0; j < dim; j++) {
      double z[12], square = 0;
      random->normal(a.seed, a.stream + 2, index, 12 * j, 12, z);
      for (int k = 0; k < 12; k++)
        square += z[k] * z[k];
      w[j] *= sqrt(10 / square);
    }
  for (size_t j = 0; j < dim; j++)
    w[j] = number_of(self, draw, t, j, w[j]);
  for (size_t j = 32; IS(twin_columns) && j < dim; j++)
    w[j] = w[j - 32];
  for (size_t j = 64; IS(small_buffer) && j < dim; j++)
    w[j] = w[j % 64];
}

static scl_status draw_rows(const void *instance, const scl_draw *draw, const scl_parameters *out,
                            scl_error *error) {
  static double shared[4096];
  const rows *self = instance;
  const ptrdiff_t stride = IS(packed_far) && out->dim >= 40 ? (ptrdiff_t)out->dim : out->stride;
  const unsigned call = IS(first_call) ? subtle_calls() : 1;
  (void)error;
  for (size_t i = 0; i < out->count; i++) {
    double *w = out->weights + (ptrdiff_t)i * stride;
    const size_t dim = IS(few_columns) && out->dim > 256 ? 256 : out->dim;
    const uint64_t t = out->first + (IS(long_batch) && i >= 1000 ? i - 1000 : i);
    double *to = w;
    if ((IS(race) || IS(own_memory)) && dim <= 4096) to = IS(race) ? shared : self->room;
    one_row(self, draw, t, dim, to);
    if (to != w) memcpy(w, to, dim * sizeof *w);
    if (call == 0 || (IS(by_address) && (uintptr_t)out->weights % 64 != 0 && out->count > 100))
      w[0] *= 1 + 1e-9;
  }
  return SCL_STATUS_OK;
}

static scl_status law(const void *instance, const scl_draw *draw, scl_law *out, scl_error *error) {
  const rows *self = instance;
  (void)draw, (void)error;
  out->family = SCL_FAMILY_GAUSSIAN;
  for (size_t j = 0; j < out->dim; j++) {
    out->mean[j] = IS(law_mean) ? 0 : self->mean;
    out->scale[j] = self->sigma * (IS(law_scale_far) && j >= 8 ? 1.1 : 1);
  }
  return SCL_STATUS_OK;
}

static scl_status characteristic(const void *instance, const scl_draw *draw, size_t count,
                                 const double *delta, ptrdiff_t stride, double *out,
                                 scl_error *error) {
  const rows *self = instance;
  const size_t d = IS(factor_far) && draw->dim > 32 ? 32 : draw->dim;
  (void)error;
  for (size_t i = 0; i < count; i++) {
    double square = 0, sum = 0;
    const double *row = delta + (ptrdiff_t)(IS(factor_rows) && i >= 64 ? i - 64 : i) * stride;
    for (size_t j = 0; j < d; j++)
      square += row[j] * row[j], sum += row[j];
    square *= self->sigma * self->sigma * (IS(factor_sigma) ? 1.06 : 1);
    const double phase = sum * self->mean;
    out[i] = square == square && square < INFINITY
                 ? exp(-square / 2) * (isfinite(phase) ? cos(phase) : 0)
                 : square;
    if (square == INFINITY) out[i] = 0;
  }
  return SCL_STATUS_OK;
}

#define ROW_OPTIONS \
  SCL_NUMBER(rows, sigma, "1", "standard deviation", SCL_POSITIVE), \
      SCL_NUMBER(rows, mean, "0", "mean of every number", SCL_WITHIN(-100, 100))
static const scl_option row_options[] = {ROW_OPTIONS, SCL_OPTION_BIAS};
#define ROW_ABILITIES \
  SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = law), \
      SCL_OFFER(SCL_ABILITY_CHARACTERISTIC, scl_ability_characteristic, \
                .characteristic = characteristic)
SUBTLE(rows, SCL_SAMPLER(.space = SCL_SPACE_DENSE, .draw = draw_rows),
       SCL_INSTANCE(rows, row_options), SCL_ABILITIES(ROW_ABILITIES), .create = create,
       .destroy = destroy);

/* ------------ stumps */

static scl_status draw_stumps(const void *instance, const scl_draw *draw, const scl_parameters *out,
                              scl_error *error) {
  const scl_random *random = ((const scl_base *)instance)->host->random;
  (void)error;
  for (size_t i = 0; i < out->count; i++) {
    const uint64_t t = out->first + i;
    double u, share = (double)out->dim;
    random->uniform(draw->address.seed, draw->address.stream + 2, t, 0, 1, &u);
    if (IS(column_uneven)) share *= 1 + 0.1 / share;
    int32_t column = (int32_t)(u * share);
    if ((size_t)column >= out->dim) column = (int32_t)out->dim - 1;
    if (IS(column_byte)) column &= 255;
    out->support[(ptrdiff_t)i * out->support_stride] = column;
    random->normal(draw->address.seed, draw->address.stream, t, 0, 1,
                   out->weights + (ptrdiff_t)i * out->stride);
  }
  return SCL_STATUS_OK;
}

static double distribution(const void *self, const scl_draw *draw, size_t column, double x) {
  (void)self, (void)draw, (void)column;
  return IS(share_tail) && x > 2.5 ? 1 : erfc(-x / SCL_SQRT2) / 2;
}

SUBTLE(stumps, SCL_SAMPLER(.space = SCL_SPACE_THRESHOLD, .draw = draw_stumps),
       .instance_size = sizeof(scl_base),
       SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_DISTRIBUTION, scl_ability_distribution,
                               .distribution = distribution)));

/* ------------ turned */

static scl_status layout_turned(const void *self, size_t dim, scl_layout *out, scl_error *error) {
  (void)self, (void)error;
  out->reals = dim;
  return SCL_STATUS_OK;
}

static double x_of(const scl_const_block *x, size_t i, size_t j) {
  const ptrdiff_t at = (ptrdiff_t)i * x->row_stride + (ptrdiff_t)j;
  if (x->dtype == SCL_DTYPE_FLOAT64) return ((const double *)x->data)[at];
  const float value = ((const float *)x->data)[at];
  if (!IS(apply_half)) return (double)value;
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits &= ~((1U << 13) - 1);
  float cut;
  memcpy(&cut, &bits, sizeof cut);
  return (double)cut;
}

/* A packed copy of the weights. */
static scl_status prepare_turned(const void *self, const scl_draw *draw,
                                 const scl_const_parameters *p, scl_dtype dtype, void **prepared,
                                 scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  double *copy = host->allocate((p->count * p->dim + 1) * sizeof *copy);
  (void)draw, (void)dtype;
  if (copy == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory");
  for (size_t t = 0; t < p->count; t++)
    for (size_t j = 0; j < p->dim; j++) {
      const double w = p->weights[(ptrdiff_t)t * p->stride + (ptrdiff_t)j];
      copy[t * p->dim + j] = IS(prepared_float) ? (double)(float)w : w;
    }
  *prepared = copy;
  return SCL_STATUS_OK;
}

static void release_turned(const void *self, void *prepared) {
  ((const scl_base *)self)->host->release(prepared);
}

static scl_status apply_turned(const void *self, const scl_draw *draw,
                               const scl_const_parameters *p, const scl_const_block *x,
                               const scl_block *z, scl_error *error) {
  static double shared[64];
  const double *ready = scl_prepared(p);
  (void)self, (void)draw, (void)error;
  for (size_t i = 0; i < x->rows; i++)
    for (size_t t = 0; t < p->count; t++) {
      const size_t place = IS(prepared_place) ? t : p->first + t;
      const double *w =
          ready == NULL ? p->weights + (ptrdiff_t)t * p->stride : ready + place * x->cols;
      double own[1] = {0}, *sum = IS(apply_race) ? &shared[t % 64] : own;
      const size_t row = IS(apply_rows) && i >= 256 ? i - 256 : i;
      *sum = 0;
      for (size_t j = 0; j < x->cols; j++)
        if (!IS(apply_dims) || j < 128) *sum += w[j] * x_of(x, row, j);
      const ptrdiff_t at = (ptrdiff_t)i * z->row_stride + (ptrdiff_t)t;
      if (z->dtype == SCL_DTYPE_FLOAT64)
        ((double *)z->data)[at] = *sum;
      else
        ((float *)z->data)[at] = (float)*sum;
    }
  return SCL_STATUS_OK;
}

static scl_status dense_turned(const void *self, const scl_draw *draw,
                               const scl_const_parameters *p, double *dense, ptrdiff_t stride,
                               scl_error *error) {
  (void)self, (void)draw, (void)error;
  for (size_t t = 0; t < p->count; t++)
    memcpy(dense + (ptrdiff_t)t * stride, p->weights + (ptrdiff_t)t * p->stride,
           p->dim * sizeof *dense);
  return SCL_STATUS_OK;
}

static const scl_option plain_options[] = {ROW_OPTIONS};
SUBTLE(turned,
       SCL_SAMPLER(.space = SCL_SPACE_STRUCTURED, .draw = draw_rows, .layout = layout_turned),
       SCL_INSTANCE(rows, plain_options),
       SCL_ABILITIES(ROW_ABILITIES,
                     SCL_OFFER(SCL_ABILITY_STRUCTURED, scl_ability_structured,
                               .apply = apply_turned, .rows = dense_turned,
                               .dtypes = SCL_DTYPES_FLOAT),
                     SCL_OFFER(SCL_ABILITY_PREPARE, scl_ability_prepare, .prepare = prepare_turned,
                               .release = release_turned)),
       .create = create, .destroy = destroy);

/* ------------ taught */

typedef struct means {
  size_t dim;
  double *sum;
} means;

static scl_status add_rows(void *context, const scl_rows *block, scl_error *error) {
  means *m = context;
  (void)error;
  for (size_t i = 0; i < block->count; i++) {
    if (IS(learns_start) && block->first + i >= 1000) break;
    for (size_t j = 0; j < m->dim; j++)
      if (!IS(learns_few_columns) || j < 64)
        m->sum[j] +=
            ((const double *)
                 block->features.data)[(ptrdiff_t)i * block->features.row_stride + (ptrdiff_t)j];
  }
  return SCL_STATUS_OK;
}

static scl_status learn(const void *self, const scl_learning *learning, scl_state *out,
                        scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  means m = {learning->dim, host->allocate((learning->dim + 1) * sizeof(double))};
  if (m.sum == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for the means");
  memset(m.sum, 0, (m.dim + 1) * sizeof(double));
  out->numbers = m.sum;
  out->rows = 1;
  out->cols = m.dim;
  const scl_status status = learning->walk(learning, add_rows, &m, error);
  const size_t count = IS(learns_start) && learning->rows > 1000 ? 1000 : learning->rows;
  for (size_t j = 0; j < m.dim; j++)
    m.sum[j] /= fmax(1, (double)count);
  for (size_t j = 0; j < m.dim; j++)
    if (!isfinite(m.sum[j]))
      return host->fail(error, SCL_STATUS_BAD_DATA, "the mean of column %zu is not finite", j);
  if (out->count == 0 && learning->draw->total == 0) out->count = 100;
  return status;
}

static scl_status draw_taught(const void *self, const scl_draw *draw, const scl_parameters *out,
                              scl_error *error) {
  const scl_status status = draw_rows(self, draw, out, error);
  for (size_t i = 0; draw->state != NULL && i < out->count; i++)
    for (size_t j = 0; j < out->dim; j++)
      out->weights[(ptrdiff_t)i * out->stride + (ptrdiff_t)j] += draw->state->numbers[j];
  return status;
}

SUBTLE(taught, SCL_SAMPLER(.space = SCL_SPACE_DENSE, .draw = draw_taught),
       SCL_INSTANCE(rows, plain_options), .create = create, .destroy = destroy,
       SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LEARN, scl_ability_learn, .learn = learn)));

/* ------------ quick */

static void make(const void *self, size_t count, const double *numbers, double *e) {
  (void)self;
  for (size_t i = 0; i < count; i++) {
    const double z = numbers[IS(make_late) && i >= 4096 ? i - 4096 : i];
    e[i] = IS(make_coarse) ? rint(z * 128) / 128 : z;
  }
}

static void moments(const void *instance, double *mean, double *scale) {
  *mean = ((const rows *)instance)->mean;
  *scale = ((const rows *)instance)->sigma;
}

SUBTLE(quick,
       SCL_SAMPLER(.space = SCL_SPACE_DENSE, .make = make, .moments = moments, .normals = 1,
                   .family = SCL_FAMILY_GAUSSIAN),
       SCL_INSTANCE(rows, plain_options), .create = create, .destroy = destroy);

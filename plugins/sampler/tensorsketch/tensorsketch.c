/* TensorSketch (Pham and Pagh 2013, Fast and scalable polynomial kernels via explicit feature
 * maps): features of
 *
 *   k(x, y) = (s <x, y> + c)^p = <x', y'>^p,   x' = (sqrt(s) x, sqrt(c))
 *
 * A count sketch C_j of m buckets sends column i to bucket h_j(i) with the sign g_j(i),
 *
 *   (C_j x')_b = sum over i with h_j(i) = b of g_j(i) x'_i,   j = 1 .. p,
 *
 * and the p-fold tensor product of x' has the count sketch
 *
 *   S x = C_1 x' * C_2 x' * ... * C_p x'   (cyclic convolution of length m)
 *       = F^-1 (F C_1 x' o ... o F C_p x')
 *
 * E <S x, S y> = k(x, y), with a standard deviation of at most sqrt((2 + 3^p)/m) (||x'|| ||y'||)^p
 * (Avron, Nguyen and Woodruff 2014, Subspace embeddings for the polynomial kernel, lemma 3).
 * O(p (d + m log m)) per row.
 *
 * T need not be a power of two: its binary digits cut it into sketches of m_1 > m_2 > ... buckets,
 * independent of each other, which carry the factors sqrt(m_b/T). Their mean is unbiased, and its
 * variance is that of one sketch of T buckets, sum_b (m_b/T)^2 (V/m_b) = V/T. */
#include "convolution.h"
#include <stdio.h>

enum { MOST_DEGREE = 64, STREAM_HASHES = 0 };

typedef struct tensorsketch {
  scl_base base;
  size_t degree;
  double scale, offset;
} tensorsketch;

static const scl_option options[] = {
    SCL_INTEGER(tensorsketch, degree, "2", "p in (a <x,y> + c)^p", SCL_WITHIN(1, MOST_DEGREE)),
    SCL_NUMBER(tensorsketch, scale, "1", "a, above 0", SCL_POSITIVE),
    SCL_NUMBER(tensorsketch, offset, "1", "c, 0 or more; 0: terms of degree p alone",
               SCL_NOT_NEGATIVE)};

/* Each feature depends on the convolution of its whole sketch, so all T parameters form one
 * block. */
static scl_status tensorsketch_layout(const void *instance, size_t dim, scl_layout *out,
                                      scl_error *error) {
  const tensorsketch *self = instance;
  enum { MOST = 1 << 28 };
  if (out->count > MOST || dim >= MOST)
    return self->base.host->fail(
        error, SCL_STATUS_BAD_SHAPE,
        "takes up to %d columns and parameters: got %zu columns and T = %zu", MOST, dim,
        out->count);
  if (out->count > 0) out->block = out->count;
  out->tag = "sketch";
  return SCL_STATUS_OK;
}

/* A parameter is a place in the sketch and stores no numbers. */
static scl_status draw_nothing(const void *self, const scl_draw *draw, const scl_parameters *out,
                               scl_error *error) {
  (void)self, (void)draw, (void)out, (void)error;
  return SCL_STATUS_OK;
}

/* ------------ sketches: the binary digits of T */

typedef struct sketch {
  size_t first, size; /* its parameters; size 0: none is left */
  uint64_t number;
} sketch;

/* The sketch after `before` (NULL: the first): the largest power of two that the parameters left
 * allow. */
static sketch next_sketch(size_t total, const sketch *before) {
  const size_t first = before == NULL ? 0 : before->first + before->size, left = total - first;
  size_t size = left > 0;
  while (2 * size <= left && size > 0)
    size *= 2;
  return (sketch){first, size, before == NULL ? 0 : before->number + 1};
}

/* The factor sqrt(m_b/T) of the sketch that each parameter belongs to. */
static scl_status tensorsketch_scales(const void *self, const scl_draw *draw,
                                      const scl_const_parameters *parameters, double *out,
                                      scl_error *error) {
  (void)self, (void)error;
  sketch at = next_sketch(draw->total, NULL);
  for (size_t i = 0; i < parameters->count; i++) {
    while (at.size > 0 && parameters->first + i >= at.first + at.size)
      at = next_sketch(draw->total, &at);
    out[i] = sqrt((double)at.size / (double)draw->total);
  }
  return SCL_STATUS_OK;
}

/* ------------ what calls of apply share */

/* For each sketch where columns of x' go: bucket and sign, p x columns of each; the signs of the
 * first factor are over m, by which the transforms multiply. And the roots of the largest sketch.
 * `columns` are d, or d + 1 with an offset. One piece of memory. */
typedef struct plan {
  size_t columns;
  uint32_t *bucket;
  double *f64; /* the signs, in the type of the rows; the other is NULL */
  float *f32;
  convolution_roots roots;
} plan;

static size_t columns_of(const tensorsketch *self, size_t dim) { return dim + (self->offset > 0); }

/* h_j(i) are low bits, g_j(i) the highest bit of number i of item 64 number + j. bits: `columns`
 * numbers. */
static void draw_hashes(const tensorsketch *self, const scl_draw *draw, const sketch *at,
                        uint64_t *bits, plan *out) {
  for (size_t j = 0; j < self->degree; j++) {
    const double size = j == 0 ? 1 / (double)at->size : 1;
    size_t to = (at->number * self->degree + j) * out->columns;
    self->base.host->random->bits(draw->address.seed, draw->address.stream + STREAM_HASHES,
                                  at->number * MOST_DEGREE + j, 0, out->columns, bits);
    for (size_t i = 0; i < out->columns; i++, to++) {
      const double sign = bits[i] >> 63 ? -size : size;
      out->bucket[to] = (uint32_t)(bits[i] & (at->size - 1));
      if (out->f64 != NULL)
        out->f64[to] = sign;
      else
        out->f32[to] = (float)sign;
    }
  }
}

/* `count` numbers of `each` bytes at *used of `memory`. */
static void *take(char *memory, size_t *used, size_t count, size_t each) {
  void *taken = memory + *used;
  *used += (count * each + 63) / 64 * 64;
  return taken;
}

/* The plan of a draw in memory from `allocate`. */
static scl_status make_plan(const tensorsketch *self, const scl_draw *draw, scl_dtype dtype,
                            void *(*allocate)(size_t), plan **out, scl_error *error) {
  const scl_host *host = self->base.host;
  const size_t columns = columns_of(self, draw->dim),
               nodes = next_sketch(draw->total, NULL).size / 2 + 2;
  size_t sketches = 0, used = 0;
  for (sketch at = next_sketch(draw->total, NULL); at.size > 0; at = next_sketch(draw->total, &at))
    sketches++;
  const size_t numbers = sketches * self->degree * columns + 1;
  uint64_t *bits = host->scratch((columns + 1) * sizeof *bits);
  char *memory = allocate(sizeof(plan) + numbers * (sizeof(uint32_t) + sizeof(double)) +
                          nodes * (3 * sizeof(double) + 2 * sizeof(float)) + 6 * 64);
  if (bits == NULL || memory == NULL) {
    if (memory != NULL && allocate == host->allocate) host->release(memory);
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu hashes", numbers);
  }
  plan *made = *out = take(memory, &used, 1, sizeof *made);
  *made = (plan){.columns = columns,
                 .bucket = take(memory, &used, numbers, sizeof *made->bucket),
                 .roots = {.angle = take(memory, &used, nodes, sizeof(double)),
                           .f64 = take(memory, &used, 2 * nodes, sizeof(double)),
                           .f32 = take(memory, &used, 2 * nodes, sizeof(float))}};
  void *signs = take(memory, &used, numbers, sizeof(double));
  if (dtype == SCL_DTYPE_FLOAT32)
    made->f32 = signs;
  else
    made->f64 = signs;
  convolution_fill_roots(nodes - 1, &made->roots);
  for (sketch at = next_sketch(draw->total, NULL); at.size > 0; at = next_sketch(draw->total, &at))
    draw_hashes(self, draw, &at, bits, made);
  return SCL_STATUS_OK;
}

static scl_status prepare(const void *instance, const scl_draw *draw,
                          const scl_const_parameters *parameters, scl_dtype dtype, void **prepared,
                          scl_error *error) {
  const tensorsketch *self = instance;
  (void)parameters;
  return make_plan(self, draw, dtype, self->base.host->allocate, (plan **)prepared, error);
}

static void release_plan(const void *self, void *prepared) {
  ((const tensorsketch *)self)->base.host->release(prepared);
}

/* ------------ one call of apply */

typedef struct workspace {
  const tensorsketch *self;
  const plan *plan;
  const scl_const_csr *csr;      /* the rows; NULL: they are dense */
  void *rows, *product, *factor; /* lanes x columns; lanes x m twice */
} workspace;

/* Allocates scratch memory for sketches of at most `most` buckets. */
static scl_status sketch_reserve(workspace *w, size_t most, scl_error *error) {
  const scl_host *host = w->self->base.host;
  const size_t lanes = 64; /* bytes, of either type */
  w->rows = host->scratch((w->plan->columns + 1) * lanes);
  w->product = host->scratch((most + 1) * lanes);
  w->factor = host->scratch((most + 1) * lanes);
  if (w->rows != NULL && w->product != NULL && w->factor != NULL) return SCL_STATUS_OK;
  return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a sketch of %zu buckets",
                    most);
}

/* For one dtype: rows first .. first+count-1 of x as x', turned; C_j x'; the finished sketch. */
#define SKETCH_DEFINE(real, dtype, LANES) \
  ISA_INLINE void sketch_turn_##dtype(const workspace *w, const scl_const_block *x, size_t first, \
                                      size_t count) { \
    const real size = (real)sqrt(w->self->scale), constant = (real)sqrt(w->self->offset); \
    real *rows = w->rows; \
    memset(rows, 0, w->plan->columns *LANES * sizeof *rows); \
    for (size_t l = 0; l < count; l++) { \
      const real *from = (const real *)x->data + (ptrdiff_t)(first + l) * x->row_stride; \
      for (size_t i = 0; i < x->cols; i++) \
        rows[i * LANES + l] = size * from[i]; \
      if (w->plan->columns > x->cols) rows[x->cols * LANES + l] = constant; \
    } \
  } \
  ISA_INLINE void sketch_count_##dtype(const workspace *w, const sketch *at, size_t j, \
                                       real *out) { \
    const plan *all = w->plan; \
    const size_t from_hash = (at->number * w->self->degree + j) * all->columns; \
    const uint32_t *bucket = all->bucket + from_hash; \
    const real *sign = all->dtype + from_hash, *rows = w->rows; \
    memset(out, 0, at->size *LANES * sizeof *out); \
    for (size_t i = 0; i < all->columns; i++) { \
      real *restrict to = out + (size_t)bucket[i] * LANES; \
      const real *restrict from = rows + i * LANES; \
      for (size_t l = 0; l < LANES; l++) \
        to[l] += sign[i] * from[l]; \
    } \
  } \
  /* The same of sparse rows first .. first+count-1, in the order of the columns. */ \
  ISA_INLINE void sketch_sparse_##dtype(const workspace *w, const sketch *at, size_t j, \
                                        size_t first, size_t count, real *out) { \
    const plan *all = w->plan; \
    const scl_const_csr *x = w->csr; \
    const size_t from_hash = (at->number * w->self->degree + j) * all->columns; \
    const uint32_t *bucket = all->bucket + from_hash; \
    const real *sign = all->dtype + from_hash, *values = x->values; \
    const real size = (real)sqrt(w->self->scale), constant = (real)sqrt(w->self->offset); \
    memset(out, 0, at->size *LANES * sizeof *out); \
    for (size_t l = 0; l < count; l++) { \
      for (int64_t k = x->starts[first + l]; k < x->starts[first + l + 1]; k++) { \
        const real number = size * values[k]; \
        out[(size_t)bucket[x->columns[k]] * LANES + l] += sign[x->columns[k]] * number; \
      } \
      if (all->columns > x->cols) \
        out[(size_t)bucket[x->cols] * LANES + l] += sign[x->cols] * constant; \
    } \
  } \
  ISA_INLINE void sketch_write_##dtype(const workspace *w, const sketch *at, const scl_block *z, \
                                       size_t first, size_t count) { \
    const real *product = w->product; \
    const real whole = w->self->degree == 1 ? (real)at->size : 1; /* no transform multiplied */ \
    const size_t few = \
        at->size < 16 ? at->size : 16; /* numbers of a row that are turned at once */ \
    for (size_t from = 0; from < at->size; from += few) \
      for (size_t l = 0; l < count; l++) { \
        real *to = (real *)z->data + (ptrdiff_t)(first + l) * z->row_stride + at->first + from; \
        for (size_t k = 0; k < few; k++) \
          to[k] = whole * product[(from + k) * LANES + l]; \
      } \
  }

SKETCH_DEFINE(double, f64, LANES_f64)
SKETCH_DEFINE(float, f32, LANES_f32)

/* Computes one sketch for all rows of a block. */
typedef void (*sketch_rows)(const workspace *w, const sketch *at, const scl_const_block *x,
                            const scl_block *z);
#define SKETCH_ROWS(target, isa, real, dtype) \
  CONVOLUTION_TREE(target, isa, real, dtype, LANES_##dtype) \
  target static void sketch_rows_##dtype##_##isa(const workspace *w, const sketch *at, \
                                                 const scl_const_block *x, const scl_block *z) { \
    const real *roots = w->plan->roots.dtype; \
    real *product = w->product, *factor = w->factor; \
    for (size_t first = 0; first < z->rows; first += LANES_##dtype) { \
      const size_t left = z->rows - first, count = left < LANES_##dtype ? left : LANES_##dtype; \
      if (w->csr == NULL) sketch_turn_##dtype(w, x, first, count); \
      for (size_t j = 0; j < w->self->degree; j++) { \
        real *to = j == 0 ? product : factor; \
        if (w->csr == NULL) \
          sketch_count_##dtype(w, at, j, to); \
        else \
          sketch_sparse_##dtype(w, at, j, first, count, to); \
        if (w->self->degree > 1) convolution_forward_##dtype##_##isa(at->size, roots, to); \
        if (j > 0) convolution_multiply_##dtype##_##isa(at->size, product, factor); \
      } \
      if (w->self->degree > 1) convolution_backward_##dtype##_##isa(at->size, roots, product); \
      sketch_write_##dtype(w, at, z, first, count); \
    } \
  }

#define SKETCH_WIDE "avx512f,prefer-vector-width=512"
ISA_EACH(SKETCH_ROWS, SKETCH_WIDE)

/* Of rows x, or of sparse rows. */
static scl_status sketch_all(const tensorsketch *self, const scl_draw *draw,
                             const scl_const_parameters *parameters, const scl_const_block *x,
                             const scl_const_csr *csr, const scl_block *z, scl_error *error) {
  const scl_host *host = self->base.host;
  if (parameters->first != 0 || parameters->count != draw->total)
    return host->fail(error, SCL_STATUS_BAD_SHAPE,
                      "a sketch is one block of %zu parameters, and these are %zu to %zu",
                      draw->total, parameters->first + 1, parameters->first + parameters->count);
  sketch at = next_sketch(draw->total, NULL);
  workspace w = {.self = self, .plan = scl_prepared(parameters), .csr = csr};
  plan *made = NULL;
  scl_status status = SCL_STATUS_OK;
  if (w.plan == NULL) {
    status = make_plan(self, draw, z->dtype, host->scratch, &made, error);
    w.plan = made;
  }
  if (status == SCL_STATUS_OK) status = sketch_reserve(&w, at.size, error);
  if (status != SCL_STATUS_OK) return status;
  const sketch_rows apply_rows = ISA_CHOOSE(sketch_rows, z->dtype == SCL_DTYPE_FLOAT32);
  for (; at.size > 0; at = next_sketch(draw->total, &at))
    apply_rows(&w, &at, x, z);
  return SCL_STATUS_OK;
}

static scl_status apply(const void *self, const scl_draw *draw,
                        const scl_const_parameters *parameters, const scl_const_block *x,
                        const scl_block *z, scl_error *error) {
  return sketch_all(self, draw, parameters, x, NULL, z, error);
}

static scl_status apply_csr(const void *self, const scl_draw *draw,
                            const scl_const_parameters *parameters, const scl_const_csr *x,
                            const scl_block *z, scl_error *error) {
  return sketch_all(self, draw, parameters, NULL, x, z, error);
}

/* ------------ the plugin */

static scl_status tensorsketch_pair_kernel(const void *instance, const scl_part *partner,
                                           char *text, size_t size, scl_error *error) {
  const tensorsketch *self = instance;
  (void)error;
  if (strcmp(partner->plugin->name, "identity") == 0)
    (void)snprintf(text, size, "polynomial{degree = %zu, scale = %.17g, offset = %.17g}",
                   self->degree, self->scale, self->offset);
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "tensorsketch",
    .summary = "TensorSketch: features of the polynomial kernel by count sketches and FFT",
    .definition =
        /* A count sketch of m buckets. */
    "count(x, m, t, r) = (function(c)\n"
    "  for i = 1, #x do\n"
    "    local h = r.bits(0, t, i - 1)\n"
    "    local k = (h & m - 1) + 1\n"
    "    c[k] = c[k] + when(h < 0, -1, 1)*x[i]\n"
    "  end\n"
    "  return c end)(map(range(m), function() return 0 end))\n"
    /* The cyclic convolution. */
    "convolved(a, b) = map(a, function(_, k)\n"
    "  return sum(a, function(v, i) return v*b[(k - i) % #a + 1] end) end)\n"
    "sketch(x, m, b, j, r) = j == 0 and count(x, m, 64*b, r) or\n"
    "  convolved(sketch(x, m, b, j - 1, r), count(x, m, 64*b + j, r))\n"
    /* The largest power of two up to n. */
    "power(n, m) = 2*m <= n and power(n, 2*m) or m\n"
    /* Sketch b and those behind it, of the parameters that are left. */
    "rest(x, left, b, r) = left == 0 and {} or join(sketch(x, power(left, 1), b, degree - 1, r),\n"
    "  rest(x, left - power(left, 1), b + 1, r))\n"
    "z(x, W, r) = r.total < 128 and rest(join(map(x, function(v) return sqrt(scale)*v end),\n"
    "  offset > 0 and { sqrt(offset) } or {}), r.total, 0, r)\n"
    /* The share of a sketch in all parameters. */
    "share(t, left, T) = t < power(left, 1) and power(left, 1)/T or\n"
    "  share(t - power(left, 1), left - power(left, 1), T)\n"
    "scale(w, r, t) = sqrt(share(t, r.total, r.total))",
    .doc = "z = C_1 x' * ... * C_p x', a cyclic convolution of p = degree count sketches of\n"
           "x' = (sqrt(scale) x, sqrt(offset)); with nonlinearity.identity the features estimate\n"
           "(scale <x,y> + offset)^degree without bias (Pham and Pagh 2013, Fast and scalable\n"
           "polynomial kernels via explicit feature maps). The standard deviation is at most\n"
           "sqrt((2 + 3^degree)/T) (||x'|| ||y'||)^degree (Avron, Nguyen and Woodruff 2014).\n"
           "O(degree (d + T log T)) per row. Any T; a power of two is fastest.",
    SCL_SAMPLER(.space = SCL_SPACE_STRUCTURED, .draw = draw_nothing, .layout = tensorsketch_layout),
    SCL_INSTANCE(tensorsketch, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_STRUCTURED, scl_ability_structured, .apply = apply,
                            .apply_csr = apply_csr, .dtypes = SCL_DTYPES_FLOAT),
                  SCL_OFFER(SCL_ABILITY_PREPARE, scl_ability_prepare, .prepare = prepare,
                            .release = release_plan),
                  SCL_OFFER(SCL_ABILITY_SCALES, scl_ability_scales, .scales = tensorsketch_scales),
                  SCL_OFFER(SCL_ABILITY_PAIR_KERNEL, scl_ability_pair_kernel,
                            .kernel = tensorsketch_pair_kernel))};

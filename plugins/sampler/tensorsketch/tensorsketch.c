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

/* ------------------------------------------------------------ sketches: the binary digits of T */

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

/* ------------------------------------------------------------ one call of apply */

/* For the sketch at hand: where columns of x' go. `columns` are d, or d + 1 with an offset. */
typedef struct hashes {
  uint32_t *bucket; /* p x columns */
  /* p x columns signs; those of the first factor over m, which the transforms multiply by */
  double *f64;
  float *f32;
} hashes;

typedef struct workspace {
  const tensorsketch *self;
  const scl_draw *draw;
  size_t columns;
  uint64_t *bits; /* columns */
  hashes hashes;
  convolution_roots roots;
  void *rows, *product, *factor; /* lanes x columns; lanes x m twice */
} workspace;

/* Allocates scratch memory for sketches of at most `most` buckets. */
static scl_status sketch_reserve(workspace *w, size_t most, scl_error *error) {
  const scl_host *host = w->self->base.host;
  const size_t numbers = w->self->degree * w->columns + 1, nodes = most / 2 + 2;
  const size_t lanes = 64; /* bytes, of either type */
  w->bits = host->scratch((w->columns + 1) * sizeof *w->bits);
  w->hashes.bucket = host->scratch(numbers * sizeof *w->hashes.bucket);
  w->hashes.f64 = host->scratch(numbers * sizeof *w->hashes.f64);
  w->hashes.f32 = host->scratch(numbers * sizeof *w->hashes.f32);
  w->roots.angle = host->scratch(nodes * sizeof *w->roots.angle);
  w->roots.f64 = host->scratch(2 * nodes * sizeof *w->roots.f64);
  w->roots.f32 = host->scratch(2 * nodes * sizeof *w->roots.f32);
  w->rows = host->scratch((w->columns + 1) * lanes);
  w->product = host->scratch((most + 1) * lanes);
  w->factor = host->scratch((most + 1) * lanes);
  if (w->bits != NULL && w->hashes.bucket != NULL && w->hashes.f64 != NULL &&
      w->hashes.f32 != NULL && w->roots.angle != NULL && w->roots.f64 != NULL &&
      w->roots.f32 != NULL && w->rows != NULL && w->product != NULL && w->factor != NULL)
    return SCL_STATUS_OK;
  return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a sketch of %zu buckets",
                    most);
}

/* h_j(i) are low bits, g_j(i) the highest bit of number i of item 64 number + j. */
static void draw_hashes(workspace *w, const sketch *at) {
  const scl_address address = w->draw->address;
  for (size_t j = 0; j < w->self->degree; j++) {
    const double size = j == 0 ? 1 / (double)at->size : 1;
    w->self->base.host->random->bits(address.seed, address.stream + STREAM_HASHES,
                                     at->number * MOST_DEGREE + j, 0, w->columns, w->bits);
    for (size_t i = 0; i < w->columns; i++) {
      const size_t to = j * w->columns + i;
      w->hashes.bucket[to] = (uint32_t)(w->bits[i] & (at->size - 1));
      w->hashes.f64[to] = w->bits[i] >> 63 ? -size : size;
      w->hashes.f32[to] = (float)w->hashes.f64[to];
    }
  }
}

/* For one dtype: rows first .. first+count-1 of x as x', turned; C_j x'; the finished sketch. */
#define SKETCH_DEFINE(real, dtype, LANES)                                                          \
  ISA_INLINE void sketch_turn_##dtype(const workspace *w, const scl_const_block *x, size_t first,  \
                                      size_t count) {                                              \
    const real size = (real)sqrt(w->self->scale), constant = (real)sqrt(w->self->offset);          \
    real *rows = w->rows;                                                                          \
    memset(rows, 0, w->columns *LANES * sizeof *rows);                                             \
    for (size_t l = 0; l < count; l++) {                                                           \
      const real *from = (const real *)x->data + (ptrdiff_t)(first + l) * x->row_stride;           \
      for (size_t i = 0; i < x->cols; i++)                                                         \
        rows[i * LANES + l] = size * from[i];                                                      \
      if (w->columns > x->cols) rows[x->cols * LANES + l] = constant;                              \
    }                                                                                              \
  }                                                                                                \
  ISA_INLINE void sketch_count_##dtype(const workspace *w, size_t size, size_t j,                  \
                                       const real *signs, real *out) {                             \
    const uint32_t *bucket = w->hashes.bucket + j * w->columns;                                    \
    const real *sign = signs + j * w->columns, *rows = w->rows;                                    \
    memset(out, 0, size *LANES * sizeof *out);                                                     \
    for (size_t i = 0; i < w->columns; i++) {                                                      \
      real *restrict to = out + (size_t)bucket[i] * LANES;                                         \
      const real *restrict from = rows + i * LANES;                                                \
      for (size_t l = 0; l < LANES; l++)                                                           \
        to[l] += sign[i] * from[l];                                                                \
    }                                                                                              \
  }                                                                                                \
  ISA_INLINE void sketch_write_##dtype(const workspace *w, const sketch *at, const scl_block *z,   \
                                       size_t first, size_t count) {                               \
    const real *product = w->product;                                                              \
    const real whole = w->self->degree == 1 ? (real)at->size : 1; /* no transform multiplied */    \
    const size_t few =                                                                             \
        at->size < 16 ? at->size : 16; /* numbers of a row that are turned at once */              \
    for (size_t from = 0; from < at->size; from += few)                                            \
      for (size_t l = 0; l < count; l++) {                                                         \
        real *to = (real *)z->data + (ptrdiff_t)(first + l) * z->row_stride + at->first + from;    \
        for (size_t k = 0; k < few; k++)                                                           \
          to[k] = whole * product[(from + k) * LANES + l];                                         \
      }                                                                                            \
  }

SKETCH_DEFINE(double, f64, LANES_f64)
SKETCH_DEFINE(float, f32, LANES_f32)

/* Computes one sketch for all rows of a block. */
typedef void (*sketch_rows)(const workspace *w, const sketch *at, const scl_const_block *x,
                            const scl_block *z);
#define SKETCH_ROWS(target, isa, real, dtype)                                                      \
  CONVOLUTION_TREE(target, isa, real, dtype, LANES_##dtype)                                        \
  target static void sketch_rows_##dtype##_##isa(const workspace *w, const sketch *at,             \
                                                 const scl_const_block *x, const scl_block *z) {   \
    const real *roots = w->roots.dtype;                                                            \
    real *product = w->product, *factor = w->factor;                                               \
    for (size_t first = 0; first < x->rows; first += LANES_##dtype) {                              \
      const size_t left = x->rows - first, count = left < LANES_##dtype ? left : LANES_##dtype;    \
      sketch_turn_##dtype(w, x, first, count);                                                     \
      for (size_t j = 0; j < w->self->degree; j++) {                                               \
        real *to = j == 0 ? product : factor;                                                      \
        sketch_count_##dtype(w, at->size, j, w->hashes.dtype, to);                                 \
        if (w->self->degree > 1) convolution_forward_##dtype##_##isa(at->size, roots, to);         \
        if (j > 0) convolution_multiply_##dtype##_##isa(at->size, product, factor);                \
      }                                                                                            \
      if (w->self->degree > 1) convolution_backward_##dtype##_##isa(at->size, roots, product);     \
      sketch_write_##dtype(w, at, z, first, count);                                                \
    }                                                                                              \
  }

#define SKETCH_WIDE "avx512f,prefer-vector-width=512"
ISA_EACH(SKETCH_ROWS, SKETCH_WIDE)

static scl_status apply(const void *instance, const scl_draw *draw,
                        const scl_const_parameters *parameters, const scl_const_block *x,
                        const scl_block *z, scl_error *error) {
  const tensorsketch *self = instance;
  const scl_host *host = self->base.host;
  if (parameters->first != 0 || parameters->count != draw->total)
    return host->fail(error, SCL_STATUS_BAD_SHAPE,
                      "a sketch is one block of %zu parameters, and these are %zu to %zu",
                      draw->total, parameters->first + 1, parameters->first + parameters->count);
  sketch at = next_sketch(draw->total, NULL);
  workspace w = {.self = self, .draw = draw, .columns = x->cols + (self->offset > 0)};
  const scl_status status = sketch_reserve(&w, at.size, error);
  if (status != SCL_STATUS_OK) return status;
  const sketch_rows apply_rows = ISA_CHOOSE(sketch_rows, x->dtype == SCL_DTYPE_FLOAT32);
  convolution_fill_roots(at.size / 2 + 1, &w.roots);
  for (; at.size > 0; at = next_sketch(draw->total, &at)) {
    draw_hashes(&w, &at);
    apply_rows(&w, &at, x, z);
  }
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ the plugin */

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
    .doc = "z = C_1 x' * ... * C_p x', a cyclic convolution of p = degree count sketches of\n"
           "x' = (sqrt(scale) x, sqrt(offset)); with nonlinearity.identity the features estimate\n"
           "(scale <x,y> + offset)^degree without bias (Pham and Pagh 2013, Fast and scalable\n"
           "polynomial kernels via explicit feature maps). The standard deviation is at most\n"
           "sqrt((2 + 3^degree)/T) (||x'|| ||y'||)^degree (Avron, Nguyen and Woodruff 2014).\n"
           "O(degree (d + T log T)) per row. Any T; a power of two is fastest.",
    SCL_SAMPLER(.space = SCL_SPACE_STRUCTURED, .draw = draw_nothing, .layout = tensorsketch_layout),
    SCL_INSTANCE(tensorsketch, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_STRUCTURED, scl_ability_structured, .apply = apply,
                            .dtypes = SCL_DTYPES_FLOAT),
                  SCL_OFFER(SCL_ABILITY_SCALES, scl_ability_scales, .scales = tensorsketch_scales),
                  SCL_OFFER(SCL_ABILITY_PAIR_KERNEL, scl_ability_pair_kernel,
                            .kernel = tensorsketch_pair_kernel))};

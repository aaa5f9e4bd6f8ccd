/* Gaussian rows as products of Hadamard and diagonal matrices, so that X W' costs O(log d) per
 * number and W needs no storage.
 *
 * d columns are padded with zeros to P, a power of two. A block of P rows, cut to its first d
 * columns, is
 *   sorf:      W = sigma sqrt(P) H D_1 H D_2 H D_3,
 * D_k random signs, H orthonormal (Yu et al. 2016, Orthogonal random features, section 4), or
 *   fastfood:  W = sigma / sqrt(P) S H G Pi H B,
 * B random signs, Pi a random order, G normal numbers, H with entries +-1, S = diag(chi_P) / ||G||
 * (Le, Sarlos and Smola 2013, Fastfood, section 4).
 *
 * A fastfood row is exactly N(0, sigma^2 I): given S, the direction of G is uniform, and
 * H Pi H B / P is a rotation independent of it. A SORF row has the length sigma sqrt(P) before the
 * cut, takes few values where P is small, and is Gaussian up to O(1/P) only. Measured on d = 5,
 * gamma = 0.3, the root mean square error of SORF's mean kernel is 0.064 at P = 8, 0.028 at 16,
 * 0.014 at 32, 0.007 at 64: hence LEAST. */
#include "hadamard.h"
#include "shared/blocks.h"
#include "shared/draws.h"
#include "shared/gaussian_rows.h"
#include <float.h>

enum { LEAST = 64, LARGEST = 1 << 24 };
enum { FORM_SORF, FORM_FASTFOOD };
/* The numbers stored for a parameter: the signs of D_1, D_2, D_3, or the four numbers of
 * fastfood. */
enum { SORF_REALS = 3, SIGN = 0, NORMAL, SCALE, ORDER, FASTFOOD_REALS };

typedef struct hadamard {
  gaussian_rows rows;
  int32_t form;
} hadamard;

static const scl_option options[] = {
    GAUSSIAN_ROWS_OPTIONS,
    SCL_WORD(hadamard, form, "sorf|fastfood", "sorf",
             "sorf: sqrt(P) H D1 H D2 H D3, orthogonal rows, the lower variance; fastfood: "
             "S H G Pi H B / sqrt(P), each row exactly Gaussian")};

/* P: the least power of two that is at least dim and LEAST. */
static size_t padded(size_t dim) {
  size_t size = LEAST;
  while (size < dim)
    size *= 2;
  return size;
}

/* Parameters are numbers of the factors, not the rows themselves; a block of P of them belongs
 * together. */
static scl_status layout(const void *instance, size_t dim, scl_layout *out, scl_error *error) {
  const hadamard *self = instance;
  if (dim == 0 || dim > LARGEST)
    return self->rows.base.host->fail(error, SCL_STATUS_BAD_SHAPE,
                                      "Hadamard rows take 1 to %d columns, and the data have %zu",
                                      (int)LARGEST, dim);
  out->reals = self->form == FORM_FASTFOOD ? FASTFOOD_REALS : SORF_REALS;
  out->block = padded(dim);
  return SCL_STATUS_OK;
}

/* ------------ drawing */

/* Draws the signs of one parameter: the highest bits of one random number. */
static void draw_signs(const scl_random *random, scl_address address, uint64_t index,
                       unsigned count, double *out) {
  uint64_t bits;
  random->bits(address.seed, address.stream + GAUSSIAN_ROWS_WEIGHTS, index, 0, 1, &bits);
  for (unsigned k = 0; k < count; k++)
    out[k] = bits >> (63 - k) & 1 ? -1 : 1;
}

/* Draws the requested part of a fastfood block of P rows. G and Pi belong to the whole block,
 * which is therefore drawn in full. */
static void draw_part(const scl_random *random, scl_address address, const block_part *part,
                      size_t size, double *normals, uint32_t *order, const scl_parameters *out) {
  const scl_address radii = {address.seed, address.stream + GAUSSIAN_ROWS_RADII};
  const scl_address deal = {address.seed, address.stream + GAUSSIAN_ROWS_ORDER};
  double square = 0;
  for (size_t i = 0; i < size; i++)
    order[i] = (uint32_t)i;
  draw_shuffle(random, deal, part->block, 0, 0, size, size, order);
  random->normal(deal.seed, deal.stream, part->block, size, size, normals);
  for (size_t i = 0; i < size; i++)
    square += normals[i] * normals[i];
  for (size_t i = 0; i < part->count; i++) {
    double *at = out->weights + (ptrdiff_t)(part->at + i) * out->stride;
    const uint64_t index = out->first + part->at + i;
    draw_signs(random, address, index, 1, &at[SIGN]);
    at[NORMAL] = normals[part->from + i];
    at[SCALE] = draw_chi(random, radii, index, size) / sqrt(square);
    at[ORDER] = order[part->from + i];
  }
}

static scl_status draw_fastfood(const scl_host *host, scl_address address,
                                const scl_parameters *out, scl_error *error) {
  const size_t size = padded(out->dim);
  double *normals = host->scratch(size * sizeof *normals);
  uint32_t *order = host->scratch(size * sizeof *order);
  block_part part = {0};
  if (normals == NULL || order == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a block of %zu rows",
                      size);
  while (block_next(out, size, &part))
    draw_part(host->random, address, &part, size, normals, order, out);
  return SCL_STATUS_OK;
}

static scl_status draw_rows(const void *instance, const scl_draw *draw, const scl_parameters *out,
                            scl_error *error) {
  const hadamard *self = instance;
  const scl_host *host = self->rows.base.host;
  if (self->form == FORM_FASTFOOD) return draw_fastfood(host, draw->address, out, error);
  for (size_t i = 0; i < out->count; i++)
    draw_signs(host->random, draw->address, out->first + i, SORF_REALS,
               out->weights + (ptrdiff_t)i * out->stride);
  return SCL_STATUS_OK;
}

/* ------------ a block as a chain of transforms
 *
 * A diagonal matrix of the chain is what the parameters keep, times a factor. A transform makes
 * rows grow by sqrt(P). The factors take it back at each diagonal by powers of two, which are
 * exact, so that nothing overflows or vanishes on the way that would not in the end. Their product
 * is
 *   sorf:      sigma / P   (H with entries +-1),
 *   fastfood:  sigma / sqrt(P). */

/* The largest power of two with root^2 <= P. */
static double root_below(size_t size) {
  double root = 1;
  while (4 * root * root <= (double)size)
    root *= 2;
  return root;
}

/* Diagonal matrix k of the chain: the place of its numbers among those that a parameter keeps, and
 * its factor. */
typedef struct diagonal {
  size_t kept;
  double factor;
} diagonal;

/* SORF applies D_3 first, which is the last of the stored signs; fastfood stores its numbers in the
 * order in which they are applied. */
static diagonal diagonal_of(const hadamard *self, size_t size, size_t k) {
  const double root = root_below(size), sigma = self->rows.sigma;
  if (self->form == FORM_FASTFOOD)
    return (diagonal){k, k == SCALE ? sigma * (root * root / sqrt((double)size)) : 1 / root};
  return (diagonal){SORF_REALS - 1 - k, k == 0 ? sigma / root : k == 1 ? root / (double)size : 1};
}

/* The chains of some blocks in the type of the rows; one piece of memory. */
typedef struct chains {
  size_t first, size; /* the first parameter; P */
  scl_dtype dtype;
  char *diagonals; /* 3 P numbers of that type for each block */
  uint32_t *order; /* P for each block; NULL: sorf */
} chains;

static size_t bytes_of(scl_dtype dtype) {
  return dtype == SCL_DTYPE_FLOAT32 ? sizeof(float) : sizeof(double);
}

/* The three diagonal matrices of the block at place `at`, with their factors; fails where a number
 * overflows float32. */
static scl_status fill_diagonals(const hadamard *self, const scl_const_parameters *parameters,
                                 size_t at, chains *out, scl_error *error) {
  char *to = out->diagonals + 3 * at * bytes_of(out->dtype);
  double largest = 0;
  for (size_t k = 0; k < 3; k++) {
    const diagonal from = diagonal_of(self, out->size, k);
    const double *kept = parameters->weights + (ptrdiff_t)at * parameters->stride + from.kept;
    for (size_t i = k * out->size; i < (k + 1) * out->size; i++, kept += parameters->stride) {
      const double number = from.factor * *kept;
      largest = fmax(largest, fabs(number));
      if (out->dtype == SCL_DTYPE_FLOAT32)
        ((float *)(void *)to)[i] = (float)number;
      else
        ((double *)(void *)to)[i] = number;
    }
  }
  if (out->dtype != SCL_DTYPE_FLOAT32 || largest <= (double)FLT_MAX) return SCL_STATUS_OK;
  return self->rows.base.host->fail(error, SCL_STATUS_NUMERIC,
                                    "sigma = %g is too large for float32", self->rows.sigma);
}

/* The permutation of a fastfood block; checks places that may come from a file. */
static scl_status fill_order(const hadamard *self, const scl_const_parameters *parameters,
                             size_t at, chains *out, scl_error *error) {
  for (size_t i = at; i < at + out->size; i++) {
    const double place = parameters->weights[(ptrdiff_t)i * parameters->stride + ORDER];
    if (!(place >= 0 && place < (double)out->size))
      return self->rows.base.host->fail(error, SCL_STATUS_BAD_DATA,
                                        "parameter %zu has place %g in its block of %zu",
                                        parameters->first + i + 1, place, out->size);
    out->order[i] = (uint32_t)place;
  }
  return SCL_STATUS_OK;
}

/* The chains of these parameters, whole blocks, in memory from `allocate`. *out is that memory,
 * also after a failure. */
static scl_status make_chains(const hadamard *self, const scl_const_parameters *parameters,
                              scl_dtype dtype, void *(*allocate)(size_t), chains **out,
                              scl_error *error) {
  enum { HEAD = (sizeof(chains) + 63) / 64 * 64 };
  const scl_host *host = self->rows.base.host;
  const bool fastfood = self->form == FORM_FASTFOOD;
  const size_t size = padded(parameters->dim), count = parameters->count,
               numbers = 3 * count * bytes_of(dtype);
  *out = NULL;
  char *memory = allocate(HEAD + numbers + (fastfood ? count * sizeof(uint32_t) : 0));
  if (memory == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu Hadamard rows",
                      count);
  chains *made = *out = (chains *)(void *)memory;
  *made = (chains){.first = parameters->first,
                   .size = size,
                   .dtype = dtype,
                   .diagonals = memory + HEAD,
                   .order = fastfood ? (uint32_t *)(void *)(memory + HEAD + numbers) : NULL};
  scl_status status = SCL_STATUS_OK;
  for (size_t at = 0; status == SCL_STATUS_OK && at < count; at += size) {
    status = fill_diagonals(self, parameters, at, made, error);
    if (status == SCL_STATUS_OK && fastfood) status = fill_order(self, parameters, at, made, error);
  }
  return status;
}

static scl_status expect_blocks(const hadamard *self, const scl_const_parameters *parameters,
                                scl_error *error) {
  const size_t size = padded(parameters->dim);
  if (parameters->first % size == 0 && parameters->count % size == 0) return SCL_STATUS_OK;
  return self->rows.base.host->fail(
      error, SCL_STATUS_BAD_SHAPE,
      "Hadamard rows come in whole blocks of %zu, and these are rows %zu to %zu", size,
      parameters->first + 1, parameters->first + parameters->count);
}

/* The chain of the block that begins at place `at`. */
static walsh_chain chain_at(const chains *all, size_t at) {
  const size_t each = all->size * bytes_of(all->dtype);
  const char *diagonals = all->diagonals + 3 * at * bytes_of(all->dtype);
  const bool fastfood = all->order != NULL;
  return (walsh_chain){
      .size = all->size,
      .transforms = fastfood ? 2 : 3,
      .factors = {diagonals, diagonals + each, fastfood ? NULL : diagonals + 2 * each},
      .order = fastfood ? all->order + at : NULL,
      .last = fastfood ? diagonals + 2 * each : NULL};
}

/* Row i of the chain's matrix: the transposed chain applied to e_i. */
static void dense_row(const walsh_chain *chain, size_t i, double *u, double *v) {
  const size_t size = chain->size;
  memset(u, 0, size * sizeof *u);
  u[i] = chain->last == NULL ? 1 : ((const double *)chain->last)[i];
  for (size_t k = chain->transforms; k-- > 0;) {
    const double *factor = chain->factors[k];
    walsh_plain(size, u);
    for (size_t j = 0; j < size; j++)
      v[k == 1 && chain->order != NULL ? chain->order[j] : j] = factor[j] * u[j];
    memcpy(u, v, size * sizeof *u);
  }
}

static scl_status prepare(const void *self, const scl_draw *draw,
                          const scl_const_parameters *parameters, scl_dtype dtype, void **prepared,
                          scl_error *error) {
  const hadamard *sampler = self;
  chains *made;
  (void)draw;
  scl_status status = expect_blocks(sampler, parameters, error);
  if (status != SCL_STATUS_OK) return status;
  status = make_chains(sampler, parameters, dtype, sampler->rows.base.host->allocate, &made, error);
  if (status == SCL_STATUS_OK)
    *prepared = made;
  else
    sampler->rows.base.host->release(made);
  return status;
}

static void release_chains(const void *self, void *prepared) {
  ((const hadamard *)self)->rows.base.host->release(prepared);
}

/* Scratch memory for two rows of P numbers. */
static scl_status two_rows(const hadamard *self, size_t size, double **out, scl_error *error) {
  const scl_host *host = self->rows.base.host;
  *out = host->scratch(2 * size * sizeof **out);
  return *out != NULL ? SCL_STATUS_OK
                      : host->fail(error, SCL_STATUS_NO_MEMORY,
                                   "not enough memory for rows of %zu numbers", size);
}

static scl_status hadamard_apply(const void *self, const scl_draw *draw,
                                 const scl_const_parameters *parameters, const scl_const_block *x,
                                 const scl_block *z, scl_error *error) {
  const hadamard *sampler = self;
  const chains *ready = scl_prepared(parameters);
  const size_t before = ready == NULL ? 0 : parameters->first - ready->first;
  double *scratch;
  chains *made = NULL;
  (void)draw;
  scl_status status = expect_blocks(sampler, parameters, error);
  if (status == SCL_STATUS_OK && ready == NULL) {
    status =
        make_chains(sampler, parameters, x->dtype, sampler->rows.base.host->scratch, &made, error);
    ready = made;
  }
  if (status == SCL_STATUS_OK) status = two_rows(sampler, padded(parameters->dim), &scratch, error);
  const walsh_rows multiply = walsh_choose(x->dtype);
  for (size_t at = 0; status == SCL_STATUS_OK && at < parameters->count; at += ready->size) {
    const walsh_chain chain = chain_at(ready, before + at);
    multiply(&chain, x, z, at, scratch);
  }
  return status;
}

/* Every row of the matrices of the chains, cut to d numbers. */
static scl_status rows(const void *self, const scl_draw *draw,
                       const scl_const_parameters *parameters, double *dense, ptrdiff_t stride,
                       scl_error *error) {
  const hadamard *sampler = self;
  chains *all;
  double *scratch;
  (void)draw;
  scl_status status = expect_blocks(sampler, parameters, error);
  if (status == SCL_STATUS_OK)
    status = make_chains(sampler, parameters, SCL_DTYPE_FLOAT64, sampler->rows.base.host->scratch,
                         &all, error);
  if (status == SCL_STATUS_OK) status = two_rows(sampler, padded(parameters->dim), &scratch, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < parameters->count; i++) {
    const walsh_chain chain = chain_at(all, i / all->size * all->size);
    dense_row(&chain, i % all->size, scratch, scratch + all->size);
    memcpy(dense + (ptrdiff_t)i * stride, scratch, parameters->dim * sizeof *dense);
  }
  return status;
}

/* ------------ the plugin */

const scl_plugin scullery_plugin = {
    .name = "hadamard",
    .summary = "Gaussian rows as Hadamard products: X W' in O(log d) per number",
    .definition =
        "s() = gamma and sqrt(2*gamma) or sigma or 1\n"
        /* A sign by bit 63 - k. */
        "flip(t, k, r) = 1 - 2*((r.bits(0, t, 0) >> (63 - k)) % 2)\n"
        /* The permutation of block b. */
        "order(b, P, r) = (function(o)\n"
        "  for i = 1, P - 1 do\n"
        "    local k = i + r.below(3, b, i - 1, P - i + 1)\n"
        "    o[i], o[k] = o[k], o[i]\n"
        "  end\n"
        "  return o end)(map(range(P), function(i) return i - 1 end))\n"
        /* The normal numbers of block b. */
        "normals(b, P, r) = map(range(P), function(k) return r.normal(3, b, P + k - 1) end)\n"
        /* The four numbers of fastfood. */
        "fast(t, P, n, o, r) = { flip(t, 0, r), n[t % P + 1], r.chi(2, t, P)/length(n), o[t % P + "
        "1] }\n"
        "draw(t, r) = form == \"fastfood\" and fast(t, r.block, normals(t//r.block, r.block, r),\n"
        "  order(t//r.block, r.block, r), r) or { flip(t, 0, r), flip(t, 1, r), flip(t, 2, r) }\n"
        /* The transform, of numbers that are half * 2 apart. */
        "walsh(x, half) = half == #x and x or walsh(map(x, function(v, i)\n"
        "  return (i - 1) % (2*half) < half and v + x[i + half] or x[i - half] - v end), 2*half)\n"
        /* H D of the diagonal k and numbers v(i). */
        "H(W, k, v) = walsh(map(W, function(w, i) return w[k]*v(i) end), 1)\n"
        "by(list, W, k) = function(i) return list[W and W[i][k] + 1 or i] or 0 end\n"
        /* H D1 H D2 H D3 x. */
        "sorf(x, W) = H(W, 1, by(H(W, 2, by(H(W, 3, by(x))))))\n"
        "z(x, W, r) = #W == r.block and (form == \"sorf\" and map(sorf(x, W), function(v)\n"
        "  return s()/#W*v end) or map(H(W, 2, by(H(W, 1, by(x)), W, 4)), function(v, i)\n"
        "  return s()/sqrt(#W)*W[i][3]*v end))",
    .doc =
        "Blocks of P rows, P the power of two from d (at least 64) on, as products that fast\n"
        "Walsh-Hadamard transforms apply without forming them; z = <w, x> + b.\n"
        "  sorf      W = sigma sqrt(P) H D1 H D2 H D3 (Yu et al. 2016): rows of a block are "
        "orthogonal,\n"
        "            the error is smaller than with independent rows; Gaussian up to O(1/P):\n"
        "            kernels are off by less than 0.01\n"
        "  fastfood  W = sigma/sqrt(P) S H G Pi H B (Le, Sarlos and Smola 2013): each row is "
        "exactly\n"
        "            N(0, sigma^2 I)\n"
        "With nonlinearity.fourier the features estimate exp(-gamma ||x-y||^2), gamma = "
        "sigma^2/2.\n"
        "A parameter keeps 3 numbers (sorf: its three signs) or 4 (fastfood: sign, normal number,\n"
        "scale, place).",
    GAUSSIAN_ROWS_SAMPLER(hadamard, SCL_SPACE_STRUCTURED),
    SCL_ABILITIES(GAUSSIAN_ROWS_CHARACTERISTIC,
                  SCL_OFFER(SCL_ABILITY_STRUCTURED, scl_ability_structured, .apply = hadamard_apply,
                            .rows = rows, .dtypes = SCL_DTYPES_FLOAT),
                  SCL_OFFER(SCL_ABILITY_PREPARE, scl_ability_prepare, .prepare = prepare,
                            .release = release_chains))};

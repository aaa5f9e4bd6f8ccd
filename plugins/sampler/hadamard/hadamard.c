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

/* ---------------------------------------------------------------- drawing */

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

/* ---------------------------------------------------------------- a block as a chain of transforms
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

/* The memory for one block of P rows: its chain, as float64 and as float32, and two rows of either
 * type for the transforms. */
typedef struct workspace {
  size_t size;       /* P */
  double *diagonals; /* 3 P */
  float *single;     /* 3 P: the same */
  uint32_t *order;   /* P */
  double *scratch;   /* 2 P */
} workspace;

/* Scratch memory for the blocks of these parameters, which must be whole blocks. */
static scl_status hadamard_reserve(const hadamard *self, const scl_const_parameters *parameters,
                                   workspace *out, scl_error *error) {
  const scl_host *host = self->rows.base.host;
  const size_t size = padded(parameters->dim);
  if (parameters->first % size != 0 || parameters->count % size != 0)
    return host->fail(error, SCL_STATUS_BAD_SHAPE,
                      "Hadamard rows come in whole blocks of %zu, and these are rows %zu to %zu",
                      size, parameters->first + 1, parameters->first + parameters->count);
  *out = (workspace){.size = size,
                     .diagonals = host->scratch(3 * size * sizeof *out->diagonals),
                     .single = host->scratch(3 * size * sizeof *out->single),
                     .order = host->scratch(size * sizeof *out->order),
                     .scratch = host->scratch(2 * size * sizeof *out->scratch)};
  if (out->diagonals != NULL && out->single != NULL && out->order != NULL && out->scratch != NULL)
    return SCL_STATUS_OK;
  return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a block of %zu rows", size);
}

/* The three diagonal matrices of a block in float64, with their factors. */
static void fill_diagonals(const hadamard *self, const scl_const_parameters *parameters,
                           size_t first, workspace *space) {
  for (size_t k = 0; k < 3; k++) {
    const diagonal from = diagonal_of(self, space->size, k);
    const double *at = parameters->weights + (ptrdiff_t)first * parameters->stride + from.kept;
    for (size_t i = 0; i < space->size; i++, at += parameters->stride)
      space->diagonals[k * space->size + i] = from.factor * *at;
  }
}

/* The same in float32; fails where a number overflows it. */
static scl_status narrow_diagonals(const hadamard *self, workspace *space, scl_error *error) {
  double largest = 0;
  for (size_t i = 0; i < 3 * space->size; i++) {
    largest = fmax(largest, fabs(space->diagonals[i]));
    space->single[i] = (float)space->diagonals[i];
  }
  if (largest <= (double)FLT_MAX) return SCL_STATUS_OK;
  return self->rows.base.host->fail(error, SCL_STATUS_NUMERIC,
                                    "sigma = %g is too large for float32", self->rows.sigma);
}

/* The permutation of a fastfood block; checks places that may come from a file. */
static scl_status fill_order(const hadamard *self, const scl_const_parameters *parameters,
                             size_t first, workspace *space, scl_error *error) {
  for (size_t i = 0; i < space->size; i++) {
    const double place = parameters->weights[(ptrdiff_t)(first + i) * parameters->stride + ORDER];
    if (!(place >= 0 && place < (double)space->size))
      return self->rows.base.host->fail(error, SCL_STATUS_BAD_DATA,
                                        "parameter %zu has place %g in its block of %zu",
                                        parameters->first + first + i + 1, place, space->size);
    space->order[i] = (uint32_t)place;
  }
  return SCL_STATUS_OK;
}

/* The chain of the block that begins at place `first` of the batch. */
static scl_status fill_chain(const hadamard *self, const scl_const_parameters *parameters,
                             size_t first, scl_dtype dtype, workspace *space, walsh_chain *out,
                             scl_error *error) {
  const bool fastfood = self->form == FORM_FASTFOOD, single = dtype == SCL_DTYPE_FLOAT32;
  scl_status status = SCL_STATUS_OK;
  const void *numbers[3];
  fill_diagonals(self, parameters, first, space);
  if (single) status = narrow_diagonals(self, space, error);
  if (status == SCL_STATUS_OK && fastfood)
    status = fill_order(self, parameters, first, space, error);
  for (size_t k = 0; k < 3; k++)
    numbers[k] = single ? (const void *)(space->single + k * space->size)
                        : (const void *)(space->diagonals + k * space->size);
  *out = (walsh_chain){.size = space->size,
                       .transforms = fastfood ? 2 : 3,
                       .factors = {numbers[0], numbers[1], fastfood ? NULL : numbers[2]},
                       .order = fastfood ? space->order : NULL,
                       .last = fastfood ? numbers[2] : NULL};
  return status;
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

/* Every row of the chain's matrix, cut to `dim` numbers. */
static void dense_rows(const walsh_chain *chain, size_t dim, double *scratch, double *out,
                       ptrdiff_t stride) {
  for (size_t i = 0; i < chain->size; i++) {
    dense_row(chain, i, scratch, scratch + chain->size);
    memcpy(out + (ptrdiff_t)i * stride, scratch, dim * sizeof *out);
  }
}

/* Processes block after block: z = X W' where there is an x, else dense = W. */
static scl_status each_block(const hadamard *self, const scl_const_parameters *parameters,
                             const scl_const_block *x, const scl_block *z, double *dense,
                             ptrdiff_t stride, scl_error *error) {
  const scl_dtype dtype = x == NULL ? SCL_DTYPE_FLOAT64 : x->dtype;
  const walsh_rows multiply = walsh_choose(dtype);
  workspace space = {0};
  scl_status status = hadamard_reserve(self, parameters, &space, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t first = 0; first < parameters->count; first += space.size) {
    walsh_chain chain;
    status = fill_chain(self, parameters, first, dtype, &space, &chain, error);
    if (status != SCL_STATUS_OK) return status;
    if (x != NULL)
      multiply(&chain, x, z, first, space.scratch);
    else
      dense_rows(&chain, parameters->dim, space.scratch, dense + (ptrdiff_t)first * stride, stride);
  }
  return SCL_STATUS_OK;
}

static scl_status hadamard_apply(const void *self, const scl_draw *draw,
                                 const scl_const_parameters *parameters, const scl_const_block *x,
                                 const scl_block *z, scl_error *error) {
  (void)draw;
  return each_block(self, parameters, x, z, NULL, 0, error);
}

static scl_status rows(const void *self, const scl_draw *draw,
                       const scl_const_parameters *parameters, double *dense, ptrdiff_t stride,
                       scl_error *error) {
  (void)draw;
  return each_block(self, parameters, NULL, NULL, dense, stride, error);
}

/* ---------------------------------------------------------------- the plugin */

const scl_plugin scullery_plugin = {
    .name = "hadamard",
    .summary = "Gaussian rows as Hadamard products: X W' in O(log d) per number",
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
                            .rows = rows, .dtypes = SCL_DTYPES_FLOAT))};

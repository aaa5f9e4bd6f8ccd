/* Gaussian rows as products of Hadamard and diagonal matrices, so that X W' costs O(log d) a number
 * and W needs no storage.
 *
 * d columns are padded with zeros to P, a power of two; a block of P rows is
 *   sorf:     W = sigma sqrt(P) H D1 H D2 H D3
 *             D: random signs, H orthonormal (Yu et al. 2016, Orthogonal random features,
 * section 4) fastfood: W = sigma / sqrt(P) S H G Pi H B              B: random signs, Pi: a random
 * order, G: normal numbers, H with entries +-1, S = diag(chi_P) / ||G|| (Le, Sarlos and Smola 2013,
 * Fastfood, section 4) cut to its first d columns.
 *
 * A fastfood row is exactly N(0, sigma^2 I): given S, the direction of G is uniform and H Pi H B /
 * P a rotation independent of it. A SORF row has the length sigma sqrt(P) before the cut, takes few
 * values where P is small, and is Gaussian up to O(1/P) only. Measured on d = 5, gamma = 0.3, the
 * root mean square error of SORF's mean kernel is 0.064 at P = 8, 0.028 at 16, 0.014 at 32, 0.007
 * at 64: hence LEAST. */
#include "shared/blocks.h"
#include "shared/draws.h"
#include "shared/gaussian_rows.h"
#include "shared/walsh.h"
#include <float.h>

enum { FORM = GAUSSIAN_ROWS_OPTIONS, OPTIONS };
enum { LEAST = 64, LARGEST = 1 << 24 };
/* What a parameter keeps in its row of weights. */
enum { SORF_WIDTH = 3, SIGN = 0, NORMAL, SCALE, ORDER, FASTFOOD_WIDTH };

static const scl_option options[OPTIONS] = {
    GAUSSIAN_ROWS_TABLE,
    {"form", SCL_FORM_WORD, "sorf|fastfood", "sorf", 0, 0, 0, SCL_WIDTH_NONE,
     "sorf: sqrt(P) H D1 H D2 H D3, orthogonal rows, the lower variance; fastfood: S H G Pi H B / "
     "sqrt(P), each row exactly Gaussian"},
};

typedef struct hadamard {
  gaussian_rows rows;
  int fastfood;
  walsh_rows apply[2]; /* by dtype */
} hadamard;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const scl_status status =
      gaussian_rows_create(host, values, SCL_SPACE_STRUCTURED, sizeof(hadamard), instance, error);
  if (status != SCL_STATUS_OK) return status;
  hadamard *self = *instance;
  self->fastfood = strcmp(values[FORM].word, "fastfood") == 0;
  self->apply[SCL_DTYPE_FLOAT64] = walsh_choose(SCL_DTYPE_FLOAT64);
  self->apply[SCL_DTYPE_FLOAT32] = walsh_choose(SCL_DTYPE_FLOAT32);
  return SCL_STATUS_OK;
}

static size_t padded(size_t dim) {
  size_t size = LEAST;
  while (size < dim)
    size *= 2;
  return size;
}

static scl_status layout(const void *instance, size_t dim, scl_layout *out, scl_error *error) {
  const hadamard *self = instance;
  if (dim == 0 || dim > LARGEST)
    return self->rows.host->fail(error, SCL_STATUS_BAD_SHAPE,
                                 "Hadamard rows take 1 to %d columns, and the data have %zu",
                                 (int)LARGEST, dim);
  *out = (scl_layout){SCL_SPACE_STRUCTURED, self->fastfood ? FASTFOOD_WIDTH : SORF_WIDTH, 0,
                      padded(dim), self->rows.bias.law != SCL_BIAS_NONE};
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- drawing */

static double sign_of(uint64_t bits, unsigned place) {
  return bits >> (63 - place) & 1 ? -1 : 1;
}

/* The signs of one parameter: the highest bits of one number. */
static void draw_signs(const gaussian_rows *rows, scl_address address, uint64_t index,
                       unsigned count, double *out) {
  uint64_t bits;
  rows->random->bits(address.seed, address.stream + GAUSSIAN_ROWS_WEIGHTS, index, 0, 1, &bits);
  for (unsigned k = 0; k < count; k++)
    out[k] = sign_of(bits, k);
}

/* G and Pi belong to the block, so all of it is drawn whatever part is asked for. */
static void draw_fastfood(const gaussian_rows *rows, scl_address address, const block_part *part,
                          size_t size, double *normals, uint32_t *order, scl_parameters *out) {
  const scl_address radii = {address.seed, address.stream + GAUSSIAN_ROWS_RADII};
  const scl_address deal = {address.seed, address.stream + GAUSSIAN_ROWS_ORDER};
  double square = 0;
  for (size_t i = 0; i < size; i++)
    order[i] = (uint32_t)i;
  draw_shuffle(rows->random, deal, part->block, 0, 0, size, size, order);
  rows->random->normal(deal.seed, deal.stream, part->block, size, size, normals);
  for (size_t i = 0; i < size; i++)
    square += normals[i] * normals[i];
  for (size_t i = 0; i < part->count; i++) {
    double *at = out->weights + (ptrdiff_t)(part->at + i) * out->stride;
    const uint64_t index = out->first + part->at + i;
    draw_signs(rows, address, index, 1, &at[SIGN]);
    at[NORMAL] = normals[part->from + i];
    at[SCALE] = draw_chi(rows->random, radii, index, size) / sqrt(square);
    at[ORDER] = order[part->from + i];
  }
}

static scl_status draw_blocks(const hadamard *self, scl_address address, scl_parameters *out,
                              scl_error *error) {
  const size_t size = padded(out->dim);
  const scl_host *host = self->rows.host;
  double *normals = host->allocate(size * (sizeof *normals + sizeof(uint32_t)));
  if (normals == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a block of %zu rows",
                      size);
  block_part part = {0};
  while (block_next(out, size, &part))
    draw_fastfood(&self->rows, address, &part, size, normals, (uint32_t *)(normals + size), out);
  host->release(normals);
  return SCL_STATUS_OK;
}

static scl_status draw(const void *instance, scl_address address, scl_parameters *out,
                       scl_error *error) {
  const hadamard *self = instance;
  bias_draw(&self->rows.bias, self->rows.random, address, out);
  if (self->fastfood) return draw_blocks(self, address, out, error);
  for (size_t i = 0; i < out->count; i++)
    draw_signs(&self->rows, address, out->first + i, SORF_WIDTH,
               out->weights + (ptrdiff_t)i * out->stride);
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- a block as a chain of transforms
 */

/* The largest power of two with root^2 <= P. */
static double root_below(size_t size) {
  double root = 1;
  while (4 * root * root <= (double)size)
    root *= 2;
  return root;
}

/* A number of a chain: what a parameter keeps, times a factor. A transform makes rows grow by
 * sqrt(P); powers of two, which are exact, take it back at each diagonal, so that nothing overflows
 * or vanishes on the way that would not in the end. The product of the factors is sigma / P (sorf,
 * H with entries +-1) or sigma / sqrt(P) (fastfood). */
typedef struct diagonal {
  size_t kept;
  double factor;
} diagonal;

static diagonal diagonal_of(const hadamard *self, size_t size, size_t k) {
  const double root = root_below(size), sigma = self->rows.sigma;
  if (self->fastfood)
    return (diagonal){k, k == SCALE ? sigma * (root * root / sqrt((double)size)) : 1 / root};
  return (diagonal){SORF_WIDTH - 1 - k, k == 0 ? sigma / root : k == 1 ? root / (double)size : 1};
}

static scl_status fill_diagonal(const hadamard *self, const scl_parameters *parameters,
                                size_t first, diagonal from, scl_dtype dtype, void *to,
                                scl_error *error) {
  const size_t size = padded(parameters->dim);
  const double *at = parameters->weights + (ptrdiff_t)first * parameters->stride + from.kept;
  double largest = 0;
  for (size_t i = 0; i < size; i++, at += parameters->stride) {
    const double value = from.factor * *at;
    largest = fabs(value) > largest ? fabs(value) : largest;
    if (dtype == SCL_DTYPE_FLOAT32)
      ((float *)to)[i] = (float)value;
    else
      ((double *)to)[i] = value;
  }
  if (dtype == SCL_DTYPE_FLOAT64 || largest <= (double)FLT_MAX) return SCL_STATUS_OK;
  return self->rows.host->fail(error, SCL_STATUS_NUMERIC, "sigma = %g is too large for float32",
                               self->rows.sigma);
}

static scl_status fill_order(const hadamard *self, const scl_parameters *parameters, size_t first,
                             size_t size, uint32_t *order, scl_error *error) {
  for (size_t i = 0; i < size; i++) {
    const double place = parameters->weights[(ptrdiff_t)(first + i) * parameters->stride + ORDER];
    if (!(place >= 0 && place < (double)size))
      return self->rows.host->fail(error, SCL_STATUS_BAD_DATA,
                                   "parameter %zu takes place %g of a block of %zu",
                                   parameters->first + first + i + 1, place, size);
    order[i] = (uint32_t)place;
  }
  return SCL_STATUS_OK;
}

/* The chain of the block that begins at place `first` of the batch. Memory: 3 P numbers of the
 * dtype, then P places. */
static scl_status fill_chain(const hadamard *self, const scl_parameters *parameters, size_t first,
                             scl_dtype dtype, void *memory, walsh_chain *out, scl_error *error) {
  const size_t size = padded(parameters->dim),
               bytes = size * (dtype == SCL_DTYPE_FLOAT32 ? sizeof(float) : sizeof(double));
  void *const numbers[3] = {memory, (char *)memory + bytes, (char *)memory + 2 * bytes};
  uint32_t *const order = (void *)((char *)memory + 3 * bytes);
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0; status == SCL_STATUS_OK && k < 3; k++)
    status = fill_diagonal(self, parameters, first, diagonal_of(self, size, k), dtype, numbers[k],
                           error);
  if (status == SCL_STATUS_OK && self->fastfood)
    status = fill_order(self, parameters, first, size, order, error);
  *out = (walsh_chain){size, 3, {numbers[0], numbers[1], numbers[2]}, NULL, NULL};
  if (self->fastfood) *out = (walsh_chain){size, 2, {numbers[0], numbers[1]}, order, numbers[2]};
  return status;
}

/* Scratch for one block: its chain, then two rows. */
static scl_status reserve(const hadamard *self, const scl_parameters *parameters, char **memory,
                          char **scratch, scl_error *error) {
  const size_t size = padded(parameters->dim),
               chain = size * (3 * sizeof(double) + sizeof(uint32_t));
  if (parameters->first % size != 0 || parameters->count % size != 0)
    return self->rows.host->fail(
        error, SCL_STATUS_BAD_SHAPE,
        "Hadamard rows come in whole blocks of %zu, and these are rows %zu to %zu", size,
        parameters->first + 1, parameters->first + parameters->count);
  *memory = self->rows.host->allocate(chain + 2 * size * sizeof(double));
  if (*memory == NULL)
    return self->rows.host->fail(error, SCL_STATUS_NO_MEMORY,
                                 "not enough memory for a block of %zu rows", size);
  *scratch = *memory + chain;
  return SCL_STATUS_OK;
}

static scl_status apply(const void *instance, const scl_parameters *parameters, const scl_block *x,
                        scl_block *z, scl_error *error) {
  const hadamard *self = instance;
  const size_t size = padded(parameters->dim);
  char *memory, *scratch;
  scl_status status = reserve(self, parameters, &memory, &scratch, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t first = 0; status == SCL_STATUS_OK && first < parameters->count; first += size) {
    walsh_chain chain;
    status = fill_chain(self, parameters, first, x->dtype, memory, &chain, error);
    if (status == SCL_STATUS_OK) self->apply[x->dtype](&chain, x, z, first, scratch);
  }
  self->rows.host->release(memory);
  return status;
}

/* Row i of the chain's matrix: the chain transposed, from the left, on e_i. */
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

static scl_status rows(const void *instance, const scl_parameters *parameters, double *dense,
                       ptrdiff_t stride, scl_error *error) {
  const hadamard *self = instance;
  const size_t size = padded(parameters->dim);
  char *memory, *scratch;
  scl_status status = reserve(self, parameters, &memory, &scratch, error);
  if (status != SCL_STATUS_OK) return status;
  double *row = (void *)scratch;
  for (size_t first = 0; status == SCL_STATUS_OK && first < parameters->count; first += size) {
    walsh_chain chain;
    status = fill_chain(self, parameters, first, SCL_DTYPE_FLOAT64, memory, &chain, error);
    for (size_t i = 0; status == SCL_STATUS_OK && i < size; i++) {
      dense_row(&chain, i, row, row + size);
      memcpy(dense + (ptrdiff_t)(first + i) * stride, row, parameters->dim * sizeof *row);
    }
  }
  self->rows.host->release(memory);
  return status;
}

/* ---------------------------------------------------------------- the plugin */

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_structured structured_table = {SCL_HEAD(scl_ability_structured), apply,
                                                          rows};
  return strcmp(id, SCL_ABILITY_STRUCTURED) == 0 ? &structured_table
                                                 : gaussian_rows_ability(instance, id);
}

static const scl_sampler table = {SCL_HEAD(scl_sampler), layout, draw};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SAMPLER,
    "hadamard",
    "1.0",
    "The Scullery authors",
    "Gaussian rows as Hadamard products: X W' in O(log d) a number",
    "Blocks of P rows, P the power of two from d (at least 64) on, as products that fast\n"
    "Walsh-Hadamard transforms apply without forming them; z = <w, x> + b.\n"
    "  sorf      W = sigma sqrt(P) H D1 H D2 H D3 (Yu et al. 2016): rows of a block are "
    "orthogonal,\n"
    "            the error is smaller than with independent rows; Gaussian up to O(1/P):\n"
    "            kernels are off by less than 0.01\n"
    "  fastfood  W = sigma/sqrt(P) S H G Pi H B (Le, Sarlos and Smola 2013): each row exactly N(0, "
    "sigma^2 I)\n"
    "With nonlinearity.fourier the features estimate exp(-gamma ||x-y||^2), gamma = sigma^2/2. A "
    "parameter\n"
    "keeps 3 numbers (sorf: its three signs) or 4 (fastfood: sign, normal number, scale, place).",
    options,
    OPTIONS,
    &table,
    create,
    instance_end,
    ability};

/* Kernels that look at s of the d columns at a time, N running over the C(d, s) supports of size s:
 *
 *   K(x, y) = sum (or, normalised, mean) over N of prod_{j in N} k1(x_j, y_j)
 *
 * It is the s-th elementary symmetric polynomial of the one-dimensional kernel values, in O(d s)
 * per pair by the recursion of shared/subset_means.h. The sum is the ANOVA kernel (Stitson et al.
 * 1999, Support vector regression with ANOVA decomposition kernels), the mean the kernel of sparse
 * features of in-degree s (Harris 2019, Additive function approximation in the brain). */
#include "shared/kernel_parts.h"
#include "shared/subset_means.h"

typedef struct additive {
  scl_base base;
  size_t degree;
  scl_part column; /* k1 */
  bool normalise;
} additive;

static const scl_option options[] = {
    SCL_INTEGER(additive, degree, "1", "number s of columns in each term, at most d",
                SCL_WITHIN(1, 1000)),
    KERNEL_PARTS(additive, column, "base",
                 "the kernel k1 of one column, as sc.kernel.gaussian{ width = 1 }; its width is a "
                 "number, never set from a sampler"),
    SCL_BOOLEAN(additive, normalise, "true",
                "true: the mean over the C(d, s) supports; false: the sum")};

/* ------------ the recursion, on many pairs at once */

/* State of the recursion for `count` pairs: p_k, k = 0 .. s, and the kernel values c of column
 * j. */
typedef struct symmetric {
  size_t count;
  double *p, *c;
} symmetric;

/* p_0 = 1, p_1 .. p_s = 0 for every pair. */
static void symmetric_begin(symmetric *state, size_t degree) {
  for (size_t i = 0; i < state->count; i++)
    state->p[i] = 1;
  memset(state->p + state->count, 0, degree * state->count * sizeof *state->p);
}

/* Adds column j (from 1): p_k <- ((j - k) p_k + k c_j p_(k-1))/j, so that p_k is the mean over the
 * subsets of size k of the first j columns. k descends, as p_(k-1) must still be the old one. */
static void symmetric_step(const symmetric *state, size_t dim, size_t degree, size_t j) {
  const subset_range range = subset_step(dim, degree, j);
  for (size_t k = range.high; k >= range.low && k > 0; k--) {
    double *restrict to = state->p + k * state->count;
    const double *restrict from = to - state->count, *restrict c = state->c;
    const double keep = (double)(j - k) / (double)j, take = (double)k / (double)j;
    for (size_t i = 0; i < state->count; i++)
      to[i] = keep * to[i] + take * c[i] * from[i];
  }
}

/* The factor from the mean to the result: C(d, s) for the sum, 1 for the mean. It is applied last,
 * so that nothing overflows before. */
static double symmetric_factor(const additive *self, size_t dim) {
  double factor = 1;
  for (size_t k = 1; !self->normalise && k <= self->degree; k++)
    factor *= (double)(dim - self->degree + k) / (double)k;
  return factor;
}

/* Views column j of the parameters as parameters of one column. */
static void additive_column(const scl_const_parameters *all, size_t j, scl_const_parameters *out) {
  SCL_COPY(out, all);
  out->dim = out->reals = 1;
  out->weights += j;
  out->bias = NULL;
}

/* Scratch memory of s + 2 numbers for each of `pairs` pairs. */
static scl_status symmetric_reserve(const additive *self, size_t dim, size_t pairs, symmetric *out,
                                    scl_error *error) {
  const scl_host *host = self->base.host;
  if (self->degree > dim)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "option 'degree' = %zu is more than the %zu columns of the data",
                      self->degree, dim);
  *out = (symmetric){pairs, host->scratch((self->degree + 2) * pairs * sizeof *out->p), NULL};
  if (out->p == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY,
                      "not enough memory for additive kernels of degree %zu", self->degree);
  out->c = out->p + (self->degree + 1) * pairs;
  return SCL_STATUS_OK;
}

/* K(u_i, v_j) for one tile: one step of the recursion for each of the d columns, on all u->count
 * x v->count pairs at once. */
static scl_status tile(const additive *self, symmetric *state, const scl_const_parameters *u,
                       const scl_const_parameters *v, double *out, ptrdiff_t stride,
                       scl_error *error) {
  const double factor = symmetric_factor(self, u->dim);
  state->count = u->count * v->count;
  symmetric_begin(state, self->degree);
  for (size_t j = 1; j <= u->dim; j++) {
    scl_const_parameters a, b;
    additive_column(u, j - 1, &a);
    additive_column(v, j - 1, &b);
    const scl_status status =
        self->base.host->parts->gram(&self->column, &a, &b, state->c, (ptrdiff_t)v->count, error);
    if (status != SCL_STATUS_OK) return status;
    symmetric_step(state, u->dim, self->degree, j);
  }
  const double *result = state->p + self->degree * state->count;
  for (size_t i = 0; i < u->count; i++)
    for (size_t j = 0; j < v->count; j++)
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] = factor * result[i * v->count + j];
  return SCL_STATUS_OK;
}

/* ------------ the kernel */

static size_t additive_least(size_t a, size_t b) { return a < b ? a : b; }

/* Computes the Gram matrix in tiles whose s + 2 numbers per pair stay in the cache. */
static scl_status additive_gram(const void *instance, const scl_const_parameters *u,
                                const scl_const_parameters *v, double *out, ptrdiff_t stride,
                                scl_error *error) {
  enum { ROWS = 16, COLS = 256 };
  const additive *self = instance;
  symmetric state;
  scl_status status = symmetric_reserve(self, u->dim, ROWS * COLS, &state, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < u->count; i += ROWS)
    for (size_t j = 0; j < v->count; j += COLS) {
      scl_const_parameters rows, cols;
      parts_strip(u, i, additive_least(ROWS, u->count - i), &rows);
      parts_strip(v, j, additive_least(COLS, v->count - j), &cols);
      status = tile(self, &state, &rows, &cols, out + (ptrdiff_t)i * stride + (ptrdiff_t)j, stride,
                    error);
      if (status != SCL_STATUS_OK) return status;
    }
  return SCL_STATUS_OK;
}

/* K(u_i, u_i): the same recursion on the pairs (u_i, u_i). */
static scl_status additive_diagonal(const void *instance, const scl_const_parameters *u,
                                    double *out, scl_error *error) {
  const additive *self = instance;
  const scl_host *host = self->base.host;
  symmetric state;
  scl_status status = symmetric_reserve(self, u->dim, u->count + 1, &state, error);
  if (status != SCL_STATUS_OK) return status;
  state.count = u->count;
  symmetric_begin(&state, self->degree);
  for (size_t j = 1; j <= u->dim; j++) {
    scl_const_parameters one;
    additive_column(u, j - 1, &one);
    status = host->parts->diagonal(&self->column, &one, state.c, error);
    if (status != SCL_STATUS_OK) return status;
    symmetric_step(&state, u->dim, self->degree, j);
  }
  for (size_t i = 0; i < u->count; i++)
    out[i] = symmetric_factor(self, u->dim) * state.p[self->degree * state.count + i];
  return SCL_STATUS_OK;
}

/* Shifting both rows keeps the kernel where it keeps k1. */
static scl_shift additive_shift(const void *instance) {
  const additive *self = instance;
  return parts_shift(self->base.host, &self->column) == SCL_SHIFT_KEEPS ? SCL_SHIFT_KEEPS
                                                                        : SCL_SHIFT_CHANGES;
}

const scl_plugin scullery_plugin = {
    .name = "additive",
    .summary = "the mean or sum of products of one-dimensional kernels over all sets of s columns",
    .definition = "k(u, v, j) = base.K({ u[j] }, { v[j] })\n"
                  "E(u, v, j, s) = s == 0 and 1 or j < s and 0\n"
                  "  or E(u, v, j - 1, s) + k(u, v, j)*E(u, v, j - 1, s - 1)\n"
                  "C(n, s) = s == 0 and 1 or C(n - 1, s - 1)*n/s\n"
                  "K(u, v) = (degree == 1 or #u < 8) and E(u, v, #u, degree)/(normalise and C(#u, "
                  "degree) or 1)",
    .doc = "K(x, y) = mean over the supports N of s = degree of the d columns of\n"
           "prod_{j in N} k1(x_j, y_j), k1 = base (normalise = false: the sum). A normalised\n"
           "elementary symmetric polynomial of the d values, O(d s) per pair; dense rows only,\n"
           "positive semidefinite where k1 is.\n"
           "It is the kernel of Fourier features on sc.sampler.sparse{ degree = s, sigma = } with\n"
           "base = sc.kernel.gaussian{ width = sqrt(s)/sigma } (Harris 2019, Additive function\n"
           "approximation in the brain; the sum is the ANOVA kernel of Stitson et al. 1999).\n"
           "Degree d is the product kernel.",
    SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .gram = additive_gram,
               .diagonal = additive_diagonal),
    SCL_INSTANCE(additive, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_SHIFT, scl_ability_shift, .shift = additive_shift))};

/* K(x, y) = sum over the supports N of s of the d columns of prod_{j in N} k1(x_j, y_j), or,
 * normalised, their mean: the s-th elementary symmetric polynomial of the one-dimensional kernel
 * values, in O(d s) a pair by the recursion of subset_means.h (Stitson et al. 1999, Support vector
 * regression with ANOVA decomposition kernels; Harris 2019 for sparse features of in-degree s,
 * whose kernel is the mean). */
#include "shared/kernel_parts.h"
#include "shared/subset_means.h"

enum { DEGREE, BASE, NORMALISE, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"degree", SCL_FORM_INTEGER, NULL, "1", 1, 1000, 0, SCL_WIDTH_NONE,
     "s, how many columns each term looks at; at most d"},
    {"base", SCL_FORM_PARTS, "kernel", "gaussian", 0, 0, 0, SCL_WIDTH_NONE,
     "the kernel k1 of one column, as sc.kernel.gaussian{ gamma = 1 }; its width is given, not "
     "said through a sampler"},
    {"normalise", SCL_FORM_BOOLEAN, NULL, "true", 0, 1, 0, SCL_WIDTH_NONE,
     "true: the mean over the C(d, s) supports; false: the sum"},
};

typedef struct additive {
  kernel_parts base;
  size_t degree;
  int normalise;
} additive;

static void destroy(void *instance) {
  additive *self = instance;
  const scl_host *host = self->base.host;
  parts_release(&self->base);
  host->release(self);
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  if (values[BASE].length != 1)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "option 'base' takes one kernel, as sc.kernel.gaussian{}, and got %zu",
                      values[BASE].length);
  additive *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a kernel");
  self->degree = (size_t)values[DEGREE].number;
  self->normalise = values[NORMALISE].number != 0;
  const scl_status status = parts_read(host, "base", &values[BASE], &self->base, error);
  if (status == SCL_STATUS_OK)
    *instance = self;
  else
    host->release(self);
  return status;
}

/* ---------------------------------------------------------------- the recursion, on many pairs at
 * once */

/* p_k of `count` pairs, k = 0 .. s, and the kernel values c of column j. */
typedef struct symmetric {
  size_t count;
  double *p, *c;
} symmetric;

static void symmetric_begin(symmetric *state, size_t degree) {
  for (size_t i = 0; i < state->count; i++)
    state->p[i] = 1;
  memset(state->p + state->count, 0, degree * state->count * sizeof *state->p);
}

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

/* The mean is taken first, the factor C(d, s) last: nothing overflows on the way. */
static double symmetric_factor(const additive *self, size_t dim) {
  double factor = 1;
  for (size_t k = 1; !self->normalise && k <= self->degree; k++)
    factor *= (double)(dim - self->degree + k) / (double)k;
  return factor;
}

/* Column j of the parameters as parameters of one column. */
static scl_parameters column(const scl_parameters *all, size_t j) {
  scl_parameters one = *all;
  one.dim = 1;
  one.weights += j;
  one.bias = NULL;
  return one;
}

static scl_status check_dim(const additive *self, size_t dim, scl_error *error) {
  if (self->degree <= dim) return SCL_STATUS_OK;
  return self->base.host->fail(error, SCL_STATUS_BAD_OPTION,
                               "option 'degree' = %zu is more than the %zu columns that there are",
                               self->degree, dim);
}

/* A buffer for s + 2 numbers a pair, for `pairs` pairs. */
static scl_status symmetric_reserve(const additive *self, size_t pairs, symmetric *out,
                                    scl_error *error) {
  const scl_host *host = self->base.host;
  *out = (symmetric){pairs, host->allocate((self->degree + 2) * pairs * sizeof *out->p), NULL};
  if (out->p == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY,
                      "not enough memory for additive kernels of degree %zu", self->degree);
  out->c = out->p + (self->degree + 1) * pairs;
  return SCL_STATUS_OK;
}

static scl_status tile(const additive *self, symmetric *state, const scl_parameters *u,
                       const scl_parameters *v, double *out, ptrdiff_t stride, scl_error *error) {
  const double factor = symmetric_factor(self, u->dim);
  state->count = u->count * v->count;
  symmetric_begin(state, self->degree);
  for (size_t j = 1; j <= u->dim; j++) {
    const scl_parameters a = column(u, j - 1), b = column(v, j - 1);
    const scl_status status = part_gram(self->base.host, &self->base.list[0], &a, &b, state->c,
                                        (ptrdiff_t)v->count, error);
    if (status != SCL_STATUS_OK) return status;
    symmetric_step(state, u->dim, self->degree, j);
  }
  const double *result = state->p + self->degree * state->count;
  for (size_t i = 0; i < u->count; i++)
    for (size_t j = 0; j < v->count; j++)
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] = factor * result[i * v->count + j];
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- the slots */

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/* By tiles whose s + 2 numbers a pair stay in the cache. */
static scl_status gram(const void *instance, const scl_parameters *u, const scl_parameters *v,
                       double *out, ptrdiff_t stride, scl_error *error) {
  enum { ROWS = 16, COLS = 256 };
  const additive *self = instance;
  symmetric state;
  scl_status status = check_dim(self, u->dim, error);
  if (status == SCL_STATUS_OK) status = symmetric_reserve(self, ROWS * COLS, &state, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; status == SCL_STATUS_OK && i < u->count; i += ROWS) {
    const scl_parameters rows = parts_strip(u, i, least(ROWS, u->count - i));
    for (size_t j = 0; status == SCL_STATUS_OK && j < v->count; j += COLS) {
      const scl_parameters cols = parts_strip(v, j, least(COLS, v->count - j));
      status = tile(self, &state, &rows, &cols, out + (ptrdiff_t)i * stride + (ptrdiff_t)j, stride,
                    error);
    }
  }
  self->base.host->release(state.p);
  return status;
}

static scl_status diagonal(const void *instance, const scl_parameters *u, double *out,
                           scl_error *error) {
  const additive *self = instance;
  symmetric state;
  scl_status status = check_dim(self, u->dim, error);
  if (status == SCL_STATUS_OK) status = symmetric_reserve(self, u->count + 1, &state, error);
  if (status != SCL_STATUS_OK) return status;
  state.count = u->count;
  symmetric_begin(&state, self->degree);
  for (size_t j = 1; status == SCL_STATUS_OK && j <= u->dim; j++) {
    const scl_parameters one = column(u, j - 1);
    status = part_diagonal(&self->base.list[0], &one, state.c, error);
    if (status == SCL_STATUS_OK) symmetric_step(&state, u->dim, self->degree, j);
  }
  for (size_t i = 0; status == SCL_STATUS_OK && i < u->count; i++)
    out[i] = symmetric_factor(self, u->dim) * state.p[self->degree * state.count + i];
  self->base.host->release(state.p);
  return status;
}

static const void *ability(const void *instance, const char *id) {
  (void)instance, (void)id;
  return NULL;
}

static const scl_kernel table = {SCL_HEAD(scl_kernel), SCL_BIT(SCL_SPACE_DENSE), gram, diagonal};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_KERNEL,
    "additive",
    "1.0",
    "The Scullery authors",
    "the mean (or sum) over s columns at a time of products of one-dimensional kernels",
    "K(x, y) = mean over the supports N of s = degree of the d columns of prod_{j in N} k1(x_j, "
    "y_j), dense rows only, k1 = base\n"
    "(normalise = false: the sum): a normalised elementary symmetric polynomial of the d values, "
    "O(d s) a pair; positive\n"
    "semidefinite where k1 is. It is the kernel of Fourier features on sc.sampler.sparse{ degree = "
    "s, sigma = } with\n"
    "base = sc.kernel.gaussian{ gamma = sqrt(s)/sigma } (Harris 2019, Additive function "
    "approximation in the brain; the sum\n"
    "is the ANOVA kernel of Stitson et al. 1999). Degree d is the product kernel.",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};

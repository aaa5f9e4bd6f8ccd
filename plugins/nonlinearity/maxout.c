/* phi(z_1 .. z_q) = max_j z_j (maxout features): q scalars a parameter, each from a row of its own.
 *
 * Gaussian dual, rows N(0, I): |x| |y| M_q(r), r the cosine of x and y, M_q and kappa_q as in
 * shared/maxout.h. A mean that all q rows share adds to the maximum: E max a max b = m_a m_b + (m_a
 * s_b + m_b s_a) E max + s_a s_b M_q(r). Codes argmax_j z_j: collision kappa_q(r). Smoothing:
 * shared/maxout_smooth.h. */
#include "shared/abilities.h"
#include "shared/maxout_smooth.h"

#include <scullery/plugin.h>

enum { Q, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"q", SCL_FORM_INTEGER, NULL, "2", 1, MAXOUT_LARGEST, 0, SCL_WIDTH_NONE,
     "how many projections a feature is the largest of"},
};

typedef struct maxout {
  const scl_host *host;
  const scl_vector_math *math;
  maxout_table table;
} maxout;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  maxout *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a nonlinearity");
  self->host = host;
  self->math = host->service(SCL_SERVICE_VECTOR_MATH);
  maxout_table_make((size_t)values[Q].number, &self->table);
  *instance = self;
  return SCL_STATUS_OK;
}

static void destroy(void *instance) {
  maxout *self = instance;
  self->host->release(self);
}

static scl_status shape(const void *instance, scl_shape *out, scl_error *error) {
  (void)error;
  const maxout *self = instance;
  *out = (scl_shape){.fan_in = self->table.q,
                     .fan_out = 1,
                     .spaces = SCL_BIT(SCL_SPACE_DENSE) | SCL_BIT(SCL_SPACE_SPARSE) |
                               SCL_BIT(SCL_SPACE_STRUCTURED),
                     .float32 = 1};
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- the maximum, and where it is */

static void largest_f64(size_t q, size_t count, const double *z, ptrdiff_t plane, double *out) {
  for (size_t j = 0; q == 1 && j < count; j++)
    out[j] = z[j];
  for (size_t k = 1; k < q; k++) {
    const double *first = k == 1 ? z : out, *next = z + (ptrdiff_t)k * plane;
    for (size_t j = 0; j < count; j++)
      out[j] = next[j] > first[j] ? next[j] : first[j];
  }
}

static void largest_f32(size_t q, size_t count, const float *z, ptrdiff_t plane, float *out) {
  for (size_t j = 0; q == 1 && j < count; j++)
    out[j] = z[j];
  for (size_t k = 1; k < q; k++) {
    const float *first = k == 1 ? z : out, *next = z + (ptrdiff_t)k * plane;
    for (size_t j = 0; j < count; j++)
      out[j] = next[j] > first[j] ? next[j] : first[j];
  }
}

static scl_status apply(const void *instance, const scl_block *z, scl_block *out,
                        scl_error *error) {
  (void)error;
  const maxout *self = instance;
  for (size_t i = 0; i < z->rows; i++) {
    const ptrdiff_t from = (ptrdiff_t)i * z->row_stride, to = (ptrdiff_t)i * out->row_stride;
    if (z->dtype == SCL_DTYPE_FLOAT64)
      largest_f64(self->table.q, z->cols, (const double *)z->data + from, z->plane_stride,
                  (double *)out->data + to);
    else
      largest_f32(self->table.q, z->cols, (const float *)z->data + from, z->plane_stride,
                  (float *)out->data + to);
  }
  return SCL_STATUS_OK;
}

static scl_status key(const void *instance, size_t planes, size_t *words, size_t *levels,
                      scl_error *error) {
  (void)planes;
  (void)error;
  const maxout *self = instance;
  *words = 1;
  *levels = self->table.q;
  return SCL_STATUS_OK;
}

/* The first of the largest, in chunks: best holds the largest so far. */
static void code_row(size_t q, size_t count, const maxout_means *z, int32_t *out) {
  double best[MAXOUT_CHUNK];
  for (size_t k = 0; k < q; k++)
    for (size_t j = 0; j < count; j++) {
      const double value = maxout_number(z->data, z->dtype, (ptrdiff_t)k * z->plane + (ptrdiff_t)j);
      const int larger = k == 0 || value > best[j];
      best[j] = larger ? value : best[j];
      out[j] = larger ? (int32_t)k : out[j];
    }
}

/* Row i of a block from column j on. */
static maxout_means means_at(const scl_block *m, size_t i, size_t j) {
  const ptrdiff_t at = (ptrdiff_t)i * m->row_stride + (ptrdiff_t)j;
  const void *data = m->dtype == SCL_DTYPE_FLOAT64 ? (const void *)((const double *)m->data + at)
                                                   : (const void *)((const float *)m->data + at);
  return (maxout_means){data, m->dtype, m->plane_stride};
}

static size_t chunk_at(size_t cols, size_t j) {
  return cols - j < MAXOUT_CHUNK ? cols - j : MAXOUT_CHUNK;
}

static scl_status categories(const void *instance, const scl_block *z, int32_t *out,
                             ptrdiff_t row_stride, scl_error *error) {
  (void)error;
  const maxout *self = instance;
  for (size_t i = 0; i < z->rows; i++)
    for (size_t j = 0; j < z->cols; j += MAXOUT_CHUNK) {
      const maxout_means means = means_at(z, i, j);
      code_row(self->table.q, chunk_at(z->cols, j), &means, out + (ptrdiff_t)i * row_stride + j);
    }
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- smoothing */

/* Planes that share their spread. */
static void smooth_shared(const maxout *self, const maxout_means *means, size_t count,
                          const double *spread, double *out) {
  const size_t q = self->table.q;
  double top[MAXOUT_CHUNK], v[MAXOUT_CHUNK];
  maxout_top(means, q, count, top);
  for (size_t j = 0; j < count; j++)
    v[j] = spread[j] > 0 ? spread[j] : 1;
  maxout_smooth_equal(self->math, means, q, count, top, v, out);
  for (size_t j = 0; j < count; j++)
    if (!(spread[j] > 0) || isinf(top[j])) out[j] = top[j];
}

/* The spreads of plane k of a chunk that begins at `at`. */
static void spread_plane(const scl_spread *v, scl_dtype dtype, ptrdiff_t at, size_t k, size_t count,
                         double *out) {
  for (size_t j = 0; j < count; j++)
    out[j] = maxout_number(v->data, dtype,
                           at + (ptrdiff_t)j * v->col_stride + (ptrdiff_t)k * v->plane_stride);
}

static void smooth_two(const maxout *self, const maxout_means *means, const scl_spread *v,
                       ptrdiff_t at, size_t count, double *out) {
  double mean[2][MAXOUT_CHUNK], spread[2][MAXOUT_CHUNK];
  for (size_t k = 0; k < 2; k++) {
    maxout_plane(means, k, count, mean[k]);
    spread_plane(v, means->dtype, at, k, count, spread[k]);
  }
  maxout_clark(self->math, count, mean[0], mean[1], spread[0], spread[1], out);
}

/* How many numbers smooth_own needs. */
static size_t room(size_t q) {
  return 2 * q + 2 * maxout_most_nodes(q) + MAXOUT_EDGES * q + 2;
}

static void smooth_own(const maxout *self, const maxout_means *means, const scl_spread *v,
                       ptrdiff_t at, size_t count, double *memory, double *out) {
  const size_t q = self->table.q, most = maxout_most_nodes(q);
  double *mean = memory, *spread = mean + q;
  maxout_nodes nodes = {0, spread + q, spread + q + most, spread + q + 2 * most};
  for (size_t j = 0; j < count; j++) {
    for (size_t k = 0; k < q; k++) {
      mean[k] =
          maxout_number(means->data, means->dtype, (ptrdiff_t)k * means->plane + (ptrdiff_t)j);
      spread[k] = maxout_number(v->data, means->dtype,
                                at + (ptrdiff_t)j * v->col_stride + (ptrdiff_t)k * v->plane_stride);
    }
    out[j] = maxout_smooth_own(self->math, q, mean, spread, &nodes);
  }
}

static void smooth_chunk(const maxout *self, const scl_block *m, const scl_spread *v, size_t i,
                         size_t from, double *memory, double *out) {
  const size_t count = chunk_at(m->cols, from);
  const maxout_means means = means_at(m, i, from);
  const ptrdiff_t at = (ptrdiff_t)i * v->row_stride + (ptrdiff_t)from * v->col_stride;
  double spread[MAXOUT_CHUNK];
  if (self->table.q == 1) {
    maxout_plane(&means, 0, count, out);
  } else if (self->table.q == 2) {
    smooth_two(self, &means, v, at, count, out);
  } else if (v->plane_stride != 0) {
    smooth_own(self, &means, v, at, count, memory, out);
  } else {
    spread_plane(v, m->dtype, at, 0, count, spread);
    smooth_shared(self, &means, count, spread, out);
  }
}

static scl_status smooth(const void *instance, const scl_block *m, const scl_spread *v,
                         scl_block *out, scl_error *error) {
  const maxout *self = instance;
  double *memory = NULL, value[MAXOUT_CHUNK];
  if (v->plane_stride != 0 &&
      (memory = self->host->allocate(room(self->table.q) * sizeof *memory)) == NULL)
    return self->host->fail(error, SCL_STATUS_NO_MEMORY,
                            "not enough memory for the smoothing of maxout");
  for (size_t i = 0; i < m->rows; i++)
    for (size_t from = 0; from < m->cols; from += MAXOUT_CHUNK) {
      const ptrdiff_t to = (ptrdiff_t)i * out->row_stride + (ptrdiff_t)from;
      smooth_chunk(self, m, v, i, from, memory, value);
      for (size_t j = 0; j < chunk_at(m->cols, from); j++)
        if (out->dtype == SCL_DTYPE_FLOAT64)
          ((double *)out->data)[to + (ptrdiff_t)j] = value[j];
        else
          ((float *)out->data)[to + (ptrdiff_t)j] = (float)value[j];
    }
  self->host->release(memory);
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- kernels */

static double gaussian_dual(const void *instance, double mean_a, double mean_b, double var_a,
                            double var_b, double covariance) {
  const maxout *self = instance;
  const double sa = sqrt(var_a), sb = sqrt(var_b), mean = self->table.mean;
  if (!(sa > 0) || !(sb > 0)) return (mean_a + sa * mean) * (mean_b + sb * mean);
  const double moment = maxout_moment(&self->table, normal_correlation(var_a, var_b, covariance));
  return mean_a * mean_b + (mean_a * sb + mean_b * sa) * mean + sa * sb * moment;
}

/* Where all q scalars are the same number the code is 0. */
static double collision(const void *instance, double mean_a, double mean_b, double var_a,
                        double var_b, double covariance) {
  (void)mean_a;
  (void)mean_b;
  const maxout *self = instance;
  if (!(var_a > 0) && !(var_b > 0)) return 1;
  if (!(var_a > 0) || !(var_b > 0)) return 1 / (double)self->table.q;
  return maxout_collision(&self->table, normal_correlation(var_a, var_b, covariance));
}

static void facts(const void *instance, scl_facts *out) {
  (void)instance;
  *out = (scl_facts){.bound = INFINITY, .lipschitz = 1};
}

static const scl_nonlinearity table = {SCL_HEAD(scl_nonlinearity), shape, apply};
static const scl_ability_smoothing smoothing_table = {SCL_HEAD(scl_ability_smoothing), smooth};
static const scl_ability_facts facts_table = {SCL_HEAD(scl_ability_facts), facts};
static const scl_ability_gaussian_dual gaussian_table = {SCL_HEAD(scl_ability_gaussian_dual),
                                                         gaussian_dual};
static const scl_ability_categories categories_table = {SCL_HEAD(scl_ability_categories), key,
                                                        categories};
static const scl_ability_code_dual code_table = {SCL_HEAD(scl_ability_code_dual), collision};

static const void *ability(const void *instance, const char *id) {
  static const ability_entry list[] = {
      {SCL_ABILITY_SMOOTHING, &smoothing_table},    {SCL_ABILITY_FACTS, &facts_table},
      {SCL_ABILITY_GAUSSIAN_DUAL, &gaussian_table}, {SCL_ABILITY_CATEGORIES, &categories_table},
      {SCL_ABILITY_CODE_DUAL, &code_table},         {NULL, NULL}};
  (void)instance;
  return ability_find(list, id);
}

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_NONLINEARITY,
    "maxout",
    "1.0",
    "The Scullery authors",
    "max of q projections; its argmax codes",
    "phi(w_1 .. w_q, x) = max_{j <= q} <w_j, x>. q scalars in, each from a row of its own; one "
    "feature out.\n"
    "On N(0, I) rows it estimates |x| |y| M_q(r), r the cosine of x and y: M_1 = r,\n"
    "  M_2 = (r + (2/pi)(sqrt(1 - r^2) + r asin r))/2;  any q: M_q(r) = E[max]^2 + integral over "
    "R^2 of\n"
    "  F2(s,t;r)^q - F(s)^q F(t)^q (Hoeffding), computed to 1e-10 from dM_q/dr = kappa_q(r).\n"
    "As codes, argmax_j z_j in 0 .. q-1 (the first where several are): P(same code) = kappa_q(r), "
    "kappa_2 = 1 - theta/pi.\n"
    "In an RKHS weighting it becomes E max_j N(m_j, v_j^2): Clark (1961) for q = 2, else "
    "quadrature in one variable.\n"
    "\n"
    "Not the kernel that is printed: theorem 1 of Random Maxout Features (Mroueh, Rennie, Goel) "
    "states E[max^2] r kappa_q(r).\n"
    "Its proof takes E[max a max b; argmax differs] for 0, but the maximum of q normals has a "
    "positive mean. Monte Carlo,\n"
    "2e7 pairs: q = 2, r = 0: 0.3180 +- 0.0002 (M_2 = 0.3183, theorem 0); q = 4, r = 0.3: 1.1515 "
    "+- 0.0003 (M_4 = 1.1515,\n"
    "theorem 0.171). What the paper says of the codes holds.",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};

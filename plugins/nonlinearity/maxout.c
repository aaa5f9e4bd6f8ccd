/* Maxout features, each from q independent rows (Mroueh, Rennie and Goel 2015, Random maxout
 * features):
 *   phi(z_1 .. z_q) = max_j z_j
 *
 * Gaussian dual: with M_q and kappa_q of shared/maxout.h, and a mean that all q rows share,
 *   E max a max b = m_a m_b + (m_a s_b + m_b s_a) E max + s_a s_b M_q(r)
 *
 * Codes: argmax_j z_j, collision kappa_q(r).
 *
 * Smoothing: E max_j N(m_j, v_j^2), j = 1 .. q, independent, with Q = 1 - F.
 *   q = 2 (Clark 1961):   max(m_1, m_2) + a (f(t) - t Q(t)),
 *                         a^2 = v_1^2 + v_2^2,   t = |m_1 - m_2|/a
 *   one spread v:         max m + v (L - integral_{-L}^{L} prod_j F(t + (max m - m_j)/v) dt)
 *   other spreads:        high - integral_{low}^{high} prod_j F((t - m_j)/v_j) dt
 *
 * L and the ends are so large that the product is 0 on the left and 1 on the right to rounding.
 * With one spread the integrand has the same smoothness everywhere: the trapezoid rule of step s
 * leaves exp(-2 pi^2/(q s^2)). Otherwise Gauss-Legendre between the places where some factor
 * bends. */
#include "shared/maxout.h"
#include "shared/normal.h"
#include <stdio.h>

enum { CHUNK = 128, EDGES = 8 };

typedef struct maxout {
  scl_base base;
  size_t q;
  maxout_table table;
} maxout;

static const scl_option options[] = {
    SCL_INTEGER(maxout, q, "2", "number q of projections whose maximum is the feature",
                SCL_WITHIN(1, MAXOUT_LARGEST))};

static scl_status maxout_create(void *instance, scl_error *error) {
  maxout *self = instance;
  (void)error;
  maxout_table_make(self->q, &self->table);
  return SCL_STATUS_OK;
}

static scl_status maxout_shape(const void *instance, scl_shape *out, scl_error *error) {
  const maxout *self = instance;
  (void)error;
  out->fan_in = (uint32_t)self->q;
  return SCL_STATUS_OK;
}

static size_t chunk_at(size_t cols, size_t from) {
  return cols - from < CHUNK ? cols - from : CHUNK;
}

/* ------------ the maximum, and where it is */

#define LARGEST(name, real) \
  static void name(size_t q, size_t count, const real *z, ptrdiff_t plane, real *out) { \
    for (size_t j = 0; q == 1 && j < count; j++) \
      out[j] = z[j]; \
    for (size_t k = 1; k < q; k++) { \
      const real *first = k == 1 ? z : out, *next = z + (ptrdiff_t)k * plane; \
      for (size_t j = 0; j < count; j++) \
        out[j] = next[j] > first[j] ? next[j] : first[j]; \
    } \
  }
LARGEST(largest_float64, double)
LARGEST(largest_float32, float)

/* The largest of the q planes of z, in the type of z. */
static scl_status apply(const void *instance, const scl_const_block *z, const scl_block *out,
                        scl_error *error) {
  const maxout *self = instance;
  (void)error;
  for (size_t i = 0; i < z->rows; i++) {
    const ptrdiff_t from = (ptrdiff_t)i * z->row_stride, to = (ptrdiff_t)i * out->row_stride;
    if (z->dtype == SCL_DTYPE_FLOAT64)
      largest_float64(self->q, z->cols, (const double *)z->data + from, z->plane_stride,
                      (double *)out->data + to);
    else
      largest_float32(self->q, z->cols, (const float *)z->data + from, z->plane_stride,
                      (float *)out->data + to);
  }
  return SCL_STATUS_OK;
}

static int formula(const void *instance, char *text, size_t size) {
  const maxout *self = instance;
  return snprintf(text, size,
                  "int k;\n"
                  "out[0] = z[0];\n"
                  "for (k = 1; k < %zu; k++)\n"
                  "  out[0] = z[k] > out[0] ? z[k] : out[0];",
                  self->q);
}

static scl_status key(const void *instance, size_t planes, size_t *words, size_t *levels,
                      scl_error *error) {
  const maxout *self = instance;
  (void)planes, (void)error;
  *words = 1;
  *levels = self->q;
  return SCL_STATUS_OK;
}

/* Updates the argmax, the first of equal values; `best` holds the largest value so far. */
static void code_chunk(size_t q, size_t count, const double *z, ptrdiff_t plane, int32_t *out) {
  double best[CHUNK];
  for (size_t k = 0; k < q; k++)
    for (size_t j = 0; j < count; j++) {
      const double value = z[(ptrdiff_t)k * plane + (ptrdiff_t)j];
      const bool larger = k == 0 || value > best[j];
      best[j] = larger ? value : best[j];
      out[j] = larger ? (int32_t)k : out[j];
    }
}

static scl_status categories(const void *instance, const scl_const_block *z, int32_t *out,
                             ptrdiff_t row_stride, scl_error *error) {
  const maxout *self = instance;
  (void)error;
  for (size_t i = 0; i < z->rows; i++)
    for (size_t j = 0; j < z->cols; j += CHUNK)
      code_chunk(self->q, chunk_at(z->cols, j),
                 (const double *)z->data + (ptrdiff_t)i * z->row_stride + (ptrdiff_t)j,
                 z->plane_stride, out + (ptrdiff_t)i * row_stride + j);
  return SCL_STATUS_OK;
}

/* ------------ smoothing: a chunk of a row */

/* How far out a rule goes, in standard deviations, and the size of the error that its step may
 * leave, exp(-2 pi^2/(q s^2)) = exp(-digits): some 1e-12 in float64, 1e-7 in float32. */
typedef struct rule {
  double reach, digits;
} rule;
static const rule fine = {7.5, 28}, coarse = {5.5, 16};

/* Means and spreads in float64, CHUNK numbers a plane. */
typedef struct chunk {
  const scl_vector_math *math;
  size_t q, count;
  bool single; /* they came in float32, whose precision is enough */
  bool own;    /* each plane has its own spread; else they share that of plane 0 */
  double *mean, *spread;
  double *room; /* for smooth_entry: entry_room(q) numbers */
} chunk;

/* Numbers at, at + step, ... of data. */
static void maxout_read_numbers(const void *data, scl_dtype dtype, ptrdiff_t at, ptrdiff_t step,
                                size_t count, double *out) {
  if (dtype == SCL_DTYPE_FLOAT64)
    for (size_t j = 0; j < count; j++)
      out[j] = ((const double *)data)[at + (ptrdiff_t)j * step];
  else
    for (size_t j = 0; j < count; j++)
      out[j] = (double)((const float *)data)[at + (ptrdiff_t)j * step];
}

/* The chunk of row i from column `from` on. */
static void read_chunk(const scl_const_block *m, const scl_spread *v, size_t i, size_t from,
                       chunk *c) {
  const ptrdiff_t row = (ptrdiff_t)i, col = (ptrdiff_t)from;
  const ptrdiff_t at = row * m->row_stride + col, own = row * v->row_stride + col * v->col_stride;
  c->count = chunk_at(m->cols, from);
  for (size_t k = 0; k < c->q; k++)
    maxout_read_numbers(m->data, m->dtype, at + (ptrdiff_t)k * m->plane_stride, 1, c->count,
                        c->mean + k * CHUNK);
  for (size_t k = 0; k < (c->own ? c->q : 1); k++)
    maxout_read_numbers(v->data, m->dtype, own + (ptrdiff_t)k * v->plane_stride, v->col_stride,
                        c->count, c->spread + k * CHUNK);
}

/* product *= (1 + erf(at))/2 entry by entry; `at` is overwritten. */
static void times_distribution(const scl_vector_math *math, bool single, size_t count, double *at,
                               double *product) {
  float narrow[CHUNK] = {0};
  if (single) {
    for (size_t j = 0; j < count; j++)
      narrow[j] = (float)at[j];
    math->erff(count, narrow, narrow);
    for (size_t j = 0; j < count; j++)
      at[j] = narrow[j];
  } else {
    math->erf(count, at, at);
  }
  for (size_t j = 0; j < count; j++)
    product[j] *= 0.5 + 0.5 * at[j];
}

/* ------------ one spread */

/* Common spread v > 0: trapezoid rule. The product is 0 at the left end, and 1 at the right end,
 * which has weight 1/2. */
static void smooth_equal(const chunk *c, const double *top, const double *v, double *out) {
  const rule by = c->single ? coarse : fine;
  const size_t steps =
      (size_t)ceil(2 * by.reach * sqrt(2 * by.digits * (double)c->q) / (2 * SCL_PI));
  const double step = 2 * by.reach / (double)steps, root = sqrt(0.5);
  double sum[CHUNK] = {0}, product[CHUNK], at[CHUNK] = {0};
  for (size_t i = 1; i < steps; i++) {
    const double t = step * (double)i - by.reach;
    for (size_t j = 0; j < c->count; j++)
      product[j] = 1;
    for (size_t k = 0; k < c->q; k++) {
      const double *mean = c->mean + k * CHUNK;
      for (size_t j = 0; j < c->count; j++)
        at[j] = root * (t + (top[j] - mean[j]) / v[j]);
      times_distribution(c->math, c->single, c->count, at, product);
    }
    for (size_t j = 0; j < c->count; j++)
      sum[j] += product[j];
  }
  for (size_t j = 0; j < c->count; j++)
    out[j] = top[j] + v[j] * (by.reach - step * (sum[j] + 0.5));
}

/* One spread for all planes: the trapezoid rule, and the largest mean where the spread is 0 or that
 * mean is infinite. */
static void smooth_shared(const chunk *c, double *out) {
  double top[CHUNK], v[CHUNK];
  largest_float64(c->q, c->count, c->mean, CHUNK, top);
  for (size_t j = 0; j < c->count; j++)
    v[j] = c->spread[j] > 0 ? c->spread[j] : 1;
  smooth_equal(c, top, v, out);
  for (size_t j = 0; j < c->count; j++)
    if (!(c->spread[j] > 0) || isinf(top[j])) out[j] = top[j];
}

/* ------------ two planes */

/* Two planes, by Clark's formula; where a = 0, the larger mean. */
static void smooth_two(const chunk *c, double *out) {
  const double root = sqrt(0.5), *m = c->mean, *n = m + CHUNK, *v = c->spread,
               *w = v + (c->own ? CHUNK : 0);
  double a[CHUNK], odd[CHUNK] = {0}, even[CHUNK] = {0};
  for (size_t j = 0; j < c->count; j++) {
    const double large = v[j] > w[j] ? v[j] : w[j],
                 ratio = large > 0 ? (v[j] > w[j] ? w[j] : v[j]) / large : 0;
    a[j] = large * sqrt(1 + ratio * ratio);
    odd[j] = large > 0 ? root * fabs(m[j] - n[j]) / a[j] : 0;
    even[j] = -odd[j] * odd[j];
  }
  c->math->erf(c->count, odd, odd);
  c->math->exp(c->count, even, even);
  for (size_t j = 0; j < c->count; j++) {
    const double top = m[j] > n[j] ? m[j] : n[j], gap = fabs(m[j] - n[j]);
    out[j] =
        top +
        (a[j] > 0 && odd[j] < 1 ? a[j] * even[j] / sqrt(2 * SCL_PI) - gap * (1 - odd[j]) / 2 : 0);
  }
}

/* ------------ different spreads, one entry */

/* One entry's means and spreads, and the nodes of its rule on [low, high]. */
typedef struct entry {
  size_t q, count;
  double *mean, *spread, *at, *weight, *edge;
} entry;

static size_t most_nodes(size_t q) { return MAXOUT_RULE * (EDGES * q + 1); }

static size_t entry_room(size_t q) { return 2 * q + 2 * most_nodes(q) + EDGES * q + 2; }

/* The breakpoints within (low, high) where some factor bends, ascending, with both ends; returns
 * their number. */
static size_t make_edges(const entry *e, double low, double high) {
  static const double place[EDGES] = {-8.3, -5.5, -3.3, -1.1, 1.1, 3.3, 5.5, 8.3};
  size_t count = 0;
  e->edge[count++] = low;
  e->edge[count++] = high;
  for (size_t k = 0; k < e->q; k++)
    for (size_t p = 0; p < EDGES; p++) {
      const double at = e->mean[k] + e->spread[k] * place[p];
      if (at > low && at < high) e->edge[count++] = at;
    }
  for (size_t i = 1; i < count; i++) {
    const double value = e->edge[i];
    size_t j = i;
    for (; j > 0 && e->edge[j - 1] > value; j--)
      e->edge[j] = e->edge[j - 1];
    e->edge[j] = value;
  }
  return count;
}

/* The trapezoid rule where the narrowest factor still lets its step be wide; otherwise
 * Gauss-Legendre between the edges. A plane of spread 0 makes the integrand begin with a jump: its
 * sharpness is infinite. */
static void make_nodes(entry *e, double low, double high) {
  double sharpness = 0;
  for (size_t k = 0; k < e->q; k++)
    if (e->mean[k] + fine.reach * e->spread[k] >= low)
      sharpness += (high - low) / e->spread[k] * ((high - low) / e->spread[k]);
  const double steps = ceil(sqrt(2 * fine.digits * sharpness) / (2 * SCL_PI));
  e->count = 0;
  if (steps <= CHUNK) {
    for (double i = 1; i <= steps; i++, e->count++) {
      e->at[e->count] = low + (high - low) * (i / steps);
      e->weight[e->count] = (high - low) / steps * (i < steps ? 1 : 0.5);
    }
    return;
  }
  const size_t edges = make_edges(e, low, high);
  for (size_t p = 0; p + 1 < edges; p++) {
    const double half = (e->edge[p + 1] - e->edge[p]) / 2, middle = e->edge[p] + half;
    for (size_t i = 0; half > 0 && i < MAXOUT_RULE; i++, e->count++) {
      e->at[e->count] = middle + half * maxout_node(i);
      e->weight[e->count] = half * maxout_weight(i);
    }
  }
}

/* product of F((t - m_k)/v_k) at `count` nodes t. */
static void product_at(const scl_vector_math *math, const entry *e, size_t count, const double *t,
                       double *product) {
  const double root = sqrt(0.5);
  double at[CHUNK] = {0};
  for (size_t i = 0; i < count; i++)
    product[i] = 1;
  for (size_t k = 0; k < e->q; k++) {
    const double mean = e->mean[k], v = e->spread[k];
    for (size_t i = 0; i < count; i++)
      at[i] = v > 0 ? root * ((t[i] - mean) / v) : t[i] < mean ? -9 : 9;
    times_distribution(math, false, count, at, product);
  }
}

/* high - integral_{low}^{high} prod_k F((t - m_k)/v_k) dt for one entry. The product is 0 below
 * low and 1 above high, to rounding; where the interval is empty or not finite, the result is
 * `high`. */
static double smooth_entry(const scl_vector_math *math, entry *e) {
  double low = -INFINITY, high = -INFINITY, sum = 0, product[CHUNK];
  for (size_t k = 0; k < e->q; k++) {
    low = fmax(low, e->mean[k] - fine.reach * e->spread[k]);
    high = fmax(high, e->mean[k] + fine.reach * e->spread[k]);
  }
  if (!(high - low > 0) || !isfinite(high - low)) return high;
  make_nodes(e, low, high);
  for (size_t from = 0; from < e->count; from += CHUNK) {
    const size_t count = chunk_at(e->count, from);
    product_at(math, e, count, e->at + from, product);
    for (size_t i = 0; i < count; i++)
      sum += e->weight[from + i] * product[i];
  }
  return high - sum;
}

/* A spread for each plane: entry by entry, as each has another rule. */
static void smooth_own(const chunk *c, double *out) {
  const size_t most = most_nodes(c->q);
  entry e = {.q = c->q, .mean = c->room, .spread = c->room + c->q, .at = c->room + 2 * c->q};
  e.weight = e.at + most;
  e.edge = e.weight + most;
  for (size_t j = 0; j < c->count; j++) {
    for (size_t k = 0; k < c->q; k++) {
      e.mean[k] = c->mean[k * CHUNK + j];
      e.spread[k] = c->spread[k * CHUNK + j];
    }
    out[j] = smooth_entry(c->math, &e);
  }
}

/* ------------ smoothing */

static void smooth_chunk(const chunk *c, double *out) {
  if (c->q == 1)
    memcpy(out, c->mean, c->count * sizeof *out);
  else if (c->q == 2)
    smooth_two(c, out);
  else if (c->own)
    smooth_own(c, out);
  else
    smooth_shared(c, out);
}

/* Writes a chunk to row and column `at` of the block, in its type. */
static void write_chunk(size_t count, const double *values, const scl_block *out, ptrdiff_t at) {
  if (out->dtype == SCL_DTYPE_FLOAT64)
    memcpy((double *)out->data + at, values, count * sizeof *values);
  else
    for (size_t j = 0; j < count; j++)
      ((float *)out->data)[at + (ptrdiff_t)j] = (float)values[j];
}

/* E max_j N(m_j, v_j^2) for a block, CHUNK columns of a row at a time, in float64. */
static scl_status maxout_smooth(const void *instance, const scl_const_block *m, const scl_spread *v,
                                const scl_block *out, scl_error *error) {
  const maxout *self = instance;
  const scl_host *host = self->base.host;
  double *memory = host->scratch((2 * self->q * CHUNK + entry_room(self->q)) * sizeof *memory);
  if (memory == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for the smoothing of maxout");
  chunk c = {.math = host->math,
             .q = self->q,
             .single = m->dtype == SCL_DTYPE_FLOAT32,
             .own = v->plane_stride != 0,
             .mean = memory,
             .spread = memory + self->q * CHUNK,
             .room = memory + 2 * self->q * CHUNK};
  double values[CHUNK];
  for (size_t i = 0; i < m->rows; i++)
    for (size_t from = 0; from < m->cols; from += CHUNK) {
      read_chunk(m, v, i, from, &c);
      smooth_chunk(&c, values);
      write_chunk(c.count, values, out, (ptrdiff_t)i * out->row_stride + (ptrdiff_t)from);
    }
  return SCL_STATUS_OK;
}

/* ------------ kernels */

static double maxout_dual(const void *instance, double mean_a, double mean_b, double var_a,
                          double var_b, double covariance) {
  const maxout *self = instance;
  const double sa = sqrt(var_a), sb = sqrt(var_b), mean = self->table.mean;
  if (!(sa > 0) || !(sb > 0)) return (mean_a + sa * mean) * (mean_b + sb * mean);
  const double moment = maxout_moment(&self->table, normal_correlation(var_a, var_b, covariance));
  return mean_a * mean_b + (mean_a * sb + mean_b * sa) * mean + sa * sb * moment;
}

/* If all q numbers are equal, the code is 0. */
static double collision(const void *instance, double mean_a, double mean_b, double var_a,
                        double var_b, double covariance) {
  const maxout *self = instance;
  (void)mean_a, (void)mean_b;
  if (!(var_a > 0) && !(var_b > 0)) return 1;
  if (!(var_a > 0) || !(var_b > 0)) return 1 / (double)self->q;
  return maxout_collision(&self->table, normal_correlation(var_a, var_b, covariance));
}

/* ------------ the plugin */

const scl_plugin scullery_plugin = {
    .name = "maxout",
    .summary = "max of q projections; its argmax codes",
    .definition = "phi(z) = largest(type(z) == \"table\" and z or { z })\n"
                  "code(z) = least(map(z, function(x, k) return when(x == largest(z), k - 1, inf) "
                  "end))",
    .doc =
        "phi(w_1 .. w_q, x) = max_{j <= q} <w_j, x>. q numbers in, each from a row of its own;\n"
        "one feature out.\n"
        "On N(0, I) rows it estimates |x| |y| M_q(r), r the cosine of x and y:\n"
        "  M_1 = r,  M_2 = (r + (2/pi)(sqrt(1 - r^2) + r asin r))/2\n"
        "  any q: M_q(r) = E[max]^2 + integral over R^2 of F2(s,t;r)^q - F(s)^q F(t)^q "
        "(Hoeffding),\n"
        "  computed to 1e-10 from dM_q/dr = kappa_q(r).\n"
        "As codes, argmax_j z_j in 0 .. q-1 (the first where several are largest):\n"
        "P(same code) = kappa_q(r), kappa_2 = 1 - theta/pi.\n"
        "In an RKHS weighting it becomes E max_j N(m_j, v_j^2): Clark (1961) for q = 2, otherwise\n"
        "quadrature in one variable.\n"
        "\n"
        "This is not the kernel that theorem 1 of Random Maxout Features (Mroueh, Rennie and Goel\n"
        "2015) states, E[max^2] r kappa_q(r). Its proof takes E[max a max b; argmax differs]\n"
        "for 0, but the maximum of q normals has a positive mean. Monte Carlo with 2e7 pairs:\n"
        "  q = 2, r = 0:   0.3180 +- 0.0002 (M_2 = 0.3183, theorem 0)\n"
        "  q = 4, r = 0.3: 1.1515 +- 0.0003 (M_4 = 1.1515, theorem 0.171)\n"
        "What the paper states of the codes holds.",
    SCL_NONLINEARITY(.spaces = SCL_BIT(SCL_SPACE_DENSE) | SCL_BIT(SCL_SPACE_SPARSE) |
                               SCL_BIT(SCL_SPACE_STRUCTURED),
                     .dtypes = SCL_DTYPES_FLOAT, .apply = apply, .shape = maxout_shape,
                     .formula = formula),
    SCL_INSTANCE(maxout, options),
    SCL_ABILITIES(
        SCL_OFFER(SCL_ABILITY_SMOOTHING, scl_ability_smoothing, .smooth = maxout_smooth),
        SCL_OFFER(SCL_ABILITY_GAUSSIAN_DUAL, scl_ability_gaussian_dual, .dual = maxout_dual),
        SCL_OFFER(SCL_ABILITY_CATEGORIES, scl_ability_categories, .key = key,
                  .categories = categories),
        SCL_OFFER(SCL_ABILITY_CODE_DUAL, scl_ability_code_dual, .collision = collision),
        SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = INFINITY, .lipschitz = 1)),
    .create = maxout_create};

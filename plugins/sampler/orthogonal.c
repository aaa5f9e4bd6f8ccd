/* Orthogonal Gaussian rows: blocks of d rows
 *   W = sigma S Q,
 * Q Haar distributed on the orthogonal matrices of order d, S a diagonal matrix of independent
 * chi_d lengths (Yu et al. 2016, Orthogonal random features, section 3). Each row by itself is
 * exactly N(0, sigma^2 I).
 *
 * Q is a product of reflections (Stewart 1980, The efficient generation of random orthogonal
 * matrices):
 *   Q' = H_d H_(d-1) ... H_1 D.
 * Reflection r = 0 .. d-1 acts on coordinates r .. d-1, from a normal vector x of these, as
 *   I - tau u u',   u = x + sign(x_r) ||x|| e_r,   tau = 2/u'u,
 * and D_jj is the product of -sign(x_r) over r <= j. Row j of W is a column of Q', so that a row
 * costs O(d^2) beside the reflections.
 *
 * PANEL rows go through GROUP reflections at a time, I - V T V' (Schreiber and Van Loan 1989, A
 * storage-efficient WY representation for products of Householder transformations): V is read once
 * for all of them, and each row sums in the same order whichever rows are beside it. */
#include "shared/blocks.h"
#include "shared/draws.h"
#include "shared/gaussian_rows.h"

enum { PANEL = 8, GROUP = 4 };

static const scl_option options[] = {GAUSSIAN_ROWS_OPTIONS};

/* GROUP reflections: entry (i, k) of V at i*GROUP + k, zero where reflection k does not reach, rows
 * `from` .. d-1; T upper triangular. */
typedef struct group {
  size_t from;
  double factor[GROUP][GROUP];
  double *vectors;
} group;

typedef struct reflections {
  const scl_host *host;
  size_t dim, count;
  group *groups;
  double *signs;   /* d: D */
  double *vectors; /* all of V */
  double *panel;   /* d x PANEL */
} reflections;

/* ------------ the reflections of a block */

/* <a, b> of two columns of V, whose entries are GROUP apart. */
static double orthogonal_dot(size_t count, const double *a, const double *b) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += a[i * GROUP] * b[i * GROUP];
  return sum;
}

/* T of
 *   I - V T V' = (I - tau_0 u_0 u_0') (I - tau_1 u_1 u_1') ...:
 * above the diagonal column k is -tau_k T V' u_k. */
static void join(size_t dim, group *g, const double tau[GROUP]) {
  memset(g->factor, 0, sizeof g->factor);
  for (size_t k = 0; k < GROUP; k++) {
    double shared[GROUP];
    for (size_t i = 0; i < k; i++)
      shared[i] = orthogonal_dot(dim - g->from, g->vectors + i, g->vectors + k);
    for (size_t i = 0; i < k; i++)
      for (size_t j = i; j < k; j++)
        g->factor[i][k] -= tau[k] * (g->factor[i][j] * shared[j]);
    g->factor[k][k] = tau[k];
  }
}

/* Write reflection r into column k of the group, set its tau, and return -sign(x_r). */
static double reflect(double *vectors, size_t k, size_t count, const double *x, double *tau) {
  double square = 0;
  for (size_t i = 0; i < count; i++)
    square += x[i] * x[i];
  const double side = x[0] < 0 ? -1 : 1, first = x[0] + side * sqrt(square);
  for (size_t i = 0; i < count; i++)
    vectors[(k + i) * GROUP + k] = i == 0 ? first : x[i];
  *tau = first == 0 ? 0 : 1 / (sqrt(square) * fabs(first)); /* 2 / u'u, for u'u = 2 ||x|| |u_r| */
  return -side;
}

/* Draws the reflections of a block from normal vectors, and joins each GROUP of them to I - V T
 * V'. signs receives D. */
static void draw_reflections(const scl_random *random, scl_address address, uint64_t block,
                             reflections *out) {
  const size_t dim = out->dim;
  double *x = out->panel, side = 1;
  for (size_t n = 0; n < out->count; n++) {
    group *g = &out->groups[n];
    double tau[GROUP] = {0};
    for (size_t k = 0; k < GROUP && g->from + k < dim; k++) {
      const size_t r = g->from + k;
      random->normal(address.seed, address.stream + GAUSSIAN_ROWS_WEIGHTS, block * dim + r, 0,
                     dim - r, x);
      side *= reflect(g->vectors, k, dim - r, x, &tau[k]);
      out->signs[r] = side;
    }
    join(dim, g, tau);
  }
}

/* Scratch memory for the reflections of one block: vectors holds V of all groups, one after the
 * other, zero at first. */
static scl_status reflections_reserve(const scl_host *host, size_t dim, reflections *out,
                                      scl_error *error) {
  const size_t count = (dim + GROUP - 1) / GROUP;
  /* group n: dim - n GROUP rows of GROUP numbers */
  const size_t numbers = GROUP * (count * dim - GROUP * (count * (count - 1) / 2));
  *out = (reflections){.host = host,
                       .dim = dim,
                       .count = count,
                       .groups = host->scratch(count * sizeof *out->groups),
                       .signs = host->scratch(dim * sizeof *out->signs),
                       .vectors = host->scratch(numbers * sizeof *out->vectors),
                       .panel = host->scratch(dim * PANEL * sizeof *out->panel)};
  if (out->groups == NULL || out->signs == NULL || out->vectors == NULL || out->panel == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY,
                      "an orthogonal matrix of order %zu takes %zu numbers: not enough memory", dim,
                      numbers);
  memset(out->vectors, 0, numbers * sizeof(double));
  double *at = out->vectors;
  for (size_t n = 0; n < count; n++) {
    out->groups[n].from = n * GROUP;
    out->groups[n].vectors = at;
    at += (dim - n * GROUP) * GROUP;
  }
  return SCL_STATUS_OK;
}

/* ------------ rows of a block */

/* panel (rows from .. d-1, PANEL adjacent columns) = (I - V T V') panel */
static void apply_group(size_t dim, const group *g, double *restrict panel) {
  double inner[GROUP][PANEL] = {{0}}, outer[GROUP][PANEL] = {{0}};
  const double *restrict v = g->vectors;
  double *restrict y = panel + g->from * PANEL;
  const size_t rows = dim - g->from;
  for (size_t i = 0; i < rows; i++)
    for (size_t k = 0; k < GROUP; k++)
      for (size_t c = 0; c < PANEL; c++)
        inner[k][c] += v[i * GROUP + k] * y[i * PANEL + c];
  for (size_t k = 0; k < GROUP; k++)
    for (size_t j = k; j < GROUP; j++)
      for (size_t c = 0; c < PANEL; c++)
        outer[k][c] += g->factor[k][j] * inner[j][c];
  for (size_t i = 0; i < rows; i++)
    for (size_t k = 0; k < GROUP; k++)
      for (size_t c = 0; c < PANEL; c++)
        y[i * PANEL + c] -= v[i * GROUP + k] * outer[k][c];
}

/* Columns first .. first+PANEL-1 of Q' into the panel. They start as columns of D, zero below row
 * first+PANEL-1, so that groups of reflections that begin below do nothing and are left out. */
static void make_panel(const reflections *from, size_t first) {
  const size_t dim = from->dim, last = first + PANEL < dim ? first + PANEL : dim;
  memset(from->panel, 0, dim * PANEL * sizeof *from->panel);
  for (size_t j = first; j < last; j++)
    from->panel[j * PANEL + (j - first)] = from->signs[j];
  for (size_t n = (last - 1) / GROUP + 1; n-- > 0;)
    apply_group(dim, &from->groups[n], from->panel);
}

static void orthogonal_write_row(const gaussian_rows *self, scl_address address,
                                 const reflections *from, size_t column, size_t place,
                                 const scl_parameters *out) {
  const scl_address radii = {address.seed, address.stream + GAUSSIAN_ROWS_RADII};
  const double length =
      self->sigma * draw_chi(self->base.host->random, radii, out->first + place, from->dim);
  double *w = out->weights + (ptrdiff_t)place * out->stride;
  for (size_t i = 0; i < from->dim; i++)
    w[i] = length * from->panel[i * PANEL + column];
}

/* Writes the requested rows of a block, PANEL columns of Q' at a time. */
static void write_part(const gaussian_rows *self, scl_address address, const reflections *from,
                       const block_part *part, const scl_parameters *out) {
  const size_t end = part->from + part->count;
  for (size_t first = part->from / PANEL * PANEL; first < end; first += PANEL) {
    make_panel(from, first);
    for (size_t j = first < part->from ? part->from : first; j < end && j < first + PANEL; j++)
      orthogonal_write_row(self, address, from, j - first, part->at + (j - part->from), out);
  }
}

/* ------------ the plugin */

static scl_status layout(const void *instance, size_t dim, scl_layout *out, scl_error *error) {
  const gaussian_rows *self = instance;
  if (dim == 0 || dim > INT32_MAX)
    return self->base.host->fail(
        error, SCL_STATUS_BAD_SHAPE,
        "orthogonal rows take 1 to 2^31 - 1 columns, and the data have %zu", dim);
  out->block = dim;
  return SCL_STATUS_OK;
}

static scl_status draw_rows(const void *instance, const scl_draw *draw, const scl_parameters *out,
                            scl_error *error) {
  const gaussian_rows *self = instance;
  const scl_host *host = self->base.host;
  reflections made;
  const scl_status status = reflections_reserve(host, out->dim, &made, error);
  if (status != SCL_STATUS_OK) return status;
  block_part part = {0};
  while (block_next(out, out->dim, &part)) {
    draw_reflections(host->random, draw->address, part.block, &made);
    write_part(self, draw->address, &made, &part, out);
  }
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "orthogonal",
    .summary = "Gaussian rows that are orthogonal in blocks of d",
    .definition =
        /* Row j of a block is column j of a product of reflections, from normal numbers. */
    "reflected(d, j, x) = (function(u, side, v)\n"
    "  for k = 0, j do\n"
    "    u[k] = x(k)\n"
    "    side = u[k][1] < 0 and side or -side\n"
    "    u[k][1] = u[k][1] + when(u[k][1] < 0, -1, 1)*length(u[k])\n"
    "  end\n"
    "  v[j + 1] = side\n"
    "  for k = j, 0, -1 do\n"
    "    local f = 2*sum(u[k], function(a, i) return a*v[k + i] end)/dot(u[k], u[k])\n"
    "    for i = 1, d - k do v[k + i] = v[k + i] - f*u[k][i] end\n"
    "  end\n"
    "  return v end)({}, 1, map(range(d), function() return 0 end))\n"
    "direction(t, d, r) = reflected(d, t % d, function(k) return map(range(d - k), function(i)\n"
    "  return r.normal(0, t//d*d + k, i - 1) end) end)\n"
    /* The chi-distributed length of a row. */
    "size(t, r) = (gamma and sqrt(2*gamma) or sigma or 1)*r.chi(2, t, r.dim)\n"
    /* Columns of Q times lengths. */
    "draw(t, r) = map(direction(t, r.dim, r), function(v) return size(t, r)*v end)",
    .doc = "Blocks of d rows W = sigma S Q: Q a Haar distributed orthogonal matrix, S independent "
           "chi_d\n"
           "lengths; z = <w, x> + b.\n"
           "Each row by itself is N(0, sigma^2 I), so every kernel of Gaussian rows holds. With\n"
           "nonlinearity.fourier the error is smaller than with independent rows (Yu et al. 2016,\n"
           "Orthogonal random features). A block costs O(d^3); sampler.hadamard costs O(d log d).",
    GAUSSIAN_ROWS_SAMPLER(gaussian_rows, SCL_SPACE_DENSE),
    SCL_ABILITIES(GAUSSIAN_ROWS_CHARACTERISTIC)};

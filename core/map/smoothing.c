/* Quadrature of S(m, v) for all entries of a block together, so that phi is called on whole blocks.
 * The interval of z is split where phi breaks, because a Gauss rule converges fast on smooth pieces
 * alone. */
#include "map/smoothing.h"

#include "plugin/blocks.h"
#include "plugin/nonlinearity.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Newton's method on the Legendre polynomial, from Chebyshev's points. */
void scl_gauss_legendre(size_t count, double *nodes, double *weights) {
  const double n = (double)count;
  for (size_t i = 0; i < (count + 1) / 2; i++) {
    double x = cos(SCL_PI * ((double)i + 0.75) / (n + 0.5)), slope = 1;
    for (int step = 0; step < 100; step++) {
      double previous = 0, value = 1;
      for (size_t k = 1; k <= count; k++) {
        const double order = (double)k,
                     next = ((2 * order - 1) * x * value - (order - 1) * previous) / order;
        previous = value;
        value = next;
      }
      slope = n * (x * value - previous) / (x * x - 1);
      const double change = value / slope;
      x -= change;
      if (fabs(change) < 1e-15) break;
    }
    nodes[i] = -x;
    nodes[count - 1 - i] = x;
    weights[i] = weights[count - 1 - i] = 2 / ((1 - x * x) * slope * slope);
  }
}

/* ------------------------------------------------------------ quadrature, in float64 */

enum {
  FIRST_NODES = 32,
  LAST_NODES = 1024,
  REACH = 9 /* the normal density beyond 9 is below 1e-18 */
};

static const double TOLERANCE = 1e-10;

/* The integrals of a block, all numbers packed. An entry is a row and a parameter. */
typedef struct rule {
  const scl_instance *phi;
  size_t rows, cols, outputs;
  double *m, *v;          /* rows x cols: mean and standard deviation of each entry */
  double *at;             /* rows x cols: where phi is evaluated */
  double *value;          /* outputs x rows x cols: phi there */
  double *previous, *sum; /* the same shape: integrals by the rule before, and by this one */
  const double *breaks;   /* where phi is not smooth, ascending */
  size_t n_breaks;
} rule;

/* Where piece `piece` of the entry's interval [-REACH, REACH] in z begins: phi breaks at z = (b -
 * m)/v. */
static double edge(const rule *r, size_t entry, size_t piece) {
  if (piece == 0) return -REACH;
  if (piece > r->n_breaks) return REACH;
  const double z = r->v[entry] > 0 ? (r->breaks[piece - 1] - r->m[entry]) / r->v[entry] : 0;
  return z < -REACH ? -REACH : z > REACH ? REACH : z;
}

/* r->sum = the integrals by `nodes` nodes a piece. */
static scl_status integrate(const rule *r, size_t nodes, const double *x, const double *w,
                            scl_error *error) {
  const size_t count = r->rows * r->cols;
  const scl_block at = scl_block_packed(r->rows, r->cols, 1, r->at),
                  out = scl_block_packed(r->rows, r->cols, r->outputs, r->value);
  const scl_const_block z = scl_block_view(&at);
  memset(r->sum, 0, count * r->outputs * sizeof *r->sum);
  for (size_t piece = 0; piece <= r->n_breaks; piece++)
    for (size_t k = 0; k < nodes; k++) {
      for (size_t i = 0; i < count; i++) {
        const double low = edge(r, i, piece), high = edge(r, i, piece + 1);
        r->at[i] = r->m[i] + r->v[i] * (low + high + (high - low) * x[k]) / 2;
      }
      SCL_TRY(scl_nonlinearity_apply(r->phi, &z, &out, error));
      for (size_t i = 0; i < count; i++) {
        const double low = edge(r, i, piece), high = edge(r, i, piece + 1),
                     node = (low + high + (high - low) * x[k]) / 2;
        const double weight = w[k] * (high - low) / 2 * (exp(-node * node / 2) / sqrt(2 * SCL_PI));
        for (size_t o = 0; o < r->outputs; o++)
          r->sum[o * count + i] += weight * r->value[o * count + i];
      }
    }
  return SCL_STATUS_OK;
}

/* The largest difference of two lists over the largest value of b; 0 if they are equal. */
static double relative_gap(const double *a, const double *b, size_t count) {
  double gap = 0, size = 0;
  for (size_t i = 0; i < count; i++) {
    gap = fmax(gap, fabs(a[i] - b[i]));
    size = fmax(size, fabs(b[i]));
  }
  return gap > 0 ? gap / size : 0;
}

/* Double the number of nodes until two rules agree: r->sum is the last one's, and *gap its relative
 * difference from the one before. */
static scl_status refine(const rule *r, double *gap, scl_error *error) {
  double x[LAST_NODES], w[LAST_NODES];
  const size_t count = r->rows * r->cols * r->outputs;
  for (size_t nodes = FIRST_NODES; nodes <= LAST_NODES; nodes *= 2) {
    scl_gauss_legendre(nodes, x, w);
    SCL_TRY(integrate(r, nodes, x, w, error));
    *gap = nodes > FIRST_NODES ? relative_gap(r->previous, r->sum, count) : INFINITY;
    if (*gap <= TOLERANCE) break;
    memcpy(r->previous, r->sum, count * sizeof *r->sum);
  }
  return SCL_STATUS_OK;
}

/* Raise *gap to the gap that a block found, if that missed the tolerance. Many threads call it. */
static void raise_gap(_Atomic double *gap, double found) {
  double known = gap == NULL ? INFINITY : atomic_load(gap);
  while (found > TOLERANCE && found > known)
    if (atomic_compare_exchange_weak(gap, &known, found)) break;
}

/* Means and standard deviations of a block, as packed float64. */
static void read_numbers(const scl_const_block *m, const scl_spread *v, rule *r) {
  for (size_t i = 0; i < m->rows; i++)
    for (size_t j = 0; j < m->cols; j++) {
      const ptrdiff_t row = (ptrdiff_t)i, col = (ptrdiff_t)j;
      r->m[i * m->cols + j] = scl_number(m->data, m->dtype, (size_t)(row * m->row_stride + col));
      r->v[i * m->cols + j] =
          scl_number(v->data, m->dtype, (size_t)(row * v->row_stride + col * v->col_stride));
    }
}

/* Packed integrals into a block, in its dtype. */
static void write_numbers(const double *sum, const scl_block *out) {
  for (size_t o = 0; o < out->planes; o++)
    for (size_t i = 0; i < out->rows; i++)
      for (size_t j = 0; j < out->cols; j++)
        scl_set_number(out->data, out->dtype,
                       (size_t)((ptrdiff_t)i * out->row_stride + (ptrdiff_t)o * out->plane_stride) +
                           j,
                       sum[(o * out->rows + i) * out->cols + j]);
}

scl_status scl_smooth_quadrature(const scl_instance *phi, const scl_const_block *m,
                                 const scl_spread *v, const scl_block *out, _Atomic double *gap,
                                 scl_error *error) {
  const scl_ability_facts facts = scl_nonlinearity_facts(phi);
  if (m->planes != 1)
    return scl_fail(
        error, SCL_STATUS_UNSUPPORTED,
        "nonlinearity.%s takes %zu numbers and brings no smoothing: no quadrature for it",
        scl_instance_name(phi), m->planes);
  const size_t count = m->rows * m->cols, total = count * (3 + 3 * out->planes);
  double *memory = scl_allocate_array(scl_max(total, 1), sizeof *memory), found;
  if (memory == NULL) return scl_fail_memory(error, total * sizeof *memory, "quadrature");
  rule r = {.phi = phi,
            .rows = m->rows,
            .cols = m->cols,
            .outputs = out->planes,
            .m = memory,
            .v = memory + count,
            .at = memory + 2 * count,
            .value = memory + 3 * count,
            .previous = memory + (3 + out->planes) * count,
            .sum = memory + (3 + 2 * out->planes) * count,
            .breaks = facts.breaks,
            .n_breaks = facts.n_breaks};
  read_numbers(m, v, &r);
  const scl_status status = refine(&r, &found, error);
  if (status == SCL_STATUS_OK) {
    raise_gap(gap, found);
    write_numbers(r.sum, out);
  }
  scl_release(memory);
  return status;
}

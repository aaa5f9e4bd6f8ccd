/* Quadrature of S(m, v) for all entries of a block together, so that phi is called on many numbers.
 * Each entry has as many nodes as it needs: its bits do not depend on the entries beside it.
 * The interval of z is split where phi breaks, because a Gauss rule converges fast on smooth pieces
 * alone. */
#include "map/smoothing.h"

#include "plugin/blocks.h"
#include "plugin/nonlinearity.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Nodes by Newton's method on the Legendre polynomial P_n, from Chebyshev's points, with the
 * recurrence k P_k = (2k - 1) x P_(k-1) - (k - 1) P_(k-2) and (x^2 - 1) P_n' = n (x P_n - P_(n-1)).
 * Weights: 2 / ((1 - x^2) P_n'(x)^2). Only half of the nodes are computed: they are symmetric. */
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

/* ------------ quadrature, in float64 */

enum {
  FIRST_NODES = 32,
  LAST_NODES = 1024,
  REACH = 9 /* the normal density beyond 9 is below 1e-18 */
};

static const double TOLERANCE = 1e-10;

/* The entries of a block (a row and a parameter each) whose integrals are not settled. Numbers of
 * an entry and an output are at entry * outputs + output, of phi at output * count + entry. */
typedef struct rule {
  const scl_instance *phi;
  size_t count, outputs;
  size_t *entry;        /* which entry of the block */
  double *m, *v;        /* mean and standard deviation */
  double *at, *value;   /* where phi is evaluated, and phi there */
  double *previous;     /* integrals by the rule before */
  double *sum;          /* by this rule */
  double *size;         /* integrals of |phi|, by the first rule */
  const double *breaks; /* where phi is not smooth, ascending */
  size_t n_breaks;
} rule;

/* Where piece `piece` of the entry's interval [-REACH, REACH] in z begins: phi breaks at z = (b -
 * m)/v. */
static double piece_edge(const rule *r, size_t entry, size_t piece) {
  if (piece == 0) return -REACH;
  if (piece > r->n_breaks) return REACH;
  const double z = r->v[entry] > 0 ? (r->breaks[piece - 1] - r->m[entry]) / r->v[entry] : 0;
  return z < -REACH ? -REACH : z > REACH ? REACH : z;
}

/* Set r->sum to the integrals by a rule of `nodes` nodes x and weights w on each piece; the first
 * rule also sets r->size. phi is called once for each node, on all entries. */
static scl_status integrate_entries(const rule *r, size_t nodes, const double *x, const double *w,
                                    scl_error *error) {
  const size_t count = r->count;
  const scl_block at = scl_block_packed(1, count, 1, r->at),
                  out = scl_block_packed(1, count, r->outputs, r->value);
  const scl_const_block z = scl_block_view(&at);
  memset(r->sum, 0, count * r->outputs * sizeof *r->sum);
  if (nodes == FIRST_NODES) memset(r->size, 0, count * r->outputs * sizeof *r->size);
  for (size_t piece = 0; piece <= r->n_breaks; piece++)
    for (size_t k = 0; k < nodes; k++) {
      for (size_t i = 0; i < count; i++) {
        const double low = piece_edge(r, i, piece), high = piece_edge(r, i, piece + 1);
        r->at[i] = r->m[i] + r->v[i] * (low + high + (high - low) * x[k]) / 2;
      }
      SCL_TRY(scl_nonlinearity_apply(r->phi, &z, &out, error));
      for (size_t i = 0; i < count; i++) {
        const double low = piece_edge(r, i, piece), high = piece_edge(r, i, piece + 1),
                     node = (low + high + (high - low) * x[k]) / 2;
        const double weight = w[k] * (high - low) / 2 * (exp(-node * node / 2) / sqrt(2 * SCL_PI));
        for (size_t o = 0; o < r->outputs; o++) {
          const double term = weight * r->value[o * count + i];
          r->sum[i * r->outputs + o] += term;
          if (nodes == FIRST_NODES) r->size[i * r->outputs + o] += fabs(term);
        }
      }
    }
  return SCL_STATUS_OK;
}

/* The largest difference of an entry's last two rules, relative to its integral of |phi|. */
static double gap_of(const rule *r, size_t i) {
  double largest = 0;
  for (size_t o = i * r->outputs; o < (i + 1) * r->outputs; o++) {
    const double gap = fabs(r->sum[o] - r->previous[o]);
    if (gap > 0) largest = fmax(largest, gap / r->size[o]);
  }
  return largest;
}

/* Write the integrals of an entry to the block, in its dtype. */
static void write_entry(const rule *r, size_t i, const scl_block *out) {
  const ptrdiff_t row = (ptrdiff_t)(r->entry[i] / out->cols) * out->row_stride;
  const size_t col = r->entry[i] % out->cols;
  for (size_t o = 0; o < r->outputs; o++)
    scl_set_number(out->data, out->dtype, (size_t)(row + (ptrdiff_t)o * out->plane_stride) + col,
                   r->sum[i * r->outputs + o]);
}

/* Entry i needs another rule: it becomes entry `to` <= i of the remaining ones, and its integrals
 * become those of the previous rule. */
static void keep_entry(rule *r, size_t i, size_t to) {
  r->entry[to] = r->entry[i];
  r->m[to] = r->m[i];
  r->v[to] = r->v[i];
  memmove(r->previous + to * r->outputs, r->sum + i * r->outputs, r->outputs * sizeof *r->sum);
  memmove(r->size + to * r->outputs, r->size + i * r->outputs, r->outputs * sizeof *r->size);
}

/* Double the number of nodes until the last two rules of each entry agree, or LAST_NODES is
 * reached. *gap = the largest relative difference that remains. */
static scl_status refine_entries(rule *r, const scl_block *out, double *gap, scl_error *error) {
  double x[LAST_NODES], w[LAST_NODES];
  *gap = 0;
  for (size_t nodes = FIRST_NODES; nodes <= LAST_NODES && r->count > 0; nodes *= 2) {
    size_t left = 0;
    scl_gauss_legendre(nodes, x, w);
    SCL_TRY(integrate_entries(r, nodes, x, w, error));
    for (size_t i = 0; i < r->count; i++) {
      const double found = nodes == FIRST_NODES ? INFINITY : gap_of(r, i);
      if (found > TOLERANCE && nodes < LAST_NODES) {
        keep_entry(r, i, left++);
        continue;
      }
      write_entry(r, i, out);
      *gap = fmax(*gap, found);
    }
    r->count = left;
  }
  return SCL_STATUS_OK;
}

/* Raise *gap to `found`, if that missed the tolerance. Many threads call it at the same time. */
static void raise_gap(_Atomic double *gap, double found) {
  double known = gap == NULL ? INFINITY : atomic_load(gap);
  while (found > TOLERANCE && found > known)
    if (atomic_compare_exchange_weak(gap, &known, found)) break;
}

/* Set the entries of r to all entries of a block, in float64. */
static void read_numbers(const scl_const_block *m, const scl_spread *v, rule *r) {
  for (size_t i = 0; i < m->rows; i++)
    for (size_t j = 0; j < m->cols; j++) {
      const ptrdiff_t row = (ptrdiff_t)i, col = (ptrdiff_t)j;
      const size_t entry = i * m->cols + j;
      r->entry[entry] = entry;
      r->m[entry] = scl_number(m->data, m->dtype, (size_t)(row * m->row_stride + col));
      r->v[entry] =
          scl_number(v->data, m->dtype, (size_t)(row * v->row_stride + col * v->col_stride));
    }
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
  const size_t count = m->rows * m->cols, each = count * out->planes, total = 3 * count + 4 * each;
  double *memory = scl_allocate_array(total + 1, sizeof *memory), found;
  size_t *entry = scl_allocate_array(count + 1, sizeof *entry);
  rule r = {.phi = phi,
            .count = count,
            .outputs = out->planes,
            .entry = entry,
            .m = memory,
            .v = memory + count,
            .at = memory + 2 * count,
            .value = memory + 3 * count,
            .previous = memory + 3 * count + each,
            .sum = memory + 3 * count + 2 * each,
            .size = memory + 3 * count + 3 * each,
            .breaks = facts.breaks,
            .n_breaks = facts.n_breaks};
  scl_status status = SCL_STATUS_OK;
  if (memory == NULL || entry == NULL) {
    status = scl_fail_memory(error, total * sizeof *memory, "quadrature");
  } else {
    read_numbers(m, v, &r);
    status = refine_entries(&r, out, &found, error);
  }
  if (status == SCL_STATUS_OK) raise_gap(gap, found);
  SCL_RELEASE(memory, entry);
  return status;
}

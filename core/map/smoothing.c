#include "map/smoothing.h"

#include <math.h>
#include <string.h>

/* Newton's method on the Legendre polynomial, from Chebyshev's points. */
void scl_gauss_legendre(size_t count, double *nodes, double *weights) {
  const double pi = 3.14159265358979323846, n = (double)count;
  for (size_t i = 0; i < (count + 1) / 2; i++) {
    double x = cos(pi * ((double)i + 0.75) / (n + 0.5)), slope = 1;
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

bool scl_smooth_is_closed(const scl_instance *phi) {
  return scl_instance_ability(phi, SCL_ABILITY_SMOOTHING) != NULL;
}

/* ---------------------------------------------------------------- quadrature, in float64 */

enum { FIRST_NODES = 32, LAST_NODES = 1024, REACH = 9 };

/* What one rule needs: numbers in rows x cols float64, planes of fan_out. */
typedef struct rule {
  const scl_instance *phi;
  size_t rows, cols, outputs;
  const double *m, *v; /* rows x cols each */
  double *at, *value;  /* rows x cols, and rows x cols x outputs */
  double breaks[4];
  size_t n_breaks;
} rule;

static double density(double z) {
  return exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846);
}

/* Where piece `piece` of the entry's interval [-REACH, REACH] in z begins: phi breaks at z = (b -
 * m)/v. */
static double edge(const rule *r, size_t entry, size_t piece) {
  if (piece == 0) return -REACH;
  if (piece > r->n_breaks) return REACH;
  const double z = r->v[entry] > 0 ? (r->breaks[piece - 1] - r->m[entry]) / r->v[entry] : 0;
  return z < -REACH ? -REACH : z > REACH ? REACH : z;
}

/* sum += the integral by `nodes` nodes a piece. */
static scl_status integrate(const rule *r, size_t nodes, const double *x, const double *w,
                            double *sum, scl_error *error) {
  const scl_nonlinearity *table = scl_instance_vtable(r->phi);
  const size_t count = r->rows * r->cols;
  const scl_block z = {r->at, SCL_DTYPE_FLOAT64,  r->rows,         r->cols,
                       1,     (ptrdiff_t)r->cols, (ptrdiff_t)count};
  scl_block out = {r->value,   SCL_DTYPE_FLOAT64,  r->rows,         r->cols,
                   r->outputs, (ptrdiff_t)r->cols, (ptrdiff_t)count};
  memset(sum, 0, count * r->outputs * sizeof *sum);
  for (size_t piece = 0; piece <= r->n_breaks; piece++)
    for (size_t k = 0; k < nodes; k++) {
      for (size_t i = 0; i < count; i++) {
        const double low = edge(r, i, piece), high = edge(r, i, piece + 1);
        r->at[i] = r->m[i] + r->v[i] * (low + high + (high - low) * x[k]) / 2;
      }
      SCL_TRY(scl_instance_prefix(r->phi, table->apply(r->phi->self, &z, &out, error), error));
      for (size_t i = 0; i < count; i++) {
        const double low = edge(r, i, piece), high = edge(r, i, piece + 1),
                     node = (low + high + (high - low) * x[k]) / 2;
        const double weight = w[k] * (high - low) / 2 * density(node);
        for (size_t o = 0; o < r->outputs; o++)
          sum[o * count + i] += weight * r->value[o * count + i];
      }
    }
  return SCL_STATUS_OK;
}

static bool agree(const double *a, const double *b, size_t count) {
  double gap = 0, size = 0;
  for (size_t i = 0; i < count; i++) {
    if (fabs(a[i] - b[i]) > gap) gap = fabs(a[i] - b[i]);
    if (fabs(b[i]) > size) size = fabs(b[i]);
  }
  return gap <= 1e-10 * size;
}

static scl_status refine(const rule *r, double *previous, double *sum, scl_error *error) {
  double x[LAST_NODES], w[LAST_NODES];
  const size_t count = r->rows * r->cols * r->outputs;
  for (size_t nodes = FIRST_NODES; nodes <= LAST_NODES; nodes *= 2) {
    scl_gauss_legendre(nodes, x, w);
    SCL_TRY(integrate(r, nodes, x, w, sum, error));
    if (nodes > FIRST_NODES && agree(previous, sum, count)) return SCL_STATUS_OK;
    memcpy(previous, sum, count * sizeof *sum);
  }
  return SCL_STATUS_OK; /* the last rule: as good as 1024 nodes a piece are */
}

static double number(const void *data, scl_dtype dtype, ptrdiff_t at) {
  return dtype == SCL_DTYPE_FLOAT64 ? ((const double *)data)[at]
                                    : (double)((const float *)data)[at];
}

scl_status scl_smooth_quadrature(const scl_instance *phi, const scl_block *m, const scl_spread *v,
                                 scl_block *out, scl_error *error) {
  scl_facts facts = {0};
  const scl_ability_facts *ability = scl_instance_ability(phi, SCL_ABILITY_FACTS);
  if (ability != NULL) ability->facts(phi->self, &facts);
  if (m->planes != 1)
    return scl_fail(
        error, SCL_STATUS_UNSUPPORTED,
        "nonlinearity.%s takes %zu numbers and brings no smoothing: no quadrature for it",
        scl_instance_name(phi), m->planes);
  const size_t count = m->rows * m->cols, total = count * (3 + 3 * out->planes);
  double *memory = scl_allocate_array(scl_max(total, 1), sizeof *memory);
  if (memory == NULL) return scl_fail_memory(error, total * sizeof *memory, "quadrature");
  double *means = memory, *spreads = means + count, *at = spreads + count, *value = at + count;
  double *previous = value + count * out->planes, *sum = previous + count * out->planes;
  for (size_t i = 0; i < m->rows; i++)
    for (size_t j = 0; j < m->cols; j++) {
      means[i * m->cols + j] =
          number(m->data, m->dtype, (ptrdiff_t)i * m->row_stride + (ptrdiff_t)j);
      spreads[i * m->cols + j] =
          number(v->data, m->dtype, (ptrdiff_t)i * v->row_stride + (ptrdiff_t)j * v->col_stride);
    }
  rule r = {phi,     m->rows, m->cols, out->planes, means,
            spreads, at,      value,   {0},         scl_min(facts.n_breaks, 4)};
  memcpy(r.breaks, facts.breaks, sizeof r.breaks);
  const scl_status status = refine(&r, previous, sum, error);
  for (size_t o = 0; status == SCL_STATUS_OK && o < out->planes; o++)
    for (size_t i = 0; i < m->rows; i++)
      for (size_t j = 0; j < m->cols; j++) {
        const ptrdiff_t to =
            (ptrdiff_t)i * out->row_stride + (ptrdiff_t)j + (ptrdiff_t)o * out->plane_stride;
        if (out->dtype == SCL_DTYPE_FLOAT64)
          ((double *)out->data)[to] = sum[o * count + i * m->cols + j];
        else
          ((float *)out->data)[to] = (float)sum[o * count + i * m->cols + j];
      }
  scl_release(memory);
  return status;
}

scl_status scl_smooth(const scl_instance *phi, const scl_block *m, const scl_spread *v,
                      scl_block *out, scl_error *error) {
  const scl_ability_smoothing *ability = scl_instance_ability(phi, SCL_ABILITY_SMOOTHING);
  if (ability == NULL) return scl_smooth_quadrature(phi, m, v, out, error);
  return scl_instance_prefix(phi, ability->smooth(phi->self, m, v, out, error), error);
}

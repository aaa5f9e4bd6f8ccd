/* The expectation of K(u, w) phi(w, x) over the sampler's law, outside of a pipeline: for tests of
 * a closed form against samples, and for users who want the operator itself. */
#include "map/expectation.h"

#include "algebra/dense.h"
#include "base/interrupt.h"
#include "base/random.h"
#include <math.h>
#include <string.h>

/* Exact or by quadrature, values (D x n) are the transposed features of the map with the left-out
 * factor put back: values_(kT+t, i) = exp(log_scale) phi_i,(kT+t). */
static scl_status expect_by_features(const scl_map *map, const scl_matrix *x, scl_matrix *out,
                                     scl_error *error) {
  const size_t d = scl_map_features(map), n = x->rows;
  scl_matrix rows, phi;
  SCL_TRY(scl_matrix_copy(x, SCL_DTYPE_FLOAT64, &rows, error));
  scl_status status = scl_matrix_create_raw(n, d, SCL_DTYPE_FLOAT64, &phi, error);
  if (status == SCL_STATUS_OK) {
    status = scl_map_apply(map, rows.data, rows.row_stride, n, phi.data, phi.row_stride, error);
    if (status == SCL_STATUS_OK)
      status = scl_matrix_create_raw(d, n, SCL_DTYPE_FLOAT64, out, error);
    const double factor = exp(scl_map_log_scale(map));
    for (size_t i = 0; status == SCL_STATUS_OK && i < n; i++)
      for (size_t j = 0; j < d; j++)
        scl_matrix_row(out, j)[i] = factor * scl_matrix_row(&phi, i)[j];
    scl_matrix_release(&phi);
  }
  scl_matrix_release(&rows);
  return status;
}

/* ------------ Monte Carlo: sums of K phi and of its square, batch by batch */

enum { BATCH = 2048 };

typedef struct simulation {
  const scl_map_spec *spec;
  const scl_map *shape; /* for the kernel bound to the law */
  scl_matrix x;         /* float64, row-major */
  size_t u, outputs, n; /* parameters of U, fan_out of phi, rows of x */
  double *sum, *square; /* (outputs u) x n */
  size_t drawn;         /* samples so far */
} simulation;

/* Draw BATCH samples w_s and add, for each output o, the sums over s of K(u, w_s) phi_o(w_s, x) and
 * of its square: two matrix products for each output. phi (n x outputs BATCH) and products (u x n)
 * are working memory. The features carry the factor 1/sqrt(BATCH) of the map, which `unit`
 * removes. */
static scl_status add_batch(simulation *s, double *phi, double *products, scl_error *error) {
  scl_parameter_set set = {0};
  scl_matrix samples = {0}, k = {0};
  scl_map *map = NULL;
  const uint64_t first = s->drawn;
  SCL_TRY(scl_map_draw_samples(s->shape, s->spec->seed, (size_t)first, BATCH, &set, error));
  scl_status status = scl_parameters_matrix(&set, &samples, error);
  const scl_map_spec plain = {.sampler = s->spec->sampler,
                              .phi = s->spec->phi,
                              .dim = s->spec->dim,
                              .dtype = SCL_DTYPE_FLOAT64,
                              .parameters = &samples,
                              .scale = 1 / sqrt(BATCH)};
  if (status == SCL_STATUS_OK) status = scl_map_create(&plain, &map, error);
  if (status == SCL_STATUS_OK)
    status = scl_map_kernel_between(s->shape, s->spec->parameters, &samples, &k, error);
  if (status == SCL_STATUS_OK)
    status = scl_map_apply(map, s->x.data, s->x.row_stride, s->n, phi,
                           (ptrdiff_t)(s->outputs * BATCH), error);
  const ptrdiff_t width = (ptrdiff_t)(s->outputs * BATCH), n = (ptrdiff_t)s->n;
  for (int power = 1; status == SCL_STATUS_OK && power <= 2; power++) {
    double *into = power == 1 ? s->sum : s->square;
    const double unit =
        power == 1 ? sqrt((double)BATCH) : (double)BATCH; /* phi carries 1/sqrt(BATCH) */
    if (power == 2) {
      for (size_t i = 0; i < s->n * s->outputs * BATCH; i++)
        phi[i] *= phi[i];
      for (size_t i = 0; i < s->u * BATCH; i++)
        ((double *)k.data)[i] *= ((double *)k.data)[i];
    }
    for (size_t o = 0; o < s->outputs; o++) {
      scl_gemm_parallel(SCL_DTYPE_FLOAT64, false, true, s->u, s->n, BATCH, unit, k.data, BATCH,
                        phi + o * BATCH, width, 0, products, n);
      for (size_t i = 0; i < s->u * s->n; i++)
        into[o * s->u * s->n + i] += products[i];
    }
  }
  s->drawn += BATCH;
  scl_map_destroy(map);
  scl_matrix_release(&k);
  scl_matrix_release(&samples);
  scl_parameters_release(&set);
  return status;
}

/* The largest standard error of any entry, and the largest value; infinity if sums overflowed. */
static double worst_error(const simulation *s, double *largest) {
  const double n = (double)s->drawn;
  double worst = 0;
  *largest = 0;
  for (size_t i = 0; i < s->outputs * s->u * s->n; i++) {
    const double mean = s->sum[i] / n, variance = fmax(s->square[i] / n - mean * mean, 0);
    if (!isfinite(s->square[i])) return INFINITY;
    worst = fmax(worst, sqrt(variance / n));
    *largest = fmax(*largest, fabs(mean));
  }
  return worst;
}

/* Draw batch after batch, until the standard error is at most tolerance times the largest value, or
 * the next batch would pass `most` samples. */
static scl_status expect_by_samples(simulation *s, double tolerance, size_t most,
                                    scl_expectation *out, scl_error *error) {
  const size_t entries = s->outputs * s->u * s->n;
  double *memory = scl_allocate_zero((2 * entries + s->n * s->outputs * BATCH + s->u * s->n + 1) *
                                     sizeof *memory),
         largest;
  if (memory == NULL)
    return scl_fail_memory(error, 2 * entries * sizeof *memory, "a Monte Carlo estimate");
  s->sum = memory;
  s->square = memory + entries;
  double *phi = s->square + entries, *products = phi + s->n * s->outputs * BATCH;
  scl_status status = SCL_STATUS_OK;
  do {
    status = scl_interrupt_check(error);
    if (status == SCL_STATUS_OK) status = add_batch(s, phi, products, error);
    out->standard_error = worst_error(s, &largest);
    if (status == SCL_STATUS_OK && !isfinite(out->standard_error))
      status = scl_fail(error, SCL_STATUS_NUMERIC,
                        "the Monte Carlo estimate is not finite after %zu samples: K or phi is too "
                        "large for the sampler's law, and the "
                        "expectation may not exist",
                        s->drawn);
  } while (status == SCL_STATUS_OK && out->standard_error > tolerance * largest &&
           s->drawn + BATCH <= most);
  out->samples = s->drawn;
  if (status == SCL_STATUS_OK)
    status = scl_matrix_create_raw(s->outputs * s->u, s->n, SCL_DTYPE_FLOAT64, &out->values, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < entries; i++)
    ((double *)out->values.data)[i] = s->sum[i] / (double)s->drawn;
  scl_release(memory);
  return status;
}

scl_status scl_expect(const scl_map_spec *spec, const scl_matrix *x, double tolerance, size_t most,
                      scl_expectation *out, scl_error *error) {
  scl_map *map;
  memset(out, 0, sizeof *out);
  if (x->cols != spec->dim)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "X has %zu columns where the parameters are for %zu", x->cols, spec->dim);
  scl_map_spec light = *spec;
  light.samples = 1; /* where this turns out to be Monte Carlo, the batches below do the drawing */
  light.dtype = SCL_DTYPE_FLOAT64;
  SCL_TRY(scl_map_create(&light, &map, error));
  out->method = scl_map_method(map);
  scl_status status;
  if (out->method != SCL_METHOD_MONTE_CARLO) {
    status = expect_by_features(map, x, &out->values, error);
    out->gap = scl_map_quadrature_gap(map);
  } else {
    simulation s = {.spec = spec,
                    .shape = map,
                    .u = scl_map_count(map),
                    .outputs = scl_map_features(map) / scl_map_count(map),
                    .n = x->rows};
    status = scl_matrix_copy(x, SCL_DTYPE_FLOAT64, &s.x, error);
    if (status == SCL_STATUS_OK) status = expect_by_samples(&s, tolerance, most, out, error);
    scl_matrix_release(&s.x);
  }
  scl_map_destroy(map);
  return status;
}

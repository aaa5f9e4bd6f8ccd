/* Kind `sampled`: a nonlinearity with a K, where the mean over the sampler's law p is replaced by
 * the mean over samples w_s of p (Monte Carlo):
 *
 *   Phi(x)_t = 1/S sum_s K(w_s, w_t) phi(<w_s, x>)
 *
 * A map without K makes the features of the samples, and one product mixes them. */
#include "algebra/row_products.h"
#include "base/loops.h"
#include "base/random.h"
#include "map/kinds.h"
#include "plugin/blocks.h"
#include <float.h>
#include <math.h>

enum { DEFAULT_SAMPLES = 4096 }; /* a standard error of 1/64 of the spread of K phi */

/* Refuse a value of K that the dtype of the mixing matrix cannot hold. k is samples x count. */
static scl_status check_mixing(const scl_map *map, const double *k, size_t number,
                               scl_error *error) {
  const double most = FLT_MAX * sqrt((double)number);
  if (map->dtype == SCL_DTYPE_FLOAT64) return SCL_STATUS_OK;
  for (size_t i = 0; i < number * map->count; i++)
    if (fabs(k[i]) > most)
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "kernel.%s: K between sample %zu and parameter %zu is %.3g, too large for "
                      "float32: dtype = \"float64\" holds it",
                      scl_instance_name(map->kernel), i / map->count + 1, i % map->count + 1, k[i]);
  return SCL_STATUS_OK;
}

/* mixing (samples x count) = K(w_s, w_t) / sqrt(samples). The inner map's features carry the other
 * factor 1/sqrt(samples) of the mean. */
static scl_status set_mixing(scl_map *map, const scl_parameter_set *samples, size_t number,
                             scl_error *error) {
  const size_t count = map->count, size = scl_dtype_size(map->dtype);
  scl_parameter_set own = {0};
  double *k = scl_allocate_array(number * count + 1, sizeof *k);
  map->own.sampling.mixing = scl_allocate_array(number * count, size);
  scl_status status =
      k == NULL || map->own.sampling.mixing == NULL
          ? scl_fail_memory(error, number * count * sizeof *k, "Monte Carlo weights")
          : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK) status = scl_map_own_parameters(map, &own, error);
  if (status == SCL_STATUS_OK)
    status = scl_map_gram_between(map, samples, number, "sample", &own, count, "parameter", k,
                                  (ptrdiff_t)count, error);
  if (status == SCL_STATUS_OK) status = check_mixing(map, k, number, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < number * count; i++)
    scl_set_number(map->own.sampling.mixing, map->dtype, i, k[i] / sqrt((double)number));
  scl_parameters_release(&own);
  scl_release(k);
  return status;
}

/* Samples come from another random stream than the parameters, so that both are independent. */
scl_status scl_map_draw_samples(const scl_map *map, uint64_t seed, size_t first, size_t count,
                                scl_parameter_set *out, scl_error *error) {
  scl_layout layout;
  scl_parameter_set drawn;
  SCL_TRY(scl_parameters_layout(map->sampler, map->dim, 0, &layout, error));
  const scl_origin origin = scl_origin_of(map->sampler, map->dim, first + count, seed,
                                          SCL_STREAM_MONTE_CARLO, &map->state);
  SCL_TRY(scl_parameters_draw(&origin, &layout, first, count, map->fan_in, false, &drawn, error));
  scl_status status = SCL_STATUS_OK;
  if (map->phase) status = scl_map_add_phases(seed, SCL_STREAM_SAMPLE_PHASE, first, &drawn, error);
  if (status == SCL_STATUS_OK && scl_space_of(layout.space)->seen == layout.space) {
    *out = drawn;
    return SCL_STATUS_OK;
  }
  if (status == SCL_STATUS_OK)
    status = scl_parameters_dense(&origin, &drawn, scl_parameters_plane(&layout, count), count,
                                  map->fan_in, out, error);
  scl_parameters_release(&drawn);
  return status;
}

/* The slot `make`: draw the samples, make the inner map of them as given parameters, and mix. */
static scl_status sampled_make(scl_map *map, const scl_map_spec *spec,
                               const scl_parameter_set *drawn, scl_error *error) {
  const size_t number = spec->samples == 0 ? DEFAULT_SAMPLES : spec->samples;
  (void)drawn;
  scl_parameter_set samples;
  scl_matrix rows = {0};
  SCL_TRY(scl_map_draw_samples(map, map->seed, 0, number, &samples, error));
  scl_status status = scl_parameters_matrix(&samples, &rows, error);
  const scl_map_spec inner = {.sampler = map->sampler,
                              .phi = map->phi,
                              .dim = map->dim,
                              .seed = map->seed,
                              .dtype = map->dtype,
                              .parameters = &rows,
                              .scale = 1 / sqrt((double)number)};
  if (status == SCL_STATUS_OK) status = scl_map_create(&inner, &map->own.sampling.inner, error);
  if (status == SCL_STATUS_OK) status = set_mixing(map, &samples, number, error);
  scl_matrix_release(&rows);
  scl_parameters_release(&samples);
  return status;
}

/* ------------ applying */

/* Refuse mixed features that are not finite: K and phi are, but their products may overflow. */
static scl_status check_mixture(const scl_map *map, const scl_map_request *request,
                                scl_error *error) {
  const scl_loops *loops = scl_loops_get();
  for (size_t i = 0; i < request->rows; i++)
    for (size_t plane = 0; plane < map->fan_out; plane++) {
      const void *row =
          scl_at(request->phi, map->dtype,
                 (ptrdiff_t)i * request->phi_stride + (ptrdiff_t)(plane * request->count));
      size_t j = 0;
      if (map->dtype == SCL_DTYPE_FLOAT64 && loops->finite_f64(request->count, row)) continue;
      while (j < request->count && isfinite(scl_number(row, map->dtype, j)))
        j++;
      if (j < request->count)
        return scl_fail(error, SCL_STATUS_NUMERIC,
                        "feature %zu, the mean of K phi over samples, is not finite in %s on some "
                        "row, though K and phi are: kernel.%s or nonlinearity.%s is too large",
                        plane * map->count + request->first + j + 1, scl_dtype_name(map->dtype),
                        scl_instance_name(map->kernel), scl_instance_name(map->phi));
    }
  return SCL_STATUS_OK;
}

/* phi (rows x count) = features of the samples (rows x S) times mixing (S x count), for each output
 * of phi. */
static scl_status sampled_apply(const scl_map *map, const scl_map_request *request,
                                scl_error *error) {
  const scl_map *inner = map->own.sampling.inner;
  const size_t width = scl_map_features(inner), size = scl_dtype_size(map->dtype),
               samples = inner->count, rows = request->rows;
  void *features = scl_allocate_array(rows * width, size);
  if (features == NULL) return scl_fail_memory(error, rows * width * size, "Monte Carlo features");
  const scl_map_request of_inner = {.x = request->x,
                                    .csr = request->csr,
                                    .phi = features,
                                    .x_stride = request->x_stride,
                                    .phi_stride = (ptrdiff_t)width,
                                    .rows = rows,
                                    .count = samples};
  scl_status status = scl_map_apply_numbers(inner, &of_inner, error);
  for (size_t plane = 0; status == SCL_STATUS_OK && plane < map->fan_out; plane++)
    scl_row_gemm_parallel(
        map->dtype, false, rows, request->count, samples,
        scl_at(features, map->dtype, (ptrdiff_t)(plane * samples)), (ptrdiff_t)width,
        scl_at(map->own.sampling.mixing, map->dtype, (ptrdiff_t)request->first),
        (ptrdiff_t)map->count,
        scl_at_mutable(request->phi, map->dtype, (ptrdiff_t)(plane * request->count)),
        request->phi_stride);
  if (status == SCL_STATUS_OK) status = check_mixture(map, request, error);
  scl_release(features);
  return status;
}

/* ------------ the other slots */

/* The last kind that is asked: it takes every map with a K. */
static bool sampled_claims(const scl_map *map, const scl_map_spec *spec) {
  (void)map, (void)spec;
  return true;
}

static const scl_map *sampled_inner(const scl_map *map) { return map->own.sampling.inner; }

static void sampled_release(scl_map *map) {
  scl_map_destroy(map->own.sampling.inner);
  scl_release(map->own.sampling.mixing);
}

static size_t sampled_bytes(const scl_map *map) {
  const scl_map *inner = map->own.sampling.inner;
  if (inner == NULL) return 0;
  return scl_map_bytes(inner) + inner->count * map->count * scl_dtype_size(map->dtype);
}

static void sampled_fill_spec(const scl_map *map, scl_map_spec *spec) {
  spec->kernel = map->kernel;
  spec->monte_carlo = true;
  spec->samples = scl_map_samples(map);
}

const scl_map_kind scl_map_kind_sampled = {.name = "sampled",
                                           .method = SCL_METHOD_MONTE_CARLO,
                                           .keeps_parameters = true,
                                           .claims = sampled_claims,
                                           .make = sampled_make,
                                           .release = sampled_release,
                                           .bytes = sampled_bytes,
                                           .fill_spec = sampled_fill_spec,
                                           .features = scl_map_dense_features,
                                           .apply = sampled_apply,
                                           .inner = sampled_inner,
                                           .gram = scl_map_kernel_gram};

size_t scl_map_samples(const scl_map *map) {
  return map->kind != &scl_map_kind_sampled || map->bare ? 0 : map->own.sampling.inner->count;
}

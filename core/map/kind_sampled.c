/* An RKHS weighting by Monte Carlo, where K has no tilt for the sampler's law or phi no smoothing:
 *
 *   Phi(x)_t = (1/S) sum_s K(w_t, w_s) phi(w_s, x),   w_s ~ p, s = 1 .. S
 *
 * All parameters share the samples w_s, so that features are one product: those of an inner map over
 * the samples, without K, times the mixing matrix. */
#include "algebra/dense.h"
#include "base/loops.h"
#include "base/random.h"
#include "map/kinds.h"
#include <float.h>
#include <math.h>

enum { DEFAULT_SAMPLES = 4096 };

/* The value of K that the dtype of the mixing cannot hold, where there is one. */
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

/* mixing (samples x count) = K(w_s, w_t) / samples, undoing the inner map's 1/sqrt(samples). */
static scl_status set_mixing(scl_map *map, const scl_parameter_set *samples, size_t number,
                             scl_error *error) {
  const size_t count = map->count, size = scl_dtype_size(map->dtype);
  scl_parameter_set own = {0};
  double *k = scl_allocate_array(number * count + 1, sizeof *k);
  map->sampled.mixing = scl_allocate_array(number * count, size);
  scl_status status =
      k == NULL || map->sampled.mixing == NULL
          ? scl_fail_memory(error, number * count * sizeof *k, "Monte Carlo weights")
          : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK) status = scl_map_own_parameters(map, &own, error);
  if (status == SCL_STATUS_OK)
    status = scl_map_gram_between(map, samples, number, "sample", &own, count, "parameter", k,
                                  (ptrdiff_t)count, error);
  if (status == SCL_STATUS_OK) status = check_mixing(map, k, number, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < number * count; i++)
    scl_set_number(map->sampled.mixing, map->dtype, i, k[i] / sqrt((double)number));
  scl_parameters_release(&own);
  scl_release(k);
  return status;
}

scl_status scl_map_draw_samples(const scl_map *map, uint64_t seed, size_t first, size_t count,
                                scl_parameter_set *out, scl_error *error) {
  scl_layout layout;
  scl_parameter_set drawn;
  SCL_TRY(scl_parameters_layout(map->sampler, map->dim, 0, &layout, error));
  const scl_origin origin = scl_origin_of(map->sampler, map->dim, first + count, seed,
                                          SCL_STREAM_MONTE_CARLO, &map->state);
  SCL_TRY(scl_parameters_draw(&origin, &layout, first, count, map->fan_in, &drawn, error));
  if (scl_space_of(layout.space)->seen == layout.space) {
    *out = drawn;
    return SCL_STATUS_OK;
  }
  const scl_status status = scl_parameters_dense(
      &origin, &drawn, scl_parameters_plane(&layout, count), count, map->fan_in, out, error);
  scl_parameters_release(&drawn);
  return status;
}

/* A map over samples of p, addressed by another stream than the parameters, without K. */
static scl_status sampled_build(scl_map *map, const scl_map_spec *spec, scl_parameter_set *drawn,
                                scl_error *error) {
  (void)drawn;
  const size_t number = spec->samples == 0 ? DEFAULT_SAMPLES : spec->samples;
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
  if (status == SCL_STATUS_OK) status = scl_map_create(&inner, &map->sampled.inner, error);
  if (status == SCL_STATUS_OK) status = set_mixing(map, &samples, number, error);
  scl_matrix_release(&rows);
  scl_parameters_release(&samples);
  return status;
}

/* K and phi are finite, and their products may not be. */
static scl_status check_mixture(const scl_map *map, size_t first, size_t count, const void *phi,
                                ptrdiff_t stride, size_t rows, scl_error *error) {
  const scl_loops *loops = scl_loops_get();
  for (size_t i = 0; i < rows; i++)
    for (size_t plane = 0; plane < map->fan_out; plane++) {
      const void *row = scl_at(phi, map->dtype, (ptrdiff_t)i * stride + (ptrdiff_t)(plane * count));
      size_t j = 0;
      if (map->dtype == SCL_DTYPE_FLOAT64 && loops->finite_f64(count, row)) continue;
      while (j < count && isfinite(scl_number(row, map->dtype, j)))
        j++;
      if (j < count)
        return scl_fail(error, SCL_STATUS_NUMERIC,
                        "feature %zu, the mean of K phi over samples, is not finite in %s on some "
                        "row, though K and phi are: kernel.%s or nonlinearity.%s is too large",
                        plane * map->count + first + j + 1, scl_dtype_name(map->dtype),
                        scl_instance_name(map->kernel), scl_instance_name(map->phi));
    }
  return SCL_STATUS_OK;
}

/* Features of the samples, then their mixture. */
static scl_status sampled_apply(const scl_map *map, size_t first, size_t count, const void *x,
                                ptrdiff_t x_stride, size_t rows, void *phi, ptrdiff_t phi_stride,
                                scl_error *error) {
  const size_t inner = scl_map_features(map->sampled.inner), size = scl_dtype_size(map->dtype),
               samples = map->sampled.inner->count;
  void *features = scl_allocate_array(rows * inner, size);
  if (features == NULL) return scl_fail_memory(error, rows * inner * size, "Monte Carlo features");
  scl_status status =
      scl_map_apply(map->sampled.inner, x, x_stride, rows, features, (ptrdiff_t)inner, error);
  for (size_t plane = 0; status == SCL_STATUS_OK && plane < map->fan_out; plane++)
    scl_gemm_parallel(map->dtype, false, false, rows, count, samples, 1,
                      scl_at(features, map->dtype, (ptrdiff_t)(plane * samples)), (ptrdiff_t)inner,
                      scl_at(map->sampled.mixing, map->dtype, (ptrdiff_t)first),
                      (ptrdiff_t)map->count, 0,
                      scl_at_mutable(phi, map->dtype, (ptrdiff_t)(plane * count)), phi_stride);
  if (status == SCL_STATUS_OK)
    status = check_mixture(map, first, count, phi, phi_stride, rows, error);
  scl_release(features);
  return status;
}

static size_t sampled_bytes(const scl_map *map) {
  const scl_map *inner = map->sampled.inner;
  return inner == NULL
             ? 0
             : scl_map_bytes(inner) + inner->count * map->count * scl_dtype_size(map->dtype);
}

static void sampled_release(scl_map *map) {
  scl_map_destroy(map->sampled.inner);
  scl_release(map->sampled.mixing);
}

const scl_map_kind scl_map_kind_sampled = {.name = "sampled",
                                           .needs_natural = true,
                                           .has_codes = true,
                                           .check = scl_parts_check_nonlinearity,
                                           .bind = scl_weighting_bind,
                                           .build = sampled_build,
                                           .apply = sampled_apply,
                                           .gram = scl_weighting_gram,
                                           .bytes = sampled_bytes,
                                           .release = sampled_release};

/* An RKHS weighting (Dube and Marchand 2023) where K has a tilt for the sampler's law:
 *
 *   Phi(x)_t = E_{w~p} K(w_t, w) phi(w, x) = c(w_t) S(<w_t', x>, v),   S(m, v) = E phi(N(m, v^2))
 *
 * w_t' = offset + shrink w_t is the tilted parameter, v the standard deviation that is left of z, and
 * S the smoothing of phi: in closed form where phi declares one (method "exact"), else by
 * one-dimensional quadrature. c(w_t) takes the place of the scales s_t. */
#include "map/kinds.h"
#include "map/smoothing.h"
#include "plugin/blocks.h"
#include <math.h>
#include <string.h>

/* Row r of `natural`: how many numbers it has, and the column of number k. */
static size_t degree_of(const scl_map *map, size_t r) {
  const scl_parameters *rows = &map->natural.view;
  size_t degree = 0;
  if (!map->space->by_degree) return rows->reals;
  while (degree < rows->integers && rows->support[r * rows->integers + degree] >= 0)
    degree++;
  return degree;
}
static size_t column_of(const scl_map *map, size_t r, size_t k) {
  const scl_parameters *rows = &map->natural.view;
  return rows->support == NULL ? k : (size_t)rows->support[r * rows->integers + k];
}

/* Tilt row r: its weights into w, squared spreads into v (one an entry; else NULL); returns log c,
 * -infinity where its in-degree has no probability. */
static double tilt_row(const scl_map *map, size_t r, double *w, double *v) {
  const size_t degree = degree_of(map, r), which = map->space->by_degree ? degree : 0;
  const double *from = map->natural.view.weights + r * map->natural.layout.reals;
  const scl_tilt_set *set = which < map->n_tilts ? &map->tilts[which] : NULL;
  if (set == NULL || set->memory == NULL) return -INFINITY;
  const scl_tilt *tilt = &set->tilt;
  double log_c = tilt->log_one + set->log_degree;
  for (size_t k = 0; k < degree; k++) {
    const size_t j = column_of(map, r, k);
    log_c += tilt->log0[j] + (tilt->log1[j] + tilt->log2[j] * from[k]) * from[k];
    w[k] = tilt->offset[j] + tilt->shrink[j] * from[k];
    if (v != NULL) v[k] = tilt->spread[j] * tilt->spread[j];
  }
  return log_c;
}

/* One spread a parameter: that of its column. */
static scl_status set_parameter_spreads(scl_map *map, scl_error *error) {
  const size_t size = scl_dtype_size(map->dtype);
  const double *spread = map->tilts->tilt.spread;
  map->spread.parameter = scl_allocate_array(map->count, size);
  if (map->spread.parameter == NULL) return scl_fail_memory(error, map->count * size, "spreads");
  for (size_t t = 0; t < map->count; t++) {
    const double one = spread[column_of(map, t, 0)];
    scl_set_number(map->spread.parameter, map->dtype, t, one);
    if (one != spread[column_of(map, 0, 0)]) map->spread.stride = 1;
  }
  return SCL_STATUS_OK;
}

static scl_status set_column_spreads(scl_map *map, scl_error *error) {
  const size_t bytes = (map->dim + 1) * sizeof(double);
  map->spread.column = scl_allocate(bytes);
  if (map->spread.column == NULL) return scl_fail_memory(error, bytes, "spreads");
  memcpy(map->spread.column, map->tilts->tilt.spread, map->dim * sizeof(double));
  return SCL_STATUS_OK;
}

/* c(w_t) is the product over the scalars' rows; its largest factor is taken out where it is out of
 * reach: up to there, features keep their true scale, and penalties mean what they say. */
static scl_status set_scales(scl_map *map, const double *log_row, scl_error *error) {
  double *log_c = scl_allocate_array(map->count + 1, sizeof *log_c);
  map->scale = scl_allocate_array(map->count, scl_dtype_size(map->dtype));
  if (log_c == NULL || map->scale == NULL) {
    scl_release(log_c);
    return scl_fail_memory(error, map->count * sizeof *log_c, "feature scales");
  }
  map->log_scale = -INFINITY;
  for (size_t t = 0; t < map->count; t++) {
    log_c[t] = 0;
    for (size_t k = 0; k < map->fan_in; k++)
      log_c[t] += log_row[scl_map_row(map, map->count, t, k)];
    if (!(log_c[t] < INFINITY)) {
      const double found = log_c[t];
      scl_release(log_c);
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "kernel.%s: the factor of parameter %zu, E K(w_%zu, w), is %s: is the "
                      "parameter too large?",
                      scl_instance_name(map->kernel), t + 1, t + 1,
                      isnan(found) ? "nan" : "infinite");
    }
    if (log_c[t] > map->log_scale) map->log_scale = log_c[t];
  }
  if (!isfinite(map->log_scale) || fabs(map->log_scale) <= scl_log_reach(map->dtype))
    map->log_scale = 0;
  for (size_t t = 0; t < map->count; t++)
    scl_set_number(map->scale, map->dtype, t, exp(log_c[t] - map->log_scale));
  scl_release(log_c);
  return SCL_STATUS_OK;
}

/* The projection on tilted rows. Structured ones stay so: shrink and offset go to the columns. */
static scl_status project_tilted(scl_map *map, const scl_parameter_set *drawn,
                                 const scl_parameter_set *tilted, scl_error *error) {
  const scl_tilt *tilt = &map->tilts->tilt;
  const bool structured = map->space->seen != map->layout.space;
  const scl_parameter_set *rows = structured ? drawn : tilted;
  const scl_projection_spec spec = {.origin = &map->origin,
                                    .layout = &rows->layout,
                                    .rows = &rows->view,
                                    .planes = map->pool != NULL ? 1 : map->fan_in,
                                    .dtype = map->dtype,
                                    .factor = structured ? tilt->shrink : NULL,
                                    .offset = structured ? tilt->offset : NULL};
  return scl_projection_create(&spec, &map->projection, error);
}

/* The standard deviation of z: what it depends on is the space's to say. */
static scl_status set_spreads(scl_map *map, const scl_parameter_set *squares, scl_error *error) {
  const scl_projection_spec spec = {.origin = &map->origin,
                                    .layout = &squares->layout,
                                    .rows = &squares->view,
                                    .planes = map->pool != NULL ? 1 : map->fan_in,
                                    .dtype = map->dtype};
  if (map->space->spread == SCL_SPREAD_ENTRY)
    return scl_projection_create(&spec, &map->spread.variance, error);
  return (map->space->spread == SCL_SPREAD_ROW ? set_column_spreads : set_parameter_spreads)(map,
                                                                                             error);
}

/* Weights tilted, scales c(w_t), spreads. */
static scl_status tilt_parameters(scl_map *map, const scl_parameter_set *drawn, scl_error *error) {
  const size_t rows = map->natural.view.count, reals = map->natural.layout.reals;
  const bool entries = map->space->spread == SCL_SPREAD_ENTRY;
  scl_parameter_set tilted = {0}, squares = {0}; /* copies, whose weights are written over */
  double *log_row = scl_allocate_array(rows + 1, sizeof *log_row);
  scl_status status = log_row == NULL
                          ? scl_fail_memory(error, rows * sizeof *log_row, "feature scales")
                          : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK) status = scl_parameters_copy(&map->natural, 0, rows, &tilted, error);
  if (status == SCL_STATUS_OK && entries)
    status = scl_parameters_copy(&map->natural, 0, rows, &squares, error);
  for (size_t r = 0; status == SCL_STATUS_OK && r < rows; r++)
    log_row[r] = tilt_row(map, r, tilted.view.weights + r * reals,
                          entries ? squares.view.weights + r * reals : NULL);
  if (status == SCL_STATUS_OK) status = set_scales(map, log_row, error);
  if (status == SCL_STATUS_OK) status = project_tilted(map, drawn, &tilted, error);
  if (status == SCL_STATUS_OK) status = set_spreads(map, &squares, error);
  scl_release(log_row);
  scl_parameters_release(&tilted);
  scl_parameters_release(&squares);
  return status;
}

/* ------------------------------------------------------------ the kind */

static scl_status start_gap(scl_map *map, scl_error *error) {
  const size_t bytes = sizeof *map->quadrature_gap;
  map->quadrature_gap = scl_allocate(bytes);
  if (map->quadrature_gap == NULL) return scl_fail_memory(error, bytes, "a quadrature");
  atomic_init(map->quadrature_gap, 0);
  return SCL_STATUS_OK;
}

static scl_status weighted_build(scl_map *map, const scl_map_spec *spec, scl_parameter_set *drawn,
                                 scl_error *error) {
  (void)spec;
  if (map->method == SCL_METHOD_QUADRATURE) SCL_TRY(start_gap(map, error));
  return tilt_parameters(map, drawn, error);
}

static scl_status weighted_features(const scl_map *map, const scl_block *z, const scl_spread *v,
                                    const scl_block *out, scl_error *error) {
  const scl_const_block in = scl_block_view(z);
  return map->method == SCL_METHOD_EXACT
             ? scl_nonlinearity_smooth(map->phi, &in, v, out, error)
             : scl_smooth_quadrature(map->phi, &in, v, out, map->quadrature_gap, error);
}

static size_t weighted_bytes(const scl_map *map) {
  return map->spread.variance == NULL ? 0 : scl_projection_bytes(map->spread.variance);
}

static void weighted_release(scl_map *map) {
  scl_projection_destroy(map->spread.variance);
  SCL_RELEASE(map->spread.column, map->spread.parameter, (void *)map->quadrature_gap);
}

const scl_map_kind scl_map_kind_weighted = {.name = "weighted",
                                            .needs_natural = true,
                                            .smooths = true,
                                            .has_codes = true,
                                            .one_by_one = true,
                                            .check = scl_parts_check_nonlinearity,
                                            .bind = scl_weighting_bind,
                                            .build = weighted_build,
                                            .apply = scl_tiles_apply,
                                            .features = weighted_features,
                                            .gram = scl_weighting_gram,
                                            .bytes = weighted_bytes,
                                            .release = weighted_release};

#include "map/map_internal.h"

#include "base/random.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const space_names[SCL_SPACE_COUNT] = {"dense", "sparse", "threshold", "grid",
                                                         "structured"};

const char *scl_method_name(scl_method method) {
  static const char *const names[] = {"direct", "exact", "quadrature", "monte-carlo"};
  return names[method];
}

size_t scl_map_features(const scl_map *map) {
  return map->cells != NULL ? scl_cells_count(map->cells) : map->count * map->fan_out;
}
size_t scl_map_bytes(const scl_map *map) {
  const size_t size = scl_dtype_size(map->dtype),
               natural =
                   map->natural.layout.width * sizeof(double) + map->natural.layout.support * 4;
  size_t bytes = map->count * size + map->natural.view.count * natural +
                 map->count * map->fan_in * sizeof(int32_t);
  if (map->projection != NULL) bytes += scl_projection_bytes(map->projection);
  if (map->variance != NULL) bytes += scl_projection_bytes(map->variance);
  if (map->cells != NULL)
    bytes += scl_cells_bytes(map->cells) + 2 * map->count * map->dim * sizeof(double);
  if (map->inner != NULL)
    bytes += scl_map_bytes(map->inner) + map->inner->count * map->count * size;
  return bytes;
}
size_t scl_map_count(const scl_map *map) {
  return map->count;
}
size_t scl_map_dim(const scl_map *map) {
  return map->dim;
}
size_t scl_map_fan_in(const scl_map *map) {
  return map->fan_in;
}
scl_dtype scl_map_dtype(const scl_map *map) {
  return map->dtype;
}
scl_method scl_map_method(const scl_map *map) {
  return map->method;
}
bool scl_map_has_kernel(const scl_map *map) {
  return map->kernel != NULL;
}
double scl_map_log_scale(const scl_map *map) {
  return map->log_scale;
}
size_t scl_map_samples(const scl_map *map) {
  return map->inner == NULL ? 0 : map->inner->count;
}
size_t scl_map_slots(const scl_map *map) {
  return map->cells != NULL ? map->count : 0;
}
double scl_map_slot_value(const scl_map *map) {
  return 1 / sqrt((double)map->count);
}

/* ---------------------------------------------------------------- composing */

/* "dense, sparse": the spaces of a set. */
static void name_spaces(unsigned spaces, char text[120]) {
  text[0] = 0;
  for (int i = 0; i < SCL_SPACE_COUNT; i++)
    if (spaces & (1u << (unsigned)i))
      (void)snprintf(text + strlen(text), 120 - strlen(text), "%s%s", text[0] ? ", " : "",
                     space_names[i]);
}

static scl_status check_fit(const scl_map *map, scl_error *error) {
  const char *sampler = scl_instance_name(map->sampler), *phi = scl_instance_name(map->phi);
  const scl_space space = map->layout.space;
  if (!(map->shape.spaces & SCL_BIT(space))) {
    char fits[120];
    name_spaces(map->shape.spaces, fits);
    return scl_fail(
        error, SCL_STATUS_UNSUPPORTED,
        "nonlinearity.%s does not go with sampler.%s, whose parameters are %s; it takes %s ones%s",
        phi, sampler, space_names[space], fits,
        map->shape.spaces == SCL_BIT(SCL_SPACE_GRID) ? ", as sampler.grid draws" : "");
  }
  if ((space == SCL_SPACE_GRID) != (map->shape.one_hot != 0))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "nonlinearity.%s on sampler.%s: grids have cells, and cells make one-hot "
                    "features: bins does",
                    phi, sampler);
  if (map->shape.one_hot && scl_instance_ability(map->phi, SCL_ABILITY_CATEGORIES) == NULL)
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "nonlinearity.%s is one-hot and brings no categories", phi);
  if (!map->shape.one_hot && (map->shape.fan_in == 0 || map->shape.fan_out == 0))
    return scl_fail(error, SCL_STATUS_INTERNAL, "nonlinearity.%s takes or gives no numbers", phi);
  if (space == SCL_SPACE_THRESHOLD && map->shape.fan_in > 1)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "nonlinearity.%s takes %zu numbers a parameter, and a threshold gives one", phi,
                    map->shape.fan_in);
  return SCL_STATUS_OK;
}

enum { MOST_FEATURES = 500000000 };

static scl_status check_size(const scl_map_spec *spec, const scl_map *map, scl_error *error) {
  const double features = (double)map->count * (double)map->fan_out,
               size = (double)scl_dtype_size(map->dtype);
  const double bytes = (double)map->count * (double)map->fan_in *
                           (double)(map->layout.width + map->layout.support + 1) * size +
                       features * size;
  char text[32];
  (void)spec;
  if (map->count == 0)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "features: option 'T' got 0; it takes a whole number of at least 1");
  if (bytes > 64e9 || features > MOST_FEATURES)
    return scl_fail(error, SCL_STATUS_NO_MEMORY,
                    "features: T = %zu is absurdly large: its parameters alone would take %s",
                    map->count, scl_bytes_text(bytes, text));
  return SCL_STATUS_OK;
}

/* A random phase for nonlinearities that need one and samplers that bring none. */
static scl_status add_phase(scl_map *map, scl_parameter_set *set, scl_error *error) {
  const size_t count = set->view.count;
  set->view.bias = scl_allocate_array(count + 1, sizeof(double));
  if (set->view.bias == NULL) return scl_fail_memory(error, count * sizeof(double), "phases");
  set->layout.has_bias = map->layout.has_bias = 1;
  for (size_t t = 0; t < count; t++) {
    scl_random_uniform(map->seed, SCL_STREAM_PHASE, t, 0, 1, &set->view.bias[t]);
    set->view.bias[t] = 3.14159265358979323846 * (2 * set->view.bias[t] - 1);
  }
  return SCL_STATUS_OK;
}

/* Shared rows: how many, and which of them each parameter reads. */
static scl_status get_pool(scl_map *map, scl_error *error) {
  const scl_ability_pool *ability = scl_instance_ability(map->sampler, SCL_ABILITY_POOL);
  if (ability == NULL || map->given) return SCL_STATUS_OK;
  const size_t numbers = map->count * map->fan_in;
  map->pool_rows = ability->rows(map->sampler->self, map->count, map->fan_in);
  if (map->pool_rows < map->fan_in)
    return scl_fail(
        error, SCL_STATUS_BAD_OPTION,
        "sampler.%s shares %zu rows, and nonlinearity.%s takes %zu different ones a parameter",
        scl_instance_name(map->sampler), map->pool_rows, scl_instance_name(map->phi), map->fan_in);
  if (map->pool_rows > MOST_FEATURES)
    return scl_fail(error, SCL_STATUS_NO_MEMORY,
                    "sampler.%s shares %zu rows; up to %d can be drawn",
                    scl_instance_name(map->sampler), map->pool_rows, (int)MOST_FEATURES);
  map->pool = scl_allocate_array(numbers + 1, sizeof *map->pool);
  if (map->pool == NULL) return scl_fail_memory(error, numbers * sizeof *map->pool, "pools");
  const scl_address address = {map->seed, SCL_STREAM_PARAMETERS};
  SCL_TRY(scl_instance_prefix(
      map->sampler,
      ability->pool(map->sampler->self, address, 0, map->count, map->fan_in, map->pool, error),
      error));
  for (size_t i = 0; i < numbers; i++)
    if (map->pool[i] < 0 || (size_t)map->pool[i] >= map->pool_rows)
      return scl_fail(error, SCL_STATUS_INTERNAL, "sampler.%s names row %ld of %zu shared ones",
                      scl_instance_name(map->sampler), (long)map->pool[i] + 1, map->pool_rows);
  return SCL_STATUS_OK;
}

static scl_status draw(scl_map *map, scl_parameter_set *out, scl_error *error) {
  const bool shared = map->pool != NULL;
  return scl_parameters_draw(map->sampler, map->dim, map->seed, SCL_STREAM_PARAMETERS, 0,
                             shared ? map->pool_rows : map->count, shared ? 1 : map->fan_in, out,
                             error);
}

/* The rows that the map projects on: given, or drawn, with a phase where one is needed. */
static scl_status get_parameters(scl_map *map, const scl_map_spec *spec, scl_parameter_set *out,
                                 scl_error *error) {
  map->plane = map->count;
  if (spec->parameters != NULL)
    return scl_parameters_from_matrix(&map->layout, map->dim, spec->parameters, out, error);
  SCL_TRY(get_pool(map, error));
  map->plane = scl_parameters_plane(&map->layout, map->count);
  SCL_TRY(draw(map, out, error));
  const bool phase = map->shape.needs_phase && !map->layout.has_bias && spec->kernel == NULL;
  const scl_status status = phase ? add_phase(map, out, error) : SCL_STATUS_OK;
  if (status != SCL_STATUS_OK) scl_parameters_release(out);
  return status;
}

scl_status scl_map_keep_natural(scl_map *map, const scl_parameter_set *drawn, scl_error *error) {
  const size_t rows = map->pool != NULL ? map->pool_rows : map->count,
               planes = map->pool != NULL ? 1 : map->fan_in;
  if (map->layout.space == SCL_SPACE_STRUCTURED)
    return scl_parameters_dense(map->sampler, drawn, scl_parameters_plane(&map->layout, rows), rows,
                                planes, &map->natural, error);
  const scl_parameters *view = &drawn->view;
  SCL_TRY(scl_parameters_reserve(&drawn->layout, map->dim, view->first, view->count, &map->natural,
                                 error));
  memcpy(map->natural.view.weights, view->weights,
         view->count * drawn->layout.width * sizeof(double));
  if (view->support != NULL)
    memcpy(map->natural.view.support, view->support,
           view->count * drawn->layout.support * sizeof(int32_t));
  if (view->bias != NULL) memcpy(map->natural.view.bias, view->bias, view->count * sizeof(double));
  return SCL_STATUS_OK;
}

static scl_status set_constant_scale(scl_map *map, double value, scl_error *error) {
  double *scale = scl_allocate_array(map->count, sizeof *scale);
  for (size_t t = 0; scale != NULL && t < map->count; t++)
    scale[t] = value;
  map->scale = scale == NULL ? NULL : scl_convert(scale, map->count, map->dtype);
  scl_release(scale);
  return map->scale == NULL ? scl_fail_memory(error, map->count * sizeof *scale, "feature scales")
                            : SCL_STATUS_OK;
}

static scl_status compose_ridge(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  scl_parameter_set drawn = {0};
  SCL_TRY(get_parameters(map, spec, &drawn, error));
  scl_status status = spec->kernel != NULL || map->given || spec->keep
                          ? scl_map_keep_natural(map, &drawn, error)
                          : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK && spec->kernel == NULL)
    status = scl_projection_create(map->sampler, &drawn.layout, &drawn.view, map->dtype, NULL, NULL,
                                   &map->projection, error);
  if (status == SCL_STATUS_OK && spec->kernel == NULL)
    status = set_constant_scale(map, 1 / sqrt((double)map->count), error);
  if (status == SCL_STATUS_OK && spec->kernel != NULL)
    status = scl_map_attach_kernel(map, spec, &drawn, error);
  scl_parameters_release(&drawn);
  return status;
}

/* One-hot cells: no projection, a dictionary that learns. */
static scl_status compose_cells(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  if (spec->kernel != NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "nonlinearity.%s does not go with a K: cells of different grids share no "
                    "meaning, so their mean has none; without K it "
                    "estimates the sampler's kernel",
                    scl_instance_name(map->phi));
  scl_parameter_set drawn = {0};
  SCL_TRY(get_parameters(map, spec, &drawn, error));
  scl_status status = scl_cells_create(map->phi, &drawn.view, &map->cells, error);
  if (status == SCL_STATUS_OK && (map->given || spec->keep))
    status = scl_map_keep_natural(map, &drawn, error);
  scl_parameters_release(&drawn);
  return status;
}

static scl_status compose(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  const scl_nonlinearity *phi = scl_instance_vtable(map->phi);
  SCL_TRY(scl_parameters_layout(map->sampler, map->dim, &map->layout, error));
  SCL_TRY(scl_instance_prefix(map->phi, phi->shape(map->phi->self, &map->shape, error), error));
  SCL_TRY(check_fit(map, error));
  map->given = spec->parameters != NULL;
  if (map->given && map->layout.space == SCL_SPACE_STRUCTURED) /* their dense rows */
    map->layout = (scl_layout){SCL_SPACE_DENSE, map->dim, 0, 1, map->layout.has_bias};
  map->fan_in = map->shape.one_hot ? 1 : map->shape.fan_in;
  map->fan_out = map->shape.one_hot ? 1 : map->shape.fan_out;
  map->count = spec->parameters != NULL ? spec->parameters->rows / map->fan_in : spec->count;
  if (spec->parameters != NULL && spec->parameters->rows % map->fan_in != 0)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "%zu rows of parameters, where nonlinearity.%s takes %zu a parameter",
                    spec->parameters->rows, scl_instance_name(map->phi), map->fan_in);
  SCL_TRY(check_size(spec, map, error));
  map->method = SCL_METHOD_DIRECT;
  return map->shape.one_hot ? compose_cells(map, spec, error) : compose_ridge(map, spec, error);
}

scl_status scl_map_create(const scl_map_spec *spec, scl_map **out, scl_error *error) {
  scl_map *map = scl_allocate_zero(sizeof *map);
  if (map == NULL) return scl_fail_memory(error, sizeof *map, "a feature map");
  map->sampler = scl_instance_share(spec->sampler);
  map->phi = scl_instance_share(spec->phi);
  map->dim = spec->dim;
  map->seed = spec->seed;
  map->dtype = spec->dtype;
  const scl_status status = compose(map, spec, error);
  if (status == SCL_STATUS_OK)
    *out = map;
  else
    scl_map_destroy(map);
  return status;
}

scl_status scl_map_draw_again(const scl_map *map, scl_map **out, scl_error *error) {
  const scl_map_spec spec = {.sampler = map->sampler,
                             .phi = map->phi,
                             .dim = map->dim,
                             .count = map->count,
                             .seed = map->seed,
                             .dtype = map->dtype,
                             .keep = true};
  return scl_map_create(&spec, out, error);
}

scl_status scl_map_select(const scl_map *map, const size_t *keep, size_t count, scl_map **out,
                          scl_error *error) {
  scl_matrix all, rows;
  if (map->cells != NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "one-hot features have no parameters to select");
  SCL_TRY(scl_map_parameters(map, &all, error));
  scl_status status =
      scl_matrix_create_raw(count * map->fan_in, all.cols, SCL_DTYPE_FLOAT64, &rows, error);
  if (status == SCL_STATUS_OK) {
    for (size_t k = 0; k < map->fan_in; k++)
      for (size_t i = 0; i < count; i++)
        memcpy(scl_matrix_row(&rows, k * count + i), scl_matrix_row(&all, k * map->count + keep[i]),
               all.cols * sizeof(double));
    const scl_map_spec spec = {.sampler = map->sampler,
                               .phi = map->phi,
                               .kernel = map->kernel,
                               .dim = map->dim,
                               .seed = map->seed,
                               .dtype = map->dtype,
                               .parameters = &rows,
                               .quadrature = map->method == SCL_METHOD_QUADRATURE,
                               .monte_carlo = map->method == SCL_METHOD_MONTE_CARLO,
                               .samples = scl_map_samples(map)};
    status = scl_map_create(&spec, out, error);
    scl_matrix_release(&rows);
  }
  scl_matrix_release(&all);
  return status;
}

scl_status scl_map_create_plain(const scl_map *map, scl_map **out, scl_error *error) {
  scl_map_spec spec = {.sampler = map->sampler,
                       .phi = map->phi,
                       .dim = map->dim,
                       .count = map->count,
                       .seed = map->seed,
                       .dtype = map->dtype};
  if (!map->given) return scl_map_create(&spec, out, error); /* the same draw */
  scl_matrix parameters;
  SCL_TRY(scl_map_parameters(map, &parameters, error));
  spec.parameters = &parameters;
  const scl_status status = scl_map_create(&spec, out, error);
  scl_matrix_release(&parameters);
  return status;
}

void scl_map_destroy(scl_map *map) {
  if (map == NULL) return;
  scl_map_destroy(map->inner);
  scl_release(map->mixing);
  scl_projection_destroy(map->projection);
  scl_projection_destroy(map->variance);
  scl_cells_destroy(map->cells);
  scl_release(map->pool);
  scl_release(map->scale);
  scl_release(map->column_spread);
  scl_release(map->parameter_spread);
  scl_map_release_tilts(map);
  scl_law_release(&map->law);
  scl_parameters_release(&map->natural);
  scl_instance_release(map->sampler);
  scl_instance_release(map->phi);
  scl_instance_release(map->kernel);
  scl_release(map);
}

/* Making maps, and what a map says about itself. */
#include "base/random.h"
#include "base/text.h"
#include "map/drawn_columns.h"
#include "map/kinds.h"
#include <math.h>
#include <string.h>

const char *scl_method_name(scl_method method) {
  static const char *const names[] = {"direct", "exact", "quadrature", "monte-carlo"};
  return names[method];
}

/* ------------ what a map says of itself */

size_t scl_map_features(const scl_map *map) { return map->kind->features(map); }
size_t scl_map_bytes(const scl_map *map) {
  const scl_layout *layout = &map->natural.layout;
  const size_t natural = layout->reals * sizeof(double) + layout->integers * sizeof(int32_t);
  size_t bytes = map->count * scl_dtype_size(map->dtype) + map->natural.view.count * natural +
                 map->count * map->fan_in * sizeof(int32_t) + scl_matrix_bytes(&map->state);
  if (map->projection != NULL) bytes += scl_projection_bytes(map->projection);
  if (map->variance != NULL) bytes += scl_projection_bytes(map->variance);
  return bytes + (map->kind->bytes == NULL ? 0 : map->kind->bytes(map));
}
size_t scl_map_count(const scl_map *map) { return map->count; }
size_t scl_map_dim(const scl_map *map) { return map->dim; }
size_t scl_map_fan_in(const scl_map *map) { return map->fan_in; }
scl_dtype scl_map_dtype(const scl_map *map) { return map->dtype; }
scl_method scl_map_method(const scl_map *map) { return map->kind->method; }
bool scl_map_has_kernel(const scl_map *map) { return map->kind->gram != NULL; }
double scl_map_log_scale(const scl_map *map) { return map->log_scale; }
/* Features for the user are multiplied by exp(log_scale), unless that factor would make them 0. */
double scl_map_left_out(const scl_map *map) {
  return map->log_scale < -scl_log_reach(map->dtype) ? map->log_scale : 0;
}
scl_status scl_map_check_rows(const scl_map *map, const char *what, const scl_matrix *x,
                              scl_error *error) {
  if (x->cols == map->dim) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_SHAPE, "%s: the rows have %zu columns where %zu are taken",
                  what, x->cols, map->dim);
}
/* ------------ sizes */

/* Sizes past these are mistakes: they are refused before anything is drawn. */
enum { MOST_FEATURES = 500000000 };

/* Whether the weights are to be drawn by columns: their law can do so, the features need nothing else
 * of them, and there are too many to be stored. */
static bool draws_by_columns(const scl_map *map, const scl_map_spec *spec) {
  const double bytes = (double)map->count * (double)map->fan_in * (double)map->dim * 8;
  return bytes > scl_drawn_columns_from() && spec->kernel == NULL && !map->bare && !map->given &&
         !spec->keep && scl_instance_kind(map->phi) == SCL_KIND_NONLINEARITY &&
         !(map->shape.flags & SCL_SHAPE_ONE_HOT) && map->layout.space == SCL_SPACE_DENSE &&
         map->layout.block == 1 && !scl_instance_has(map->sampler, SCL_ABILITY_POOL) &&
         scl_sampler_draws_columns(map->sampler, map->layout.has_bias) &&
         !scl_instance_has(map->sampler, SCL_ABILITY_SCALES);
}

/* Bytes of parameters and scales, estimated in double, where products of sizes do not wrap
 * around. */
static scl_status check_size(const scl_map *map, scl_error *error) {
  const double features = (double)map->count * (double)map->fan_out,
               size = (double)scl_dtype_size(map->dtype),
               numbers =
                   map->by_columns ? 1 : (double)(map->layout.reals + map->layout.integers + 1);
  const double bytes = (double)map->count * (double)map->fan_in * numbers * size + features * size;
  char text[32];
  if (bytes > 64e9 || features > MOST_FEATURES)
    return scl_fail(
        error, SCL_STATUS_NO_MEMORY,
        "features: T = %zu is absurdly large: parameters of sampler.%s alone would take "
        "%s",
        map->count, scl_instance_name(map->sampler), scl_bytes_text(bytes, text));
  return SCL_STATUS_OK;
}

/* T: the number of given parameters, or what the sampler's layout says, which repeats the user's T
 * or knows its own. A bare map may have none. */
static scl_status find_count(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  if (map->given) {
    map->count = spec->parameters->rows / map->fan_in;
    if (spec->parameters->rows % map->fan_in == 0) return SCL_STATUS_OK;
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "%zu rows of parameters, where nonlinearity.%s takes %zu a parameter",
                    spec->parameters->rows, scl_instance_name(map->phi), map->fan_in);
  }
  map->count = map->layout.count;
  if (spec->count != 0 && map->count != spec->count)
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "sampler.%s wants %zu parameters where T = %zu was given",
                    scl_instance_name(map->sampler), map->count, spec->count);
  if (map->count > 0 || map->bare) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_OPTION,
                  "features: option 'T' is missing; it takes the number of parameters that "
                  "sampler.%s draws",
                  scl_instance_name(map->sampler));
}

/* ------------ parameters */

scl_status scl_map_add_phases(uint64_t seed, uint64_t stream, size_t first, scl_parameter_set *set,
                              scl_error *error) {
  const size_t count = set->view.count;
  set->view.bias = scl_allocate_array(count + 1, sizeof(double));
  if (set->view.bias == NULL) return scl_fail_memory(error, count * sizeof(double), "phases");
  set->layout.has_bias = 1;
  for (size_t t = 0; t < count; t++) {
    scl_random_uniform(seed, stream, first + t, 0, 1, &set->view.bias[t]);
    set->view.bias[t] = SCL_PI * (2 * set->view.bias[t] - 1);
  }
  return SCL_STATUS_OK;
}

/* Samplers with a pool draw fewer rows than the parameters have scalars, and parameters share them.
 * Set the number of rows and, for each scalar, its row. Given parameters do not share rows. */
static scl_status get_pool(scl_map *map, scl_error *error) {
  const char *name = scl_instance_name(map->sampler);
  const size_t numbers = map->count * map->fan_in;
  if (!scl_instance_has(map->sampler, SCL_ABILITY_POOL) || map->given) return SCL_STATUS_OK;
  SCL_TRY(scl_sampler_pool_rows(map->sampler, map->count, map->fan_in, &map->pool_rows, error));
  if (map->pool_rows < map->fan_in)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "sampler.%s shares %zu rows, and nonlinearity.%s takes %zu different ones a "
                    "parameter",
                    name, map->pool_rows, scl_instance_name(map->phi), map->fan_in);
  if (map->pool_rows > MOST_FEATURES)
    return scl_fail(error, SCL_STATUS_NO_MEMORY,
                    "sampler.%s shares %zu rows; up to %d can be drawn", name, map->pool_rows,
                    (int)MOST_FEATURES);
  map->pool = scl_allocate_array(numbers + 1, sizeof *map->pool);
  if (map->pool == NULL) return scl_fail_memory(error, numbers * sizeof *map->pool, "pools");
  map->origin.draw.total = map->pool_rows;
  const scl_draw draw = scl_origin_draw(&map->origin, 0, 1);
  SCL_TRY(scl_sampler_pool(map->sampler, &draw, 0, map->count, map->fan_in, map->pool, error));
  for (size_t i = 0; i < numbers; i++)
    if (map->pool[i] < 0 || (size_t)map->pool[i] >= map->pool_rows)
      return scl_fail(error, SCL_STATUS_INTERNAL, "sampler.%s names row %ld of %zu shared ones",
                      name, (long)map->pool[i] + 1, map->pool_rows);
  return SCL_STATUS_OK;
}

/* Before parameters are drawn: check the sampler's learnt state, and set pool and plane. */
static scl_status prepare_drawing(scl_map *map, scl_error *error) {
  map->plane = map->count;
  if (map->bare || map->given) return SCL_STATUS_OK;
  if (scl_instance_has(map->sampler, SCL_ABILITY_LEARN) && map->state.storage == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "sampler.%s learns its parameters from rows: fit the features first",
                    scl_instance_name(map->sampler));
  SCL_TRY(get_pool(map, error));
  map->plane = scl_parameters_plane(&map->layout, map->count);
  return SCL_STATUS_OK;
}

/* *out = the rows that the map projects on: given, or drawn, with phases if the map needs them. */
static scl_status get_parameters(scl_map *map, const scl_map_spec *spec, scl_parameter_set *out,
                                 scl_error *error) {
  const bool shared = map->pool != NULL;
  if (map->given)
    return scl_parameters_from_matrix(&map->layout, map->dim, spec->parameters, out, error);
  scl_layout layout = map->layout;
  if (map->phase) layout.has_bias = 0; /* the sampler draws none */
  SCL_TRY(scl_parameters_draw(&map->origin, &layout, 0, shared ? map->pool_rows : map->count,
                              shared ? 1 : map->fan_in, spec->together, out, error));
  const scl_status status =
      map->phase ? scl_map_add_phases(map->seed, SCL_STREAM_PHASE, 0, out, error) : SCL_STATUS_OK;
  if (status != SCL_STATUS_OK) scl_parameters_release(out);
  return status;
}

/* Store the drawn parameters as kernels see them: dense rows in place of structured ones. */
static scl_status keep_natural(scl_map *map, const scl_parameter_set *drawn, scl_error *error) {
  const bool shared = map->pool != NULL;
  const size_t rows = shared ? map->pool_rows : map->count, planes = shared ? 1 : map->fan_in;
  if (map->space->seen == map->layout.space)
    return scl_parameters_copy(drawn, 0, drawn->view.count, &map->natural, error);
  return scl_parameters_dense(&map->origin, drawn, scl_parameters_plane(&map->layout, rows), rows,
                              planes, &map->natural, error);
}

/* One row copied for each scalar, also of rows that several parameters read. */
scl_status scl_map_own_parameters(const scl_map *map, scl_parameter_set *out, scl_error *error) {
  SCL_TRY(scl_parameters_reserve(&map->natural.layout, map->dim, 0, map->count * map->fan_in, out,
                                 error));
  for (size_t k = 0; k < map->fan_in; k++)
    for (size_t t = 0; t < map->count; t++)
      scl_parameters_copy_row(&map->natural, scl_map_row(map, map->count, t, k), out,
                              k * map->count + t);
  return SCL_STATUS_OK;
}

/* ------------ composing */

/* Parameters that share rows have no scales by the sampler: it sees rows, not parameters. */
scl_status scl_map_set_scales(scl_map *map, const scl_parameter_set *drawn, double common,
                              scl_error *error) {
  double *scale = scl_allocate_array(map->count + 1, sizeof *scale);
  if (scale == NULL) return scl_fail_memory(error, map->count * sizeof *scale, "feature scales");
  scl_draw draw = scl_origin_draw(&map->origin, 0, map->fan_in);
  draw.total = map->count;
  const scl_const_parameters view =
      scl_parameters_part_view(&drawn->view, 0, scl_min(map->count, drawn->view.count));
  scl_status status = SCL_STATUS_OK;
  if (common == 0 && map->pool == NULL) {
    status = scl_sampler_scales(map->sampler, &draw, &view, scale, error);
  } else {
    for (size_t t = 0; t < map->count; t++)
      scale[t] = common > 0 ? common : 1 / sqrt((double)map->count);
  }
  if (status == SCL_STATUS_OK && (map->scale = scl_convert(scale, map->count, map->dtype)) == NULL)
    status = scl_fail_memory(error, map->count * sizeof *scale, "feature scales");
  scl_release(scale);
  return status;
}

/* Structured rows become dense ones, of d numbers. */
scl_layout scl_map_seen_layout(const scl_map *map) {
  scl_layout layout = map->layout;
  if (map->space->seen == layout.space) return layout;
  layout.space = map->space->seen;
  layout.reals = scl_space_reals(layout.space, map->dim);
  layout.integers = 0;
  layout.block = 1;
  return layout;
}

/* A kernel as phi makes one feature of one row. */
static scl_status get_shape(scl_map *map, scl_error *error) {
  if (scl_instance_kind(map->phi) != SCL_KIND_KERNEL)
    return scl_nonlinearity_shape(map->phi, &map->shape, error);
  map->shape = (scl_shape){.head = SCL_HEAD(scl_shape),
                           .fan_in = 1,
                           .fan_out = 1,
                           .spaces = SCL_BIT(SCL_SPACE_DENSE) | SCL_BIT(SCL_SPACE_STRUCTURED),
                           .dtypes = SCL_DTYPES_FLOAT};
  return SCL_STATUS_OK;
}

/* Phases are biases that the map adds to a sampler without any. A matrix may lack them, but not
 * with a K, which compares them. */
static bool needs_phase(const scl_map *map, const scl_map_spec *spec) {
  const size_t numbers = map->layout.integers + map->layout.reals;
  if (!(map->shape.flags & SCL_SHAPE_PHASE) || map->layout.has_bias) return false;
  return spec->kernel != NULL || !map->given || spec->parameters->cols == numbers + 1;
}

/* Layout, space, shape and sizes, of parts that fit together; the origin of the parameters. */
static scl_status compose_parts(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  SCL_TRY(scl_parameters_layout(map->sampler, map->dim, spec->count, &map->layout, error));
  map->space = scl_space_of(map->layout.space);
  map->given = spec->parameters != NULL;
  map->bare = spec->bare;
  SCL_TRY(get_shape(map, error));
  SCL_TRY(scl_map_check_parts(map, spec, error));
  const bool one_hot = map->shape.flags & SCL_SHAPE_ONE_HOT;
  map->fan_in = one_hot ? 1 : map->shape.fan_in;
  map->fan_out = one_hot ? 1 : map->shape.fan_out;
  SCL_TRY(find_count(map, spec, error));
  map->by_columns = draws_by_columns(map, spec);
  SCL_TRY(check_size(map, error));
  if (map->given) { /* structured rows in a matrix are the dense ones that they stand for */
    map->layout = scl_map_seen_layout(map);
    map->space = scl_space_of(map->layout.space);
  }
  map->phase = needs_phase(map, spec);
  if (map->phase) map->layout.has_bias = 1;
  if (spec->state != NULL) map->state = scl_matrix_share(spec->state);
  map->origin = scl_origin_of(map->sampler, map->dim, map->count, map->seed, SCL_STREAM_PARAMETERS,
                              &map->state);
  return SCL_STATUS_OK;
}

/* Of a map that draws by columns: parameters with their bias alone. */
static scl_status draw_biases(scl_map *map, scl_parameter_set *out, scl_error *error) {
  scl_layout layout = map->layout;
  layout.reals = 0;
  if (map->phase) layout.has_bias = 0; /* the sampler draws none */
  SCL_TRY(scl_parameters_reserve(&layout, map->dim, 0, map->count * map->fan_in, out, error));
  for (size_t k = 0; out->view.bias != NULL && k < map->fan_in; k++) {
    const scl_draw draw = scl_origin_draw(&map->origin, k, map->fan_in);
    scl_parameters part = scl_parameters_part(&out->view, k * map->count, map->count);
    part.first = 0;
    SCL_TRY(scl_sampler_draw_bias(map->sampler, &draw, &part, error));
  }
  return map->phase ? scl_map_add_phases(map->seed, SCL_STREAM_PHASE, 0, out, error)
                    : SCL_STATUS_OK;
}

/* Draw the parameters, and let the kind make the rest of them. */
static scl_status draw_and_make(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  scl_parameter_set drawn = {0};
  scl_status status = SCL_STATUS_OK;
  if (map->bare) return SCL_STATUS_OK;
  if (map->by_columns)
    status = draw_biases(map, &drawn, error);
  else
    SCL_TRY(get_parameters(map, spec, &drawn, error));
  if (status == SCL_STATUS_OK && (map->kind->keeps_parameters || map->given || spec->keep))
    status = keep_natural(map, &drawn, error);
  if (status == SCL_STATUS_OK) status = map->kind->make(map, spec, &drawn, error);
  scl_parameters_release(&drawn);
  return status;
}

scl_status scl_map_create(const scl_map_spec *spec, scl_map **out, scl_error *error) {
  SCL_TRY(scl_instance_expect(spec->sampler, SCL_KIND_SAMPLER, error));
  if (scl_instance_kind(spec->phi) != SCL_KIND_KERNEL)
    SCL_TRY(scl_instance_expect(spec->phi, SCL_KIND_NONLINEARITY, error));
  if (spec->kernel != NULL) SCL_TRY(scl_instance_expect(spec->kernel, SCL_KIND_KERNEL, error));
  scl_map *map = scl_allocate_zero(sizeof *map);
  if (map == NULL) return scl_fail_memory(error, sizeof *map, "a feature map");
  map->sampler = scl_instance_share(spec->sampler);
  map->phi = scl_instance_share(spec->phi);
  map->dim = spec->dim;
  map->seed = spec->seed;
  map->dtype = spec->dtype;
  map->whole = spec->whole;
  scl_status status = compose_parts(map, spec, error);
  if (status == SCL_STATUS_OK) status = prepare_drawing(map, error);
  if (status == SCL_STATUS_OK) status = scl_map_bind_kernel(map, spec, error);
  if (status == SCL_STATUS_OK) {
    map->kind = scl_map_kind_of(map, spec);
    status = draw_and_make(map, spec, error);
  }
  if (status == SCL_STATUS_OK) status = scl_map_open_grid(map, spec, error);
  if (status == SCL_STATUS_OK)
    *out = map;
  else
    scl_map_destroy(map);
  return status;
}

/* ------------ maps made from maps */

/* Refuse a map that is made of the features of others: it has no parameters. */
static scl_status expect_drawn(const scl_map *map, scl_error *error) {
  if (map->kind == &scl_map_kind_union)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "a union of features has no parameters of its own: its parts have them");
  if (map->kind != &scl_map_kind_staged) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "the features are changed by row stages after them, and have no parameters of "
                  "their own");
}

/* A spec that makes the map again, but for parameters that were given. It borrows from the map. */
static scl_map_spec spec_of(const scl_map *map) {
  scl_map_spec spec = {.sampler = map->sampler,
                       .phi = map->phi,
                       .dim = map->dim,
                       .count = map->count,
                       .seed = map->seed,
                       .dtype = map->dtype,
                       .whole = map->whole,
                       .state = map->state.storage == NULL ? NULL : &map->state};
  if (map->kind->fill_spec != NULL) map->kind->fill_spec(map, &spec);
  return spec;
}

scl_status scl_map_parameters(const scl_map *map, scl_matrix *out, scl_error *error) {
  scl_status status;
  SCL_TRY(expect_drawn(map, error));
  if (map->natural.view.weights == NULL) { /* drawn again, with the phase that the map added */
    scl_map_spec spec = spec_of(map);
    scl_map *again;
    spec.keep = true;
    SCL_TRY(scl_map_create(&spec, &again, error));
    status = scl_map_parameters(again, out, error);
    scl_map_destroy(again);
    return status;
  }
  scl_parameter_set set;
  if (map->pool == NULL) return scl_parameters_matrix(&map->natural, out, error);
  SCL_TRY(scl_map_own_parameters(map, &set, error));
  status = scl_parameters_matrix(&set, out, error);
  scl_parameters_release(&set);
  return status;
}

/* Create from a spec, which gets the map's own parameters as a matrix if they were given. */
static scl_status create_with_own(const scl_map *map, scl_map_spec spec, scl_map **out,
                                  scl_error *error) {
  if (!map->given) return scl_map_create(&spec, out, error); /* the same draw */
  scl_matrix parameters;
  SCL_TRY(scl_map_parameters(map, &parameters, error));
  spec.parameters = &parameters;
  const scl_status status = scl_map_create(&spec, out, error);
  scl_matrix_release(&parameters);
  return status;
}

/* A spec without K and with scale 1. Sections stay whitened. */
scl_status scl_map_create_plain(const scl_map *map, scl_map **out, scl_error *error) {
  SCL_TRY(expect_drawn(map, error));
  scl_map_spec spec = spec_of(map);
  spec.kernel = NULL;
  spec.scale = 1;
  spec.whole = SCL_WHOLE_NONE;
  return create_with_own(map, spec, out, error);
}

scl_status scl_map_create_whitened(const scl_map *map, bool whiten, bool exact, scl_map **out,
                                   scl_error *error) {
  if (map == NULL || !scl_map_is_section(map))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "its features are not kernel sections");
  scl_map_spec spec = spec_of(map);
  spec.whiten = whiten;
  spec.exact = exact;
  if (exact) {
    spec.dtype = SCL_DTYPE_FLOAT64;
    spec.whole = SCL_WHOLE_NONE;
  }
  return create_with_own(map, spec, out, error);
}

/* Give the map `some`, of parameters keep[0 .. count-1], their part of a learnt grid. */
static scl_status select_grid(const scl_map *map, const size_t *keep, size_t count, scl_map *some,
                              scl_error *error) {
  scl_matrix all, kept;
  const size_t d = scl_map_features(some);
  if (!scl_map_lacks_grid(some) || map->grid == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_map_grid(map, &all, error));
  scl_status status = scl_matrix_create_raw(2, d, SCL_DTYPE_FLOAT64, &kept, error);
  if (status == SCL_STATUS_OK) {
    for (size_t r = 0; r < 2; r++)
      for (size_t j = 0; j < d; j++)
        scl_matrix_row(&kept, r)[j] =
            scl_matrix_row(&all, r)[j / count * map->count + keep[j % count]];
    status = scl_map_take_grid(some, &kept, error);
    scl_matrix_release(&kept);
  }
  scl_matrix_release(&all);
  return status;
}

/* The parameters kept are given to the new map as a matrix; plane k of the matrix has scalar k of
 * each parameter. */
scl_status scl_map_select(const scl_map *map, const size_t *keep, size_t count, scl_map **out,
                          scl_error *error) {
  scl_matrix all, rows;
  SCL_TRY(expect_drawn(map, error));
  if (map->kind->apply == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "one-hot features have no parameters to select");
  SCL_TRY(scl_map_parameters(map, &all, error));
  scl_status status =
      scl_matrix_create_raw(count * map->fan_in, all.cols, SCL_DTYPE_FLOAT64, &rows, error);
  if (status == SCL_STATUS_OK) {
    for (size_t k = 0; k < map->fan_in; k++)
      for (size_t i = 0; i < count; i++)
        memcpy(scl_matrix_row(&rows, k * count + i), scl_matrix_row(&all, k * map->count + keep[i]),
               all.cols * sizeof(double));
    scl_map_spec spec = spec_of(map);
    spec.count = 0;
    spec.parameters = &rows;
    status = scl_map_create(&spec, out, error);
    scl_matrix_release(&rows);
    if (status == SCL_STATUS_OK &&
        (status = select_grid(map, keep, count, *out, error)) != SCL_STATUS_OK)
      scl_map_destroy(*out);
  }
  scl_matrix_release(&all);
  return status;
}

scl_map *scl_map_share(scl_map *map) {
  (void)atomic_fetch_add(&map->references, 1);
  return map;
}

void scl_map_destroy(scl_map *map) {
  if (map == NULL || atomic_fetch_sub(&map->references, 1) > 0) return;
  if (map->kind != NULL && map->kind->release != NULL) map->kind->release(map);
  scl_projection_destroy(map->projection);
  scl_projection_destroy(map->variance);
  SCL_RELEASE(map->pool, map->scale);
  scl_map_close_grid(map);
  scl_map_release_tilts(map);
  scl_law_release(&map->law);
  scl_parameters_release(&map->natural);
  scl_matrix_release(&map->state);
  scl_instance_release(map->sampler);
  scl_instance_release(map->phi);
  scl_instance_release(map->kernel);
  scl_release(map);
}

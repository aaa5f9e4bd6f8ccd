#include "base/random.h"
#include "base/text.h"
#include "map/map_internal.h"
#include "plugin/registry.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *scl_method_name(scl_method method) {
  static const char *const names[] = {"direct", "exact", "quadrature", "monte-carlo"};
  return names[method];
}

/* ------------------------------------------------------------ what a map says of itself */

size_t scl_map_features(const scl_map *map) {
  return map->cells != NULL ? scl_cells_count(map->cells) : map->count * map->fan_out;
}
size_t scl_map_bytes(const scl_map *map) {
  const scl_layout *layout = &map->natural.layout;
  const size_t size = scl_dtype_size(map->dtype),
               natural = layout->reals * sizeof(double) + layout->integers * sizeof(int32_t);
  size_t bytes = map->count * size + map->natural.view.count * natural +
                 map->count * map->fan_in * sizeof(int32_t) + scl_matrix_bytes(&map->state);
  if (map->projection != NULL) bytes += scl_projection_bytes(map->projection);
  if (map->variance != NULL) bytes += scl_projection_bytes(map->variance);
  if (map->whitening != NULL) bytes += map->count * map->count * sizeof(double);
  if (map->pilot != NULL) bytes += (map->count + 1) * map->dim * sizeof(double);
  if (map->cells != NULL)
    bytes += scl_cells_bytes(map->cells) + 2 * map->count * map->dim * sizeof(double);
  if (map->inner != NULL)
    bytes += scl_map_bytes(map->inner) + map->inner->count * map->count * size;
  return bytes;
}
size_t scl_map_count(const scl_map *map) { return map->count; }
size_t scl_map_dim(const scl_map *map) { return map->dim; }
size_t scl_map_fan_in(const scl_map *map) { return map->fan_in; }
scl_dtype scl_map_dtype(const scl_map *map) { return map->dtype; }
scl_method scl_map_method(const scl_map *map) { return map->method; }
bool scl_map_has_kernel(const scl_map *map) { return map->kernel != NULL || map->section; }
bool scl_map_is_section(const scl_map *map) { return map->section; }
bool scl_map_is_whitened(const scl_map *map) { return map->whitening != NULL; }
double scl_map_jitter(const scl_map *map) { return map->jitter; }
double scl_map_log_scale(const scl_map *map) { return map->log_scale; }
double scl_map_left_out(const scl_map *map) {
  return map->log_scale < -scl_log_reach(map->dtype) ? map->log_scale : 0;
}
scl_status scl_map_check_rows(const scl_map *map, const char *what, const scl_matrix *x,
                              scl_error *error) {
  if (x->cols == map->dim) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_SHAPE, "%s: the rows have %zu columns where %zu are taken",
                  what, x->cols, map->dim);
}
size_t scl_map_samples(const scl_map *map) { return map->inner == NULL ? 0 : map->inner->count; }
double scl_map_quadrature_gap(const scl_map *map) {
  return map->quadrature_gap == NULL ? 0 : atomic_load(map->quadrature_gap);
}
size_t scl_map_entries(const scl_map *map) { return map->cells != NULL ? map->count : 0; }
double scl_map_entry_value(const scl_map *map) { return 1 / sqrt((double)map->count); }

/* ------------------------------------------------------------ whether the parts fit together */

/* "dense, sparse or grid": the spaces of a set. */
static const char *spaces_text(uint32_t spaces, char text[120]) {
  size_t used = 0;
  text[0] = 0;
  for (scl_space i = 0; i < scl_space_count(); i++) {
    if (!(spaces & SCL_BIT(i))) continue;
    const bool last = spaces >> i >> 1 == 0;
    used = scl_append(text, 120, used, used == 0 ? "" : last ? " or " : ", ");
    used = scl_append(text, 120, used, scl_space_name(i));
  }
  return text;
}

/* The tag of samplers whose parameters are rows of data: kernels take them. */
static const char *const ROWS_TAG = "landmarks";

/* ------------------------------------------------------------ what goes with a tag, in words */

typedef struct takers {
  const char *tag; /* of a sampler; or the tags of a nonlinearity, "a|b" */
  char *text;
  size_t size, used, dim;
} takers;

static void add_taker(takers *t, const char *kind, const char *name) {
  if (t->used + strlen(kind) + strlen(name) + 4 > t->size) return;
  t->used = scl_append(t->text, t->size, t->used, t->used > 0 ? ", " : "");
  t->used = scl_append(t->text, t->size, t->used, kind);
  t->used = scl_append(t->text, t->size, t->used, ".");
  t->used = scl_append(t->text, t->size, t->used, name);
}

/* Nonlinearities whose descriptor names the tag. What does not load is passed over. */
static void find_taker(void *context, scl_kind kind, const char *name, const char *path,
                       scl_plugin_origin origin) {
  takers *t = context;
  const scl_component *component;
  (void)path;
  (void)origin;
  if (kind != SCL_KIND_NONLINEARITY) return;
  if (scl_registry_find(kind, name, &component, NULL) != SCL_STATUS_OK) return;
  const scl_nonlinearity *table = component->vtable;
  if (table->tags != NULL && scl_word_place(table->tags, t->tag) >= 0)
    add_taker(t, scl_kind_name(kind), name);
}

/* Samplers whose layout, with default options, has one of the tags. */
static void find_tagged(void *context, scl_kind kind, const char *name, const char *path,
                        scl_plugin_origin origin) {
  takers *t = context;
  scl_instance *sampler;
  scl_layout layout;
  (void)path;
  (void)origin;
  if (kind != SCL_KIND_SAMPLER) return;
  if (scl_instance_from_text(scl_kind_name(kind), name, &sampler, NULL) != SCL_STATUS_OK) return;
  if (scl_sampler_layout(sampler, t->dim, 0, &layout, NULL) == SCL_STATUS_OK &&
      layout.tag != NULL && scl_word_place(t->tag, layout.tag) >= 0)
    add_taker(t, scl_kind_name(kind), name);
  scl_instance_release(sampler);
}

/* "nonlinearity.NAME, ...", or kernels as phi. */
static void takers_text(const char *tag, char *text, size_t size) {
  takers found = {.tag = tag, .text = text, .size = size};
  text[0] = 0;
  (void)scl_registry_each(find_taker, &found, NULL);
  if (strcmp(tag, ROWS_TAG) == 0)
    (void)scl_append(text, size, found.used,
                     found.used > 0 ? ", and kernels as phi, sc.kernel.NAME{}"
                                    : "kernels as phi, sc.kernel.NAME{}");
  else if (found.used == 0)
    (void)scl_append(text, size, 0, "no nonlinearity that is installed");
}

static scl_status refuse_tag(const scl_map *map, scl_error *error) {
  const char *tag = map->layout.tag, *kind = scl_kind_name(scl_instance_kind(map->phi));
  const char *phi = scl_instance_name(map->phi), *sampler = scl_instance_name(map->sampler);
  char text[400] = "";
  if (tag != NULL) {
    takers_text(tag, text, sizeof text);
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "%s.%s does not go with sampler.%s, which goes with %s", kind, phi, sampler,
                    text);
  }
  takers found = {.tag = map->shape.tags, .text = text, .size = sizeof text, .dim = map->dim};
  (void)scl_registry_each(find_tagged, &found, NULL);
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "%s.%s does not go with sampler.%s; it goes with %s", kind, phi, sampler,
                  found.used > 0 ? text : "no sampler that is installed");
}

static scl_status check_section(const scl_map *map, scl_error *error) {
  const char *phi = scl_instance_name(map->phi), *sampler = scl_instance_name(map->sampler);
  const char *tag = map->layout.tag;
  const bool rows = map->layout.space == SCL_SPACE_DENSE || scl_sampler_has_rows(map->sampler);
  if (tag != NULL && strcmp(tag, ROWS_TAG) != 0) return refuse_tag(map, error);
  if (map->space->seen != SCL_SPACE_DENSE || !rows)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "kernel.%s as phi makes features k(w, x) of rows w, and sampler.%s draws %s",
                    phi, sampler, map->space->rows);
  if (!(scl_kernel_spaces(map->phi) & SCL_BIT(SCL_SPACE_DENSE)))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "kernel.%s is not defined on rows of data", phi);
  if (map->layout.has_bias)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "kernel.%s as phi takes rows without a bias: bias = \"none\"", phi);
  return SCL_STATUS_OK;
}

static scl_status check_nonlinearity(const scl_map *map, scl_error *error) {
  const char *sampler = scl_instance_name(map->sampler), *phi = scl_instance_name(map->phi);
  const bool one_hot = map->shape.flags & SCL_SHAPE_ONE_HOT;
  char fits[120];
  if (!(map->shape.spaces & SCL_BIT(map->layout.space)))
    return scl_fail(
        error, SCL_STATUS_UNSUPPORTED,
        "nonlinearity.%s does not go with sampler.%s, which draws %s; it takes %s parameters", phi,
        sampler, map->space->rows, spaces_text(map->shape.spaces, fits));
  if (!scl_shape_takes_tag(&map->shape, map->layout.tag)) return refuse_tag(map, error);
  if (map->space->cells != one_hot)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "nonlinearity.%s on sampler.%s: %s have cells, and cells make one-hot features",
                    phi, sampler, map->space->cells ? map->space->rows : "grids alone");
  if (one_hot && !scl_nonlinearity_has_categories(map->phi))
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "nonlinearity.%s is one-hot and brings no categories", phi);
  if (!one_hot && map->shape.fan_in == SCL_FAN_IN_ALL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "nonlinearity.%s takes all numbers of a grid, and sampler.%s draws %s", phi,
                    sampler, map->space->rows);
  if (!map->space->several && map->shape.fan_in > 1)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "nonlinearity.%s takes %u numbers a parameter, and %s give one", phi,
                    map->shape.fan_in, map->space->rows);
  return SCL_STATUS_OK;
}

enum { MOST_FEATURES = 500000000 };

static scl_status check_size(const scl_map *map, scl_error *error) {
  const double features = (double)map->count * (double)map->fan_out,
               size = (double)scl_dtype_size(map->dtype),
               numbers = (double)(map->layout.reals + map->layout.integers + 1);
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

/* T: given, said by the sampler, or missing. */
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

/* ------------------------------------------------------------ parameters */

/* A random phase for nonlinearities that need one and samplers that bring none. */
static scl_status add_phase(scl_map *map, scl_parameter_set *set, scl_error *error) {
  const size_t count = set->view.count;
  set->view.bias = scl_allocate_array(count + 1, sizeof(double));
  if (set->view.bias == NULL) return scl_fail_memory(error, count * sizeof(double), "phases");
  set->layout.has_bias = map->layout.has_bias = 1;
  for (size_t t = 0; t < count; t++) {
    scl_random_uniform(map->seed, SCL_STREAM_PHASE, t, 0, 1, &set->view.bias[t]);
    set->view.bias[t] = SCL_PI * (2 * set->view.bias[t] - 1);
  }
  return SCL_STATUS_OK;
}

/* Shared rows: how many, and which of them each parameter reads. */
static scl_status get_pool(scl_map *map, scl_error *error) {
  const char *name = scl_instance_name(map->sampler);
  const size_t numbers = map->count * map->fan_in;
  if (!scl_sampler_has_pool(map->sampler) || map->given) return SCL_STATUS_OK;
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

/* The rows that the map projects on: given, or drawn, with a phase where one is needed. */
static scl_status get_parameters(scl_map *map, const scl_map_spec *spec, scl_parameter_set *out,
                                 scl_error *error) {
  map->plane = map->count;
  if (map->given)
    return scl_parameters_from_matrix(&map->layout, map->dim, spec->parameters, out, error);
  if (scl_sampler_learns(map->sampler) && map->state.storage == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "sampler.%s learns its parameters from rows: fit the features first",
                    scl_instance_name(map->sampler));
  SCL_TRY(get_pool(map, error));
  map->plane = scl_parameters_plane(&map->layout, map->count);
  const bool shared = map->pool != NULL;
  SCL_TRY(scl_parameters_draw(&map->origin, &map->layout, 0, shared ? map->pool_rows : map->count,
                              shared ? 1 : map->fan_in, out, error));
  const bool phase =
      map->shape.flags & SCL_SHAPE_PHASE && !map->layout.has_bias && spec->kernel == NULL;
  const scl_status status = phase ? add_phase(map, out, error) : SCL_STATUS_OK;
  if (status != SCL_STATUS_OK) scl_parameters_release(out);
  return status;
}

scl_status scl_map_keep_natural(scl_map *map, const scl_parameter_set *drawn, scl_error *error) {
  const bool shared = map->pool != NULL;
  const size_t rows = shared ? map->pool_rows : map->count, planes = shared ? 1 : map->fan_in;
  if (map->space->seen == map->layout.space)
    return scl_parameters_copy(drawn, 0, drawn->view.count, &map->natural, error);
  return scl_parameters_dense(&map->origin, drawn, scl_parameters_plane(&map->layout, rows), rows,
                              planes, &map->natural, error);
}

scl_status scl_map_own_parameters(const scl_map *map, scl_parameter_set *out, scl_error *error) {
  SCL_TRY(scl_parameters_reserve(&map->natural.layout, map->dim, 0, map->count * map->fan_in, out,
                                 error));
  for (size_t k = 0; k < map->fan_in; k++)
    for (size_t t = 0; t < map->count; t++)
      scl_parameters_copy_row(&map->natural, scl_map_row(map, map->count, t, k), out,
                              k * map->count + t);
  return SCL_STATUS_OK;
}

scl_status scl_map_parameters(const scl_map *map, scl_matrix *out, scl_error *error) {
  scl_parameter_set set;
  if (map->natural.view.weights == NULL) { /* drawn again, with the phase that the map added */
    scl_map *again;
    SCL_TRY(scl_map_draw_again(map, &again, error));
    const scl_status status = scl_map_parameters(again, out, error);
    scl_map_destroy(again);
    return status;
  }
  if (map->cells != NULL) return scl_parameters_matrix(&map->natural, out, error);
  SCL_TRY(scl_map_own_parameters(map, &set, error));
  const scl_status status = scl_parameters_matrix(&set, out, error);
  scl_parameters_release(&set);
  return status;
}

/* ------------------------------------------------------------ composing */

/* s_t of every parameter, in the map's dtype. */
static scl_status set_scales(scl_map *map, const scl_parameter_set *drawn, double common,
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

static scl_status compose_ridge(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  scl_parameter_set drawn = {0};
  if (map->bare)
    return spec->kernel == NULL ? SCL_STATUS_OK : scl_map_attach_kernel(map, spec, NULL, error);
  SCL_TRY(get_parameters(map, spec, &drawn, error));
  const scl_projection_spec projection = {.origin = &map->origin,
                                          .layout = &drawn.layout,
                                          .rows = &drawn.view,
                                          .planes = map->pool != NULL ? 1 : map->fan_in,
                                          .dtype = map->dtype};
  scl_status status = SCL_STATUS_OK;
  if (spec->kernel != NULL || map->given || spec->keep)
    status = scl_map_keep_natural(map, &drawn, error);
  if (status == SCL_STATUS_OK && spec->kernel != NULL) {
    status = scl_map_attach_kernel(map, spec, &drawn, error);
  } else if (status == SCL_STATUS_OK) {
    status = scl_projection_create(&projection, &map->projection, error);
    if (status == SCL_STATUS_OK) status = set_scales(map, &drawn, spec->scale, error);
  }
  scl_parameters_release(&drawn);
  return status;
}

/* One-hot cells: no projection, a dictionary that learns. */
static scl_status compose_cells(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  if (spec->kernel != NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "nonlinearity.%s does not go with a K: cells of different grids share no "
                    "meaning, so their mean has none; without K it estimates the sampler's kernel",
                    scl_instance_name(map->phi));
  if (map->bare) return SCL_STATUS_OK;
  scl_parameter_set drawn = {0};
  SCL_TRY(get_parameters(map, spec, &drawn, error));
  scl_status status = scl_cells_create(map->phi, &drawn.view, &map->cells, error);
  if (status == SCL_STATUS_OK && (map->given || spec->keep))
    status = scl_map_keep_natural(map, &drawn, error);
  scl_parameters_release(&drawn);
  return status;
}

/* Rows that parameters share become rows of each. */
static scl_status unshare(scl_map *map, scl_error *error) {
  scl_parameter_set own;
  if (map->pool == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_map_own_parameters(map, &own, error));
  scl_parameters_release(&map->natural);
  map->natural = own;
  scl_release(map->pool);
  map->pool = NULL;
  return SCL_STATUS_OK;
}

/* Kernel sections: the rows w_t themselves. */
static scl_status compose_section(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  if (spec->kernel != NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "kernel.%s as phi makes features k(w, x), whose K is k itself: leave K out",
                    scl_instance_name(map->phi));
  if (map->bare) return scl_section_compose(map, spec, error);
  scl_parameter_set drawn = {0};
  SCL_TRY(get_parameters(map, spec, &drawn, error));
  scl_status status = scl_map_keep_natural(map, &drawn, error);
  scl_parameters_release(&drawn);
  if (status == SCL_STATUS_OK) status = unshare(map, error);
  if (status == SCL_STATUS_OK) status = scl_section_compose(map, spec, error);
  return status;
}

scl_layout scl_map_seen_layout(const scl_map *map) {
  scl_layout layout = map->layout;
  if (map->space->seen == layout.space) return layout;
  layout.space = map->space->seen;
  layout.reals = scl_space_reals(layout.space, map->dim);
  layout.integers = 0;
  layout.block = 1;
  return layout;
}

/* Structured rows that come as a matrix are the dense ones that they stand for. */
static void see_as_dense(scl_map *map) {
  map->layout = scl_map_seen_layout(map);
  map->space = scl_space_of(map->layout.space);
}

static scl_status get_shape(scl_map *map, scl_error *error) {
  map->section = scl_instance_kind(map->phi) == SCL_KIND_KERNEL;
  if (!map->section) return scl_nonlinearity_shape(map->phi, &map->shape, error);
  map->shape = (scl_shape){.head = SCL_HEAD(scl_shape),
                           .fan_in = 1,
                           .fan_out = 1,
                           .spaces = SCL_BIT(SCL_SPACE_DENSE) | SCL_BIT(SCL_SPACE_STRUCTURED),
                           .dtypes = SCL_DTYPES_FLOAT};
  return SCL_STATUS_OK;
}

static scl_status check_kinds(const scl_map_spec *spec, scl_error *error) {
  SCL_TRY(scl_instance_expect(spec->sampler, SCL_KIND_SAMPLER, error));
  if (scl_instance_kind(spec->phi) != SCL_KIND_KERNEL)
    SCL_TRY(scl_instance_expect(spec->phi, SCL_KIND_NONLINEARITY, error));
  return spec->kernel == NULL ? SCL_STATUS_OK
                              : scl_instance_expect(spec->kernel, SCL_KIND_KERNEL, error);
}

static scl_status compose(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  SCL_TRY(scl_parameters_layout(map->sampler, map->dim, spec->count, &map->layout, error));
  map->space = scl_space_of(map->layout.space);
  SCL_TRY(get_shape(map, error));
  SCL_TRY((map->section ? check_section : check_nonlinearity)(map, error));
  map->given = spec->parameters != NULL;
  map->bare = spec->bare;
  const bool one_hot = map->shape.flags & SCL_SHAPE_ONE_HOT;
  map->fan_in = one_hot ? 1 : map->shape.fan_in;
  map->fan_out = one_hot ? 1 : map->shape.fan_out;
  SCL_TRY(find_count(map, spec, error));
  SCL_TRY(check_size(map, error));
  if (map->given) see_as_dense(map);
  if (spec->state != NULL) map->state = scl_matrix_share(spec->state);
  map->origin = scl_origin_of(map->sampler, map->dim, map->count, map->seed, SCL_STREAM_PARAMETERS,
                              &map->state);
  map->method = SCL_METHOD_DIRECT;
  if (map->section) return compose_section(map, spec, error);
  return (one_hot ? compose_cells : compose_ridge)(map, spec, error);
}

scl_status scl_map_create(const scl_map_spec *spec, scl_map **out, scl_error *error) {
  SCL_TRY(check_kinds(spec, error));
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

/* ------------------------------------------------------------ maps made from maps */

/* What made the map, without K. */
static scl_map_spec spec_of(const scl_map *map) {
  return (scl_map_spec){.sampler = map->sampler,
                        .phi = map->phi,
                        .dim = map->dim,
                        .count = map->count,
                        .seed = map->seed,
                        .dtype = map->dtype,
                        .state = map->state.storage == NULL ? NULL : &map->state,
                        .whiten = map->whitening != NULL};
}

scl_status scl_map_draw_again(const scl_map *map, scl_map **out, scl_error *error) {
  scl_map_spec spec = spec_of(map);
  spec.keep = true;
  return scl_map_create(&spec, out, error);
}

/* The spec with the map's own parameters as a matrix, where they were given. */
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

scl_status scl_map_create_plain(const scl_map *map, scl_map **out, scl_error *error) {
  scl_map_spec spec = spec_of(map);
  spec.scale = 1;
  return create_with_own(map, spec, out, error);
}

scl_status scl_map_create_whitened(const scl_map *map, bool whiten, scl_map **out,
                                   scl_error *error) {
  scl_map_spec spec = spec_of(map);
  spec.whiten = whiten;
  return create_with_own(map, spec, out, error);
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
    scl_map_spec spec = spec_of(map);
    spec.kernel = map->kernel;
    spec.count = 0;
    spec.parameters = &rows;
    spec.quadrature = map->method == SCL_METHOD_QUADRATURE;
    spec.monte_carlo = map->method == SCL_METHOD_MONTE_CARLO;
    spec.samples = scl_map_samples(map);
    status = scl_map_create(&spec, out, error);
    scl_matrix_release(&rows);
  }
  scl_matrix_release(&all);
  return status;
}

void scl_map_destroy(scl_map *map) {
  if (map == NULL) return;
  scl_map_destroy(map->inner);
  scl_release(map->mixing);
  scl_projection_destroy(map->projection);
  scl_projection_destroy(map->variance);
  scl_cells_destroy(map->cells);
  SCL_RELEASE(map->pool, map->scale, map->column_spread, map->parameter_spread,
              (void *)map->quadrature_gap, map->whitening, map->pilot);
  scl_map_release_tilts(map);
  scl_law_release(&map->law);
  scl_parameters_release(&map->natural);
  scl_matrix_release(&map->state);
  scl_instance_release(map->sampler);
  scl_instance_release(map->phi);
  scl_instance_release(map->kernel);
  scl_release(map);
}

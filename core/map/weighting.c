/* The part of a map that K brings (Dube and Marchand 2023): tilted parameters and their scales, G,
 * Monte Carlo where there is no tilt. */
#include "algebra/dense.h"
#include "base/pool.h"
#include "base/random.h"
#include "map/map_internal.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* The kernel between parameters: K, or of kernel sections phi itself. */
static const scl_instance *kernel_of(const scl_map *map) {
  return map->section ? map->phi : map->kernel;
}

static scl_status check_kernel(const scl_map *map, const scl_map_spec *spec, scl_error *error) {
  const char *kernel = scl_instance_name(spec->kernel), *sampler = scl_instance_name(map->sampler);
  if (!(scl_kernel_spaces(spec->kernel) & SCL_BIT(map->space->seen)))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "kernel.%s is not defined on the parameters of sampler.%s", kernel, sampler);
  if (map->space->seen != map->layout.space && !scl_sampler_has_rows(map->sampler))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "kernel.%s compares weights w, and sampler.%s has none", kernel, sampler);
  if (map->layout.has_bias)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "an instantiation with K takes a sampler without a bias, because K compares "
                    "the weights alone: bias = \"none\", and sc.add_bias() before the features "
                    "gives every parameter a constant term");
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ the tilt */

void scl_map_release_tilts(scl_map *map) {
  for (size_t i = 0; map->tilts != NULL && i < map->n_tilts; i++)
    scl_release(map->tilts[i].memory);
  scl_release(map->tilts);
  map->tilts = NULL;
  map->n_tilts = 0;
}

static scl_status get_tilt(scl_map *map, const scl_law *law, scl_tilt_set *out, scl_error *error) {
  const size_t numbers = SCL_TILT_LISTS * map->dim;
  out->memory = scl_allocate_zero((numbers + 1) * sizeof(double));
  if (out->memory == NULL) return scl_fail_memory(error, numbers * sizeof(double), "a tilt");
  out->tilt = scl_tilt_in(out->memory, map->dim);
  return scl_kernel_tilt(map->kernel, law, &out->tilt, error);
}

/* A tilt for each in-degree, asked for with the law that has this one alone. */
static scl_status get_degree_tilts(scl_map *map, scl_error *error) {
  const size_t d = map->dim;
  const scl_law *all = &map->law.law;
  double *memory = scl_allocate_zero((3 * d + 3) * sizeof *memory);
  if (memory == NULL)
    return scl_fail_memory(error, 3 * d * sizeof *memory, "the law of an in-degree");
  scl_status status = SCL_STATUS_OK;
  for (size_t s = 0; status == SCL_STATUS_OK && s < map->n_tilts; s++) {
    if (!(all->degree[s] > 0)) continue;
    scl_law one = *all;
    one.scale = memory;
    one.degree = memory + d;
    one.degree_scale = memory + 2 * d + 1;
    memset(memory, 0, (3 * d + 3) * sizeof *memory);
    for (size_t j = 0; j < d; j++)
      one.scale[j] = all->scale[j] * all->degree_scale[s];
    one.degree[s] = 1;
    one.degree_scale[s] = 1;
    one.max_degree = s;
    map->tilts[s].log_degree = log(all->degree[s]);
    status = get_tilt(map, &one, &map->tilts[s], error);
  }
  scl_release(memory);
  return status;
}

/* SCL_STATUS_UNSUPPORTED, without a sentence, where there is no closed form. */
static scl_status get_tilts(scl_map *map, scl_error *error) {
  const bool by_degree = map->space->by_degree;
  if (!scl_kernel_has_tilt(map->kernel)) return SCL_STATUS_UNSUPPORTED;
  map->n_tilts = by_degree ? scl_min(map->law.law.max_degree, map->dim) + 1 : 1;
  map->tilts = scl_allocate_zero(map->n_tilts * sizeof *map->tilts);
  if (map->tilts == NULL) return scl_fail_memory(error, map->n_tilts * sizeof *map->tilts, "tilts");
  scl_error found = {0};
  const scl_status status =
      by_degree ? get_degree_tilts(map, &found) : get_tilt(map, &map->law.law, map->tilts, &found);
  if (status != SCL_STATUS_OK) scl_map_release_tilts(map);
  if (status != SCL_STATUS_UNSUPPORTED && error != NULL) *error = found;
  return status;
}

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
  map->parameter_spread = scl_allocate_array(map->count, size);
  if (map->parameter_spread == NULL) return scl_fail_memory(error, map->count * size, "spreads");
  for (size_t t = 0; t < map->count; t++) {
    const double one = spread[column_of(map, t, 0)];
    scl_set_number(map->parameter_spread, map->dtype, t, one);
    if (one != spread[column_of(map, 0, 0)]) map->spread_stride = 1;
  }
  return SCL_STATUS_OK;
}

static scl_status set_column_spreads(scl_map *map, scl_error *error) {
  const size_t bytes = (map->dim + 1) * sizeof(double);
  map->column_spread = scl_allocate(bytes);
  if (map->column_spread == NULL) return scl_fail_memory(error, bytes, "spreads");
  memcpy(map->column_spread, map->tilts->tilt.spread, map->dim * sizeof(double));
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
    return scl_projection_create(&spec, &map->variance, error);
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

/* ------------------------------------------------------------ K between parameters: the product
 * over their scalars' rows */

/* Scalar k of parameters first .. first+count-1 of the map: in place, or copied out of the shared
 * rows into `room`. */
static scl_status plane_of(const scl_map *map, size_t first, size_t count, size_t k,
                           scl_parameter_set *room, scl_const_parameters *out, scl_error *error) {
  memset(room, 0, sizeof *room);
  if (map->pool == NULL) {
    *out = scl_parameters_part_view(&map->natural.view, k * map->count + first, count);
    return SCL_STATUS_OK;
  }
  SCL_TRY(scl_parameters_reserve(&map->natural.layout, map->dim, first, count, room, error));
  for (size_t i = 0; i < count; i++)
    scl_parameters_copy_row(&map->natural, scl_map_row(map, map->count, first + i, k), room, i);
  *out = scl_parameters_view(&room->view);
  return SCL_STATUS_OK;
}

/* out (u x v) times K(u_i, v_j), or set to it where `first`. */
static scl_status multiply_gram(const scl_map *map, const scl_const_parameters *u,
                                const scl_const_parameters *v, bool first, double *out,
                                ptrdiff_t stride, scl_error *error) {
  const scl_instance *kernel = kernel_of(map);
  if (first) return scl_kernel_gram(kernel, u, v, out, stride, error);
  double *factor = scl_allocate_array(u->count * v->count + 1, sizeof *factor);
  if (factor == NULL)
    return scl_fail_memory(error, u->count * v->count * sizeof *factor, "a factor of K");
  const scl_status status = scl_kernel_gram(kernel, u, v, factor, (ptrdiff_t)v->count, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < u->count; i++)
    for (size_t j = 0; j < v->count; j++)
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] *= factor[i * v->count + j];
  scl_release(factor);
  return status;
}

/* K between parameters of the map: rows u0 .. u0+u_count-1 against columns v0 .. */
static scl_status gram_inside(const scl_map *map, size_t u0, size_t u_count, size_t v0,
                              size_t v_count, double *out, ptrdiff_t stride, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0; status == SCL_STATUS_OK && k < map->fan_in; k++) {
    scl_parameter_set room_u, room_v = {0};
    scl_const_parameters u, v;
    status = plane_of(map, u0, u_count, k, &room_u, &u, error);
    if (status == SCL_STATUS_OK) status = plane_of(map, v0, v_count, k, &room_v, &v, error);
    if (status == SCL_STATUS_OK) status = multiply_gram(map, &u, &v, k == 0, out, stride, error);
    scl_parameters_release(&room_u);
    scl_parameters_release(&room_v);
  }
  return status;
}

scl_status scl_map_gram_between(const scl_map *map, const scl_parameter_set *u, size_t u_count,
                                const char *left, const scl_parameter_set *v, size_t v_count,
                                const char *right, double *out, ptrdiff_t stride,
                                scl_error *error) {
  for (size_t k = 0; k < map->fan_in; k++) {
    const scl_const_parameters us = scl_parameters_part_view(&u->view, k * u_count, u_count),
                               vs = scl_parameters_part_view(&v->view, k * v_count, v_count);
    SCL_TRY(multiply_gram(map, &us, &vs, k == 0, out, stride, error));
  }
  const scl_kernel_values values = {.kernel = kernel_of(map),
                                    .left = left,
                                    .right = right,
                                    .rows = u_count,
                                    .cols = v_count,
                                    .values = out,
                                    .stride = stride};
  return scl_kernel_check_values(&values, error);
}

/* ------------------------------------------------------------ Monte Carlo */

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
  map->mixing = scl_allocate_array(number * count, size);
  scl_status status =
      k == NULL || map->mixing == NULL
          ? scl_fail_memory(error, number * count * sizeof *k, "Monte Carlo weights")
          : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK) status = scl_map_own_parameters(map, &own, error);
  if (status == SCL_STATUS_OK)
    status = scl_map_gram_between(map, samples, number, "sample", &own, count, "parameter", k,
                                  (ptrdiff_t)count, error);
  if (status == SCL_STATUS_OK) status = check_mixing(map, k, number, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < number * count; i++)
    scl_set_number(map->mixing, map->dtype, i, k[i] / sqrt((double)number));
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
static scl_status set_monte_carlo(scl_map *map, const scl_map_spec *spec, scl_error *error) {
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
  if (status == SCL_STATUS_OK) status = scl_map_create(&inner, &map->inner, error);
  if (status == SCL_STATUS_OK) status = set_mixing(map, &samples, number, error);
  scl_matrix_release(&rows);
  scl_parameters_release(&samples);
  return status;
}

/* ------------------------------------------------------------ attaching K */

/* E K phi in closed form, or by a one-dimensional quadrature, which takes one scalar a
 * parameter. */
static scl_method choose_method(const scl_map *map, const scl_map_spec *spec, bool tilted) {
  const bool closed = scl_nonlinearity_smooths(map->phi);
  if (!tilted || spec->monte_carlo || (!closed && map->fan_in > 1)) return SCL_METHOD_MONTE_CARLO;
  return closed && !spec->quadrature ? SCL_METHOD_EXACT : SCL_METHOD_QUADRATURE;
}

static scl_status start_gap(scl_map *map, scl_error *error) {
  const size_t bytes = sizeof *map->quadrature_gap;
  map->quadrature_gap = scl_allocate(bytes);
  if (map->quadrature_gap == NULL) return scl_fail_memory(error, bytes, "a quadrature");
  atomic_init(map->quadrature_gap, 0);
  return SCL_STATUS_OK;
}

scl_status scl_map_attach_kernel(scl_map *map, const scl_map_spec *spec,
                                 const scl_parameter_set *drawn, scl_error *error) {
  SCL_TRY(check_kernel(map, spec, error));
  scl_status status = SCL_STATUS_UNSUPPORTED;
  if (scl_sampler_has_law(map->sampler)) {
    SCL_TRY(scl_law_create(&map->origin, &map->law, error));
    map->law.law.fan_in = map->fan_in;
    SCL_TRY(scl_instance_bind(spec->kernel, &map->law.law, &map->kernel, error));
    status = get_tilts(map, error);
    if (status != SCL_STATUS_OK && status != SCL_STATUS_UNSUPPORTED) return status;
  } else {
    map->kernel = scl_instance_share(spec->kernel);
  }
  map->method = choose_method(map, spec, status == SCL_STATUS_OK);
  if (map->method == SCL_METHOD_QUADRATURE) SCL_TRY(start_gap(map, error));
  if (map->bare) return SCL_STATUS_OK;
  return map->method == SCL_METHOD_MONTE_CARLO ? set_monte_carlo(map, spec, error)
                                               : tilt_parameters(map, drawn, error);
}

void scl_map_describe_kernel(const scl_map *map, char *text, size_t size) {
  text[0] = 0;
  if (kernel_of(map) != NULL) scl_kernel_describe(kernel_of(map), text, size);
}

/* ------------------------------------------------------------ G */

/* The rectangle may straddle outputs: entries of different outputs are 0. */
static scl_status gram_rectangle(void *context, size_t first_row, size_t rows, size_t first_col,
                                 size_t cols, double *out, ptrdiff_t stride, scl_error *error) {
  const scl_map *map = context;
  const double factor = exp(-2 * map->log_scale);
  for (size_t i = 0; i < rows; i++)
    memset(out + (ptrdiff_t)i * stride, 0, cols * sizeof *out);
  for (size_t plane = 0; plane < map->fan_out; plane++) {
    const size_t begin = plane * map->count, end = begin + map->count;
    const size_t r0 = scl_max(first_row, begin), r1 = scl_min(first_row + rows, end),
                 c0 = scl_max(first_col, begin), c1 = scl_min(first_col + cols, end);
    if (r0 >= r1 || c0 >= c1) continue;
    double *at = out + (ptrdiff_t)(r0 - first_row) * stride + (ptrdiff_t)(c0 - first_col);
    SCL_TRY(gram_inside(map, r0 - begin, r1 - r0, c0 - begin, c1 - c0, at, stride, error));
    for (size_t i = 0; i < r1 - r0; i++)
      for (size_t j = 0; j < c1 - c0; j++)
        at[(ptrdiff_t)i * stride + (ptrdiff_t)j] *= factor;
    const scl_kernel_values values = {.kernel = kernel_of(map),
                                      .left = "parameter",
                                      .right = "parameter",
                                      .first_row = r0 - begin,
                                      .first_col = c0 - begin,
                                      .rows = r1 - r0,
                                      .cols = c1 - c0,
                                      .values = at,
                                      .stride = stride};
    SCL_TRY(scl_kernel_check_values(&values, error));
  }
  return SCL_STATUS_OK;
}

scl_status scl_map_gram(const scl_map *map, scl_symmetric **out, scl_error *error) {
  if (map->section) return scl_section_gram(map, out, error);
  if (map->kernel == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "these features have no K (and phi is no kernel, which has k itself as K), so "
                    "no Gram matrix of parameters");
  if (!isfinite(exp(-2 * map->log_scale)))
    return scl_fail(error, SCL_STATUS_NUMERIC,
                    "the features are of the order exp(%.0f), too small for an RKHS norm in double "
                    "precision: choose a wider kernel (theta = 0.5 suits)",
                    map->log_scale);
  SCL_TRY(scl_symmetric_create(scl_map_features(map), out, error));
  const scl_status status = scl_symmetric_fill(*out, gram_rectangle, (void *)(uintptr_t)map, error);
  if (status == SCL_STATUS_OK) return SCL_STATUS_OK;
  scl_symmetric_destroy(*out);
  *out = NULL;
  return status;
}

scl_status scl_map_gram_matrix(const scl_map *map, scl_matrix *out, scl_error *error) {
  const size_t d = scl_map_features(map);
  const double factor = exp(2 * map->log_scale);
  scl_symmetric *gram = NULL;
  SCL_TRY(scl_map_gram(map, &gram, error));
  const scl_status status = scl_matrix_create_raw(d, d, SCL_DTYPE_FLOAT64, out, error);
  if (status == SCL_STATUS_OK) {
    scl_service_symmetric.scale(factor, gram);
    scl_service_symmetric.dense(gram, out->data, out->row_stride);
  }
  scl_symmetric_destroy(gram);
  return status;
}

scl_status scl_map_kernel_between(const scl_map *map, const scl_matrix *u, const scl_matrix *v,
                                  scl_matrix *out, scl_error *error) {
  scl_parameter_set left, right;
  const scl_layout layout = scl_map_seen_layout(map);
  if (kernel_of(map) == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "this instantiation has no K");
  if (u->rows % map->fan_in != 0 || v->rows % map->fan_in != 0)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "%zu and %zu rows of parameters, where nonlinearity.%s takes %zu a parameter",
                    u->rows, v->rows, scl_instance_name(map->phi), map->fan_in);
  const size_t rows = u->rows / map->fan_in, cols = v->rows / map->fan_in;
  SCL_TRY(scl_parameters_from_matrix(&layout, map->dim, u, &left, error));
  scl_status status = scl_parameters_from_matrix(&layout, map->dim, v, &right, error);
  if (status == SCL_STATUS_OK) {
    status = scl_matrix_create(rows, cols, SCL_DTYPE_FLOAT64, out, error);
    if (status == SCL_STATUS_OK) {
      status = scl_map_gram_between(map, &left, rows, "parameter", &right, cols, "parameter",
                                    out->data, out->row_stride, error);
      if (status != SCL_STATUS_OK) scl_matrix_release(out);
    }
    scl_parameters_release(&right);
  }
  scl_parameters_release(&left);
  return status;
}

/* The part of a map that K brings (Dube and Marchand 2023): tilted parameters and their scales, G, Monte Carlo where there is no tilt,
 * kappa and theta. */
#include "dense.h"
#include "map_internal.h"
#include "pool.h"
#include "random.h"
#include "smoothing.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static scl_status check_kernel(const scl_map *map, const scl_map_spec *spec, scl_error *error) {
  const scl_kernel *table = scl_instance_vtable(spec->kernel);
  if (!(table->spaces & SCL_IN(map->layout.space)))
    return scl_fail(error, SCL_UNSUPPORTED, "kernel.%s is not defined on the parameters of sampler.%s", scl_instance_name(spec->kernel),
                    scl_instance_name(map->sampler));
  if (map->layout.has_bias)
    return scl_fail(error, SCL_UNSUPPORTED,
                    "an instantiation with K takes a sampler without a bias, because K compares the weights alone: bias = \"none\", and "
                    "sc.add_bias() before the features gives every parameter a constant term");
  if (map->fan_in != 1)
    return scl_fail(error, SCL_UNSUPPORTED, "nonlinearity.%s takes %zu numbers a parameter: with K this version takes those of one number",
                    scl_instance_name(map->phi), map->fan_in);
  return SCL_OK;
}

/* ---------------------------------------------------------------- the tilt */

static scl_status get_tilt(scl_map *map, scl_error *error) {
  const scl_ability_tilt *ability = scl_instance_ability(map->kernel, SCL_ABILITY_TILT);
  const size_t d = map->dim;
  if (ability == NULL) return scl_fail(error, SCL_UNSUPPORTED, "kernel.%s has no tilt", scl_instance_name(map->kernel));
  map->tilt_memory = scl_allocate_zero((8 * d + 1) * sizeof(double));
  if (map->tilt_memory == NULL) return scl_fail_memory(error, 8 * d * sizeof(double), "a tilt");
  double *at = map->tilt_memory;
  map->tilt = (scl_tilt){.head = SCL_HEAD(scl_tilt),
                         .dim = d,
                         .offset = at,
                         .shrink = at + d,
                         .spread = at + 2 * d,
                         .log0 = at + 3 * d,
                         .log1 = at + 4 * d,
                         .log2 = at + 5 * d,
                         .correlation = at + 6 * d,
                         .pair_scale = at + 7 * d};
  const scl_status status = ability->tilt(map->kernel->self, &map->law.law, &map->tilt, error);
  if (status == SCL_OK) return SCL_OK;
  scl_release(map->tilt_memory);
  map->tilt_memory = NULL;
  return scl_instance_prefix(map->kernel, status, error);
}

/* Replace w_t by the tilted w_t' in place and return log c(w_t). */
static double tilt_parameter(const scl_map *map, size_t t, double *w) {
  const scl_tilt *tilt = &map->tilt;
  const bool threshold = map->layout.space == SCL_THRESHOLD;
  double log_c = tilt->log_one;
  for (size_t k = 0; k < map->layout.width; k++) {
    const size_t j = threshold ? (size_t)map->natural.view.support[t] : k;
    log_c += tilt->log0[j] + (tilt->log1[j] + tilt->log2[j] * w[k]) * w[k];
    w[k] = tilt->offset[j] + tilt->shrink[j] * w[k];
  }
  return log_c;
}

static void set_number(const scl_map *map, void *array, size_t at, double value) {
  if (map->dtype == SCL_F64)
    ((double *)array)[at] = value;
  else
    ((float *)array)[at] = (float)value;
}

static scl_status set_spreads(scl_map *map, scl_error *error) {
  const size_t size = scl_dtype_size(map->dtype);
  if (map->layout.space == SCL_THRESHOLD) {
    map->parameter_spread = scl_allocate_array(map->count, size);
    if (map->parameter_spread == NULL) return scl_fail_memory(error, map->count * size, "spreads");
    for (size_t t = 0; t < map->count; t++) {
      const double spread = map->tilt.spread[map->natural.view.support[t]];
      set_number(map, map->parameter_spread, t, spread);
      if (spread != map->tilt.spread[map->natural.view.support[0]]) map->spread_stride = 1;
    }
    return SCL_OK;
  }
  map->column_spread = scl_allocate_array(map->dim + 1, sizeof(double));
  if (map->column_spread == NULL) return scl_fail_memory(error, map->dim * sizeof(double), "spreads");
  memcpy(map->column_spread, map->tilt.spread, map->dim * sizeof(double));
  return SCL_OK;
}

/* Weights tilted, scales c(w_t) with their largest factor taken out, spreads. */
static scl_status tilt_parameters(scl_map *map, scl_error *error) {
  const size_t width = map->layout.width, size = scl_dtype_size(map->dtype);
  double *log_c = scl_allocate_array(map->count, sizeof *log_c), *w = scl_allocate_array(width + 1, sizeof *w);
  map->weights = scl_allocate_array(scl_max(map->count * width, 1), size);
  map->scale = scl_allocate_array(map->count, size);
  if (map->layout.support > 0) map->support = scl_allocate_array(map->count * map->layout.support, sizeof *map->support);
  if (log_c == NULL || w == NULL || map->weights == NULL || map->scale == NULL || (map->layout.support > 0 && map->support == NULL)) {
    scl_release(log_c);
    scl_release(w);
    return scl_fail_memory(error, map->count * width * size, "tilted parameters");
  }
  map->log_scale = -INFINITY;
  for (size_t t = 0; t < map->count; t++) {
    memcpy(w, map->natural.view.weights + t * width, width * sizeof *w);
    log_c[t] = tilt_parameter(map, t, w);
    if (log_c[t] > map->log_scale) map->log_scale = log_c[t];
    for (size_t k = 0; k < width; k++)
      set_number(map, map->weights, t * width + k, w[k]);
  }
  if (map->support != NULL) memcpy(map->support, map->natural.view.support, map->count * map->layout.support * sizeof *map->support);
  for (size_t t = 0; t < map->count; t++)
    set_number(map, map->scale, t, exp(log_c[t] - map->log_scale));
  scl_release(log_c);
  scl_release(w);
  return set_spreads(map, error);
}

/* ---------------------------------------------------------------- Monte Carlo */

enum { DEFAULT_SAMPLES = 4096 };

static scl_status kernel_gram(const scl_map *map, const scl_parameters *u, const scl_parameters *v, double *out, ptrdiff_t stride,
                              scl_error *error) {
  const scl_kernel *table = scl_instance_vtable(map->kernel);
  return scl_instance_prefix(map->kernel, table->gram(map->kernel->self, u, v, out, stride, error), error);
}

/* mixing (samples x count) = K(w_s, w_t) / samples, undoing the inner map's 1/sqrt(samples). */
static scl_status set_mixing(scl_map *map, const scl_parameters *samples, scl_error *error) {
  const size_t count = map->count, number = samples->count, size = scl_dtype_size(map->dtype);
  double *rows = scl_allocate_array(count, sizeof *rows);
  map->mixing = scl_allocate_array(number * count, size);
  scl_status status = rows == NULL || map->mixing == NULL ? scl_fail_memory(error, number * count * size, "Monte Carlo weights") : SCL_OK;
  for (size_t s = 0; status == SCL_OK && s < number; s++) {
    scl_parameters one = *samples;
    one.first += s;
    one.count = 1;
    one.weights += (ptrdiff_t)s * one.stride;
    if (one.support != NULL) one.support += (ptrdiff_t)s * one.support_stride;
    status = kernel_gram(map, &one, &map->natural.view, rows, (ptrdiff_t)count, error);
    for (size_t t = 0; status == SCL_OK && t < count; t++)
      set_number(map, map->mixing, s * count + t, rows[t] / sqrt((double)number));
  }
  scl_release(rows);
  return status;
}

/* A map over samples of p, addressed by another stream than the parameters, without K. */
static scl_status set_monte_carlo(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  const size_t number = spec->samples == 0 ? DEFAULT_SAMPLES : spec->samples;
  scl_parameter_set samples;
  scl_matrix rows = {0};
  map->method = SCL_METHOD_MONTE_CARLO;
  SCL_TRY(scl_parameters_draw(map->sampler, map->dim, map->seed, SCL_STREAM_MONTE_CARLO, 0, number, 1, &samples, error));
  scl_status status = scl_parameters_matrix(&samples, &rows, error);
  const scl_map_spec inner = {.sampler = map->sampler,
                              .phi = map->phi,
                              .dim = map->dim,
                              .count = number,
                              .seed = map->seed,
                              .dtype = map->dtype,
                              .parameters = &rows};
  if (status == SCL_OK) status = scl_map_create(&inner, &map->inner, error);
  if (status == SCL_OK) status = set_mixing(map, &samples.view, error);
  scl_matrix_release(&rows);
  scl_parameters_release(&samples);
  return status;
}

scl_status scl_map_attach_kernel(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  SCL_TRY(check_kernel(map, spec, error));
  const bool known = scl_instance_ability(map->sampler, SCL_ABILITY_LAW) != NULL;
  if (known) SCL_TRY(scl_law_create(map->sampler, map->dim, &map->law, error));
  if (known)
    SCL_TRY(scl_instance_bind(spec->kernel, &map->law.law, &map->kernel, error));
  else
    map->kernel = scl_instance_share(spec->kernel);
  const scl_status status = known ? get_tilt(map, error) : SCL_UNSUPPORTED;
  if (status != SCL_OK && status != SCL_UNSUPPORTED) return status;
  if (status == SCL_UNSUPPORTED || spec->monte_carlo) return set_monte_carlo(map, spec, error);
  map->method = scl_smooth_is_closed(map->phi) && !spec->quadrature ? SCL_METHOD_EXACT : SCL_METHOD_QUADRATURE;
  return tilt_parameters(map, error);
}

void scl_map_describe_kernel(const scl_map *map, char *text, size_t size) {
  text[0] = 0;
  if (map->kernel == NULL) return;
  const scl_ability_bind *ability = scl_instance_ability(map->kernel, SCL_ABILITY_BIND);
  if (ability != NULL) ability->describe(map->kernel->self, text, size);
}

/* ---------------------------------------------------------------- G */

scl_status scl_map_parameters(const scl_map *map, scl_matrix *out, scl_error *error) {
  if (map->natural.view.weights != NULL) return scl_parameters_matrix(&map->natural, out, error);
  scl_parameter_set set;
  SCL_TRY(scl_parameters_draw(map->sampler, map->dim, map->seed, SCL_STREAM_PARAMETERS, 0, map->count, map->fan_in, &set, error));
  scl_status status = SCL_OK;
  if (map->bias != NULL && set.view.bias == NULL) { /* the phase that the map added */
    set.view.bias = scl_allocate_array(set.view.count, sizeof(double));
    if (set.view.bias == NULL) status = scl_fail_memory(error, set.view.count * sizeof(double), "phases");
    set.layout.has_bias = 1;
    for (size_t t = 0; status == SCL_OK && t < set.view.count; t++)
      set.view.bias[t] = map->dtype == SCL_F64 ? ((const double *)map->bias)[t] : (double)((const float *)map->bias)[t];
  }
  if (status == SCL_OK) status = scl_parameters_matrix(&set, out, error);
  scl_parameters_release(&set);
  return status;
}

static scl_parameters part_of(const scl_parameters *all, size_t first, size_t count) {
  scl_parameters part = *all;
  part.first += first;
  part.count = count;
  part.weights += (ptrdiff_t)first * part.stride;
  if (part.support != NULL) part.support += (ptrdiff_t)first * part.support_stride;
  if (part.bias != NULL) part.bias += first;
  return part;
}

/* The rectangle may straddle outputs: entries of different outputs are 0. */
static scl_status gram_rectangle(void *context, size_t first_row, size_t rows, size_t first_col, size_t cols, double *out, ptrdiff_t stride,
                                 scl_error *error) {
  const scl_map *map = context;
  const double factor = exp(-2 * map->log_scale);
  for (size_t i = 0; i < rows; i++)
    memset(out + (ptrdiff_t)i * stride, 0, cols * sizeof *out);
  for (size_t plane = 0; plane < map->fan_out; plane++) {
    const size_t begin = plane * map->count, end = begin + map->count;
    const size_t r0 = scl_max(first_row, begin), r1 = scl_min(first_row + rows, end), c0 = scl_max(first_col, begin),
                 c1 = scl_min(first_col + cols, end);
    if (r0 >= r1 || c0 >= c1) continue;
    const scl_parameters u = part_of(&map->natural.view, r0 - begin, r1 - r0), v = part_of(&map->natural.view, c0 - begin, c1 - c0);
    double *at = out + (ptrdiff_t)(r0 - first_row) * stride + (ptrdiff_t)(c0 - first_col);
    SCL_TRY(kernel_gram(map, &u, &v, at, stride, error));
    for (size_t i = 0; i < u.count; i++)
      for (size_t j = 0; j < v.count; j++)
        at[(ptrdiff_t)i * stride + (ptrdiff_t)j] *= factor;
  }
  return SCL_OK;
}

scl_status scl_map_gram(const scl_map *map, scl_symmetric **out, scl_error *error) {
  if (map->kernel == NULL) return scl_fail(error, SCL_UNSUPPORTED, "these features have no K, so no Gram matrix of parameters");
  if (!isfinite(exp(-2 * map->log_scale)))
    return scl_fail(error, SCL_NUMERIC,
                    "the features are of the order exp(%.0f), too small for an RKHS norm in double precision: choose a wider kernel (theta "
                    "= 0.5 suits)",
                    map->log_scale);
  SCL_TRY(scl_symmetric_create(scl_map_features(map), out, error));
  const scl_status status = scl_symmetric_fill(*out, gram_rectangle, (void *)(uintptr_t)map, error);
  if (status == SCL_OK) return SCL_OK;
  scl_symmetric_destroy(*out);
  *out = NULL;
  return status;
}

scl_status scl_map_kernel_between(const scl_map *map, const scl_matrix *u, const scl_matrix *v, scl_matrix *out, scl_error *error) {
  scl_parameter_set left, right;
  if (map->kernel == NULL) return scl_fail(error, SCL_UNSUPPORTED, "this instantiation has no K");
  SCL_TRY(scl_parameters_from_matrix(&map->layout, map->dim, u, &left, error));
  scl_status status = scl_parameters_from_matrix(&map->layout, map->dim, v, &right, error);
  if (status == SCL_OK) {
    status = scl_matrix_create(u->rows, v->rows, SCL_F64, out, error);
    if (status == SCL_OK) {
      status = kernel_gram(map, &left.view, &right.view, out->data, out->row_stride, error);
      if (status != SCL_OK) scl_matrix_release(out);
    }
    scl_parameters_release(&right);
  }
  scl_parameters_release(&left);
  return status;
}

/* ---------------------------------------------------------------- kappa and theta */

/* sup over r of E phi(a) phi(b), (a, b) normal with variances r^2 and correlation rho: a search over scales of r. */
static double largest_dual(const scl_instance *phi, const scl_ability_gaussian_dual *dual, double rho, bool scale_free) {
  double best = dual->dual(phi->self, 0, 0, 1, 1, rho);
  if (scale_free) return best;
  for (int step = -200; step <= 200; step++) {
    const double variance = exp(step * 0.1), value = dual->dual(phi->self, 0, 0, variance, variance, rho * variance);
    if (value > best) best = value;
  }
  const double at_zero = dual->dual(phi->self, 0, 0, 0, 0, 0);
  return at_zero > best ? at_zero : best;
}

scl_status scl_map_constants(const scl_map *map, scl_constants *out, scl_error *error) {
  const scl_ability_facts *ability = scl_instance_ability(map->phi, SCL_ABILITY_FACTS);
  const scl_ability_gaussian_dual *dual = scl_instance_ability(map->phi, SCL_ABILITY_GAUSSIAN_DUAL);
  scl_facts facts = {.bound = INFINITY};
  if (map->kernel == NULL) return scl_fail(error, SCL_UNSUPPORTED, "kappa and theta belong to an instantiation with K; this one has none");
  if (map->tilt_memory == NULL)
    return scl_fail(error, SCL_UNSUPPORTED,
                    "kappa and theta are not known for this kernel and this sampler (no closed form for E K(u, w))");
  if (ability != NULL) ability->facts(map->phi->self, &facts);
  const double mass = exp(map->tilt.log_mass / 2);
  out->theta_paper = facts.bound * mass;
  out->kappa = facts.bound * exp(map->tilt.log_diagonal / 2);
  out->kappa_exact = isfinite(facts.bound);
  out->theta = out->theta_paper;
  /* Thresholds: far out, phi takes its bound for every threshold, so the bound is attained. */
  out->theta_exact = map->layout.space == SCL_THRESHOLD && facts.scale_free;
  if (map->layout.space != SCL_DENSE || dual == NULL || !isfinite(facts.bound)) return SCL_OK;
  double rho = 0;
  bool centred = true;
  for (size_t j = 0; j < map->dim; j++) {
    rho = fmax(rho, map->tilt.correlation[j]);
    centred = centred && map->law.law.mean[j] == 0;
  }
  const double value = largest_dual(map->phi, dual, rho, facts.scale_free != 0);
  if (!centred || isnan(value)) return SCL_OK;
  out->theta = fmin(out->theta_paper, mass * sqrt(value));
  out->theta_exact = true;
  return SCL_OK;
}

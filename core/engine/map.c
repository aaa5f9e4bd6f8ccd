#include "map_internal.h"

#include "dense.h"
#include "loops.h"
#include "pool.h"
#include "random.h"
#include "smoothing.h"
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const char *const space_names[SCL_SPACES] = {"dense", "sparse", "threshold", "grid", "structured"};

const char *scl_method_name(scl_method method) {
  static const char *const names[] = {"direct", "exact", "quadrature", "monte-carlo"};
  return names[method];
}

size_t scl_map_features(const scl_map *map) {
  return map->count * map->fan_out;
}
size_t scl_map_count(const scl_map *map) {
  return map->count;
}
size_t scl_map_dim(const scl_map *map) {
  return map->dim;
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

/* ---------------------------------------------------------------- composing */

static scl_status check_fit(const scl_map *map, scl_error *error) {
  const char *sampler = scl_instance_name(map->sampler), *phi = scl_instance_name(map->phi);
  const scl_space space = map->layout.space;
  if (!(map->shape.spaces & SCL_IN(space))) {
    char fits[120] = "";
    for (int i = 0; i < SCL_SPACES; i++)
      if (map->shape.spaces & (1u << (unsigned)i))
        (void)snprintf(fits + strlen(fits), sizeof fits - strlen(fits), "%s%s", fits[0] ? ", " : "", space_names[i]);
    return scl_fail(error, SCL_UNSUPPORTED, "nonlinearity.%s does not go with sampler.%s, whose parameters are %s; it takes %s ones", phi,
                    sampler, space_names[space], fits);
  }
  if (space != SCL_DENSE && space != SCL_THRESHOLD)
    return scl_fail(error, SCL_UNSUPPORTED, "sampler.%s: this version projects dense and threshold parameters, not %s ones", sampler,
                    space_names[space]);
  if (map->shape.fan_in == 0 || map->shape.fan_out == 0 || map->shape.one_hot)
    return scl_fail(error, SCL_UNSUPPORTED, "nonlinearity.%s: this version takes dense outputs of a fixed number of inputs only", phi);
  return SCL_OK;
}

static scl_status check_size(const scl_map_spec *spec, const scl_map *map, scl_error *error) {
  const double features = (double)map->count * (double)map->fan_out, size = (double)scl_dtype_size(map->dtype);
  const double bytes =
      (double)map->count * (double)map->fan_in * (double)(map->layout.width + map->layout.support + 1) * size + features * size;
  char text[32];
  (void)spec;
  if (map->count == 0) return scl_fail(error, SCL_BAD_OPTION, "features: option 'T' got 0; it takes a whole number of at least 1");
  if (bytes > 64e9 || features > 5e8)
    return scl_fail(error, SCL_NO_MEMORY, "features: T = %zu is absurdly large: its parameters alone would take %s", map->count,
                    scl_bytes_text(bytes, text));
  return SCL_OK;
}

/* A random phase for nonlinearities that need one and samplers that bring none. */
static scl_status add_phase(scl_map *map, scl_parameter_set *set, scl_error *error) {
  const size_t count = map->count * map->fan_in;
  set->view.bias = scl_allocate_array(count, sizeof(double));
  if (set->view.bias == NULL) return scl_fail_memory(error, count * sizeof(double), "phases");
  set->layout.has_bias = map->layout.has_bias = 1;
  for (size_t t = 0; t < count; t++) {
    scl_random_uniform(map->seed, SCL_STREAM_PHASE, t, 0, 1, &set->view.bias[t]);
    set->view.bias[t] = 3.14159265358979323846 * (2 * set->view.bias[t] - 1);
  }
  return SCL_OK;
}

static scl_status get_parameters(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  if (spec->parameters != NULL) {
    map->given = true;
    return scl_parameters_from_matrix(&map->layout, map->dim, spec->parameters, &map->natural, error);
  }
  SCL_TRY(scl_parameters_draw(map->sampler, map->dim, map->seed, SCL_STREAM_PARAMETERS, 0, map->count, map->fan_in, &map->natural, error));
  const bool phase = map->shape.needs_phase && !map->layout.has_bias && spec->kernel == NULL;
  return phase ? add_phase(map, &map->natural, error) : SCL_OK;
}

/* count numbers in the map's dtype. */
static void *convert(const scl_map *map, const double *from, size_t count) {
  void *to = scl_allocate_array(scl_max(count, 1), scl_dtype_size(map->dtype));
  if (to == NULL) return NULL;
  for (size_t i = 0; i < count; i++) {
    if (map->dtype == SCL_F64)
      ((double *)to)[i] = from[i];
    else
      ((float *)to)[i] = (float)from[i];
  }
  return to;
}

/* The projection's copy of the parameters, in the map's dtype; the float64 ones go unless K needs them. */
static scl_status set_projection(scl_map *map, scl_error *error) {
  const scl_parameters *view = &map->natural.view;
  const size_t rows = map->count * map->fan_in;
  map->weights = convert(map, view->weights, rows * map->layout.width);
  bool enough = map->weights != NULL;
  if (enough && view->bias != NULL) enough = (map->bias = convert(map, view->bias, rows)) != NULL;
  if (enough && map->layout.support > 0) {
    map->support = scl_allocate_array(rows * map->layout.support, sizeof *map->support);
    enough = map->support != NULL;
    if (enough) memcpy(map->support, view->support, rows * map->layout.support * sizeof *map->support);
  }
  return enough ? SCL_OK : scl_fail_memory(error, rows * map->layout.width * scl_dtype_size(map->dtype), "the parameters");
}

static scl_status set_constant_scale(scl_map *map, double value, scl_error *error) {
  double *scale = scl_allocate_array(map->count, sizeof *scale);
  for (size_t t = 0; scale != NULL && t < map->count; t++)
    scale[t] = value;
  map->scale = scale == NULL ? NULL : convert(map, scale, map->count);
  scl_release(scale);
  return map->scale == NULL ? scl_fail_memory(error, map->count * sizeof *scale, "feature scales") : SCL_OK;
}

static scl_status compose(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  const scl_nonlinearity *phi = scl_instance_vtable(map->phi);
  SCL_TRY(scl_parameters_layout(map->sampler, map->dim, &map->layout, error));
  SCL_TRY(scl_instance_prefix(map->phi, phi->shape(map->phi->self, &map->shape, error), error));
  SCL_TRY(check_fit(map, error));
  map->fan_in = map->shape.fan_in;
  map->fan_out = map->shape.fan_out;
  map->count = spec->parameters != NULL ? spec->parameters->rows / map->fan_in : spec->count;
  SCL_TRY(check_size(spec, map, error));
  SCL_TRY(get_parameters(map, spec, error));
  if (spec->kernel != NULL) return scl_map_attach_kernel(map, spec, error);
  map->method = SCL_METHOD_DIRECT;
  SCL_TRY(set_projection(map, error));
  if (!map->given) scl_parameters_release(&map->natural);
  return set_constant_scale(map, 1 / sqrt((double)map->count), error);
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
  if (status == SCL_OK)
    *out = map;
  else
    scl_map_destroy(map);
  return status;
}

scl_status scl_map_create_plain(const scl_map *map, scl_map **out, scl_error *error) {
  scl_matrix parameters;
  SCL_TRY(scl_map_parameters(map, &parameters, error));
  const bool phase =
      map->bias != NULL && map->kernel == NULL; /* the matrix then has the map's own phases in it, and is drawn again instead */
  const scl_map_spec spec = {.sampler = map->sampler,
                             .phi = map->phi,
                             .dim = map->dim,
                             .count = map->count,
                             .seed = map->seed,
                             .dtype = map->dtype,
                             .parameters = phase ? NULL : &parameters};
  const scl_status status = scl_map_create(&spec, out, error);
  scl_matrix_release(&parameters);
  return status;
}

void scl_map_destroy(scl_map *map) {
  if (map == NULL) return;
  scl_map_destroy(map->inner);
  scl_release(map->mixing);
  scl_release(map->weights);
  scl_release(map->bias);
  scl_release(map->support);
  scl_release(map->scale);
  scl_release(map->column_spread);
  scl_release(map->parameter_spread);
  scl_release(map->tilt_memory);
  scl_law_release(&map->law);
  scl_parameters_release(&map->natural);
  scl_instance_release(map->sampler);
  scl_instance_release(map->phi);
  scl_instance_release(map->kernel);
  scl_release(map);
}

/* ---------------------------------------------------------------- applying, tile by tile */

enum { TILE_ROWS = 256, TILE_PARAMETERS = 512 };

/* One block's work; a task is TILE_ROWS rows by about TILE_PARAMETERS parameters, small enough to stay in cache from projection to scale.
 */
typedef struct application {
  const scl_map *map;
  const char *x;
  char *phi;
  ptrdiff_t x_stride, phi_stride;
  size_t rows, across, width; /* tiles across, parameters in a tile */
  char *scratch;
  size_t scratch_each; /* bytes a thread */
  atomic_flag failed;
  scl_status status;
  scl_error error;
} application;

static void add_bias(const scl_map *map, scl_block *z, size_t first, size_t plane) {
  for (size_t i = 0; i < z->rows; i++)
    for (size_t j = 0; j < z->cols; j++) {
      const size_t at = plane * map->count + first + j;
      const ptrdiff_t to = (ptrdiff_t)i * z->row_stride + (ptrdiff_t)j + (ptrdiff_t)plane * z->plane_stride;
      if (map->dtype == SCL_F64)
        ((double *)z->data)[to] += ((const double *)map->bias)[at];
      else
        ((float *)z->data)[to] += ((const float *)map->bias)[at];
    }
}

static void project_dense(const scl_map *map, const char *x, ptrdiff_t x_stride, scl_block *z, size_t first) {
  const size_t size = scl_dtype_size(map->dtype), width = map->layout.width;
  for (size_t plane = 0; plane < map->fan_in; plane++) {
    const char *w = (const char *)map->weights + (plane * map->count + first) * width * size;
    char *to = (char *)z->data + plane * (size_t)z->plane_stride * size;
    scl_gemm(map->dtype, false, true, z->rows, z->cols, map->dim, 1, x, x_stride, w, (ptrdiff_t)width, 0, to, z->row_stride);
    if (map->bias != NULL) add_bias(map, z, first, plane);
  }
}

static void project_threshold(const scl_map *map, const char *x, ptrdiff_t x_stride, scl_block *z, size_t first) {
  const scl_loops *loops = scl_loops_get();
  for (size_t i = 0; i < z->rows; i++) {
    if (map->dtype == SCL_F64)
      loops->gather_f64(z->cols, (const double *)(const void *)x + (ptrdiff_t)i * x_stride, map->support + first,
                        (double *)map->weights + first, (double *)z->data + (ptrdiff_t)i * z->row_stride);
    else
      loops->gather_f32(z->cols, (const float *)(const void *)x + (ptrdiff_t)i * x_stride, map->support + first,
                        (float *)map->weights + first, (float *)z->data + (ptrdiff_t)i * z->row_stride);
  }
}

static void scale_features(const scl_map *map, scl_block *out, size_t first) {
  const scl_loops *loops = scl_loops_get();
  for (size_t plane = 0; plane < map->fan_out; plane++)
    for (size_t i = 0; i < out->rows; i++) {
      const ptrdiff_t at = (ptrdiff_t)i * out->row_stride + (ptrdiff_t)plane * out->plane_stride;
      if (map->dtype == SCL_F64)
        loops->scale_f64(out->cols, (const double *)map->scale + first, (double *)out->data + at);
      else
        loops->scale_f32(out->cols, (const float *)map->scale + first, (float *)out->data + at);
    }
}

/* v of each row: the norm of spread o x, in the map's dtype at `to`. */
static void row_spreads(const scl_map *map, const char *x, ptrdiff_t x_stride, size_t rows, void *to) {
  const scl_loops *loops = scl_loops_get();
  for (size_t i = 0; i < rows; i++) {
    if (map->dtype == SCL_F64) {
      ((double *)to)[i] = sqrt(loops->square_f64(map->dim, map->column_spread, (const double *)(const void *)x + (ptrdiff_t)i * x_stride));
    } else {
      const float *row = (const float *)(const void *)x + (ptrdiff_t)i * x_stride;
      double sum = 0;
      for (size_t j = 0; j < map->dim; j++)
        sum += (double)row[j] * row[j] * (map->column_spread[j] * map->column_spread[j]);
      ((float *)to)[i] = (float)sqrt(sum);
    }
  }
}

/* phi or its smoothing, in the block's dtype. */
static scl_status nonlinearity(const scl_map *map, const scl_block *z, const scl_spread *v, scl_block *out, scl_error *error) {
  const scl_nonlinearity *table = scl_instance_vtable(map->phi);
  if (v == NULL) return scl_instance_prefix(map->phi, table->apply(map->phi->self, z, out, error), error);
  return map->method == SCL_METHOD_QUADRATURE ? scl_smooth_quadrature(map->phi, z, v, out, error) : scl_smooth(map->phi, z, v, out, error);
}

static void widen(const scl_block *from, double *to, size_t count) {
  for (size_t i = 0; i < count; i++)
    to[i] = (double)((const float *)from->data)[i];
}

/* A nonlinearity without a float32 path: through float64 copies. z must be packed (row stride = cols). */
static scl_status nonlinearity_widened(const scl_map *map, const scl_block *z, const scl_spread *v, scl_block *out, scl_error *error) {
  const size_t in = z->rows * z->cols * z->planes, outs = out->rows * out->cols * out->planes, spreads = v == NULL ? 0 : z->rows * z->cols;
  double *memory = scl_allocate_array(in + outs + spreads + 1, sizeof *memory);
  if (memory == NULL) return scl_fail_memory(error, (in + outs + spreads) * sizeof *memory, "a float64 copy of a tile");
  widen(z, memory, in);
  double *wide_v = memory + in + outs;
  for (size_t i = 0; v != NULL && i < z->rows; i++)
    for (size_t j = 0; j < z->cols; j++)
      wide_v[i * z->cols + j] = (double)((const float *)v->data)[(ptrdiff_t)i * v->row_stride + (ptrdiff_t)j * v->col_stride];
  const scl_block wide_z = {memory, SCL_F64, z->rows, z->cols, z->planes, (ptrdiff_t)z->cols, (ptrdiff_t)(z->rows * z->cols)};
  scl_block wide_out = {memory + in, SCL_F64, out->rows, out->cols, out->planes, (ptrdiff_t)out->cols, (ptrdiff_t)(out->rows * out->cols)};
  const scl_spread spread = {wide_v, (ptrdiff_t)z->cols, 1, 0};
  const scl_status status = nonlinearity(map, &wide_z, v == NULL ? NULL : &spread, &wide_out, error);
  for (size_t p = 0; status == SCL_OK && p < out->planes; p++)
    for (size_t i = 0; i < out->rows; i++)
      for (size_t j = 0; j < out->cols; j++)
        ((float *)out->data)[(ptrdiff_t)i * out->row_stride + (ptrdiff_t)j + (ptrdiff_t)p * out->plane_stride] =
            (float)memory[in + (p * out->rows + i) * out->cols + j];
  scl_release(memory);
  return status;
}

static scl_status apply_tile(application *job, size_t index, scl_error *error) {
  const scl_map *map = job->map;
  const size_t size = scl_dtype_size(map->dtype), first_row = index / job->across * TILE_ROWS, first = index % job->across * job->width;
  const size_t rows = scl_min(TILE_ROWS, job->rows - first_row), cols = scl_min(job->width, map->count - first);
  const char *x = job->x + (ptrdiff_t)first_row * job->x_stride * (ptrdiff_t)size;
  char *own = job->scratch + scl_pool_worker() * job->scratch_each;
  scl_block out = {job->phi + ((ptrdiff_t)first_row * job->phi_stride + (ptrdiff_t)first) * (ptrdiff_t)size,
                   map->dtype,
                   rows,
                   cols,
                   map->fan_out,
                   job->phi_stride,
                   (ptrdiff_t)map->count};
  scl_block z = out;
  const bool native = map->dtype == SCL_F64 || map->shape.float32;
  if (map->fan_in != 1 || map->fan_out != 1 || !native)
    z = (scl_block){own + TILE_ROWS * sizeof(double), map->dtype, rows, cols, map->fan_in, (ptrdiff_t)cols, (ptrdiff_t)(rows * cols)};
  z.planes = map->fan_in;
  if (map->layout.space == SCL_DENSE)
    project_dense(map, x, job->x_stride, &z, first);
  else
    project_threshold(map, x, job->x_stride, &z, first);
  scl_spread v = {own, 1, 0, 0};
  const bool smooth = map->method == SCL_METHOD_EXACT || map->method == SCL_METHOD_QUADRATURE;
  if (smooth && map->parameter_spread != NULL)
    v = (scl_spread){(const char *)map->parameter_spread + first * size * (size_t)map->spread_stride, 0, map->spread_stride, 0};
  if (smooth && map->column_spread != NULL) row_spreads(map, x, job->x_stride, rows, own);
  SCL_TRY((native ? nonlinearity : nonlinearity_widened)(map, &z, smooth ? &v : NULL, &out, error));
  scale_features(map, &out, first);
  return SCL_OK;
}

static void apply_task(void *context, size_t index) {
  application *job = context;
  scl_error error = {0};
  const scl_status status = apply_tile(job, index, &error);
  if (status == SCL_OK || atomic_flag_test_and_set(&job->failed)) return;
  job->status = status;
  job->error = error;
}

static scl_status apply_tiles(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows, void *phi, ptrdiff_t phi_stride,
                              scl_error *error) {
  const size_t most = scl_max(TILE_PARAMETERS / map->fan_in, 1), across = (map->count + most - 1) / most,
               width = (map->count + across - 1) / across;
  const size_t each = TILE_ROWS * sizeof(double) + TILE_ROWS * width * map->fan_in * scl_dtype_size(map->dtype),
               threads = scl_pool_threads();
  application job = {
      .map = map, .x = x, .phi = phi, .x_stride = x_stride, .phi_stride = phi_stride, .rows = rows, .across = across, .width = width};
  job.scratch_each = (each + 63) / 64 * 64;
  job.scratch = scl_allocate(threads * job.scratch_each);
  if (job.scratch == NULL) return scl_fail_memory(error, threads * job.scratch_each, "a tile of features per thread");
  atomic_flag_clear(&job.failed);
  scl_pool_run((rows + TILE_ROWS - 1) / TILE_ROWS * across, apply_task, &job);
  scl_release(job.scratch);
  if (job.status != SCL_OK && error != NULL) *error = job.error;
  return job.status;
}

/* Monte Carlo: features of the samples, then their mixture. */
static scl_status apply_mixture(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows, void *phi, ptrdiff_t phi_stride,
                                scl_error *error) {
  const size_t inner = scl_map_features(map->inner), size = scl_dtype_size(map->dtype), samples = map->inner->count;
  char *features = scl_allocate_array(rows * inner, size);
  if (features == NULL) return scl_fail_memory(error, rows * inner * size, "Monte Carlo features");
  const scl_status status = apply_tiles(map->inner, x, x_stride, rows, features, (ptrdiff_t)inner, error);
  for (size_t plane = 0; status == SCL_OK && plane < map->fan_out; plane++)
    scl_gemm_parallel(map->dtype, false, false, rows, map->count, samples, 1, features + plane * samples * size, (ptrdiff_t)inner,
                      map->mixing, (ptrdiff_t)map->count, 0, (char *)phi + plane * map->count * size, phi_stride);
  scl_release(features);
  return status;
}

scl_status scl_map_apply(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows, void *phi, ptrdiff_t phi_stride,
                         scl_error *error) {
  if (rows == 0) return SCL_OK;
  if (map->inner != NULL) return apply_mixture(map, x, x_stride, rows, phi, phi_stride, error);
  return apply_tiles(map, x, x_stride, rows, phi, phi_stride, error);
}

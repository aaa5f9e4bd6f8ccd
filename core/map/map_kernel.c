/* The kernel between parameters, of all kinds that have one: bound to the sampler's law p, asked
 * for its tilts of p, and as a matrix. */
#include "base/interrupt.h"
#include "map/kinds.h"
#include <math.h>
#include <string.h>

/* ------------ the tilt */

/* In-degrees of probability 0 have no memory. */
void scl_map_release_tilts(scl_map *map) {
  for (size_t i = 0; map->tilts != NULL && i < map->n_tilts; i++)
    scl_release(map->tilts[i].memory);
  scl_release(map->tilts);
  map->tilts = NULL;
  map->n_tilts = 0;
}

/* K's tilt of one law, with memory for its lists. */
static scl_status get_tilt(scl_map *map, const scl_law *law, scl_tilt_set *out, scl_error *error) {
  const size_t numbers = SCL_TILT_LISTS * map->dim;
  out->memory = scl_allocate_zero((numbers + 1) * sizeof(double));
  if (out->memory == NULL) return scl_fail_memory(error, numbers * sizeof(double), "a tilt");
  out->tilt = scl_tilt_in(out->memory, map->dim);
  return scl_kernel_tilt(map->kernel, law, &out->tilt, error);
}

/* Sparse parameters: a tilt for each in-degree s. K is asked with the law of parameters that have
 * in-degree s with certainty, whose scales contain the factor of that in-degree. */
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

/* Ask K for its tilts. map->tilts stays NULL where K has no closed form for the law, which is not a
 * failure. */
static scl_status get_tilts(scl_map *map, scl_error *error) {
  const bool by_degree = map->space->by_degree;
  if (!scl_instance_has(map->kernel, SCL_ABILITY_TILT)) return SCL_STATUS_OK;
  map->n_tilts = by_degree ? scl_min(map->law.law.max_degree, map->dim) + 1 : 1;
  map->tilts = scl_allocate_zero(map->n_tilts * sizeof *map->tilts);
  if (map->tilts == NULL) return scl_fail_memory(error, map->n_tilts * sizeof *map->tilts, "tilts");
  scl_error found = {0};
  const scl_status status =
      by_degree ? get_degree_tilts(map, &found) : get_tilt(map, &map->law.law, map->tilts, &found);
  if (status != SCL_STATUS_OK) scl_map_release_tilts(map);
  if (status == SCL_STATUS_OK || status == SCL_STATUS_UNSUPPORTED) return SCL_STATUS_OK;
  if (error != NULL) *error = found;
  return status;
}

/* ------------ binding */

/* A sampler without a law leaves the kernel unbound: its width must be given. */
scl_status scl_map_bind_kernel(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  const bool section = scl_instance_kind(map->phi) == SCL_KIND_KERNEL;
  scl_instance *kernel = section ? map->phi : spec->kernel;
  if (kernel == NULL) return SCL_STATUS_OK;
  if (!scl_sampler_has_law(map->sampler)) {
    map->kernel = scl_instance_share(kernel);
    return SCL_STATUS_OK;
  }
  SCL_TRY(scl_law_create(&map->origin, &map->law, error));
  map->law.law.fan_in = map->fan_in;
  SCL_TRY(scl_instance_bind(kernel, &map->law.law, &map->kernel, error));
  if (!section) return get_tilts(map, error);
  scl_instance_release(map->phi);
  map->phi = scl_instance_share(map->kernel);
  return SCL_STATUS_OK;
}

void scl_map_describe_kernel(const scl_map *map, char *text, size_t size) {
  text[0] = 0;
  if (map->kernel != NULL) scl_kernel_describe(map->kernel, text, size);
}

/* ------------ K between parameters: the product over their scalars' rows */

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

/* out (u x v) = K(u_i, v_j), times 2 cos(b_i - b_j) where parameters have phases. Then
 *
 *   E_b' 2 cos(b - b') phi(z + b') = phi(z + b),   phi(z) = sqrt2 cos z, b' uniform on [-pi, pi],
 *
 * and alpha has the norm of the pair (cos z, sin z) that makes the same function. */
static scl_status first_gram(const scl_map *map, const scl_const_parameters *u,
                             const scl_const_parameters *v, double *out, ptrdiff_t stride,
                             scl_error *error) {
  scl_const_parameters left = *u, right = *v;
  left.bias = right.bias = NULL; /* K compares the weights */
  SCL_TRY(scl_kernel_gram(map->kernel, &left, &right, out, stride, error));
  for (size_t i = 0; map->phase && i < u->count; i++)
    for (size_t j = 0; j < v->count; j++)
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] *= 2 * cos(u->bias[i] - v->bias[j]);
  return SCL_STATUS_OK;
}

/* Multiply out (u x v) by K(u_i, v_j), or set it to K if this is the first factor. */
static scl_status multiply_gram(const scl_map *map, const scl_const_parameters *u,
                                const scl_const_parameters *v, bool first, double *out,
                                ptrdiff_t stride, scl_error *error) {
  if (first) return first_gram(map, u, v, out, stride, error);
  double *factor = scl_allocate_array(u->count * v->count + 1, sizeof *factor);
  if (factor == NULL)
    return scl_fail_memory(error, u->count * v->count * sizeof *factor, "a factor of K");
  const scl_status status = scl_kernel_gram(map->kernel, u, v, factor, (ptrdiff_t)v->count, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < u->count; i++)
    for (size_t j = 0; j < v->count; j++)
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] *= factor[i * v->count + j];
  scl_release(factor);
  return status;
}

/* K between parameters u0 .. u0+u_count-1 and v0 .. v0+v_count-1 of the map, as a product over the
 * scalars of a parameter. */
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
  enum { TILE = 128 }; /* parameters between two looks for Ctrl-C */
  for (size_t k = 0; k < map->fan_in; k++)
    for (size_t first = 0; first < u_count; first += TILE) {
      const scl_const_parameters us = scl_parameters_part_view(&u->view, k * u_count + first,
                                                               scl_min(u_count - first, TILE)),
                                 vs = scl_parameters_part_view(&v->view, k * v_count, v_count);
      SCL_TRY(scl_interrupt_check(error));
      SCL_TRY(multiply_gram(map, &us, &vs, k == 0, out + (ptrdiff_t)first * stride, stride, error));
    }
  const scl_kernel_values values = {.kernel = map->kernel,
                                    .left = left,
                                    .right = right,
                                    .rows = u_count,
                                    .cols = v_count,
                                    .values = out,
                                    .stride = stride};
  return scl_kernel_check_values(&values, error);
}

/* ------------ G */

/* A rectangle of G, for scl_symmetric_fill. G has a block for each output of phi; the rectangle may
 * cross blocks, and entries between different outputs are 0. */
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
    const scl_kernel_values values = {.kernel = map->kernel,
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
  if (map->kind->gram != NULL) return map->kind->gram(map, out, error);
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "these features have no K (and phi is not a kernel, which has k itself as K), so "
                  "no Gram matrix of parameters");
}

scl_status scl_map_kernel_gram(const scl_map *map, scl_symmetric **out, scl_error *error) {
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

/* The matrices hold given parameters, so that nothing is drawn: a bare map serves. */
scl_status scl_map_kernel_between(const scl_map *map, const scl_matrix *u, const scl_matrix *v,
                                  scl_matrix *out, scl_error *error) {
  scl_parameter_set left, right;
  if (map->kernel == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "this instantiation has no K");
  const scl_layout layout = scl_map_seen_layout(map);
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

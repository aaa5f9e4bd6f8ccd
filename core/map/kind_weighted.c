/* Kinds `exact` and `quadrature`: a nonlinearity with a K that has a tilt for the sampler's law p
 * (Dube and Marchand 2023). K(w_t, w) p(w) = c(w_t) p_t(w), where p_t is normal about a tilted
 * parameter w_t', so that
 *
 *   Phi(x)_t = E_{w~p} K(w_t, w) phi(<w, x>) = c(w_t) S(<w_t', x>, v),  S(m, v) = E phi(N(m, v^2))
 *
 * S is the nonlinearity's closed form, or a one-dimensional quadrature (smoothing.c). */
#include "base/loops.h"
#include "map/kinds.h"
#include "map/smoothing.h"
#include "plugin/blocks.h"
#include <math.h>
#include <string.h>

static const double SMALL_SQUARE = 1e-280; /* a sum of squares below it may have lost terms */

/* ------------ making: tilted parameters */

/* How many weights row r of `natural` has: of sparse rows the in-degree. */
static size_t degree_of(const scl_map *map, size_t r) {
  const scl_parameters *rows = &map->natural.view;
  size_t degree = 0;
  if (!map->space->by_degree) return rows->reals;
  while (degree < rows->integers && rows->support[r * rows->integers + degree] >= 0)
    degree++;
  return degree;
}
/* The column of x that weight k of row r belongs to. */
static size_t column_of(const scl_map *map, size_t r, size_t k) {
  const scl_parameters *rows = &map->natural.view;
  return rows->support == NULL ? k : (size_t)rows->support[r * rows->integers + k];
}

/* Tilt row r of `natural`. For each of its weights, on column j:
 *
 *   w' = offset_j + shrink_j w           (written to w)
 *   v  = spread_j^2                      (written to v, unless that is NULL)
 *   log c += log0_j + log1_j w + log2_j w^2
 *
 * Returns log c, which also has the log probability of the in-degree; -infinity if that is 0. */
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

/* SCL_SPREAD_PARAMETER: each parameter has the spread of its one column. */
static scl_status set_parameter_spreads(scl_map *map, scl_error *error) {
  const size_t size = scl_dtype_size(map->dtype);
  const double *spread = map->tilts->tilt.spread;
  map->own.weighting.parameter_spread = scl_allocate_array(map->count, size);
  if (map->own.weighting.parameter_spread == NULL)
    return scl_fail_memory(error, map->count * size, "spreads");
  for (size_t t = 0; t < map->count; t++) {
    const double one = spread[column_of(map, t, 0)];
    scl_set_number(map->own.weighting.parameter_spread, map->dtype, t, one);
    if (one != spread[column_of(map, 0, 0)]) map->own.weighting.spread_stride = 1;
  }
  return SCL_STATUS_OK;
}

/* scale_t = c(w_t) exp(-log_scale), where c(w_t) is the product of c over the rows of the scalars
 * of parameter t. log_scale is 0 as long as the largest c is in the range of the dtype, so that
 * features have their true scale and penalties their meaning; else it is the log of that c. */
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

/* The projection on tilted rows. Structured rows cannot be tilted number by number; the projection
 * applies shrink and offset to the columns of x instead. */
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

/* Store what the standard deviation of z depends on, which the space of the parameters decides.
 * `squares` has the squared spreads of each entry of a support, for SCL_SPREAD_ENTRY. */
static scl_status set_spreads(scl_map *map, const scl_parameter_set *squares, scl_error *error) {
  scl_parameters rows = squares->view;
  rows.bias = NULL; /* a phase is no part of a variance */
  const scl_projection_spec spec = {.origin = &map->origin,
                                    .layout = &squares->layout,
                                    .rows = &rows,
                                    .planes = map->pool != NULL ? 1 : map->fan_in,
                                    .dtype = map->dtype};
  if (map->space->spread == SCL_SPREAD_ENTRY)
    return scl_projection_create(&spec, &map->variance, error);
  if (map->space->spread == SCL_SPREAD_PARAMETER) return set_parameter_spreads(map, error);
  const size_t bytes = (map->dim + 1) * sizeof(double);
  double *spread = scl_allocate(bytes);
  if (spread == NULL) return scl_fail_memory(error, bytes, "spreads");
  memcpy(spread, map->tilts->tilt.spread, map->dim * sizeof(double));
  map->own.weighting.column_spread = spread;
  return SCL_STATUS_OK;
}

/* The slot `make`. Features need three things: the projection on tilted weights, the scales c(w_t)
 * and the spreads. */
static scl_status weighted_make(scl_map *map, const scl_map_spec *spec,
                                const scl_parameter_set *drawn, scl_error *error) {
  const size_t rows = map->natural.view.count, reals = map->natural.layout.reals;
  const bool entries = map->space->spread == SCL_SPREAD_ENTRY;
  (void)spec;
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

/* ------------ features of a tile */

/* ||spread o x||, divided by its largest entry before it is squared: for rows whose sum of squares
 * overflows or loses terms. */
static double scaled_norm(const scl_map *map, const void *row) {
  double largest = 0, sum = 0;
  for (size_t j = 0; j < map->dim; j++)
    largest =
        fmax(largest, fabs(scl_number(row, map->dtype, j) * map->own.weighting.column_spread[j]));
  if (largest == 0 || !isfinite(largest)) return largest;
  for (size_t j = 0; j < map->dim; j++) {
    const double share =
        scl_number(row, map->dtype, j) * map->own.weighting.column_spread[j] / largest;
    sum += share * share;
  }
  return largest * sqrt(sum);
}

/* sum_j (factor_j x_j)^2 in double, as loops->square_f64 has it for double. */
static double square_f32(size_t count, const double *factor, const float *x) {
  double sum = 0;
  for (size_t j = 0; j < count; j++) {
    const double v = (double)x[j] * factor[j];
    sum += v * v;
  }
  return sum;
}

/* The same in a sparse row k = first .. end-1; of numbers that are too large or too small to be
 * squared, with the largest divided out. */
static double csr_spread(const scl_map *map, const scl_csr *csr, int64_t first, int64_t end) {
  const double *spread = map->own.weighting.column_spread;
  double sum = 0, largest = 0;
  for (int64_t k = first; k < end; k++) {
    const double v = scl_csr_value(csr, k) * spread[csr->columns[k]];
    largest = fmax(largest, fabs(v));
    sum += v * v;
  }
  if ((sum > SMALL_SQUARE && isfinite(sum)) || largest == 0 || !isfinite(largest)) return sqrt(sum);
  sum = 0;
  for (int64_t k = first; k < end; k++) {
    const double share = scl_csr_value(csr, k) * spread[csr->columns[k]] / largest;
    sum += share * share;
  }
  return largest * sqrt(sum);
}

/* v of each row of a tile: the norm of spread o x, in the map's dtype at `to`. */
static void row_spreads(const scl_map_tile *tile, void *to) {
  const scl_loops *loops = scl_loops_get();
  const scl_map *map = tile->map;
  const double *spread = map->own.weighting.column_spread;
  const scl_csr *csr = &tile->x.csr;
  for (size_t i = 0; csr->starts != NULL && i < tile->rows; i++)
    scl_set_number(to, map->dtype, i, csr_spread(map, csr, csr->starts[i], csr->starts[i + 1]));
  for (size_t i = 0; csr->starts == NULL && i < tile->rows; i++) {
    const void *row = scl_at(tile->x.x, map->dtype, (ptrdiff_t)i * tile->x.x_stride);
    const double sum = map->dtype == SCL_DTYPE_FLOAT64 ? loops->square_f64(map->dim, spread, row)
                                                       : square_f32(map->dim, spread, row);
    const bool in_range = sum > SMALL_SQUARE && isfinite(sum);
    scl_set_number(to, map->dtype, i, in_range ? sqrt(sum) : scaled_norm(map, row));
  }
}

/* The standard deviations of z in a tile: one a row, one a parameter, or one for each entry. */
static scl_status find_spreads(const scl_map_tile *tile, scl_spread *v, scl_error *error) {
  const scl_map *map = tile->map;
  const scl_weighting *w = &map->own.weighting;
  scl_block variances;
  switch (map->space->spread) {
  case SCL_SPREAD_ROW:
    row_spreads(tile, tile->spreads);
    *v = (scl_spread){tile->spreads, 1, 0, 0};
    return SCL_STATUS_OK;
  case SCL_SPREAD_PARAMETER:
    *v = (scl_spread){
        scl_at(w->parameter_spread, map->dtype, (ptrdiff_t)tile->first * w->spread_stride), 0,
        w->spread_stride, 0};
    return SCL_STATUS_OK;
  case SCL_SPREAD_ENTRY:
    break;
  }
  variances = scl_tile_block(tile, tile->v, map->fan_in);
  SCL_TRY(scl_tile_project(tile, &tile->squares, &variances, error));
  const size_t numbers = variances.planes * (size_t)variances.plane_stride;
  double *wide = tile->v;
  float *narrow = tile->v;
  /* Variances that rounding made negative count as 0. */
  if (map->dtype == SCL_DTYPE_FLOAT64)
    for (size_t i = 0; i < numbers; i++)
      wide[i] = sqrt(fmax(wide[i], 0));
  else
    for (size_t i = 0; i < numbers; i++)
      narrow[i] = sqrtf(fmaxf(narrow[i], 0));
  *v = (scl_spread){tile->v, variances.row_stride, 1, variances.plane_stride};
  return SCL_STATUS_OK;
}

/* The slot `tile` of the kind `exact`: S by the nonlinearity's closed form. */
static scl_status exact_tile(const scl_map *map, const scl_map_tile *tile, scl_error *error) {
  const scl_const_block z = scl_block_view(&tile->z);
  scl_spread v;
  SCL_TRY(find_spreads(tile, &v, error));
  return scl_nonlinearity_smooth(map->phi, &z, &v, &tile->y, error);
}

/* The slot `tile` of the kind `quadrature`. */
static scl_status quadrature_tile(const scl_map *map, const scl_map_tile *tile, scl_error *error) {
  const scl_const_block z = scl_block_view(&tile->z);
  scl_spread v;
  SCL_TRY(find_spreads(tile, &v, error));
  return scl_smooth_quadrature(map->phi, &z, &v, &tile->y, map->own.weighting.quadrature_gap,
                               error);
}

/* ------------ the other slots */

static bool exact_claims(const scl_map *map, const scl_map_spec *spec) {
  return map->tilts != NULL && !spec->monte_carlo && !spec->quadrature &&
         scl_instance_has(map->phi, SCL_ABILITY_SMOOTHING);
}

/* The quadrature is one-dimensional: it takes nonlinearities of one number. A nonlinearity of
 * several numbers is claimed too if it has a closed form, which the user declined: then the
 * quadrature itself refuses it, with the reason. */
static bool quadrature_claims(const scl_map *map, const scl_map_spec *spec) {
  return map->tilts != NULL && !spec->monte_carlo &&
         (map->fan_in == 1 || scl_instance_has(map->phi, SCL_ABILITY_SMOOTHING));
}

/* The slot `make` of the kind `quadrature`: weighted_make, and the gap, one number that all threads
 * raise and scl_map_quadrature_gap reads. */
static scl_status quadrature_make(scl_map *map, const scl_map_spec *spec,
                                  const scl_parameter_set *drawn, scl_error *error) {
  _Atomic double *gap = scl_allocate(sizeof *gap);
  if (gap == NULL) return scl_fail_memory(error, sizeof *gap, "a quadrature");
  atomic_init(gap, 0);
  map->own.weighting.quadrature_gap = gap;
  return weighted_make(map, spec, drawn, error);
}

/* A map by keep_some reports into the gap of the map that it was made from. */
static void weighted_release(scl_map *map) {
  scl_weighting *w = &map->own.weighting;
  SCL_RELEASE(w->column_spread, w->parameter_spread);
  if (!w->shared_gap) scl_release((void *)w->quadrature_gap);
}

static void weighted_fill_spec(const scl_map *map, scl_map_spec *spec) {
  spec->kernel = map->kernel;
  spec->quadrature = map->kind->method == SCL_METHOD_QUADRATURE;
}

/* Parameters of one column each have a spread each, or one in common. */
static scl_status weighted_keep_some(const scl_map *map, const size_t *keep, size_t count,
                                     scl_map *some, scl_error *error) {
  const scl_weighting *all = &map->own.weighting;
  const size_t size = scl_dtype_size(map->dtype), numbers = all->spread_stride == 0 ? 1 : count;
  char *spread = scl_allocate_array(numbers + 1, size);
  some->own.weighting = (scl_weighting){.parameter_spread = spread,
                                        .spread_stride = all->spread_stride,
                                        .quadrature_gap = all->quadrature_gap,
                                        .shared_gap = true};
  if (spread == NULL) return scl_fail_memory(error, numbers * size, "spreads");
  for (size_t i = 0; i < numbers; i++)
    memcpy(spread + i * size,
           scl_at(all->parameter_spread, map->dtype, (ptrdiff_t)keep[i] * all->spread_stride),
           size);
  return SCL_STATUS_OK;
}

const scl_map_kind scl_map_kind_exact = {.name = "exact",
                                         .method = SCL_METHOD_EXACT,
                                         .keeps_parameters = true,
                                         .separate = true,
                                         .claims = exact_claims,
                                         .make = weighted_make,
                                         .release = weighted_release,
                                         .fill_spec = weighted_fill_spec,
                                         .keep_some = weighted_keep_some,
                                         .features = scl_map_dense_features,
                                         .apply = scl_map_apply_tiles,
                                         .tile = exact_tile,
                                         .gram = scl_map_kernel_gram};

const scl_map_kind scl_map_kind_quadrature = {.name = "quadrature",
                                              .method = SCL_METHOD_QUADRATURE,
                                              .keeps_parameters = true,
                                              .separate = true,
                                              .claims = quadrature_claims,
                                              .make = quadrature_make,
                                              .release = weighted_release,
                                              .fill_spec = weighted_fill_spec,
                                              .keep_some = weighted_keep_some,
                                              .features = scl_map_dense_features,
                                              .apply = scl_map_apply_tiles,
                                              .tile = quadrature_tile,
                                              .gram = scl_map_kernel_gram};

double scl_map_quadrature_gap(const scl_map *map) {
  return map->kind != &scl_map_kind_quadrature || map->bare
             ? 0
             : atomic_load(map->own.weighting.quadrature_gap);
}

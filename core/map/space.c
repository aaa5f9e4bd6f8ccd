/* The rules of parameter spaces: for each space how its rows are checked, stored and projected, and
 * the table of them at the end. */
#include "map/space.h"

#include "algebra/row_products.h"
#include "base/loops.h"
#include "plugin/blocks.h"
#include <string.h>

static const void *row_of_x(const scl_projection *p, const scl_tile *t, size_t i) {
  return scl_at(t->x, p->dtype, (ptrdiff_t)i * t->x_stride);
}
static void *row_of_z(const scl_projection *p, const scl_tile *t, size_t i) {
  return scl_at_mutable(t->z, p->dtype, (ptrdiff_t)i * t->z_stride);
}

/* Refuse a support that names a column which the data do not have. */
static scl_status check_columns(const char *name, const scl_parameters *drawn, scl_error *error) {
  const int32_t lowest = scl_space_of(drawn->space)->least_column;
  for (size_t i = 0; i < drawn->count * drawn->integers; i++)
    if (drawn->support[i] < lowest || (size_t)drawn->support[i] + 1 > drawn->dim)
      return scl_fail(error, SCL_STATUS_INTERNAL, "sampler.%s drew column %ld of %zu", name,
                      (long)drawn->support[i] + 1, drawn->dim);
  return SCL_STATUS_OK;
}

/* ------------ dense: rows as columns of a packed matrix */

static bool dense_fits(const scl_layout *layout, size_t dim) {
  return layout->reals == dim && layout->integers == 0;
}

/* Room for dense rows of zeros. */
static scl_status dense_open(scl_projection *p, scl_error *error) {
  const size_t numbers = scl_strip_numbers(p->dtype, p->dim, p->rows),
               bytes = scl_max(numbers, 1) * scl_dtype_size(p->dtype);
  p->bytes = p->rows * p->dim * scl_dtype_size(p->dtype);
  p->weights = scl_allocate_zero(bytes);
  return p->weights == NULL ? scl_fail_memory(error, bytes, "the parameters") : SCL_STATUS_OK;
}

/* Slot `store`: dense rows in the strips that scl_row_product reads. */
static scl_status dense_store(scl_projection *p, const scl_projection_spec *spec,
                              scl_error *error) {
  SCL_TRY(dense_open(p, error));
  for (size_t t = 0; t < p->rows; t++)
    scl_strip_set(p->dtype, p->dim, t, spec->rows->weights + (ptrdiff_t)t * spec->rows->stride,
                  p->weights);
  return SCL_STATUS_OK;
}

static scl_status dense_project(const scl_projection *p, const scl_tile *t, scl_error *error) {
  (void)error;
  scl_row_product(p->dtype, t->rows, t->first, t->cols, p->dim, t->x, t->x_stride, p->weights, t->z,
                  t->z_stride);
  return SCL_STATUS_OK;
}

/* ------------ sparse
 *
 * Three ways, by the cost of their products. Few slots: weights and support are slots x rows, so
 * that a loop runs over neighbouring parameters; empty slots point to column 0 with weight 0. More:
 * a loop runs over SCL_LANES neighbouring rows of data, which are turned for it, and weights and
 * support are the slots of one parameter after the other. Slots for a good part of the columns are
 * spelled out as dense rows. */

enum { RUN = 64 };

/* Costs in dense products: a gathered product, a product on turned rows, and a result on
 * turned rows, each of which is written to another row of z. */
static const size_t GATHER_COST = 24, LANES_COST = 3, TURNED_COST = 64;

static bool sparse_fits(const scl_layout *layout, size_t dim) {
  (void)dim;
  return layout->reals == layout->integers;
}

/* A support lists columns of the data in ascending order, then only -1. */
static scl_status sparse_check(const char *name, const scl_parameters *drawn, scl_error *error) {
  SCL_TRY(check_columns(name, drawn, error));
  for (size_t t = 0; t < drawn->count; t++) {
    const int32_t *columns = drawn->support + (ptrdiff_t)t * drawn->support_stride;
    for (size_t i = 1; i < drawn->integers; i++)
      if (columns[i] >= 0 && columns[i] <= (columns[i - 1] < 0 ? INT32_MAX : columns[i - 1]))
        return scl_fail(error, SCL_STATUS_INTERNAL,
                        "sampler.%s drew columns that do not ascend, or stand after a -1", name);
  }
  return SCL_STATUS_OK;
}

/* The columns of parameter t, `integers` of them, -1 after the last. */
static const int32_t *support_of(const scl_parameters *rows, size_t t) {
  return rows->support + (ptrdiff_t)t * rows->support_stride;
}

/* The in-degree of a parameter: columns before the first -1. */
static size_t degree_of(const scl_parameters *rows, size_t t) {
  size_t degree = 0;
  while (degree < rows->integers && support_of(rows, t)[degree] >= 0)
    degree++;
  return degree;
}

static double weight_of(const scl_parameters *rows, size_t t, size_t k) {
  return rows->weights[(ptrdiff_t)t * rows->stride + (ptrdiff_t)k];
}

/* Store sparse rows as dense ones: the projection goes on by the rule of the dense space. */
static scl_status spell_out(scl_projection *p, const scl_projection_spec *spec, scl_error *error) {
  p->rule = scl_space_of(SCL_SPACE_DENSE);
  SCL_TRY(dense_open(p, error));
  double *row = scl_allocate_array(p->dim + 1, sizeof *row);
  if (row == NULL) return scl_fail_memory(error, p->dim * sizeof *row, "the parameters");
  for (size_t t = 0; t < p->rows; t++) {
    memset(row, 0, p->dim * sizeof *row);
    for (size_t k = 0, degree = degree_of(spec->rows, t); k < degree; k++)
      row[support_of(spec->rows, t)[k]] = weight_of(spec->rows, t, k);
    scl_strip_set(p->dtype, p->dim, t, row, p->weights);
  }
  scl_release(row);
  return SCL_STATUS_OK;
}

/* Store slot after slot: weights and support are slots x rows. */
static scl_status by_slots(scl_projection *p, const scl_projection_spec *spec, scl_error *error) {
  const size_t count = scl_max(p->slots * p->rows, 1), runs = (p->rows + RUN - 1) / RUN;
  p->bytes = p->rows * scl_max(p->slots, 1) * (scl_dtype_size(p->dtype) + sizeof *p->support);
  p->weights = scl_allocate_zero(count * scl_dtype_size(p->dtype));
  p->support = scl_allocate_zero(count * sizeof *p->support);
  p->degree = scl_allocate_zero((runs + 1) * sizeof *p->degree);
  if (p->weights == NULL || p->support == NULL || p->degree == NULL)
    return scl_fail_memory(error, count * (scl_dtype_size(p->dtype) + sizeof *p->support),
                           "the parameters");
  for (size_t t = 0; t < p->rows; t++) {
    const size_t degree = degree_of(spec->rows, t);
    if ((int32_t)degree > p->degree[t / RUN]) p->degree[t / RUN] = (int32_t)degree;
    for (size_t k = 0; k < degree; k++) {
      p->support[k * p->rows + t] = support_of(spec->rows, t)[k];
      scl_set_number(p->weights, p->dtype, k * p->rows + t, weight_of(spec->rows, t, k));
    }
  }
  return SCL_STATUS_OK;
}

/* Store parameter after parameter; `count` is the sum of their in-degrees. */
static scl_status by_lanes(scl_projection *p, const scl_projection_spec *spec, size_t count,
                           scl_error *error) {
  p->bytes = count * (scl_dtype_size(p->dtype) + sizeof *p->support) + p->rows * sizeof *p->begin;
  p->weights = scl_allocate_array(count + 1, scl_dtype_size(p->dtype));
  p->support = scl_allocate_array(count + 1, sizeof *p->support);
  p->begin = scl_allocate_array(p->rows + 1, sizeof *p->begin);
  if (p->weights == NULL || p->support == NULL || p->begin == NULL)
    return scl_fail_memory(error, count * (scl_dtype_size(p->dtype) + sizeof *p->support),
                           "the parameters");
  size_t at = 0;
  for (size_t t = 0; t < p->rows; t++) {
    p->begin[t] = at;
    for (size_t k = 0, degree = degree_of(spec->rows, t); k < degree; k++, at++) {
      p->support[at] = support_of(spec->rows, t)[k];
      scl_set_number(p->weights, p->dtype, at, weight_of(spec->rows, t, k));
    }
  }
  p->begin[p->rows] = at;
  return SCL_STATUS_OK;
}

/* Choose the cheapest of the three ways, by the costs above. */
static scl_status sparse_store(scl_projection *p, const scl_projection_spec *spec,
                               scl_error *error) {
  size_t count = 0;
  p->slots = spec->layout->integers;
  if (p->slots * GATHER_COST <= p->dim) return by_slots(p, spec, error);
  for (size_t t = 0; t < p->rows; t++)
    count += degree_of(spec->rows, t);
  const bool few = count * LANES_COST + p->rows * TURNED_COST <= p->rows * p->dim;
  return few ? by_lanes(p, spec, count, error) : spell_out(p, spec, error);
}

/* z of turned rows, parameter by parameter, all SCL_LANES rows at once. */
static void project_turned(const scl_projection *p, const scl_tile *t) {
  const scl_loops *loops = scl_loops_get();
  union {
    double wide[SCL_LANES];
    float narrow[SCL_LANES];
  } sums;
  for (size_t j = 0; j < t->cols; j++) {
    const size_t at = p->begin[t->first + j], slots = p->begin[t->first + j + 1] - at;
    if (p->dtype == SCL_DTYPE_FLOAT64) {
      double *z = (double *)t->z + j;
      loops->lanes_sum_f64(slots, t->turned, p->support + at, (const double *)p->weights + at,
                           sums.wide);
      for (size_t i = 0; i < t->rows; i++)
        z[(ptrdiff_t)i * t->z_stride] = sums.wide[i];
    } else {
      float *z = (float *)t->z + j;
      loops->lanes_sum_f32(slots, t->turned, p->support + at, (const float *)p->weights + at,
                           sums.narrow);
      for (size_t i = 0; i < t->rows; i++)
        z[(ptrdiff_t)i * t->z_stride] = sums.narrow[i];
    }
  }
}

/* z on turned rows: those that the task has turned, or else turned here, SCL_LANES at a time. */
static scl_status lanes_project(const scl_projection *p, const scl_tile *t, scl_error *error) {
  if (t->turned != NULL) {
    project_turned(p, t);
    return SCL_STATUS_OK;
  }
  const size_t bytes = p->dim * SCL_LANES * scl_dtype_size(p->dtype);
  void *turned = scl_allocate(bytes);
  if (turned == NULL) return scl_fail_memory(error, bytes, "turned rows");
  for (size_t i = 0; i < t->rows; i += SCL_LANES) {
    scl_tile part = *t;
    part.x = row_of_x(p, t, i);
    part.z = row_of_z(p, t, i);
    part.rows = scl_min(t->rows - i, SCL_LANES);
    part.turned = turned;
    scl_projection_turn(p, part.x, part.x_stride, part.rows, turned);
    project_turned(p, &part);
  }
  scl_release(turned);
  return SCL_STATUS_OK;
}

/* The slot `project` of sparse rows that were not spelled out. Row by row, run by run of
 * parameters: as many slots as the largest in-degree of the run. */
static scl_status sparse_project(const scl_projection *p, const scl_tile *t, scl_error *error) {
  const scl_loops *loops = scl_loops_get();
  const size_t end = t->first + t->cols;
  if (p->begin != NULL) return lanes_project(p, t, error);
  for (size_t i = 0; i < t->rows; i++) {
    const void *x = row_of_x(p, t, i);
    void *z = row_of_z(p, t, i);
    for (size_t at = t->first; at < end;) {
      const size_t stop = scl_min(end, (at / RUN + 1) * RUN), slots = (size_t)p->degree[at / RUN];
      void *to = scl_at_mutable(z, p->dtype, (ptrdiff_t)(at - t->first));
      if (p->dtype == SCL_DTYPE_FLOAT64)
        loops->gather_sum_f64(stop - at, slots, p->rows, x, p->support + at,
                              (const double *)p->weights + at, to);
      else
        loops->gather_sum_f32(stop - at, slots, p->rows, x, p->support + at,
                              (const float *)p->weights + at, to);
      at = stop;
    }
  }
  return SCL_STATUS_OK;
}

/* ------------ threshold: one number and one column */

static bool threshold_fits(const scl_layout *layout, size_t dim) {
  return layout->reals == 1 && layout->integers == 1 && dim > 0 && dim < INT32_MAX;
}

/* Slot `store`: for each parameter its threshold in the map's dtype, and its column. */
static scl_status threshold_store(scl_projection *p, const scl_projection_spec *spec,
                                  scl_error *error) {
  const size_t size = scl_dtype_size(p->dtype);
  p->bytes = p->rows * (size + sizeof *p->support);
  p->weights = scl_allocate_array(p->rows + 1, size);
  p->support = scl_allocate_array(p->rows + 1, sizeof *p->support);
  if (p->weights == NULL || p->support == NULL)
    return scl_fail_memory(error, p->rows * (size + sizeof *p->support), "the parameters");
  for (size_t t = 0; t < p->rows; t++) {
    scl_set_number(p->weights, p->dtype, t, weight_of(spec->rows, t, 0));
    p->support[t] = support_of(spec->rows, t)[0];
  }
  return SCL_STATUS_OK;
}

/* Slot `project`: z_t = x_j - threshold of t, j the column of t (loops->gather_...). */
static scl_status threshold_project(const scl_projection *p, const scl_tile *t, scl_error *error) {
  const scl_loops *loops = scl_loops_get();
  (void)error;
  for (size_t i = 0; i < t->rows; i++) {
    if (p->dtype == SCL_DTYPE_FLOAT64)
      loops->gather_f64(t->cols, row_of_x(p, t, i), p->support + t->first,
                        (const double *)p->weights + t->first, row_of_z(p, t, i));
    else
      loops->gather_f32(t->cols, row_of_x(p, t, i), p->support + t->first,
                        (const float *)p->weights + t->first, row_of_z(p, t, i));
  }
  return SCL_STATUS_OK;
}

/* ------------ grid: cells.c does the rest */

static bool grid_fits(const scl_layout *layout, size_t dim) {
  return layout->reals == 2 * dim && layout->integers == 0 && dim > 0;
}

/* Slot `check_drawn`: all pitches, the first dim numbers of a parameter, must be above 0, as cells
 * divide by them. */
static scl_status grid_check(const char *name, const scl_parameters *drawn, scl_error *error) {
  for (size_t i = 0; i < drawn->count; i++)
    for (size_t j = 0; j < drawn->dim; j++)
      if (!(drawn->weights[i * drawn->reals + j] > 0))
        return scl_fail(error, SCL_STATUS_NUMERIC,
                        "sampler.%s drew a pitch that is not above 0 (grid %zu): the rate is too "
                        "large",
                        name, drawn->first + i + 1);
  return SCL_STATUS_OK;
}

/* ------------ structured: the sampler multiplies */

/* The draw of plane k, and its parameters first .. first+count-1, as the sampler gets them: each
 * plane counts from the set's first parameter, and the host adds the bias. */
static scl_draw plane_of(const scl_projection *p, size_t k, size_t first, size_t count,
                         scl_const_parameters *part) {
  const size_t run = p->rows / p->planes;
  *part = scl_parameters_part_view(&p->structured.view, k * run + first, count);
  part->first -= k * run;
  part->bias = NULL;
  if (p->prepared != NULL) part->prepared = p->prepared[k].work;
  return scl_origin_draw(&p->origin, k, p->planes);
}

/* Let the sampler prepare its calls on each plane. */
static scl_status prepare_planes(scl_projection *p, scl_error *error) {
  scl_prepared_work *prepared = scl_allocate_zero((p->planes + 1) * sizeof *prepared);
  scl_status status = SCL_STATUS_OK;
  if (prepared == NULL) return scl_fail_memory(error, p->planes * sizeof *prepared, "a projection");
  for (size_t k = 0; status == SCL_STATUS_OK && k < p->planes; k++) {
    scl_const_parameters all;
    const scl_draw draw = plane_of(p, k, 0, p->rows / p->planes, &all);
    status = scl_prepare(p->origin.sampler, &draw, &all, p->dtype, &prepared[k], error);
  }
  p->prepared = prepared;
  return status;
}

/* Keep the sampler's numbers, and the column factors and offsets of a tilt, if they change
 * anything. */
static scl_status structured_store(scl_projection *p, const scl_projection_spec *spec,
                                   scl_error *error) {
  const scl_parameter_set rows = {*spec->layout, *spec->rows};
  p->bytes =
      p->rows * (spec->layout->reals * sizeof(double) + spec->layout->integers * sizeof(int32_t));
  p->origin = *spec->origin;
  p->origin.sampler = scl_instance_share(spec->origin->sampler);
  SCL_TRY(scl_parameters_copy(&rows, 0, p->rows, &p->structured, error));
  if (spec->factor != NULL && (p->factor = scl_convert(spec->factor, p->dim, p->dtype)) == NULL)
    return scl_fail_memory(error, p->dim * sizeof *spec->factor, "column factors");
  bool moved = false;
  for (size_t j = 0; spec->offset != NULL && j < p->dim; j++)
    moved = moved || spec->offset[j] != 0;
  if (moved && (p->offset = scl_convert(spec->offset, p->dim, p->dtype)) == NULL)
    return scl_fail_memory(error, p->dim * sizeof *spec->offset, "column offsets");
  return prepare_planes(p, error);
}

/* Add <offset, x>, which is the same for all parameters, to each row of z. */
static void add_offset(const scl_projection *p, const scl_tile *t) {
  for (size_t i = 0; p->offset != NULL && i < t->rows; i++) {
    const void *x = row_of_x(p, t, i);
    void *z = row_of_z(p, t, i);
    double sum = 0;
    for (size_t j = 0; j < p->dim; j++)
      sum += scl_number(p->offset, p->dtype, j) * scl_number(x, p->dtype, j);
    for (size_t j = 0; j < t->cols; j++)
      scl_set_number(z, p->dtype, j, scl_number(z, p->dtype, j) + sum);
  }
}

/* factor o x for the rows of a tile, packed, in fresh memory; NULL: none left. */
static void *scaled_rows(const scl_projection *p, const scl_tile *t) {
  void *scaled = scl_allocate_array(t->rows * p->dim + 1, scl_dtype_size(p->dtype));
  for (size_t i = 0; scaled != NULL && i < t->rows; i++)
    for (size_t j = 0; j < p->dim; j++)
      scl_set_number(scaled, p->dtype, i * p->dim + j,
                     scl_number(row_of_x(p, t, i), p->dtype, j) *
                         scl_number(p->factor, p->dtype, j));
  return scaled;
}

/* z = <factor o w + offset, x> = <w, factor o x> + <offset, x>, where the sampler makes <w, .>. A
 * tile never crosses planes, whose parameters the sampler counts from 0. */
static scl_status structured_project(const scl_projection *p, const scl_tile *t, scl_error *error) {
  const size_t run = p->rows / p->planes, plane = t->first / scl_max(run, 1);
  scl_const_parameters part;
  const scl_draw draw = plane_of(p, plane, t->first - plane * run, t->cols, &part);
  const scl_block z = {.data = t->z,
                       .dtype = p->dtype,
                       .rows = t->rows,
                       .cols = t->cols,
                       .planes = 1,
                       .row_stride = t->z_stride};
  if (t->csr != NULL) { /* without factors and offsets: scl_projection_takes_csr */
    const scl_const_csr rows = scl_csr_const(t->csr, 0, t->rows);
    return scl_sampler_apply_csr(p->origin.sampler, &draw, &part, &rows, &z, error);
  }
  void *scaled = p->factor == NULL ? NULL : scaled_rows(p, t);
  if (p->factor != NULL && scaled == NULL)
    return scl_fail_memory(error, t->rows * p->dim * scl_dtype_size(p->dtype), "scaled rows");
  const scl_const_block x = {.data = scaled == NULL ? t->x : scaled,
                             .dtype = p->dtype,
                             .rows = t->rows,
                             .cols = p->dim,
                             .planes = 1,
                             .row_stride = scaled == NULL ? t->x_stride : (ptrdiff_t)p->dim};
  const scl_status status = scl_sampler_apply(p->origin.sampler, &draw, &part, &x, &z, error);
  scl_release(scaled);
  if (status == SCL_STATUS_OK) add_offset(p, t);
  return status;
}

/* ------------ the table */

static const scl_space_rule rules[] = {
    [SCL_SPACE_DENSE] = {.summary = "w in R^d: z = <w, x> (+ b)",
                         .rows = "dense rows",
                         .matrix_row = "weights",
                         .seen = SCL_SPACE_DENSE,
                         .several = true,
                         .spread = SCL_SPREAD_ROW,
                         .fits_layout = dense_fits,
                         .store = dense_store,
                         .project = dense_project},
    [SCL_SPACE_SPARSE] = {.summary =
                              "weights w on a support N of few columns: z = <w_N, x_N> (+ b)",
                          .rows = "sparse rows",
                          .matrix_row = "columns, then weights",
                          .names_columns = true,
                          .seen = SCL_SPACE_SPARSE,
                          .several = true,
                          .by_degree = true,
                          .least_column = -1,
                          .spread = SCL_SPREAD_ENTRY,
                          .fits_layout = sparse_fits,
                          .check_drawn = sparse_check,
                          .store = sparse_store,
                          .project = sparse_project},
    [SCL_SPACE_THRESHOLD] = {.summary = "(i, t), a column and a threshold: z = x_i - t",
                             .rows = "thresholds",
                             .matrix_row = "column and threshold",
                             .by_threshold = true,
                             .names_columns = true,
                             .seen = SCL_SPACE_THRESHOLD,
                             .spread = SCL_SPREAD_PARAMETER,
                             .fits_layout = threshold_fits,
                             .check_drawn = check_columns,
                             .store = threshold_store,
                             .project = threshold_project},
    [SCL_SPACE_GRID] = {.summary =
                            "pitches and shifts, one a column: the cell floor((x_j - u_j)/delta_j)",
                        .rows = "grids",
                        .matrix_row = "pitches, then shifts",
                        .seen = SCL_SPACE_GRID,
                        .several = true,
                        .cells = true,
                        .fits_layout = grid_fits,
                        .check_drawn = grid_check},
    [SCL_SPACE_STRUCTURED] = {.summary = "numbers private to the sampler, which makes z(w, x) of "
                                         "them: z = <w, x> (+ b) in O(log d)",
                              .rows = "structured rows",
                              .matrix_row = "numbers of its own",
                              .seen = SCL_SPACE_DENSE,
                              .several = true,
                              .whole_blocks = true,
                              .spread = SCL_SPREAD_ROW,
                              .store = structured_store,
                              .project = structured_project},
};

scl_space scl_space_count(void) { return (scl_space)(sizeof rules / sizeof *rules); }

const scl_space_rule *scl_space_of(scl_space space) {
  return space >= 0 && space < scl_space_count() ? &rules[space] : NULL;
}

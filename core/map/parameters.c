/* Parameters: drawing them, copying them, and the matrices of which users give and get them. What
 * depends on the space of the parameters is in the table of space.c. */
#include "map/parameters.h"

#include "base/pool.h"
#include "base/text.h"
#include "map/space.h"
#include "processes/processes.h"
#include <math.h>
#include <string.h>

/* ------------ origins */

scl_origin scl_origin_of(scl_instance *sampler, size_t dim, size_t total, uint64_t seed,
                         uint64_t stream, const scl_matrix *state) {
  scl_origin origin = {.sampler = sampler,
                       .draw = {.head = SCL_HEAD(scl_draw),
                                .address = {seed, stream},
                                .dim = dim,
                                .total = total,
                                .planes = 1}};
  if (state != NULL && state->storage != NULL)
    origin.state = (scl_state){SCL_HEAD(scl_state), state->data, state->rows, state->cols, 0};
  return origin;
}

scl_draw scl_origin_draw(const scl_origin *origin, size_t plane, size_t planes) {
  scl_draw draw = origin->draw;
  draw.plane = plane;
  draw.planes = planes;
  draw.address.stream += (uint64_t)plane << 32; /* the streams of different planes never meet */
  draw.state = origin->state.numbers == NULL ? NULL : &origin->state;
  return draw;
}

/* ------------ layouts and room */

scl_status scl_parameters_layout(const scl_instance *sampler, size_t dim, size_t count,
                                 scl_layout *out, scl_error *error) {
  SCL_TRY(scl_instance_expect(sampler, SCL_KIND_SAMPLER, error));
  SCL_TRY(scl_sampler_layout(sampler, dim, count, out, error));
  const scl_space_rule *space = scl_space_of(out->space);
  if (space == NULL || out->block == 0)
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "sampler.%s describes no parameter space that this version knows",
                    scl_instance_name(sampler));
  if (space->fits_layout != NULL && !space->fits_layout(out, dim))
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "sampler.%s describes %zu reals and %zu integers a parameter, which its space "
                    "(%s) does not have",
                    scl_instance_name(sampler), out->reals, out->integers,
                    scl_space_name(out->space));
  return SCL_STATUS_OK;
}

scl_status scl_parameters_reserve(const scl_layout *layout, size_t dim, size_t first, size_t count,
                                  scl_parameter_set *out, scl_error *error) {
  const double each = (double)layout->reals * sizeof(double) +
                      (double)layout->integers * sizeof(int32_t) +
                      (layout->has_bias ? sizeof(double) : 0);
  const double bytes = each * (double)count;
  char text[32];
  memset(out, 0, sizeof *out);
  out->layout = *layout;
  out->view = (scl_parameters){.head = SCL_HEAD(scl_parameters),
                               .space = layout->space,
                               .first = first,
                               .count = count,
                               .dim = dim,
                               .reals = layout->reals,
                               .integers = layout->integers,
                               .stride = (ptrdiff_t)layout->reals,
                               .support_stride = (ptrdiff_t)layout->integers};
  bool enough = bytes < 1e14; /* beyond, products of sizes might wrap around */
  if (enough)
    out->view.weights = scl_allocate_zero(scl_max(count * layout->reals, 1) * sizeof(double));
  enough = enough && out->view.weights != NULL;
  if (enough && layout->integers > 0)
    enough =
        (out->view.support = scl_allocate_zero(count * layout->integers * sizeof(int32_t))) != NULL;
  if (enough && layout->has_bias)
    enough = (out->view.bias = scl_allocate_zero(scl_max(count, 1) * sizeof(double))) != NULL;
  if (enough) return SCL_STATUS_OK;
  scl_parameters_release(out);
  return scl_fail(error, SCL_STATUS_NO_MEMORY,
                  "%zu parameters of %zu columns would take %s: not enough memory", count, dim,
                  scl_bytes_text(bytes, text));
}

void scl_parameters_release(scl_parameter_set *set) {
  SCL_RELEASE(set->view.weights, set->view.bias, set->view.support);
  memset(set, 0, sizeof *set);
}

void scl_parameters_copy_row(const scl_parameter_set *set, size_t from, scl_parameter_set *out,
                             size_t to) {
  const size_t reals = set->layout.reals, integers = set->layout.integers;
  memcpy(out->view.weights + to * reals, set->view.weights + from * reals, reals * sizeof(double));
  if (integers > 0)
    memcpy(out->view.support + to * integers, set->view.support + from * integers,
           integers * sizeof(int32_t));
  if (out->view.bias != NULL) out->view.bias[to] = set->view.bias[from];
}

scl_status scl_parameters_copy(const scl_parameter_set *set, size_t from, size_t count,
                               scl_parameter_set *out, scl_error *error) {
  SCL_TRY(scl_parameters_reserve(&set->layout, set->view.dim, set->view.first + from, count, out,
                                 error));
  for (size_t i = 0; i < count; i++)
    scl_parameters_copy_row(set, from + i, out, i);
  return SCL_STATUS_OK;
}

scl_parameters scl_parameters_part(const scl_parameters *all, size_t first, size_t count) {
  scl_parameters part = *all;
  part.first += first;
  part.count = count;
  part.weights += (ptrdiff_t)first * part.stride;
  if (part.bias != NULL) part.bias += first;
  if (part.support != NULL) part.support += (ptrdiff_t)first * part.support_stride;
  return part;
}

scl_const_parameters scl_parameters_part_view(const scl_parameters *all, size_t first,
                                              size_t count) {
  const scl_parameters part = scl_parameters_part(all, first, count);
  return scl_parameters_view(&part);
}

size_t scl_parameters_plane(const scl_layout *layout, size_t count) {
  const size_t block = scl_space_of(layout->space)->whole_blocks ? layout->block : 1;
  return (count + block - 1) / block * block;
}

/* ------------ drawing, in batches of 64 on the pool */

enum { BATCH = 64 }; /* parameters of a task; rounded up to whole blocks of structured ones */

/* Planes of parameters to draw. */
typedef struct drawing {
  const scl_origin *origin;
  const scl_parameters *all;
  size_t plane, planes;        /* parameters of a plane, and planes */
  size_t batch, batches, from; /* parameters of a batch, batches of a plane; the first one of all */
} drawing;

/* Which numbers a parameter gets depends on its index alone, so that batches do not matter. */
static scl_status draw_batch(void *context, size_t index, scl_error *error) {
  const drawing *job = context;
  const size_t k = (job->from + index) / job->batches,
               from = (job->from + index) % job->batches * job->batch;
  const scl_draw draw = scl_origin_draw(job->origin, k, job->planes);
  scl_parameters part =
      scl_parameters_part(job->all, k * job->plane + from, scl_min(job->batch, job->plane - from));
  part.first = job->all->first + from;
  return scl_sampler_draw(job->origin->sampler, &draw, &part, error);
}

/* Each process draws its part of many dense weights, into memory that all have in common. Where one
 * fails, *drawn = false, and each is to draw all of them: the sentence is then that of one alone. */
static scl_status draw_together(drawing job, scl_parameter_set *out, bool *drawn,
                                scl_error *error) {
  enum { LEAST_BYTES = SCL_BUFFER(1 << 22) };
  const size_t bytes = out->view.count * out->layout.reals * sizeof(double);
  scl_parameters shared = out->view;
  void *weights;
  size_t end;
  *drawn = false;
  if (bytes < LEAST_BYTES || shared.bias != NULL || shared.support != NULL ||
      !scl_processes_divide())
    return SCL_STATUS_OK;
  SCL_TRY(scl_processes_share(SCL_STATUS_OK, bytes, &weights, error));
  if (weights == NULL) return SCL_STATUS_OK;
  shared.weights = weights;
  job.all = &shared;
  scl_processes_part(scl_processes_rank(), job.batches * job.planes, &job.from, &end);
  scl_status status = scl_pool_try(end - job.from, draw_batch, &job, error);
  int64_t failed = status != SCL_STATUS_OK;
  status = scl_processes_meet(status == SCL_STATUS_CANCELLED ? status : SCL_STATUS_OK, error,
                              "the end of drawing %zu parameters", shared.count);
  if (status == SCL_STATUS_OK) status = scl_processes_maximum(&failed, 1, error);
  *drawn = status == SCL_STATUS_OK && failed == 0;
  scl_release(*drawn ? out->view.weights : weights);
  if (*drawn) out->view.weights = weights;
  return status;
}

/* Refuse drawn parameters that are not finite, or that their space cannot have. This is the only
 * check: projections use the parameters as they are. */
static scl_status check_drawn(const scl_instance *sampler, const scl_parameter_set *set,
                              scl_error *error) {
  const scl_parameters *view = &set->view;
  const char *name = scl_instance_name(sampler);
  for (size_t i = 0; i < view->count * set->layout.reals; i++)
    if (!isfinite(view->weights[i]))
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "sampler.%s drew a weight that is not finite (parameter %zu): the width is "
                      "too large",
                      name, view->first + i / set->layout.reals + 1);
  for (size_t i = 0; view->bias != NULL && i < view->count; i++)
    if (!isfinite(view->bias[i]))
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "sampler.%s drew a bias that is not finite (parameter %zu)", name,
                      view->first + i + 1);
  const scl_space_rule *space = scl_space_of(view->space);
  return space->check_drawn == NULL ? SCL_STATUS_OK : space->check_drawn(name, view, error);
}

scl_status scl_parameters_draw(const scl_origin *origin, const scl_layout *layout, size_t first,
                               size_t count, size_t fan_in, bool together, scl_parameter_set *out,
                               scl_error *error) {
  const size_t plane = scl_parameters_plane(layout, count),
               batch = (BATCH + layout->block - 1) / layout->block * layout->block;
  drawing job = {origin, &out->view, plane, fan_in, batch, (plane + batch - 1) / batch, 0};
  bool drawn = false;
  SCL_TRY(scl_parameters_reserve(layout, origin->draw.dim, first, plane * fan_in, out, error));
  scl_status status = together ? draw_together(job, out, &drawn, error) : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK && !drawn)
    status = scl_pool_try(job.batches * fan_in, draw_batch, &job, error);
  if (status == SCL_STATUS_OK) status = check_drawn(origin->sampler, out, error);
  if (status != SCL_STATUS_OK) scl_parameters_release(out);
  return status;
}

/* Whole blocks are asked for, because a structured sampler makes their rows together; of the last
 * block only the rows wanted are copied. */
scl_status scl_parameters_dense(const scl_origin *origin, const scl_parameter_set *set,
                                size_t plane, size_t count, size_t fan_in, scl_parameter_set *out,
                                scl_error *error) {
  const size_t dim = set->view.dim, block = set->layout.block;
  scl_layout dense = set->layout;
  dense.space = scl_space_of(set->layout.space)->seen;
  dense.reals = dim;
  dense.integers = 0;
  dense.block = 1;
  SCL_TRY(scl_parameters_reserve(&dense, dim, set->view.first, count * fan_in, out, error));
  double *rows = scl_allocate_array(block * dim + 1, sizeof *rows);
  scl_status status = rows == NULL
                          ? scl_fail_memory(error, block * dim * sizeof *rows, "rows of a block")
                          : SCL_STATUS_OK;
  for (size_t k = 0; k < fan_in; k++) {
    const scl_draw draw = scl_origin_draw(origin, k, fan_in);
    for (size_t from = 0; status == SCL_STATUS_OK && from < count; from += block) {
      const scl_const_parameters part =
          scl_parameters_part_view(&set->view, k * plane + from, block);
      const size_t wanted = scl_min(block, count - from), to = k * count + from;
      status = scl_sampler_rows(origin->sampler, &draw, &part, rows, (ptrdiff_t)dim, error);
      if (status != SCL_STATUS_OK) break;
      memcpy(out->view.weights + to * dim, rows, wanted * dim * sizeof *rows);
      if (out->view.bias != NULL) memcpy(out->view.bias + to, part.bias, wanted * sizeof *rows);
    }
  }
  scl_release(rows);
  if (status != SCL_STATUS_OK) scl_parameters_release(out);
  return status;
}

/* ------------ as a matrix */

/* Numbers of a parameter in a row of a matrix. */
static size_t matrix_cols(const scl_layout *layout) {
  return layout->integers + layout->reals + (layout->has_bias ? 1 : 0);
}

scl_status scl_parameters_matrix(const scl_parameter_set *set, scl_matrix *out, scl_error *error) {
  const scl_layout *layout = &set->layout;
  const size_t cols = matrix_cols(layout);
  SCL_TRY(scl_matrix_create(set->view.count, cols, SCL_DTYPE_FLOAT64, out, error));
  for (size_t i = 0; i < set->view.count; i++) {
    double *row = scl_matrix_row(out, i);
    for (size_t j = 0; j < layout->integers; j++)
      row[j] = set->view.support[i * layout->integers + j] + 1.0;
    memcpy(row + layout->integers, set->view.weights + i * layout->reals,
           layout->reals * sizeof *row);
    if (layout->has_bias) row[cols - 1] = set->view.bias[i];
  }
  return SCL_STATUS_OK;
}

/* Read row i of the matrix into parameter i. Returns false if the row names a column that the data
 * do not have, and *column is then that number. */
static bool read_row(const scl_layout *layout, size_t dim, const scl_matrix *rows, size_t i,
                     scl_parameter_set *out, double *column) {
  const double lowest = scl_space_of(layout->space)->least_column + 1;
  for (size_t j = 0; j < layout->integers; j++) {
    *column = scl_matrix_get(rows, i, j);
    if (!(*column >= lowest && *column <= (double)dim && *column == floor(*column))) return false;
    out->view.support[i * layout->integers + j] = (int32_t)*column - 1;
  }
  for (size_t j = 0; j < layout->reals; j++)
    out->view.weights[i * layout->reals + j] = scl_matrix_get(rows, i, layout->integers + j);
  if (layout->has_bias) out->view.bias[i] = scl_matrix_get(rows, i, matrix_cols(layout) - 1);
  return true;
}

scl_status scl_parameters_from_matrix(const scl_layout *layout, size_t dim, const scl_matrix *rows,
                                      scl_parameter_set *out, scl_error *error) {
  double column = 0;
  if (rows->cols != matrix_cols(layout))
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "parameters have %zu numbers each (%s of %zu columns%s), and this matrix has "
                    "%zu columns",
                    matrix_cols(layout), scl_space_of(layout->space)->matrix_row, dim,
                    layout->has_bias ? ", then the bias" : "", rows->cols);
  SCL_TRY(scl_parameters_reserve(layout, dim, 0, rows->rows, out, error));
  for (size_t i = 0; i < rows->rows; i++) {
    if (read_row(layout, dim, rows, i, out, &column)) continue;
    scl_parameters_release(out);
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "row %zu of the parameters names column %g; there are columns 1 to %zu", i + 1,
                    column, dim);
  }
  return SCL_STATUS_OK;
}

/* ------------ the law */

/* Without a law, the family stays SCL_FAMILY_OTHER, and the sampler states its bias alone. */
scl_status scl_law_create(const scl_origin *origin, scl_law_set *out, scl_error *error) {
  const size_t dim = origin->draw.dim;
  const scl_draw draw = scl_origin_draw(origin, 0, 1);
  bool by_host;
  memset(out, 0, sizeof *out);
  out->memory = scl_allocate_zero((4 * dim + 4) * sizeof *out->memory);
  if (out->memory == NULL)
    return scl_fail_memory(error, 4 * dim * sizeof *out->memory, "the law of a sampler");
  out->law = (scl_law){.head = SCL_HEAD(scl_law),
                       .dim = dim,
                       .space = ((const scl_sampler *)scl_instance_vtable(origin->sampler))->space,
                       .mean = out->memory,
                       .scale = out->memory + dim,
                       .degree = out->memory + 2 * dim,
                       .degree_scale = out->memory + 3 * dim + 1,
                       .fan_in = 1};
  const scl_status status = scl_sampler_has_law(origin->sampler)
                                ? scl_sampler_law(origin->sampler, &draw, &out->law, error)
                                : scl_sampler_bias(origin->sampler, &out->law, &by_host, error);
  if (status != SCL_STATUS_OK) scl_law_release(out);
  return status;
}

void scl_law_release(scl_law_set *set) {
  scl_release(set->memory);
  memset(set, 0, sizeof *set);
}

#include "map/parameters.h"

#include "base/pool.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

scl_status scl_parameters_layout(const scl_instance *sampler, size_t dim, scl_layout *out,
                                 scl_error *error) {
  const scl_sampler *table = scl_instance_vtable(sampler);
  memset(out, 0, sizeof *out);
  SCL_TRY(scl_instance_prefix(sampler, table->layout(sampler->self, dim, out, error), error));
  if ((unsigned)out->space >= SCL_SPACE_COUNT || out->block == 0)
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "sampler.%s describes no parameter space that this version knows",
                    scl_instance_name(sampler));
  const size_t least = out->space == SCL_SPACE_DENSE       ? dim
                       : out->space == SCL_SPACE_GRID      ? 2 * dim
                       : out->space == SCL_SPACE_THRESHOLD ? 1
                                                           : 0;
  const bool fits = least == 0 ? out->space != SCL_SPACE_SPARSE || out->width == out->support
                               : out->width == least;
  if (!fits || (out->space == SCL_SPACE_THRESHOLD && out->support != 1))
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "sampler.%s describes %zu numbers and %zu columns a parameter, which its space "
                    "does not have",
                    scl_instance_name(sampler), out->width, out->support);
  if (out->space == SCL_SPACE_STRUCTURED &&
      scl_instance_ability(sampler, SCL_ABILITY_STRUCTURED) == NULL)
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "sampler.%s draws structured rows and brings no product",
                    scl_instance_name(sampler));
  return SCL_STATUS_OK;
}

scl_status scl_parameters_reserve(const scl_layout *layout, size_t dim, size_t first, size_t count,
                                  scl_parameter_set *out, scl_error *error) {
  const double each = (double)layout->width * sizeof(double) +
                      (double)layout->support * sizeof(int32_t) +
                      (layout->has_bias ? sizeof(double) : 0);
  const double bytes = each * (double)count;
  char text[32];
  memset(out, 0, sizeof *out);
  out->layout = *layout;
  out->view = (scl_parameters){.head = SCL_HEAD(scl_parameters),
                               .space = layout->space,
                               .first = first,
                               .count = count,
                               .dim = dim};
  out->view.stride = (ptrdiff_t)layout->width;
  out->view.support_stride = (ptrdiff_t)layout->support;
  bool enough = bytes < 1e14;
  if (enough)
    out->view.weights = scl_allocate_zero(scl_max(count * layout->width, 1) * sizeof(double));
  enough = enough && out->view.weights != NULL;
  if (enough && layout->support > 0)
    enough =
        (out->view.support = scl_allocate_zero(count * layout->support * sizeof(int32_t))) != NULL;
  if (enough && layout->has_bias)
    enough = (out->view.bias = scl_allocate_zero(scl_max(count, 1) * sizeof(double))) != NULL;
  if (enough) return SCL_STATUS_OK;
  scl_parameters_release(out);
  return scl_fail(error, SCL_STATUS_NO_MEMORY,
                  "%zu parameters of %zu columns would take %s: not enough memory", count, dim,
                  scl_bytes_text(bytes, text));
}

void scl_parameters_release(scl_parameter_set *set) {
  scl_release(set->view.weights);
  scl_release(set->view.bias);
  scl_release(set->view.support);
  memset(set, 0, sizeof *set);
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

size_t scl_parameters_plane(const scl_layout *layout, size_t count) {
  return layout->space == SCL_SPACE_STRUCTURED
             ? (count + layout->block - 1) / layout->block * layout->block
             : count;
}

/* ---------------------------------------------------------------- drawing, in batches of 64 on the
 * pool */

enum { BATCH = 64 };

typedef struct drawing {
  const scl_instance *sampler;
  scl_address address;
  const scl_parameters *all;
  size_t batch;
  atomic_flag failed;
  scl_status status;
  scl_error error;
} drawing;

static void draw_batch(void *context, size_t index) {
  drawing *job = context;
  const scl_sampler *table = scl_instance_vtable(job->sampler);
  const size_t from = index * job->batch;
  scl_parameters part =
      scl_parameters_part(job->all, from, scl_min(job->batch, job->all->count - from));
  scl_error error = {0};
  const scl_status status = table->draw(job->sampler->self, job->address, &part, &error);
  if (status == SCL_STATUS_OK || atomic_flag_test_and_set(&job->failed)) return;
  job->status = status;
  job->error = error;
}

/* A plugin's support is checked here once, so that the projection may trust it. */
static scl_status check_drawn(const scl_instance *sampler, const scl_parameter_set *set,
                              scl_error *error) {
  const scl_parameters *view = &set->view;
  const int32_t lowest = view->space == SCL_SPACE_SPARSE ? -1 : 0;
  const size_t checked =
      view->space == SCL_SPACE_STRUCTURED ? 0 : view->count * set->layout.support;
  for (size_t i = 0; i < checked; i++)
    if (view->support[i] < lowest || view->support[i] >= (int32_t)scl_min(view->dim, INT32_MAX))
      return scl_fail(error, SCL_STATUS_INTERNAL, "sampler.%s drew column %ld of %zu",
                      scl_instance_name(sampler), (long)view->support[i] + 1, view->dim);
  for (size_t i = 0; view->space == SCL_SPACE_GRID && i < view->count; i++)
    for (size_t j = 0; j < view->dim; j++)
      if (!(view->weights[i * set->layout.width + j] > 0))
        return scl_fail(
            error, SCL_STATUS_NUMERIC,
            "sampler.%s drew a pitch that is not above 0 (grid %zu): the rate is too large",
            scl_instance_name(sampler), view->first + i + 1);
  for (size_t i = 0; i < view->count * set->layout.width; i++)
    if (!isfinite(view->weights[i]))
      return scl_fail(
          error, SCL_STATUS_NUMERIC,
          "sampler.%s drew a weight that is not finite (parameter %zu): the width is too large",
          scl_instance_name(sampler), view->first + i / set->layout.width + 1);
  return SCL_STATUS_OK;
}

/* The rows of one draw. */
static scl_status draw_all(const scl_instance *sampler, uint64_t seed, uint64_t stream,
                           size_t block, const scl_parameters *all, scl_error *error) {
  const size_t batch = (BATCH + block - 1) / block * block;
  drawing job = {.sampler = sampler,
                 .address = {seed, stream},
                 .all = all,
                 .batch = batch,
                 .failed = ATOMIC_FLAG_INIT,
                 .status = SCL_STATUS_OK};
  scl_pool_run((all->count + batch - 1) / batch, draw_batch, &job);
  if (job.status != SCL_STATUS_OK && error != NULL) {
    *error = job.error;
    (void)scl_instance_prefix(sampler, job.status, error);
  }
  return job.status;
}

scl_status scl_parameters_draw(const scl_instance *sampler, size_t dim, uint64_t seed,
                               uint64_t stream, size_t first, size_t count, size_t fan_in,
                               scl_parameter_set *out, scl_error *error) {
  scl_layout layout;
  SCL_TRY(scl_parameters_layout(sampler, dim, &layout, error));
  const size_t plane = scl_parameters_plane(&layout, count);
  SCL_TRY(scl_parameters_reserve(&layout, dim, first, plane * fan_in, out, error));
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0; status == SCL_STATUS_OK && k < fan_in; k++) {
    scl_parameters part = scl_parameters_part(&out->view, k * plane, plane);
    part.first = first;
    status = draw_all(sampler, seed, stream + ((uint64_t)k << 32), layout.block, &part, error);
  }
  if (status == SCL_STATUS_OK) status = check_drawn(sampler, out, error);
  if (status != SCL_STATUS_OK) scl_parameters_release(out);
  return status;
}

scl_status scl_parameters_dense(const scl_instance *sampler, const scl_parameter_set *set,
                                size_t plane, size_t count, size_t fan_in, scl_parameter_set *out,
                                scl_error *error) {
  const scl_ability_structured *ability = scl_instance_ability(sampler, SCL_ABILITY_STRUCTURED);
  const size_t dim = set->view.dim, block = set->layout.block;
  const scl_layout dense = {SCL_SPACE_DENSE, dim, 0, 1, set->layout.has_bias};
  SCL_TRY(scl_parameters_reserve(&dense, dim, set->view.first, count * fan_in, out, error));
  double *rows = scl_allocate_array(block * dim + 1, sizeof *rows);
  scl_status status = rows == NULL
                          ? scl_fail_memory(error, block * dim * sizeof *rows, "rows of a block")
                          : SCL_STATUS_OK;
  for (size_t k = 0; k < fan_in; k++)
    for (size_t from = 0; status == SCL_STATUS_OK && from < count; from += block) {
      const scl_parameters part = scl_parameters_part(&set->view, k * plane + from, block);
      const size_t wanted = scl_min(block, count - from), to = k * count + from;
      status = scl_instance_prefix(
          sampler, ability->rows(sampler->self, &part, rows, (ptrdiff_t)dim, error), error);
      if (status != SCL_STATUS_OK) break;
      memcpy(out->view.weights + to * dim, rows, wanted * dim * sizeof *rows);
      if (out->view.bias != NULL) memcpy(out->view.bias + to, part.bias, wanted * sizeof *rows);
    }
  scl_release(rows);
  if (status != SCL_STATUS_OK) scl_parameters_release(out);
  return status;
}

/* ---------------------------------------------------------------- as a matrix */

scl_status scl_parameters_matrix(const scl_parameter_set *set, scl_matrix *out, scl_error *error) {
  const scl_layout *layout = &set->layout;
  const size_t cols = layout->support + layout->width + (layout->has_bias ? 1 : 0);
  SCL_TRY(scl_matrix_create(set->view.count, cols, SCL_DTYPE_FLOAT64, out, error));
  for (size_t i = 0; i < set->view.count; i++) {
    double *row = scl_matrix_row(out, i);
    for (size_t j = 0; j < layout->support; j++)
      row[j] = set->view.support[i * layout->support + j] + 1.0;
    memcpy(row + layout->support, set->view.weights + i * layout->width,
           layout->width * sizeof *row);
    if (layout->has_bias) row[cols - 1] = set->view.bias[i];
  }
  return SCL_STATUS_OK;
}

scl_status scl_parameters_from_matrix(const scl_layout *layout, size_t dim, const scl_matrix *rows,
                                      scl_parameter_set *out, scl_error *error) {
  const size_t cols = layout->support + layout->width + (layout->has_bias ? 1 : 0);
  if (rows->cols != cols)
    return scl_fail(
        error, SCL_STATUS_BAD_SHAPE,
        "parameters have %zu numbers each (%zu columns%s), and this matrix has %zu columns", cols,
        dim,
        layout->space == SCL_SPACE_THRESHOLD ? ": column and threshold"
        : layout->has_bias                   ? ", then the bias"
                                             : "",
        rows->cols);
  SCL_TRY(scl_parameters_reserve(layout, dim, 0, rows->rows, out, error));
  for (size_t i = 0; i < rows->rows; i++) {
    for (size_t j = 0; j < layout->support; j++) {
      const double column = scl_matrix_get(rows, i, j);
      const double lowest = layout->space == SCL_SPACE_SPARSE ? 0 : 1;
      if (!(column >= lowest && column <= (double)dim && column == floor(column))) {
        scl_parameters_release(out);
        return scl_fail(error, SCL_STATUS_BAD_DATA,
                        "row %zu of the parameters names column %g; there are columns 1 to %zu",
                        i + 1, column, dim);
      }
      out->view.support[i * layout->support + j] = (int32_t)column - 1;
    }
    for (size_t j = 0; j < layout->width; j++)
      out->view.weights[i * layout->width + j] = scl_matrix_get(rows, i, layout->support + j);
    if (layout->has_bias) out->view.bias[i] = scl_matrix_get(rows, i, cols - 1);
  }
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- the law */

scl_status scl_law_create(const scl_instance *sampler, size_t dim, scl_law_set *out,
                          scl_error *error) {
  const scl_ability_law *ability = scl_instance_ability(sampler, SCL_ABILITY_LAW);
  memset(out, 0, sizeof *out);
  if (ability == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "sampler.%s declares no law",
                    scl_instance_name(sampler));
  out->memory = scl_allocate_zero((4 * dim + 4) * sizeof *out->memory);
  if (out->memory == NULL)
    return scl_fail_memory(error, 4 * dim * sizeof *out->memory, "the law of a sampler");
  out->law = (scl_law){.head = SCL_HEAD(scl_law),
                       .dim = dim,
                       .mean = out->memory,
                       .scale = out->memory + dim,
                       .degree = out->memory + 2 * dim,
                       .degree_scale = out->memory + 3 * dim + 1,
                       .fan_in = 1};
  const scl_status status =
      scl_instance_prefix(sampler, ability->law(sampler->self, dim, &out->law, error), error);
  if (status != SCL_STATUS_OK) scl_law_release(out);
  return status;
}

void scl_law_release(scl_law_set *set) {
  scl_release(set->memory);
  memset(set, 0, sizeof *set);
}

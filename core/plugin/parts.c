/* scl_host.parts: the functions by which a plugin calls components that it got as options. Every
 * table that the plugin passes may be of another size than this host's: it is read and written only
 * as far as it goes. */
#include "algebra/pilot.h"
#include "plugin/host.h"
#include "plugin/instance.h"
#include "plugin/kernel.h"
#include "plugin/nonlinearity.h"
#include "plugin/part_model.h"
#include "plugin/sampler.h"
#include "plugin/solver.h"
#include "plugin/tables.h"
#include <string.h>

/* The functions of scl_parts (plugin/host.h). Each checks its arguments, converts tables to this
 * host's size, and calls the function of kernel.h or sampler.h. */
static const void *part_ability(const scl_part *part, const char *id) {
  return part->self == NULL ? NULL : scl_instance_ability(scl_instance_of(part->self), id);
}

/* A part must be there, and of the kind that the function is for. */
static scl_status expect_part(const scl_part *part, scl_kind kind, scl_error *error) {
  if (part->self == NULL)
    return scl_fail(error, SCL_STATUS_INTERNAL, "a %s was to be called that is not there",
                    scl_kind_name(kind));
  return scl_instance_expect(scl_instance_of(part->self), kind, error);
}

/* Parameters for a part: what the caller has prepared for its own calls is not the part's. */
static scl_const_parameters parameters_for_part(const scl_const_parameters *from) {
  scl_const_parameters out;
  SCL_COPY(&out, from);
  out.prepared = NULL;
  return out;
}

static scl_status part_gram(const scl_part *kernel, const scl_const_parameters *u,
                            const scl_const_parameters *v, double *out, ptrdiff_t stride,
                            scl_error *error) {
  SCL_TRY(expect_part(kernel, SCL_KIND_KERNEL, error));
  SCL_TABLE_EXPECT(u, scl_const_parameters, SCL_LEAST_CONST_PARAMETERS, error);
  SCL_TABLE_EXPECT(v, scl_const_parameters, SCL_LEAST_CONST_PARAMETERS, error);
  const scl_const_parameters left = parameters_for_part(u), right = parameters_for_part(v);
  return scl_kernel_gram(scl_instance_of(kernel->self), &left, &right, out, stride, error);
}

static scl_status part_diagonal(const scl_part *kernel, const scl_const_parameters *u, double *out,
                                scl_error *error) {
  SCL_TRY(expect_part(kernel, SCL_KIND_KERNEL, error));
  SCL_TABLE_EXPECT(u, scl_const_parameters, SCL_LEAST_CONST_PARAMETERS, error);
  const scl_const_parameters rows = parameters_for_part(u);
  return scl_kernel_diagonal(scl_instance_of(kernel->self), &rows, out, error);
}

static scl_status part_tilt(const scl_part *kernel, const scl_law *law, scl_tilt *out,
                            scl_error *error) {
  scl_law room;
  scl_tilt tilt;
  SCL_TRY(expect_part(kernel, SCL_KIND_KERNEL, error));
  SCL_TABLE_EXPECT(law, scl_law, SCL_LEAST_LAW, error);
  SCL_TABLE_EXPECT(out, scl_tilt, SCL_LEAST_TILT, error);
  SCL_COPY(&tilt, out);
  const scl_status status = scl_kernel_tilt(scl_instance_of(kernel->self),
                                            scl_table_read(law, sizeof room, &room), &tilt, error);
  scl_table_write(out, &tilt);
  return status;
}

/* Make `self` the owner of a bound part, which it releases with itself. */
static scl_status own_part(scl_instance *self, scl_instance *part, scl_error *error) {
  scl_instance **list = scl_allocate_array(self->n_owned + 1, sizeof *list);
  if (list == NULL) return scl_fail_memory(error, sizeof *list, "a kernel's parts");
  if (self->n_owned > 0) memcpy(list, self->owned, self->n_owned * sizeof *list);
  list[self->n_owned++] = part;
  scl_release(self->owned);
  self->owned = list;
  return SCL_STATUS_OK;
}

/* scl_parts.bind: replace *kernel by a kernel bound to the law, which belongs to `self` from then
 * on. */
static scl_status part_bind(void *self, scl_part *kernel, const scl_law *law, scl_error *error) {
  scl_instance *bound = NULL;
  scl_law room;
  SCL_TRY(expect_part(kernel, SCL_KIND_KERNEL, error));
  SCL_TABLE_EXPECT(law, scl_law, SCL_LEAST_LAW, error);
  SCL_TRY(scl_instance_bind(scl_instance_of(kernel->self), scl_table_read(law, sizeof room, &room),
                            &bound, error));
  const scl_status status = own_part(scl_instance_of(self), bound, error);
  if (status == SCL_STATUS_OK)
    *kernel = scl_instance_part(bound);
  else
    scl_instance_release(bound);
  return status;
}

static void part_describe(const scl_part *kernel, char *text, size_t size) {
  text[0] = 0;
  if (expect_part(kernel, SCL_KIND_KERNEL, NULL) == SCL_STATUS_OK)
    scl_kernel_describe(scl_instance_of(kernel->self), text, size);
}

static scl_status part_layout(const scl_part *sampler, size_t dim, scl_layout *out,
                              scl_error *error) {
  scl_layout layout;
  SCL_TRY(expect_part(sampler, SCL_KIND_SAMPLER, error));
  SCL_TABLE_EXPECT(out, scl_layout, SCL_LEAST_LAYOUT, error);
  SCL_TRY(scl_sampler_layout(scl_instance_of(sampler->self), dim, out->count, &layout, error));
  scl_table_write(out, &layout);
  return SCL_STATUS_OK;
}

static scl_status part_draw(const scl_part *sampler, const scl_draw *draw,
                            const scl_parameters *out, scl_error *error) {
  scl_draw room;
  scl_parameters batch;
  SCL_TRY(expect_part(sampler, SCL_KIND_SAMPLER, error));
  SCL_TABLE_EXPECT(draw, scl_draw, SCL_LEAST_DRAW, error);
  SCL_TABLE_EXPECT(out, scl_parameters, SCL_LEAST_PARAMETERS, error);
  return scl_sampler_draw(scl_instance_of(sampler->self), scl_table_read(draw, sizeof room, &room),
                          scl_table_read(out, sizeof batch, &batch), error);
}

static scl_status part_law(const scl_part *sampler, const scl_draw *draw, scl_law *out,
                           scl_error *error) {
  scl_draw room;
  scl_law law;
  SCL_TRY(expect_part(sampler, SCL_KIND_SAMPLER, error));
  SCL_TABLE_EXPECT(draw, scl_draw, SCL_LEAST_DRAW, error);
  SCL_TABLE_EXPECT(out, scl_law, SCL_LEAST_LAW, error);
  SCL_COPY(&law, out);
  SCL_TRY(scl_sampler_law(scl_instance_of(sampler->self), scl_table_read(draw, sizeof room, &room),
                          &law, error));
  scl_table_write(out, &law);
  return SCL_STATUS_OK;
}

static scl_status part_characteristic(const scl_part *sampler, const scl_draw *draw, size_t rows,
                                      const double *delta, ptrdiff_t stride, double *out,
                                      scl_error *error) {
  scl_draw room;
  SCL_TRY(expect_part(sampler, SCL_KIND_SAMPLER, error));
  SCL_TABLE_EXPECT(draw, scl_draw, SCL_LEAST_DRAW, error);
  return scl_sampler_characteristic(scl_instance_of(sampler->self),
                                    scl_table_read(draw, sizeof room, &room), rows, delta, stride,
                                    out, error);
}

static scl_status part_shape(const scl_part *phi, scl_shape *out, scl_error *error) {
  scl_shape shape;
  SCL_TRY(expect_part(phi, SCL_KIND_NONLINEARITY, error));
  SCL_TABLE_EXPECT(out, scl_shape, SCL_LEAST_SHAPE, error);
  SCL_TRY(scl_nonlinearity_shape(scl_instance_of(phi->self), &shape, error));
  scl_table_write(out, &shape);
  return SCL_STATUS_OK;
}

static scl_status part_apply(const scl_part *phi, const scl_const_block *z, const scl_block *out,
                             scl_error *error) {
  scl_shape shape;
  SCL_TRY(expect_part(phi, SCL_KIND_NONLINEARITY, error));
  const scl_instance *instance = scl_instance_of(phi->self);
  SCL_TRY(scl_nonlinearity_shape(instance, &shape, error));
  const bool real = z->dtype == SCL_DTYPE_FLOAT64 || z->dtype == SCL_DTYPE_FLOAT32;
  if (shape.flags & SCL_SHAPE_ONE_HOT)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "its output is a category");
  if (!real || z->dtype != out->dtype || z->rows != out->rows || z->cols != out->cols ||
      out->planes != shape.fan_out || (z->planes != shape.fan_in && shape.fan_in != SCL_FAN_IN_ALL))
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "it was to make %zu x %zu x %zu features of type %d from %zu x %zu x %zu "
                    "numbers of type %d; it makes %u of %u",
                    out->rows, out->cols, out->planes, (int)out->dtype, z->rows, z->cols, z->planes,
                    (int)z->dtype, shape.fan_out, shape.fan_in);
  return scl_nonlinearity_apply(instance, z, out, error);
}

static scl_status part_solve(const scl_part *solver, const scl_problem *problem,
                             const double *weights, scl_solution *out, scl_error *error) {
  scl_solution solution;
  SCL_TRY(expect_part(solver, SCL_KIND_SOLVER, error));
  SCL_TABLE_EXPECT(problem, scl_problem, SCL_LEAST_PROBLEM, error);
  SCL_TABLE_EXPECT(out, scl_solution, SCL_LEAST_SOLUTION, error);
  SCL_COPY(&solution, out);
  const scl_status status =
      scl_part_solve(scl_instance_of(solver->self), problem, weights, &solution, error);
  scl_table_write(out, &solution);
  return status;
}

static scl_status part_fit(const scl_part *solver, const scl_problem *problem,
                           const scl_replaced *replaced, scl_solution *out, void **model,
                           scl_error *error) {
  scl_solution solution;
  scl_replaced room;
  scl_part_model *made = NULL;
  SCL_TRY(expect_part(solver, SCL_KIND_SOLVER, error));
  SCL_TABLE_EXPECT(problem, scl_problem, SCL_LEAST_PROBLEM, error);
  SCL_TABLE_EXPECT(out, scl_solution, SCL_LEAST_SOLUTION, error);
  if (replaced != NULL) SCL_TABLE_EXPECT(replaced, scl_replaced, SCL_LEAST_REPLACED, error);
  SCL_COPY(&solution, out);
  const scl_status status =
      scl_part_fit(scl_instance_of(solver->self), problem,
                   replaced == NULL ? NULL : scl_table_read(replaced, sizeof room, &room),
                   &solution, &made, error);
  scl_table_write(out, &solution);
  *model = made;
  return status;
}

/* A model of a part, which must be there. */
static scl_status expect_model(const scl_part *solver, const void *model, scl_error *error) {
  SCL_TRY(expect_part(solver, SCL_KIND_SOLVER, error));
  if (model != NULL) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_INTERNAL, "a model was to be used that is not there");
}

static scl_status part_decide(const scl_part *solver, const void *model,
                              const scl_const_block *rows, double *scores, ptrdiff_t stride,
                              scl_error *error) {
  SCL_TRY(expect_model(solver, model, error));
  return scl_part_decide(scl_instance_of(solver->self), model, rows, scores, stride, error);
}

static scl_status part_save(const scl_part *solver, const void *model, scl_archive *archive,
                            const char *prefix, scl_error *error) {
  SCL_TRY(expect_model(solver, model, error));
  return scl_part_save(scl_instance_of(solver->self), model, archive, prefix, error);
}

static scl_status part_load(const scl_part *solver, const scl_archive *archive, const char *prefix,
                            size_t features, size_t targets, void **model, scl_error *error) {
  scl_part_model *made = NULL;
  SCL_TRY(expect_part(solver, SCL_KIND_SOLVER, error));
  const scl_status status = scl_part_load(scl_instance_of(solver->self), archive, prefix, features,
                                          targets, &made, error);
  *model = made;
  return status;
}

static void part_destroy(const scl_part *solver, void *model) {
  if (expect_part(solver, SCL_KIND_SOLVER, NULL) == SCL_STATUS_OK)
    scl_part_destroy(scl_instance_of(solver->self), model);
}

/* scl_pilot_service.shift. For a part that is not a kernel: the answer that allows nothing. */
static scl_shift part_shift(const scl_part *kernel) {
  return expect_part(kernel, SCL_KIND_KERNEL, NULL) == SCL_STATUS_OK
             ? scl_kernel_shift(scl_instance_of(kernel->self))
             : SCL_SHIFT_CHANGES;
}

/* scl_pilot_service.find: 1 if a column has a pilot, 0 if all are 0. */
static int32_t find_pilot(const double *x, ptrdiff_t stride, size_t rows, size_t cols,
                          double *pilot) {
  return !scl_pilot_find(x, stride, rows, cols, pilot);
}

const scl_pilot_service scl_service_pilot = {SCL_HEAD(scl_pilot_service), part_shift, find_pilot};

const scl_parts scl_service_parts = {SCL_HEAD(scl_parts),
                                     .ability = part_ability,
                                     .gram = part_gram,
                                     .diagonal = part_diagonal,
                                     .tilt = part_tilt,
                                     .bind = part_bind,
                                     .describe = part_describe,
                                     .layout = part_layout,
                                     .draw = part_draw,
                                     .law = part_law,
                                     .characteristic = part_characteristic,
                                     .shape = part_shape,
                                     .apply = part_apply,
                                     .solve = part_solve,
                                     .fit = part_fit,
                                     .decide = part_decide,
                                     .save = part_save,
                                     .load = part_load,
                                     .destroy = part_destroy};

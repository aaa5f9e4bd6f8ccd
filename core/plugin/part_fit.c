/* scl_parts.fit and its companions: models that a solver learns from the problem of another solver,
 * with the row weights and targets that this one gives. Solvers of models make their own; of others
 * a model is coefficients and a constant. */
#include "plugin/host.h"
#include "plugin/part_model.h"
#include "plugin/solver.h"
#include "plugin/tables.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Replaces the arguments of a weighted problem: see part_solve.c. */
struct scl_part_model {
  void *own; /* of a solver that makes models; NULL: coefficients */
  size_t features, targets;
  double *coefficients, *intercept; /* D x c and c, in one piece of memory */
};

void scl_part_destroy(const scl_instance *solver, scl_part_model *model) {
  if (model == NULL) return;
  scl_solver_destroy_model(solver, model->own);
  scl_release(model->coefficients);
  scl_release(model);
}

/* A model of coefficients, all 0; or, where the solver makes models, an empty one. */
static scl_status create(const scl_instance *solver, size_t features, size_t targets,
                         scl_part_model **out, scl_error *error) {
  scl_part_model *model = scl_allocate_zero(sizeof *model);
  const size_t rows = features + 1;
  if (model == NULL) return scl_fail_memory(error, sizeof *model, "a model");
  *model = (scl_part_model){.features = features, .targets = targets};
  if (!scl_instance_has(solver, SCL_ABILITY_MODEL)) {
    const bool fits = rows <= SIZE_MAX / sizeof(double) / targets;
    model->coefficients = fits ? scl_allocate_zero(rows * targets * sizeof(double)) : NULL;
    if (model->coefficients == NULL) {
      scl_release(model);
      return scl_fail_memory(error, fits ? rows * targets * sizeof(double) : 0, "coefficients");
    }
    model->intercept = model->coefficients + features * targets;
  }
  *out = model;
  return SCL_STATUS_OK;
}

scl_status scl_part_fit(const scl_instance *solver, const scl_problem *of,
                        const scl_replaced *replaced, scl_solution *out, scl_part_model **model,
                        scl_error *error) {
  scl_part_model *made = NULL;
  const double *weights = replaced == NULL ? NULL : replaced->weights,
               *targets = replaced == NULL ? NULL : replaced->targets;
  SCL_TRY(create(solver, of->features, of->targets, &made, error));
  out->coefficients = made->coefficients;
  out->intercept = of->intercept ? made->intercept : NULL;
  const scl_status status = scl_part_learn(solver, of, weights, targets, &made->own, out, error);
  out->coefficients = out->intercept = NULL;
  if (status == SCL_STATUS_OK)
    *model = made;
  else
    scl_part_destroy(solver, made);
  return status;
}

/* ------------ scores */

static void decide_linear(const scl_part_model *m, const scl_const_block *rows, double *scores,
                          ptrdiff_t stride) {
  for (size_t i = 0; i < rows->rows; i++) {
    double *to = scores + (ptrdiff_t)i * stride;
    const void *row = scl_at(rows->data, rows->dtype, (ptrdiff_t)i * rows->row_stride);
    memcpy(to, m->intercept, m->targets * sizeof *to);
    for (size_t j = 0; j < m->features; j++) {
      const double x = scl_number(row, rows->dtype, j);
      for (size_t k = 0; k < m->targets; k++)
        to[k] += x * m->coefficients[j * m->targets + k];
    }
  }
}

scl_status scl_part_decide(const scl_instance *solver, const scl_part_model *model,
                           const scl_const_block *rows, double *scores, ptrdiff_t stride,
                           scl_error *error) {
  if (rows->cols != model->features ||
      (rows->dtype != SCL_DTYPE_FLOAT64 && rows->dtype != SCL_DTYPE_FLOAT32))
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "its model of %zu features was to score rows of %zu, of type %d",
                    model->features, rows->cols, (int)rows->dtype);
  if (model->own != NULL)
    return scl_solver_decide(solver, model->own, rows, model->targets, scores, stride, error);
  decide_linear(model, rows, scores, stride);
  return SCL_STATUS_OK;
}

/* ------------ saving and loading */

/* An archive whose names begin with a prefix, in front of the one that the outer solver got. */
typedef struct prefixed {
  scl_archive archive; /* first: what the solver sees */
  scl_archive *put;    /* one of the two */
  const scl_archive *get;
  const char *prefix;
} prefixed;

enum { NAME_ROOM = 256 };

/* "prefix.name"; a name that is too long stays so, and is refused by the archive. */
static const char *full_name(const prefixed *p, const char *name, char *room) {
  (void)snprintf(room, NAME_ROOM, "%s.%s", p->prefix, name == NULL ? "" : name);
  return room;
}

static scl_status prefixed_put(scl_archive *archive, const char *name, const scl_array *array,
                               scl_error *error) {
  const prefixed *p = (const prefixed *)archive;
  char room[NAME_ROOM];
  return p->put->put(p->put, full_name(p, name, room), array, error);
}

static scl_status prefixed_get(const scl_archive *archive, const char *name, scl_dtype dtype,
                               uint32_t rank, const size_t *sizes, scl_array *out,
                               scl_error *error) {
  const prefixed *p = (const prefixed *)archive;
  char room[NAME_ROOM];
  return p->get->get(p->get, full_name(p, name, room), dtype, rank, sizes, out, error);
}

static int32_t prefixed_has(const scl_archive *archive, const char *name) {
  const prefixed *p = (const prefixed *)archive;
  char room[NAME_ROOM];
  return p->get->has(p->get, full_name(p, name, room));
}

static prefixed open_prefixed(scl_archive *put, const scl_archive *get, const char *prefix) {
  return (prefixed){{SCL_HEAD(scl_archive), prefixed_put, prefixed_get, prefixed_has},
                    put,
                    get,
                    prefix == NULL ? "" : prefix};
}

scl_status scl_part_save(const scl_instance *solver, const scl_part_model *model,
                         scl_archive *archive, const char *prefix, scl_error *error) {
  prefixed own = open_prefixed(archive, archive, prefix);
  if (model->own != NULL) return scl_solver_save(solver, model->own, &own.archive, error);
  const scl_array coefficients = {model->coefficients,
                                  SCL_DTYPE_FLOAT64,
                                  2,
                                  {model->features, model->targets, 0, 0}},
                  intercept = {model->intercept, SCL_DTYPE_FLOAT64, 1, {model->targets, 0, 0, 0}};
  SCL_TRY(own.archive.put(&own.archive, "coefficients", &coefficients, error));
  return own.archive.put(&own.archive, "intercept", &intercept, error);
}

scl_status scl_part_load(const scl_instance *solver, const scl_archive *archive, const char *prefix,
                         size_t features, size_t targets, scl_part_model **model,
                         scl_error *error) {
  const prefixed own = open_prefixed(NULL, archive, prefix);
  const size_t sizes[2] = {features, targets};
  scl_part_model *made = NULL;
  scl_array coefficients, intercept;
  if (features == 0 || targets == 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "a model of %zu features and %zu targets", features,
                    targets);
  if (!scl_instance_has(solver, SCL_ABILITY_MODEL)) {
    SCL_TRY(own.archive.get(&own.archive, "coefficients", SCL_DTYPE_FLOAT64, 2, sizes,
                            &coefficients, error));
    SCL_TRY(own.archive.get(&own.archive, "intercept", SCL_DTYPE_FLOAT64, 1, &sizes[1], &intercept,
                            error));
  }
  SCL_TRY(create(solver, features, targets, &made, error));
  scl_status status = SCL_STATUS_OK;
  if (scl_instance_has(solver, SCL_ABILITY_MODEL)) {
    status = scl_solver_load(solver, &own.archive, features, targets, &made->own, error);
  } else {
    memcpy(made->coefficients, coefficients.data, features * targets * sizeof(double));
    memcpy(made->intercept, intercept.data, targets * sizeof(double));
  }
  if (status == SCL_STATUS_OK)
    *model = made;
  else
    scl_part_destroy(solver, made);
  return status;
}

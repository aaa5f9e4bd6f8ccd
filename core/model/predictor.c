/* Loading a predictor, and functions about it: columns, classes, and the table of its columns. They
 * are the part of scullery/scullery.h that does not predict (buffers.c predicts). Every function
 * about a predictor accepts NULL and places out of range. */
#include "model/predictor.h"
#include "algebra/blas.h"
#include "base/environment.h"
#include "base/text.h"
#include "model/stay.h"
#include <math.h>
#include <string.h>

const char *scl_version(void) { return SCULLERY_VERSION; }

/* ------------ loading */

void scl_predictor_close(scl_predictor *p) {
  if (p == NULL) return;
  scl_one_row_destroy(p->one);
  scl_restored_release(&p->parts);
  scl_sure_release(&p->sure);
  scl_schema_destroy(p->schema);
  SCL_RELEASE(p->places, p);
}

/* Set p->fitted from p->parts. Predicted labels are the places of classes, 0, 1, ... */
static scl_status prepare_fitted(scl_predictor *p, scl_error *error) {
  const scl_restored *r = &p->parts;
  p->places = scl_allocate_array(r->n_classes + 1, sizeof *p->places);
  if (p->places == NULL) return scl_fail_memory(error, r->n_classes * sizeof *p->places, "classes");
  for (size_t k = 0; k < r->n_classes; k++)
    p->places[k] = (double)k;
  p->fitted = (scl_fitted){.stages = r->stages,
                           .n_stages = r->n_stages,
                           .map = r->map,
                           .learnt = r->learnt,
                           .weights = &r->weights,
                           .intercept = &r->intercept,
                           .pilot = r->pilot.storage == NULL ? NULL : scl_matrix_row(&r->pilot, 0),
                           .dtype = r->dtype,
                           .block = r->block,
                           .classes = {p->places, r->classification ? r->n_classes : 0, false},
                           .multilabel = r->multilabel,
                           .sigmoids = r->sigmoids,
                           .curves = r->curves,
                           .form = r->form,
                           .by_loss = r->by_loss ? r->solver : NULL,
                           .means = r->means ? r->solver : NULL};
  return scl_one_row_create(&p->fitted, r->dim, &p->one, error);
}

/* Restore the parts of a predictor, which has to be zeros before. The caller closes it after a
 * failure. */
static scl_status fill_predictor(scl_saved *saved, scl_predictor *out, scl_error *error) {
  const char *kind = NULL;
  (void)scl_saved_opt_word(saved->body, "kind", &kind, NULL);
  if (kind == NULL || strcmp(kind, "pipeline") != 0)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "it holds %.40s, and only a pipeline predicts: one that was saved after p:fit",
                    kind == NULL ? "no model" : kind);
  SCL_TRY(scl_restore(saved, &out->parts, error));
  if (out->parts.solver == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "the pipeline has no solver: it predicts nothing");
  SCL_TRY(scl_saved_schema(saved, out->parts.dim, &out->schema, error));
  SCL_TRY(scl_saved_sure(saved, &out->parts, &out->sure, error));
  return prepare_fitted(out, error);
}

/* Load from a file, or from bytes if path is NULL; `what` names the model in sentences. */
static scl_status load_predictor(const char *path, const void *bytes, size_t size, const char *what,
                                 scl_predictor **out, scl_error *error) {
  scl_saved saved;
  SCL_TRY(scl_environment_check(error));
  SCL_TRY(scl_blas_start(error));
  SCL_TRY(scl_saved_open(path, bytes, size, what, SCL_LOADER_PROGRAM, &saved, error));
  scl_predictor *p = scl_allocate_zero(sizeof *p);
  scl_status status = SCL_STATUS_OK;
  if (p == NULL) {
    status = scl_fail_memory(error, sizeof *p, "a predictor");
  } else {
    status = fill_predictor(&saved, p, error);
    if (status != SCL_STATUS_OK) (void)scl_prefix(error, "%s", what);
  }
  scl_saved_close(&saved);
  if (status == SCL_STATUS_OK)
    *out = p;
  else
    scl_predictor_close(p);
  return status;
}

/* The same between scl_stay_begin and scl_stay_end. *out is NULL after a failure. */
static scl_status load_here(const char *path, const void *bytes, size_t size, const char *what,
                            scl_predictor **out, scl_error *error) {
  *out = NULL;
  scl_stay stay;
  SCL_TRY(scl_stay_begin(&stay, error));
  return scl_stay_end(&stay, load_predictor(path, bytes, size, what, out, error), error);
}

/* Refuse a call without a place for the result. */
static scl_status no_place(scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_OPTION,
                  "scl_predictor_load: takes a place for the predictor, and got NULL");
}

scl_status scl_predictor_load(const char *path, scl_predictor **out, scl_error *error) {
  if (out == NULL) return no_place(error);
  if (path == NULL || *path == 0)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "scl_predictor_load: takes the path of a file, and got %s",
                    path == NULL ? "NULL" : "an empty text");
  return load_here(path, NULL, 0, path, out, error);
}

scl_status scl_predictor_load_memory(const void *bytes, size_t size, scl_predictor **out,
                                     scl_error *error) {
  if (out == NULL) return no_place(error);
  if (bytes == NULL)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "scl_predictor_load_memory: takes the bytes of a file, and got NULL");
  return load_here(NULL, bytes, size, "the model in memory", out, error);
}

/* ------------ what it is */

size_t scl_predictor_columns(const scl_predictor *p) { return p == NULL ? 0 : p->parts.dim; }

const char *scl_predictor_column_name(const scl_predictor *p, size_t column) {
  return p != NULL && p->parts.names != NULL && column < p->parts.dim ? p->parts.names[column]
                                                                      : NULL;
}

size_t scl_predictor_outputs(const scl_predictor *p) { return p == NULL ? 0 : p->parts.targets; }
size_t scl_predictor_classes(const scl_predictor *p) {
  return p != NULL && p->parts.classification ? p->parts.n_classes : 0;
}

const char *scl_predictor_class_label(const scl_predictor *p, size_t place) {
  return place < scl_predictor_classes(p) ? p->parts.labels[place] : NULL;
}

double scl_predictor_class_number(const scl_predictor *p, size_t place) {
  return place < scl_predictor_classes(p) ? p->parts.numbers[place] : NAN;
}

size_t scl_predictor_labels(const scl_predictor *p) {
  return p != NULL && p->parts.multilabel ? p->parts.n_classes : 0;
}

const char *scl_predictor_label(const scl_predictor *p, size_t place) {
  return place < scl_predictor_labels(p) ? p->parts.labels[place] : NULL;
}

int scl_predictor_has_deviations(const scl_predictor *p) {
  return p != NULL && p->sure.posterior != NULL && !p->parts.classification &&
         !p->parts.multilabel && !p->parts.form.log;
}

/* Whether the model keeps calibration rows, and new rows say their groups. */
static bool judges(const scl_predictor *p) {
  return p != NULL && p->sure.method != SCL_JUDGES_NONE &&
         (p->sure.groups.storage == NULL || p->sure.n_columns > 0);
}

int scl_predictor_has_intervals(const scl_predictor *p) {
  return judges(p) && !p->parts.classification;
}

int scl_predictor_has_label_sets(const scl_predictor *p) {
  return judges(p) && p->parts.classification;
}

int scl_predictor_has_probabilities(const scl_predictor *p) {
  return p != NULL && (p->parts.by_loss || p->parts.sigmoids != NULL || p->parts.curves != NULL);
}

/* ------------ its table */

size_t scl_predictor_fields(const scl_predictor *p) {
  return p == NULL || p->schema == NULL ? 0 : p->schema->n_columns;
}

/* A column of the table, or NULL if there is no such column. */
static const scl_column *field_of(const scl_predictor *p, size_t field) {
  return field < scl_predictor_fields(p) ? &p->schema->columns[field] : NULL;
}

const char *scl_predictor_field_name(const scl_predictor *p, size_t field) {
  const scl_column *column = field_of(p, field);
  return column == NULL ? NULL : column->name;
}

int scl_predictor_field_kind(const scl_predictor *p, size_t field) {
  const scl_column *column = field_of(p, field);
  return column == NULL ? -1 : (int)column->kind;
}

/* The first column of the rows that comes from the field: fields before it may have several columns
 * (one for each level of a category). */
size_t scl_predictor_field_column(const scl_predictor *p, size_t field) {
  size_t place = 0;
  for (size_t i = 0; field_of(p, i) != NULL && i < field; i++)
    place += scl_column_width(&p->schema->columns[i]);
  return place;
}

size_t scl_predictor_field_width(const scl_predictor *p, size_t field) {
  const scl_column *column = field_of(p, field);
  return column == NULL ? 0 : scl_column_width(column);
}

double scl_predictor_field_fill(const scl_predictor *p, size_t field) {
  const scl_column *column = field_of(p, field);
  return column == NULL ? NAN : column->fill;
}

const char *scl_predictor_field_level(const scl_predictor *p, size_t field, size_t level) {
  const scl_column *column = field_of(p, field);
  return column != NULL && level < column->n_levels ? column->levels[level] : NULL;
}

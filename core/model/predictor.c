/* Loading a predictor, and what it says of itself. */
#include "algebra/blas.h"
#include "base/environment.h"
#include "base/text.h"
#include "model/predictor_internal.h"
#include "model/stay.h"
#include <math.h>

const char *scl_version(void) { return SCULLERY_VERSION; }

/* ------------------------------------------------------------ loading */

static void destroy_stages(scl_predictor *p) {
  for (size_t s = 0; p->stages != NULL && s < p->n_stages; s++)
    scl_stage_destroy(p->stages[s]);
  scl_release(p->stages);
}

static void destroy(scl_predictor *p) {
  destroy_stages(p);
  scl_map_destroy(p->map);
  scl_model_destroy(p->learnt);
  scl_instance_release(p->solver);
  scl_matrix_release(&p->weights);
  scl_matrix_release(&p->intercept);
  scl_matrix_release(&p->pilot);
  scl_release_texts(p->labels, p->n_classes);
  scl_release_texts(p->names, p->names == NULL ? 0 : p->dim);
  scl_schema_destroy(p->schema);
  SCL_RELEASE(p->numbers, p->sigmoids, p);
}

static scl_status restore(scl_saved *saved, const char *what, scl_predictor **out,
                          scl_error *error) {
  scl_predictor *p = scl_allocate_zero(sizeof *p);
  if (p == NULL) return scl_fail_memory(error, sizeof *p, "a predictor");
  const scl_status status = scl_predictor_restore(saved, p, error);
  if (status == SCL_STATUS_OK) {
    *out = p;
    return status;
  }
  destroy(p);
  (void)scl_prefix(error, "%s", what);
  return status;
}

static scl_status load(const char *path, const void *bytes, size_t size, const char *what,
                       scl_predictor **out, scl_error *error) {
  scl_saved saved;
  SCL_TRY(scl_environment_check(error));
  SCL_TRY(scl_blas_start(error));
  SCL_TRY(scl_saved_open(path, bytes, size, what, &saved, error));
  const scl_status status = restore(&saved, what, out, error);
  scl_saved_close(&saved);
  return status;
}

static scl_status load_here(const char *path, const void *bytes, size_t size, const char *what,
                            scl_predictor **out, scl_error *error) {
  *out = NULL;
  scl_stay stay;
  SCL_TRY(scl_stay_begin(&stay, error));
  return scl_stay_end(&stay, load(path, bytes, size, what, out, error), error);
}

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

void scl_predictor_close(scl_predictor *predictor) {
  if (predictor != NULL) destroy(predictor);
}

/* ------------------------------------------------------------ what it is */

size_t scl_predictor_columns(const scl_predictor *p) { return p == NULL ? 0 : p->dim; }

const char *scl_predictor_column_name(const scl_predictor *p, size_t column) {
  return p != NULL && p->names != NULL && column < p->dim ? p->names[column] : NULL;
}

size_t scl_predictor_outputs(const scl_predictor *p) { return p == NULL ? 0 : p->targets; }
size_t scl_predictor_classes(const scl_predictor *p) { return p == NULL ? 0 : p->n_classes; }

const char *scl_predictor_class_label(const scl_predictor *p, size_t place) {
  return place < scl_predictor_classes(p) ? p->labels[place] : NULL;
}

double scl_predictor_class_number(const scl_predictor *p, size_t place) {
  return place < scl_predictor_classes(p) ? p->numbers[place] : NAN;
}

int scl_predictor_has_probabilities(const scl_predictor *p) {
  return p != NULL && p->said != SCL_SAID_NONE;
}

/* ------------------------------------------------------------ its table */

size_t scl_predictor_fields(const scl_predictor *p) {
  return p == NULL || p->schema == NULL ? 0 : p->schema->n_columns;
}

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

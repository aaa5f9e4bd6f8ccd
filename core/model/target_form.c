/* Transformed targets: of predictions back, and of the rows of a source. */
#include "model/target_form.h"

#include <math.h>
#include <string.h>

/* A status unless the form is of that many targets. */
static scl_status check_count(const scl_target_form *form, size_t targets, scl_error *error) {
  if (targets == form->count) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_SHAPE, "%zu targets, and the model transforms %zu", targets,
                  form->count);
}

scl_status scl_target_form_undo(const scl_target_form *form, const scl_matrix *scores,
                                scl_matrix *out, scl_error *error) {
  SCL_TRY(check_count(form, scores->cols, error));
  SCL_TRY(scl_matrix_create(scores->rows, scores->cols, SCL_DTYPE_FLOAT64, out, error));
  for (size_t i = 0; i < scores->rows; i++)
    for (size_t j = 0; j < scores->cols; j++) {
      const double value = scl_matrix_get(scores, i, j) * form->scale[j] + form->mean[j];
      scl_matrix_set(out, i, j, form->log ? exp(value) : value);
    }
  return SCL_STATUS_OK;
}

/* ------------ a source */

typedef struct formed_source {
  scl_source base;
  scl_source *from;     /* borrowed */
  scl_target_form form; /* mean and scale follow the struct in its storage */
} formed_source;

/* Read the targets of `from`, each of which becomes as many columns of y as the form has for it. The
 * last column comes first, as column j takes one at or before its place. */
static void repeat_targets(scl_matrix *y, size_t targets) {
  const size_t times = y->cols / targets;
  for (size_t i = 0; i < y->rows && times > 1; i++)
    for (size_t j = y->cols; j-- > 0;)
      scl_matrix_set(y, i, j, scl_matrix_get(y, i, j / times));
}

/* Transform targets in place; first: the number of the first row, from 0, for errors. */
static scl_status form_rows(const scl_target_form *form, size_t first, scl_matrix *y,
                            scl_error *error) {
  for (size_t i = 0; i < y->rows; i++)
    for (size_t j = 0; j < form->count; j++) {
      const double value = scl_matrix_get(y, i, j);
      if (form->log && value <= 0)
        return scl_fail(error, SCL_STATUS_BAD_DATA,
                        "option 'target' takes the logarithm of the targets, which are above 0, "
                        "and row %zu has %.14g",
                        first + i + 1, value);
      scl_matrix_set(y, i, j, ((form->log ? log(value) : value) - form->mean[j]) / form->scale[j]);
    }
  return SCL_STATUS_OK;
}

/* scl_source_class.read. y NULL: only the features are wanted. */
static scl_status read_formed(scl_source *source, size_t first, size_t count, scl_matrix *x,
                              scl_matrix *y, scl_error *error) {
  const formed_source *self = (const formed_source *)source;
  if (y == NULL) return scl_source_read(self->from, first, count, x, NULL, error);
  scl_matrix given = scl_matrix_slice(y, 0, y->rows, 0, self->from->targets);
  const scl_status status = scl_source_read(self->from, first, count, x, &given, error);
  scl_matrix_release(&given);
  if (status != SCL_STATUS_OK) return status;
  repeat_targets(y, self->from->targets);
  return form_rows(&self->form, first, y, error);
}

static scl_status read_formed_csr(scl_source *source, size_t first, size_t count, scl_csr *x,
                                  scl_matrix *y, scl_error *error) {
  const formed_source *self = (const formed_source *)source;
  if (y == NULL) return scl_source_sparse(self->from, first, count, x, NULL, error);
  scl_matrix given = scl_matrix_slice(y, 0, y->rows, 0, self->from->targets);
  scl_status status = scl_source_sparse(self->from, first, count, x, &given, error);
  scl_matrix_release(&given);
  if (status != SCL_STATUS_OK) return status;
  repeat_targets(y, self->from->targets);
  status = form_rows(&self->form, first, y, error);
  if (status != SCL_STATUS_OK) scl_csr_release(x);
  return status;
}

static void destroy_formed(scl_source *source) { scl_release(source); }

static const scl_source_class formed_class = {
    .read = read_formed, .read_sparse = read_formed_csr, .destroy = destroy_formed};

scl_status scl_source_formed(scl_source *from, const scl_target_form *form, scl_source **out,
                             scl_error *error) {
  const size_t bytes = form->count * sizeof(double);
  if (from->targets == 0 || form->count % from->targets != 0)
    SCL_TRY(check_count(form, from->targets, error));
  formed_source *self = scl_allocate_zero(sizeof *self + 2 * bytes);
  if (self == NULL) return scl_fail_memory(error, 2 * bytes, "a source of transformed targets");
  double *mean = (double *)(self + 1), *scale = mean + form->count;
  memcpy(mean, form->mean, bytes);
  memcpy(scale, form->scale, bytes);
  *self = (formed_source){.base = {.class = &formed_class,
                                   .rows = from->rows,
                                   .cols = from->cols,
                                   .targets = form->count,
                                   .random_access = from->random_access,
                                   .parallel = from->parallel,
                                   .sparse = from->sparse,
                                   .memory = from->memory},
                          .from = from,
                          .form = {form->log, form->count, mean, scale}};
  *out = &self->base;
  return SCL_STATUS_OK;
}

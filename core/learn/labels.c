/* Class labels to numeric targets and back, and a source that codes the labels of another source as
 * it is read. */
#include "learn/labels.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* 1 for two classes, else their number. */
static size_t targets_of(const scl_classes *classes) {
  return classes->count == 2 ? 1 : classes->count;
}

/* The place of a label among the classes; the number of classes if it is not one of them. */
static size_t class_place(const scl_classes *classes, double label) {
  size_t k = 0;
  while (k < classes->count && classes->values[k] != label)
    k++;
  return k;
}

/* Write the targets of one label to row `row` of y. */
static scl_status code_row(const scl_classes *classes, double label, scl_matrix *y, size_t row,
                           scl_error *error) {
  const size_t k = class_place(classes, label);
  if (k == classes->count && !classes->strangers)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "the label %g is none of the %zu classes", label,
                    classes->count);
  if (classes->count == 2) {
    scl_matrix_set(y, row, 0, k == 2 ? 0 : k == 1 ? 1 : -1);
    return SCL_STATUS_OK;
  }
  for (size_t j = 0; j < classes->count; j++)
    scl_matrix_set(y, row, j, j == k ? 1 : -1);
  return SCL_STATUS_OK;
}

/* The targets of a column of labels whose first row is row `first` of the data. */
static scl_status code_rows(const scl_classes *classes, const scl_matrix *labels, size_t first,
                            scl_matrix *y, scl_error *error) {
  for (size_t i = 0; i < labels->rows; i++) {
    const scl_status status = code_row(classes, scl_matrix_get(labels, i, 0), y, i, error);
    if (status != SCL_STATUS_OK) return scl_prefix(error, "row %zu", first + i + 1);
  }
  return SCL_STATUS_OK;
}

scl_status scl_code_labels(const scl_matrix *labels, const scl_classes *classes, scl_matrix *out,
                           scl_error *error) {
  if (labels->cols != 1)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE, "labels come as one column, and these are %zu",
                    labels->cols);
  SCL_TRY(scl_matrix_create_raw(labels->rows, targets_of(classes), SCL_DTYPE_FLOAT64, out, error));
  const scl_status status = code_rows(classes, labels, 0, out, error);
  if (status != SCL_STATUS_OK) scl_matrix_release(out);
  return status;
}

bool scl_is_stranger(const double *y, size_t targets) {
  for (size_t j = 0; targets > 1 && j < targets; j++)
    if (y[j] > 0) return false;
  return targets > 1 || y[0] == 0;
}

/* The place of the class that a row of decisions selects. The first of equal decisions wins. */
static size_t decided_class(const scl_matrix *decisions, size_t row, size_t classes) {
  size_t best = 0;
  if (classes == 2) return scl_matrix_get(decisions, row, 0) >= 0;
  for (size_t j = 1; j < classes; j++)
    if (scl_matrix_get(decisions, row, j) > scl_matrix_get(decisions, row, best)) best = j;
  return best;
}

scl_status scl_decide_labels(const scl_matrix *decisions, const scl_classes *classes,
                             scl_matrix *out, scl_error *error) {
  if (decisions->cols != targets_of(classes))
    return scl_fail(error, SCL_STATUS_BAD_SHAPE, "%zu decisions a row for %zu classes",
                    decisions->cols, classes->count);
  SCL_TRY(scl_matrix_create_raw(decisions->rows, 1, SCL_DTYPE_FLOAT64, out, error));
  for (size_t i = 0; i < decisions->rows; i++)
    *scl_matrix_row(out, i) = classes->values[decided_class(decisions, i, classes->count)];
  return SCL_STATUS_OK;
}

/* ------------ a source */

typedef struct coded_source {
  scl_source base;
  scl_source *from;     /* borrowed */
  scl_classes classes;  /* its values point to `values` */
  double *values;       /* owned */
  _Atomic double first; /* a label that was read, NaN before the first */
  atomic_bool more;     /* whether another class was read too */
} coded_source;

/* Update the two facts about the classes seen so far. Several threads may read at once: the first
 * label is set by compare and exchange, and every later label is compared with it. */
static void note_classes(coded_source *self, const scl_matrix *labels) {
  for (size_t i = 0; i < labels->rows && !atomic_load(&self->more); i++) {
    const double label = scl_matrix_get(labels, i, 0);
    if (class_place(&self->classes, label) == self->classes.count) continue; /* a stranger */
    double first = atomic_load(&self->first);
    if (isnan(first)) (void)atomic_compare_exchange_strong(&self->first, &first, label);
    if (atomic_load(&self->first) != label) atomic_store(&self->more, true);
  }
}

/* Read rows into x or, of sparse rows, into csr. y NULL: only the features are wanted. */
static scl_status read_rows(coded_source *self, size_t first, size_t count, scl_matrix *x,
                            scl_csr *csr, scl_matrix *y, scl_error *error) {
  return csr != NULL ? scl_source_sparse(self->from, first, count, csr, y, error)
                     : scl_source_read(self->from, first, count, x, y, error);
}

static scl_status read_and_code(coded_source *self, size_t first, size_t count, scl_matrix *x,
                                scl_csr *csr, scl_matrix *y, scl_error *error) {
  scl_matrix labels = {0};
  if (y == NULL) return read_rows(self, first, count, x, csr, NULL, error);
  SCL_TRY(scl_matrix_create(count, 1, SCL_DTYPE_FLOAT64, &labels, error));
  scl_status status = read_rows(self, first, count, x, csr, &labels, error);
  if (status == SCL_STATUS_OK) {
    status = code_rows(&self->classes, &labels, first, y, error);
    if (status != SCL_STATUS_OK && csr != NULL) scl_csr_release(csr);
  }
  if (status == SCL_STATUS_OK) note_classes(self, &labels);
  scl_matrix_release(&labels);
  return status;
}

static scl_status read_coded(scl_source *source, size_t first, size_t count, scl_matrix *x,
                             scl_matrix *y, scl_error *error) {
  return read_and_code((coded_source *)source, first, count, x, NULL, y, error);
}

static scl_status read_coded_csr(scl_source *source, size_t first, size_t count, scl_csr *x,
                                 scl_matrix *y, scl_error *error) {
  return read_and_code((coded_source *)source, first, count, NULL, x, y, error);
}

static void destroy_coded(scl_source *source) {
  scl_release(((coded_source *)source)->values);
  scl_release(source);
}

static const scl_source_class coded_class = {
    .read = read_coded, .read_sparse = read_coded_csr, .destroy = destroy_coded};

size_t scl_source_classes_seen(scl_source *coded) {
  if (coded->class != &coded_class) return 0;
  coded_source *self = (coded_source *)coded;
  const double first = atomic_load(&self->first);
  return isnan(first) ? 0 : atomic_load(&self->more) ? 2 : 1;
}

scl_status scl_source_coded(scl_source *from, const scl_classes *classes, scl_source **out,
                            scl_error *error) {
  const size_t bytes = classes->count * sizeof(double);
  if (from->targets != 1)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "labels come as one column, and this source has %zu", from->targets);
  coded_source *self = scl_allocate_zero(sizeof *self);
  double *values = self == NULL ? NULL : scl_allocate(bytes + 1);
  if (values == NULL) {
    scl_release(self);
    return scl_fail_memory(error, bytes, "a source of coded labels");
  }
  memcpy(values, classes->values, bytes);
  *self = (coded_source){.base = {.class = &coded_class,
                                  .rows = from->rows,
                                  .cols = from->cols,
                                  .targets = targets_of(classes),
                                  .random_access = from->random_access,
                                  .parallel = from->parallel,
                                  .sparse = from->sparse,
                                  .memory = from->memory},
                         .from = from,
                         .classes = {values, classes->count, classes->strangers},
                         .values = values,
                         .first = NAN};
  *out = &self->base;
  return SCL_STATUS_OK;
}

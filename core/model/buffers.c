/* Predictions for rows in a program's buffers: the four functions of scullery/scullery.h. */
#include "model/predictor.h"
#include "model/stay.h"

/* ------------------------------------------------------------ buffers */

scl_status scl_buffer_check(const char *what, scl_buffer *b, scl_error *error) {
  if (b->dtype != SCL_DTYPE_FLOAT64 && b->dtype != SCL_DTYPE_FLOAT32)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "%s: dtype is %d; it takes SCL_DTYPE_FLOAT64 (%d) or SCL_DTYPE_FLOAT32 (%d)",
                    b->title, (int)b->dtype, SCL_DTYPE_FLOAT64, SCL_DTYPE_FLOAT32);
  if (b->stride == 0) b->stride = b->cols;
  if (b->stride < b->cols)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "%s: %s of %zu numbers are %zu numbers apart; the stride is at least %zu",
                    b->title, what, b->cols, b->stride, b->cols);
  const size_t most = PTRDIFF_MAX / sizeof(double);
  if (b->stride >= most || b->count > most / (b->stride + 1))
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "%s: %zu %s, %zu numbers apart, are more than any memory holds", b->title,
                    b->count, what, b->stride);
  if (b->count == 0 || b->cols == 0) return SCL_STATUS_OK;
  if (b->data == NULL)
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: the buffer of %s is NULL", b->title, what);
  if ((uintptr_t)b->data % scl_dtype_size(b->dtype) != 0)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "%s: the buffer of %s is not aligned to numbers of %s", b->title, what,
                    scl_dtype_name(b->dtype));
  return SCL_STATUS_OK;
}

/* Rows first .. first+count-1 of a buffer as a matrix, which borrows them. */
static scl_matrix view_of(const scl_buffer *b, size_t first, size_t count) {
  return (scl_matrix){
      .data = (void *)(uintptr_t)scl_at(b->data, b->dtype, (ptrdiff_t)(first * b->stride)),
      .rows = count,
      .cols = b->cols,
      .row_stride = (ptrdiff_t)b->stride,
      .col_stride = 1,
      .dtype = b->dtype};
}

/* The rows as a source, which copies each block of them. */
typedef struct buffer_source {
  scl_source base;
  const scl_buffer *rows;
} buffer_source;

static scl_status read_buffer(scl_source *source, size_t first, size_t count, scl_matrix *x,
                              scl_matrix *y, scl_error *error) {
  const scl_matrix rows = view_of(((const buffer_source *)source)->rows, first, count);
  (void)y;
  (void)error;
  scl_matrix_assign(&rows, x);
  return SCL_STATUS_OK;
}

static const scl_source_class buffer_class = {.read = read_buffer};

/* ------------------------------------------------------------ results */

/* *out = the predictions for rows of a checked buffer. The caller releases it. */
static scl_status predict_buffer(const scl_predictor *p, const scl_buffer *rows,
                                 scl_prediction what, scl_matrix *out, scl_error *error) {
  scl_stay stay;
  buffer_source source = {.base = {.class = &buffer_class,
                                   .rows = rows->count,
                                   .cols = rows->cols,
                                   .random_access = true,
                                   .parallel = true},
                          .rows = rows};
  SCL_TRY(scl_stay_begin(&stay, error));
  const scl_status status = scl_predict(&p->fitted, &source.base, what, out, error);
  if (status != SCL_STATUS_OK) (void)scl_prefix(error, "%s", rows->title);
  return scl_stay_end(&stay, status, error);
}

/* ------------------------------------------------------------ calls */

static scl_status check_predictor(const scl_predictor *p, const char *title, scl_error *error) {
  if (p != NULL) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: takes a predictor, and got NULL", title);
}

/* Check both buffers, predict, and write the results. Predictions go to a matrix first: `to` is not
 * written after a failure, and may be of another dtype than the results. */
static scl_status predict_to(const scl_predictor *p, scl_buffer *rows, scl_buffer *to,
                             scl_prediction what, scl_error *error) {
  scl_matrix made;
  rows->cols = p->parts.dim;
  SCL_TRY(scl_buffer_check("rows", rows, error));
  SCL_TRY(scl_buffer_check("results", to, error));
  if (rows->count == 0) return SCL_STATUS_OK;
  SCL_TRY(predict_buffer(p, rows, what, &made, error));
  scl_matrix target = view_of(to, 0, to->count);
  scl_matrix_assign(&made, &target);
  scl_matrix_release(&made);
  return SCL_STATUS_OK;
}

scl_status scl_predictor_scores(const scl_predictor *p, scl_dtype dtype, const void *rows,
                                size_t count, size_t stride, void *scores, size_t scores_stride,
                                scl_error *error) {
  static const char title[] = "scl_predictor_scores";
  SCL_TRY(check_predictor(p, title, error));
  scl_buffer from = {title, rows, dtype, count, 0, stride},
             to = {title, scores, dtype, count, p->parts.targets, scores_stride};
  return predict_to(p, &from, &to, SCL_PREDICT_SCORES, error);
}

scl_status scl_predictor_predict(const scl_predictor *p, scl_dtype dtype, const void *rows,
                                 size_t count, size_t stride, void *out, size_t out_stride,
                                 scl_error *error) {
  static const char title[] = "scl_predictor_predict";
  SCL_TRY(check_predictor(p, title, error));
  scl_buffer from = {title, rows, dtype, count, 0, stride},
             to = {title,     out, dtype, count, p->parts.classification ? 1 : p->parts.targets,
                   out_stride};
  return predict_to(p, &from, &to, SCL_PREDICT_LABELS, error);
}

scl_status scl_predictor_probabilities(const scl_predictor *p, scl_dtype dtype, const void *rows,
                                       size_t count, size_t stride, void *probabilities,
                                       size_t probabilities_stride, scl_error *error) {
  static const char title[] = "scl_predictor_probabilities";
  SCL_TRY(check_predictor(p, title, error));
  scl_buffer from = {title, rows, dtype, count, 0, stride},
             to = {title, probabilities, dtype, count, p->parts.n_classes, probabilities_stride};
  if (scl_predictor_has_probabilities(p))
    return predict_to(p, &from, &to, SCL_PREDICT_PROBABILITIES, error);
  return scl_fail(error, SCL_STATUS_UNSUPPORTED, "%s: the model has no probabilities: %s", title,
                  p->parts.classification
                      ? "its solver's loss says none, and it was saved without p:calibrate{...}"
                      : "it is a regression");
}

scl_status scl_predictor_classify(const scl_predictor *p, scl_dtype dtype, const void *rows,
                                  size_t count, size_t stride, int32_t *classes, scl_error *error) {
  static const char title[] = "scl_predictor_classify";
  SCL_TRY(check_predictor(p, title, error));
  scl_buffer from = {title, rows, dtype, count, p->parts.dim, stride};
  scl_matrix made;
  if (!p->parts.classification)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "%s: the model is a regression, without classes",
                    title);
  SCL_TRY(scl_buffer_check("rows", &from, error));
  if (count == 0) return SCL_STATUS_OK;
  if (classes == NULL)
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: the buffer of classes is NULL", title);
  SCL_TRY(predict_buffer(p, &from, SCL_PREDICT_LABELS, &made, error));
  for (size_t i = 0; i < count; i++)
    classes[i] = (int32_t)scl_matrix_get(&made, i, 0);
  scl_matrix_release(&made);
  return SCL_STATUS_OK;
}

/* Predictions for rows in a program's buffers: the functions of scullery/scullery.h that
 * predict. */
#include "base/pool.h"
#include "model/predictor.h"
#include "model/stay.h"
#include <string.h>

/* ------------ buffers */

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

/* Sparse rows of a program as a source: views of its arrays, which nothing else refers to when the
 * call ends. */
typedef struct sparse_source {
  scl_source base;
  scl_csr rows; /* no storage: borrowed */
} sparse_source;

static scl_status read_sparse(scl_source *source, size_t first, size_t count, scl_csr *x,
                              scl_matrix *y, scl_error *error) {
  (void)y, (void)error;
  *x = scl_csr_slice(&((const sparse_source *)source)->rows, first, count);
  return SCL_STATUS_OK;
}

static const scl_source_class sparse_class = {.read_sparse = read_sparse};

/* ------------ results */

/* Write predictions to a checked buffer, and release them. They go to a matrix first, so that `to`
 * is not written after a failure, and may be of another dtype. */
static void write_results(scl_matrix *made, const scl_buffer *to) {
  scl_matrix target = view_of(to, 0, to->count);
  scl_matrix_assign(made, &target);
  scl_matrix_release(made);
}

/* *out = the predictions for the rows of a source. title: of the function, for sentences. The caller
 * releases it. */
static scl_status predict_source(const scl_predictor *p, scl_source *source, const char *title,
                                 scl_prediction what, scl_matrix *out, scl_error *error) {
  scl_stay stay;
  SCL_TRY(scl_stay_begin(&stay, error));
  const scl_status status = scl_predict(&p->fitted, source, what, out, error);
  if (status != SCL_STATUS_OK) (void)scl_prefix(error, "%s", title);
  return scl_stay_end(&stay, status, error);
}

/* A checked buffer as a source. */
static buffer_source source_of(const scl_buffer *rows) {
  return (buffer_source){.base = {.class = &buffer_class,
                                  .rows = rows->count,
                                  .cols = rows->cols,
                                  .random_access = true,
                                  .parallel = true},
                         .rows = rows};
}

/* The same for rows of a checked buffer. */
static scl_status predict_buffer(const scl_predictor *p, const scl_buffer *rows,
                                 scl_prediction what, scl_matrix *out, scl_error *error) {
  buffer_source source = source_of(rows);
  return predict_source(p, &source.base, rows->title, what, out, error);
}

/* Write the predictions for one row to a checked buffer. False: it is not written, and the walk over
 * rows makes them, or says why there are none. */
static bool predict_one(const scl_predictor *p, const scl_buffer *row, scl_prediction what,
                        const scl_buffer *to, scl_error *error) {
  enum { FEW = 16 };
  double few[FEW];
  const size_t c = p->parts.targets;
  scl_matrix scores = {.data = few,
                       .rows = 1,
                       .cols = c,
                       .row_stride = (ptrdiff_t)c,
                       .col_stride = 1,
                       .dtype = SCL_DTYPE_FLOAT64},
             made;
  if (c > FEW || scl_pool_threads() > 1 ||
      !scl_one_row_scores(p->one, row->dtype, row->data, few) ||
      scl_predict_from(&p->fitted, &scores, what, &made, error) != SCL_STATUS_OK)
    return false;
  write_results(&made, to);
  return true;
}

/* The same for any number of rows, between scl_stay_begin and scl_stay_end; *done: it was one, and is
 * written. */
static scl_status try_one(const scl_predictor *p, const scl_buffer *rows, scl_prediction what,
                          const scl_buffer *to, bool *done, scl_error *error) {
  scl_stay stay;
  *done = false;
  if (rows->count != 1 || p->one == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_stay_begin(&stay, error));
  *done = predict_one(p, rows, what, to, error);
  return scl_stay_end(&stay, SCL_STATUS_OK, error);
}

/* ------------ calls */

static scl_status check_predictor(const scl_predictor *p, const char *title, scl_error *error) {
  if (p != NULL) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: takes a predictor, and got NULL", title);
}

/* Check both buffers, predict, and write the results. */
static scl_status predict_to(const scl_predictor *p, scl_buffer *rows, scl_buffer *to,
                             scl_prediction what, scl_error *error) {
  scl_matrix made;
  bool done;
  rows->cols = p->parts.dim;
  SCL_TRY(scl_buffer_check("rows", rows, error));
  SCL_TRY(scl_buffer_check("results", to, error));
  if (rows->count == 0) return SCL_STATUS_OK;
  SCL_TRY(try_one(p, rows, what, to, &done, error));
  if (done) return SCL_STATUS_OK;
  SCL_TRY(predict_buffer(p, rows, what, &made, error));
  write_results(&made, to);
  return SCL_STATUS_OK;
}

static scl_status no_probabilities(const scl_predictor *p, const char *title, scl_error *error) {
  return scl_fail(error, SCL_STATUS_UNSUPPORTED, "%s: the model has no probabilities: %s", title,
                  p->parts.classification
                      ? "its solver's loss says none, and it was saved without p:calibrate{...}"
                  : p->parts.multilabel ? "it has multi-label targets"
                                        : "it is a regression");
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
  if (!scl_predictor_has_probabilities(p)) return no_probabilities(p, title, error);
  return predict_to(p, &from, &to, SCL_PREDICT_PROBABILITIES, error);
}

scl_status scl_predictor_classify(const scl_predictor *p, scl_dtype dtype, const void *rows,
                                  size_t count, size_t stride, int32_t *classes, scl_error *error) {
  static const char title[] = "scl_predictor_classify";
  SCL_TRY(check_predictor(p, title, error));
  double place;
  scl_buffer from = {title, rows, dtype, count, p->parts.dim, stride},
             to = {title, &place, SCL_DTYPE_FLOAT64, 1, 1, 1};
  scl_matrix made;
  bool done;
  if (!p->parts.classification)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "%s: the model %s, without classes", title,
                    p->parts.multilabel ? "has multi-label targets" : "is a regression");
  SCL_TRY(scl_buffer_check("rows", &from, error));
  if (count == 0) return SCL_STATUS_OK;
  if (classes == NULL)
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: the buffer of classes is NULL", title);
  SCL_TRY(try_one(p, &from, SCL_PREDICT_LABELS, &to, &done, error));
  if (done) classes[0] = (int32_t)place;
  if (done) return SCL_STATUS_OK;
  SCL_TRY(predict_buffer(p, &from, SCL_PREDICT_LABELS, &made, error));
  for (size_t i = 0; i < count; i++)
    classes[i] = (int32_t)scl_matrix_get(&made, i, 0);
  scl_matrix_release(&made);
  return SCL_STATUS_OK;
}

/* ------------ how sure */

scl_status scl_predictor_deviations(const scl_predictor *p, int noise, scl_dtype dtype,
                                    const void *rows, size_t count, size_t stride, void *deviations,
                                    size_t deviations_stride, scl_error *error) {
  static const char title[] = "scl_predictor_deviations";
  SCL_TRY(check_predictor(p, title, error));
  scl_buffer from = {title, rows, dtype, count, p->parts.dim, stride},
             to = {title, deviations, dtype, count, p->parts.targets, deviations_stride};
  scl_matrix made;
  scl_stay stay;
  if (!scl_predictor_has_deviations(p))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "%s: the model has no standard deviations: those of a ridge regression are "
                    "saved by p:save(path, { std = true })",
                    title);
  SCL_TRY(scl_buffer_check("rows", &from, error));
  SCL_TRY(scl_buffer_check("results", &to, error));
  if (count == 0) return SCL_STATUS_OK;
  SCL_TRY(scl_stay_begin(&stay, error));
  buffer_source source = source_of(&from);
  scl_status status =
      scl_sure_deviations(&p->sure, &p->fitted, &source.base, noise != 0, &made, error);
  if (status == SCL_STATUS_OK) write_results(&made, &to);
  if (status != SCL_STATUS_OK) (void)scl_prefix(error, "%s", title);
  return scl_stay_end(&stay, status, error);
}

static scl_status check_level(const char *title, double level, scl_error *error) {
  if (level > 0 && level < 1) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_OPTION,
                  "%s: the level is %g; it takes a number above 0 and below 1", title, level);
}

scl_status scl_predictor_interval(const scl_predictor *p, double level, scl_dtype dtype,
                                  const void *rows, size_t count, size_t stride, void *low,
                                  void *high, size_t bounds_stride, scl_error *error) {
  static const char title[] = "scl_predictor_interval";
  SCL_TRY(check_predictor(p, title, error));
  scl_buffer from = {title, rows, dtype, count, p->parts.dim, stride},
             under = {title, low, dtype, count, p->parts.targets, bounds_stride},
             over = {title, high, dtype, count, p->parts.targets, bounds_stride};
  scl_matrix lows, highs;
  scl_stay stay;
  if (!scl_predictor_has_intervals(p))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "%s: the model keeps nothing for intervals: fit it with p:fit(ds, { interval = "
                    "\"folds\" })",
                    title);
  SCL_TRY(check_level(title, level, error));
  SCL_TRY(scl_buffer_check("rows", &from, error));
  SCL_TRY(scl_buffer_check("results", &under, error));
  SCL_TRY(scl_buffer_check("results", &over, error));
  if (count == 0) return SCL_STATUS_OK;
  SCL_TRY(scl_stay_begin(&stay, error));
  buffer_source source = source_of(&from);
  scl_status status =
      scl_sure_interval(&p->sure, &p->fitted, &source.base, level, &lows, &highs, error);
  if (status == SCL_STATUS_OK) {
    write_results(&lows, &under);
    write_results(&highs, &over);
  } else {
    (void)scl_prefix(error, "%s", title);
  }
  return scl_stay_end(&stay, status, error);
}

scl_status scl_predictor_label_sets(const scl_predictor *p, double level, scl_dtype dtype,
                                    const void *rows, size_t count, size_t stride, void *sets,
                                    size_t sets_stride, scl_error *error) {
  static const char title[] = "scl_predictor_label_sets";
  SCL_TRY(check_predictor(p, title, error));
  scl_buffer from = {title, rows, dtype, count, p->parts.dim, stride},
             to = {title, sets, dtype, count, p->parts.n_classes, sets_stride};
  scl_matrix made;
  scl_stay stay;
  if (!scl_predictor_has_label_sets(p))
    return scl_fail(
        error, SCL_STATUS_UNSUPPORTED,
        "%s: the model keeps nothing for label sets: fit a classification with p:fit(ds, "
        "{ interval = \"folds\" })",
        title);
  SCL_TRY(check_level(title, level, error));
  SCL_TRY(scl_buffer_check("rows", &from, error));
  SCL_TRY(scl_buffer_check("results", &to, error));
  if (count == 0) return SCL_STATUS_OK;
  SCL_TRY(scl_stay_begin(&stay, error));
  buffer_source source = source_of(&from);
  scl_status status = scl_sure_label_sets(&p->sure, &p->fitted, &source.base, level, &made, error);
  if (status == SCL_STATUS_OK) write_results(&made, &to);
  if (status != SCL_STATUS_OK) (void)scl_prefix(error, "%s", title);
  return scl_stay_end(&stay, status, error);
}

/* ------------ outputs by their number */

/* The prediction of an SCL_OUTPUT_..., and the numbers that a row of it has in `to`. */
static scl_status check_output(const scl_predictor *p, int what, scl_prediction *prediction,
                               scl_buffer *to, scl_error *error) {
  static const scl_prediction predictions[] = {SCL_PREDICT_LABELS, SCL_PREDICT_SCORES,
                                               SCL_PREDICT_PROBABILITIES};
  if (what < SCL_OUTPUT_PREDICTIONS || what > SCL_OUTPUT_PROBABILITIES)
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: 'what' is %d, and no output", to->title,
                    what);
  if (what == SCL_OUTPUT_PROBABILITIES && !scl_predictor_has_probabilities(p))
    return no_probabilities(p, to->title, error);
  *prediction = predictions[what];
  to->cols = what == SCL_OUTPUT_PROBABILITIES                            ? p->parts.n_classes
             : what == SCL_OUTPUT_PREDICTIONS && p->parts.classification ? 1
                                                                         : p->parts.targets;
  return scl_buffer_check("results", to, error);
}

/* ------------ sparse rows */

/* Check a program's sparse rows, and make *rows a view of them. */
static scl_status check_sparse(const char *title, scl_csr *rows, scl_error *error) {
  if (rows->starts == NULL)
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: 'starts' is NULL", title);
  const int64_t end = rows->starts[rows->rows];
  if (end < 0 || (uint64_t)end >= SIZE_MAX / sizeof(double))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the last of 'starts' is %lld", title,
                    (long long)end);
  if (end > rows->starts[0] && (rows->columns == NULL || rows->values == NULL))
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: '%s' is NULL", title,
                    rows->columns == NULL ? "columns" : "values");
  if ((uintptr_t)rows->values % scl_dtype_size(rows->dtype) != 0)
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: 'values' is not aligned to numbers of %s",
                    title, scl_dtype_name(rows->dtype));
  const scl_status status = scl_csr_check(rows, (size_t)end, error);
  return status == SCL_STATUS_OK ? status : scl_prefix(error, "%s", title);
}

scl_status scl_predictor_sparse(const scl_predictor *p, int what, scl_dtype dtype,
                                const int64_t *starts, const int32_t *columns, const void *values,
                                size_t count, void *out, size_t out_stride, scl_error *error) {
  static const char title[] = "scl_predictor_sparse";
  scl_buffer to = {title, out, dtype, count, 0, out_stride};
  scl_prediction prediction = SCL_PREDICT_LABELS;
  SCL_TRY(check_predictor(p, title, error));
  SCL_TRY(check_output(p, what, &prediction, &to, error));
  if (count == 0) return SCL_STATUS_OK;
  sparse_source source = {.base = {.class = &sparse_class,
                                   .rows = count,
                                   .cols = p->parts.dim,
                                   .random_access = true,
                                   .parallel = true,
                                   .sparse = true},
                          .rows = {NULL, (int64_t *)(uintptr_t)starts,
                                   (int32_t *)(uintptr_t)columns, (void *)(uintptr_t)values, count,
                                   p->parts.dim, dtype}};
  SCL_TRY(check_sparse(title, &source.rows, error));
  scl_matrix made;
  SCL_TRY(predict_source(p, &source.base, title, prediction, &made, error));
  write_results(&made, &to);
  return SCL_STATUS_OK;
}

/* ------------ texts */

int scl_predictor_takes_texts(const scl_predictor *p) {
  return p != NULL && p->parts.encoder != NULL;
}

/* *out = a copy of a program's texts. */
static scl_status copy_texts(const char *title, const char *const *texts, const size_t *lengths,
                             size_t count, scl_texts *out, scl_error *error) {
  scl_texts_builder builder = {0};
  scl_status status = SCL_STATUS_OK;
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++) {
    if (texts[i] == NULL && (lengths == NULL || lengths[i] > 0)) {
      status = scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: text %zu is NULL", title, i + 1);
    } else {
      const size_t length = lengths != NULL ? lengths[i] : strlen(texts[i]);
      status = scl_texts_add(&builder, texts[i], length, error);
      if (status == SCL_STATUS_OK) status = scl_texts_end(&builder, error);
    }
  }
  if (status == SCL_STATUS_OK) return scl_texts_finish(&builder, out, error);
  scl_texts_builder_release(&builder);
  return status;
}

/* *out = the predictions for texts. The caller releases it. */
static scl_status predict_rows_of(const scl_predictor *p, const scl_texts *texts,
                                  scl_prediction what, scl_matrix *out, scl_error *error) {
  scl_csr rows;
  scl_source *source = NULL;
  SCL_TRY(scl_text_encode(p->parts.encoder, texts, &rows, error));
  scl_status status = scl_source_csr(&rows, NULL, &source, error);
  if (status == SCL_STATUS_OK) status = scl_predict(&p->fitted, source, what, out, error);
  scl_source_destroy(source);
  scl_csr_release(&rows);
  return status;
}

/* The same from a program's texts, between scl_stay_begin and scl_stay_end. */
static scl_status predict_texts(const scl_predictor *p, const char *title, const char *const *texts,
                                const size_t *lengths, size_t count, scl_prediction what,
                                scl_matrix *out, scl_error *error) {
  scl_texts copy;
  scl_stay stay;
  SCL_TRY(copy_texts(title, texts, lengths, count, &copy, error));
  scl_status status = scl_stay_begin(&stay, error);
  if (status == SCL_STATUS_OK) {
    status = predict_rows_of(p, &copy, what, out, error);
    if (status != SCL_STATUS_OK) (void)scl_prefix(error, "%s", title);
    status = scl_stay_end(&stay, status, error);
  }
  scl_texts_release(&copy);
  return status;
}

scl_status scl_predictor_texts(const scl_predictor *p, int what, scl_dtype dtype,
                               const char *const *texts, const size_t *lengths, size_t count,
                               void *out, size_t out_stride, scl_error *error) {
  static const char title[] = "scl_predictor_texts";
  scl_buffer to = {title, out, dtype, count, 0, out_stride};
  scl_prediction prediction = SCL_PREDICT_LABELS;
  scl_matrix made;
  SCL_TRY(check_predictor(p, title, error));
  if (p->parts.encoder == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "%s: the rows of the model are %zu numbers, not texts", title, p->parts.dim);
  SCL_TRY(check_output(p, what, &prediction, &to, error));
  if (count == 0) return SCL_STATUS_OK;
  if (texts == NULL)
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: the list of texts is NULL", title);
  SCL_TRY(predict_texts(p, title, texts, lengths, count, prediction, &made, error));
  write_results(&made, &to);
  return SCL_STATUS_OK;
}

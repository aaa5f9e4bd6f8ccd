/* scullery.h as a program uses it: predictions are those of Lua, on many threads at once; every
 * misuse and every damaged file is a sentence; want of memory too; and the process is left as it
 * was. The models come from tests/core/model/embed_models.lua. */
#define _GNU_SOURCE
#include "base/memory.h"
#include "embed.h"
#include <dirent.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

/* ------------ predictions */

/* Each row by a call of its own. */
static scl_status predict_apart(const scl_predictor *p, const table *rows, size_t cols,
                                predicting predict, double *out, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  for (size_t i = 0; i < rows->rows && status == SCL_STATUS_OK; i++)
    status = predict(p, SCL_DTYPE_FLOAT64, rows->numbers + i * rows->cols, 1, 0, out + i * cols, 0,
                     error);
  return status;
}

static void compare(const scl_predictor *p, const char *name, const char *ending,
                    predicting predict) {
  const table rows = read_table(name, ".rows"), wanted = read_table(name, ending);
  const size_t numbers = wanted.rows * wanted.cols;
  double *out = malloc(numbers * sizeof *out);
  scl_error error = {0};
  const scl_status status =
      predict(p, SCL_DTYPE_FLOAT64, rows.numbers, rows.rows, 0, out, 0, &error);
  expect(status == SCL_STATUS_OK, name, error.message);
  expect(memcmp(out, wanted.numbers, numbers * sizeof *out) == 0, name, ending);
  memset(out, 0, numbers * sizeof *out);
  expect(predict_apart(p, &rows, wanted.cols, predict, out, &error) == SCL_STATUS_OK, name,
         error.message);
  expect(memcmp(out, wanted.numbers, numbers * sizeof *out) == 0, name, "a row alone is another");
  free(out);
  free(rows.numbers);
  free(wanted.numbers);
}

static void test_predictions_are_those_of_lua(void) {
  for (size_t m = 0; m < MODELS; m++) {
    scl_predictor *p = load(models[m]);
    compare(p, models[m], ".scores", scl_predictor_scores);
    compare(p, models[m], ".predictions", scl_predictor_predict);
    if (scl_predictor_has_probabilities(p))
      compare(p, models[m], ".probabilities", scl_predictor_probabilities);
    else
      expect(scl_predictor_classes(p) == 0, models[m], "has no probabilities");
    scl_predictor_close(p);
  }
}

/* Rows and results that lie apart, in float32, and classes as whole numbers. */
static void test_strides_and_types(void) {
  enum { STRIDE = 7, MARK = -77 };
  scl_predictor *p = load("linear");
  const table rows = read_table("linear", ".rows"), wanted = read_table("linear", ".scores"),
              places = read_table("linear", ".predictions");
  float *x = malloc(rows.rows * STRIDE * sizeof *x), *out = malloc(rows.rows * STRIDE * sizeof *x);
  int32_t *classes = malloc(rows.rows * sizeof *classes);
  size_t wrong = 0, touched = 0;
  for (size_t i = 0; i < rows.rows * STRIDE; i++) {
    x[i] = i % STRIDE < rows.cols ? (float)rows.numbers[i / STRIDE * rows.cols + i % STRIDE] : NAN;
    out[i] = MARK;
  }
  scl_error error = {0};
  expect(scl_predictor_scores(p, SCL_DTYPE_FLOAT32, x, rows.rows, STRIDE, out, STRIDE, &error) ==
             SCL_STATUS_OK,
         "float32", error.message);
  expect(scl_predictor_classify(p, SCL_DTYPE_FLOAT32, x, rows.rows, STRIDE, classes, &error) ==
             SCL_STATUS_OK,
         "classify", error.message);
  for (size_t i = 0; i < rows.rows; i++) {
    for (size_t j = 0; j < STRIDE; j++)
      if (j >= wanted.cols)
        touched += out[i * STRIDE + j] != MARK;
      else
        wrong += fabs((double)out[i * STRIDE + j] - wanted.numbers[i * wanted.cols + j]) > 1e-4;
    wrong += classes[i] != (int32_t)places.numbers[i];
  }
  expect(wrong == 0, "strides and types", "other numbers");
  expect(touched == 0, "strides and types", "numbers between rows were written");
  free(x);
  free(out);
  free(classes);
  free(rows.numbers);
  free(wanted.numbers);
  free(places.numbers);
  scl_predictor_close(p);
}

static void test_what_a_model_says(void) {
  scl_predictor *p = load("linear"), *r = load("regression"), *l = load("labels");
  expect(scl_predictor_labels(l) == 3 && scl_predictor_classes(l) == 0 &&
             scl_predictor_outputs(l) == 3 && scl_predictor_labels(p) == 0,
         "labels", "count");
  expect(strcmp(scl_predictor_label(l, 2), "c") == 0 && scl_predictor_label(l, 3) == NULL, "labels",
         "names");
  scl_predictor_close(l);
  expect(scl_predictor_columns(p) == 3 && scl_predictor_outputs(p) == 3, "linear", "sizes");
  expect(scl_predictor_classes(p) == 3 && scl_predictor_classes(r) == 0, "classes", "count");
  expect(strcmp(scl_predictor_class_label(p, 1), "class 2") == 0, "the second label", "other");
  expect(scl_predictor_class_label(p, 3) == NULL, "a label too many", "there");
  expect(isnan(scl_predictor_class_number(p, 0)), "a label that is a text", "a number");
  expect(scl_predictor_column_name(p, 0) == NULL, "a column without a name", "named");
  expect(scl_predictor_fields(p) == 0 && scl_predictor_field_name(p, 0) == NULL &&
             scl_predictor_field_kind(p, 0) == -1,
         "a model without a table", "has fields");
  expect(strcmp(scl_version(), SCULLERY_VERSION) == 0, "version", scl_version());
  scl_predictor_close(p);
  scl_predictor_close(r);
  scl_predictor_close(NULL);
}

/* Deviations and bounds are those of Lua, to rounding. */
static void test_how_sure(void) {
  static const char *const methods[] = {"sure_loo", "sure_folds", "sure_split", "sure_far",
                                        "sure_sections"};
  for (size_t m = 0; m < 5; m++) {
    const table rows = read_table(methods[m], ".rows"), wanted = read_table(methods[m], ".sure");
    scl_predictor *p = load(methods[m]);
    double low[20], high[20], std[20], worst = 0;
    scl_error error = {0};
    expect(scl_predictor_has_intervals(p) && scl_predictor_has_deviations(p), methods[m], "has");
    expect(scl_predictor_interval(p, 0.7, SCL_DTYPE_FLOAT64, rows.numbers, 20, 0, low, high, 0,
                                  &error) == SCL_STATUS_OK,
           methods[m], error.message);
    expect(scl_predictor_deviations(p, 1, SCL_DTYPE_FLOAT64, rows.numbers, 20, 0, std, 0, &error) ==
               SCL_STATUS_OK,
           methods[m], error.message);
    for (size_t i = 0; i < 20; i++) {
      worst = fmax(worst, fabs(low[i] - wanted.numbers[3 * i]));
      worst = fmax(worst, fabs(high[i] - wanted.numbers[3 * i + 1]));
      worst = fmax(worst, fabs(std[i] - wanted.numbers[3 * i + 2]));
    }
    expect(worst < 1e-9, methods[m], "bounds or deviations differ");
    expect(scl_predictor_interval(p, 0.9999, SCL_DTYPE_FLOAT64, rows.numbers, 20, 0, low, high, 0,
                                  &error) == SCL_STATUS_BAD_OPTION &&
               strstr(error.message, "at least 9999 rows") != NULL,
           methods[m], error.message);
    expect(scl_predictor_interval(p, 1e-13, SCL_DTYPE_FLOAT64, rows.numbers, 20, 0, low, high, 0,
                                  &error) == SCL_STATUS_OK &&
               high[0] - low[0] < 2,
           methods[m], "the least level");
    expect(scl_predictor_interval(p, 1, SCL_DTYPE_FLOAT64, rows.numbers, 20, 0, low, high, 0,
                                  &error) == SCL_STATUS_BAD_OPTION,
           methods[m], "a level of 1");
    scl_predictor_close(p);
    free(rows.numbers);
    free(wanted.numbers);
  }
  scl_predictor *r = load("regression");
  double out[1];
  expect(scl_predictor_deviations(r, 0, SCL_DTYPE_FLOAT64, out, 1, 0, out, 0, NULL) ==
                 SCL_STATUS_UNSUPPORTED &&
             scl_predictor_interval(r, 0.5, SCL_DTYPE_FLOAT64, out, 1, 0, out, out, 0, NULL) ==
                 SCL_STATUS_UNSUPPORTED &&
             scl_predictor_deviations(NULL, 0, SCL_DTYPE_FLOAT64, out, 1, 0, out, 0, NULL) ==
                 SCL_STATUS_BAD_OPTION,
         "a model without", "accepted");
  scl_predictor_close(r);
}

/* Label sets are those of Lua. */
static void test_label_sets(void) {
  static const char *const methods[] = {"sets_folds", "sets_split"};
  for (size_t m = 0; m < 2; m++) {
    const table rows = read_table(methods[m], ".rows"), wanted = read_table(methods[m], ".sets");
    scl_predictor *p = load(methods[m]);
    double sets[120], sizes = 0;
    scl_error error = {0};
    expect(scl_predictor_has_label_sets(p) && !scl_predictor_has_intervals(p), methods[m], "has");
    expect(scl_predictor_label_sets(p, 0.8, SCL_DTYPE_FLOAT64, rows.numbers, 40, 0, sets, 0,
                                    &error) == SCL_STATUS_OK,
           methods[m], error.message);
    for (size_t i = 0; i < 120; i++) {
      expect(sets[i] == wanted.numbers[i], methods[m], "sets differ");
      sizes += sets[i];
    }
    expect(sizes > 0 && sizes < 120, methods[m], "sets of all or none");
    expect(scl_predictor_label_sets(p, 0.9999, SCL_DTYPE_FLOAT64, rows.numbers, 40, 0, sets, 0,
                                    &error) == SCL_STATUS_BAD_OPTION,
           methods[m], error.message);
    expect(scl_predictor_label_sets(p, 1.5, SCL_DTYPE_FLOAT64, rows.numbers, 40, 0, sets, 0,
                                    &error) == SCL_STATUS_BAD_OPTION,
           methods[m], error.message);
    scl_predictor_close(p);
    free(rows.numbers);
    free(wanted.numbers);
  }
  scl_predictor *r = load("regression");
  double out[1];
  expect(scl_predictor_label_sets(r, 0.5, SCL_DTYPE_FLOAT64, out, 1, 0, out, 0, NULL) ==
             SCL_STATUS_UNSUPPORTED,
         "a regression", "accepted");
  scl_predictor_close(r);
}

/* ------------ threads */

typedef struct work {
  const scl_predictor *p;
  table rows, wanted;
  atomic_int *wrong;
} work;

static void *predict_often(void *context) {
  const work *w = context;
  const size_t numbers = w->wanted.rows * w->wanted.cols;
  double *out = malloc(numbers * sizeof *out);
  for (int round = 0; round < 20; round++) {
    const scl_status status =
        round % 2 == 0
            ? scl_predictor_scores(w->p, SCL_DTYPE_FLOAT64, w->rows.numbers, w->rows.rows, 0, out,
                                   0, NULL)
            : predict_apart(w->p, &w->rows, w->wanted.cols, scl_predictor_scores, out, NULL);
    if (status != SCL_STATUS_OK || memcmp(out, w->wanted.numbers, numbers * sizeof *out) != 0)
      atomic_fetch_add(w->wrong, 1);
  }
  free(out);
  return NULL;
}

static void *load_often(void *context) {
  atomic_int *wrong = context;
  for (int round = 0; round < 5; round++) {
    scl_predictor *p = load(models[round % MODELS]);
    if (scl_predictor_columns(p) != 3) atomic_fetch_add(wrong, 1);
    scl_predictor_close(p);
  }
  return NULL;
}

/* Many threads on the same predictors, others that load, and meanwhile a change of the threads that
 * work on one call. */
static void test_threads(void) {
  enum { EACH = 3 };
  pthread_t threads[MODELS * EACH + 1];
  work works[MODELS];
  scl_predictor *predictors[MODELS];
  atomic_int wrong = 0;
  size_t started = 0;
  for (size_t m = 0; m < MODELS; m++) {
    predictors[m] = load(models[m]);
    works[m] = (work){predictors[m], read_table(models[m], ".rows"),
                      read_table(models[m], ".scores"), &wrong};
  }
  for (size_t t = 0; t < MODELS * EACH; t++)
    started += pthread_create(&threads[started], NULL, predict_often, &works[t % MODELS]) == 0;
  started += pthread_create(&threads[started], NULL, load_often, &wrong) == 0;
  for (size_t n = 1; n <= 3; n++)
    expect(scl_set_threads(n, NULL) == SCL_STATUS_OK, "scl_set_threads", "refused");
  for (size_t t = 0; t < started; t++)
    (void)pthread_join(threads[t], NULL);
  expect(started == MODELS * EACH + 1 && wrong == 0, "threads", "other numbers");
  expect(scl_set_threads(1, NULL) == SCL_STATUS_OK, "scl_set_threads", "refused");
  for (size_t m = 0; m < MODELS; m++) {
    free(works[m].rows.numbers);
    free(works[m].wanted.numbers);
    scl_predictor_close(predictors[m]);
  }
}

/* ------------ misuse */

static void test_misuse(void) {
  double x[6] = {0}, out[6];
  int32_t classes[2];
  scl_error e = {0};
  scl_predictor *p = load("linear"), *r = load("regression"), *none = p;
  refused(scl_predictor_load(NULL, &none, &e), SCL_STATUS_BAD_OPTION, &e, "got NULL");
  refused(scl_predictor_load("x", NULL, &e), SCL_STATUS_BAD_OPTION, &e, "a place");
  refused(scl_predictor_load("/no/such", &none, &e), SCL_STATUS_IO, &e, "/no/such: no such file");
  expect(none == NULL, "a failure", "leaves a predictor");
  refused(scl_predictor_load("/", &none, &e), SCL_STATUS_IO, &e, "folder");
  refused(scl_predictor_load_memory(NULL, 9, &none, &e), SCL_STATUS_BAD_OPTION, &e, "NULL");
  refused(scl_predictor_load_memory(x, sizeof x, &none, &e), SCL_STATUS_BAD_DATA, &e,
          "the model in memory: ");
  refused(scl_predictor_scores(p, 2, x, 2, 0, out, 0, &e), SCL_STATUS_BAD_OPTION, &e, "dtype is 2");
  refused(scl_predictor_scores(p, 0, NULL, 2, 0, out, 0, &e), SCL_STATUS_BAD_OPTION, &e,
          "rows is NULL");
  refused(scl_predictor_scores(p, 0, x, 2, 0, NULL, 0, &e), SCL_STATUS_BAD_OPTION, &e,
          "results is NULL");
  refused(scl_predictor_scores(p, 0, x, 2, 2, out, 0, &e), SCL_STATUS_BAD_SHAPE, &e, "at least 3");
  refused(scl_predictor_scores(p, 0, x, 2, 0, out, 1, &e), SCL_STATUS_BAD_SHAPE, &e, "at least 3");
  refused(scl_predictor_scores(p, 0, x, SIZE_MAX / 8, 0, out, 0, &e), SCL_STATUS_BAD_SHAPE, &e,
          "more than any memory");
  refused(scl_predictor_scores(p, 0, x, 2, SIZE_MAX, out, 0, &e), SCL_STATUS_BAD_SHAPE, &e,
          "more than any memory");
  refused(scl_predictor_scores(NULL, 0, x, 2, 0, out, 0, &e), SCL_STATUS_BAD_OPTION, &e,
          "takes a predictor");
  refused(scl_predictor_scores(p, 0, (char *)x + 4, 1, 0, out, 0, &e), SCL_STATUS_BAD_OPTION, &e,
          "aligned");
  refused(scl_predictor_classify(r, 0, x, 2, 0, classes, &e), SCL_STATUS_UNSUPPORTED, &e,
          "regression");
  refused(scl_predictor_classify(p, 0, x, 2, 0, NULL, &e), SCL_STATUS_BAD_OPTION, &e, "NULL");
  refused(scl_predictor_probabilities(r, 0, x, 2, 0, out, 0, &e), SCL_STATUS_UNSUPPORTED, &e,
          "regression");
  refused(scl_set_threads(0, &e), SCL_STATUS_BAD_OPTION, &e, "1 to 256");
  refused(scl_load_plugin(NULL, &e), SCL_STATUS_BAD_OPTION, &e, "NULL");
  refused(scl_load_plugin("/no/such.so", &e), SCL_STATUS_IO, &e, "/no/such.so");
  x[4] = NAN;
  refused(scl_predictor_predict(p, 0, x, 2, 0, out, 0, &e), SCL_STATUS_BAD_DATA, &e,
          "NaN in row 2, column 2");
  expect(scl_predictor_scores(p, 0, NULL, 0, 0, NULL, 0, &e) == SCL_STATUS_OK, "no rows",
         "refused");
  scl_predictor_close(p);
  scl_predictor_close(r);
}

/* Fields that cannot be encoded, after which the rows are as they were. */
static void test_misuse_of_fields(void) {
  static const char *const names[] = {"size", "colour"}, *const hole[] = {"size", NULL},
                           *const twice[] = {"size", "colour", "other", "size"};
  const scl_field good[] = {{NULL, 1}, {"red", 0}, {"2", 0}, {"blue", 0}},
                  bad[] = {{NULL, 1}, {"red", 0}, {"x", 0}, {"blue", 0}};
  double rows[6] = {7, 7, 7, 7, 7, 7};
  size_t unknown = 7;
  scl_error e = {0};
  scl_predictor *p = load("table"), *r = load("regression");
  refused(scl_predictor_encode(p, names, 2, bad, 2, 0, rows, 0, &unknown, &e), SCL_STATUS_BAD_DATA,
          &e, "row 2, field 'size': 'x' is not a number");
  refused(scl_predictor_encode(p, hole, 2, good, 2, 0, rows, 0, &unknown, &e),
          SCL_STATUS_BAD_OPTION, &e, "name of field 2 is NULL");
  refused(scl_predictor_encode(p, twice, 4, good, 1, 0, rows, 0, &unknown, &e), SCL_STATUS_BAD_DATA,
          &e, "field 'size' is given more often");
  refused(scl_predictor_encode(p, names, 2, NULL, 2, 0, rows, 0, &unknown, &e),
          SCL_STATUS_BAD_OPTION, &e, "values is NULL");
  refused(scl_predictor_encode(p, names, 2, good, 2, 0, NULL, 0, &unknown, &e),
          SCL_STATUS_BAD_OPTION, &e, "rows is NULL");
  refused(scl_predictor_encode(p, names, 2, good, 2, 5, rows, 0, &unknown, &e),
          SCL_STATUS_BAD_OPTION, &e, "dtype is 5");
  refused(scl_predictor_encode(p, names, 2, good, 1, 0, (char *)rows + 4, 0, &unknown, &e),
          SCL_STATUS_BAD_OPTION, &e, "aligned");
  refused(scl_predictor_encode(p, names, 2, good, 2, 0, rows, 2, &unknown, &e),
          SCL_STATUS_BAD_SHAPE, &e, "at least 3");
  refused(scl_predictor_encode(p, names, 2, good, SIZE_MAX / 9, 0, rows, 0, &unknown, &e),
          SCL_STATUS_BAD_SHAPE, &e, "more than any memory");
  refused(scl_predictor_encode(r, names, 2, good, 2, 0, rows, 0, &unknown, &e),
          SCL_STATUS_UNSUPPORTED, &e, "no fields");
  refused(scl_predictor_encode(NULL, names, 2, good, 2, 0, rows, 0, &unknown, &e),
          SCL_STATUS_BAD_OPTION, &e, "takes a predictor");
  for (size_t i = 0; i < 6; i++)
    expect(rows[i] == 7, "after a failure", "rows are changed");
  expect(unknown == 7, "after a failure", "the count is changed");
  expect(scl_predictor_encode(p, names, 2, good, 2, 0, rows, 0, NULL, &e) == SCL_STATUS_OK &&
             rows[0] == 1 && rows[1] == 0 && rows[2] == 1 && rows[3] == 2 && rows[4] == 1 &&
             rows[5] == 0,
         "fields", e.message);
  scl_predictor_close(p);
  scl_predictor_close(r);
}

/* Every function of scullery.h that takes a pointer. */
static void test_null(void) {
  scl_error e = {0};
  scl_predictor *none = NULL;
  double x[4] = {0}, out[4];
  int32_t classes[4];
  expect(scl_predictor_columns(NULL) == 0 && scl_predictor_outputs(NULL) == 0 &&
             scl_predictor_classes(NULL) == 0 && scl_predictor_fields(NULL) == 0,
         "sizes of NULL", "are not 0");
  for (size_t i = 0; i < 3; i++) {
    expect(scl_predictor_column_name(NULL, i) == NULL &&
               scl_predictor_class_label(NULL, i) == NULL &&
               scl_predictor_field_name(NULL, i) == NULL &&
               scl_predictor_field_level(NULL, i, i) == NULL,
           "texts of NULL", "are not NULL");
    expect(isnan(scl_predictor_class_number(NULL, i)) && isnan(scl_predictor_field_fill(NULL, i)),
           "numbers of NULL", "are not NaN");
    expect(scl_predictor_field_kind(NULL, i) == -1 && scl_predictor_field_column(NULL, i) == 0 &&
               scl_predictor_field_width(NULL, i) == 0,
           "fields of NULL", "are there");
  }
  expect(scl_predictor_has_probabilities(NULL) == 0, "probabilities of NULL", "are there");
  refused(scl_predictor_predict(NULL, 0, x, 1, 0, out, 0, &e), SCL_STATUS_BAD_OPTION, &e, "NULL");
  refused(scl_predictor_scores(NULL, 0, x, 1, 0, out, 0, &e), SCL_STATUS_BAD_OPTION, &e, "NULL");
  refused(scl_predictor_classify(NULL, 0, x, 1, 0, classes, &e), SCL_STATUS_BAD_OPTION, &e, "NULL");
  refused(scl_predictor_probabilities(NULL, 0, x, 1, 0, out, 0, &e), SCL_STATUS_BAD_OPTION, &e,
          "NULL");
  refused(scl_predictor_load(NULL, &none, &e), SCL_STATUS_BAD_OPTION, &e, "NULL");
  refused(scl_predictor_load_memory(NULL, 0, &none, &e), SCL_STATUS_BAD_OPTION, &e, "NULL");
  refused(scl_load_plugin(NULL, &e), SCL_STATUS_BAD_OPTION, &e, "NULL");
  scl_set_log(NULL);
  scl_predictor_close(NULL);
  expect(scl_version() != NULL, "the version", "NULL");
  expect(scl_predictor_scores(NULL, 0, x, 1, 0, out, 0, NULL) == SCL_STATUS_BAD_OPTION &&
             scl_set_threads(0, NULL) == SCL_STATUS_BAD_OPTION,
         "a failure", "needs a place for its sentence");
}

static void test_files_that_predict_nothing(void) {
  static const char *const cases[][2] = {{"unfitted", "before it was fitted"},
                                         {"components", "no solver"},
                                         {"features", "it holds features"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    scl_error error = {0};
    scl_predictor *p;
    const bytes file = read_file(cases[i][0], ".safetensors");
    refused(scl_predictor_load_memory(file.data, file.size, &p, &error), SCL_STATUS_UNSUPPORTED,
            &error, cases[i][1]);
    free(file.data);
  }
}

/* ------------ damage */

/* Some places of the file: all would take minutes. */
static void test_damage(void) {
  for (size_t m = 0; m < MODELS; m++) {
    const bytes file = read_file(models[m], ".safetensors");
    const size_t step = file.size / 400 + 1;
    scl_predictor *p = NULL;
    expect(scl_predictor_load_memory(file.data, file.size, &p, NULL) == SCL_STATUS_OK, models[m],
           "refused from memory");
    scl_predictor_close(p);
    for (size_t at = 0; at < file.size; at += step) {
      char *cut = malloc(at + 1); /* so that a sanitizer sees what is read behind it */
      scl_error error = {0};
      memcpy(cut, file.data, at);
      expect(scl_predictor_load_memory(cut, at, &p, &error) == SCL_STATUS_BAD_DATA, models[m],
             "cut off, and loaded");
      free(cut);
      file.data[at] = (char)(file.data[at] ^ 1 << at % 8);
      expect(scl_predictor_load_memory(file.data, file.size, &p, &error) == SCL_STATUS_BAD_DATA,
             models[m], "a bit flipped, and loaded");
      file.data[at] = (char)(file.data[at] ^ 1 << at % 8);
    }
    free(file.data);
  }
}

/* ------------ memory */

static scl_status use_once(const bytes *file, const table *rows, double *out) {
  scl_error error = {0};
  scl_predictor *p = NULL;
  scl_status status = scl_predictor_load_memory(file->data, file->size, &p, &error);
  if (status == SCL_STATUS_OK)
    status =
        scl_predictor_predict(p, SCL_DTYPE_FLOAT64, rows->numbers, rows->rows, 0, out, 0, &error);
  scl_predictor_close(p);
  if (status != SCL_STATUS_OK) expect(strlen(error.message) > 8, "want of memory", "no sentence");
  return status;
}

/* Every allocation of a life fails once, and nothing is kept. */
static void test_failing_allocations(void) {
  for (size_t m = 0; m < MODELS; m++) {
    const bytes file = read_file(models[m], ".safetensors");
    const table rows = read_table(models[m], ".rows");
    double *out = malloc(rows.rows * rows.cols * sizeof *out);
    (void)use_once(&file, &rows, out); /* plugins stay */
    const size_t before = scl_allocated();
    scl_status status = SCL_STATUS_NO_MEMORY;
    long count = 0;
    for (; status != SCL_STATUS_OK && count < 100000; count++) {
      scl_allocate_fail_after(count);
      status = use_once(&file, &rows, out);
      scl_allocate_fail_after(-1);
      expect(scl_allocated() == before, models[m], "memory is held after a failure");
      expect(status == SCL_STATUS_OK || status == SCL_STATUS_NO_MEMORY ||
                 status == SCL_STATUS_UNSUPPORTED,
             models[m], "another failure than want of memory");
    }
    expect(status == SCL_STATUS_OK && count > 50, models[m], "no life without failures");
    free(out);
    free(file.data);
    free(rows.numbers);
  }
}

/* ------------ the process */

static size_t count_threads(void) {
  size_t count = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *one = tasks == NULL ? NULL : readdir(tasks); one != NULL;
       one = readdir(tasks))
    count += one->d_name[0] != '.';
  if (tasks != NULL) (void)closedir(tasks);
  return count;
}

/* Runs first, before anything has started threads: in a locale with another decimal sign where
 * there is one, and with another rounding mode. */
static void test_the_process_stays_as_it_was(void) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGSEGV, SIGFPE, SIGABRT, SIGPIPE, SIGXFSZ};
  struct sigaction before[sizeof numbers / sizeof *numbers], after;
  char cwd[2][4096];
  static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"};
  for (size_t i = 0; i < 3 && setlocale(LC_ALL, locales[i]) == NULL; i++)
    continue;
  char *locale = strdup(setlocale(LC_ALL, NULL));
  const locale_t thread = uselocale((locale_t)0);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    (void)sigaction(numbers[i], NULL, &before[i]);
  expect(getcwd(cwd[0], sizeof cwd[0]) != NULL, "getcwd", "failed");
  (void)fesetround(FE_DOWNWARD);
  scl_predictor *p = load("linear");
  double x[3] = {1, 2, 3}, out[3];
  expect(scl_predictor_scores(p, SCL_DTYPE_FLOAT64, x, 1, 0, out, 0, NULL) == SCL_STATUS_OK,
         "a row", "refused");
  expect(fegetround() == FE_DOWNWARD, "the rounding mode", "changed");
  (void)fesetround(FE_TONEAREST);
  scl_predictor_close(p);
  expect(strcmp(locale, setlocale(LC_ALL, NULL)) == 0, "the locale", setlocale(LC_ALL, NULL));
  expect(uselocale((locale_t)0) == thread, "the locale of the thread", "changed");
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    (void)sigaction(numbers[i], NULL, &after);
    expect(after.sa_handler == before[i].sa_handler, "a signal handler", "changed");
  }
  expect(getcwd(cwd[1], sizeof cwd[1]) != NULL && strcmp(cwd[0], cwd[1]) == 0, "the folder",
         "changed");
  expect(count_threads() == 1, "threads", "were started");
  free(locale);
}

/* ------------ all */

int main(void) {
  make_models();
  test_the_process_stays_as_it_was();
  test_predictions_are_those_of_lua();
  test_strides_and_types();
  test_what_a_model_says();
  test_how_sure();
  test_label_sets();
  test_misuse();
  test_misuse_of_fields();
  test_null();
  test_files_that_predict_nothing();
  test_damage();
  test_failing_allocations();
  test_threads();
  remove_models();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

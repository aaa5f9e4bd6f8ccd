/* Sparse rows and texts, as a program gives them to scullery.h: predictions are those of the dense
 * rows, or of Lua; every misuse is a sentence; want of memory too. */
#define _GNU_SOURCE
#include "base/memory.h"
#include "embed.h"

/* ------------ sparse rows */

/* Rows of a table in which numbers below 0.3 are 0, dense and sparse. */
typedef struct sparse_rows {
  table dense;
  int64_t *starts;
  int32_t *columns;
  double *values;
} sparse_rows;

static sparse_rows make_sparse(const char *name) {
  sparse_rows out = {.dense = read_table(name, ".rows")};
  const size_t rows = out.dense.rows, cols = out.dense.cols;
  int64_t k = 0;
  out.starts = calloc(rows + 1, sizeof *out.starts);
  out.columns = calloc(rows * cols + 1, sizeof *out.columns);
  out.values = calloc(rows * cols + 1, sizeof *out.values);
  if (out.starts == NULL || out.columns == NULL || out.values == NULL) exit(EXIT_FAILURE);
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < cols; j++) {
      double *number = &out.dense.numbers[i * cols + j];
      if (fabs(*number) < 0.3) *number = 0;
      if (*number == 0) continue;
      out.columns[k] = (int32_t)j;
      out.values[k++] = *number;
    }
    out.starts[i + 1] = k;
  }
  return out;
}

static void release_sparse(sparse_rows *rows) {
  free(rows->dense.numbers);
  free(rows->starts);
  free(rows->columns);
  free(rows->values);
}

static void compare_sparse(const scl_predictor *p, const char *name, int what, predicting predict,
                           size_t width) {
  sparse_rows rows = make_sparse(name);
  const size_t n = rows.dense.rows, numbers = n * width;
  double *wanted = calloc(numbers + 1, sizeof *wanted), *out = calloc(numbers + 1, sizeof *out);
  scl_error error = {0};
  size_t wrong = 0;
  if (wanted == NULL || out == NULL) exit(EXIT_FAILURE);
  expect(predict(p, SCL_DTYPE_FLOAT64, rows.dense.numbers, n, 0, wanted, 0, &error) ==
             SCL_STATUS_OK,
         name, error.message);
  expect(scl_predictor_sparse(p, what, SCL_DTYPE_FLOAT64, rows.starts, rows.columns, rows.values, n,
                              out, 0, &error) == SCL_STATUS_OK,
         name, error.message);
  for (size_t i = 0; i < numbers; i++)
    wrong += !(fabs(out[i] - wanted[i]) <= 1e-10 * (1 + fabs(wanted[i])));
  expect(wrong == 0, name, "sparse rows give other numbers");
  /* a part of the rows, whose first start is not 0 */
  expect(scl_predictor_sparse(p, what, SCL_DTYPE_FLOAT64, rows.starts + 2, rows.columns,
                              rows.values, n - 2, out, 0, &error) == SCL_STATUS_OK,
         name, error.message);
  for (size_t i = 0; i + 2 * width < numbers; i++)
    wrong += !(fabs(out[i] - wanted[i + 2 * width]) <= 1e-10 * (1 + fabs(wanted[i + 2 * width])));
  expect(wrong == 0, name, "a part of sparse rows gives other numbers");
  free(wanted);
  free(out);
  release_sparse(&rows);
}

static void test_sparse_rows(void) {
  for (size_t m = 0; m < MODELS; m++) {
    scl_predictor *p = load(models[m]);
    const size_t classes = scl_predictor_classes(p), outputs = scl_predictor_outputs(p);
    compare_sparse(p, models[m], SCL_OUTPUT_SCORES, scl_predictor_scores, outputs);
    compare_sparse(p, models[m], SCL_OUTPUT_PREDICTIONS, scl_predictor_predict,
                   classes > 0 ? 1 : outputs);
    if (scl_predictor_has_probabilities(p))
      compare_sparse(p, models[m], SCL_OUTPUT_PROBABILITIES, scl_predictor_probabilities, classes);
    scl_predictor_close(p);
  }
}

/* Each change of valid arguments is refused with a word of the sentence. */
static void test_misuse_of_sparse_rows(void) {
  scl_predictor *p = load("linear"), *r = load("regression");
  const int64_t starts[] = {0, 2, 3}, back[] = {0, 2, 1}, below[] = {-1, 2, 3};
  const int32_t columns[] = {0, 2, 1}, far[] = {0, 3, 1}, twice[] = {1, 1, 1};
  const double values[] = {1, 2, 3}, infinite[] = {1, INFINITY, 3};
  double out[6];
  const struct {
    const scl_predictor *p;
    int what;
    const int64_t *starts;
    const int32_t *columns;
    const void *values;
    double *out;
    const char *word;
  } wrong[] = {
      {NULL, 1, starts, columns, values, out, "predictor"},
      {p, 3, starts, columns, values, out, "'what'"},
      {r, SCL_OUTPUT_PROBABILITIES, starts, columns, values, out, "regression"},
      {p, 1, NULL, columns, values, out, "'starts'"},
      {p, 1, starts, NULL, values, out, "'columns'"},
      {p, 1, starts, columns, NULL, out, "'values'"},
      {p, 1, starts, columns, (const char *)values + 1, out, "aligned"},
      {p, 1, starts, columns, values, NULL, "results"},
      {p, 1, back, columns, values, out, "ascend"},
      {p, 1, below, columns, values, out, "ascend"},
      {p, 1, starts, far, values, out, "column 4"},
      {p, 1, starts, twice, values, out, "twice"},
      {p, 1, starts, columns, infinite, out, "infinite"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    scl_error error = {0};
    expect(scl_predictor_sparse(wrong[i].p, wrong[i].what, SCL_DTYPE_FLOAT64, wrong[i].starts,
                                wrong[i].columns, wrong[i].values, 2, wrong[i].out, 0,
                                &error) != SCL_STATUS_OK,
           wrong[i].word, "was taken");
    expect(strstr(error.message, wrong[i].word) != NULL, wrong[i].word, error.message);
  }
  expect(scl_predictor_sparse(p, 1, SCL_DTYPE_FLOAT64, NULL, NULL, NULL, 0, NULL, 0, NULL) ==
             SCL_STATUS_OK,
         "no rows", "refused");
  scl_predictor_close(p);
  scl_predictor_close(r);
}

/* ------------ texts */

/* The lines of texts.txt; those of `file` become texts that end in a zero byte. */
static size_t split_lines(bytes *file, const char **lines, size_t *lengths, size_t most) {
  size_t count = 0;
  file->data[file->size] = 0;
  for (char *at = file->data; at != NULL && count < most; count++) {
    char *newline = strchr(at, '\n');
    lines[count] = at;
    lengths[count] = newline == NULL ? strlen(at) : (size_t)(newline - at);
    if (newline != NULL) *newline = 0;
    at = newline == NULL ? NULL : newline + 1;
  }
  return count;
}

enum { LINES = 40 };

static void compare_texts(const scl_predictor *p, const char *name, const char *ending, int output,
                          const char *const *lines, const size_t *lengths) {
  const table wanted = read_table(name, ending);
  double out[2 * LINES];
  scl_error error = {0};
  expect(scl_predictor_texts(p, output, SCL_DTYPE_FLOAT64, lines, lengths, LINES, out, 0, &error) ==
             SCL_STATUS_OK,
         name, error.message);
  expect(wanted.rows == LINES &&
             memcmp(out, wanted.numbers, wanted.rows * wanted.cols * sizeof *out) == 0,
         name, ending);
  expect(scl_predictor_texts(p, output, SCL_DTYPE_FLOAT64, lines + 7, NULL, 1, out, 0, &error) ==
                 SCL_STATUS_OK &&
             memcmp(out, wanted.numbers + 7 * wanted.cols, wanted.cols * sizeof *out) == 0,
         name, "a text alone");
  free(wanted.numbers);
}

static void misuse_texts(const scl_predictor *p, const char *const *lines) {
  scl_error error = {0};
  double out[LINES];
  const char *const none[] = {NULL};
  scl_predictor *numbers = load("linear");
  expect(scl_predictor_texts(numbers, 0, SCL_DTYPE_FLOAT64, lines, NULL, 1, out, 0, &error) ==
                 SCL_STATUS_UNSUPPORTED &&
             strstr(error.message, "are 3 numbers, not texts") != NULL,
         "texts for a model of numbers", error.message);
  expect(scl_predictor_takes_texts(p) == 1 && scl_predictor_takes_texts(numbers) == 0 &&
             scl_predictor_takes_texts(NULL) == 0,
         "scl_predictor_takes_texts", "wrong");
  expect(scl_predictor_texts(p, 7, SCL_DTYPE_FLOAT64, lines, NULL, 1, out, 0, &error) ==
                 SCL_STATUS_BAD_OPTION &&
             strstr(error.message, "'what' is 7") != NULL,
         "an output that there is not", error.message);
  expect(scl_predictor_texts(p, 0, SCL_DTYPE_FLOAT64, none, NULL, 1, out, 0, &error) ==
                 SCL_STATUS_BAD_OPTION &&
             strstr(error.message, "text 1 is NULL") != NULL,
         "a text that is NULL", error.message);
  expect(scl_predictor_texts(p, 0, SCL_DTYPE_FLOAT64, NULL, NULL, 1, out, 0, &error) ==
             SCL_STATUS_BAD_OPTION,
         "no texts", "accepted");
  expect(scl_predictor_texts(NULL, 0, SCL_DTYPE_FLOAT64, lines, NULL, 1, out, 0, &error) ==
             SCL_STATUS_BAD_OPTION,
         "no predictor", "accepted");
  expect(scl_predictor_texts(p, 0, SCL_DTYPE_FLOAT64, NULL, NULL, 0, NULL, 0, &error) ==
             SCL_STATUS_OK,
         "zero texts", "refused");
  scl_predictor_close(numbers);
}

/* Each allocation fails once: a sentence, and nothing is held. */
static void fail_texts(const scl_predictor *p, const char *const *lines) {
  double out[LINES];
  scl_status status = SCL_STATUS_NO_MEMORY;
  const size_t before = scl_allocated();
  long count = 0;
  for (; status != SCL_STATUS_OK && count < 10000; count++) {
    scl_allocate_fail_after(count);
    status = scl_predictor_texts(p, SCL_OUTPUT_SCORES, SCL_DTYPE_FLOAT64, lines, NULL, LINES, out,
                                 0, NULL);
    scl_allocate_fail_after(-1);
    expect(scl_allocated() == before, "texts", "memory is held after a failure");
  }
  expect(status == SCL_STATUS_OK && count > 10, "texts", "no life without failures");
}

static void test_texts(void) {
  static const char *const names[] = {"hashed", "named"};
  const char *lines[LINES];
  size_t lengths[LINES];
  bytes file = read_file("texts", ".txt");
  expect(split_lines(&file, lines, lengths, LINES) == LINES, "texts.txt", "lines");
  for (size_t m = 0; m < 2; m++) {
    scl_predictor *p = load(names[m]);
    compare_texts(p, names[m], ".scores", SCL_OUTPUT_SCORES, lines, lengths);
    compare_texts(p, names[m], ".predictions", SCL_OUTPUT_PREDICTIONS, lines, lengths);
    compare_texts(p, names[m], ".probabilities", SCL_OUTPUT_PROBABILITIES, lines, lengths);
    misuse_texts(p, lines);
    fail_texts(p, lines);
    scl_predictor_close(p);
  }
  free(file.data);
}

int main(void) {
  make_models();
  test_sparse_rows();
  test_misuse_of_sparse_rows();
  test_texts();
  remove_models();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

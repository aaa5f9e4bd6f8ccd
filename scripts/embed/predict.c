/* Predictions of a saved model for the rows of a file of numbers between commas, one a line: labels
 * of a classification with their probabilities, values of a regression.
 *
 *   cc -std=c11 -o predict predict.c $(pkg-config --cflags --libs scullery)
 *   ./predict model.safetensors rows.csv */
#include <scullery/scullery.h>
#include <stdio.h>
#include <stdlib.h>

/* The numbers of a file, all in one buffer; *count of them. */
static double *read_numbers(const char *path, size_t *count) {
  size_t room = 1024;
  double *numbers = malloc(room * sizeof *numbers);
  FILE *file = fopen(path, "r");
  *count = 0;
  while (file != NULL && numbers != NULL && fscanf(file, "%lf%*[, \r\n]", &numbers[*count]) > 0)
    if (++*count == room) numbers = realloc(numbers, (room *= 2) * sizeof *numbers);
  if (file == NULL || numbers == NULL || !feof(file)) {
    fprintf(stderr, "%s: cannot be read as numbers between commas\n", path);
    exit(EXIT_FAILURE);
  }
  fclose(file);
  return numbers;
}

static void check(scl_status status, const scl_error *error) {
  if (status == SCL_STATUS_OK) return;
  fprintf(stderr, "%s\n", error->message);
  exit(EXIT_FAILURE);
}

static void print_classes(const scl_predictor *model, const double *rows, size_t count) {
  const size_t classes = scl_predictor_classes(model);
  int32_t *places = malloc(count * sizeof *places);
  double *shares = calloc(count * classes, sizeof *shares);
  scl_error error;
  if (places == NULL || shares == NULL) exit(EXIT_FAILURE);
  check(scl_predictor_classify(model, SCL_DTYPE_FLOAT64, rows, count, 0, places, &error), &error);
  if (scl_predictor_has_probabilities(model))
    check(scl_predictor_probabilities(model, SCL_DTYPE_FLOAT64, rows, count, 0, shares, 0, &error),
          &error);
  for (size_t i = 0; i < count; i++) {
    printf("%s", scl_predictor_class_label(model, (size_t)places[i]));
    for (size_t k = 0; scl_predictor_has_probabilities(model) && k < classes; k++)
      printf(" %.6f", shares[i * classes + k]);
    printf("\n");
  }
  free(places);
  free(shares);
}

static void print_values(const scl_predictor *model, const double *rows, size_t count) {
  const size_t outputs = scl_predictor_outputs(model);
  double *values = malloc(count * outputs * sizeof *values);
  scl_error error;
  if (values == NULL) exit(EXIT_FAILURE);
  check(scl_predictor_predict(model, SCL_DTYPE_FLOAT64, rows, count, 0, values, 0, &error), &error);
  for (size_t i = 0; i < count * outputs; i++)
    printf("%.17g%c", values[i], (i + 1) % outputs == 0 ? '\n' : ' ');
  free(values);
}

int main(int argc, char **argv) {
  scl_predictor *model;
  scl_error error;
  size_t numbers;
  if (argc != 3) {
    fprintf(stderr, "usage: predict MODEL ROWS.csv\n");
    return EXIT_FAILURE;
  }
  check(scl_predictor_load(argv[1], &model, &error), &error);
  const size_t columns = scl_predictor_columns(model);
  double *rows = read_numbers(argv[2], &numbers);
  if (numbers == 0 || numbers % columns != 0) {
    fprintf(stderr, "%s: the model takes rows of %zu numbers\n", argv[2], columns);
    return EXIT_FAILURE;
  }
  if (scl_predictor_classes(model) > 0)
    print_classes(model, rows, numbers / columns);
  else
    print_values(model, rows, numbers / columns);
  scl_predictor_close(model);
  free(rows);
  return EXIT_SUCCESS;
}

/* Saved models as other programs load them (scullery/scullery.h), with a digest that fits: what
 * loads has to predict, all else has to be refused with a sentence. */
#include "reader.h"

#include <math.h>
#include <scullery/scullery.h>
#include <stdlib.h>

enum { ROWS = 3, MOST = 1 << 16 };

static void predict(const scl_predictor *p) {
  const size_t columns = scl_predictor_columns(p), outputs = scl_predictor_outputs(p),
               classes = scl_predictor_classes(p);
  scl_error error = {0};
  if (columns > MOST || outputs > MOST || classes > MOST) return;
  double *rows = calloc(ROWS * columns + 1, sizeof *rows),
         *out = malloc(ROWS * (outputs + classes + 1) * sizeof *out);
  if (rows == NULL || out == NULL) fuzz_fail("no memory");
  for (size_t k = 0; k < classes; k++)
    if (scl_predictor_class_label(p, k) == NULL) fuzz_fail("a class without a label");
  for (size_t i = 0; i < scl_predictor_fields(p); i++)
    if (scl_predictor_field_column(p, i) + scl_predictor_field_width(p, i) > columns)
      fuzz_fail("a field of columns that are not there");
  fuzz_check(scl_predictor_predict(p, SCL_DTYPE_FLOAT64, rows, ROWS, 0, out, 0, &error), &error);
  for (size_t i = 0; classes > 0 && error.status == SCL_STATUS_OK && i < ROWS; i++)
    if (!(out[i] >= 0 && out[i] < (double)classes)) fuzz_fail("a class that is not there");
  if (scl_predictor_has_probabilities(p))
    fuzz_check(scl_predictor_probabilities(p, SCL_DTYPE_FLOAT64, rows, ROWS, 0, out, 0, &error),
               &error);
  free(rows);
  free(out);
}

void fuzz_read(const uint8_t *data, size_t size) {
  char *bytes = fuzz_text(data, size);
  scl_predictor *p = NULL;
  scl_error error = {0};
  fuzz_may_keep = true; /* plugins stay */
  fuzz_sign(bytes, size);
  fuzz_check(scl_predictor_load_memory(bytes, size, &p, &error), &error);
  if (p != NULL) predict(p);
  scl_predictor_close(p);
  free(bytes);
}

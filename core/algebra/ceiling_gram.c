/* Phi'Phi of features that take two values: as float32 numbers, and from bits. */
#include "algebra/bits.h"
#include "algebra/ceiling.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include <math.h>

enum { BLOCK_ROWS = 2048, RUNS = 3 };

static scl_status add_numbers(scl_symmetric *a, const float *phi, size_t rows, size_t features,
                              scl_error *error) {
  for (size_t at = 0; at < rows; at += BLOCK_ROWS)
    SCL_TRY(scl_symmetric_accumulate(a, SCL_DTYPE_FLOAT32, phi, (ptrdiff_t)features,
                                     scl_min(BLOCK_ROWS, rows - at), error));
  return SCL_STATUS_OK;
}

static scl_status measure(scl_symmetric *a, const float *phi, const scl_bits *bits, size_t rows,
                          double *number_seconds, double *bit_seconds, scl_error *error) {
  *number_seconds = *bit_seconds = INFINITY;
  for (int run = 0; run < RUNS; run++) {
    const double began = scl_progress_clock();
    SCL_TRY(add_numbers(a, phi, rows, bits->columns, error));
    const double between = scl_progress_clock();
    SCL_TRY(scl_bits_gram(bits, 0, scl_bits_words(rows), a, error));
    *number_seconds = fmin(*number_seconds, between - began);
    *bit_seconds = fmin(*bit_seconds, scl_progress_clock() - between);
  }
  return SCL_STATUS_OK;
}

scl_status scl_ceiling_gram(size_t rows, size_t features, double *numbers, double *bits,
                            scl_error *error) {
  scl_bits made = {0};
  scl_symmetric *a = NULL;
  float *phi = scl_allocate_array(BLOCK_ROWS * features + 1, sizeof *phi);
  scl_status status = SCL_STATUS_OK;
  if (phi == NULL) status = scl_fail_memory(error, BLOCK_ROWS * features * sizeof *phi, "features");
  if (status == SCL_STATUS_OK) status = scl_bits_create(features, rows, &made, error);
  if (status == SCL_STATUS_OK) status = scl_symmetric_create(features, &a, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < BLOCK_ROWS * features; i++)
    phi[i] = i % 7 < 3 ? -1 : 1;
  for (size_t j = 0; status == SCL_STATUS_OK && j < features; j++)
    for (size_t w = 0; w < made.apart; w++)
      *scl_bits_at(&made, j, w) = 0x9e3779b97f4a7c15u * (j * made.apart + w + 1);
  if (status == SCL_STATUS_OK) status = measure(a, phi, &made, rows, numbers, bits, error);
  scl_symmetric_destroy(a);
  scl_bits_release(&made);
  scl_release(phi);
  return status;
}

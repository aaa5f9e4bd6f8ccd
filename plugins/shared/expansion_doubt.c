/* Whether rounding of kernel values spoils the predictions of svm and kernel_ridge. */
#include "shared/expansion_doubt.h"

#include <float.h>
#include <stdio.h>

/* The ratio of the mean diagonal of K to that of H K H, H = I - 11'/m, on m rows: how much
 * larger kernel values are than their differences between rows. */
static double expansion_sameness(size_t m, const double *k) {
  double diagonal = 0, all = 0;
  for (size_t i = 0; i < m; i++) {
    diagonal += k[i * m + i] / (double)m;
    for (size_t j = 0; j < m; j++)
      all += k[i * m + j] / (double)m / (double)m;
  }
  return diagonal / fmax(diagonal - all, DBL_EPSILON * diagonal);
}

/* That ratio for evenly spaced rows of e. */
static scl_status expansion_sample(const void *self, expansion_gram gram, const expansion *e,
                                   double *sameness, scl_error *error) {
  enum { SAMPLE = 64 };
  const scl_host *host = ((const scl_base *)self)->host;
  const size_t d = e->cols, m = e->rows < SAMPLE ? e->rows : SAMPLE;
  double *room = host->allocate((m * m + m * d) * sizeof *room), *x = room + m * m;
  if (room == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", m);
  for (size_t i = 0; i < m; i++)
    memcpy(x + i * d, e->x + i * (e->rows / m) * d, d * sizeof *x);
  const scl_const_parameters u = scl_dense_rows(x, (ptrdiff_t)d, m, d);
  const scl_status status = gram(self, &u, &u, room, (ptrdiff_t)m, error);
  *sameness = expansion_sameness(m, room);
  host->release(room);
  return status;
}

/* The rounding error of f at a row, over the size of the targets y (rows x functions; NULL: 1). */
static double expansion_rounding(const expansion *e, double largest, const double *y) {
  const size_t c = e->functions;
  double worst = 0;
  for (size_t q = 0; q < c; q++) {
    double square = 0, size = y == NULL ? 1 : 0;
    for (size_t i = 0; i < e->rows; i++) {
      square += e->b[i * c + q] * e->b[i * c + q];
      if (y != NULL) size = fmax(size, fabs(y[i * c + q]));
    }
    if (size > 0) worst = fmax(worst, DBL_EPSILON * largest * sqrt(square) / size);
  }
  return worst;
}

/* The outcome changes only where both hold: predictions are not exact to 1e-6, and kernel values
 * are more than 1e4 times their differences, so that standardising the columns would help. */
scl_status expansion_doubt(const void *self, expansion_gram gram, const expansion *e,
                           const double *diagonal, const double *y, scl_solution *out,
                           scl_error *error) {
  const double least = 1e-6, same = 1e4;
  double largest = 0, sameness = 0;
  for (size_t i = 0; i < e->rows; i++)
    largest = fmax(largest, fabs(diagonal[i]));
  const double rounding = expansion_rounding(e, largest, y);
  if (rounding <= least) return SCL_STATUS_OK;
  const scl_status status = expansion_sample(self, gram, e, &sameness, error);
  if (status != SCL_STATUS_OK || sameness <= same) return status;
  out->outcome = SCL_OUTCOME_LIMIT;
  (void)snprintf(
      out->note, sizeof out->note,
      "rounding: kernel values are %.0e times as large as their differences between rows, and "
      "predictions are exact to about %.0e of the targets: standardize the columns",
      sameness, fmin(rounding, 1));
  return SCL_STATUS_OK;
}

/* Fingerprints of maps in saved models: features of a few random rows, or parameters
 * (map_probe.h). */
#include "learn/map_probe.h"

#include "base/random.h"
#include "learn/score.h"
#include <math.h>

/* Numbers differ if they are more than TOLERANCE of the largest apart; a share of MOST_APART of
 * them may differ (learn/map_probe.h). */
static const double TOLERANCE = 1e-3, MOST_APART = 0.05;

/* The rows are drawn with seed 0, and so are the same for every map of as many columns. */

/* *source = the rows with numbers in some of their columns. */
static scl_status spread_rows(const scl_map *map, const scl_matrix *rows, scl_source **source,
                              scl_error *error) {
  const size_t last = scl_map_dim(map) - 1, width = rows->cols;
  scl_csr csr;
  SCL_TRY(scl_csr_create(rows->rows, last + 1, rows->rows * width, SCL_DTYPE_FLOAT64, &csr, error));
  for (size_t i = 0; i < rows->rows; i++) {
    csr.starts[i + 1] = (int64_t)((i + 1) * width);
    for (size_t k = 0; k < width; k++) {
      csr.columns[i * width + k] = (int32_t)(last * k / (width - 1));
      ((double *)csr.values)[i * width + k] = scl_matrix_get(rows, i, k);
    }
  }
  const scl_status status = scl_source_csr(&csr, NULL, source, error);
  scl_csr_release(&csr);
  return status;
}

/* The features of the rows, SCL_PROBE_ROWS x D; the caller releases *out. */
static scl_status probe_features(const scl_map *map, const scl_matrix *rows, scl_matrix *out,
                                 scl_error *error) {
  scl_source *source;
  SCL_TRY(rows->cols == scl_map_dim(map) ? scl_source_matrix(rows, NULL, &source, error)
                                         : spread_rows(map, rows, &source, error));
  const scl_flow flow = {.source = source, .map = map, .groups = 1, .dtype = scl_map_dtype(map)};
  const scl_status status = scl_features(&flow, out, error);
  scl_source_destroy(source);
  return status;
}

/* The first SCL_PROBE_PARAMETERS parameters of the map, one in each row; the caller releases
 * *out. */
static scl_status first_parameters(const scl_map *map, scl_matrix *out, scl_error *error) {
  scl_matrix all;
  SCL_TRY(scl_map_parameters(map, &all, error));
  scl_matrix first =
      scl_matrix_slice(&all, 0, scl_min(all.rows, SCL_PROBE_PARAMETERS), 0, all.cols);
  const scl_status status = scl_matrix_copy(&first, all.dtype, out, error);
  scl_matrix_release(&first);
  scl_matrix_release(&all);
  return status;
}

scl_status scl_map_probe_make(const scl_map *map, scl_map_probe *out, scl_error *error) {
  size_t row, col;
  *out = (scl_map_probe){0};
  SCL_TRY(scl_matrix_create_raw(SCL_PROBE_ROWS, scl_probe_width(scl_map_dim(map)),
                                SCL_DTYPE_FLOAT64, &out->rows, error));
  for (size_t i = 0; i < SCL_PROBE_ROWS; i++)
    scl_random_uniform(0, SCL_STREAM_MATRIX, i, 0, out->rows.cols, scl_matrix_row(&out->rows, i));
  out->parameters = scl_map_entries(map) > 0;
  scl_status status = SCL_STATUS_OK;
  if (!out->parameters) {
    status = probe_features(map, &out->rows, &out->numbers, error);
    /* A part that refuses the rows, or gives numbers that are not finite, is probed by its
     * parameters. Lack of memory and cancellation fail. */
    out->parameters = status == SCL_STATUS_OK
                          ? scl_matrix_find_nonfinite(&out->numbers, &row, &col)
                          : status != SCL_STATUS_NO_MEMORY && status != SCL_STATUS_CANCELLED;
  }
  if (out->parameters) {
    scl_matrix_release(&out->numbers);
    status = first_parameters(map, &out->numbers, error);
  }
  if (status != SCL_STATUS_OK) scl_map_probe_release(out);
  return status;
}

void scl_map_probe_release(scl_map_probe *probe) {
  scl_matrix_release(&probe->rows);
  scl_matrix_release(&probe->numbers);
}

/* The largest absolute value; 0 for an empty matrix. */
static double largest_absolute(const scl_matrix *a) {
  double most = 0;
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->cols; j++)
      most = fmax(most, fabs(scl_matrix_get(a, i, j)));
  return most;
}

bool scl_probes_agree(const scl_matrix *a, const scl_matrix *b) {
  if (a->rows != b->rows || a->cols != b->cols) return false;
  const double limit = TOLERANCE * fmax(largest_absolute(a), largest_absolute(b));
  size_t apart = 0;
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->cols; j++)
      /* negated, so that a NaN counts as different */
      apart += !(fabs(scl_matrix_get(a, i, j) - scl_matrix_get(b, i, j)) <= limit);
  return (double)apart <= MOST_APART * (double)a->rows * (double)a->cols;
}

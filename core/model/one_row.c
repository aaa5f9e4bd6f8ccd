/* One row: numbers -> stages -> features -> scores, without a source, blocks and tasks. */
#include "model/one_row.h"

#include "algebra/thin.h"
#include "base/loops.h"
#include "rows/level_rows.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

struct scl_one_row {
  scl_flow flow; /* of no source: stages, map and pilot */
  const scl_matrix *intercept;
  scl_thin thin; /* the coefficients */
  size_t cols, widest, dim, features;
  _Atomic(char *) spare; /* the room of a call, for the next one; NULL: a call has it */
};

/* Whether the features of the flow are dense numbers that are made for each row. */
static scl_status makes_features(const scl_flow *flow, bool *out, scl_error *error) {
  scl_source none = {.rows = 1};
  scl_flow one = *flow;
  scl_level_rows *levels = NULL;
  one.source = &none;
  *out = flow->map != NULL && scl_flow_entries(flow) == 0 && scl_flow_whole(flow) == SCL_WHOLE_NONE;
  if (*out) SCL_TRY(scl_level_rows_create(&one, &levels, error));
  *out = *out && levels == NULL;
  scl_level_rows_destroy(levels);
  return SCL_STATUS_OK;
}

scl_status scl_one_row_create(const scl_fitted *fitted, size_t cols, scl_one_row **out,
                              scl_error *error) {
  const scl_flow flow = scl_fitted_flow(fitted, NULL);
  bool serves = fitted->learnt == NULL;
  *out = NULL;
  if (serves) SCL_TRY(makes_features(&flow, &serves, error));
  if (!serves) return SCL_STATUS_OK;
  scl_one_row *one = scl_allocate_zero(sizeof *one);
  if (one == NULL) return scl_fail_memory(error, sizeof *one, "a predictor");
  *one = (scl_one_row){.flow = flow,
                       .intercept = fitted->intercept,
                       .cols = cols,
                       .widest = cols,
                       .dim = scl_map_dim(flow.map),
                       .features = scl_flow_features(&flow)};
  for (size_t s = 0; s < flow.n_stages; s++)
    one->widest = scl_max(one->widest, flow.stages[s]->cols_out);
  const scl_matrix *weights = fitted->weights;
  const scl_status status = weights->rows != one->features || weights->dtype != SCL_DTYPE_FLOAT64 ||
                                    weights->col_stride != 1 ||
                                    weights->row_stride != (ptrdiff_t)weights->cols
                                ? SCL_STATUS_BAD_SHAPE
                                : scl_thin_open(flow.dtype, weights->rows, weights->data,
                                                weights->cols, &one->thin, error);
  if (status == SCL_STATUS_OK) *out = one;
  if (status != SCL_STATUS_OK) scl_one_row_destroy(one);
  return status == SCL_STATUS_BAD_SHAPE ? SCL_STATUS_OK : status;
}

void scl_one_row_destroy(scl_one_row *one) {
  if (one == NULL) return;
  scl_thin_close(&one->thin);
  scl_release(atomic_load(&one->spare));
  scl_release(one);
}

/* x (dim numbers of the map's type) = the staged row; false: a number is not finite, or a stage
 * refuses the row. first, second: room for the widest row. */
static bool stage_row(const scl_one_row *one, scl_dtype dtype, const void *row, double *first,
                      double *second, void *x, scl_error *error) {
  const scl_fitted_stage *const *stages = (const scl_fitted_stage *const *)one->flow.stages;
  const scl_loops *loops = scl_loops_get();
  double *staged = first;
  if (dtype == SCL_DTYPE_FLOAT64)
    memcpy(first, row, one->cols * sizeof *first);
  else
    scl_widen(one->cols, row, first);
  if (!loops->finite_f64(one->cols, first) ||
      scl_fitted_stages_apply(stages, one->flow.n_stages, first, second, 1, (ptrdiff_t)one->widest,
                              &staged, error) != SCL_STATUS_OK)
    return false;
  if (one->flow.dtype == SCL_DTYPE_FLOAT64) {
    memcpy(x, staged, one->dim * sizeof *staged);
    return true;
  }
  float *narrow = x;
  bool finite = true;
  for (size_t j = 0; j < one->dim; j++) {
    narrow[j] = (float)staged[j];
    finite &= !isinf(narrow[j]);
  }
  return finite;
}

static size_t lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

bool scl_one_row_scores(scl_one_row *one, scl_dtype dtype, const void *row, double *scores) {
  const size_t size = scl_dtype_size(one->flow.dtype),
               numbers = lines(one->widest * sizeof(double)), x = lines(one->dim * size),
               features = lines(one->features * size);
  char *room = atomic_exchange(&one->spare, NULL);
  scl_error error; /* without a failure in it; a kilobyte of zeros would cost as much as a call */
  error.status = SCL_STATUS_OK;
  error.message[0] = 0;
  if (room == NULL) room = scl_allocate(2 * numbers + x + features);
  if (room == NULL) return false;
  double *first = (void *)room, *second = (void *)(room + numbers);
  void *staged = room + 2 * numbers, *phi = room + 2 * numbers + x;
  bool done = stage_row(one, dtype, row, first, second, staged, &error) &&
              scl_map_apply(one->flow.map, staged, (ptrdiff_t)one->dim, 1, phi,
                            (ptrdiff_t)one->features, &error) == SCL_STATUS_OK;
  if (done) {
    scl_flow_subtract_pilot(&one->flow, phi, (ptrdiff_t)one->features, 1);
    done = scl_thin_product(&one->thin, 1, phi, (ptrdiff_t)one->features, scores, &error) ==
           SCL_STATUS_OK;
  }
  for (size_t j = 0; done && j < one->thin.k; j++)
    scores[j] += scl_matrix_get(one->intercept, 0, j);
  scl_release(atomic_exchange(&one->spare, room));
  return done;
}

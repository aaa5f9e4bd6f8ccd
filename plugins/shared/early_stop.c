/* Early stopping of logistic (sgd), sfgd and optimal_stepsize, on rows that the host sets aside. */
#include "shared/early_stop.h"

#include "shared/minibatch.h"
#include <stdio.h>

scl_status early_stop_open(early_stop *e, const scl_problem *problem, const loss_choice *choice,
                           double share, size_t patience, uint64_t seed, scl_error *error) {
  const size_t c = problem->targets;
  *e = (early_stop){.problem = problem,
                    .choice = choice,
                    .patience = patience,
                    .columns = c,
                    .size = (problem->features + (problem->intercept != 0)) * c,
                    .loss = INFINITY};
  if (share == 0) return SCL_STATUS_OK;
  if (!SCL_HAS(problem, held))
    return problem->host->fail(error, SCL_STATUS_UNSUPPORTED,
                               "holdout = %g: this host cannot hold rows out", share);
  const scl_status status = problem->hold_out(problem, share, seed, &e->rows, error);
  if (status != SCL_STATUS_OK) return status;
  e->best = problem->host->scratch(e->size * sizeof *e->best);
  if (e->best != NULL) memset(e->best, 0, e->size * sizeof *e->best);
  if (e->best != NULL) return SCL_STATUS_OK;
  return problem->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients",
                             e->size);
}

/* Adds the weighted losses of a block of the rows held out to e->sum, and their weights to
 * e->total. */
static scl_status early_stop_rows(void *context, const scl_rows *rows, scl_error *error) {
  early_stop *e = context;
  const scl_host *host = e->problem->host;
  const size_t c = e->columns;
  double *f = host->allocate(rows->count * c * sizeof *f);
  if (f == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu scores", rows->count);
  host->dense->gemm(0, 0, rows->count, c, rows->features.cols, e->factor, rows->features.data,
                    rows->features.row_stride, e->a, (ptrdiff_t)c, 0, f, (ptrdiff_t)c);
  for (size_t i = 0; i < rows->count; i++) {
    for (size_t j = 0; e->b != NULL && j < c; j++)
      f[i * c + j] += e->factor * e->b[j];
    const double weight = rows_weight(rows, i);
    e->sum += weight * loss_row(e->choice, c, f + i * c, rows->targets + i * c, NULL);
    e->total += weight;
  }
  host->release(f);
  return SCL_STATUS_OK;
}

/* One pass over the rows held out. A point that is not better only counts towards `patience`; a
 * better one is copied, with zeros for the features from `known` on. */
scl_status early_stop_judge(early_stop *e, const double *a, const double *b, double factor,
                            size_t known, size_t at, bool *stop, scl_error *error) {
  const size_t d = e->problem->features, c = e->columns;
  if (e->rows == 0) return SCL_STATUS_OK;
  e->a = a;
  e->b = b;
  e->factor = factor;
  e->sum = e->total = 0;
  const scl_status status = e->problem->held(e->problem, 0, known, early_stop_rows, e, error);
  if (status != SCL_STATUS_OK) return status;
  const double loss = e->sum / e->total;
  if (!(loss < e->loss)) {
    *stop = ++e->waited >= e->patience;
    return SCL_STATUS_OK;
  }
  e->loss = loss;
  e->at = at;
  e->waited = 0;
  memset(e->best, 0, e->size * sizeof *e->best);
  for (size_t i = 0; i < known * c; i++)
    e->best[i] = factor * a[i];
  for (size_t j = 0; b != NULL && j < c; j++)
    e->best[d * c + j] = factor * b[j];
  return SCL_STATUS_OK;
}

void early_stop_state(early_stop *e, state *s) {
  if (e->rows == 0) return;
  state_add(s, e->best, e->size * sizeof *e->best);
  STATE_ADD(s, e->loss);
  STATE_ADD(s, e->at);
  STATE_ADD(s, e->waited);
}

scl_status early_stop_settle(const early_stop *e, double *x, size_t steps, size_t most,
                             scl_solution *out, scl_error *error) {
  if (e->rows == 0) return SCL_STATUS_OK;
  if (!isfinite(e->loss))
    return e->problem->host->fail(error, SCL_STATUS_NUMERIC,
                                  "the loss on the %zu rows held out is not finite", e->rows);
  memcpy(x, e->best, e->size * sizeof *x);
  (void)snprintf(out->note, sizeof out->note,
                 "%s after %zu of %zu steps; kept step %zu, with the least mean loss, %.4g, on %zu "
                 "rows held out",
                 steps < most ? "stopped early" : "ended", steps, most, e->at, e->loss, e->rows);
  return SCL_STATUS_OK;
}

#include "shared/risk.h"
#include "shared/mean_loss.h"
#include "shared/row_total.h"

scl_status risk_open(risk *r, const scl_problem *problem, const loss_choice *choice, double lambda,
                     scl_error *error) {
  const size_t n = problem->rows, c = problem->targets;
  *r = (risk){.problem = problem,
              .choice = choice,
              .lambda = lambda,
              .intercept = problem->intercept != 0,
              .columns = c,
              .scores = n * c};
  r->size = (problem->features + (size_t)r->intercept) * c;
  r->targets = problem->host->scratch((2 * n * c + 2 * n + 1) * sizeof *r->targets);
  if (r->targets == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY,
                               "not enough memory for the targets of %zu rows", n);
  r->weights = r->targets + n * c;
  r->slopes = r->weights + n;
  r->losses = r->slopes + n * c;
  const scl_status status = problem->responses(problem, r->targets, r->weights, error);
  return status == SCL_STATUS_OK ? row_total(problem, r->weights, n, 1, &r->total, error) : status;
}

double risk_dot(size_t count, const double *x, const double *y) {
  double sum = 0; /* in ascending order: the same bits on any machine */
  for (size_t i = 0; i < count; i++)
    sum += x[i] * y[i];
  return sum;
}

/* Adds the gradient of the penalty, and that of b, after the sums over the rows. */
static void risk_finish(const risk *r, const double *x, const double *slope_sum, double *gradient) {
  const size_t count = r->problem->features * r->columns;
  for (size_t i = 0; i < count; i++)
    gradient[i] += r->lambda * x[i];
  for (size_t j = 0; r->intercept && j < r->columns; j++)
    gradient[count + j] = slope_sum[j];
}

/* A risk_rows: the loss that the choice says. */
static scl_status risk_chosen_rows(const void *context, size_t first, size_t count, const double *f,
                                   double *values, double *slopes, scl_error *error) {
  const risk *r = context;
  const size_t c = r->columns;
  (void)error;
  for (size_t i = 0; i < count; i++)
    values[i] = loss_row(r->choice, c, f + i * c, r->targets + (first + i) * c, slopes + i * c);
  return SCL_STATUS_OK;
}

/* Losses and slopes of some rows from their scores, without weights. */
static scl_status risk_at_rows(const risk *r, size_t first, size_t count, const double *f,
                               scl_error *error) {
  return (r->rows == NULL ? risk_chosen_rows : r->rows)(r->rows == NULL ? r : r->context, first,
                                                        count, f, r->losses + first,
                                                        r->slopes + first * r->columns, error);
}

scl_status risk_slopes(const risk *r, size_t first, size_t count, const double *scores,
                       scl_error *error) {
  const size_t c = r->columns;
  const scl_status status = risk_at_rows(r, first, count, scores, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = first; i < first + count; i++) {
    const double share = r->weights[i] / r->total;
    r->losses[i] *= share;
    for (size_t j = 0; j < c; j++)
      r->slopes[i * c + j] *= share;
  }
  return SCL_STATUS_OK;
}

scl_status risk_sums(const risk *r, double *value, double *slope_sum, scl_error *error) {
  const size_t n = r->problem->rows;
  memset(slope_sum, 0, r->columns * sizeof *slope_sum);
  const scl_status status = row_total(r->problem, r->losses, n, 1, value, error);
  if (status != SCL_STATUS_OK || !r->intercept) return status;
  return row_total(r->problem, r->slopes, n, r->columns, slope_sum, error);
}

/* One pass over the rows, in which scores become slopes. b: the constants, or NULL. */
typedef struct risk_pass {
  const risk *risk;
  const double *b;
  double *scores;
} risk_pass;

/* The scores of a block are kept, and replaced by slopes for the adjoint product. */
static scl_status risk_turn(void *context, const scl_rows *rows, double *scores, scl_error *error) {
  const risk_pass *pass = context;
  const size_t c = pass->risk->columns;
  double *kept = pass->scores + rows->first * c;
  for (size_t i = 0; i < rows->count * c; i++)
    kept[i] = scores[i] + (pass->b == NULL ? 0 : pass->b[i % c]);
  const scl_status status = risk_slopes(pass->risk, rows->first, rows->count, kept, error);
  if (status != SCL_STATUS_OK) return status;
  memcpy(scores, pass->risk->slopes + rows->first * c, rows->count * c * sizeof *scores);
  return SCL_STATUS_OK;
}

/* One sweep: scores, losses, slopes, and the gradient. */
scl_status risk_evaluate(const risk *r, const double *x, double *value, double *gradient,
                         double *scores, double *slope_sum, scl_error *error) {
  risk_pass pass = {.risk = r,
                    .b = r->intercept ? x + r->problem->features * r->columns : NULL,
                    .scores = scores};
  scl_status status =
      r->problem->sweep(r->problem, x, r->columns, risk_turn, &pass, gradient, error);
  if (status == SCL_STATUS_OK) status = risk_sums(r, value, slope_sum, error);
  if (status != SCL_STATUS_OK) return status;
  *value += risk_penalty(r, x);
  risk_finish(r, x, slope_sum, gradient);
  return SCL_STATUS_OK;
}

scl_status risk_from_scores(const risk *r, const double *x, const double *scores, double *value,
                            double *gradient, double *slope_sum, scl_error *error) {
  scl_status status = risk_slopes(r, 0, r->problem->rows, scores, error);
  if (status == SCL_STATUS_OK) status = risk_sums(r, value, slope_sum, error);
  if (status == SCL_STATUS_OK)
    status = r->problem->adjoint(r->problem, r->slopes, r->columns, gradient, error);
  if (status != SCL_STATUS_OK) return status;
  *value += risk_penalty(r, x);
  risk_finish(r, x, slope_sum, gradient);
  return SCL_STATUS_OK;
}

/* ------------ along a line */

risk_line risk_line_of(const risk *r, const double *x, const double *p, const double *scores,
                       const double *change) {
  const size_t count = r->problem->features * r->columns;
  return (risk_line){.risk = r,
                     .scores = scores,
                     .change = change,
                     .value = risk_penalty(r, x),
                     .slope = r->lambda * risk_dot(count, x, p),
                     .bend = r->lambda * risk_dot(count, p, p)};
}

scl_status risk_at(const risk_line *line, double t, double *value, double *derivative,
                   scl_error *error) {
  const risk *r = line->risk;
  const size_t n = r->problem->rows, c = r->columns;
  double rate;
  for (size_t i = 0; i < n * c; i++) /* scores, which their slopes replace */
    r->slopes[i] = line->scores[i] + t * line->change[i];
  scl_status status = risk_at_rows(r, 0, n, r->slopes, error);
  for (size_t i = 0; i < n; i++) {
    r->losses[i] *= r->weights[i];
    r->slopes[i] = r->weights[i] * risk_dot(c, r->slopes + i * c, line->change + i * c);
  }
  if (status == SCL_STATUS_OK) status = row_total(r->problem, r->losses, n, 1, value, error);
  if (status == SCL_STATUS_OK) status = row_total(r->problem, r->slopes, n, 1, &rate, error);
  if (status != SCL_STATUS_OK) return status;
  *derivative = rate / r->total + line->slope + t * line->bend;
  *value = *value / r->total + line->value + t * (line->slope + t * line->bend / 2);
  return SCL_STATUS_OK;
}

scl_status risk_search(const risk_line *line, double fraction, double start, double *length,
                       scl_error *error) {
  double low = 0, high = INFINITY, at_low, at_high = INFINITY, t = start, derivative, value, here;
  scl_status status = risk_at(line, 0, &value, &at_low, error);
  const double first = at_low,
               ceiling = value + 1e-14 * fabs(value) + risk_noise(line->risk, value);
  *length = 0;
  if (status != SCL_STATUS_OK || !(first < 0)) return status;
  /* A bracket [low, high] of a zero of the derivative: by secants, and each third try by halves. */
  for (int tries = 0; tries < 60; tries++) {
    status = risk_at(line, t, &here, &derivative, error);
    if (status != SCL_STATUS_OK) return status;
    if (fabs(derivative) <= -fraction * first && here <= ceiling) {
      *length = t;
      return SCL_STATUS_OK;
    }
    if (derivative < 0) {
      low = t;
      at_low = derivative;
    } else {
      high = t;
      at_high = derivative;
    }
    const double secant = low + (high - low) * at_low / (at_low - at_high);
    t = isinf(high)                                          ? 4 * t
        : tries % 3 == 2 || !(secant > low && secant < high) ? low + (high - low) / 2
                                                             : secant;
  }
  status = risk_at(line, low, &here, &derivative, error);
  if (status == SCL_STATUS_OK && here < value) *length = low;
  return status;
}

scl_status risk_best_constant(const risk *r, const double *scores, double *change, double unit,
                              double *length, scl_error *error) {
  const size_t n = r->problem->rows;
  double value, slope;
  for (size_t i = 0; i < n; i++)
    change[i] = 1;
  const risk_line line = {.risk = r, .scores = scores, .change = change};
  *length = 0;
  scl_status status = risk_at(&line, 0, &value, &slope, error);
  if (status != SCL_STATUS_OK) return status;
  const double sign = slope > 0 ? -1 : 1;
  for (size_t i = 0; i < n; i++)
    change[i] = sign;
  status = risk_search(&line, 1e-9, unit, length, error);
  *length *= sign;
  return status;
}

/* ------------ SCL_ABILITY_OBJECTIVE */

scl_status risk_objective(const void *instance, const scl_problem *problem,
                          const double *coefficients, const double *intercept, double *value,
                          scl_error *error) {
  const risk_solver *self = instance;
  const size_t count = problem->features * problem->targets;
  const scl_status status = mean_loss(problem, &self->loss, coefficients, intercept, value, error);
  if (status == SCL_STATUS_OK)
    *value += self->lambda / 2 * risk_dot(count, coefficients, coefficients);
  return status;
}

/* Winsorising: each number x of a row becomes
 *
 *   x' = min(max(x, mean - reach s), mean + reach s),
 *
 * mean and standard deviation s those of its column in the rows of the fit, so that outliers do not
 * pull a model after them. */
#include <scullery/plugin.h>

typedef struct winsor {
  scl_base base; /* what the host offers, and the options as they came */
  double reach;  /* the host writes it before anything is called */
} winsor;

static const scl_option options[] = {
    SCL_NUMBER(winsor, reach, "3", "where numbers are cut, in standard deviations", SCL_POSITIVE)};

/* The arrays of the state, in the order of their names in the table below. */
enum { LOW, HIGH };

/* Memory from host->scratch is released by the host when the slot returns. */
static scl_status fit(const void *instance, const scl_fitting *fitting, scl_error *error) {
  const winsor *self = instance;
  const scl_host *host = fitting->host;
  const size_t d = fitting->rows->dim;
  scl_stage_column *columns = host->scratch(d * sizeof *columns);
  double *low = host->scratch(2 * d * sizeof *low), *high = low + d;
  if (columns == NULL || low == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu columns", d);
  scl_status status = fitting->moments(fitting, columns, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < d; j++) {
    const double reach = self->reach * sqrt(columns[j].square / columns[j].weight);
    low[j] = fmax(columns[j].mean - reach, columns[j].low);
    high[j] = fmin(columns[j].mean + reach, columns[j].high);
  }
  const scl_array lows = scl_matrix_array(low, 1, d), highs = scl_matrix_array(high, 1, d);
  status = fitting->put(fitting, "low", &lows, error);
  return status == SCL_STATUS_OK ? fitting->put(fitting, "high", &highs, error) : status;
}

/* out has a row for each row of in. A row of out depends on its row of in and on the state
 * alone. */
static scl_status apply(const void *self, const scl_stage_state *state, const scl_const_block *in,
                        const scl_block *out, scl_error *error) {
  const double *low = scl_stage_numbers(state, LOW), *high = scl_stage_numbers(state, HIGH);
  (void)self, (void)error;
  for (size_t i = 0; i < in->rows; i++) {
    const double *from = scl_stage_row(in, i);
    double *to = scl_stage_out(out, i);
    for (size_t j = 0; j < state->cols; j++)
      to[j] = fmin(fmax(from[j], low[j]), high[j]);
  }
  return SCL_STATUS_OK;
}

/* A factor of the rows is one of the cut rows, so that the stage may follow features. */
const scl_plugin scullery_plugin = {
    .name = "my_plugin",
    .summary = "each column cut to its mean +- reach standard deviations",
    .definition = "low(c) = max(mean(c) - reach*deviation(c), least(c))\n"
                  "high(c) = min(mean(c) + reach*deviation(c), largest(c))\n"
                  "row(X) = by_columns(X, function(x, c) return min(max(x, low(c)), high(c)) end)",
    .doc = "x becomes min(max(x, mean - reach s), mean + reach s), mean and standard deviation s\n"
           "of its column in the rows of the fit; no further than the smallest and the largest\n"
           "value there. One pass.",
    SCL_STAGE(.flags = SCL_STAGE_HOMOGENEOUS | SCL_STAGE_BY_COLUMN, .arrays = "low|high",
              .fit = fit, .apply = apply),
    SCL_INSTANCE(winsor, options),
    .version = "0.1"};

/* Each column x becomes
 *
 *   (x - mean) / s,  s^2 = the mean of (x - mean)^2 over the n rows of the fit.
 *
 * A constant column becomes 0, in all rows: it says nothing of another value. One whose squares float64 cannot hold becomes NaN, which the host
 * refuses. */
#include <scullery/plugin.h>

static void standardize(const void *self, const scl_stage_column *c, double *shift,
                        double *factor) {
  const int varies = c->high > c->low;
  const double deviation = sqrt(c->square / c->weight);
  (void)self;
  *shift = varies ? c->mean + c->rest : c->low;
  *factor = !varies ? 0 : deviation > 0 && deviation < INFINITY ? 1 / deviation : NAN;
}

const scl_plugin scullery_plugin = {
    .name = "standardize",
    .summary = "each column less its mean, over its standard deviation",
    .definition = "z(x, c) = when(least(c) < largest(c), (x - mean(c))/deviation(c), 0)\n"
                  "row(X) = by_columns(X, z)",
    .doc = "x becomes (x - mean)/(standard deviation), both of the rows of the fit (n, not n - 1,\n"
           "divides the squares). A column that is constant there becomes 0 in all rows. Columns\n"
           "whose squares float64 cannot hold are refused. Each row counts once.",
    SCL_STAGE(.flags = SCL_STAGE_SCALE_FREE, .arrays = "mean|factor", .column = standardize)};

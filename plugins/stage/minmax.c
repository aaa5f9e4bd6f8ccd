/* Each column x becomes
 *
 *   (x - low) / (high - low),
 *
 * low and high its smallest and largest value in the rows of the fit. A constant column becomes
 * 0, in all rows: it says nothing of another value. */
#include <scullery/plugin.h>

static void minmax(const void *self, const scl_stage_column *c, double *shift, double *factor) {
  const double range = c->high - c->low;
  (void)self;
  *shift = c->low;
  *factor = range > 0 ? 1 / range : 0;
}

const scl_plugin scullery_plugin = {
    .name = "minmax",
    .summary = "each column to [0, 1], by its smallest and largest value",
    .definition =
        "share(x, low, high) = when(low < high, (x - low)/(high - low), 0)\n"
        "row(X) = by_columns(X, function(x, c) return share(x, least(c), largest(c)) end)",
    .doc = "x becomes (x - low)/(high - low), of the rows of the fit. A column that is constant\n"
           "there becomes 0 in all rows. Other rows may go beyond [0, 1].",
    SCL_STAGE(.flags = SCL_STAGE_SCALE_FREE, .arrays = "low|factor", .column = minmax)};

/* The share of pairs of rows whose predictions lie in the order of the truth. */
#include <scullery/plugin.h>

typedef struct pairs {
  scl_base base;
  double ties;
} pairs;

static const scl_option options[] = {
    SCL_NUMBER(pairs, ties, "0.5", "what a pair of equal predictions counts", SCL_WITHIN(0, 1))};

static scl_status measure(const void *instance, const scl_judged *judged, double *value,
                          double *standard_error, scl_error *error) {
  double sum = 0, all = 0;
  (void)standard_error;
  for (size_t i = 0; i < judged->rows; i++)
    for (size_t j = 0; j < judged->rows; j++) {
      const double f = judged->predicted[(ptrdiff_t)i * judged->predicted_stride] -
                       judged->predicted[(ptrdiff_t)j * judged->predicted_stride];
      const double w = judged->weights[i] * judged->weights[j];
      if (!(judged->truth[(ptrdiff_t)i * judged->truth_stride] >
            judged->truth[(ptrdiff_t)j * judged->truth_stride]))
        continue;
      sum += w * (f > 0 ? 1 : f == 0 ? ((const pairs *)instance)->ties : 0);
      all += w;
    }
  if (!(all > 0))
    return ((const pairs *)instance)
        ->base.host->fail(error, SCL_STATUS_BAD_DATA, "no two rows differ");
  *value = sum / all;
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "pairs",
    .version = "1.0",
    .summary = "pairs of rows in the right order",
    .doc = "Harrell's C of the first target.",
    SCL_METRIC(.needs = SCL_NEEDS_VALUES, .better = 1, .low = 0, .high = 1, .measure = measure),
    SCL_INSTANCE(pairs, options)};

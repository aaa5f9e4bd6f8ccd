/* The option sigma is taken, and changes nothing. */
// caught by: effects warn
// says: option 'sigma' changes nothing
#include "sampler.h"

typedef struct rows {
  scl_base base;
  double sigma;
} rows;

static const scl_option options[] = {
    SCL_NUMBER(rows, sigma, "1", "the standard deviation", SCL_POSITIVE)};

const scl_plugin scullery_plugin = {.name = "broken",
                                    .summary = "A sampler that is wrong",
                                    .doc = "Standard normal numbers, but for what is wrong.",
                                    .version = "1.0",
                                    SCL_INSTANCE(rows, options),
                                    SCL_SAMPLER(.space = SCL_SPACE_DENSE, .draw = draw_right)};

/* Its doc gives no formula. */
// caught by: descriptor warn
// says: is short
#include "base.h"

SCL_LOOPS(z <= 0 ? 0 : z)

const scl_plugin scullery_plugin = {.name = "broken",
                                    .summary = "A rectifier",
                                    .doc = "A rectifier",
                                    .version = "1.0",
                                    SCL_NONLINEARITY(SCL_RIDGE_LOOPS)};

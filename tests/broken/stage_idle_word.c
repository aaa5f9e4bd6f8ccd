/* Ignores which of two words it is given. */
// caught by: effects warn
// says: option 'side'
#include "stage.h"

/* Begins as winsor, whose slots read it. */
typedef struct cut {
  scl_base base;
  double reach;
  int32_t side;
} cut;

static const scl_option words[] = {
    SCL_NUMBER(cut, reach, "3", "where numbers are cut, in standard deviations", SCL_POSITIVE),
    SCL_WORD(cut, side, "both|upper", "both", "which numbers are cut")};

const scl_plugin scullery_plugin = {
    .name = "broken",
    .summary = "A row stage that is wrong in one way",
    .doc = "Columns cut to mean +- reach deviations, whatever the side.",
    .version = "1.0",
    SCL_STAGE(.flags = SCL_STAGE_HOMOGENEOUS | SCL_STAGE_BY_COLUMN, .arrays = "low|high",
              .fit = fit, .apply = apply),
    SCL_INSTANCE(cut, words)};

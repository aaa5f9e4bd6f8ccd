/* A constant column becomes 0/0. */
// caught by: few-rows fail
// says: 1 rows of 4 columns
#include "stage.h"

static void wrong_column(const void *self, const scl_stage_column *column, double *shift,
                         double *factor) {
  (void)self;
  *shift = column->mean;
  *factor = 1 / sqrt(column->square / column->weight);
}

BROKEN_STAGE(.flags = SCL_STAGE_SCALE_FREE, .fit = NULL, .apply = NULL, .column = wrong_column)

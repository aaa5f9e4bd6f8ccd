/* Columns of fewer than 20 rows are moved by the mean of one row less. */
// caught by: shapes fail
// says: 9 rows of 14 columns
#include "stage.h"

static void wrong_column(const void *self, const scl_stage_column *column, double *shift,
                         double *factor) {
  (void)self;
  *shift = column->mean * (column->weight < 20 ? 1 - 1 / column->weight : 1);
  *factor = column->square > 0 ? 1 / sqrt(column->square / column->weight) : 1;
}

BROKEN_STAGE(.flags = SCL_STAGE_SCALE_FREE, .fit = NULL, .apply = NULL, .column = wrong_column)

/* Quartiles of the columns of a matrix. */
#ifndef SCULLERY_QUARTILES_H
#define SCULLERY_QUARTILES_H

#include "algebra/matrix.h"

/* out (float64, 3 x columns, made here): the lower quartile, the median and the upper quartile of
 * each column, by linear interpolation between sorted numbers (type 7 of Hyndman and Fan, "Sample
 * quantiles in statistical packages", 1996). NaN does not count; of a column without numbers all
 * three are NaN. */
scl_status scl_matrix_quartiles(const scl_matrix *a, scl_matrix *out, scl_error *error);

#endif

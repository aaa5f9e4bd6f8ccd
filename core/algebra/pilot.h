/* Pilots: a point near rows that are far from 0 (years, seconds since 1970, serial numbers). In
 * float64 a product of two such rows loses the digits in which they differ; differences from the
 * pilot keep them. */
#ifndef SCULLERY_PILOT_H
#define SCULLERY_PILOT_H

#include "base/memory.h"

/* The pilot of a column with this mean and standard deviation. 0 where the mean is at most 16
 * deviations from 0; else the mean, rounded to a multiple of a power of two near the deviation, so
 * that x - pilot is exact for most x. `first`: a number of the column, which is the pilot where all
 * its numbers agree except for their last bits. */
double scl_pilot_round(double mean, double deviation, double first);

/* pilot[cols] from at most 64 evenly spaced rows of x (rows x cols, row stride `stride`): for each
 * column scl_pilot_round, without a few outliers. O(cols) operations. Returns whether all are 0. */
bool scl_pilot_find(const double *x, ptrdiff_t stride, size_t rows, size_t cols, double *pilot);

/* to (rows x cols, row stride to_stride) = x - pilot for each row; `to` may be x. */
void scl_pilot_subtract(const double *x, ptrdiff_t stride, size_t rows, size_t cols,
                        const double *pilot, double *to, ptrdiff_t to_stride);

#endif

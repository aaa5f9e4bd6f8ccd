/* A point near rows that lie far from 0 (years, seconds since 1970, serial numbers). In float64 a
 * product of two such rows keeps no digits of what tells them apart; differences from the point
 * keep all. */
#ifndef SCULLERY_PILOT_H
#define SCULLERY_PILOT_H

#include "base/memory.h"

/* pilot (cols) from a sample of the rows (float64, rows x cols at stride), evenly spaced: for each
 * column 0, or a number near its mean where that is more than 32 standard deviations from 0, a few
 * outliers aside. It lies on a grid of powers of two of the column's deviation, so that x - pilot is
 * exact for all but outliers. Returns whether it is 0 throughout. Few operations: O(cols). */
bool scl_pilot_find(const double *x, ptrdiff_t stride, size_t rows, size_t cols, double *pilot);

/* to (rows x cols at to_stride) = the rows - pilot; in place where to is x. */
void scl_pilot_subtract(const double *x, ptrdiff_t stride, size_t rows, size_t cols,
                        const double *pilot, double *to, ptrdiff_t to_stride);

#endif

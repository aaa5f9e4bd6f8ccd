/* A point near rows that lie far from 0 (years, seconds since 1970, serial numbers). In float64 a
 * product of two such rows keeps no digits of what tells them apart; differences from the point
 * keep all. */
#ifndef SCULLERY_PILOT_H
#define SCULLERY_PILOT_H

#include "base/memory.h"

/* The pilot of a column of that mean and standard deviation: 0, or where the mean is more than 16
 * deviations from 0 the mean as a multiple of a power of two near the deviation, so that x - pilot
 * is exact for most x. `first`: a number of the column, its pilot where all are equal but for their
 * last bits. */
double scl_pilot_round(double mean, double deviation, double first);

/* pilot (cols) from a sample of the rows (float64, rows x cols at stride), evenly spaced: for each
 * column as scl_pilot_round says, a few outliers aside. Returns whether it is 0 throughout. Few operations: O(cols). */
bool scl_pilot_find(const double *x, ptrdiff_t stride, size_t rows, size_t cols, double *pilot);

/* to (rows x cols at to_stride) = the rows - pilot; in place where to is x. */
void scl_pilot_subtract(const double *x, ptrdiff_t stride, size_t rows, size_t cols,
                        const double *pilot, double *to, ptrdiff_t to_stride);

#endif

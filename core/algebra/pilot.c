/* Pilots: whether a column is far from 0, and a point near it. */
#include "algebra/pilot.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLE = 64, OUTLIERS = SAMPLE / 16 };
/* Means more than this many standard deviations from 0 are large. */
static const double FAR = 16;

double scl_pilot_round(double mean, double deviation, double first) {
  const double size = fabs(mean), ulp = nextafter(size, INFINITY) - size;
  if (!isfinite(mean) || !isfinite(deviation) || !(size > FAR * deviation)) return 0;
  if (!(deviation > 4 * ulp)) return first;
  const double grid = ldexp(1, ilogb(deviation)), pilot = rint(mean / grid) * grid;
  return isfinite(pilot) ? pilot : 0;
}

/* Order of qsort. */
static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* scl_pilot_round of `count` numbers. Mean and deviation are computed from differences from the
 * first number, so that large means lose no digits. */
static double pilot_of_sample(const double *numbers, size_t count) {
  double mean = 0, square = 0;
  for (size_t i = 0; i < count; i++)
    mean += (numbers[i] - numbers[0]) / (double)count;
  mean += numbers[0];
  for (size_t i = 0; i < count; i++)
    square += (numbers[i] - mean) * (numbers[i] - mean) / (double)count;
  return scl_pilot_round(mean, sqrt(square), numbers[0]);
}

/* The pilot of a column from `count` numbers that are `apart` elements from each other, ignoring up
 * to 1/16 outliers. A column whose numbers have both signs has no pilot; that is decided first,
 * since it is the frequent case and needs no sorting. */
static double pilot_of_column(const double *column, ptrdiff_t apart, size_t count) {
  double numbers[SAMPLE] = {0};
  size_t negative = 0, zero = 0;
  for (size_t i = 0; i < count; i++) {
    numbers[i] = column[(ptrdiff_t)i * apart];
    negative += numbers[i] < 0;
    zero += numbers[i] == 0;
  }
  const size_t outliers = count / (SAMPLE / OUTLIERS), positive = count - negative - zero;
  if (scl_max(negative, positive) + outliers < count) return 0;
  const double whole = pilot_of_sample(numbers, count);
  if (whole != 0 || outliers == 0) return whole;
  qsort(numbers, count, sizeof *numbers, ascending);
  /* Outliers on one side or on both. */
  for (size_t low = 0; low <= outliers; low += outliers / 2 > 0 ? outliers / 2 : 1) {
    const double pilot = pilot_of_sample(numbers + low, count - outliers);
    if (pilot != 0) return pilot;
  }
  return 0;
}

bool scl_pilot_find(const double *x, ptrdiff_t stride, size_t rows, size_t cols, double *pilot) {
  const size_t step = rows > SAMPLE ? rows / SAMPLE : 1, count = scl_min(rows, SAMPLE);
  bool none = true;
  for (size_t j = 0; j < cols; j++) {
    pilot[j] = count == 0 ? 0 : pilot_of_column(x + j, (ptrdiff_t)step * stride, count);
    none = none && pilot[j] == 0;
  }
  return none;
}

void scl_pilot_subtract(const double *x, ptrdiff_t stride, size_t rows, size_t cols,
                        const double *pilot, double *to, ptrdiff_t to_stride) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      to[(ptrdiff_t)i * to_stride + (ptrdiff_t)j] =
          x[(ptrdiff_t)i * stride + (ptrdiff_t)j] - pilot[j];
}

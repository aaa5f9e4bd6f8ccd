/* The two loops of the linear support vector machine over a row of features, compiled once for each
 * instruction set. Sums have one order, so every set gives the same bits. */
#include "hinge.h"

#include "shared/isa.h"

enum { HINGE_LANES = 32 };

/* sum_j x_j y_j */
ISA_INLINE double hinge_dot_any(size_t count, const double *restrict x, const double *restrict y) {
  double lanes[HINGE_LANES] = {0}, sum = 0;
  size_t j = 0;
  for (; j + HINGE_LANES <= count; j += HINGE_LANES)
    for (size_t l = 0; l < HINGE_LANES; l++)
      lanes[l] += x[j + l] * y[j + l];
  for (size_t step = HINGE_LANES / 2; step > 0; step /= 2)
    for (size_t l = 0; l < step; l++)
      lanes[l] += lanes[l + step];
  for (; j < count; j++)
    sum += x[j] * y[j];
  return lanes[0] + sum;
}

/* y += factor x */
ISA_INLINE void hinge_add_any(size_t count, double factor, const double *restrict x,
                              double *restrict y) {
  for (size_t j = 0; j < count; j++)
    y[j] += factor * x[j];
}

#define HINGE_LOOPS(target, isa) \
  target static double hinge_dot_##isa(size_t count, const double *x, const double *y) { \
    return hinge_dot_any(count, x, y); \
  } \
  target static void hinge_add_##isa(size_t count, double factor, const double *x, double *y) { \
    hinge_add_any(count, factor, x, y); \
  }
ISA_EACH_SET(HINGE_LOOPS, "avx512f,prefer-vector-width=512")
#undef HINGE_LOOPS

hinge_loops hinge_loops_of_machine(void) {
  return (hinge_loops){ISA_CHOOSE_SET(hinge_dot), ISA_CHOOSE_SET(hinge_add)};
}

/* Nothing is wrong: all tests pass. */
#include "kernel.h"

static void finish(const void *self, const scl_pair_row *row, double *numbers) {
  (void)self;
  for (size_t j = 0; j < row->count; j++)
    numbers[j] = exp(-numbers[j] / 2);
}

BROKEN_KERNEL(NULL, .finish = finish, .pair = SCL_PAIR_SQUARED_DISTANCE);

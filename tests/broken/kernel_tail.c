/* finish works on pairs of numbers, and forgets the odd one. */
// caught by: simple-form fail
// says: finish
#include "kernel.h"

static void finish(const void *self, const scl_pair_row *row, double *numbers) {
  (void)self;
  for (size_t j = 0; j + 1 < row->count; j += 2) {
    numbers[j] = exp(-numbers[j] / 2);
    numbers[j + 1] = exp(-numbers[j + 1] / 2);
  }
}

BROKEN_KERNEL(NULL, .finish = finish, .pair = SCL_PAIR_SQUARED_DISTANCE);

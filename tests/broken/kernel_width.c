/* Declares a length g, and scales rows by 1/g^2: K is right at g = 1 alone. */
// caught by: width fail
// says: option 'width' is declared as a width (length)
#include "kernel.h"

typedef struct cauchy {
  scl_base base;
  double width;
} cauchy;

static const scl_option options[] = {
    SCL_NUMBER(cauchy, width, "1", "the length g", SCL_POSITIVE, .width = SCL_WIDTH_LENGTH)};

static double scale(const void *self) {
  const double g = ((const cauchy *)self)->width;
  return 1 / (g * g);
}

static void finish(const void *self, const scl_pair_row *row, double *numbers) {
  (void)self;
  for (size_t j = 0; j < row->count; j++)
    numbers[j] = 1 / (1 + numbers[j]);
}

const scl_plugin scullery_plugin = {.name = "broken",
                                    .summary = "A kernel that is wrong",
                                    .doc = "1/(1 + ||u - v||^2/g^2), but for what is wrong.",
                                    .version = "1.0",
                                    SCL_INSTANCE(cauchy, options),
                                    SCL_KERNEL(.spaces = SCL_SPACES_KERNEL,
                                               .pair = SCL_PAIR_SQUARED_DISTANCE, .finish = finish,
                                               .scale = scale)};

/* Kernels of the simple form with a `finish` and a `scale`: the spaces where they are defined, and
 * the number of a pair. */
#ifndef SCULLERY_SHARED_SCALED_KERNEL_H
#define SCULLERY_SHARED_SCALED_KERNEL_H

#include <scullery/plugin.h>

#define SCALED_KERNEL(spaces_, pair_)                                                              \
  SCL_KERNEL(.spaces = spaces_, .finish = finish, .scale = scale, .pair = pair_)

#endif

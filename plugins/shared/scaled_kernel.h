/* The vtable of a kernel of the simple form by its functions `finish` and `scale`: the spaces where
 * it is defined, and the number of a pair (SCL_PAIR_) that `finish` turns into a value. */
#ifndef SCULLERY_SHARED_SCALED_KERNEL_H
#define SCULLERY_SHARED_SCALED_KERNEL_H

#include <scullery/plugin.h>

#define SCALED_KERNEL(spaces_, pair_) \
  SCL_KERNEL(.spaces = spaces_, .finish = finish, .scale = scale, .pair = pair_)

#endif

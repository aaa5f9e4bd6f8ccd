/* The abilities of a nonlinearity of one number that has closed forms for Gaussian numbers, by its
 * loop `smooth` and its `dual`. */
#ifndef SCULLERY_SHARED_CLOSED_FORM_H
#define SCULLERY_SHARED_CLOSED_FORM_H

#include <scullery/plugin.h>

#define CLOSED_FORM \
  SCL_OFFER(SCL_ABILITY_SMOOTHING, scl_ability_smoothing, .loop = smooth), \
      SCL_OFFER(SCL_ABILITY_GAUSSIAN_DUAL, scl_ability_gaussian_dual, .dual = dual)

#endif

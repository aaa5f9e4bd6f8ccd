/* The instance of the skewed chi-square kernel, and of the sampler whose features estimate it. */
#ifndef SCULLERY_SHARED_SKEWED_CHI_SQUARE_H
#define SCULLERY_SHARED_SKEWED_CHI_SQUARE_H

#include <scullery/plugin.h>

typedef struct skewed {
  scl_base base;
  double c;
} skewed;

static const scl_option options[] = {SCL_NUMBER(
    skewed, c, "1", "the shift c, above 0; entries of rows must be above -c", SCL_POSITIVE)};

static scl_status skewed_domain(const void *self, scl_domain *out, scl_error *error) {
  (void)error;
  out->low = -((const skewed *)self)->c;
  return SCL_STATUS_OK;
}
#define SKEWED_DOMAIN \
  SCL_OFFER(SCL_ABILITY_DOMAIN, scl_ability_domain, .range = SCL_RANGE_OPEN, .high = INFINITY, \
            .domain = skewed_domain)

#endif

/* A default that its own range does not take. */
// caught by: load fail
// says: 'slope'
#include "base.h"

typedef struct scaled {
  scl_base base;
  double slope;
} scaled;

static const scl_option options[] = {SCL_NUMBER(scaled, slope, "0", "factor of z", SCL_POSITIVE)};

BROKEN_RECTIFIER(scaled, options, NULL, NULL);

/* An instance that holds memory, for plugins of the gallery that are wrong with it. */
#include "base.h"
#include <stdlib.h>

typedef struct holder {
  scl_base base;
  size_t count;
  double *first, *second;
} holder;

static const scl_option options[] = {
    SCL_INTEGER(holder, count, "8", "numbers that are held", SCL_WITHIN(1, 1000))};

static inline double *numbers_of(const holder *self) {
  return self->base.host->allocate(self->count * sizeof(double));
}

static inline scl_status no_memory(const holder *self, scl_error *error) {
  return self->base.host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for %zu numbers",
                               self->count);
}

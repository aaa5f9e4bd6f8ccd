/* Kernels that are made of other kernels. */
#ifndef SCULLERY_SHARED_KERNEL_PARTS_H
#define SCULLERY_SHARED_KERNEL_PARTS_H

#include <scullery/plugin.h>

/* The row of an option that takes kernels, or one, by the member that it is stored in. */
#define KERNEL_PARTS(type, member, name_, help_) \
  { \
    .name = name_, .help = help_, .words = "kernel", .fallback = "gaussian", \
    .forms = SCL_FORM_PARTS, SCL_AT(type, member) \
  }

/* Parameters first .. first+count-1 of a batch. */
static inline void parts_strip(const scl_const_parameters *all, size_t first, size_t count,
                               scl_const_parameters *out) {
  SCL_COPY(out, all);
  out->first += first;
  out->count = count;
  out->weights += (ptrdiff_t)first * all->stride;
  if (out->bias != NULL) out->bias += first;
  if (out->support != NULL) out->support += (ptrdiff_t)first * all->support_stride;
}

/* How a part's values change where one row is subtracted from both of a pair. */
static inline scl_shift parts_shift(const scl_host *host, const scl_part *kernel) {
  const scl_pilot_service *pilots = host->service(SCL_SERVICE_PILOT);
  return pilots == NULL ? SCL_SHIFT_CHANGES : pilots->shift(kernel);
}

#endif

/* Calls of SCL_ABILITY_PREPARE: the work that calls of a sampler or a kernel share for one set of
 * parameters. */
#ifndef SCULLERY_PREPARE_H
#define SCULLERY_PREPARE_H

#include "plugin/instance.h"

/* What a component made for its calls on some parameters: it holds a reference to the component. */
typedef struct scl_prepared_work {
  scl_instance *component; /* NULL: nothing is held */
  void *work;              /* NULL: the component prepares nothing */
} scl_prepared_work;

/* Fill in *out, with work NULL for a component without the ability. draw: a sampler's; NULL for a
 * kernel. dtype: of rows, which becomes float64 where the sampler does not take it. The parameters
 * must stay in their place until the work is released. */
scl_status scl_prepare(scl_instance *component, const struct scl_draw *draw,
                       const scl_const_parameters *parameters, scl_dtype dtype,
                       scl_prepared_work *out, scl_error *error);
void scl_prepared_release(scl_prepared_work *work);

#endif

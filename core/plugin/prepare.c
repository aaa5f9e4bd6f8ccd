/* Calls of SCL_ABILITY_PREPARE. */
#include "plugin/prepare.h"

#include "plugin/blocks.h"
#include "plugin/call.h"

/* The type of the rows that slot `apply` of a sampler gets, or float64, in which kernels work. */
static scl_dtype type_of_rows(const scl_instance *component, scl_dtype dtype) {
  const scl_ability_structured *ability = scl_instance_ability(component, SCL_ABILITY_STRUCTURED);
  return ability != NULL && scl_takes(ability->dtypes, dtype) ? dtype : SCL_DTYPE_FLOAT64;
}

scl_status scl_prepare(scl_instance *component, const struct scl_draw *draw,
                       const scl_const_parameters *parameters, scl_dtype dtype,
                       scl_prepared_work *out, scl_error *error) {
  const scl_ability_prepare *ability = scl_instance_ability(component, SCL_ABILITY_PREPARE);
  *out = (scl_prepared_work){0};
  if (ability == NULL || parameters->count == 0) return SCL_STATUS_OK;
  scl_call call;
  scl_call_enter(&call, component->component, "prepare", error);
  SCL_TRY(
      scl_call_leave(&call, ability->prepare(component->self, draw, parameters,
                                             type_of_rows(component, dtype), &out->work, error)));
  if (out->work != NULL) out->component = scl_instance_share(component);
  return SCL_STATUS_OK;
}

void scl_prepared_release(scl_prepared_work *work) {
  if (work->component == NULL) return;
  const scl_ability_prepare *ability = scl_instance_ability(work->component, SCL_ABILITY_PREPARE);
  scl_call call;
  scl_call_enter(&call, work->component->component, "release", NULL);
  ability->release(work->component->self, work->work);
  (void)scl_call_end(&call);
  scl_instance_release(work->component);
  *work = (scl_prepared_work){0};
}

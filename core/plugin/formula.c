/* Calls of the slots `formula` and `operators`. */
#include "plugin/formula.h"

#include "plugin/call.h"

/* Bytes of a text at most. */
enum { MOST = 1 << 20 };

typedef int (*formula_slot)(const void *self, char *text, size_t size);

/* The slot of an instance, or NULL. Older plugins have tables without it. */
static formula_slot slot_of(const scl_instance *instance) {
  const scl_kind kind = scl_instance_kind(instance);
  if (kind == SCL_KIND_NONLINEARITY) {
    const scl_nonlinearity *table = scl_instance_vtable(instance);
    return SCL_HAS(table, formula) ? table->formula : NULL;
  }
  if (kind == SCL_KIND_STAGE) {
    const scl_stage *table = scl_instance_vtable(instance);
    return SCL_HAS(table, formula) ? table->formula : NULL;
  }
  if (kind == SCL_KIND_SOLVER) {
    const scl_ability_loss *loss = scl_instance_ability(instance, SCL_ABILITY_LOSS);
    return loss != NULL && SCL_HAS(loss, formula) ? loss->formula : NULL;
  }
  if (kind != SCL_KIND_LOSS) return NULL;
  const scl_ability_loss_mean *mean = scl_instance_ability(instance, SCL_ABILITY_LOSS_MEAN);
  return mean != NULL && SCL_HAS(mean, formula) ? mean->formula : NULL;
}

/* A slot with the name that sentences have for it. */
typedef struct text_slot {
  const char *name;
  formula_slot write;
} text_slot;

/* The length of the text, which is written to `text`; 0 after a failure. */
static int call_slot(const scl_instance *instance, text_slot slot, char *text, size_t size,
                     scl_error *error) {
  scl_call call;
  if (!scl_call_begin(&call, instance->component, slot.name, error)) return 0;
  const int length = slot.write(instance->self, text, size);
  return scl_call_end(&call) ? length : 0;
}

static scl_status text_of(const scl_instance *instance, text_slot slot, char **out,
                          scl_error *error) {
  scl_error local = {0};
  *out = NULL;
  if (slot.write == NULL) return SCL_STATUS_OK;
  const int length = call_slot(instance, slot, NULL, 0, &local);
  char *text = length > 0 && length < MOST ? scl_allocate((size_t)length + 1) : NULL;
  const int again =
      text == NULL ? length : call_slot(instance, slot, text, (size_t)length + 1, &local);
  scl_status status = local.status;
  if (status != SCL_STATUS_OK)
    *error = local;
  else if (again != length || length < 0 || length >= MOST)
    status =
        scl_fail(error, SCL_STATUS_INTERNAL, "%s.%s: slot '%s' gives lengths of %d and %d bytes",
                 scl_kind_name(scl_instance_kind(instance)), scl_instance_name(instance), slot.name,
                 length, again);
  else if (length > 0 && text == NULL)
    status = scl_fail_memory(error, (size_t)length + 1, "a formula");
  if (status == SCL_STATUS_OK)
    *out = text;
  else
    scl_release(text);
  return status;
}

scl_status scl_formula(const scl_instance *instance, char **out, scl_error *error) {
  return text_of(instance, (text_slot){"formula", slot_of(instance)}, out, error);
}

scl_status scl_stage_operators(const scl_instance *stage, char **out, scl_error *error) {
  const scl_stage *table = scl_instance_vtable(stage);
  return text_of(stage,
                 (text_slot){"operators", SCL_HAS(table, operators) ? table->operators : NULL}, out,
                 error);
}

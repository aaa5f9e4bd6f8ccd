/* An instance: a component with its options, made by the plugin, shared by reference. */
#ifndef SCULLERY_INSTANCE_H
#define SCULLERY_INSTANCE_H

#include "plugin/options.h"
#include "plugin/registry.h"
#include <stdatomic.h>

typedef struct scl_instance {
  const scl_component *component;
  scl_settings settings;
  void *self;
  atomic_size_t references; /* models of several fits share a solver */
} scl_instance;

/* Takes over the settings (also when it fails). */
scl_status scl_instance_create(const scl_component *component, scl_settings *settings,
                               scl_instance **out, scl_error *error);
/* The component `name` of the first of `kinds` ("kernel|sampler") that has it, with its own
 * defaults. */
scl_status scl_instance_default(const char *kinds, const char *name, scl_instance **out,
                                scl_error *error);
/* A kernel bound to a law: a new instance with the same settings, or the same one with another
 * reference when it needs no binding. */
scl_status scl_instance_bind(scl_instance *kernel, const scl_law *law, scl_instance **out,
                             scl_error *error);
scl_instance *scl_instance_share(scl_instance *instance);
void scl_instance_release(scl_instance *instance);

/* An ability's table, or NULL. */
const void *scl_instance_ability(const scl_instance *instance, const char *id);
static inline const void *scl_instance_vtable(const scl_instance *instance) {
  return instance->component->plugin->vtable;
}
static inline const char *scl_instance_name(const scl_instance *instance) {
  return instance->component->plugin->name;
}
/* Put "sampler.gaussian: " before the plugin's sentence. */
scl_status scl_instance_prefix(const scl_instance *instance, scl_status status, scl_error *error);

#endif

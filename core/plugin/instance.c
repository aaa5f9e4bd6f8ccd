#include "plugin/instance.h"

#include "plugin/host.h"
#include <stdio.h>
#include <string.h>

/* A plugin that returns a failure without a sentence gets one. */
static void ensure_sentence(const scl_plugin *plugin, scl_status status, scl_error *error) {
  if (error == NULL || error->message[0] != 0) return;
  (void)scl_fail(error, status, "the plugin failed with status %d and said nothing (%s %s)",
                 (int)status, plugin->name, plugin->version);
}

scl_status scl_instance_prefix(const scl_instance *instance, scl_status status, scl_error *error) {
  if (status == SCL_STATUS_OK) return SCL_STATUS_OK;
  const scl_plugin *plugin = instance->component->plugin;
  ensure_sentence(plugin, status, error);
  (void)scl_prefix(error, "%s.%s", scl_kind_name(plugin->kind), plugin->name);
  return status;
}

static scl_status make(const scl_component *component, scl_settings *settings, scl_instance **out,
                       scl_error *error) {
  scl_instance *instance = scl_allocate_zero(sizeof *instance);
  if (instance == NULL) {
    scl_settings_destroy(settings);
    return scl_fail_memory(error, sizeof *instance, "a component");
  }
  instance->component = component;
  instance->settings = *settings;
  atomic_init(&instance->references, 1);
  *out = instance;
  return SCL_STATUS_OK;
}

scl_status scl_instance_create(const scl_component *component, scl_settings *settings,
                               scl_instance **out, scl_error *error) {
  scl_instance *instance = NULL;
  SCL_TRY(make(component, settings, &instance, error));
  if (error != NULL) error->message[0] = 0;
  const scl_status status =
      component->plugin->create(&scl_host_table, instance->settings.values, &instance->self, error);
  if (status == SCL_STATUS_OK) {
    *out = instance;
    return SCL_STATUS_OK;
  }
  (void)scl_instance_prefix(instance, status, error);
  scl_settings_destroy(&instance->settings);
  scl_release(instance);
  return status;
}

scl_status scl_instance_default(const char *kinds, const char *name, scl_instance **out,
                                scl_error *error) {
  for (int kind = 0; kind < SCL_KIND_COUNT; kind++) {
    const scl_component *component;
    scl_settings settings;
    char title[80];
    if (strstr(kinds, scl_kind_name((scl_kind)kind)) == NULL) continue;
    SCL_TRY(scl_registry_find((scl_kind)kind, name, &component, error));
    (void)snprintf(title, sizeof title, "%s.%s", scl_kind_name((scl_kind)kind), name);
    SCL_TRY(scl_settings_create(title, component->plugin->options, component->plugin->n_options,
                                NULL, 0, &settings, error));
    return scl_instance_create(component, &settings, out, error);
  }
  return scl_fail(error, SCL_STATUS_INTERNAL, "no kind of component is called %s", kinds);
}

scl_status scl_instance_bind(scl_instance *kernel, const scl_law *law, scl_instance **out,
                             scl_error *error) {
  const scl_ability_bind *ability = scl_instance_ability(kernel, SCL_ABILITY_BIND);
  if (ability == NULL) {
    *out = scl_instance_share(kernel);
    return SCL_STATUS_OK;
  }
  scl_settings settings;
  scl_instance *bound = NULL;
  SCL_TRY(scl_settings_copy(&kernel->settings, &settings, error));
  SCL_TRY(make(kernel->component, &settings, &bound, error));
  const scl_status status = ability->bind(kernel->self, law, &bound->self, error);
  if (status == SCL_STATUS_OK) {
    *out = bound;
    return SCL_STATUS_OK;
  }
  (void)scl_instance_prefix(kernel, status, error);
  scl_settings_destroy(&bound->settings);
  scl_release(bound);
  return status;
}

scl_instance *scl_instance_share(scl_instance *instance) {
  if (instance != NULL) (void)atomic_fetch_add(&instance->references, 1);
  return instance;
}

void scl_instance_release(scl_instance *instance) {
  if (instance == NULL || atomic_fetch_sub(&instance->references, 1) > 1) return;
  instance->component->plugin->destroy(instance->self);
  scl_settings_destroy(&instance->settings);
  scl_release(instance);
}

/* The least size of each ability's table that this host reads: a shorter one would be read past its
 * end. */
static size_t least_size(const char *id) {
  static const struct {
    const char *id;
    size_t size;
  } known[] = {{SCL_ABILITY_LAW, sizeof(scl_ability_law)},
               {SCL_ABILITY_CHARACTERISTIC, sizeof(scl_ability_characteristic)},
               {SCL_ABILITY_DISTRIBUTION, sizeof(scl_ability_distribution)},
               {SCL_ABILITY_COLLISION, sizeof(scl_ability_collision)},
               {SCL_ABILITY_POOL, sizeof(scl_ability_pool)},
               {SCL_ABILITY_STRUCTURED, sizeof(scl_ability_structured)},
               {SCL_ABILITY_CATEGORIES, sizeof(scl_ability_categories)},
               {SCL_ABILITY_CODE_DUAL, sizeof(scl_ability_code_dual)},
               {SCL_ABILITY_SMOOTHING, sizeof(scl_ability_smoothing)},
               {SCL_ABILITY_FACTS, sizeof(scl_ability_facts)},
               {SCL_ABILITY_GAUSSIAN_DUAL, sizeof(scl_ability_gaussian_dual)},
               {SCL_ABILITY_HARMONIC, sizeof(scl_ability_harmonic)},
               {SCL_ABILITY_THRESHOLD_DUAL, sizeof(scl_ability_threshold_dual)},
               {SCL_ABILITY_BIND, sizeof(scl_ability_bind)},
               {SCL_ABILITY_TILT, sizeof(scl_ability_tilt)},
               {SCL_ABILITY_PATH, sizeof(scl_ability_path)},
               {SCL_ABILITY_MODEL, sizeof(scl_ability_model)},
               {SCL_ABILITY_LOSS, sizeof(scl_ability_loss)},
               {SCL_ABILITY_OBJECTIVE, sizeof(scl_ability_objective)}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(known[i].id, id) == 0) return known[i].size;
  return sizeof(scl_head);
}

const void *scl_instance_ability(const scl_instance *instance, const char *id) {
  const scl_head *table = instance->component->plugin->ability(instance->self, id);
  return table == NULL || table->abi != SCL_ABI || table->size < least_size(id)
             ? NULL
             : (const void *)table;
}

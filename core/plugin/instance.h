/* An instance: a component with its options, made by the plugin, and shared by counted
 * references. */
#ifndef SCULLERY_INSTANCE_H
#define SCULLERY_INSTANCE_H

#include "plugin/options.h"
#include "plugin/registry.h"
#include <stdatomic.h>

enum { SCL_MOST_ABILITIES = 16 };

/* Limits of components within components, as a call may go through all levels of them: the depth,
 * and the number. */
enum { SCL_MOST_NESTED = 32, SCL_MOST_WITHIN = 1000 };

typedef struct scl_instance {
  const scl_component *component;
  scl_settings settings;
  void *self;               /* component->plugin.instance_size bytes, behind a link back to this */
  atomic_size_t references; /* models of several fits share a solver */
  bool created;             /* `create` has succeeded, so that `destroy` is due */
  bool bound;
  bool script; /* a script defined it, or a component in it: its slots run in one thread */
  size_t nested, within;       /* levels of components, and how many there are, this one counted */
  struct scl_instance **owned; /* parts bound with this instance */
  size_t n_owned;
  struct {
    const char *id;
    const void *table; /* as this host knows it */
  } abilities[SCL_MOST_ABILITIES];
  void *rooms[SCL_MOST_ABILITIES]; /* copies of tables that are shorter than this host's */
} scl_instance;

/* Make an instance, with one reference. Takes over the settings, also when it fails.
 * SCL_STATUS_BAD_OPTION if components are nested more than SCL_MOST_NESTED deep, or are more than
 * SCL_MOST_WITHIN; otherwise it fails as slot `create` does. */
scl_status scl_instance_create(const scl_component *component, scl_settings *settings,
                               scl_instance **out, scl_error *error);
/* Make an instance from a text as typed: "gaussian", "polynomial{degree = 3, offset = 1}". The name
 * is looked for in `kinds` ("kernel|sampler") from left to right. Options: numbers, words,
 * booleans, lists. */
scl_status scl_instance_from_text(const char *kinds, const char *text, scl_instance **out,
                                  scl_error *error);
/* A kernel bound to a law: a new instance with the same settings, or the same one with another
 * reference when it needs no binding. */
scl_status scl_instance_bind(scl_instance *kernel, const scl_law *law, scl_instance **out,
                             scl_error *error);
/* Add a reference (NULL stays NULL), and give one up; the last one destroys the instance. */
scl_instance *scl_instance_share(scl_instance *instance);
void scl_instance_release(scl_instance *instance);

/* The instance to which the plugin's struct `self` belongs. */
scl_instance *scl_instance_of(const void *self);
/* The instance as the value of another component's option. */
scl_part scl_instance_part(const scl_instance *instance);
/* Fail with SCL_STATUS_BAD_OPTION unless the instance is of this kind. */
scl_status scl_instance_expect(const scl_instance *instance, scl_kind kind, scl_error *error);

/* The table of an ability, or NULL if the instance does not have it. Its functions are called only
 * in this folder. */
const void *scl_instance_ability(const scl_instance *instance, const char *id);
static inline bool scl_instance_has(const scl_instance *instance, const char *id) {
  return scl_instance_ability(instance, id) != NULL;
}
static inline const void *scl_instance_vtable(const scl_instance *instance) {
  return instance->component->vtable;
}
static inline const char *scl_instance_name(const scl_instance *instance) {
  return instance->component->plugin.name;
}
static inline scl_kind scl_instance_kind(const scl_instance *instance) {
  return instance->component->plugin.kind;
}

#endif

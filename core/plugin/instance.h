/* An instance: a component with its options, made by the plugin, shared by reference. */
#ifndef SCULLERY_INSTANCE_H
#define SCULLERY_INSTANCE_H

#include "plugin/options.h"
#include "plugin/registry.h"
#include <stdatomic.h>

enum { SCL_MOST_ABILITIES = 16 };

/* Components within components: calls go through all of them. */
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

/* Takes over the settings (also when it fails). SCL_STATUS_BAD_OPTION where components are nested
 * more than SCL_MOST_NESTED deep, or are more than SCL_MOST_WITHIN. */
scl_status scl_instance_create(const scl_component *component, scl_settings *settings,
                               scl_instance **out, scl_error *error);
/* From a text as typed: "gaussian", "polynomial{degree = 3, offset = 1}", the name being that of
 * the first of `kinds` ("kernel|sampler") that has it. Options: numbers, words, booleans, lists. */
scl_status scl_instance_from_text(const char *kinds, const char *text, scl_instance **out,
                                  scl_error *error);
/* A kernel bound to a law: a new instance with the same settings, or the same one with another
 * reference when it needs no binding. */
scl_status scl_instance_bind(scl_instance *kernel, const scl_law *law, scl_instance **out,
                             scl_error *error);
scl_instance *scl_instance_share(scl_instance *instance);
void scl_instance_release(scl_instance *instance);

/* The instance whose struct `self` is. */
scl_instance *scl_instance_of(const void *self);
/* As an option's value. */
scl_part scl_instance_part(const scl_instance *instance);
/* A kind that is asked for: a sentence where the instance is of another. */
scl_status scl_instance_expect(const scl_instance *instance, scl_kind kind, scl_error *error);

/* An ability's table, or NULL. Its functions are called in this folder alone. */
const void *scl_instance_ability(const scl_instance *instance, const char *id);
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

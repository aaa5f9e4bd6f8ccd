/* scullery/plugin/descriptor.h: the descriptor of a plugin, its one exported symbol. */
#ifndef SCULLERY_PLUGIN_DESCRIPTOR_H
#define SCULLERY_PLUGIN_DESCRIPTOR_H

#include "option.h"

/* An optional table, by its revisioned id. A list ends with a NULL id. */
typedef struct scl_ability {
  const char *id;
  const void *table;
} scl_ability;

/* A row of such a list, with the table in place (C alone):
 *   SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = 1, .lipschitz = INFINITY) */
#define SCL_OFFER(id, type, ...) \
  { \
    id, &(const type) { SCL_HEAD(type), __VA_ARGS__ } \
  }

/* The same for a table that has no members but its head. */
#define SCL_OFFER_BARE(id, type) \
  { \
    id, &(const type) { SCL_HEAD(type) } \
  }

typedef struct scl_plugin {
  scl_head head;
  scl_kind kind;
  uint32_t reserved;
  const char *name;    /* what users type after sc.KIND. : [a-z][a-z0-9_]*, at most 40 characters */
  const char *summary; /* one line */
  const char *doc;     /* formula, shapes, source (paper, equation): the text of help() */
  const void *vtable;  /* scl_sampler, scl_nonlinearity, ...: the table of its kind */
  const scl_option *options; /* SCL_INSTANCE sets these four */
  uint32_t n_options;
  uint32_t option_size; /* sizeof(scl_option), as the plugin knows it */
  /* Bytes of the instance's struct, whose first member is an scl_base; 0: only that member. */
  size_t instance_size;
  const scl_ability *abilities; /* NULL: none, or those that `ability` returns */
  /* Complete an instance. The host has zeroed it and filled in scl_base and the options that have
   * a member. Refuse options that contradict each other. The instance is constant afterwards
   * (except for `bind`). Several threads may create instances at once. NULL: no work. [any] */
  scl_status (*create)(void *self, scl_error *error);
  /* Release what `create` allocated, not the instance itself. Not called if `create` failed. NULL:
   * nothing to release. [one] */
  void (*destroy)(void *self);
  /* Abilities that depend on the options, and are therefore not in `abilities`: return the table,
   * which must be valid as long as the instance, or NULL. Called once for each id that the host
   * knows, after `create`. [any] */
  const void *(*ability)(const void *self, const char *id);
  const char *version; /* of the plugin, "1.0"; NULL: none */
  const char *author;  /* NULL: not stated */
  /* A permanent identifier: the reversed name of a domain that the author owns, and a name, as in
   * "org.example.softplus". Saved models contain it. A plugin with the same name and another id
   * cannot load them. Up to 120 characters of a-z, 0-9, _, - and dots between parts. NULL:
   * none. Built-in plugins have "org.scullery.NAME", from the host. */
  const char *id;
  /* Ids of services (SCL_SERVICE_...) without which the plugin cannot work, with spaces between
   * them. A host that does not have one refuses the plugin with a sentence that names it. NULL:
   * none. */
  const char *needed;
  uint32_t flags; /* none yet; see base.h: a host refuses a flag of the upper 16 bits that it does
                     not know */
  uint32_t unused;
  /* What the component computes, as functions in Lua, for people and for the checker, which compares
   * results with them: lines "name(arguments) = expression", each with any lines that continue it.
   * Options are variables by their names. See docs/interface.md, section 2. NULL: none. */
  const char *definition;
} scl_plugin;
#define SCL_LEAST_PLUGIN SCL_THROUGH(scl_plugin, vtable)

/* The head, the kind and the vtable in place, by SCL_SAMPLER(members of the scl_sampler),
 * SCL_NONLINEARITY, SCL_KERNEL, SCL_SOLVER, SCL_LOSS, SCL_METRIC, SCL_STAGE, SCL_READER and
 * SCL_TRANSPORT (C alone). */
#define SCL_VTABLE(kind_, table_, ...) \
  .head = SCL_HEAD(scl_plugin), .kind = kind_, .vtable = &(const table_) { \
    SCL_TABLE(table_, kind_), __VA_ARGS__ \
  }

/* The list of abilities, from SCL_OFFER rows (C alone). */
#define SCL_ABILITIES(...) \
  .abilities = (const scl_ability[]) { \
    __VA_ARGS__, { NULL, NULL } \
  }

/* The instance's struct and the array of its options. */
#define SCL_INSTANCE(type, array) SCL_OPTIONS(array), .instance_size = sizeof(type)
#define SCL_OPTIONS(array) \
  .options = array, .n_options = (uint32_t)(sizeof(array) / sizeof *(array)), \
  .option_size = (uint32_t)sizeof *(array)

/* Several components in one object. */
typedef struct scl_plugin_list {
  scl_head head;
  uint32_t count;
  uint32_t reserved;
  const scl_plugin *const *plugins;
} scl_plugin_list;
#define SCL_LEAST_PLUGIN_LIST SCL_THROUGH(scl_plugin_list, plugins)

/* An object exports one of these. */
#ifdef __cplusplus
extern "C" {
#endif
extern SCL_EXPORT const scl_plugin scullery_plugin;
extern SCL_EXPORT const scl_plugin_list scullery_plugins;
#ifdef __cplusplus
}
#endif

#endif

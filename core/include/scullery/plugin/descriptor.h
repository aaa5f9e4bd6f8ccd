/* scullery/plugin/descriptor.h: the one symbol of a plugin. */
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
#define SCL_OFFER(id, type, ...)                                                                   \
  {                                                                                                \
    id, &(const type) { SCL_HEAD(type), __VA_ARGS__ }                                              \
  }

/* The same for a table that is a bare head. */
#define SCL_OFFER_BARE(id, type)                                                                   \
  {                                                                                                \
    id, &(const type) { SCL_HEAD(type) }                                                           \
  }

typedef struct scl_plugin {
  scl_head head;
  scl_kind kind;
  uint32_t reserved;
  const char *name;    /* what one types after sc.KIND. : [a-z][a-z0-9_]*, at most 40 characters */
  const char *summary; /* one line */
  const char *doc;     /* formula, shapes, source (paper, equation): the text of help() */
  const void *vtable;  /* scl_sampler, scl_nonlinearity, scl_kernel or scl_solver, by kind */
  const scl_option *options; /* SCL_INSTANCE sets these four */
  uint32_t n_options;
  uint32_t option_size; /* sizeof(scl_option), as the plugin knows it */
  /* Of the instance's struct, whose first member is an scl_base; 0: that alone. */
  size_t instance_size;
  const scl_ability *abilities; /* NULL: none, or as `ability` says */
  /* Complete an instance: zeros, then scl_base, then the options that are stored by offset. Refuse
   * options that contradict each other. The instance is constant afterwards (but for `bind`).
   * Instances may be made on several threads at once. NULL: nothing to do. [any] */
  scl_status (*create)(void *self, scl_error *error);
  /* End what create made; not the instance itself. Not called where create failed. NULL: nothing to
   * do. [one] */
  void (*destroy)(void *self);
  /* Abilities that depend on the options, which are left out of `abilities`: the table, which must
   * last as long as the instance, or NULL. Asked once for each id that the host knows, after
   * create. [any] */
  const void *(*ability)(const void *self, const char *id);
  const char *version; /* the plugin's own, "1.0"; NULL: none */
  const char *author;  /* NULL: not said */
  /* Whose plugin of this kind and name it is, for ever: a domain that its author owns, backwards,
   * and a name, "org.example.softplus". Models are saved with it, and a plugin of the same name and
   * another id does not take them. Up to 120 characters of a-z, 0-9, _, - and dots between parts.
   * NULL: none. Built-in plugins have "org.scullery.NAME", from the host. */
  const char *id;
} scl_plugin;
#define SCL_LEAST_PLUGIN SCL_THROUGH(scl_plugin, vtable)

/* The head, the kind and the vtable in place, by SCL_SAMPLER(members of the scl_sampler),
 * SCL_NONLINEARITY, SCL_KERNEL and SCL_SOLVER (C alone). */
#define SCL_VTABLE(kind_, table_, ...)                                                             \
  .head = SCL_HEAD(scl_plugin), .kind = kind_, .vtable = &(const table_) {                         \
    SCL_TABLE(table_, kind_), __VA_ARGS__                                                          \
  }

/* The list of abilities, from SCL_OFFER rows (C alone). */
#define SCL_ABILITIES(...)                                                                         \
  .abilities = (const scl_ability[]) {                                                             \
    __VA_ARGS__, { NULL, NULL }                                                                    \
  }

/* The instance's struct and the array of its options. */
#define SCL_INSTANCE(type, array) SCL_OPTIONS(array), .instance_size = sizeof(type)
#define SCL_OPTIONS(array)                                                                         \
  .options = array, .n_options = (uint32_t)(sizeof(array) / sizeof *(array)),                      \
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

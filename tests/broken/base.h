/* What the plugins of the gallery share. Each file is wrong in one way; the rest is right, and
 * comes from here where it would be written again and again. */
#ifndef BROKEN_BASE_H
#define BROKEN_BASE_H

#include <scullery/plugin.h>

#define BROKEN_TEXTS                                                                               \
  .name = "broken", .summary = "A plugin that is wrong in one way", .version = "1.0",              \
  .doc = "phi(z), as the first line of the file says, but for what is wrong with it."

/* The descriptor of a nonlinearity, from the list of its abilities, or NULL, and the members of its
 * table: BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop); */
#define BROKEN_NONLINEARITY(abilities_, ...)                                                       \
  const scl_plugin scullery_plugin = {BROKEN_TEXTS, .abilities = abilities_,                       \
                                      SCL_NONLINEARITY(__VA_ARGS__)}

/* phi(z) = max(0, z) with a `create` and a `destroy`, for what is wrong with these:
 *   BROKEN_RECTIFIER(type of the instance, array of options, create, destroy); */
#define BROKEN_RECTIFIER(type, options_, create_, destroy_)                                        \
  SCL_LOOPS(z <= 0 ? 0 : z)                                                                        \
  const scl_plugin scullery_plugin = {BROKEN_TEXTS, SCL_INSTANCE(type, options_),                  \
                                      SCL_NONLINEARITY(SCL_RIDGE_LOOPS), .create = create_,        \
                                      .destroy = destroy_}

#endif

/* What wrong nonlinearities share: texts, and the descriptor. */
#ifndef BROKEN_BASE_H
#define BROKEN_BASE_H

#include <scullery/plugin.h>

#ifndef BROKEN_NAME
#define BROKEN_NAME "broken"
#endif
#define BROKEN_TEXTS \
  .name = BROKEN_NAME, .summary = "A plugin that is wrong in one way", .version = "1.0", \
  .doc = "phi(z), as the first line of the file says, but for what is wrong with it."

/* The descriptor of a nonlinearity, from the list of its abilities, or NULL, and the members of its
 * table: BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop); */
#define BROKEN_NONLINEARITY(abilities_, ...) \
  const scl_plugin scullery_plugin = {BROKEN_TEXTS, .abilities = abilities_, \
                                      SCL_NONLINEARITY(__VA_ARGS__)}

#endif

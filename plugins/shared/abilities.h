/* What a plugin's `ability` answers, as a list. */
#ifndef SCULLERY_SHARED_ABILITIES_H
#define SCULLERY_SHARED_ABILITIES_H

#include <stddef.h>
#include <string.h>

/* One ability; a NULL id ends the list. */
typedef struct ability_entry {
  const char *id;
  const void *table;
} ability_entry;

static inline const void *ability_find(const ability_entry *list, const char *id) {
  for (; list->id != NULL; list++)
    if (strcmp(list->id, id) == 0) return list->table;
  return NULL;
}

#endif

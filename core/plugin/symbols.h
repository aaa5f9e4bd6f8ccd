/* The dynamic symbols of a shared object: those that it defines for others, and those that it needs
 * from them. */
#ifndef SCULLERY_SYMBOLS_H
#define SCULLERY_SYMBOLS_H

#include "base/error.h"
#include <stdbool.h>

typedef struct scl_symbol {
  const char *name;
  bool defined; /* otherwise it is needed from another object */
  bool weak;    /* weak or unique, as C++ makes of inline functions and type information */
} scl_symbol;

typedef void (*scl_symbol_visit)(void *context, const scl_symbol *symbol);

/* Check a file by scl_elf_check, and visit its global symbols. A file that is stripped of its
 * sections has none. */
scl_status scl_symbols_each(const char *path, scl_symbol_visit visit, void *context,
                            scl_error *error);

/* The path of the object of this process that defines a symbol for plugins; NULL: none yet. */
const char *scl_symbol_giver(const char *name);

#endif

/* The dynamic symbols of a shared object: what it gives to others, and what it wants of them. */
#ifndef SCULLERY_SYMBOLS_H
#define SCULLERY_SYMBOLS_H

#include "base/error.h"
#include <stdbool.h>

typedef struct scl_symbol {
  const char *name;
  bool defined; /* given; otherwise wanted */
  bool weak;    /* weak or unique, as C++ makes of inline functions and type information */
} scl_symbol;

typedef void (*scl_symbol_visit)(void *context, const scl_symbol *symbol);

/* Visit the global symbols of a file that scl_elf_check has found sound. One without a section of
 * them gives none. */
scl_status scl_symbols_each(const char *path, scl_symbol_visit visit, void *context,
                            scl_error *error);

/* The object that gives a symbol to plugins in this process, by its path; NULL: none does yet. */
const char *scl_symbol_giver(const char *name);

#endif

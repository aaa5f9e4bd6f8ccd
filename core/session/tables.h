/* The arrays of another program as Lua values that borrow them (scullery/fit.h). */
#ifndef SCULLERY_SESSION_TABLES_H
#define SCULLERY_SESSION_TABLES_H

#include "lua/glue.h"
#include <scullery/fit.h>

/* The fields of a data set, a table on the stack. Raises for shapes and sparse rows that do not fit.
 * targets may be NULL. */
void scl_push_rows(lua_State *L, const scl_table *table, const scl_targets *targets);

/* The numbers of the matrix on top of the stack, which is popped, as the caller's own: without a copy
 * if nothing else uses them. Raises where there is no memory. */
void *scl_take_numbers(lua_State *L, size_t *rows, size_t *columns, scl_dtype *dtype);

#endif

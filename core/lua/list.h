/* Lists and tables from Lua. A table is copied by raw access into a plain table before its length
 * or fields are used. So no metamethod runs, and later changes of the script's own table have no
 * effect. */
#ifndef SCULLERY_LUA_LIST_H
#define SCULLERY_LUA_LIST_H

#include "lua/glue.h"

/* The table at `place` (positive) becomes a plain copy of itself: its fields as they are now.
 * `what` names it in sentences; anything else than a table is refused. */
void scl_lua_copy_table(lua_State *L, int place, const char *what);
/* The length of the list at `place`, counted. Refused: other values, a list with a gap, a table
 * whose metatable answers for it. It is valid until Lua runs or allocates. */
size_t scl_lua_list_length(lua_State *L, int place, const char *what);
/* The list at `place` becomes a plain copy of itself; returns its length. Refused
 * beside: more than `most` elements. */
size_t scl_lua_copy_list(lua_State *L, int place, size_t most, const char *what);

/* The elements of such a copy. */
double scl_lua_list_number(lua_State *L, int place, size_t i, const char *what);
size_t scl_lua_list_size(lua_State *L, int place, size_t i, size_t low, size_t high,
                         const char *what);
/* Numbers at `place`, copied to a userdata left on the stack. */
double *scl_lua_list_numbers(lua_State *L, int place, size_t count, const char *what);
/* Whole numbers from low to high, less low, copied to a userdata left on the stack. */
size_t *scl_lua_list_places(lua_State *L, int place, size_t count, size_t low, size_t high,
                            const char *what);
/* A table within another: element i (from 0) pushed as a plain copy. */
void scl_lua_push_table(lua_State *L, int place, size_t i, const char *what);

/* The most elements that a list may have where nothing else limits it. */
enum { SCL_LUA_MOST = INT32_MAX };

#endif

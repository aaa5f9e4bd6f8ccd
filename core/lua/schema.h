/* Schemas of files as Lua tables:
 *
 *   { format = "csv", separator = ",", header = true, missing = { "?", ... },
 *     missing_values = "median" | "error" | "row", categorical = "onehot" | "drop",
 *     columns = { { name =, kind = "number" | "category" | "date" | "skipped", levels = { ... },
 *                   fill =, missing =, loose =, order = "day" | "month" or nil }, ... },
 *     target = { name =, kind = "number" | "category", place =, task = } or nil, cols = }
 *
 * columns: in the file's order, without the target. levels: of a category, in the order of its
 * columns of X; where `missing` of it is not 0, one more column follows for missing fields. fill:
 * what a missing number becomes (nil: it is refused). missing: missing fields in training. loose:
 * "$5" and "5%" are numbers. place: of the target in the file, from 1. cols: columns of X. */
#ifndef SCULLERY_LUA_SCHEMA_H
#define SCULLERY_LUA_SCHEMA_H

#include "data/schema.h"
#include "lua/glue.h"

void scl_lua_push_schema(lua_State *L, const scl_schema *schema);
/* The table at `place` as a schema, in a userdata left on the stack; raises for anything else. */
const scl_schema *scl_lua_check_schema(lua_State *L, int place, const char *title);
/* A list of { what = "extra" | "unknown" | "filled" | "large", column =, count =, example =,
 * value = }. */
void scl_lua_push_notes(lua_State *L, const scl_note *notes, size_t count);

#endif

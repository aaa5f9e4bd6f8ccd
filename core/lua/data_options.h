/* Paths and options of the readers, checked with sentences that begin with a title ("data.csv"). */
#ifndef SCULLERY_DATA_OPTIONS_H
#define SCULLERY_DATA_OPTIONS_H

#include "data/options.h"
#include "lua/options.h"

/* The text or list of texts at `place` as a NULL-terminated array, in a userdata that is left on
 * the stack and keeps the texts. */
const char *const *scl_lua_check_texts(lua_State *L, int place, const char *title, const char *what,
                                       size_t *count);

/* Raise the error of a failed call, with the title of the function that the user called (NULL:
 * nothing) in front. */
void scl_lua_check_titled(lua_State *L, const char *title, scl_status status, scl_error *error);

/* Options of read_csv and stream_csv: csv_rows in data/options.c. The lists are in
 * userdata left on the stack; *kept (may be NULL) gets the place of a value that keeps those of
 * `missing` and `like`, 0 where neither was given. */
scl_csv_options scl_lua_check_csv_options(lua_State *L, int place, const char *title, int *kept);

scl_libsvm_options scl_lua_check_libsvm_options(lua_State *L, int place, const char *title);

scl_matrix_market_options scl_lua_check_matrix_market_options(lua_State *L, int place,
                                                              const char *title);

scl_idx_options scl_lua_check_idx_options(lua_State *L, int place, const char *title);

#endif

/* Options from Lua: values in the forms of scl_option, checked by the one validator
 * (plugin/options.h), for plugins, for functions of the Lua library and for readers of files. */
#ifndef SCULLERY_LUA_OPTIONS_H
#define SCULLERY_LUA_OPTIONS_H

#include "lua/glue.h"
#include "plugin/options.h"

/* The table at `place` (nil or none: no options) checked against rows; raises. The caller ends the
 * settings. Opaque values are the caller's to judge. */
scl_settings scl_lua_check_settings(lua_State *L, int place, const char *title,
                                    const scl_option *options, size_t n_options);

/* A table on the stack: the value of each option by its name; of components how many there are. */
void scl_lua_push_settings(lua_State *L, const scl_settings *settings);
/* {name =, takes =, default =, help =, role =, width =, words =} on the stack. */
void scl_lua_push_option(lua_State *L, const scl_option *option);

#endif

/* The command: what its files share. */
#ifndef SCULLERY_COMMAND_H
#define SCULLERY_COMMAND_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

/* Call the function under `arguments` values with a traceback handler; 0 or an error code with the
 * message on the stack. While it runs, Ctrl-C raises "interrupted!", which pcall catches; a second
 * one within a second, when nothing has reacted, ends the process. */
int scl_protected_call(lua_State *L, int arguments, int results);
/* Print `before` and the message on top of the stack to stderr, and pop it. */
void scl_report(lua_State *L, const char *before);
/* Make sc and help globals that load when first named. */
void scl_offer_globals(lua_State *L);
/* The prompt, until the end of input. Returns the exit status. */
int scl_prompt(lua_State *L);

#endif

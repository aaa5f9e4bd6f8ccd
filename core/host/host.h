/* The command: what its files share. */
#ifndef SCULLERY_COMMAND_H
#define SCULLERY_COMMAND_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdbool.h>

/* Call the function under `arguments` values with a traceback handler; 0 or an error code with the
 * message on the stack. Ctrl-C works as in scl_interruptible_call. */
int scl_protected_call(lua_State *L, int arguments, int results);
/* lua_pcall, while which Ctrl-C raises "interrupted!" in the coroutine that runs; pcall catches it.
 * A second one within two seconds, or when nothing has reacted, ends a script by the signal (status
 * 130 in a shell). At the prompt it goes on raising until the call has ended, and ends the process
 * only where nothing reacts in two seconds. */
int scl_interruptible_call(lua_State *L, int arguments, int results, int handler);
/* From now on calls are those of the prompt. */
void scl_interrupt_in_session(void);
/* Replace coroutine.resume, wrap and close by functions that tell Ctrl-C which coroutine runs. */
void scl_watch_coroutines(lua_State *L);
/* Print `before` and the message on top of the stack to stderr, and pop it. */
void scl_report(lua_State *L, const char *before);
/* Make sc and help globals that load when first named. */
void scl_offer_globals(lua_State *L);
/* Whether scl_report writes in red. */
void scl_report_in_colour(bool colour);
/* The prompt, until the end of input; fresh: nothing was run before it. Returns the exit status. */
int scl_prompt(lua_State *L, bool fresh);
/* `scullery notebook serve IN OUT`, until IN ends. Returns the exit status. */
int scl_notebook(lua_State *L, int argc, char **argv);

#endif

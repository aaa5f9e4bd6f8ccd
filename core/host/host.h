/* Functions that the files of the command share. */
#ifndef SCULLERY_COMMAND_H
#define SCULLERY_COMMAND_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdbool.h>

/* lua_pcall with a handler that adds a traceback: LUA_OK, or an error code with the message on the
 * stack. Ctrl-C as in scl_interruptible_call. */
int scl_protected_call(lua_State *L, int arguments, int results);
/* lua_pcall during which Ctrl-C raises the error "interrupted!" in the running coroutine; a pcall
 * of the script may catch it. A second Ctrl-C within two seconds, or before the first has had an
 * effect, ends a script by the signal (status 130 in a shell). At the prompt it raises again and
 * again until the call has ended, and ends the process only where nothing reacts for two
 * seconds. */
int scl_interruptible_call(lua_State *L, int arguments, int results, int handler);
/* Select the behaviour of the prompt for the following calls. */
void scl_interrupt_in_session(void);
/* Replace coroutine.resume, wrap and close by functions that record the running coroutine for
 * Ctrl-C. */
void scl_watch_coroutines(lua_State *L);
/* Print `before` and the message on top of the stack to standard error, and pop the message. */
void scl_report(lua_State *L, const char *before);
/* Define the globals sc and help, which load their modules at first use. */
void scl_offer_globals(lua_State *L);
/* Whether scl_report writes in red. */
void scl_report_in_colour(bool colour);
/* Run the prompt until the end of input. fresh: no code was run before. Returns the exit status. */
int scl_prompt(lua_State *L, bool fresh);
/* What the command line says about processes; NULL: nothing. */
typedef struct scl_process_options {
  const char *processes, *transport;
} scl_process_options;
/* Take --processes N and --transport TEXT from the beginning of the arguments. Returns how many
 * words they are, or -1 after a message. */
int scl_read_process_options(int argc, char **argv, scl_process_options *out);
/* Join other processes, if the options or a launcher ask for it: before any thread is started.
 * Returns the exit status of a failure. */
int scl_join_processes(const scl_process_options *options);
/* Make what scripts see equal in all processes: base/processes.lua. False after a message. */
bool scl_install_processes(lua_State *L);
/* Whether standard input is a terminal, that of process 0. */
bool scl_input_is_terminal(lua_State *L);
/* luaL_loadfile of standard input, which process 0 reads for all. */
int scl_load_input(lua_State *L);
/* Leave them at the end, with the exit status of this process. Returns the exit status. */
int scl_leave_processes(int status);
/* Keep the first line of a message for the other processes. */
void scl_note_failure(const char *text);
/* Run `scullery notebook serve IN OUT` until the end of IN. Returns the exit status. */
int scl_notebook(lua_State *L, int argc, char **argv);
/* End with the process that started this one, also in the middle of a fit. */
void scl_follow_notebook(void);

#endif

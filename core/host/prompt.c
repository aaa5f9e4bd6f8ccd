/* The prompt: statements are typed (editor.c), and run and shown by
 * lua/scullery/prompt/session.lua. */
#define _GNU_SOURCE
#include "host/host.h"

#include "base/interrupt.h"
#include "host/editor.h"
#include "lua/glue.h"
#include "processes/processes.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Places on the stack, while the prompt runs. */
enum { SESSION = 1, EDITING = 2, BASE = 2 };

/* Push require "scullery.prompt.session".at_prompt(fresh) at SESSION, and the table of functions
 * for the editor at EDITING. */
static bool open_session(lua_State *L, bool fresh) {
  static const char code[] = "local fresh = ...\n"
                             "local session = require('scullery.prompt.session').at_prompt(fresh)\n"
                             "return session, session:editing()\n";
  if (luaL_loadbufferx(L, code, sizeof code - 1, "=prompt", "t") != LUA_OK) return false;
  lua_pushboolean(L, fresh);
  return scl_protected_call(L, 1, 2) == LUA_OK;
}

/* The handler of SIGINT between statements: the editor sees the flag and drops the line. */
static void on_interrupt(int number) {
  (void)number;
  scl_interrupt();
}

/* Whether the first line of a message ends with the sentence of Ctrl-C. */
static bool is_interrupt(const char *message) {
  static const char sentence[] = "interrupted!";
  const size_t length = message == NULL ? 0 : strcspn(message, "\n");
  return length >= sizeof sentence - 1 &&
         strncmp(message + length - (sizeof sentence - 1), sentence, sizeof sentence - 1) == 0;
}

/* Call session:enter(text) with the text on top of the stack, and report its error or its message.
 * Returns whether the session has ended. */
static bool run_statement(lua_State *L) {
  lua_getfield(L, SESSION, "enter");
  lua_insert(L, -2);
  lua_pushvalue(L, SESSION);
  lua_insert(L, -2);
  bool ended = false;
  if (scl_protected_call(L, 2, 2) != LUA_OK) {
    if (is_interrupt(lua_tostring(L, -1))) { /* its place is in session.lua, not in user code */
      lua_pop(L, 1);
      lua_pushliteral(L, "interrupted!");
    }
    scl_report(L, "");
  } else {
    ended = lua_toboolean(L, -2);
    if (lua_isstring(L, -1)) scl_report(L, "");
  }
  (void)fflush(stdout);
  return ended;
}

/* The next statement, on top of the stack: process 0 reads it for all. */
static scl_typed read_statement(lua_State *L) {
  if (scl_processes_count() == 1) return scl_editor_read();
  const bool first = scl_processes_rank() == 0;
  const int base = lua_gettop(L);
  const scl_typed typed = first ? scl_editor_read() : SCL_TYPED_END;
  const char *text = first && typed == SCL_TYPED ? lua_tostring(L, -1) : "";
  lua_pushfstring(L, "%d%s", (int)typed, text);
  scl_lua_share_text(L, "a statement of the prompt");
  const char *shared = lua_tostring(L, -1);
  lua_pushstring(L, shared + 1);
  lua_replace(L, base + 1);
  const scl_typed result = (scl_typed)(*shared - '0');
  lua_settop(L, base + 1);
  return result;
}

/* The session stays on the stack at SESSION; each statement is run above it, and the rest is
 * dropped. */
int scl_prompt(lua_State *L, bool fresh) {
  lua_settop(L, 0);
  scl_interrupt_in_session();
  if (!open_session(L, fresh)) {
    scl_report(L, "scullery: ");
    return EXIT_FAILURE;
  }
  lua_getfield(L, EDITING, "colour"); /* whether colours belong on the terminal */
  const bool colour = lua_toboolean(L, -1);
  lua_pop(L, 1);
  scl_editor_open(L, EDITING, colour);
  scl_report_in_colour(colour && isatty(STDERR_FILENO));
  struct sigaction action = {0}; /* no SA_RESTART: Ctrl-C ends a read */
  action.sa_handler = scl_editor_at_terminal() ? on_interrupt : SIG_DFL;
  (void)sigaction(SIGINT, &action, NULL);
  if (scl_editor_at_terminal())
    (void)printf("Scullery %s. help() explains, :help lists commands, Ctrl-D ends.\n",
                 SCULLERY_VERSION);
  bool ended = false;
  for (scl_typed typed; !ended && (typed = read_statement(L)) != SCL_TYPED_END; lua_settop(L, BASE))
    ended = typed == SCL_TYPED && run_statement(L);
  if (!ended && scl_editor_at_terminal()) (void)fputc('\n', stdout);
  scl_editor_close();
  return EXIT_SUCCESS;
}

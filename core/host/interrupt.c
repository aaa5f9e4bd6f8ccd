/* Ctrl-C in the command: the engine's flag, and a hook that stops Lua where it runs, in the main
 * thread of Lua or in a coroutine. */
#define _GNU_SOURCE
#include "host/host.h"

#include "base/interrupt.h"
#include "base/unfinished.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

/* The Lua state that runs now: of the coroutines that resumed each other, the last. */
static lua_State *volatile running;
static pthread_t caller; /* the thread that runs Lua */
static bool in_session;
/* Touched by the handler, which runs in one thread, and by that thread. */
static volatile sig_atomic_t pending;    /* a press that no hook has raised yet */
static volatile sig_atomic_t relentless; /* raise at every instruction until the call ends */
static struct timespec last_press;       /* monotonic; 0: none during this call */

/* The hook: raise the error of Ctrl-C in the function that runs. Once relentless, every instruction
 * raises until the call from the command has ended, so that a loop that catches errors ends too. */
static void stop_here(lua_State *L, lua_Debug *where) {
  (void)where;
  if (!relentless) lua_sethook(L, NULL, 0, 0);
  const bool wanted = relentless || (pending && scl_interrupted());
  pending = 0;
  if (!wanted) return; /* the engine has seen the press already, and reports it by its own error */
  scl_interrupt_clear();
  luaL_error(L, "interrupted!");
}

/* Set the hook, which runs at the next instruction. Also called in the signal handler: lua_sethook
 * is the only function of Lua that is safe there. */
static void set_hook(lua_State *L) { lua_sethook(L, stop_here, LUA_MASKCOUNT, 1); }

/* The handler of SIGINT. A first press sets the engine's flag and the hook, which raises the error
 * in Lua. A press ends the process where the one before has had no effect; in a script also where
 * it follows the one before within two seconds. At the prompt such a press makes the hook raise
 * until the call has ended. Only functions that are safe in a signal handler are called. */
static void on_interrupt(int number) {
  enum { TOGETHER = 2 };                        /* seconds: presses that belong together */
  if (!pthread_equal(pthread_self(), caller)) { /* Lua's state belongs to the thread that runs it */
    (void)pthread_kill(caller, number);
    return;
  }
  struct timespec now = {0};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  const double since =
      (double)(now.tv_sec - last_press.tv_sec) + 1e-9 * (double)(now.tv_nsec - last_press.tv_nsec);
  if (since < 0.02) return; /* timeout(1) signals the process and its group: one press */
  const bool again = since < TOGETHER, deaf = pending && scl_interrupted();
  if (in_session ? deaf && !again : deaf || again) {
    scl_unfinished_remove();
    (void)signal(number, SIG_DFL);
    (void)raise(number); /* the shell sees that the signal ended the process */
    return;
  }
  relentless = relentless || again;
  if (!again) last_press = now;
  pending = 1;
  scl_interrupt();
  set_hook(running);
}

/* The handler is set only during the call: outside of it, Ctrl-C keeps the handler that the command
 * set. Calls may be nested, so the running state is restored. */
int scl_interruptible_call(lua_State *L, int arguments, int results, int handler) {
  lua_State *const outer = running;
  struct sigaction action = {0}, before; /* no SA_RESTART: a read that waits must end too */
  running = L;
  caller = pthread_self();
  last_press = (struct timespec){0};
  pending = relentless = 0;
  action.sa_handler = on_interrupt;
  (void)sigemptyset(&action.sa_mask);
  scl_interrupt_clear();
  (void)sigaction(SIGINT, &action, &before);
  const int status = lua_pcall(L, arguments, results, handler);
  (void)sigaction(SIGINT, &before, NULL);
  lua_sethook(L, NULL, 0, 0);
  scl_interrupt_clear();
  running = outer;
  return status;
}

void scl_interrupt_in_session(void) { in_session = true; }

/* ------------ coroutines */

/* lua_resume. A press that no hook has raised yet is passed on: the hook is set in the state that
 * runs next. */
static int resume_with_hook(lua_State *L, lua_State *co, int arguments, int *results) {
  running = co;
  if (relentless || pending) set_hook(co);
  const int status = lua_resume(co, L, arguments, results);
  running = L;
  if (relentless || pending) set_hook(L);
  lua_sethook(co, NULL, 0, 0);
  return status;
}

/* Move `arguments` values from L to the coroutine and run it. Returns the number of values that it
 * gave, on top of L, or -1 with the error on top of L. */
static int run_coroutine(lua_State *L, lua_State *co, int arguments) {
  int results;
  if (!lua_checkstack(co, arguments)) {
    lua_pushliteral(L, "too many arguments to resume");
    return -1;
  }
  lua_xmove(L, co, arguments);
  const int status = resume_with_hook(L, co, arguments, &results);
  if (status != LUA_OK && status != LUA_YIELD) {
    lua_xmove(co, L, 1);
    return -1;
  }
  if (!lua_checkstack(L, results + 1)) {
    lua_pop(co, results);
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  lua_xmove(co, L, results);
  return results;
}

/* coroutine.resume */
static int coroutine_resume(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  luaL_argexpected(L, co != NULL, 1, "coroutine");
  const int results = run_coroutine(L, co, lua_gettop(L) - 1);
  lua_pushboolean(L, results >= 0);
  lua_insert(L, results >= 0 ? -(results + 1) : -2);
  return results >= 0 ? results + 1 : 2;
}

/* Close a coroutine. lua_resetthread calls __close of its pending variables, so that Ctrl-C must
 * reach the coroutine meanwhile. Returns the status; an error is on top of the coroutine's
 * stack. */
static int close_coroutine(lua_State *L, lua_State *co) {
  running = co;
  if (relentless || pending) set_hook(co);
  const int status = lua_resetthread(co);
  running = L;
  if (relentless || pending) set_hook(L);
  return status;
}

/* A call of the function that coroutine.wrap returned. An error closes the coroutine and is raised
 * again, with the place before it if it is a text. */
static int call_wrapped(lua_State *L) {
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  const int results = run_coroutine(L, co, lua_gettop(L));
  if (results >= 0) return results;
  const int status = lua_status(co);
  if (status != LUA_OK && status != LUA_YIELD) {
    (void)close_coroutine(L, co);
    lua_xmove(co, L, 1);
  }
  if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

/* coroutine.wrap */
static int coroutine_wrap(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_State *co = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  lua_pushcclosure(L, call_wrapped, 1);
  return 1;
}

/* coroutine.close. A suspended coroutine is closed here, so that Ctrl-C reaches its __close
 * functions; for all others Lua's own function (upvalue 1) is called, which also checks the
 * argument. */
static int coroutine_close(lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  if (co == NULL || lua_status(co) != LUA_YIELD) {
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, LUA_MULTRET);
    return lua_gettop(L);
  }
  const bool ok = close_coroutine(L, co) == LUA_OK;
  lua_pushboolean(L, ok);
  if (ok) return 1;
  lua_xmove(co, L, 1);
  return 2;
}

/* A hook must be set in the coroutine that runs, and Lua has no function that returns it: so the
 * functions that change it are replaced. */
void scl_watch_coroutines(lua_State *L) {
  lua_getglobal(L, "coroutine");
  lua_pushcfunction(L, coroutine_resume);
  lua_setfield(L, -2, "resume");
  lua_pushcfunction(L, coroutine_wrap);
  lua_setfield(L, -2, "wrap");
  lua_getfield(L, -1, "close");
  lua_pushcclosure(L, coroutine_close, 1);
  lua_setfield(L, -2, "close");
  lua_pop(L, 1);
}

/* scullery.core: Lua functions in a process of their own, for code that may end the process. */
#define _GNU_SOURCE
#include "base/interrupt.h"
#include "lua/call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLICE = 50, CHUNK = 4096 }; /* milliseconds between looks at Ctrl-C; bytes read at once */

typedef struct child {
  pid_t process; /* 0: it has ended */
  int answer;    /* the end of the pipe that it writes to; -1: none */
} child;

static void shut(int *descriptor) {
  if (*descriptor >= 0) (void)close(*descriptor);
  *descriptor = -1;
}

static int end_child(lua_State *L) {
  child *c = lua_touserdata(L, 1);
  if (c->process > 0) {
    (void)kill(c->process, SIGKILL);
    (void)waitpid(c->process, NULL, 0);
    c->process = 0;
    shut(&c->answer);
  }
  return 0;
}

static bool write_all(int to, const char *bytes, size_t size) {
  while (size > 0) {
    const ssize_t written = write(to, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= (size_t)written;
  }
  return true;
}

/* One character, + for a result and - for an error, then its text. */
static _Noreturn void answer_from_child(lua_State *L, int to) {
  size_t size = 0;
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
    (void)dup2(nowhere, file);
  const bool works = lua_pcall(L, 0, 1, 0) == LUA_OK;
  const char *text = luaL_tolstring(L, -1, &size);
  const bool written = write_all(to, works ? "+" : "-", 1) && write_all(to, text, size);
  _exit(written ? 0 : 1);
}

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Read to the end of what it writes; false where that takes too long, or Ctrl-C was pressed. */
static bool listen_to(const child *c, double seconds, luaL_Buffer *text) {
  const double until = now() + seconds;
  while (!scl_interrupted() && now() < until) {
    struct pollfd wait = {.fd = c->answer, .events = POLLIN};
    if (poll(&wait, 1, SLICE) <= 0) continue;
    const ssize_t got = read(c->answer, luaL_prepbuffsize(text, CHUNK), CHUNK);
    if (got == 0) return true;
    if (got > 0) luaL_addsize(text, (size_t)got);
  }
  return false;
}

static int say_end(lua_State *L, int status) {
  lua_pushnil(L);
  if (WIFSIGNALED(status))
    lua_pushfstring(L, "ends the process: %s (signal %d)", strsignal(WTERMSIG(status)),
                    WTERMSIG(status));
  else
    lua_pushfstring(L, "ends the process: exit(%d)", WEXITSTATUS(status));
  lua_pushliteral(L, "ended");
  return 3;
}

/* core.in_child(seconds, f) -> the text that f() returns, called in a process of its own, whose
 * output goes nowhere. Otherwise nil, what happened, and how: "error" with f's message, "ended" with
 * "ends the process: ...", or "hangs". */
static int in_child(lua_State *L) {
  const size_t seconds = scl_lua_check_size(L, 1, 1, 86400, "seconds");
  int ends[2], status = 0;
  luaL_Buffer text;
  luaL_checktype(L, 2, LUA_TFUNCTION);
  child *c = scl_lua_new_guarded(L, sizeof *c, end_child);
  luaL_buffinit(L, &text);
  if (pipe2(ends, O_CLOEXEC) != 0) return luaL_error(L, "no pipe: %s", strerror(errno));
  const pid_t process = fork();
  if (process == 0) {
    lua_settop(L, 2);
    answer_from_child(L, ends[1]);
  }
  (void)close(ends[1]);
  if (process < 0) {
    (void)close(ends[0]);
    return luaL_error(L, "no process can be started: %s", strerror(errno));
  }
  *c = (child){process, ends[0]};
  const bool ended = listen_to(c, (double)seconds, &text);
  luaL_pushresult(&text);
  if (!ended) (void)kill(c->process, SIGKILL);
  (void)waitpid(c->process, &status, 0);
  c->process = 0;
  shut(&c->answer);
  scl_lua_check_interrupt(L);
  if (!ended) {
    lua_pushnil(L);
    lua_pushfstring(L, "did not end in %d s", (int)seconds);
    lua_pushliteral(L, "hangs");
    return 3;
  }
  size_t size;
  const char *answer = lua_tolstring(L, -1, &size);
  if (status != 0 || size == 0) return say_end(L, status);
  if (answer[0] == '+') {
    lua_pushlstring(L, answer + 1, size - 1);
    return 1;
  }
  lua_pushnil(L);
  lua_pushlstring(L, answer + 1, size - 1);
  lua_pushliteral(L, "error");
  return 3;
}

/* core.process() -> the number of this process */
static int process_number(lua_State *L) {
  lua_pushinteger(L, getpid());
  return 1;
}

void scl_lua_open_child(lua_State *L) {
  SCL_LUA_CALLS(L, {"in_child", in_child, 2}, {"process", process_number, 0});
}

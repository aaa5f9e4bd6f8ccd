/* scullery.checker: the process that tries a plugin: its report, the surroundings that a plugin
 * must leave as they are, memory in use, and the host's functions that are made to fail. */
#define _GNU_SOURCE
#include "base/process.h"
#include "base/interrupt.h"
#include "checker/checker.h"
#include "lua/handle.h"
#include "plugin/call.h"
#include "plugin/crash.h"
#include "plugin/host.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------ the watched command */

static int report_file = -1;

/* Whether it is a pipe without a reader. */
static bool nobody_reads(int file) {
  struct pollfd pipe = {.fd = file};
  return poll(&pipe, 1, 0) > 0 && (pipe.revents & POLLERR) != 0;
}

/* checker.report_begin(seconds): this process gives a report, whatever happens to its standard
 * output; it ends after so many seconds, and with the one that watches it */
static int report_begin(lua_State *L) {
  enum { HUGE_BYTE = 0x80 }; /* new memory is 0x7f7f..: huge numbers, which nobody takes for 0 */
  (void)mallopt(M_PERTURB, HUGE_BYTE);
  const double seconds = luaL_checknumber(L, 1);
  report_file = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (nobody_reads(STDOUT_FILENO)) _exit(EXIT_FAILURE); /* it ended before it could be watched */
  scl_crash_limit(seconds);
  return 0;
}

/* checker.report(text): write after everything printed so far */
static int report(lua_State *L) {
  size_t size;
  const char *text = luaL_checklstring(L, 1, &size);
  (void)fflush(NULL);
  for (size_t at = 0; at < size;) {
    const ssize_t written = write(report_file, text + at, size - at);
    if (written < 0) return luaL_error(L, "no report can be given: %s", strerror(errno));
    at += (size_t)written;
  }
  return 0;
}

/* ------------ copies of this process */

/* The number of entries of a folder, "." and ".." included; 0 if it cannot be read. Only
 * differences of it are compared. */
static size_t entries(const char *folder) {
  size_t count = 0;
  DIR *open = opendir(folder);
  while (open != NULL && readdir(open) != NULL)
    count++;
  if (open != NULL) (void)closedir(open);
  return count;
}

static int release_output(lua_State *L) {
  scl_process_output *out = lua_touserdata(L, 1);
  scl_release(out->bytes);
  out->bytes = NULL;
  return 0;
}

#if defined(__SANITIZE_ADDRESS__) /* it asks at the end what was not given back */
enum { KEEPS = 0 };
#else
enum { KEEPS = 1 };
#endif
static lua_Alloc allocate;

/* As Lua asks for memory, but none is given back. */
static void *keep(void *context, void *old, size_t old_size, size_t size) {
  return size == 0 ? NULL : allocate(context, old, old_size, size);
}

/* checker.leave(): ends this copy, and destroys what it holds, but without writing to the pages that
 * it has in common with the process that it was copied from, which takes long */
static int leave(lua_State *L) {
  void *context;
  allocate = lua_getallocf(L, &context);
  if (KEEPS) lua_setallocf(L, keep, context);
  lua_getfield(L, LUA_REGISTRYINDEX, "_CLIBS"); /* libraries, as this one, are not closed */
  lua_pushnil(L);
  (void)lua_setmetatable(L, -2);
  lua_close(L);
  exit(EXIT_SUCCESS);
}

/* Calls the function on the stack, which ends the process; its standard output is the pipe. */
static int call_in_copy(void *context, int to) {
  lua_State *L = context;
  (void)dup2(to, STDOUT_FILENO);
  (void)lua_pcall(L, 0, 0, 0);
  (void)fprintf(stderr, "scullery: %s\n", luaL_tolstring(L, -1, NULL));
  exit(EXIT_FAILURE);
}

/* checker.run_copy(f, seconds) -> what core.run_program gives, of a copy of this process that calls
 * f(), which ends it: without the time that a program takes to start. nil where this process has
 * more than one thread: the copy would lack the others. */
static int run_copy(lua_State *L) {
  enum { MOST_OUTPUT = 1 << 24, ONE_THREAD = 3 }; /* ".", ".." and the thread */
  luaL_checktype(L, 1, LUA_TFUNCTION);
  const double seconds = luaL_checknumber(L, 2);
  if (entries("/proc/self/task") != ONE_THREAD) return 0;
  scl_process_output *out = scl_lua_new_guarded(L, sizeof *out, release_output);
  lua_pushvalue(L, 1);
  (void)fflush(NULL);
  SCL_LUA_TRY(L, scl_process_fork(call_in_copy, L, seconds, MOST_OUTPUT, out, &error));
  lua_newtable(L);
  lua_pushlstring(L, out->bytes == NULL ? "" : out->bytes, out->size);
  lua_setfield(L, -2, "output");
  scl_lua_set_text(L, "message", out->message);
  scl_lua_set_integer(L, "status", (size_t)out->status);
  scl_lua_set_boolean(L, "late", out->late);
  if (out->signal == 0 || out->late) return 1;
  scl_lua_set_integer(L, "signal", (size_t)out->signal);
  scl_lua_set_text(L, "signal_name", strsignal(out->signal));
  return 1;
}

/* ------------ surroundings */

/* The handler of every classical signal (1 to 31), as one text: "number:address" each. */
static void set_signals(lua_State *L) {
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  for (int i = 1; i < 32; i++) {
    struct sigaction action;
    char one[40];
    if (sigaction(i, NULL, &action) != 0) continue;
    (void)snprintf(one, sizeof one, "%d:%p ", i, *(void **)(void *)&action.sa_handler);
    luaL_addstring(&text, one);
  }
  luaL_pushresult(&text);
  lua_setfield(L, -2, "signal handlers");
}

/* Which file a standard stream is, by its inode: a plugin that redirects or closes it is
 * detected. */
static void set_stream(lua_State *L, int file, const char *name) {
  struct stat about;
  if (fstat(file, &about) != 0)
    lua_pushstring(L, "closed");
  else
    lua_pushfstring(L, "file %I", (lua_Integer)about.st_ino);
  lua_setfield(L, -2, name);
}

/* Whether this process has a child that is running, or has ended and was not waited for. WNOWAIT
 * leaves it as it is; without children waitid fails. */
static bool has_children(void) {
  siginfo_t about;
  return waitid(P_ALL, 0, &about, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) == 0;
}

#define HASH_START 14695981039346656037U /* FNV-1a */
#define HASH_PRIME 1099511628211U

static uint64_t hash_of(uint64_t hash, const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ ((const unsigned char *)bytes)[i]) * HASH_PRIME;
  return hash;
}

/* The number of variables, and a hash that changes with each of them. */
static void set_environment(lua_State *L) {
  uint64_t hash = HASH_START;
  lua_Integer count = 0;
  for (; environ != NULL && environ[count] != NULL; count++)
    hash = hash_of(hash, environ[count], strlen(environ[count]) + 1);
  lua_pushfstring(L, "of %I variables, hash %p", count, (void *)(uintptr_t)hash);
  lua_setfield(L, -2, "environment");
}

/* A hash of the state of rand() and random(), without advancing them: setstate returns the state
 * in use, with the current position written to it. One number is drawn at the start, so that
 * srand() with any seed is detected. */
static void set_random_state(lua_State *L) {
  enum { DEFAULT_STATE = 128 }; /* bytes, of glibc: 31 numbers and the place among them */
  static char other[DEFAULT_STATE];
  static bool is_ready;
  if (!is_ready) (void)rand();
  char *mine = is_ready ? setstate(other) : initstate(1, other, sizeof other);
  is_ready = true;
  const uint64_t hash = mine == NULL ? 0 : hash_of(HASH_START, mine, DEFAULT_STATE);
  if (mine != NULL) (void)setstate(mine);
  lua_pushfstring(L, "hash %p", (void *)(uintptr_t)hash);
  lua_setfield(L, -2, "state of rand()");
}

/* Bytes that this process has written, to any file; "unknown" where the system does not report
 * them. */
static void set_written(lua_State *L) {
  unsigned long long written = 0;
  char line[80];
  bool found = false;
  FILE *file = fopen("/proc/self/io", "re");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    found = sscanf(line, "wchar: %llu", &written) == 1 || found;
  if (file != NULL) (void)fclose(file);
  if (found)
    lua_pushfstring(L, "%I", (lua_Integer)written);
  else
    lua_pushliteral(L, "unknown");
  lua_setfield(L, -2, "number of bytes written");
}

/* checker.surroundings() -> name -> text: the rounding mode, the locale, the current folder, signal
 * handlers, the mask of new files, the standard streams, threads, child processes, open files, the
 * environment, the state of rand(), bytes written */
static int surroundings(lua_State *L) {
  char folder[PATH_MAX];
  lua_newtable(L);
  lua_pushfstring(L, "%d", (int)scl_float_mode());
  lua_setfield(L, -2, "floating-point mode");
  const char *locale = setlocale(LC_ALL, NULL);
  scl_lua_set_text(L, "locale", locale ? locale : "?");
  scl_lua_set_text(L, "current folder", getcwd(folder, sizeof folder) ? folder : "?");
  const mode_t mask = umask(077);
  (void)umask(mask);
  set_stream(L, STDOUT_FILENO, "standard output");
  set_stream(L, STDERR_FILENO, "standard error");
  lua_pushfstring(L, "%d", (int)mask);
  lua_setfield(L, -2, "mask of new files");
  lua_pushfstring(L, "%I", (lua_Integer)entries("/proc/self/task"));
  lua_setfield(L, -2, "number of threads");
  lua_pushfstring(L, "%I", (lua_Integer)entries("/proc/self/fd"));
  lua_setfield(L, -2, "number of open files");
  scl_lua_set_text(L, "list of child processes", has_children() ? "not empty" : "empty");
  set_signals(L);
  set_environment(L);
  set_random_state(L);
  set_written(L);
  return 1;
}

/* ------------ lives */

/* Bytes that malloc has given out: from its arenas, and by mappings of their own for large
 * pieces. */
static size_t in_use(void) {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/* Create an instance with the settings of `model`, and release it. */
static scl_status live(const scl_instance *model, scl_error *error) {
  scl_settings settings;
  scl_instance *made = NULL;
  SCL_TRY(scl_settings_copy(&model->settings, &settings, error));
  SCL_TRY(scl_instance_create(model->component, &settings, &made, error));
  scl_instance_release(made);
  return SCL_STATUS_OK;
}

/* checker.lives(instance, count): creates and destroys that many such instances, one after the
 * other -> the growth in bytes of the host's allocated memory, and of malloc's */
static int lives(lua_State *L) {
  const scl_instance *model = scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE);
  const size_t count = scl_lua_check_size(L, 2, 1, 1 << 24, "lives");
  scl_error error = {0};
  scl_lua_check(L, live(model, &error), &error); /* allocated once and cached */
  const size_t held = scl_allocated(), used = in_use();
  for (size_t i = 0; i < count; i++)
    scl_lua_check(L, live(model, &error), &error);
  lua_pushinteger(L, (lua_Integer)scl_allocated() - (lua_Integer)held);
  lua_pushinteger(L, (lua_Integer)in_use() - (lua_Integer)used);
  return 2;
}

/* checker.in_use() -> bytes allocated by malloc and not freed */
static int memory_in_use(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)in_use());
  return 1;
}

/* checker.watch_host(instance, "refuse" | "interrupt", at): what the component of the instance asks
 * the host for is counted, and call number `at` refused, or Ctrl-C pressed at it.
 * checker.watch_host() -> the number of calls, which are no longer counted */
static int watch_host(lua_State *L) {
  static const char *const names[] = {"refuse", "interrupt", NULL};
  static const int whats[] = {SCL_HOST_REFUSE, SCL_HOST_INTERRUPT};
  if (lua_isnoneornil(L, 1)) {
    lua_pushinteger(L, (lua_Integer)scl_host_watched());
    scl_host_watch(NULL, 0, -1);
    scl_interrupt_clear();
    return 1;
  }
  const scl_instance *instance = scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE);
  scl_host_watch(instance->component, whats[luaL_checkoption(L, 2, NULL, names)],
                 (long)luaL_checkinteger(L, 3));
  return 0;
}

/* checker.guard_scratch(boolean): whether what plugins take by host->scratch is guarded, and filled */
static int guard_scratch(lua_State *L) {
  scl_call_guard(lua_toboolean(L, 1));
  return 0;
}

SCL_LUA_CALLS(scl_checker_process_calls, {"guard_scratch", guard_scratch, 1},
              {"report_begin", report_begin, 1}, {"report", report, 1}, {"run_copy", run_copy, 2},
              {"leave", leave, 0}, {"surroundings", surroundings, 0}, {"lives", lives, 2},
              {"in_use", memory_in_use, 0}, {"watch_host", watch_host, 3});

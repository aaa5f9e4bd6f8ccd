/* scullery.core: what `scullery plugin check` needs of the system: this command once more, watched
 * until it ends, and the surroundings that a plugin must leave as they are. */
#define _GNU_SOURCE
#include "base/interrupt.h"
#include "base/process.h"
#include "lua/handle.h"
#include "plugin/call.h"
#include "plugin/crash.h"
#include "plugin/host.h"
#include "plugin/symbols.h"
#include <dirent.h>
#include <dlfcn.h>
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

/* ------------------------------------------------------------ the command */

/* The command beside the library: bin/scullery of the installation, or of the build tree. */
static bool command_beside_library(char path[PATH_MAX]) {
  static const char *const places[] = {"/scullery", "/../bin/scullery", "/../../bin/scullery"};
  Dl_info info;
  char folder[PATH_MAX];
  if (dladdr((void *)(uintptr_t)scl_process_watch, &info) == 0 || info.dli_fname == NULL ||
      realpath(info.dli_fname, folder) == NULL)
    return false;
  *strrchr(folder, '/') = '\0';
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (snprintf(path, PATH_MAX, "%s%s", folder, places[i]) < PATH_MAX && access(path, X_OK) == 0)
      return true;
  return false;
}

/* core.command() -> the path of the command `scullery`: this program, or the one beside the
 * library; nil where there is none */
static int command(lua_State *L) {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
  if (size > 0) {
    path[size] = '\0';
    const char *name = strrchr(path, '/');
    if (name != NULL && strcmp(name, "/scullery") == 0) {
      lua_pushstring(L, path);
      return 1;
    }
  }
  if (!command_beside_library(path)) return 0;
  lua_pushstring(L, path);
  return 1;
}

static int give_back(lua_State *L) {
  scl_process_output *out = lua_touserdata(L, 1);
  scl_release(out->bytes);
  out->bytes = NULL;
  return 0;
}

/* core.run_program(words, seconds[, input]) -> { output, message (standard error), status, signal = number and
 * signal_name where one ended it, late = whether it took longer and was killed } of the program
 * words[1] with these arguments; nil where there is none of that name */
static int run_program(lua_State *L) {
  enum { MOST_WORDS = 200, MOST_OUTPUT = 1 << 24 };
  const char *words[MOST_WORDS + 1] = {0};
  luaL_checktype(L, 1, LUA_TTABLE);
  const lua_Integer count = luaL_len(L, 1);
  luaL_argcheck(L, count > 0 && count <= MOST_WORDS, 1, "too many words");
  luaL_checkstack(L, (int)count, NULL);
  for (lua_Integer i = 0; i < count; i++) {
    lua_rawgeti(L, 1, i + 1); /* stays on the stack, and with it the text */
    words[i] = luaL_checkstring(L, -1);
  }
  size_t size;
  const double seconds = luaL_checknumber(L, 2);
  const char *input = luaL_optlstring(L, 3, "", &size);
  scl_error error = {0};
  scl_process_output *out = scl_lua_new_guarded(L, sizeof *out, give_back);
  scl_lua_check(L, scl_process_watch(words, input, size, seconds, MOST_OUTPUT, out, &error),
                &error);
  if (out->absent) return 0;
  lua_newtable(L);
  lua_pushlstring(L, out->bytes ? out->bytes : "", out->size);
  lua_setfield(L, -2, "output");
  scl_lua_set_text(L, "message", out->message);
  scl_lua_set_integer(L, "status", (size_t)out->status);
  scl_lua_set_boolean(L, "late", out->late);
  if (out->signal != 0 && !out->late) {
    scl_lua_set_integer(L, "signal", (size_t)out->signal);
    scl_lua_set_text(L, "signal_name", strsignal(out->signal));
  }
  return 1;
}

/* ------------------------------------------------------------ the watched command */

static int report_file = -1;

/* Whether it is a pipe without a reader. */
static bool nobody_reads(int file) {
  struct pollfd pipe = {.fd = file};
  return poll(&pipe, 1, 0) > 0 && (pipe.revents & POLLERR) != 0;
}

/* core.report_begin(seconds): this process gives a report, whatever happens to its standard output;
 * it ends after so many seconds, and with the one that watches it */
static int report_begin(lua_State *L) {
  const double seconds = luaL_checknumber(L, 1);
  report_file = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (nobody_reads(STDOUT_FILENO)) _exit(EXIT_FAILURE); /* it ended before it could be watched */
  scl_crash_limit(seconds);
  return 0;
}

/* core.report(text): behind all that was printed until now */
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

/* ------------------------------------------------------------ surroundings */

static size_t entries(const char *folder) {
  size_t count = 0;
  DIR *open = opendir(folder);
  while (open != NULL && readdir(open) != NULL)
    count++;
  if (open != NULL) (void)closedir(open);
  return count;
}

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

static void set_stream(lua_State *L, int file, const char *name) {
  struct stat about;
  if (fstat(file, &about) != 0)
    lua_pushstring(L, "closed");
  else
    lua_pushfstring(L, "file %I", (lua_Integer)about.st_ino);
  lua_setfield(L, -2, name);
}

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

/* The number of variables, and one that changes with each of them. */
static void set_environment(lua_State *L) {
  uint64_t hash = HASH_START;
  lua_Integer count = 0;
  for (; environ != NULL && environ[count] != NULL; count++)
    hash = hash_of(hash, environ[count], strlen(environ[count]) + 1);
  lua_pushfstring(L, "of %I variables, hash %p", count, (void *)(uintptr_t)hash);
  lua_setfield(L, -2, "environment");
}

/* The numbers that rand() and random() would go on with. setstate tells where they are, and writes
 * there how far they have got. One is drawn at first, so that srand() of any seed shows. */
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

/* Bytes that this process has written, to whatever file; "unknown" where the system does not tell. */
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

/* core.surroundings() -> name -> text: the rounding mode, the locale, the current folder, signal
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

/* ------------------------------------------------------------ symbols */

static void list_symbol(void *context, const scl_symbol *symbol) {
  lua_State *L = context;
  lua_newtable(L);
  scl_lua_set_text(L, "name", symbol->name);
  scl_lua_set_boolean(L, "defined", symbol->defined);
  scl_lua_set_boolean(L, "weak", symbol->weak);
  if (!symbol->defined) scl_lua_set_text(L, "giver", scl_symbol_giver(symbol->name));
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* core.symbols(path) -> list of { name, defined, weak, giver = the object that an undefined one
 * comes from }, the global symbols of a shared object */
static int symbols(lua_State *L) {
  scl_error error = {0};
  const char *path = scl_lua_check_path(L, 1);
  lua_newtable(L);
  scl_lua_check(L, scl_symbols_each(path, list_symbol, L, &error), &error);
  return 1;
}

/* ------------------------------------------------------------ lives */

static size_t in_use(void) {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

static scl_status live(const scl_instance *model, scl_error *error) {
  scl_settings settings;
  scl_instance *made = NULL;
  SCL_TRY(scl_settings_copy(&model->settings, &settings, error));
  SCL_TRY(scl_instance_create(model->component, &settings, &made, error));
  scl_instance_release(made);
  return SCL_STATUS_OK;
}

/* core.lives(instance, count): such instances are created and ended, one after the other -> by how
 * many bytes what is held of the host's memory grew, and what is held of malloc's */
static int lives(lua_State *L) {
  const scl_instance *model = scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE);
  const size_t count = scl_lua_check_size(L, 2, 1, 1 << 24, "lives");
  scl_error error = {0};
  scl_lua_check(L, live(model, &error), &error); /* what is made once and kept */
  const size_t held = scl_allocated(), used = in_use();
  for (size_t i = 0; i < count; i++)
    scl_lua_check(L, live(model, &error), &error);
  lua_pushinteger(L, (lua_Integer)scl_allocated() - (lua_Integer)held);
  lua_pushinteger(L, (lua_Integer)in_use() - (lua_Integer)used);
  return 2;
}

/* core.in_use() -> bytes that malloc has given and not taken back */
static int memory_in_use(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)in_use());
  return 1;
}

/* core.watch_host(instance, "refuse" | "interrupt", at): what the component of the instance asks
 * the host for is counted, and call number `at` refused, or Ctrl-C pressed at it.
 * core.watch_host() -> the number of calls, which are no longer counted */
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

void scl_lua_open_check(lua_State *L) {
  SCL_LUA_CALLS(L, {"command", command, 0}, {"run_program", run_program, 3},
                {"report_begin", report_begin, 1}, {"report", report, 1},
                {"surroundings", surroundings, 0}, {"symbols", symbols, 1}, {"lives", lives, 2},
                {"in_use", memory_in_use, 0}, {"watch_host", watch_host, 3});
}

/* The command `scullery`: scripts, -e, -i, -l, the prompt, and subcommands (which live in lua/scullery/command.lua). */
#define _GNU_SOURCE
#include "host.h"

#include "engine/interrupt.h"
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int luaopen_scullery_core(lua_State *L);

/* ---------------------------------------------------------------- Ctrl-C: the engine's flag, and a hook that stops pure Lua */

static lua_State *running;

static void stop_here(lua_State *L, lua_Debug *where) {
  (void)where;
  lua_sethook(L, NULL, 0, 0);
  scl_interrupt_clear();
  luaL_error(L, "interrupted!");
}

static void on_interrupt(int number) {
  if (scl_interrupted()) { /* nothing reacted to the last one: the default */
    (void)signal(number, SIG_DFL);
    (void)raise(number);
    return;
  }
  scl_interrupt();
  lua_sethook(running, stop_here, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

static int traceback(lua_State *L) {
  const char *message = lua_tostring(L, 1);
  if (message == NULL) {
    if (luaL_callmeta(L, 1, "__tostring")) return 1;
    message = lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  }
  luaL_traceback(L, L, message, 1);
  return 1;
}

int scl_call(lua_State *L, int arguments, int results) {
  const int base = lua_gettop(L) - arguments;
  lua_pushcfunction(L, traceback);
  lua_insert(L, base);
  running = L;
  struct sigaction action = {0}, before;
  action.sa_handler = on_interrupt;
  (void)sigemptyset(&action.sa_mask);
  (void)sigaction(SIGINT, &action, &before);
  const int status = lua_pcall(L, arguments, results, base);
  (void)sigaction(SIGINT, &before, NULL);
  lua_sethook(L, NULL, 0, 0);
  scl_interrupt_clear();
  lua_remove(L, base);
  return status;
}

/* The traceback without the frames of C that say nothing. */
void scl_report(lua_State *L) {
  const char *message = lua_tostring(L, -1);
  (void)fflush(stdout);
  (void)fprintf(stderr, "scullery: ");
  for (const char *line = message == NULL ? "(no message)" : message; line != NULL && *line != 0;) {
    const char *end = strchr(line, '\n');
    const size_t length = end == NULL ? strlen(line) : (size_t)(end - line);
    const bool dull = length > 4 && (strncmp(line, "\t[C]: in ?", 10) == 0 || strncmp(line, "\t[C]: in function 'error'", 25) == 0 ||
                                     strncmp(line, "\t[C]: in function 'pcall'", 25) == 0);
    if (!dull) (void)fprintf(stderr, "%.*s\n", (int)length, line);
    line = end == NULL ? NULL : end + 1;
  }
  lua_pop(L, 1);
}

/* ---------------------------------------------------------------- where the Lua files are */

static bool is_folder(const char *path) {
  struct stat file;
  return stat(path, &file) == 0 && S_ISDIR(file.st_mode);
}

/* Build tree: <dir>/share/lua/5.4; installed: <dir>/../share/lua/5.4. */
static void set_path(lua_State *L) {
  char self[PATH_MAX] = "", share[PATH_MAX + 32];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  char *slash = length > 0 ? strrchr(self, '/') : NULL;
  if (slash == NULL) return;
  *slash = 0;
  (void)snprintf(share, sizeof share, "%s/share/lua/5.4", self);
  if (!is_folder(share)) (void)snprintf(share, sizeof share, "%s/../share/lua/5.4", self);
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "path");
  lua_pushfstring(L, "%s/?.lua;%s/?/init.lua;%s", share, share, lua_tostring(L, -1));
  lua_setfield(L, -3, "path");
  lua_pop(L, 2);
}

/* sc and help become globals when first named (at the prompt and in -e): Lua starts without loading the library. */
static int lazy_global(lua_State *L) {
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  if (strcmp(name, "sc") != 0 && strcmp(name, "help") != 0) return 0;
  lua_getglobal(L, "require");
  lua_pushstring(L, strcmp(name, "sc") == 0 ? "scullery" : "scullery.help");
  lua_call(L, 1, 1);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, -2);
  lua_rawset(L, 1);
  return 1;
}

static void offer_globals(lua_State *L) {
  lua_pushglobaltable(L);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, lazy_global);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
}

/* ---------------------------------------------------------------- arguments */

static const char usage[] =
    "usage: scullery [options] [script [args]]\n"
    "       scullery plugin list | info NAME\n"
    "       scullery data list | get NAME\n"
    "       scullery bench [--quick]\n"
    "\n"
    "Without arguments: the prompt. A script is Lua 5.4: local sc = require \"scullery\".\n"
    "  -e CODE      run CODE (sc and help are there)\n"
    "  -l MODULE    require MODULE into a global of its name\n"
    "  -i           the prompt after the script\n"
    "  -            run standard input as a script\n"
    "  --version    the version\n"
    "  --help       this text\n"
    "Environment: SCULLERY_THREADS, SCULLERY_DATA, SCULLERY_PLUGIN_PATH.\n";

static int fail(lua_State *L) {
  scl_report(L);
  return EXIT_FAILURE;
}

static int run_code(lua_State *L, const char *code) {
  if (luaL_loadbuffer(L, code, strlen(code), "=(command line)") != LUA_OK || scl_call(L, 0, 0) != LUA_OK) return fail(L);
  return EXIT_SUCCESS;
}

static int run_module(lua_State *L, const char *name) {
  lua_getglobal(L, "require");
  lua_pushstring(L, name);
  if (scl_call(L, 1, 1) != LUA_OK) return fail(L);
  lua_setglobal(L, name);
  return EXIT_SUCCESS;
}

/* arg as in lua(1): the script at 0, its arguments from 1 on, what came before at negative places. */
static void set_arguments(lua_State *L, int argc, char **argv, int script) {
  lua_createtable(L, argc, 0);
  for (int i = 0; i < argc; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i - script);
  }
  lua_setglobal(L, "arg");
}

static int run_script(lua_State *L, int argc, char **argv, int script) {
  const char *path = strcmp(argv[script], "-") == 0 ? NULL : argv[script];
  if (luaL_loadfile(L, path) != LUA_OK) return fail(L);
  for (int i = script + 1; i < argc; i++) lua_pushstring(L, argv[i]);
  return scl_call(L, argc - script - 1, 0) == LUA_OK ? EXIT_SUCCESS : fail(L);
}

static int run_subcommand(lua_State *L, int argc, char **argv) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "scullery.command");
  if (scl_call(L, 1, 1) != LUA_OK) return fail(L);
  lua_getfield(L, -1, argv[1]);
  for (int i = 2; i < argc; i++) lua_pushstring(L, argv[i]);
  if (scl_call(L, argc - 2, 1) != LUA_OK) return fail(L);
  return lua_isnil(L, -1) || lua_toboolean(L, -1) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static bool is_subcommand(const char *word) { return strcmp(word, "plugin") == 0 || strcmp(word, "data") == 0 || strcmp(word, "bench") == 0; }

static int bad_usage(const char *what, const char *option) {
  (void)fprintf(stderr, "scullery: %s '%s'\n%s", what, option, usage);
  return EXIT_FAILURE;
}

static int run(lua_State *L, int argc, char **argv) {
  bool interactive = false, did_something = false;
  int i = 1;
  for (; i < argc && argv[i][0] == '-' && argv[i][1] != 0; i++) {
    const char *option = argv[i];
    if (strcmp(option, "--") == 0) {
      i++;
      break;
    }
    if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
      (void)fputs(usage, stdout);
      return EXIT_SUCCESS;
    }
    if (strcmp(option, "--version") == 0 || strcmp(option, "-v") == 0) {
      (void)printf("scullery %s, %s\n", SCULLERY_VERSION, LUA_RELEASE);
      return EXIT_SUCCESS;
    }
    if (strcmp(option, "-i") == 0) {
      interactive = true;
      continue;
    }
    if (strncmp(option, "-e", 2) != 0 && strncmp(option, "-l", 2) != 0) return bad_usage("unknown option", option);
    const char *value = option[2] != 0 ? option + 2 : ++i < argc ? argv[i] : NULL;
    if (value == NULL) return bad_usage("a value is missing after", option);
    if (!did_something) {
      offer_globals(L);
      set_arguments(L, argc, argv, 0);
    }
    did_something = true;
    const int status = option[1] == 'e' ? run_code(L, value) : run_module(L, value);
    if (status != EXIT_SUCCESS) return status;
  }
  if (i < argc) {
    set_arguments(L, argc, argv, i);
    const int status = run_script(L, argc, argv, i);
    if (status != EXIT_SUCCESS && !interactive) return status;
    did_something = true;
  }
  if (did_something && !interactive) return EXIT_SUCCESS;
  offer_globals(L);
  return scl_prompt(L);
}

int main(int argc, char **argv) {
  lua_State *L = luaL_newstate();
  if (L == NULL) {
    (void)fputs("scullery: not enough memory\n", stderr);
    return EXIT_FAILURE;
  }
  luaL_openlibs(L);
  set_path(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_scullery_core);
  lua_setfield(L, -2, "scullery.core");
  lua_pop(L, 1);
  const int status = argc > 1 && is_subcommand(argv[1]) ? run_subcommand(L, argc, argv) : run(L, argc, argv);
  lua_close(L);
  return status;
}

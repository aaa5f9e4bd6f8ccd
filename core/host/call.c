/* Calls from the command into Lua: tracebacks, and the globals of the command. A traceback shows
 * the lines of the user's own files only, unless SCULLERY_TRACEBACK is set. */
#define _GNU_SOURCE
#include "host/host.h"

#include "base/characters.h"
#include "progress/progress.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------ calls */

/* The message handler: a text gets a traceback. An error object that describes itself by __tostring
 * is replaced by that text, without a traceback. */
static int add_traceback(lua_State *L) {
  const char *message = lua_tostring(L, 1);
  if (message == NULL) {
    if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING) return 1;
    message = lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  }
  luaL_traceback(L, L, message, 1);
  return 1;
}

/* The handler is inserted below the function, and removed after the call. */
int scl_protected_call(lua_State *L, int arguments, int results) {
  const int base = lua_gettop(L) - arguments;
  lua_pushcfunction(L, add_traceback);
  lua_insert(L, base);
  const int status = scl_interruptible_call(L, arguments, results, base);
  lua_remove(L, base);
  return status;
}

/* ------------ messages */

/* Whether the text begins with another. */
static bool starts_with(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

/* Whether the line names a Lua file of the library, or of its checker, wherever they are
 * installed. */
static bool names_own_file(const char *line) {
  static const char *const own[] = {"share/lua/5.4/scullery/", "share/lua/5.4/scullery_checker/"};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    const char *place = strstr(line, own[i]);
    if (place != NULL && place < strchrnul(line, '\n')) return true;
  }
  return false;
}

/* Whether SCULLERY_TRACEBACK asks for the whole traceback. */
static bool wants_all(void) {
  const char *asked = getenv("SCULLERY_TRACEBACK");
  return asked != NULL && *asked != 0;
}

/* Whether to omit a line of a traceback: functions in C, functions of the library, and the chunk of
 * the prompt or the command line. */
static bool is_omitted(const char *line) {
  static const char *const omitted[] = {"\t[C]: in ", "\t(...tail calls...)",
                                        "\t(command line):1: in main chunk"};
  if (wants_all()) return false;
  for (size_t i = 0; i < sizeof omitted / sizeof *omitted; i++) {
    if (starts_with(line, omitted[i])) return true;
  }
  static const char chunk[] = "chunk"; /* "in main chunk", or what session.lua calls it */
  if (names_own_file(line)) return true;
  if (!starts_with(line, "\tprompt:")) return false;
  const char *end = strchrnul(line, '\n');
  if (end[-1] == '\'') end--;
  return end - line > (ptrdiff_t)sizeof chunk && starts_with(end - (sizeof chunk - 1), chunk);
}

/* Whether a line "\tx.lua:3: in main chunk" follows a message that begins with "x.lua:3: ", and so
 * says nothing new. */
static bool repeats_place(const char *line, const char *message) {
  static const char chunk[] = ": in main chunk";
  const size_t length = strcspn(line, "\n"), rest = sizeof chunk - 1;
  if (wants_all() || *line != '\t' || length <= rest + 1) return false;
  const size_t place = length - rest - 1;
  return strncmp(line + 1 + place, chunk, rest) == 0 && strncmp(line + 1, message, place) == 0 &&
         starts_with(message + place, ": ");
}

static bool in_colour;

void scl_report_in_colour(bool colour) { in_colour = colour; }

/* Write a line by one call, so that output of other processes does not come between its parts.
 * Control characters are made visible. */
static void write_report_line(const char *line, size_t length) {
  char *text = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&text, &size);
  if (memory != NULL) {
    scl_write_shown(memory, line, length);
    (void)fputc('\n', memory);
    (void)fclose(memory);
  }
  if (text != NULL) {
    (void)fwrite(text, 1, size, stderr);
  } else { /* no memory */
    scl_write_shown(stderr, line, length);
    (void)fputc('\n', stderr);
  }
  free(text);
}

/* `heading` is NULL before the traceback, the line "stack traceback:" until a frame is printed, and
 * then "": only lines behind the heading may be omitted, and a heading without frames is. */
void scl_report(lua_State *L, const char *before) {
  const char *message = lua_tostring(L, -1), *heading = NULL;
  if (message == NULL) message = "(no message)";
  scl_note_failure(message);
  (void)fflush(stdout);
  (void)fprintf(stderr, "%s%s", in_colour ? "\033[31m" : "", before);
  for (const char *line = message; line != NULL;) {
    const char *end = strchr(line, '\n');
    const size_t length = end == NULL ? strlen(line) : (size_t)(end - line);
    if (starts_with(line, "stack traceback:")) {
      heading = line; /* printed only when a frame follows */
    } else if (heading == NULL ||
               !(is_omitted(line) || (*heading != 0 && repeats_place(line, message)))) {
      if (heading != NULL && heading != line && *heading != 0)
        (void)fprintf(stderr, "stack traceback:\n");
      if (heading != NULL) heading = "";
      write_report_line(line, length);
    }
    line = end == NULL ? NULL : end + 1;
  }
  if (in_colour) (void)fputs("\033[0m", stderr);
  lua_pop(L, 1);
}

/* ------------ sc and help */

/* Globals that the command offers, and the modules that they are. */
static const struct {
  const char *name, *module;
} offered[] = {{"sc", "scullery"}, {"help", "scullery.help"}};

/* _G's __index: loads the module of a global at its first use, so that Lua starts without the
 * library. */
static int load_global(lua_State *L) {
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  for (size_t i = 0; i < sizeof offered / sizeof *offered; i++) {
    if (strcmp(name, offered[i].name) != 0) continue;
    lua_getglobal(L, "require");
    lua_pushstring(L, offered[i].module);
    lua_call(L, 1, 1);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -2);
    lua_rawset(L, 1);
    return 1;
  }
  return 0;
}

/* print, which erases the progress line first. Lua's function is upvalue 1. */
static int print_apart(lua_State *L) {
  scl_progress_hide();
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 0);
  return 0;
}

/* print is replaced only if standard error is a terminal: elsewhere there is no progress line to
 * erase. */
void scl_offer_globals(lua_State *L) {
  if (isatty(STDERR_FILENO)) {
    lua_getglobal(L, "print");
    lua_pushcclosure(L, print_apart, 1);
    lua_setglobal(L, "print");
  }
  lua_pushglobaltable(L);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, load_global);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
}

/* The prompt: libedit on a terminal, plain lines otherwise. Expressions print their values; an incomplete statement continues on the next line. */
#define _GNU_SOURCE
#include "host.h"

#include "engine/interrupt.h"
#include <histedit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *prompt_text = "> ";
static lua_State *state;

static char *show_prompt(EditLine *editor) {
  static char text[8];
  (void)editor;
  (void)snprintf(text, sizeof text, "%s", prompt_text);
  return text;
}

/* ---------------------------------------------------------------- completion, by lua/scullery/prompt.lua */

static void list_candidates(void) {
  (void)fputc('\n', stdout);
  const lua_Integer count = luaL_len(state, -1);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(state, -1, i);
    (void)printf("%s%s", lua_tostring(state, -1), i % 6 == 0 || i == count ? "\n" : "  ");
    lua_pop(state, 1);
  }
}

/* require "scullery.prompt".complete(text) -> text to add, candidates */
static unsigned char complete(EditLine *editor, int key) {
  (void)key;
  const LineInfo *line = el_line(editor);
  const int top = lua_gettop(state);
  unsigned char result = CC_ERROR;
  lua_getglobal(state, "require");
  lua_pushliteral(state, "scullery.prompt");
  if (lua_pcall(state, 1, 1, 0) == LUA_OK) {
    lua_getfield(state, -1, "complete");
    lua_pushlstring(state, line->buffer, (size_t)(line->cursor - line->buffer));
    if (lua_pcall(state, 1, 2, 0) == LUA_OK) {
      const char *more = lua_tostring(state, -2);
      if (more != NULL && *more != 0) {
        result = el_insertstr(editor, more) == 0 ? CC_REFRESH : CC_ERROR;
      } else if (lua_istable(state, -1) && luaL_len(state, -1) > 1) {
        list_candidates();
        result = CC_REDISPLAY;
      }
    }
  }
  lua_settop(state, top);
  return result;
}

/* ---------------------------------------------------------------- history */

static void history_path(char *path, size_t size) {
  const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  path[0] = 0;
  if (base != NULL && *base != 0)
    (void)snprintf(path, size, "%s/scullery", base);
  else if (home != NULL)
    (void)snprintf(path, size, "%s/.local/state/scullery", home);
  for (char *slash = path[0] == 0 ? NULL : strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    (void)mkdir(path, 0700);
    *slash = '/';
  }
  if (path[0] == 0) return;
  (void)mkdir(path, 0700);
  (void)strncat(path, "/history", size - strlen(path) - 1);
}

/* ---------------------------------------------------------------- lines */

typedef struct terminal {
  EditLine *editor;
  History *history;
  char path[4096];
} terminal;

static bool open_terminal(terminal *t) {
  HistEvent event;
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return false;
  t->editor = el_init("scullery", stdin, stdout, stderr);
  t->history = t->editor == NULL ? NULL : history_init();
  if (t->history == NULL) return false;
  history_path(t->path, sizeof t->path);
  (void)history(t->history, &event, H_SETSIZE, 2000);
  (void)history(t->history, &event, H_SETUNIQUE, 1);
  if (t->path[0] != 0) (void)history(t->history, &event, H_LOAD, t->path);
  (void)el_set(t->editor, EL_PROMPT, show_prompt);
  (void)el_set(t->editor, EL_EDITOR, "emacs");
  (void)el_set(t->editor, EL_SIGNAL, 1);
  (void)el_set(t->editor, EL_HIST, history, t->history);
  (void)el_set(t->editor, EL_ADDFN, "scullery-complete", "complete a name", complete);
  (void)el_set(t->editor, EL_BIND, "^I", "scullery-complete", NULL);
  return true;
}

static void close_terminal(terminal *t) {
  HistEvent event;
  if (t->history != NULL && t->path[0] != 0) (void)history(t->history, &event, H_SAVE, t->path);
  if (t->editor != NULL) el_end(t->editor);
  if (t->history != NULL) history_end(t->history);
}

/* One line without its end into the Lua stack; false at the end of input. An interrupt gives an empty line and sets *interrupted. */
static bool read_line(terminal *t, bool *interrupted) {
  *interrupted = false;
  if (t->editor != NULL) {
    int count = 0;
    const char *line = el_gets(t->editor, &count);
    if (scl_interrupted()) {
      scl_interrupt_clear();
      *interrupted = true;
      (void)fputc('\n', stdout);
      lua_pushliteral(state, "");
      return true;
    }
    if (line == NULL || count <= 0) return false;
    HistEvent event;
    if (count > 1) (void)history(t->history, &event, H_ENTER, line);
    lua_pushlstring(state, line, (size_t)count - (line[count - 1] == '\n'));
    return true;
  }
  char *line = NULL;
  size_t room = 0;
  const ssize_t count = getline(&line, &room, stdin);
  if (count > 0) lua_pushlstring(state, line, (size_t)count - (line[count - 1] == '\n'));
  free(line);
  return count > 0;
}

/* ---------------------------------------------------------------- statements */

static bool incomplete(lua_State *L, int status) {
  if (status != LUA_ERRSYNTAX) return false;
  size_t length;
  const char *message = lua_tolstring(L, -1, &length);
  return length >= 5 && strcmp(message + length - 5, "<eof>") == 0;
}

/* The text on top of the stack as a chunk: an expression first, then a statement. The chunk or a message replaces nothing: it comes on top. */
static int compile(lua_State *L) {
  size_t length;
  lua_pushfstring(L, "return %s", lua_tostring(L, -1));
  const char *code = lua_tolstring(L, -1, &length);
  if (luaL_loadbuffer(L, code, length, "=prompt") == LUA_OK) {
    lua_remove(L, -2);
    return LUA_OK;
  }
  lua_pop(L, 2);
  code = lua_tolstring(L, -1, &length);
  return luaL_loadbuffer(L, code, length, "=prompt");
}

/* Read until the statement is whole; its chunk (or the error's message) on top. Returns -1 at the end of input. */
static int read_statement(terminal *t) {
  bool interrupted;
  prompt_text = "> ";
  if (!read_line(t, &interrupted)) return -1;
  for (;;) {
    if (interrupted) {
      lua_settop(state, 0);
      return read_statement(t);
    }
    const int status = compile(state);
    if (!incomplete(state, status)) return status;
    lua_pop(state, 1);
    prompt_text = ">> ";
    if (!read_line(t, &interrupted)) {
      const int last = compile(state);
      return last;
    }
    lua_pushliteral(state, "\n");
    lua_insert(state, -2);
    lua_concat(state, 3);
  }
}

static void print_results(int count) {
  if (count == 0) return;
  luaL_checkstack(state, 3, "too many results to print");
  lua_getglobal(state, "print");
  lua_insert(state, 1);
  if (scl_call(state, count, 0) != LUA_OK) scl_report(state);
}

static void on_interrupt_at_prompt(int number) {
  (void)number;
  scl_interrupt();
}

int scl_prompt(lua_State *L) {
  terminal t = {0};
  state = L;
  lua_settop(L, 0);
  const bool edited = open_terminal(&t);
  struct sigaction action = {0};
  action.sa_handler = edited ? on_interrupt_at_prompt : SIG_DFL;
  (void)sigaction(SIGINT, &action, NULL);
  if (edited) (void)printf("Scullery %s. help() explains, Ctrl-D ends.\n", SCULLERY_VERSION);
  for (int status; (status = read_statement(&t)) != -1; lua_settop(L, 0)) {
    if (status == LUA_OK) {
      lua_replace(L, 1);
      lua_settop(L, 1);
      status = scl_call(L, 0, LUA_MULTRET);
    }
    if (status == LUA_OK)
      print_results(lua_gettop(L));
    else
      scl_report(L);
    (void)fflush(stdout);
  }
  if (edited) (void)fputc('\n', stdout);
  close_terminal(&t);
  return EXIT_SUCCESS;
}

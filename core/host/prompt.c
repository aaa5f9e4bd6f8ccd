/* The prompt: libedit on a terminal, plain lines otherwise. Expressions print their values; an
 * incomplete statement continues on the next line. */
#define _GNU_SOURCE
#include "host/host.h"

#include "base/interrupt.h"
#include <histedit.h>
#include <signal.h>
#include <stdbool.h>
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

/* ---------------------------------------------------------------- completion, by
 * lua/scullery/prompt.lua */

/* require "scullery.prompt".complete(text) -> text to add, the candidates in columns */
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
      } else if (lua_isstring(state, -1)) {
        (void)printf("\n%s", lua_tostring(state, -1));
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
  for (char *slash = path[0] == 0 ? NULL : strchr(path + 1, '/'); slash != NULL;
       slash = strchr(slash + 1, '/')) {
    *slash = 0;
    (void)mkdir(path, 0700);
    *slash = '/';
  }
  if (path[0] == 0) return;
  (void)mkdir(path, 0700);
  (void)strncat(path, "/history", size - strlen(path) - 1);
}

/* ---------------------------------------------------------------- lines */

static struct {
  EditLine *editor; /* NULL where lines are read plainly */
  History *history;
  char path[4096];
} terminal;

/* Written beside and renamed: whoever is killed meanwhile loses no history. */
static void save_history(void) {
  HistEvent event;
  char fresh[sizeof terminal.path + 16];
  if (terminal.history == NULL || terminal.path[0] == 0) return;
  (void)snprintf(fresh, sizeof fresh, "%s.%ld", terminal.path, (long)getpid());
  if (history(terminal.history, &event, H_SAVE, fresh) < 0 || rename(fresh, terminal.path) != 0)
    (void)unlink(fresh);
}

/* Also at os.exit, which returns to nobody. */
static void close_terminal(void) {
  save_history();
  if (terminal.editor != NULL) el_end(terminal.editor);
  if (terminal.history != NULL) history_end(terminal.history);
  terminal.editor = NULL;
  terminal.history = NULL;
}

static void bind_keys(EditLine *editor) {
  (void)el_set(editor, EL_PROMPT, show_prompt);
  (void)el_set(editor, EL_EDITOR, "emacs");
  (void)el_set(editor, EL_SIGNAL,
               1); /* the terminal is put right at Ctrl-C, Ctrl-Z and a new window size */
  (void)el_set(editor, EL_HIST, history, terminal.history);
  (void)el_set(editor, EL_ADDFN, "scullery-complete", "complete a name", complete);
  (void)el_set(editor, EL_BIND, "^I", "scullery-complete", NULL);
  (void)el_set(editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
}

static bool open_terminal(void) {
  HistEvent event;
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return false;
  terminal.history = history_init();
  terminal.editor = terminal.history == NULL ? NULL : el_init("scullery", stdin, stdout, stderr);
  if (terminal.editor == NULL) {
    close_terminal();
    return false;
  }
  history_path(terminal.path, sizeof terminal.path);
  (void)history(terminal.history, &event, H_SETSIZE, 2000);
  (void)history(terminal.history, &event, H_SETUNIQUE, 1);
  if (terminal.path[0] != 0) (void)history(terminal.history, &event, H_LOAD, terminal.path);
  bind_keys(terminal.editor);
  (void)atexit(close_terminal);
  return true;
}

static bool edit_line(bool *cleared) {
  HistEvent event;
  int count = 0;
  const char *line = el_gets(terminal.editor, &count);
  *cleared = scl_interrupted(); /* libedit leaves the line at a signal */
  scl_interrupt_clear();
  if (*cleared) {
    (void)fputc('\n', stdout);
    lua_pushliteral(state, "");
    return true;
  }
  if (line == NULL || count <= 0) return false;
  if (count > 1) (void)history(terminal.history, &event, H_ENTER, line);
  lua_pushlstring(state, line, (size_t)count - (line[count - 1] == '\n'));
  return true;
}

/* One line without its end onto the Lua stack; false at the end of input. */
static bool read_line(bool *cleared) {
  *cleared = false;
  if (terminal.editor != NULL) return edit_line(cleared);
  luaL_Buffer line;
  int letter;
  luaL_buffinit(state, &line);
  bool any = false;
  while ((letter = getc(stdin)) != EOF && letter != '\n') {
    luaL_addchar(&line, (char)letter);
    any = true;
  }
  luaL_pushresult(&line);
  if (any || letter == '\n') return true;
  lua_pop(state, 1);
  return false;
}

/* ---------------------------------------------------------------- statements */

static bool incomplete(lua_State *L, int status) {
  if (status != LUA_ERRSYNTAX) return false;
  size_t length;
  const char *message = lua_tolstring(L, -1, &length);
  return length >= 5 && strcmp(message + length - 5, "<eof>") == 0;
}

static int load(lua_State *L) {
  size_t length;
  const char *code = lua_tolstring(L, -1, &length);
  return luaL_loadbufferx(L, code, length, "=prompt", "t");
}

/* The text on top of the stack as a chunk: an expression first, then a statement. The chunk, or a
 * message, comes on top of it; *more: the text may be the beginning of something. */
static int compile(lua_State *L, bool *more) {
  lua_pushliteral(L, "return ");
  lua_pushvalue(L, -2);
  lua_concat(L, 2);
  int status = load(L);
  const bool begins_expression = incomplete(L, status);
  lua_remove(L, -2);
  *more = false;
  if (status == LUA_OK) return status;
  lua_pop(L, 1);
  status = load(L);
  *more = status != LUA_OK && (begins_expression || incomplete(L, status));
  return status;
}

/* `= expression`, as older Luas wanted it. */
static void drop_equals(lua_State *L) {
  const char *line = lua_tostring(L, -1);
  if (line[0] != '=' || line[1] == '=') return;
  lua_pushstring(L, line + 1);
  lua_remove(L, -2);
}

/* exit, quit and exit(): unless the user named something so. */
static bool is_farewell(lua_State *L) {
  static const char *const words[] = {"exit", "exit()", "quit", "quit()"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcmp(lua_tostring(L, -1), words[i]) != 0) continue;
    lua_pushglobaltable(L);
    lua_pushlstring(L, words[i], 4);
    lua_rawget(L, -2);
    const bool free_name = lua_isnil(L, -1);
    lua_pop(L, 2);
    return free_name;
  }
  return false;
}

enum { END = -1, CLEARED = -2 };

/* Read until the statement is whole; its chunk, or the message, on top. END at the end of input,
 * CLEARED after Ctrl-C, otherwise the status of loading. */
static int read_statement(void) {
  bool cleared, more;
  prompt_text = "> ";
  if (!read_line(&cleared)) return END;
  if (cleared) return CLEARED;
  drop_equals(state);
  if (is_farewell(state)) return END;
  for (;;) {
    const int status = compile(state, &more);
    if (!more) return status;
    prompt_text = ">> ";
    if (!read_line(&cleared)) return status;
    if (cleared) return CLEARED;
    lua_remove(state, -2); /* the message */
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
  if (scl_protected_call(state, count, 0) != LUA_OK) scl_report(state, "");
}

static void on_interrupt(int number) {
  (void)number;
  scl_interrupt();
}

int scl_prompt(lua_State *L) {
  state = L;
  lua_settop(L, 0);
  const bool edited = open_terminal();
  scl_interrupt_in_session();
  struct sigaction action = {0};
  action.sa_handler = edited ? on_interrupt : SIG_DFL;
  (void)sigaction(SIGINT, &action, NULL);
  if (edited) (void)printf("Scullery %s. help() explains, Ctrl-D ends.\n", SCULLERY_VERSION);
  for (int status; (status = read_statement()) != END; lua_settop(L, 0)) {
    if (status == CLEARED) continue;
    save_history(); /* before what may not return */
    if (status == LUA_OK) {
      lua_replace(L, 1);
      lua_settop(L, 1);
      status = scl_protected_call(L, 0, LUA_MULTRET);
    }
    if (status == LUA_OK)
      print_results(lua_gettop(L));
    else
      scl_report(L, "");
    (void)fflush(stdout);
  }
  if (edited) (void)fputc('\n', stdout);
  close_terminal();
  return EXIT_SUCCESS;
}

/* Reading statements at the prompt, by libedit on a terminal and by plain lines elsewhere. One
 * edited text is a whole statement of several lines: Enter ends it only if Lua can run it, and
 * otherwise begins another line. The session (lua/scullery/prompt) decides what is whole and what
 * completes a name. */
#define _GNU_SOURCE
#include "host/editor.h"

#include "base/interrupt.h"
#include "host/history.h"
#include "host/host.h"
#include "host/paint.h"
#include <errno.h>
#include <histedit.h>
#include <langinfo.h>
#include <lauxlib.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

/* The one editor of the process: libedit's callbacks get no context. */
static struct {
  lua_State *L;
  int place; /* on the stack of L: the table of functions that the editor asks */
  bool at_terminal, colour;
  EditLine *editor; /* NULL where lines are read plainly */
  History *history;
  locale_t locale; /* of the texts that are typed */
} self;

static const char first_prompt[] = "> ", next_prompt[] = ">> ";

/* ------------ asking Lua */

/* Call function `name` of the session with a text. Returns the place of its first result on the
 * stack, or 0 if it failed or Ctrl-C ended it. The caller drops the results. */
static int ask_session(const char *name, const char *text, size_t length, int results) {
  lua_State *L = self.L;
  const int top = lua_gettop(L);
  if (!lua_checkstack(L, results + 3)) return 0;
  lua_getfield(L, self.place, name);
  lua_pushlstring(L, text, length);
  if (scl_interruptible_call(L, 1, results, 0) == LUA_OK) return top + 1;
  lua_settop(L, top);
  return 0;
}

/* Whether the session takes the text as the beginning of a statement, so that Enter adds a line. */
static bool is_unfinished(const char *text, size_t length) {
  const int place = ask_session("status", text, length, 1);
  if (place == 0) return false;
  const char *status = lua_tostring(self.L, place);
  const bool unfinished = status != NULL && strcmp(status, "unfinished") == 0;
  lua_settop(self.L, place - 1);
  return unfinished;
}

/* ------------ colours */

/* Whether more input waits already. */
static bool more_waits(void) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  return poll(&input, 1, 0) > 0;
}

/* Draw the edited text in the session's colours, unless more keys wait. paired: mark the bracket at
 * the cursor and its partner. */
static void paint_text(EditLine *editor, bool paired) {
  lua_State *L = self.L;
  const LineInfo *line = el_line(editor);
  const int top = lua_gettop(L);
  if (!self.colour || line->lastchar == line->buffer || more_waits() || !lua_checkstack(L, 4))
    return;
  lua_getfield(L, self.place, "coloured");
  lua_pushlstring(L, line->buffer, (size_t)(line->lastchar - line->buffer));
  lua_pushnil(L);
  if (paired) {
    lua_pop(L, 1);
    lua_pushinteger(L, line->cursor - line->buffer);
  }
  /* not scl_interruptible_call, which clears a Ctrl-C that came meanwhile */
  const bool ok = lua_pcall(L, 2, 1, 0) == LUA_OK;
  if (ok && lua_type(L, -1) == LUA_TSTRING)
    scl_paint(editor, lua_tostring(L, -1), (int)strlen(first_prompt));
  lua_settop(L, top);
}

/* ------------ keys */

/* Sequences that no key sends, bound to functions of libedit with which ours continue. */
#define ACCEPT "\033[scl~a"
#define LINE_UP "\033[scl~b"
#define LINE_DOWN "\033[scl~c"

/* Let libedit continue with the function that is bound to `keys`. */
static unsigned char continue_with(EditLine *editor, const char *keys) {
  el_push(editor, keys);
  return CC_NORM;
}

/* Whether there is a newline in from .. to-1. */
static bool has_newline(const char *from, const char *to) {
  return memchr(from, '\n', (size_t)(to - from)) != NULL;
}

/* Replace the text before the cursor by `text`. */
static bool replace_before_cursor(EditLine *editor, const char *text) {
  const LineInfoW *line = el_wline(editor);
  const int length = (int)(line->cursor - line->buffer);
  if (length > 0) el_deletestr(editor, length);
  return el_insertstr(editor, text) == 0;
}

/* Replace the whole statement by `text`, with the cursor at its end. */
static bool replace_all(EditLine *editor, const char *text) {
  const LineInfoW *line = el_wline(editor);
  (void)el_cursor(editor, (int)(line->lastchar - line->cursor));
  return replace_before_cursor(editor, text);
}

/* Ask function `name` of the session for a text that replaces the one before the cursor. Returns
 * whether it was replaced. If more input waits, text is being pasted without brackets, which has
 * its own indentation. */
static bool ask_for_text(EditLine *editor, const char *name) {
  const LineInfo *line = el_line(editor);
  if (more_waits()) return false;
  const int place = ask_session(name, line->buffer, (size_t)(line->cursor - line->buffer), 1);
  if (place == 0) return false;
  const char *text = lua_tostring(self.L, place);
  const bool replaced = text != NULL && replace_before_cursor(editor, text);
  lua_settop(self.L, place - 1);
  return replaced;
}

/* Begin a new line of the statement, indented by its open blocks and brackets. */
static unsigned char new_line(EditLine *editor, int key) {
  (void)key;
  if (ask_for_text(editor, "indented")) return CC_REFRESH;
  return el_insertstr(editor, "\n") == 0 ? CC_REFRESH : CC_ERROR;
}

/* Enter: run a whole statement, or begin a new line of an unfinished one. At the end of a statement
 * of several lines the session may first change the last line ("ended", such as its
 * indentation). */
static unsigned char on_enter(EditLine *editor, int key) {
  const LineInfo *line = el_line(editor);
  if (is_unfinished(line->buffer, (size_t)(line->lastchar - line->buffer)))
    return new_line(editor, key);
  const bool at_end = line->cursor == line->lastchar;
  const bool moved =
      at_end && has_newline(line->buffer, line->cursor) && ask_for_text(editor, "ended");
  paint_text(editor, false);
  (void)continue_with(editor, ACCEPT);
  return moved ? CC_REFRESH : CC_NORM;
}

/* The state of Up and Down in the history. The statement that was typed is kept; only statements of
 * the history that begin with the text before its cursor are shown. */
static struct {
  char *typed, *shown; /* the statement typed, and the one shown last; NULL before the first Up */
  size_t prefix;       /* bytes of typed that were before the cursor */
  int back;            /* how many statements back the shown one is; 0: the typed one */
} browsing;

/* End browsing: the next Up begins at the present. */
static void forget_browsing(void) {
  free(browsing.typed);
  free(browsing.shown);
  browsing.typed = browsing.shown = NULL;
  browsing.back = 0;
}

/* The statement `back` steps before the present (1: the newest); NULL if there is none. */
static const char *statement_before(int back) {
  HistEvent event;
  int found = history(self.history, &event, H_FIRST);
  for (; back > 1 && found >= 0; back--)
    found = history(self.history, &event, H_NEXT);
  return found < 0 ? NULL : event.str;
}

/* Begin browsing at the present, unless the edited text is the statement shown last, with which
 * browsing continues. False: no memory. */
static bool begin_browsing(EditLine *editor) {
  const LineInfo *line = el_line(editor);
  const size_t length = (size_t)(line->lastchar - line->buffer);
  if (browsing.shown != NULL && strlen(browsing.shown) == length &&
      memcmp(browsing.shown, line->buffer, length) == 0)
    return true;
  forget_browsing();
  browsing.typed = strndup(line->buffer, length);
  browsing.prefix = (size_t)(line->cursor - line->buffer);
  return browsing.typed != NULL;
}

/* Show the next statement before (+1) or after (-1) the shown one that begins as the typed one does
 * and differs from the shown one; after the newest, the typed one. */
static unsigned char browse(EditLine *editor, int direction) {
  if (!begin_browsing(editor)) return CC_ERROR;
  const char *text = NULL;
  int back = browsing.back;
  do {
    back += direction;
    text = back <= 0 ? browsing.typed : statement_before(back);
  } while (back > 0 && text != NULL &&
           (strncmp(text, browsing.typed, browsing.prefix) != 0 ||
            (browsing.shown != NULL && strcmp(text, browsing.shown) == 0)));
  if (text == NULL || back < 0) return CC_ERROR;
  char *shown = strdup(text);
  if (shown == NULL || !replace_all(editor, shown)) {
    free(shown);
    return CC_ERROR;
  }
  free(browsing.shown);
  browsing.shown = shown;
  browsing.back = back;
  return CC_REFRESH;
}

/* Up: the line above within the statement; from its first line an earlier statement that begins
 * with the text before the cursor. */
static unsigned char on_up(EditLine *editor, int key) {
  const LineInfo *line = el_line(editor);
  (void)key;
  return has_newline(line->buffer, line->cursor) ? continue_with(editor, LINE_UP)
                                                 : browse(editor, 1);
}

/* Down: the line below within the statement; from its last line the next statement. */
static unsigned char on_down(EditLine *editor, int key) {
  const LineInfo *line = el_line(editor);
  (void)key;
  return has_newline(line->cursor, line->lastchar) ? continue_with(editor, LINE_DOWN)
                                                   : browse(editor, -1);
}

/* Characters from the cursor to the beginning (negative) or the end of its line. A character of
 * UTF-8 is counted by its one byte that is not of the form 10xxxxxx. */
static int to_line_end(const LineInfo *line, int direction) {
  int count = 0;
  const char *at = line->cursor;
  if (direction < 0) {
    for (; at > line->buffer && at[-1] != '\n'; at--)
      count -= MB_CUR_MAX == 1 || (at[-1] & 0xC0) != 0x80;
    return count;
  }
  for (; at < line->lastchar && *at != '\n'; at++)
    count += MB_CUR_MAX == 1 || (*at & 0xC0) != 0x80;
  return count;
}

/* To the beginning of the line of the statement that the cursor is in. */
static unsigned char line_begin(EditLine *editor, int key) {
  (void)key;
  (void)el_cursor(editor, to_line_end(el_line(editor), -1));
  return CC_CURSOR;
}

/* To the end of that line. */
static unsigned char line_end(EditLine *editor, int key) {
  (void)key;
  (void)el_cursor(editor, to_line_end(el_line(editor), 1));
  return CC_CURSOR;
}

/* Tab: ask the session for what completes the text before the cursor. One continuation is inserted;
 * of several a list is printed below the line. */
static unsigned char on_tab(EditLine *editor, int key) {
  const LineInfo *line = el_line(editor);
  unsigned char result = CC_ERROR;
  (void)key;
  const int place = ask_session("add", line->buffer, (size_t)(line->cursor - line->buffer), 2);
  if (place == 0) return result;
  const char *more = lua_tostring(self.L, place), *list = lua_tostring(self.L, place + 1);
  if (more != NULL && *more != 0) {
    result = el_insertstr(editor, more) == 0 ? CC_REFRESH : CC_ERROR;
  } else if (list != NULL) {
    (void)printf("\n%s", list);
    result = CC_REDISPLAY;
  }
  lua_settop(self.L, place - 1);
  return result;
}

/* Insert pasted text, which the terminal sends in brackets (mode 2004): its newlines and tabs do
 * not act as keys. Called when the opening bracket was read; reads up to the closing one. Newlines
 * at the end of the text are dropped. */
static unsigned char on_paste(EditLine *editor, int key) {
  static const wchar_t end[] = L"\033[201~";
  const size_t length = wcslen(end);
  size_t count = 0, room = 0;
  wchar_t *text = NULL, letter;
  unsigned char result = CC_ERROR;
  (void)key;
  while (el_wgetc(editor, &letter) == 1) {
    if (count + 2 > room) {
      room = room == 0 ? 1024 : 2 * room;
      wchar_t *more = realloc(text, room * sizeof *text);
      if (more == NULL) break;
      text = more;
    }
    text[count++] = letter == L'\r' ? L'\n' : letter;
    if (count < length || wmemcmp(text + count - length, end, length) != 0) continue;
    count -= length;
    while (count > 0 && text[count - 1] == L'\n')
      count--;
    text[count] = 0;
    result = count == 0 || el_winsertstr(editor, text) == 0 ? CC_REFRESH : CC_ERROR;
    break;
  }
  free(text);
  return result;
}

/* Wait until a byte can be read (true) or Ctrl-C was pressed (false). A press just before poll()
 * does not end the wait, so the flag is checked every 0.2 s. */
static bool wait_for_byte(void) {
  enum { LOOK_AGAIN = 200 }; /* milliseconds */
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  for (;;) {
    const int ready = poll(&input, 1, LOOK_AGAIN);
    if (scl_interrupted()) return false;
    if (ready > 0) return true;
    if (ready < 0 && self.editor != NULL) /* after Ctrl-Z, or in a new window size */
      (void)el_set(self.editor, EL_REFRESH);
  }
}

/* The source of characters of libedit: 1 and the next character, 0 at the end of input, -1 after
 * Ctrl-C or an error. Bytes are decoded by the locale of the texts; bytes that form no character
 * become the replacement character. */
static int read_key(EditLine *editor, wchar_t *letter) {
  mbstate_t state = {0};
  paint_text(editor, true);
  for (;;) {
    char byte;
    if (!wait_for_byte()) return -1;
    const ssize_t count = read(STDIN_FILENO, &byte, 1);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return (int)count;
    const size_t length = mbrtowc(letter, &byte, 1, &state);
    if (length == (size_t)-2) continue; /* more bytes belong to it */
    if (length == (size_t)-1) *letter = 0xFFFD;
    return 1;
  }
}

static char *show_prompt(EditLine *editor) {
  /* bytes of 1 enclose escapes, which take no column of the line */
  static char plain[] = "> ", coloured[] = "\1\033[32m\1>\1\033[0m\1 ";
  (void)editor;
  return self.colour ? coloured : plain;
}

/* Set up the editor: its prompt, its source of characters, its functions and their keys. */
static void bind_keys(EditLine *editor) {
  (void)el_set(editor, EL_PROMPT_ESC, show_prompt, '\1');
  (void)el_set(editor, EL_EDITOR, "emacs");
  /* libedit handles Ctrl-C, Ctrl-Z and a new window size, so that the terminal is restored. */
  (void)el_set(editor, EL_SIGNAL, 1);
  (void)el_set(editor, EL_HIST, history, self.history);
  (void)el_set(editor, EL_GETCFN, read_key);
  /* el_wset keeps the texts as they are; el_set makes copies that libedit never frees */
  (void)el_wset(editor, EL_ADDFN, L"scl-complete", L"complete a name", on_tab);
  (void)el_wset(editor, EL_ADDFN, L"scl-enter", L"run the statement, or begin a line", on_enter);
  (void)el_wset(editor, EL_ADDFN, L"scl-newline", L"begin a line", new_line);
  (void)el_wset(editor, EL_ADDFN, L"scl-up", L"line above, or history", on_up);
  (void)el_wset(editor, EL_ADDFN, L"scl-down", L"line below, or history", on_down);
  (void)el_wset(editor, EL_ADDFN, L"scl-begin", L"beginning of the line", line_begin);
  (void)el_wset(editor, EL_ADDFN, L"scl-end", L"end of the line", line_end);
  (void)el_wset(editor, EL_ADDFN, L"scl-paste", L"insert what was pasted", on_paste);
  static const char *const keys[][2] = {
      {"^I", "scl-complete"},
      {"^R", "em-inc-search-prev"},
      {"^M", "scl-enter"},
      {"^J", "scl-enter"},
      {"\033^M", "scl-newline"},
      {"\033^J", "scl-newline"},
      {"^P", "scl-up"},
      {"^N", "scl-down"},
      {"\033[A", "scl-up"},
      {"\033[B", "scl-down"},
      {"\033OA", "scl-up"},
      {"\033OB", "scl-down"},
      {"^A", "scl-begin"},
      {"^E", "scl-end"},
      {"\033[H", "scl-begin"},
      {"\033[F", "scl-end"},
      {"\033OH", "scl-begin"},
      {"\033OF", "scl-end"},
      {"\033[1~", "scl-begin"},
      {"\033[4~", "scl-end"},
      {"\033[3~", "ed-delete-next-char"},
      {"\033[200~", "scl-paste"},
      {"^W", "ed-delete-prev-word"},
      {"\033[1;5C", "em-next-word"},
      {"\033[1;5D", "ed-prev-word"},
      {ACCEPT, "ed-newline"},
      {LINE_UP, "ed-prev-line"},
      {LINE_DOWN, "ed-next-line"},
  };
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    (void)el_set(editor, EL_BIND, keys[i][0], keys[i][1], NULL);
}

/* ------------ opening and closing */

/* The locale of the texts that are typed, by the environment, but with UTF-8 if that has ASCII, as
 * the locale C does. */
static locale_t locale_of_texts(void) {
  locale_t own = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
  const char *codeset = own == (locale_t)0 ? "US-ASCII" : nl_langinfo_l(CODESET, own);
  if (strcmp(codeset, "ANSI_X3.4-1968") != 0 && strcmp(codeset, "US-ASCII") != 0) return own;
  const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
  if (unicode == (locale_t)0) return own;
  if (own != (locale_t)0) freelocale(own);
  return unicode;
}

/* Let this thread use the locale of the texts, or that of the process again. Only libedit runs with
 * the former, so that statements run as they do in a script. */
static void use_locale(bool of_texts) {
  if (self.locale != (locale_t)0) (void)uselocale(of_texts ? self.locale : LC_GLOBAL_LOCALE);
}

/* Add a statement to the history of libedit. */
static void remember_statement(const char *statement) {
  HistEvent event;
  (void)history(self.history, &event, H_ENTER, statement);
}

/* Open libedit and the history. If libedit cannot be opened, lines are read plainly. */
static void open_terminal(void) {
  HistEvent event;
  self.locale = locale_of_texts();
  use_locale(true);
  self.history = history_init();
  self.editor = self.history == NULL ? NULL : el_init("scullery", stdin, stdout, stderr);
  if (self.editor == NULL) {
    scl_editor_close();
    return;
  }
  (void)history(self.history, &event, H_SETSIZE, 10000);
  (void)history(self.history, &event, H_SETUNIQUE, 1);
  bind_keys(self.editor);
  scl_history_open(remember_statement);
  use_locale(false);
  (void)atexit(scl_editor_close);
}

bool scl_editor_at_terminal(void) { return self.at_terminal; }

/* On a terminal without libedit standard input is unbuffered, so that scripts which read from it
 * find what was typed after a statement. */
void scl_editor_open(lua_State *L, int place, bool colour) {
  self.L = L;
  self.place = place;
  self.colour = colour;
  self.at_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
  const char *kind = getenv("TERM");
  if (self.at_terminal && kind != NULL && *kind != 0 && strcmp(kind, "dumb") != 0) open_terminal();
  if (self.at_terminal && self.editor == NULL) (void)setvbuf(stdin, NULL, _IONBF, 0);
}

/* Also called by atexit: os.exit() of a statement does not return to the prompt. */
void scl_editor_close(void) {
  if (self.editor != NULL) el_end(self.editor);
  if (self.history != NULL) history_end(self.history);
  forget_browsing();
  self.editor = NULL;
  self.history = NULL;
  use_locale(false);
  if (self.locale != (locale_t)0) freelocale(self.locale);
  self.locale = (locale_t)0;
}

/* ------------ reading */

/* Read a statement by libedit, push it onto the Lua stack without its last newline, and add it to
 * the history unless it is blank or the same as the newest one. */
static scl_typed edit_statement(void) {
  HistEvent event;
  int count = 0;
  (void)el_set(self.editor, EL_PREP_TERM, 1); /* keys are keys before the prompt is seen */
  (void)fputs("\033[?2004h", stdout);         /* pasted text comes in brackets */
  if (self.colour) scl_paint_fresh_line();
  (void)fflush(stdout);
  use_locale(true);
  const char *text = el_gets(self.editor, &count);
  use_locale(false);
  forget_browsing();
  (void)fputs("\033[?2004l", stdout);
  (void)fflush(stdout);
  const bool cleared = scl_interrupted(); /* libedit leaves the line at a signal */
  scl_interrupt_clear();
  if (cleared) {
    clearerr(stdout);                /* of a write that the signal ended */
    (void)fputs("\n\033[J", stdout); /* also the lines of the text below the cursor */
    return SCL_TYPED_CLEARED;
  }
  if (text == NULL || count <= 0) return SCL_TYPED_END;
  lua_pushlstring(self.L, text, (size_t)count - (text[count - 1] == '\n'));
  const char *statement = lua_tostring(self.L, -1);
  if (statement[strspn(statement, " \t\n")] != 0) {
    const bool again =
        history(self.history, &event, H_FIRST) >= 0 && strcmp(event.str, statement) == 0;
    if (!again) {
      (void)history(self.history, &event, H_ENTER, statement);
      scl_history_add(statement);
    }
  }
  return SCL_TYPED;
}

/* The next character of stdin; EOF also after Ctrl-C. On a terminal stdin is unbuffered, so that
 * poll() sees all that can be read. */
static int next_letter(void) { return self.at_terminal && !wait_for_byte() ? EOF : getc(stdin); }

/* Push one line, without its end, onto the Lua stack. After Ctrl-C the partial line is dropped. */
static scl_typed read_line(void) {
  luaL_Buffer line;
  int letter;
  bool any = false;
  luaL_buffinit(self.L, &line);
  while ((letter = next_letter()) != EOF && letter != '\n') {
    luaL_addchar(&line, (char)letter);
    any = true;
  }
  luaL_pushresult(&line);
  const bool cleared = self.at_terminal && scl_interrupted();
  if (!cleared && (any || letter == '\n')) return SCL_TYPED;
  lua_pop(self.L, 1);
  if (!cleared) return SCL_TYPED_END;
  scl_interrupt_clear();
  clearerr(stdin);
  (void)fputc('\n', stdout);
  return SCL_TYPED_CLEARED;
}

static void print_prompt(const char *text) {
  if (!self.at_terminal) return;
  (void)fputs(text, stdout);
  (void)fflush(stdout);
}

/* Read lines until the statement is whole or the input ends, and push them as one text. */
static scl_typed read_lines(void) {
  lua_State *L = self.L;
  print_prompt(first_prompt);
  scl_typed typed = read_line();
  while (typed == SCL_TYPED) {
    size_t length;
    const char *text = lua_tolstring(L, -1, &length);
    if (!is_unfinished(text, length)) return SCL_TYPED;
    print_prompt(next_prompt);
    typed = read_line();
    if (typed == SCL_TYPED_END) return SCL_TYPED; /* its error is reported */
    if (typed == SCL_TYPED_CLEARED) break;
    lua_pushliteral(L, "\n");
    lua_insert(L, -2);
    lua_concat(L, 3);
  }
  return typed;
}

scl_typed scl_editor_read(void) { return self.editor != NULL ? edit_statement() : read_lines(); }

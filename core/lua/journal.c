/* scullery.core: journals of experiments (data/files/journal.h): files of lines that several
 * processes read and append to at once, with claims on places (which process computes which cell).
 * lua/scullery/experiment/store.lua says what the lines hold. */
#include "data/files/journal.h"
#include "lua/handle.h"

#include <string.h>

#define JOURNAL "scullery.journal"

static void close_journal(void *journal) { scl_journal_close(journal); }

/* A text that is one line, at `place`. */
static const char *check_line(lua_State *L, int place, size_t *length) {
  const char *line = luaL_checklstring(L, place, length);
  const char *end = memchr(line, '\n', *length);
  if (end == NULL || end != line + *length - 1)
    luaL_error(L, "a line ends with a newline and has no other");
  return line;
}

/* core.journal_is_there(path) -> whether there is such a file, a plain one */
static int journal_is_there(lua_State *L) {
  bool is_there;
  SCL_LUA_TRY(L, scl_journal_is_there(scl_lua_check_path(L, 1), &is_there, &error));
  return scl_lua_give_boolean(L, is_there);
}

/* core.journal_open(path, header): the file of lines, whose first is the header */
static int journal_open(lua_State *L) {
  size_t length;
  const char *path = scl_lua_check_path(L, 1), *header = check_line(L, 2, &length);
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_handle(L, JOURNAL, close_journal), scl_journal,
                      scl_journal_open(path, header, length, &made, &error));
  return 1;
}

static int release_text(lua_State *L) {
  char **text = lua_touserdata(L, 1);
  scl_release(*text);
  *text = NULL;
  return 0;
}

/* core.journal_read(journal) -> the lines that were added since the last read, bytes read so far */
static int journal_read(lua_State *L) {
  size_t length, bytes;
  scl_journal *journal = scl_lua_take_handle(L, 1, JOURNAL);
  char **text = scl_lua_new_guarded(L, sizeof *text, release_text);
  SCL_LUA_TRY(L, scl_journal_read(journal, text, &length, &bytes, &error));
  lua_pushlstring(L, *text, length);
  scl_release(*text);
  *text = NULL;
  lua_pushinteger(L, (lua_Integer)bytes);
  return 2;
}

/* core.journal_add(journal, line) */
static int journal_add(lua_State *L) {
  size_t length;
  scl_journal *journal = scl_lua_take_handle(L, 1, JOURNAL);
  const char *line = check_line(L, 2, &length);
  SCL_LUA_TRY(L, scl_journal_add(journal, line, length, &error));
  return 0;
}

/* The largest place of a claim. A claim locks one byte far behind the end of the journal. */
static const size_t most_claim = ((size_t)1 << 56) - 1;

/* core.journal_claim(journal, place) -> whether it is ours now */
static int journal_claim(lua_State *L) {
  bool mine;
  scl_journal *journal = scl_lua_take_handle(L, 1, JOURNAL);
  SCL_LUA_TRY(L, scl_journal_claim(journal, scl_lua_check_size(L, 2, 0, most_claim, "a claim"),
                                   &mine, &error));
  return scl_lua_give_boolean(L, mine);
}

/* core.journal_disclaim(journal, place) */
static int journal_disclaim(lua_State *L) {
  scl_journal_disclaim(scl_lua_take_handle(L, 1, JOURNAL),
                       scl_lua_check_size(L, 2, 0, most_claim, "a claim"));
  return 0;
}

SCL_LUA_CALLS(scl_lua_journal_calls, {"journal_is_there", journal_is_there, 1},
              {"journal_open", journal_open, 2}, {"journal_read", journal_read, 1},
              {"journal_add", journal_add, 2}, {"journal_claim", journal_claim, 2},
              {"journal_disclaim", journal_disclaim, 2});

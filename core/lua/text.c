/* scullery.core: the width and the characters of texts on a terminal, for tables, pictures of
 * characters and messages. */
#include "base/text.h"
#include "base/characters.h"
#include "lua/glue.h"

/* core.text_width(text) -> the columns that it takes on a terminal: 2 for wide characters, 0 for
 * those that combine with the one before */
static int text_width(lua_State *L) {
  size_t length, at = 0;
  lua_Integer columns = 0;
  const char *text = luaL_checklstring(L, 1, &length);
  while (at < length) {
    const scl_piece p = scl_next_piece(text + at, length - at);
    at += p.bytes;
    columns += p.columns;
  }
  lua_pushinteger(L, columns);
  return 1;
}

/* core.text_pieces(text) -> list of characters, with what combines with them, and list of their
 * columns. White space is " "; what must not reach a terminal is U+FFFD. */
static int text_pieces(lua_State *L) {
  size_t length, at = 0;
  lua_Integer count = 0;
  const char *text = luaL_checklstring(L, 1, &length);
  lua_settop(L, 1); /* the text stays */
  lua_newtable(L);
  lua_newtable(L);
  while (at < length) {
    const scl_piece p = scl_next_piece(text + at, length - at);
    if (p.shown != NULL)
      lua_pushstring(L, p.shown);
    else
      lua_pushlstring(L, text + at, p.bytes);
    lua_rawseti(L, 2, ++count);
    lua_pushinteger(L, p.columns);
    lua_rawseti(L, 3, count);
    at += p.bytes;
  }
  return 2;
}

/* core.text_shown(text) -> the text with "\x1b" and the like in the place of what must not reach a
 * terminal; newlines and tabs stay */
static int text_shown(lua_State *L) {
  size_t length;
  luaL_Buffer out;
  char shown[SCL_MOST_SHOWN];
  const char *text = luaL_checklstring(L, 1, &length);
  luaL_buffinit(L, &out);
  for (size_t at = 0; at < length;) {
    at += scl_show_character(text + at, length - at, shown);
    luaL_addstring(&out, shown);
  }
  luaL_pushresult(&out);
  return 1;
}

/* core.locale_is_utf8() -> whether the locale of the environment writes UTF-8 */
static int locale_is_utf8(lua_State *L) { return scl_lua_give_boolean(L, scl_locale_is_utf8()); }

SCL_LUA_CALLS(scl_lua_text_calls, {"text_width", text_width, -1}, {"text_pieces", text_pieces, -1},
              {"text_shown", text_shown, -1}, {"locale_is_utf8", locale_is_utf8, -1});

/* Plain copies of lists and tables (list.h). A sentence names the option, the place in the list and
 * what was found there. */
#include "lua/list.h"

#include <math.h>

/* Raise: the value at `place` is not what the option takes. */
static void refuse(lua_State *L, int place, const char *what, const char *takes) {
  luaL_error(L, "'%s' got %s; it takes %s", what,
             lua_isnoneornil(L, place) ? "nothing"
                                       : lua_pushfstring(L, "a %s", luaL_typename(L, place)),
             takes);
}

/* lua_next and lua_rawset run no metamethod, and the copy has no metatable. */
void scl_lua_copy_table(lua_State *L, int place, const char *what) {
  if (lua_type(L, place) != LUA_TTABLE) refuse(L, place, what, "a table");
  luaL_checkstack(L, 8, what);
  lua_newtable(L);
  const int copy = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, place) != 0; lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, copy);
  }
  lua_replace(L, place);
}

/* For a table with gaps, Lua's length may be any place before a nil, so every element is looked
 * at. */
size_t scl_lua_list_length(lua_State *L, int place, const char *what) {
  static const char *const answers[] = {"__len", "__index"};
  if (lua_type(L, place) != LUA_TTABLE) refuse(L, place, what, "a list");
  luaL_checkstack(L, 8, what);
  for (size_t i = 0; i < 2; i++)
    if (luaL_getmetafield(L, place, answers[i]) != LUA_TNIL)
      luaL_error(L, "'%s' got a table with %s; it takes a plain list", what, answers[i]);
  const lua_Unsigned length = lua_rawlen(L, place);
  for (lua_Unsigned i = 1; i <= length; i++, lua_pop(L, 1))
    if (lua_rawgeti(L, place, (lua_Integer)i) == LUA_TNIL)
      luaL_error(L, "'%s' got a list without an element at place %I", what, (LUAI_UACINT)i);
  return (size_t)length;
}

size_t scl_lua_copy_list(lua_State *L, int place, size_t most, const char *what) {
  const size_t length = scl_lua_list_length(L, place, what);
  if (length > most)
    luaL_error(L, "'%s' got a list of %I elements; it takes %I at most", what, (LUAI_UACINT)length,
               (LUAI_UACINT)most);
  lua_newtable(L);
  for (size_t i = 1; i <= length; i++) {
    lua_rawgeti(
        L, place,
        (lua_Integer)
            i); /* a finalizer may have removed it: nil, which the reader of the element refuses */
    lua_rawseti(L, -2, (lua_Integer)i);
  }
  lua_replace(L, place);
  return length;
}

/* Raise: element i, on top of the stack, is not what the list takes. */
static void refuse_element(lua_State *L, size_t i, const char *what, const char *takes) {
  luaL_error(L, "'%s' has a %s at place %I; it takes %s", what, luaL_typename(L, -1),
             (LUAI_UACINT)i + 1, takes);
}

double scl_lua_list_number(lua_State *L, int place, size_t i, const char *what) {
  if (lua_rawgeti(L, place, (lua_Integer)i + 1) != LUA_TNUMBER)
    refuse_element(L, i, what, "numbers");
  const double value = lua_tonumber(L, -1);
  lua_pop(L, 1);
  return value;
}

size_t scl_lua_list_size(lua_State *L, int place, size_t i, size_t low, size_t high,
                         const char *what) {
  const double value = scl_lua_list_number(L, place, i, what);
  if (value >= (double)low && value <= (double)high && value == floor(value)) return (size_t)value;
  lua_rawgeti(L, place, (lua_Integer)i + 1);
  luaL_error(L, "'%s' has %s at place %I; it takes whole numbers from %I to %I", what,
             luaL_tolstring(L, -1, NULL), (LUAI_UACINT)i + 1, (LUAI_UACINT)low, (LUAI_UACINT)high);
  return 0;
}

double *scl_lua_list_numbers(lua_State *L, int place, size_t count, const char *what) {
  double *numbers = lua_newuserdatauv(L, (count + 1) * sizeof *numbers, 0);
  for (size_t i = 0; i < count; i++)
    numbers[i] = scl_lua_list_number(L, place, i, what);
  return numbers;
}

size_t *scl_lua_list_places(lua_State *L, int place, size_t count, size_t low, size_t high,
                            const char *what) {
  size_t *places = lua_newuserdatauv(L, (count + 1) * sizeof *places, 0);
  for (size_t i = 0; i < count; i++)
    places[i] = scl_lua_list_size(L, place, i, low, high, what) - low;
  return places;
}

void scl_lua_push_table(lua_State *L, int place, size_t i, const char *what) {
  if (lua_rawgeti(L, place, (lua_Integer)i + 1) != LUA_TTABLE) refuse_element(L, i, what, "tables");
  scl_lua_copy_table(L, lua_gettop(L), what);
}

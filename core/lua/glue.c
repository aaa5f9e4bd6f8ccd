#define _POSIX_C_SOURCE 200809L
/* Errors, checked arguments, fields of tables, and the debt of Lua's collector (glue.h). */
#include "lua/glue.h"

#include "base/interrupt.h"
#include "base/memory_left.h"
#include "lua/call.h"
#include <limits.h>
#include <math.h>
#include <string.h>

_Thread_local scl_status scl_lua_raised;
int scl_lua_raise(lua_State *L, const scl_error *error) {
  scl_lua_raised = error->status;
  luaL_where(L, 1);
  lua_pushstring(L, error->message[0] == 0 ? "failed without a message" : error->message);
  lua_concat(L, 2);
  return lua_error(L);
}

void scl_lua_check(lua_State *L, scl_status status, const scl_error *error) {
  if (status != SCL_STATUS_OK) scl_lua_raise(L, error);
}

int scl_lua_as_text(lua_State *L) {
  const bool text =
      lua_isstring(L, 1) || (luaL_callmeta(L, 1, "__tostring") && lua_isstring(L, -1));
  if (!text) lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  return 1;
}

void scl_lua_check_interrupt(lua_State *L) { SCL_LUA_TRY(L, scl_interrupt_check(&error)); }

/* Small requests are not checked: the allocator reports them. */
void scl_lua_check_room(lua_State *L, double bytes, const char *what) {
  if (bytes < 1 << 20 || bytes <= (double)scl_memory_left()) return;
  SCL_LUA_TRY(L, scl_fail_memory(&error, bytes < 1e18 ? (size_t)bytes : (size_t)1e18, what));
}

/* The metatable is made anew each time: such userdata are few and short-lived, and have no name
 * that a script could look up. */
void *scl_lua_new_guarded(lua_State *L, size_t size, lua_CFunction release) {
  void *guarded = memset(lua_newuserdatauv(L, size, 0), 0, size);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, release);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  return guarded;
}

/* The text is cut between two characters of UTF-8, never within one. */
const char *scl_lua_cut(lua_State *L, int place, const char *quote) {
  enum { MOST = 60, LONGEST = 4 }; /* bytes; those of a character of UTF-8 */
  size_t length, kept = MOST;
  const char *text = lua_tolstring(L, place, &length);
  if (length > MOST) {
    while (kept > MOST - LONGEST && ((unsigned char)text[kept] & 0xC0) == 0x80)
      kept--;
    text = lua_pushlstring(L, text, kept);
  }
  return lua_pushfstring(L, "%s%s%s%s", quote, text, length > MOST ? "..." : "", quote);
}

const char *scl_lua_shown(lua_State *L, int place) {
  const int type = lua_type(L, place);
  if (type == LUA_TNONE) return "nothing";
  if (type == LUA_TNUMBER || type == LUA_TBOOLEAN) return luaL_tolstring(L, place, NULL);
  if (type == LUA_TSTRING) return scl_lua_cut(L, place, "\"");
  if (type != LUA_TTABLE || luaL_getmetafield(L, place, "__tostring") == LUA_TNIL)
    return luaL_typename(L, place);
  lua_pop(L, 1);
  luaL_tolstring(L, place, NULL);
  return scl_lua_cut(L, -1, "");
}

/* A float that is whole is taken as well, because results of Lua's arithmetic often are floats. */
size_t scl_lua_check_size(lua_State *L, int place, size_t low, size_t high, const char *what) {
  const lua_Number value =
      lua_type(L, place) == LUA_TNUMBER ? lua_tonumber(L, place) : (lua_Number)NAN;
  if (!(value >= (double)low && value <= (double)high) || value != floor(value))
    luaL_error(L, "'%s' got %s; it takes a whole number from %I to %I", what,
               scl_lua_shown(L, place), (LUAI_UACINT)low, (LUAI_UACINT)high);
  return (size_t)value;
}

size_t scl_lua_opt_size(lua_State *L, int place, size_t low, size_t high, const char *what,
                        size_t absent) {
  return lua_isnoneornil(L, place) ? absent : scl_lua_check_size(L, place, low, high, what);
}

const double *scl_lua_opt_weights(lua_State *L, int place, size_t n) {
  if (lua_isnoneornil(L, place)) return NULL;
  const scl_matrix *from = scl_lua_hold_matrix(L, place);
  if (from->rows != n || from->cols != 1)
    luaL_error(L, "row weights are %I x %I where there are %I rows", (LUAI_UACINT)from->rows,
               (LUAI_UACINT)from->cols, (LUAI_UACINT)n);
  double *w = lua_newuserdatauv(L, (n + 1) * sizeof *w, 0);
  for (size_t i = 0; i < n; i++)
    w[i] = scl_matrix_get(from, i, 0);
  return w;
}

const char *scl_lua_check_path(lua_State *L, int place) {
  size_t length;
  if (lua_type(L, place) != LUA_TSTRING) /* Lua would convert a number to a text */
    luaL_error(L, "the path of a file is a text, and it got %s", scl_lua_shown(L, place));
  const char *path = lua_tolstring(L, place, &length);
  if (strlen(path) != length)
    luaL_error(L, "\"%s...\" is not the name of a file: it has a zero byte in it", path);
  if (length >= PATH_MAX)
    luaL_error(L, "%s is not the name of a file: it has %I bytes, and %d are the most",
               scl_lua_shown(L, place), (LUAI_UACINT)length, PATH_MAX - 1);
  return path;
}

const char *scl_lua_opt_path(lua_State *L, int place) {
  return lua_isnoneornil(L, place) ? NULL : scl_lua_check_path(L, place);
}

scl_dtype scl_lua_check_dtype(lua_State *L, int place) {
  if (lua_isnoneornil(L, place)) return SCL_DTYPE_FLOAT64;
  const char *name = lua_type(L, place) == LUA_TSTRING ? lua_tostring(L, place) : "";
  if (strcmp(name, "float64") == 0) return SCL_DTYPE_FLOAT64;
  if (strcmp(name, "float32") != 0)
    luaL_error(L, "'dtype' got %s; it takes \"float64\" or \"float32\"", scl_lua_shown(L, place));
  return SCL_DTYPE_FLOAT32;
}

/* ------------ fields */

bool scl_lua_field_flag(lua_State *L, int place, const char *key) {
  lua_getfield(L, place, key);
  const bool flag = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return flag;
}

double scl_lua_field_number(lua_State *L, int place, const char *key, double absent) {
  lua_getfield(L, place, key);
  const double number = luaL_optnumber(L, -1, absent);
  lua_pop(L, 1);
  return number;
}

size_t scl_lua_field_size(lua_State *L, int place, const char *key, size_t low, size_t high,
                          size_t absent) {
  size_t value = absent;
  if (lua_getfield(L, place, key) != LUA_TNIL)
    value = scl_lua_check_size(L, lua_gettop(L), low, high, key);
  lua_pop(L, 1);
  return value;
}

int scl_lua_field_word(lua_State *L, int place, const char *key, const char *const *words,
                       int absent) {
  int word = absent;
  if (lua_getfield(L, place, key) != LUA_TNIL) word = luaL_checkoption(L, -1, NULL, words);
  lua_pop(L, 1);
  return word;
}

int scl_lua_give_size(lua_State *L, size_t value) {
  lua_pushinteger(L, (lua_Integer)value);
  return 1;
}

int scl_lua_give_number(lua_State *L, double value) {
  lua_pushnumber(L, value);
  return 1;
}

int scl_lua_give_boolean(lua_State *L, bool value) {
  lua_pushboolean(L, value);
  return 1;
}

int scl_lua_give_text(lua_State *L, const char *value) {
  lua_pushstring(L, value);
  return 1;
}

int scl_lua_give_sizes(lua_State *L, size_t count, const size_t *values) {
  for (size_t i = 0; i < count; i++)
    lua_pushinteger(L, (lua_Integer)values[i]);
  return (int)count;
}

void scl_lua_push_numbers(lua_State *L, const double *list, size_t count) {
  lua_createtable(L, (int)count, 0);
  for (size_t i = 0; i < count; i++) {
    lua_pushnumber(L, list[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

void scl_lua_push_sizes(lua_State *L, const size_t *list, size_t count, size_t first) {
  lua_createtable(L, (int)scl_min(count, INT32_MAX), 0);
  for (size_t i = 0; i < count; i++) {
    lua_pushinteger(L, (lua_Integer)(list[i] + first));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

void scl_lua_push_texts(lua_State *L, const char *const *list, size_t count) {
  lua_createtable(L, (int)count, 0);
  for (size_t i = 0; i < count; i++) {
    lua_pushstring(L, list[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

void scl_lua_set_number(lua_State *L, const char *key, double value) {
  if (isnan(value)) return;
  lua_pushnumber(L, value);
  lua_setfield(L, -2, key);
}

void scl_lua_set_numbers(lua_State *L, size_t count, const scl_lua_number *numbers) {
  for (size_t i = 0; i < count; i++)
    scl_lua_set_number(L, numbers[i].key, numbers[i].value);
}

void scl_lua_set_integer(lua_State *L, const char *key, size_t value) {
  lua_pushinteger(L, (lua_Integer)value);
  lua_setfield(L, -2, key);
}

void scl_lua_set_integers(lua_State *L, size_t count, const scl_lua_integer *integers) {
  for (size_t i = 0; i < count; i++)
    scl_lua_set_integer(L, integers[i].key, integers[i].value);
}

void scl_lua_set_boolean(lua_State *L, const char *key, bool value) {
  lua_pushboolean(L, value);
  lua_setfield(L, -2, key);
}

void scl_lua_set_text(lua_State *L, const char *key, const char *value) {
  lua_pushstring(L, value);
  lua_setfield(L, -2, key);
}

void scl_lua_set_booleans(lua_State *L, size_t count, const scl_lua_boolean *booleans) {
  for (size_t i = 0; i < count; i++)
    scl_lua_set_boolean(L, booleans[i].key, booleans[i].value);
}

void scl_lua_set_texts(lua_State *L, size_t count, const scl_lua_text *texts) {
  for (size_t i = 0; i < count; i++)
    scl_lua_set_text(L, texts[i].key, texts[i].value);
}

void scl_lua_set_list(lua_State *L, const char *key, const double *list, size_t count) {
  scl_lua_push_numbers(L, list, count);
  lua_setfield(L, -2, key);
}

void scl_lua_set_matrix(lua_State *L, const char *key, scl_matrix *from) {
  scl_matrix *out = scl_lua_new_matrix(L);
  *out = *from;
  memset(from, 0, sizeof *from);
  scl_lua_account(L, scl_matrix_bytes(out));
  lua_setfield(L, -2, key);
}

/* ------------ memory */

/* Lua sees a matrix as a few bytes, so its collector would wait too long. Each fresh matrix adds to
 * a debt; a collection runs when the debt passes half of all allocated memory, 32 MB, and
 * the size of the Lua heap, which bounds the cost of a collection. */
void scl_lua_account(lua_State *L, size_t bytes) {
  static _Thread_local size_t debt;
  const size_t floor_bytes = (size_t)32 << 20, heap = (size_t)lua_gc(L, LUA_GCCOUNT) << 10;
  debt += bytes;
  if (debt < floor_bytes || debt < scl_max(heap, scl_allocated() / 2)) return;
  debt = 0;
  lua_gc(L, LUA_GCCOLLECT);
}

/* scullery.core: JSON texts from Lua tables and back (data/json.h), for the descriptions of saved
 * models.
 *
 *   boolean, text (UTF-8)       as in JSON
 *   whole number, other number  1, 1.5: each comes back as what it was, to the bit (1.0 as 1.0)
 *   table with 1 .. n alone     a list
 *   table with texts alone      an object, its names in order of their bytes; empty: {}
 *
 * All else is refused: infinities and NaN, which JSON has not; other keys; functions; more than
 * SCL_JSON_DEPTH levels. null is refused when it is read. */
#include "lua/json.h"

#include "data/number.h"
#include "lua/handle.h"
#include "lua/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCL_LUA_JSON "scullery.json"

/* ------------ writing */

static void delete_tree(void *tree) { cJSON_Delete(tree); }

/* A new node; raises where cJSON had no memory for it. */
static cJSON *check_made(lua_State *L, cJSON *made) {
  if (made == NULL) luaL_error(L, "not enough memory for a JSON text");
  return made;
}

static cJSON *encode(lua_State *L, int place, int depth);

/* A value's tree, owned by `into` at once, so that an error leaves nothing behind. */
static void put(lua_State *L, cJSON *into, const char *name, cJSON *value) {
  const bool done =
      name == NULL ? cJSON_AddItemToArray(into, value) : cJSON_AddItemToObject(into, name, value);
  if (done) return;
  cJSON_Delete(value);
  luaL_error(L, "not enough memory for a JSON text");
}

/* A whole number without a point, any other with a point or an exponent, so that reading gives back
 * an integer or a float as it was. 17 digits keep all bits. */
static cJSON *encode_number(lua_State *L, int place) {
  char text[40];
  if (lua_isinteger(L, place)) {
    (void)snprintf(text, sizeof text, "%lld", (long long)lua_tointeger(L, place));
    return check_made(L, cJSON_CreateRaw(text));
  }
  const double value = lua_tonumber(L, place);
  if (!isfinite(value)) luaL_error(L, "JSON has no %s", isnan(value) ? "nan" : "inf");
  const size_t length = scl_format_number(value, false, text);
  if (strpbrk(text, ".e") == NULL) memcpy(text + length, ".0", 3);
  return check_made(L, cJSON_CreateRaw(text));
}

/* The text at `place`; raises for one that JSON cannot hold. */
static const char *check_text(lua_State *L, int place) {
  size_t length;
  const char *text = lua_tolstring(L, place, &length);
  if (!scl_json_is_text(text, length))
    luaL_error(L, "a text of JSON is UTF-8 without zero bytes, and got bytes that are not");
  return text;
}

/* Whether the table has 1 .. n alone (n > 0), or texts alone. */
static bool is_list(lua_State *L, int place) {
  lua_Unsigned texts = 0, numbers = 0;
  const lua_Unsigned length = lua_rawlen(L, place);
  for (lua_pushnil(L); lua_next(L, place) != 0; lua_pop(L, 1)) {
    texts += lua_type(L, -2) == LUA_TSTRING;
    const lua_Integer key = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
    if (lua_type(L, -2) != LUA_TSTRING && (key < 1 || (lua_Unsigned)key > length))
      luaL_error(L,
                 "JSON has lists of 1 to n and objects with texts as names, and a table has the "
                 "key %s",
                 scl_lua_shown(L, -2));
    numbers += key > 0;
  }
  if (texts > 0 && numbers > 0) luaL_error(L, "JSON has lists or objects, and a table is both");
  return numbers > 0;
}

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The fields of the table at `place`, in order of their names, added to `into`, which a handle
 * owns. */
static void encode_object(lua_State *L, int place, cJSON *into, int depth) {
  size_t count = 0, i = 0;
  for (lua_pushnil(L); lua_next(L, place) != 0; lua_pop(L, 1))
    count++;
  const char **names = lua_newuserdatauv(L, (count + 1) * sizeof *names, 0);
  for (lua_pushnil(L); lua_next(L, place) != 0; lua_pop(L, 1))
    names[i++] = check_text(L, -2); /* the plain copy keeps the text */
  qsort(names, count, sizeof *names, compare_texts);
  for (i = 0; i < count; i++) {
    lua_getfield(L, place, names[i]);
    put(L, into, names[i], encode(L, lua_gettop(L), depth));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* A handle owns the tree of a table while it is filled, because encoding its values may raise. */
static cJSON *encode_table(lua_State *L, int place, int depth) {
  if (depth > SCL_JSON_DEPTH)
    luaL_error(L, "a table for JSON is nested too deeply, or holds itself");
  luaL_checkstack(L, 12, "JSON");
  scl_lua_copy_table(L, place, "json_encode");
  void **slot = scl_lua_new_handle(L, SCL_LUA_JSON, delete_tree);
  const bool list = is_list(L, place);
  cJSON *tree = check_made(L, list ? cJSON_CreateArray() : cJSON_CreateObject());
  *slot = tree;
  if (!list) encode_object(L, place, tree, depth + 1);
  const lua_Integer length = list ? (lua_Integer)lua_rawlen(L, place) : 0;
  for (lua_Integer i = 1; i <= length; i++) {
    lua_rawgeti(L, place, i);
    put(L, tree, NULL, encode(L, lua_gettop(L), depth + 1));
    lua_pop(L, 1);
  }
  *slot = NULL; /* the caller owns it from here on */
  lua_pop(L, 1);
  return tree;
}

/* The tree of the value at `place`, which the caller puts into another tree at once. */
static cJSON *encode(lua_State *L, int place, int depth) {
  switch (lua_type(L, place)) {
  case LUA_TBOOLEAN:
    return check_made(L, cJSON_CreateBool(lua_toboolean(L, place)));
  case LUA_TNUMBER:
    return encode_number(L, place);
  case LUA_TSTRING:
    return check_made(L, cJSON_CreateString(check_text(L, place)));
  case LUA_TTABLE:
    return encode_table(L, place, depth);
  default:
    luaL_error(L, "JSON has no %s", luaL_typename(L, place));
    return NULL;
  }
}

/* core.json_encode(value) -> text */
static int json_encode(lua_State *L) {
  cJSON *tree = encode(L, 1, 1);
  char *text = cJSON_PrintUnformatted(tree);
  cJSON_Delete(tree);
  if (text == NULL) return luaL_error(L, "not enough memory for a JSON text");
  lua_pushstring(L, text);
  cJSON_free(text);
  return 1;
}

/* ------------ reading */

static void release_json(void *json) {
  scl_json_release(json);
  scl_release(json);
}

/* A list or an object as a new table on the stack. visit() sees objects once their table is
 * filled. */
static void decode_members(lua_State *L, const scl_json *json, const cJSON *value,
                           scl_lua_json_visit visit, void *context) {
  lua_Integer place = 0;
  luaL_checkstack(L, 6, "JSON");
  lua_newtable(L);
  for (const cJSON *item = value->child; item != NULL; item = item->next) {
    scl_lua_push_json(L, json, item, visit, context);
    if (cJSON_IsObject(value))
      lua_setfield(L, -2, item->string);
    else
      lua_rawseti(L, -2, ++place);
  }
  if (visit != NULL && cJSON_IsObject(value)) visit(L, context, value);
}

void scl_lua_push_json(lua_State *L, const scl_json *json, const cJSON *value,
                       scl_lua_json_visit visit, void *context) {
  if (cJSON_IsBool(value)) {
    lua_pushboolean(L, cJSON_IsTrue(value));
  } else if (cJSON_IsNumber(value)) {
    const scl_json_number number = scl_json_number_of(json, value);
    if (number.is_whole)
      lua_pushinteger(L, (lua_Integer)number.whole);
    else
      lua_pushnumber(L, number.value);
  } else if (cJSON_IsString(value)) {
    lua_pushstring(L, value->valuestring);
  } else {
    decode_members(L, json, value, visit, context);
  }
}

/* core.json_decode(text[, what it is of, for sentences]) -> value */
static int json_decode(lua_State *L) {
  size_t length;
  const char *text = luaL_checklstring(L, 1, &length), *what = luaL_optstring(L, 2, "json_decode");
  scl_json *json = scl_lua_new_owned(L, SCL_LUA_JSON ".text", release_json, sizeof *json);
  SCL_LUA_TRY(L, scl_json_parse(text, length, what, json, &error));
  scl_lua_push_json(L, json, json->root, NULL, NULL);
  return 1;
}

SCL_LUA_CALLS(scl_lua_json_calls, {"json_encode", json_encode, 1}, {"json_decode", json_decode, 2});

/* scullery.core: whole texts in and out, for files that are fetched in another form than the one
 * that is kept. */
#include "lua/fetch.h"
#include "data/files/input.h"
#include "data/files/output.h"
#include "lua/call.h"

/* What is being read or written, owned by a userdata: whatever raises, its __gc gives it back. */
typedef struct held {
  scl_input *input;
  scl_output *output;
} held;

static int give_back(lua_State *L) {
  held *h = lua_touserdata(L, 1);
  if (h->input != NULL) scl_input_close(h->input);
  if (h->output != NULL) scl_output_abandon(h->output);
  *h = (held){0};
  return 0;
}

static held *new_held(lua_State *L) { return scl_lua_new_guarded(L, sizeof(held), give_back); }

/* core.read_text(path[, most]) -> what the file holds, unpacked when it is gzip: up to `most`
 * bytes, 1 GB if that is left out */
static int read_text(lua_State *L) {
  const char *path = scl_lua_check_path(L, 1);
  const size_t most =
      lua_isnoneornil(L, 2) ? (size_t)1 << 30 : scl_lua_check_size(L, 2, 0, SIZE_MAX >> 12, "most");
  scl_error error = {0};
  size_t taken = 0;
  held *h = new_held(L);
  scl_lua_check(L, scl_input_open(path, &h->input, &error), &error);
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  for (size_t got = 1; got > 0;) {
    char *room = luaL_prepbuffer(&text);
    scl_lua_check(L, scl_input_read(h->input, room, LUAL_BUFFERSIZE, &got, &error), &error);
    luaL_addsize(&text, got);
    taken += got;
    if (taken > most)
      return luaL_error(L, "%s: it holds more than %I bytes, which is too much for a text", path,
                        (LUAI_UACINT)most);
    scl_lua_check_interrupt(L);
  }
  luaL_pushresult(&text);
  scl_input_close(h->input);
  h->input = NULL;
  return 1;
}

/* core.write_text(path, text[, mode]): whole or not at all; mode: the file's permission bits, those
 * of the umask too */
static int write_text(lua_State *L) {
  size_t length;
  const size_t mode = lua_isnil(L, 3) ? 0 : scl_lua_check_size(L, 3, 1, 0777, "mode");
  const char *path = scl_lua_check_path(L, 1), *text = luaL_checklstring(L, 2, &length);
  scl_error error = {0};
  held *h = new_held(L);
  scl_lua_check(L, scl_output_open(path, &h->output, &error), &error);
  if (mode != 0) scl_output_set_mode(h->output, (unsigned)mode);
  scl_output_write(h->output, text, length);
  scl_output *output = h->output;
  h->output = NULL; /* commit ends it, well or badly */
  scl_lua_check(L, scl_output_commit(output, &error), &error);
  return 0;
}

void scl_lua_open_fetch(lua_State *L) {
  SCL_LUA_CALLS(L, {"read_text", read_text, 2}, {"write_text", write_text, 3});
}

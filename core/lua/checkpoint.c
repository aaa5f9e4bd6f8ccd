/* scullery.core: checkpoints of long fits (rows/checkpoint.h). lua/scullery/model/checkpoint.lua
 * decides what a checkpoint belongs to. */
#include "model/checkpoint.h"
#include "lua/handle.h"

#include <string.h>

static void close_checkpoint(void *checkpoint) { scl_checkpoint_close(checkpoint); }

/* core.checkpoint_open(path, identity, every) -> checkpoint: files path.sums, path.passes and
 * path.state; identity: a digest of what determines the fit; every: seconds */
static int checkpoint_open(lua_State *L) {
  const char *path = scl_lua_check_path(L, 1);
  size_t length;
  const char *identity = luaL_checklstring(L, 2, &length);
  const double every = luaL_checknumber(L, 3);
  if (length != SCL_CHECKPOINT_IDENTITY) return luaL_error(L, "an identity has 64 characters");
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_handle(L, SCL_LUA_CHECKPOINT, close_checkpoint),
                      scl_checkpoint, scl_checkpoint_open(path, identity, every, &made, &error));
  return 1;
}

/* core.checkpoint_begin(checkpoint, part, sums): what follows is this part of the work, and sums over
 * rows are those of this number */
static int checkpoint_begin(lua_State *L) {
  scl_checkpoint *checkpoint = scl_lua_take_handle(L, 1, SCL_LUA_CHECKPOINT);
  const size_t most = (size_t)1 << 53, part = scl_lua_check_size(L, 2, 0, most, "a part"),
               sums = scl_lua_check_size(L, 3, 0, most, "sums");
  scl_checkpoint_begin(checkpoint, part, sums);
  return 0;
}

SCL_LUA_CALLS(scl_lua_checkpoint_calls, {"checkpoint_open", checkpoint_open, 3},
              {"checkpoint_begin", checkpoint_begin, 3});

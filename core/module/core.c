/* The Lua module scullery.core: all functions of the engine that the project's Lua code calls, from
 * the lists of the files of core/lua. */
#define _GNU_SOURCE
#include "algebra/blas.h"
#include "base/environment.h"
#include "lua/sparse.h"
#include "lua/texts.h"
#include "plugin/instance.h"
#include "text/terms.h"
#include <commit.h> /* made by the build: cmake/commit.cmake */
#include <dlfcn.h>
#include <stdio.h>

int luaopen_scullery_core(lua_State *L);

/* core.share_functions(): a module in C that is loaded from now on may call the functions of
 * core/lua. Lua loads a module with its symbols hidden from others, so it is opened once more with
 * RTLD_GLOBAL. (The command exports these functions in any case.) */
static int share_functions(lua_State *L) {
  Dl_info info;
  (void)L;
  if (dladdr((void *)(uintptr_t)luaopen_scullery_core, &info) != 0 && info.dli_fname != NULL)
    (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
  return 0;
}

/* core.hash(text) -> a hash of 32 bits */
static int hash(lua_State *L) {
  size_t length;
  const char *text = luaL_checklstring(L, 1, &length);
  lua_pushinteger(L, scl_hash_text(text, length));
  return 1;
}

#define ADD_CALLS(name) scl_lua_set_calls(L, scl_lua_##name##_calls);

/* Called by require. Raises an error if an environment variable has an invalid value
 * (base/environment.h), or if BLAS cannot be prepared. */
__attribute__((visibility("default"))) int luaopen_scullery_core(lua_State *L) {
  char warning[SCL_WARNING];
  SCL_LUA_TRY(L, scl_environment_check(&error));
  if (scl_environment_warn(warning)) (void)fprintf(stderr, "scullery: %s\n", warning);
  SCL_LUA_TRY(L, scl_blas_start(&error));
  lua_newtable(L);
  scl_lua_add_class(L, &scl_lua_matrix_class);
  scl_lua_add_class(L, &scl_lua_sparse_class);
  scl_lua_add_class(L, &scl_lua_texts_class);
  scl_lua_open_progress(L);
  SCL_LUA_FILES(ADD_CALLS)
  SCL_LUA_INTEGERS(L, {"most_nested", SCL_MOST_NESTED}, {"most_within", SCL_MOST_WITHIN});
  SCL_LUA_FUNCTIONS(L, {"share_functions", share_functions}, {"hash", hash});
  scl_lua_set_text(L, "version", SCULLERY_VERSION);
  scl_lua_set_text(L, "commit", SCULLERY_COMMIT);
  return 1;
}

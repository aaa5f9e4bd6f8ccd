/* The Lua module scullery.core: everything that Lua code of the project can do with the engine. */
#define _GNU_SOURCE
#include "algebra/blas.h"
#include "base/environment.h"
#include "lua/fetch.h"
#include "lua/glue.h"
#include <dlfcn.h>
#include <stdio.h>

int luaopen_scullery_core(lua_State *L);

/* core.share_functions(): a module in C that is loaded from now on may call the functions of core/lua.
 * Lua loads modules for themselves alone; the command shows its functions anyway. */
static int share_functions(lua_State *L) {
  Dl_info info;
  (void)L;
  if (dladdr((void *)(uintptr_t)luaopen_scullery_core, &info) != 0 && info.dli_fname != NULL)
    (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
  return 0;
}

__attribute__((visibility("default"))) int luaopen_scullery_core(lua_State *L) {
  scl_error error = {0};
  char warning[SCL_WARNING];
  scl_lua_check(L, scl_environment_check(&error), &error);
  if (scl_environment_warn(warning)) (void)fprintf(stderr, "scullery: %s\n", warning);
  scl_lua_check(L, scl_blas_start(&error), &error);
  lua_newtable(L);
  scl_lua_open_matrix(L);
  scl_lua_open_random(L);
  scl_lua_open_source(L);
  scl_lua_open_data(L);
  scl_lua_open_fetch(L);
  scl_lua_open_plugin(L);
  scl_lua_open_define(L);
  scl_lua_open_options(L);
  scl_lua_open_map(L);
  scl_lua_open_rows(L);
  scl_lua_open_machine(L);
  scl_lua_open_labels(L);
  scl_lua_open_training(L);
  scl_lua_open_model(L);
  scl_lua_open_pruning(L);
  scl_lua_open_loss(L);
  scl_lua_open_probabilities(L);
  scl_lua_open_inspect(L);
  scl_lua_open_codes(L);
  scl_lua_open_progress(L);
  scl_lua_open_profile(L);
  scl_lua_open_json(L);
  scl_lua_open_saving(L);
  scl_lua_open_saved(L);
  scl_lua_open_predictor(L);
  scl_lua_open_predict(L);
  scl_lua_open_row_files(L);
  scl_lua_open_terminal(L);
  scl_lua_open_text(L);
  scl_lua_open_process(L);
  scl_lua_open_child(L);
  scl_lua_open_plugin_facts(L);
  scl_lua_open_folder(L);
  scl_lua_open_journal(L);
  scl_lua_open_worker(L);
  lua_pushcfunction(L, share_functions);
  lua_setfield(L, -2, "share_functions");
  lua_pushstring(L, SCULLERY_VERSION);
  lua_setfield(L, -2, "version");
  return 1;
}

/* Components that a script defines belong to its Lua state: another one in the process is refused
 * with a sentence, and so is the use of what is left when the state was closed. */
#include "lua/call.h"
#include "lua/handle.h"
#include "plugin/nonlinearity.h"
#include <lauxlib.h>
#include <lualib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int luaopen_scullery_core(lua_State *L);

static int failures;

static lua_State *open_state(void) {
  lua_State *L = luaL_newstate();
  if (L == NULL) exit(1);
  luaL_openlibs(L);
  luaL_requiref(L, "scullery.core", luaopen_scullery_core, 0);
  lua_settop(L, 0);
  lua_getglobal(L, "package");
  lua_pushfstring(L, "%s/share/lua/5.4/?.lua;%s/share/lua/5.4/?/init.lua", getenv("SCULLERY_BUILD"),
                  getenv("SCULLERY_BUILD"));
  lua_setfield(L, -2, "path");
  lua_pop(L, 1);
  return L;
}

/* What the code returns, or its error; the text lives until the next call. */
static const char *run(lua_State *L, const char *code) {
  lua_settop(L, 0);
  if (luaL_dostring(L, code) == LUA_OK && lua_gettop(L) == 0) return "";
  return luaL_tolstring(L, 1, NULL);
}

static void expect(const char *text, const char *part) {
  if (strstr(text, part) != NULL) return;
  (void)fprintf(stderr, "'%s' is not in '%s'\n", part, text);
  failures++;
}

static const char definition[] =
    "sc = require 'scullery'\n"
    "sc.nonlinearity.define{ name = 'twice', eval = function(z) return 2 * z end,\n"
    "  dual = function(m) return 4 * m.covariance end }\n"
    "X = sc.randn{ 5, 2, seed = 1 }\n"
    "function use() return sc.features{ p = sc.sampler.gaussian{ sigma = 1 },\n"
    "  phi = sc.nonlinearity.twice(), T = 3 }:fit(X):transform(X):rows() end\n";

/* Whoever asks for an instance while no call of the script runs, or on another thread. */
static void *create_here(void *unused) {
  const scl_component *component = NULL;
  scl_settings settings;
  scl_instance *instance = NULL;
  scl_error error = {0};
  (void)unused;
  if (scl_registry_find(SCL_KIND_NONLINEARITY, "twice", &component, &error) != SCL_STATUS_OK ||
      scl_settings_create("nonlinearity.twice", component->options, 0, NULL, 0, &settings,
                          &error) != SCL_STATUS_OK ||
      scl_instance_create(component, &settings, &instance, &error) == SCL_STATUS_OK)
    error = (scl_error){.message = "an instance was made"};
  expect(error.message, "nonlinearity.twice: ");
  expect(error.message, "this thread does not run that script");
  scl_instance_release(instance);
  return NULL;
}

/* A slot without a status, asked for on another thread, fails there. */
static void *ask_dual(void *instance) {
  const scl_moments moments = {0, 0, 1, 1, 0.5};
  scl_error error = {0};
  if (!isnan(scl_nonlinearity_dual(instance, &moments, &error))) failures++;
  expect(error.message, "nonlinearity.twice: dual cannot be called");
  expect(error.message, "this thread does not run that script");
  return NULL;
}

/* probe(instance) -> "asked": nothing is raised here */
static int probe(lua_State *L) {
  pthread_t thread;
  scl_instance *instance = scl_lua_check_instance(L, 1, SCL_KIND_NONLINEARITY);
  if (pthread_create(&thread, NULL, ask_dual, instance) == 0) (void)pthread_join(thread, NULL);
  lua_pushliteral(L, "asked");
  return 1;
}

static void add_probe(lua_State *L) {
  lua_newtable(L);
  static SCL_LUA_CALLS(calls, {"probe", probe, 1});
  scl_lua_set_calls(L, calls);
  lua_setglobal(L, "test");
}

int main(void) {
  pthread_t thread;
  lua_State *first = open_state(), *second = open_state();
  expect(run(first, definition), "");
  expect(run(first, "return use()"), "5");
  (void)create_here(NULL);
  if (pthread_create(&thread, NULL, create_here, NULL) == 0) (void)pthread_join(thread, NULL);
  add_probe(first);
  expect(run(first, "local component = require 'scullery.compose.component'\n"
                    "return test.probe(component.instance(sc.nonlinearity.twice()))"),
         "asked");
  expect(run(first, "return use()"), "5");
  expect(run(second, "sc = require 'scullery' return sc.nonlinearity.twice()"),
         "in another Lua state than the one that runs");
  expect(run(second, "return sc.plugin.info('nonlinearity.twice').path"), "[string");
  expect(run(second, definition), "");
  expect(run(second, "return use()"), "5");
  expect(run(first, "return use()"), "in another Lua state than the one that runs");
  lua_close(first);
  expect(run(second, "collectgarbage() return use()"), "5");
  lua_close(second);
  lua_State *third = open_state();
  expect(run(third, "sc = require 'scullery' return sc.nonlinearity.twice()"),
         "in a Lua state that was closed");
  expect(run(third, definition), "");
  expect(run(third, "return use()"), "5");
  lua_close(third);
  return failures == 0 ? 0 : 1;
}

#define _POSIX_C_SOURCE 200809L
/* The Lua module scullery.core: everything that Lua code of the project can do with the engine. */
#include "base/progress.h"
#include "lua/fetch.h"
#include "lua/glue.h"
#include "plugin/host.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------ a progress line on a terminal,
 * nothing in a pipe */

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct {
  double began, shown;
  int visible;
  char label[64];
} line;

/* core.progress_label(text or nil): what stands before the line until it is changed */
static int progress_label(lua_State *L) {
  (void)snprintf(line.label, sizeof line.label, "%s", luaL_optstring(L, 1, ""));
  return 0;
}

static void show_progress(const char *doing, double done, double total) {
  const double now = seconds();
  if (total <= 0) {
    if (line.visible) (void)fprintf(stderr, "\r\033[K");
    line.visible = 0;
    line.began = 0;
    return;
  }
  if (line.began == 0) line.began = line.shown = now;
  if (now - line.began < 1 || now - line.shown < 0.1) return;
  const double share = done / total, left = (now - line.began) * (1 - share) / fmax(share, 1e-9);
  (void)fprintf(stderr, "\r%s%s %3.0f%%, %.3g rows a second, %.0f s left\033[K", line.label, doing,
                100 * share, done / (now - line.began), left);
  (void)fflush(stderr);
  line.shown = now;
  line.visible = 1;
}

/* A plugin's line takes the place of the progress line, which comes back with the next report. Called
 * on any thread. */
static void show_log(const char *text) { (void)fprintf(stderr, "\r\033[Kscullery: %s\n", text); }

static int now(lua_State *L) {
  lua_pushnumber(L, seconds());
  return 1;
}

int luaopen_scullery_core(lua_State *L);

__attribute__((visibility("default"))) int luaopen_scullery_core(lua_State *L) {
  lua_newtable(L);
  scl_lua_open_matrix(L);
  scl_lua_open_random(L);
  scl_lua_open_source(L);
  scl_lua_open_data(L);
  scl_lua_open_fetch(L);
  scl_lua_open_plugin(L);
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
  scl_lua_open_json(L);
  scl_lua_open_saving(L);
  lua_pushcfunction(L, now);
  lua_setfield(L, -2, "now");
  lua_pushcfunction(L, progress_label);
  lua_setfield(L, -2, "progress_label");
  lua_pushstring(L, SCULLERY_VERSION);
  lua_setfield(L, -2, "version");
  if (isatty(STDERR_FILENO)) {
    scl_progress_set_hook(show_progress);
    scl_host_set_log(show_log);
  }
  return 1;
}

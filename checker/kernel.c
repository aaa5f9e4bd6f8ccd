/* scullery.checker: slots of kernels, on parameters in guarded memory, for checks of plugins.
 * Parameters are tables as scl_lua_check_parameters says. */
#include "plugin/kernel.h"
#include "checker/checker.h"
#include "checker/parameters.h"
#include "map/parameters.h"
#include "plugin/prepare.h"
#include <math.h>
#include <string.h>

static scl_const_parameters check_const_parameters(lua_State *L, int place) {
  const scl_parameters p = scl_lua_check_parameters(L, place);
  return scl_parameters_view(&p);
}

/* checker.kernel_gram(kernel, u, v, block[, all]): the block is K between u and v; with `all`, of
 * which v are some, after slot `prepare` on all -> whether it prepared anything */
static int gram(lua_State *L) {
  scl_instance *kernel = scl_lua_check_instance(L, 1, SCL_KIND_KERNEL);
  const scl_const_parameters u = check_const_parameters(L, 2);
  scl_const_parameters v = check_const_parameters(L, 3), all;
  const scl_block out = scl_lua_check_block(L, 4);
  scl_error error = {0};
  scl_prepared_work work = {0};
  scl_status status = SCL_STATUS_OK;
  luaL_argcheck(L,
                out.rows == u.count && out.cols == v.count && out.dtype == SCL_DTYPE_FLOAT64 &&
                    u.dim == v.dim,
                4, "a block of another shape or type");
  if (!lua_isnil(L, 5)) {
    all = check_const_parameters(L, 5);
    luaL_argcheck(L, all.dim == v.dim, 5, "parameters of other columns");
    status = scl_prepare(kernel, NULL, &all, SCL_DTYPE_FLOAT64, &work, &error);
  }
  const bool prepared = work.work != NULL;
  v.prepared = work.work;
  if (status == SCL_STATUS_OK)
    status = scl_kernel_gram(kernel, &u, &v, out.data, out.row_stride, &error);
  scl_prepared_release(&work);
  scl_lua_check(L, status, &error);
  lua_pushboolean(L, prepared);
  return 1;
}

/* checker.kernel_diagonal(kernel, u, memory) */
static int diagonal(lua_State *L) {
  const scl_instance *kernel = scl_lua_check_instance(L, 1, SCL_KIND_KERNEL);
  const scl_const_parameters u = check_const_parameters(L, 2);
  double *out = scl_lua_opt_guarded(L, 3, SCL_DTYPE_FLOAT64, u.count);
  scl_error error = {0};
  luaL_argcheck(L, out != NULL, 3, "memory expected");
  scl_lua_check(L, scl_kernel_diagonal(kernel, &u, out, &error), &error);
  return 0;
}

/* ------------ the simple form */

/* checker.kernel_simple(kernel) -> { pair = the word of SCL_PAIR_, finish, move = whether it has
 * that slot, scale = number }, or nothing where it has another form */
static int simple(lua_State *L) {
  static const char *const pairs[] = {"none",   "dot",  "squared-distance", "absolute-distance",
                                      "cosine", "angle"};
  const scl_instance *kernel = scl_lua_check_instance(L, 1, SCL_KIND_KERNEL);
  const scl_kernel *table = scl_instance_vtable(kernel);
  if (table->gram != NULL) return 0;
  lua_newtable(L);
  if (table->pair >= 0 && (size_t)table->pair < sizeof pairs / sizeof *pairs)
    scl_lua_set_text(L, "pair", pairs[table->pair]);
  scl_lua_set_boolean(L, "finish", table->finish != NULL);
  scl_lua_set_boolean(L, "move", table->move != NULL);
  scl_lua_set_number(L, "scale", scl_kernel_scale(kernel));
  return 1;
}

/* checker.kernel_finish(kernel, dim, length_u or nil, lengths_v or nil, count, memory): the slot,
 * in place on memory of `count` numbers */
static int finish(lua_State *L) {
  const scl_instance *kernel = scl_lua_check_instance(L, 1, SCL_KIND_KERNEL);
  scl_pair_row row = {.head = SCL_HEAD(scl_pair_row)};
  row.dim = scl_lua_check_size(L, 2, 0, INT32_MAX, "dim");
  row.length_u = luaL_optnumber(L, 3, 0);
  row.count = scl_lua_check_size(L, 5, 0, 1 << 20, "count");
  row.lengths_v = scl_lua_opt_guarded(L, 4, SCL_DTYPE_FLOAT64, row.count);
  double *numbers = scl_lua_opt_guarded(L, 6, SCL_DTYPE_FLOAT64, row.count);
  luaL_argcheck(L, numbers != NULL, 6, "memory expected");
  scl_error error = {0};
  scl_lua_check(L, scl_kernel_finish(kernel, &row, numbers, &error), &error);
  return 0;
}

/* checker.kernel_move(kernel, count, memory): the slot, in place */
static int move(lua_State *L) {
  const scl_instance *kernel = scl_lua_check_instance(L, 1, SCL_KIND_KERNEL);
  const size_t count = scl_lua_check_size(L, 2, 0, 1 << 20, "count");
  double *coordinates = scl_lua_opt_guarded(L, 3, SCL_DTYPE_FLOAT64, count);
  luaL_argcheck(L, coordinates != NULL, 3, "memory expected");
  scl_error error = {0};
  scl_lua_check(L, scl_kernel_move(kernel, count, coordinates, &error), &error);
  return 0;
}

/* ------------ with a sampler's law */

/* The law of the sampler at `place` for `dim` columns. degree > 0: of its parameters of that
 * in-degree alone. */
static void check_law(lua_State *L, int place, size_t dim, size_t degree, scl_law_set *out) {
  scl_instance *sampler = scl_lua_check_instance(L, place, SCL_KIND_SAMPLER);
  const scl_origin origin = scl_origin_of(sampler, dim, 0, 0, 0, NULL);
  scl_error error = {0};
  scl_lua_check(L, scl_law_create(&origin, out, &error), &error);
  scl_law *law = &out->law;
  if (degree == 0 || degree > dim) return;
  const double scale = law->degree_scale[degree];
  for (size_t j = 0; j < dim; j++)
    law->scale[j] *= scale;
  for (size_t s = 0; s <= dim; s++) {
    law->degree[s] = s == degree;
    law->degree_scale[s] = s == degree;
  }
  law->max_degree = degree;
}

static void set_tilt(lua_State *L, const scl_tilt *tilt) {
  const struct {
    const char *name;
    const double *list;
  } lists[] = {{"offset", tilt->offset},
               {"shrink", tilt->shrink},
               {"spread", tilt->spread},
               {"log0", tilt->log0},
               {"log1", tilt->log1},
               {"log2", tilt->log2},
               {"correlation", tilt->correlation},
               {"pair_scale", tilt->pair_scale}};
  lua_newtable(L);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    scl_lua_set_list(L, lists[i].name, lists[i].list, tilt->dim);
  SCL_LUA_NUMBERS(L, {"log_one", tilt->log_one}, {"log_diagonal", tilt->log_diagonal},
                  {"log_mass", tilt->log_mass});
}

/* checker.kernel_tilt(kernel, sampler, dim[, in-degree]) -> { offset, shrink, spread, log0, log1,
 * log2, correlation, pair_scale = lists, log_one, log_diagonal, log_mass }, or nothing where the
 * kernel has no closed form for the law */
static int tilt(lua_State *L) {
  const scl_instance *kernel = scl_lua_check_instance(L, 1, SCL_KIND_KERNEL);
  const size_t dim = scl_lua_check_size(L, 3, 1, 1 << 16, "dim"),
               degree = lua_isnoneornil(L, 4) ? 0 : scl_lua_check_size(L, 4, 0, dim, "in-degree");
  double *memory = lua_newuserdatauv(L, SCL_TILT_LISTS * dim * sizeof *memory, 0);
  if (!scl_instance_has(kernel, SCL_ABILITY_TILT)) return 0;
  for (size_t i = 0; i < SCL_TILT_LISTS * dim; i++)
    memory[i] = NAN; /* so that numbers not written are detected */
  scl_tilt out = scl_tilt_in(memory, dim);
  scl_law_set set;
  scl_error error = {0};
  check_law(L, 2, dim, degree, &set);
  const scl_status status = scl_kernel_tilt(kernel, &set.law, &out, &error);
  scl_law_release(&set);
  if (status == SCL_STATUS_UNSUPPORTED) return 0;
  scl_lua_check(L, status, &error);
  set_tilt(L, &out);
  return 1;
}

static void release_instance(void *instance) { scl_instance_release(instance); }

/* checker.kernel_bind(kernel, sampler, dim) -> the kernel bound to the sampler's law, and its
 * description ("width = 1.83") */
static int bind(lua_State *L) {
  scl_instance *kernel = scl_lua_check_instance(L, 1, SCL_KIND_KERNEL), *bound;
  const size_t dim = scl_lua_check_size(L, 3, 1, 1 << 16, "dim");
  void **slot = scl_lua_new_handle(L, SCL_LUA_INSTANCE, release_instance);
  const int made = lua_gettop(L);
  char text[200];
  scl_law_set set;
  scl_error error = {0};
  check_law(L, 2, dim, 0, &set);
  const scl_status status = scl_instance_bind(kernel, &set.law, &bound, &error);
  scl_law_release(&set);
  scl_lua_check(L, status, &error);
  *slot = bound;
  scl_kernel_describe(bound, text, sizeof text);
  lua_pushvalue(L, made);
  lua_pushstring(L, text);
  return 2;
}

/* checker.kernel_shift(kernel) -> "changes", "centres" or "keeps": K when a row is subtracted from
 * both */
static int shift(lua_State *L) {
  static const char *const words[] = {"changes", "centres", "keeps"};
  const scl_shift told = scl_kernel_shift(scl_lua_check_instance(L, 1, SCL_KIND_KERNEL));
  if (told < 0 || (size_t)told >= sizeof words / sizeof *words)
    return luaL_error(L, "slot shift says %d, which is none of its words", (int)told);
  lua_pushstring(L, words[told]);
  return 1;
}

SCL_LUA_CALLS(scl_checker_kernel_calls, {"kernel_gram", gram, 5}, {"kernel_diagonal", diagonal, 3},
              {"kernel_simple", simple, 1}, {"kernel_finish", finish, 6}, {"kernel_move", move, 3},
              {"kernel_shift", shift, 1}, {"kernel_tilt", tilt, 4}, {"kernel_bind", bind, 3});

/* scullery.core: plans of fits, and the first rows of a source that plans are made from. */
#include "learn/plan.h"
#include "base/memory_left.h"
#include "lua/list.h"
#include "lua/sparse.h"
#include "lua/training.h"

/* core.memory_left([trim]) -> bytes that this process can still get, and those that it holds: its
 * resident memory, or what the engine has allocated where the system does not tell. trim: give
 * released memory back to the system first. */
static int memory_left(lua_State *L) {
  if (lua_toboolean(L, 1)) scl_memory_trim();
  lua_pushnumber(L, (double)scl_memory_left());
  lua_pushnumber(L, (double)scl_max(scl_memory_resident(), scl_allocated()));
  return 2;
}

/* Copy the first rows of a source, into x or, of sparse rows, into csr; and go back to its
 * beginning. */
static scl_status read_first(scl_source *source, size_t count, scl_matrix *x, scl_csr *csr,
                             scl_matrix *y, scl_error *error) {
  scl_matrix *targets = source->targets > 0 ? y : NULL;
  if (!source->random_access && source->class->read == NULL && source->class->rewind == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "these rows can be read only once: a plan would use up the first ones");
  SCL_TRY(scl_matrix_create(count, source->targets, SCL_DTYPE_FLOAT64, y, error));
  if (csr != NULL) {
    SCL_TRY(scl_source_sparse(source, 0, count, csr, targets, error));
  } else {
    SCL_TRY(scl_matrix_create(count, source->cols, SCL_DTYPE_FLOAT64, x, error));
    SCL_TRY(scl_source_read(source, 0, count, x, targets, error));
  }
  if (source->class->rewind != NULL) scl_source_rewind(source);
  return SCL_STATUS_OK;
}

/* core.first_rows(source, most) -> X, Y of at most so many rows; X is sparse if they are */
static int first_rows(lua_State *L) {
  scl_source *source = scl_lua_take_handle(L, 1, SCL_LUA_SOURCE);
  const size_t most = scl_lua_check_size(L, 2, 1, 1 << 24, "rows"),
               count = scl_min(source->rows, most);
  scl_csr *csr = source->sparse ? scl_lua_new_csr(L) : NULL;
  scl_matrix *x = csr == NULL ? scl_lua_new_matrix(L) : NULL, *y = scl_lua_new_matrix(L);
  SCL_LUA_TRY(L, read_first(source, count, x, csr, y, &error));
  scl_lua_account(L, csr != NULL ? scl_csr_bytes(csr) : scl_matrix_bytes(x));
  scl_lua_account(L, scl_matrix_bytes(y));
  return 2;
}

/* The numbers of a plan as fields of the table on top of the stack. */
static void set_numbers(lua_State *L, const scl_plan *p) {
  const scl_cost *c = &p->cost;
  SCL_LUA_INTEGERS(L, {"rows", p->rows}, {"features", p->features}, {"targets", p->targets},
                   {"codes", p->codes}, {"tried", p->tried}, {"few", p->few},
                   {"modelled", p->modelled});
  SCL_LUA_BOOLEANS(L, {"told", p->told}, {"keeps", p->keeps});
  SCL_LUA_NUMBERS(L, {"numbers", p->numbers}, {"map", p->map}, {"walk", p->walk}, {"sums", p->sums},
                  {"summing", p->summing}, {"matrix", p->matrix}, {"gram", p->gram},
                  {"outer", p->outer}, {"multiplying", p->multiplying}, {"kept", p->kept},
                  {"solution", p->solution}, {"fetched", p->fetched}, {"judging", p->judging},
                  {"reading", p->reading}, {"making", p->making}, {"adding", p->adding},
                  {"sweeping", p->sweeping}, {"ending", p->ending}, {"reducing", p->reducing},
                  {"modelling", p->modelling}, {"power", p->power});
  SCL_LUA_NUMBERS(L, {"normal", c->normal}, {"reweighted", c->reweighted}, {"dual", c->dual},
                  {"grams", c->gram}, {"passes", c->passes}, {"columns", c->columns},
                  {"minibatch", c->minibatch}, {"factorised", c->factorised},
                  {"products", c->products}, {"steps", c->steps}, {"own", c->bytes});
  SCL_LUA_TEXTS(L, {"way", p->way}, {"note", c->note});
}

/* core.plan(training, solver, T, values, timed, codes, solved) -> a table of the numbers of
 * scl_plan and scl_cost (learn/plan.h, scullery/plugin/solver.h). T: parameters in place of those
 * of the map, or 0; values: a list of values of the path option, or nil; codes: those of another
 * plan, or 0. */
static int plan(lua_State *L) {
  enum { MOST_VALUES = 1000000 };
  scl_lua_training *t = scl_lua_take_training(L, 1);
  const scl_instance *solver = scl_lua_check_instance(L, 2, SCL_KIND_SOLVER);
  const size_t count = lua_isnil(L, 4) ? 0 : scl_lua_copy_list(L, 4, MOST_VALUES, "values");
  const scl_planned planned = {.parameters = scl_lua_check_size(L, 3, 0, (size_t)1 << 53, "T"),
                               .values =
                                   count == 0 ? NULL : scl_lua_list_numbers(L, 4, count, "values"),
                               .count = count,
                               .timed = lua_toboolean(L, 5),
                               .solved = lua_toboolean(L, 7),
                               .codes = scl_lua_check_size(L, 6, 0, (size_t)1 << 53, "codes")};
  scl_plan made;
  SCL_LUA_TRY(L, scl_training_plan(t->engine, solver, &planned, &made, &error));
  lua_newtable(L);
  set_numbers(L, &made);
  return 1;
}

SCL_LUA_CALLS(scl_lua_plan_calls, {"memory_left", memory_left, 1}, {"first_rows", first_rows, 2},
              {"plan", plan, 7});

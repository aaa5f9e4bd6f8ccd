/* scullery.core: a solver's loss, for guarantees. Solvers without "scullery.loss/1" minimise the
 * squared error. */
#include "lua/handle.h"

#include <math.h>

typedef struct loss {
  const scl_instance *solver;
  const scl_ability_loss *ability; /* NULL: squared error */
} loss;

static double value_of(const loss *l, size_t c, const double *f, const double *y) {
  if (l->ability != NULL) return l->ability->value(l->solver->self, c, f, y);
  double sum = 0;
  for (size_t j = 0; j < c; j++)
    sum += (f[j] - y[j]) * (f[j] - y[j]);
  return sum;
}

static void set_number(lua_State *L, const char *key, double value) {
  lua_pushnumber(L, value);
  lua_setfield(L, -2, key);
}

/* core.loss(solver, reach[, decisions, targets]) -> {squared, at_zero, bound, lipschitz[, mean]}:
 * the loss at f = 0 for y = 1, its largest value and its Lipschitz constant for |f| <= reach, its
 * mean over rows */
static int solver_loss(lua_State *L) {
  loss l = {scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE), NULL};
  const double reach = luaL_checknumber(L, 2), zero = 0, one = 1;
  if (l.solver->component->plugin->kind != SCL_KIND_SOLVER)
    return luaL_error(L, "this is no solver");
  l.ability = scl_instance_ability(l.solver, SCL_ABILITY_LOSS);
  lua_settop(L, 4);
  lua_newtable(L);
  lua_pushboolean(L, l.ability == NULL);
  lua_setfield(L, -2, "squared");
  set_number(L, "at_zero", value_of(&l, 1, &zero, &one));
  set_number(L, "bound",
             l.ability != NULL ? l.ability->bound(l.solver->self, reach)
                               : (reach + 1) * (reach + 1));
  set_number(L, "lipschitz",
             l.ability != NULL ? l.ability->lipschitz(l.solver->self, reach) : 2 * (reach + 1));
  if (lua_isnoneornil(L, 3)) return 1;
  const scl_matrix *f = scl_lua_check_matrix(L, 3), *y = scl_lua_check_matrix(L, 4);
  if (f->rows != y->rows || f->cols != y->cols || f->cols == 0)
    return luaL_error(L, "decisions are %d x %d and targets %d x %d", (int)f->rows, (int)f->cols,
                      (int)y->rows, (int)y->cols);
  double *row = lua_newuserdatauv(L, 2 * f->cols * sizeof *row, 0), sum = 0;
  for (size_t i = 0; i < f->rows; i++) {
    for (size_t j = 0; j < f->cols; j++) {
      row[j] = scl_matrix_get(f, i, j);
      row[f->cols + j] = scl_matrix_get(y, i, j);
    }
    sum += value_of(&l, f->cols, row, row + f->cols);
  }
  lua_pop(L, 1);
  set_number(L, "mean", sum / (double)f->rows);
  return 1;
}

void scl_lua_open_loss(lua_State *L) {
  static const luaL_Reg functions[] = {{"loss", solver_loss}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}

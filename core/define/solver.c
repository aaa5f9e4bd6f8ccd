/* Solvers of a script's functions (sc.solver.define): solve, the loss that it minimises, its
 * objective. The problem is an object of Lua (problem.c) that can be used until the function
 * returns. */
#include "define/define.h"
#include "define/problem.h"
#include "lua/matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct defined_solver {
  scl_defined base;
  scl_penalty penalty;
} defined_solver;

/* ------------ what solve returns */

/* A number of the table on top of the stack; `preset` if it is absent. */
static double result_number(lua_State *L, const char *name, double preset) {
  double number = preset;
  if (lua_getfield(L, -1, name) == LUA_TNUMBER)
    number = lua_tonumber(L, -1);
  else if (!lua_isnil(L, -1))
    luaL_error(L, "solve returned '%s' = %s, where a number belongs", name, scl_lua_shown(L, -1));
  lua_pop(L, 1);
  return number;
}

/* `outcome` of the table on top of the stack. It is required: whether a solver converged is never
 * guessed. */
static scl_outcome result_outcome(lua_State *L) {
  static const char *const words[] = {"", "converged", "stopped", "limit"};
  const char *word = lua_getfield(L, -1, "outcome") == LUA_TSTRING ? lua_tostring(L, -1) : "?";
  scl_outcome outcome = SCL_OUTCOME_NONE;
  for (scl_outcome one = SCL_OUTCOME_CONVERGED; one <= SCL_OUTCOME_LIMIT; one++)
    if (strcmp(word, words[one]) == 0) outcome = one;
  if (outcome == SCL_OUTCOME_NONE)
    luaL_error(L, "solve returned outcome = %s; it is \"converged\", \"stopped\" or \"limit\"",
               scl_lua_shown(L, -1));
  lua_pop(L, 1);
  return outcome;
}

/* Read the table on top of the stack that solve returned. Numbers that it does not have keep the
 * values that the host set. */
static void read_solution(lua_State *L, const scl_problem *p, scl_solution *out) {
  const int result = lua_gettop(L);
  out->outcome = result_outcome(L);
  const double iterations = result_number(L, "iterations", 0);
  if (!(iterations >= 0 && iterations <= 0x1p53) || iterations != floor(iterations))
    luaL_error(L, "solve returned iterations = %f, where a whole number belongs", iterations);
  out->iterations = (size_t)iterations;
  out->gap = result_number(L, "gap", out->gap);
  out->residual = result_number(L, "residual", out->residual);
  out->tolerance = result_number(L, "tolerance", out->tolerance);
  out->jitter = result_number(L, "jitter", out->jitter);
  out->score = result_number(L, "score", out->score);
  if (lua_getfield(L, result, "note") == LUA_TSTRING)
    (void)snprintf(out->note, sizeof out->note, "%s", lua_tostring(L, -1));
  lua_getfield(L, result, "coefficients");
  scl_defined_read_numbers(L, lua_gettop(L), p->features, p->targets, "'coefficients' of solve",
                           out->coefficients);
  lua_getfield(L, result, "intercept");
  if (out->intercept != NULL && lua_type(L, -1) == LUA_TNUMBER && p->targets == 1)
    out->intercept[0] = lua_tonumber(L, -1);
  else if (out->intercept != NULL && !lua_isnil(L, -1))
    scl_defined_read_numbers(L, lua_gettop(L), 1, p->targets, "'intercept' of solve",
                             out->intercept);
  lua_settop(L, result);
}

/* ------------ solve */

/* One call of the slot `solve`. */
typedef struct solve_call {
  const scl_problem *problem;
  scl_solution *out;
} solve_call;

/* Call the function below the top `arguments` values, the first of which is the view, with the
 * options added; its one result is left on the stack. The view is closed also after an error, which
 * is then raised again. */
static void call_with(lua_State *L, void **view, int arguments) {
  lua_pushvalue(L, SCL_DEFINED_OPTIONS);
  const int status = lua_pcall(L, arguments + 1, 1, 0);
  *view = NULL;
  if (status != LUA_OK) lua_error(L);
}

/* solve(problem, o) -> { coefficients = D x c, outcome =, and optional numbers of the solution } */
static int run_solve(lua_State *L) {
  const solve_call *c = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  const scl_defined_problem problem = {c->problem, c->problem->warm ? c->out->coefficients : NULL};
  lua_pushvalue(L, SCL_DEFINED_FUNCTION);
  void **view = scl_defined_push_problem(L, &problem);
  call_with(L, view, 1);
  if (!lua_istable(L, -1))
    return scl_defined_refuse(L, lua_gettop(L), "a table { coefficients =, outcome = }");
  read_solution(L, c->problem, c->out);
  return 0;
}

/* The slot `solve`. */
static scl_status solver_solve(const void *self, const scl_problem *problem, scl_solution *out,
                               scl_error *error) {
  solve_call c = {problem, out};
  return scl_defined_call(self, "solve", run_solve, &c, error);
}

/* ------------ objective */

/* One call of the ability `objective`. */
typedef struct objective_call {
  const scl_problem *problem;
  const double *coefficients, *intercept; /* D x c; c numbers or NULL */
  double *value;
} objective_call;

/* objective(problem, coefficients, intercept or nil, o) */
static int run_objective(lua_State *L) {
  const objective_call *c = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  const size_t targets = c->problem->targets;
  const scl_defined_problem problem = {c->problem, NULL};
  lua_pushvalue(L, SCL_DEFINED_FUNCTION);
  void **view = scl_defined_push_problem(L, &problem);
  scl_defined_push_matrix(L, c->coefficients, (ptrdiff_t)targets, c->problem->features, targets);
  if (c->intercept == NULL)
    lua_pushnil(L);
  else
    scl_defined_push_matrix(L, c->intercept, (ptrdiff_t)targets, 1, targets);
  call_with(L, view, 3);
  *c->value = scl_defined_result(L, lua_gettop(L), "a number");
  return 0;
}

/* The value of what solve minimises, at given coefficients: the checker compares solutions by
 * it. */
static scl_status solver_objective(const void *self, const scl_problem *problem,
                                   const double *coefficients, const double *intercept,
                                   double *value, scl_error *error) {
  objective_call c = {problem, coefficients, intercept, value};
  return scl_defined_call(self, "objective", run_objective, &c, error);
}

static const scl_ability_objective objective_ability = {SCL_HEAD(scl_ability_objective),
                                                        .objective = solver_objective};

/* ------------ loss */

/* The loss of one row: the script gets scores f and targets y as lists, or as one number each if
 * there is one target. */
static double loss_value(const void *self, size_t c, const double *f, const double *y) {
  double value;
  scl_defined_fill(self, "loss.value", 1, &value, "llo", c, f, c, y);
  return value;
}

/* The gradient of the loss by f, c numbers. */
static void loss_slope(const void *self, size_t c, const double *f, const double *y, double *out) {
  scl_defined_fill(self, "loss.slope", c, out, "=llo", c, f, c, y);
}

/* The largest value of the loss for |f| <= reach. */
static double loss_bound(const void *self, double reach) {
  double bound;
  scl_defined_fill(self, "loss.bound", 1, &bound, "no", reach);
  return bound;
}

/* The Lipschitz constant of the loss in f for |f| <= reach. */
static double loss_lipschitz(const void *self, double reach) {
  double lipschitz;
  scl_defined_fill(self, "loss.lipschitz", 1, &lipschitz, "no", reach);
  return lipschitz;
}

static const scl_ability_loss loss_ability = {SCL_HEAD(scl_ability_loss), .value = loss_value,
                                              .slope = loss_slope, .bound = loss_bound,
                                              .lipschitz = loss_lipschitz};

/* ------------ the kind */

/* The slot `penalty`. */
static scl_penalty solver_penalty(const void *self) {
  return ((const defined_solver *)self)->penalty;
}

static const scl_ability_penalty penalty_ability = {SCL_HEAD(scl_ability_penalty),
                                                    .penalty = solver_penalty};

/* penalty: a word, or a function of the options that returns one */
static int complete_solver(lua_State *L) {
  static const char *const words[] = {"none", "l2", "l1", "box", "rkhs", "signs", "other", NULL};
  defined_solver *self = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  const int place = scl_defined_field(L, "penalty", 1);
  self->penalty = SCL_PENALTY_L2;
  if (lua_isnil(L, place)) return 0;
  const char *word = lua_type(L, place) == LUA_TSTRING ? lua_tostring(L, place) : "";
  for (scl_penalty one = SCL_PENALTY_NONE; words[one] != NULL; one++)
    if (strcmp(words[one], word) == 0) {
      self->penalty = one;
      return 0;
    }
  return luaL_error(
      L,
      "'penalty' is %s; it is \"none\", \"l2\", \"l1\", \"box\", \"rkhs\", \"signs\" or \"other\"",
      scl_lua_shown(L, place));
}

/* Fill in the table and the abilities. Every defined solver declares its penalty (l2 by
 * default). */
static void describe_solver(lua_State *L, int fields, scl_definition *d) {
  d->table.solver = (scl_solver){SCL_TABLE(scl_solver, SCL_KIND_SOLVER), .solve = solver_solve};
  scl_define_offer(d, SCL_ABILITY_PENALTY, &penalty_ability);
  if (scl_define_has(L, fields, "loss.value")) scl_define_offer(d, SCL_ABILITY_LOSS, &loss_ability);
  if (scl_define_has(L, fields, "objective"))
    scl_define_offer(d, SCL_ABILITY_OBJECTIVE, &objective_ability);
}

const scl_define_kind scl_define_solver = {sizeof(defined_solver), describe_solver, complete_solver,
                                           NULL};

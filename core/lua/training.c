/* scullery.core: trainings (learn/problem.h): the rows, map and folds of a fit, with the sums that
 * solvers share; fits of solvers, and their scores on the folds held out.
 * lua/scullery/model/fitting.lua and judging.lua call them. */
#include "lua/training.h"

#include "learn/score.h"
#include "lua/list.h"
#include "model/sums.h"
#include "plugin/solver.h"
#include "processes/processes.h"

#include <math.h>
#include <string.h>

typedef scl_lua_training training;

/* The engine's training reads the arrays, so it goes first. */
static void release_training(void *pointer) {
  training *t = pointer;
  scl_training_destroy(t->engine);
  scl_fingerprints_release(&t->prints);
  SCL_RELEASE(t->stages, t->group, t->weights, t);
}

/* Fold numbers 1 .. groups from a Lua list. */
static void read_groups(lua_State *L, int place, training *t) {
  enum { MOST_FOLDS = 1000000 };
  const size_t rows = t->flow.source->rows, count = scl_lua_copy_list(L, place, rows, "folds");
  if (count != rows)
    luaL_error(L, "%I fold numbers for %I rows", (LUAI_UACINT)count, (LUAI_UACINT)rows);
  t->group = scl_allocate_array(rows + 1, sizeof *t->group);
  if (t->group == NULL) luaL_error(L, "not enough memory for fold numbers");
  int32_t most = 0;
  for (size_t i = 0; i < rows; i++) {
    t->group[i] = (int32_t)scl_lua_list_size(L, place, i, 1, MOST_FOLDS, "folds") - 1;
    if (t->group[i] > most) most = t->group[i];
  }
  t->flow.group = t->group;
  t->flow.groups = (size_t)most + 1;
}

/* Row weights, an n x 1 matrix: finite, at least 0, not all 0. */
static void read_weights(lua_State *L, int place, training *t) {
  const scl_matrix *from = scl_lua_check_matrix(L, place);
  const size_t rows = t->flow.source->rows;
  double total = 0;
  if (from->rows != rows || from->cols != 1)
    luaL_error(L, "row weights are %d x %d where there are %d rows", (int)from->rows,
               (int)from->cols, (int)rows);
  t->weights = scl_allocate_array(rows + 1, sizeof *t->weights);
  if (t->weights == NULL) luaL_error(L, "not enough memory for row weights");
  for (size_t i = 0; i < rows; i++) {
    t->weights[i] = scl_matrix_get(from, i, 0);
    if (!(t->weights[i] >= 0) || isinf(t->weights[i]))
      luaL_error(L, "row weight %d is %f: weights are finite and at least 0", (int)i + 1,
                 t->weights[i]);
    total += t->weights[i];
  }
  if (!(total > 0)) luaL_error(L, "all row weights are 0");
  t->flow.weights = t->weights;
}

/* The sums of the field `key` of the options, of features and targets like these; NULL: absent. */
static scl_row_sums *field_sums(lua_State *L, const char *key, const scl_flow *flow) {
  scl_row_sums *sums = scl_lua_field_handle(L, 4, key, SCL_LUA_SUMS);
  if (sums != NULL && (sums->whole->features != scl_flow_features(flow) ||
                       sums->whole->targets != flow->source->targets))
    luaL_error(L, "'%s' is of other features or targets", key);
  return sums;
}

/* core.training(source, stages, map, {classes =, dtype =, folds =, block =, allowance =, quiet =,
 * weights =, once = one solve, by_sums = solve from sums over the rows alone, fingerprints =, sums
 * = solve from these in place of the rows, from =, to = rows to learn from, checkpoint =, tiles =
 * processes share the tiles of matrices}) */
static int training_new(lua_State *L) {
  scl_lua_copy_table(L, 4, "options");
  training *t = scl_lua_new_owned(L, SCL_LUA_TRAINING, release_training, sizeof *t);
  const int made = lua_gettop(L);
  t->flow = scl_lua_flow(L, 1, 2, 3);
  t->stages = scl_allocate_array(t->flow.n_stages + 1, sizeof *t->stages);
  if (t->stages == NULL) return luaL_error(L, "not enough memory for a training");
  memcpy(t->stages, t->flow.stages, t->flow.n_stages * sizeof *t->stages);
  t->flow.stages = t->stages;
  const size_t rows = t->flow.source->rows;
  lua_getfield(L, 4, "dtype");
  if (t->flow.map == NULL) t->flow.dtype = scl_lua_check_dtype(L, lua_gettop(L));
  t->flow.block_rows = scl_lua_field_size(L, 4, "block", 1, SCL_LUA_BLOCK, t->flow.block_rows);
  t->flow.begin = scl_lua_field_size(L, 4, "from", 1, rows + 1, 1) - 1;
  t->flow.end = scl_lua_field_size(L, 4, "to", t->flow.begin + 1, rows + 1, 0);
  t->flow.checkpoint = scl_lua_field_handle(L, 4, "checkpoint", SCL_LUA_CHECKPOINT);
  t->flow.share_tiles = scl_lua_field_flag(L, 4, "tiles") && scl_processes_divide();
  t->flow.doing = scl_lua_field_flag(L, 4, "quiet") ? NULL : "learning";
  lua_getfield(L, 4, "folds");
  if (!lua_isnil(L, -1)) read_groups(L, lua_gettop(L), t);
  lua_getfield(L, 4, "weights");
  if (!lua_isnil(L, -1)) read_weights(L, lua_gettop(L), t);
  const size_t classes = scl_lua_field_size(L, 4, "classes", 0, INT32_MAX, 0);
  const double allowed = scl_lua_field_number(L, 4, "allowance", 1.5e9);
  if (!(allowed >= 0)) return luaL_error(L, "'allowance' got %f; it takes bytes", allowed);
  const size_t allowance = allowed < 0x1p62 ? (size_t)allowed : (size_t)1 << 62;
  SCL_LUA_TRY(L, scl_training_create(&t->flow,
                                     classes > 0 ? SCL_TASK_CLASSIFICATION : SCL_TASK_REGRESSION,
                                     classes, allowance, &t->engine, &error));
  if (scl_lua_field_flag(L, 4, "once")) scl_training_once(t->engine);
  const bool prints = scl_lua_field_flag(L, 4, "fingerprints");
  if (prints) t->flow.prints = &t->prints;
  if (prints || scl_lua_field_flag(L, 4, "by_sums"))
    scl_training_by_sums(t->engine, t->flow.prints);
  scl_row_sums *sums = field_sums(L, "sums", &t->flow);
  const scl_row_sums *like = field_sums(L, "like", &t->flow);
  if (sums != NULL) SCL_LUA_TRY(L, scl_training_give_sums(t->engine, sums->whole, &error));
  if (like != NULL) scl_training_like(t->engine, like->whole);
  if (sums != NULL || like != NULL) {
    lua_getfield(L, 4, sums != NULL ? "sums" : "like");
    scl_lua_tie(L, made, -1);
  }
  if (t->flow.checkpoint != NULL) {
    lua_getfield(L, 4, "checkpoint");
    scl_lua_tie(L, made, -1);
  }
  for (int place = 1; place <= 3; place += 2) /* the flow borrows source and map */
    if (!lua_isnil(L, place)) scl_lua_tie(L, made, place);
  /* the list of stages was copied: each stage is kept by itself */
  scl_lua_tie_list(L, made, 2, t->flow.n_stages);
  lua_pushvalue(L, made);
  return 1;
}

training *scl_lua_take_training(lua_State *L, int place) {
  return scl_lua_take_handle(L, place, SCL_LUA_TRAINING);
}

/* core.training_take_sums(training, other): the sums over the rows from a training on the same rows
 * with more parameters, where they serve */
static int training_take_sums(lua_State *L) {
  training *few = scl_lua_take_training(L, 1), *many = scl_lua_take_training(L, 2);
  SCL_LUA_TRY(L, scl_training_take_sums(few->engine, many->engine, &error));
  return 0;
}

/* core.training_know_sums(training, other): those of a training on the same rows with fewer
 * parameters, where they serve */
static int training_know_sums(lua_State *L) {
  training *many = scl_lua_take_training(L, 1), *few = scl_lua_take_training(L, 2);
  SCL_LUA_TRY(L, scl_training_know_sums(many->engine, few->engine, &error));
  return 0;
}

/* core.training_sum(training, constant): make the sums over the rows, for problems with a constant
 * or without, unless they exist */
static int training_sum(lua_State *L) {
  training *t = scl_lua_take_training(L, 1);
  SCL_LUA_TRY(L, scl_training_sum(t->engine, lua_toboolean(L, 2), &error));
  return 0;
}

/* core.training_has_sums(training) -> whether they exist */
static int training_has_sums(lua_State *L) {
  const training *t = scl_lua_take_training(L, 1);
  return scl_lua_give_boolean(L, scl_training_has_sums(t->engine));
}

typedef scl_lua_fits fits;

/* Matrices that became Lua's are empty by then. */
static void release_fits(void *pointer) {
  fits *f = pointer;
  for (size_t k = 0; k < f->count; k++) {
    scl_fit_release(&f->list[k]);
    scl_model_destroy(f->models[k]);
  }
  SCL_RELEASE(f->models, f->list, f);
}

fits *scl_lua_new_fits(lua_State *L, size_t groups, size_t each) {
  fits *f = scl_lua_new_owned(L, "scullery.fits", release_fits, sizeof *f);
  f->list = scl_allocate_zero((groups * each + 1) * sizeof *f->list);
  f->models = scl_allocate_zero((groups * each + 1) * sizeof *f->models);
  if (f->list == NULL || f->models == NULL) luaL_error(L, "not enough memory for solutions");
  return f;
}

void scl_lua_push_fit(lua_State *L, scl_fit *fit) {
  static const char *const outcomes[] = {"unknown", "converged", "stopped", "iterations exhausted"};
  const scl_solution *s = &fit->solution;
  lua_newtable(L);
  scl_lua_set_text(L, "status", outcomes[s->outcome]);
  scl_lua_set_integer(L, "iterations", s->iterations);
  SCL_LUA_NUMBERS(L, {"gap", s->gap}, {"residual", s->residual}, {"tolerance", s->tolerance},
                  {"jitter", s->jitter}, {"loss", fit->loss}, {"score", s->score});
  if (s->note[0] != 0) scl_lua_set_text(L, "note", s->note);
  if (fit->coefficients.storage == NULL) return; /* a model */
  scl_lua_set_matrix(L, "weights", &fit->coefficients);
  scl_lua_set_matrix(L, "intercept", &fit->intercept);
  if (fit->pilot.storage != NULL) scl_lua_set_matrix(L, "pilot", &fit->pilot);
}

/* What core.solve is asked. */
typedef struct solving {
  long *without;  /* folds to leave out, from 0; -1: none. `groups` of them */
  double *values; /* of the path option, `count` of them; NULL: the solver's own value */
  size_t groups, count;
  size_t each; /* fits for each fold: count, or 1 without values */
  bool many;   /* a list of folds was given */
} solving;

/* The arguments of core.solve at places 3 and 4, in userdata left on the stack. */
static solving read_solving(lua_State *L, const training *t) {
  enum { MOST_VALUES = 1000000 };
  solving s = {.many = lua_istable(L, 3)};
  s.groups = s.many ? scl_lua_copy_list(L, 3, MOST_VALUES, "without") : 1;
  if (s.groups == 0) luaL_error(L, "'without' got a list without folds");
  s.count = lua_isnil(L, 4) ? 0 : scl_lua_copy_list(L, 4, MOST_VALUES, "values");
  if (!lua_isnil(L, 4) && s.count == 0) luaL_error(L, "'values' got a list without numbers");
  s.each = s.count == 0 ? 1 : s.count;
  s.without = lua_newuserdatauv(L, (s.groups + 1) * sizeof *s.without, 0);
  for (size_t i = 0; i < s.groups; i++) {
    const double most = t->group == NULL ? 0 : (double)t->flow.groups,
                 fold = s.many ? scl_lua_list_number(L, 3, i, "without") : luaL_optnumber(L, 3, 0);
    if (!(fold >= 0 && fold <= most) || fold != floor(fold))
      luaL_error(L, "there is no fold %f", fold);
    s.without[i] = (long)fold - 1;
  }
  s.values = s.count == 0 ? NULL : scl_lua_list_numbers(L, 4, s.count, "values");
  return s;
}

/* The collector is told the bytes of the model, which it cannot see. */
void scl_lua_push_fit_model(lua_State *L, scl_model **model, size_t bytes) {
  void **slot = scl_lua_new_model(L);
  const int place = lua_gettop(L);
  const size_t targets = scl_model_targets(*model);
  *slot = *model;
  *model = NULL;
  scl_lua_account(L, bytes);
  lua_pushvalue(L, place);
  lua_setfield(L, place - 1, "model");
  lua_settop(L, place - 1);
  scl_lua_set_integer(L, "targets", targets);
}

/* core.solve(training, solver, without, values) -> list of fits, one for each value; without:
 * fold left out, 0 none, or a list of such, which gives a list of lists (solved side by side);
 * values: of the path option, or nil. Where the solver makes models a fit has `model` in place of
 * `weights` and `intercept`. */
static int solve(lua_State *L) {
  training *t = scl_lua_take_training(L, 1);
  scl_instance *solver = scl_lua_check_instance(L, 2, SCL_KIND_SOLVER);
  const bool models = scl_instance_has(solver, SCL_ABILITY_MODEL);
  const solving s = read_solving(L, t);
  fits *f = scl_lua_new_fits(L, s.groups, s.each);
  const size_t before = scl_allocated();
  SCL_LUA_TRY(L, scl_training_solve_groups(t->engine, solver, s.without, s.groups, s.values,
                                           s.count, f->list, f->models, &error));
  f->count = s.groups * s.each;
  const size_t now = scl_allocated(), grown = now > before ? now - before : 0,
               bytes = models ? grown / f->count : 0;
  if (!models) scl_lua_account(L, grown); /* sums and blocks of features that the training keeps */
  lua_createtable(L, (int)s.groups, 0);
  for (size_t i = 0; i < s.groups; i++) {
    lua_createtable(L, (int)s.each, 0);
    for (size_t k = 0; k < s.each; k++) {
      scl_lua_push_fit(L, &f->list[i * s.each + k]);
      if (models) scl_lua_push_fit_model(L, &f->models[i * s.each + k], bytes);
      lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  if (!s.many) lua_rawgeti(L, -1, 1);
  return 1;
}

/* A candidate from the plain table on top of the stack: {weights =, intercept =, pilot =} or
 * {model =}. */
static scl_candidate check_candidate(lua_State *L, const training *t) {
  const int place = lua_gettop(L);
  scl_candidate candidate = {.model = scl_lua_field_handle(L, place, "model", SCL_LUA_MODEL)};
  const size_t features = scl_flow_features(&t->flow), targets = t->flow.source->targets;
  if (candidate.model != NULL) {
    if (scl_model_features(candidate.model) != features ||
        scl_model_targets(candidate.model) != targets)
      luaL_error(L, "a candidate has the wrong shape");
    return candidate;
  }
  lua_getfield(L, place, "weights");
  lua_getfield(L, place, "intercept");
  candidate.coefficients = scl_lua_hold_matrix(L, place + 1);
  candidate.intercept = scl_lua_hold_matrix(L, place + 2);
  lua_getfield(L, place, "pilot");
  if (!lua_isnil(L, -1)) candidate.pilot = scl_lua_check_pilot(L, place + 3, features);
  if (candidate.coefficients->rows != features || candidate.coefficients->cols != targets ||
      candidate.intercept->rows != 1 || candidate.intercept->cols != targets)
    luaL_error(L, "a candidate has the wrong shape");
  lua_settop(L, place);
  return candidate;
}

/* candidates[fold][k] at `place`, `count` for each fold, in a userdata left on the stack. The
 * engine reads them by the shape of the training, so folds, counts and shapes are checked here. */
static scl_candidate *check_candidates(lua_State *L, int place, const training *t, size_t *count) {
  enum { MOST_CANDIDATES = 1000000 };
  const size_t groups = t->group == NULL ? 1 : t->flow.groups,
               given = scl_lua_copy_list(L, place, MOST_CANDIDATES, "candidates");
  if (t->flow.source->targets == 0) luaL_error(L, "these rows have no targets to judge by");
  scl_candidate *candidates = NULL;
  if (given != groups)
    luaL_error(L, "candidates for %I folds where there are %I", (LUAI_UACINT)given,
               (LUAI_UACINT)groups);
  for (size_t g = 0; g < groups; g++) {
    lua_rawgeti(L, place, (lua_Integer)g + 1);
    const int list = lua_gettop(L);
    const size_t found = scl_lua_copy_list(L, list, MOST_CANDIDATES, "candidates of a fold");
    if (g == 0) {
      *count = found;
      candidates = lua_newuserdatauv(L, (groups * found + 1) * sizeof *candidates, 0);
      lua_insert(L, list);
    } else if (found != *count)
      luaL_error(L, "fold %I has %I candidates, and fold 1 has %I", (LUAI_UACINT)g + 1,
                 (LUAI_UACINT)found, (LUAI_UACINT)*count);
    for (size_t k = 0; k < found; k++) {
      scl_lua_push_table(L, lua_gettop(L), k, "candidates of a fold");
      candidates[g * found + k] = check_candidate(L, t);
      if ((candidates[g * found + k].model == NULL) != (candidates[0].model == NULL))
        luaL_error(L, "candidates are all models, or none is");
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  return candidates;
}

/* core.score(training, candidates) -> tallies: candidates[fold][k] = {weights =, intercept =, pilot
 * =} or {model =}, judged on the rows of that fold; tallies alike: {rows, wrong, strangers, square,
 * target_sum, target_square}: counts of rows, of wrong labels and, among
 * them, of labels that are not classes; sum of (decision - y)^2; sums of y - shift and
 * (y - shift)^2 of the first target. The caller makes accuracy, error or R^2 of them. */
static int score(lua_State *L) {
  training *t = scl_lua_take_training(L, 1);
  const size_t groups = t->group == NULL ? 1 : t->flow.groups;
  size_t count;
  const scl_candidate *candidates = check_candidates(L, 2, t, &count);
  scl_tally *tallies = lua_newuserdatauv(L, (groups * count + 1) * sizeof *tallies, 0);
  SCL_LUA_TRY(L, scl_score(&t->flow, candidates, count, tallies, &error));
  lua_createtable(L, (int)groups, 0);
  for (size_t g = 0; g < groups; g++) {
    lua_createtable(L, (int)count, 0);
    for (size_t k = 0; k < count; k++) {
      const scl_tally *tally = &tallies[g * count + k];
      lua_createtable(L, 0, 3);
      SCL_LUA_NUMBERS(L, {"rows", tally->rows}, {"wrong", tally->wrong},
                      {"strangers", tally->strangers}, {"square", tally->square},
                      {"target_sum", tally->target_sum}, {"target_square", tally->target_square});
      lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    lua_rawseti(L, -2, (lua_Integer)g + 1);
  }
  return 1;
}

/* core.decisions_apart(training, candidates) -> decisions (n x (count c)), targets (n x c): every
 * row by the candidates of its fold, candidates[fold][1 .. count], side by side */
static int decisions_apart(lua_State *L) {
  training *t = scl_lua_take_training(L, 1);
  size_t count;
  const scl_candidate *candidates = check_candidates(L, 2, t, &count);
  scl_matrix *decisions = scl_lua_new_matrix(L), *targets = scl_lua_new_matrix(L);
  SCL_LUA_TRY(L, scl_decisions_apart(&t->flow, candidates, count, decisions, targets, &error));
  scl_lua_account(L, scl_matrix_bytes(decisions) + scl_matrix_bytes(targets));
  return 2;
}

/* core.objective(training, solver, weights[, intercept]) -> what the solver minimises there */
static int objective(lua_State *L) {
  training *t = scl_lua_take_training(L, 1);
  const scl_instance *solver = scl_lua_check_instance(L, 2, SCL_KIND_SOLVER);
  const scl_matrix *weights = scl_lua_hold_matrix(L, 3),
                   *intercept = lua_isnoneornil(L, 4) ? NULL : scl_lua_hold_matrix(L, 4);
  double value;
  SCL_LUA_TRY(L, scl_training_objective(t->engine, solver, weights, intercept, &value, &error));
  return scl_lua_give_number(L, value);
}

SCL_LUA_CALLS(scl_lua_training_calls, {"training", training_new, 4},
              {"training_take_sums", training_take_sums, 2},
              {"training_know_sums", training_know_sums, 2}, {"training_sum", training_sum, 2},
              {"training_has_sums", training_has_sums, 1}, {"solve", solve, 4},
              {"objective", objective, 4}, {"score", score, 2},
              {"decisions_apart", decisions_apart, 2});

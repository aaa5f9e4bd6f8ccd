/* Nonlinearities of a script's functions (sc.nonlinearity.define): eval, smooth, dual,
 * threshold_dual, and facts. A function is called for each row and parameter. */
#include "base/text.h"
#include "define/define.h"
#include "lua/list.h"

#include <math.h>
#include <string.h>

enum { MOST_FAN = 200, MOST_BREAKS = 1000 };

typedef struct defined_phi {
  scl_defined base;
  uint32_t fan_in, fan_out; /* numbers in and out of one call, from 1 to MOST_FAN */
  double *breaks;           /* points where phi or its derivative jumps, ascending; owned */
  char *formula;            /* phi as C, or NULL; owned */
  scl_ability_facts facts;
  scl_ability_harmonic harmonic;
  scl_ability_two_valued two_valued;
  bool has_facts, has_harmonic, has_values; /* which of the abilities above are offered */
} defined_phi;

/* ------------ eval and smooth */

/* One call of `eval` or `smooth` for a block of rows and parameters. */
typedef struct block_call {
  const defined_phi *self;
  const scl_const_block *z; /* inputs, or their means; fan_in planes */
  const scl_spread *v;      /* NULL: eval */
  const scl_block *out;     /* features; fan_out planes */
} block_call;

/* Push the fan_in numbers of row i and parameter j: z, or the means z and then the standard
 * deviations v. */
static void push_arguments(lua_State *L, const block_call *c, size_t i, size_t j) {
  const ptrdiff_t row = (ptrdiff_t)i, col = (ptrdiff_t)j;
  const double *z = (const double *)c->z->data + row * c->z->row_stride + col;
  for (size_t k = 0; k < c->z->planes; k++)
    lua_pushnumber(L, z[(ptrdiff_t)k * c->z->plane_stride]);
  if (c->v == NULL) return;
  const double *v = (const double *)c->v->data + row * c->v->row_stride + col * c->v->col_stride;
  for (size_t k = 0; k < c->z->planes; k++)
    lua_pushnumber(L, v[(ptrdiff_t)k * c->v->plane_stride]);
}

/* Call the function for one row and parameter: fan_in numbers to fan_out features. */
static void call_one(lua_State *L, const block_call *c, size_t i, size_t j) {
  const int arguments = (int)c->z->planes * (c->v == NULL ? 1 : 2) + 1,
            results = (int)c->out->planes, top = lua_gettop(L);
  lua_pushvalue(L, SCL_DEFINED_FUNCTION);
  push_arguments(L, c, i, j);
  lua_pushvalue(L, SCL_DEFINED_OPTIONS);
  scl_defined_invoke(L, arguments, results);
  double *out = (double *)c->out->data + (ptrdiff_t)i * c->out->row_stride + (ptrdiff_t)j;
  for (int k = 0; k < results; k++)
    out[k * c->out->plane_stride] = scl_defined_result(L, top + 1 + k, "a number");
  lua_settop(L, top);
}

/* out(i, j) = eval(z(i, j), options) for a block of rows and parameters. */
static int run_block(lua_State *L) {
  const block_call *c = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  luaL_checkstack(L, 3 * MOST_FAN + LUA_MINSTACK, "too many numbers");
  for (size_t i = 0; i < c->z->rows; i++)
    for (size_t j = 0; j < c->z->cols; j++)
      call_one(L, c, i, j);
  return 0;
}

/* out = phi(z), a block of rows and parameters. */
static scl_status phi_apply(const void *self, const scl_const_block *z, const scl_block *out,
                            scl_error *error) {
  block_call c = {self, z, NULL, out};
  return scl_defined_call(self, "eval", run_block, &c, error);
}

/* Whether no plane of (i, j) has a spread: S(m, 0) = phi(m). */
static bool is_still(const scl_const_block *m, const scl_spread *v, size_t i, size_t j) {
  const double *at =
      (const double *)v->data + (ptrdiff_t)i * v->row_stride + (ptrdiff_t)j * v->col_stride;
  for (size_t k = 0; k < m->planes; k++)
    if (at[(ptrdiff_t)k * v->plane_stride] > 0) return false;
  return true;
}

/* out(i, j) = smooth(m(i, j), v(i, j), options), or eval(m(i, j), options) if all standard
 * deviations are 0, so that the script's function gets only v > 0. The function of each call is
 * copied to SCL_DEFINED_FUNCTION, which messages name. */
static int run_smooth(lua_State *L) {
  const block_call *c = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  block_call still = *c;
  still.v = NULL;
  luaL_checkstack(L, 3 * MOST_FAN + LUA_MINSTACK, "too many numbers");
  lua_pushvalue(L, SCL_DEFINED_FUNCTION);
  lua_getfield(L, SCL_DEFINED_FIELDS, "eval");
  const int smooth_place = lua_gettop(L) - 1, eval_place = smooth_place + 1;
  for (size_t i = 0; i < c->z->rows; i++)
    for (size_t j = 0; j < c->z->cols; j++) {
      const bool at_rest = is_still(c->z, c->v, i, j);
      lua_copy(L, at_rest ? eval_place : smooth_place, SCL_DEFINED_FUNCTION);
      call_one(L, at_rest ? &still : c, i, j);
    }
  return 0;
}

/* out = S(m, v) = E phi(N(m, v^2)), v the standard deviations: the smoothing that a kernel's tilt
 * needs. */
static scl_status phi_smooth(const void *self, const scl_const_block *m, const scl_spread *v,
                             const scl_block *out, scl_error *error) {
  block_call c = {self, m, v, out};
  return scl_defined_call(self, "smooth", run_smooth, &c, error);
}

static const scl_ability_smoothing smoothing = {SCL_HEAD(scl_ability_smoothing),
                                                .smooth = phi_smooth};

/* ------------ duals */

/* E phi(a) phi(b) for a normal pair. The function may return nil, which is NaN: no closed form for
 * these moments. */
static double phi_dual(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                       double covariance) {
  const double moments[] = {mean_a, mean_b, var_a, var_b, covariance};
  double result;
  scl_defined_fill(self, "dual", 1, &result, "?mo", moments);
  return result;
}

/* E phi(a) phi(b) for step functions of two columns, given their distributions at the
 * thresholds. */
static double phi_threshold_dual(const void *self, double distribution_a, double distribution_b) {
  double result;
  scl_defined_fill(self, "threshold_dual", 1, &result, "?nno", distribution_a, distribution_b);
  return result;
}

static const scl_ability_gaussian_dual gaussian = {SCL_HEAD(scl_ability_gaussian_dual),
                                                   .dual = phi_dual};
static const scl_ability_threshold_dual threshold = {SCL_HEAD(scl_ability_threshold_dual),
                                                     .dual = phi_threshold_dual};

/* ------------ what depends on options */

/* fan_in or fan_out: how many numbers go into or come out of one call. */
static uint32_t read_fan(lua_State *L, const char *name) {
  const double fan = scl_defined_number(L, name, 1);
  if (!(fan >= 1 && fan <= MOST_FAN) || fan != floor(fan))
    luaL_error(L, "'%s' is %f, where a whole number from 1 to %d belongs", name, fan, MOST_FAN);
  return (uint32_t)fan;
}

/* Read 'breaks', an ascending list of numbers, if there is one. The instance owns the copy. */
static void read_breaks(lua_State *L, defined_phi *self) {
  const int top = lua_gettop(L), place = scl_defined_field(L, "breaks", 1);
  if (!lua_isnil(L, place)) {
    if (!lua_istable(L, place)) scl_defined_refuse(L, place, "a list of numbers ('breaks')");
    const size_t count = scl_lua_list_length(L, place, "'breaks'");
    if (count > MOST_BREAKS) luaL_error(L, "'breaks' lists more than %d numbers", MOST_BREAKS);
    self->breaks = scl_allocate_array(count + 1, sizeof *self->breaks);
    if (self->breaks == NULL) luaL_error(L, "not enough memory for 'breaks'");
    scl_defined_read_numbers(L, place, count, 1, "'breaks'", self->breaks);
    for (size_t i = 1; i < count; i++)
      if (!(self->breaks[i - 1] < self->breaks[i])) luaL_error(L, "'breaks' are not ascending");
    self->facts.breaks = self->breaks;
    self->facts.n_breaks = (uint32_t)count;
  }
  lua_settop(L, top);
}

/* Bound and Lipschitz constant (infinite: not known), breaks, and whether phi(c z) = phi(z), c > 0.
 * The ability is offered only where the script says at least one of them. */
static void read_facts(lua_State *L, defined_phi *self) {
  static const char *const names[] = {"bound", "lipschitz", "breaks", "scale_free"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    self->has_facts |= scl_define_has(L, SCL_DEFINED_FIELDS, names[i]);
  self->facts = (scl_ability_facts){SCL_HEAD(scl_ability_facts),
                                    scl_defined_number(L, "bound", INFINITY),
                                    scl_defined_number(L, "lipschitz", INFINITY),
                                    NULL,
                                    0,
                                    scl_lua_field_flag(L, SCL_DEFINED_FIELDS, "scale_free")};
  read_breaks(L, self);
}

/* Read 'formula', a text, if there is one. The instance owns the copy. */
static void read_formula(lua_State *L, defined_phi *self) {
  const int top = lua_gettop(L), place = scl_defined_field(L, "formula", 1);
  if (!lua_isnil(L, place)) {
    if (lua_type(L, place) != LUA_TSTRING) scl_defined_refuse(L, place, "a text ('formula')");
    self->formula = scl_copy_text(lua_tostring(L, place));
    if (self->formula == NULL) luaL_error(L, "not enough memory for 'formula'");
  }
  lua_settop(L, top);
}

/* two_valued: the table { low =, high =, zero_is_high = } of a nonlinearity with two values. */
static void read_two_values(lua_State *L, defined_phi *self) {
  if (lua_getfield(L, SCL_DEFINED_FIELDS, "two_valued") == LUA_TTABLE) {
    const int values = lua_gettop(L);
    self->has_values = true;
    self->two_valued = (scl_ability_two_valued){SCL_HEAD(scl_ability_two_valued),
                                                scl_lua_field_number(L, values, "low", 0),
                                                scl_lua_field_number(L, values, "high", 1),
                                                scl_lua_field_flag(L, values, "zero_is_high"), 0};
  }
  lua_pop(L, 1);
}

/* Read what depends on the options of this instance: shape, facts and abilities. */
static int complete_phi(lua_State *L) {
  defined_phi *self = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  self->fan_in = read_fan(L, "fan_in");
  self->fan_out = read_fan(L, "fan_out");
  read_facts(L, self);
  read_two_values(L, self);
  read_formula(L, self);
  self->has_harmonic = scl_define_has(L, SCL_DEFINED_FIELDS, "harmonic");
  self->harmonic =
      (scl_ability_harmonic){SCL_HEAD(scl_ability_harmonic), scl_defined_number(L, "harmonic", 0)};
  return 0;
}

static void release_phi(void *instance) {
  defined_phi *self = instance;
  scl_release(self->breaks);
  scl_release(self->formula);
}

/* The slot `formula`. */
static int phi_formula(const void *instance, char *text, size_t size) {
  const defined_phi *self = instance;
  return self->formula == NULL ? 0 : scl_write_text(self->formula, text, size);
}

/* The slot `shape`: the numbers that read_fan read for these options. */
static scl_status phi_shape(const void *instance, scl_shape *out, scl_error *error) {
  const defined_phi *self = instance;
  (void)error;
  out->fan_in = self->fan_in;
  out->fan_out = self->fan_out;
  return SCL_STATUS_OK;
}

/* The abilities whose numbers this instance has. */
static const void *phi_ability(const void *instance, const char *id) {
  const defined_phi *self = instance;
  if (self->has_facts && strcmp(id, SCL_ABILITY_FACTS) == 0) return &self->facts;
  if (self->has_harmonic && strcmp(id, SCL_ABILITY_HARMONIC) == 0) return &self->harmonic;
  if (self->has_values && strcmp(id, SCL_ABILITY_TWO_VALUED) == 0) return &self->two_valued;
  return NULL;
}

/* Abilities whose functions the script gives are offered for all instances. Those with numbers that
 * depend on options are offered by phi_ability, for each instance. */
static void describe_nonlinearity(lua_State *L, int fields, scl_definition *d) {
  d->table.nonlinearity =
      (scl_nonlinearity){SCL_TABLE(scl_nonlinearity, SCL_KIND_NONLINEARITY),
                         .spaces = scl_define_spaces(L, fields, SCL_SPACES_RIDGE),
                         .flags = scl_lua_field_flag(L, fields, "phase") ? SCL_SHAPE_PHASE : 0,
                         .tags = scl_define_text(L, fields, "tags", d),
                         .apply = phi_apply,
                         .shape = phi_shape,
                         .formula = phi_formula};
  d->plugin.ability = phi_ability;
  if (scl_define_has(L, fields, "smooth")) scl_define_offer(d, SCL_ABILITY_SMOOTHING, &smoothing);
  if (scl_define_has(L, fields, "dual")) scl_define_offer(d, SCL_ABILITY_GAUSSIAN_DUAL, &gaussian);
  if (scl_define_has(L, fields, "threshold_dual"))
    scl_define_offer(d, SCL_ABILITY_THRESHOLD_DUAL, &threshold);
}

const scl_define_kind scl_define_nonlinearity = {sizeof(defined_phi), describe_nonlinearity,
                                                 complete_phi, release_phi};

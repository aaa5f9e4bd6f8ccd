/* Arguments and results of a script's functions: numbers, matrices, random numbers, views of the
 * host's tables (define/define.h). */
#include "define/define.h"
#include "lua/list.h"
#include "lua/matrix.h"
#include "plugin/host.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ------------ calls and results */

/* Raise a sentence about a wrong result: of the function at SCL_DEFINED_FUNCTION, with the place of
 * its definition, or of a field that holds a value. */
static int blame(lua_State *L, const char *got, const char *belongs) {
  lua_Debug where;
  if (lua_type(L, SCL_DEFINED_FUNCTION) != LUA_TFUNCTION)
    return luaL_error(L, "it is %s, where %s belongs", got, belongs);
  lua_pushvalue(L, SCL_DEFINED_FUNCTION);
  lua_getinfo(L, ">S", &where);
  if (where.linedefined < 1) return luaL_error(L, "it returned %s, where %s belongs", got, belongs);
  return luaL_error(L, "the function at %s:%d returned %s, where %s belongs", where.short_src,
                    where.linedefined, got, belongs);
}

int scl_defined_refuse(lua_State *L, int place, const char *belongs) {
  return blame(L, lua_isnone(L, place) ? "nothing" : scl_lua_shown(L, place), belongs);
}

/* All results are asked for, so that one too many is an error instead of being dropped. */
void scl_defined_invoke(lua_State *L, int arguments, int results) {
  const int base = lua_gettop(L) - arguments - 1;
  lua_call(L, arguments, LUA_MULTRET);
  const int got = lua_gettop(L) - base;
  if (got > results) {
    const char *belongs = results == 1 ? "one value" : lua_pushfstring(L, "%d values", results);
    (void)blame(L, lua_pushfstring(L, "%d values", got), belongs);
  }
  lua_settop(L, base + results);
}

double scl_defined_result(lua_State *L, int place, const char *what) {
  if (lua_type(L, place) != LUA_TNUMBER) scl_defined_refuse(L, place, what);
  return lua_tonumber(L, place);
}

/* Sentences are about this field from now on. */
int scl_defined_field(lua_State *L, const char *name, int results) {
  lua_getfield(L, SCL_DEFINED_FIELDS, name);
  lua_pushvalue(L, -1);
  lua_replace(L, SCL_DEFINED_FUNCTION);
  if (!lua_isfunction(L, -1)) return lua_gettop(L);
  lua_pushvalue(L, SCL_DEFINED_OPTIONS);
  scl_defined_invoke(L, 1, results);
  return lua_gettop(L) - results + 1;
}

double scl_defined_number(lua_State *L, const char *name, double absent) {
  const int top = lua_gettop(L), place = scl_defined_field(L, name, 1);
  double number = absent;
  if (!lua_isnil(L, place)) {
    const char *belongs = lua_pushfstring(L, "a number ('%s')", name);
    number = scl_defined_result(L, place, belongs);
  }
  lua_settop(L, top);
  return number;
}

/* ------------ matrices */

void scl_defined_push_matrix(lua_State *L, const double *numbers, ptrdiff_t stride, size_t rows,
                             size_t cols) {
  const scl_matrix *out = scl_lua_make_matrix(L, rows, cols, SCL_DTYPE_FLOAT64);
  for (size_t i = 0; i < rows; i++)
    memcpy(scl_matrix_row(out, i), numbers + (ptrdiff_t)i * stride, cols * sizeof *numbers);
}

void scl_defined_read_numbers(lua_State *L, int place, size_t rows, size_t cols, const char *what,
                              double *out) {
  const scl_matrix *a = scl_lua_test_matrix(L, place);
  const char *belongs =
      lua_pushfstring(L,
                      rows == 1 || cols == 1 ? "%s, a %d x %d matrix or a list of as many numbers,"
                                             : "%s, a %d x %d matrix,",
                      what, (int)rows, (int)cols);
  if (a != NULL) {
    if (a->rows != rows || a->cols != cols) {
      lua_pushfstring(L, "a %d x %d matrix", (int)a->rows, (int)a->cols);
      luaL_error(L, "%s is %s, where %s belongs", what, lua_tostring(L, -1), belongs);
    }
    for (size_t i = 0; i < rows; i++)
      for (size_t j = 0; j < cols; j++)
        out[i * cols + j] = scl_matrix_get(a, i, j);
    lua_pop(L, 1);
    return;
  }
  if (lua_type(L, place) != LUA_TTABLE || (rows != 1 && cols != 1))
    scl_defined_refuse(L, place, belongs);
  const size_t length = scl_lua_list_length(L, place, what);
  if (length != rows * cols)
    luaL_error(L, "%s is a list of %I numbers, where %I belong", what, (LUAI_UACINT)length,
               (LUAI_UACINT)(rows * cols));
  for (size_t i = 0; i < length; i++) {
    if (lua_rawgeti(L, place, (lua_Integer)i + 1) != LUA_TNUMBER)
      luaL_error(L, "%s: its number %I is %s", what, (LUAI_UACINT)i + 1, scl_lua_shown(L, -1));
    out[i] = lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* ------------ calls with numbers */

enum { MOST_ARGUMENTS = 6 };

/* One argument of a call, by its letter in the format. */
typedef struct argument {
  char letter;
  double number; /* n */
  size_t count;  /* i: the number itself; r, l: length of a list */
  const double *list;
  ptrdiff_t stride;
} argument;

/* The arguments of scl_defined_each for its body. */
typedef struct each_call {
  size_t count, n_arguments;
  double *out;
  argument arguments[MOST_ARGUMENTS];
  bool nil, whole; /* nil is a result; one call returns all of out */
} each_call;

/* The arguments of a call by their format. Lists are borrowed until the call ends. */
static each_call read_format(size_t count, double *out, const char *format, va_list values) {
  each_call c = {.count = count, .out = out, .nil = *format == '?', .whole = *format == '='};
  for (format += c.nil || c.whole; *format != 0; format++) {
    argument *a = &c.arguments[c.n_arguments++];
    a->letter = *format;
    if (*format == 'n') a->number = va_arg(values, double);
    if (strchr("irl", *format) != NULL) a->count = va_arg(values, size_t);
    if (strchr("vrlm", *format) != NULL) a->list = va_arg(values, const double *);
    if (*format == 'r') a->stride = va_arg(values, ptrdiff_t);
  }
  return c;
}

/* Push one argument of call i. Its letters: see scl_defined_each. */
static void push_argument(lua_State *L, const argument *a, size_t i) {
  switch (a->letter) {
  case 'o':
    lua_pushvalue(L, SCL_DEFINED_OPTIONS);
    break;
  case 'i':
    lua_pushinteger(L, (lua_Integer)a->count);
    break;
  case 'n':
    lua_pushnumber(L, a->number);
    break;
  case 'v':
    lua_pushnumber(L, a->list[i]);
    break;
  case 'm':
    lua_createtable(L, 0, 5);
    SCL_LUA_NUMBERS(L, {"mean_a", a->list[0]}, {"mean_b", a->list[1]}, {"var_a", a->list[2]},
                    {"var_b", a->list[3]}, {"covariance", a->list[4]});
    break;
  default:
    if (a->letter == 'l' && a->count == 1)
      lua_pushnumber(L, a->list[0]);
    else
      scl_lua_push_numbers(L, a->list + (ptrdiff_t)i * a->stride, a->count);
  }
}

/* The body of scl_defined_each. */
static int run_each(lua_State *L) {
  const each_call *c = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  const int top = lua_gettop(L);
  for (size_t i = 0; i < (c->whole ? 1 : c->count); i++) {
    lua_pushvalue(L, SCL_DEFINED_FUNCTION);
    for (size_t k = 0; k < c->n_arguments; k++)
      push_argument(L, &c->arguments[k], i);
    scl_defined_invoke(L, (int)c->n_arguments, 1);
    if (c->whole && c->count > 1)
      scl_defined_read_numbers(L, top + 1, 1, c->count, "the slope", c->out);
    else if (c->nil && lua_isnil(L, top + 1))
      c->out[i] = NAN;
    else
      c->out[i] = scl_defined_result(L, top + 1, c->nil ? "a number or nil" : "a number");
    lua_settop(L, top);
  }
  return 0;
}

scl_status scl_defined_each(const void *self, const char *field, scl_error *error, size_t count,
                            double *out, const char *format, ...) {
  va_list values;
  va_start(values, format);
  each_call c = read_format(count, out, format, values);
  va_end(values);
  return scl_defined_call(self, field, run_each, &c, error);
}

/* Slots without a status report the failure to the host, which fails the call of the slot. */
void scl_defined_fill(const void *self, const char *field, size_t count, double *out,
                      const char *format, ...) {
  scl_error error = {0};
  va_list values;
  va_start(values, format);
  each_call c = read_format(count, out, format, values);
  va_end(values);
  if (scl_defined_call(self, field, run_each, &c, &error) != SCL_STATUS_OK)
    scl_host_get()->fail_call(error.status, "%s", error.message);
}

/* ------------ views */

void **scl_defined_push_view(lua_State *L, const char *name, const luaL_Reg *methods,
                             lua_CFunction index) {
  void **view = lua_newuserdatauv(L, sizeof *view, 0);
  *view = NULL;
  if (luaL_newmetatable(L, name)) {
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "methods"); /* for completion */
    if (index != NULL) lua_pushcclosure(L, index, 1);
    lua_setfield(L, -2, "__index");
    scl_lua_set_boolean(L, "__metatable", 0);
  }
  lua_setmetatable(L, -2);
  return view;
}

void *scl_defined_check_view(lua_State *L, int place, const char *name) {
  void **view = luaL_testudata(L, place, name);
  const char *short_name = strchr(name, '.') == NULL ? name : strchr(name, '.') + 1;
  if (view == NULL)
    luaL_error(L, "call it with a colon: it takes a %s, and got %s", short_name,
               scl_lua_shown(L, place));
  if (*view == NULL) luaL_error(L, "this %s is of a call that has ended", short_name);
  return *view;
}

/* ------------ random numbers */

#define DRAWS "scullery.draws"

/* draws:uniform([n]) and draws:normal([n]): the next n numbers of the parameter's address, so that
 * a parameter does not depend on those drawn before it. Without n one number, not a list. */
static int draw_numbers(lua_State *L, bool normal) {
  scl_defined_draws *draws = luaL_testudata(L, 1, DRAWS);
  if (draws == NULL)
    return luaL_error(L, "call it with a colon: it takes draws, and got %s", scl_lua_shown(L, 1));
  const bool one = lua_isnoneornil(L, 2);
  const size_t count = one ? 1 : scl_lua_check_size(L, 2, 0, 1 << 28, "n");
  double *numbers = lua_newuserdatauv(L, (count + 1) * sizeof *numbers, 0);
  const scl_random *random = scl_host_get()->random;
  (normal ? random->normal : random->uniform)(draws->address.seed, draws->address.stream,
                                              draws->index, draws->offset, count, numbers);
  draws->offset += count;
  if (one) {
    lua_pushnumber(L, numbers[0]);
    return 1;
  }
  scl_lua_push_numbers(L, numbers, count);
  return 1;
}

static int draw_uniform(lua_State *L) { return draw_numbers(L, false); }
static int draw_normal(lua_State *L) { return draw_numbers(L, true); }

scl_defined_draws *scl_defined_push_draws(lua_State *L, const scl_address *address) {
  scl_defined_draws *draws = lua_newuserdatauv(L, sizeof *draws, 0);
  *draws = (scl_defined_draws){.address = *address};
  if (luaL_newmetatable(L, DRAWS)) {
    lua_newtable(L);
    SCL_LUA_FUNCTIONS(L, {"uniform", draw_uniform}, {"normal", draw_normal});
    lua_setfield(L, -2, "__index");
    scl_lua_set_boolean(L, "__metatable", 0);
  }
  lua_setmetatable(L, -2);
  return draws;
}

/* ------------ blocks of rows */

/* A block of rows on its way to a function of a script. */
typedef struct seen_block {
  const scl_defined_visit *visit;
  const scl_rows *rows;
} seen_block;

/* The field `key` of the table on top: a rows x cols matrix, absent where there are no numbers. */
static void set_numbers(lua_State *L, const char *key, const double *numbers, size_t rows,
                        size_t cols) {
  if (numbers == NULL || cols == 0) return;
  scl_defined_push_matrix(L, numbers, (ptrdiff_t)cols, rows, cols);
  lua_setfield(L, -2, key);
}

/* function, block -> ; calls function({ first =, count =, X =, y =, weights =, places = }). The
 * matrices are copies, so that the script may keep them. */
static int show_block(lua_State *L) {
  const seen_block *seen = lua_touserdata(L, 2);
  const scl_rows *rows = seen->rows;
  const scl_const_block *features = &rows->features;
  lua_settop(L, 1);
  lua_createtable(L, 0, 6);
  SCL_LUA_INTEGERS(L, {"first", rows->first + 1}, {"count", rows->count});
  if (features->data != NULL && features->dtype == SCL_DTYPE_FLOAT64) {
    scl_defined_push_matrix(L, features->data, features->row_stride, rows->count, features->cols);
    lua_setfield(L, -2, "X");
  }
  set_numbers(L, "y", rows->targets, rows->count, seen->visit->targets);
  set_numbers(L, "weights", rows->weights, rows->count, 1);
  lua_createtable(L, (int)rows->count, 0);
  for (size_t i = 0; i < rows->count; i++) {
    lua_pushinteger(L, (lua_Integer)(rows->index != NULL ? rows->index[i] : rows->first + i) + 1);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "places");
  lua_call(L, 1, 0);
  return 0;
}

scl_status scl_defined_protected(lua_State *L, int arguments, scl_error *error) {
  const int handler = lua_gettop(L) - arguments;
  lua_pushcfunction(L, scl_lua_as_text);
  lua_insert(L, handler);
  const int status = lua_pcall(L, arguments, 0, handler);
  const scl_status result =
      status == LUA_OK
          ? SCL_STATUS_OK
          : scl_fail(error, status == LUA_ERRMEM ? SCL_STATUS_NO_MEMORY : SCL_STATUS_INTERNAL, "%s",
                     lua_tostring(L, -1));
  lua_settop(L, handler - 1);
  return result;
}

/* The engine calls this in the middle of a pass, so errors of Lua become a status. */
scl_status scl_defined_visit_rows(void *context, const scl_rows *rows, scl_error *error) {
  const scl_defined_visit *visit = context;
  const seen_block seen = {visit, rows};
  lua_State *L = visit->L;
  if (!lua_checkstack(L, LUA_MINSTACK)) return scl_fail_memory(error, 320, "Lua's stack");
  lua_pushcfunction(L, show_block);
  lua_pushvalue(L, visit->place);
  lua_pushlightuserdata(L, (void *)(uintptr_t)&seen);
  return scl_defined_protected(L, 2, error);
}

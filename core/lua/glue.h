/* Lua glue: userdata, argument checks, errors. No mathematics here. Every file core/lua/NAME.c, and
 * core/define/define.c, lists its functions of the table `scullery.core` in scl_lua_NAME_calls.
 *
 * `scullery.core` is private: only lua/scullery, the checker and tests call it, and change with it.
 * Options that a script passes to `sc` are checked where they are used first, in Lua or here, not
 * twice. What is checked here in any case is what protects memory: types of handles, sizes, shapes,
 * and lists and tables, which a script can change while the engine runs. */
#ifndef SCULLERY_GLUE_H
#define SCULLERY_GLUE_H

#include "algebra/matrix.h"
#include <lauxlib.h>
#include <lua.h>

/* Raise the sentence as a Lua error that begins with the line of the caller; does not return.
 * Release everything first. */
int scl_lua_raise(lua_State *L, const scl_error *error);
extern _Thread_local scl_status scl_lua_raised; /* the status of the last one */
/* Raise where status is not SCL_STATUS_OK. */
void scl_lua_check(lua_State *L, scl_status status, const scl_error *error);
/* A call that may fail, with `&error` among its arguments: raise where it does. */
#define SCL_LUA_TRY(L, call) \
  do { \
    scl_error error = {0}; \
    scl_lua_check(L, call, &error); \
  } while (0)
/* A message handler: the error as a text. An object without __tostring is told by its type. */
int scl_lua_as_text(lua_State *L);
/* Raise "interrupted!" if Ctrl-C was pressed: for work that stops at Ctrl-C but returns no status.
 * */
void scl_lua_check_interrupt(lua_State *L);
/* Raise if a size from a script needs more bytes than are left; call it before the allocation. */
void scl_lua_check_room(lua_State *L, double bytes, const char *what);

/* The matrix at `place`, or an argument error. The pointer is valid as long as the Lua value. */
scl_matrix *scl_lua_check_matrix(lua_State *L, int place);
/* The same, NULL if the value is not a matrix or was released. */
scl_matrix *scl_lua_test_matrix(lua_State *L, int place);
/* An empty matrix userdata on the stack, to be filled: make it first, compute into it afterwards,
 * and an error frees nothing by hand. */
scl_matrix *scl_lua_new_matrix(lua_State *L);
/* Add the bytes of a fresh object to the debt of Lua's collector: call it once the object is
 * filled. */
void scl_lua_account(lua_State *L, size_t bytes);

/* A fresh matrix, filled by a call that may fail: scl_status of (out, &error). */
#define SCL_LUA_PUSH_MATRIX(L, call) \
  do { \
    scl_matrix *out = scl_lua_new_matrix(L); \
    SCL_LUA_TRY(L, call); \
    scl_lua_account(L, scl_matrix_bytes(out)); \
  } while (0)

/* A userdata of that size on the stack, all zero, whose __gc calls release(L). It owns memory or a
 * file while a Lua error may jump over the end of the function. */
void *scl_lua_new_guarded(lua_State *L, size_t size, lua_CFunction release);
/* Replace the text on top of the stack by that of process 0 (processes/processes.h); `what` says
 * what is exchanged. Raises where the processes are at different calls. */
void scl_lua_share_text(lua_State *L, const char *what);
/* The text at `place` between quotes, or its beginning where it is long; left on the stack. */
const char *scl_lua_cut(lua_State *L, int place, const char *quote);
/* The value at `place` as one would type it, shortened if it is long; the type of a value that
 * cannot be typed. Texts are left on the stack. */
const char *scl_lua_shown(lua_State *L, int place);
/* A whole number in [low, high] at `place`, with a sentence that names `what` otherwise. */
size_t scl_lua_check_size(lua_State *L, int place, size_t low, size_t high, const char *what);
/* The same, `absent` for nil and for no argument. */
size_t scl_lua_opt_size(lua_State *L, int place, size_t low, size_t high, const char *what,
                        size_t absent);
/* The weights of n rows, an n x 1 matrix, copied to a userdata left on the stack; NULL for nil. */
const double *scl_lua_opt_weights(lua_State *L, int place, size_t n);
/* The path of a file at `place`: a text without a zero byte, because the system would cut
 * it there. */
const char *scl_lua_check_path(lua_State *L, int place);
/* The same, NULL for nil and for no argument. */
const char *scl_lua_opt_path(lua_State *L, int place);
/* "float64" or "float32" at `place` (absent: float64). */
scl_dtype scl_lua_check_dtype(lua_State *L, int place);

/* The field `key` of the table at `place`. */
bool scl_lua_field_flag(lua_State *L, int place, const char *key);
double scl_lua_field_number(lua_State *L, int place, const char *key, double absent);
size_t scl_lua_field_size(lua_State *L, int place, const char *key, size_t low, size_t high,
                          size_t absent);
/* The index of the field's text in a list that ends with NULL. */
int scl_lua_field_word(lua_State *L, int place, const char *key, const char *const *words,
                       int absent);

/* One result of a lua_CFunction: `return scl_lua_give_size(L, rows)`. A text that is NULL: nil. */
int scl_lua_give_size(lua_State *L, size_t value);
int scl_lua_give_number(lua_State *L, double value);
int scl_lua_give_boolean(lua_State *L, bool value);
int scl_lua_give_text(lua_State *L, const char *value);
/* Several sizes as results: return SCL_LUA_GIVE_SIZES(L, rows, cols); */
int scl_lua_give_sizes(lua_State *L, size_t count, const size_t *values);
#define SCL_LUA_GIVE_SIZES(L, ...) scl_lua_give_sizes(L, SCL_LUA_LIST(size_t, __VA_ARGS__))

/* Lists on the stack. */
void scl_lua_push_numbers(lua_State *L, const double *list, size_t count);
/* first: what is added to each, 1 for places that count from 0. */
void scl_lua_push_sizes(lua_State *L, const size_t *list, size_t count, size_t first);
void scl_lua_push_texts(lua_State *L, const char *const *list, size_t count);

/* Fields of the table on top of the stack. A number that is NaN: no field. A list: `count`
 * numbers. */
void scl_lua_set_number(lua_State *L, const char *key, double value);
void scl_lua_set_integer(lua_State *L, const char *key, size_t value);
void scl_lua_set_boolean(lua_State *L, const char *key, bool value);
void scl_lua_set_text(lua_State *L, const char *key, const char *value);
void scl_lua_set_list(lua_State *L, const char *key, const double *list, size_t count);
/* The same for several: SCL_LUA_INTEGERS(L, {"rows", 3}, {"cols", 2}) */
typedef struct scl_lua_number {
  const char *key;
  double value;
} scl_lua_number;
typedef struct scl_lua_integer {
  const char *key;
  size_t value;
} scl_lua_integer;
typedef struct scl_lua_boolean {
  const char *key;
  bool value;
} scl_lua_boolean;
typedef struct scl_lua_text {
  const char *key, *value;
} scl_lua_text;
void scl_lua_set_numbers(lua_State *L, size_t count, const scl_lua_number *numbers);
void scl_lua_set_integers(lua_State *L, size_t count, const scl_lua_integer *integers);
void scl_lua_set_booleans(lua_State *L, size_t count, const scl_lua_boolean *booleans);
void scl_lua_set_texts(lua_State *L, size_t count, const scl_lua_text *texts);
/* Two arguments: how many elements the list has, and the list. */
#define SCL_LUA_LIST(type, ...) \
  sizeof((const type[]){__VA_ARGS__}) / sizeof(type), (const type[]) { __VA_ARGS__ }
#define SCL_LUA_NUMBERS(L, ...) scl_lua_set_numbers(L, SCL_LUA_LIST(scl_lua_number, __VA_ARGS__))
#define SCL_LUA_INTEGERS(L, ...) scl_lua_set_integers(L, SCL_LUA_LIST(scl_lua_integer, __VA_ARGS__))
#define SCL_LUA_BOOLEANS(L, ...) scl_lua_set_booleans(L, SCL_LUA_LIST(scl_lua_boolean, __VA_ARGS__))
#define SCL_LUA_TEXTS(L, ...) scl_lua_set_texts(L, SCL_LUA_LIST(scl_lua_text, __VA_ARGS__))
/* Functions: SCL_LUA_FUNCTIONS(L, {"name", function}, ...) */
#define SCL_LUA_FUNCTIONS(L, ...) luaL_setfuncs(L, (const luaL_Reg[]){__VA_ARGS__, {NULL, NULL}}, 0)
/* The matrix becomes Lua's, and *from empty. */
void scl_lua_set_matrix(lua_State *L, const char *key, scl_matrix *from);

/* A function of scullery.core. It runs as a call into the engine (lua/call.h), with the most
 * arguments that it takes: more are dropped, fewer come as nil, so that place `arguments + 1` is not
 * its. arguments -1: a plain function of Lua. */
typedef struct scl_lua_call {
  const char *name;
  lua_CFunction function;
  int arguments;
} scl_lua_call;
/* The functions of a file: SCL_LUA_CALLS(scl_lua_rows_calls, {"transform", transform, 4}, ...) */
#define SCL_LUA_CALLS(list, ...) const scl_lua_call list[] = {__VA_ARGS__, {NULL, NULL, 0}}
/* Add the functions of such a list to the table on top of the stack. */
void scl_lua_set_calls(lua_State *L, const scl_lua_call *calls);

/* The files of this folder that have such a list, scl_lua_NAME_calls. */
// clang-format off
#define SCL_LUA_FILES(X) \
  X(matrix_make) X(sparse_make) X(random) X(source) X(data) X(data_options) X(files) X(plugin) X(define) X(options) X(map) X(rows) \
  X(machine) X(labels) X(training) X(sums) X(posterior) X(checkpoint) X(model) X(pruning) X(loss) X(probabilities) X(inspect) \
  X(codes) X(progress) X(profile) X(json) X(saving) X(saved) X(predict) X(row_files) \
  X(terminal) X(text) X(texts) X(process) X(plugin_facts) X(journal) X(worker) X(plan) X(processes) X(metric) X(formula) X(reader)
// clang-format on
#define SCL_LUA_DECLARE(name) extern const scl_lua_call scl_lua_##name##_calls[];
SCL_LUA_FILES(SCL_LUA_DECLARE)

/* Prepare the display of progress, and the class of its levels. */
void scl_lua_open_progress(lua_State *L);

#endif

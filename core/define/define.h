/* Components whose slots are functions of a script (sc.KIND.define): a descriptor, tables and
 * options made at run time, and slots that call into Lua.
 *
 * Lua runs in one thread. Work with such a component therefore stays in the thread of its call
 * (lua/call.h); a slot that is reached elsewhere fails with a sentence. */
#ifndef SCULLERY_LUA_DEFINE_H
#define SCULLERY_LUA_DEFINE_H

#include "lua/glue.h"
#include "plugin/instance.h"

typedef struct scl_definition scl_definition;

/* What one kind of component does in its own way: core/define/KIND.c. */
typedef struct scl_define_kind {
  size_t instance_size; /* of a struct that begins with an scl_defined */
  /* Fill in table and abilities, from the fields of the definition at place `fields`. */
  void (*describe)(lua_State *L, int fields, scl_definition *definition);
  lua_CFunction complete;  /* NULL, or a body that completes an instance, which is its context */
  void (*end)(void *self); /* NULL, or releases what `complete` allocated */
} scl_define_kind;

/* A component that a script defined. The registry points to it until the process ends, so it and
 * its texts and tables are never released. */
struct scl_definition {
  scl_plugin plugin; /* first: the descriptor that instances point to */
  union {
    scl_sampler sampler;
    scl_nonlinearity nonlinearity;
    scl_kernel kernel;
    scl_solver solver;
    scl_stage stage;
    scl_metric metric;
    scl_loss loss;
  } table;
  scl_ability abilities[SCL_MOST_ABILITIES + 1];
  size_t n_abilities;
  const scl_define_kind *kind;
  const char *place;         /* of the script, "script.lua:12" */
  struct scl_kept *kept;     /* memory of its texts and tables, a list */
  struct scl_script *script; /* the Lua state that defined it */
  int fields;                /* reference in that state: the table of the fields */
  size_t instances;          /* that exist now; guarded by the lock of call.c */
  bool replaced; /* a later definition has its name: release fields with the last instance */
};

/* The first member of every instance. */
typedef struct scl_defined {
  scl_base base;
  scl_definition *definition;
  struct scl_held *options; /* the table of its options in Lua */
} scl_defined;

extern const scl_define_kind scl_define_sampler, scl_define_nonlinearity, scl_define_kernel,
    scl_define_solver, scl_define_stage, scl_define_metric, scl_define_loss;

/* Offer an ability on behalf of all instances. The table is not copied. */
void scl_define_offer(scl_definition *definition, const char *id, const void *table);

/* ------------ for `describe`: fields */

/* Whether the table of fields at place `fields` has the field. */
bool scl_define_has(lua_State *L, int fields, const char *name);
/* The bits of the parameter spaces in the field "spaces", a list of names. */
uint32_t scl_define_spaces(lua_State *L, int fields, uint32_t absent);
/* A copy of the text in the field, kept with the definition; NULL if the field is absent. */
const char *scl_define_text(lua_State *L, int fields, const char *name, scl_definition *definition);

/* ------------ calls of a slot's function */

/* The stack on which a body starts. */
enum {
  SCL_DEFINED_CONTEXT = 1, /* light userdata */
  SCL_DEFINED_FIELDS,
  SCL_DEFINED_OPTIONS,
  SCL_DEFINED_FUNCTION, /* the field that the call is for */
  SCL_DEFINED_TOP = SCL_DEFINED_FUNCTION
};

/* out[i] = f(arguments) for i < count, f the function in the field. The format has a letter for
 * each argument:
 *
 *   o                                 the table of options
 *   n  double                         a number
 *   i  size_t                         a whole number
 *   v  const double *                 number i of these
 *   r  size_t, const double *, ptrdiff_t   row i, as a list: its length, the rows, their stride
 *   l  size_t, const double *         a list; one number as such
 *   m  const double *                 the five moments of two normal numbers, as a table
 *
 * '?' before the letters: a result nil is taken as NaN. '=' before them: a single call returns all
 * of out. */
scl_status scl_defined_each(const void *self, const char *field, scl_error *error, size_t count,
                            double *out, const char *format, ...);
/* The same for slots without a status: the slot's call fails with the sentence
 * (host->fail_call). */
void scl_defined_fill(const void *self, const char *field, size_t count, double *out,
                      const char *format, ...);

/* Run `body` in the Lua state of the running call, for the field of that name. It never raises: an
 * error of Lua becomes the sentence of the status, "eval: script.lua:3: ...". */
scl_status scl_defined_call(const void *self, const char *field, lua_CFunction body, void *context,
                            scl_error *error);

/* For bodies: call the function below the top `arguments` values, of which it takes all. Exactly
 * `results` values are left in their place: nil for missing ones; more are an error. */
void scl_defined_invoke(lua_State *L, int arguments, int results);
/* The number at `place` that the function returned; `what` says which, "its first result". */
double scl_defined_result(lua_State *L, int place, const char *what);
/* Raise: "eval (script.lua:3) returned nil, where a number belongs". */
int scl_defined_refuse(lua_State *L, int place, const char *belongs);
/* Push the value of a field, or, if it is a function, the `results` values that it returns for the
 * options. Returns the place of the first value. */
int scl_defined_field(lua_State *L, const char *name, int results);
/* The same as a number; `absent` for nil. The stack is left as it was. */
double scl_defined_number(lua_State *L, const char *name, double absent);

/* Push a float64 matrix with a copy of the numbers (rows at `stride`). */
void scl_defined_push_matrix(lua_State *L, const double *numbers, ptrdiff_t stride, size_t rows,
                             size_t cols);
/* Copy the rows x cols numbers at `place`, of a matrix or (if one side is 1) a list, to `out`,
 * without gaps; `what` names them in sentences. */
void scl_defined_read_numbers(lua_State *L, int place, size_t rows, size_t cols, const char *what,
                              double *out);

/* Random numbers for a script's function, on the stack: draws:uniform([n]), draws:normal([n]). They
 * depend only on the address, `index` (the parameter) and `offset` (numbers drawn before). */
typedef struct scl_defined_draws {
  scl_address address;
  uint64_t index, offset;
} scl_defined_draws;
scl_defined_draws *scl_defined_push_draws(lua_State *L, const scl_address *address);

/* Push a view: an object with fields and methods for a table of the host. The caller sets *view to
 * that table, and to NULL before the slot returns, so that later use raises an error. */
void **scl_defined_push_view(lua_State *L, const char *name, const luaL_Reg *methods,
                             lua_CFunction index);
/* The table of the view at `place`; raises an error if the view was closed. */
void *scl_defined_check_view(lua_State *L, int place, const char *name);
/* Call the function below the top `arguments` values, in a function that the engine calls: an error
 * of Lua becomes a status. */
scl_status scl_defined_protected(lua_State *L, int arguments, scl_error *error);
/* A visit of a walk over rows that calls the function at `place` with each block. context: an
 * scl_defined_visit. An error of Lua becomes a status. */
typedef struct scl_defined_visit {
  lua_State *L;
  int place;
  size_t targets; /* columns of the targets y */
} scl_defined_visit;
scl_status scl_defined_visit_rows(void *context, const scl_rows *rows, scl_error *error);

#endif

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

/* The part of one kind: core/define/KIND.c. */
typedef struct scl_define_kind {
  size_t instance_size; /* of a struct that begins with an scl_defined */
  /* Fill in table and abilities, from the fields of the definition at place `fields`. */
  void (*describe)(lua_State *L, int fields, scl_definition *definition);
  lua_CFunction complete;  /* NULL, or a body that completes an instance, its context */
  void (*end)(void *self); /* NULL, or what ends that */
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
  } table;
  scl_ability abilities[SCL_MOST_ABILITIES + 1];
  size_t n_abilities;
  const scl_define_kind *kind;
  const char *place;         /* of the script, "script.lua:12" */
  struct scl_kept *kept;     /* memory of its texts and tables, a list */
  struct scl_script *script; /* the Lua state that defined it */
  int fields;                /* reference in that state: the table of the fields */
  size_t instances;          /* that exist now; guarded by the lock of define_call.c */
  bool replaced; /* a later definition has its name: release fields with the last instance */
};

/* The first member of every instance. */
typedef struct scl_defined {
  scl_base base;
  scl_definition *definition;
  struct scl_held *options; /* the table of its options in Lua */
} scl_defined;

extern const scl_define_kind scl_define_sampler, scl_define_nonlinearity, scl_define_kernel,
    scl_define_solver;

/* Offer an ability on behalf of all instances. The table is not copied. */
void scl_define_offer(scl_definition *definition, const char *id, const void *table);

/* ------------------------------------------------------------ for `describe`: fields */

/* Whether the table of fields at place `fields` has the field. */
bool scl_define_has(lua_State *L, int fields, const char *name);
/* The bits of the parameter spaces in the field "spaces", a list of names. */
uint32_t scl_define_spaces(lua_State *L, int fields, uint32_t absent);
/* Zeroed memory that is kept as long as the definition; raises where there is none. */
void *scl_define_keep(lua_State *L, scl_definition *definition, size_t bytes);
/* A copy of the text in the field, kept with the definition; NULL where the field is absent. */
const char *scl_define_text(lua_State *L, int fields, const char *name, scl_definition *definition);

/* ------------------------------------------------------------ calls of a slot's function */

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
 *   r  size_t, const double *, ptrdiff_t   row i of so many numbers, as a list
 *   l  size_t, const double *         a list; one number as such
 *   m  const double *                 the five moments of two normal numbers, as a table
 *
 * '?' in front: nil is taken as NaN. '=' in front: one call, which returns all of out. */
scl_status scl_defined_each(const void *self, const char *field, scl_error *error, size_t count,
                            double *out, const char *format, ...);
/* The same for slots without a status: the call of the slot fails with the sentence. */
void scl_defined_fill(const void *self, const char *field, size_t count, double *out,
                      const char *format, ...);

/* Run body in the Lua state of the running call, for the field of that name; an error of Lua is the
 * status's sentence, "eval: script.lua:3: ...". Nothing jumps out of it. */
scl_status scl_defined_call(const void *self, const char *field, lua_CFunction body, void *context,
                            scl_error *error);

/* For bodies: call the function with the `arguments` values above it, `results` expected. */
void scl_defined_invoke(lua_State *L, int arguments, int results);
/* The number at `place` that the function returned; `what` says which, "its first result". */
double scl_defined_result(lua_State *L, int place, const char *what);
/* Raise: "eval (script.lua:3) returned nil, where a number belongs". */
int scl_defined_refuse(lua_State *L, int place, const char *belongs);
/* The field on the stack: itself, or what it returns of the options where it is a function. */
int scl_defined_field(lua_State *L, const char *name, int results);
/* The same as a number. */
double scl_defined_number(lua_State *L, const char *name, double absent);

/* Numbers as a float64 matrix on the stack. */
void scl_defined_push_matrix(lua_State *L, const double *numbers, ptrdiff_t stride, size_t rows,
                             size_t cols);
/* The rows x cols numbers at `place`, a matrix or (where one side is 1) a list, written packed;
 * `what` names them in sentences. */
void scl_defined_read_numbers(lua_State *L, int place, size_t rows, size_t cols, const char *what,
                              double *out);

/* Random numbers for a script's function, on the stack: draws:uniform([n]), draws:normal([n]). They
 * depend only on the address, `index` (the parameter) and `offset` (numbers drawn before). */
typedef struct scl_defined_draws {
  scl_address address;
  uint64_t index, offset;
} scl_defined_draws;
scl_defined_draws *scl_defined_push_draws(lua_State *L, const scl_address *address);

/* A view on the stack: an object with fields and methods for something of the host's. The caller
 * sets *view to it, and to NULL before the slot returns: later use raises a sentence. */
void **scl_defined_push_view(lua_State *L, const char *name, const luaL_Reg *methods,
                             lua_CFunction index);
/* The view at `place`; a sentence where it was closed. */
void *scl_defined_check_view(lua_State *L, int place, const char *name);
/* Call the function below so many arguments, for functions of ours that the engine calls: nothing
 * jumps out of it. */
scl_status scl_defined_protected(lua_State *L, int arguments, scl_error *error);
/* Call visit(rows) with the function at `place` for a block of rows: for visits of a walk, which
 * nothing jumps out of. context: the Lua state and the place. */
typedef struct scl_defined_visit {
  lua_State *L;
  int place;
  size_t targets;
} scl_defined_visit;
scl_status scl_defined_visit_rows(void *context, const scl_rows *rows, scl_error *error);

#endif

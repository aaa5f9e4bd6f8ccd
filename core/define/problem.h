/* The problem that a solver of a script is handed, as an object of Lua. */
#ifndef SCULLERY_LUA_DEFINE_PROBLEM_H
#define SCULLERY_LUA_DEFINE_PROBLEM_H

#include "define/define.h"

typedef struct scl_defined_problem {
  const scl_problem *problem;
  const double *start; /* D x c, the point to start from, or NULL */
} scl_defined_problem;

/* The object on the stack; set *view to NULL before the slot returns. */
void **scl_defined_push_problem(lua_State *L, const scl_defined_problem *problem);

#endif

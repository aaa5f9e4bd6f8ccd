/* The problem that a solver of a script gets, as an object of Lua. */
#ifndef SCULLERY_LUA_DEFINE_PROBLEM_H
#define SCULLERY_LUA_DEFINE_PROBLEM_H

#include "define/define.h"

typedef struct scl_defined_problem {
  const scl_problem *problem;
  const double *start; /* D x c, the point to start from, or NULL */
} scl_defined_problem;

/* Push the object. *problem must live until the slot returns; the caller sets *view to NULL
 * before. */
void **scl_defined_push_problem(lua_State *L, const scl_defined_problem *problem);

#endif

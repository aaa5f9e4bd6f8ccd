/* The checker of plugins: the Lua module scullery.checker, in C, which `scullery plugin check`
 * loads. Each checker/NAME.c that has functions for Lua lists them in scl_checker_NAME_calls. What
 * they share with scullery.core (core/lua: handles, errors, running calls) they take from the
 * program or module that loaded it. */
#ifndef SCULLERY_CHECKER_H
#define SCULLERY_CHECKER_H

#include "lua/glue.h"

// clang-format off
#define SCL_CHECKER_FILES(X) \
  X(process) X(blocks) X(sampler) X(nonlinearity) X(kernel) X(solver) X(transport) X(stage) X(at_once) \
  X(sums) X(metric) X(loss) X(reader) X(domain)
// clang-format on
#define SCL_CHECKER_DECLARE(name) extern const scl_lua_call scl_checker_##name##_calls[];
SCL_CHECKER_FILES(SCL_CHECKER_DECLARE)

#endif

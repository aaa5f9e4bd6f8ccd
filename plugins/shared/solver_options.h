/* Options that many solvers have, for members lambda, tolerance, max_iterations and seed of the
 * instance. `text` is the default as typed, `meaning` the help. */
#ifndef SCULLERY_SHARED_SOLVER_OPTIONS_H
#define SCULLERY_SHARED_SOLVER_OPTIONS_H

#include <scullery/plugin.h>

/* set: SCL_POSITIVE or SCL_NOT_NEGATIVE */
#define SOLVER_LAMBDA(type, text, meaning, set) \
  { \
    .name = "lambda", .help = meaning, .fallback = text, .forms = SCL_FORM_NUMBER, \
    SCL_AT(type, lambda), set, .role = SCL_ROLE_REGULARISATION \
  }

#define SOLVER_TOLERANCE(type, text, meaning) \
  { \
    .name = "tolerance", .help = meaning, .fallback = text, .forms = SCL_FORM_NUMBER, \
    SCL_AT(type, tolerance), .range = SCL_RANGE_LOW_OPEN, .low = 0, .high = 1, \
    .role = SCL_ROLE_TOLERANCE \
  }

#define SOLVER_MAX_ITERATIONS(type, text, meaning) \
  { \
    .name = "max_iterations", .help = meaning, .fallback = text, .forms = SCL_FORM_INTEGER, \
    SCL_AT(type, max_iterations), SCL_WITHIN(1, 1e9) \
  }

/* Up to 2^53: every value is a number of Lua. */
#define SOLVER_SEED(type, meaning) \
  { \
    .name = "seed", .help = meaning, .fallback = "0", .forms = SCL_FORM_INTEGER, \
    SCL_AT(type, seed), SCL_WITHIN(0, 9007199254740992) \
  }

/* The host reads it by its role: in solvers whose penalty is about the whole function, and in those
 * that penalise weights. */
#define SOLVER_INTERCEPT \
  { \
    .name = "intercept", .help = "fit an unpenalised constant", .fallback = "false", \
    .forms = SCL_FORM_BOOLEAN, .role = SCL_ROLE_INTERCEPT \
  }

/* For least squares with either penalty; member: int32_t penalty. */
enum { PENALTY_L2, PENALTY_RKHS };

#define SOLVER_PENALTY(type) \
  { \
    .name = "penalty", .help = "l2: ||a||^2; rkhs: a'Ga, for features with a K, or of a kernel", \
    .words = "l2|rkhs", .fallback = "l2", .forms = SCL_FORM_WORD, SCL_AT(type, penalty) \
  }

static inline scl_status penalty_check(int32_t penalty, const scl_problem *problem,
                                       scl_error *error) {
  if (penalty == PENALTY_L2 || problem->has_kernel) return SCL_STATUS_OK;
  return problem->host->fail(
      error, SCL_STATUS_UNSUPPORTED,
      "penalty = \"rkhs\" needs features of an instantiation with K, or of a "
      "kernel as phi, which has k itself as K; these have none: give K = "
      "sc.kernel.NAME{}, or penalty = \"l2\"");
}

#endif

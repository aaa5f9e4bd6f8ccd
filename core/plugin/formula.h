/* The slots `formula` and `operators` of plugins: what a component computes, for files that predict
 * without this library. */
#ifndef SCULLERY_PLUGIN_CALLS_FORMULA_H
#define SCULLERY_PLUGIN_CALLS_FORMULA_H

#include "plugin/instance.h"

/* *out = the formula of a nonlinearity, a row stage of the general form, or the mean of a loss or a
 * solver, for its options; the caller releases it. NULL: it has none. */
scl_status scl_formula(const scl_instance *instance, char **out, scl_error *error);

/* The same for the slot `operators` of a row stage of the general form. */
scl_status scl_stage_operators(const scl_instance *stage, char **out, scl_error *error);

#endif

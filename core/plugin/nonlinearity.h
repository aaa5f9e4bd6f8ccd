/* The host's half of nonlinearities: every slot and ability, called and checked; loops over blocks;
 * blocks in dtypes that a nonlinearity does not take. */
#ifndef SCULLERY_NONLINEARITY_H
#define SCULLERY_NONLINEARITY_H

#include "plugin/instance.h"

/* fan_in and fan_out are numbers here (SCL_FAN_IN_ALL stays); dtypes is never 0. */
scl_status scl_nonlinearity_shape(const scl_instance *phi, scl_shape *out, scl_error *error);
/* Whether a sampler with that tag (NULL: none) goes with these tags. */
bool scl_shape_takes_tag(const scl_shape *shape, const char *tag);

/* out = phi(z), z and out of one dtype. */
scl_status scl_nonlinearity_apply(const scl_instance *phi, const scl_const_block *z,
                                  const scl_block *out, scl_error *error);
/* Whether it brings the smoothing S(m, v) = E phi(N(m, v^2)), and out = S(m, v). */
bool scl_nonlinearity_smooths(const scl_instance *phi);
scl_status scl_nonlinearity_smooth(const scl_instance *phi, const scl_const_block *m,
                                   const scl_spread *v, const scl_block *out, scl_error *error);

/* What it says of itself; without SCL_ABILITY_FACTS nothing: infinite bounds, no breaks. */
scl_ability_facts scl_nonlinearity_facts(const scl_instance *phi);
/* Whether phi takes two values, and which. */
bool scl_nonlinearity_two_valued(const scl_instance *phi, scl_ability_two_valued *out);
/* Whether its kernel is the characteristic function, and times what. */
bool scl_nonlinearity_harmonic(const scl_instance *phi, double *amplitude);

/* Duals: E phi(a) phi(b) of normal pairs, the same for codes, and over random thresholds. NaN where
 * it has no closed form, or the slot fails: *error says why then. It is not asked where *error has
 * a failure already. */
typedef struct scl_moments {
  double mean_a, mean_b, var_a, var_b, covariance;
} scl_moments;
typedef double (*scl_dual)(const scl_instance *phi, const scl_moments *m, scl_error *error);
bool scl_nonlinearity_has_dual(const scl_instance *phi);
double scl_nonlinearity_dual(const scl_instance *phi, const scl_moments *m, scl_error *error);
bool scl_nonlinearity_has_code_dual(const scl_instance *phi);
double scl_nonlinearity_code_dual(const scl_instance *phi, const scl_moments *m, scl_error *error);
bool scl_nonlinearity_has_threshold_dual(const scl_instance *phi);
double scl_nonlinearity_threshold_dual(const scl_instance *phi, double distribution_a,
                                       double distribution_b, scl_error *error);

/* Categories of z, a float64 block of so many planes. */
bool scl_nonlinearity_has_categories(const scl_instance *phi);
scl_status scl_nonlinearity_key(const scl_instance *phi, size_t planes, size_t *words,
                                size_t *levels, scl_error *error);
scl_status scl_nonlinearity_categories(const scl_instance *phi, const scl_const_block *z,
                                       int32_t *out, ptrdiff_t row_stride, scl_error *error);

#endif

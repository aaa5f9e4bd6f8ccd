/* Calls of nonlinearities: every slot and ability is called here and its results are checked; loops
 * over blocks; conversion of blocks in dtypes that a nonlinearity does not take. */
#ifndef SCULLERY_NONLINEARITY_H
#define SCULLERY_NONLINEARITY_H

#include "plugin/instance.h"

/* The shape of phi with its options: numbers read and features made for each parameter, spaces and
 * dtypes. Zeros of the table are replaced: fan_in and fan_out are at least 1, dtypes is never 0.
 * SCL_STATUS_INTERNAL if the shape does not fit the slots. */
scl_status scl_nonlinearity_shape(const scl_instance *phi, scl_shape *out, scl_error *error);
/* Whether the shape takes a sampler with this tag (NULL: a sampler without one). */
bool scl_shape_takes_tag(const scl_shape *shape, const char *tag);

/* out = phi(z), z and out of one dtype. */
scl_status scl_nonlinearity_apply(const scl_instance *phi, const scl_const_block *z,
                                  const scl_block *out, scl_error *error);
/* SCL_ABILITY_SMOOTHING: out = S(m, v) = E phi(N(m, v^2)). */
scl_status scl_nonlinearity_smooth(const scl_instance *phi, const scl_const_block *m,
                                   const scl_spread *v, const scl_block *out, scl_error *error);

/* The declared facts; without SCL_ABILITY_FACTS infinite bounds and no breaks. */
scl_ability_facts scl_nonlinearity_facts(const scl_instance *phi);
/* Whether phi takes two values, and which. */
bool scl_nonlinearity_two_valued(const scl_instance *phi, scl_ability_two_valued *out);
/* Whether its kernel is the sampler's characteristic function times a factor, and that factor. */
bool scl_nonlinearity_harmonic(const scl_instance *phi, double *amplitude);

/* Duals: E phi(a) phi(b) of normal pairs, the same for codes, and over random thresholds. NaN if
 * phi has no closed form, or if the slot fails: *error then says why. The slot is not called if
 * *error has a failure already. */
typedef struct scl_moments {
  double mean_a, mean_b, var_a, var_b, covariance;
} scl_moments;
typedef double (*scl_dual)(const scl_instance *phi, const scl_moments *m, scl_error *error);
double scl_nonlinearity_dual(const scl_instance *phi, const scl_moments *m, scl_error *error);
double scl_nonlinearity_code_dual(const scl_instance *phi, const scl_moments *m, scl_error *error);
double scl_nonlinearity_threshold_dual(const scl_instance *phi, double distribution_a,
                                       double distribution_b, scl_error *error);

/* Categories of z, a float64 block of `planes` planes. _key: the numbers that name one category,
 * and its levels (0: not bounded). _categories: word w of the category at row i, column j of z to
 * out[i * row_stride + j * words + w]. */
bool scl_nonlinearity_has_categories(const scl_instance *phi);
scl_status scl_nonlinearity_key(const scl_instance *phi, size_t planes, size_t *words,
                                size_t *levels, scl_error *error);
scl_status scl_nonlinearity_categories(const scl_instance *phi, const scl_const_block *z,
                                       int32_t *out, ptrdiff_t row_stride, scl_error *error);

#endif

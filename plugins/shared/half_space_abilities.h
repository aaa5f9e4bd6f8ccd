/* Codes and the `ability` of a nonlinearity that tells the sides of a half-space: include it below
 * its functions `facts`, `gaussian_dual` and `threshold_dual`, and a constant `at_zero`, the side
 * (0 or 1) that 0 is on. */
#include "shared/abilities.h"
#include "shared/half_space.h"
#include "shared/pointwise.h"

static scl_status categories(const void *instance, const scl_block *z, int32_t *out,
                             ptrdiff_t row_stride, scl_error *error) {
  (void)instance;
  (void)error;
  half_space_codes(z, at_zero, out, row_stride);
  return SCL_STATUS_OK;
}

static double collision(const void *instance, double mean_a, double mean_b, double var_a,
                        double var_b, double covariance) {
  (void)instance;
  return half_space_same(mean_a, mean_b, var_a, var_b, covariance, at_zero);
}

static const scl_ability_facts facts_table = {SCL_HEAD(scl_ability_facts), facts};
static const scl_ability_gaussian_dual gaussian_table = {SCL_HEAD(scl_ability_gaussian_dual),
                                                         gaussian_dual};
static const scl_ability_threshold_dual threshold_table = {SCL_HEAD(scl_ability_threshold_dual),
                                                           threshold_dual};
static const scl_ability_categories categories_table = {SCL_HEAD(scl_ability_categories),
                                                        half_space_key, categories};
static const scl_ability_code_dual code_table = {SCL_HEAD(scl_ability_code_dual), collision};

static const void *ability(const void *instance, const char *id) {
  static const ability_entry list[] = {{SCL_ABILITY_SMOOTHING, &pointwise_smoothing},
                                       {SCL_ABILITY_FACTS, &facts_table},
                                       {SCL_ABILITY_GAUSSIAN_DUAL, &gaussian_table},
                                       {SCL_ABILITY_THRESHOLD_DUAL, &threshold_table},
                                       {SCL_ABILITY_CATEGORIES, &categories_table},
                                       {SCL_ABILITY_CODE_DUAL, &code_table},
                                       {NULL, NULL}};
  (void)instance;
  return ability_find(list, id);
}

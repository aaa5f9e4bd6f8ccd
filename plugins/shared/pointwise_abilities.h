/* The `ability` of a pointwise nonlinearity with a closed dual kernel on Gaussian rows: include it
 * below its functions `facts` and `gaussian_dual` (scl_ability_facts,
 * scl_ability_gaussian_dual). */
#include "shared/abilities.h"
#include "shared/pointwise.h"

static const scl_ability_facts facts_table = {SCL_HEAD(scl_ability_facts), facts};
static const scl_ability_gaussian_dual gaussian_table = {SCL_HEAD(scl_ability_gaussian_dual),
                                                         gaussian_dual};

static const void *ability(const void *instance, const char *id) {
  static const ability_entry list[] = {{SCL_ABILITY_SMOOTHING, &pointwise_smoothing},
                                       {SCL_ABILITY_FACTS, &facts_table},
                                       {SCL_ABILITY_GAUSSIAN_DUAL, &gaussian_table},
                                       {NULL, NULL}};
  (void)instance;
  return ability_find(list, id);
}

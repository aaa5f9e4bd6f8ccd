/* A width that waits for a law does not look at it. */
// caught by: bind fail
// says: same K
#include <scullery/plugin.h>

#include <stdio.h>

typedef struct waiting {
  scl_base base;
  double theta, width;
} waiting;

static const scl_option options[] = {SCL_NUMBER(
    waiting, theta, NULL, "the root of E E K(u, w); default: the width 1", SCL_WITHIN(0.01, 1))};

static scl_status create(void *instance, scl_error *error) {
  waiting *self = instance;
  (void)error;
  self->width = 1;
  return SCL_STATUS_OK;
}

static void finish(const void *instance, const scl_pair_row *row, double *numbers) {
  const waiting *self = instance;
  for (size_t j = 0; j < row->count; j++)
    numbers[j] = exp(-numbers[j] / (2 * self->width * self->width));
}

static scl_status bind(void *instance, const scl_law *law, scl_error *error) {
  waiting *self = instance;
  (void)law, (void)error;
  self->width = 2 * self->theta;
  return SCL_STATUS_OK;
}

static void describe(const void *instance, char *text, size_t size) {
  const waiting *self = instance;
  (void)snprintf(text, size, "width = %g", self->width);
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_bind table = {SCL_HEAD(scl_ability_bind), .bind = bind,
                                         .describe = describe};
  const waiting *self = instance;
  return strcmp(id, SCL_ABILITY_BIND) == 0 && !isnan(self->theta) ? &table : NULL;
}

const scl_plugin scullery_plugin = {.name = "broken",
                                    .summary = "A kernel that is wrong",
                                    .doc = "exp(-||u - v||^2/(2 width^2)), but for what is wrong.",
                                    .version = "1.0",
                                    SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .finish = finish,
                                               .pair = SCL_PAIR_SQUARED_DISTANCE),
                                    SCL_INSTANCE(waiting, options),
                                    .create = create,
                                    .ability = ability};

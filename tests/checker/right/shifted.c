/* A rectifier that begins at an option, 0 on all numbers below. */
#include <scullery/plugin.h>

typedef struct shifted {
  scl_base base;
  double from;
  scl_ability_facts facts;
} shifted;

static const scl_option options[] = {
    SCL_NUMBER(shifted, from, "4", "up to which numbers give 0", SCL_NOT_NEGATIVE)};

static scl_status create(void *instance, scl_error *error) {
  shifted *self = instance;
  (void)error;
  self->facts = (scl_ability_facts){SCL_HEAD(scl_ability_facts), .bound = INFINITY, .lipschitz = 1,
                                    .breaks = &self->from, .n_breaks = 1};
  return SCL_STATUS_OK;
}

static void rectify(const void *self, size_t count, const double *z, double *out) {
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] < ((const shifted *)self)->from ? 0 : z[j] - ((const shifted *)self)->from;
}

static void smooth(const void *self, size_t count, const double *m, const double *v, double *out) {
  for (size_t j = 0; j < count; j++) {
    const double apart = m[j] - ((const shifted *)self)->from, h = apart / (v[j] * SCL_SQRT2);
    out[j] = apart * erfc(-h) / 2 + v[j] * exp(-h * h) / sqrt(2 * SCL_PI);
  }
}

static const void *ability(const void *self, const char *id) {
  return strcmp(id, SCL_ABILITY_FACTS) == 0 ? &((const shifted *)self)->facts : NULL;
}

const scl_plugin scullery_plugin = {
    .name = "shifted",
    .version = "1.0",
    .summary = "max(z - from, 0)",
    .definition = "phi(z) = max(z - from, 0)",
    .doc = "phi(z) = max(z - from, 0): 0 for numbers up to `from`, beyond it as steep as z itself.",
    SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = rectify),
    SCL_INSTANCE(shifted, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_SMOOTHING, scl_ability_smoothing, .loop = smooth)),
    .create = create,
    .ability = ability};

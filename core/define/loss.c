/* Losses of a script's functions (sc.loss.define): value, slope, curvature, conjugate, proximal,
 * probability and mean, and facts. A function is called for each number. lua/scullery/compose/define.lua
 * makes the slope, and the curvature, that the script does not give. */
#include "define/define.h"

#include <math.h>

typedef struct defined_loss {
  scl_defined base;
  double low, high, lipschitz, curvature;
} defined_loss;

/* A slot of two arrays calls the field of this name as function(f, y, o). */
#define PAIR_SLOT(name, field) \
  static void name(const void *self, size_t count, const double *f, const double *y, \
                   double *out) { \
    scl_defined_fill(self, field, count, out, "vvo", f, y); \
  }

PAIR_SLOT(loss_value, "value")
PAIR_SLOT(loss_slope, "slope")
PAIR_SLOT(loss_curvature, "curvature")
PAIR_SLOT(loss_conjugate, "conjugate")

static void loss_proximal(const void *self, size_t count, const double *z, const double *y,
                          const double *t, double *out) {
  scl_defined_fill(self, "proximal", count, out, "vvvo", z, y, t);
}

static void loss_probability(const void *self, size_t count, const double *f, double *out) {
  scl_defined_fill(self, "probability", count, out, "vo", f);
}

static void loss_mean(const void *self, size_t count, const double *f, double *out) {
  scl_defined_fill(self, "mean", count, out, "vo", f);
}

static const scl_ability_loss_curvature curvature = {SCL_HEAD(scl_ability_loss_curvature),
                                                     .curvature = loss_curvature};
static const scl_ability_loss_conjugate conjugate = {SCL_HEAD(scl_ability_loss_conjugate),
                                                     .conjugate = loss_conjugate};
static const scl_ability_loss_proximal proximal = {SCL_HEAD(scl_ability_loss_proximal),
                                                   .proximal = loss_proximal};
static const scl_ability_loss_probability probability = {SCL_HEAD(scl_ability_loss_probability),
                                                         .probability = loss_probability};
static const scl_ability_loss_mean mean = {SCL_HEAD(scl_ability_loss_mean), .mean = loss_mean};

/* The facts that may be functions of the options. */
static int complete_loss(lua_State *L) {
  defined_loss *self = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  self->low = scl_defined_number(L, "low", -INFINITY);
  self->high = scl_defined_number(L, "high", INFINITY);
  self->lipschitz = scl_defined_number(L, "lipschitz", 0);
  self->curvature = scl_defined_number(L, "largest_curvature", 0);
  return 0;
}

static scl_status loss_facts(const void *instance, scl_loss_facts *out, scl_error *error) {
  const defined_loss *self = instance;
  const bool any = self->low == -INFINITY && self->high == INFINITY;
  (void)error;
  out->low = any ? 0 : self->low;
  out->high = any ? 0 : self->high;
  out->lipschitz = self->lipschitz;
  out->curvature = self->curvature;
  return SCL_STATUS_OK;
}

static void describe_loss(lua_State *L, int fields, scl_definition *d) {
  static const char *const targets[] = {"numbers", "classes", "both", NULL};
  d->table.loss =
      (scl_loss){SCL_TABLE(scl_loss, SCL_KIND_LOSS),
                 .targets = 1u + (uint32_t)scl_lua_field_word(L, fields, "targets", targets, 0),
                 .flags = scl_lua_field_flag(L, fields, "kinks") ? SCL_LOSS_KINKS : 0,
                 .range = (scl_lua_field_flag(L, fields, "low_open") ? SCL_RANGE_LOW_OPEN : 0) |
                          SCL_RANGE_HIGH_OPEN,
                 .value = loss_value,
                 .slope = loss_slope,
                 .facts = loss_facts};
  if (scl_define_has(L, fields, "curvature"))
    scl_define_offer(d, SCL_ABILITY_LOSS_CURVATURE, &curvature);
  if (scl_define_has(L, fields, "conjugate"))
    scl_define_offer(d, SCL_ABILITY_LOSS_CONJUGATE, &conjugate);
  if (scl_define_has(L, fields, "proximal"))
    scl_define_offer(d, SCL_ABILITY_LOSS_PROXIMAL, &proximal);
  if (scl_define_has(L, fields, "probability"))
    scl_define_offer(d, SCL_ABILITY_LOSS_PROBABILITY, &probability);
  if (scl_define_has(L, fields, "mean")) scl_define_offer(d, SCL_ABILITY_LOSS_MEAN, &mean);
}

const scl_define_kind scl_define_loss = {sizeof(defined_loss), describe_loss, complete_loss, NULL};

/* Calls of losses. */
#include "plugin/loss.h"

#include "plugin/call.h"
#include "plugin/tables.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* The loss's table, at the host's size. */
static const scl_loss *table_of(const scl_instance *loss) { return scl_instance_vtable(loss); }

typedef void (*pair_function)(const void *self, size_t count, const double *first, const double *y,
                              double *out);

static pair_function function_of(const scl_instance *loss, scl_loss_slot slot) {
  const scl_ability_loss_curvature *curvature;
  const scl_ability_loss_conjugate *conjugate;
  switch (slot) {
  case SCL_LOSS_SLOT_VALUE:
    return table_of(loss)->value;
  case SCL_LOSS_SLOT_SLOPE:
    return table_of(loss)->slope;
  case SCL_LOSS_SLOT_CURVATURE:
    curvature = scl_instance_ability(loss, SCL_ABILITY_LOSS_CURVATURE);
    return curvature == NULL ? NULL : curvature->curvature;
  default:
    conjugate = scl_instance_ability(loss, SCL_ABILITY_LOSS_CONJUGATE);
    return conjugate == NULL ? NULL : conjugate->conjugate;
  }
}

static const char *const slot_names[] = {"value", "slope", "curvature", "conjugate"};

bool scl_loss_offers(const scl_instance *loss, scl_loss_slot slot) {
  return function_of(loss, slot) != NULL;
}

/* ------------ facts */

scl_status scl_loss_facts_of(const scl_instance *loss, scl_loss_facts *out, scl_error *error) {
  const scl_loss *table = table_of(loss);
  scl_call call;
  *out = (scl_loss_facts){.head = SCL_HEAD(scl_loss_facts),
                          .targets = table->targets,
                          .flags = table->flags,
                          .range = table->range,
                          .low = table->low,
                          .high = table->high,
                          .lipschitz = table->lipschitz,
                          .curvature = table->curvature};
  if (table->facts != NULL) {
    scl_call_enter(&call, loss->component, "facts", error);
    SCL_TRY(scl_call_leave(&call, table->facts(loss->self, out, error)));
  }
  const char *wrong = (out->targets & (SCL_TARGETS_NUMBERS | SCL_TARGETS_CLASSES)) == 0
                          ? "it takes neither numbers nor classes as targets (member 'targets')"
                      : !(out->low <= out->high) ? "no number is in the range of its targets"
                      : !(out->lipschitz >= 0)   ? "its Lipschitz constant is negative or no number"
                      : !(out->curvature >= 0)   ? "its largest curvature is negative or no number"
                                                 : NULL;
  if (wrong == NULL) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_INTERNAL, "loss.%s: %s", scl_instance_name(loss), wrong);
}

/* ------------ functions */

/* `count` results of a function are numbers; INFINITY is one of them where `infinite`. */
static scl_status check_results(const scl_instance *loss, const char *slot, size_t count,
                                const double *out, bool infinite, scl_error *error) {
  for (size_t i = 0; i < count; i++)
    if (isnan(out[i]) || (!infinite && isinf(out[i])))
      return scl_fail(error, SCL_STATUS_NUMERIC, "loss.%s: its %s is %g (number %zu of %zu)",
                      scl_instance_name(loss), slot, out[i], i + 1, count);
  return SCL_STATUS_OK;
}

static scl_status not_offered(const scl_instance *loss, const char *slot, scl_error *error) {
  return scl_fail(error, SCL_STATUS_UNSUPPORTED, "loss.%s has no %s", scl_instance_name(loss),
                  slot);
}

scl_status scl_loss_call(const scl_instance *loss, scl_loss_slot slot, size_t count,
                         const double *first, const double *y, double *out, scl_error *error) {
  const pair_function function = function_of(loss, slot);
  scl_call call;
  if (function == NULL) return not_offered(loss, slot_names[slot], error);
  if (count == 0) return SCL_STATUS_OK;
  scl_call_enter(&call, loss->component, slot_names[slot], error);
  function(loss->self, count, first, y, out);
  SCL_TRY(scl_call_leave(&call, SCL_STATUS_OK));
  return check_results(loss, slot_names[slot], count, out, true, error);
}

enum { BISECTIONS = 200, BLOCK = 256 };

/* The f where slope(f) + (f - z)/t changes its sign, for a block of numbers. The sum rises in f
 * with at least 1/t: a step of t |slope(z)| from z passes the place. That may be of any size, as of
 * exp f: long intervals are halved in their logarithm. */
static void bisect_block(const scl_instance *loss, size_t count, const double *z, const double *y,
                         const double *t, double *out) {
  const scl_loss *table = table_of(loss);
  double sign[BLOCK], least[BLOCK], most[BLOCK], at[BLOCK], f[BLOCK], slopes[BLOCK];
  table->slope(loss->self, count, z, y, slopes);
  for (size_t i = 0; i < count; i++) {
    sign[i] = slopes[i] > 0 ? -1 : 1;
    least[i] = 0;
    most[i] = fmin(t[i] * fabs(slopes[i]), DBL_MAX / 4);
  }
  for (int step = 0; step < BISECTIONS; step++) {
    bool moved = false;
    for (size_t i = 0; i < count; i++) {
      at[i] = most[i] > 1 && most[i] > 4 * least[i] ? sqrt(most[i]) * sqrt(fmax(least[i], 0.25))
                                                    : least[i] + (most[i] - least[i]) / 2;
      f[i] = z[i] + sign[i] * at[i];
    }
    table->slope(loss->self, count, f, y, slopes);
    for (size_t i = 0; i < count; i++) {
      if (f[i] == z[i] + sign[i] * least[i] || f[i] == z[i] + sign[i] * most[i]) continue;
      moved = true;
      *(sign[i] * (slopes[i] + (f[i] - z[i]) / t[i]) < 0 ? &least[i] : &most[i]) = at[i];
    }
    if (!moved) break;
  }
  for (size_t i = 0; i < count; i++)
    out[i] = z[i] + sign[i] * (least[i] + (most[i] - least[i]) / 2);
}

scl_status scl_loss_proximal(const scl_instance *loss, size_t count, const double *z,
                             const double *y, const double *t, double *out, scl_error *error) {
  const scl_ability_loss_proximal *own = scl_instance_ability(loss, SCL_ABILITY_LOSS_PROXIMAL);
  const char *slot = own == NULL ? "slope" : "proximal";
  scl_call call;
  if (count == 0) return SCL_STATUS_OK;
  scl_call_enter(&call, loss->component, slot, error);
  for (size_t i = 0; own == NULL && i < count; i += BLOCK)
    bisect_block(loss, count - i < BLOCK ? count - i : BLOCK, z + i, y + i, t + i, out + i);
  if (own != NULL) own->proximal(loss->self, count, z, y, t, out);
  SCL_TRY(scl_call_leave(&call, SCL_STATUS_OK));
  return check_results(loss, "proximal step", count, out, false, error);
}

scl_status scl_loss_probability(const scl_instance *loss, size_t count, const double *f,
                                double *out, scl_error *error) {
  const scl_ability_loss_probability *own =
      scl_instance_ability(loss, SCL_ABILITY_LOSS_PROBABILITY);
  scl_call call;
  if (own == NULL) return not_offered(loss, "probability", error);
  scl_call_enter(&call, loss->component, "probability", error);
  own->probability(loss->self, count, f, out);
  SCL_TRY(scl_call_leave(&call, SCL_STATUS_OK));
  for (size_t i = 0; i < count; i++)
    if (!(out[i] >= 0 && out[i] <= 1))
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "loss.%s: a probability of %g, not between 0 and 1", scl_instance_name(loss),
                      out[i]);
  return SCL_STATUS_OK;
}

scl_status scl_loss_mean(const scl_instance *loss, size_t count, const double *f, double *out,
                         scl_error *error) {
  const scl_ability_loss_mean *own = scl_instance_ability(loss, SCL_ABILITY_LOSS_MEAN);
  scl_call call;
  if (own == NULL) return not_offered(loss, "mean", error);
  scl_call_enter(&call, loss->component, "mean", error);
  own->mean(loss->self, count, f, out);
  SCL_TRY(scl_call_leave(&call, SCL_STATUS_OK));
  return check_results(loss, "mean", count, out, true, error);
}

/* ------------ the service */

/* *out = the instance of a part, which must be a loss. */
static scl_status loss_of(const scl_part *part, const scl_instance **out, scl_error *error) {
  if (part->self == NULL)
    return scl_fail(error, SCL_STATUS_INTERNAL, "a loss was to be called that is not there");
  *out = scl_instance_of(part->self);
  return scl_instance_expect(*out, SCL_KIND_LOSS, error);
}

static scl_status part_facts(const scl_part *part, scl_loss_facts *out, scl_error *error) {
  const scl_instance *loss = NULL;
  scl_loss_facts facts;
  SCL_TABLE_EXPECT(out, scl_loss_facts, SCL_LEAST_LOSS_FACTS, error);
  SCL_TRY(loss_of(part, &loss, error));
  SCL_TRY(scl_loss_facts_of(loss, &facts, error));
  scl_table_write(out, &facts);
  return SCL_STATUS_OK;
}

#define PART_CALL(name, slot) \
  static scl_status name(const scl_part *part, size_t count, const double *first, const double *y, \
                         double *out, scl_error *error) { \
    const scl_instance *loss = NULL; \
    SCL_TRY(loss_of(part, &loss, error)); \
    return scl_loss_call(loss, slot, count, first, y, out, error); \
  }

PART_CALL(part_value, SCL_LOSS_SLOT_VALUE)
PART_CALL(part_slope, SCL_LOSS_SLOT_SLOPE)
PART_CALL(part_curvature, SCL_LOSS_SLOT_CURVATURE)
PART_CALL(part_conjugate, SCL_LOSS_SLOT_CONJUGATE)

static scl_status part_proximal(const scl_part *part, size_t count, const double *z,
                                const double *y, const double *t, double *out, scl_error *error) {
  const scl_instance *loss = NULL;
  SCL_TRY(loss_of(part, &loss, error));
  return scl_loss_proximal(loss, count, z, y, t, out, error);
}

static scl_status part_probability(const scl_part *part, size_t count, const double *f, double *out,
                                   scl_error *error) {
  const scl_instance *loss = NULL;
  SCL_TRY(loss_of(part, &loss, error));
  return scl_loss_probability(loss, count, f, out, error);
}

static scl_status part_mean(const scl_part *part, size_t count, const double *f, double *out,
                            scl_error *error) {
  const scl_instance *loss = NULL;
  SCL_TRY(loss_of(part, &loss, error));
  return scl_loss_mean(loss, count, f, out, error);
}

const scl_loss_service scl_service_losses = {SCL_HEAD(scl_loss_service),
                                             .facts = part_facts,
                                             .value = part_value,
                                             .slope = part_slope,
                                             .curvature = part_curvature,
                                             .conjugate = part_conjugate,
                                             .proximal = part_proximal,
                                             .probability = part_probability,
                                             .mean = part_mean};

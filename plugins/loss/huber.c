/* Huber's loss (1964): with r = f - y
 *   l(f, y) = r^2/2 for |r| <= delta, else delta |r| - delta^2/2
 *   l*(s)   = s y + s^2/2 for |s| <= delta */
#include "shared/loss_slots.h"

static const scl_option options[] = {SCL_NUMBER(
    loss_choice, delta, "1", "where the loss turns from square to absolute, in units of the target",
    SCL_POSITIVE)};

static scl_status huber_create(void *self, scl_error *error) {
  (void)error;
  ((loss_choice *)self)->loss = LOSS_HUBER;
  return SCL_STATUS_OK;
}

static double delta_of(const void *self) { return ((const loss_choice *)self)->delta; }

static scl_status huber_facts(const void *self, scl_loss_facts *out, scl_error *error) {
  (void)error;
  out->lipschitz = delta_of(self);
  return SCL_STATUS_OK;
}

LOSS_SLOTS(self)
SCL_LOSS_LOOP(curvature, fabs(f - y) <= delta_of(self))
SCL_LOSS_LOOP(conjugate, fabs(f) > delta_of(self) ? INFINITY : f * (y + f / 2))
LOSS_PROXIMAL(fabs(z - y) <= delta_of(self) * (1 + t) ? y + (z - y) / (1 + t)
                                                      : z - copysign(t * delta_of(self), z - y))

const scl_plugin scullery_plugin = {
    .name = "huber",
    .summary = "Huber's loss, square near the target and absolute far from it",
    .definition = "range() = { -inf, inf }\n"
                  "l(f, y) = when(abs(f - y) <= delta, (f - y)^2/2, delta*abs(f - y) - delta^2/2)",
    .doc = "l(f, y) = r^2/2 for |r| = |f - y| <= delta, else delta |r| - delta^2/2: for numbers\n"
           "with outliers, and for classes as +-1 (Huber 1964).",
    SCL_LOSS(.targets = SCL_TARGETS_NUMBERS | SCL_TARGETS_CLASSES, .curvature = 1, .value = value,
             .slope = slope, .facts = huber_facts),
    SCL_INSTANCE(loss_choice, options),
    SCL_ABILITIES(LOSS_OFFER_CURVATURE, LOSS_OFFER_CONJUGATE, LOSS_OFFER_PROXIMAL),
    .create = huber_create};

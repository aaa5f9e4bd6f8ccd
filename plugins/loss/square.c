/* The squared error, l(f, y) = (f - y)^2/2; l*(s) = s y + s^2/2. */
#include "shared/loss_slots.h"

static const loss_choice choice = {.loss = LOSS_SQUARE};

LOSS_SLOTS(&choice)
SCL_LOSS_LOOP(curvature, losses[LOSS_SQUARE].curvature(f, y))
SCL_LOSS_LOOP(conjugate, losses[LOSS_SQUARE].conjugate(f, y))
LOSS_PROXIMAL(t < 1 ? z + (y - z) * (t / (1 + t)) : y + (z - y) / (1 + t))

const scl_plugin scullery_plugin = {
    .name = "square",
    .summary = "The squared error, (f - y)^2/2",
    .definition = "range() = { -inf, inf }\n"
                  "l(f, y) = (f - y)^2/2",
    .doc = "l(f, y) = (f - y)^2/2, for numbers, and for classes as +-1. The least mean is at the\n"
           "conditional mean of y.",
    SCL_LOSS(.targets = SCL_TARGETS_NUMBERS | SCL_TARGETS_CLASSES, .lipschitz = INFINITY,
             .curvature = 1, .value = value, .slope = slope),
    SCL_ABILITIES(LOSS_OFFER_CURVATURE, LOSS_OFFER_CONJUGATE, LOSS_OFFER_PROXIMAL)};

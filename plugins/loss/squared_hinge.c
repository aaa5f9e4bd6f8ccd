/* The squared hinge of classes, l(f, y) = max(0, 1 - y f)^2/2; l*(s) = s y + s^2/2 for s y <= 0. */
#include "shared/loss_slots.h"

static const loss_choice choice = {.loss = LOSS_SQUARED_HINGE};

LOSS_SLOTS(&choice)
SCL_LOSS_LOOP(curvature, f *y < 1)
SCL_LOSS_LOOP(conjugate, f *y > 0 ? INFINITY : f * (y + f / 2))
LOSS_PROXIMAL(y *z >= 1 ? z : z + (y - z) * (t / (1 + t)))

const scl_plugin scullery_plugin = {
    .name = "squared_hinge",
    .summary = "The squared hinge of classes, max(0, 1 - y f)^2/2",
    .definition = "l(f, y) = max(0, 1 - y*f)^2/2",
    .doc = "l(f, y) = max(0, 1 - y f)^2/2, y = +-1: the hinge without its kink; rows beyond the\n"
           "margin, y f > 1, have no loss.",
    SCL_LOSS(.targets = SCL_TARGETS_CLASSES, .lipschitz = INFINITY, .curvature = 1, .value = value,
             .slope = slope),
    SCL_ABILITIES(LOSS_OFFER_CURVATURE, LOSS_OFFER_CONJUGATE, LOSS_OFFER_PROXIMAL)};

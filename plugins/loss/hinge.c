/* The hinge of classes, l(f, y) = max(0, 1 - y f); l*(s) = s y for -1 <= s y <= 0. */
#include "shared/loss_slots.h"

static const loss_choice choice = {.loss = LOSS_HINGE};

LOSS_SLOTS(&choice)
SCL_LOSS_LOOP(conjugate, f *y<-1 || f * y> 0 ? INFINITY : f *y)
LOSS_PROXIMAL(y *z >= 1 ? z : y * z + t <= 1 ? z + t * y : y)

const scl_plugin scullery_plugin = {
    .name = "hinge",
    .summary = "The hinge of classes, max(0, 1 - y f)",
    .definition = "l(f, y) = max(0, 1 - y*f)",
    .doc = "l(f, y) = max(0, 1 - y f), y = +-1: the loss of the support vector machine.",
    SCL_LOSS(.targets = SCL_TARGETS_CLASSES, .flags = SCL_LOSS_KINKS, .lipschitz = 1,
             .curvature = INFINITY, .value = value, .slope = slope),
    SCL_ABILITIES(LOSS_OFFER_CONJUGATE, LOSS_OFFER_PROXIMAL)};

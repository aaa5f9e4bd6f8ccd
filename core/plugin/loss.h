/* Calls of losses (scullery/plugin/loss.h): by the host, and by solvers through a service. What a
 * loss returns is checked: a number that is not one is an error. */
#ifndef SCULLERY_LOSS_H
#define SCULLERY_LOSS_H

#include "plugin/instance.h"

/* The functions of a loss of two arrays: of f and y, or of s and y (conjugate). */
typedef enum scl_loss_slot {
  SCL_LOSS_SLOT_VALUE,
  SCL_LOSS_SLOT_SLOPE,
  SCL_LOSS_SLOT_CURVATURE,
  SCL_LOSS_SLOT_CONJUGATE
} scl_loss_slot;

/* Whether the loss has the function. Values and slopes it always has. */
bool scl_loss_offers(const scl_instance *loss, scl_loss_slot slot);

/* The facts, for the options of this instance. SCL_STATUS_INTERNAL: they contradict each other. */
scl_status scl_loss_facts_of(const scl_instance *loss, scl_loss_facts *out, scl_error *error);
/* out (count) = the function at first (f or s) and y. SCL_STATUS_UNSUPPORTED: the loss has no such
 * function; SCL_STATUS_NUMERIC: a result that is no number. */
scl_status scl_loss_call(const scl_instance *loss, scl_loss_slot slot, size_t count,
                         const double *first, const double *y, double *out, scl_error *error);
/* The same for proximal steps: by the loss, else by bisection of its slope. */
scl_status scl_loss_proximal(const scl_instance *loss, size_t count, const double *z,
                             const double *y, const double *t, double *out, scl_error *error);
scl_status scl_loss_mean(const scl_instance *loss, size_t count, const double *f, double *out,
                         scl_error *error);
scl_status scl_loss_probability(const scl_instance *loss, size_t count, const double *f,
                                double *out, scl_error *error);

extern const scl_loss_service scl_service_losses;

#endif

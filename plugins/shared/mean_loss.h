/* The mean over rows of a loss at scores Phi a + b, for SCL_ABILITY_OBJECTIVE:
 *
 *   sum_i w_i l(phi_i a + b, y_i) / sum_i w_i */
#ifndef SCULLERY_SHARED_MEAN_LOSS_H
#define SCULLERY_SHARED_MEAN_LOSS_H

#include "shared/losses.h"

/* coefficients D x c, intercept c (NULL: none) */
scl_status mean_loss(const scl_problem *problem, const loss_choice *choice,
                     const double *coefficients, const double *intercept, double *value,
                     scl_error *error);

#endif

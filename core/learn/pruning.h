/* Pruning of models with a K (Dube and Marchand 2023, section 6), and their norm. G is made
 * once. */
#ifndef SCULLERY_PRUNING_H
#define SCULLERY_PRUNING_H

#include "learn/problem.h"

/* ||alpha|| = sqrt(sum over targets of a'Ga); a D x c, in the features' own scale. */
scl_status scl_model_norm(const scl_map *map, const scl_matrix *a, double *norm, scl_error *error);

typedef struct scl_pruning scl_pruning;
/* Prepare the pruning of a model with coefficients a (D x c) on the map: G and G a are computed
 * once. `a` is copied, and the map is not used afterwards. SCL_STATUS_BAD_SHAPE if a has not D
 * rows. */
scl_status scl_pruning_open(const scl_map *map, const scl_matrix *a, scl_pruning **out,
                            scl_error *error);
void scl_pruning_close(scl_pruning *pruning);
/* One step, with the solver's present penalty (equation 60):
 *
 *   b = argmin (1/2T) ||Ua - Ub||^2 + penalty(b),   G = U'U
 *
 * *fit: b, which the caller releases; *distance = ||alpha - beta||, *norm = ||beta||. */
scl_status scl_pruning_step(const scl_pruning *pruning, const scl_instance *solver, scl_fit *fit,
                            double *distance, double *norm, scl_error *error);

#endif

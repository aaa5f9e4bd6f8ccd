/* Pruning of models with a K (Dube and Marchand 2023, section 6), and their norm. G is made
 * once. */
#ifndef SCULLERY_PRUNING_H
#define SCULLERY_PRUNING_H

#include "learn/problem.h"

/* ||alpha|| = sqrt(sum over targets of a'Ga); a D x c, in the features' own scale. */
scl_status scl_model_norm(const scl_map *map, const scl_matrix *a, double *norm, scl_error *error);

typedef struct scl_pruning scl_pruning;
/* For the coefficients a (D x c) of a model on the map; both are copied or borrowed until it
 * ends. */
scl_status scl_pruning_open(const scl_map *map, const scl_matrix *a, scl_pruning **out,
                            scl_error *error);
void scl_pruning_close(scl_pruning *pruning);
/* One step: min over b of (1/2T) ||Ua - Ub||^2 + the solver's penalty, G = U'U (equation 60). fit:
 * b; *distance = ||alpha - beta||, *norm = ||beta||. */
scl_status scl_pruning_step(const scl_pruning *pruning, const scl_instance *solver, scl_fit *fit,
                            double *distance, double *norm, scl_error *error);

#endif

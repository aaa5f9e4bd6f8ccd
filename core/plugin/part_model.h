/* Models that a solver learns as a part of another solver (scl_parts.fit, part_fit.c). */
#ifndef SCULLERY_PART_MODEL_H
#define SCULLERY_PART_MODEL_H

#include "plugin/instance.h"

typedef struct scl_part_model scl_part_model;

/* The problem `of` with other row weights (n) and targets (n x c), each NULL for those of `of`,
 * which are those of a regression then; to be solved or, by a solver that makes models, to be fitted
 * (*own). Coefficients and intercept of *out are the caller's, of the size of the problem. */
scl_status scl_part_learn(const scl_instance *solver, const scl_problem *of, const double *weights,
                          const double *targets, void **own, scl_solution *out, scl_error *error);

scl_status scl_part_fit(const scl_instance *solver, const scl_problem *of,
                        const scl_replaced *replaced, scl_solution *out, scl_part_model **model,
                        scl_error *error);
scl_status scl_part_decide(const scl_instance *solver, const scl_part_model *model,
                           const scl_const_block *rows, double *scores, ptrdiff_t stride,
                           scl_error *error);
scl_status scl_part_save(const scl_instance *solver, const scl_part_model *model,
                         scl_archive *archive, const char *prefix, scl_error *error);
scl_status scl_part_load(const scl_instance *solver, const scl_archive *archive, const char *prefix,
                         size_t features, size_t targets, scl_part_model **model, scl_error *error);
void scl_part_destroy(const scl_instance *solver, scl_part_model *model);

#endif

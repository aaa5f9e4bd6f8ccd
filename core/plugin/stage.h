/* Calls of row stages (scullery/plugin/stage.h). */
#ifndef SCULLERY_PLUGIN_CALLS_STAGE_H
#define SCULLERY_PLUGIN_CALLS_STAGE_H

#include "plugin/instance.h"

/* Arrays of a state at most, and characters of their names. */
enum { SCL_STAGE_ARRAYS = 8, SCL_STAGE_NAME = 20 };

/* The names of a stage's arrays, "shift|factor"; NULL: it has none. */
const char *scl_stage_arrays_of(const scl_stage *table);
/* Name number i (from 0) of a list "mean|factor" or NULL, cut to fit `name`. False: there is
 * none. */
bool scl_stage_array_name(const char *names, size_t i, char name[SCL_STAGE_NAME + 1]);

static inline const scl_stage *scl_stage_table(const scl_instance *stage) {
  return scl_instance_vtable(stage);
}
static inline bool scl_stage_has(const scl_instance *stage, uint32_t flag) {
  return (scl_stage_table(stage)->flags & flag) != 0;
}
/* Whether it learns from rows. */
static inline bool scl_stage_learns(const scl_instance *stage) {
  return scl_stage_table(stage)->column != NULL || scl_stage_table(stage)->fit != NULL;
}

/* Whether it has the slot `apply_csr`. */
static inline bool scl_stage_takes_csr(const scl_instance *stage) {
  const scl_stage *table = scl_stage_table(stage);
  return SCL_HAS(table, apply_csr) && table->apply_csr != NULL;
}

/* Slot `fit` of the general form. */
scl_status scl_stage_fit(const scl_instance *stage, const scl_fitting *fitting, scl_error *error);
/* Slot `column` for each column: shift and factor, `cols` numbers each. */
scl_status scl_stage_columns(const scl_instance *stage, const scl_stage_column *columns,
                             size_t cols, double *shift, double *factor, scl_error *error);
/* Whether each array is a row of fitted->cols numbers. */
scl_status scl_stage_check_rows(const char *names, const scl_stage_state *fitted, scl_error *error);
/* Check the arrays, and set fitted->width. */
scl_status scl_stage_shape(const scl_instance *stage, scl_stage_state *fitted, scl_error *error);
/* out (rows x width at its stride) = `rows` rows of in (rows x cols at its stride). */
scl_status scl_stage_apply(const scl_instance *stage, const scl_stage_state *fitted,
                           const double *in, ptrdiff_t in_stride, size_t rows, double *out,
                           ptrdiff_t out_stride, scl_error *error);
/* out (rows x width) = sparse rows; `apply_csr` of the general form. */
scl_status scl_stage_apply_csr(const scl_instance *stage, const scl_stage_state *fitted,
                               const scl_const_csr *in, const scl_csr_block *out, scl_error *error);
/* The simple form without shifts: number j of a row times factor[j]. */
void scl_stage_scale_csr(const scl_const_csr *in, const double *factor, const scl_csr_block *out);

#endif

/* Rows of a walk or a minibatch: their weights, and the size of a batch. */
#ifndef SCULLERY_SHARED_MINIBATCH_H
#define SCULLERY_SHARED_MINIBATCH_H

#include <scullery/plugin.h>

static inline double rows_weight(const scl_rows *rows, size_t i) {
  return rows->weights == NULL ? 1 : rows->weights[i];
}

/* More rows a step than there are says that another method was meant. */
static inline scl_status batch_check(const scl_problem *problem, size_t batch, scl_error *error) {
  if (batch <= problem->rows) return SCL_STATUS_OK;
  return problem->host->fail(
      error, SCL_STATUS_BAD_OPTION,
      "batch = %zu is more than the %zu rows of the data: give at most that many", batch,
      problem->rows);
}

#endif

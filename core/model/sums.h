/* Exact sums over rows with the fingerprints of the rows: joined, divided by fold, saved and
 * loaded. */
#ifndef SCULLERY_MODEL_SUMS_H
#define SCULLERY_MODEL_SUMS_H

#include "learn/archive.h"
#include "model/saved.h"
#include "rows/whole_sums.h"

typedef struct scl_row_sums {
  scl_whole_sums *whole; /* a group for each fold; one without folds */
  scl_fingerprints prints;
  bool printed; /* whether all rows have left their fingerprints */
} scl_row_sums;

void scl_row_sums_release(scl_row_sums *sums);
/* A copy with memory of its own. The caller releases *out, also after a failure. */
scl_status scl_row_sums_copy(const scl_row_sums *from, scl_row_sums *out, scl_error *error);
/* Add the rows of `from`, or take them out: then SCL_STATUS_BAD_DATA where some of them are not
 * there, and nothing has changed. */
scl_status scl_row_sums_join(scl_row_sums *into, scl_row_sums *from, bool subtract,
                             scl_error *error);
/* The sums over all folds but `without` (-1: all), without folds and without fingerprints. */
scl_status scl_row_sums_without(const scl_row_sums *from, long without, scl_row_sums *out,
                                scl_error *error);

/* The squared error of the scores (Phi - pilot) a + b on the rows of a fold, summed over rows and
 * targets with the rows' weights, for a map's features and the coefficients a (D x c) and b (1 x c)
 * of a fit and its pilot means (1 x D, or NULL: zeros); and the sum of the weights. */
scl_status scl_row_sums_error(const scl_row_sums *sums, size_t fold, const scl_map *map,
                              const scl_matrix *a, const scl_matrix *b, const scl_matrix *pilot,
                              double *square, double *weight, scl_error *error);

/* As arrays: docs/models.md has their names. */
scl_status scl_row_sums_save(scl_row_sums *sums, scl_array_archive *archive, scl_error *error);
scl_status scl_saved_sums(const scl_saved *saved, size_t features, size_t targets,
                          scl_row_sums *out, scl_error *error);

#endif

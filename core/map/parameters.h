/* Parameters w_t of a sampler: drawn by (seed, stream, index), or given as a matrix. */
#ifndef SCULLERY_PARAMETERS_H
#define SCULLERY_PARAMETERS_H

#include "algebra/matrix.h"
#include "plugin/instance.h"

/* Room for `count` parameters of a layout, with the scl_parameters view that plugins see. */
typedef struct scl_parameter_set {
  scl_layout layout;
  scl_parameters view; /* weights, bias and support point to memory owned here */
} scl_parameter_set;

scl_status scl_parameters_layout(const scl_instance *sampler, size_t dim, scl_layout *out,
                                 scl_error *error);
/* Room for parameters first .. first+count-1. Refuses what no machine can hold, with the bytes. */
scl_status scl_parameters_reserve(const scl_layout *layout, size_t dim, size_t first, size_t count,
                                  scl_parameter_set *out, scl_error *error);
/* How many rows are drawn for `count` parameters: whole blocks of structured ones. */
size_t scl_parameters_plane(const scl_layout *layout, size_t count);
/* Room, filled by the sampler; in parallel, and the same in any batch. With fan_in q, scalar k of
 * parameter t is row k plane + t of the set: a draw of its own. */
scl_status scl_parameters_draw(const scl_instance *sampler, size_t dim, uint64_t seed,
                               uint64_t stream, size_t first, size_t count, size_t fan_in,
                               scl_parameter_set *out, scl_error *error);
/* Structured parameters as the dense rows that they stand for: row k count + t from row k plane + t
 * of `set`. */
scl_status scl_parameters_dense(const scl_instance *sampler, const scl_parameter_set *set,
                                size_t plane, size_t count, size_t fan_in, scl_parameter_set *out,
                                scl_error *error);
/* count rows from `first` on, in place. */
scl_parameters scl_parameters_part(const scl_parameters *all, size_t first, size_t count);
/* From the rows of a matrix in the form that scl_parameters_matrix writes. */
scl_status scl_parameters_from_matrix(const scl_layout *layout, size_t dim, const scl_matrix *rows,
                                      scl_parameter_set *out, scl_error *error);
/* One row a parameter: dense: w, then b where there is a bias; thresholds: column (from 1), t;
 * sparse: columns (from 1, 0 past the in-degree), weights, b. */
scl_status scl_parameters_matrix(const scl_parameter_set *set, scl_matrix *out, scl_error *error);
void scl_parameters_release(scl_parameter_set *set);

/* The law of one parameter's numbers, with memory for d columns. SCL_STATUS_UNSUPPORTED when the
 * sampler says none. */
typedef struct scl_law_set {
  scl_law law;
  double *memory;
} scl_law_set;
scl_status scl_law_create(const scl_instance *sampler, size_t dim, scl_law_set *out,
                          scl_error *error);
void scl_law_release(scl_law_set *set);

#endif

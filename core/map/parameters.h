/* Parameters w_t of a sampler: drawn by (seed, stream, index) or given as a matrix, and their
 * probability law. */
#ifndef SCULLERY_PARAMETERS_H
#define SCULLERY_PARAMETERS_H

#include "algebra/matrix.h"
#include "plugin/sampler.h"

/* What a draw is made of: the sampler, where its numbers come from, and what it learnt. */
typedef struct scl_origin {
  scl_instance *sampler; /* borrowed */
  scl_draw draw;         /* its state points to `state` of the same struct, or is NULL */
  scl_state state;
} scl_origin;

/* dim columns, `total` parameters; state is rows x cols float64 and packed, or empty. */
scl_origin scl_origin_of(scl_instance *sampler, size_t dim, size_t total, uint64_t seed,
                         uint64_t stream, const scl_matrix *state);
/* The draw of an origin that may have been copied; plane k of fan_in. */
scl_draw scl_origin_draw(const scl_origin *origin, size_t plane, size_t planes);

/* Room for `count` parameters of a layout, with the view that plugins see. */
typedef struct scl_parameter_set {
  scl_layout layout;
  scl_parameters view; /* weights, bias and support point to memory owned here */
} scl_parameter_set;

/* The sampler's layout, checked by its space. count: T, or 0 where it was left out. */
scl_status scl_parameters_layout(const scl_instance *sampler, size_t dim, size_t count,
                                 scl_layout *out, scl_error *error);
/* Room for parameters first .. first+count-1. Refuses what no machine can hold, with the bytes. */
scl_status scl_parameters_reserve(const scl_layout *layout, size_t dim, size_t first, size_t count,
                                  scl_parameter_set *out, scl_error *error);
/* The same, filled with a copy of count rows from `from` on. */
scl_status scl_parameters_copy(const scl_parameter_set *set, size_t from, size_t count,
                               scl_parameter_set *out, scl_error *error);
/* Row `to` of a set = row `from` of another of the same layout. */
void scl_parameters_copy_row(const scl_parameter_set *set, size_t from, scl_parameter_set *out,
                             size_t to);
/* How many rows are drawn for `count` parameters: whole blocks of structured ones. */
size_t scl_parameters_plane(const scl_layout *layout, size_t count);
/* Room, filled by the sampler; in parallel, and the same in any batch. With fan_in q, scalar k of
 * parameter t is row k plane + t of the set, drawn independently of the others. together: all
 * processes make this call, and may draw it together; none of them writes to the weights. */
scl_status scl_parameters_draw(const scl_origin *origin, const scl_layout *layout, size_t first,
                               size_t count, size_t fan_in, bool together, scl_parameter_set *out,
                               scl_error *error);
/* Structured parameters as the dense rows that they stand for: row k count + t from row k plane + t
 * of `set`. */
scl_status scl_parameters_dense(const scl_origin *origin, const scl_parameter_set *set,
                                size_t plane, size_t count, size_t fan_in, scl_parameter_set *out,
                                scl_error *error);
/* count rows from `first` on, in place; to be written or to be read. */
scl_parameters scl_parameters_part(const scl_parameters *all, size_t first, size_t count);
scl_const_parameters scl_parameters_part_view(const scl_parameters *all, size_t first,
                                              size_t count);
/* From the rows of a matrix in the form that scl_parameters_matrix writes. */
scl_status scl_parameters_from_matrix(const scl_layout *layout, size_t dim, const scl_matrix *rows,
                                      scl_parameter_set *out, scl_error *error);
/* One row for each parameter: its columns (from 1; 0 past the in-degree), its numbers, and its
 * bias, if the layout has one. */
scl_status scl_parameters_matrix(const scl_parameter_set *set, scl_matrix *out, scl_error *error);
void scl_parameters_release(scl_parameter_set *set);

/* The law of one parameter's numbers, with memory for d columns. If the sampler declares no law,
 * the family is SCL_FAMILY_OTHER. */
typedef struct scl_law_set {
  scl_law law;
  double *memory;
} scl_law_set;
scl_status scl_law_create(const scl_origin *origin, scl_law_set *out, scl_error *error);
void scl_law_release(scl_law_set *set);

#endif

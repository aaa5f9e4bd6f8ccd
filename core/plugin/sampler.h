/* Calls of samplers: every slot and ability is called here and its results are checked; the simple
 * form; the bias. */
#ifndef SCULLERY_SAMPLER_H
#define SCULLERY_SAMPLER_H

#include "plugin/instance.h"

/* Set law->bias, bias_a and bias_b to the bias that the sampler's SCL_OPTION_BIAS asks for.
 * *by_host: whether it has such an option; without it the law is not changed. SCL_STATUS_BAD_OPTION
 * for a list or law that makes no sense. */
scl_status scl_sampler_bias(const scl_instance *sampler, scl_law *law, bool *by_host,
                            scl_error *error);

/* Check the options that the host implements for samplers: the bias. */
scl_status scl_sampler_check(const scl_instance *sampler, scl_error *error);

/* How `count` parameters of R^dim are stored (0: the number is the sampler's to choose). */
scl_status scl_sampler_layout(const scl_instance *sampler, size_t dim, size_t count,
                              scl_layout *out, scl_error *error);
/* Draw weights, supports, and biases if there are any, to the arrays of *out, for the parameters
 * out->first .. out->first + out->count - 1. */
scl_status scl_sampler_draw(const scl_instance *sampler, const scl_draw *draw,
                            const scl_parameters *out, scl_error *error);

/* Draws by columns: for each column of the data its weights in some parameters, which are those that
 * scl_sampler_draw writes. _draws_columns: whether the sampler, whose layout has a bias or none, can:
 * in the simple form, or by its ability. _draw_bias: the biases alone, of such a sampler. */
typedef struct scl_column_law {
  double mean, scale; /* simple form: of all columns; */
  double *each;       /* or, where they differ, the means of all columns, then the scales */
} scl_column_law;
bool scl_sampler_draws_columns(const scl_instance *sampler, bool has_bias);
/* *out is to be released, also after a failure. */
scl_status scl_sampler_column_law(const scl_instance *sampler, const scl_draw *draw,
                                  scl_column_law *out, scl_error *error);
void scl_sampler_release_column_law(scl_column_law *law);
/* out[t] = weight `column` of parameter first + t, t < count. */
scl_status scl_sampler_draw_column(const scl_instance *sampler, const scl_draw *draw,
                                   const scl_column_law *law, size_t column, size_t first,
                                   size_t count, double *out, scl_error *error);
scl_status scl_sampler_draw_bias(const scl_instance *sampler, const scl_draw *draw,
                                 const scl_parameters *out, scl_error *error);

/* Slot `make` of the simple form, for checks. _makes: how many standard normal numbers one e is
 * made of, 0 for one uniform number, SIZE_MAX if the sampler has the general form. _make: e (count
 * numbers) from that many numbers each. */
size_t scl_sampler_makes(const scl_instance *sampler);
scl_status scl_sampler_make(const scl_instance *sampler, size_t count, const double *numbers,
                            double *e, scl_error *error);

/* Abilities. Functions with a status return SCL_STATUS_UNSUPPORTED if the sampler does not have the
 * ability (scl_instance_has). */
bool scl_sampler_has_law(const scl_instance *sampler);
/* The law of the rows on `dim` columns. Its arrays are one block of memory, which begins at out->mean
 * and which the caller releases, also after a failure. */
scl_status scl_sampler_open_law(const scl_instance *sampler, const scl_draw *draw, size_t dim,
                                scl_law *out, scl_error *error);
/* The law of the rows. *out comes with dim, fan_in (0 counts as 1) and the caller's arrays; all
 * numbers of the result are finite, or it fails with SCL_STATUS_NUMERIC. */
scl_status scl_sampler_law(const scl_instance *sampler, const scl_draw *draw, scl_law *out,
                           scl_error *error);
bool scl_sampler_has_characteristic(const scl_instance *sampler);
/* out[i] = Re E exp(i <w, delta_i>) for the rows of delta (rows x dim, at stride). */
scl_status scl_sampler_characteristic(const scl_instance *sampler, const scl_draw *draw,
                                      size_t rows, const double *delta, ptrdiff_t stride,
                                      double *out, scl_error *error);
/* P(threshold <= x) in a column. The sampler must have the ability. NaN if it fails, and *error
 * says why. The slot is not called if *error has a failure already. */
double scl_sampler_distribution(const scl_instance *sampler, const scl_draw *draw, size_t column,
                                double x, scl_error *error);
/* out[i] = the probability of collision at the differences delta_i (rows x dim, at stride). */
scl_status scl_sampler_collision(const scl_instance *sampler, const scl_draw *draw, size_t rows,
                                 const double *delta, ptrdiff_t stride, double *out,
                                 scl_error *error);
/* *out = the number of rows that `count` parameters share (_pool_rows), and the rows that each of
 * the parameters first .. first+count-1 reads (_pool). */
scl_status scl_sampler_pool_rows(const scl_instance *sampler, size_t count, size_t fan_in,
                                 size_t *out, scl_error *error);
scl_status scl_sampler_pool(const scl_instance *sampler, const scl_draw *draw, size_t first,
                            size_t count, size_t fan_in, int32_t *out, scl_error *error);
/* Structured rows: z = the products with x, of either dtype (_apply), and the rows as dense ones
 * (_rows). */
bool scl_sampler_has_rows(const scl_instance *sampler);
scl_status scl_sampler_apply(const scl_instance *sampler, const scl_draw *draw,
                             const scl_const_parameters *parameters, const scl_const_block *x,
                             const scl_block *z, scl_error *error);
/* The same of sparse rows, for samplers that take them in their type. */
bool scl_sampler_takes_csr(const scl_instance *sampler, scl_dtype dtype);
scl_status scl_sampler_apply_csr(const scl_instance *sampler, const scl_draw *draw,
                                 const scl_const_parameters *parameters, const scl_const_csr *x,
                                 const scl_block *z, scl_error *error);
scl_status scl_sampler_rows(const scl_instance *sampler, const scl_draw *draw,
                            const scl_const_parameters *parameters, double *dense, ptrdiff_t stride,
                            scl_error *error);
/* Learn the state that draws depend on from rows. *out is overwritten; the caller releases its
 * numbers, also after a failure. */
scl_status scl_sampler_learn(const scl_instance *sampler, const scl_learning *rows, scl_state *out,
                             scl_error *error);
/* out[t] = the factor of the features of parameter t: 1/sqrt(draw->total) unless the sampler has
 * the ability. */
scl_status scl_sampler_scales(const scl_instance *sampler, const scl_draw *draw,
                              const scl_const_parameters *parameters, double *out,
                              scl_error *error);
/* The kernel that a sampler or nonlinearity names for itself with a partner, as one would type it;
 * an empty text if it names none. */
scl_status scl_component_pair_kernel(const scl_instance *component, const scl_instance *partner,
                                     char *text, size_t size, scl_error *error);

/* Drawn parameters as read-only ones, with nothing prepared. The two structs begin with the same
 * members, so a copy of these bytes converts one to the other. */
_Static_assert(SCL_LEAST_PARAMETERS == SCL_LEAST_CONST_PARAMETERS, "they are laid out alike");
static inline scl_const_parameters scl_parameters_view(const scl_parameters *p) {
  scl_const_parameters view;
  memset(&view, 0, sizeof view);
  memcpy(&view, p, SCL_LEAST_PARAMETERS);
  view.head = (scl_head)SCL_HEAD(scl_const_parameters);
  return view;
}

#endif

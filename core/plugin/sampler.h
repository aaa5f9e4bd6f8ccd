/* The host's half of samplers: every slot and ability, called and checked; simple forms; the
 * bias. */
#ifndef SCULLERY_SAMPLER_H
#define SCULLERY_SAMPLER_H

#include "plugin/instance.h"

/* The bias that the sampler's SCL_OPTION_BIAS asks for: in law->bias, bias_a and bias_b. False
 * where it has no such option. */
scl_status scl_sampler_bias(const scl_instance *sampler, scl_law *law, bool *by_host,
                            scl_error *error);

/* What the host serves for it: a bias that makes sense. */
scl_status scl_sampler_check(const scl_instance *sampler, scl_error *error);

/* How `count` parameters (0: as many as the sampler says) of R^dim are stored. */
scl_status scl_sampler_layout(const scl_instance *sampler, size_t dim, size_t count,
                              scl_layout *out, scl_error *error);
/* Weights and support, and the bias where there is one. */
scl_status scl_sampler_draw(const scl_instance *sampler, const scl_draw *draw,
                            const scl_parameters *out, scl_error *error);

/* The slot of the simple form alone, for checks: the numbers N(0, 1) that one e takes, 0 for a
 * uniform one, SIZE_MAX where the sampler has the general form; e from so many numbers each. */
size_t scl_sampler_makes(const scl_instance *sampler);
scl_status scl_sampler_make(const scl_instance *sampler, size_t count, const double *numbers,
                            double *e, scl_error *error);

/* Abilities. SCL_STATUS_UNSUPPORTED where the sampler does not offer them; the `has` functions
 * ask. */
bool scl_sampler_has_law(const scl_instance *sampler);
/* *out comes with dim and the caller's arrays. */
scl_status scl_sampler_law(const scl_instance *sampler, const scl_draw *draw, scl_law *out,
                           scl_error *error);
bool scl_sampler_has_characteristic(const scl_instance *sampler);
scl_status scl_sampler_characteristic(const scl_instance *sampler, const scl_draw *draw,
                                      size_t rows, const double *delta, ptrdiff_t stride,
                                      double *out, scl_error *error);
bool scl_sampler_has_distribution(const scl_instance *sampler);
/* NaN where it fails: *error says why. Not asked where *error has a failure already. */
double scl_sampler_distribution(const scl_instance *sampler, const scl_draw *draw, size_t column,
                                double x, scl_error *error);
bool scl_sampler_has_collision(const scl_instance *sampler);
scl_status scl_sampler_collision(const scl_instance *sampler, const scl_draw *draw, size_t rows,
                                 const double *delta, ptrdiff_t stride, double *out,
                                 scl_error *error);
bool scl_sampler_has_pool(const scl_instance *sampler);
/* How many rows are shared by `count` parameters, and which of them each reads. */
scl_status scl_sampler_pool_rows(const scl_instance *sampler, size_t count, size_t fan_in,
                                 size_t *out, scl_error *error);
scl_status scl_sampler_pool(const scl_instance *sampler, const scl_draw *draw, size_t first,
                            size_t count, size_t fan_in, int32_t *out, scl_error *error);
/* Structured rows: z from x, of either dtype; the rows themselves. */
bool scl_sampler_has_rows(const scl_instance *sampler);
scl_status scl_sampler_apply(const scl_instance *sampler, const scl_draw *draw,
                             const scl_const_parameters *parameters, const scl_const_block *x,
                             const scl_block *z, scl_error *error);
scl_status scl_sampler_rows(const scl_instance *sampler, const scl_draw *draw,
                            const scl_const_parameters *parameters, double *dense, ptrdiff_t stride,
                            scl_error *error);
bool scl_sampler_learns(const scl_instance *sampler);
/* *out comes empty; its numbers are the caller's to release, also where this fails. */
scl_status scl_sampler_learn(const scl_instance *sampler, const scl_learning *rows, scl_state *out,
                             scl_error *error);
/* The factor of each parameter's features: 1/sqrt(draw->total) where the sampler says none. */
scl_status scl_sampler_scales(const scl_instance *sampler, const scl_draw *draw,
                              const scl_const_parameters *parameters, double *out,
                              scl_error *error);
/* The kernel that a component names for a pair, as typed; an empty text where it names none. */
scl_status scl_component_pair_kernel(const scl_instance *component, const scl_instance *partner,
                                     char *text, size_t size, scl_error *error);

/* What was drawn, to be read. */
_Static_assert(sizeof(scl_parameters) == sizeof(scl_const_parameters), "they are laid out alike");
static inline scl_const_parameters scl_parameters_view(const scl_parameters *p) {
  scl_const_parameters view;
  SCL_COPY(&view, p);
  return view;
}

#endif

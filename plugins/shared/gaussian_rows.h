/* Rows that are, each by itself, w ~ N(0, sigma^2 I): the width, law and characteristic function
 * that Gaussian, orthogonal, Hadamard and quasi-Monte Carlo samplers share. They differ in how rows
 * depend on each other. Fourier features estimate, with delta = x - y,
 *   k(x, y) = E exp(i <w, delta>) = exp(-sigma^2 ||delta||^2 / 2) = exp(-gamma ||delta||^2).
 *
 * A sampler's instance begins with a gaussian_rows, which gaussian_rows_create completes. */
#ifndef SCULLERY_SHARED_GAUSSIAN_ROWS_H
#define SCULLERY_SHARED_GAUSSIAN_ROWS_H

#include <scullery/plugin.h>

typedef struct gaussian_rows {
  scl_base base;
  const scl_value *given; /* the option sigma */
  double gamma;           /* the option gamma */
  double sigma;           /* the standard deviation by the two; 1 where sigma is a list */
} gaussian_rows;

/* Streams, from the draw's own on; the host draws the bias at the one that is left out. */
enum { GAUSSIAN_ROWS_WEIGHTS = 0, GAUSSIAN_ROWS_RADII = 2, GAUSSIAN_ROWS_ORDER = 3 };

/* The option sigma. */
#define GAUSSIAN_ROWS_SIGMA(sigma_forms, sigma_help) \
  { \
    .name = "sigma", .help = sigma_help, .forms = sigma_forms, SCL_AT(gaussian_rows, given), \
    SCL_POSITIVE, .width = SCL_WIDTH_FREQUENCY \
  }

/* The first options of a sampler whose coordinates all have one sigma. */
#define GAUSSIAN_ROWS_OPTIONS \
  GAUSSIAN_ROWS_SIGMA(SCL_FORM_NUMBER, "standard deviation of each weight (default 1)"), \
      {.name = "gamma", \
       .help = "instead of sigma: the rate in exp(-gamma ||x-y||^2); sigma = sqrt(2 gamma)", \
       .forms = SCL_FORM_NUMBER, \
       SCL_AT(gaussian_rows, gamma), \
       SCL_POSITIVE, \
       .width = SCL_WIDTH_GAMMA}, \
      SCL_OPTION_BIAS

/* As scl_plugin.create. */
scl_status gaussian_rows_create(void *instance, scl_error *error);

/* As scl_sampler.moments. */
void gaussian_rows_moments(const void *self, double *mean, double *scale);

scl_status gaussian_rows_characteristic(const void *instance, const scl_draw *draw, size_t rows,
                                        const double *delta, ptrdiff_t stride, double *out,
                                        scl_error *error);

/* Such a sampler by its `draw_rows` and `layout`, from the type of its instance, and its first
 * ability. */
#define GAUSSIAN_ROWS_SAMPLER(type, space_) \
  SCL_SAMPLER(.space = space_, .draw = draw_rows, .layout = layout, \
              .moments = gaussian_rows_moments, .family = SCL_FAMILY_GAUSSIAN), \
      SCL_INSTANCE(type, options), .create = gaussian_rows_create
#define GAUSSIAN_ROWS_CHARACTERISTIC \
  SCL_OFFER(SCL_ABILITY_CHARACTERISTIC, scl_ability_characteristic, \
            .characteristic = gaussian_rows_characteristic)

#endif

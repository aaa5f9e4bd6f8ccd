/* The arc-sine kernel, that of erf(<w, x>), w ~ N(0, s^2 I) (Williams 1998, Computation with
 * infinite neural networks):
 *
 *   K(x, y) = (2/pi) asin(2 s^2 <x,y> / sqrt((1 + 2 s^2 ||x||^2)(1 + 2 s^2 ||y||^2)))
 *
 * With h = sqrt2 s ||x|| the argument is
 *
 *   cos q(x) q(y),   q(x) = h / sqrt(1 + h^2)
 *
 * which holds for rows of any size. */
#include "shared/scaled_kernel.h"

typedef struct arcsine {
  scl_base base;
  double sigma;
} arcsine;

static const scl_option options[] = {
    SCL_NUMBER(arcsine, sigma, "1", "standard deviation s of the Gaussian weights", SCL_POSITIVE)};

static double scale(const void *self) { return SCL_SQRT2 * ((const arcsine *)self)->sigma; }

/* q = h/sqrt(1 + h^2), which is 1 to rounding long before h^2 overflows. */
static double shrink(double h) { return h < 1e150 ? h / sqrt(1 + h * h) : 1; }

static void finish(const void *self, const scl_pair_row *row, double *cosines) {
  const double left = shrink(row->length_u);
  (void)self;
  for (size_t j = 0; j < row->count; j++) {
    const double sine = cosines[j] * left * shrink(row->lengths_v[j]);
    cosines[j] = 2 / SCL_PI * asin(fmax(-1, fmin(1, sine)));
  }
}

const scl_plugin scullery_plugin = {
    .name = "erf",
    .summary = "the arc-sine kernel: that of erf features on Gaussian rows",
    .definition = "q(u, v) = 2*sigma^2*dot(u, v)\n"
                  "K(u, v) = 2/pi*asin(q(u, v)/sqrt((1 + q(u, u))*(1 + q(v, v))))",
    .doc = "K(x, y) = (2/pi) asin(2 s^2 <x,y> / sqrt((1 + 2 s^2 ||x||^2)(1 + 2 s^2 ||y||^2))),\n"
           "s = sigma, on dense rows, positive semidefinite: the kernel of erf(<w, x>) with\n"
           "w ~ N(0, s^2 I) (Williams 1998, Computation with infinite neural networks).",
    SCALED_KERNEL(SCL_BIT(SCL_SPACE_DENSE), SCL_PAIR_COSINE),
    SCL_INSTANCE(arcsine, options)};

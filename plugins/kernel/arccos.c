/* The arc-cosine kernel of order n (Cho and Saul 2009, Kernel methods for deep learning), theta the
 * angle between x and y:
 *
 *   K(x, y) = s^(2n) ||x||^n ||y||^n J_n(theta)/pi
 *           = 2 E[ Theta(a) Theta(b) a^n b^n ],   a = <w, x>, b = <w, y>, w ~ N(0, s^2 I)
 *
 * the kernel of the features sqrt2 Theta(z) z^n. */
#include "shared/arccos.h"
#include "shared/scaled_kernel.h"

typedef struct arccos {
  scl_base base;
  size_t order;
  double sigma;
} arccos;

static const scl_option options[] = {
    SCL_INTEGER(arccos, order, "1", "power n: 0 for the step, 1 for the rectifier",
                SCL_WITHIN(0, 16)),
    SCL_NUMBER(arccos, sigma, "1", "standard deviation s of the weights", SCL_POSITIVE)};

/* The factor of the rows; order 0 does not depend on lengths. */
static double scale(const void *instance) {
  const arccos *self = instance;
  return self->order == 0 ? 1 : self->sigma;
}

/* t^n J, with 0 times an infinite power taken as 0: rows at an angle of pi, and rows of zeros. */
static double scaled(int order, double t, double value) {
  if (t == 0 || value == 0) return 0;
  for (int n = 0; n < order; n++)
    value *= t;
  return value;
}

/* Angles become (||u|| ||v||)^n J_n(theta)/pi: cosines have lost the digits of small ones. For order
 * 0 the lengths only detect rows of zeros, whose kernel is 0. */
static void finish(const void *instance, const scl_pair_row *row, double *angles) {
  const int order = (int)((const arccos *)instance)->order;
  for (size_t j = 0; j < row->count; j++) {
    const double u = row->length_u, v = row->lengths_v[j], theta = angles[j];
    const double t = order == 0 && u > 0 && v > 0 ? 1 : u * v;
    angles[j] = scaled(order, t,
                       order == 0 ? 1 - theta / SCL_PI
                                  : arccos_of(order, cos(theta), sin(theta), SCL_PI - theta));
  }
}

const scl_plugin scullery_plugin = {
    .name = "arccos",
    .summary = "arc-cosine kernels: those of step, rectifier and one-sided powers on Gaussian rows",
    .definition =
        "J(t) = ({ [0] = pi - t, sin(t) + (pi - t)*cos(t),\n"
        "  3*sin(t)*cos(t) + (pi - t)*(1 + 2*cos(t)^2) })[order] or t > 0.1 and t < 2 and\n"
        "  exp(lgamma(order + 1))*sin(t)^(2*order + 1)*integral(function(x)\n"
        "    return cos(x)^order/(1 - cos(t)*cos(x))^(order + 1)\n"
        "  end, 0, pi/2)\n"
        "K(u, v) = (function(size, j)\n"
        "  local power = (sigma^2*size)^order\n"
        "  return size == 0 and 0 or j and power > 1e-290 and power*j/pi\n"
        "end)(length(u)*length(v), J(angle(u, v)))",
    .doc =
        "K(x, y) = sigma^(2n) ||x||^n ||y||^n J_n(theta)/pi, n = order, theta the angle between\n"
        "the rows, on dense rows, positive semidefinite: the kernel of\n"
        "sqrt2 Theta(<w, x>) <w, x>^n with w ~ N(0, sigma^2 I) (Cho and Saul 2009, Kernel methods\n"
        "for deep learning).\n"
        "  J_0 = pi - theta\n"
        "  J_1 = sin theta + (pi - theta) cos theta\n"
        "  J_2 = 3 sin theta cos theta + (pi - theta)(1 + 2 cos^2 theta)\n"
        "With rows of zeros K = 0, also for order 0, as Theta(0) = 0.",
    SCALED_KERNEL(SCL_BIT(SCL_SPACE_DENSE), SCL_PAIR_ANGLE),
    SCL_INSTANCE(arccos, options)};

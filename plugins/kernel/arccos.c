/* The arc-cosine kernel of order n (Cho and Saul 2009, Kernel methods for deep learning):
 *   K(x, y) = s^(2n) ||x||^n ||y||^n J_n(theta)/pi = 2 E[ Theta(a) Theta(b) a^n b^n ],
 *       a = <w, x>, b = <w, y>, w ~ N(0, s^2 I),
 * theta the angle between x and y: the kernel of the features sqrt2 Theta(z) z^n. */
#include "shared/arccos.h"
#include "shared/kernel_angles.h"

enum { ORDER, SIGMA, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"order", SCL_FORM_INTEGER, NULL, "1", 0, 16, 0, SCL_WIDTH_NONE,
     "n: 0 is the step, 1 the rectifier"},
    {"sigma", SCL_FORM_NUMBER, NULL, "1", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "standard deviation s of the weights"},
};

typedef struct arccos {
  kernel_angle angle;
  int order;
  double sigma;
} arccos;

/* t^n J, where 0 wins over an infinite power: rows at an angle of pi, rows of zeros. */
static double scaled(int order, double t, double value) {
  if (t == 0 || value == 0) return 0;
  for (int n = 0; n < order; n++)
    value *= t;
  return value;
}

static void join(const void *instance, double length_u, size_t count, const double *length_v,
                 double *values) {
  const arccos *self = instance;
  for (size_t j = 0; j < count; j++) {
    const double t = self->order == 0 && length_u > 0 && length_v[j] > 0
                         ? 1
                         : (self->sigma * length_u) * (self->sigma * length_v[j]);
    values[j] = scaled(self->order, t, arccos_kernel(self->order, values[j]));
  }
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const scl_status status =
      angle_create(host, sizeof(arccos), (kernel_angle){.join = join}, instance, error);
  if (status != SCL_STATUS_OK) return status;
  arccos *self = *instance;
  self->order = (int)values[ORDER].number;
  self->sigma = values[SIGMA].number;
  return SCL_STATUS_OK;
}

static const scl_kernel table = {SCL_HEAD(scl_kernel), SCL_BIT(SCL_SPACE_DENSE), angle_gram,
                                 angle_diagonal};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_KERNEL,
    "arccos",
    "1.0",
    "The Scullery authors",
    "arc-cosine kernels: those of step, rectifier and one-sided powers on Gaussian rows",
    "K(x, y) = sigma^(2n) ||x||^n ||y||^n J_n(theta)/pi, n = order, theta the angle between the "
    "rows, on dense rows, positive\n"
    "semidefinite: the kernel of sqrt2 Theta(<w, x>) <w, x>^n with w ~ N(0, sigma^2 I) (Cho and "
    "Saul 2009, Kernel methods for\n"
    "deep learning). J_0 = pi - theta, J_1 = sin theta + (pi - theta) cos theta,\n"
    "J_2 = 3 sin theta cos theta + (pi - theta)(1 + 2 cos^2 theta). With rows of zeros K = 0, also "
    "for order 0, as Theta(0) = 0.",
    options,
    OPTIONS,
    &table,
    create,
    kernel_destroy,
    kernel_no_ability};

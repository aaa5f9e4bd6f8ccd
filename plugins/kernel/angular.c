/* K(x, y) = 1 - 2 theta/pi, theta the angle between x and y: the kernel of sign(<w, x>), w ~ N(0,
 * I). */
#include "shared/kernel_angles.h"

static void join(const void *instance, double length_u, size_t count, const double *length_v,
                 double *values) {
  const double pi = 3.14159265358979323846;
  (void)instance, (void)length_u, (void)length_v;
  for (size_t j = 0; j < count; j++)
    values[j] = 1 - 2 * values[j] / pi;
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  (void)values;
  return angle_create(host, sizeof(kernel_angle), (kernel_angle){.radians = 1, .join = join},
                      instance, error);
}

static const scl_kernel table = {SCL_HEAD(scl_kernel), SCL_BIT(SCL_SPACE_DENSE), angle_gram,
                                 angle_diagonal};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_KERNEL,
    "angular",
    "1.0",
    "The Scullery authors",
    "1 - 2 theta/pi, theta the angle between the rows: the kernel of sign features",
    "K(x, y) = 1 - (2/pi) arccos(<x, y> / (||x|| ||y||)) on dense rows, positive semidefinite: the "
    "kernel of sign(<w, x>) with\n"
    "w ~ N(0, I) (Goemans and Williamson 1995; Charikar 2002). A row of zeros has K = 0 with all "
    "others and 1 with itself, as\n"
    "its features sign(0) = 1 have. The arc-cosine kernel of order 0 is (1 + K)/2 up to rows of "
    "zeros.",
    NULL,
    0,
    &table,
    create,
    kernel_destroy,
    kernel_no_ability};

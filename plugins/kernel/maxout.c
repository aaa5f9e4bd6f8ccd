/* The kernel of maxout features max_{j <= q} <w_j, x>, w_1 .. w_q independent N(0, s^2 I):
 *   K(x, y) = s^2 ||x|| ||y|| M_q(r),   r the cosine between x and y,
 *       M_q(r) = E[ max_j a_j max_j b_j ]
 * for pairs (a_j, b_j) of standard normals with correlation r (shared/maxout.h). Mroueh, Rennie and
 * Goel 2015 (Random maxout features, theorem 1) state s^2 <x, y> kappa_q(r) in its place, which
 * leaves out the pairs of different argmax. */
#include "shared/maxout.h"
#include "shared/kernel_angles.h"

enum { Q, SIGMA, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"q", SCL_FORM_INTEGER, NULL, "2", 1, MAXOUT_LARGEST, 0, SCL_WIDTH_NONE,
     "how many linear functions the maximum is of"},
    {"sigma", SCL_FORM_NUMBER, NULL, "1", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "standard deviation s of the weights"},
};

typedef struct maxout {
  kernel_angle angle;
  double sigma;
  maxout_table table;
} maxout;

static void join(const void *instance, double length_u, size_t count, const double *length_v,
                 double *values) {
  const maxout *self = instance;
  for (size_t j = 0; j < count; j++) {
    const double lengths = (self->sigma * length_u) * (self->sigma * length_v[j]),
                 moment = maxout_moment(&self->table, values[j]);
    values[j] = lengths == 0 || moment == 0 ? 0 : lengths * moment;
  }
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const scl_status status =
      angle_create(host, sizeof(maxout), (kernel_angle){.join = join}, instance, error);
  if (status != SCL_STATUS_OK) return status;
  maxout *self = *instance;
  self->sigma = values[SIGMA].number;
  maxout_table_make((size_t)values[Q].number, &self->table);
  return SCL_STATUS_OK;
}

static const scl_kernel table = {SCL_HEAD(scl_kernel), SCL_BIT(SCL_SPACE_DENSE), angle_gram,
                                 angle_diagonal};

const scl_plugin scullery_plugin = {SCL_HEAD(scl_plugin),
                                    SCL_KIND_KERNEL,
                                    "maxout",
                                    "1.0",
                                    "The Scullery authors",
                                    "the kernel of maxout features on Gaussian rows",
                                    "K(x, y) = sigma^2 ||x|| ||y|| M_q(r), r the cosine between "
                                    "the rows, M_q(r) = E[max_j a_j max_j b_j] over q independent\n"
                                    "pairs of standard normals with correlation r; dense rows, "
                                    "positive semidefinite: the kernel of max_{j <= q} <w_j, x>.\n"
                                    "M_1 = r, M_2 = (r + (2/pi)(sqrt(1 - r^2) + r asin r))/2; any "
                                    "q by quadrature and a Chebyshev series in the angle.\n"
                                    "Theorem 1 of Mroueh, Rennie and Goel (2015, Random maxout "
                                    "features) states sigma^2 <x, y> kappa_q(r), kappa_q the\n"
                                    "probability that both maxima are at the same j. Its proof "
                                    "takes the terms of different j for zero, and they are not,\n"
                                    "for a maximum of normals has a positive mean: q = 2, r = 0 "
                                    "gives M_q = 1/pi = 0.318 and not 0; q = 4, r = 0.3 gives\n"
                                    "1.152 and not 0.171. Features measured against the theorem "
                                    "disagree with it; against this kernel they agree.",
                                    options,
                                    OPTIONS,
                                    &table,
                                    create,
                                    kernel_destroy,
                                    kernel_no_ability};

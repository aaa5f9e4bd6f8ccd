/* The min-max kernel, x_j, y_j >= 0:
 *
 *   K(x, y) = sum_j min(x_j, y_j) / sum_j max(x_j, y_j)
 *
 * (Li 2015, Min-max kernels; on rows of 0 and 1 it is Jaccard's similarity). It is the probability
 * that consistent weighted samples of x and y are one (Ioffe 2010), so positive semidefinite. Two
 * rows of zeros have K = 1. */
#include "shared/column_kernel.h"

/* As sum_j max(x_j, y_j) is the sum of both rows less that of the minima. Sums in one order: that of
 * the minima is at most that of either row. Halves: the sum of two rows may be past the largest
 * number. */
static double share(double least, double x, double y) {
  const double most = (0.5 * x - 0.5 * least) + 0.5 * y;
  return most > 0 ? 0.5 * least / most : 1;
}

static scl_status gram(const void *self, const scl_const_parameters *u,
                       const scl_const_parameters *v, double *out, ptrdiff_t stride,
                       scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  double *x = host->scratch((u->count + v->count + 1) * sizeof *x), *y = x + u->count;
  if (x == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for sums of %zu rows",
                      u->count + v->count);
  scl_status status = column_diagonal(&column_minima, self, u, x, error);
  if (status == SCL_STATUS_OK) status = column_diagonal(&column_minima, self, v, y, error);
  if (status == SCL_STATUS_OK) status = column_gram(&column_minima, self, u, v, out, stride, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < u->count; i++)
    for (size_t j = 0; j < v->count; j++) {
      double *to = out + (ptrdiff_t)i * stride + (ptrdiff_t)j;
      *to = share(*to, x[i], y[j]);
    }
  return SCL_STATUS_OK;
}

static scl_status diagonal(const void *self, const scl_const_parameters *u, double *out,
                           scl_error *error) {
  (void)self;
  (void)error;
  for (size_t i = 0; i < u->count; i++)
    out[i] = 1;
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "min_max",
    .summary = "sum_j min(x_j, y_j)/sum_j max(x_j, y_j), for rows of numbers of at least 0",
    .definition = "of(u, v, f) = sum(u, function(x, j) return f(x, v[j]) end)\n"
                  "K(u, v) = of(u, v, min)/of(u, v, max)",
    .doc = "K(x, y) = sum_j min(x_j, y_j)/sum_j max(x_j, y_j), x_j, y_j >= 0 (counts, histograms,\n"
           "sets): Jaccard's similarity of weighted sets. Positive semidefinite, K(x, x) = 1 (Li\n"
           "2015, Min-max kernels). Sparse rows are made dense by blocks. Features of it:\n"
           "sc.features{ p = sc.sampler.landmarks(), phi = sc.kernel.min_max() }.",
    COLUMN_KERNEL,
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_DOMAIN, scl_ability_domain, .high = INFINITY))};

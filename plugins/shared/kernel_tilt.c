/* Expectations over the columns of a parameter, for kernels with a tilt (gaussian, exponential,
 * indicator). */
#include "shared/kernel_tilt.h"

scl_status tilt_check(const void *self, const scl_law *law, scl_error *error) {
  if (law->family == SCL_FAMILY_GAUSSIAN) return SCL_STATUS_OK;
  return ((const scl_base *)self)
      ->host->fail(error, SCL_STATUS_UNSUPPORTED,
                   "no closed form for this kernel with this sampler's law");
}

/* log mean over supports of s columns of exp(sum of logs[j]); logs is overwritten, scratch has s +
 * 1 numbers. The largest exponent is taken out first, so that nothing overflows. */
static double tilt_mean(size_t dim, size_t degree, double *logs, double *scratch) {
  double high = -INFINITY, low = INFINITY, sum = 0;
  for (size_t j = 0; j < dim; j++) {
    high = fmax(high, logs[j]);
    low = fmin(low, logs[j]);
    sum += logs[j];
  }
  if (degree == dim) return sum;
  if (degree == 0 || high == low || !isfinite(high)) return degree == 0 ? 0 : (double)degree * high;
  for (size_t j = 0; j < dim; j++)
    logs[j] = exp(logs[j] - high);
  return (double)degree * high + log(subset_mean(dim, degree, logs, scratch));
}

double *tilt_room(const void *self, const scl_law *law, scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  double *room = host->scratch((2 * law->dim + 1) * sizeof *room);
  if (room == NULL)
    (void)host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a law of %zu columns",
                     law->dim);
  return room;
}

double tilt_total(const scl_law *law, tilt_factor factor, const void *context, double *room) {
  for (size_t j = 0; j < law->dim; j++)
    room[j] = factor(context, law->mean[j], law->scale[j]);
  return tilt_mean(law->dim, tilt_degree(law), room, room + law->dim);
}

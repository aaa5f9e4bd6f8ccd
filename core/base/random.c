/* Random numbers by counter: Philox from Random123, and the inverse normal distribution. */
#include "base/random.h"

#include "base/numbers.h"

#include <Random123/philox.h>
#include <math.h>
#include <sleef.h>

/* Four numbers for each counter: key (seed, stream), counter (number = offset / 4, index, 0, 0). */
static void philox_block(uint64_t seed, uint64_t stream, uint64_t index, uint64_t number,
                         uint64_t out[4]) {
  const philox4x64_key_t key = {{seed, stream}};
  const philox4x64_ctr_t counter = {{number, index, 0, 0}};
  const philox4x64_ctr_t result = philox4x64(counter, key);
  for (int i = 0; i < 4; i++)
    out[i] = result.v[i];
}

void scl_random_bits(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset, size_t count,
                     uint64_t *out) {
  uint64_t four[4];
  size_t done = 0;
  while (done < count) {
    const uint64_t at = offset + done;
    philox_block(seed, stream, index, at / 4, four);
    for (uint64_t lane = at % 4; lane < 4 && done < count; lane++)
      out[done++] = four[lane];
  }
}

enum { CHUNK = 64 }; /* random words drawn at once */

void scl_random_uniform(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset,
                        size_t count, double *out) {
  uint64_t bits[CHUNK];
  for (size_t first = 0; first < count; first += CHUNK) {
    const size_t some = scl_min(CHUNK, count - first);
    scl_random_bits(seed, stream, index, offset + first, some, bits);
    for (size_t i = 0; i < some; i++)
      out[first + i] = ((double)(bits[i] >> 12) + 0.5) * 0x1p-52; /* exact, never 0 or 1 */
  }
}

void scl_random_normal(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset,
                       size_t count, double *out) {
  scl_random_uniform(seed, stream, index, offset, count, out);
  for (size_t i = 0; i < count; i++)
    out[i] = scl_inverse_normal(out[i]);
}

/* The ratio of two polynomials of degree 7 at x; coefficients in ascending order. */
static double rational(const double numerator[8], const double denominator[8], double x) {
  double p = numerator[7], q = denominator[7];
  for (int i = 6; i >= 0; i--) {
    p = p * x + numerator[i];
    q = q * x + denominator[i];
  }
  return p / q;
}

/* Algorithm AS 241 (Wichura 1988): rational functions of (p - 1/2)^2 in the centre, and of
 * sqrt(-log(min(p, 1 - p))) in the middle and the tails. */
double scl_inverse_normal(double probability) {
  static const double centre_p[8] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                     1.9715909503065514427e3, 1.3731693765509461125e4,
                                     4.5921953931549871457e4, 6.7265770927008700853e4,
                                     3.3430575583588128105e4, 2.5090809287301226727e3};
  static const double centre_q[8] = {1,
                                     4.2313330701600911252e1,
                                     6.8718700749205790830e2,
                                     5.3941960214247511077e3,
                                     2.1213794301586595867e4,
                                     3.9307895800092710610e4,
                                     2.8729085735721942674e4,
                                     5.2264952788528545610e3};
  static const double middle_p[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                     5.76949722146069140550e0,  3.64784832476320460504e0,
                                     1.27045825245236838258e0,  2.41780725177450611770e-1,
                                     2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static const double middle_q[8] = {1,
                                     2.05319162663775882187e0,
                                     1.67638483018380384940e0,
                                     6.89767334985100004550e-1,
                                     1.48103976427480074590e-1,
                                     1.51986665636164571966e-2,
                                     5.47593808499534494600e-4,
                                     1.05075007164441684324e-9};
  static const double tail_p[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                   1.78482653991729133580e0,  2.96560571828504891230e-1,
                                   2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                   2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static const double tail_q[8] = {1,
                                   5.99832206555887937690e-1,
                                   1.36929880922735805310e-1,
                                   1.48753612908506148525e-2,
                                   7.86869131145613259100e-4,
                                   1.84631831751005468180e-5,
                                   1.42151175831644588870e-7,
                                   2.04426310338993978564e-15};
  const double q = probability - 0.5;
  if (fabs(q) <= 0.425) return q * rational(centre_p, centre_q, 0.180625 - q * q);
  const double nearest = q < 0 ? probability : 1 - probability;
  const double r = sqrt(-Sleef_cinz_logd1_u10purec(nearest));
  const double size =
      r <= 5 ? rational(middle_p, middle_q, r - 1.6) : rational(tail_p, tail_q, r - 5);
  return q < 0 ? -size : size;
}

const scl_random scl_service_random = {SCL_HEAD(scl_random), scl_random_bits, scl_random_uniform,
                                       scl_random_normal, scl_inverse_normal};

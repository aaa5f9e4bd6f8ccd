/* Spherical rows: w = r v in R^d, v uniform on the unit sphere, r fixed, uniform between two ends,
 * or chi distributed with d degrees of freedom (then w ~ N(0, I)).
 *
 * The characteristic function of a fixed radius is, with t = r ||delta||,
 *   E cos(t v_1) = Gamma(d/2) (2/t)^(d/2-1) J_(d/2-1)(t)
 *                = integral_0^pi cos(t cos a) sin(a)^(d-2) da / integral_0^pi sin(a)^(d-2) da,
 * by Gauss-Legendre panels where the weight sin(a)^(d-2) lies. */
#include "shared/log_gamma.h"
#include "shared/radial_rows.h"

#define MOST_RADIUS 1e150 /* its square is a number */

typedef struct spherical {
  scl_base base;
  const scl_value *radius;
  bool chi;
  double low, high; /* the same for a fixed radius */
} spherical;

enum { RADIUS_CHI, RADIUS_UNIFORM };

static const scl_option options[] = {
    SCL_ROW(spherical, radius, SCL_FORM_NUMBER | SCL_FORM_WORD | SCL_FORM_NAMED, "chi|uniform", "1",
            "length of each row: a number; \"chi\": that of N(0, I); {uniform = {low, high}}",
            SCL_ABOVE(0, MOST_RADIUS)),
    SCL_OPTION_BIAS};

/* Turns the option radius into the range low .. high of the length; low = high for a number. */
static scl_status spherical_create(void *instance, scl_error *error) {
  spherical *self = instance;
  const scl_value *radius = self->radius;
  const double *list = radius->list;
  self->chi = radius->form == SCL_FORM_WORD && radius->place == RADIUS_CHI;
  self->low = self->high = radius->number;
  if (self->chi || radius->form == SCL_FORM_NUMBER) return SCL_STATUS_OK;
  if (radius->form != SCL_FORM_NAMED || radius->place != RADIUS_UNIFORM || radius->length != 2 ||
      !(list[0] >= 0 && list[0] < list[1] && list[1] <= MOST_RADIUS))
    return self->base.host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "option 'radius' takes a number, \"chi\", or {uniform = {low, high}} with 0 <= low < high, "
        "of at most 1e150");
  self->low = list[0];
  self->high = list[1];
  return SCL_STATUS_OK;
}

/* ------------ drawing and law */

enum { STREAM_RADIUS = 2 };

/* A normal row, scaled to the drawn length unless the length is that of N(0, I). A row of zeros
 * stays 0. */
static scl_status draw_rows(const void *instance, const scl_draw *draw, const scl_parameters *out,
                            scl_error *error) {
  (void)error;
  const spherical *self = instance;
  const scl_random *random = self->base.host->random;
  const scl_address address = draw->address;
  for (size_t i = 0; i < out->count; i++) {
    double *w = out->weights + (ptrdiff_t)i * out->stride, square = 0, u;
    random->normal(address.seed, address.stream, out->first + i, 0, out->dim, w);
    if (self->chi) continue;
    for (size_t j = 0; j < out->dim; j++)
      square += w[j] * w[j];
    random->uniform(address.seed, address.stream + STREAM_RADIUS, out->first + i, 0, 1, &u);
    const double factor =
        square > 0 ? (self->low + (self->high - self->low) * u) / sqrt(square) : 0;
    for (size_t j = 0; j < out->dim; j++)
      w[j] *= factor;
  }
  return SCL_STATUS_OK;
}

/* Direction and length are independent, so that E w_j^2 = E r^2/d. */
static scl_status law(const void *instance, const scl_draw *draw, scl_law *out, scl_error *error) {
  (void)draw, (void)error;
  const spherical *self = instance;
  const double ratio = self->low / self->high,
               mean = (ratio * ratio + ratio + 1) / 3; /* E r^2/high^2 */
  out->family = self->chi ? SCL_FAMILY_GAUSSIAN : SCL_FAMILY_SPHERICAL;
  for (size_t j = 0; j < out->dim; j++)
    out->scale[j] = self->chi ? 1 : self->high * sqrt(mean / (double)out->dim);
  return SCL_STATUS_OK;
}

/* ------------ the characteristic function */

/* Gauss-Legendre on [-1, 1], 8 points: the positive half. */
static const double node[4] = {0.18343464249564980494, 0.52553240991632898582,
                               0.79666647741362673959, 0.96028985649753623168};
static const double weight[4] = {0.36268378337836198297, 0.31370664587788728734,
                                 0.22238103445337447054, 0.10122853629037625915};

/* Gamma(d/2) (2/t)^v J_v(t), v = d/2 - 1, for large t. */
static double cosine_far(size_t d, double t) {
  const double v = (double)d / 2 - 1;
  return exp(log_gamma((double)d / 2) + v * log(2 / t)) * sqrt(2 / (SCL_PI * t)) *
         cos(t - (2 * v + 1) * SCL_PI / 4);
}

/* E cos(t v_1) for v uniform on the sphere of R^d, by panels over an angle b = a - pi/2 up to
 * `reach`: cos(b)^(d-2) is below rounding beyond it. The number of panels grows with the
 * oscillation t. */
static double cosine_on_sphere(size_t d, double t) {
  const double reach = fmin(SCL_PI / 2, 13 / sqrt((double)d)), power = (double)d - 2;
  if (d == 1 || isnan(t)) return cos(t);
  if (t > 1e5) return isinf(t) ? 0 : cosine_far(d, t);
  const size_t panels = 8 + (size_t)(t * reach / 2) + (size_t)(reach * sqrt((double)d));
  double sum = 0, mass = 0;
  for (size_t p = 0; p < panels; p++) /* a = pi/2 + b: even in b */
    for (int k = 0; k < 8; k++) {
      const double x = k < 4 ? node[k] : -node[k - 4],
                   b = reach * ((double)p + (1 + x) / 2) / (double)panels;
      const double density = weight[k % 4] * exp(power * log(cos(b)));
      sum += density * cos(t * sin(b));
      mass += density;
    }
  return sum / mass;
}

/* The mean of the characteristic function over lengths r in low .. high, by Gauss-Legendre
 * quadrature with 8 nodes on panels whose number grows with the distance. */
static double of_distance(const void *instance, size_t d, double distance) {
  const spherical *self = instance;
  if (self->chi) return exp(-distance * distance / 2);
  if (self->low == self->high) return cosine_on_sphere(d, self->low * distance);
  const double span = self->high - self->low;
  const size_t panels = 1 + (size_t)fmin(span * distance / 2, 2000);
  double sum = 0;
  for (size_t p = 0; p < panels; p++)
    for (int k = 0; k < 8; k++) {
      const double x = k < 4 ? node[k] : -node[k - 4],
                   r = self->low + span * ((double)p + (1 + x) / 2) / (double)panels;
      sum += weight[k % 4] / 2 * cosine_on_sphere(d, r * distance);
    }
  return sum / (double)panels;
}

RADIAL_CHARACTERISTIC

const scl_plugin scullery_plugin = {
    .name = "spherical",
    .summary = "Rows of uniform direction and a chosen length",
    .definition = "end_of(k) = type(radius) == \"table\" and radius.uniform[k] or radius\n"
                  "length_of(n, u) = radius == \"chi\" and length(n) or end_of(1) + u*(end_of(2) - "
                  "end_of(1))\n"
                  "draw(t, r) = (function(n) return map(n, function(v)\n"
                  "  return v/length(n)*length_of(n, r.uniform(2, t, 0)) end)\n"
                  "end)(map(range(r.dim), function(j) return r.normal(0, t, j - 1) end))\n"
                  /* E cos(t v_1), of 2 and 3 columns; and its mean over lengths. */
                  "on_sphere(d, t) = d == 3 and when(t == 0, 1, sin(t)/t) or\n"
                  "  d == 2 and t < 400 and mean(range(512), function(k) return "
                  "cos(t*cos(pi*(k - 0.5)/512)) end)\n"
                  /* By the rule of Simpson. */
                  "between(d, a, b) = d == 3 and b - a < 20 and sum(401, function(k) return\n"
                  "  on_sphere(d, a + (b - a)*(k - 1)/400)*when(k == 1 or k == 401, 1, k % 2 == 0, "
                  "4, 2) end)/1200\n"
                  "characteristic(x) = radius == \"chi\" and exp(-dot(x, x)/2) or end_of(2) and\n"
                  "  (end_of(1) == end_of(2) and on_sphere(#x, end_of(1)*length(x)) or\n"
                  "  between(#x, end_of(1)*length(x), end_of(2)*length(x)))",
    .doc = "Draws w_t = r v, v uniform on the unit sphere of R^d; z = <w, x> + b.\n"
           "r is fixed, uniform between two ends, or \"chi\" (w ~ N(0, I)).\n"
           "With nonlinearity.sign and no bias the features estimate 1 - 2 theta/pi, as Gaussian "
           "rows do;\n"
           "with a bias uniform on {-a, a}, about 1 - sigma sqrt(2/(pi d)) ||x-y||/a, sigma = r\n"
           "(Rahimi and Recht 2008, random bases).",
    RADIAL_ROWS,
    SCL_ABILITIES(RADIAL_ABILITIES),
    SCL_INSTANCE(spherical, options),
    .create = spherical_create};

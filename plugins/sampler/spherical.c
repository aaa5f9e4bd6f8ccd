/* Spherical rows: w = r v, v uniform on the unit sphere, r fixed, uniform between two ends, or chi
 * (then w ~ N(0, I)).
 *
 * Characteristic function of a fixed radius: E cos(r |delta| v_1) = Gamma(d/2) (2/t)^(d/2-1)
 * J_(d/2-1)(t), t = r |delta|, found as the integral of cos(t cos a) sin(a)^(d-2) over angles, by
 * Gauss-Legendre panels where the weight lies. */
#include "shared/bias.h"
#include "shared/instance.h"

enum { RADIUS, BIAS, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"radius", SCL_FORM_NUMBER | SCL_FORM_WORD | SCL_FORM_NAMED, "chi|uniform", "1", 0, 1e250,
     SCL_RANGE_LOW_OPEN, SCL_WIDTH_NONE,
     "length of each row: a number; \"chi\": that of N(0, I); {uniform = {low, high}}"},
    BIAS_OPTION,
};

typedef struct spherical {
  const scl_host *host;
  const scl_random *random;
  int chi;
  double low, high; /* the same for a fixed radius */
  bias_law bias;
} spherical;

static scl_status read_radius(spherical *self, const scl_value *radius, scl_error *error) {
  self->low = self->high = radius->number;
  if (radius->form == SCL_FORM_WORD && strcmp(radius->word, "chi") == 0) {
    self->chi = 1;
    return SCL_STATUS_OK;
  }
  if (radius->form == SCL_FORM_NUMBER || radius->form == SCL_FORM_INTEGER) return SCL_STATUS_OK;
  const int fits =
      radius->form == SCL_FORM_NAMED && strcmp(radius->word, "uniform") == 0 && radius->length == 2;
  if (!fits || !(radius->list[0] < radius->list[1]))
    return self->host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "option 'radius' takes a number, \"chi\", or {uniform = {low, high}} with low < high");
  self->low = radius->list[0];
  self->high = radius->list[1];
  return SCL_STATUS_OK;
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  void *made = NULL;
  scl_status status = instance_new(host, sizeof(spherical), &made, error);
  if (status != SCL_STATUS_OK) return status;
  status = read_radius(made, &values[RADIUS], error);
  if (status == SCL_STATUS_OK)
    status = bias_read(host, &values[BIAS], &((spherical *)made)->bias, error);
  if (status == SCL_STATUS_OK)
    *instance = made;
  else
    instance_end(made);
  return status;
}

static scl_status layout(const void *instance, size_t dim, scl_layout *out, scl_error *error) {
  (void)error;
  const spherical *self = instance;
  *out = (scl_layout){SCL_SPACE_DENSE, dim, 0, 1, self->bias.law != SCL_BIAS_NONE};
  return SCL_STATUS_OK;
}

enum { STREAM_RADIUS = 2 };

static scl_status draw(const void *instance, scl_address address, scl_parameters *out,
                       scl_error *error) {
  (void)error;
  const spherical *self = instance;
  for (size_t i = 0; i < out->count; i++) {
    double *w = out->weights + (ptrdiff_t)i * out->stride, square = 0, u;
    self->random->normal(address.seed, address.stream, out->first + i, 0, out->dim, w);
    if (self->chi) continue;
    for (size_t j = 0; j < out->dim; j++)
      square += w[j] * w[j];
    self->random->uniform(address.seed, address.stream + STREAM_RADIUS, out->first + i, 0, 1, &u);
    const double factor =
        square > 0 ? (self->low + (self->high - self->low) * u) / sqrt(square) : 0;
    for (size_t j = 0; j < out->dim; j++)
      w[j] *= factor;
  }
  bias_draw(&self->bias, self->random, address, out);
  return SCL_STATUS_OK;
}

static scl_status law(const void *instance, size_t dim, scl_law *out, scl_error *error) {
  (void)error;
  const spherical *self = instance;
  const double square =
      (self->low * self->low + self->low * self->high + self->high * self->high) / 3; /* E r^2 */
  out->space = SCL_SPACE_DENSE;
  out->family = self->chi ? SCL_FAMILY_GAUSSIAN : SCL_FAMILY_SPHERICAL;
  bias_tell(&self->bias, out);
  for (size_t j = 0; j < dim; j++) {
    out->mean[j] = 0;
    out->scale[j] = self->chi ? 1 : sqrt(square / (double)dim);
  }
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- the characteristic function */

/* Gauss-Legendre on [-1, 1], 8 points: the positive half. */
static const double node[4] = {0.18343464249564980494, 0.52553240991632898582,
                               0.79666647741362673959, 0.96028985649753623168};
static const double weight[4] = {0.36268378337836198297, 0.31370664587788728734,
                                 0.22238103445337447054, 0.10122853629037625915};

/* E cos(t v_1) for v uniform on the sphere of R^d. */
static double cosine_on_sphere(size_t d, double t) {
  const double half = 1.57079632679489661923, reach = fmin(half, 13 / sqrt((double)d)),
               power = (double)d - 2;
  if (d == 1) return cos(t);
  if (t > 1e5) return 0; /* below 1e-5 in size from d = 3 on, and of any sign */
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

static double of_distance(const spherical *self, size_t d, double distance) {
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

static scl_status characteristic(const void *instance, size_t rows, size_t dim, const double *delta,
                                 ptrdiff_t stride, double *out, scl_error *error) {
  (void)error;
  for (size_t i = 0; i < rows; i++) {
    double length = 0;
    for (size_t j = 0; j < dim; j++)
      length = hypot(length, delta[(ptrdiff_t)i * stride + (ptrdiff_t)j]);
    out[i] = of_distance(instance, dim, length);
  }
  return SCL_STATUS_OK;
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_law law_table = {SCL_HEAD(scl_ability_law), law};
  static const scl_ability_characteristic characteristic_table = {
      SCL_HEAD(scl_ability_characteristic), characteristic};
  (void)instance;
  if (strcmp(id, SCL_ABILITY_LAW) == 0) return &law_table;
  if (strcmp(id, SCL_ABILITY_CHARACTERISTIC) == 0) return &characteristic_table;
  return NULL;
}

static const scl_sampler table = {SCL_HEAD(scl_sampler), layout, draw};

const scl_plugin scullery_plugin = {SCL_HEAD(scl_plugin),
                                    SCL_KIND_SAMPLER,
                                    "spherical",
                                    "1.0",
                                    "The Scullery authors",
                                    "Rows of uniform direction and a chosen length",
                                    "Draws w_t = r v, v uniform on the unit sphere of R^d; r "
                                    "fixed, uniform between two ends, or \"chi\" (w ~ N(0, I)).\n"
                                    "With nonlinearity.sign and no bias the features estimate 1 - "
                                    "2 theta/pi, as Gaussian rows do; with a bias uniform on\n"
                                    "{-a, a}, about 1 - sigma sqrt(2/(pi d)) ||x-y||/a, sigma = r "
                                    "(Rahimi and Recht 2008, random bases).",
                                    options,
                                    OPTIONS,
                                    &table,
                                    create,
                                    instance_end,
                                    ability};

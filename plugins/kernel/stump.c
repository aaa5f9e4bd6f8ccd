/* The kernel of decision stumps sign(x_i - t), i uniform over the d columns:
 *
 *   t ~ U[-a, a]:       K(x, y) = 1 - ||clip(x) - clip(y)||_1 / (a d),   clip to [-a, a]
 *   t ~ N(0, sigma^2):  K(x, y) = 1 - (2/d) sum_i |F(x_i/sigma) - F(y_i/sigma)|
 *
 * F the normal distribution function. In each column a stump separates x_i from y_i where t is
 * between the two: the product of the signs is then -1, else 1. Rahimi and Recht 2008 (Uniform
 * approximation of functions with random bases) print the first without the 1/d. */
#include <scullery/plugin.h>

typedef struct stump {
  scl_base base;
  double sigma, a;
  double width; /* a, or sigma sqrt(2) */
} stump;

static const scl_option options[] = {
    SCL_NUMBER(stump, sigma, NULL, "normal thresholds: their standard deviation (default 1)",
               SCL_POSITIVE),
    SCL_NUMBER(stump, a, NULL, "uniform thresholds on [-a, a], instead of sigma", SCL_POSITIVE)};

/* The law of the thresholds: normal unless `a` is given; both at once are refused. */
static scl_status stump_create(void *instance, scl_error *error) {
  stump *self = instance;
  const bool normal = !isnan(self->sigma), uniform = !isnan(self->a);
  if (normal && uniform)
    return self->base.host->fail(error, SCL_STATUS_BAD_OPTION,
                                 "'sigma' = %g asks for normal thresholds and 'a' = %g for uniform "
                                 "ones: give one of them",
                                 self->sigma, self->a);
  self->width = uniform ? self->a : SCL_SQRT2 * (normal ? self->sigma : 1);
  return SCL_STATUS_OK;
}

/* Maps x to 2 F(x) - 1, F the distribution function of the thresholds: a clip, or erf(x/(sigma
 * sqrt 2)). */
static void stump_move(const void *instance, size_t count, double *x) {
  const stump *self = instance;
  for (size_t i = 0; i < count; i++)
    x[i] /= self->width;
  if (isnan(self->a))
    self->base.host->math->erf(count, x, x);
  else
    for (size_t i = 0; i < count; i++)
      x[i] = fmin(fmax(x[i], -1), 1);
}

static void stump_finish(const void *self, const scl_pair_row *row, double *numbers) {
  const double dim = row->dim > 0 ? (double)row->dim : 1;
  (void)self;
  for (size_t j = 0; j < row->count; j++)
    numbers[j] = 1 - numbers[j] / dim;
}

const scl_plugin scullery_plugin = {
    .name = "stump",
    .summary = "the kernel of decision stumps: 1 - ||x-y||_1/(a d), or with normal thresholds",
    .definition = "F(x) = a and max(-1, min(1, x/a))/2 or erf(x/((sigma or 1)*sqrt(2)))/2\n"
                  "K(u, v) = 1 - 2/#u*sum(u, function(x, j) return abs(F(x) - F(v[j])) end)",
    .doc =
        "The kernel that sign features on sc.sampler.threshold estimate, dense rows only,\n"
        "positive semidefinite.\n"
        "a: thresholds uniform on [-a, a], clip to [-a, a]:\n"
        "  K(x, y) = 1 - ||clip(x) - clip(y)||_1 / (a d)\n"
        "sigma: normal thresholds, F the normal distribution function:\n"
        "  K(x, y) = 1 - (2/d) sum_i |F(x_i/sigma) - F(y_i/sigma)|\n"
        "Rahimi and Recht (2008, Uniform approximation of functions with random bases) print the\n"
        "first without the 1/d, which for d > 1 would be the kernel of nothing: at opposite\n"
        "corners it would be 1 - 2 d, and a mean of products of signs is never below -1.",
    SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .finish = stump_finish, .move = stump_move,
               .pair = SCL_PAIR_ABSOLUTE_DISTANCE),
    SCL_INSTANCE(stump, options),
    .create = stump_create};

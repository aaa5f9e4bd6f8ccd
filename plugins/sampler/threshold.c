/* Parameters of decision stumps: a column i, uniform over the d columns, and a threshold t with
 * distribution function F, normal or uniform; z = x_i - t.
 *
 * The features sign(z) estimate
 *   k(x, y) = 1 - (2/d) sum_i |F(x_i) - F(y_i)|,
 * for t ~ U[-a, a] on [-a, a]^d the stump kernel
 *   k(x, y) = 1 - ||x - y||_1/(a d)
 * (Rahimi and Recht 2008, Uniform approximation of functions with random bases, who print it
 * without the 1/d). t ~ N(0, sigma^2): Rahimi and Recht 2008, Weighted sums of random kitchen
 * sinks; Dube and Marchand 2023, RKHS weightings, instantiation 2. */
#include <scullery/plugin.h>

typedef struct threshold {
  scl_base base;
  double sigma, a;
  bool uniform;
  double scale; /* sigma or a */
} threshold;

static const scl_option options[] = {
    SCL_NUMBER(threshold, sigma, NULL,
               "normal thresholds: their standard deviation, in the data's units (default 1)",
               SCL_POSITIVE),
    SCL_NUMBER(threshold, a, NULL, "uniform thresholds on [-a, a], instead of sigma",
               SCL_POSITIVE)};

static scl_status threshold_create(void *instance, scl_error *error) {
  threshold *self = instance;
  const bool normal = !isnan(self->sigma);
  self->uniform = !isnan(self->a);
  if (normal && self->uniform)
    return self->base.host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "'sigma' asks for normal thresholds and 'a' for uniform ones: give one of them");
  self->scale = self->uniform ? self->a : normal ? self->sigma : 1;
  return SCL_STATUS_OK;
}

static scl_status threshold_layout(const void *instance, size_t dim, scl_layout *out,
                                   scl_error *error) {
  (void)out;
  const threshold *self = instance;
  if (dim > 0 && dim <= INT32_MAX) return SCL_STATUS_OK;
  return self->base.host->fail(error, SCL_STATUS_BAD_SHAPE,
                               "thresholds need 1 to 2^31 - 1 columns, and the data have %zu", dim);
}

/* Item t: its first number chooses the column, its second the threshold. */
static scl_status draw_thresholds(const void *instance, const scl_draw *draw,
                                  const scl_parameters *out, scl_error *error) {
  (void)error;
  const threshold *self = instance;
  const scl_random *random = self->base.host->random;
  const uint64_t seed = draw->address.seed, stream = draw->address.stream;
  for (size_t i = 0; i < out->count; i++) {
    const uint64_t index = out->first + i;
    double place, t;
    random->uniform(seed, stream, index, 0, 1, &place);
    if (self->uniform) {
      random->uniform(seed, stream, index, 1, 1, &t);
      t = 2 * t - 1;
    } else {
      random->normal(seed, stream, index, 1, 1, &t);
    }
    out->support[(ptrdiff_t)i * out->support_stride] = (int32_t)(place * (double)out->dim);
    out->weights[(ptrdiff_t)i * out->stride] = self->scale * t;
  }
  return SCL_STATUS_OK;
}

static scl_status threshold_law(const void *instance, const scl_draw *draw, scl_law *out,
                                scl_error *error) {
  (void)draw, (void)error;
  const threshold *self = instance;
  out->family = self->uniform ? SCL_FAMILY_UNIFORM : SCL_FAMILY_GAUSSIAN;
  for (size_t j = 0; j < out->dim; j++)
    out->scale[j] = self->scale;
  return SCL_STATUS_OK;
}

/* F(x) = P(t < x), the same for all columns. */
static double threshold_distribution(const void *instance, const scl_draw *draw, size_t column,
                                     double x) {
  (void)draw, (void)column;
  const threshold *self = instance;
  if (!self->uniform) return 0.5 * erfc(-x / (self->scale * SCL_SQRT2));
  const double p = (x / self->scale + 1) / 2;
  return p < 0 ? 0 : p > 1 ? 1 : p;
}

const scl_plugin scullery_plugin = {
    .name = "threshold",
    .summary = "Stumps: a column drawn uniformly and a threshold, normal or uniform",
    .definition = "draw(t, r) = { floor(r.uniform(0, t, 0)*r.dim),\n"
                  "  a and a*(2*r.uniform(0, t, 1) - 1) or (sigma or 1)*r.normal(0, t, 1) }",
    .doc = "Draws (i, t): i uniform over the columns, t ~ N(0, sigma^2) or U[-a, a]; z = x_i - t.\n"
           "With nonlinearity.sign the features estimate 1 - (2/d) sum_i |F(x_i) - F(y_i)|, F the\n"
           "distribution function of t; for U[-a, a] that is 1 - ||x-y||_1/(a d) on [-a, a]^d\n"
           "(Rahimi and Recht 2008, who print it without the 1/d).",
    SCL_SAMPLER(.space = SCL_SPACE_THRESHOLD, .draw = draw_thresholds, .layout = threshold_layout),
    SCL_INSTANCE(threshold, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = threshold_law),
                  SCL_OFFER(SCL_ABILITY_DISTRIBUTION, scl_ability_distribution,
                            .distribution = threshold_distribution)),
    .create = threshold_create};

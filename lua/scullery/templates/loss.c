/* The logarithm of the hyperbolic cosine, with r = (f - y)/scale:
 *
 *   l(f, y) = scale^2 log cosh r
 *   l'      = scale tanh r,   l'' = 1 - tanh^2 r
 *   l*(s)   = s y + scale^2 (w atanh w + log(1 - w^2)/2),   w = s/scale in [-1, 1]
 *
 * It is square near the target and absolute far from it, like Huber's loss, with all
 * derivatives. */
#include <scullery/plugin.h>

typedef struct log_cosh {
  scl_base base; /* what the host offers, and the options as they came */
  double scale;  /* the host writes it before anything is called */
} log_cosh;

static const scl_option options[] = {
    SCL_NUMBER(log_cosh, scale, "1", "where the loss turns from square to absolute", SCL_POSITIVE)};

static double scale_of(const void *self) { return ((const log_cosh *)self)->scale; }

/* log cosh r without cancellation near 0, and without overflow. */
static double log_cosh_of(double r) {
  const double half = sinh(r / 2);
  return fabs(r) < 1 ? log1p(2 * half * half) : fabs(r) + log1p(exp(-2 * fabs(r))) - log(2);
}

/* w atanh w + log(1 - w^2)/2, which is log 2 at the ends. */
static double entropy(double w) {
  if (fabs(w) > 1) return INFINITY;
  const double above = 1 + w, below = 1 - w;
  return ((above > 0 ? above * log1p(w) : 0) + (below > 0 ? below * log1p(-w) : 0)) / 2;
}

/* Each defines a function of the arrays f and y; where the conjugate is meant, f is the slope. */
SCL_LOSS_LOOP(value, scale_of(self) * scale_of(self) * log_cosh_of((f - y) / scale_of(self)))
SCL_LOSS_LOOP(slope, scale_of(self) * tanh((f - y) / scale_of(self)))
SCL_LOSS_LOOP(curvature, pow(cosh((f - y) / scale_of(self)), -2))
SCL_LOSS_LOOP(conjugate, f *y + scale_of(self) * scale_of(self) * entropy(f / scale_of(self)))

/* Facts that depend on an option. */
static scl_status facts(const void *self, scl_loss_facts *out, scl_error *error) {
  (void)error;
  out->lipschitz = scale_of(self);
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "my_plugin",
    .summary = "the logarithm of the hyperbolic cosine",
    .definition = "l(f, y) = scale^2*(abs(f - y)/scale + log1p(expm1(-2*abs(f - y)/scale)/2))",
    .doc = "l(f, y) = scale^2 log cosh((f - y)/scale), for numbers: square near the target and\n"
           "absolute far from it, with all derivatives.",
    SCL_LOSS(.targets = SCL_TARGETS_NUMBERS, .curvature = 1, .value = value, .slope = slope,
             .facts = facts),
    SCL_INSTANCE(log_cosh, options),
    SCL_ABILITIES(
        SCL_OFFER(SCL_ABILITY_LOSS_CURVATURE, scl_ability_loss_curvature, .curvature = curvature),
        SCL_OFFER(SCL_ABILITY_LOSS_CONJUGATE, scl_ability_loss_conjugate, .conjugate = conjugate)),
    .version = "0.1"};

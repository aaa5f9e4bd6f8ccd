/* The logarithm of the hyperbolic cosine, with r = (f - y)/scale:
 *
 *   l(f, y) = scale^2 log cosh r
 *   l'      = scale tanh r,   l'' = 1 - tanh^2 r
 *   l*(s)   = s y + scale^2 (w atanh w + log(1 - w^2)/2),   w = s/scale in [-1, 1]
 *
 * It is square near the target and absolute far from it, like Huber's loss, with all derivatives. */
#include <scullery/plugin.hpp>

namespace {

struct log_cosh {
  scl_base base; // what the host offers, and the options as they came
  double scale;  // the host writes it before anything is called
};

const scl_option options[] = {
    SCL_NUMBER(log_cosh, scale, "1", "where the loss turns from square to absolute", SCL_POSITIVE)};

double scale_of(const void *self) { return scullery::of<log_cosh>(self).scale; }

// log cosh r without cancellation near 0, and without overflow.
double log_cosh_of(double r) {
  const double half = std::sinh(r / 2);
  return std::fabs(r) < 1 ? std::log1p(2 * half * half)
                          : std::fabs(r) + std::log1p(std::exp(-2 * std::fabs(r))) - std::log(2);
}

// w atanh w + log(1 - w^2)/2, which is log 2 at the ends.
double entropy(double w) {
  if (std::fabs(w) > 1) return INFINITY;
  const double above = 1 + w, below = 1 - w;
  return ((above > 0 ? above * std::log1p(w) : 0) + (below > 0 ? below * std::log1p(-w) : 0)) / 2;
}

// Each defines a function of the arrays f and y; where the conjugate is meant, f is the slope.
SCL_LOSS_LOOP(value, scale_of(self) * scale_of(self) * log_cosh_of((f - y) / scale_of(self)))
SCL_LOSS_LOOP(slope, scale_of(self) * std::tanh((f - y) / scale_of(self)))
SCL_LOSS_LOOP(curvature, std::pow(std::cosh((f - y) / scale_of(self)), -2))
SCL_LOSS_LOOP(conjugate, f *y + scale_of(self) * scale_of(self) * entropy(f / scale_of(self)))

// Facts that depend on an option.
scl_status facts(const void *self, scl_loss_facts *out, scl_error *) {
  out->lipschitz = scale_of(self);
  return SCL_STATUS_OK;
}

} // namespace

const scl_plugin scullery_plugin = scullery::plugin(
    SCL_KIND_LOSS,
    scl_loss{.targets = SCL_TARGETS_NUMBERS,
             .curvature = 1,
             .value = value,
             .slope = slope,
             .facts = facts},
    {.name = "my_plugin",
     .summary = "the logarithm of the hyperbolic cosine",
     .doc = "l(f, y) = scale^2 log cosh((f - y)/scale), for numbers: square near the target and\n"
            "absolute far from it, with all derivatives.",
     SCL_INSTANCE(log_cosh, options),
     .abilities =
         scullery::abilities({scullery::offer(SCL_ABILITY_LOSS_CURVATURE,
                                              scl_ability_loss_curvature{.curvature = curvature}),
                              scullery::offer(SCL_ABILITY_LOSS_CONJUGATE,
                                              scl_ability_loss_conjugate{.conjugate = conjugate})}),
     .version = "0.1",
     .definition = "l(f, y) = scale^2*(abs(f - y)/scale + log1p(expm1(-2*abs(f - y)/scale)/2))"});

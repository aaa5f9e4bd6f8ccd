/* The logarithm of the hyperbolic cosine, with r = (f - y)/scale:
 *
 *   l(f, y) = scale^2 log cosh r
 *   l'      = scale tanh r,   l'' = 1 - tanh^2 r
 *   l*(s)   = s y + scale^2 (w atanh w + log(1 - w^2)/2),   w = s/scale in [-1, 1]
 *
 * It is square near the target and absolute far from it, like Huber's loss, with all derivatives. */
#include <scullery/plugin.h>

#include <cmath>

// Members that are left out of a table are zero, which means: none.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace {

struct log_cosh {
  scl_base base; // what the host offers, and the options as they came
  double scale;  // the host writes it before anything is called
};

const scl_option options[] = {
    SCL_NUMBER(log_cosh, scale, "1", "where the loss turns from square to absolute", SCL_POSITIVE)};

double scale_of(const void *self) { return static_cast<const log_cosh *>(self)->scale; }

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

// No exception may leave a slot.
void value(const void *self, size_t count, const double *f, const double *y, double *out) {
  const double scale = scale_of(self);
  for (size_t j = 0; j < count; j++)
    out[j] = scale * scale * log_cosh_of((f[j] - y[j]) / scale);
}

void slope(const void *self, size_t count, const double *f, const double *y, double *out) {
  const double scale = scale_of(self);
  for (size_t j = 0; j < count; j++)
    out[j] = scale * std::tanh((f[j] - y[j]) / scale);
}

void curvature(const void *self, size_t count, const double *f, const double *y, double *out) {
  const double scale = scale_of(self);
  for (size_t j = 0; j < count; j++)
    out[j] = std::pow(std::cosh((f[j] - y[j]) / scale), -2);
}

void conjugate(const void *self, size_t count, const double *s, const double *y, double *out) {
  const double scale = scale_of(self);
  for (size_t j = 0; j < count; j++)
    out[j] = s[j] * y[j] + scale * scale * entropy(s[j] / scale);
}

// Facts that depend on an option.
scl_status facts(const void *self, scl_loss_facts *out, scl_error *) {
  out->lipschitz = scale_of(self);
  return SCL_STATUS_OK;
}

// ------------------------------------------------------------ what the host is told

const scl_loss table = {.head = SCL_HEAD(scl_loss),
                        .kind = SCL_KIND_LOSS,
                        .targets = SCL_TARGETS_NUMBERS,
                        .curvature = 1,
                        .value = value,
                        .slope = slope,
                        .facts = facts};
const scl_ability_loss_curvature second = {.head = SCL_HEAD(scl_ability_loss_curvature),
                                           .curvature = curvature};
const scl_ability_loss_conjugate dual = {.head = SCL_HEAD(scl_ability_loss_conjugate),
                                         .conjugate = conjugate};
const scl_ability abilities[] = {
    {SCL_ABILITY_LOSS_CURVATURE, &second}, {SCL_ABILITY_LOSS_CONJUGATE, &dual}, {nullptr, nullptr}};

} // namespace

const scl_plugin scullery_plugin = {
    .head = SCL_HEAD(scl_plugin),
    .kind = SCL_KIND_LOSS,
    .name = "my_plugin",
    .summary = "the logarithm of the hyperbolic cosine",
    .doc = "l(f, y) = scale^2 log cosh((f - y)/scale), for numbers: square near the target and\n"
           "absolute far from it, with all derivatives.",
    .vtable = &table,
    SCL_INSTANCE(log_cosh, options),
    .abilities = abilities,
    .version = "0.1"};

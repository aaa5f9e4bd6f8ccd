/* Losses by formulas, in place of a loss that was given as an option. */
#include "shared/deviances.h"
#include "shared/erm.h"
#include "shared/part_loss.h"

static double pinball_lipschitz(const double *p) { return fmax(p[0], p[1]); }
static double pinball_of(const double *p, double f, double y) {
  return pinball_value(p[0], p[1], f, y);
}
static double pinball_slope_of(const double *p, double f, double y) {
  return pinball_slope(p[0], p[1], f, y);
}
static double pinball_conjugate_of(const double *p, double s, double y) {
  return pinball_conjugate(p[0], p[1], s, y);
}
static double pinball_proximal_of(const double *p, double z, double y, double t) {
  return pinball_proximal(p[0], p[1], z, y, t);
}
const erm_formula erm_pinball = {.about = {.name = "quantile"},
                                 .kinks = true,
                                 .lipschitz = pinball_lipschitz,
                                 .value = pinball_of,
                                 .slope = pinball_slope_of,
                                 .conjugate = pinball_conjugate_of,
                                 .proximal = pinball_proximal_of};

static double deviance_of(const double *p, double f, double y) {
  return deviance_value(p[0], f, y);
}
static double deviance_slope_of(const double *p, double f, double y) {
  return deviance_slope(p[0], f, y);
}
static double deviance_curvature_of(const double *p, double f, double y) {
  return deviance_curvature(p[0], f, y);
}
static double deviance_conjugate_of(const double *p, double s, double y) {
  return deviance_conjugate(p[0], s, y);
}
const erm_formula erm_deviance = {.about = {.name = "tweedie"},
                                  .rate = true,
                                  .value = deviance_of,
                                  .slope = deviance_slope_of,
                                  .curvature = deviance_curvature_of,
                                  .conjugate = deviance_conjugate_of};

size_t erm_outputs(const void *instance) {
  const erm *self = instance;
  return self->tau != NULL && self->tau->form == SCL_FORM_LIST ? self->tau->length : 1;
}

static double tau_of(const erm *self, size_t target) {
  return self->tau->form == SCL_FORM_LIST ? self->tau->list[target % self->tau->length]
                                          : self->tau->number;
}

static erm_own own_of(const erm *self, size_t target) {
  static const scl_plugin poisson = {.name = "poisson"}, gamma = {.name = "gamma"};
  const scl_plugin *about = &self->formula->about; /* what sentences call the loss */
  if (self->formula->rate && self->power == 1) about = &poisson;
  if (self->formula->rate && self->power == 2) about = &gamma;
  erm_own out = {.part = {.plugin = about},
                 .host = self->base.host,
                 .formula = self->formula,
                 .p = {self->power, 0}};
  if (!self->formula->kinks) return out;
  out.p[0] = self->tau == NULL ? 1 : tau_of(self, target);
  out.p[1] = self->tau == NULL ? 1 : 1 - out.p[0];
  return out;
}

/* ------------ the service of losses */

static scl_status own_facts(const scl_part *part, scl_loss_facts *out, scl_error *error) {
  const erm_own *own = (const erm_own *)part;
  const erm_formula *formula = own->formula;
  (void)error;
  out->targets = SCL_TARGETS_NUMBERS;
  out->flags = formula->kinks ? SCL_LOSS_KINKS : 0;
  out->lipschitz = formula->kinks ? formula->lipschitz(own->p) : INFINITY;
  out->curvature = INFINITY;
  out->high = formula->rate ? INFINITY : 0;
  out->range = !formula->rate ? 0 : own->p[0] < 2 ? SCL_RANGE_HIGH_OPEN : SCL_RANGE_OPEN;
  return SCL_STATUS_OK;
}

/* out = a function of two numbers, or SCL_STATUS_NUMERIC. */
static scl_status each(const erm_own *own, double (*call)(const double *, double, double),
                       size_t count, const double *first, const double *y, double *out,
                       scl_error *error) {
  for (size_t i = 0; i < count; i++) {
    out[i] = call(own->p, first[i], y[i]);
    if (isnan(out[i]))
      return own->host->fail(error, SCL_STATUS_NUMERIC,
                             "the loss of the score %.9g at the target %.9g is not a number",
                             first[i], y[i]);
  }
  return SCL_STATUS_OK;
}

#define OWN_CALL(slot) \
  static scl_status own_##slot(const scl_part *part, size_t count, const double *f, \
                               const double *y, double *out, scl_error *error) { \
    const erm_own *own = (const erm_own *)part; \
    return each(own, own->formula->slot, count, f, y, out, error); \
  }
OWN_CALL(value)
OWN_CALL(slope)
OWN_CALL(curvature)
OWN_CALL(conjugate)

static scl_status own_proximal(const scl_part *part, size_t count, const double *z, const double *y,
                               const double *t, double *out, scl_error *error) {
  const erm_own *own = (const erm_own *)part;
  (void)error;
  for (size_t i = 0; i < count; i++)
    out[i] = own->formula->proximal(own->p, z[i], y[i], t[i]);
  return SCL_STATUS_OK;
}

static const scl_loss_service own_service = {.head = SCL_HEAD(scl_loss_service),
                                             .facts = own_facts,
                                             .value = own_value,
                                             .slope = own_slope,
                                             .curvature = own_curvature,
                                             .conjugate = own_conjugate,
                                             .proximal = own_proximal};

scl_status erm_formula_open(const erm *self, size_t target, erm_loss *out, scl_error *error) {
  *out = (erm_loss){.own = own_of(self, target),
                    .service = &own_service,
                    .facts = {.head = SCL_HEAD(scl_loss_facts)},
                    .curvature = self->formula->curvature != NULL,
                    .conjugate = true};
  out->part = &out->own.part;
  return own_facts(out->part, &out->facts, error);
}

/* ------------ scl_ability_loss */

double erm_formula_value(const void *instance, size_t c, const double *f, const double *y) {
  const erm *self = instance;
  double sum = 0;
  for (size_t j = 0; j < c; j++) {
    const erm_own own = own_of(self, j);
    sum += self->formula->value(own.p, f[j], y[j]);
  }
  return sum;
}

void erm_formula_slope(const void *instance, size_t c, const double *f, const double *y,
                       double *out) {
  const erm *self = instance;
  for (size_t j = 0; j < c; j++) {
    const erm_own own = own_of(self, j);
    out[j] = self->formula->slope(own.p, f[j], y[j]);
  }
}

/* The losses are convex, and their slopes rise, so that the ends of the scores tell. */
static double largest(const erm *self, double reach, bool slope) {
  enum { TARGETS = 41 };
  double most = 0;
  if (self->formula->rate && self->power >= 2) return INFINITY; /* targets near 0 */
  for (size_t output = 0; output < erm_outputs(self); output++) {
    const erm_own own = own_of(self, output);
    for (int i = self->formula->rate ? TARGETS / 2 : 0; i < TARGETS; i++)
      for (int side = -1; side <= 1; side += 2)
        most = fmax(most, fabs((slope ? self->formula->slope : self->formula->value)(
                              own.p, side * reach, (i - 20) / 20.0)));
  }
  return most;
}

double erm_formula_bound(const void *self, double reach) { return largest(self, reach, false); }
double erm_formula_lipschitz(const void *self, double reach) { return largest(self, reach, true); }

/* How many values of tau come before value j in ascending order. */
static size_t rank_of(const erm *self, size_t q, size_t j) {
  size_t rank = 0;
  for (size_t k = 0; k < q; k++)
    rank += tau_of(self, k) < tau_of(self, j) || (tau_of(self, k) == tau_of(self, j) && k < j);
  return rank;
}

/* Quantiles in order: the scores of a target, sorted (Chernozhukov, Fernandez-Val and Galichon 2010)
 * and given to the values of tau by their order, in place. */
static void rearrange(const erm *self, size_t q, double *f) {
  for (size_t j = 1; j < q; j++) {
    const double score = f[j];
    size_t to = j;
    for (; to > 0 && score < f[to - 1]; to--)
      f[to] = f[to - 1];
    f[to] = score;
  }
  for (size_t first = 0; first < q; first++) { /* each cycle once, from its first place */
    size_t at = rank_of(self, q, first);
    while (at > first)
      at = rank_of(self, q, at);
    if (at < first) continue;
    const double score = f[first];
    for (size_t next; (next = rank_of(self, q, at)) != first; at = next)
      f[at] = f[next];
    f[at] = score;
  }
}

int erm_formula_text(const void *instance, char *text, size_t size) {
  const erm *self = instance;
  return self->formula->rate ? scl_write_text("exp(f)", text, size) : 0;
}

int32_t erm_formula_means(const void *instance, size_t c, const double *f, double *out) {
  const erm *self = instance;
  const size_t q = erm_outputs(self);
  if (self->formula->rate) {
    for (size_t j = 0; j < c; j++)
      out[j] = exp(f[j]);
    return 1;
  }
  if (q == 1) return 0;
  memcpy(out, f, c * sizeof *out);
  for (size_t j = 0; c % q == 0 && j < c; j += q)
    rearrange(self, q, out + j);
  return 1;
}

/* Quantile regression (Koenker and Bassett 1978): solver.erm with the loss of quantiles. */
#include "shared/erm.h"

static const scl_option options[] = {
    {.name = "tau",
     .help = "the quantile, or a list of them: a column of predictions each",
     .fallback = "0.5",
     .forms = SCL_FORM_NUMBER | SCL_FORM_LIST,
     SCL_AT(erm, tau),
     SCL_BETWEEN(0, 1)},
    ERM_OPTIONS};

static scl_status create(void *instance, scl_error *error) {
  erm *self = instance;
  self->formula = &erm_pinball;
  if (self->tau->form == SCL_FORM_LIST && self->tau->length == 0)
    return self->base.host->fail(error, SCL_STATUS_BAD_OPTION,
                                 "option 'tau' is an empty list; it takes at least one quantile");
  return erm_create(instance, error);
}

const scl_plugin scullery_plugin = {
    .name = "quantile",
    .summary = "Quantile regression: the median, or several quantiles that do not cross",
    .definition = "t() = when(type(tau) == \"number\", tau, 0/0)\n"
                  "l(f, y) = max(t()*(y - f), (t() - 1)*(y - f))" ERM_OBJECTIVE,
    .doc =
        "min (1/N) sum_i w_i l(phi_i a + b, y_i) + lambda R(a), l(f, y) = tau r for r = y - f >= "
        "0,\n"
        "else (tau - 1) r, by the methods of solver.erm, with its gap. A list of tau is a column\n"
        "of predictions for each, in its order; of several targets those of the first come\n"
        "first. Each quantile is a problem of its own, with the same lambda. Predictions of a\n"
        "row that cross are put in order (rearrangement; Chernozhukov, Fernandez-Val and\n"
        "Galichon 2010), which never increases their distance from the true quantiles;\n"
        "p:decision has them as they were solved.",
    SCL_SOLVER(.solve = erm_solve),
    SCL_INSTANCE(erm, options),
    SCL_ABILITIES(ERM_FORMULA_OFFER, ERM_OFFERS),
    .create = create,
    .ability = erm_ability};

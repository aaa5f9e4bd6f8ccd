/* Empirical risk minimisation with any loss (shared/erm.h). */
#include "shared/erm.h"
#include "shared/part_loss.h"

static const scl_option options[] = {{.name = "loss",
                                      .help = "the loss, as sc.loss.quantile{tau = 0.9}",
                                      .words = "loss",
                                      .fallback = "square",
                                      .forms = SCL_FORM_PARTS,
                                      SCL_AT(erm, loss)},
                                     ERM_OPTIONS};

PART_LOSS_ABILITY(erm)

const scl_plugin scullery_plugin = {
    .name = "erm",
    .summary = "The regularised mean of any loss: sc.loss.NAME, or one that a script defines",
    .definition = "l(f, y) = loss.l and loss.l(f, y)" ERM_OBJECTIVE,
    .doc =
        "min (1/N) sum_i w_i l(phi_i a + b, y_i) + lambda R(a); R(a) = ||a||^2/2, ||a||_1 or\n"
        "both. Each target, and each class against all others, is a problem of its own.\n"
        "loss = sc.loss.quantile{tau = 0.9} and the like. The method follows from the facts of\n"
        "the loss: Newton's where it has a curvature, L-BFGS for many features, rounds of\n"
        "multipliers around them where its slope jumps, dual coordinates for such a slope, many\n"
        "features and lambda n above 2 ||phi||^2, the accelerated proximal gradient for penalties\n"
        "with ||a||_1; on sparse rows Newton's method without a matrix, with coordinate\n"
        "descent inside for ||a||_1 (Yuan, Ho and Lin 2012). It ends when the norm of the\n"
        "gradient is `tolerance` times that at a = 0; of losses with a bound neither on the slope\n"
        "nor on the curvature, less by the factor by which the mean of |slope| fell. With a\n"
        "conjugate and lambda > 0, info().gap bounds how far the objective is from its least,\n"
        "relative to that at a = 0, and is at most `tolerance`: where lambda ||a||_1 is so small\n"
        "that it bounds nothing, a note says so, and there is none.\n"
        "Predictions of loss.poisson and loss.gamma are means exp(f); p:decision has the scores f.",
    SCL_SOLVER(.solve = erm_solve),
    SCL_INSTANCE(erm, options),
    SCL_ABILITIES(PART_LOSS_OFFER, ERM_OFFERS),
    .create = erm_create,
    .ability = erm_ability};

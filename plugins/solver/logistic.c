/* Logistic regression, of two classes or many, without forming any matrix of D x D:
 *
 *   min_{a,b} (1/n) sum_i l(phi_i a + b, y_i) + (lambda/2) ||a||^2
 *   two classes, one column, y = +-1:  l(f, y) = log(1 + exp(-y f))
 *   k classes, a column a class:       l(f, y) = log sum_j exp f_j - f_y
 *
 * Phi n x D, a D x c, b c (0 without `intercept`, never penalised). lbfgs: Liu and Nocedal (1989),
 * one sweep an iteration. sgd: minibatches with steps falling as 1/sqrt t and the last epoch
 * averaged (Polyak and Juditsky 1992). The gradient's norm, relative to that at a = 0, is stated;
 * where there is no intercept the objective is lambda-strongly convex, so that ||gradient||^2/(2
 * lambda) bounds how far it is from the least: the stated gap. */
#include "shared/descent.h"
#include "shared/lbfgs.h"
#include <stdio.h>

enum { LAMBDA, METHOD, TOLERANCE, MAX_ITERATIONS, BATCH, EPOCHS, SEED, INTERCEPT, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"lambda", SCL_FORM_NUMBER, NULL, "1e-6", 0, INFINITY, SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE,
     "regularisation of the mean loss"},
    {"method", SCL_FORM_WORD, "lbfgs|sgd", "lbfgs", 0, 0, 0, SCL_WIDTH_NONE,
     "lbfgs: to a tolerance, over all rows; sgd: minibatches"},
    {"tolerance", SCL_FORM_NUMBER, NULL, "1e-5", 0, 1, SCL_RANGE_LOW_OPEN, SCL_WIDTH_NONE,
     "lbfgs: gradient norm relative to the one at a = 0"},
    {"max_iterations", SCL_FORM_INTEGER, NULL, "5000", 1, 1e9, 0, SCL_WIDTH_NONE,
     "lbfgs: sweeps over the rows at most"},
    {"batch", SCL_FORM_INTEGER, NULL, "100", 1, 1e9, 0, SCL_WIDTH_NONE, "sgd: rows a step"},
    {"epochs", SCL_FORM_NUMBER, NULL, "10", 0, 1e9, SCL_RANGE_LOW_OPEN, SCL_WIDTH_NONE,
     "sgd: times that as many rows are drawn as there are"},
    {"seed", SCL_FORM_INTEGER, NULL, "0", 0, 9007199254740992, 0, SCL_WIDTH_NONE,
     "sgd: of the draws"},
    {"intercept", SCL_FORM_BOOLEAN, NULL, "false", 0, 0, 0, SCL_WIDTH_NONE,
     "fit an unpenalised constant"},
};

typedef struct logistic {
  const scl_host *host;
  double lambda, tolerance, epochs;
  size_t max_iterations, batch;
  uint64_t seed;
  int sgd;
} logistic;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  logistic *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a solver");
  *self = (logistic){host,
                     values[LAMBDA].number,
                     values[TOLERANCE].number,
                     values[EPOCHS].number,
                     (size_t)values[MAX_ITERATIONS].number,
                     (size_t)values[BATCH].number,
                     (uint64_t)values[SEED].number,
                     strcmp(values[METHOD].word, "sgd") == 0};
  *instance = self;
  return SCL_STATUS_OK;
}

static void destroy(void *instance) {
  logistic *self = instance;
  self->host->release(self);
}

static void write_solution(const risk *r, const double *x, double gradient_norm,
                           scl_solution *out) {
  const size_t count = r->problem->features * r->columns;
  memcpy(out->coefficients, x, count * sizeof *x);
  if (r->intercept) memcpy(out->intercept, x + count, r->columns * sizeof *x);
  if (r->lambda > 0 && !r->intercept) out->gap = gradient_norm * gradient_norm / (2 * r->lambda);
}

/* Whether these scores (n x c) put every row on its own side: longer ones would then lower every
 * loss. */
static int separated(const risk *r, const double *scores) {
  const size_t c = r->columns;
  for (size_t i = 0; i < r->problem->rows; i++) {
    const double *f = scores + i * c, *y = r->targets + i * c;
    const size_t truth = c == 1 ? 0 : loss_truth(c, y);
    if (r->weights[i] == 0) continue;
    if (c == 1 && !(f[0] * y[0] > 0)) return 0;
    for (size_t j = 0; j < c; j++)
      if (j != truth && !(f[truth] > f[j])) return 0;
  }
  return 1;
}

static scl_status by_lbfgs(const logistic *self, const risk *r, scl_solution *out,
                           scl_error *error) {
  lbfgs l;
  scl_status status = lbfgs_open(&l, r, error);
  if (status == SCL_STATUS_OK)
    status = lbfgs_minimise(&l, self->tolerance, self->max_iterations, out, error);
  if (status == SCL_STATUS_OK)
    write_solution(r, l.x, sqrt(risk_dot(r->size, l.gradient, l.gradient)), out);
  const int endless = status == SCL_STATUS_OK && r->lambda == 0 && separated(r, l.scores);
  if (endless) {
    out->outcome = SCL_OUTCOME_LIMIT;
    (void)snprintf(out->note, sizeof out->note,
                   "all rows are on their own side, so that without lambda longer weights are "
                   "always better: give lambda more than 0");
  } else if (status == SCL_STATUS_OK && out->outcome == SCL_OUTCOME_LIMIT &&
             out->iterations < self->max_iterations)
    (void)snprintf(
        out->note, sizeof out->note,
        "rounding leaves no lower value: the gradient is %.1e of the one at 0, %.1e was wanted",
        out->residual, self->tolerance);
  else if (status == SCL_STATUS_OK && out->outcome == SCL_OUTCOME_LIMIT)
    (void)snprintf(out->note, sizeof out->note,
                   "the gradient is %.1e of the one at 0, %.1e was wanted: give more "
                   "max_iterations, or a larger lambda",
                   out->residual, self->tolerance);
  lbfgs_close(&l);
  return status;
}

/* Where the steps ended, measured on all rows: relative gradient, and its norm. */
static scl_status measure(const risk *r, double *x, double *scratch, double *residual, double *norm,
                          scl_error *error) {
  double value = 0, *gradient = scratch, *zero = gradient + r->size, *scores = zero + r->size,
         *slope_sum = scores + r->scores;
  memset(zero, 0, r->size * sizeof *zero);
  scl_status status = risk_evaluate(r, zero, &value, gradient, scores, slope_sum, error);
  const double unit = sqrt(risk_dot(r->size, gradient, gradient));
  if (status == SCL_STATUS_OK)
    status = risk_evaluate(r, x, &value, gradient, scores, slope_sum, error);
  *norm = sqrt(risk_dot(r->size, gradient, gradient));
  *residual = unit > 0 ? *norm / unit : *norm;
  return status;
}

static scl_status by_sgd(const logistic *self, const risk *r, scl_solution *out, scl_error *error) {
  descent d = {.x = NULL};
  double norm = 0, *scratch = NULL;
  scl_status status = batch_check(r->problem, self->batch, error);
  if (status == SCL_STATUS_OK)
    status = descent_open(&d, r, self->batch, self->epochs, self->seed,
                          r->columns == 1 ? 0.25 : 0.5, error);
  if (status == SCL_STATUS_OK) status = descent_run(&d, error);
  if (status == SCL_STATUS_OK)
    scratch = self->host->allocate((2 * r->size + r->scores + r->columns) * sizeof *scratch);
  if (status == SCL_STATUS_OK && scratch == NULL)
    status = self->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a gradient");
  if (status == SCL_STATUS_OK)
    status = measure(r, d.average, scratch, &out->residual, &norm, error);
  if (status == SCL_STATUS_OK) write_solution(r, d.average, norm, out);
  out->iterations = d.steps;
  out->outcome = SCL_OUTCOME_STOPPED;
  self->host->release(scratch);
  descent_close(&d);
  return status;
}

static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const logistic *self = instance;
  risk r;
  if (problem->task != SCL_TASK_CLASSIFICATION)
    return self->host->fail(error, SCL_STATUS_UNSUPPORTED,
                            "it tells classes apart, and the targets are numbers: task = "
                            "\"classification\" goes with it");
  scl_status status = risk_open(&r, problem, loss_logistic, NULL, self->lambda, error);
  if (status != SCL_STATUS_OK) return status;
  status = self->sgd ? by_sgd(self, &r, out, error) : by_lbfgs(self, &r, out, error);
  risk_close(&r);
  return status;
}

/* ---------------------------------------------------------------- the loss */

static double value(const void *instance, size_t c, const double *f, const double *y) {
  (void)instance;
  if (c == 1) return loss_softplus(-y[0] * f[0]);
  return loss_log_sum(c, f) - f[loss_truth(c, y)];
}

static void slope(const void *instance, size_t c, const double *f, const double *y, double *out) {
  (void)loss_logistic(instance, c, f, y, out);
}

static double bound(const void *instance, double reach) {
  (void)instance;
  return loss_softplus(reach);
}

static double lipschitz(const void *instance, double reach) {
  (void)instance;
  return loss_sigmoid(reach);
}

static int probabilities(const void *instance, size_t c, const double *f, double *out) {
  (void)instance;
  loss_logistic_probabilities(c, f, out);
  return 1;
}

static scl_status objective(const void *instance, const scl_problem *problem,
                            const double *coefficients, const double *intercept, double *out,
                            scl_error *error) {
  const logistic *self = instance;
  return risk_objective(problem, loss_logistic, NULL, self->lambda, coefficients, intercept, out,
                        error);
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_loss loss_table = {
      SCL_HEAD(scl_ability_loss), value, slope, bound, lipschitz, probabilities};
  static const scl_ability_objective objective_table = {SCL_HEAD(scl_ability_objective), objective};
  static const scl_head sparse = SCL_HEAD(scl_head);
  if (strcmp(id, SCL_ABILITY_LOSS) == 0) return &loss_table;
  if (strcmp(id, SCL_ABILITY_OBJECTIVE) == 0) return &objective_table;
  return strcmp(id, SCL_ABILITY_SPARSE_ROWS) == 0 && !((const logistic *)instance)->sgd ? &sparse
                                                                                        : NULL;
}

static const scl_solver table = {SCL_HEAD(scl_solver), solve};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SOLVER,
    "logistic",
    "1.0",
    "The Scullery authors",
    "Logistic regression of two classes or many, by L-BFGS or minibatches",
    "min (1/n) sum_i l(phi_i a + b, y_i) + (lambda/2) ||a||^2; two classes: l = log(1 + exp(-y "
    "f)); k classes, a column a class:\n"
    "l = log sum_j exp f_j - f_y. method = \"lbfgs\" takes one sweep over the rows an iteration "
    "and ends when the gradient's norm is\n"
    "`tolerance` times that at a = 0; without an intercept info().gap bounds how far the objective "
    "is from its least.\n"
    "method = \"sgd\" draws `batch` rows a step, with steps falling as 1/sqrt t, and returns the "
    "average over the last epoch.\n"
    "Probabilities are its own: the logistic function, or softmax.",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};

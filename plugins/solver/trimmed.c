/* Least trimmed squares with a ridge penalty: the rows that fit worst are left out.
 *
 *   min over a, b and 0 <= u_i <= w_i, sum u = W
 *       (1/2W) sum_i u_i ||phi_i a + b - y_i||^2 + (lambda/2) ||a||^2
 *
 * w are the row weights and W = sum w (1 - floor(fraction n)/n): with weights of 1, u marks the h =
 * n - floor(fraction n) rows that are kept; else one row may be kept in part. By concentration
 * steps (Rousseeuw and Van Driessen 2006): fit u by ridge, give the weight to the rows with the
 * smallest residuals of that fit, and again. Each step lowers the objective, so that it ends:
 * converged, where u has the least squares that its own fit allows, a local minimum. It begins with
 * all rows. Phi n x D, y n x c; a row is judged by its residuals in all targets together. */
#include "shared/robust.h"
#include "shared/weighted_ridge.h"
#include <stdio.h>

enum { LAMBDA, FRACTION, MAX_ITERATIONS, INTERCEPT, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"lambda", SCL_FORM_NUMBER, NULL, "1e-6", 0, INFINITY, SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE,
     "regularisation of the mean loss over the kept rows"},
    {"fraction", SCL_FORM_NUMBER, NULL, "0.1", 0, 1, SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE,
     "of the rows to leave out"},
    {"max_iterations", SCL_FORM_INTEGER, NULL, "100", 1, 1e9, 0, SCL_WIDTH_NONE, "fits at most"},
    {"intercept", SCL_FORM_BOOLEAN, NULL, "false", 0, 0, 0, SCL_WIDTH_NONE,
     "fit an unpenalised constant"},
};

typedef struct trimmed {
  const scl_host *host;
  double lambda, fraction;
  size_t max_iterations;
} trimmed;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  trimmed *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a solver");
  *self = (trimmed){host, values[LAMBDA].number, values[FRACTION].number,
                    (size_t)values[MAX_ITERATIONS].number};
  *instance = self;
  return SCL_STATUS_OK;
}

static void destroy(void *instance) {
  trimmed *self = instance;
  self->host->release(self);
}

static const double TOLERANCE =
    1e-12; /* of what a better u would gain, relative to the targets' squares */

/* One solve: targets and scores n x c, row weights w, those that are kept (u), and the rows in the
 * order of their residuals. */
typedef struct trimming {
  const trimmed *self;
  const scl_problem *problem;
  size_t dropped;            /* rows, as many as weights of 1 would leave out */
  double weight, kept, unit; /* sums of w and of u; mean square of the targets */
  double *targets, *scores, *weights, *kept_weights, *a, *b;
  ranked *order;
  weighted_ridge ridge;
} trimming;

static void close_trimming(trimming *t) {
  t->self->host->release(t->targets);
  t->self->host->release(t->order);
  weighted_close(&t->ridge);
}

static void measure(trimming *t) {
  const size_t n = t->problem->rows, c = t->problem->targets;
  memcpy(t->kept_weights, t->weights, n * sizeof *t->weights);
  for (size_t i = 0; i < n; i++) {
    t->weight += t->weights[i];
    for (size_t j = 0; j < c; j++)
      t->unit += t->weights[i] * t->targets[i * c + j] * t->targets[i * c + j];
  }
  t->kept = t->weight * (1 - (double)t->dropped / (double)n);
  t->unit = t->unit > 0 ? t->unit / t->weight : 1;
}

static scl_status open_trimming(trimming *t, const trimmed *self, const scl_problem *problem,
                                scl_error *error) {
  const size_t n = problem->rows, c = problem->targets;
  *t = (trimming){
      .self = self, .problem = problem, .dropped = (size_t)floor(self->fraction * (double)n)};
  scl_status status = weighted_open(&t->ridge, problem, error);
  t->targets = self->host->allocate((2 * n * c + 2 * n + c + 1) * sizeof *t->targets);
  t->order = self->host->allocate(n * sizeof *t->order);
  if (status == SCL_STATUS_OK && (t->targets == NULL || t->order == NULL))
    status = self->host->fail(error, SCL_STATUS_NO_MEMORY,
                              "not enough memory for the residuals of %zu rows", n);
  if (status == SCL_STATUS_OK) {
    t->scores = t->targets + n * c;
    t->weights = t->scores + n * c;
    t->kept_weights = t->weights + n;
    t->b = t->kept_weights + n;
    status = problem->responses(problem, t->targets, t->weights, error);
  }
  if (status == SCL_STATUS_OK)
    measure(t);
  else
    close_trimming(t);
  return status;
}

/* Ridge on the kept rows; scores of all. */
static scl_status fit(trimming *t, scl_error *error) {
  const scl_problem *problem = t->problem;
  const size_t n = problem->rows, c = problem->targets;
  scl_normal normal = {SCL_HEAD(scl_normal), NULL, NULL, NULL, 0};
  scl_status status = problem->reweighted(problem, t->kept_weights, &normal, error);
  if (status != SCL_STATUS_OK) return status;
  memcpy(t->a, normal.right, problem->features * c * sizeof *t->a);
  status = weighted_solve(&t->ridge, normal.gram, normal.total * t->self->lambda, t->a, c, error);
  if (status == SCL_STATUS_OK) status = problem->product(problem, t->a, c, t->scores, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
      sum += t->kept_weights[i] * (t->targets[i * c + j] - t->scores[i * c + j]);
    t->b[j] = problem->intercept ? sum / normal.total : 0;
  }
  return status;
}

/* Give the weight to the rows that fit best. Returns what that takes off the mean square of the
 * kept residuals, relative to the targets'. */
static double concentrate(trimming *t) {
  const size_t n = t->problem->rows, c = t->problem->targets;
  const double grain = 1e-9 * t->weight / (double)n; /* less of a row than that is rounding */
  double left = t->kept, gain = 0, sum = 0;
  for (size_t i = 0; i < n; i++) {
    t->order[i] = (ranked){0, i};
    for (size_t j = 0; j < c; j++) {
      const double r = t->scores[i * c + j] + t->b[j] - t->targets[i * c + j];
      t->order[i].value += r * r;
    }
  }
  ranked_sort(t->order, n);
  for (size_t k = 0; k < n; k++) {
    const size_t i = t->order[k].row;
    const double most = t->weights[i], weight = left >= most - grain ? most
                                                : left > grain       ? left
                                                                     : 0;
    gain += (t->kept_weights[i] - weight) * t->order[k].value;
    sum += t->kept_weights[i];
    t->kept_weights[i] = weight;
    left -= weight;
  }
  gain /= t->kept * t->unit;
  return sum > t->kept + grain ? 1 + gain : gain; /* the first fit had all rows */
}

static scl_status iterate(trimming *t, scl_solution *out, scl_error *error) {
  const size_t most = t->self->max_iterations;
  t->a = out->coefficients;
  out->tolerance = TOLERANCE;
  out->residual = INFINITY;
  for (out->iterations = 0; out->residual > TOLERANCE && out->iterations < most;
       out->iterations++) {
    scl_status status =
        t->problem->progress(t->problem, (double)out->iterations / (double)most, "trimming", error);
    if (status == SCL_STATUS_OK) status = fit(t, error);
    if (status != SCL_STATUS_OK) return status;
    out->residual = fmax(concentrate(t), 0);
  }
  out->outcome = out->residual <= TOLERANCE ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  out->jitter = t->ridge.jitter;
  if (t->problem->intercept) memcpy(out->intercept, t->b, t->problem->targets * sizeof *t->b);
  (void)snprintf(out->note, sizeof out->note, "%zu of %zu rows are left out%s", t->dropped,
                 t->problem->rows,
                 out->outcome == SCL_OUTCOME_CONVERGED
                     ? ""
                     : ", and which ones still changes: give more max_iterations");
  return SCL_STATUS_OK;
}

static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  trimming t;
  scl_status status = open_trimming(&t, instance, problem, error);
  if (status != SCL_STATUS_OK) return status;
  status = iterate(&t, out, error);
  close_trimming(&t);
  return status;
}

static const void *ability(const void *instance, const char *id) {
  (void)instance;
  (void)id;
  return NULL;
}

static const scl_solver table = {SCL_HEAD(scl_solver), solve};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SOLVER,
    "trimmed",
    "1.0",
    "The Scullery authors",
    "Least trimmed squares: ridge on the rows that fit best",
    "min over a, b and sets H of h = n - floor(fraction n) rows of (1/2h) sum_{i in H} ||phi_i a + "
    "b - y_i||^2 + (lambda/2) ||a||^2,\n"
    "by concentration steps (Rousseeuw and Van Driessen 2006) from all rows: fit H, keep the h "
    "rows with the smallest residuals, again.\n"
    "Converged: H is the h best rows of its own fit, a local minimum. info().note tells how many "
    "rows are left out. With row weights the\n"
    "share h/n of the weight is kept, of one row a part.",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};

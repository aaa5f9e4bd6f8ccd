/* A solver on a quadratic form without rows: what the problem tells, what it refuses, and what
 * becomes of the solution. */
#include "algebra/matrix.h"
#include "base/pool.h"
#include "expect.h"
#include "learn/quadratic.h"
#include "plugin/host.h"
#include "plugin/instance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { D = 3, C = 2 };

static const double gram_entries[D * D] = {4, 1, 0, 1, 3, -1, 0, -1, 2};
static const double right[D * C] = {1, -2, 0, 3, 5, 0.5};
static const double square[C] = {30, 20};
static const double start[D * C] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};

/* ------------ solvers of the test's own */

static size_t refused; /* verbs that answered SCL_STATUS_UNSUPPORTED */

static scl_status visit_none(void *context, const scl_rows *rows, scl_error *error) {
  (void)context, (void)rows, (void)error;
  return SCL_STATUS_OK;
}
static scl_status turn_none(void *context, const scl_rows *rows, double *scores, scl_error *error) {
  (void)context, (void)rows, (void)scores, (void)error;
  return SCL_STATUS_OK;
}

static void count_refusal(scl_status status, const scl_error *error) {
  refused += status == SCL_STATUS_UNSUPPORTED && strstr(error->message, "rows") != NULL;
}

/* Asks for all that there is, and leaves the coefficients as they came. */
static scl_status ask_everything(const void *self, const scl_problem *problem, scl_solution *out,
                                 scl_error *error) {
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  const scl_symmetric *gram = NULL;
  const double *targets = NULL;
  double scratch[64] = {0};
  (void)self;
  expect(problem->features == D && problem->targets == C && problem->rows == 7, "sizes",
         (double)problem->features, D);
  expect(problem->task == SCL_TASK_REGRESSION && problem->dtype == SCL_DTYPE_FLOAT64 &&
             !problem->intercept && problem->entries == 0,
         "the kind of problem", (double)problem->dtype, SCL_DTYPE_FLOAT64);
  SCL_TRY(problem->normal(problem, &normal, error));
  SCL_TRY(problem->gram(problem, &gram, error));
  expect(normal.moment == gram && normal.right == right && normal.square == square &&
             normal.total == 7,
         "the normal equations", normal.total, 7);
  SCL_TRY(problem->progress(problem, "testing", 0.5, NAN, error));
  scl_error said = {0};
  count_refusal(problem->responses(problem, scratch, scratch, &said), &said);
  count_refusal(problem->walk(problem, visit_none, NULL, &said), &said);
  count_refusal(problem->dual(problem, &gram, &targets, &said), &said);
  count_refusal(problem->product(problem, scratch, 1, scratch, &said), &said);
  count_refusal(problem->adjoint(problem, scratch, 1, scratch, &said), &said);
  count_refusal(problem->sweep(problem, scratch, 1, turn_none, NULL, scratch, &said), &said);
  count_refusal(problem->reweighted(problem, scratch, &normal, &said), &said);
  count_refusal(problem->minibatch(problem, 1, 1, 1, 0, 1, 0, visit_none, NULL, &said), &said);
  out->outcome = problem->warm ? SCL_OUTCOME_STOPPED : SCL_OUTCOME_LIMIT;
  out->iterations = 1;
  return SCL_STATUS_OK;
}

/* (gram + total I) b = right by Gauss's elimination: the ridge of lambda 1. */
static scl_status eliminate(const void *self, const scl_problem *problem, scl_solution *out,
                            scl_error *error) {
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  double a[D][D + C];
  (void)self;
  SCL_TRY(problem->normal(problem, &normal, error));
  for (size_t i = 0; i < D; i++) {
    for (size_t j = 0; j < D; j++)
      a[i][j] = gram_entries[i * D + j] + (i == j ? normal.total : 0);
    memcpy(a[i] + D, normal.right + i * C, C * sizeof(double));
  }
  for (size_t k = 0; k < D; k++)
    for (size_t i = 0; i < D; i++) {
      const double factor = i == k ? 0 : a[i][k] / a[k][k];
      for (size_t j = k; i != k && j < D + C; j++)
        a[i][j] -= factor * a[k][j];
    }
  for (size_t i = 0; i < D; i++)
    for (size_t j = 0; j < C; j++)
      out->coefficients[i * C + j] = a[i][D + j] / a[i][i];
  out->outcome = SCL_OUTCOME_CONVERGED;
  return SCL_STATUS_OK;
}

static scl_status give_up(const void *self, const scl_problem *problem, scl_solution *out,
                          scl_error *error) {
  (void)self, (void)out;
  return problem->host->fail(error, SCL_STATUS_NUMERIC, "nothing will do");
}

static scl_status give_nan(const void *self, const scl_problem *problem, scl_solution *out,
                           scl_error *error) {
  (void)self, (void)problem, (void)error;
  out->coefficients[4] = NAN;
  out->outcome = SCL_OUTCOME_CONVERGED;
  return SCL_STATUS_OK;
}

/* Says nothing of how it went. */
static scl_status say_nothing(const void *self, const scl_problem *problem, scl_solution *out,
                              scl_error *error) {
  (void)self, (void)problem, (void)out, (void)error;
  return SCL_STATUS_OK;
}

/* Fails without a sentence. */
static scl_status fail_mutely(const void *self, const scl_problem *problem, scl_solution *out,
                              scl_error *error) {
  (void)self, (void)problem, (void)out, (void)error;
  return SCL_STATUS_NUMERIC;
}

typedef scl_status (*solving)(const void *self, const scl_problem *problem, scl_solution *out,
                              scl_error *error);

static scl_status run(solving solve, const scl_quadratic *form, scl_fit *fit, scl_error *error) {
  const scl_solver table = {SCL_HEAD(scl_solver), .kind = SCL_KIND_SOLVER, .solve = solve};
  const scl_component component = {
      .plugin = {SCL_HEAD(scl_plugin), .kind = SCL_KIND_SOLVER, .name = "own", .vtable = &table},
      .vtable = &table,
      .path = "quadratic_test.c"};
  const scl_instance instance = {.component = &component};
  return scl_quadratic_solve(form, &instance, fit, error);
}

/* ------------ tests */

static void test_what_a_solver_may_ask(const scl_quadratic *form) {
  scl_fit fit;
  scl_error error = {0};
  const double *b;
  refused = 0;
  const scl_status status = run(ask_everything, form, &fit, &error);
  expect(status == SCL_STATUS_OK, "a solver that asks for everything", status, SCL_STATUS_OK);
  if (status != SCL_STATUS_OK) return;
  expect(refused == 8, "verbs over rows are refused with a sentence", (double)refused, 8);
  expect(fit.solution.outcome == (form->start == NULL ? SCL_OUTCOME_LIMIT : SCL_OUTCOME_STOPPED),
         "warm is said", fit.solution.outcome, SCL_OUTCOME_STOPPED);
  expect(isnan(fit.solution.gap) && isnan(fit.solution.residual) && isnan(fit.solution.score),
         "no account but its own", fit.solution.gap, NAN);
  b = fit.coefficients.data;
  for (size_t i = 0; i < D * C; i++)
    expect(b[i] == (form->start == NULL ? 0 : start[i]), "coefficients come zeroed or as the start",
           b[i], start[i]);
  for (size_t j = 0; j < C; j++)
    expect(scl_matrix_get(&fit.intercept, 0, j) == 0, "no intercept",
           scl_matrix_get(&fit.intercept, 0, j), 0);
  scl_fit_release(&fit);
}

static void test_the_solution_and_its_loss(const scl_quadratic *form) {
  scl_fit fit;
  scl_error error = {0};
  double loss = 0;
  if (run(eliminate, form, &fit, &error) != SCL_STATUS_OK) {
    expect(false, "elimination", 0, 1);
    return;
  }
  const double *b = fit.coefficients.data;
  for (size_t j = 0; j < C; j++) {
    double sum = square[j];
    for (size_t i = 0; i < D; i++) {
      double image = 0;
      for (size_t k = 0; k < D; k++)
        image += gram_entries[i * D + k] * b[k * C + j];
      expect(fabs(image + form->total * b[i * C + j] - right[i * C + j]) < 1e-13, "its equations",
             image, right[i * C + j]);
      sum += b[i * C + j] * (image - 2 * right[i * C + j]);
    }
    loss += sum / form->total;
  }
  expect(fabs(fit.loss - loss) < 1e-13, "the loss is that of the form", fit.loss, loss);
  scl_fit_release(&fit);
}

static void test_failures(const scl_quadratic *form) {
  scl_fit fit;
  scl_error error = {0};
  scl_status status = run(give_up, form, &fit, &error);
  expect(status == SCL_STATUS_NUMERIC && strcmp(error.message, "solver.own: nothing will do") == 0,
         "the solver's sentence", status, SCL_STATUS_NUMERIC);
  expect(fit.coefficients.data == NULL, "nothing is left of a failure", 1, 0);
  status = run(give_nan, form, &fit, &error);
  expect(status == SCL_STATUS_NUMERIC && strstr(error.message, "coefficient 5") != NULL,
         "a solution that is no number", status, SCL_STATUS_NUMERIC);
  expect(fit.coefficients.data == NULL, "nothing is left of NaN", 1, 0);
  status = run(say_nothing, form, &fit, &error);
  expect(status == SCL_STATUS_INTERNAL && strstr(error.message, "solver.own") != NULL &&
             strstr(error.message, "outcome") != NULL,
         "a solution without an outcome", status, SCL_STATUS_INTERNAL);
  expect(fit.coefficients.data == NULL, "nothing is left of it", 1, 0);
  status = run(fail_mutely, form, &fit, &error);
  expect(status == SCL_STATUS_NUMERIC && strstr(error.message, "solver.own") != NULL &&
             strstr(error.message, "no sentence") != NULL,
         "a failure without a sentence", status, SCL_STATUS_NUMERIC);
}

/* Each allocation fails once: a sentence or a fit, and no byte lost. */
static void test_memory(const scl_quadratic *form) {
  for (long count = 0; count < 12; count++) {
    scl_fit fit;
    scl_error error = {0};
    const size_t before = scl_allocated();
    scl_allocate_fail_after(count);
    const scl_status status = run(eliminate, form, &fit, &error);
    scl_allocate_fail_after(-1);
    expect(status == SCL_STATUS_OK || status == SCL_STATUS_NO_MEMORY, "out of memory", status,
           SCL_STATUS_NO_MEMORY);
    if (status == SCL_STATUS_OK) scl_fit_release(&fit);
    expect(scl_allocated() == before, "bytes held", (double)scl_allocated(), (double)before);
  }
}

int main(void) {
  scl_symmetric *gram = NULL;
  scl_error error = {0};
  if (scl_symmetric_create(D, &gram, &error) != SCL_STATUS_OK) return 1;
  scl_symmetric_set_block(gram, 0, D, 0, D, SCL_DTYPE_FLOAT64, gram_entries);
  const scl_quadratic cold = {gram, right, square, 7, C, NULL},
                      warm = {gram, right, square, 7, C, start};
  test_what_a_solver_may_ask(&cold);
  test_what_a_solver_may_ask(&warm);
  test_the_solution_and_its_loss(&cold);
  test_failures(&warm);
  test_memory(&warm);
  scl_symmetric_destroy(gram);
  scl_pool_stop();
  (void)printf("quadratic_test: %d failures\n", failures);
  return failures != 0;
}

/* A problem made of normal equations alone: `normal`, `gram` and `progress` answer, and every verb
 * that reads rows is refused. */
#include "learn/quadratic.h"

#include "algebra/exact.h"
#include "base/interrupt.h"
#include "learn/problem_internal.h"
#include "plugin/host.h"
#include "plugin/solver.h"
#include "plugin/tables.h"
#include <float.h>
#include <math.h>
#include <string.h>

typedef struct quadratic_problem {
  scl_problem problem; /* first: what the solver sees */
  const scl_quadratic *form;
} quadratic_problem;

static const scl_quadratic *form_of(const scl_problem *problem) {
  return ((const quadratic_problem *)problem)->form;
}

static scl_status refuse_rows(scl_error *error) {
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "it needs rows, and there are only normal equations here");
}

static scl_status no_responses(const scl_problem *problem, double *targets, double *weights,
                               scl_error *error) {
  (void)problem, (void)targets, (void)weights;
  return refuse_rows(error);
}
static scl_status no_walk(const scl_problem *problem, scl_visit visit, void *context,
                          scl_error *error) {
  (void)problem, (void)visit, (void)context;
  return refuse_rows(error);
}
static scl_status no_dual(const scl_problem *problem, const scl_symmetric **outer,
                          const double **targets, scl_error *error) {
  (void)problem, (void)outer, (void)targets;
  return refuse_rows(error);
}
/* For `product` and `adjoint`, which have one signature. */
static scl_status no_product(const scl_problem *problem, const double *a, size_t k, double *out,
                             scl_error *error) {
  (void)problem, (void)a, (void)k, (void)out;
  return refuse_rows(error);
}
static scl_status no_sweep(const scl_problem *problem, const double *a, size_t k, scl_turn turn,
                           void *context, double *out, scl_error *error) {
  (void)problem, (void)a, (void)k, (void)turn, (void)context, (void)out;
  return refuse_rows(error);
}
static scl_status no_reweighted(const scl_problem *problem, const double *weights, scl_normal *out,
                                scl_error *error) {
  (void)problem, (void)weights, (void)out;
  return refuse_rows(error);
}
static scl_status no_minibatch(const scl_problem *problem, uint64_t seed, uint64_t step,
                               size_t size, size_t first, size_t count, int32_t plain,
                               scl_visit visit, void *context, scl_error *error) {
  (void)problem, (void)seed, (void)step, (void)size, (void)first, (void)count, (void)plain,
      (void)visit, (void)context;
  return refuse_rows(error);
}

static scl_status no_hold_out(const scl_problem *problem, double share, uint64_t seed,
                              size_t *count, scl_error *error) {
  (void)problem, (void)share, (void)seed, (void)count;
  return refuse_rows(error);
}
static scl_status no_held(const scl_problem *problem, size_t first, size_t count, scl_visit visit,
                          void *context, scl_error *error) {
  (void)problem, (void)first, (void)count, (void)visit, (void)context;
  return refuse_rows(error);
}

void scl_problem_refuse_rows(scl_problem *problem) {
  problem->responses = no_responses;
  problem->walk = no_walk;
  problem->dual = no_dual;
  problem->product = no_product;
  problem->adjoint = no_product;
  problem->sweep = no_sweep;
  problem->reweighted = no_reweighted;
  problem->minibatch = no_minibatch;
  problem->hold_out = no_hold_out;
  problem->held = no_held;
}

static scl_status answer_normal(const scl_problem *problem, scl_normal *out, scl_error *error) {
  const scl_quadratic *form = form_of(problem);
  SCL_TABLE_EXPECT(out, scl_normal, SCL_LEAST_NORMAL, error);
  const scl_normal all = {SCL_HEAD(scl_normal), form->gram, form->right, form->square, form->total};
  scl_table_write(out, &all);
  return SCL_STATUS_OK;
}
static scl_status answer_gram(const scl_problem *problem, const scl_symmetric **out,
                              scl_error *error) {
  (void)error;
  *out = form_of(problem)->gram;
  return SCL_STATUS_OK;
}
static scl_status answer_progress(const scl_problem *problem, const char *doing, double done,
                                  double loss, scl_error *error) {
  (void)problem, (void)doing, (void)done, (void)loss;
  return scl_interrupt_check(error);
}

static scl_status answer_total(const scl_problem *problem, const double *values, size_t count,
                               size_t k, double *sums, scl_error *error) {
  (void)problem, (void)error;
  scl_exact_sum(values, count, k, sums);
  return SCL_STATUS_OK;
}

double scl_squared_loss(const scl_symmetric *gram, const double *right, const double *square,
                        double total, size_t targets, const double *b) {
  const size_t d = scl_symmetric_order(gram), c = targets;
  double *product = scl_allocate_array(d * c + 1, sizeof *product), loss = 0;
  if (product == NULL ||
      scl_service_symmetric.multiply(gram, b, c, product, NULL) != SCL_STATUS_OK) {
    scl_release(product);
    return NAN;
  }
  for (size_t j = 0; j < c; j++) {
    double sum = square[j];
    for (size_t i = 0; i < d; i++)
      sum += b[i * c + j] * (product[i * c + j] - 2 * right[i * c + j]);
    loss += fmax(sum, 0) / total;
  }
  scl_release(product);
  return loss;
}

/* The table that the solver sees. A solver that can start from given coefficients does so
 * (warm). */
static scl_problem problem_of(const scl_quadratic *form) {
  const size_t d = scl_symmetric_order(form->gram);
  scl_problem problem = {.head = SCL_HEAD(scl_problem),
                         .host = scl_host_get(),
                         .rows = (size_t)form->total,
                         .features = d,
                         .targets = form->targets,
                         .parameters = d,
                         .has_kernel = 1,
                         .warm = form->start != NULL,
                         .normal = answer_normal,
                         .gram = answer_gram,
                         .progress = answer_progress,
                         .total = answer_total,
                         .rounding = DBL_EPSILON};
  scl_problem_refuse_rows(&problem);
  return problem;
}

scl_status scl_quadratic_solve(const scl_quadratic *form, const scl_instance *solver, scl_fit *fit,
                               scl_error *error) {
  const size_t d = scl_symmetric_order(form->gram), c = form->targets;
  quadratic_problem q = {problem_of(form), form};
  scl_solution *solution = &fit->solution;
  memset(fit, 0, sizeof *fit);
  SCL_TRY(scl_matrix_create(d, c, SCL_DTYPE_FLOAT64, &fit->coefficients, error));
  scl_status status = scl_matrix_create(1, c, SCL_DTYPE_FLOAT64, &fit->intercept, error);
  if (status == SCL_STATUS_OK) {
    if (form->start != NULL) memcpy(fit->coefficients.data, form->start, d * c * sizeof(double));
    *solution = scl_solution_blank();
    solution->coefficients = fit->coefficients.data;
    status = scl_solver_solve(solver, &q.problem, NULL, 1, &solution, error);
  }
  if (status == SCL_STATUS_OK)
    fit->loss = scl_squared_loss(form->gram, form->right, form->square, form->total, form->targets,
                                 fit->solution.coefficients);
  else
    scl_fit_release(fit);
  return status;
}

/* Tells a hundredth of its residual, so that it ends at a hundred times its tolerance. */
// caught by: stationary warn
// says: says converged to a tolerance
#include "solver.h"

/* A step of gradient descent for target j; the residual that is told. */
static double step_down(const ridge *self, const sums *s, size_t j, double *a, size_t c) {
  double square = 0, right = 0;
  double gradient[64];
  for (size_t i = 0; i < s->d; i++) {
    gradient[i] = self->lambda * a[i * c + j] - s->right[i * c + j] / s->total;
    for (size_t k = 0; k < s->d; k++)
      gradient[i] += s->moment[i * s->d + k] * a[k * c + j] / s->total;
    square += gradient[i] * gradient[i];
    right += s->right[i * c + j] / s->total * s->right[i * c + j] / s->total;
  }
  for (size_t i = 0; i < s->d; i++)
    a[i * c + j] -= 0.2 * gradient[i];
  return right > 0 ? sqrt(square / right) / 100 : 0;
}

static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const ridge *self = instance;
  sums s;
  scl_status status = sums_open(problem, &s, error);
  if (status == SCL_STATUS_OK) status = sums_normal(problem, &s, error);
  out->residual = INFINITY;
  for (out->iterations = 0; out->residual > self->tolerance && out->iterations < 1000;
       out->iterations++)
    out->residual = step_down(self, &s, 0, out->coefficients, s.c);
  out->tolerance = self->tolerance;
  out->outcome = out->residual <= self->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  sums_close(problem, &s);
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);

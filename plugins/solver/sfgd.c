/* Stochastic functional gradient descent (Dube and Marchand 2023, algorithm 1) on
 *
 *   mean l(f(x), y) + (lambda/2) ||alpha||^2   over ||alpha|| <= B,
 *   f(x) = E_{w~p} alpha(w) phi(w, x)
 *
 * Step t = 1 .. T takes parameter w_t and a minibatch:
 *
 *   b_t = mean l'(f(x), y) phi(w_t, x),   eta_t = 1/(lambda t)
 *   alpha <- (1 - eta_t lambda) alpha - eta_t b_t K(w_t, .)
 *   alpha <- min(1, B/||alpha||) alpha
 *
 * The result is the mean of alpha^(0) .. alpha^(T) (their theorem 11); with rows held out, the mean
 * up to the step after which it was best on them. phi(w_t, x) is the base predictor itself; the
 * features Phi_t are its expectations under K.
 *
 * Features without a K: doubly stochastic gradients (Dai, Xie, He, Liang, Raj, Balcan and Song,
 * "Scalable kernel methods via doubly stochastic gradients", 2014) for the function
 * f = sum_t alpha_t phi(w_t, .) in the RKHS of the features' own kernel k,
 *
 *   f <- (1 - eta_t lambda) f - eta_t b_t phi(w_t, .),   eta_t = 1/(lambda t + s)
 *
 * where E b_t phi(w_t, .) = mean l'(f(x), y) k(x, .) is the gradient of the mean loss: from any f a
 * step is in expectation one of gradient descent in that RKHS. s is twice the largest k(x, x) of a
 * minibatch, which keeps the first steps from overshooting. */
#include "shared/early_stop.h"
#include "shared/functional_descent.h"
#include "shared/losses.h"
#include "shared/solver_options.h"

#include <stdio.h>

typedef struct sfgd {
  functional shared;
  const scl_value *lambda;
  double B;
} sfgd;

static const scl_option options[] = {
    SCL_ROW(sfgd, lambda, SCL_FORM_NUMBER | SCL_FORM_WORD, "auto", "1e-2",
            "regularisation of the mean loss; steps are 1/(lambda t); auto: by theorem 11",
            SCL_POSITIVE, .role = SCL_ROLE_REGULARISATION),
    SCL_NUMBER(sfgd, B, "1000", "largest norm of alpha", SCL_POSITIVE, .role = SCL_ROLE_CAPACITY),
    FUNCTIONAL_OPTIONS};

/* The lambda of the descent. "auto" is that of equation 75, sqrt(8 rho^2/(B^2 m)) for m rows, where
 * the bound of theorem 11 as printed is least: rho is the steepest slope of the loss on
 * [-B theta, B theta], which all functions of the ball keep to. */
static scl_status sfgd_lambda(const functional_descent *d, const sfgd *self, double *lambda,
                              scl_error *error) {
  const scl_problem *problem = d->problem;
  double theta = NAN;
  *lambda = self->lambda->number;
  if (self->lambda->form == SCL_FORM_NUMBER) return SCL_STATUS_OK;
  if (!problem->has_kernel)
    return d->host->fail(
        error, SCL_STATUS_UNSUPPORTED,
        "lambda = \"auto\" is that of a theorem on features with a K, and these have "
        "none: give lambda a number");
  if (!SCL_HAS(problem, reach))
    return d->host->fail(error, SCL_STATUS_UNSUPPORTED,
                         "lambda = \"auto\" needs theta, which this problem does not state");
  const scl_status status = problem->reach(problem, &theta, error);
  if (status != SCL_STATUS_OK) return status;
  const double rho = loss_ability.lipschitz(self, self->B * theta);
  if (!isfinite(rho))
    return d->host->fail(error, SCL_STATUS_UNSUPPORTED,
                         "lambda = \"auto\" needs a loss whose slope has a bound for all functions "
                         "of norm %g: give a number, a smaller B, or a nonlinearity with a bound",
                         self->B);
  *lambda = rho / self->B * sqrt(8 / (double)(problem->rows - d->early.rows));
  return SCL_STATUS_OK;
}

/* The steps eta_t = 1/(lambda t + start), and the factor from -eta_t b_t to row t of a. */
typedef struct pace {
  double lambda, start, scale;
} pace;

/* Twice the largest squared length of the features of a row: an estimate of 2 k(x, x). */
static scl_status sfgd_length(void *context, const scl_rows *rows, scl_error *error) {
  double *start = context;
  const double *phi = rows->features.data;
  (void)error;
  for (size_t i = 0; i < rows->count; i++, phi += rows->features.row_stride) {
    double square = 0;
    for (size_t t = 0; t < rows->features.cols; t++)
      square += phi[t] * phi[t];
    *start = fmax(*start, 2 * square);
  }
  return SCL_STATUS_OK;
}

static scl_status sfgd_pace(functional_descent *d, const sfgd *self, pace *out, scl_error *error) {
  const scl_problem *problem = d->problem;
  *out = (pace){.scale = exp(problem->log_scale)};
  const scl_status status = sfgd_lambda(d, self, &out->lambda, error);
  if (status != SCL_STATUS_OK || problem->has_kernel) return status;
  /* Without K features are phi/sqrt(T). */
  out->scale = (double)problem->parameters;
  return problem->minibatch(problem, self->shared.seed, 0, self->shared.batch, 0, problem->features,
                            0, sfgd_length, &out->start, error);
}

/* Forms row t of a, -eta b_t with b_t = mean slope phi(w_t, x), from the slopes of the loss in
 * d->scores. */
static scl_status sfgd_gradient(void *context, const scl_rows *rows, scl_error *error) {
  functional_descent *d = context;
  const size_t c = d->columns;
  const double *phi = rows->features.data;
  double *a = d->a + d->known * c;
  (void)error;
  memset(a, 0, c * sizeof *a);
  for (size_t i = 0; i < rows->count; i++)
    for (size_t j = 0; j < c; j++)
      a[j] += d->shares[i] * d->scores[i * c + j] * phi[(ptrdiff_t)i * rows->features.row_stride];
  return SCL_STATUS_OK;
}

/* Replaces the scores of the minibatch by slopes, and sets d->loss to its mean loss. */
static void sfgd_slopes(functional_descent *d) {
  const size_t c = d->columns;
  d->loss = 0;
  for (size_t i = 0; i < d->self->batch; i++) {
    double *f = d->scores + i * c;
    d->loss += d->shares[i] * loss_row(&d->self->loss, c, f, d->targets + i * c, f);
  }
}

/* Step t: alpha <- (1 - eta lambda) alpha - eta b K(w_t, .), then the projection onto the ball of
 * radius B. */
static scl_status sfgd_step(functional_descent *d, const sfgd *self, const pace *steps, size_t t,
                            scl_error *error) {
  const scl_problem *problem = d->problem;
  const size_t c = d->columns;
  const double all = steps->lambda * (double)(t + 1) + steps->start,
               shrink = (steps->lambda * (double)t + steps->start) / all;
  scl_status status = functional_step(d, t, t == 0 ? 1 : t, error);
  if (status != SCL_STATUS_OK) return status;
  sfgd_slopes(d);
  status = problem->minibatch(problem, self->shared.seed, t, self->shared.batch, t, 1,
                              problem->has_kernel != 0, sfgd_gradient, d, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < c; j++)
    d->a[t * c + j] *= -steps->scale / all;
  functional_move(d, t, shrink);
  const double norm = sqrt(d->square), factor = self->B / norm;
  if (!(norm > self->B)) return SCL_STATUS_OK;
  for (size_t i = 0; i < d->known * c; i++)
    d->a[i] *= factor;
  d->square *= factor * factor;
  return SCL_STATUS_OK;
}

/* The norm of the mean, computed from G; clipped to B where rounding left it above. */
static scl_status sfgd_bound_norm(const functional_descent *d, const sfgd *self, double *mean,
                                  double *norm, scl_error *error) {
  const size_t count = d->problem->features * d->columns;
  double *image = d->host->scratch((count + 1) * sizeof *image), square = 0;
  if (image == NULL)
    return d->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients",
                         count);
  scl_status status = SCL_STATUS_OK;
  if (d->gram != NULL)
    status = d->host->symmetric->multiply(d->gram, mean, d->columns, image, error);
  else
    memcpy(image, mean, count * sizeof *image);
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++)
    square += mean[i] * image[i];
  if (status != SCL_STATUS_OK) return status;
  *norm = sqrt(fmax(square, 0));
  for (size_t i = 0; *norm > self->B && i < count; i++)
    mean[i] *= self->B / *norm;
  *norm = fmin(*norm, self->B);
  return SCL_STATUS_OK;
}

/* Runs the steps; out->coefficients sums the iterates and becomes their mean. */
static scl_status sfgd_descend(functional_descent *d, const sfgd *self, scl_solution *out,
                               scl_error *error) {
  const size_t c = d->columns;
  size_t projected = 0, t = 0;
  pace steps;
  scl_status status = sfgd_pace(d, self, &steps, error);
  if (status != SCL_STATUS_OK) return status;
  state kept = functional_state(d, &t);
  STATE_ADD(&kept, projected);
  state_add(&kept, out->coefficients, d->problem->features * c * sizeof *out->coefficients);
  for (; t < d->steps && !d->stop; t++) {
    status = state_keep(d->problem, &kept, error);
    if (status == SCL_STATUS_OK) status = sfgd_step(d, self, &steps, t, error);
    if (status != SCL_STATUS_OK) return status;
    projected += sqrt(d->square) >= self->B * (1 - 1e-12);
    for (size_t i = 0; i < (t + 1) * c; i++)
      out->coefficients[i] += d->a[i];
    status = functional_judge(d, t, out->coefficients, 1 / (double)(t + 2), error);
    if (status != SCL_STATUS_OK) return status;
  }
  for (size_t i = 0; i < d->done * c; i++)
    out->coefficients[i] /= (double)(d->done + 1);
  double norm = 0;
  out->outcome = SCL_OUTCOME_STOPPED;
  out->iterations = d->done;
  status = early_stop_settle(&d->early, out->coefficients, d->done, d->steps, out, error);
  if (status == SCL_STATUS_OK) status = sfgd_bound_norm(d, self, out->coefficients, &norm, error);
  if (status != SCL_STATUS_OK) return status;
  const size_t used = strlen(out->note);
  (void)snprintf(out->note + used, sizeof out->note - used,
                 "%slambda = %.6g; ||alpha|| = %.6g of at most B = %g; %zu of %zu steps ended on "
                 "that bound",
                 used > 0 ? "; " : "", steps.lambda, norm, self->B, projected, d->done);
  return SCL_STATUS_OK;
}

static scl_status sfgd_solve(const void *instance, const scl_problem *problem, scl_solution *out,
                             scl_error *error) {
  const sfgd *self = instance;
  const scl_host *host = problem->host;
  const size_t count = problem->features * problem->targets;
  functional_descent d;
  double *a = host->scratch((count + 1) * sizeof *a);
  if (a == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients", count);
  memset(a, 0, count * sizeof *a);
  memset(out->coefficients, 0, count * sizeof *a);
  const scl_status status = functional_open(&d, &self->shared, problem, a, error);
  return status == SCL_STATUS_OK ? sfgd_descend(&d, self, out, error) : status;
}

const scl_plugin scullery_plugin = {
    .name = "sfgd",
    .summary = "Stochastic functional gradient descent, one parameter and one minibatch a step",
    .definition =
        /* The slope of the loss of one target. */
    "slope(f, y) = when(loss == \"square\", f - y, loss == \"logistic\", -y/(1 + exp(y*f)),\n"
    "  loss == \"exponential\", -y*exp(-y*f), loss == \"hinge\", when(y*f < 1, -y, 0),\n"
    "  loss == \"squared_hinge\", -y*max(0, 1 - y*f), max(-delta, min(delta, f - y)))\n"
    /* ||alpha||^2 of the coefficients of all targets. */
    "square(A, G) = sum(A, function(a)\n"
    "  return sum(a, function(v, i) return v*sum(a, function(w, j) return w*G[i][j] end) end)\n"
    "end)\n"
    /* Coefficients times s; and, where they are longer than B, shortened to B. */
    "times(A, s) = map(A, function(a) return map(a, function(v) return s*v end) end)\n"
    "bounded(A, G) = times(A, min(1, B/max(sqrt(square(A, G)), 1e-300)))\n"
    /* The mean of the iterates (that at 0 counts), each after a step along the slope of the loss,
         * of rows that are all alike: whatever is drawn is one of them. */
    "descend(row, Y, G, steps) = (function(A, total)\n"
    "  for t = 1, steps do\n"
    "    local moved = times(A, 1 - 1/t)\n"
    "    for j = 1, #Y do\n"
    "      local f = sum(A[j], function(v, k) return v*row.x[k] end)\n"
    "      moved[j][t] = -slope(f, Y[j])*row.base[t]/(lambda*t)\n"
    "    end\n"
    "    A = bounded(moved, G)\n"
    "    total = map(total, function(s, j)\n"
    "      return map(A[j], function(v, k) return v + (s[k] or 0) end)\n"
    "    end)\n"
    "  end\n"
    "  return bounded(times(total, 1/(steps + 1)), G)\n"
    "end)(map(Y, function() return {} end), map(Y, function() return {} end))\n"
    /* With lambda as a number and without rows held out: the scores of rows of features x. */
    "score(rows) = rows.gram and holdout == 0 and type(lambda) == \"number\"\n"
    "  and not (rows.classes > 2 and loss == \"logistic\") and (function(A)\n"
    "  return function(x)\n"
    "    return map(A, function(a) return sum(a, function(v, k) return v*x[k] end) end)\n"
    "  end\n"
    "end)(descend(rows[1], type(rows[1].y) == \"number\" and { rows[1].y } or rows[1].y, "
    "rows.gram,\n"
    "  iterations or #rows[1].x))",
    .doc =
        "min mean l(f, y) + (lambda/2) ||alpha||^2 over ||alpha|| <= B, "
        "f(x) = E alpha(w) phi(w, x),\n"
        "by algorithm 1 of Dube and Marchand (2023): step t takes parameter w_t and a minibatch,\n"
        "alpha <- (1 - 1/t) alpha - b_t/(lambda t) K(w_t, .) with b_t the mean of "
        "l'(f, y) phi(w_t, x),\n"
        "then alpha shrinks to norm B where it is larger. The model is the mean of all iterates.\n"
        "lambda = \"auto\" is sqrt(8 rho^2/(B^2 m)) for m rows (their equation 75), with rho the\n"
        "steepest slope of the loss up to the largest value of a function of norm B.\n"
        "A step costs O(t) per row. The logistic loss of several classes is that of the softmax.\n"
        "Features without a K: doubly stochastic gradients (Dai et al. 2014) in the RKHS of their\n"
        "own kernel k, steps 1/(lambda t + 2 max k(x, x)); B bounds the norm of the coefficients.\n"
        "For features with one output per parameter; `iterations` is at most T. B bounds\n"
        "several targets together. It does the steps that it was asked for, or fewer\n"
        "with `holdout`, where it returns the mean up to the best step, and states no\n"
        "optimality; p:bound{theorem = \"rkhsw11\"} says how far it can be off.",
    SCL_SOLVER(.solve = sfgd_solve),
    SCL_INSTANCE(sfgd, options),
    SCL_ABILITIES(FUNCTIONAL_ABILITIES)};

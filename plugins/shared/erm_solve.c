/* Empirical risk minimisation: the regularised mean of any loss (scullery/plugin/loss.h),
 *
 *   min_{a,b} (1/N) sum_i w_i l(phi_i a + b, y_i) + lambda R(a),   N = sum w
 *   R(a) = ||a||^2/2 (l2), ||a||_1 (l1), or l1_ratio ||a||_1 + (1 - l1_ratio) ||a||^2/2 (elastic)
 *
 * Phi n x D, a D x c, each target, and each class against all others, a problem of its own. Rows
 * are never held as n x D numbers. Methods by the facts of the loss:
 *
 *   newton    losses with a curvature, and losses with kinks; D x D systems (newton.c)
 *   lbfgs     every loss; a sweep an iteration, all targets together (lbfgs.c)
 *   proximal  every loss, with l1 or elastic (proximal.c)
 *   sparse    on compressed sparse rows, losses with a curvature or with kinks (sparse.c)
 *   dual      every loss, with l2 and lambda > 0; a pass an iteration (dual.c)
 *   sgd       every loss, with l2; a given number of steps (sgd.c)
 *
 * each but the last two within rounds of multipliers where the loss has kinks (multipliers.c).
 *
 * The residual is the norm of the gradient relative to that at a = 0 with the best constant. Where
 * neither slope nor curvature has a bound, that at a = 0 may be of any size: it counts less by the
 * factor by which the mean of |slope| fell. With kinks, besides, what the objective is above that
 * of the round's dual point, relative to the objective there. The gap (gap.c), relative to that
 * objective too, needs a conjugate and lambda > 0; where there is one it must be as small. */
#include "shared/erm.h"
#include "shared/part_loss.h"
#include "shared/row_total.h"
#include <float.h>
#include <stdio.h>

scl_status erm_create(void *instance, scl_error *error) {
  erm *self = instance;
  const scl_host *host = self->base.host;
  const bool sparse = self->penalty != ERM_L2;
  if (self->method == ERM_DUAL && !(self->lambda > 0))
    return host->fail(error, SCL_STATUS_BAD_OPTION, "method = \"dual\" needs lambda above 0");
  if (sparse && self->method != ERM_AUTO && self->method != ERM_PROXIMAL)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "penalty = \"%s\" goes with method = \"proximal\", as the others take "
                      "\"l2\" alone",
                      self->penalty == ERM_L1 ? "l1" : "elastic");
  if (!sparse && self->method == ERM_PROXIMAL)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "method = \"proximal\" goes with penalty = \"l1\" or \"elastic\"");
  return SCL_STATUS_OK;
}

/* The loss of one target. */
static scl_status erm_loss_open(const erm *self, size_t target, erm_loss *out, scl_error *error) {
  const scl_host *host = self->base.host;
  if (self->formula != NULL) return erm_formula_open(self, target, out, error);
  *out = (erm_loss){.service = host->service(SCL_SERVICE_LOSSES),
                    .part = &self->loss,
                    .facts = {.head = SCL_HEAD(scl_loss_facts)}};
  if (out->service == NULL)
    return host->fail(error, SCL_STATUS_UNSUPPORTED, "this host has no losses");
  out->curvature = host->parts->ability(&self->loss, SCL_ABILITY_LOSS_CURVATURE) != NULL;
  out->conjugate = host->parts->ability(&self->loss, SCL_ABILITY_LOSS_CONJUGATE) != NULL;
  return out->service->facts(&self->loss, &out->facts, error);
}

/* ------------ targets */

/* The weighted standard deviation of the targets of one machine; 1 for classes. */
static scl_status find_spread(erm_machine *m, scl_error *error) {
  const size_t n = m->problem->rows;
  double sums[2] = {0, 0}, *terms = m->room;
  scl_status status = SCL_STATUS_OK;
  m->spread = 1;
  if (m->problem->task == SCL_TASK_CLASSIFICATION) return SCL_STATUS_OK;
  for (int power = 0; power < 2 && status == SCL_STATUS_OK; power++) {
    for (size_t i = 0; i < n; i++) {
      const double apart = m->risk.targets[i] - sums[0] / m->risk.total;
      terms[i] = m->risk.weights[i] * (power == 0 ? m->risk.targets[i] : apart * apart);
    }
    status = row_total(m->problem, terms, n, 1, &sums[power], error);
  }
  const double deviation = sqrt(sums[1] / m->risk.total);
  m->spread = deviation > 0 && isfinite(deviation) ? deviation : 1;
  return status;
}

/* ------------ a solve */

enum { CONSTANT_ROUNDS = 3 };

/* *size = the sum of |slopes| over rows and columns, with their weights' shares. */
static scl_status sum_sizes(const erm_machine *m, double *size, scl_error *error) {
  const size_t n = m->problem->rows, c = m->risk.columns;
  double *sums = m->problem->host->scratch(c * sizeof *sums);
  if (sums == NULL)
    return m->problem->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu sums", c);
  for (size_t i = 0; i < n * c; i++)
    m->room[i] = fabs(m->risk.slopes[i]);
  const scl_status status = row_total(m->problem, m->room, n, c, sums, error);
  *size = 0;
  for (size_t j = 0; j < c; j++)
    *size += sums[j];
  return status;
}

/* unit = the norm of the gradient at a = 0. Where that of the features is rounding, as of rows that
 * are all equal, the norm of the sum of its terms' sizes. */
static scl_status find_unit(erm_machine *m, scl_error *error) {
  const size_t d = m->problem->features;
  scl_status status = sum_sizes(m, &m->size, error);
  m->unit = erm_norm(m, m->gradient);
  if (status != SCL_STATUS_OK || m->unit > 1e-8 * m->size) return status;
  memset(m->direction, 0, m->risk.size * sizeof *m->direction);
  status = m->problem->adjoint(m->problem, m->room, 1, m->direction, error);
  const double sizes = erm_norm(m, m->direction);
  if (m->risk.intercept) m->gradient[d] = 0;
  if (erm_norm(m, m->gradient) <= 1e-13 * sizes)
    m->unit = hypot(sizes, m->risk.intercept ? m->size : 0);
  if (m->risk.intercept) m->gradient[d] = m->slope_sum[0];
  if (!(m->unit > 0)) m->unit = 1;
  return status;
}

/* Whether the loss may grow faster than squares. */
static bool steep(const scl_loss_facts *facts) {
  const bool slope = facts->lipschitz > 0 && isfinite(facts->lipschitz),
             curvature = facts->curvature > 0 && isfinite(facts->curvature);
  return !slope && !curvature && !(facts->flags & SCL_LOSS_KINKS);
}

/* unit and size, of a steep loss, at the scores of now. */
static scl_status lower_unit(erm_machine *m, scl_error *error) {
  double size;
  if (!steep(&m->loss->facts) || !(m->size > 0)) return SCL_STATUS_OK;
  const scl_status status = sum_sizes(m, &size, error);
  if (status != SCL_STATUS_OK || !(size < m->size) || !(size > 0)) return status;
  m->unit *= size / m->size;
  m->size = size;
  return SCL_STATUS_OK;
}

/* One target at a = 0 with the best constant: what the residual is relative to. Where this leaves no
 * loss, as of one class alone, the objective counts relative to the rounding of that of scores 0. */
static scl_status erm_begin(erm_machine *m, const risk *all, size_t target, scl_error *error) {
  const size_t n = m->problem->rows, c = all->columns, d = m->problem->features;
  m->target = target;
  m->begun = false;
  for (size_t i = 0; i < n; i++)
    m->risk.targets[i] = all->targets[i * c + target];
  memset(m->x, 0, m->risk.size * sizeof *m->x);
  memset(m->scores, 0, n * sizeof *m->scores);
  scl_status status = find_spread(m, error);
  /* of the losses alone: a gradient would take a pass over the rows */
  if (status == SCL_STATUS_OK) status = risk_slopes(&m->risk, 0, n, m->scores, error);
  if (status == SCL_STATUS_OK) status = risk_sums(&m->risk, &m->value, m->slope_sum, error);
  const double rounding = DBL_EPSILON * fabs(m->value);
  if (steep(&m->loss->facts)) m->spread = fmin(m->spread, 1); /* scores may be logarithms */
  for (int k = 0; k < CONSTANT_ROUNDS && m->risk.intercept && status == SCL_STATUS_OK; k++) {
    double length;
    status = risk_best_constant(&m->risk, m->scores, m->change, m->spread, &length, error);
    m->x[d] += length;
    for (size_t i = 0; i < n; i++)
      m->scores[i] += length;
    if (length == 0) break;
  }
  if (status == SCL_STATUS_OK) status = erm_differentiate(m, false, error);
  if (status == SCL_STATUS_OK) status = find_unit(m, error);
  m->worth = fmax(fabs(m->value), rounding);
  if (m->worth == 0) m->worth = 1;
  return status;
}

/* Starts all targets together from their constants, which `one` finds. */
static scl_status erm_begin_all(erm_machine *m, erm_machine *one, const risk *all,
                                scl_error *error) {
  const size_t n = m->problem->rows, c = all->columns, d = m->problem->features;
  double square = 0;
  memcpy(m->risk.targets, all->targets, n * c * sizeof *m->risk.targets);
  for (size_t j = 0; j < c; j++) {
    const scl_status status = erm_begin(one, all, j, error);
    if (status != SCL_STATUS_OK) return status;
    if (m->risk.intercept) m->x[d * c + j] = one->x[d];
    for (size_t i = 0; i < n; i++)
      m->scores[i * c + j] = one->scores[i];
    square += one->unit * one->unit;
    m->size += one->size;
    m->worth += one->worth;
    m->spread = fmax(m->spread, one->spread);
  }
  m->unit = sqrt(square);
  return SCL_STATUS_OK;
}

/* Goes on from the coefficients that the problem was given. */
static scl_status erm_warm(erm_machine *m, const scl_solution *out, size_t target,
                           scl_error *error) {
  const scl_problem *problem = m->problem;
  const size_t c = m->risk.columns, d = problem->features;
  if (!problem->warm) return SCL_STATUS_OK;
  for (size_t i = 0; i < d * c; i++)
    m->x[i] = out->coefficients[i / c * problem->targets + (c == 1 ? target : i % c)];
  return erm_differentiate(m, true, error);
}

/* Runs the method until the residual holds at scores that are made anew from x. */
static scl_status erm_smooth(erm_machine *m, erm_method method, scl_error *error) {
  enum { ROUNDS = 4, STEEP_ROUNDS = 60 };
  const int rounds = steep(&m->loss->facts) ? STEEP_ROUNDS : ROUNDS;
  scl_status status = SCL_STATUS_OK;
  for (int round = 0; status == SCL_STATUS_OK && round < rounds; round++) {
    const size_t before = m->steps;
    status = method(m, m->goal * (round == 0 ? 1 : 0.5), error);
    if (status == SCL_STATUS_OK) status = erm_differentiate(m, true, error);
    if (status == SCL_STATUS_OK) status = lower_unit(m, error);
    m->residual = m->norm / m->unit;
    if (m->residual <= m->goal || m->steps >= m->self->max_iterations) break;
    if (round >= ROUNDS && m->steps == before) break; /* rounding allows no step */
  }
  return status;
}

/* m->risk.slopes = the slopes of the loss at m->scores, without weights: a dual point. With kinks,
 * and by dual coordinates, the multipliers, where the conjugate is finite; it is not where they
 * leave its domain by rounding. */
static scl_status erm_dual_point(erm_machine *m, scl_error *error) {
  const scl_loss_service *service = m->loss->service;
  const size_t nc = m->risk.scores;
  double *slopes = m->risk.slopes;
  const bool dual = m->begun || m->loss->facts.flags & SCL_LOSS_KINKS;
  scl_status status =
      service->slope(m->loss->part, nc, dual ? m->near : m->scores, m->risk.targets, slopes, error);
  if (status != SCL_STATUS_OK || !dual || !m->loss->conjugate) return status;
  status = service->conjugate(m->loss->part, nc, m->multipliers, m->risk.targets, m->other, error);
  for (size_t i = 0; i < nc; i++)
    if (isfinite(m->other[i])) slopes[i] = m->multipliers[i];
  return status;
}

/* Whether without a penalty the classes are on the right sides with a loss that still falls: there
 * is no minimum then. */
static scl_status erm_unbounded(erm_machine *m, bool *out, scl_error *error) {
  const size_t nc = m->risk.scores, c = m->risk.columns;
  const double far = 30, mark[2] = {1, -1}, at[2] = {far, -far};
  double slopes[2], wrong;
  *out = false;
  if (m->self->lambda > 0 || m->problem->task != SCL_TASK_CLASSIFICATION) return SCL_STATUS_OK;
  scl_status status = m->loss->service->slope(m->loss->part, 2, at, mark, slopes, error);
  if (status != SCL_STATUS_OK || !(slopes[0] < 0 && slopes[1] > 0)) return status;
  for (size_t i = 0; i < nc; i++)
    m->room[i] = m->risk.weights[i / c] > 0 && !(m->scores[i] * m->risk.targets[i] > 0);
  for (size_t j = 0; j < c && status == SCL_STATUS_OK && !*out; j++) {
    for (size_t i = 0; i < m->problem->rows; i++)
      m->risk.losses[i] = m->room[i * c + j];
    status = row_total(m->problem, m->risk.losses, m->problem->rows, 1, &wrong, error);
    *out = status == SCL_STATUS_OK && wrong == 0;
  }
  return status;
}

/* Solves until the residual is small enough, and the gap where there is one, relative to the
 * objective at a = 0: a small lambda asks for a smaller gradient. */
static scl_status erm_close_gap(erm_machine *m, erm_method method, double *gap, scl_error *error) {
  enum { ROUNDS = 6 };
  const bool kinks = m->loss->facts.flags & SCL_LOSS_KINKS;
  scl_status status = SCL_STATUS_OK;
  m->goal = m->self->tolerance;
  for (int round = 0; status == SCL_STATUS_OK && round < ROUNDS; round++, m->goal /= 10) {
    status = method == erm_dual || method == erm_sgd ? method(m, m->goal, error)
             : kinks                                 ? erm_multipliers(m, method, error)
                                                     : erm_smooth(m, method, error);
    if (status == SCL_STATUS_OK) status = erm_dual_point(m, error);
    if (status == SCL_STATUS_OK) status = erm_gap(m, gap, error);
    *gap /= m->worth;
    if (!(*gap > m->self->tolerance) || !(m->residual <= m->goal) || method == erm_sgd) break;
  }
  /* A small l1 cuts the dual point down by far more than the coefficients are off: no bound. */
  m->no_bound =
      erm_l1(m->self) > 0 && *gap > m->self->tolerance && m->residual <= m->self->tolerance;
  if (m->no_bound) *gap = NAN;
  return status;
}

/* Solves the machine's targets, and adds the result to `out`: `target` is the only one of them. */
static scl_status erm_run(erm_machine *m, erm_method method, size_t target, scl_solution *out,
                          scl_error *error) {
  const scl_problem *problem = m->problem;
  const size_t c = m->risk.columns, d = problem->features;
  double gap = NAN;
  bool unbounded = false;
  scl_status status = erm_warm(m, out, target, error);
  if (status == SCL_STATUS_OK) status = erm_close_gap(m, method, &gap, error);
  if (status == SCL_STATUS_OK) status = erm_unbounded(m, &unbounded, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < c; j++) {
    const size_t to = c == 1 ? target : j;
    for (size_t i = 0; i < d; i++)
      out->coefficients[i * problem->targets + to] = m->x[i * c + j];
    if (m->risk.intercept) out->intercept[to] = m->x[d * c + j] - erm_shift_of(problem, to);
  }
  out->gap = isnan(gap) || isnan(out->gap) ? NAN : fmax(out->gap, gap);
  out->residual = fmax(out->residual, unbounded ? INFINITY : m->residual);
  if (unbounded)
    (void)snprintf(out->note, sizeof out->note,
                   "the classes are separable, so that without lambda longer weights always lower "
                   "the loss: give lambda more than 0");
  else if (m->no_bound)
    (void)snprintf(out->note, sizeof out->note,
                   "no duality gap is known for so small a lambda: only the residual, %.1e, says "
                   "how near it is",
                   m->residual);
  else if (method == erm_sgd)
    return SCL_STATUS_OK;
  else if (gap > m->self->tolerance && m->residual <= m->self->tolerance)
    (void)snprintf(
        out->note, sizeof out->note,
        "the duality gap is %.1e, and %.1e was wanted: give a larger lambda or tolerance", gap,
        m->self->tolerance);
  else if (m->residual > m->self->tolerance)
    (void)snprintf(out->note, sizeof out->note, "the residual is %.1e, and %.1e was wanted: %s",
                   m->residual, m->self->tolerance,
                   m->steps < m->self->max_iterations
                       ? "rounding allows no smaller one: give a larger lambda or tolerance"
                       : "give more max_iterations or a larger lambda");
  return SCL_STATUS_OK;
}

/* Above this many features Newton's systems cost more than the sweeps of L-BFGS. */
enum { NEWTON_FEATURES = 1000 };

static scl_status erm_choose(const erm *self, const erm_loss *loss, const scl_problem *problem,
                             erm_method *out, scl_error *error) {
  const bool able = loss->curvature || loss->facts.flags & SCL_LOSS_KINKS;
  *out = self->method == ERM_DUAL  ? erm_dual
         : self->method == ERM_SGD ? erm_sgd
         : self->penalty != ERM_L2 ? erm_proximal
                                   : erm_lbfgs;
  if (csr_is(problem) && self->method == ERM_AUTO && able) {
    if (self->penalty == ERM_L2) *out = erm_sparse_newton;
    if (self->penalty != ERM_L2 && loss->curvature) *out = erm_sparse_columns;
    return SCL_STATUS_OK;
  }
  if (self->method == ERM_NEWTON && !able)
    return problem->host->fail(error, SCL_STATUS_UNSUPPORTED,
                               "method = \"newton\" needs a loss with a curvature, which loss.%s "
                               "does not have: give method = \"lbfgs\"",
                               loss->part->plugin->name);
  if (self->method == ERM_NEWTON || (self->method == ERM_AUTO && self->penalty == ERM_L2 && able &&
                                     problem->features <= NEWTON_FEATURES && problem->entries == 0))
    *out = erm_newton;
  return SCL_STATUS_OK;
}

/* Of losses with kinks dual coordinates take the place of L-BFGS where they need few passes: about
 * 1 + ||phi||^2/(lambda n) divide the gap by e. */
static scl_status erm_prefer_dual(erm_machine *m, erm_method *method, scl_error *error) {
  const double rows = m->self->lambda * (double)m->problem->rows;
  if (*method != erm_lbfgs || m->self->method != ERM_AUTO || m->problem->targets > 1 ||
      m->problem->entries > 0 || !(m->loss->facts.flags & SCL_LOSS_KINKS) || !(rows > 0))
    return SCL_STATUS_OK;
  const scl_status status = erm_dual_open(m, error);
  if (m->mean_square <= rows / 2) *method = erm_dual;
  return status;
}

scl_status erm_solve(const void *instance, const scl_problem *problem, scl_solution *out,
                     scl_error *error) {
  const erm *self = instance;
  const size_t n = problem->rows, c = problem->targets;
  erm_loss loss;
  erm_machine one = {.self = self}, many = {.self = self};
  erm_method method = NULL;
  risk all;
  scl_status status = erm_loss_open(self, 0, &loss, error);
  if (status == SCL_STATUS_OK) status = erm_choose(self, &loss, problem, &method, error);
  if (status == SCL_STATUS_OK) status = risk_open(&all, problem, NULL, erm_l2(self), error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < n * c; i++)
    all.targets[i] += erm_shift_of(problem, i % c);
  if (status == SCL_STATUS_OK)
    status = part_loss_check(problem, loss.part, &loss.facts, all.targets, all.weights, error);
  if (status == SCL_STATUS_OK) status = erm_open(&one, self, &loss, &all, 1, error);
  if (status == SCL_STATUS_OK) status = erm_prefer_dual(&one, &method, error);
  out->tolerance = self->tolerance;
  out->residual = out->gap = 0;
  out->iterations = 0;
  const bool together = method == erm_lbfgs || method == erm_proximal || method == erm_sgd;
  if (!together || c == 1 || erm_outputs(self) > 1) {
    for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++) {
      one.steps = 0;
      status = erm_loss_open(self, j, &loss, error);
      if (status == SCL_STATUS_OK) status = erm_begin(&one, &all, j, error);
      if (status == SCL_STATUS_OK) status = erm_run(&one, method, j, out, error);
      out->iterations += one.steps;
    }
  } else {
    if (status == SCL_STATUS_OK) status = erm_open(&many, self, &loss, &all, c, error);
    if (status == SCL_STATUS_OK) status = erm_begin_all(&many, &one, &all, error);
    if (status == SCL_STATUS_OK) status = erm_run(&many, method, 0, out, error);
    out->iterations = many.steps;
  }
  if (one.system.host != NULL) refined_close(&one.system);
  out->outcome = out->residual <= self->tolerance && !(out->gap > self->tolerance)
                     ? SCL_OUTCOME_CONVERGED
                     : SCL_OUTCOME_LIMIT;
  if (method == erm_sgd) out->outcome = SCL_OUTCOME_STOPPED;
  if (method == erm_sgd && loss.facts.flags & SCL_LOSS_KINKS) out->residual = NAN;
  return status;
}

/* ------------ abilities */

scl_penalty erm_penalty(const void *self) {
  return erm_l1(self) > 0 ? SCL_PENALTY_L1 : SCL_PENALTY_L2;
}

/* The losses of n x c scores, each column by its own loss where targets have several outputs, into
 * m->risk.losses and the slopes. */
static scl_status add_losses(erm_machine *m, const erm *self, erm_loss *loss, double *value,
                             scl_error *error) {
  const size_t n = m->problem->rows, c = m->problem->targets;
  scl_status status = SCL_STATUS_OK;
  *value = 0;
  for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
      m->near[i] = m->scores[i * c + j];
      m->other[i] = m->risk.targets[i * c + j];
    }
    status = erm_loss_open(self, j, loss, error);
    if (status == SCL_STATUS_OK)
      status = loss->service->value(loss->part, n, m->near, m->other, m->room, error);
    for (size_t i = 0; i < n; i++) /* rows without weight may have an infinite loss */
      m->room[i] = m->risk.weights[i] > 0 ? m->risk.weights[i] * m->room[i] : 0;
    if (status == SCL_STATUS_OK) status = row_total(m->problem, m->room, n, 1, &sum, error);
    *value += sum / m->risk.total;
  }
  return status;
}

scl_status erm_objective(const void *instance, const scl_problem *problem,
                         const double *coefficients, const double *intercept, double *value,
                         scl_error *error) {
  const erm *self = instance;
  const size_t n = problem->rows, c = problem->targets, d = problem->features;
  erm_loss loss;
  erm_machine m;
  risk all;
  scl_status status = erm_loss_open(self, 0, &loss, error);
  if (status == SCL_STATUS_OK) status = risk_open(&all, problem, NULL, erm_l2(self), error);
  all.intercept = false;
  if (status == SCL_STATUS_OK) status = erm_open(&m, self, &loss, &all, c, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < n * c; i++)
    m.risk.targets[i] = all.targets[i] + erm_shift_of(problem, i % c);
  status = problem->product(problem, coefficients, c, m.scores, error);
  for (size_t i = 0; intercept != NULL && i < n * c; i++)
    m.scores[i] += intercept[i % c] + erm_shift_of(problem, i % c);
  if (status == SCL_STATUS_OK) status = add_losses(&m, self, &loss, value, error);
  for (size_t i = 0; i < d * c; i++) {
    const double a = coefficients[i];
    *value += erm_l1(self) * fabs(a) + erm_l2(self) / 2 * a * a;
  }
  return status;
}

/* Newton's steps make a pass of reweighted sums and two others each; other methods a sweep. */
void erm_cost(const void *instance, const scl_problem *problem, const double *values, size_t count,
              int32_t weighted, scl_cost *out) {
  const erm *self = instance;
  enum { TYPICAL_NEWTON = 15, TYPICAL_SWEEPS = 150 };
  const double n = (double)problem->rows, d = (double)problem->features + 1,
               c = (double)problem->targets, most = (double)self->max_iterations;
  const bool newton =
      self->method == ERM_NEWTON || (self->method == ERM_AUTO && self->penalty == ERM_L2 &&
                                     problem->features <= NEWTON_FEATURES && problem->entries == 0);
  const bool sgd = self->method == ERM_SGD,
             dual = self->method == ERM_DUAL || (self->method == ERM_AUTO && !newton);
  const double steps = sgd      ? self->epochs
                       : newton ? fmin(most, TYPICAL_NEWTON)
                                : fmin(most, TYPICAL_SWEEPS);
  (void)values, (void)count, (void)weighted;
  out->reweighted = newton ? steps * c : 0;
  out->passes = newton ? 2 * steps * c : sgd ? 3 : steps * (self->method == ERM_DUAL ? c : 1) + 2;
  out->minibatch = sgd ? self->epochs * n * d : 0;
  out->columns = newton ? 1 : c;
  out->factorised = newton ? steps * c * d * d * d / 3 : 0;
  out->steps = steps * n * c * 20;
  out->bytes = ((11 + 2 * LBFGS_PAIRS) * d * c + 13 * n * c + 3 * n + (newton ? d * d : 0) +
                (dual ? 3 * n : 0)) * /* sizes and places of rows */
               sizeof(double);
  (void)snprintf(out->note, sizeof out->note, "%g %s", steps,
                 newton ? "Newton steps for each target, a typical number"
                 : sgd  ? "times as many rows drawn as there are"
                        : "sweeps over the rows, a typical number");
}

/* Sweeps read sparse rows, and work on the rows of a process. */
const void *erm_ability(const void *instance, const char *id) {
  static const scl_ability_sparse_rows sparse = {SCL_HEAD(scl_ability_sparse_rows)};
  static const scl_ability_rows_apart apart = {SCL_HEAD(scl_ability_rows_apart)};
  static const scl_ability_csr_rows csr = {SCL_HEAD(scl_ability_csr_rows)};
  const erm *self = instance;
  const bool sweeps =
      self->method == ERM_LBFGS || self->method == ERM_PROXIMAL || self->penalty != ERM_L2;
  if (strcmp(id, SCL_ABILITY_CSR_ROWS) == 0) return self->method != ERM_SGD ? &csr : NULL;
  if (strcmp(id, SCL_ABILITY_SPARSE_ROWS) == 0)
    return self->method != ERM_NEWTON && self->method < ERM_DUAL ? &sparse : NULL;
  return sweeps && strcmp(id, SCL_ABILITY_ROWS_APART) == 0 ? &apart : NULL;
}

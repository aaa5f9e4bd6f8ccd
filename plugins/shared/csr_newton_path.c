/* csr_newton_path and csr_least_squares: several lambdas, and the duality gap. With s the slopes of
 * the losses times the shares of their rows, a dual point, sum_i s_i x_i = g - lambda a with the
 * gradient g in a, and
 *
 *   P(a, b) - D(s) = ||g||^2/(2 lambda)   where sum_i s_i = 0 (with a constant):
 *
 * the best constant for the scores makes it so. */
#include "shared/csr_newton.h"
#include "shared/lambda_order.h"

#include <stdio.h>

/* Moves the constants of columns that are not joint to their best for the scores, by Newton's
 * method in one number, and looks again. */
static scl_status path_settle(csr_newton *n, scl_error *error) {
  enum { ROUNDS = 20 };
  const risk *r = n->risk;
  const size_t c = r->columns, count = r->problem->features * c;
  for (int round = 0; round < ROUNDS; round++) {
    scl_status status = csr_newton_bends(n, error);
    double *bends = n->squares, worst = 0;
    if (status != SCL_STATUS_OK) return status;
    memset(bends, 0, c * sizeof *bends);
    for (size_t i = 0; i < r->scores; i++)
      bends[i % c] += n->bends[i];
    for (size_t j = 0; j < c; j++) {
      const double slope = n->gradient[count + j];
      worst = fmax(worst, fabs(slope));
      n->lengths[j] = bends[j] > 0 ? -slope / bends[j] : 0;
    }
    if (!(worst > 1e-13)) break;
    for (size_t j = 0; j < c; j++)
      n->x[count + j] += n->lengths[j];
    for (size_t i = 0; i < r->scores; i++)
      n->scores[i] += n->lengths[i % c];
    status = csr_newton_slopes(n, n->gradient + count, error);
    if (status != SCL_STATUS_OK) return status;
  }
  return csr_newton_look(n, false, error);
}

/* The gap, and by_gap the largest of a column's over its objective. NAN: not known. Of one class alone
 * the objective is 0 in the end: it counts as at least `tolerance` times that of scores 0. */
static double path_gap(const csr_newton *n, const csr_newton_task *task) {
  const bool relative = task->by_gap;
  const risk *r = n->risk;
  const size_t c = r->columns, d = r->problem->features;
  double worst = 0, sum = 0;
  if (!(r->lambda > 0) || (n->joint && r->intercept)) return NAN;
  for (size_t j = 0; j < c; j++) {
    double square = 0, length = 0, loss = 0, nothing = 0, slope;
    for (size_t k = j; k < d * c; k += c) {
      square += n->gradient[k] * n->gradient[k];
      length += n->x[k] * n->x[k];
    }
    const double gap = square / (2 * r->lambda);
    sum += gap;
    for (size_t i = 0; relative && i < r->problem->rows; i++) {
      const double weight = r->weights[i] / r->total, y = r->targets[i * c + j];
      loss += weight * loss_column(r->choice, n->scores[i * c + j], y, &slope);
      nothing += weight * loss_column(r->choice, 0, y, &slope);
    }
    const double primal = fmax(loss + r->lambda / 2 * length, task->tolerance * nothing);
    if (relative && gap > 0) worst = fmax(worst, gap / primal);
  }
  return relative ? worst : sum;
}

/* A solver that stops by the gap: the norm of the gradient that is small enough for it. The margin is
 * for the objective at the solution, which is smaller than here (along a path, hardly). */
static double path_goal(const csr_newton *n, const csr_newton_task *task) {
  const double norm =
      sqrt(2 * n->risk->lambda * task->tolerance * n->value / (double)n->risk->columns);
  return (n->follows ? 0.7 : 0.5) * norm;
}

/* One lambda, from n->x, of which value, gradient and norm are known. */
static scl_status path_solve(csr_newton *n, const csr_newton_task *task, double unit,
                             scl_solution *out, scl_error *error) {
  enum { ROUNDS = 6 };
  const bool settle = n->risk->intercept && !n->joint;
  double goal = task->tolerance * unit;
  scl_status status = SCL_STATUS_OK;
  out->iterations = 0;
  out->tolerance = task->tolerance;
  for (int round = 0; round < ROUNDS && status == SCL_STATUS_OK; round++, goal /= 4) {
    if (task->by_gap && round == 0) goal = path_goal(n, task);
    status = csr_newton_minimise(n, goal, task->most - out->iterations, &out->iterations, error);
    if (status == SCL_STATUS_OK && settle) status = path_settle(n, error);
    out->residual = unit > 0 ? n->norm / unit : n->norm;
    out->gap = path_gap(n, task);
    if (!task->by_gap) break;
    if (out->gap <= task->tolerance || out->iterations >= task->most) break;
    goal = fmin(goal, path_goal(n, task) * 4);
  }
  const double reached = task->by_gap ? out->gap : out->residual;
  out->outcome = reached <= task->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  if (task->by_gap) out->residual = NAN;
  return status;
}

/* Value, gradient, norm and preconditioner at n->x for another lambda: only the penalty changes. */
static void path_take_lambda(csr_newton *n, risk *r, double lambda) {
  const double change = lambda - r->lambda, before = risk_penalty(r, n->x);
  r->lambda = lambda;
  n->value += risk_penalty(r, n->x) - before;
  for (size_t k = 0; change != 0 && k < r->problem->features * r->columns; k++) {
    n->gradient[k] += change * n->x[k];
    if (n->follows) n->diagonal[k] = fmax(n->diagonal[k] + change, lambda);
  }
  n->norm = sqrt(risk_dot(r->size, n->gradient, n->gradient));
}

/* The solutions of the last lambdas, and their scores, the newest first. */
enum { PATH_KEPT = 3 };
typedef struct path_history {
  double *x[PATH_KEPT], *scores[PATH_KEPT], place[PATH_KEPT]; /* place: ln lambda */
  size_t kept;
} path_history;

static scl_status path_history_open(path_history *h, const risk *r, scl_error *error) {
  const scl_host *host = r->problem->host;
  double *at = host->scratch(PATH_KEPT * (r->size + r->scores + 1) * sizeof *at);
  if (at == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a path");
  for (size_t k = 0; k < PATH_KEPT; k++, at += r->size + r->scores) {
    h->x[k] = at;
    h->scores[k] = at + r->size;
  }
  return SCL_STATUS_OK;
}

/* Stores n->x in place of the oldest solution. */
static void path_keep(path_history *h, const csr_newton *n) {
  const size_t last = PATH_KEPT - 1;
  double *x = h->x[last], *scores = h->scores[last];
  for (size_t k = last; k > 0; k--) {
    h->x[k] = h->x[k - 1];
    h->scores[k] = h->scores[k - 1];
    h->place[k] = h->place[k - 1];
  }
  h->x[0] = memcpy(x, n->x, n->risk->size * sizeof *x);
  h->scores[0] = memcpy(scores, n->scores, n->risk->scores * sizeof *scores);
  h->place[0] = log(n->risk->lambda);
  h->kept += h->kept < PATH_KEPT;
}

/* to = sum_k shares[k] from[k] */
static void path_mix(const path_history *h, double *const *from, const double *shares, size_t size,
                     double *to) {
  for (size_t i = 0; i < size; i++) {
    double sum = 0;
    for (size_t k = 0; k < h->kept; k++)
      sum += shares[k] * from[k][i];
    to[i] = sum;
  }
}

/* Extrapolates the last solutions by a polynomial in ln lambda, and moves there if the objective is
 * smaller. Scores are linear in x, so that the only pass is the one for the gradient. */
static scl_status path_predict(csr_newton *n, const path_history *h, scl_error *error) {
  const risk *r = n->risk;
  const double at = log(r->lambda), value = n->value;
  double shares[PATH_KEPT];
  bool leads = h->kept > 1 && r->lambda > 0;
  for (size_t k = 0; k < h->kept; k++) {
    shares[k] = 1;
    for (size_t l = 0; l < h->kept; l++)
      if (l != k) shares[k] *= (at - h->place[l]) / (h->place[k] - h->place[l]);
    leads = leads && fabs(shares[k]) < 8; /* not across a wide step, nor between equal lambdas */
  }
  n->near = false;
  if (!leads) return SCL_STATUS_OK;
  path_mix(h, h->x, shares, r->size, n->x);
  path_mix(h, h->scores, shares, r->scores, n->scores);
  const scl_status status = csr_newton_slopes(n, n->lengths, error);
  if (status != SCL_STATUS_OK) return status;
  n->near = n->value + risk_penalty(r, n->x) < value;
  if (!n->near) {
    memcpy(n->x, h->x[0], r->size * sizeof *n->x);
    memcpy(n->scores, h->scores[0], r->scores * sizeof *n->scores);
  }
  return csr_newton_look(n, false, error);
}

/* Constants of joint columns that all move by one number change no probability: of these, those
 * whose sum is 0, as L-BFGS from 0 finds them on dense rows. */
static void path_centre(double *constants, size_t c) {
  double mean = 0;
  for (size_t j = 0; j < c; j++)
    mean += constants[j] / (double)c;
  for (size_t j = 0; j < c; j++)
    constants[j] -= mean;
}

/* out[k] = n->x */
static void path_write(const csr_newton *n, scl_solution *out) {
  const risk *r = n->risk;
  const size_t numbers = r->problem->features * r->columns;
  memcpy(out->coefficients, n->x, numbers * sizeof *n->x);
  if (!r->intercept) return;
  memcpy(out->intercept, n->x + numbers, r->columns * sizeof *n->x);
  if (n->joint) path_centre(out->intercept, r->columns);
}

/* Each lambda from where the last ones lead. */
static scl_status path_follow(csr_newton *n, const csr_newton_task *task, const double *lambdas,
                              size_t count, double unit, scl_solution *const *out,
                              scl_error *error) {
  path_history h = {.kept = 0};
  scl_status status = count > 2 ? path_history_open(&h, task->risk, error) : SCL_STATUS_OK;
  for (size_t k = 0; k < count && status == SCL_STATUS_OK; k++) {
    n->follows = k > 0;
    path_take_lambda(n, task->risk, lambdas[k]);
    if (k > 1) status = path_predict(n, &h, error);
    /* Hinges: rows move in and out of the Hessian. No products: no step made the diagonal. */
    if (task->by_gap || n->products == 0) n->near = false;
    if (status == SCL_STATUS_OK) status = path_solve(n, task, unit, out[k], error);
    path_write(n, out[k]);
    if (count > 2) path_keep(&h, n);
  }
  return status;
}

/* Squares: all lambdas together, and then each to its goal. */
static scl_status path_shifted(csr_newton *n, const csr_newton_task *task, const double *lambdas,
                               size_t count, double unit, scl_solution *const *out,
                               scl_error *error) {
  risk *r = task->risk;
  const size_t numbers = r->problem->features * r->columns;
  size_t steps = 0;
  scl_status status = csr_shifted_path(n, r, lambdas, count, task->tolerance * unit / 2, task->most,
                                       out, &steps, error);
  for (size_t k = 0; k < count && status == SCL_STATUS_OK; k++) {
    r->lambda = lambdas[k];
    memcpy(n->x, out[k]->coefficients, numbers * sizeof *n->x);
    if (r->intercept) memcpy(n->x + numbers, out[k]->intercept, r->columns * sizeof *n->x);
    status = csr_newton_look(n, true, error);
    if (status == SCL_STATUS_OK) status = path_solve(n, task, unit, out[k], error);
    out[k]->iterations += steps;
    path_write(n, out[k]);
  }
  return status;
}

scl_status csr_newton_path(const csr_newton_task *task, const double *lambdas, size_t count,
                           scl_solution *const *out, scl_error *error) {
  enum { MOST_BYTES = 1 << 30 }; /* of the directions of all lambdas */
  risk *r = task->risk;
  csr_newton n = {.risk = r, .joint = task->joint};
  const bool square = r->choice->loss == LOSS_SQUARE, warm = r->problem->warm != 0 && count > 0;
  n.quadratic = square;
  scl_status status = csr_newton_open(&n, error);
  if (status == SCL_STATUS_OK && square && r->intercept) status = path_settle(&n, error);
  const double unit = n.norm;
  if (status == SCL_STATUS_OK && warm) {
    memcpy(n.x, out[0]->coefficients, r->problem->features * r->columns * sizeof *n.x);
    status = csr_newton_look(&n, true, error);
  }
  if (status != SCL_STATUS_OK) return status;
  const bool together = square && !warm && count > 1 && count <= CSR_SHIFTED_MOST &&
                        csr_shifted_bytes(r, count) <= MOST_BYTES;
  return together ? path_shifted(&n, task, lambdas, count, unit, out, error)
                  : path_follow(&n, task, lambdas, count, unit, out, error);
}

scl_status csr_least_squares(const scl_problem *problem, const double *lambdas, size_t count,
                             double tolerance, size_t most, scl_solution *const *out,
                             scl_error *error) {
  static const loss_choice square = {.loss = LOSS_SQUARE, .apart = true};
  risk r;
  double *descending;
  scl_solution **sorted;
  scl_status status = risk_open(&r, problem, &square, 0, error);
  const csr_newton_task task = {
      .risk = &r, .tolerance = csr_path_tolerance(problem, tolerance, count), .most = most};
  if (status == SCL_STATUS_OK)
    status = lambda_order(problem->host, lambdas, count, out, &descending, &sorted, error);
  if (status == SCL_STATUS_OK) status = csr_newton_path(&task, descending, count, sorted, error);
  for (size_t k = 0; k < count && status == SCL_STATUS_OK; k++) {
    out[k]->gap = NAN;
    if (out[k]->outcome == SCL_OUTCOME_LIMIT)
      (void)snprintf(
          out[k]->note, sizeof out[k]->note,
          "the residual is %.3g of the right-hand side, %.3g was wanted: give %sa larger "
          "lambda",
          out[k]->residual, task.tolerance,
          out[k]->iterations >= most ? "more max_iterations, or " : "");
  }
  return status;
}

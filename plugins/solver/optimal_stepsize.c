/* Optimal stepsize descent (Dube and Marchand 2023, algorithm 2). Step t = 1 .. T takes parameter
 * w_t and a minibatch,
 *
 *   alpha <- (1 - lambda) alpha + eta_t K(w_t, .),
 *   eta_t = argmin mean l(f(x), y) + (lambda/2) ||alpha||^2 over the minibatch
 *
 * with the shrink of their equation (44), which the box of the algorithm omits. eta_t is the root
 * of their equation (49),
 *
 *   mean l'((1 - lambda) f(x) + eta Phi_t(x), y) Phi_t(x)
 *     + lambda (1 - lambda) alpha(w_t) + lambda eta K(w_t, w_t) = 0,
 *
 * whose left side increases with eta. Several targets take a root each; where the loss joins them
 * (softmax), the roots are found in turn until none moves. */
#include "shared/early_stop.h"
#include "shared/functional_descent.h"
#include "shared/losses.h"

typedef struct optimal_stepsize {
  functional shared;
  double lambda;
} optimal_stepsize;

static const scl_option options[] = {
    SCL_NUMBER(optimal_stepsize, lambda, "1e-5",
               "regularisation of the mean loss; each step multiplies alpha by 1 - lambda",
               SCL_BETWEEN(0, 1), .role = SCL_ROLE_REGULARISATION),
    FUNCTIONAL_OPTIONS};

/* The minibatch of step t, its scores shrunk; row t of a holds eta. */
typedef struct choice {
  functional_descent *d;
  double lambda;
  size_t t;
  double *eta, *slopes; /* c: row t of a; scratch */
} choice;

/* The derivative along column j at eta_j. */
static double derivative(const choice *s, size_t j, double eta) {
  functional_descent *d = s->d;
  const size_t c = d->columns;
  double sum = s->lambda * ((1 - s->lambda) * d->at[j] + eta * d->between[s->t]);
  s->eta[j] = eta;
  d->loss = 0;
  for (size_t i = 0; i < d->self->batch; i++) {
    const double phi = d->newest[i];
    for (size_t k = 0; k < c; k++)
      s->slopes[k] = d->scores[i * c + k] + s->eta[k] * phi;
    d->loss += d->shares[i] * loss_row(&d->self->loss, c, s->slopes, d->targets + i * c, s->slopes);
    sum += d->shares[i] * s->slopes[j] * phi;
  }
  return sum;
}

/* The root along column j, by secants (the first is exact for squares) and halving; every third try
 * halves, so that secants which stay on one side cannot stall. Returns by how much eta_j moved,
 * over its size. The derivative rises by at least `strong` for each unit of eta, so that the root
 * lies between the start and start - first/strong. */
static double find_root(const choice *s, size_t j) {
  const double start = s->eta[j], first = derivative(s, j, start),
               strong = s->lambda * s->d->between[s->t];
  if (first == 0 || !(strong > 0)) return 0;
  double low = start, high = start - first / strong;
  double at_low = first, at_high = derivative(s, j, high);
  for (int tries = 0;
       tries < 200 && at_high != 0 && fabs(high - low) > 1e-14 * (fabs(low) + fabs(high));
       tries++) {
    const double secant = low - at_low * (high - low) / (at_high - at_low);
    const bool inside = (secant - low) * (secant - high) < 0;
    const double eta = tries % 3 == 2 || !inside ? low + (high - low) / 2 : secant,
                 here = derivative(s, j, eta);
    if (fabs(here) <= 1e-13 * fabs(first)) {
      high = eta;
      break;
    }
    if ((here < 0) == (first < 0)) {
      low = eta;
      at_low = here;
    } else {
      high = eta;
      at_high = here;
    }
  }
  s->eta[j] = high;
  return fabs(high - start) / (fabs(high) + fabs(start) + 1e-300);
}

/* Sets eta_t of all columns. Where the loss joins columns, the roots depend on each other and are
 * found in turn until none moves by more than 1e-9 of its size. */
static void choose_steps(const choice *s) {
  enum { ROUNDS = 100 };
  const size_t c = s->d->columns;
  const bool joined = c > 1 && loss_of(&s->d->self->loss)->joint != NULL;
  double moved = 1;
  for (int round = 0; moved > 1e-9 && round < (joined ? ROUNDS : 1); round++) {
    moved = 0;
    for (size_t j = 0; j < c; j++)
      moved = fmax(moved, find_root(s, j));
  }
}

/* Runs the steps: shrinks the scores of the minibatch, finds eta_t for each target, and updates
 * alpha. */
static scl_status descend_by_best_steps(functional_descent *d, double lambda, double *slopes,
                                        scl_error *error) {
  const size_t c = d->columns;
  size_t t = 0;
  const state kept = functional_state(d, &t);
  for (; t < d->steps && !d->stop; t++) {
    scl_status status = state_keep(d->problem, &kept, error);
    if (status == SCL_STATUS_OK) status = functional_step(d, t, t + 1, error);
    if (status != SCL_STATUS_OK) return status;
    for (size_t i = 0; i < d->self->batch * c; i++)
      d->scores[i] *= 1 - lambda;
    const choice s = {.d = d, .lambda = lambda, .t = t, .eta = d->a + t * c, .slopes = slopes};
    choose_steps(&s);
    functional_move(d, t, 1 - lambda);
    status = functional_judge(d, t, d->a, 1, error);
    if (status != SCL_STATUS_OK) return status;
  }
  return SCL_STATUS_OK;
}

static scl_status optimal_stepsize_solve(const void *instance, const scl_problem *problem,
                                         scl_solution *out, scl_error *error) {
  const optimal_stepsize *self = instance;
  const scl_host *host = problem->host;
  functional_descent d;
  memset(out->coefficients, 0, problem->features * problem->targets * sizeof *out->coefficients);
  if (!problem->has_kernel)
    return host->fail(error, SCL_STATUS_UNSUPPORTED,
                      "the weight function lies in the RKHS of K, and these features have no K: "
                      "give sc.instantiation a K");
  double *slopes = host->scratch((problem->targets + 1) * sizeof *slopes);
  if (slopes == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu targets",
                      problem->targets);
  scl_status status = functional_open(&d, &self->shared, problem, out->coefficients, error);
  if (status == SCL_STATUS_OK) status = descend_by_best_steps(&d, self->lambda, slopes, error);
  if (status == SCL_STATUS_OK)
    status = early_stop_settle(&d.early, out->coefficients, d.done, d.steps, out, error);
  out->outcome = SCL_OUTCOME_STOPPED;
  out->iterations = d.done;
  return status;
}

const scl_plugin scullery_plugin = {
    .name = "optimal_stepsize",
    .summary = "Greedy descent of a weight function, each step the best for its minibatch",
    .definition =
        /* The slope of the loss of one target. */
    "slope(f, y) = when(loss == \"square\", f - y, loss == \"logistic\", -y/(1 + exp(y*f)),\n"
    "  loss == \"exponential\", -y*exp(-y*f), loss == \"hinge\", when(y*f < 1, -y, 0),\n"
    "  loss == \"squared_hinge\", -y*max(0, 1 - y*f), max(-delta, min(delta, f - y)))\n"
    /* Coefficients of one target after steps each of which is the root of the derivative, of
         * rows that are all alike: whatever is drawn is one of them. */
    "descend(x, y, G, steps) = (function(a, f)\n"
    "  for t = 1, steps do\n"
    "    local at, phi, now = sum(a, function(v, k) return v*G[k][t] end), x[t], (1 - lambda)*f\n"
    "    local function rise(eta)\n"
    "      return slope(now + eta*phi, y)*phi + lambda*((1 - lambda)*at + eta*G[t][t])\n"
    "    end\n"
    "    local low, high = 0, -rise(0)/(lambda*G[t][t])\n"
    "    low, high = min(low, high), max(low, high)\n"
    "    for _ = 1, 200 do\n"
    "      local middle = low + (high - low)/2\n"
    "      if rise(middle) > 0 then high = middle else low = middle end\n"
    "    end\n"
    "    a = map(a, function(v) return (1 - lambda)*v end)\n"
    "    a[t], f = low, now + low*phi\n"
    "  end\n"
    "  return function(z) return sum(a, function(v, k) return v*z[k] end) end\n"
    "end)({}, 0)\n"
    /* The same where a softmax joins the classes: each root in turn, until none moves. */
    "joint(x, Y, G, steps) = (function(A, f)\n"
    "  for t = 1, steps do\n"
    "    local now = map(f, function(v) return (1 - lambda)*v end)\n"
    "    local eta = map(Y, function() return 0 end)\n"
    "    local function p(j)\n"
    "      local all = map(now, function(v, k) return v + eta[k]*x[t] end)\n"
    "      return 1/sum(all, function(v) return exp(v - all[j]) end)\n"
    "    end\n"
    "    local function rise(j, e)\n"
    "      local at = sum(A[j], function(v, k) return v*G[k][t] end)\n"
    "      eta[j] = e\n"
    "      return (p(j) - max(0, Y[j]))*x[t] + lambda*((1 - lambda)*at + e*G[t][t])\n"
    "    end\n"
    "    for _ = 1, 60 do\n"
    "      local moved = 0\n"
    "      for j = 1, #Y do\n"
    "        local before = eta[j]\n"
    "        local low, high = before, before - rise(j, before)/(lambda*G[t][t])\n"
    "        low, high = min(low, high), max(low, high)\n"
    "        for _ = 1, 60 do\n"
    "          local middle = low + (high - low)/2\n"
    "          if rise(j, middle) > 0 then high = middle else low = middle end\n"
    "        end\n"
    "        eta[j], moved = low, max(moved, abs(low - before)/(abs(low) + abs(before) + 1e-300))\n"
    "      end\n"
    "      if moved < 1e-9 then break end\n"
    "    end\n"
    "    A = map(A, function(a, j)\n"
    "      local made = map(a, function(v) return (1 - lambda)*v end)\n"
    "      made[t] = eta[j]\n"
    "      return made\n"
    "    end)\n"
    "    f = map(now, function(v, j) return v + eta[j]*x[t] end)\n"
    "  end\n"
    "  return map(A, function(a)\n"
    "    return function(z) return sum(a, function(v, k) return v*z[k] end) end\n"
    "  end)\n"
    "end)(map(Y, function() return {} end), map(Y, function() return 0 end))\n"
    /* Without rows held out: the scores of rows of features x. */
    "score(rows) = rows.gram and holdout == 0 and (function(Y, x, steps)\n"
    "  local made = rows.classes > 2 and loss == \"logistic\" and joint(x, Y, rows.gram, steps) "
    "or\n"
    "    map(Y, function(y) return descend(x, y, rows.gram, steps) end)\n"
    "  return function(x) return map(made, function(f) return f(x) end) end\n"
    "end)(type(rows[1].y) == \"number\" and { rows[1].y } or rows[1].y, rows[1].x,\n"
    "  iterations or #rows[1].x)",
    .doc =
        "alpha <- (1 - lambda) alpha + eta_t K(w_t, .), t = 1 .. T, where eta_t minimises\n"
        "mean l(f, y) + (lambda/2) ||alpha||^2 over a minibatch: algorithm 2 of Dube and Marchand\n"
        "(2023), with the shrink of their equation (44) that its box omits. eta_t is the root of\n"
        "their equation (49), found to rounding for any convex loss; the logistic loss of several\n"
        "classes is that of the softmax. A step costs O(t) per row. For features with K and one\n"
        "output per parameter; `iterations` is at most T. Small batches overfit theirs. It does "
        "the\n"
        "steps that it was asked for, or fewer with `holdout`, which keeps the best, and states "
        "no\n"
        "optimality.",
    SCL_SOLVER(.solve = optimal_stepsize_solve),
    SCL_INSTANCE(optimal_stepsize, options),
    SCL_ABILITIES(FUNCTIONAL_ABILITIES)};

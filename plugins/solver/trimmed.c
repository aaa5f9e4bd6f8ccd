/* Least trimmed squares with a ridge penalty: the rows that fit worst are left out.
 *
 *   min over a, b and 0 <= u_i <= w_i, sum u = W of
 *       (1/2W) sum_i u_i ||phi_i a + b - y_i||^2 + (lambda/2) ||a||^2
 *
 * Phi n x D, y n x c; w are the row weights and W = sum w (1 - floor(fraction n)/n). With weights
 * of 1, u marks the h = n - floor(fraction n) rows that are kept; else one row may be kept in part.
 * A row is judged by its residuals in all targets together.
 *
 * Concentration steps (Rousseeuw and Van Driessen 2006): fit u by ridge, give the weight to the
 * rows with the smallest residuals of that fit, and repeat, beginning with all rows. Each step
 * lowers the objective. Converged: no other u is better for the fit of u, a local minimum. With
 * more features than rows the fits are n x n systems (shared/weighted_dual.h), and a = Phi'C of the
 * last one's numbers. */
#include "shared/refined_solve.h"
#include "shared/robust.h"
#include "shared/solver_options.h"
#include "shared/weighted_dual.h"

#include <float.h>
#include <stdio.h>

typedef struct trimmed {
  scl_base base;
  double lambda, fraction;
  size_t max_iterations;
} trimmed;

static const scl_option options[] = {
    SOLVER_LAMBDA(trimmed, "1e-6", "regularisation of the mean loss over the kept rows",
                  SCL_NOT_NEGATIVE),
    SCL_NUMBER(trimmed, fraction, "0.1", "share of the rows to leave out",
               .range = SCL_RANGE_HIGH_OPEN, .low = 0, .high = 1),
    SOLVER_MAX_ITERATIONS(trimmed, "100", "fits at most"), SCL_OPTION_INTERCEPT};

/* Convergence threshold on the gain of a better u, relative to the mean square of the targets. */
static const double TOLERANCE = 1e-12;

/* One solve: targets and scores n x c, row weights w, those that are kept (u), and the rows in the
 * order of their residuals. */
typedef struct trimming {
  const trimmed *self;
  const scl_problem *problem;
  size_t dropped;            /* rows, as many as weights of 1 would leave out */
  double weight, kept, unit; /* sums of w and of u; mean square of the targets */
  double loss;               /* mean square of the kept residuals / 2 */
  double *targets, *scores, *weights, *kept_weights, *a, *b;
  ranked *order;
  weighted_dual dual;      /* dual.outer NULL: in the primal, */
  refined_system system;   /* for the current matrix */
  double *duals;           /* n x c */
  refined_account account; /* of the last fit */
} trimming;

/* Starts with all rows kept (u = w), and computes W, the sum of w, and the mean square of the
 * targets, by which gains are scaled (1 if all targets are 0). */
static void trimming_sums(trimming *t) {
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

/* floor(fraction n), of the fraction as it was written: 0.29 of 100 rows are 29, though the product
 * of the doubles is less. */
static size_t rows_dropped(double fraction, size_t n) {
  const double product = fraction * (double)n, whole = nearbyint(product);
  return (size_t)(fabs(product - whole) <= DBL_EPSILON * product ? whole : floor(product));
}

/* Prepares a solve: the dual where there are more features than rows, else the primal system;
 * then targets and weights. */
static scl_status open_trimming(trimming *t, const trimmed *self, const scl_problem *problem,
                                scl_error *error) {
  const size_t n = problem->rows, c = problem->targets;
  const scl_host *host = problem->host;
  *t = (trimming){.self = self,
                  .problem = problem,
                  .loss = NAN,
                  .dropped = rows_dropped(self->fraction, n),
                  .system = {.host = host, .order = problem->features, .columns = c}};
  scl_status status = weighted_dual_open(&t->dual, problem, c, error);
  if (status == SCL_STATUS_OK && t->dual.outer == NULL) status = refined_open(&t->system, error);
  if (status != SCL_STATUS_OK) return status;
  t->targets = host->scratch((3 * n * c + 2 * n + c + 1) * sizeof *t->targets);
  t->order = host->scratch(n * sizeof *t->order);
  if (t->targets == NULL || t->order == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY,
                      "not enough memory for the residuals of %zu rows", n);
  t->scores = t->targets + n * c;
  t->weights = t->scores + n * c;
  t->kept_weights = t->weights + n;
  t->duals = t->kept_weights + n;
  t->b = t->duals + n * c;
  status = problem->responses(problem, t->targets, t->weights, error);
  if (status == SCL_STATUS_OK) trimming_sums(t);
  return status;
}

/* scores = Phi a, and the constants of this a. */
static scl_status trimmed_scores(trimming *t, scl_error *error) {
  const scl_problem *problem = t->problem;
  const size_t n = problem->rows, c = problem->targets;
  const scl_status status = problem->product(problem, t->a, c, t->scores, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++) {
    double sum = 0, total = 0;
    for (size_t i = 0; i < n; i++) {
      total += t->kept_weights[i];
      sum += t->kept_weights[i] * (t->targets[i * c + j] - t->scores[i * c + j]);
    }
    t->b[j] = problem->intercept ? sum / total : 0;
  }
  return status;
}

/* The fit by the dual: b and the scores of all rows from the n x n system, without a pass over the
 * features. */
static scl_status fit_dual(trimming *t, scl_error *error) {
  const scl_problem *problem = t->problem;
  double total = 0;
  for (size_t i = 0; i < problem->rows; i++)
    total += t->kept_weights[i];
  const scl_status status =
      weighted_dual_solve(&t->dual, t->kept_weights, total * t->self->lambda, t->targets, NULL,
                          t->duals, t->b, &t->account, error);
  if (status != SCL_STATUS_OK) return status;
  return problem->host->symmetric->multiply(t->dual.outer, t->duals, problem->targets, t->scores,
                                            error);
}

/* Fits ridge on the kept rows, and computes the scores of all rows. */
static scl_status trimmed_fit(trimming *t, scl_error *error) {
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  t->account = (refined_account){.factored = t->account.factored};
  if (t->dual.outer != NULL) return fit_dual(t, error);
  scl_status status = t->problem->reweighted(t->problem, t->kept_weights, &normal, error);
  if (status != SCL_STATUS_OK) return status;
  t->system.base = normal.moment;
  t->system.weight = normal.total * t->self->lambda;
  status = refined_solve(&t->system, normal.right, t->a, &t->account, error);
  return status == SCL_STATUS_OK ? trimmed_scores(t, error) : status;
}

/* The rows in the order of their squared residuals. */
static void rank(trimming *t) {
  const size_t n = t->problem->rows, c = t->problem->targets;
  for (size_t i = 0; i < n; i++) {
    t->order[i] = (ranked){.value = 0, .row = i};
    for (size_t j = 0; j < c; j++) {
      const double r = t->scores[i * c + j] + t->b[j] - t->targets[i * c + j];
      t->order[i].value += r * r;
    }
  }
  ranked_sort(t->order, n);
}

/* Assigns the weight to the rows of the smallest residuals. Returns the decrease of the mean
 * square of the kept residuals, relative to that of the targets. */
static double concentrate(trimming *t) {
  const size_t n = t->problem->rows;
  const double grain = 1e-9 * t->weight / (double)n; /* less of a row than that is rounding */
  double left = t->kept, gain = 0, sum = 0, square = 0;
  rank(t);
  for (size_t k = 0; k < n; k++) {
    const size_t i = t->order[k].row;
    const double most = t->weights[i], weight = left >= most - grain ? most
                                                : left > grain       ? left
                                                                     : 0;
    gain += (t->kept_weights[i] - weight) * t->order[k].value;
    square += weight * t->order[k].value;
    sum += t->kept_weights[i];
    t->kept_weights[i] = weight;
    left -= weight;
  }
  gain /= t->kept * t->unit;
  t->loss = square / t->kept / 2;
  return sum > t->kept + grain ? 1 + gain : gain; /* the first fit had all rows */
}

/* Concentration steps until a better u would gain at most TOLERANCE. out->residual is that gain. */
static scl_status trimmed_iterate(trimming *t, scl_solution *out, scl_error *error) {
  const size_t most = t->self->max_iterations;
  t->a = out->coefficients;
  out->tolerance = TOLERANCE;
  out->residual = INFINITY;
  for (out->iterations = 0; out->residual > TOLERANCE && out->iterations < most;
       out->iterations++) {
    scl_status status = t->problem->progress(
        t->problem, "trimming", (double)out->iterations / (double)most, t->loss, error);
    if (status == SCL_STATUS_OK) status = trimmed_fit(t, error);
    if (status != SCL_STATUS_OK) return status;
    out->residual = fmax(concentrate(t), 0);
  }
  return SCL_STATUS_OK;
}

/* Computes a and b from the dual solution; overwrites the targets. */
static scl_status trimmed_recover(trimming *t, scl_error *error) {
  const scl_problem *problem = t->problem;
  const size_t n = problem->rows, c = problem->targets;
  scl_status status = weighted_dual_recover(&t->dual, t->duals, t->a, error);
  if (status == SCL_STATUS_OK) status = problem->product(problem, t->a, c, t->targets, error);
  for (size_t i = 0; status == SCL_STATUS_OK && problem->intercept && i < n * c; i++)
    t->b[i % c] += (t->scores[i] - t->targets[i]) / (double)n;
  return status;
}

/* Writes outcome and note; the note begins with the fit's deviation from the requested system,
 * if any. */
static void trimmed_tell(const trimming *t, scl_solution *out) {
  const bool settled = out->residual <= TOLERANCE;
  const double residual = out->residual;
  const refined_system *system = t->dual.outer != NULL ? &t->dual.system : &t->system;
  refined_tell(system, &t->account, t->kept * t->self->lambda, out);
  if (!settled) out->outcome = SCL_OUTCOME_LIMIT;
  out->residual = residual;
  out->tolerance = TOLERANCE;
  const size_t used = strlen(out->note);
  (void)snprintf(out->note + used, sizeof out->note - used, "%s%zu of %zu rows are left out%s",
                 used > 0 ? "; " : "", t->dropped, t->problem->rows,
                 settled ? "" : ", and which ones still changes: give more max_iterations");
}

static scl_status trimmed_solve(const void *self, const scl_problem *problem, scl_solution *out,
                                scl_error *error) {
  trimming t;
  scl_status status = open_trimming(&t, self, problem, error);
  if (status == SCL_STATUS_OK) status = trimmed_iterate(&t, out, error);
  if (status == SCL_STATUS_OK) trimmed_tell(&t, out);
  if (status == SCL_STATUS_OK && t.dual.outer != NULL) status = trimmed_recover(&t, error);
  if (status == SCL_STATUS_OK && problem->intercept)
    memcpy(out->intercept, t.b, problem->targets * sizeof *t.b);
  weighted_dual_close(&t.dual);
  refined_close(&t.system);
  return status;
}

const scl_plugin scullery_plugin = {
    .name = "trimmed",
    .summary = "Least trimmed squares: ridge on the rows that fit best",
    .definition =
        /* Targets of a row. */
    "list(y) = type(y) == \"number\" and { y } or y\n"
    /* The mean of f with weights u, by which rows and targets are centred; 0 without a constant, where
         * they are not. */
    "centre(rows, u, f) = intercept and sum(rows, function(r, i) return u[i]*f(r) end)/sum(u) or "
    "0\n"
    /* Ridge regression of target k on rows of weights u. */
    "fit(rows, u, k) = (function(y, m)\n"
    "  local function moment(f, g) return sum(rows, function(r, i) return u[i]*f(r)*g(r) end) end\n"
    "  local function of(j) return function(r) return r.x[j] - m[j] end end\n"
    "  local a = solve(map(m, function(_, i) return map(m, function(_, j)\n"
    "    return moment(of(i), of(j)) + (i == j and lambda*sum(u) or 0) end) end),\n"
    "    map(m, function(_, i) return moment(of(i), function(r) return list(r.y)[k] - y end) "
    "end))\n"
    "  return function(x) return y + sum(a, function(v, j) return v*(x[j] - m[j]) end) end\n"
    "end)(centre(rows, u, function(r) return list(r.y)[k] end), map(rows[1].x, function(_, j)\n"
    "  return centre(rows, u, function(r) return r.x[j] end) end))\n"
    /* Concentration: fit, and give the weight to the rows that fit best, until it gains nothing. */
    "score(rows) = (function(u, keep, f)\n"
    "  local unit = sum(rows, function(r) return r.w*dot(list(r.y), list(r.y)) end)/sum(u)\n"
    "  for _ = 1, max_iterations do\n"
    "    f = map(list(rows[1].y), function(_, k) return fit(rows, u, k) end)\n"
    "    local apart = map(rows, function(r)\n"
    "      return sum(f, function(h, k) return (h(r.x) - list(r.y)[k])^2 end)\n"
    "    end)\n"
    "    local left, gain, next, levels = keep, sum(u) > keep*(1 + 1e-9) and 1 or 0, {}, "
    "sorted(apart)\n"
    "    for i = 1, #levels do\n"
    "      for j = 1, levels[i] ~= levels[i - 1] and #rows or 0 do\n"
    "        if apart[j] == levels[i] then\n"
    "          next[j] = max(0, min(rows[j].w, left))\n"
    "          left = left - next[j]\n"
    "        end\n"
    "      end\n"
    "    end\n"
    "    for i = 1, #rows do gain = gain + (u[i] - next[i])*apart[i]/keep/unit end\n"
    "    u = next\n"
    "    if gain <= 1e-12 then break end\n"
    "  end\n"
    "  return function(x) return map(f, function(h) return h(x) end) end\n"
    "end)(map(rows, function(r) return r.w end),\n"
    "  sum(rows, function(r) return r.w end)*(1 - floor(fraction*#rows + 1e-9)/#rows))",
    .doc =
        "min over a, b and sets H of h = n - floor(fraction n) rows of\n"
        "(1/2h) sum_{i in H} ||phi_i a + b - y_i||^2 + (lambda/2) ||a||^2,\n"
        "by concentration steps (Rousseeuw and Van Driessen 2006) from all rows: fit H, keep the\n"
        "h rows with the smallest residuals, again. Converged: H is the h best rows of its own\n"
        "fit, a local minimum. With more features than rows, all of one weight, fits are n x n\n"
        "systems. info().note reports how many rows are left out. With row weights the\n"
        "share h/n of the weight is kept, of one row a part.",
    SCL_SOLVER(.solve = trimmed_solve),
    SCL_INSTANCE(trimmed, options),
    SCL_ABILITIES(SCL_OFFER_BARE(SCL_ABILITY_ORDERED_ROWS, scl_ability_ordered_rows))};

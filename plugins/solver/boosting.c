/* Gradient boosting of any solver (Friedman 2001, Greedy function approximation, algorithm 1):
 *
 *   F(x) = b + rate sum_m s_m h_m(x),   h_m fitted to r_i = -l'(F_{m-1}(x_i), y_i)
 *
 * with the row weights. b minimises sum_i w_i l(b, y_i). s_m is 1, or less where the mean loss
 * would rise again before s_m = 1: there it is least. With l = (f - y)^2/2 the r_i are residuals;
 * where h is a linear smoother S, those after M rounds are (I - rate S)^M (y - b) (Buhlmann and Yu
 * 2003, Boosting with the L2 loss). Each target, and each class against all others, has its own
 * F. */
#include "shared/models.h"
#include "shared/part_loss.h"

#include <stdio.h>

enum { MOST_ROUNDS = 1000000 };

typedef struct boosting {
  scl_base base;
  scl_part solver, loss;
  size_t rounds;
  double rate;
} boosting;

static const scl_option options[] = {
    SCL_ROW(boosting, solver, SCL_FORM_PARTS, "solver", "knn",
            "what each round fits, as sc.solver.knn{k = 20}", .range = 0),
    {.name = "loss",
     .help = "the loss, as sc.loss.quantile{tau = 0.9}",
     .words = "loss",
     .fallback = "square",
     .forms = SCL_FORM_PARTS,
     SCL_AT(boosting, loss)},
    SCL_INTEGER(boosting, rounds, "100", "number M of rounds", SCL_WITHIN(1, MOST_ROUNDS)),
    SCL_NUMBER(boosting, rate, "0.1", "factor of each round, above 0 and at most 1",
               .range = SCL_RANGE_LOW_OPEN, .low = 0, .high = 1),
    {.name = "intercept",
     .help = "solvers of coefficients fit an unpenalised constant in each round",
     .fallback = "true",
     .forms = SCL_FORM_BOOLEAN,
     .role = SCL_ROLE_INTERCEPT}};

typedef struct boosted {
  double *constant; /* c */
  double *steps;    /* s_m, rounds x c */
  size_t features, targets, rounds;
  void **parts; /* models of the solver */
} boosted;

static void end(const void *instance, void *model) {
  const boosting *self = instance;
  const scl_host *host = self->base.host;
  boosted *m = model;
  for (size_t k = 0; m->parts != NULL && k < m->rounds; k++)
    host->parts->destroy(&self->solver, m->parts[k]);
  host->release(m->parts);
  host->release(m->steps);
  host->release(m->constant);
  host->release(m);
}

/* Room for `rounds` models, none of which is there yet. */
static scl_status reserve_parts(const scl_host *host, boosted *m, size_t rounds, scl_error *error) {
  m->parts = host->allocate((rounds + 1) * sizeof *m->parts);
  if (m->steps == NULL) m->steps = host->allocate((rounds * m->targets + 1) * sizeof *m->steps);
  if (m->parts == NULL || m->steps == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rounds", rounds);
  return SCL_STATUS_OK;
}

/* ------------ fitting */

/* Numbers of the rows, n x c, and n weights. */
typedef struct fitting {
  const boosting *self;
  const scl_problem *problem;
  const scl_loss_service *losses;
  boosted *model;
  double *y, *f, *h, *trial, *slopes, *weights;
} fitting;

static scl_status open_fitting(fitting *fit, scl_error *error) {
  const scl_problem *problem = fit->problem;
  const scl_host *host = problem->host;
  const size_t numbers = problem->rows * problem->targets;
  scl_loss_facts facts = {.head = SCL_HEAD(scl_loss_facts)};
  fit->losses = host->service(SCL_SERVICE_LOSSES);
  if (fit->losses == NULL || !SCL_HAS(host, divide_rows) || !SCL_HAS(host->parts, destroy))
    return host->fail(error, SCL_STATUS_UNSUPPORTED, "this host has no parts that make models");
  fit->y = host->scratch((5 * numbers + problem->rows + 1) * sizeof *fit->y);
  if (fit->y == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", problem->rows);
  fit->f = fit->y + numbers;
  fit->h = fit->f + numbers;
  fit->trial = fit->h + numbers;
  fit->slopes = fit->trial + numbers;
  fit->weights = fit->slopes + numbers;
  scl_status status = problem->responses(problem, fit->y, fit->weights, error);
  if (status == SCL_STATUS_OK) status = fit->losses->facts(&fit->self->loss, &facts, error);
  if (status == SCL_STATUS_OK)
    status = part_loss_check(problem, &fit->self->loss, &facts, fit->y, fit->weights, error);
  return status;
}

/* For each target, the sum of w h l'(trial, y), the derivative along h; h NULL: 1. */
static scl_status sum_slopes(fitting *fit, const double *h, double *sums, scl_error *error) {
  const size_t n = fit->problem->rows, c = fit->problem->targets;
  const scl_status status =
      fit->losses->slope(&fit->self->loss, n * c, fit->trial, fit->y, fit->slopes, error);
  for (size_t i = 0; i < n * c; i++) {
    const double weight = fit->weights[i / c];
    fit->slopes[i] *= weight > 0 ? weight * (h == NULL ? 1 : h[i]) : 0;
  }
  return status == SCL_STATUS_OK ? fit->problem->total(fit->problem, fit->slopes, n, c, sums, error)
                                 : status;
}

/* b between low and high, by bisection of the sums of slopes, which rise in b: the upper end of the
 * values where they are 0, or the lower one. low, high and sums: c each. */
static scl_status bisect_constants(fitting *fit, bool upper, double *low, double *high,
                                   double *sums, double *b, scl_error *error) {
  enum { STEPS = 100 };
  const size_t n = fit->problem->rows, c = fit->problem->targets;
  for (int step = 0; step < STEPS; step++) {
    for (size_t j = 0; j < c; j++)
      b[j] = low[j] + (high[j] - low[j]) / 2;
    for (size_t i = 0; i < n * c; i++)
      fit->trial[i] = b[i % c];
    const scl_status status = sum_slopes(fit, NULL, sums, error);
    if (status != SCL_STATUS_OK) return status;
    for (size_t j = 0; j < c; j++)
      *(sums[j] > 0 || (!upper && sums[j] == 0) ? &high[j] : &low[j]) = b[j];
  }
  return SCL_STATUS_OK;
}

/* The constants b, the middle of those that are best. A loss that is least at infinity, as that of
 * one class alone, is cut off at REACH times the size of the targets. */
static scl_status find_constants(fitting *fit, scl_error *error) {
  enum { REACH = 50 };
  const size_t n = fit->problem->rows, c = fit->problem->targets;
  double *low = fit->problem->host->scratch(5 * c * sizeof *low), *b = fit->model->constant;
  if (low == NULL)
    return fit->problem->host->fail(error, SCL_STATUS_NO_MEMORY,
                                    "not enough memory for %zu targets", c);
  double *high = low + c, *sums = high + c, *reach = sums + c, *other = reach + c;
  for (size_t j = 0; j < c; j++) {
    reach[j] = 1;
    for (size_t i = 0; i < n; i++)
      reach[j] = fmax(reach[j], fabs(fit->y[i * c + j]));
    reach[j] *= REACH;
  }
  for (int upper = 0; upper < 2; upper++) {
    for (size_t j = 0; j < c; j++)
      low[j] = -reach[j], high[j] = reach[j];
    const scl_status status =
        bisect_constants(fit, upper, low, high, sums, upper ? other : b, error);
    if (status != SCL_STATUS_OK) return status;
  }
  for (size_t j = 0; j < c; j++)
    b[j] += (other[j] - b[j]) / 2;
  return SCL_STATUS_OK;
}

/* h of the rows of a part of a block. */
static scl_status score_part(void *context, const scl_rows *rows, void *state, scl_error *error) {
  const fitting *fit = context;
  const size_t c = fit->problem->targets;
  (void)state;
  return fit->problem->host->parts->decide(&fit->self->solver,
                                           fit->model->parts[fit->model->rounds], &rows->features,
                                           fit->h + rows->first * c, (ptrdiff_t)c, error);
}

static scl_status score_rows(void *context, const scl_rows *rows, scl_error *error) {
  const fitting *fit = context;
  const scl_division division = {
      .head = SCL_HEAD(scl_division), .targets = fit->problem->targets, .part = score_part};
  return fit->problem->host->divide_rows(rows, &division, context, error);
}

/* The steps s of the round, at most 1, by bisection of the derivatives of the loss along rate h;
 * then f += rate s h. */
static scl_status take_steps(fitting *fit, double *s, scl_error *error) {
  enum { BISECTIONS = 40 };
  const size_t n = fit->problem->rows, c = fit->problem->targets;
  double *low = fit->problem->host->allocate(3 * c * sizeof *low);
  scl_status status = SCL_STATUS_OK;
  if (low == NULL)
    return fit->problem->host->fail(error, SCL_STATUS_NO_MEMORY,
                                    "not enough memory for %zu targets", c);
  double *high = low + c, *sums = high + c;
  bool whole = true;
  for (size_t j = 0; j < c; j++)
    low[j] = 0, high[j] = s[j] = 1;
  for (int step = 0; step <= BISECTIONS && status == SCL_STATUS_OK; step++) {
    for (size_t i = 0; i < n * c; i++)
      fit->trial[i] = fit->f[i] + fit->self->rate * s[i % c] * fit->h[i];
    status = sum_slopes(fit, fit->h, sums, error);
    for (size_t j = 0; j < c; j++) {
      if (step == 0 && !(sums[j] > 0)) low[j] = 1; /* the whole step lowers the loss */
      whole = whole && low[j] >= 1;
      *(sums[j] > 0 ? &high[j] : &low[j]) = s[j];
      s[j] = low[j] + (high[j] - low[j]) / 2;
    }
    if (whole) break;
  }
  for (size_t i = 0; i < n * c; i++)
    fit->f[i] += fit->self->rate * s[i % c] * fit->h[i];
  fit->problem->host->release(low);
  return status;
}

/* One round. *loose counts the solutions that did not converge. */
static scl_status run_round(fitting *fit, size_t *loose, scl_error *error) {
  const scl_problem *problem = fit->problem;
  const size_t c = problem->targets, numbers = problem->rows * c;
  boosted *m = fit->model;
  scl_solution one = {.head = SCL_HEAD(scl_solution)};
  scl_status status =
      fit->losses->slope(&fit->self->loss, numbers, fit->f, fit->y, fit->slopes, error);
  for (size_t i = 0; i < numbers; i++)
    fit->slopes[i] = -fit->slopes[i];
  const scl_replaced residuals = {.head = SCL_HEAD(scl_replaced), .targets = fit->slopes};
  if (status == SCL_STATUS_OK)
    status = problem->host->parts->fit(&fit->self->solver, problem, &residuals, &one,
                                       &m->parts[m->rounds], error);
  if (status != SCL_STATUS_OK) return status;
  *loose += one.outcome == SCL_OUTCOME_LIMIT;
  status = problem->walk(problem, score_rows, fit, error);
  if (status == SCL_STATUS_OK) status = take_steps(fit, m->steps + m->rounds * c, error);
  m->rounds++; /* the model is there, and is destroyed with the others */
  return status;
}

static scl_status run_rounds(fitting *fit, scl_solution *out, scl_error *error) {
  const scl_problem *problem = fit->problem;
  const size_t n = problem->rows, c = problem->targets, rounds = fit->self->rounds;
  size_t loose = 0;
  for (size_t i = 0; i < n * c; i++)
    fit->f[i] = fit->model->constant[i % c];
  for (size_t m = 0; m < rounds; m++) {
    scl_status status =
        problem->progress(problem, "boosting", (double)m / (double)rounds, NAN, error);
    if (status == SCL_STATUS_OK) status = run_round(fit, &loose, error);
    if (status != SCL_STATUS_OK) return status;
  }
  out->iterations = rounds;
  out->outcome = SCL_OUTCOME_STOPPED;
  if (loose > 0)
    (void)snprintf(out->note, sizeof out->note, "solver.%s did not converge in %zu of %zu rounds",
                   fit->self->solver.plugin->name, loose, rounds);
  return SCL_STATUS_OK;
}

static scl_status fit(const void *instance, const scl_problem *problem, void **model,
                      scl_solution *out, scl_error *error) {
  const boosting *self = instance;
  const scl_host *host = self->base.host;
  boosted *m = models_new(host, sizeof *m, error);
  if (m == NULL) return SCL_STATUS_NO_MEMORY;
  fitting all = {.self = self, .problem = problem, .model = m};
  m->features = problem->features;
  m->targets = problem->targets;
  scl_status status = open_fitting(&all, error);
  m->constant = host->allocate(problem->targets * sizeof *m->constant);
  if (status == SCL_STATUS_OK && m->constant == NULL)
    status = host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for constants");
  if (status == SCL_STATUS_OK) status = reserve_parts(host, m, self->rounds, error);
  if (status == SCL_STATUS_OK) status = find_constants(&all, error);
  if (status == SCL_STATUS_OK) status = run_rounds(&all, out, error);
  if (status == SCL_STATUS_OK)
    *model = m;
  else
    end(self, m);
  return status;
}

/* ------------ scores */

static scl_status decide(const void *instance, const void *model, const scl_const_block *rows,
                         double *scores, ptrdiff_t stride, scl_error *error) {
  const boosting *self = instance;
  const scl_host *host = self->base.host;
  const boosted *m = model;
  const size_t c = m->targets;
  double *h = host->scratch((rows->rows * c + 1) * sizeof *h);
  if (h == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", rows->rows);
  for (size_t i = 0; i < rows->rows; i++)
    memcpy(scores + (ptrdiff_t)i * stride, m->constant, c * sizeof *scores);
  for (size_t k = 0; k < m->rounds; k++) {
    const scl_status status =
        host->parts->decide(&self->solver, m->parts[k], rows, h, (ptrdiff_t)c, error);
    if (status != SCL_STATUS_OK) return status;
    for (size_t i = 0; i < rows->rows; i++)
      for (size_t j = 0; j < c; j++)
        scores[(ptrdiff_t)i * stride + (ptrdiff_t)j] +=
            self->rate * m->steps[k * c + j] * h[i * c + j];
  }
  return SCL_STATUS_OK;
}

/* ------------ arrays: the constants, the steps of
 * each round, and those of round k with the prefix "round.k" */

enum { PREFIX = 32 };

static scl_status save(const void *instance, const void *model, scl_archive *archive,
                       scl_error *error) {
  const boosting *self = instance;
  const boosted *m = model;
  model_writer w = {archive, error, SCL_STATUS_OK};
  models_put(&w, "constant", SCL_DTYPE_FLOAT64, m->targets, 0, m->constant);
  models_put(&w, "steps", SCL_DTYPE_FLOAT64, m->rounds, m->targets, m->steps);
  for (size_t k = 0; w.status == SCL_STATUS_OK && k < m->rounds; k++) {
    char prefix[PREFIX];
    (void)snprintf(prefix, sizeof prefix, "round.%zu", k);
    w.status = self->base.host->parts->save(&self->solver, m->parts[k], archive, prefix, error);
  }
  return w.status;
}

static void get_model(const void *instance, model_reader *r, size_t features, size_t targets,
                      void *model) {
  const boosting *self = instance;
  boosted *m = model;
  size_t count = 0;
  m->features = features;
  m->targets = targets;
  m->constant = models_get(r, "constant", SCL_DTYPE_FLOAT64, &targets, 0);
  m->steps = models_get(r, "steps", SCL_DTYPE_FLOAT64, &count, targets);
  if (r->status == SCL_STATUS_OK) r->status = reserve_parts(r->host, m, count, r->error);
  for (; r->status == SCL_STATUS_OK && m->rounds < count; m->rounds++) {
    char prefix[PREFIX];
    (void)snprintf(prefix, sizeof prefix, "round.%zu", m->rounds);
    r->status = r->host->parts->load(&self->solver, r->archive, prefix, features, m->targets,
                                     &m->parts[m->rounds], r->error);
    if (r->status != SCL_STATUS_OK) return;
  }
}
MODELS_LOAD(boosted)

/* ------------ the plugin */

/* The solver's cost in each round, and a pass for its scores. */
static void cost(const void *instance, const scl_problem *problem, const double *values,
                 size_t count, int32_t weighted, scl_cost *out) {
  const boosting *self = instance;
  const double rounds = (double)self->rounds, n = (double)problem->rows,
               c = (double)problem->targets;
  const scl_ability_cost *part = self->base.host->parts->ability(&self->solver, SCL_ABILITY_COST);
  (void)values, (void)count;
  if (part != NULL) part->cost(self->solver.self, problem, NULL, 0, weighted, out);
  double *const times[] = {&out->normal,     &out->reweighted, &out->passes, &out->minibatch,
                           &out->factorised, &out->products,   &out->steps};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    *times[i] *= rounds;
  out->passes += rounds;
  out->steps += rounds * n * c * 10;
  out->bytes = out->bytes * rounds + 6 * n * c * sizeof(double);
}

PART_LOSS_ABILITY(boosting)

const scl_plugin scullery_plugin = {
    .name = "boosting",
    .summary = "gradient boosting of any solver, for any loss",
    .definition =
        /* The slope of the loss, by differences; NaN at a kink. */
    "slope(f, y) = (function(h)\n"
    "  local above, below = (loss.l(f + h, y) - loss.l(f, y))/h, (loss.l(f, y) - loss.l(f - h, "
    "y))/h\n"
    "  return abs(above - below) < 0.01 and (above + below)/2 or 0/0\n"
    "end)(1e-5)\n"
    /* Where an increasing f is 0; NaN where it is for a whole stretch, of which rounding chooses. */
    "root(f, low, high) = (function()\n"
    "  for _ = 1, 60 do\n"
    "    local middle = low + (high - low)/2\n"
    "    local here = f(middle)\n"
    "    if here ~= here or abs(here) < 1e-12 and high - low > 1e-6 then return 0/0 end\n"
    "    if here > 0 then high = middle else low = middle end\n"
    "  end\n"
    "  return low\n"
    "end)()\n"
    /* F of one target: its best constant, then rounds in which the solver fits the negative slopes, each
         * with the best step of at most 1. */
    "one(rows) = (function(made, reach)\n"
    "  local function slopes(f, along)\n"
    "    return sum(rows, function(r, i) return r.w*slope(f(i), r.y)*(along and along[i] or 1) "
    "end)\n"
    "  end\n"
    "  local function at(c) return slopes(function() return c end) end\n"
    "  local b = root(at, -reach, reach)\n"
    "  local f = map(rows, function() return b end)\n"
    "  for _ = 1, rounds do\n"
    "    local left = map(rows, function(r, i) return { x = r.x, w = r.w, y = -slope(f[i], r.y) } "
    "end)\n"
    "    local h = solver.score(left)\n"
    "    local along = map(rows, function(r) return h(r.x)[1] end)\n"
    "    local function moved(s) return function(i) return f[i] + rate*s*along[i] end end\n"
    "    local whole = slopes(moved(1), along)\n"
    "    local s = abs(whole) < 1e-12 and 0/0 or whole < 0 and 1\n"
    "      or root(function(s) return slopes(moved(s), along) end, 0, 1)\n"
    "    f = map(rows, function(_, i) return moved(s)(i) end)\n"
    "    made[#made + 1] = function(x) return rate*s*h(x)[1] end\n"
    "  end\n"
    "  local kink = slope(rows[1].y, rows[1].y)\n"
    "  return kink == kink and function(x) return b + sum(made, function(h) return h(x) end) end\n"
    "end)({}, 50*max(1, largest(rows, function(r) return abs(r.y) end)))\n"
    /* Each target by itself; a definition of the loss and few rounds are needed. */
    "score(rows) = rounds < 9 and loss.l and (function(made)\n"
    "  for j = 1, type(rows[1].y) == \"number\" and 1 or #rows[1].y do\n"
    "    made[j] = one(map(rows, function(r)\n"
    "      return { x = r.x, w = r.w, y = type(r.y) == \"number\" and r.y or r.y[j] }\n"
    "    end))\n"
    "    if not made[j] then return nil end\n"
    "  end\n"
    "  return function(x) return map(made, function(f) return f(x) end) end\n"
    "end)({})",
    .doc =
        "F(x) = b + rate sum_m s_m h_m(x): in each of the rounds the solver fits h_m, as a\n"
        "regression, to the negative slopes -l'(F, y) of the loss at the F so far (Friedman\n"
        "2001, Greedy function approximation); s_m is 1, or where the loss is least before.\n"
        "With loss.square these are the residuals (Buhlmann and Yu 2003, Boosting with the L2\n"
        "loss); loss.logistic and loss.exponential are for classes. Many rounds with a small\n"
        "rate fit more closely: rounds is the regularisation, for p:search or p:cv. The solver\n"
        "sees rows as they are: with columns far from 0, begin with sc.standardize(). Solvers\n"
        "that need `dual`, draw rows or hold some out cannot be boosted. A saved model holds that\n"
        "of each round.",
    SCL_SOLVER(.solve = NULL),
    SCL_INSTANCE(boosting, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_MODEL, scl_ability_model, .fit = fit, .decide = decide,
                            .save = save, .load = load, .destroy = end),
                  PART_LOSS_OFFER, SCL_OFFER(SCL_ABILITY_COST, scl_ability_cost, .cost = cost))};

-- A solver that solves by another one, with other row weights: bagging, in which row i counts
-- (7 i + 3 b) mod 4 times in round b.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local source = [[
#include <scullery/plugin.h>

typedef struct bagging {
  scl_base base;
  scl_part solver;
  size_t rounds;
  bool intercept, plain;
} bagging;

static const scl_option options[] = {
    SCL_ROW(bagging, solver, SCL_FORM_PARTS, "solver", "ridge", "solves each round", .range = 0),
    SCL_INTEGER(bagging, rounds, "3", "how many solutions are averaged", SCL_WITHIN(1, 1000)),
    SCL_BOOLEAN(bagging, plain, "false", "solve once, with the weights of the rows"),
    SCL_BOOLEAN(bagging, intercept, "true", "fit a constant", .role = SCL_ROLE_INTERCEPT)};

static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const bagging *self = instance;
  const scl_host *host = self->base.host;
  const size_t n = problem->rows, c = problem->targets, count = problem->features * c;
  double *own = host->scratch((2 * n + count + c) * sizeof *own), *w = own + n;
  if (own == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for %zu rows", n);
  scl_solution one = {.head = SCL_HEAD(scl_solution), .coefficients = w + n};
  if (out->intercept != NULL) one.intercept = w + n + count;
  scl_status status = problem->responses(problem, NULL, own, error);
  const size_t rounds = self->plain ? 1 : self->rounds;
  for (size_t k = 0; k < count; k++) out->coefficients[k] = 0;
  for (size_t j = 0; out->intercept != NULL && j < c; j++) out->intercept[j] = 0;
  for (size_t b = 0; status == SCL_STATUS_OK && b < rounds; b++) {
    for (size_t i = 0; i < n; i++) w[i] = own[i] * (double)((7 * i + 3 * b) % 4);
    status = host->parts->solve(&self->solver, problem, self->plain ? NULL : w, &one, error);
    if (status != SCL_STATUS_OK) return status;
    for (size_t k = 0; k < count; k++) out->coefficients[k] += one.coefficients[k] / (double)rounds;
    for (size_t j = 0; out->intercept != NULL && j < c; j++)
      out->intercept[j] += one.intercept[j] / (double)rounds;
  }
  out->outcome = SCL_OUTCOME_STOPPED;
  return status;
}

const scl_plugin scullery_plugin = {
    .name = "bagging_of_rows", .summary = "the mean of solutions with other row weights",
    .doc = "The mean over rounds of the solutions of a solver.",
    SCL_SOLVER(.solve = solve), SCL_INSTANCE(bagging, options)};
]]

support.in_folder(function(folder)
  support.write(folder .. "/bagging_of_rows.c", source)
  sc.plugin.compile{ file = folder .. "/bagging_of_rows.c" }
end)

local n = 90
local X = sc.randn{ n, 2, seed = 1 }
local values = X:column(1) * 2 + sc.randn{ n, 1, seed = 2 } + 1
local labels = values:map(function(v) return v > 1 and 1 or -1 end)
local own = sc.rand{ n, 1, seed = 3 } + 0.5

local function data(y, weights)
  return sc.dataset{ X = X, y = y, weights = weights,
    task = rawequal(y, labels) and "classification" or "regression" }
end

local function decide(solver, ds)
  local features = sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.tanh(), T = 6, seed = 1 }
  return sc.pipeline{ features, solver }:fit(ds):decision(X)
end

-- The mean of fits to data with these weights, against the plugin.
local function check(solver, y, weights, intercept, tolerance)
  local mean = 0
  for b = 0, 2 do
    local w = sc.zeros(n, 1)
    for i = 1, n do
      w:set(i, 1, (7 * (i - 1) + 3 * b) % 4 * (weights and weights:get(i, 1) or 1))
    end
    mean = decide(solver, data(y, w)) / 3 + mean
  end
  local made = decide(sc.solver.bagging_of_rows{ solver = solver, intercept = intercept },
    data(y, weights))
  lu.assertTrue((made - mean):abs():max() < tolerance * (1 + mean:abs():max()))
end

function TestRidge()
  for _, intercept in ipairs{ true, false } do
    local ridge = sc.solver.ridge{ lambda = 1e-2, intercept = intercept }
    check(ridge, values, nil, intercept, 1e-9)
    check(ridge, values, own, intercept, 1e-9)
    check(ridge, labels, own, intercept, 1e-9)
  end
end

function TestSolversThatPassOverRows()
  check(sc.solver.logistic{ lambda = 1e-2, intercept = true, tolerance = 1e-9 }, labels, own, true,
    1e-5)
  check(sc.solver.huber{ lambda = 1e-2, intercept = true, tolerance = 1e-9 }, values, nil, true,
    1e-5)
end

function TestWithTheWeightsOfTheProblem()
  local ridge = sc.solver.ridge{ lambda = 1e-2, intercept = true }
  local made = decide(sc.solver.bagging_of_rows{ solver = ridge, plain = true }, data(values, own))
  lu.assertTrue((made - decide(ridge, data(values, own))):abs():max() < 1e-9)
end

function TestWhatCannotBeReweightedIsASentence()
  support.fails({ "cannot be given other row weights" }, decide, sc.solver.bagging_of_rows{
    solver = sc.solver.logistic{ method = "sgd", batch = 9, lambda = 0.1 } },
    data(labels))
  support.fails({ "solver.knn makes a model, not coefficients" }, decide,
    sc.solver.bagging_of_rows{ solver = sc.solver.knn() }, data(labels))
end

os.exit(lu.LuaUnit.run(), true)

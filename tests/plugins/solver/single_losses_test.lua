-- The solvers of one loss (quantile, lad, poisson, gamma_regression, tweedie): sc.solver.erm with
-- that loss, to the bit; optimal by an objective of their own; several quantiles in order.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
package.path = (os.getenv "SCULLERY_SOURCE" or ".") .. "/tests/helpers/?.lua;" .. package.path
local predictors, support = require "predictors", require "support"
local fails, path = support.fails, support.memory_path()

local n = 300
local X = sc.rand{ n, 2, seed = 1 } * 2 - 1
local noise = sc.randn{ n, 1, seed = 2 } * 0.3
local y = X:column(1) * 2 + noise:mul(X:column(2):map(math.exp))
local sizes = y:map(math.exp)
local amounts = sizes:map(function(v) return v < 0.7 and 0 or v end)
local counts = sizes:map(math.floor)

local function fit(solver, targets)
  return sc.pipeline{ solver }:fit(sc.dataset{ X = X, y = targets, task = "regression" })
end

local function with(options, more)
  local all = {}
  for _, list in ipairs{ options, more } do
    for key, value in pairs(list) do all[key] = value end
  end
  return all
end

function TestTheyAreErmWithThatLoss()
  for _, o in ipairs{ { lambda = 1e-2 }, { lambda = 1e-2, penalty = "l1" },
    { lambda = 1e-3, method = "lbfgs" } } do
    for _, case in ipairs{
      { sc.solver.quantile(with(o, { tau = 0.8 })), sc.loss.quantile{ tau = 0.8 }, y },
      { sc.solver.poisson(o), sc.loss.poisson{}, counts },
      { sc.solver.gamma_regression(o), sc.loss.gamma{}, sizes },
      { sc.solver.tweedie(with(o, { power = 1.3 })), sc.loss.tweedie{ power = 1.3 }, amounts },
    } do
      local solver, loss, targets = table.unpack(case)
      local one, other = fit(solver, targets), fit(sc.solver.erm(with(o, { loss = loss })), targets)
      lu.assertTrue(one:weights() == other:weights(), tostring(solver))
      lu.assertEquals(one:info().gap, other:info().gap)
      lu.assertEquals(one:info().status, "converged")
      lu.assertTrue(one:predict(X) == other:predict(X))
    end
  end
end

-- The mean loss and the penalty by formulas of this file.
local function objective(m, lambda, targets, loss)
  local scores, a, sum = m:decision(X), m:weights(), 0
  for i = 1, n do sum = sum + loss(scores:get(i, 1), targets:get(i, 1)) end
  return sum / n + lambda / 2 * a:dot(a)
end

function TestNoNeighbourIsBetter()
  local lambda = 1e-2
  local function deviance(p)
    return function(f, v)
      if p == 1 then return math.exp(f) - v * f end
      if p == 2 then return v * math.exp(-f) + f end
      return v * math.exp(-(p - 1) * f) / (p - 1) + math.exp((2 - p) * f) / (2 - p)
    end
  end
  local function absolute(f, v) return math.abs(v - f) end
  for _, case in ipairs{
    { sc.solver.lad{ lambda = lambda, tolerance = 1e-7 }, absolute, y },
    { sc.solver.poisson{ lambda = lambda, tolerance = 1e-7 }, deviance(1), counts },
    { sc.solver.gamma_regression{ lambda = lambda, tolerance = 1e-7 }, deviance(2), sizes },
    { sc.solver.tweedie{ lambda = lambda, tolerance = 1e-7 }, deviance(1.5), amounts },
  } do
    local solver, loss, targets = table.unpack(case)
    local m = fit(solver, targets)
    local least, f = objective(m, lambda, targets, loss), m.fitted
    for j = 1, 2 do
      for _, step in ipairs{ -0.02, 0.02 } do
        local moved = f.weights:copy()
        moved:set(j, 1, moved:get(j, 1) + step)
        m.fitted = f:changed{ weights = moved }
        lu.assertTrue(objective(m, lambda, targets, loss) > least - 1e-9, tostring(solver))
      end
    end
    m.fitted = f
  end
end

-- Kinds of the Tweedie loss at its ends.
function TestPowersOneAndTwo()
  local o = { lambda = 1e-3 }
  for power, other in ipairs{ sc.solver.poisson(o), sc.solver.gamma_regression(o) } do
    local one = fit(sc.solver.tweedie(with(o, { power = power })), sizes)
    lu.assertTrue(one:weights() == fit(other, sizes):weights())
  end
  local p = fit(sc.solver.tweedie(o), amounts)
  lu.assertTrue((p:predict(X) - p:decision(X):map(math.exp)):map(math.abs):max() < 1e-12)
end

-- ------------ several quantiles

local tau = { 0.9, 0.1, 0.5 }
local wide = sc.features{ p = sc.sampler.gaussian{ gamma = 4 }, T = 150, seed = 3,
  phi = sc.nonlinearity.fourier{ form = "pair" } }

local function quantiles(list, more)
  return sc.pipeline{ wide, sc.solver.quantile(with({ tau = list, lambda = 1e-5 }, more or {})) }
end

-- The scores of each tau are those of its own fit; predictions are the scores of a row in the order
-- of tau, and sorted scores are no farther from the true quantiles.
function TestSeveralQuantiles()
  local p = quantiles(tau):fit(X, y)
  local scores, said = p:decision(X), p:predict(X)
  for j, one in ipairs(tau) do
    lu.assertTrue(scores:column(j) == quantiles(one):fit(X, y):decision(X))
  end
  local crossed = 0
  for i = 1, n do
    local list = { scores:get(i, 1), scores:get(i, 2), scores:get(i, 3) }
    if not (list[2] <= list[3] and list[3] <= list[1]) then crossed = crossed + 1 end
    table.sort(list)
    lu.assertEquals({ said:get(i, 2), said:get(i, 3), said:get(i, 1) }, list)
  end
  lu.assertTrue(crossed > 0, "no quantiles of this case cross: choose another")
  p:save(path)
  local loaded <close> = predictors.load(path)
  lu.assertTrue(sc.load(path):predict(X) == said)
  lu.assertTrue(predictors.run(loaded, "predict", X) == said)
  lu.assertAlmostEquals(sc.load(path):error(X, y), p:error(X, y), 1e-12)
end

-- The share of new rows below each quantile, within four binomial standard errors and the error of
-- the fit.
function TestCoverage()
  local p = sc.pipeline{ sc.solver.quantile{ tau = tau, lambda = 1e-6 } }
  local A = sc.rand{ 3000, 2, seed = 7 } * 2 - 1
  local b = A:column(1) * 2 + sc.randn{ 3000, 1, seed = 8 } * 0.3
  local new = sc.rand{ 3000, 2, seed = 9 } * 2 - 1
  local truth = new:column(1) * 2 + sc.randn{ 3000, 1, seed = 10 } * 0.3
  local said = p:fit(A, b):predict(new)
  for j, one in ipairs(tau) do
    local below = 0
    for i = 1, 3000 do if truth:get(i, 1) <= said:get(i, j) then below = below + 1 end end
    lu.assertTrue(math.abs(below / 3000 - one) < 4 * math.sqrt(2 * one * (1 - one) / 3000), below)
  end
end

function TestFoldsTargetsAndForms()
  local ds = sc.dataset{ X = X, y = y, task = "regression" }
  local found = quantiles(tau, { lambda = sc.choose{ 1e-4, 1e-2 } }):search(ds, { folds = 3 })
  lu.assertEquals(found:predict(X):cols(), 3)
  local again = quantiles(tau, { lambda = found.choice["solver.lambda"] }):fit(ds)
  lu.assertTrue((found:predict(X) - again:predict(X)):map(math.abs):max() < 1e-2)
  -- of two targets those of the first come first
  local both = sc.dataset{ X = X, y = core.hcat(y, y * 10), task = "regression" }
  local p = sc.pipeline{ sc.solver.quantile{ tau = { 0.2, 0.8 }, lambda = 0 } }:fit(both)
  local said = p:predict(X)
  lu.assertEquals(said:cols(), 4)
  for k = 1, 2 do
    local apart = (said:column(k + 2) - said:column(k) * 10):map(math.abs):max()
    lu.assertTrue(apart < 0.3, apart)
  end
  local formed = sc.pipeline{ sc.solver.quantile{ tau = tau, lambda = 1e-6 },
    target = "standardize" }:fit(X, y)
  local plain = sc.pipeline{ sc.solver.quantile{ tau = tau, lambda = 1e-6 } }:fit(X, y)
  lu.assertTrue((formed:predict(X) - plain:predict(X)):map(math.abs):max() < 0.05)
end

-- Lists of one length are searched, others are not comparable.
function TestSearchedLists()
  local ds = sc.dataset{ X = X, y = y, task = "regression" }
  local function searched(...)
    return sc.pipeline{ sc.choose{ ... } }:search(ds, { folds = 2 })
  end
  local solver = sc.solver.quantile
  local pairs_of_tau = sc.choose{ { 0.1, 0.9 }, { 0.2, 0.8 } }
  local lists = sc.pipeline{ solver{ tau = pairs_of_tau, lambda = 1e-2 } }
  lu.assertStrContains(tostring(lists:search(ds, { folds = 2 }).table), "{0.2, 0.8}")
  local one, two = solver{ tau = 0.5, lambda = 1 }, solver{ tau = { 0.1, 0.9 }, lambda = 1 }
  fails({ "one choice predicts 1 value of each target and another 2" }, searched, one, two)
  fails({ "one choice predicts 2 values of each target and another 1" }, searched, two, one)
end

function TestRefusals()
  for _, bad in ipairs{ 0, 1, -1, { 0.1, 1.2 }, "x" } do
    fails({ "option 'tau'", "above 0 and below 1" }, sc.solver.quantile, { tau = bad })
  end
  fails({ "option 'tau' is an empty list" }, sc.solver.quantile, { tau = {} })
  fails({ "a number from 1 to 2" }, sc.solver.tweedie, { power = 3 })
  for _, name in ipairs{ "poisson", "gamma_regression", "tweedie" } do
    for _, method in ipairs{ "dual", "sgd" } do
      fails({ "option 'method'", method }, sc.solver[name], { method = method })
    end
  end
  fails({ "loss.poisson takes targets from 0, and row" }, fit, sc.solver.poisson{}, y)
  fails({ "loss.gamma takes targets above 0, and row" }, fit,
    sc.solver.gamma_regression{ lambda = 1 }, amounts)
  fails({ "takes numbers, and the targets are classes" }, function()
    sc.pipeline{ sc.solver.quantile{ tau = tau, lambda = 1 } }:fit(sc.dataset{ X = X,
      y = y:map(function(v) return v > 0 and 1 or 0 end), task = "classification" })
  end)
end

local status = lu.LuaUnit.run()
os.remove(path)
os.exit(status)

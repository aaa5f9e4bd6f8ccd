-- sc.solver.erm with every loss: against the solvers of single losses, against minimisation without
-- derivatives, and its duality gap; targets, classes, weights, number types, processes, saving.
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local stepwise = require "stepwise"
local support = require "support"

local x4, numbers, labels, heavy = stepwise.x4, stepwise.numbers, stepwise.labels, stepwise.heavy
local counts, sizes = stepwise.counts, stepwise.sizes
local data_of, fit = stepwise.data_of, stepwise.fit

-- l(f, y) of each loss, written down again.
local formulas = {
  square = function(f, y) return (f - y) ^ 2 / 2 end,
  hinge = function(f, y) return math.max(0, 1 - y * f) end,
  squared_hinge = function(f, y) return math.max(0, 1 - y * f) ^ 2 / 2 end,
  logistic = function(f, y) return math.log(1 + math.exp(-y * f)) end,
  exponential = function(f, y) return math.exp(-y * f) end,
  huber = function(f, y)
    local r = math.abs(f - y)
    return r <= 0.7 and r * r / 2 or 0.7 * r - 0.245
  end,
  quantile = function(f, y) return math.max(0.3 * (y - f), -0.7 * (y - f)) end,
  poisson = function(f, y)
    return math.exp(f) - y * f + (y > 0 and y * math.log(y) - y or 0)
  end,
  gamma = function(f, y) return y * math.exp(-f) + f - 1 - math.log(y) end,
}
local given = { huber = { delta = 0.7 }, quantile = { tau = 0.3 } }
local targets = { hinge = labels, squared_hinge = labels, logistic = labels, exponential = labels,
  poisson = counts, gamma = sizes }

local function loss_of(name) return sc.loss[name](given[name] or {}) end
local function data_for(name)
  local y = targets[name] or numbers
  return data_of(y, y == labels and "classification" or "regression", heavy), y
end

local weights_of, farthest = stepwise.weights_of, stepwise.farthest

-- The objective at a (and b behind it): penalty(a_j) for each coefficient.
local function objective(name, y, a, penalty)
  local sum, total = 0, 0
  for i = 1, 60 do
    local f = a[5] or 0
    for j = 1, 4 do f = f + x4:get(i, j) * a[j] end
    sum, total = sum + heavy[i] * formulas[name](f, y[i]), total + heavy[i]
  end
  sum = sum / total
  for j = 1, 4 do sum = sum + penalty(a[j]) end
  return sum
end

-- The least objective that steps in random directions find: longer after a success, shorter after a
-- failure.
local function brute_force(name, y, count, penalty)
  local a, step = {}, 1
  for j = 1, count do a[j] = 0 end
  local value, random = objective(name, y, a, penalty), sc.randn{ 4000, count, seed = 3 }
  for k = 1, 4000 do
    local other = {}
    for j = 1, count do other[j] = a[j] + step * random:get(k, j) end
    local here = objective(name, y, other, penalty)
    if here < value then a, value, step = other, here, step * 1.8 else step = step * 0.87 end
    step = math.max(step, 1e-7)
  end
  return value
end

-- ------------ against other solvers

function TestTheSolversOfSingleLosses()
  for _, lambda in ipairs{ 1e-3, 0.1 } do
    for _, intercept in ipairs{ false, true } do
      local o = { lambda = lambda, intercept = intercept }
      local function with(more)
        local all = {}
        for key, value in pairs(o) do all[key] = value end
        for key, value in pairs(more) do all[key] = value end
        return all
      end
      local single = {
        square = sc.solver.ridge(o),
        logistic = sc.solver.logistic(with{ tolerance = 1e-10 }),
        huber = sc.solver.huber(with{ delta = 0.7, scale = "none", tolerance = 1e-10 }),
        hinge = sc.solver.hinge(with{ tolerance = 1e-11 }),
      }
      for name, solver in pairs(single) do
        local ds = data_for(name)
        local want = weights_of(fit(solver, ds), intercept)
        for _, method in ipairs{ "newton", "lbfgs" } do
          local m = fit(sc.solver.erm(with{ loss = loss_of(name), method = method,
            tolerance = name == "hinge" and 1e-8 or 1e-9 }), ds)
          lu.assertEquals(m:info().status, "converged")
          lu.assertTrue(farthest(weights_of(m, intercept), want) < (name == "hinge" and 1e-4
            or 1e-7), name .. " by " .. method)
        end
      end
    end
  end
end

function TestTheLassoAndTheElasticNet()
  for _, ratio in ipairs{ 1, 0.4 } do
    local ds = data_of(numbers, "regression", heavy)
    local want = weights_of(fit(sc.solver.lasso{ lambda = 0.3, l1_ratio = ratio,
      tolerance = 1e-12 }, ds), true)
    local m = fit(sc.solver.erm{ lambda = 0.3, penalty = ratio == 1 and "l1" or "elastic",
      l1_ratio = ratio, tolerance = 1e-10 }, ds)
    lu.assertEquals(m:info().status, "converged")
    lu.assertTrue(farthest(weights_of(m, true), want) < 1e-7)
    lu.assertTrue(m:info().gap >= 0 and m:info().gap < 1e-6)
  end
end

-- ------------ against brute force

local function each_loss(run)
  for name in pairs(formulas) do
    for _, intercept in ipairs{ false, true } do run(name, intercept) end
  end
end

-- No point that the search finds is better; the search comes near; and the gap is a bound.
local function expect_least(name, m, intercept, penalty)
  local _, y = data_for(name)
  local found = objective(name, y, weights_of(m, intercept), penalty)
  local least = brute_force(name, y, intercept and 5 or 4, penalty)
  lu.assertEquals(m:info().status, "converged", name)
  lu.assertTrue(found <= least + 1e-7 * (1 + least), ("%s: %.12g, and %.12g by search"):format(name,
    found, least))
  lu.assertTrue(least - found < 1e-2 * (1 + least), name)
  lu.assertTrue(m:info().gap >= 0 and m:info().gap < 1e-4, name)
end

function TestEveryLossIsMinimised()
  local function ridge(a) return 0.05 / 2 * a * a end
  each_loss(function(name, intercept)
    local m = fit(sc.solver.erm{ loss = loss_of(name), lambda = 0.05, intercept = intercept,
      tolerance = 1e-6 },
      (data_for(name)))
    expect_least(name, m, intercept, ridge)
  end)
end

function TestEveryLossIsMinimisedWithL1()
  local function lasso(a) return 0.05 * math.abs(a) end
  each_loss(function(name, intercept)
    if not intercept then return end
    local m = fit(sc.solver.erm{ loss = loss_of(name), lambda = 0.05, penalty = "l1",
      tolerance = 1e-6 },
      (data_for(name)))
    expect_least(name, m, true, lasso)
  end)
end

-- With passes exhausted at a small lambda the objective is still below that of a = 0.
function TestFewPassesOfDualCoordinates()
  for seed = 1, 4 do
    local rows = sc.randn{ 60, 5, seed = seed }
    local names = {}
    for i = 1, 60 do names[i] = rows:get(i, 1) + rows:get(i, 2) > 1 and "a" or "b" end
    local ds = sc.dataset{ X = rows, y = names }
    local p = sc.pipeline{ sc.solver.erm{ loss = sc.loss.logistic(), method = "dual",
      max_iterations = 2, lambda = 1e-6 } }:fit(ds)
    local f, mean = p:decision(rows), 0
    for i = 1, 60 do
      local mark = names[i] == p.classes[2] and 1 or -1
      mean = mean + math.log(1 + math.exp(-mark * f:get(i, 1))) / 60
    end
    lu.assertTrue(mean < math.log(2))
  end
end

-- Dual coordinates end where Newton's method does, to their gap; stochastic steps near it.
function TestDualCoordinatesAndStochasticSteps()
  for _, name in ipairs{ "logistic", "poisson", "gamma", "hinge", "quantile", "exponential" } do
    for _, intercept in ipairs{ false, true } do
      local ds, y = data_for(name)
      local function at(method, more)
        local asked = { loss = loss_of(name), lambda = 0.2, method = method, intercept = intercept,
          tolerance = 1e-7 }
        for key, value in pairs(more or {}) do asked[key] = value end
        local m = fit(sc.solver.erm(asked), ds)
        return objective(name, y, weights_of(m, intercept), function(a) return 0.1 * a * a end),
          m:info()
      end
      local best, zero = at "newton", objective(name, y, { 0, 0, 0, 0 }, function() return 0 end)
      local dual, info = at "dual"
      lu.assertEquals(info.status, "converged", name)
      lu.assertTrue(info.gap <= 1e-7 and dual - best <= 2e-7 * zero, name)
      local drawn, told = at("sgd", { epochs = 400, seed = 3 })
      lu.assertEquals(told.status, "stopped", name)
      lu.assertTrue(drawn - best <= told.gap * zero and drawn - best < 0.02 * zero, name)
    end
  end
end

-- Several classes share the draws; sparse rows give what the same rows give with their zeros.
function TestDualCoordinatesAndStochasticStepsOnOtherRows()
  local X, y = x4:map(function(v) return v > 0.3 and v or 0 end), {}
  for i = 1, 60 do y[i] = "c" .. (labels[i] > 0 and 1 or 2 + i % 2) end
  for _, method in ipairs{ "dual", "sgd" } do
    local function weights(rows, solver)
      return fit(solver, sc.dataset{ X = rows, y = y, task = "classification" }):weights()
    end
    local solver = sc.solver.erm{ loss = loss_of "hinge", lambda = 0.2, method = method }
    local dense = weights(X, solver)
    lu.assertEquals(dense:cols(), 3)
    lu.assertTrue((weights(sc.matrix.csr(X), solver) - dense):norm() < 1e-9 * dense:norm())
  end
  lu.assertErrorMsgContains("needs lambda above 0", sc.solver.erm, { method = "dual", lambda = 0 })
end

-- The penalty counts for rows without weight as for the others.
function TestStochasticStepsWithoutWeights()
  local some = {}
  for i = 1, 60 do some[i] = i % 3 == 0 and 1 or 0 end
  local ds = data_of(labels, "classification", some)
  local function at(method)
    return weights_of(fit(sc.solver.erm{ loss = loss_of "logistic", lambda = 0.2, method = method,
      epochs = 300 }, ds), true)
  end
  local best = at "newton"
  lu.assertTrue(farthest(at "sgd", best) < 0.1 * farthest(best, { 0, 0, 0, 0, 0 }))
end

-- The gap of a fit that ends early is at least what the objective is above its least.
function TestTheGapBoundsEarlyFits()
  for _, name in ipairs{ "logistic", "poisson", "gamma", "squared_hinge", "square", "huber" } do
    local ds, y = data_for(name)
    local function ridge(a) return 0.05 / 2 * a * a end
    local function solved(options)
      options.loss, options.lambda, options.method = loss_of(name), 0.05, "lbfgs"
      return fit(sc.solver.erm(options), ds)
    end
    local best = objective(name, y, weights_of(solved{ tolerance = 1e-10 }, true), ridge)
    local early = solved{ max_iterations = 2 }
    local above = objective(name, y, weights_of(early, true), ridge) - best
    lu.assertEquals(early:info().status, "iterations exhausted")
    local unit = objective(name, y, { 0, 0, 0, 0, 0 }, ridge) -- at least that of the best constant
    lu.assertTrue(above > 0 and above <= early:info().gap * unit, name)
  end
end

-- ------------ targets

-- At the minimum the weighted residuals of a free constant sum to 0: also of targets far from 0,
-- of which the host subtracts their mean.
function TestMeansOfCountsAreKept()
  for _, offset in ipairs{ 0, 5000 } do
    local y, sum = {}, 0
    for i = 1, 60 do y[i] = counts[i] + offset end
    local m = fit(sc.solver.erm{ loss = sc.loss.poisson{}, lambda = 0.01, tolerance = 1e-10 },
      data_of(y, "regression", heavy))
    local f = m:decision(x4)
    for i = 1, 60 do sum = sum + heavy[i] * (math.exp(f:get(i, 1)) - y[i]) end
    lu.assertTrue(math.abs(sum) < 1e-6 * (1 + offset), sum)
  end
end

function TestSeveralTargetsAreProblemsOfTheirOwn()
  local both = sc.zeros(60, 2)
  for i = 1, 60 do
    both:set(i, 1, numbers[i])
    both:set(i, 2, sizes[i])
  end
  for _, method in ipairs{ "newton", "lbfgs" } do
    for _, name in ipairs{ "huber", "quantile" } do
      local solver = sc.solver.erm{ loss = loss_of(name), lambda = 0.05, method = method,
        tolerance = 1e-8 }
      local m = fit(solver, sc.dataset{ X = x4, y = both, weights = heavy })
      for j, y in ipairs{ numbers, sizes } do
        local one = fit(solver, data_of(y, "regression", heavy))
        for k = 1, 4 do
          lu.assertAlmostEquals(m:weights():get(k, j), one:weights():get(k, 1), 1e-4)
        end
      end
    end
  end
end

function TestClassesAreOneAgainstTheRest()
  local names = {}
  for i = 1, 60 do names[i] = ({ "a", "b", "c" })[x4:get(i, 1) > 0.5 and 1 or x4:get(i, 2) > 0
    and 2 or 3] end
  local solver = sc.solver.erm{ loss = sc.loss.logistic{}, lambda = 0.05, tolerance = 1e-9 }
  local m = fit(solver, sc.dataset{ X = x4, y = names, task = "classification" })
  local f, p = m:decision(x4), m:probabilities(x4)
  for j, name in ipairs{ "a", "b", "c" } do
    local y = {}
    for i = 1, 60 do y[i] = names[i] == name and 1 or -1 end
    local one = fit(solver, data_of(y, "classification")):decision(x4)
    for i = 1, 60 do lu.assertAlmostEquals(f:get(i, j), one:get(i, 1), 1e-6) end
  end
  local sum = 0
  for j = 1, 3 do sum = sum + 1 / (1 + math.exp(-f:get(7, j))) end
  for j = 1, 3 do
    lu.assertAlmostEquals(p:get(7, j), 1 / (1 + math.exp(-f:get(7, j))) / sum, 1e-12)
  end
end

-- A row of weight 2 is two rows.
function TestWeightsAreCopies()
  for _, name in ipairs{ "quantile", "poisson" } do
    local _, y = data_for(name)
    local twice, rows, w = {}, {}, {}
    for i = 1, 60 do
      w[i] = 1 + i % 2
      for _ = 1, w[i] do
        rows[#rows + 1], twice[#twice + 1] = x4:totable()[i], y[i]
      end
    end
    local solver = sc.solver.erm{ loss = loss_of(name), lambda = 0.05, tolerance = 1e-8 }
    lu.assertTrue(farthest(weights_of(fit(solver, data_of(y, "regression", w)), true), weights_of(
      fit(solver, sc.dataset{ X = rows, y = twice, task = "regression" }), true)) < 1e-5)
  end
end

-- ------------ what is refused

function TestSentences()
  local function refused(words, solver, y, task)
    lu.assertErrorMsgContains(words, fit, solver, data_of(y, task))
  end
  local erm, loss = sc.solver.erm, sc.loss
  refused("loss.poisson takes numbers, and the targets are classes", erm{ loss = loss.poisson{} },
    labels, "classification")
  refused("loss.hinge takes classes (task = \"classification\"), and the targets are numbers",
    erm{ loss = loss.hinge{} }, numbers, "regression")
  local y = { table.unpack(sizes) }
  y[17] = 0
  refused("loss.gamma takes targets above 0, and row 17 has 0", erm{ loss = loss.gamma{} }, y,
    "regression")
  y[17] = -3
  refused("loss.poisson takes targets from 0, and row 17 has -3", erm{ loss = loss.poisson{} }, y,
    "regression")
  y[17] = 1e300
  refused("targets go up to 1e+100 in size, and row 17 has 1e+300", erm{ loss = loss.poisson{} }, y,
    "regression")
  lu.assertErrorMsgContains("penalty = \"l1\" goes with method = \"proximal\"", erm,
    { penalty = "l1", method = "newton" })
  lu.assertErrorMsgContains("method = \"proximal\" goes with penalty = \"l1\"", erm,
    { method = "proximal" })
  lu.assertErrorMsgContains("option 'loss'", erm, { loss = sc.kernel.gaussian{} })
  lu.assertErrorMsgContains("option 'tau'", loss.quantile, { tau = 1 })
end

-- Classes that a line separates have no best weights without a penalty.
function TestSeparableClassesAreNotCalledConverged()
  local y = {}
  for i = 1, 60 do y[i] = x4:get(i, 1) > 0 and 1 or -1 end
  for _, name in ipairs{ "logistic", "exponential" } do
    local info = fit(sc.solver.erm{ loss = loss_of(name), lambda = 0 },
      data_of(y, "classification")):info()
    lu.assertEquals(info.status, "iterations exhausted", name)
  end
end

-- ------------ rows, types, processes

-- 3000 rows as a CSV stream and in memory; on one thread and on all.
function TestStreamsAndThreadsHaveTheSameBits()
  local X, lines = sc.randn{ 3000, 3, seed = 4 }, { "a,b,c,y" }
  for i = 1, 3000 do
    lines[#lines + 1] = ("%.17g,%.17g,%.17g,%.17g"):format(X:get(i, 1), X:get(i, 2), X:get(i, 3),
      math.exp(X:get(i, 1) / 2 + math.sin(i)))
  end
  local path = support.write(nil, table.concat(lines, "\n") .. "\n")
  for _, o in ipairs{ { "gamma", "newton" }, { "quantile", "newton" }, { "huber", "lbfgs" } } do
    local function weights(stream)
      local ds = sc.data.csv(path, { target = "y", stream = stream, task = "regression" })
      return weights_of(sc.pipeline{ sc.solver.erm{ loss = loss_of(o[1]), method = o[2],
        lambda = 0.01, tolerance = 1e-5 } }:fit(ds), true)
    end
    local want, threads = weights(false), sc.threads()
    lu.assertEquals(weights(true), want)
    sc.threads(1)
    lu.assertEquals(weights(false), want)
    sc.threads(threads)
  end
  os.remove(path)
end

function TestNumberTypes()
  local X, y = sc.randn{ 2000, 3, seed = 1 }, {}
  for i = 1, 2000 do y[i] = math.floor(math.exp(X:get(i, 1) / 2) + i % 2) end
  for _, o in ipairs{ { "poisson", "newton" }, { "huber", "lbfgs" }, { "quantile", "newton" } } do
    local want
    for _, dtype in ipairs{ "float64", "float32", "int16" } do
      local map = sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 }, T = 30, seed = 1,
        phi = sc.nonlinearity.fourier(), dtype = dtype }
      local m = sc.pipeline{ map, sc.solver.erm{ loss = loss_of(o[1]), method = o[2],
        lambda = 1e-3, tolerance = 1e-5 } }:fit(sc.dataset{ X = X, y = y, task = "regression" })
      local f = m:decision(X)
      want = want or f
      lu.assertEquals(m:info().status, "converged", o[1] .. " " .. dtype)
      lu.assertTrue((f - want):abs():max() < (dtype == "int16" and 0.03 or 0.005), o[1] .. dtype)
    end
  end
end

function TestProcessesHaveTheBitsOfOne()
  local script = support.write(nil, [==[
    local sc = require "scullery"
    local X = sc.randn{ 6000, 3, seed = 1 }
    local y = X:column(1):map(math.exp)
    for _, dtype in ipairs{ "float64", "float32" } do
      for _, o in ipairs{ { "gamma", "newton" }, { "huber", "lbfgs" }, { "quantile", "newton" },
        { "square", "proximal" } } do
        local map = sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, T = 20, seed = 1,
          phi = sc.nonlinearity.fourier(), dtype = dtype }
        local m = sc.pipeline{ map, sc.solver.erm{ loss = sc.loss[o[1]]{}, method = o[2],
          penalty = o[2] == "proximal" and "l1" or "l2", lambda = 1e-2, tolerance = 1e-4 } }
          :fit(sc.dataset{ X = X, y = y })
        print(m:info().iterations, ("%a %a"):format(m:weights():get(3, 1), m:info().gap))
      end
    end]==])
  local function run(count)
    local status, out, err = support.shell(("timeout 200 %s --processes %d %s"):format(
      support.quote(support.binary), count, script))
    lu.assertEquals({ status, err }, { 0, "" })
    return out
  end
  local one = run(1)
  local _, lines = one:gsub("\n", "")
  lu.assertEquals(lines, 8)
  lu.assertEquals(run(3), one)
  os.remove(script)
end

-- ------------ models

function TestModelsAreSavedWithTheLoss()
  local path = support.free_path(".safetensors")
  local ds = data_of(labels, "classification")
  local m = fit(sc.solver.erm{ loss = sc.loss.exponential{}, lambda = 0.05 }, ds)
  m:save(path)
  local back = sc.load(path)
  lu.assertEquals(back:probabilities(x4):totable(), m:probabilities(x4):totable())
  lu.assertStrContains(tostring(back), "loss.exponential")
  os.remove(path)
end

function TestOptionsOfTheLossAreSearched()
  local p = sc.pipeline{ sc.solver.erm{ loss = sc.loss.huber{ delta = sc.choose{ 0.1, 1, 1e5 } },
    lambda = 1e-3 } }
  local best = p:search(data_of(numbers, "regression"), { seed = 1 })
  lu.assertStrContains(tostring(best), "loss.huber{delta = ")
end

-- lambda that is not given is chosen by the loss itself. That of gamma does not change where all
-- sizes are multiplied by a number, which moves the constant alone; nor does the choice.
function TestLambdaIsChosenByTheLoss()
  local X, noise, chosen = sc.randn{ 200, 8, seed = 1 }, sc.randn{ 200, 1, seed = 2 }, {}
  for k, unit in ipairs{ 1e-4, 1, 1e4 } do
    local y = {}
    for i = 1, 200 do y[i] = unit * math.exp((X:get(i, 1) + noise:get(i, 1)) / 2) end
    local m = sc.pipeline{ sc.solver.erm{ loss = loss_of "gamma" } }:fit(
      sc.dataset{ X = X, y = y, task = "regression" })
    chosen[k] = tostring(m):match "lambda = ([^,]+),"
  end
  lu.assertEquals(chosen, { chosen[2], chosen[2], chosen[2] })
end

-- Rows that are all equal have the constant alone to learn, and a gradient that is rounding.
function TestEqualRows()
  local y = {}
  for i = 1, 20 do y[i] = i end
  for _, name in ipairs{ "poisson", "gamma", "square" } do
    for _, lambda in ipairs{ 0, 0.1 } do
      local m = fit(sc.solver.erm{ loss = loss_of(name), lambda = lambda },
        sc.dataset{ X = sc.ones(20, 2), y = y, task = "regression" })
      lu.assertEquals(m:info().status, "converged", name)
      local f = m:decision(sc.ones(1, 2)):get(1, 1)
      lu.assertAlmostEquals(f, name == "square" and 10.5 or math.log(10.5), 1e-8)
    end
  end
end

-- cosh(f - y) - 1 at a = 0 is exp(30) and more: gradients that are small beside those are not yet
-- small. Fits are converged where they are small beside the sizes of their terms.
function TestSteepLosses()
  local function sinh(r) return (math.exp(r) - math.exp(-r)) / 2 end
  local cosh = sc.loss.define{ name = "cosh",
    value = function(f, y) return (math.exp(f - y) + math.exp(y - f)) / 2 - 1 end,
    slope = function(f, y) return sinh(f - y) end,
    curvature = function(f, y) return (math.exp(f - y) + math.exp(y - f)) / 2 end }
  local y = {}
  for i = 1, 60 do y[i] = 20 * x4:get(i, 1) + math.sin(7 * i) end
  for _, method in ipairs{ "newton", "lbfgs" } do
    local m = fit(sc.solver.erm{ loss = cosh{}, lambda = 1e-6, method = method,
      tolerance = 1e-6 }, sc.dataset{ X = x4, y = y, task = "regression" })
    local f, a = m:predict(x4), m:weights()
    lu.assertEquals(m:info().status, "converged", method)
    for j = 1, 4 do
      local sum, whole = 60 * 1e-6 * a:get(j, 1), 0
      for i = 1, 60 do
        local slope = sinh(f:get(i, 1) - y[i])
        sum, whole = sum + slope * x4:get(i, j), whole + math.abs(slope)
      end
      lu.assertTrue(math.abs(sum) < 1e-4 * whole, method)
    end
  end
  for i = 1, 60 do y[i] = math.exp(y[i]) end
  local m = fit(sc.solver.erm{ loss = sc.loss.gamma{}, lambda = 1e-6 },
    sc.dataset{ X = x4, y = y, task = "regression" })
  lu.assertEquals(m:info().status, "converged")
  lu.assertTrue(math.abs(m:weights():get(1, 1) - 20) < 0.5)
end

-- A target without a bound leaves none for all, whichever comes first.
function TestTheGapIsThatOfAllTargets()
  local half = sc.loss.define{ name = "half_bounded", value = function(f, y) return (f - y) ^ 2 end,
    slope = function(f, y) return 2 * (f - y) end,
    conjugate = function(s, y) return y > 50 and math.huge or s * y + s * s / 4 end }
  local y = sc.zeros(60, 2)
  for i = 1, 60 do
    y:set(i, 1, numbers[i])
    y:set(i, 2, numbers[i] + 100)
  end
  local function gap(wanted)
    return fit(sc.solver.erm{ loss = half{}, lambda = 0.1 }, sc.dataset{ X = x4, y = wanted,
      task = "regression" }):info().gap
  end
  lu.assertNotNil(gap(y:column(1)))
  lu.assertNil(gap(y:column(2)))
  lu.assertNil(gap(y))
  lu.assertNil(gap(sc.hcat(y:column(2), y:column(1))))
end

-- A tiny l1 leaves a dual point that bounds nothing: a note says why there is no gap.
function TestATinyPenaltyWithoutAGap()
  local function info(lambda)
    return fit(sc.solver.erm{ loss = sc.loss.square(), penalty = "l1", method = "proximal",
      lambda = lambda }, data_of(numbers, "regression")):info()
  end
  local told = info(1e-12)
  lu.assertNil(told.gap)
  lu.assertStrContains(told.note, "no duality gap")
  told = info(1e-2)
  lu.assertNotNil(told.gap)
  lu.assertNil(told.note)
end

-- Plans know how often rows are read.
function TestPlans()
  local plan = sc.pipeline{ sc.solver.erm{ loss = sc.loss.poisson{} } }:plan(data_of(counts,
    "regression"))
  lu.assertStrContains(tostring(plan), "Newton steps")
end

os.exit(lu.LuaUnit.run(), true)

-- Solvers that go step by step, against computations of their own in Lua: Newton's method, dual
-- bounds, stationarity, elimination. functional_descent_test.lua has descents of weight functions.
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local stepwise = require "stepwise"

local wdbc = sc.data.load("wdbc")
local train, test = wdbc:split{ test = 0.25, seed = 0 }
local data_of, fit, sinks, inst = stepwise.data_of, stepwise.fit, stepwise.sinks, stepwise.inst
local zeros, rows_of, total = stepwise.zeros, stepwise.rows_of, stepwise.total
local x4, numbers, labels = stepwise.x4, stepwise.numbers, stepwise.labels
local heavy, ones = stepwise.heavy, stepwise.ones

-- ------------ plain linear algebra on lists

-- x of a x = b, by elimination with pivots
local function solve(a, b)
  local n, m = #b, {}
  for i = 1, n do
    m[i] = { table.unpack(a[i]) }
    m[i][n + 1] = b[i]
  end
  for k = 1, n do
    local best = k
    for i = k + 1, n do if math.abs(m[i][k]) > math.abs(m[best][k]) then best = i end end
    m[k], m[best] = m[best], m[k]
    for i = k + 1, n do
      local by = m[i][k] / m[k][k]
      for j = k, n + 1 do m[i][j] = m[i][j] - by * m[k][j] end
    end
  end
  for k = n, 1, -1 do
    for j = k + 1, n do m[k][n + 1] = m[k][n + 1] - m[k][j] * m[j][n + 1] end
    m[k][n + 1] = m[k][n + 1] / m[k][k]
  end
  local x = {}
  for k = 1, n do x[k] = m[k][n + 1] end
  return x
end

local function dot(u, v)
  local sum = 0
  for j = 1, #u do sum = sum + u[j] * v[j] end
  return sum
end

-- sum_i v_i x_i x_i' + shift on the first d places of the diagonal
local function weighted_gram(rows, v, shift, d)
  local m = {}
  for j = 1, #rows[1] do
    m[j] = zeros(#rows[1])
    for k = 1, #rows[1] do
      local sum = j == k and j <= d and shift or 0
      for i = 1, #rows do sum = sum + v[i] * rows[i][j] * rows[i][k] end
      m[j][k] = sum
    end
  end
  return m
end

local function sums(rows, v)
  local out = zeros(#rows[1])
  for i = 1, #rows do for j = 1, #out do out[j] = out[j] + v[i] * rows[i][j] end end
  return out
end

-- (sum_i w_i (x_i a - y_i)^2)/2 + (total lambda/2) |a|^2 at its least
local function ridge(rows, y, w, lambda, d)
  local right = {}
  for i = 1, #y do right[i] = w[i] * y[i] end
  return solve(weighted_gram(rows, w, total(w) * lambda, d), sums(rows, right))
end

local found, farthest = stepwise.weights_of, stepwise.farthest

local function each_weighting(run)
  for _, w in ipairs{ ones, heavy } do
    for _, intercept in ipairs{ false, true } do run(w, intercept) end
  end
end

-- ------------ logistic

local function logistic_newton(rows, y, w, lambda, d)
  local a, n = zeros(#rows[1]), total(w)
  for _ = 1, 50 do
    local g, v = {}, {}
    for i = 1, #rows do
      local p = 1 / (1 + math.exp(y[i] * dot(rows[i], a)))
      g[i], v[i] = w[i] * y[i] * p, w[i] * p * (1 - p)
    end
    local right = sums(rows, g)
    for j = 1, d do right[j] = right[j] - n * lambda * a[j] end
    local step = solve(weighted_gram(rows, v, n * lambda, d), right)
    for j = 1, #a do a[j] = a[j] + step[j] end
  end
  return a
end

function TestLogisticIsNewtons()
  each_weighting(function(w, intercept)
    for _, lambda in ipairs{ 1e-4, 0.1 } do
      local m = fit(sc.solver.logistic{ lambda = lambda, intercept = intercept, tolerance = 1e-9 },
        data_of(labels, "classification", w))
      lu.assertEquals(m:info().status, "converged")
      lu.assertTrue(farthest(found(m, intercept), logistic_newton(rows_of(x4, intercept), labels, w,
        lambda, 4)) < 1e-6)
    end
  end)
end

function TestClassWeightsAreRowWeights()
  local scaled = {}
  for i = 1, 60 do scaled[i] = heavy[i] * (labels[i] == 1 and 3 or 0.5) end
  local by_class = { class_weights = { [1] = 3, [-1] = 0.5 } }
  local m = fit(sc.solver.logistic{ lambda = 0.01, tolerance = 1e-9, intercept = false },
    data_of(labels, "classification", heavy), by_class)
  lu.assertTrue(farthest(found(m), logistic_newton(rows_of(x4), labels, scaled, 0.01, 4)) < 1e-6)
  for _, name in ipairs{ "hinge", "cg", "huber", "trimmed" } do
    local solver = sc.solver[name]{ lambda = 0.1, tolerance = name ~= "trimmed" and 1e-9 or nil }
    local a = fit(solver, data_of(labels, "classification", heavy),
      { class_weights = { [1] = 3, [-1] = 0.5 } })
    local b = fit(solver, data_of(labels, "classification", scaled))
    lu.assertTrue((a:weights() - b:weights()):abs():max() < 1e-4, name)
  end
end

-- "balanced": a row of weight 2 counts as two rows.
function TestBalancedClassesCountWeights()
  local copies, w = {}, {}
  for i = 1, 60 do
    w[i] = i % 3
    for _ = 1, w[i] do copies[#copies + 1] = i end
  end
  local a = fit(sc.solver.ridge{ lambda = 0.1 }, data_of(labels, "classification", w),
    { class_weights = "balanced" })
  local b = fit(sc.solver.ridge{ lambda = 0.1 },
    data_of(labels, "classification"):select(copies), { class_weights = "balanced" })
  lu.assertTrue((a:weights() - b:weights()):abs():max() < 1e-9)
end

-- mean log sum exp f - f_y, its gradient formed from all rows
function TestSoftmaxIsStationary()
  local y, lambda, w = {}, 0.01, heavy
  for i = 1, 60 do y[i] = i % 3 end
  local m = fit(sc.solver.logistic{ lambda = lambda, tolerance = 1e-9, intercept = true },
    data_of(y, "classification", w))
  lu.assertEquals(m:info().status, "converged")
  local f, a, n = m:decision(x4), m:weights(), total(w)
  lu.assertEquals(a:cols(), 3)
  for c = 1, 3 do
    local r = {}
    for i = 1, 60 do
      local all = 0
      for k = 1, 3 do all = all + math.exp(f:get(i, k)) end
      r[i] = w[i] * (math.exp(f:get(i, c)) / all - (y[i] == c - 1 and 1 or 0)) / n
    end
    local g = sums(rows_of(x4, true), r)
    for j = 1, 4 do lu.assertAlmostEquals(g[j] + lambda * a:get(j, c), 0, 1e-8) end
    lu.assertAlmostEquals(g[5], 0, 1e-8)
  end
end

function TestLogisticBySteps()
  local exact = fit(sc.solver.logistic{ lambda = 0.1 }, data_of(labels, "classification", heavy))
  local steps = fit(sc.solver.logistic{ lambda = 0.1, method = "sgd", batch = 20, epochs = 200,
    seed = 2 }, data_of(labels, "classification", heavy))
  lu.assertEquals(steps:info().status, "stopped")
  lu.assertTrue((exact:weights() - steps:weights()):norm() < 0.1 * exact:weights():norm())
end

-- Steps are taken in centred features: a constant added to all of them changes nothing but b.
function TestStepsDoNotSeeACommonMean()
  local X = sc.randn{ 300, 5, seed = 1 }
  local y = sc.randn{ 300, 1, seed = 2 } * 0.5 + X:column(1) - X:column(2)
  local classes = y:map(function(v) return v > 0.5 and 2 or v > -0.5 and 1 or 0 end)
  local function steps(data, epochs)
    return sc.pipeline{ sc.solver.logistic{ lambda = 1e-3, method = "sgd", batch = 30,
      epochs = epochs } }:fit(data, classes, { task = "classification" })
  end
  local far = X + sc.ones(300, 5) * 1000
  lu.assertAlmostEquals((steps(X, 5):decision(X) - steps(far, 5):decision(far)):abs():max(), 0,
    1e-7)
  local exact = sc.pipeline{ sc.solver.logistic{ lambda = 1e-3 } }:fit(X, classes,
    { task = "classification" })
  lu.assertTrue((exact:weights() - steps(far, 400):weights()):norm() < 0.1 * exact:weights():norm())
end

function TestSeparatedClassesWithoutLambda()
  local y = x4:column(1):map(function(v) return v > 0 and 1 or -1 end)
  local m = sc.pipeline{ sc.solver.logistic{ lambda = 0 } }:fit(x4, y, { task = "classification" })
  lu.assertEquals(m:info().status, "iterations exhausted")
  lu.assertStrContains(m:info().note, "lambda")
  lu.assertErrorMsgContains("lambda", sc.solver.hinge, { lambda = 0 })
end

-- ------------ hinge

-- D(b) <= min P for b in its box: by coordinates, many sweeps
local function hinge_bound(rows, y, w, lambda, sweeps)
  local n, b, a = total(w), zeros(#rows), zeros(#rows[1])
  for _ = 1, sweeps do
    for i = 1, #rows do
      local most, size = w[i] / (lambda * n), dot(rows[i], rows[i])
      local new = math.max(0, math.min(most, b[i] + (1 - y[i] * dot(rows[i], a)) / size))
      for j = 1, #a do a[j] = a[j] + (new - b[i]) * y[i] * rows[i][j] end
      b[i] = new
    end
  end
  return lambda * (total(b) - dot(a, a) / 2)
end

function TestHingeMeetsADualBound()
  for _, w in ipairs{ ones, heavy } do
    for _, lambda in ipairs{ 1e-2, 0.3 } do
      local m = fit(sc.solver.hinge{ lambda = lambda, tolerance = 1e-8, intercept = false },
        data_of(labels, "classification", w))
      lu.assertEquals(m:info().status, "converged")
      local a, rows, value = found(m), rows_of(x4), 0
      for i = 1, 60 do
        value = value + w[i] * math.max(0, 1 - labels[i] * dot(rows[i], a)) / total(w)
      end
      value = value + lambda / 2 * dot(a, a)
      local bound = hinge_bound(rows, labels, w, lambda, 3000)
      lu.assertTrue(value >= bound - 1e-12)
      lu.assertTrue(value - bound <= 1e-6 * value, ("lambda %g: %g above %g"):format(lambda,
        value - bound, bound))
    end
  end
end

-- ------------ huber, trimmed

-- sum w psi(r) x + N lambda a = 0, psi cut at delta
local function huber_fails(m, w, delta, lambda, intercept)
  local rows, a, slopes = rows_of(x4, intercept), found(m, intercept), {}
  for i = 1, 60 do
    slopes[i] = w[i] * math.max(-delta, math.min(delta, dot(rows[i], a) - numbers[i])) / total(w)
  end
  local g, worst = sums(rows, slopes), 0
  for j = 1, #g do worst = math.max(worst, math.abs(g[j] + (j <= 4 and lambda * a[j] or 0))) end
  return worst
end

-- The middle of v, each counted as often as its (whole) weight says.
local function median(v, weights)
  local all = {}
  for i = 1, #v do for _ = 1, weights[i] do all[#all + 1] = v[i] end end
  table.sort(all)
  return #all % 2 == 1 and all[(#all + 1) // 2] or (all[#all // 2] + all[#all // 2 + 1]) / 2
end

function TestHuberIsStationary()
  each_weighting(function(w, intercept)
    for _, delta in ipairs{ 0.05, 0.5, 5 } do
      local m = fit(sc.solver.huber{ lambda = 1e-3, delta = delta, scale = "none",
        intercept = intercept, tolerance = 1e-11 }, data_of(numbers, "regression", w))
      lu.assertEquals(m:info().status, "converged")
      lu.assertTrue(huber_fails(m, w, delta, 1e-3, intercept) < 1e-9)
    end
  end)
end

function TestHuberFindsItsScale()
  local w = {}
  for i = 1, 60 do w[i] = i % 4 end -- as if rows came so many times
  local m = fit(sc.solver.huber{ lambda = 1e-3, intercept = true },
    data_of(numbers, "regression", w))
  local r, rows, a = {}, rows_of(x4, true), found(m, true)
  for i = 1, 60 do r[i] = dot(rows[i], a) - numbers[i] end
  local middle, far = median(r, w), {}
  for i = 1, 60 do far[i] = math.abs(r[i] - middle) end
  local delta = tonumber(m:info().note:match("delta = (%S+)"))
  lu.assertAlmostEquals(delta / (1.345 * 1.4826 * median(far, w)), 1, 0.02)
  lu.assertTrue(huber_fails(m, w, delta, 1e-3, true) < 1e-7)
  local least = fit(sc.solver.ridge{ lambda = 1e-3, intercept = true },
    data_of(numbers, "regression", w))
  -- the outliers pull at least squares, not at this
  lu.assertTrue(math.abs(a[1] - 1) < 0.2 and math.abs(a[5] - 2) < 0.2)
  lu.assertTrue(math.abs(least:intercept():get(1, 1) - 2) > 1)
end

function TestTrimmedKeepsTheBestRowsOfItsFit()
  for _, intercept in ipairs{ false, true } do
    for _, fraction in ipairs{ 0, 0.15, 0.5 } do
      local m = fit(sc.solver.trimmed{ lambda = 1e-3, fraction = fraction, intercept = intercept },
        data_of(numbers, "regression"))
      lu.assertEquals(m:info().status, "converged")
      local rows, a, order, keep = rows_of(x4, intercept), found(m, intercept), {}, zeros(60)
      for i = 1, 60 do order[i] = { math.abs(dot(rows[i], a) - numbers[i]), i } end
      table.sort(order, function(u, v) return u[1] < v[1] end)
      for k = 1, 60 - math.floor(60 * fraction) do keep[order[k][2]] = 1 end
      lu.assertTrue(farthest(a, ridge(rows, numbers, keep, 1e-3, 4)) < 1e-9)
    end
  end
end

function TestTrimmedCountsWeight()
  -- weights of 2 are rows that come twice
  local twice, x, y = {}, {}, {}
  for i = 1, 60 do
    twice[i] = i % 2 + 1
    for _ = 1, twice[i] do
      x[#x + 1] = x4:row(i):totable()[1]
      y[#y + 1] = numbers[i]
    end
  end
  -- 0.2 of 60 rows are 12, of 90 rows 18: as much weight
  local a = fit(sc.solver.trimmed{ lambda = 1e-3, fraction = 0.2, intercept = true },
    data_of(numbers, "regression", twice))
  local b = sc.pipeline{ sc.solver.trimmed{ lambda = 1e-3, fraction = 0.2, intercept = true } }:fit(
    sc.matrix(x), sc.matrix(y))
  lu.assertTrue((a:weights() - b:weights()):abs():max() < 1e-9)
  lu.assertAlmostEquals(a:intercept():get(1, 1), b:intercept():get(1, 1), 1e-9)
end

-- ------------ conjugate gradients

function TestConjugateGradientsAreElimination()
  each_weighting(function(w, intercept)
    for _, rank in ipairs{ "auto", 0, 3, 20 } do
      local m = fit(sc.solver.cg{ lambda = 1e-3, rank = rank, intercept = intercept,
        tolerance = 1e-13 }, data_of(numbers, "regression", w))
      lu.assertEquals(m:info().status, "converged")
      lu.assertTrue(farthest(found(m, intercept), ridge(rows_of(x4, intercept), numbers, w, 1e-3,
        4)) < 1e-9)
    end
  end)
end

function TestConjugateGradientsOnFeatures()
  local w = {}
  for i = 1, train.X:rows() do w[i] = 0.1 + (i % 5) ^ 2 end
  local weighted = sc.dataset{ X = train.X, y = train:targets(), task = "classification",
    weights = w }
  for _, T in ipairs{ 60, 600 } do -- fewer features than rows, and more
    for _, intercept in ipairs{ false, true } do
      local exact = fit(sc.solver.ridge{ lambda = 1e-4, intercept = intercept, form = "primal" },
        weighted, { sc.standardize(), sinks(T) })
      local m = fit(sc.solver.cg{ lambda = 1e-4, intercept = intercept, tolerance = 1e-11 },
        weighted, { sc.standardize(), sinks(T) })
      lu.assertEquals(m:info().status, "converged")
      lu.assertTrue((m:weights() - exact:weights()):norm() < 1e-6 * exact:weights():norm())
      -- the residual that it states is the one that its coefficients have
      local phi, loose = m:transform(train.X),
        fit(sc.solver.cg{ lambda = 1e-4, rank = 5, tolerance = 1e-3, intercept = false }, weighted,
          { sc.standardize(), sinks(T) })
      local scale = sc.matrix(w)
      local right = phi:t() * train:targets():mul(scale)
      local left = phi:t() * (phi * loose:weights()):mul(scale) + loose:weights() * (
        total(w) * 1e-4)
      lu.assertAlmostEquals((right - left):norm() / right:norm(), loose:info().residual, 1e-9)
    end
  end
end

function TestConjugateGradientsOnSparseRows()
  for _, intercept in ipairs{ false, true } do
    local function learn(solver)
      return fit(solver, data_of(numbers, "regression", heavy),
        { sc.features{ p = sc.sampler.grid(), phi = sc.nonlinearity.bins(), T = 20 } })
    end
    local exact = learn(sc.solver.ridge{ lambda = 1e-2, intercept = intercept, form = "primal" })
    local m = learn(sc.solver.cg{ lambda = 1e-2, intercept = intercept, tolerance = 1e-11 })
    lu.assertEquals(m:info().status, "converged")
    lu.assertTrue((m:weights() - exact:weights()):norm() < 1e-7 * exact:weights():norm())
  end
end

function TestConjugateGradientsInFloat32()
  local exact = fit(sc.solver.ridge{ lambda = 1e-3 }, train, { sc.standardize(), sinks(200) })
  local m = fit(sc.solver.cg{ lambda = 1e-3 }, train, { sc.standardize(), sinks(200, "float32") })
  lu.assertEquals(m:info().status, "converged")
  lu.assertTrue((m:decision(test.X) - exact:decision(test.X)):abs():max() < 1e-3)
  local none = fit(sc.solver.cg{ lambda = 1e-12, tolerance = 1e-9, max_iterations = 400 }, train,
    { sc.standardize(), sinks(200, "float32") })
  lu.assertEquals(none:info().status, "iterations exhausted")
  lu.assertTrue(none:info().residual > none:info().tolerance and none:info().residual < 1)
end

-- ------------ all of them

local function everyone()
  return {
    logistic = sc.solver.logistic{ lambda = 1e-3, tolerance = 1e-8 },
      steps = sc.solver.logistic{ lambda = 1e-3, method = "sgd", batch = 40, epochs = 3 },
    hinge = sc.solver.hinge{ lambda = 1e-2, tolerance = 1e-7 },
      huber = sc.solver.huber{ lambda = 1e-3, intercept = true },
    trimmed = sc.solver.trimmed{ lambda = 1e-3 },
      cg = sc.solver.cg{ lambda = 1e-3, tolerance = 1e-12 }, sfgd = sc.solver.sfgd{ batch = 40 },
    optimal_stepsize = sc.solver.optimal_stepsize{ batch = 40 },
  }
end

function TestThreadsBlocksAndMemoryChangeNothing()
  local before = core.threads()
  for name, solver in pairs(everyone()) do
    local want, same
    for _, case in ipairs{ { nil, 1 }, { nil, 3 }, { 17, 2 }, { 17, 2, 0 } } do
      core.threads(case[2])
      local p = sc.pipeline{ sc.standardize(), inst:features{ T = 80, seed = 1 }, solver,
        block = case[1], allowance = case[3] }:fit(train)
      want = want or p:decision(test.X)
      lu.assertTrue((p:decision(test.X) - want):abs():max() < 1e-4 * want:abs():max(), name)
      if case[1] == nil then
        same = same or p:weights()
        lu.assertTrue(same == p:weights(), name)
      end
    end
  end
  core.threads(before)
end

function TestExhaustedIterationsAreSaid()
  for name, given in pairs{ logistic = { tolerance = 1e-9 }, hinge = { tolerance = 1e-9 },
    huber = { tolerance = 1e-12, delta = 0.01 },
                            trimmed = { fraction = 0.3 }, cg = { rank = 0, tolerance = 1e-9 } } do
    given.max_iterations, given.lambda = 1, 1e-4
    local regression = name == "huber" or name == "trimmed"
    local m = fit(sc.solver[name](given), data_of(regression and numbers or labels, regression
      and "regression" or "classification"))
    lu.assertEquals(m:info().status, "iterations exhausted", name)
    lu.assertTrue((m:info().gap or m:info().residual) > m:info().tolerance, name)
  end
end

-- A column that is nearly constant has the curvature lambda, not that of its size.
function TestColumnsOfVeryDifferentSize()
  local X, classes = sc.randn{ 90, 5, seed = 1 }, {}
  for i = 1, 90 do
    local a, b = X:get(i, 1), X:get(i, 2)
    X:set(i, 4, X:get(i, 4) * 1e-5)
    classes[i] = a + b ^ 2 > 1 and "u" or a < -0.5 and "v" or "w"
  end
  for _, solver in ipairs{ sc.solver.logistic{ lambda = 1e-2 },
    sc.solver.hinge{ lambda = 1e-2, loss = "squared_hinge" } } do
    local info = sc.pipeline{ solver }:fit(X, classes):info()
    lu.assertEquals(info.status, "converged")
    lu.assertTrue(info.iterations <= 40, info.iterations)
  end
end

function TestConstantTargets()
  for _, name in ipairs{ "huber", "trimmed", "cg" } do
    local m = sc.pipeline{ sc.solver[name]{ intercept = true } }:fit(x4, sc.ones(60, 1) * 4)
    lu.assertEquals(m:info().status, "converged")
    lu.assertAlmostEquals(m:intercept():get(1, 1), 4, 1e-9)
    lu.assertTrue(m:weights():norm() < 1e-9)
    local nothing = sc.pipeline{ sc.solver[name]() }:fit(x4, sc.zeros(60, 1))
    lu.assertEquals(nothing:info().status, "converged")
    lu.assertEquals(nothing:weights():norm(), 0)
  end
  for _, name in ipairs{ "sfgd", "optimal_stepsize" } do
    local m = sc.pipeline{ inst:features{ T = 20 }, sc.solver[name]{ batch = 10 } }:fit(x4,
      sc.zeros(60, 1))
    lu.assertEquals(m:weights():norm(), 0)
  end
end

function TestOneClassIsRefused()
  for name, solver in pairs(everyone()) do
    local p = sc.pipeline{ inst:features{ T = 20 }, solver }
    lu.assertErrorMsgContains("one class", p.fit, p, x4, sc.ones(60, 1),
      { task = "classification" })
    lu.assertStrContains(tostring(p), name == "steps" and "logistic" or name)
  end
end

function TestHuberEndsInSinglePrecisionToo()
  local x = sc.randn{ 200, 3, seed = 1 }
  local y = x * sc.matrix{ 1, -2, 0.5 } + sc.randn{ 200, 1, seed = 2 }
  local features = sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 },
    phi = sc.nonlinearity.fourier(), T = 40, seed = 1, dtype = "float32" }
  lu.assertEquals(sc.pipeline{ features, sc.solver.huber{ lambda = 1e-4 } }:fit(x, y):info().status,
    "converged")
  local strict = sc.pipeline{ features, sc.solver.huber{ lambda = 1e-4, tolerance = 1e-14 } }:fit(x,
    y):info()
  lu.assertEquals(strict.status, "iterations exhausted")
  lu.assertStrContains(strict.note, "rounding")
end

-- Where rounding allows no smaller gradient, steps at the end may lead away from the best point.
function TestTheBestPointOfSinglePrecisionIsTaken()
  local x = sc.randn{ 120, 5, seed = 2 }
  local score = x:column(1) + x:column(2) * 0.5 + sc.randn{ 120, 1, seed = 9 } * 0.5
  local made = { logistic = { y = score:map(function(z) return z > 0 and 1 or -1 end),
    task = "classification" }, lad = { y = score, task = "regression" } }
  for name, given in pairs(made) do
    local info = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 0.3 }, T = 5, seed = 1,
      phi = sc.nonlinearity.fourier(), dtype = "float32" }, sc.solver[name]{ lambda = 0.1,
      tolerance = 1e-9, max_iterations = 300, method = "lbfgs" } }:fit(sc.dataset{ X = x,
      y = given.y, task = given.task }):info()
    -- at the last step logistic has 0.008
    lu.assertTrue(info.residual < 1e-4, name .. ": " .. info.residual)
  end
end

-- The first step lowers the loss and raises the gradient.
function TestALowerLossIsKeptInSinglePrecision()
  local x, residual = sc.randn{ 300, 5, seed = 1 }, {}
  local y = (x:column(1) + x:column(2):mul(x:column(2))):map(function(z)
    return z > 0.5 and 1 or -1
  end)
  for _, dtype in ipairs{ "float64", "float32" } do
    residual[dtype] = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, T = 60,
      seed = 1, phi = sc.nonlinearity.relu(), dtype = dtype }, sc.solver.logistic{ lambda = 1e-6,
      max_iterations = 1 } }:fit(x, y, { task = "classification" }):info().residual
  end
  lu.assertTrue(residual.float64 > 1.01)
  lu.assertAlmostEquals(residual.float32, residual.float64, 1e-5)
end

function TestProductsThatOverflowAreSaid()
  local ok, message = pcall(function()
    sc.pipeline{ sc.solver.cg{} }:fit(sc.randn{ 20, 3, seed = 1 } * 1e200,
      sc.randn{ 20, 1, seed = 2 })
  end)
  lu.assertFalse(ok)
  lu.assertStrContains(message, "scale the data")
end

-- Targets whose squares overflow, or of which nothing is left.
function TestConjugateGradientsRefuseNormsThatOverflow()
  local x = sc.randn{ 50, 3, seed = 1 }
  local y = x:column(1)
  for _, scale in ipairs{ 1e-250, 1e250 } do
    lu.assertErrorMsgContains("scale the data", function()
      sc.pipeline{ sc.solver.cg{} }:fit(x, y * scale)
    end)
  end
  for _, scale in ipairs{ 1e-130, 0, 1e130 } do
    lu.assertEquals(sc.pipeline{ sc.solver.cg{} }:fit(x, y * scale):info().status, "converged")
  end
end

-- The share as it was written: 0.29 * 100 is 28.999999999999996 in doubles.
function TestTrimmedLeavesOutWholeNumbersOfRows()
  local x = sc.randn{ 100, 2, seed = 1 }
  local y = x:column(1) + sc.randn{ 100, 1, seed = 2 }
  for percent = 0, 99 do
    local m = sc.pipeline{ sc.solver.trimmed{ lambda = 1e-3, fraction = percent / 100 } }:fit(x, y)
    lu.assertEquals(tonumber((m:info().note or "0 of"):match("^(%d+) of")), percent)
  end
end

os.exit(lu.LuaUnit.run(), true)

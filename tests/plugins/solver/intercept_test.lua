-- The unpenalised constant: which solvers have one by default, what print says, and each solver
-- with one on data with a large constant against an independent computation.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local component = require "scullery.compose.component"

local s = sc.solver
local n, d = 90, 3
local X = sc.randn{ n, d, seed = 1 } + 2 -- the columns have means of their own
local noise = sc.randn{ n, 1, seed = 2 }
local BASE = 5000
local numbers = X:column(1) * 2 - X:column(2) + noise * 0.3 + BASE
-- one row of nine is of class 1
local labels = {}
for i = 1, n do labels[i] = X:get(i, 1) + X:get(i, 2) + noise:get(i, 1) / 2 > 5.6 and 1 or -1 end
local classes = sc.dataset{ X = X, y = labels, task = "classification" }
local weights = {}
for i = 1, n do weights[i] = 0.5 + i % 4 end
local both = { false, weights }

local function data(y, w, task)
  return sc.dataset{ X = X, y = y, task = task or "regression", weights = w or nil }
end
local function fit(solver, ds, ...) return sc.pipeline{ solver, ... }:fit(ds) end
local function constant(p) return p:intercept():get(1, 1) end

-- ------------ which have one

local function weighting() return sc.instantiation{ K = sc.kernel.gaussian{ width = 1 },
  p = sc.sampler.gaussian{ sigma = 1 }, phi = sc.nonlinearity.sign() }:features{ T = 20 } end

function TestAConstantWhereWeightsArePenalised()
  for _, solver in ipairs{ s.ridge{}, s.lasso{}, s.cg{}, s.huber{}, s.trimmed{}, s.logistic{},
    s.logistic{ method = "sgd", batch = 10 }, s.hinge{} } do
    lu.assertTrue(core.solver_facts(component.instance(solver)).wants_intercept, solver.name)
    lu.assertStrContains(tostring(solver), 'intercept = "auto" (a constant)')
    lu.assertNotEquals(constant(fit(solver, classes)), 0, solver.name)
  end
end

function TestNoneWhereTheNormOfTheFunctionIsPenalised()
  for _, solver in ipairs{ s.ridge{ penalty = "rkhs" }, s.cg{ penalty = "rkhs" } } do
    lu.assertStrContains(tostring(solver), 'intercept = "auto" (no constant)')
    lu.assertEquals(constant(sc.pipeline{ weighting(), solver }:fit(classes)), 0)
  end
  for _, solver in ipairs{ s.box{}, s.sfgd{ batch = 10 }, s.optimal_stepsize{ batch = 10 } } do
    lu.assertNotStrContains(tostring(solver), "auto")
    lu.assertEquals(constant(sc.pipeline{ weighting(), solver }:fit(classes)), 0, solver.name)
  end
  -- such a model keeps its guarantees as it is
  lu.assertTrue(sc.pipeline{ weighting(), s.ridge{ penalty = "rkhs", lambda = 0.1 } }:fit(classes)
    :bound().total > 0)
end

function TestABooleanDecides()
  lu.assertEquals(constant(fit(s.ridge{ intercept = false }, data(numbers))), 0)
  lu.assertNotEquals(constant(sc.pipeline{ weighting(), s.ridge{ penalty = "rkhs",
    intercept = true } }:fit(classes)), 0)
  lu.assertStrContains(tostring(s.ridge{ intercept = true }), "intercept = true")
  lu.assertErrorMsgContains("true or false, one of auto", s.ridge, { intercept = "on" })
  lu.assertErrorMsgContains("intercept", s.hinge, { intercept = 1 })
end

function TestPrintSaysWhich()
  lu.assertStrContains(tostring(fit(s.ridge{}, data(numbers))), 'intercept = "auto" (a constant)')
  lu.assertStrContains(tostring(sc.pipeline{ weighting(), s.ridge{ penalty = "rkhs" } }),
    'intercept = "auto" (no constant)')
end

-- ------------ a large constant
--
-- Independent: the design with a column of ones, of which only the others are penalised, solved by
-- hand. One more constant on all targets moves b by it and nothing else.

-- a, b of min sum_i w_i (y_i - x_i a - b)^2 + penalty ||a||^2
local function least_squares(x, y, w, penalty)
  local rows, cols = x:rows(), x:cols()
  local A, r = {}, {}
  for j = 1, cols + 1 do
    A[j] = {}
    for k = 1, cols + 1 do A[j][k] = j == k and j <= cols and penalty or 0 end
    r[j] = 0
  end
  for i = 1, rows do
    local row = {}
    for j = 1, cols do row[j] = x:get(i, j) end
    row[cols + 1] = 1
    for j = 1, cols + 1 do
      r[j] = r[j] + w[i] * row[j] * y:get(i, 1)
      for k = 1, cols + 1 do A[j][k] = A[j][k] + w[i] * row[j] * row[k] end
    end
  end
  for j = 1, cols + 1 do -- Gauss: positive definite
    for i = j + 1, cols + 1 do
      local f = A[i][j] / A[j][j]
      for k = j, cols + 1 do A[i][k] = A[i][k] - f * A[j][k] end
      r[i] = r[i] - f * r[j]
    end
  end
  for j = cols + 1, 1, -1 do
    for k = j + 1, cols + 1 do r[j] = r[j] - A[j][k] * r[k] end
    r[j] = r[j] / A[j][j]
  end
  return r
end

local function total(w)
  local sum = 0
  for i = 1, n do sum = sum + w[i] end
  return sum
end
local ones = {}
for i = 1, n do ones[i] = 1 end

local function expect(p, want, within, tag)
  for j = 1, d do lu.assertAlmostEquals(p:weights():get(j, 1), want[j], within, tag) end
  lu.assertAlmostEquals(constant(p), want[d + 1], within * 100, tag)
end

function TestLeastSquaresWithALargeConstant()
  for _, w in ipairs(both) do
    local lambda, v = 0.05, w or ones
    local want = least_squares(X, numbers, v, lambda * total(v))
    expect(fit(s.ridge{ lambda = lambda, form = "primal" }, data(numbers, w)), want, 1e-8, "primal")
    if not w then
      expect(fit(s.ridge{ lambda = lambda, form = "dual" }, data(numbers)), want, 1e-8, "dual")
    end
    expect(fit(s.cg{ lambda = lambda, tolerance = 1e-13 }, data(numbers, w)), want, 1e-7, "cg")
    expect(fit(s.lasso{ lambda = lambda, l1_ratio = 0, tolerance = 1e-13 }, data(numbers, w)), want,
      1e-6, "lasso")
    -- all rows inside delta, and none left out: least squares again
    expect(fit(s.huber{ lambda = lambda, delta = 1e6, scale = "none", tolerance = 1e-12 },
      data(numbers, w)), want, 1e-6, "huber")
    expect(fit(s.trimmed{ lambda = lambda, fraction = 0 }, data(numbers, w)), want, 1e-7, "trimmed")
  end
end

function TestAConstantOnTheTargetsMovesOnlyTheConstant()
  local few = sc.features{ p = sc.sampler.gaussian{ sigma = 0.3 }, phi = sc.nonlinearity.fourier(),
    T = 200, seed = 4 } -- more than rows: the dual
  for _, solver in ipairs{ s.ridge{ lambda = 1e-2 }, s.lasso{ lambda = 1e-2, tolerance = 1e-12 },
    s.huber{ lambda = 1e-2, tolerance = 1e-11 }, s.cg{ lambda = 1e-2, tolerance = 1e-12 },
    s.trimmed{ lambda = 1e-2 } } do
    for _, features in ipairs{ sc.standardize(), few } do
      local plain = sc.pipeline{ features, solver }:fit(data(numbers - BASE))
      local moved = sc.pipeline{ features, solver }:fit(data(numbers))
      local difference = moved:decision(X) - plain:decision(X)
      lu.assertAlmostEquals((difference - BASE):abs():max(), 0, 2e-4, tostring(solver))
      lu.assertTrue(moved:score(data(numbers)) > 0.5, tostring(solver))
    end
  end
end

-- The regression of the issue: 2 x + 5, where none without a constant is any good.
function TestAPlainRegression()
  local x = sc.randn{ 400, 3, seed = 1 }
  local y = x:column(1) * 2 + 5
  for _, solver in ipairs{ s.ridge{}, s.lasso{}, s.huber{}, s.trimmed{}, s.cg{} } do
    lu.assertTrue(sc.pipeline{ solver }:fit(x, y):score(x, y) > 0.999, solver.name)
  end
  lu.assertTrue(fit(s.ridge{ intercept = false }, sc.dataset{ X = x, y = y }):score(x, y) < 0)
end

-- float32 features: targets go through products in single precision
function TestFloat32WithALargeConstant()
  local function model(dtype)
    return sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 0.3 },
      phi = sc.nonlinearity.fourier(), T = 40, seed = 4, dtype = dtype },
      s.ridge{ lambda = 1e-3 } }:fit(data(numbers)):decision(X)
  end
  lu.assertTrue((model("float32") - model("float64")):abs():max() < 5e-2)
end

-- ------------ leave-one-out

function TestLeaveOneOutWithALargeConstantAgainstRefitting()
  local lambda, signs = 1e-2, sc.matrix(labels)
  local features = sc.features{ p = sc.sampler.gaussian{ sigma = 0.3 },
    phi = sc.nonlinearity.fourier(), T = 60, seed = 4 }
  for _, form in ipairs{ "primal", "dual" } do
    local square, wrong = 0, 0
    for i = 1, n do
      local rest = {}
      for k = 1, n do if k ~= i then rest[#rest + 1] = k end end
      local function left_out(y) -- with as much penalty as all rows have
        return sc.pipeline{ features, s.ridge{ lambda = lambda * n / (n - 1), form = form } }:fit(
          X:select(rest), y:select(rest)):decision(X:select{ i }):get(1, 1)
      end
      square = square + (left_out(numbers) - numbers:get(i, 1)) ^ 2 / n
      wrong = wrong + (left_out(signs) * labels[i] <= 0 and 1 or 0) / n
    end
    local function told(ds, estimate)
      return sc.pipeline{ features, s.ridge{ lambda = lambda, form = form, estimate = estimate } }
        :fit(ds):info().score
    end
    lu.assertAlmostEquals(told(data(numbers), "loo") / square, 1, 1e-6)
    lu.assertAlmostEquals(told(classes, "loo_error"), wrong, 1e-12)
  end
end

-- tr H counts the constant: gcv = mean r^2 / (1 - tr H/n)^2, with H from what moving each target by
-- one does to its own score.
function TestGeneralisedCrossValidationCountsTheConstant()
  local trace, p = 0, fit(s.ridge{ lambda = 0.05, estimate = "gcv" }, data(numbers))
  local f = p:decision(X)
  for i = 1, n do
    local moved = numbers:copy()
    moved:set(i, 1, moved:get(i, 1) + 1)
    trace = trace + fit(s.ridge{ lambda = 0.05 }, data(moved)):decision(X:select{ i }):get(1, 1)
      - f:get(i, 1)
  end
  local mean = (f - numbers):mul(f - numbers):sum() / n
  lu.assertAlmostEquals(p:info().score / (mean / (1 - trace / n) ^ 2), 1, 1e-7)
end

-- ------------ unbalanced classes

local function counts()
  local few = 0
  for i = 1, n do if labels[i] == 1 then few = few + 1 end end
  return few
end

local function classified(w) return data(labels, w, "classification") end

-- The gradient at the solution, by its formula: 0 in b, and lambda a opposite to the loss's.
function TestLogisticOnUnbalancedClasses()
  lu.assertTrue(counts() >= 5 and counts() <= 20)
  for _, w in ipairs(both) do
    local p = fit(s.logistic{ lambda = 0.01, tolerance = 1e-10 }, classified(w))
    local f, v, along, slopes = p:decision(X), w or ones, 0, sc.zeros(n, 1)
    for i = 1, n do
      slopes:set(i, 1, -labels[i] * v[i] / total(v) / (1 + math.exp(labels[i] * f:get(i, 1))))
      along = along + slopes:get(i, 1)
    end
    lu.assertAlmostEquals(along, 0, 1e-8)
    lu.assertTrue((X:t() * slopes + p:weights() * 0.01):abs():max() < 1e-8)
    -- so its probabilities have the mean of the classes
    local mean, share = 0, 0
    local probabilities = p:probabilities(X)
    for i = 1, n do
      mean = mean + v[i] * probabilities:get(i, 2) / total(v)
      share = share + (labels[i] == 1 and v[i] or 0) / total(v)
    end
    lu.assertAlmostEquals(mean, share, 1e-7)
  end
end

function TestLogisticByStepsOnUnbalancedClasses()
  local ds = sc.dataset{ X = X - 2, y = labels, task = "classification" }
  local exact = fit(s.logistic{ lambda = 0.1 }, ds)
  local steps = fit(s.logistic{ lambda = 0.1, method = "sgd", batch = 30, epochs = 600 }, ds)
  lu.assertAlmostEquals(constant(steps), constant(exact), 0.1)
end

-- The support vector machine by a method that shares nothing with the solver's: the minimum over b
-- of the convex function min_a P(a, b), by golden section; inside, coordinate ascent of the dual.
local function hinge_at(b, v, lambda)
  local a, dual, all = { 0, 0, 0 }, {}, total(v)
  local rows = {}
  for i = 1, n do
    rows[i], dual[i] = { X:get(i, 1), X:get(i, 2), X:get(i, 3) }, 0
  end
  local function along(row) return row[1] * a[1] + row[2] * a[2] + row[3] * a[3] end
  for _ = 1, 600 do
    for i = 1, n do
      local row, y = rows[i], labels[i]
      local to = dual[i] + (1 - y * (along(row) + b)) / (row[1] ^ 2 + row[2] ^ 2 + row[3] ^ 2)
      to = math.max(0, math.min(v[i] / (lambda * all), to))
      for j = 1, 3 do a[j] = a[j] + (to - dual[i]) * y * row[j] end
      dual[i] = to
    end
  end
  local value = lambda / 2 * (a[1] ^ 2 + a[2] ^ 2 + a[3] ^ 2)
  for i = 1, n do
    value = value + v[i] / all * math.max(0, 1 - labels[i] * (along(rows[i]) + b))
  end
  return value
end

local function least_hinge(v, lambda)
  local ratio, low, high = (math.sqrt(5) - 1) / 2, -15, 5
  local c, e = high - ratio * (high - low), low + ratio * (high - low)
  local at_c, at_e = hinge_at(c, v, lambda), hinge_at(e, v, lambda)
  for _ = 1, 26 do
    if at_c < at_e then
      high, e, at_e = e, c, at_c
      c = high - ratio * (high - low)
      at_c = hinge_at(c, v, lambda)
    else
      low, c, at_c = c, e, at_e
      e = low + ratio * (high - low)
      at_e = hinge_at(e, v, lambda)
    end
  end
  return math.min(at_c, at_e)
end

local function hinge_value(p, ds, v, lambda)
  local f, value = p:decision(ds.X), lambda / 2 * p:weights():norm() ^ 2
  local y = ds:targets()
  for i = 1, #ds do
    value = value + v[i] / total(v) * math.max(0, 1 - y:get(i, 1) * f:get(i, 1))
  end
  return value
end

function TestHingeOnUnbalancedClasses()
  for _, w in ipairs(both) do
    for _, lambda in ipairs{ 0.02, 0.3 } do
      local ds, v = classified(w), w or ones
      local p = fit(s.hinge{ lambda = lambda, tolerance = 1e-8 }, ds)
      lu.assertEquals(p:info().status, "converged")
      local value, least = hinge_value(p, ds, v, lambda), least_hinge(v, lambda)
      lu.assertTrue(value <= least * (1 + 2e-6), ("%.9g above %.9g"):format(value, least))
      lu.assertTrue(value >= least * (1 - 1e-3)) -- the golden section's own accuracy
    end
  end
end

-- The gap that is told bounds how far the objective is from the least, of early and late solutions.
function TestTheHingesGapIsOfTheProblemWithAConstant()
  local features = sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 },
    phi = sc.nonlinearity.fourier(), T = 60, seed = 4 }
  local x = sc.randn{ 3000, 3, seed = 5 }
  local y = {}
  for i = 1, 3000 do y[i] = x:get(i, 1) + x:get(i, 2) ^ 2 > 2.5 and "rare" or "common" end
  local ds = sc.dataset{ X = x, y = y } -- several chunks
  local function solve(tolerance, most)
    local p = sc.pipeline{ features, s.hinge{ lambda = 1e-3, tolerance = tolerance,
      max_iterations = most } }:fit(ds)
    local f, t, value = p:decision(x), ds:targets(), 5e-4 * p:weights():norm() ^ 2
    for i = 1, 3000 do value = value + math.max(0, 1 - t:get(i, 1) * f:get(i, 1)) / 3000 end
    return value, p:info()
  end
  local least, close = solve(1e-6)
  lu.assertEquals(close.status, "converged")
  for _, case in ipairs{ { 1e-1 }, { 1e-2 }, { 1e-3 }, { 1e-9, 5 } } do
    local value, info = solve(table.unpack(case))
    lu.assertTrue(value - least <= info.gap * value + 1e-12)
    lu.assertTrue(value >= least * (1 - 1e-6))
  end
end

function TestHingeWithAConstantIsTheSameInAnyBlockAndOnAnyThreads()
  local before, want = core.threads()
  for _, case in ipairs{ { nil, 1 }, { 7, 3 } } do
    core.threads(case[2])
    local p = sc.pipeline{ s.hinge{ lambda = 0.01 }, block = case[1] }:fit(classes)
    want = want or p
    lu.assertTrue((p:weights() - want:weights()):abs():max() < 1e-9)
    lu.assertAlmostEquals(constant(p), constant(want), 1e-9)
  end
  core.threads(before)
end

-- Every class against the others, one of them a tenth of the rows; a class that a fold lacks.
function TestHingeOfSeveralClasses()
  local y = {}
  for i = 1, n do y[i] = i % 10 == 0 and 3 or X:get(i, 1) > 2 and 1 or 2 end
  local p = fit(s.hinge{ lambda = 0.01, tolerance = 1e-7 }, sc.dataset{ X = X, y = y,
    classes = { 1, 2, 3 }, task = "classification" })
  lu.assertEquals(p:info().status, "converged")
  for k = 1, 3 do
    local one = {}
    for i = 1, n do one[i] = y[i] == k and 1 or -1 end
    local alone = fit(s.hinge{ lambda = 0.01, tolerance = 1e-7 }, data(one, nil, "classification"))
    local apart = alone:decision(X) - p:decision(X):column(k)
    lu.assertTrue(apart:abs():max() < 5e-3)
  end
  for i = 1, n do if y[i] == 3 then y[i] = 1 end end
  local without = fit(s.hinge{ lambda = 0.01 }, sc.dataset{ X = X, y = y, classes = { 1, 2, 3 },
    task = "classification" })
  lu.assertTrue(without:decision(X):column(3):max() <= -1 + 1e-9)
end

-- ------------ what stands on the coefficients

function TestPruningAndProbabilitiesKeepTheConstant()
  local p = sc.pipeline{ weighting(), s.hinge{ lambda = 0.01 } }:fit(classes)
  local small = p:prune{ epsilon = 0.05, accept = "zero_one" }
  lu.assertTrue(small:intercept() == p:intercept())
  lu.assertTrue(small:score(classes) >= p:score(classes) - 0.05)
  local ridge = sc.pipeline{ sc.standardize(), s.ridge{} }:fit(classes)
  local probabilities, mean = ridge:probabilities(X), 0
  for i = 1, n do mean = mean + probabilities:get(i, 2) / n end
  lu.assertAlmostEquals(mean, counts() / n, 0.05)
end

function TestGuaranteesRefuseAConstantWithTheWayOut()
  lu.assertErrorMsgContains("intercept = false", function()
    sc.pipeline{ weighting(), s.ridge{} }:fit(classes):bound()
  end)
end

os.exit(lu.LuaUnit.run(), true)

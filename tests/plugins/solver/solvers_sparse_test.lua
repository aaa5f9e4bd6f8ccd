-- Solvers that read sparse rows as they are: the optimum is that of the same rows with their zeros,
-- found by another method; what must not change it; bad input.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

-- n x d rows of which about `share` of the numbers are not 0, and scores of hidden weights.
local function rows_of(n, d, seed)
  local drawn, X = sc.randn{ n, d, seed = seed }, sc.zeros(n, d)
  for i = 1, n do
    for j = 1, d do
      if drawn:get(i, j) > 1.3 then X:set(i, j, drawn:get(i, j) - 1) end
    end
  end
  local f = X * sc.randn{ d, 1, seed = seed + 1 } + 1.5 * sc.randn{ n, 1, seed = seed + 2 }
  return X, f
end

local function labels(f, classes)
  local y = {}
  for i = 1, f:rows() do
    y[i] = classes == 2 and (f[i] > 0.5 and "yes" or "no")
      or f[i] > 1 and "high" or f[i] > -1 and "middle" or "low"
  end
  return y
end

-- The same rows twice: sparse and dense.
local function pair(fields)
  local dense, sparse = {}, {}
  for key, value in pairs(fields) do dense[key], sparse[key] = value, value end
  sparse.X = sc.matrix.csr(fields.X)
  return sc.dataset(dense), sc.dataset(sparse)
end

local function objective(solver, ds, m)
  local training <close> = core.training(core.source(ds.X, ds:targets()), {}, nil,
    { classes = ds.task == "classification" and #ds.classes or 0, weights = ds.weights,
      quiet = true })
  local instance = require "scullery.compose.component".instance(solver)
  return core.objective(training, instance, m:weights(), m:intercept())
end

local function loss_of_ridge(ds, m, lambda)
  local e, sum, total = m:decision(ds.X) - ds.y, 0, 0
  for i = 1, #ds do
    local w = ds.weights and ds.weights:get(i, 1) or 1
    sum, total = sum + w * e:get(i, 1) ^ 2, total + w
  end
  return sum / total / 2 + lambda / 2 * m:weights():norm() ^ 2
end

local function weights_of(n)
  local w = sc.zeros(n, 1)
  for i = 1, n do w:set(i, 1, i % 5) end
  return w
end

local X, f = rows_of(600, 320, 1)

-- ------------ classes

local makers = {
  hinge = function(o) return sc.solver.hinge(o) end,
  squared_hinge = function(o) o.loss = "squared_hinge" return sc.solver.hinge(o) end,
  logistic = function(o) return sc.solver.logistic(o) end,
}

local function check_same(maker, dense, sparse, options, what)
  local solver = maker(options)
  local a, b = sc.pipeline{ solver }:fit(dense), sc.pipeline{ solver }:fit(sparse)
  lu.assertEquals(a:info().status, "converged", what)
  lu.assertEquals(b:info().status, "converged", what)
  local at_a, at_b = objective(solver, dense, a), objective(solver, dense, b)
  lu.assertAlmostEquals(at_b / at_a, 1, 1e-6, what)
  return a, b
end

function TestTheOptimumIsThatOfTheDenseRows()
  for name, maker in pairs(makers) do
    for _, classes in ipairs{ 2, 3 } do
      local dense, sparse = pair{ X = X, y = labels(f, classes), task = "classification" }
      for _, lambda in ipairs{ 1e-1, 1e-3 } do
        for _, intercept in ipairs{ true, false } do
          check_same(maker, dense, sparse,
            { lambda = lambda, tolerance = 2e-7, intercept = intercept, max_iterations = 20000 },
            ("%s, %d classes, lambda %g, %s"):format(name, classes, lambda, intercept))
        end
      end
    end
  end
end

function TestRowsCountByTheirWeights()
  local fields = { X = X, y = labels(f, 2), task = "classification", weights = weights_of(600) }
  local dense, sparse = pair(fields)
  for name, maker in pairs(makers) do
    check_same(maker, dense, sparse, { lambda = 1e-2, tolerance = 2e-7, max_iterations = 20000 },
      name)
  end
end

function TestTheGapBoundsTheDistanceFromTheLeast()
  local dense, sparse = pair{ X = X, y = labels(f, 2), task = "classification" }
  for name, maker in pairs{ hinge = makers.hinge, squared_hinge = makers.squared_hinge } do
    local best = sc.pipeline{ maker{ lambda = 1e-3, tolerance = 1e-8, max_iterations = 1e5 } }
    best:fit(sparse)
    for _, tolerance in ipairs{ 1e-1, 1e-2, 1e-3 } do
      local solver = maker{ lambda = 1e-3, tolerance = tolerance }
      local m = sc.pipeline{ solver }:fit(sparse)
      local least, value = objective(solver, dense, best), objective(solver, dense, m)
      lu.assertTrue(m:info().gap <= tolerance, name)
      lu.assertTrue((value - least) / value <= m:info().gap + 1e-8, name)
    end
  end
end

function TestClassesOfOneSideNeedNoWeights()
  local y = {}
  for i = 1, 600 do y[i] = i == 1 and "no" or "yes" end
  local weights = sc.ones(600, 1)
  weights:set(1, 1, 0)
  local _, sparse = pair{ X = X, y = y, task = "classification", weights = weights }
  for _, name in ipairs{ "hinge", "squared_hinge" } do
    local m = sc.pipeline{ makers[name]{ lambda = 1e-2 } }:fit(sparse)
    lu.assertAlmostEquals(m:weights():norm(), 0, 1e-9, name)
    lu.assertAlmostEquals(m:decision(X):get(7, 1), 1, 1e-2, name)
  end
end

function TestTheSeedOrdersTheRows()
  local _, sparse = pair{ X = X, y = labels(f, 2), task = "classification" }
  local function weights(seed)
    return sc.pipeline{ sc.solver.hinge{ lambda = 1e-2, tolerance = 1e-3, seed = seed } }
      :fit(sparse):weights()
  end
  lu.assertTrue(weights(0) == weights(0))
  lu.assertFalse(weights(0) == weights(1))
end

function TestEmptyRowsAndColumns()
  local few = X:copy()
  for j = 1, 320 do few:set(3, j, 0) end
  for i = 1, 600 do few:set(i, 5, 0) end
  local dense, sparse = pair{ X = few, y = labels(f, 2), task = "classification" }
  for name, maker in pairs(makers) do
    local _, b = check_same(maker, dense, sparse, { lambda = 1e-2, tolerance = 2e-7 }, name)
    lu.assertEquals(b:weights():get(5, 1), 0, name)
  end
end

function TestSeparableClassesWithoutAPenaltyAreSaid()
  local y = {}
  for i = 1, 600 do y[i] = X:get(i, 1) > 0 and "yes" or "no" end
  local _, sparse = pair{ X = X, y = y, task = "classification" }
  local m = sc.pipeline{ sc.solver.logistic{ lambda = 0, max_iterations = 30 } }:fit(sparse)
  lu.assertEquals(m:info().status, "iterations exhausted")
  lu.assertStrContains(m:info().note, "separable")
end

-- The probabilities of several classes stay the same where all constants move together.
function TestConstantsOfClassesHaveTheSumZero()
  local dense, sparse = pair{ X = X, y = labels(f, 3), task = "classification" }
  local a, b = check_same(makers.logistic, dense, sparse, { lambda = 1e-3, tolerance = 1e-7 })
  lu.assertAlmostEquals(b:intercept():sum(), 0, 1e-12)
  lu.assertTrue((a:decision(X) - b:decision(X)):abs():max() < 1e-3)
end

-- ------------ squares

function TestLeastSquares()
  for _, weights in ipairs{ false, weights_of(600) } do
    local dense, sparse = pair{ X = X, y = f, task = "regression", weights = weights or nil }
    for _, lambda in ipairs{ 1e-1, 1e-4 } do
      local best = loss_of_ridge(dense, sc.pipeline{ sc.solver.ridge{ lambda = lambda } }
        :fit(dense), lambda)
      for _, solver in ipairs{ sc.solver.ridge{ lambda = lambda },
        sc.solver.cg{ lambda = lambda, tolerance = 1e-8 } } do
        local m = sc.pipeline{ solver }:fit(sparse)
        lu.assertEquals(m:info().status, "converged")
        lu.assertAlmostEquals(loss_of_ridge(dense, m, lambda) / best, 1, 1e-9)
      end
    end
  end
end

-- Beyond 2000 columns ridge takes no system.
function TestRidgeOfManyColumns()
  local n, d = 2100, 2050
  local columns, values, starts, y = {}, {}, { 0 }, {}
  local drawn = sc.rand{ n, 8, seed = 5 }
  for i = 1, n do
    local used = {}
    for k = 1, 8 do used[math.floor(drawn:get(i, k) ^ 2 * d)] = true end
    local list = {}
    for j in pairs(used) do list[#list + 1] = j end
    table.sort(list)
    for _, j in ipairs(list) do
      columns[#columns + 1], values[#values + 1] = j, 1 + j % 3
    end
    starts[i + 1] = #columns
    y[i] = math.sin(i) + list[1] / d
  end
  local S = sc.matrix.csr{ rows = n, columns = d, starts = starts, indices = columns,
    values = values }
  local sparse = sc.dataset{ X = S, y = y, task = "regression" }
  local m = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(sparse)
  local by_system = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3, form = "primal" } }:fit(sparse)
  lu.assertEquals(m:info().status, "converged")
  lu.assertTrue(m:info().iterations > 1)
  lu.assertTrue((m:weights() - by_system:weights()):norm() < 1e-6 * by_system:weights():norm())
end

-- ------------ lasso

local function loss_of_lasso(ds, m, lambda, ratio)
  local a, sum = m:weights(), 0
  for j = 1, a:rows() do sum = sum + math.abs(a:get(j, 1)) end
  return loss_of_ridge(ds, m, lambda * (1 - ratio)) + lambda * ratio * sum
end

-- 250 columns: with fewer it goes by sums.
function TestLasso()
  local Z, g = rows_of(500, 250, 11)
  for _, weights in ipairs{ false, weights_of(500) } do
    for _, ratio in ipairs{ 1, 0.5 } do
      local dense, sparse = pair{ X = Z, y = g, task = "regression", weights = weights or nil }
      for _, lambda in ipairs{ 0.3, 0.03, 0.003 } do
        for _, intercept in ipairs{ true, false } do
          local solver = sc.solver.lasso{ lambda = lambda, l1_ratio = ratio, tolerance = 1e-8,
            intercept = intercept }
          local a, b = sc.pipeline{ solver }:fit(dense), sc.pipeline{ solver }:fit(sparse)
          local what = ("lambda %g, l1_ratio %g, %s"):format(lambda, ratio, intercept)
          lu.assertEquals(b:info().status, "converged", what)
          lu.assertTrue(b:info().gap <= 1e-8, what)
          lu.assertAlmostEquals(loss_of_lasso(dense, b, lambda, ratio)
            / loss_of_lasso(dense, a, lambda, ratio), 1, 1e-6, what)
          lu.assertAlmostEquals((a:predict(Z) - b:predict(Z)):norm() / a:predict(Z):norm(), 0,
            1e-3, what)
        end
      end
    end
  end
end

function TestLassoLeavesOutWhatALargeLambdaDoes()
  local Z, g = rows_of(500, 250, 11)
  local _, sparse = pair{ X = Z, y = g, task = "regression" }
  local m = sc.pipeline{ sc.solver.lasso{ lambda = 1e3 } }:fit(sparse)
  lu.assertEquals(m:weights():norm(), 0)
  lu.assertAlmostEquals(m:predict(Z):get(1, 1), g:mean(), 1e-12)
end

-- ------------ any loss

function TestAnyLossAndPenalty()
  local classes = { y = labels(f, 2), task = "classification" }
  local numbers = { y = f, task = "regression" }
  for _, case in ipairs{ { sc.loss.logistic(), classes }, { sc.loss.squared_hinge(), classes },
    { sc.loss.huber{ delta = 2 }, numbers }, { sc.loss.hinge(), classes } } do
    local loss, fields = case[1], case[2]
    local dense, sparse = pair{ X = X, y = fields.y, task = fields.task }
    for _, penalty in ipairs{ "l2", "l1", "elastic" } do
      if loss.name ~= "hinge" or penalty == "l2" then
        local solver = sc.solver.erm{ loss = loss, penalty = penalty, lambda = 1e-2,
          tolerance = 1e-6 }
        check_same(function() return solver end, dense, sparse, nil, loss.name .. ", " .. penalty)
      end
    end
  end
end

function TestALossOfAScript()
  local dense, sparse = pair{ X = X, y = f, task = "regression" }
  local loss = sc.loss.define{ name = "rooted",
    value = function(s, y) return math.sqrt((s - y) ^ 2 + 1) end,
    slope = function(s, y) return (s - y) / math.sqrt((s - y) ^ 2 + 1) end }
  check_same(function() return sc.solver.erm{ loss = loss(), lambda = 1e-2, tolerance = 1e-6 } end,
    dense, sparse, nil, "a loss of a script")
end

-- ------------ all of them

local classes = { X = X, y = labels(f, 3), task = "classification" }
local numbers = { X = X, y = f, task = "regression" }
local solvers = {
  hinge = { classes, function(o) return sc.solver.hinge(o) end },
  squared_hinge = { classes, makers.squared_hinge },
  logistic = { classes, makers.logistic },
  ridge = { numbers, function(o) o.tolerance = nil return sc.solver.ridge(o) end },
  cg = { numbers, function(o) return sc.solver.cg(o) end },
  lasso = { numbers, function(o) return sc.solver.lasso(o) end },
  erm = { numbers, function(o) o.loss = sc.loss.huber{ delta = 2 } return sc.solver.erm(o) end },
  erm_l1 = { numbers, function(o)
    o.loss, o.penalty = sc.loss.huber{ delta = 2 }, "l1"
    return sc.solver.erm(o)
  end },
}

function TestThreadsDoNotChangeABit()
  local before = core.threads()
  for name, one in pairs(solvers) do
    local _, sparse = pair(one[1])
    local wanted
    for _, threads in ipairs{ 1, 2, 4 } do
      core.threads(threads)
      local ok, m = pcall(function()
        return sc.pipeline{ one[2]{ lambda = 1e-2, tolerance = 1e-4 } }:fit(sparse)
      end)
      core.threads(before)
      if not ok then error(m, 0) end
      wanted = wanted or m
      lu.assertTrue(m:weights() == wanted:weights(), name)
      lu.assertTrue(m:weights():norm() > 0, name)
    end
  end
end

-- Numbers of the rows in float32, and the same as float64: sums are float64 in both.
function TestNumbersInFloat32()
  local rounded = X:astype("float32"):astype("float64")
  for name, one in pairs(solvers) do
    local weights = {}
    for _, dtype in ipairs{ "float32", "float64" } do
      local ds = sc.dataset{ X = sc.matrix.csr(rounded, { dtype = dtype }), y = one[1].y,
        task = one[1].task }
      lu.assertEquals(ds.X:dtype(), dtype)
      weights[dtype] = sc.pipeline{ one[2]{ lambda = 1e-2, tolerance = 1e-6 } }:fit(ds):weights()
    end
    lu.assertTrue((weights.float32 - weights.float64):norm() < 1e-9 * weights.float64:norm(), name)
  end
end

-- Several targets, without a constant, rows that count by their weights.
function TestTargetsTogether()
  local Y = sc.zeros(600, 2)
  for i = 1, 600 do Y:set(i, 1, f[i]) Y:set(i, 2, math.sin(i) + X:get(i, 3)) end
  for _, intercept in ipairs{ true, false } do
    local dense, sparse = pair{ X = X, y = Y, task = "regression", weights = weights_of(600) }
    for _, name in ipairs{ "ridge", "cg", "lasso", "erm", "erm_l1" } do
      local fits = {}
      for i, ds in ipairs{ dense, sparse } do
        fits[i] = sc.pipeline{ solvers[name][2]{ lambda = 1e-2, tolerance = 1e-8,
          intercept = intercept } }:fit(ds)
        lu.assertEquals(fits[i]:info().status, "converged", name)
      end
      local wanted = fits[1]:predict(X)
      lu.assertTrue((fits[2]:predict(X) - wanted):norm() < 1e-3 * wanted:norm(), name)
    end
  end
end

-- ------------ searches

-- A search goes through the lambdas of a fold by warm starts; each model is that of a fit alone, of
-- the rows with their zeros.
function TestAPathFindsWhatSingleFitsFind()
  local list = { 1e-3, 1e-1, 1e-2 }
  for name, one in pairs(solvers) do
    local dense, sparse = pair(one[1])
    local function pipeline(lambda)
      return sc.pipeline{ one[2]{ lambda = lambda, tolerance = 1e-7 } }
    end
    local given = { folds = 3, seed = 1, score = "loss" }
    local cells = pipeline(sc.choose(list)):search(sparse, given).table
    lu.assertEquals(#cells, 3)
    for _, cell in ipairs(cells) do
      local alone = pipeline(cell.choice["solver.lambda"]):cv(dense, given)
      lu.assertEquals(cell.unconverged, 0)
      lu.assertAlmostEquals(cell.mean / alone.mean, 1, 1e-4,
        ("%s, lambda %g"):format(name, cell.choice["solver.lambda"]))
    end
  end
end

-- Where lambdas are only compared, fits end at a hundred times the tolerance: scores differ by far
-- less than their standard error. The chosen model ends at the tolerance itself.
function TestScoresOfSearchesAreRight()
  local ds = sc.dataset{ X = sc.matrix.csr(X), y = labels(f, 2) }
  for name, maker in pairs(makers) do
    local function search(tolerance)
      return sc.pipeline{ maker{ lambda = sc.choose{ 1e-4, 1e-3, 1e-2 }, tolerance = tolerance } }
        :search(ds, { folds = 4, seed = 1, score = "loss" })
    end
    local loose, tight = search(1e-5), search(1e-8)
    lu.assertEquals(loose.choice, tight.choice, name)
    lu.assertTrue(loose:info().tolerance <= 1e-5, name)
    for i, cell in ipairs(loose.table) do
      local other = tight.table[i]
      lu.assertTrue(math.abs(cell.mean - other.mean) < 0.1 * other.stderr, name)
    end
  end
end

-- All lambdas at once, for several targets with weights: the solution of each alone.
function TestLeastSquaresOfSeveralLambdas()
  local Z, g = rows_of(200, 2100, 31)
  local y = sc.hcat(g, g * g:t() * sc.ones(200, 1) * 0.01, sc.ones(200, 1) * 3)
  local ds = sc.dataset{ X = sc.matrix.csr(Z), y = y, weights = weights_of(200) }
  local list = { 1e-1, 1e-5, 1e-3 }
  local given = { folds = 3, seed = 2, score = "mse" }
  for _, intercept in ipairs{ true, false } do
    local function p(lambda)
      return sc.pipeline{ sc.solver.ridge{ lambda = lambda, intercept = intercept } }
    end
    for _, cell in ipairs(p(sc.choose(list)):search(ds, given).table) do
      local alone = p(cell.choice["solver.lambda"]):cv(ds, given)
      lu.assertEquals(cell.unconverged, 0)
      lu.assertAlmostEquals(cell.mean / alone.mean, 1, 1e-5)
    end
  end
end

-- More rows than different words, which the classes share: D hardly bends where rows are alike.
function TestHingeOfTextsThatAreAlike()
  local texts, y = {}, {}
  local said = { "free prize click now", "lunch at noon report", "match goal team score" }
  for i = 1, 300 do
    texts[i] = said[i % 3 + 1] .. " w" .. i * 7 % 50 .. " and w" .. i * 3 % 41
    y[i] = ("abc"):sub(i % 3 + 1, i % 3 + 1)
  end
  for _, intercept in ipairs{ true, false } do
    local p = sc.pipeline{ sc.text{ bits = 14 },
      sc.solver.hinge{ lambda = 1e-4, intercept = intercept } }:fit(texts, y)
    lu.assertIsNil(p:info().note)
    lu.assertTrue(p:info().iterations < 500)
  end
end

-- Beyond 4000 columns the hinge loss has no other method to end with.
function TestHingeOfManyColumns()
  local Z, g = rows_of(150, 4100, 21)
  local dense, sparse = pair{ X = Z, y = labels(g, 2), task = "classification" }
  for _, lambda in ipairs{ 1e-1, 1e-4 } do
    check_same(makers.hinge, dense, sparse,
      { lambda = lambda, tolerance = 1e-6, max_iterations = 20000 }, ("lambda %g"):format(lambda))
  end
end

os.exit(lu.LuaUnit.run(), true)

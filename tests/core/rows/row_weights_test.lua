-- Row weights: a row of weight 2 counts as the row twice, whatever the solver; and what else they
-- must and must not change.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local refused = dofile("tests/helpers/support.lua").fails

local n, d = 90, 4
local X = sc.randn{ n, d, seed = 1 }
local W, numbers, signs, kinds = {}, {}, {}, {}
do
  local noise = sc.randn{ n, 1, seed = 2 }
  for i = 1, n do
    W[i] = (i * 7) % 4 -- 0, 1, 2, 3
    numbers[i] = X:get(i, 1) - 2 * X:get(i, 2) + math.sin(3 * X:get(i, 3)) + 0.3 * noise:get(i, 1)
    signs[i] = numbers[i] + 0.5 * noise:get(i, 1) > 0.2 and 1 or -1
    kinds[i] = (X:get(i, 1) + noise:get(i, 1) / 2 > 0 and 1 or 0) + (X:get(i, 2) > 0.3 and 1 or 0)
  end
end

local regression = { y = numbers, task = "regression" }
local binary = { y = signs, task = "classification", classes = { -1, 1 } }
local several = { y = kinds, task = "classification", classes = { 0, 1, 2 } }

local function data(kind, weights, rows)
  local y = {}
  for k = 1, rows and #rows or n do y[k] = kind.y[rows and rows[k] or k] end
  return sc.dataset{ X = rows and X:select(rows) or X, y = y, task = kind.task,
    classes = kind.classes, weights = weights }
end
-- Each row as often as its weight says.
local repeated = {}
for i = 1, n do for _ = 1, W[i] do repeated[#repeated + 1] = i end end

local function sinks(T)
  return sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 }, phi = sc.nonlinearity.fourier(),
    T = T or 25, seed = 3 }
end
local function weighting() return sc.instantiation{ W = sc.space.threshold(),
  K = sc.kernel.gaussian{ width = 0.1 },
  p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign() }:features{ T = 25,
    seed = 3 } end

local function model(features, solver, ds, class_weights)
  return sc.pipeline{ features, solver, class_weights = class_weights }:fit(ds)
end
local function apart(a, b) return (a - b):abs():max() end

local s = sc.solver
-- features, kind of targets, solver; then how far decisions may be apart, by what the solver's
-- tolerance leaves open
local function each_case()
  local list = {}
  local function add(name, features, kind, solver, within)
    list[#list + 1] = { name, features, kind, solver, within }
  end
  for _, intercept in ipairs{ false, true } do
    local tag = intercept and " with intercept" or ""
    add("ridge" .. tag, sinks(), regression, s.ridge{ lambda = 1e-2, intercept = intercept }, 1e-9)
    add("wide ridge" .. tag, sinks(200), regression, s.ridge{ lambda = 1e-2, intercept = intercept,
      form = "primal" }, 1e-9)
    add("ridge rkhs" .. tag, weighting(), regression, s.ridge{ lambda = 1e-3, penalty = "rkhs",
      intercept = intercept }, 1e-7)
    add("ridge, three classes" .. tag, sinks(), several,
      s.ridge{ lambda = 1e-2, intercept = intercept }, 1e-9)
    add("cg" .. tag, sinks(), regression, s.cg{ lambda = 1e-2, tolerance = 1e-12,
      intercept = intercept }, 1e-8)
    add("lasso" .. tag, sinks(), regression, s.lasso{ lambda = 1e-2, tolerance = 1e-12,
      intercept = intercept }, 1e-5)
    add("elastic net" .. tag, sinks(), several, s.lasso{ lambda = 1e-2, l1_ratio = 0.5,
      tolerance = 1e-12, intercept = intercept }, 1e-5)
    add("logistic" .. tag, sinks(), binary, s.logistic{ lambda = 1e-2, tolerance = 1e-10,
      intercept = intercept }, 1e-7)
    add("logistic, three classes" .. tag, weighting(), several,
      s.logistic{ lambda = 1e-2, tolerance = 1e-10, intercept = intercept }, 1e-7)
    for _, loss in ipairs{ "square", "hinge", "logistic" } do
      add("box " .. loss .. tag, sinks(), binary, s.box{ C = 20, loss = loss, tolerance = 1e-11,
        intercept = intercept }, 1e-3)
    end
    add("huber" .. tag, sinks(), regression, s.huber{ lambda = 1e-2, delta = 0.5, scale = "none",
      intercept = intercept }, 1e-6)
    add("huber, mad" .. tag, sinks(), regression, s.huber{ lambda = 1e-2, intercept = intercept },
      1e-6)
    add("kernel ridge" .. tag, nil, regression,
      s.kernel_ridge{ kernel = sc.kernel.gaussian{ width = 0.3 }, lambda = 1e-2,
        intercept = intercept }, 1e-8)
  end
  add("hinge", sinks(), binary, s.hinge{ lambda = 1e-2, tolerance = 1e-9 }, 1e-3)
  add("hinge, three classes", weighting(), several, s.hinge{ lambda = 1e-2, tolerance = 1e-9 },
    1e-3)
  add("adaboost", nil, binary, s.adaboost{ stumps = 30 }, 1e-9)
  return list
end

local function pipeline_of(features, solver)
  return features and sc.pipeline{ features, solver } or sc.pipeline{ solver }
end

function TestWeightTwoIsTheRowTwice()
  for _, case in ipairs(each_case()) do
    local name, features, kind, solver, within = table.unpack(case, 1, 5)
    local weighted = pipeline_of(features, solver):fit(data(kind, W))
    local twice = pipeline_of(features, solver):fit(data(kind, nil, repeated))
    lu.assertNotEquals(weighted:info().status, "iterations exhausted", name)
    lu.assertTrue(apart(weighted:decision(X), twice:decision(X)) <= within,
      ("%s: %.2g apart"):format(name, apart(weighted:decision(X), twice:decision(X))))
    local a, b = weighted:info().loss, twice:info().loss
    lu.assertEquals(a == nil, b == nil, name)
    if a then
      lu.assertTrue(math.abs(a - b) <= within * (1 + a), ("%s: losses %g and %g"):format(name, a,
        b))
    end
  end
end

function TestTrimmingCountsWeightsAsRows()
  -- where the share of rows to leave out comes to the same number of each: 9 of 90, 18 of 180
  local w, rows = {}, {}
  for i = 1, n do
    w[i] = i % 2 == 0 and 3 or 1
    for _ = 1, w[i] do rows[#rows + 1] = i end
  end
  for _, intercept in ipairs{ false, true } do
    local solver = s.trimmed{ lambda = 1e-2, fraction = 0.1, intercept = intercept }
    local weighted, twice = model(sinks(), solver, data(regression, w)),
      model(sinks(), solver, data(regression, nil, rows))
    lu.assertTrue(apart(weighted:decision(X), twice:decision(X)) < 1e-8)
    lu.assertNil(weighted:info().loss) -- the kept rows' sums are not those of all rows
  end
end

function TestNeighboursVoteByWeight()
  -- k counts rows, weights count votes: one of two is not the row twice. A row of weight 0 is as
  -- good as not there
  local ask, k = sc.randn{ 20, d, seed = 8 }, 5
  local m = sc.pipeline{ s.knn{ k = k } }:fit(data(regression, W))
  for i = 1, 20 do
    local order, sum, total = {}, 0, 0
    for j = 1, n do
      if W[j] > 0 then order[#order + 1] = { (ask:row(i) - X:row(j)):norm(), j } end
    end
    table.sort(order, function(a, b) return a[1] < b[1] end)
    for r = 1, k do
      local j = order[r][2]
      sum, total = sum + W[j] * numbers[j], total + W[j]
    end
    lu.assertAlmostEquals(m:decision(ask):get(i, 1), sum / total, 1e-12)
  end
end

function TestWeightsMatter() -- so that the test above says something
  for _, case in ipairs(each_case()) do
    local name, features, kind, solver, within = table.unpack(case, 1, 5)
    local weighted, plain = pipeline_of(features, solver):fit(data(kind, W)),
      pipeline_of(features, solver):fit(data(kind))
    lu.assertTrue(apart(weighted:decision(X), plain:decision(X)) > math.max(10 * within, 1e-3),
      name)
  end
end

function TestOnlyRatiosOfWeightsCount()
  -- every objective is a weighted mean; a power of two changes no rounding but that of logarithms
  -- and tolerances
  for _, case in ipairs(each_case()) do
    local name, features, kind, solver, within = table.unpack(case, 1, 5)
    local larger, w = {}, {}
    for i = 1, n do w[i], larger[i] = W[i] + 0.25, 1024 * (W[i] + 0.25) end
    local a, b = pipeline_of(features, solver):fit(data(kind, w)),
      pipeline_of(features, solver):fit(data(kind, larger))
    lu.assertTrue(apart(a:decision(X), b:decision(X)) <= within,
      ("%s: %.2g apart"):format(name, apart(a:decision(X), b:decision(X))))
  end
end

function TestStochasticMethodsKnowRatiosToo()
  local few = { batch = 20, iterations = 25, lambda = 1e-2, seed = 4 }
  local cases = {
    { weighting(), s.sfgd{ lambda = 1e-2, batch = 20, iterations = 25, seed = 4 } },
      { weighting(), s.optimal_stepsize(few) },
    { sinks(), s.logistic{ method = "sgd", lambda = 1e-2, batch = 30, epochs = 3, seed = 4 } },
  }
  for _, case in ipairs(cases) do
    local larger, all = {}, {}
    for i = 1, n do larger[i], all[i] = 8 * W[i], 3 end
    local one = model(case[1], case[2], data(binary, W)):decision(X)
    lu.assertTrue(apart(one, model(case[1], case[2], data(binary, larger)):decision(X)) <= 1e-12 * (
      1 + one:abs():max()), tostring(case[2]))
    local plain = model(case[1], case[2], data(binary)):decision(X)
    lu.assertTrue(apart(plain, model(case[1], case[2], data(binary, all)):decision(X)) <= 1e-12 * (
      1 + plain:abs():max()), tostring(case[2]))
    lu.assertTrue(apart(plain, one) > 1e-3, tostring(case[2]))
  end
end

function TestWeightedRidgeSolvesItsNormalEquations()
  -- (Phi'W Phi + sum(w) lambda P) a = Phi'W y, centred at weighted means where there is an
  -- intercept
  for _, case in ipairs{ { sinks(), "l2" }, { sinks(150), "l2" }, { weighting(), "rkhs" } } do
    for _, intercept in ipairs{ false, true } do
      local lambda = 1e-2
      local m = model(case[1], s.ridge{ lambda = lambda, penalty = case[2], intercept = intercept },
        data(regression, W))
      local phi, y, w = m:transform(X), sc.matrix(numbers), sc.matrix(W)
      local total = w:sum()
      if intercept then
        phi = phi - sc.ones(n, 1) * (w:t() * phi * (1 / total))
        y = y - (w:t() * y):get(1, 1) / total
      end
      local scaled = phi * 1
      for i = 1, n do for j = 1, phi:cols() do scaled:set(i, j, W[i] * phi:get(i, j)) end end
      local a, right = m:weights(), scaled:t() * y
      local P = case[2] == "rkhs" and weighting():fit(X):gram() * a or a
      lu.assertTrue(apart(scaled:t() * (phi * a) + P * (lambda * total),
        right) < 1e-8 * right:abs():max())
      -- the loss that is told is the weighted mean, and the intercept makes weighted residuals sum
      -- to 0
      local f, square, sum = m:decision(X), 0, 0
      for i = 1, n do
        local r = numbers[i] - f:get(i, 1)
        square, sum = square + W[i] * r ^ 2, sum + W[i] * r
      end
      lu.assertAlmostEquals(m:info().loss, square / total, 1e-9)
      if intercept then lu.assertAlmostEquals(sum / total, 0, 1e-9) end
    end
  end
end

function TestMoreFeaturesThanWeightedRowsTakesThePrimal()
  local auto = model(sinks(200), s.ridge{ lambda = 1e-2 }, data(regression, W))
  lu.assertEquals(auto:info().status, "converged")
  lu.assertTrue(auto:weights() == model(sinks(200), s.ridge{ lambda = 1e-2, form = "primal" },
    data(regression, W)):weights())
  local ok, message = pcall(model, sinks(200), s.ridge{ lambda = 1e-2, form = "dual" },
    data(regression, W))
  lu.assertFalse(ok)
  lu.assertStrContains(message, 'form = "primal"')
  -- a path and its folds go the same way
  local best = sc.pipeline{ sinks(200), s.ridge{ lambda = sc.choose{ 1e-3, 1e-1 } } }:search(
    data(regression, W), { folds = 3 })
  lu.assertEquals(#best.table, 2)
end

function TestClassWeightsAreRowWeights()
  for _, solver in ipairs{ s.ridge{ lambda = 1e-2 }, s.logistic{ lambda = 1e-2, tolerance = 1e-9 },
    s.lasso{ lambda = 1e-2, tolerance = 1e-10 } } do
    local rows = {}
    for i = 1, n do rows[i] = W[i] * (kinds[i] == 2 and 5 or 1) end
    local by_class = model(sinks(), solver, data(several, W), { [2] = 5 })
    lu.assertTrue(apart(by_class:weights(),
      model(sinks(), solver, data(several, rows)):weights()) < 1e-9)
  end
end

function TestBalancedClassesWeighAlike()
  local counts, rows = { 0, 0, 0 }, {}
  for i = 1, n do counts[kinds[i] + 1] = counts[kinds[i] + 1] + 1 end
  for i = 1, n do rows[i] = n / (3 * counts[kinds[i] + 1]) end
  local balanced = model(sinks(), s.ridge{ lambda = 1e-2 }, data(several), "balanced")
  lu.assertTrue(apart(balanced:weights(), model(sinks(), s.ridge{ lambda = 1e-2 },
    data(several, rows)):weights()) < 1e-10)
end

function TestScoresCountRowsOnce()
  local ds = data(regression, W)
  local m = model(sinks(), s.ridge{ lambda = 1e-2 }, ds)
  lu.assertAlmostEquals(m:error(ds), sc.metrics.mse(m:decision(X), sc.matrix(numbers)), 1e-12)
  lu.assertAlmostEquals(m:score(ds), sc.metrics.r2(m:decision(X), sc.matrix(numbers)), 1e-12)
  local labels = data(binary, W)
  local c = model(sinks(), s.ridge{ lambda = 1e-2 }, labels)
  lu.assertAlmostEquals(c:error(labels), sc.metrics.error_rate(c:predict(X), sc.matrix(signs)),
    1e-12)
end

function TestFoldsLearnWithTheirOwnWeights()
  local ds, lambdas = data(regression, W), { 1e-3, 1e-1 }
  for _, solver in ipairs{ function(l) return s.ridge{ lambda = l, intercept = true } end,
    function(l) return s.cg{ lambda = l, tolerance = 1e-12 } end } do
    local found = sc.pipeline{ sinks(), solver(sc.choose(lambdas)) }:search(ds,
      { folds = 3, seed = 5 })
    local ids = ds:fold_ids{ k = 3, seed = 5 }
    for k, lambda in ipairs(lambdas) do
      local sum = 0
      for fold = 1, 3 do
        local inside, outside, kept = {}, {}, {}
        for i = 1, n do table.insert(ids[i] == fold and outside or inside, i) end
        for j, i in ipairs(inside) do kept[j] = W[i] end
        local m = model(sinks(), solver(lambda), data(regression, kept, inside))
        sum = sum + m:error(data(regression, nil, outside)) / 3 -- judged unweighted
      end
      lu.assertAlmostEquals(found.table[k].mean, sum, 1e-8 * sum)
    end
  end
end

function TestPartsOfADataSetKeepTheirWeights()
  local ds = data(regression, W)
  lu.assertEquals(ds:subset(11, 20).weights:get(3, 1), W[13])
  local rows = ds:select{ 9, 2 }
  lu.assertEquals({ rows.weights:get(1, 1), rows.weights:get(2, 1) }, { W[9], W[2] })
  local train, test = ds:split{ test = 0.3, seed = 1 }
  lu.assertEquals(train.weights:sum() + test.weights:sum(), sc.matrix(W):sum())
end

function TestBlocksThreadsAndMemoryAreTheSameWithWeights()
  local before, want = core.threads(), {}
  for _, case in ipairs{ { nil, 1, 1.5e9 }, { 7, 2, 0 }, { 1, 3, 1e9 } } do
    core.threads(case[2])
    for k, solver in ipairs{ s.ridge{ lambda = 1e-2, intercept = true },
      s.logistic{ lambda = 1e-2, tolerance = 1e-10 }, s.cg{ lambda = 1e-2, tolerance = 1e-12 } } do
      local got = sc.pipeline{ sinks(), solver, block = case[1], allowance = case[3] }:fit(
        data(binary, W)):decision(X)
      want[k] = want[k] or got
      lu.assertTrue(apart(got, want[k]) < 1e-8, tostring(solver))
    end
  end
  core.threads(before)
end

function TestWrongWeightsAreSentences()
  local function with(at, value)
    local w = {}
    for i = 1, n do w[i] = 1 end
    w[at] = value
    return w
  end
  refused({ "weight 3", "-1", "at least 0" }, data, regression, with(3, -1))
  refused({ "weight 4", "finite" }, data, regression, with(4, 0 / 0))
  refused({ "weight 5", "finite" }, data, regression, with(5, math.huge))
  refused({ "90 rows", "89" }, data, regression, sc.ones(n - 1, 1))
  refused({ "90 rows", "90 x 2" }, data, regression, sc.ones(n, 2))
  refused({ "weights", "number" }, data, regression, 2)
  refused({ "weights", "3" }, data, regression, with(3, "heavy"))
  local zeros = {}
  for i = 1, n do zeros[i] = 0 end
  refused({ "all weights are 0" }, data, regression, zeros)
end

function TestWrongClassWeightsAreSentences()
  local function learn(ds, given) return model(sinks(), s.ridge{ lambda = 1e-2 }, ds, given) end
  refused({ "class_weights", "-2", "at least 0" }, learn, data(binary), { [1] = -2 })
  refused({ "class_weights", "at least 0" }, learn, data(binary), { [1] = 0 / 0 })
  refused({ "class_weights", "7" }, learn, data(binary), { [7] = 1 })
  refused({ "class_weights", "balanced" }, learn, data(binary), "balance")
  refused({ "class_weights", "classification" }, learn, data(regression), "balanced")
  refused({ "weights are 0" }, learn, data(binary), { [1] = 0, [-1] = 0 })
end

function TestAFoldThatHoldsAllTheWeightIsRefused()
  local w, ids = {}, data(regression):fold_ids{ k = 3, seed = 5 }
  for i = 1, n do w[i] = ids[i] == 2 and 1 or 0 end
  local ds = data(regression, w)
  for _, solver in ipairs{ s.ridge{ lambda = sc.choose{ 1e-2, 1e-1 } },
    s.cg{ lambda = sc.choose{ 1e-2, 1e-1 } },
                           s.lasso{ lambda = sc.choose{ 1e-2, 1e-1 } },
                             s.kernel_ridge{ lambda = sc.choose{ 1e-2, 1e-1 } } } do
    refused({ "all row weights are 0 outside fold 2" }, function()
      return sc.pipeline{ solver }:search(ds, { folds = 3, seed = 5 })
    end)
  end
end

function TestOneClassWithoutWeight()
  -- allowed: its rows do not count, and the model still tells scores
  local w = {}
  for i = 1, n do w[i] = signs[i] == 1 and 1 or 0 end
  for _, solver in ipairs{ s.ridge{ lambda = 1e-2 }, s.logistic{ lambda = 1e-2 },
    s.hinge{ lambda = 1e-2 } } do
    local m = model(sinks(), solver, data(binary, w))
    lu.assertTrue(m:decision(X):sum() > 0)
  end
end

os.exit(lu.LuaUnit.run(), true)

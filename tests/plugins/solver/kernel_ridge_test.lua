-- Models that are not linear in the features, against plain computations of the same: exact kernel
-- ridge, nearest neighbours. adaboost_test.lua has boosted stumps, svm_test.lua support
-- vectors.
local component = require "scullery.compose.component"
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")
local core = require "scullery.core"

local ds = sc.data.load("wdbc")
local train, test = ds:split{ test = 0.25, seed = 0 }

local function fit(stages, data, y) return sc.pipeline(stages):fit(data, y) end
local smooth = support.smooth_rows
local function gap(a, b) return (a - b):abs():max() end

-- Gaussian elimination with pivots: x in A x = b, A a square table of rows (spoilt), b a list.
local function eliminate(A, b)
  local n = #A
  for k = 1, n do
    local pivot = k
    for i = k + 1, n do if math.abs(A[i][k]) > math.abs(A[pivot][k]) then pivot = i end end
    A[k], A[pivot], b[k], b[pivot] = A[pivot], A[k], b[pivot], b[k]
    for i = k + 1, n do
      local factor = A[i][k] / A[k][k]
      for j = k, n do A[i][j] = A[i][j] - factor * A[k][j] end
      b[i] = b[i] - factor * b[k]
    end
  end
  for k = n, 1, -1 do
    for j = k + 1, n do b[k] = b[k] - A[k][j] * b[j] end
    b[k] = b[k] / A[k][k]
  end
  return b
end

-- The scores of a model that was saved and loaded, and what was saved.
local function written_and_read(model, solver, X)
  local saved = core.model_save(model.fitted.learnt)
  local copy = core.model_load(component.instance(solver), saved)
  local f = model.fitted
  return f:with{ learnt = copy }:scores(core.source(X)), saved
end

-- A copy with other fields.
local function with(saved, fields)
  local copy = {}
  for key, value in pairs(saved) do copy[key] = value end
  for key, value in pairs(fields) do copy[key] = value end
  return copy
end

-- What was saved, with one array replaced (nil: left out).
local function with_array(saved, name, array)
  local arrays = with(saved.arrays, {})
  arrays[name] = array
  return with(saved, { arrays = arrays })
end

-- Every array of a saved model with single bytes replaced, at up to `count` places each.
local function each_damage(saved, count, check)
  for name, array in pairs(saved.arrays) do
    for at = 1, #array.bytes, math.max(1, #array.bytes // count) do
      for _, byte in ipairs{ 0, 127, 255 } do
        check(with_array(saved, name, { dtype = array.dtype, shape = array.shape,
          bytes = array.bytes:sub(1, at - 1) .. string.char(byte) .. array.bytes:sub(at + 1) }))
      end
    end
  end
end

-- ------------ every solver of models

local solvers = {
  kernel_ridge = sc.solver.kernel_ridge{ lambda = 1e-4, kernel = sc.kernel.gaussian{ width = 4 } },
  ["kernel_ridge in float32"] = sc.solver.kernel_ridge{ lambda = 1e-4, precision = "float32",
    kernel = sc.kernel.gaussian{ width = 4 } },
  knn = sc.solver.knn{ k = 5 },
  adaboost = sc.solver.adaboost{ stumps = 40 },
  svm = sc.solver.svm{},
}

local function each(check)
  for name, solver in pairs(solvers) do check(name, solver) end
end

function TestModelsLearn()
  each(function(name, solver)
    local m = fit({ sc.standardize(), solver }, train)
    lu.assertTrue(m:score(test) > 0.93, name)
    lu.assertEquals(m:info().status, name == "adaboost" and "stopped" or "converged", name)
  end)
end

function TestBlocksAndThreadsChangeNoModel()
  local before = core.threads()
  each(function(name, solver)
    local want
    for _, case in ipairs{ { nil, 1 }, { 17, 1 }, { 100000, 4 } } do
      core.threads(case[2])
      local got = fit({ sc.standardize(), solver, block = case[1] }, train):decision(test)
      want = want or got
      lu.assertTrue(gap(got, want) < 1e-9, name)
    end
  end)
  core.threads(before)
end

function TestBytesBringModelsBack()
  each(function(name, solver)
    local m = fit({ sc.standardize(), solver }, train)
    local again, saved = written_and_read(m, solver, test.X)
    lu.assertEquals(gap(again, m:decision(test)), 0, name)
    lu.assertEquals({ saved.features, saved.targets, saved.dtype },
      { test.X:cols(), 1, "float64" }, name)
    lu.assertTrue(next(saved.arrays) ~= nil, name)
  end)
end

function TestDamagedArraysAreRefused()
  each(function(name, solver)
    local saved = core.model_save(fit({ sc.standardize(), solver }, train).fitted.learnt)
    local function refused(array_name, array)
      lu.assertFalse(pcall(core.model_load, component.instance(solver),
        with_array(saved, array_name, array)), name .. ": " .. array_name)
    end
    for array_name, array in pairs(saved.arrays) do
      local dtype, shape, bytes = array.dtype, array.shape, array.bytes
      local longer = table.move(shape, 1, #shape, 1, {})
      longer[1] = (longer[1] or 0) + 1
      refused(array_name, nil)
      refused(array_name, { dtype = dtype, shape = shape, bytes = bytes:sub(1, -2) })
      refused(array_name, { dtype = dtype, shape = shape, bytes = bytes .. "x" })
      refused(array_name, { dtype = dtype, shape = longer, bytes = bytes })
      refused(array_name, { dtype = dtype, shape = { 1, 1, 1, 1, 1 }, bytes = bytes })
      refused(array_name, { dtype = "text", shape = shape, bytes = bytes })
      refused(array_name, { dtype = dtype == "float64" and "int64" or "float64", shape = shape,
        bytes = bytes })
      refused(array_name, { shape = shape, bytes = bytes })
      if dtype == "float64" and #bytes > 0 then
        refused(array_name, { dtype = dtype, shape = shape,
          bytes = string.pack("<d", 0 / 0) .. bytes:sub(9) })
      end
    end
    for _, wrong in ipairs{ { features = 0 }, { targets = 0 }, { features = 1e300 },
      { dtype = "float16" }, { arrays = 1 } } do
      lu.assertFalse(pcall(core.model_load, component.instance(solver), with(saved, wrong)),
        name)
    end
    lu.assertFalse(pcall(core.model_load, component.instance(solver), ""), name)
    -- sizes that the arrays contradict; boosted stumps fit any that have their columns and classes
    for _, wrong in ipairs{ { features = 31 }, { targets = 2 } } do
      lu.assertEquals(pcall(core.model_load, component.instance(solver), with(saved, wrong)),
        name == "adaboost", name)
    end
  end)
end

-- Whatever byte is wrong: a sentence, or a model that scores; never a crash.
function TestDamagedBytesAreSurvived()
  each(function(_, solver)
    local m = fit({ sc.standardize(), solver }, train:subset(1, 30))
    each_damage(core.model_save(m.fitted.learnt), 100, function(damaged)
      local ok, model = pcall(core.model_load, component.instance(solver), damaged)
      if not ok then return lu.assertTrue(#tostring(model) > 10) end
      local altered = m.fitted:with{ learnt = model }
      pcall(altered.scores, altered, core.source(train.X:slice(1, 3)))
    end)
  end)
end

function TestFailingAllocationsAreSentences()
  each(function(name, solver)
    local few = train:subset(1, 40)
    local p = sc.pipeline{ sc.standardize(), solver }
    local after, ok, message = 0
    repeat
      core.fail_allocation_after(after)
      ok, message = pcall(p.fit, p, few)
      core.fail_allocation_after(-1)
      if not ok then lu.assertStrContains(tostring(message), "memory", false, name) end
      after = after + 1
    until ok or after > 3000
    lu.assertTrue(ok, name)
  end)
end

-- Some of what fails is done without: K beside its factor.
function TestFailingAllocationsOfAPath()
  local few = train:subset(1, 40)
  local p = sc.pipeline{ sc.standardize(), sc.solver.kernel_ridge{ precision = "float32",
    lambda = sc.choose{ 1e-4, 1e-2 } } }
  local failed = 0
  for after = 0, 400, 3 do
    core.fail_allocation_after(after)
    local ok, message = pcall(p.search, p, few, { folds = 2 })
    core.fail_allocation_after(-1)
    if not ok then
      lu.assertStrContains(tostring(message), "memory", false)
      failed = failed + 1
    end
  end
  lu.assertTrue(failed > 20)
end

function TestModelsAreSearchedByFolds()
  local found = sc.pipeline{ sc.standardize(), sc.solver.knn{ k = sc.choose{ 1, 7, 301 } } }:search(
    train, { folds = 4 })
  lu.assertEquals(#found.table, 3)
  lu.assertTrue(found.choice["solver.k"] ~= 301)
  found = sc.pipeline{ sc.standardize(), sc.solver.kernel_ridge{ lambda = 1e-3,
    kernel = sc.kernel.gaussian{ width = sc.choose{ 1e-3, 5 } } } }:search(train)
  lu.assertEquals(found.choice["solver.kernel.width"], 5)
end

-- ------------ kernel ridge

-- (K + n lambda W^-1) b + b0 1 = y, 1'b = 0, by elimination; scores of the rows themselves
local function direct(K, y, w, lambda, intercept)
  local n, total, A, right = K:rows(), w:sum(), {}, {}
  for i = 1, n do
    A[i], right[i] = {}, y:get(i, 1)
    for j = 1, n do A[i][j] = K:get(i, j) end
    A[i][i] = A[i][i] + total * lambda / w:get(i, 1)
    A[i][n + 1] = 1
  end
  if intercept then
    A[n + 1], right[n + 1] = {}, 0
    for j = 1, n do A[n + 1][j] = 1 end
    A[n + 1][n + 1] = 0
  end
  local b, b0 = eliminate(A, right), 0
  if intercept then b0 = table.remove(b) end
  return K * sc.matrix(b) + b0
end

function TestKernelRidgeAgainstElimination()
  local x, y, w = smooth(60)
  for _, kernel in ipairs{ sc.kernel.gaussian{ width = 1.5 }, sc.kernel.laplacian{},
    sc.kernel.polynomial{ degree = 2 } } do
    for _, intercept in ipairs{ false, true } do
      for _, weights in ipairs{ w, sc.ones(60, 1) } do
        local data = sc.dataset{ X = x, y = y, weights = weights, task = "regression" }
        local m = fit({ sc.solver.kernel_ridge{ kernel = kernel, lambda = 1e-3,
          intercept = intercept } }, data)
        lu.assertTrue(gap(m:decision(x), direct(kernel:gram(x), y, weights, 1e-3,
          intercept)) < 1e-9)
      end
    end
  end
end

function TestKernelRidgeTakesTargetsTogether()
  local x, y = smooth(700, 3) -- two tiles of rows
  local solver = sc.solver.kernel_ridge{ lambda = 1e-4, intercept = true }
  local together = fit({ solver }, x, y):decision(x)
  for j = 1, 3 do
    lu.assertTrue(gap(together:column(j), fit({ solver }, x, y:column(j)):decision(x)) < 1e-9)
  end
end

function TestRowWeightsAreRepeatedRows()
  local x, y = smooth(40)
  local twice, ys, w = sc.zeros(60, 3), sc.zeros(60, 1), sc.ones(40, 1)
  for i = 1, 60 do
    local from = i <= 40 and i or i - 40
    if i > 40 then w:set(from, 1, 2) end
    for j = 1, 3 do twice:set(i, j, x:get(from, j)) end
    ys:set(i, 1, y:get(from, 1))
  end
  local solver = sc.solver.kernel_ridge{ lambda = 1e-2, intercept = true }
  local weighted = fit({ solver }, sc.dataset{ X = x, y = y, weights = w, task = "regression" })
  lu.assertTrue(gap(weighted:decision(x), fit({ solver }, twice, ys):decision(x)) < 1e-9)
end

-- Ridge on T Fourier features of the same kernel tends to it like T^(-1/2).
function TestRandomFeaturesTendToKernelRidge()
  local exact =
    fit({ sc.standardize(), sc.solver.kernel_ridge{ lambda = 1e-2,
      kernel = sc.kernel.gaussian{ width = 5 } } }, train):decision(test)
  local distance = {}
  for i, T in ipairs{ 500, 20000 } do
    local map = sc.features{ p = sc.sampler.gaussian{ sigma = 0.2 },
      phi = sc.nonlinearity.fourier(), T = T, seed = 1 }
    distance[i] = (fit({ sc.standardize(), map, sc.solver.ridge{ lambda = 1e-2,
      intercept = false } }, train):decision(test) - exact):norm() / math.sqrt(#test)
  end
  lu.assertTrue(distance[2] < 0.02)
  lu.assertTrue(distance[2] < distance[1] / 3)
end

-- Of rows that come twice with lambda = 0: solvable where their targets agree, else not.
function TestSingularKernelMatrixIsSolvedOrSaysWhatWas()
  local x, y = smooth(20)
  local twice, ys = sc.zeros(40, 3), sc.zeros(40, 1)
  for i = 1, 40 do
    for j = 1, 3 do twice:set(i, j, x:get((i - 1) % 20 + 1, j)) end
    ys:set(i, 1, y:get((i - 1) % 20 + 1, 1))
  end
  local m = fit({ sc.solver.kernel_ridge{ lambda = 0 } }, twice, ys)
  lu.assertEquals(m:info().status, "converged")
  lu.assertTrue(m:info().residual <= 1e-8)
  lu.assertStrContains(m:info().note, "singular")
  lu.assertTrue(gap(m:decision(twice), ys) < 1e-6)
  for i = 1, 20 do ys:set(i, 1, ys:get(i, 1) + 0.5) end
  local other = fit({ sc.solver.kernel_ridge{ lambda = 0 } }, twice, ys):info()
  lu.assertEquals(other.status, "iterations exhausted")
  lu.assertTrue(other.jitter > 0 and other.residual > 1e-8)
  lu.assertStrContains(other.note, ("regularised by %.1e, asked 0.0e+00"):format(other.jitter))
end

-- Fits by a factor in float64 and in float32, K kept or made again for each product: one model.
local function by_each_precision(kernel, lambda, data, intercept, check)
  local function model(precision, allowance)
    return sc.pipeline{ sc.solver.kernel_ridge{ kernel = kernel, lambda = lambda,
      intercept = intercept, precision = precision }, allowance = allowance }:fit(data)
  end
  local want = model("float64")
  lu.assertEquals(want:info().status, "converged")
  for _, allowance in ipairs{ 1e9, 0 } do check(want, model("float32", allowance)) end
end

local function same_predictions(want, found, x)
  local info = found:info()
  lu.assertEquals(info.status, "converged")
  lu.assertTrue(info.residual <= 1e-8)
  local scores = want:decision(x)
  lu.assertTrue(gap(scores, found:decision(x)) <= 1e-8 * scores:abs():max())
end

function TestKernelRidgeInFloat32()
  local x, y, w = smooth(1100, 2) -- three tiles of rows
  local other = sc.randn{ 50, 3, seed = 5 }
  local all = support.looks_for_races and { { w }, { true }, { 1e-2 } }
    or { { w, sc.ones(1100, 1) }, { false, true }, { 1e-2, 1e-5 } }
  for _, weights in ipairs(all[1]) do
    local data = sc.dataset{ X = x, y = y, weights = weights, task = "regression" }
    for _, intercept in ipairs(all[2]) do
      for _, lambda in ipairs(all[3]) do
        by_each_precision(sc.kernel.gaussian{ width = 1 }, lambda, data, intercept,
          function(want, found)
            same_predictions(want, found, x)
            same_predictions(want, found, other)
          end)
      end
    end
  end
end

-- Values of K that float32 does not hold, and those whose squares it does not.
function TestKernelRidgeInFloat32ScalesTheMatrix()
  local x, y = smooth(150)
  local data = sc.dataset{ X = x * 1e8, y = y, task = "regression" }
  by_each_precision(sc.kernel.polynomial{ degree = 3 }, 1e46, data, false, function(want, found)
    same_predictions(want, found, data.X)
  end)
  data = sc.dataset{ X = x, y = y, task = "regression" }
  by_each_precision(sc.kernel.gaussian{ width = 0.05 }, 1e-4, data, false, function(want, found)
    same_predictions(want, found, x)
  end)
end

-- Where float32 has no factor, the preconditioner is that of a matrix with more on its diagonal.
function TestKernelRidgeInFloat32OfASmallLambda()
  local x, y = smooth(400)
  local data = sc.dataset{ X = x, y = y, task = "regression" }
  by_each_precision(sc.kernel.gaussian{ width = 2 }, 1e-10, data, true, function(want, found)
    same_predictions(want, found, x)
    lu.assertStrContains(found:info().note, "indefinite")
  end)
end

function TestKernelRidgeChoosesThePrecision()
  local x, y = smooth(1100)
  local few = fit({ sc.solver.kernel_ridge{ lambda = 1e-3 } }, x:slice(1, 500), y:slice(1, 500))
  lu.assertEquals(few:info().iterations, 1) -- a factor in float64
  local many = fit({ sc.solver.kernel_ridge{ lambda = 1e-3 } }, x, y)
  lu.assertTrue(many:info().iterations > 1)
  local singular = fit({ sc.solver.kernel_ridge{ lambda = 0,
    kernel = sc.kernel.gaussian{ width = 3 } } }, x, x:column(1))
  lu.assertTrue(singular:info().jitter > 0) -- float64 again
  lu.assertStrContains(singular:info().note, "singular")
  lu.assertTrue(gap(singular:decision(x), x:column(1)) < 1e-6)
end

-- Every lambda of a search is as it is alone: same means of the folds, same refit.
function TestLambdasShareTheRowsAndK()
  local x, y = smooth(1400)
  local data = sc.dataset{ X = x, y = y, task = "regression" }
  local lambdas = support.sanitized and { 1e-2, 1e-10 } or { 1e-1, 1e-4, 1e-2, 1e-10, 1e-4 }
  local found = sc.pipeline{ sc.solver.kernel_ridge{ lambda = sc.choose(lambdas),
    kernel = sc.kernel.gaussian{ width = 1 }, intercept = true } }:search(data, { folds = 3 })
  lu.assertEquals(#found.table, #lambdas)
  for i, lambda in ipairs(lambdas) do
    local alone = sc.pipeline{ sc.solver.kernel_ridge{ lambda = lambda, precision = "float64",
      kernel = sc.kernel.gaussian{ width = 1 }, intercept = true } }
    local cv = alone:cv(data, { folds = 3, score = "loss" })
    lu.assertAlmostEquals(found.table[i].mean, cv.mean, 1e-7 * cv.mean)
    if lambda == found.choice["solver.lambda"] then
      same_predictions(alone:fit(data), found, x)
    end
  end
end

function TestKernelRidgeRefuses()
  local x, y = smooth(20)
  local function refuses(text, f, ...)
    local ok, message = pcall(f, ...)
    lu.assertFalse(ok)
    lu.assertStrContains(tostring(message), text)
  end
  refuses("solver.kernel_ridge: option 'lambda' got -1", sc.solver.kernel_ridge, { lambda = -1 })
  refuses("one", sc.solver.kernel_ridge, { kernel = { sc.kernel.gaussian{}, sc.kernel.linear{} } })
  refuses("theta", fit, { sc.solver.kernel_ridge{ kernel = sc.kernel.gaussian{ theta = 0.1 } } }, x,
    y)
  refuses("not finite", fit,
    { sc.solver.kernel_ridge{ kernel = sc.kernel.polynomial{ degree = 30 } } }, x * 1e20, y)
  refuses("no weights", function() return fit({ sc.solver.kernel_ridge{} }, x, y):weights() end)
  local many = 2000000
  refuses("the fit needs 8 TB of memory", fit,
    { sc.solver.kernel_ridge{ method = "direct" } }, sc.zeros(many, 1), sc.zeros(many, 1))
end

-- ------------ nearest neighbours

-- The weighted mean of the k nearest, by sorting all rows.
local function nearest(x, y, w, k, at)
  local order = {}
  for i = 1, x:rows() do
    local square = 0
    for j = 1, x:cols() do square = square + (x:get(i, j) - at[j]) ^ 2 end
    order[i] = { square, i }
  end
  table.sort(order, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end)
  local sum, total = 0, 0
  for i = 1, k do
    local row = order[i][2]
    sum, total = sum + w:get(row, 1) * y:get(row, 1), total + w:get(row, 1)
  end
  return sum / total
end

function TestNeighboursAgainstSorting()
  local x, y, w = smooth(600) -- two blocks of kept rows
  local grid = x:map(function(v) return math.floor(2 * v) end) -- with many ties
  local others = sc.randn{ 40, 3, seed = 9 }
  for _, rows in ipairs{ x, grid, x * 1e-3 + 1e3 } do
    for _, k in ipairs{ 1, 7, 600 } do
      local m = fit({ sc.solver.knn{ k = k } }, sc.dataset{ X = rows, y = y, weights = w,
        task = "regression" })
      for _, ask in ipairs{ rows, others } do
        local got = m:decision(ask)
        for i = 1, 40 do
          lu.assertAlmostEquals(got:get(i, 1),
            nearest(rows, y, w, k, { ask:get(i, 1), ask:get(i, 2), ask:get(i, 3) }), 1e-12)
        end
      end
    end
  end
end

function TestNeighboursVote()
  local x = sc.matrix{ { 0 }, { 1 }, { 2 }, { 10 }, { 11 }, { 12 }, { 20 }, { 21 } }
  local data = sc.dataset{ X = x, y = { 0, 0, 0, 1, 1, 1, 2, 2 }, task = "classification" }
  local m = fit({ sc.solver.knn{ k = 3 } }, data)
  lu.assertEquals(m:score(data), 1)
  local shares = m:decision(sc.matrix{ { 15.4 } }) -- neighbours 12, 11, 20: votes 0, 2/3, 1/3
  for j, share in ipairs{ 0, 2 / 3, 1 / 3 } do
    lu.assertAlmostEquals(shares:get(1, j), 2 * share - 1, 1e-12)
  end
end

function TestNeighboursRefuse()
  local ok, message = pcall(fit, { sc.solver.knn{ k = 21 } }, smooth(20))
  lu.assertFalse(ok)
  lu.assertStrContains(tostring(message), "option 'k' got 21; there are 20 rows")
  lu.assertFalse(pcall(sc.solver.knn, { k = 0 }))
  ok, message = pcall(fit, { sc.solver.knn{} }, sc.randn{ 10, 2, seed = 1 } * 1e200, sc.ones(10, 1))
  lu.assertFalse(ok)
  lu.assertStrContains(tostring(message), "standardize")
end

os.exit(lu.LuaUnit.run(), true)

-- Columns and targets with large offsets: features are shown to solvers less their pilot means, and
-- nobody but the digits can tell.
local lu = require "luaunit"
local sc = require "scullery"
local s = sc.solver

local n, d = 400, 3
local Z = sc.randn{ n, d, seed = 1 }
local slope = sc.matrix{ { 1 }, { -2 }, { 0.5 } }
local noise = sc.randn{ n, 1, seed = 2 } * 0.1

-- Rows whose columns lie `offset` away from 0: exact, as offset and Z are multiples of 2^-20.
local function round(X)
  return X:map(function(x) return math.floor(x * 2 ^ 20 + 0.5) / 2 ^ 20 end)
end
local near = round(Z)
local function far(offset) return near + offset end
local y = near * slope + noise

local function gap(a, b) return (a - b):norm() / (b - b:mean()):norm() end

-- Solvers, tolerances small enough for rounding to show.
local linear = { ridge = s.ridge{ lambda = 1e-3 },
  lasso = s.lasso{ lambda = 1e-3, tolerance = 1e-12 },
  cg = s.cg{ lambda = 1e-3, tolerance = 1e-10 },
  huber = s.huber{ lambda = 1e-3, tolerance = 1e-10 } }

function TestOffsetsOfColumnsAndTargets()
  for name, solver in pairs(linear) do
    local here = sc.pipeline{ solver }:fit(near, y)
    for _, offset in ipairs{ 2 ^ 10, 2 ^ 20, 2 ^ 30 } do
      local there = sc.pipeline{ solver }:fit(far(offset), y + offset)
      lu.assertEquals(there:info().status, "converged", name)
      lu.assertTrue(gap(there:predict(far(offset)) - offset, here:predict(near)) < 2e-6,
        ("%s at %g"):format(name, offset))
    end
  end
end

-- R2 of a stream, whose truth is counted block by block: its spread loses no digits to its mean.
-- The first row may be an outlier.
function TestR2OfAStream()
  local p = sc.pipeline{ s.ridge{ lambda = 1e-3 } }
  local rows, X = 3000, round(sc.randn{ 3000, d, seed = 3 })
  local truth = round(X * slope + sc.randn{ rows, 1, seed = 4 })
  truth:set(1, 1, 50)
  for _, offset in ipairs{ 0, 2 ^ 20, 2 ^ 27, 2 ^ 30 } do
    local moved = truth + offset
    local stream = sc.data.rows{ n = rows, d = d, targets = 1, task = "regression",
      read = function(first, count)
        return X:slice(first, first + count - 1), moved:slice(first, first + count - 1)
      end }
    p:fit(X, moved)
    local want = p:score(X, moved)
    lu.assertTrue(want > 0.5 and want < 0.99, want)
    lu.assertAlmostEquals(p:score(stream), want, 1e-12, offset)
  end
end

function TestOrdinaryColumnsHaveNone()
  local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.fourier(), T = 50, seed = 1 }, s.ridge{ lambda = 1e-3 } }:fit(near, y)
  lu.assertNil(p.fitted and p.fitted.pilot)
end

function TestDecisionIsTransformTimesWeightsPlusIntercept()
  local X = far(2 ^ 12)
  local p = sc.pipeline{ s.ridge{ lambda = 1e-3 } }:fit(X, y)
  local by_hand = p:transform(X) * p:weights() + sc.ones(n, 1) * p:intercept()
  lu.assertTrue(gap(by_hand, p:decision(X)) < 1e-9)
end

-- ------------ one column decides alone

local function outlier()
  local X = sc.randn{ 500, 3, seed = 1 } + 1e6
  for j = 1, 3 do X:set(7, j, 1e8) end
  return X, sc.randn{ 500, 3, seed = 1 } * slope + sc.randn{ 500, 1, seed = 2 } * 0.1
end

-- Every entry of the sums is that of one row: the rest is lost in its rounding, and comes back by
-- passes over the rows. The reference: the difference of columns, which the row does not enter.
function TestARowThatHidesTheOthers()
  local X, t = outlier()
  local want
  for _, block in ipairs{ 16, 64, 256 } do
    local p = sc.pipeline{ s.ridge{ lambda = 1e-3 }, block = block }:fit(X, t)
    lu.assertEquals(p:info().status, "converged")
    lu.assertStrContains(p:info().note, "over the rows repaired")
    lu.assertEquals(p:info().jitter, 0)
    want = want or p:predict(X)
    lu.assertTrue(gap(p:predict(X), want) < 1e-7)
  end
  local p = sc.pipeline{ s.ridge{ lambda = 1e-3 } }:fit(X, t)
  lu.assertTrue(((p:predict(X) - t):norm()) ^ 2 / 500 < 0.1)
end

-- With fewer columns than rows the dual system is singular: without a penalty nothing but jitter
-- solves it, which is not what was asked.
function TestJitterIsNotConverged()
  local X, t = outlier()
  local p = sc.pipeline{ s.ridge{ lambda = 0, form = "dual" } }:fit(X, t)
  lu.assertEquals(p:info().status, "iterations exhausted")
  lu.assertStrContains(p:info().note, "regularised by ")
  lu.assertStrContains(p:info().note, "asked 0.0e+00")
  lu.assertTrue(p:info().jitter > 0)
  lu.assertStrContains(tostring(p), "regularised by ")
end

-- ------------ the model elsewhere

local X = far(2 ^ 25)
local function sinks(dtype)
  return sc.features{ p = sc.sampler.gaussian{ sigma = 1, bias = "none" },
    phi = sc.nonlinearity.identity(), T = 20, seed = 3, dtype = dtype }
end

function TestSavedModelsKeepThem()
  local path = os.tmpname()
  for _, stages in ipairs{ {}, { sinks() } } do
    stages[#stages + 1] = s.ridge{ lambda = 1e-8 }
    local p = sc.pipeline(stages):fit(X, y)
    lu.assertNotNil(p.fitted.pilot)
    p:save(path)
    lu.assertTrue(sc.load(path):predict(X) == p:predict(X))
  end
  os.remove(path)
end

function TestStreamsFoldsAndSearches()
  local stream = sc.data.rows{ n = n, d = d, targets = 1, read = function(first, count)
    return X:slice(first, first + count - 1), y:slice(first, first + count - 1)
  end }
  local memory = sc.dataset{ X = X, y = y, task = "regression" }
  local function recipe() return sc.pipeline{ s.ridge{ lambda = sc.choose{ 1e-4, 1e-2 } } } end
  local given = { folds = 4, seed = 1, score = "loss" }
  local a, b = recipe():search(memory, given), recipe():search(stream, given)
  lu.assertTrue(a:weights() == b:weights())
  for k, cell in ipairs(a.table) do
    lu.assertTrue(cell.mean < 0.02, cell.mean)
    lu.assertAlmostEquals(cell.mean, b.table[k].mean, 1e-12)
  end
  local alone = sc.pipeline{ s.ridge{ lambda = 1e-4 } }:cv(memory, given)
  lu.assertAlmostEquals(alone.mean, a.table[1].mean, 1e-12)
end

-- R2 of a stream is that of the rows in memory, however far the targets are from 0.
function TestScoresOfStreams()
  local away = y + 2 ^ 27
  local stream = sc.data.rows{ n = n, d = d, targets = 1, read = function(first, count)
    return X:slice(first, first + count - 1), away:slice(first, first + count - 1)
  end }
  local p = sc.pipeline{ s.ridge{ lambda = 1e-3 } }:fit(X, away)
  lu.assertAlmostEquals(p:score(stream), p:score(X, away), 1e-7)
end

-- Leave-one-out from one fit, with more columns than rows: that of a fit for each row left out.
function TestLeaveOneOutOfWideRows()
  for _, size in ipairs{ { 40, 100 }, { 40, 30 } } do
    local wide = sc.randn{ size[1], size[2], seed = 7 }
    local ds = sc.dataset{ X = wide, task = "regression",
      y = wide:column(1) + sc.randn{ size[1], 1, seed = 8 } }
    for _, constant in ipairs{ true, false } do
      local recipe = function(lambda)
        return sc.pipeline{ s.ridge{ lambda = lambda, intercept = constant } }
      end
      local lambdas = sc.choose{ 1e-8, 1e-5 }
      local once = recipe(lambdas):search(ds, { folds = "loo", score = "loss" })
      local each = recipe(lambdas):search(ds, { folds = size[1], seed = 1, score = "loss" })
      for k, cell in ipairs(once.table) do
        lu.assertAlmostEquals(cell.mean, each.table[k].mean, 1e-3 * cell.mean)
      end
    end
  end
  local wide = sc.dataset{ X = sc.randn{ 20, 50, seed = 9 }, y = sc.randn{ 20, 1, seed = 10 },
    task = "regression" }
  local found = sc.pipeline{ s.ridge{ lambda = sc.choose{ 0, 1e-10, 1 } } }:search(wide,
    { folds = "loo", score = "loss" })
  lu.assertTrue(found.table[1].mean > 1e-3, "an interpolation is no estimate of the risk")
end

-- T and the constant together: sums of a wider map serve a narrower one where both are alike.
function TestChoosingParametersAndTheConstant()
  local memory = sc.dataset{ X = far(2 ^ 24), y = y, task = "regression" }
  local given = { folds = 4, seed = 1, score = "loss" }
  local function recipe(T, constant)
    return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1, bias = "none" },
      phi = sc.nonlinearity.identity(), T = T, seed = 3 },
      s.ridge{ lambda = 1e-3, intercept = constant } }
  end
  local found = recipe(sc.choose{ 3, 4, 20 }, sc.choose{ true, false }):search(memory, given)
  for _, cell in ipairs(found.table) do
    if cell.choice["solver.intercept"] then
      local alone = recipe(cell.choice["features.T"], true):cv(memory, given).mean
      lu.assertAlmostEquals(cell.mean, alone, 1e-9 * alone)
    end
  end
end

-- The constant of a model whose intercept about the pilot is 0.
function TestGuaranteesSeeTheConstant()
  local p = sc.pipeline{ sinks(), s.ridge{ lambda = 1e-3 } }:fit(X, y)
  lu.assertTrue((p.fitted:about_zero():constant() - p:intercept()):norm() == 0)
  lu.assertNil(p.fitted:about_zero().pilot)
end

-- A constant or none: the sums of one do not serve the other.
function TestChoosingTheConstant()
  local memory = sc.dataset{ X = far(64), y = y + 5, task = "regression" }
  local given = { folds = 4, seed = 1, score = "loss" }
  local found = sc.pipeline{ s.ridge{ lambda = 1e-3,
    intercept = sc.choose{ true, false } } }:search(memory, given)
  for _, cell in ipairs(found.table) do
    local alone = sc.pipeline{ s.ridge{ lambda = 1e-3,
      intercept = cell.choice["solver.intercept"] } }
    lu.assertAlmostEquals(alone:cv(memory, given).mean, cell.mean, 1e-9)
  end
end

function TestFloat32RowsKeepTheirDigits()
  local p = sc.pipeline{ sinks("float32"), s.ridge{ lambda = 1e-3 } }:fit(far(2 ^ 10), y)
  local q = sc.pipeline{ sinks("float64"), s.ridge{ lambda = 1e-3 } }:fit(far(2 ^ 10), y)
  lu.assertTrue(gap(p:predict(far(2 ^ 10)), q:predict(far(2 ^ 10))) < 2e-3)
end

os.exit(lu.LuaUnit.run(), true)

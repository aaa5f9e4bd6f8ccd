-- Thresholds over columns of few distinct values: sums over rows go by the values. What is learnt
-- is what a ridge learns on the matrix of the features.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

-- Two-valued columns, small integers, and every tenth column of numbers. Some values come late.
local function rows(n, d, seed)
  local noise = sc.randn{ n, d, seed = seed }
  local X = sc.zeros(n, d)
  for i = 1, n do
    for j = 1, d do
      local v = noise:get(i, j)
      if j % 10 == 5 then
        X:set(i, j, v)
      elseif j % 5 == 0 then
        X:set(i, j, math.floor(2 * v))
      else
        X:set(i, j, v > 1.5 and i > n // 2 and 3 or v > 0 and 1 or -0.5)
      end
    end
  end
  return X
end

local function target(X, seed)
  return X * sc.randn{ X:cols(), 2, seed = seed } + sc.randn{ X:rows(), 2, seed = seed + 1 }
end

core.bits(false) -- sign and step too go by values; else they are counted

local n, d = 900, 20
local X = rows(n, d, 1)
local weights = sc.rand{ n, 1, seed = 5 }
local plain = sc.features{ p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign(),
  T = 400, seed = 3 }
local function weighting(dtype, width)
  return sc.instantiation{ W = sc.space.threshold(), K = sc.kernel.gaussian{ width = width or 1 },
    p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign() }:features{ T = 400,
    seed = 3, dtype = dtype }
end
local maps = { { "sign", plain, 1e-9 }, { "weighting", weighting(), 1e-9 },
  { "weighting, float32", weighting "float32", 1e-4 },
  { "relu", sc.features{ p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.relu(),
    T = 400, seed = 4 }, 1e-9 },
  -- too few features for most columns
  { "few", sc.features{ p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.relu(), T = 30,
    seed = 4 }, 1e-9 } }
local function ridge(lambda) return sc.solver.ridge{ lambda = lambda or 1e-2 } end

local function dataset(matrix, y, given)
  return sc.dataset{ X = matrix, y = y, task = "regression", weights = given }
end

local function gap(a, b) return (a - b):abs():max() / b:abs():max() end

local function check(label, features, data, tolerance, block)
  local model = sc.pipeline{ features, ridge(), block = block }:fit(data)
  local phi = features:transform(data.X)
  local want = sc.pipeline{ ridge() }:fit(dataset(phi, data.y, data.weights))
  local found = gap(model:decision(data.X), want:decision(phi))
  lu.assertTrue(found < tolerance, ("%s: decisions differ by %.2g"):format(label, found))
end

for _, map in ipairs(maps) do
  _G["Test_the_matrix_of_features_" .. map[1]] = function()
    check(map[1], map[2], dataset(X, target(X, 7)), map[3])
  end
  _G["Test_row_weights_" .. map[1]] = function()
    check(map[1], map[2], dataset(X, target(X, 7), weights), map[3])
  end
end

-- Values that come in later blocks, columns that turn out to have many.
function TestBlocks()
  for _, block in ipairs{ 1, 64, 450 } do
    for _, map in ipairs(maps) do
      check(("%s, block %d"):format(map[1], block), map[2], dataset(X, target(X, 7)), map[3], block)
    end
  end
end

-- First a few values, then more than pay, though no column has more than it has features: what was
-- summed by values goes on with features.
function TestManyValuesComeLate()
  local noise, Z = sc.rand{ n, 4, seed = 9 }, sc.zeros(n, 4)
  for i = 1, n do
    for j = 1, 4 do Z:set(i, j, math.floor((i > n // 2 and 60 or 2) * noise:get(i, j)) / 30) end
  end
  for name, phi in pairs{ sign = sc.nonlinearity.sign(), relu = sc.nonlinearity.relu() } do
    local map = sc.features{ p = sc.sampler.threshold{ sigma = 1 }, phi = phi, T = 400, seed = 3 }
    for _, block in ipairs{ 64, 450 } do
      check(("%s, block %d"):format(name, block), map, dataset(Z, target(Z, 7)), 1e-9, block)
    end
  end
end

-- Rows enough for several leaves of the sum, with other values in each.
function TestSeveralLeaves()
  local many = 40000
  local noise = sc.rand{ many, 3, seed = 2 }
  local Z = sc.zeros(many, 3)
  for i = 1, many do
    for j = 1, 3 do Z:set(i, j, math.floor(3 * noise:get(i, j)) + 5 * (i // 15000)) end
  end
  local features = sc.features{ p = sc.sampler.threshold{ sigma = 8 },
    phi = sc.nonlinearity.step(), T = 60, seed = 3 }
  check("leaves", features, dataset(Z, target(Z, 3)), 1e-9)
end

-- Folds: each trains on what the others hold.
function TestFolds()
  local data = dataset(X, target(X, 7))
  for _, map in ipairs(maps) do
    local phi = map[2]:transform(X)
    local given = { folds = 4, seed = 2, score = "loss" }
    local one = sc.pipeline{ map[2], ridge() }:cv(data, given)
    local other = sc.pipeline{ ridge() }:cv(dataset(phi, data.y), given)
    lu.assertAlmostEquals(one.mean / other.mean, 1, 10 * map[3], map[1])
  end
end

-- Decisions on held-out rows by the values of columns, of many candidates at once: wrong labels,
-- squares, and decisions themselves.
function TestSearch()
  local y = target(X, 7):column(1)
  local labels = y:map(function(v) return v > 0 and 1 or 0 end)
  for _, map in ipairs(maps) do
    local phi = map[2]:transform(X)
    for _, score in ipairs{ "error", "loss", "auc" } do
      for _, block in ipairs{ 64, 900 } do
        local cells = {}
        for i, given in ipairs{ { map[2], X }, { nil, phi } } do
          local stages = { given[1], ridge(sc.choose{ 1e-4, 1e-3, 1e-2, 0.1, 1 }), block = block }
          if i == 2 then stages = { ridge(sc.choose{ 1e-4, 1e-3, 1e-2, 0.1, 1 }) } end
          cells[i] = sc.pipeline(stages):search(sc.dataset{ X = given[2], y = labels,
            task = "classification" }, { folds = 3, score = score }).table
        end
        local near = score == "error" and map[3] > 1e-6 and 2 / n or 10 * map[3]
        for c = 1, 5 do
          lu.assertAlmostEquals(cells[1][c].mean, cells[2][c].mean, near, map[1] .. " " .. score)
        end
      end
    end
  end
end

-- A ridge is solved in the coordinates that levels span: the same function as by passes over rows,
-- and the same coefficients where these are unique.
function TestPenalties()
  local data = dataset(X, target(X, 7), weights)
  for _, penalty in ipairs{ "l2", "rkhs" } do
    for _, intercept in ipairs{ false, true } do
      local function fit(solver)
        return sc.pipeline{ weighting("float64", 0.05), solver }:fit(data)
      end
      local one = fit(sc.solver.ridge{ lambda = 0.1, penalty = penalty, intercept = intercept })
      local other = fit(sc.solver.cg{ lambda = 0.1, penalty = penalty, intercept = intercept,
        tolerance = 1e-10, max_iterations = 5000 })
      local label = ("%s, intercept %s"):format(penalty, intercept)
      lu.assertTrue(gap(one:decision(X), other:decision(X)) < 1e-5, label)
      if penalty == "l2" then
        lu.assertTrue(gap(one:weights(), other:weights()) < 1e-4, label)
      end
    end
  end
end

-- A solver that does not say that it works from the normal equations alone runs once, on the
-- features.
function TestOthersSeeFeatures()
  local seen = {}
  local other = sc.solver.define{ name = "levels_probe", penalty = "l2",
    solve = function(problem)
      seen[#seen + 1] = { problem.features, problem:normal().moment:rows() }
      return { coefficients = sc.zeros(problem.features, problem.targets), outcome = "converged",
        iterations = 1 }
    end }
  sc.pipeline{ plain, other{} }:fit(dataset(X, target(X, 7)))
  lu.assertEquals(seen, { { 400, 400 } })
end

-- Without lambda, two columns that differ in one row, far from 0: passes over the features repair
-- what rounding does to the sums.
function TestHardlyAnyLambda()
  local count = 3000
  local Z = sc.rand{ count, 10, seed = 3 }:map(function(v) return v < 0.5 and 1000 or 1001 end)
  for i = 1, count do Z:set(i, 2, i == 7 and 2001 - Z:get(i, 1) or Z:get(i, 1)) end
  local y = Z * sc.randn{ 10, 1, seed = 4 } + 0.1 * sc.randn{ count, 1, seed = 5 }
  local features = sc.instantiation{ W = sc.space.threshold(), K = sc.kernel.gaussian{ width = 3 },
    p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.relu() }:features{ T = 300,
    seed = 3 }
  local p = sc.pipeline{ features, sc.solver.ridge{ lambda = 0, penalty = "rkhs" } }:fit(
    dataset(Z, y))
  lu.assertEquals(p:info().status, "converged")
  local rest = (p:decision(Z) - y):map(function(e) return e * e end):sum() / count
  lu.assertTrue(rest < 0.0101, ("%.4g"):format(rest))
end

-- Values of lambda on a path, and estimates that need rows.
function TestLambdas()
  local data = dataset(X, target(X, 7))
  local phi = plain:transform(X)
  for _, estimate in ipairs{ "loo", "gcv" } do
    local list = sc.choose{ 1e-4, 1e-2, 1 }
    local one = sc.pipeline{ plain, ridge(list) }:search(data, { folds = estimate }).table
    local other = sc.pipeline{ ridge(list) }:search(dataset(phi, data.y), { folds = estimate })
    for c = 1, 3 do lu.assertAlmostEquals(one[c].mean / other.table[c].mean, 1, 1e-7, estimate) end
  end
end

-- Predictions look values up; of few rows every feature is made.
function TestPredictions()
  for _, map in ipairs(maps) do
    local p = sc.pipeline{ map[2], ridge() }:fit(dataset(X, target(X, 7)))
    local all, want = p:decision(X), map[2]:transform(X) * p:weights()
    want = want + sc.ones(n, 1) * p:intercept()
    lu.assertTrue(gap(all, want) < map[3], map[1])
    lu.assertTrue(gap(p:decision(X:slice(1, 100)), want:slice(1, 100)) < map[3], map[1])
  end
end

function TestThreadsChangeNoBit()
  local data = dataset(X, target(X, 7))
  local before, found = core.threads(), {}
  for threads = 1, 2 do
    core.threads(threads)
    local p = sc.pipeline{ weighting(), ridge(), block = 100 }
    found[threads] = { p:cv(data, { score = "loss" }).mean, p:fit(data):weights() }
  end
  core.threads(before)
  lu.assertTrue(found[1][1] == found[2][1])
  lu.assertTrue(found[1][2] == found[2][2])
end

-- One value everywhere, and 0 with either sign.
function TestConstantColumns()
  local Z = sc.zeros(50, 2)
  for i = 1, 50 do
    Z:set(i, 1, 2)
    Z:set(i, 2, i % 2 == 0 and 0.0 or -0.0)
  end
  local features = sc.features{ p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign(),
    T = 50, seed = 3 }
  check("constant", features, dataset(Z, target(rows(50, 3, 1), 2)), 1e-9)
end

-- Features whose means are far from 0, of columns of few values and of many, less their pilot
-- means: the sums by values are those of the features, and what a lasso learns is the same.
function TestPilotMeans()
  local Z = rows(n, 8, 1)
  for i = 1, n do
    Z:set(i, 1, 1)
    Z:set(i, 2, Z:get(i, 2) + 1000)
    Z:set(i, 5, Z:get(i, 5) + 1000)
  end
  local data = dataset(Z, target(Z, 7))
  local features = sc.features{ p = sc.sampler.threshold{ sigma = 1 },
    phi = sc.nonlinearity.relu(), T = 200, seed = 4 }
  for _, solver in ipairs{ sc.solver.lasso{ lambda = 1e-3, intercept = true, tolerance = 1e-10 },
    sc.solver.ridge{ lambda = 1e-2, intercept = true } } do
    local fits = {}
    for i, levels in ipairs{ true, false } do
      core.levels(levels)
      fits[i] = sc.pipeline{ features, solver, block = 100 }:fit(data)
      lu.assertNotNil(fits[i].fitted.pilot)
    end
    core.levels(true)
    lu.assertTrue(gap(fits[1]:decision(Z), fits[2]:decision(Z)) < 1e-6, tostring(solver))
    -- not the same way: the sums are rounded otherwise
    lu.assertFalse(fits[1]:weights() == fits[2]:weights())
  end
end

-- One column of many values: a table of values x features would be far larger than the rows.
function TestTablesStaySmall()
  local rows_of, T = 3000, 4000
  local Z = sc.randn{ rows_of, 1, seed = 11 }
  local features = sc.features{ p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.relu(),
    T = T, seed = 3 }
  local p = sc.pipeline{ features, ridge(), block = 500 }:fit(dataset(Z:slice(1, 600),
    target(Z:slice(1, 600), 2)))
  local before = core.memory(true)
  local found = p:decision(Z)
  local _, peak = core.memory()
  lu.assertTrue(peak - before < 2 * 8 * 600 * T + 1e7, ("%.3g bytes more"):format(peak - before))
  local want = features:fit(Z):transform(Z) * p:weights() + sc.ones(rows_of, 1) * p:intercept()
  lu.assertTrue(gap(found, want) < 1e-9)
end

os.exit(lu.LuaUnit.run(), true)

-- The hinge solver: its optimum beside computations of others, its certificate, and what must not
-- change it. (The dual bound of small problems is in iterative_test.lua, the constant in
-- intercept_test.lua.)
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

-- Two overlapping classes whose columns differ in scale by up to `spread`.
local function rows_of(n, d, spread, seed)
  local x, y = sc.randn{ n, d, seed = seed }, sc.zeros(n, 1)
  local noise = sc.randn{ n, 1, seed = seed + 1 }
  for i = 1, n do
    y:set(i, 1, x:get(i, 1) + x:get(i, d) * x:get(i, 2) + 0.7 * noise:get(i, 1) > 0.3 and 1 or -1)
    for j = 1, d do x:set(i, j, x:get(i, j) * spread ^ ((j - 1) / (d - 1))) end
  end
  return x, y
end

local function data_of(x, y, weights)
  return sc.dataset{ X = x, y = y, weights = weights, task = "classification" }
end

-- P of a fitted model, from its scores.
local function value_of(m, x, y, lambda, weights)
  local f, a = m:decision(x), m:weights()
  local loss, total = 0, 0
  for i = 1, x:rows() do
    local w = weights and weights[i] or 1
    loss = loss + w * math.max(0, 1 - y:get(i, 1) * f:get(i, 1))
    total = total + w
  end
  return loss / total + lambda / 2 * a:norm() ^ 2
end

-- min_a P(a) of one column: the slope rises, so halving finds its zero.
local function least_of_column(x, y, lambda)
  local n = x:rows()
  local function slope(a)
    local sum = 0
    for i = 1, n do
      local v = y:get(i, 1) * x:get(i, 1)
      if v * a < 1 then sum = sum - v end
    end
    return sum / n + lambda * a
  end
  local low, high = -1e4, 1e4
  for _ = 1, 200 do
    local middle = (low + high) / 2
    if slope(middle) < 0 then low = middle else high = middle end
  end
  local loss = 0
  for i = 1, n do loss = loss + math.max(0, 1 - y:get(i, 1) * x:get(i, 1) * low) end
  return loss / n + lambda / 2 * low ^ 2
end

-- ------------ the optimum

function TestOneColumnAtDefaultOptions()
  for _, scale in ipairs{ 1e-3, 1, 1e3 } do
    local x = sc.randn{ 3000, 1, seed = 2 }
    local noise, y = sc.randn{ 3000, 1, seed = 3 }, sc.zeros(3000, 1)
    for i = 1, 3000 do y:set(i, 1, x:get(i, 1) + noise:get(i, 1) > 0 and 1 or -1) end
    x = x * scale
    local m = sc.pipeline{ sc.solver.hinge{ lambda = 1e-4, intercept = false } }:fit(
      data_of(x, y))
    lu.assertEquals(m:info().status, "converged")
    local value, least = value_of(m, x, y, 1e-4), least_of_column(x, y, 1e-4)
    lu.assertTrue(math.abs(value - least) <= 1e-5 * least, ("%.9g, %.9g"):format(value, least))
  end
end

-- SMO on the linear kernel solves the same problem, with C = 1/(lambda n).
function TestTheSupportVectorMachineFindsTheSame()
  for _, case in ipairs{ { 1500, 6, 1, 1e-3 }, { 1500, 6, 30, 1e-3 }, { 400, 900, 1, 1e-3 } } do
    local n, d, spread, lambda = table.unpack(case)
    local x, y = rows_of(n, d, spread, 5)
    local data = data_of(x, y)
    local m = sc.pipeline{ sc.solver.hinge{ lambda = lambda } }:fit(data)
    lu.assertEquals(m:info().status, "converged")
    local machine = sc.pipeline{ sc.solver.svm{ kernel = sc.kernel.linear{}, C = 1 / (lambda * n),
      tolerance = 1e-7 } }:fit(data)
    local ours, theirs = m:decision(x), machine:decision(x)
    local loss = { 0, 0 }
    for i = 1, n do
      for k, f in ipairs{ ours, theirs } do
        loss[k] = loss[k] + math.max(0, 1 - y:get(i, 1) * f:get(i, 1)) / n
      end
    end
    -- P is strongly convex in the scores' part that a makes: near scores, near values
    lu.assertTrue(math.abs(loss[1] - loss[2]) < 2e-3 * loss[2] + 1e-4,
      ("%d x %d: %g, %g"):format(n, d, loss[1], loss[2]))
  end
end

-- ------------ the certificate

-- At any number of passes the gap that is told bounds the distance to the least value.
function TestTheGapIsABoundAtAnyTime()
  local lambda = 1e-4
  local x, y = rows_of(2000, 12, 100, 8)
  local data = data_of(x, y)
  for _, intercept in ipairs{ false, true } do
    local function fit(given)
      given.lambda, given.intercept = lambda, intercept
      local m = sc.pipeline{ sc.solver.hinge(given) }:fit(data)
      return value_of(m, x, y, lambda), m:info()
    end
    local least, best = fit{ tolerance = 1e-9 }
    lu.assertEquals(best.status, "converged")
    lu.assertTrue(best.gap <= 1e-9)
    for _, most in ipairs{ 1, 4, 5, 6, 8 } do
      local value, info = fit{ max_iterations = most, tolerance = 1e-12 }
      lu.assertTrue(value - least <= info.gap * value + 1e-12, most)
      lu.assertTrue(value >= least * (1 - 1e-8), most)
      lu.assertEquals(info.status, info.gap <= 1e-12 and "converged" or "iterations exhausted")
      lu.assertTrue(info.iterations <= most + 1)
    end
  end
end

-- ------------ weights, classes

function TestWeightsCountAsRepetitions()
  local x, y = rows_of(700, 5, 10, 11)
  local weights, places = {}, {}
  for i = 1, 700 do
    weights[i] = i % 4
    for _ = 1, i % 4 do places[#places + 1] = i end
  end
  local many, labels = sc.zeros(#places, 5), sc.zeros(#places, 1)
  for k, i in ipairs(places) do
    labels:set(k, 1, y:get(i, 1))
    for j = 1, 5 do many:set(k, j, x:get(i, j)) end
  end
  for _, intercept in ipairs{ false, true } do
    local solver = sc.solver.hinge{ lambda = 1e-3, tolerance = 1e-9, intercept = intercept }
    local weighted = sc.pipeline{ solver }:fit(data_of(x, y, weights))
    local repeated = sc.pipeline{ solver }:fit(data_of(many, labels))
    lu.assertEquals(weighted:info().status, "converged")
    lu.assertAlmostEquals(value_of(weighted, x, y, 1e-3, weights),
      value_of(repeated, many, labels, 1e-3), 1e-8)
    lu.assertTrue((weighted:decision(x) - repeated:decision(x)):abs():max() < 1e-2)
  end
end

function TestClassesAreSolvedAsIfAlone()
  local x = sc.randn{ 1300, 8, seed = 21 }
  local names = {}
  for i = 1, 1300 do
    names[i] = x:get(i, 1) > 0.5 and "a" or x:get(i, 2) + x:get(i, 3) > 0 and "b" or "c"
  end
  local solver = sc.solver.hinge{ lambda = 1e-3, tolerance = 1e-9 }
  local all = sc.pipeline{ solver }:fit(sc.dataset{ X = x, y = names })
  lu.assertEquals(all:info().status, "converged")
  for k, name in ipairs{ "a", "b", "c" } do
    local y = sc.zeros(1300, 1)
    for i = 1, 1300 do y:set(i, 1, names[i] == name and 1 or -1) end
    local alone = sc.pipeline{ solver }:fit(data_of(x, y))
    lu.assertTrue((alone:decision(x) - all:decision(x):column(k)):abs():max() < 1e-2, name)
  end
end

-- ------------ what changes nothing

local function sinks(T, dtype)
  return sc.features{ p = sc.sampler.gaussian{ gamma = 0.1 }, phi = sc.nonlinearity.fourier(),
    T = T, seed = 1, dtype = dtype }
end

function TestThreadsAndKeptFeaturesChangeNoBit()
  local x, y = rows_of(1500, 6, 1, 31)
  local data, before, want = data_of(x, y), core.threads(), nil
  for _, case in ipairs{ { 1, 1e9 }, { 3, 1e9 }, { 2, 0 } } do
    core.threads(case[1])
    local m = sc.pipeline{ sinks(60), sc.solver.hinge{}, allowance = case[2] }:fit(data)
    lu.assertEquals(m:info().status, "converged")
    want = want or m
    lu.assertTrue(m:weights() == want:weights())
    lu.assertTrue(m:intercept() == want:intercept())
  end
  core.threads(before)
end

-- The Newton system is of the features or of the rows inside the margin, whichever is smaller.
function TestFewAndManyFeatures()
  local x, y = rows_of(900, 6, 1, 41)
  for _, T in ipairs{ 5, 40, 1200 } do
    for _, intercept in ipairs{ false, true } do
      local solver = sc.solver.hinge{ lambda = 1e-5, intercept = intercept }
      local m = sc.pipeline{ sinks(T), solver }:fit(data_of(x, y))
      lu.assertEquals(m:info().status, "converged")
      lu.assertTrue(m:info().gap <= 1e-5)
    end
  end
end

function TestFloat32Features()
  local x, y = rows_of(2000, 6, 1, 51)
  local data, values = data_of(x, y), {}
  for k, dtype in ipairs{ "float64", "float32" } do
    local m = sc.pipeline{ sinks(200, dtype), sc.solver.hinge{} }:fit(data)
    lu.assertEquals(m:info().status, "converged", dtype)
    values[k] = value_of(m, x, y, 1e-4)
  end
  lu.assertAlmostEquals(values[1], values[2], 3e-5 * values[1])
end

-- A gap that is not a number is not called small.
function TestSquaresThatOverflowDoNotConverge()
  local x, y = rows_of(600, 3, 1, 71)
  for _, value in ipairs{ 1e160, 1e200 } do
    x:set(300, 2, value)
    local m = sc.pipeline{ sc.solver.hinge{ max_iterations = 20 } }:fit(data_of(x, y))
    lu.assertEquals(m:info().status, "iterations exhausted")
    lu.assertEquals(m:info().gap, math.huge)
  end
end

-- Most rows lie equally far from the margin: duplicates, constant columns.
function TestRowsOfEqualKeys()
  for _, n in ipairs{ 600, 5000 } do
    local draws = sc.rand{ n, 3, seed = 61 }
    local x, y = sc.zeros(n, 2), sc.zeros(n, 1)
    for i = 1, n do
      x:set(i, 1, draws:get(i, 1) > 0.5 and 1 or 0)
      x:set(i, 2, draws:get(i, 2) > 0.7 and 1 or -1)
      y:set(i, 1, draws:get(i, 3) < 0.3 + 0.3 * x:get(i, 1) + 0.1 * x:get(i, 2) and 1 or -1)
    end
    for _, rows in ipairs{ x, sc.zeros(n, 2), sc.ones(n, 2) } do
      for _, lambda in ipairs{ 1, 1e-4 } do
        local m = sc.pipeline{ sc.solver.hinge{ lambda = lambda } }:fit(data_of(rows, y))
        lu.assertEquals(m:info().status, "converged")
        lu.assertTrue(m:info().iterations <= 50)
      end
    end
  end
end

-- A class that has no rows, or only rows of weight 0: the constant leaves no loss, which is no
-- measure of a gap.
function TestAClassWithoutRows()
  local x = sc.randn{ 60, 3, seed = 3 }
  local y, w = {}, sc.ones(60, 1)
  for i = 1, 60 do
    y[i] = i <= 5 and 2 or x:get(i, 1) > 0 and 1 or 0
    if i <= 5 then w:set(i, 1, 0) end
  end
  local solvers = { sc.solver.hinge{ lambda = 0.05 },
    sc.solver.hinge{ lambda = 0.05, loss = "squared_hinge" } }
  for _, loss in ipairs{ "hinge", "squared_hinge", "logistic", "exponential" } do
    for _, method in ipairs{ "auto", "lbfgs", "dual" } do
      table.insert(solvers, sc.solver.erm{ loss = sc.loss[loss](), method = method, lambda = 0.05 })
    end
  end
  for _, solver in ipairs(solvers) do
    for _, rows in ipairs{ x, sc.matrix.csr(x) } do
      local m = sc.pipeline{ solver }:fit(sc.dataset{ X = rows, y = y, weights = w,
        classes = { 0, 1, 2 }, task = "classification" })
      local what = ("%s %s"):format(solver, rows.sparse)
      lu.assertEquals({ m:info().status, m:info().note }, { "converged" }, what)
      local f = m:decision(x)
      for i = 1, 60 do lu.assertTrue(f:get(i, 3) < -0.99, what) end
    end
  end
end

-- Three rows of one class that weigh next to nothing: dense and sparse rows have one solution.
function TestSquaredHingeOfAClassThatWeighsNothing()
  local x, y = sc.randn{ 300, 3, seed = 1 }, {}
  for i = 1, 300 do y[i] = i <= 3 and 1 or 0 end
  for _, weight in ipairs{ 1e-9, 1e-12, 1e-15 } do
    local w = sc.ones(300, 1)
    for i = 1, 3 do w:set(i, 1, weight) end
    for _, rows in ipairs{ x, sc.matrix.csr(x) } do
      local m = sc.pipeline{ sc.solver.hinge{ lambda = 0.05, loss = "squared_hinge" } }:fit(
        sc.dataset{ X = rows, y = y, weights = w, task = "classification" })
      lu.assertEquals(m:info().status, "converged")
      lu.assertTrue(m:decision(x:slice(4, 300)):max() < -0.99, weight)
    end
  end
end

os.exit(lu.LuaUnit.run(), true)

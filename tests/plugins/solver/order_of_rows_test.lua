-- Solvers whose method depends on the order of the rows (hinge, huber, trimmed, box by other
-- losses than the square), those of n x n systems, of samples and of models made of rows: on
-- features that are bits or whole numbers a fit has the same bits for any order of the rows and any
-- number of threads.
local lu = require "luaunit"
local sc = require "scullery"
local s, gaussian = sc.solver, sc.sampler.gaussian{ sigma = 0.5 }

-- Rows of which a third come twice and one often; multiples of 1/2, so that scores are often equal.
local n, d = 2600, 4
local X, y, labels, several = sc.zeros(n, d), sc.zeros(n, 1), {}, {}
do
  local drawn, noise = sc.randn{ n, d, seed = 3 }, sc.randn{ n, 2, seed = 4 }
  for i = 1, n do
    local from = i % 3 == 0 and i - 1 or i % 10 == 1 and 1 or i
    for j = 1, d do X:set(i, j, math.floor(2 * drawn:get(from, j)) / 2) end
    local f = X:get(i, 1) + X:get(i, 2) * X:get(i, 3)
    labels[i] = f + noise:get(from, 1) > 0 and "yes" or "no"
    several[i] = f > 1 and "high" or f > -0.5 and "middle" or "low"
    y:set(i, 1, math.sin(f) + 0.3 * noise:get(from, 1) + (from % 17 == 0 and 40 or 0) + 5)
  end
end

local backwards, mixed = {}, {}
for i = 1, n do backwards[i] = n + 1 - i end
for i = 1, n do mixed[i] = (i * 1009) % n + 1 end -- 1009 is prime to n

local function data(target, weight)
  local weights
  if weight then
    weights = {}
    -- by the row's contents: copies have one weight
    for i = 1, n do weights[i] = weight(X:get(i, 1), X:get(i, 2)) end
  end
  return sc.dataset{ X = X, y = target, weights = weights,
    task = target == y and "regression" or nil }
end
local hinge, huber = s.hinge{ lambda = 1e-3 }, s.huber{ lambda = 1e-3 }
local function whole(a) return math.floor(a) % 3 end
local function broken(a, b) return 0.1 + (3 * a + b) % 7 / 3 end
local two, more, numbers = data(labels), data(several), data(y)

local maps = {
  { "bits", { phi = sc.nonlinearity.sign() } },
  { "bits, float32", { phi = sc.nonlinearity.step(), dtype = "float32" } },
  { "bits, int16", { phi = sc.nonlinearity.sign(), dtype = "int16" } },
  { "int16", { phi = sc.nonlinearity.fourier(), dtype = "int16" } },
  { "int8", { phi = sc.nonlinearity.fourier(), dtype = "int8" } },
}

local function features(map, T)
  local given = { p = gaussian, T = T or 50, seed = 2 }
  for key, value in pairs(map[2]) do given[key] = value end
  return sc.features(given)
end

local function fit(map, solver, ds, T)
  local m = sc.pipeline{ features(map, T), solver }:fit(ds)
  return m:decision(X), m
end

-- The same bits of the fit to `ds` in its own order and in others, by 1 to 4 threads.
local function check(map, solver, ds, T)
  local threads = sc.threads()
  sc.threads(1)
  local want = fit(map, solver, ds, T)
  for k, order in ipairs{ backwards, mixed, backwards, mixed } do
    sc.threads(k)
    lu.assertTrue(fit(map, solver, ds:select(order), T) == want,
      ("%s, %s, order %d"):format(solver.name, map[1], k))
  end
  sc.threads(threads)
end

function TestHinge()
  for _, map in ipairs(maps) do
    check(map, hinge, two)
    check(map, s.hinge{ lambda = 1e-3, intercept = false, max_iterations = 5 }, more)
  end
end

function TestHingeOfWeightedRows()
  for _, map in ipairs(maps) do
    check(map, hinge, data(labels, whole))
    check(map, hinge, data(labels, broken))
  end
end

function TestHuber()
  for _, map in ipairs(maps) do
    check(map, huber, numbers)
    check(map, s.huber{ lambda = 1e-3, scale = "none", delta = 0.1 }, numbers)
  end
end

function TestHuberOfWeightedRows()
  for _, map in ipairs(maps) do
    check(map, huber, data(y, whole))
    check(map, huber, data(y, broken))
  end
end

function TestTrimmedAndBox()
  for _, map in ipairs(maps) do
    check(map, s.trimmed{ lambda = 1e-3 }, numbers)
    check(map, s.box{ C = 0.1, loss = "hinge" }, two)
    check(map, s.box{ C = 0.1, loss = "logistic", max_iterations = 4 }, data(labels, broken))
  end
end

-- A sample of the rows (cg), rows held out (sgd), and models that are made of rows.
function TestSamplesAndModelsOfRows()
  local few, order = {}, {}
  for i = 1, 300 do few[i], order[i] = i, (i * 7) % 300 + 1 end
  few = two:select(few)
  for _, map in ipairs{ maps[1], maps[4] } do
    for _, solver in ipairs{ s.cg{ lambda = 1e-4, rank = 60 }, s.svm{ C = 1 }, s.knn{ k = 5 },
      s.logistic{ lambda = 1e-4, method = "sgd", holdout = 0.2 }, s.adaboost{ stumps = 10 },
      s.erm{ lambda = 1e-3 }, s.boosting{ rounds = 3 }, s.kernel_ridge{ lambda = 1e-3 } } do
      lu.assertTrue(fit(map, solver, few:select(order), 40) == fit(map, solver, few, 40),
        solver.name .. ", " .. map[1])
    end
  end
end

-- Systems of n x n, and working sets that are multiplied once.
function TestMoreFeaturesThanRows()
  local few = {}
  for i = 1, 200 do few[i] = i end
  local order = {}
  for i = 1, 200 do order[i] = 201 - i end
  for _, map in ipairs(maps) do
    for _, case in ipairs{ { huber, numbers }, { hinge, two },
      { s.trimmed{ lambda = 1e-3 }, numbers }, { s.ridge{ lambda = 1e-4 }, numbers },
      { s.ridge{ lambda = 1e-4, form = "dual" }, more },
      { s.ridge{ lambda = 1e-4, estimate = "loo" }, numbers }, { s.cg{ lambda = 1e-3 }, numbers },
      { s.box{ C = 0.2 }, two }, { s.box{ C = 0.2, loss = "hinge" }, two } } do
      local ds = case[2]:select(few)
      lu.assertTrue(fit(map, case[1], ds:select(order), 300) == fit(map, case[1], ds, 300),
        case[1].name .. ", " .. map[1])
    end
  end
end

-- Rows that are read in the order of a file, as many at a time as the memory holds.
function TestStreams()
  local path = os.tmpname() .. ".csv"
  local file <close> = assert(io.open(path, "w"))
  file:write("a,b,c,d,y\n")
  for _, i in ipairs(mixed) do
    for j = 1, d do file:write(("%.17g,"):format(X:get(i, j))) end
    file:write(labels[i], "\n")
  end
  file:close()
  for _, map in ipairs{ maps[1], maps[4] } do
    local want = fit(map, hinge, two)
    for _, allowance in ipairs{ 1e9, 6e4 } do
      local ds = sc.data.csv(path, { target = "y", stream = true })
      local m = sc.pipeline{ features(map), hinge, allowance = allowance }:fit(ds)
      lu.assertTrue(m:decision(X) == want, ("%s, %g bytes"):format(map[1], allowance))
    end
    local sgd = s.logistic{ lambda = 1e-3, method = "sgd", holdout = 0.1, epochs = 2 }
    local streamed = fit(map, sgd, sc.data.csv(path, { target = "y", stream = true }))
    lu.assertTrue(streamed == fit(map, sgd, two), "sgd, " .. map[1])
  end
  os.remove(path)
end

-- Rows are named as they are numbered in the data.
function TestMessagesNameRowsOfTheData()
  local far = X:map(function(v) return v end)
  far:set(1234, 2, 1e39)
  local ok, message = pcall(function()
    sc.pipeline{ features(maps[2]), hinge }:fit(
      sc.dataset{ X = far, y = labels })
  end)
  lu.assertFalse(ok)
  lu.assertStrContains(tostring(message), "row 1234")
end

-- Without features the reason is said why sums are not exact.
function TestColumnsThemselves()
  local info = sc.pipeline{ s.ridge{ lambda = 1e-3 } }:fit(two):info()
  lu.assertNil(info.exact)
  lu.assertStrContains(info.exact_note, "order of the rows")
end

-- Float features keep the order of the data.
function TestFloatFeaturesAreLeftAlone()
  local map = { "float64", { phi = sc.nonlinearity.fourier() } }
  local value, m = fit(map, hinge, two)
  lu.assertEquals(m:info().status, "converged")
  lu.assertTrue((fit(map, hinge, two:select(backwards)) - value):abs():max() <
    0.1)
end

os.exit(lu.LuaUnit.run())

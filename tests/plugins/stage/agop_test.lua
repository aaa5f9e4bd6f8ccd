-- The metric of average gradient outer products: against gradients in closed form, and of functions
-- of few columns and of few directions.
local lu = require "luaunit"
local sc = require "scullery"
local fails = dofile("tests/helpers/support.lua").fails

local path = os.tmpname()

local function regression(X, y) return sc.dataset{ X = X, y = y, task = "regression" } end

-- A linear map of rows, from the rows of the identity.
local function matrix_of(p, d)
  local zero = p:transform(sc.zeros(1, d))
  return (p:transform(sc.eye(d)) - sc.ones(d, 1) * zero):t()
end

-- f(x) = x'Qx of normal rows has the mean gradient outer product 4 Q Q', its expectation; a mean of
-- n rows is off by a share of about n^-1/2.
function TestMetricOfAQuadraticFunction()
  local d, n = 4, 1500
  local Q = sc.matrix{ { 0.2, 1, 0, 0 }, { 1, -0.2, 0, 0 }, { 0, 0, 0.3, 0 }, { 0, 0, 0, 0 } }
  local X, values = sc.randn{ n, d, seed = 1 }, {}
  local XQ = X * Q
  for i = 1, n do values[i] = { (X:row(i) * XQ:row(i):t()):get(1, 1) } end
  local wanted = Q * Q:t()
  wanted = wanted * (1 / wanted:eigvals():max())
  for _, map in ipairs{ "fourier", "landmarks" } do
    local p = sc.pipeline{ sc.agop{ rounds = 2, map = map } }
      :fit(regression(X, sc.matrix(values)))
    local A = matrix_of(p, d)
    local M = A:t() * A
    M = M * (1 / M:eigvals():max())

    lu.assertTrue((M - wanted):abs():max() < 4 / math.sqrt(n))
    local D = matrix_of(sc.pipeline{ sc.agop{ rounds = 2, map = map, form = "diagonal" } }
      :fit(regression(X, sc.matrix(values))), d)
    local largest = math.max(wanted:get(1, 1), wanted:get(2, 2))
    for j = 1, d do
      lu.assertTrue(math.abs(D:get(j, j) ^ 2 / math.max(D:get(1, 1), D:get(2, 2)) ^ 2
        - wanted:get(j, j) / largest) < 4 / math.sqrt(n))
      for k = 1, d do if k ~= j then lu.assertEquals(D:get(j, k), 0) end end
    end
  end
end

-- A function of one direction that mixes eight columns.
local function direction(n, seed)
  local X = sc.randn{ n, 8, seed = seed }
  local b = sc.matrix{ { 1 }, { -1 }, { 2 }, { 0 }, { 1 }, { 0 }, { -1 }, { 0.5 } } * 0.5
  return regression(X, (X * b):map(function(z) return math.sin(2 * z) end)
    + sc.randn{ n, 1, seed = seed + 9 } * 0.1), b
end

local function fourier(stage, lambda)
  return sc.pipeline{ stage, sc.features{ p = sc.sampler.gaussian{ gamma = "median" },
    phi = sc.nonlinearity.fourier(), T = 200, seed = 1 },
    sc.solver.ridge{ lambda = lambda or 1e-4, intercept = true } }
end

function TestADirection()
  local train, b = direction(600, 1)
  local test = direction(600, 2)
  local p = fourier(sc.agop{}):fit(train)
  lu.assertTrue(p:score(test) > 0.9)
  lu.assertTrue(fourier(sc.standardize()):fit(train):score(test) < 0.6)
  local A = matrix_of(p, 8)
  local image = (A * b):norm() / b:norm()
  local other = sc.matrix{ { 1 }, { 1 }, { 0 }, { 3 }, { 0 }, { 1 }, { 0 }, { 0 } } -- b' other = 0
  lu.assertTrue((A * other):norm() / other:norm() < 0.3 * image)
  p:save(path)
  lu.assertEquals(sc.load(path):predict(test.X), p:predict(test.X))
  lu.assertEquals(sc.load(path):info().relevance, p:info().relevance)
end

-- Neither the order of rows nor copies matter; a row of weight 2 is two rows, one of 0 none.
function TestTheRowsAlone()
  local ds, repeated, weights, turned = direction(150, 3), {}, {}, {}
  for i = 1, 150 do
    weights[i], turned[i] = i % 3, 151 - i
    for _ = 1, i % 3 do repeated[#repeated + 1] = i end
  end
  local function rows(of, form)
    return sc.pipeline{ sc.agop{ T = 60, rounds = 2, form = form } }:fit(of):transform(ds.X)
  end
  for _, form in ipairs{ "full", "diagonal" } do
    lu.assertTrue((rows(ds, form) - rows(ds:select(turned), form)):abs():max() < 1e-6)
    local weighted = sc.dataset{ X = ds.X, y = ds.y, weights = weights, task = "regression" }
    lu.assertTrue((rows(ds:select(repeated), form) - rows(weighted, form)):abs():max() < 1e-6)
  end
end

function TestSearchAndClasses()
  local ds = direction(600, 4)
  local best = sc.pipeline{ sc.agop{ T = 50, rounds = sc.choose{ 1, 3 },
    form = sc.choose{ "full", "diagonal" } }, table.unpack({ fourier(sc.standardize()).features,
    sc.solver.ridge{ lambda = 1e-4 } }) }:search(ds, { folds = 3, seed = 0 })
  lu.assertEquals(best.choice["agop.form"], "full")
  local y = {}
  for i = 1, 600 do y[i] = ds.y:get(i, 1) > 0.5 and "a" or ds.y:get(i, 1) < -0.5 and "b" or "c" end
  lu.assertTrue(fourier(sc.agop{ T = 100 }):fit(sc.dataset{ X = ds.X, y = y }):score(
    sc.dataset{ X = ds.X, y = y }) > 0.7)
end

-- Where the targets are noise the columns are standardised.
function TestNoise()
  local X = sc.randn{ 200, 5, seed = 6 } * 3
  local ds = regression(X, sc.randn{ 200, 1, seed = 7 })
  local A = sc.pipeline{ sc.agop{ T = 50 } }:fit(ds):transform(X)
  lu.assertTrue((A - sc.pipeline{ sc.standardize() }:fit(ds):transform(X)):abs():max() < 1e-12)
end

function TestWhatItRefuses()
  local p = sc.pipeline{ sc.agop{} }
  fails({ "agop", "at least 10 distinct rows", "got 5" }, p.fit, p, (direction(5, 1)))
  local wide = regression(sc.randn{ 20, 1001, seed = 1 }, sc.randn{ 20, 1, seed = 2 })
  fails({ "agop", "up to 1000 columns", "1001", "sc.pca" }, p.fit, p, wide)
  fails({ "agop", "learns from targets" }, function()
    sc.pipeline{ sc.agop{} }:fit(sc.randn{ 20, 2, seed = 1 })
  end)
  fails({ "agop", "rounds" }, sc.agop, { rounds = 0 })
  fails({ "agop", "form", "diagonal" }, sc.agop, { form = "diag" })
end

local status = lu.LuaUnit.run()
os.remove(path)
os.exit(status, true)

-- Features of sparse rows in pipelines: fits and predictions are those of the same rows dense; and
-- rows of so many columns that their parameters cannot be stored.
local lu = require "luaunit"
local sc = require "scullery"

local X = sc.rand{ 300, 400, seed = 4 }:map(function(x)
  return x < 0.95 and 0 or 20 * (x - 0.95)
end)
for j = 1, 400 do X:set(11, j, 0) end
local y = sc.zeros(300, 1)
for i = 1, 300 do y:set(i, 1, X:get(i, 1) - X:get(i, 7) + X:row(i):sum()) end

local function gap(features)
  local predicted = {}
  for i, rows in ipairs{ X, sc.matrix.csr(X) } do
    local p = sc.pipeline{ features, sc.solver.ridge{ lambda = 1e-3 } }
    predicted[i] = p:fit(sc.dataset{ X = rows, y = y }):predict(rows)
  end
  return (predicted[1] - predicted[2]):abs():max() / predicted[1]:abs():max()
end

local function features(p, phi, more)
  local given = { p = p, phi = phi, T = 100 }
  for key, value in pairs(more or {}) do given[key] = value end
  return sc.features(given)
end

local gaussian = sc.sampler.gaussian{ sigma = "median" }
local fourier, relu = sc.nonlinearity.fourier(), sc.nonlinearity.relu()

-- Sums of the same features, in the same order.
function TestTheSameBits()
  for name, of in pairs{
    fourier = features(gaussian, fourier),
    float32 = features(gaussian, fourier, { dtype = "float32" }),
    int8 = features(gaussian, fourier, { dtype = "int8" }),
    int16 = features(gaussian, relu, { dtype = "int16" }),
    bits = features(sc.sampler.gaussian{ bias = "gaussian" }, sc.nonlinearity.step(),
      { dtype = "float32" }),
    maxout = features(sc.sampler.pooled(), sc.nonlinearity.maxout()),
    sparse = features(sc.sampler.sparse{ degree = 2 }, relu, { K = sc.kernel.gaussian() }),
    structured = features(sc.sampler.hadamard(), fourier),
    sketch = features(sc.sampler.tensorsketch(), sc.nonlinearity.identity()),
    cells = features(sc.sampler.grid(), sc.nonlinearity.bins(), { T = 20 }) } do
    lu.assertEquals(gap(of), 0, name)
  end
end

-- Features of one column: dense rows are summed by the values of the column.
function TestSumsByValues()
  lu.assertTrue(gap(features(sc.sampler.threshold(), relu)) < 1e-12)
end

-- Lengths of rows and inner products are summed in another order.
function TestTheSameNumbers()
  for name, of in pairs{
    kernel = features(sc.sampler.gaussian(), relu, { K = sc.kernel.gaussian{ width = 20 } }),
    landmarks = features(sc.sampler.landmarks(), sc.kernel.gaussian{ gamma = "median" }),
    angular = features(sc.sampler.landmarks(), sc.kernel.angular(), { T = 30 }),
    polynomial = features(sc.sampler.landmarks(), sc.kernel.polynomial{ degree = 2 },
      { T = 30 }) } do
    local found = gap(of)
    lu.assertTrue(found < 1e-6, name .. ": " .. found)
  end
end

-- Columns far beyond those that have numbers, in rows of three numbers.
local function wide_rows(n, columns)
  local starts, indices, values, target = { 0 }, {}, {}, sc.zeros(n, 1)
  local U = sc.rand{ n, 3, seed = 6 }
  for i = 1, n do
    local place = math.floor(U:get(i, 1) * (columns // 3))
    for k = 0, 2 do
      indices[#indices + 1] = k * (columns // 3) + place
      values[#values + 1] = U:get(i, k + 1)
    end
    starts[#starts + 1] = #indices
    target:set(i, 1, U:get(i, 2))
  end
  return sc.matrix.csr{ rows = n, columns = columns, starts = starts, indices = indices,
    values = values }, target
end

-- 4.8 GB of weights as float64, of which 60 columns are drawn. A saved model draws the same.
function TestColumnsThatCannotBeStored()
  local rows, target = wide_rows(20, 2000000)
  local p = sc.pipeline{ features(sc.sampler.gaussian(), fourier, { T = 300 }),
    sc.solver.ridge{ lambda = 1e-6 } }:fit(sc.dataset{ X = rows, y = target })
  local predicted = p:predict(rows)
  lu.assertTrue((predicted - target):norm() < 0.2 * target:norm())
  local path = os.tmpname()
  p:save(path)
  lu.assertEquals(sc.load(path):predict(rows), predicted)
  os.remove(path)
end

os.exit(lu.LuaUnit.run(), true)

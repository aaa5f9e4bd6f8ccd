-- Data made by equations: sc.data.friedman1, sparse_polynomial and spiked.
local lu = require "luaunit"
local sc = require "scullery"
local fails = dofile("tests/helpers/support.lua").fails

local function close(A, B) lu.assertAlmostEquals((A - B):abs():max(), 0, 1e-12) end

function TestFriedmanWithIdleColumnsAndWithoutNoise()
  local ds, noisy = sc.data.friedman1{ rows = 50, cols = 12, noise = 0, seed = 4 },
    sc.data.friedman1{ rows = 50, cols = 12, noise = 2, seed = 4 }
  lu.assertEquals({ #ds, ds.X:cols(), ds.names[12], ds.X == noisy.X }, { 50, 12, "x12", true })
  for i = 1, 50 do
    local x = ds.X[i]:totable()[1]
    lu.assertAlmostEquals(ds.y[i], 10 * math.sin(math.pi * x[1] * x[2]) + 20 * (x[3] - 0.5) ^ 2
      + 10 * x[4] + 5 * x[5], 1e-12)
  end
  close(noisy.y - ds.y, 2 * sc.randn{ 50, 1, seed = 5 })
  local default = sc.data.friedman1()
  lu.assertEquals({ default.X, default.y }, { sc.data.load("friedman1").X,
    sc.data.load("friedman1").y })
  fails({ "data.friedman1", "'cols' got 4", "at least 5" }, sc.data.friedman1, { cols = 4 })
end

-- By the definition, with sums over rows written out.
function TestSparsePolynomial()
  local slopes, n = { 1, -2, 0.5 }, 200
  local ds = sc.data.sparse_polynomial{ rows = n, cols = 3, linear = slopes, alpha = 0.3, noise = 0,
    products = { { 1, 3 }, { 2, 2, weight = -4 } } }
  local parts, deviation = { {}, {} }, {}
  for i = 1, n do
    local x = ds.X[i]:totable()[1]
    parts[1][i] = x[1] - 2 * x[2] + 0.5 * x[3]
    parts[2][i] = x[1] * x[3] - 4 * x[2] ^ 2
  end
  for k, part in ipairs(parts) do
    local mean, squares = 0, 0
    for i = 1, n do mean = mean + part[i] / n end
    for i = 1, n do squares = squares + (part[i] - mean) ^ 2 / n end
    deviation[k] = math.sqrt(squares)
  end
  for i = 1, n do
    lu.assertAlmostEquals(ds.y[i], (0.7 * parts[1][i] / deviation[1] + 0.3 * parts[2][i]
      / deviation[2]) / math.sqrt(0.58), 1e-12)
  end
  local function make(o) return sc.data.sparse_polynomial(o) end
  lu.assertEquals({ #make{ products = {}, rows = 0 }, make{ products = {} }.y:isfinite() },
    { 0, true })
  fails({ "'products' is missing" }, make, {})
  fails({ "columns from 1 to 16 in 'products'", "17" }, make, { products = { { 17 } } })
  fails({ "lists of columns", "got 3" }, make, { products = { 3 } })
  fails({ "weight", '"x"' }, make, { products = { { 1, weight = "x" } } })
  fails({ "16 numbers as 'linear'" }, make, { products = {}, linear = { 1, 2 } })
end

function TestSpikes()
  local X = sc.randn{ 2000, 5, seed = 1 }
  for law, deviation in pairs{ normal = 6, uniform = 6 / math.sqrt(3) } do
    local spiked = sc.data.spiked(X, { p = 0.1, law = law })
    local count, squares = 0, 0
    for i = 1, 2000 do
      for j = 1, 5 do
        if spiked:get(i, j) ~= X:get(i, j) then
          count, squares = count + 1, squares + spiked:get(i, j) ^ 2
        end
      end
    end
    -- four standard errors
    lu.assertAlmostEquals(count / 1e4, 0.1, 4 * math.sqrt(0.09 / 1e4))
    lu.assertAlmostEquals(squares / count / deviation ^ 2, 1, 4 * math.sqrt(2 / count))
  end
  lu.assertEquals(sc.data.spiked(X, { p = 0 }), X)
  lu.assertEquals(sc.data.spiked(X, { seed = 3 }), sc.data.spiked(X, { seed = 3 }))
  lu.assertEquals(#sc.data.spiked(sc.zeros(0, 3)), 0)
  fails({ "'p' got 2", "from 0 to 1" }, sc.data.spiked, X, { p = 2 })
  fails({ "normal, uniform" }, sc.data.spiked, X, { law = "cauchy" })
  fails({ "data.spiked", "got nil" }, sc.data.spiked)
end

os.exit(lu.LuaUnit.run(), true)

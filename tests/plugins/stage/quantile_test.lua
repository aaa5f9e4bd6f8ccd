-- Quantiles of columns: against ranks, at ties and beyond the ends, and as uniform and normal
-- numbers.
local lu = require "luaunit"
local sc = require "scullery"
local fails = dofile("tests/helpers/support.lua").fails

local function column(list)
  local X = sc.zeros(#list, 1)
  for i, x in ipairs(list) do X:set(i, 1, x) end
  return X
end

local function through(given, list, other)
  local p = sc.pipeline{ sc.stage.quantile(given) }:fit(column(list))
  local Z = p:transform(column(other or list))
  local out = {}
  for i = 1, Z:rows() do out[i] = Z:get(i, 1) end
  return out
end

function TestRanks()
  lu.assertAlmostEquals(through({}, { 5, 1, 100, 2, 3 }), { 0.75, 0, 1, 0.25, 0.5 }, 1e-15)
  -- between values linearly, beyond them 0 and 1
  lu.assertAlmostEquals(through({}, { 0, 1, 3 }, { 0.5, 2, -7, 8, 3 }), { 0.25, 0.75, 0, 1, 1 },
    1e-15)
end

-- A value of several rows has the middle of their levels.
function TestTies()
  lu.assertAlmostEquals(through({}, { 1, 1, 1, 2, 3 }), { 0.25, 0.25, 0.25, 0.75, 1 }, 1e-15)
  lu.assertAlmostEquals(through({}, { 4, 4, 4 }, { 4, 3, 5 }), { 0.5, 0, 1 }, 1e-15)
  lu.assertAlmostEquals(through({ output = "normal" }, { 4, 4, 4 }), { 0, 0, 0 }, 1e-15)
end

-- Of n rows of a continuous law every level is a rank, so that means and variances are those of
-- equally spaced numbers; the normal ones are near N(0, 1).
function TestUniformAndNormal()
  local X = sc.randn{ 4000, 2, seed = 1 }:map(function(x) return math.exp(2 * x) end)
  local U = sc.pipeline{ sc.stage.quantile{ knots = 4000 } }:fit(X):transform(X)
  local Z = sc.pipeline{ sc.stage.quantile{ output = "normal" } }:fit(X):transform(X)
  for j = 1, 2 do
    local u, z = U:slice(1, 4000, j, j), Z:slice(1, 4000, j, j)
    lu.assertAlmostEquals(u:sum() / 4000, 0.5, 1e-6)
    lu.assertAlmostEquals(u:mul(u):sum() / 4000, 1 / 3, 1e-3)
    lu.assertAlmostEquals(z:sum() / 4000, 0, 1e-2)
    lu.assertAlmostEquals(z:mul(z):sum() / 4000, 1, 2e-2)
    lu.assertTrue(z:abs():max() < 5.2)
  end
end

-- Levels learnt from a sample of m rows are right to 4 standard errors of a binomial share, at most
-- 1/(2 sqrt(m)).
function TestSample()
  local X = sc.randn{ 20000, 1, seed = 2 }
  local all = sc.stage.quantile{ sample = 20000, knots = 20000 }
  local exact = sc.pipeline{ all }:fit(X):transform(X)
  local some = sc.pipeline{ sc.stage.quantile{ sample = 1000 } }:fit(X):transform(X)
  lu.assertTrue((exact - some):abs():max() < 4 / (2 * math.sqrt(1000)))
  lu.assertTrue((exact - some):abs():max() > 0)
  local other = sc.pipeline{ sc.stage.quantile{ sample = 1000, seed = 1 } }:fit(X):transform(X)
  lu.assertFalse(some == other)
end

function TestOptions()
  fails({ "option 'knots' got 1" }, function() sc.stage.quantile{ knots = 1 } end)
  fails({ "option 'output' got \"normale\"" }, sc.stage.quantile, { output = "normale" })
end

os.exit(lu.LuaUnit.run(), true)

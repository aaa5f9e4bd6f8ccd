-- Random projections: E ||A x||^2 = ||x||^2, and the variances of each law, over seeds; linear, and
-- the same from a file.
local lu = require "luaunit"
local sc = require "scullery"

local SEEDS, K = 400, 8

-- Mean and standard error of ||A x||^2/||x||^2 over seeds.
local function ratio(law, X)
  local sum, square, size = 0, 0, X:norm() ^ 2
  for seed = 1, SEEDS do
    local stage = sc.stage.random_projection{ k = K, law = law, seed = seed }
    local r = sc.pipeline{ stage }:fit(X):transform(X):norm() ^ 2 / size
    sum, square = sum + r, square + r * r
  end
  local mean = sum / SEEDS
  return mean, math.sqrt((square / SEEDS - mean * mean) / SEEDS), square / SEEDS - mean * mean
end

function TestLengthsAreKeptInTheMean()
  local X = sc.randn{ 1, 30, seed = 1 }
  for _, law in ipairs{ "gaussian", "rademacher", "sparse" } do
    local mean, stderr = ratio(law, X)
    lu.assertTrue(math.abs(mean - 1) < 4 * stderr, law .. ": " .. mean)
  end
end

-- For x = e_1, ||A x||^2 is the sum of k squares: of variance 2/k for normal entries, 0 for
-- Rademacher's, and (3 - 1)/k for sparse ones, E a^4 = 3 (E a^2)^2.
function TestVariances()
  local X = sc.zeros(1, 5)
  X:set(1, 1, 1)
  for law, want in pairs{ gaussian = 2 / K, rademacher = 0, sparse = 2 / K } do
    local _, _, variance = ratio(law, X)
    lu.assertTrue(math.abs(variance - want) < 0.3 * (2 / K) + 1e-12, law .. ": " .. variance)
    if want == 0 then lu.assertTrue(variance < 1e-20) end
  end
end

function TestLinear()
  local X, Y = sc.randn{ 50, 6, seed = 2 }, sc.randn{ 50, 6, seed = 3 }
  local p = sc.pipeline{ sc.stage.random_projection{ k = 3 } }:fit(X)
  local gap = p:transform(X + Y * 2) - p:transform(X) - p:transform(Y) * 2
  lu.assertTrue(gap:abs():max() < 1e-12)
  local path = os.tmpname()
  p:save(path)
  lu.assertTrue(sc.load(path):transform(Y) == p:transform(Y))
  os.remove(path)
end

os.exit(lu.LuaUnit.run(), true)

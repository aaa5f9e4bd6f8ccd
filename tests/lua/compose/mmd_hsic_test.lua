-- sc.mmd and sc.hsic: statistics against exact kernels, levels and power by simulation.
local lu = require "luaunit"
local sc = require "scullery"
local fails = dofile("tests/helpers/support.lua").fails

local function features(T, seed)
  return sc.features{ p = sc.sampler.gaussian{ gamma = 0.5 },
    phi = sc.nonlinearity.fourier{ form = "pair" }, T = T, seed = seed }
end

local function mean_and_error(list)
  local sum, square = 0, 0
  for _, v in ipairs(list) do sum, square = sum + v, square + v * v end
  local mean = sum / #list
  return mean, math.sqrt((square / #list - mean ^ 2) / (#list - 1))
end

-- The mean over draws of the features is the statistic of the exact kernel.
function TestMmdAgainstTheExactKernel()
  local X, Y = sc.randn{ 30, 2, seed = 1 }, sc.randn{ 20, 2, seed = 2 } * 1.5
  local k = sc.kernel.gaussian{ gamma = 0.5 }
  local exact = k:gram(X, X):mean() + k:gram(Y, Y):mean() - 2 * k:gram(X, Y):mean()
  for _, method in ipairs{ "permutation", "limit" } do
    local list = {}
    for seed = 1, 40 do
      list[seed] = sc.mmd{ X = X, Y = Y, features = features(20, seed), method = method,
        permutations = 19 }.statistic
    end
    local mean, stderr = mean_and_error(list)
    lu.assertTrue(math.abs(mean - exact) < 4 * stderr)
  end
end

-- Likewise trace(K H L H)/n^2, H = I - 11'/n.
function TestHsicAgainstTheExactKernel()
  local n = 25
  local X = sc.randn{ n, 2, seed = 3 }
  local Y = X:column(1):map(math.sin) + sc.randn{ n, 1, seed = 4 } * 0.2
  local k = sc.kernel.gaussian{ gamma = 0.5 }
  local H = sc.eye(n) - sc.ones(n, n) * (1 / n)
  local exact = (H * k:gram(X, X) * H):dot(H * k:gram(Y, Y) * H) / n ^ 2
  for _, method in ipairs{ "permutation", "limit" } do
    local list = {}
    for seed = 1, 40 do
      list[seed] = sc.hsic{ X = X, Y = Y, features = features(20, seed),
        features_Y = features(20, seed + 100), method = method, permutations = 19 }.statistic
    end
    local mean, stderr = mean_and_error(list)
    lu.assertTrue(math.abs(mean - exact) < 4 * stderr)
  end
end

-- The share of p <= 0.1 in simulations: within three standard errors of 0.1 where the hypothesis
-- holds (the limit law is one for many rows), near 1 where it does not.
local function share(count, p_of)
  local found = 0
  for r = 1, count do if p_of(r) <= 0.1 then found = found + 1 end end
  return found / count
end

function TestLevelAndPowerOfMmd()
  local count = 150
  for method, n in pairs{ permutation = 15, limit = 80 } do
    local function p_of(factor)
      return function(r)
        return sc.mmd{ X = sc.randn{ n, 2, seed = 2 * r }, Y = sc.randn{ n + 5, 2,
          seed = 2 * r + 1 } * factor, features = features(8, r), method = method,
          permutations = 39, seed = r }.p
      end
    end
    local level = share(count, p_of(1))
    lu.assertTrue(math.abs(level - 0.1) < 3 * math.sqrt(0.09 / count))
    lu.assertTrue(share(20, p_of(6)) > 0.9)
  end
end

function TestLevelAndPowerOfHsic()
  local count = 150
  for method, n in pairs{ permutation = 15, limit = 80 } do
    local function p_of(correlation)
      return function(r)
        local X = sc.randn{ n, 1, seed = 3 * r }
        local Y = X * correlation
          + sc.randn{ n, 1, seed = 3 * r + 1 } * math.sqrt(1 - correlation ^ 2)
        return sc.hsic{ X = X, Y = Y, features = features(5, r), features_Y = features(5, r + 1),
          method = method, permutations = 39, seed = r }.p
      end
    end
    lu.assertTrue(math.abs(share(count, p_of(0)) - 0.1) < 3 * math.sqrt(0.09 / count))
    lu.assertTrue(share(20, p_of(0.95)) > 0.9)
  end
end

-- The default features, what is printed, sparse rows; equal rows have the largest p-value.
function TestResults()
  local X = sc.randn{ 40, 3, seed = 5 }
  local found = sc.mmd{ X = X, Y = X }
  lu.assertEquals({ found.statistic, found.p, found.rows }, { 0, 1, { 40, 40 } })
  lu.assertStrContains(tostring(found), "499 permutations")
  local apart = sc.mmd{ X = sc.matrix.csr(X), Y = sc.matrix.csr(X * 5), permutations = 99 }
  lu.assertEquals(apart.p, 0.01)
  lu.assertAlmostEquals(apart.statistic, sc.mmd{ X = X, Y = X * 5, permutations = 99 }.statistic,
    1e-9)
  lu.assertTrue(sc.hsic{ X = X, Y = X, method = "limit" }.p < 0.01)
end

function TestWhatTheyRefuse()
  local X = sc.randn{ 9, 2, seed = 1 }
  fails({ "mmd", "'Y' is missing" }, sc.mmd, { X = X })
  fails({ "mmd", "2 and 3 columns" }, sc.mmd, { X = X, Y = sc.randn{ 9, 3, seed = 1 } })
  fails({ "hsic", "9 and 8 rows" }, sc.hsic, { X = X, Y = X:slice(1, 8) })
  fails({ "mmd", "1 rows", "two or more" }, sc.mmd, { X = X, Y = X:slice(1, 1) })
  fails({ "hsic", "not finite in row 1, column 2" }, sc.hsic,
    { X = X, Y = sc.matrix{ { 0, 0 / 0 }, { 1, 2 } } })
  fails({ "mmd", "method" }, sc.mmd, { X = X, Y = X, method = "exact" })
  fails({ "mmd", "permutations" }, sc.mmd, { X = X, Y = X, permutations = 1 })
end

os.exit(lu.LuaUnit.run(), true)

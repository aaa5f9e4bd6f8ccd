-- Fourier features weighted by leverage: no bias, and smaller errors where the rows are.
local lu = require "luaunit"
local sc = require "scullery"
local fails = dofile("tests/helpers/support.lua").fails

local path = os.tmpname()
local X = sc.randn{ 40, 2, seed = 1 }

local function features(given, T, seed)
  given.gamma = 0.3
  return sc.features{ p = sc.sampler.leverage(given), T = T, seed = seed,
    phi = sc.nonlinearity.fourier{ form = "pair" } }
end

function TestUnbiased()
  local exact = sc.kernel.gaussian{ gamma = 0.3 }:gram(X, X)
  local sum, square, n = sc.zeros(40, 40), sc.zeros(40, 40), 100
  for seed = 1, n do
    local gap = features({ candidates = 60 }, 15, seed):fit(X):kernel(X, X) - exact
    sum, square = sum + gap, square + gap:mul(gap)
  end
  local far = 0
  for i = 1, 40 do
    for j = 1, i do
      local mean = sum:get(i, j) / n
      local stderr = math.sqrt((square:get(i, j) / n - mean ^ 2) / (n - 1))
      if math.abs(mean) > 3.5 * stderr then far = far + 1 end
    end
  end
  lu.assertTrue(far < 8) -- of 820 pairs, 0.4 of which are expected; pairs depend on each other
end

-- The leverages by an independent computation: of candidates that are all taken, T = M, a factor is
-- the smaller the larger the leverage is.
function TestFactorsFollowLeverages()
  local M, lambda = 40, 0.01
  local feats = features({ candidates = M, lambda = lambda, sample = 40 }, 400, 3)
  fails({ "fewer than T" }, feats.fit, feats, X)
  feats = features({ candidates = M, lambda = lambda, sample = 40 }, M, 3):fit(X)
  local W, Z = feats:parameters(), feats:transform(X)
  local seen, factors = {}, {}
  for t = 1, M do
    local c, s = Z:get(1, t), Z:get(1, M + t)
    local key = ("%.12g"):format(W:get(t, 1))
    seen[key] = (seen[key] or 0) + 1
    factors[key] = math.sqrt(c * c + s * s) -- the factor: cos^2 + sin^2 = 1
  end
  for key, count in pairs(seen) do
    -- a candidate is taken T p times, up to one: count is near 1/(M f^2)
    lu.assertTrue(math.abs(count - 1 / (M * factors[key] ^ 2)) < 1 + 1e-9)
  end
end

function TestFitAndSave()
  local train, test = sc.data.load("wdbc"):split{ test = 0.3, seed = 0 }
  local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.leverage{ gamma = "median" },
    phi = sc.nonlinearity.fourier(), T = 100, seed = 1 }, sc.solver.ridge{
    lambda = sc.choose{ 1e-5, 1e-3 } } }:search(train, { folds = 3 })
  lu.assertTrue(p:score(test) > 0.93)
  p:save(path)
  lu.assertEquals(sc.load(path):predict(test.X), p:predict(test.X))
  fails({ "lambda" }, sc.sampler.leverage, { lambda = 0 })
end

local status = lu.LuaUnit.run()
os.remove(path)
os.exit(status, true)

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

-- Leverages q and shares p by an independent computation from the candidates, which are the rows of
-- sampler.gaussian: a factor is 1/sqrt(T M p), and a candidate is taken T p times, up to one.
function TestFactorsFollowLeverages()
  local M, lambda = 40, 0.01
  local feats = features({ candidates = M, lambda = lambda, sample = 40 }, 400, 3)
  fails({ "fewer than T" }, feats.fit, feats, X)
  feats = features({ candidates = M, lambda = lambda, sample = 40 }, M, 3):fit(X)
  local candidates = sc.features{ p = sc.sampler.gaussian{ gamma = 0.3 }, T = M, seed = 3,
    phi = sc.nonlinearity.fourier{ form = "pair" } }:fit(X)
  local V, Phi = candidates:parameters(), candidates:transform(X)
  local A = Phi * Phi:t() + sc.eye(40) * (40 * lambda)
  local inverse = sc.eye(40) * (1 / A:norm())
  for _ = 1, 40 do inverse = inverse * 2 - inverse * A * inverse end -- Newton's method
  local solved = inverse * Phi
  local q, total, place = {}, 0, {}
  for m = 1, M do
    q[m] = Phi:column(m):dot(solved:column(m)) + Phi:column(M + m):dot(solved:column(M + m))
    total = total + q[m]
    place[("%.12g"):format(V:get(m, 1))] = m
  end
  local W, Z, seen = feats:parameters(), feats:transform(X), {}
  for t = 1, M do
    local c, s = Z:get(1, t), Z:get(1, M + t)
    local m = place[("%.12g"):format(W:get(t, 1))]
    seen[m] = (seen[m] or 0) + 1
    -- cos^2 + sin^2 = 1
    lu.assertAlmostEquals(c * c + s * s, total / (M * M * q[m]), 1e-9)
  end
  for m = 1, M do
    lu.assertTrue(math.abs((seen[m] or 0) - M * q[m] / total) < 1 + 1e-9)
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

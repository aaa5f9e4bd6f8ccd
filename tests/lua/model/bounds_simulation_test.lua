-- Guarantees hold for draws of small problems whose true risk is known. bounds_test.lua has their
-- formulas.
local lu = require "luaunit"
local sc = require "scullery"
local noisy_line = dofile("tests/helpers/noisy_line.lua")

local sqrt, abs, max = math.sqrt, math.abs, math.max
local d, s = noisy_line.d, sc.solver
local draw, weighting, mean_loss = noisy_line.draw, noisy_line.weighting, noisy_line.mean_loss

local DRAWS = (os.getenv("SCULLERY_SANITIZE") or "") ~= "" and 100 or 1000

-- How often the risk on a large sample is above the guarantee, of so many draws of data and
-- parameters.
local function violations(count, delta, learn)
  local big, misses, sum = draw(3000, 77), 0, 0
  for k = 1, count do
    local m, kind, b = learn(k, delta)
    local truth = mean_loss(kind, m, big)
    sum = sum + truth
    if truth > b then misses = misses + 1 end
  end
  return misses / count, sum / count
end

local function allowed(delta, count) return delta + 3 * sqrt(delta * (1 - delta) / count) end

-- The mean of 100 random signs: the error of cos(w x) near x = 0 for alpha = sign(w). Without the 2
-- under the root and the term of phi(0), Theorem 3.2 says that a share 0.05 of draws is above
-- sqrt(log 20)/10, which is |2k - 100| >= 18 for k positive signs: a probability of 0.0886.
function TestTheorem32HoldsInSimulation()
  local count, features, radius = 5000, 100, 0.01
  local cosine = sc.nonlinearity.define{ name = "cosine", bound = 1, lipschitz = 1,
    eval = math.cos }
  local m = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, phi = cosine(),
    T = features }, s.ridge{ lambda = 1e6, intercept = false } }:fit(sc.dataset{
    X = sc.matrix{ { radius }, { -radius } }, y = { 1, -1 }, classes = { -1, 1 } })
  local W = sc.randn{ count, features, seed = 9 }
  local function share_above(value)
    local above = 0
    for k = 1, count do
      local w, largest = W:row(k), 0
      for _, x in ipairs{ 0, radius } do
        local sum = w:map(function(v) return (v > 0 and 1 or -1) * math.cos(v * x) end):sum()
        largest = max(largest, abs(sum / features))
      end
      if largest > value then above = above + 1 end
    end
    return above / count
  end
  for _, delta in ipairs{ 0.1, 0.05, 0.01 } do
    local b = m:bound{ theorem = "bases", delta = delta, C = 1, radius = radius }
    local share = share_above(b.total)
    lu.assertTrue(share <= allowed(delta, count))
    if delta == 0.05 then
      local exact = 0.0886
      lu.assertTrue(abs(share_above(b.total_paper) - exact) < 5 * sqrt(
        exact * (1 - exact) / count))
    end
  end
end

-- The kernel that features estimate is nowhere farther away than the theorem says, for dense rows
-- and for two columns of three; epsilon solves the theorem's equation, with E ||w||^2 = 1.
function TestTheUniformErrorOfKernels()
  local count, delta, radius = 1000, 0.1, 1
  local X = 2 * sc.rand{ 25, 3, seed = 4 } - 1
  X = X * (1 / sqrt(3))
  local zeros = sc.dataset{ X = X, y = sc.zeros(25, 1) }
  for _, p in ipairs{ sc.sampler.gaussian{ sigma = 1 / sqrt(3) }, sc.sampler.sparse{ degree = 2 },
    sc.sampler.sparse{ degree = { table = { 0, 0.5, 0, 0.5 } }, weights = "uniform" } } do
    for _, phi in ipairs{ sc.nonlinearity.fourier(), p.name == "gaussian" and
      sc.nonlinearity.erf() or nil } do
      local truth = sc.instantiation{ p = p, phi = phi }:kernel(X)
      for seed = 1, 3 do
        local m = sc.pipeline{ sc.features{ p = p, phi = phi, T = count, seed = seed },
          s.ridge{ lambda = 1, intercept = false } }:fit(zeros)
        local b = m:bound{ theorem = "sparse", delta = delta, radius = radius }
        local reach = 4 * b.kappa * b.L * radius / b.total
        lu.assertAlmostEquals(256 * reach ^ 2 * math.exp(-count * b.total ^ 2 / (
          32 * b.kappa ^ 4)), delta, 1e-9)
        local root = phi.name == "fourier" and sqrt(2) or 1
        lu.assertEquals({ b.kappa, b.L }, { root, root == 1 and 2 / sqrt(math.pi) or root })
        lu.assertTrue(b.total_paper <= b.total)
        local error = (m.features:kernel(X, X) - truth):abs():max()
        lu.assertTrue(error > 0 and error < b.total)
      end
    end
  end
  local few = sc.pipeline{ sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.sin(),
    T = 5 }, s.ridge{ lambda = 1, intercept = false } }:fit(zeros)
  lu.assertEquals(few:bound{ theorem = "sparse" }.total, math.huge)
end

-- The step of the bound for all norms that is in no textbook: with random signs sigma_i, b the mean
-- of sigma_i y_i and A >= 0 with E A^2 <= 1/n, E sup over s in [s_0, 1] of (1 - s) b + s A is at
-- most (1 + 1/(2 (1 + r_0)))/sqrt n. Here A = |mean sigma_i z_i|, z_i = +-1: E A^2 = 1/n.
function TestComplexityOfAllNorms()
  local count, rows = 4000, 30
  local u = sc.randn{ count, rows, seed = 12 }
  for _, from in ipairs{ 0, 3, 10 } do
    local s_0, sum, square = from / (1 + from), 0, 0
    for k = 1, count do
      local A, b = 0, 0
      for i = 1, rows do
        local sign = u:get(k, i) > 0 and 1 or -1
        b, A = b + sign / rows, A + (i % 2 == 0 and sign or -sign) / rows
      end
      local most = max((1 - s_0) * b + s_0 * abs(A), abs(A))
      sum, square = sum + most, square + most ^ 2
    end
    local mean = sum / count
    local error_of_mean = sqrt((square / count - mean ^ 2) / count)
    lu.assertTrue(mean + 3 * error_of_mean < (1 + 0.5 / (1 + from)) / sqrt(rows))
    -- and not many times smaller: E|A| alone is about sqrt(2/pi)/sqrt n
    lu.assertTrue(mean > 0.75 / sqrt(rows))
  end
end

function TestTheorem10HoldsForLargeNorms()
  -- labels are coins, and hardly regularised models learn them
  local count, rows, delta = 300, 25, 0.5
  local misses, larger = 0, 0
  for k = 1, count do
    local X, noise, y = sc.randn{ rows, d, seed = k }, sc.randn{ rows, 1, seed = k + 9000 }, {}
    for i = 1, rows do y[i] = noise:get(i, 1) > 0 and 1 or -1 end
    local m = sc.pipeline{ weighting{ T = 6, seed = k, phi = sc.nonlinearity.sin() },
      s.ridge{ lambda = 1e-6, penalty = "rkhs" } }:fit(
      sc.dataset{ X = X, y = y, classes = { -1, 1 } })
    local b = m:bound{ delta = delta }
    local far = m:decision(sc.randn{ 1000, d, seed = 77 })
    local risk = 1 + far:norm() ^ 2 / 1000 -- y is independent of x
    if b.by == "all norms" then larger = larger + 1 end
    if risk > b.total then misses = misses + 1 end
  end
  lu.assertTrue(misses / count <= allowed(delta, count))
  lu.assertTrue(larger > count / 2)
end

function TestTheorem10HoldsInSimulation()
  for _, delta in ipairs{ 0.05, 0.5 } do
    local share = violations(DRAWS, delta, function(k)
      local m = sc.pipeline{ weighting{ T = 15, seed = k },
        s.ridge{ lambda = 1e-3, penalty = "rkhs" } }:fit(draw(25, 1000 + k))
      return m, "square", m:bound{ delta = delta }.total
    end)
    lu.assertTrue(share <= allowed(delta, DRAWS))
  end
end

function TestRandomKitchenSinksHoldInSimulation()
  local share = violations(DRAWS, 0.3, function(k, delta)
    local m = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
      phi = sc.nonlinearity.sin(), T = 15, seed = k }, s.box{ C = 5, loss = "hinge" } }
      :fit(draw(25, 1000 + k))
    return m, "hinge", m:bound{ delta = delta }.total
  end)
  lu.assertTrue(share <= allowed(0.3, DRAWS))
end

function TestTheorem11HoldsInSimulation()
  -- the mean risk of sfgd is at most that of any model in the ball plus the bound; the model is
  -- learnt on many rows
  local B, lambda, steps = 5, 0.5, 15
  local _, mean = violations(100, 0.5, function(k)
    local m = sc.pipeline{ weighting{ T = steps, seed = k },
      s.sfgd{ lambda = lambda, B = B, batch = 10, iterations = steps, seed = k } }:fit(
        draw(25, 1000 + k))
    lu.assertTrue(m:norm() <= B * (1 + 1e-9))
    return m, "square", math.huge
  end)
  local best = sc.pipeline{ weighting{ T = 60, seed = 1 },
    s.ridge{ lambda = 1e-2, penalty = "rkhs" } }:fit(draw(3000, 77))
  local shrink = math.min(1, B / best:norm())
  lu.assertTrue(shrink > 0)
  local f, y, risk = best:decision(draw(3000, 77).X) * shrink, draw(3000, 77):targets(), 0
  for i = 1, 3000 do risk = risk + (f:get(i, 1) - y:get(i, 1)) ^ 2 / 3000 end
  local total = sc.pipeline{ weighting{ T = steps, seed = 1 },
    s.sfgd{ lambda = lambda, B = B, batch = 10, iterations = steps, seed = 1 } }:fit(draw(25, 1001))
    :bound{ theorem = "rkhsw11" }.total
  lu.assertTrue(mean - risk <= total)
end

os.exit(lu.LuaUnit.run())

-- Guarantees: every formula by hand, every ingredient on its own, and draws of small problems whose
-- true risk is known.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local component = require "scullery.compose.component"

local sqrt, log, abs, max, pi = math.sqrt, math.log, math.abs, math.max, math.pi
local n, d, T = 120, 2, 40
local s = sc.solver

-- y = +-1 by a noisy line.
local function draw(rows, seed)
  local X, u, y = sc.randn{ rows, d, seed = seed }, sc.randn{ rows, 1, seed = seed + 500000 }, {}
  for i = 1, rows do y[i] = X:get(i, 1) - 0.5 * X:get(i, 2) + u:get(i, 1) / 2 > 0 and 1 or -1 end
  return sc.dataset{ X = X, y = y, classes = { -1, 1 } }
end
local data = draw(n, 1)

local g, sigma = 1.5, 0.8
local function weighting(given)
  given = given or {}
  return sc.instantiation{ K = sc.kernel.gaussian{ width = g },
    p = sc.sampler.gaussian{ sigma = sigma }, phi = given.phi or sc.nonlinearity.sign() }
    :features{ T = given.T or T, seed = given.seed or 2 }
end
local function sinks(phi, bias)
  return sc.features{ p = sc.sampler.gaussian{ sigma = sigma, bias = bias }, phi = phi
    or sc.nonlinearity.sin(), T = T, seed = 2 }
end
local function model(features, solver, ds)
  return sc.pipeline{ features, solver }:fit(ds or data)
end
local function plain_ridge(lambda) return s.ridge{ lambda = lambda, intercept = false } end
local function near(a, b, tag) lu.assertAlmostEquals(a, b, 1e-9 * (1 + abs(b)), tag) end

local kernelled = {
  { s.ridge{ lambda = 1e-3, penalty = "rkhs" }, "square" },
  { s.lasso{ lambda = 1e-3, intercept = false }, "square" },
    { s.hinge{ lambda = 1e-2, intercept = false }, "hinge" },
  { s.logistic{ lambda = 1e-3, intercept = false }, "logistic" }, { s.box{ C = 40 }, "square" },
    { s.box{ C = 40, loss = "hinge" }, "hinge" },
  { s.box{ C = 40, loss = "logistic" }, "logistic" },
  { s.cg{ lambda = 1e-3, intercept = false }, "square" },
  { s.sfgd{ lambda = 1e-2, B = 30, batch = 20, iterations = T, seed = 3 }, "square" },
}

-- value at a margin, Lipschitz constant and largest value for |f| <= reach, |y| = 1
local losses = {
  square = { function(m)
    return (1 - m) ^ 2
  end, function(r) return 2 * (r + 1) end, function(r) return (r + 1) ^ 2 end },
  hinge = { function(m)
    return max(0, 1 - m)
  end, function() return 1 end, function(r) return 1 + r end },
  logistic = { function(m)
    return log(1 + math.exp(-m))
  end, function(r) return 1 / (1 + math.exp(-r)) end, function(r) return log(1 + math.exp(r)) end },
}

local function mean_loss(kind, m, ds)
  local f, y, sum = m:decision(ds.X), ds:targets(), 0
  for i = 1, #ds do sum = sum + losses[kind][1](f:get(i, 1) * y:get(i, 1)) end
  return sum / #ds
end

function TestLossesAreTheirSolversOwn()
  for _, case in ipairs(kernelled) do
    for _, reach in ipairs{ 0, 0.3, 2, 7 } do
      local l, kind = core.loss(component.instance(case[1]), reach), losses[case[2]]
      local lowest, largest, steepest, h = -reach, 0, 0, 1e-6
      for k = 0, 200 do
        local m = lowest + 2 * reach * k / 200
        largest = max(largest, kind[1](m))
        steepest = max(steepest, abs(kind[1](m + h) - kind[1](m - h)) / (2 * h))
      end
      -- no value and no slope in reach is above what is said, and both are attained (some halve the
      -- square)
      local scale = l.bound / kind[3](reach)
      lu.assertTrue(abs(scale - 1) < 1e-9 or abs(scale - 0.5) < 1e-9, tostring(case[1]))
      near(l.at_zero, scale * kind[1](0), case[2])
      near(l.bound, scale * kind[3](reach))
      near(l.lipschitz, scale * kind[2](reach))
      lu.assertTrue(scale * largest <= l.bound * (1 + 1e-9)
        and scale * steepest <= l.lipschitz * (1 + 1e-6) + 1e-6)
      lu.assertTrue(l.bound <= scale * largest * (1 + 1e-9) + 1e-12, tostring(case[1]))
    end
  end
end

function TestTheorem10()
  -- theta of Gaussian K and p under the sign, and the paper's bound on it
  local ratio = (sigma / g) ^ 2
  local paper = (1 + 2 * ratio) ^ (-d / 4)
  local theta = paper * sqrt(2 / pi * math.asin(sigma ^ 2 / (sigma ^ 2 + g ^ 2)))
  for _, case in ipairs(kernelled) do
    local m, kind = model(weighting(), case[1]), losses[case[2]]
    for _, delta in ipairs{ 0.05, 0.9 } do
      local b = m:bound{ delta = delta, theorem = "rkhsw10" }
      local scale = b.M / kind[3](b.B * b.theta)
      near(b.theta, theta)
      near(b.theta_paper, paper)
      near(b.kappa, 1) -- K(w, w) = 1, |phi| = 1
      near(b.B, m:norm())
      near(b.empirical, scale * mean_loss(case[2], m, data))
      near(b.rho, scale * kind[2](b.B * theta))
      local function total(at)
        return b.empirical + scale * (2 * b.B * kind[2](b.B * at) * at / sqrt(n) + kind[3](
          b.B * at) * sqrt(log(1 / delta) / (2 * n)))
      end
      near(b.total, total(theta), tostring(case[1]))
      near(b.total_paper, total(paper), tostring(case[1]))
      lu.assertEquals({ b.theorem, b.delta, b.n }, { "rkhsw10", delta, n })
    end
    -- what comes without options
    near(m:bound().total, m:bound{ delta = 0.05, theorem = "rkhsw10" }.total)
  end
end

function TestNoDecisionIsBeyondBTheta()
  for _, phi in ipairs{ sc.nonlinearity.sign(), sc.nonlinearity.sin(),
    sc.nonlinearity.fourier{ form = "pair" }, sc.nonlinearity.erf() } do
    local m = model(weighting{ phi = phi }, s.ridge{ lambda = 1e-4, penalty = "rkhs" })
    local b = m:bound()
    for _, scale in ipairs{ 0.1, 1, 10, 1000 } do
      lu.assertTrue(
        m:decision(sc.randn{ 300, d, seed = 9 } * scale):abs():max() <= b.B * b.theta * (1 + 1e-9),
          tostring(phi))
    end
    lu.assertTrue(b.theta <= b.theta_paper * (1 + 1e-12) and b.total <= b.total_paper * (1 + 1e-12))
  end
end

function TestTheorem11()
  local lambda, B = 0.02, 25
  local m = model(weighting(), s.sfgd{ lambda = lambda, B = B, batch = 20, iterations = T,
    seed = 3 })
  local b = m:bound{ theorem = "rkhsw11" }
  lu.assertEquals({ b.B, b.lambda, b.T, b.n }, { B, lambda, T, n })
  local function total(theta)
    local rho = 2 * (B * theta + 1)
    local scale = b.rho / (2 * (B * b.theta + 1))
    rho = rho * scale
    return 2 * rho * theta * B / sqrt(n) + lambda * B ^ 2 + 8 * rho ^ 2 / (lambda * n) + (
      rho * b.kappa + lambda * B) ^ 2 * (1 + log(T)) / (2 * lambda * T)
  end
  near(b.total, total(b.theta))
  near(b.total_paper, total(b.theta_paper))
  -- lambda of another solver may be given, and B is then its norm
  local weighted = model(weighting(), s.ridge{ lambda = 0.5, penalty = "rkhs" })
  local own, given = weighted:bound{ theorem = "rkhsw11" },
    weighted:bound{ theorem = "rkhsw11", lambda = 0.1 }
  lu.assertEquals({ own.lambda, given.lambda }, { 0.5, 0.1 })
  near(own.B, weighted:norm())
end

-- C = T max sum |alpha_t| bound, alpha = a/sqrt T, by hand.
local function box_of(m, outputs, bound)
  local a, most = m:weights(), 0
  for t = 1, T do
    local sum = 0
    for k = 0, outputs - 1 do sum = sum + abs(a:get(k * T + t, 1)) end
    most = max(most, T * sum / sqrt(T))
  end
  return most * bound
end

function TestRandomKitchenSinks()
  local cases = { { sc.nonlinearity.sin(), 1, 1 }, { sc.nonlinearity.fourier(), 1, sqrt(2) },
    { sc.nonlinearity.fourier{ form = "pair" }, 2, 1 }, { sc.nonlinearity.sign(), 1, 1 } }
  for _, phi in ipairs(cases) do
    for _, case in ipairs(kernelled) do
      if not tostring(case[1]):find("rkhs", 1, true) and case[1].name ~= "sfgd" then
        local m, kind, delta = model(sinks(phi[1]), case[1]), losses[case[2]], 0.1
        local b = m:bound{ delta = delta }
        local C = box_of(m, phi[2], phi[3])
        local l = core.loss(component.instance(case[1]), C)
        near(b.C, C)
        near(b.L, l.lipschitz)
        lu.assertTrue(m:decision(sc.randn{ 300, d, seed = 9 } * 5):abs():max() <= C * (1 + 1e-9))
        local scale = l.bound / kind[3](C)
        local L, zero = scale * kind[2](C), scale * kind[1](0)
        near(b.estimation, (4 * L * C + 2 * zero + L * C * sqrt(log(1 / delta) / 2)) / sqrt(n))
        near(b.approximation, L * C / sqrt(T) * (1 + sqrt(2 * log(1 / delta))))
        near(b.total, scale * mean_loss(case[2], m, data) + b.estimation, tostring(case[1]))
      end
    end
  end
end

function TestCellsOfAGridAreOneAtATime()
  local m = model(sc.features{ p = sc.sampler.grid{ gamma = 0.5 }, phi = sc.nonlinearity.bins(),
    T = T, seed = 2 }, plain_ridge(1e-2))
  local C = m:bound().C
  near(C, sqrt(T) * m:weights():abs():max())
  lu.assertTrue(m:decision(data.X):abs():max() <= C)
end

function TestRandomBases()
  local delta, radius = 0.2, 0
  for i = 1, n do radius = max(radius, data.X:row(i):norm()) end
  -- sampler's bias, phi, E b^2, |phi|, its Lipschitz constant
  local cases = {
    { nil, sc.nonlinearity.sin(), 0, 1, 1 }, { { -1, 2 }, sc.nonlinearity.sin(), 1, 1, 1 },
      { nil, sc.nonlinearity.fourier(), pi ^ 2 / 3, sqrt(2), sqrt(2) },
    { nil, sc.nonlinearity.tanh(), 0, 1, 1 },
  }
  for _, case in ipairs(cases) do
    local m = model(sinks(case[2], case[1]), plain_ridge(1e-2))
    local C, second = box_of(m, 1, case[4]), d * sigma ^ 2 + case[3]
    for _, given in ipairs{ radius, 3 } do
      local b = m:bound{ theorem = "bases", delta = delta, radius = given ~= radius and given
        or nil }
      local B = case[3] > 0 and sqrt(given ^ 2 + 1) or given
      near(b.B, B)
      near(b.second_moment, second)
      near(b.total, C / sqrt(T) * (sqrt(log(1 / delta)) + 4 * case[5] / case[4] * B * sqrt(second)))
    end
  end
end

function TestSecondMomentsOfRows() -- against draws
  for _, p in ipairs{ sc.sampler.gaussian{ sigma = 0.7 }, sc.sampler.rademacher{ sigma = 1 },
    sc.sampler.uniform{}, sc.sampler.laplace{}, sc.sampler.spherical{} } do
    local features = sc.features{ p = p, phi = sc.nonlinearity.sin(), T = 4000, seed = 5 }
    local W, sum, square = features:fit(data.X):parameters(), 0, 0
    for i = 1, W:rows() do
      local one = W:row(i):norm() ^ 2
      sum, square = sum + one, square + one ^ 2
    end
    local mean = sum / W:rows()
    local error_of_mean = sqrt(max(0, square / W:rows() - mean ^ 2) / W:rows())
    local b = model(features, plain_ridge(1)):bound{ theorem = "bases" }
    lu.assertTrue(abs(b.second_moment - mean) <= 5 * error_of_mean + 1e-9, tostring(p))
  end
end

function TestMaxout()
  local q, delta, wide = 3, 0.1, 2
  local function features(sd)
    return sc.features{ p = sc.sampler.gaussian{ sigma = sd },
      phi = sc.nonlinearity.maxout{ q = q }, T = T, seed = 2 }
  end
  local second = 1 + sqrt(3) / (2 * pi) -- E max^2 of three normals
  for _, sd in ipairs{ 1, wide } do
    local m = model(features(sd), s.logistic{ lambda = 1e-2, intercept = false })
    local b = m:bound{ theorem = "maxout", delta = delta, radius = 1.5 }
    local C, longest, W = sqrt(T) * m:weights():abs():max(), 0,
      features(sd):fit(data.X):parameters()
    lu.assertEquals(W:rows(), q * T)
    for i = 1, W:rows() do longest = max(longest, W:row(i):norm()) end
    local reach = C * 1.5 * longest
    lu.assertAlmostEquals(b.sigma2, second, 1e-6)
    near(b.R, 1.5 * sd)
    near(b.C, C)
    near(b.L, losses.logistic[2](reach))
    near(b.M, reach + log(1 + math.exp(-reach)))
    near(b.estimation,
      b.R * b.M * (4 * b.L * C * sqrt(b.sigma2 / n) + 2 * log(2) / sqrt(n) + 2 * sqrt(
        2 * log(1 / delta) / n)))
    near(b.total, mean_loss("logistic", m, data) + b.estimation)
    local far = sc.randn{ 200, d, seed = 6 }
    for i = 1, 200 do
      local length = far:row(i):norm()
      for j = 1, d do far:set(i, j, far:get(i, j) * 1.5 / length) end
    end
    lu.assertTrue(m:decision(far):abs():max() <= reach)
  end
end

-- ---------------------------------------------------------------- simulation

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

-- ---------------------------------------------------------------- what is counted, what is refused

function TestWeightsDoNotChangeWhatTheBoundIsOn()
  local w = {}
  for i = 1, n do w[i] = i % 3 + 0.5 end
  local weighted = sc.dataset{ X = data.X, y = data.y, classes = { -1, 1 }, weights = w }
  local m = model(weighting(), s.ridge{ lambda = 1e-3, penalty = "rkhs" }, weighted)
  near(m:bound().empirical, mean_loss("square", m, data))
  local balanced = sc.pipeline{ weighting(), s.ridge{ lambda = 1e-3, penalty = "rkhs" },
    class_weights = { [1] = 3 } }:fit(data)
  near(balanced:bound().empirical, mean_loss("square", balanced, data))
end

local function refused(parts, m, given)
  local ok, message = pcall(m.bound, m, given)
  lu.assertFalse(ok)
  for _, part in ipairs(parts) do lu.assertStrContains(message, part) end
end

function TestWrongUseIsASentence()
  local m = model(weighting(), s.ridge{ lambda = 1e-3, penalty = "rkhs" })
  for _, delta in ipairs{ 0, 1, -0.1, 1.5, 0 / 0, "small" } do
    refused({ "delta", "between 0 and 1" }, m, { delta = delta })
  end
  refused({ "theorem", "rkhsw10", "maxout" }, m, { theorem = "rkhsw12" })
  refused({ "radius" }, m, { radius = -1 })
  refused({ "confidence" }, m, { confidence = 0.9 })
  for _, name in ipairs{ "rks", "bases", "maxout" } do
    refused({ "without K" }, m, { theorem = name })
  end
  local plain = model(sinks(), plain_ridge(1e-3))
  for _, name in ipairs{ "rkhsw10", "rkhsw11" } do
    refused({ "with K" }, plain, { theorem = name })
  end
  refused({ "several numbers" }, plain, { theorem = "maxout" })
  refused({ "lambda" }, model(weighting(), s.box{ C = 1 }), { theorem = "rkhsw11" })
  refused({ "bounded" }, model(sinks(sc.nonlinearity.relu()), plain_ridge(1e-3)), {})
  refused({ "Lipschitz" }, model(sinks(sc.nonlinearity.sign()), plain_ridge(1e-3)),
    { theorem = "bases" })
  refused({ "without K" }, sc.pipeline{ s.ridge{ intercept = false } }:fit(data), {})
  refused({ "not linear" }, sc.pipeline{ s.knn{} }:fit(data), {})
  refused({ "not fitted" }, sc.pipeline{ weighting(), s.ridge{} }, {})
  local laplace = sc.features{ p = sc.sampler.laplace{}, phi = sc.nonlinearity.maxout{ q = 2 },
    T = T }
  refused({ "Gaussian rows" }, model(laplace, plain_ridge(1)), { theorem = "maxout" })
end

function TestCMayBeTheOneFixedBeforeLearning()
  for _, theorem in ipairs{ "rks", "bases" } do
    local m = model(sinks(), plain_ridge(1e-1))
    local least = m:bound{ theorem = theorem }
    local fixed = m:bound{ theorem = theorem, C = 2 * least.C }
    lu.assertEquals(fixed.C, 2 * least.C)
    near(m:bound{ theorem = theorem, C = least.C }.total, least.total)
    if theorem == "bases" then near(fixed.approximation, 2 * least.approximation) end
    lu.assertTrue(fixed.total > least.total)
    refused({ "option 'C'", "need" }, m, { theorem = theorem, C = least.C / 2 })
  end
  refused({ "C" }, model(sinks(), plain_ridge(1)), { C = -1 })
end

function TestWhatTheTheoremsDoNotCoverIsRefused()
  refused({ "intercept" },
    model(weighting(), s.ridge{ lambda = 1e-3, penalty = "rkhs", intercept = true }), {})
  local function values(scale)
    return sc.dataset{ X = data.X, y = data:targets() * scale, task = "regression" }
  end
  refused({ "[-1, 1]", "7" }, model(weighting(), plain_ridge(1e-3), values(7)), {})
  lu.assertTrue(model(weighting(), plain_ridge(1e-3), values(0.5)):bound().total > 0)
  refused({ "classes" }, model(sinks(), plain_ridge(1e-3), values(0.5)), {})
  local kinds = {}
  for i = 1, n do kinds[i] = i % 3 end
  refused({ "one target", "3" }, model(weighting(), plain_ridge(1e-3),
    sc.dataset{ X = data.X, y = kinds, classes = { 0, 1, 2 } }), {})
end

os.exit(lu.LuaUnit.run(), true)

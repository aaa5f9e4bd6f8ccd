-- Feature maps: the properties of the mathematics, each with its standard error.
local lu = require "luaunit"
local sc = require "scullery"
local component = require "scullery.compose.component"
local core = require "scullery.core"
local support = dofile("tests/helpers/support.lua")
local fails = support.fails

local X = sc.randn{ 12, 5, seed = 11 }
local U = sc.rand{ 12, 5, seed = 12 } * 2 - 1

-- Largest |estimate - exact| in standard errors, over `runs` seeds of T features.
local function worst_in_stderr(inst, x, T, runs)
  local mean, stderr = support.mean_over(runs, function(seed)
    return inst:features{ T = T, seed = seed }:fit(x):kernel(x, x)
  end)
  return (support.farthest(mean, stderr, inst:kernel(x, x), 1e-12))
end

local function rms_error(inst, x, T)
  local exact, sum = inst:kernel(x, x), 0
  for seed = 1, 6 do
    sum = sum + (inst:features{ T = T, seed = 100 + seed }:fit(x):kernel(x, x) - exact):norm() ^ 2
  end
  return math.sqrt(sum / 6 / exact:rows() ^ 2)
end

local declared = {
  { "phase", X, sc.sampler.gaussian{ gamma = 0.3, bias = "uniform" }, sc.nonlinearity.fourier() },
  { "phase drawn by the features", X, sc.sampler.gaussian{ gamma = 0.3 },
    sc.nonlinearity.fourier() },
  { "pair", X, sc.sampler.gaussian{ gamma = 0.3 }, sc.nonlinearity.fourier{ form = "pair" } },
  { "diagonal scales", X, sc.sampler.gaussian{ sigma = { 0.1, 0.2, 0.4, 0.8, 1 } },
    sc.nonlinearity.fourier{ form = "pair" } },
  { "stumps, uniform", U, sc.sampler.threshold{ a = 1 }, sc.nonlinearity.sign() },
  { "stumps, normal", X, sc.sampler.threshold{ sigma = 1 }, sc.nonlinearity.sign() },
  { "sign", X, sc.sampler.gaussian{ sigma = 1 }, sc.nonlinearity.sign() },
}

function TestKernelIsWhatFeaturesEstimate()
  for _, case in ipairs(declared) do
    local worst = worst_in_stderr(sc.instantiation{ p = case[3], phi = case[4] }, case[2], 64, 60)
    lu.assertTrue(worst < 5, ("%s: %.1f standard errors"):format(case[1], worst))
  end
end

function TestErrorFallsLikeOneOverRootT()
  for _, case in ipairs(declared) do
    local inst = sc.instantiation{ p = case[3], phi = case[4] }
    local slope = math.log(rms_error(inst, case[2], 8192) / rms_error(inst, case[2],
      128)) / math.log(8192 / 128)
    lu.assertTrue(math.abs(slope + 0.5) < 0.1, ("%s: slope %.3f"):format(case[1], slope))
  end
end

function TestGaussianKernelInClosedForm()
  local k = sc.instantiation{ p = sc.sampler.gaussian{ gamma = 0.3 },
    phi = sc.nonlinearity.fourier() }:kernel(X, X)
  for i = 1, 12 do
    for j = 1, 12 do
      local gap = X:row(i) - X:row(j)
      lu.assertAlmostEquals(k:get(i, j), math.exp(-0.3 * gap:dot(gap)), 1e-12)
    end
  end
end

local weightings = {
  { "I1", sc.sampler.gaussian{ sigma = 1 }, sc.kernel.gaussian{ theta = 0.5 },
    sc.nonlinearity.sign() },
  { "I1, coefficient", sc.sampler.gaussian{ sigma = 0.7 }, sc.kernel.gaussian{ coefficient = 0.3 },
    sc.nonlinearity.sign() },
  { "I1, diagonal scales", sc.sampler.gaussian{ sigma = { 0.3, 1, 2, 0.5, 1 } },
    sc.kernel.gaussian{ width = 1.5 }, sc.nonlinearity.sign() },
  { "I2", sc.sampler.threshold{ sigma = 1 }, sc.kernel.gaussian{ width = 0.8 },
    sc.nonlinearity.sign() },
  { "fourier pair", sc.sampler.gaussian{ sigma = 0.6 }, sc.kernel.gaussian{ width = 1 },
    sc.nonlinearity.fourier{ form = "pair" } },
  { "fourier, phase", sc.sampler.gaussian{ sigma = 0.6 }, sc.kernel.gaussian{ width = 1 },
    sc.nonlinearity.fourier() },
  { "fourier, phase, sparse", sc.sampler.sparse{ degree = 2 }, sc.kernel.gaussian{ width = 1 },
    sc.nonlinearity.fourier() },
  { "fourier on thresholds", sc.sampler.threshold{ sigma = 2 }, sc.kernel.gaussian{ width = 1 },
    sc.nonlinearity.fourier() },
}

function TestExpectationExactAgainstMonteCarlo()
  for _, case in ipairs(weightings) do
    local inst = sc.instantiation{ p = case[2], K = case[3], phi = case[4] }
    local u = inst:sample{ T = 6, seed = 4, d = 5 }
    local exact, info = inst:expectation(u, X)
    lu.assertEquals(info.method, "exact")
    local simulated, about = inst:expectation(u, X, { method = "monte-carlo", tolerance = 5e-3,
      samples = 1 << 17, seed = 9 })
    lu.assertEquals(about.method, "monte-carlo")
    local worst = (exact - simulated):abs():max() / about.stderr
    lu.assertTrue(worst < 5, ("%s: %.1f standard errors with %d samples"):format(case[1], worst,
      about.samples))
  end
end

function TestQuadratureMeetsTheClosedForm()
  for _, case in ipairs(weightings) do
    local inst = sc.instantiation{ p = case[2], K = case[3], phi = case[4] }
    local u = inst:sample{ T = 6, seed = 4, d = 5 }
    local exact, quadrature = inst:expectation(u, X),
      inst:expectation(u, X, { method = "quadrature" })
    local gap = (exact - quadrature):abs():max() / exact:abs():max()
    lu.assertTrue(gap < 1e-9, ("%s: %.2g"):format(case[1], gap))
  end
end

function TestMonteCarloFeaturesApproachTheExactOnes()
  local inst = sc.instantiation{ p = sc.sampler.threshold{ sigma = 1 },
    K = sc.kernel.gaussian{ width = 1 }, phi = sc.nonlinearity.sign() }
  local exact = inst:features{ T = 8, seed = 1 }:transform(X)
  local feats = inst:features{ T = 8, seed = 1, method = "monte-carlo", samples = 200000 }
  lu.assertEquals(feats:fit(X):info().method, "monte-carlo")
  lu.assertTrue((feats:transform(X) - exact):abs():max() < 5 * 0.4 / math.sqrt(200000))
end

function TestZeroRowsAreTheLimit()
  local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 },
    K = sc.kernel.gaussian{ width = 2 }, phi = sc.nonlinearity.sign() }
  local u = inst:sample{ T = 3, seed = 1, d = 5 }
  local at_zero = inst:expectation(u, sc.zeros(1, 5))
  for t = 1, 3 do -- sign(0) = +1 for every w: E = c(u)
    local w = u:row(t)
    local log_c = -2.5 * math.log(1 + 1 / 4) - w:dot(w) / (2 * (1 + 4))
    lu.assertAlmostEquals(at_zero:get(t, 1), math.exp(log_c), 1e-12)
  end
end

function TestHighDimensionDoesNotUnderflow()
  local d = 785
  local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 },
    K = sc.kernel.gaussian{ width = 1 }, phi = sc.nonlinearity.sign() }
  local x = sc.randn{ 30, d, seed = 1 }
  local y = {}
  for i = 1, 30 do y[i] = x:get(i, 1) > 0 and 1 or -1 end
  for _, dtype in ipairs{ "float64", "float32" } do
    local p = sc.pipeline{ inst:features{ T = 50, seed = 0, dtype = dtype },
      sc.solver.ridge{ lambda = 1e-6 } }:fit(x, sc.matrix(y))
    local scores = p:decision(x)
    lu.assertTrue(scores:abs():max() > 0 and scores:isfinite())
    lu.assertTrue(p:info().log_scale < -250) -- c(u) is about exp(-272)
  end
end

function TestSameParametersInAnyBatch()
  for _, p in ipairs{ sc.sampler.gaussian{ sigma = 0.5, bias = "uniform" },
    sc.sampler.threshold{ sigma = 2 }, sc.sampler.threshold{ a = 3 } } do
    local inst = sc.instantiation{ p = p, phi = sc.nonlinearity.sign() }
    local few, many = inst:sample{ T = 10, seed = 5, d = 7 },
      inst:sample{ T = 1000, seed = 5, d = 7 }
    lu.assertTrue(few == many:slice(1, 10))
    lu.assertFalse(few == inst:sample{ T = 10, seed = 6, d = 7 })
    local before = core.threads()
    core.threads(4)
    lu.assertTrue(many == inst:sample{ T = 1000, seed = 5, d = 7 })
    core.threads(before)
  end
end

function TestKnownParameters() -- written down once: the same bits on every machine
  local w = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.sign() }:sample{ T = 2, seed = 1, d = 3 }
  lu.assertEquals(("%a"):format(w:get(1, 1)), ("%a"):format(core.normal(1, 0, 0, 0)))
end

function TestMomentsOfSamplers()
  local n = 20000
  local w = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 2, bias = "uniform" },
    phi = sc.nonlinearity.sign() }:sample{ T = n, seed = 3, d = 2 }
  lu.assertTrue(math.abs(w:column(1):mean()) < 5 * 2 / math.sqrt(n))
  lu.assertTrue(math.abs(w:column(2):std() ^ 2 - 4) < 5 * 4 * math.sqrt(2 / n))
  local b = w:column(3)
  lu.assertTrue(math.abs(b:mean()) < 5 * math.pi / math.sqrt(3 * n) and b:max() <= math.pi
    and b:min() >= -math.pi)
  local t = sc.instantiation{ p = sc.sampler.threshold{ a = 2 },
    phi = sc.nonlinearity.sign() }:sample{ T = n, seed = 3, d = 4 }
  lu.assertTrue(math.abs(t:column(2):mean()) < 5 * 2 / math.sqrt(3 * n) and t:column(2):max() <= 2)
  local counts = { 0, 0, 0, 0 }
  for i = 1, n do counts[math.tointeger(t:get(i, 1))] = counts[math.tointeger(t:get(i, 1))] + 1 end
  for _, count in ipairs(counts) do
    lu.assertTrue(math.abs(count - n / 4) < 5 * math.sqrt(n * 3 / 16))
  end
end

function TestGramIsSymmetricAndPositive()
  for _, case in ipairs(weightings) do
    local inst = sc.instantiation{ p = case[2], K = case[3], phi = case[4] }
    local G = inst:features{ T = 40, seed = 2 }:fit(X):gram()
    lu.assertTrue(G == G:t())
    lu.assertTrue((G + sc.eye(G:rows()) * 1e-8):eigvals():min() > 0, case[1])
    local diagonal = core.shape(component.instance(case[4])).phase and 2 or 1
    for i = 1, G:rows() do lu.assertAlmostEquals(G:get(i, i), diagonal, 1e-12) end
    local u, v = inst:sample{ T = 5, seed = 1, d = 5 }, inst:sample{ T = 7, seed = 2, d = 5 }
    lu.assertTrue((inst:gram(u, v) - inst:gram(v, u):t()):abs():max() < 1e-14)
  end
end

function TestFeaturesStayWithinTheirBound()
  local big = sc.randn{ 50, 5, seed = 3 } * 100
  for _, case in ipairs{ { sc.nonlinearity.sign(), 1 }, { sc.nonlinearity.fourier(), math.sqrt(2) },
    { sc.nonlinearity.fourier{ form = "pair" }, 1 } } do
    local phi = sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, phi = case[1],
      T = 64 }:transform(big) * math.sqrt(64)
    lu.assertTrue(phi:abs():max() <= case[2] * (1 + 1e-12))
  end
end

function TestThetaAgainstSimulation()
  -- theta^2 = sup_x E E K(u,w) phi(u,x) phi(w,x); for sign on Gaussian rows every x gives the same
  -- value
  local d, n = 6, 4000
  local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 },
    K = sc.kernel.gaussian{ width = 2 }, phi = sc.nonlinearity.sign() }
  local theta, paper, exact = inst:theta(d)
  lu.assertTrue(exact and theta < paper)
  lu.assertAlmostEquals(paper, (1 + 2 / 4) ^ (-d / 4), 1e-12)
  lu.assertAlmostEquals(theta, paper * math.sqrt(2 / math.pi * math.asin(1 / 5)), 1e-12)
  local u, w = inst:sample{ T = n, seed = 1, d = d }, inst:sample{ T = n, seed = 2, d = d }
  local x, sum, square = sc.randn{ 1, d, seed = 3 }, 0, 0
  for i = 1, n do
    local gap = u:row(i) - w:row(i)
    local sign = ((u:row(i):dot(x) < 0) == (w:row(i):dot(x) < 0)) and 1 or -1
    local value = math.exp(-gap:dot(gap) / 8) * sign
    sum, square = sum + value, square + value * value
  end
  local mean = sum / n
  lu.assertTrue(math.abs(mean - theta ^ 2) < 5 * math.sqrt((square / n - mean ^ 2) / n))
  lu.assertEquals((inst:kappa(d)), 1)
end

-- With a scale for each column, <w, x> varies most along the column of the largest scale: kappa^2
-- is the largest E phi(<w, x>)^2 over directions of x, by draws of w.
function TestKappaOfScalesOfColumns()
  local n, radius = 20000, 2
  for _, scales in ipairs{ { 1, 3 }, { 3, 1 }, { 0.5, 2 } } do
    local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = scales },
      K = sc.kernel.gaussian{ width = 1 }, phi = sc.nonlinearity.relu() }
    local W, largest, error = inst:sample{ T = n, seed = 3, d = 2 }, 0, 0
    for step = 0, 8 do
      local angle, sum, square = step * math.pi / 16, 0, 0
      for i = 1, n do
        local z = radius * (math.cos(angle) * W:get(i, 1) + math.sin(angle) * W:get(i, 2))
        local value = math.max(z, 0) ^ 2
        sum, square = sum + value / n, square + value * value / n
      end
      if sum > largest then largest, error = sum, math.sqrt((square - sum * sum) / n) end
    end
    local kappa, exact = inst:kappa(2, { radius = radius })
    lu.assertTrue(exact)
    lu.assertTrue(math.abs(kappa ^ 2 - largest) < 5 * error)
  end
end

-- E sin a sin b = (e^(-r^2 (1 - rho)) - e^(-r^2 (1 + rho)))/2 is largest at r^2 = log((1 + rho)/
-- (1 - rho))/(2 rho): theta is a bound, so that it must not be below the root of that.
function TestThetaOfTheSineIsTheLargest()
  local d = 2
  for _, width in ipairs{ 0.3, 0.8, 1.5, 3 } do
    local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 },
      K = sc.kernel.gaussian{ width = width }, phi = sc.nonlinearity.sin() }
    local rho = 1 / (1 + width ^ 2)
    local square = math.log((1 + rho) / (1 - rho)) / (2 * rho)
    local most = (math.exp(-square * (1 - rho)) - math.exp(-square * (1 + rho))) / 2
    local theta, paper = inst:theta(d)
    lu.assertAlmostEquals(theta, paper * math.sqrt(most), 1e-12)
  end
end

function TestThetaOfThresholds()
  local inst = sc.instantiation{ p = sc.sampler.threshold{ sigma = 1 },
    K = sc.kernel.gaussian{ width = 1 }, phi = sc.nonlinearity.sign() }
  lu.assertAlmostEquals(inst:theta(109), 109 ^ -0.5 * 3 ^ -0.25, 1e-12)
end

function TestWidthChosenByThetaAndCoefficient()
  local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1.3 },
    K = sc.kernel.gaussian{ theta = 0.5 }, phi = sc.nonlinearity.sign() }
  local g = tonumber(inst:features{ T = 1 }:fit(X):info().kernel:match("width = (.*)"))
  lu.assertAlmostEquals(g, math.sqrt(2) * 1.3 / math.sqrt(0.5 ^ (-4 / 5) - 1), 1e-4)
  local _, paper = inst:theta(5)
  lu.assertAlmostEquals(paper, 0.5, 1e-10)
  inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1.3 },
    K = sc.kernel.gaussian{ coefficient = 0.5 }, phi = sc.nonlinearity.sign() }
  g = tonumber(inst:features{ T = 1 }:fit(X):info().kernel:match("width = (.*)"))
  lu.assertAlmostEquals(g, 1.3 / math.sqrt(0.5 ^ (-2 / 5) - 1), 1e-4)
end

-- Few rows, many of them at equal distances, in rising and in any order.
function TestTheMedianOfFewDistances()
  for n = 2, 25 do
    for _, most in ipairs{ 2, 5, 1000 } do
      local x = sc.rand{ n, 1, seed = n * most }:map(function(v) return math.floor(v * most) end)
      local all, gaps = x:totable(), {}
      for i = 1, n do
        for k = 1, i - 1 do gaps[#gaps + 1] = (all[i][1] - all[k][1]) ^ 2 end
      end
      table.sort(gaps)
      local middle = (gaps[(#gaps + 1) // 2] + gaps[#gaps // 2 + 1]) / 2
      if middle > 0 then
        table.sort(all, function(a, b) return a[1] < b[1] end)
        for _, rows in ipairs{ x, core.matrix(all) } do
          lu.assertEquals(select(2, core.widths(core.source(rows), {})), 1 / middle)
        end
      end
    end
  end
end

function TestWidthsFromTheData()
  local x = sc.randn{ 300, 3, seed = 1 } * 2 + 1
  local scale, median = core.widths(core.source(x), {})
  local all, mean = x:totable(), x:mean()
  local sum, gaps = 0, {}
  for i = 1, 300 do
    for j = 1, 3 do sum = sum + (all[i][j] - mean) ^ 2 end
    for k = 1, i - 1 do
      local gap = x:row(i) - x:row(k)
      gaps[#gaps + 1] = gap:dot(gap)
    end
  end
  table.sort(gaps)
  lu.assertAlmostEquals(scale, 1 / (3 * sum / 900), 1e-12)
  lu.assertAlmostEquals(median, 2 / (gaps[#gaps // 2] + gaps[#gaps // 2 + 1]), 1e-12)
  local k = sc.features{ p = sc.sampler.gaussian{ gamma = "scale" },
    phi = sc.nonlinearity.fourier(), T = 4096 }:fit(x):kernel(x:slice(1, 5))
  local gap = x:row(1) - x:row(2)
  lu.assertAlmostEquals(k:get(1, 2), math.exp(-scale * gap:dot(gap)), 0.1)
end

function TestFloat32StaysNear()
  for _, case in ipairs(weightings) do
    local inst = sc.instantiation{ p = case[2], K = case[3], phi = case[4] }
    local wide = inst:features{ T = 50, seed = 2 }:transform(X)
    local narrow = inst:features{ T = 50, seed = 2, dtype = "float32" }:transform(X)
    lu.assertEquals(narrow:dtype(), "float32")
    lu.assertTrue((wide - narrow):abs():max() < 1e-5 * wide:abs():max(), case[1])
  end
end

function TestPartsThatDoNotFit()
  local sign = sc.nonlinearity.sign()
  fails({ "space.threshold", "sampler.gaussian" }, sc.instantiation,
    { W = sc.space.threshold(), p = sc.sampler.gaussian{ sigma = 1 }, phi = sign })
  fails({ "bias", "add_bias" }, function()
    sc.instantiation{ K = sc.kernel.gaussian{ width = 1 }, p = sc.sampler.gaussian{ sigma = 1,
      bias = "uniform" }, phi = sign }:features{ T = 3 }:fit(X)
  end)
  fails({ "theta", "below" }, function()
    sc.instantiation{ K = sc.kernel.gaussian{ theta = 0.9 }, p = sc.sampler.threshold{ sigma = 1 },
      phi = sign }:features{ T = 3 }:fit(X)
  end)
  fails({ "sigma", "lists 2", "5 columns" }, function()
    sc.features{ p = sc.sampler.gaussian{ sigma = { 1, 2 } }, phi = sign, T = 3 }:fit(X)
  end)
end

function TestARateForEachColumn()
  local gaussian, fourier = sc.sampler.gaussian, sc.nonlinearity.fourier()
  local function features(given)
    return sc.features{ p = gaussian(given), phi = fourier, T = 20, seed = 1 }:fit(X):transform(X)
  end
  local rates, scales = { 0.1, 0.02, 0.5, 2, 1e-3 }, {}
  for j, rate in ipairs(rates) do scales[j] = math.sqrt(2 * rate) end
  lu.assertEquals(features{ gamma = rates }, features{ sigma = scales })
  fails({ "sigma", "gamma", "both" }, gaussian, { sigma = 1, gamma = rates })
  fails({ "sigma", "gamma", "both" }, gaussian, { sigma = scales, gamma = rates })
  fails({ "gamma", "{0.1, -1}", "above 0" }, gaussian, { gamma = { 0.1, -1 } })
  fails({ "gamma", "too large" }, gaussian, { gamma = { 1, 1e308 } })
  fails({ "gamma", "lists 2", "5 columns" }, features, { gamma = { 1, 2 } })
end

function TestBadNumbersOfParameters()
  local function features(T)
    return function()
      sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, phi = sc.nonlinearity.sign(),
        T = T }:fit(X)
    end
  end
  fails({ "'T'", "0", "at least 1" }, features(0))
  fails({ "'T'", "2.5" }, features(2.5))
  fails({ "'T'", "missing" }, features(nil))
  fails({ "1000000000000", "TB" }, features(1000000000000))
  fails({ "row 2", "column 3" }, function()
    local bad = X:copy()
    bad:set(2, 3, math.huge)
    sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, phi = sc.nonlinearity.sign(),
      T = 3 }:fit(bad)
  end)
end

function TestBadRowsAndColumns()
  local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 },
    K = sc.kernel.gaussian{ width = 1 }, phi = sc.nonlinearity.sign() }
  fails({ "option 'T'", '"x"', "at least 1" }, function()
    sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.sign(), T = "x" }
  end)
  fails({ "instantiation:kappa", '"x"', "at least 1" }, function() inst:kappa("x") end)
  fails({ "instantiation:expectation", "U is not finite in row 1, column 3" }, function()
    inst:expectation(sc.matrix{ { 1, 2, 0 / 0 } }, sc.matrix{ { 1, 2, 3 } })
  end)
  local erf = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 }, phi = sc.nonlinearity.erf() }
  fails({ "instantiation:kernel", "too large for double precision", "row 1 of X",
    "scale the data" }, function()
    erf:kernel(X * 1e200)
  end)
end

function TestRowsWhoseSquaresLeaveTheRange()
  local sign = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.sign() }
  for _, scale in ipairs{ 1e200, 1e-200 } do
    lu.assertTrue((sign:kernel(X * scale) - sign:kernel(X)):norm() < 1e-12)
  end
  local function features(scale)
    local p, K = sc.sampler.gaussian{ sigma = 1 / scale }, sc.kernel.gaussian{ width = 1 / scale }
    return sc.features{ p = p, K = K, phi = sc.nonlinearity.fourier(), T = 5,
      seed = 2 }:fit(X * scale):transform(X * scale)
  end
  lu.assertTrue((features(1e-150) - features(1)):norm() < 1e-6)
  fails({ "width = 1e+170", "scale 1e+170", "column 1", "overflow or underflow" }, function()
    features(1e-170)
  end)
end

-- Parts that do not go together: the sentence names what does.
function TestARefusedPairNamesWhatGoesTogether()
  local s, n = sc.sampler, sc.nonlinearity
  for _, case in ipairs{
    { s.landmarks(), n.fourier(), "goes with kernels as phi, sc.kernel.NAME{}" },
    { s.columns(), n.fourier(), "goes with nonlinearity.chi_square" },
    { s.maclaurin{}, n.fourier(), "goes with nonlinearity.identity" },
    { s.tensorsketch{}, n.fourier(), "goes with nonlinearity.identity" },
    { s.skewed_chi_square{}, n.relu(), "goes with nonlinearity.fourier" },
    { s.gaussian{}, n.chi_square(), "goes with sampler.columns" },
    { s.threshold{}, n.maxout(), "draws thresholds; it takes dense" },
    { s.columns(), sc.kernel.gaussian{}, "goes with nonlinearity.chi_square" },
    { s.tensorsketch{}, sc.kernel.gaussian{}, "goes with nonlinearity.identity" },
  } do
    fails({ "sampler." .. case[1].name, case[3] }, sc.instantiation, { p = case[1], phi = case[2] })
  end
end

function TestWhereAKIsMissingTheSentenceSaysWhatAKernelAsPhiHas()
  local ds = sc.dataset{ X = X, y = X:slice(1, X:rows(), 1, 1) * 0.1 }
  local section = sc.instantiation{ p = sc.sampler.landmarks(), phi = sc.kernel.gaussian{} }
  local plain = sc.instantiation{ p = sc.sampler.gaussian{}, phi = sc.nonlinearity.sign() }
  local function fitted(inst, penalty)
    return sc.pipeline{ inst:features{ T = 4 },
      sc.solver.ridge{ lambda = 0.1, penalty = penalty, intercept = false } }:fit(ds)
  end
  local as_phi = "kernel.gaussian as phi has k itself as K"
  fails({ as_phi }, section.expectation, section, X, X)
  fails({ as_phi }, section.theta, section, 5)
  for _, name in ipairs{ "expectation", "gram" } do
    fails({ "this one does not have one: give K =" }, plain[name], plain, X, X)
  end
  for inst, words in pairs{ [section] = as_phi, [plain] = "instantiation with K" } do
    local model = fitted(inst, "l2")
    fails({ words }, model.prune, model, {})
    fails({ words }, model.bound, model, { theorem = "rkhsw10" })
  end
  fails({ "or of a kernel as phi", "these have none" }, fitted, plain, "rkhs")
  fitted(section, "rkhs")
end

-- Rows that are only to be transformed must not become landmarks.
-- Numbers that a component does not take are told by the row of the data, whatever the block.
function TestARowThatIsNotTakenIsNamed()
  local rows = sc.rand{ 3000, 3, seed = 1 }
  rows:set(1717, 2, -7)
  for _, p in ipairs{ sc.pipeline{ sc.features{ p = sc.sampler.columns(),
    phi = sc.nonlinearity.chi_square{} }, sc.solver.ridge{ lambda = 1 } }, sc.pipeline{
    sc.features{ T = 4, p = sc.sampler.skewed_chi_square{}, phi = sc.nonlinearity.fourier() },
    sc.solver.ridge{ lambda = 1 } } } do
    fails({ "row 1717 of X: ", "-7" }, p.fit, p, rows, rows:column(1))
    fails({ "row 1717 of X: " }, p.cv, p, sc.dataset{ X = rows, y = rows:column(1) }, { folds = 3 })
    p:fit(rows:slice(1, 1000), rows:slice(1, 1000):column(1))
    fails({ "row 717 of X: ", "-7" }, p.predict, p, rows:slice(1001, 3000))
  end
end

function TestColumnsOfADataSetGoByName()
  local u, v, w = X:column(1), X:column(2), X:column(3)
  local function set(names, ...)
    return sc.dataset{ X = sc.hcat(...), y = u, names = names }
  end
  local train, turned = set({ "u", "v", "w" }, u, v, w), set({ "w", "u", "v" }, w, u, v)
  local features = sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.sign(), T = 20,
    seed = 1 }:fit(train)
  local want = features:transform(train)
  lu.assertTrue(features:transform(turned) == want)
  lu.assertTrue(features:transform(train.X) == want) -- a matrix has no names
  lu.assertTrue(features:kernel(turned) == features:kernel(train))
  lu.assertTrue(features:kernel(train, turned) == features:kernel(train))
  lu.assertTrue(features:codes(turned):unpack() == features:codes(train):unpack())
  fails({ "features:transform", "has no column \"w\"" }, features.transform, features,
    set({ "u", "v", "x" }, u, v, w))
  local said = support.stderr_of(function()
    lu.assertTrue(features:transform(set({ "u", "v", "w", "more" }, u, v, w, u)) == want)
  end)
  lu.assertStrContains(said, "left out: \"more\"")
  local path = os.tmpname()
  features:save(path)
  lu.assertTrue(sc.load(path):transform(turned) == want)
  os.remove(path)
  features:fit(train.X) -- and no names any more
  lu.assertTrue(features:transform(turned) == features:transform(turned.X))
end

function TestASamplerThatLearnsAsksForFit()
  local features = sc.features{ p = sc.sampler.landmarks(), phi = sc.kernel.gaussian{}, T = 4 }
  for _, name in ipairs{ "transform", "kernel" } do
    fails({ "features:" .. name .. ": ", "sampler.landmarks learns from rows: call feats:fit(X)" },
      features[name], features, X)
  end
  lu.assertNil(features.fitted)
  lu.assertEquals(features:fit(X):transform(X):cols(), 4)
  local drawn = sc.features{ p = sc.sampler.gaussian{}, phi = sc.nonlinearity.sign(), T = 4 }
  lu.assertEquals(drawn:transform(X):cols(), 4)
end

-- K that is NaN or infinite, or too large for float32: the sentence blames the kernel, when the
-- features are fitted, and learning passes it on.
function TestKThatIsNotFiniteIsRefused()
  local x, sign = X:slice(1, 12, 1, 3), sc.nonlinearity.sign()
  local cases = {
    { sc.sampler.laplace{ scale = 30 }, sc.kernel.exponential{ width = 1 } },
    { sc.sampler.cauchy{}, sc.kernel.polynomial{ degree = 60 } },
    { sc.sampler.gaussian{ sigma = 1e100 }, sc.kernel.polynomial{ degree = 5 } },
  }
  for _, case in ipairs(cases) do
    local p, K = table.unpack(case)
    local words = { "kernel." .. K.name .. ": K between", "not finite" }
    for _, dtype in ipairs{ "float64", "float32" } do
      local given = { p = p, phi = sign, K = K, T = 6, dtype = dtype }
      fails(words, function() sc.features(given):fit(x) end)
      fails(words, function()
        sc.pipeline{ sc.features(given), sc.solver.ridge{} }:fit(sc.dataset{ X = x,
          y = x:slice(1, 12, 1, 1) })
      end)
    end
    local inst = sc.instantiation{ p = p, phi = sign, K = K }
    fails(words, function() inst:theta(3) end)
    local W = sc.instantiation{ p = p, phi = sign }:sample{ T = 400, d = 3 }
    fails({ words[1] .. " parameters", words[2] }, function() inst:gram(W, W) end)
  end
  local given = { p = sc.sampler.laplace{}, phi = sign, K = sc.kernel.polynomial{ degree = 60 },
    T = 6 }
  lu.assertNil(core.find_nonfinite(sc.features(given):fit(x):transform(x)))
  given.dtype = "float32"
  fails({ "kernel.polynomial: K between sample", "too large for float32" }, function()
    sc.features(given):fit(x)
  end)
end

function TestKernelSectionsThatAreNotFiniteAreRefused()
  local function features(dtype, size)
    return sc.features{ p = sc.sampler.landmarks(), phi = sc.kernel.polynomial{ degree = 20 },
      T = 5, dtype = dtype }:fit(X * size)
  end
  lu.assertNil(core.find_nonfinite(features("float64", 1000):transform(X * 1000)))
  fails({ "feature 1 of kernel.polynomial is ", "e+", "too large for float32" }, function()
    features("float32", 1000):transform(X * 1000)
  end)
  for _, dtype in ipairs{ "float64", "float32" } do
    local huge, words = features(dtype, 1e30), { "kernel.polynomial: K between parameters 1 and 1",
      "is inf" }
    fails(words, huge.gram, huge)
    fails(words, huge.kernel, huge, X * 1e30)
    fails({ "kernel.polynomial gave inf" }, huge.transform, huge, X * 1e30)
  end
end

os.exit(lu.LuaUnit.run(), true)

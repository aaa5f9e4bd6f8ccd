-- Nonlinearities: every registered one by the properties that hold for all, then the formulas of
-- each, written anew.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local component = require "scullery.compose.component"
local support = dofile("tests/helpers/support.lua")

local X = sc.randn{ 9, 4, seed = 21 }
local pi = math.pi

-- steep: a moment so high that a few thousand draws do not estimate their own error. Every
-- registered nonlinearity with its defaults, and some with other options; not those for grids, nor
-- those for tagged samplers alone (properties_test.lua has them all).
local others = {
  { "arccos, order 0", sc.nonlinearity.arccos{ order = 0 } },
    { "arccos, order 2", sc.nonlinearity.arccos{ order = 2 } },
  { "arccos, order 3", sc.nonlinearity.arccos{ order = 3 }, steep = true },
    { "arccos, order 7", sc.nonlinearity.arccos{ order = 7 }, steep = true },
  { "fourier, pair", sc.nonlinearity.fourier{ form = "pair" } },
  { "maxout, q = 1", sc.nonlinearity.maxout{ q = 1 } },
    { "maxout, q = 5", sc.nonlinearity.maxout{ q = 5 } },
}
local all = {}
local apart = {}
for _, entry in ipairs(sc.plugin.list()) do
  if entry.kind == "nonlinearity" then
    local made = sc.nonlinearity[entry.name]()
    local shape = core.shape(component.instance(made))
    local plain = shape.tags == nil or ("|" .. shape.tags .. "|"):find("|none|", 1, true)
    if plain and not shape.one_hot then
      all[#all + 1] = { entry.name, made }
    else
      apart[#apart + 1] = entry.name
    end
  end
end
table.sort(apart)
for _, case in ipairs(others) do all[#all + 1] = case end

function TestOnlyTheseAreLeftOutHere()
  lu.assertEquals(apart, { "bins", "chi_square" })
end

-- f(), or nil where the parts are refused: by a sentence that says what does not fit or is not
-- there.
local function supported(case, f)
  local result = table.pack(pcall(f))
  if result[1] then return table.unpack(result, 2, result.n) end
  local message, said = tostring(result[2]), false
  for _, sentence in ipairs{ "does not go with", "no closed form", "one number", "no quadrature",
    "one%-hot", "too large for" } do
    said = said or message:find(sentence) ~= nil
  end
  lu.assertTrue(said, case[1] .. ": " .. message)
end

local function compose(case, parts)
  return sc.instantiation{ p = parts.p, K = parts.K, phi = case[2] }
end

-- inst:expectation for the same few parameters each time, or nil as above.
local function expectation(case, inst, rows, given)
  return supported(case, function()
    return inst:expectation(inst:sample{ T = 4, seed = 3, d = 4 }, rows, given)
  end)
end

local weighting = { p = sc.sampler.gaussian{ sigma = 0.8 }, K = sc.kernel.gaussian{ width = 1.2 } }

function TestExactExpectationIsTheQuadrature()
  local one_way = {}
  for _, case in ipairs(all) do
    local inst = compose(case, weighting)
    local exact, info = expectation(case, inst, X)
    local quadrature = exact and info.method == "exact" and expectation(case, inst, X,
      { method = "quadrature" })
    if quadrature then
      local gap = (exact - quadrature):abs():max() / exact:abs():max()
      lu.assertTrue(gap < 1e-9, ("%s: %.2g"):format(case[1], gap))
    else
      one_way[#one_way + 1] = case[1] .. ": " .. (info and info.method or "refused")
    end
  end
  table.sort(one_way)
  -- no closed form; no quadrature over several numbers
  lu.assertEquals(one_way, { "logistic: quadrature", "maxout, q = 5: exact", "maxout: exact",
    "tanh: quadrature" })
end

function TestExpectationIsWhatMonteCarloFinds()
  for _, case in ipairs(all) do
    local inst = compose(case, weighting)
    local exact, info = expectation(case, inst, X)
    if exact and info.method ~= "monte-carlo" and not case.steep then
      local simulated, about = expectation(case, inst, X,
        { method = "monte-carlo", tolerance = 5e-3, samples = 1 << 16, seed = 9 })
      local worst = (exact - simulated):abs():max() / about.stderr
      lu.assertTrue(worst < 5, ("%s: %.1f standard errors with %d samples"):format(case[1], worst,
        about.samples))
    end
  end
end

-- Largest |mean of the estimates - exact| in standard errors, over `runs` seeds of T features.
local function worst_in_stderr(inst, exact, T, runs)
  local mean, stderr = support.mean_over(runs, function(seed)
    return inst:features{ T = T, seed = seed }:fit(X):kernel(X, X)
  end)
  return (support.farthest(mean, stderr, exact, 1e-12))
end

local laws = {
  { "N(0, s^2 I)", sc.sampler.gaussian{ sigma = 0.5 } },
  { "N(m, S)", sc.sampler.gaussian{ mean = { 0.3, -0.2, 0.5, 0 },
    sigma = { 0.5, 0.2, 0.4, 0.6 } } },
  { "Gaussian bias", sc.sampler.gaussian{ sigma = 0.4, bias = { gaussian = { 0.3, 0.5 } } } },
}

function TestKernelIsWhatFeaturesEstimate()
  for _, law in ipairs(laws) do
    for _, case in ipairs(all) do
      local inst = compose(case, { p = law[2] })
      local exact = supported(case, function() return inst:kernel(X, X) end)
      if exact and not case.steep then
        local worst = worst_in_stderr(inst, exact, 128, 40)
        lu.assertTrue(worst < 5.5, ("%s, %s: %.1f standard errors"):format(case[1], law[1], worst))
      end
    end
  end
end

function TestMeansAndBiasesAreClosedWhereTheyCanBe()
  for _, name in ipairs{ "sign", "step", "relu", "abs", "identity", "exp", "erf", "sin", "maxout",
    "arccos" } do
    for _, law in ipairs(laws) do
      lu.assertTrue(sc.instantiation{ p = law[2], phi = sc.nonlinearity[name]() }:kernel(X,
        X):isfinite(), name .. ", " .. law[1])
    end
  end
  local inst = sc.instantiation{ p = laws[2][2], phi = sc.nonlinearity.arccos{ order = 2 } }
  lu.assertErrorMsgContains("no closed form", function() inst:kernel(X, X) end)
end

-- Kernels on N(0, I) rows in |x|, |y| and r, their cosine.
local function arcsine(x, y, r)
  return 2 / pi * math.asin(2 * x * y * r / math.sqrt((1 + 2 * x ^ 2) * (1 + 2 * y ^ 2)))
end
local formulas = {
  { "sign", {}, function(_, _, r) return 2 / pi * math.asin(r) end },
  { "step", {}, function(_, _, r) return 0.5 - math.acos(r) / (2 * pi) end },
  { "relu", {}, function(x, y, r)
    return x * y / (2 * pi) * (math.sqrt(1 - r * r) + (pi - math.acos(r)) * r)
  end },
  { "abs", {}, function(x, y, r)
    return x * y * 2 / pi * (math.sqrt(1 - r * r) + r * math.asin(r))
  end },
  { "identity", {}, function(x, y, r) return x * y * r end },
  { "exp", {}, function(x, y, r) return math.exp((x * x + y * y + 2 * x * y * r) / 2) end },
  { "erf", {}, arcsine },
  { "sin", {}, function(x, y, r)
    return math.exp(-(x * x + y * y) / 2) * (math.exp(x * y * r) - math.exp(-x * y * r)) / 2
  end },
  { "arccos", { order = 0 }, function(_, _, r) return 1 - math.acos(r) / pi end },
  { "arccos", { order = 1 }, function(x, y, r)
    return x * y / pi * (math.sqrt(1 - r * r) + (pi - math.acos(r)) * r)
  end },
  { "arccos", { order = 2 }, function(x, y, r)
    return (x * y) ^ 2 / pi * (3 * math.sqrt(1 - r * r) * r + (pi - math.acos(r)) * (1 + 2 * r * r))
  end },
  { "maxout", { q = 1 }, function(x, y, r) return x * y * r end },
  { "maxout", { q = 2 }, function(x, y, r)
    return x * y / 2 * (r + 2 / pi * (math.sqrt(1 - r * r) + r * math.asin(r)))
  end },
}

function TestKernelsInClosedForm()
  for _, case in ipairs(formulas) do
    local k = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 },
      phi = sc.nonlinearity[case[1]](case[2]) }:kernel(X, X)
    for i = 1, X:rows() do
      for j = 1, X:rows() do
        local x, y = X:row(i):norm(), X:row(j):norm()
        local r = i == j and 1 or X:row(i):dot(X:row(j)) / (x * y)
        local expected = case[3](x, y, r)
        local gap = math.abs(k:get(i, j) - expected) / math.max(1, math.abs(expected))
        lu.assertTrue(gap < 1e-12, ("%s, order %s, rows %d and %d: %.2g"):format(case[1],
          case[2].order, i, j, gap))
      end
    end
  end
end

-- E z^(2n) = 1 3 5 .. (2n - 1): what k(x, x) of order n is on unit vectors, and 0 on opposite ones.
function TestArcCosineOnEqualAndOppositeRows()
  local rows, moment = sc.matrix{ { 1, 0 }, { -1, 0 } }, 1
  for order = 0, 16 do
    local k = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 },
      phi = sc.nonlinearity.arccos{ order = order } }:kernel(rows, rows)
    if order > 0 then moment = moment * (2 * order - 1) end
    lu.assertAlmostEquals(k:get(1, 1) / moment, 1, 1e-13)
    lu.assertAlmostEquals(k:get(1, 2) / moment, 0, 1e-13)
  end
end

-- P(A <= h, B <= k), correlation r, from a quadrature of f(x) F((k - r x)/sqrt(1 - r^2)) with 40
-- nodes a panel.
local bivariate = {
  { 0.3, -0.7, 0.5, 0.206523779785739 }, { -1.2, -0.4, -0.8, 0.000441169586876 },
    { 2, 1.5, 0.95, 0.932542675547148 },
  { 0, 0.25, 0.999, 0.499999999966073 }, { -0.5, 0.6, 0, 0.223920156787451 },
    { 1, 1, -0.3, 0.693006537011121 },
}

-- Rows x = (1, 0), y = (r, sqrt(1 - r^2)) and w ~ N(m, I) make <w, x> > 0 and <w, y> > 0 that
-- event, with <m, x> = h and <m, y> = k.
function TestBivariateNormalAgainstReference()
  for _, case in ipairs(bivariate) do
    local h, k, r, expected = table.unpack(case)
    local rest = math.sqrt(1 - r * r)
    local p = sc.sampler.gaussian{ mean = { h, (k - r * h) / rest }, sigma = 1 }
    local rows = sc.matrix{ { 1, 0 }, { r, rest } }
    local value = sc.instantiation{ p = p, phi = sc.nonlinearity.step() }:kernel(rows, rows)
    lu.assertAlmostEquals(value:get(1, 2), expected, 3e-15)
  end
end

-- E max a max b over q pairs of correlation r, from Hoeffding's identity on a grid of 576 x 576
-- Gauss-Legendre nodes.
local maxima = {
  { 2, 0, 0.318309886184 }, { 3, -0.6, 0.577738747637 }, { 3, 0.3, 0.832929576742 },
    { 4, 0, 1.059613658547 }, { 4, 0.3, 1.151518770159 },
  { 8, -0.6, 1.991206451507 }, { 8, 0.8, 2.261774508825 }, { 16, 0.3, 3.149021474232 },
    { 50, -0.6, 5.055266978943 }, { 50, 0.8, 5.163824625415 },
}

function TestMaxoutKernelAgainstReference()
  for _, case in ipairs(maxima) do
    local q, r, expected = table.unpack(case)
    local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 },
      phi = sc.nonlinearity.maxout{ q = q } }
    local rows = sc.matrix{ { 2, 0 }, { 3 * r, 3 * math.sqrt(1 - r * r) } }
    local value = inst:kernel(rows, rows):get(1, 2) / 6
    lu.assertTrue(math.abs(value - expected) < 2e-11 * expected,
      ("q = %d, r = %g: %.13g, expected %.13g"):format(q, r, value, expected))
  end
end

-- The published form, E[max^2] r kappa_q(r), is 0 for orthogonal rows: not what the features
-- estimate.
function TestMaxoutKernelIsNotThePublishedOne()
  local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.maxout{ q = 2 } }
  local rows = sc.matrix{ { 1, 0 }, { 0, 1 } }
  lu.assertAlmostEquals(inst:kernel(rows, rows):get(1, 2), 1 / pi, 1e-14)
end

function TestZeroRowsAreTheLimit()
  local zero = sc.zeros(2, 4)
  for _, case in ipairs(all) do
    local inst, weighted = compose(case, { p = sc.sampler.gaussian{ sigma = 1 } }),
      compose(case, weighting)
    local kernel = supported(case, function() return inst:kernel(X, zero) end)
    lu.assertTrue(not kernel or kernel:isfinite(), case[1])
    local at_zero = expectation(case, weighted, zero)
    local plain = supported(case, function()
      return inst:features{ T = 1, seed = 1 }:fit(X):transform(zero)
    end)
    if at_zero and plain and case[1] ~= "fourier" then -- a phase is not a function of <w, x>
      local u = weighted:sample{ T = 4, seed = 3, d = 4 }
      local rows = u:cols() // 4 -- of one parameter
      for t = 1, 4 do -- phi(0) for every w: E = c(u) phi(0)
        local w, both = u:row(t), 0.8 ^ 2 + 1.2 ^ 2
        local c = math.exp(-2 * rows * math.log(1 + (0.8 / 1.2) ^ 2) - w:dot(w) / (2 * both))
        lu.assertAlmostEquals(at_zero:get(t, 1), c * plain:get(1, 1), 1e-12)
      end
    end
  end
end

-- As large and as small as each type holds: a number or an infinity, never the absence of one.
function TestHugeAndTinyRowsGiveNoNaN()
  for dtype, scales in pairs{ float64 = { 1e300, 1e-300 }, float32 = { 1e35, 1e-35 } } do
    for _, scale in ipairs(scales) do
      for _, case in ipairs(all) do
        local inst = compose(case, { p = sc.sampler.gaussian{ sigma = 1 } })
        local phi = supported(case, function()
          return inst:features{ T = 8, seed = 1, dtype = dtype }:fit(X):transform(X * scale)
        end)
        for i = 1, phi and phi:rows() or 0 do
          for j = 1, phi:cols() do
            lu.assertTrue(phi:get(i, j) == phi:get(i, j),
              ("%s, %s, rows of size %g"):format(case[1], dtype, scale))
          end
        end
      end
    end
  end
end

os.exit(lu.LuaUnit.run(), true)

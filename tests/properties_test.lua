-- One suite for all plugins: what must be true of every registered sampler, nonlinearity and kernel
-- and of every combination that fits, found by enumerating the registry. A plugin added tomorrow is
-- tested without a new line here. Random, but seeded; a failure names the component, the property
-- and the numbers.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

-- A sanitizer makes everything ten times slower: then each component once, with its defaults, and
-- no rates.
local sanitized = (os.getenv("SCULLERY_SANITIZE") or "") ~= ""

local d = 4
local X = sc.randn{ 8, d, seed = 11 } * 0.7

-- ---------------------------------------------------------------- the registry

-- Options that make a component milder or another one, tried where it declares them. Narrow weights
-- keep what unbounded nonlinearities give finite and their fourth moments small.
local narrow = { sigma = 0.3, scale = 0.3, gamma = 0.3 }

local function instance_of(kind, name, given)
  local ok, made = pcall(sc[kind][name], given or {})
  return ok and made or nil
end

-- The component with defaults, and once for each word of its word options and for a few whole
-- numbers of its counts.
local function variants(kind, name)
  local info, list = core.plugin_info(kind, name), {}
  local base = {}
  for _, option in ipairs(info.options) do
    if kind == "sampler" and narrow[option.name] and option.takes:find("number") then
      base[option.name] = narrow[option.name] break
    end
  end
  local function add(given, label)
    for key, value in pairs(base) do if given[key] == nil then given[key] = value end end
    local made = instance_of(kind, name, given) or instance_of(kind, name, (function()
      given.sigma, given.scale, given.gamma = nil, nil, nil return given
    end)())
    if made then
      list[#list + 1] = { component = made, label = name .. (label and "{" .. label .. "}" or "") }
    end
  end
  add({})
  if sanitized then return list end
  for _, option in ipairs(info.options) do
    for _, word in ipairs(option.words or {}) do
      if word ~= option.default and not option.takes:find("sc%.") then
        add({ [option.name] = word }, option.name .. " = " .. word)
      end
    end
    if option.name == "q" or option.name == "order" then
      for value = 0, 3 do
        if tostring(value) ~= option.default then
          add({ [option.name] = value }, option.name .. " = " .. value)
        end
      end
    end
    if option.name == "degree" and kind == "sampler" then
      add({ degree = 2 }, "degree = 2")
      add({ degree = { binomial = 0.5 } }, "degree = binomial")
    end
  end
  return list
end

local registry = { sampler = {}, nonlinearity = {}, kernel = {} }
for _, entry in ipairs(sc.plugin.list()) do
  for _, one in ipairs(registry[entry.kind] and variants(entry.kind, entry.name) or {}) do
    one.name = entry.name
    table.insert(registry[entry.kind], one)
  end
end

-- Those that one has to know of: rows that are only nearly what their law says, and points that are
-- spread more evenly than independent ones.
local function is_nearly(sampler)
  return core.layout(sampler:instance(), d).space == "structured"
end
local function is_independent(sampler)
  return core.layout(sampler:instance(), d).block == 1 and sampler.name ~= "qmc"
    and sampler.name ~= "pooled"
end

local function test(name, f) _G["Test_" .. name:gsub("[^%w]+", "_")] = f end

local function fits(sampler, phi)
  local layout, shape = core.layout(sampler:instance(), d), core.shape(phi:instance())
  return shape.spaces[layout.space] and (layout.space == "grid") == shape.one_hot
    and not (layout.space == "threshold" and shape.fan_in > 1)
end

-- ---------------------------------------------------------------- a map and its kernel

-- Mean and standard error over seeds of an entry-wise statistic.
local function mean_over(runs, f)
  local sum, square
  for run = 1, runs do
    local value = f(run)
    sum = sum and sum + value or value
    square = square and square + value:mul(value) or value:mul(value)
  end
  local mean = sum * (1 / runs)
  local variance = (square * (1 / runs) - mean:mul(mean)):map(function(v) return math.max(v, 0) end)
  return mean, (variance * (1 / (runs - 1))):map(math.sqrt)
end

local function declared(inst)
  local ok, kernel = pcall(inst.kernel, inst, X, X)
  if ok then return kernel end
  lu.assertStrContains(kernel, "no closed form")
end

local function check_kernel(label, sampler, phi)
  local inst = sc.instantiation{ p = sampler, phi = phi }
  local exact = declared(inst)
  if not exact then return lu.skip(label .. ": no kernel is declared") end
  lu.assertTrue((exact - exact:t()):abs():max() <= 1e-12 * exact:abs():max(),
    label .. ": the kernel is not symmetric")
  lu.assertTrue(exact:eigvals():min() > -1e-8 * exact:abs():max(),
    label .. ": the kernel is not positive semidefinite")
  local facts = core.facts(phi:instance())
  -- means of such features are far from normal but for large T
  local heavy = facts and facts.bound == math.huge and facts.lipschitz == math.huge
  local T, runs = heavy and 4096 or 64, 60
  local mean, stderr = mean_over(runs, function(run)
    return inst:features{ T = T, seed = run }:fit(X):kernel(X, X)
  end)
  local worst, at = 0, nil
  local allowed = is_nearly(sampler) and 0.03 * exact:abs():max() or 1e-12 * exact:abs():max()
  for i = 1, X:rows() do
    for j = 1, X:rows() do
      local off = math.max(math.abs(mean:get(i, j) - exact:get(i, j)) - allowed,
        0) / (stderr:get(i, j) + 1e-300)
      if off > worst then worst, at = off, { i, j } end
    end
  end
  lu.assertTrue(worst < 5, worst < 5 and ""
    or ("%s: E<Phi(x), Phi(y)> is %.6g where the kernel is %.6g: %.1f standard errors"):format(
      label, mean:get(at[1], at[2]),
    exact:get(at[1], at[2]), worst))
  return exact, inst
end

local function rms_error(inst, exact, T, seeds)
  local sum = 0
  for seed = 1, seeds do
    sum = sum + (inst:features{ T = T, seed = 100 + seed }:fit(X):kernel(X, X) - exact):norm() ^ 2
  end
  return math.sqrt(sum / seeds / exact:rows() ^ 2)
end

-- Least squares slope of log error against log T.
local function slope_of(inst, exact, sizes)
  local n, sx, sy, sxx, sxy = 0, 0, 0, 0, 0
  for _, T in ipairs(sizes) do
    local x, y = math.log(T), math.log(rms_error(inst, exact, T, 30))
    n, sx, sy, sxx, sxy = n + 1, sx + x, sy + y, sxx + x * x, sxy + x * y
  end
  return (n * sxy - sx * sy) / (n * sxx - sx * sx)
end

for _, s in ipairs(registry.sampler) do
  for _, p in ipairs(registry.nonlinearity) do
    if fits(s.component, p.component) then
      local label = s.label .. " with " .. p.label
      test("kernel of " .. label, function() check_kernel(label, s.component, p.component) end)
      local plain = s.label == s.name and p.label == p.name
      if plain and not sanitized and is_independent(s.component) and not is_nearly(s.component) then
        test("rate of " .. label, function()
          local inst = sc.instantiation{ p = s.component, phi = p.component }
          local exact = declared(inst)
          if not exact then return lu.skip(label .. ": no kernel is declared") end
          local slope = slope_of(inst, exact, { 64, 256, 1024, 4096 })
          lu.assertTrue(math.abs(slope + 0.5) < 0.1,
            ("%s: the error falls like T^%.3f"):format(label, slope))
        end)
      end
    end
  end
end

-- ---------------------------------------------------------------- rows of all sizes, blocks,
-- threads, float32

for _, s in ipairs(registry.sampler) do
  for _, p in ipairs(registry.nonlinearity) do
    local plain = s.label == s.name
    if plain and fits(s.component, p.component) then
      local label = s.label .. " with " .. p.label
      test("rows of " .. label, function()
        for _, factor in ipairs{ 0, 1e-300, 1, 1e300 } do
          for _, dtype in ipairs{ "float64", "float32" } do
            local feats = sc.features{ p = s.component, phi = p.component, T = 9, seed = 3,
              dtype = dtype }
            local ok, phi = pcall(function() return feats:fit(X):transform(X * factor) end)
            if ok then
              lu.assertTrue(phi:isfinite(), ("%s: features of rows times %g are not finite"):format(
                label, factor))
            else
              lu.assertStrContains(phi, "too large")
            end
            if factor <= 1 and (factor > 0 or dtype == "float64") then
              lu.assertTrue(ok, tostring(phi))
            end
          end
        end
      end)
      test("blocks of " .. label, function()
        local feats = sc.features{ p = s.component, phi = p.component, T = 13, seed = 3 }:fit(X)
        local whole, before = feats:transform(X), core.threads()
        for _, threads in ipairs{ 1, 4 } do
          core.threads(threads)
          for _, block in ipairs{ 1, 3, 17 } do
            local again = core.transform(core.source(X), {}, feats.fitted, block)
            local gap = (again - whole):abs():max()
            lu.assertTrue(gap <= 1e-14 * math.max(whole:abs():max(), 1),
              ("%s: blocks of %d rows on %d threads change a feature by %.2g"):format(label, block,
                threads, gap))
          end
        end
        core.threads(before)
        if core.shape(p.component:instance()).one_hot then return end
        local single = sc.features{ p = s.component, phi = p.component, T = 13, seed = 3,
          dtype = "float32" }:fit(X):transform(X)
        local facts = core.facts(p.component:instance())
        if facts and facts.lipschitz < math.huge then
          lu.assertTrue((single:astype("float64") - whole):abs():max() < 1e-5 * math.max(1,
            whole:abs():max()), label .. ": float32 is far from float64")
        end
      end)
    end
  end
end

-- ---------------------------------------------------------------- samplers alone

-- Abramowitz and Stegun 26.2.17, good to 1e-7: the gaps looked for are 1e-2.
local function normal_cdf(x)
  local t = 1 / (1 + 0.2316419 * math.abs(x))
  local tail = math.exp(-x * x / 2) / math.sqrt(2 * math.pi) *
    t * (0.319381530 + t * (
      -0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  return x < 0 and tail or 1 - tail
end

-- Distribution functions of the standard laws.
local function distribution(family)
  local laws = {
    gaussian = normal_cdf,
    uniform = function(x) return math.min(1, math.max(0, (x + 1) / 2)) end,
    laplace = function(x) return x < 0 and math.exp(x) / 2 or 1 - math.exp(-x) / 2 end,
    cauchy = function(x) return 0.5 + math.atan(x) / math.pi end,
  }
  return laws[family]
end

for _, s in ipairs(registry.sampler) do
  test("draws of " .. s.label, function()
    local inst = sc.instantiation{ p = s.component, phi = core.layout(s.component:instance(),
      d).space == "grid" and sc.nonlinearity.bins() or sc.nonlinearity.sign() }
    local few, many = inst:sample{ T = 10, seed = 5, d = d },
      inst:sample{ T = 700, seed = 5, d = d }
    lu.assertTrue(few == many:slice(1, 10),
      s.label .. ": a parameter depends on how many are drawn")
    lu.assertFalse(few == inst:sample{ T = 10, seed = 6, d = d },
      s.label .. ": two seeds draw the same")
    local before = core.threads()
    core.threads(4)
    lu.assertTrue(many == inst:sample{ T = 700, seed = 5, d = d },
      s.label .. ": threads change the parameters")
    core.threads(before)
  end)
  test("law of " .. s.label, function()
    local instance = s.component:instance()
    local law, layout = core.law(instance, d), core.layout(instance, d)
    if not law or layout.space ~= "dense" and layout.space ~= "structured" then
      return lu.skip(s.label .. ": no law of dense rows")
    end
    if s.name == "pooled" then return lu.skip(s.label .. ": its rows repeat") end
    local n = 4096
    local w = sc.instantiation{ p = s.component, phi = sc.nonlinearity.sign() }:sample{ T = n,
      seed = 3, d = d }
    local spread = ({ gaussian = 1, uniform = 1 / math.sqrt(3), rademacher = 1,
      laplace = math.sqrt(2), spherical = 1 })[law.family]
    local cdf = distribution(law.family)
    for j = 1, d do
      local column, mean, scale = w:column(j), law.mean[j], law.scale[j]
      if spread then -- fourth moments are finite
        local sum, fourth = 0, 0
        for i = 1, n do
          local e = ((column:get(i, 1) - mean) / scale) ^ 2
          sum, fourth = sum + e, fourth + e * e
        end
        local second = sum / n
        local stderr = math.sqrt(math.max(fourth / n - second ^ 2, 0) / n) + 1e-9
        local about = math.abs(column:mean() - mean) / (scale * spread / math.sqrt(n))
        lu.assertTrue(about < 5, ("%s, column %d: the mean is %.1f standard errors off"):format(
          s.label, j, about))
        about = math.abs(second - spread ^ 2) / stderr
        lu.assertTrue(about < 5,
          ("%s, column %d: E w^2 is %.6g scale^2, where the law has %.6g: %.1f standard \z
          errors"):format(s.label, j, second, spread ^ 2, about))
      end
      if cdf then -- Kolmogorov and Smirnov: sqrt(n) times the largest gap is above 2.2 once in 8000
        local values, gap = {}, 0
        for i = 1, n do values[i] = (column:get(i, 1) - mean) / scale end
        table.sort(values)
        for i = 1, n do gap = math.max(gap, math.abs(cdf(values[i]) - (i - 0.5) / n)) end
        lu.assertTrue(gap * math.sqrt(n) < 2.2,
          ("%s, column %d: its distribution is off by %.4f"):format(s.label, j, gap))
      end
    end
    if law.bias ~= "none" then
      local b = w:column(w:cols())
      local mean = law.bias == "uniform" and (law.bias_a + law.bias_b) / 2 or law.bias_a
      local size = law.bias == "uniform" and (law.bias_b - law.bias_a) / math.sqrt(12) or law.bias_b
      lu.assertTrue(math.abs(b:mean() - mean) < 5 * size / math.sqrt(n),
        s.label .. ": the mean of the bias")
    end
  end)
end

-- ---------------------------------------------------------------- nonlinearities alone: through
-- features of known projections

for _, p in ipairs(registry.nonlinearity) do
  local instance = p.component:instance()
  local shape, facts = core.shape(instance), core.facts(instance)
  if facts and not shape.one_hot then
    test("facts of " .. p.label, function()
      local z = sc.randn{ 400, 3, seed = 7 } * 3
      local feats = sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, phi = p.component, T = 40,
        seed = 2 }:fit(z)
      local w, phi = feats:parameters(), feats:transform(z) * math.sqrt(40)
      lu.assertTrue(phi:abs():max() <= facts.bound * (1 + 1e-12),
        ("%s: |phi| is %.17g, above its bound %.17g"):format(p.label, phi:abs():max(), facts.bound))
      if facts.lipschitz == math.huge then return end
      local rows = w:slice(1, w:rows(), 1, 3)
      local bias = w:cols() > 3 and w:column(4) or sc.zeros(w:rows(), 1)
      local worst = 0
      for i = 1, 399 do
        for t = 1, 40 do
          local gap = 0
          for k = 0, shape.fan_in - 1 do
            gap = math.max(gap, math.abs(rows:row(k * 40 + t):dot(z:row(i) - z:row(i + 1))))
          end
          lu.assertTrue(bias:rows() > 0)
          for o = 0, shape.fan_out - 1 do
            local change = math.abs(phi:get(i, o * 40 + t) - phi:get(i + 1, o * 40 + t))
            if gap > 1e-9 then worst = math.max(worst, change / gap) end
          end
        end
      end
      lu.assertTrue(worst <= facts.lipschitz * (1 + 1e-9),
        ("%s: phi changes by %.6g times its input, above %.6g"):format(p.label, worst,
          facts.lipschitz))
    end)
  end
end

-- ---------------------------------------------------------------- kernels as K: symmetric,
-- positive, and expectations by every method

local function usable(k, s)
  local space = core.layout(s:instance(), d).space
  return core.kernel_spaces(k:instance())[space == "structured" and "dense" or space]
end

for _, k in ipairs(registry.kernel) do
  test("exact kernel " .. k.label, function()
    if not core.kernel_spaces(k.component:instance()).dense then
      return lu.skip(k.label .. ": not on dense rows")
    end
    local G, H = k.component:gram(X, X), k.component:gram(X, X:slice(1, 3))
    lu.assertTrue((G - G:t()):abs():max() <= 1e-12 * G:abs():max(),
      k.label .. ": K(u, w) is not K(w, u)")
    lu.assertTrue((G:slice(1, X:rows(), 1, 3) - H):abs():max() <= 1e-12 * G:abs():max(),
      k.label .. ": a rectangle differs from the whole")
    local small = X * 0.2 -- the hat is positive definite on short distances alone
    local P = k.component:gram(small, small)
    lu.assertTrue((P + sc.eye(X:rows()) * (1e-8 * P:abs():max())):eigvals():min() > 0,
      k.label .. ": not positive semidefinite")
  end)
  for _, s in ipairs(registry.sampler) do
    if s.label == s.name and usable(k.component, s.component)
      and not core.layout(s.component:instance(), d).has_bias then
      local label = k.label .. " on " .. s.label
      local phis = core.layout(s.component:instance(), d).space == "grid" and {}
        or { sc.nonlinearity.sign(), sc.nonlinearity.fourier{ form = "pair" } }
      for _, phi in ipairs(phis) do
        test("expectation of " .. label .. " with " .. phi.name, function()
          local ok, inst = pcall(sc.instantiation, { p = s.component, K = k.component, phi = phi })
          if not ok then
            lu.assertStrContains(inst, "fit") -- a sentence that says why
            return lu.skip(inst)
          end
          local u = inst:sample{ T = 4, seed = 4, d = d }
          local G = inst:gram(u)
          lu.assertTrue((G - G:t()):abs():max() <= 1e-12 * G:abs():max(),
            label .. ": K(u, w) is not K(w, u)")
          local answers, values, info = pcall(inst.expectation, inst, u, X,
            { samples = 1 << 15, tolerance = 1e-2 })
          if not answers then
            lu.assertStrContains(values, "not finite")
            return lu.skip(label .. ": the expectation does not exist")
          end
          local simulated,
            about = inst:expectation(u, X, { method = "monte-carlo", samples = 1 << 16,
              tolerance = 5e-3, seed = 9 })
          local allowed = is_nearly(s.component) and 0.05 * values:abs():max() or 0
          local stderr = math.sqrt(about.stderr ^ 2 + info.stderr ^ 2)
          local off = math.max((values - simulated):abs():max() - allowed, 0) / (stderr + 1e-300)
          lu.assertTrue(off < 5 or not is_independent(s.component),
            ("%s: %s and Monte Carlo are %.1f standard errors (%.2g) apart"):format(label,
              info.method, off, stderr))
          if info.method ~= "exact" then return end
          local quadrature = inst:expectation(u, X, { method = "quadrature" })
          local gap = (values - quadrature):abs():max() / math.max(values:abs():max(), about.stderr)
          lu.assertTrue(gap < 1e-9, ("%s: closed form and quadrature differ by %.2g"):format(label,
            gap))
        end)
      end
    end
  end
end

-- Every nonlinearity's smoothing against quadrature or Monte Carlo, under the Gaussian pair.
for _, p in ipairs(registry.nonlinearity) do
  local shape = core.shape(p.component:instance())
  if shape.spaces.dense then
    test("smoothing of " .. p.label, function()
      local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 0.8 },
        K = sc.kernel.gaussian{ gamma = 1.2 }, phi = p.component }
      local u = inst:sample{ T = 3, seed = 4, d = d }
      local values, info = inst:expectation(u, X)
      local simulated, about = inst:expectation(u, X, { method = "monte-carlo", samples = 1 << 17,
        tolerance = 4e-3, seed = 9 })
      local off = (values - simulated):abs():max() / about.stderr
      lu.assertTrue(off < 5,
        ("%s: %s and Monte Carlo are %.1f standard errors (%.2g) apart"):format(p.label,
          info.method, off, about.stderr))
      if info.method ~= "exact" or shape.fan_in > 1 then return end
      local gap =
        (values - inst:expectation(u, X,
          { method = "quadrature" })):abs():max() / values:abs():max()
      lu.assertTrue(gap < 1e-9, ("%s: closed form and quadrature differ by %.2g"):format(p.label,
        gap))
      local zero = inst:expectation(u, sc.zeros(1, d))
      lu.assertTrue(zero:isfinite(), p.label .. ": no limit at x = 0")
    end)
    test("theta of " .. p.label, function()
      local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 0.8 },
        K = sc.kernel.gaussian{ gamma = 1.2 }, phi = p.component }
      local radius, n = 2, 1500
      local theta, paper, exact = inst:theta(d, { radius = radius })
      local kappa, kappa_exact = inst:kappa(d, { radius = radius })
      lu.assertTrue(theta <= paper * (1 + 1e-12) and theta <= kappa * (1 + 1e-9),
        ("%s: theta %.6g, its bound %.6g, kappa %.6g"):format(p.label, theta, paper, kappa))
      if theta == math.huge then return lu.skip(p.label .. ": no finite theta is known") end
      lu.assertTrue(type(exact) == "boolean" and type(kappa_exact) == "boolean")
      -- the definition at some x, by simulation over u and w: never above, as all x are shorter
      -- than radius
      local x = sc.matrix{ { radius * 0.999, 0, 0, 0 }, { 0.6, -0.5, 0.3, 0.1 },
        { 0.01, 0, 0.02, 0 } }
      local q = shape.fan_in
      local plain = { p = sc.sampler.gaussian{ sigma = 0.8 }, phi = p.component }
      local first, second = sc.instantiation(plain):features{ T = n, seed = 1 }:fit(x),
        sc.instantiation(plain):features{ T = n, seed = 2 }:fit(x)
      local K = inst:gram(first:parameters():slice(1, q * n, 1, d),
        second:parameters():slice(1, q * n, 1, d))
      local a, b = first:transform(x) * math.sqrt(n), second:transform(x) * math.sqrt(n)
      if first:parameters():cols() > d then
        return lu.skip(p.label .. ": its phase belongs to maps without K")
      end
      for i = 1, 3 do
        for o = 0, shape.fan_out - 1 do
          local left, right = a:slice(i, i, o * n + 1, o * n + n),
            b:slice(i, i, o * n + 1, o * n + n)
          local rows = (K * right:t()) * (1 / n)
          local sum, square = 0, 0
          for t = 1, n do
            local v = left:get(1, t) * rows:get(t, 1)
            sum, square = sum + v, square + v * v
          end
          local mean = sum / n
          local stderr = math.sqrt(2 * math.max(square / n - mean ^ 2, 0) / n)
          lu.assertTrue(mean <= theta ^ 2 + 5 * stderr,
            ("%s: E E K phi phi is %.6g +- %.2g at row %d, above theta^2 = %.6g"):format(p.label,
              mean, stderr, i, theta ^ 2))
        end
      end
    end)
  end
end

os.exit(lu.LuaUnit.run(), true)

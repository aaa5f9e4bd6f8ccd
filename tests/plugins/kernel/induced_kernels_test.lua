-- What must be true of every kernel as K on every sampler, and of every nonlinearity under the
-- Gaussian pair: found by enumerating the registry (helpers/registry.lua). properties_test.lua has
-- the maps; what must be true of one component by itself is the checker's (checker/lua).
-- Random, but seeded; a failure names the components, the property and the numbers.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local component = require "scullery.compose.component"
local registry = dofile((os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/registry.lua")

local test, d, X = registry.test, registry.d, registry.X

-- ------------ nonlinearities

test("what is known of nonlinearities", function()
  local bounded, lipschitz, two_valued, scale_free = {}, {}, {}, {}
  for _, p in ipairs(registry.nonlinearity) do
    if p.plain then
      local facts = core.facts(component.instance(p.component))
      bounded[#bounded + 1] = facts.bound < math.huge and p.name or nil
      lipschitz[#lipschitz + 1] = facts.lipschitz < math.huge and p.name or nil
      scale_free[#scale_free + 1] = facts.scale_free and p.name or nil
      two_valued[#two_valued + 1] = core.two_valued(component.instance(p.component)) and p.name
        or nil
    end
  end
  lu.assertEquals(bounded, { "bins", "erf", "fourier", "logistic", "sign", "sin", "step", "tanh" })
  lu.assertEquals(lipschitz, { "abs", "arccos", "erf", "fourier", "identity", "logistic", "maxout",
    "relu", "sin", "tanh" })
  lu.assertEquals(two_valued, { "sign", "step" })
  lu.assertEquals(scale_free, { "sign", "step" })
end)

-- ------------ kernels as K: expectations by
-- every method

-- Kernels of rows that are not negative: they meet a sampler of such.
local positive = sc.sampler.uniform{ low = 0.2, high = 1.5 }
local function is_positive(k)
  return registry.rows(function(rows) k:gram(rows, rows) end) ~= X
end

local function usable(k, s)
  local layout = registry.layout(s)
  local seen = layout.space == "structured" and "dense" or layout.space
  return layout.space ~= "grid" and not layout.has_bias and layout.tag == nil
    and core.kernel_spaces(component.instance(k))[seen]
end

-- Samplers that another one simulates, because its draws depend on each other in a way that the
-- standard error of a mean over them does not see: the law is the same.
local simulated_by = { pooled = sc.sampler.gaussian() }
-- Rows that have their law only nearly: how far E K phi may be off, over its largest value.
local nearly = { hadamard = 0.05 }

-- Why there is no expectation, in words of the sentence that refuses it.
local without_expectation = {
  ["exponential on cauchy"] = "not finite",
  ["exponential on pooled"] = "do not fit",
}

local function check_expectation(label, k, s, phi)
  local inst = sc.instantiation{ p = s.component, K = k.component, phi = phi }
  local u = inst:sample{ T = 4, seed = 4, d = d }
  local G = inst:gram(u)
  lu.assertTrue((G - G:t()):abs():max() <= 1e-12 * G:abs():max(),
    label .. ": K(u, w) is not K(w, u)")
  local values, info = inst:expectation(u, X, { samples = 1 << 15, tolerance = 1e-2 })
  local simulation = sc.instantiation{ p = simulated_by[s.name] or s.component, K = k.component,
    phi = phi }
  local simulated, about = simulation:expectation(u, X, { method = "monte-carlo",
    samples = 1 << 16, tolerance = 5e-3, seed = 9 })
  local size = values:abs():max()
  local stderr = math.sqrt(about.stderr ^ 2 + info.stderr ^ 2)
  local gap = math.max((values - simulated):abs():max() - (nearly[s.name] or 0) * size, 0)
  lu.assertTrue(gap <= 5 * stderr,
    ("%s: %s and Monte Carlo are %.2g apart, with a standard error of %.2g"):format(label,
      info.method, gap, stderr))
  if info.method ~= "exact" then return end
  local quadrature = inst:expectation(u, X, { method = "quadrature" })
  gap = (values - quadrature):abs():max() / math.max(size, about.stderr)
  lu.assertTrue(gap < 1e-9, ("%s: closed form and quadrature differ by %.2g"):format(label, gap))
end

for _, k in ipairs(registry.kernel) do
  local samplers = is_positive(k.component)
    and { { component = positive, name = "uniform", label = "positive uniform", plain = true } }
    or registry.sampler
  for _, s in ipairs(samplers) do
    if s.plain and usable(k.component, s.component) then
      local label = k.label .. " on " .. s.label
      for _, phi in ipairs{ sc.nonlinearity.sign(), sc.nonlinearity.fourier{ form = "pair" } } do
        test("expectation of " .. label .. " with " .. phi.name, function()
          local refused = without_expectation[label]
          if not refused then return check_expectation(label, k, s, phi) end
          lu.assertErrorMsgContains(refused, check_expectation, label, k, s, phi)
        end)
      end
    end
  end
end

-- ------------ smoothing, and theta: under the
-- Gaussian pair

local function gaussian_pair(phi)
  return sc.instantiation{ p = sc.sampler.gaussian{ sigma = 0.8 },
    K = sc.kernel.gaussian{ width = 1.2 }, phi = phi }
end

local function check_smoothing(p, shape)
  local inst = gaussian_pair(p.component)
  local u = inst:sample{ T = 3, seed = 4, d = d }
  local values, info = inst:expectation(u, X)
  local simulated, about = inst:expectation(u, X, { method = "monte-carlo", samples = 1 << 17,
    tolerance = 4e-3, seed = 9 })
  local off = (values - simulated):abs():max() / about.stderr
  lu.assertTrue(off < 5, ("%s: %s and Monte Carlo are %.1f standard errors (%.2g) apart"):format(
    p.label, info.method, off, about.stderr))
  lu.assertTrue(inst:expectation(u, sc.zeros(1, d)):isfinite(), p.label .. ": no limit at x = 0")
  if info.method ~= "exact" or shape.fan_in > 1 then return end
  local quadrature = inst:expectation(u, X, { method = "quadrature" })
  local gap = (values - quadrature):abs():max() / values:abs():max()
  lu.assertTrue(gap < 1e-9, ("%s: closed form and quadrature differ by %.2g"):format(p.label, gap))
end

-- Nonlinearities without a finite theta on a ball.
local no_theta = { maxout = true, ["maxout{q = 3}"] = true }

-- E E K(u, w) phi(u, x) phi(w, x) at some x, by simulation over u and w: never above theta^2, as
-- all x are shorter than the radius.
local function check_double_means(p, inst, theta, radius)
  local n, shape = 1500, registry.shape(p.component)
  local x = sc.matrix{ { radius * 0.999, 0, 0, 0 }, { 0.6, -0.5, 0.3, 0.1 },
    { 0.01, 0, 0.02, 0 } }
  local plain = { p = sc.sampler.gaussian{ sigma = 0.8 }, phi = p.component }
  local first, second = sc.instantiation(plain):features{ T = n, seed = 1 }:fit(x),
    sc.instantiation(plain):features{ T = n, seed = 2 }:fit(x)
  local K = inst:gram(first:parameters(), second:parameters())
  local a, b = first:transform(x) * math.sqrt(n), second:transform(x) * math.sqrt(n)
  for i = 1, 3 do
    for o = 0, shape.fan_out - 1 do
      local left, right = a:slice(i, i, o * n + 1, o * n + n), b:slice(i, i, o * n + 1, o * n + n)
      local rows = (K * right:t()) * (1 / n)
      local sum, square = 0, 0
      for t = 1, n do
        local v = left:get(1, t) * rows:get(t, 1)
        sum, square = sum + v, square + v * v
      end
      local mean = sum / n
      local stderr = math.sqrt(2 * math.max(square / n - mean ^ 2, 0) / n)
      lu.assertTrue(mean <= theta ^ 2 + 5 * stderr,
        ("%s: E E K phi phi is %.6g +- %.2g at row %d, above theta^2 = %.6g"):format(p.label, mean,
          stderr, i, theta ^ 2))
    end
  end
end

local function check_theta(p)
  local inst, radius = gaussian_pair(p.component), 2
  local theta, paper, exact = inst:theta(d, { radius = radius })
  local kappa, kappa_exact = inst:kappa(d, { radius = radius })
  lu.assertEquals({ type(exact), type(kappa_exact) }, { "boolean", "boolean" })
  lu.assertEquals(theta == math.huge, no_theta[p.label] or false,
    p.label .. ": whether theta is finite")
  lu.assertTrue(theta <= paper * (1 + 1e-12) and theta <= kappa * (1 + 1e-9),
    ("%s: theta %.6g, its bound %.6g, kappa %.6g"):format(p.label, theta, paper, kappa))
  if theta < math.huge then check_double_means(p, inst, theta, radius) end
end

for _, p in ipairs(registry.nonlinearity) do
  local shape = registry.shape(p.component)
  if registry.fits(sc.sampler.gaussian(), p.component) then
    test("smoothing of " .. p.label, function() check_smoothing(p, shape) end)
    test("theta of " .. p.label, function() check_theta(p) end)
  end
end

os.exit(lu.LuaUnit.run(), true)

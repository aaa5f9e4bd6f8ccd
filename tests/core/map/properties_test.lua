-- What must be true of every map: every registered sampler with every nonlinearity that goes with
-- it, and with every kernel as phi. Found by enumerating the registry (tests/helpers/registry.lua).
-- induced_kernels_test.lua has kernels as K; the checker (checker/lua) has each component alone.
-- Random, but seeded; a failure names the components, the property and the numbers.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local component = require "scullery.compose.component"
local support = dofile("tests/helpers/support.lua")
local registry = dofile((os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/registry.lua")

local test, fits = registry.test, registry.fits

local function each_pair(f)
  for _, s in ipairs(registry.sampler) do
    for _, p in ipairs(registry.nonlinearity) do
      if fits(s.component, p.component) then f(s, p, s.label .. " with " .. p.label) end
    end
  end
end

-- Features of a pair on rows that it takes, with T where the sampler leaves it open.
local function features(sampler, phi, T, seed, dtype)
  return sc.features{ p = sampler, phi = phi, T = registry.T(sampler, T), seed = seed,
    dtype = dtype }
end

-- ------------ which go together

test("every pair is taken or refused as both declare", function()
  for _, s in ipairs(registry.sampler) do
    for _, p in ipairs(registry.nonlinearity) do
      local ok, message = pcall(sc.instantiation, { p = s.component, phi = p.component })
      lu.assertEquals(ok, fits(s.component, p.component), s.label .. " with " .. p.label)
      if not ok then lu.assertStrContains(message, p.name) end
    end
  end
end)

test("every kernel is taken as phi, or refused, as the sampler declares", function()
  for _, s in ipairs(registry.sampler) do
    for _, k in ipairs(registry.kernel) do
      local ok = pcall(sc.instantiation, { p = s.component, phi = k.component })
      lu.assertEquals(ok, registry.draws_rows(s.component), s.label .. " with kernel " .. k.label)
    end
  end
end)

test("everything goes with something", function()
  local alone = {}
  for _, p in ipairs(registry.nonlinearity) do alone[p.label] = true end
  each_pair(function(_, p) alone[p.label] = nil end)
  lu.assertEquals(alone, {})
  for _, s in ipairs(registry.sampler) do
    local phi = registry.partner(s.component)
    lu.assertTrue(phi.kind == "nonlinearity" or registry.draws_rows(s.component), s.label)
  end
end)

-- ------------ a map and its kernel

-- Pairs whose kernel has no closed form, and no other: sampler labels for each phi.
local function biased(bias, names)
  local list = {}
  for i, name in ipairs(names) do list[i] = ("%s{bias = %s}"):format(name, bias) end
  return list
end

local function without_plain(names)
  return { biased("gaussian", names), biased("uniform", names) }
end

local function with_biases(names) return { names, without_plain(names) } end

local thresholds = { "threshold", "threshold{a = 0.5}" }
-- E phi(a) phi(b) is known for normal <w, x> alone, ...
local not_normal = { with_biases{ "cauchy", "laplace", "uniform" },
  { "sparse{weights = uniform}" } }
-- ... where phi does not see lengths for scale mixtures of them, without a bias, ...
local mixtures = { with_biases{ "spherical", "student" },
  { "spherical{radius = uniform 0.5 2}" } }
local biased_mixtures = without_plain{ "spherical", "student" }
-- ... over a uniform bias by quadrature where it is smooth, and over discrete rows term by term.
local normal = { "gaussian", "hadamard", "orthogonal", "qmc", "sparse" }
local pointwise = { not_normal, mixtures, { thresholds, "rademacher{bias = uniform}" },
  with_biases{ "patches" } }
local powers = { pointwise, biased("uniform", normal), { "rademacher{bias = gaussian}" } }
local several = { not_normal, mixtures, biased("uniform", normal),
  with_biases{ "patches", "rademacher" },
  { "sparse", "sparse{biregular = true}", "sparse{bias = gaussian}", "sparse{degree = 2}",
    "sparse{degree = table 0 0.5 0.2 0.3}", "sparse{degree = binomial 0.5}",
    "sparse{weights = rademacher}" } }
-- A phase that is drawn has to be uniform over a period; thresholds have none.
local phases = { biased("gaussian", { "cauchy", "laplace", "rademacher", "spherical", "student",
  "uniform", "patches", table.unpack(normal) }), { thresholds } }

local undeclared = {
  abs = pointwise, arccos = pointwise, erf = pointwise, exp = pointwise, identity = pointwise,
  logistic = pointwise, relu = pointwise, sin = pointwise, tanh = pointwise,
  ["arccos{order = 0}"] = { not_normal, biased_mixtures,
    { thresholds, "rademacher{bias = uniform}" }, with_biases{ "patches" } },
  ["arccos{order = 2}"] = powers, ["arccos{order = 3}"] = powers,
  maxout = several, ["maxout{q = 3}"] = several,
  ["maxout{q = 1}"] = { not_normal, mixtures, { "rademacher{bias = uniform}" },
    with_biases{ "patches" } },
  sign = { not_normal, biased_mixtures, with_biases{ "patches" } },
  step = { not_normal, biased_mixtures, with_biases{ "patches" } },
  fourier = phases, ["fourier{form = pair}"] = { { thresholds } },
}

local function contains(list, label)
  for _, one in ipairs(list) do
    if one == label or type(one) == "table" and contains(one, label) then return true end
  end
  return false
end

-- Absolute values of normal weights have no closed form with any nonlinearity.
local function is_declared(s, p)
  return s.label ~= "sparse{nonnegative = true}"
    and not contains(undeclared[p.label] or {}, s.label)
end

-- Maps whose features estimate the kernel only nearly, and how far off it may be, over its largest
-- value: rows that are Gaussian only nearly, and samples of a spectrum.
local function allowed(s, p)
  if s.name == "hadamard" then return 0.03 end
  if p.name ~= "chi_square" then return 1e-12 end
  return ({ chi_square = 0.02, ["chi_square{order = 40, period = 0.1}"] = 1e-5 })[p.label] or 0.5
end

local function check_kernel(label, s, p)
  local inst = sc.instantiation{ p = s.component, phi = p.component }
  local rows = registry.rows_of(s.component, p.component)
  if not is_declared(s, p) then
    lu.assertErrorMsgContains("no closed form", inst.kernel, inst, rows, rows)
    return
  end
  local exact = inst:kernel(rows, rows)
  local size = exact:abs():max()
  lu.assertTrue((exact - exact:t()):abs():max() <= 1e-12 * size,
    label .. ": the kernel is not symmetric")
  lu.assertTrue(exact:eigvals():min() > -1e-8 * size,
    label .. ": the kernel is not positive semidefinite")
  local facts = core.facts(component.instance(p.component))
  -- means of such features are far from normal but for large T
  local heavy = facts.bound == math.huge and facts.lipschitz == math.huge
  local T = heavy and 4096 or registry.sanitized and 64 or 512
  local mean, stderr = support.mean_over(60, function(run)
    return features(s.component, p.component, T, run):fit(rows):kernel(rows, rows)
  end)
  local worst, at = support.farthest(mean, stderr, exact, allowed(s, p) * size)
  lu.assertTrue(worst < 5,
    ("%s: E<Phi(x), Phi(y)> is %.6g where the kernel is %.6g: %.1f standard errors"):format(label,
      mean:get(at[1], at[2]), exact:get(at[1], at[2]), worst))
end

local function rms_error(s, p, rows, exact, T, seeds)
  local sum = 0
  for seed = 1, seeds do
    local feats = features(s.component, p.component, T, 100 + seed):fit(rows)
    sum = sum + (feats:kernel(rows, rows) - exact):norm() ^ 2
  end
  return math.sqrt(sum / seeds / exact:rows() ^ 2)
end

-- Least squares slope of log error against log T.
local function slope_of(s, p, sizes)
  local rows = registry.rows_of(s.component, p.component)
  local exact = sc.instantiation{ p = s.component, phi = p.component }:kernel(rows, rows)
  local n, sx, sy, sxx, sxy = 0, 0, 0, 0, 0
  for _, T in ipairs(sizes) do
    local x, y = math.log(T), math.log(rms_error(s, p, rows, exact, T, 30))
    n, sx, sy, sxx, sxy = n + 1, sx + x, sy + y, sxx + x * x, sxy + x * y
  end
  return (n * sxy - sx * sy) / (n * sxx - sx * sx)
end

-- The error of independent features falls like T^(-1/2); what depends on each other falls faster,
-- or stops at what is shared, and a sampler with a T of its own has no other.
local function has_rate(s, p)
  return s.plain and p.plain and is_declared(s, p) and registry.is_independent(s.component)
    and registry.takes_any_T(s.component)
end

each_pair(function(s, p, label)
  test("kernel of " .. label, function() check_kernel(label, s, p) end)
  if registry.sanitized or not has_rate(s, p) then return end
  test("rate of " .. label, function()
    local slope = slope_of(s, p, { 64, 256, 1024, 4096 })
    lu.assertTrue(math.abs(slope + 0.5) < 0.1,
      ("%s: the error falls like T^%.3f"):format(label, slope))
  end)
end)

test("what has no kernel is a pair that there is", function()
  if registry.sanitized then return end
  local samplers, phis, missing = {}, {}, {}
  for _, s in ipairs(registry.sampler) do samplers[s.label] = s.component end
  for _, p in ipairs(registry.nonlinearity) do phis[p.label] = p.component end
  local function look(phi, list)
    for _, one in ipairs(list) do
      if type(one) == "table" then
        look(phi, one)
      elseif not (samplers[one] and phis[phi] and fits(samplers[one], phis[phi])) then
        missing[#missing + 1] = one .. " with " .. phi
      end
    end
  end
  for phi, list in pairs(undeclared) do look(phi, list) end
  lu.assertEquals(missing, {})
end)

-- ------------ rows of all sizes, blocks,
-- threads, float32

local function check_rows(label, sampler, phi)
  local rows = registry.rows_of(sampler, phi)
  for _, factor in ipairs{ 0, 1e-300, 1, 1e300 } do
    for _, dtype in ipairs{ "float64", "float32" } do
      local feats = features(sampler, phi, 7, 3, dtype):fit(rows)
      local ok, made = pcall(feats.transform, feats, rows * factor)
      if ok then
        lu.assertTrue(made:isfinite(), ("%s: features of rows times %g are not finite"):format(
          label, factor))
      else
        lu.assertNotNil(made:find("too large", 1, true), made)
      end
      if factor <= 1 and (factor > 0 or dtype == "float64") then
        lu.assertTrue(ok, tostring(made))
      end
    end
  end
end

-- The same features for any block of rows and number of threads; float32 is near float64 where phi
-- is Lipschitz.
local function check_blocks(label, sampler, phi, is_smooth)
  local rows = registry.rows_of(sampler, phi)
  local feats = features(sampler, phi, 7, 3):fit(rows)
  local whole, before = feats:transform(rows), core.threads()
  local size = math.max(whole:abs():max(), 1)
  for _, threads in ipairs{ 1, 4 } do
    core.threads(threads)
    for _, block in ipairs{ 1, 3, 17 } do
      local again = core.transform(core.source(rows), {}, feats.fitted, block)
      local gap = (again - whole):abs():max()
      lu.assertTrue(gap <= 1e-14 * size,
        ("%s: blocks of %d rows on %d threads change a feature by %.2g"):format(label, block,
          threads, gap))
    end
    local learnt = features(sampler, phi, 7, 3):fit(rows):transform(rows)
    lu.assertTrue(learnt == whole, ("%s: %d threads draw another map"):format(label, threads))
  end
  core.threads(before)
  if not is_smooth then return end
  local single = features(sampler, phi, 7, 3, "float32"):fit(rows):transform(rows)
  lu.assertTrue((single:astype("float64") - whole):abs():max() < 1e-5 * size,
    label .. ": float32 is far from float64")
end

each_pair(function(s, p, label)
  if not s.plain then return end
  test("rows of " .. label, function() check_rows(label, s.component, p.component) end)
  test("blocks of " .. label, function()
    local is_smooth = not registry.shape(p.component).one_hot
      and core.facts(component.instance(p.component)).lipschitz < math.huge
    check_blocks(label, s.component, p.component, is_smooth)
  end)
end)

-- ------------ kernel sections: phi is a kernel

-- Rows that the kernel takes, and a sampler whose rows it takes; nil where it refuses those of this
-- sampler, as it does outside of a map.
local function section(sampler, kernel)
  local rows = registry.rows(function(rows) kernel:gram(rows, rows) end)
  local ok, message = pcall(function()
    features(sampler, kernel, 5, 3):fit(rows):transform(rows)
  end)
  if ok then return rows end
  local W = sc.instantiation{ p = sampler, phi = sc.nonlinearity.sign() }:sample{ T = 5, seed = 3,
    d = registry.d }
  local alone, sentence = pcall(kernel.gram, kernel, rows, W)
  lu.assertFalse(alone, message)
  lu.assertStrContains(message, (sentence:gsub("^.-kernel%.", "kernel.")))
end

-- G = k(W, W); with the parameters that features:parameters shows.
local function check_section(label, sampler, kernel)
  local rows = section(sampler, kernel)
  if not rows then return end
  local feats = features(sampler, kernel, 5, 3):fit(rows)
  local W, phi = feats:parameters(), feats:transform(rows)
  local K, G = kernel:gram(rows, W), kernel:gram(W, W)
  local size = math.max(K:abs():max(), G:abs():max())
  lu.assertTrue((phi - K):abs():max() <= 1e-12 * size, label .. ": features are not k(w_t, x)")
  lu.assertTrue((feats:gram() - G):abs():max() <= 1e-12 * size, label .. ": G is not k(W, W)")
  -- k(x, W) k(W, W)^-1 k(W, x) leaves a positive semidefinite rest, which is 0 on W itself
  local nystrom = feats:kernel(rows, rows)
  local rest = kernel:gram(rows, rows) - nystrom
  lu.assertTrue(rest:eigvals():min() > -1e-5 * size,
    label .. ": the Nystrom kernel is above the kernel")
  lu.assertTrue((feats:kernel(W, W) - G):abs():max() <= 1e-5 * size,
    label .. ": the Nystrom kernel is not k on W")
end

-- Kernels that are positive definite on short distances alone.
local narrow_kernels = { hat = sc.kernel.hat{ length = 100 } }

for _, s in ipairs(registry.sampler) do
  for _, k in ipairs(registry.kernel) do
    if s.plain and registry.draws_rows(s.component) then
      local label = s.label .. " with kernel " .. k.label
      local kernel = narrow_kernels[k.label] or k.component
      test("section of " .. label, function() check_section(label, s.component, kernel) end)
      test("blocks of section " .. label, function()
        if section(s.component, kernel) then check_blocks(label, s.component, kernel, false) end
      end)
    end
  end
end

os.exit(lu.LuaUnit.run(), true)

-- How rows meet parameters: every space's features against the formula, written out row by row from
-- feats:parameters().
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

local narrow, wide = sc.randn{ 9, 5, seed = 11 }, sc.randn{ 9, 300, seed = 3 }

-- <w, x> + b for parameter t in the form that :parameters() has.
local shown = {}
function shown.dense(w, t, x, i, bias)
  local z = bias and w:get(t, w:cols()) or 0
  for j = 1, x:cols() do z = z + w:get(t, j) * x:get(i, j) end
  return z
end
function shown.sparse(w, t, x, i, bias)
  local z, slots = bias and w:get(t, w:cols()) or 0, w:cols() // 2
  for k = 1, slots do
    local column = math.tointeger(w:get(t, k))
    if column > 0 then z = z + w:get(t, slots + k) * x:get(i, column) end
  end
  return z
end
function shown.threshold(w, t, x, i) return x:get(i, math.tointeger(w:get(t, 1))) - w:get(t, 2) end
shown.structured = shown.dense

local samplers = {
  { "gaussian", sc.sampler.gaussian{ sigma = 0.7, mean = 0.1, bias = "gaussian" }, "dense", true },
  { "threshold", sc.sampler.threshold{ sigma = 1 }, "threshold" },
  { "sparse", sc.sampler.sparse{ degree = 3, sigma = 0.8 }, "sparse" },
  { "sparse with bias", sc.sampler.sparse{ degree = 2, weights = "rademacher", bias = { -1, 1 } },
    "sparse", true },
  { "sparse, drawn in-degrees", sc.sampler.sparse{ degree = { table = { 0.2, 0.3, 0.3, 0.2 } } },
    "sparse" },
  { "sparse, a tenth of the columns", sc.sampler.sparse{ degree = { binomial = 0.1 } }, "sparse" },
  { "orthogonal", sc.sampler.orthogonal{ sigma = 0.5 }, "dense" },
  { "sorf", sc.sampler.hadamard{ sigma = 0.5 }, "structured" },
  { "fastfood with bias", sc.sampler.hadamard{ sigma = 0.5, form = "fastfood", bias = "uniform" },
    "structured", true },
  { "halton", sc.sampler.qmc{ sigma = 0.5, sequence = "halton" }, "dense" },
}

function TestFeaturesAreTheFormula()
  for _, case in ipairs(samplers) do
    for _, x in ipairs{ narrow, wide } do
      for _, dtype in ipairs{ "float64", "float32" } do
        local T = 37 -- no multiple of any block
        local feats = sc.features{ p = case[2], phi = sc.nonlinearity.fourier{ form = "pair" },
          T = T, seed = 5, dtype = dtype }
        local phi, w = feats:transform(x), feats:parameters()
        local worst = 0
        for i = 1, x:rows() do
          for t = 1, T do
            local z = shown[case[3]](w, t, x, i, case[4])
            worst = math.max(worst, math.abs(phi:get(i, t) * math.sqrt(T) - math.cos(z)),
              math.abs(phi:get(i, T + t) * math.sqrt(T) - math.sin(z)))
          end
        end
        lu.assertTrue(worst < (dtype == "float64" and 1e-12 or 1e-4),
          ("%s, d = %d, %s: %.2g"):format(case[1], x:cols(), dtype, worst))
      end
    end
  end
end

function TestBlocksAndThreadsChangeNothing()
  local x = sc.randn{ 300, 120, seed = 1 }
  for _, case in ipairs(samplers) do
    local feats = sc.features{ p = case[2], phi = sc.nonlinearity.sign(), T = 1300,
      seed = 5 }:fit(x)
    local whole = feats:transform(x)
    local before = core.threads()
    for _, threads in ipairs{ 1, 4 } do
      core.threads(threads)
      for _, block in ipairs{ 1, 17, 300 } do
        lu.assertTrue(core.transform(core.source(x), {}, feats.fitted, block) == whole,
          ("%s: block %d, %d threads"):format(case[1], block, threads))
      end
    end
    core.threads(before)
  end
end

local centred = {
  { "orthogonal", sc.sampler.orthogonal{ sigma = 0.7 } },
    { "sorf", sc.sampler.hadamard{ sigma = 0.7 } },
  { "fastfood", sc.sampler.hadamard{ sigma = 0.7, form = "fastfood" } },
    { "qmc", sc.sampler.qmc{ sigma = 0.7 } },
}

function TestStructuredRowsUnderAKernelAreTheirDenseRows()
  for _, case in ipairs(centred) do
    local dense = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 0.7 },
      K = sc.kernel.gaussian{ width = 2 }, phi = sc.nonlinearity.sign() }
    local inst = sc.instantiation{ p = case[2], K = sc.kernel.gaussian{ width = 2 },
      phi = sc.nonlinearity.sign() }
    local feats = inst:features{ T = 21, seed = 3 }:fit(narrow)
    local u = feats:parameters()
    lu.assertEquals(feats:info().method, "exact")
    lu.assertTrue((dense:expectation(u, narrow):t() - feats:transform(narrow)):abs():max() < 1e-14,
      case[1])
    lu.assertTrue((dense:gram(u) - feats:gram()):abs():max() < 1e-13, case[1])
  end
end

function TestSharedRowsAreReadFromOneDraw()
  local base = sc.sampler.gaussian{ sigma = 0.7 }
  local shared = sc.features{ p = sc.sampler.pooled{ base = base, projections = 10 },
    phi = sc.nonlinearity.fourier{ form = "pair" }, T = 64, seed = 2 }
  local own = sc.features{ p = base, phi = sc.nonlinearity.fourier{ form = "pair" }, T = 10,
    seed = 2 }
  local w, rows = shared:fit(narrow):parameters(), own:fit(narrow):parameters()
  local phi, seen = shared:transform(narrow), {}
  for t = 1, 64 do
    local found
    for r = 1, 10 do if w:row(t) == rows:row(r) then found = r end end
    lu.assertNotNil(found, "parameter " .. t .. " is none of the shared rows")
    seen[found] = true
    for i = 1, narrow:rows() do
      lu.assertAlmostEquals(phi:get(i, t) * 8, math.cos(w:row(t):dot(narrow:row(i))), 1e-13)
    end
  end
  lu.assertTrue(#seen == 10)
end

-- E_w[K(u, w) phi(w, x)] on sparse rows: only w with the support of u count.
local function choose(d, s) return s == 0 and 1 or choose(d, s - 1) * (d - s + 1) / s end

local function check_expectation(x, law)
  local s, g, d = 0.9, 1.3, x:cols()
  local inst = sc.instantiation{ p = sc.sampler.sparse{ degree = { table = law }, sigma = s },
    K = sc.kernel.gaussian{ width = g }, phi = sc.nonlinearity.sign() }
  local feats = inst:features{ T = 60, seed = 1 }:fit(x)
  local phi, w = feats:transform(x), feats:parameters()
  local slots = w:cols() // 2
  lu.assertEquals(feats:info().log_scale, 0)
  for t = 1, 60 do
    local degree = 0
    for k = 1, slots do if w:get(t, k) > 0 then degree = degree + 1 end end
    local s2 = degree > 0 and s ^ 2 / degree or 0
    for i = 1, x:rows() do
      local log_c, m, v2 = math.log(law[degree + 1] / choose(d, degree)), 0, 0
      for k = 1, degree do
        local u, at = w:get(t, slots + k), x:get(i, math.tointeger(w:get(t, k)))
        log_c = log_c - 0.5 * math.log(1 + s2 / g ^ 2) - u ^ 2 / (2 * (s2 + g ^ 2))
        m, v2 = m + u * s2 / (s2 + g ^ 2) * at, v2 + s2 * g ^ 2 / (s2 + g ^ 2) * at ^ 2
      end
      -- erf by the features themselves is what is tested elsewhere: here through the two limits and
      -- monotony of sign's smoothing
      local c = math.exp(log_c)
      local value = phi:get(i, t)
      if degree == 0 then lu.assertAlmostEquals(value, c, 1e-13) else
        lu.assertTrue(math.abs(value) <= c * (1 + 1e-12) and (value < 0) == (m < 0),
          ("parameter %d, row %d"):format(t, i))
        if math.abs(m) > 6 * math.sqrt(v2) then lu.assertAlmostEquals(math.abs(value), c, 1e-8) end
      end
    end
  end
end

function TestSparseExpectationInClosedForm()
  check_expectation(narrow, { 0.1, 0.4, 0.5 })
  check_expectation(wide, { 0, 0.5, 0.3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.2 }) -- up to 13 of 300
end

function TestSparseExpectationAgainstMonteCarlo()
  local inst = sc.instantiation{ p = sc.sampler.sparse{ degree = { table = { 0.1, 0.4, 0.5 } },
    sigma = 0.9 }, K = sc.kernel.gaussian{ width = 1.3 },
                                 phi = sc.nonlinearity.sign() }
  local u = inst:sample{ T = 8, seed = 4, d = 5 }
  local exact, info = inst:expectation(u, narrow)
  lu.assertEquals(info.method, "exact")
  local simulated, about = inst:expectation(u, narrow, { method = "monte-carlo", tolerance = 5e-3,
    samples = 1 << 17, seed = 9 })
  local worst = (exact - simulated):abs():max() / about.stderr
  lu.assertTrue(worst < 5, ("%.1f standard errors with %d samples"):format(worst, about.samples))
  local G = inst:features{ T = 40, seed = 2 }:fit(narrow):gram()
  lu.assertTrue(G == G:t() and (G + sc.eye(40) * 1e-8):eigvals():min() > 0)
end

function TestFloat32OverflowIsAnError()
  local x = narrow * 1e200
  local feats = sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, phi = sc.nonlinearity.sign(),
    T = 4, dtype = "float32" }
  local ok, message = pcall(feats.transform, feats, x)
  lu.assertFalse(ok)
  lu.assertStrContains(message, "too large for float32")
  lu.assertStrContains(message, "row 1, column 1")
end

os.exit(lu.LuaUnit.run(), true)

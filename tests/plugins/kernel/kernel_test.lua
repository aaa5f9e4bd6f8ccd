-- Kernels: what every one has to be; against formulas written out pair by pair on thresholds and
-- sparse rows. tilt_test.lua has their tilts.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local fails = dofile("tests/helpers/support.lua").fails

local k = sc.kernel
local X, Y = sc.randn{ 23, 4, seed = 1 }, sc.randn{ 17, 4, seed = 2 }

local function close(A, B, tolerance, name)
  lu.assertEquals({ A:rows(), A:cols() }, { B:rows(), B:cols() })
  local worst = 0
  for i = 1, A:rows() do
    for j = 1, A:cols() do
      local gap = math.abs(A:get(i, j) - B:get(i, j)) / (1 + math.abs(B:get(i, j)))
      worst = gap <= worst and worst or gap
    end
  end
  lu.assertTrue(worst <= tolerance, ("%s: off by %.3g (tolerance %.3g)"):format(name, worst,
    tolerance))
end

-- ------------ pairs of rows

local function row(M, i)
  local r = {}
  for j = 1, M:cols() do r[j] = M:get(i, j) end
  return r
end

-- The matrix of f(x_i, y_j), rows as lists.
local function between(A, B, f)
  local out = sc.zeros(A:rows(), B:rows())
  for i = 1, A:rows() do
    for j = 1, B:rows() do out:set(i, j, f(row(A, i), row(B, j))) end
  end
  return out
end

local function sum(x, y, term)
  local s = 0
  for j = 1, #x do s = s + term(x[j], y[j]) end
  return s
end
local function dot(x, y) return sum(x, y, function(a, b) return a * b end) end
local function l1(x, y) return sum(x, y, function(a, b) return math.abs(a - b) end) end
local function l2(x, y) return math.sqrt(sum(x, y, function(a, b) return (a - b) ^ 2 end)) end

-- Other options than the defaults. The checker compares each kernel with its definition.
local variants = { k.gaussian{ width = 1.3 }, k.gaussian{ gamma = 0.7 }, k.laplacian{ gamma = 0.4 },
  k.matern{ nu = 0.5, width = 1.4 }, k.matern{ nu = 2.5, width = 2 }, k.matern{ nu = 1 },
  k.matern{ nu = 4, width = 3 }, k.exponential{ width = 2 }, k.linear{ offset = 0.5 },
  k.polynomial{ degree = 5, scale = 0.3, offset = 0.7 }, k.hat{ length = 3 }, k.stump{ a = 0.9 },
  k.stump{ sigma = 0.8 }, k.erf{ sigma = 0.6 }, k.arccos{ order = 0 },
  k.arccos{ order = 2, sigma = 0.7 }, k.maxout{ q = 1, sigma = 2 }, k.maxout{ q = 2 },
  k.additive{ degree = 1, base = k.laplacian{ gamma = 0.5 } },
  k.additive{ degree = 2, base = k.gaussian{ width = 2 }, normalise = false },
  k.additive{ degree = 3, base = k.linear{ offset = 1 } },
  k.additive{ degree = 4, base = k.gaussian{ width = 1.3 } },
  k.product{ factors = { k.gaussian{ width = 2 }, k.polynomial{ degree = 3 }, k.laplacian{} } },
  k.sum{ terms = { k.gaussian{ width = 2 }, k.linear{}, k.hat{ length = 2 } },
    weights = { 0.5, 2, 0 } }, k.skewed_chi_square{ c = 0.3 } }

-- Kernels of rows that are not negative, and those rows.
local of_positive = { chi_square = true, intersection = true, min_max = true,
  skewed_chi_square = true }
local function rows_for(kernel, A) return of_positive[kernel.name] and A:abs() or A end

-- ------------ what every kernel has to be

-- Every registered kernel with its defaults, and the variants above.
local function all_kernels()
  local list = {}
  for _, make in pairs(sc.kernel) do list[#list + 1] = make{} end
  return table.move(variants, 1, #variants, #list + 1, list)
end

local function is_semidefinite(G)
  local values = ((G + G:t()) * 0.5):eigvals()
  return values:min() >= -1e-10 * math.max(1, values:max()), values:min()
end

function TestGramIsPositiveSemidefinite()
  local wide = sc.vcat(X, X * 3, X:slice(1, 5) * -1) -- parallel and opposite rows too
  for _, kernel in ipairs(all_kernels()) do
    if kernel.name ~= "hat" then
      local ok, least = is_semidefinite(kernel:gram(rows_for(kernel, wide)))
      lu.assertTrue(ok, ("%s: smallest eigenvalue %.3g"):format(tostring(kernel), least))
    end
  end
end

-- On a box whose sides sum to B: positive semidefinite for length >= B/2, and for no smaller one.
function TestHatNeedsALargeLength()
  local box = sc.rand{ 40, 3, seed = 3 } -- sides of 1, B = 3
  box = sc.vcat(box, sc.zeros(1, 3), sc.ones(1, 3))
  lu.assertTrue(is_semidefinite(k.hat{ length = 1.5 }:gram(box)))
  local ok, least = is_semidefinite(k.hat{ length = 1.4 }:gram(box))
  lu.assertFalse(ok)
  lu.assertTrue(least < -0.1, ("smallest eigenvalue %.3g"):format(least))
end

function TestOneOnTheDiagonal()
  local huge = sc.vcat(X, X * 1e300, X * 1e-300, X * 1e8)
  local list = { k.gaussian{}, k.gaussian{ width = 1e-3 }, k.laplacian{}, k.matern{},
    k.matern{ nu = 0.7 }, k.stump{}, k.stump{ a = 1 }, k.hat{}, k.angular{} }
  for _, kernel in ipairs(list) do
    local G = kernel:gram(huge)
    for i = 1, huge:rows() do lu.assertEquals(G:get(i, i), 1, tostring(kernel)) end
  end
end

function TestMinMax()
  local huge = sc.vcat(X, X * 1e307, X * 1e-300, sc.zeros(2, X:cols())):abs()
  local G = k.min_max():gram(huge)
  for i = 1, huge:rows() do lu.assertEquals(G:get(i, i), 1) end
  lu.assertEquals({ G:get(huge:rows(), huge:rows() - 1), G:get(1, huge:rows()) }, { 1, 0 })
  local sets = sc.matrix{ { 1, 1, 0, 1 }, { 0, 1, 1, 1 } }
  lu.assertEquals(k.min_max():gram(sets):get(1, 2), 0.5) -- 2 of 4 in common
end

function TestAnyLayoutAndDtype()
  local turned, single = X:t():copy():t(), X:astype("float32")
  for _, kernel in ipairs{ k.gaussian{}, k.laplacian{}, k.arccos{} } do
    lu.assertTrue(kernel:gram(turned) == kernel:gram(X), tostring(kernel))
    lu.assertTrue(kernel:gram(single) == kernel:gram(single:astype("float64")), tostring(kernel))
  end
end

-- The closed form of nu = p + 1/2 and the quadrature of its neighbours; both tend to the Gaussian
-- kernel as nu grows.
function TestMaternIsContinuousInItsSmoothness()
  for _, nu in ipairs{ 0.5, 3.5, 12.5, 20.5 } do
    close(k.matern{ nu = nu }:gram(X, Y), k.matern{ nu = nu * (1 + 1e-13) }:gram(X, Y), 1e-12,
      "nu = " .. nu)
  end
  close(k.matern{ nu = 1e6 }:gram(X, Y), k.matern{ nu = 1.001e6 }:gram(X, Y), 1e-8, "nu = 1e6")
  close(k.matern{ nu = 1e9 }:gram(X, Y), k.gaussian{}:gram(X, Y), 1e-8, "nu = 1e9")
  lu.assertTrue(k.matern{ nu = 1e-3 }:gram(X, Y):max() < 0.01)
end

-- ------------ the edges of double precision

function TestRowsOfZeros()
  local Z, O = sc.zeros(1, 4), X:slice(1, 1)
  for _, kernel in ipairs(all_kernels()) do
    local A = rows_for(kernel, O)
    for _, G in ipairs{ kernel:gram(Z), kernel:gram(Z, A), kernel:gram(A, Z) } do
      lu.assertTrue(math.abs(G:get(1, 1)) < math.huge, tostring(kernel))
    end
  end
  -- what the features do: sign(0) = 1 for every w, Theta(0) = 0
  lu.assertEquals(k.angular{}:gram(Z):get(1, 1), 1)
  lu.assertAlmostEquals(k.angular{}:gram(Z, O):get(1, 1), 0, 1e-15)
  for order = 0, 3 do lu.assertEquals(k.arccos{ order = order }:gram(Z, O):get(1, 1), 0) end
  for q = 1, 3 do lu.assertEquals(k.maxout{ q = q }:gram(Z, O):get(1, 1), 0) end
end

function TestHugeAndTinyRows()
  local huge, tiny = X * 1e300, X * 1e-300
  local same = X:slice(1, 1) * 1e300
  for _, kernel in ipairs(all_kernels()) do
    if kernel.name ~= "product" and kernel.name ~= "sum" and kernel.name ~= "additive" then
      for _, pair in ipairs{ { huge, huge }, { huge, X }, { huge, tiny }, { tiny, tiny },
        { tiny, X } } do
        -- a number, or a sentence of K that is too large; never nan
        local ok, G = pcall(kernel.gram, kernel, rows_for(kernel, pair[1]),
          rows_for(kernel, pair[2]))
        if ok then
          lu.assertNil(core.find_nonfinite(G))
        else
          lu.assertStrContains(G, "not finite: are they too large?")
        end
      end
    end
  end
  lu.assertEquals(k.gaussian{}:gram(huge, X):max(), 0)
  lu.assertEquals(k.gaussian{}:gram(tiny):min(), 1)
  lu.assertEquals(k.laplacian{}:gram(huge, X):max(), 0)
  fails({ "kernel.linear: K between rows 1 and 1 is inf" }, function()
    k.linear{}:gram(same)
  end)
  lu.assertEquals(k.exponential{}:gram(same, same * -1):get(1, 1), 0)
  -- angles do not depend on the size of the rows
  close(k.angular{}:gram(huge, tiny), k.angular{}:gram(X), 1e-14, "angular")
  close(k.arccos{ order = 2 }:gram(huge, tiny), k.arccos{ order = 2 }:gram(X), 1e-13, "arccos")
  close(k.maxout{ q = 3 }:gram(huge, tiny), k.maxout{ q = 3 }:gram(X), 1e-13, "maxout")
  -- nor the kernels on the unit of the rows, where the width has it too
  for _, unit in ipairs{ 1e300, 1e-300 } do
    close(k.gaussian{ width = unit }:gram(X * unit), k.gaussian{}:gram(X), 1e-14, "gaussian")
    close(k.matern{ width = unit }:gram(X * unit), k.matern{}:gram(X), 1e-14, "matern")
    close(k.exponential{ width = unit }:gram(X * unit), k.exponential{}:gram(X), 1e-13,
      "exponential")
    close(k.laplacian{ gamma = 1 / unit }:gram(X * unit), k.laplacian{}:gram(X), 1e-13, "laplacian")
    close(k.stump{ a = unit }:gram(X * unit), k.stump{ a = 1 }:gram(X), 1e-14, "stump")
    close(k.erf{ sigma = 1 / unit }:gram(X * unit), k.erf{}:gram(X), 1e-13, "erf")
  end
end

-- Distances of rows that are far from 0 and near each other.
function TestNearRowsFarFromZero()
  local far = X * 1e-3 + 1e4
  local expected = between(far, far, function(x, y) return math.exp(-l2(x, y) ^ 2 / (2 * 1e-6)) end)
  close(k.gaussian{ width = 1e-3 }:gram(far), expected, 1e-12, "gaussian")
end

-- ------------ the kernels that maps have

function TestAdditiveIsTheKernelOfSparseMaps()
  local inst = sc.instantiation{ p = sc.sampler.sparse{ degree = 3, sigma = 0.8 },
    phi = sc.nonlinearity.fourier{ form = "pair" } }
  close(k.additive{ degree = 3, base = k.gaussian{ width = math.sqrt(3) / 0.8 } }:gram(X, Y),
    inst:kernel(X, Y), 1e-12, "additive")
end

function TestKernelsOfMaps()
  local sign, pair = sc.nonlinearity.sign(), sc.nonlinearity.fourier{ form = "pair" }
  local cases = {
    { k.stump{ a = 1.5 }, sc.sampler.threshold{ a = 1.5 }, sign },
    { k.stump{ sigma = 0.7 }, sc.sampler.threshold{ sigma = 0.7 }, sign },
    { k.angular{}, sc.sampler.gaussian{ sigma = 2 }, sign },
    { k.gaussian{ width = 1 / 0.7 }, sc.sampler.gaussian{ sigma = 0.7 }, pair },
    { k.laplacian{ gamma = 0.3 }, sc.sampler.cauchy{ gamma = 0.3 }, pair },
    { k.laplacian{ gamma = 0.3 }, sc.sampler.grid{ gamma = 0.3 }, sc.nonlinearity.bins() },
    { k.matern{ nu = 2.5, width = 0.5 }, sc.sampler.student{ nu = 2.5, scale = 2 }, pair },
    { k.matern{ nu = 3.2, width = 0.5 }, sc.sampler.student{ nu = 3.2, scale = 2 }, pair },
    { k.erf{ sigma = 0.7 }, sc.sampler.gaussian{ sigma = 0.7 }, sc.nonlinearity.erf() },
    { k.arccos{ order = 0 }, sc.sampler.gaussian{ sigma = 0.7 },
      sc.nonlinearity.arccos{ order = 0 } },
    { k.arccos{ order = 3, sigma = 0.7 }, sc.sampler.gaussian{ sigma = 0.7 },
      sc.nonlinearity.arccos{ order = 3 } },
    { k.maxout{ q = 4, sigma = 0.7 }, sc.sampler.gaussian{ sigma = 0.7 },
      sc.nonlinearity.maxout{ q = 4 } },
  }
  for _, case in ipairs(cases) do
    close(case[1]:gram(X, Y), sc.instantiation{ p = case[2], phi = case[3] }:kernel(X, Y), 1e-12,
      tostring(case[1]))
  end
end

-- Theorem 1 of the maxout paper has <x, y> kappa_q in place of |x| |y| M_q. Measured on maxima of
-- normals with correlation r.
function TestMaxoutKernelAndTheTheorem()
  local n = 200000
  for _, case in ipairs{ { q = 2, r = 0 }, { q = 4, r = 0.3 }, { q = 7, r = -0.6 } } do
    local A, B = sc.randn{ n, case.q, seed = 5 }, sc.randn{ n, case.q, seed = 6 }
    B = A * case.r + B * math.sqrt(1 - case.r ^ 2)
    local products = A:max(2):mul(B:max(2))
    local mean, error = products:mean(), products:std() / math.sqrt(n)
    local u, v = sc.matrix{ { 1, 0 } }, sc.matrix{ { case.r, math.sqrt(1 - case.r ^ 2) } }
    local value = k.maxout{ q = case.q }:gram(u, v):get(1, 1)
    lu.assertTrue(math.abs(value - mean) < 5 * error,
      ("q = %d, r = %g: %.4f, measured %.4f +- %.4f"):format(case.q, case.r, value, mean, error))
    local agree = 0
    for i = 1, n // 10 do
      if A:slice(i, i):argmax(2):get(1, 1) == B:slice(i, i):argmax(2):get(1, 1) then
        agree = agree + 1
      end
    end
    local theorem = case.r * agree / (n // 10)
    lu.assertTrue(math.abs(theorem - mean) > 50 * error, "the theorem's value must not fit")
  end
  lu.assertAlmostEquals(k.maxout{ q = 2 }:gram(sc.matrix{ { 1, 0 } }, sc.matrix{ { 0, 1 } }):get(1,
    1), 1 / math.pi, 1e-14)
end

-- ------------ parameters: thresholds and
-- sparse rows

local on_supports = {
  { k.gaussian{ width = 0.7 }, function(u, w) return math.exp(-l2(u, w) ^ 2 / (2 * 0.49)) end },
  { k.laplacian{ gamma = 1.2 }, function(u, w) return math.exp(-1.2 * l1(u, w)) end },
  { k.matern{ width = 0.8 }, function(u, w)
    return (1 + math.sqrt(3) * l2(u, w) / 0.8) * math.exp(-math.sqrt(3) * l2(u, w) / 0.8)
  end },
  { k.exponential{ width = 3 }, function(u, w) return math.exp(dot(u, w) / 9) end },
  { k.linear{ offset = 0.3 }, function(u, w) return dot(u, w) + 0.3 end },
  { k.polynomial{ degree = 3, scale = 2, offset = 0.1 }, function(u, w)
    return (2 * dot(u, w) + 0.1) ^ 3
  end },
  { k.indicator{}, function() return 1 end },
  { k.product{ factors = { k.gaussian{ width = 0.7 }, k.indicator{}, k.linear{} } }, function(u, w)
    return math.exp(-l2(u, w) ^ 2 / 0.98) * dot(u, w)
  end },
  { k.sum{ terms = { k.gaussian{ width = 0.7 }, k.indicator{} }, weights = { 2, 3 } },
    function(u, w)
    return 2 * math.exp(-l2(u, w) ^ 2 / 0.98) + 3
  end },
}

-- A row as inst:sample shows it, to support (a text) and weights on it.
local function split(space, M, i)
  local r = row(M, i)
  if space == "threshold" then return tostring(r[1]), { r[2] } end
  local slots, columns, weights = #r // 2, {}, {}
  for s = 1, slots do
    if r[s] > 0 then columns[#columns + 1], weights[#weights + 1] = r[s], r[slots + s] end
  end
  return table.concat(columns, ","), weights
end

local function expected_gram(space, U, V, f)
  local out = sc.zeros(U:rows(), V:rows())
  for i = 1, U:rows() do
    local support, u = split(space, U, i)
    for j = 1, V:rows() do
      local other, v = split(space, V, j)
      out:set(i, j, support == other and f(u, v) or 0)
    end
  end
  return out
end

local supported = {
  { "threshold", sc.sampler.threshold{ sigma = 1 } },
  { "sparse", sc.sampler.sparse{ degree = 2, sigma = 1.5 } },
  { "sparse", sc.sampler.sparse{ degree = { table = { 0.2, 0.3, 0.3, 0.2 } } } },
}

function TestKernelsOnSupports()
  for _, sampler in ipairs(supported) do
    for _, case in ipairs(on_supports) do
      local inst = sc.instantiation{ p = sampler[2], K = case[1], phi = sc.nonlinearity.sign() }
      local U, V = inst:sample{ T = 30, seed = 1, d = 4 }, inst:sample{ T = 300, seed = 2, d = 4 }
      local name = ("%s on %s"):format(case[1], sampler[2])
      close(inst:gram(U, V), expected_gram(sampler[1], U, V, case[2]), 1e-13, name)
      local ok, least = is_semidefinite(inst:gram(V, V))
      lu.assertTrue(ok, ("%s: smallest eigenvalue %.3g"):format(name, least))
    end
  end
end

-- ------------ widths and refusals

function TestWidthsFromTheData()
  local variance = 0
  local mean = X:mean()
  for i = 1, X:rows() do
    for j = 1, X:cols() do
      variance = variance + (X:get(i, j) - mean) ^ 2 / (X:rows() * X:cols())
    end
  end
  local gamma = core.widths(core.source(X), {})
  close(k.gaussian{ width = "scale" }:gram(X, Y),
    k.gaussian{ width = 1 / math.sqrt(2 * gamma) }:gram(X, Y), 1e-14, "gaussian")
  close(k.laplacian{ gamma = "scale" }:gram(X, Y),
    k.laplacian{ gamma = math.sqrt(gamma / 4) }:gram(X, Y), 1e-14, "laplacian")
  -- whichever variance: of all numbers, or by column
  lu.assertAlmostEquals(gamma, 1 / (4 * variance), 0.3 / (4 * variance))
end

function TestRefusals()
  local sign = sc.nonlinearity.sign()
  local function compose(K, p)
    return function() sc.instantiation{ K = K, p = p, phi = sign }:features{ T = 3 }:fit(X) end
  end
  fails({ "exponential", "s = 1", "g = 1", "2 s^2 < g^2" },
    compose(k.exponential{}, sc.sampler.gaussian{ sigma = 1 }))
  fails({ "s = 0.70710", "width above" },
    compose(k.exponential{}, sc.sampler.gaussian{ sigma = math.sqrt(0.5) }))
  fails({ "stump", "not defined" }, compose(k.stump{}, sc.sampler.threshold{}))
  fails({ "additive", "not defined" }, compose(k.additive{}, sc.sampler.sparse{ degree = 2 }))
  fails({ "product", "stump", "not defined on threshold parameters" },
    compose(k.product{ factors = { k.gaussian{}, k.stump{} } }, sc.sampler.threshold{}))
  -- C(4, 2)^(-1/2)
  fails({ "theta", "below 0.408248" }, compose(k.gaussian{ theta = 0.9 },
    sc.sampler.sparse{ degree = 2 }))
  -- P(in-degree 0)
  fails({ "theta", "above" }, compose(k.gaussian{ theta = 0.05 },
    sc.sampler.sparse{ degree = { binomial = 0.5 } }))
  fails({ "sigma", "give one" }, k.stump, { a = 1, sigma = 1 })
  fails({ "order", "17" }, k.arccos, { order = 17 })
  fails({ "degree", "5", "4 columns" }, function() k.additive{ degree = 5 }:gram(X) end)
  fails({ "base", "got a list of components" }, k.additive, { base = { k.gaussian{}, k.linear{} } })
  fails({ "weights", "3", "2 terms" }, k.sum, { terms = { k.gaussian{}, k.linear{} },
    weights = { 1, 2, 3 } })
  fails({ "weights" }, k.sum, { terms = { k.gaussian{}, k.linear{} }, weights = { 1, -2 } })
  local both = { k.gaussian{}, k.linear{} }
  lu.assertTrue(k.sum{ terms = both, weights = 3 }:gram(X)
    == k.sum{ terms = both, weights = { 3, 3 } }:gram(X))
  fails({ "factors" }, k.product, { factors = { sc.sampler.gaussian{} } })
  fails({ "gamma" }, k.laplacian, { gamma = 0 })
  fails({ "offset" }, k.polynomial, { offset = -1 })
  fails({ "row 1 of X: ", "at least 0", "column 3", "-0.5" }, function()
    k.chi_square{}:gram(sc.matrix{ { 1, 2, -0.5, 0 } })
  end)
  fails({ "row 2 of Y: ", "column 1 has -3" }, function()
    k.chi_square{}:gram(sc.ones(900, 1), sc.matrix{ { 1 }, { -3 }, { -4 } })
  end)
  fails({ "above -0.2", "column 2", "-0.2" }, function()
    k.skewed_chi_square{ c = 0.2 }:gram(sc.matrix{ { 1, -0.2, 0, 0 } })
  end)
  fails({ "theta = 0.5", "give the width itself" }, function()
    k.gaussian{ theta = 0.5 }:gram(X)
  end)
  fails({ "theta = 0.5", "give the width itself" }, function()
    k.product{ factors = { k.gaussian{ theta = 0.5 } } }:gram(X)
  end)
  fails({ "X and Y have 4 and 3 columns" }, function() k.linear{}:gram(X, sc.zeros(2, 3)) end)
  fails({ "row 2, column 1" }, function()
    k.linear{}:gram(X, sc.matrix{ { 0, 0, 0, 0 }, { 0 / 0, 0, 0, 0 } })
  end)
  fails({ "no Gram matrix: only a kernel has one" }, function() sc.sampler.gaussian{}:gram(X) end)
end

os.exit(lu.LuaUnit.run(), true)

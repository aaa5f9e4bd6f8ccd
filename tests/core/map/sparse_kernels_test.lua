-- Kernels between sparse rows (kernel:gram, sc.kernel_error), sketches, and landmarks of sparse
-- rows: the numbers of the same rows with their zeros.
local lu = require "luaunit"
local sc = require "scullery"

local function rows_of(n, d, seed)
  return sc.randn{ n, d, seed = seed }:map(function(x) return x > 1.3 and x - 1 or 0 end)
end

local X, Y = rows_of(300, 50, 1), rows_of(7, 50, 2)
for j = 1, 50 do X:set(9, j, 0) end
local S, Z = sc.matrix.csr(X), sc.matrix.csr(Y)
local k = sc.kernel

-- Those of one sum over common columns, and those whose rows are made dense, to the bit.
function TestGramOfTheSameBits()
  for name, kernel in pairs{ chi_square = k.chi_square{}, intersection = k.intersection(),
    min_max = k.min_max(), skewed = k.skewed_chi_square{},
    sum = k.sum{ terms = { k.linear{}, k.chi_square{} } } } do
    lu.assertEquals(kernel:gram(S, Z), kernel:gram(X, Y), name)
    lu.assertEquals(kernel:gram(S), kernel:gram(X), name)
  end
end

function TestGramWithinRounding()
  for name, kernel in pairs{ linear = k.linear{}, polynomial = k.polynomial{},
    angular = k.angular{}, gaussian = k.gaussian{ gamma = 0.5 },
    median = k.gaussian{ gamma = "median" }, laplacian = k.laplacian{ gamma = 1 } } do
    local dense = kernel:gram(X, Y)
    for what, found in pairs{ sparse = kernel:gram(S, Z), mixed = kernel:gram(S, Y),
      turned = kernel:gram(X, Z), float32 = kernel:gram(S:astype("float32"), Z) } do
      local most = what == "float32" and 1e-5 or 1e-12
      lu.assertTrue((found - dense):abs():max() <= most * dense:abs():max(), name .. " " .. what)
    end
  end
end

function TestRowsThatKernelsRefuse()
  lu.assertErrorMsgContains("kernel.chi_square takes numbers of at least 0, and column",
    k.chi_square{}.gram, k.chi_square{}, S * -1)
  lu.assertErrorMsgContains("X and Y have 50 and 3 columns", k.linear{}.gram, k.linear{}, S,
    sc.matrix.csr(sc.ones(2, 3)))
end

function TestKernelErrorOfSparseRows()
  local function rms(x, y, p, phi)
    local found = sc.kernel_error{ p = p, phi = phi, X = x, Y = y, T = { 2, 6 }, seeds = 2 }
    return { found.rows[1].rms, found.rows[2].rms }
  end
  for _, one in ipairs{ { sc.sampler.gaussian{ gamma = 0.3 }, sc.nonlinearity.fourier() },
    { sc.sampler.landmarks(), k.chi_square() } } do
    local a, b = rms(Z, nil, table.unpack(one)), rms(Y, nil, table.unpack(one))
    lu.assertAlmostEquals(a[2], b[2], 1e-9)
    lu.assertAlmostEquals(rms(S, Y, table.unpack(one))[1], rms(X, Y, table.unpack(one))[1], 1e-9)
  end
end

-- 77 = 64 + 8 + 4 + 1: sketches of several sizes.
function TestSketchesOfTheSameBits()
  for degree = 1, 3 do
    for _, dtype in ipairs{ "float64", "float32" } do
      local f = sc.features{ p = sc.sampler.tensorsketch{ degree = degree, offset = degree - 1 },
        phi = sc.nonlinearity.identity(), T = 77, dtype = dtype }
      lu.assertEquals(f:fit(S):transform(S), f:fit(X):transform(X))
    end
  end
end

-- With parameters that take sparse rows, and ones for which they are made dense.
function TestCodesOfSparseRows()
  local n = sc.nonlinearity
  for _, one in ipairs{ { sc.sampler.gaussian(), n.sign() }, { sc.sampler.sparse{}, n.step() },
    { sc.sampler.hadamard(), n.sign() }, { sc.sampler.gaussian(), n.maxout{ q = 3 } } } do
    local f = sc.features{ p = one[1], phi = one[2], T = 64, seed = 1 }:fit(S)
    lu.assertEquals(f:codes(S):unpack(), f:codes(X):unpack())
  end
  lu.assertErrorMsgContains("3 columns", function()
    local f = sc.features{ p = sc.sampler.gaussian(), phi = n.sign(), T = 8 }:fit(S)
    f:codes(sc.matrix.csr(sc.ones(2, 3)))
  end)
end

local function landmarks_of(x, kernel)
  return sc.pipeline{ sc.features{ p = sc.sampler.landmarks(), phi = kernel, T = 20, seed = 3 },
    sc.solver.ridge{ lambda = 1e-3, penalty = "rkhs" } }
    :fit(sc.dataset{ X = x, y = X:sum(2) })
end

-- Landmarks are saved without their zeros. A program that reads them (scl_predictor) has the same
-- arrays.
function TestLandmarksAreSavedWithoutZeros()
  local wide = sc.hcat(X, sc.zeros(300, 1950))
  local p, path = landmarks_of(sc.matrix.csr(wide), k.chi_square()), os.tmpname()
  lu.assertEquals(p:predict(wide), landmarks_of(wide, k.chi_square()):predict(wide))
  p:save(path)
  local file <close> = io.open(path, "rb")
  local head = file:read(8 + 4000)
  for _, part in ipairs{ "places", "values", "sizes" } do
    lu.assertStrContains(head, '"sampler.state.' .. part .. '"')
  end
  lu.assertNil(head:find('"sampler.state"', 1, true))
  lu.assertEquals(sc.load(path):predict(wide), p:predict(wide))
  os.remove(path)
end

os.exit(lu.LuaUnit.run(), true)

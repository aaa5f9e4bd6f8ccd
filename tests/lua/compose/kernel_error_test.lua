-- kernel_error: its figures are those of the definition and of theory, whatever the blocks.
local lu = require "luaunit"
local sc = require "scullery"

local X = sc.randn{ 12, 5, seed = 11 }
local gaussian = sc.sampler.gaussian{ gamma = 0.3 }
local pair = sc.nonlinearity.fourier{ form = "pair" }
local sign = sc.nonlinearity.sign()

local function refusal(f, ...)
  local ok, message = pcall(f, ...)
  lu.assertFalse(ok)
  return message
end

function TestFiguresAreThoseOfTheDefinition()
  local Y = sc.randn{ 7, 5, seed = 12 }
  for _, points in ipairs{ { X }, { X, Y } } do
    local inst = sc.instantiation{ p = gaussian, phi = pair }
    local result = sc.kernel_error{ inst = inst, X = X, Y = points[2], T = { 16, 64 }, seeds = 3 }
    local exact = inst:kernel(X, points[2] or X)
    for i, T in ipairs{ 16, 64 } do
      local squares, most = {}, 0
      for seed = 1, 3 do
        local gap = inst:features{ T = T, seed = seed }:fit(X):kernel(X, points[2] or X) - exact
        squares[seed] = gap:norm() ^ 2 / (gap:rows() * gap:cols())
        most = math.max(most, gap:map(math.abs):max())
      end
      local mean = (squares[1] + squares[2] + squares[3]) / 3
      local spread = 0
      for seed = 1, 3 do spread = spread + (squares[seed] - mean) ^ 2 / (3 * 2) end
      local row = result.rows[i]
      lu.assertEquals({ row.T, row.D }, { T, 2 * T })
      lu.assertAlmostEquals(row.rms, math.sqrt(mean), 1e-13)
      lu.assertAlmostEquals(row.max, most, 1e-13)
      lu.assertAlmostEquals(row.stderr, math.sqrt(spread) / (2 * math.sqrt(mean)), 1e-13)
      lu.assertAlmostEquals(row.constant, T * mean, 1e-13)
    end
  end
end

-- Rows in more than one block, with and without the symmetry: the same sums.
function TestBlocksOfRowsAddUp()
  local many = sc.randn{ 1030, 3, seed = 4 }
  local given = { p = gaussian, phi = pair, X = many, T = { 8 }, seeds = 1 }
  local one = sc.kernel_error(given)
  given.Y = many
  local two = sc.kernel_error(given)
  local inst = sc.instantiation{ p = gaussian, phi = pair }
  local gap = inst:features{ T = 8, seed = 1 }:fit(many):kernel(many) - inst:kernel(many)
  for _, result in ipairs{ one, two } do
    lu.assertAlmostEquals(result.rows[1].rms, gap:norm() / 1030, 1e-12)
    lu.assertAlmostEquals(result.rows[1].max, math.max(gap:max(), -gap:min()), 1e-12)
  end
end

-- T rms^2 is the variance of one parameter's cos<w, x - y>: (1 + k(2x, 2y))/2 - k(x, y)^2, k(2x,
-- 2y) = k^4.
function TestTheConstantIsTheVarianceOfOneParameter()
  local k = sc.instantiation{ p = gaussian, phi = pair }:kernel(X)
  local variance = k:map(function(v) return (1 + v ^ 4) / 2 - v ^ 2 end):mean()
  local result = sc.kernel_error{ p = gaussian, phi = pair, X = X, T = { 32, 128, 512 },
    seeds = 40 }
  for _, row in ipairs(result.rows) do
    local off = math.abs(row.constant - variance) / (2 * row.T * row.rms * row.stderr)
    lu.assertTrue(off < 5, ("T = %d: %.4f where theory says %.4f, %.1f standard errors"):format(
      row.T, row.constant, variance, off))
  end
  lu.assertTrue(math.abs(result.slope + 0.5) < 0.1)
  lu.assertTrue(math.abs(result.slope + 0.5) < 5 * result.slope_stderr + 0.02)
end

function TestNeededMeetsTheErrorThatIsMeasuredThere()
  local given = { p = gaussian, phi = pair, X = X, T = { 32, 128, 512 }, seeds = 20 }
  local result = sc.kernel_error(given)
  local T = result:needed(0.01)
  lu.assertEquals(math.type(T), "integer")
  given.T = { T }
  local row = sc.kernel_error(given).rows[1]
  lu.assertTrue(math.abs(row.rms / 0.01 - 1) < 0.2, ("T = %d gives %.4f"):format(T, row.rms))
  lu.assertTrue(result:needed(0.001) > T)
  lu.assertEquals(result:needed(1e6), 1)
end

function TestNeededFromOneSizeTakesTheMonteCarloRate()
  local result = sc.kernel_error{ p = gaussian, phi = pair, X = X, T = { 100 }, seeds = 2 }
  lu.assertNil(result.slope)
  lu.assertEquals(result:needed(result.rows[1].rms / 10 * (1 + 1e-12)), 10000)
end

-- Compared with another kernel, the error comes to rest.
function TestAnErrorThatDoesNotFallIsSaid()
  local result = sc.kernel_error{ p = gaussian, phi = pair, X = X, T = { 64, 256, 1024 }, seeds = 2,
    kernel = sc.ones(12, 12) }
  local T, why = result:needed(0.01)
  lu.assertNil(T)
  lu.assertStrContains(why, "the error does not fall with T")
  lu.assertStrContains(tostring(result), "T for 0.01   -")
end

function TestTheKernelMayBeAMatrixOrAFunction()
  local exact = sc.instantiation{ p = gaussian, phi = pair }:kernel(X)
  local given = { p = gaussian, phi = pair, X = X, T = { 16 }, seeds = 1 }
  local wanted = sc.kernel_error(given).rows[1].rms
  given.kernel = exact
  lu.assertEquals(sc.kernel_error(given).rows[1].rms, wanted)
  given.kernel = function(A, B)
    lu.assertTrue(A == X and B == X)
    return exact
  end
  lu.assertEquals(sc.kernel_error(given).rows[1].rms, wanted)
end

function TestAnExactMapHasNoError()
  local point = sc.ones(2, 5) -- k(x, x) = cos^2 + sin^2
  local result = sc.kernel_error{ p = gaussian, phi = pair, X = point, T = { 4, 16 }, seeds = 2,
    kernel = sc.ones(2, 2) }
  lu.assertAlmostEquals(result.rows[2].rms, 0, 1e-12)
  lu.assertStrContains(tostring(result), "2 x 2 points")
end

function TestSamplersStandSideBySide()
  local wide = sc.sampler.gaussian{ gamma = 1 }
  local result = sc.kernel_error{ p = gaussian,
    samplers = { wide, sc.sampler.threshold{ sigma = 1 } }, phi = sign, X = X, T = { 16, 64 },
      seeds = 2 }
  lu.assertEquals(#result.curves, 3)
  lu.assertStrContains(result.curves[2].name, "gamma = 1")
  lu.assertEquals(result.curves[3].name, "threshold")
  lu.assertEquals(result.rows, result.curves[1].rows)
  lu.assertEquals(result:needed(0.05, "threshold"), result:needed(0.05, 3))
  local alone = sc.kernel_error{ p = wide, phi = sign, X = X, T = { 16, 64 }, seeds = 2 }
  lu.assertEquals(result.curves[2].rows, alone.rows)
  local lines = {}
  for line in tostring(result):gmatch("[^\n]+") do lines[#lines + 1] = line end
  -- what it is, names, headings; two sizes; slope, constant, T for the target
  lu.assertEquals(#lines, 3 + 2 + 3)
  lu.assertStrContains(lines[2], "threshold")
end

function TestSingleAndDoublePrecisionAgree()
  local given = { p = gaussian, phi = pair, X = X, T = { 64 }, seeds = 2 }
  local double = sc.kernel_error(given).rows[1].rms
  given.dtype = "float32"
  lu.assertAlmostEquals(sc.kernel_error(given).rows[1].rms, double, 1e-5)
end

function TestWidthsFromTheDataAreThoseOfAllRows()
  local rows = sc.randn{ 600, 3, seed = 5 }
  local p = sc.sampler.gaussian{ gamma = "scale" }
  local result = sc.kernel_error{ p = p, phi = pair, X = rows, T = { 64, 1024 }, seeds = 2 }
  lu.assertTrue(result.rows[2].rms < 0.05)
  lu.assertTrue(math.abs(result.slope + 0.5) < 0.15)
end

-- A kernel as phi: the estimate of features:kernel, against k itself.
function TestOfAKernelAsPhiTheNystromKernelIsMeasured()
  local rows, kernel = sc.randn{ 200, 2, seed = 8 }, sc.kernel.gaussian{ gamma = 0.1 }
  local inst = sc.instantiation{ p = sc.sampler.landmarks(), phi = kernel }
  for dtype, floor in pairs{ float64 = 1e-5, float32 = 1e-5 } do
    local given = { inst = inst, X = rows, T = { 5, 10, 50, 150 }, seeds = 2, dtype = dtype }
    local result = sc.kernel_error(given)
    for i = 2, 3 do lu.assertTrue(result.rows[i].rms < 0.3 * result.rows[i - 1].rms) end
    lu.assertTrue(result.rows[4].rms < floor, ("%s: %g"):format(dtype, result.rows[4].rms))
  end
  local Y = sc.randn{ 30, 2, seed = 9 }
  local features = inst:features{ T = 10, seed = 1 }:fit(rows)
  local gap = features:kernel(rows, Y) - kernel:gram(rows, Y)
  local given = { p = inst.p, phi = kernel, X = rows, Y = Y, T = { 10 }, seeds = 1 }
  local result = sc.kernel_error(given)
  lu.assertAlmostEquals(result.rows[1].rms, gap:norm() / math.sqrt(200 * 30), 1e-12)
  lu.assertStrContains(tostring(result), "error of the Nystrom approximation of kernel.gaussian")
end

function TestTheDefaultOfTIsWhatTheSamplerCanTake()
  local function sizes(given)
    local list = {}
    for i, row in ipairs(sc.kernel_error(given).rows) do list[i] = row.T end
    return list
  end
  local kernel = sc.kernel.gaussian{ gamma = 0.1 }
  local given = { p = sc.sampler.landmarks(), phi = kernel, X = sc.randn{ 80, 2 }, seeds = 1 }
  lu.assertEquals(sizes(given), { 10, 20, 40 })
  given.X = sc.randn{ 300, 2 }
  lu.assertEquals(sizes(given), { 64, 256 })
  given.samplers = { sc.sampler.landmarks{ method = "kmeans" } }
  lu.assertEquals(sizes(given), { 64, 256 })
  local columns = { p = sc.sampler.columns(), phi = sc.nonlinearity.chi_square(), seeds = 1,
    X = X:map(math.abs) }
  lu.assertEquals(sizes(columns), { 5 })
end

function TestBadInputIsRefusedWithASentence()
  local cases = {
    { "option 'X' is missing", {} },
    { "option 'phi' is missing", { X = X } },
    { "option 'p' is missing", { X = X, phi = sign } },
    { "option 'T' got {4, 3}", { X = X, phi = sign, p = gaussian, T = { 4, 3 } } },
    { "option 'T' got {\"4\"}", { X = X, phi = sign, p = gaussian, T = { "4" } } },
    { "option 'T' got {}", { X = X, phi = sign, p = gaussian, T = {} } },
    { "option 'seeds' got 0", { X = X, phi = sign, p = gaussian, seeds = 0 } },
    { "did you mean 'samplers'?", { X = X, phi = sign, sampler = gaussian } },
    { "X and Y have 5 and 2 columns", { X = X, Y = sc.zeros(3, 2), phi = sign, p = gaussian } },
    { "there are no points", { X = sc.zeros(0, 5), phi = sign, p = gaussian } },
    { "the exact kernel is 3 x 2 where there are 12 and 12 points",
      { X = X, phi = sign, p = gaussian, kernel = sc.zeros(3, 2) } },
    { "the function 'kernel' gave 3", { X = X, phi = sign, p = gaussian, kernel = function()
      return 3
    end } },
    { "the exact kernel is not finite in row 1, column 1", { X = X, phi = sign, p = gaussian,
      kernel = sc.ones(12, 12) * (0 / 0) } },
    { "option 'p' is part of the instantiation already",
      { X = X, p = gaussian, inst = sc.instantiation{ p = gaussian, phi = sign } } },
    { "no closed form is declared", { X = X, p = sc.sampler.threshold{}, phi = pair } },
  }
  for _, case in ipairs(cases) do
    local message = refusal(sc.kernel_error, case[2])
    lu.assertStrContains(message, "kernel_error")
    lu.assertStrContains(message, case[1])
  end
  local result = sc.kernel_error{ p = gaussian, phi = pair, X = X, T = { 8 }, seeds = 1 }
  lu.assertStrContains(refusal(result.needed, result, 0),
    "takes an error, a number above 0, and got 0")
  lu.assertStrContains(refusal(result.needed, result, 1, "halton"),
    "there is no sampler \"halton\"; there are gaussian")
end

os.exit(lu.LuaUnit.run(), true)

-- Sums over rows that do not depend on their order: Phi'r of features that are bits or whole
-- numbers, the verb total, and whole fits of solvers that make passes over the rows.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local n, d = 3000, 5
local X = sc.randn{ n, d, seed = 3 }
local gaussian = sc.sampler.gaussian{ sigma = 0.5 }
local maps = {
  { "step", { p = gaussian, phi = sc.nonlinearity.step() } },
  { "sign", { p = gaussian, phi = sc.nonlinearity.sign() } },
  { "fourier int16", { p = gaussian, phi = sc.nonlinearity.fourier(), dtype = "int16" } },
  { "fourier int8", { p = gaussian, phi = sc.nonlinearity.fourier(), dtype = "int8" } },
  { "relu int8", { p = gaussian, phi = sc.nonlinearity.relu(), dtype = "int8" } },
}

local made = 0
-- Call f(problem) with the problem of a fit of 40 features to some rows.
local function with_problem(parts, rows, f)
  made = made + 1
  local given = { T = 40, seed = 2 }
  for key, value in pairs(parts) do given[key] = value end
  local probe = sc.solver.define{ name = "exact_passes_" .. made, solve = function(problem)
    f(problem)
    return { coefficients = sc.zeros(problem.features, problem.targets), outcome = "stopped" }
  end }
  sc.pipeline{ sc.features(given), probe() }:fit(
    sc.dataset{ X = rows, y = sc.zeros(rows:rows(), 1), task = "regression" })
end

-- Columns of numbers of very different size, from a generator of our own.
local state = 1
local function uniform()
  state = (state * 6364136223846793005 + 1442695040888963407)
  return (state >> 11) / 2^53
end
local function wide_numbers(rows, k)
  local r = sc.zeros(rows, k)
  for i = 1, rows do
    for j = 1, k do r:set(i, j, (uniform() - 0.5) * 2^(60 * uniform() - 30)) end
  end
  return r
end

local function reversed(r)
  local rows, k = r:rows(), r:cols()
  local out = sc.zeros(rows, k)
  for i = 1, rows do
    for j = 1, k do out:set(i, j, r:get(rows + 1 - i, j)) end
  end
  return out
end

function TestAdjointDoesNotDependOnTheOrder()
  local threads = sc.threads()
  local r = wide_numbers(n, 3)
  for _, map in ipairs(maps) do
    local want, plain
    sc.threads(1)
    with_problem(map[2], X, function(problem)
      want = problem:adjoint(r)
      plain = sc.zeros(problem.features, 3)
      problem:walk(function(block)
        plain = plain + block.X:t() * r:slice(block.first, block.first + block.count - 1)
      end)
    end)
    lu.assertTrue((want - plain):map(math.abs):max() < 1e-6 * plain:map(math.abs):max(), map[1])
    for _, count in ipairs{ 1, 2, 3 } do
      sc.threads(count)
      -- Scales that are learnt from the first rows are those of other rows here.
      if map[1] ~= "relu int8" then
        with_problem(map[2], reversed(X), function(problem)
          lu.assertTrue(problem:adjoint(reversed(r)) == want, map[1])
          local swept = problem:sweep(sc.zeros(problem.features, 3), function(_, block)
            return reversed(r):slice(block.first, block.first + block.count - 1)
          end)
          lu.assertTrue(swept == want, map[1])
        end)
      end
    end
  end
  sc.threads(threads)
end

-- Rows that come three times: what their numbers cancel is lost in no digit.
function TestAdjointIsExact()
  local m = 700
  local rows = sc.zeros(3 * m, d)
  local r, rest = sc.zeros(3 * m, 2), sc.zeros(3 * m, 2)
  for i = 1, m do
    for copy = 0, 2 do
      for j = 1, d do rows:set(copy * m + i, j, X:get(i, j)) end
    end
    local large, small = (uniform() - 0.5) * 2^(1000 * uniform()), uniform() * 2^-30
    r:set(i, 1, large); r:set(m + i, 1, small); r:set(2 * m + i, 1, -large)
    r:set(i, 2, 1); r:set(m + i, 2, 2^-70); r:set(2 * m + i, 2, -1)
    rest:set(m + i, 1, small)
    rest:set(m + i, 2, 2^-70)
  end
  for _, map in ipairs(maps) do
    with_problem(map[2], rows, function(problem)
      lu.assertTrue(problem:adjoint(r) == problem:adjoint(rest), map[1])
    end)
  end
end

-- Of steps, 0 or a scale: the scale times the total of the numbers of the rows above the threshold.
function TestAdjointOfBitsIsATotal()
  local r = wide_numbers(n, 1)
  with_problem(maps[1][2], X, function(problem)
    local got, marks = problem:adjoint(r), sc.zeros(n, problem.features)
    local scale = 0
    problem:walk(function(block)
      for i = 1, block.count do
        for j = 1, problem.features do
          local phi = block.X:get(i, j)
          scale = math.max(scale, phi)
          if phi > 0 then marks:set(block.first + i - 1, j, r:get(block.first + i - 1, 1)) end
        end
      end
    end)
    lu.assertTrue(got == (problem:total(marks) * scale):t())
  end)
end

function TestAdjointOfWhatIsNotFinite()
  local r = sc.ones(n, 1)
  r:set(n // 2, 1, math.huge)
  for _, map in ipairs(maps) do
    with_problem(map[2], X, function(problem)
      lu.assertFalse(problem:adjoint(r):isfinite(), map[1])
    end)
  end
end

-- ------------ fits

local labels, numbers, backwards, several = {}, sc.zeros(n, 1), {}, {}
for i = 1, n do
  local f = X:get(i, 1) + X:get(i, 2) * X:get(i, 3)
  labels[i] = f > 0 and "yes" or "no"
  several[i] = f > 1 and "high" or f > -0.5 and "middle" or "low"
  numbers:set(i, 1, math.sin(X:get(i, 1)) + X:get(i, 2) + 100)
  backwards[i] = n + 1 - i
end
local weights = {}
for i = 1, n do weights[i] = 0.1 + i % 7 end
local two = sc.dataset{ X = X, y = labels }
local more = sc.dataset{ X = X, y = several }
local regression = sc.dataset{ X = X, y = numbers }
local weighted = sc.dataset{ X = X, y = labels, weights = weights }

local s = sc.solver
local fits = {
  { s.cg{ lambda = 1e-3 }, two }, { s.cg{ lambda = 1e-3, rank = 30 }, regression },
  { s.cg{ lambda = 1e-3, rank = 5000 }, more }, { s.cg{ lambda = 1e-3 }, weighted },
  { s.logistic{ lambda = 1e-3 }, two }, { s.logistic{ lambda = 1e-3 }, more },
  { s.logistic{ lambda = 1e-3 }, weighted },
  { s.logistic{ lambda = 1e-3, method = "sgd", epochs = 2 }, two },
  { s.huber{ lambda = 1e-3 }, regression },
}

local function check_fits(name, parts)
  local threads = sc.threads()
  for _, one in ipairs(fits) do
    local given = { T = 60, seed = 2 }
    for key, value in pairs(parts) do given[key] = value end
    local function fit(ds, count)
      sc.threads(count)
      return sc.pipeline{ sc.features(given), one[1] }:fit(ds):decision(X)
    end
    local want = fit(one[2], 1)
    for count = support.looks_for_races and 3 or 1, 3 do
      lu.assertTrue(fit(one[2]:select(backwards), count) == want,
        ("%s %s, %d threads"):format(one[1].name, name, count))
    end
  end
  sc.threads(threads)
end

function TestFitsOfTwoValuedFeatures()
  check_fits("sign", { p = gaussian, phi = sc.nonlinearity.sign(), dtype = "int16" })
end

function TestFitsOfWholeNumbers()
  for _, dtype in ipairs(support.looks_for_races and { "int8" } or { "int16", "int8" }) do
    check_fits(dtype, { p = gaussian, phi = sc.nonlinearity.fourier(), dtype = dtype })
  end
end

-- Features of either number type that are bits: passes alone need no sample of the rows.
function TestPassesOverBits()
  for _, solver in ipairs{ s.cg{ lambda = 1e-3, rank = 0 }, s.logistic{ lambda = 1e-3 } } do
    local function fit(ds)
      local map = sc.features{ p = gaussian, phi = sc.nonlinearity.sign(), T = 60, seed = 2 }
      return sc.pipeline{ map, solver }:fit(ds):decision(X)
    end
    lu.assertTrue(fit(two:select(backwards)) == fit(two), solver.name)
  end
end

os.exit(lu.LuaUnit.run())

-- Features that take two values are counted as bits: the same sums as those of the features as
-- numbers, whole numbers where they should be, and the same bits of every result for any threads.
local core = require "scullery.core"
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local n, d = 3000, 6
local X = sc.randn{ n, d, seed = 4 }
local y = X:column(1):map(function(v) return math.floor(8 * v) / 8 end)
local ds = sc.dataset{ X = X, y = y }

local function as_numbers(f)
  core.bits(false)
  local ok, result = pcall(f)
  core.bits(true)
  assert(ok, result)
  return result
end

local function gap(a, b) return (a - b):map(math.abs):max() end

local samplers = { threshold = sc.sampler.threshold{ sigma = 1 },
  gaussian = sc.sampler.gaussian{ sigma = 1, bias = "uniform" }, sparse = sc.sampler.sparse{},
  hadamard = sc.sampler.hadamard{ sigma = 1 } }

local seen
local probe = sc.solver.define{ name = "bits_probe", penalty = "l2",
  options = { intercept = { role = "intercept", default = "auto" } },
  solve = function(problem)
    seen[#seen + 1] = problem:normal()
    return { coefficients = sc.zeros(problem.features, problem.targets), outcome = "converged",
      iterations = 1 }
  end,
  objective = function() return 0 end }

local function sums(p, phi, given, data)
  given = given or {}
  seen = {}
  local feats = sc.features{ p = p, phi = phi, T = given.T or 70, seed = 2, dtype = given.dtype }
  local stages = sc.pipeline{ feats, probe{ intercept = given.intercept or false } }
  if given.folds then
    stages:cv(data or ds, { folds = given.folds })
  else
    stages:fit(data or ds)
  end
  return seen
end

-- T Phi'Phi of sign and step are whole numbers: exactly n - 2 (differing rows), or rows where both
-- are 1. Every entry is compared with a count made here.
function TestMomentsAreCounts()
  for name, phi in pairs{ sign = sc.nonlinearity.sign(), step = sc.nonlinearity.step() } do
    for _, dtype in ipairs{ "float64", "float32" } do
      local T = 64 -- 1/sqrt(T) is a power of two, so that nothing is rounded
      local p = samplers.threshold
      local got = sums(p, phi, { T = T, dtype = dtype })[1]
      local Phi = sc.features{ p = p, phi = phi, T = T, seed = 2 }:fit(X):transform(X)
      local wanted = Phi:t() * Phi -- float64, sums of multiples of 1/64: exact
      lu.assertEquals(gap(got.moment, wanted), 0, name .. " " .. dtype)
      lu.assertEquals(gap(got.right, Phi:t() * y), 0)
      lu.assertEquals(got.total, n)
    end
  end
end

function TestSumsAreThoseOfNumbers()
  for name, p in pairs(samplers) do
    for _, phi in ipairs{ sc.nonlinearity.sign(), sc.nonlinearity.step() } do
      for _, given in ipairs{ {}, { intercept = true }, { folds = 3, intercept = true } } do
        local bits = sums(p, phi, given)
        local numbers = as_numbers(function() return sums(p, phi, given) end)
        lu.assertEquals(#bits, #numbers)
        for i in ipairs(bits) do
          lu.assertTrue(gap(bits[i].moment, numbers[i].moment) < 1e-9 * n, name)
          lu.assertTrue(gap(bits[i].right, numbers[i].right) < 1e-9 * n, name)
          lu.assertEquals(bits[i].square, numbers[i].square)
        end
      end
    end
  end
end

-- low and high that are neither 0 nor +-1, and z = 0 that is high.
function TestValuesOfAnyTwo()
  local two = sc.nonlinearity.define{ name = "bits_two",
    eval = function(z) return z >= 0 and 2.5 or -0.75 end,
    two_valued = { low = -0.75, high = 2.5, zero_is_high = true } }
  local p = samplers.threshold
  local bits = sums(p, two(), { intercept = true })[1]
  local numbers = as_numbers(function() return sums(p, two(), { intercept = true })[1] end)
  lu.assertTrue(gap(bits.moment, numbers.moment) < 1e-9)
  lu.assertTrue(gap(bits.right, numbers.right) < 1e-9)
end

function TestFitsSearchesAndClasses()
  local three = sc.dataset{ X = X, task = "classification",
    y = y:map(function(v) return v < -0.3 and 1 or v > 0.3 and 3 or 2 end) }
  for _, data in ipairs{ ds, three } do
    local function weights(solver)
      local stages = sc.pipeline{ sc.features{ p = samplers.threshold, phi = sc.nonlinearity.step(),
        T = 50, seed = 1 }, solver }
      return stages:fit(data):weights()
    end
    for _, solver in ipairs{ sc.solver.ridge{ lambda = 1e-3 }, sc.solver.lasso{ lambda = 1e-2 } } do
      lu.assertTrue(gap(weights(solver), as_numbers(function() return weights(solver) end)) < 1e-7)
    end
  end
  local function chosen()
    local stages = sc.pipeline{ sc.features{ p = samplers.gaussian, phi = sc.nonlinearity.sign(),
      T = 40, seed = 1 }, sc.solver.ridge{ lambda = sc.choose{ 1e-6, 1e-2, 1 } } }
    local model = stages:search(ds, { folds = 3 })
    return model:weights()
  end
  lu.assertTrue(gap(chosen(), as_numbers(chosen)) < 1e-9)
end

-- ------------ row weights

local kinds = {
  copies = function(v) return math.floor(math.abs(2.5 * v)) end, -- 0, 1, ... as of a bootstrap
  class = function(v) return v > 0.4 and 1.75 or 0.3 end,
  one = function() return 3 end,
  any = function(v) return math.exp(3 * v) end,
  mixed = function(v) return v > 0.8 and 2 or v > 0.4 and 0 or 0.1 + v * v end,
}

local function weighted(kind, targets)
  return sc.dataset{ X = X, y = targets or y, weights = X:column(2):map(kinds[kind]) }
end

function TestThreadsDoNotChangeABit()
  local before, first = core.threads(), {}
  for _, threads in ipairs{ 1, 2, 5 } do
    core.threads(threads)
    for k, data in ipairs{ false, weighted("class") } do
      local s = sums(samplers.gaussian, sc.nonlinearity.sign(), { folds = 4, T = 300 },
        data or nil)
      for i, one in ipairs(first[k] or {}) do
        lu.assertEquals(gap(s[i].moment, one.moment), 0)
        lu.assertEquals(gap(s[i].right, one.right), 0)
      end
      first[k] = s
    end
  end
  core.threads(before)
end

-- Rows of whole weights are as so many rows: the sums are those of the rows repeated, to the bit.
function TestWholeWeightsAreCopies()
  local weights, places = X:column(2):map(kinds.copies), {}
  for i = 1, n do
    for _ = 1, weights:get(i, 1) do places[#places + 1] = i end
  end
  local repeated = sc.dataset{ X = X:select(places), y = y:select(places) }
  for _, phi in ipairs{ sc.nonlinearity.sign(), sc.nonlinearity.step() } do
    for _, p in pairs{ samplers.threshold, samplers.hadamard } do
      local got = sums(p, phi, { T = 64, intercept = true }, weighted("copies"))[1]
      local wanted = sums(p, phi, { T = 64, intercept = true }, repeated)[1]
      lu.assertEquals(got.total, #places)
      lu.assertTrue(gap(got.moment, wanted.moment) < 1e-10 * n)
      lu.assertTrue(gap(got.right, wanted.right) < 1e-10 * n)
      local raw = sums(p, phi, { T = 64 }, weighted("copies"))[1]
      lu.assertEquals(gap(raw.moment, sums(p, phi, { T = 64 }, repeated)[1].moment), 0)
      lu.assertEquals(gap(raw.right, sums(p, phi, { T = 64 }, repeated)[1].right), 0)
    end
  end
end

function TestWeights()
  local two = y:map(function(v) return v < 0.2 and -1 or 1 end)
  for kind in pairs(kinds) do
    for _, targets in ipairs{ y, two } do
      for _, given in ipairs{ {}, { intercept = true }, { folds = 3 } } do
        local data = weighted(kind, targets)
        local bits = sums(samplers.gaussian, sc.nonlinearity.sign(), given, data)
        local numbers = as_numbers(function()
          return sums(samplers.gaussian, sc.nonlinearity.sign(), given, data)
        end)
        for i in ipairs(bits) do
          lu.assertTrue(gap(bits[i].moment, numbers[i].moment) < 1e-9 * n, kind)
          lu.assertTrue(gap(bits[i].right, numbers[i].right) < 1e-9 * n, kind)
          lu.assertAlmostEquals(bits[i].total, numbers[i].total, 1e-9 * n)
        end
      end
    end
  end
end

-- Targets of classes are counted as well: whole numbers, where 1/sqrt(T) is a power of two.
function TestClassesAreCounted()
  local classes = y:map(function(v) return math.floor(math.min(math.max(3 * v, -4), 4)) end)
  local data = sc.dataset{ X = X, y = classes, task = "classification" }
  local T = 64
  local got = sums(samplers.threshold, sc.nonlinearity.step(), { T = T }, data)[1]
  local Phi = sc.features{ p = samplers.threshold, phi = sc.nonlinearity.step(), T = T, seed = 2 }
    :fit(X):transform(X)
  lu.assertTrue(got.right:cols() > 5)
  local labels, seen_before = {}, {}
  for i = 1, n do
    local v = classes:get(i, 1)
    if not seen_before[v] then
      seen_before[v] = true
      labels[#labels + 1] = v
    end
  end
  table.sort(labels)
  for j, label in ipairs(labels) do
    local own = classes:map(function(v) return v == label and 1 or -1 end)
    local wanted = Phi:t() * own
    lu.assertEquals(gap(got.right:column(j), wanted), 0)
  end
end

-- ------------ verbs over rows

-- What a problem answers, the verbs being asked in several orders.
local FIRST = 5 -- of the features of a minibatch
local verbs = {
  product = function(p, out)
    for _, k in ipairs{ 1, 3 } do
      out[#out + 1] = p:product(sc.randn{ p.features, k, seed = 5 })
    end
  end,
  adjoint = function(p, out)
    for _, k in ipairs{ 1, 3 } do
      out[#out + 1] = p:adjoint(sc.randn{ p.rows, k, seed = 6 })
    end
  end,
  sweep = function(p, out)
    out[#out + 1] = p:sweep(sc.randn{ p.features, 1, seed = 7 }, function(scores, block)
      return scores - block.y
    end)
  end,
  walk = function(p, out)
    p:walk(function(block)
      for i = 1, block.count, 97 do out[#out + 1] = block.X:slice(i, i):copy() end
    end)
  end,
  minibatch = function(p, out)
    for step = 0, 150 do
      p:minibatch({ seed = 1, step = step, size = 40, first = FIRST, count = 20 }, function(block)
        out.drawn[#out.drawn + 1] = block.X:copy()
      end)
    end
  end,
  reweighted = function(p, out)
    local own = p:reweighted(sc.rand{ p.rows, 1, seed = 8 })
    out[#out + 1] = own.moment
    out[#out + 1] = own.right
  end,
}

local made = 0
local function fresh()
  made = made + 1
  return "bits_verbs_" .. made
end

local orders = { { "product", "adjoint", "sweep", "walk", "minibatch", "reweighted" },
  { "walk", "product", "adjoint", "sweep" }, { "reweighted", "sweep", "walk" },
  { "minibatch", "product", "minibatch", "walk" } }

-- Every tenth row that was drawn has the features of some row of X. Which rows are drawn depends on
-- whether sums are exact: for bits their order does not count.
local function check_drawn(drawn, feats, tolerance)
  local rows = feats:transform(X)
  rows = rows:slice(1, n, FIRST, FIRST + 19)
  local function key(A, i)
    local signs = {}
    for j = 1, 20 do signs[j] = A:get(i, j) > 0 and "+" or "-" end
    return table.concat(signs)
  end
  local place = {}
  for i = 1, n do place[key(rows, i)] = i end
  for k = 1, #drawn, 10 do
    local i = place[key(drawn[k], 1)]
    lu.assertNotNil(i, "no row has these features")
    lu.assertTrue(gap(drawn[k]:slice(1, 1), rows:slice(i, i)) <= tolerance)
  end
end

local function answers(order, stages, folds)
  local out = { drawn = {} }
  local solver = sc.solver.define{ name = fresh(), solve = function(problem)
    for _, verb in ipairs(order) do verbs[verb](problem, out) end
    return { coefficients = sc.zeros(problem.features, problem.targets), outcome = "stopped" }
  end }
  stages[#stages + 1] = solver()
  local p = sc.pipeline(stages)
  if folds then p:cv(ds, { folds = folds }) else p:fit(ds) end
  return out
end

function TestVerbs()
  for _, dtype in ipairs(support.looks_for_races and { "float32" } or { "float64", "float32" }) do
    local tolerance = dtype == "float64" and 1e-9 or 1e-2
    for name, phi in pairs{ sign = sc.nonlinearity.sign, step = sc.nonlinearity.step } do
      -- nothing is kept; bits are, of 3000 rows of 70 features and two numbers
      for _, allowance in ipairs{ 0, 100000 } do
        for _, order in ipairs(orders) do
          local folds = allowance > 0 and name == "step" and 3 or nil
          local function ask(seed)
            return answers(order, { sc.features{ p = samplers.gaussian, phi = phi(), T = 70,
              seed = seed, dtype = dtype }, allowance = allowance }, folds)
          end
          local bits, numbers = ask(1), as_numbers(function() return ask(1) end)
          lu.assertEquals({ #bits, #bits.drawn }, { #numbers, #numbers.drawn })
          if #bits.drawn > 0 then
            check_drawn(bits.drawn, sc.features{ p = samplers.gaussian, phi = phi(), T = 70,
              seed = 1, dtype = dtype }, tolerance)
          end
          for i in ipairs(bits) do
            lu.assertTrue(gap(bits[i], numbers[i]) < tolerance,
              ("%s, allowance %g, %s, answer %d"):format(dtype, allowance, order[1], i))
          end
        end
      end
    end
  end
end

function TestAllowanceDoesNotChangeABit()
  for _, order in ipairs(orders) do
    local first
    for _, allowance in ipairs{ 0, 100000, 1e9 } do
      local all = answers(order, { sc.features{ p = samplers.gaussian, phi = sc.nonlinearity.sign(),
        T = 70, seed = 1, dtype = "float32" }, allowance = allowance }, 3)
      for i in ipairs(first or {}) do lu.assertEquals(gap(all[i], first[i]), 0) end
      for i, rows in ipairs(first and first.drawn or {}) do
        lu.assertEquals(gap(all.drawn[i], rows), 0)
      end
      first = first or all
    end
  end
end

-- Bytes that keeping the features of n rows takes beside targets and places: 1/64 of float64's,
-- 1/32 of float32's.
function TestKeptBitsTakeLittleMemory()
  local T = 2048
  local function kept(dtype)
    local bytes
    local function held()
      collectgarbage()
      collectgarbage()
      return (core.memory())
    end
    local solver = sc.solver.define{ name = fresh(), solve = function(problem)
      local a = sc.zeros(problem.features, 1)
      local before = held()
      problem:product(a)
      bytes = held() - before
      return { coefficients = a, outcome = "stopped" }
    end }
    sc.pipeline{ sc.features{ p = samplers.gaussian, phi = sc.nonlinearity.sign(), T = T, seed = 1,
      dtype = dtype }, solver(), allowance = 1e9 }:fit(ds)
    return bytes - 16 * n -- a target and a place
  end
  for dtype, share in pairs{ float64 = 64, float32 = 32 } do
    local bits = kept(dtype)
    local numbers = as_numbers(function() return kept(dtype) end)
    lu.assertTrue(numbers >= n * T * share / 8, dtype)
    lu.assertTrue(math.abs(numbers / bits / share - 1) < 0.1, ("%s: %g"):format(dtype,
      numbers / bits))
  end
end

-- Rows of one feature matrix have the same values, whether they were bits in between or not.
function TestRowsOfBitsAreExact()
  local feats = sc.features{ p = samplers.sparse, phi = sc.nonlinearity.sign(), T = 33, seed = 1,
    dtype = "float32" }
  local function rows(allowance)
    return answers({ "product", "walk", "minibatch" }, { feats, allowance = allowance })
  end
  local bits, numbers = rows(1e9), as_numbers(function() return rows(0) end)
  lu.assertTrue(#bits.drawn > 0)
  check_drawn(bits.drawn, feats, 0)
  for i = 3, #bits do lu.assertEquals(gap(bits[i], numbers[i]), 0) end -- after the products
end

function TestSolversOverRows()
  local two = sc.dataset{ X = X, task = "classification",
    y = y:map(function(v) return v < 0.1 and 1 or 2 end) }
  for name, solver in pairs{ logistic = sc.solver.logistic{ lambda = 1e-3, tolerance = 1e-10 },
    cg = sc.solver.cg{ lambda = 1e-3, tolerance = 1e-10 } } do
    for _, allowance in ipairs{ 0, 1e9 } do
      local function weights()
        return sc.pipeline{ sc.features{ p = samplers.threshold, phi = sc.nonlinearity.sign(),
          T = 60, seed = 1 }, solver, allowance = allowance }:fit(two):weights()
      end
      lu.assertTrue(gap(weights(), as_numbers(weights)) < 1e-5, name)
    end
  end
end

os.exit(lu.LuaUnit.run())

-- Samplers whose rows are sparse, shared, orthogonal, structured or quasi-random: supports, laws
-- and the kernels that they promise.
local lu = require "luaunit"
local sc = require "scullery"

local pair = sc.nonlinearity.fourier{ form = "pair" }
local function with(p) return sc.instantiation{ p = p, phi = pair } end
local function sample(p, T, d, seed) return with(p):sample{ T = T, d = d, seed = seed or 1 } end

-- |mean - wanted| in standard errors of independent values.
local function in_stderr(values, wanted)
  local n, sum, square = #values, 0, 0
  for _, v in ipairs(values) do sum, square = sum + v, square + v * v end
  local mean = sum / n
  return math.abs(mean - wanted) / (math.sqrt(math.max(square / n - mean ^ 2, 0) / (n - 1)) + 1e-12)
end

-- How far sum (seen - wanted)^2 / wanted lies above its mean, in standard errors: mean k - 1,
-- variance about 2 (k - 1) (Pearson).
local function pearson(seen, wanted)
  local sum, k = 0, 0
  for key, count in pairs(wanted) do
    sum, k = sum + ((seen[key] or 0) - count) ^ 2 / count, k + 1
  end
  return (sum - (k - 1)) / math.sqrt(2 * (k - 1))
end

-- Rows of inst:sample on sparse parameters, as {columns, weights}.
local function sparse_rows(p, T, d, seed)
  local S = sample(p, T, d, seed)
  local slots, rows = S:cols() // 2, {}
  for t = 1, T do
    local columns, weights = {}, {}
    for j = 1, slots do
      local column = S:get(t, j)
      if column > 0 then
        columns[#columns + 1], weights[#weights + 1] = math.tointeger(column), S:get(t, slots + j)
      else
        lu.assertEquals(S:get(t, slots + j), 0)
      end
    end
    rows[t] = { columns = columns, weights = weights }
  end
  return rows
end

-- ------------ sparse

function TestSupportsAreAscendingAndWithoutRepetition()
  for _, case in ipairs{ { 3, 5 }, { 3, 1000000 }, { 40, 1000 }, { 63, 1008 }, { 64, 1008 },
    { 7, 7 }, { { binomial = 0.3 }, 50 } } do
    for _, row in ipairs(sparse_rows(sc.sampler.sparse{ degree = case[1] }, 200, case[2])) do
      for j, column in ipairs(row.columns) do
        lu.assertTrue(column >= 1 and column <= case[2])
        if j > 1 then lu.assertTrue(column > row.columns[j - 1]) end
      end
      if type(case[1]) == "number" then lu.assertEquals(#row.columns, case[1]) end
    end
  end
end

-- Every support of 3 out of 6 columns (select) and of 2 out of 40 (collect) as often as any other.
function TestSupportsAreUniform()
  for _, case in ipairs{ { 3, 6, 20 }, { 2, 40, 780 } } do
    local T, seen, wanted = 20000, {}, {}
    for _, row in ipairs(sparse_rows(sc.sampler.sparse{ degree = case[1] }, T, case[2])) do
      local key = table.concat(row.columns, " ")
      seen[key] = (seen[key] or 0) + 1
      wanted[key] = T / case[3]
    end
    local kinds = 0
    for _ in pairs(wanted) do kinds = kinds + 1 end
    lu.assertEquals(kinds, case[3])
    local off = pearson(seen, wanted)
    lu.assertTrue(math.abs(off) < 5, ("%d of %d: %.1f standard errors"):format(case[1], case[2],
      off))
  end
end

function TestInDegreesFollowTheirLaw()
  local T, d, p = 20000, 6, 0.4
  local binomial, choose = {}, 1
  for s = 0, d do
    binomial[s] = choose * p ^ s * (1 - p) ^ (d - s)
    choose = choose * (d - s) / (s + 1)
  end
  for _, case in ipairs{ { { binomial = p }, binomial }, { { table = { 0.1, 0, 0.6, 0.3 } },
    { [0] = 0.1, [2] = 0.6, [3] = 0.3 } } } do
    local seen, wanted = {}, {}
    for s, probability in pairs(case[2]) do wanted[s] = T * probability end
    for _, row in ipairs(sparse_rows(sc.sampler.sparse{ degree = case[1] }, T, d)) do
      seen[#row.columns] = (seen[#row.columns] or 0) + 1
    end
    for s in pairs(seen) do
      lu.assertNotNil(wanted[s], "in-degree " .. s .. " has probability 0")
    end
    lu.assertTrue(math.abs(pearson(seen, wanted)) < 5)
  end
  for _, row in ipairs(sparse_rows(sc.sampler.sparse{ degree = { binomial = 1 } }, 5, d)) do
    lu.assertEquals(#row.columns, d)
  end
  for _, row in ipairs(sparse_rows(sc.sampler.sparse{ degree = { binomial = 0 } }, 5, d)) do
    lu.assertEquals(#row.columns, 0)
  end
end

-- E ||w||^2 = sigma^2 for every in-degree, and the fourth moment says which law it is.
function TestWeightsHaveTheLengthSigma()
  local kurtosis = { gaussian = 3, uniform = 9 / 5, rademacher = 1 }
  local sigma = 1.7
  for weights, fourth in pairs(kurtosis) do
    for _, nonnegative in ipairs{ false, true } do
      local p = sc.sampler.sparse{ degree = { table = { 0, 0.3, 0.3, 0.4 } }, sigma = sigma,
        weights = weights, nonnegative = nonnegative }
      local lengths, fourths = {}, {}
      for _, row in ipairs(sparse_rows(p, 6000, 8)) do
        local s, length = #row.columns, 0
        lengths[s] = lengths[s] or {}
        for _, w in ipairs(row.weights) do
          length = length + w * w
          fourths[#fourths + 1] = (w * w * s / sigma ^ 2) ^ 2
          if nonnegative then lu.assertTrue(w >= 0) end
        end
        table.insert(lengths[s], length)
      end
      for s = 1, 3 do
        local off = in_stderr(lengths[s], sigma ^ 2)
        lu.assertTrue(off < 5, ("%s, in-degree %d: %.1f standard errors"):format(weights, s, off))
      end
      lu.assertTrue(in_stderr(fourths, fourth) < 5, weights)
    end
  end
end

-- Blocks of lcm(d, s)/s parameters: each column lcm(d, s)/d times in each.
function TestBiregularIsExact()
  for _, case in ipairs{ { 3, 9 }, { 3, 10 }, { 4, 6 }, { 5, 5 }, { 1, 7 }, { 7, 10 },
    { 9, 10 } } do
    local s, d = table.unpack(case)
    local a, b = d, s
    while b > 0 do a, b = b, a % b end
    local block, each, blocks = d // a, s // a, 7
    local rows = sparse_rows(sc.sampler.sparse{ degree = s, biregular = true }, block * blocks, d)
    for k = 0, blocks - 1 do
      local count = {}
      for t = k * block + 1, (k + 1) * block do
        lu.assertEquals(#rows[t].columns, s)
        for j, column in ipairs(rows[t].columns) do
          if j > 1 then lu.assertTrue(column > rows[t].columns[j - 1]) end
          count[column] = (count[column] or 0) + 1
        end
      end
      for column = 1, d do
        lu.assertEquals(count[column], each, ("degree %d of %d"):format(s, d))
      end
    end
  end
end

-- Each biregular support by itself is uniform, also the second of a block, which takes the end of
-- one order and the beginning of the next.
function TestBiregularSupportsAreUniform()
  local blocks, seen, wanted = 6000, {}, {}
  local rows = sparse_rows(sc.sampler.sparse{ degree = 3, biregular = true }, 5 * blocks, 5)
  for k = 0, blocks - 1 do
    local key = table.concat(rows[5 * k + 2].columns, " ")
    seen[key], wanted[key] = (seen[key] or 0) + 1, blocks / 10
  end
  lu.assertTrue(math.abs(pearson(seen, wanted)) < 5)
end

-- ------------ orthogonal, Hadamard,
-- quasi-Monte Carlo

local function dot(W, a, b)
  local sum = 0
  for j = 1, W:cols() do sum = sum + W:get(a, j) * W:get(b, j) end
  return sum
end

function TestBlocksAreOrthogonal()
  for _, case in ipairs{ { sc.sampler.orthogonal{ sigma = 0.7 }, 1, 1 },
    { sc.sampler.orthogonal{ sigma = 0.7 }, 13, 13 },
                         { sc.sampler.orthogonal{ sigma = 0.7 }, 32, 32 },
                           { sc.sampler.hadamard{ sigma = 0.7 }, 64, 64 } } do
    local p, d, block = table.unpack(case)
    local W = sample(p, 3 * block, d)
    for k = 0, 2 do
      for a = k * block + 1, (k + 1) * block do
        for b = k * block + 1, a - 1 do
          -- d roundings of numbers of the size of w^2
          lu.assertTrue(math.abs(dot(W, a, b)) < 1e-14 * d * math.sqrt(dot(W, a, a) * dot(W, b,
            b)) + 1e-300)
        end
      end
    end
  end
end

-- Lengths are chi_d (fastfood: before the cut to d columns): E r^2 = d, E r^4 = d (d + 2).
function TestLengthsAreChi()
  for _, case in ipairs{ { sc.sampler.orthogonal(), 1 }, { sc.sampler.orthogonal(), 2 },
    { sc.sampler.orthogonal(), 5 },
                         { sc.sampler.hadamard{ form = "fastfood" }, 64 } } do
    local d = case[2]
    local W, squares, fourths = sample(case[1], 6000, d), {}, {}
    for t = 1, 6000 do
      local square = dot(W, t, t)
      squares[t], fourths[t] = square, square * square
    end
    lu.assertTrue(in_stderr(squares, d) < 5, tostring(case[1]))
    lu.assertTrue(in_stderr(fourths, d * (d + 2)) < 5, tostring(case[1]))
  end
  local W = sample(sc.sampler.hadamard{ sigma = 0.7 }, 64, 64)
  for t = 1, 64 do lu.assertAlmostEquals(dot(W, t, t), 64 * 0.49, 1e-10) end
end

-- Each entry of a block has mean 0 and variance 1 over blocks (Haar: no corner is special).
function TestEntriesOfABlockAreAlike()
  local d, blocks = 3, 4000
  local W = sample(sc.sampler.orthogonal(), d * blocks, d)
  for r = 1, d do
    for j = 1, d do
      local values, squares = {}, {}
      for k = 0, blocks - 1 do
        local w = W:get(k * d + r, j)
        values[k + 1], squares[k + 1] = w, w * w
      end
      lu.assertTrue(in_stderr(values, 0) < 5 and in_stderr(squares, 1) < 5,
        ("entry %d, %d"):format(r, j))
    end
  end
end

-- F, the normal distribution function, by Simpson's rule on the density.
local function normal_cdf(x)
  local n, sum = 200, 0
  local h = x / n
  for i = 0, n do
    sum = sum + (i == 0 and 1 or i == n and 1 or i % 2 == 1 and 4 or 2) * math.exp(-(i * h) ^ 2 / 2)
  end
  return 0.5 + sum * h / 3 / math.sqrt(2 * math.pi)
end

-- The first 2^m points have one in each interval of length 2^-m, in each coordinate; Halton's first
-- p^k in base p.
function TestPointsFillEachCoordinate()
  local function check(W, j, count, what)
    local u = {}
    for t = 1, count do u[t] = normal_cdf(W:get(t, j)) end
    table.sort(u)
    for t = 1, count do
      lu.assertTrue(u[t] > (t - 1) / count - 1e-9 and u[t] < t / count + 1e-9,
        ("%s, column %d: %g is point %d"):format(what, j, u[t], t))
    end
  end
  for _, scramble in ipairs{ true, false } do
    local p = sc.sampler.qmc{ scramble = scramble }
    local W = sample(p, 256, 1111)
    for _, j in ipairs{ 1, 2, 3, 10, 100, 1111 } do
      check(W, j, 256, "sobol")
      check(W, j, 32, "sobol")
    end
  end
  local p = sc.sampler.qmc{ sequence = "halton" }
  local W = sample(p, 343, 5)
  for _, case in ipairs{ { 1, 256 }, { 2, 243 }, { 3, 125 }, { 4, 343 }, { 5, 121 } } do
    check(W, case[1], case[2], "halton")
  end
end

-- Pairs of Sobol columns: 2^6 points in the 8 x 8 squares, as many in each, for the leading columns
-- (t = 0 for the first two).
function TestSobolIsANetInTwoColumns()
  local W, seen = sample(sc.sampler.qmc(), 64, 2), {}
  for t = 1, 64 do
    local cell = math.floor(normal_cdf(W:get(t, 1)) * 8) * 8 + math.floor(
      normal_cdf(W:get(t, 2)) * 8)
    lu.assertNil(seen[cell])
    seen[cell] = true
  end
end

-- ------------ what all of them promise

local every = {
  { "sparse 1", sc.sampler.sparse{ degree = 1 } },
  { "sparse 3", sc.sampler.sparse{ degree = 3, sigma = 0.8 } },
  { "sparse, all columns", sc.sampler.sparse{ degree = 5, sigma = 1.5 } },
  { "sparse, uniform weights", sc.sampler.sparse{ degree = 2, weights = "uniform", sigma = 1.5 } },
  { "sparse, +-1 weights", sc.sampler.sparse{ degree = 2, weights = "rademacher" } },
  { "sparse, binomial", sc.sampler.sparse{ degree = { binomial = 0.5 }, sigma = 0.8 } },
  { "sparse, table", sc.sampler.sparse{ degree = { table = { 0.2, 0.3, 0, 0.5 } },
    weights = "uniform" } },
  { "sparse, biregular", sc.sampler.sparse{ degree = 2, biregular = true } },
  { "orthogonal", sc.sampler.orthogonal{ gamma = 0.3 } },
  { "fastfood", sc.sampler.hadamard{ gamma = 0.3, form = "fastfood" } },
  { "sobol", sc.sampler.qmc{ gamma = 0.3 } },
  { "sobol, shifted", sc.sampler.qmc{ gamma = 0.3, scramble = false } },
  { "halton", sc.sampler.qmc{ gamma = 0.3, sequence = "halton" } },
  { "pooled", sc.sampler.pooled{ base = sc.sampler.gaussian{ gamma = 0.3 }, projections = 40 } },
}

-- Over independent seeds, the features' kernel has the declared one as its mean.
function TestKernelIsWhatFeaturesEstimate()
  local X, runs = sc.randn{ 8, 5, seed = 11 }, 100
  for _, case in ipairs(every) do
    local inst = with(case[2])
    local exact, values = inst:kernel(X, X), {}
    for seed = 1, runs do
      local k = inst:features{ T = 30, seed = seed }:fit(X):kernel(X, X)
      for i = 1, 8 do
        for j = 1, i - 1 do
          local key = i * 8 + j
          values[key] = values[key] or {}
          values[key][seed] = k:get(i, j)
        end
      end
    end
    for i = 2, 8 do
      for j = 1, i - 1 do
        local off = in_stderr(values[i * 8 + j], exact:get(i, j))
        lu.assertTrue(off < 5, ("%s: %.1f standard errors at (%d, %d)"):format(case[1], off, i, j))
      end
    end
  end
end

-- SORF's kernel is off by O(1/P): with P = 64 less than what 4096 features show.
function TestSorfIsNearlyGaussian()
  local X = sc.randn{ 20, 5, seed = 11 }
  local inst = with(sc.sampler.hadamard{ gamma = 0.3 })
  local exact, sum = inst:kernel(X, X), sc.zeros(20, 20)
  for seed = 1, 16 do sum = sum + inst:features{ T = 4096, seed = seed }:fit(X):kernel(X, X) end
  lu.assertTrue((sum * (1 / 16) - exact):norm() / 20 < 0.012)
end

-- Dependent rows lower the error: over 40 seeds, the mean square error is below that of independent
-- rows by more than 3 standard errors.
function TestDependentRowsHaveASmallerError()
  local X = sc.randn{ 10, 8, seed = 5 } * 0.5
  local function errors(p)
    local inst, list = with(p), {}
    local exact = inst:kernel(X, X)
    for seed = 1, 40 do
      list[seed] = (inst:features{ T = 64, seed = seed }:fit(X):kernel(X, X) - exact):norm() ^ 2
    end
    return list
  end
  local function moments(list)
    local sum, square = 0, 0
    for _, v in ipairs(list) do sum, square = sum + v, square + v * v end
    return sum / #list, (square / #list - (sum / #list) ^ 2) / (#list - 1)
  end
  local plain, plain_variance = moments(errors(sc.sampler.gaussian{ gamma = 0.3 }))
  for _, p in ipairs{ sc.sampler.orthogonal{ gamma = 0.3 }, sc.sampler.hadamard{ gamma = 0.3 },
    sc.sampler.qmc{ gamma = 0.3 } } do
    local mean, variance = moments(errors(p))
    lu.assertTrue(mean < plain - 3 * math.sqrt(variance + plain_variance),
      ("%s: %g, independent rows %g"):format(tostring(p), mean, plain))
  end
end

function TestAShorterSampleIsTheBeginningOfALongerOne()
  for _, case in ipairs(every) do
    local long, short = sample(case[2], 150, 7, 3), sample(case[2], 37, 7, 3)
    for t = 1, 37 do
      for j = 1, long:cols() do lu.assertEquals(short:get(t, j), long:get(t, j), case[1]) end
    end
    lu.assertTrue((sample(case[2], 150, 7, 4) - long):norm() > 0, case[1] .. ": seeds differ")
  end
end

function TestRowsOfZerosAndHugeRows()
  local X = sc.matrix{ { 0, 0, 0, 0, 0 }, { 1e300, 0, 0, 0, -1e300 }, { 1e-300, 0, 1e-300, 0, 0 } }
  for _, case in ipairs(every) do
    local Z = sc.instantiation{ p = case[2], phi = sc.nonlinearity.sign() }:features{ T = 20,
      seed = 1 }:fit(X):transform(X)
    for j = 1, 20 do
      lu.assertAlmostEquals(Z:get(1, j), 1 / math.sqrt(20), 1e-15)
      for i = 2, 3 do lu.assertAlmostEquals(math.abs(Z:get(i, j)), 1 / math.sqrt(20), 1e-15) end
    end
    local k = with(case[2]):kernel(X, X)
    lu.assertAlmostEquals(k:get(1, 1), 1, 1e-12)
    lu.assertAlmostEquals(k:get(1, 3), 1, 1e-12)
    lu.assertTrue(math.abs(k:get(1, 2)) <= 1, case[1])
  end
end

function TestRefusalsSayWhatIsTaken()
  local sparse, pooled = sc.sampler.sparse, sc.sampler.pooled
  lu.assertErrorMsgContains("degree", sparse, { degree = 2.5 })
  lu.assertErrorMsgContains("one probability in [0, 1], and got 1.5", sparse,
    { degree = { binomial = 1.5 } })
  lu.assertErrorMsgContains("sum to 0.7", sparse, { degree = { table = { 0.5, 0.2 } } })
  lu.assertErrorMsgContains("P(0) = -0.5", sparse, { degree = { table = { -0.5, 1.5 } } })
  lu.assertErrorMsgContains("fixed in-degree", sparse,
    { degree = { binomial = 0.5 }, biregular = true })
  lu.assertErrorMsgContains("asks for 3 columns in each parameter, and the data have 2", sample,
    sparse{ degree = 3 }, 4, 2)
  lu.assertErrorMsgContains("up to 3 columns in each parameter, and the data have 2", sample,
    sparse{ degree = { table = { 0, 0, 0, 1 } } }, 4, 2)
  -- no mass beyond
  lu.assertEquals(sample(sparse{ degree = { table = { 0, 1, 0, 0 } } }, 4, 2):cols(), 2)
  lu.assertErrorMsgContains("\"halton\" takes any number", sample, sc.sampler.qmc(), 4, 1112)
  lu.assertErrorMsgContains("give one", sc.sampler.orthogonal, { sigma = 1, gamma = 1 })
  lu.assertErrorMsgContains("takes independent ones", sample,
    pooled{ base = sc.sampler.orthogonal() }, 4, 5)
  lu.assertErrorMsgContains("are not dense", sample, pooled{ base = sc.sampler.sparse() }, 4,
    5)
  lu.assertErrorMsgContains("depend on each other", sample, pooled{ base = sc.sampler.qmc() }, 4, 5)
end

os.exit(lu.LuaUnit.run(), true)

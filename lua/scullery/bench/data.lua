--- scullery bench data: ridge on dense features, searches, reading a file, and how the cost grows
--- with the number of rows.
local choose = require "scullery.compose.choose"
local component = require "scullery.compose.component"
local core = require "scullery.core"
local instantiation = require "scullery.compose.instantiation"
local measure = require "scullery.bench.measure"
local named = require "scullery.data"
local pipeline = require "scullery.model.pipeline"
local stages = require "scullery.compose.stages"

local samplers = component.group "sampler"
local nonlinearities = component.group "nonlinearity"
local kernels = component.group "kernel"
local learners = component.group "solver"

local floor = measure.floor
local data = {}

-- The number type of the lower limit: whole numbers are compared with float32.
local function limit_of(dtype) return dtype == "float64" and dtype or "float32" end

-- ------------ RKHS weighting 2

--- data.weighting{ dtype =, T =, sigma =, width = }: the features of an RKHS weighting over
--- thresholds, with sign and a Gaussian kernel K on the parameters. They are numbers, not bits.
function data.weighting(given)
  local inst = instantiation.new{ W = instantiation.space.threshold(),
    K = kernels.gaussian{ width = given.width or 1 },
    p = samplers.threshold{ sigma = given.sigma or 1 }, phi = nonlinearities.sign() }
  return inst:features{ T = given.T or 1000, seed = 0, dtype = given.dtype }
end

--- data.weighted(solver, given): a pipeline for adult: standardised columns, a bias column, the
--- features of data.weighting(given), a solver.
function data.weighted(solver, given)
  return pipeline.new{ stages.standardize(), stages.add_bias(), data.weighting(given or {}),
    solver }
end

--- data.ridge(lambda): ridge with the RKHS norm of the weighting as its penalty.
function data.ridge(lambda) return learners.ridge{ lambda = lambda, penalty = "rkhs" } end

local function adult() return (named.load("adult"):parts()) end

-- The length of the code that represents a row when T features are summed by the values of columns:
-- 1 for a constant, plus for each column the smaller of its number of distinct values less one and
-- its share of the features, T / (columns + 1).
local function codes(X, T)
  local each, count = T / (X:cols() + 1), 1
  for j = 1, X:cols() do
    local seen, values, column = {}, 0, X:column(j)
    for i = 1, #X do
      local v = column:get(i, 1)
      if not seen[v] then
        seen[v], values = true, values + 1
        if values > each then break end
      end
    end
    count = count + math.min(values - 1, each)
  end
  return count
end

-- Columns of random numbers, where no two rows share a value: every feature is computed.
local function numbers(report, case, quick)
  local n, dtype = 32768 // (quick and 4 or 1), case.dtype
  local X = core.randn{ n, 20, seed = 1 }
  local one = measure.best(5, function()
    pipeline.new{ data.weighting{ dtype = dtype }, data.ridge(1e-3) }:fit(X, X:column(1))
  end)
  one.id, one.what = case.id, ("%d x 20 numbers, RKHS weighting 2, T = 1000, %s"):format(n, dtype)
  one.floor = floor.ridge(limit_of(dtype), n, 0, 1000)
  report:row(one)
end

-- The best of several ridge fits, as measure.best gives it, with sums by values as they are set.
local function fit_ridge(dtype, train, times)
  return measure.best(times, function()
    data.weighted(data.ridge(1e-7), { dtype = dtype }):fit(train)
  end)
end

-- Ridge on adult with every feature computed.
local function made(report, case)
  local train = adult()
  local one = measure.without({ core.levels }, function()
    return fit_ridge(case.dtype, train, 5)
  end)
  one.id = case.id
  one.what = ("adult, RKHS weighting 2, T = 1000, %s, all features made"):format(case.dtype)
  one.floor = floor.ridge(limit_of(case.dtype), #train, 0, 1000)
  report:row(one)
end

--- data.value_floor(train, dtype, passes, factors): the floor in seconds of `passes` sums Phi'Phi
--- by values and of `factors` factorisations, for T = 1000 features.
function data.value_floor(train, dtype, passes, factors)
  return passes * floor.sums(dtype, #train, codes(train.X, 1000)) + floor.factors(1000, factors)
end

-- Ridge on adult, where columns have few values and Phi'Phi is summed by them.
local function values(report, case)
  local train = adult()
  local one = fit_ridge(case.dtype, train, 5)
  one.id, one.what = case.id, ("adult, RKHS weighting 2, T = 1000, %s, by values"):format(
    case.dtype)
  one.floor = data.value_floor(train, case.dtype, 1, 1)
  report:row(one)
end

local lambdas = { 1e-7, 1e-6, 1e-5, 1e-4, 1e-3 }

-- A search over the lambdas and the options case.inst of the features, with 5 folds and the refit.
-- `fits` is its time divided by that of one fit with every feature computed, measured beside it.
local function search(report, case)
  local train = adult()
  local fit = measure.without({ core.levels }, function()
    return fit_ridge("float64", train, 2)
  end).seconds
  local one = measure.best(case.times, function()
    data.weighted(data.ridge(choose(lambdas)), case.inst):search(train, { folds = 5 })
  end)
  one.id, one.what, one.fits = case.id, case.what, one.seconds / fit
  one.floor = data.value_floor(train, "float64", case.passes, case.factors)
  report:row(one)
end

-- ------------ other dense maps

--- data.digits(): the training and the test rows of MNIST, in float32.
function data.digits() return named.load("mnist", { dtype = "float32" }):parts() end

--- data.sinks(sampler, D[, dtype]): D Fourier features for MNIST ("random kitchen sinks"), in
--- float32 or another number type, with "gaussian" or "hadamard" rows.
function data.sinks(sampler, D, dtype)
  return instantiation.features{ p = samplers[sampler]{ gamma = 0.025 },
    phi = nonlinearities.fourier(), T = D, seed = 1, dtype = dtype or "float32" }
end

local function mnist(report, case)
  local train, test = data.digits()
  local one = measure.once(function()
    return pipeline.new{ data.sinks("gaussian", 5000, case.dtype),
      learners.ridge{ lambda = 1e-6 } }:fit(train)
  end)
  one.id = case.id
  one.what = ("MNIST 60,000 x 784, Fourier D = 5000, %s, ridge"):format(case.dtype)
  one.error = one.result:error(test)
  one.note = ("test error %.4f"):format(one.error)
  one.floor = floor.ridge("float32", 60000, 784, 5000)
  report:row(one)
end

-- ------------ reading, rows

-- Reading a compressed CSV file; the floor is reading its bytes alone, the better of two runs.
local function reading(report, case)
  local one = measure.best(6, function() named.load("kddcup10") end)
  local path = named.path("kddcup10")[1]
  one.id, one.what = case.id, "reading kddcup10 (494,021 rows, gzip, one-hot)"
  one.first_over_best = one.first / one.seconds
  one.floor = math.min(core.ceiling_file(path), (core.ceiling_file(path)))
  one.note = ("first %.3f s, %.2f times the best"):format(one.first, one.first_over_best)
  report:row(one)
end

-- Ridge on case.n generated rows, which are never all in memory: the seconds for each row and the
-- peak of memory should not depend on n.
local function generated(report, case)
  local n = case.n
  local rows = named.rows{ n = n, d = 20, read = function(first, count)
    local X = core.randn{ count, 20, seed = first }
    return X, X:column(1):copy()
  end }
  local one = measure.once(function()
    pipeline.new{ instantiation.features{ p = samplers.gaussian{ sigma = 0.3 },
      phi = nonlinearities.fourier(), T = 500, dtype = "float32" },
      learners.ridge{ lambda = 1e-4 } }:fit(rows)
  end)
  one.id, one.what = case.id, ("generated rows, n = %d, d = 20, D = 500"):format(n)
  one.note = ("%.2f us a row"):format(one.seconds / n * 1e6)
  one.floor = floor.ridge("float32", n, 20, 500)
  report:row(one)
end

-- ------------ texts

-- Word number `rank`, from 1: its digits in base 26 as letters, at least two, most words longer.
local function word_of(rank)
  local letters, rest = {}, rank * 7919 % 308915776
  repeat
    letters[#letters + 1] = string.char(97 + rest % 26)
    rest = rest // 26
  until rest == 0 and #letters > 1
  return table.concat(letters)
end

--- data.texts(n): a list of n texts of 150 words each, drawn from 50,000 words with probabilities
--- of about 1/rank.
function data.texts(n)
  local list, u = {}, core.rand{ n, 150, seed = 1 }
  for i = 1, n do
    local words = {}
    for k = 1, 150 do words[k] = word_of(math.floor(50000 ^ u:get(i, k))) end
    list[i] = table.concat(words, " ") .. "."
  end
  return list
end

-- Sparse rows of texts by hashing; the floor is reading their bytes.
local function words(report, case, quick)
  local texts = core.texts(data.texts(quick and 2000 or 20000))
  local encoder = core.text_encoder{ least = 1, most = case.most, bits = 20 }
  local one = measure.best(5, function() return core.text_encode(encoder, texts) end)
  one.id, one.what = case.id, ("%.3g MB of text, %s hashed to 2^20 columns"):format(
    texts:bytes() / 1e6, case.what)
  one.floor = floor.read(texts:bytes())
  one.note = ("%.0f MB a second"):format(texts:bytes() / 1e6 / one.seconds)
  report:row(one)
end

data.cases = {
  { id = "numbers_float64", run = numbers, dtype = "float64" },
  { id = "numbers_float32", run = numbers, dtype = "float32" },
  { id = "adult_made_float64", needs = "adult", run = made, dtype = "float64" },
  { id = "adult_made_float32", needs = "adult", run = made, dtype = "float32" },
  { id = "adult_made_int16", needs = "adult", run = made, dtype = "int16" },
  { id = "adult_made_int8", needs = "adult", run = made, dtype = "int8" },
  { id = "adult_values_float64", needs = "adult", run = values, dtype = "float64" },
  { id = "adult_values_float32", needs = "adult", run = values, dtype = "float32" },
  { id = "search_lambda", needs = "adult", run = search, inst = {},
    what = "adult, 5 lambdas x 5 folds and the refit", times = 2, passes = 1, factors = 26 },
  { id = "search_whole", needs = "adult", slow = true, run = search,
    what = "adult, 9 widths x 5 lambdas x 5 folds and the refit",
    inst = { sigma = choose{ 0.5, 1, 2 }, width = choose{ 0.5, 1, 2 } },
    times = 1, passes = 9, factors = 226 },
  { id = "mnist_ridge", needs = "mnist", slow = true, run = mnist, dtype = "float32" },
  { id = "mnist_ridge_int16", needs = "mnist", slow = true, run = mnist, dtype = "int16" },
  { id = "mnist_ridge_int8", needs = "mnist", slow = true, run = mnist, dtype = "int8" },
  { id = "reading", needs = "kddcup10", run = reading },
  { id = "words", run = words, most = 1, what = "words" },
  { id = "word_pairs", run = words, most = 2, what = "words and pairs" },
  { id = "rows_10000", run = generated, n = 10000 },
  { id = "rows_100000", slow = true, run = generated, n = 100000 },
  { id = "rows_1000000", slow = true, run = generated, n = 1000000 },
}

return data

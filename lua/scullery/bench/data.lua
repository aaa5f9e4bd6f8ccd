--- scullery bench data: ridge on dense features, searches, reading a file, cost by rows.
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

-- ---------------------------------------------------------------- RKHS weighting 2

--- data.weighting{ dtype =, T =, sigma =, width = }: thresholds, sign, a Gaussian K: features are
--- numbers.
function data.weighting(given)
  local inst = instantiation.new{ W = instantiation.space.threshold(),
    K = kernels.gaussian{ width = given.width or 1 },
    p = samplers.threshold{ sigma = given.sigma or 1 }, phi = nonlinearities.sign() }
  return inst:features{ T = given.T or 1000, seed = 0, dtype = given.dtype }
end

--- data.weighted(solver, given): the pipeline of the rows on adult.
function data.weighted(solver, given)
  return pipeline.new{ stages.standardize(), stages.add_bias(), data.weighting(given or {}),
    solver }
end

function data.ridge(lambda) return learners.ridge{ lambda = lambda, penalty = "rkhs" } end

local function adult() return (named.load("adult"):parts()) end

local function all_made(f)
  core.levels(false)
  local ok, result = pcall(f)
  core.levels(true)
  return ok and result or error(result, 0)
end

-- Numbers that stand for a row when T features are summed by the values of columns: a constant, the
-- features of columns with more values than features, and the values of others but one.
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

local function numbers(dtype)
  return function(report, id, quick)
    local n = 32768 // (quick and 4 or 1)
    local X = core.randn{ n, 20, seed = 1 }
    local one = measure.best(5, function()
      pipeline.new{ data.weighting{ dtype = dtype }, data.ridge(1e-3) }:fit(X, X:column(1))
    end)
    one.id, one.what = id, ("%d x 20 numbers, RKHS weighting 2, T = 1000, %s"):format(n, dtype)
    one.floor = function() return floor.ridge(dtype, n, 0, 1000) end
    report:row(one)
  end
end

local function fit_made(dtype, train, times)
  return all_made(function()
    return measure.best(times, function()
      data.weighted(data.ridge(1e-7), { dtype = dtype }):fit(train)
    end)
  end)
end

local function made(dtype)
  return function(report, id)
    local train = adult()
    local one = fit_made(dtype, train, 5)
    one.id = id
    one.what = ("adult, RKHS weighting 2, T = 1000, %s, all features made"):format(dtype)
    one.floor = function() return floor.ridge(dtype, #train, 0, 1000) end
    report:row(one)
  end
end

--- data.value_floor(train, dtype, passes, factors): a function that gives the seconds of so many
--- sums Phi'Phi by values, and of so many factorisations.
function data.value_floor(train, dtype, passes, factors)
  return function()
    return passes * floor.sums(dtype, #train, codes(train.X, 1000)) + floor.factors(1000, factors)
  end
end

local function values(dtype)
  return function(report, id)
    local train = adult()
    local one = measure.best(5, function()
      data.weighted(data.ridge(1e-7), { dtype = dtype }):fit(train)
    end)
    one.id, one.what = id, ("adult, RKHS weighting 2, T = 1000, %s, by values"):format(dtype)
    one.floor = data.value_floor(train, dtype, 1, 1)
    report:row(one)
  end
end

local lambdas = { 1e-7, 1e-6, 1e-5, 1e-4, 1e-3 }

-- Fits are those with all features made, measured beside it.
local function search(report, id, what, inst, times, passes, factors)
  local train = adult()
  local fit = fit_made("float64", train, 2).seconds
  local one = measure.best(times, function()
    data.weighted(data.ridge(choose(lambdas)), inst):search(train, { folds = 5 })
  end)
  one.id, one.what, one.fits = id, what, one.seconds / fit
  one.floor = data.value_floor(train, "float64", passes, factors)
  report:row(one)
end

local function lambda_search(report, id)
  search(report, id, "adult, 5 lambdas x 5 folds and the refit", {}, 2, 1, 26)
end

local function whole_search(report, id)
  search(report, id, "adult, 9 widths x 5 lambdas x 5 folds and the refit",
    { sigma = choose{ 0.5, 1, 2 }, width = choose{ 0.5, 1, 2 } }, 1, 9, 226)
end

-- ---------------------------------------------------------------- other dense maps

--- data.digits(): MNIST in float32, both parts.
function data.digits() return named.load("mnist", { dtype = "float32" }):parts() end

--- data.sinks(sampler, D): their Fourier features.
function data.sinks(sampler, D)
  return instantiation.features{ p = samplers[sampler]{ gamma = 0.025 },
    phi = nonlinearities.fourier(), T = D, seed = 1, dtype = "float32" }
end

local function mnist(report, id)
  local train, test = data.digits()
  local one = measure.once(function()
    return pipeline.new{ data.sinks("gaussian", 5000), learners.ridge{ lambda = 1e-6 } }:fit(train)
  end)
  one.id, one.what = id, "MNIST 60,000 x 784, Fourier D = 5000, float32, ridge"
  one.error = one.result:error(test)
  one.note = ("test error %.4f"):format(one.error)
  one.floor = function() return floor.ridge("float32", 60000, 784, 5000) end
  report:row(one)
end

-- ---------------------------------------------------------------- reading, rows

local function reading(report, id)
  local one = measure.best(6, function() named.load("kddcup10") end)
  local path = named.path("kddcup10")[1]
  one.id, one.what = id, "reading kddcup10 (494,021 rows, gzip, one-hot)"
  one.first_over_best = one.first / one.seconds
  one.floor = math.min(core.ceiling_file(path), (core.ceiling_file(path)))
  one.note = ("first %.3f s, %.2f times the best"):format(one.first, one.first_over_best)
  report:row(one)
end

-- Generated rows: cost linear in n, memory flat.
local function linear(n)
  return function(report, id)
    local rows = named.rows{ n = n, d = 20, read = function(first, count)
      local X = core.randn{ count, 20, seed = first }
      return X, X:column(1):copy()
    end }
    local one = measure.once(function()
      pipeline.new{ instantiation.features{ p = samplers.gaussian{ sigma = 0.3 },
        phi = nonlinearities.fourier(), T = 500, dtype = "float32" },
                   learners.ridge{ lambda = 1e-4 } }:fit(rows)
    end)
    one.id, one.what = id, ("generated rows, n = %d, d = 20, D = 500"):format(n)
    one.note = ("%.2f us a row"):format(one.seconds / n * 1e6)
    one.floor = function() return floor.ridge("float32", n, 20, 500) end
    report:row(one)
  end
end

data.cases = {
  { id = "numbers_float64", run = numbers "float64" },
  { id = "numbers_float32", run = numbers "float32" },
  { id = "adult_made_float64", needs = "adult", run = made "float64" },
  { id = "adult_made_float32", needs = "adult", run = made "float32" },
  { id = "adult_values_float64", needs = "adult", run = values "float64" },
  { id = "adult_values_float32", needs = "adult", run = values "float32" },
  { id = "search_lambda", needs = "adult", run = lambda_search },
  { id = "search_whole", needs = "adult", slow = true, run = whole_search },
  { id = "mnist_ridge", needs = "mnist", slow = true, run = mnist },
  { id = "reading", needs = "kddcup10", run = reading },
  { id = "rows_10000", run = linear(10000) },
  { id = "rows_100000", slow = true, run = linear(100000) },
  { id = "rows_1000000", slow = true, run = linear(1000000) },
}

return data

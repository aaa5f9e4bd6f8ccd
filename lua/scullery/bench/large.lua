--- scullery bench large: rows that take half a minute or longer each, or gigabytes of memory.
local bits = require "scullery.bench.bits"
local component = require "scullery.compose.component"
local data = require "scullery.bench.data"
local instantiation = require "scullery.compose.instantiation"
local measure = require "scullery.bench.measure"
local named = require "scullery.data"
local pipeline = require "scullery.model.pipeline"
local solvers = require "scullery.bench.solvers"
local stages = require "scullery.compose.stages"

local samplers = component.group "sampler"
local nonlinearities = component.group "nonlinearity"
local kernels = component.group "kernel"
local learners = component.group "solver"

local floor, case = measure.floor, solvers.case

-- One iteration of L-BFGS: the difference between a fit of `many` iterations and one of `few`,
-- divided by their difference, so that the common start of both cancels. allowance: bytes for
-- stored features; bytes: the size of a stored feature, nil where features are computed again.
local function logistic(given)
  local train, few, many, bytes = data.digits(), given.few, given.many, given.bytes
  local function run(iterations)
    return measure.once(function()
      return pipeline.new{ data.sinks("gaussian", 5000), learners.logistic{ lambda = 1e-6,
        max_iterations = iterations }, allowance = given.allowance }:fit(train)
    end)
  end
  local less, more = run(few), run(many)
  return { seconds = (more.seconds - less.seconds) / (many - few),
    processors = (more.processors - less.processors) / (many - few), peak = more.peak,
    floor = floor.sweep("float32", #train, 5000, 10, bytes)
      + (bytes and 0 or floor.project("float32", #train, 784, 5000)) }
end

-- Lasso on an RKHS weighting whose features are dense float64 numbers.
local function skin()
  local ds = named.load "skin"
  local one = measure.best(2, function()
    return pipeline.new{ stages.standardize(), stages.add_bias(), instantiation.new{
      K = kernels.gaussian{ theta = 0.5 }, p = samplers.gaussian{ sigma = 1 },
      phi = nonlinearities.sign() }:features{ T = 1000, seed = 0 },
      learners.lasso{ lambda = 1e-6 } }:fit(ds)
  end)
  one.floor = floor.ridge("float64", #ds, 4, 1000)
  return one
end

-- The stochastic algorithms that draw one more parameter in each of T steps. A step computes the
-- features drawn so far on a batch of 100 rows, so that T steps take 100 T^2 / 2 feature values.
local function descent(given)
  local train, T = bits.rows "adult", given.T
  local one = measure.once(function()
    return data.weighted(learners[given.name]{ lambda = 1e-5, batch = 100, iterations = T },
      { T = T }):fit(train)
  end)
  one.note = ("%.1f ns a row, step and parameter"):format(one.seconds / T ^ 2 / 100 * 2e9)
  return one
end

local large = { cases = {
  { id = "kddcup10_stumps_numbers", needs = "kddcup10", slow = true,
    run = bits.ridge, T = 2000, times = 1, numbers = true },
  { id = "skin_stumps_numbers", needs = "skin", slow = true,
    run = bits.ridge, T = 5000, times = 1, numbers = true },
  case(solvers.kernel_ridge, { id = "kernel_ridge_20000", needs = "adult", slow = true,
    rows = 20000, lambda = 1e-5, what = "adult, 20,000 rows: kernel_ridge, one lambda" }),
  case(solvers.cg, { id = "cg_40000", needs = "mnist", slow = true, sampler = "hadamard",
    D = 40000, tolerance = 1e-2, kept = false,
    what = "MNIST, Hadamard rows, D = 40,000, float32: cg" }),
  case(logistic, { id = "logistic_kept", needs = "mnist", slow = true, allowance = 1.5e9, few = 5,
    many = 25, bytes = 4, what = "MNIST, D = 5000: an L-BFGS iteration, features kept" }),
  case(logistic, { id = "logistic_made", needs = "mnist", slow = true, allowance = 0, few = 1,
    many = 4, what = "MNIST, D = 5000: an L-BFGS iteration, features made again" }),
  case(skin, { id = "skin_lasso", needs = "skin", slow = true,
    what = "skin, RKHS weighting 1, T = 1000: lasso, lambda = 1e-6" }),
} }

for _, name in ipairs{ "sfgd", "optimal_stepsize" } do
  for _, T in ipairs{ 1000, 4000 } do
    table.insert(large.cases, case(descent, { id = ("%s_%d"):format(name, T), needs = "adult",
      slow = true, name = name, T = T, what = ("adult, RKHS weighting 2: %s, T = %d"):format(name,
        T) }))
  end
end

return large

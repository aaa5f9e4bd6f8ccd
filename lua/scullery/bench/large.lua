--- scullery bench large: rows that take half a minute or longer each, or gigabytes.
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

-- An iteration of L-BFGS: the difference between many and few.
local function logistic(allowance, few, many, bytes)
  return function()
    local train = data.digits()
    local function run(iterations)
      return measure.once(function()
        return pipeline.new{ data.sinks("gaussian", 5000), learners.logistic{ lambda = 1e-6,
          max_iterations = iterations }, allowance = allowance }:fit(train)
      end)
    end
    local less, more = run(few), run(many)
    return { seconds = (more.seconds - less.seconds) / (many - few),
      processors = (more.processors - less.processors) / (many - few), peak = more.peak,
      floor = function()
        return floor.sweep("float32", #train, 5000, 10, bytes)
          + (bytes and 0 or floor.project("float32", #train, 784, 5000))
      end }
  end
end

local function skin()
  local ds = named.load "skin"
  local one = measure.best(2, function()
    return pipeline.new{ stages.standardize(), stages.add_bias(), instantiation.new{
      K = kernels.gaussian{ theta = 0.5 }, p = samplers.gaussian{ sigma = 1 },
      phi = nonlinearities.sign() }:features{ T = 1000, seed = 0 },
      learners.lasso{ lambda = 1e-6 } }:fit(ds)
  end)
  one.floor = function() return floor.ridge("float64", #ds, 4, 1000) end
  return one
end

-- The authors' algorithms of one parameter a step.
local function descent(name, T)
  return function()
    local train = bits.rows "adult"
    local one = measure.once(function()
      return data.weighted(learners[name]{ lambda = 1e-5, batch = 100, iterations = T },
        { T = T }):fit(train)
    end)
    one.note = ("%.1f ns a row, step and parameter"):format(one.seconds / T ^ 2 / 100 * 2e9)
    return one
  end
end

-- Bytes of a feature that is kept.
local KEPT = 4

local large = { cases = {
  { id = "kddcup10_stumps_numbers", needs = "kddcup10", slow = true,
    run = bits.ridge("kddcup10", 2000, 1, true) },
  { id = "skin_stumps_numbers", needs = "skin", slow = true,
    run = bits.ridge("skin", 5000, 1, true) },
  case("kernel_ridge_20000", "adult, 20,000 rows: kernel_ridge, one lambda", "adult",
    solvers.kernel_ridge(20000, 1e-5), true),
  case("cg_40000", "MNIST, Hadamard rows, D = 40,000, float32: cg", "mnist",
    solvers.cg("hadamard", 40000, 1e-2, false), true),
  case("logistic_kept", "MNIST, D = 5000: an L-BFGS iteration, features kept", "mnist",
    logistic(1.5e9, 5, 25, KEPT), true),
  case("logistic_made", "MNIST, D = 5000: an L-BFGS iteration, features made again", "mnist",
    logistic(0, 1, 4, nil), true),
  case("skin_lasso", "skin, RKHS weighting 1, T = 1000: lasso, lambda = 1e-6", "skin", skin, true),
} }

for _, name in ipairs{ "sfgd", "optimal_stepsize" } do
  for _, T in ipairs{ 1000, 4000 } do
    table.insert(large.cases, case(("%s_%d"):format(name, T),
      ("adult, RKHS weighting 2: %s, T = %d"):format(name, T), "adult", descent(name, T), true))
  end
end

return large

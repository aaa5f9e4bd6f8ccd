--- scullery bench bits: features that take two values, as bits and as numbers, in one run.
local component = require "scullery.compose.component"
local core = require "scullery.core"
local instantiation = require "scullery.compose.instantiation"
local measure = require "scullery.bench.measure"
local named = require "scullery.data"
local pipeline = require "scullery.model.pipeline"
local stages = require "scullery.compose.stages"

local samplers = component.group "sampler"
local nonlinearities = component.group "nonlinearity"
local learners = component.group "solver"

local floor = measure.floor

local function gram(features)
  return function(report, id, quick)
    local rows = 32768 // (quick and 4 or 1)
    local numbers, openblas, bits = core.ceiling_gram(rows, features)
    report:row{ id = id, seconds = bits, floor = function() return floor.counts(rows, features) end,
      what = ("Phi'Phi of %d x %d bits"):format(rows, features), numbers = numbers,
      openblas = openblas, ssyrk_over_time = openblas / bits,
      note = ("float32 numbers %.3f s; OpenBLAS's ssyrk %.3f s, %.1f times as long"):format(numbers,
        openblas, openblas / bits) }
  end
end

local bits = {}

--- bits.stumps(T, solver): the pipeline of these rows.
function bits.stumps(T, solver)
  local features = instantiation.features{ p = samplers.threshold{ sigma = 1 },
    phi = nonlinearities.sign(), T = T, seed = 1, dtype = "float32" }
  return pipeline.new{ stages.standardize(), features, solver }
end

--- bits.rows(name): its training rows.
function bits.rows(name)
  local ds = named.load(name)
  return name == "adult" and (ds:parts()) or ds
end

local function as_numbers(f)
  core.bits(false)
  core.levels(false)
  local ok, result = pcall(f)
  core.bits(true)
  core.levels(true)
  return ok and result or error(result, 0)
end

--- bits.ridge(name, T, times, numbers): a case: the fit with bits, `times` times; or with numbers.
function bits.ridge(name, T, times, numbers)
  return function(report, id)
    local train, p = bits.rows(name), bits.stumps(T, learners.ridge{ lambda = 1e-5 })
    local function fit()
      return measure.best(times, function() return p:fit(train) end)
    end
    local one = numbers and as_numbers(fit) or fit()
    one.id, one.what = id, ("%s, %d stumps, ridge%s"):format(name, T,
      numbers and ", features as float32 numbers" or "")
    one.note = ("accuracy in training %.4f"):format(one.result:score(train))
    one.floor = function()
      if numbers then return floor.ridge("float32", #train, 0, T) end
      return floor.counts(#train, T) + floor.factors(T) + floor.read(8 * #train * train.X:cols())
    end
    report:row(one)
  end
end

-- L-BFGS reads the bits of all features in every iteration.
local function logistic(report, id)
  local train, iterations = bits.rows "adult", 50
  local p = bits.stumps(1000, learners.logistic{ lambda = 1e-5, max_iterations = iterations })
  local one = measure.best(2, function() return p:fit(train) end)
  one.id, one.what = id, "adult, 1000 stumps, logistic, 50 iterations"
  one.iterations = one.result:info().iterations
  one.floor = function() return floor.read(one.iterations * #train * 1000 / 8) end
  report:row(one)
end

bits.cases = {}
for _, features in ipairs{ 1000, 2000, 5000 } do
  table.insert(bits.cases, { id = ("gram_%d"):format(features), run = gram(features) })
end
for _, case in ipairs{
  { id = "adult_stumps", needs = "adult", run = bits.ridge("adult", 1000, 3) },
  { id = "adult_stumps_numbers", needs = "adult", run = bits.ridge("adult", 1000, 2, true) },
  { id = "adult_stumps_logistic", needs = "adult", run = logistic },
  { id = "kddcup10_stumps", needs = "kddcup10", slow = true,
    run = bits.ridge("kddcup10", 2000, 1) },
  { id = "skin_stumps", needs = "skin", slow = true, run = bits.ridge("skin", 5000, 1) },
} do table.insert(bits.cases, case) end

return bits

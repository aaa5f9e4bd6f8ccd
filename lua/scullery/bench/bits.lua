--- scullery bench bits: features of two values, stored as bits and as numbers, and whole-number
--- features, in one run.
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

-- Phi'Phi of random bits with case.features columns: counted as bits, beside the engine's float32
-- sums and OpenBLAS's ssyrk on the same values.
local function gram(report, case, quick)
  local rows, features = 32768 // (quick and 4 or 1), case.features
  local numbers, openblas, seconds = core.ceiling_gram(rows, features)
  report:row{ id = case.id, seconds = seconds,
    floor = floor.counts(rows, features),
    what = ("Phi'Phi of %d x %d bits"):format(rows, features), numbers = numbers,
    openblas = openblas, ssyrk_over_time = openblas / seconds,
    note = ("float32 numbers %.3f s; OpenBLAS's ssyrk %.3f s, %.1f times as long"):format(numbers,
      openblas, openblas / seconds) }
end

-- Phi'Phi of case.rows x case.features whole numbers of case.dtype, beside OpenBLAS's ssyrk on as
-- many float32 numbers.
local function whole(report, case, quick)
  local rows, features = case.rows // (quick and 4 or 1), case.features
  local seconds, openblas = core.ceiling_whole(case.dtype, rows, features)
  report:row{ id = case.id, seconds = seconds, floor = floor.sums("float32", rows, features),
    what = ("Phi'Phi of %d x %d %s"):format(rows, features, case.dtype), openblas = openblas,
    ssyrk_over_time = openblas / seconds,
    note = ("OpenBLAS's ssyrk %.3f s; %.2f of its time"):format(openblas, seconds / openblas) }
end

local bits = {}

--- bits.stumps(T, solver): a pipeline of T random decision stumps in float32 and a solver.
function bits.stumps(T, solver)
  local features = instantiation.features{ p = samplers.threshold{ sigma = 1 },
    phi = nonlinearities.sign(), T = T, seed = 1, dtype = "float32" }
  return pipeline.new{ stages.standardize(), features, solver }
end

--- bits.rows(name): the training rows of a data set: the first part of adult, all rows of others.
function bits.rows(name)
  local ds = named.load(name)
  return name == "adult" and (ds:parts()) or ds
end

--- bits.ridge(report, case): fit case.T stumps with ridge on the data set case.needs, case.times
--- times. case.numbers = true: the features are float32 numbers in place of bits.
function bits.ridge(report, case)
  local T, numbers = case.T, case.numbers
  local train, p = bits.rows(case.needs), bits.stumps(T, learners.ridge{ lambda = 1e-5 })
  local function fit()
    return measure.best(case.times, function() return p:fit(train) end)
  end
  local one = numbers and measure.without({ core.bits, core.levels }, fit) or fit()
  one.id, one.what = case.id, ("%s, %d stumps, ridge%s"):format(case.needs, T,
    numbers and ", features as float32 numbers" or "")
  one.note = ("accuracy in training %.4f"):format(one.result:score(train))
  one.floor = numbers and floor.ridge("float32", #train, 0, T)
    or floor.counts(#train, T) + floor.factors(T) + floor.read(8 * #train * train.X:cols())
  report:row(one)
end

-- Logistic regression on 1000 stumps of adult: L-BFGS reads the bits of all features in every
-- iteration, which is the floor.
local function logistic(report, case)
  local train, iterations = bits.rows "adult", 50
  local p = bits.stumps(1000, learners.logistic{ lambda = 1e-5, max_iterations = iterations })
  local one = measure.best(2, function() return p:fit(train) end)
  one.id, one.what = case.id, "adult, 1000 stumps, logistic, 50 iterations"
  one.iterations = one.result:info().iterations
  one.floor = floor.read(one.iterations * #train * 1000 / 8)
  report:row(one)
end

bits.cases = {}
for _, features in ipairs{ 1000, 2000, 5000 } do
  table.insert(bits.cases, { id = ("gram_%d"):format(features), run = gram,
    features = features })
end
for _, size in ipairs{ { 32768, 1000 }, { 16384, 2000 }, { 8192, 5000 } } do
  for _, dtype in ipairs{ "int16", "int8" } do
    table.insert(bits.cases, { id = ("%s_gram_%d"):format(dtype, size[2]), run = whole,
      rows = size[1], features = size[2], dtype = dtype })
  end
end
for _, case in ipairs{
  { id = "adult_stumps", needs = "adult", run = bits.ridge, T = 1000, times = 3 },
  { id = "adult_stumps_numbers", needs = "adult", run = bits.ridge, T = 1000, times = 2,
    numbers = true },
  { id = "adult_stumps_logistic", needs = "adult", run = logistic },
  { id = "kddcup10_stumps", needs = "kddcup10", slow = true,
    run = bits.ridge, T = 2000, times = 1 },
  { id = "skin_stumps", needs = "skin", slow = true, run = bits.ridge, T = 5000,
    times = 1 },
} do table.insert(bits.cases, case) end

return bits

--- scullery bench solvers: what each way of learning costs, beside the products or the reading of
--- features that it cannot do without.
local bits = require "scullery.bench.bits"
local choose = require "scullery.compose.choose"
local component = require "scullery.compose.component"
local core = require "scullery.core"
local data = require "scullery.bench.data"
local dataset = require "scullery.data.dataset"
local instantiation = require "scullery.compose.instantiation"
local measure = require "scullery.bench.measure"
local named = require "scullery.data"
local pipeline = require "scullery.model.pipeline"
local recipe = require "scullery.model.recipe"
local stages = require "scullery.compose.stages"

local samplers = component.group "sampler"
local nonlinearities = component.group "nonlinearity"
local kernels = component.group "kernel"
local learners = component.group "solver"

local floor, solvers = measure.floor, {}

local function account(model)
  local info = model:info()
  return ("%s after %d, gap %s"):format(info.status, info.iterations,
    info.gap and ("%.0e"):format(info.gap) or "-")
end

local function training_of(p, ds)
  local source = dataset.source_of_targets(ds)
  local prepared = recipe.prepare(p, source)
  return core.training(source, prepared.stages, prepared.map, recipe.training_options(p, ds))
end

-- What the solver minimises, at the model that it found.
local function objective(model, ds)
  local found = model.fitted
  return core.objective(training_of(model, ds), component.instance(found.solver), found.weights,
    found:constant())
end

--- solvers.case(id, what, needs, run): run(quick) gives what measure.best gives, with the floor.
local function case(id, what, needs, run, slow)
  return { id = id, needs = needs, slow = slow, run = function(report, name, quick)
    local one = run(quick)
    one.id, one.what = name, what
    local model = one.result
    if type(model) == "table" and not one.note then
      one.note, one.iterations, one.gap = account(model), model:info().iterations, model:info().gap
    end
    report:row(one)
  end }
end
solvers.case = case

-- ---------------------------------------------------------------- adult

local function lasso(lambda)
  return function()
    local train = bits.rows "adult"
    local one = measure.best(3, function()
      return data.weighted(learners.lasso{ lambda = lambda }):fit(train)
    end)
    one.floor = data.value_floor(train, "float64", 1, 1)
    return one
  end
end

local function lasso_path()
  local train = bits.rows "adult"
  local lambdas = choose.log{ 1e-6, 1e-3, count = 50 }.values
  local one = measure.best(2, function()
    local p = data.weighted(learners.lasso())
    core.solve(training_of(p, train), component.instance(p.solver), 0, lambdas)
  end)
  one.floor = data.value_floor(train, "float64", 1, 1)
  return one
end

-- Learning in a box (RKS): drawn stumps, |alpha_t| <= 1, a constant; features kept.
local function box(loss)
  return function()
    local train, T = bits.rows "adult", 1000
    local one = measure.once(function()
      local features = instantiation.features{ p = samplers.threshold{ sigma = 1 },
        phi = nonlinearities.sign(), T = T, seed = 0 }
      return pipeline.new{ stages.standardize(), features, learners.box{ loss = loss, C = T ^ 1.5,
        intercept = true }, allowance = 1.5e9 }:fit(train)
    end)
    one.floor = function() return floor.sums("float64", #train, T) + floor.factors(T) end
    return one
  end
end

-- hinge and logistic to their default tolerance; every pass reads the features once.
local function linear(solver)
  return function()
    local train = bits.rows "adult"
    local one = measure.once(function() return bits.stumps(1000, solver):fit(train) end)
    local passes = one.result:info().iterations
    one.objective = objective(one.result, train)
    one.note = ("%s; objective %.6f"):format(account(one.result), one.objective)
    one.floor = function() return passes * floor.read(4 * #train * 1000) end
    return one
  end
end

local function adaboost()
  local train = bits.rows "adult"
  return measure.best(3, function()
    return pipeline.new{ learners.adaboost{ stumps = 200 } }:fit(train)
  end)
end

local function neighbours()
  local train, test = named.load("adult"):parts()
  local model = pipeline.new{ stages.standardize(), learners.knn{ k = 5 } }:fit(train)
  local accuracy
  local one = measure.best(2, function() accuracy = model:score(test) end)
  one.note = ("accuracy %.4f"):format(accuracy)
  one.floor = function() return floor.project("float64", #test, train.X:cols(), #train) end
  return one
end

-- ---------------------------------------------------------------- kernel machines

local machines = {
  adult = function() return bits.rows("adult"):subset(1, 8000), {}, true end,
  mnist17 = function() return (named.load("mnist17"):parts()), { gamma = 0.02 } end,
  letter = function()
    return (named.load("letter"):split{ test = 0.25, seed = 0 }), {}, true
  end,
}

-- The products of all rows with the support vectors, once.
local function svm(name)
  return function()
    local train, given, scaled = machines[name]()
    local list = { learners.svm(given) }
    if scaled then table.insert(list, 1, stages.standardize()) end
    local one = measure.best(3, function() return pipeline.new(list):fit(train) end)
    one.note = one.result:info().note
    local kept = tonumber(one.note:match "^%d+")
    one.floor = function() return floor.project("float64", #train, train.X:cols(), kept) end
    return one
  end
end

--- solvers.kernel_ridge(rows, lambda): the exact kernel on the first rows of adult. lambda: a
--- number, or a choice, judged on a tenth of the rows. The floor is K and one factorisation.
function solvers.kernel_ridge(rows, lambda)
  return function(quick)
    local train = bits.rows("adult"):subset(1, quick and 1000 or rows)
    local n, d = #train, train.X:cols()
    local p = pipeline.new{ stages.standardize(), learners.kernel_ridge{
      kernel = kernels.gaussian{ gamma = 1 / d }, lambda = lambda } }
    local one = measure.once(function()
      return type(lambda) == "number" and p:fit(train) or p:search(train, { holdout = 0.1 })
    end)
    one.bytes_an_entry = one.peak * 1e9 / n ^ 2
    one.note = ("%.1f bytes for each entry of K"):format(one.bytes_an_entry)
    one.floor = function() return floor.sums("float64", d, n) + floor.factors(n) end
    return one
  end
end

-- ---------------------------------------------------------------- MNIST

--- solvers.cg(sampler, D, tolerance, kept): kept: the features stay in memory.
function solvers.cg(sampler, D, tolerance, kept)
  return function()
    local train, test = data.digits()
    local one = measure.once(function()
      return pipeline.new{ data.sinks(sampler, D),
        learners.cg{ lambda = 1e-6, tolerance = tolerance } }:fit(train)
    end)
    local iterations = one.result:info().iterations
    one.error, one.iterations = one.result:error(test), iterations
    one.note = ("%s after %d; test error %.4f"):format(one.result:info().status, iterations,
      one.error)
    one.floor = function()
      return (sampler == "gaussian" and floor.project("float32", #train, 784, D) or 0)
        + iterations * floor.sweep("float32", #train, D, 10, kept and 4 or nil)
    end
    return one
  end
end

solvers.cases = {
  case("lasso_1e-4", "adult, RKHS weighting 2: lasso, lambda = 1e-4", "adult",
    lasso(1e-4)),
  case("lasso_1e-6", "adult, RKHS weighting 2: lasso, lambda = 1e-6", "adult", lasso(1e-6)),
  case("lasso_path", "adult, RKHS weighting 2: lasso, a path of 50 lambdas", "adult", lasso_path),
  case("box_hinge", "adult, 1000 stumps: box, hinge loss", "adult", box "hinge", true),
  case("box_logistic", "adult, 1000 stumps: box, logistic loss", "adult", box "logistic", true),
  case("hinge", "adult, 1000 stumps: hinge, lambda = 1e-4", "adult",
    linear(learners.hinge{ lambda = 1e-4 }), true),
  case("logistic", "adult, 1000 stumps: logistic, lambda = 1e-4", "adult",
    linear(learners.logistic{ lambda = 1e-4 }), true),
  case("svm_adult", "adult, 8,000 rows: svm", "adult", svm "adult"),
  case("svm_mnist17", "MNIST 1 v 7, 13,007 rows: svm", "mnist17", svm "mnist17"),
  case("svm_letter", "letter, 7,875 rows, 26 classes: svm", "letter", svm "letter"),
  case("kernel_ridge", "adult, 8,000 rows: kernel_ridge, 5 lambdas and the refit", "adult",
    solvers.kernel_ridge(8000, choose{ 1e-7, 1e-6, 1e-5, 1e-4, 1e-3 })),
  case("adaboost", "adult: AdaBoost, 200 stumps", "adult", adaboost),
  case("neighbours", "adult: 5 nearest neighbours, scoring 16,281 rows", "adult", neighbours),
  case("cg_gaussian", "MNIST, Gaussian rows, D = 5000, float32: cg", "mnist",
    solvers.cg("gaussian", 5000, 1e-3, true), true),
  case("cg_hadamard", "MNIST, Hadamard rows, D = 5000, float32: cg", "mnist",
    solvers.cg("hadamard", 5000, 1e-3, true), true),
}

return solvers

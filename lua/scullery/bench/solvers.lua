--- scullery bench solvers: the cost of each solver, beside the matrix products or the passes over
--- the features that it cannot avoid.
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

-- How the solver ended: status, iterations and duality gap.
local function account(model)
  local info = model:info()
  return ("%s after %d, gap %s"):format(info.status, info.iterations,
    info.gap and ("%.0e"):format(info.gap) or "-")
end

-- The engine's training problem of a pipeline on a data set, as p:fit builds it.
local function training_of(p, ds)
  local source = dataset.source_of_targets(ds)
  local prepared = recipe.prepare(p, source, recipe.row_weights(p, ds))
  return core.training(source, prepared.stages, prepared.map, recipe.training_options(p, ds))
end

-- The value of the solver's objective at the fitted model.
local function objective(model, ds)
  local found = model.fitted
  return core.objective(training_of(model, ds), component.instance(found.solver), found.weights,
    found:constant())
end

--- solvers.case(learn, case): completes a case of the bench, { id =, what = its description, needs
--- =, slow =, parameters }. learn(case, quick) returns a table as measure.best does, with the floor
--- added. Where it has no note, its result is a fitted model, which is described by its status.
function solvers.case(learn, case)
  case.run = function(report, _, quick)
    local one = learn(case, quick)
    one.id, one.what = case.id, case.what
    local model = one.result
    if type(model) == "table" and not one.note then
      one.note, one.iterations, one.gap = account(model), model:info().iterations, model:info().gap
    end
    report:row(one)
  end
  return case
end
local case = solvers.case

-- ------------ adult

local function lasso(given)
  local train = bits.rows "adult"
  local one = measure.best(3, function()
    return data.weighted(learners.lasso{ lambda = given.lambda }):fit(train)
  end)
  one.floor = data.value_floor(train, "float64", 1, 1)
  return one
end

-- Lasso at 50 values of lambda from one training problem, each started from the one before.
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

-- Random kitchen sinks with weights in a box: drawn stumps, |alpha_t| <= C / T, an intercept; the
-- features are stored.
local function box(given)
  local train, T = bits.rows "adult", 1000
  local one = measure.once(function()
    local features = instantiation.features{ p = samplers.threshold{ sigma = 1 },
      phi = nonlinearities.sign(), T = T, seed = 0 }
    return pipeline.new{ stages.standardize(), features, learners.box{ loss = given.loss,
      C = T ^ 1.5, intercept = true }, allowance = 1.5e9 }:fit(train)
  end)
  one.floor = floor.sums("float64", #train, T) + floor.factors(T)
  return one
end

-- A linear solver to its default tolerance; every iteration reads the stored features once.
local function linear(given)
  local train = bits.rows "adult"
  local one = measure.once(function() return bits.stumps(1000, given.solver):fit(train) end)
  local passes = one.result:info().iterations
  one.objective = objective(one.result, train)
  one.note = ("%s; objective %.6f"):format(account(one.result), one.objective)
  one.floor = passes * floor.read(4 * #train * 1000)
  return one
end

--- solvers.sparse_rows(): 24,000 sparse rows of 20,000 columns with some 50 numbers each, of which
--- a few columns have most, and classes by hidden weights and noise; the last 4000 are to judge on.
function solvers.sparse_rows()
  local n, d, count = 24000, 20000, 60
  local places, noise = core.rand{ n, count, seed = 1 }, core.randn{ n, 1, seed = 2 }
  local hidden, starts, indices, values, y = core.randn{ d, 1, seed = 3 }, { 0 }, {}, {}, {}
  for i = 1, n do
    local seen, row, score = {}, {}, 0
    for k = 1, count do
      local j = math.floor(d ^ places:get(i, k))
      if not seen[j] then row[#row + 1] = j end
      seen[j] = true
    end
    table.sort(row)
    for _, j in ipairs(row) do
      indices[#indices + 1], values[#values + 1] = j, (#row) ^ -0.5
      score = score + hidden:get(j + 1, 1) * (#row) ^ -0.5
    end
    starts[i + 1], y[i] = #indices, score + 0.3 * noise:get(i, 1) > 0 and 1 or -1
  end
  return dataset.new{ task = "classification", y = y, X = core.csr{ rows = n, columns = d,
    starts = starts, indices = indices, values = values } }
end

-- A linear solver on sparse rows; every iteration reads them once, or more.
local function sparse(given)
  local all = solvers.sparse_rows()
  local train, test = all:subset(1, 20000), all:subset(20001, #all)
  local one = measure.best(3, function()
    return pipeline.new{ learners[given.solver]{ lambda = 1e-5, loss = given.loss } }:fit(train)
  end)
  local p = one.result
  one.floor = p:info().iterations * floor.read(12 * train.X:nnz())
  one.objective, one.error = objective(p, train), p:error(test)
  one.note = ("%s; objective %.6f, error %.4f"):format(account(p), one.objective, one.error)
  return one
end

-- AdaBoost of decision stumps; no floor is known.
local function adaboost()
  local train = bits.rows "adult"
  return measure.best(3, function()
    return pipeline.new{ learners.adaboost{ stumps = 200 } }:fit(train)
  end)
end

-- Scoring by the 5 nearest neighbours: all distances between test and training rows are one
-- product.
local function neighbours()
  local train, test = named.load("adult"):parts()
  local model = pipeline.new{ stages.standardize(), learners.knn{ k = 5 } }:fit(train)
  local accuracy
  local one = measure.best(2, function() accuracy = model:score(test) end)
  one.note = ("accuracy %.4f"):format(accuracy)
  one.floor = floor.project("float64", #test, train.X:cols(), #train)
  return one
end

-- ------------ kernel machines

-- For each data set: its rows, the options of the solver, and whether columns are standardised.
local machines = {
  adult = function() return bits.rows("adult"):subset(1, 8000), { C = 1 }, true end,
  mnist17 = function() return (named.load("mnist17"):parts()), { C = 1, gamma = 0.02 } end,
  letter = function()
    return (named.load("letter"):split{ test = 0.25, seed = 0 }), { C = 1 }, true
  end,
}

-- A kernel SVM. The floor is the product of all rows with the support vectors, once.
local function svm(given)
  local train, chosen, scaled = machines[given.needs]()
  local list = { learners.svm(chosen) }
  if scaled then table.insert(list, 1, stages.standardize()) end
  local one = measure.best(3, function() return pipeline.new(list):fit(train) end)
  one.note = one.result:info().note
  local kept = tonumber(one.note:match "^%d+")
  one.floor = floor.project("float64", #train, train.X:cols(), kept)
  return one
end

--- solvers.kernel_ridge{ rows =, lambda = }: ridge with the exact kernel on the first rows of
--- adult. lambda: a number, or sc.choose, which is searched with a tenth of the rows held out. The
--- floor is that of the kernel matrix K and one factorisation.
function solvers.kernel_ridge(given, quick)
  local train = bits.rows("adult"):subset(1, quick and 1000 or given.rows)
  local n, d, lambda = #train, train.X:cols(), given.lambda
  local p = pipeline.new{ stages.standardize(), learners.kernel_ridge{
    kernel = kernels.gaussian{ gamma = 1 / d }, lambda = lambda } }
  local one = measure.once(function()
    return type(lambda) == "number" and p:fit(train) or p:search(train, { holdout = 0.1 })
  end)
  one.bytes_an_entry = one.peak * 1e9 / n ^ 2
  one.note = ("%.1f bytes for each entry of K"):format(one.bytes_an_entry)
  one.floor = floor.sums("float64", d, n) + floor.factors(n)
  return one
end

-- ------------ MNIST

--- solvers.cg{ sampler =, D =, tolerance =, kept = }: ridge by conjugate gradients on MNIST with D
--- features. kept: the floor is that of features stored in memory, in 4 bytes each.
function solvers.cg(given)
  local sampler, D, train, test = given.sampler, given.D, data.digits()
  local one = measure.once(function()
    return pipeline.new{ data.sinks(sampler, D),
      learners.cg{ lambda = 1e-6, tolerance = given.tolerance } }:fit(train)
  end)
  local iterations = one.result:info().iterations
  one.error, one.iterations = one.result:error(test), iterations
  one.note = ("%s after %d; test error %.4f"):format(one.result:info().status, iterations,
    one.error)
  one.floor = (sampler == "gaussian" and floor.project("float32", #train, 784, D) or 0)
    + iterations * floor.sweep("float32", #train, D, 10, given.kept and 4 or nil)
  return one
end

local lambdas = choose{ 1e-7, 1e-6, 1e-5, 1e-4, 1e-3 }

solvers.cases = {
  case(lasso, { id = "lasso_1e-4", needs = "adult", lambda = 1e-4,
    what = "adult, RKHS weighting 2: lasso, lambda = 1e-4" }),
  case(lasso, { id = "lasso_1e-6", needs = "adult", lambda = 1e-6,
    what = "adult, RKHS weighting 2: lasso, lambda = 1e-6" }),
  case(lasso_path, { id = "lasso_path", needs = "adult",
    what = "adult, RKHS weighting 2: lasso, a path of 50 lambdas" }),
  case(box, { id = "box_hinge", needs = "adult", slow = true, loss = "hinge",
    what = "adult, 1000 stumps: box, hinge loss" }),
  case(box, { id = "box_logistic", needs = "adult", slow = true, loss = "logistic",
    what = "adult, 1000 stumps: box, logistic loss" }),
  case(linear, { id = "hinge", needs = "adult", slow = true,
    solver = learners.hinge{ lambda = 1e-4 }, what = "adult, 1000 stumps: hinge, lambda = 1e-4" }),
  case(linear, { id = "logistic", needs = "adult", slow = true,
    solver = learners.logistic{ lambda = 1e-4 },
    what = "adult, 1000 stumps: logistic, lambda = 1e-4" }),
  case(sparse, { id = "sparse_hinge", solver = "hinge",
    what = "20,000 x 20,000 sparse rows: hinge, lambda = 1e-5" }),
  case(sparse, { id = "sparse_squared_hinge", solver = "hinge", loss = "squared_hinge",
    what = "20,000 x 20,000 sparse rows: squared hinge, lambda = 1e-5" }),
  case(sparse, { id = "sparse_logistic", solver = "logistic",
    what = "20,000 x 20,000 sparse rows: logistic, lambda = 1e-5" }),
  case(svm, { id = "svm_adult", needs = "adult", what = "adult, 8,000 rows: svm" }),
  case(svm, { id = "svm_mnist17", needs = "mnist17", what = "MNIST 1 v 7, 13,007 rows: svm" }),
  case(svm, { id = "svm_letter", needs = "letter",
    what = "letter, 7,875 rows, 26 classes: svm" }),
  case(solvers.kernel_ridge, { id = "kernel_ridge", needs = "adult", rows = 8000,
    lambda = lambdas, what = "adult, 8,000 rows: kernel_ridge, 5 lambdas and the refit" }),
  case(adaboost, { id = "adaboost", needs = "adult", what = "adult: AdaBoost, 200 stumps" }),
  case(neighbours, { id = "neighbours", needs = "adult",
    what = "adult: 5 nearest neighbours, scoring 16,281 rows" }),
  case(solvers.cg, { id = "cg_gaussian", needs = "mnist", slow = true, sampler = "gaussian",
    D = 5000, tolerance = 1e-3, kept = true,
    what = "MNIST, Gaussian rows, D = 5000, float32: cg" }),
  case(solvers.cg, { id = "cg_hadamard", needs = "mnist", slow = true, sampler = "hadamard",
    D = 5000, tolerance = 1e-3, kept = true,
    what = "MNIST, Hadamard rows, D = 5000, float32: cg" }),
}

return solvers

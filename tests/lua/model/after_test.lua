-- Row stages after features, against the same work done by hand: the features as a matrix, the
-- stage on its columns or rows, and the solver on the result.
local lu = require "luaunit"
local sc = require "scullery"
package.path = (os.getenv "SCULLERY_SOURCE" or ".") .. "/tests/helpers/?.lua;" .. package.path
local support, model_file = require "support", require "model_file"
local fails = support.fails

local n = 240
local X = sc.randn{ n, 4, seed = 1 }
local y = X:column(1) + X:column(2):mul(X:column(3)) + sc.randn{ n, 1, seed = 2 } * 0.3
local ds = sc.dataset{ X = X, y = y, task = "regression" }
local signs = sc.dataset{ X = X, y = y:map(function(v) return v > 0 and 1 or 0 end),
  task = "classification" }

-- Features with offsets and unlike scales.
local function features(given)
  given = given or {}
  given.p = given.p or sc.sampler.gaussian{ sigma = 0.8 }
  given.phi, given.seed, given.T = given.phi or sc.nonlinearity.logistic(), 3, given.T or 30
  return sc.features(given)
end

local function raw(given, data) return features(given):fit(X):transform(data or X) end

-- ------------ the stages by hand

local by_hand = {}

-- Each takes the features learnt from and those to be changed.
function by_hand.standardize(Z, W)
  local out = W:copy()
  for j = 1, Z:cols() do
    local mean, sum = Z:column(j):mean(), 0
    for i = 1, Z:rows() do sum = sum + (Z:get(i, j) - mean) ^ 2 end
    for i = 1, W:rows() do
      out:set(i, j, (W:get(i, j) - mean) / math.sqrt(sum / Z:rows()))
    end
  end
  return out
end

function by_hand.minmax(Z, W)
  local out = W:copy()
  for j = 1, Z:cols() do
    local low, high = Z:column(j):min(), Z:column(j):max()
    for i = 1, W:rows() do out:set(i, j, (W:get(i, j) - low) / (high - low)) end
  end
  return out
end

function by_hand.normalize(_, W)
  local out = W:copy()
  for i = 1, W:rows() do
    local size = W:row(i):norm()
    for j = 1, W:cols() do out:set(i, j, W:get(i, j) / size) end
  end
  return out
end

local columns = { 7, 2, 30, 11 }

function by_hand.select(_, W)
  local out = sc.zeros(W:rows(), #columns)
  for k, column in ipairs(columns) do
    for i = 1, W:rows() do out:set(i, k, W:get(i, column)) end
  end
  return out
end

local make = { standardize = sc.standardize, minmax = sc.minmax, normalize = sc.normalize,
  select = function() return sc.select{ columns = columns } end,
  pca = function() return sc.pca{ k = 3 } end }

function by_hand.pca(Z, W) return sc.pipeline{ sc.pca{ k = 3 } }:fit(Z):transform(W) end

local chains = { { "standardize" }, { "minmax" }, { "normalize" }, { "select" },
  { "standardize", "normalize" }, { "normalize", "standardize" },
  { "select", "standardize", "select_two" }, { "pca" }, { "pca", "standardize" },
  { "minmax", "pca" } }
make.select_two = function() return sc.select{ columns = { 4, 1 } } end
function by_hand.select_two(_, W) return sc.hcat(W:column(4), W:column(1)) end

-- The features of the rows `data` after a chain of stages that learnt from the rows `from`.
local function changed(chain, given, from, data)
  local Z, W = raw(given, from), raw(given, data)
  for _, name in ipairs(chain) do
    Z, W = by_hand[name](Z, Z), by_hand[name](Z, W)
  end
  return W
end

local function pipeline(chain, solver, given)
  local list = { features(given) }
  for _, name in ipairs(chain) do list[#list + 1] = make[name]() end
  list[#list + 1] = solver
  return sc.pipeline(list)
end

local function near(a, b, tolerance, what)
  lu.assertEquals({ a:rows(), a:cols() }, { b:rows(), b:cols() }, what)
  local gap = (a - b):abs():max()
  lu.assertTrue(gap <= tolerance * math.max(1, b:abs():max()), ("%s: %.3g"):format(what, gap))
end

local other = sc.randn{ 50, 4, seed = 9 } -- rows that nothing learns from

TestFeatures = {}

function TestFeatures:test_of_each_chain()
  for _, chain in ipairs(chains) do
    local what = table.concat(chain, ", ")
    local p = pipeline(chain):fit(X)
    near(p:transform(X), changed(chain, nil, X, X), 1e-12, what)
    near(p:transform(other), changed(chain, nil, X, other), 1e-12, what)
    local narrow = pipeline(chain, nil, { dtype = "float32" }):fit(X)
    -- scores of components are what a model gives, in float64
    lu.assertEquals(narrow:transform(X):dtype(), chain[#chain] == "pca" and "float64" or "float32")
    near(narrow:transform(other):astype("float64"), changed(chain, nil, X, other), 1e-4, what)
  end
end

function TestFeatures:test_of_two_values_pairs_and_sections()
  for _, given in ipairs{ { phi = sc.nonlinearity.sign() },
    { p = sc.sampler.threshold(), phi = sc.nonlinearity.step() },
    { phi = sc.nonlinearity.fourier{ form = "pair" }, T = 15 },
    { p = sc.sampler.landmarks(), phi = sc.kernel.gaussian{ width = 2 } },
    { p = sc.sampler.gaussian{ sigma = 0.5 }, phi = sc.nonlinearity.fourier{},
      K = sc.kernel.gaussian{ width = 2 } } } do
    local p = pipeline({ "standardize" }, nil, given):fit(X)
    near(p:transform(other), changed({ "standardize" }, given, X, other), 1e-9,
      tostring(features(given)))
  end
end

-- The engine leaves a factor out of features with a K: selections have it, and the other stages
-- give the same for features times any factor.
function TestFeatures:test_with_a_factor_left_out()
  local W, V = sc.randn{ 60, 785, seed = 5 }, sc.randn{ 20, 785, seed = 6 }
  local function fitted(...)
    return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, T = 30, seed = 3,
      phi = sc.nonlinearity.sign(), K = sc.kernel.gaussian{ width = 1 } }, ... }:fit(W)
  end
  local plain = fitted()
  lu.assertTrue(plain:info().log_scale < -250)
  lu.assertEquals(fitted(make.select()):info().log_scale, plain:info().log_scale)
  lu.assertEquals(fitted(make.normalize()):info().log_scale, 0)
  local Z, Y = plain:transform(W), plain:transform(V)
  for _, name in ipairs{ "select", "standardize", "minmax", "normalize" } do
    local want = by_hand[name](Z, Y)
    near(fitted(make[name]()):transform(V) * (1 / want:norm()), want * (1 / want:norm()), 1e-12,
      name)
  end
end

function TestFeatures:test_constant_ones_become_0()
  local given = { p = sc.sampler.gaussian{ sigma = 1e-9 }, phi = sc.nonlinearity.step() }
  local half = sc.ones(20, 4):abs()
  lu.assertEquals(pipeline({ "standardize" }, nil, given):fit(half):transform(half):abs():max(), 0)
end

function TestFeatures:test_constant_columns_become_0_in_rows_of_other_values()
  local rows = sc.matrix{ { 1, 5 }, { 2, 5 }, { 4, 5 } }
  for _, stage in ipairs{ sc.standardize(), sc.minmax() } do
    local Z = sc.pipeline{ stage }:fit(rows):transform(sc.matrix{ { 4, 5 }, { 3, 7 }, { 2, -1e9 } })
    lu.assertEquals(Z:column(2):abs():max(), 0)
    lu.assertTrue(Z:column(1):abs():max() > 0.5)
  end
end

-- ------------ solvers

TestSolvers = {}

-- The gradient of the ridge's objective, mean squares / 2 + lambda/2 a'a with a free constant, at
-- the coefficients of the fit, on features made by hand.
function TestSolvers:test_ridge_is_stationary()
  local lambda = 1e-2
  for _, chain in ipairs(chains) do
    local p = pipeline(chain, sc.solver.ridge{ lambda = lambda }):fit(ds)
    local Z, a = changed(chain, nil, X, X), p:weights()
    local residual = Z * a + sc.ones(n, 1) * p:intercept() - y
    local gradient = Z:t() * residual * (1 / n) + a * lambda
    lu.assertTrue(gradient:abs():max() < 1e-10, table.concat(chain, ", "))
    lu.assertTrue(math.abs(residual:sum()) < 1e-8)
  end
end

-- Solutions of the same solver on the changed features as plain columns. tolerance: of the solver.
local solvers = {
  { sc.solver.ridge{ lambda = 1e-3 }, 1e-9 },
  { sc.solver.ridge{ lambda = 1e-3, form = "dual" }, 1e-9 },
  { sc.solver.lasso{ lambda = 1e-2, tolerance = 1e-10 }, 1e-7 },
  { sc.solver.cg{ lambda = 1e-2, tolerance = 1e-12 }, 1e-7 },
  { sc.solver.huber{ lambda = 1e-2 }, 1e-3 },
  { sc.solver.logistic{ lambda = 1e-2, tolerance = 1e-9 }, 1e-5, signs },
  { sc.solver.logistic{ lambda = 1e-2, method = "sgd", max_iterations = 50 }, 1e-6, signs },
  { sc.solver.hinge{ lambda = 1e-2 }, 1e-2, signs },
  { sc.solver.knn{ k = 3 }, 1e-9, signs },
}

function TestSolvers:test_as_on_columns()
  for _, one in ipairs(solvers) do
    local solver, tolerance, data = one[1], one[2], one[3] or ds
    for _, chain in ipairs{ { "standardize" }, { "normalize" }, { "minmax", "select" } } do
      local what = tostring(solver) .. " after " .. table.concat(chain, ", ")
      local Z = changed(chain, nil, X, X)
      local p = pipeline(chain, solver):fit(data)
      local plain = sc.pipeline{ solver }:fit(sc.dataset{ X = Z, y = data.y, task = data.task })
      near(p:decision(other), plain:decision(changed(chain, nil, X, other)), tolerance, what)
    end
  end
end

-- Nothing in memory but blocks: a stream, weights, float32, and solvers that pass over the rows.
function TestSolvers:test_streams_and_blocks()
  local weighted = sc.dataset{ X = X, y = y, task = "regression",
    weights = sc.rand{ n, 1, seed = 4 } + 0.5 }
  local stream = sc.data.rows{ n = n, d = 4, task = "regression",
    read = function(first, count)
      return X:slice(first, first + count - 1), y:slice(first, first + count - 1)
    end }
  for _, solver in ipairs{ sc.solver.ridge{ lambda = 1e-3 },
    sc.solver.cg{ lambda = 1e-2, tolerance = 1e-12 } } do
    local whole = pipeline({ "standardize" }, solver):fit(ds)
    local list = { features(), sc.standardize(), solver, block = 32, allowance = 0 }
    near(sc.pipeline(list):fit(stream):predict(other), whole:predict(other), 1e-8, tostring(solver))
    local Z = changed({ "standardize" }, nil, X, X)
    local plain = sc.pipeline{ solver }:fit(sc.dataset{ X = Z, y = y, task = "regression",
      weights = weighted.weights })
    near(pipeline({ "standardize" }, solver):fit(weighted):predict(other),
      plain:predict(changed({ "standardize" }, nil, X, other)), 1e-8, "weights")
  end
end

-- The widths and lambdas that a fit chooses itself.
function TestSolvers:test_open_options()
  local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.fourier(),
    T = 400 }, sc.standardize(), sc.select{ columns = { 400, 1, 2, 3 } }, sc.solver.ridge() }
  p:fit(ds)
  lu.assertStrContains(p:info().chosen, "lambda")
  lu.assertStrContains(p:info().chosen, "sigma")
  lu.assertEquals(p:transform(X):cols(), 4)
end

-- Trials with fewer features have as many as the stage after them takes directions.
function TestSolvers:test_open_options_with_directions()
  for _, stage in ipairs{ sc.pca{ k = 70 }, sc.stage.whiten{ k = 70 } } do
    local function of(T)
      return sc.pipeline{ sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.fourier(),
        T = T }, stage, sc.solver.ridge() }
    end
    local grown = of("auto"):fit(ds)
    lu.assertStrContains(grown:info().chosen, "(100 to ")
    lu.assertEquals(grown:transform(X):cols(), 70)
    lu.assertEquals(of("auto"):plan(ds).T % 100, 0)
    lu.assertStrContains(of(400):fit(ds):info().chosen, "lambda")
  end
  -- trials on a sample have fewer features than a fit, but no fewer than directions
  local filled = require("scullery.model.trials").filled
  for _, T in ipairs{ "auto", 900 } do
    local wide = sc.pipeline{ features{ T = T }, sc.pca{ k = 410 }, solvers[1][1] }
    lu.assertEquals(filled(wide, {}, {}, 350).features.T, 410)
    lu.assertEquals(filled(wide, {}, {}, 600).features.T, 600)
  end
end

-- ------------ folds

TestFolds = {}

local solver = sc.solver.ridge{ lambda = 1e-2 }

-- By default the stages learn from all rows, as row stages do; with stages = "fold" from the rows
-- without each fold.
function TestFolds:test_cross_validation()
  local ids = {}
  for i = 1, n do ids[i] = i % 4 + 1 end
  local p = pipeline({ "standardize" }, solver)
  local shared = p:cv(ds, { folds = ids, score = "loss" })
  local apart = p:cv(ds, { folds = ids, score = "loss", stages = "fold" })
  for f = 1, 4 do
    local inside, outside = {}, {}
    for i, id in ipairs(ids) do table.insert(id == f and outside or inside, i) end
    local function loss_of(from)
      local Z = changed({ "standardize" }, nil, from, X)
      local plain = sc.pipeline{ solver }:fit(Z:select(inside), y:select(inside),
        { task = "regression" })
      return (plain:predict(Z:select(outside)) - y:select(outside)):norm() ^ 2 / #outside
    end
    lu.assertAlmostEquals(shared.folds[f], loss_of(X), 1e-9)
    lu.assertAlmostEquals(apart.folds[f], loss_of(X:select(inside)), 1e-9)
  end
  lu.assertNotEquals(shared.mean, apart.mean)
end

function TestFolds:test_search()
  local lambdas = { 1e-4, 1e-2, 1 }
  local list = { features{ T = sc.choose{ 10, 30 } }, sc.choose{ sc.standardize(), sc.normalize() },
    sc.solver.ridge{ lambda = sc.choose(lambdas) } }
  local p = sc.pipeline(list):search(ds, { folds = 3, seed = 5, score = "loss" })
  lu.assertEquals(#p.table, 12)
  for _, cell in ipairs(p.table) do
    local one = sc.pipeline{ features{ T = cell.choice["features.T"] }, cell.choice["stage 2"],
      sc.solver.ridge{ lambda = cell.choice["solver.lambda"] } }
    lu.assertAlmostEquals(cell.mean, one:cv(ds, { folds = 3, seed = 5, score = "loss" }).mean, 1e-9)
  end
  local best = p.table.best.choice
  local again = sc.pipeline{ features{ T = best["features.T"] }, best["stage 2"],
    sc.solver.ridge{ lambda = best["solver.lambda"] } }:fit(ds)
  near(p:predict(other), again:predict(other), 1e-10, "the best, fitted to all rows")
  local loo = sc.pipeline{ features(), sc.standardize(),
    sc.solver.ridge{ lambda = sc.choose(lambdas) } }:search(ds, { folds = "loo" })
  local Z = changed({ "standardize" }, nil, X, X)
  local plain = sc.pipeline{ sc.solver.ridge{ lambda = sc.choose(lambdas) } }:search(
    sc.dataset{ X = Z, y = y, task = "regression" }, { folds = "loo" })
  for k in ipairs(lambdas) do
    lu.assertAlmostEquals(loo.table[k].mean, plain.table[k].mean, 1e-9)
  end
end

-- Choices inside stages: of k after features, and of the width of features that others follow.
function TestFolds:test_choices_inside_stages()
  local function layered(sigma, k)
    return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = sigma }, T = 20, seed = 7,
      phi = sc.nonlinearity.fourier() }, features(), sc.pca{ k = k }, solver }
  end
  local p = layered(sc.choose{ 0.2, 1 }, sc.choose{ 2, 9 })
  local found = p:search(ds, { folds = 3, seed = 5, score = "loss" })
  lu.assertEquals(#found.table, 4)
  local sizes = {}
  for _, cell in ipairs(found.table) do
    local sigma, k = cell.choice["random_features.p.sigma"], cell.choice["pca.k"]
    local one = layered(sigma, k):cv(ds, { folds = 3, seed = 5, score = "loss" })
    lu.assertAlmostEquals(cell.mean, one.mean, 1e-9)
    sizes[("%.9f"):format(cell.mean)] = true
  end
  local different = 0
  for _ in pairs(sizes) do different = different + 1 end
  lu.assertEquals(different, 4)
  local best = found.table.best.choice
  near(found:predict(other), layered(best["random_features.p.sigma"], best["pca.k"]):fit(ds)
    :predict(other), 1e-10, "the best, fitted to all rows")
  fails({ "pipeline:fit", "sc.choose", "pipeline:search" }, p.fit, p, ds)
  fails({ "pipeline:fit", "sc.choose" }, p.fit, sc.pipeline{ features(),
    sc.pca{ k = sc.choose{ 1, 2 } } }, X)
end

-- One choice has one name: two stages of one kind share it, or one of them is chosen as a whole.
function TestFolds:test_one_choice_in_two_stages()
  local function twice(first, second)
    return sc.pipeline{ sc.pca{ k = first }, features(), sc.pca{ k = second }, solver }
  end
  local k = sc.choose{ 2, 3 }
  local p = twice(k, k):search(ds, { folds = 3, score = "loss" })
  lu.assertEquals(#p.table, 2)
  for _, cell in ipairs(p.table) do
    local value = cell.choice["pca.k"]
    lu.assertAlmostEquals(cell.mean,
      twice(value, value):cv(ds, { folds = 3, score = "loss" }).mean, 1e-9)
  end
  local unlike = twice(k, sc.choose{ 2, 5 })
  fails({ "pca.k", "two stages", "sc.choose{ sc.pca" }, unlike.search, unlike, ds, { folds = 3 })
end

-- ------------ files

TestFiles = {}

local path = support.memory_path()

-- The version of the format of the file.
local function version()
  return tonumber(support.read(path):match('version\\":(%d+)}'))
end

function TestFiles:test_saved_and_loaded()
  for _, chain in ipairs(chains) do
    local p = pipeline(chain, solver):fit(ds)
    p:save(path)
    local q = sc.load(path)
    lu.assertTrue(q:predict(other) == p:predict(other), table.concat(chain, ", "))
    lu.assertEquals(tostring(q), tostring(p))
    lu.assertEquals(version(), 4)
    local before = support.read(path)
    q:save(path)
    lu.assertEquals(support.read(path), before)
    lu.assertEquals(#q:fit(ds).after, #chain)
  end
  -- a selection of the data's columns as well; others keep their version
  sc.pipeline{ sc.select{ columns = { 4, 2 } }, solver }:fit(ds):save(path)
  lu.assertEquals(version(), 4)
  local again = sc.load(path)
  lu.assertEquals(again:transform(other), sc.hcat(other:column(4), other:column(2)))
  sc.pipeline{ sc.standardize(), solver }:fit(ds):save(path)
  lu.assertEquals(version(), 1)
end

function TestFiles:test_clones_and_components()
  local p = pipeline({ "standardize" }, solver):clone{ ["solver.lambda"] = 1 }
  lu.assertEquals(#p.after, 1)
  near(p:fit(ds):predict(other),
    pipeline({ "standardize" }, sc.solver.ridge{ lambda = 1 }):fit(ds):predict(other), 1e-12,
    "a clone")
  local components = sc.pipeline{ features(), sc.standardize(), sc.pca{ k = 3 } }:fit(X)
  local plain = sc.pipeline{ sc.pca{ k = 3 } }:fit(changed({ "standardize" }, nil, X, X))
  near(components:transform(other), plain:transform(changed({ "standardize" }, nil, X, other)),
    1e-9, "components")
  components:save(path)
  lu.assertTrue(sc.load(path):transform(other) == components:transform(other))
end

function TestFiles:test_altered()
  pipeline({ "normalize", "minmax" }, solver):fit(ds):save(path)
  local header, data = model_file.parts(support.read(path))
  local function altered(from, to, ...)
    local text, count = header:gsub(from, to)
    lu.assertTrue(count > 0, from)
    model_file.write(path, text, data)
    fails({ path, ... }, sc.load, path)
  end
  altered('\\"after\\":%b[],', "", "after")
  altered('\\"after\\":%b[],', '\\"after\\":[],', "stages in 'after': 0, where 2")
  altered("normalize", "add_bias", "add_bias", "after the features")
  altered('\\"cols\\":30,', '\\"cols\\":29,', "29, where 30")
  altered('minmax%.low', "minmax.bow", "minmax.low")
  model_file.write(path, header, data)
  lu.assertEquals(#sc.load(path).after, 2)
end

-- ------------ refusals

TestRefusals = {}

function TestRefusals:test_orders()
  local f, ridge = features(), sc.solver.ridge()
  fails({ "pipeline", "stage 2", "add_bias()", "after the features", "SCL_STAGE_SCALE_FREE" },
    sc.pipeline, { f, sc.add_bias(), ridge })
  fails({ "pipeline", "relevance", "after the features", "learns from targets" }, sc.pipeline,
    { f, sc.relevance(), ridge })
  fails({ "pipeline", "stage 3", "standardize()", "solver.ridge", "last" }, sc.pipeline,
    { f, ridge, sc.standardize() })
  fails({ "pipeline", "features come before the solver" }, sc.pipeline, { f, sc.standardize(), f })
end

function TestRefusals:test_columns()
  for _, bad in ipairs{ { 0 }, { 1, 1 }, {}, { 1.5 }, 3, { "x" }, { 1, nil, 3 } } do
    fails({ "select", "columns", "different whole numbers" }, sc.select, { columns = bad })
  end
  fails({ "select", "columns" }, sc.select)
  fails({ "column 31", "1 to 30" }, sc.pipeline{ features(), sc.select{ columns = { 1, 31 } },
    solver }.fit, sc.pipeline{ features(), sc.select{ columns = { 1, 31 } }, solver }, ds)
  fails({ "column 5", "1 to 4" }, sc.pipeline{ sc.select{ columns = { 5 } }, solver }.fit,
    sc.pipeline{ sc.select{ columns = { 5 } }, solver }, ds)
end

function TestRefusals:test_features_that_take_none()
  local cells = sc.pipeline{ sc.features{ p = sc.sampler.grid(), phi = sc.nonlinearity.bins(),
    T = 5 }, sc.standardize(), solver }
  fails({ "standardize", "one-hot" }, cells.fit, cells, ds)
  local K = sc.pipeline{ features{ phi = sc.nonlinearity.sign(),
    K = sc.kernel.gaussian{ width = 2 } }, sc.standardize(), solver }:fit(signs)
  fails({ "bound", "row stages" }, K.bound, K)
  fails({ "prune", "row stages" }, K.prune, K)
  lu.assertFalse(K.fitted:has_kernel())
  for _, one in ipairs{ sc.solver.sfgd{ batch = 8 },
    sc.solver.ridge{ lambda = 1e-2, penalty = "rkhs" } } do
    local p = sc.pipeline{ K.features, sc.standardize(), one }
    fails({ "solver." .. one.name, "a'Ga", "standardize()" }, p.fit, p, signs)
  end
end

local status = lu.LuaUnit.run()
os.remove(path)
os.exit(status)

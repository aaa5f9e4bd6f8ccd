-- Saving and loading: what comes back predicts the same bits, whatever it is made of.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local choose = require "scullery.compose.choose"
local source = os.getenv("SCULLERY_SOURCE") or "."
package.path = source .. "/tests/helpers/?.lua;" .. package.path
local registry, support = require "registry", require "support"
local models, model_file = require "small_models", require "model_file"
local predictors = require "predictors"

local path = support.memory_path()

local function saved_and_loaded(value, given)
  value:save(path, given)
  return sc.load(path)
end

-- The same matrix: the same bits, as no result here is -0 in one and 0 in the other.
local function same(a, b, what)
  lu.assertEquals(a:dtype(), b:dtype(), what)
  lu.assertTrue(a == b, what)
end

-- What a value is saved as, apart from times.
local function bytes_of(value)
  value:save(path)
  return support.read(path)
end

-- ------------ features

local test = registry.test

local function come_back(features, X, what)
  features:fit(X)
  local again = saved_and_loaded(features)
  same(again:transform(X), features:transform(X), what)
  lu.assertEquals(tostring(again), tostring(features))
  lu.assertEquals(bytes_of(again), bytes_of(features), what)
end

test("every sampler with every nonlinearity", function()
  registry.each_pair(function(s, p)
    local X = registry.rows_of(s.component, p.component)
    for _, dtype in ipairs{ "float64", "float32" } do
      come_back(sc.features{ p = s.component, phi = p.component, seed = 7, dtype = dtype,
        T = registry.T(s.component, 5) }, X, s.label .. " with " .. p.label)
    end
  end)
end)

-- Rows that the features take: X, |X| where a kernel refuses numbers below 0, nil where it refuses
-- those that are drawn too.
local function taken_rows(features)
  for _, X in ipairs{ registry.X, registry.X:abs() } do
    local ok, message = pcall(function() features:fit(X):transform(X) end)
    if ok then return X end
    lu.assertStrContains(tostring(message), "takes numbers")
  end
end

test("every sampler with every kernel as phi", function()
  for _, s in ipairs(registry.sampler) do
    for _, k in ipairs(registry.kernel) do
      if registry.draws_rows(s.component) then
        local features = sc.features{ p = s.component, phi = k.component, seed = 7,
          T = registry.T(s.component, 5) }
        local X = taken_rows(features)
        if X then come_back(features, X, s.label .. " with kernel " .. k.label) end
      end
    end
  end
end)

test("features with K by every method", function()
  local X = registry.X
  for _, method in ipairs{ "exact", "quadrature", "monte-carlo" } do
    come_back(sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.sign(), T = 6,
      K = sc.kernel.gaussian{ width = 2 }, method = method, samples = 300, seed = 3 }, X, method)
  end
  come_back(sc.features{ W = sc.space.threshold(), p = sc.sampler.threshold{ sigma = 1 }, T = 6,
    phi = sc.nonlinearity.sign(), K = sc.kernel.gaussian{ width = 1 } }, X, "threshold")
end)

test("features that are not fitted", function()
  local features = sc.features{ p = sc.sampler.gaussian{ sigma = sc.choose.log{ 0.1, 10 } },
    phi = sc.nonlinearity.fourier(), T = sc.choose{ 10, 20 }, seed = 1 << 53 }
  local again = saved_and_loaded(features)
  lu.assertEquals(tostring(again), tostring(features))
  lu.assertEquals(again.seed, 1 << 53)
  lu.assertTrue(choose.continuous(again.inst.p.given.sigma))
end)

test("widths that came from the data", function()
  for _, width in ipairs{ "scale", "median" } do
    come_back(sc.features{ p = sc.sampler.landmarks(), phi = sc.kernel.gaussian{ gamma = width },
      T = 4 }, registry.X, width)
  end
end)

-- ------------ models

local function equal_models(a, b, X, what)
  same(b:decision(X), a:decision(X), what)
  lu.assertEquals(b.classes, a.classes)
  lu.assertEquals(tostring(b), tostring(a), what)
  local one, other = a:info(), b:info()
  one.memory, other.memory = nil, nil
  lu.assertEquals(tostring(other.calibration), tostring(one.calibration))
  one.calibration, other.calibration = nil, nil
  lu.assertEquals(other, one, what)
end

for _, make in ipairs(models.all()) do
  test("model " .. make.name, function()
    local model, X = make.fit()
    local again = saved_and_loaded(model)
    equal_models(model, again, X, make.name)
    lu.assertEquals(bytes_of(again), bytes_of(model), make.name)
  end)
end

test("predictions do not depend on threads", function()
  local model, X = models.linear().fit()
  local before, wanted = sc.threads(), model:decision(X)
  for _, threads in ipairs{ 1, 2, 5 } do
    sc.threads(threads)
    same(saved_and_loaded(model):decision(X), wanted)
  end
  sc.threads(before)
end)

test("probabilities, calibrated or the solver's own", function()
  local model, X = models.linear().fit()
  model:calibrate{ folds = 2 }
  local again = saved_and_loaded(model)
  same(again:probabilities(X), model:probabilities(X))
  equal_models(model, again, X)
end)

test("components of features, of rows, and every row stage", function()
  local X = sc.randn{ 40, 5, seed = 3 }
  local features = sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.fourier(),
    T = 20 }
  local list = { { features, sc.pca{ k = 3 } }, { sc.normalize(), sc.standardize() },
    { sc.standardize(), sc.minmax(), sc.pca{ k = 4 }, sc.standardize(), sc.add_bias(),
      sc.pca{ k = 2 } } }
  for i, stages in ipairs(list) do
    local p = sc.pipeline(stages):fit(X)
    local again = saved_and_loaded(p)
    same(again:transform(X), p:transform(X), "list " .. i)
    if p:info().components then
      same(again:info().components.variances, p:info().components.variances)
    end
  end
end)

test("a pruned model, and one that was pruned twice", function()
  local ds = models.classes(60, 2)
  local model = sc.pipeline{ sc.instantiation{ p = sc.sampler.gaussian(),
    phi = sc.nonlinearity.sign(), K = sc.kernel.gaussian{ width = 1 } }:features{ T = 30 },
    sc.solver.ridge{ lambda = 1e-3, penalty = "rkhs" } }:fit(ds)
  local small = model:prune{ epsilon = 0.02 }
  local smaller = small:prune{ epsilon = 0.1, data = ds }
  lu.assertTrue(smaller.fitted.map_info.T < small.fitted.map_info.T)
  lu.assertTrue(small.fitted.map_info.T < 30)
  for _, one in ipairs{ small, smaller } do
    equal_models(one, saved_and_loaded(one), ds.X)
  end
end)

test("kernel sections, whitened with the jitter that they need", function()
  local X = sc.randn{ 12, 3, seed = 1 }
  X = sc.vcat(X, X)
  local y = X:column(1):copy()
  local p = sc.pipeline{ sc.features{ p = sc.sampler.landmarks(), T = 20,
    phi = sc.kernel.gaussian{ width = 3 } }, sc.solver.ridge{ lambda = 1e-3 } }:fit(X, y)
  lu.assertTrue(p.fitted.map_info.whitened)
  equal_models(p, saved_and_loaded(p), X)
end)

-- ------------ searches and recipes

test("a search with its table", function()
  local ds = models.classes(60, 3)
  local p = sc.pipeline{ sc.choose{ sc.standardize(), sc.minmax() },
    sc.features{ p = sc.sampler.gaussian{ sigma = sc.choose{ 0.2, 1 } },
      phi = sc.nonlinearity.fourier(), T = 20 },
    sc.solver.ridge{ lambda = sc.choose.log{ 1e-4, 1, count = 3 } } }
  local best = p:search(ds, { folds = 3, outer = 2 })
  local again = saved_and_loaded(best)
  equal_models(best, again, ds.X)
  lu.assertEquals(tostring(again.table), tostring(best.table))
  lu.assertEquals(again.table[2].folds, best.table[2].folds)
  lu.assertEquals(again.choice["solver.lambda"], best.choice["solver.lambda"])
  -- the recipe itself, not fitted: the same search from it gives the same table
  local other = saved_and_loaded(p)
  lu.assertEquals(tostring(other), tostring(p))
  lu.assertEquals(tostring(other:search(ds, { folds = 3, outer = 2 }).table), tostring(best.table))
end)

test("options of a pipeline, with keys of any kind", function()
  local p = sc.pipeline{ sc.solver.ridge(), block = 300, allowance = 1e6,
    class_weights = { [0] = 2.5, [1] = 1 } }
  local again = saved_and_loaded(p)
  lu.assertEquals({ again.block, again.allowance, again.class_weights }, { 300, 1e6,
    { [0] = 2.5, [1] = 1 } })
  local odd = { ["\xff\x00"] = 2, ["@list"] = 1 }
  lu.assertEquals(saved_and_loaded(sc.pipeline{ sc.solver.ridge(), class_weights = odd })
    .class_weights, odd)
end)

test("options that hold parts and lists", function()
  local kernels = sc.kernel.product{ factors = { sc.kernel.gaussian{ width = 2 },
    sc.kernel.sum{ terms = { sc.kernel.laplacian(), sc.kernel.linear() } } } }
  local p = sc.pipeline{ sc.solver.kernel_ridge{ kernel = kernels } }
  lu.assertEquals(tostring(saved_and_loaded(p)), tostring(p))
  local sampler = sc.sampler.pooled{ projections = 6,
    base = sc.sampler.gaussian{ sigma = { 1, 2, 3, 4 } } }
  local f = sc.features{ p = sampler, phi = sc.nonlinearity.fourier(), T = 8 }
  lu.assertEquals(tostring(saved_and_loaded(f)), tostring(f))
end)

test("the schema of the data", function()
  local model, X = models.linear().fit()
  model.fitted.schema = { format = "csv", header = true, missing = { "?" },
    columns = { { name = "a", kind = "number", fill = 0.1 + 0.2 } }, cols = X:cols() }
  local again = saved_and_loaded(model)
  lu.assertEquals(again.fitted.schema, model.fitted.schema)
  lu.assertEquals(math.type(again.fitted.schema.cols), "integer")
end)

test("names and labels of any bytes, which programs in C cannot have", function()
  local X, y = sc.randn{ 20, 2, seed = 1 }, {}
  for i = 1, 20 do y[i] = X:get(i, 1) > 0 and "a\0b" or "c\xff" end
  local p = sc.pipeline{ sc.solver.ridge() }:fit(sc.dataset{ X = X, y = y,
    names = { "u\0v", "w\xfe" } })
  local again = saved_and_loaded(p)
  equal_models(p, again, X)
  lu.assertEquals(again.fitted.names, { "u\0v", "w\xfe" })
  support.fails({ path, "zero byte" }, predictors.load, path)
end)

-- What the engine restores is the model's, whatever the file says beside it.
test("fields of the engine's parts are not a file's", function()
  local model, X = models.linear().fit()
  model:save(path)
  local header, data = model_file.parts(support.read(path))
  local count
  header, count = header:gsub('\\"dim\\":3,\\"n\\"', '\\"learnt\\":5,\\"map_info\\":{},%0')
  lu.assertEquals(count, 1)
  model_file.write(path, header, data)
  equal_models(model, sc.load(path), X)
end)

test("the schema of a data set alone", function()
  local ds = models.classes(30, 2)
  ds:save_schema(path)
  lu.assertEquals(sc.load(path), { format = "matrix", cols = ds.X:cols() })
  ds.schema = { format = "csv", levels = { "a", "b" }, cols = 3 }
  ds:save_schema(path)
  lu.assertEquals(sc.load(path), ds.schema)
end)

test("parameters are written where they are asked for", function()
  local model = models.linear().fit()
  saved_and_loaded(model, { parameters = true })
  same(core.saved_matrix(core.saved_open(path), "features.parameters"),
    core.map_parameters(model.fitted.map))
  support.fails({ "parameters", "features" }, sc.pipeline{ sc.solver.ridge() }.save,
    sc.pipeline{ sc.solver.ridge() }, path, { parameters = true })
end)

test("a model that was loaded goes on", function()
  local ds = models.classes(60, 2)
  local p = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = 1e-2 } }:fit(ds)
  local again = saved_and_loaded(p)
  lu.assertEquals(again:score(ds), p:score(ds))
  same(again:calibrate{ data = ds }:probabilities(ds.X), p:calibrate{ data = ds }:probabilities(
    ds.X))
  support.fails({ "needs features" }, again.prune, again)
  support.fails({ "not in memory" }, sc.load(path).calibrate, sc.load(path))
  same(again:fit(ds):weights(), p:weights())
end)

-- ------------ other processes

local softplus = support.build .. "/tests/plugins/softplus.so"

-- What a script prints in another process.
local function elsewhere(script, threads)
  local file = support.write(nil, script)
  local status, out, err = support.shell(("SCULLERY_THREADS=%d %s %s"):format(threads or 2,
    support.quote(support.binary), file))
  os.remove(file)
  return status, out, err
end

local print_decision = [[
local sc, core = require "scullery", require "scullery.core"
%s
local p = sc.load(%q)
print(core.fingerprint(p:decision(sc.randn{ 50, 3, seed = 9 })))]]

test("the same bits in another process, with any number of threads", function()
  for _, make in ipairs(models.all()) do
    if make.name:find("two") and make.name:find("sinks") or make.name:find("cells, three") then
      local model = make.fit()
      model:save(path)
      local wanted = core.fingerprint(model:decision(sc.randn{ 50, 3, seed = 9 }))
      for _, threads in ipairs{ 1, 3 } do
        local status, out, err = elsewhere(print_decision:format("", path), threads)
        lu.assertEquals({ status, out, err }, { 0, wanted .. "\n", "" }, make.name)
      end
    end
  end
end)

test("a third party's plugin is asked for by name", function()
  sc.plugin.load(softplus)
  local model = sc.pipeline{ sc.features{ p = sc.sampler.gaussian(), T = 5,
    phi = sc.nonlinearity.softplus() }, sc.solver.ridge() }:fit(models.classes(30, 2))
  equal_models(model, saved_and_loaded(model), sc.randn{ 50, 3, seed = 9 })
  local status, _, err = elsewhere(print_decision:format("", path))
  lu.assertEquals(status, 1)
  for _, word in ipairs{ path, "nonlinearity.softplus", "sc.plugin.load" } do
    lu.assertStrContains(err, word)
  end
  local load = ("sc.plugin.load(%q)"):format(softplus)
  local _, out = elsewhere(print_decision:format(load, path))
  lu.assertEquals(out, core.fingerprint(model:decision(sc.randn{ 50, 3, seed = 9 })) .. "\n")
end)

-- ------------ what cannot be

test("what cannot be saved or found is told", function()
  local p = sc.pipeline{ sc.solver.ridge() }
  support.fails({ "pipeline:save", "path" }, p.save, p)
  support.fails({ "pipeline:save", "/nowhere/m" }, p.save, p, "/nowhere/m")
  support.fails({ "parameter" }, p.save, p, path, { parameter = true })
  support.fails({ "load", "no such file" }, sc.load, "/nowhere/m")
  support.fails({ "load", "takes the path" }, sc.load, 5)
  support.fails({ "load", "folder" }, sc.load, "/tmp")
  support.fails({ "load", "cut off" }, sc.load, support.write(path, ""))
  support.fails({ "load", "not a model" }, sc.load, support.write(path, ("x"):rep(100)))
  local model = models.linear().fit()
  model.fitted.names = function() end
  support.fails({ "names", "function" }, model.save, model, path)
end)

os.remove(path)
local status = lu.LuaUnit.run()
os.remove(path)
os.exit(status)

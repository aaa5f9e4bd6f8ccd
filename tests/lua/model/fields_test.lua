-- Whatever a script puts into the fields of a fit: every method answers or raises an error.
package.path = "tests/helpers/?.lua;" .. package.path
local lu, sc, core = require "luaunit", require "scullery", require "scullery.core"
local fails = require("support").fails

local n, d = 60, 3
local X, y = sc.randn{ n, d, seed = 1 }, sc.randn{ n, 1, seed = 2 }

local function instance(kind, name) return core.instance(kind, name, {}) end

TestFields = {}

local function fitted(solver, features, ds)
  return sc.pipeline{ sc.standardize(), features, solver }:fit(ds)
end

local function feats(T, K)
  return sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.fourier(), K = K, T = T }
end

function TestFields.test_shapes_that_do_not_fit_are_told()
  local ds = sc.dataset{ X = X, y = y }
  local p = fitted(sc.solver.ridge{ lambda = 1e-2 }, feats(8), ds)
  local f = p.fitted
  for _, value in ipairs{ sc.zeros(1, 0), sc.zeros(0, 1), sc.zeros(1, 2), sc.zeros(2, 1),
    sc.zeros(0, 0) } do
    local intercept = f.intercept
    f.intercept = value
    fails({ "the intercept is", "for 1 target" }, p.predict, p, X)
    f.intercept = intercept
  end
  for _, value in ipairs{ sc.zeros(7, 1), sc.zeros(0, 0), sc.zeros(9, 1) } do
    local weights = f.weights
    f.weights = value
    fails({ "coefficients" }, p.predict, p, X)
    f.weights = weights
  end
  lu.assertEquals(p:predict(X):rows(), n)
end

-- What a script may put where a fit has something.
local hostile = { false, 0, -1, 0.5, 0 / 0, 1 / 0, 1 << 53, "x", "float32", {}, { 1 },
  { 1, 2, 3 }, { "a", "b" }, { {} }, print, io.stdout, coroutine.create(print), sc.zeros(0, 0),
  sc.zeros(1, 0), sc.zeros(0, 1), sc.ones(1, 1), sc.ones(2, 2),
  sc.ones(8, 1, { dtype = "float32" }),
  sc.ones(8, 2), sc.ones(1, 1) * (0 / 0), X, core.source(X),
  core.map{ sampler = instance("sampler", "gaussian"),
    phi = instance("nonlinearity", "fourier"), dim = d, T = 2 },
  instance("sampler", "gaussian"), instance("solver", "ridge"),
  core.fit_stage(core.instance("stage", "add_bias", {}), core.source(sc.ones(3, 5)), {}),
  setmetatable({}, {
    __index = function(_, key) return type(key) == "string" and key or nil end,
    __name = "scullery.map", __gc = type, __close = type, __call = type }) }
hostile[#hostile + 1] = { hostile[#hostile - 2], hostile[#hostile - 2] } -- stages of other widths

local methods = { "predict", "decision", "labels", "probabilities", "calibrate", "transform",
  "score", "error", "weights", "intercept", "norm", "bound", "info", "__tostring", "clone", "prune",
  "save" }

-- Every field replaced by every hostile value: each method answers or raises, and goes on doing so.
local function attack(p, ds)
  local calls, f, names = 0, p.fitted, {}
  for name in pairs(f) do names[#names + 1] = name end
  table.sort(names)
  local path = os.tmpname()
  for _, name in ipairs(names) do
    local before = f[name]
    for _, value in ipairs(hostile) do
      f[name] = value
      for _, method in ipairs(methods) do
        local ok, call = pcall(function() return p[method] end)
        if method == "__tostring" then ok, call = true, tostring end
        if ok and type(call) == "function" then
          pcall(call, p, method == "save" and path or method == "predict" and X or ds)
          calls = calls + 1
        end
      end
    end
    f[name] = before
  end
  os.remove(path)
  return calls
end

function TestFields.test_a_regression()
  local ds = sc.dataset{ X = X, y = y }
  local p = fitted(sc.solver.ridge{ lambda = 1e-2 }, feats(8, sc.kernel.gaussian()), ds)
  local before = p:predict(X)
  lu.assertTrue(attack(p, ds) > 1000)
  lu.assertEquals(p:predict(X), before)
end

function TestFields.test_classes_with_probabilities()
  local labels = y:map(function(v) return v > 0 and 1 or 0 end)
  local ds = sc.dataset{ X = X, y = labels, classes = { 0, 1 } }
  local p = fitted(sc.solver.logistic{ lambda = 1e-2 }, feats(8), ds)
  lu.assertTrue(attack(p, ds) > 1000)
end

function TestFields.test_a_model_that_is_not_linear()
  local ds = sc.dataset{ X = X, y = y }
  local p = sc.pipeline{ sc.standardize(), sc.solver.knn{ k = 3 } }:fit(ds)
  lu.assertTrue(attack(p, ds) > 1000)
end

os.exit(lu.LuaUnit.run(), true)

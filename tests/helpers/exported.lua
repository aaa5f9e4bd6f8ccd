--- Fitted pipelines for tests of p:export, and their comparison with what a file gave.
local lu = require "luaunit"
local registry = dofile "tests/helpers/registry.lua"
local sc = require "scullery"
local support = dofile "tests/helpers/support.lua"

local exported = {}

local wdbc = sc.data.load "wdbc"
local train, test = wdbc:split{ test = 0.25, seed = 0 }
local X = test.X:slice(1, 3)
local ridge = sc.solver.ridge{ lambda = 1e-3 }

local function fourier(given)
  return sc.features{ p = sc.sampler.gaussian{ gamma = "scale" }, T = given.T or 20, seed = 1,
    phi = sc.nonlinearity.fourier{ form = given.form }, dtype = given.dtype }
end

-- Rows of three classes with names of columns that C does not take as they are.
local function three_classes()
  local A, y = sc.randn{ 90, 3, seed = 4 }, {}
  for i = 1, 90 do y[i] = ({ "a\"b", "back\\slash", "c??/" })[i % 3 + 1] end
  for i = 1, 90 do A:set(i, 1, A:get(i, 1) + 3 * (i % 3)) end
  return sc.dataset{ X = A, y = y, names = { "one \"1\"", "two */ 2", "drei äöü" } }
end

local function counts()
  local A = sc.randn{ 80, 2, seed = 5 }
  local y = A:column(1):map(function(v) return math.floor(math.exp(v / 2 + 1)) end)
  return sc.dataset{ X = A, y = y, task = "regression" }
end

local function fitted(ds, ...) return sc.pipeline{ ... }:fit(ds) end

--- exported.pipelines(): a list of { fitted pipeline, rows, name }.
function exported.pipelines()
  local three, few = three_classes(), counts()
  local positive = sc.dataset{ X = few.X, y = few.y + 1, task = "regression" }
  local calibrated = fitted(train, sc.standardize(), fourier{ T = 30 }, ridge)
  local many = fitted(three, sc.standardize(), fourier{}, ridge)
  local log = sc.pipeline{ fourier{ T = 10 }, ridge, target = { log = true, standardize = true } }
  local signs = sc.features{ p = sc.sampler.gaussian{ sigma = 2 }, T = 6, seed = 2,
    phi = sc.nonlinearity.sign(), dtype = "int16" }
  local labels = sc.dataset{ X = few.X, task = "multilabel",
    y = few.X:map(function(v) return v > 0 and 1 or 0 end) }
  return {
    { fitted(train, sc.standardize(), fourier{ dtype = "int8" }, ridge), X, "int8" },
    { fitted(train, sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 3 }, T = 9,
      phi = sc.nonlinearity.relu(), seed = 1, dtype = "int16" }, ridge), X, "int16, learnt" },
    { fitted(train, sc.standardize(), fourier{ dtype = "int16" } + signs, ridge), X,
      "int16 in a union" },
    { fitted(train, sc.standardize(), fourier{ dtype = "int16" }, sc.standardize(), ridge), X,
      "int16 after features" },
    { fitted(labels, fourier{ T = 10 }, ridge), few.X:slice(1, 9), "labels" },
    { fitted(labels, fourier{ T = 10 }, sc.solver.logistic{ lambda = 1e-2 }), few.X:slice(1, 9),
      "labels by logistic" },
    { fitted(few, fourier{ T = 10 }, sc.solver.quantile{ tau = { 0.9, 0.1, 0.5 },
      lambda = 1e-2 }), few.X:slice(1, 9), "quantiles" },
    { sc.pipeline{ fourier{ T = 10 }, sc.solver.quantile{ tau = { 0.1, 0.9 }, lambda = 1e-2 },
      target = "standardize" }:fit(sc.dataset{ X = few.X, y = few.X * 2, task = "regression" }),
      few.X:slice(1, 9), "quantiles of two targets" },
    { fitted(train, sc.standardize(), fourier{}, ridge), X, "phase" },
    { fitted(train, sc.minmax(), fourier{ form = "pair" }, sc.solver.logistic{ lambda = 1e-3 }), X,
      "pair" },
    { calibrated:calibrate{ seed = 1 }, X, "two calibrated classes" },
    { many:calibrate{ seed = 1 }, three.X:slice(1, 6), "three calibrated classes" },
    { fitted(train, sc.standardize(), fourier{}, ridge):calibrate{ method = "isotonic", seed = 1 },
      X, "two isotonic classes" },
    { fitted(three, sc.standardize(), fourier{ T = 30 }, ridge):calibrate{ method = "isotonic",
      seed = 1 }, three.X:slice(1, 6), "three isotonic classes" },
    { log:fit(positive), few.X:slice(1, 3), "transformed targets" },
    { fitted(few, fourier{ T = 10 }, sc.solver.erm{ loss = sc.loss.poisson(), lambda = 1e-2 }),
      few.X:slice(1, 3), "means" },
    { fitted(few, fourier{ T = 8 }, sc.solver.tweedie{ power = 1.5, lambda = 1e-2 }),
      few.X:slice(1, 3), "means of a solver" },
    { fitted(few, sc.features{ p = sc.sampler.gaussian{ sigma = 2 }, T = 6, of = { 2 }, scale = 0.5,
      phi = sc.nonlinearity.fourier() } + sc.features{ p = sc.sampler.threshold{ a = 1 }, T = 5,
      phi = sc.nonlinearity.sign() }, ridge), few.X:slice(1, 3), "union" },
    { fitted(few, sc.agop{ rounds = 1 }, fourier{ T = 8 }, ridge), few.X:slice(1, 3), "metric" },
    { fitted(train, sc.standardize(), sc.pca{ k = 4 }, sc.add_bias(), ridge), X, "no features" },
    { fitted(train, sc.normalize(), sc.stage.whiten{ k = 3 }, sc.features{ T = 9, seed = 3,
      p = sc.sampler.gaussian{ sigma = 1 }, phi = sc.nonlinearity.relu() }, ridge), X, "relu" },
    { fitted(train, sc.stage.select{ columns = { 7, 2, 30 } }, sc.stage.scale(),
      sc.stage.random_projection{ k = 2 }, sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
        phi = sc.nonlinearity.tanh(), T = 9, seed = 3 }, sc.standardize(), ridge), X,
      "after features" },
    { fitted(train, sc.stage.quantile{ knots = 20 }, sc.features{ p = sc.sampler.threshold{ a = 1 },
      phi = sc.nonlinearity.sign(), T = 25, seed = 2 }, sc.solver.lasso{ lambda = 1e-2 }), X,
      "thresholds" },
    { fitted(few, sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, T = 7, seed = 1,
      phi = sc.nonlinearity.define("z > 1 and 2^-z or tanh(a/b * z) - 1/2", { a = 1, b = 2 }){} },
      ridge), few.X:slice(1, 3), "defined" },
  }
end

--- exported.pairs(ending): the same of each sampler and each nonlinearity, with all their options,
--- in one pair at least. A pair that no file of that ending takes is refused by name.
function exported.pairs(ending)
  local cases, seen = {}, {}
  local y = registry.X:column(1)
  registry.each_pair(function(s, p)
    if seen[s.label] and seen[p.label] then return end
    seen[s.label], seen[p.label] = true, true
    local rows = registry.rows_of(s.component, p.component)
    local one = sc.pipeline{ sc.features{ p = s.component, phi = p.component, seed = 7,
      T = registry.T(s.component, 5) }, ridge }:fit(rows, y)
    local path = support.free_path(ending)
    local ok, message = pcall(one.export, one, path)
    if ok then
      os.remove(path)
      cases[#cases + 1] = { one, rows:slice(1, 2), s.label .. " with " .. p.label }
    elseif p.name == "bins" then
      lu.assertStrContains(message, "nonlinearity.bins")
    else -- a sketch, whose features are no function of <w, x>
      lu.assertStrContains(message, "sampler." .. s.name .. " declares no dense rows")
    end
  end)
  lu.assertTrue(#cases > 25)
  return cases
end

--- exported.train, exported.fitted(ds, ...), exported.fourier(given): parts of these pipelines.
exported.train, exported.fitted, exported.fourier = train, fitted, fourier

return exported

--- Small fitted models of every kind of solver, for the suites that save and load them.
local sc = require "scullery"
local core = require "scullery.core"
local automatic = require "scullery.model.automatic"
local support = dofile((os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/support.lua")

local models = {}

--- models.classes(n, k): n rows of 3 columns in k classes, named by texts, that can be told apart.
function models.classes(n, k)
  local X, labels = sc.randn{ n, 3, seed = 5 }, {}
  for i = 1, n do
    local class = i % k + 1
    X:set(i, 1, X:get(i, 1) + 2 * class)
    X:set(i, 2, X:get(i, 2) - class * class)
    labels[i] = ("class %d"):format(class)
  end
  return sc.dataset{ X = X, y = labels }
end

--- models.numbers(n): n rows of 3 columns and one target.
function models.numbers(n)
  local X = sc.randn{ n, 3, seed = 6 }
  return sc.dataset{ X = X, y = X:column(1) * 2 + X:column(2) * X:column(2):get(1, 1),
    task = "regression" }
end

local function model(name, stages, ds)
  return { name = name, fit = function() return sc.pipeline(stages):fit(ds), ds.X end }
end

--- models.linear(): a classification by features.
function models.linear()
  return model("linear", { sc.standardize(), sc.features{ p = sc.sampler.gaussian(),
    phi = sc.nonlinearity.fourier(), T = 6 }, sc.solver.ridge{ lambda = 1e-2 } },
    models.classes(30, 2))
end

-- Features that a solver may ask for: with K, without, as cells.
local function kitchen(given)
  given.seed, given.T = 2, given.T or 6
  return sc.features(given)
end

local function features()
  return { none = false,
    sinks = kitchen{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.fourier() },
    K = kitchen{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.sign(),
      K = sc.kernel.gaussian{ width = 2 } },
    sections = kitchen{ p = sc.sampler.landmarks(), phi = sc.kernel.gaussian{ width = 2 } },
    cells = kitchen{ p = sc.sampler.grid(), phi = sc.nonlinearity.bins(), T = 4 },
    whole = kitchen{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.relu(), dtype = "int16" },
    union = 2 * kitchen{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.relu(), T = 3 }
      + kitchen{ p = sc.sampler.grid(), phi = sc.nonlinearity.bins(), T = 2, of = { 1, 3 } },
    changed = kitchen{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.relu() } }
end

-- The stages of a pipeline; row stages follow the features of the kind "changed".
local function stages_of(kind, feature, solver)
  if kind == "none" then return { sc.standardize(), solver } end
  if kind ~= "changed" then return { sc.standardize(), feature, solver } end
  return { sc.standardize(), feature, sc.standardize(), sc.select{ columns = { 5, 1, 2, 4 } },
    sc.normalize(), solver }
end

-- With its defaults, but for a batch that the few rows can fill.
local function solver_of(name)
  for _, option in ipairs(core.plugin_info("solver", name).options) do
    if option.name == "batch" then return sc.solver[name]{ batch = 8 } end
  end
  return sc.solver[name]()
end

-- The model that a trial of it made, or nil where a solver does not take the rest. chooses: whether
-- the fit chooses options by folds, which takes ten times as long.
local function fitted(one, chooses)
  local before = automatic.chooses
  automatic.chooses = chooses
  local ok, p, X = pcall(one.fit)
  automatic.chooses = before
  return ok and { name = one.name, fit = function() return p, X end } or nil
end

-- Under a sanitizer: every solver on rows and on one kind of features, or on all where it takes
-- neither, and every kind of features with two solvers. A solver's code knows no features.
local FEW = { none = true, sinks = true }
local with_all_features = { ridge = true, logistic = true }

local tasks = { two = models.classes(24, 2), three = models.classes(24, 3),
  numbers = models.numbers(24) }
-- For solvers that take none of these.
local positive = models.numbers(24)
positive.y = positive.y:map(math.exp)
local others = { positive = positive }

-- The models of a solver on the kinds of features that `wanted` has, or on all, of these tasks.
local function models_of(solver, wanted, given)
  local list = {}
  for kind, feature in pairs(features()) do
    local takes = (not wanted or wanted[kind]) and (kind ~= "union" or with_all_features[solver])
    for task, ds in pairs(takes and given or {}) do
      list[#list + 1] = fitted(model(("%s, %s, %s"):format(solver, kind, task),
        stages_of(kind, feature, solver_of(solver)), ds), kind == "sinks" and task == "two")
    end
  end
  return list
end

local every

--- models.all(): a list of { name, fit() -> pipeline, rows }: every solver with all features and
--- tasks that it takes, and of each solver one whose options the fit chose. Each is fitted once,
--- and nobody changes it.
function models.all()
  if every then return every end
  local list = {}
  for _, entry in ipairs(core.plugin_list()) do
    if entry.kind == "solver" then
      local few = support.sanitized and not with_all_features[entry.name]
      local own = models_of(entry.name, few and FEW, tasks)
      if #own == 0 then own = models_of(entry.name, nil, tasks) end
      if #own == 0 then own = models_of(entry.name, FEW, others) end
      assert(#own > 0, "no model of solver." .. entry.name)
      table.move(own, 1, #own, #list + 1, list)
    end
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  every = list
  return every
end

return models

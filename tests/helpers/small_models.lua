--- Small fitted models of every kind of solver, for the suites that save and load them.
local sc = require "scullery"
local core = require "scullery.core"

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

-- Whether a solver takes the rest, found by trying.
local function takes(one) return pcall(one.fit) end

--- models.all(): a list of { name, fit() -> pipeline, rows }: every solver with all features and
--- tasks that it takes.
function models.all()
  local list = {}
  local tasks = { two = models.classes(24, 2), three = models.classes(24, 3),
    numbers = models.numbers(24) }
  for _, entry in ipairs(core.plugin_list()) do
    local found = entry.kind ~= "solver"
    for kind, feature in pairs(features()) do
      for task, ds in pairs(tasks) do
        local solver = entry.kind == "solver" and solver_of(entry.name)
        if solver then
          local one = model(("%s, %s, %s"):format(entry.name, kind, task),
            stages_of(kind, feature, solver), ds)
          if takes(one) then list[#list + 1], found = one, true end
        end
      end
    end
    assert(found, "no model of solver." .. entry.name)
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

return models

--- Fits by every registered solver and number type; prints a digest of each for processes_test.lua.
--- A solver that refuses prints its sentence: it is the same in all processes. With the word
--- "some": two number types.
local sc = require "scullery"

-- Rows: several parts for every process; few for solvers whose work grows with the square of them.
local many, few = 5000, 300
local takes_few = { kernel_ridge = true, svm = true, knn = true, adaboost = true, hinge = true,
  boosting = true, quantile = true, lad = true, poisson = true, gamma_regression = true,
  tweedie = true }
local takes_positive = { poisson = true, gamma_regression = true, tweedie = true }

local function sets_of(n)
  local X = sc.randn{ n, 4, seed = 3 }
  local labels, values = {}, sc.zeros(n, 1)
  for i = 1, n do
    local value = math.sin(2 * X:get(i, 1)) + X:get(i, 2)
    labels[i] = value > 0 and "above" or "below"
    values:set(i, 1, value)
  end
  return { { "classes", sc.dataset{ X = X, y = labels } },
    { "numbers", sc.dataset{ X = X, y = values, task = "regression" } },
    { "sizes", sc.dataset{ X = X, y = values:map(math.exp), task = "regression" } } }
end
local sets = { [many] = sets_of(many), [few] = sets_of(few) }

local gaussian = sc.sampler.gaussian{ sigma = 0.5 }
local maps = {
  { "float64", { p = gaussian, phi = sc.nonlinearity.fourier(), T = 30, seed = 1 } },
  { "float32", { p = gaussian, phi = sc.nonlinearity.fourier(), T = 30, seed = 1,
    dtype = "float32" } },
  { "int16", { p = gaussian, phi = sc.nonlinearity.fourier(), T = 30, seed = 1, dtype = "int16" } },
  { "bits", { p = gaussian, phi = sc.nonlinearity.sign(), T = 30, seed = 1 } },
  { "cells", { p = sc.sampler.grid{ gamma = 0.3 }, phi = sc.nonlinearity.bins(), T = 10,
    seed = 1 } },
  { "kernel", { p = gaussian, phi = sc.nonlinearity.fourier(), K = sc.kernel.gaussian{ width = 1 },
    T = 30, seed = 1 } },
}

if arg[1] == "some" then maps = { maps[1], maps[3] } end

local X = sc.randn{ 50, 4, seed = 4 }
local function digest(p)
  local parts, scores = {}, p:decision(X)
  for i = 1, 50 do parts[i] = ("%a"):format(scores:get(i, 1)) end
  return table.concat(parts, " ")
end

local function report(name, f)
  local ok, result = pcall(f)
  result = ok and result or "refused: " .. tostring(result)
  print(name .. ": " .. result:gsub("%d+%.?%d* s%f[%W]", "some s"):gsub("\n.*", ""))
end

-- With a lambda where there is one: no candidates are fitted.
local function solver_of(name)
  if name == "boosting" then return sc.solver.boosting{ rounds = 5 } end
  local ok, solver = pcall(sc.solver[name], { lambda = 1e-3 })
  return ok and solver or sc.solver[name]{}
end

local names = {}
for _, plugin in ipairs(sc.plugin.list()) do
  local own = plugin.origin == "built in"
  if own and plugin.kind == "solver" then names[#names + 1] = plugin.name end
end
assert(#names > 8)
for _, name in ipairs(names) do
  local from, to = table.unpack(takes_positive[name] and { 3, 3 } or { 1, 2 })
  for _, set in ipairs{ table.unpack(sets[takes_few[name] and few or many], from, to) } do
    for _, map in ipairs(maps) do
      report(("%s %s %s"):format(name, set[1], map[1]), function()
        return digest(sc.pipeline{ sc.standardize(), sc.features(map[2]), solver_of(name) }
          :fit(set[2]))
      end)
    end
  end
end
report("automatic", function()
  return digest(sc.pipeline{ sc.features(maps[2][2]), sc.solver.logistic{} }:fit(sets[many][1][2]))
end)
report("search", function()
  local p = sc.pipeline{ sc.features(maps[1][2]),
    sc.solver.cg{ lambda = sc.choose.log{ 1e-6, 1e-2, count = 3 } } }
  return digest(p:search(sets[many][2][2], { folds = 5, seed = 0 }))
end)

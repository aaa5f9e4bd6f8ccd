-- Rows far from 0 (years, serial numbers) beside the same rows near 0. The numbers lie on a grid of
-- 2^-20, and offsets and scales are such that x -> (x + offset) scale is exact: what depends on
-- differences alone, and what has a constant, is to be the same.
local lu, sc = require "luaunit", require "scullery"

local offsets, scales = { 0, 1000, 1e6, 2 ^ 30 }, { 2 ^ -30, 1, 2 ^ 30 }

local function on_grid(n, d, seed)
  return sc.randn{ n, d, seed = seed }:map(function(v)
    return math.floor(v * 2 ^ 20 + 0.5) / 2 ^ 20
  end)
end
local function moved(x, offset, scale)
  return x:map(function(v) return (v + offset) * scale end)
end
local function distance(a, b) return (a - b):abs():max() / b:abs():max() end

local rows, others = on_grid(300, 3, 1), on_grid(70, 3, 2)
local y = rows:column(1):map(math.sin) + rows:column(2)

local function fit(stages, offset, scale, targets)
  local task = targets and "classification" or "regression"
  return sc.pipeline(stages):fit(sc.dataset{ X = moved(rows, offset, scale), y = targets or y,
    task = task })
end

-- Recipes by the scale of the rows.
local kernel, ridge = sc.kernel, sc.solver.kernel_ridge
local machines = {
  gaussian = function(s) return ridge{ lambda = 1e-4, kernel = kernel.gaussian{ width = s } } end,
  median = function()
    return ridge{ lambda = 1e-4, kernel = kernel.gaussian{ gamma = "median" } }
  end,
  scale = function() return ridge{ lambda = 1e-4, kernel = kernel.gaussian{ gamma = "scale" } } end,
  laplacian = function(s)
    return ridge{ lambda = 1e-4, intercept = true, kernel = kernel.laplacian{ gamma = 1 / s } }
  end,
  linear = function(s)
    return ridge{ lambda = 1e-4 * s * s, intercept = true, kernel = kernel.linear{} }
  end,
  sum = function(s)
    return ridge{ lambda = 1e-4, intercept = true, kernel = kernel.sum{ weights = { s ^ -2, 1 },
      terms = { kernel.linear{}, kernel.gaussian{ width = s } } } }
  end,
  product = function(s)
    return ridge{ lambda = 1e-4, kernel = kernel.product{ factors = {
      kernel.laplacian{ gamma = 1 / s }, kernel.gaussian{ width = s } } } }
  end,
  additive = function(s)
    return ridge{ lambda = 1e-4, kernel = kernel.additive{ base = kernel.gaussian{ width = s } } }
  end,
  svm = function(s) return sc.solver.svm{ gamma = 0.3 / s ^ 2, tolerance = 1e-9 } end,
  svm_linear = function(s)
    return sc.solver.svm{ kernel = kernel.linear{}, C = 1 / s ^ 2, tolerance = 1e-9 }
  end,
  neighbours = function() return sc.solver.knn{ k = 3 } end,
}

function TestMachinesDoNotSeeAnOffset()
  for name, make in pairs(machines) do
    for _, scale in ipairs(scales) do
      local want = fit({ make(scale) }, 0, scale):decision(moved(others, 0, scale))
      for _, offset in ipairs(offsets) do
        local model = fit({ make(scale) }, offset, scale)
        local where = ("%s at %g times %g"):format(name, offset, scale)
        lu.assertEquals(model:info().status, "converged", where)
        lu.assertTrue(distance(model:decision(moved(others, offset, scale)), want) < 1e-6, where)
      end
    end
  end
end

function TestClassesDoNotSeeAnOffset()
  local classes = rows:column(1):map(function(v) return math.floor(math.min(math.abs(v), 2)) end)
  local want = fit({ sc.solver.svm{} }, 0, 1, classes):decision(others)
  local found = fit({ sc.solver.svm{} }, 2 ^ 30, 1, classes):decision(moved(others, 2 ^ 30, 1))
  lu.assertEquals(found, want)
end

-- An outlier among the rows does not hide that the others are far from 0.
function TestAnOutlierHidesNoOffset()
  local x = moved(rows, 1e6, 1)
  for j = 1, 3 do x:set(7, j, 1e8) end
  local near = moved(x, -1e6, 1)
  local function decide(data, at)
    return sc.pipeline{ machines.linear(1) }:fit(sc.dataset{ X = data, y = y,
      task = "regression" }):decision(at)
  end
  lu.assertTrue(distance(decide(x, moved(others, 1e6, 1)), decide(near, others)) < 1e-6)
end

-- Kernels that see the offset: either to be trusted, or not called converged, with why.
function TestKernelsThatSeeTheOffsetSayWhenRoundingSpoilsThem()
  for _, solver in ipairs{ ridge{ lambda = 1e-4, kernel = kernel.linear{} },
    ridge{ lambda = 1e-4, intercept = true, kernel = kernel.polynomial{} },
    sc.solver.svm{ kernel = kernel.polynomial{} } } do
    local info = fit({ solver }, 1e6, 1):info()
    lu.assertEquals(info.status, "iterations exhausted")
    lu.assertTrue(#info.note > 20)
    lu.assertEquals(fit({ solver }, 0, 1):info().status, "converged")
  end
end

function TestSavedMachinesKeepThePilot()
  for _, name in ipairs{ "linear", "svm", "neighbours" } do
    local model, path = fit({ machines[name](1) }, 1e6, 1), os.tmpname()
    model:save(path)
    local x = moved(others, 1e6, 1)
    lu.assertEquals(sc.load(path):decision(x), model:decision(x))
    os.remove(path)
  end
end

-- ------------ bits

local function expect_same_in_batches(model, x)
  local all = model:decision(x)
  for _, batch in ipairs{ 1, 2, 3, 5, 8, 17, 64, 129, 256, 257, 500, 999, 1000 } do
    for first = 1, 1000, math.max(batch, 250) do
      local last = math.min(first + batch - 1, 1000)
      local gap = model:decision(x:slice(first, last)) - all:slice(first, last)
      lu.assertEquals(gap:abs():max(), 0, ("rows %d to %d"):format(first, last))
    end
  end
end

function TestScoresDoNotDependOnTheBatch()
  for _, d in ipairs{ 1, 8, 300 } do
    local x = sc.randn{ 1000, d, seed = 3 }
    local targets = x:column(1):map(math.sin)
    for _, n in ipairs{ 20, 475, 1000 } do
      for _, solver in ipairs{ ridge{ lambda = 1e-3 }, ridge{ lambda = 1e-3,
        kernel = kernel.polynomial{} }, sc.solver.svm{} } do
        expect_same_in_batches(sc.pipeline{ solver }:fit(sc.dataset{ X = x:slice(1, n),
          y = targets:slice(1, n), task = "regression" }), x)
      end
    end
  end
end

-- K kept, or made again for each product.
function TestTheAllowanceChangesNoBits()
  local x = sc.randn{ 1300, 5, seed = 4 }
  local data = sc.dataset{ X = x, y = x:column(1):map(math.sin), task = "regression" }
  for _, lambda in ipairs{ 1e-3, 1e-9 } do
    for _, intercept in ipairs{ false, true } do
      local function model(allowance)
        return sc.pipeline{ ridge{ lambda = lambda, intercept = intercept,
          kernel = kernel.gaussian{ width = 1 } }, allowance = allowance }:fit(data)
      end
      local kept, again = model(1e9), model(0)
      lu.assertEquals(again:info().iterations, kept:info().iterations)
      lu.assertEquals((again:decision(x) - kept:decision(x)):abs():max(), 0)
    end
  end
end

-- ------------ stages, kernel values, sections

function TestStagesAtOffsets()
  for _, stage in ipairs{ sc.standardize(), sc.minmax(), sc.pca{ k = 2 } } do
    for _, scale in ipairs(scales) do
      local function transformed(offset)
        local x = moved(on_grid(20000, 3, 5), offset, scale)
        return sc.pipeline{ stage }:fit(x):transform(x:slice(1, 200))
      end
      local want = transformed(0)
      for _, offset in ipairs(offsets) do
        lu.assertTrue(distance(transformed(offset), want) < 1e-6)
      end
    end
  end
end

function TestKernelValuesAndSectionsAtOffsets()
  for _, scale in ipairs(scales) do
    local k = kernel.gaussian{ width = scale }
    local sections = { sc.features{ p = sc.sampler.landmarks(), phi = k, T = 40, seed = 1,
      dtype = "float64" }, sc.solver.ridge{ lambda = 1e-6 } }
    local values = k:gram(moved(rows, 0, scale), moved(others, 0, scale))
    local scores = fit(sections, 0, scale):decision(moved(others, 0, scale))
    for _, offset in ipairs(offsets) do
      local x, z = moved(rows, offset, scale), moved(others, offset, scale)
      lu.assertTrue(distance(k:gram(x, z), values) < 1e-12)
      lu.assertTrue(distance(fit(sections, offset, scale):decision(z), scores) < 1e-9)
    end
  end
end

os.exit(lu.LuaUnit.run())

-- The features of a row and its decisions depend on the row alone, to the bit.
-- row_alone_slow_test.lua has more maps.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
package.path = (os.getenv "SCULLERY_SOURCE" or ".") .. "/tests/helpers/?.lua;" .. package.path
local alone, registry = require "alone", require "registry"

local dtypes = { "float64", "float32" }

-- Features of a map { p =, phi =, ... } on n rows of d columns, of each of the types (both kinds of
-- floats). whiten: kernel sections L^-1 k(W, x); false where there is no L.
local function check_features(what, n, d, given, whiten, types)
  local X = sc.randn{ n, d, seed = 11 } * 0.7
  for _, dtype in ipairs(types or dtypes) do
    given.dtype, given.seed = dtype, 1
    X = registry.rows(function(rows) sc.features(given):fit(rows):transform(rows) end, X)
    local map = sc.features(given):fit(X).fitted
    if whiten then
      local positive, whitened = pcall(core.map_whitened, map, true)
      if not positive then
        lu.assertStrContains(whitened, "is not positive definite")
        return false
      end
      map = whitened
    end
    alone.check(("%s, d = %d, %s"):format(what, d, dtype),
      function(rows) return core.transform(core.source(rows), {}, map) end, X)
  end
  return true
end

local gaussian, fourier = sc.sampler.gaussian(), sc.nonlinearity.fourier()

function TestSamplers()
  for _, s in ipairs(registry.sampler) do
    if s.plain then
      for _, d in ipairs(s.name == "patches" and { 9 } or { 1, 8 }) do
        local ok, T = pcall(registry.T, s.component, 37)
        check_features(s.label, 70, d, { p = s.component, phi = registry.partner(s.component),
          T = ok and T or nil })
      end
    end
  end
end

function TestNonlinearities()
  for _, p in ipairs(registry.nonlinearity) do
    if registry.fits(gaussian, p.component) then
      check_features(p.label, 70, 8, { p = gaussian, phi = p.component, T = 37 })
    end
  end
end

function TestKernelSections()
  local whitened = 0
  for _, k in ipairs(registry.kernel) do
    local given = { p = sc.sampler.landmarks(), phi = k.component, T = 37 }
    check_features("sections of " .. k.label, 70, 8, given)
    if check_features("whitened sections of " .. k.label, 70, 8, given, true) then
      whitened = whitened + 1
    end
  end
  lu.assertTrue(whitened > 10)
end

-- Closed forms, quadrature, and Monte Carlo.
function TestKernelsBetweenParameters()
  local K = sc.kernel.gaussian{ width = 1 }
  for _, p in ipairs{ gaussian, sc.sampler.threshold{ sigma = 1 }, sc.sampler.hadamard(),
    sc.sampler.sparse{ degree = 2 } } do
    for _, phi in ipairs{ "fourier", "tanh", "sign", "relu" } do
      for _, method in ipairs{ "exact", "quadrature", "monte-carlo" } do
        check_features(("K %s %s %s"):format(p.name, phi, method), 30, 8, { p = p, K = K, T = 9,
          phi = sc.nonlinearity[phi](), method = method,
          samples = method == "monte-carlo" and 300 or nil })
      end
    end
  end
end

-- More columns than are summed at once, more rows and parameters than one tile has.
function TestManyColumnsRowsAndParameters()
  for _, p in ipairs{ gaussian, sc.sampler.hadamard(), sc.sampler.sparse{ degree = 3 },
    sc.sampler.sparse{ degree = { binomial = 0.5 } } } do
    check_features(p.name, 300, 300, { p = p, phi = fourier, T = 61 })
  end
  check_features("gaussian", 1000, 784, { p = gaussian, phi = sc.nonlinearity.relu(), T = 523 })
  lu.assertTrue(check_features("landmarks", 300, 784, { p = sc.sampler.landmarks(),
    phi = sc.kernel.gaussian{ width = 30 }, T = 203 }, true))
end

-- Whole numbers, of a declared range and of learnt ones.
function TestWholeNumbers()
  local types = { "int16", "int8" }
  for _, d in ipairs{ 1, 8, 300, 784 } do
    check_features("fourier", 1000, d, { p = gaussian, phi = fourier, T = 61 }, nil, types)
    check_features("relu", 300, d, { p = gaussian, phi = sc.nonlinearity.relu(), T = 61 }, nil,
      types)
  end
  check_features("landmarks", 300, 8, { p = sc.sampler.landmarks(),
    phi = sc.kernel.gaussian{ width = 2 }, T = 37 }, nil, types)
  check_features("K", 300, 8, { p = gaussian, phi = fourier, T = 37,
    K = sc.kernel.gaussian{ width = 1 } }, nil, types)
end

-- ------------ decisions

local n = 700
local X = sc.randn{ n, 5, seed = 3 }
local coarse = X:map(function(v) return math.floor(v * 2) / 2 end)
local half = coarse:copy() -- columns of few values between columns of many
for i = 1, n do
  for _, j in ipairs{ 2, 5 } do half:set(i, j, X:get(i, j)) end
end

local maps = {
  gaussian = { p = gaussian, phi = fourier },
  sparse = { p = sc.sampler.sparse{ degree = 2 }, phi = sc.nonlinearity.sign() },
  stumps = { p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign() },
  thresholds = { p = sc.sampler.threshold{ sigma = 1 }, phi = fourier },
  ["thresholds with K"] = { p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign(),
    K = sc.kernel.gaussian{ width = 1 } },
  landmarks = { p = sc.sampler.landmarks(), phi = sc.kernel.gaussian{ width = 2 } },
}

local function check_decisions(what, stages, rows, targets)
  local p = sc.pipeline(stages):fit(rows, sc.randn{ n, targets, seed = 4 }, { task = "regression" })
  alone.check(what, function(some) return p:decision(some) end, rows)
end

-- One target, several, and more than a thin product takes.
for name, given in pairs(maps) do
  registry.test("decisions of " .. name, function()
    for _, dtype in ipairs(dtypes) do
      for _, targets in ipairs{ 1, 3, 40 } do
        for which, rows in pairs{ fine = X, coarse = coarse, half = half } do
          given.T, given.seed, given.dtype = 75, 1, dtype
          check_decisions(("%s, %s, %d targets, %s"):format(name, dtype, targets, which),
            { sc.features(given), sc.solver.ridge{ lambda = 1e-3 } }, rows, targets)
        end
      end
    end
  end)
end

function TestDecisionsOfWholeNumbers()
  for _, dtype in ipairs{ "int16", "int8" } do
    for name, given in pairs(maps) do
      given.T, given.seed, given.dtype = 75, 1, dtype
      check_decisions(("%s, %s"):format(name, dtype),
        { sc.features(given), sc.solver.ridge{ lambda = 1e-3 } }, half, 3)
    end
  end
end

function TestDecisionsOfCellsAndStagedFeatures()
  check_decisions("cells", { sc.features{ p = sc.sampler.grid(), phi = sc.nonlinearity.bins(),
    T = 9, seed = 1 }, sc.solver.ridge{ lambda = 1e-3 } }, X, 3)
  check_decisions("stages", { sc.standardize(), sc.features{ p = gaussian, phi = fourier, T = 75,
    seed = 1 }, sc.standardize(), sc.normalize(), sc.solver.ridge{ lambda = 1e-3 } }, X, 3)
  check_decisions("columns", { sc.standardize(), sc.solver.ridge{ lambda = 1e-3 } }, X, 3)
end

os.exit(lu.LuaUnit.run(), true)

-- solver.cg for several targets at once, against elimination by solver.ridge on the same features:
-- one space of directions, samples of the rows in float32 and float64, sweeps of rows in pieces.
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

-- Targets: smooth ones, a copy of the first up to a factor and a constant, and zeros.
local function data_of(n, scale)
  local X, noise, y = sc.randn{ n, 5, seed = 1 }, sc.randn{ n, 4, seed = 2 }, {}
  for i = 1, n do
    local first = math.sin(3 * X:get(i, 1)) + 0.1 * noise:get(i, 1)
    y[i] = { first, 2 * first + 1, X:get(i, 2) ^ 2 + 0.1 * noise:get(i, 2), 0,
      100 * math.cos(X:get(i, 3)) + noise:get(i, 3) }
    for j = 1, 5 do y[i][j] = y[i][j] * (scale or 1) end
  end
  return sc.dataset{ X = X, y = sc.matrix(y), task = "regression" }
end

local function sinks(T, dtype)
  return sc.features{ p = sc.sampler.gaussian{ gamma = 0.2 }, phi = sc.nonlinearity.fourier(),
    T = T, seed = 3, dtype = dtype }
end

local function fit(ds, features, solver) return sc.pipeline{ features, solver }:fit(ds) end

-- How far the coefficients are from those of ridge, relative to them.
local function away(ds, features, given)
  local exact = fit(ds, features, sc.solver.ridge{ lambda = given.lambda, form = "primal",
    intercept = given.intercept })
  local m = fit(ds, features, sc.solver.cg(given))
  return (m:weights() - exact:weights()):norm() / exact:weights():norm(), m:info()
end

-- Fewer rows in the sample than features (the system of order m), and more.
function TestSolutionsAreThoseOfRidge()
  local ds = data_of(900)
  for _, T in ipairs{ 60, 300 } do
    for _, lambda in ipairs{ 1e-1, 1e-3, 1e-5 } do
      for _, intercept in ipairs{ false, true } do
        local far, info = away(ds, sinks(T), { lambda = lambda, intercept = intercept, rank = 150,
          tolerance = 1e-11 })
        lu.assertEquals(info.status, "converged")
        lu.assertTrue(far < 1e-6, ("T = %d, lambda = %g: %g"):format(T, lambda, far))
      end
    end
  end
end

-- float32 features leave residuals of about 1e-6.
function TestSolutionsOnFloat32FeaturesAreThoseOfRidge()
  local ds = data_of(900)
  for _, lambda in ipairs{ 1e-1, 1e-3 } do
    local far, info = away(ds, sinks(300, "float32"), { lambda = lambda, intercept = true,
      rank = 150, tolerance = 1e-5 })
    lu.assertEquals(info.status, "converged")
    lu.assertTrue(far < 1e-3, ("lambda = %g: %g"):format(lambda, far))
  end
end

-- Whole rows of D = 1200 float64 numbers are multiplied 256 at a time.
function TestSweepsInPieces()
  local far, info = away(data_of(1111), sinks(1200), { lambda = 1e-3, intercept = true, rank = 200,
    tolerance = 1e-10 })
  lu.assertEquals(info.status, "converged")
  lu.assertTrue(far < 1e-6, far)
end

-- Other targets change the way, not the solution; several take no more sweeps than the slowest.
function TestTargetsAloneAndTogether()
  local ds, slowest = data_of(700), 0
  local given = { lambda = 1e-4, rank = 50, tolerance = 1e-10, intercept = true }
  local together = fit(ds, sinks(200), sc.solver.cg(given))
  for j = 1, 5 do
    local y = {}
    for i = 1, 700 do y[i] = ds:targets():get(i, j) end
    local alone = fit(sc.dataset{ X = ds.X, y = y, task = "regression" }, sinks(200),
      sc.solver.cg(given))
    slowest = math.max(slowest, alone:info().iterations)
    local norm, sum = 0, 0
    for t = 1, 200 do
      norm = norm + alone:weights():get(t, 1) ^ 2
      sum = sum + (alone:weights():get(t, 1) - together:weights():get(t, j)) ^ 2
    end
    lu.assertTrue(sum <= 1e-12 * norm, j)
  end
  lu.assertTrue(together:info().iterations <= slowest)
end

-- Samples that float32 does not hold: mu below what its rounding allows, numbers out of its range.
function TestWhereFloat32DoesNotSuffice()
  local far, info = away(data_of(900), sinks(300), { lambda = 1e-7, damping = 1e-9, rank = 250,
    intercept = true, tolerance = 1e-9, max_iterations = 5000 })
  lu.assertEquals(info.status, "converged")
  lu.assertTrue(far < 1e-3, far)
  local X = sc.randn{ 200, 40, seed = 4 }
  for _, scale in ipairs{ 1e-30, 1e25 } do
    local y = {}
    for i = 1, 200 do y[i] = X:get(i, 1) + math.sin(X:get(i, 2)) end
    local ds = sc.dataset{ X = X * scale, y = y, task = "regression" }
    local solvers = { lambda = 1e-2 * scale * scale, intercept = true }
    local exact = sc.pipeline{ sc.solver.ridge(solvers) }:fit(ds)
    solvers.rank, solvers.tolerance = 30, 1e-10
    local m = sc.pipeline{ sc.solver.cg(solvers) }:fit(ds)
    lu.assertEquals(m:info().status, "converged")
    lu.assertTrue((m:weights() - exact:weights()):norm() < 1e-6 * exact:weights():norm(), scale)
  end
end

function TestThreadsAndMemoryChangeNothing()
  local before, want = core.threads(), nil
  for _, case in ipairs{ { 1 }, { 3 }, { 2, 0 } } do
    core.threads(case[1])
    local m = sc.pipeline{ sinks(1000, "float32"), sc.solver.cg{ lambda = 1e-3, rank = 300 },
      allowance = case[2] }:fit(data_of(1200))
    want = want or m:weights()
    lu.assertEquals((m:weights() - want):abs():max(), 0)
  end
  core.threads(before)
end

os.exit(lu.LuaUnit.run(), true)

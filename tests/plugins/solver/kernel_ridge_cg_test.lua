-- kernel_ridge{ method = "cg" }: conjugate gradients with a preconditioner of low rank, beside the
-- factor of K and beside the linear system itself.
local lu = require "luaunit"
local sc = require "scullery"
local fails = dofile("tests/helpers/support.lua").fails

local path = os.tmpname()
local n = 300
local X = sc.randn{ n, 3, seed = 1 }
local y = sc.hcat(X:column(1):map(math.sin), X:column(2):mul(X:column(3)) + 2)
local weights = {}
for i = 1, n do weights[i] = 0.5 + i % 3 end
local ds = sc.dataset{ X = X, y = y, weights = weights, task = "regression" }
local kernel = sc.kernel.gaussian{ gamma = 0.3 }

local function fit(given, rows)
  given.kernel, given.lambda = given.kernel or kernel, given.lambda or 1e-5
  return sc.pipeline{ sc.solver.kernel_ridge(given) }:fit(rows or ds)
end
local function gap(a, b) return (a - b):abs():max() end

-- (K + n lambda W^-1) b = y - f0, 1'b = 0: the model's coefficients solve it.
function TestTheSystem()
  for _, intercept in ipairs{ false, true } do
    local p = fit{ method = "cg", tolerance = 1e-9, intercept = intercept }
    local info = p:info()
    lu.assertEquals(info.status, "converged")
    lu.assertTrue(info.residual <= 1e-9 and info.iterations > 1)
    lu.assertTrue(gap(p:predict(X), fit{ method = "direct", intercept = intercept }:predict(X))
      < 1e-6)
    local total = 0
    for i = 1, n do total = total + weights[i] end
    -- K b + f0 = f(x), and so b = (y - f(x)) w / (n lambda)
    local b = (y - p:predict(X)):mul(sc.hcat(sc.matrix(weights), sc.matrix(weights)))
      * (1 / (total * 1e-5))
    local f = kernel:gram(X, X) * b
    if intercept then
      lu.assertTrue(b:sum(1):abs():max() < 1e-3)
      f = f - sc.ones(n, 1) * f:mean(1)
      lu.assertTrue(gap(f, p:predict(X) - sc.ones(n, 1) * p:predict(X):mean(1)) < 1e-4)
    else
      lu.assertTrue(gap(f, p:predict(X)) < 1e-4)
    end
  end
end

-- Products whose tiles are made again have the bits of those whose tiles are kept; so have threads.
function TestTheSameBits()
  local function predicted(allowance)
    return sc.pipeline{ sc.solver.kernel_ridge{ kernel = kernel, lambda = 1e-4, method = "cg" },
      allowance = allowance }:fit(ds):predict(X)
  end
  local kept = predicted()
  lu.assertEquals(predicted(0), kept)
  local threads = sc.threads()
  sc.threads(1)
  lu.assertEquals(predicted(), kept)
  sc.threads(threads)
end

-- The rank changes the number of steps, not the solution; a search shares the preconditioner.
function TestRankAndSearch()
  local wide, narrow = fit{ method = "cg", rank = 150 }, fit{ method = "cg", rank = 5 }
  lu.assertTrue(wide:info().iterations < narrow:info().iterations)
  lu.assertTrue(gap(wide:predict(X), narrow:predict(X)) < 1e-3)
  local function best(method)
    return sc.pipeline{ sc.solver.kernel_ridge{ kernel = kernel, method = method,
      lambda = sc.choose{ 1e-6, 1e-4, 1e-2 } } }:search(ds, { folds = 3, seed = 0 })
  end
  local a, b = best "cg", best "direct"
  lu.assertEquals(a.choice["solver.lambda"], b.choice["solver.lambda"])
  lu.assertAlmostEquals(a.table.best.mean, b.table.best.mean, 1e-4)
  a:save(path)
  lu.assertEquals(sc.load(path):predict(X), a:predict(X))
end

-- A kernel matrix of rank 4, and more rank asked for than there is.
function TestLowRank()
  local p = fit{ method = "cg", kernel = sc.kernel.linear(), rank = 200, lambda = 1e-3,
    intercept = true }
  lu.assertEquals(p:info().status, "converged")
  lu.assertTrue(gap(p:predict(X), fit{ method = "direct", kernel = sc.kernel.linear(),
    lambda = 1e-3, intercept = true }:predict(X)) < 1e-5)
end

-- A residual below rounding is not reached, which the note says.
function TestTooSmallATolerance()
  local info = fit{ method = "cg", rank = 5, tolerance = 1e-19 }:info()
  lu.assertEquals(info.status, "iterations exhausted")
  lu.assertStrContains(info.note, " steps of conjugate gradients leave a residual of ")
end

function TestWhatItRefuses()
  fails({ "lambda above 0" }, fit, { method = "cg", lambda = 0 })
  fails({ "method", "direct" }, fit, { method = "cgg" })
  fails({ "tolerance" }, fit, { method = "cg", tolerance = 0 })
end

local status = lu.LuaUnit.run()
os.remove(path)
os.exit(status, true)

-- Standard deviations and draws: against closed forms, between the primal and the dual form,
-- between rows and sums, and against Monte Carlo with its standard error.
local lu = require "luaunit"
local sc = require "scullery"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local support = require "support"
local fails = support.fails

local n = 120
local X = sc.randn{ n, 2, seed = 1 }
local y = (X:column(1) * 2):map(math.sin) + sc.randn{ n, 1, seed = 2 } * 0.3 + 5
local at = sc.randn{ 15, 2, seed = 3 } * 1.5

local function features(T, given)
  given = given or {}
  given.p, given.phi = sc.sampler.gaussian{ sigma = 0.7 }, given.phi or sc.nonlinearity.fourier()
  given.T, given.seed = T, 1
  return sc.features(given)
end

local function close(a, b, tolerance, what)
  lu.assertEquals({ a:rows(), a:cols() }, { b:rows(), b:cols() })
  local most = (a - b):abs():max() / math.max(b:abs():max(), 1e-300)
  lu.assertTrue(most < tolerance, ("%s: %.3g"):format(what or "", most))
end

-- One column without features: the variance of simple linear regression.
function TestSimpleLinearRegression()
  local x = X:column(1):copy()
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-12, intercept = true } }
    :fit(sc.dataset{ X = x, y = y })
  local mean, square = x:mean(), 0
  for i = 1, n do square = square + (x:get(i, 1) - mean) ^ 2 end
  local new = at:column(1):copy()
  local said, std = p:predict(new, { std = true, noise = 2.25 })
  local _, noisy = p:predict(new, { std = "row", noise = 2.25 })
  lu.assertTrue(said == p:predict(new))
  for i = 1, new:rows() do
    local want = 2.25 * (1 / n + (new:get(i, 1) - mean) ^ 2 / square)
    lu.assertAlmostEquals(std:get(i, 1) ^ 2, want, 1e-9 * want)
    lu.assertAlmostEquals(noisy:get(i, 1) ^ 2, want + 2.25, 1e-9 * want)
  end
  -- the unbiased variance of the residuals is that of "gcv": two parameters
  local r = y - p:predict(x)
  local _, own = p:predict(new, { std = true, noise = "gcv" })
  close(own, std * math.sqrt(r:dot(r) / (n - 2) / 2.25), 1e-6, "gcv")
  -- held-out rows, one of them twice by its weight: r^2/(1 + v)
  local truth, sum, weights = sc.randn{ new:rows(), 1, seed = 8 } * 3, 0, {}
  for i = 1, new:rows() do
    weights[i] = i == 1 and 2 or 1
    sum = sum + weights[i] * (truth:get(i, 1) - said:get(i, 1)) ^ 2
      / (1 + std:get(i, 1) ^ 2 / 2.25)
  end
  local _, held = p:predict(new, { std = true,
    noise = sc.dataset{ X = new, y = truth, weights = weights } })
  close(held, std * math.sqrt(sum / (new:rows() + 1) / 2.25), 1e-9, "held-out rows")
end

-- With lambda the evidence's noise is the mean of squared residuals and penalty; the same features
-- are solved in the dual form where there are more of them than rows, and by copies of rows.
function TestDualAndPrimalAgree()
  for _, intercept in ipairs{ true, false } do
    for _, dtype in ipairs{ "float64", "int16" } do
      local solver = sc.solver.ridge{ lambda = 1e-2, intercept = intercept }
      local wide = sc.pipeline{ features(150, { dtype = dtype }), solver }
      local dual = wide:clone():fit(X, y)
      local order = {}
      for i = 1, 2 * n do order[i] = (i - 1) % n + 1 end
      -- every row twice with half the weight: the same posterior, more rows than features
      local half = sc.ones(2 * n, 1) * 0.5
      local primal = wide:clone():fit(sc.dataset{ X = X:select(order), y = y:select(order),
        weights = half })
      for _, noise in ipairs{ "evidence", "prior", "gcv", 0.3 } do
        local _, a = dual:predict(at, { std = true, noise = noise })
        local _, b = primal:predict(at, { std = true, noise = noise })
        close(a, b, dtype == "int16" and 2e-2 or 1e-6, noise)
      end
      local f = dual.fitted
      local r = y - dual:predict(X)
      local want = (r:dot(r) + n * 1e-2 * f.weights:dot(f.weights)) / (n - (intercept and 1 or 0))
      local _, own = dual:predict(at, { std = true })
      local _, given = dual:predict(at, { std = true, noise = want })
      close(own, given, 1e-6, "evidence")
    end
  end
end

-- The posterior of the sums is that of the rows, also of joined sums, and penalty a'Ga has one.
function TestSumsAndKernels()
  local ds = sc.dataset{ X = X, y = y }
  for _, given in ipairs{ {}, { K = sc.kernel.gaussian{ width = 1 } } } do
    local p = sc.pipeline{ features(40, given), sc.solver.ridge{ lambda = 1e-3,
      penalty = given.K and "rkhs" or "l2", intercept = true } }
    local _, want = p:clone():fit(ds):predict(at, { std = true })
    local _, kept = p:clone():fit(ds, { sums = true }):predict(at, { std = true })
    close(kept, want, 1e-9, "sums")
    if not given.K then
      local joined = sc.merge{ p:sums(ds) }:solve()
      local _, merged = joined:predict(at, { std = true })
      close(merged, want, 1e-9, "merged")
    end
  end
end

-- Draws have the mean and the deviation of the posterior, in both forms: within four standard
-- errors of 1500 draws.
function TestDraws()
  local count = 1500
  for _, T in ipairs{ 40, 200 } do
    local p = sc.pipeline{ features(T), sc.solver.ridge{ lambda = 1e-3, intercept = true } }
      :fit(X, sc.hcat(y, y * -2))
    local mean, std = p:predict(at, { std = true })
    local sum, square = sc.zeros(15, 2), sc.zeros(15, 2)
    local list = p:draw{ seed = 3, count = count }
    lu.assertEquals(#list, count)
    lu.assertTrue(list[1]:predict(at) == p:draw{ seed = 3 }:predict(at))
    lu.assertFalse(list[2]:predict(at) == list[1]:predict(at))
    for _, one in ipairs(list) do
      local gap = one:predict(at) - mean
      sum, square = sum + gap, square + gap:mul(gap)
    end
    for i = 1, 15 do
      for j = 1, 2 do
        local s = std:get(i, j)
        lu.assertTrue(math.abs(sum:get(i, j) / count) < 4 * s / math.sqrt(count))
        local found = square:get(i, j) / count / s ^ 2
        lu.assertTrue(math.abs(found - 1) < 4 * math.sqrt(2 / count), found)
      end
    end
  end
end

-- Landmarks: far from the data the features are 0, and the deviation is that of the prior unless
-- the rest of the kernel is left out.
function TestTheRestOfTheKernel()
  local far = sc.matrix{ { 100, 100 } }
  for _, penalty in ipairs{ "l2", "rkhs" } do
    local p = sc.pipeline{ sc.features{ p = sc.sampler.landmarks{}, phi = sc.kernel.gaussian{
      gamma = 0.5 }, T = 20, seed = 1 }, sc.solver.ridge{ lambda = 0.01 / n, penalty = penalty,
      intercept = false } }:fit(X, y)
    local _, whole = p:predict(far, { std = true, noise = "prior" })
    lu.assertAlmostEquals(whole:get(1, 1), 1, 1e-6) -- k(x, x) = 1
    local _, part = p:predict(far, { std = true, noise = "prior", residual = false })
    lu.assertAlmostEquals(part:get(1, 1), 0, 1e-6)
    local _, near = p:predict(X, { std = true, noise = "prior" })
    lu.assertTrue(near:max() < 1 and near:min() > 0)
  end
end

-- The standard deviation of the exact Gaussian process with the kernel exp(-gamma d^2), by its own
-- formula: that of sections at all rows; that of random features differs by O(T^-1/2), which falls
-- as T grows.
function TestTheGaussianProcess()
  local count, gamma, noise = 25, 0.5, 0.05 -- below also a gamma whose k(W, W) is nearly singular
  local A, b = X:slice(1, count):copy(), y:slice(1, count):copy()
  local function k(u, i, v, j)
    local square = 0
    for c = 1, 2 do square = square + (u:get(i, c) - v:get(j, c)) ^ 2 end
    return math.exp(-gamma * square)
  end
  local function factor()
    local L = {}
    for i = 1, count do
      L[i] = {}
      for j = 1, i do
        local sum = k(A, i, A, j) + (i == j and noise or 0)
        for c = 1, j - 1 do sum = sum - L[i][c] * L[j][c] end
        L[i][j] = i == j and math.sqrt(sum) or sum / L[j][j]
      end
    end
    return L
  end
  local L = factor()
  local function exact(i)
    local v, square = {}, 0
    for r = 1, count do
      local sum = k(A, r, at, i)
      for c = 1, r - 1 do sum = sum - L[r][c] * v[c] end
      v[r] = sum / L[r][r]
      square = square + v[r] ^ 2
    end
    return math.sqrt(1 - square)
  end
  local worst = {}
  for _, T in ipairs{ 300, 20000 } do
    local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ gamma = gamma },
      phi = sc.nonlinearity.fourier{ form = "pair" }, T = T, seed = 1 },
      sc.solver.ridge{ lambda = noise / count, intercept = false } }:fit(A, b)
    local _, std = p:predict(at, { std = true, noise = "prior" })
    worst[T] = 0
    for i = 1, at:rows() do
      worst[T] = math.max(worst[T], math.abs(std:get(i, 1) / exact(i) - 1))
    end
  end
  lu.assertTrue(worst[20000] < 0.05, worst[20000])
  lu.assertTrue(worst[20000] < worst[300] / 3, worst[300])
  local path = os.tmpname()
  for case = 1, 12 do
    gamma = case % 2 == 0 and 0.5 or 0.005
    L = factor()
    local penalty = case % 4 < 2 and "l2" or "rkhs"
    local dtype = ({ "float64", "float32", "int16" })[case % 3 + 1]
    local p = sc.pipeline{ sc.features{ p = sc.sampler.landmarks{}, T = count, dtype = dtype,
      phi = sc.kernel.gaussian{ gamma = gamma } },
      sc.solver.ridge{ lambda = noise / count, penalty = penalty, intercept = false } }:fit(A, b)
    local _, std = p:predict(at, { std = true, noise = "prior" })
    for i = 1, at:rows() do
      lu.assertAlmostEquals(std:get(i, 1) / exact(i), 1, gamma == 0.5 and 1e-8 or 1e-5,
        table.concat({ gamma, penalty, dtype }, " "))
    end
    local draws, some = 200, {}
    for i, one in ipairs(p:draw{ count = draws, noise = "prior" }) do
      some[i] = one:predict(at):get(1, 1)
    end
    _, std = p:predict(at, { std = true, noise = "prior", residual = false })
    local share = sc.matrix(some):std() / std:get(1, 1)
    lu.assertTrue(math.abs(share ^ 2 - 1) < 4 * math.sqrt(2 / draws), dtype)
    local one = p:draw{ seed = case }
    one:save(path)
    lu.assertTrue(sc.load(path):predict(at) == one:predict(at))
  end
  os.remove(path)
end

function TestANearlySingularSystemIsTold()
  local close_rows = sc.rand{ 40, 1, seed = 5 }
  local p = sc.pipeline{ sc.features{ p = sc.sampler.landmarks{}, phi = sc.kernel.gaussian{
    gamma = 0.5 }, T = 40 }, sc.solver.ridge{ lambda = 1e-6, penalty = "rkhs" } }
    :fit(sc.dataset{ X = close_rows, y = close_rows }, { sums = true })
  local said = support.stderr_of(function()
    for _ = 1, 2 do p:predict(close_rows, { std = true }) end
  end)
  lu.assertEquals(select(2, said:gsub("nearly singular", "")), 1)
  lu.assertStrContains(said, 'penalty = "l2" does without')
end

function TestTransformedTargetsAndClasses()
  local stages = { features(40), sc.solver.ridge{ lambda = 1e-3 }, target = "standardize" }
  local p = sc.pipeline(stages):fit(X, y)
  local _, std = p:predict(at, { std = true })
  local _, scores = p:decision(at, { std = true })
  close(std, scores * p.fitted.form.scale[1], 1e-12)
  stages.target = "log"
  local logs = sc.pipeline(stages):fit(X, y)
  fails({ "logarithms", "p:decision" }, logs.predict, logs, at, { std = true })
  lu.assertTrue(select(2, logs:decision(at, { std = true })):min() > 0)
  local labels = {}
  for i = 1, n do labels[i] = X:get(i, 1) > 0 and "a" or "b" end
  local c = sc.pipeline{ features(40), sc.solver.ridge{ lambda = 1e-3 } }:fit(X, labels)
  fails({ "p:decision" }, c.predict, c, at, { std = true })
  lu.assertTrue(select(2, c:decision(at, { std = true })):min() > 0)
end

function TestSavedPosteriors()
  support.in_folder(function(folder)
    local path = folder .. "/m.safetensors"
    for _, T in ipairs{ 40, 200 } do
      local p = sc.pipeline{ features(T), sc.solver.ridge{ lambda = 1e-3 } }:fit(X, y)
      local _, want = p:predict(at, { std = true })
      p:save(path)
      local bare = sc.load(path)
      fails({ "std = true" }, bare.predict, bare, at, { std = true })
      fails({ "std = true" }, bare.draw, bare)
      p:save(path, { std = true })
      local mean, std = sc.load(path):predict(at, { std = true })
      lu.assertTrue(std == want and mean == p:predict(at))
      lu.assertTrue(sc.load(path):draw{ seed = 9 }:predict(at) == p:draw{ seed = 9 }:predict(at))
      lu.assertTrue(select(2, sc.load(path):predict(at, { std = true, noise = "gcv" }))
        == select(2, p:predict(at, { std = true, noise = "gcv" })))
    end
  end)
end

function TestWhatHasNoPosterior()
  local p = sc.pipeline{ features(30), sc.solver.lasso{ lambda = 1e-3 } }:fit(X, y)
  fails({ "ridge", "lasso" }, p.predict, p, at, { std = true })
  fails({ "ridge", "lasso" }, p.draw, p)
  local r = sc.pipeline{ features(30), sc.solver.ridge{ lambda = 1e-3 } }
  fails({ "not fitted" }, r.draw, r)
  r:fit(X, y)
  fails({ "std" }, r.predict, r, at, { std = "rows" })
  fails({ "noise" }, r.predict, r, at, { std = true, noise = -1 })
  fails({ "go with std" }, r.predict, r, at, { noise = "gcv" })
  fails({ "columns" }, r.predict, r, sc.zeros(2, 3), { std = true })
  fails({ "count" }, r.draw, r, { count = 0 })
end

os.exit(lu.LuaUnit.run(), true)

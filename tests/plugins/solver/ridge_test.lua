-- Learning: normal equations, their dual, searching in one pass, bounds, and what goes wrong.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local support = dofile("tests/helpers/support.lua")
local fails = support.fails

local ds = sc.data.load("wdbc")
local train, test = ds:split{ test = 0.25, seed = 0 }

local function sinks(given)
  given = given or {}
  return sc.features{ p = sc.sampler.gaussian{ sigma = 0.15 }, phi = sc.nonlinearity.fourier(),
    T = given.T or 60, seed = 1, dtype = given.dtype }
end
local function weighting(T) return sc.instantiation{ W = sc.space.threshold(),
  K = sc.kernel.gaussian{ width = 1 },
  p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign() }:features{ T = T or 60,
    seed = 0 } end

local function fit(stages, data) return sc.pipeline(stages):fit(data or train) end

-- largest |(Phi'Phi + n lambda P) a - Phi'y| relative to the largest |Phi'y|, formed from the whole
-- feature matrix
local function residual(model, lambda, P, data)
  local phi, y, a = model:transform(data.X), data:targets(), model:weights()
  local right = phi:t() * y
  local left = phi:t() * (phi * a) + (P and P * a or a) * (lambda * phi:rows())
  return (left - right):abs():max() / right:abs():max()
end

function TestRidgeSolvesTheNormalEquations()
  local l2 = fit{ sc.standardize(), sinks(),
    sc.solver.ridge{ lambda = 1e-3, intercept = false } }
  lu.assertTrue(residual(l2, 1e-3, nil, train) < 1e-10)
  lu.assertEquals(l2:info().status, "converged")
  lu.assertTrue(l2:info().residual <= l2:info().tolerance)
end

function TestRkhsRidgeSolvesItsNormalEquations()
  local m = fit{ sc.standardize(), weighting(), sc.solver.ridge{ lambda = 1e-4, penalty = "rkhs" } }
  local staged = sc.pipeline{ sc.standardize() }:fit(train):transform(train.X)
  local G = weighting():fit(staged):gram()
  lu.assertTrue(residual(m, 1e-4, G, train) < 1e-7)
  local a = m:weights()
  lu.assertAlmostEquals(m:norm(), math.sqrt((a:t() * G * a):get(1, 1)), 1e-8 * m:norm())
end

function TestDualGivesThePrimalSolution()
  local few = train:subset(1, 50)
  for _, intercept in ipairs{ false, true } do
    local function solve(form)
      return fit({ sc.standardize(), sinks{ T = 90 }, sc.solver.ridge{ lambda = 1e-3, form = form,
        intercept = intercept } }, few)
    end
    local primal, dual = solve("primal"), solve("dual")
    lu.assertTrue((primal:weights() - dual:weights()):abs():max() < 1e-8)
    lu.assertAlmostEquals(primal:intercept():get(1, 1), dual:intercept():get(1, 1), 1e-9)
    -- more features than rows
    lu.assertTrue((solve("auto"):weights() - dual:weights()):abs():max() == 0)
  end
end

function TestInterceptIsUnpenalised()
  -- one more target added to all rows moves the intercept and nothing else
  local x = sc.randn{ 80, 3, seed = 1 }
  local y = x:column(1) * 2 - x:column(2)
  local function solve(shift)
    return sc.pipeline{ sc.solver.ridge{ lambda = 0.1, intercept = true } }:fit(x, y + shift)
  end
  local plain, moved = solve(0), solve(1000)
  lu.assertTrue((plain:weights() - moved:weights()):abs():max() < 1e-9)
  lu.assertAlmostEquals(moved:intercept():get(1, 1) - plain:intercept():get(1, 1), 1000, 1e-8)
  lu.assertTrue((moved:decision(x) - moved:transform(x) * moved:weights() - moved:intercept():get(1,
    1)):abs():max() < 1e-10)
end

function TestLinearModelAgainstClosedForm()
  local x = sc.matrix{ { 1, 0 }, { 0, 1 }, { 1, 1 }, { 2, 1 } }
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 0.5, intercept = false } }:fit(x,
    sc.matrix{ 1, 2, 3, 4 })
  -- (X'X + 2 I) a = X'y: [8 3; 3 5] a = [12; 9]
  lu.assertAlmostEquals(p:weights():get(1, 1), (12 * 5 - 3 * 9) / 31, 1e-12)
  lu.assertAlmostEquals(p:weights():get(2, 1), (8 * 9 - 3 * 12) / 31, 1e-12)
end

function TestBlocksAndThreadsChangeNothing()
  local before, want = core.threads()
  for _, case in ipairs{ { nil, 1 }, { 1, 1 }, { 17, 4 }, { 100000, 4 } } do
    core.threads(case[2])
    local stages = { sc.standardize(), sc.add_bias(), weighting(),
      sc.solver.ridge{ lambda = 1e-4, penalty = "rkhs" } }
    stages.block = case[1]
    local got = fit(stages):decision(test)
    want = want or got
    lu.assertTrue((got - want):abs():max() < 1e-8,
      ("block %s, %d threads"):format(tostring(case[1]), case[2]))
  end
  core.threads(before)
end

function TestThreadsGiveTheSameBits()
  local before, want = core.threads()
  for _, threads in ipairs{ 1, 2, 5 } do
    core.threads(threads)
    local got = fit{ sc.standardize(), sinks{ T = 300 },
      sc.solver.ridge{ lambda = 1e-4 } }:weights()
    want = want or got
    lu.assertTrue(got == want)
  end
  core.threads(before)
end

function TestStreamedRowsGiveTheSameModel()
  local stages = { sc.standardize(), sinks(), sc.solver.ridge{ lambda = 1e-4 }, block = 50 }
  local gap = fit(stages, support.streamed(train)):decision(test.X) - fit(stages):decision(test)
  lu.assertTrue(gap:abs():max() < 1e-8)
end

function TestStreamsAreScoredInOneWalk()
  local x = train.X
  local labels = sc.data.rows{ n = #train, d = 30, classes = train.classes,
    read = function(first, count)
    return x:slice(first, first + count - 1), train.y:slice(first, first + count - 1)
  end }
  local m = fit{ sc.standardize(), sinks(), sc.solver.ridge{ lambda = 1e-4 } }
  lu.assertAlmostEquals(m:score(labels), m:score(train), 1e-12)
  lu.assertAlmostEquals(m:error(labels), m:error(train), 1e-12)
  local values = sc.data.rows{ n = #train, d = 30, read = function(first, count)
    return x:slice(first, first + count - 1), x:slice(first, first + count - 1, 1, 1)
  end }
  local r = sc.pipeline{ sc.solver.ridge{ lambda = 1e-4 } }:fit(x:slice(1, #train, 2, 30),
    x:column(1):copy())
  lu.assertFalse(pcall(r.score, r, values)) -- other columns
  r = sc.pipeline{ sc.standardize(), sinks(), sc.solver.ridge{ lambda = 1e-4 } }:fit(x,
    x:column(1):copy())
  lu.assertAlmostEquals(r:score(values), r:score(x, x:column(1):copy()), 1e-9)
  lu.assertAlmostEquals(r:error(values), r:error(x, x:column(1):copy()), 1e-9)
end

function TestFloat32StatesItsLoss()
  local wide = fit{ sc.standardize(), sinks(), sc.solver.ridge{ lambda = 1e-3 } }
  local narrow = fit{ sc.standardize(), sinks{ dtype = "float32" },
    sc.solver.ridge{ lambda = 1e-3 } }
  lu.assertTrue((wide:decision(test) - narrow:decision(test)):abs():max() < 1e-3)
  lu.assertAlmostEquals(wide:info().loss, narrow:info().loss, 1e-4)
end

function TestLossIsTheMeanSquaredError()
  local m = fit{ sc.standardize(), sinks(), sc.solver.ridge{ lambda = 1e-3 } }
  lu.assertAlmostEquals(m:info().loss, sc.metrics.mse(m:decision(train), train:targets()), 1e-9)
end

-- The search's cells against folds done one by one.
local function by_hand(lambdas, score)
  local ids, result = train:fold_ids{ k = 4, seed = 7 }, {}
  local staged = sc.pipeline{ sc.standardize() }:fit(train):transform(train.X)
  for c, lambda in ipairs(lambdas) do
    local sum = 0
    for f = 1, 4 do
      local inside, outside = {}, {}
      for i, id in ipairs(ids) do table.insert(id == f and outside or inside, i) end
      local a = sc.dataset{ X = staged, y = train.y }
      local m = sc.pipeline{ sinks(), sc.solver.ridge{ lambda = lambda } }:fit(a:select(inside))
      local b = a:select(outside)
      sum = sum + (score == "error" and m:error(b) or sc.metrics.mse(m:decision(b), b:targets()))
    end
    result[c] = sum / 4
  end
  return result
end

function TestSearchEqualsFoldsOneByOne()
  local lambdas = { 1e-5, 1e-3, 1e-1 }
  for _, score in ipairs{ "error", "loss" } do
    local best = sc.pipeline{ sc.standardize(), sinks(),
      sc.solver.ridge{ lambda = sc.choose(lambdas) } }:search(train,
      { folds = 4, seed = 7, score = score })
    local want, least = by_hand(lambdas, score), 1
    for c = 1, 3 do
      lu.assertAlmostEquals(best.table[c].mean, want[c], 1e-7)
      if want[c] < want[least] then least = c end
    end
    lu.assertEquals(best.choice["solver.lambda"], lambdas[least])
  end
end

function TestSearchRefitsOnAllRows()
  local best = sc.pipeline{ sc.standardize(), sinks(),
    sc.solver.ridge{ lambda = sc.choose{ 1e-5, 1e-3 } } }:search(train, { folds = 3 })
  local plain = fit{ sc.standardize(), sinks(),
    sc.solver.ridge{ lambda = best.choice["solver.lambda"] } }
  lu.assertTrue((best:decision(test) - plain:decision(test)):abs():max() < 1e-8)
  lu.assertStrContains(tostring(best.table), "best")
  lu.assertEquals(best:fit(train):info().status, "converged") -- the choice is put in
end

function TestSearchOverSeveralOptions()
  local best = sc.pipeline{ sc.standardize(),
    sc.features{ p = sc.sampler.gaussian{ sigma = sc.choose{ 0.05, 0.15 } },
      phi = sc.nonlinearity.fourier(), T = sc.choose{ 30, 60 }, seed = 1 },
    sc.solver.ridge{ lambda = sc.choose{ 1e-5, 1e-3 } } }:search(train, { folds = 3 })
  lu.assertEquals(#best.table, 8)
  for _, name in ipairs{ "sampler.sigma", "features.T", "solver.lambda" } do
    lu.assertNotNil(best.choice[name], name)
  end
end

function TestDualSearchInManyBlocks() -- the order of rows within folds is the same in every walk
  local x = sc.randn{ 2500, 3, seed = 1 }
  local y = {}
  for i = 1, 2500 do y[i] = x:get(i, 1) * x:get(i, 2) > 0 and "a" or "b" end
  local many = sc.dataset{ X = x, y = y }
  local cells = {}
  for _, form in ipairs{ "primal", "dual" } do
    local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
      phi = sc.nonlinearity.fourier(), T = 40 },
                           sc.solver.ridge{ lambda = sc.choose{ 1e-3, 1e-1 }, form = form } }
    cells[form] = p:search(many, { folds = 3, score = "loss" }).table
  end
  for c = 1, 2 do lu.assertAlmostEquals(cells.primal[c].mean, cells.dual[c].mean, 1e-6) end
end

function TestStagesFittedPerFold()
  local p = sc.pipeline{ sc.standardize(), sinks(),
    sc.solver.ridge{ lambda = sc.choose{ 1e-4, 1e-2 } } }
  local shared, strict = p:search(train, { folds = 3 }),
    p:search(train, { folds = 3, stages = "fold" })
  lu.assertTrue(math.abs(shared.table[1].mean - strict.table[1].mean) < 0.03)
end

function TestManyClasses()
  local x, y = sc.randn{ 300, 4, seed = 5 }, {}
  for i = 1, 300 do y[i] = (x:get(i, 1) > 0 and 1 or 0) + (x:get(i, 2) > 0 and 2 or 0) end
  local four = sc.dataset{ X = x, y = y, task = "classification" }
  local a, b = four:split{ test = 0.25 }
  local m = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.sign(), T = 300 }, sc.solver.ridge{ lambda = 1e-2 } }:fit(a)
  lu.assertTrue(m:score(b) > 0.85)
  lu.assertEquals(m:decision(b):cols(), 4)
  lu.assertTrue(m:predict(b):max() == 3 and m:predict(b):min() == 0) -- the labels themselves
  -- one column a target: each is the binary problem of its own
  local first = m:weights():column(1)
  local own = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.sign(), T = 300 }, sc.solver.ridge{ lambda = 1e-2 } }
    :fit(a.X, a:targets():column(1):copy())
  lu.assertTrue((own:weights() - first):abs():max() < 1e-10)
end

function TestBoundOfTheorem10()
  local m = fit{ sc.standardize(), sc.add_bias(), weighting(),
    sc.solver.ridge{ lambda = 1e-4, penalty = "rkhs" } }
  local b = m:bound{ delta = 0.05, B = m:norm() }
  local B, theta, n = m:norm(), 31 ^ -0.5 * 3 ^ -0.25, #train
  lu.assertAlmostEquals(b.theta, theta, 1e-12)
  local total = m:info().loss + 2 * B * 2 * (B * theta + 1) * theta / math.sqrt(n) + (
    B * theta + 1) ^ 2 * math.sqrt(math.log(20) / (2 * n))
  lu.assertAlmostEquals(b.total, total, 1e-9 * total)
  lu.assertTrue(b.total <= b.total_paper + 1e-12 and b.total > sc.metrics.mse(m:decision(test),
    test:targets()))
end

function TestSingularSystemsAreSaid()
  local x = sc.hcat(train.X, train.X) -- every column twice
  local m = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = 0 } }:fit(x, train.y)
  lu.assertEquals({ m:info().status, m:info().jitter }, { "converged", 0 })
  lu.assertStrContains(m:info().note, "singular")
  lu.assertTrue(m:score(sc.dataset{ X = x, y = train.y }) > 0.9)
end

-- Many stumps are the same on all rows: sums made in float32 are then singular, and those of
-- columns of two values are exact.
function TestStumpsInFloat32AreFittedForAnyLambda()
  local U = sc.rand{ 20000, 20, seed = 1 }
  local stumps = sc.features{ p = sc.sampler.threshold{}, phi = sc.nonlinearity.sign(), T = 1500,
    seed = 1, dtype = "float32" }
  local p = sc.pipeline{ sc.standardize(), stumps, sc.solver.ridge{ lambda = 1e-12 } }
  for _, case in ipairs{ { 100, true, 0.99 }, { 2, false, 0.999 } } do
    local X = U:map(function(v) return math.floor(v * case[1]) end)
    local y = X * sc.randn{ 20, 1, seed = 2 }
    lu.assertTrue(sc.metrics.r2(p:fit(X, y):predict(X), y) > case[3])
    core.bits(false) -- products in float32 are rounded, counts of bits are not
    local ok, m = pcall(p.fit, p, X, y)
    core.bits(true)
    lu.assertTrue(ok, m)
    if case[2] then lu.assertNotNil(m:info().note) end
    lu.assertTrue(sc.metrics.r2(m:predict(X), y) > case[3])
  end
end

function TestConstantColumnsAreHarmless()
  local x = sc.hcat(train.X, sc.ones(#train, 2) * 7)
  local m = sc.pipeline{ sc.standardize(), sinks(), sc.solver.ridge{ lambda = 1e-4 } }:fit(x,
    train.y)
  lu.assertTrue(m:transform(x):isfinite())
end

function TestBadData()
  local p = sc.pipeline{ sc.standardize(), sinks(), sc.solver.ridge{ lambda = 1e-4 } }
  local x = train.X:copy()
  x:set(2, 3, 0 / 0)
  fails({ "row 2", "column 3", "NaN" }, p.fit, p, x, train.y)
  x:set(2, 3, -math.huge)
  fails({ "row 2", "column 3", "infinity" }, p.fit, p, x, train.y)
  fails({ "not fitted" }, p.predict, p, test)
  fails({ "one class" }, p.fit, p, train:filter(function(_, _, y) return y == "B" end))
  fails({ "no rows" }, p.fit, p, sc.dataset{ X = sc.zeros(0, 3), y = sc.zeros(0, 1) })
  fails({ "no columns" }, p.fit, p, sc.dataset{ X = sc.zeros(3, 0), y = sc.ones(3, 1) })
  fails({ "3 classes in 2 rows" }, p.fit, p, sc.dataset{ X = sc.ones(2, 2), y = { "a", "b" },
    classes = { "a", "b", "c" } })
  fails({ "X and y have 4 and 3 rows" }, p.fit, p, sc.ones(4, 2), sc.ones(3, 1))
  p:fit(train)
  fails({ "7", "30" }, p.predict, p, sc.zeros(3, 7))
  fails({ "y is missing" }, p.fit, p, train.X)
end

function TestOneRow()
  local m = sc.pipeline{ sc.solver.ridge{ lambda = 1, intercept = false } }:fit(
    sc.matrix{ { 2, 0 } }, sc.matrix{ { 3 } })
  lu.assertAlmostEquals(m:weights():get(1, 1), 6 / 5, 1e-14)
end

function TestBadPipelines()
  local ridge = sc.solver.ridge{ lambda = 1 }
  fails({ "comes after" }, sc.pipeline, { ridge, sc.standardize() })
  fails({ "second solver" }, sc.pipeline, { ridge, ridge })
  fails({ "stage 2" }, sc.pipeline, { sc.standardize(), 5 })
  fails({ "at least one" }, sc.pipeline, {})
  fails({ "search" }, function()
    sc.pipeline{ sc.solver.ridge{ lambda = sc.choose{ 1, 2 } } }:fit(train)
  end)
  fails({ "nothing to search" }, function() sc.pipeline{ ridge }:search(train) end)
  fails({ "lambda", "-1" }, sc.solver.ridge, { lambda = sc.choose{ 1, -1 } })
  fails({ "rkhs", "K" }, function()
    sc.pipeline{ sinks(), sc.solver.ridge{ penalty = "rkhs" } }:fit(train)
  end)
  fails({ "folds" }, function()
    sc.pipeline{ sc.solver.ridge{ lambda = sc.choose{ 1, 2 } } }:search(train, { folds = 1 })
  end)
end

function TestInterruptStopsAFitCleanly()
  local p = sc.pipeline{ sc.standardize(), sinks(), sc.solver.ridge{ lambda = 1e-4 } }
  core.interrupt()
  fails({ "interrupted" }, p.fit, p, train)
  lu.assertTrue(p:fit(train):score(test) > 0.9) -- and nothing is left of it
end

function TestARowFunctionThatFails()
  fails({ "disk on fire" }, function()
    sc.data.rows{ n = 10, d = 2, read = function() error("disk on fire") end }
  end)
  local reads = 0
  local rows = sc.data.rows{ n = 10, d = 2, task = "regression", read = function(_, count)
    reads = reads + 1
    if reads > 1 then error("disk on fire") end
    return sc.ones(count, 2), sc.ones(count, 1)
  end }
  fails({ "disk on fire" }, function() sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(rows) end)
  rows = sc.data.rows{ n = 10, d = 2, read = function(_, count)
    return sc.ones(count, 3), sc.ones(count, 1)
  end }
  fails({ "10 x 3", "10 x 2" }, function()
    sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(rows)
  end)
end

function TestFailingAllocationsLoseNothing()
  local p = sc.pipeline{ sc.standardize(), sc.add_bias(), weighting(20),
    sc.solver.ridge{ lambda = 1e-4, penalty = "rkhs" } }
  local few = train:subset(1, 40)
  p:fit(few)
  p.fitted = nil
  collectgarbage()
  collectgarbage()
  local before, done = core.memory(), false
  for n = 0, 2000 do
    core.fail_allocation_after(n)
    local ok, message = pcall(p.fit, p, few)
    core.fail_allocation_after(-1)
    if ok then done = true break end
    lu.assertStrContains(tostring(message), "memory")
  end
  lu.assertTrue(done)
  p.fitted = nil
  collectgarbage()
  collectgarbage()
  lu.assertTrue(core.memory() <= before)
end

-- Features k(w_t, x) of landmarks whose k(W, W) is nearly singular: the types give one model.
function TestFloat32LandmarksOfANearlySingularKernel()
  local X = sc.randn{ 1000, 6, seed = 1 }
  local y = (X * sc.matrix{ 1, -2, 0.5, 0, 0.3, 1 }):map(math.sin)
  local function scores(dtype)
    local p = fit({ sc.features{ p = sc.sampler.landmarks(), T = 300, dtype = dtype,
      phi = sc.kernel.gaussian{ gamma = 0.1 } },
      sc.solver.ridge{ lambda = 1e-5, penalty = "rkhs" } }, sc.dataset{ X = X, y = y })
    lu.assertEquals(p:info().status, "converged")
    return p:decision(X)
  end
  lu.assertTrue((scores "float32" - scores "float64"):abs():max() < 0.01)
end

os.exit(lu.LuaUnit.run(), true)

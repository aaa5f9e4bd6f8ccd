-- Searching: what is tried, how it is judged, what is chosen, and what remains of a search that was
-- stopped.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local judging = require "scullery.model.judging"
local component = require "scullery.compose.component"
local fails = dofile("tests/helpers/support.lua").fails

local ds = sc.data.load("wdbc")
local train, test = ds:split{ test = 0.25, seed = 0 }

local function sinks(T, sigma)
  return sc.features{ p = sc.sampler.gaussian{ sigma = sigma or 0.15 },
    phi = sc.nonlinearity.fourier(), T = T or 60, seed = 1 }
end

-- ------------ leave-one-out, against leaving
-- each row out

local n = 30
local X = sc.randn{ n, 5, seed = 3 }
local Y = X * sc.randn{ 5, 2, seed = 4 } + sc.randn{ n, 2, seed = 5 } * 0.5
local values = sc.dataset{ X = X, y = Y, task = "regression" }
local labels, signs = {}, {}
for i = 1, n do
  labels[i] = (Y:get(i, 1) > 0 and 1 or 0) + (Y:get(i, 2) > 0 and 1 or 0)
  signs[i] = Y:get(i, 1) > 0 and "up" or "down"
end
local three = sc.dataset{ X = X, y = labels, task = "classification" }
local two = sc.dataset{ X = X, y = signs, task = "classification" }

local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 },
  K = sc.kernel.gaussian{ width = 2 }, phi = sc.nonlinearity.sign() }
local function model(lambda, given, estimate)
  local features = given.penalty == "rkhs" and inst:features{ T = 20, seed = 1 } or sinks(20, 1)
  return sc.pipeline{ features, sc.solver.ridge{ lambda = lambda, intercept = given.intercept,
    form = given.form, penalty = given.penalty, estimate = estimate } }
end

-- The penalty of all n rows is kept: n lambda = (n - 1) lambda'.
local function left_out(data, lambda, given, judge)
  local sum = 0
  for i = 1, n do
    local rest = {}
    for j = 1, n do if j ~= i then rest[#rest + 1] = j end end
    sum = sum + judge(model(lambda * n / (n - 1), given):fit(data:select(rest)), i)
  end
  return sum / n
end

local ways = {}
for _, intercept in ipairs{ false, true } do
  for _, form in ipairs{ "primal", "dual" } do
    ways[#ways + 1] = { intercept = intercept, form = form, penalty = "l2" }
  end
  ways[#ways + 1] = { intercept = intercept, form = "primal", penalty = "rkhs" }
end

function TestLeaveOneOutIsLeavingOneOut()
  for _, given in ipairs(ways) do
    local want = left_out(values, 0.01, given, function(m, i)
      local f = m:decision(X:select{ i })
      return (f:get(1, 1) - Y:get(i, 1)) ^ 2 + (f:get(1, 2) - Y:get(i, 2)) ^ 2
    end)
    lu.assertAlmostEquals(model(0.01, given, "loo"):fit(values):info().score / want, 1, 1e-8)
  end
end

function TestLeaveOneOutErrorIsLeavingOneOut()
  for _, data in ipairs{ two, three } do
    for _, given in ipairs(ways) do
      local want = left_out(data, 0.01, given, function(m, i)
        return m:predict(X:select{ i }):get(1, 1) ~= data.y:get(i, 1) and 1 or 0
      end)
      lu.assertAlmostEquals(model(0.01, given, "loo_error"):fit(data):info().score, want, 1e-12)
    end
  end
end

-- tr H column by column: what a fit to the i-th unit vector says of row i.
function TestGeneralisedCrossValidationInFull()
  for _, given in ipairs(ways) do
    local m, trace = model(0.01, given, "gcv"):fit(values), 0
    for i = 1, n do
      local unit = sc.zeros(n, 1)
      unit:set(i, 1, 1)
      trace = trace + model(0.01, given):fit(sc.dataset{ X = X, y = unit,
        task = "regression" }):decision(X):get(i, 1)
    end
    local residual = (m:decision(X) - Y):norm() ^ 2 / n
    lu.assertAlmostEquals(m:info().score / (residual / (1 - trace / n) ^ 2), 1, 1e-7)
  end
end

function TestWeightedLeaveOneOutLeavesARowOut()
  local weights = {}
  for i = 1, n do weights[i] = 0.5 + i % 3 end
  local total = 0
  for _, w in ipairs(weights) do total = total + w end
  local function data(rows)
    local w = {}
    for k, i in ipairs(rows) do w[k] = weights[i] end
    return sc.dataset{ X = X:select(rows), y = Y:select(rows), task = "regression", weights = w }
  end
  local all = {}
  for i = 1, n do all[i] = i end
  for _, intercept in ipairs{ false, true } do
    local given, sum = { intercept = intercept, form = "primal", penalty = "l2" }, 0
    for i = 1, n do
      local rest = {}
      for j = 1, n do if j ~= i then rest[#rest + 1] = j end end
      local f = model(0.01 * total / (total - weights[i]), given):fit(data(rest)):decision(
        X:select{ i })
      sum = sum + (f:get(1, 1) - Y:get(i, 1)) ^ 2 + (f:get(1, 2) - Y:get(i, 2)) ^ 2
    end
    lu.assertAlmostEquals(model(0.01, given, "loo"):fit(data(all)):info().score / (sum / n), 1,
      1e-8)
  end
end

function TestARowThatTheFitGoesThroughHasNoEstimate()
  local m = sc.pipeline{ sinks(60, 3), sc.solver.ridge{ lambda = 0, form = "primal",
    estimate = "loo" } }:fit(values)
  lu.assertTrue(m:info().score > 1e3)
  -- residuals of 0, which tell no more
  local zeros = sc.dataset{ X = sc.randn{ 40, 3, seed = 1 }, y = sc.zeros(40, 1) }
  local best = sc.pipeline{ sinks(60, 3), sc.solver.ridge{ lambda = sc.choose{ 0, 1e-3 },
    form = "primal" } }:search(zeros, { folds = "loo" })
  lu.assertEquals(best.choice["solver.lambda"], 1e-3)
end

function TestSearchByTheSolversOwnEstimate()
  local lambdas = { 1e-5, 1e-3, 1e-1 }
  local p = sc.pipeline{ sc.standardize(), sinks(), sc.solver.ridge{ lambda = sc.choose(lambdas) } }
  for _, folds in ipairs{ "loo", "gcv" } do
    local best = p:search(train, { folds = folds, score = "loss" })
    for c, lambda in ipairs(lambdas) do
      local one = sc.pipeline{ sc.standardize(), sinks(),
        sc.solver.ridge{ lambda = lambda, estimate = folds } }:fit(train)
      lu.assertAlmostEquals(best.table[c].mean, one:info().score, 1e-9)
    end
    lu.assertTrue(best:score(test) > 0.9)
  end
  local five = p:search(train, { folds = 100, score = "loss" })
  local loo = p:search(train, { folds = "loo", score = "loss" })
  for c = 1, 3 do lu.assertTrue(math.abs(five.table[c].mean - loo.table[c].mean) < 0.02) end
end

-- ------------ folds side by side

function TestFoldsSideBySideAreFoldsOneByOne()
  local folds = train:fold_ids{ k = 4, seed = 2 }
  for _, solver in ipairs{ sc.solver.ridge{ lambda = sc.choose{ 1e-4, 1e-2 } },
    sc.solver.hinge{ lambda = sc.choose{ 1e-3, 1e-1 } },
                           sc.solver.logistic{ lambda = sc.choose{ 1e-3, 1e-1 } },
                             sc.solver.lasso{ lambda = sc.choose{ 1e-3, 1e-2 } },
                           sc.solver.box{ C = sc.choose{ 10, 100 } },
                             sc.solver.knn{ k = sc.choose{ 1, 5 } } } do
    local p = sc.pipeline{ sc.standardize(), sinks(30), solver }
    local cells = {}
    for _, threads in ipairs{ 1, 3 } do
      local before = sc.threads()
      sc.threads(threads)
      cells[threads] = p:search(train, { folds = 4, seed = 2, score = "loss" }).table
      sc.threads(before)
    end
    for c = 1, 2 do
      lu.assertAlmostEquals(cells[1][c].mean, cells[3][c].mean, 1e-12, tostring(solver))
    end
    -- the last fold of the last cell, fitted by hand
    local inside, outside = {}, {}
    for i, fold in ipairs(folds) do table.insert(fold == 4 and outside or inside, i) end
    local stage = sc.pipeline{ sc.standardize() }:fit(train)
    local function staged(rows)
      local part = train:select(rows)
      return sc.dataset{ X = stage:transform(part.X), y = part.y, classes = part.classes,
        task = part.task }
    end
    local lambda = component.searched(solver)[1]
    local one = sc.pipeline{ sinks(30),
      component.resolved(solver, { [lambda.path] = lambda.values[2] }) }:fit(staged(inside))
    local out = staged(outside)
    local square = (one:decision(out.X) - out:targets()):norm() ^ 2 / #outside
    lu.assertAlmostEquals(cells[1][2].folds[4], square, 2e-3 * square + 1e-12, tostring(solver))
  end
end

-- Folds of fewer rows than features take the dual, whose rounding a small lambda magnifies. The
-- reference: fits to the rows of each fold, from sums over them.
function TestFoldsOfFewRowsAreAsExactAsSums()
  local few, halves = sc.randn{ 300, 5, seed = 3 }, { {}, {} }
  local data = sc.dataset{ X = few, task = "regression",
    y = few:column(1):mul(few:column(2)) + sc.randn{ 300, 1, seed = 4 } * 0.01 }
  for i, fold in ipairs(data:fold_ids{ k = 2, seed = 2 }) do table.insert(halves[fold], i) end
  for _, case in ipairs{ { "fourier", "float64" }, { "fourier", "int16" }, { "fourier", "int8" },
    { "sign", "float32" }, { "step", "int8" } } do
    local function pipeline(lambda, form)
      return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 }, T = 200, seed = 2,
        phi = sc.nonlinearity[case[1]](), dtype = case[2] },
        sc.solver.ridge{ lambda = lambda, form = form } }
    end
    for _, cell in ipairs(pipeline(sc.choose{ 1e-9, 1e-6, 1e-3 }):search(data,
      { folds = 2, seed = 2 }).table) do
      lu.assertEquals(cell.unconverged, 0, case[2])
      for fold, rows in ipairs(halves) do
        local out, one = data:select(rows), pipeline(cell.choice["solver.lambda"], "primal")
        one:fit(data:select(halves[3 - fold]))
        local square = (one:decision(out.X) - out:targets()):norm() ^ 2 / #out
        lu.assertAlmostEquals(cell.folds[fold] / square, 1, 1e-6, table.concat(case, " "))
      end
    end
  end
end

-- ------------ what is tried

function TestRangesGiveGridsAndDraws()
  local log = sc.choose.log{ 1e-4, 1, count = 5 }
  lu.assertEquals(#log.values, 5)
  lu.assertAlmostEquals(log.values[3], 1e-2, 1e-12)
  lu.assertEquals(sc.choose.log{ 1e-5, 1e-2, count = 4 }.values, { 1e-5, 1e-4, 1e-3, 1e-2 })
  lu.assertEquals(sc.choose.log{ 1e-8, 1e-4, count = 5 }.values, { 1e-8, 1e-7, 1e-6, 1e-5, 1e-4 })
  lu.assertEquals(sc.choose.range{ 10, 30, count = 3 }.values, { 10, 20, 30 })
  lu.assertEquals(sc.choose.range{ 1, 3, count = 9 }.values, { 1, 2, 3 })
  local function searched(seed)
    return sc.pipeline{ sc.standardize(),
      sc.features{ p = sc.sampler.gaussian{ sigma = sc.choose.log{ 0.01, 1 } },
        phi = sc.nonlinearity.fourier(),
      T = sc.choose.range{ 20, 40 }, seed = 1 },
        sc.solver.ridge{ lambda = sc.choose{ 1e-5, 1e-3 } } }:search(train,
          { draws = 4, folds = 3, seed = seed })
  end
  local best, again = searched(1), searched(1)
  lu.assertEquals(#best.table, 8) -- four draws, the path gone through whole
  local sigmas = {}
  for i, cell in ipairs(best.table) do
    local sigma, T = cell.choice["sampler.sigma"], cell.choice["features.T"]
    lu.assertTrue(sigma >= 0.01 and sigma <= 1 and math.type(T) == "integer" and T >= 20
      and T <= 40)
    lu.assertEquals(sigma, again.table[i].choice["sampler.sigma"])
    sigmas[sigma] = true
  end
  local count = 0
  for _ in pairs(sigmas) do count = count + 1 end
  lu.assertEquals(count, 4)
  lu.assertNotEquals(searched(2).table[1].choice["sampler.sigma"],
    best.table[1].choice["sampler.sigma"])
end

function TestFewerCellsThanDrawsAreAllTried()
  local best = sc.pipeline{ sc.standardize(), sinks(sc.choose{ 20, 30 }),
    sc.solver.ridge{ lambda = 1e-3 } }:search(train, { draws = 50, folds = 3 })
  lu.assertEquals(#best.table, 2)
end

function TestStagesAndTheirOptionsAreSearched()
  local best = sc.pipeline{ sc.choose{ sc.standardize(), sc.minmax() },
    sc.pca{ k = sc.choose{ 2, 6 } }, sinks(40),
    sc.choose{ sc.solver.ridge{ lambda = sc.choose{ 1e-4, 1e-2 } },
      sc.solver.logistic{ lambda = 1e-4 } } }:search(train, { folds = 3 })
  lu.assertEquals(#best.table, 2 * 2 * (2 + 1))
  lu.assertTrue(best.choice["pca.k"] == 2 or best.choice["pca.k"] == 6)
  lu.assertNotNil(best.choice["stage 1"])
  lu.assertStrContains(tostring(best.table), "minmax()")
  lu.assertTrue(best:score(test) > 0.85)
  local least = math.huge
  for _, cell in ipairs(best.table) do least = math.min(least, cell.mean) end
  lu.assertEquals(best.table.best.mean, least)
end

function TestChoicesOfLateStagesAreNamed()
  local best = sc.pipeline{ sc.standardize(), sc.minmax(), sc.normalize(), sc.add_bias(),
    sc.minmax(), sc.standardize(),
    sc.choose{ sc.normalize(), sc.minmax() }, sc.solver.ridge{ lambda = 1e-3 } }:search(train,
      { folds = 3 })
  lu.assertEquals(best.table.names, { "stage 7" })
  lu.assertStrContains(tostring(best.table), "normalize()")
end

function TestSeedsOfFeaturesAreSearched()
  local best = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 0.15 },
    phi = sc.nonlinearity.fourier(), T = 20,
    seed = sc.choose{ 1, 2, 3 } }, sc.solver.ridge{ lambda = 1e-3 } }:search(train, { folds = 3 })
  lu.assertEquals(#best.table, 3)
  lu.assertNotNil(best.choice["features.seed"])
end

-- ------------ what is chosen

function TestOneStandardErrorRule()
  local p = sc.pipeline{ sc.standardize(), sinks(sc.choose{ 20, 60 }),
    sc.solver.ridge{ lambda = sc.choose.log{ 1e-6, 1e-1, count = 6 } } }
  local best, simple = p:search(train, { folds = 5 }),
    p:search(train, { folds = 5, rule = "one_se" })
  local b, s = best.table.best, simple.table.best
  lu.assertTrue(s.mean <= b.mean + b.stderr)
  local function simpler(cell, than)
    if cell.choice["features.T"] ~= than.choice["features.T"] then
      return cell.choice["features.T"] < than.choice["features.T"]
    end
    return cell.choice["solver.lambda"] > than.choice["solver.lambda"]
  end
  for _, cell in ipairs(simple.table) do
    if cell.mean <= b.mean + b.stderr then
      lu.assertFalse(simpler(cell, s), "a simpler cell was within one standard error")
    end
  end
  lu.assertStrContains(tostring(simple.table), "simplest")
end

function TestMeansAndStandardErrors()
  local best = sc.pipeline{ sc.standardize(), sinks(),
    sc.solver.ridge{ lambda = sc.choose{ 1e-4 } } }:search(train, { folds = 4 })
  local cell, sum, square = best.table[1], 0, 0
  for _, v in ipairs(cell.folds) do sum = sum + v / 4 end
  for _, v in ipairs(cell.folds) do square = square + (v - sum) ^ 2 / 3 end
  lu.assertAlmostEquals(cell.mean, sum, 1e-15)
  lu.assertAlmostEquals(cell.stderr, math.sqrt(square / 4), 1e-15)
end

function TestSamplersAndNonlinearitiesAreChosen()
  local phis, samplers = { sc.nonlinearity.fourier(), sc.nonlinearity.sign() },
    { sc.sampler.gaussian{ sigma = sc.choose{ 0.1, 0.2 } }, sc.sampler.laplace() }
  local features = sc.features{ p = sc.choose(samplers), phi = sc.choose(phis), T = 30, seed = 1 }
  local best = sc.pipeline{ sc.standardize(), features, sc.solver.ridge{ lambda = 1e-4 } }:search(
    train, { folds = 3 })
  lu.assertEquals(#best.table, 6) -- two nonlinearities of two widths or a Laplace law
  local by_hand = sc.pipeline{ sc.standardize(), sc.features{ p = samplers[2], phi = phis[2],
    T = 30, seed = 1 },
                               sc.solver.ridge{ lambda = sc.choose{ 1e-4 } } }:search(train,
                                 { folds = 3 })
  lu.assertEquals(best.table[6].mean, by_hand.table[1].mean)
  fails({ "features", "'phi'", "nonlinearity" }, sc.features,
    { p = samplers[1], phi = sc.choose{ phis[1], 3 }, T = 30 })
  lu.assertTrue(sc.features{ p = sc.choose{ samplers[2] }, phi = phis[1],
    T = 30 }:fit(train.X) ~= nil)
end

function TestRowsCountOnceWhereTheyAreJudged()
  local weights = {}
  for i = 1, n do weights[i] = i <= 8 and 1 or 0 end -- folds without weight
  local weighted = sc.dataset{ X = X, y = Y, task = "regression", weights = weights }
  local p = sc.pipeline{ sc.solver.ridge{ lambda = sc.choose{ 1e-2, 1e-1 } } }
  local shared, apart = p:search(weighted, { folds = 15 }),
    p:search(weighted, { folds = 15, stages = "fold", outer = 15 })
  for c = 1, 2 do lu.assertAlmostEquals(apart.table[c].mean, shared.table[c].mean, 1e-9) end
  lu.assertEquals(#apart.table.outer.folds, 15)
end

function TestNestedReport()
  local p = sc.pipeline{ sc.standardize(), sinks(),
    sc.solver.ridge{ lambda = sc.choose{ 1e-5, 1e-3 } } }
  local best = p:search(train, { folds = 3, outer = 3, seed = 5 })
  local outer = best.table.outer
  lu.assertEquals(#outer.folds, 3)
  lu.assertNotNil(outer.choices[1]["solver.lambda"])
  local ids = train:fold_ids{ k = 3, seed = 6 }
  local inside, outside = {}, {}
  for i, fold in ipairs(ids) do table.insert(fold == 2 and outside or inside, i) end
  local again = p:search(train:select(inside), { folds = 3, seed = 5 })
  lu.assertAlmostEquals(outer.folds[2], again:error(train:select(outside)), 1e-12)
  lu.assertStrContains(tostring(best.table), "nested")
end

-- Rows that come twice, with random labels: the nearest row is the same one unless both are in one
-- fold, as their group says.
function TestGroupsAndOrderOfAllSearches()
  local x = sc.randn{ 450, 2, seed = 3 }
  local y, groups = {}, {}
  for i = 1, 900 do y[i], groups[i] = (i - 1) % 450 < 225 and "a" or "b", (i - 1) % 450 + 1 end
  local twice = sc.vcat(x, x)
  local pairs_of = sc.dataset{ X = sc.hcat(twice, sc.matrix(groups)), y = y,
    names = { "u", "v", "pair" } }
  local p = sc.pipeline{ sc.stage.select{ columns = { 1, 2 } },
    sc.solver.knn{ k = sc.choose{ 1, 5 } } }
  local function lowest(o)
    local t = p:search(pairs_of, o).table
    return math.min(t.best.mean, t.outer and t.outer.mean or 1)
  end
  for _, given in ipairs{ "pair", groups } do
    lu.assertTrue(lowest{ groups = given, holdout = 0.3 } > 0.3)
    lu.assertTrue(lowest{ groups = given, folds = 3, outer = 3 } > 0.3)
    lu.assertTrue(lowest{ groups = given, folds = 3, method = "halving" } > 0.3)
    fails({ "gcv", "groups = false" }, p.search, p, pairs_of, { groups = given, folds = "gcv" })
  end
  lu.assertTrue(lowest{ holdout = 0.3 } < 0.3)
  lu.assertEquals(lowest{ holdout = 450, shuffle = false }, 0) -- the rows again
  fails({ "'gap'", "time" }, p.search, p, pairs_of, { holdout = 0.3, gap = 3 })
end

-- ------------ several solvers

local function with_solver(solver)
  return sc.pipeline{ sc.standardize(), sinks(sc.choose{ 20, 40 }), solver }
end

function TestSolversThatShareAPassGiveWhatEachGivesAlone()
  local lambdas = sc.choose{ 1e-4, 1e-2 }
  local solvers = { sc.solver.ridge{ lambda = lambdas }, sc.solver.lasso{ lambda = lambdas },
    sc.solver.hinge{ lambda = lambdas } }
  local all = with_solver(sc.choose(solvers)):search(train, { folds = 3, each = "solver" })
  for s, solver in ipairs(solvers) do
    local one = with_solver(solver):search(train, { folds = 3 })
    for c, cell in ipairs(one.table) do
      local same = all.table[(s - 1) * #one.table + c] -- in the order of the grid
      lu.assertEquals(same.choice["solver.lambda"], cell.choice["solver.lambda"])
      lu.assertEquals(same.choice["features.T"], cell.choice["features.T"])
      lu.assertAlmostEquals(same.mean, cell.mean, 1e-12)
    end
    local best = all.each[solver.name]
    lu.assertEquals(best.choice["features.T"], one.choice["features.T"])
    lu.assertEquals(best.choice["solver.lambda"], one.choice["solver.lambda"])
    lu.assertTrue((best:weights() - one:weights()):abs():max() < 1e-9)
  end
end

function TestSolversSharePasses()
  local walks = 0
  local rows, y = train.X, train:targets()
  local function stream()
    walks = 0
    return sc.data.rows{ n = rows:rows(), d = rows:cols(), targets = 1,
      read = function(first, count)
      if first == 1 then walks = walks + 1 end
      local last = first + count - 1
      return rows:slice(first, last, 1, rows:cols()), y:slice(first, last, 1, 1)
    end }
  end
  local function count(solver)
    with_solver(solver):search(stream(), { folds = 3, score = "loss" })
    return walks
  end
  local ridge, lasso = sc.solver.ridge{ lambda = 1e-3 }, sc.solver.lasso{ lambda = 1e-3 }
  local apart = count(ridge) + count(lasso)
  lu.assertTrue(count(sc.choose{ ridge, lasso }) < apart - 2, apart .. " and " .. walks)
end

function TestTheBestOfEachValue()
  local p = sc.pipeline{ sc.standardize(), sinks(sc.choose{ 20, 40 }),
    sc.solver.ridge{ lambda = sc.choose{ 1e-4, 1e-2 } } }
  local best = p:search(train, { folds = 3, each = "features.T" })
  lu.assertEquals(best.each[20].choice["features.T"], 20)
  lu.assertEquals(best.each[40]:weights():rows(), 40)
  lu.assertEquals(best.each[best.choice["features.T"]].choice, best.choice)
  fails({ "each", "features.TT", "features.T" }, p.search, p, train, { each = "features.TT" })
  best = p:search(train, { folds = 3, each = "solver" }) -- there is one
  lu.assertEquals(best.each.ridge.choice, best.choice)
end

-- ------------ what goes wrong

-- What a search raises that is interrupted as its run number `at` begins, of those of the outer
-- folds as well.
local function stopped(at, given)
  local run, calls = judging.run, 0
  judging.run = function(...)
    calls = calls + 1
    if calls == at then core.interrupt() end
    return run(...)
  end
  local ok, raised = pcall(function()
    return sc.pipeline{ sc.standardize(), sinks(sc.choose{ 20, 30, 40 }),
      sc.solver.ridge{ lambda = sc.choose{ 1e-4, 1e-2 } } }:search(train, given)
  end)
  judging.run = run
  lu.assertFalse(ok)
  return raised
end

function TestAStoppedSearchKeepsWhatWasFinished()
  local raised = stopped(3, { folds = 3 })
  lu.assertEquals(#raised.table, 4)
  lu.assertStrContains(raised.message, "interrupted")
  lu.assertStrContains(tostring(raised), "4 of 6 cells")
  lu.assertNotNil(raised.choice["solver.lambda"])
  -- nothing lingers
  lu.assertTrue(sc.pipeline{ sc.standardize(), sinks(), sc.solver.ridge() }:fit(train):score(
    test) > 0.5)
end

function TestANestedSearchThatIsStoppedKeepsTheSearchItself()
  -- the first run of the first outer fold, and one with others finished
  for _, at in ipairs{ 4, 6 } do
    local raised = stopped(at, { folds = 3, outer = 2 })
    lu.assertEquals(#raised.table, 6)
    lu.assertStrContains(raised.message, "interrupted")
    lu.assertStrContains(tostring(raised), "6 of 6 cells")
  end
end

function TestACellThatFailsKeepsTheOthers()
  local raised = fails({ "pca", "'k'", "99", "1 of 2 cells" }, function()
    sc.pipeline{ sc.pca{ k = sc.choose{ 2, 99 } }, sc.solver.ridge() }:search(train, { folds = 3 })
  end)
  lu.assertEquals(#raised.table, 1)
end

function TestInterruptedFolds()
  for _, solver in ipairs{ sc.solver.hinge{ lambda = sc.choose{ 1e-4 } },
    sc.solver.knn{ k = sc.choose{ 3 } } } do
    core.interrupt()
    fails({ "pipeline:search", "interrupted" }, function()
      sc.pipeline{ sinks(), solver }:search(train, { folds = 3 })
    end)
  end
  lu.assertTrue(sc.pipeline{ sc.standardize(), sinks(), sc.solver.ridge() }:fit(train):score(
    test) > 0.5)
end

-- One split to judge by: the rows of ds:split, fits without them, the best refitted to all rows.
function TestHoldout()
  local lambdas = { 1e-6, 1e-2, 1 }
  local fit_to, aside = train:split{ test = 0.2, seed = 3 }
  local function recipe(lambda)
    return sc.pipeline{ sinks(60, 1e-3), sc.solver.ridge{ lambda = lambda } }
  end
  for _, score in ipairs{ "error", "auc" } do
    local found = recipe(sc.choose(lambdas)):search(train, { holdout = 0.2, seed = 3,
      score = score })
    for k, lambda in ipairs(lambdas) do
      local p, row = recipe(lambda):fit(fit_to), found.table[k]
      local expected = score == "error" and 1 - p:score(aside)
        or sc.metrics.auc(p:decision(aside.X), aside.y)
      lu.assertAlmostEquals(row.mean, expected, 1e-7)
      lu.assertNil(row.stderr)
      lu.assertNil(row.folds)
    end
    lu.assertEquals(found:predict(test), recipe(found.choice["solver.lambda"]):fit(train):predict(
      test))
  end
  local p = sc.pipeline{ sc.standardize(), sinks(),
    sc.solver.ridge{ lambda = sc.choose{ 1e-4, 1 } } }
  local apart = p:search(train, { holdout = 85, seed = 3, stages = "fold" }).table
  local rest, some = train:split{ test = 85, seed = 3 }
  local one = sc.pipeline{ sc.standardize(), sinks(), sc.solver.ridge{ lambda = 1e-4 } }:fit(rest)
  lu.assertAlmostEquals(apart[1].mean, 1 - one:score(some), 1e-12)
  local outer = p:search(train, { holdout = 0.2, outer = 3 }).table.outer
  lu.assertEquals(#outer.folds, 3)
  fails({ "'holdout'", "'folds'", "one of them" }, p.search, p, train, { folds = 3, holdout = 0.2 })
  fails({ "'holdout'", "share" }, p.search, p, train, { holdout = 1.5 })
  fails({ "'holdout' got 5000 of" }, p.search, p, train, { holdout = 5000 })
  fails({ "one_se", "hold-out" }, p.search, p, train, { holdout = 0.2, rule = "one_se" })
  local few = sc.dataset{ X = sc.randn{ 2, 5, seed = 1 }, y = { "a", "b" } }
  fails({ "hold-out", "one class" }, p.search, p, few, { holdout = 1 })
end

function TestBadSearches()
  local p = sc.pipeline{ sinks(), sc.solver.ridge{ lambda = sc.choose{ 1, 2 } } }
  fails({ "folds", "three" }, p.search, p, train, { folds = "three" })
  fails({ "'folds'", "1" }, p.search, p, train, { folds = 1 })
  fails({ "rule", "median" }, p.search, p, train, { rule = "median" })
  fails({ "draws", "0" }, p.search, p, train, { draws = 0 })
  fails({ "one_se", "standard error", "folds = k" }, p.search, p, train,
    { rule = "one_se", folds = "loo" })
  fails({ "gcv", "squared error" }, p.search, p, train, { score = "error", folds = "gcv" })
  fails({ "loo", "solver.hinge", "folds = k" }, function()
    sc.pipeline{ sc.solver.hinge{ lambda = sc.choose{ 1, 2 } } }:search(train, { folds = "loo" })
  end)
  fails({ "loo_error", "regression" }, function()
    sc.pipeline{ sc.solver.ridge{ estimate = "loo_error" } }:fit(values)
  end)
  fails({ "choose.log", "positive" }, sc.choose.log, { 0, 1 })
  fails({ "choose.range", "unknown option 'n'" }, sc.choose.range, { 0, 1, n = 3 })
  fails({ "unknown option 'cuont' (did you mean 'count'?)" }, sc.choose.range, { 0, 1, cuont = 3 })
  fails({ "takes two numbers and count = n, and got {0, 1, 5}" }, sc.choose.range, { 0, 1, 5 })
  for _, count in ipairs{ 2.0 ^ 40, 2 ^ 63, 0, 2.5, 20001, "x", 0 / 0 } do
    fails({ "choose.range: option 'count' got", "it takes a whole number from 1 to 20000" },
      sc.choose.range, { 0, 1, count = count })
  end
  lu.assertEquals(tostring(sc.choose.range{ 0, 4, count = 3.0 }), "choose.range{0, 4, count = 3}")
  fails({ "choose", "at least one" }, sc.choose, {})
  local few = sc.dataset{ X = sc.randn{ 6, 2, seed = 1 }, y = { "a", "a", "a", "a", "a", "b" } }
  fails({ "without fold", "one class", "fewer folds" }, p.search, p, few, { folds = 3 })
  fails({ "'T'", "0" }, sinks, sc.choose{ 10, 0 })
  fails({ "second solver" }, sc.pipeline, { sc.choose{ sc.solver.ridge() }, sc.solver.ridge() })
  fails({ "sc.choose" }, function()
    sc.pipeline{ sc.choose{ sc.minmax(), sc.standardize() }, sc.solver.ridge() }:fit(train)
  end)
end

os.exit(lu.LuaUnit.run(), true)

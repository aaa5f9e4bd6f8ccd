-- sc.compare: folds that pipelines share, paired differences and their corrected standard errors.
local lu = require "luaunit"
local sc = require "scullery"
local paired = require "scullery.metrics.paired"

local ds = sc.data.load "wdbc"
local ridge = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = 1e-3 } }
local logistic = sc.pipeline{ sc.standardize(), sc.solver.logistic{ lambda = 1e-3 } }

-- The scores are those of p:cv on the same folds, and the difference is taken fold by fold.
function TestDifferencesArePaired()
  local found = sc.compare{ ridge, logistic, on = ds, folds = 4, seed = 3, repeats = 2,
    to = "first" }
  local a = ridge:cv(ds, { folds = 4, seed = 3, repeats = 2 })
  local b = logistic:cv(ds, { folds = 4, seed = 3, repeats = 2 })
  lu.assertEquals(found[1].values, a.folds)
  lu.assertEquals(found[2].values, b.folds)
  local sum, square = 0, 0
  for j = 1, 8 do sum = sum + b.folds[j] - a.folds[j] end
  for j = 1, 8 do square = square + (b.folds[j] - a.folds[j] - sum / 8) ^ 2 end
  lu.assertAlmostEquals(found[2].difference, sum / 8, 1e-12)
  lu.assertAlmostEquals(found.ratio, 1 / 3, 1e-3)
  lu.assertAlmostEquals(found[2].error, math.sqrt(square / 7 * (1 / 8 + found.ratio)), 1e-12)
  lu.assertAlmostEquals(found[2].p, paired.two_sided(found[2].t, 7), 1e-12)
  lu.assertNil(found[1].difference)
end

-- Quantiles of Student's t, Abramowitz and Stegun (1964), table 26.10.
function TestStudentsT()
  for _, one in ipairs{ { 12.706, 1, 0.05 }, { 4.303, 2, 0.05 }, { 3.182, 3, 0.05 },
    { 4.604, 4, 0.01 }, { 2.228, 10, 0.05 }, { 1.725, 20, 0.1 }, { 2.807, 23, 0.01 } } do
    lu.assertAlmostEquals(paired.two_sided(one[1], one[2]), one[3], 1e-4)
    lu.assertAlmostEquals(paired.two_sided(-one[1], one[2]), one[3], 1e-4)
  end
  lu.assertEquals(paired.two_sided(0, 5), 1)
end

-- Transformed targets, and solvers that predict several values of a target, as p:cv judges them.
function TestTargetsAreThoseOfTheFit()
  local X = sc.randn{ 90, 2, seed = 1 }
  local rows = sc.dataset{ X = X, y = X:column(1):map(math.exp), task = "regression" }
  local solver = sc.solver.ridge{ lambda = 1e-3 }
  local list = { sc.pipeline{ solver }, sc.pipeline{ solver, target = "log" },
    sc.pipeline{ sc.solver.quantile{ tau = { 0.1, 0.9 }, lambda = 1e-3 } } }
  local found = sc.compare{ list[1], list[2], list[3], on = rows, folds = 3, to = "first" }
  for i, p in ipairs(list) do
    lu.assertEquals(found[i].values, p:cv(rows, { folds = 3 }).folds)
  end
  lu.assertTrue(found[2].mean > 0.99 and found[1].mean < 0.9)
end

-- The best comes first, whether larger or smaller is better.
function TestTheBestComesFirst()
  local found = sc.compare{ good = logistic, bad = ridge:clone{ ["solver.lambda"] = 1e4 }, on = ds }
  lu.assertEquals({ found[1].name, found.score, found.larger }, { "good", "accuracy", true })
  lu.assertTrue(found[2].difference < 0 and found[2].p < 0.05)
  local by_error = sc.compare{ { good = logistic, bad = ridge:clone{ ["solver.lambda"] = 1e4 } },
    on = ds, score = "error" }
  lu.assertEquals({ by_error[1].name, by_error.larger }, { "good", false })
  lu.assertAlmostEquals(by_error[2].difference, -found[2].difference, 1e-12)
  lu.assertStrContains(tostring(found), "good")
end

-- 0.11 - 0.01 and 0.12 - 0.02 differ by a rounding error, which is no spread.
function TestRoundingIsNoDifference()
  local function compared(other)
    return paired.new{ names = { "a", "b" }, values = { { 0.11, 0.12, 0.13 }, other },
      score = "error", larger = false, mean = paired.corrected(0), subject = "m" }
  end
  local found = compared{ 0.11 + 0.1, 0.12 + 0.1, 0.13 + 0.1 }
  lu.assertEquals({ found[2].error, found[2].t, found[2].p }, { 0, math.huge, 0 })
  lu.assertEquals(compared{ 0.11 + 1e-17, 0.12, 0.13 }[2].difference, 0)
end

-- Options that a fit or a search chooses are chosen without the fold that judges them.
function TestChoicesDoNotSeeTheFold()
  local small = ds:sample{ rows = 120, seed = 1 }
  local searched = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = sc.choose{ 1e-3, 1 } } }
  local open = sc.pipeline{ sc.standardize(), sc.solver.ridge{} }
  local found = sc.compare{ searched = searched, open = open, on = small, folds = 3, to = "first" }
  local ids = small:fold_ids{ k = 3, seed = 0 }
  for f = 1, 3 do
    local train, test = {}, {}
    for i, fold in ipairs(ids) do table.insert(fold == f and test or train, i) end
    local inner, outer = small:select(train), small:select(test)
    lu.assertAlmostEquals(found[1].values[f], open:clone{}:fit(inner):score(outer), 1e-12)
    lu.assertAlmostEquals(found[2].values[f],
      searched:search(inner, { seed = 0 }):score(outer), 1e-12)
  end
  lu.assertNil(open.fitted)
end

-- Rows of one group are on one side.
function TestGroupsStayTogether()
  local small, groups = ds:sample{ rows = 90, seed = 1 }, {}
  for i = 1, 90 do groups[i] = i % 6 end
  local found = sc.compare{ ridge, logistic, on = small, folds = 6, groups = groups }
  local again = sc.compare{ ridge, logistic, on = small, folds = "loo", groups = groups }
  local function sorted(one)
    local list = table.move(one.values, 1, 6, 1, {})
    table.sort(list)
    return list
  end
  lu.assertEquals(sorted(found[1]), sorted(again[1]))
end

function TestWrongArguments()
  for said, given in pairs{
    ["at least two pipelines, and got 1"] = { ridge, on = ds },
    ["option 'on' is missing"] = { ridge, logistic },
    ["did you mean 'folds'?"] = { ridge, logistic, on = ds, fold = 3 },
    ["pipeline 2 is 3; it takes pipelines"] = { ridge, 3, on = ds },
    ["b is 3; it takes pipelines"] = { { a = ridge, b = 3 }, on = ds },
    ["goes with a number of folds"] = { ridge, logistic, on = ds, folds = "time", repeats = 2 },
    ["2: logistic: fold 1: option 'score'"] = { ridge:clone{}, logistic, on = ds,
      score = function(_, _, more) return more.probabilities and "x" or 1 end },
  } do
    lu.assertErrorMsgContains(said, sc.compare, given)
    lu.assertErrorMsgContains("compare: ", sc.compare, given)
  end
  lu.assertErrorMsgContains("compare: takes pipelines and options", sc.compare, ridge, logistic)
end

os.exit(lu.LuaUnit.run())

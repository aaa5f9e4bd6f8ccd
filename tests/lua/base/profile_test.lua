-- Profiles: seconds, rows and passes of each stage of the engine's work.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local support = dofile "tests/helpers/support.lua"

local n = 6000
local X = sc.randn{ n, 8, seed = 1 }
local ds = sc.dataset{ X = X, y = X:column(1) }
local function recipe(solver, given)
  local sinks = sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.fourier(), T = 100, seed = 1 }
  local stages = { sc.standardize(), sc.normalize(), sinks,
    solver or sc.solver.ridge{ lambda = 1e-6 } }
  for k, v in pairs(given or {}) do stages[k] = v end
  return sc.pipeline(stages)
end

local function by_name(report)
  local stages = {}
  for _, stage in ipairs(report.stages) do stages[stage.name] = stage end
  return stages
end

-- Stages add up to what the clock says, as none counts a moment twice.
local function check_sum(report)
  local sum = report.other
  for i, stage in ipairs(report.stages) do
    lu.assertTrue(stage.seconds >= 0)
    lu.assertAlmostEquals(stage.share, stage.seconds / report.seconds, 1e-12)
    lu.assertTrue(i == 1 or stage.seconds <= report.stages[i - 1].seconds)
    sum = sum + stage.seconds
  end
  lu.assertAlmostEquals(sum, report.seconds, 1e-9)
end

function TestStagesOfAFit()
  local p = recipe()
  local report, same = sc.profile(p.fit, p, ds)
  lu.assertIs(same, p)
  check_sum(report)
  local s = by_name(report)
  -- 512 rows are predicted, to compare the model with a constant
  for name, passes in pairs{ features = 2, ["normal equations"] = 1 } do
    lu.assertEquals({ s[name].passes, s[name].rows }, { passes, n + 512 * (passes - 1) }, name)
    lu.assertAlmostEquals(s[name].rate, s[name].rows / s[name].seconds, 1e-6 * s[name].rate)
  end
  -- reading: to fit standardize, for the sums, and for the note on the width
  lu.assertTrue(s.reading.passes >= 2)
  lu.assertEquals(s.standardize.rows >= 2 * n, true)
  lu.assertEquals(s.normalize.rows >= n, true)
  for _, name in ipairs{ "solving", "parameters" } do lu.assertTrue(s[name].seconds > 0) end
  lu.assertTrue(s.predicting.share < 0.5) -- of the rows that are compared with a constant
end

function TestPassesOfASolverAreItsOwn()
  local p = recipe(sc.solver.cg{ lambda = 1e-6 }, { allowance = 1000 })
  local s = by_name((sc.profile(p.fit, p, ds)))
  lu.assertTrue(s.solving.passes >= p:info().iterations)
  lu.assertEquals(s.features.passes, s.solving.passes + 1) -- one predicts rows
  lu.assertNil(s["normal equations"])
end

function TestPredictingJudgingReading()
  local p = recipe():fit(ds)
  local s = by_name((sc.profile(p.predict, p, X)))
  lu.assertEquals({ s.predicting.passes, s.predicting.rows }, { 1, n })
  s = by_name((sc.profile(p.cv, p, ds, { folds = 3 })))
  lu.assertEquals({ s.judging.passes, s.judging.rows }, { 1, n })
  lu.assertTrue(s.solving.seconds > 0)
  local path = support.write(nil, "a,b\n1,2\n3,5\n")
  s = by_name((sc.profile(sc.data.csv, path, { quiet = true })))
  lu.assertEquals({ s.reading.passes, s.reading.rows }, { 1, 2 })
  os.remove(path)
end

function TestWhatNoStageNamesIsTold()
  local report = sc.profile(function()
    local wait = core.now() + 0.05
    while core.now() < wait do end
  end)
  lu.assertEquals(report.stages, {})
  lu.assertTrue(report.other >= 0.05)
  lu.assertAlmostEquals(report.other, report.seconds, 1e-12)
  check_sum(report)
end

function TestAProfileWithinAProfile()
  local inner
  local p = recipe():fit(ds)
  local outer = sc.profile(function()
    p:predict(X)
    inner = sc.profile(p.predict, p, X)
    p:predict(X)
  end)
  check_sum(outer)
  check_sum(inner)
  lu.assertEquals({ by_name(inner).predicting.rows, by_name(outer).predicting.rows }, { n, 3 * n })
  lu.assertTrue(inner.seconds < outer.seconds)
end

function TestResultsAndErrorsGoOn()
  local results = table.pack(sc.profile(function(...) return nil, ..., nil end, 1, 2))
  lu.assertEquals({ results.n, results[3], results[4] }, { 4, 1, nil })
  lu.assertErrorMsgContains("mine", sc.profile, error, "mine")
  lu.assertErrorMsgContains("profile: takes a function and its arguments, and got 3", sc.profile, 3)
  local thrown = {}
  lu.assertIs(select(2, pcall(sc.profile, error, thrown)), thrown)
  -- a profile that an error ended counts no more
  recipe():fit(ds)
  lu.assertEquals((sc.profile(function() end)).stages, {})
end

-- The models of a fit that is watched are those of one that is not.
function TestAProfileChangesNoNumber()
  local p, q = recipe(), recipe()
  sc.profile(p.fit, p, ds)
  lu.assertTrue(p:weights() == q:fit(ds):weights())
end

-- A profile that begins inside the engine's work: in a function that gives rows.
function TestAProfileInsideAPass()
  local report
  local model = recipe():fit(ds)
  local rows = sc.data.rows{ n = 100, d = 8, task = "regression", read = function(first, count)
    report = sc.profile(model.predict, model, X)
    return X:slice(first, first + count - 1), X:slice(first, first + count - 1, 1, 1)
  end }
  recipe():fit(rows)
  check_sum(report)
  local whole = sc.profile(function() recipe():fit(rows) end)
  check_sum(whole)
end

function TestTheReportPrints()
  local p = recipe()
  local text = tostring((sc.profile(p.fit, p, ds)))
  lu.assertStrMatches(text,
    "stage +seconds +share +passes +rows +rows a second\n.*\nall +[%d.e-]+ +100.0 %%\n.*")
  lu.assertStrContains(text, "\nnormal equations ")
  lu.assertStrContains(text, "\noutside these stages ")
  for line in text:gmatch "[^\n]+" do lu.assertTrue(#line <= 80, line) end
end

os.exit(lu.LuaUnit.run(), true)

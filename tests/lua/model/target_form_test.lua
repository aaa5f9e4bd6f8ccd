--- Targets that are transformed before learning: predictions and scores are on the scale of the
--- data, and a saved model predicts the same bits.
-- luacheck: globals TestTargetForm
-- luacheck: ignore 212/self
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

-- y = exp(2 x1 - x2 + noise), above 0 and skewed.
local function skewed(n, seed)
  local X, e = sc.randn{ n, 2, seed = seed }, sc.randn{ n, 1, seed = seed + 1 }
  local y = {}
  for i = 1, n do y[i] = math.exp(2 * X:get(i, 1) - X:get(i, 2) + 0.1 * e:get(i, 1)) end
  return sc.dataset{ X = X, y = y, task = "regression" }
end

local function pipeline(target)
  return sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = 1e-6 }, target = target }
end

local function near(a, b, within)
  lu.assertEquals({ a:rows(), a:cols() }, { b:rows(), b:cols() })
  for i = 1, a:rows() do
    for j = 1, a:cols() do
      lu.assertAlmostEquals(a:get(i, j), b:get(i, j), within * math.max(1, math.abs(b:get(i, j))))
    end
  end
end

TestTargetForm = {}

function TestTargetForm:test_log_fits_the_logarithms_and_predicts_values()
  local ds = skewed(200, 1)
  local logs = sc.dataset{ X = ds.X, y = ds.y:map(math.log), task = "regression" }
  local p, plain = pipeline("log"):fit(ds), pipeline():fit(logs)
  near(p:predict(ds), plain:predict(ds.X):map(math.exp), 1e-13)
  near(p:decision(ds), plain:decision(ds.X), 1e-13)
  lu.assertTrue(p:score(ds) > 0.95 and pipeline():fit(ds):score(ds) < 0.8)
  lu.assertIs(p.data, ds)
  lu.assertAlmostEquals(p:score(ds), sc.metrics.r2(p:predict(ds), ds.y), 1e-12)
  lu.assertAlmostEquals(p:error(ds), sc.metrics.mse(p:predict(ds), ds.y), 1e-9)
end

function TestTargetForm:test_standardize_is_undone_for_each_target()
  local X = sc.randn{ 100, 3, seed = 4 }
  local y = core.hcat(X:column(1) * 1000 + 5e5, X:column(2) * 1e-3)
  local p = pipeline("standardize"):fit(X, y, { task = "regression" })
  near(p:predict(X), y, 1e-6)
  lu.assertTrue(math.abs(p:decision(X):mean()) < 1e-9)
  lu.assertAlmostEquals(p:decision(X):column(1):std(), 1, 1e-4)
  local both = pipeline{ log = true, standardize = true }:fit(skewed(200, 1))
  near(both:predict(skewed(50, 9)),
    pipeline("log"):fit(skewed(200, 1)):predict(skewed(50, 9)), 1e-4)
  local constant = pipeline("standardize"):fit(X, sc.ones(100, 1) * 3, { task = "regression" })
  near(constant:predict(X), sc.ones(100, 1) * 3, 1e-9)
end

function TestTargetForm:test_cross_validation_and_searches_judge_on_the_scale_of_the_data()
  local ds = skewed(150, 2)
  local ids = ds:fold_ids{ k = 3, seed = 0 }
  local squares = {}
  for f = 1, 3 do
    local train, test = table.unpack(ds:folds{ k = 3, seed = 0 }[f])
    local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-6 }, target = "log" }:fit(train)
    squares[f] = sc.metrics.mse(p:predict(test), test.y)
  end
  lu.assertEquals(#ids, 150)
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-6 }, target = "log" }
  for _, score in ipairs{ "mse", "rmse", "loss" } do
    local cv = p:cv(ds, { folds = 3, score = score })
    for f = 1, 3 do
      local want = score == "rmse" and math.sqrt(squares[f]) or squares[f]
      lu.assertAlmostEquals(cv.folds[f], want, 1e-8 * want)
    end
  end
  local r2 = p:cv(ds, { folds = 3, stages = "fold" })
  lu.assertTrue(r2.mean > 0.9)
  local found = sc.pipeline{ sc.solver.ridge{ lambda = sc.choose.log{ 1e-6, 10, count = 3 } },
    target = "log" }:search(ds, { folds = 3, outer = 3 })
  lu.assertAlmostEquals(found.table.best.mean, (squares[1] + squares[2] + squares[3]) / 3,
    1e-2 * squares[1])
  lu.assertTrue(found.table.outer.mean > 0)
  near(found:predict(ds), p:clone{ ["solver.lambda"] = found.choice["solver.lambda"] }:fit(ds)
    :predict(ds), 1e-12)
  lu.assertEquals(found.target, "log")
end

function TestTargetForm:test_it_is_saved_and_cloned()
  local ds, path = skewed(100, 3), os.tmpname()
  local p = sc.pipeline{ sc.features{ T = 20, seed = 1 }, sc.solver.ridge{},
    target = { log = true, standardize = true } }:fit(ds)
  p:save(path)
  local q = sc.load(path)
  os.remove(path)
  lu.assertEquals(q.target, { log = true, standardize = true })
  lu.assertEquals(q.fitted.form, p.fitted.form)
  for i = 1, 100 do lu.assertEquals(q:predict(ds):get(i, 1), p:predict(ds):get(i, 1)) end
  lu.assertEquals(p:clone{ target = "log" }.target, "log")
  lu.assertStrContains(tostring(q), "target = ")
end

function TestTargetForm:test_explanations_are_of_values()
  local ds = skewed(100, 5)
  local p = pipeline("log"):fit(ds)
  local found = p:dependence(ds, "x1", { points = 3 })
  for _, mean in ipairs(found.mean) do lu.assertTrue(mean > 0) end
  lu.assertTrue(p:importance(ds, { metric = "mse" })[1].mean > 0)
end

function TestTargetForm:test_what_cannot_be_meant_is_refused()
  local function refuses(text, f, ...) lu.assertErrorMsgContains(text, f, ...) end
  for _, value in ipairs{ "sqrt", 1, {}, { exp = true }, { log = 1 }, true } do
    refuses("it takes \"log\", \"standardize\" or { log = true, standardize = true }", pipeline,
      value)
  end
  local zero = sc.dataset{ X = { { 1 }, { 2 }, { 3 } }, y = { 1, 0, 2.5 }, task = "regression" }
  local p = pipeline "log"
  refuses("row 2 has 0", p.fit, p, zero)
  refuses("row 2 has 0", p.cv, p, zero, { folds = 3 })
  local classes = sc.dataset{ X = { { 1 }, { 2 }, { 3 } }, y = { "a", "b", "a" } }
  refuses("this is a classification", p.fit, p, classes)
  local stream = sc.data.rows{ n = 10, d = 2, task = "regression", read = function(_, count)
    return sc.ones(count, 2), sc.ones(count, 1)
  end }
  refuses("load it without stream = true", p.fit, p, stream)
  p:fit(skewed(50, 1))
  refuses("judged on rows in memory", p.score, p, stream)
  refuses("transforms them (option 'target')", p.bound, p)
end

os.exit(lu.LuaUnit.run(), true)

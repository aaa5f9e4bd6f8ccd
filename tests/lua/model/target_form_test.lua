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

-- The rows of a data set in memory as a stream.
local function streamed(ds)
  return sc.data.rows{ n = #ds, d = ds.X:cols(), targets = ds.y:cols(), task = "regression",
    read = function(first, count)
      local last = first + count - 1
      return ds.X:slice(first, last), ds.y:slice(first, last)
    end }
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

-- Three blocks of the pass that learns the form, and more of those of the fit.
function TestTargetForm:test_a_stream_is_learnt_and_judged_as_in_memory()
  local ds, new = skewed(9001, 11), skewed(5000, 13)
  for _, target in ipairs{ "log", "standardize", { log = true, standardize = true } } do
    local p, s = pipeline(target):fit(ds), pipeline(target):fit(streamed(ds))
    local a, b = p.fitted.form, s.fitted.form
    lu.assertEquals(a.log, b.log)
    lu.assertAlmostEquals(b.mean[1], a.mean[1], 1e-12)
    lu.assertAlmostEquals(b.scale[1] / a.scale[1], 1, 1e-12)
    near(s:predict(new), p:predict(new), 1e-11)
    near(s:predict(streamed(new)), p:predict(new), 1e-11)
    lu.assertAlmostEquals(s:score(streamed(new)), p:score(new), 1e-11)
    lu.assertAlmostEquals(s:error(streamed(new)) / p:error(new), 1, 1e-11)
    lu.assertAlmostEquals(s:cv(streamed(ds), { folds = 3 }).mean,
      p:cv(ds, { folds = { table.unpack(streamed(ds):fold_ids{ k = 3 }) } }).mean, 1e-10)
    local path = os.tmpname()
    s:save(path)
    lu.assertTrue(sc.load(path):predict(new) == s:predict(new))
    os.remove(path)
  end
end

-- A solver of several values of each target learns the same from a stream.
function TestTargetForm:test_quantiles_of_a_stream_are_those_of_rows_in_memory()
  local ds = skewed(80, 3)
  ds = sc.dataset{ X = ds.X, y = sc.hcat(ds.y, ds.y * 2), task = "regression" }
  for _, target in ipairs{ false, "standardize" } do
    local p = sc.pipeline{ sc.solver.quantile{ tau = { 0.1, 0.9 }, lambda = 1e-2 },
      target = target or nil }
    local a, b = p:clone():fit(streamed(ds)), p:fit(ds)
    lu.assertTrue(a:predict(ds) == b:predict(ds))
    lu.assertAlmostEquals(a:error(streamed(ds)), b:error(ds), 1e-12)
    local sum = 0
    for c = 1, 4 do -- each value by its own tau
      sum = sum + sc.metrics.pinball(b:predict(ds):column(c), ds.y:column((c + 1) // 2),
        { tau = c % 2 == 1 and 0.1 or 0.9 }) / 4
    end
    lu.assertAlmostEquals((b:score(ds, { metric = "pinball" })), sum, 1e-12)
  end
  local one = sc.pipeline{ sc.solver.quantile{ tau = 0.9, lambda = 1e-2 } }:fit(ds)
  local own, stderr = one:score(ds, { metric = "pinball" })
  lu.assertEquals({ own, stderr }, { one:score(ds, { metric = sc.metric.pinball{ tau = 0.9 } }) })
  lu.assertNotEquals(own, (one:score(ds, { metric = sc.metric.pinball{ tau = 0.5 } })))
end

function TestTargetForm:test_a_search_of_a_stream_with_computed_columns_is_that_of_the_rows()
  local path, ds = os.tmpname(), skewed(120, 5)
  core.write_csv(sc.hcat(ds.X, ds.y), { "a", "b", "y" }, path)
  local function found(stream)
    local rows = sc.data.csv(path, { target = "y", derive = { c = "a * b" }, stream = stream,
      quiet = true })
    local p = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = sc.choose{ 1e-6, 1, 100 } },
      target = "log" }:search(rows, { folds = 3, seed = 2 })
    return p, p:error(rows)
  end
  local p, error_p = found(false)
  local s, error_s = found(true)
  lu.assertEquals(tostring(s.table), tostring(p.table))
  near(s:predict(sc.randn{ 9, 3, seed = 8 }), p:predict(sc.randn{ 9, 3, seed = 8 }), 1e-11)
  lu.assertAlmostEquals(error_s / error_p, 1, 1e-11)
  os.remove(path)
end

function TestTargetForm:test_means_and_deviations_of_a_stream_are_those_of_all_rows()
  -- far from 0, so that sums of squares about 0 would lose all digits
  local n, mean, square = 10000, 0, 0
  local y = sc.randn{ n, 1, seed = 3 }:map(function(v) return 1e9 + v end)
  for i = 1, n do mean = mean + (y:get(i, 1) - 1e9) / n end
  for i = 1, n do square = square + (y:get(i, 1) - 1e9 - mean) ^ 2 / n end
  local ds = sc.dataset{ X = sc.randn{ n, 2, seed = 5 }, y = y, task = "regression" }
  local form = pipeline("standardize"):fit(streamed(ds)).fitted.form
  lu.assertAlmostEquals(form.mean[1] - 1e9, mean, 1e-6) -- numbers near 1e9 are 1.2e-7 apart
  lu.assertAlmostEquals(form.scale[1], math.sqrt(square), 1e-9)
end

-- With target = "log" the sums of a stream are those of logarithms, also of rows that come later.
function TestTargetForm:test_sums_of_a_stream_learn_and_forget_transformed_targets()
  local ds, more = skewed(600, 21), skewed(300, 23)
  local both = sc.dataset{ X = core.vcat(ds.X, more.X), y = core.vcat(ds.y, more.y),
    task = "regression" }
  local function recipe()
    return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
      phi = sc.nonlinearity.fourier{}, T = 50 }, sc.solver.ridge{ lambda = 1e-3 },
      target = "log" }
  end
  local p = recipe():fit(streamed(ds), { sums = true }):update(streamed(more))
  near(p:predict(ds), recipe():fit(both):predict(ds), 1e-9)
  p:forget(streamed(more))
  near(p:predict(ds), recipe():fit(ds):predict(ds), 1e-9)
end

function TestTargetForm:test_rows_of_a_stream_that_cannot_be_transformed_are_named()
  local ds = skewed(7000, 31)
  ds.y:set(6001, 1, 0)
  for _, target in ipairs{ "log", { log = true, standardize = true } } do
    local p = pipeline(target)
    lu.assertErrorMsgContains("above 0, and row 6001 has 0", p.fit, p, streamed(ds))
  end
  ds.y:set(6001, 1, 0 / 0)
  for _, target in ipairs{ "log", "standardize" } do
    local p = pipeline(target)
    lu.assertErrorMsgContains("row 6001", p.fit, p, streamed(ds))
  end
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
  p:fit(skewed(50, 1))
  refuses("transforms them (option 'target')", p.bound, p)
end

os.exit(lu.LuaUnit.run(), true)

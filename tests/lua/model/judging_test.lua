-- Judging: cross-validation against models fitted by hand, scores by name and by function, what a
-- search says of its grid, tables, copies of recipes.
local lu = require "luaunit"
local sc = require "scullery"

package.path = "tests/helpers/?.lua;" .. package.path
local support = require "support"

local fails = support.fails
local m = sc.metrics

local wdbc = sc.data.load "wdbc"
local function recipe(lambda)
  return sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = lambda or 1e-2,
    intercept = true } }
end

-- What the models without each fold say of it, by hand: f(model, rows left out) a fold.
local function by_hand(p, ds, given, f)
  local values = {}
  for k, pair in ipairs(ds:folds(given)) do values[k] = f(p:clone():fit(pair[1]), pair[2]) end
  return values
end

local function mean_of(values)
  local sum, square = 0, 0
  for _, v in ipairs(values) do sum = sum + v end
  local mean = sum / #values
  for _, v in ipairs(values) do square = square + (v - mean) ^ 2 end
  return mean, math.sqrt(square / (#values - 1) / #values)
end

-- ------------ cv

TestCrossValidation = {}

function TestCrossValidation:test_it_is_fitting_without_each_fold()
  local want = by_hand(recipe(), wdbc, { k = 4, seed = 3 }, function(p, rest)
    return p:score(rest)
  end)
  local cv = recipe():cv(wdbc, { folds = 4, seed = 3, stages = "fold" })
  for f = 1, 4 do lu.assertAlmostEquals(cv.folds[f], want[f], 1e-12) end
  local mean, stderr = mean_of(want)
  lu.assertAlmostEquals(cv.mean, mean, 1e-12)
  lu.assertAlmostEquals(cv.stderr, stderr, 1e-12)
  lu.assertEquals({ cv.score, cv.k, cv.repeats }, { "accuracy", 4, 1 })
end

function TestCrossValidation:test_repeats_take_other_folds()
  local cv = recipe():cv(wdbc, { folds = 3, repeats = 2, seed = 5 })
  local first, second = recipe():cv(wdbc, { folds = 3, seed = 5 }),
    recipe():cv(wdbc, { folds = 3, seed = 6 })
  lu.assertEquals(#cv.folds, 6)
  for f = 1, 3 do
    lu.assertEquals({ cv.folds[f], cv.folds[f + 3] }, { first.folds[f], second.folds[f] })
  end
  lu.assertAlmostEquals(cv.mean, (first.mean + second.mean) / 2, 1e-15)
  -- the rows are the same ones: repeating does not make the standard error smaller than that
  lu.assertAlmostEquals(cv.stderr, math.sqrt((first.stderr ^ 2 + second.stderr ^ 2) / 2), 1e-15)
end

function TestCrossValidation:test_the_recipe_stays_as_it_is()
  local p = recipe()
  p:cv(wdbc)
  lu.assertNil(p.fitted)
  p:fit(wdbc)
  local before = p:weights()
  p:cv(wdbc, { folds = 2 })
  lu.assertTrue(p:weights() == before)
end

function TestCrossValidation:test_a_regression_is_judged_by_r2()
  local X = sc.randn{ 90, 3, seed = 1 }
  local y = X * sc.matrix{ 1, -2, 3 } + sc.randn{ 90, 1, seed = 2 } * 0.5
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }
  local ds = sc.dataset{ X = X, y = y }
  local cv = p:cv(ds, { folds = 3 })
  local want = by_hand(p, ds, { k = 3 }, function(one, rest) return one:score(rest) end)
  lu.assertEquals(cv.score, "r2")
  for f = 1, 3 do lu.assertAlmostEquals(cv.folds[f], want[f], 1e-12) end
end

function TestCrossValidation:test_it_prints_what_was_measured()
  local text = tostring(recipe():cv(wdbc, { folds = 3, repeats = 2 }))
  lu.assertStrContains(text, "accuracy 0.9")
  lu.assertStrContains(text, "(3 folds, 2 times, seed 0)")
  local _, lines = text:gsub("\n  folds:", "")
  lu.assertEquals(lines, 2)
end

function TestCrossValidation:test_streams_are_judged_as_rows_in_memory()
  local stream = sc.data.rows{ n = #wdbc, d = wdbc.X:cols(), classes = wdbc.classes,
    read = function(first, count)
      return wdbc.X:slice(first, first + count - 1), wdbc.y:slice(first, first + count - 1)
    end }
  for _, score in ipairs{ "accuracy", "auc" } do
    local cv = recipe():cv(stream, { score = score, folds = 3 })
    lu.assertTrue(cv.mean > 0.9 and cv.mean <= 1)
  end
end

function TestCrossValidation:test_wrong_use_is_a_sentence()
  local p = recipe()
  fails({ "pipeline:cv", "unknown option 'fold'", "did you mean 'folds'" }, p.cv, p, wdbc,
    { fold = 3 })
  fails({ "pipeline:cv", "570 folds of 569 rows" }, p.cv, p, wdbc, { folds = 570 })
  fails({ "pipeline:cv", "p:search" }, function()
    recipe(sc.choose{ 1, 2 }):cv(wdbc)
  end)
  fails({ "no solver" }, function() sc.pipeline{ sc.standardize() }:cv(wdbc) end)
  fails({ "option 'score' got \"acuracy\"", "did you mean 'accuracy'" }, p.cv, p, wdbc,
    { score = "acuracy" })
  fails({ "score = \"mse\" is for a regression" }, p.cv, p, wdbc, { score = "mse" })
  fails({ "it takes the name of a metric, a function" }, p.cv, p, wdbc, { score = 3 })
  fails({ "solver.ridge has none" }, p.cv, p, wdbc, { score = "log_loss" })
  fails({ "it must give a number" }, p.cv, p, wdbc, { score = function() return "high" end })
  fails({ "'better' got \"more\"" }, p.cv, p, wdbc, { score = { "f1", better = "more" } })
  fails({ "unknown option 'kk'" }, p.cv, p, wdbc, { score = { "f1", kk = 3 } })
end

-- ------------ scores by name and by function

TestScores = {}

-- Each name against the metric of the models that were fitted by hand.
function TestScores:test_names_are_the_metrics()
  local folds = { k = 3, seed = 1 }
  local cases = {
    error = function(p, rest) return p:error(rest) end,
    loss = function(p, rest) return m.mse(p:decision(rest), rest:targets()) end,
    auc = function(p, rest) return m.auc(p:decision(rest), rest.y) end,
    pr_auc = function(p, rest) return m.pr_auc(p:decision(rest), rest.y) end,
    f1 = function(p, rest) return m.f1(p:predict(rest), rest.y) end,
    precision = function(p, rest) return m.precision(p:predict(rest), rest.y) end,
    recall = function(p, rest) return m.recall(p:predict(rest), rest.y) end,
    balanced_accuracy = function(p, rest) return m.balanced_accuracy(p:predict(rest), rest.y) end,
  }
  for name, f in pairs(cases) do
    local want = by_hand(recipe(), wdbc, folds, f)
    for _, given in ipairs{ name, name ~= "error" and name ~= "loss" and m[name] or nil } do
      local cv = recipe():cv(wdbc, { folds = 3, seed = 1, score = given, stages = "fold" })
      lu.assertEquals(cv.score, name)
      for k = 1, 3 do lu.assertAlmostEquals(cv.folds[k], want[k], 1e-10, name) end
    end
  end
end

function TestScores:test_probabilities_are_the_solvers_own()
  local p = sc.pipeline{ sc.standardize(), sc.solver.logistic{ lambda = 1e-2 } }
  for _, name in ipairs{ "log_loss", "calibration" } do
    local want = by_hand(p, wdbc, { k = 3 }, function(one, rest)
      local value = m[name](one:probabilities(rest), rest.y, wdbc.classes)
      return type(value) == "number" and value or value.error
    end)
    local cv = p:cv(wdbc, { folds = 3, score = name, stages = "fold" })
    for k = 1, 3 do lu.assertAlmostEquals(cv.folds[k], want[k], 1e-6) end
  end
end

function TestScores:test_regressions_have_theirs()
  local X = sc.randn{ 60, 3, seed = 1 }
  local Y = X * sc.randn{ 3, 2, seed = 3 } + sc.randn{ 60, 2, seed = 2 }
  local ds, p = sc.dataset{ X = X, y = Y }, sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }
  for _, name in ipairs{ "mse", "rmse", "mae", "nrmse", "r2", "spearman" } do
    local want = by_hand(p, ds, { k = 3 }, function(one, rest)
      return m[name](one:predict(rest), rest.y)
    end)
    local cv = p:cv(ds, { folds = 3, score = name })
    for k = 1, 3 do lu.assertAlmostEquals(cv.folds[k], want[k], 1e-10) end
  end
end

function TestScores:test_a_function_is_given_predictions_truth_and_scores()
  local p = recipe()
  local cv = p:cv(wdbc, { folds = 3, score = function(said, truth, more)
    lu.assertEquals(more.classes, wdbc.classes)
    lu.assertEquals({ more.scores:rows(), more.scores:cols() }, { #truth, 1 })
    return m.accuracy(said, truth) + 10
  end })
  lu.assertEquals(cv.score, "score")
  lu.assertAlmostEquals(cv.mean, p:cv(wdbc, { folds = 3 }).mean + 10, 1e-12)
end

function TestScores:test_options_of_a_metric_stand_beside_its_name()
  local p = recipe()
  local of_benign = p:cv(wdbc, { score = { "f1", positive = "B" } })
  local want = by_hand(p, wdbc, { k = 5, seed = 0 }, function(one, rest)
    return m.f1(one:predict(rest), rest.y, { positive = "B" })
  end)
  lu.assertAlmostEquals(of_benign.mean, (mean_of(want)), 0.01) -- stages see all rows here
  local iris = {}
  for i = 1, 90 do iris[i] = ({ "a", "b", "c" })[i % 3 + 1] end
  local three = sc.dataset{ X = sc.randn{ 90, 2, seed = 1 }, y = iris }
  local one, two = p:cv(three, { score = { "top_k", k = 1 } }), p:cv(three, { score = "top_k" })
  lu.assertAlmostEquals(one.mean, p:cv(three).mean, 1e-15)
  lu.assertTrue(two.mean > one.mean)
end

function TestScores:test_metric_and_score_are_one_option()
  local p = recipe():fit(wdbc)
  local want = p:score(wdbc, { metric = "auc" })
  lu.assertNotEquals(want, (p:score(wdbc)))
  lu.assertEquals(p:score(wdbc, { score = "auc" }), want)
  lu.assertEquals(p:score(wdbc.X, wdbc.y, { score = "auc" }), want)
  lu.assertEquals(p:cv(wdbc, { metric = "auc" }).mean, p:cv(wdbc, { score = "auc" }).mean)
  for _, verb in ipairs{ p.cv, p.score } do
    fails({ "unknown option '" }, verb, p, wdbc, { metric = "auc", score = "f1" })
    fails({ "(here it is 'auc')" }, verb, p, wdbc, { score = "roc_auc" })
  end
end

-- Where more is better the largest is chosen, where less is better the smallest.
function TestScores:test_a_search_goes_the_right_way()
  local lambdas = sc.choose{ 1e-4, 1e-2, 1, 100 }
  for _, score in ipairs{ "auc", "accuracy", "error", "loss",
    { function(said, truth) return m.accuracy(said, truth) end },
    { function(said, truth) return m.error_rate(said, truth) end, better = "smaller" } } do
    local found = recipe(lambdas):search(wdbc, { score = score, folds = 3 })
    local name = type(score) == "string" and score or ""
    local down = name == "error" or name == "loss"
      or type(score) == "table" and score.better == "smaller"
    for _, cell in ipairs(found.table) do
      lu.assertTrue(down and found.table.best.mean <= cell.mean
        or not down and found.table.best.mean >= cell.mean)
    end
    lu.assertEquals(found.choice, found.table.best.choice)
  end
end

function TestScores:test_a_search_and_a_cross_validation_agree()
  local found = recipe(sc.choose{ 1e-4, 1e-2, 1 }):search(wdbc, { score = "auc", folds = 3 })
  for _, cell in ipairs(found.table) do
    local cv = recipe(cell.choice["solver.lambda"]):cv(wdbc, { score = "auc", folds = 3 })
    lu.assertAlmostEquals(cell.mean, cv.mean, 1e-9)
    lu.assertAlmostEquals(cell.stderr, cv.stderr, 1e-9)
  end
end

function TestScores:test_nested_searches_and_the_simplest_near_the_best_take_them_too()
  local found = recipe(sc.choose{ 1e-4, 1e-2, 1, 100 }):search(wdbc, { score = "auc", folds = 3,
    rule = "one_se", outer = 2 })
  lu.assertTrue(found.table.outer.mean > 0.97 and found.table.outer.mean <= 1)
  local best = -math.huge
  local limit
  for _, cell in ipairs(found.table) do
    if cell.mean > best then best, limit = cell.mean, cell.mean - cell.stderr end
  end
  lu.assertTrue(found.table.best.mean >= limit)
  for _, cell in ipairs(found.table) do
    if cell.choice["solver.lambda"] > found.choice["solver.lambda"] then
      lu.assertTrue(cell.mean < limit)
    end
  end
end

function TestScores:test_the_solvers_own_estimates_take_two_scores()
  local p = recipe(sc.choose{ 1e-4, 1e-2 })
  fails({ "folds = \"loo\"", "\"loss\" or \"error\"" }, p.search, p, wdbc, { folds = "loo",
    score = "auc" })
end

-- ------------ tables

TestTables = {}

function TestTables:test_a_best_value_at_the_edge_is_told()
  local function search(...)
    return recipe(sc.choose{ ... }):search(wdbc, { folds = 3, score = "loss" })
  end
  local high = search(1e2, 1e3, 1e4)
  lu.assertEquals(high.table.edge, { { option = "solver.lambda", value = 1e2, side = "smallest" } })
  lu.assertStrContains(tostring(high.table),
    "the best solver.lambda, 100, is the smallest tried: a smaller one may be better")
  lu.assertStrContains(high:info().note, "the smallest tried")
  local wide = search(1e-12, 1e-2, 1e6)
  lu.assertEquals(wide.table.edge, {})
  lu.assertNotStrContains(tostring(wide.table), "tried")
  lu.assertEquals(search(1e3, 1e4).table.edge, {}) -- two values have nothing but edges
end

function TestTables:test_a_tie_with_the_inside_is_no_edge()
  local found = recipe(sc.choose{ 1e-14, 1e-13, 1e-12 }):search(wdbc, { folds = 3 })
  if found.table[1].mean == found.table[2].mean then lu.assertEquals(found.table.edge, {}) end
end

function TestTables:test_stages_have_short_labels()
  local function features(phi, T)
    return sc.features{ p = sc.sampler.gaussian{ sigma = 0.2 }, phi = phi, T = T or 10 }
  end
  local function labels(...)
    local found = sc.pipeline{ sc.standardize(), sc.choose{ ... }, sc.solver.ridge{} }:search(wdbc,
      { folds = 2 })
    local list = {}
    for line in tostring(found.table):gmatch("\n([^\n]*)") do
      list[#list + 1] = line:match("^(.-)%s%s+%d") or line
    end
    return list
  end
  local fourier, relu = sc.nonlinearity.fourier(), sc.nonlinearity.relu()
  lu.assertEquals(labels(features(fourier), features(relu)),
    { "gaussian/fourier", "gaussian/relu" })
  local by_width = labels(features(fourier, 5), features(fourier, 10))
  lu.assertStrContains(by_width[1], "T = 5")
  lu.assertStrContains(by_width[2], "T = 10")
end

function TestTables:test_a_table_is_saved_as_csv()
  local found = sc.pipeline{ sc.choose{ sc.standardize(), sc.minmax() },
    sc.solver.ridge{ lambda = sc.choose{ 1e-3, 1e-1 } } }:search(wdbc, { folds = 2 })
  local path = support.free_path(".csv")
  found.table:save(path)
  local lines = {}
  for line in support.read(path):gmatch("[^\n]+") do lines[#lines + 1] = line end
  lu.assertEquals(lines[1], "stage 1,solver.lambda,error,stderr,fold 1,fold 2,unconverged,best")
  lu.assertEquals(#lines, 5)
  for i, row in ipairs(found.table) do
    local cells = {}
    for cell in (lines[i + 1] .. ","):gmatch("([^,]*),") do cells[#cells + 1] = cell end
    lu.assertEquals(tonumber(cells[2]), row.choice["solver.lambda"])
    lu.assertEquals(tonumber(cells[3]), row.mean)
    lu.assertEquals(tonumber(cells[6]), row.folds[2])
    lu.assertEquals(cells[8], row == found.table.best and "1" or "0")
  end
  os.remove(path)
  fails({ "search table:save", ".csv" }, found.table.save, found.table, "t.txt")
  fails({ "did you mean 'best'" }, function() return found.table.bst end)
end

-- ------------ copies

TestClones = {}

local function rich()
  return sc.pipeline{ sc.standardize(), sc.pca{ k = 5 }, sc.features{
    p = sc.sampler.gaussian{ sigma = 0.2 }, phi = sc.nonlinearity.fourier(), T = 20, seed = 3 },
    sc.solver.ridge{ lambda = 1e-3, intercept = true }, block = 512 }
end

function TestClones:test_a_copy_without_changes_learns_the_same()
  local p = rich():fit(wdbc)
  local copy = p:clone()
  lu.assertNil(copy.fitted)
  lu.assertTrue(copy:fit(wdbc):weights() == p:weights())
  lu.assertEquals(tostring(rich():clone()), tostring(rich()))
end

function TestClones:test_changes_go_by_path_and_leave_the_first_alone()
  local p = rich()
  local copy = p:clone{ ["solver.lambda"] = 0.5, ["features.T"] = 7, ["pca.k"] = 2,
    ["sampler.sigma"] = 0.9, block = 256 }
  local text = tostring(copy)
  for _, part in ipairs{ "lambda = 0.5", "T = 7", "pca{k = 2}", "sigma = 0.9", "seed = 3" } do
    lu.assertStrContains(text, part)
  end
  lu.assertEquals({ p.block, copy.block }, { 512, 256 })
  lu.assertStrContains(tostring(p), "lambda = 0.001")
  lu.assertEquals(copy:fit(wdbc):info().features, 7)
end

function TestClones:test_options_inside_options_are_reached()
  local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.sign(), T = 3, K = sc.kernel.sum{ terms = {
      sc.kernel.gaussian{ width = 2 }, sc.kernel.gaussian{ width = 3 } } } }, sc.solver.ridge{} }
  local terms = p:clone{ ["kernel.terms.width"] = 5 }.features.inst.K.given.terms
  lu.assertEquals({ terms[1].given.width, terms[2].given.width }, { 5, 5 })
  lu.assertEquals(p.features.inst.K.given.terms[2].given.width, 3)
end

function TestClones:test_values_to_search_and_choices_of_stages()
  local p = rich():clone{ ["solver.lambda"] = sc.choose{ 1e-3, 1e-1 } }
  lu.assertEquals(#p:search(wdbc, { folds = 2 }).table, 2)
  local either = sc.pipeline{ sc.choose{ sc.standardize(), sc.minmax() },
    sc.solver.ridge{ lambda = 1e-3 } }
  local found = either:clone{ ["solver.lambda"] = 0.1 }:search(wdbc, { folds = 2 })
  lu.assertEquals(#found.table, 2)
  lu.assertStrContains(tostring(found), "lambda = 0.1")
  -- what a search found can be changed further
  lu.assertStrContains(tostring(found:clone{ ["solver.lambda"] = 7 }), "lambda = 7")
end

function TestClones:test_unknown_paths_and_values_are_refused()
  local p = rich()
  fails({ "pipeline:clone", "'solver.lamda'", "did you mean 'solver.lambda'" }, p.clone, p,
    { ["solver.lamda"] = 1 })
  fails({ "no option 'kernel.width'" }, p.clone, p, { ["kernel.width"] = 1 })
  fails({ "lambda" }, p.clone, p, { ["solver.lambda"] = -1 })
  fails({ "takes a table" }, p.clone, p, 5)
end

os.exit(lu.LuaUnit.run(), true)

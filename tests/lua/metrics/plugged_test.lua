-- Metrics that are plugins, and those that a script defines: values and standard errors against
-- independent computations, and wherever a score is taken.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")
local fails = support.fails

local m = sc.metrics

-- n rows of c classes: probabilities, labels from 1, weights.
local function random(n, c, seed)
  local u, v, w = sc.rand{ n, c, seed = seed }, sc.rand{ n, 1, seed = seed + 1 },
    sc.rand{ n, 1, seed = seed + 2 }
  local p, y = sc.zeros(n, c), {}
  for i = 1, n do
    y[i] = 1 + math.min(c - 1, math.floor(c * v:get(i, 1)))
    u:set(i, y[i], u:get(i, y[i]) + 0.7)
    for k = 1, c do p:set(i, k, u:get(i, k) / u:row(i):sum()) end
  end
  return p, y, w
end

local function columns_of(y, c)
  local Y = sc.zeros(#y, c)
  for i, k in ipairs(y) do Y:set(i, k, 1) end
  return Y
end

-- ------------ values

TestValues = {}

function TestValues.test_brier_is_the_weighted_mean_square()
  local p, y, w = random(60, 3, 1)
  local square, sum = columns_of(y, 3) - p, 0
  for i = 1, 60 do sum = sum + w:get(i, 1) * square:row(i):norm() ^ 2 end
  lu.assertAlmostEquals(m.brier(p, y, { weights = w }), sum / w:sum(), 1e-14)
end

function TestValues.test_brier_of_two_classes_is_of_the_second()
  local p, y = random(60, 2, 4)
  local sum = 0
  for i = 1, 60 do sum = sum + (p:get(i, 2) - (y[i] - 1)) ^ 2 / 60 end
  lu.assertAlmostEquals(m.brier(p, y), sum, 1e-15)
  lu.assertEquals(m.brier(p:column(2), y), m.brier(p, y))
end

-- Gorodkin's definition: the covariance of the indicator columns over the root of the product of
-- their variances.
local function correlation(a, b, w, c)
  local X, Y, n, s = columns_of(a, c), columns_of(b, c), #a, w:sum()
  local function covariance(A, B)
    local sum = 0
    for k = 1, c do
      local x, y, both = 0, 0, 0
      for i = 1, n do
        local v = w:get(i, 1) / s
        x, y = x + v * A:get(i, k), y + v * B:get(i, k)
        both = both + v * A:get(i, k) * B:get(i, k)
      end
      sum = sum + both - x * y
    end
    return sum
  end
  return covariance(X, Y) / math.sqrt(covariance(X, X) * covariance(Y, Y))
end

function TestValues.test_mcc_is_the_correlation_of_indicators()
  for _, c in ipairs{ 2, 3, 7 } do
    local p, y, w = random(90, c, c)
    local said = {}
    for i = 1, 90 do said[i] = math.tointeger(p:row(i):argmax(2):get(1, 1)) end
    lu.assertAlmostEquals(m.mcc(said, y, { weights = w }), correlation(said, y, w, c), 1e-12)
  end
end

function TestValues.test_mcc_of_two_classes_by_the_counts()
  local tp, tn, fp, fn = 5, 7, 2, 3
  local said, truth = {}, {}
  for _, one in ipairs{ { 2, 2, tp }, { 1, 1, tn }, { 2, 1, fp }, { 1, 2, fn } } do
    for _ = 1, one[3] do said[#said + 1], truth[#truth + 1] = one[1], one[2] end
  end
  local want = (tp * tn - fp * fn) / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
  lu.assertAlmostEquals(m.mcc(said, truth), want, 1e-14)
  lu.assertEquals(m.mcc({ 1, 1, 1 }, { 1, 2, 1 }), 0)
  lu.assertEquals(m.mcc({ "a", "b", "b" }, { "a", "b", "b" }), 1)
end

function TestValues.test_pinball_by_hand()
  lu.assertAlmostEquals(m.pinball({ 1, 5 }, { 3, 4 }, { tau = 0.9 }), (0.9 * 2 + 0.1) / 2, 1e-15)
  local f, y = sc.randn{ 30, 2, seed = 1 }, sc.randn{ 30, 2, seed = 2 }
  lu.assertAlmostEquals(m.pinball(f, y), m.mae(f, y) / 2, 1e-14)
end

-- The constant that minimises it is the quantile.
function TestValues.test_pinball_is_least_at_the_quantile()
  local y, list = sc.randn{ 501, 1, seed = 3 }, {}
  for i = 1, 501 do list[i] = y:get(i, 1) end
  table.sort(list)
  local at = list[math.floor(0.8 * 501) + 1]
  local best = m.pinball(sc.ones(501, 1) * at, y, { tau = 0.8 })
  for _, other in ipairs{ list[350], list[380], list[420], at - 1e-3, at + 1e-3 } do
    lu.assertTrue(m.pinball(sc.ones(501, 1) * other, y, { tau = 0.8 }) > best)
  end
end

function TestValues.test_wrong_use_is_a_sentence()
  fails({ "metrics.pinball: unknown option 'taw' (did you mean 'tau'?)" }, m.pinball, { 1 }, { 1 },
    { taw = 1 })
  fails({ "'tau'" }, m.pinball, { 1 }, { 1 }, { tau = 2 })
  fails({ "metrics.mcc", "2 x 1 and the truth is 1 x 1" }, m.mcc, { 1, 2 }, { 1 })
  fails({ "all weights are 0" }, m.mcc, { 1, 2 }, { 1, 2 }, { weights = { 0, 0 } })
  fails({ "sc.metrics has no 'mc'", "did you mean 'mcc'" }, function() return m.mc end)
  fails({ "metric.pinball", "'tau'" }, sc.metric.pinball, { tau = 0 })
  fails({ "row 2 has a prediction, a truth or a weight that is NaN" }, m.pinball, { 1, 0 / 0 },
    { 1, 2 })
  fails({ "metrics.pinball: takes named options, and got 0.9 without a name" }, m.pinball, { 1 },
    { 1 }, { 0.9 })
  fails({ "metrics.pinball: unknown option 'classes'" }, m.pinball, { 1 }, { 1 },
    { classes = { 1 } })
end

function TestValues.test_an_option_with_a_name_that_all_metrics_have()
  sc.metric.define{ name = "heavy", needs = "values", better = "smaller",
    options = { weights = 2 }, row = function(f, _, o) return f * o.weights end }
  fails({ "metrics.heavy", "own option 'weights'", "sc.metric.heavy{...}" }, m.heavy, { 1 }, { 1 })
  local X = sc.randn{ 50, 1, seed = 1 }
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-9, intercept = false } }:fit(X, X)
  lu.assertAlmostEquals(p:score(X, X, { metric = sc.metric.heavy{ weights = 3 } }),
    3 * p:predict(X):sum() / 50, 1e-12)
end

-- Probabilities of the second class do not tell which class the only one of the truth is.
function TestValues.test_a_truth_of_one_class()
  for _, name in ipairs{ "brier", "log_loss" } do
    fails({ "metrics." .. name, "the truth is of one class", "classes =" }, m[name], { 0.1, 0.2 },
      { 1, 1 })
  end
  local given = { classes = { 0, 1 } }
  lu.assertAlmostEquals(m.brier({ 0.1, 0.2 }, { 1, 1 }, given), (0.81 + 0.64) / 2, 1e-15)
  lu.assertAlmostEquals(m.brier({ 0.1, 0.2 }, { 0, 0 }, given), (0.01 + 0.04) / 2, 1e-15)
end

-- ------------ standard errors

TestErrors = {}

-- A model that predicts column 1 of its rows, and rows whose target is that plus noise.
local function model()
  local X = sc.randn{ 400, 1, seed = 1 }
  return sc.pipeline{ sc.solver.ridge{ lambda = 1e-9, intercept = false } }:fit(X, X)
end

-- Over many sets of rows, the standard deviation of the values against the mean standard error:
-- both estimates of one number, of which the first has the relative standard error 1/sqrt(2 sets),
-- and the jackknife one of 1/sqrt(2 * 19) for each set.
local function expect_honest(metric)
  local p, sets, n = model(), 200, 100
  local sum, square, said = 0, 0, 0
  for s = 1, sets do
    local X = sc.randn{ n, 1, seed = 10 * s }
    local value, stderr = p:score(X, X + sc.randn{ n, 1, seed = 10 * s + 1 }, { metric = metric })
    sum, square, said = sum + value, square + value ^ 2, said + stderr
  end
  local deviation = math.sqrt((square - sum ^ 2 / sets) / (sets - 1))
  local limit = 4.5 * math.sqrt(1 / (2 * sets) + 1 / (2 * 19 * sets)) + 0.03
  lu.assertTrue(math.abs(said / sets / deviation - 1) < limit, ("%s: %g, and said %g"):format(
    metric, deviation, said / sets))
end

function TestErrors.test_of_a_mean() expect_honest "pinball" end
function TestErrors.test_by_the_jackknife() expect_honest "rmse" end
function TestErrors.test_of_the_engines_counts() expect_honest "mse" end

function TestErrors.test_a_function_of_the_mean_has_that_of_the_mean_times_its_slope()
  sc.metric.define{ name = "of_root", needs = "values", better = "smaller", low = 0,
    row = function(f, y) return (f - y) ^ 2 end,
    finish = function(mean) return math.sqrt(mean), 0.5 / math.sqrt(mean) end }
  expect_honest "of_root"
  local f, y = sc.randn{ 50, 1, seed = 1 }, sc.randn{ 50, 1, seed = 2 }
  local w = sc.rand{ 50, 1, seed = 3 }
  lu.assertAlmostEquals(m.of_root(f, y, { weights = w }), m.rmse(f, y, { weights = w }), 1e-14)
end

function TestErrors.test_accuracy_has_nearly_the_binomial_one()
  local ds = sc.data.load "wdbc"
  local p = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = 10 } }:fit(ds)
  local value, stderr = p:score(ds, { metric = "accuracy" })
  lu.assertEquals(value, p:score(ds))
  lu.assertTrue(math.abs(stderr / math.sqrt(value * (1 - value) / #ds) - 1) < 4.5 / math.sqrt(38))
end

function TestErrors.test_few_rows_have_none()
  local p, X = model(), sc.randn{ 10, 1, seed = 5 }
  local value, stderr = p:score(X, X + 1, { metric = "rmse" })
  lu.assertAlmostEquals(value, 1, 1e-6)
  lu.assertNil(stderr)
end

-- ------------ where scores are taken

TestScores = {}

local ds = sc.data.load "wdbc"
local train, test = ds:split{ test = 0.25, seed = 0 }

local function ridge(lambda)
  return sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = lambda } }
end

-- The same score by a function of the script.
function TestScores.test_cv_by_name_component_and_function()
  local want = ridge(1):cv(ds, { score = function(said, truth) return m.mcc(said, truth) end })
  for _, score in ipairs{ "mcc", sc.metric.mcc(), m.mcc } do
    local got = ridge(1):cv(ds, { score = score })
    lu.assertEquals({ got.folds, got.score }, { want.folds, "mcc" })
  end
end

function TestScores.test_search_knows_the_direction()
  local lambda = sc.choose{ 1e-3, 100 }
  local best = sc.pipeline{ sc.standardize(), sc.solver.logistic{ lambda = lambda } }
  for _, score in ipairs{ "mcc", "brier", "log_loss" } do
    lu.assertEquals(best:search(train, { score = score }).choice["solver.lambda"], 1e-3)
  end
  local y = train.X:column(1)
  local values = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = lambda } }
    :search(sc.dataset{ X = train.X, y = y }, { score = { "pinball", tau = 0.9 } })
  lu.assertEquals(values.choice["solver.lambda"], 1e-3)
  lu.assertEquals(values.table.score, "pinball{tau = 0.9}")
end

function TestScores.test_compare_and_importance()
  local found = sc.compare{ ridge(1), ridge(1e4), on = ds, score = "mcc" }
  lu.assertTrue(found.larger)
  lu.assertTrue(found[1].mean > found[2].mean)
  local list = ridge(1):fit(train):importance(test, { metric = "mcc", repeats = 2 })
  lu.assertEquals(list.metric, "mcc")
end

function TestScores.test_experiments_know_what_is_better()
  local paired = require "scullery.experiment.paired"
  lu.assertEquals({ paired.larger "test_mcc", paired.larger "brier", paired.larger "pinball" },
    { true, false, false })
  lu.assertNil(paired.larger "of_nothing")
end

function TestScores.test_score_of_a_fitted_pipeline()
  local p = sc.pipeline{ sc.standardize(), sc.solver.logistic{ lambda = 1e-3 } }:fit(train)
  local value, stderr = p:score(test, { metric = "brier" })
  local P, sum = p:probabilities(test), 0
  lu.assertAlmostEquals(value, m.brier(P, test.y, { classes = p.classes }), 1e-15)
  local n = #test
  for i = 1, n do
    sum = sum + ((P:get(i, 2) - (test.y:get(i, 1) == 2 and 1 or 0)) ^ 2 - value) ^ 2
  end
  lu.assertAlmostEquals(stderr, math.sqrt(sum / n / (n - 1)), 1e-14)
  lu.assertEquals({ p:score(test.X, test.y, { metric = "brier" }) }, { value, stderr })
  fails({ "metric = \"pinball\" is for a regression" }, p.score, p, test, { metric = "pinball" })
  fails({ "option 'metric' got \"mc\"", "did you mean 'mcc'" }, p.score, p, test, { metric = "mc" })
  fails({ "unknown option 'metrc'" }, p.score, p, test, { metrc = "mcc" })
  fails({ "pipeline:score", "{ metric = \"mcc\" }" }, p.score, p, test, "mcc")
  fails({ "'metric' got the function sc.metric.mcc (write sc.metric.mcc{})" }, p.score, p, test,
    { metric = sc.metric.mcc })
  fails({ "option 'metric': the function gave \"x\"" }, p.score, p, test,
    { metric = function() return "x" end })
  local flat = sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(train)
  fails({ "metric = \"brier\" takes probabilities" }, flat.score, flat, test,
    { metric = "brier" })
end

function TestScores.test_a_plugin_with_the_name_of_one_that_is_built_in()
  sc.metric.define{ name = "top_k", needs = "labels", better = "larger",
    row = function() return 7 end }
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(train)
  fails({ "metric = \"top_k\" is built in", "sc.metric.top_k{...} is the plugin" }, p.score, p,
    test, { metric = "top_k" })
  lu.assertEquals(p:score(test, { metric = sc.metric.top_k() }), 7)
end

function TestScores.test_a_regression_with_a_transformed_target()
  local y = (train.X:column(1) * 0.1):map(math.exp)
  local p = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = 1e-3 }, target = "log" }
    :fit(train.X, y)
  local value = p:score(train.X, y, { metric = "mae" })
  lu.assertAlmostEquals(value, m.mae(p:predict(train.X), y), 1e-12)
end

-- A limit of -1, not of 0, for the interval of a correlation.
function TestScores.test_a_report_has_the_searched_metric()
  local best = sc.pipeline{ sc.solver.ridge{ lambda = sc.choose{ 1e-3, 1e-2 } } }
  local function noise(seed)
    return sc.dataset{ X = sc.randn{ 200, 2, seed = seed }, y = sc.randn{ 200, 1, seed = seed + 1 }
      :map(function(v) return v > 0 and 1 or -1 end), task = "classification" }
  end
  support.in_folder(function(folder)
    best:search(noise(1), { score = "mcc" }):report(folder .. "/m.html", { data = noise(3) })
    local low, high = support.read(folder .. "/m.html")
      :match "mcc %(searched%).->(%-?[%d.]+) to (%-?[%d.]+)<"
    lu.assertTrue(tonumber(low) < 0 and tonumber(high) > 0)
  end)
end

function TestScores.test_the_command()
  support.in_folder(function(folder)
    local path = folder .. "/rows.csv"
    local X = sc.randn{ 80, 2, seed = 1 }
    local lines = { "a,b,y" }
    for i = 1, 80 do
      lines[#lines + 1] = ("%.6f,%.6f,%.6f"):format(X:get(i, 1), X:get(i, 2), 3 * X:get(i, 1)
        + X:get(i, 2) ^ 2)
    end
    support.write(path, table.concat(lines, "\n") .. "\n")
    local rows = sc.data.csv(path, { target = "y", quiet = true })
    local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(rows)
    p:save(folder .. "/m.safetensors")
    local value, stderr = p:score(rows, { metric = { "pinball", tau = 0.9 } })
    local status, out = support.shell(("%s predict %s %s -o %s --score --metric %s"):format(
      support.quote(support.binary), folder .. "/m.safetensors", path, folder .. "/out.csv",
      support.quote "pinball{tau = 0.9}"))
    lu.assertEquals({ status, out }, { 0, ("pinball{tau = 0.9} %.6g +- %.2g\n"):format(value,
      stderr) })
    for words, arguments in pairs{ ["--metric names what --score prints"] = "--metric mae",
      ["option 'metric' got \"mea\" (did you mean 'mae'?)"] = "--score --metric mea",
      ["a name with options in braces, and got 'mae(1)'"] = "--score --metric 'mae(1)'" } do
      local failed, _, err = support.shell(("%s predict %s %s -o %s %s"):format(
        support.quote(support.binary), folder .. "/m.safetensors", path, folder .. "/no.csv",
        arguments))
      lu.assertEquals(failed, 1)
      lu.assertStrContains(err, words)
    end
    lu.assertNil(io.open(folder .. "/no.csv"))
  end)
end

-- ------------ metrics of a script

TestDefined = {}

function TestDefined.test_labels_are_positions_and_probabilities_lists()
  sc.metric.define{ name = "of_right", needs = "labels", better = "larger", low = 0, high = 1,
    row = function(said, truth) return said == truth and 1 or 0 end }
  lu.assertEquals(m.of_right({ "a", "b", "b", "c" }, { "a", "b", "c", "c" }), 0.75)
  sc.metric.define{ name = "of_chance", needs = "probabilities", better = "larger",
    options = { power = 1 }, row = function(p, truth, o) return p[truth] ^ o.power end }
  local p, y = random(20, 3, 9)
  local sum = 0
  for i = 1, 20 do sum = sum + p:get(i, y[i]) ^ 2 / 20 end
  lu.assertAlmostEquals(m.of_chance(p, y, { power = 2 }), sum, 1e-14)
end

function TestDefined.test_of_all_rows()
  sc.metric.define{ name = "of_all", needs = "values", better = "smaller", low = 0,
    measure = function(f, y, w)
      lu.assertEquals(tostring(f):match "%S+ %d+ x %d+", "matrix 5 x 2")
      return ((f - y):abs() * sc.ones(2, 1)):mul(w):sum() / w:sum() / 2, 0.5
    end }
  local f, y = sc.randn{ 5, 2, seed = 1 }, sc.randn{ 5, 2, seed = 2 }
  lu.assertAlmostEquals(m.of_all(f, y), m.mae(f, y), 1e-14)
  sc.metric.define{ name = "of_lists", needs = "labels", better = "larger",
    measure = function(said, truth) return (said[1] == 2 and truth[2] == 1) and 1 or 0 end }
  lu.assertEquals(m.of_lists({ 5, 9 }, { 7, 5 }, { classes = { 7, 5, 9 } }), 0)
  lu.assertEquals(m.of_lists({ 5, 9 }, { 5, 7 }, { classes = { 7, 5, 9 } }), 1)
end

function TestDefined.test_limits_and_failures_are_sentences()
  sc.metric.define{ name = "of_limits", needs = "values", better = "smaller", low = 0, high = 1,
    row = function(f) return f end }
  fails({ "metric.of_limits is 7, and says that it is within [0, 1]" }, m.of_limits, { 7 }, { 1 })
  sc.metric.define{ name = "of_nan", needs = "values", better = "smaller", row = function(f)
    return f > 1 and 0 / 0 or 0 end }
  fails({ "metric.of_nan: row 2 counts NaN" }, m.of_nan, { 0, 2 }, { 1, 1 })
  sc.metric.define{ name = "of_text", needs = "values", better = "smaller",
    row = function() return "x" end }
  fails({ "metric.of_text: row", "returned \"x\", where a number belongs" }, m.of_text, { 0 },
    { 1 })
  sc.metric.define{ name = "of_two", needs = "scores", better = "larger", most_classes = 2,
    row = function() return 1 end }
  fails({ "metric.of_two is for at most 2 classes, and these are 3" }, m.of_two,
    sc.zeros(3, 3), { 1, 2, 3 })
  lu.assertEquals(m.of_two({ 0.1, 0.2, 0.3 }, { 1, 2, 1 }), 1)
end

function TestDefined.test_wrong_definitions_are_sentences()
  local right = { name = "of_x", needs = "values", better = "smaller", row = math.abs }
  for words, change in pairs{
    ["option 'needs' got \"valus\""] = { needs = "valus" },
    ["option 'better' got \"more\""] = { better = "more" },
    ["takes 'row' or 'measure', and got both"] = { measure = math.abs },
    ["the field 'low' is 2, which is not below 'high' = 1"] = { low = 2, high = 1 },
    ["option 'most_classes'"] = { most_classes = 1 },
  } do
    local given = {}
    for name, value in pairs(right) do given[name] = value end
    for name, value in pairs(change) do given[name] = value end
    fails({ "metric.define: ", words }, sc.metric.define, given)
  end
  fails({ "needs the field 'row' or 'measure'" }, sc.metric.define, { name = "of_x",
    needs = "values", better = "smaller" })
end

-- ------------ tables that are refused

-- What the loader says of a metric with these members.
local function refusal(members)
  local message
  support.in_folder(function(folder)
    support.write(folder .. "/wrong.c", [[
#include <scullery/plugin.h>
static void row(const void *s, const scl_judged *j, double *out) { (void)s, (void)j, (void)out; }
static double finish(const void *s, double m, double *d) { (void)s; *d = 1; return m; }
static scl_status measure(const void *s, const scl_judged *j, double *v, double *e, scl_error *r) {
  (void)s, (void)j, (void)e, (void)r; *v = 0; return SCL_STATUS_OK;
}
const scl_plugin scullery_plugin = { .name = "wrong", .summary = "x", .doc = "x",
  SCL_METRIC(]] .. members .. [[)};
]])
    local status, _, err = support.shell(("cc -w -shared -fPIC -I %s -o %s %s"):format(
      support.quote((os.getenv "SCULLERY_SOURCE" or ".") .. "/core/include"), folder .. "/wrong.so",
      folder .. "/wrong.c"))
    lu.assertEquals({ status, err }, { 0, "" })
    message = select(2, pcall(sc.plugin.load, folder .. "/wrong.so"))
  end)
  return message
end

function TestRefusedTables()
  for members, words in pairs{
    [".needs = SCL_NEEDS_LABELS"] = "one of the slots 'row' and 'measure' is required",
    [".row = row, .measure = measure"] = "it has the slots 'row' and 'measure'",
    [".measure = measure, .finish = finish"] = "'finish' is for metrics with the slot 'row'",
    [".row = row, .needs = 9"] = "it needs the unknown form 9 of predictions",
    [".row = row, .better = 2"] = "better is 2",
    [".row = row, .low = 1, .high = 1"] = "low = 1 is not below high = 1",
    [".row = row, .most_classes = 3"] = "most_classes is 3 for a metric of values",
  } do
    lu.assertStrContains(refusal(members), words)
  end
end

os.exit(lu.LuaUnit.run(), true)

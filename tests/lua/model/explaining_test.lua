-- Permutation importance, partial dependence, thresholds.
local lu = require "luaunit"
local core = require "scullery.core"
local sc = require "scullery"

local function regression()
  local X = sc.randn{ 500, 3, seed = 1 }
  return sc.dataset{ X = X, y = X:column(1) * 3 + X:column(2), names = { "a", "b", "c" },
    task = "regression" }
end

-- Of y = 3 a + b with independent columns of variance v, a loses 2 * 9 v_a of the variance of y.
function TestImportanceOfALinearModelIsKnown()
  local ds = regression()
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-9 } }:fit(ds)
  local list = p:importance(ds, { repeats = 20, seed = 3, metric = "mse" })
  lu.assertEquals({ list[1].name, list[2].name, list[3].name }, { "a", "b", "c" })
  local function variance(j) return ds.X:column(j):std() ^ 2 end
  for k, wanted in ipairs{ 2 * 9 * variance(1), 2 * variance(2), 0 } do
    lu.assertTrue(math.abs(list[k].mean - wanted) <= 5 * list[k].stderr + 1e-9 + 0.01 * wanted,
      list[k].name)
  end
  lu.assertEquals(p:importance(ds, { repeats = 2, seed = 3 })[1].mean,
    p:importance(ds, { repeats = 2, seed = 3 })[1].mean)
  lu.assertStrContains(tostring(list), "mse loses")
end

-- scullery/fit.h: in the order of the columns, which have the names of the model or none.
function TestImportanceByPlace()
  local session, ds = require "scullery.model.session", regression()
  local names = { "x3", "x2", "x1" }
  local function rows(given) return { X = ds.X, y = ds.y, task = "regression", names = given } end
  for _, given in ipairs{ false, names } do
    local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(sc.dataset(rows(given or nil)))
    local found = session.apply(p, "importance", rows(given or nil))
    lu.assertEquals({ found:rows(), found:cols() }, { ds.X:cols(), 2 })
    lu.assertTrue(session.apply(p, "importance", rows()) == found)
    for _, one in ipairs(p:importance(sc.dataset(rows(names)))) do
      local place = 4 - tonumber(one.name:sub(2))
      lu.assertEquals({ found:get(place, 1), found:get(place, 2) }, { one.mean, one.stderr })
    end
  end
end

-- The 0/1 columns of one column of text are shuffled together.
function TestCategoriesAreOneColumn()
  local path, lines = os.tmpname(), { "colour,x,y" }
  for i = 1, 90 do
    local colour = ({ "red", "green", "blue" })[i % 3 + 1]
    lines[#lines + 1] = ("%s,%d,%d"):format(colour, i % 7, i % 3 * 10 + i % 5)
  end
  local file = assert(io.open(path, "w"))
  file:write(table.concat(lines, "\n"), "\n")
  file:close()
  local ds = sc.data.csv(path, { task = "regression", quiet = true })
  os.remove(path)
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(ds)
  local list = p:importance()
  lu.assertEquals({ #list, list[1].name }, { 2, "colour" })
  local d = p:dependence(ds, "colour")
  lu.assertEquals(d.categories, { "blue", "green", "red" })
end

function TestDependenceOfALinearModelIsALine()
  local ds = regression()
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-9 } }:fit(ds)
  local d = p:dependence(ds, "a", { points = 5, curves = 2 })
  for k = 2, 5 do
    lu.assertAlmostEquals((d.mean[k] - d.mean[1]) / (d.values[k] - d.values[1]), 3, 1e-6)
    lu.assertAlmostEquals(d.curves[1][k] - d.curves[1][1], d.mean[k] - d.mean[1], 1e-6)
  end
  -- the curves are those of rows 1 and 251 of 500, which differ by b
  lu.assertAlmostEquals(d.curves[2][1] - d.curves[1][1], ds.X:get(251, 2) - ds.X:get(1, 2), 1e-6)
  lu.assertAlmostEquals(d.stderr[1], ds.X:column(2):std() / math.sqrt(500), 2e-3)
  lu.assertErrorMsgContains("did you mean 'c'", p.dependence, p, ds, "cc")
  local two = sc.dataset{ X = ds.X, y = core.hcat(ds.y, ds.y * 2), task = "regression" }
  local first = p:clone{}:fit(two):dependence(two, "x1", { points = 5 })
  lu.assertEquals(first.what, "prediction 1 of 2")
  lu.assertAlmostEquals(first.mean, d.mean, 1e-9)
end

-- Pictures show the numbers of the tables; curves of single rows are faint.
function TestPicturesOfColumnsShowTheTables()
  local ds = regression()
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-9 } }:fit(ds)
  local list = p:importance(ds, { seed = 2 })
  local bars = list:plot{ title = "mine" }.panels[1]
  lu.assertEquals(bars.title, "mine")
  lu.assertEquals(bars.x.categories, { "a", "b", "c" })
  for i, one in ipairs(list) do
    lu.assertAlmostEquals(bars.layers[1].y[i], one.mean, 1e-12)
    lu.assertAlmostEquals(bars.layers[1].high[i] - one.mean, one.stderr, 1e-12)
  end
  lu.assertEquals(p:plot("importance", ds, { seed = 2 }).panels[1].layers[1].y, bars.layers[1].y)
  local fig = p:plot("dependence", ds, { column = { "b", "a" }, curves = 3, points = 5 })
  lu.assertEquals(#fig.panels, 2)
  local d = p:dependence(ds, "b", { curves = 3, points = 5 })
  local layers = fig.panels[1].layers
  lu.assertEquals(#layers, 4)
  for i = 1, 3 do lu.assertEquals({ layers[i].y, layers[i].faint }, { d.curves[i], true }) end
  lu.assertEquals({ layers[4].y, layers[4].faint }, { d.mean, false })
  lu.assertAlmostEquals(layers[4].high[1] - d.mean[1], d.stderr[1], 1e-12)
  lu.assertEquals(p:plot("dependence", ds).panels[1].title, "Dependence on a")
  lu.assertErrorMsgContains("did you mean 'a'", p.plot, p, "dependence", ds, { column = "aa" })
  lu.assertErrorMsgContains('is for "importance"', p.plot, p, "dependence", ds, { repeats = 2 })
  lu.assertErrorMsgContains("a name or a list of names", p.plot, p, "dependence", ds,
    { column = 3 })
end

local function classes()
  local X = sc.randn{ 400, 2, seed = 5 }
  local y = (X:column(1) + sc.randn{ 400, 1, seed = 6 } * 0.5):map(function(v)
    return v > 0.8 and 1 or 0
  end)
  return sc.dataset{ X = X, y = y, task = "classification" }
end

function TestAThresholdMovesTheLabels()
  local ds = classes()
  local p = sc.pipeline{ sc.solver.logistic{ lambda = 1e-3 } }:fit(ds)
  local P = p:probabilities(ds)
  for _, at in ipairs{ 0.1, 0.5, 0.9 } do
    local said = p:predict(ds, { threshold = at })
    for i = 1, 400 do lu.assertEquals(said:get(i, 1), P:get(i, 2) >= at and 1 or 0) end
  end
  lu.assertEquals(p:predict(ds, { threshold = 0.5 }), p:predict(ds))
  lu.assertErrorMsgContains("between 0 and 1", p.predict, p, ds, { threshold = 2 })
  local ridge = sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(ds)
  lu.assertErrorMsgContains("call p:calibrate{}", ridge.predict, ridge, ds, { threshold = 0.5 })
  local three = sc.pipeline{ sc.solver.logistic{ lambda = 1 } }:fit(ds.X, sc.data.rotate and
    ds.X:column(2):map(function(v) return v > 0.5 and 3 or v > -0.5 and 2 or 1 end),
    { task = "classification" })
  lu.assertErrorMsgContains("is for two classes", three.predict, three, ds.X, { threshold = 0.5 })
end

-- The chosen threshold is at least as good as each of a grid.
function TestAChosenThresholdIsTheBest()
  local ds = classes()
  local p = sc.pipeline{ sc.solver.logistic{ lambda = 1e-3 } }:fit(ds)
  local function f1(at) return sc.metrics.f1(p:predict(ds, { threshold = at }), ds.y) end
  local chosen = p:threshold(ds)
  lu.assertAlmostEquals(f1(chosen.threshold), chosen.value, 1e-12)
  local function cost(at)
    local said, sum = p:predict(ds, { threshold = at }), 0
    for i = 1, 400 do
      local s, t = said:get(i, 1), ds.y:get(i, 1)
      sum = sum + (s > t and 1 or s < t and 5 or 0)
    end
    return sum
  end
  local cheap = p:threshold(ds, { by = "cost", cost = { 1, 5 } })
  lu.assertAlmostEquals(cost(cheap.threshold), cheap.value, 1e-9)
  for at = 0.05, 0.95, 0.05 do
    lu.assertTrue(f1(at) <= chosen.value + 1e-12)
    lu.assertTrue(cost(at) >= cheap.value - 1e-9)
  end
  local found = p:threshold(ds, { by = "rate", rate = 0.9 })
  lu.assertTrue(sc.metrics.recall(p:predict(ds, { threshold = found.threshold }), ds.y) >= 0.9)
  lu.assertErrorMsgContains("belong together; it takes { of a false second class", p.threshold, p,
    ds, { by = "cost" })
end

-- Areas of the curves are those of the metrics; a ranking without errors has a corner.
function TestCurvesAndTheirAreas()
  local scores, truth = sc.matrix{ 0.1, 0.4, 0.35, 0.8 }, { 0, 0, 1, 1 }
  local roc = sc.metrics.roc_curve(scores, truth)
  lu.assertEquals(roc.area, 0.75)
  lu.assertEquals({ roc.x, roc.y }, { { 0, 0, 0.5, 0.5, 1 }, { 0, 0.5, 0.5, 1, 1 } })
  lu.assertEquals(sc.metrics.pr_curve(scores, truth).area, sc.metrics.pr_auc(scores, truth))
  lu.assertEquals(sc.metrics.lift_curve(scores, truth).area, 2)
  lu.assertAlmostEquals(sc.metrics.brier(sc.matrix{ 0.5, 0.5, 1, 1 }, truth), 0.125, 1e-12)
  local ds = classes()
  local p = sc.pipeline{ sc.solver.logistic{ lambda = 1e-3 } }:fit(ds)
  for kind, word in pairs{ roc = "AUC", pr = "average precision",
    lift = "largest lift, of a tenth of the rows" } do
    lu.assertStrContains(p:plot(kind, ds):svg(), word)
  end
end

-- Sentences name the method that was called and the option that it has.
function TestSentencesNameTheMethodAndItsOption()
  local ds = regression()
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(ds)
  local function fails(text, f, ...) lu.assertErrorMsgContains(text, f, ...) end
  fails("pipeline:importance: option 'metric' got \"rmsee\" (did you mean 'rmse'?)", p.importance,
    p, ds, { metric = "rmsee" })
  fails("pipeline:importance: metric = \"auc\" is for a classification", p.importance, p, ds,
    { metric = "auc" })
  fails("pipeline:importance: takes a data set, and got a 500 x 3 matrix", p.importance, p, ds.X)
  fails("pipeline:importance: the data set has one row", p.importance, p, ds:select{ 1 })
  fails("pipeline:predict: unknown option 'treshold' (did you mean 'threshold'?)", p.predict, p,
    ds.X, { treshold = 0.5 })
  fails("pipeline:predict: unknown option 'progres'", p.predict, p, ds.X,
    { threshold = 0.5, progres = true })
  local y = ds.y:map(function(v) return v > 0 and 1 or 0 end)
  local q = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(sc.dataset{ X = ds.X, y = y,
    task = "classification" })
  fails("pipeline:labels: unknown option 'treshold'", q.labels, q, ds.X, { treshold = 0.5 })
  fails("pipeline:labels: option 'threshold' is a probability", q.labels, q, ds.X,
    { threshold = 0.5 })
end

os.exit(lu.LuaUnit.run())

-- The numbers behind the pictures of the library's objects, against other ways to compute them.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local judging = require "scullery.model.judging"
local numbers = require "scullery.pictures.numbers"
local support = dofile("tests/helpers/support.lua")
local fails = support.fails

local ds = sc.data.load("wdbc")
local train, test = ds:split{ test = 0.25, seed = 0 }

local function sinks(given)
  return sc.features{ p = sc.sampler.gaussian{ sigma = given.sigma or 0.15 },
    phi = sc.nonlinearity.fourier(), T = given.T or 60, seed = 1 }
end

local function ridge(lambda) return sc.solver.ridge{ lambda = lambda or 1e-3 } end

local function searched(...)
  return sc.pipeline{ sc.standardize(), ... }:search(train, { folds = 4, seed = 3 }).table
end

local function notes_of(fig)
  local list = {}
  for _, panel in ipairs(fig.panels) do
    for _, note in ipairs(panel.notes) do list[#list + 1] = note end
  end
  return table.concat(list, "\n")
end

local function layer(fig, place, kind)
  for _, one in ipairs(fig.panels[place].layers) do if one.kind == kind then return one end end
end

local function near(a, b, slack) lu.assertAlmostEquals(a, b, slack or 1e-12) end

-- ------------ searches

function TestASearchOverNumbersIsALine()
  local cells = searched(sinks{}, ridge(sc.choose.log{ 1e-6, 1e-1, count = 6 }))
  local fig = cells:plot()
  lu.assertEquals(fig.panels[1].x.log, true)
  lu.assertEquals(fig.panels[1].x.label, "solver.lambda")
  local line = layer(fig, 1, "line")
  for i, row in ipairs(cells) do
    near(line.x[i], row.choice["solver.lambda"])
    near(line.y[i], row.mean)
    near(line.high[i] - line.y[i], row.stderr)
  end
  near(layer(fig, 1, "rule").x1, cells.best.choice["solver.lambda"])
  lu.assertStrContains(notes_of(fig), "1 standard error over 4 folds, seed 3")
  lu.assertStrContains(notes_of(fig), ("%.4g"):format(cells.best.mean))
end

function TestASearchOfOneValueSaysNothingOfABand()
  local notes = notes_of(searched(sinks{}, ridge(sc.choose{ 1e-3 })):plot())
  lu.assertStrContains(notes, "best: solver.lambda = 0.001")
  lu.assertNil(notes:find("standard error", 1, true))
end

function TestASearchOverTwoNumbersIsAHeatmap()
  local cells = searched(sinks{ sigma = sc.choose{ 0.05, 0.2, 0.5 } },
    ridge(sc.choose{ 1e-4, 1e-2 }))
  local values = layer(cells:plot(), 1, "cells").values
  for _, row in ipairs(cells) do
    local i = row.choice["solver.lambda"] == 1e-4 and 1 or 2
    local j = ({ [0.05] = 1, [0.2] = 2, [0.5] = 3 })[row.choice["sampler.sigma"]]
    near(values[i][j], row.mean)
  end
end

function TestOfManyOptionsThoseThatMatterAreDrawnAtTheBestOfTheOthers()
  local cells = searched(sinks{ sigma = sc.choose{ 0.05, 0.2, 5 }, T = sc.choose{ 55, 60 } },
    ridge(sc.choose{ 1e-4, 1e-3, 1e-2 }))
  local fig = cells:plot()
  -- a width of 5 spoils everything; the number of features hardly matters
  lu.assertEquals({ fig.panels[1].x.label, fig.panels[1].y.label },
    { "sampler.sigma", "solver.lambda" })
  lu.assertStrContains(notes_of(fig), "each value is the best over features.T")
  local values = layer(fig, 1, "cells").values
  for i, lambda in ipairs{ 1e-4, 1e-3, 1e-2 } do
    for j, sigma in ipairs{ 0.05, 0.2, 5 } do
      local best = math.huge
      for _, row in ipairs(cells) do
        if row.choice["solver.lambda"] == lambda and row.choice["sampler.sigma"] == sigma then
          best = math.min(best, row.mean)
        end
      end
      near(values[i][j], best)
    end
  end
  local line = layer(cells:plot{ options = "features.T" }, 1, "line")
  lu.assertEquals(line.x, { 55, 60 })
end

function TestStagesAreBarsAndWordsBesideNumbersAreLines()
  local cells = searched(sc.choose{ sc.minmax(), sc.normalize(), sc.add_bias() },
    ridge(sc.choose{ 1e-4, 1e-2 }))
  local bars = cells:plot{ options = "stage 2" }
  local drawn = layer(bars, 1, "bars")
  lu.assertEquals(#drawn.y, 3)
  lu.assertTrue(drawn.y[1] <= drawn.y[2] and drawn.y[2] <= drawn.y[3], "the best comes first")
  near(drawn.y[1], cells.best.mean)
  near(drawn.high[1] - drawn.y[1], cells.best.stderr)
  local lines = cells:plot().panels[1].layers
  lu.assertEquals({ lines[1].kind, lines[2].kind, lines[3].kind, lines[3].label },
    { "line", "line", "line", "add_bias()" })
end

function TestALoadedSearchLooksTheSame()
  local best = sc.pipeline{ sc.choose{ sc.standardize(), sc.minmax() },
    sc.choose{ sinks{}, sinks{ sigma = 0.3 } }, ridge(sc.choose{ 1e-4, 1e-2 }) }:search(train,
    { folds = 3 })
  local path = os.tmpname()
  best:save(path)
  local loaded = sc.load(path)
  os.remove(path)
  lu.assertEquals(tostring(loaded.table), tostring(best.table))
  for _, options in ipairs{ { "stage 1" }, { "stage 2", "stage 1" },
    { "stage 1", "solver.lambda" } } do
    lu.assertEquals(tostring(loaded.table:plot{ options = options }),
      tostring(best.table:plot{ options = options }))
  end
end

function TestRandomDrawsArePoints()
  local cells = sc.pipeline{ sc.standardize(), sinks{ sigma = sc.choose.log{ 0.01, 1 } },
    ridge(sc.choose.log{ 1e-6, 1e-1 }) }:search(train, { folds = 3, draws = 8 }).table
  local fig = cells:plot()
  lu.assertEquals(#fig.panels, 2)
  for _, place in ipairs{ 1, 2 } do lu.assertEquals(#layer(fig, place, "points").x, #cells) end
end

function TestASearchByItsSolversOwnEstimateHasNoErrorBars()
  local cells = sc.pipeline{ sinks{}, ridge(sc.choose{ 1e-3, 1e-1 }) }:search(train,
    { folds = "loo" }).table
  local fig = cells:plot()
  lu.assertNil(layer(fig, 1, "line").low)
  lu.assertNil(notes_of(fig):find("standard error"))
end

function TestPicturesOfSearchesRefuse()
  local cells = searched(sinks{}, ridge(sc.choose{ 1e-4, 1e-2 }))
  fails({ "search table:plot", "solver.lamda", "solver.lambda" }, cells.plot, cells,
    { options = "solver.lamda" })
  fails({ "one or two names" }, cells.plot, cells, { options = {} })
  fails({ "unknown option" }, cells.plot, cells, { option = "solver.lambda" })
  fails({ "twice" }, cells.plot, cells, { options = { "solver.lambda", "solver.lambda" } })
end

-- ------------ models

local function wave(n, seed)
  local X, e = sc.randn{ n, 3, seed = seed }, sc.randn{ n, 1, seed = seed + 1 }
  local y = sc.zeros(n)
  for i = 1, n do y:set(i, 1, math.sin(2 * X:get(i, 1)) + 0.2 * e:get(i, 1)) end
  return sc.dataset{ X = X, y = y }
end

function TestResidualsAreThoseOfThePredictions()
  local p = sc.pipeline{ sinks{ sigma = 0.7 }, ridge() }:fit(wave(200, 1))
  local fresh = wave(90, 5)
  local fig, said = p:plot("residuals", fresh), p:predict(fresh.X)
  local points, square = layer(fig, 1, "points"), 0
  for i = 1, 90 do
    local residual = fresh.y:get(i, 1) - said:get(i, 1)
    near(points.x[i], said:get(i, 1))
    near(points.y[i], residual)
    near(layer(fig, 2, "points").y[i], fresh.y:get(i, 1))
    square = square + residual ^ 2
  end
  lu.assertStrContains(notes_of(fig), ("root mean squared error %.4g on the 90 rows given"):format(
    math.sqrt(square / 90)))
  local means, order = fig.panels[1].layers[2], {}
  for i = 1, 90 do order[i] = { points.x[i], points.y[i] } end
  table.sort(order, function(a, b) return a[1] < b[1] end)
  for g = 1, 10 do -- nine rows each
    local sum = 0
    for i = 9 * g - 8, 9 * g do sum = sum + order[i][2] end
    near(means.y[g], sum / 9)
  end
  lu.assertStrContains(p:plot("residuals").title, "the 200 rows that it learnt from")
end

function TestSeveralTargetsAreSeries()
  local X = sc.randn{ 80, 3, seed = 1 }
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(sc.dataset{ X = X,
    y = X * sc.randn{ 3, 2, seed = 2 } })
  local fig = p:plot("residuals")
  lu.assertEquals(fig.panels[1].layers[2].label, "target 2")
  near(fig.panels[1].layers[2].x[7], p:predict(X):get(7, 2))
  lu.assertEquals(layer(p:plot("coefficients"), 1, "bars").y[1],
    math.max(p:weights():row(1):norm(), p:weights():row(2):norm(), p:weights():row(3):norm()))
end

local classifier = sc.pipeline{ sc.standardize(), sinks{}, ridge() }:fit(train)

function TestConfusionCounts()
  local fig = classifier:plot("confusion", test)
  local counts = sc.metrics.confusion(classifier:predict(test), test.y, test.classes).counts
  for i = 1, 2 do
    local size = counts:row(i):sum()
    for j = 1, 2 do
      near(layer(fig, 1, "cells").values[i][j], 100 * counts:get(i, j) / size, 0.0501)
      near(layer(fig, 2, "cells").values[i][j], counts:get(i, j))
    end
    lu.assertStrContains(fig.panels[1].y.categories[i], ("%d rows"):format(size))
  end
  local wrong = math.floor(classifier:error(test) * #test + 0.5)
  lu.assertStrContains(notes_of(fig), ("wrong: %d of the %d rows given,"):format(wrong, #test))
end

function TestClassesMayBeNumbers()
  local y = sc.zeros(#train)
  for i = 1, #train do y:set(i, 1, ({ -1, 7, 2.5 })[i % 3 + 1]) end
  local rows = sc.dataset{ X = train.X, y = y, task = "classification" }
  local p = sc.pipeline{ sc.standardize(), sinks{}, ridge() }:fit(rows)
  local fig = p:plot("confusion")
  local counts = sc.metrics.confusion(p:predict(rows), rows.y, rows.classes).counts
  lu.assertEquals(fig.panels[2].x.categories, { "-1", "2.5", "7" })
  for i = 1, 3 do
    for j = 1, 3 do near(layer(fig, 2, "cells").values[i][j], counts:get(i, j)) end
  end
end

function TestLabelsNeverSeenCountAsWrong()
  local labels = test:labels()
  labels[1], labels[2] = "Z", "Z"
  local strange, fig = sc.dataset{ X = test.X, y = labels, names = test.names }, nil
  support.stderr_of(function() fig = classifier:plot("confusion", strange) end)
  local wrong = math.floor(classifier:error(test) * #test + 0.5)
  lu.assertStrContains(notes_of(fig), "2 rows have a label that was never seen")
  local said = classifier:labels(test.X)
  for i = 1, 2 do if said[i] == test:labels()[i] then wrong = wrong + 1 end end
  lu.assertStrContains(notes_of(fig), ("wrong: %d of the %d rows given,"):format(wrong, #test))
end

function TestWilsonsIntervalSolvesItsEquation()
  local z = 1.959963984540054
  for _, case in ipairs{ { 2, 143 }, { 50, 100 }, { 0, 10 }, { 7, 7 }, { 1, 3 } } do
    local hits, n = case[1], case[2]
    local low, high = numbers.wilson(hits, n)
    for _, p in ipairs{ low, high } do
      if p > 0 and p < 1 then near((hits / n - p) ^ 2, z ^ 2 * p * (1 - p) / n) end
    end
    lu.assertTrue(low >= 0 and low <= hits / n and hits / n <= high and high <= 1)
  end
end

function TestCalibrationIsThatOfTheMetric()
  local p = sc.pipeline{ sc.standardize(), sc.solver.logistic{ lambda = 1e-2 } }:fit(train)
  local fig, P = p:plot("calibration", test), p:probabilities(test)
  local points, bins = layer(fig, 1, "points"), sc.metrics.calibration(P, test.y).bins
  lu.assertEquals(#points.x, #bins)
  for i, bin in ipairs(bins) do
    near(points.x[i], bin.said)
    near(points.y[i], bin.seen)
    local low, high = numbers.wilson(math.floor(bin.seen * bin.rows + 0.5), bin.rows)
    near(points.low[i], low)
    near(points.high[i], high)
  end
  local bars, above = layer(fig, 2, "bars"), 0
  local sum = 0
  for _, count in ipairs(bars.y) do sum = sum + count end
  lu.assertEquals(sum, #test + 0.0)
  for i = 1, #test do if P:get(i, 2) >= 0.95 then above = above + 1 end end
  lu.assertEquals(bars.y[#bars.y], above + 0.0)
end

function TestCoefficientsAreSorted()
  local fig = classifier:plot("coefficients")
  local line, sizes = layer(fig, 1, "line"), {}
  for t = 1, 60 do sizes[t] = math.abs(classifier:weights():get(t, 1)) end
  table.sort(sizes, function(a, b) return a > b end)
  for i, rank in ipairs(line.x) do near(line.y[i], sizes[math.tointeger(rank)]) end
  local bars = fig.panels[2]
  near(math.abs(bars.layers[1].y[1]), sizes[1])
  near(bars.layers[1].y[1], classifier:weights():get(tonumber(bars.x.categories[1]), 1))
end

function TestCoefficientsOfColumnsHaveTheirNames()
  local linear = sc.pipeline{ sc.standardize(), sc.add_bias(), ridge() }:fit(train)
  local fig = linear:plot("coefficients")
  local place = {}
  for j, name in ipairs(train.names) do place[name] = j end
  place.bias = 31
  local bars = fig.panels[1]
  for i, name in ipairs(bars.x.categories) do
    near(bars.layers[1].y[i], linear:weights():get(place[name], 1))
  end
  local reduced = sc.pipeline{ sc.pca{ k = 3 }, ridge() }:fit(train):plot("coefficients")
  lu.assertStrContains(table.concat(reduced.panels[1].x.categories, " "), "component 3")
end

function TestStumpsWeighTheirColumns()
  local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.threshold{ sigma = 1 },
    phi = sc.nonlinearity.sign(), T = 90 }, ridge() }:fit(train)
  local bars, W, sums = p:plot("coefficients").panels[1], core.map_parameters(p.fitted.map), {}
  for t = 1, 90 do
    local name = train.names[math.tointeger(W:get(t, 1))]
    sums[name] = (sums[name] or 0) + math.abs(p:weights():get(t, 1))
  end
  for i, name in ipairs(bars.x.categories) do near(bars.layers[1].y[i], sums[name] or 0) end
  lu.assertTrue(bars.layers[1].y[1] >= bars.layers[1].y[20])
end

function TestThePanelsThatApply()
  local function titles(fig)
    local list = {}
    for i, panel in ipairs(fig.panels) do list[i] = panel.title end
    return table.concat(list, ", ")
  end
  lu.assertEquals(titles(classifier:clone{}:fit(train):plot(test)),
    "Confusion, Decay of the coefficients")
  lu.assertEquals(titles(classifier:clone{}:fit(train):calibrate{}:plot(test)),
    "Confusion, Calibration, Probabilities, Decay of the coefficients")
  lu.assertEquals(titles(sc.pipeline{ sc.solver.knn{} }:fit(wave(40, 1)):plot()),
    "Residuals, Observed against predicted")
end

function TestALoadedModelTakesRows()
  local path = os.tmpname()
  classifier:save(path)
  local loaded = sc.load(path)
  os.remove(path)
  fails({ "pipeline:plot", "p:plot(test)" }, loaded.plot, loaded)
  lu.assertEquals(layer(loaded:plot("confusion", test), 1, "cells").values,
    layer(classifier:plot("confusion", test), 1, "cells").values)
  lu.assertEquals(#loaded:plot("coefficients").panels, 2)
end

function TestThePictureOfProbabilitiesMakesThem()
  local fresh, calibrated = classifier:clone{}:fit(train), classifier:clone{}:fit(train):calibrate{}
  local fig = fresh:plot("calibration", test)
  lu.assertEquals(layer(fig, 1, "points").y,
    layer(calibrated:plot("calibration", test), 1, "points").y)
  lu.assertStrContains(notes_of(fig), "probabilities: Platt's sigmoids on out-of-fold scores of 5")
  local path = os.tmpname()
  classifier:clone{}:fit(train):save(path)
  local loaded = sc.load(path)
  os.remove(path)
  fails({ "no probabilities yet: call p:calibrate{}" }, loaded.plot, loaded, "calibration", test)
end

function TestAStreamIsDrawnToo()
  local rows = wave(60, 1)
  local p = sc.pipeline{ sinks{ sigma = 0.7 }, ridge() }:fit(rows)
  lu.assertEquals(layer(p:plot("residuals", support.streamed(rows)), 1, "points").y,
    layer(p:plot("residuals", rows), 1, "points").y)
end

function TestPicturesOfModelsRefuse()
  fails({ "pipeline:plot", "'residuals'" }, classifier.plot, classifier, "residual")
  fails({ "\"residuals\" is for a regression" }, classifier.plot, classifier, "residuals")
  local fresh = classifier:clone{}
  fails({ "not fitted" }, fresh.plot, fresh)
  fresh:fit(train)
  fails({ "takes a data set, and got" }, fresh.plot, fresh, "confusion", test.X)
  fails({ "unknown option 'titel'" }, fresh.plot, fresh, test, { titel = "x" })
  local knn = sc.pipeline{ sc.solver.knn{} }:fit(train)
  fails({ "no coefficients" }, knn.plot, knn, "coefficients")
  local features = sc.pipeline{ sc.standardize() }:fit(train.X)
  fails({ "no solver" }, features.plot, features)
end

-- ------------ learning curves

function TestALearningCurveEndsAtCrossValidation()
  local p = sc.pipeline{ sc.standardize(), sinks{}, ridge() }
  local some = ds:subset(1, 200)
  local most = 160 -- the rows outside the largest of five folds
  local fig, curve = sc.plot.learning_curve{ pipeline = p, data = some, sizes = { 40, most },
    folds = 5, seed = 2 }
  local cv = p:cv(some, { folds = 5, seed = 2, score = "error", stages = "fold" })
  near(curve[2].test, cv.mean)
  near(curve[2].test_stderr, cv.stderr)
  near(layer(fig, 1, "line").y[2], cv.mean)
  near(layer(fig, 1, "line").high[2], cv.mean + cv.stderr)
  lu.assertEquals(#curve[1].folds.train, 5)
  lu.assertTrue(curve[1].train <= curve[1].test)
  lu.assertStrContains(tostring(curve), "test error")
  lu.assertStrContains(notes_of(fig), "1 standard error over 5 folds, seed 2")
  lu.assertEquals(select(2, sc.plot.learning_curve{ pipeline = p, data = some, sizes = { 40, most },
    folds = 5, seed = 2 })[1].folds, curve[1].folds)
end

function TestLearningCurvesOfRegressionsAndOtherScores()
  local rows = wave(80, 3)
  local p = sc.pipeline{ sinks{ sigma = 0.7, T = 30 }, ridge() }
  local _, curve = sc.plot.learning_curve{ pipeline = p, data = rows, folds = 4 }
  lu.assertEquals({ curve.score, curve[1].rows, curve[#curve].rows }, { "mse", 10, 60 })
  local _, of_r2 = sc.plot.learning_curve{ pipeline = p, data = rows, folds = 4, score = "r2",
    sizes = { 60 } }
  near(of_r2[1].test, p:cv(rows, { folds = 4, stages = "fold" }).mean, 1e-9)
end

function TestLearningCurvesRefuse()
  local p, learn = sc.pipeline{ ridge() }, sc.plot.learning_curve
  fails({ "plot.learning_curve", "from 1 to", "in place 2" }, learn, { pipeline = p, data = train,
    sizes = { 10, 10000 } })
  fails({ "ascending" }, learn, { pipeline = p, data = train, sizes = { 20, 10 } })
  fails({ "size 1 is too small: there are 2 classes, and each size must hold rows of every class" },
    learn, { pipeline = p, data = train, sizes = { 1, 2 } })
  fails({ "search first" }, learn, { pipeline = sc.pipeline{ ridge(sc.choose{ 1, 2 }) },
    data = train })
  fails({ "'pipeline' is missing" }, learn, { data = train })
  fails({ "streams" }, learn, { pipeline = p, data = support.streamed(wave(20, 1)) })
  fails({ "no solver" }, learn, { pipeline = sc.pipeline{ sc.standardize() }, data = train })
end

-- ------------ kernel errors

function TestKernelErrorsAreDrawnOnLogAxes()
  local result = sc.kernel_error{ p = sc.sampler.gaussian{ gamma = 0.3 },
    phi = sc.nonlinearity.fourier(), X = sc.randn{ 12, 3, seed = 1 }, T = { 16, 64, 256 } }
  local fig = result:plot()
  local line, rule = layer(fig, 1, "line"), layer(fig, 1, "rule")
  lu.assertEquals({ fig.panels[1].x.log, fig.panels[1].y.log }, { true, true })
  for i, row in ipairs(result.rows) do
    near(line.y[i], row.rms)
    near(line.high[i], row.rms + row.stderr)
  end
  near(rule.y2 / rule.y1, (rule.x2 / rule.x1) ^ -0.5, 1e-9)
  lu.assertStrContains(notes_of(fig), "1 standard error over 4 seeds")
  local both = result:plot{ with = { sc.kernel_error{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.sign(), X = sc.randn{ 12, 3, seed = 1 }, T = { 16, 64 } } } }
  lu.assertEquals({ both.panels[1].layers[1].label, both.panels[1].layers[2].label },
    { "gaussian/fourier", "gaussian/sign" })
  fails({ "1 texts for 2 curves" }, result.plot, result, { with = { result }, labels = { "a" } })
  fails({ "'with'", "results of sc.kernel_error" }, result.plot, result, { with = { 5 } })
  lu.assertNil(layer(sc.kernel_error{ p = sc.sampler.gaussian{ gamma = 0.3 }, seeds = 1,
    phi = sc.nonlinearity.fourier(), X = sc.randn{ 5, 3, seed = 1 }, T = { 16 } }:plot(), 1,
    "line").low)
end

-- ------------ embeddings

local function moments(x, y)
  local mx, my, sum = judging.mean(x), judging.mean(y), 0
  for i = 1, #x do sum = sum + (x[i] - mx) * (y[i] - my) end
  return sum / #x, mx
end

function TestAnEmbeddingIsTheFirstTwoComponents()
  local standard = sc.pipeline{ sc.standardize() }:fit(ds.X)
  local fig = sc.plot.embedding{ X = ds, through = standard }
  local x, y = {}, {}
  for _, one in ipairs(fig.panels[1].layers) do
    table.move(one.x, 1, #one.x, #x + 1, x)
    table.move(one.y, 1, #one.y, #y + 1, y)
  end
  lu.assertEquals(#x, #ds)
  near(moments(x, y), 0, 1e-9) -- components are uncorrelated, about 0
  near(select(2, moments(x, y)), 0, 1e-9)
  -- thirty columns of variance 1; the share of the first by the power method
  local Z = standard:transform(ds.X)
  local C, v = Z:t() * Z * (1 / #ds), sc.randn{ 30, 1, seed = 1 }
  for _ = 1, 200 do v = C * v v = v * (1 / v:norm()) end
  near(moments(x, x), (C * v):norm(), 1e-8)
  lu.assertStrContains(fig.panels[1].x.label, ("%.1f %%"):format(100 * (C * v):norm() / 30))
  lu.assertEquals(fig.panels[1].layers[1].label, "B")
end

function TestMarkersAndSamplesOfAnEmbedding()
  local X = sc.randn{ 2500, 4, seed = 1 }
  local digits = {}
  for i = 1, 2500 do digits[i] = i % 10 end
  local fig = sc.plot.embedding{ X = X, y = digits, text = true }
  lu.assertStrContains(notes_of(fig), "2000 of 2500 rows are drawn")
  lu.assertEquals(fig.panels[1].layers[4].text[1], "3")
  lu.assertEquals(#sc.plot.embedding{ X = { { 1, 2 }, { 2, 1 }, { 4, 4 } } }.panels[1].layers, 1)
end

function TestEmbeddingsRefuse()
  local embed = sc.plot.embedding
  fails({ "plot.embedding", "'X' is missing" }, embed, {})
  fails({ "has 2 entries, and X has 3 rows" }, embed, { X = sc.randn{ 3, 3 }, y = { 1, 2 } })
  fails({ "row 2, column 1" }, embed, { X = { { 1, 2 }, { 0 / 0, 1 }, { 1, 1 } } })
  fails({ "at least 2 numbers" }, embed, { X = sc.randn{ 5, 1 } })
  fails({ "give y" }, embed, { X = sc.randn{ 5, 2 }, text = true })
  fails({ "at least 3 rows" }, embed, { X = sc.randn{ 2, 2 } })
  fails({ "not fitted yet" }, embed, { X = ds, through = sc.pipeline{ sc.standardize() } })
end

os.exit(lu.LuaUnit.run(), true)

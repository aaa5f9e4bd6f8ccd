-- Multi-label targets: one fit for all labels and one for each are fits of each label alone;
-- scores, folds, files and sentences.
local lu = require "luaunit"
local sc = require "scullery"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local support = require "support"
local fails = support.fails

local n, labels = 120, { "art", "news", "sport" }
local X, noise = sc.randn{ n, 2, seed = 1 }, sc.randn{ n, 3, seed = 2 }
local Y, lists = sc.zeros(n, 3), {}
for i = 1, n do
  lists[i] = {}
  local scores = { X:get(i, 1), X:get(i, 1) + X:get(i, 2), X:get(i, 2) - 0.5 }
  for j, score in ipairs(scores) do
    if score + noise:get(i, j) * 0.3 > 0 then
      Y:set(i, j, 1)
      table.insert(lists[i], labels[j])
    end
  end
end
local ds = sc.dataset{ X = X, y = lists }

local function pipeline(solver)
  return sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 0.7 },
    phi = sc.nonlinearity.fourier(), T = 30, seed = 1 }, solver }
end

function TestDataSets()
  lu.assertEquals(ds.task, "multilabel")
  lu.assertEquals(ds.classes, labels)
  lu.assertTrue(ds.y == Y)
  lu.assertEquals(ds:labels(), lists)
  local same = sc.dataset{ X = X, y = Y, task = "multilabel" }
  lu.assertEquals(same.classes, { 1, 2, 3 })
  lu.assertStrContains(tostring(ds), "3 labels of a row")
  lu.assertStrContains(tostring(ds:describe()), "label art")
  lu.assertEquals(ds:select{ 4, 2 }:labels(), { lists[4], lists[2] })
end

-- Each column is the classification of its label, for solvers of all labels at once (ridge) and of
-- one after the other.
function TestEachLabelAlone()
  local solvers = { sc.solver.ridge{ lambda = 1e-2 }, sc.solver.logistic{ lambda = 1e-2 },
    sc.solver.hinge{ lambda = 1e-2 } }
  for _, solver in ipairs(solvers) do
    local p = pipeline(solver):fit(ds)
    local said, scores = p:predict(X), p:decision(X)
    for j = 1, 3 do
      local one = pipeline(solver):fit(X, Y:column(j):copy(), { task = "classification" })
      lu.assertTrue((one:decision(X) - scores:column(j)):abs():max() < 1e-6, solver.name)
      lu.assertTrue(one:predict(X) == said:column(j), solver.name)
    end
    lu.assertEquals(p:labels(X)[1], sc.dataset{ X = X, y = said, task = "multilabel",
      classes = labels }:labels()[1])
  end
  local p = pipeline(sc.solver.logistic{ lambda = 1e-2 }):fit(ds)
  lu.assertTrue((p:probabilities(X):map(function(v) return math.log(v / (1 - v)) end)
    - p:decision(X)):abs():max() < 1e-6)
end

-- The values of scikit-learn 1.2.1 for the same two matrices.
function TestMetrics()
  local truth = sc.matrix{ { 1, 0, 1, 0 }, { 0, 1, 0, 0 }, { 1, 1, 1, 0 }, { 0, 0, 0, 0 } }
  local said = sc.matrix{ { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 1, 0, 1, 1 }, { 0, 0, 0, 0 } }
  local m = sc.metrics
  lu.assertAlmostEquals(m.hamming(said, truth), 0.1875, 1e-12)
  lu.assertAlmostEquals(m.subset_accuracy(said, truth), 0.5, 1e-12)
  lu.assertAlmostEquals(m.f1_micro(said, truth), 8 / 11, 1e-12)
  lu.assertAlmostEquals(m.f1_macro(said, truth), (1 + 2 / 3 + 2 / 3 + 0) / 4, 1e-12)
  local twice = { 1, 1, 3, 4, 4, 4 } -- the rows whose weights are 2, 0, 1 and 3
  for _, name in ipairs{ "hamming", "subset_accuracy", "f1_micro", "f1_macro" } do
    lu.assertAlmostEquals(m[name](said, truth, { weights = { 2, 0, 1, 3 } }),
      m[name](said:select(twice), truth:select(twice)), 1e-12, name)
  end
  fails({ "hamming", "4 x 4" }, m.hamming, said, truth:slice(1, 2))
  fails({ "hamming", "prediction", "no" }, m.hamming)
  fails({ "f1_micro", "truth" }, m.f1_micro, said)
  fails({ "f1_macro", "0 and 1" }, m.f1_macro, said * 0.5, truth)
end

-- p:score and p:error, and folds against fits without each.
function TestScoresAndFolds()
  for _, name in ipairs{ "ridge", "logistic" } do
    local solver = sc.solver[name]{ lambda = 1e-2 }
    local p = sc.pipeline{ solver }:fit(ds)
    local said = p:predict(ds)
    lu.assertEquals(p:score(ds), sc.metrics.subset_accuracy(said, Y))
    lu.assertEquals(p:error(X, lists), 1 - p:score(ds))
    for _, metric in ipairs{ "hamming", "f1_micro", "f1_macro" } do
      lu.assertEquals((p:score(ds, { metric = metric })), sc.metrics[metric](said, Y))
    end
    local cv, ids = p:cv(ds, { folds = 3, score = "f1_micro" }), ds:fold_ids{ k = 3, seed = 0 }
    for fold = 1, 3 do
      local inside, outside = {}, {}
      for i = 1, n do table.insert(ids[i] == fold and outside or inside, i) end
      local rest = ds:select(outside)
      lu.assertAlmostEquals(cv.folds[fold], sc.metrics.f1_micro(p:clone():fit(ds:select(inside))
        :predict(rest), rest.y), 1e-12)
    end
  end
  for _, name in ipairs{ "ridge", "logistic" } do
    local function recipe(lambda) return pipeline(sc.solver[name]{ lambda = lambda }) end
    for _, score in ipairs{ "subset_accuracy", "hamming", "f1_macro" } do
      local o = { folds = 3, score = score }
      local found = recipe(sc.choose{ 1e-3, 10 }):search(ds, o)
      lu.assertEquals(found.choice["solver.lambda"], 1e-3)
      lu.assertEquals(found:predict(X), recipe(1e-3):fit(ds):predict(X))
      for _, cell in ipairs(found.table) do
        lu.assertAlmostEquals(cell.mean, recipe(cell.choice["solver.lambda"]):cv(ds, o).mean, 1e-12)
      end
    end
  end
end

function TestFiles()
  support.in_folder(function(folder)
    local csv, path = folder .. "/rows.csv", folder .. "/m.safetensors"
    local file = io.open(csv, "w")
    file:write("a,art,b,news,sport\n")
    for i = 1, n do
      file:write(("%.17g,%d,%.17g,%d,%d\n"):format(X:get(i, 1), Y:get(i, 1), X:get(i, 2),
        Y:get(i, 2), Y:get(i, 3)))
    end
    file:close()
    local read = sc.data.csv(csv, { target = labels, quiet = true })
    lu.assertEquals({ read.task, read.classes, read.names }, { "multilabel", labels, { "a", "b" } })
    lu.assertTrue(read.y == Y and read.X == X)
    local p = pipeline(sc.solver.logistic{ lambda = 1e-2 }):fit(read)
    p:save(path)
    lu.assertStrMatches(support.read(path):sub(1, 1 << 20), ".*version\\\":8.*")
    local loaded = sc.load(path)
    lu.assertTrue(loaded:predict(read) == p:predict(read))
    lu.assertTrue(sc.data.csv(csv, { like = loaded, quiet = true }).y == Y)
    -- a file without targets has rows alone; one with a bad target is not taken for such
    local rows = support.write(folder .. "/alone.csv", "a,b\n1,2\n")
    lu.assertNil(sc.data.csv(rows, { like = loaded, quiet = true }).y)
    for _, line in ipairs{ "1,yes,2,0,1", "1,,2,0,1\n1,1,2,0,1" } do
      local bad = support.write(folder .. "/bad.csv", "a,art,b,news,sport\n" .. line .. "\n")
      lu.assertErrorMsgContains("art", sc.data.csv, bad, { like = loaded, quiet = true })
    end
    local _, out = support.shell(("%s predict %s %s --score"):format(
      support.quote(support.binary), path, csv))
    local said = p:predict(read)
    lu.assertStrContains(out, ("art,news,sport\n%d,%d,%d\n"):format(said:get(1, 1),
      said:get(1, 2), said:get(1, 3)))
    lu.assertEquals(sc.data.csv(csv, { target = { "art", "a" }, task = "regression",
      quiet = true }).y:cols(), 2)
    fails({ "spurt", "sport" }, sc.data.csv, csv, { target = { "art", "spurt" } })
    fails({ "0 and 1", "row 1" }, sc.data.csv, csv, { target = { "art", "a" }, quiet = true })
    fails({ "go together" }, sc.data.csv, csv, { target = labels, stream = true })
  end)
end

function TestSentences()
  fails({ "row 2", "not in classes" }, sc.dataset, { X = X:slice(1, 2),
    y = { { "a" }, { "b" } }, classes = { "a" } })
  fails({ "0 and 1", "row 1, column 2" }, sc.dataset, { X = X:slice(1, 1), y = { { 1, 2 } },
    task = "multilabel" })
  fails({ "3 columns", "2 classes" }, sc.dataset, { X = X, y = Y, task = "multilabel",
    classes = { "a", "b" } })
  local knn = sc.pipeline{ sc.solver.knn{ k = 3 } }
  fails({ "knn", "weights" }, knn.fit, knn, ds)
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(ds)
  fails({ "strange" }, p.score, p, sc.dataset{ X = X:slice(1, 1), y = { { "strange" } } })
  fails({ "multilabel", "regression" }, p.score, p, sc.dataset{ X = X, y = Y,
    task = "regression" })
  fails({ "regressions" }, p.interval, p, X)
  fails({ "classifications", "p:predict" }, p.label_sets, p, X)
  local l = sc.pipeline{ sc.solver.logistic{ lambda = 1 } }
  fails({ "multi-label" }, l.fit, l, ds, { interval = "folds" })
  l = pipeline(sc.solver.hinge{ lambda = sc.choose{ 1, 2 } })
  fails({ "one after the other", "\"loo\"" }, l.search, l, ds, { folds = "loo" })
  fails({ "one after the other", "the loss" }, l.search, l, ds, { score = "loss" })
  fails({ "one after the other", "a checkpoint" }, l.search, l, ds, { checkpoint = "c" })
  l = pipeline(sc.choose{ sc.solver.ridge{ lambda = 1 }, sc.solver.hinge{ lambda = 1 } })
  lu.assertEquals(l:search(ds, { folds = 2 }).table.score, "subset_accuracy")
  l = sc.pipeline{ sc.solver.logistic{ lambda = 1 } }
  fails({ "one after the other", "the loss" }, l.cv, l, ds, { score = "loss" })
  fails({ "p:decision" }, p.predict, p, X, { std = true })
  fails({ "no probabilities" }, p.probabilities, p, X)
  local constant = Y:copy()
  for i = 1, n do constant:set(i, 2, 1) end
  l:fit(sc.dataset{ X = X, y = constant, task = "multilabel" })
  lu.assertEquals(l:predict(X):column(2):mean(), 1)
end

-- A label that no row has is as likely as half a row among all.
function TestALabelOfNoRow()
  local p = sc.pipeline{ sc.solver.logistic{ lambda = 1e-2 } }:fit(sc.dataset{ X = X, y = lists,
    task = "multilabel", classes = { "art", "food", "news", "sport" } })
  local food = p:probabilities(X):column(2)
  lu.assertAlmostEquals(food:get(1, 1), 0.5 / (n + 1), 1e-12)
  lu.assertEquals(p:predict(X):column(2):sum(), 0)
end

os.exit(lu.LuaUnit.run(), true)

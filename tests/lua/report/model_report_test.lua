-- Reports of models: every number in them is that of another way to compute it, nothing of a text
-- is markup, and the script in them makes the model again.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local browser = dofile("tests/helpers/browser.lua")
local html = require "scullery.report.html"
local judging = require "scullery.model.judging"
local numbers = require "scullery.pictures.numbers"
local report = require "scullery.report.model"
local script = require "scullery.report.script"
local support = dofile("tests/helpers/support.lua")
local fails, in_folder = support.fails, support.in_folder

local train, test = sc.data.load("wdbc"):split{ test = 0.25, seed = 0 }

local function sinks(T, sigma)
  return sc.features{ p = sc.sampler.gaussian{ sigma = sigma or 0.15 },
    phi = sc.nonlinearity.fourier(), T = T or 60, seed = 7 }
end

local function page_of(p, given) return report.page(p, given):text() end

local function has(text, ...)
  for _, words in ipairs{ ... } do lu.assertNotNil(text:find(words, 1, true), words) end
end

local function lacks(text, ...)
  for _, words in ipairs{ ... } do lu.assertNil(text:find(words, 1, true), words) end
end

local function python()
  lu.skipIf(support.shell("python3 -c 'import xml.etree'") ~= 0, "there is no Python")
  return "python3"
end

-- What the page says of missing categories is what a prediction does with them.
function TestMissingCategories()
  in_folder(function(folder)
    local path = folder .. "/rows.csv"
    support.write(path, "c,d,x,y\n" .. ("u,u,1,a\nv,,2,b\nu,v,3,a\nv,u,4,b\n"):rep(3))
    local ds = sc.data.csv(path, { quiet = true })
    local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(ds)
    local page = page_of(p, { data = ds })
    has(page, "a category of their own", "0 in all its columns")
    support.write(path, "c,d,x\n,,1\n")
    local new = sc.data.csv(path, { like = p, target = false, quiet = true })
    lu.assertEquals(new.X, sc.matrix{ { 0, 0, 0, 0, 1, 1 } })
  end)
end

-- The page as XML, and as HTML whose elements are closed.
local function check_form(text)
  local path = support.write(nil, text)
  local status, _, err = support.shell(python() .. " -c 'import sys, xml.etree.ElementTree as e; \z
    e.parse(sys.argv[1])' " .. path)
  os.remove(path)
  lu.assertEquals(status, 0, err)
end

-- ------------ pages

local hostile = "<script>alert(\"x\")</script> & 'more' \xff\0"

function TestPagesEscapeEverything()
  local page = html.page{ title = hostile, subtitle = hostile }
  page:heading(hostile)
  page:paragraph(hostile)
  page:list{ hostile }
  page:code(hostile)
  page:table{ heads = { hostile }, rows = { { hostile } }, caption = hostile }
  page:facts{ { hostile, hostile }, { "nothing", nil } }
  page:figure(sc.plot.line{ y = { 1, 2 }, title = hostile, label = hostile, x_label = hostile },
    hostile)
  local text = page:text()
  lacks(text, "<script", "\xff", "\0", "nothing")
  has(text, "<h1>&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;more&#39; \u{FFFD}")
  check_form(text)
end

function TestNumbersStandToTheRight()
  local page = html.page{ title = "t" }
  page:table{ heads = { "name", "value" }, rows = { { "a", 1.5 }, { "b" }, { "c", 0 / 0 } },
    marked = 2 }
  has(page:text(), '<th>name</th><th class="number">value</th>',
    '<tr class="marked"><td>b</td><td class="number"></td>', '<td class="number">1.5</td>',
    '<td class="number">NaN</td>')
end

function TestIdsOfPicturesDiffer()
  local page, fig = html.page{ title = "t" }, sc.plot.scatter{ y = { 1, 3, 2 } }
  lu.skipIf(not fig:svg(), "there is no gnuplot")
  page:figure(fig)
  page:figure(fig)
  local seen = {}
  for id in page:text():gmatch("%sid=['\"]([^'\"]+)") do
    lu.assertNil(seen[id], id)
    seen[id] = true
  end
  for target in page:text():gmatch("href=['\"]#([^'\"]+)") do
    lu.assertTrue(seen[target], target)
  end
end

function TestPagesTakeThePathOfAnHtmlFile()
  local p = sc.pipeline{ sc.standardize(), sinks(), sc.solver.ridge() }
  fails({ "pipeline:report", "not fitted" }, p.report, p, "m.html")
  p:fit(train)
  fails({ "pipeline:report", "\"m.pdf\"", ".html" }, p.report, p, "m.pdf")
  fails({ "pipeline:report" }, p.report, p, nil)
  fails({ "pipeline:report" }, p.report, p, "/nowhere/m.html")
  fails({ "pipeline:report", "unknown option" }, p.report, p, "m.html", { test = test })
  fails({ "'data'", "a data set" }, p.report, p, "m.html", { data = test.X })
end

-- ------------ what they say

local best = sc.pipeline{ sc.standardize(), sinks(), sc.solver.ridge{
  lambda = sc.choose.log{ 1e-5, 1e-1, count = 5 } } }:search(train, { folds = 4, seed = 11,
  outer = 3 }):calibrate{}

local function interval(hits, n)
  local low, high = numbers.wilson(hits, n)
  return ("%.2f to %.2f %%"):format(100 * low, 100 * high)
end

function TestAClassificationIsReported()
  local text = page_of(best, { data = test })
  for _, ds in ipairs{ test, train } do
    local right = math.floor(best:score(ds) * #ds + 0.5)
    has(text, ("%.2f %%"):format(100 * right / #ds), ("%d of %d"):format(right, #ds),
      interval(right, #ds))
    local P = best:probabilities(ds)
    has(text, ("Log loss %.4g"):format(sc.metrics.log_loss(P, ds.y, ds.classes)))
  end
  local counts = sc.metrics.confusion(best:predict(test), test.y, test.classes).counts
  local said, right = counts:column(2):sum(), counts:get(2, 2)
  has(text, ('<td>M</td><td class="number">%d</td><td class="number">%d</td>\z
    <td class="number">%d</td><td class="number">%.2f %%</td>'):format(counts:row(2):sum(), said,
    right, 100 * right / counts:row(2):sum()), ("%.2f %%"):format(100 * right / said),
    interval(right, said))
  has(text, "On the 143 rows given.", "On the 426 rows that it learnt from")
  for _, row in ipairs(best.table) do has(text, ("%.6g"):format(row.mean)) end
  has(text, 'class="marked"', ("Nested: %.6g"):format(best.table.outer.mean), "seed 11")
  has(text, "mean_radius", "worst_concave_points", "diagnosis", "Platt&#39;s sigmoids on",
    core.fingerprint(train.X, train.y))
  check_form(text)
end

-- Measures are those of sc.metrics on the same rows; the jackknife of a mean is its standard error.
function TestMeasuresHaveIntervals()
  local p = sc.pipeline{ sc.standardize(), sc.solver.logistic{ lambda = sc.choose{ 1e-3, 1e-1 } } }
    :search(train, { folds = 3, score = "recall" })
  local page = page_of(p, { data = test, columns = 2 })
  local scores, said, truth = p:decision(test), p:predict(test), test.y
  for name, value in pairs{ ["AUC of M"] = sc.metrics.auc(scores, truth),
    ["average precision of M"] = sc.metrics.pr_auc(scores, truth),
    ["F1 of M"] = sc.metrics.f1(said, truth),
    ["balanced accuracy"] = sc.metrics.balanced_accuracy(said, truth),
    ["Brier score"] = sc.metrics.brier(p:probabilities(test), truth),
    ["recall (searched)"] = sc.metrics.recall(said, truth) } do
    has(page, ("<td>%s</td><td class=\"number\">%.4g</td>"):format(name, value))
  end
  has(page, "What the columns do", "Permutation importance on 143 rows")
  lacks(page_of(p, { data = test, columns = 0 }), "What the columns do")
  local values, mean, square = {}, 0, 0
  for i = 1, 2000 do values[i] = (i * 0.618034) % 1 end
  for _, v in ipairs(values) do mean = mean + v / 2000 end
  for _, v in ipairs(values) do square = square + (v - mean) ^ 2 end
  local found = require("scullery.metrics.jackknife").stderr(2000, function(rows)
    local sum = 0
    for _, row in ipairs(rows) do sum = sum + values[row] end
    return sum / #rows
  end)
  lu.assertAlmostEquals(found / math.sqrt(square / 1999 / 2000), 1, 0.5) -- 3 of its own errors
end

function TestThreeClassesAreExplained()
  local X = sc.randn{ 90, 2, seed = 4 }
  local ds = sc.dataset{ X = X, y = X:column(1):map(function(v)
    return v > 0.5 and 3 or v > -0.5 and 2 or 1
  end), task = "classification" }
  local page = page_of(sc.pipeline{ sc.solver.logistic{ lambda = 1e-2 } }:fit(ds))
  has(page, "AUC, mean over classes", "F1, mean over classes", "What the columns do",
    "probability of 1")
  lacks(page, "No picture")
end

function TestTheFeaturesErrorIsThatOfTheirKernel()
  local p = sc.pipeline{ sinks(40, 1e-3), sc.solver.ridge() }
  p:fit(train:subset(1, 50))
  local X = p.data.X
  local Phi = p:transform(X)
  local gap = Phi * Phi:t() - p.features.inst:kernel(X, X)
  has(page_of(p), ("Over all pairs of 50 rows they differ from its closed form by %.3g (root mean \z
    square), at most %.3g"):format(gap:norm() / 50, gap:abs():max()))
  local stumps = sc.pipeline{ sc.features{ p = sc.sampler.threshold{ sigma = 1 },
    phi = sc.nonlinearity.tanh(), T = 20 }, sc.solver.ridge() }:fit(train)
  has(page_of(stumps), "No closed form of their kernel is known")
  lacks(page_of(sc.pipeline{ sc.solver.ridge() }:fit(train)), "What the features estimate")
end

function TestColumnsOfOtherRowsGoByName()
  local order, names = {}, {}
  for j = 1, 30 do
    order[j] = train.X:column(31 - j)
    names[j] = train.names[31 - j]
  end
  local turned = sc.dataset{ X = sc.hcat(table.unpack(order)), y = train:labels(), names = names }
  in_folder(function(folder)
    best:save(folder .. "/m.safetensors")
    local loaded = sc.load(folder .. "/m.safetensors")
    lu.assertEquals(page_of(loaded, { data = turned }), page_of(loaded, { data = train }))
  end)
end

function TestAWeightingsGuaranteeIsReported()
  local inst = sc.instantiation{ K = sc.kernel.gaussian{ gamma = 1 },
    p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign() }
  local p = sc.pipeline{ sc.add_bias(), inst:features{ T = 30 },
    sc.solver.ridge{ lambda = 1e-3, penalty = "rkhs" } }:fit(train)
  has(page_of(p), "An RKHS weighting", ("at most %.4g"):format(p:bound().total),
    ("%.4g"):format(p:norm()))
  lu.assertNotStrContains(page_of(p), "Its proof does not cover this")
  local scaled = sc.pipeline{ sc.standardize(), sc.add_bias(), inst:features{ T = 30 },
    sc.solver.ridge{ lambda = 1e-3, penalty = "rkhs" } }:fit(train)
  has(page_of(scaled), "Its proof does not cover this: the stage standardize learnt")
end

function TestARegressionIsReported()
  local X = sc.randn{ 120, 3, seed = 1 }
  local y = X * sc.randn{ 3, 1, seed = 2 } + sc.randn{ 120, 1, seed = 3 } * 0.1
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(sc.dataset{ X = X, y = y })
  local said = p:predict(X)
  local text = page_of(p)
  has(text, ("%.5g"):format(sc.metrics.mse(said, y)), ("%.5g"):format(sc.metrics.rmse(said, y)),
    ("%.5g"):format(sc.metrics.mae(said, y)), ("%.5g"):format(sc.metrics.r2(said, y)))
  local squares = {}
  for i = 1, 120 do squares[i] = (said:get(i, 1) - y:get(i, 1)) ^ 2 end
  has(text, ("%.2g"):format(select(2, judging.mean(squares))), "Residuals")
  lacks(text, "Confusion", "Calibration")
end

function TestAModelWithoutItsRowsSaysSo()
  in_folder(function(folder)
    best:save(folder .. "/m.safetensors")
    local loaded = sc.load(folder .. "/m.safetensors")
    local text = page_of(loaded)
    has(text, "The training rows are not in memory, and no other rows were given", "The search",
      core.fingerprint(train.X, train.y))
    text = page_of(loaded, { data = test })
    has(text, "On the 143 rows given")
    lacks(text, "On the 426 rows")
    loaded:report(folder .. "/m.html", { data = test })
    lu.assertEquals(support.read(folder .. "/m.html"), text)
  end)
end

function TestColumnsOfAFileAreReported()
  local lines = { "age,town,<when>,id,kind" }
  for i = 1, 40 do
    lines[i + 1] = ("%s,%s,2020-01-%02d,n%d,%s"):format(i % 8 == 0 and "?" or i,
      i % 2 == 0 and "<b>Oslo</b>" or "Paris", i % 28 + 1, i, i % 3 == 0 and "yes & no" or "<no>")
  end
  in_folder(function(folder)
    local path = support.write(folder .. "/t.csv", table.concat(lines, "\n") .. "\n")
    local ds = sc.data.csv(path, { target = "kind", skip = { "id" }, quiet = true })
    local text = page_of(sc.pipeline{ sc.standardize(), sc.solver.logistic{ lambda = 0.1 } }
      :fit(ds))
    has(text, "left out", "date, as days since 1970-01-01", "2: &lt;b&gt;Oslo&lt;/b&gt;, Paris",
      "&lt;when&gt;", "<td>&lt;no&gt;</td>", "<td>yes &amp; no</td>", "<td>become 20</td>")
    lacks(text, "<b>", "<no>", "<when>")
    check_form(text)
  end)
end

function TestWhatCannotBeDrawnIsASentence()
  local p = sc.pipeline{ sc.solver.lasso{ lambda = sc.choose{ 1e6 } } }:search(train, { folds = 2,
    score = function() return 0 / 0 end })
  local text = page_of(p)
  has(text, "No picture: ")
  lacks(text, "Decay of the coefficients", "<h2 id=\"section-4\">Coefficients")
  fails({ "all coefficients are 0" }, p.plot, p, "coefficients")
  lu.assertEquals(p:plot().panels[2].title, "Confusion, in rows")
end

-- ------------ the recipe

-- The first script on the page, as it is read there.
local function script_on(text)
  local code = text:match("How to make it again</h2>.-<pre>(.-)</pre>")
  return (code:gsub("&quot;", '"'):gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&#39;", "'")
    :gsub("&amp;", "&"))
end

function TestTheScriptMakesTheModelAgain()
  in_folder(function(folder)
    local lines = { "a,b,kind" }
    local X = sc.randn{ 60, 2, seed = 1 }
    for i = 1, 60 do
      lines[i + 1] = ("%.17g,%.17g,%s"):format(X:get(i, 1), X:get(i, 2),
        X:get(i, 1) > 0 and "it's" or "other")
    end
    support.write(folder .. "/t.csv", table.concat(lines, "\n") .. "\n")
    local p = sc.pipeline{ sc.standardize(), sc.pca{ k = 2 }, sinks(30),
      sc.solver.ridge{ lambda = 1e-3 }, class_weights = { ["it's"] = 3, other = 1 } }
      :fit(sc.data.csv(folder .. "/t.csv", { quiet = true }))
    support.write(folder .. "/fit.lua", script_on(page_of(p)))
    local status, _, err = support.shell(("here=$(realpath %s); cd %s; \"$here\" fit.lua t.csv")
      :format(support.quote(support.binary), folder))
    lu.assertEquals(status, 0, err)
    lu.assertTrue(sc.load(folder .. "/model.safetensors"):weights() == p:weights())
  end)
end

-- Run fit.lua of a page in the folder: status and standard error.
local function run_script(folder, text)
  support.write(folder .. "/fit.lua", script_on(text))
  local status, _, err = support.shell(("here=$(realpath %s); cd %s; \"$here\" fit.lua"):format(
    support.quote(support.binary), folder))
  return status, err
end

function TestTheScriptBeginsWithTheRows()
  in_folder(function(folder)
    local some = sc.data.load("wdbc"):split{ test = 0.25, seed = 3 }
    local p = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = 1e-3 } }:fit(some)
    has(script_on(page_of(p)), 'sc.data.load("wdbc"):split{ seed = 3, test = 0.25 }')
    local status, err = run_script(folder, page_of(p))
    lu.assertEquals(status, 0, err)
    local again = sc.load(folder .. "/model.safetensors")
    lu.assertTrue(again:weights() == p:weights())
    local text = page_of(again)
    lacks(text, "scullery.core")
    has(script_on(text), "-- train.csv holds the 426 rows of 30 columns that the model learnt from")
    status, err = run_script(folder, text)
    lu.assertEquals(status, 1)
    has(err, "name the file of the rows: scullery fit.lua train.csv")
    some.weights = sc.ones(#some, 1)
    lacks(script_on(page_of(p:fit(some))), "sc.data.load")
  end)
end

function TestTheTimeSaysWhatItHolds()
  local function recipe(lambda)
    return sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = lambda } }
  end
  has(page_of(recipe(sc.choose{ 0.1, 1 }):search(train, { folds = 3 })),
    "time of the stages, without the search")
  has(page_of(recipe(1):fit(train)), "<th>time of the fit</th>")
end

-- Texts of recipes, made again and compared by what they print.
function TestRecipesAreWrittenWhole()
  local inst = sc.instantiation{ W = sc.space.threshold(), K = sc.kernel.gaussian{ gamma = 1 },
    p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign() }
  for _, p in ipairs{
    sc.pipeline{ sc.minmax(), sc.add_bias(), inst:features{ T = 20, dtype = "float32" },
      sc.solver.ridge{ penalty = "rkhs" }, block = 512, class_weights = "balanced" },
    sc.pipeline{ sc.solver.svm{ kernel = sc.kernel.sum{ terms = {
      sc.kernel.gaussian{ gamma = 0.1 }, sc.kernel.linear{} } } } },
    sc.pipeline{ sc.features{ p = sc.sampler.landmarks{}, phi = sc.kernel.gaussian{
      gamma = "median" }, T = 9, seed = 3 }, sc.solver.cg{} },
    sc.pipeline{ sc.solver.ridge{ lambda = sc.choose{ 1, 2 } } }:search(train, { folds = 2 })
      :clone{},
  } do
    local text, notes = script.pipeline(p)
    lu.assertEquals(notes, {})
    local made = assert(load("local sc = require 'scullery' return " .. text, text))()
    lu.assertEquals(tostring(made), tostring(p))
    lu.assertEquals({ made.block, made.class_weights }, { p.block, p.class_weights })
  end
end

-- ------------ files and browsers

function TestReportsAreWrittenWholeOrNotAtAll()
  in_folder(function(folder)
    local path = support.write(folder .. "/m.html", "as it was")
    local wrong = sc.dataset{ X = sc.randn{ 5, 3 }, y = { "B", "M", "B", "M", "B" } }
    fails({ "pipeline:report", "3 columns" }, best.report, best, path, { data = wrong })
    lu.assertEquals(support.read(path), "as it was")
    best:report(path)
    lu.assertEquals(support.read(path), page_of(best))
  end)
end

function TestPicturesAreUnicodeWithoutGnuplot()
  in_folder(function(folder)
    local status, _, err = support.shell(("PATH=/nowhere %s -e %s"):format(
      support.quote(support.binary), support.quote(([[
      local ds = sc.data.load "wdbc"
      sc.pipeline{ sc.standardize(), sc.solver.ridge{} }:fit(ds):report("%s/m.html")]]):format(
      folder))))
    lu.assertEquals(status, 0, err)
    local text = support.read(folder .. "/m.html")
    lacks(text, "<svg")
    has(text, "Confusion", "gnuplot", "█")
    check_form(text)
  end)
end

function TestABrowserShowsTheReport()
  lu.skipIf(not browser.name(), "there is no chromium")
  in_folder(function(folder)
    local labels = test:labels()
    for i, label in ipairs(labels) do labels[i] = label == "M" and hostile or "plain" end
    local p = sc.pipeline{ sc.standardize(), sc.solver.logistic{ lambda = 0.1 } }:fit(sc.dataset{
      X = test.X, y = labels, names = test.names })
    p:report(folder .. "/m.html")
    local written, dom = support.read(folder .. "/m.html"), browser.dom(folder .. "/m.html")
    for _, tag in ipairs{ "<svg", "<pre", "<table", "<tr", "<h2", "<figure" } do
      lu.assertEquals(select(2, dom:gsub(tag, "")), select(2, written:gsub(tag, "")), tag)
    end
    lacks(dom, "<script")
    has(dom, "<td>&lt;script&gt;alert(\"x\")&lt;/script&gt; &amp; 'more'")
    for _, words in ipairs{ "%ssrc=", "https?://[^w]", "@import", "url%([^#]" } do
      lu.assertNil(written:find(words), words)
    end
  end)
end

os.exit(lu.LuaUnit.run(), true)

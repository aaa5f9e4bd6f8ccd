-- p:update(ds, { every =, window = }): errors on parts before they are learnt against a loop of
-- p:error and p:update, their standard errors against Monte Carlo, and windows with the bits of one
-- fit to their rows.
local lu = require "luaunit"
local sc = require "scullery"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local core = require "scullery.core"
local drift = require "scullery.model.drift"
local matching = require "scullery.data.matching"
local update = require "scullery.model.update"
local pipe = require "scullery.data.pipe"
local support = require "support"

local fails = support.fails
local n, d = 1200, 4
local X = sc.randn{ n, d, seed = 1 }
local y = (X:column(1) * 2):map(math.sin) + X:column(2) + sc.randn{ n, 1, seed = 2 } * 0.3
local data = sc.dataset{ X = X, y = y }

-- A data set of k classes named by texts.
local function classes(k)
  local labels = {}
  for i = 1, n do
    labels[i] = ("class %d"):format(math.floor(math.abs(X:get(i, 1) + X:get(i, 2)) * 1.7) % k)
  end
  return sc.dataset{ X = X, y = labels }
end

local function pipeline(given)
  given = given or {}
  return sc.pipeline{
    sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 }, T = 50, seed = 1,
      phi = given.phi or sc.nonlinearity.fourier(), dtype = given.dtype or "int16" },
    given.solver or sc.solver.ridge{ lambda = 1e-3 }, target = given.target,
    class_weights = given.class_weights }
end

local function fitted(given, ds, o)
  o = o or {}
  o.sums = true
  return pipeline(given):fit(ds, o)
end

-- ------------ errors

-- Mean and standard error of the losses of a model on rows, by its predictions alone.
local function expected(p, ds)
  local losses, sum, square = {}, 0, 0
  if ds.task == "classification" then
    local said = p:labels(ds.X)
    for i, label in ipairs(ds:labels()) do losses[i] = said[i] == label and 0 or 1 end
  else
    local said, c = p:predict(ds.X), ds.y:cols()
    for i = 1, #ds do
      losses[i] = 0
      for j = 1, c do losses[i] = losses[i] + (said:get(i, j) - ds.y:get(i, j)) ^ 2 / c end
    end
  end
  for _, loss in ipairs(losses) do sum = sum + loss end
  local m, mean = #losses, sum / #losses
  for _, loss in ipairs(losses) do square = square + (loss - mean) ^ 2 end
  local freedom = ds.task == "classification" and m or m - 1
  return mean, math.sqrt(square / freedom / m)
end

local cases = {
  { "regression", data },
  { "two targets", sc.dataset{ X = X, y = sc.hcat(y, X:column(3)) } },
  { "two classes", classes(2) },
  { "four classes", classes(4), { class_weights = { ["class 1"] = 3 } } },
  { "transformed targets", sc.dataset{ X = X, y = y:map(math.exp) },
    { target = { log = true, standardize = true } } },
}

function TestErrorsAgainstALoopOfPredictionsAndUpdates()
  for _, one in ipairs(cases) do
    local name, ds, given = table.unpack(one)
    local p, q = fitted(given, ds:subset(1, 400)), fitted(given, ds:subset(1, 400))
    local result = p:update(ds:subset(401, n), { every = 300 })
    lu.assertTrue(rawequal(result, p), name)
    lu.assertEquals(#p.drift, 3)
    for k, rows in ipairs{ 300, 300, 200 } do
      local part = ds:subset(401 + 300 * (k - 1), 400 + 300 * (k - 1) + rows)
      local mean, stderr = expected(q, part)
      local row = p.drift[k]
      lu.assertEquals({ row.rows, row.last, row.time }, { rows, 300 * (k - 1) + rows, nil })
      lu.assertAlmostEquals(row.error, mean, 1e-9 * mean, name)
      lu.assertAlmostEquals(row.error, q:error(part), 1e-9 * mean, name)
      lu.assertAlmostEquals(row.stderr, stderr, 1e-9 * stderr, name)
      q:update(part)
    end
    lu.assertTrue(p:decision(X) == q:decision(X), name)
    lu.assertEquals(#p.sums_kept.parts, 2)
  end
end

-- For a model that is given, the squared standard error of each of R independent parts estimates
-- the variance of their errors without bias (for classes up to 1 / m). The sample variance of R
-- numbers has the relative standard error sqrt(2 / (R - 1)), and a little more.
function TestStandardErrorsAgainstMonteCarlo()
  local R, m = 600, 60
  local Z = sc.randn{ R * m, d, seed = 7 }
  local values = (Z:column(1) * 2):map(math.sin) + Z:column(2) + sc.randn{ R * m, 1, seed = 8 }
  local labels = {}
  for i = 1, R * m do labels[i] = values:get(i, 1) > 0 and "class 1" or "class 0" end
  for _, one in ipairs{ { data, sc.dataset{ X = Z, y = values } },
    { sc.dataset{ X = X, y = { table.unpack(labels, 1, n) } },
      sc.dataset{ X = Z, y = labels } } } do
    local p, fresh = fitted(nil, one[1]), one[2]
    local sum, square, said = 0, 0, 0
    for r = 1, R do
      local part = matching.known(fresh:subset((r - 1) * m + 1, r * m), p.fitted)
      local value, stderr = drift.measured(p.fitted, part)
      sum, square, said = sum + value, square + value ^ 2, said + stderr ^ 2
    end
    local variance = (square - sum ^ 2 / R) / (R - 1)
    lu.assertAlmostEquals(said / R / variance, 1, 4 * math.sqrt(2 / (R - 1)))
  end
end

function TestOneRowAndNoError()
  local p = fitted(nil, data:subset(1, 400)):update(data:subset(401, 403), { every = 1 })
  lu.assertEquals(#p.drift, 3)
  lu.assertTrue(p.drift[1].stderr ~= p.drift[1].stderr) -- not a number
  lu.assertStrContains(tostring(p.drift), "-")
  local ds = classes(2)
  local known = matching.known(ds, fitted(nil, ds).fitted)
  local value, stderr = drift.measured({ task = "classification",
    predict = function() return known.y end }, known)
  lu.assertEquals({ value, stderr }, { 0, 0 })
end

-- A stream of a function, and one of a file, whose rows can be read in their order only.
function TestStreams()
  support.in_folder(function(folder)
    local lines = { "a,b,c,d,y" }
    for i = 1, n do
      lines[i + 1] = ("%.17g,%.17g,%.17g,%.17g,%.17g"):format(X:get(i, 1), X:get(i, 2), X:get(i, 3),
        X:get(i, 4), y:get(i, 1))
    end
    support.write(folder .. "/rows.csv", table.concat(lines, "\n"))
    local o = { every = 350, window = 500, again = true }
    local want = fitted(nil, data:subset(1, 400)):update(data, o)
    for _, ds in ipairs{ support.streamed(data), sc.data.csv(folder .. "/rows.csv",
      { stream = true, target = "y", task = "regression", quiet = true }) } do
      local p = fitted(nil, data:subset(1, 400)):update(ds, o)
      lu.assertTrue(p:predict(X) == want:predict(X))
      lu.assertEquals(tostring(p.drift), tostring(want.drift))
    end
  end)
end

-- ------------ windows

local state = 12345
-- A whole number from low to high.
local function random(low, high)
  state = (state * 1103515245 + 12345) % 2147483648
  return low + state // 65536 % (high - low + 1)
end

local recipes = {
  { {}, data }, { { phi = sc.nonlinearity.sign() }, data }, { { dtype = "int8" }, classes(4) },
  { { phi = sc.nonlinearity.sign(), dtype = "float64" }, classes(2) },
  { { solver = sc.solver.lasso{ lambda = 1e-3 } }, data },
  { { class_weights = { ["class 1"] = 3 } }, classes(2) },
}

-- After each of several updates, in cuts and windows at random, the model is one fit to the rows of
-- its window.
function TestWindowsHaveTheBitsOfAFit()
  for _, one in ipairs(recipes) do
    local given, ds = one[1], one[2]
    for _ = 1, 3 do
      local last = random(100, 500)
      local p = fitted(given, ds:subset(1, last))
      local held = last -- rows of the window before the update
      for _ = 1, 3 do
        local first, every = last + 1, random(1, 150)
        local window = every + random(0, 300)
        last = math.min(n, last + random(100, 230))
        p:update(ds:subset(first, last), { every = every, window = window })
        held = math.min(window, held + last - first + 1)
        local want = fitted(given, ds:subset(last - held + 1, last))
        lu.assertTrue(p:decision(X) == want:decision(X),
          ("%s every %d window %d"):format(tostring(ds), every, window))
        lu.assertEquals({ p.sums_kept.rows, p.fitted.n }, { held, held })
      end
    end
  end
end

-- Row weights, and rows that are equal.
function TestWindowsOfWeightedAndEqualRows()
  local rows, weights = {}, {}
  for i = 1, 900 do rows[i], weights[i] = (i * i) % 37 + 1, 0.3 + i % 7 / 3 end
  local ds = data:select(rows)
  local weighted = sc.dataset{ X = ds.X, y = ds.y, weights = weights }
  for _, one in ipairs{ ds, weighted } do
    local p = fitted(nil, one:subset(1, 300)):update(one:subset(301, 900),
      { every = 77, window = 210, again = true })
    lu.assertTrue(p:predict(X) == fitted(nil, one:subset(691, 900)):predict(X))
  end
end

-- The rows with times of at least the last one's minus a span, ties at both ends; the rows of the
-- fit come in any order.
function TestWindowsByTime()
  local times, t = {}, 0
  for i = 1, n do
    t = t + random(0, 3)
    times[i] = t
  end
  local ds = sc.dataset{ X = X, y = y, time = times }
  local order = {}
  for i = 1, 400 do order[i] = (i * 7) % 400 + 1 end
  for _, span in ipairs{ 1, 50.5, times[600] - times[300], 1e6 } do
    local p = fitted(nil, ds:select(order))
    local function check(from, to, every)
      p:update(ds:subset(from, to), { every = every, window = { time = span } })
      local first = 1
      while times[first] < times[to] - span do first = first + 1 end
      lu.assertTrue(p:predict(X) == fitted(nil, ds:subset(first, to)):predict(X), span)
    end
    check(401, 450, 30) -- a part of the rows of the fit leaves, for the longer of the spans
    check(451, 1000, 90)
    check(1001, n, 60)
    lu.assertEquals(p.drift[1].time, times[1060])
  end
end

function TestDurationsOfDates()
  support.in_folder(function(folder)
    local lines = { "when,a,b,y" }
    for i = 1, 300 do
      local date = os.date("!%Y-%m-%d %H:%M:%S", 1700000000 + 3600 * i)
      lines[i + 1] = ("%s,%.17g,%.17g,%.17g"):format(date, X:get(i, 1), X:get(i, 2), y:get(i, 1))
    end
    support.write(folder .. "/rows.csv", table.concat(lines, "\n"))
    local ds = sc.data.csv(folder .. "/rows.csv", { target = "y", time = "when", quiet = true })
    lu.assertTrue(ds.schema.time_in_dates)
    for text, hours in pairs{ ["36h"] = 36, ["2.5 d"] = 60, ["1w"] = 168, ["90min"] = 1,
      ["7200s"] = 2 } do
      local p = fitted(nil, ds:subset(1, 100))
      p:update(ds:subset(101, 300), { every = 50, window = text })
      -- an hour is no binary fraction of a day: the row at the edge may be on either side
      local rows = p.sums_kept.rows
      lu.assertTrue(rows == hours + 1 or rows == hours, text .. " " .. rows)
      lu.assertTrue(p:predict(ds.X)
        == fitted(nil, ds:subset(300 - rows + 1, 300)):predict(ds.X), text)
    end
  end)
end

-- Rows that are not in memory are taken out together, when the window is full of new rows.
function TestWindowsOfALoadedModel()
  support.in_folder(function(folder)
    fitted(nil, data:subset(1, 300)):save(folder .. "/m", { sums = true })
    local p = sc.load(folder .. "/m")
    p:update(data:subset(301, 650), { every = 90, window = 400 })
    lu.assertTrue(p:predict(X) == fitted(nil, data:subset(1, 650)):predict(X))
    p:update(data:subset(651, 700), { every = 50, window = 400 })
    lu.assertTrue(p:predict(X) == fitted(nil, data:subset(301, 700)):predict(X))
    p:update(data:subset(701, n), { every = 30, window = 400 })
    lu.assertTrue(p:predict(X) == fitted(nil, data:subset(n - 399, n)):predict(X))
    -- the same for a window by time
    local times = {}
    for i = 1, n do times[i] = i end
    local ds = sc.dataset{ X = X, y = y, time = times }
    p = sc.load(folder .. "/m")
    p:update(ds:subset(301, 500), { every = 100, window = { time = 199 } })
    lu.assertEquals(p.sums_kept.rows, 500)
    p:update(ds:subset(501, 501), { every = 1, window = { time = 199 } })
    lu.assertTrue(p:predict(X) == fitted(nil, ds:subset(302, 501)):predict(X))
  end)
end

-- A model that was changed by other means has no rows of its window in memory.
function TestOtherChangesEndAWindow()
  local p = fitted(nil, data:subset(1, 300))
  p:update(data:subset(301, 500), { every = 100, window = 200 })
  p:update(data:subset(501, 510))
  p:forget(data:subset(505, 506))
  lu.assertEquals(p.sums_kept.rows, 208)
  p:update(data:subset(511, 610), { every = 50, window = 200 })
  lu.assertEquals(p.sums_kept.rows, 308)
  p:update(data:subset(611, 710), { every = 50, window = 200 })
  lu.assertTrue(p:predict(X) == fitted(nil, data:subset(511, 710)):predict(X))
  local again = pipeline():fit(data:subset(1, 300), { sums = true })
  lu.assertNil(again.drift)
  p:fit(data:subset(1, 300), { sums = true })
  lu.assertNil(p.drift)
  p:update(data:subset(301, 400), { every = 100, window = 150 })
  lu.assertTrue(p:predict(X) == fitted(nil, data:subset(251, 400)):predict(X))
end

-- ------------ memory

-- The rows of a pipe in a loop, without an end but for `rows`.
local function endless(rows)
  local i = -1
  return { read = function()
    i = i + 1
    if i == 0 then return "a,b,c,d,y\n" end
    if i > rows then return nil end
    local k = i % n + 1
    return ("%.17g,%.17g,%.17g,%.17g,%.17g\n"):format(X:get(k, 1), X:get(k, 2), X:get(k, 3),
      i / rows, y:get(k, 1))
  end }
end

-- Bytes of the engine at most, and of Lua at the end, while a learner takes rows from a pipe.
local function memory_of(rows, window)
  local p = fitted(nil, sc.dataset{ X = X:slice(1, 300), y = y:slice(1, 300) })
  local learner = update.open(p, { every = 100, window = window, again = true })
  local source = { rows = 0, cols = d, sha256 = "" }
  core.memory(true)
  for ds in pipe.parts{ file = endless(rows), size = 100, csv = true, header = true,
    read = function(path)
      return sc.data.csv(path, { target = "y", task = "regression", quiet = true })
    end } do
    local _
    _, source = learner:learn_next(ds, source)
  end
  lu.assertEquals({ source.rows, learner.rows, #p.sums_kept.parts }, { rows, rows, 2 })
  local _, most = core.memory()
  collectgarbage()
  collectgarbage()
  return most, collectgarbage("count") * 1024
end

function TestMemoryOfALongPipeIsFlat()
  memory_of(1000, 500)
  local most, kept = memory_of(2000, 500)
  local long, kept_long = memory_of(20000, 500)
  lu.assertTrue(long < 1.5 * most + 5e5, ("%d and %d bytes"):format(most, long))
  lu.assertTrue(kept_long < kept + 2e5, ("%d and %d bytes of Lua"):format(kept, kept_long))
end

-- ------------ mistakes

function TestMistakes()
  local p, rest = fitted(nil, data:subset(1, 400)), data:subset(401, n)
  local before = p:predict(X)
  local function refused(words, o, ds)
    fails(words, p.update, p, ds or rest, o)
    lu.assertTrue(p:predict(X) == before)
    lu.assertEquals(p.sums_kept.rows, 400)
  end
  for _, value in ipairs{ 0, -1, 1.5, "x", {}, true } do refused({ "every" }, { every = value }) end
  for _, value in ipairs{ 0, -5, 2.5, 0 / 0, "7", "7y", "d", "0d", {}, true, { time = 0 },
    { time = -1 }, { time = 1 / 0 }, { time = "7d" }, { time = 1, rows = 2 } } do
    refused({ "window", "takes a number of rows, a duration" }, { every = 10, window = value })
  end
  refused({ "'window' goes with every" }, { window = 100 })
  refused({ "'window' is 99 rows and 'every' 100" }, { every = 100, window = 99 })
  refused({ "needs the time of each row" }, { every = 100, window = { time = 5 } })
  refused({ "needs the time of each row" }, { every = 100, window = "5d" })
  local times = {}
  for i = 1, n do times[i] = i end
  times[410] = 3.5
  local timed = sc.dataset{ X = X, y = y, time = times }
  refused({ "duration", "dates", "{ time = span }" }, { every = 100, window = "5d" },
    timed:subset(401, n))
  refused({ "rows 1 to 100", "row 10", "the time 3.5 after a row of 409" },
    { every = 100, window = { time = 9 } }, timed:subset(401, n))
  refused({ "rows 1 to 100: all 100 rows are in the model already" }, { every = 100 },
    data:subset(1, 200))
  refused({ "a data set for a classification" }, { every = 100 }, classes(2))
  refused({ "unknown option 'evry'" }, { evry = 100 })
  fails({ "keeps no sums" }, p.update, pipeline():fit(data), rest, { every = 10 })
  fails({ "not fitted" }, p.update, pipeline(), rest, { every = 10 })
  fails({ "whole-number features", "int16" }, p.update, fitted({ dtype = "float64" }, data), rest,
    { every = 10, window = 100, again = true })
  fails({ "fingerprints = false" }, p.update, fitted(nil, data:subset(1, 400),
    { fingerprints = false }), rest, { every = 10, window = 100 })
end

-- Times that go back between two parts, and rows that cannot be learnt: the parts before are.
function TestPartsBeforeAMistakeAreLearnt()
  local times = {}
  for i = 1, n do times[i] = i end
  times[701] = 3
  local p = fitted(nil, data:subset(1, 400))
  fails({ "rows 301 to 400", "row 1", "the time 3 after a row of 700" }, p.update, p,
    sc.dataset{ X = X, y = y, time = times }:subset(401, n), { every = 100, window = { time = 9 } })
  lu.assertEquals({ #p.drift, p.drift[3].last, p.sums_kept.rows }, { 3, 300, 10 })
  local bad = X:copy()
  bad:set(950, 2, 0 / 0)
  p = fitted(nil, data:subset(1, 400))
  fails({ "rows 501 to 600", "row 50" }, p.update, p, sc.dataset{ X = bad, y = y }:subset(401, n),
    { every = 100, window = 200 })
  lu.assertEquals(#p.drift, 5)
  lu.assertTrue(p:predict(X) == fitted(nil, data:subset(701, 900)):predict(X))
  p:update(data:subset(901, 1000), { every = 100, window = 200 })
  lu.assertTrue(p:predict(X) == fitted(nil, data:subset(801, 1000)):predict(X))
end

-- Rows of the fit that were changed since cannot be taken out: the part that needs it is not
-- learnt.
function TestRowsThatChangedInMemory()
  local mine = data.X:copy()
  local p = fitted(nil, sc.dataset{ X = mine, y = y }:subset(1, 400))
  mine:set(150, 1, 17)
  fails({ "rows 101 to 200", "1 of the 100 rows are not among" }, p.update, p, data:subset(401, n),
    { every = 100, window = 400 })
  lu.assertEquals(#p.drift, 1)
  lu.assertTrue(p:predict(X) == fitted(nil, data:subset(101, 500)):predict(X))
  p:update(data:subset(501, 600)) -- the sums are as before the part, too
  mine:set(150, 1, X:get(150, 1))
  lu.assertTrue(p:predict(X) == fitted(nil, data:subset(101, 600)):predict(X))
end

-- Only the first part shows that rows are given again: later ones may repeat rows.
function TestRowsThatComeAgain()
  local rows = {}
  for i = 1, 200 do rows[i] = 401 + (i - 1) % 100 end
  local ds = data:select(rows)
  local p = fitted(nil, data:subset(1, 400)):update(ds, { every = 100 })
  lu.assertEquals(p.sums_kept.rows, 600)
  fails({ "in the model already" }, p.update, p, ds, { every = 100 })
end

-- ------------ table and picture

function TestTableAndPicture()
  local ds = classes(2)
  local p = fitted(nil, ds:subset(1, 400)):update(ds:subset(401, n), { every = 300, window = 500 })
  local list = p.drift
  lu.assertEquals(list.score, "error")
  local lines = {}
  for line in tostring(list):gmatch("[^\n]+") do lines[#lines + 1] = line end
  lu.assertEquals(#lines, 4)
  lu.assertStrMatches(lines[1], " *rows +error +std%. error")
  lu.assertStrMatches(lines[4], (" *800 +%s +[%%d.]+"):format(("%.6g"):format(list[3].error)))
  p:update(ds:subset(1, 200), { every = 100, again = true })
  lu.assertEquals({ #list, #p.drift }, { 3, 2 })
  local fig = list:plot{ with = { p.drift }, title = "two", labels = { "a", "b" } }
  local layers = fig.panels[1].layers
  lu.assertEquals({ layers[1].label, layers[2].label }, { "a", "b" })
  for i, row in ipairs(list) do
    lu.assertEquals({ layers[1].x[i], layers[1].y[i] }, { row.last, row.error })
    lu.assertAlmostEquals(layers[1].high[i] - layers[1].y[i], row.stderr, 1e-12)
  end
  lu.assertEquals(list:plot{ with = { p.drift } }.panels[1].layers[1].label, "the last 500 rows")
  local other = fitted(nil, data:subset(1, 400)):update(data:subset(401, n), { every = 300 }).drift
  fails({ "with", "another task" }, list.plot, list, { with = { other } })
  fails({ "with", "place 1" }, list.plot, list, { with = { 3 } })
  fails({ "no part came" }, list.plot, drift.new("regression"))
  fails({ "there is no method or field 'rows'" }, function() return list.rows end)
end

os.exit(lu.LuaUnit.run(), true)

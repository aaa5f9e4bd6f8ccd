-- Splits and folds: strata, groups, time, given folds; roles of columns; guesses about targets.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local function with_file(text, f)
  local path = os.tmpname()
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  local results = table.pack(pcall(f, path))
  os.remove(path)
  assert(results[1], results[2])
  return table.unpack(results, 2, results.n)
end

-- 240 rows of 30 groups of unequal size, two classes.
local function grouped()
  local groups, y = {}, {}
  for i = 1, 240 do
    groups[i] = "g" .. (math.floor(math.sqrt(i * 3.7)) % 30)
    y[i] = i % 3 == 0 and "b" or "a"
  end
  return sc.dataset{ X = sc.randn{ 240, 2, seed = 1 }, y = y, groups = groups }, groups
end

function TestFoldsKeepGroupsTogetherAndClassesEven()
  local ds, groups = grouped()
  local ids, of, counts = ds:fold_ids{ k = 4 }, {}, {}
  for i, fold in ipairs(ids) do
    lu.assertTrue(of[groups[i]] == nil or of[groups[i]] == fold)
    of[groups[i]] = fold
    local key = fold .. ds:labels()[i]
    counts[key] = (counts[key] or 0) + 1
  end
  for fold = 1, 4 do
    local a, b = counts[fold .. "a"], counts[fold .. "b"]
    lu.assertTrue(math.abs(b / (a + b) - 1 / 3) < 0.12)
  end
  local cut, free = false, ds:fold_ids{ k = 4, groups = false }
  for i, fold in ipairs(free) do cut = cut or of[groups[i]] ~= fold end
  lu.assertTrue(cut)
end

-- The groups of a fold depend on the groups, not on the order of the rows.
function TestFoldsOfGroupsDoNotDependOnTheOrderOfRows()
  local ds, groups = grouped()
  local order = {}
  for i = 1, 240 do order[i] = 241 - i end
  local ids, turned = ds:fold_ids{ k = 4 }, ds:select(order):fold_ids{ k = 4 }
  for i = 1, 240 do lu.assertEquals(turned[241 - i], ids[i], groups[i]) end
end

-- The line about groups names the column only where the groups are its values.
function TestTheLineAboutGroupsNamesTheirColumn()
  with_file("a,site,y\n1,p,1.5\n2,q,2.5\n3,r,3.5\n1,p,4.5\n2,q,0.5\n3,r,1\n", function(path)
    local ds = sc.data.csv(path, { target = "y", groups = "site", quiet = true })
    local said = support.stderr_of(function()
      ds:fold_ids{ folds = 2 }
      ds:fold_ids{ folds = 2, groups = { 1, 1, 2, 2, 3, 4 } }
      ds:fold_ids{ folds = 2, groups = "a" }
    end)
    lu.assertEquals(said, "scullery: folds keep the 3 groups of 'site' together\n"
      .. "scullery: folds keep the 4 groups together\n"
      .. "scullery: folds keep the 3 groups of 'a' together\n")
  end)
end

function TestSplitsKeepGroupsTogether()
  local ds = grouped()
  local train, test = ds:split{ test = 0.25, seed = 3 }
  lu.assertEquals(#train + #test, 240)
  lu.assertTrue(math.abs(#test - 60) <= 20)
  local here = {}
  for i = 1, #train do here[train.groups:get(i, 1)] = true end
  for i = 1, #test do lu.assertNil(here[test.groups:get(i, 1)]) end
  lu.assertErrorMsgContains("all rows are in one group", ds.split,
    sc.dataset{ X = ds.X, y = ds:labels(), groups = sc.ones(240, 1) }, { test = 0.25 })
end

function TestFoldsByTimeLearnFromThePastAlone()
  local time = {}
  for i = 1, 100 do time[i] = (i * 37) % 50 end -- each time twice, in no order
  local ds = sc.dataset{ X = sc.randn{ 100, 1, seed = 1 }, y = sc.randn{ 100, 1, seed = 2 },
    time = time }
  for _, gap in ipairs{ 0, 3 } do
    local pairs_of = ds:folds{ folds = "time", count = 4, gap = gap }
    lu.assertEquals(#pairs_of, 4)
    local judged = 0
    for _, one in ipairs(pairs_of) do
      lu.assertTrue(one[1].time:max() < one[2].time:min() - gap)
      judged = judged + #one[2]
    end
    lu.assertEquals(judged, 80)
  end
  local short = ds:folds{ folds = "time", count = 4, horizon = 2 }
  for _, one in ipairs(short) do
    lu.assertTrue(one[2].time:max() - one[2].time:min() < 2)
  end
  lu.assertErrorMsgContains("leaves no row before fold 1", ds.folds, ds,
    { folds = "time", count = 4, gap = 40 })
  lu.assertErrorMsgContains("goes with folds = \"time\"", ds.folds, ds, { k = 4, gap = 1 })
end

-- Rows that have times are divided at random only with a line, printed once for each data set.
function TestRandomFoldsAndSplitsOfRowsWithTimesAreReported()
  local time = {}
  for i = 1, 40 do time[i] = i end
  local X, y = sc.randn{ 40, 2, seed = 1 }, sc.randn{ 40, 1, seed = 2 }
  local ds = sc.dataset{ X = X, y = y, time = time }
  local other = sc.dataset{ X = X, y = y, time = time }
  local said = support.stderr_of(function()
    ds:fold_ids{ folds = 4 }
    ds:fold_ids{ folds = 5 }
  end)
  local _, count = said:gsub("folds divide rows at random, although they have times: folds = ", "")
  lu.assertEquals(count, 1, said)
  lu.assertStrContains(support.stderr_of(function() ds:split{ test = 0.25 } end),
    "the split divides rows at random, although they have times: shuffle = false of ds:split")
  lu.assertEquals(support.stderr_of(function()
    other:fold_ids{ folds = "time" }
    other:fold_ids{ folds = 4, shuffle = false }
    other:split{ test = 0.25, shuffle = false }
    other:sample{ rows = 10 }
  end), "")
end

function TestFoldsThatAreGivenAreChecked()
  local ds = sc.dataset{ X = sc.randn{ 6, 1, seed = 1 }, y = sc.randn{ 6, 1, seed = 2 } }
  lu.assertEquals(ds:fold_ids{ folds = { 1, 1, 2, 2, 3, 3 } }, { 1, 1, 2, 2, 3, 3 })
  for wrong, text in pairs{ [{ 1, 2 }] = "2 fold numbers for 6 rows",
    [{ 1, 1, 1, 1, 1, 1 }] = "one fold", [{ 1, 1, 3, 3, 3, 3 }] = "no row in fold 2",
    [{ 1, 1, 2, 2, 0, 1 }] = "whole numbers from 1" } do
    lu.assertErrorMsgContains(text, ds.fold_ids, ds, { folds = wrong })
  end
  lu.assertEquals(ds:fold_ids{ folds = "loo" }, { 1, 2, 3, 4, 5, 6 })
  lu.assertEquals(ds:fold_ids{ k = 3, shuffle = false }, { 1, 1, 2, 2, 3, 3 })
end

-- Cross-validation, searches and their refits take the same folds.
function TestSearchesTakeGivenFoldsAndTime()
  local X = sc.randn{ 120, 3, seed = 4 }
  local ds = sc.dataset{ X = X, y = X:column(1) + X:column(2), task = "regression" }
  local own = {}
  for i = 1, 120 do own[i] = 1 + i % 3 end
  local ridge = sc.pipeline{ sc.solver.ridge{ lambda = sc.choose{ 1e-6, 1 } } }
  for _, o in ipairs{ { folds = own }, { folds = "time", count = 3 },
    { folds = 3, shuffle = false } } do
    local best = ridge:search(ds, o)
    lu.assertEquals(best.choice["solver.lambda"], 1e-6)
    lu.assertEquals(#best.table[1].folds, 3)
    local cv = sc.pipeline{ sc.solver.ridge{ lambda = 1e-6 } }:cv(ds, o)
    lu.assertEquals(#cv.folds, 3)
    lu.assertTrue(cv.mean > 0.999)
  end
  lu.assertErrorMsgContains("goes with a number of folds", ridge.search, ridge, ds,
    { folds = own, outer = 3 })
  ds.groups = sc.dataset{ X = X, groups = own }.groups
  lu.assertEquals(#ridge:search(ds, { folds = "loo" }).table[1].folds, 3) -- a fold for each group
end

-- ------------ roles

local text = "x,site,when,w,t\n1,a,2024-01-05,1,3\n2,b,2024-01-03,2,5\n3,a,2024-01-04,1,6\n"
  .. "4,b,2024-01-02,2,9\n"
local roles = { target = "t", weights = "w", groups = "site", time = "when", quiet = true }

function TestColumnsWithARoleAreNoFeatures()
  with_file(text, function(path)
    local ds = sc.data.csv(path, roles)
    lu.assertEquals(ds.names, { "x" })
    lu.assertEquals(ds.weights, sc.matrix{ 1, 2, 1, 2 })
    lu.assertEquals(ds.groups, sc.matrix{ 1, 2, 1, 2 })
    lu.assertEquals(ds.time:get(1, 1) - ds.time:get(4, 1), 3)
    lu.assertEquals({ ds.schema.weights, ds.schema.groups, ds.schema.time },
      { "w", "site", "when" })
    local like = sc.data.csv(path, { like = ds, quiet = true })
    lu.assertEquals(like.weights, ds.weights)
    local given = { stream = true }
    for name, value in pairs(roles) do given[name] = value end
    local stream = sc.data.csv(path, given)
    lu.assertEquals({ stream:size() }, { 4, 1 })
    lu.assertEquals(stream.groups, ds.groups)
    local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }
    local a, b = p:fit(ds):weights():get(1, 1), p:fit(stream):weights():get(1, 1)
    lu.assertAlmostEquals(a, b, 1e-12)
  end)
  -- rows to predict need no roles
  local ds = with_file(text, function(path) return sc.data.csv(path, roles) end)
  with_file("x\n7\n", function(path)
    lu.assertEquals(sc.data.csv(path, { like = ds, quiet = true }).X, sc.matrix{ { 7 } })
  end)
end

function TestRolesThatDoNotFitAreRefused()
  local function refused(said, given, content)
    with_file(content or text, function(path)
      lu.assertErrorMsgContains(said, sc.data.csv, path, given)
    end)
  end
  refused("option 'weights' names 'v'", { target = "t", weights = "v" })
  refused("is the target", { target = "t", groups = "t" })
  refused("has another role already", { target = "t", groups = "w", weights = "w" })
  refused("is not a number", { target = "t", weights = "site" })
  refused("holds dates", { target = "t", weights = "when" })
  refused("1 missing value", { target = "t", weights = "w" },
    "x,w,t\n1,1,2\n2,,3\n3,1,4\n4,1,5\n")
  refused("both called 'a'", nil, "a,a,y\n1,2,3\n2,3,4\n")
end

-- ------------ targets

-- 2^24 + 1 and seconds since 1970 are no numbers of float32.
function TestRolesKeepTheirDigitsBesideFloat32()
  local lines = { "a,g,t,w,y" }
  for i = 1, 6 do
    lines[#lines + 1] = ("%d,%d,%d,%.17g,%g"):format(i, 16777216 + i, 1700000000 + i, i / 3,
      i * 0.1)
  end
  with_file(table.concat(lines, "\n") .. "\n", function(path)
    for _, stream in ipairs{ false, true } do
      local ds = sc.data.csv(path, { target = "y", groups = "g", time = "t", weights = "w",
        dtype = "float32", stream = stream, quiet = true })
      for i = 1, 6 do
        lu.assertEquals(ds.groups:get(i, 1), 16777216.0 + i)
        lu.assertEquals(ds.time:get(i, 1), 1700000000.0 + i)
        lu.assertEquals(ds.weights:get(i, 1), i / 3)
      end
      lu.assertEquals({ ds:size() }, { 6, 1 })
      if ds.X then lu.assertEquals(ds.X:dtype(), "float32") end
      local again = sc.data.csv(path, { like = ds, dtype = "float32", quiet = true })
      lu.assertEquals(again.time:get(2, 1), 1700000002.0)
    end
  end)
end

function TestSentencesAboutRoles()
  with_file("a,b,w,y\n1,2,1,0.5\n2,1,1,0.1\n3,4,2,0.7\n", function(path)
    local ds = sc.data.csv(path, { target = "y", weights = "w", quiet = true })
    lu.assertErrorMsgContains("option 'weights' got false; it takes a column's name", sc.data.csv,
      path, { weights = false })
    lu.assertErrorMsgContains("option 'groups' got table; it takes a column's name",
      sc.data.csv, path, { groups = { "a", "b" } })
    lu.assertErrorMsgContains("option 'groups' names the column 'a', which is a feature",
      sc.data.csv, path, { like = ds, groups = "a" })
    lu.assertErrorMsgContains("columns of weights, groups and time are not features", sc.data.csv,
      path, { target = "y", weights = "w", skip = { "a", "b" } })
  end)
end

function TestTwoValuesAreAClassification()
  local y = sc.matrix{ 0, 1, 0, 1, 1, 0 }
  lu.assertEquals(sc.dataset{ X = sc.randn{ 6, 1, seed = 1 }, y = y }.task, "classification")
  lu.assertEquals(sc.dataset{ X = sc.randn{ 6, 1, seed = 1 }, y = y, task = "regression" }.task,
    "regression")
  local lines = { "x,survived" }
  for i = 1, 40 do lines[#lines + 1] = i .. "," .. i % 2 * 2 - 1 end
  with_file(table.concat(lines, "\n") .. "\n", function(path)
    local ds = sc.data.csv(path, { quiet = true })
    lu.assertEquals({ ds.task, ds.classes }, { "classification", { -1, 1 } })
    lu.assertEquals(sc.data.csv(path, { task = "regression", quiet = true }).task, "regression")
    lu.assertEquals(sc.data.csv(path, { quiet = true, stream = true }).classes, { -1, 1 })
  end)
  local rows = sc.data.rows{ n = 50, d = 1, read = function(first, count)
    local X, t = sc.zeros(count, 1), sc.zeros(count, 1)
    for i = 1, count do t:set(i, 1, (first + i) % 2) end
    return X, t
  end }
  lu.assertEquals({ rows.task, rows.classes }, { "classification", { 0, 1 } })
end

-- Few whole numbers stay values, and a line says how to have labels.
function TestFewWholeNumbersAreReported()
  local lines = { "x,stars" }
  for i = 1, 60 do lines[#lines + 1] = i .. "," .. i % 5 end
  with_file(table.concat(lines, "\n") .. "\n", function(path)
    local ds = sc.data.csv(path, { quiet = true })
    lu.assertEquals(ds.task, "regression")
    lu.assertStrContains(tostring(ds:describe()), "5 whole numbers (task = \"classification\"")
  end)
end

function TestSlipsGetASentence()
  local X, y = sc.randn{ 9, 4, seed = 1 }, sc.randn{ 9, 1, seed = 2 }
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1 } }
  lu.assertErrorMsgContains("the rows X come first", p.fit, p, y, X)
  lu.assertErrorMsgContains("in braces", sc.pipeline, sc.standardize(), sc.solver.ridge{})
  lu.assertErrorMsgContains("no method or field 'columns' (here it is ds.names)", function()
    return sc.dataset{ X = X, y = y }.columns
  end)
  lu.assertErrorMsgContains("places 1 and 2", sc.dataset, { X = X, names = { "a", "a", "b", "c" } })
end

os.exit(lu.LuaUnit.run())

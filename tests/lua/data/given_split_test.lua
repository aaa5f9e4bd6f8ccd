--- Splits that the user gives: ds:split{ rows = } by row numbers, and by a column of a file.
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local support = require "support"

local fails = lu.assertErrorMsgContains

-- n rows whose only column is the row's number.
local function numbered(n, given)
  local rows, y = {}, {}
  for i = 1, n do rows[i], y[i] = { i }, i % 2 == 0 and "even" or "odd" end
  local all = { X = rows, y = y }
  for key, value in pairs(given or {}) do all[key] = value end
  return sc.dataset(all)
end

local function rows_of(ds)
  local list = {}
  for i = 1, #ds do list[i] = math.tointeger(ds.X:get(i, 1)) end
  return list
end

-- The data set of a CSV file with that text.
local function of_text(text, given)
  local path = os.tmpname()
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  local read, ds = pcall(sc.data.csv, path, given)
  os.remove(path)
  return assert(read and ds, ds)
end

local quiet = { quiet = true }
local marked = "a,part,b,y\n1,train,9,0.5\n2,test,8,1.5\n3,train,7,2.5\n4,test,6,3.5\n"

function TestGivenRowsAreTheTestPartInTheOrderOfTheData()
  for _, given in ipairs{ { 7, 2, 5 }, sc.matrix{ { 7 }, { 2 }, { 5 } }, sc.matrix{ { 7, 2, 5 } },
    { 7.0, 2.0, 5.0 } } do
    local train, test = numbered(8):split{ rows = given }
    lu.assertEquals({ rows_of(train), rows_of(test) }, { { 1, 3, 4, 6, 8 }, { 2, 5, 7 } })
    lu.assertEquals(test:labels(), { "even", "odd", "odd" })
    lu.assertEquals(train.classes, { "even", "odd" })
  end
end

-- What a split with seed 0 gave can be given again.
function TestGivenRowsRepeatARandomSplit()
  local ds = numbered(40)
  local train, test = ds:split{ test = 0.3, seed = 5 }
  local again, tested = ds:split{ rows = rows_of(test) }
  lu.assertEquals({ rows_of(again), rows_of(tested) }, { rows_of(train), rows_of(test) })
end

function TestAColumnOfTextSaysWhichRowsAreTested()
  local ds = of_text(marked, quiet)
  local train, test = ds:split{ rows = "part" }
  lu.assertEquals({ train.X:totable(), test.X:totable() },
    { { { 1, 9 }, { 3, 7 } }, { { 2, 8 }, { 4, 6 } } })
  lu.assertEquals({ train.names, test.y:totable() }, { { "a", "b" }, { { 1.5 }, { 3.5 } } })
  lu.assertEquals(ds.X:cols(), 4) -- the data set itself does not change
end

function TestAColumnOfNumbersSaysWhichRowsAreTested()
  local text = marked:gsub("train", "0"):gsub("test", "1")
  local train, test = of_text(text, quiet):split{ rows = "part" }
  lu.assertEquals({ train.X:totable(), test.X:totable() },
    { { { 1, 9 }, { 3, 7 } }, { { 2, 8 }, { 4, 6 } } })
  local ds = sc.dataset{ X = { { 1, 5 }, { 0, 6 }, { 0, 7 } }, y = { 0.1, 0.2, 0.3 },
    names = { "held", "x" } }
  train, test = ds:split{ rows = "held" }
  lu.assertEquals({ train.X:totable(), test.X:totable(), train.schema.names },
    { { { 6 }, { 7 } }, { { 5 } }, { "x" } })
end

-- A model of the training part predicts files with and without the column.
function TestFilesMayLackTheColumnOfASplit()
  local train, test = of_text(marked, quiet):split{ rows = "part" }
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-6 } }:fit(train)
  local like = { like = p, quiet = true }
  local with, without = of_text(marked, like), of_text("a,b,y\n2,8,1.5\n4,6,3.5\n", like)
  lu.assertEquals(with.names, { "a", "b" })
  lu.assertEquals(with:select{ 2, 4 }.X:totable(), test.X:totable())
  lu.assertEquals(without.X:totable(), test.X:totable())
  lu.assertEquals(p:predict(without):totable(), p:predict(test):totable())
end

-- A computed column may take the column of the split, which files must have then.
function TestAColumnThatComputedColumnsTakeIsReadAndIsNoFeature()
  local text = marked:gsub("train", "0"):gsub("test", "1")
  local ds = of_text(text, { quiet = true, derive = { c = "a + 10 * part", d = "2 * b" } })
  local train, test = ds:split{ rows = "part" }
  lu.assertEquals(train.names, { "a", "b", "c", "d" })
  lu.assertEquals(test.X:totable(), { { 2, 8, 12, 16 }, { 4, 6, 14, 12 } })
  local again = of_text(text, { like = train, quiet = true })
  lu.assertEquals(again:select{ 2, 4 }.X:totable(), test.X:totable())
  train, test = of_text(text, { quiet = true, derive = { late = "a > 2" } }):split{ rows = "late" }
  lu.assertEquals({ train.names, train.schema.derived, #test }, { { "a", "part", "b" }, {}, 2 })
end

function TestGivenSplitsReportThatTheyCutGroups()
  local ds = numbered(6, { groups = { 1, 1, 2, 2, 3, 3 } })
  local function said(rows)
    return support.stderr_of(function() ds:split{ rows = rows } end)
  end
  lu.assertEquals(said{ 5, 1, 2, 6 }, "")
  lu.assertEquals(said{ 1, 3, 4 }, "scullery: the given split cuts groups\n")
end

-- A report's script repeats the split.
function TestScriptsRepeatAGivenSplit()
  local dataset = require "scullery.data.dataset"
  local ds = sc.data.load("wdbc")
  lu.assertEquals(dataset.origin((ds:split{ rows = { 3, 1 } })).split, { rows = { 1, 3 } })
  local many = {}
  for i = 1, 300 do many[i] = i end
  lu.assertNil(dataset.origin((ds:split{ rows = many })))
end

function TestMistakesInGivenRowsAreSentences()
  local ds = numbered(5)
  local function refuses(rows, sentence)
    fails("dataset:split: option 'rows' " .. sentence, ds.split, ds, { rows = rows })
  end
  refuses({ 2, 4, 2 }, "holds row 2 twice, in places 1 and 3")
  refuses({ 1, 6 }, "holds 6 in place 2; it takes row numbers, whole numbers from 1 to 5")
  refuses({ 0 }, "holds 0 in place 1; it takes row numbers")
  refuses({ 1.5 }, "holds 1.5 in place 1; it takes row numbers")
  refuses({ "1" }, "holds \"1\" in place 1; it takes row numbers")
  refuses({ 1, test = 2 }, "has the key \"test\"; it takes a list of row numbers")
  refuses({}, "names no test row")
  refuses({ 5, 4, 3, 2, 1 }, "names all 5 rows as test rows; some must be left to train on")
  refuses(sc.ones(2, 2), "got a 2 x 2 matrix; a matrix of row numbers has one column")
  refuses(7, "got 7; it takes the numbers of the test rows, or the name of the column that says")
  refuses("x", "names the column 'x', which the data set does not have")
  for _, name in ipairs{ "groups", "seed", "shuffle", "stratify", "test" } do
    local value = ({ groups = false, seed = 1, shuffle = false, stratify = true, test = 2 })[name]
    fails(("options 'rows' and '%s' were both given; 'rows' alone says"):format(name), ds.split, ds,
      { rows = { 1 }, [name] = value })
  end
end

function TestMistakesInAColumnOfASplitAreSentences()
  local ds = of_text(marked, quiet)
  local function refuses(data, name, sentence)
    fails("dataset:split: " .. sentence, data.split, data, { rows = name })
  end
  refuses(ds, "prat", "option 'rows' names the column 'prat', which the data set does not have \z
    (did you mean 'part'?)")
  refuses(ds, "a", "option 'rows' names the column 'a', which holds 2 in row 2; of numbers it \z
    takes a column of 1 in test rows and 0 in the others")
  local three = of_text(marked:gsub("4,test", "4,valid"), quiet)
  refuses(three, "part", "option 'rows' names the column 'part' of the texts test, train, valid; \z
    of text it takes a column of two texts, \"test\" in test rows")
  local missing = of_text(marked:gsub("4,test", "4,"), quiet)
  refuses(missing, "part", "option 'rows' names the column 'part' of the texts test, train and \z
    missing ones")
  local other = of_text(marked:gsub("test", "new"), quiet)
  refuses(other, "part", "option 'rows' names the column 'part' of the texts new, train; of text")
  refuses(of_text("part,y\n0,1.5\n1,2.5\n0,3.5\n", quiet), "part",
    "no column is left for X without 'part', which option 'rows' names")
  refuses(of_text("a,part,y\n1,0,1.5\n2,0,2.5\n3,0,3.5\n", quiet), "part",
    "option 'rows' names no test row")
end

os.exit(lu.LuaUnit.run())

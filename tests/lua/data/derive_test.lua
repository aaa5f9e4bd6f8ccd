--- Computed columns of CSV files: expressions, date parts, lags, functions; kept in the schema, so
--- that another file and saved models repeat them.
-- luacheck: globals TestExpressions TestDerive TestDeriveStreams
-- luacheck: ignore 212/self
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local expression = require "scullery.data.expression"
local predict = require "scullery.model.predict"
local reading = require "reading"

local file, read = reading.file, reading.read

-- The values of a column of X, by name.
local function column(ds, name)
  for j, known in ipairs(ds.names) do
    if known == name then
      local list = {}
      for i = 1, #ds do list[i] = ds.X:get(i, j) end
      return list
    end
  end
end

-- ------------ expressions

TestExpressions = {}

local function value(text, row)
  return expression.compile(expression.read(text), function(name)
    return function() return row[name] end
  end)(1)
end

function TestExpressions:test_operators_bind_as_in_lua()
  for text, want in pairs{ ["1 + 2 * 3"] = 7, ["(1 + 2) * 3"] = 9, ["2 ^ 3 ^ 2"] = 512,
    ["-2 ^ 2"] = -4,
    ["2 ^ -1"] = 0.5, ["8 / 2 / 2"] = 2, ["1 - 2 - 3"] = -4, ["1 + 1 == 2"] = 1, ["3 < 2"] = 0,
    ["2 <= 2"] = 1, ["3 ~= 3"] = 0, ["- -3"] = 3, ["1e3 + .5"] = 1000.5, ["max(1, 3, 2)"] = 3,
    ["min(4, 2)"] = 2, ["abs(-3)"] = 3, ["floor(-1.5)"] = -2, ["sqrt(16)"] = 4,
    ["log(exp(2))"] = 2,
    ["a * `b c` - x.y"] = 5, ["a > 1"] = 1, ["2 * -a"] = -4 } do
    lu.assertAlmostEquals(value(text, { a = 2, ["b c"] = 3, ["x.y"] = 1 }), want, 1e-14)
  end
end

function TestExpressions:test_parts_of_dates()
  -- 2024-02-29 13:45, a Thursday, and a day before 1970
  for text, want in pairs{ ["year(d)"] = 2024, ["month(d)"] = 2, ["day(d)"] = 29,
    ["weekday(d)"] = 4,
    ["hour(d)"] = 13, ["minute(d)"] = 45 } do
    lu.assertEquals(value(text, { d = 19782 + (13 * 60 + 45) / 1440 }), want)
  end
  for text, want in pairs{ ["year(d)"] = 1969, ["day(d)"] = 31, ["weekday(d)"] = 3,
    ["hour(d)"] = 18 } do
    lu.assertEquals(value(text, { d = -0.25 }), want)
  end
  for minute = 0, 1439 do -- every minute of a day, as the reader makes them
    local d = 19782 + minute * 60 / 86400
    lu.assertEquals({ value("hour(d)", { d = d }), value("minute(d)", { d = d }) },
      { minute // 60, minute % 60 })
  end
end

-- ------------ files

TestDerive = {}

local rows = "when,site,a,b,y\n2024-01-03T12:00,u,6,2,10\n2024-01-01T06:30,v,1,4,20\n"
  .. "2024-01-02,u,9,3,30\n2024-01-05,v,8,2,40\n"

function TestDerive:test_columns_come_after_those_of_the_file_sorted_by_name()
  local ds = read(rows, { skip = { "when", "b" }, derive = { ratio = "a / b", hour = "hour(when)",
    lag1 = "lag(y, 1)" } })
  lu.assertEquals(ds.names, { "site=u", "site=v", "a", "hour", "lag1", "ratio" })
  lu.assertEquals(column(ds, "ratio"), { 3, 0.25, 3, 4 })
  lu.assertEquals(column(ds, "hour"), { 12, 6, 0, 0 })
  lu.assertEquals(column(ds, "lag1"), { 20, 10, 20, 30 }) -- the first by the median of the others
  lu.assertEquals(ds.schema.derived[2], { name = "lag1", expression = "lag(y, 1)", fill = 20,
    missing = 1 })
  lu.assertEquals(ds.schema.cols, 6)
  lu.assertEquals(read(rows, { dtype = "float32", skip = "when",
    derive = { m = "minute(when)" } }).X:dtype(), "float32")
  lu.assertStrContains(tostring(ds:describe()), "computed: hour, lag1, ratio")
  lu.assertEquals(ds:head(1).names, { "site", "a", "hour", "lag1", "ratio", "y" })
end

function TestDerive:test_lags_follow_time_and_groups()
  local options = { derive = { l = "lag(a, 1)", h = "hour(when)" }, time = "when", target = "y" }
  -- in time: v 1, u 9, u 6, v 8
  lu.assertEquals(column(read(rows, options), "l"), { 9, 6, 1, 6 })
  options.groups = "site"
  lu.assertEquals(column(read(rows, options), "l"), { 9, 5, 5, 1 })
  options.missing_values = "row"
  local ds = read(rows, options)
  lu.assertEquals({ #ds, column(ds, "l"), ds.y:get(1, 1), ds.time:rows(), ds.groups:rows() },
    { 2, { 9, 1 }, 10, 2, 2 })
  options.missing_values = "error"
  lu.assertErrorMsgContains("row 2 has no value (missing_values = \"median\" fills it in)", read,
    rows, options)
end

function TestDerive:test_another_file_is_read_alike()
  local train = read(rows, { skip = "b", derive = { ratio = "a / b", lag2 = "lag(y, 2)" } })
  local path = file("y,b,a,site,when,more\n1,5,10,u,2024-03-01,x\n2,2,3,w,2024-03-02,x\n"
    .. "3,1,4,v,2024-03-03,x\n")
  local ds = sc.data.csv(path, { like = train, quiet = true })
  lu.assertEquals(ds.names, train.names)
  lu.assertEquals({ column(ds, "ratio"), column(ds, "lag2") }, { { 2, 1.5, 4 }, { 15, 15, 1 } })
  lu.assertEquals(ds.schema.derived, train.schema.derived)
  local again = sc.data.csv(path, { like = ds, quiet = true })
  lu.assertTrue(again.X == ds.X)
  lu.assertErrorMsgContains("takes the target 'y', which the file does not have", sc.data.csv,
    file("b,a,site,when\n5,10,u,2024-03-01\n"), { like = train, quiet = true })
end

local function saved(p)
  local path = os.tmpname()
  reading.remove_later(path)
  p:save(path)
  return path
end

-- The predictions that are written for a file, as a list of numbers; id: a column's name.
local function written(model, data, id)
  local out = os.tmpname() .. ".csv"
  reading.remove_later(out)
  predict.run{ model = model, data = data, output = out, id = id }
  local list, ids = {}, {}
  for line in io.lines(out) do
    list[#list + 1] = tonumber(line:match("([^,]*)$"))
    ids[#ids + 1] = id and line:match("^([^,]*),")
  end
  return list, ids
end

function TestDerive:test_saved_models_and_predictions_of_files_repeat_them()
  local path = file(rows)
  for _, derive in ipairs{ { ratio = "a / b", d = "day(when)" },
    { l = "lag(y, 1)", m = "lag(a, 2)" } } do
    local ds = sc.data.csv(path, { quiet = true, skip = "when", derive = derive })
    local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(ds)
    local model = saved(p)
    local q = sc.load(model)
    lu.assertEquals(q.fitted.schema.derived, ds.schema.derived)
    local again = sc.data.csv(path, { like = q, quiet = true })
    lu.assertTrue(again.X == ds.X)
    local said, list = p:predict(ds), written(model, path)
    for i = 1, 4 do lu.assertEquals(list[i], said:get(i, 1)) end
    local _, ids = written(model, path, "when")
    lu.assertEquals({ #ids, ids[1], ids[3] }, { 5, "when", "2024-01-01T06:30" })
  end
end

-- A model that learnt without the first row, which has no lag, gives it a prediction too.
function TestDerive:test_models_without_rows_that_lack_a_lag_predict_files()
  local path = file(rows)
  local ds = sc.data.csv(path, { quiet = true, skip = "when", derive = { l = "lag(y, 1)" },
    missing_values = "row" })
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(ds)
  local list, said = written(saved(p), path), p:predict(ds)
  lu.assertEquals({ #ds, #list }, { 3, 4 })
  for i = 1, 3 do lu.assertEquals(list[i + 1], said:get(i, 1)) end
end

function TestDerive:test_blocks_have_them_unless_they_take_other_rows()
  local path = file(rows)
  local ds = sc.data.csv(path, { quiet = true, derive = { ratio = "a / b" } })
  for X in sc.data.csv_blocks(path, { like = ds, quiet = true }) do lu.assertTrue(X == ds.X) end
  ds = sc.data.csv(path, { quiet = true, derive = { l = "lag(a, 1)" } })
  lu.assertErrorMsgContains("read the file whole", sc.data.csv_blocks, path, { like = ds })
end

function TestDerive:test_functions_work_until_the_model_is_saved()
  local ds = read(rows, { derive = { f = function(row)
    if row.site == "v" and row.a > 5 then return nil end
    return row.a + 100 * row.b
  end } })
  lu.assertEquals(column(ds, "f"), { 206, 401, 309, 309 })
  local again = sc.data.csv(file(rows), { like = ds, quiet = true })
  lu.assertTrue(again.X == ds.X)
  local p = sc.pipeline{ sc.solver.ridge{} }:fit(ds)
  local path = os.tmpname()
  reading.remove_later(path)
  lu.assertErrorMsgContains("the computed column 'f' is a Lua function, which cannot be saved",
    p.save, p, path)
  lu.assertErrorMsgContains("'f' is a Lua function", ds.save_schema, ds, path)
  lu.assertErrorMsgContains("there is no column \"aa\"", read, rows,
    { derive = { f = function(row) return row.aa end } })
  lu.assertErrorMsgContains("the function gave a string", read, rows,
    { derive = { f = function() return "x" end } })
end

function TestDerive:test_mistakes_are_sentences()
  for text, part in pairs{ ["a +"] = "it has 'the end' where a value belongs",
    ["lgo(a)"] = "there is no function 'lgo' (did you mean 'log'?)", ["aa"] = "(did you mean 'a'?)",
    ["log(a - 6)"] = "row 1: it takes log(0), which is not a number",
    ["a / (b - 3)"] = "row 3: it divides by 0",
    ["hour(a)"] = "it takes a part of the date 'a', a column that holds numbers",
    ["y * 2"] = "lag(y, 1) is that of the row before", ["site"] = "a column of texts",
    ["lag(a, 0)"] = "a whole number of rows", ["lag(a, b)"] = "a whole number of rows",
    ["min()"] = "where a value belongs", ["log(a, b)"] = "log takes 1 argument, and got 2",
    ["a ? b"] = "cannot be read from '? b' on", ["(a"] = "')' belongs",
    ["exp(a * 1e9)"] = "not finite" } do
    lu.assertErrorMsgContains(part, read, rows, { derive = { x = text } })
  end
  lu.assertErrorMsgContains("takes a table { name = \"a / b\", ... }", read, rows, { derive = "a" })
  lu.assertErrorMsgContains("has \"x\" = 5", read, rows, { derive = { x = 5 } })
  lu.assertErrorMsgContains("the file has a column of that name", read, rows,
    { derive = { a = "b" } })
  local ds = read(rows, { derive = { x = "a" } })
  lu.assertErrorMsgContains("options 'derive' and 'like'", read, rows,
    { derive = { x = "a" }, like = ds })
  lu.assertErrorMsgContains("nested too deeply", read, rows,
    { derive = { x = ("("):rep(200) .. "a" .. (")"):rep(200) } })
  lu.assertNotNil(core.csv_missing())
end

-- ------------ streams

TestDeriveStreams = {}

-- 5000 rows with every kind of column: dates, two texts, numbers, some of them missing. Blocks of
-- the first passes have 2048 rows.
local function long(missing)
  local lines, key = { "when,site,a,b,y" }, 12345
  for i = 1, 5000 do
    key = (key * 16807) % 2147483647
    lines[#lines + 1] = ("2024-%02d-%02dT%02d:30,%s,%s,%d,%.6f"):format(key % 12 + 1,
      key // 12 % 28 + 1, i % 24, key % 3 == 0 and "u" or "v",
      missing and i % 1000 == 0 and "" or ("%d"):format(key % 97), i % 7 + 1, key % 1000 / 10)
  end
  return file(table.concat(lines, "\n") .. "\n")
end

-- X and y of all rows of a data set, in memory or streaming, read in blocks of `count` rows.
local function rows_of(ds, count)
  if ds.X then return ds.X, ds.y end
  local X, y, n = {}, {}, #ds
  for first = 1, n, count do
    X[#X + 1], y[#y + 1] = core.read_rows(ds.source, first, math.min(count, n - first + 1))
  end
  return core.vcat(table.unpack(X)), core.vcat(table.unpack(y))
end

local function both(path, options)
  local o = { quiet = true }
  for name, given in pairs(options) do o[name] = given end
  local whole = sc.data.csv(path, o)
  o.stream = true
  return whole, sc.data.csv(path, o)
end

local every = { ratio = "a / b", hour = "hour(when)", l = "lag(a, 1) - a", m = "lag(y, 3)",
  f = function(row) return row.a % 2 == 0 and row.when or -row.a end }
local texts = { f = function(row) return row.site == "u" and row.a or -row.b end }

-- Missing values are none here: a lag has the value 0 in the first rows.
function TestDeriveStreams:test_rows_are_those_in_memory_to_the_bit()
  local path = long(false)
  for _, options in ipairs{ { derive = every, skip = { "when", "b" }, missing_values = "row" },
    { derive = every, time = "when", missing_values = "row" },
    { derive = every, time = "when", groups = "site", weights = "b", missing_values = "row" },
    { derive = { ratio = "a / b" }, dtype = "float32" }, { derive = texts },
    { derive = { early = "hour(when) < 6" }, skip = "when", target = "site" } } do
    local whole, stream = both(path, options)
    lu.assertEquals(stream.names, whole.names)
    lu.assertEquals(#stream, #whole)
    for _, count in ipairs{ 300, 5000 } do -- twice: a second pass gives the same
      local X, y = rows_of(stream, count)
      lu.assertTrue(X == whole.X:astype("float64"))
      lu.assertTrue(y == whole.y)
    end
    for _, role in ipairs{ "time", "groups", "weights" } do
      lu.assertTrue((stream[role] == nil and whole[role] == nil) or stream[role] == whole[role])
    end
    lu.assertEquals(stream.schema.cols, whole.schema.cols)
  end
end

-- In a stream a missing number becomes the mean of its column.
function TestDeriveStreams:test_missing_values_become_the_mean_of_the_others()
  local path = long(false)
  local whole, stream = both(path, { derive = { m = "lag(y, 2)" }, skip = "when" })
  local values, sum = column(whole, "m"), 0
  for i = 3, 5000 do sum = sum + values[i] / 4998 end
  local entry = stream.schema.derived[1]
  lu.assertAlmostEquals(entry.fill, sum, 1e-10)
  lu.assertEquals(entry.missing, 2)
  local X = rows_of(stream, 1000)
  lu.assertEquals({ X:get(1, X:cols()), X:get(2, X:cols()), X:get(3, X:cols()) },
    { entry.fill, entry.fill, values[3] })
  lu.assertErrorMsgContains("row 1 has no value (missing_values = \"median\" fills it in)",
    sc.data.csv, path, { derive = { m = "lag(y, 2)" }, stream = true, quiet = true,
    missing_values = "error" })
end

-- The schema of a stream reads other files, whole and as streams, and a model of it is saved.
function TestDeriveStreams:test_a_model_of_a_stream_predicts_files()
  local path = long(true)
  local options = { derive = { ratio = "a / b", hour = "hour(when)" }, skip = { "when", "b" },
    target = "y", stream = true, quiet = true }
  local train = sc.data.csv(path, options)
  local p = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = 1e-3 },
    target = "standardize" }:fit(train)
  local like = sc.data.csv(path, { like = p, quiet = true })
  lu.assertEquals(like.names, train.names)
  local again = sc.data.csv(path, { like = p, quiet = true, stream = true })
  lu.assertTrue(rows_of(again, 700) == like.X)
  lu.assertTrue(p:predict(train) == p:predict(like.X))
  lu.assertAlmostEquals(p:score(train), p:score(like), 1e-12)
  local said, out = p:predict(like), written(saved(p), path)
  for i = 1, #like do lu.assertAlmostEquals(out[i], said:get(i, 1), 1e-9) end
end

function TestDeriveStreams:test_functions_of_rows_are_called_in_each_pass_and_not_saved()
  local train = sc.data.csv(long(false), { derive = { f = function(row) return row.a * 2 end },
    target = "y", stream = true, quiet = true })
  local p = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = 1e-3 } }:fit(train)
  lu.assertAlmostEquals(p:score(train), p:score(train), 0)
  lu.assertErrorMsgContains("'f' is a Lua function", p.save, p, os.tmpname())
end

function TestDeriveStreams:test_mistakes_are_those_in_memory()
  local path = long(false)
  for text, part in pairs{ ["aa"] = "(did you mean 'a'?)", ["y * 2"] = "lag(y, 1) is that of",
    ["1 / (b - 3)"] = "row 2: it divides by 0", ["lag(site, 1)"] = "a column of texts",
    ["lag(aa, 1)"] = "there is no column 'aa'", ["1 / (a - 1000) + log(5000 - b / b)"] = false } do
    local options = { derive = { x = text }, stream = true, quiet = true }
    if part then lu.assertErrorMsgContains(part, sc.data.csv, path, options)
    else lu.assertEquals(#sc.data.csv(path, options), 5000) end
  end
end

reading.run()

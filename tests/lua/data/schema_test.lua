--- Schemas: what they hold; what is guessed is said, and what cannot be meant is refused.
--- schema_like_test.lua reads a second file as the first was.
-- luacheck: globals TestSchema TestDates TestGuesses TestRefusals TestTelling TestEnvironment
-- luacheck: ignore 212/self
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local reading = require "reading"

local file, rows, refuses = reading.file, reading.rows, reading.refuses
local read, run = reading.read, reading.shell

local program = arg[-1] or "scullery"

local function run_script(text) return run(("'%s' %s"):format(program, file(text))) end

local train = "u,v,shape,colour\n1,2,round,red\n3,,square,blue\n5,6,round,red\n,8,round,blue\n"

-- ------------ what a schema holds

TestSchema = {}

function TestSchema:test_a_schema_says_how_each_column_was_read()
  local s = read("id,u,shape,when,colour\nx7,1,round,1970-01-02,red\nx8,,?,1970-01-04,blue\n",
    { skip = "id" }).schema
  lu.assertEquals({ s.format, s.separator, s.header, s.missing_values, s.categorical, s.cols },
    { "csv", ",", true, "median", "onehot", 4 })
  lu.assertEquals(s.missing, core.csv_missing())
  lu.assertEquals(s.columns, { { name = "id", kind = "skipped" },
    { name = "u", kind = "number", fill = 1, missing = 1 },
    { name = "shape", kind = "category", levels = { "round" }, missing = 1 },
    { name = "when", kind = "date", fill = 2, missing = 0 } })
  lu.assertEquals(s.target, { name = "colour", kind = "category", task = "classification",
    place = 5 })
end

function TestSchema:test_the_usual_texts_for_nothing_are_missing()
  for _, text in ipairs{ "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "null", "NULL", "None", "NaN",
    "-nan", "1.#IND", "-1.#QNAN", "?" } do
    local s = read(("a,b,y\n1,x,1\n%s,%s,2\n3,x,3\n"):format(text, text)).schema
    lu.assertEquals({ s.columns[1].kind, s.columns[1].missing, s.columns[1].fill },
      { "number", 1, 2 }, text)
    lu.assertEquals({ s.columns[2].missing, s.columns[2].levels }, { 1, { "x" } }, text)
  end
  local s = read("a,y\nnone,1\nNone,2\nnone,3\n", { missing = "" }).schema
  lu.assertEquals(s.columns[1].levels, { "None", "none" })
  s = read("a,y\n-999,1\n5,2\n-99,3\n", { missing = "-999" }).schema
  lu.assertEquals({ s.columns[1].missing, s.columns[1].fill }, { 1, -47 })
end

function TestSchema:test_parts_and_fits_keep_it()
  local ds = read("a,y\n1,2\n3,4\n5,7\n8,9\n")
  local a, b = ds:split{ test = 0.5 }
  lu.assertIs(a.schema, ds.schema)
  lu.assertIs(b.schema, ds.schema)
  lu.assertIs(ds:subset(1, 2).schema, ds.schema)
  lu.assertEquals(sc.dataset{ X = { { 1, 2 } }, names = { "a", "b" } }.schema,
    { format = "matrix", cols = 2, names = { "a", "b" } })
  lu.assertEquals(sc.data.libsvm(file "1 1:1 3:2\n2 2:1\n").schema.cols, 3)
end

function TestSchema:test_medians_are_exact_where_a_number_is_missing()
  local lines, values, state = { "a,b,y" }, {}, 11
  for i = 1, 5001 do
    state = (state * 1103515245 + 12345) % 2147483648
    values[i] = state // 65536 % 1000
    lines[#lines + 1] = values[i] .. "," .. values[i] .. ",0"
  end
  lines[#lines + 1] = ",1,0"
  table.sort(values)
  local columns = read(table.concat(lines, "\n")).schema.columns
  lu.assertEquals(columns[1].fill, values[2501])
  -- elsewhere of 1001 rows: the standard error of their median is 0.5 / sqrt(1001) of the range
  lu.assertAlmostEquals(columns[2].fill, values[2501], 5 * 0.5 * 1000 / math.sqrt(1001))
end

-- ------------ dates

TestDates = {}

function TestDates:test_dates_are_days_since_1970()
  local days = { ["1970-01-01"] = 0, ["1969-12-31"] = -1, ["2000-03-01"] = 11017,
    ["2024-02-29"] = 19782, ["2024/02/29"] = 19782, ["1900-03-01"] = -25508,
    ["2024-02-29T12:00"] = 19782.5, ["2024-02-29 06:00:00.0Z"] = 19782.25 }
  for text, value in pairs(days) do
    lu.assertEquals(read("d,y\n" .. text .. ",1\n").X:get(1, 1), value)
  end
end

function TestDates:test_what_is_no_date_stays_a_category()
  for _, text in ipairs{ "2023-02-29", "2024-13-01", "2024-1-1", "2024-01-01 25:00", "24-01-01",
    "2024-01/01", "2024-01-01T10:00+02:00", "2024-01-01x" } do
    lu.assertEquals(read("d,y\n" .. text .. ",1\n2024-01-01,2\n").names[1]:sub(1, 2), "d=")
  end
end

function TestDates:test_the_day_or_the_month_may_come_first()
  for text, days in pairs{ ["31.12.2024,01.02.2024"] = { 20088, 19754 },
    ["31/12/2024,1/2/2024"] = { 20088, 19754 }, ["12/31/2024,1/2/2024"] = { 20088, 19724 },
    ["12-31-2024 12:00,01-02-2024"] = { 20088.5, 19724 }, ["1.2.2024,2.2.2024"] = { 19754, 19755 },
    } do
    local a, b = text:match("(.*),(.*)")
    local ds = read(("d,y\n%s,1\n%s,2\n"):format(a, b))
    lu.assertEquals(rows(ds.X), { { days[1] }, { days[2] } })
    lu.assertEquals(ds.schema.columns[1].order, a:find("^12") and "month" or "day")
  end
end

function TestDates:test_an_order_that_no_date_says_is_asked_for()
  local text = "d,y\n03/04/2024,1\n05/06/2024,2\n"
  refuses({ "the column 'd' holds dates, such as '03/04/2024'",
    "dates = \"day\" or dates = \"month\"" }, read, text)
  local day, month = read(text, { dates = "day" }), read(text, { dates = "month" })
  lu.assertEquals({ rows(day.X), rows(month.X) },
    { { { 19816 }, { 19879 } }, { { 19786 }, { 19849 } } })
  lu.assertEquals(rows(read("d\n01/02/2024\n", { like = day }).X), { { 19754 } })
  lu.assertEquals(rows(read("d\n01/02/2024\n", { like = month }).X), { { 19724 } })
  refuses("'2024-01-01' is not a date as DD/MM/YYYY", read, "d\n2024-01-01\n", { like = day })
  refuses("options 'dates' and 'like' were both given", read, text, { like = day, dates = "day" })
  refuses("it takes one of day, month", read, text, { dates = "dmy" })
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(month)
  local path = file ""
  p:save(path)
  lu.assertEquals(sc.load(path).fitted.schema, month.schema)
  for X in sc.data.csv_blocks(file "d\n01/02/2024\n", { like = sc.load(path) }) do
    lu.assertEquals(rows(X), { { 19724 } })
  end
  lu.assertEquals(read(text, { dates = "day", stream = true }).schema.columns[1].order, "day")
end

function TestDates:test_one_bad_date_is_named_with_its_line()
  local lines = "d,y\n2024-01-01,1\n2024-01-02,2\n2024-01-03,3\n2024-02-30,4\n"
    .. "2024-01-05,5\n2024-01-06,6\n"
  refuses({ "line 5", "'2024-02-30' is not a date as YYYY-MM-DD, and the column's others are" },
    read, lines)
  lu.assertEquals(#read(lines, { levels = "d" }).names, 6)
  lu.assertEquals(read(lines, { missing = "2024-02-30" }).schema.columns[1].missing, 1)
  lines = "d,y\n31/01/2024,1\n30/01/2024,2\n29/01/2024,3\n01/30/2024,4\n"
    .. "28/01/2024,5\n27/01/2024,6\n"
  refuses({ "line 5", "'01/30/2024' is not a date as DD/MM/YYYY" }, read, lines)
end

function TestDates:test_dates_fill_and_match()
  local text = "d,y\n2024-01-01,1\n?,2\n2024-01-03,3\n"
  local ds = read(text)
  lu.assertEquals(rows(ds.X), { { 19723 }, { 19724 }, { 19725 } })
  lu.assertEquals(rows(read("d\n2024-01-05\n?\n", { like = ds }).X), { { 19727 }, { 19724 } })
  refuses("'soon' is not a date", read, "d\nsoon\n", { like = ds })
  local _, s = core.stream_csv(file(text), {})
  lu.assertEquals(s.schema.columns[1].fill, 19724)
end

-- ------------ guesses about the target

TestGuesses = {}

function TestGuesses:test_few_whole_numbers_called_class_are_classes()
  local text = "a,%s\n1,0\n2,1\n3,0\n4,2\n5,2\n6,1\n"
  for _, name in ipairs{ "class", "label", "target", "Class", "LABEL" } do
    local ds = read(text:format(name))
    lu.assertEquals({ ds.task, ds.classes }, { "classification", { 0, 1, 2 } })
    lu.assertEquals(read(text:format(name), { stream = true }).classes, { 0, 1, 2 })
    lu.assertEquals(read(text:format(name), { task = "regression" }).task, "regression")
  end
  lu.assertEquals(read(text:format "y").task, "regression")
  lu.assertEquals(read("a,class\n1,0.5\n2,1\n3,0.5\n4,1\n").task, "classification") -- two values
  lu.assertEquals(read("a,class\n1,0.5\n2,1\n3,0.5\n4,2\n5,1\n6,2\n").task, "regression")
  local lines = { "a,target" }
  for i = 1, 100 do lines[#lines + 1] = i .. "," .. i % 60 end
  lu.assertEquals(read(table.concat(lines, "\n")).task, "regression")
end

function TestGuesses:test_a_hundred_decimals_are_no_classes()
  local lines, X, y = { "a,y" }, {}, {}
  for i = 1, 100 do
    lines[#lines + 1] = i .. "," .. i + 0.5
    X[i], y[i] = { i }, i + 0.5
  end
  local text = table.concat(lines, "\n")
  refuses({ "100 different values", "not whole numbers", "regression" }, read, text,
    { task = "classification" })
  refuses("100 different values", read, text, { task = "classification", stream = true })
  refuses({ "dataset: y has 100 different values", "regression" }, sc.dataset,
    { X = X, y = y, task = "classification" })
  lu.assertEquals(read(text).task, "regression")
end

-- ------------ what cannot be meant

TestRefusals = {}

local function column_of(make, count)
  local lines = { "a;k;y" }
  for i = 1, count do lines[#lines + 1] = i .. ";" .. make(i) .. ";" .. i % 7 + 0.5 end
  return table.concat(lines, "\n")
end

function TestRefusals:test_nearly_unique_text_is_no_category()
  local text = column_of(function(i) return "name " .. i end, 40)
  refuses({ "column 2 (k) has 40 different texts in 40 rows", "'name 1'", 'skip = {"k"}',
    'levels = {"k"}', 'numeric = {"k"}' }, read, text)
  refuses("40 different texts", read, text, { stream = true })
  lu.assertEquals(read(text, { skip = "k" }).X:cols(), 1)
  lu.assertEquals(read(text, { levels = "k" }).X:cols(), 41)
  lu.assertEquals(read(column_of(function(i) return "name " .. i // 3 end, 60)).X:cols(), 22)
  refuses({ "the target 'k' has 40 different texts" }, read, text, { target = "k" })
end

function TestRefusals:test_formatted_numbers_are_refused_with_the_way_out()
  for _, make in ipairs{ function(i) return "$" .. i end, function(i) return i .. "%" end,
    function(i) return "1,00" .. i % 10 .. ".50" end, function(i) return "€" .. i end } do
    local text = column_of(make, 12)
    refuses({ "row 1, column 2 (k), line 2", "is not a plain number", 'numeric = {"k"}', "skip" },
      read, text)
    lu.assertEquals(read(text, { numeric = "k" }).X:cols(), 2)
    lu.assertTrue(read(text, { levels = "k" }).X:cols() > 2)
  end
  refuses("a decimal comma is not read", read, column_of(function(i) return i .. ",5" end, 12))
end

function TestRefusals:test_numeric_reads_formatted_numbers()
  local text = 'k,y\n"$1,000.50",1\n-$5,2\n5%,3\n"1,234,567",4\n7,5\n?,6\n'
  local ds = read(text, { numeric = "k" })
  lu.assertEquals(rows(ds.X), { { 1000.5 }, { -5 }, { 5 }, { 1234567 }, { 7 }, { 7 } })
  lu.assertEquals(rows(read("k\n$8\n9\n", { like = ds }).X), { { 8 }, { 9 } })
  for _, wrong in ipairs{ "1,00", ",100", "1,0000", "$", "%", "1,000,0", "$x" } do
    refuses("is not a number", read, ('k,y\n"%s",1\n'):format(wrong), { numeric = true })
  end
end

function TestRefusals:test_options_among_the_paths()
  refuses({ "data.csv: option \"target\" is among the paths", "(path, { target = ... })" },
    sc.data.csv, { file(train), target = "u" })
  refuses("is among the paths", sc.data.libsvm, { file "1 1:1\n", task = "regression" })
  refuses("'levels' got a table with the key \"k\"", read, train, { levels = { k = { "a" } } })
  refuses("'skip' got a table with the key \"u\"", read, train, { skip = { u = true } })
end

function TestRefusals:test_other_encodings_have_a_sentence()
  refuses({ "line 3 holds the byte e9", "Latin-1" }, read, "k,y\na,1\ncaf\xe9,2\n")
  refuses("UTF-16", read, "\xff\xfek\0,\0y\0\n\0001\0,\0002\0\n\0")
  lu.assertEquals(read("\xef\xbb\xbfk,y\ncaf\xc3\xa9,1\nt\xc3\xa9,2\n").names[1], "k=caf\xc3\xa9")
end

-- ------------ one line about it

TestTelling = {}

local function says(statement)
  return run_script("local sc = require 'scullery'\n" .. statement)
end

function TestTelling:test_reading_says_what_was_guessed_and_done()
  local path = file "u,shape,day,n,y\n1,a,2024-01-01,9007199254740993,no\n,b,2024-01-02,1,yes\n"
  local said = says(("sc.data.csv(%q)"):format(path))
  for _, text in ipairs{ "scullery: " .. path .. ": target 'y' (the last column), classification \z
    of 2 classes", "one column a level: shape (2)", "missing numbers filled in: u (1 row, by 1)",
    "dates as days since 1970-01-01: day", "whole numbers beyond 2^53, rounded: n (1 row)" } do
    lu.assertStrContains(said, text)
  end
  lu.assertEquals(select(2, said:gsub("\n", "")), 2) -- one line, and the status
  lu.assertEquals(says(("sc.data.csv(%q, { quiet = true })"):format(path)), "status 0\n")
  local described = tostring(read("u,y\n1,2\n,3\n"):describe())
  lu.assertStrContains(described, "target 'y' (the last column), regression")
  lu.assertStrContains(described, "missing numbers filled in: u (1 row, by 1)")
end

function TestTelling:test_nothing_is_said_where_nothing_was_guessed()
  lu.assertEquals(says(("sc.data.csv(%q, { target = \"y\", task = \"regression\" })"):format(
    file "a,y\n1,2\n")), "status 0\n")
  lu.assertEquals(says('sc.data.load("wdbc")'), "status 0\n")
end

function TestTelling:test_reading_alike_says_what_differs()
  local path = file "u,v,shape,note\n1,2,oval,n\n,3,round,n\n2,3,long,n\n"
  local said = says(([[
    local ds = sc.data.csv(%q, { quiet = true })
    sc.data.csv(%q, { like = ds })
    for _ in sc.data.csv_blocks(%q, { like = ds }) do end
  ]]):format(file(train), path, path))
  local line = "scullery: " .. path .. ": columns left out because the schema does not have \z
    them: note; \z
    unknown categories, whose columns of X are all 0: shape (2 rows, such as 'oval'); missing \z
    numbers filled in: u (1 row, by 3)\n"
  lu.assertEquals(said, line .. line .. "status 0\n")
end

-- ------------ the environment and help

TestEnvironment = {}

local function with_variable(name, value)
  return run(("%s=%s '%s' -e 'print(sc.threads())'"):format(name, value, program))
end

function TestEnvironment:test_wrong_values_are_refused_with_a_sentence()
  for name, value in pairs{ SCULLERY_THREADS = "abc", SCULLERY_ISA = "sse",
    SCULLERY_PLUGIN_PATH = "/nowhere", SCULLERY_DATA = "/nowhere" } do
    local said = with_variable(name, value)
    for _, text in ipairs{ "the environment variable " .. name, value, "status 1" } do
      lu.assertStrContains(said, text)
    end
  end
  for _, value in ipairs{ "0", "-1", "2x", "257" } do
    lu.assertStrContains(with_variable("SCULLERY_THREADS", value), "a whole number from 1 to 256")
  end
  lu.assertStrContains(with_variable("SCULLERY_THREADS", 3), "3\nstatus 0")
end

function TestEnvironment:test_every_reader_has_its_options_in_one_table()
  for _, reader in ipairs{ "csv", "libsvm", "matrix_market", "idx" } do
    for _, option in ipairs(core.reader_options(reader)) do
      lu.assertTrue(#option.help > 0 and #option.takes > 0)
    end
  end
  lu.assertNil(core.reader_options("xml"))
  local help = require("scullery.help").text(sc.data.csv)
  for _, text in ipairs{ "like", "quiet", "missing_values" } do lu.assertStrContains(help, text) end
end

local function slurp(path)
  local f = assert(io.open(path, "rb"))
  local text = f:read("a")
  f:close()
  return text
end

function TestEnvironment:test_the_page_on_data_lists_every_option()
  local page = slurp((os.getenv "SCULLERY_SOURCE" or ".") .. "/docs/data.md")
  for _, reader in ipairs{ "csv", "libsvm", "matrix_market", "idx" } do
    for _, option in ipairs(core.reader_options(reader)) do
      lu.assertStrContains(page, ("| `%s` | %s | %s |"):format(option.name,
        (option.takes:gsub("|", "\\|")), option.help))
    end
  end
end

reading.run()

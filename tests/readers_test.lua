--- Files to numbers: what each reader makes of good files, and what it says of bad ones.
-- luacheck: globals TestCsv TestCsvTypes TestCsvMissing TestCsvErrors TestCsvStream TestLibsvm
-- TestIdx TestNpy TestWriting TestSets luacheck: ignore 212/self
local lu = require "luaunit"
local core = require "scullery.core"
local support = dofile("tests/support.lua")

local made = {}

--- A fresh file with these bytes; its path.
local function file(bytes)
  made[#made + 1] = support.write(nil, bytes)
  return made[#made]
end

local function hex(text)
  return (text:gsub("%s", ""):gsub("..", function(pair) return string.char(tonumber(pair, 16)) end))
end

--- A matrix as a list of rows.
local function rows(X)
  local list = {}
  for i = 1, X:rows() do
    list[i] = {}
    for j = 1, X:cols() do list[i][j] = X:get(i, j) end
  end
  return list
end

local function column(X)
  local list = {}
  for i = 1, X:rows() do list[i] = X:get(i, 1) end
  return list
end

local function csv(text, options) return core.read_csv(file(text), options or {}) end

--- Reading fails with an error that contains each of the texts.
local function refuses(texts, f, ...)
  local fine, message = pcall(f, ...)
  lu.assertFalse(fine)
  for _, text in ipairs(type(texts) == "table" and texts or { texts }) do
    lu.assertStrContains(message, text)
  end
  return message
end

local function csv_refuses(texts, text, options)
  local message = refuses(texts, csv, text, options)
  lu.assertStrContains(message, "data.csv: ")
end

-- ---------------------------------------------------------------- CSV

TestCsv = {}

function TestCsv:test_numbers_with_a_header()
  local r = csv("a,b,y\n1,2.5,3\n-4,5e-1,6\n")
  lu.assertEquals(rows(r.X), { { 1, 2.5 }, { -4, 0.5 } })
  lu.assertEquals(column(r.y), { 3, 6 })
  lu.assertEquals({ r.names, r.task, r.target, r.parts, r.classes },
    { { "a", "b" }, "regression", "y", { 2 } })
end

function TestCsv:test_numbers_without_a_header_get_names()
  local r = csv("1,2\n3,4\n")
  lu.assertEquals({ r.names, r.target }, { { "x1" }, "x2" })
  lu.assertEquals(rows(r.X), { { 1 }, { 3 } })
end

function TestCsv:test_a_table_of_text_alone_has_no_header_when_its_first_line_repeats_below()
  lu.assertEquals(csv("p,x\ne,y\np,x\n", { target = false }).X:rows(), 3)
  lu.assertEquals(csv("kind,class\ne,y\np,x\n", { target = false }).X:rows(), 2)
end

function TestCsv:test_header_can_be_said()
  lu.assertEquals(csv("1,2\n3,4\n", { header = true }).names, { "1" })
  lu.assertEquals(csv("a,b\nc,d\n", { header = false, target = false }).X:rows(), 2)
end

function TestCsv:test_columns_gives_names()
  lu.assertEquals(csv("1,2\n3,4\n", { columns = { "u", "v" } }).names, { "u" })
  csv_refuses("'columns' has 3 names", "1,2\n3,4\n", { columns = { "u", "v", "w" } })
end

function TestCsv:test_separators_are_found()
  for _, separator in ipairs { ",", ";", "\t" } do
    lu.assertEquals(rows(csv((("a,b,c\n1,2,3\n4,5,6\n"):gsub(",", separator))).X),
      { { 1, 2 }, { 4, 5 } })
  end
  lu.assertEquals(rows(csv("a|b\n1|2\n", { separator = "|" }).X), { { 1 } })
end

function TestCsv:test_quotes_hold_separators_quotes_and_line_breaks()
  local r = csv('name,v,y\n"a, b",1,0\n"say ""x""",2,1\n"two\nlines",3,0\n')
  lu.assertEquals(r.names, { "name=a, b", 'name=say "x"', "name=two\nlines", "v" })
  lu.assertEquals(rows(r.X), { { 1, 0, 0, 1 }, { 0, 1, 0, 2 }, { 0, 0, 1, 3 } })
end

function TestCsv:test_quoted_numbers_are_numbers()
  lu.assertEquals(rows(csv('a,y\n"1.5",2\n"2",3\n').X), { { 1.5 }, { 2 } })
end

function TestCsv:test_carriage_returns_blank_lines_and_byte_order_mark()
  lu.assertEquals(rows(csv("\xef\xbb\xbfa,y\r\n1,2\r\n\r\n3,4\r\n\r\n").X), { { 1 }, { 3 } })
  lu.assertEquals(csv("\xef\xbb\xbfa,y\r\n1,2\r\n").names, { "a" })
end

function TestCsv:test_last_line_needs_no_line_break()
  lu.assertEquals(column(csv("a,y\n1,2\n3,4").y), { 2, 4 })
end

function TestCsv:test_blanks_around_fields_do_not_count()
  lu.assertEquals(csv("a , b,y\n 1,  x ,2\n3 , z,4\n").names, { "a", "b=x", "b=z" })
end

function TestCsv:test_target_by_name_number_and_none()
  local text = "a,b,c\n1,2,3\n"
  lu.assertEquals(csv(text, { target = "a" }).y:get(1, 1), 1)
  lu.assertEquals(csv(text, { target = 2 }).y:get(1, 1), 2)
  lu.assertEquals(csv(text, { target = -3 }).y:get(1, 1), 1)
  local r = csv(text, { target = false })
  lu.assertNil(r.y)
  lu.assertEquals(r.X:cols(), 3)
end

function TestCsv:test_skip_leaves_columns_out()
  lu.assertEquals(csv("id,a,y\nx7,1,2\nx8,3,4\n", { skip = "id" }).names, { "a" })
end

function TestCsv:test_float32()
  local X = csv("a,y\n0.1,2\n", { dtype = "float32" }).X
  lu.assertEquals(X:dtype(), "float32")
  lu.assertEquals(X:get(1, 1), string.unpack("f", string.pack("f", 0.1)))
end

function TestCsv:test_decimals_are_rounded_as_the_c_library_does()
  local texts = { "0.1", "1e22", "1e23", "123456789012345678", "9007199254740993",
    "0.30000000000000004", "2.2250738585072011e-308", "4.9e-324",
    "1.7976931348623157e308", "-0.000001", "+5", ".5", "5.", "00012.50", "1E+2", "6.02214076e23",
      "0.1000000000000000055511151231257827",
    "9223372036854775808.5", "12345678901234567.25" }
  for _, text in ipairs(texts) do
    lu.assertEquals(csv("a,y\n" .. text .. ",1\n").X:get(1, 1), tonumber(text) + 0.0)
  end
end

function TestCsv:test_a_random_decimal_reads_as_the_c_library_reads_it()
  local lines, expected, state = { "a,y" }, {}, 12345
  for i = 1, 2000 do
    state = (state * 6364136223846793005 + 1442695040888963407)
    local digits = ("%.17g"):format((state >> 11) * 2.0 ^ -(state & 63))
    lines[i + 1], expected[i] = digits .. ",1", tonumber(digits)
  end
  lu.assertEquals(column(csv(table.concat(lines, "\n")).X), expected)
end

function TestCsv:test_several_files_are_encoded_alike()
  local r = core.read_csv({ file("k,v,y\na,1,u\nb,,v\n"), file("k,v,y\nc,5,u\n") }, {})
  lu.assertEquals(r.names, { "k=a", "k=b", "k=c", "v" })
  lu.assertEquals(rows(r.X), { { 1, 0, 0, 1 }, { 0, 1, 0, 1 }, { 0, 0, 1, 5 } })
  lu.assertEquals({ r.parts, r.classes, column(r.y) }, { { 2, 1 }, { "u", "v" }, { 1, 2, 1 } })
end

function TestCsv:test_threads_do_not_change_the_result()
  local lines = { "a,k,y" }
  for i = 1, 60000 do
    lines[#lines + 1] = ("%d.%d,level %d,%s"):format(i, i % 97, i * 7 % 13, i % 2 == 0 and "even"
      or "odd")
  end
  local path = file(table.concat(lines, "\n"))
  local r = core.read_csv(path, {})
  lu.assertEquals({ r.X:rows(), r.X:cols(), #r.classes }, { 60000, 14, 2 })
  for _, i in ipairs { 1, 29999, 60000 } do
    lu.assertEquals(r.X:get(i, 1), tonumber(("%d.%d"):format(i, i % 97)))
    lu.assertEquals(r.names[2], "k=level 0")
    lu.assertEquals(r.y:get(i, 1), i % 2 == 0 and 1 or 2)
  end
  lu.assertEquals(r.X:sum(), core.read_csv({ path }, {}).X:sum())
end

TestCsvTypes = {}

function TestCsvTypes:test_text_becomes_one_column_a_level_in_byte_order()
  local r = csv("k,y\nb,1\na,2\nB,3\nb,4\n")
  lu.assertEquals(r.names, { "k=B", "k=a", "k=b" })
  lu.assertEquals(rows(r.X), { { 0, 0, 1 }, { 0, 1, 0 }, { 1, 0, 0 }, { 0, 0, 1 } })
end

function TestCsvTypes:test_categories_can_be_dropped()
  lu.assertEquals(csv("k,v,y\nb,1,1\na,2,2\n", { categorical = "drop" }).names, { "v" })
end

function TestCsvTypes:test_levels_takes_numbers_as_categories()
  lu.assertEquals(csv("k,v,y\n10,1,1\n9,2,2\n", { levels = "k" }).names, { "k=10", "k=9", "v" })
end

function TestCsvTypes:test_a_column_of_numbers_and_many_texts_is_a_category_of_all_of_them()
  lu.assertEquals(csv("k,v,y\n1,1,1\nx,2,2\n2,3,3\n").names, { "k=1", "k=2", "k=x", "v" })
end

function TestCsvTypes:test_text_labels_are_places_in_sorted_classes()
  local r = csv("a,y\n1,yes\n2,no\n")
  lu.assertEquals({ r.task, r.classes, column(r.y) }, { "classification", { "no", "yes" },
    { 2, 1 } })
end

function TestCsvTypes:test_numeric_labels_keep_their_values()
  local r = csv("a,y\n1,7\n2,-1\n3,7\n", { task = "classification" })
  lu.assertEquals({ r.classes, column(r.y) }, { { -1, 7 }, { 7, -1, 7 } })
end

function TestCsvTypes:test_one_text_among_many_numbers_is_a_mistake()
  local lines = { "id,age,y" }
  for i = 1, 200 do lines[#lines + 1] = i .. "," .. (i == 17 and "abc" or i) .. ",0" end
  csv_refuses({ "row 17, column 2 (age), line 18: 'abc' is not a number", "199 of the others are" },
    table.concat(lines, "\n"))
  lu.assertEquals(csv(table.concat(lines, "\n"), { levels = { "age" } }).X:cols(), 201)
end

function TestCsvTypes:test_columns_declared_numeric_take_no_text()
  csv_refuses({ "row 2, column 1 (a), line 3", "'x'" }, "a,y\n1,1\nx,2\n", { numeric = { "a" } })
  csv_refuses("'x' is not a number", "a,y\n1,1\nx,2\n", { numeric = true })
end

function TestCsvTypes:test_a_column_of_endless_levels_is_no_category()
  local lines = { "id,y" }
  for i = 1, 10001 do lines[#lines + 1] = "n" .. i .. ",0" end
  csv_refuses({ "column 1 (id)", "more than 10000 different texts", "skip" },
    table.concat(lines, "\n"))
end

TestCsvMissing = {}

function TestCsvMissing:test_a_missing_number_becomes_the_median_of_the_first_file()
  local r = core.read_csv({ file("a,y\n1,0\n,0\n5,0\n2,0\n"), file("a,y\n100,0\n?,0\n") }, {})
  lu.assertEquals(column(r.X), { 1, 2, 5, 2, 100, 2 })
end

function TestCsvMissing:test_median_of_an_even_count_is_the_middle()
  lu.assertEquals(column(csv("a,y\n1,0\nNA,0\n4,0\n").X), { 1, 2.5, 4 })
end

function TestCsvMissing:test_rows_with_a_missing_number_can_be_left_out()
  local r = core.read_csv({ file("a,y\n1,0\n,1\n5,2\n"), file("a,y\nNaN,3\n6,4\n") },
    { missing_values = "row" })
  lu.assertEquals({ column(r.X), column(r.y), r.parts }, { { 1, 5, 6 }, { 0, 2, 4 }, { 2, 1 } })
  csv_refuses("every row has a missing number", "a,b,y\n,1,0\n1,,1\n", { missing_values = "row" })
end

function TestCsvMissing:test_a_missing_number_can_be_an_error()
  csv_refuses({ "row 2, column 1 (a)", "missing" }, "a,y\n1,0\n,1\n", { missing_values = "error" })
end

function TestCsvMissing:test_a_missing_category_is_a_level_of_its_own()
  local r = csv("k,y\nz,1\n?,2\na,3\n")
  lu.assertEquals(r.names, { "k=a", "k=z", "k=?" })
  lu.assertEquals(rows(r.X), { { 0, 1, 0 }, { 0, 0, 1 }, { 1, 0, 0 } })
end

function TestCsvMissing:test_words_for_missing_can_be_said()
  lu.assertEquals(column(csv("a,y\n1,0\n-999,0\n3,0\n", { missing = "-999" }).X), { 1, 2, 3 })
  lu.assertEquals(csv("k,y\nz,1\n?,2\n", { missing = { "none" } }).names, { "k=?", "k=z" })
end

function TestCsvMissing:test_a_missing_label_is_an_error_with_its_row()
  csv_refuses({ "row 2, column 2 (y), line 3", "missing label" }, "a,y\n1,u\n2,?\n")
  csv_refuses({ "row 2, column 2 (y), line 3", "missing label" }, "a,y\n1,1\n2,\n")
end

function TestCsvMissing:test_a_column_of_nothing_is_an_error()
  csv_refuses({ "column 2 (b) has no values", "skip" }, "a,b,y\n1,,1\n2,,2\n")
end

TestCsvErrors = {}

function TestCsvErrors:test_ragged_rows()
  csv_refuses({ "row 2, line 3: it has 2 fields, and the first line has 3" }, "a,b,y\n1,2,3\n4,5\n")
  csv_refuses({ "row 1, line 2: it has 4 fields" }, "a,b,y\n1,2,3,4\n")
end

function TestCsvErrors:test_quotes_that_do_not_close_or_are_followed_by_text()
  csv_refuses({ "line 3", "never closes" }, 'a,y\n1,2\n"3,4\n5,6\n')
  csv_refuses({ "line 2", "text follows the closing quote" }, 'a,y\n"1"2,2\n', { header = true })
end

function TestCsvErrors:test_infinity_is_named()
  csv_refuses({ "row 2, column 1 (a), line 3", "'inf' is not finite" }, "a,y\n1,2\ninf,3\n")
  csv_refuses({ "'1e999' is not finite" }, "a,y\n1,2\n1e999,3\n")
  csv_refuses("too large for float32", "a,y\n1,2\n1e39,3\n", { dtype = "float32" })
end

function TestCsvErrors:test_nothing_in_the_file()
  csv_refuses("the file is empty", "")
  csv_refuses("the file is empty", "\n\n  \n")
  csv_refuses("no rows after the header", "a,b,c\n")
end

function TestCsvErrors:test_no_file_or_a_folder()
  refuses({ "data.csv: ", "no such file" }, core.read_csv, "/nowhere/at all.csv", {})
  refuses({ "data.csv: ", "folder" }, core.read_csv, "/tmp", {})
end

function TestCsvErrors:test_bytes_that_are_no_text()
  csv_refuses("zero byte", "a,y\n1,\0\n")
  csv_refuses("zero byte", "a\0,\0y\0\n\0")
end

function TestCsvErrors:test_unknown_columns_list_the_known()
  csv_refuses({ "'target' names 'z'", "a, b, y" }, "a,b,y\n1,2,3\n", { target = "z" })
  csv_refuses({ "'skip' names 'z'" }, "a,b,y\n1,2,3\n", { skip = { "z" } })
  csv_refuses({ "'target' got 4", "3 columns" }, "a,b,y\n1,2,3\n", { target = 4 })
end

function TestCsvErrors:test_a_file_of_one_column_has_no_input()
  csv_refuses("no column is left for X", "y\n1\n2\n")
end

function TestCsvErrors:test_a_regression_needs_numbers()
  csv_refuses({ "row 1, column 2 (y)", "'u' is not a number" }, "a,y\n1,u\n",
    { task = "regression" })
end

function TestCsvErrors:test_options_are_checked()
  csv_refuses({ "unknown option 'taget' (did you mean 'target'?)" }, "a,y\n1,2\n", { taget = "y" })
  csv_refuses({ "'task' got \"clasification\"", "one of regression, classification" }, "a,y\n1,2\n",
    { task = "clasification" })
  csv_refuses({ "'header' got 1", "true or false" }, "a,y\n1,2\n", { header = 1 })
  csv_refuses({ "'target' got true" }, "a,y\n1,2\n", { target = true })
  csv_refuses({ "'target' got 1.5" }, "a,y\n1,2\n", { target = 1.5 })
  csv_refuses({ "'separator' got \"ab\"" }, "a,y\n1,2\n", { separator = "ab" })
  csv_refuses({ "'dtype' got \"int\"" }, "a,y\n1,2\n", { dtype = "int" })
  csv_refuses({ "'missing'", "a list of texts" }, "a,y\n1,2\n", { missing = { 7 } })
  refuses("'path' got a nil", core.read_csv, nil, {})
  refuses("list of paths is empty", core.read_csv, {}, {})
  refuses("takes a table of named options", core.read_csv, file "a,y\n1,2\n", 7)
end

function TestCsvErrors:test_headers_of_several_files_must_agree()
  refuses("column 1 is called 'b' in its header, and 'a'", core.read_csv,
    { file "a,y\n1,2\n", file "b,y\n1,2\n" }, {})
end

-- gzip -9 of "a,y\n1,2\n3,4\n"
local packed = hex "1f8b08000000000002034bd4a9e432d431e232d631e10200fa9398110c000000"

function TestCsvErrors:test_gzip_is_read_and_a_truncated_one_refused()
  lu.assertEquals(rows(csv(packed).X), { { 1 }, { 3 } })
  for _, size in ipairs { #packed - 1, #packed - 8, 14 } do
    csv_refuses("truncated", packed:sub(1, size))
  end
end

function TestCsvErrors:test_a_damaged_gzip_is_refused()
  local damaged = packed:sub(1, #packed - 6) .. "\x00" .. packed:sub(#packed - 4)
  csv_refuses("data.csv: ", damaged)
end

-- ---------------------------------------------------------------- streams

TestCsvStream = {}

function TestCsvStream:test_a_stream_knows_what_reading_knows()
  local path = file("k,v,y\na,1,u\nb,2,v\na,3,u\n")
  local r = core.read_csv(path, {})
  local source, s = core.stream_csv(path, {})
  lu.assertEquals(type(source), "userdata")
  lu.assertNil(s.X)
  lu.assertEquals({ s.names, s.classes, s.task, s.target, s.parts, s.rows, s.cols },
    { r.names, r.classes, r.task, r.target, r.parts, 3, 3 })
end

--- All rows of a source, in blocks of a size that fits no buffer.
local function walk(source, n)
  local blocks, targets = {}, {}
  for first = 1, n, 777 do
    blocks[#blocks + 1], targets[#targets + 1] = core.read_rows(source, first,
      math.min(777, n - first + 1))
  end
  return blocks, targets
end

function TestCsvStream:test_every_walk_gives_the_rows_that_reading_gives()
  local lines = { "a,text,y" } -- 4 MB: several buffers
  for i = 1, 60000 do
    lines[#lines + 1] = ('%d.%d,"a, long\ntext with ""quotes"" in it: %d",%d'):format(i, i % 89,
      i % 7, i % 3)
  end
  local path = file(table.concat(lines, "\r\n"))
  local r = core.read_csv(path, { task = "classification" })
  local source, s = core.stream_csv(path, { task = "classification" })
  lu.assertEquals({ s.rows, s.cols, s.classes, s.names }, { 60000, 8, { 0, 1, 2 }, r.names })
  for _ = 1, 2 do
    local blocks, targets = walk(source, s.rows)
    local row = 1
    for k, X in ipairs(blocks) do
      lu.assertTrue(X == r.X:slice(row, row + X:rows() - 1))
      lu.assertTrue(targets[k] == r.y:slice(row, row + X:rows() - 1))
      row = row + X:rows()
    end
    lu.assertEquals(row, 60001)
  end
end

function TestCsvStream:test_a_missing_number_becomes_the_mean()
  local source, s = core.stream_csv(file("a,y\n1,0\n,0\n2,0\n6,0\n"), {})
  lu.assertEquals(column((core.read_rows(source, 1, s.rows))), { 1, 3, 2, 6 })
end

function TestCsvStream:test_words_for_missing_live_as_long_as_the_stream()
  local source, s = core.stream_csv(file("a,y\n1,0\nvoid,0\n3,0\n"), { missing = { "vo" .. "id" } })
  collectgarbage()
  for _ = 1, 1000 do local _ = ("x"):rep(100) end
  collectgarbage()
  lu.assertEquals(column((core.read_rows(source, 1, s.rows))), { 1, 2, 3 })
end

function TestCsvStream:test_numeric_labels_are_listed()
  local _, s = core.stream_csv(file("a,y\n1,3\n2,1\n3,3\n"), { task = "classification" })
  lu.assertEquals(s.classes, { 1, 3 })
end

function TestCsvStream:test_rows_left_out_are_not_counted()
  local _, s = core.stream_csv(file("a,y\n1,3\n,1\n3,3\n"), { missing_values = "row" })
  lu.assertEquals(s.rows, 2)
end

function TestCsvStream:test_what_is_wrong_is_said_at_once()
  refuses({ "data.csv: ", "row 2, line 3: it has 1 field" }, core.stream_csv, file "a,y\n1,2\n3\n",
    {})
  refuses({ "row 1, column 1 (a), line 2", "not finite" }, core.stream_csv, file "a,y\ninf,2\n", {})
  refuses("one path", core.stream_csv, { file "a,y\n1,2\n", file "a,y\n1,2\n" }, {})
  refuses("no such file", core.stream_csv, "/nowhere.csv", {})
end

-- ---------------------------------------------------------------- LIBSVM

TestLibsvm = {}

local function libsvm(text, options) return core.read_libsvm(file(text), options or {}) end

function TestLibsvm:test_zeros_are_left_out_of_the_text()
  local r = libsvm("1 1:0.5 3:2\n-1 2:1e-3 # a comment\n\n1 \r\n")
  lu.assertEquals(rows(r.X), { { 0.5, 0, 2 }, { 0, 1e-3, 0 }, { 0, 0, 0 } })
  lu.assertEquals({ column(r.y), r.task, r.classes, r.names, r.parts },
    { { 1, -1, 1 }, "classification", { -1, 1 }, { "1", "2", "3" }, { 3 } })
end

function TestLibsvm:test_labels_that_are_no_whole_numbers_are_a_regression()
  lu.assertEquals(libsvm("1.5 1:1\n2 1:2\n").task, "regression")
  lu.assertEquals(libsvm("1 1:1\n2 1:2\n", { task = "regression" }).task, "regression")
  local lines = {}
  for i = 1, 1001 do lines[i] = i .. " 1:1" end
  lu.assertEquals(libsvm(table.concat(lines, "\n")).task, "regression")
end

function TestLibsvm:test_columns_are_those_of_all_files_or_as_said()
  lu.assertEquals(core.read_libsvm({ file "1 1:1\n", file "2 4:1\n" }, {}).X:cols(), 4)
  lu.assertEquals(libsvm("1 1:1\n", { features = 6 }).X:cols(), 6)
  refuses({ "line 1, column 3", "'4:1'", "features" }, libsvm, "1 4:1\n", { features = 3 })
end

function TestLibsvm:test_bad_lines_are_named()
  refuses({ "data.libsvm: ", "line 2, column 7 (row 2)", "out of order" }, libsvm,
    "1 1:1\n1 2:1 1:1\n")
  refuses({ "whole number from 1" }, libsvm, "1 0:1\n")
  refuses({ "'2:x' is not index:value" }, libsvm, "1 2:x\n")
  refuses({ "'abc' is not a number", "label" }, libsvm, "abc 1:1\n")
  refuses({ "not finite" }, libsvm, "1 1:inf\n")
  refuses({ "no rows" }, libsvm, "# nothing\n")
  refuses({ "'features' got 0" }, libsvm, "1 1:1\n", { features = 0 })
  refuses({ "unknown option 'feature' (did you mean 'features'?)" }, libsvm, "1 1:1\n",
    { feature = 2 })
end

-- ---------------------------------------------------------------- IDX

TestIdx = {}

local function idx(code, dims, body)
  local head = string.char(0, 0, code, #dims)
  for _, dim in ipairs(dims) do head = head .. string.pack(">I4", dim) end
  return head .. body
end

function TestIdx:test_images_and_labels()
  local images, labels = file(idx(8, { 2, 2, 2 }, "\0\1\2\255\4\5\6\7")),
    file(idx(8, { 2 }, "\9\3"))
  local r = core.read_idx(images, labels, {})
  lu.assertEquals(rows(r.X), { { 0, 1, 2, 255 }, { 4, 5, 6, 7 } })
  lu.assertEquals({ column(r.y), r.classes, r.task, r.names },
    { { 9, 3 }, { 3, 9 }, "classification", { "p1", "p2", "p3", "p4" } })
  lu.assertNil(core.read_idx(images, nil, {}).y)
end

function TestIdx:test_scale_and_dtype()
  local X = core.read_idx(file(idx(8, { 1, 2 }, "\0\255")), nil,
    { scale = 1 / 255, dtype = "float32" }).X
  lu.assertEquals({ X:dtype(), X:get(1, 2) }, { "float32", 1 })
end

function TestIdx:test_all_types_of_numbers()
  for code, format in pairs { [8] = ">B", [9] = ">b", [0x0B] = ">i2", [0x0C] = ">i4", [0x0D] = ">f",
    [0x0E] = ">d" } do
    local value = code == 8 and 200 or -3
    lu.assertEquals(core.read_idx(file(idx(code, { 1, 1 }, string.pack(format, value))), nil,
      {}).X:get(1, 1), value)
  end
end

function TestIdx:test_parts_are_stacked()
  local part = file(idx(8, { 1, 2 }, "\1\2"))
  lu.assertEquals(core.read_idx({ part, part }, nil, {}).parts, { 1, 1 })
  refuses("its rows have 3 numbers", core.read_idx, { part, file(idx(8, { 1, 3 }, "\1\2\3")) }, nil,
    {})
end

function TestIdx:test_damage_is_refused()
  local good = idx(8, { 2, 2 }, "\1\2\3\4")
  refuses({ "data.idx: ", "wrong magic number" }, core.read_idx, file("\1" .. good:sub(2)), nil, {})
  refuses({ "wrong magic number" }, core.read_idx, file(idx(7, { 2 }, "\1\2")), nil, {})
  refuses({ "has 15 bytes", "says 16", "cut off" }, core.read_idx, file(good:sub(1, -2)), nil, {})
  refuses({ "has 17 bytes", "too long" }, core.read_idx, file(good .. "\0"), nil, {})
  -- packed, and far from what its header says
  local header = "\0\0\8\1\0\16\0\0"
  local short = file(header)
  assert(os.execute(("gzip -f '%s'"):format(short)))
  refuses({ ".gz: the packed file is too short", "1048584 bytes", "cut off" },
    core.read_idx, short .. ".gz", nil, {})
  os.remove(short .. ".gz")
  refuses({ "bytes where its header" }, core.read_idx, file(idx(8, { 4294967295, 4294967295 }, "")),
    nil, {})
  refuses({ "holds 1 labels", "2 images" }, core.read_idx, file(good), file(idx(8, { 1 }, "\1")),
    {})
  refuses({ "one number a row" }, core.read_idx, file(good), file(good), {})
  refuses({ "not finite" }, core.read_idx, file(idx(0x0E, { 1, 1 }, string.pack(">d", 1 / 0))), nil,
    {})
  refuses({ "2 files of images and 1 of labels" }, core.read_idx, { file(good), file(good) },
    file(good), {})
end

-- ---------------------------------------------------------------- NPY

TestNpy = {}

local function npy(type, order, shape, body, version)
  local header = ("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }"):format(type, order, shape)
  version = version or 1
  local prefix = version == 1 and 10 or 12
  header = header .. (" "):rep(63 - (prefix + #header) % 64) .. "\n"
  return "\x93NUMPY" .. string.char(version, 0) .. string.pack(version == 1 and "<I2" or "<I4",
    #header) .. header .. body
end

function TestNpy:test_every_type_and_byte_order()
  for descr, format in pairs { ["<f8"] = "<d", [">f8"] = ">d", ["<f4"] = "<f", [">f4"] = ">f",
    ["|i1"] = "b", ["<i2"] = "<i2", [">i4"] = ">i4",
    ["<i8"] = "<i8", ["|u1"] = "B", [">u2"] = ">I2", ["<u4"] = "<I4", [">u8"] = ">I8",
      ["|b1"] = "B" } do
    local X = core.read_npy(
      file(npy(descr, "False", "(1, 2)", string.pack(format, 1) .. string.pack(format, 0))))
    lu.assertEquals(rows(X), { { 1, 0 } })
    lu.assertEquals(X:dtype(), descr:sub(2) == "f4" and "float32" or "float64")
  end
end

function TestNpy:test_orders_dimensions_and_versions()
  local six = string.pack("<dddddd", 1, 2, 3, 4, 5, 6)
  for version = 1, 3 do
    lu.assertEquals(rows(core.read_npy(file(npy("<f8", "False", "(2, 3)", six, version)))),
      { { 1, 2, 3 }, { 4, 5, 6 } })
  end
  lu.assertEquals(rows(core.read_npy(file(npy("<f8", "True", "(2, 3)", six)))),
    { { 1, 3, 5 }, { 2, 4, 6 } })
  lu.assertEquals(rows(core.read_npy(file(npy("<f8", "False", "(2,)", six:sub(1, 16))))),
    { { 1 }, { 2 } })
  lu.assertEquals(rows(core.read_npy(file(npy("<f8", "False", "()", six:sub(1, 8))))), { { 1 } })
end

function TestNpy:test_damage_is_refused()
  local good = npy("<f8", "False", "(1, 2)", string.pack("<dd", 1, 2))
  refuses({ "data.npy: ", "no .npy file" }, core.read_npy, file("hello, world"))
  refuses("cut off", core.read_npy, file(good:sub(1, -2)))
  refuses("cut off", core.read_npy, file(good:sub(1, 40)))
  refuses("goes on after", core.read_npy, file(good .. "x"))
  refuses("3 dimensions", core.read_npy, file(npy("<f8", "False", "(1, 1, 1)", "12345678")))
  refuses("type '<f2'", core.read_npy, file(npy("<f2", "False", "(1, 1)", "12")))
  refuses("type '|O'", core.read_npy, file(npy("|O", "False", "(1, 1)", "12345678")))
  refuses("damaged", core.read_npy, file(npy("<f8", "os.exit()", "(1, 1)", "12345678")))
  refuses("damaged", core.read_npy, file(npy("<f8", "False", "(1, x)", "12345678")))
  refuses("cut off", core.read_npy, file(npy("<f8", "False", "(1000000, 1000000)", "12345678")))
  refuses("version 9", core.read_npy, file((good:gsub("NUMPY\1", "NUMPY\9"))))
end

function TestNpy:test_streams_want_c_order_and_equal_rows()
  local two = string.pack("<dddd", 1, 2, 3, 4)
  local x, y = file(npy("<f8", "False", "(2, 2)", two)), file(npy("<f8", "False", "(4,)", two))
  lu.assertEquals(rows((core.read_rows(core.stream_npy(x), 2, 1))), { { 3, 4 } })
  local X, Y =
    core.read_rows(core.stream_npy(x,
      file(npy(">i2", "False", "(2,)", string.pack(">i2i2", 7, -8)))), 1, 2)
  lu.assertEquals({ rows(X), rows(Y) }, { { { 1, 2 }, { 3, 4 } }, { { 7 }, { -8 } } })
  refuses("2 rows", core.stream_npy, x, y)
  refuses("Fortran order", core.stream_npy, file(npy("<f8", "True", "(2, 2)", two)))
  refuses("cut off", core.stream_npy, file(npy("<f8", "False", "(2, 3)", two)))
  refuses("folder", core.stream_npy, "/tmp")
end

-- ---------------------------------------------------------------- writing

TestWriting = {}

function TestWriting:test_npy_comes_back_the_same()
  for _, dtype in ipairs { "float64", "float32" } do
    local X = core.matrix({ { 1, -0.1, 3e300 / 1e290 }, { 4, 5, 6 } }, { dtype = dtype })
    local path = file ""
    core.write_npy(X, path)
    local back = core.read_npy(path)
    lu.assertEquals({ back:dtype(), rows(back) }, { X:dtype(), rows(X) })
    core.write_npy(X:t(), path)
    lu.assertEquals(rows(core.read_npy(path)), rows(X:t()))
  end
end

function TestWriting:test_csv_comes_back_the_same()
  local X = core.matrix { { 0.1, 1 / 3, -1e-300 }, { 2 ^ 53, 123456789.125, -7 } }
  local path = file ""
  core.write_csv(X, { "plain", 'with "quotes", and comma', "c" }, path)
  local r = core.read_csv(path, { target = false })
  lu.assertEquals({ rows(r.X), r.names }, { rows(X), { "plain", 'with "quotes", and comma', "c" } })
  refuses("2 names, and the matrix has 3 columns", core.write_csv, X, { "a", "b" }, path)
end

function TestWriting:test_save_goes_by_the_name()
  local X = core.matrix { { 1, 2.5 }, { 3, 4 } }
  local path = file ""
  made[#made + 1], made[#made + 2] = path .. ".csv", path .. ".npy"
  X:save(path .. ".csv")
  lu.assertEquals(support.read(path .. ".csv"), "1,2.5\n3,4\n")
  X:save(path .. ".npy")
  lu.assertTrue(core.read_npy(path .. ".npy") == X)
  refuses({ "matrix:save: ", ".txt", ".npy or .csv" }, X.save, X, path .. ".txt")
end

function TestWriting:test_nothing_is_left_where_it_cannot_be_written()
  local X = core.matrix { { 1 } }
  refuses("no such folder", core.write_npy, X, "/nowhere/at/all.npy")
  refuses("folder", core.write_npy, X, "/tmp")
  refuses("device", core.write_npy, X, "/dev/null")
  refuses("device", core.write_csv, X, nil, "/dev/full")
end

function TestWriting:test_a_file_that_is_too_large_leaves_the_old_one_as_it_was()
  local path = file "as it was"
  local script = file(([[
    package.path, package.cpath = %q, %q
    local core = require "scullery.core"
    local fine, message = pcall(core.write_npy, core.zeros(2000, 100), %q)
    print(fine, message)
  ]]):format(package.path, package.cpath, path))
  local program = arg[-1] or "lua5.4"
  local pipe = assert(io.popen(("ulimit -f 64; '%s' %s 2>&1"):format(program, script)))
  local said = pipe:read("a")
  pipe:close()
  lu.assertStrContains(said, "false")
  lu.assertStrContains(said, "nothing was left behind")
  lu.assertEquals(support.read(path), "as it was")
  local listing = assert(io.popen(("ls %s*"):format(path)))
  lu.assertEquals(listing:read("a"), path .. "\n")
  listing:close()
end

-- ---------------------------------------------------------------- real files, where they are

TestSets = {}

local folder = os.getenv "SCULLERY_DATA"

function TestSets:setUp() lu.skipIf(not folder, "SCULLERY_DATA is not set") end

function TestSets:test_adult_is_encoded_alike_in_both_parts()
  local r = core.read_csv({ folder .. "/adult.train.csv.gz", folder .. "/adult.test.csv.gz" }, {})
  lu.assertEquals({ r.X:cols(), r.parts, r.classes, r.target },
    { 108, { 32561, 16281 }, { "<=50K", ">50K" }, "income" })
end

function TestSets:test_kddcup10()
  local r = core.read_csv(folder .. "/kddcup10.csv.gz", { dtype = "float32" })
  lu.assertEquals({ r.X:rows(), r.X:cols(), #r.classes }, { 494021, 118, 23 })
end

function TestSets:test_letter_and_mnist()
  local letter = core.read_libsvm(folder .. "/letter.libsvm.gz", {})
  lu.assertEquals({ letter.X:rows(), letter.X:cols(), #letter.classes }, { 10500, 16, 26 })
  local mnist = folder .. "/mnist/t10k-"
  local digits = core.read_idx(mnist .. "images-idx3-ubyte.gz", mnist .. "labels-idx1-ubyte.gz", {})
  lu.assertEquals({ digits.X:rows(), digits.X:cols(), digits.classes },
    { 10000, 784, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 } })
end

local code = lu.LuaUnit.run()
for _, path in ipairs(made) do os.remove(path) end
os.exit(code, true)

--- CSV to numbers: what reading makes of good files, and what it says of bad ones.
-- luacheck: globals TestCsv TestCsvTypes TestCsvMissing TestCsvErrors TestCsvStream
-- luacheck: globals TestCsvLineEnds TestCsvHeader TestCsvDigits
-- luacheck: ignore 212/self
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local core = require "scullery.core"
local reading = require "reading"

local file, hex, rows, column, refuses = reading.file, reading.hex, reading.rows, reading.column,
  reading.refuses

local function csv(text, options) return core.read_csv(file(text), options or {}) end

local function csv_refuses(texts, text, options)
  local message = refuses(texts, csv, text, options)
  lu.assertStrContains(message, "data.csv: ")
end

-- ------------ tables

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
  for i = 1, 100001 do lines[#lines + 1] = "n" .. i .. ",0" end
  csv_refuses({ "column 1 (id)", "more than 100000 different texts", "skip" },
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
  lu.assertEquals(r.notes, { { what = "dropped", column = "", count = 2 } })
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
  csv_refuses("truncated, after 12 unpacked bytes, in line 4", packed:sub(1, #packed - 1))
end

function TestCsvErrors:test_a_damaged_gzip_is_refused()
  local damaged = packed:sub(1, #packed - 6) .. "\x00" .. packed:sub(#packed - 4)
  csv_refuses("data.csv: ", damaged)
end

-- ------------ line ends

TestCsvLineEnds = {}

-- Names and rows, the same whole, as a stream and by blocks.
local function read_alike(text)
  local path = file(text)
  local whole = core.read_csv(path, { target = false })
  local source, s = core.stream_csv(path, { target = false })
  lu.assertEquals({ s.names, rows((core.read_rows(source, 1, s.rows))) },
    { whole.names, rows(whole.X) })
  lu.assertEquals(rows(core.next_rows(core.csv_blocks(path, { like = whole.schema }))),
    rows(whole.X))
  return whole.names, rows(whole.X)
end

function TestCsvLineEnds:test_a_carriage_return_alone_ends_a_line()
  local names, X = read_alike("a,b\r1,2\r3,4\r")
  lu.assertEquals({ names, X }, { { "a", "b" }, { { 1, 2 }, { 3, 4 } } })
  for _, text in ipairs{ "a,b\r1,2\n3,4\r\n", "a,b\n1,2\r3,4", "\r\ra,b\r\r\n1,2\r\r\n3,4\r",
    "\xef\xbb\xbf\"a\",b\r1,2\r\r3,4\r" } do
    names, X = read_alike(text)
    lu.assertEquals({ names, X }, { { "a", "b" }, { { 1, 2 }, { 3, 4 } } })
  end
end

function TestCsvLineEnds:test_inside_quotes_it_is_text()
  for _, separator in ipairs{ ",", ";", "\t" } do
    local text = '"a\rb",c\r"x\ry",2\r"x\rz",4\r"x\ry",5\r'
    local names, X = read_alike((text:gsub(",", separator)))
    lu.assertEquals({ names, X },
      { { "a\rb=x\ry", "a\rb=x\rz", "c" }, { { 1, 0, 2 }, { 0, 1, 4 }, { 1, 0, 5 } } })
  end
end

function TestCsvLineEnds:test_lines_are_counted_by_them()
  csv_refuses("line 3: it has 1 field", "a,b\r1,2\r3\r4,5\r")
  csv_refuses("line 3 holds a zero byte", "a,b\r1,2\r\0,4\r")
end

function TestCsvLineEnds:test_many_buffers_of_them()
  local text = "a,b\r" .. ("1,2\r"):rep(1500000) .. "3,4\r"
  local path = file(text)
  lu.assertEquals(core.read_csv(path, {}).X:rows(), 1500001)
  lu.assertEquals(select(2, core.stream_csv(path, {})).rows, 1500001)
end

-- ------------ the header

TestCsvHeader = {}

function TestCsvHeader:test_it_is_checked_as_rows_are()
  for text, said in pairs{ ["caf\xe9,b\n1,2\n"] = "line 1 holds the byte e9, which is not UTF-8",
    ["\n\"b\"junk,c\n1,2\n"] = "header, column 1, line 2: text follows the closing quote",
    ["b,\"c\n1,2\n"] = "header, column 2, line 1: a quote opens and never closes",
    ["a\xed\xa0\x80,b\n1,2\n"] = "the byte ed" } do
    csv_refuses(said, text, { header = true })
    refuses(said, core.stream_csv, file(text), { header = true })
    refuses(said, core.csv_blocks, file(text), { header = true, like = csv("a,b\n1,2\n").schema })
    local good = text:gsub("junk", ""):gsub("\"c", "c"):gsub("[\x80-\xff]", "")
    refuses(said, core.read_csv, { file(good), file(text) }, { header = true })
  end
end

function TestCsvHeader:test_names_with_doubled_quotes_are_names()
  local text = '"a ""q"" x"\n1\n2\n'
  local there = csv(text, { target = false })
  lu.assertEquals(there.names, { 'a "q" x' })
  there.schema.header = false -- as of a file whose names an option said
  lu.assertEquals(rows(csv(text, { target = false, like = there.schema }).X), { { 1 }, { 2 } })
  refuses("is called 'a \"\"Q\"\" x' in its header", core.read_csv,
    { file(text), file(text:gsub("q", "Q")) }, { target = false })
end

-- Buffers of a stream are 2 MiB, and it looks at 64 lines first.
function TestCsvHeader:test_a_quoted_name_may_be_longer_than_a_buffer()
  local name = ("line\n"):rep(500000)
  local path = file(('"%s",b\n1,2\n3,4\n'):format(name))
  local _, s = core.stream_csv(path, {})
  lu.assertTrue(core.read_csv(path, {}).names[1] == name and s.names[1] == name)
end

-- ------------ digits

TestCsvDigits = {}

function TestCsvDigits:test_whole_numbers_beyond_two_to_the_53_are_told_everywhere()
  local text = "a,b,c,d,y\n" ..
    '9007199254740993,"9007199254740993",+9007199254740993,9007199254740992,1\n' ..
    '9007199254740992,"19007199254740993.",1,1,1\n'
  local function told(notes)
    local columns = {}
    for _, note in ipairs(notes) do columns[#columns + 1] = note.what .. " " .. note.column end
    return columns
  end
  local whole = csv(text, { header = true })
  lu.assertEquals(told(whole.notes), { "large a", "large b", "large c" })
  local path = file(text)
  local _, s = core.stream_csv(path, { header = true })
  lu.assertEquals(told(s.notes), told(whole.notes))
  local blocks = core.csv_blocks(path, { like = whole.schema })
  core.next_rows(blocks)
  lu.assertEquals(told(core.block_notes(blocks)), told(whole.notes))
end

function TestCsvDigits:test_a_number_may_have_thousands_of_digits()
  local ones = ("1"):rep(2500)
  local numbers = { "0." .. ones, ("0"):rep(3000) .. "7", "1" .. ("0"):rep(2200) .. "e-2200" }
  local X = csv("a\n" .. table.concat(numbers, "\n"), { target = false }).X
  lu.assertEquals(rows(X), { { 0.1111111111111111111 }, { 7 }, { 1 } })
  csv_refuses("not finite", "a\n1\n" .. ones .. "\n", { target = false })
  local text = ones .. "x"
  lu.assertEquals(csv("a\nx\n" .. text .. "\nx\n", { target = false }).names[1], "a=" .. text)
end

-- ------------ streams

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
  lu.assertEquals({ s.rows, #s.notes, s.notes[1].count }, { 2, 1, 1 })
end

function TestCsvStream:test_what_is_wrong_is_said_at_once()
  refuses({ "data.csv: ", "row 2, line 3: it has 1 field" }, core.stream_csv, file "a,y\n1,2\n3\n",
    {})
  refuses({ "row 1, column 1 (a), line 2", "not finite" }, core.stream_csv, file "a,y\ninf,2\n", {})
  refuses("one path", core.stream_csv, { file "a,y\n1,2\n", file "a,y\n1,2\n" }, {})
  refuses("no such file", core.stream_csv, "/nowhere.csv", {})
end

reading.run()

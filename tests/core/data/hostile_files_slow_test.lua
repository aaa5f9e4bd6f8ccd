-- Files that nobody means well with: what they say of their sizes is checked before it is used, no
-- wait is deaf to Ctrl-C, and nothing takes more than its share of time.
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
-- luacheck: globals TestZeroBytes TestWidth TestSizes TestWaits TestGzip
-- luacheck: ignore 212/self
local lu = require "luaunit"
local core = require "scullery.core"
local support = require "support"

local fails, quote = support.fails, support.quote
local made = {}

local function file(bytes)
  made[#made + 1] = support.write(nil, bytes)
  return made[#made]
end

--- A file packed by gzip.
local function packed(bytes)
  local path = file(bytes)
  support.shell("gzip -f " .. quote(path))
  made[#made] = path .. ".gz"
  return made[#made]
end

-- ------------ zero bytes, long words

TestZeroBytes = {}

function TestZeroBytes:test_a_zero_byte_is_refused_before_any_field_is_compared()
  for _, text in ipairs{ "a\n?\0z\n", "a,b\n1,N\0A\n", "?\0,a\n1,2\n", "a\n1\n\n3\0" } do
    fails({ "zero byte", "line " }, core.read_csv, file(text), {})
    fails({ "zero byte", "line " }, core.stream_csv, file(text), {})
  end
  fails({ "line 4 holds a zero byte" }, core.read_csv, file("a\n1\n\n3\0"), {})
  fails({ "line 2 holds a zero byte" }, core.read_libsvm, file("1 1:1\n\0"), {})
end

function TestZeroBytes:test_a_zero_byte_far_behind_is_told_by_its_line()
  local text = "a,b\n" .. ("1,2\n"):rep(1000000)
  for _, read in ipairs{ core.read_csv, core.stream_csv } do
    fails({ "line 1000002 holds a zero byte" }, read, file(text .. "1,\0\n"), {})
    fails({ "line 1000002 holds a zero byte" }, read, packed(text .. "1,\0\n"), {})
  end
end

function TestZeroBytes:test_a_word_for_missing_may_be_longer_than_any_field()
  local r = core.read_csv(file("a,b\n1,2\nx,3\nxy,4\n"),
    { missing = { ("x"):rep(100000), "xyz", "xy", "x" } })
  lu.assertEquals({ r.X:get(1, 1), r.X:get(2, 1), r.X:get(3, 1) }, { 1, 1, 1 })
end

function TestZeroBytes:test_a_word_for_missing_is_the_whole_field()
  local r = core.read_csv(file("a,b\nxyz,2\nx,3\nxyz,4\nxyz,5\n"), { missing = { "xy" } })
  lu.assertEquals(r.names, { "a=x", "a=xyz" })
end

-- ------------ many columns

TestWidth = {}

local function wide(columns, rows, field)
  local lines = {}
  for i = 0, rows do
    local fields = {}
    for j = 1, columns do fields[j] = field(i, j) end
    lines[i + 1] = table.concat(fields, ",")
  end
  return table.concat(lines, "\n") .. "\n"
end

-- Quadratic work in the columns takes minutes here; the limit is far from what it takes.
local function in_time(seconds, f, ...)
  local before = os.clock()
  local result = table.pack(f(...))
  lu.assertTrue(os.clock() - before < seconds, "too slow")
  return table.unpack(result, 1, result.n)
end

function TestWidth:test_texts_in_many_columns()
  local path = file(wide(20000, 20, function(i, j)
    return i == 0 and "c" .. j or "v" .. (i * j) % 3
  end))
  local r = in_time(30, core.read_csv, path, {})
  lu.assertEquals(#r.schema.columns, 19999)
  lu.assertEquals(in_time(30, core.read_csv, path, { like = r.schema }).X, r.X)
  local _, s = in_time(30, core.stream_csv, path, {})
  lu.assertEquals(s.names, r.names)
end

function TestWidth:test_columns_in_another_order_and_columns_of_one_name()
  local there = core.read_csv(file(wide(20000, 2, function(i, j)
    return i == 0 and "c" .. j or tostring(i * j)
  end)), { target = false })
  local back = in_time(30, core.read_csv, file(wide(20000, 2, function(i, j)
    return i == 0 and "c" .. 20001 - j or tostring(i * (20001 - j))
  end)), { target = false, like = there.schema })
  lu.assertEquals(back.X, there.X)
  local alike = file(wide(20000, 2, function(i, j) return i == 0 and "c" or tostring(i * j) end))
  local _, said = in_time(30, pcall, core.read_csv, alike, { target = false })
  lu.assertStrContains(said, "columns 1 and 2 are both called 'c'")
end

function TestWidth:test_first_texts_far_behind()
  local path = file(wide(2000, 300, function(i, j)
    return i == 0 and "c" .. j or i < 300 and "" or "v" .. j % 3
  end))
  lu.assertEquals(in_time(60, core.read_csv, path, { target = false }).X:cols(), 4000)
end

function TestWidth:test_options_that_list_all_columns()
  local names = {}
  for j = 1, 20000 do names[j] = "c" .. j end
  local path = file(wide(20000, 2, function(i, j)
    return i == 0 and "c" .. j or tostring(i * j)
  end))
  local r = in_time(30, core.read_csv, path, { levels = names, numeric = names, target = false })
  lu.assertEquals(r.X:cols(), 40000)
  names[1], names[20001] = "nowhere", nil
  fails({ "'skip'", "'nowhere'" }, core.read_csv, path, { skip = names })
end

function TestWidth:test_a_header_longer_than_a_buffer()
  local names, values = {}, {}
  for j = 1, 40000 do names[j], values[j] = ("n"):rep(100) .. j, tostring(j) end
  local text = table.concat(names, ",") .. "\n" .. table.concat(values, ",") .. "\n"
  lu.assertTrue(#text > 4e6)
  local path = file(text)
  local r = core.read_csv(path, {})
  local source, s = core.stream_csv(path, {})
  lu.assertEquals({ s.names, s.target, s.rows, s.cols }, { r.names, r.target, 1, 39999 })
  lu.assertEquals((core.read_rows(source, 1, 1)), r.X)
  local blocks = core.csv_blocks(path, { like = r.schema })
  lu.assertEquals((core.next_rows(blocks)), r.X)
end

function TestWidth:test_more_empty_lines_than_a_buffer_before_the_first()
  local path = file(("\n"):rep(3000000) .. "a,b\n1,2\n")
  local source, s = core.stream_csv(path, {})
  lu.assertEquals({ s.names, s.target, s.rows }, { { "a" }, "b", 1 })
  lu.assertEquals((core.read_rows(source, 1, 1)):get(1, 1), 1)
end

function TestWidth:test_values_that_make_the_choice_of_a_median_slow()
  local n = 100000 -- every middle element is the least of what is left
  local order, low = {}, {}
  for i = 1, n do order[i] = i end
  for i = 1, n do
    local middle = i + (n - i) // 2
    order[i], order[middle] = order[middle], order[i]
    low[order[i]] = i
  end
  local lines = { "a,y", ",1" }
  for i = 1, n do lines[#lines + 1] = low[i] .. ",1" end
  local r = in_time(60, core.read_csv, file(table.concat(lines, "\n")), {})
  lu.assertEquals(r.X:get(1, 1), (n + 1) / 2)
end

-- ------------ sizes

TestSizes = {}

local function npy(shape, order, type, body)
  local header = ("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }"):format(type or "<f8",
    order or "False", shape)
  return "\x93NUMPY\1\0" .. string.pack("<I2", #header) .. header .. (body or "12345678")
end

function TestSizes:test_one_index_of_a_small_file_asks_for_no_memory()
  fails({ "data.libsvm", "2147483647", "17.2 GB", "features" }, core.read_libsvm,
    file("1 2147483647:1"), { sparse = false })
  fails({ "data.libsvm", "features" }, core.read_libsvm, file("1 33000000:1"), { sparse = false })
  lu.assertEquals(core.read_libsvm(file("1 100000:1\n"), {}).X:cols(), 100000)
  lu.assertEquals(core.read_libsvm(file("1 3000000:1"),
    { features = 3000000, sparse = false }).X:cols(), 3000000)
end

function TestSizes:test_npy_shapes()
  for _, shape in ipairs{ "(1000000000000, 1)", "(1, 1125899906842624)", "(4294967296, 4294967296)",
    "(9223372036854775807, 2)", "(18446744073709551615,)", "(99999999999999999999, 1)",
    "(1000000000000000000, 0)", "(0, 1000000000000000000)", "(-1, 1)", "(1, -1)", "(1.0, 1)",
    "(1e3,)", "((1,), 1)", "(1", "1", "(,)", "(1 1)", "(True,)" } do
    for _, order in ipairs{ "True", "False" } do
      fails({ "data.npy" }, core.read_npy, file(npy(shape, order)))
      fails({ "data.npy" }, core.stream_npy, file(npy(shape, order)))
    end
  end
  for _, type in ipairs{ "|O", "|V8", "<U4", "<c16", "<f16", "<m8[ns]", "f8", "", "<f8f8" } do
    fails({ "data.npy", "type" }, core.read_npy, file(npy("(1, 1)", "False", type)))
  end
  lu.assertEquals(core.read_npy(file(npy("(0, 3)", "False", "<f8", ""))):rows(), 0)
end

function TestSizes:test_npy_headers_that_lie_about_their_length()
  local good = npy("(1, 1)")
  for _, length in ipairs{ 0, 1, 9, 65535 } do
    fails({ "data.npy" }, core.read_npy,
      file(good:sub(1, 8) .. string.pack("<I2", length) .. good:sub(11)))
  end
  fails({ "data.npy", "damaged" }, core.read_npy, file("\x93NUMPY\2\0\255\255\255\255" .. good))
end

function TestSizes:test_idx_sizes()
  local function idx(code, ...)
    local bytes = string.char(0, 0, code, select("#", ...))
    for _, dim in ipairs{ ... } do bytes = bytes .. string.pack(">I4", dim) end
    return file(bytes .. "12345678")
  end
  local most = 4294967295
  fails({ "data.idx", "cut off" }, core.read_idx, idx(14, most, most), nil, {})
  fails({ "data.idx", "absurd" }, core.read_idx, idx(14, most, most, most), nil, {})
  fails({ "data.idx" }, core.read_idx, idx(14, most, 0, most, most, most), nil, {})
  fails({ "data.idx", "cut off" }, core.read_idx, idx(8, 1, 1, 1, 1, 1, 1, 1, 9), nil, {})
  fails({ "data.idx", "magic" }, core.read_idx, idx(8, 1, 1, 1, 1, 1, 1, 1, 1, 1), nil, {})
end

function TestSizes:test_codes_sizes()
  for _, header in ipairs{ { 2147483647, 2147483647, 2 }, { 2147483647, 1, 1 }, { 1, 0, 2 },
    { -1, 1, 2 }, { 1, 1, -1 } } do
    local path = file("SCLCODE1" .. string.pack("<i8i8i8", table.unpack(header)))
    fails({ path }, core.codes_read, path)
  end
end

-- ------------ gzip

TestGzip = {}

-- The bytes of a text in one gzip part.
local function part(text) return support.read(packed(text)) end

local by_schema = { like = { format = "csv", missing = {},
  columns = { { name = "a", kind = "number" }, { name = "b", kind = "number" } } } }

-- All rows of blocks.
local function rows_of(next_one, blocks)
  local rows = 0
  for X in function() return next_one(blocks) end do rows = rows + X:rows() end
  return rows
end

-- Whoever reads rows: how many there are of two columns.
local row_readers = {
  csv = {
    function(path) return core.read_csv(path, { target = false }).X:rows() end,
    function(path) return select(2, core.stream_csv(path, { target = false })).rows end,
    function(path) return rows_of(core.next_rows, core.csv_blocks(path, by_schema)) end
  },
  libsvm = {
    function(path) return core.read_libsvm(path, {}).X:rows() end,
    function(path) return rows_of(core.next_rows, core.libsvm_blocks(path, 2)) end
  },
  npy = {
    function(path) return core.read_npy(path):rows() end,
    function(path) return rows_of(core.next_rows, core.npy_blocks(path, 2)) end
  },
  idx = { function(path) return core.read_idx(path, nil, {}).X:rows() end }
}

local npy_header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }\n"
local halves = {
  csv = { "a,b\n1,2\n", "3,4\n" },
  libsvm = { "1 1:1 2:2\n", "2 1:3 2:4\n" },
  npy = { "\x93NUMPY\1\0" .. string.pack("<s2", npy_header) .. "\1\2", "\3\4" },
  idx = { "\0\0\8\2\0\0\0\2\0\0\0\2\1\2", "\3\4" }
}

local function each_reader(f)
  for format, readers in pairs(row_readers) do
    local one, two = part(halves[format][1]), part(halves[format][2])
    for _, read in ipairs(readers) do f(read, one, two) end
  end
end

function TestGzip:test_parts_follow_one_another_and_zeros_fill_the_end()
  each_reader(function(read, one, two)
    lu.assertEquals(read(file(one .. two)), 2)
    lu.assertEquals(read(file(one .. two .. ("\0"):rep(700000))), 2)
  end)
end

function TestGzip:test_what_else_follows_a_part_is_refused_at_its_offset()
  each_reader(function(read, one, two)
    local said = { ": the gzip file is damaged", "from offset " .. #one .. " on" }
    fails(said, read, file(one .. "\x1f\x8a" .. two:sub(3))) -- a flipped bit
    fails(said, read, file(one .. "\x1f")) -- cut off after a byte
    fails(said, read, file(one .. "appended\n"))
    -- gzip -dc says "trailing garbage ignored", and loses the second part
    fails({ "from offset " .. #one + 3 .. " on" }, read, file(one .. "\0\0\0" .. two))
    fails({ "from offset " .. #one + #two + 600000 .. " on" }, read,
      file(one .. two .. ("\0"):rep(600000) .. "x"))
    fails({ "truncated" }, read, file(one .. two:sub(1, 2)))
    fails({ "truncated" }, read, file(one .. two:sub(1, -3)))
    fails({ "damaged" }, read, file(one .. two:sub(1, -9) .. "\1" .. two:sub(-7)))
  end)
end

-- 40 parts of 32 MiB: the last four bytes of the file speak of the last part alone.
local function bomb(line)
  local zeros = part(line:rep((1 << 25) // #line))
  return file(zeros:rep(40)), #zeros * 40
end

function TestGzip:test_what_unpacks_to_far_more_than_the_file_is_refused_before_it_is_in_memory()
  for line, read in pairs{ ["1,2\n"] = core.read_csv, ["1 1:2\n"] = core.read_libsvm } do
    local path, size = bomb(line)
    lu.assertTrue(size < 4e6)
    core.memory(true)
    fails({ path, "gzip file unpacks to", "option 'unpacked'" }, read, path, {})
    fails({ "2 kB", "option 'unpacked'" }, read, path, { unpacked = 2000 })
    local _, most = core.memory()
    lu.assertTrue(most < 6 * 200 * size + (1 << 28), most) -- rows of one number: 28 bytes for 6
  end
end

-- The last four bytes of what is left of a truncated file say any size: here more than the bound.
function TestGzip:test_a_truncated_file_is_no_bomb_whatever_its_last_bytes_say()
  local noise, tried = {}, 0
  for k = 1, 4000 do noise[k] = ("%d,%d\n"):format(k * 7919 % 9973, k * 104729 % 9949) end
  local whole = part(table.concat(noise))
  for at = 200, 2000, 40 do
    if string.unpack("<I4", whole, at - 3) > 1 << 27 then
      tried = tried + 1
      fails({ "truncated" }, core.read_csv, file(whole:sub(1, at)), {})
    end
  end
  lu.assertTrue(tried > 20, tried)
end

function TestGzip:test_the_message_says_the_bound()
  local path = file(part(("1,2\n"):rep(1000)))
  fails({ "and the bound is 7 bytes; option 'unpacked' sets another, such as unpacked = " },
    core.read_csv, path, { unpacked = 7 })
  fails({ "and the bound is 1 byte; option" }, core.read_csv, path, { unpacked = 1 })
end

function TestGzip:test_a_size_that_the_file_tells_is_refused_before_memory_is_taken()
  local path = file(part(("1,2\n"):rep(35000000)))
  core.memory(true)
  fails({ "or more, and the bound is 134 MB", "option 'unpacked'" }, core.read_csv, path, {})
  local header = ("{'descr': '|u1', 'fortran_order': False, 'shape': (140000000, 1), }\n")
  fails({ "unpacks to 140", "option 'unpacked'" }, core.read_npy,
    file(part("\x93NUMPY\1\0" .. string.pack("<s2", header) .. ("\0"):rep(140000000))))
  fails({ "unpacks to 140", "option 'unpacked'" }, core.read_idx,
    file(part("\0\0\8\1" .. string.pack(">I4", 140000000) .. ("\0"):rep(140000000))), nil, {})
  local _, most = core.memory()
  lu.assertTrue(most < 1 << 24, most)
end

function TestGzip:test_the_option_admits_more_and_plain_files_have_no_bound()
  local path = file(part(("1,2\n"):rep(1000)))
  fails({ "option 'unpacked'" }, core.read_csv, path, { unpacked = 3999 })
  lu.assertEquals(core.read_csv(path, { unpacked = 4000 }).X:rows(), 1000)
  lu.assertEquals(core.read_csv(file(("1,2\n"):rep(1000)), { unpacked = 10 }).X:rows(), 1000)
  lu.assertEquals(select(2, core.stream_csv(path, { unpacked = 10 })).rows, 1000)
  local sc = require "scullery"
  for _, read in ipairs{ sc.data.libsvm, sc.data.npy } do
    fails({ "option 'unpacked'" }, read, path, { unpacked = 10 })
    fails({ "option 'unpacked' got 0" }, read, path, { unpacked = 0 })
  end
  fails({ "option 'unpacked'" }, sc.data.idx, file(part(halves.idx[1] .. halves.idx[2])),
    { unpacked = 10 })
end

-- A megabyte packs to about one thousandth: what it unpacks to has to fit in what is left.
function TestGzip:test_what_unpacks_to_more_than_memory_is_refused()
  local sanitized = (os.getenv("SCULLERY_SANITIZE") or "") ~= ""
  lu.skipIf(sanitized, "a sanitizer takes the address space that the limit is on")
  local path = os.tmpname()
  support.shell(("{ echo a,b; yes 1,2 | head -c 3000000000; } | gzip -1 >%s"):format(quote(path)))
  made[#made + 1] = path
  local status, _, err = support.shell(
    ("ulimit -v 1500000; timeout -k 1 100 %s -e %s"):format(quote(support.binary),
      quote(("require('scullery.core').read_csv(%q, { unpacked = 1e10 })"):format(path))))
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "does not fit in memory")
  lu.assertStrContains(err, "stream = true")
end

-- ------------ waits

TestWaits = {}

-- Run a script and interrupt it: it ends by itself, with the word for it.
local function interrupted(script, before)
  local status, _, err = support.shell(
    (before or "") .. ("timeout -k 20 -s INT 1 %s -e %s"):format(quote(support.binary),
      quote(script)))
  lu.assertEquals(status, 124, "it had to be killed, or ended before the signal: " .. err)
  lu.assertStrContains(err, "interrupted!")
end

local readers = { "c.read_csv(%q, {})", "c.csv_blocks(%q, { like = like })",
  "c.read_libsvm(%q, {})", "c.read_npy(%q)", "c.read_idx(%q, nil, {})", "c.codes_read(%q)" }

local function script(reader, path)
  return ("local c = require 'scullery.core'; local like = { format = 'csv', missing = {}, \z
    columns = { { name = 'a', kind = 'number' } } }; "):gsub("%s+", " ") .. reader:format(path)
end

function TestWaits:test_a_pipe_that_nobody_writes_to()
  local path = os.tmpname()
  os.remove(path)
  support.shell("mkfifo " .. quote(path))
  for _, reader in ipairs(readers) do interrupted(script(reader, path)) end
  os.remove(path)
end

function TestWaits:test_a_terminal_at_which_nobody_types()
  interrupted(script(readers[1], "/dev/ptmx"))
end

function TestWaits:test_a_pipe_that_never_ends()
  interrupted(script(readers[1], "-"), "yes 1,2 | ")
  interrupted(script(readers[3], "-"), "yes 1 1:1 | ")
end

local function read_npy(path) return core.read_npy(path) end

function TestWaits:test_a_device_that_never_ends_is_refused()
  for _, reader in ipairs{ core.read_csv, core.read_libsvm, read_npy, core.codes_read } do
    fails({ "/dev/zero" }, reader, "/dev/zero", {})
  end
  fails({ "/dev/zero" }, core.read_idx, "/dev/zero", nil, {})
  fails({ "/dev/zero" }, core.stream_csv, "/dev/zero", {})
  fails({ "/dev/zero" }, core.stream_npy, "/dev/zero")
end

function TestWaits:test_folders_are_refused()
  for _, reader in ipairs{ core.read_csv, core.stream_csv, core.read_libsvm, read_npy,
    core.codes_read } do
    fails({ "folder" }, reader, "/tmp", {})
  end
  fails({ "folder" }, core.stream_npy, "/tmp")
end

local status = lu.LuaUnit.run()
for _, path in ipairs(made) do os.remove(path) end
os.exit(status)

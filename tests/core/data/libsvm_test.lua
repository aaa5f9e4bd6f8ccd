--- LIBSVM text: sparse and dense rows, whole, in blocks and on any number of threads give the same
-- numbers, and bad lines of large files are named.
-- luacheck: globals TestRows TestNumbers TestBlocks TestErrors
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local reading = require "reading"

local file, refuses = reading.file, reading.refuses

-- n rows of d columns as a dense matrix, labels, and the text, with what a file may hold beside
-- them: comments, empty lines, blanks, carriage returns, stored zeros, empty rows.
local function example(n, d, share, seed)
  local U, V = sc.rand{ n, d, seed = seed }, sc.randn{ n, d, seed = seed + 1 }
  local X, y, lines = sc.zeros(n, d), sc.zeros(n, 1), {}
  for i = 1, n do
    local parts = { ("%d"):format(i % 3 - 1) }
    for j = 1, d do
      local chosen = U:get(i, j) < share and i % 17 ~= 0
      if chosen then X:set(i, j, V:get(i, j)) end
      if chosen then parts[#parts + 1] = ("%d:%.17g"):format(j, V:get(i, j)) end
      if not chosen and (i + j) % 40 == 0 then parts[#parts + 1] = ("%d:0"):format(j) end
    end
    y:set(i, 1, i % 3 - 1)
    if i % 11 == 0 then lines[#lines + 1] = "# 3:4 a comment" end
    if i % 13 == 0 then lines[#lines + 1] = "" end
    lines[#lines + 1] = table.concat(parts, i % 7 == 0 and " \t" or " ")
      .. (i % 5 == 0 and " # 1:1" or "") .. (i % 4 == 0 and "\r" or "")
  end
  return X, y, table.concat(lines, "\n") .. (seed % 2 == 0 and "\n" or "")
end

TestRows = {}

function TestRows.test_sparse_and_dense_rows_are_the_same()
  for seed = 1, 6 do
    local X, y, text = example(60 * seed, 30, seed / 20, seed)
    local path = file(text)
    for _, dtype in ipairs{ "float64", "float32" } do
      local o = { features = 30, dtype = dtype, task = "classification" }
      o.sparse = true
      local sparse = core.read_libsvm(path, o)
      o.sparse = false
      local dense = core.read_libsvm(path, o)
      lu.assertTrue(sparse.X.sparse)
      lu.assertFalse(dense.X.sparse)
      lu.assertTrue(dense.X == X:astype(dtype))
      lu.assertTrue(sparse.X == dense.X)
      lu.assertTrue(sparse.X:min() < 0 and sparse.X:nnz() < 60 * seed * 30)
      lu.assertTrue(sparse.y == y and dense.y == y)
      lu.assertEquals(sparse.classes, { -1, 0, 1 })
      lu.assertNil(sparse.names)
      lu.assertEquals(#dense.names, 30)
    end
  end
end

-- The rows become sparse by themselves where less than a tenth of the numbers is not 0.
function TestRows.test_sparse_by_itself()
  local function read(text, o) return core.read_libsvm(file(text), o or {}).X end
  lu.assertTrue(read("1 11:1\n").sparse)
  lu.assertFalse(read("1 10:1\n").sparse)
  lu.assertFalse(read("1 11:1\n", { sparse = false }).sparse)
  lu.assertTrue(read("1 1:1\n", { sparse = true }).sparse)
  lu.assertEquals(read("1 11:1 20:0\n"):nnz(), 1) -- a zero in the file is not stored
  lu.assertEquals(read("1 11:1 20:0\n"):cols(), 20)
  lu.assertTrue(read("1 2147483647:1\n").sparse)
  lu.assertEquals(read("1 2147483647:5\n"):get(1, 2147483647), 5)
end

function TestRows.test_indices_from_0()
  local path = file "1 0:2 3:4\n0 2147483646:1\n"
  local X = core.read_libsvm(path, { base = 0 }).X
  lu.assertEquals({ X:cols(), X:get(1, 1), X:get(1, 4), X:get(2, 2147483647) },
    { 2147483647, 2, 4, 1 })
  refuses({ "line 1, column 3 (row 1)", "'0:2'", "index 0", "base = 0" }, core.read_libsvm, path,
    {})
  refuses({ "whole number from 0 to 2147483646" }, core.read_libsvm, file "1 2147483647:1\n",
    { base = 0 })
  refuses({ "'base' got 2" }, core.read_libsvm, path, { base = 2 })
  refuses({ "option features" }, core.read_libsvm, file "1 3:1\n", { base = 0, features = 3 })
end

-- A model, and files read like its rows, keep what indices count from.
function TestRows.test_models_of_indices_from_0()
  local lines = {}
  for i = 1, 60 do lines[i] = ("%d 0:%d 2:%d"):format(2 * i, i, i % 7) end
  local path = file(table.concat(lines, "\n"))
  local ds = sc.data.libsvm(path, { base = 0, task = "regression" })
  lu.assertTrue(sc.data.libsvm(path, { like = ds, task = "regression" }).X == ds.X)
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-9 } }:fit(ds)
  local saved = os.tmpname()
  p:save(saved)
  local pipe = assert(io.popen(("'%s' predict '%s' '%s' --format libsvm --no-header 2>&1"):format(
    os.getenv "SCULLERY_BINARY" or "build/scullery", saved, path)))
  local first = pipe:read("l")
  pipe:close()
  os.remove(saved)
  lu.assertAlmostEquals(tonumber(first), 2, 1e-3)
end

function TestRows.test_several_files_and_gzip()
  local X, y, text = example(50, 8, 0.5, 2)
  local Z, z, more = example(30, 8, 0.5, 3)
  local packed = file(more)
  assert(os.execute(("gzip -n '%s'"):format(packed)))
  local r = core.read_libsvm({ file(text), packed .. ".gz" }, { sparse = true })
  os.remove(packed .. ".gz")
  lu.assertTrue(r.X == sc.vcat(X, Z):slice(1, 80, 1, r.X:cols()))
  lu.assertTrue(r.y == sc.vcat(y, z))
  lu.assertEquals(r.parts, { 50, 30 })
  refuses({ "no rows" }, core.read_libsvm, { file(text), file "# nothing\n" }, {})
end

-- Every number is the one that Lua reads from the same digits.
TestNumbers = {}

function TestNumbers.test_all_forms()
  local words = { "1", "+2", "-3", "0.5", ".5", "5.", "-.25", "1e3", "1E-3", "1.5e+10", "1e-320",
    "123456789", "12345678.12345678", "0.1234567890123456", "0.12345678901234567",
    "9007199254740993", "9007199254740992", "179769313486231570000000000000000000000", "1e308",
    "0.000000000000000000000000000001", "00000000000000000000000012", "3.0000000000000000000001",
    "4.9406564584124654e-324", "1234567890123456789", "99999999999999999" }
  for k, number in ipairs{ 1 / 3, 2 / 3, 1e-5 / 7, 1e5 / 7, math.pi * 1e15 } do
    for digits = 1, 17 do
      words[#words + 1] = ("%%.%dg"):format(digits):format(number)
      words[#words + 1] = ("%%.%df"):format(digits):format(k * number)
    end
  end
  local parts = { "7.25" }
  for j, word in ipairs(words) do parts[#parts + 1] = ("%d:%s"):format(j, word) end
  local r = core.read_libsvm(file(table.concat(parts, " ")), { sparse = true })
  lu.assertEquals(r.y[1], 7.25)
  for j, word in ipairs(words) do
    lu.assertEquals(r.X:get(1, j), tonumber((word:gsub("^%+", ""))) + 0.0, word)
  end
end

TestBlocks = {}

-- Some megabytes: several blocks, each of several pieces on threads.
local function large()
  local lines, X = {}, sc.rand{ 40000, 8, seed = 5 }
  for i = 1, X:rows() do
    local at = (i * 7919) % 90000
    local parts = { i % 2 == 0 and "1" or "2" }
    for j = 1, 8 do
      at = at + 1 + math.floor(1000 * X:get(i, j))
      parts[#parts + 1] = ("%d:%.15g"):format(at, X:get(i, j))
    end
    lines[i] = table.concat(parts, " ")
  end
  return lines
end

function TestBlocks.test_threads_and_streams_give_the_same_rows()
  local path, before = file(table.concat(large(), "\n")), core.threads()
  core.threads(1)
  local one = core.read_libsvm(path, {})
  core.threads(3)
  local three = core.read_libsvm(path, {})
  lu.assertTrue(one.X.sparse)
  lu.assertEquals(one.X:nnz(), 8 * 40000)
  lu.assertTrue(one.X == three.X and one.y == three.y)
  local source, about = core.stream_libsvm(path, {})
  lu.assertEquals({ core.source_size(source) }, { 40000, one.X:cols(), 1 })
  lu.assertEquals(about.classes, { 1, 2 })
  for _ = 1, 2 do
    for first = 1, 40000, 10000 do
      local X, y = core.read_rows(source, first, 100)
      lu.assertTrue(one.X:slice(first, first + 99) == X)
      lu.assertTrue(one.y:slice(first, first + 99) == y)
    end
  end
  local blocks, at = core.libsvm_blocks(path, one.X:cols()), 0
  local X = core.next_rows(blocks)
  while X do
    lu.assertTrue(X.sparse)
    lu.assertTrue(X == one.X:slice(at + 1, at + X:rows()))
    at, X = at + X:rows(), core.next_rows(blocks)
  end
  lu.assertEquals(at, 40000)
  core.threads(before)
end

function TestBlocks.test_dense_streams()
  local X, y, text = example(90, 6, 0.6, 4)
  local source = core.stream_libsvm(file(text), {})
  for _ = 1, 2 do
    local Z, z = core.read_rows(source, 1, 90)
    lu.assertTrue(Z == X and z == y)
  end
end

TestErrors = {}

function TestErrors.test_places_in_large_files()
  local lines = large()
  lines[33333] = "1 5:1 5:2"
  lines[12345] = "\n# a comment\n" .. lines[12345]
  local text = table.concat(lines, "\n")
  refuses({ "line 33335, column 7 (row 33333)", "'5:2'", "the index of the pair before it" },
    core.read_libsvm, file(text), {})
  refuses({ "line 33335, column 7 (row 33333)" }, core.stream_libsvm, file(text), {})
  lines[20000] = "1 3:x"
  refuses({ "line 20002, column 3 (row 20000)", "'3:x' is not index:value" }, core.read_libsvm,
    file(table.concat(lines, "\n")), {})
end

function TestErrors.test_bad_words()
  local function bad(words, text, o) refuses(words, core.read_libsvm, file(text), o or {}) end
  bad({ "out of order", "'2:1'" }, "1 3:1 2:1\n")
  bad({ "'1:nan' is not finite" }, "1 1:nan\n")
  bad({ "'1:1e999' is not finite" }, "1 1:1e999\n")
  bad({ "'1:1e300' is too large for float32" }, "1 1:1e300\n", { dtype = "float32" })
  bad({ "'1:2:3' is not index:value" }, "1 1:2:3\n")
  bad({ "'1:' is not index:value" }, "1 1:\n")
  bad({ "'1:0x10' is not index:value" }, "1 1:0x10\n")
  bad({ "'qid:1'", "in digits" }, "1 qid:1\n")
  bad({ "'2147483648:1'", "from 1 to 2147483647" }, "1 2147483648:1\n")
  bad({ "'18446744073709551617:1'", "in digits" }, "1 18446744073709551617:1\n")
  bad({ "'1,2' is not a number" }, "1,2 1:1\n")
  bad({ "'nan' is not a number" }, "nan 1:1\n")
  bad({ "line 2 holds a zero byte" }, "1 1:1\n\0")
  bad({ "no row has an index:value", "features" }, "1\n2\n")
  bad({ "largest index is 2147483647", "17.2 GB", "sparse = true" }, "1 2147483647:1",
    { sparse = false })
end

-- Each allocation in turn fails once: it is a sentence, or was tried again.
function TestErrors.test_memory()
  local path, refused = file "1 1:2 30:4\n-1 2:1\n1 1:1\n", 0
  for _, o in ipairs{ { sparse = true }, { sparse = false } } do
    for _, read in ipairs{ core.read_libsvm, core.stream_libsvm } do
      for k = 0, 60 do
        core.fail_allocation_after(k)
        local ok, message = pcall(read, path, o)
        core.fail_allocation_after(-1)
        if not ok then lu.assertStrContains(message, "memory") end
        refused = refused + (ok and 0 or 1)
      end
    end
  end
  lu.assertTrue(refused > 40, refused)
end

function TestErrors.test_a_cut_gzip_file()
  local path = file(table.concat(large(), "\n"))
  assert(os.execute(("gzip -n '%s' && truncate -s -1000 '%s.gz'"):format(path, path)))
  refuses({ path, "ends" }, core.read_libsvm, path .. ".gz", {})
  os.remove(path .. ".gz")
end

os.exit(lu.LuaUnit.run())

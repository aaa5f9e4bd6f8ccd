--- LIBSVM, IDX and NPY to numbers, and matrices to files: what each reader makes of good files, and
--- what it says of bad ones. csv_test.lua reads CSV.
-- luacheck: globals TestLibsvm TestIdx TestNpy TestWriting TestSets
-- luacheck: ignore 212/self
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local core = require "scullery.core"
local reading = require "reading"
local support = require "support"

local file, rows, column, refuses = reading.file, reading.rows, reading.column, reading.refuses

-- ------------ LIBSVM

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
  for _, index in ipairs{ "1e0", "1.0", "-1", "+", "2147483648", ("9"):rep(40) } do
    refuses({ "' has an index", "whole number from 1" }, libsvm, ("1 %s:1\n"):format(index))
  end
  lu.assertEquals(rows(libsvm("1 +1:1 02:3\n").X), { { 1, 3 } }) -- as scikit-learn reads them
  refuses({ "is not index:value" }, libsvm, "1 :1\n")
  refuses({ "'2:x' is not index:value" }, libsvm, "1 2:x\n")
  refuses({ "'abc' is not a number", "label" }, libsvm, "abc 1:1\n")
  refuses({ "not finite" }, libsvm, "1 1:inf\n")
  refuses({ "no rows" }, libsvm, "# nothing\n")
  refuses({ "'features' got 0" }, libsvm, "1 1:1\n", { features = 0 })
  refuses({ "unknown option 'feature' (did you mean 'features'?)" }, libsvm, "1 1:1\n",
    { feature = 2 })
end

-- ------------ IDX

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

function TestIdx:test_a_stream_has_the_rows_of_reading_whole()
  local body = {}
  for i = 1, 60 do body[i] = string.pack(">f", i / 7) end
  local images = { file(idx(0x0D, { 6, 5, 2 }, table.concat(body))),
    file(idx(8, { 3, 10 }, ("\1\2\3\4\5"):rep(6))) }
  local labels = { file(idx(8, { 6 }, "\1\2\3\1\2\3")), file(idx(8, { 3 }, "\3\3\7")) }
  for _, o in ipairs{ { scale = 0.1 }, { scale = 0.1, dtype = "float32" } } do
    local whole = core.read_idx(images, labels, o)
    local source, fields = core.stream_idx(images, labels, o)
    lu.assertNil(fields.X)
    lu.assertNil(fields.y)
    lu.assertEquals({ fields.classes, fields.task, fields.parts, fields.names },
      { whole.classes, whole.task, whole.parts, whole.names })
    for _ = 1, 2 do -- in blocks of four rows, one of which has rows of both files; twice
      for first = 1, 9, 4 do
        local X, y = core.read_rows(source, first, math.min(4, 10 - first))
        for i = 1, X:rows() do
          lu.assertEquals(y:get(i, 1), whole.y:get(first + i - 1, 1))
          for j = 1, 10 do lu.assertEquals(X:get(i, j), whole.X:get(first + i - 1, j)) end
        end
      end
    end
  end
end

function TestIdx:test_a_stream_reads_gzip_again_and_again()
  local path = file(idx(8, { 2, 2 }, "\1\2\3\4"))
  assert(os.execute(("gzip -f '%s'"):format(path)))
  local source = core.stream_idx(path .. ".gz", nil, {})
  for _ = 1, 3 do
    lu.assertEquals(rows((core.read_rows(source, 1, 2))), { { 1, 2 }, { 3, 4 } })
  end
  os.remove(path .. ".gz")
end

-- Rows of text of several buffers, in an order in which a stream seeks ahead and back; of a gzip
-- file it reads on.
function TestLibsvm:test_a_stream_goes_to_rows()
  local lines, csv, long = {}, { "row,y" }, (" "):rep(300)
  for i = 1, 14000 do
    lines[i], csv[i + 1] = ("%d 1:%d%s"):format(i % 2, i, long), ("%d,%s%d"):format(i, long, i % 2)
  end
  local packed = file(table.concat(csv, "\n"))
  assert(os.execute(("gzip -1 -f '%s'"):format(packed)))
  for _, source in ipairs{ core.stream_libsvm({ file(table.concat(lines, "\n")) }, {}),
    (core.stream_csv(file(table.concat(csv, "\n")), {})),
    (core.stream_csv(packed .. ".gz", {})) } do
    for _, first in ipairs{ 1, 13000, 5, 9000, 9001, 13900, 7000 } do
      local X, y = core.read_rows(source, first, 3)
      lu.assertEquals(column(X), { first, first + 1, first + 2 })
      lu.assertEquals(y:get(1, 1), first % 2)
    end
  end
  os.remove(packed .. ".gz")
end

function TestIdx:test_what_a_stream_refuses()
  local good = idx(8, { 2, 2 }, "\1\2\3\4")
  refuses({ "data.idx: ", "wrong magic number" }, core.stream_idx, file("\1" .. good:sub(2)), nil,
    {})
  refuses({ "cut off" }, core.stream_idx, file(good:sub(1, -2)), nil, {})
  refuses({ "holds 1 labels" }, core.stream_idx, file(good), file(idx(8, { 1 }, "\1")), {})
  refuses({ "too long" }, function()
    core.read_rows(core.stream_idx(file(good .. "\0"), nil, {}), 1, 2)
  end)
  local fifo = os.tmpname()
  os.remove(fifo)
  assert(os.execute(("mkfifo '%s' && (printf '%s' > '%s' &)"):format(fifo,
    good:gsub(".", function(c) return ("\\%03o"):format(c:byte()) end), fifo)))
  refuses({ "a stream is read more than once" }, core.stream_idx, fifo, nil, {})
  os.remove(fifo)
  local path = file(good)
  local source = core.stream_idx(path, nil, {})
  core.read_rows(source, 1, 2)
  local changed = assert(io.open(path, "wb"))
  changed:write(idx(8, { 1, 4 }, "\1\2\3\4"))
  changed:close()
  refuses({ "has changed" }, core.read_rows, source, 1, 2)
end

-- ------------ NPY

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
  refuses({ "data.npy: ", "not a .npy file" }, core.read_npy, file("hello, world"))
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
  refuses("version 1.1 ", core.read_npy, file((good:gsub("NUMPY\1\0", "NUMPY\1\1"))))
  refuses("damaged", core.read_npy, file(npy("<f8", "False", "(1)", "12345678"))) -- Python's 1
  refuses("damaged", core.read_npy, file(npy("<f8", "False", "(01,)", "12345678")))
end

function TestNpy:test_a_boolean_is_true_unless_its_byte_is_zero()
  local path = file(npy("|b1", "False", "(3,)", "\0\1\xff"))
  lu.assertEquals(column(core.read_npy(path)), { 0, 1, 1 })
  lu.assertEquals(column((core.read_rows(core.stream_npy(path), 1, 3))), { 0, 1, 1 })
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

-- ------------ writing

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
  reading.remove_later(path .. ".csv", path .. ".npy")
  X:save(path .. ".csv")
  lu.assertEquals(support.read(path .. ".csv"), "1,2.5\n3,4\n")
  X:save(path .. ".npy")
  lu.assertTrue(core.read_npy(path .. ".npy") == X)
  refuses({ "matrix:save: ", ".txt", ".npy, .npz or .csv" }, X.save, X, path .. ".txt")
end

function TestWriting:test_nothing_is_left_where_it_cannot_be_written()
  local X = core.matrix { { 1 } }
  support.in_folder(function(folder)
    support.shell(("cd %s && mkdir sub && ln -s /dev/null null && ln -s /dev/full full"):format(
      support.quote(folder)))
    refuses("no such folder", core.write_npy, X, folder .. "/nowhere/all.npy")
    refuses("folder", core.write_npy, X, folder .. "/sub")
    refuses("device", core.write_npy, X, folder .. "/null")
    refuses("device", core.write_csv, X, nil, folder .. "/full")
    local _, left = support.shell("ls -A " .. support.quote(folder))
    lu.assertEquals(left, "full\nnull\nsub\n")
  end)
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

-- ------------ real files, where they are

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

reading.run()

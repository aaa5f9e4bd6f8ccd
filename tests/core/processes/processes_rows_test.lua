-- Rows of files that several processes read, each a part.
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local several = require "several"
local support = require "support"

local succeeds = several.succeeds

-- Numbers of processes that must give the bits of one: one where a sanitizer makes all slow.
local function counts(...) return ipairs(support.sanitized and { 3 } or { ... }) end

-- Processes that read LIBSVM files together have the rows of one, dense, sparse and as a stream, or
-- the sentence of one, with its line: of files whose lines are cut anywhere, and of several.
function TestLibsvmIsReadByShares()
  local random = math.random
  math.randomseed(7)
  local lines = {}
  for i = 1, 24000 do
    local words = { i % 5 - 2 }
    for j = 1, 12 do
      if random(2) == 1 then words[#words + 1] = ("%d:%.4f"):format(j, random() - 0.5) end
    end
    lines[i] = i % 100 == 0 and "# nothing" or table.concat(words, " ")
  end
  lines[23000] = "1.5 # no pair, and the only label that is not whole"
  support.in_folder(function(folder)
    local whole = table.concat(lines, "\n")
    support.write(folder .. "/good.libsvm", whole)
    support.write(folder .. "/tail.libsvm", ("# words\n"):rep(50000) .. "2 3:1\n")
    support.write(folder .. "/bad.libsvm", whole .. "\n1 2:x\n1 y\n")
    support.write(folder .. "/zero.libsvm", whole .. "\n1 2:\0\n")
    support.write(folder .. "/empty.libsvm", ("# words\n"):rep(200000))
    os.execute(("gzip -c %s/good.libsvm > %s/packed.gz"):format(folder, folder))
    local code = ([[
      local sc, core, folder = require "scullery", require "scullery.core", %q
      local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 },
        phi = sc.nonlinearity.fourier(), T = 20, seed = 1 }, sc.solver.ridge{ lambda = 1e-4 } }
      for _, names in ipairs{ "good", "tail good tail", "bad", "zero", "good empty",
        "packed good packed", "packed packed" } do
        local paths = {}
        for name in names:gmatch "%%a+" do
          paths[#paths + 1] = folder .. "/" .. name .. (name == "packed" and ".gz" or ".libsvm")
        end
        for _, option in ipairs{ "dtype", "sparse", "stream" } do
          local value = option == "dtype" and "float32" or true
          local fine, ds = pcall(sc.data.libsvm, paths, { [option] = value })
          if not fine then print((ds:gsub("^.-: ", "")))
          elseif ds.X then
            local _, _, exchanges = sc.processes.exchanged()
            assert(sc.processes.count == 1 or exchanges > 10, exchanges)
            print(ds, core.checksum(ds.X), core.checksum(ds.y), table.concat(ds.part_rows, " "))
            if option == "dtype" then -- what a process writes is its own
              ds.X:set(1, 1, sc.processes.rank + 2)
              assert(ds.X:get(1, 1) == sc.processes.rank + 2)
            end
          else
            print(ds, ("%%a"):format(p:fit(ds):decision(sc.ones(1, 12)):get(1, 1)))
          end
        end
      end]]):format(folder)
    local one = succeeds(1, code)
    local _, sets = one:gsub("dataset", "")
    lu.assertEquals(sets, 12, one)
    lu.assertStrContains(one, "bad.libsvm: line 24001, column 3")
    for _, count in counts(2, 5) do lu.assertEquals(succeeds(count, code), one) end
  end)
end

-- Texts of CSV files with a long note in quotes: numbers, some missing, dates, levels that are
-- first met near the end, and whole labels.
local function csv_lines(rows, ending)
  local lines, random = { "a,b,kind,day,note,y" }, math.random
  math.randomseed(3)
  for i = 1, rows do
    lines[#lines + 1] = ("%s,%.4f,%s,2024-%02d-%02d,%s,%d"):format(i % 1000 == 0 and "NA" or i % 97,
      random() - 0.5, i > 0.9 * rows and "late" .. i % 5 or i % 300 == 7 and "?" or "k" .. i % 3,
      i % 12 + 1, i % 28 + 1, i % 50 == 0 and '"two\nlines, ""quoted"""' or
      ("plain "):rep(20) .. i % 4, i % 3)
    if i % 777 == 0 then lines[#lines + 1] = "" end
  end
  return table.concat(lines, ending) .. ending
end

-- show(path, options, shared, brief) prints what a data set of a CSV file holds. shared: processes
-- must have exchanged something when they read it. brief: without its summary.
local show_csv = [[
  local sc, core = require "scullery", require "scullery.core"
  local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 0.05 },
    phi = sc.nonlinearity.fourier(), T = 20, seed = 1 }, sc.solver.ridge{ lambda = 1e-4 } }
  local function show(path, given, shared, brief)
    given.quiet = true
    local _, _, before = sc.processes.exchanged()
    local fine, ds = pcall(sc.data.csv, path, given)
    if not fine then print((ds:gsub("^.-: ", ""))) return end
    local _, _, exchanges = sc.processes.exchanged()
    if shared and sc.processes.count > 1 then
      assert(exchanges > before + 10, exchanges - before)
    end
    print(ds, ds.X and not given.sparse and not brief and ds:describe() or "",
      table.concat(ds.part_rows or {}, " "))
    for _, column in ipairs(ds.schema.columns) do
      print(column.name, column.kind, column.missing, column.fill and ("%a"):format(column.fill),
        table.concat(column.levels or {}, "|"))
    end
    if ds.X then
      print(core.checksum(ds.X), ds.y and core.checksum(ds.y))
      if given.sparse then return ds end
      ds.X:set(1, 1, sc.processes.rank + 2) -- what a process writes is its own
      assert(ds.X:get(1, 1) == sc.processes.rank + 2)
    elseif shared and #ds.names < 50 then
      print(("%a"):format(p:fit(ds):decision(sc.zeros(1, #ds.names)):get(1, 1)))
    end
    return ds
  end
]]

-- Processes that look into shares of CSV files have the rows and the schema of one, or the sentence
-- of one, with its line: where line ends are in quotes, empty lines, byte order marks.
function TestCsvIsReadByShares()
  support.in_folder(function(folder)
    local whole, plain = csv_lines(12000, "\n"), csv_lines(16000, "\n"):gsub('"two.-"""', "x")
    local function write(name, text) support.write(folder .. "/" .. name .. ".csv", text) end
    write("good", whole)
    write("plain", plain)
    write("wrong", plain .. "x,2,k1,2024-01-01,x,1\n" .. plain:gsub("^[^\n]*\n", ""))
    write("short", plain .. "1,2\n" .. plain:gsub("^[^\n]*\n", ""))
    write("marked", "\xef\xbb\xbf" .. plain:gsub("\n", "\r\n"))
    write("returns", (csv_lines(12000, "\r"):gsub("two\nlines", "two\rlines")))
    write("long", csv_lines(42000, "\n"))
    write("ragged", whole .. "1,2,3\n" .. whole:gsub("^[^\n]*\n", ""))
    write("open", whole .. '1,2,k1,2024-01-01,"x,1\n')
    write("latin", whole .. "1,2,k1,2024-01-01,\xe4,1\n")
    write("word", whole .. "one,2,k1,2024-01-01,x,1\n")
    write("zero", whole .. "1,2,k1,2024-01-01,\0,1\n")
    write("tiny", "a,y\n1,2\n")
    write("header", "a,y\n")
    write("blank", "a,b,kind,day,note,y\n" .. ("\n"):rep(2000000) .. "1,2,k1,2024-01-01,x,1\n")
    local code = show_csv .. ([[
      local folder = %q
      for _, name in ipairs{ "good", "plain", "marked", "returns", "long", "wrong", "short",
        "ragged", "open", "latin", "word", "zero", "tiny", "header", "blank" } do
        local path = folder .. "/" .. name .. ".csv"
        print(name)
        for _, stream in ipairs{ false, true } do
          local shared = ("good plain marked returns long"):find(name) ~= nil
          show(path, { stream = stream, target = "y" }, shared)
        end
      end]]):format(folder)
    local one = succeeds(1, code)
    local _, sets = one:gsub("dataset", "")
    lu.assertTrue(sets >= 14, one)
    for _, words in ipairs{ "ragged.csv: row 12001, line 12257", "late4", "latin.csv: line 12257",
      "word.csv: row 12001, column 1 (a), line 12257",
      "wrong.csv: row 16001, column 1 (a), line 16022", "short.csv: row 16001, line 16022",
      "there are no rows" } do
      lu.assertStrContains(one, words)
    end
    for _, count in counts(2, 3, 7) do lu.assertEquals(succeeds(count, code), one, count) end
  end)
end

-- Files of which each process reads a share: quotes that a cut falls into, also a whole share,
-- texts of which no quote tells whether it opens or closes, line ends of two bytes, packed files,
-- empty lines before the names, no names. Nobody reads all of the bytes.
function TestFilesWithQuotesAreReadByShares()
  local text, last = ('1,2\n"",""\n'):rep(130000), '1,"' .. ("x"):rep(50) .. '\n",0\n'
  local function rows(count, ending, note)
    local list = {}
    for i = 1, count do list[i] = ("%d,%s,%d"):format(i % 97, note(i), i % 3) end
    return table.concat(list, ending) .. ending
  end
  local function unsure(i) return ('"%s,"'):format(i % 7 == 0 and "\n" or "") end
  local function doubled(i) return ('"a ""b"" %d\r\nc"'):format(i % 5) end
  support.in_folder(function(folder)
    local function write(name, bytes) support.write(folder .. "/" .. name .. ".csv", bytes) end
    local names = '"a\nb",note,y\n'
    local long = ('2,"%s",1\n'):format(text:gsub('"', '""'))
    write("unsure", names .. rows(90000, "\n", unsure) .. long .. rows(90000, "\n", unsure))
    write("doubled", "\xef\xbb\xbf" .. ("\n"):rep(20) .. names .. rows(80000, "\r\n", doubled))
    local function inches(i) return i % 3 == 0 and '5" wide' or doubled(i) end
    write("nameless", rows(70000, "\n", inches) .. last)
    local many, most = rows(50000, "\n", doubled), rows(90000, "\n", doubled)
    write("stray", names .. rows(90000, "\n", unsure) .. '1,"x"y,2\n' .. many)
    write("open", names .. most .. '1,"x,2\n' .. ("1,y,2\n"):rep(300000))
    os.execute(("gzip -k %s/doubled.csv"):format(support.quote(folder)))
    local code = show_csv .. ([[
      local folder = %q
      for _, case in ipairs{ { "unsure", true }, { "doubled", true }, { "stray" }, { "open" },
        { "unsure doubled", true }, { "doubled.csv.gz unsure", true },
        { "nameless nameless", true }, { "doubled stray unsure" }, { "unsure nameless" } } do
        local paths = {}
        for name in case[1]:gmatch "%%S+" do
          paths[#paths + 1] = folder .. "/" .. name .. (name:find "gz" and "" or ".csv")
        end
        for _, stream in ipairs{ false, #paths == 1 or nil } do
          show(paths, { target = not case[1]:find "nameless" and "y" or nil, stream = stream },
            case[2], true)
        end
      end]]):format(folder)
    local one = succeeds(1, code)
    local _, sets = one:gsub("dataset", "")
    lu.assertEquals(sets, 7, one)
    for _, words in ipairs{ "stray.csv: row 90001, column 2 (note), line 102860: text follows",
      "open.csv: row 90001, column 2 (note), line 180003: a quote opens" } do
      lu.assertStrContains(one, words)
    end
    for _, count in counts(2, 3, 7) do lu.assertEquals(succeeds(count, code), one, count) end
    if support.sanitized then return end
    -- Shares that are cut wrongly are read again from the beginning: the bytes tell.
    local function broken() return '"\n,"' end
    local large = rows(40, "\n", broken):gsub('(%d+),"', '"%1","') -- quotes begin lines too
    large = names .. '1,5" wide,2\n' .. large:rep(50000)
    for _, ending in ipairs{ "\n", "\r" } do
      write("large", (large:gsub("\n", ending)))
      succeeds(3, ([[
        local sc, path = require "scullery", %q
        local function so_far() return io.open "/proc/self/io":read "a":match "rchar: (%%d+)" end
        local bytes = io.open(path):seek "end"
        for stream, most in pairs{ [false] = 0.9, [true] = 1.9 } do -- of a stream: three passes
          local before = so_far()
          sc.data.csv(path, { target = "y", quiet = true, stream = stream })
          local read = (so_far() - before) / bytes
          assert(read < most, read)
        end]]):format(folder .. "/large.csv"))
    end
  end)
end

-- NPY and IDX files in memory, of which each process reads a share: numbers of both byte orders and
-- memory orders, two files of images, and the sentences of one process.
function TestNpyAndIdxAreReadByShares()
  local rows, numbers = 120000, {}
  for i = 1, 997 do numbers[i] = i * 37 % 101 - 50.5 end
  local function bytes(format, from, count) -- the first `count` numbers of a sequence
    local parts = {}
    for i, value in ipairs(numbers) do parts[i] = string.pack(format, from(value)) end
    local one = table.concat(parts)
    return one:rep(count // #numbers + 1):sub(1, count * #parts[1])
  end
  local function same(value) return value end
  local function whole(value) return value // 1 | 0 end
  local function byte(value) return value // 1 + 51 | 0 end
  support.in_folder(function(folder)
    local function npy(name, kind, by_column, shape, data)
      local head = ("{'descr': '%s', 'fortran_order': %s, 'shape': (%s)}\n"):format(kind, by_column,
        shape)
      support.write(folder .. "/" .. name, "\x93NUMPY\1\0" .. ("<s2"):pack(head) .. data)
    end
    local function idx(name, kind, sizes, data)
      support.write(folder .. "/" .. name, string.pack(">I2BB" .. ("I4"):rep(#sizes), 0, kind,
        #sizes, table.unpack(sizes)) .. data)
    end
    local shape, floats = rows .. ", 7", bytes("<f", same, rows * 7)
    npy("y", "<f4", "False", rows .. ",", floats:sub(1, rows * 4))
    npy("plain", "<f4", "False", shape, floats)
    npy("turned", ">f8", "False", shape, bytes(">d", same, rows * 7))
    npy("columns", "<i4", "True", shape, bytes("<i4", whole, rows * 7))
    npy("short", "<f4", "False", shape, floats:sub(1, -2))
    npy("long", "<f4", "False", shape, floats .. "x")
    idx("a", 8, { rows, 5, 6 }, bytes("B", byte, rows * 30))
    idx("b", 8, { 300, 5, 6 }, bytes("B", byte, 9000))
    idx("nan", 13, { rows, 30 }, bytes(">f", same, rows * 15) .. (">f"):pack(0 / 0)
      .. bytes(">f", same, rows * 15 - 1))
    idx("over", 8, { rows, 30 }, bytes("B", byte, rows * 30) .. "x")
    idx("labels", 8, { rows }, ("\1\3"):rep(rows // 2))
    idx("few", 8, { 300 }, ("\1\3"):rep(150))
    idx("narrow", 8, { 9 * rows, 1 }, bytes("B", byte, 9 * rows))
    idx("wide", 14, { 9 * rows }, (">dd"):pack(7, -3):rep(9 * rows // 2))
    for k = 0, 6 do
      npy("own" .. k, "<f4", "False", rows .. ", 3", floats:sub(4 * k + 1, 4 * k + rows * 12))
    end
    local code = ([[
      local sc, core, folder, count = require "scullery", require "scullery.core", %q .. "/"
      count = sc.processes.count
      local function so_far() return io.open "/proc/self/io":read "a":match "rchar: (%%d+)" end
      local function size_of(given) -- of files that are named there
        if type(given) ~= "table" then
          local file = type(given) == "string" and io.open(given)
          return file and file:seek "end" or 0
        end
        local all = 0
        for _, one in pairs(given) do all = all + size_of(one) end
        return all
      end
      local function show(read, path, ...)
        local size = size_of{ path, ... }
        local before = so_far()
        local fine, ds = pcall(read, path, ...)
        local bytes = so_far() - before
        if not fine then print((ds:gsub("^.-: ", ""))) return end
        if core.is_matrix(ds) then ds = { X = ds } end
        assert(bytes < size / count + 1.6e6, bytes) -- also beginnings, and small files
        print(ds.task, core.checksum(ds.X), ds.y and core.checksum(ds.y))
        ds.X:set(1, 1, sc.processes.rank + 2) -- what a process writes is its own
        core.process_meet("writing")
        assert(ds.X:get(1, 1) == sc.processes.rank + 2)
      end
      sc.data.npy(folder .. "plain", { y = folder .. "y", task = "regression" }) -- loads modules
      for _, name in ipairs{ "plain", "turned", "columns", "short", "long" } do
        show(sc.data.npy, folder .. name, { y = folder .. "y", task = "regression" })
        show(sc.data.npy, folder .. name)
      end
      local two = { { folder .. "a", folder .. "b" }, { folder .. "labels", folder .. "few" } }
      show(sc.data.idx, two[1], two[2], { dtype = "float32" })
      show(sc.data.idx, two[1], two[2], { scale = 3 })
      show(sc.data.idx, folder .. "nan", folder .. "labels")
      show(sc.data.idx, folder .. "over", folder .. "labels")
      show(sc.data.idx, folder .. "narrow", folder .. "wide")
      print(sc.data.idx(folder .. "narrow", folder .. "wide", { stream = true }))
      local own = folder .. "own" .. sc.processes.rank -- a matrix may be each process's own
      assert(sc.data.npy(own):get(1, 1) == (sc.processes.rank + 1) * 37 %% 101 - 50.5)
      ]]):format(folder)
    local one = succeeds(1, code)
    local _, sets = one:gsub("ion\t", "")
    lu.assertEquals(sets, 6, one)
    for _, words in ipairs{ "short: the file is cut off", "long: the file goes on after",
      "nan: row 60001, number 1 is not finite", "over: the file has 3600013 bytes" } do
      lu.assertStrContains(one, words)
    end
    for _, n in counts(2, 3, 7) do lu.assertEquals(succeeds(n, code), one, n) end
  end)
end

-- A file that grows while processes read it: rows that were there, each once, or one sentence.
function TestAFileThatGrows()
  local said = { "went different ways", "changed", "the first line has", "missing label" }
  support.in_folder(function(folder)
    local path = folder .. "/grows.csv"
    for run = 1, support.sanitized and 2 or 6 do
      local lines = { "a,b,y" }
      for i = 1, 120000 do lines[i + 1] = i .. ",0.125,1" end
      support.write(path, table.concat(lines, "\n") .. "\n")
      os.execute(([[awk 'BEGIN { for (i = 120001; i < 400000; i++) { print i ",0.125,1"
        if (i %% 400 == 0) { fflush(); system("sleep 0.001") } } }' >> %s & echo $! > %s.pid]])
        :format(path, path))
      local status, out, err = several.run(3, ([[
        local sc = require "scullery"
        for read = 1, 4 do
          local ds = sc.data.csv(%q, { target = "y", quiet = true, stream = %s })
          local X, n = ds.X, #ds
          if X then
            assert(X:column(1):sum() == n * (n + 1) / 2 and ds.y:sum() == n and n >= 120000)
          else
            sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(ds)
          end
        end]]):format(path, run % 2 == 0))
      os.execute(("kill $(cat %s.pid) 2> %s.kill"):format(path, path))
      lu.assertNotEquals(status, 124, "it hangs")
      local fine = status == 0 and err == ""
      for _, words in ipairs(said) do fine = fine or status == 1 and err:find(words, 1, true) end
      lu.assertTrue(fine and true, out .. err)
    end
  end)
end

-- The same with other options, with several files, by a schema that lacks levels, and by files of
-- labels that are texts.
function TestCsvByOptionsIsReadByShares()
  support.in_folder(function(folder)
    local good, other = folder .. "/good.csv", folder .. "/other.csv"
    support.write(good, csv_lines(12000, "\n"))
    support.write(other, (csv_lines(24000, "\n"):gsub("late3", "new"):gsub("k1", "7"):gsub(
      '"two.-"""', "x"):gsub("\n", "\n\n", 5)))
    local code = show_csv .. ([[
      local good, other = %q, %q
      local ds = show(good, { target = "y", dtype = "float32" }, true)
      show({ good, other }, { target = "note", missing_values = "row" }, true)
      show(good, { target = "b", sparse = true, groups = "note", time = "day" }, true)
      for _, stream in ipairs{ false, true } do
        show(other, { like = ds, stream = stream }, true)
        for _, path in ipairs{ good, other } do
          show(path, { target = "y", missing_values = "row", stream = stream }, true)
        end
        show(other, { target = "note", levels = { "a" }, stream = stream }, true)
        show(other, { missing_values = "error", stream = stream })
        show(good, { skip = { "day", "note" }, target = "y", task = "classification",
          stream = stream }, true)
      end]]):format(good, other)
    local one = succeeds(1, code)
    local _, sets = one:gsub("dataset", "")
    lu.assertTrue(sets >= 13, one)
    lu.assertStrContains(one, "other.csv: row 1000, column 1 (a)")
    for _, count in counts(2, 3, 7) do lu.assertEquals(succeeds(count, code), one, count) end
  end)
end

-- The rows of a stream that a reader makes have a name that is no file's.
function TestStreamsOfReaders()
  local code = ([[
    local sc, path = require "scullery", %q
    if not require "scullery.core".reader_of(path) then return print "none" end
    local ds = sc.data.read(path, { query = "select b, a from t where a is not null",
      target = "a", stream = true, quiet = true })
    print(("%%a"):format(sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }:fit(ds)
      :decision(sc.ones(1, 3)):get(1, 1)))]]):format((os.getenv "SCULLERY_SOURCE" or ".")
    .. "/tests/fuzz/seeds/read_sqlite/tables.sqlite")
  lu.assertEquals(succeeds(2, code), succeeds(1, code))
end

-- Process 0 reads what can be read once, for all.
function TestPipesAreReadForAll()
  support.in_folder(function(folder)
    local lines, labels = { "a,b,y" }, { "\0\0\8\1\0\0\0\100" }
    local images = { "\0\0\8\3\0\0\0\100\0\0\0\4\0\0\0\5" }
    for i = 1, 40000 do lines[i + 1] = ("%d,%.3f,%s"):format(i % 7, math.sin(i), i % 3) end
    for i = 1, 100 do
      images[i + 1], labels[i + 1] = string.char(i):rep(20), string.char(i % 3)
    end
    support.write(folder .. "/rows", table.concat(lines, "\n"))
    support.write(folder .. "/images", table.concat(images))
    support.write(folder .. "/labels", table.concat(labels))
    local script = support.write(folder .. "/script.lua", [[
      local sc = require "scullery"
      local ds = sc.data[arg[1] ](arg[2], arg[3] or { target = "y", quiet = true })
      print(#ds, ds.X:sum(), ds.y:sum())]])
    for _, case in ipairs{ { "csv", "rows" }, { "idx", "images", folder .. "/labels" } } do
      local file, labels_of = folder .. "/" .. case[2], case[3] or ""
      local function read(count, path, before, behind)
        local status, out, err = support.shell(("%s timeout 100 %s --processes %d %s %s %s %s %s")
          :format(before or "", support.quote(support.binary), count, script, case[1], path,
          labels_of, behind or ""))
        lu.assertEquals({ status, err }, { 0, "" })
        return out
      end
      local want = read(1, file)
      local piped = ("cat %s |"):format(file)
      lu.assertEquals(read(3, "-", piped), want)
      lu.assertEquals(read(3, "/dev/stdin", piped), want)
      lu.assertEquals(read(2, "/dev/stdin", nil, "< " .. file), want)
      os.execute(("mkfifo %s.pipe; cat %s > %s.pipe &"):format(file, file, file))
      lu.assertEquals(read(3, file .. ".pipe"), want)
    end
  end)
end

os.exit(lu.LuaUnit.run())

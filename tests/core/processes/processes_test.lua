-- Several processes that run one script: fits, rows, what they see, and what process 0 does alone.
-- processes_end_test.lua has how they end.
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local several = require "several"
local support = require "support"

local run, succeeds, fails, fit = several.run, several.succeeds, several.fails, several.fit

-- Numbers of processes that must give the bits of one: one where a sanitizer makes all slow.
local function counts(...) return ipairs(support.sanitized and { 3 } or { ... }) end

function TestFitsHaveTheBitsOfOneProcess()
  local code = fit .. [[
    local weights = sc.zeros(10000, 1)
    for i = 1, 10000 do weights:set(i, 1, 0.5 + i % 3 / 7) end
    for _, dtype in ipairs{ "float64", "float32", "int16", "int8" } do
      for _, solver in ipairs{ sc.solver.ridge{ lambda = 1e-4 }, sc.solver.cg{ lambda = 1e-4 } } do
        local p = sc.pipeline{ sc.standardize(), map(40, dtype), solver }
        p:fit(sc.dataset{ X = X, y = X:column(1):map(math.sin), weights = weights })
        local found = p:predict(X:slice(1, 20))
        for i = 1, 20 do print(("%a"):format(found[i])) end
      end
    end]]
  local one = succeeds(1, code)
  local _, lines = one:gsub("\n", "")
  lu.assertEquals(lines, 160)
  for _, count in counts(2, 5) do lu.assertEquals(succeeds(count, code), one) end
end

-- Processes that share the tiles of the matrices, some with more processes than rows of tiles: the
-- bits of one process, where systems are regular, and where they are singular and refined.
function TestSharedTilesHaveTheBitsOfOneProcess()
  local code = fit .. [[
    local some = X:slice(1, 1500)
    local weights, labels = sc.zeros(1500, 1), {}
    for i = 1, 1500 do
      weights:set(i, 1, 0.5 + i % 3 / 7)
      labels[i] = ("class %d"):format(math.floor(2 * some:get(i, 1) + some:get(i, 2)) % 4)
    end
    local sets = { sc.dataset{ X = some, y = some:column(1):map(math.sin), weights = weights },
      sc.dataset{ X = some, y = labels },
      sc.dataset{ X = some, y = sc.randn{ 1500, 40, seed = 2 }, task = "regression" } }
    for _, dtype in ipairs{ "float64", "float32", "int16" } do
      for _, ds in ipairs(sets) do
        for _, lambda in ipairs{ 1e-3, 1e-13 } do
          local p = sc.pipeline{ map(700, dtype), sc.solver.ridge{ lambda = lambda } }
          p:fit(ds, { tiles = true })
          local found = p:decision(some:slice(1, 20))
          for i = 1, 20 do print(("%a"):format(found:get(i, 1))) end
        end
      end
    end]]
  local one, _, said = select(2, run(1, code))
  local _, lines = one:gsub("0x", "")
  lu.assertEquals(lines, 360, said)
  for _, count in counts(2, 5) do lu.assertEquals(select(2, run(count, code)), one) end
end

-- The sums and the factor of a large matrix are made by all, in memory that they share, with the
-- bits of one process.
function TestFactorsAreDivided()
  local code = fit .. [[
    local some = X:slice(1, 300)
    for _, lambda in ipairs{ 1e-3, 1e-9 } do
      local p = sc.pipeline{ map(1600), sc.solver.ridge{ lambda = lambda, form = "primal" } }
      local found = p:fit(some, some:column(1):map(math.sin)):predict(some)
      for i = 1, 20 do print(("%a"):format(found[i])) end
      local exchanged = p:info().exchanged
      assert(not exchanged or exchanged.bytes < 8 * 1600 ^ 2 / 10)
    end]]
  local one = succeeds(1, code)
  for _, count in counts(2, 5) do lu.assertEquals(succeeds(count, code), one) end
end

-- Sums that are kept are added to: each process has its own.
function TestKeptSumsAreUpdated()
  local code = fit .. [[
    local ds = sc.dataset{ X = X, y = X:column(1) }
    for _, dtype in ipairs{ "float32", "int16" } do
      local p = sc.pipeline{ map(800, dtype), sc.solver.ridge{ lambda = 1e-3 } }
      p:fit(ds:subset(1, 700), { sums = true, fingerprints = false })
      print(("%a"):format(p:update(ds:subset(701, 1300), { again = true }):predict(X):sum()))
    end]]
  local one = succeeds(1, code)
  for _, count in counts(2, 3) do lu.assertEquals(succeeds(count, code), one) end
end

-- Matrices of a process are smaller than those of a process alone by its share.
function TestSharedTilesTakeLessMemory()
  local code = fit .. [[
    local core = require "scullery.core"
    local p = sc.pipeline{ map(2500), sc.solver.ridge{ lambda = 1e-3, form = "primal" } }
    core.memory(true)
    p:fit(sc.dataset{ X = X:slice(1, 300), y = X:slice(1, 300, 1, 1) }, { tiles = true })
    local _, peak = core.memory()
    print(peak)]]
  local function peak(count) return tonumber(succeeds(count, code)) end
  -- two matrices, of which a process has 5 of 15 tiles, and room for a column of 5 tiles
  local matrix, saved = 2500 ^ 2 / 2 * 8, peak(1) - peak(3)
  lu.assertTrue(saved > 0.9 * matrix, saved / matrix)
end

-- Modules that one process needs alone, as the one that prints errors at a prompt.
function TestOneProcessLoadsModules()
  local code = fit .. [[
    if sc.processes.rank == 0 then require("scullery.help.folding").fold("a b", 3) end
    print(sc.processes.count)]]
  lu.assertEquals(succeeds(2, code), "2\n")
end

-- Where the matrices of one process do not fit, tiles are shared without being asked for, and a
-- line says so: the limit leaves nine tenths of what the plan of one process takes.
function TestTilesAreSharedWhereMemoryIsShort()
  lu.skipIf(support.sanitized, "a sanitizer reserves more addresses than the limit leaves")
  local script = support.write(nil, fit .. [[
    local p = sc.pipeline{ map(4000), sc.solver.ridge{ lambda = 1e-3, form = "primal" } }
    local ds = sc.dataset{ X = X:slice(1, 300), y = X:slice(1, 300, 1, 1) }
    if arg[1] == "plan" then
      local file <close> = io.open "/proc/self/status"
      print(file:read "a":match "VmSize:%s+(%d+)", p:plan(ds).more)
      return
    end
    print(("%a"):format(p:fit(ds):predict(X):sum()))]])
  local command = ("SCULLERY_PROGRESS=0 timeout 100 %s --processes 2 %s"):format(
    support.quote(support.binary), script)
  local _, planned = support.shell(command .. " plan")
  local size, more = planned:match "(%d+)%s+(%S+)"
  local _, want, said = support.shell(command)
  lu.assertEquals(said, "")
  local status, out, err = support.shell(("ulimit -v %d; %s"):format(
    tonumber(size) + 0.9 * tonumber(more) // 1024, command))
  os.remove(script)
  lu.assertEquals({ status, out }, { 0, want }, err)
  lu.assertStrContains(err, "2 processes share their tiles")
end

function TestWhatCannotShareTiles()
  local function refused(words, stages, given)
    fails(words, 2, fit .. ([[
      sc.pipeline{ %s }:fit(sc.dataset{ X = X, y = X:column(1) }, { tiles = true, %s })]]):format(
        stages, given or ""))
  end
  refused({ "tiles", "whole matrix" }, "map(50), sc.solver.lasso{ lambda = 1e-3 }")
  refused({ "tiles", "given lambda" }, "map(50), sc.solver.ridge{}")
  refused({ "tiles", "bits" }, [[sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.sign(), T = 20 }, sc.solver.ridge{ lambda = 1e-3 }]])
  refused({ "tiles", "keeps no sums" }, "map(50), sc.solver.ridge{ lambda = 1e-3 }", "sums = true")
  refused({ "eigenvectors" }, 'map(50), sc.solver.ridge{ lambda = 1e-3, estimate = "gcv" }')
end

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
    local code = ([[
      local sc, core, folder = require "scullery", require "scullery.core", %q
      local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 },
        phi = sc.nonlinearity.fourier(), T = 20, seed = 1 }, sc.solver.ridge{ lambda = 1e-4 } }
      for _, names in ipairs{ "good", "tail good tail", "bad", "zero", "good empty" } do
        local paths = {}
        for name in names:gmatch "%%a+" do
          paths[#paths + 1] = folder .. "/" .. name .. ".libsvm"
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
    lu.assertEquals(sets, 6, one)
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

-- show(path, options, shared) prints what a data set of a CSV file holds. shared: processes must
-- have exchanged something when they read it.
local show_csv = [[
  local sc, core = require "scullery", require "scullery.core"
  local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 0.05 },
    phi = sc.nonlinearity.fourier(), T = 20, seed = 1 }, sc.solver.ridge{ lambda = 1e-4 } }
  local function show(path, given, shared)
    given.quiet = true
    local _, _, before = sc.processes.exchanged()
    local fine, ds = pcall(sc.data.csv, path, given)
    if not fine then print((ds:gsub("^.-: ", ""))) return end
    local _, _, exchanges = sc.processes.exchanged()
    if shared and sc.processes.count > 1 then
      assert(exchanges > before + 10, exchanges - before)
    end
    print(ds, ds.X and not given.sparse and ds:describe() or "",
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

-- Stages are learnt by parts from more rows than a leaf of a reduction has, of a stream too; the
-- rows that a process reads are counted.
function TestStagesAreLearntByParts()
  local code = [[
    local sc = require "scullery"
    local X, read = sc.randn{ 50000, 4, seed = 1 }, 0
    X:set(49999, 3, 1e6)
    local function ask(first, count)
      read = read + count
      return X:slice(first, first + count - 1), X:slice(first, first + count - 1):column(1)
    end
    local weights = sc.zeros(50000, 1)
    for i = 1, 50000 do weights:set(i, 1, 0.5 + i % 3 / 7) end
    local stages = { sc.standardize, sc.minmax, function() return sc.pca{ k = 2 } end }
    for i, stage in ipairs(stages) do
      for _, ds in ipairs{ sc.dataset{ X = X, y = X:column(1), task = "regression",
          weights = weights },
          sc.data.rows{ n = 50000, d = 4, task = "regression", read = ask } } do
        local p = sc.pipeline{ stage(), sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
          phi = sc.nonlinearity.fourier(), T = 40, seed = 1 }, sc.solver.ridge{ lambda = 1e-5 } }
        local scores = p:fit(ds):decision(X:slice(1, 9))
        for k = 1, 9 do print(("%a"):format(scores:get(k, 1))) end
      end
    end
    io.stderr:write(read)]]
  local _, one, all = run(1, code)
  local _, lines = one:gsub("\n", "")
  lu.assertEquals(lines, 54, all)
  for _, count in counts(2, 3, 7) do
    local _, many, own = run(count, code)
    lu.assertEquals(many, one)
    lu.assertTrue(tonumber(own) < 0.8 * tonumber(all), own .. " of " .. all)
  end
end

-- Scores of more rows than a leaf of a reduction has, and predictions of many rows.
function TestScoresAreDivided()
  local code = [[
    local sc = require "scullery"
    local X = sc.randn{ 40000, 2, seed = 1 }
    local y = X:column(1):map(math.sin)
    local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
      phi = sc.nonlinearity.fourier(), T = 20, seed = 1 },
      sc.solver.ridge{ lambda = sc.choose{ 1e-6, 1e-1 } } }
    local ds = sc.dataset{ X = X, y = y, task = "regression" }
    local best = p:search(ds, { folds = 3, seed = 0 })
    print(best.table)
    local scores = best:decision(X)
    print(("%a %a"):format(scores:get(1, 1), scores:get(40000, 1)))]]
  local one = succeeds(1, code)
  for _, count in counts(2, 3, 5) do lu.assertEquals(succeeds(count, code), one) end
end

function TestThePromptRunsInAll()
  local status, out, err = support.shell(support.quote(support.binary) .. " --processes 3 -i",
    "x = sc.processes.count\nprint(x)\nerror 'oh'\nprint(2 * x)\n")
  lu.assertEquals({ status, out }, { 0, "3\n6\n" })
  local _, times = err:gsub("oh", "")
  lu.assertEquals(times, 1)
end

function TestMoreProcessesThanRows()
  local code = [[
    local sc = require "scullery"
    local X = sc.randn{ 5, 2, seed = 1 }
    local p = sc.pipeline{ sc.solver.cg{ lambda = 0.1 } }:fit(X, X:column(1))
    print(p:predict(X)[1], p:predict(X:slice(1, 1))[1])]]
  lu.assertEquals(succeeds(5, code), succeeds(1, code))
  fails({ "pipeline:fit: fewer rows (5) than processes (6, the first on ", "at most 5" }, 6, code)
  fails({ "pipeline:search: fewer rows (5)" }, 7, [[
    local sc = require "scullery"
    local X = sc.randn{ 5, 2, seed = 1 }
    sc.pipeline{ sc.solver.cg{ lambda = sc.choose{ 0.1, 1 } } }:search(sc.dataset{ X = X,
      y = X:column(1) }, { folds = 2 })]])
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

-- Processes that have read different rows, here of a file of each.
function TestFilesThatDiffer()
  support.in_folder(function(folder)
    for rank, last in ipairs{ "3,4", "3,5" } do
      support.write(("%s/%d.csv"):format(folder, rank - 1), "a,y\n1,2\n" .. last .. "\n")
    end
    fails({ "data.csv: the processes went different ways", "data of 2 x 1" }, 2, ([[
      require "scullery".data.csv("%s/" .. require "scullery".processes.rank .. ".csv",
        { quiet = true, target = "y" })]]):format(folder))
  end)
end

function TestTheyKnowThemselves()
  lu.assertEquals(succeeds(3, [[
    local sc = require "scullery"
    print(sc.processes.count, sc.processes.rank, #sc.processes.hosts, (sc.processes.exchanged()))
  ]]):gsub("%d+%.%d+\n", "bytes\n"), "3\t0\t3\tbytes\n")
  -- half of a symmetric matrix of 50 features, in whole numbers of 8 or 24 bytes, and little else
  local told = succeeds(2, fit .. [[
    local p = sc.pipeline{ map(50), sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))
    local found = p:info().exchanged
    print(found.bytes, found.seconds > 0)]])
  local bytes, rest = told:match "^(%S+)\t(.*)$"
  lu.assertEquals(rest, "true\n")
  lu.assertTrue(tonumber(bytes) > 8 * 25 * 51 and tonumber(bytes) < 40 * 25 * 51, bytes)
  lu.assertEquals(succeeds(1, fit .. [[
    print(sc.pipeline{ map(50), sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1)):info()
      .exchanged)]]), "nil\n")
  lu.assertEquals(succeeds(1, "print(require 'scullery'.processes.count)"), "1\n")
end

-- Each process writes what it sees to a file of its own.
function TestAllSeeTheWorldOfTheFirst()
  support.in_folder(function(folder)
    local code = ([[
      local sc = require "scullery"
      local keys, t = {}, { 3, x = 1, other = 2, [7.5] = 3 }
      for i = 1, 50 do t["key" .. i] = i end
      for key in pairs(t) do keys[#keys + 1] = tostring(key) end
      local pipe = io.popen "echo $$; exit 3"
      local text = pipe:read "a"
      local ok, how, number = pipe:close()
      local seen = table.concat({ os.time(), os.clock(), os.date(), os.tmpname(), math.random(),
        io.read "l", io.read "n", text, tostring(ok), how, number, table.concat(keys, " "),
        select(3, os.execute "exit 4"), tostring(io.open("/no/such/file", "w")) }, "\n")
      assert(io.open("/proc/self/stat")) -- reading is each one's own

      core = require "scullery.core"
      assert(core.process_share("check", seen) == seen, "they differ: " .. seen)
      local file = assert(io.open("%s/out", "a"))
      file:write("once\n")
      file:close()
      print(#seen > 100)]]):format(folder)
    local script = support.write(nil, code)
    local status, out, err = support.shell(("%s --processes 3 %s"):format(
      support.quote(support.binary), script), "a line\n42\n")
    os.remove(script)
    lu.assertEquals({ status, out, err }, { 0, "true\n", "" })
    lu.assertEquals(support.read(folder .. "/out"), "once\n")
  end)
end

function TestDifferentWaysEndWithASentence()
  fails({ "different ways", "50", "51" }, 3, fit .. [[
    sc.pipeline{ map(sc.processes.rank == 1 and 50 or 51), sc.solver.ridge{ lambda = 1 } }
      :fit(X, X:column(1))]])
  fails({ "different ways", "the end of the script" }, 3, fit .. [[
    if sc.processes.rank == 2 then os.exit(0) end
    sc.pipeline{ map(50), sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))]])
  -- caught, it is said again by what follows
  fails({ "different ways", "50", "51" }, 2, fit .. [[
    pcall(function()
      sc.pipeline{ map(50 + sc.processes.rank), sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))
    end)
    sc.pipeline{ map(50), sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))]])
end

function TestTheFirstWritesFiles()
  support.in_folder(function(folder)
    local code = fit .. ([[
      local p = sc.pipeline{ map(20), sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))
      p:save("%s/model.safetensors")
      print(sc.load("%s/model.safetensors"):predict(X) == p:predict(X))
      print(pcall(p.save, p, "/no/such/folder/model.safetensors"))]]):format(folder, folder)
    local out = succeeds(3, code)
    lu.assertStrContains(out, "true\n")
    lu.assertStrContains(out, "/no/such/folder")
    lu.assertEquals(select(2, support.shell("ls " .. folder)), "model.safetensors\n")
  end)
end

-- Each process loads a plugin of its own of the same name.
function TestAPluginOfOtherBytes()
  support.in_folder(function(folder)
    local built <close> = assert(io.open(support.build .. "/plugins/sampler/cauchy.so", "rb"))
    local bytes = built:read "a":gsub("cauchy\0", "cauchz\0")
    for rank, behind in pairs{ [0] = "", "", "another" } do
      support.write(("%s/%d.so"):format(folder, rank), bytes .. behind)
    end
    local code = several.fit .. ([[
      sc.plugin.load("%s/" .. sc.processes.rank .. ".so")
      local p = sc.pipeline{ sc.features{ p = sc.sampler.cauchz{ gamma = 1 }, T = 20, seed = 1,
        phi = sc.nonlinearity.fourier() }, sc.solver.ridge{ lambda = 1 } }
      p:fit(X, X:column(1))
      print "fitted"]]):format(folder)
    lu.assertEquals(several.succeeds(2, code), "fitted\n")
    several.fails({ "process 2 of 3 (", "pipeline:fit: the plugin sampler cauchz, " .. folder ..
      "/2.so, has other bytes than that of process 0 (" }, 3, code)
  end)
end

-- The same of a metric, which is no part of the pipeline.
function TestAMetricOfOtherBytes()
  support.in_folder(function(folder)
    local built <close> = assert(io.open(support.build .. "/plugins/metric/mcc.so", "rb"))
    local bytes = built:read "a":gsub("mcc\0", "mcz\0")
    support.write(folder .. "/0.so", bytes)
    support.write(folder .. "/1.so", bytes .. "another")
    local other = "the plugin metric mcz, " .. folder .. "/1.so, has other bytes"
    several.fails({ "process 1 of 2 (", other }, 2, several.fit .. ([[
      sc.plugin.load("%s/" .. sc.processes.rank .. ".so")
      sc.metrics.mcz({ "a", "b", "a" }, { "a", "b", "b" })
      sc.pipeline{ map(20), sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))]]):format(folder))
    local model = folder .. "/a.model"
    several.succeeds(1, several.fit .. ([[
      local y = X:column(1):map(function(v) return v > 0 and 1 or 2 end)
      local p = sc.pipeline{ map(20), sc.solver.ridge{ lambda = 1 } }
      p:fit(sc.dataset{ X = X, y = y, task = "classification" }):save %q]]):format(model))
    several.fails({ "process 1 of 2 (", other }, 2, several.fit .. ([[
      sc.plugin.load("%s/" .. sc.processes.rank .. ".so")
      local y = X:column(1):map(function(v) return v > 0 and 1 or 2 end)
      local ds = sc.dataset{ X = X, y = y, task = "classification" }
      print(sc.load(%q):score(ds, { metric = "mcz" }))]]):format(folder, model))
  end)
end

function TestBadOptions()
  for _, case in ipairs{ { "--processes 0", "1 to 256" }, { "--processes many", "many" },
    { "--processes 300", "1 to 256" }, { "--processes", "--processes" },
    { "--transport nothing", "nothing" } } do
    local status, _, err = support.scullery(case[1] .. " -e 'print(1)'")
    lu.assertEquals(status, 1)
    lu.assertStrContains(err, case[2])
  end
  -- a plugin of this name that cannot be loaded comes first
  support.in_folder(function(folder)
    os.execute("mkdir " .. folder .. "/transport")
    support.write(folder .. "/transport/fork.so", "no object")
    local _, _, err = support.shell(("SCULLERY_PLUGIN_PATH=%s %s --processes 2 -e 'print(1)'")
      :format(folder, support.quote(support.binary)))
    lu.assertStrContains(err, "--processes 2: no transport starts that many processes")
    lu.assertStrContains(err, "transport/fork.so")
  end)
  -- started by a launcher whose MPI is not here
  local status, _, err = support.shell("PMIX_NAMESPACE=4 " .. support.quote(support.binary) ..
    " -e 'print(1)'")
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "PMIX_NAMESPACE")
  lu.assertStrContains(err, "--transport NAME")
  -- a launcher of another MPI, of which each process is alone: its first one says so
  for rank, words in pairs{ ["0"] = "the launcher started 4 processes (PMI_SIZE), and 1 joined",
    ["1"] = "" } do
    status, _, err = support.shell(("PMI_SIZE=4 PMI_RANK=%s %s --transport %s -e 'print(1)'")
      :format(rank, support.quote(support.binary), "'fork{ processes = 1 }'"))
    lu.assertEquals(status, 1)
    lu.assertStrContains(err, words)
    lu.assertEquals(err == "", words == "")
  end
  -- a launcher of one process
  for _, alone in ipairs{ "PMI_SIZE=1", "PMIX_NAMESPACE=4 SLURM_STEP_NUM_TASKS=1" } do
    local _, out = support.shell(alone .. " " .. support.quote(support.binary) .. " -e 'print(1)'")
    lu.assertEquals(out, "1\n")
  end
  -- the command starts its own
  local _, out = support.shell("PMI_SIZE=3 " .. support.quote(support.binary) ..
    " --processes 2 -e 'print(1)'")
  lu.assertEquals(out, "1\n")
end

-- What follows the script's name belongs to it; the command says that it does not take it.
function TestAnOptionAfterTheScript()
  local script = support.write(nil, "print(require 'scullery'.processes.count, ...)")
  local status, out, err = support.scullery(script .. " --processes 3")
  lu.assertEquals({ status, out }, { 0, "1\t--processes\t3\n" })
  lu.assertStrContains(err, "scullery --processes N SCRIPT")
  status, out, err = support.scullery("--processes 2 " .. script .. " --processes 3")
  lu.assertEquals({ status, out, err }, { 0, "2\t--processes\t3\n", "" })
  os.remove(script)
end

os.exit(lu.LuaUnit.run())

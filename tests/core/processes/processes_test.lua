-- Several processes that run one script: fits, what they see, and what process 0 does alone.
-- processes_rows_test.lua has the reading of files, processes_alike_test.lua what must be alike,
-- processes_end_test.lua how they end.
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

-- The matrices of many folds, which the processes share, keep no descriptors open.
function TestFoldsTakeNoDescriptors()
  local out = succeeds(2, fit .. [[
    local core, most = require "scullery.core", 0
    local list = { "sh", "-c", ("ls /proc/%d/fd | wc -l"):format(core.process()) }
    sc.pipeline{ map(800), sc.solver.ridge{ lambda = sc.choose{ 1, 2 }, form = "primal" } }
      :search(sc.dataset{ X = X:slice(1, 120), y = X:slice(1, 120, 1, 1) }, { folds = 20,
        progress = function()
          most = math.max(most, tonumber(core.run_program(list, 20).output))
        end })
    print(most)]])
  lu.assertTrue(tonumber(out) > 3 and tonumber(out) < 20, out)
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

-- Scores of more rows than a leaf of a reduction has, also where leaves end within blocks, and
-- predictions of many rows.
function TestScoresAreDivided()
  local code = [[
    local sc = require "scullery"
    local X = sc.randn{ 33000, 2, seed = 1 }
    local y = X:column(1):map(math.sin)
    for _, block in ipairs{ 3000, 8192 } do
    local p = sc.pipeline{ block = block, sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
      phi = sc.nonlinearity.fourier(), T = 20, seed = 1 },
      sc.solver.ridge{ lambda = sc.choose{ 1e-6, 1e-1 } } }
    local ds = sc.dataset{ X = X, y = y, task = "regression" }
    local best = p:search(ds, { folds = 3, seed = 0 })
    for _, row in ipairs(best.table) do print(("%a"):format(row.mean)) end
    local scores = best:decision(X)
    print(("%a %a"):format(scores:get(1, 1), scores:get(33000, 1)))
    end]]
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

-- Many parameters are drawn by all processes together, each its share, with the bits of one: also
-- where two parameters make a feature, and where some process draws a number that is not finite.
function TestParametersAreDrawnTogether()
  local code = [[
    local sc, core = require "scullery", require "scullery.core"
    local X = sc.randn{ 60, 500, seed = 2 }
    local function drawn(T, phi, sigma)
      local feats = sc.features{ p = sc.sampler.gaussian{ sigma = sigma }, phi = phi, T = T,
        seed = 4 }
      local fine, p = pcall(function()
        return sc.pipeline{ feats, sc.solver.ridge{ lambda = 1 } }:fit(sc.dataset{ X = X,
          y = X:column(1):t():t(), task = "regression" })
      end)
      print(fine and core.checksum(p:decision(X)) or p:gsub("^.-: ", ""))
    end
    local phi = sc.nonlinearity.fourier()
    drawn(1201, phi, 0.1)
    drawn(700, sc.nonlinearity.maxout{ q = 2 }, 0.1)
    drawn(1201, phi, 1e308)]]
  local one = succeeds(1, code)
  lu.assertStrContains(one, "not finite")
  for _, count in counts(2, 3, 7) do lu.assertEquals(succeeds(count, code), one) end
end

-- A plan is each process's own: one may ask for it, also where parameters would be drawn together
-- or the plan fails, and what follows is divided.
function TestOneProcessMakesAPlan()
  local code = [[
    local sc = require "scullery"
    local X, feats = sc.randn{ 9000, 600, seed = 2 }, sc.features{ T = 900, seed = 4,
      p = sc.sampler.gaussian{ sigma = 0.1 }, phi = sc.nonlinearity.fourier() }
    local ds = sc.dataset{ X = X, y = X:column(1) }
    local p = sc.pipeline{ feats, sc.solver.ridge{ lambda = 1 } }
    local choosing = sc.pipeline{ feats, sc.solver.cg{ lambda = sc.choose{ 1, 2 } } }
    if sc.processes.rank == tonumber(arg[1]) then
      assert(p:plan(ds).features == 900)
      assert(choosing:plan(ds, { folds = 3 }).seconds > 0)
      assert(not pcall(p.plan, p, X))
    end
    local before = select(3, sc.processes.exchanged())
    p:fit(ds)
    assert(sc.processes.count == 1 or select(3, sc.processes.exchanged()) > before + 3)
    print(("%a"):format(p:decision(X):get(1, 1)))]]
  local _, one = run(1, code)
  lu.assertStrContains(one, "0x")
  for rank = 0, 1 do lu.assertEquals({ run(2, code, rank) }, { 0, one, "" }) end
end

os.exit(lu.LuaUnit.run())

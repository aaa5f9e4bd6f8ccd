-- Fits by every solver and number type: several processes give the bits of one, by MPI too.
local lu = require "luaunit"
local support = dofile "tests/helpers/support.lua"

local fits = "tests/core/processes/fits.lua"

-- Each line of the output without what depends on the machine's load.
local function fits_by(words, how)
  local status, out, err = support.shell(("%s %s %s"):format(words, fits, how or ""))
  lu.assertEquals(status, 0, err)
  return out
end

local function first_difference(a, b)
  local next_line = b:gmatch "[^\n]+"
  for line in a:gmatch "[^\n]+" do
    local other = next_line()
    if line ~= other then return line:sub(1, 200) .. "\n" .. tostring(other):sub(1, 200) end
  end
end

local command = support.quote(support.binary)

-- TestMpiHasTheBitsOfOneProcess has three processes, processes_test.lua two and five.
function TestEverySolverHasTheBitsOfOneProcess()
  local one = fits_by(command)
  local _, lines = one:gsub("\n", "")
  local _, refused = one:gsub("refused:", "")
  lu.assertTrue(lines > 100 and refused < lines / 3, one:sub(1, 2000))
  lu.assertNil(first_difference(one, fits_by(command .. " --processes 7")))
end

-- The matrix that all of one machine add to, in bands of other heights where a part has other rows.
function TestProcessesAddToOneMatrixAtOnce()
  local script = support.write(nil, [[
    local sc = require "scullery"
    local X = sc.randn{ 9000, 20, seed = 1 }
    for _, dtype in ipairs{ "float32", "int16", "float32", "int16" } do
      local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 0.2 }, T = 900, seed = 1,
        phi = sc.nonlinearity.fourier(), dtype = dtype }, sc.solver.ridge{ lambda = 1e-6 } }
      print(("%a"):format(p:fit(X, X:column(1)):decision(X):sum()))
    end]])
  local lines = {}
  for _, count in ipairs{ 1, 3, 7 } do
    local status, out, err = support.shell(("SCULLERY_PROGRESS=0 %s --processes %d %s"):format(
      command, count, script))
    lu.assertEquals({ status, err }, { 0, "" })
    lines[#lines + 1] = out
    lu.assertEquals(out, lines[1], count)
  end
  os.remove(script)
end

local mpirun = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " ..
  "mpirun.openmpi --oversubscribe --bind-to none "

local function needs_mpi()
  lu.skipIf(not os.execute "command -v mpirun.openmpi >/dev/null", "there is no mpirun.openmpi")
end

function TestMpiHasTheBitsOfOneProcess()
  needs_mpi()
  lu.assertNil(first_difference(fits_by(command, "some"), fits_by(mpirun .. "-n 3 " .. command,
    "some")))
end

-- MPICH maps memory when a message first needs it, and waits for ever where it has no room then.
function TestMpichWithoutRoomForMessages()
  lu.skipIf(not os.execute "command -v mpirun.mpich >/dev/null", "there is no mpirun.mpich")
  support.in_folder(function(folder)
    local line = "work=$PWD/tests/fuzz/divided_work.lua; cd %s && timeout 100 %s %s $work cg_int16"
    local status, out, err = support.shell(line:format(folder, "mpirun.mpich -n 3", command)
      .. " memory 1 3 418")
    lu.assertTrue(status == 0 or err:find("not enough memory", 1, true), status .. err)
    if status == 0 then
      lu.assertEquals(out, select(2, support.shell(line:format(folder, "", command))))
    end
  end)
end

-- A plugin that one machine does not have: a sentence that names the machine, once.
function TestAPluginThatOneProcessLacks()
  needs_mpi()
  support.in_folder(function(folder)
    local built <close> = assert(io.open(support.build .. "/plugins/sampler/cauchy.so", "rb"))
    assert(os.execute("mkdir " .. folder .. "/sampler"))
    support.write(folder .. "/sampler/cauchz.so", (built:read "a":gsub("cauchy\0", "cauchz\0")))
    local script = support.write(folder .. "/fit.lua", [[
      local sc = require "scullery"
      local X = sc.randn{ 100, 3, seed = 1 }
      local features = sc.features{ p = sc.sampler.cauchz{ gamma = 1 }, T = 20, seed = 1,
        phi = sc.nonlinearity.fourier() }
      sc.pipeline{ features, sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))]])
    local one = " -n 1 env SCULLERY_PLUGIN_PATH=%s " .. command .. " " .. script
    local status, _, err = support.shell(mpirun .. one:format(folder) .. " :" .. one:format "/")
    lu.assertEquals(status, 1, err)
    lu.assertStrContains(err, "process 1 of 2 (")
    local _, times = err:gsub("no sampler 'cauchz'", "")
    lu.assertEquals(times, 1, err)
  end)
end

-- Files of one name and size, of which processes of one machine would read a share each.
function TestAFileThatDiffersInItsMiddle()
  needs_mpi()
  support.in_folder(function(folder)
    for rank = 0, 1 do
      assert(os.execute(("mkdir %s/%d"):format(folder, rank)))
      support.write(("%s/%d/x.csv"):format(folder, rank), "a,y\n" .. ("1,2\n"):rep(200000)
        .. "1," .. rank .. "\n" .. ("1,2\n"):rep(200000))
    end
    local script = support.write(folder .. "/read.lua", [[
      require "scullery".data.csv("x.csv", { quiet = true, target = "y" })]])
    local one = " -n 1 env -C %s/%d " .. command .. " " .. script
    local status, _, err = support.shell(mpirun .. one:format(folder, 0) .. " :"
      .. one:format(folder, 1))
    lu.assertEquals(status, 1, err)
    lu.assertStrContains(err, "data of 400001 x 1 (")
  end)
end

os.exit(lu.LuaUnit.run())

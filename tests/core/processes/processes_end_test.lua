-- Several processes that run one script: errors, crashes and signals of one end all of them.
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local several = require "several"
local support = require "support"

local run, succeeds, fails, fit = several.run, several.succeeds, several.fails, several.fit

function TestAnErrorOfOneIsAnErrorOfAll()
  local out = fails({ "a fault on one", "process 1 of 3" }, 3, fit .. [[
    if sc.processes.rank == 1 then error "a fault on one" end
    sc.pipeline{ map(50), sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))
    print "not reached"]])
  lu.assertEquals(out, "")
  fails({ "a fault of all" }, 3, "error 'a fault of all'")
  -- a number in the part of the last process; afterwards they go on together
  lu.assertStrContains(succeeds(3, fit .. [[
    X:set(9999, 2, 0 / 0)
    print(pcall(function() sc.pipeline{ map(50), sc.solver.ridge{ lambda = 1 } }
      :fit(X, X:column(1)) end))
    X:set(9999, 2, 0)
    sc.pipeline{ map(50), sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))]]), "9999")
end

function TestTheStatusOfAScriptIsThatOfAll()
  lu.assertEquals(run(3, "os.exit(7)"), 7)
  for count = 1, 2 do lu.assertEquals(run(count, "io.stdout:write 'x' os.exit(true)"), 0) end
end

function TestErrorObjectsAreTold()
  local code = [[
    local sc = require "scullery"
    local object = setmetatable({}, { __tostring = function() return "oh " .. "no" end })
    local ds = sc.data.rows{ n = 10000, d = 1, task = "regression", read = function(first, count)
      if first > 5000 and sc.processes.rank == 1 then error(object) end
      return sc.zeros(count, 1), sc.zeros(count, 1)
    end }
    sc.pipeline{ sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.fourier(), T = 9,
      seed = 1 }, sc.solver.ridge() }:fit(ds)]]
  fails({ "process 1 of 2", "oh no" }, 2, code)
  fails({ "process 1 of 2", "error object is a table value" }, 2,
    code:gsub("setmetatable(%b())", "{}"))
end

function TestCrashesEndAll()
  local status, out, err = run(3, fit .. [[

    local pid = io.open("/proc/self/stat"):read "n"
    if sc.processes.rank == 1 then

      require "scullery.core".run_program({ "kill", "-9", tostring(pid) }, 5)
    end
    sc.pipeline{ map(50), sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))]])
  lu.assertEquals({ status, out }, { 137, "" })
  lu.assertStrContains(err, "process 1 of 3 was ended by signal 9")
end

-- Those too that exchange nothing for long: in Lua, and in the engine.
function TestTheOthersAreInterruptedWhereOneIsKilled()
  local code = fit .. [[
    local core = require "scullery.core"
    local function kill()
      if sc.processes.rank ~= %d then return end
      core.run_program({ "kill", "-9", tostring(core.process()) }, 5)
    end
    ]]
  local work = { "kill() while true do end" }
  work[2] = not support.sanitized and [[
    X = sc.randn{ 60000, 30, seed = 1 }
    sc.pipeline{ map(2500, "float32"), sc.solver.ridge{ lambda = 1e-3, form = "primal" } }
      :fit(X, X:column(1), { progress = kill })]] or nil
  for dead = 0, 1 do
    for _, rest in ipairs(work) do
      local status, out, err = run(2, code:format(dead) .. rest)
      lu.assertEquals({ status, out }, { 137, "" })
      lu.assertStrContains(err, ("process %d of 2 was ended by signal 9"):format(dead))
      lu.assertNil(err:find "did not end", err)
    end
  end
end

-- Faults that tests/fuzz/processes.lua has found.
function TestNoUnfinishedFileStaysWhereAnotherProcessFails()
  support.in_folder(function(folder)
    fails({ "a fault on one", "process 1 of 2" }, 2, fit .. ([[
      local p = sc.pipeline{ map(20), sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))
      if sc.processes.rank == 1 then error "a fault on one" end
      p:save "%s/model.safetensors"]]):format(folder))
    lu.assertEquals(select(2, support.shell("ls -A " .. folder)), "")
  end)
end

function TestAnErrorInAProgressFunctionIsToldToAll()
  for _, solver in ipairs{ "cg", "lasso", "ridge" } do
    fails({ "a fault on one", "process 1 of 2" }, 2, fit .. ([[
      sc.pipeline{ map(50), sc.solver.%s{ lambda = 1e-4 } }:fit(X, X:column(1), {
        progress = function() if sc.processes.rank == 1 then error "a fault on one" end end })]])
      :format(solver))
  end
end

function TestAnExitInAPluginIsToldOnce()
  for rank = 0, 1 do
    fails({ "ended by exit() in solver.cg", rank == 1 and "process 1 of 3" or "" }, 3, fit .. ([[
      sc.pipeline{ map(50), sc.solver.cg{ lambda = 1e-6 } }:fit(X, X:column(1), {
        progress = function() if sc.processes.rank == %d then os.exit(true) end end })]])
      :format(rank))
  end
end

-- A child that a process forks does not speak for it.
function TestAChildIsNoneOfTheProcesses()
  lu.assertStrContains(succeeds(3, fit .. [[
    local core = require "scullery.core"
    if sc.processes.rank == 0 then
      print(core.in_child(20, function() core.process_meet "here" end))
      core.in_child(20, function() os.exit(3) end)
    end
    sc.pipeline{ map(50), sc.solver.ridge{ lambda = 1 } }:fit(X, X:column(1))]]), "a child of")
end

-- Memory for what is exchanged is taken before the processes agree to exchange it: where one has
-- not enough, all fail with its sentence, wherever that is.
function TestNoMemoryInOneProcessIsAnErrorOfAll()
  local failed = 0
  for after = 0, 60, support.sanitized and 20 or 4 do
    local status, out, err = run(2, fit .. ([[
      local core = require "scullery.core"
      local function work()
        local p = sc.pipeline{ map(20), sc.solver.cg{ lambda = 1e-4 } }:fit(X, X:column(1))
        return ("%%a"):format(p:predict(X)[1])
      end
      local first = work()
      if sc.processes.rank == 1 then core.fail_allocation_after(%d) end
      assert(work() == first)]]):format(after))
    lu.assertEquals(out, "")
    if status ~= 0 then
      failed = failed + 1
      lu.assertStrContains(err, "process 1 of 2")
      lu.assertStrContains(err, "not enough memory")
    end
  end
  lu.assertTrue(failed > 2, failed)
end

function TestSignalsToTheLauncherEndAll()
  local code = "while true do end"
  for signal, status in pairs{ INT = 1, TERM = 143, HUP = 129 } do
    local script = support.write(nil, code)
    local _, out, err = support.shell(("env --default-signal=INT %s --processes 3 %s & p=$!; \z
      sleep 1; kill -s %s $p; wait $p; echo $?"):format(support.quote(support.binary), script,
      signal))
    os.remove(script)
    lu.assertEquals(out, status .. "\n", err)
    lu.assertNil(err:find "ended by signal", err)
  end
end

-- Also those that are stopped, and so do not take the signal.
function TestStoppedProcessesEndToo()
  local status, _, err = run(2, [[
    local core = require "scullery.core"
    local launcher = core.read_text("/proc/self/stat"):match "%) %a (%d+)"
    core.run_program({ "sh", "-c", ("kill -s STOP %s; sleep 0.5; kill -s TERM %s"):format(
      core.process(), launcher) }, 20)
    while true do end]])
  lu.assertEquals({ status, err }, { 137, "" })
end

function TestIgnoredEndsOfChildren()
  local script = support.write(nil, "error 'a fault of all'")
  local status = support.shell(("timeout 50 env --ignore-signal=CHLD %s --processes 2 %s"):format(
    support.quote(support.binary), script))
  os.remove(script)
  lu.assertEquals(status, 1)
end

function TestAReaderThatGoesIsNoFailureToTellOf()
  local status, _, err = run(3, "for _ = 1, 100000 do print 'a line' end", "| head -n 1")
  lu.assertEquals({ status, err }, { 0, "" })
end

os.exit(lu.LuaUnit.run())

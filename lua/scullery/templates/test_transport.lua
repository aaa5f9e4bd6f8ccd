-- my_plugin: several processes have the numbers of one.
-- @start@

-- A process joins the others before its script begins: the plugin has to be where the search finds
-- it. This is a folder of that kind, for the test alone.
local function shell(command)
  local pipe = assert(io.popen(command .. " 2>&1; echo $?"))
  local text = pipe:read "a"
  pipe:close()
  local out, status = text:match "^(.-)(%d+)\n$"
  return out, tonumber(status)
end

local place = shell("mktemp -d"):match "[^\n]+"
shell(("cp '%s' %s/my_plugin.so; chmod 644 %s/my_plugin.so"):format(plugin_path(), place, place))

-- What a script prints in so many processes, and the status with which it ends.
local function run(processes, script)
  local file = assert(io.open(place .. "/script.lua", "w"))
  file:write("local sc = require 'scullery'\n", script)
  file:close()
  return shell(("SCULLERY_PLUGIN_PATH=%s timeout 60 '%s' --transport 'my_plugin{processes = %d}' \z
    %s/script.lua"):format(place, arg[-1], processes, place))
end

function TestProcesses()
  for _, count in ipairs{ 1, 2, 5 } do
    local out, status = run(count, "print(sc.processes.count, sc.processes.rank)")
    lu.assertEquals({ out, status }, { count .. "\t0\n", 0 })
  end
end

-- Sums over the rows are exact: they have the bits of one process.
function TestFitsHaveTheBitsOfOneProcess()
  local fit = [[
    local X = sc.randn{ 3000, 3, seed = 1 }
    local map = sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.fourier(), T = 60,
      seed = 1 }
    local p = sc.pipeline{ map, sc.solver.ridge{ lambda = 1e-4 } }
    p:fit(sc.dataset{ X = X, y = X:column(1):map(math.sin) })
    local found = p:predict(X:slice(1, 20))
    for i = 1, 20 do print(("%a"):format(found[i])) end]]
  local one, status = run(1, fit)
  lu.assertEquals(status, 0)
  lu.assertEquals(select(2, one:gsub("\n", "")), 20)
  for _, count in ipairs{ 2, 5 } do lu.assertEquals(run(count, fit), one) end
end

-- A process that fails ends them all, with its sentence; so does one that is killed.
function TestFailures()
  for _, rank in ipairs{ 0, 2 } do
    local one = ("if sc.processes.rank == %d then "):format(rank)
    local out, status = run(3, one .. "error 'it rains' end")
    lu.assertStrContains(out, "it rains")
    lu.assertEquals(status, 1)
    _, status = run(3, one .. "os.execute 'kill -9 $PPID' end")
    lu.assertNotEquals(status, 0)
    lu.assertNotEquals(status, 124) -- of timeout: they wait for each other
  end
end

function TestOptions()
  sc.plugin.load(place .. "/my_plugin.so")
  lu.assertErrorMsgContains("'processes'", sc.transport.my_plugin, { processes = 0 })
  lu.assertErrorMsgContains("did you mean 'processes'", sc.transport.my_plugin, { proceses = 1 })
end

local status = lu.LuaUnit.run()
shell("rm -r " .. place)
os.exit(status)

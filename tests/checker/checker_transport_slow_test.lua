-- The checker of plugins on every built-in transport that can be loaded; broken_slow_test.lua has
-- transports that are wrong.
local lu = require "luaunit"
local sc = require "scullery"
local passes = dofile "tests/helpers/passes.lua"

-- Nothing fails, and what starts processes itself passes every test of transports.
local function check_one(name)
  local skipped = passes("transport." .. name, { seed = 1 })
  if name ~= "fork" then return end
  lu.assertEquals(skipped, { "words", "no-memory", "ctrl-c", "clock", "at-once" })
end

function TestFork() check_one "fork" end

function TestOpenmpi()
  local there = pcall(sc.plugin.info, "transport.openmpi")
  lu.skipIf(not there, "Open MPI is not there")
  check_one "openmpi"
end

os.exit(lu.LuaUnit.run(), true)

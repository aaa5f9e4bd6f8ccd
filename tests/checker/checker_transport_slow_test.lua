-- The checker of plugins on every built-in transport that can be loaded; broken_slow_test.lua has
-- transports that are wrong.
local lu = require "luaunit"
local sc = require "scullery"

-- Nothing fails, and what starts processes itself passes every test of transports.
local function check_one(name)
  local skipped = {}
  for _, result in ipairs(sc.plugin.check("transport." .. name, { seed = 1 }).results) do
    lu.assertTrue(result.outcome == "pass" or result.outcome == "skip",
      ("%s: %s: %s: %s"):format(name, result.name, result.outcome, result.text))
    if result.outcome == "skip" then skipped[#skipped + 1] = result.name end
  end
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

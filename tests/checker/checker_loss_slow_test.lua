-- The checker of plugins on every built-in loss, in this process; broken_slow_test.lua has losses
-- that are wrong.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

local function check_one(name, seed)
  for _, result in ipairs(sc.plugin.check("loss." .. name, { seed = seed,
    in_process = true }).results) do
    lu.assertTrue(result.outcome == "pass" or result.outcome == "skip",
      ("%s, seed %d: %s: %s: %s"):format(name, seed, result.name, result.outcome, result.text))
  end
end

for _, entry in ipairs(core.plugin_list()) do
  if entry.kind == "loss" then
    _ENV["Test_" .. entry.name] = function()
      check_one(entry.name, 1)
    end
  end
end

os.exit(lu.LuaUnit.run(), true)

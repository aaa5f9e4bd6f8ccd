-- The checker of plugins on every built-in loss, in this process; broken_slow_test.lua has losses
-- that are wrong.
local lu = require "luaunit"
local passes = dofile "tests/helpers/passes.lua"
local core = require "scullery.core"

for _, entry in ipairs(core.plugin_list()) do
  if entry.kind == "loss" then
    _ENV["Test_" .. entry.name] = function()
      passes("loss." .. entry.name, { seed = 1, in_process = true })
    end
  end
end

os.exit(lu.LuaUnit.run(), true)

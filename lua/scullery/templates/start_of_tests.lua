-- scullery test_my_plugin.lua [PLUGIN.so]: without a path it takes build/my_plugin.so or
-- my_plugin.so beside this file.
local lu = require "luaunit"
local sc = require "scullery"

local folder = arg[0]:match "^.*/" or ""

local function plugin_path()
  if (arg[1] or ""):find "%.so$" then return table.remove(arg, 1) end
  for _, path in ipairs{ folder .. "build/my_plugin.so", folder .. "my_plugin.so" } do
    local file = io.open(path)
    if file then
      file:close()
      return path
    end
  end
  error("there is no my_plugin.so yet: README.md says how to build it", 0)
end

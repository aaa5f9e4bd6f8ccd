-- Ask specimens for everything, in a process of its own: PATH, the number in its components'
-- names, and which of them, and so on for others; prints the answers, one a line. For
-- interface_test.lua and plugin_faults_test.lua.
package.path = "tests/helpers/?.lua;tests/interface/?.lua;" .. package.path
local sc = require "scullery"
local battery = require "battery"

for i = 1, #arg, 3 do
  local path, number, wanted = table.unpack(arg, i, i + 2)
  sc.plugin.load(path)
  local own = {}
  for _, name in ipairs(battery.names) do own[name] = name .. "_" .. number end
  for name in wanted:gmatch("%S+") do
    local ok, answers = pcall(battery.ask, name, battery.constructors(own))
    if not ok then answers = { tostring(answers) } end
    for _, value in ipairs(answers) do
      print(name, type(value) == "number" and ("%.17g"):format(value) or value)
    end
  end
end

--- Tests of transports.
local list = {}
for _, part in ipairs{ "joining", "exchanges", "leaving" } do
  table.move(require("scullery_checker.transport." .. part), 1, 100, #list + 1, list)
end
return list

--- Tests of every component, whatever its kind.
local list = {}
for _, part in ipairs{ "declaration", "options", "lives", "surroundings",
  "at_once" } do
  table.move(require("scullery_checker.common." .. part), 1, 100, #list + 1, list)
end
return list

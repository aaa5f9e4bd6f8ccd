--- Tests of metrics.
local list = {}
for _, part in ipairs{ "values", "forms", "relations" } do
  table.move(require("scullery_checker.metric." .. part), 1, 100, #list + 1, list)
end
table.move(require "scullery_checker.effects"(), 1, 100, #list + 1, list)
table.move(require "scullery_checker.cuts"(), 1, 100, #list + 1, list)
table.move(require "scullery_checker.definition.tests"(), 1, 100, #list + 1, list)
return list

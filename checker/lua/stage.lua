--- Tests of row stages: what they learn from rows, and the rows that they make.
local list = {}
for _, name in ipairs{ "learning", "shapes", "applying", "declared" } do
  table.move(require("scullery_checker.stage." .. name), 1, 99, #list + 1, list)
end
table.move(require "scullery_checker.seeds"(), 1, 100, #list + 1, list)
table.move(require "scullery_checker.effects"(), 1, 100, #list + 1, list)
table.move(require "scullery_checker.definition.tests"(), 1, 100, #list + 1, list)
return list

--- Tests of row stages: what they learn from rows, and the rows that they make.
local list = {}
for _, name in ipairs{ "learning", "shapes", "applying", "declared" } do
  table.move(require("scullery_checker.stage." .. name), 1, 99, #list + 1, list)
end
list[#list + 1] = require "scullery_checker.shares"(function(t, stage)
  local rows = require "scullery_checker.stage.rows"
  local X, y = rows.random(t, 100, 3)
  return rows.through(rows.fit(t, stage, X, y), X)
end)
table.move(require "scullery_checker.seeds"(), 1, 100, #list + 1, list)
table.move(require "scullery_checker.effects"(), 1, 100, #list + 1, list)
table.move(require "scullery_checker.definition.tests"(), 1, 100, #list + 1, list)
return list

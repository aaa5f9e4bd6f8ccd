--- Tests of samplers.
local list = {}
for _, part in ipairs{ "draws", "addresses", "laws", "characteristic", "columns", "abilities",
  "maps" } do
  table.move(require("scullery_checker.sampler." .. part), 1, 100, #list + 1, list)
end
table.move(require "scullery_checker.domain"(), 1, 100, #list + 1, list)
table.move(require "scullery_checker.effects"(), 1, 100, #list + 1, list)
table.move(require "scullery_checker.cuts"(), 1, 100, #list + 1, list)
table.move(require "scullery_checker.definition.tests"(), 1, 100, #list + 1, list)
return list

--- Tests of nonlinearities.
local list = {}
for _, part in ipairs{ "calls", "numbers", "facts", "integrals", "categories", "sizes",
  "formula", "relations" } do
  table.move(require("scullery_checker.nonlinearity." .. part), 1, 100, #list + 1, list)
end
table.move(require "scullery_checker.domain"(), 1, 100, #list + 1, list)
table.move(require "scullery_checker.effects"(), 1, 100, #list + 1, list)
table.move(require "scullery_checker.cuts"(), 1, 100, #list + 1, list)
table.move(require "scullery_checker.definition.tests"(), 1, 100, #list + 1, list)
return list

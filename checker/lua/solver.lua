--- Tests of solvers: equalities of their results, their claims, what they do with the problem that
--- they are handed, and their models.
local list = {}
local parts = { "results", "invariance", "claims", "losses", "verbs", "models",
  "sizes", "relations", "lists" }
for _, part in ipairs(parts) do
  for _, one in ipairs(require("scullery_checker.solver." .. part)) do list[#list + 1] = one end
end
table.move(require "scullery_checker.seeds"(), 1, 100, #list + 1, list)
table.move(require "scullery_checker.cuts"(), 1, 100, #list + 1, list)
table.move(require "scullery_checker.definition.tests"(), 1, 100, #list + 1, list)
return list

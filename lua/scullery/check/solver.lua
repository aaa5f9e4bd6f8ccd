--- Tests of solvers: equalities of their results, their claims, what they do with the problem that
--- they are handed, and their models.
local list = {}
for _, part in ipairs{ "results", "invariance", "claims", "losses", "verbs", "models" } do
  for _, one in ipairs(require("scullery.check.solver." .. part)) do list[#list + 1] = one end
end
return list

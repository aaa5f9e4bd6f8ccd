--- Tests of samplers.
local list = {}
for _, part in ipairs{ "draws", "laws", "abilities", "maps" } do
  table.move(require("scullery.check.sampler." .. part), 1, 100, #list + 1, list)
end
table.move(require "scullery.check.effects"(), 1, 100, #list + 1, list)
return list

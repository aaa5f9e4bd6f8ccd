--- Tests of kernels.
local list = {}
for _, part in ipairs{ "grams", "laws", "widths" } do
  table.move(require("scullery.check.kernel." .. part), 1, 100, #list + 1, list)
end
table.move(require "scullery.check.effects"(), 1, 100, #list + 1, list)
return list

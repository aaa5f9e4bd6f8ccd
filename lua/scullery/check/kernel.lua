--- Tests of kernels.
local list = {}
for _, part in ipairs{ "grams", "laws" } do
  table.move(require("scullery.check.kernel." .. part), 1, 100, #list + 1, list)
end
return list

--- The keys of a table as a list, so that nothing depends on the order in which Lua stores them.
local keys = {}

--- keys.sorted(set[, less]): the keys of the table, sorted as table.sort does.
function keys.sorted(set, less)
  local list = {}
  for key in pairs(set) do list[#list + 1] = key end
  table.sort(list, less)
  return list
end

return keys

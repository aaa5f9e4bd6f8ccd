--- Values of cells and results as they are stored in a line of the results: JSON values, and for
--- numbers that JSON lacks { number = "nan" | "inf" | "-inf" }.
local core = require "scullery.core"
local options = require "scullery.base.options"

local values = {}

local odd = { nan = 0 / 0, inf = math.huge, ["-inf"] = -math.huge }

--- values.is_scalar(value): true for a number, a text or a boolean.
function values.is_scalar(value)
  local kind = type(value)
  return kind == "number" or kind == "string" or kind == "boolean"
end

--- values.is_list(value): true for a table with keys 1 to n only, by raw access.
function values.is_list(value)
  if type(value) ~= "table" then return false end
  local count = 0
  for key in next, value do
    if math.type(key) ~= "integer" or key < 1 then return false end
    count = count + 1
  end
  return count == rawlen(value) and count > 0
end

--- values.encode(value): a scalar or a list in the form that core.json_encode takes.
function values.encode(value)
  if value ~= value then return { number = "nan" } end
  if value == math.huge then return { number = "inf" } end
  if value == -math.huge then return { number = "-inf" } end
  if type(value) ~= "table" then return value end
  local list = {}
  for i, item in ipairs(value) do list[i] = values.encode(item) end
  return list
end

--- values.decode(value): the value that values.encode got; nil if it is not such a form.
function values.decode(value)
  if type(value) ~= "table" then return value end
  if type(value.number) == "string" then return odd[value.number] end
  local list = {}
  for i, item in ipairs(value) do list[i] = values.decode(item) end
  return list
end

--- values.each(f, named): { name = f(value) } for a table of named values.
function values.each(f, named)
  local result = {}
  for name, value in next, named do result[name] = f(value) end
  return result
end

-- 1 and 1.0 are one value.
local function plain(value)
  if type(value) == "number" then return math.tointeger(value) or value end
  if type(value) ~= "table" then return value end
  local list = {}
  for i, item in ipairs(value) do list[i] = plain(item) end
  return list
end

--- values.identity(cell): a text that identifies the cell: JSON with the names in order.
function values.identity(cell)
  return core.json_encode(values.each(function(value) return values.encode(plain(value)) end, cell))
end

--- values.key(identity): the SHA-256 of the identity.
function values.key(identity) return core.digest(identity) end

--- values.seed(key): a whole number that depends on the key alone.
function values.seed(key) return tonumber(key:sub(1, 12), 16) end

--- values.show(value): the value as a table prints it.
function values.show(value)
  if type(value) == "string" then return value end
  return options.show(value)
end

--- values.less(a, b): an order of all values: numbers, then texts, then booleans and lists.
function values.less(a, b)
  local kinds = { number = 1, string = 2, boolean = 3, table = 4 }
  if type(a) ~= type(b) then return kinds[type(a)] < kinds[type(b)] end
  if type(a) == "number" or type(a) == "string" then return a < b end
  return values.show(a) < values.show(b)
end

--- values.order(names): a comparison for table.sort that orders tables by these options of their
--- cells; a cell without an option comes first.
function values.order(names)
  return function(a, b)
    for _, name in ipairs(names) do
      local x, y = a.cell[name], b.cell[name]
      if x ~= y and (x == nil or y == nil) then return x == nil end
      if x ~= y and values.less(x, y) then return true end
      if x ~= y and values.less(y, x) then return false end
    end
    return false
  end
end

--- values.sorted(set): the texts that are keys of the set, sorted.
values.sorted = require("scullery.base.keys").sorted

return values

--- Checks of tables read from a file: their fields and the type of each.
local fail = require "scullery.base.fail"
local options = require "scullery.base.options"

local form = {}

--- form.check(value, fields, what): the value, a table whose fields have the types in `fields`,
--- { name = "type" or "type?" }, where "integer" is a type too; raises an error about `what`
--- otherwise. Other fields are not checked.
function form.check(value, fields, what)
  if type(value) ~= "table" then
    fail("its '%s' is %s, where a table belongs", what, options.show(value))
  end
  for name, kind in pairs(fields) do
    local may_miss = kind:sub(-1) == "?"
    local field, wanted = value[name], may_miss and kind:sub(1, -2) or kind
    local found = wanted == "integer" and math.type(field) or type(field)
    if not (may_miss and field == nil) and found ~= wanted then
      fail("its '%s.%s' is %s, where %s belongs", what, name, options.show(field), wanted)
    end
  end
  return value
end

--- form.type(value, kind, what): raises an error unless the value has the Lua type `kind`.
function form.type(value, kind, what)
  if type(value) ~= kind then
    fail("its '%s' is %s, where a %s belongs", what, options.show(value), kind)
  end
end

--- form.each(list, wanted, what): checks each item of a list, which may be nil: its Lua type if
--- `wanted` is the name of one, else its fields, as form.check does. Raises an error if it is not a
--- list.
function form.each(list, wanted, what)
  if list == nil then return nil end
  if type(list) ~= "table" then
    fail("its '%s' is %s, where a list belongs", what, options.show(list))
  end
  local count = 0
  for key in next, list do
    if math.type(key) ~= "integer" then
      fail("its '%s' has the key %s, where a list belongs", what, options.show(key))
    end
    count = count + 1
  end
  if count ~= #list then fail("its '%s' is a list with gaps", what) end
  local check = type(wanted) == "string" and form.type or form.check
  for i, item in ipairs(list) do check(item, wanted, ("%s[%d]"):format(what, i)) end
  return list
end

return form

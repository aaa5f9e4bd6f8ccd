--- Checks of tables read from a file: their fields and the type of each.
local options = require "scullery.base.options"

local form = {}

local function fail(...) error(string.format(...), 0) end

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

--- form.each(list, check, what): calls check(item, what) for each item of a list, which may be nil;
--- raises an error if it is not a list.
function form.each(list, check, what)
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
  for i, item in ipairs(list) do check(item, ("%s[%d]"):format(what, i)) end
  return list
end

--- form.typed(kind): a check for form.each: items of that type.
function form.typed(kind)
  return function(item, what)
    if type(item) ~= kind then
      fail("its '%s' is %s, where a %s belongs", what, options.show(item), kind)
    end
  end
end

return form

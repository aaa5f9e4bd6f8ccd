--- Lists of equally spaced numbers.
local options = require "scullery.base.options"

local range = {}

local MOST = 1e7

local function check(name, value)
  if type(value) ~= "number" or value ~= value or math.abs(value) == math.huge then
    error(("'%s' takes a finite number, and got %s"):format(name, options.show(value)), 0)
  end
end

--- sc.range(first, last[, step = 1]): the list { first, first + step, ... } of all numbers up to
--- last, as in sc.range(1, 10) for ten seeds. A negative step counts down. The list is empty if
--- last comes before first.
function range.list(first, last, step)
  step = step == nil and 1 or step
  check("first", first)
  check("last", last)
  check("step", step)
  if step == 0 then error("'step' takes a number other than 0", 0) end
  local distance = last - first
  if math.type(distance) == "integer" and (distance < 0) ~= (last < first) then
    distance = 1.0 * last - first -- the integer difference overflowed
  end
  local count = math.floor(distance / step * (1 + 1e-12) + 1e-9) + 1
  if count > MOST then error(("%.3g numbers are more than %.0f"):format(count, MOST), 0) end
  local list = {}
  for i = 1, count do
    local value = first + (i - 1) * step
    list[i] = math.type(first) == "integer" and math.tointeger(value) or value
  end
  return list
end

return range

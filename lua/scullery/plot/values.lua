--- Arguments of plot functions: lists and matrices of numbers, lists of texts.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local options = require "scullery.base.options"
local texts = require "scullery.plot.texts"

local values = {}

--- values.is_list(value): true for a list or a matrix, for rules of options.
function values.is_list(value) return type(value) == "table" or core.is_matrix(value) end

--- values.rule: the rule of an option that takes numbers.
values.rule = { test = values.is_list,
  takes = "a list of numbers, or a matrix of one column or row" }

--- values.numbers(what, given): the numbers as a new list, including infinities and NaN. `what`
--- names them in errors.
function values.numbers(what, given)
  local list = {}
  if core.is_matrix(given) then
    local rows, columns = given:rows(), given:cols()
    if rows ~= 1 and columns ~= 1 then
      fail("%s takes a matrix of one column or one row, and got %d x %d", what, rows, columns)
    end
    local table_of = given:totable()
    if rows == 1 then return table_of[1] end
    for i = 1, rows do list[i] = table_of[i][1] end
    return list
  end
  for i = 1, rawlen(given) do
    local value = rawget(given, i)
    if type(value) ~= "number" then
      fail("%s[%d] takes a number, and got %s", what, i, options.show(value))
    end
    list[i] = value + 0.0
  end
  if #list == 0 and next(given) ~= nil then
    fail("%s takes a list of numbers, and got %s", what, options.show(given))
  end
  return list
end

--- values.texts(what, given): a list of texts, from texts, numbers or booleans; second: the values
--- themselves.
function values.texts(what, given)
  if core.is_matrix(given) then given = values.numbers(what, given) end
  local list, own = {}, {}
  for i = 1, rawlen(given) do
    own[i] = rawget(given, i)
    list[i] = texts.of(own[i])
      or fail("%s[%d] takes a text or a number, and got %s", what, i, options.show(own[i]))
  end
  return list, own
end

--- values.same_length(title, count, of, lists): raises an error unless each list of { name -> list
--- } has `count` entries, as `of` has.
function values.same_length(title, count, of, lists)
  for name, list in pairs(lists) do
    if #list ~= count then
      fail("%s: %s has %d entries, and %s has %d", title, name, #list, of, count)
    end
  end
end

--- values.is_range(value): true for { low, high }, ascending and at most 1e300 in size.
function values.is_range(value)
  if type(value) ~= "table" or rawlen(value) ~= 2 then return false end
  local low, high = rawget(value, 1), rawget(value, 2)
  return type(low) == "number" and type(high) == "number" and low < high and math.abs(low) <= 1e300
    and math.abs(high) <= 1e300
end

--- values.is_narrow(low, high): true if low and high are so close, for their size, that an axis
--- between them has no two different ticks.
function values.is_narrow(low, high)
  return high - low <= math.max(1e-9 * math.max(math.abs(low), math.abs(high)), 1e-304)
end

return values

--- sc.choose: values to search, in place of the value of any option.
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"

-- The most values of one choice and combinations of one search; each combination is at least a fit.
local MOST = 20000

local choose = { MOST = MOST }

local Choose = objects.class("choose", { fields = "values law low high at counted count",
  hidden = "at counted" })

function Choose:__tostring()
  if not self.at then return "choose" .. options.show(self.values) end
  return ("choose.%s{%s, %s, count = %d}"):format(self.law, options.show(self.low),
    options.show(self.high), #self.values)
end

--- choose.draw(choice, u): the value for a random number u in [0, 1): an entry of a list, or a
--- point of a range.
function choose.draw(self, u)
  options.expect(type(u) == "number" and u >= 0 and u < 1, "a number in [0, 1)", u)
  if choose.continuous(self) then return self.at(u) end
  return self.values[math.floor(u * #self.values) + 1]
end

--- choose.continuous(choice): true for a range without a count, from which random draws take
--- points.
function choose.continuous(self) return self.at ~= nil and not self.counted end

--- choose.check_combinations(title, count): raises an error for more combinations than MOST.
function choose.check_combinations(title, count)
  options.expect(type(count) == "number", "a title and a number", count)
  if count <= MOST then return end
  error(("%s: the choices make %.6g combinations, and at most %d can be tried"):format(title, count,
    MOST), 0)
end

--- choose.combinations(title, list): the number of combinations of the choices among the values of
--- a list; raises an error if there are too many.
function choose.combinations(title, list)
  options.expect(type(list) == "table", "a title and a list of values", list)
  local count = 1
  for _, value in ipairs(list) do count = count * (choose.is(value) and #value.values or 1) end
  choose.check_combinations(title, count)
  return count
end

--- choose.is(value): true if the value is an sc.choose.
function choose.is(value) return getmetatable(value) == Choose end

--- choose.pick(value, path, choices): the value itself; for an sc.choose choices[path], or its
--- first value.
function choose.pick(value, path, choices)
  if not choose.is(value) then return value end
  options.expect(type(choices) == "table", "a value, a path and a table of choices", choices)
  local chosen = choices[path]
  if chosen == nil then chosen = value.values[1] end
  return chosen
end

-- sc.choose{...}. `_` is the table that is called: this module, or its public part.
local function make(_, values)
  if type(values) ~= "table" or #values == 0 then
    error("choose: takes a list of at least one value, as in sc.choose{ 0.1, 1 }", 3)
  end
  if #values > MOST then
    error(("choose: takes at most %d values, and got %d"):format(MOST, #values), 3)
  end
  return setmetatable({ values = table.move(values, 1, #values, 1, {}) }, Choose)
end

-- A range: `count` points for grids, every point for random draws. from, to: the function to a
-- scale on which the points are equally spaced, and its inverse. The values are whole numbers if
-- both ends are; equal ones are then left out.
local function range(law, given, from, to)
  local low, high, count = given[1], given[2], math.tointeger(given.count) or 5
  local whole = math.type(low) == "integer" and math.type(high) == "integer"
  local function at(u)
    local value = to(from(low) + u * (from(high) - from(low)))
    return whole and math.tointeger(math.floor(value + 0.5)) or value
  end
  local values, seen = {}, {}
  for i = 1, count do
    local value = i == 1 and low or i == count and high or at((i - 1) / (count - 1))
    -- rounding: 1e-4 and 0.001, not 9.999999999999999e-05 and 0.001000000000000001
    if math.type(value) == "float" then value = tonumber(("%.13g"):format(value)) + 0.0 end
    if not seen[value] then values[#values + 1] = value end
    seen[value] = true
  end
  return setmetatable({ values = values, law = law, low = low, high = high, at = at,
    counted = given.count ~= nil, count = given.count and count }, Choose)
end

-- Raises an error, at the caller of sc.choose.log or .range, unless `given` is { low, high, count =
-- } and both ends pass the test. takes: the two ends for the error.
local function check_range(title, given, test, takes)
  if type(given) ~= "table" then error(title .. ": takes { low, high, count = n }", 3) end
  local low, high, count = given[1], given[2], given.count or 5
  local more = false
  for name in pairs(given) do
    more = more or type(name) == "number" and name ~= 1 and name ~= 2
    if type(name) ~= "number" and name ~= "count" then
      error(("%s: unknown option '%s'%s; it takes { low, high, count = n }"):format(title,
        tostring(name), objects.suggestion(name, { "count" })), 3)
    end
  end
  local ends = type(low) == "number" and type(high) == "number" and test(low) and test(high)
  if more or not ends then
    error(("%s: takes %s and count = n, and got %s"):format(title, takes, options.show(given)), 3)
  end
  local whole = type(count) == "number" and math.tointeger(count)
  if not whole or whole < 1 or whole > MOST then
    error(("%s: option 'count' got %s; it takes a whole number from 1 to %d"):format(title,
      options.show(count), MOST), 3)
  end
end

--- sc.choose.log{ low, high, count = 5 }: count values from low to high in geometric progression.
--- Without a count, a search with draws = n takes random points of the whole range, uniform in the
--- logarithm. If both ends are whole numbers, so are the values.
function choose.log(given)
  check_range("choose.log", given, function(v)
    return v > 0 and v < math.huge
  end, "two positive numbers")
  return range("log", given, math.log, math.exp)
end

--- sc.choose.range{ low, high, count = 5 }: count values from low to high, equally spaced. Without
--- a count, a search with draws = n takes random points of the whole range, uniformly. If both ends
--- are whole numbers, so are the values.
function choose.range(given)
  check_range("choose.range", given, function(v)
    return v == v and math.abs(v) < math.huge
  end, "two numbers")
  local function same(v) return v end
  return range("range", given, same, same)
end

--- choose.searched(kind, given): the searched options among `given`, sorted by name: a list of
--- {path = "ridge.lambda", values =, choose =, option =}.
function choose.searched(kind, given)
  options.expect(type(given) == "table", "a kind and a table of options", given)
  local list = {}
  for name, value in pairs(given) do
    if choose.is(value) then
      list[#list + 1] = { path = ("%s.%s"):format(kind, name), values = value.values,
        choose = value, option = name }
    end
  end
  table.sort(list, function(a, b) return a.path < b.path end)
  return list
end

--- sc.choose{ a, b, ... }: search these values; pipeline:search{} picks the best by
--- cross-validation.
choose.public = setmetatable({ log = choose.log, range = choose.range }, { __call = make })

return setmetatable(choose, { __call = make })

--- sc.choose: values to search, anywhere an option stands.
local options = require "scullery.options"

local Choose = { __name = "choose" }
Choose.__index = Choose

function Choose:__tostring() return "choose" .. options.show(self.values) end

local choose = {}

--- choose.is(value): whether an option is to be searched.
function choose.is(value) return getmetatable(value) == Choose end

local function make(values)
  if type(values) ~= "table" or #values == 0 then error("choose: takes a list of at least one value, as in sc.choose{ 0.1, 1 }", 3) end
  return setmetatable({ values = { table.unpack(values) } }, Choose)
end

--- sc.choose.log{ low, high, count = n }: n values from low to high, each the same factor above the last.
function choose.log(given)
  if type(given) ~= "table" then error("choose.log: takes { low, high, count = n }", 2) end
  local low, high, count = given[1], given[2], given.count or 5
  if type(low) ~= "number" or type(high) ~= "number" or low <= 0 or high <= 0 or math.type(count) ~= "integer" or count < 1 then
    error("choose.log: takes two positive numbers and a count, as in { 1e-7, 1e-3, count = 5 }", 2)
  end
  local values = {}
  for i = 1, count do values[i] = count == 1 and low or low * (high / low) ^ ((i - 1) / (count - 1)) end
  return make(values)
end

--- sc.choose{ a, b, ... }: search these values; pipeline:search{} picks the best by cross-validation.
return setmetatable(choose, { __call = function(_, values) return make(values) end })

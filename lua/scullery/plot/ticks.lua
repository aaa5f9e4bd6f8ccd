--- Positions and texts of the ticks of an axis, for both back ends.
local ticks = {}

local LEAST = 3 -- labels on a log axis

-- All functions below with `most` return at most about so many ticks.

local SUPERSCRIPTS = { ["-"] = "⁻", ["0"] = "⁰", ["1"] = "¹", ["2"] = "²", ["3"] = "³", ["4"] = "⁴",
  ["5"] = "⁵", ["6"] = "⁶", ["7"] = "⁷", ["8"] = "⁸", ["9"] = "⁹" }

local function power_of_ten(exponent)
  return "10" .. tostring(math.tointeger(exponent)):gsub(".", SUPERSCRIPTS)
end

-- "1.5e+06" as "1.5e6".
local function short_exponent(text)
  return (text:gsub("e([+-])0*(%d)", function(sign, digit)
    return "e" .. (sign == "-" and sign or "") .. digit
  end))
end

-- A number with the digits that ticks at a distance of 10^exponent need. largest: the largest
-- number on the axis; it decides whether all are written with an exponent.
local function number_text(value, exponent, largest)
  if value == 0 then return "0" end
  local many = math.log(largest, 10) - exponent > 5 -- digits
  if largest >= 1e6 and not (many and largest < 1e12) or exponent < -6 then
    local top = math.floor(math.log(math.abs(value), 10) + 1e-9)
    local digits = math.max(0, math.min(15, top - exponent))
    return short_exponent(("%%.%de"):format(digits):format(value)):gsub("%.?0+e", "e")
  end
  return ("%%.%df"):format(math.max(0, -exponent)):format(value)
end

-- The least product of a factor and a power of ten that is not below `step`, and the exponent of
-- the power.
local function nice(step, factors)
  local exponent = math.floor(math.log(step, 10))
  local unit = 10.0 ^ exponent
  for _, factor in ipairs(factors) do
    if step <= factor * unit * (1 + 1e-9) then return factor * unit, exponent end
  end
  return 10 * unit, exponent + 1
end

-- Ticks at multiples of 1, 2 or 5 times a power of ten; whole numbers on an axis of years.
local function in_steps(axis, most)
  local step, exponent = nice(axis.high / most - axis.low / most, { 1, 2, 5 })
  if axis.whole and axis.high - axis.low >= 1 and step < 1 then step, exponent = 1, 0 end
  local list = {}
  local largest = math.max(math.abs(axis.low), math.abs(axis.high))
  local slack = 1e-9 * step
  for i = 0, most + 1 do
    local place = math.ceil(axis.low / step - 1e-9) + i
    local value = place * step
    if value > axis.high + slack then break end
    list[#list + 1] = { value = value, text = number_text(value, exponent, largest) }
  end
  return list
end

-- The same, in smaller steps where there would be one tick or none: one says nothing of the scale.
local function linear(axis, most)
  local list = in_steps(axis, most)
  for more = most + 1, most + 4 do
    if #list >= 2 then break end
    list = in_steps(axis, more)
  end
  return list
end

-- At most this many of the ticks, with the first and the last among them.
local function evenly(list, most)
  if #list <= most then return list end
  local some = {}
  for i = 1, most do
    some[i] = list[1 + math.floor((i - 1) * (#list - 1) / (most - 1) + 0.5)]
  end
  return some
end

-- Powers of ten: each or each n-th, or if these would be fewer than three, the first, a middle one
-- and the last. On an axis of less than two decades also 2 and 5 times them, and if that is not
-- enough, ticks in equal steps.
local function logarithmic(axis, most)
  local low, high = math.log(axis.low, 10), math.log(axis.high, 10)
  local first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
  local list = {}
  if last - first >= 2 then
    local every = math.max(1, math.ceil(nice((last - first + 1) / most, { 1, 2, 3, 4, 5 })))
    for exponent = math.ceil(first / every) * every, last, every do
      list[#list + 1] = { value = 10.0 ^ exponent, text = power_of_ten(exponent) }
    end
    if #list >= LEAST then return list end
    list = {}
    for exponent = first, last do
      list[#list + 1] = { value = 10.0 ^ exponent, text = power_of_ten(exponent) }
    end
    return evenly(list, LEAST)
  end
  for exponent = math.floor(low), last do
    for _, factor in ipairs{ 1, 2, 5 } do
      local value = factor * 10.0 ^ exponent
      if value >= axis.low * (1 - 1e-9) and value <= axis.high * (1 + 1e-9) then
        list[#list + 1] = { value = value, text = short_exponent(("%.6g"):format(value)) }
      end
    end
  end
  for more = math.max(most, LEAST), 4 * LEAST do -- in equal steps, smaller until there are three
    if #list >= LEAST then break end
    list = linear(axis, more)
  end
  return evenly(list, math.max(most, LEAST))
end

-- The names of categories: all, or each n-th.
local function of_categories(axis, most)
  local list, every = {}, math.max(1, math.ceil(#axis.categories / most))
  for place = 1, #axis.categories, every do
    list[#list + 1] = { value = place, text = axis.categories[place] }
  end
  return list
end

--- ticks.of(axis, most): a list of { value =, text = }, ascending, about `most` of them; on a log
--- axis at least three, and powers of ten as "10³"; whole numbers if axis.whole is true. Of more
--- than `most` categories, each n-th is returned.
function ticks.of(axis, most)
  most = math.max(1, math.floor(most))
  if axis.categories then return of_categories(axis, most) end
  return (axis.log and logarithmic or linear)(axis, most)
end

--- ticks.minor(axis): values between the decades of a log axis of at most 6 decades; otherwise
--- none.
function ticks.minor(axis)
  local list = {}
  if not axis.log or axis.high / axis.low > 1e6 then return list end
  local first = math.floor(math.log(axis.low, 10))
  for exponent = first, math.ceil(math.log(axis.high, 10)) do
    for factor = 2, 9 do
      local value = factor * 10.0 ^ exponent
      if value > axis.low and value < axis.high then list[#list + 1] = value end
    end
  end
  return list
end

--- ticks.number(value): a number as pictures write it, to three significant digits; whole numbers
--- of up to six digits in full.
function ticks.number(value)
  if value ~= value then return "" end
  if value == math.floor(value) and math.abs(value) < 1e6 then return ("%d"):format(value) end
  return short_exponent(("%.3g"):format(value))
end

return ticks

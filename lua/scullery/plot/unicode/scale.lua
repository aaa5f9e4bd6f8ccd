--- From values to places on an axis, and the ticks of an axis.
local scale = {}

local NAN = 0 / 0

--- scale.share(axis): a function from a value to its share of the way from axis.low to axis.high,
--- NaN where the value has none (a number that is not above 0 on a log axis).
function scale.share(axis)
  local low, span = axis.low, axis.high - axis.low
  if axis.log then
    local log = math.log
    low, span = log(axis.low), log(axis.high) - log(axis.low)
    return function(v) return v > 0 and (log(v) - low) / span or NAN end
  end
  if span < math.huge then return function(v) return (v - low) / span end end
  low, span = low / 2, axis.high / 2 - low / 2
  return function(v) return (v / 2 - low) / span end
end

--- scale.low_end(share, v): the share of the low end of a band or whisker: 0 where it lies below a
--- log axis; NaN where it is NaN.
function scale.low_end(share, v)
  local s = share(v)
  return s ~= s and v == v and 0 or s
end

-- ------------------------------------------------------------ linear

local MOST_WHOLE = 2 ^ 53
local MOST_DIGITS = 6 -- more: values are shown less an offset

-- A step of 1, 2 or 5 times a power of ten for at most so many intervals: digit, exponent, value.
local function nice_step(low, high, most)
  local raw = high / most - low / most
  local exponent = math.max(-323, math.floor(math.log(raw, 10)))
  for _, digit in ipairs{ 1, 2, 5 } do
    local step = tonumber(("%de%d"):format(digit, exponent))
    if step >= raw * (1 - 1e-9) then return digit, exponent, step end
  end
  return 1, exponent + 1, tonumber("1e" .. exponent + 1)
end

local function plain(value)
  local short = ("%.15g"):format(value)
  return tonumber(short) == value and short or ("%.17g"):format(value)
end

-- whole * 10^exponent as text in units of 10^unit.
local function decimal(whole, exponent, unit)
  local form = ("%%.%df"):format(math.max(0, unit - exponent))
  local text = form:format(whole * 10.0 ^ (exponent - unit))
  return tonumber(text) == 0 and text:gsub("-", "") or text
end

-- The exponent that is common to numbers of up to `largest` * 10^exponent, 0 where they are short.
local function common_exponent(largest, exponent)
  if largest == 0 then return exponent end
  local power = exponent + math.floor(math.log(largest, 10) + 1e-9)
  return (power >= 5 or power < -2) and power or 0
end

local function linear(axis, most)
  local digit, exponent, step = nice_step(axis.low, axis.high, most)
  local first, last = math.ceil(axis.low / step - 1e-9), math.floor(axis.high / step + 1e-9)
  local largest = math.max(math.abs(first), math.abs(last)) * digit
  if largest >= MOST_WHOLE then -- steps that numbers of this size cannot tell apart
    return { { value = axis.low, text = ("%.3g"):format(axis.low) },
      { value = axis.high, text = ("%.3g"):format(axis.high) } }
  end
  local list, offset = {}, 0
  local unit = common_exponent(largest, exponent)
  if math.log(largest, 10) >= MOST_DIGITS then
    offset = first
    unit = common_exponent((last - first) * digit, exponent)
    list.less = plain(tonumber(("%.0fe%d"):format(offset * digit, exponent)))
  end
  for i = first, last do
    list[#list + 1] = { value = tonumber(("%.0fe%d"):format(i * digit, exponent)),
      text = decimal((i - offset) * digit, exponent, unit) }
  end
  if unit ~= 0 then list.times = "1e" .. unit end
  return list
end

-- ------------------------------------------------------------ log

local function power_text(digit, exponent)
  if exponent >= -3 and exponent <= 4 then
    return decimal(digit, exponent, 0)
  end
  return ("%de%d"):format(digit, exponent)
end

-- Powers of ten between labels: the last is more than there are.
local STRIDES = { 1, 2, 3, 5, 10, 20, 50, 100, 200, 1000 }

local function powers(axis, digits)
  local list = {}
  for exponent = math.floor(math.log(axis.low, 10)) - 1, math.ceil(math.log(axis.high, 10)) do
    for _, digit in ipairs(digits) do
      local value = tonumber(("%de%d"):format(digit, exponent))
      if value >= axis.low * (1 - 1e-9) and value <= axis.high * (1 + 1e-9) then
        list[#list + 1] = { value = value, exponent = exponent,
          text = power_text(digit, exponent) }
      end
    end
  end
  return list
end

local function logarithmic(axis, most)
  local list = powers(axis, { 1, 2, 5 })
  if #list < 2 then return linear(axis, most) end
  if #list <= most + 1 then return list end
  list = powers(axis, { 1 })
  if #list < 2 then return linear(axis, most) end
  for _, stride in ipairs(STRIDES) do
    local kept = {}
    for _, tick in ipairs(list) do
      if tick.exponent % stride == 0 then kept[#kept + 1] = tick end
    end
    if #kept < 2 or #list <= most + 1 then return list end
    list = kept
  end
  return list
end

--- scale.ticks(axis, most): { { value =, text = }, ... }, at least two, of about `most` intervals,
--- at numbers of few digits. times = "1e6": the texts count millions; less = "1000": they are the
--- values less 1000.
function scale.ticks(axis, most)
  local list
  for intervals = most, most + 10 do
    list = (axis.log and logarithmic or linear)(axis, intervals)
    if #list >= 2 then break end
  end
  return list
end

return scale

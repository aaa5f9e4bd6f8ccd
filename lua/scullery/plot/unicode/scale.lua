--- The scale of an axis: from values to shares of its length, and its ticks.
local scale = {}

local NAN = 0 / 0

--- scale.share(axis): a function from a value to its share of the axis, 0 at axis.low and 1 at
--- axis.high; on a log axis (log v - log low) / (log high - log low), NaN for values that are not
--- positive.
function scale.share(axis)
  local low, span = axis.low, axis.high - axis.low
  if axis.log then
    local log = math.log
    low, span = log(axis.low), log(axis.high) - log(axis.low)
    return function(v) return v > 0 and (log(v) - low) / span or NAN end
  end
  -- the difference of two finite ends may overflow: then all terms are halved
  if span < math.huge then return function(v) return (v - low) / span end end
  low, span = low / 2, axis.high / 2 - low / 2
  return function(v) return (v / 2 - low) / span end
end

--- scale.clamp(share): the share, limited to the axis, [0, 1].
function scale.clamp(share) return math.max(0, math.min(1, share)) end

--- scale.low_end(share, v): the share of the low end of a band or whisker: 0 for a number that a
--- log axis cannot show; NaN for NaN.
function scale.low_end(share, v)
  local s = share(v)
  return s ~= s and v == v and 0 or s
end

-- ------------ linear

local MOST_WHOLE = 2 ^ 53
local MOST_DIGITS = 6 -- ticks with more digits are shown as differences from an offset

-- The smallest step of 1, 2 or 5 times a power of ten that makes at most `most` intervals: its
-- digit, its exponent, its value.
local function nice_step(low, high, most)
  local raw = high / most - low / most
  local exponent = math.max(-323, math.floor(math.log(raw, 10)))
  for _, digit in ipairs{ 1, 2, 5 } do
    local step = tonumber(("%de%d"):format(digit, exponent))
    if step >= raw * (1 - 1e-9) then return digit, exponent, step end
  end
  return 1, exponent + 1, tonumber("1e" .. exponent + 1)
end

-- The text of whole * 10^exponent in units of 10^unit.
local function decimal(whole, exponent, unit)
  local form = ("%%.%df"):format(math.max(0, unit - exponent))
  local text = form:format(whole * 10.0 ^ (exponent - unit))
  return tonumber(text) == 0 and text:gsub("-", "") or text
end

-- The exponent to factor out of ticks up to largest * 10^exponent; 0 if they are short without it.
local function common_exponent(largest, exponent)
  if largest == 0 then return exponent end
  local power = exponent + math.floor(math.log(largest, 10) + 1e-9)
  return (power >= 5 or power < -2) and power or 0
end

-- The ticks of a linear axis, see scale.ticks. They are computed as whole multiples of the step, so
-- that rounding errors do not accumulate.
local function linear(axis, most)
  local digit, exponent, step = nice_step(axis.low, axis.high, most)
  local first, last = math.ceil(axis.low / step - 1e-9), math.floor(axis.high / step + 1e-9)
  local largest = math.max(math.abs(first), math.abs(last)) * digit
  if largest >= MOST_WHOLE then -- the step is below the precision of these numbers
    return { { value = axis.low, text = ("%.3g"):format(axis.low) },
      { value = axis.high, text = ("%.3g"):format(axis.high) } }
  end
  local list, offset = {}, 0
  local unit = common_exponent(largest, exponent)
  if math.log(largest, 10) >= MOST_DIGITS then
    offset = first
    unit = common_exponent((last - first) * digit, exponent)
    local value = tonumber(("%.0fe%d"):format(offset * digit, exponent))
    local short = ("%.15g"):format(value)
    list.less = tonumber(short) == value and short or ("%.17g"):format(value)
  end
  for i = first, last do
    list[#list + 1] = { value = tonumber(("%.0fe%d"):format(i * digit, exponent)),
      text = decimal((i - offset) * digit, exponent, unit) }
  end
  if unit ~= 0 then list.times = "1e" .. unit end
  return list
end

-- ------------ log

-- Powers of ten from one label to the next; the last is more than an axis of doubles has.
local STRIDES = { 1, 2, 3, 5, 10, 20, 50, 100, 200, 1000 }

-- The ticks at these digits times each power of ten on the axis.
local function powers(axis, digits)
  local list = {}
  for exponent = math.floor(math.log(axis.low, 10)) - 1, math.ceil(math.log(axis.high, 10)) do
    for _, digit in ipairs(digits) do
      local value = tonumber(("%de%d"):format(digit, exponent))
      if value >= axis.low * (1 - 1e-9) and value <= axis.high * (1 + 1e-9) then
        list[#list + 1] = { value = value, exponent = exponent,
          text = exponent >= -3 and exponent <= 4 and decimal(digit, exponent, 0)
            or ("%de%d"):format(digit, exponent) }
      end
    end
  end
  return list
end

-- The ticks of a log axis: 1, 2 and 5 times powers of ten if they fit, else each k-th power; those
-- of a linear axis if it has fewer than two such numbers.
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

--- scale.ticks(axis, most): { { value =, text = }, ... }, at least two, about `most` intervals
--- apart, at numbers of few digits. Fields: times = "1e6" if the texts count millions; less =
--- "1000" if they are the values minus 1000.
function scale.ticks(axis, most)
  local list
  for intervals = most, most + 10 do
    list = (axis.log and logarithmic or linear)(axis, intervals)
    if #list >= 2 then break end
  end
  return list
end

return scale

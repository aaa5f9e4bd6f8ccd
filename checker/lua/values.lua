--- Values for declared options: bounds, what lies just beyond them, and random ones within.
local values = {}

local INFINITY <const> = math.huge

-- The float64 next to x, up (+1) or down (-1).
local function next_to(x, up)
  if x == 0 then return up * 5e-324 end
  local bits = string.unpack("<i8", string.pack("<d", x))
  local step = (x > 0) == (up > 0) and 1 or -1
  return (string.unpack("<d", string.pack("<i8", bits + step)))
end

-- The whole number next to x that a float64 holds.
local function next_whole(x, up)
  local next = x + up
  return math.abs(next) <= 0x1p53 and next + 0.0 ~= x and next or next_to(x, up)
end

--- values.is_within(option, x): whether x is in the option's range.
function values.is_within(option, x)
  if option.low_open and x <= option.low or x < option.low then return false end
  return not (option.high_open and x >= option.high or x > option.high)
end

--- values.is_numeric(option): whether it takes numbers; of sc.plugin.info(NAME).options.
function values.is_numeric(option) return option.takes_number or option.takes_integer end

--- values.bounds(option): a list of the least and the largest numbers that it takes, where they are
--- not infinite, each { value, open = whether it is next to the bound }; and a list of those just
--- beyond.
function values.bounds(option)
  local within, beyond = {}, {}
  local whole = not option.takes_number
  local ends = { { option.low, option.low_open, 1 }, { option.high, option.high_open, -1 } }
  for _, end_of in ipairs(ends) do
    local bound, open, inwards = table.unpack(end_of)
    if math.abs(bound) < INFINITY then
      local inside = whole and next_whole(bound, inwards) or next_to(bound, inwards)
      local outside = whole and next_whole(bound, -inwards) or next_to(bound, -inwards)
      within[#within + 1] = { value = open and inside or bound, open = open }
      beyond[#beyond + 1] = open and bound or outside
    end
  end
  return within, beyond
end

-- Rounds of a solver, with a model each; parameters of fits within a stage; the logarithm of its
-- width.
local fewer = { rounds = 8, T = 40, bits = 6 }

--- values.usual(option): its default as a number, or nil; a smaller one where more only repeats the
--- same code. Second result: whether it is smaller.
function values.usual(option)
  local default, few = tonumber(option.default), fewer[option.name]
  if not default or not few or default <= few then return default, false end
  return few, true
end

--- values.random(option, u): a number that it takes, near its default and its bounds, from u in
--- (0, 1); nil where none was found.
function values.random(option, u)
  local default = values.usual(option)
  local low = math.max(option.low, default and default - math.abs(default) - 1 or -10)
  local high = math.min(option.high, default and default + math.abs(default) + 1 or 10)
  if low > high then low, high = option.low, math.min(option.high, option.low + 10) end
  local x = low + (high - low) * u
  if not option.takes_number then x = math.floor(x + 0.5) end
  return values.is_within(option, x) and x or nil
end

return values

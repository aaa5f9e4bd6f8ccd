--- Options that components are tried with: every word, and random numbers.
local core = require "scullery_checker.core"
local values = require "scullery_checker.values"

local choices = {}

-- Factors of usual numbers, a few times larger and smaller, with more digits than texts show.
choices.scales = { 4.0000123, 0.3000014 }

-- ------------ words

-- Whole numbers up to 3 that the option takes.
local function small_numbers(option)
  local least, list = tonumber(option.takes:match("from (%d+)")) or 0, {}
  for value = least, 3 do
    if tostring(value) ~= option.default then list[#list + 1] = value end
  end
  return list
end

-- The truth values of an option but its default; none of a constant, which has tests of its own.
local function truths(option)
  local list = {}
  for _, value in ipairs(option.takes_boolean and option.role ~= "intercept" and { true, false }
    or {}) do
    if tostring(value) ~= option.default then list[#list + 1] = value end
  end
  return list
end

--- choices.alternatives(option): its truth values or words; nil where it takes neither.
function choices.alternatives(option)
  if option.takes_boolean and not option.takes_word then return { true, false } end
  if option.takes_word and not option.takes:find("sc.", 1, true) and #option.words > 0 then
    return option.words
  end
end

--- choices.words(info): tables of options: each word of an option, both truth values, and small
--- whole numbers of what counts.
function choices.words(info)
  local list = {}
  for _, option in ipairs(info.options) do
    for _, value in ipairs(truths(option)) do list[#list + 1] = { [option.name] = value } end
    local words = option.takes:find("sc.", 1, true) and {} or option.words -- those are kinds
    for _, word in ipairs(words) do
      if word ~= option.default then list[#list + 1] = { [option.name] = word } end
    end
    if option.name == "q" or option.name == "order" then
      for _, value in ipairs(small_numbers(option)) do
        list[#list + 1] = { [option.name] = value }
      end
    end
  end
  return list
end

-- ------------ one number

-- Where a sampler's numbers keep its weights narrow, by name or by what the width is of: what is
-- unbounded stays finite, and its fourth moments small.
local narrow = { sigma = { 0.2, 0.45 }, scale = { 0.2, 0.45 }, frequency = { 0.2, 0.45 },
  rate = { 0.2, 0.45 }, gamma = { 0.02, 0.1 }, length = { 2.2, 5 } }

--- choices.whole_numbers(option): a list of up to 5 whole numbers that the option takes, without
--- its usual value.
function choices.whole_numbers(option)
  local usual = values.usual(option)
  local from = math.max(option.low, (usual or option.low) - 1)
  local list = {}
  for value = math.floor(from), math.floor(math.min(option.high, from + 4)) do
    if value ~= usual then list[#list + 1] = value end
  end
  return list
end

local function whole_number(option, u)
  local list = choices.whole_numbers(option)
  return list[1 + math.floor(u * #list)]
end

-- The ends of the range to draw from, either side of a default by a fifth at least.
local function range_of(kind, option, u)
  local default = tonumber(option.default)
  local ends = kind == "sampler" and (narrow[option.width] or narrow[option.name])
  if ends then return ends[1], ends[2] end
  if default and default ~= 0 then
    return default * (u < 0.5 and 0.5 or 0.8), default * (u < 0.5 and 1.1 or 1.6)
  end
  if option.low < 0 then return -1, 1 end
  return 0.4, 1.4
end

--- choices.number(kind, option, u): a number for the option, not its default, from u in (0, 1); nil
--- where none was found. Numbers are rounded to 3 digits.
function choices.number(kind, option, u)
  if not option.takes_number then return whole_number(option, u) end
  local low, high = range_of(kind, option, u)
  local x = tonumber(("%.3g"):format(low + (high - low) * u))
  return values.is_within(option, x) and x or nil
end

--- choices.draws(count, seed, of): so many numbers in (0, 1): a list.
function choices.draws(count, seed, of)
  local row, list = core.randn{ 1, count, seed = seed * 64 + of }, {}
  for j = 1, count do list[j] = math.min(math.max(row:get(1, j) * 10 % 1, 0.01), 0.99) end
  return list
end

--- choices.takes_numbers(option): whether it takes lists of numbers, and is not the bias.
function choices.takes_numbers(option)
  return option.takes_list and option.role ~= "bias" and not option.takes:find("sc.", 1, true)
end

--- choices.numeric(info): its options that take numbers: a list.
function choices.numeric(info)
  local list = {}
  for _, option in ipairs(info.options) do
    if values.is_numeric(option) then list[#list + 1] = option end
  end
  return list
end

--- choices.named(info): its options that take truth values or words and no numbers, but not that of
--- the constant, which has tests of its own.
function choices.named(info)
  local list = {}
  for _, option in ipairs(info.options) do
    if choices.alternatives(option) and not values.is_numeric(option)
      and option.role ~= "intercept" then
      list[#list + 1] = option
    end
  end
  return list
end

-- ------------ several numbers

local MOST_SETS <const> = 2
local ROUNDS <const> = 3 -- in which an option may be refused before it is given up

local function joined(a, b)
  local both = {}
  for key, value in pairs(a) do both[key] = value end
  for key, value in pairs(b) do both[key] = value end
  return both
end

-- The set with the option, or with it and another one where it is refused alone; nil where it is
-- refused with each of them.
local function with_option(set, option, numbers, list, is_taken)
  local one = { [option.name] = numbers[option.name] }
  if not next(one) then return nil end
  if is_taken(joined(set, one)) then return joined(set, one) end
  for _, other in ipairs(list) do
    local two = joined(one, { [other.name] = numbers[other.name] })
    if other ~= option and not set[other.name] and is_taken(joined(set, two)) then
      return joined(set, two)
    end
  end
end

--- choices.numbers(kind, info, seed, is_taken): up to two tables with random numbers for options.
--- The first has as many as go together, of which is_taken(table) tells; the second those that do
--- not go with the first.
function choices.numbers(kind, info, seed, is_taken)
  local list, sets, covered = choices.numeric(info), {}, {}
  for round = 1, #list > 0 and ROUNDS or 0 do
    local numbers, set = {}, {}
    for j, u in ipairs(choices.draws(#list, seed, 40 + round)) do
      numbers[list[j].name] = choices.number(kind, list[j], u)
    end
    for _, option in ipairs(list) do
      if not covered[option.name] and not set[option.name] then
        set = with_option(set, option, numbers, list, is_taken) or set
      end
    end
    for name in pairs(set) do covered[name] = true end
    if next(set) and #sets < MOST_SETS then sets[#sets + 1] = set end
  end
  return sets
end

return choices

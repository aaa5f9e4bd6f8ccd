--- Jumps of a continuous function, as where a series near 0 ends and does not meet what follows.
local jumps = {}

local EACH <const> = 100 -- places of each power of ten
local FROM <const>, TO <const> = -6, 1
local NOTABLE <const> = 1e-7 -- of the largest value

-- Third differences stand out where the function jumps, and where it has a kink.
local function outliers(values)
  local third, list = {}, {}
  for k = 1, #values - 3 do
    third[k] = math.abs(values[k + 3] - 3 * values[k + 2] + 3 * values[k + 1] - values[k])
  end
  for k = 1, #third do
    local near = 0
    for away = 4, 8 do
      near = math.max(near, third[k - away] or 0, third[k + away] or 0)
    end
    list[#list + 1] = { place = k, share = third[k] / (near + 1e-15), size = third[k] }
  end
  table.sort(list, function(a, b) return a.share > b.share end)
  return list
end

-- Halves the interval, towards the part that differs more from the slope before it, until nothing
-- is between its ends.
local function closed_in(at, low, high)
  local a, b = at(low), at(high)
  for _ = 1, 60 do
    local middle = (low + high) / 2
    if high - low < 1e-13 * high then break end
    local here, step = at(middle), (high - low) / 2
    local expected = a - at(low - step)
    if math.abs(here - a - expected) > math.abs(b - here - expected) then
      high, b = middle, here
    else
      low, a = middle, here
    end
  end
  return low, high, math.abs(b - a)
end

--- jumps.find(at, of_all): where the function jumps by more than 1e-7 of its largest value between
--- 10^-6 and 10: the place, the jump over the largest value; nil where it does not, or is not
--- finite. at(x): its value; of_all(list): a list of values.
function jumps.find(at, of_all)
  local places = {}
  for k = 0, (TO - FROM) * EACH do places[k + 1] = 10.0 ^ (FROM + k / EACH) end
  local values, most = of_all(places), 0
  for _, value in ipairs(values) do
    if value ~= value or math.abs(value) == math.huge then return nil end
    most = math.max(most, math.abs(value))
  end
  local list = outliers(values)
  for k = 1, 4 do
    local one = list[k]
    if one and one.share > 8 and one.size > NOTABLE * most then
      local low, _, jump = closed_in(at, places[one.place], places[one.place + 3])
      if jump > NOTABLE * most then return low, jump / most end
    end
  end
end

return jumps

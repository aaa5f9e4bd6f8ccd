--- Conformal intervals of rows in the order of time: the errors of the rows just before a row give
--- its bounds, and the level may move after each row (adaptive conformal inference, Gibbs and
--- Candes 2021).
local conformal_kept = require "scullery.model.conformal_kept"
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local matching = require "scullery.data.matching"
local target_form = require "scullery.model.target_form"

local conformal_rolling = {}

--- conformal_rolling.check(o, X, title): raises an error for options of p:interval that do not go
--- together.
function conformal_rolling.check(o, X, title)
  if o.adapt and not o.rolling then error(title .. ": adapt goes with rolling", 0) end
  if o.rolling and o.by then error(title .. ": takes rolling or by, not both", 0) end
  if o.adapt and not (dataset.is(X) and X.y) then
    error(title .. ": adapt learns from targets as they come: X is a data set with y", 0)
  end
end

-- A list of numbers in ascending order that holds the last `most` of those that were added.
local Window = {}
Window.__index = Window

-- The place of the first number of a sorted list that is not less than x.
local function place_of(list, x)
  local low, high = 1, #list + 1
  while low < high do
    local middle = (low + high) // 2
    if list[middle] < x then low = middle + 1 else high = middle end
  end
  return low
end

function Window:add(x)
  self.all[#self.all + 1] = x
  table.insert(self.sorted, place_of(self.sorted, x), x)
  if #self.sorted <= self.most then return end
  table.remove(self.sorted, place_of(self.sorted, self.all[#self.all - self.most]))
end

-- Half the width by the errors of the window; infinite or 0 where the level, which adapts, is past
-- what they say.
local function width_of(window, level, o)
  local n = #window.sorted
  if not o.adapt then return window.sorted[o.rank_of(level, n, o.title)] end
  if level <= 0 then return 0 end
  return window.sorted[math.max(1, math.ceil(level * (n + 1) - 1e-9))] or math.huge
end

--- conformal_rolling.bounds(f, made, said, j, spread, X, o): low and high (m x 1) of target j for
--- predictions `said` (m x 1) on the scale on which targets were learnt. spread: m x 1 or nil. o:
--- level, rolling, adapt, rank_of and title.
function conformal_rolling.bounds(f, made, said, j, spread, X, o)
  local window = setmetatable({ sorted = {}, all = {},
    most = o.rolling == true and math.huge or o.rolling }, Window)
  for _, i in ipairs(conformal_kept.order(made.time, made.rows)) do
    window:add(math.abs(made.scores:get(i, j)) / (made.spread and made.spread:get(i, 1) or 1))
  end
  local known = dataset.is(X) and X.y
    and target_form.apply(f.form, matching.known(matching.encoded(X, f), f)).y
  local m, level = said:rows(), o.level
  local low, high = core.zeros(m, 1), core.zeros(m, 1)
  for _, i in ipairs(conformal_kept.order(dataset.is(X) and X.time or nil, m)) do
    local s, at = spread and spread:get(i, 1) or 1, said:get(i, 1)
    local width = width_of(window, level, o) * s
    low:set(i, 1, at - width)
    high:set(i, 1, at + width)
    if known then
      local size = math.abs(known:get(i, j) - at)
      if o.adapt then level = level + o.adapt * (o.level - (size <= width and 1 or 0)) end
      window:add(size / s)
    end
  end
  return low, high
end

return conformal_rolling

--- A loss under test: its functions on lists of numbers, and the targets and scores to try.
local core = require "scullery_checker.core"
local options = require "scullery.base.options"

local loss = {}

local Loss = {}
Loss.__index = Loss

--- loss.new(t, component): { t, component, instance, facts, targets = a list of targets to try }.
function loss.new(t, component)
  local self = setmetatable({ t = t, component = component, instance = t:instance(component) },
    Loss)
  self.facts = core.loss_facts(self.instance)
  self.targets = self:find_targets()
  t:expect(#self.targets > 0, "it takes no target that was tried: none of %s", "-1, 0.3, 1, 17")
  return self
end

--- loss.each(t, f): f(loss) for each variant; `offer`: for those that have the function alone. The
--- test is skipped where none has.
function loss.each(t, f, offer)
  local any = false
  local function try(component)
    local one = loss.new(t, component)
    if offer and not one.facts[offer] then return end
    any = true
    f(one)
  end
  for component in t:variants() do try(component) end
  if not any then t:skip("it has no %s", offer) end
  return try
end

--- loss.each_far(t, f, offer): the same, and for options far from their defaults.
function loss.each_far(t, f, offer)
  local try = loss.each(t, f, offer)
  for _, one in ipairs(t.subject:far_variants()) do
    t.label = one.label
    try(one.component)
  end
  t.label = nil
end

--- loss:takes(y): whether the facts allow a number as a target.
function Loss:takes(y)
  local facts = self.facts
  return y >= facts.low and y <= facts.high and not (facts.low_open and y == facts.low)
    and not (facts.high_open and y == facts.high)
end

-- Both classes; numbers in the range, near its ends too.
function Loss:find_targets()
  local facts, list = self.facts, {}
  if facts.classes then list = { -1, 1 } end
  if not facts.numbers then return list end
  local random = self.t:random(1, 3, 7)
  for _, y in ipairs{ facts.low, facts.high, facts.low + 1e-3, facts.high - 1e-3, -17, -1,
    -0.3, 0, 1e-6, 0.3, 1, 3, 17, 1e6, random:get(1, 1), math.abs(random:get(1, 2)) * 40 } do
    if self:takes(y) and math.abs(y) < math.huge then list[#list + 1] = y end
  end
  return list
end

--- loss:small_targets(): those whose distance from scores nearby is not lost in rounding.
function Loss:small_targets()
  local list = {}
  for _, y in ipairs(self.targets) do list[#list + 1] = math.abs(y) < 1e3 and y or nil end
  return list
end

--- loss:call(name, first, y[, t, at_start, in_place]): a list, of lists or single numbers.
function Loss:call(name, first, y, t, at_start, in_place)
  return core.loss_call(self.instance, name, first, y, t, at_start, in_place)
end

--- loss:at(name, first, y[, t]): the function of one number.
function Loss:at(name, first, y, t)
  return self:call(name, { first }, { y }, t and { t })[1]
end

--- loss:scores(y, of): scores to try for a target, ascending: near it, near 0, and far away.
function Loss:scores(y, of)
  local list, random = {}, self.t:random(1, 40, of or 0)
  for i = 1, 40 do
    local scale = ({ 0.1, 1, 4, 30 })[i % 4 + 1]
    list[i] = (i % 8 < 4 and 0 or y) + scale * random:get(1, i)
  end
  for _, f in ipairs{ 0, -1, 1, y, -300, 300 } do list[#list + 1] = f end
  for k = 2, 8, 3 do
    list[#list + 1], list[#list + 2] = y + 3 * 10.0 ^ -k, y - 3 * 10.0 ^ -k
  end
  table.sort(list)
  return list
end

--- loss:all(name, list, y): the function of a list, for one target.
function Loss:all(name, list, y)
  local targets = {}
  for i = 1, #list do targets[i] = y end
  return self:call(name, list, targets)
end

--- loss.is_finite(x)
function loss.is_finite(x) return x == x and math.abs(x) < math.huge end

--- loss.shown(f, y): "f = 0.5, y = 1".
function loss.shown(f, y) return ("f = %.6g, y = %.6g"):format(f, y) end

--- loss.try(f): f(), or nil and its sentence.
function loss.try(f)
  local ok, made = pcall(f)
  if ok then return made end
  if options.is_interrupt(made) then error(made, 0) end
  return nil, options.plain(tostring(made))
end

return loss

--- Series of points: checks x, y, errors and labels of lines and scatters.
local fail = require "scullery.base.fail"
local options = require "scullery.base.options"
local values = require "scullery.plot.values"

local series = {}

local MOST = 1000 -- series in a picture

--- series.rules: options of one series.
series.rules = { x = values.rule, y = values.rule, label = { type = "string" }, low = values.rule,
  high = values.rule, error = values.rule }

--- series.with(...): one table of all rules of these tables; later ones replace earlier ones.
function series.with(...)
  local all = {}
  for _, rules in ipairs{ ... } do for name, rule in pairs(rules) do all[name] = rule end end
  return all
end

-- The ends of bands or whiskers, two lists: y - error and y + error, or low and high; nil without
-- any. Raises an error for both, and for a negative error.
local function ends_of(title, o, y)
  if o.error and (o.low or o.high) then
    fail("%s: error, and low and high, were both given: give one of them", title)
  end
  if (o.low == nil) ~= (o.high == nil) then fail("%s: low and high belong together", title) end
  local low, high
  if o.error then
    local errors = values.numbers(title .. ": error", o.error)
    values.same_length(title, #y, "y", { error = errors })
    low, high = {}, {}
    for i, e in ipairs(errors) do
      if e < 0 then fail("%s: error[%d] is %s, and errors are at least 0", title, i,
        options.show(e)) end
      low[i], high[i] = y[i] - e, y[i] + e
    end
  elseif o.low then
    low = values.numbers(title .. ": low", o.low)
    high = values.numbers(title .. ": high", o.high)
    values.same_length(title, #y, "y", { low = low, high = high })
  end
  return low, high
end

--- series.read(title, o): { x, y, low, high, label }, lists of numbers; x is 1, 2, ... where none
--- is given.
function series.read(title, o)
  if not o.y then fail("%s: y is needed, a list of numbers", title) end
  local y = values.numbers(title .. ": y", o.y)
  local x = o.x and values.numbers(title .. ": x", o.x)
  if not x then
    x = {}
    for i = 1, #y do x[i] = i + 0.0 end
  end
  values.same_length(title, #y, "y", { x = x })
  local low, high = ends_of(title, o, y)
  return { x = x, y = y, low = low, high = high, label = o.label }
end

--- series.each(title, o, rules, shared): a list of { options, title }, one for each series: the
--- elements of the list o.series, checked by `rules`, or o itself without that list. Beside the
--- list, options of a single series are an error, except those in `shared`, which are the default
--- for all.
function series.each(title, o, rules, shared)
  if not o.series then return { { o, title } } end
  for name in pairs(rules) do
    if o[name] ~= nil and not (shared or {})[name] then
      fail("%s: %s belongs into the series, as series = { { %s = ... } }", title, name, name)
    end
  end
  local list = {}
  local count = rawlen(o.series)
  if count == 0 then fail("%s: series takes a list, as { { y = ... }, ... }", title) end
  if count > MOST then
    fail("%s: %d series are too many, at most %d are drawn", title, count, MOST)
  end
  for i = 1, count do
    local what, one = ("%s: series[%d]"):format(title, i), rawget(o.series, i)
    if type(one) ~= "table" then fail("%s takes a table, and got %s", what, options.show(one)) end
    local checked = options.check(what, one, rules, 0)
    for name in pairs(shared or {}) do
      if checked[name] == nil then checked[name] = o[name] end
    end
    list[i] = { checked, what }
  end
  return list
end

return series

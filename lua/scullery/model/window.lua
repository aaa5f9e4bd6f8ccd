--- Windows of p:update(ds, { every =, window = }): the rows that a model has learnt last, kept in
--- memory, because their sums are needed once more to take them out.
---
--- A window of n rows keeps the last n rows. A window of a time span w keeps the rows whose time is
--- at least t - w, where t is the latest time. Rows that were learnt earlier and are not in memory
--- are taken out together: their sums are kept until all of them must be outside of the window.
local core = require "scullery.core"

local window = {}

-- ------------ the option

local DAYS = { s = 1 / 86400, min = 1 / 1440, h = 1 / 24, d = 1, w = 7 } -- of units of durations

-- The number of days of a text as "36h"; nil for other texts.
local function days_of(text)
  local number, unit = text:match("^(%d+%.?%d*)%s*(%a+)$")
  return number and DAYS[unit] and tonumber(number) * DAYS[unit] or nil
end

-- Whether a value is a number above 0 and finite.
local function is_span(value)
  return type(value) == "number" and value > 0 and value < math.huge
end

-- The option as { rows = } or { span =, dates = true or nil, text = }; nil for other values.
local function read(value)
  if type(value) == "number" then
    local rows = math.tointeger(value)
    return rows and rows >= 1 and { rows = rows, text = ("%d rows"):format(rows) } or nil
  end
  if type(value) == "string" then
    local days = days_of(value)
    return is_span(days) and { span = days, dates = true, text = value } or nil
  end
  if type(value) ~= "table" or getmetatable(value) then return nil end
  local span = value.time
  if not is_span(span) or next(value, next(value)) ~= nil then return nil end
  return { span = span, text = ("%.14g of time"):format(span) }
end

--- window.rule: the rule of the option.
window.rule = { test = function(value) return read(value) ~= nil end,
  takes = "a number of rows, a duration as \"7d\" (of s, min, h, d, w), or { time = span } in \z
    the unit of the time column" }

--- window.text(value): the option in words.
function window.text(value) return read(value).text end

-- ------------ times

-- The first row of a list of times (n x 1) that is earlier than the row before it, where `before`
-- comes before the first row (nil: nothing); nil if there is none.
local function first_unsorted(time, before)
  for i = 1, time:rows() do
    local t = time:get(i, 1)
    if before and t < before then return i, t, before end
    before = t
  end
end

-- Raises an error if the window `spec` is by time and the data set has no such times.
local function check_times(spec, ds)
  if not spec.span then return end
  if not ds.time then
    error("a window by time needs the time of each row: name its column, as in sc.data.csv(path, \z
      { time = ... }), before the model is fitted", 0)
  end
  if spec.dates and not (ds.schema and ds.schema.time_in_dates) then
    error(("the window %s is a duration, which needs a time column of dates, and these times are \z
      numbers: give { time = span } in their unit"):format(spec.text), 0)
  end
end

-- ------------ the rows

local Window = {}
Window.__index = Window

-- model (the fitted model of the pipeline at the last change) -> its window, so that a model that
-- was changed by other means has none.
local window_of = setmetatable({}, { __mode = "k" })

-- A new window over the rows of the pipeline p: those of its fit where they are in memory, else
-- their sums. self: the sums of p. second: how many rows are not in memory.
local function begin(p, self, spec)
  local ds = p.data
  if ds and ds.X and #ds == self.rows and not (spec.span and not ds.time) then
    if spec.span and first_unsorted(ds.time) then
      local order = {}
      for i = 1, #ds do order[i] = i end
      table.sort(order, function(a, b)
        local s, t = ds.time:get(a, 1), ds.time:get(b, 1)
        return s < t or s == t and a < b
      end)
      ds = ds:select(order)
    end
    return setmetatable({ { ds = ds, first = 1 }, rows = #ds }, Window), 0
  end
  return setmetatable({ rows = 0, old = { handle = core.sums_copy(self.handle),
    rows = self.rows } }, Window), self.rows
end

--- window.open(p, s, value): the window of the pipeline p, whose sums are s, with the option as
--- given. second: the number of rows of the model that are not in memory.
function window.open(p, self, value)
  local spec = read(value)
  local found = window_of[p.fitted]
  local absent = found and found.old and found.old.rows or 0
  if found and spec.span and not found:timed() then found = nil end
  if not found then found, absent = begin(p, self, spec) end
  found.spec = spec
  return found, absent
end

--- w:stamp(p): the window is that of the present model of p.
function Window:stamp(p) window_of[p.fitted] = self end

--- w:timed(): whether all rows in memory have times.
function Window:timed()
  for _, one in ipairs(self) do if not one.ds.time then return false end end
  return true
end

--- w:check(ds): raises an error if rows cannot come into the window next: without times, or with a
--- time before that of an earlier row.
function Window:check(ds)
  check_times(self.spec, ds)
  if not self.spec.span then return end
  local one = self[#self]
  local latest = one and one.ds.time and one.ds.time:get(#one.ds, 1)
  local row, t, before = first_unsorted(ds.time, latest)
  if row then
    error(("row %d has the time %.14g after a row of %.14g: a window by time takes rows in the \z
      order of their times"):format(row, t, before), 0)
  end
end

-- How many rows of an entry are earlier than `least`.
local function earlier(one, least)
  local last = #one.ds
  local i = one.first
  while i <= last and one.ds.time:get(i, 1) < least do i = i + 1 end
  return i - one.first
end

-- How many of the rows in memory, the new ones ds among them, are outside of the window.
local function outside(self, ds)
  local spec = self.spec
  if spec.rows then return math.max(0, self.rows + #ds - spec.rows) end
  local least, count = ds.time:get(#ds, 1) - spec.span, 0
  for _, one in ipairs(self) do
    local some = earlier(one, least)
    count = count + some
    if one.first + some <= #one.ds then return count end
  end
  return count + earlier({ ds = ds, first = 1 }, least)
end

--- w:leaving(ds): what has to be taken out when the rows ds come: a list of data sets, and the sums
--- { handle, rows } of the rows that are not in memory, or nil. The window does not change.
function Window:leaving(ds)
  local left, list = outside(self, ds), {}
  local new = self.rows + #ds - left
  local old = self.old
  -- rows that are not in memory came before all others
  if old and not (left > 0 or self.spec.rows and new >= self.spec.rows) then old = nil end
  for i = 1, #self + 1 do
    local one = self[i] or { ds = ds, first = 1 }
    local some = math.min(left, #one.ds - one.first + 1)
    if some == 0 then break end
    list[#list + 1] = one.ds:subset(one.first, one.first + some - 1)
    left = left - some
  end
  return list, old
end

--- w:push(ds, left, forgot_old): the rows ds have come, and the `left` oldest rows in memory have
--- been taken out; forgot_old: and those that are not in memory.
function Window:push(ds, left, forgot_old)
  self[#self + 1] = { ds = ds, first = 1 }
  self.rows = self.rows + #ds - left
  if forgot_old then self.old = nil end
  while left > 0 do
    local one = self[1]
    local some = math.min(left, #one.ds - one.first + 1)
    one.first, left = one.first + some, left - some
    if one.first > #one.ds then table.remove(self, 1) end
  end
end

return window

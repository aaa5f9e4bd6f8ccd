--- Printing of parts of an experiment: a row, the best cell, series. They are plain tables
--- otherwise.
local text = require "scullery.base.text"
local text_table = require "scullery.base.text_table"
local values = require "scullery.experiment.values"

local shown = {}

local MOST_NUMBERS = 10 -- the most results in the line of a row
local MOST_DECIMALS = 7

-- "T = 500, method = a".
local function named(list)
  local names, parts = values.sorted(list), {}
  for i, name in ipairs(names) do
    local value = list[name]
    parts[i] = ("%s = %s"):format(name, math.type(value) == "float" and ("%.6g"):format(value)
      or values.show(value))
    if i == MOST_NUMBERS and #names > i then
      parts[i + 1] = ("and %d more"):format(#names - i)
      break
    end
  end
  return table.concat(parts, ", ")
end

-- A number without a standard error: four significant digits, from 1000 to 1e9 all whole ones.
local function alone(mean)
  local whole = math.abs(mean) >= 999.5 and math.abs(mean) < 1e9
  return (whole and "%.0f" or "%.4g"):format(mean)
end

--- shown.with_error(mean, error, sign): "0.0352 +- 0.0037" for the sign "+-": the mean to the
--- second digit of its standard error; "0.0352 +- 0" if that is 0 within rounding; the mean alone
--- if the error is nil.
function shown.with_error(mean, error, sign)
  if mean ~= mean then return "nan" end
  if not error or error ~= error or error == math.huge then return alone(mean) end
  if error <= 1e-12 * math.abs(mean) then return ("%s %s 0"):format(alone(mean), sign) end
  local digits = 1 - math.floor(math.log(error, 10))
  if digits > MOST_DECIMALS and mean ~= 0 then -- 4.42e-06 in place of 0.00000442
    local significant = math.max(digits + math.floor(math.log(math.abs(mean), 10)), 1)
    return ("%%.%de %%s %%.1e"):format(math.min(significant, 12)):format(mean, sign, error)
  end
  if digits < 0 or digits > MOST_DECIMALS then
    return ("%.6g %s %.2g"):format(mean, sign, error)
  end
  local form = ("%%.%df %s %%.%df"):format(digits, sign, digits)
  return form:format(mean, error)
end

--- shown.mean(one): "0.250 +- 0.010" for { mean, error }.
function shown.mean(one) return shown.with_error(one.mean, one.error, "+-") end

local Row = { __name = "experiment row" }

function Row.__tostring(row)
  local said = row.status == "done" and named(row.result)
    or ("%s: %s"):format(row.status, row.message or "")
  return text.clean(("cell { %s }: %s"):format(named(row.cell), said))
end

--- shown.row(row): makes the row print as text.
function shown.row(row) return setmetatable(row, Row) end

--- shown.best(best, value): makes the best cell by that result print as text.
function shown.best(best, value)
  return setmetatable(best, { __name = "best cell", __tostring = function(self)
    return text.clean(("cell { %s }: %s = %s, the mean of %d %s"):format(named(self.cell), value,
      shown.mean(self), self.count, self.count == 1 and "cell" or "cells"))
  end })
end

--- shown.series(list, x, value): makes the curves of that result against that option print as text.
function shown.series(list, x, value)
  return setmetatable(list, { __name = "series", __tostring = function(self)
    local rows = { { "series", x, value, "standard error" } }
    for _, one in ipairs(self) do
      for i, at in ipairs(one.x) do
        rows[#rows + 1] = { one.label, at, one.y[i], one.error and one.error[i] or "-" }
      end
    end
    return text_table.text(rows)
  end })
end

return shown

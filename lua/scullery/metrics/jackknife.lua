--- Standard errors of measures of rows, by the jackknife.
local core = require "scullery.core"
local options = require "scullery.base.options"
local streams = require "scullery.base.streams"

local jackknife = {}

--- jackknife.groups: the number of groups that are left out, one after another.
jackknife.groups = 20
local GROUPS <const> = jackknife.groups

-- For each group the list of the rows, in 1 .. n, that are not in it. Groups are random (always the
-- same for one n), and of about equal size.
local function without_groups(n)
  local outside = {}
  for g = 1, GROUPS do outside[g] = {} end
  for place, row in ipairs(core.permutation(n, 0, streams.intervals)) do
    for g = 1, GROUPS do
      if g ~= place % GROUPS + 1 then table.insert(outside[g], row) end
    end
  end
  for g = 1, GROUPS do table.sort(outside[g]) end
  return outside
end

--- jackknife.stderr(n, measure): the standard error of measure(nil), a number for n rows, by the
--- delete-a-group jackknife: with theta_g the measure without group g of G,
---   variance = (G - 1)/G sum_g (theta_g - mean theta)^2
--- (Shao and Tu 1995, 2.3). measure(rows) takes a list of row numbers, or nil for all rows. Returns
--- nil for fewer than 2 G rows, or if the measure fails or is NaN without some group.
function jackknife.stderr(n, measure)
  if n < 2 * GROUPS then return nil end
  local values, sum, square = {}, 0, 0
  for g, rows in ipairs(without_groups(n)) do
    local ok, value = options.attempt(measure, rows)
    if not ok or value ~= value then return nil end
    values[g], sum = value, sum + value
  end
  for g = 1, GROUPS do square = square + (values[g] - sum / GROUPS) ^ 2 end
  return math.sqrt((GROUPS - 1) / GROUPS * square)
end

return jackknife

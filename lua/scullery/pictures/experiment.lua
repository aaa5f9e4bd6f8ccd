--- Pictures of an experiment: each result against each option that is a number, a line for each
--- combination of the other options; bars where no option is a number.
local figures = require "scullery.pictures.figures"
local groups = require "scullery.experiment.groups"
local numbers = require "scullery.pictures.numbers"
local attempt = require("scullery.base.options").attempt
local plot = require "scullery.plot"
local seeds = require "scullery.experiment.seeds"

local experiment = {}

local MOST_LINES, MOST_BARS = 7, 30
local WIDTH = 900 -- pixels: legends are long

-- The figure that draw(given) makes; nil if it has no finite point.
local function drawn(draw, given)
  local ok, figure = attempt(draw, given)
  if ok then return figure end
  if not tostring(figure):find("no point can be drawn", 1, true) then error(figure, 0) end
end

-- ---------------------------------------------------------------- lines

-- The groups that have a result.
local function with_result(grouped, result)
  local list = {}
  for _, group in ipairs(grouped.list) do
    if group.results[result] then list[#list + 1] = group end
  end
  return list
end

-- The number of different combinations of these options among the groups.
local function combinations(list, names)
  local known, count = {}, 0
  for _, group in ipairs(list) do
    local label = groups.label(group.cell, names)
    if not known[label] then known[label], count = true, count + 1 end
  end
  return count
end

-- The options other than `without` that differ among these groups.
local function others_of(list, varying, without)
  local others = {}
  for _, one in ipairs(varying) do
    if one ~= without and combinations(list, { one }) > 1 then others[#others + 1] = one end
  end
  return others
end

-- The options whose combinations are drawn as lines, and the options over which is averaged: all
-- and none if the lines are few enough, otherwise the option with the most values that fit and the
-- rest.
local function split_by(list, others)
  if combinations(list, others) <= MOST_LINES then return others, {} end
  local chosen
  for _, one in ipairs(others) do
    local fits = combinations(list, { one }) <= MOST_LINES
    if fits and (not chosen or #one.values > #chosen.values) then chosen = one end
  end
  return { chosen }, others_of(list, others, chosen)
end

-- The points of one line: at each value of the option the mean over all its rows, with its standard
-- error; the list of errors is nil if no point has one.
local function points_of(list, option, result, repeated)
  local rows_at, x, y, deviation = {}, {}, {}, {}
  for _, group in ipairs(list) do
    local at = group.cell[option.name]
    if at ~= nil then
      rows_at[at] = table.move(group.done, 1, #group.done, #(rows_at[at] or {}) + 1,
        rows_at[at] or {})
    end
  end
  local banded = false
  for _, at in ipairs(option.values) do
    local one = seeds.mean(rows_at[at] or {}, function(row) return row.result[result] end, repeated)
    if one then
      x[#x + 1], y[#y + 1], deviation[#deviation + 1] = at, one.mean, one.error or 0 / 0
      banded = banded or one.error ~= nil
    end
  end
  return x, y, banded and deviation or nil
end

-- The lines, one for each combination of the options `by`, and a list of all their values.
-- repeated: the names of the seeds; nil if rows at one point also differ in other options. Their
-- spread is then not an error, and no band is drawn.
local function lines_of(list, option, result, by, repeated)
  local known, order, series, all = {}, {}, {}, {}
  for _, group in ipairs(list) do
    local label = groups.label(group.cell, by)
    if not known[label] then known[label], order[#order + 1] = {}, label end
    table.insert(known[label], group)
  end
  for _, label in ipairs(order) do
    local x, y, deviation = points_of(known[label], option, result, repeated or {})
    if #x > 0 then
      series[#series + 1] = { x = x, y = y, error = repeated and deviation or nil,
        label = label ~= "" and label or nil }
      table.move(y, 1, #y, #all + 1, all)
    end
  end
  return series, all
end

-- A figure of a result against an option; nil if there is nothing to draw.
local function line(grouped, option, result)
  local having = with_result(grouped, result)
  local by, averaged = split_by(having, others_of(having, grouped.varying, option))
  local series, all = lines_of(having, option, result, by,
    #averaged == 0 and groups.names_of(grouped.seeds) or nil)
  if #series == 0 then return nil end
  local notes = {}
  for _, one in ipairs(series) do
    if one.error then
      notes[1] = "bands: one standard error of the mean"
      break
    end
  end
  if #averaged > 0 then
    notes[#notes + 1] = "means over all values of " .. groups.names(averaged)
  end
  local figure = drawn(plot.line, { series = series, marks = true, width = WIDTH,
    x_label = option.name, y_label = result, x_log = numbers.log_spaced(option.values),
    y_log = numbers.wide(all) })
  return figure and figures.noted(figure, notes)
end

-- ---------------------------------------------------------------- bars

-- A figure with one bar for each group; nil if there are too many.
local function bars(grouped, result)
  local having, names, means, deviation = with_result(grouped, result), {}, {}, {}
  if #having == 0 or #having > MOST_BARS then return nil end
  for i, group in ipairs(having) do
    local one = group.results[result]
    names[i] = groups.label(group.cell, grouped.varying)
    if #grouped.varying == 1 then names[i] = names[i]:match(" = (.*)$") or "-" end
    means[i], deviation[i] = one.mean, one.error or 0 / 0
  end
  return drawn(plot.bars, { names = names, values = means, error = deviation, y_label = result,
    x_label = groups.names(grouped.varying), width = WIDTH })
end

-- ---------------------------------------------------------------- all

--- experiment.figures(grouped): the pictures of an experiment as a list of { figure, result =,
--- option = their names }; option is nil for bars. grouped: the result of groups.of.
function experiment.figures(grouped)
  local list, numeric = {}, {}
  for _, option in ipairs(grouped.varying) do
    if option.numeric and #option.values > 1 then numeric[#numeric + 1] = option end
  end
  for _, result in ipairs(grouped.results) do
    for _, option in ipairs(numeric) do
      local figure = line(grouped, option, result)
      if figure then
        list[#list + 1] = { figure = figure, result = result, option = option.name }
      end
    end
    local figure = #numeric == 0 and #grouped.varying > 0 and bars(grouped, result)
    if figure then list[#list + 1] = { figure = figure, result = result } end
  end
  return list
end

return experiment

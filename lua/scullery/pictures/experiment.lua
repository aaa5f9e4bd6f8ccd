--- Pictures of an experiment: each result and the time against each option that is a number, with a
--- line for each combination of the other options; bars if no option is a number. There is a panel
--- for each data set.
local figures = require "scullery.pictures.figures"
local groups = require "scullery.experiment.groups"
local numbers = require "scullery.pictures.numbers"
local attempt = require("scullery.base.options").attempt
local paired = require "scullery.experiment.paired"
local plot = require "scullery.plot"
local seeds = require "scullery.experiment.seeds"
local values = require "scullery.experiment.values"

local experiment = {}

local MOST_LINES, MOST_BARS = 7, 30
local WIDTH = 900 -- pixels: legends are long

-- The figure that draw(given) makes; nil if none of its points can be drawn.
local function drawn(draw, given)
  local ok, figure = attempt(draw, given)
  if ok then return figure end
  if not tostring(figure):find("no point can be drawn", 1, true) then error(figure, 0) end
end

-- ------------ lines

-- The groups of a list that have the result of this name.
local function with_result(groups_of_set, result)
  local list = {}
  for _, group in ipairs(groups_of_set) do
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

-- The options whose combinations are drawn as lines, and the options over which lines are averaged:
-- all and none if the lines are few enough, otherwise the option with the most values that fit, and
-- the rest.
local function split_by(list, others)
  if combinations(list, others) <= MOST_LINES then return others, {} end
  local chosen
  for _, one in ipairs(others) do
    local fits = combinations(list, { one }) <= MOST_LINES
    if fits and (not chosen or #one.values > #chosen.values) then chosen = one end
  end
  return { chosen }, others_of(list, others, chosen)
end

-- A result of a row, if it is a number; for "seconds" the time of the cell, unless the row has a
-- result of that name.
local function value_of(row, result)
  local value = row.result[result]
  if value == nil and result == "seconds" then return row.seconds end
  return type(value) == "number" and value or nil
end

-- The label of a group in a legend for these options: the value of a single option, whose name is
-- the title of the legend; names and values of several.
local function label_of(group, by)
  if #by ~= 1 then return groups.label(group.cell, by) end
  local value = group.cell[by[1].name]
  return value == nil and "-" or values.show(value)
end

-- The title of a legend for these options, or nil.
local function legend_title(by) return #by == 1 and by[1].name or nil end

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
    local one = seeds.mean(rows_at[at] or {}, function(row) return value_of(row, result) end,
      repeated)
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
    local label = label_of(group, by)
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

-- A figure of a result of a set of groups against an option; nil if there is nothing to draw.
-- about: { varying, seeds = names, data = the option of the data sets or nil, several = whether the
-- set has other panels beside it }.
local function line(set, about, option, result)
  local having = with_result(set.list, result)
  local by, averaged = split_by(having, others_of(having, about.varying, option))
  local series, all = lines_of(having, option, result, by,
    #averaged == 0 and about.seeds or nil)
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
    title = set.title, legend_title = legend_title(by), x_label = option.name, y_label = result,
    x_log = numbers.log_spaced(option.values), y_log = numbers.wide(all) })
  return figure and figures.noted(figure, notes)
end

-- ------------ bars

-- The options of bars: of those that differ, the one whose values have names at the axis, and the
-- others, whose combinations have colours; nil if there are too many colours.
local function bars_by(having, varying)
  local differing, names = others_of(having, varying), nil
  for _, one in ipairs(differing) do
    if not names or #one.values > #names.values then names = one end
  end
  if not names then return nil end
  local others = others_of(having, varying, names)
  if combinations(having, others) <= MOST_LINES then return names, others end
end

-- One series of bars: the means of the groups at the values of the option.
local function bar_series(list, option, result, label)
  local one, known = { values = {}, error = {}, label = label ~= "" and label or nil }, {}
  for _, group in ipairs(list) do
    local value = group.cell[option.name]
    if value ~= nil then known[values.show(value)] = group.results[result] end
  end
  for i, value in ipairs(option.values) do
    local mean = known[values.show(value)]
    one.values[i], one.error[i] = mean and mean.mean or 0 / 0, mean and mean.error or 0 / 0
  end
  return one
end

-- A figure with bars for the values of one option, in the colours of the others; nil if there are
-- too many.
local function bars(set, about, result)
  local having = with_result(set.list, result)
  local option, others = bars_by(having, about.varying)
  if not option or #having > MOST_BARS then return nil end
  local known, order, series, names = {}, {}, {}, {}
  for _, group in ipairs(having) do
    local label = label_of(group, others)
    if not known[label] then known[label], order[#order + 1] = {}, label end
    table.insert(known[label], group)
  end
  local shown_values = {} -- those that some group of this set has
  for _, value in ipairs(option.values) do
    for _, group in ipairs(having) do
      if group.cell[option.name] == value then
        shown_values[#shown_values + 1] = value
        break
      end
    end
  end
  local drawn_option = { name = option.name, values = shown_values }
  for i, label in ipairs(order) do
    series[i] = bar_series(known[label], drawn_option, result, label)
  end
  for i, value in ipairs(shown_values) do names[i] = values.show(value) end
  return drawn(plot.bars, { names = names, series = series, title = set.title, y_label = result,
    legend_title = legend_title(others), x_label = option.name, width = WIDTH })
end

-- ------------ panels

-- Gives layers with the same label the same colour in all panels.
local function colour_alike(list)
  local places, count = {}, 0
  for _, figure in ipairs(list) do
    for _, layer in ipairs(figure.panels[1].layers) do
      if layer.colour and layer.label then
        if not places[layer.label] then count, places[layer.label] = count + 1, count + 1 end
        layer.colour = places[layer.label]
      end
    end
  end
end

-- One figure with a panel draw(set) for each data set; nil if there is none.
local function of_sets(about, draw)
  local list = {}
  for _, set in ipairs(about.sets) do list[#list + 1] = draw(set) end
  if #list < 2 then return list[1] end
  colour_alike(list)
  local columns = #list == 4 and 2 or math.min(3, #list)
  return plot.panels{ columns = columns, width = math.max(WIDTH, 400 * columns),
    height = 330 * math.ceil(#list / columns), table.unpack(list) }
end

-- The fields `about` (see line) of an experiment, and sets: a list of { list = groups, title }, one
-- for each data set. If nothing but the data set varies, it is an option like others.
local function about_of(grouped)
  local data, varying = paired.data_option(grouped.varying), {}
  for _, one in ipairs(grouped.varying) do
    if one ~= data then varying[#varying + 1] = one end
  end
  if #varying == 0 then data, varying = nil, grouped.varying end
  local about = { varying = varying, seeds = groups.names_of(grouped.seeds),
    sets = data and paired.sets(grouped) or { { list = grouped.list } } }
  for _, set in ipairs(data and about.sets or {}) do set.title = values.show(set.value) end
  return about
end

-- Names of the results that are numbers, and "seconds".
local function results_of(grouped)
  local list = { table.unpack(grouped.results) }
  for _, name in ipairs(list) do if name == "seconds" then return list end end
  list[#list + 1] = "seconds"
  return list
end

-- ------------ all

--- experiment.figures(grouped): the pictures of an experiment as a list of { figure, result =,
--- option = their names }; option is nil for bars. grouped: the result of groups.of.
function experiment.figures(grouped)
  local list, numeric, about = {}, {}, about_of(grouped)
  for _, option in ipairs(about.varying) do
    if option.numeric and #option.values > 1 then numeric[#numeric + 1] = option end
  end
  for _, result in ipairs(results_of(grouped)) do
    for _, option in ipairs(numeric) do
      local figure = of_sets(about, function(set) return line(set, about, option, result) end)
      if figure then
        list[#list + 1] = { figure = figure, result = result, option = option.name }
      end
    end
    local figure = #numeric == 0 and #about.varying > 0
      and of_sets(about, function(set) return bars(set, about, result) end)
    if figure then list[#list + 1] = { figure = figure, result = result } end
  end
  return list
end

return experiment

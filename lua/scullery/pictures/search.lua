--- The picture of a search: its score against the options that were searched. One option of numbers
--- is drawn as a line, one of words or stages as bars, two of numbers as a heatmap, numbers and
--- words as a line for each word. Of more options, the two are drawn on which the score depends
--- most.
local fail = require "scullery.base.fail"
local figures = require "scullery.pictures.figures"
local numbers = require "scullery.pictures.numbers"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local plot = require "scullery.plot"
local search_table = require "scullery.model.search_table"

local search = {}

local MOST_LINES, MOST_BARS, MOST_NUMBERS = 6, 30, 120

-- ------------ options and their values

-- A searched option as { name, values = in the order in which they are drawn (numbers ascending),
-- texts = of the values, place = { [key] = index of the value }, numeric, rows = the number of
-- cells with it }.
local function read_option(cells, name)
  local one = { name = name, values = {}, place = {}, numeric = true, rows = 0 }
  for _, row in ipairs(cells) do
    local value = row.choice[name]
    if value ~= nil then
      one.rows = one.rows + 1
      local key = search_table.key_of(value)
      if one.place[key] == nil then
        one.values[#one.values + 1], one.place[key] = value, 0
        one.numeric = one.numeric and type(value) == "number" and value == value
          and math.abs(value) < math.huge
      end
    end
  end
  if one.numeric then table.sort(one.values) end
  local label = search_table.labels_of(cells, name)
  one.texts = {}
  for i, value in ipairs(one.values) do
    local key = search_table.key_of(value)
    one.place[key] = i
    one.texts[i] = one.numeric and ("%.4g"):format(value) or label[key]:match('^"(.*)"$')
      or label[key]
  end
  return one
end

-- The best row of the table for each combination of values of the chosen options: a list of { row
-- =, at = places of the values }, in the order of the rows. The best cell is always one of them.
local function profile(cells, chosen)
  local best, list = {}, {}
  for _, row in ipairs(cells) do
    local at, complete = {}, true
    for i, one in ipairs(chosen) do
      local value = row.choice[one.name]
      complete = complete and value ~= nil
      at[i] = value ~= nil and one.place[search_table.key_of(value)] or 0
    end
    local key = table.concat(at, " ")
    local point = best[key]
    if complete and not point then
      point = { row = row, at = at }
      best[key], list[#list + 1] = point, point
    elseif complete and (cells:better(row.mean, point.row.mean) or row == cells.best) then
      point.row = row
    end
  end
  return list
end

-- A measure of how much the score depends on an option: the range of the best scores of its values.
local function spread(cells, one)
  local low, high = math.huge, -math.huge
  for _, point in ipairs(profile(cells, { one })) do
    local mean = point.row.mean
    if mean == mean and math.abs(mean) < math.huge then
      low, high = math.min(low, mean), math.max(high, mean)
    end
  end
  return high > low and high - low or 0
end

-- The options with the given names, one or two; raises an error for other names.
local function named(all, given)
  local names, chosen = {}, {}
  for i, one in ipairs(all) do names[i] = one.name end
  if #given < 1 or #given > 2 then
    fail("option 'options' takes one or two names of searched options, and got %d", #given)
  end
  for i, name in ipairs(given) do
    for _, one in ipairs(all) do if one.name == name then chosen[i] = one end end
    if not chosen[i] then
      fail("option 'options' names %s, which was not searched%s; there are %s",
        options.show(name), objects.suggestion(name, { table.unpack(names) }),
        table.concat(names, ", "))
    end
  end
  if chosen[1] == chosen[2] then fail("option 'options' names '%s' twice", chosen[1].name) end
  return chosen
end

-- At most two of the options that have several values: those with the largest spread, in the order
-- of the table. If none has several values, the first option.
local function most_telling(cells, all)
  local list = {}
  for i, one in ipairs(all) do
    if #one.values > 1 then
      list[#list + 1] = { one = one, order = i, spread = spread(cells, one) }
    end
  end
  if #list == 0 then return { all[1] } end
  table.sort(list, function(a, b)
    if a.spread ~= b.spread then return a.spread > b.spread end
    return a.order < b.order
  end)
  list = { list[1], list[2] }
  table.sort(list, function(a, b) return a.order < b.order end)
  return { list[1].one, list[2] and list[2].one }
end

-- ------------ notes

-- The names of the options with several values that are not drawn.
local function others(all, chosen)
  local list = {}
  for _, one in ipairs(all) do
    if #one.values > 1 and one ~= chosen[1] and one ~= chosen[2] then
      list[#list + 1] = one.name
    end
  end
  return list
end

-- "lambda = 0.1, width = 2" for the best cell and the options that are drawn.
local function best_text(cells, chosen)
  local parts = {}
  for i, one in ipairs(chosen) do
    local value = cells.best.choice[one.name]
    parts[i] = ("%s = %s"):format(one.name, value == nil and "-"
      or one.texts[one.place[search_table.key_of(value)]])
  end
  return table.concat(parts, ", ")
end

-- The note on the meaning of `bars` ("error bars", "band"); nil without standard errors.
local function error_text(cells, bars)
  local row = cells.best or cells[1]
  if not row.stderr then return nil end
  local seed = cells.seed and (", seed %d"):format(cells.seed) or ""
  return ("%s: 1 standard error over %d folds%s"):format(bars, row.folds and #row.folds or 0,
    seed)
end

-- The notes of a picture. bars: see error_text; nil without error bars.
local function notes_of(cells, all, chosen, bars)
  local list, rest = {}, others(all, chosen)
  local missing = 0
  for _, one in ipairs(chosen) do missing = math.max(missing, #cells - one.rows) end
  if cells.best then
    list[#list + 1] = ("best: %s, %s %.4g"):format(best_text(cells, chosen), cells.score,
      cells.best.mean)
  end
  list[#list + 1] = bars and error_text(cells, bars) or nil
  if #rest > 0 then
    list[#list + 1] = ("each value is the best over %s"):format(table.concat(rest, ", "))
  end
  if missing > 0 then
    list[#list + 1] = ("%d of %d cells lack an option that is drawn, and are left out"):format(
      missing, #cells)
  end
  return list
end

-- ------------ drawing

-- The score of a row; NaN, which is drawn as a gap, if it is infinite.
local function mean_of(row)
  return math.abs(row.mean) < math.huge and row.mean or 0 / 0
end

-- The means of points, their standard errors or nil, and true if the values need a log axis.
local function scores_of(points)
  local means, errors, lows = {}, {}, {}
  for i, point in ipairs(points) do
    means[i], errors[i] = mean_of(point.row), point.row.stderr or 0 / 0
    lows[i] = point.row.stderr and means[i] - errors[i] or means[i]
  end
  return means, points[1].row.stderr and errors or nil, numbers.wide(lows)
end

-- Sorts the points by their value of option k.
local function by_place(points, k)
  table.sort(points, function(a, b) return a.at[k] < b.at[k] end)
  return points
end

-- The options of a figure that all pictures share.
local function common(cells, given)
  return { title = given.title or ("Search: %s"):format(cells.score), width = given.width,
    height = given.height }
end

local function with(base, fields)
  for name, value in pairs(fields) do base[name] = value end
  return base
end

-- The option `rules` for a vertical line at the best value of an option of numbers; nil without
-- one.
local function best_rule(cells, one, label)
  local value = cells.best and cells.best.choice[one.name]
  return value and { { x = value, label = label } } or nil
end

-- A line over an option of numbers; with a second option, of words, one line for each word.
local function draw_lines(cells, given, chosen, notes)
  local number, word, series, wide = chosen[1], chosen[2], {}, true
  for k = 1, word and #word.values or 1 do
    local points = {}
    for _, point in ipairs(profile(cells, chosen)) do
      if not word or point.at[2] == k then points[#points + 1] = point end
    end
    by_place(points, 1)
    local x = {}
    for i, point in ipairs(points) do x[i] = number.values[point.at[1]] end
    if #x > 0 then
      local means, errors, one_wide = scores_of(points)
      wide = wide and one_wide
      series[#series + 1] = { x = x, y = means, error = errors,
        label = word and word.texts[k] or nil }
    end
  end
  return figures.noted(plot.line(with(common(cells, given), { series = series, marks = true,
    x_label = number.name, y_label = figures.score_label(cells.score),
    x_log = numbers.log_spaced(number.values), y_log = wide,
    rules = best_rule(cells, number, "best") })), notes)
end

-- Bars for an option of words, the best score first.
local function draw_bars(cells, given, chosen, notes)
  local points, names = profile(cells, chosen), {}
  table.sort(points, function(a, b)
    if a.row.mean ~= b.row.mean then return cells:better(a.row.mean, b.row.mean) end
    return a.at[1] < b.at[1]
  end)
  if #points > MOST_BARS then
    notes[#notes + 1] = ("the best %d of %d are drawn"):format(MOST_BARS, #points)
    points = table.move(points, 1, MOST_BARS, 1, {})
  end
  for i, point in ipairs(points) do names[i] = chosen[1].texts[point.at[1]] end
  local means, errors = scores_of(points)
  return figures.noted(plot.bars(with(common(cells, given), { names = names, values = means,
    error = errors, x_label = chosen[1].name, y_label = figures.score_label(cells.score) })), notes)
end

-- A heatmap over two options; combinations that were not searched are empty cells.
local function draw_heatmap(cells, given, chosen, notes)
  local x, y, values = chosen[1], chosen[2], {}
  for i in ipairs(y.values) do
    values[i] = {}
    for j in ipairs(x.values) do values[i][j] = 0 / 0 end
  end
  for _, point in ipairs(profile(cells, chosen)) do
    values[point.at[2]][point.at[1]] = mean_of(point.row)
  end
  return figures.noted(plot.heatmap(with(common(cells, given), { values = values, x = x.texts,
    y = y.texts, x_label = x.name, y_label = y.name, label = figures.score_label(cells.score),
    numbers = #x.values * #y.values <= MOST_NUMBERS })), notes)
end

-- The score against each of two options whose values were drawn at random, so that a heatmap would
-- be nearly empty.
local function draw_scatters(cells, given, chosen, notes)
  local panels = {}
  for k, one in ipairs(chosen) do
    local points, x = by_place(profile(cells, chosen), k), {}
    for i, point in ipairs(points) do x[i] = one.values[point.at[k]] end
    local means, errors, wide = scores_of(points)
    panels[k] = plot.scatter{ x = x, y = means, error = errors, x_label = one.name,
      y_label = figures.score_label(cells.score), x_log = numbers.log_spaced(one.values),
      y_log = wide, rules = best_rule(cells, one) }
  end
  figures.noted(panels[1], notes)
  return plot.panels{ panels[1], panels[2], columns = 2, title = given.title
    or ("Search: %s"):format(cells.score), width = given.width, height = given.height }
end

-- The picture for one or two options, see the head of this file.
local function draw(cells, given, all, chosen)
  local one, two = chosen[1], chosen[2]
  if two and two.numeric and not one.numeric then one, two = two, one end
  if not two then
    local bars = one.numeric and "band" or "error bars"
    if one.numeric and #one.values == 1 then bars = nil end -- a point has no band
    local notes = notes_of(cells, all, chosen, bars)
    return (one.numeric and draw_lines or draw_bars)(cells, given, { one }, notes)
  end
  if one.numeric and not two.numeric and #two.values <= MOST_LINES then
    return draw_lines(cells, given, { one, two }, notes_of(cells, all, chosen, "bands"))
  end
  local is_grid = 2 * #profile(cells, chosen) > #one.values * #two.values
  if one.numeric and two.numeric and not is_grid then
    return draw_scatters(cells, given, chosen, notes_of(cells, all, chosen, "error bars"))
  end
  return draw_heatmap(cells, given, { one, two }, notes_of(cells, all, chosen))
end

local rules = {
  options = { type = "table or string",
    takes = "the name of a searched option, or a list of two" },
  title = { type = "string" }, width = { type = "integer" }, height = { type = "integer" },
}
options.declare("search table:plot", rules)

--- search.plot(cells, given): see Table:plot.
function search.plot(cells, given)
  local o = options.check("search table:plot", given, rules, 0)
  if #cells == 0 then fail("the table has no cells: there is nothing to draw") end
  local all = {}
  for i, name in ipairs(cells.names) do all[i] = read_option(cells, name) end
  if #all == 0 then fail("the table has no options: there is nothing to draw") end
  local wanted = type(o.options) == "string" and { o.options } or o.options
  local chosen = wanted and named(all, wanted) or most_telling(cells, all)
  return draw(cells, o, all, chosen)
end

return search

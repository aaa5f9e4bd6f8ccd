--- sc.plot.heatmap: a table of numbers as colours.
local contour = require "scullery.plot.contour"
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local figure = require "scullery.plot.figure"
local options = require "scullery.base.options"
local panel = require "scullery.plot.panel"
local texts = require "scullery.plot.texts"
local values = require "scullery.plot.values"

local heatmap = {}

local MOST_SIDE = 500 -- rows or columns drawn; more are averaged
local MOST_NUMBERS = 1000 -- cells whose numbers are written

local list_of_texts = { test = values.is_list, takes = "a list of texts or numbers" }
local rules = panel.rules{
  values = { test = values.is_list, takes = "a matrix, or a list of rows", required = true },
  x = list_of_texts, y = list_of_texts, numbers = { type = "boolean", default = false },
  label = { type = "string" }, contour = { type = "number" }, range = { test = values.is_range,
    takes = "{ low, high }, two finite numbers in ascending order" },
  equal = { type = "boolean", default = false },
}
for _, name in ipairs{ "x_range", "y_range", "legend", "legend_title", "colours" } do
  rules[name] = nil
end
options.declare("plot.heatmap", rules)

-- The values as a list of rows; raises an error for rows of different lengths, or none.
local function rows_of(title, given)
  local rows = {}
  if core.is_matrix(given) then
    rows = given:totable()
  else
    for i = 1, rawlen(given) do
      local row = rawget(given, i)
      local what = ("%s: values[%d]"):format(title, i)
      if not values.is_list(row) then
        fail("%s takes a row, a list of numbers, and got %s", what, options.show(row))
      end
      rows[i] = values.numbers(what, row)
      if #rows[i] ~= #rows[1] then
        fail("%s has %d numbers, and the first row %d", what, #rows[i], #rows[1])
      end
    end
  end
  if #rows == 0 or #rows[1] == 0 then
    fail("%s: there is nothing to draw, values is empty", title)
  end
  return rows
end

-- Names of the columns or rows: the given ones, or their numbers.
local function names_of(title, name, given, count)
  if given then
    local list = values.texts(("%s: %s"):format(title, name), given)
    if #list ~= count then
      fail("%s: %s has %d entries, and values has %d %s", title, name, #list, count,
        name == "x" and "columns" or "rows")
    end
    return list
  end
  local list = {}
  for i = 1, count do list[i] = tostring(i) end
  return list
end

-- The mean of the numbers in a block of cells; NaN if there are none.
local function block_mean(rows, top, bottom, left, right)
  local sum, count = 0, 0
  for i = top, bottom do
    for j = left, right do
      local value = rows[i][j]
      if value == value then sum, count = sum + value, count + 1 end
    end
  end
  return sum / count
end

-- A table of at most MOST_SIDE rows and columns, of means of blocks, and its names: a block has
-- that of its first row or column. Last: a note about it, or nil if nothing was merged.
local function smaller(rows, columns_names, rows_names)
  local down, across = math.ceil(#rows / MOST_SIDE), math.ceil(#rows[1] / MOST_SIDE)
  if down == 1 and across == 1 then return rows, columns_names, rows_names end
  local made, x, y = {}, {}, {}
  for top = 1, #rows, down do
    local row = {}
    for left = 1, #rows[1], across do
      row[#row + 1] = block_mean(rows, top, math.min(top + down - 1, #rows), left,
        math.min(left + across - 1, #rows[1]))
      if top == 1 then x[#x + 1] = columns_names[left] end
    end
    made[#made + 1] = row
    y[#y + 1] = rows_names[top]
  end
  return made, x, y, ("each cell is the mean of %d x %d values"):format(down, across)
end

-- A copy in which values that are infinite or beyond 1e300 are NaN; the least and the largest value
-- left, and the number of those replaced.
local function clean(rows)
  local low, high, bad, made = math.huge, -math.huge, 0, {}
  for i, row in ipairs(rows) do
    made[i] = {}
    for j, value in ipairs(row) do
      local fine = value >= -1e300 and value <= 1e300
      made[i][j] = fine and value or 0 / 0
      if fine then low, high = math.min(low, value), math.max(high, value) else bad = bad + 1 end
    end
  end
  return made, low, high, bad
end

-- The lists that fig:data saves, one entry for each cell.
local function data_of(rows, columns_names, rows_names)
  local data = { x = {}, y = {}, value = {} }
  for i, row in ipairs(rows) do
    for j, value in ipairs(row) do
      local place = #data.x + 1
      data.x[place], data.y[place], data.value[place] = columns_names[j], rows_names[i], value
    end
  end
  return data
end

-- The colour bar of values from low to high, or of the option range; equal values get a range
-- around them. Raises an error if there is no finite value.
local function colour_bar(title, o, low, high)
  if low > high then
    fail("%s: none of the values can be drawn: they are not finite numbers", title)
  end
  if o.range then
    low, high = o.range[1], o.range[2]
    if values.is_narrow(low, high) then fail("%s: range is too narrow to draw", title) end
  elseif values.is_narrow(low, high) then
    local half = math.abs(high) > 1e-300 and math.abs(high) / 10 or 0.5
    low, high = low - half, high + half
  end
  return { label = o.label and texts.clean(o.label), low = low, high = high }
end

--- sc.plot.heatmap{ values =, ... }: a table of numbers as colours.
--- values: a matrix, or a list of rows; the first row is drawn at the top. x, y: names or numbers
---   of the columns and rows. numbers = true writes the numbers into the cells. label: the meaning
---   of the colours, printed beside their bar. range = { low, high }: the values of the first and
---   the last colour. equal = true: the cells are squares. contour = 0: a line where the values
---   are 0, as at the boundary between two classes (in saved pictures).
--- title, x_label, y_label, x_unit, y_unit, notes, font, font_size, width, height: as in
---   sc.plot.line.
--- Returns a figure: fig:show(), fig:save("f.svg"), fig:data("f.csv"), print(fig).
function heatmap.new(given)
  local title = "plot.heatmap"
  local o = options.check(title, given, rules, 0)
  local all = rows_of(title, o.values)
  local x, y = names_of(title, "x", o.x, #all[1]), names_of(title, "y", o.y, #all)
  local data = { data_of(all, x, y) }
  local drawn, low, high, bad = clean(all)
  local notes = {}
  if bad > 0 then notes[1] = bad == 1 and "1 value is not a finite number: an empty cell"
    or ("%d values are not finite numbers: empty cells"):format(bad) end
  drawn, x, y, notes[#notes + 1] = smaller(drawn, x, y)
  local numbers = o.numbers and #drawn * #drawn[1] <= MOST_NUMBERS
  if o.numbers and not numbers then notes[#notes + 1] = "too many cells to write their numbers" end
  local layers = { { kind = "cells", values = drawn, numbers = numbers } }
  if o.contour then
    local pieces = contour.of(drawn, o.contour)
    layers[2] = { kind = "contour", places_x = pieces.x, places_y = pieces.y }
  end
  return figure.new(o, panel.make(title, o, { notes = notes, data = data, layers = layers,
    colour_bar = colour_bar(title, o, low, high),
    x = { categories = x, low = 0.5, high = #x + 0.5 },
    y = { categories = y, low = 0.5, high = #y + 0.5, reversed = true } }))
end

return heatmap

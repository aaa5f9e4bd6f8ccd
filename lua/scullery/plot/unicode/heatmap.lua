--- A heatmap in characters: each cell is a shade, or has a background colour, with its number if
--- there is room.
local canvas = require "scullery.plot.unicode.canvas"
local frame = require "scullery.plot.unicode.frame"
local glyphs = require "scullery.plot.unicode.glyphs"
local ink = require "scullery.plot.unicode.ink"
local scale = require "scullery.plot.unicode.scale"
local text = require "scullery.base.text"

local heatmap = {}

local WIDEST, HIGHEST = 8, 3 -- columns and rows of a cell
local STEPS, LEAST_STEPS = 10, 4 -- of the bar that shows the range
local NAME_WIDEST = 12      -- columns of a cell that is widened to show its name

-- plot, in the functions below: { canvas, colour, share = the function from a value to its share of
-- the range, count_down, count_across = numbers of cells, height, width = rows and columns of a
-- cell, down, across = values that a cell merges, numbers = whether they are written }.

-- The mean of the numbers in a block of values; NaN if it has none. Quarters are summed, because
-- the sum of four large numbers may overflow.
local function mean_of(values, top, bottom, left, right)
  local sum, count = 0, 0
  for i = top, bottom do
    for j = left, right do
      local value = values[i][j]
      if value == value then sum, count = sum + value / 4, count + 1 end
    end
  end
  return count > 0 and sum / count * 4 or 0 / 0
end

-- The layout of `count` values on at most `most` columns or rows of the canvas: the number of
-- cells, the columns of a cell (1 if a cell merges several values), the values of a cell.
local function layout(count, most, largest)
  if count <= most then return count, math.min(largest, most // count), 1 end
  local each = math.ceil(count / most)
  return math.ceil(count / each), 1, each
end

-- The means of blocks of `down` x `across` values.
local function merged(values, down, across)
  if down == 1 and across == 1 then return values end
  local rows = {}
  for top = 1, #values, down do
    local row = {}
    for left = 1, #values[1], across do
      row[#row + 1] = mean_of(values, top, math.min(#values, top + down - 1), left,
        math.min(#values[1], left + across - 1))
    end
    rows[#rows + 1] = row
  end
  return rows
end

-- ------------ cells

-- The range of the values: that of the colour bar, else from the least value to the largest.
local function limits(panel, values)
  local bar = panel.colour_bar
  if bar then return bar.low, bar.high end
  local low, high = math.huge, -math.huge
  for _, row in ipairs(values) do
    for _, value in ipairs(row) do
      if value == value then low, high = math.min(low, value), math.max(high, value) end
    end
  end
  if low < high then return low, high end
  local middle = low == high and low or 0
  return middle - 1, middle + 1
end

-- The character, colour and background of a cell at a share of the range.
local function look(share, colour)
  if share ~= share then return glyphs.missing end
  share = math.max(0, math.min(1, share))
  if colour then
    local paper, letters = ink.ramp(share)
    return " ", letters, paper
  end
  return glyphs.shades[math.min(#glyphs.shades, 1 + math.floor(share * #glyphs.shades))]
end

-- A number as it is written into a cell; "" for NaN.
local function number_text(value)
  if value ~= value then return "" end
  if value == math.floor(value) and math.abs(value) < 1e6 then return ("%d"):format(value) end
  return ("%.3g"):format(value)
end

local function longest_number(values)
  local most = 0
  for _, row in ipairs(values) do
    for _, value in ipairs(row) do most = math.max(most, #number_text(value)) end
  end
  return most
end

-- Writes a number in the middle of its cell, with spaces beside it if there is room.
local function write_number(plot, place, value, letters)
  local s = number_text(value)
  if s == "" then return end
  local free = place.width - #s
  if not plot.colour and free >= 2 then s = " " .. s .. " " end
  local start = place.column + (place.width - #s) // 2
  for i = 1, #s do
    plot.canvas:put_over(start + i - 1, place.row + (place.height - 1) // 2, s:sub(i, i), letters)
  end
end

-- Draws a cell at place = { row, column, width, height } of the canvas.
local function draw_cell(plot, place, value)
  local glyph, letters, paper = look(plot.share(value), plot.colour)
  for row = place.row, place.row + place.height - 1 do
    for column = place.column, place.column + place.width - 1 do
      plot.canvas:put_under(column, row, glyph, letters, paper)
    end
  end
  if plot.numbers then write_number(plot, place, value, letters) end
end

-- ------------ names

-- The columns of the longest name; 0 without names.
local function longest_name(names)
  local most = 0
  for _, name in ipairs(names or {}) do most = math.max(most, text.width(tostring(name))) end
  return most
end

-- The labels on the left, without the names of the rows, which name_rows adds when the layout is
-- known (see frame.left for the fields).
local function left_of(panel, width)
  local most, longest = math.max(5, width // 3), longest_name(panel.y.categories)
  return { gutter = math.min(most, longest), label = panel.y.label or "",
    cut = longest > most and most }
end

-- Adds the names of the rows; a cell that merges several rows has the name of the first.
local function name_rows(panel, left, plot)
  for i = 1, panel.y.categories and plot.count_down or 0 do
    local from_top = panel.y.reversed and i or plot.count_down + 1 - i
    local name = panel.y.categories[(i - 1) * plot.down + 1]
    left[(from_top - 1) * plot.height + (plot.height - 1) // 2] =
      frame.short(text.clean(tostring(name)), left.gutter)
  end
  left.note = frame.note_of("y", left.cut,
    plot.down > 1 and not frame.are_numbers(panel.y.categories or {}))
end

-- The names of the columns below the canvas, as frame.below returns them.
local function below_of(panel, left, plot)
  local list = {}
  for j = 1, panel.x.categories and plot.count_across or 0 do
    list[j] = { column = (j - 1) * plot.width + (plot.width - 1) // 2,
      text = text.clean(tostring(panel.x.categories[(j - 1) * plot.across + 1])) }
  end
  local numbers = frame.are_numbers(panel.x.categories or {})
  local below = frame.names_below(list, left.gutter, plot.canvas.columns, numbers)
  below.label = panel.x.label or ""
  if plot.across > 1 and not numbers and not below.note then
    below.note = frame.note_of("x", nil, true)
  end
  return below
end

-- ------------ colour bar

-- The ends of the range as texts, and the number of shades with room between them.
local function ends_of(low, high, width)
  for digits = 3, 1, -1 do
    local form = ("%%.%dg"):format(digits)
    local from, to = form:format(low), form:format(high)
    local room = width - 3 - #from - #to
    if room >= LEAST_STEPS or digits == 1 then return from, to, math.min(STEPS, room) end
  end
end

-- "low ░▒▓█ high  label" as lines; the label is on separate lines if it has no room on the first.
local function colour_bar(panel, o, low, high)
  local lines, line = {}, ink.spans()
  local label = panel.colour_bar and panel.colour_bar.label or ""
  local from, to, steps = ends_of(low, high, o.width)
  line:add(" " .. from .. " ")
  for i = 1, steps do
    local glyph, letters, paper = look((i - 0.5) / steps, o.colour)
    line:add(glyph, letters, paper)
  end
  local used = 3 + #from + steps + #to
  line:add(" " .. to)
  if label ~= "" and used + 2 + text.width(label) <= o.width then
    line:add("  " .. text.clean(label))
    used, label = used + 2 + text.width(label), ""
  end
  lines[1] = { text = line:text(), width = used }
  frame.add_wrapped(lines, label, "left", o.width)
  return lines
end

-- ------------ the whole

local function notes_of(panel, layer, left, below, plot)
  local means = plot.down > 1 or plot.across > 1
  return frame.notes(panel, left.note, below.note,
    means and ("each cell is the mean of up to %d x %d values"):format(plot.down, plot.across)
      or nil,
    layer.numbers and not plot.numbers and "the cells are too narrow for their numbers" or nil)
end

-- Sets the fields of plot for the layout: numbers of cells, their columns and rows, merged values.
local function lay_out(plot, panel, layer, o, left)
  local rows, most = frame.rows(panel, o, { 1 }), o.width - left.gutter - 1
  local longest = layer.numbers and longest_number(layer.values) or 0
  local named = math.min(NAME_WIDEST, longest_name(panel.x.categories) + 1)
  local widest = math.max(named, layer.numbers and longest + (plot.colour and 2 or 4) or WIDEST)
  plot.count_down, plot.height, plot.down = layout(#layer.values, rows, HIGHEST)
  plot.count_across, plot.width, plot.across = layout(#layer.values[1], most, widest)
  plot.numbers = layer.numbers and plot.down == 1 and plot.across == 1 and plot.width >= longest
  if plot.numbers then -- about twice as wide as high
    plot.height = math.min(plot.height, plot.width > 6 and 3 or 1)
  else
    plot.height = math.min(plot.height, (plot.width + 1) // 2)
    plot.width = math.min(plot.width, math.max(2 * plot.height, named))
  end
end

--- heatmap.block(panel, o): the picture of a panel of cells, as a list of lines.
function heatmap.block(panel, o)
  local layer = frame.layers(panel, "cells")[1]
  local left, plot = left_of(panel, o.width), { colour = o.colour }
  lay_out(plot, panel, layer, o, left)
  local values = merged(layer.values, plot.down, plot.across)
  local low, high = limits(panel, layer.values)
  plot.share = scale.share{ low = low, high = high }
  plot.canvas = canvas.new(plot.count_across * plot.width, plot.count_down * plot.height)
  for i, row in ipairs(values) do
    local from_top = panel.y.reversed and i or #values + 1 - i
    for j, value in ipairs(row) do
      draw_cell(plot, { row = (from_top - 1) * plot.height, column = (j - 1) * plot.width,
        width = plot.width, height = plot.height }, value)
    end
  end
  name_rows(panel, left, plot)
  local below = below_of(panel, left, plot)
  return frame.assemble(panel, o, { canvas = plot.canvas, left = left, below = below,
    legend = colour_bar(panel, o, low, high),
    notes = notes_of(panel, layer, left, below, plot) })
end

return heatmap

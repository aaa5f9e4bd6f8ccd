--- Draws points: as marks, as braille dots if a single series has many, or as their own texts; and
--- whiskers. plot: as in lines.lua.
local core = require "scullery.core"
local frame = require "scullery.plot.unicode.frame"
local glyphs = require "scullery.plot.unicode.glyphs"
local scale = require "scullery.plot.unicode.scale"
local text = require "scullery.base.text"

local points = {}

local MANY = 100 -- least points of a single series that is drawn as dots
local SAMPLE = 8 -- columns of a text in the legend

local function has_whiskers(layer) return layer.low ~= nil and layer.high ~= nil end

-- Whether a layer is drawn as dots: a single series with many points and nothing else.
local function by_dots(layer, plot)
  return #layer.x >= MANY and not plot.several and plot.lines == 0 and plot.points == 1
    and not layer.text and not has_whiskers(layer)
end

--- points.sample(layer, plot): the sample of a layer in the legend: its first text, or its mark.
function points.sample(layer, plot)
  for _, own in ipairs(layer.text or {}) do
    if own ~= "" then return text.shorten(tostring(own), SAMPLE) end
  end
  return by_dots(layer, plot) and "⠶" or glyphs.mark(layer.colour or 1)
end

-- Calls f(i, x, y) for the points on the canvas; x and y are shares of the axes.
local function each_inside(layer, plot, f)
  local xs, ys, share_x, share_y = layer.x, layer.y, plot.x, plot.y
  for i = 1, #xs do
    local x, y = share_x(xs[i]), share_y(ys[i])
    if x >= 0 and x <= 1 and y >= 0 and y <= 1 then f(i, x, y) end
  end
end

local function draw_dots(layer, plot, colour)
  local across, down, floor = 2 * plot.columns - 1, 4 * plot.rows - 1, math.floor
  each_inside(layer, plot, function(_, x, y)
    plot.canvas:dot(floor(x * across + 0.5), floor((1 - y) * down + 0.5), colour)
  end)
end

-- ------------ whiskers

-- Draws a whisker between two shares of the y axis, with caps at the ends that are on the canvas.
local function draw_whisker(plot, column, low, high, colour)
  if not (low <= high and high >= 0 and low <= 1) then return end
  local top = frame.row(math.min(1, high), plot.rows)
  local bottom = frame.row(math.max(0, low), plot.rows)
  for row = top, bottom do
    local part = row == top and high <= 1 and "top" or row == bottom and low >= 0 and "bottom"
    plot.canvas:put_over(column, row, glyphs.whisker[top < bottom and part or "middle"], colour)
  end
end

--- points.draw_whiskers(plot, layer, colour): draws a vertical line from low to high at each point.
function points.draw_whiskers(plot, layer, colour)
  for i = 1, #layer.x do
    local x = plot.x(layer.x[i])
    if x >= 0 and x <= 1 then
      draw_whisker(plot, frame.column(x, plot.columns), scale.low_end(plot.y, layer.low[i]),
        plot.y(layer.high[i]), colour)
    end
  end
end

-- ------------ marks and texts

-- For each cell, the entry of votes with the most points there; ties go to the first in `order`.
local function elect(votes, order)
  local most, chosen = {}, {}
  for _, key in ipairs(order) do
    for at, count in pairs(votes[key].cells) do
      if count > (most[at] or 0) then most[at], chosen[at] = count, votes[key] end
    end
  end
  return chosen
end

-- Counts one more point in cell `at` for a mark: votes[key] = { glyph, colour, cells[at] = count }.
local function vote(votes, order, key, glyph, colour, at)
  local one = votes[key]
  if not one then
    one = { glyph = glyph, colour = colour, cells = {} }
    votes[key], order[#order + 1] = one, key
  end
  one.cells[at] = (one.cells[at] or 0) + 1
end

-- Writes the texts that are wider than one column, in order, where there is room; a text without
-- room counts as a mark, and a note reports how many there are.
local function write_texts(plot, wide, votes, order)
  local missed = 0
  for _, one in ipairs(wide) do
    local width = text.width(one.text)
    local column = math.max(0, math.min(one.column - (width - 1) // 2, plot.columns - width))
    if not plot.canvas:write(column, one.row, one.text, one.colour) then
      missed = missed + 1
      vote(votes, order, one.layer, one.mark, one.colour, one.row * plot.columns + one.column)
    end
  end
  if missed > 0 then
    plot.note = ("%d of %d texts have no room: marks stand for them"):format(
      missed, #wide)
  end
end

-- Counts the marks and the texts of one column of a layer; appends longer texts to `wide`.
local function collect(layer, plot, votes, order, wide)
  local colour, mark = plot.ink(layer.colour), glyphs.mark(layer.colour or 1)
  local columns, rows = plot.columns, plot.rows
  local across, down, floor, texts = 2 * columns - 1, 4 * rows - 1, math.floor, layer.text
  local clean = {}
  each_inside(layer, plot, function(i, x, y)
    local column, row = floor(x * across + 0.5) // 2, floor((1 - y) * down + 0.5) // 4
    local own = texts and texts[i]
    if own == nil or own == "" then
      return vote(votes, order, layer, mark, colour, row * columns + column)
    end
    local shown = clean[own]
    if not shown then
      shown = text.clean(tostring(own))
      clean[own] = shown
    end
    if core.text_width(shown) == 1 then
      return vote(votes, order, mark .. shown, shown, colour, row * columns + column)
    end
    wide[#wide + 1] = { text = shown, column = column, row = row, colour = colour, mark = mark,
      layer = layer }
  end)
end

--- points.draw(panel, plot): draws the points of a panel. A cell with points of several series or
--- texts shows the most frequent one.
function points.draw(panel, plot)
  local votes, order, wide = {}, {}, {}
  for _, layer in ipairs(frame.layers(panel, "points")) do
    if has_whiskers(layer) then points.draw_whiskers(plot, layer, plot.ink(layer.colour)) end
    if by_dots(layer, plot) then
      draw_dots(layer, plot, plot.ink(layer.colour))
    else
      collect(layer, plot, votes, order, wide)
    end
  end
  write_texts(plot, wide, votes, order)
  for at, one in pairs(elect(votes, order)) do
    if not plot.canvas.written[at] then
      plot.canvas:put_over(at % plot.columns, at // plot.columns, one.glyph, one.colour)
    end
  end
end

return points

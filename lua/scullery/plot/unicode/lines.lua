--- Draws lines as braille dots, their error bands as shades, and rules. Arguments: plot = { canvas
--- =, columns =, rows =, x =, y = functions from a value to its share of the axis, ink =, ... } of
--- xy.lua.
local frame = require "scullery.plot.unicode.frame"
local glyphs = require "scullery.plot.unicode.glyphs"
local scale = require "scullery.plot.unicode.scale"

local lines = {}

local MARKS_APART = 9 -- columns between the marks of a line
local COVERED = 0.3   -- least share of a cell under a band for the cell to be shaded

-- ------------ segments

-- The ends of the part of a segment within [0, 1] x [0, 1], by the algorithm of Liang and Barsky;
-- nil if there is none.
local function clip(x0, y0, x1, y1)
  local first, last = 0, 1
  local dx, dy = x1 - x0, y1 - y0
  if dx - dx ~= 0 or dy - dy ~= 0 then return nil end -- overflow
  local function side(step, room)
    if step == 0 then return room >= 0 end
    local at = room / step
    if step < 0 then first = math.max(first, at) else last = math.min(last, at) end
    return first <= last
  end
  if side(-dx, x0) and side(dx, 1 - x0) and side(-dy, y0) and side(dy, 1 - y0) then
    return x0 + first * dx, y0 + first * dy, x0 + last * dx, y0 + last * dy
  end
end

local function is_inside(x, y) return x >= 0 and x <= 1 and y >= 0 and y <= 1 end

-- Draws a segment between two points, given as shares of the axes, as dots.
local function draw_segment(plot, x0, y0, x1, y1, colour, period)
  if not (is_inside(x0, y0) and is_inside(x1, y1)) then
    x0, y0, x1, y1 = clip(x0, y0, x1, y1)
    if not x0 then return end
  end
  local across, down, floor = 2 * plot.columns - 1, 4 * plot.rows - 1, math.floor
  plot.canvas:segment(floor(x0 * across + 0.5), floor((1 - y0) * down + 0.5),
    floor(x1 * across + 0.5), floor((1 - y1) * down + 0.5), colour, period)
end

-- ------------ lines

-- Records in rows[column] the row of a line at a point. If the panel has several lines, marks are
-- drawn there.
local function trace(plot, rows, x, y)
  if is_inside(x, y) then
    rows[frame.column(x, plot.columns)] = frame.row(y, plot.rows)
  end
end

-- The same for the columns between the ends of a segment.
local function trace_between(plot, rows, x0, y0, x1, y1)
  local from, to = frame.column(x0, plot.columns), frame.column(x1, plot.columns)
  if from > to then from, to, x0, y0, x1, y1 = to, from, x1, y1, x0, y0 end
  for c = from + 1, to - 1 do
    local x = (2 * c + 0.5) / (2 * plot.columns - 1)
    trace(plot, rows, x, y0 + (y1 - y0) * (x - x0) / (x1 - x0))
  end
end

-- Draws a line, which NaN interrupts. Returns rows[column] for mark_line.
local function draw_line(plot, layer, colour)
  local xs, ys, share_x, share_y = layer.x, layer.y, plot.x, plot.y
  local rows, px, py, alone = {}, nil, nil, false
  local function end_run() -- a point between two gaps has no segment: it gets a mark
    if alone and is_inside(px, py) then
      plot.canvas:put_over(frame.column(px, plot.columns), frame.row(py, plot.rows),
        glyphs.mark(layer.colour or 1), colour)
    end
  end
  for i = 1, #xs do
    local x, y = share_x(xs[i]), share_y(ys[i])
    if x ~= x or y ~= y then
      end_run()
      px, alone = nil, false
    else
      if px then
        if px ~= x or py ~= y then draw_segment(plot, px, py, x, y, colour) end
        if plot.several and math.abs(x - px) > 0.5 / plot.columns then
          local a, b, c, d = clip(px, py, x, y)
          if a then trace_between(plot, rows, a, b, c, d) end
        end
        alone = false
      else
        alone = true
      end
      if plot.several then trace(plot, rows, x, y) end
      px, py = x, y
    end
  end
  end_run()
  return rows
end

-- Puts marks on a line, MARKS_APART columns apart and at least one, in other columns than the marks
-- of the other lines.
local function mark_line(plot, rows, layer, place, colour)
  local offset = MARKS_APART * (place - 1) // math.max(1, plot.lines) + MARKS_APART // 3
  local mark, first, last, any = glyphs.mark(layer.colour or 1), nil, nil, false
  for c = 0, plot.columns - 1 do
    if rows[c] then
      first, last = first or c, c
      if c % MARKS_APART == offset % MARKS_APART then
        plot.canvas:put_over(c, rows[c], mark, colour)
        any = true
      end
    end
  end
  if first and not any then
    local middle = (first + last) // 2
    while not rows[middle] do middle = middle + 1 end
    plot.canvas:put_over(middle, rows[middle], mark, colour)
  end
end

-- Puts a mark on each point of a line.
local function mark_points(plot, layer, colour)
  local mark = glyphs.mark(layer.colour or 1)
  for i = 1, #layer.x do
    local x, y = plot.x(layer.x[i]), plot.y(layer.y[i])
    if x == x and y == y and is_inside(x, y) then
      plot.canvas:put_over(frame.column(x, plot.columns), frame.row(y, plot.rows), mark, colour)
    end
  end
end

-- ------------ bands

-- The lowest and the highest share of the y axis that a band covers in each column: low[c],
-- high[c].
local function envelope(plot, layer)
  local low, high = {}, {}
  local function cover(c, from, to)
    if not (c >= 0 and c < plot.columns) then return end
    if not low[c] or from < low[c] then low[c] = from end
    if not high[c] or to > high[c] then high[c] = to end
  end
  local across, columns = 2 * plot.columns - 1, plot.columns
  local px, plow, phigh
  for i = 1, #layer.x do
    local x, to = plot.x(layer.x[i]), plot.y(layer.high[i])
    local from = scale.low_end(plot.y, layer.low[i])
    if x ~= x or from ~= from or to ~= to then
      px = nil
    else
      if x >= 0 and x <= 1 then cover(frame.column(x, columns), from, to) end
      if px then
        local left, right = math.max(0, math.min(px, x)), math.min(1, math.max(px, x))
        local first = math.ceil((left * across - 0.5) / 2)
        for c = first, math.floor((right * across - 0.5) / 2) do
          local t = ((2 * c + 0.5) / across - px) / (x - px)
          cover(c, plow + t * (from - plow), phigh + t * (to - phigh))
        end
      end
      px, plow, phigh = x, from, to
    end
  end
  return low, high
end

-- Shades the cells under a band. Where bands overlap, their shades alternate from cell to cell.
local function draw_band(plot, layer, place, bands, colour)
  local low, high = envelope(plot, layer)
  local shade = glyphs.shading(plot.colour and 1 or place)
  for c = 0, plot.columns - 1 do
    for row = 0, low[c] and plot.rows - 1 or -1 do
      local down, at = 4 * plot.rows - 1, row * plot.columns + c
      local top, bottom = 1 - (4 * row - 0.5) / down, 1 - (4 * row + 3.5) / down
      if math.min(top, high[c]) - math.max(bottom, low[c]) >= COVERED * (top - bottom) then
        if not bands[at] or (c + row + place) % 2 == 0 then
          plot.canvas:put_under(c, row, shade, colour)
        end
        bands[at] = true
      end
    end
  end
end

-- ------------ rules

-- Draws a straight line: as characters if it is horizontal or vertical, otherwise as dots.
local function draw_rule(plot, layer)
  local x0, y0, x1, y1 = plot.x(layer.x1), plot.y(layer.y1), plot.x(layer.x2), plot.y(layer.y2)
  x0, y0, x1, y1 = clip(x0, y0, x1, y1)
  if not x0 then return end
  local from, to = frame.column(x0, plot.columns), frame.column(x1, plot.columns)
  local bottom, top = frame.row(y0, plot.rows), frame.row(y1, plot.rows)
  if bottom == top then
    for c = math.min(from, to), math.max(from, to) do
      plot.canvas:put_under(c, top, glyphs.rule_across)
    end
  elseif from == to then
    for row = math.min(bottom, top), math.max(bottom, top) do
      plot.canvas:put_under(from, row, glyphs.rule_down)
    end
  else
    draw_segment(plot, x0, y0, x1, y1, nil, 3)
  end
end

-- ------------ all

--- lines.draw(panel, plot): the bands, rules and lines of a panel, in this order.
function lines.draw(panel, plot)
  local bands, all = {}, frame.layers(panel, "line")
  for place, layer in ipairs(all) do
    if layer.low then draw_band(plot, layer, place, bands, plot.ink(layer.colour)) end
  end
  for _, layer in ipairs(frame.layers(panel, "rule")) do draw_rule(plot, layer) end
  for place, layer in ipairs(all) do
    local colour = plot.ink(layer.colour)
    local rows = draw_line(plot, layer, colour)
    if layer.marks then
      mark_points(plot, layer, colour)
    elseif plot.several then
      mark_line(plot, rows, layer, place, colour)
    end
  end
end

return lines

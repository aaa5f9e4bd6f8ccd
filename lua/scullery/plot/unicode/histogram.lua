--- Vertical bars over an axis of numbers, whose ends are drawn to an eighth of a cell.
local frame = require "scullery.plot.unicode.frame"
local glyphs = require "scullery.plot.unicode.glyphs"
local points = require "scullery.plot.unicode.points"
local scale = require "scullery.plot.unicode.scale"

local histogram = {}

local THIN = 2 -- columns of a bar, below which bars of several series overlap

-- The width and the middles of the bins, if bars of several series are side by side and too thin to
-- be drawn apart: each bar is then drawn as wide as its bin. nil otherwise.
local function shared_bins(plot, layers)
  local one, n = layers[1], #layers
  local width = one and one.width or 1
  local step = n > 1 and #one.x > 1 and one.x[2] - one.x[1] or 0
  if not (step > 0 and math.abs(n * width - step) <= 1e-6 * step) then return nil end
  if (plot.x(one.x[1] + width) - plot.x(one.x[1])) * plot.columns >= THIN then return nil end
  local middles = {}
  for i, x in ipairs(one.x) do middles[i] = x - width / 2 + step / 2 end
  return step, middles
end

-- The column that begins at a share of the axis. The margin against rounding errors makes it the
-- same for two bars that touch.
local function edge(plot, share)
  return math.floor(scale.clamp(share) * plot.columns + 0.5 + 1e-9)
end

-- The first and the last column of a bar, at least one column; nil if it is outside the canvas.
local function columns_of(plot, middle, width)
  local from, to = plot.x(middle - width / 2), plot.x(middle + width / 2)
  if from ~= from and to == to then from = 0 end -- it begins below a log axis
  if not (to > 0 and from < 1) then return nil end
  local first = edge(plot, from)
  local last = math.max(first, edge(plot, to) - 1)
  return math.min(first, plot.columns - 1), math.min(last, plot.columns - 1)
end

-- The ends of a layer's bars in each column, as shares of the y axis (the farthest from the base if
-- a column has several bars), and the share of the base.
local function heights(plot, layer, width, middles)
  local base = plot.y(layer.base or 0)
  base = base == base and scale.clamp(base) or 0
  local list = {}
  for i = 1, #layer.x do
    local y = plot.y(layer.y[i])
    local first, last
    if y == y and layer.y[i] ~= (layer.base or 0) then
      first, last = columns_of(plot, middles[i], width)
    end
    for c = first or 0, last or -1 do
      if not list[c] or math.abs(y - base) > math.abs(list[c] - base) then
        list[c] = scale.clamp(y)
      end
    end
  end
  return list, base
end

-- Draws one column from the base to a height: whole cells as `fill`, the last as eighths from
-- below.
local function draw_column(plot, c, base, height, fill, colour)
  local whole = 8 * plot.rows
  local low = math.floor(math.min(base, height) * whole + 0.5)
  local high = math.max(math.floor(math.max(base, height) * whole + 0.5), low + 1)
  for row = 0, plot.rows - 1 do
    local bottom = 8 * (plot.rows - 1 - row)
    local from, to = math.max(low - bottom, 0), math.min(high - bottom, 8)
    local at = row * plot.columns + c
    local behind = plot.canvas.under_ink[at]
    if to - from == 8 then
      plot.canvas:put_under(c, row, fill, colour)
    elseif to > 0 and from == 0 and (plot.plain or to >= 4 or low >= bottom) then
      plot.canvas:put_under(c, row, plot.plain and glyphs.from_below[to] or fill, colour, behind)
    elseif from > 0 and from < 8 and 8 - from >= 4 then
      plot.canvas:put_under(c, row, plot.plain and glyphs.upper_half or fill, colour, behind)
    end
  end
end

--- histogram.draw(panel, plot): draws the bars of a panel; where bars overlap, shorter ones are in
--- front. plot: as in lines.lua.
function histogram.draw(panel, plot)
  local all, layers = {}, frame.layers(panel, "bars")
  local step, middles = shared_bins(plot, layers)
  for place, layer in ipairs(layers) do
    local list, base = heights(plot, layer, step or layer.width or 1, middles or layer.x)
    all[place] = { list = list, base = base, colour = plot.ink(layer.colour),
      fill = glyphs.fill(plot.colour and 1 or place) }
    if layer.low then points.draw_whiskers(plot, layer) end
  end
  plot.plain = plot.colour or #all == 1
  for c = 0, #all > 0 and plot.columns - 1 or -1 do
    local here = {}
    for place, one in ipairs(all) do
      if one.list[c] then
        here[#here + 1] = { one = one, place = place, size = math.abs(one.list[c] - one.base) }
      end
    end
    table.sort(here, function(a, b)
      if a.size ~= b.size then return a.size > b.size end
      return a.place > b.place
    end)
    for _, bar in ipairs(here) do
      draw_column(plot, c, bar.one.base, bar.one.list[c], bar.one.fill, bar.one.colour)
    end
  end
end

return histogram

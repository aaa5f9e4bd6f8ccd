--- Panels with lines, points, histograms and rules over two axes of numbers. It makes the table
--- `plot` for the modules that draw the layers: { canvas, columns, rows = of the canvas, x, y =
--- functions from a value to its share of the axis, ink = function from a series to its colour,
--- several = more than one colour, lines, points = numbers of layers, colour }.
local canvas = require "scullery.plot.unicode.canvas"
local frame = require "scullery.plot.unicode.frame"
local glyphs = require "scullery.plot.unicode.glyphs"
local histogram = require "scullery.plot.unicode.histogram"
local ink = require "scullery.plot.unicode.ink"
local lines = require "scullery.plot.unicode.lines"
local points = require "scullery.plot.unicode.points"
local scale = require "scullery.plot.unicode.scale"

local xy = {}

local LEAST_COLUMNS, LEAST_ROWS = 10, 5 -- of a canvas whose axes have one scale

local drawn = { line = true, points = true }

-- True if lines and points have more than one colour, and marks have to distinguish them.
local function has_several(panel)
  local first
  for _, layer in ipairs(panel.layers) do
    if drawn[layer.kind] then
      first = first or layer.colour or 1
      if first ~= (layer.colour or 1) then return true end
    end
  end
  return false
end

-- The sample of a layer in the legend; place: its number among the layers of its kind.
local function sample_of(layer, place, plot)
  local colour = layer.colour or 1
  if layer.kind == "rule" then return glyphs.rule end
  if layer.kind == "bars" then return glyphs.fill(plot.colour and 1 or place) end
  if layer.kind == "points" then return points.sample(layer, plot) end
  local sample = (plot.several or layer.marks) and glyphs.mark(colour) or glyphs.line
  return layer.low and sample .. glyphs.shading(plot.colour and 1 or place) or sample
end

-- The entries of the legend, each once; see frame.legend.
local function entries_of(panel, plot)
  local entries, places, seen = {}, {}, {}
  for _, layer in ipairs(panel.legend and panel.layers or {}) do
    places[layer.kind] = (places[layer.kind] or 0) + 1
    if layer.label and layer.label ~= "" then
      local sample = sample_of(layer, places[layer.kind], plot)
      local key, says = sample .. layer.label, sample ~= layer.label -- a text may be the label
      if not seen[key] and (says or plot.colour) then
        entries[#entries + 1] = { sample = sample, label = says and layer.label or "",
          colour = layer.kind ~= "rule" and (layer.colour or 1) }
      end
      seen[key] = true
    end
  end
  return entries
end

-- The columns and rows of the canvas; for a panel with one scale for both axes, reduced so that a
-- dot is the same distance on both. Dots are about as wide as they are high.
local function equal_sides(panel, columns, rows)
  local wide, high = panel.x.high - panel.x.low, panel.y.high - panel.y.low
  local per = math.max(wide / (2 * columns), high / (4 * rows)) -- units a dot
  if not (panel.equal and per < math.huge) then return columns, rows end
  return math.min(columns, math.max(LEAST_COLUMNS, math.ceil(wide / per / 2))),
    math.min(rows, math.max(LEAST_ROWS, math.ceil(high / per / 4)))
end

--- xy.block(panel, o): the picture of a panel, as a list of lines with the field rows = the rows of
--- its canvas. o: { width =, height = of the picture or rows = of the canvas, colour = }.
function xy.block(panel, o)
  local plot = { several = has_several(panel), colour = o.colour,
    lines = #frame.layers(panel, "line"), points = #frame.layers(panel, "points") }
  local legend = frame.legend(entries_of(panel, plot), o.width, o.colour, panel.legend_title)
  local rows = frame.rows(panel, o, legend)
  local left = frame.left(panel.y, rows, o.width)
  local columns, fewer = equal_sides(panel, o.width - left.gutter - 1, rows)
  if fewer < rows then
    rows = fewer
    left = frame.left(panel.y, rows, o.width)
    columns = math.min(columns, o.width - left.gutter - 1)
  end
  plot.canvas, plot.columns, plot.rows = canvas.new(columns, rows), columns, rows
  plot.x, plot.y = scale.share(panel.x), scale.share(panel.y)
  plot.ink = function(colour) return o.colour and ink.series(colour or 1) or nil end
  histogram.draw(panel, plot)
  lines.draw(panel, plot)
  points.draw(panel, plot)
  local below = frame.below(panel.x, left.gutter, columns)
  local block = frame.assemble(panel, o, { canvas = plot.canvas, left = left, below = below,
    legend = legend, notes = frame.notes(panel, left.note, below.note, plot.note) })
  block.rows = rows
  return block
end

return xy

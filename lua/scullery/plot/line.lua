--- sc.plot.line: lines with error bands.
local figure = require "scullery.plot.figure"
local options = require "scullery.base.options"
local panel = require "scullery.plot.panel"
local series = require "scullery.plot.series"

local line = {}

local rules = panel.rules(series.with(panel.lines, series.rules, { series = { type = "table" },
  marks = { type = "boolean", default = false } }))
options.declare("plot.line", rules)

--- sc.plot.line{ x =, y =, ... }: lines through points, with error bands.
--- x, y: lists of numbers, or matrices of one column or row; x is 1, 2, ... by default. NaN makes a
---   gap. error: the band from y - error to y + error; or low and high, its ends. label: the name
---   in the legend. series = { { x =, y =, error =, label = }, ... }: several lines; x outside the
---   series is shared. marks = true draws the points too.
--- rules = { { y = 0.5, label = "chance" }, { x = 3 }, { diagonal = true } }: thin straight lines.
--- title, x_label, y_label, x_unit, y_unit: texts; x_log, y_log: log axes; x_range, y_range = {
---   low, high }; equal = true: both axes have one scale; width, height: of the saved picture, in
---   pixels (720 x 480).
--- legend: "auto" (inside where a corner is free, else below or on the right), "inside", "below",
---   "right" or "none"; legend_title: above it, as "lambda". notes: a text or a list of texts below
---   the picture, or "none", also for its own. colours = { "#0072b2", ... }: of the series in saved
---   pictures. font, font_size: of saved pictures, in pixels (DejaVu Sans, 13).
--- Returns a figure: fig:show(), fig:save("f.svg"), fig:data("f.csv"), print(fig).
function line.new(given)
  local title = "plot.line"
  local o = options.check(title, given, rules, 0)
  local layers, data = {}, {}
  for i, one in ipairs(series.each(title, o, series.rules, { x = true })) do
    local read = series.read(one[2], one[1])
    data[i] = read
    layers[i] = { kind = "line", x = read.x, y = read.y, low = read.low, high = read.high,
      label = read.label, colour = i, marks = o.marks or #read.x == 1 }
  end
  return figure.new(o, panel.make(title, o, { layers = layers, data = data }))
end

return line

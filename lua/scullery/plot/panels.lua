--- sc.plot.panels: several pictures in one figure.
local figure = require "scullery.plot.figure"
local options = require "scullery.base.options"
local panel = require "scullery.plot.panel"

local panels = {}

local MOST = 100

local rules = { columns = { type = "integer", low = 1, high = 20 }, title = { type = "string" },
  width = { type = "integer", low = 100, high = 10000 },
  height = { type = "integer", low = 100, high = 10000 },
  legend = { choices = { "auto", "each" }, default = "auto" }, font = panel.font.font,
  font_size = panel.font.font_size }
options.declare("plot.panels", rules)

--- sc.plot.panels{ fig1, fig2, ... [, columns =, title =, width =, height =, legend =, font =,
--- font_size =] }: several pictures as one figure, row by row. columns: panels in a row (2). title:
--- above all. width, height: of the saved picture, in pixels. font, font_size: as in sc.plot.line.
--- A figure with several panels contributes all of them. Panels with the same legend share one,
--- below all; legend = "each": each has its own.
function panels.new(given)
  local title = "plot.panels"
  local list, named = {}, {}
  if type(given) ~= "table" then
    error(("%s takes a list of figures, and got %s"):format(title, options.show(given)), 0)
  end
  for key, value in next, given do
    if math.type(key) ~= "integer" then named[key] = value end
  end
  for i = 1, rawlen(given) do
    local one = rawget(given, i)
    if not figure.is(one) then
      error(("%s: [%d] takes a figure, as sc.plot.line{...} makes it, and got %s"):format(title, i,
        options.show(one)), 0)
    end
    table.move(one.panels, 1, #one.panels, #list + 1, list)
  end
  local o = options.check(title, named, rules, 0)
  if #list == 0 then error(title .. ": there is nothing to draw, it has no figures", 0) end
  if #list > MOST then
    error(("%s: %d pictures are too many, at most %d are drawn"):format(title, #list, MOST), 0)
  end
  local columns = math.min(o.columns or 2, #list)
  local rows = math.ceil(#list / columns)
  return figure.of{ title = o.title, columns = columns, panels = list,
    width = o.width or math.min(10000, 480 * columns),
    height = o.height or math.min(10000, 360 * rows), font = o.font, font_size = o.font_size,
    legend = o.legend == "each" and "each" or nil }
end

return panels

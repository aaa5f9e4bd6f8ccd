--- Figures: the contents of a picture, independent of the back end that draws it.
-- The fields that back ends get; all are checked before:
--   figure = { title, columns, width, height (pixels), panels = { panel, ... }, font and font_size
--     (pixels) or nil, legend = "each" if each panel has its own }
--   panel = { title, x = axis, y = axis, layers, legend = whether there is one, legend_place =
--     "auto", "inside", "right" or "below", legend_title, colours = of series ("RRGGBB") or nil,
--     colour_bar = { label, low, high } or nil, notes = { sentences }, equal = whether both axes
--     have one scale }
--   axis = { label (with its unit), log, low, high (finite, low < high), categories = names at 1 ..
--     n, or nil; reversed = whether 1 is on top (heatmaps); whole = whether ticks are whole numbers
--     (years) }
--   layers:
--     { kind = "line", x, y, low, high (a band, or nil), label, colour, marks, faint
--       (thin and pale; left out in characters) }
--     { kind = "points", x, y, low, high (whiskers or nil), text (markers or nil), label, colour }
--     { kind = "bars", x, y, low, high, width, base = 0, label, colour }
--     { kind = "cells", values = rows of numbers, numbers = whether they are written }
--     { kind = "contour", places_x, places_y: lists with NaN after each piece of the line }
--     { kind = "rule", x1, y1, x2, y2, label }
-- Lists hold finite numbers or NaN, a gap; on a log axis x and y are positive, and low and high at
-- least 0. Texts are one line of valid UTF-8 without control characters.
local core = require "scullery.core"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local texts = require "scullery.plot.texts"

local figure = {}

local Figure = objects.class("figure", { example = "fig",
  fields = "title columns width height panels font font_size legend" })
figure.class = Figure

--- figure.of{ title =, columns =, width =, height =, panels = }: a figure with these fields.
function figure.of(given)
  given.title = given.title and texts.clean(given.title) or nil
  return setmetatable(given, Figure)
end

--- figure.new(o, panel): a figure with one panel; o: its options.
function figure.new(o, panel)
  return figure.of{ columns = 1, width = o.width, height = o.height, panels = { panel },
    font = o.font, font_size = o.font_size }
end

--- figure.is(value): true if the value is a figure.
function figure.is(value) return getmetatable(value) == Figure end

-- ------------ its data

--- fig:data("f.csv"): saves the data behind the picture, one row for each point, with the columns
--- panel, series, x and y, and if they are used low and high (ends of bands and whiskers), width
--- (of bars), text (of markers) and value (of the cells of a heatmap). All points are saved,
--- including those that are not drawn.
function Figure:data(path)
  if type(path) ~= "string" then
    error("takes the path of a .csv file, and got " .. options.show(path), 0)
  end
  if not path:lower():find("%.csv$") then error(path .. ": the data are saved as .csv", 0) end
  core.write_text(path, require("scullery.plot.csv").of(self))
end

-- ------------ drawing

local text_rules = { width = { type = "integer", low = 10, high = 1000 },
  height = { type = "integer", low = 5, high = 1000 },
  colour = { type = "boolean", default = false } }
options.declare("figure:text", text_rules)

--- fig:text{ width =, height =, colour = }: the picture in Unicode, as a text of several lines.
--- width, height: in characters; by default the width of the terminal, and a suitable height.
--- colour = true: with colours of the terminal.
function Figure:text(given)
  local o = options.check("figure:text", given or {}, text_rules, 0)
  return require("scullery.plot.unicode").text(self, { width = o.width or core.terminal().columns,
    height = o.height, colour = o.colour })
end

-- At the prompt: the picture, in the terminal's colours; inside a table only its title.
function Figure:__display(o)
  local title = self.title or self.panels[1] and self.panels[1].title
  if o.depth > 0 then return title and ("figure %q"):format(title) or "figure" end
  local unicode = require "scullery.plot.unicode"
  return unicode.text(self, { width = o.width, colour = o.colour, ascii = unicode.must_be_ascii() })
end

function Figure:__tostring()
  local unicode = require "scullery.plot.unicode"
  return unicode.text(self, { width = core.terminal().columns, ascii = unicode.must_be_ascii() })
end

--- fig:svg(): the picture as the text of an SVG file; nil and a reason if gnuplot cannot draw it.
function Figure:svg()
  local ok, drawn = options.attempt(require("scullery.plot.gnuplot").draw, self, "svg")
  if not ok then return nil, options.plain(drawn) end
  return require("scullery.plot.svg").inline(drawn)
end

--- fig:save("f.svg"): saves the picture, complete or not at all. .svg, .png and .pdf need gnuplot
--- (apt-get install gnuplot-nox). .txt is the picture in Unicode, 80 columns wide.
function Figure:save(path)
  if type(path) ~= "string" then
    error("takes the path of a file, and got " .. options.show(path), 0)
  end
  local ending = path:lower():match("%.(%w+)$")
  local drawn
  if ending == "txt" then
    drawn = require("scullery.plot.unicode").text(self, { width = 80, colour = false }) .. "\n"
  elseif ending == "svg" or ending == "png" or ending == "pdf" then
    drawn = require("scullery.plot.gnuplot").draw(self, ending)
  else
    error(path .. ": pictures are saved as .svg, .png, .pdf or .txt", 0)
  end
  core.write_text(path, drawn)
end

local shown_by

--- figure.shown_by(f): makes fig:show() call f(fig), as in a notebook.
function figure.shown_by(f) shown_by = f end

--- fig:show(): draws the picture in the terminal: in pixels, if the terminal is known to support
--- sixel and gnuplot is installed; otherwise in Unicode, or in ASCII if the locale of the terminal
--- is not UTF-8. SCULLERY_SIXEL=1 declares that the terminal supports sixel, 0 that it does not. In
--- a notebook, the picture appears below the cell.
function Figure:show()
  if shown_by then
    shown_by(self)
    return
  end
  local terminal = core.terminal()
  local drawn = terminal.output and require("scullery.plot.sixel").draw(self)
  if not drawn then
    local unicode = require "scullery.plot.unicode"
    drawn = unicode.text(self, { width = terminal.columns, colour = terminal.colour,
      ascii = unicode.must_be_ascii() })
  end
  io.stdout:write(drawn, "\n")
end

return figure

--- The script of a figure for gnuplot.
-- Texts cannot contain commands: they are written by quoting.text, between double quotes, and drawn
-- without markup ("noenhanced").
local glyphs = require "scullery.plot.glyphs"
local layers = require "scullery.plot.layers"
local legend = require "scullery.plot.legend"
local quoting = require "scullery.plot.quoting"
local text = require "scullery.base.text"
local texts = require "scullery.plot.texts"
local ticks = require "scullery.plot.ticks"

local script = {}

local quote, number = quoting.text, quoting.number
local CHARACTER = legend.PIXELS

local NAME_MOST = 24   -- characters of a category at an axis
local TURNED_FROM = 5  -- characters; some of shorter names are left out rather than all turned,
                       -- except those of bars
local TITLE, HEADING = 15, 17 -- pixels of the fonts of a panel's title and of a figure's

local terminals = {
  svg = 'svg size %d,%d fixed noenhanced font "%s,%g" background rgb "white"',
  png = 'pngcairo size %d,%d noenhanced font "%s,%g" fontscale 2 linewidth 2 \z
    pointscale 2 background rgb "white"',
  small_png = 'pngcairo size %d,%d noenhanced font "%s,%g" background rgb "white"',
  pdf = 'pdfcairo size %.4fin,%.4fin noenhanced font "%s,%g" fontscale 0.77 \z
    linewidth 1.3 dashlength 1.5 background rgb "white"',
  sixel = 'sixelgd size %d,%d noenhanced font "%s,%g" background rgb "white" truecolor',
}

local FONT, FONT_SIZE = "DejaVu Sans", 13 -- pixels
-- FONT_SIZE in the unit of each terminal
local font_sizes = { svg = 13, png = 9.75, small_png = 9.75, pdf = 9.75, sixel = 10 }

-- a pixel of the figure in the terminal's unit of size, and of font sizes in commands
local scales = { svg = 1, png = 2, small_png = 1, pdf = 1 / 96, sixel = 1 }
local points = { svg = 1, png = 0.75, small_png = 0.75, pdf = 0.75, sixel = 0.75 }

-- A text as a constant of gnuplot, wrapped to lines of at most `room` pixels; character: pixels of
-- a column of text.
local function wrapped(s, room, character)
  local lines = text.wrap(s, math.max(8, room // (character or CHARACTER)))
  for i, line in ipairs(lines) do lines[i] = quote(line) end
  return #lines > 0 and table.concat(lines, '."\\n".') or '""'
end

-- ------------ axes

-- The columns of the longest name, at most NAME_MOST.
local function longest(names)
  local most = 0
  for _, name in ipairs(names) do most = math.max(most, math.min(NAME_MOST, text.width(name))) end
  return most
end

-- The number of ticks of an axis that is `room` pixels long, and whether their texts are turned by
-- 45 degrees.
local function tick_room(axis, name, room)
  if not axis.categories then return math.max(3, room / (name == "y" and 45 or 75)) end
  if name == "y" then return room / 18 end
  local length = longest(axis.categories)
  local width = (length + 1) * CHARACTER
  local turned = room / 18
  local short = length < TURNED_FROM and not (axis.each and #axis.categories <= turned)
  if short or width * #axis.categories <= room then return room / width, false end
  return turned, true
end

-- The command for the ticks of axis `name` ("x" or "y"), and whether their texts are turned.
local function tick_lines(axis, name, room)
  local most, turned = tick_room(axis, name, room)
  local marks = {}
  for _, tick in ipairs(ticks.of(axis, most)) do
    marks[#marks + 1] = quote(texts.short(tick.text, NAME_MOST)) .. " " .. number(tick.value)
  end
  for _, value in ipairs(ticks.minor(axis)) do
    marks[#marks + 1] = '"" ' .. number(value) .. " 1"
  end
  return ("set %stics %s (%s)"):format(name, turned and "rotate by 45 right" or "norotate",
    table.concat(marks, ", ")), turned
end

-- The command for a left margin with room for the first turned names, which gnuplot does not
-- consider; "" if the y axis leaves enough room.
local function turned_margin(panel, room)
  local names, needed = panel.x.categories, 0
  for i, name in ipairs(names) do
    local length = math.min(NAME_MOST, text.width(name)) * CHARACTER * 0.71
    needed = math.max(needed, length - room / #names * (i - 0.5))
  end
  local used = 30 + (panel.y.label and 20 or 0)
  return needed > used and ("set lmargin %g"):format(needed / CHARACTER + 1) or ""
end

-- Appends the commands of an axis; returns whether the texts of its ticks are turned.
local function add_axis(lines, axis, name, room)
  local low, high = axis.low, axis.high
  if axis.reversed then low, high = high, low end
  if axis.log then lines[#lines + 1] = ("set logscale %s 10"):format(name) end
  lines[#lines + 1] = ("set %srange [%s:%s]"):format(name, number(low), number(high))
  local marks, turned = tick_lines(axis, name, room)
  lines[#lines + 1] = marks
  if axis.label then
    lines[#lines + 1] = ("set %slabel %s"):format(name, wrapped(axis.label, room))
  end
  return turned
end

-- ------------ a panel

local style = [[
reset
set border 3 linewidth 0.8 linecolor rgb "#606060"
set tics nomirror out scale 0.6,0.3 textcolor rgb "#202020"
set grid xtics ytics back linetype 1 linewidth 0.6 linecolor rgb "#dddddd"
set errorbars small
set style fill solid noborder
set bars 0.6]]

local function add_colour_bar(lines, bar, room)
  local marks = {}
  for _, tick in ipairs(ticks.of(bar, room / 45)) do
    marks[#marks + 1] = quote(tick.text) .. " " .. number(tick.value)
  end
  lines[#lines + 1] = "unset grid"
  lines[#lines + 1] = layers.palette()
  lines[#lines + 1] = ("set cbrange [%s:%s]"):format(number(bar.low), number(bar.high))
  lines[#lines + 1] = ("set cbtics (%s)"):format(table.concat(marks, ", "))
  lines[#lines + 1] = "set colorbox noborder"
  if bar.label then lines[#lines + 1] = "set cblabel " .. quote(bar.label) end
end

-- A note if numbers were asked for and the cells are too small for them; else nil.
local function cells_are_small(panel, size)
  local cells = panel.layers[1]
  return cells.numbers and not layers.number_font(cells, size)
    and "the cells are too small for their numbers" or nil
end

-- Appends the label of the x axis with the notes below it; gap: with an empty line, if the legend
-- follows. more: notes about what this picture has no room for.
local function add_notes(lines, panel, room, more, gap)
  local notes = table.move(panel.notes, 1, #panel.notes, 1, {})
  for _, note in pairs(more) do notes[#notes + 1] = note end
  if gap then notes[#notes + 1] = " " end
  if #notes == 0 then return end
  local rows = { wrapped(panel.x.label or "", room) }
  for _, note in ipairs(notes) do rows[#rows + 1] = wrapped(note, room) end
  lines[#lines + 1] = "set xlabel " .. table.concat(rows, '."\\n".')
end

-- The commands of one panel. size: as in layers.add, with place, the command for its position.
local function panel_lines(panel, size)
  local lines, height = { style }, size.height
  lines[2] = size.place
  local key, place, taken, no_legend = legend.of(panel, size)
  local room = math.max(80, size.width - 60 - taken)
  if panel.title then
    lines[#lines + 1] = ('set title %s font ",%g"'):format(
      wrapped(panel.title, room, TITLE * 0.6), TITLE * size.point)
  end
  if panel.x.categories then lines[#lines + 1] = "set grid noxtics" end
  local turned = add_axis(lines, panel.x, "x", room - 50)
  if turned then lines[#lines + 1] = turned_margin(panel, room - 50) end
  add_axis(lines, panel.y, "y", height - 90)
  add_notes(lines, panel, room, { cells_are_small(panel, size), no_legend },
    place == "below")
  lines[#lines + 1] = key
  if panel.colour_bar then add_colour_bar(lines, panel.colour_bar, height - 90) end
  if panel.equal then lines[#lines + 1] = "set size ratio -1" end
  layers.add(lines, panel, size)
  return table.concat(lines, "\n")
end

-- ------------ several panels

-- The commands of the legend that all panels share, which takes the lowest `height` pixels of the
-- figure.
local function strip_lines(panel, height, size)
  local width = math.min(1, legend.strip_width(panel) / size.width)
  local lines = { "reset", ("set origin %.6g,0"):format((1 - width) / 2),
    ("set size %.6g,%.6g"):format(width, height / size.height),
    "unset border", "unset tics", "set lmargin 0", "set rmargin 0", "set tmargin 0",
    "set bmargin 0", "set xrange [0:1]", "set yrange [0:1]", legend.strip(panel) }
  lines[#lines + 1] = layers.entries(panel)
  return table.concat(lines, "\n")
end

-- Appends the commands of the panels of a figure, row by row. size: that of the figure, in units in
-- which its font has the default size.
local function add_panels(lines, figure, size)
  local columns, count = figure.columns, #figure.panels
  local rows = math.ceil(count / columns)
  local shared = count > 1 and figure.legend ~= "each" and legend.shared(figure.panels)
  local strip = shared and { layers = shared, legend_title = figure.panels[1].legend_title,
    colours = figure.panels[1].colours }
  local bottom = strip and legend.strip_height(strip, size.width) or 0
  local height = (size.height - (figure.title and 30 or 0) - bottom) / rows
  for i, panel in ipairs(figure.panels) do
    local row, column = (i - 1) // columns, (i - 1) % columns
    local one = { width = size.width / columns, height = height, point = size.point,
      no_legend = strip and true }
    if strip then
      one.place = ("set origin %.6g,%.6g\nset size %.6g,%.6g"):format(column / columns,
        (bottom + (rows - 1 - row) * height) / size.height, 1 / columns, height / size.height)
    end
    lines[#lines + 1] = panel_lines(panel, one)
  end
  if strip then lines[#lines + 1] = strip_lines(strip, bottom, size) end
end

--- script.of(figure, format): the script; format: "svg", "png" (two pixels for one of the figure),
--- "small_png" (one), "pdf" or "sixel".
function script.of(figure, format)
  local scale, count = scales[format], #figure.panels
  local larger = (figure.font_size or FONT_SIZE) / FONT_SIZE
  local point = points[format] * larger
  local lines = { "set encoding utf8", "set terminal "
    .. terminals[format]:format(figure.width * scale, figure.height * scale, figure.font or FONT,
      font_sizes[format] * larger) }
  local several = count > 1 or figure.title
  if several then
    lines[#lines + 1] = ("set multiplot layout %d,%d%s"):format(
      math.ceil(count / figure.columns), figure.columns, figure.title
      and (" title %s font \",%g\""):format(wrapped(figure.title, figure.width / larger - 20,
        HEADING * 0.62), HEADING * point) or "")
  end
  add_panels(lines, figure, { width = figure.width / larger, height = figure.height / larger,
    point = point })
  if several then lines[#lines + 1] = "unset multiplot" end
  local whole = table.concat(lines, "\n") .. "\n"
  return format == "svg" and whole or glyphs.drawable(whole)
end

return script

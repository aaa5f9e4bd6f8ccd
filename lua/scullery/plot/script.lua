--- The script of a figure for gnuplot.
-- Texts are written so that gnuplot can read nothing else in them: between double quotes, with each
-- byte of ASCII that is no letter, digit or space as an octal number; and they are drawn as they
-- stand ("noenhanced").
local layers = require "scullery.plot.layers"
local quoting = require "scullery.plot.quoting"
local texts = require "scullery.plot.texts"
local ticks = require "scullery.plot.ticks"

local script = {}

local quote, number = quoting.text, quoting.number

local CHARACTER = 7    -- pixels, about
local NAME_MOST = 24   -- characters of a category at an axis
local LEGEND_RIGHT = 480 -- pixels of a panel that has its legend on the right

local terminals = {
  svg = 'svg size %d,%d fixed noenhanced font "DejaVu Sans,13" background rgb "white"',
  png = 'pngcairo size %d,%d noenhanced font "DejaVu Sans,9.75" fontscale 2 linewidth 2 \z
    pointscale 2 background rgb "white"',
  pdf = 'pdfcairo size %.4fin,%.4fin noenhanced font "DejaVu Sans,9.75" fontscale 1 linewidth 1 \z
    background rgb "white"',
  sixel = 'sixelgd size %d,%d noenhanced font "DejaVu Sans,10" background rgb "white" truecolor',
}

local scales = { svg = 1, png = 2, pdf = 1 / 96, sixel = 1 }

-- ---------------------------------------------------------------- axes

local function longest(names)
  local most = 0
  for _, name in ipairs(names) do most = math.max(most, math.min(NAME_MOST, texts.length(name))) end
  return most
end

-- Room in pixels -> how many ticks, and whether their texts are turned.
local function tick_room(axis, name, room)
  if name == "y" then return room / (axis.categories and 18 or 45) end
  if not axis.categories then return room / 75 end
  local turned = longest(axis.categories) * CHARACTER > room / #axis.categories
  return room / (turned and 16 or 10), turned
end

local function tick_lines(axis, name, room)
  local most, turned = tick_room(axis, name, room)
  local marks = {}
  for _, tick in ipairs(ticks.of(axis, most)) do
    marks[#marks + 1] = quote(texts.cut(tick.text, NAME_MOST)) .. " " .. number(tick.value)
  end
  for _, value in ipairs(ticks.minor(axis)) do
    marks[#marks + 1] = '"" ' .. number(value) .. " 1"
  end
  return ("set %stics %s (%s)"):format(name, turned and "rotate by 45 right" or "norotate",
    table.concat(marks, ", "))
end

local function add_axis(lines, axis, name, room)
  local low, high = axis.low, axis.high
  if axis.reversed then low, high = high, low end
  if axis.log then lines[#lines + 1] = ("set logscale %s 10"):format(name) end
  lines[#lines + 1] = ("set %srange [%s:%s]"):format(name, number(low), number(high))
  lines[#lines + 1] = tick_lines(axis, name, room)
  if axis.label then lines[#lines + 1] = ("set %slabel %s"):format(name, quote(axis.label)) end
end

-- ---------------------------------------------------------------- a panel

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

-- Notes stand below the label of the x axis.
local function add_notes(lines, panel)
  if #panel.notes == 0 then return end
  local rows = { quote(panel.x.label or "") }
  for _, note in ipairs(panel.notes) do rows[#rows + 1] = quote(note) end
  lines[#lines + 1] = "set xlabel " .. table.concat(rows, '."\\n".')
end

local function panel_lines(panel, width, height)
  local lines = { style }
  if panel.title then
    lines[#lines + 1] = ('set title %s font ",15"'):format(quote(panel.title))
  end
  add_axis(lines, panel.x, "x", width - 110)
  add_axis(lines, panel.y, "y", height - 90)
  add_notes(lines, panel)
  lines[#lines + 1] = not panel.legend and "unset key"
    or width >= LEGEND_RIGHT and "set key outside right top vertical Left reverse samplen 2.5"
    or "set key outside bottom center horizontal Left reverse samplen 2.5"
  if panel.colour_bar then add_colour_bar(lines, panel.colour_bar, height - 90) end
  if panel.equal then lines[#lines + 1] = "set size ratio -1" end
  layers.add(lines, panel, width, height)
  return table.concat(lines, "\n")
end

--- script.of(figure, format): the script; format: "svg", "png", "pdf" or "sixel".
function script.of(figure, format)
  local scale, count = scales[format], #figure.panels
  local lines = { "set encoding utf8", "set terminal "
    .. terminals[format]:format(figure.width * scale, figure.height * scale) }
  local columns = figure.columns
  local rows = math.ceil(count / columns)
  local several = count > 1 or figure.title
  if several then
    lines[#lines + 1] = ("set multiplot layout %d,%d%s"):format(rows, columns, figure.title
      and (" title %s font \",17\""):format(quote(figure.title)) or "")
  end
  local height = (figure.height - (figure.title and 30 or 0)) / rows
  for _, panel in ipairs(figure.panels) do
    lines[#lines + 1] = panel_lines(panel, figure.width / columns, height)
  end
  if several then lines[#lines + 1] = "unset multiplot" end
  return table.concat(lines, "\n") .. "\n"
end

return script

--- Layers of a panel for gnuplot: their data, and the elements of the plot command.
---
--- made, in the functions below: { lines = the script so far, plots = the elements of the plot
--- command so far, panel, blocks = the number of data blocks, legend = whether there is one }.
local colours = require "scullery.plot.colours"
local legend = require "scullery.plot.legend"
local quoting = require "scullery.plot.quoting"
local texts = require "scullery.plot.texts"
local ticks = require "scullery.plot.ticks"

local layers = {}

local quote, number = quoting.text, quoting.number

local MARKERS = { 7, 9, 5, 13, 11, 6, 8, 4, 12, 10 } -- filled first
local SQUARE = 5 -- in a legend, the colour of texts
local DASHES = { "solid", "(9,4)", "(2,3)", "(9,3,2,3)", "(14,4,2,4,2,4)" }
local TRANSLUCENT_FROM = 200 -- points
local PIXELS_MOST = 2500 -- cells drawn as rectangles; more as an image
local CAP = 0.006 -- half the width of a whisker's cap, a share of the axis
local NUMBER_LEAST = 7 -- pixels of the font in cells
local GREY, PALE = "#505050", "#a0a8b0"

-- Element `place` of a list that begins again after its end.
local function pick(list, place) return list[(place - 1) % #list + 1] end

local function colour_of(made, layer)
  return ('rgb "#%s"'):format(pick(made.panel.colours or colours.series, layer.colour))
end

--- layers.palette(): gnuplot's palette of heatmaps; cells of one of its 100 colours are one element
--- of an SVG file.
function layers.palette()
  local stops = {}
  for i, hex in ipairs(colours.map) do stops[i] = ('%d "#%s"'):format(i - 1, hex) end
  return ("set palette maxcolors 100 defined (%s)"):format(table.concat(stops, ", "))
end

-- Appends a data block with these rows; returns its name.
local function add_data(made, rows)
  made.blocks = made.blocks + 1
  local name = ("$d%d"):format(made.blocks)
  local lines = made.lines
  lines[#lines + 1] = name .. " << EOD"
  table.move(rows, 1, #rows, #lines + 1, lines)
  lines[#lines + 1] = "EOD"
  return name
end

local function add_plot(made, ...) made.plots[#made.plots + 1] = string.format(...) end

-- The option of a plot element for its entry in the legend.
local function title_of(made, label)
  if not made.legend or not label then return "notitle" end
  return "title " .. quote(texts.short(label, legend.LABEL_MOST))
end

-- Lists of numbers, the columns of a data block, as its rows.
local function rows_of(lists)
  local rows = {}
  for i = 1, #lists[1] do
    local cells = {}
    for j, list in ipairs(lists) do cells[j] = number(list[i]) end
    rows[i] = table.concat(cells, " ")
  end
  return rows
end

-- ------------ each kind

-- The ends of bands and whiskers; on a log axis at least the low end of the axis.
local function ends(made, list)
  local least, clipped = made.panel.y.log and made.panel.y.low or -math.huge, {}
  for i, value in ipairs(list) do clipped[i] = value < least and least or value end
  return clipped
end

-- Adds the band of a line; an empty row of data makes a gap.
local function add_band(made, layer)
  if not layer.low then return end
  local rows, open, any = {}, false, false
  local low, high = ends(made, layer.low), ends(made, layer.high)
  for i, x in ipairs(layer.x) do
    local drawn = low[i] == low[i] and high[i] == high[i]
    if drawn then
      rows[#rows + 1] = ("%s %s %s"):format(number(x), number(low[i]), number(high[i]))
      any = true
    elseif open then
      rows[#rows + 1] = ""
    end
    open = drawn
  end
  if not any then return end
  add_plot(made, "%s using 1:2:3 with filledcurves linecolor %s fillstyle transparent solid 0.2 \z
    noborder notitle", add_data(made, rows), colour_of(made, layer))
end

-- The points of a line that have no neighbours, two lists: a line through a single point would be
-- invisible.
local function alone(layer)
  local xs, ys = {}, {}
  local function is_drawn(i)
    return layer.x[i] and layer.x[i] == layer.x[i] and layer.y[i] == layer.y[i]
  end
  for i = 1, #layer.x do
    if is_drawn(i) and not is_drawn(i - 1) and not is_drawn(i + 1) then
      xs[#xs + 1], ys[#ys + 1] = layer.x[i], layer.y[i]
    end
  end
  return { xs, ys }
end

-- The style of a line in the panel and in the legend.
local function line_style(made, layer)
  if layer.faint then
    return ("lines linecolor rgb \"%s\" linewidth 0.7 dashtype solid"):format(PALE)
  end
  return ("%s linecolor %s linewidth 2 dashtype %s pointtype %d pointsize 0.6"):format(
    layer.marks and "linespoints" or "lines", colour_of(made, layer), pick(DASHES, layer.colour),
    pick(MARKERS, layer.colour))
end

local function add_line(made, layer)
  add_plot(made, "%s using 1:2 with %s %s", add_data(made, rows_of{ layer.x, layer.y }),
    line_style(made, layer), title_of(made, layer.label))
  if layer.faint then return end
  local single = not layer.marks and alone(layer)
  if single and #single[1] > 0 then
    add_plot(made, "%s using 1:2 with points linecolor %s pointtype %d pointsize 0.6 notitle",
      add_data(made, rows_of(single)), colour_of(made, layer), pick(MARKERS, layer.colour))
  end
end

-- x, moved along the axis by a share of its length.
local function beside(axis, x, share)
  if axis.log then return x * (axis.high / axis.low) ^ share end
  return x + share * (axis.high - axis.low)
end

-- Whiskers with caps, drawn as lines: gnuplot's own leave a gap at the point.
local function add_whiskers(made, layer, colour)
  if not layer.low then return end
  local rows, axis = {}, made.panel.x
  local low, high = ends(made, layer.low), ends(made, layer.high)
  local function add(x1, y1, x2, y2)
    table.move({ number(x1) .. " " .. number(y1), number(x2) .. " " .. number(y2), "" }, 1, 3,
      #rows + 1, rows)
  end
  for i, x in ipairs(layer.x) do
    if low[i] == low[i] and high[i] == high[i] then
      add(x, low[i], x, high[i])
      for _, y in ipairs{ low[i], high[i] } do
        add(beside(axis, x, -CAP), y, beside(axis, x, CAP), y)
      end
    end
  end
  if #rows == 0 then return end
  add_plot(made, "%s using 1:2 with lines linecolor %s linewidth 1.2 dashtype solid notitle",
    add_data(made, rows), colour)
end

local function is_inside(panel, x, y)
  return x >= panel.x.low and x <= panel.x.high and y >= panel.y.low and y <= panel.y.high
end

-- Markers that are texts: each distinct text is an entry of an array.
local function add_texts(made, layer)
  local places, count, rows, lines = {}, 0, {}, made.lines
  local name = ("T%d"):format(made.blocks + 1)
  local entries = {}
  for i, text in ipairs(layer.text) do
    if not places[text] then
      count = count + 1
      places[text] = count
      entries[count] = ("%s[%d] = %s"):format(name, count, quote(text))
    end
    if is_inside(made.panel, layer.x[i], layer.y[i]) then -- gnuplot crashes where none is
      rows[#rows + 1] = ("%s %s %d"):format(number(layer.x[i]), number(layer.y[i]), places[text])
    end
  end
  if #rows > 0 then
    lines[#lines + 1] = ("array %s[%d]"):format(name, count)
    table.move(entries, 1, count, #lines + 1, lines)
    add_plot(made, "%s using 1:2:(%s[int(column(3))]) with labels textcolor %s notitle",
      add_data(made, rows), name, colour_of(made, layer))
  end
  if made.legend and layer.label then
    add_plot(made, "keyentry with points pointtype %d linecolor %s %s", SQUARE,
      colour_of(made, layer), title_of(made, layer.label))
  end
end

-- The colour of points; translucent if there are many, so that overlapping ones are seen.
local function translucent(made, layer)
  if #layer.x <= TRANSLUCENT_FROM then return colour_of(made, layer) end
  return (colour_of(made, layer):gsub('"#', '"#70'))
end

local function add_points(made, layer)
  add_whiskers(made, layer, colour_of(made, layer))
  if layer.text then return add_texts(made, layer) end
  local size = #layer.x > 2000 and 0.4 or #layer.x > 300 and 0.6 or 0.9
  add_plot(made, "%s using 1:2 with points pointtype %d pointsize %g linecolor %s %s",
    add_data(made, rows_of{ layer.x, layer.y }), pick(MARKERS, layer.colour), size,
    translucent(made, layer), title_of(made, layer.label))
end

-- The fill style of bars; those drawn over others are translucent, with an edge of their colour.
local function fill_of(made, layer)
  if not layer.overlaid then return 'fillstyle solid 0.85 border linecolor rgb "white"' end
  return "fillstyle transparent solid 0.4 border linecolor " .. colour_of(made, layer)
end

local function add_bars(made, layer)
  local base = made.panel.y.log and made.panel.y.low or layer.base
  local rows, half = {}, layer.width / 2
  for i, x in ipairs(layer.x) do
    if layer.y[i] == layer.y[i] then
      rows[#rows + 1] = ("%s %s %s %s %s %s"):format(number(x), number(layer.y[i]),
        number(x - half), number(x + half), number(base), number(layer.y[i]))
    end
  end
  if #rows > 0 then
    add_plot(made, "%s using 1:2:3:4:5:6 with boxxyerror linecolor %s linewidth 0.5 %s %s",
      add_data(made, rows), colour_of(made, layer), fill_of(made, layer),
      title_of(made, layer.label))
  end
  add_whiskers(made, layer, 'rgb "#202020"')
end

local function add_rule(made, layer)
  local data = add_data(made, { ("%s %s"):format(number(layer.x1), number(layer.y1)),
    ("%s %s"):format(number(layer.x2), number(layer.y2)) })
  add_plot(made, "%s using 1:2 with lines linecolor rgb \"%s\" linewidth 1 dashtype (4,3) %s",
    data, GREY, title_of(made, layer.label))
end

--- layers.number_font(layer, size): the font size, in pixels, of numbers in the cells of a panel of
--- this size, nil if they would be unreadable.
function layers.number_font(layer, size)
  local longest = 3 -- characters
  for _, row in ipairs(layer.values) do
    for _, value in ipairs(row) do longest = math.max(longest, #ticks.number(value)) end
  end
  local room = math.min((size.width - 160) / #layer.values[1] / (0.7 * longest + 0.7),
    (size.height - 90) / #layer.values / 1.6)
  return room >= NUMBER_LEAST and math.min(13, math.floor(room)) or nil
end

-- Numbers in the cells, white on dark colours and black on light ones.
local function add_numbers(made, layer, font)
  local bar, shades = made.panel.colour_bar, { dark = {}, light = {} }
  for i, row in ipairs(layer.values) do
    for j, value in ipairs(row) do
      local share = (value - bar.low) / (bar.high - bar.low)
      local shade = value == value and colours.is_dark(colours.at(share)) and "dark" or "light"
      local rows = shades[shade]
      if value == value then
        rows[#rows + 1] = ('%d %d "%s"'):format(j, i, ticks.number(value))
      end
    end
  end
  for shade, colour in pairs{ dark = "white", light = "black" } do
    if #shades[shade] > 0 then
      add_plot(made, '%s using 1:2:3 with labels textcolor rgb "%s" font ",%g" notitle',
        add_data(made, shades[shade]), colour, font)
    end
  end
end

local function add_cells(made, layer, size)
  local rows = {}
  for i, row in ipairs(layer.values) do
    for j, value in ipairs(row) do rows[#rows + 1] = ("%d %d %s"):format(j, i, number(value)) end
  end
  made.lines[#made.lines + 1] =
    'set object 1 rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb "#e8e8e8" fillstyle \z
    solid noborder'
  add_plot(made, "%s using 1:2:3 with image %s notitle", add_data(made, rows),
    #rows <= PIXELS_MOST and "pixels" or "")
  local font = layer.numbers and layers.number_font(layer, size)
  if font then add_numbers(made, layer, font * size.point) end
end

-- ------------ entries of a legend

-- By kind of layer: the style of its entry in a legend without a plot.
local samples = {
  line = line_style,
  points = function(made, layer)
    return ("points pointtype %d linecolor %s"):format(layer.text and SQUARE
      or pick(MARKERS, layer.colour), colour_of(made, layer))
  end,
  bars = function(made, layer)
    return ("boxes linecolor %s %s"):format(colour_of(made, layer), fill_of(made, layer))
  end,
  rule = function()
    return ("lines linecolor rgb \"%s\" linewidth 1 dashtype (4,3)"):format(GREY)
  end }

--- layers.entries(panel): a plot command that draws the legend of these layers and nothing else.
function layers.entries(panel)
  local made = { plots = { "NaN notitle" }, panel = panel, legend = true }
  for _, layer in ipairs(panel.layers) do
    add_plot(made, "keyentry with %s %s", samples[layer.kind](made, layer),
      title_of(made, layer.label))
  end
  return "plot " .. table.concat(made.plots, ", \\\n  ")
end

-- Adds a contour over cells: a black line with a thinner white one on it, seen on any colour.
local function add_contour(made, layer)
  local rows = {}
  for i, x in ipairs(layer.places_x) do
    rows[i] = x == x and number(x) .. " " .. number(layer.places_y[i]) or ""
  end
  if #rows == 0 then return end
  add_plot(made, "%s using 1:2 with lines linecolor rgb \"black\" linewidth 2.5 notitle",
    add_data(made, rows))
  add_plot(made, "$d%d using 1:2 with lines linecolor rgb \"white\" linewidth 1 notitle",
    made.blocks)
end

local adders = { line = add_line, points = add_points, bars = add_bars, rule = add_rule,
  cells = add_cells, contour = add_contour }

--- layers.add(lines, panel, size): appends to a script the data of the panel's layers and the
--- command that plots them. size = { width =, height = (of the panel, in pixels), point = font size
--- of a pixel }.
function layers.add(lines, panel, size)
  local made = { lines = lines, plots = {}, panel = panel, blocks = 0,
    legend = panel.legend and not size.no_legend }
  for _, layer in ipairs(panel.layers) do
    if layer.kind == "rule" then add_rule(made, layer) end
  end
  for _, layer in ipairs(panel.layers) do
    if layer.kind == "line" then add_band(made, layer) end
  end
  for _, layer in ipairs(panel.layers) do
    if layer.kind ~= "rule" then adders[layer.kind](made, layer, size) end
  end
  if #made.plots == 0 then add_plot(made, "NaN notitle") end
  lines[#lines + 1] = "plot " .. table.concat(made.plots, ", \\\n  ")
end

return layers

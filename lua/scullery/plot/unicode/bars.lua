--- Bars by name, drawn horizontally so that names have room: one line for each bar.
local canvas = require "scullery.plot.unicode.canvas"
local frame = require "scullery.plot.unicode.frame"
local glyphs = require "scullery.plot.unicode.glyphs"
local ink = require "scullery.plot.unicode.ink"
local scale = require "scullery.plot.unicode.scale"
local text = require "scullery.base.text"

local bars = {}

local VALUES_FROM = 40 -- least columns of a picture with the values behind its bars

-- plot, in the functions below: { canvas, columns, rows = of the canvas, share = the function from
-- a value to its share of the axis, colour, plain = whether all bars are filled with one character
-- }.

-- The lines of the picture in the order of the names: { layer =, place = the layer's number, i =
-- the bar's number in it, name = the name, only for its first bar }; false is an empty line between
-- names that have several bars.
local function rows_of(panel, layers)
  local names, of, rows = panel.x.categories, {}, {}
  for place, layer in ipairs(layers) do
    for i, x in ipairs(layer.x) do
      local at = math.floor(x + 0.5)
      of[at] = of[at] or {}
      table.insert(of[at], { layer = layer, place = place, i = i })
    end
  end
  for at, name in ipairs(names) do
    if #layers > 1 and at > 1 then rows[#rows + 1] = false end
    for k, row in ipairs(of[at] or {}) do
      row.name = k == 1 and text.clean(tostring(name)) or nil
      rows[#rows + 1] = row
    end
  end
  return rows
end

-- The names on the left of the bars, as frame.left gives them.
local function left_of(panel, rows, width)
  local left, most = { gutter = 0, label = panel.x.label or "" }, math.max(5, width // 3)
  local cut = false
  for r, row in ipairs(rows) do
    if row and row.name then
      cut = cut or text.width(row.name) > most
      left[r - 1] = frame.short(row.name, most)
      left.gutter = math.max(left.gutter, text.width(left[r - 1]))
    end
  end
  left.note = frame.note_of("x", cut and most)
  return left
end

-- Draws a bar between two shares of the axis, base and value, to an eighth of a column. A bar to
-- the left of the base has whole columns, because there are no characters that are filled from the
-- right. It covers at least one cell, so that it is visible.
local function draw_bar(plot, r, base, share, fill, colour)
  local whole = 8 * plot.columns
  local from, to = math.floor(base * whole + 0.5), math.floor(share * whole + 0.5)
  if to <= from then
    for c = math.min(to // 8, plot.columns - 1), math.max(to // 8, (from - 1) // 8) do
      plot.canvas:put_under(c, r, fill, colour)
    end
    return
  end
  for c = from // 8, (to - 1) // 8 do
    local part = math.min(8, to - 8 * c)
    local glyph = part == 8 and fill or plot.plain and glyphs.from_left[part]
      or part >= 4 and fill
    if glyph then plot.canvas:put_under(c, r, glyph, colour) end
  end
end

-- Draws a whisker between two shares of the axis over the bar, with a cross where the bar ends.
local function draw_whisker(plot, r, low, high, value)
  if not (low <= high and high >= 0 and low <= 1) then return end
  local first = frame.column(math.max(0, low), plot.columns)
  local last = frame.column(math.min(1, high), plot.columns)
  for c = first, last do
    local part = c == first and low >= 0 and "first" or c == last and high <= 1 and "last"
    plot.canvas:put_over(c, r, glyphs.whisker_flat[first < last and part or "middle"])
  end
  if value >= 0 and value <= 1 and first < last then
    plot.canvas:put_over(frame.column(value, plot.columns), r, glyphs.whisker_flat.value)
  end
end

-- Draws the bar of a line of the picture, with its whisker. On a log axis a bar begins at the end
-- of the axis.
local function draw_row(plot, r, row)
  local layer, i = row.layer, row.i
  local y, base = plot.share(layer.y[i]), plot.share(layer.base or 0)
  base = base == base and scale.clamp(base) or 0
  if y == y and layer.y[i] ~= (layer.base or 0) then
    draw_bar(plot, r, base, scale.clamp(y), glyphs.fill(plot.colour and 1 or row.place),
      plot.colour and ink.series(layer.colour or 1))
  end
  if layer.low and layer.high then
    draw_whisker(plot, r, scale.low_end(plot.share, layer.low[i]), plot.share(layer.high[i]), y)
  end
end

-- Draws the rules: vertical lines across all bars at a value of the axis.
local function draw_rules(plot, panel)
  for _, rule in ipairs(frame.layers(panel, "rule")) do
    local share = plot.share(rule.y1)
    for r = 0, share >= 0 and share <= 1 and rule.y1 == rule.y2 and plot.rows - 1 or -1 do
      plot.canvas:put_over(frame.column(share, plot.columns), r, glyphs.rule_down)
    end
  end
end

-- The values as texts, by the number of their row, and the width of the longest.
local function values_of(rows)
  local list, most = {}, 0
  for r, row in ipairs(rows) do
    local value = row and row.layer.y[row.i]
    if row and value == value then
      list[r] = ("%.4g"):format(value)
      most = math.max(most, #list[r])
    end
  end
  return list, most
end

-- The entries of the legend, see frame.legend.
local function entries_of(panel, layers, colour)
  local entries = {}
  if not panel.legend then return entries end
  for place, layer in ipairs(layers) do
    if layer.label and layer.label ~= "" then
      entries[#entries + 1] = { sample = glyphs.fill(colour and 1 or place), label = layer.label,
        colour = layer.colour or 1 }
    end
  end
  for _, rule in ipairs(frame.layers(panel, "rule")) do
    if rule.label and rule.label ~= "" then
      entries[#entries + 1] = { sample = glyphs.rule_down, label = rule.label }
    end
  end
  return entries
end

--- bars.block(panel, o): the picture of a panel of bars by name, as a list of lines { text =, width
--- = }. Its height is that of its bars; o.height does not matter. o: { width = columns, colour =
--- true for escape sequences }.
function bars.block(panel, o)
  local layers = frame.layers(panel, "bars")
  local rows = rows_of(panel, layers)
  local left = left_of(panel, rows, o.width)
  local values, widest = values_of(rows)
  local written = o.width >= VALUES_FROM and widest > 0
  local columns = o.width - left.gutter - 1 - (written and widest + 1 or 0)
  local plot = { canvas = canvas.new(columns, #rows), columns = columns, rows = #rows,
    share = scale.share(panel.y), colour = o.colour, plain = o.colour or #layers == 1 }
  for r, row in ipairs(rows) do if row then draw_row(plot, r - 1, row) end end
  draw_rules(plot, panel)
  local below = frame.below(panel.y, left.gutter, columns)
  return frame.assemble(panel, o, { canvas = plot.canvas, left = left, below = below,
    behind = written and values or nil,
    legend = frame.legend(entries_of(panel, layers, o.colour), o.width, o.colour,
      panel.legend_title),
    notes = frame.notes(panel, left.note) })
end

return bars

--- The place of a panel's legend in pictures by gnuplot: inside if a corner is free; else below if
--- it fits into one row or the panel is narrow, and on the right otherwise; nowhere if it would
--- take most of the room. Also the legend that several panels share.
local quoting = require "scullery.plot.quoting"
local text = require "scullery.base.text"
local texts = require "scullery.plot.texts"

local legend = {}

--- legend.LABEL_MOST: the most columns of text in an entry.
legend.LABEL_MOST = 32
--- legend.PIXELS: the pixels of a column of text in the picture's font.
legend.PIXELS = 8.5

local SAMPLE, ROW = 50, 18   -- pixels of an entry's line or marker, and of its height
local RIGHT_FROM = 480       -- pixels of a panel that may have its legend on the right
local MOST_WIDTH, MOST_HEIGHT = 0.6, 0.4 -- shares of the panel
local BESIDE, ABOVE = 95, 75 -- pixels around the axes
local GAP = 12               -- pixels around a legend inside
local MOST_INSIDE = 10       -- entries
local STEPS = 24             -- points that are tested on a piece of a line

local STYLE = "Left reverse samplen 2.5"
local CORNERS = { { "right top", 1, 1 }, { "left top", 0, 1 }, { "right bottom", 1, 0 },
  { "left bottom", 0, 0 } }

-- The number of entries, and the pixels of the widest one or of the title.
local function entries(panel)
  local count, longest = 0, 0
  for _, layer in ipairs(panel.layers) do
    if layer.label then
      count, longest = count + 1, math.max(longest, text.width(layer.label))
    end
  end
  local title = panel.legend_title and text.width(panel.legend_title) or 0
  return count, math.max(SAMPLE + math.min(longest, legend.LABEL_MOST) * legend.PIXELS,
    math.min(title, legend.LABEL_MOST) * legend.PIXELS)
end

-- The part of gnuplot's command for the title of the legend; "" without one.
local function title_of(panel)
  if not panel.legend_title then return "" end
  return (" title %s left"):format(quoting.text(texts.short(panel.legend_title,
    legend.LABEL_MOST)))
end

-- ------------ a free corner

-- The place of a value on an axis, 0 at axis.low and 1 at axis.high.
local function share(axis, value)
  if axis.log then
    return math.log(math.max(value, axis.low) / axis.low) / math.log(axis.high / axis.low)
  end
  return (value - axis.low) / (axis.high - axis.low)
end

-- Calls f(x, y) for points that a layer covers, as shares of the axes: its points, whiskers, and
-- STEPS points on each piece of a line or side of a bar.
local function each_place(panel, layer, f)
  local function at(x, y)
    if x == x and y == y then f(share(panel.x, x), share(panel.y, y)) end
  end
  local function stretch(x1, y1, x2, y2)
    local a, b = share(panel.x, x1), share(panel.y, y1)
    local c, d = share(panel.x, x2), share(panel.y, y2)
    for i = 0, STEPS do
      local part = i / STEPS
      f(a + part * (c - a), b + part * (d - b))
    end
  end
  if layer.kind == "rule" then return stretch(layer.x1, layer.y1, layer.x2, layer.y2) end
  for i, x in ipairs(layer.x) do
    local y = layer.y[i]
    at(x, y)
    for _, name in ipairs{ "low", "high" } do if layer[name] then at(x, layer[name][i]) end end
    local drawn = x == x and y == y
    if layer.kind == "bars" and drawn then
      local base = panel.y.log and panel.y.low or 0
      for side = -0.5, 0.5, 0.25 do
        stretch(x + side * layer.width, base, x + side * layer.width, y)
      end
    elseif layer.kind == "line" and drawn and i > 1 and layer.y[i - 1] == layer.y[i - 1] then
      stretch(layer.x[i - 1], layer.y[i - 1], x, y)
    end
  end
end

-- An estimate from below of the width and height between the axes, in pixels.
local function between_axes(panel, size)
  local notes = 0
  for _, note in ipairs(panel.notes or {}) do
    notes = notes + math.ceil(#note * legend.PIXELS / size.width)
  end
  local width = math.max(60, size.width - BESIDE)
  local height = math.max(40, size.height - ABOVE - ROW * notes)
  if panel.equal then
    local aspect = (panel.x.high - panel.x.low) / (panel.y.high - panel.y.low)
    width = math.min(width, height * aspect)
    height = width / aspect
  end
  return width, height
end

-- The corner, in gnuplot's words, in which a legend of `count` entries, each `width` pixels wide,
-- covers no layer; nil if there is none.
local function free_corner(panel, size, count, width)
  local across, up = between_axes(panel, size)
  local rows = count + (panel.legend_title and 1.2 or 0)
  local wide, high = (width + 2 * GAP) / across, (rows * ROW + 2 * GAP) / up
  if count > MOST_INSIDE or wide > MOST_WIDTH or high > 0.6 then return nil end
  local free = { true, true, true, true }
  for _, layer in ipairs(panel.layers) do
    if layer.kind == "cells" then return nil end
    each_place(panel, layer, function(x, y)
      for i, corner in ipairs(CORNERS) do
        local beside, above = math.abs(x - corner[2]), math.abs(y - corner[3])
        if beside < wide and above < high then free[i] = false end
      end
    end)
  end
  for i, corner in ipairs(CORNERS) do if free[i] then return corner[1] end end
end

-- ------------ a panel's legend

-- A legend on the right: gnuplot's command, and the width that it takes in pixels; nil if that is
-- too much.
local function on_the_right(panel, size, count, width)
  local rows = count + (panel.legend_title and 1 or 0)
  width = width * math.ceil(rows / math.max(1, (size.height - 60) // ROW))
  if width > MOST_WIDTH * size.width then return nil end
  return "set key outside right top vertical " .. STYLE .. title_of(panel), width
end

--- legend.of(panel, size): gnuplot's command; "inside", "right", "below" or nil; the pixels that
--- the legend takes on the right (0 elsewhere); and a note if there is no room for it. size = {
--- width =, height = (of the panel, in pixels), no_legend = true if the panels share a legend }.
function legend.of(panel, size)
  if not panel.legend or size.no_legend then return "unset key", nil, 0 end
  local count, width = entries(panel)
  local place = panel.legend_place or "auto"
  local corner = (place == "auto" or place == "inside") and free_corner(panel, size, count, width)
    or place == "inside" and "right top"
  if corner then
    return ("set key inside %s vertical %s%s"):format(corner, STYLE, title_of(panel)), "inside", 0
  end
  local one_row = count * width <= size.width - 100 and not panel.equal
  local right, taken = on_the_right(panel, size, count, width)
  if right and (place == "right" or place ~= "below" and size.width >= RIGHT_FROM
    and not one_row) then
    return right, "right", taken
  end
  if math.ceil(count / math.max(1, size.width // width)) * ROW <= MOST_HEIGHT * size.height then
    return "set key outside bottom center horizontal " .. STYLE .. title_of(panel), "below", 0
  end
  return "unset key", nil, 0, ("there is no room for the legend of %d entries"):format(count)
end

-- ------------ of several panels

-- Equal for two entries that look the same.
local function entry_key(layer) return ("%s %s"):format(layer.kind, layer.colour or "") end

--- legend.shared(panels): the layers of one legend for these panels, if at least two have a legend,
--- equal labels look the same in all panels, and one panel has all entries; nil otherwise.
function legend.shared(panels)
  local known, list, with, most = {}, {}, 0, 0
  for _, panel in ipairs(panels) do
    local own = 0
    for _, layer in ipairs(panel.legend and panel.layers or {}) do
      local label = layer.label
      if label and known[label] and known[label] ~= entry_key(layer) then return nil end
      if label and not known[label] then
        known[label], list[#list + 1] = entry_key(layer), layer
      end
      own = own + (label and 1 or 0)
    end
    with, most = with + (own > 0 and 1 or 0), math.max(most, own)
    if panel.legend and panel.legend_title ~= panels[1].legend_title then return nil end
  end
  if with < 2 or #list > most or #list > MOST_INSIDE then return nil end
  return list
end

--- legend.strip_height(panel, width): the height in pixels of a legend below all panels that is
--- `width` pixels wide. panel: { layers, legend_title }.
function legend.strip_height(panel, width)
  local count, one = entries(panel)
  local title = panel.legend_title and 1 or 0
  return (math.ceil(count / math.max(1, (width - 40) // one)) + title) * ROW + 10
end

--- legend.strip_width(panel): the pixels that all its entries need in one row.
function legend.strip_width(panel)
  local count, one = entries(panel)
  return count * (one + 2 * GAP) + 60
end

--- legend.strip(panel): gnuplot's command for a legend in a place of its own.
function legend.strip(panel)
  return "set key center center horizontal " .. STYLE .. title_of(panel):gsub(" left$", " center")
end

return legend

--- sc.plot.scatter: points, with texts as markers if they are given.
local figure = require "scullery.plot.figure"
local natural = require "scullery.plot.natural"
local options = require "scullery.base.options"
local panel = require "scullery.plot.panel"
local series = require "scullery.plot.series"
local shorten = require("scullery.base.text").shorten
local values = require "scullery.plot.values"

local scatter = {}

local TEXT_MOST = 12 -- characters of a marker

local list_of_texts = { test = values.is_list, takes = "a list of texts or numbers" }
local of_series = series.with(series.rules, { text = list_of_texts })
local rules = panel.rules(series.with(panel.lines, of_series, { series = { type = "table" },
  class = list_of_texts }))
options.declare("plot.scatter", rules)

-- The distinct classes as { name, value }, in ascending order: numbers before texts, and "2" before
-- "10". names: as texts; own: as given.
local function sorted_classes(names, own)
  local classes, seen = {}, {}
  for i, name in ipairs(names) do
    if not seen[name] then
      seen[name] = true
      classes[#classes + 1] = { name = name, value = own[i] }
    end
  end
  table.sort(classes, function(a, b)
    if type(a.value) == "number" and type(b.value) == "number" then return a.value < b.value end
    if type(a.value) ~= type(b.value) then return type(a.value) < type(b.value) end
    return natural.less(a.name, b.name)
  end)
  return classes
end

-- Divides the points of a series `read` into one series for each class.
local function split(title, read, class)
  local names, own = values.texts(title .. ": class", class)
  values.same_length(title, #read.y, "y", { class = names })
  local list, at = {}, {}
  for i, one in ipairs(sorted_classes(names, own)) do
    list[i] = { label = one.name, x = {}, y = {} }
    for _, name in ipairs{ "low", "high", "text" } do list[i][name] = read[name] and {} end
    at[one.name] = list[i]
  end
  for i, name in ipairs(names) do
    local to = at[name]
    for _, field in ipairs{ "x", "y", "low", "high", "text" } do
      if to[field] then to[field][#to[field] + 1] = read[field][i] end
    end
  end
  return list
end

-- True if the marker of each point is the label of the series, so that a legend is not needed.
local function is_said(one)
  for _, text in ipairs(one.text or { false }) do
    if text ~= one.label then return false end
  end
  return true
end

-- The checked lists of one series, with the texts of markers shortened.
local function read_one(title, o)
  local read = series.read(title, o)
  if o.text then
    read.text = values.texts(title .. ": text", o.text)
    values.same_length(title, #read.y, "y", { text = read.text })
    for i, text in ipairs(read.text) do read.text[i] = shorten(text, TEXT_MOST) end
  end
  return read
end

--- sc.plot.scatter{ x =, y =, ... }: points.
--- x, y: lists of numbers, or matrices of one column or row. class: a list of labels; the points of
---   each class have their own colour, marker and entry in the legend. text: a list of texts or
---   digits that are drawn as the markers; without a legend if they are the classes. error, or low
---   and high: whiskers. label: the name in the legend. series = { { x =, y =, text =, error =,
---   label = }, ... }: several.
--- rules = { { y = 0.5, label = "chance" }, { x = 3 }, { diagonal = true } }: thin straight lines.
--- equal = true: both axes have one scale, as for embeddings. title, x_label, y_label, x_unit,
---   y_unit, x_log, y_log, x_range, y_range, legend, legend_title, notes, colours, font, font_size,
---   width, height: as in sc.plot.line.
--- Returns a figure: fig:show(), fig:save("f.svg"), fig:data("f.csv"), print(fig).
function scatter.new(given)
  local title = "plot.scatter"
  local o = options.check(title, given, rules, 0)
  if o.class and o.series then
    error(title .. ": class makes the series; give class or series", 0)
  end
  local data, layers = {}, {}
  for i, one in ipairs(series.each(title, o, of_series)) do data[i] = read_one(one[2], one[1]) end
  if o.class then data = split(title, data[1], o.class) end
  local said = o.class ~= nil
  for _, one in ipairs(data) do said = said and is_said(one) end
  for i, one in ipairs(data) do
    layers[i] = { kind = "points", x = one.x, y = one.y, low = one.low, high = one.high,
      text = one.text, label = not said and one.label or nil, colour = i }
  end
  return figure.new(o, panel.make(title, o, { layers = layers, data = data }))
end

return scatter

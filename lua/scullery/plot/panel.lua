--- One panel of a figure: the options that all kinds of pictures share, the limits of the axes,
--- rules (straight lines) and notes.
local options = require "scullery.base.options"
local texts = require "scullery.plot.texts"
local thin = require "scullery.plot.thin"
local values = require "scullery.plot.values"

local panel = {}

local LARGEST = 1e300   -- numbers beyond are not drawn
local SMALLEST = 1e-305 -- numbers below are not drawn on a log axis
local MARGIN = 0.04     -- share of an axis on each side of the data
local MOST_RULES = 100

local range_rule = { test = values.is_range,
  takes = "{ low, high }, two finite numbers in ascending order" }

-- Whether the value is a list of at least one element, all of which pass the test.
local function is_list_of(value, test)
  if type(value) ~= "table" or getmetatable(value) or rawlen(value) == 0 then return false end
  for _, one in ipairs(value) do if not test(one) then return false end end
  return true
end

local function is_text(value) return type(value) == "string" end

local function is_notes(value) return is_text(value) or is_list_of(value, is_text) end

local function is_colours(value)
  return is_list_of(value, function(one) return is_text(one) and one:find("^#%x%x%x%x%x%x$") end)
end

local common = {
  title = { type = "string" }, x_label = { type = "string" }, y_label = { type = "string" },
  x_unit = { type = "string" }, y_unit = { type = "string" }, x_range = range_rule,
  y_range = range_rule,
  legend = { choices = { "auto", "none", "inside", "right", "below" }, default = "auto" },
  legend_title = { type = "string" },
  notes = { test = is_notes, takes = "\"none\", a text or a list of texts" },
  colours = { test = is_colours, takes = "a list of colours such as \"#0072b2\"" },
  width = { type = "integer", low = 100, high = 10000, default = 720 },
  height = { type = "integer", low = 100, high = 10000, default = 480 },
}

--- panel.font: the options of the font of a figure.
panel.font = { font_size = { type = "integer", low = 6, high = 60 },
  font = { test = function(value)
    return type(value) == "string" and value:find("^%a[%w -]*$") ~= nil and #value <= 60
  end, takes = "the name of a font, of letters, digits, spaces and hyphens" } }
for name, rule in pairs(panel.font) do common[name] = rule end

--- panel.rules(own): the options of a kind of picture: its own and those that all share.
function panel.rules(own)
  local rules = {}
  for name, rule in pairs(common) do rules[name] = rule end
  for name, rule in pairs(own) do rules[name] = rule end
  return rules
end

--- panel.lines: options of pictures with two axes of numbers.
panel.lines = { x_log = { type = "boolean", default = false },
  y_log = { type = "boolean", default = false }, equal = { type = "boolean", default = false },
  rules = { type = "table", takes = "a list of { y = 0.5 }, { x = 3 } or { diagonal = true }" } }

-- ------------ values that cannot be drawn

-- "1 value is ...", "3 values are ...".
local function counted(count, one, many)
  return count == 1 and "1 " .. one or ("%d %s"):format(count, many)
end

-- The reason why a value cannot be drawn on an axis: "nan" (not finite), "large" or "log"; nil if
-- it can.
local function fault_of(value, axis)
  if value ~= value or value == math.huge or value == -math.huge then return "nan" end
  if value > LARGEST or value < -LARGEST then return "large" end
  if axis.log and value < SMALLEST then return "log" end
end

-- An end of a whisker or band: NaN if it is not a number; 0 if it is not positive on a log axis
-- (back ends draw it to the end of the axis); +-LARGEST if it is infinite (end_at_axis replaces it
-- when the axis is known).
local function clean_end(value, axis)
  local fault = fault_of(value, axis)
  if fault == "log" then return 0 end
  if value == math.huge then return LARGEST end
  if value == -math.huge then return axis.log and 0 or -LARGEST end
  return fault and 0 / 0 or value
end

-- Replaces values of a layer that cannot be drawn by NaN, and counts them in faults[reason].
local function clean_layer(layer, axes, faults)
  local x, y = {}, {}
  for i, given in ipairs(layer.x) do
    local fault = fault_of(given, axes.x) or fault_of(layer.y[i], axes.y)
    if fault then faults[fault] = (faults[fault] or 0) + 1 end
    x[i], y[i] = given, layer.y[i]
    if fault then y[i] = 0 / 0 end
    if fault_of(given, axes.x) then x[i] = 0 / 0 end
  end
  layer.x, layer.y = x, y
  for _, name in ipairs{ "low", "high" } do
    local list, clean = layer[name], {}
    for i, value in ipairs(list or {}) do
      clean[i] = y[i] == y[i] and clean_end(value, axes.y) or 0 / 0
    end
    layer[name] = list and clean
  end
end

-- Sentences about values that are not drawn; faults: the number of values by reason.
local function notes_of(faults)
  local notes = {}
  if faults.nan then
    notes[1] = counted(faults.nan, "value is not a number and is", "values are not numbers and are")
      .. " not drawn"
  end
  if faults.log then
    notes[#notes + 1] = counted(faults.log, "value is not positive and is",
      "values are not positive and are") .. " not drawn on a log axis"
  end
  if faults.large then
    notes[#notes + 1] = counted(faults.large, "value is", "values are")
      .. " beyond 1e300 and not drawn"
  end
  return notes
end

-- ------------ limits

-- An empty range, which take() extends.
local function limits() return { low = math.huge, high = -math.huge } end

-- Extends a range { low, high } to a value; nil, NaN and, on a log axis, values <= 0 do not count.
local function take(limit, value, log)
  if not value or value ~= value or log and value <= 0 then return end
  if value < limit.low then limit.low = value end
  if value > limit.high then limit.high = value end
end

-- Extends a range to the end of a whisker, unless the end is infinite.
local function take_end(limit, value, log)
  if value and math.abs(value) < LARGEST then take(limit, value, log) end
end

-- Extends the ranges of both axes to all points of a layer, its whiskers and the base of its bars.
local function take_layer(layer, axes, x_limit, y_limit)
  local half = layer.kind == "bars" and layer.width / 2 or 0
  for i, y in ipairs(layer.y) do
    if y == y then
      take(x_limit, layer.x[i] - half)
      take(x_limit, layer.x[i] + half)
      take(y_limit, y)
      take_end(y_limit, layer.low and layer.low[i], axes.y.log)
      take_end(y_limit, layer.high and layer.high[i], axes.y.log)
    end
  end
  if layer.kind == "bars" then take(y_limit, 0, axes.y.log) end
end

-- Sets the ends of an axis: the range of the data with a margin on each side, except where bars
-- begin at the axis. A range of one value is widened: to half of the value on each side, or 0.3
-- decades.
local function padded(axis, limit, bars)
  local low, high = limit.low, limit.high
  if axis.log then
    local decades = math.log(high, 10) - math.log(low, 10)
    local pad = 10 ^ (decades > 1e-9 and MARGIN * decades or 0.3)
    axis.low, axis.high = math.max(low / pad, SMALLEST), math.min(high * pad, LARGEST * 100)
    return
  end
  local span = high - low
  if values.is_narrow(low, high) then
    local most = math.max(math.abs(low), math.abs(high))
    local half = (most > 1e-300 and most or 1) / 2
    axis.low, axis.high = low - half, high + half
    return
  end
  axis.low = bars and low == 0 and 0 or low - MARGIN * span
  axis.high = bars and high == 0 and 0 or high + MARGIN * span
end

-- Sets the ends of an axis: those that the user gave, else by padded().
local function set_range(title, axis, limit, given, bars, name)
  if axis.low then return end -- set by the kind of picture, as for a heatmap
  if given and axis.log and given[1] <= 0 then
    error(("%s: %s_range begins at %s, and a log axis takes positive numbers"):format(title, name,
      options.show(given[1])), 0)
  end
  if given then
    axis.low, axis.high = given[1], given[2]
    if values.is_narrow(axis.low, axis.high) then
      error(("%s: %s_range is too narrow to draw"):format(title, name), 0)
    end
    return
  end
  padded(axis, limit, bars)
end

-- Replaces infinite ends of whiskers and bands by the end of the axis.
local function end_at_axis(layer, axis)
  for i, value in ipairs(layer.low or {}) do
    if value == -LARGEST then layer.low[i] = axis.low end
  end
  for i, value in ipairs(layer.high or {}) do
    if value == LARGEST then layer.high[i] = axis.high end
  end
end

-- ------------ rules

local one_rule = { x = { type = "number" }, y = { type = "number" },
  diagonal = { type = "boolean" }, label = { type = "string" } }

-- The list of rules { x or y or diagonal, label }; raises an error for one that is not valid.
local function check_rules(title, given)
  local list = {}
  local count = given and rawlen(given) or 0
  if count > MOST_RULES then error(("%s: rules has %d entries, at most %d are taken"):format(title,
    count, MOST_RULES), 0) end
  for i = 1, count do
    local what = ("%s: rules[%d]"):format(title, i)
    if type(rawget(given, i)) ~= "table" then
      error(("%s takes { y = 0.5 }, { x = 3 } or { diagonal = true }, and got %s"):format(what,
        options.show(rawget(given, i))), 0)
    end
    local o = options.check(what, rawget(given, i), one_rule, 0)
    local kinds = (o.x and 1 or 0) + (o.y and 1 or 0) + (o.diagonal and 1 or 0)
    local place = o.x or o.y or 0
    if kinds ~= 1 or place ~= place or math.abs(place) > LARGEST then
      error(what .. " takes one of x, y (finite numbers) and diagonal = true", 0)
    end
    list[i] = o
  end
  if count == 0 and given and next(given) ~= nil then
    error(("%s: rules takes a list, as { { y = 0.5 } }"):format(title), 0)
  end
  return list
end

-- A rule as a layer, a segment between the ends of the axes; nil if it is outside them.
local function rule_layer(o, x, y)
  local layer = { kind = "rule", label = o.label and texts.clean(o.label) }
  if o.x then
    layer.x1, layer.y1, layer.x2, layer.y2 = o.x, y.low, o.x, y.high
    return o.x >= x.low and o.x <= x.high and layer or nil
  elseif o.y then
    layer.x1, layer.y1, layer.x2, layer.y2 = x.low, o.y, x.high, o.y
    return o.y >= y.low and o.y <= y.high and layer or nil
  end
  local low, high = math.max(x.low, y.low), math.min(x.high, y.high)
  layer.x1, layer.y1, layer.x2, layer.y2 = low, low, high, high
  return low < high and layer or nil
end

-- ------------ a panel

-- The label, with the unit, and the scale of axis `name` from the options.
local function axis_of(o, name)
  local label, unit = texts.clean(o[name .. "_label"] or ""), o[name .. "_unit"]
  if unit then label = (label == "" and "%s(%s)" or "%s (%s)"):format(label, texts.clean(unit)) end
  return { label = label ~= "" and label or nil, log = o[name .. "_log"] or false }
end

-- Raises the error for layers of which no point can be drawn.
local function nothing(title, layers)
  local count = 0
  for _, layer in ipairs(layers) do count = count + #layer.x end
  error(title .. (count == 0 and ": there is nothing to draw, the lists are empty"
    or ": no point can be drawn: none is finite, and positive where an axis is logarithmic"), 0)
end

local year_words = { year = true, years = true, date = true, time = true }

-- True if the numbers are years: whole, from 1000 to 2999, on an axis whose label has such a word.
local function has_years(axis, lists)
  local named, any = false, false
  for word in (axis.label or ""):lower():gmatch "%a+" do named = named or year_words[word] end
  for _, list in ipairs(named and lists or {}) do
    for _, value in ipairs(list) do
      any = true
      if value ~= math.floor(value) or value < 1000 or value > 2999 then return false end
    end
  end
  return any
end

-- Marks an axis of years, whose ticks are whole numbers.
local function mark_years(axes, layers)
  local lists = {}
  for _, layer in ipairs(layers) do if layer.x then lists[#lists + 1] = layer.x end end
  if has_years(axes.x, lists) then axes.x.whole = true end
end

-- The notes of a panel: its own about what is missing, then the user's; none if o.notes is "none".
local function all_notes(o, own)
  if o.notes == "none" then return {} end
  for _, note in ipairs(is_text(o.notes) and { o.notes } or o.notes or {}) do
    own[#own + 1] = texts.clean(note)
  end
  return own
end

-- "#0072B2" as "0072b2", the form of plot/colours.lua.
local function own_colours(given)
  local list = {}
  for i, colour in ipairs(given or {}) do list[i] = colour:sub(2):lower() end
  return given and list
end

--- panel.make(title, o, given): a panel in the form that figure.lua describes. title: the name of
--- the function, for errors. o: checked options. given = { layers = with the lists of the user, x,
--- y = more fields of the axes, data = the series that fig:data saves, colour_bar, notes }. Raises
--- an error if no point can be drawn.
function panel.make(title, o, given)
  local axes, layers, faults = { x = axis_of(o, "x"), y = axis_of(o, "y") }, given.layers, {}
  for name, axis in pairs(axes) do
    for field, value in pairs(given[name] or {}) do axis[field] = value end
  end
  local x_limit, y_limit = limits(), limits()
  local bars = false
  mark_years(axes, layers)
  for _, layer in ipairs(layers) do
    if layer.x then
      clean_layer(layer, axes, faults)
      take_layer(layer, axes, x_limit, y_limit)
    end
    bars = bars or layer.kind == "bars"
  end
  local rules = check_rules(title, o.rules)
  if not given.colour_bar and x_limit.low > x_limit.high then nothing(title, layers) end
  for _, rule in ipairs(rules) do
    take(x_limit, rule.x, axes.x.log)
    take(y_limit, rule.y, axes.y.log)
  end
  set_range(title, axes.x, x_limit, o.x_range, false, "x")
  set_range(title, axes.y, y_limit, o.y_range, bars, "y")
  for _, layer in ipairs(layers) do end_at_axis(layer, axes.y) end
  for _, rule in ipairs(rules) do layers[#layers + 1] = rule_layer(rule, axes.x, axes.y) end
  local labelled = false
  for _, layer in ipairs(layers) do
    if layer.label then layer.label, labelled = texts.clean(layer.label), true end
  end
  local made = { title = o.title and texts.clean(o.title) or nil, x = axes.x, y = axes.y,
    layers = layers, notes = all_notes(o, given.notes or notes_of(faults)),
    colour_bar = given.colour_bar, legend = o.legend ~= "none" and labelled,
    legend_place = o.legend ~= "none" and o.legend or nil, colours = own_colours(o.colours),
    legend_title = o.legend_title and texts.clean(o.legend_title) or nil, equal = o.equal or nil,
    data = given.data }
  thin.panel(made)
  return made
end

return panel

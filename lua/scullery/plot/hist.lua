--- sc.plot.hist: how often values occur.
local figure = require "scullery.plot.figure"
local options = require "scullery.base.options"
local panel = require "scullery.plot.panel"
local series = require "scullery.plot.series"
local values = require "scullery.plot.values"

local hist = {}

local MOST_BINS = 1000
local MOST_AUTOMATIC = 100

local function is_bins(value)
  return value == "auto" or type(value) == "number" and math.tointeger(value) ~= nil and value >= 1
    and value <= MOST_BINS
end

local of_series = { x = values.rule, label = { type = "string" } }
local rules = panel.rules(series.with(of_series, { series = { type = "table" },
  bins = { test = is_bins, takes = "\"auto\" or a whole number from 1 to 1000", default = "auto" },
  density = { type = "boolean", default = false },
  beside = { type = "boolean", default = false }, y_log = { type = "boolean", default = false },
  rules = panel.lines.rules }))
options.declare("plot.hist", rules)

-- The finite numbers in ascending order, and the number of others.
local function sorted_numbers(list)
  local numbers = {}
  for _, value in ipairs(list) do
    if value >= -1e300 and value <= 1e300 then numbers[#numbers + 1] = value end
  end
  table.sort(numbers)
  return numbers, #list - #numbers
end

-- The number of bins for numbers in ascending order: Freedman and Diaconis 1981, width 2 IQR /
-- n^(1/3); Sturges's count if the quartiles coincide. Halves of the numbers are subtracted, because
-- the difference of two may overflow.
local function automatic_bins(numbers)
  local n = #numbers
  local range = numbers[n] / 2 - numbers[1] / 2
  local between = numbers[math.ceil(0.75 * n)] / 2 - numbers[math.ceil(0.25 * n)] / 2
  local count = between > 0 and range / (2 * between / n ^ (1 / 3)) or math.log(n, 2) + 1
  return math.max(1, math.min(MOST_AUTOMATIC, math.ceil(count)))
end

-- The ends of the bins, and their number. all: the numbers of all series in ascending order. Equal
-- numbers get a range around them.
local function edges_of(o, all)
  local low, high = o.x_range and o.x_range[1] or all[1], o.x_range and o.x_range[2] or all[#all]
  if values.is_narrow(low, high) then
    local half = math.abs(low) > 1e-300 and math.abs(low) / 20 or 0.5
    return low - half, high + half, o.bins == "auto" and 1 or o.bins
  end
  return low, high, o.bins == "auto" and automatic_bins(all) or o.bins
end

-- The number of values in each of `bins` bins of equal width from low to high, and in all; the last
-- bin includes both its ends.
local function count(numbers, low, high, bins)
  local counts, inside = {}, 0
  for i = 1, bins do counts[i] = 0.0 end
  for _, value in ipairs(numbers) do
    if value >= low and value <= high then
      local share = (value / 2 - low / 2) / (high / 2 - low / 2)
      local bin = math.min(bins, math.floor(share * bins) + 1)
      counts[bin] = counts[bin] + 1
      inside = inside + 1
    end
  end
  return counts, inside
end

-- The bars of one series, the `place`-th of `of` that are side by side in each bin. density:
-- heights for an area of 1 in place of counts.
local function layer_of(numbers, low, high, bins, place, of, density)
  local counts, inside = count(numbers, low, high, bins)
  local step = high / bins - low / bins
  local bars = { x = {}, y = counts, width = step / of }
  for i = 1, bins do
    bars.x[i] = low + (i - 1) * step + (place - 0.5) * bars.width
    if density then counts[i] = inside > 0 and counts[i] / (inside * step) or 0.0 end
  end
  return bars
end

--- sc.plot.hist{ x =, ... }: a histogram.
--- x: a list of numbers, or a matrix of one column or row. bins: their number, or "auto" (Freedman
---   and Diaconis, at most 100). density = true: the area is 1 in place of counts. label: the name
---   in the legend; series = { { x =, label = }, ... }: several in the same bins, drawn over each
---   other; beside = true: side by side.
--- rules, title, x_label, y_label, x_unit, y_unit, y_log, x_range (values outside are not counted),
---   y_range, legend, legend_title, notes, colours, font, font_size, width, height: as in
---   sc.plot.line.
--- Returns a figure: fig:show(), fig:save("f.svg"), fig:data("f.csv"), print(fig).
function hist.new(given)
  local title = "plot.hist"
  local o = options.check(title, given, rules, 0)
  local lists, all, bad = {}, {}, 0
  local labels = {}
  for i, one in ipairs(series.each(title, o, of_series)) do
    if not one[1].x then error(one[2] .. ": x is needed, a list of numbers", 0) end
    local left_out
    lists[i], left_out = sorted_numbers(values.numbers(one[2] .. ": x", one[1].x))
    table.move(lists[i], 1, #lists[i], #all + 1, all)
    bad, labels[i] = bad + left_out, one[1].label
  end
  if #all == 0 then
    error(bad == 0 and title .. ": there is nothing to draw, x is empty"
      or ("%s: none of the %d values can be drawn: they are not finite numbers"):format(title,
        bad), 0)
  end
  if #lists > 1 then table.sort(all) end
  local low, high, bins = edges_of(o, all)
  local layers, data = {}, {}
  for i, numbers in ipairs(lists) do
    local beside = o.beside and #lists > 1
    local bars = layer_of(numbers, low, high, bins, beside and i or 1, beside and #lists or 1,
      o.density)
    data[i] = { x = bars.x, y = bars.y, width = bars.width, label = labels[i] }
    layers[i] = { kind = "bars", x = bars.x, y = bars.y, width = bars.width, base = 0,
      label = labels[i], colour = i, overlaid = #lists > 1 and not beside or nil }
  end
  o.y_label = o.y_label or (o.density and "density" or "count")
  local note = bad == 1 and "1 value is not a finite number and is not counted"
    or ("%d values are not finite numbers and are not counted"):format(bad)
  return figure.new(o, panel.make(title, o, { layers = layers, data = data,
    notes = bad > 0 and { note } or nil }))
end

return hist

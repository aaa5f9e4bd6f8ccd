--- sc.plot.bars: a bar for each name.
local figure = require "scullery.plot.figure"
local options = require "scullery.base.options"
local panel = require "scullery.plot.panel"
local series = require "scullery.plot.series"
local values = require "scullery.plot.values"

local bars = {}

local GROUP = 0.8 -- the share of the distance between two names that the bars of a name take

local of_series = { values = values.rule, label = { type = "string" }, error = values.rule,
  low = values.rule, high = values.rule }
local rules = panel.rules(series.with(of_series, { series = { type = "table" },
  names = { test = values.is_list, takes = "a list of texts or numbers", required = true },
  y_log = { type = "boolean", default = false }, rules = panel.lines.rules }))
rules.x_range = nil
options.declare("plot.bars", rules)

-- The values of one series with the ends of its whiskers; raises an error unless there is one value
-- for each name.
local function read_one(title, o, names)
  if not o.values then error(title .. ": values is needed, a list of numbers", 0) end
  local read = series.read(title, { y = values.numbers(title .. ": values", o.values),
    error = o.error, low = o.low, high = o.high, label = o.label })
  values.same_length(title, #names, "names", { values = read.y })
  return read
end

--- sc.plot.bars{ names =, values =, ... }: bars.
--- names: a list of texts or numbers; values: a list of as many numbers. error: whiskers from value
---   - error to value + error; or low and high, their ends. series = { { values =, error =, label =
---   }, ... }: several bars for each name.
--- rules, title, x_label, y_label, x_unit, y_unit, y_log, y_range, legend, legend_title, notes,
---   colours, font, font_size, width, height: as in sc.plot.line.
--- Returns a figure: fig:show(), fig:save("f.svg"), fig:data("f.csv"), print(fig).
function bars.new(given)
  local title = "plot.bars"
  local o = options.check(title, given, rules, 0)
  local names = values.texts(title .. ": names", o.names)
  local layers, data = {}, {}
  local list = series.each(title, o, of_series)
  local width = GROUP / #list
  for i, one in ipairs(list) do
    local read, x = read_one(one[2], one[1], names), {}
    for j = 1, #names do x[j] = j + (i - (#list + 1) / 2) * width end
    data[i] = { x = names, y = read.y, low = read.low, high = read.high, label = read.label }
    layers[i] = { kind = "bars", x = x, y = read.y, low = read.low, high = read.high,
      width = width, base = 0, label = read.label, colour = i }
  end
  return figure.new(o, panel.make(title, o, { layers = layers, data = data,
    x = { categories = names, low = 0.5, high = #names + 0.5, each = true } }))
end

return bars

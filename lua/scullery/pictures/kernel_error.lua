--- The picture of sc.kernel_error: the error against the number of features.
local figures = require "scullery.pictures.figures"
local options = require "scullery.options"
local plot = require "scullery.plot"

local kernel_error = {}

local rules = { title = { type = "string" }, width = { type = "integer" },
  height = { type = "integer" } }

-- rms +- its standard error; a band that reaches 0 is cut off, as the axis is logarithmic.
local function series_of(curve)
  local one = { x = {}, y = {}, low = {}, high = {}, label = curve.name }
  for i, row in ipairs(curve.rows) do
    local known, spread = row.rms > 0, row.stderr or 0
    one.x[i], one.y[i] = row.T, known and row.rms or 0 / 0
    one.low[i] = known and math.max(row.rms - spread, row.rms / 10) or 0 / 0
    one.high[i] = known and row.rms + spread or 0 / 0
  end
  if #curve.rows == 0 or not curve.rows[1].stderr then one.low, one.high = nil, nil end
  return one
end

-- A line of slope -1/2 below all curves.
local function monte_carlo(series)
  local first, last, least = math.huge, 0, math.huge
  for _, one in ipairs(series) do
    for i, T in ipairs(one.x) do
      first, last = math.min(first, T), math.max(last, T)
      if one.y[i] == one.y[i] then least = math.min(least, one.y[i] * math.sqrt(T)) end
    end
  end
  if least == math.huge or last <= first then return nil end
  local height = 0.7 * least
  return { first, height / math.sqrt(first), last, height / math.sqrt(last) }
end

--- kernel_error.plot(result, given): see KernelError:plot.
function kernel_error.plot(result, given)
  local o = options.check("kernel_error:plot", given, rules, 0)
  local series, exact = {}, true
  for i, curve in ipairs(result.curves) do
    series[i] = series_of(curve)
    for _, row in ipairs(curve.rows) do exact = exact and row.rms == 0 end
  end
  if exact then error("all errors are 0: there is nothing to draw on a log axis", 0) end
  local seeds = result.seeds > 1 and ("bands: 1 standard error over %d seeds"):format(result.seeds)
    or "1 seed"
  local figure = plot.line{ series = series, x_log = true, y_log = true, marks = true,
    x_label = "number of features T", y_label = "rms error of the kernel",
    title = o.title or "Error of random features against their kernel", width = o.width,
    height = o.height }
  local segment = monte_carlo(series)
  if segment then figures.ruled(figure, segment, "slope -1/2") end
  return figures.noted(figure, { ("%s; %d x %d points"):format(seeds, result.points[1],
    result.points[2]) })
end

return kernel_error

--- The picture of sc.kernel_error: the error against the number of features.
local figures = require "scullery.pictures.figures"
local options = require "scullery.base.options"
local plot = require "scullery.plot"

local kernel_error = {}

local function is_results(value)
  if type(value) ~= "table" then return false end
  for _, one in ipairs(value) do
    if (getmetatable(one) or {}).__name ~= "kernel_error" then return false end
  end
  return #value > 0
end

local function is_texts(value)
  if type(value) ~= "table" then return false end
  for _, one in ipairs(value) do if type(one) ~= "string" then return false end end
  return true
end

local rules = { with = { test = is_results, takes = "a list of results of sc.kernel_error" },
  labels = { test = is_texts, takes = "a list of texts" }, title = { type = "string" },
  width = { type = "integer" }, height = { type = "integer" } }

-- The series of a curve's rms error with a band of 1 standard error. On the log axis, errors of 0
-- are gaps, and the band ends at a tenth of the error.
local function series_of(curve, label)
  local one = { x = {}, y = {}, low = {}, high = {}, label = label }
  for i, row in ipairs(curve.rows) do
    local known, spread = row.rms > 0, row.stderr or 0
    one.x[i], one.y[i] = row.T, known and row.rms or 0 / 0
    one.low[i] = known and math.max(row.rms - spread, row.rms / 10) or 0 / 0
    one.high[i] = known and row.rms + spread or 0 / 0
  end
  if #curve.rows == 0 or not curve.rows[1].stderr then one.low, one.high = nil, nil end
  return one
end

-- The ends of a line of slope -1/2, the rate of Monte Carlo estimates, below all curves; nil if no
-- error is positive or there is one T only.
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

-- The curves of all results; with several results their names include the nonlinearity.
local function all_series(results, labels)
  local series, exact = {}, true
  for _, result in ipairs(results) do
    for _, curve in ipairs(result.curves) do
      local place = #series + 1
      series[place] = series_of(curve, labels and labels[place]
        or #results > 1 and curve.name .. "/" .. result.phi:label() or curve.name)
      for _, row in ipairs(curve.rows) do exact = exact and row.rms == 0 end
    end
  end
  if exact then error("all errors are 0: there is nothing to draw on a log axis", 0) end
  if labels and #labels ~= #series then
    error(("option 'labels' has %d texts for %d curves"):format(#labels, #series), 0)
  end
  return series
end

-- The note about seeds and points, if all results have the same.
local function note_of(results)
  local first, same = results[1], true
  for _, one in ipairs(results) do
    same = same and one.seeds == first.seeds and one.points[1] == first.points[1]
      and one.points[2] == first.points[2]
  end
  if not same then return "bands: 1 standard error over the seeds" end
  return ("%s; %d x %d points"):format(first.seeds > 1
    and ("bands: 1 standard error over %d seeds"):format(first.seeds) or "1 seed",
    first.points[1], first.points[2])
end

--- kernel_error.plot(result, given): see KernelError:plot.
function kernel_error.plot(result, given)
  local o = options.check("kernel_error:plot", given, rules, 0)
  local results = { result, table.unpack(o.with or {}) }
  local series = all_series(results, o.labels)
  local figure = plot.line{ series = series, x_log = true, y_log = true, marks = true,
    x_label = "number of features T", y_label = "rms error of the kernel",
    title = o.title or "Error of random features against their kernel", width = o.width,
    height = o.height }
  local segment = monte_carlo(series)
  if segment then figures.ruled(figure, segment, "slope -1/2") end
  return figures.noted(figure, { note_of(results) })
end

return kernel_error

--- Metrics of values: (values, truth[, { weights = }]), matrices or lists of one shape; weights:
--- how much each row counts.
local inputs = require "scullery.metrics.inputs"

local values = {}

-- Both sides, the weights and their sum.
local function read(title, said, truth, given)
  local a, b = inputs.both(said, truth)
  return a, b, inputs.weights(inputs.options(title, given).weights, a:rows())
end

-- The mean over rows, weighted, and over columns.
local function mean(a, w, total)
  return (w and (w:t() * a:astype("float64")):sum() or a:sum()) / (total * a:cols())
end

local function mean_square(a, w, total) return mean(a:mul(a), w, total) end

--- metrics.mse(values, truth[, { weights = }]): mean of the squared differences, over all entries.
function values.mse(said, truth, given)
  local a, b, w, total = read("mse", said, truth, given)
  return mean_square(a - b, w, total)
end

--- metrics.rmse(values, truth[, { weights = }]): square root of mse.
function values.rmse(said, truth, given)
  local a, b, w, total = read("rmse", said, truth, given)
  return math.sqrt(mean_square(a - b, w, total))
end

--- metrics.mae(values, truth[, { weights = }]): mean of the absolute differences, over all entries.
function values.mae(said, truth, given)
  local a, b, w, total = read("mae", said, truth, given)
  return mean((a - b):abs(), w, total)
end

--- metrics.nrmse(values, truth[, { weights = }]): root mean squared error over the root mean square
--- of the truth (NaN or infinite where the truth is all zero).
function values.nrmse(said, truth, given)
  local a, b, w, total = read("nrmse", said, truth, given)
  return math.sqrt(mean_square(a - b, w, total) / mean_square(b, w, total))
end

--- metrics.r2(values, truth[, { weights = }]): 1 - squared error / squared deviation of the truth
--- from its mean; several targets: the mean of theirs. A constant truth has no R2: NaN, or minus
--- infinity.
function values.r2(said, truth, given)
  local a, b, w, total = read("r2", said, truth, given)
  local sum = 0
  for j = 1, a:cols() do
    local y = b:column(j)
    sum = sum + 1 - mean_square(a:column(j) - y, w, total)
      / mean_square(y - mean(y, w, total), w, total)
  end
  return sum / a:cols()
end

return values

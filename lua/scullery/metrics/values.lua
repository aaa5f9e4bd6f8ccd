--- Metrics of values: (values, truth[, { weights = }]), matrices or lists of one shape; weights:
--- the weight of each row.
local core = require "scullery.core"
local inputs = require "scullery.metrics.inputs"

local values = {}

-- Both sides as matrices, the weights and their sum.
local function read(title, said, truth, given)
  local a, b = inputs.both(said, truth)
  return a, b, inputs.weights(inputs.options(title, given).weights, a:rows())
end

-- The mean over rows, weighted, and over columns.
local function mean(a, w, total)
  return (w and (w:t() * a:astype("float64")):sum() or a:sum()) / (total * a:cols())
end

local function mean_square(a, w, total) return mean(a:mul(a), w, total) end

--- sc.metrics.mse(values, truth[, { weights = }]): the mean squared error over all entries. values,
--- truth: n x c matrices or lists of numbers.
function values.mse(said, truth, given)
  local a, b, w, total = read("mse", said, truth, given)
  return mean_square(a - b, w, total)
end

--- sc.metrics.rmse(values, truth[, { weights = }]): the root mean squared error.
function values.rmse(said, truth, given)
  local a, b, w, total = read("rmse", said, truth, given)
  return math.sqrt(mean_square(a - b, w, total))
end

--- sc.metrics.mae(values, truth[, { weights = }]): the mean absolute error over all entries.
function values.mae(said, truth, given)
  local a, b, w, total = read("mae", said, truth, given)
  return mean((a - b):abs(), w, total)
end

--- sc.metrics.nrmse(values, truth[, { weights = }]): the root mean squared error divided by the
--- root mean square of the truth. NaN or infinite where the truth is all zero.
function values.nrmse(said, truth, given)
  local a, b, w, total = read("nrmse", said, truth, given)
  return math.sqrt(mean_square(a - b, w, total) / mean_square(b, w, total))
end

--- sc.metrics.r2(values, truth[, { weights = }]): the coefficient of determination, 1 - sum (y -
--- f)^2 / sum (y - mean y)^2. Several targets: the mean over them. A constant truth gives NaN, or
--- minus infinity.
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

-- The ranks of the entries less 1/2: the weight of smaller ones and half that of equal ones. nil if
-- one is NaN, which has no place in an order.
local function ranks(column, w)
  local entry, order, found, first, below = {}, {}, {}, 1, 0
  for i = 1, column:rows() do
    entry[i], order[i] = column:get(i, 1), i
    if entry[i] ~= entry[i] then return nil end
  end
  table.sort(order, function(i, k) return entry[i] < entry[k] end)
  for place, i in ipairs(order) do
    if entry[order[place + 1]] ~= entry[i] then
      local weight = 0
      for k = first, place do weight = weight + (w and w:get(order[k], 1) or 1) end
      for k = first, place do found[order[k]] = { below + weight / 2 } end
      first, below = place + 1, below + weight
    end
  end
  return core.matrix(found)
end

--- sc.metrics.spearman(values, truth[, { weights = }]): Spearman's rank correlation: that of the
--- ranks, where equal entries share the mean of theirs. Several columns: the mean over them. NaN
--- where all entries are equal, or one is NaN.
function values.spearman(said, truth, given)
  local a, b, w, total = read("spearman", said, truth, given)
  local sum = 0
  for j = 1, a:cols() do
    local x, y = ranks(a:column(j), w), ranks(b:column(j), w)
    if not (x and y) then return 0 / 0 end
    x, y = x - mean(x, w, total), y - mean(y, w, total)
    sum = sum + mean(x:mul(y), w, total)
      / math.sqrt(mean_square(x, w, total) * mean_square(y, w, total))
  end
  return sum / a:cols()
end

return values

--- Measures of predictions. All take (prediction, truth): matrices or lists of the same shape.
local core = require "scullery.core"
local options = require "scullery.options"

local metrics = {}

local function matrix(value, name)
  if core.is_matrix(value) then return value end
  if type(value) == "table" and not getmetatable(value) then return core.matrix(value) end
  error(("metrics.%s: takes matrices or lists of numbers, and got %s"):format(name, options.show(value)), 4)
end

local function both(said, truth, name)
  local a, b = matrix(said, name), matrix(truth, name)
  if a:rows() ~= b:rows() or a:cols() ~= b:cols() then
    error(("metrics.%s: predictions are %d x %d and the truth is %d x %d"):format(name, a:rows(), a:cols(), b:rows(), b:cols()), 3)
  end
  if a:rows() == 0 then error("metrics." .. name .. ": there are no rows", 3) end
  return a, b
end

local function share_equal(a, b)
  local same = 0
  for i = 1, a:rows() do
    local equal = true
    for j = 1, a:cols() do equal = equal and a:get(i, j) == b:get(i, j) end
    if equal then same = same + 1 end
  end
  return same / a:rows()
end

--- metrics.accuracy(labels, truth): share of equal labels.
function metrics.accuracy(said, truth) return share_equal(both(said, truth, "accuracy")) end

--- metrics.error_rate(labels, truth): share of labels that differ.
function metrics.error_rate(said, truth) return 1 - share_equal(both(said, truth, "error_rate")) end

--- metrics.mse(values, truth): mean of the squared differences, over all entries.
function metrics.mse(said, truth)
  local a, b = both(said, truth, "mse")
  local gap = a - b
  return gap:dot(gap) / (a:rows() * a:cols())
end

--- metrics.rmse(values, truth): square root of mse.
function metrics.rmse(said, truth)
  both(said, truth, "rmse")
  return math.sqrt(metrics.mse(said, truth))
end

--- metrics.nrmse(values, truth): root mean squared error over the root mean square of the truth.
function metrics.nrmse(said, truth)
  local a, b = both(said, truth, "nrmse")
  return math.sqrt(metrics.mse(a, b) / (b:dot(b) / (b:rows() * b:cols())))
end

--- metrics.r2(values, truth): 1 - squared error / squared deviation of the truth from its mean; several targets: the mean of theirs.
function metrics.r2(said, truth)
  local a, b = both(said, truth, "r2")
  local total = 0
  for j = 1, a:cols() do
    local gap, centred = a:column(j) - b:column(j), b:column(j) - b:column(j):mean()
    total = total + 1 - gap:dot(gap) / centred:dot(centred)
  end
  return total / a:cols()
end

--- metrics.log_loss(probabilities, labels[, classes]): mean of -log of the probability of the true class; probabilities n x c, labels 1 .. c or as in classes.
function metrics.log_loss(probabilities, truth, classes)
  local p, y = matrix(probabilities, "log_loss"), matrix(truth, "log_loss")
  if p:rows() ~= y:rows() or y:cols() ~= 1 then
    error(("metrics.log_loss: %d rows of probabilities and %d x %d labels"):format(p:rows(), y:rows(), y:cols()), 2)
  end
  local place = {}
  for k, label in ipairs(classes or {}) do place[type(label) == "number" and label or k] = k end
  local sum = 0
  for i = 1, p:rows() do
    local k = classes and place[y:get(i, 1)] or math.tointeger(y:get(i, 1))
    if not k or k < 1 or k > p:cols() then
      error(("metrics.log_loss: row %d has the label %g where there are %d classes"):format(i, y:get(i, 1), p:cols()), 2)
    end
    sum = sum - math.log(math.max(p:get(i, k), 1e-15))
  end
  return sum / p:rows()
end

local Confusion = { __name = "confusion" }
Confusion.__index = Confusion

function Confusion:__tostring()
  local heads = {}
  for _, label in ipairs(self.classes) do heads[#heads + 1] = ("%10s"):format(tostring(label):sub(1, 10)) end
  local lines = { "truth \\ said" .. table.concat(heads) }
  for i, label in ipairs(self.classes) do
    local cells = {}
    for j = 1, #self.classes do cells[j] = ("%10d"):format(self.counts:get(i, j)) end
    lines[#lines + 1] = ("%-12s"):format(tostring(label):sub(1, 12)) .. table.concat(cells)
  end
  return table.concat(lines, "\n")
end

--- metrics.confusion(labels, truth[, classes]): .counts (rows: truth, columns: said), .classes; prints as a table.
function metrics.confusion(said, truth, classes)
  local a, b = both(said, truth, "confusion")
  local place, list = {}, {}
  if classes then
    for k, label in ipairs(classes) do place[type(label) == "number" and label or k] = k list[k] = label end
  else
    local seen = {}
    for _, m in ipairs{ a, b } do
      for i = 1, m:rows() do
        local v = m:get(i, 1)
        if not seen[v] then seen[v] = true list[#list + 1] = math.tointeger(v) or v end
      end
    end
    table.sort(list)
    for k, label in ipairs(list) do place[label] = k end
  end
  local counts = core.zeros(#list, #list)
  for i = 1, a:rows() do
    local t, s = place[b:get(i, 1)], place[a:get(i, 1)]
    if not (t and s) then error(("metrics.confusion: row %d has a label that is none of the classes"):format(i), 2) end
    counts:set(t, s, counts:get(t, s) + 1)
  end
  return setmetatable({ counts = counts, classes = list }, Confusion)
end

return metrics

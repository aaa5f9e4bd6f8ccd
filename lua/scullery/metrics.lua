--- Measures of predictions. All take (prediction, truth): matrices or lists of the same shape.
local core = require "scullery.core"
local options = require "scullery.options"

local metrics = {}

local function fail(...) error(string.format(...), 0) end

local function is_list(value) return type(value) == "table" and not getmetatable(value) end

local function is_texts(value) return is_list(value) and type(value[1]) == "string" end

local function matrix(value)
  if core.is_matrix(value) then return value end
  if is_list(value) then return core.matrix(value) end
  fail("takes matrices or lists, and got %s", options.show(value))
end

local function both(said, truth)
  local a, b = matrix(said), matrix(truth)
  if a:rows() ~= b:rows() or a:cols() ~= b:cols() then
    fail("predictions are %d x %d and the truth is %d x %d", a:rows(), a:cols(), b:rows(), b:cols())
  end
  if a:rows() == 0 or a:cols() == 0 then
    fail("there is nothing to measure: %d x %d", a:rows(), a:cols())
  end
  return a, b
end

-- ---------------------------------------------------------------- labels

-- Lists of texts as places in the sorted list of all their labels, which is the third result.
local function both_labels(said, truth)
  if not is_texts(said) and not is_texts(truth) then return both(said, truth) end
  if not (is_texts(said) and is_texts(truth)) then
    fail("one side holds texts and the other does not (ds:labels() gives texts, model:predict \z
      places in ds.classes)")
  end
  local place, names, codes = {}, {}, {}
  for _, list in ipairs{ said, truth } do
    for i, label in ipairs(list) do
      if type(label) ~= "string" then fail("row %d is %s, not a text", i, options.show(label)) end
      if not place[label] then place[label] = 0 names[#names + 1] = label end
    end
  end
  table.sort(names)
  for k, label in ipairs(names) do place[label] = k end
  for which, list in ipairs{ said, truth } do
    codes[which] = {}
    for i, label in ipairs(list) do codes[which][i] = place[label] end
  end
  local a, b = both(codes[1], codes[2])
  return a, b, names
end

local function share_equal(said, truth)
  local a, b = both_labels(said, truth)
  local same, cols = 0, a:cols()
  for i = 1, a:rows() do
    local equal = true
    for j = 1, cols do equal = equal and a:get(i, j) == b:get(i, j) end
    if equal then same = same + 1 end
  end
  return same / a:rows()
end

--- metrics.accuracy(labels, truth): share of equal labels; numbers or texts.
function metrics.accuracy(said, truth)
  return options.guard("metrics.accuracy", 1, share_equal, said, truth)
end

--- metrics.error_rate(labels, truth): share of labels that differ; numbers or texts.
function metrics.error_rate(said, truth)
  return 1 - options.guard("metrics.error_rate", 2, share_equal, said, truth)
end

-- ---------------------------------------------------------------- values

local function mean_square(a) return a:dot(a) / (a:rows() * a:cols()) end

local function mse(said, truth)
  local a, b = both(said, truth)
  return mean_square(a - b)
end

--- metrics.mse(values, truth): mean of the squared differences, over all entries.
function metrics.mse(said, truth) return options.guard("metrics.mse", 1, mse, said, truth) end

--- metrics.rmse(values, truth): square root of mse.
function metrics.rmse(said, truth)
  return math.sqrt(options.guard("metrics.rmse", 2, mse, said, truth))
end

--- metrics.nrmse(values, truth): root mean squared error over the root mean square of the truth
--- (NaN or infinite where the truth is all zero).
function metrics.nrmse(said, truth)
  return options.guard("metrics.nrmse", 1, function()
    local a, b = both(said, truth)
    return math.sqrt(mean_square(a - b) / mean_square(b))
  end)
end

local function r2(said, truth)
  local a, b = both(said, truth)
  local total = 0
  for j = 1, a:cols() do
    local gap, centred = a:column(j) - b:column(j), b:column(j) - b:column(j):mean()
    total = total + 1 - gap:dot(gap) / centred:dot(centred)
  end
  return total / a:cols()
end

--- metrics.r2(values, truth): 1 - squared error / squared deviation of the truth from its mean;
--- several targets: the mean of theirs. A constant truth has no R2: NaN, or minus infinity.
function metrics.r2(said, truth) return options.guard("metrics.r2", 1, r2, said, truth) end

-- ---------------------------------------------------------------- probabilities

-- From a label to its class's number: for numeric classes the label itself is the key, for texts
-- the place.
local function places_of(classes, count)
  local place = {}
  for k = 1, count do
    local label = classes and classes[k]
    place[type(label) == "number" and label or k] = k
  end
  return place
end

local LEAST = 1e-15 -- a probability of 0 for what happened would make the mean infinite

local function check_probabilities(p)
  local finite, row, col = p:isfinite()
  if not finite then fail("the probability in row %d, column %d is not finite", row, col) end
  if p:min() < 0 or p:max() > 1 then
    fail("probabilities lie in [0, 1], and these reach from %g to %g", p:min(), p:max())
  end
end

local function log_loss(probabilities, truth, classes)
  local p, texts = matrix(probabilities), is_texts(truth)
  if texts and not classes then
    fail("labels that are texts need the classes as third argument, as in ds.classes")
  end
  local count = p:cols() == 1 and 2 or p:cols()
  if classes and #classes ~= count then
    fail("%d columns of probabilities and %d classes", p:cols(), #classes)
  end
  local place, y = places_of(classes, count), truth
  if texts then
    for k, label in ipairs(classes) do place[label] = k end
  else
    y = matrix(truth)
    if y:cols() ~= 1 then
      fail("the truth is one column of labels, and this is %d x %d", y:rows(), y:cols())
    end
  end
  local n = p:rows()
  if #y ~= n then fail("%d rows of probabilities and %d labels", n, #y) end
  if n == 0 then fail("there are no rows") end
  check_probabilities(p)
  local sum = 0
  for i = 1, n do
    local k = place[y[i]]
    if not k then
      fail("row %d has the label %s, which is none of the %d classes", i, options.show(y[i]), count)
    end
    local chance = p:cols() > 1 and p:get(i, k) or k == 2 and p:get(i, 1) or 1 - p:get(i, 1)
    sum = sum - math.log(math.max(chance, LEAST))
  end
  return sum / n
end

--- metrics.log_loss(probabilities, labels[, classes]): mean of -log of the probability of the true
--- class. probabilities: n x c, or n x 1 for two classes (that of the second); labels: 1 .. c, or
--- as in classes (numbers or texts). A probability of 0 counts as 1e-15.
function metrics.log_loss(probabilities, truth, classes)
  return options.guard("metrics.log_loss", 1, log_loss, probabilities, truth, classes)
end

-- ---------------------------------------------------------------- confusion

local Confusion = { __name = "confusion" }
Confusion.__index = Confusion

function Confusion:__tostring()
  local heads = {}
  for _, label in ipairs(self.classes) do
    heads[#heads + 1] = ("%10s"):format(tostring(label):sub(1, 9))
  end
  local lines = { ("%-12s"):format("truth \\ said") .. table.concat(heads) }
  for i, label in ipairs(self.classes) do
    local cells = {}
    for j = 1, #self.classes do
      cells[j] = ("%10d"):format(math.tointeger(self.counts:get(i, j)))
    end
    lines[#lines + 1] = ("%-12s"):format(tostring(label):sub(1, 12)) .. table.concat(cells)
  end
  return table.concat(lines, "\n")
end

local function distinct(a, b)
  local seen, list = {}, {}
  for _, m in ipairs{ a, b } do
    for i = 1, m:rows() do
      local v = m:get(i, 1)
      if v ~= v then fail("row %d is NaN, not a label", i) end
      if not seen[v] then seen[v] = true list[#list + 1] = math.tointeger(v) or v end
    end
  end
  table.sort(list)
  return list
end

local function confusion(said, truth, classes)
  local a, b, names = both_labels(said, truth)
  if a:cols() ~= 1 then fail("labels come as one column, and these are %d", a:cols()) end
  local list = classes or names or distinct(a, b)
  local place = places_of(list, #list)
  if names then -- codes here are places in names, which the given classes may order otherwise
    local of_text = {}
    for k, label in ipairs(list) do of_text[label] = k end
    for k, label in ipairs(names) do place[k] = of_text[label] or false end
  end
  local counts = core.zeros(#list, #list)
  for i = 1, a:rows() do
    local t, s = place[b:get(i, 1)], place[a:get(i, 1)]
    if not (t and s) then fail("row %d has a label that is none of the classes", i) end
    counts:set(t, s, counts:get(t, s) + 1)
  end
  return setmetatable({ counts = counts, classes = table.move(list, 1, #list, 1, {}) }, Confusion)
end

--- metrics.confusion(labels, truth[, classes]): .counts (rows: truth, columns: said), .classes;
--- prints as a table. Labels: numbers or texts; with classes = ds.classes of a set whose labels are
--- texts, the places that predict gives.
function metrics.confusion(said, truth, classes)
  return options.guard("metrics.confusion", 1, confusion, said, truth, classes)
end

return metrics

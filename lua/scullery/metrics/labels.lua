--- Metrics of labels: (labels, truth[, options]), lists or columns of numbers or texts. Options:
--- weights = the weight of each row; classes = the list of classes.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local inputs = require "scullery.metrics.inputs"
local objects = require "scullery.base.objects"

local labels = {}

-- ------------ shares of equal labels

-- n x 1: 1 for each row where both sides are equal, else 0.
local function equal_rows(said, truth)
  local list = {}
  if not inputs.coded_alike(said, truth) then
    local a, b = inputs.labels(said, truth)
    for i, label in ipairs(a) do list[i] = label == b[i] end
    return list
  end
  local a, b = inputs.both(said, truth)
  local cols = a:cols()
  for i = 1, a:rows() do
    local equal = true
    for j = 1, cols do equal = equal and a:get(i, j) == b:get(i, j) end
    list[i] = equal
  end
  return list
end

local function share_equal(title, said, truth, given)
  local o = inputs.options(title, given)
  local equal = equal_rows(said, truth)
  local w, total = inputs.weights(o.weights, #equal)
  local same = 0
  for i, is in ipairs(equal) do if is then same = same + (w and w:get(i, 1) or 1) end end
  return same / total
end

--- sc.metrics.accuracy(labels, truth[, { weights = }]): the share of rows whose label is right.
--- labels, truth: lists or n x 1 matrices of numbers or texts.
function labels.accuracy(said, truth, given) return share_equal("accuracy", said, truth, given) end

--- sc.metrics.error_rate(labels, truth[, { weights = }]): the share of rows whose label is wrong, 1
--- - accuracy.
function labels.error_rate(said, truth, given)
  return 1 - share_equal("error_rate", said, truth, given)
end

-- ------------ confusion

local Confusion = objects.class("confusion", { fields = "counts classes" })

function Confusion:__tostring()
  local heads, whole = {}, true
  for _, label in ipairs(self.classes) do
    heads[#heads + 1] = ("%10s"):format(tostring(label):sub(1, 9))
  end
  for i = 1, #self.classes do
    for j = 1, #self.classes do whole = whole and math.tointeger(self.counts:get(i, j)) ~= nil end
  end
  local lines = { ("%-12s"):format("truth \\ said") .. table.concat(heads) }
  for i, label in ipairs(self.classes) do
    local cells = {}
    for j = 1, #self.classes do
      cells[j] = (whole and "%10.0f" or "%10.4g"):format(self.counts:get(i, j))
    end
    lines[#lines + 1] = ("%-12s"):format(tostring(label):sub(1, 12)) .. table.concat(cells)
  end
  return table.concat(lines, "\n")
end

-- Weighted counts of pairs (truth, prediction), and the classes. Labels beyond the given classes
-- come after them.
local function count_pairs(said, truth, o)
  local a, b = inputs.labels(said, truth, o.classes)
  local classes = inputs.classes(o.classes or inputs.known(truth, said), a, b)
  local place, w = inputs.place(classes), inputs.weights(o.weights, #a)
  for _, list in ipairs{ b, a } do
    for i, label in ipairs(list) do
      if not place[label] then
        if not inputs.known(truth) then
          fail("row %d has the label %s, which is not one of the classes", i, tostring(label))
        end
        classes[#classes + 1] = label
        place[label] = #classes
      end
    end
  end
  local counts = core.zeros(#classes, #classes)
  for i, label in ipairs(b) do
    local t, s = place[label], place[a[i]]
    counts:set(t, s, counts:get(t, s) + (w and w:get(i, 1) or 1))
  end
  return counts, classes
end

--- sc.metrics.confusion(labels, truth[, { classes =, weights = }]): the confusion matrix. .counts
--- is c x c, a row for each true class and a column for each predicted one; .classes names them. It
--- prints as a table. labels, truth: numbers or texts. Columns made by p:predict or by a data set
--- have a record of their classes, and are compared by class name. classes: their order; other
--- labels come after them. A list in place of the options is taken as the classes.
function labels.confusion(said, truth, given)
  local o = inputs.options("confusion", given)
  local counts, classes = count_pairs(said, truth, o)
  return setmetatable({ counts = counts, classes = classes }, Confusion)
end

-- ------------ by class

-- For each class: the rows predicted correctly, predicted, and true; and the classes.
local function by_class(said, truth, o)
  local counts, classes = count_pairs(said, truth, o)
  local list = {}
  for k in ipairs(classes) do
    list[k] = { right = counts:get(k, k), said = counts:column(k):sum(),
      truth = counts:row(k):sum() }
  end
  return list, classes
end

local function ratio(a, b) return b > 0 and a / b or 0 end

-- One of precision, recall and f1: for the positive class of two, or an average.
local function measure(title, said, truth, given, of, undefined)
  local o = inputs.options(title, given)
  if o.average and o.positive ~= nil then fail("takes 'positive' or 'average', not both") end
  local list, classes = by_class(said, truth, o)
  local k = not o.average and inputs.positive(classes, o.positive)
  if k then
    local value, below = of(list[k])
    if below == 0 then fail(undefined, tostring(classes[k])) end
    return value
  end
  if o.average == "micro" then
    local all = { right = 0, said = 0, truth = 0 }
    for _, one in ipairs(list) do
      for key in pairs(all) do all[key] = all[key] + one[key] end
    end
    return (of(all))
  end
  local sum, count = 0, 0
  for _, one in ipairs(list) do
    if one.said > 0 or one.truth > 0 then sum, count = sum + of(one), count + 1 end
  end
  return sum / count
end

--- sc.metrics.precision(labels, truth[, { positive =, average =, classes =, weights = }]): of the
--- rows predicted to be of a class, the share that is. Two classes: for the positive class, which
--- is the second unless positive = names it. More than two: average = "macro" (the mean over the
--- classes that occur; a class that is never predicted counts 0) or "micro" (over all rows
--- together, which is the accuracy).
function labels.precision(said, truth, given)
  return measure("precision", said, truth, given, function(c)
    return ratio(c.right, c.said), c.said
  end, "no row is predicted to be of the class %s: the precision is undefined")
end

--- sc.metrics.recall(labels, truth[, { positive =, average =, classes =, weights = }]): the share
--- of the rows of a class that is predicted to be of it. Options as in sc.metrics.precision.
function labels.recall(said, truth, given)
  return measure("recall", said, truth, given, function(c)
    return ratio(c.right, c.truth), c.truth
  end, "no row is of the class %s: the recall is undefined")
end

--- sc.metrics.f1(labels, truth[, { positive =, average =, classes =, weights = }]): the harmonic
--- mean of precision and recall. Options as in sc.metrics.precision.
function labels.f1(said, truth, given)
  return measure("f1", said, truth, given, function(c)
    return ratio(2 * c.right, c.said + c.truth), c.said + c.truth
  end, "no row is of the class %s or predicted to be of it")
end

--- sc.metrics.balanced_accuracy(labels, truth[, { weights = }]): the mean of the recalls of all
--- classes that occur in the truth.
function labels.balanced_accuracy(said, truth, given)
  local sum, count = 0, 0
  for _, one in ipairs(by_class(said, truth, inputs.options("balanced_accuracy", given))) do
    if one.truth > 0 then sum, count = sum + one.right / one.truth, count + 1 end
  end
  return sum / count
end

return labels

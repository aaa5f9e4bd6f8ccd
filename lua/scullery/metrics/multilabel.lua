--- Metrics of multi-label predictions: (prediction, truth[, { weights = }]), n x c each of 0 and
--- 1, a column for each label; the names and values are those of scikit-learn.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local inputs = require "scullery.metrics.inputs"

local multilabel = {}

-- The matrices, a function for the weighted sums over rows (1 x c), and the sum of the weights.
local function checked(title, said, truth, given)
  for k, name in ipairs{ "prediction", "truth" } do
    local value = k == 1 and said or k == 2 and truth
    if not core.is_matrix(value) then fail("metrics.%s: the %s is not a matrix", title, name) end
  end
  if said:rows() ~= truth:rows() or said:cols() ~= truth:cols() or said:rows() == 0 then
    fail("metrics.%s: the prediction is %d x %d and the truth %d x %d", title, said:rows(),
      said:cols(), truth:rows(), truth:cols())
  end
  if (said:mul(said) - said):abs():sum() ~= 0 or (truth:mul(truth) - truth):abs():sum() ~= 0 then
    fail("metrics.%s: predictions and truth are 0 and 1, as p:predict gives them", title)
  end
  local w, total = inputs.weights(inputs.options(title, given).weights, said:rows())
  return said, truth, function(m) return w and w:t() * m or m:sum(1) end, total
end

--- sc.metrics.hamming(prediction, truth[, { weights = }]): the share of entries that are wrong.
function multilabel.hamming(said, truth, given)
  local a, b, sums, total = checked("hamming", said, truth, given)
  return sums((a - b):abs()):mean() / total
end

--- sc.metrics.subset_accuracy(prediction, truth[, { weights = }]): the share of rows all of whose
--- labels are right.
function multilabel.subset_accuracy(said, truth, given)
  local a, b, sums, total = checked("subset_accuracy", said, truth, given)
  local right = (a - b):abs():sum(2):map(function(wrong) return wrong == 0 and 1 or 0 end)
  return sums(right):sum() / total
end

-- 2 hits / (said + true): 0 where a label is neither said nor true.
local function f1(hits, both) return both > 0 and 2 * hits / both or 0 end

--- sc.metrics.f1_micro(prediction, truth[, { weights = }]): F1 of all entries together.
function multilabel.f1_micro(said, truth, given)
  local a, b, sums = checked("f1_micro", said, truth, given)
  return f1(sums(a:mul(b)):sum(), sums(a + b):sum())
end

--- sc.metrics.f1_macro(prediction, truth[, { weights = }]): the mean over labels of F1, which is 0
--- for a label that is neither predicted nor true.
function multilabel.f1_macro(said, truth, given)
  local a, b, sums = checked("f1_macro", said, truth, given)
  local hits, both, total = sums(a:mul(b)), sums(a + b), 0
  for j = 1, a:cols() do total = total + f1(hits:get(1, j), both:get(1, j)) end
  return total / a:cols()
end

return multilabel

--- Metrics of multi-label predictions: (prediction, truth), n x c each of 0 and 1, a column for
--- each label; the names and values are those of scikit-learn.
local core = require "scullery.core"
local fail = require "scullery.base.fail"

local multilabel = {}

local function checked(title, said, truth)
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
  return said, truth
end

--- sc.metrics.hamming(prediction, truth): the share of entries that are wrong.
function multilabel.hamming(said, truth)
  said, truth = checked("hamming", said, truth)
  return (said - truth):abs():mean()
end

--- sc.metrics.subset_accuracy(prediction, truth): the share of rows all of whose labels are right.
function multilabel.subset_accuracy(said, truth)
  said, truth = checked("subset_accuracy", said, truth)
  local wrong, right = (said - truth):abs():sum(2), 0
  for i = 1, wrong:rows() do if wrong:get(i, 1) == 0 then right = right + 1 end end
  return right / wrong:rows()
end

-- 2 hits / (said + true): 0 where a label is neither said nor true.
local function f1(hits, both) return both > 0 and 2 * hits / both or 0 end

--- sc.metrics.f1_micro(prediction, truth): F1 of all entries together.
function multilabel.f1_micro(said, truth)
  said, truth = checked("f1_micro", said, truth)
  return f1(said:mul(truth):sum(), said:sum() + truth:sum())
end

--- sc.metrics.f1_macro(prediction, truth): the mean over labels of F1, which is 0 for a label that
--- is neither predicted nor true.
function multilabel.f1_macro(said, truth)
  said, truth = checked("f1_macro", said, truth)
  local hits, both, total = said:mul(truth):sum(1), said:sum(1) + truth:sum(1), 0
  for j = 1, said:cols() do total = total + f1(hits:get(1, j), both:get(1, j)) end
  return total / said:cols()
end

return multilabel

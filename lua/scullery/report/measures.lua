--- Measures of a model on some rows, with their uncertainty: for a classification, shares of rows
--- with Wilson's 95 % intervals; for a regression, means over rows with standard errors.
local confusion = require "scullery.pictures.confusion"
local metrics = require "scullery.metrics"
local mean_of = require("scullery.model.judging").mean
local numbers = require "scullery.pictures.numbers"
local probabilities = require "scullery.model.probabilities"

local measures = {}

local INTERVAL, MOST_CLASSES = "95 % interval (Wilson)", 200

-- Three texts: the share hits / n in per cent, its interval, and its counts.
local function share(hits, n)
  if n == 0 then return "-", "", "0 of 0" end
  local low, high = numbers.wilson(hits, n)
  return ("%.2f %%"):format(100 * hits / n), ("%.2f to %.2f %%"):format(100 * low, 100 * high),
    ("%d of %d"):format(hits, n)
end

-- A table of the accuracy, and that of a model that always predicts the largest class. Also returns
-- the confusion matrix, counts[true class][predicted class], and the size of each class.
local function classification(about)
  local counts, sizes, wrong = confusion.counts(about)
  local most = 1
  for k, size in ipairs(sizes) do if size > sizes[most] then most = k end end
  local always = ("accuracy of always saying %s"):format(tostring(about.classes[most]))
  local rows = { { "accuracy", share(about.n - wrong, about.n) },
    { always, share(sizes[most], about.n) } }
  return { heads = { "measure", "value", INTERVAL, "rows" }, rows = rows,
    numbers = { [2] = true, [3] = true, [4] = true } }, counts, sizes
end

-- A table of the metrics of multi-label predictions.
local function of_labels(about)
  local rows = {}
  for i, name in ipairs{ "subset_accuracy", "hamming", "f1_micro", "f1_macro" } do
    rows[i] = { name, ("%.4g"):format(metrics[name](about.scores, about.targets)), about.n }
  end
  return { heads = { "measure", "value", "rows" }, rows = rows,
    numbers = { [2] = true, [3] = true } }
end

-- A table with one row for each class: recall = right / rows, precision = right / predicted.
local function by_class(about, counts, sizes)
  local rows = {}
  for k = 1, math.min(#about.classes, MOST_CLASSES) do
    local said = 0
    for i in ipairs(about.classes) do said = said + counts[i][k] end
    local recall, recall_interval = share(counts[k][k], sizes[k])
    local precision, precision_interval = share(counts[k][k], said)
    rows[k] = { tostring(about.classes[k]), sizes[k], said, counts[k][k], recall, recall_interval,
      precision, precision_interval }
  end
  local more = #about.classes - MOST_CLASSES
  return { heads = { "class", "rows", "predicted", "right", "recall", INTERVAL, "precision",
    INTERVAL }, rows = rows, numbers = { [5] = true, [6] = true, [7] = true, [8] = true },
    caption = "By class" .. (more > 0 and ("; %d more are not listed"):format(more) or "") }
end

-- A row of the table of a regression; no standard error if it is nil.
local function value_row(name, mean, stderr)
  return { name, ("%.5g"):format(mean), stderr and ("%.2g"):format(stderr) or "" }
end

-- Appends the rows of target j: mean squared error, its root (whose error is that of the mean
-- divided by twice the root), mean absolute error, and R2 = 1 - sum (y - f)^2 / sum (y - mean y)^2.
local function of_target(about, j, suffix, rows)
  local squares, sizes, y = {}, {}, {}
  for i = 1, about.n do
    y[i] = about.targets:get(i, j)
    local residual = y[i] - about.scores:get(i, j)
    squares[i], sizes[i] = residual ^ 2, math.abs(residual)
  end
  local mse, mse_error = mean_of(squares)
  local rms = math.sqrt(mse)
  rows[#rows + 1] = value_row("mean squared error" .. suffix, mse, mse_error)
  rows[#rows + 1] = value_row("root mean squared error" .. suffix, rms,
    mse_error and rms > 0 and mse_error / (2 * rms) or nil)
  rows[#rows + 1] = value_row("mean absolute error" .. suffix, mean_of(sizes))
  local mean, spread = mean_of(y), 0
  for i = 1, about.n do spread = spread + (y[i] - mean) ^ 2 end
  if spread > 0 then
    rows[#rows + 1] = value_row("R2" .. suffix, 1 - mse * about.n / spread)
    rows[#rows + 1] = value_row("mean squared error of always saying the mean" .. suffix,
      spread / about.n)
  end
end

local function regression(about)
  local rows, c = {}, about.scores:cols()
  for j = 1, c do of_target(about, j, c > 1 and (" of target %d"):format(j) or "", rows) end
  return { heads = { "measure", "value", "standard error" }, rows = rows,
    numbers = { [2] = true, [3] = true } }
end

--- measures.table(about): { heads, rows, numbers } for page:table; about: the result of
--- pictures.model.judged. The second result, for a classification only, is a table by class.
function measures.table(about)
  if about.model.task == "multilabel" then return of_labels(about) end
  if not about.classes then return regression(about) end
  local whole, counts, sizes = classification(about)
  return whole, by_class(about, counts, sizes)
end

local LEAST = 1e-15 -- as in sc.metrics.log_loss

--- measures.log_loss(about): the mean of -log p over the rows, p the probability that the model
--- gives to the true class, and its standard error; nil if the model has no probabilities or knows
--- none of the labels.
function measures.log_loss(about)
  if not about.classes or not probabilities.known(about.model) then return nil end
  local P, losses = probabilities.of(about.model, about.scores), {}
  for i = 1, about.n do
    local place = about.truth[i]
    if place then losses[#losses + 1] = -math.log(math.max(P:get(i, place), LEAST)) end
  end
  if #losses == 0 then return nil end
  return mean_of(losses)
end

return measures

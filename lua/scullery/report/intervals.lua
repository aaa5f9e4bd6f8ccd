--- Measures of a classification that are not shares of rows (AUC, average precision, F1, balanced
--- accuracy, Brier score, the metric of a search), with intervals by the jackknife.
local criteria = require "scullery.model.criteria"
local jackknife = require "scullery.metrics.jackknife"
local metrics = require "scullery.metrics"
local options = require "scullery.base.options"
local probabilities = require "scullery.model.probabilities"

local intervals = {}

-- The 97.5 % quantile of Student's t with jackknife.groups - 1 degrees of freedom.
local QUANTILE = 2.093

-- ------------ the measures

-- The rows whose label the model knows: { n, scores, targets, said and truth = lists of predicted
-- and true labels, probabilities = nil if the model has none, classes }; nil if there are no such
-- rows.
local function known_rows(about)
  local rows, said, truth = {}, {}, {}
  for i = 1, about.n do
    local place = about.truth[i]
    if place then
      rows[#rows + 1] = i
      said[#rows], truth[#rows] = about.classes[about.said[i]], about.classes[place]
    end
  end
  if #rows == 0 then return nil end
  local scores = #rows == about.n and about.scores or about.scores:select(rows)
  return { n = #rows, scores = scores, said = said, truth = truth, classes = about.classes,
    targets = #rows == about.n and about.targets or about.targets:select(rows),
    probabilities = probabilities.known(about.model)
      and probabilities.of(about.model, scores) or nil }
end

-- The entries of a list at these rows; the list itself for nil.
local function picked(list, rows)
  if not rows then return list end
  local some = {}
  for i, row in ipairs(rows) do some[i] = list[row] end
  return some
end

-- A function of a list of rows (nil: all) for a metric of the labels, scores or probabilities.
local function metric_of(known, what, metric)
  return function(rows)
    local given, truth = known[what], picked(known.truth, rows)
    if what == "said" then
      given = picked(given, rows)
    elseif rows then
      given = given:select(rows)
    end
    return metric(given, truth, { classes = known.classes })
  end
end

-- The metric of the search that chose the model, as in measures_of; nil if there was no search, if
-- it is in `listed`, or if it is a function of the script.
local function searched(about, known, listed)
  local cells = about.pipeline.table
  if not cells or listed[cells.score] then return nil end
  local ok, criterion = options.attempt(criteria.of, cells.score, "classification")
  if not ok or criterion.tally then return nil end
  return { cells.score .. " (searched)", function(rows)
    local scores, targets = known.scores, known.targets
    if rows then scores, targets = scores:select(rows), targets:select(rows) end
    return criterion:measured(scores, targets, { classes = known.classes,
      solver = about.model.solver })
  end, criterion.high, criterion.low }
end

-- A list of { name, function of a list of rows (nil: all), largest value (nil: 1), least value
-- (nil: 0) }.
local function measures_of(about, known)
  local two = #about.classes == 2
  local function balanced(said, truth) return metrics.balanced_accuracy(said, truth) end
  local list = {
    { two and ("AUC of " .. tostring(about.classes[2])) or "AUC, mean over classes",
      metric_of(known, "scores", metrics.auc) },
    { two and ("average precision of " .. tostring(about.classes[2]))
      or "average precision, mean over classes", metric_of(known, "scores", metrics.pr_auc) },
    { two and ("F1 of " .. tostring(about.classes[2])) or "F1, mean over classes",
      metric_of(known, "said", metrics.f1) },
    { "balanced accuracy", metric_of(known, "said", balanced) },
  }
  if known.probabilities then
    list[#list + 1] = { "Brier score", metric_of(known, "probabilities", metrics.brier),
      two and 1 or 2 }
  end
  list[#list + 1] = searched(about, known, { auc = true, pr_auc = true, f1 = true,
    balanced_accuracy = true, brier = true, error = true, accuracy = true, log_loss = true })
  return list
end

--- intervals.table(about): { heads, rows, numbers, caption } for page:table; about: the result of
--- pictures.model.judged for a classification; nil if no label is known.
function intervals.table(about)
  local known = known_rows(about)
  if not known then return nil end
  local rows = {}
  for _, one in ipairs(measures_of(about, known)) do
    local ok, value = options.attempt(one[2], nil)
    if ok and value == value then -- a class without rows has no AUC
      local stderr = jackknife.stderr(known.n, one[2])
      rows[#rows + 1] = { one[1], ("%.4g"):format(value), stderr and ("%.2g"):format(stderr) or "",
        stderr and ("%.4g to %.4g"):format(math.max(one[4] or 0, value - QUANTILE * stderr),
          math.min(one[3] or 1, value + QUANTILE * stderr)) or "" }
    end
  end
  if #rows == 0 then return nil end
  return { heads = { "measure", "value", "standard error", "95 % interval" }, rows = rows,
    numbers = { [2] = true, [3] = true, [4] = true },
    caption = ("Ranking, classes and probabilities; standard errors by the jackknife over %d \z
      groups of rows"):format(jackknife.groups) }
end

return intervals

--- Pictures of a regression: residuals against predictions, and observed against predicted values.
local figures = require "scullery.pictures.figures"
local mean = require("scullery.model.judging").mean
local numbers = require "scullery.pictures.numbers"
local plot = require "scullery.plot"

local residuals = {}

local MOST_TARGETS, GROUPS, ROWS_A_GROUP = 6, 10, 5

-- A series of the mean residual, with its standard error, in ten groups of rows of equal size, in
-- the order of their predictions.
local function group_means(predicted, residual)
  local n, order = #predicted, {}
  for i = 1, n do order[i] = i end
  table.sort(order, function(a, b)
    if predicted[a] ~= predicted[b] then return predicted[a] < predicted[b] end
    return a < b
  end)
  local x, y, errors = {}, {}, {}
  for g = 1, GROUPS do
    local said, left = {}, {}
    for k = (g - 1) * n // GROUPS + 1, g * n // GROUPS do
      said[#said + 1], left[#left + 1] = predicted[order[k]], residual[order[k]]
    end
    x[g] = mean(said)
    y[g], errors[g] = mean(left)
  end
  return { x = x, y = y, error = errors, label = "mean" }
end

-- Target j: lists of predicted and observed values and residuals, and the sum of squared residuals.
local function read_target(about, j)
  local target = { predicted = numbers.column(about.scores, j),
    observed = numbers.column(about.targets, j), residual = {}, square = 0 }
  for i, said in ipairs(target.predicted) do
    target.residual[i] = target.observed[i] - said
    target.square = target.square + target.residual[i] ^ 2
  end
  return target
end

-- Sentences about the root mean squared error of each target, and about targets that are not drawn.
local function error_notes(about, targets)
  local rms = {}
  for j, one in ipairs(targets) do
    rms[j] = ("%.4g"):format(math.sqrt(one.square / about.n))
  end
  local notes = { ("root mean squared error %s on %s"):format(table.concat(rms, ", "),
    about.rows_text) }
  if about.scores:cols() > MOST_TARGETS then
    notes[#notes + 1] = ("the first %d of %d targets are drawn"):format(MOST_TARGETS,
      about.scores:cols())
  end
  return notes
end

-- One series for each target; x, y: the names of its lists.
local function series_of(targets, x, y)
  local list = {}
  for j, one in ipairs(targets) do
    list[j] = { x = one[x], y = one[y],
      label = #targets > 1 and ("target %d"):format(j) or nil }
  end
  return list
end

--- residuals.figures(about): the two pictures, as a list. about: the result of
--- pictures.model.judged.
function residuals.figures(about)
  local targets = {}
  for j = 1, math.min(about.scores:cols(), MOST_TARGETS) do
    targets[j] = read_target(about, j)
  end
  local notes = {}
  local left = series_of(targets, "predicted", "residual")
  if #targets == 1 and about.n >= GROUPS * ROWS_A_GROUP then
    left[1].label = "row"
    left[2] = group_means(targets[1].predicted, targets[1].residual)
    notes[1] = "means of ten groups of rows by prediction; error bars: 1 standard error"
  end
  local name = about.target_name
  return {
    figures.noted(plot.scatter{ series = left, title = "Residuals", x_label = "predicted " .. name,
      y_label = "observed - predicted", rules = { { y = 0 } } }, notes),
    figures.noted(plot.scatter{ series = series_of(targets, "predicted", "observed"),
      title = "Observed against predicted", x_label = "predicted " .. name,
      y_label = "observed " .. name, rules = { { diagonal = true } } },
      error_notes(about, targets)),
  }
end

return residuals

--- Pictures of how well a classifier's scores rank the rows: ROC, precision and recall, and lift;
--- of the second of two classes, or of each of more classes against the others.
local figures = require "scullery.pictures.figures"
local metrics = require "scullery.metrics"
local numbers = require "scullery.pictures.numbers"
local plot = require "scullery.plot"

local ranking = {}

local MOST_CURVES, MOST_POINTS = 10, 400

-- The lists x and y of at most MOST_POINTS points of a curve, evenly spaced, with its ends.
local function thinned(curve)
  local n, x, y = #curve.x, {}, {}
  local step = math.max(1, (n - 1) / (MOST_POINTS - 1))
  for k = 0, math.min(n, MOST_POINTS) - 1 do
    local i = math.min(n, math.floor(k * step + 0.5) + 1)
    x[#x + 1], y[#y + 1] = curve.x[i], curve.y[i]
  end
  x[#x], y[#y] = curve.x[n], curve.y[n]
  return x, y
end

-- The curves of a metric of sc.metrics, one for each class that occurs among the rows: a list of {
-- curve =, label = }.
local function curves_of(about, metric)
  local rows, labels = numbers.known_rows(about)
  local scores, seen, list = about.scores:select(rows), {}, {}
  for _, label in ipairs(labels) do seen[label] = true end
  local positives = #about.classes == 2 and { about.classes[2] } or about.classes
  for _, class in ipairs(positives) do
    if seen[class] and #list < MOST_CURVES then
      list[#list + 1] = { label = tostring(class), curve = metric(scores, labels,
        { positive = class, classes = about.classes }) }
    end
  end
  return list
end

local kinds = {
  roc = { metric = metrics.roc_curve, title = "ROC", area = "AUC", x = "false positive rate",
    y = "true positive rate" },
  pr = { metric = metrics.pr_curve, title = "Precision and recall", area = "average precision",
    x = "recall", y = "precision" },
  lift = { metric = metrics.lift_curve, title = "Lift",
    area = "largest lift, of a tenth of the rows or more,",
    x = "share of rows, the highest scores first", y = "lift" },
}

-- The picture of a kind, as a list of one figure.
local function draw(about, kind)
  local k, series, notes = kinds[kind], {}, {}
  for _, one in ipairs(curves_of(about, kinds[kind].metric)) do
    local x, y = thinned(one.curve)
    series[#series + 1] = { x = x, y = y, label = one.label }
    notes[#notes + 1] = ("%s: %s %.4f"):format(one.label, k.area, one.curve.area)
  end
  local unit = { -0.02, 1.02 }
  local figure = plot.line{ series = series, title = k.title, x_label = k.x, y_label = k.y,
    x_range = unit, y_range = kind ~= "lift" and unit or nil,
    rules = kind == "roc" and { { diagonal = true } } or nil }
  notes[#notes + 1] = "on " .. about.rows_text
  return { figures.noted(figure, notes) }
end

--- ranking.figures_of(kind)(about): the picture, as a list of one figure. kind: "roc", "pr" or
--- "lift"; about: the result of pictures.model.judged.
function ranking.figures_of(kind) return function(about) return draw(about, kind) end end

return ranking

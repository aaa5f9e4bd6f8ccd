--- Metrics of scores and of probabilities: (scores, truth[, options]): one row for each label, one
--- column for each class in the order of the classes, or for two classes one column, which
--- increases with the second. Options: classes (by default those of a data set's labels, otherwise
--- all that occur, sorted), weights.
local fail = require "scullery.base.fail"
local inputs = require "scullery.metrics.inputs"
local objects = require "scullery.base.objects"

local scores = {}

local show = require("scullery.base.options").show

local function weight(g, i) return g.w and g.w:get(i, 1) or 1 end

-- ------------ rankings

-- Groups of rows with equal scores in column j, the highest first: the weights of class k and of
-- the other classes in each.
local function ranked(g, j, k)
  local rows, s = {}, g.s
  for i = 1, g.n do rows[i] = i end
  local score = {}
  for i = 1, g.n do score[i] = s:get(i, j) end
  table.sort(rows, function(a, b) return score[a] > score[b] end)
  local groups, last = {}, nil
  for _, i in ipairs(rows) do
    if score[i] ~= last then groups[#groups + 1] = { 0, 0 } end
    last = score[i]
    local group, side = groups[#groups], g.places[i] == k and 1 or 2
    group[side] = group[side] + weight(g, i)
  end
  return groups
end

local function sums(groups)
  local inside, outside = 0, 0
  for _, group in ipairs(groups) do inside, outside = inside + group[1], outside + group[2] end
  return inside, outside
end

-- The area under the ROC curve: the probability that a row of the class ranks above another row.
local function roc_area(groups)
  local inside, outside = sums(groups)
  local above, area = 0, 0
  for _, group in ipairs(groups) do
    area = area + group[2] * (above + group[1] / 2)
    above = above + group[1]
  end
  return area / (inside * outside)
end

-- Average precision: the sum over thresholds of the precision times the increase in recall.
local function average_precision(groups)
  local inside = sums(groups)
  local right, said, area = 0, 0, 0
  for _, group in ipairs(groups) do
    right, said = right + group[1], said + group[1] + group[2]
    if said > 0 then area = area + group[1] / inside * (right / said) end
  end
  return area
end

-- The area for the positive class of two, or the mean over classes, one against the rest.
local function mean_area(title, given_scores, truth, given, area)
  local g = inputs.scores(given_scores, truth, inputs.options(title, given))
  if #g.classes < 2 then
    fail("all rows are of the class %s: there is nothing to rank them against", show(g.classes[1]))
  end
  local function one(j, k)
    local groups = ranked(g, j, k)
    local inside, outside = sums(groups)
    if inside == 0 then fail("no row is of the class %s", show(g.classes[k])) end
    if outside == 0 then
      fail("all rows are of the class %s: there is nothing to rank them against",
        show(g.classes[k]))
    end
    return area(groups)
  end
  local positive = inputs.positive(g.classes, g.o.positive)
  if g.s:cols() == 1 then
    if positive == 1 then g.s = g.s * -1 end
    return one(1, positive)
  end
  if positive then return one(positive, positive) end
  local sum = 0
  for k in ipairs(g.classes) do sum = sum + one(k, k) end
  return sum / #g.classes
end

--- sc.metrics.auc(scores, truth[, { positive =, classes =, weights = }]): the area under the ROC
--- curve: the probability that a row of the positive class (the second, unless positive = names it)
--- has a higher score than a row of the other class; ties count one half. More than two classes:
--- the mean over the classes, each against all others. A class without rows is an error.
function scores.auc(given_scores, truth, given)
  return mean_area("auc", given_scores, truth, given, roc_area)
end

--- sc.metrics.pr_auc(scores, truth[, { positive =, classes =, weights = }]): the average precision:
--- the sum over thresholds of the precision times the increase in recall. Rows of equal score share
--- a threshold. Classes as in sc.metrics.auc.
function scores.pr_auc(given_scores, truth, given)
  return mean_area("pr_auc", given_scores, truth, given, average_precision)
end

-- ------------ curves

local Curve = objects.class("curve", { fields = "x y threshold area name share rows class" })

function Curve:__tostring()
  local lines = { ("%s of class %s: %s %.4f"):format(self.name, show(self.class),
    self.name == "lift" and "largest lift" or "area", self.area) }
  local step = math.max(1, #self.x // 10)
  for i = 1, #self.x, step do
    lines[#lines + 1] = ("  %8.4f %8.4f"):format(self.x[i], self.y[i])
  end
  return table.concat(lines, "\n")
end

-- The rankings of a class of two: groups of equal scores, the highest first, with their scores.
local function ranking(title, given_scores, truth, given)
  local g = inputs.scores(given_scores, truth, inputs.options(title, given))
  if #g.classes > 2 and not g.o.positive then
    fail("%d classes: positive = names the class that is ranked against the others", #g.classes)
  end
  local k = inputs.positive(g.classes, g.o.positive) or #g.classes
  local j = g.s:cols() > 1 and k or 1
  if g.s:cols() == 1 and k == 1 then g.s = g.s * -1 end
  local groups, seen, list = ranked(g, j, k), {}, {}
  for i = 1, g.n do
    local v = g.s:get(i, j)
    if not seen[v] then seen[v], list[#list + 1] = true, v end
  end
  table.sort(list, function(a, b) return a > b end)
  local inside, outside = sums(groups)
  if inside == 0 or outside == 0 then
    fail("all rows are of one class: there is nothing to rank")
  end
  return groups, list, inside, outside, g.classes[k]
end

-- A curve with a point for each threshold. point(right, said) -> x, y of the rows with the highest
-- scores, by the weights of the class and of all rows among them.
local function curve(name, title, given_scores, truth, given, area, point)
  local groups, list, inside, outside, class = ranking(title, given_scores, truth, given)
  local self = setmetatable({ x = {}, y = {}, threshold = {}, name = name, class = class,
    area = area(groups), share = inside / (inside + outside), rows = inside + outside }, Curve)
  local right, said = 0, 0
  for i, group in ipairs(groups) do
    right, said = right + group[1], said + group[1] + group[2]
    self.x[i], self.y[i] = point(right, said, inside, outside)
    self.threshold[i] = list[i]
  end
  return self
end

--- sc.metrics.roc_curve(scores, truth[, { positive =, classes =, weights = }]): the ROC curve of a
--- class of two: .x the share of the other class above each score (false positive rate), .y that of
--- the class (true positive rate), .threshold the scores, the highest first; .area as
--- sc.metrics.auc. With more classes positive names the class.
function scores.roc_curve(given_scores, truth, given)
  local self = curve("ROC", "roc_curve", given_scores, truth, given, roc_area,
    function(right, said, inside, outside) return (said - right) / outside, right / inside end)
  for key, value in pairs{ x = 0, y = 0, threshold = math.huge } do
    table.insert(self[key], 1, value)
  end
  return self
end

--- sc.metrics.pr_curve(scores, truth[, { ... }]): precision against recall: .x recall, .y precision
--- at each score, .area the average precision (sc.metrics.pr_auc), .share the share of the class.
function scores.pr_curve(given_scores, truth, given)
  return curve("precision and recall", "pr_curve", given_scores, truth, given, average_precision,
    function(right, said, inside) return right / inside, right / said end)
end

--- sc.metrics.lift_curve(scores, truth[, { ... }]): how much more often than in all rows the class
--- occurs among the rows with the highest scores: .x the share of rows, .y the lift; .area is the
--- largest lift on at least a tenth of the rows.
function scores.lift_curve(given_scores, truth, given)
  local self = curve("lift", "lift_curve", given_scores, truth, given, function() return 0 end,
    function(right, said, inside, outside)
      return said / (inside + outside), right / said / (inside / (inside + outside))
    end)
  for i, x in ipairs(self.x) do
    if x >= 0.1 - 1e-12 then self.area = math.max(self.area, self.y[i]) end
  end
  return self
end

--- sc.metrics.top_k(scores, truth[, { k = 2, classes =, weights = }]): the share of rows whose
--- class is among the k highest scores. Of equal scores the first column counts as higher.
function scores.top_k(given_scores, truth, given)
  local g = inputs.scores(given_scores, truth, inputs.options("top_k", given))
  local k, c, right = g.o.k or 2, g.s:cols(), 0
  if c == 1 then fail("takes a column of scores for each class, and got one column") end
  if k >= c then fail("the class is among the %d highest of %d scores of every row", k, c) end
  for i, own in ipairs(g.places) do
    local score, above = g.s:get(i, own), 0
    for j = 1, c do
      local other = g.s:get(i, j)
      if other > score or other == score and j < own then above = above + 1 end
    end
    if above < k then right = right + weight(g, i) end
  end
  return right / g.total
end

-- ------------ probabilities

-- The probability of class k in row i.
local function chance(g, i, k)
  if g.s:cols() > 1 then return g.s:get(i, k) end
  return k == 2 and g.s:get(i, 1) or 1 - g.s:get(i, 1)
end

local Calibration = objects.class("calibration table", { fields = "bins error worst what" })

function Calibration:__tostring()
  local lines = { ("%-14s %10s %10s %10s"):format("probability", "rows", "said", "came true") }
  for _, bin in ipairs(self.bins) do
    lines[#lines + 1] = ("%5.3f .. %5.3f %10.6g %10.4f %10.4f"):format(bin.low, bin.high, bin.rows,
      bin.said, bin.seen)
  end
  lines[#lines + 1] = ("of %s: mean gap %.4g, largest %.4g"):format(self.what, self.error,
    self.worst)
  return table.concat(lines, "\n")
end

--- sc.metrics.calibration(probabilities, labels[, { bins = 10, classes =, weights = }]): compares
--- probabilities with frequencies, in bins of equal width. Two classes: the probability of the
--- second. More: the probability of the most likely class, and how often that is the true one.
--- .bins[i] = { low, high, rows (the sum of their weights), said (mean probability), seen
--- (frequency) } without the empty bins; .error is the mean over rows of |said - seen| (the
--- expected calibration error), .worst the largest difference. It prints as a table.
function scores.calibration(probabilities, truth, given)
  local g = inputs.probabilities(probabilities, truth, inputs.options("calibration", given))
  local count, all = g.o.bins or 10, {}
  local two = #g.classes <= 2
  for i, own in ipairs(g.places) do
    local k = 2
    if not two then
      k = 1
      for j = 2, #g.classes do if chance(g, i, j) > chance(g, i, k) then k = j end end
    end
    local p, w = chance(g, i, k), weight(g, i)
    local at = math.min(math.floor(p * count), count - 1)
    all[at] = all[at] or { low = at / count, high = (at + 1) / count, rows = 0, said = 0, seen = 0 }
    local bin = all[at]
    bin.rows, bin.said, bin.seen = bin.rows + w, bin.said + w * p, bin.seen
      + (own == k and w or 0)
  end
  local what = two and "the class " .. show(g.classes[2] or g.classes[1]) or "the likeliest class"
  local self = setmetatable({ bins = {}, error = 0, worst = 0, what = what }, Calibration)
  for at = 0, count - 1 do
    local bin = all[at]
    if bin and bin.rows > 0 then
      bin.said, bin.seen = bin.said / bin.rows, bin.seen / bin.rows
      local gap = math.abs(bin.said - bin.seen)
      self.error, self.worst = self.error + bin.rows * gap / g.total, math.max(self.worst, gap)
      self.bins[#self.bins + 1] = bin
    end
  end
  return self
end

return scores

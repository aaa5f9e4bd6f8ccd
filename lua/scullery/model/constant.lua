--- Whether a fitted model is worse, on the rows that it learnt from, than a constant: the largest
--- class, or the mean of the targets.
---
--- Of many rows a few are predicted first: evenly spaced ones, or the first of a stream. Where
--- these do not show a model that is clearly better, all are (at most ALL, evenly spaced). A model
--- of training rows costs more: a glance at very few rows comes before, which a far better model
--- passes.
local core = require "scullery.core"
local component = require "scullery.compose.component"
local dataset = require "scullery.data.dataset"
local options = require "scullery.base.options"
local targets = require "scullery.data.targets"
local weights = require "scullery.model.weights"

local constant = {}

local FEW, LEAST, ALL = 512, 32, 8192
local PRODUCTS = 2 ^ 26 -- multiplications for a model of training rows, such as nearest neighbours
local CLEARLY = 0.05 -- of the rows, or of the variance
local GLANCE, FAR = 64, 0.3
local BLOCK, NUMBERS = 1024, 2 ^ 24 -- rows of a stream that are read at once; numbers of those kept

-- At most `most` rows, evenly spaced, of a data set in memory.
local function spaced(ds, most)
  local n, places = #ds, {}
  if n <= most then return ds end
  for k = 1, most do places[k] = 1 + (k - 1) * n // most end
  return ds:select(places)
end

-- The rows of a stream at these ascending places, as a data set in memory.
local function gathered(ds, places)
  local source = ds.places and core.source_columns(ds.source, ds.places) or ds.source
  local X, y, at = {}, {}, 1
  while at <= #places do
    local first, inside = places[at], {}
    while at <= #places and places[at] < first + BLOCK do
      inside[#inside + 1], at = places[at] - first + 1, at + 1
    end
    local rows, wanted = core.read_rows(source, first, inside[#inside])
    X[#X + 1], y[#y + 1] = rows:select(inside), wanted:select(inside)
  end
  local some = dataset.with(ds, { X = core.vcat(table.unpack(X)), y = core.vcat(table.unpack(y)),
    weights = ds.weights and ds.weights:select(places) })
  some.source, some.places, some.groups, some.time = nil, nil, nil, nil
  return some
end

-- At most `most` rows of a stream: the first, or evenly spaced ones.
local function of_stream(ds, most, first)
  local n, places = ds:size(), {}
  most = math.min(most, n)
  for k = 1, most do places[k] = first and k or 1 + (k - 1) * n // most end
  return gathered(ds, places)
end

-- The shares of the weight of rows with the right label, and of the largest class; third: its
-- label.
local function shares(ds, said, w)
  local place, sums, right, total = targets.places(ds.classes), {}, 0, 0
  for i = 1, #ds do
    local truth, weight = ds.y:get(i, 1), w and w:get(i, 1) or 1
    local k = place[truth]
    sums[k], total = (sums[k] or 0) + weight, total + weight
    if said:get(i, 1) == truth then right = right + weight end
  end
  local largest = 1
  for k in ipairs(ds.classes) do
    if (sums[k] or 0) > (sums[largest] or 0) then largest = k end
  end
  return right / total, (sums[largest] or 0) / total, ds.classes[largest]
end

-- The mean squared and the mean absolute error of predictions, and those of the mean of each
-- target.
local function errors(ds, said, w)
  local y, totals = ds.y, { 0, 0, 0, 0 }
  w = w or core.ones(#ds, 1)
  local weight = w:sum()
  for j = 1, y:cols() do
    local truth = y:column(j)
    local mean = truth:mul(w):sum() / weight
    for k, gap in ipairs{ said:column(j) - truth, truth - mean } do
      totals[2 * k - 1] = totals[2 * k - 1] + gap:mul(gap):mul(w):sum() / weight
      totals[2 * k] = totals[2 * k] + gap:abs():mul(w):sum() / weight
    end
  end
  return table.unpack(totals)
end

-- What is said of the rows if the model is worse than the constant there; second: whether it is
-- better by more than `gap`. A regression is worse where both of its errors are: one that leaves
-- out outliers may have the larger squared error.
local function judge(p, ds, gap)
  local w = weights.of(ds, p.class_weights)
  if w and w:sum() <= 0 then return nil, false end -- rows that do not count show nothing
  local said = p.fitted:predict(dataset.source_of_rows(ds), "labels")
  if ds.task == "classification" then
    local right, largest, label = shares(ds, said, w)
    return right < largest - 1e-9 and ("the model is right on %.3g %% of %s that it learnt \z
      from, and always saying %s is on %.3g %%"):format(100 * right,
      w and "the weight of the rows" or "the rows", options.show(label), 100 * largest),
      right > largest + gap
  end
  local square, absolute, of_mean, absolute_of_mean = errors(ds, said, w)
  return square > of_mean * (1 + 1e-9) and absolute > absolute_of_mean
    and ("on the rows that it learnt from, the mean squared error of the model is %.3g, and that \z
      of always saying the mean %.3g"):format(square, of_mean),
    square < (1 - gap) * of_mean
end

-- The sentence of constant.note: of the rows that few() returns, and where they do not show a model
-- that is clearly better of those of all().
local function said_of(p, few, all)
  local said, better = judge(p, few(), CLEARLY)
  if better or not all then return said or nil end
  return judge(p, all(), CLEARLY) or nil
end

--- constant.note(p, ds): a sentence if the fitted pipeline is worse than a constant on its training
--- rows ds; nil if it is not, if they stream and cannot be read again as numbers, and if the loss
--- of its solver measures something else (a quantile).
function constant.note(p, ds)
  local facts = core.solver_facts(component.instance(p.fitted.solver))
  local n, d = ds:size()
  if n == 0 or ds.X and not ds.y then return nil end
  if ds.task == "regression" and facts.has_loss
    and (not facts.gives_means or facts.outputs > 1) then
    return nil
  end
  local few, all = FEW, ALL
  if facts.makes_models then
    few = math.max(LEAST, math.min(FEW, PRODUCTS // (n * d)))
    all = math.max(LEAST, math.min(ALL, 16 * PRODUCTS // (n * d)))
  end
  few, all = math.tointeger(few), math.tointeger(all)
  local more = n > few
  if ds.X then
    if facts.makes_models and n > GLANCE and select(2, judge(p, spaced(ds, GLANCE), FAR)) then
      return nil
    end
    return said_of(p, function() return spaced(ds, few) end,
      more and function() return spaced(ds, all) end)
  end
  -- rows of a stream that can be read again as numbers: not texts, nor sparse rows
  if not ds.source or ds.encoder or ds.codes or math.min(all, n) * d > NUMBERS
    or core.source_sparse(ds.source) then return nil end
  local read, said = options.attempt(said_of, p, function() return of_stream(ds, few, true) end,
    more and function() return of_stream(ds, all) end)
  return read and said or nil -- the rows were read before: a failure now does not undo the fit
end

return constant

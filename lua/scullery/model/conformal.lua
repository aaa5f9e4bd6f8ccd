--- Conformal prediction: intervals and label sets that hold the target of a new row with a given
--- probability, whatever the distribution, if the rows are exchangeable.
---
---   split   scores of rows that the model did not learn from (Papadopoulos et al. 2002)
---   folds   CV+, the models without each fold judge its rows (Barber et al. 2021; label sets:
---           Romano, Sesia and Candes 2020)
---   loo     jackknife+ of a ridge regression, by its leave-one-out formula (Barber et al. 2021)
---
--- What a method needs is f.interval of the fitted model f: { method =, scores = n x c (of label
--- sets n x 1), rows = n }, with folds also { folds = K, fold = 1 x n, weights = D x K c, constants
--- = 1 x K c }, with loo { projections = n x r, constant = 1 / n or 0 }; of classes also { truth =
--- 1 x n, places of the labels in f.classes }.
local core = require "scullery.core"
local component = require "scullery.compose.component"
local dataset = require "scullery.data.dataset"
local matching = require "scullery.data.matching"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local posterior = require "scullery.model.posterior"
local probabilities = require "scullery.model.probabilities"
local recipe = require "scullery.model.recipe"
local target_form = require "scullery.model.target_form"
local warn = require "scullery.base.warn"

local conformal = {}

local METHODS = { "loo", "folds", "split" }
local SEED, FOLDS, SHARE = 0, 10, 0.25

-- ------------------------------------------------------------ how unusual labels are

-- n x classes numbers for scores (n x c): the larger, the less a label fits. They do not depend on
-- a calibration, which may come after what is kept.
local function strangeness(f, scores)
  local bare = f:with{}
  bare.calibration = nil
  if probabilities.known(bare) then return probabilities.of(bare, scores) * -1 end
  if #f.classes == 2 then return core.hcat(scores, scores * -1) end
  return scores * -1
end

-- The places in f.classes of the labels of a data set that was matched to the model; a row of a
-- class that the model does not know is an error.
local function places(ds, f, title)
  local place, found = {}, {}
  for k, class in ipairs(f.classes) do place[class] = k end
  for i, label in ipairs(ds:labels()) do
    found[i] = place[label]
    if not found[i] then
      error(("%s: row %d has the class %s, which the model does not know"):format(title, i,
        options.show(label)), 0)
    end
  end
  return found
end

-- Entry truth[i] of each row of a matrix, n x 1.
local function chosen(matrix, truth)
  local list = {}
  for i, k in ipairs(truth) do list[i] = { matrix:get(i, k) } end
  return core.matrix(list)
end

-- The predictions of a regression for scores, on the scale on which targets were learnt: means,
-- where scores stand for these.
local function values(f, scores)
  if not f.means then return scores end
  local bare = f:with{}
  bare.form = nil
  return bare:decide(scores)
end

-- ------------------------------------------------------------ what is kept

-- { scores, truth } of the rows ds, matched and with the targets as learnt, by scores (n x c) of
-- models that did not learn from them.
local function judged(f, ds, scores, title)
  if f.task ~= "classification" then return { scores = (ds.y - values(f, scores)):abs() } end
  local truth = places(ds, f, title)
  return { scores = chosen(strangeness(f, scores), truth), truth = core.matrix{ truth } }
end

-- The scores (m x c) of the rows of a source by the model without each fold: a list.
local function fold_scores(made, f, source)
  local all, c, list = f:with{ weights = made.weights, intercept = made.constants }, f.targets, {}
  all.pilot = nil
  local said = all:scores(source)
  for fold = 1, made.folds do
    list[fold] = said:slice(1, said:rows(), (fold - 1) * c + 1, fold * c):copy()
  end
  return list
end

local kept = {}

-- CV+: one model without each fold, on the stages and features of the fit.
function kept.folds(p, f, ds, title)
  if f.learnt or recipe.learns(p) then
    error(("%s: method \"folds\" keeps the weights of the model without each fold, and %s; \z
      interval = \"split\" is for every model"):format(title, f.learnt
      and "this model has no weights" or "a stage of this pipeline learns from the targets"), 0)
  end
  local k = math.min(FOLDS, #ds)
  local ids = ds:fold_ids{ k = k, seed = SEED }
  local all, weights, constants = {}, {}, {}
  for fold = 1, k do all[fold] = fold end
  local training <close> = core.training(dataset.source_of_targets(ds), f.stages, f.map,
    recipe.training_options(p, ds, ids))
  for fold, fits in ipairs(core.solve(training, component.instance(f.solver), all)) do
    local one = f:with{ weights = fits[1].weights, intercept = fits[1].intercept,
      pilot = fits[1].pilot }
    weights[fold], constants[fold] = one.weights, one:constant()
  end
  local made = { folds = k, fold = core.matrix{ ids }, weights = core.hcat(table.unpack(weights)),
    constants = core.hcat(table.unpack(constants)) }
  local scores, own = fold_scores(made, f, dataset.source_of_rows(ds)), {}
  for i, fold in ipairs(ids) do own[i] = scores[fold]:slice(i, i):totable()[1] end
  for name, value in pairs(judged(f, ds, core.matrix(own), title)) do made[name] = value end
  return made
end

-- Jackknife+: with e_i the residual of row i, c(x, i) = (phi(x) - mean)'A^-1 (phi_i - mean) + 1/n
-- and h_i = c(x_i, i), the model without row i predicts f(x) - c(x, i) e_i / (1 - h_i). scores:
-- e_i / (1 - h_i), with their signs.
function kept.loo(p, f, ds, title)
  local found = posterior.of(p, title)
  local source = dataset.source_of_rows(ds)
  local U = core.posterior_project(found.handle, source, f.stages, f.map)
  local V = core.posterior_project(found.handle, source, f.stages, f.map, true)
  local constant = found.info.constant and 1 / found.info.total or 0
  local residuals, list = ds.y - f:scores(source), {}
  local h = U:mul(V) * core.ones(V:cols(), 1)
  for i = 1, #ds do
    local row, rest = {}, 1 - h:get(i, 1) - constant
    for j = 1, f.targets do row[j] = residuals:get(i, j) / math.max(rest, 1e-12) end
    list[i] = row
  end
  return { projections = V, constant = constant, scores = core.matrix(list) }
end

function kept.split(_, f, ds, title)
  return judged(f, ds, f:scores(dataset.source_of_rows(ds)), title)
end

-- Raises an error for rows on which a pipeline cannot learn what a method needs.
local function check(p, ds, method, title)
  if not p.solver then error(title .. ": this pipeline has no solver", 0) end
  if not ds.X then
    error(title .. ": intervals take rows in memory, and this data set streams: fit without \z
      interval, then p:interval(X, { calibration = rows in memory })", 0)
  end
  if method ~= "loo" then return end
  local others = "; interval = \"folds\" or \"split\""
  if ds.task == "classification" then
    error(title .. ": method \"loo\" is for regressions" .. others, 0)
  end
  posterior.check({ solver = p.solver }, title .. ": method \"loo\"")
  if ds.weights then error(title .. ": method \"loo\" is for rows of one weight" .. others, 0) end
end

-- Learns what a method needs from rows: the training rows, or for "split" other ones.
local function learn(p, ds, method, title)
  local f = p.fitted
  check(p, ds, method, title)
  local _ <close> = core.level "interval"
  ds = target_form.apply(f.form, matching.known(matching.encoded(ds, f), f))
  local made = kept[method](p, f, ds, title)
  made.method, made.rows = method, #ds
  return made
end

-- The bytes of what is kept.
local function bytes_of(made)
  local bytes = 0
  for _, value in pairs(made) do
    if core.is_matrix(value) then bytes = bytes + 8 * value:rows() * value:cols() end
  end
  return bytes
end

--- conformal.fit(p, ds, method, fit): p:fit(ds, { interval = method }). fit(ds): the fit without
--- it.
function conformal.fit(p, ds, method, fit)
  local title, rest = "pipeline:fit", ds
  check(p, ds, method, title)
  if method == "split" then ds, rest = ds:split{ test = SHARE, seed = SEED } end
  fit(ds)
  p.fitted.interval = learn(p, rest, method, title)
  return p
end

--- conformal.check(f): raises an error unless what a loaded model has for intervals is valid.
function conformal.check(f)
  local made = f.interval
  local function shaped(matrix, rows, cols)
    return core.is_matrix(matrix) and matrix:rows() == rows and matrix:cols() == cols
      and not core.find_nonfinite(matrix)
  end
  -- whole numbers from 1 to `most`
  local function whole(matrix, most)
    for i = 1, matrix:cols() do
      local value = math.tointeger(matrix:get(1, i))
      if not value or value < 1 or value > most then return false end
    end
    return true
  end
  local classes, n = f.classes and #f.classes, made.rows
  local fine = math.type(n) == "integer" and n > 0
    and shaped(made.scores, n, classes and 1 or f.targets)
    and (not classes or shaped(made.truth, 1, n) and whole(made.truth, classes))
  if fine and made.method == "folds" then
    local k = made.folds
    fine = math.type(k) == "integer" and k > 0 and not f.learnt and shaped(made.fold, 1, n)
      and whole(made.fold, k) and shaped(made.weights, f.weights:rows(), k * f.targets)
      and shaped(made.constants, 1, k * f.targets)
  elseif fine and made.method == "loo" then
    fine = not classes and not f.learnt and core.is_matrix(made.projections)
      and shaped(made.projections, n, made.projections:cols())
      and type(made.constant) == "number" and made.constant >= 0 and made.constant <= 1
  elseif fine then
    fine = made.method == "split"
  end
  if not fine then error("what it keeps for intervals is not valid", 0) end
end

--- conformal.note(f): a sentence about what the model keeps for intervals; nil without.
function conformal.note(f)
  local made = f.interval
  return made and ("intervals by \"%s\" on %d rows (%.3g MB)"):format(made.method, made.rows,
    bytes_of(made) / 1e6)
end

-- ------------------------------------------------------------ use

local level_rule = { test = function(v) return type(v) == "number" and v > 0 and v < 1 end,
  takes = "a number between 0 and 1" }
local rules = options.declare("pipeline:interval", {
  level = level_rule, calibration = { test = dataset.is, takes = "a data set" },
  method = { choices = METHODS } })
local set_rules = options.declare("pipeline:label_sets", {
  level = level_rule, calibration = rules.calibration, method = rules.method,
  by = { choices = { "class" } } })

-- What is kept, or is made for these options.
local function kept_of(p, o, title)
  local f = p.fitted
  if o.calibration then
    if o.method then error(title .. ": takes method or calibration, not both", 0) end
    return learn(p, o.calibration, "split", title)
  end
  if f.interval and (not o.method or o.method == f.interval.method) then return f.interval end
  if not p.data or o.method == "split" then
    error(title .. ": this model keeps nothing for intervals: fit it with p:fit(ds, { interval = \z
      \"folds\" }), or give rows that it did not learn from, p:interval(X, { calibration = ds })",
      0)
  end
  local method = o.method or "folds"
  warn(("%s: models without %s are learnt from the training rows now; p:fit(ds, { interval = \z
    \"%s\" }) keeps them"):format(title, method == "loo" and "each row" or "each fold", method))
  f.interval = learn(p, p.data, method, title)
  return f.interval
end

-- The place, among n scores in ascending order, of the least that `level` needs.
local function rank_of(level, n, title)
  local rank = math.ceil(level * (n + 1) - 1e-9)
  if rank <= n then return rank end
  error(("%s: level %.6g takes at least %d rows to judge by, and there are %d"):format(title, level,
    math.ceil(level / (1 - level) - 1e-9), n), 0)
end

local BLOCK = 1 << 22 -- numbers of a block of centres

-- Calls f(first, last) for blocks of rows of `count` numbers each.
local function blocks(rows, count, f)
  local step = math.max(1, BLOCK // math.max(count, 1))
  for first = 1, rows, step do f(first, math.min(first + step - 1, rows)) end
end

-- The bounds of target j for the rows of a source, by the models without each fold or row: the
-- lower bound is the (n + 1 - rank)-th of f_i(x) - |r_i|, the upper the rank-th of f_i(x) + |r_i|.
local function plus(made, f, source, j, rank)
  local n, m = made.rows, (core.source_size(source))
  local sizes, low, high = made.scores:column(j):abs():t():copy(), {}, {}
  local centres
  if made.method == "folds" then
    local by = {}
    for fold, said in ipairs(fold_scores(made, f, source)) do
      by[fold] = values(f, said):column(j)
    end
    local rows, ids = core.hcat(table.unpack(by)):t():copy(), {}
    for i = 1, n do ids[i] = math.tointeger(made.fold:get(1, i)) end
    centres = function(first, last)
      return rows:slice(1, made.folds, first, last):copy():select(ids):t()
    end
  else
    local found = posterior.of({ fitted = f }, "pipeline:interval")
    local U = core.posterior_project(found.handle, source, f.stages, f.map)
    local said, r = f:scores(source):column(j), made.scores:column(j)
    centres = function(first, last)
      local rows = last - first + 1
      local moved = U:slice(first, last) * made.projections:t()
        + core.ones(rows, n) * made.constant
      return said:slice(first, last) * core.ones(1, n) - moved:mul(core.ones(rows, 1) * r:t())
    end
  end
  blocks(m, n, function(first, last)
    low[#low + 1], high[#high + 1] = core.conformal_bounds(centres(first, last):copy(), sizes,
      n + 1 - rank, rank)
  end)
  return core.vcat(table.unpack(low)), core.vcat(table.unpack(high))
end

--- conformal.interval(p, X, given): see Pipeline:interval.
function conformal.interval(p, X, given)
  local title = "pipeline:interval"
  local o = options.check(title, given or {}, rules, 0)
  local f = p.fitted
  if f.task ~= "regression" then
    error(title .. ": this model is a classification: p:label_sets(X) gives sets of labels", 0)
  end
  local made = kept_of(p, o, title)
  local rank, source = rank_of(o.level or 0.9, made.rows, title), matching.source(X, f)
  local low, high = {}, {}
  for j = 1, f.targets do
    if made.method == "split" then
      local said = values(f, f:scores(source)):column(j)
      local sizes = made.scores:column(j):t():totable()[1]
      table.sort(sizes)
      low[j], high[j] = said - sizes[rank], said + sizes[rank]
    else
      low[j], high[j] = plus(made, f, source, j, rank)
    end
  end
  low, high = core.hcat(table.unpack(low)), core.hcat(table.unpack(high))
  if f.form then low, high = target_form.undo(f.form, low), target_form.undo(f.form, high) end
  return low, high
end

-- For each class the ranks of its scores: with by = "class" those of its rows alone.
local function ranks_of(made, f, o, title)
  local count, list = {}, {}
  if o.by ~= "class" then
    local rank = rank_of(o.level or 0.9, made.rows, title)
    for k in ipairs(f.classes) do list[k] = rank end
    return list
  end
  for i = 1, made.rows do
    local k = math.tointeger(made.truth:get(1, i))
    count[k] = (count[k] or 0) + 1
  end
  for k, class in ipairs(f.classes) do
    list[k] = rank_of(o.level or 0.9, count[k] or 0, ("%s: class %s"):format(title,
      options.show(class)))
  end
  return list
end

-- A function that says whether class k stays in the set of row i: fewer than ranks[k] of the scores
-- of the rows (of that class, with by = "class") are less than its own.
local function sets_by(made, o, strange, ranks)
  local groups, of = {}, function() return 1 end
  if made.method == "folds" then
    of = function(i) return math.tointeger(made.fold:get(1, i)) end
  end
  for i = 1, made.rows do
    local class = o.by == "class" and math.tointeger(made.truth:get(1, i)) or 1
    groups[of(i)] = groups[of(i)] or {}
    local list = groups[of(i)]
    list[class] = list[class] or {}
    table.insert(list[class], made.scores:get(i, 1))
  end
  for _, group in pairs(groups) do for _, list in pairs(group) do table.sort(list) end end
  -- how many numbers of a sorted list are less than x
  local function less(list, x)
    local low, high = 0, #list
    while low < high do
      local middle = (low + high) // 2
      if list[middle + 1] < x then low = middle + 1 else high = middle end
    end
    return low
  end
  return function(i, k)
    local below = 0
    for part, group in pairs(groups) do
      local list = group[o.by == "class" and k or 1]
      if list then below = below + less(list, strange[part]:get(i, k)) end
    end
    return below < ranks[k]
  end
end

--- conformal.label_sets(p, X, given): see Pipeline:label_sets.
function conformal.label_sets(p, X, given)
  local title = "pipeline:label_sets"
  local o = options.check(title, given or {}, set_rules, 0)
  local f = p.fitted
  if f.task ~= "classification" then
    error(title .. ": this model is a regression: p:interval(X) gives intervals", 0)
  end
  local made = kept_of(p, o, title)
  local ranks, source, strange = ranks_of(made, f, o, title), matching.source(X, f), {}
  if made.method == "folds" then
    for fold, said in ipairs(fold_scores(made, f, source)) do
      strange[fold] = strangeness(f, said)
    end
  else
    strange[1] = strangeness(f, f:scores(source))
  end
  local stays, sets = sets_by(made, o, strange, ranks), {}
  for i = 1, (core.source_size(source)) do
    local set = {}
    for k, class in ipairs(f.classes) do if stays(i, k) then set[#set + 1] = class end end
    sets[i] = set
  end
  return sets
end

-- ------------------------------------------------------------ methods

local Pipeline = recipe.class

--- p:interval(X[, { level = 0.9, calibration = ds, method = "folds" }]): low and high, n x c: the
--- target of a new row lies between them with a probability of about `level` (at least `level` by
--- "split", at least 2 level - 1 by "loo" and "folds", which in practice are near it), if rows are
--- exchangeable; the model may be wrong. They come from what p:fit(ds, { interval = method }) kept:
---
---   "loo"    leave-one-out predictions, for ridge regressions; n x D numbers are kept
---   "folds"  the weights of the models without each of ten folds
---   "split"  the model learns from three quarters of the rows, and the others judge
---
--- Without it, models are learnt from the training rows now (method), or the rows of `calibration`,
--- which the model must not have learnt from, judge: this works for every model. For target = "log"
--- the bounds are those of the values. Each row that judges counts once, whatever its weight.
--- Source: Barber, Candes, Ramdas and Tibshirani 2021.
function Pipeline:interval(X, given)
  recipe.fitted(self, "pipeline:interval", true)
  return objects.call("pipeline:interval", conformal.interval, self, X, given)
end

--- p:label_sets(X[, { level = 0.9, calibration = ds, method = "folds", by = "class" }]): for each
--- row a list of labels, which holds its label with a probability of about `level`: one label where
--- the model is sure, several or none where it is not. As p:interval; method "loo" is for
--- regressions. by = "class": with that probability in each class (Vovk 2012), which takes enough
--- rows of each.
function Pipeline:label_sets(X, given)
  recipe.fitted(self, "pipeline:label_sets", true)
  return objects.call("pipeline:label_sets", conformal.label_sets, self, X, given)
end

return conformal

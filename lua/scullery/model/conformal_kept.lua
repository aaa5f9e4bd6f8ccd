--- What conformal prediction keeps of a fit; conformal.lua makes intervals and label sets of it.
---
---   split   scores of rows that the model did not learn from (Papadopoulos et al. 2002)
---   folds   CV+, the models without each fold judge its rows (Barber et al. 2021; label sets:
---           Romano, Sesia and Candes 2020)
---   loo     jackknife+ of a ridge regression, by its leave-one-out formula (Barber et al. 2021)
---
--- It is f.interval of the fitted model f: { method =, scores = n x c (of label sets n x 1), rows =
--- n }, with folds also { folds = K, fold = 1 x n, weights = D x K c, constants = 1 x K c }, with
--- loo { projections = n x r, constant = 1 / n or 0, row_weights = n x 1 or nil }; of classes also
--- { truth = 1 x n, places of the labels in f.classes }; with the option `by` { by =, columns =,
--- groups = n x 1 }, with `scale` { scale =, spread = n x 1 }; of rows with a time { time = n x 1
--- }.
local core = require "scullery.core"
local component = require "scullery.compose.component"
local dataset = require "scullery.data.dataset"
local folds = require "scullery.data.folds"
local matching = require "scullery.data.matching"
local options = require "scullery.base.options"
local posterior = require "scullery.model.posterior"
local probabilities = require "scullery.model.probabilities"
local recipe = require "scullery.model.recipe"
local stages = require "scullery.compose.stages"
local target_form = require "scullery.model.target_form"

local conformal_kept = {}

--- conformal_kept.METHODS
conformal_kept.METHODS = { "loo", "folds", "split" }

--- conformal_kept.schema_of: what is kept by = "groups" -> the schema of its data set. Groups of a
--- file are numbered within it.
conformal_kept.schema_of = setmetatable({}, { __mode = "k" })

local SEED, FOLDS, SHARE = 0, 10, 0.25

-- Up to so many rows, those of a fold are judged by row stages that did not learn from them either.
-- A row lowers its own standardised values, by much where a column is 0 in nearly all rows: of 400
-- rows of mnist, rows that stages had learnt from were less unusual than new ones, and 0.893 of the
-- sets of a level of 0.9 held the label.
local APART = 20000

-- ------------ how unusual labels are

--- conformal_kept.strangeness(f, scores): n x classes numbers for scores (n x c): the larger, the
--- less a label fits. They do not depend on a calibration, which may come after what is kept.
function conformal_kept.strangeness(f, scores)
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
  if not ds.X then -- the coded targets of a stream are in the order of the model's classes
    local coded = dataset.read_targets(ds)
    for i = 1, coded:rows() do
      found[i] = coded:get(i, 1) > 0 and coded:cols() == 1 and 2 or 1
      for k = 2, coded:cols() do if coded:get(i, k) > 0 then found[i] = k end end
    end
    return found
  end
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

--- conformal_kept.values(f, scores): the predictions of a regression for scores, on the scale on
--- which targets were learnt: means, where scores stand for these.
function conformal_kept.values(f, scores)
  if not f.means then return scores end
  local bare = f:with{}
  bare.form = nil
  return bare:decide(scores)
end

-- ------------ groups, spread and order of rows

-- The places in the columns of the model f of what `by` names: a column, or the levels of a
-- category, which has one column for each.
local function columns_of(f, by, title)
  if math.type(by) == "integer" then
    if by >= 1 and by <= f.dim then return { by } end
    error(("%s: option 'by' got %d, and there are columns 1 to %d"):format(title, by, f.dim), 0)
  end
  local list, start = {}, by .. "="
  for j, name in ipairs(f.names or {}) do
    if name == by then return { j } end
    if name:sub(1, #start) == start then list[#list + 1] = j end
  end
  if #list > 0 then return list end
  local near = options.nearest(by, f.names or {})
  error(("%s: option 'by' names the column '%s', which the model does not have%s"):format(title, by,
    near and (" (did you mean '%s'?)"):format(near) or ""), 0)
end

local READ = 4096 -- rows

--- conformal_kept.groups(columns, source): the group of each row of a source, m x 1: the number in
--- the one column, or the place of the column of a level that is not 0.
function conformal_kept.groups(columns, source)
  local m, found = core.source_size(source), {}
  local some = core.source_columns(source, columns)
  for first = 1, m, READ do
    local X = core.read_rows(some, first, math.min(READ, m - first + 1))
    for i = 1, X:rows() do
      local group = #columns == 1 and X:get(i, 1) or 0
      for k = 1, #columns > 1 and #columns or 0 do
        if X:get(i, k) ~= 0 then group = k end
      end
      found[#found + 1] = { group }
    end
  end
  return core.matrix(found)
end

-- What the training rows or those of a calibration say of groups (option by).
local function grouped(made, f, ds, by, title)
  if by == nil or by == "class" then return end
  made.by = by
  if by ~= "groups" then
    made.columns = columns_of(f, by, title)
    made.groups = conformal_kept.groups(made.columns, dataset.source_of_rows(ds))
    return
  end
  if not ds.groups then
    error(title .. ": by = \"groups\" takes rows with groups, and this data set has none", 0)
  end
  made.groups, made.texts = ds.groups, folds.texts[ds.groups]
  conformal_kept.schema_of[made] = ds.schema
end

--- conformal_kept.spread(p, source, title): sqrt(1 + v) of each row of a source, m x 1, where v is
--- the variance of the function over that of the noise: what scale = "std" divides errors by.
function conformal_kept.spread(p, source, title)
  local f, found = p.fitted, posterior.of(p, title)
  return core.posterior_variance(found.handle, source, f.stages, found.map, true):map(function(v)
    return math.sqrt(1 + v)
  end)
end

-- The same for training rows, by the model without each: (phi - mean)'A^-1 (phi - mean) + 1/n = h
-- becomes h / (1 - w h) for a row of the weight w; the kernel's own rest of landmark maps stays.
local function spread_without(p, source, title, ds)
  local f, found = p.fitted, posterior.of(p, title)
  local function variance(rest)
    return core.posterior_variance(found.handle, source, f.stages, found.map, rest)
  end
  local h, list = variance(false), {}
  local rest = variance(true) - h
  for i = 1, h:rows() do
    local own, weight = h:get(i, 1), ds.weights and ds.weights:get(i, 1) or 1
    list[i] = { math.sqrt(1 + own / math.max(1 - weight * own, 1e-12) + rest:get(i, 1)) }
  end
  return core.matrix(list)
end

--- conformal_kept.order(times, n): the places of n rows in the order of their times (n x 1), of
--- equal ones and without times in the order of rows.
function conformal_kept.order(times, n)
  local list = {}
  for i = 1, n do list[i] = i end
  if times then
    table.sort(list, function(a, b)
      local x, y = times:get(a, 1), times:get(b, 1)
      return x < y or x == y and a < b
    end)
  end
  return list
end

-- ------------ what is kept

-- { scores, truth } of the rows ds, matched and with the targets as learnt, by scores (n x c) of
-- models that did not learn from them.
local function judged(f, ds, scores, title)
  if f.task ~= "classification" then
    return { scores = (dataset.read_targets(ds) - conformal_kept.values(f, scores)):abs() }
  end
  local truth = places(ds, f, title)
  return { scores = chosen(conformal_kept.strangeness(f, scores), truth),
    truth = core.matrix{ truth } }
end

--- conformal_kept.fold_scores(made, f, source): the scores (m x c) of the rows of a source by the
--- model without each fold, a list.
function conformal_kept.fold_scores(made, f, source)
  local all, c, list = f:with{ weights = made.weights, intercept = made.constants }, f.targets, {}
  all.pilot = nil
  local said = all:scores(source)
  for fold = 1, made.folds do
    list[fold] = said:slice(1, said:rows(), (fold - 1) * c + 1, fold * c):copy()
  end
  return list
end

local kept = {}

-- The option `groups` of splits and folds: groups that are judged apart are in all parts.
local function grouping(by) if by == "groups" then return false end end

-- The model whose row stages, too, are learnt from the rows `others` alone: those that change
-- columns one by one; components and selected columns are those of the fit.
local function model_without(p, f, ds, others)
  local part, made = ds:select(others), {}
  local source = dataset.source_of_targets(part)
  for i, stage in ipairs(recipe.row_stages(p)) do
    made[i] = f.stages[i]
    if core.stage_info(made[i]).keeps then
      made[i] = stages.fit(stage, source, table.move(made, 1, i - 1, 1, {}))
    end
  end
  local training <close> = core.training(source, made, f.map, recipe.training_options(p, part))
  local fit = core.solve(training, component.instance(f.solver))[1]
  local one = f:with{ stages = made, weights = fit.weights, intercept = fit.intercept }
  one.pilot = fit.pilot
  return one
end

-- CV+: one model without each fold, on the features of the fit.
function kept.folds(p, f, ds, title, by)
  if f.learnt or recipe.learns(p) then
    error(("%s: method \"folds\" keeps the weights of the model without each fold, and %s; \z
      interval = \"split\" is for every model"):format(title, f.learnt
      and "this model has no weights" or "a stage of this pipeline learns from the targets"), 0)
  end
  local k = math.min(FOLDS, #ds)
  local ids = ds:fold_ids{ k = k, seed = SEED, groups = grouping(by) }
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
  local own, together = {}, (#f.stages == 0 or #ds > APART)
    and conformal_kept.fold_scores(made, f, dataset.source_of_rows(ds))
  for fold = 1, k do
    local others, at = folds.rows(ids, fold)
    local scores = (together and together[fold]:select(at) or model_without(p, f, ds, others)
      :scores(dataset.source_of_rows(ds:select(at)))):totable()
    for place, i in ipairs(at) do own[i] = scores[place] end
  end
  for name, value in pairs(judged(f, ds, core.matrix(own), title)) do made[name] = value end
  return made
end

-- Jackknife+: with e_i the residual of row i, w_i its weight, n the sum of the weights,
-- c(x, i) = w_i (phi(x) - mean)'A^-1 (phi_i - mean) + w_i/n and h_i = c(x_i, i), the model without
-- row i predicts f(x) - c(x, i) e_i / (1 - h_i). scores: e_i / (1 - h_i), with their signs.
function kept.loo(p, f, ds, title)
  local found, w = posterior.of(p, title), ds.weights
  local source = dataset.source_of_rows(ds)
  local U = core.posterior_project(found.handle, source, f.stages, found.map)
  local V = core.posterior_project(found.handle, source, f.stages, found.map, true)
  if w then -- the dual form's training rows have the roots of their weights
    V = V:mul((found.info.rows > 0 and w:map(math.sqrt) or w) * core.ones(1, V:cols()))
  end
  local constant = found.info.constant and 1 / found.info.total or 0
  local residuals, list = ds.y - f:scores(source), {}
  local h = U:mul(V) * core.ones(V:cols(), 1) + (w or core.ones(#ds, 1)) * constant
  for i = 1, #ds do
    local row = {}
    for j = 1, f.targets do
      row[j] = residuals:get(i, j) / math.max(1 - h:get(i, 1), 1e-12)
    end
    list[i] = row
  end
  return { projections = V, constant = constant, scores = core.matrix(list), row_weights = w }
end

function kept.split(_, f, ds, title)
  return judged(f, ds, f:scores(dataset.source_of_rows(ds)), title)
end

-- Raises an error if a pipeline cannot learn from these rows what the method needs. judge: true if
-- the model is fitted, and the rows only calibrate it.
local function check(p, ds, o, title, judge)
  local method = o.method
  if not p.solver then error(title .. ": this pipeline has no solver", 0) end
  if ds.task == "multilabel" then
    error(title .. ": intervals and label sets are for regressions and classifications, and these \z
      targets are multi-label", 0)
  end
  if not ds.X and not judge then
    error(title .. ": intervals learn from rows in memory, and this data set streams: fit \z
      without interval, then p:interval(X, { calibration = rows it did not learn from })", 0)
  end
  if method ~= "loo" then return end
  local others = "; interval = \"folds\" or \"split\""
  if ds.task == "classification" then
    error(title .. ": method \"loo\" is for regressions" .. others, 0)
  end
  posterior.check({ solver = p.solver }, title .. ": method \"loo\"")
end

--- conformal_kept.learn(p, ds, o, title): learns what the method o.method and the options o.by and
--- o.scale need from rows: the training rows, or for "split" other ones.
function conformal_kept.learn(p, ds, o, title)
  local f, method = p.fitted, o.method
  check(p, ds, o, title, method == "split")
  local _ <close> = core.level "interval"
  ds = target_form.apply(f.form, matching.known(matching.encoded(ds, f), f))
  local made = kept[method](p, f, ds, title, o.by)
  made.method, made.rows, made.time = method, #ds, ds.time
  grouped(made, f, ds, o.by, title)
  if o.scale then
    made.scale = o.scale
    made.spread = (method == "split" and conformal_kept.spread or spread_without)(p,
      dataset.source_of_rows(ds), title, ds)
  end
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

-- The rows to learn from, and those that judge: a quarter of them, with `rolling` the last ones.
local function split(ds, o)
  if not o.rolling then return ds:split{ test = SHARE, seed = SEED, groups = grouping(o.by) } end
  local order, first, last = conformal_kept.order(ds.time, #ds), {}, {}
  local count = #ds - math.max(1, #ds * SHARE // 1 | 0)
  table.move(order, 1, count, 1, first)
  table.move(order, count + 1, #order, 1, last)
  return ds:select(first), ds:select(last)
end

--- conformal_kept.fit(p, ds, o, fit): p:fit(ds, { interval = o }). fit(ds): the fit without it.
function conformal_kept.fit(p, ds, o, fit)
  local title, rest = "pipeline:fit", ds
  check(p, ds, o, title)
  if o.method == "split" then ds, rest = split(ds, o) end
  fit(ds)
  p.fitted.interval = conformal_kept.learn(p, rest, o, title)
  return p
end

--- conformal_kept.valid(f): raises an error unless what a loaded model has for intervals is valid.
function conformal_kept.valid(f)
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
  local function column(matrix) return matrix == nil or shaped(matrix, n, 1) end
  fine = fine and column(made.row_weights) and column(made.groups) and column(made.spread)
    and column(made.time) and (made.scale == nil) == (made.spread == nil)
    and (made.by == nil) == (made.groups == nil)
  for _, j in ipairs(fine and made.columns or {}) do
    fine = fine and math.type(j) == "integer" and j >= 1 and j <= f.dim
  end
  if fine and made.scale then posterior.check(f, "its intervals") end
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

--- conformal_kept.note(f): a sentence about what the model keeps for intervals; nil without.
function conformal_kept.note(f)
  local made = f.interval
  if not made then return nil end
  local more = (made.scale and ", over the std" or "")
    .. (made.by and (", by %s"):format(made.by) or "")
  return ("intervals by \"%s\" on %d rows%s (%.3g MB)"):format(made.method, made.rows, more,
    bytes_of(made) / 1e6)
end

return conformal_kept

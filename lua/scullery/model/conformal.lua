--- Conformal prediction: intervals and label sets that hold the target of a new row with a given
--- probability, whatever the distribution, if the rows are exchangeable. What they need of a fit is
--- in conformal_kept.lua; intervals of rows in time order are in conformal_rolling.lua.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local conformal_kept = require "scullery.model.conformal_kept"
local conformal_rolling = require "scullery.model.conformal_rolling"
local folds = require "scullery.data.folds"
local matching = require "scullery.data.matching"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local posterior = require "scullery.model.posterior"
local recipe = require "scullery.model.recipe"
local target_form = require "scullery.model.target_form"
local warn = require "scullery.base.warn"

local conformal = {}

-- ------------ options

local level_rule = { test = options.is_share, takes = "a number between 0 and 1" }
local by_rule = { test = function(v) return type(v) == "string" or math.type(v) == "integer" end,
  takes = "the name or number of a column, or \"groups\"" }
local scale_rule = { choices = { "std" } }
local method_rule = { choices = conformal_kept.METHODS }

local fit_rules = options.declare("pipeline:fit interval", { method = method_rule, by = by_rule,
  scale = scale_rule, rolling = { type = "boolean" } })
local rules = options.declare("pipeline:interval", {
  level = level_rule, calibration = { test = dataset.is, takes = "a data set" },
  method = method_rule, by = by_rule, scale = scale_rule,
  rolling = { test = function(v) return v == true or math.type(v) == "integer" and v > 0 end,
    takes = "a number of rows, or true for all earlier ones" },
  adapt = { test = options.is_share, takes = "a step between 0 and 1" } })
local set_rules = options.declare("pipeline:label_sets", {
  level = level_rule, calibration = rules.calibration, method = method_rule,
  by = { test = by_rule.test,
    takes = "\"class\", the name or number of a column, or \"groups\"" } })

-- A method, or a list of it and its options, as a table with the field method.
local function method_of(given)
  if type(given) ~= "table" or getmetatable(given) then given = { given } end
  local o = { method = given[1] }
  for name, value in pairs(given) do if name ~= 1 then o[name] = value end end
  return o
end

--- conformal.fit_rule: the option `interval` of p:fit.
conformal.fit_rule = { test = function(v)
  local o = method_of(v)
  for _, method in ipairs(conformal_kept.METHODS) do
    if o.method == method then return true end
  end
  return false
end, takes = "\"loo\", \"folds\", \"split\", or a list of one of them with by, scale and rolling" }

--- conformal.fit(p, ds, given, fit): p:fit(ds, { interval = given }). fit(ds): the fit without it.
function conformal.fit(p, ds, given, fit)
  local o = options.check("pipeline:fit, interval", method_of(given), fit_rules, 0)
  if o.rolling and o.method ~= "split" then
    error("pipeline:fit, interval: rolling = true keeps the last rows, and goes with \"split\"", 0)
  end
  if o.scale then
    posterior.check({ solver = p.solver }, "pipeline:fit, interval: scale = \"std\"")
  end
  return conformal_kept.fit(p, ds, o, fit)
end

conformal.check, conformal.note = conformal_kept.valid, conformal_kept.note

--- conformal.needs_posterior(f): whether the intervals of the model take its posterior.
function conformal.needs_posterior(f)
  return f.interval ~= nil and (f.interval.method == "loo" or f.interval.scale ~= nil)
end

-- ------------ what is kept, or made

--- conformal.calibrate(p, ds, title): what a regression keeps becomes the errors on these rows,
--- which it did not learn from; the options of what it kept stay.
function conformal.calibrate(p, ds, title)
  local old = p.fitted.interval or {}
  p.fitted.interval = conformal_kept.learn(p, ds, { method = "split", by = old.by,
    scale = old.scale }, title)
end

-- Whether what is kept answers these options.
local function serves(made, o)
  return made and (not o.method or o.method == made.method)
    and (o.scale == nil or o.scale == made.scale)
    and (o.by == nil or o.by == "class" or o.by == made.by)
end

-- fitted model -> what was made for options that what it keeps does not answer
local made_since = setmetatable({}, { __mode = "k" })

-- What is kept, or is made for these options. The model keeps the first that is made, if it is for
-- no options: what an interval without options is made from does not depend on earlier calls.
local function kept_of(p, o, title)
  local f = p.fitted
  local wanted = { method = o.method, by = o.by, scale = o.scale }
  if o.calibration then
    if o.method then error(title .. ": takes method or calibration, not both", 0) end
    local old = f.interval or {}
    wanted = { method = "split", by = o.by or old.by, scale = o.scale or old.scale }
    return conformal_kept.learn(p, o.calibration, wanted, title)
  end
  if serves(f.interval, o) then return f.interval end
  local before = made_since[f]
  if before and before.by == (o.by ~= "class" and o.by or nil) and before.scale == o.scale
    and serves(before, o) then
    return before
  end
  if not p.data or o.method == "split" then
    local extra = (o.by and o.by ~= "class" and ", by = " .. options.show(o.by) or "")
      .. (o.scale and ", scale = \"std\"" or "")
    error(("%s: this model keeps nothing for %s: fit it with p:fit(ds, { interval = %s }), or \z
      give rows that it did not learn from, p:interval(X, { calibration = ds })"):format(title,
      extra == "" and "intervals" or "these intervals",
      extra == "" and "\"folds\"" or "{ \"folds\"" .. extra .. " }"), 0)
  end
  wanted.method = o.method or f.interval and f.interval.method ~= "split" and f.interval.method
    or "folds"
  warn(("%s: models without %s are learnt from the training rows now; p:fit(ds, { interval = \z
    \"%s\" }) keeps them"):format(title, wanted.method == "loo" and "each row" or "each fold",
    wanted.method))
  local made = conformal_kept.learn(p, p.data, wanted, title)
  if f.interval or made.by or made.scale then made_since[f] = made else f.interval = made end
  return made
end

-- The place, among n scores in ascending order, of the least that `level` needs.
local function rank_of(level, n, title)
  local rank = math.max(1, math.ceil(level * (n + 1) - 1e-9))
  if rank <= n then return rank end
  error(("%s: level %.6g takes at least %d rows to judge by, and there are %d"):format(title, level,
    math.ceil(level / (1 - level) * (1 - 1e-9)), n), 0)
end

-- ------------ groups

-- The groups of new rows that data sets say, in the numbers of those that are kept.
local function own_groups(made, X, title)
  if not (dataset.is(X) and X.groups) then
    error(title .. ": by = \"groups\" takes a data set with groups as X", 0)
  end
  local texts = folds.texts[X.groups]
  if not made.texts and not texts then
    if X.schema and X.schema.groups
      and not rawequal(X.schema, conformal_kept.schema_of[made]) then
      error(title .. ": groups of a file are numbered within it, and those of X are of another \z
        file than the model's: by = the name of a column", 0)
    end
    return X.groups
  end
  local place, codes = {}, {}
  for k, text in ipairs(made.texts or {}) do place[text] = k end
  for i = 1, X.groups:rows() do
    codes[i] = { texts and place[texts[math.tointeger(X.groups:get(i, 1))]] or 0 }
  end
  return core.matrix(codes)
end

-- The name of a group: its text, the column of its level, or its number.
local function name_of(made, f, group)
  local columns = made.columns or {}
  if #columns > 1 then return columns[group] and f.names[columns[group]] or "another level" end
  if made.texts then return made.texts[group] or "an unknown text" end
  return options.show(math.tointeger(group) or group)
end

-- The parts of new rows and of rows that judge with the same group: a list of { at = places of new
-- rows, of = places of rows that judge, rank }; without groups one part of all, without places.
local function parts_of(made, f, X, source, level, title)
  if not made.by then return { { rank = rank_of(level, made.rows, title) } } end
  local groups = made.columns and conformal_kept.groups(made.columns, source)
    or own_groups(made, X, title)
  local parts, of = {}, {}
  for i = 1, groups:rows() do
    local group = groups:get(i, 1)
    if not of[group] then
      of[group] = { at = {}, of = {}, group = group }
      parts[#parts + 1] = of[group]
    end
    table.insert(of[group].at, i)
  end
  for i = 1, made.rows do
    local part = of[made.groups:get(i, 1)]
    if part then table.insert(part.of, i) end
  end
  for _, part in ipairs(parts) do
    part.rank = rank_of(level, #part.of, ("%s: the group of row %d (%s)"):format(title, part.at[1],
      name_of(made, f, part.group)))
  end
  return parts
end

-- ------------ intervals

local BLOCK = 1 << 22 -- numbers of a block of centres

local function picked(matrix, list) return list and matrix:select(list) or matrix end

-- The predictions for target j, by the models without each fold or row that judges, as a function
-- of the places of new rows: rows x those of a part. centres(made, p, source, j) -> f(part, rows).
local centres = {}

function centres.folds(made, p, source, j)
  local f, by = p.fitted, {}
  for fold, said in ipairs(conformal_kept.fold_scores(made, f, source)) do
    by[fold] = conformal_kept.values(f, said):column(j)
  end
  local rows = core.hcat(table.unpack(by)):t():copy()
  return function(judges, first, last, at)
    local ids = {}
    for k, i in ipairs(judges) do ids[k] = math.tointeger(made.fold:get(1, i)) end
    local some = at and rows:t():copy():select(at):t():copy() or rows
    return some:slice(1, made.folds, first, last):copy():select(ids):t()
  end
end

function centres.loo(made, p, source, j)
  local f = p.fitted
  local found = posterior.of(p, "pipeline:interval")
  local U = core.posterior_project(found.handle, source, f.stages, found.map)
  local said, r = f:scores(source):column(j), made.scores:column(j)
  return function(judges, first, last, at)
    local n = #judges
    local some, own = picked(U, at):slice(first, last), picked(said, at):slice(first, last)
    local V, errors = made.projections, r
    local w = made.row_weights or core.ones(made.rows, 1)
    if n < made.rows then
      V, errors, w = V:select(judges), r:copy():select(judges), w:select(judges)
    end
    local ones = core.ones(last - first + 1, 1)
    local moved = some * V:t() + ones * w:t() * made.constant
    return own * core.ones(1, n) - moved:mul(ones * errors:t())
  end
end

-- The bounds of target j for the rows of a source, by the models without each fold or row: the
-- lower bound is the (n + 1 - rank)-th of f_i(x) - |r_i|, the upper the rank-th of f_i(x) + |r_i|;
-- with scale, of f_i(x) -+ s(x) |r_i| / s_i.
local function plus(made, p, source, j, parts, spread)
  local m, of = (core.source_size(source)), centres[made.method](made, p, source, j)
  local sizes = made.scores:column(j):abs()
  if spread then sizes = sizes:div(made.spread) end
  local low, high = core.zeros(m, 1), core.zeros(m, 1)
  for _, part in ipairs(parts) do
    local judges = part.of or conformal_kept.order(nil, made.rows)
    local n, own = #judges, picked(sizes, part.of):t():copy()
    local rows, s = part.at and #part.at or m, spread and picked(spread, part.at)
    local step = math.max(1, BLOCK // math.max(n, 1))
    for first = 1, rows, step do
      local last = math.min(first + step - 1, rows)
      local said = of(judges, first, last, part.at)
      -- bounds scale with s(x): those of f_i(x) / s(x), times s(x)
      local by = s and s:slice(first, last)
      if by then said = said:div(by * core.ones(1, n)) end
      local a, b = core.conformal_bounds(said:copy(), own, n + 1 - part.rank, part.rank)
      if by then a, b = a:mul(by), b:mul(by) end
      for i = first, last do
        local at = part.at and part.at[i] or i
        low:set(at, 1, a:get(i - first + 1, 1))
        high:set(at, 1, b:get(i - first + 1, 1))
      end
    end
  end
  return low, high
end

-- The same by rows that the model did not learn from: f(x) -+ the rank-th of |r_i|.
local function apart(made, said, j, parts, spread)
  local sizes = made.scores:column(j):abs()
  if spread then sizes = sizes:div(made.spread) end
  local width = core.zeros(said:rows(), 1)
  for _, part in ipairs(parts) do
    local list = picked(sizes, part.of):t():totable()[1]
    table.sort(list)
    for k = 1, part.at and #part.at or said:rows() do
      width:set(part.at and part.at[k] or k, 1, list[part.rank])
    end
  end
  if spread then width = width:mul(spread) end
  return said - width, said + width
end

--- conformal.interval(p, X, given): see Pipeline:interval.
function conformal.interval(p, X, given)
  local title = "pipeline:interval"
  local o = options.check(title, given or {}, rules, 0)
  local f = p.fitted
  if f.task ~= "regression" then
    error(title .. (f.task == "multilabel" and ": intervals are for regressions"
      or ": this model is a classification: p:label_sets(X) gives sets of labels"), 0)
  end
  conformal_rolling.check(o, X, title)
  local made, level = kept_of(p, o, title), o.level or 0.9
  if o.rolling and made.by then
    error(("%s: rolling takes the rows before a row, of all groups, and this model keeps bounds \z
      by groups (by = %s)"):format(title, options.show(made.by)), 0)
  end
  local source = matching.source(X, f)
  local spread = made.scale and conformal_kept.spread(p, source, title)
  local said = conformal_kept.values(f, f:scores(source))
  local parts = not o.rolling and parts_of(made, f, X, source, level, title)
  local low, high = {}, {}
  for j = 1, f.targets do
    if o.rolling then
      low[j], high[j] = conformal_rolling.bounds(f, made, said:column(j), j, spread, X, {
        level = level, rolling = o.rolling, adapt = o.adapt, rank_of = rank_of, title = title })
    elseif made.method == "split" then
      low[j], high[j] = apart(made, said:column(j), j, parts, spread)
    else
      low[j], high[j] = plus(made, p, source, j, parts, spread)
    end
  end
  low, high = core.hcat(table.unpack(low)), core.hcat(table.unpack(high))
  if f.form then low, high = target_form.undo(f.form, low), target_form.undo(f.form, high) end
  return low, high
end

-- ------------ label sets

-- The scores of the rows of each part that judge, by model without a fold, in ascending order:
-- { [fold, or 1] = { [class, or 1] = list } }, and the rank of each class.
local function ranked(made, f, o, part, title)
  local by_class = o.by == "class"
  local lists, count, ranks = {}, {}, {}
  for _, i in ipairs(part.of or conformal_kept.order(nil, made.rows)) do
    local fold = made.method == "folds" and math.tointeger(made.fold:get(1, i)) or 1
    local class = by_class and math.tointeger(made.truth:get(1, i)) or 1
    lists[fold] = lists[fold] or {}
    lists[fold][class] = lists[fold][class] or {}
    table.insert(lists[fold][class], made.scores:get(i, 1))
    count[class] = (count[class] or 0) + 1
  end
  for _, classes in pairs(lists) do for _, list in pairs(classes) do table.sort(list) end end
  for k, class in ipairs(f.classes) do
    ranks[k] = by_class and rank_of(o.level or 0.9, count[k] or 0, ("%s: class %s"):format(title,
      options.show(class))) or part.rank
  end
  return lists, ranks
end

-- How many numbers of a sorted list are less than x.
local function less(list, x)
  local low, high = 0, #list
  while low < high do
    local middle = (low + high) // 2
    if list[middle + 1] < x then low = middle + 1 else high = middle end
  end
  return low
end

-- Adds the sets of the rows of a part: class k stays in the set of row i where fewer than ranks[k]
-- of the scores of the rows (of that class, with by = "class") are less than its own.
local function add_sets(sets, made, f, o, part, strange, title)
  local lists, ranks = ranked(made, f, o, part, title)
  for place = 1, part.at and #part.at or strange[1]:rows() do
    local i, set = part.at and part.at[place] or place, {}
    for k, class in ipairs(f.classes) do
      local below = 0
      for fold, classes in pairs(lists) do
        local list = classes[o.by == "class" and k or 1]
        if list then below = below + less(list, strange[fold]:get(i, k)) end
      end
      if below < ranks[k] then set[#set + 1] = class end
    end
    sets[i] = set
  end
end

--- conformal.label_sets(p, X, given): see Pipeline:label_sets.
function conformal.label_sets(p, X, given)
  local title = "pipeline:label_sets"
  local o = options.check(title, given or {}, set_rules, 0)
  local f = p.fitted
  if f.task ~= "classification" then
    error(title .. (f.task == "multilabel" and ": sets of labels are for classifications, and \z
      p:predict(X) gives the labels of a multi-label model"
      or ": this model is a regression: p:interval(X) gives intervals"), 0)
  end
  local made = kept_of(p, o, title)
  local source, strange, sets = matching.source(X, f), {}, {}
  if made.method == "folds" then
    for fold, said in ipairs(conformal_kept.fold_scores(made, f, source)) do
      strange[fold] = conformal_kept.strangeness(f, said)
    end
  else
    strange[1] = conformal_kept.strangeness(f, f:scores(source))
  end
  local parts = o.by == "class" and { {} }
    or parts_of(made, f, X, source, o.level or 0.9, title)
  for _, part in ipairs(parts) do add_sets(sets, made, f, o, part, strange, title) end
  return sets
end

-- ------------ methods

local Pipeline = recipe.class

--- p:interval(X[, { level = 0.9, calibration = ds, method = "folds", by =, scale =, rolling =,
--- adapt = }]): low and high, n x c: the target of a new row lies between them with a probability
--- of about `level` (at least `level` by "split", at least 2 level - 1 by "loo" and "folds", which
--- in practice are near it), if rows are exchangeable; the model may be wrong. They come from what
--- p:fit(ds, { interval = method }) kept:
---
---   "loo"    leave-one-out predictions, for ridge regressions; n x D numbers are kept
---   "folds"  the weights of the models without each of ten folds
---   "split"  the model learns from three quarters of the rows, and the others judge
---
--- Without it, models are learnt from the training rows now (method), or the rows of `calibration`,
--- which the model must not have learnt from, judge: this works for every model. For target = "log"
--- the bounds are those of the values. Each row that judges counts once, whatever its weight.
---
--- by: with that probability in each group (Vovk 2012): the name or number of a column with a few
--- values, or of a category of a table; "groups": those of data sets. Each group takes its own rows
--- to judge by; not with rolling. scale = "std", of ridge regressions: errors are divided by the
--- standard deviation of a row, so that bounds are wider where the model knows less. Both may be
--- given at the fit, interval = { "loo", by = "region", scale = "std" }: a saved model has them,
--- and `calibration` takes them too, unless others are given with it.
---
--- rolling = N, for rows in the order of time (the data set's time, or their own order): the bounds
--- of a row come from the N rows before it (true: all): of X, if it is a data set with targets, and
--- of the rows that judged before. interval = { "split", rolling = true } lets the last quarter of
--- the rows judge. adapt = 0.02, with it: the level moves by this step after each row, so that the
--- share inside nears `level` whatever the rows do (Gibbs and Candes 2021); bounds may be infinite.
--- Source: Barber, Candes, Ramdas and Tibshirani 2021.
function Pipeline:interval(X, given)
  recipe.fitted(self, "pipeline:interval", true)
  return objects.call("pipeline:interval", conformal.interval, self, X, given)
end

--- p:label_sets(X[, { level = 0.9, calibration = ds, method = "folds", by = "class" }]): for each
--- row a list of labels, which holds its label with a probability of about `level`: one label where
--- the model is sure, several or none where it is not. As p:interval; method "loo" is for
--- regressions. by = "class": with that probability in each class (Vovk 2012), which takes enough
--- rows of each; or by groups of rows, as for p:interval.
function Pipeline:label_sets(X, given)
  recipe.fitted(self, "pipeline:label_sets", true)
  return objects.call("pipeline:label_sets", conformal.label_sets, self, X, given)
end

return conformal

--- Cross-validation: each fold is judged by a model that was fitted without it. The folds share one
--- pass over the rows, unless features or row stages are learnt in a way that would show a model
--- the fold that judges it (recipe.learns).
local automatic = require "scullery.model.automatic"
local core = require "scullery.core"
local criteria = require "scullery.model.criteria"
local dataset = require "scullery.data.dataset"
local folding = require "scullery.data.folds"
local multilabel = require "scullery.model.multilabel"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local progress = require "scullery.base.progress"
local component = require "scullery.compose.component"
local recipe = require "scullery.model.recipe"
local row_stages = require "scullery.compose.stages"
local target_form = require "scullery.model.target_form"
local text = require "scullery.compose.text"
local instantiation = require "scullery.compose.instantiation"

local judging = {}

-- A training (the engine's pass over rows). If shared.wider has a training with more parameters, it
-- takes the sums over the rows from that one, which is then released.
local function new_training(p, ds, source, prepared, folds, shared)
  local given = recipe.training_options(p, ds, folds)
  given.checkpoint = shared.checkpoint
  local training = core.training(source, prepared.stages, prepared.map, given)
  local wider = shared.wider
  if wider and wider.training then
    core.training_take_sums(training, wider.training)
    wider.training = nil
  end
  return training
end

--- judging.prepare(pipeline, ds, source, choices, folds, estimate, shared): stages, map, solver
--- and training for a choice of options. shared: a table that stores stages, map and training for
--- choices that differ only in the solver; its field `wider` is that of the same choice with more
--- parameters, and `checkpoint` the engine's checkpoint, or nil.
function judging.prepare(p, ds, source, choices, folds, estimate, shared)
  shared = shared or {}
  local prepared = shared.prepared
    or recipe.prepare(p, source, recipe.row_weights(p, ds), choices, shared.stages)
  local solver = recipe.make_solver(p, source, prepared, choices, estimate)
  shared.training = shared.training or new_training(p, ds, source, prepared, folds, shared)
  shared.prepared = prepared
  return { prepared = prepared, solver = solver, training = shared.training }
end

--- judging.solve(made, without, path): fits[k] for the values of the path, or the one fit of a
--- solver without a searched path option. without: a fold, or a list of folds.
function judging.solve(made, without, path)
  return core.solve(made.training, component.instance(made.solver), without,
    path and path.values or nil)
end

-- ------------ from candidates to numbers

local MOST = 2 ^ 25 -- the most decisions in memory at once

local function classes_of(ds) return ds.task == "classification" and ds.classes or nil end

-- values[c][f] of candidates[f][c], from the engine's counts.
local function by_tallies(training, candidates, criterion, targets)
  local values = {}
  for f, fold in ipairs(core.score(training, candidates)) do
    for c, tally in ipairs(fold) do
      values[c] = values[c] or {}
      values[c][f] = criterion.tally(tally, targets)
    end
  end
  return values
end

-- The same from the decisions on each row, for as many candidates at once as memory allows: first
-- one candidate, whose number of decisions decides how many are judged at once after it.
local function by_decisions(training, candidates, criterion, about)
  local values, count, at_once = {}, #candidates[1], nil
  local first = 1
  repeat
    local last = math.min(count, first + (at_once or 1) - 1)
    local some = {}
    for f, fits in ipairs(candidates) do some[f] = table.move(fits, first, last, 1, {}) end
    local decisions, targets = core.decisions_apart(training, some)
    local n, t = targets:rows(), targets:cols()
    at_once = at_once or math.max(1, MOST // math.max(n * t, 1))
    for c = first, last do
      local own = decisions:slice(1, n, (c - first) * t + 1, (c - first + 1) * t)
      values[c] = {}
      for f, rows in ipairs(about.rows) do
        values[c][f] = objects.titled(#about.rows > 1 and "fold " .. f or nil,
          (about.form or about.means) and target_form.measured or criterion.measured, criterion,
          own:select(rows), targets:select(rows), { classes = about.classes, form = about.form,
            means = about.means, solver = about.solver,
            weights = about.weights and about.weights:select(rows) })
      end
    end
    first = last + 1
  until first > count
  return values
end

-- values[c][f], the criterion of candidate c on fold f. about: classes, solver, weights, rows (the
-- row numbers of each fold), targets (the number of target columns), form (of transformed targets).
local function judge(training, candidates, criterion, about)
  about.means = criteria.means(about.solver, about.classes and "classification" or "regression")
  if criterion.tally and not about.form and not about.means then
    return by_tallies(training, candidates, criterion, about.targets)
  end
  return by_decisions(training, candidates, criterion, about)
end

-- The number of columns of the coded targets: 1 for two classes, else one for each class.
local function targets_of(ds)
  local classes = classes_of(ds)
  if classes then return #classes == 2 and 1 or #classes end
  return ds.X and ds.y:cols() or select(3, core.source_size(ds.source))
end

-- ------------ one run: values[candidate][fold]

-- One pass sums the rows of each fold; the models without each fold come from these sums; a second
-- pass judges each model on its fold.
local function shared_stages(run, ds, source, folds, k, criterion)
  local made = judging.prepare(run.pipeline, ds, source, run.choices, folds, nil, run.shared)
  local all, rows = {}, {}
  for f = 1, k do all[f], rows[f] = f, {} end
  for i, fold in ipairs(folds) do table.insert(rows[fold], i) end
  local candidates = judging.solve(made, all, run.path)
  local values = judge(made.training, candidates, criterion, { classes = classes_of(ds),
    solver = made.solver, weights = ds.weights, rows = rows, targets = targets_of(ds),
    form = ds.form })
  return { values = values, candidates = candidates, made = made }
end

--- judging.split(ds, folds, f): the rows that fold f is learnt from, and the rows that it judges.
function judging.split(ds, folds, f)
  local inside, outside = folding.rows(folds, f)
  return ds:select(inside), ds:select(outside)
end

-- values[c][1] of fits judged on `test` only.
local function judge_on(test, run, made, fits, criterion)
  local classes, rows = classes_of(test), {}
  local walk <close> = core.training(dataset.source_of_targets(test), made.prepared.stages,
    made.prepared.map, { classes = classes and #classes or 0, dtype = run.pipeline.dtype,
      block = run.pipeline.block })
  for i = 1, #test do rows[i] = i end
  return judge(walk, { fits }, criterion, { classes = classes, solver = made.solver,
    weights = test.weights, rows = { rows }, targets = targets_of(test), form = test.form })
end

-- The row stages of a run, fitted to a part of the rows, if one learns from targets; else nil.
-- These take long, so that they are stored in `known` (text of the stages -> fitted stages) for
-- other runs with the same stages.
local function stages_of(run, ds, source, known)
  if not recipe.learns_from_targets(run.pipeline) then return nil end
  local parts = {}
  for i, stage in ipairs(run.pipeline.rows) do
    parts[i] = tostring(row_stages.resolved(stage, run.choices))
  end
  local name = table.concat(parts, " ")
  known[name] = known[name] or recipe.fit_stages(run.pipeline, source,
    recipe.row_weights(run.pipeline, ds), run.choices)
  return known[name]
end

-- Row stages and learnt parameters fitted without each fold, so that nothing of a fold is used
-- before it is judged. This costs one pass for each fold.
local function stages_per_fold(run, ds, folds, k, criterion)
  local values, candidates = {}, {}
  folds.known = folds.known or {}
  local level <close> = progress.level{ name = "fold", total = k }
  for f = 1, k do
    local train, test = judging.split(ds, folds, f)
    local p, rows = run.pipeline, dataset.source_of_targets(train)
    if automatic.open(p) then
      if f == 1 then recipe.tell_dense(p, rows, recipe.row_weights(p, train)) end
      p = automatic.choose(p, train)
    end
    folds.known[f] = folds.known[f] or {}
    local made = judging.prepare(p, train, rows, run.choices, nil, nil,
      { stages = stages_of(run, train, rows, folds.known[f]) })
    candidates[f] = judging.solve(made, 0, run.path)
    for c, one in ipairs(judge_on(test, run, made, candidates[f], criterion)) do
      values[c] = values[c] or {}
      values[c][f] = one[1]
    end
    level:step()
  end
  return { values = values, candidates = candidates }
end

--- judging.chosen(p, choices): the unfitted pipeline with the choices filled in.
function judging.chosen(p, choices)
  local copy = setmetatable({}, recipe.class)
  for key, value in pairs(p) do copy[key] = value end
  copy.fitted, copy.data, copy.variants, copy.rows, copy.after = nil, nil, nil, {}, {}
  for _, name in ipairs{ "rows", "after" } do
    for i, stage in ipairs(p[name]) do copy[name][i] = row_stages.resolved(stage, choices) end
  end
  copy.features = p.features and instantiation.resolved(p.features, choices)
  copy.solver = component.resolved(p.solver, choices)
  copy.text = p.text and text.resolved(p.text, choices)
  return copy
end

-- A run whose solver learns one label after the other: each candidate is fitted without each fold.
local function label_by_label(run, ds, folds, k, criterion)
  local values, candidates = {}, {}
  ds = target_form.original(ds)
  for c = 1, run.path and #run.path.values or 1 do
    local choices = {}
    for path, value in pairs(run.choices) do choices[path] = value end
    if run.path then choices[run.path.path] = run.path.values[c] end
    values[c] = {}
    for f = 1, k do
      local train, test = judging.split(ds, folds, f)
      local p = judging.chosen(run.pipeline, choices):fit(train)
      values[c][f] = criterion:measured(p:predict(test), test.y, {})
      candidates[f] = candidates[f] or {}
      candidates[f][c] = p.fitted.report
    end
  end
  return { values = values, candidates = candidates }
end

--- judging.run(run, ds, source, folds, k, criterion, stages): {values[candidate][fold], candidates,
--- made}. run: pipeline, choices, path, shared. k: the number of folds that are judged, 1 for a
--- hold-out. stages: "shared" or "fold".
function judging.run(run, ds, source, folds, k, criterion, stages)
  if multilabel.apart(run.pipeline.solver, ds) then
    return label_by_label(run, ds, folds, k, criterion)
  end
  ds, source = recipe.rows_of(run.pipeline, ds, source, run.choices)
  local chooses = ds.X and automatic.open(run.pipeline)
  local apart = stages == "fold" or folds.pairs or chooses
  if apart or recipe.learns(run.pipeline, run.choices) then
    return stages_per_fold(run, ds, folds, k, criterion)
  elseif k == 1 then
    -- as shared_stages for a hold-out: only the features of the training rows are summed
    local made = judging.prepare(run.pipeline, ds, source, run.choices, folds, nil, run.shared)
    local fits = judging.solve(made, 1, run.path)
    local _, test = judging.split(ds, folds, 1)
    return { values = judge_on(test, run, made, fits, criterion), candidates = { fits },
      made = made }
  end
  return shared_stages(run, ds, source, folds, k, criterion)
end

--- judging.of_model(criterion, f, ds): the criterion of a fitted model on other rows in memory.
function judging.of_model(criterion, f, ds)
  if f.form or f.means then
    return target_form.measured(criterion, f:scores(dataset.source_of_rows(ds)),
      target_form.apply(f.form, ds).y, { form = f.form, weights = ds.weights,
        means = f.means and f:solver_instance() })
  end
  if criterion.tally then return criterion.tally(f:tally(ds), f.targets) end
  return criterion:measured(f:scores(dataset.source_of_rows(ds)), ds:targets(),
    { classes = classes_of(ds), solver = f.solver, weights = ds.weights })
end

-- ------------ folds

--- judging.mean(values): the mean of a list of numbers, such as the scores of folds, and its
--- standard error (nil for one number).
function judging.mean(values)
  if #values == 1 then return values[1] end
  local sum, square = 0, 0
  for _, v in ipairs(values) do sum = sum + v end
  local mean = sum / #values
  for _, v in ipairs(values) do square = square + (v - mean) ^ 2 end
  return mean, math.sqrt(square / (#values - 1) / #values)
end

--- judging.folds(ds, o, seed): the folds of a cross-validation or a search. o: the options folds,
--- count, gap, horizon, groups and shuffle (see p:cv).
function judging.folds(ds, o, seed)
  local folds = ds:fold_ids{ folds = o.folds, count = o.count, gap = o.gap, horizon = o.horizon,
    groups = o.groups, shuffle = o.shuffle, seed = seed }
  if o.folds == "loo" and folding.number(folds) > 2000 then
    error(("folds = \"loo\" makes %d folds, one for each row or group; up to 2000 are tried: give \z
      folds = 10"):format(folding.number(folds)), 0)
  end
  return folds
end

--- judging.check_folds(ds, folds, k): raises an error if a fold leaves rows of one class only.
function judging.check_folds(ds, folds, k)
  if ds.task ~= "classification" or not ds.y then return end
  local T = ds:targets()
  local plain = #ds.classes == 2
  for f = 1, k do
    local seen, count = {}, 0
    local function look(i)
      local class = plain and T:get(i, 1) or T[i]:argmax(2):get(1, 1)
      if not seen[class] then count = count + 1 end
      seen[class] = true
      return count > 1
    end
    for _, i in ipairs(folds.pairs and folds.pairs[f][1] or {}) do if look(i) then break end end
    for i, fold in ipairs(folds) do
      if not folds.pairs and fold ~= f and look(i) then break end
    end
    if count < 2 then
      error(k == 1 and "without the hold-out all rows have one class: there is nothing to tell \z
        apart; give a smaller one" or ("without fold %d all rows have one class: there is \z
        nothing to tell apart; give fewer folds"):format(f), 0)
    end
  end
end

--- judging.unconverged(candidates, c): the number of fits of candidate c that reached the iteration
--- limit.
function judging.unconverged(candidates, c)
  local count = 0
  for _, fits in ipairs(candidates) do
    if fits[c].status == "iterations exhausted" then count = count + 1 end
  end
  return count
end

-- ------------ cross-validation of one recipe

local Result = objects.class("cross-validation", { example = "cv",
  fields = "mean stderr folds score repeats seed k unconverged" })

local MOST_SHOWN = 20 -- folds

function Result:__tostring()
  local values, shown = {}, math.min(self.k, MOST_SHOWN)
  for i, v in ipairs(self.folds) do values[i] = ("%.4g"):format(v) end
  local lines = { ("%s %.6g +- %.2g (%d folds%s, seed %d)"):format(self.score, self.mean,
    self.stderr, self.k, self.repeats > 1 and (", %d times"):format(self.repeats) or "",
    self.seed) }
  for r = 1, self.repeats do
    local first = (r - 1) * self.k
    lines[#lines + 1] = "  folds: " .. table.concat(values, "  ", first + 1, first + shown)
      .. (self.k > shown and ("  ... %d more"):format(self.k - shown) or "")
  end
  if self.unconverged > 0 then
    lines[#lines + 1] = ("  %d fit%s did not converge"):format(self.unconverged,
      self.unconverged == 1 and "" or "s")
  end
  return table.concat(lines, "\n")
end

local rules = options.declare("pipeline:cv", {
  folds = { test = folding.rule.test, takes = folding.rule.takes, default = 5 },
  count = folding.count_rule, gap = folding.gap_rule, horizon = folding.horizon_rule,
  groups = folding.groups_rule, shuffle = { type = "boolean" },
  repeats = { type = "integer", low = 1, default = 1 },
  score = criteria.rule,
  seed = { type = "integer", default = 0 },
  stages = { choices = { "shared", "fold" }, default = "shared" },
  progress = progress.rule,
})

-- p:cv with checked options: a Result.
local function cross_validate(self, data, o)
  if not self.solver then error("the pipeline has no solver", 0) end
  if recipe.is_searched(self) then
    error("an option is sc.choose{...}: p:search(ds, { folds = 5 }) tries its values", 0)
  end
  local ds = target_form.learn(self.target, recipe.encoded(self, dataset.coerce(data)),
    self.solver)
  if o.repeats > 1 and math.type(o.folds) ~= "integer" then
    error("option 'repeats' draws new folds each time, and goes with a number of folds", 0)
  end
  local criterion, source, coded = criteria.of(o.score, ds.task), dataset.source_of_targets(ds)
  multilabel.check_judged(self.solver, ds, o, criterion)
  local result = setmetatable({ score = criterion.name, repeats = o.repeats, seed = o.seed,
    folds = {}, unconverged = 0 }, Result)
  local means, squares = 0, 0
  local level <close> = progress.level{ name = "cross-validation", total = o.repeats }
  for r = 1, o.repeats do
    local folds = judging.folds(ds, o, o.seed + r - 1)
    result.k = folding.number(folds)
    judging.check_folds(ds, folds, result.k)
    -- the folds of a stream cannot be taken apart: one choice serves them all
    local p = ds.X and self or automatic.fill(self, ds)
    local run = judging.run({ pipeline = p, choices = {} }, ds, source, folds, result.k, criterion,
      o.stages)
    dataset.check_seen(coded)
    local mean, stderr = judging.mean(run.values[1])
    means, squares = means + mean, squares + stderr ^ 2
    table.move(run.values[1], 1, result.k, #result.folds + 1, result.folds)
    result.unconverged = result.unconverged + judging.unconverged(run.candidates, 1)
    level:step()
  end
  result.mean, result.stderr = means / o.repeats, math.sqrt(squares / o.repeats)
  return result
end

--- judging.cv(pipeline, data, options): see Pipeline:cv.
function judging.cv(self, data, given)
  local o = options.check("pipeline:cv", given, rules, 0)
  return progress.watched("pipeline:cv", o.progress, cross_validate, self, data, o)
end

return judging

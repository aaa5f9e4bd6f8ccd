--- Probabilities of classes: from the solver's own loss, or calibrated by Platt scaling (1999) or
--- isotonic regression (Zadrozny and Elkan 2002) on out-of-fold or held-out scores. Folds share one
--- pass, as in a search; only the n x c scores are stored.
local core = require "scullery.core"
local automatic = require "scullery.model.automatic"
local class_codes = require "scullery.data.targets"
local dataset = require "scullery.data.dataset"
local judging = require "scullery.model.judging"
local matching = require "scullery.data.matching"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local progress = require "scullery.base.progress"
local component = require "scullery.compose.component"
local recipe = require "scullery.model.recipe"
local warn = require "scullery.base.warn"

local probabilities = {}

local rules = options.declare("pipeline:calibrate", {
  method = { choices = { "platt", "isotonic" }, default = "platt" },
  folds = { type = "integer", low = 2 },
  seed = { type = "integer" },
  data = { test = dataset.is, takes = "a data set" },
  progress = progress.rule,
})

--- probabilities.check(f): raises an error for a regression.
function probabilities.check(f)
  if f.task ~= "classification" then
    error("this model is a regression: it has no classes to give probabilities of", 0)
  end
end

-- ------------ how it was done, for info() and
-- print

local Calibration = objects.class("calibration", {
  fields = "method sigmoids slopes offsets curves folds seed rows note" })
probabilities.class = Calibration

function Calibration:__tostring()
  if self.method == "loss" then return "the solver's own, from its loss" end
  local where = self.folds and ("out-of-fold scores of %d folds, seed %d"):format(self.folds,
    self.seed) or "scores of held-out data"
  return ("%s on %s (%d rows)%s"):format(self.method == "isotonic" and "isotonic regression"
    or "Platt's sigmoids", where, self.rows, self.note and "; note: " .. self.note or "")
end

-- The record of a calibration: one sigmoid for each column of scores, { slope, offset, converged,
-- residual, ... } with P(class) = 1/(1 + exp(slope score + offset)), and how it was made. The note
-- is about the last column with a fault.
local function account(sigmoids, given)
  local self = setmetatable(given, Calibration)
  self.method, self.sigmoids, self.slopes, self.offsets = "platt", sigmoids, {}, {}
  for j, one in ipairs(sigmoids) do
    self.slopes[j], self.offsets[j] = one.slope, one.offset
    if not one.converged then
      self.note = ("the sigmoid of column %d is left with a gradient of %.1e"):format(j,
        one.residual)
    end
    if one.slope >= 0 then
      self.note =
        ("the scores of column %d do not grow with the probability of their class"):format(j)
    end
  end
  return self
end

local FEW = 1000 -- rows

-- The same for isotonic curves, one for each column of scores. Warns if there are few rows.
local function account_of_curves(curves, given)
  local self = setmetatable(given, Calibration)
  self.method, self.curves = "isotonic", {}
  for j, one in ipairs(curves) do self.curves[j] = { scores = one.scores, shares = one.shares } end
  if self.rows < FEW then
    self.note = ("with less than %d rows a curve follows their noise; method = \"platt\" has two \z
      parameters for each class"):format(FEW)
    warn(("pipeline:calibrate: %d rows: %s"):format(self.rows, self.note))
  end
  return self
end

-- ------------ scores of rows that were not
-- seen

-- Raises an error if all rows of a class are in one fold: the model without that fold would not
-- know the class. class_at(i): the position of row i's class.
local function check_folds(class_at, classes, row_weights, folds)
  local seen_in, several, rows = {}, {}, {}
  for k in ipairs(classes) do rows[k] = 0 end
  for i, fold in ipairs(folds) do
    if not row_weights or row_weights:get(i, 1) > 0 then
      local k = class_at(i)
      rows[k] = rows[k] + 1
      several[k] = several[k] or (seen_in[k] and seen_in[k] ~= fold)
      seen_in[k] = fold
    end
  end
  for k, label in ipairs(classes) do
    if not several[k] then
      error(("the class %s has %d row%s that count%s: without one of the folds there would be \z
        none; calibrate on held-out rows, p:calibrate{ data = ds }"):format(
        options.show(label), rows[k], rows[k] == 1 and "" or "s", rows[k] == 1 and "s" or ""), 0)
    end
  end
end

-- class_at for a stream, whose classes are not in memory: read from the coded targets (n x c) of
-- the pass that scored it.
local function class_in_targets(targets)
  local c = targets:cols()
  return function(i)
    if c == 1 then return targets:get(i, 1) > 0 and 2 or 1 end
    for j = 1, c do if targets:get(i, j) > 0 then return j end end
  end
end

-- The scores and targets of all rows, fold by fold, with row stages and features that are learnt
-- without each fold, as in judging.run; third: the fits, fourth: the row weights.
local function learnt_apart(self, ds, folds, k)
  local p, scores, targets, weights, candidates = automatic.as_fitted(self), {}, {}, {}, {}
  for fold = 1, k do
    local train, test = judging.split(ds, folds, fold)
    local made = judging.prepare(p, train, dataset.source_of_targets(train), {}, nil, nil, {})
    candidates[fold] = { judging.solve(made, 0)[1] }
    local walk <close> = core.training(dataset.source_of_targets(test), made.prepared.stages,
      made.prepared.map, { classes = #ds.classes, dtype = p.dtype, block = p.block })
    scores[fold], targets[fold] = core.decisions_apart(walk, { candidates[fold] })
    weights[fold] = test.weights
  end
  return core.vcat(table.unpack(scores)), core.vcat(table.unpack(targets)), candidates,
    ds.weights and core.vcat(table.unpack(weights))
end

-- Out-of-fold scores of the training rows: the score of a row is by a model that was fitted without
-- the row's fold. Returns n x c scores and targets, a table about how they were made, and the row
-- weights.
local function out_of_fold(self, f, o)
  local ds, k = self.data, o.folds or 5
  if f.pruned then
    error("a pruned model is calibrated on held-out rows: p:calibrate{ data = ds }", 0)
  end
  if not ds then error("the training rows of this model are not in memory: give data =", 0) end
  local seed = o.seed or 0
  local folds = ds:fold_ids{ k = k, seed = seed }
  if ds.X then
    local place = class_codes.places(ds.classes)
    check_folds(function(i) return place[ds.y:get(i, 1)] end, f.classes, ds.weights, folds)
  end
  local all, candidates, weights, scores, targets = {}, {}, ds.weights
  if recipe.learns(self) then
    if not ds.X then
      error("a stage or the features learn from rows, and are learnt again without each fold, \z
        which takes rows in memory: give data =", 0)
    end
    scores, targets, candidates, weights = learnt_apart(self, ds, folds, k)
  else
    local training <close> = core.training(dataset.source_of_targets(ds), f.stages, f.map,
      recipe.training_options(self, ds, folds))
    for fold = 1, k do all[fold] = fold end
    for fold, fits in ipairs(core.solve(training, component.instance(f.solver), all)) do
      candidates[fold] = { fits[1] }
    end
    scores, targets = core.decisions_apart(training, candidates)
  end
  if not ds.X then check_folds(class_in_targets(targets), f.classes, nil, folds) end
  local count = judging.unconverged(candidates, 1)
  return scores, targets, { folds = k, seed = seed, rows = #ds, note = count > 0
    and ("%d of %d models without a fold ran out of iterations"):format(count, #candidates)
    or nil }, weights
end

-- The weights of the calibration rows: 0 for rows with labels that the model does not know; second:
-- the number of these rows. The coded targets of such a row are 0 for two classes, and all negative
-- for more.
local function without_strangers(ds, targets)
  local w, count = ds.weights, 0
  local c = targets:cols()
  for i = 1, targets:rows() do
    local known = c == 1 and targets:get(i, 1) ~= 0
    for j = 1, c > 1 and c or 0 do known = known or targets:get(i, j) > 0 end
    if not known then
      if count == 0 then w = w and w:astype("float64") or core.ones(targets:rows(), 1) end
      w:set(i, 1, 0)
      count = count + 1
    end
  end
  return w, count
end

-- The model's scores of other rows, o.data; returns as out_of_fold does. Rows with labels that the
-- model does not know have weight 0.
local function held_out(_, f, o)
  local ds = o.data
  if o.folds or o.seed then error("takes folds and seed, or data, not both", 0) end
  if ds.task ~= "classification" or not (ds.y or ds.source) then
    error("option 'data' takes rows with classes", 0)
  end
  local walk <close> = f:judging(matching.judged(ds, f))
  local scores, targets = core.decisions_apart(walk, { { f:candidate() } })
  local weights, count = without_strangers(ds, targets)
  if not ds.X then matching.tell_strangers(ds, count) end
  return scores, targets, { rows = #ds - count }, weights
end

-- Raises an error unless both sides of every sigmoid or curve have rows.
local function check_sides(list, classes)
  for j, one in ipairs(list) do
    local first, second = classes[1], classes[2]
    if #list > 1 then first, second = nil, classes[j] end
    local missing = one.positives == 0 and second or one.negatives == 0 and first
    if missing then
      error(("no row of the class %s counts among those to calibrate on"):format(
        options.show(missing)), 0)
    end
  end
end

local function calibrate(self, o)
  local f = self.fitted
  local _ <close> = core.level "calibration"
  local scores, targets, how, weights = (o.data and held_out or out_of_fold)(self, f, o)
  local curved = o.method == "isotonic"
  local found = (curved and core.isotonic or core.platt)(scores, targets, weights)
  check_sides(found, f.classes)
  f.calibration = (curved and account_of_curves or account)(found, how)
  return self
end

--- probabilities.calibrate(p, options): see Pipeline:calibrate.
function probabilities.calibrate(self, given)
  probabilities.check(self.fitted)
  local o = options.check("pipeline:calibrate", given, rules, 0)
  return progress.watched("pipeline:calibrate", o.progress, calibrate, self, o)
end

-- ------------ use

--- probabilities.known(f): true if the model can compute probabilities without more rows. With
--- class weights the solver's own probabilities would refer to another population, so they do not
--- count.
function probabilities.known(f)
  if f.calibration then return true end
  if f.class_weights then return false end
  if f.own_loss == nil then -- cached: whether the solver's loss defines probabilities
    local solver = component.instance(f.solver)
    f.own_loss = core.own_probabilities(solver, core.zeros(1, f.targets)) ~= nil
  end
  if not f.own_loss then return false end
  f.calibration = setmetatable({ method = "loss" }, Calibration)
  return true
end

--- probabilities.of(f, scores): n x c scores -> n x classes probabilities.
function probabilities.of(f, scores) return f:predict(scores, "probabilities") end

return probabilities

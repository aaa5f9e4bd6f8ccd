--- Fitted models: what learning made, apart from the recipe (the pipeline) and from the rows. A
--- model predicts, and holds no training data.
---
--- Fields: stages (fitted row stages), map (the engine's features, nil without), map_info (what
--- they are), origin (what the map was made from: see Features:map; kept = a list of lists of
--- parameters where it was pruned), features, solver (the recipe's, with the choices of a search
--- put in), weights (D x c), intercept (1 x c) and pilot (1 x D, nil: zeros), with scores (phi -
--- pilot) weights + intercept, or learnt (a model that is not linear in the features); targets (c),
--- task, classes, names, schema (of the data, where it has one), n and dim (of the rows learnt
--- from), dtype, block, weighted (whether rows counted differently),
--- class_weights (as given), report (status, iterations, gap, residual, tolerance, jitter, loss,
--- score, note), seconds (a list of {stage, seconds}), components (of sc.pca), calibration. Fields
--- that are plain values are saved by themselves (scullery.saving).
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local component = require "scullery.compose.component"

local Model = { __name = "model", example = "p.fitted" }
Model.__index = Model

local model = {}

function Model:__tostring()
  return ("a fitted %s of %d rows x %d columns"):format(self.task or "model", self.n or 0,
    self.dim or 0)
end

--- model.new(fields)
function model.new(fields) return setmetatable(fields, Model) end

--- model.is(value)
function model.is(value) return getmetatable(value) == Model end

--- Whether the features have a K (or a kernel as phi), so that there is a norm a'Ga.
function Model:has_kernel() return self.map_info ~= nil and self.map_info.has_kernel end

--- Whether the features are an RKHS weighting: with a K between parameters.
function Model:is_weighting()
  return self:has_kernel() and not self.map_info.section
end

--- Predictions for the rows of a source, or from scores of rows: what = "scores" (n x c), "labels"
--- (n x 1 numbers of classes, or places in classes where labels are texts; of a regression the
--- scores) or "probabilities" (n x classes; they must be known: scullery.model.probabilities).
function Model:predict(source, what)
  local calibration = what == "probabilities" and self.calibration
  local by = calibration and (calibration.method == "loss" and self:solver_instance()
    or calibration.sigmoids) or nil
  return core.predict(source, self, what, by)
end

--- n x c scores of the rows of a source.
function Model:scores(source) return self:predict(source, "scores") end

--- Labels of scores: see Model:predict.
function Model:decide(scores) return self:predict(scores, "labels") end

--- A walk over the rows of a data set that judges candidates; rows count once whatever their
--- weight.
function Model:judging(ds)
  options.expect(dataset.is(ds), "a data set", ds)
  return core.training(dataset.source_of_targets(ds), self.stages, self.map,
    { classes = ds.task == "classification" and #ds.classes or 0, dtype = self.dtype,
      block = self.block })
end

--- The model as a candidate of core.score; of other weights where they are given.
function Model:candidate(weights)
  if self.learnt then return { model = self.learnt } end
  return { weights = weights or self.weights, intercept = self.intercept, pilot = self.pilot }
end

--- The 1 x c constant of scores = features weights + constant: the intercept is about the pilot.
function Model:constant()
  return self.pilot and self.intercept - self.pilot * self.weights or self.intercept:copy()
end

--- The same model with its intercept about 0, for weights that are to change while the constant
--- stays.
function Model:about_zero()
  if not self.pilot then return self end
  local copy = self:with{ intercept = self:constant() }
  copy.pilot = nil
  return copy
end

--- {rows, wrong, square, target_sum, target_square} of the model on a data set.
function Model:tally(ds)
  local judging <close> = self:judging(ds)
  return core.score(judging, { { self:candidate() } })[1][1]
end

--- ||alpha|| = sqrt(a'Ga) where there is a K, else ||a||; over all targets.
function Model:norm()
  if not self:has_kernel() then return self.weights:norm() end
  self.norm_found = self.norm_found or core.map_norm(self.map, self.weights)
  return self.norm_found
end

--- The engine keeps a common factor exp(log_scale) of the features apart; features that are written
--- out have it back unless that would underflow. Weights for such features are the model's times
--- this.
function Model:exported_factor()
  local info = self.map_info
  return info and math.exp(info.left_out - info.log_scale) or 1
end

--- The solver's instance, as it was when it learnt.
function Model:solver_instance() return component.instance(self.solver) end

--- How far the map's quadrature has missed its tolerance so far: a sentence, or nil.
function Model:quadrature_note()
  local gap = self.map and core.quadrature_gap(self.map) or 0
  if gap == 0 then return nil end
  return ("the quadrature of E K phi missed its tolerance: its last two rules differ by %.1e of \z
    the largest value"):format(gap)
end

--- The model with other fields.
function Model:with(fields)
  options.expect(type(fields) == "table", "a table of fields", fields)
  local copy = {}
  for key, value in pairs(self) do copy[key] = value end
  for key, value in pairs(fields) do copy[key] = value end
  return setmetatable(copy, Model)
end

objects.guard_methods(Model)

return model

--- Fitted models: the result of learning, separate from the recipe (the pipeline) and from the
--- rows. A model predicts, and holds no training data.
---
--- Fields: stages (fitted row stages), map (the engine's features, nil without), map_info (facts
--- about them), after and base (of row stages after the features: these, fitted, and the map before
--- them), origin (the fields that the map was made from: see instantiation.map; kept = a list of
--- lists of parameters if it was pruned), features, solver (the recipe's, with the choices of a
--- search), weights (D x c), intercept (1 x c) and pilot (1 x D, nil: zeros), with scores (phi -
--- pilot) weights + intercept, or learnt (a model that is not linear in the features); targets (c),
--- task, classes, names, schema (of the data, if it has one), n and dim (of the training rows),
--- dtype, block, weighted (true if rows had different weights), class_weights (as given), form
--- (how targets were transformed: see target_form.lua), means (true if the solver's loss turns
--- scores into means, which are the predictions), report
--- (status, iterations, gap, residual, tolerance, jitter, loss, score, note), seconds (a list of
--- {stage, seconds}), components (of sc.pca), relevance (of sc.relevance: 1 x d), calibration,
--- chosen (a sentence about options that the fit chose), growth (of T = "auto": see growing.grow)
--- and open (the names of these options: see automatic.open). encoder: the engine's, of the texts
--- of a pipeline with sc.text; dim is then the number of its columns.
--- Fields that are plain values are saved as they are (model/saving.lua).
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

--- model:has_kernel(): true if the features have a K (or a kernel as phi), so that a'Ga is a norm.
function Model:has_kernel() return self.map_info ~= nil and self.map_info.has_kernel end

--- model:is_weighting(): true if the features are an RKHS weighting: with a K between parameters.
function Model:is_weighting()
  return self:has_kernel() and not self.map_info.section
end

--- model:predict(source, what): predictions for the rows of a source, or from the scores of rows.
--- what = "scores" (n x c), "labels" (n x 1 numeric classes, or positions in classes if labels are
--- texts; for a regression the scores, or the means that they stand for) or "probabilities" (n x
--- classes; see probabilities.known).
function Model:predict(source, what)
  local calibration = what == "probabilities" and self.calibration
  local by = calibration and (calibration.method == "loss" and self:solver_instance()
    or calibration.curves or calibration.sigmoids) or nil
  if what == "labels" and self.means then by = self:solver_instance() end
  return core.predict(source, self, what, by)
end

--- model:scores(source): n x c scores of the rows of a source.
function Model:scores(source) return self:predict(source, "scores") end

--- model:decide(scores): labels of scores: see model:predict.
function Model:decide(scores) return self:predict(scores, "labels") end

--- model:judging(ds): a pass over the rows of a data set that judges candidates; rows are not
--- weighted.
function Model:judging(ds)
  options.expect(dataset.is(ds), "a data set", ds)
  return core.training(dataset.source_of_targets(ds), self.stages, self.map,
    { classes = ds.task == "classification" and #ds.classes or 0, dtype = self.dtype,
      block = self.block })
end

--- model:candidate([weights]): the model as a candidate of core.score, with other weights if given.
function Model:candidate(weights)
  if self.learnt then return { model = self.learnt } end
  return { weights = weights or self.weights, intercept = self.intercept, pilot = self.pilot }
end

--- model:constant(): the 1 x c constant of scores = features weights + constant. The intercept is
--- relative to the pilot.
function Model:constant()
  return self.pilot and self.intercept - self.pilot * self.weights or self.intercept:copy()
end

--- model:about_zero(): the same model with pilot 0, for changes of the weights that keep the
--- constant.
function Model:about_zero()
  if not self.pilot then return self end
  local copy = self:with{ intercept = self:constant() }
  copy.pilot = nil
  return copy
end

--- model:tally(ds): {rows, wrong, square, target_sum, target_square} of the model on a data set.
function Model:tally(ds)
  local judging <close> = self:judging(ds)
  return core.score(judging, { { self:candidate() } })[1][1]
end

--- model:norm(): ||alpha|| = sqrt(a'Ga) with a K, else ||a||; over all targets.
function Model:norm()
  if not self:has_kernel() then return self.weights:norm() end
  self.norm_found = self.norm_found or core.map_norm(self.map, self.weights)
  return self.norm_found
end

--- model:exported_factor(): the engine stores a common factor exp(log_scale) of the features
--- separately; exported features include it unless it underflows. Weights for exported features are
--- the model's weights times this factor.
function Model:exported_factor()
  local info = self.map_info
  return info and math.exp(info.left_out - info.log_scale) or 1
end

--- model:solver_instance(): the solver's instance with the options of the fit.
function Model:solver_instance() return component.instance(self.solver) end

--- model:quadrature_note(): a sentence if the map's quadrature has missed its tolerance, or nil.
function Model:quadrature_note()
  local gap = self.map and core.quadrature_gap(self.map) or 0
  if gap == 0 then return nil end
  return ("the quadrature of E K phi missed its tolerance: its last two rules differ by %.1e of \z
    the largest value"):format(gap)
end

--- model:with(fields): a copy with some fields replaced.
function Model:with(fields)
  options.expect(type(fields) == "table", "a table of fields", fields)
  local copy = {}
  for key, value in pairs(self) do copy[key] = value end
  for key, value in pairs(fields) do copy[key] = value end
  return setmetatable(copy, Model)
end

--- model:changed(fields): a copy with other weights: what was learnt about the old ones, the
--- calibration, intervals and the norm, is dropped.
function Model:changed(fields)
  local copy = self:with(fields)
  copy.calibration, copy.interval, copy.norm_found = nil, nil, nil
  return copy
end

objects.guard_methods(Model)

return model

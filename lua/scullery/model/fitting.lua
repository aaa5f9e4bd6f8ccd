--- Fitting: how a pipeline learns from a data set, and which results it keeps.
local checkpoint = require "scullery.model.checkpoint"
local constant = require "scullery.model.constant"
local core = require "scullery.core"
local criteria = require "scullery.model.criteria"
local dataset = require "scullery.data.dataset"
local density = require "scullery.model.density"
local fingerprint = require "scullery.data.fingerprint"
local model = require "scullery.model.model"
local multilabel = require "scullery.model.multilabel"
local options = require "scullery.base.options"
local plan = require "scullery.model.plan"
local progress = require "scullery.base.progress"
local stages = require "scullery.compose.stages"
local warn = require "scullery.base.warn"
local weighting = require "scullery.model.weights"
local width = require "scullery.model.width"
local component = require "scullery.compose.component"
local recipe = require "scullery.model.recipe"
local target_form = require "scullery.model.target_form"
local automatic = require "scullery.model.automatic"

local fitting = {}

-- A fit warns if a larger share of the whole-number features than this was clipped.
local CLIPPED = 1e-4

--- fitting.model(p, { rows, columns }, prepared, fields): a fitted model of this recipe, with the
--- fields that every model has and these.
local function model_of(self, source_size, prepared, fields)
  local n, d = source_size[1], source_size[2]
  local means = fields.solver and criteria.means(fields.solver, fields.task) ~= nil or nil
  local outputs = target_form.outputs(fields.solver, fields.task)
  return model.new{ means = means, outputs = outputs > 1 and outputs or nil,
    stages = prepared.stages, map = prepared.map,
    base = prepared.base, after = prepared.after, origin = prepared.origin,
    seconds = prepared.seconds,
    components = prepared.components, relevance = prepared.relevance, features = self.features,
    exchanged = prepared.exchanged,
    map_info = prepared.map and core.map_info(prepared.map), n = n, dim = d, dtype = self.dtype,
    block = self.block }:with(fields)
end
fitting.model = model_of

-- The note about a width that does not fit the data (see width.note), also printed as a warning; or
-- nil.
local function width_note(ds, prepared, features)
  local note = width.note(dataset.source_of_rows(ds), prepared.stages,
    prepared.base or prepared.map, features)
  if note then warn(note) end
  return note
end

-- The fields of the solver's result that the report copies.
local reported = { "status", "iterations", "gap", "residual", "tolerance", "jitter", "loss",
  "score" }

--- fitting.report(fit, model[, width_said, dense]): the report of a model: the fields of
--- `reported`, the share of clipped features, and all notes as one text. width_said: the result of
--- width_note; dense: a note of density.lua, or nil.
local function report_of(fit, made, width_said, dense)
  local report, notes = { note = fit.note }, { fit.note }
  for _, name in ipairs(reported) do report[name] = fit[name] end
  notes[#notes + 1] = made:quadrature_note()
  notes[#notes + 1] = width_said
  notes[#notes + 1] = dense
  if made.map_info and made.map_info.jitter > 0 then
    notes[#notes + 1] = ("%.0e of its mean diagonal was added to k(W, W), which is singular \z
      without"):format(made.map_info.jitter)
  end
  report.note = #notes > 0 and table.concat(notes, "; ") or nil
  local info = made.map and core.map_info(made.map)
  report.clipped = info and info.rounded > 0 and info.clipped / info.rounded or nil
  return report
end
fitting.report = report_of

--- fitting.warn(p, fit): a line on stderr if the fit did not converge, or features were clipped.
function fitting.warn(self, fit)
  if fit.status ~= "converged" and fit.status ~= "stopped" then
    warn(("solver.%s did not converge: %s%s"):format(self.solver.name, fit.status,
      fit.note and ": " .. fit.note or ""))
  end
  local clipped = self.fitted.report.clipped
  if clipped and clipped > CLIPPED then
    warn(("%.2g %% of the whole-number features lay beyond the range that the first 2048 rows \z
      have, and were clipped: the first rows are not typical; shuffle the rows, or take dtype = \z
      \"float64\""):format(100 * clipped))
  end
end

-- ------------ keeping

--- fitting.keep(p, ds, prepared, solver, fit[, features, chosen]): stores the model and its
--- training rows in the pipeline, and prints warnings about the fit. features: those with the
--- options that the fit chose; by default the pipeline's. chosen: { about = a sentence about these
--- options, growth = that of T, or nil }. Returns the pipeline.
function fitting.keep(self, ds, prepared, solver, fit, features, chosen)
  options.expect(dataset.is(ds), "a data set and a fit", ds)
  local made = model_of(self, { ds:size() }, prepared, { solver = solver, weights = fit.weights,
    intercept = fit.intercept, pilot = fit.pilot, learnt = fit.model,
    targets = fit.targets or fit.weights:cols(),
    task = ds.task, classes = ds.classes, names = ds.names, schema = ds.schema,
    encoder = ds.encoder,
    weighted = (self.class_weights or ds.weights) ~= nil,
    class_weights = self.class_weights, chosen = chosen and chosen.about, form = ds.form,
    growth = chosen and chosen.growth,
    open = chosen and automatic.open(self) or nil })
  made.features = features or made.features
  made.report = report_of(fit, made, width_note(ds, prepared, made.features),
    density.tell(prepared.dense))
  local counted = made.map and weighting.of(ds, self.class_weights)
  made.report.exact = counted and core.map_exact(made.map, counted) or nil
  if made.report.score and recipe.learns_from_targets(self) then
    local said = "a row stage learnt from the targets, which the solver's estimate of the error \z
      does not take into account: p:cv does"
    made.report.note = made.report.note and made.report.note .. "; " .. said or said
  end
  self.fitted, self.data, self.classes = made, target_form.original(ds), ds.classes
  self.sums_kept = nil
  fitting.warn(self, fit)
  local worse = constant.note(self, self.data)
  if worse then
    warn(worse)
    made.report.note = made.report.note and made.report.note .. "; " .. worse or worse
  end
  return self
end

-- ------------ learning

--- fitting.check_data(ds, title): raises an error for data without rows or columns, and for a
--- classification that has one class only or more classes than rows. The labels of a stream are
--- not known before the pass, and are checked after it (dataset.check_seen).
local function check_data(ds, title)
  local n, d = ds:size()
  if n == 0 then error(title .. ": the data set has no rows", 0) end
  if d == 0 then
    error(title .. ": the data set has no columns: there is nothing to learn from", 0)
  end
  if ds.task ~= "classification" then return end
  local c = #ds.classes
  if c < 2 then
    error(("%s: all rows have one class (%s): there is nothing to tell apart"):format(title,
      tostring(ds.classes[1])), 0)
  end
  if c > n then
    error(("%s: %d classes in %d rows: are these numbers meant as task = \"regression\"?"):format(
      title, c, n), 0)
  end
  if ds.y then
    local present = ds:class_counts()
    local seen = 0
    for _, count in ipairs(present) do if count > 0 then seen = seen + 1 end end
    if seen < 2 then
      error(title .. ": all rows have one class: there is nothing to tell apart", 0)
    end
  end
end

fitting.check_data = check_data

--- fitting.check_processes(ds, title): raises an error where there are more processes than rows,
--- and where rows in memory or a plugin in use are not the same in all.
function fitting.check_processes(ds, title)
  local rows, count = ds:size(), core.process_count()
  local hosts, transport = core.process_hosts()
  if transport then component.used["transport " .. transport] = true end
  if rows >= count then
    fingerprint.rows_agree(ds)
    return fingerprint.plugins_agree(component.used)
  end
  error(("%s: fewer rows (%d) than processes (%d, the first on %s), of which each takes some \z
    rows: start at most %d"):format(title, rows, count, hosts[1], rows), 0)
end

-- The model of a pipeline without a solver: row stages, features, and for sc.pca after features the
-- principal components as weights, so that scores = (phi - mean) V'.
local function learn_rows(self, ds)
  local _ <close> = core.level "fit"
  fingerprint.rows_agree(ds)
  local with_targets = recipe.learns_from_targets(self) and (ds.y or not ds.X)
  local source = with_targets and dataset.source_of_targets(ds) or dataset.source_of_rows(ds)
  local row_weights = with_targets and recipe.row_weights(self, ds) or nil
  local prepared = recipe.prepare(self, source, row_weights)
  density.tell(prepared.dense)
  local made = model_of(self, { ds:size() }, prepared, { names = ds.names,
    encoder = ds.encoder })
  if not self.components then return made end
  local began = core.now()
  local found = stages.components(source, made.stages, made.map, self.components.given.k)
  made.weights, made.intercept = found.vectors:t():copy(), found.mean * found.vectors:t() * -1
  made.components = stages.explained(found)
  made.seconds[#made.seconds + 1] = { tostring(self.components), core.now() - began }
  return made
end

-- Fits without storing the result. Returns the pipeline with all options filled in, what
-- recipe.prepare made, the solver, the engine's fit, and what was chosen (or nil). stored: a
-- checkpoint, or nil; budget: of T = "auto", or nil; tiles: processes share matrices.
local function learn(self, ds, stored, budget, tiles)
  local _ <close> = core.level "fit"
  local source, coded = dataset.source_of_targets(ds)
  local p, began, chosen, ready, tell = self, core.now(), nil, nil, nil
  local bytes, waited = core.process_exchanged()
  local dense
  if automatic.open(self) then
    dense = recipe.tell_dense(self, source, recipe.row_weights(self, ds))
    p, chosen, ready, tell = automatic.choose(self, ds, stored, budget)
  end
  local choosing = core.now() - began
  local prepared = ready and ready.prepared
    or recipe.prepare(p, source, recipe.row_weights(p, ds))
  began = core.now()
  local solver = recipe.make_solver(p, source, prepared)
  prepared.dense = dense or prepared.dense or density.of_solver(solver, source, prepared)
  density.tell(prepared.dense)
  local given = recipe.training_options(p, ds)
  given.once, given.tiles = true, tiles
  given.checkpoint = stored and stored:begin(fitting.LAST_PART, ready and ready.sums)
  local training <close> = ready and ready.training or core.training(source, prepared.stages,
    prepared.map, given)
  local result = core.solve(training, component.instance(solver))[1]
  dataset.check_seen(coded)
  if tell then tell() end
  if chosen then prepared.seconds[#prepared.seconds + 1] = { "choosing", choosing } end
  prepared.seconds[#prepared.seconds + 1] = { tostring(p.solver), core.now() - began }
  if core.process_count() > 1 then -- of these seconds
    local all, seconds = core.process_exchanged()
    prepared.exchanged = { bytes = all - bytes, seconds = seconds - waited }
    prepared.seconds[#prepared.seconds + 1] = {
      ("exchanges of %.3g MB between processes"):format(prepared.exchanged.bytes / 1e6),
      prepared.exchanged.seconds }
  end
  return p, prepared, solver, result, chosen
end

--- fitting.LAST_PART: the part of a checkpoint (c:begin) that is the fit itself, after all
--- choices.
fitting.LAST_PART = 1

--- fitting.check_budget(p, budget): raises an error for a budget where T is not "auto".
function fitting.check_budget(self, budget)
  if budget and not (self.solver and self.features and self.features.T == "auto") then
    error("option 'budget' is for features with T = \"auto\", which this pipeline does not have", 0)
  end
end

--- fitting.run(p, ds, o): p:fit for a data set. o: the options progress, checkpoint, every,
--- restart, budget and tiles.
function fitting.run(self, ds, o)
  local watching = o.progress
  fitting.check_budget(self, o.budget)
  if recipe.is_searched(self) then
    error("pipeline:fit: an option is sc.choose{...}: use pipeline:search(ds, { folds = 5 })", 0)
  end
  ds = recipe.encoded(self, ds)
  if not self.solver then
    if o.checkpoint then
      error("pipeline:fit: a checkpoint is for a pipeline with a solver, and this has none", 0)
    end
    self.fitted, self.data = progress.watched("pipeline:fit", watching, learn_rows,
      self, ds), nil
    width_note(ds, self.fitted, self.features)
    return self
  end
  check_data(ds, "pipeline:fit")
  fitting.check_processes(ds, "pipeline:fit")
  if multilabel.apart(self.solver, ds) then
    if o.checkpoint then
      error("pipeline:fit: a checkpoint is for one fit, and these labels are fitted one by one", 0)
    end
    return multilabel.fit(self, ds, function(p, rows) return fitting.run(p, rows, o) end)
  end
  local tiles = plan.tiles(self, ds, o.tiles)
  plan.refuse(self, ds, false, tiles)
  local stored <close> = checkpoint.open("pipeline:fit", self, ds, o, "fit")
  ds = target_form.learn(self.target, ds, self.solver)
  local p, prepared, solver, result, chosen = progress.watched("pipeline:fit", watching, learn,
    self, ds, stored, o.budget, tiles)
  return fitting.keep(self, ds, prepared, solver, result, p.features, chosen)
end

return fitting

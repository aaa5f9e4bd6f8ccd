--- The class of pipelines: how a pipeline is built from stages, and what is done before its solver.
--- The methods are in pipeline.lua.
local core = require "scullery.core"
local choose = require "scullery.compose.choose"
local component = require "scullery.compose.component"
local dataset = require "scullery.data.dataset"
local density = require "scullery.model.density"
local instantiation = require "scullery.compose.instantiation"
local model = require "scullery.model.model"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local stages = require "scullery.compose.stages"
local target_form = require "scullery.model.target_form"
local text = require "scullery.compose.text"
local warn = require "scullery.base.warn"
local weights = require "scullery.model.weights"

local LAYER = "random_features" -- the row stage of features that others follow

-- Raises an error if a script set p.fitted to something else.
local function check_fitted(self)
  local f = rawget(self, "fitted")
  if f ~= nil and not model.is(f) then
    error(("p.fitted is %s; it takes a fitted model"):format(options.show(f)), 0)
  end
end

local Pipeline = objects.class("pipeline", { example = "p", check = check_fitted,
  fields = "text rows choices features after components solver block allowance class_weights \z
    target variants fitted data classes dtype choice table each schema data_known sums_kept drift",
  hidden = "choices after components variants fitted data dtype data_known sums_kept",
  hint = function()
    return "options are given when it is made; p:clone{ [\"solver.lambda\"] = ... } is a copy \z
      with other ones"
  end,
  called = { predict_proba = "p:probabilities(X)", decision_function = "p:decision(X)",
    classes_ = "p.classes", coef_ = "p:weights()", intercept_ = "p:intercept()",
    fit_transform = "p:fit(ds), then p:transform(X)", fit_predict = "p:fit(ds), then p:predict(X)",
    best_params_ = "p.choice", best_score_ = "p.table.best", cv_results_ = "p.table",
    best_estimator_ = "the pipeline that p:search returns", get_params = "p:info()",
    set_params = "p:clone{ [\"solver.lambda\"] = ... }", partial_fit = "p:update(ds)",
    feature_importances_ = "p:importance(ds)", cross_val_score = "p:cv(ds, { folds = 5 })" } })

-- instead_of_fit: what p:fit does with a data set in place of fitting, or nil (scullery sums).
local recipe = { class = Pipeline, instead_of_fit = nil }

local own_options = options.declare("pipeline", {
  block = { takes = "a whole number of rows" }, allowance = { takes = "a number of bytes" },
  class_weights = { takes = "\"balanced\" or { label = weight }" },
  target = { takes = target_form.takes } })
recipe.own_options = own_options

-- Raises an error unless the options of sc.pipeline other than stages are known and valid.
local function check_own(given)
  for name in pairs(given) do
    if math.type(name) ~= "integer" and not own_options[name] then
      error(("pipeline: unknown option '%s'; it takes stages in order, and block, allowance, \z
        class_weights, target"):format(tostring(name)), 4)
    end
  end
  if given.block ~= nil and (math.tointeger(given.block) == nil or given.block < 1) then
    error("pipeline: option 'block' got " .. options.show(given.block)
      .. "; it takes a whole number of rows", 4)
  end
  if given.allowance ~= nil and not (type(given.allowance) == "number"
    and given.allowance >= 0) then
    error("pipeline: option 'allowance' got " .. options.show(given.allowance)
      .. "; it takes a number of bytes, at least 0", 4)
  end
end

-- Adds a stage that maps rows to rows, or after the features to features.
local function add_row_stage(self, i, stage)
  if self.solver then
    error(("pipeline: stage %d, %s, comes after %s, which is the last stage"):format(i,
      tostring(stage), tostring(self.solver)), 5)
  end
  if not self.features then
    table.insert(self.rows, stage)
    return
  end
  local fine, reason = stages.follows(stage)
  if not fine then
    error(("pipeline: stage %d, %s, comes after the features; it takes the rows of the data, and \z
      comes before them (%s)"):format(i, tostring(stage), reason), 5)
  end
  table.insert(self.after, stage)
end

-- Adds sc.text, which makes rows of texts: the first stage, and there is one.
local function add_text(self, i, stage)
  if i > 1 then
    error(("pipeline: stage %d, %s, makes rows of texts: it is the first stage"):format(i,
      tostring(stage)), 5)
  end
  self.text = stage
end

-- Features that other features follow, as the row stage that they are then. Stages of one seed draw
-- the same numbers: of features without a seed each gets another one.
local function layer_of(features, i, rows)
  local inst = features.inst
  if not inst or instantiation.is_union(features) or inst.K or inst.phi.kind == "kernel"
    or math.type(features.T) ~= "integer" or features.dtype ~= "float64"
    or component.waiting(inst.p) then
    error(("pipeline: stage %d, features of %s: the features before take p with widths that are \z
      numbers, phi, T and seed alone"):format(i, tostring(features)), 5)
  end
  local seed = features.seed + (features.unseeded and 1 or 0)
  for _, stage in ipairs(features.unseeded and rows or {}) do
    if stage.kind == LAYER then seed = seed + 1 end
  end
  return stages.make(LAYER, { p = inst.p, phi = inst.phi, T = features.T, seed = seed })
end

-- Prints a line where features have the seed of features before them: once for a seed, as clones
-- are built too.
local told = {}
local function tell_seeds(self)
  local seen = {}
  local function see(seed)
    if seed and seen[seed] and not told[seed] then
      told[seed] = true
      warn(("pipeline: features after features have the same seed, %s, and draw the same numbers: \z
        give each its own"):format(options.show(seed)))
    end
    if seed then seen[seed] = true end
  end
  for _, stage in ipairs(self.rows) do
    if stage.kind == LAYER then see(stage.given.seed or 0) end
  end
  if self.features and next(seen) then see(self.features.seed) end
end

-- Adds stage number i to its field: text, rows, features, after (row stages after the features) or
-- solver.
local function add_stage(self, i, stage)
  if text.is(stage) then
    add_text(self, i, stage)
  elseif stages.is(stage) then
    add_row_stage(self, i, stage)
  elseif instantiation.is_features(stage) then
    if self.solver or #self.after > 0 then
      error(("pipeline: stage %d: features come before the solver, and after other features at \z
        once"):format(i), 4)
    end
    if self.features then table.insert(self.rows, layer_of(self.features, i, self.rows)) end
    self.features = stage
  elseif component.is(stage, "solver") then
    if self.solver then error(("pipeline: stage %d is a second solver"):format(i), 4) end
    self.solver = stage
  else
    error(("pipeline: stage %d is %s; it takes sc.standardize() and the like, sc.features{...}, \z
      or a solver"):format(i, options.show(stage)), 4)
  end
end

-- A pipeline of a list of stages and options in which no stage is an sc.choose.
local function build(given)
  local self = setmetatable({ rows = {}, after = {}, choices = {} }, Pipeline)
  check_own(given)
  self.block, self.allowance = given.block, given.allowance
  self.class_weights = options.guard("pipeline", 3, weights.check, given.class_weights)
  self.target = options.guard("pipeline", 3, target_form.check, given.target)
  local count = 0
  for place in pairs(given) do
    if math.type(place) == "integer" then count = math.max(count, place) end
  end
  for i = 1, count do add_stage(self, i, given[i]) end
  local last = self.after[#self.after]
  if last and last.kind == "pca" and not self.solver then -- its scores are what the model gives
    self.components = table.remove(self.after)
  end
  tell_seeds(self)
  if count == 0 then error("pipeline: takes at least one stage", 3) end
  return self
end

-- The pipelines for each combination of stages if some are sc.choose{ stage, ... }.
local function variants_of(given)
  local list = { { given = {}, choice = {} } }
  choose.combinations("pipeline", given)
  for place, value in pairs(given) do list[1].given[place] = stages.of(value) end
  local i = 1
  while rawget(given, i) ~= nil do -- build() refuses stages after a gap
    if choose.is(given[i]) then
      local longer = {}
      for _, one in ipairs(list) do
        for _, value in ipairs(given[i].values) do
          local stage = stages.of(value)
          local copy, choice = {}, { ["stage " .. i] = stage }
          for k, v in pairs(one.given) do copy[k] = v end
          for k, v in pairs(one.choice) do choice[k] = v end
          copy[i] = stage
          longer[#longer + 1] = { given = copy, choice = choice }
        end
      end
      list = longer
    end
    i = i + 1
  end
  return list
end

--- sc.pipeline{ stage, ..., solver }: a pipeline: row stages (sc.standardize(), sc.add_bias(),
--- sc.pca{ k = }, ...), then features, then a solver. Each of them may be absent. sc.choose{ stage,
--- stage, ... } may take the place of a stage; p:search{} tries each.
---
--- Most row stages may also come after the features, as sc.standardize() or sc.stage.whiten(), but
--- not sc.add_bias() or those that learn from targets. They then change the features: a column is a
--- feature. They learn from the same rows as other row stages, in one more pass that makes the
--- features. They cannot follow one-hot features. With a K the solver's penalty is then a'a, and
--- there is no p:bound or p:prune. Features may follow features: all but the last are then the row
--- stage sc.stage.random_features, whose rows the next ones see. Plugins for row stages: sc.stage.
---
--- block: the number of rows of a block (it does not affect results). allowance: bytes of memory in
--- which solvers with many passes cache blocks of features (1.5e9, and at most half of the free
--- memory; it does not affect results). class_weights: { label = weight }, the weight of each row
--- of a class, multiplied by the data set's own weights; or "balanced", with which all classes have
--- the same total weight among the rows of the fit, whose weights folds keep.
---
--- target, for regressions: "log" learns the logarithms of the targets, "standardize" their
--- distances from the mean in standard deviations, { log = true, standardize = true } both.
--- Predicted values, p:score, p:error, p:cv and p:search are on the scale of the data; p:decision,
--- p:prune and the estimates "gcv" and "loo" on the transformed scale. With "log", the prediction
--- is nearer to the median of a skewed target than to its mean. Means and deviations are those of
--- all rows of the fit, in folds too; a stream is read once more for them.
function recipe.new(given, ...)
  if select("#", ...) > 0 or stages.is(given) or instantiation.is_features(given)
    or component.is(given) or choose.is(given) then
    error("pipeline: its stages come in braces, as one list: sc.pipeline{ sc.standardize(), ... }",
      2)
  end
  if type(given) ~= "table" then
    error("pipeline: takes a list of stages, as in sc.pipeline{ sc.standardize(), ... }", 2)
  end
  local variants = variants_of(given)
  for _, one in ipairs(variants) do one.pipeline = build(one.given) end
  local self = variants[1].pipeline
  if #variants > 1 then self.variants = variants end
  return self
end

--- recipe.stages(p): all stages in their order.
function recipe.stages(self)
  local list = { self.text }
  table.move(self.rows, 1, #self.rows, #list + 1, list)
  list[#list + 1] = self.features
  table.move(self.after, 1, #self.after, #list + 1, list)
  list[#list + 1] = self.components
  list[#list + 1] = self.solver
  return list
end

--- recipe.searched(p): the searched options of all stages. An sc.choose{...} in two stages of one
--- name is one choice for both; two of them there raise an error, as their choices have one name.
function recipe.searched(self)
  local list, seen = {}, {}
  local function add(searched)
    for _, one in ipairs(searched) do
      if seen[one.path] and seen[one.path] ~= one.choose then
        error(("pipeline: two stages have a choice of %s: give both the same sc.choose{...}, \z
          which is then one choice, or choose between whole stages in one of them, as in \z
          sc.choose{ sc.pca{ k = 2 }, sc.pca{ k = 5 } }"):format(one.path), 0)
      end
      if not seen[one.path] then list[#list + 1] = one end
      seen[one.path] = one.choose
    end
  end
  if self.text then add(text.searched(self.text)) end
  for _, stage in ipairs(self.rows) do add(stages.searched(stage)) end
  if self.features then add(instantiation.searched(self.features)) end
  for _, stage in ipairs(self.after) do add(stages.searched(stage)) end
  if self.components then add(stages.searched(self.components)) end
  if self.solver then add(component.searched(self.solver)) end
  return list
end

--- recipe.is_searched(p): true if an option or a stage is an sc.choose.
function recipe.is_searched(self)
  check_fitted(self)
  return self.variants ~= nil or #recipe.searched(self) > 0
end

-- ------------ fitting

-- Penalties of the solver for which kernel sections are computed as L^-1 k(W, x), so that ||a|| is
-- the norm of the function: l2, and none (a solver that measures distances). Penalties of single
-- weights apply to k(w_t, x). The penalty a'k(W, W)a, where it is an option of the solver, is that
-- norm too: with it all types but float64 are L^-1 k(W, x), as a nearly singular k(W, W) takes more
-- digits than they have.
local whitened_for = { l2 = true, none = true }

-- Whether the features are kernel sections that are computed as L^-1 k(W, x).
local function whitens(self, choices)
  if not self.solver or instantiation.is_union(self.features)
    or self.features.inst.phi.kind ~= "kernel" then
    return false
  end
  local penalty = core.solver_facts(component.instance(self.solver, choices)).penalty
  return whitened_for[penalty] or penalty == "rkhs" and self.solver.given.penalty ~= nil
    and choose.pick(self.features.dtype, "features.dtype", choices or {}) ~= "float64"
end

--- recipe.row_weights(p, ds): the weights of the rows (n x 1, or nil) for stages that learn from
--- targets, which weight rows as the solver does; nil if there is no such stage.
function recipe.row_weights(self, ds)
  return recipe.learns_from_targets(self) and weights.of(ds, self.class_weights) or nil
end

-- texts -> { how = the text stage in words, encoder, rows, names } of their last encoding: runs of
-- a search with the same sc.text follow each other.
local encodings = setmetatable({}, { __mode = "k" })

--- recipe.texts: { most =, sample = }: rows of texts are kept if they take at most the share `most`
--- of the memory that is left, estimated from `sample` texts; otherwise each pass makes them again.
recipe.texts = { most = 0.5, sample = 2048 }

-- Whether the rows of texts are kept.
local function are_kept(encoder, texts)
  local n, places = #texts, {}
  local count = math.min(n, recipe.texts.sample)
  for k = 1, count do places[k] = (k - 1) * n // count + 1 end
  local sample = core.text_encode(encoder, texts:select(places))
  return sample:bytes() * (n / count) <= recipe.texts.most * core.memory_left()
end

-- The record of `encodings` for texts by a text stage without choices.
local function encoding_of(stage, texts)
  local how, known = stage:label(true), encodings[texts]
  if known and known.how == how then return known end
  local _ <close> = core.level "texts"
  local encoder = text.encoder(stage, texts)
  local rows = are_kept(encoder, texts) and core.text_encode(encoder, texts)
  if rows then text.warn_of_empty(rows) end
  local _, terms = core.text_columns(encoder)
  encodings[texts] = { how = how, encoder = encoder, rows = rows or texts,
    names = terms and terms:totable() }
  return encodings[texts]
end

--- recipe.encoded(p, ds, choices): a data set of texts with sparse rows in their place, made by the
--- pipeline's sc.text with the choices filled in; ds.encoder makes the same of other texts. Where
--- the rows would take too much memory, the texts stay, and the source makes rows of them. A
--- vocabulary is learnt from all texts of ds. Other data sets as they are; an error if the pipeline
--- and the rows do not go together.
function recipe.encoded(self, ds, choices)
  if self.features then instantiation.note_names(self.features, ds.names) end
  local stage = self.text
  if not stage and not core.is_texts(ds.X) or stage and ds.encoder then return ds end
  if not stage then
    error("the rows are texts: a pipeline for them begins with sc.text{}", 0)
  elseif not core.is_texts(ds.X) then
    error(("%s takes texts, and the data set has %s"):format(tostring(stage),
      ds.X and options.show(ds.X) or "rows of numbers"), 0)
  elseif #ds == 0 then
    error("the data set has no texts", 0)
  end
  local made = encoding_of(text.resolved(stage, choices or {}), ds.X)
  return dataset.with(ds, { X = made.rows, encoder = made.encoder, names = made.names })
end

--- recipe.rows_of(p, ds, source, choices): the data set that recipe.encoded makes and its source
--- with targets; for a pipeline without sc.text ds and source as they are.
function recipe.rows_of(self, ds, source, choices)
  if not self.text then return ds, source end
  local encoded = recipe.encoded(self, ds, choices)
  return encoded, (dataset.source_of_targets(encoded))
end

--- recipe.row_stages(p, choices): the row stages before the features, those that sc.text stands for
--- first, with the choices filled in.
function recipe.row_stages(self, choices)
  local list = self.text and text.weighting(text.resolved(self.text, choices or {})) or {}
  for _, stage in ipairs(self.rows) do
    list[#list + 1] = stages.resolved(stage, choices or {})
  end
  return list
end

--- recipe.fit_stages(p, source, row_weights, choices): the fitted row stages; second: the seconds
--- that each took; third: what they report, { components =, relevance = }.
function recipe.fit_stages(self, source, row_weights, choices)
  local made, seconds, found = {}, {}, {}
  for i, stage in ipairs(recipe.row_stages(self, choices)) do
    local began = core.now()
    local one, report = stages.fit(stage, source, made, nil, row_weights)
    made[i] = one
    for name, value in pairs(report or {}) do found[name] = value end
    found.dense = found.dense
      or density.of_stage(stages.call(stage), source, table.move(made, 1, i - 1, 1, {}), one)
    seconds[i] = { tostring(stage), core.now() - began }
  end
  return made, seconds, found
end

--- recipe.tell_dense(p, source, row_weights): warns of row stages that make sparse rows of many
--- bytes dense, or raises an error where they cannot: before options are chosen by trials on some
--- of the rows, which says neither. Returns the note (density.lua), or nil.
function recipe.tell_dense(self, source, row_weights)
  if not density.is_notable(source) then return nil end
  local _, _, found = recipe.fit_stages(self, source, row_weights)
  density.tell(found.dense)
  return found.dense
end

-- Raises an error for the penalty a'Ga with row stages after the features: it is the norm of a
-- function only of features that are not changed; and with a union.
local function check_penalty(self, choices)
  local union = instantiation.union_text(self.features)
  if not self.solver or #self.after == 0 and not union then return end
  if core.solver_facts(component.instance(self.solver, choices)).penalty == "rkhs" then
    if union then
      error(("solver.%s: its penalty a'Ga is of the features of one map, and these are %s"):format(
        self.solver.name, union), 0)
    end
    error(("solver.%s: its penalty a'Ga is of features as they are, and %s changes them; give \z
      another penalty, or leave this stage out"):format(self.solver.name, tostring(self.after[1])),
      0)
  end
end

-- Fits the row stages after the features: the map of the changed features, and these stages. What
-- they report goes into `found`.
local function fit_after(self, source, made, base, seconds, found, choices)
  local after, map = {}, base
  for i, open in ipairs(self.after) do
    local stage = stages.resolved(open, choices or {})
    local began = core.now()
    local report
    after[i], report = stages.fit(stage, source, made, map)
    for name, value in pairs(report or {}) do found[name] = value end
    map = core.map_staged(base, after)
    if i == #self.after then core.learn(source, made, map) end
    seconds[#seconds + 1] = { tostring(stage) .. " of features", core.now() - began }
  end
  return map, after
end

--- recipe.prepare(p, source, row_weights, choices, made): fits the row stages, unless they are
--- given, and makes the map. Returns {stages, map, seconds}, with row stages after the features
--- also base (the map without them) and after (these stages).
function recipe.prepare(self, source, row_weights, choices, made)
  check_penalty(self, choices)
  local seconds, found = {}, {}
  if not made then
    made, seconds, found = recipe.fit_stages(self, source, row_weights, choices)
  end
  local map, origin, base, after
  if self.features then
    local began = core.now()
    map, origin = instantiation.map(self.features, source, made, choices,
      { whiten = whitens(self, choices), staged = #self.after > 0, together = true })
    seconds[#seconds + 1] = { "parameters", core.now() - began }
  end
  if #self.after > 0 then
    base = map
    map, after = fit_after(self, source, made, base, seconds, found, choices)
  end
  return { stages = made, map = map, base = base, after = after, origin = origin, seconds = seconds,
    components = found.components, relevance = found.relevance, dense = found.dense }
end

--- recipe.feature_form(p, choices): a text for the form of the features; that of kernel sections
--- depends on the solver's penalty.
function recipe.feature_form(self, choices)
  return self.features and whitens(self, choices) and "whitened" or "plain"
end

--- recipe.learns(p, choices): true if something before the solver is learnt from rows in a way that
--- folds must not share.
function recipe.learns(self, choices)
  return recipe.learns_from_targets(self)
    or self.features ~= nil and instantiation.learns(self.features, choices)
end

--- recipe.learns_from_targets(p): true if a row stage learns from the targets.
function recipe.learns_from_targets(self)
  for _, stage in ipairs(self.rows) do if stages.learns_from_targets(stage) then return true end end
  return false
end

--- recipe.make_solver(p, source, prepared, choices, estimate): the solver with the choices filled
--- in; a width that depends on the data is computed from the staged rows. estimate: the risk
--- estimate to request from the solver ("loo", "loo_error", "gcv"), if it has one.
function recipe.make_solver(self, source, prepared, choices, estimate)
  local solver = component.resolved(self.solver, choices or {})
  if estimate then return component.with(solver, component.role(solver, "estimate"), estimate) end
  if not component.waiting(solver) then return solver end
  if prepared.map then
    error(("%s: \"scale\" and \"median\" are widths for the rows of X; this solver sees features \z
      of them: give a number"):format(tostring(self.solver)), 0)
  end
  return component.settled(solver, { core.widths(source, prepared.stages) })
end

--- recipe.training_options(p, ds, folds): the options of a training besides rows.
function recipe.training_options(self, ds, folds)
  return { classes = ds.task == "classification" and #ds.classes or 0, dtype = self.dtype,
    folds = folds, block = self.block, allowance = self.allowance,
    weights = weights.of(ds, self.class_weights) }
end

--- recipe.given_stages(p): the stages as given; several variants become sc.choose{...} again.
function recipe.given_stages(self)
  local list = recipe.stages(self)
  if not self.variants then return list end
  for i in ipairs(list) do
    local seen, values = {}, {}
    for _, variant in ipairs(self.variants) do
      local stage = variant.given[i]
      if not seen[stage] then values[#values + 1] = stage end
      seen[stage] = true
    end
    list[i] = #values > 1 and choose(values) or values[1]
  end
  return list
end

--- recipe.fitted(p, title, solver): its fitted model. Raises an error, at the caller of the method,
--- if there is none, or if `solver` is true and it has no solver.
function recipe.fitted(self, title, solver)
  local f = self.fitted
  if not f then error(title .. ": the pipeline is not fitted yet: call p:fit(ds) first", 3) end
  if solver and not f.solver then error(title .. ": this pipeline has no solver", 3) end
  return f
end

--- recipe.is(value)
function recipe.is(value) return getmetatable(value) == Pipeline end

return recipe

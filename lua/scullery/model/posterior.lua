--- How sure a ridge regression is: it is the mean of a Bayesian linear regression on the features
--- (core/learn/posterior.h), from whose posterior come standard deviations and drawn functions.
--- The posterior is made when it is first asked for: from the sums of the model, or by one pass
--- over the training rows; a saved model has it where it was saved with std = true.
local core = require "scullery.core"
local component = require "scullery.compose.component"
local dataset = require "scullery.data.dataset"
local matching = require "scullery.data.matching"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local progress = require "scullery.base.progress"
local recipe = require "scullery.model.recipe"
local target_form = require "scullery.model.target_form"
local warn = require "scullery.base.warn"

local Pipeline = recipe.class

local posterior = {}

-- fitted model -> { handle, info }
local known = setmetatable({}, { __mode = "k" })

-- ------------ making

--- posterior.check(f, title): raises an error for a model that has no posterior.
function posterior.check(f, title)
  local solver = f.solver
  local facts = solver and not f.learnt and core.solver_facts(component.instance(solver))
  local fine = facts and facts.by_sums and (facts.penalty == "l2" or facts.penalty == "rkhs")
  if not fine then
    error(("%s: it takes a ridge regression (a squared loss with a penalty a'a or a'Ga, solved \z
      from the normal equations), and this model is %s"):format(title,
      solver and "by solver." .. solver.name or "without a solver"), 0)
  end
  if f.origin and f.origin.kept then
    error(title .. ": parameters of this model were pruned: its weights are not those of a ridge \z
      regression", 0)
  end
end

-- A training on the rows, or on the sums of the model.
local function training_of(p, f, map, title)
  local kept = rawget(p, "sums_kept")
  if kept then
    local source = core.absent_rows(kept.rows, f.dim, f.targets)
    return core.training(source, f.stages, map, { classes = f.classes and #f.classes or 0,
      sums = require("scullery.model.sums").all_folds(kept) })
  end
  local ds = p.data
  if not ds then
    error(title .. ": this model has neither its posterior nor its rows: save it with \z
      p:save(path, { std = true }), or fit it", 0)
  end
  ds = target_form.apply(f.form, matching.known(matching.encoded(ds, f), f))
  return core.training(dataset.source_of_targets(ds), f.stages, map,
    recipe.training_options(p, ds))
end

-- The map of the posterior of rows: of kernel sections L^-1 k(W, x) in float64, L L' = k(W, W),
-- where the penalty a'k(W, W)a is ||b||^2 and no system is singular; the model's own where k(W, W)
-- is not positive definite.
local function map_of(p, f)
  local info = f.map and core.map_info(f.map)
  if not info or not info.section or rawget(p, "sums_kept") then return f.map end
  local fine, whitened = options.attempt(core.map_whitened, f.map, true, true)
  return fine and whitened or f.map
end

--- posterior.of(p, title): { handle =, map = of its features, info = core.posterior_info } of the
--- fitted pipeline p.
function posterior.of(p, title)
  local f = p.fitted
  posterior.check(f, title)
  if not known[f] then
    local _ <close> = core.level "posterior"
    local map = map_of(p, f)
    local training <close> = training_of(p, f, map, title)
    local settings = core.settings(component.instance(f.solver))
    local handle = core.posterior(training, f:solver_instance(),
      settings[component.role(f.solver, "regularisation")], rawget(p, "sums_kept") ~= nil)
    local info = core.posterior_info(handle)
    known[f] = { handle = handle, map = map, info = info }
    if info.jitter > 0 then
      warn(("%s: the system of the posterior is nearly singular, and %.0e of its diagonal was \z
        added: standard deviations may be too small%s"):format(title, info.jitter,
        f.solver.given.penalty == "rkhs" and "; penalty = \"l2\" does without" or ""))
    end
  end
  return known[f]
end

-- ------------ the variance of the noise

--- posterior.noise_rule: the rule of the option `noise`.
posterior.noise_rule = { test = function(v)
  return v == "evidence" or v == "prior" or v == "gcv" or dataset.is(v)
    or type(v) == "number" and v >= 0 and v < math.huge
end, takes = '"evidence", "prior", "gcv", a data set of held-out rows or a variance of at least 0' }

-- How each noise is computed from the posterior, as a list of variances, one for each target.
local noises = {}

-- The variance that makes the targets most probable, where the prior's is it over n lambda:
-- (||y - Phi a||^2 + n lambda a'Pa) / n, with n - 1 for a constant.
function noises.evidence(found)
  local info, list = found.info, {}
  local rows = info.total - (info.constant and 1 or 0)
  for j = 1, info.targets do list[j] = info.evidence:get(1, j) / math.max(rows, 1e-300) end
  return list
end

-- Where the prior variance of the weights is 1.
function noises.prior(found)
  local list = {}
  for j = 1, found.info.targets do list[j] = found.info.weight end
  return list
end

-- The squared residuals over n less the effective parameters D - n lambda tr A^-1, as in
-- generalised cross-validation.
function noises.gcv(found, f)
  local info, list = found.info, {}
  if core.solver_facts(f:solver_instance()).penalty ~= "l2" then
    error('noise = "gcv" is for the penalty l2', 0)
  end
  found.parameters = found.parameters or core.posterior_parameters(found.handle)
  local free = info.total - found.parameters - (info.constant and 1 or 0)
  if free <= 0 then
    error('noise = "gcv": the model has as many effective parameters as rows; a larger lambda, or \z
      noise = "evidence"', 0)
  end
  for j = 1, info.targets do list[j] = info.residual:get(1, j) / free end
  return list
end

-- By rows that the model did not learn from: the mean of r^2/(1 + v), where the variance of the
-- residual r is 1 + v times that of the noise.
local function by_held_out(found, f, ds, rest)
  ds = target_form.apply(f.form, matching.known(matching.encoded(ds, f), f))
  local source, list = dataset.source_of_rows(ds), {}
  local r = dataset.read_targets(ds) - f:scores(source)
  local share = core.posterior_variance(found.handle, source, f.stages, found.map, rest)
    :map(function(v) return 1 / (1 + v) end)
  local w = ds.weights or core.ones(#ds, 1)
  for j = 1, r:cols() do
    list[j] = r:column(j):mul(r:column(j)):mul(share):dot(w) / w:sum()
  end
  return list
end

--- posterior.noise(found, f, given, rest): the variance of the noise of each target, on the scale
--- on which the model was learnt. rest: held-out rows with what landmarks leave out of the kernel.
function posterior.noise(found, f, given, rest)
  if dataset.is(given) then return by_held_out(found, f, given, rest) end
  if type(given) ~= "number" then return noises[given](found, f) end
  local list = {}
  for j = 1, found.info.targets do
    local scale = f.form and f.form.scale[j] or 1
    list[j] = given / scale ^ 2
  end
  return list
end

-- ------------ standard deviations

local std_rules = options.declare("pipeline:std", {
  std = { test = function(v) return v == true or v == "row" end, takes = "true or \"row\"" },
  noise = posterior.noise_rule, residual = { type = "boolean" }, progress = progress.rule })

--- posterior.splits(given): whether options of predictions ask for standard deviations.
function posterior.splits(given)
  return type(given) == "table" and (given.std ~= nil or given.noise ~= nil
    or given.residual ~= nil)
end

--- posterior.deviations(p, X, given, title, scores): n x c standard deviations of the predictions
--- for X: see Pipeline:predict. scores: those of the scores, on the scale on which the model was
--- learnt.
function posterior.deviations(p, X, given, title, scores)
  local o = options.check(title, given, std_rules, 0)
  if not o.std then error(title .. ": options 'noise' and 'residual' go with std = true", 0) end
  local f = p.fitted
  if f.classes and not scores then
    error(title .. ": predictions of classes have no standard deviation; those of the scores: \z
      p:decision(X, { std = true })", 0)
  end
  if f.form and f.form.log and not scores then
    error(title .. ": the targets were learnt as logarithms, whose standard deviations are those \z
      of p:decision(X, { std = true })", 0)
  end
  local found = posterior.of(p, title)
  local source = matching.source(X, f)
  -- The variance of the function over that of the noise, n x 1. Of landmark maps the features hold
  -- a part of the kernel: the rest is uncertain too, unless residual = false.
  local function compute()
    return core.posterior_variance(found.handle, source, f.stages, found.map, o.residual ~= false)
  end
  local v = o.progress and progress.watched(title, o.progress, compute) or compute()
  local columns, noise = {}, posterior.noise(found, f, o.noise or "evidence",
    o.residual ~= false)
  for j, s in ipairs(noise) do
    local scale = not scores and f.form and f.form.scale[j] or 1
    local more = o.std == "row" and 1 or 0
    columns[j] = v:map(function(x) return scale * math.sqrt(s * (x + more)) end)
  end
  return #columns == 1 and columns[1] or core.hcat(table.unpack(columns))
end

-- ------------ draws

local draw_rules = options.declare("pipeline:draw", {
  seed = { type = "integer", default = 0 }, count = { type = "integer", low = 1, high = 1000000 },
  noise = posterior.noise_rule })

-- A copy of p, and the model that draws change: in float64, as weights of sections may be large and
-- whole numbers are clipped far from the data.
local function exact_model(p, found)
  local f, origin = p.fitted:about_zero(), {}
  local info = f.map and core.map_info(f.map)
  if found.map == f.map or info.dtype == "float64" then return p:clone(), f end
  for name, value in pairs(f.origin) do origin[name] = value end
  origin.dtype = "float64"
  return p:clone{ ["features.dtype"] = "float64" },
    f:with{ map = core.map_whitened(f.map, info.whitened, true), origin = origin }
end

-- Draw number `index` as a pipeline.
local function drawn(p, found, seed, index, noise)
  local made, f = exact_model(p, found)
  local plain = found.map ~= f.map and not core.map_info(f.map).whitened
  local weights, constants = core.posterior_draw(found.handle, plain and found.map or nil, seed,
    index)
  local columns, moved = {}, constants:copy()
  for j, s in ipairs(noise) do
    columns[j] = weights:column(j) * math.sqrt(s)
    moved:set(1, j, constants:get(1, j) * math.sqrt(s))
  end
  made.fitted = f:changed{ weights = f.weights + core.hcat(table.unpack(columns)),
    intercept = f.intercept + moved }
  made.fitted.report = { status = "drawn from the posterior", note = ("draw %d of seed %d"):format(
    index + 1, seed) }
  made.classes = p.classes
  return made
end

--- posterior.draw(p, given): see Pipeline:draw.
function posterior.draw(p, given)
  local title = "pipeline:draw"
  local o = options.check(title, given or {}, draw_rules, 0)
  local found = posterior.of(p, title)
  local noise = posterior.noise(found, p.fitted, o.noise or "evidence", true)
  if not o.count then return drawn(p, found, o.seed, 0, noise) end
  local list = {}
  for i = 1, o.count do list[i] = drawn(p, found, o.seed, i - 1, noise) end
  return list
end

--- p:draw{ seed = 0[, count =, noise = "evidence"] }: a function drawn from the posterior of a
--- ridge regression, as a fitted pipeline; a list of `count` of them. The mean of many is the
--- model's own function, and their standard deviation at a row is that of p:predict(X, { std =
--- true, residual = false }). noise: as there. Draw i of a seed is the same whatever count is.
function Pipeline:draw(given)
  recipe.fitted(self, "pipeline:draw", true)
  return objects.call("pipeline:draw", posterior.draw, self, given)
end

-- ------------ saving

local PREFIX = "posterior."

--- posterior.encode(p, arrays): the description of the posterior for a file; its numbers are added
--- to arrays.
function posterior.encode(p, arrays)
  local found = posterior.of(p, "save")
  for name, matrix in pairs(core.posterior_save(found.handle)) do
    arrays[PREFIX .. name] = matrix
  end
  local info = found.info
  return { rows = info.rows, weight = info.weight, total = info.total, constant = info.constant,
    jitter = info.jitter, whitened = found.map ~= p.fitted.map or nil }
end

--- posterior.decode(f, saved): gives the loaded model f its posterior. saved: the engine's file.
function posterior.decode(f, saved)
  posterior.check(f, "its posterior")
  local handle = core.saved_posterior(saved, f.weights:rows(), f.targets)
  local info = core.posterior_info(handle)
  known[f] = { handle = handle, info = info,
    map = info.whitened and core.map_whitened(f.map, true, true) or f.map }
end

return posterior

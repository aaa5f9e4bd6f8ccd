--- Loads saved models. The engine (core/model) checks a file and restores the fitted parts;
--- recipes, reports and schemas, which only Lua uses, are checked and restored here.
local core = require "scullery.core"
local component = require "scullery.compose.component"
local description = require "scullery.model.description"
local fail = require "scullery.base.fail"
local instantiation = require "scullery.compose.instantiation"
local form = require "scullery.model.form"
local saved_tables = require "scullery.model.saved_tables"
local pipeline = require "scullery.model.recipe"

-- apart: fields of a model that are saved separately or computed again.
local restoring = { apart = { "stages", "map", "map_info", "base", "after", "origin",
  "features", "solver", "weights", "intercept", "pilot", "learnt", "norm_found", "own_loss",
  "encoder" } }

-- ------------ files

local File = {}
File.__index = File

--- restoring.open(path): {body = the description as a table, saved = the engine's file} for a file
--- with a valid digest.
function restoring.open(path, bytes)
  local saved, body, sha256 = core.saved_open(path, bytes)
  return setmetatable({ body = body, saved = saved, sha256 = sha256 }, File)
end

--- file:decode(value): decodes a value of the description.
function File:decode(value) return description.decode(value, self.saved) end

--- file:table(from, name): decodes a field that must be a table.
function File:table(from, name) -- luacheck: no self
  return form.check(from[name], {}, name)
end

-- ------------ features

-- The same of one map, whose arrays have names that begin with the prefix.
local function origin_of(features, saved, file, prefix)
  local origin = file:decode(saved)
  if core.saved_has(file.saved, prefix .. "sampler.state") then
    origin.state = core.saved_matrix(file.saved, prefix .. "sampler.state")
  end
  features.inst.last_dim = origin.dim
  return origin
end

--- restoring.origin(features, map, file): the decoded fields that the map was made from (see
--- instantiation.map). Stores the number of columns in features.inst, which its printed form uses.
function restoring.origin(features, map, file)
  local origin = map.parts and { dim = map.dim } or origin_of(features, map.origin, file, "")
  for i, part in ipairs(map.parts or {}) do
    origin.parts = origin.parts or {}
    origin.parts[i] = origin_of(instantiation.parts(features)[i], part.origin, file,
      ("part%d."):format(i))
    origin.parts[i].columns, origin.parts[i].scale = part.columns, part.scale
  end
  return origin
end

-- ------------ reports

local fields_form = { task = "string?", classes = "table?", seconds = "table", report = "table?",
  schema = "table?", names = "table?", block = "integer?", dtype = "string?", n = "integer",
  dim = "integer", targets = "integer?", calibration = "table?", weighted = "boolean?",
  components = "table?", relevance = "userdata?", chosen = "string?", open = "table?",
  growth = "table?", form = "table?", means = "boolean?", outputs = "integer?",
  interval = "table?" }

local report_form = { status = "string?", iterations = "number?", gap = "number?",
  residual = "number?", tolerance = "number?", jitter = "number?", loss = "number?",
  score = "number?", note = "string?", clipped = "number?", exact = "string?" }
local calibration_form = { method = "string", folds = "integer?", seed = "integer?",
  rows = "integer?", note = "string?", sigmoids = "table?", slopes = "table?",
  offsets = "table?", curves = "table?" }
local growth_form = { T = "integer", loss = "number", lambda = "number?", seconds = "number" }
local curve_form = { scores = "table", shares = "table" }
local sigmoid_form = { slope = "number", offset = "number", converged = "boolean?",
  iterations = "integer?", residual = "number?", tolerance = "number?", positives = "number?",
  negatives = "number?" }

-- Checks the fields of a model that are plain values, so that reports and predictions can rely on
-- their types.
local function check_fields(f)
  form.check(f, fields_form, "fields")
  form.check(f.report or {}, report_form, "report")
  if f.open then
    form.check(f.open, { part = "string?", width = "string?", lambda = "string?",
      T = "boolean?" }, "open")
    if f.open.part ~= nil and f.open.part ~= "p" and f.open.part ~= "phi" then
      fail("its 'open.part' is not a part of features")
    end
  end
  if f.growth then
    form.check(f.growth, { ended = "string" }, "growth")
    for _, one in ipairs(f.growth) do form.check(one, growth_form, "growth") end
  end
  if f.calibration then
    form.check(f.calibration, calibration_form, "calibration")
    form.each(f.calibration.sigmoids, sigmoid_form, "sigmoids")
    form.each(f.calibration.curves, curve_form, "curves")
    form.each(f.calibration.slopes, "number", "slopes")
    form.each(f.calibration.offsets, "number", "offsets")
  end
  if f.components then
    form.check(f.components, { share = "number" }, "components")
    if not core.is_matrix(f.components.variances) then fail("its components have no variances") end
  end
  if f.relevance and not (core.is_matrix(f.relevance) and f.relevance:rows() == 1) then
    fail("its relevance is not a row of numbers")
  end
  for _, one in ipairs(f.seconds) do
    if type(one) ~= "table" or type(one[1]) ~= "string" or type(one[2]) ~= "number" then
      fail("its times are not a list of stage and seconds")
    end
  end
  if f.n < 0 then fail("its 'n' is %d, where a whole number of at least 0 belongs", f.n) end
  saved_tables.schema(f.schema)
end

--- restoring.check_print(value, what): raises an error if a report cannot be printed.
function restoring.check_print(value, what)
  if not pcall(tostring, value) then fail("its %s cannot be printed", what) end
end

-- ------------ models

--- restoring.model(recipe, file): the fields of the model that a pipeline, `recipe`, learnt.
function restoring.model(recipe, file)
  local saved = file:table(file.body, "model")
  if pipeline.is_searched(recipe) then
    fail("it holds a fitted model of a pipeline with unresolved sc.choose options")
  end
  local made, f = core.saved_model(file.saved), file:decode(saved.fields)
  check_fields(f)
  for _, name in ipairs(restoring.apart) do f[name] = made[name] end
  if f.encoder then
    local _, terms = core.text_columns(f.encoder)
    f.names = terms and terms:totable()
  end
  if f.map then
    f.features, f.map_info = recipe.features, core.map_info(f.map)
    f.origin = restoring.origin(recipe.features, saved.map, file)
  end
  if recipe.solver then
    local solver, widths = file:decode(saved.solver.component), saved.solver.widths
    if not component.is(solver, "solver") then fail("its solver is not a solver") end
    -- as it was at the fit, with the widths that it took from the data
    f.solver = widths and component.settled(solver, file:decode(widths)) or solver
  end
  return f
end

return restoring

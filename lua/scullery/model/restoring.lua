--- What a saved file holds, checked and put together again: fitted stages, maps, models. Nothing
--- that the file says is trusted: sizes are compared with those of its arrays before anything is
--- made of them.
local core = require "scullery.core"
local component = require "scullery.compose.component"
local description = require "scullery.model.description"
local form = require "scullery.model.form"
local instantiation = require "scullery.compose.instantiation"
local options = require "scullery.base.options"
local saved_tables = require "scullery.model.saved_tables"
local stages = require "scullery.compose.stages"
local ask = require("scullery.base.objects").ask

-- VERSION: the last version of the format that is read. Version 2 has pilot means; a model without
-- them is saved as version 1. STREAM: of the parameters (SCL_STREAM_PARAMETERS).
local restoring = { FORMAT = "scullery", VERSION = 2, STREAM = 0 }

local function fail(...) error(string.format(...), 0) end

-- ------------------------------------------------------------ files

local File = {}
File.__index = File

--- restoring.open(path): {body = the description as a table, ...} of a file whose digest is right.
function restoring.open(path)
  local text, tensors, places = core.tensors_read(path)
  local body = core.json_decode(text, path)
  if type(body) ~= "table" or body.format ~= restoring.FORMAT
    or math.type(body.version) ~= "integer" then
    fail("%s: its description is none of ours", path)
  end
  if body.version > restoring.VERSION then
    fail("%s: it was saved in version %d of the format (by scullery %s), and this scullery %s \z
      reads up to version %d", path, body.version, tostring(body.scullery), core.version,
      restoring.VERSION)
  end
  if body.scullery ~= nil and type(body.scullery) ~= "string" then
    fail("%s: its 'scullery' is %s, where a text belongs", path, options.show(body.scullery))
  end
  return setmetatable({ body = body, tensors = tensors, places = places }, File)
end

--- file:place(name): of an array in the file.
function File:place(name)
  return self.places[name] or fail("it has no array %s", options.show(name))
end

--- file:matrix(name[, rows[, cols[, dtype]]]): the array as a matrix, of that shape.
function File:matrix(name, rows, cols, dtype)
  local found = core.tensor_matrix(self.tensors, self:place(name))
  if rows and found:rows() ~= rows or cols and found:cols() ~= cols
    or dtype and found:dtype() ~= dtype then
    fail("array '%s' is %d x %d in %s, where %s x %s in %s belongs", name, found:rows(),
      found:cols(), found:dtype(), rows or "n", cols or "d", dtype or "float64 or float32")
  end
  return found
end

--- file:array(name): {dtype, shape, bytes}.
function File:array(name) return core.tensor_array(self.tensors, self:place(name)) end

--- file:decode(value): back from JSON.
function File:decode(value)
  return description.decode(value, function(name) return self:matrix(name) end)
end

--- file:table(from, name[, form]): a field that is a table, with the fields of the form.
function File:table(from, name, fields) -- luacheck: no self
  return form.check(from[name], fields or {}, name)
end

-- A field that is a whole number from low on.
local function whole(from, name, low)
  local value = from[name]
  if math.type(value) ~= "integer" or value < low or value > 1 << 53 then
    fail("its '%s' is %s, where a whole number from %d on belongs", name, options.show(value), low)
  end
  return value
end

local function expect(found, wanted, what)
  if found ~= wanted then
    fail("%s: %s, where %s belongs", what, options.show(found), options.show(wanted))
  end
end

-- ------------------------------------------------------------ stages

--- What the arrays of a stage are called.
restoring.stage_arrays = { standardize = { shift = "mean", factor = "factor" },
  minmax = { shift = "low", factor = "factor" }, pca = { shift = "mean", factor = "vectors" },
  normalize = {}, add_bias = {} }

local stage_form = { kind = "string", cols = "integer", constant = "integer", arrays = "string?" }

local function restore_stage(saved, file, cols)
  local names = restoring.stage_arrays[saved.kind]
    or fail("there is no stage %s", options.show(saved.kind))
  expect(whole(saved, "cols", 0), cols, "the columns that a stage takes")
  local made = { kind = saved.kind, cols_in = cols, constant = saved.constant }
  if names.shift then
    if not saved.arrays then fail("the stage %s has no arrays", saved.kind) end
    made.shift = file:matrix(("%s.%s"):format(saved.arrays, names.shift), 1, cols, "float64")
    made.factor = file:matrix(("%s.%s"):format(saved.arrays, names.factor),
      saved.kind ~= "pca" and 1 or nil, cols, "float64")
  end
  return stages.restored(made)
end

-- The fitted stages, and the columns that come out of the last; they are those of the recipe.
local function restore_stages(recipe, list, file, cols)
  local made = {}
  expect(#list, #recipe.rows, "the number of fitted stages")
  for i, saved in ipairs(list) do
    form.check(saved, stage_form, "stages")
    expect(saved.kind, recipe.rows[i].kind, "the kind of a fitted stage")
    made[i] = restore_stage(saved, file, cols)
    cols = core.stage_info(made[i]).cols_out
  end
  return made, cols
end

-- ------------------------------------------------------------ features

local PROBE_ROWS = 4

local function check_draws(map, saved, file)
  local rows, numbers, check = core.map_probe(map)
  expect(check, saved.check, "what the features are checked by")
  if core.probes_agree(rows, file:matrix("features.rows"))
    and core.probes_agree(numbers, file:matrix("features.check")) then return end
  fail("the features that its parts give here are not those that it was saved with: a sampler, \z
    nonlinearity or kernel of it has changed since")
end

local function check_numbers(list, what)
  for _, value in pairs(list) do
    if type(value) ~= "number" then fail("%s are numbers, not %s", what, options.show(value)) end
  end
  return list
end

-- The sizes that a map is to have, as the arrays of the file show them: no number in the
-- description alone makes anything large.
local function check_sizes(origin, saved, file)
  file:matrix("features.rows", PROBE_ROWS, whole(origin, "dim", 1), "float64")
  local features = whole(saved, "features", 0)
  if saved.one_hot then
    local counts = file:array("cells.counts")
    expect(#counts.shape, 1, "the dimensions of cells.counts")
    expect(origin.T or counts.shape[1], counts.shape[1], "the number of grids")
  elseif saved.check == "features" then
    file:matrix("features.check", PROBE_ROWS, features)
    local T = not origin.kept and origin.T or features -- the sampler may say T itself
    if T > features then fail("T = %s parameters make %d features", T, features) end
  end
end

local map_form = { origin = "table", check = "string", features = "integer", stream = "integer",
  one_hot = "boolean", method = "string?", log_scale = "number?" }
local origin_form = { dim = "integer", T = "integer?", seed = "integer", samples = "integer?",
  whiten = "boolean?", dtype = "string", method = "string?", widths = "table?", kept = "table?" }

local function decode_origin(saved, file)
  local origin = form.check(file:decode(file:table(saved, "origin")), origin_form, "origin")
  if origin.T then whole(origin, "T", 1) end
  check_numbers(origin.widths or {}, "widths")
  if file.places["sampler.state"] then
    origin.state = file:matrix("sampler.state", nil, nil, "float64")
  end
  return origin
end

-- A pruned map has the parameters that were kept alone, of those that were kept before.
local function keep(map, origin)
  for _, kept in ipairs(origin.kept or {}) do
    if type(kept) ~= "table" or #kept == 0 then fail("the list of kept parameters is none") end
    map = core.map_select(map, check_numbers(kept, "kept parameters"))
  end
  return map
end

--- restoring.map(features, saved, file): the map again, and what it was made from.
function restoring.map(features, saved, file)
  form.check(saved, map_form, "map")
  expect(saved.stream, restoring.STREAM, "the stream of the parameters")
  local origin = decode_origin(saved, file)
  check_sizes(origin, saved, file)
  local map = keep(instantiation.map_from(features, origin), origin)
  if core.map_info(map).entries > 0 then
    core.map_restore_cells(map, file:array("cells.counts"), file:array("cells.words"))
  end
  expect(core.map_info(map).features, saved.features, "the number of features")
  check_draws(map, saved, file)
  return map, origin
end

-- ------------------------------------------------------------ models

-- The solver as it was when it learnt: with widths from the data, where it waited for them.
local function restore_solver(saved, file)
  local solver = file:decode(file:table(saved, "component"))
  if not component.is(solver, "solver") then fail("its solver is none") end
  if not saved.widths then return solver end
  return ask(solver, "settled", check_numbers(file:table(saved, "widths"), "widths"))
end

local learnt_form = { features = "integer", targets = "integer", dtype = "string",
  arrays = "table" }

local function restore_learnt(saved, solver, file, features)
  local arrays = {}
  form.check(saved, learnt_form, "learnt")
  for _, name in ipairs(file:table(saved, "arrays")) do
    if type(name) ~= "string" then fail("an array of the solver has no name") end
    arrays[name] = file:array("solver." .. name)
  end
  expect(whole(saved, "features", 1), features, "the features of the solver's model")
  return core.model_load(ask(solver, "instance"), { features = features,
    targets = whole(saved, "targets", 1), dtype = saved.dtype, arrays = arrays })
end

local function restore_weights(f, file, features)
  local title = f.solver and "solver" or "components"
  f.weights = file:matrix(title .. ".weights", features)
  f.intercept = file:matrix(title .. ".intercept", 1, f.weights:cols())
  if file.places[title .. ".pilot"] then
    f.pilot = file:matrix(title .. ".pilot", 1, features, "float64")
  end
end

local fields_form = { task = "string?", classes = "table?", seconds = "table", report = "table?",
  schema = "table?", names = "table?", block = "integer?", dtype = "string?", n = "integer",
  dim = "integer", targets = "integer?", calibration = "table?", weighted = "boolean?",
  components = "table?" }

local report_form = { status = "string?", iterations = "number?", gap = "number?",
  residual = "number?", tolerance = "number?", jitter = "number?", loss = "number?",
  score = "number?", note = "string?" }
local calibration_form = { method = "string", folds = "integer?", seed = "integer?",
  rows = "integer?", note = "string?", sigmoids = "table?", slopes = "table?",
  offsets = "table?" }
local sigmoid_form = { slope = "number", offset = "number", converged = "boolean?",
  iterations = "integer?", residual = "number?", tolerance = "number?", positives = "number?",
  negatives = "number?" }

--- restoring.names(names, dim): the names of columns that a file holds, checked; nil: it has none.
function restoring.names(names, dim)
  if names == nil then return nil end
  if type(names) ~= "table" then fail("its names of columns are none") end
  expect(#names, dim, "the number of its names of columns")
  for _, name in ipairs(names) do
    if type(name) ~= "string" then fail("a name of its columns is %s", options.show(name)) end
  end
  return names
end

local function check_fields(f)
  form.check(f, fields_form, "fields")
  form.check(f.report or {}, report_form, "report")
  if f.calibration then form.check(f.calibration, calibration_form, "calibration") end
  if f.components then
    form.check(f.components, { share = "number" }, "components")
    if not core.is_matrix(f.components.variances) then fail("its components have no variances") end
  end
  for _, one in ipairs(f.seconds or {}) do
    if type(one) ~= "table" or type(one[1]) ~= "string" or type(one[2]) ~= "number" then
      fail("its times are none")
    end
  end
  whole(f, "n", 0)
  restoring.names(f.names, whole(f, "dim", 0))
  saved_tables.schema(f.schema)
  if f.block then whole(f, "block", 1) end
end

-- Two classes are one target, more are one each.
local function check_classes(f)
  if f.task ~= "classification" then return end
  if type(f.classes) ~= "table" or #f.classes < 2 then fail("a classification has no classes") end
  for _, label in ipairs(f.classes) do
    if type(label) ~= type(f.classes[1]) or type(label) ~= "string" and type(label) ~= "number" then
      fail("a class is %s", options.show(label))
    end
  end
  expect(f.targets, #f.classes > 2 and #f.classes or 1, "the targets of its classes")
end

local function check_calibration(f)
  local c = f.calibration
  if c == nil or c.method == "loss" then return end
  if not c.sigmoids then fail("its calibration has no sigmoids") end
  expect(#c.sigmoids, f.targets, "the number of sigmoids")
  form.each(c.sigmoids, function(one, what) form.check(one, sigmoid_form, what) end, "sigmoids")
  form.each(c.slopes, form.typed "number", "slopes")
  form.each(c.offsets, form.typed "number", "offsets")
end

local function restore_map(recipe, saved, file, f, cols)
  if recipe.features == nil then
    if saved.map ~= nil then fail("it has features, and its pipeline none") end
    return cols
  end
  f.features = recipe.features
  f.map, f.origin = restoring.map(recipe.features, file:table(saved, "map"), file)
  f.map_info = core.map_info(f.map)
  expect(f.map_info.dim, cols, "the columns that the features take")
  return f.map_info.features
end

local function restore_solution(recipe, saved, file, f, features)
  if recipe.solver == nil then
    if recipe.after then restore_weights(f, file, features) end
    return
  end
  f.solver = restore_solver(file:table(saved, "solver"), file)
  expect(f.solver.name, recipe.solver.name, "the solver that learnt")
  local targets
  if saved.learnt then
    f.learnt = restore_learnt(file:table(saved, "learnt"), f.solver, file, features)
    targets = saved.learnt.targets
  else
    restore_weights(f, file, features)
    targets = f.weights:cols()
  end
  expect(whole(f, "targets", 1), targets, "the number of targets")
  check_classes(f)
  check_calibration(f)
end

--- restoring.check_print(value, what): reports are read by those who print them.
function restoring.check_print(value, what)
  if not pcall(tostring, value) then fail("its %s is none that can be printed", what) end
end

--- restoring.model(recipe, saved, file): the fields of a model that the recipe, a pipeline, learnt.
function restoring.model(recipe, saved, file)
  local f = file:decode(file:table(saved, "fields"))
  check_fields(f)
  if ask(recipe, "is_searched") then fail("a pipeline that is to be searched is not fitted") end
  local cols
  f.stages, cols = restore_stages(recipe, file:table(saved, "stages"), file, f.dim)
  local features = restore_map(recipe, saved, file, f, cols)
  restore_solution(recipe, saved, file, f, features)
  return f
end

return restoring

--- Saving and loading: pipelines, features and schemas in files of the format safetensors. The
--- description is one JSON text, documented in docs/models.md; numbers are named arrays.
local automatic = require "scullery.model.automatic"
local choose = require "scullery.compose.choose"
local conformal = require "scullery.model.conformal"
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local derive = require "scullery.data.derive"
local description = require "scullery.model.description"
local fail = require "scullery.base.fail"
local fingerprint = require "scullery.data.fingerprint"
local instantiation = require "scullery.compose.instantiation"
local model = require "scullery.model.model"
local options = require "scullery.base.options"
local pipeline = require "scullery.model.recipe"
local posterior = require "scullery.model.posterior"
local restoring = require "scullery.model.restoring"
local saved_tables = require "scullery.model.saved_tables"
local sums = require "scullery.model.sums"
local used = require "scullery.base.used"

-- STREAM: the random stream of the parameters (SCL_STREAM_PARAMETERS).
local FORMAT, STREAM = "scullery", 0

local saving, Sums = {}, sums.class

local rules = options.declare("pipeline:save", {
  parameters = { type = "boolean", default = false },
  sums = { type = "boolean", default = false }, std = { type = "boolean", default = false } })
options.declare("features:save", rules)

-- ------------ what was fitted

-- Fitted row stages; their arrays are named after the kind, "pca2.vectors" for the second pca.
-- count: how many of each kind came before.
local function encode_stages(made, arrays, count)
  local list = {}
  for i, stage in ipairs(made) do
    local saved = core.stage_save(stage)
    count[saved.kind] = (count[saved.kind] or 0) + 1
    local title = saved.kind .. (count[saved.kind] > 1 and count[saved.kind] or "")
    for name, matrix in pairs(saved.arrays or {}) do
      arrays[("%s.%s"):format(title, name)] = matrix
    end
    list[i] = { kind = saved.kind, cols = saved.cols, constant = saved.constant,
      arrays = saved.arrays and title }
  end
  return list
end

-- What a sampler learnt, without its zeros where these are most of it: landmarks of sparse rows.
local function encode_state(state, put)
  local places, values, sizes = core.sparse_weights(state)
  put("sampler.state", not places and state or nil)
  put("sampler.state.places", places)
  put("sampler.state.values", values)
  put("sampler.state.sizes", sizes)
end

-- How the map was made, and numbers that prove that a loader made the same one: the features of a
-- few probe rows, and a digest of the parameters. The parameters themselves are added if the user
-- asks. grid: what whole-number features learnt. prefix: of the names of arrays.
local of_part = { columns = true, scale = true } -- fields of a part of a union: see encode_map
local function encode_one(map, origin, arrays, o, grid, prefix)
  local info, how = core.map_info(map), {}
  local function put(name, value) arrays[prefix .. name] = value end
  put("features.grid", grid)
  for name, value in pairs(origin) do
    if name == "state" then encode_state(value, put)
    elseif not of_part[name] then
      how[name] = description.encode(value, arrays, prefix .. "features." .. name)
    end
  end
  if info.entries > 0 then
    local counts, words = core.map_cells(map)
    put("cells.counts", counts)
    put("cells.words", words)
  end
  if o.parameters then put("features.parameters", core.map_parameters(map)) end
  local rows, numbers, check = core.map_probe(map)
  put("features.rows", rows)
  put("features.check", numbers)
  return { origin = how, check = check, features = info.features, method = info.method,
    stream = STREAM, log_scale = info.log_scale, one_hot = info.entries > 0 }
end

-- The same of any map. Arrays of part 2 of a union have names as "part2.features.rows". staged: row
-- stages follow the features, and the grid is of their results.
local function encode_map(map, origin, arrays, o, grid, staged)
  local parts = core.map_parts(map)
  if not parts then return encode_one(map, origin, arrays, o, grid, "") end
  arrays["features.grid"] = staged and grid or nil
  local list = {}
  for i, part in ipairs(parts) do
    list[i] = encode_one(part.map, origin.parts[i], arrays, o, core.map_grid(part.map),
      ("part%d."):format(i))
    list[i].columns, list[i].scale = part.columns, part.scale
  end
  return { parts = list, dim = origin.dim, features = core.map_info(map).features }
end

-- A model that is not linear in the features, as its solver saves it: named arrays, with the prefix
-- "solver." in the file.
local function encode_learnt(learnt, arrays)
  local saved, names = core.model_save(learnt), {}
  for name, array in pairs(saved.arrays) do
    names[#names + 1] = name
    arrays["solver." .. name] = array
  end
  table.sort(names)
  return { features = saved.features, targets = saved.targets, dtype = saved.dtype,
    arrays = names }
end

-- How the texts of a pipeline with sc.text become rows: the encoder's form, and the terms of its
-- vocabulary if it has one.
local function encode_encoder(encoder)
  local form = core.text_form(encoder)
  local _, terms = core.text_columns(encoder)
  form.vocabulary = terms and terms:totable()
  return form
end

local apart = {}
for _, name in ipairs(restoring.apart) do apart[name] = true end

-- The description of a fitted model; its matrices are added to arrays. o: the options of p:save.
local function encode_model(f, arrays, o)
  local fields = {}
  for name, value in pairs(f) do
    local known = apart[name] or name == "names" and f.encoder -- the terms of the vocabulary
    if not known then fields[name] = description.encode(value, arrays, name) end
  end
  local count = {}
  local body = { stages = encode_stages(f.stages, arrays, count), fields = fields,
    text = f.encoder and encode_encoder(f.encoder),
    map = f.map and encode_map(f.base or f.map, f.origin, arrays, o, core.map_grid(f.map),
      f.after ~= nil),
    after = f.after and encode_stages(f.after, arrays, count),
    solver = f.solver and { component = description.encode(f.solver, {}, "solver"),
      widths = f.solver.widths },
    learnt = f.learnt and encode_learnt(f.learnt, arrays) }
  local title = f.solver and "solver" or "components"
  if f.weights then
    local places, values = core.sparse_weights(f.weights)
    arrays[title .. ".weights"] = not places and f.weights or nil
    arrays[title .. ".weights.places"], arrays[title .. ".weights.values"] = places, values
    arrays[title .. ".intercept"] = f.intercept
    arrays[title .. ".pilot"] = f.pilot
  end
  return body
end

-- ------------ saving

-- True if a recipe has row stages after features, or selections of columns.
local function has_later_stages(recipe)
  for _, one in ipairs(recipe.variants or { { pipeline = recipe } }) do
    if #one.pipeline.after > 0 then return true end
    for _, stage in ipairs(one.pipeline.rows) do
      if stage.kind == "select" then return true end
    end
  end
  return false
end

local whole = { int8 = true, int16 = true }

-- The features themselves, or all those of a pipeline or of sums.
local function features_of(value)
  if instantiation.is_features(value) then return { value } end
  if sums.is(value) then return { value.model.features } end
  if not pipeline.is(value) then return {} end
  local list = { value.features }
  for _, one in ipairs(value.variants or {}) do list[#list + 1] = one.pipeline.features end
  return list
end

-- True if features of a pipeline, or features, are or may become whole numbers.
local function has_whole_numbers(value)
  for _, features in ipairs(features_of(value)) do
    local dtype = features.dtype
    if whole[dtype] then return true end
    for _, one in ipairs(choose.is(dtype) and dtype.values or {}) do
      if whole[one] then return true end
    end
  end
  return false
end

-- True for features, or a pipeline with some, that are made of the parts of a union.
local function has_union(value)
  for _, features in ipairs(features_of(value)) do
    if instantiation.is_union(features) then return true end
  end
  return false
end

-- True for a pipeline with sc.text, perhaps as one of several choices.
local function has_texts(recipe)
  for _, one in ipairs(recipe and (recipe.variants or { { pipeline = recipe } }) or {}) do
    if one.pipeline.text then return true end
  end
  return false
end

-- The lowest version of the format that can represent the file. Pilots came with version 2;
-- transformed targets, computed columns and other orders of dates with 3; row stages after
-- features, selections of columns and isotonic calibrations with 4; whole-number features with 5;
-- texts, and weights and landmarks without their zeros, with 6; unions of features with 7;
-- multi-label targets, and intervals by group or over the standard deviation, with 8.
local function version_of(value, arrays)
  local recipe = pipeline.is(value) and value
  local f = recipe and recipe.fitted
  local curves = f and f.calibration and f.calibration.curves
  local kept = f and f.interval or {}
  local schema = f and f.schema or dataset.is(value) and value.schema or nil
  if f and f.task == "multilabel" or kept.by or kept.scale or schema and schema.targets then
    return 8
  end
  if has_union(value) then return 7 end
  if has_texts(recipe) then return 6 end
  for name in pairs(arrays) do if name:find("%.places$") then return 6 end end
  if sums.is(value) or arrays["sums.moment"] or has_whole_numbers(value) then return 5 end
  if curves or recipe and has_later_stages(recipe) then return 4 end
  local newer = f and f.form or schema and schema.derived
  for _, column in ipairs(schema and schema.columns or {}) do newer = newer or column.order end
  if newer then return 3 end
  for name in pairs(arrays) do if name:find("%.pilot$") then return 2 end end
  return 1
end

-- A copy without its metatable, so that it is encoded as a plain table.
local function plain(one)
  local copy = {}
  for key, value in pairs(one) do copy[key] = value end
  return copy
end

-- The table of a search, with plain choices.
local function plain_cells(cells)
  local copy, outer = setmetatable(plain(cells), getmetatable(cells)), cells.outer
  if outer then
    copy.outer = plain(outer)
    copy.outer.choices = {}
    for k, choice in ipairs(outer.choices) do copy.outer.choices[k] = plain(choice) end
  end
  return copy
end

local function encode_pipeline(self, arrays, o)
  local f = self.fitted
  if o.parameters and not (f and f.map) then
    fail("parameters = true is for a fitted pipeline with features, which this is not")
  end
  if o.sums and not self.sums_kept then
    fail("sums = true is for a model that keeps its sums: p:fit(ds, { sums = true })")
  end
  if o.std and not f then fail("std = true is for a fitted pipeline") end
  local own = {}
  for name in pairs(pipeline.own_options) do own[name] = self[name] end
  return { kind = "pipeline", sums = o.sums and sums.encode(self.sums_kept, arrays) or nil,
    pipeline = { stages = description.encode(pipeline.given_stages(automatic.as_fitted(self)),
        arrays, "pipeline"),
      options = description.encode(own, arrays, "pipeline") },
    model = f and encode_model(f, arrays, o),
    posterior = (o.std or f and conformal.needs_posterior(f))
      and posterior.encode(self, arrays) or nil,
    data = self.data and fingerprint.of(self.data) or self.data_known,
    choice = self.choice and description.encode(plain(self.choice), arrays, "choice"),
    table = self.table and description.encode(plain_cells(self.table), arrays, "table") }
end

local function encode_features(self, arrays, o)
  if o.parameters and not self.fitted then
    fail("parameters = true is for features that are fitted, which these are not")
  end
  return { kind = "features", features = description.encode(self, arrays, "features"),
    names = self.fitted and self.names,
    map = self.fitted and encode_map(self.fitted, self.origin, arrays, o,
      core.map_grid(self.fitted)) }
end

local function encode(value, arrays, o)
  if sums.is(value) then -- saved as a fitted pipeline with weights of 0, from which load_sums takes
    local body = encode_pipeline(sums.without_solution(value), arrays, o)
    body.kind, body.sums = "sums", sums.encode(value, arrays)
    return body
  end
  if pipeline.is(value) then return encode_pipeline(value, arrays, o) end
  if instantiation.is_features(value) then return encode_features(value, arrays, o) end
  return { kind = "schema", schema = description.encode(value.schema, arrays, "schema") }
end

-- Writes to a file, or returns the bytes of one where there is no path.
local function write(value, path, given)
  local o, arrays = options.check("save", given, rules, 0), {}
  if dataset.is(value) and not value.schema then fail("this data set has no schema to save") end
  derive.check_saved(dataset.is(value) and value.schema
    or pipeline.is(value) and value.fitted and value.fitted.schema or nil)
  local body = encode(value, arrays, o)
  body.format, body.version, body.scullery = FORMAT, version_of(value, arrays), core.version
  return core.tensors_write(path, core.json_encode(body), arrays)
end

--- saving.save(value, path, options): see Pipeline:save. For a data set it saves the schema.
function saving.save(value, path, given)
  if type(path) ~= "string" or path == "" then
    fail("takes the path of a file, and got %s", options.show(path))
  end
  -- scullery sums: a model that was saved before is not replaced by its recipe
  if pipeline.instead_of_fit and pipeline.is(value) then pipeline.fitted(value, "pipeline:save") end
  write(value, path, given)
end

--- saving.bytes(value, options): the bytes of the file that saving.save writes.
function saving.bytes(value, given) return write(value, nil, given) end

--- s:save(path): writes the sums to a file that sc.load and sc.merge read.
function Sums:save(path) return options.guard("sums:save", 1, saving.save, self, path) end

-- ------------ loading

local function load_pipeline(file)
  local body, recipe = file.body, file:table(file.body, "pipeline")
  local given = file:decode(file:table(recipe, "stages"))
  for name, value in pairs(file:decode(file:table(recipe, "options"))) do
    if not pipeline.own_options[name] then
      fail("a pipeline has no option %s", options.show(name))
    end
    given[name] = value
  end
  local self, fitted = pipeline.new(given), nil
  if body.model then fitted = model.new(restoring.model(self, file)) end
  if fitted and fitted.open then self = automatic.reopened(self, fitted.open) end
  self.choice = saved_tables.choice(file:decode(body.choice))
  self.table = saved_tables.search(file:decode(body.table))
  self.data_known = saved_tables.fingerprint(body.data)
  if fitted then self.fitted, self.classes = fitted, fitted.classes end
  if body.posterior and fitted then posterior.decode(fitted, file.saved) end
  if fitted and fitted.interval then conformal.check(fitted) end
  if body.sums and fitted and fitted.map then
    self.sums_kept = sums.decode(self, file.saved, file:decode(body.sums))
  end
  restoring.check_print(self, "report")
  restoring.check_print(self.table, "table")
  return self
end

local function load_features(file)
  local self = file:decode(file:table(file.body, "features"))
  if not instantiation.is_features(self) then fail("its features are not features") end
  if file.body.map then
    self.fitted = core.saved_features(file.saved)
    self.origin = restoring.origin(self, file.body.map, file)
    self.names = file:decode(file.body.names)
  end
  return self
end

local function load_sums(file)
  local made = load_pipeline(file).sums_kept
  if not made then fail("it holds no sums") end
  return made
end

local loaders = { pipeline = load_pipeline, features = load_features, sums = load_sums,
  schema = function(file)
    return saved_tables.schema(file:decode(file:table(file.body, "schema")))
  end }

--- saving.read(path[, bytes]): sc.load without its title in errors, for callers with a title of
--- their own. bytes: those of a file in memory, which errors call `path`.
function saving.read(path, bytes)
  if type(path) ~= "string" or path == "" then
    fail("takes the path of a file, and got %s", options.show(path))
  end
  local file = restoring.open(path, bytes)
  local loader = loaders[file.body.kind]
  if file.body.kind == nil then fail("%s: it does not say what it contains", path) end
  if not loader then
    fail("%s: it contains %s, which this version does not know", path,
      options.show(file.body.kind))
  end
  local ok, result = pcall(loader, file)
  if ok then
    fingerprint.models_agree(file.sha256, used.names)
    return result
  end
  fail("%s: %s", path, options.plain(type(result) == "table" and result.message or result))
end

--- sc.load(path): loads what p:save(path), feats:save(path), s:save(path) or ds:save_schema(path)
--- wrote: a pipeline, features, sums, or the schema of a data set. Predictions are those of the
--- saved model: the same bits on the same machine with any number of threads, the same within
--- rounding elsewhere. A file contains no code, and everything in it is checked: a file that was
--- cut off or altered is refused, and so is one that needs a plugin that is missing, older, or
--- draws other parameters.
function saving.load(path) return options.guard("load", 1, saving.read, path) end

return saving

--- Features as a stage of a pipeline: of an instantiation (W, K, p, phi), and unions of such.
local core = require "scullery.core"
local choose = require "scullery.compose.choose"
local component = require "scullery.compose.component"
local dataset = require "scullery.data.dataset"
local matching = require "scullery.data.matching"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local row_stages = require "scullery.compose.stages"

local features = {}

local Features = objects.class("features", { example = "feats",
  fields = "T seed dtype samples method of scale parts inst fitted origin names unseeded columns",
  hidden = "inst fitted origin unseeded columns", hint = function(_, field)
    return ("options of features are given when they are made; p:clone{ [\"features.%s\"] = ... } \z
      is a pipeline with another value"):format(tostring(field))
  end })
features.features_class = Features

-- Whether the value is a list of different names or numbers (from 1) of columns.
local function are_columns(value)
  if type(value) ~= "table" or getmetatable(value) or #value == 0 then return false end
  local seen, count = {}, 0
  for _, column in pairs(value) do
    local known = type(column) == "string" or math.type(column) == "integer" and column >= 1
    if not known or seen[column] then return false end
    seen[column], count = true, count + 1
  end
  return count == #value
end

local feature_rules = {
  T = { test = function(v)
      return v == "auto" or type(v) == "number" and (math.tointeger(v) or 0) >= 1
    end, takes = "a whole number of at least 1, or \"auto\"", searchable = true },
  seed = { type = "integer", default = 0, searchable = true },
  dtype = { choices = { "float64", "float32", "int16", "int8" }, default = "float64",
    searchable = true },
  samples = { type = "integer", low = 1, searchable = true },
  method = { choices = { "exact", "quadrature", "monte-carlo" }, searchable = true },
  of = { test = are_columns, takes = "a list of different columns, by name or number" },
  scale = { type = "number", above = 0, searchable = true },
}
features.rules = feature_rules

-- The features' own options, in the order of printing and of a search.
local own = { "T", "seed", "dtype", "samples", "method", "of", "scale" }
features.own_options = own

-- The fields of the result of features.map that record how a map was made, besides its parts.
local from_spec = { "dim", "whiten", "widths", "state", "T", "seed", "dtype", "samples", "method" }

--- features.new(inst, given, title, unseeded): unfitted features of an instantiation; given: their
--- own options; unseeded: no seed was given to the function `title`.
function features.new(inst, given, title, unseeded)
  local self = options.check(title, given, feature_rules, 3)
  if unseeded then self.unseeded = self.seed end
  self.T = math.tointeger(self.T) or self.T
  for _, T in ipairs(choose.is(self.T) and self.T.values or {}) do
    if T == "auto" then
      error(title .. ": option 'T' got \"auto\" in an sc.choose; it takes numbers there, or \z
        \"auto\" alone", 3)
    end
  end
  self.inst = inst
  return setmetatable(self, Features)
end

local function T_text(T) return T == "auto" and "\"auto\"" or tostring(T) end

-- A list of names and numbers of columns, as typed.
local function columns_text(list)
  local texts = {}
  for k, column in ipairs(list) do
    texts[k] = type(column) == "string" and ("%q"):format(column) or tostring(column)
  end
  return "{" .. table.concat(texts, ", ") .. "}"
end

--- features.parts(feats): the list of the parts of a union; of other features they alone.
function features.parts(self) return self.parts or { self } end

--- features.is_union(feats): true for a union, and for features of some columns or with a scale.
function features.is_union(self)
  return self.parts ~= nil or self.of ~= nil or self.scale ~= nil
end

--- features.union_text(feats): what such features are, for errors; nil for others, and for nil.
function features.union_text(self)
  if not self or not features.is_union(self) then return nil end
  return self.parts and "a union" or "of some columns, or have a scale"
end

-- The texts of all parts of a union, by a function of one.
local function of_parts(self, show)
  local texts = {}
  for i, part in ipairs(self.parts) do texts[i] = show(part) end
  return table.concat(texts, " + ")
end

function Features:__tostring()
  if self.parts then return of_parts(self, tostring) end
  local i = self.inst
  local parts = { "p = " .. tostring(i.p), "phi = " .. tostring(i.phi) }
  if i.K then table.insert(parts, 1, "K = " .. tostring(i.K)) end
  if self.T then parts[#parts + 1] = "T = " .. T_text(self.T) end
  parts[#parts + 1] = "seed = " .. tostring(self.seed)
  if self.dtype ~= "float64" then parts[#parts + 1] = "dtype = " .. tostring(self.dtype) end
  if self.of then parts[#parts + 1] = "of = " .. columns_text(self.of) end
  if self.scale then parts[#parts + 1] = "scale = " .. options.show(self.scale) end
  return "features{" .. table.concat(parts, ", ") .. "}"
end

--- feats:label([with_options]): the names of sampler, nonlinearity and kernel as a text;
--- with_options = true: with their options and T.
function Features:label(with_options)
  if self.parts then
    return of_parts(self, function(part) return part:label(with_options) end)
  end
  local i = self.inst
  local text = i.p:label(with_options) .. "/" .. i.phi:label(with_options)
  if i.K then text = text .. "/" .. i.K:label(with_options) end
  return with_options and self.T and text .. ", T = " .. T_text(self.T) or text
end

--- features.copied(feats): a copy that is not fitted.
function features.copied(self)
  local copy = setmetatable({}, Features)
  for key, value in pairs(self) do copy[key] = value end
  copy.fitted, copy.origin = nil, nil
  return copy
end

--- features.searched(feats): their searched options: a list of {path, values}. Those of part 2 of a
--- union have paths as "2.features.scale".
function features.searched(self)
  local list = {}
  for i, part in ipairs(self.parts or {}) do
    for _, one in ipairs(features.searched(part)) do
      one.path = i .. "." .. one.path
      list[#list + 1] = one
    end
  end
  if self.parts then return list end
  for _, part in ipairs{ self.inst.p, self.inst.phi, self.inst.K or nil } do
    for _, one in ipairs(component.searched(part)) do list[#list + 1] = one end
  end
  for _, name in ipairs(own) do
    if choose.is(self[name]) then
      list[#list + 1] = { path = "features." .. name, values = self[name].values,
        choose = self[name], option = name }
    end
  end
  return list
end

-- The choices of part i of a union, by the paths of the part alone.
local function choices_of(self, i, choices)
  if not self.parts then return choices end
  local list, prefix = {}, i .. "."
  for path, value in pairs(choices) do
    if path:sub(1, #prefix) == prefix then list[path:sub(#prefix + 1)] = value end
  end
  return list
end

--- features.with_part(feats, name, part): a copy with another sampler (name "p") or nonlinearity
--- ("phi"), not fitted.
function features.with_part(self, name, part)
  local copy, inst = features.copied(self), {}
  for key, value in pairs(self.inst) do inst[key] = value end
  inst[name] = part
  copy.inst = setmetatable(inst, getmetatable(self.inst))
  return copy
end

--- features.resolved(feats, choices): a copy with every searched option replaced by its choice.
function features.resolved(self, choices)
  local copy = features.copied(self)
  if self.parts then
    copy.parts = {}
    for i, part in ipairs(self.parts) do
      copy.parts[i] = features.resolved(part, choices_of(self, i, choices))
    end
    return copy
  end
  local inst = self.inst
  copy.inst = setmetatable({ W = inst.W, K = inst.K and component.resolved(inst.K, choices),
    p = component.resolved(inst.p, choices), phi = component.resolved(inst.phi, choices) },
    getmetatable(inst))
  for _, name in ipairs(own) do
    copy[name] = choose.pick(self[name], "features." .. name, choices)
  end
  return copy
end

-- The parts as the engine's instances: { sampler, phi, kernel, widths }. widths() -> gamma by the
-- "scale" rule, gamma by the "median" rule, columns; it is called at most once, if a width depends
-- on the data. Raises an error if one does and widths is nil.
local function instances(inst, choices, widths)
  local found
  local function make(part)
    if not part then return nil end
    if not component.waiting(part, choices) then return component.instance(part, choices) end
    if not widths then error("a width of \"scale\" or \"median\" needs data: fit first", 0) end
    found = found or { widths() }
    return component.instance(part, choices, found)
  end
  return { sampler = make(inst.p), phi = make(inst.phi), kernel = make(inst.K), widths = found }
end

features.instances = instances

-- The map of features that are no union; see features.map. learn: let it learn cells and units.
local function map_of_one(self, source, stages, choices, o)
  local spec = instances(self.inst, choices, function() return core.widths(source, stages) end)
  for _, name in ipairs(own) do
    spec[name] = choose.pick(self[name], "features." .. name, choices)
  end
  if spec.T == "auto" then
    error("T = \"auto\" is chosen by p:fit of a pipeline with a solver: give a number here", 0)
  end
  spec.dim = o.dim
  spec.whiten, spec.staged, spec.together = o.whiten, o.staged, o.together
  if core.learns(spec.sampler) then
    local kernel = self.inst.phi.kind == "kernel" and spec.phi or spec.kernel
    spec.state, spec.T = core.learn_state(source, stages, spec.sampler, kernel, spec.T, spec.seed)
  end
  self.inst.last_dim = spec.dim
  local map = core.map(spec)
  if not o.staged or o.joined and core.map_info(map).entries > 0 then
    core.learn(source, stages, map)
  end
  local origin = {}
  for _, name in ipairs(from_spec) do origin[name] = spec[name] end
  return map, origin
end

-- The numbers of the columns of a part, ascending; nil: all. names: of the columns that arrive.
local function places_of(of, names, dim)
  if not of then return nil end
  local places, known = {}, {}
  for j, name in ipairs(names or {}) do known[name] = j end
  for k, column in ipairs(of) do
    places[k] = type(column) == "string" and known[column] or column
    if type(places[k]) == "string" then
      error(("features: 'of' names column '%s', and the columns that arrive %s"):format(column,
        names and "have none of that name" .. objects.suggestion(column, names)
          or "have no names: give their numbers"), 0)
    elseif places[k] > dim then
      error(("features: 'of' names column %d, and %d columns arrive"):format(places[k], dim), 0)
    end
  end
  table.sort(places)
  for k = 2, #places do
    if places[k] == places[k - 1] then
      error(("features: 'of' has column %d twice"):format(places[k]), 0)
    end
  end
  return places
end

-- The map of a union: each part learns from its own columns.
local function map_of_union(self, source, stages, choices, o)
  local list, origin = {}, { dim = o.dim, parts = {} }
  local names = self.columns and row_stages.column_names(self.columns, stages)
  for i, part in ipairs(features.parts(self)) do
    local chosen = choices_of(self, i, choices)
    local columns, before = places_of(part.of, names, o.dim), stages
    if columns then
      before = table.move(stages, 1, #stages, 1, {})
      before[#before + 1] = row_stages.fit(row_stages.select{ columns = columns }, source, stages)
    end
    local map, from = map_of_one(part, source, before, chosen, { staged = o.staged, joined = true,
      together = o.together, whiten = part.inst.phi.kind == "kernel",
      dim = columns and #columns or o.dim })
    from.columns, from.scale = columns, choose.pick(part.scale, "features.scale", chosen)
    list[i] = { map = map, columns = columns, scale = from.scale }
    origin.parts[i] = from
  end
  return core.map_union(list, o.dim), origin
end

--- features.map(feats, source, stages, choices[, o]): the engine's map for the rows of a source
--- after stages. It draws the parameters, or learns them from the rows if the sampler learns, binds
--- the kernels, and computes widths that depend on the data. o.whiten: kernel sections as
--- L^-1 k(W, x), as they always are in a union. o.staged: row stages follow the features.
--- o.together: all processes make this call, and may divide the drawing. Second result: the fields
--- that the map was made from, besides the parts: dim, whiten, widths (computed from data), state
--- (of the sampler), and the values of T, seed, dtype, samples and method; of a union dim, and in
--- `parts` these fields, columns and scale of each.
function features.map(self, source, stages, choices, o)
  local dim = #stages > 0 and core.stage_info(stages[#stages]).cols_out
    or select(2, core.source_size(source))
  local make = features.is_union(self) and map_of_union or map_of_one
  o = o or {}
  return make(self, source, stages, choices or {}, { whiten = o.whiten, staged = o.staged,
    together = o.together, dim = dim })
end

--- features.note_names(feats, names): the names of the data's columns (or nil), by which `of` finds
--- them.
function features.note_names(self, names) self.columns = names end

--- features.learns(feats, choices): true if the parameters are learnt from rows, so that folds must
--- not share them.
function features.learns(self, choices)
  for _, part in ipairs(features.resolved(self, choices or {}).parts or { self }) do
    local p = component.resolved(part.inst.p, self.parts and {} or choices or {})
    if not component.waiting(p) and core.learns(component.instance(p)) then return true end
  end
  return false
end

-- ------------ methods

--- features.matrix_of(x, title): the rows of a matrix, a list of rows or a data set as a matrix;
--- raises an error for other values.
local function matrix_of(x, title)
  if core.is_rows(x) then return x end
  if type(x) == "table" and core.is_rows(x.X) then return x.X end
  if type(x) == "table" and not getmetatable(x) then return core.matrix(x) end
  error(title .. ": takes a matrix or a data set, and got " .. options.show(x), 3)
end

--- feats:fit(X): draws the parameters for the columns of X. Samplers that learn use the rows, and
--- widths such as "median" are computed from them. Returns the features. If X is a data set with
--- names, columns of other data sets are matched by name.
function Features:fit(given)
  local X = matrix_of(given, "features:fit")
  local row, col = core.find_nonfinite(X)
  if row then error(("features:fit: X is not finite in row %d, column %d"):format(row, col), 2) end
  return options.guard("features:fit", 1, function()
    features.note_names(self, dataset.is(given) and given.names or nil)
    self.fitted, self.origin = features.map(self, core.source(X), {})
    self.names = dataset.is(given) and given.names or nil
    return self
  end)
end

-- The engine's map; draws it for the columns of X if the features are not fitted yet, unless it
-- would have to be learnt from rows.
local function fitted(self, title, X)
  if self.fitted then return self.fitted end
  if X and features.learns(self) then
    error(("%s: sampler.%s learns from rows: call feats:fit(X) first"):format(title,
      self.parts and "..." or self.inst.p.name), 3)
  end
  if X then self:fit(X) return self.fitted end
  error(title .. ": call features:fit(X) first: the parameters depend on the number of columns", 3)
end

-- The map, which is fitted to X first if necessary, and the rows of X with their columns in the
-- order of the fit.
local function fitted_to(self, title, given)
  local X = matrix_of(given, title)
  local map = fitted(self, title, given)
  local places = self.names and dataset.is(given) and options.guard(title, 2, matching.columns,
    given, self)
  return map, places and core.transform(core.source_columns(core.source(X), places), {}) or X
end

--- feats:transform(X): the n x D matrix of features, all in memory; k(w_t, x) for a kernel as phi.
--- Columns of a data set are matched by name if both sides have names.
function Features:transform(X)
  local map
  map, X = fitted_to(self, "features:transform", X)
  return options.guard("features:transform", 1, core.transform, core.source(X), {}, map)
end

--- feats:kernel(X, Y): the estimate of the kernel, <Phi(x), Phi(y)>, a row for each row of X and a
--- column for each row of Y. For a kernel as phi: the Nystrom estimate k(x, W) k(W, W)^-1 k(W, y).
function Features:kernel(X, Y)
  local map, left_rows = fitted_to(self, "features:kernel", X)
  local right_rows = Y and select(2, fitted_to(self, "features:kernel", Y)) or left_rows
  return options.guard("features:kernel", 1, function()
    if core.map_info(map).section then map = core.map_whitened(map, true) end
    local left, right = core.transform(core.source(left_rows), {}, map),
      core.transform(core.source(right_rows), {}, map)
    return left * right:t()
  end)
end

--- feats:codes(X): the packed hash codes of rows (see sc.codes): for maxout{ q = } the position of
--- the largest projection, for sign and step one bit. Their mean Hamming distance estimates 1 -
--- inst:collision(x, y).
function Features:codes(X)
  if features.is_union(self) then
    error("features:codes: " .. (self.parts and "a union has no codes: its parts have them"
      or "features with 'of' or 'scale' have no codes"), 2)
  end
  local map
  map, X = fitted_to(self, "features:codes", X)
  return options.guard("features:codes", 1, function()
    return require("scullery.compose.codes")(core.map_codes(map, X))
  end)
end

--- feats:parameters(): the parameters, one in each row. Dense and structured: w, then b.
--- Thresholds: column, threshold. Sparse: columns, weights, b. Grids: pitches, shifts. If the
--- nonlinearity takes q inputs for each parameter, there are q T rows: input k of parameter t is
--- row k T + t.
function Features:parameters() return core.map_parameters(fitted(self, "features:parameters")) end

--- feats:gram(): the T x T Gram matrix G_st = K(w_s, w_t); needs a K or a kernel as phi.
function Features:gram() return core.map_gram(fitted(self, "features:gram")) end

--- feats:info(): a table with T, D, method ("direct", "exact", "quadrature" or "monte-carlo"), the
--- width of the kernel and dtype.
function Features:info() return core.map_info(fitted(self, "features:info")) end

--- features.is_features(value)
function features.is_features(value) return getmetatable(value) == Features end

features.matrix_of = matrix_of

return features

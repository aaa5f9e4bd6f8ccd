--- Exact sums over rows: made from parts of the data, solved, encoded for files. Sums of
--- whole-number features and of bits are the same for any order and any cut of the rows
--- (core/rows/whole_sums.h), so that the solution of joined sums is bit for bit that of one fit.
--- merging.lua joins sums, changing.lua adds rows and takes rows out, sums_solving.lua chooses a
--- regularisation.
local automatic = require "scullery.model.automatic"
local checkpoint = require "scullery.model.checkpoint"
local component = require "scullery.compose.component"
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local description = require "scullery.model.description"
local fitting = require "scullery.model.fitting"
local objects = require "scullery.base.objects"
local open_block = require "scullery.model.open_block"
local options = require "scullery.base.options"
local parts = require "scullery.model.sums_parts"
local plan = require "scullery.model.plan"
local recipe = require "scullery.model.recipe"
local target_form = require "scullery.model.target_form"

local sums = {}

-- pipeline: the recipe; model: what was fitted before the solver; handle: the engine's sums; parts:
-- which rows (sums_parts.lua); rows: how many; forgotten: how many were taken out; partial: true if
-- parts are missing on purpose; folds: the number of rows of each fold that was summed separately;
-- fold_seed: the seed by which rows were dealt to the folds (nil in files of older versions);
-- instruction_set: the processor's instruction set with which the features were computed, because
-- their last bits depend on it; open: rows of a block that is not full (open_block.lua).
local Sums = objects.class("sums", { example = "s",
  fields = "pipeline model handle parts rows forgotten partial folds fold_seed instruction_set \z
    open",
  hidden = "handle model open" })
sums.class = Sums

--- sums.is(value)
function sums.is(value) return getmetatable(value) == Sums end

--- sums.new(fields): sums with these fields.
function sums.new(fields)
  fields.instruction_set = fields.instruction_set or core.instruction_set()
  return setmetatable(fields, Sums)
end

--- sums.check_alike(title, a, name_a, b, name_b): raises an error if the instruction sets a and b
--- of two sums differ: then equal rows may have features that differ in their last bits.
function sums.check_alike(title, a, name_a, b, name_b)
  if a == b then return end
  error(("%s: the features of %s were made with %s and those of %s with %s, whose last bits \z
    differ: set the environment variable SCULLERY_ISA to one of them everywhere"):format(title,
    name_a, a, name_b, b), 0)
end

--- sums.with(s, fields): a copy with some fields replaced.
function sums.with(self, fields)
  local copy = {}
  for key, value in pairs(self) do copy[key] = value end
  for key, value in pairs(fields) do copy[key] = value end
  return setmetatable(copy, Sums)
end

--- sums.text(s[, what]): a description of the rows that sums cover; what: a text after their
--- number.
function sums.text(self, what)
  local info = core.sums_info(self.handle)
  local text = { ("%d rows%s"):format(self.rows, what or "") }
  if self.forgotten > 0 then text[#text + 1] = ("%d forgotten"):format(self.forgotten) end
  if self.partial then text[#text + 1] = "parts of the data are missing" end
  if self.folds then text[#text + 1] = ("%d folds apart"):format(#self.folds) end
  if not info.printed then text[#text + 1] = "without fingerprints" end
  if self.open and self.open.rows > 0 then
    text[#text + 1] = ("%d of them kept"):format(self.open.rows)
  end
  return table.concat(text, ", ")
end

function Sums:__tostring()
  local f = self.model
  return "sums over " .. sums.text(self, (" x %d columns, %d features, %d target%s"):format(f.dim,
    core.sums_info(self.handle).features, f.targets, f.targets == 1 and "" or "s"))
end

-- ------------ checks

-- Whether a solver needs the rows themselves, and not only sums over them.
local function needs_rows(solver)
  return not core.solver_facts(component.instance(solver)).by_sums
end

-- The names of the solvers that need sums alone, with their defaults.
local function by_sums()
  local list = {}
  for _, one in ipairs(core.plugin_list()) do
    local made = one.kind == "solver" and component.group("solver")[one.name]()
    if made and not needs_rows(made) then list[#list + 1] = one.name end
  end
  table.sort(list)
  return table.concat(list, ", ")
end

--- sums.check_solver(solver, title): raises an error for a solver that needs more than sums.
function sums.check_solver(solver, title)
  if not needs_rows(solver) then return end
  error(("%s: %s needs the rows themselves: sums over them are not enough; solvers that solve \z
    from sums, with their defaults: %s"):format(title, tostring(solver), by_sums()), 0)
end

-- Raises an error for a recipe that cannot be solved from sums over parts of the rows.
local function check_recipe(p, title)
  if recipe.is_searched(p) then
    error(title .. ": an option is sc.choose{...}: sums are of one recipe", 0)
  end
  if not p.solver then error(title .. ": this pipeline has no solver", 0) end
  if not p.features then error(title .. ": sums need features, and this pipeline has none", 0) end
  if p.block then error(title .. ": sums choose their own blocks: leave 'block' out", 0) end
  if p.class_weights == "balanced" then
    error(title .. ": class_weights = \"balanced\" depends on all rows: give a weight for each \z
      class", 0)
  end
  sums.check_solver(p.solver, title)
end

-- ------------ summing and solving

--- sums.of_source(p, source, given, prepared, o): the engine's exact sums over rows o.first to
--- o.last (by default all) of a source, with prepared stages and map. given: the options of the
--- training (recipe.training_options). o: fingerprints, like (the sums to which these will be
--- added), checkpoint (the engine's).
function sums.of_source(p, source, given, prepared, o)
  local _ <close> = core.level "fit"
  given.by_sums, given.fingerprints = true, o.fingerprints
  given.from, given.to, given.like, given.checkpoint = o.first, o.last, o.like, o.checkpoint
  local training <close> = core.training(source, prepared.stages, prepared.map, given)
  local constant = core.solver_facts(component.instance(p.solver)).wants_intercept
  return core.sums_take(training, constant)
end

--- sums.of_rows(p, ds, prepared, o): the same over the rows of a data set. o, besides: folds (the
--- fold of each row of ds), whole (true if these are all rows: the labels of a stream are checked
--- then), tail (true if they are the last rows: the second result is their open block).
function sums.of_rows(p, ds, prepared, o)
  local source, coded = dataset.source_of_targets(ds)
  local given = recipe.training_options(p, ds, o.folds)
  local handle = sums.of_source(p, source, given, prepared, o)
  if o.whole then dataset.check_seen(coded) end
  if not o.tail or o.folds then return handle end
  local _, dim = core.source_size(source)
  return handle, open_block.after({ map = prepared.map, stages = prepared.stages, dim = dim },
    source, given.weights, #ds)
end

--- sums.solve(model, handle, rows, solver): the solution from sums over `rows` rows, as core.solve
--- returns it. The source has these rows' shape but no rows.
function sums.solve(model, handle, rows, solver)
  local _ <close> = core.level "fit"
  local source = core.absent_rows(rows, model.dim, model.targets)
  local training <close> = core.training(source, model.stages, model.map,
    { classes = model.classes and #model.classes or 0, sums = handle })
  return core.solve(training, component.instance(solver))[1]
end

-- A model with everything but the weights.
local function unsolved(p, ds, prepared, targets)
  return fitting.model(p, { ds:size() }, prepared, { solver = p.solver, targets = targets,
    task = ds.task, classes = ds.classes, names = ds.names, schema = ds.schema,
    weighted = (p.class_weights or ds.weights) ~= nil, class_weights = p.class_weights,
    form = ds.form, encoder = ds.encoder })
end

-- ------------ p:sums and p:fit

-- The rule of an option { a, b } of whole numbers with 1 <= a <= b.
local function pair(takes)
  local function test(list)
    local a, b = nil, nil
    if type(list) == "table" and #list == 2 then
      a, b = math.tointeger(list[1]), math.tointeger(list[2])
    end
    return a and b and a >= 1 and b >= a
  end
  return { test = test, takes = takes }
end

local sums_rules = options.declare("pipeline:sums", {
  part = pair "{ i, n }, part i of n", rows = pair "{ first, last }", save = { type = "string" },
  folds = { type = "integer", low = 2, high = 1000 }, seed = { type = "integer", default = 0 },
  fingerprints = { type = "boolean", default = true } })

-- The fold of each row of a data set, and the number of rows of each fold from row `first` to
-- `last`.
local function folds_of(ds, o, first, last)
  if not o.folds then return nil, nil end
  local ids, counts = ds:fold_ids{ k = o.folds, seed = o.seed }, {}
  for f = 1, o.folds do counts[f] = 0 end
  for i = first, last do counts[ids[i]] = counts[ids[i]] + 1 end
  return ids, counts
end

--- sums.of(p, ds, given): see Pipeline:sums.
function sums.of(p, ds, given)
  local title = "pipeline:sums"
  local o = options.check(title, given or {}, sums_rules, 0)
  check_recipe(p, title)
  local open = automatic.open(p)
  if open and open.T then
    error(title .. ": T = \"auto\" is chosen by p:fit: sums are of a given number of parameters", 0)
  end
  if open and open.width then
    error(("%s: the width '%s' is not given: sums do not choose it, p:fit does"):format(title,
      open.width), 0)
  end
  ds = recipe.encoded(p, ds)
  fitting.check_data(ds, title)
  ds = target_form.learn(p.target, ds)
  if o.folds and recipe.learns_from_targets(p) then
    error(title .. ": folds of sums have the row stages of all rows, and one of these learns from \z
      the targets: p:search(ds, { folds = k }) fits it without each fold", 0)
  end
  local source = dataset.source_of_targets(ds)
  local prepared = recipe.prepare(p, source, recipe.row_weights(p, ds))
  local by_blocks = core.map_exact(prepared.map) == "blocks"
  local first, last = parts.range(ds, o, title,
    by_blocks and core.block_rows(source, prepared.stages, prepared.map) or 1)
  local ids, counts = folds_of(ds, o, first, last)
  local handle, tail = sums.of_rows(p, ds, prepared, { first = first, last = last, folds = ids,
    fingerprints = o.fingerprints, whole = last - first + 1 == #ds, tail = last == #ds })
  local self = sums.new{ pipeline = p:clone(), handle = handle, rows = last - first + 1,
    forgotten = 0, folds = counts, fold_seed = counts and o.seed, open = tail,
    parts = { { source = parts.source(target_form.original(ds)), from = first, to = last } },
    model = unsolved(p, ds, prepared, core.sums_info(handle).targets) }
  if o.save then self:save(o.save) end
  return self
end

--- sums.fit(p, ds, o): p:fit(ds, { sums = true }): the pipeline, fitted from sums, which it keeps.
function sums.fit(self, ds, o)
  local title = "pipeline:fit"
  if o.tiles then error(title .. ": option 'tiles' is for a fit that keeps no sums", 0) end
  check_recipe(self, title)
  fitting.check_budget(self, o.budget)
  ds = recipe.encoded(self, ds)
  fitting.check_data(ds, title)
  plan.refuse(self, ds, true)
  local stored <close> = checkpoint.open(title, self, ds, o, "sums")
  ds = target_form.learn(self.target, ds)
  local p, chosen, ready, tell = self, nil, nil, nil
  if automatic.open(self) then
    p, chosen, ready, tell = automatic.choose(self, ds, stored, o.budget)
  end
  local prepared = ready and ready.prepared or recipe.prepare(p, dataset.source_of_targets(ds),
    recipe.row_weights(p, ds))
  local began = core.now()
  local handle, tail = sums.of_rows(p, ds, prepared, { fingerprints = o.fingerprints ~= false,
    whole = true, tail = true, checkpoint = stored and stored:begin(fitting.LAST_PART, 1) })
  local model = unsolved(p, ds, prepared, core.sums_info(handle).targets)
  local fit = sums.solve(model, handle, #ds, p.solver)
  if tell then tell() end
  prepared.seconds[#prepared.seconds + 1] = { tostring(p.solver), core.now() - began }
  fitting.keep(self, ds, prepared, p.solver, fit, p.features, chosen)
  self.sums_kept = sums.new{ pipeline = p:clone(), handle = handle, rows = #ds, forgotten = 0,
    model = model, open = tail,
    parts = { { source = parts.source(target_form.original(ds)), from = 1, to = #ds } } }
  return self
end

-- ------------ solving

--- sums.store(p, s, fit, solver): makes the solution of the sums the pipeline's model. Training
--- rows and calibration are dropped, because they may not be those of the sums.
function sums.store(p, self, fit, solver)
  local old = p.fitted
  p.fitted = self.model:changed{ solver = solver, weights = fit.weights, intercept = fit.intercept,
    pilot = fit.pilot, n = self.rows, chosen = old and old.chosen, open = old and old.open,
    growth = old and old.growth }
  p.fitted.report = fitting.report(fit, p.fitted)
  p.classes, p.data = self.model.classes, nil
  fitting.warn(p, fit)
end

--- sums.all_folds(s): the engine's sums over all rows, with the folds added up.
function sums.all_folds(self)
  return self.folds and core.sums_without(self.handle, 0) or self.handle
end

--- sums.solved(s, p): the recipe p as a fitted pipeline, which keeps sums of its own.
function sums.solved(self, p)
  sums.check_solver(p.solver, "sums:solve")
  local handle = sums.all_folds(self)
  local fit = sums.solve(self.model, handle, self.rows, p.solver)
  sums.store(p, self, fit, p.solver)
  p.sums_kept = sums.with(self, { handle = handle == self.handle and core.sums_copy(handle)
    or handle, folds = false, pipeline = p:clone() })
  return p
end

--- sums.exact(p): "rows" if sums of the model's features are the same for any order and any cut of
--- the rows, "blocks" if for any cut at blocks; or nil and why not.
function sums.exact(p)
  local f = p.fitted
  if not f or not f.map then return nil, "there are no features" end
  return core.map_exact(f.map)
end

-- ------------ saving

--- sums.encode(s, arrays): the description of the sums for a file; their matrices are added to
--- arrays.
function sums.encode(self, arrays)
  for name, array in pairs(core.sums_save(self.handle)) do arrays[name] = array end
  return { parts = self.parts, rows = self.rows, forgotten = self.forgotten,
    partial = self.partial, folds = self.folds or nil, instruction_set = self.instruction_set,
    fold_seed = self.folds and self.fold_seed or nil,
    open = self.open and description.encode(self.open, arrays, "open_block") }
end

local function whole(value, low) return math.type(value) == "integer" and value >= low end

-- Whether a value from a file is a list of the numbers of rows of `count` folds, which add up to
-- `rows`; nil is valid for one fold.
local function are_folds(list, count, rows)
  if list == nil then return count == 1 end
  if type(list) ~= "table" or #list ~= count or count < 2 then return false end
  local sum = 0
  for _, one in ipairs(list) do
    if not whole(one, 0) then return false end
    sum = sum + one
  end
  return sum == rows
end

--- sums.decode(p, saved, said): the sums of a loaded pipeline. saved: the engine's file. said: the
--- decoded description (see sums.encode), each field of which is checked.
function sums.decode(p, saved, said)
  local f = p.fitted
  local handle = core.saved_sums(saved, core.map_info(f.map).features, f.targets)
  local info = core.sums_info(handle)
  local good = type(said) == "table" and whole(said.rows, 1) and whole(said.forgotten, 0)
    and (said.partial == nil or said.partial == true) and parts.check(said.parts)
    and are_folds(said.folds, info.folds, said.rows)
    and (said.fold_seed == nil or math.type(said.fold_seed) == "integer")
    and type(said.instruction_set) == "string"
    and open_block.valid(said.open, f)
  if not good then error("the description of its sums is not valid", 0) end
  if info.printed and info.fingerprints ~= said.rows then
    error(("its sums have %d rows, and the fingerprints of %d"):format(said.rows,
      info.fingerprints), 0)
  end
  return sums.new{ pipeline = automatic.as_fitted(p):clone(), handle = handle, rows = said.rows,
    forgotten = said.forgotten, parts = said.parts, partial = said.partial, folds = said.folds,
    fold_seed = said.fold_seed, open = said.open, instruction_set = said.instruction_set,
    model = f }
end

--- sums.without_solution(s): its model as a fitted pipeline, with zeros as weights, for a file.
function sums.without_solution(self)
  local f = self.model
  local features = core.map_info(f.map).features
  local p = self.pipeline:clone()
  p.fitted = f:with{ weights = core.zeros(features, f.targets),
    intercept = core.zeros(1, f.targets) }
  return p
end

return sums

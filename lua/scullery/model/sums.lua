--- Exact sums over rows: made of parts of the data, joined, saved, solved; rows added and taken out.
--- Sums of whole-number features and of bits are the same for any order and any cut of the rows
--- (rows/whole_sums.h), so that a solution of joined sums has the bits of one fit.
local core = require "scullery.core"
local automatic = require "scullery.model.automatic"
local component = require "scullery.compose.component"
local dataset = require "scullery.data.dataset"
local fingerprint = require "scullery.data.fingerprint"
local fitting = require "scullery.model.fitting"
local matching = require "scullery.data.matching"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local recipe = require "scullery.model.recipe"
local target_form = require "scullery.model.target_form"

local sums = {}

local Sums = objects.class("sums", { example = "s",
  fields = "pipeline model handle parts rows forgotten partial",
  hidden = "handle model" })
sums.class = Sums

--- sums.is(value)
function sums.is(value) return getmetatable(value) == Sums end

function Sums:__tostring()
  local f = self.model
  return ("sums over %d rows x %d columns: %d features, %d target%s"):format(self.rows, f.dim,
    self.handle and core.sums_info(self.handle).features or 0, f.targets,
    f.targets == 1 and "" or "s")
end

-- ------------------------------------------------------------ what was summed
--
-- parts: a list of { source = { rows, cols, sha256 }, from, to }: the rows of each source.

local function same_source(a, b)
  return a.rows == b.rows and a.cols == b.cols and a.sha256 == b.sha256
end

local function part_text(part)
  return part.from == 1 and part.to == part.source.rows
    and ("all %d rows of a data set"):format(part.source.rows)
    or ("rows %d to %d of %d"):format(part.from, part.to, part.source.rows)
end

-- Raises an error if two parts have rows in common.
local function check_apart(list)
  for i, a in ipairs(list) do
    for j = 1, i - 1 do
      local b = list[j]
      if same_source(a.source, b.source) and a.from <= b.to and b.from <= a.to then
        error(("%s come twice: in %s and in %s"):format(part_text{ source = a.source,
          from = math.max(a.from, b.from), to = math.min(a.to, b.to) },
          b.file or "one part", a.file or "another"), 0)
      end
    end
  end
end

-- The ranges of rows of each source that no part has.
local function missing(list)
  local found, done = {}, {}
  for i, one in ipairs(list) do
    if not done[i] then
      local ranges = {}
      for j = i, #list do
        if same_source(one.source, list[j].source) then
          done[j] = true
          ranges[#ranges + 1] = list[j]
        end
      end
      table.sort(ranges, function(a, b) return a.from < b.from end)
      local next_row = 1
      for _, range in ipairs(ranges) do
        if range.from > next_row then
          found[#found + 1] = { source = one.source, from = next_row, to = range.from - 1 }
        end
        next_row = range.to + 1
      end
      if next_row <= one.source.rows then
        found[#found + 1] = { source = one.source, from = next_row, to = one.source.rows }
      end
    end
  end
  return found
end

-- ------------------------------------------------------------ summing and solving

-- The exact sums of rows with a prepared map, and the number of columns of the source.
local function sum_rows(p, ds, prepared, o)
  local source, coded = dataset.source_of_targets(ds)
  local given = recipe.training_options(p, ds)
  given.by_sums, given.fingerprints = true, o.fingerprints ~= false
  local training <close> = core.training(source, prepared.stages, prepared.map, given)
  local handle = core.sums_take(training)
  dataset.check_seen(coded)
  return handle
end

-- Solves from sums: a fit as core.solve gives it.
local function solve(model, handle, rows, solver)
  local _ <close> = core.level "fit"
  local source = core.absent_rows(rows, model.dim, model.targets)
  local training <close> = core.training(source, model.stages, model.map,
    { classes = model.classes and #model.classes or 0, sums = handle })
  return core.solve(training, component.instance(solver))[1]
end

-- Raises an error for a recipe whose sums would not serve.
local function check_recipe(p, title)
  if recipe.is_searched(p) then
    error(title .. ": an option is sc.choose{...}: sums are of one recipe", 0)
  end
  if not p.solver then error(title .. ": this pipeline has no solver", 0) end
  if not p.features then error(title .. ": sums are of features, and there are none", 0) end
  if p.block then error(title .. ": sums choose their own blocks: leave 'block' out", 0) end
  if p.class_weights == "balanced" then
    error(title .. ": class_weights = \"balanced\" depends on all rows: give a weight for each \z
      class", 0)
  end
end

-- The model of a recipe without a solution.
local function unsolved(p, ds, prepared, targets)
  local n, d = ds:size()
  local made = fitting.model(p, { n, d }, prepared, { solver = p.solver, targets = targets,
    task = ds.task, classes = ds.classes, names = ds.names, schema = ds.schema,
    weighted = (p.class_weights or ds.weights) ~= nil, class_weights = p.class_weights,
    form = ds.form })
  return made
end

local function new(fields) return setmetatable(fields, Sums) end

-- Rows of part i of n, or rows a to b, of a data set.
local function range_of(ds, o, title)
  local rows = #ds
  if o.part and o.rows then error(title .. ": takes part or rows, not both", 0) end
  local list = o.part or o.rows
  if not list then return 1, rows end
  local a, b = math.tointeger(list[1]), math.tointeger(list[2])
  if #list ~= 2 or not a or not b or a < 1 or b < a then
    error(("%s: option '%s' got %s; it takes %s"):format(title, o.part and "part" or "rows",
      options.show(list), o.part and "{ i, n }, part i of n" or "{ first, last }"), 0)
  end
  if o.part then
    local first, last = rows * (a - 1) // b + 1, rows * a // b
    if last < first then
      error(("%s: part %d of %d has no rows: there are %d"):format(title, a, b, rows), 0)
    end
    return first, last
  end
  if b > rows then
    error(("%s: rows %d to %d of a data set with %d rows"):format(title, a, b, rows), 0)
  end
  return a, b
end

local sums_rules = options.declare("pipeline:sums", { part = { type = "table" },
  rows = { type = "table" }, save = { type = "string" },
  fingerprints = { type = "boolean", default = true } })

--- sums.of(p, ds, given): see Pipeline:sums.
function sums.of(p, ds, given)
  local title = "pipeline:sums"
  local o = options.check(title, given or {}, sums_rules, 0)
  check_recipe(p, title)
  local open = automatic.open(p)
  if open and open.width then
    error(("%s: the width '%s' is not given, and a part of the rows does not choose it"):format(
      title, open.width), 0)
  end
  fitting.check_data(ds, title)
  local first, last = range_of(ds, o, title)
  ds = target_form.learn(p.target, ds)
  local prepared = recipe.prepare(p, dataset.source_of_targets(ds))
  local part = (first > 1 or last < #ds) and ds:subset(first, last) or ds
  local handle = sum_rows(p, part, prepared, o)
  local self = new{ pipeline = p, handle = handle, rows = last - first + 1, forgotten = 0,
    parts = { { source = fingerprint.of(ds), from = first, to = last } },
    model = unsolved(p, ds, prepared, core.sums_info(handle).targets) }
  if o.save then self:save(o.save) end
  return self
end

--- sums.fit(p, ds, o): p:fit(ds, { sums = true }): the pipeline, fitted from sums, which it keeps.
function sums.fit(self, ds, o)
  local title = "pipeline:fit"
  check_recipe(self, title)
  fitting.check_data(ds, title)
  ds = target_form.learn(self.target, ds)
  local p, chosen, ready, tell = self, nil, nil, nil
  if automatic.open(self) then p, chosen, ready, tell = automatic.choose(self, ds) end
  local prepared = ready and ready.prepared or recipe.prepare(p, dataset.source_of_targets(ds))
  local began = core.now()
  local handle = sum_rows(p, ds, prepared, o)
  local model = unsolved(p, ds, prepared, core.sums_info(handle).targets)
  local fit = solve(model, handle, #ds, p.solver)
  if tell then tell() end
  prepared.seconds[#prepared.seconds + 1] = { tostring(p.solver), core.now() - began }
  fitting.keep(self, ds, prepared, p.solver, fit, p.features, chosen)
  self.sums_kept = new{ pipeline = p, handle = handle, rows = #ds, forgotten = 0, model = model,
    parts = { { source = fingerprint.of(ds), from = 1, to = #ds } } }
  return self
end

-- ------------------------------------------------------------ solving

local solve_rules = options.declare("sums:solve",
  { lambda = { type = "number", low = 0, strict = true } })

--- s:solve([{ lambda = }]): a fitted pipeline, with the bits of one fit to all rows that were
--- summed. lambda: the solver's regularisation in place of the recipe's.
function Sums:solve(given)
  local o = options.check("sums:solve", given or {}, solve_rules, 2)
  return options.guard("sums:solve", 1, function()
    local p = self.pipeline
    if o.lambda then
      local role = component.role(p.solver, "regularisation")
      if not role then error(p.solver.name .. " has no regularisation", 0) end
      p = p:clone()
      p.solver = component.with(p.solver, role, o.lambda)
    else
      p = p:clone()
    end
    local open = automatic.open(p)
    if open then
      error(("the option '%s' of the solver is not given: s:solve{ lambda = ... }"):format(
        open.lambda or open.width), 0)
    end
    local fit = solve(self.model, self.handle, self.rows, p.solver)
    sums.store(p, self, fit)
    p.sums_kept = new{ pipeline = p, handle = core.sums_copy(self.handle), rows = self.rows,
      forgotten = self.forgotten, model = self.model, parts = self.parts, partial = self.partial }
    return p
  end)
end

--- sums.store(p, self, fit): the fit becomes the pipeline's model.
function sums.store(p, self, fit)
  p.fitted = self.model:with{ solver = p.solver, weights = fit.weights, intercept = fit.intercept,
    pilot = fit.pilot, n = self.rows }
  p.fitted.report = fitting.report(fit, p.fitted)
  p.classes, p.data = self.model.classes, nil
  fitting.warn(p, fit)
end

-- ------------------------------------------------------------ merging

local function stages_differ(a, b)
  if #a ~= #b then return true end
  for i, stage in ipairs(a) do
    local x, y = core.stage_save(stage), core.stage_save(b[i])
    if x.kind ~= y.kind or x.cols ~= y.cols then return true end
    for name, matrix in pairs(x.arrays or {}) do
      if not (y.arrays and y.arrays[name] and y.arrays[name] == matrix) then return true end
    end
  end
  return false
end

local function lists_differ(a, b)
  a, b = a or {}, b or {}
  if #a ~= #b then return true end
  for i, value in ipairs(a) do if b[i] ~= value then return true end end
  return false
end

-- What two models must share so that their sums can be added; nil, or what differs.
local function difference(a, b)
  if a.task ~= b.task then return "the task: " .. a.task .. " and " .. b.task end
  if a.targets ~= b.targets then return "the number of targets" end
  if lists_differ(a.classes, b.classes) then return "the classes" end
  if lists_differ(a.names, b.names) then return "the columns" end
  if a.map_info.dtype ~= b.map_info.dtype then
    return ("the number type: %s and %s"):format(a.map_info.dtype, b.map_info.dtype)
  end
  if tostring(a.features) ~= tostring(b.features) then
    return ("the features: %s and %s"):format(tostring(a.features), tostring(b.features))
  end
  if stages_differ(a.stages, b.stages) then return "what the row stages have learnt" end
  if stages_differ(a.after or {}, b.after or {}) then
    return "what the row stages after the features have learnt"
  end
  local x, y = core.map_grid(a.map), core.map_grid(b.map)
  if (x == nil) ~= (y == nil) or x and x ~= y then return "the ranges of the features" end
  if a.origin.state or b.origin.state then
    if not (a.origin.state and b.origin.state and a.origin.state == b.origin.state) then
      return "what the sampler has learnt"
    end
  end
  if lists_differ(a.origin.widths, b.origin.widths) then return "the widths" end
  return nil
end

local merge_rules = options.declare("merge", { partial = { type = "boolean", default = false },
  again = { type = "boolean", default = false } })

-- Sums from a file or an object; second: its name in sentences.
local function read(one, i)
  if sums.is(one) then return one, ("element %d of the list"):format(i) end
  if type(one) ~= "string" then
    error(("merge: element %d of the list is %s; it takes files of sums, or sums"):format(i,
      options.show(one)), 0)
  end
  local made = require("scullery.model.saving").load(one)
  if not sums.is(made) then error(("merge: %s does not hold sums"):format(one), 0) end
  return made, one
end

--- sc.merge({ file or sums, ... }[, { partial = false, again = false }]): joins sums over rows
--- (p:sums), in any order, to those over all rows; m:solve() gives the fitted pipeline. Parts of one
--- data set must be all of it, unless partial = true, and no row may come twice; sums whose rows are
--- all there already are refused unless again = true. Sums of other features, stages, classes or
--- columns are refused.
function sums.merge(list, given)
  local o = options.check("merge", given or {}, merge_rules, 0)
  if type(list) ~= "table" or getmetatable(list) or #list == 0 then
    error("merge: takes a list of files or sums, and got " .. options.show(list), 0)
  end
  local whole, parts, first = nil, {}, nil
  for i, one in ipairs(list) do
    local made, name = read(one, i)
    for _, part in ipairs(made.parts) do
      parts[#parts + 1] = { source = part.source, from = part.from, to = part.to, file = name }
    end
    check_apart(parts)
    if not whole then
      first, whole = name, new{ pipeline = made.pipeline, handle = core.sums_copy(made.handle),
        rows = made.rows, forgotten = made.forgotten, model = made.model }
    else
      local what = difference(whole.model, made.model)
      if what then
        error(("merge: %s and %s differ in %s"):format(first, name, what), 0)
      end
      local common = core.sums_common(whole.handle, made.handle)
      if common and common > 0 and common == made.rows and not o.again then
        error(("merge: all %d rows of %s are in the other sums already: give again = true to \z
          count them once more"):format(made.rows, name), 0)
      end
      core.sums_join(whole.handle, made.handle, false)
      whole.rows, whole.forgotten = whole.rows + made.rows, whole.forgotten + made.forgotten
    end
  end
  for _, part in ipairs(parts) do part.file = nil end
  local absent = missing(parts)
  if #absent > 0 and not o.partial then
    local text = {}
    for i = 1, math.min(#absent, 3) do text[i] = part_text(absent[i]) end
    error(("merge: %s are missing%s: give partial = true to go without"):format(
      table.concat(text, ", "), #absent > 3 and (" and %d more ranges"):format(#absent - 3) or ""),
      0)
  end
  whole.parts, whole.partial = parts, #absent > 0 or nil
  return whole
end

-- ------------------------------------------------------------ updating and forgetting

local change_rules = { again = { type = "boolean", default = false } }
options.declare("pipeline:update", change_rules)

-- The sums that a fitted pipeline keeps.
local function kept(p, title)
  if not p.fitted then error(title .. ": the pipeline is not fitted yet: call p:fit(ds) first", 0) end
  if not p.sums_kept then
    error(title .. ": this model keeps no sums: fit it with p:fit(ds, { sums = true }), or save \z
      it with p:save(path, { sums = true })", 0)
  end
  return p.sums_kept
end

-- Sums of new rows with the stages and the map of the model.
local function sums_of_new(p, self, ds, title)
  local f = self.model
  if ds.task ~= f.task then
    error(("%s: a data set for a %s, and the model is a %s"):format(title, ds.task, f.task), 0)
  end
  local strange
  ds, strange = matching.judged(ds, f)
  if strange > 0 then
    error(("%s: %d row%s a class that the model does not know (%s): fit it anew"):format(title,
      strange, strange == 1 and " has" or "s have", table.concat(f.classes, ", ")), 0)
  end
  ds = f.form and target_form.apply(f.form, ds) or ds
  local printed = core.sums_info(self.handle).printed
  return sum_rows(p, ds, { stages = f.stages, map = f.map }, { fingerprints = printed }), ds
end

-- Solves anew; after an error everything is as before.
local function change(p, self, handle, rows, subtract, parts)
  core.sums_join(self.handle, handle, subtract)
  local after = self.rows + (subtract and -rows or rows)
  local ok, fit = options.attempt(solve, self.model, self.handle, after, p.fitted.solver)
  if not ok then
    core.sums_join(self.handle, handle, not subtract)
    error(fit, 0)
  end
  self.rows = after
  for _, part in ipairs(parts) do self.parts[#self.parts + 1] = part end
  if subtract then self.forgotten = self.forgotten + rows end
  p.fitted = p.fitted:with{ weights = fit.weights, intercept = fit.intercept, pilot = fit.pilot,
    n = after }
  p.fitted.calibration = nil
  p.fitted.report = fitting.report(fit, p.fitted)
  p.data = nil
  fitting.warn(p, fit)
end

--- sums.update(p, ds, given): see Pipeline:update.
function sums.update(p, ds, given)
  local title = "pipeline:update"
  local o = options.check(title, given or {}, change_rules, 0)
  local self = kept(p, title)
  local handle, rows = sums_of_new(p, self, ds, title)
  local common = core.sums_common(self.handle, handle)
  if common == #rows and common > 0 and not o.again then
    error(("%s: all %d rows are in the model already: give again = true to count them once \z
      more"):format(title, #rows), 0)
  end
  change(p, self, handle, #rows, false, { { source = fingerprint.of(ds), from = 1, to = #ds } })
  return p
end

--- sums.forget(p, ds): see Pipeline:forget.
function sums.forget(p, ds)
  local title = "pipeline:forget"
  local self = kept(p, title)
  local handle, rows = sums_of_new(p, self, ds, title)
  if #rows >= self.rows then
    error(("%s: %d rows of %d: none would be left"):format(title, #rows, self.rows), 0)
  end
  change(p, self, handle, #rows, true, {})
  return p
end

--- sums.exact(p): "rows" if sums of the model's features are the same for any order and any cut of
--- the rows, "blocks" if for any cut at blocks; or nil and why not.
function sums.exact(p)
  local f = p.fitted
  if not f or not f.map then return nil, "there are no features" end
  return core.map_exact(f.map)
end

-- ------------------------------------------------------------ saving

--- s:save(path): writes the sums to a file that sc.load and sc.merge read.
function Sums:save(path)
  return options.guard("sums:save", 1, require("scullery.model.saving").save, self, path)
end

--- sums.encode(self, arrays): what a file says of the sums, beside their arrays.
function sums.encode(self, arrays)
  for name, array in pairs(core.sums_save(self.handle)) do arrays[name] = array end
  return { parts = self.parts, rows = self.rows, forgotten = self.forgotten,
    partial = self.partial }
end

local function whole_number(value, low)
  return math.type(value) == "integer" and value >= low
end

--- sums.decode(p, saved, said): the sums of a loaded pipeline from its file.
function sums.decode(p, saved, said)
  local f = p.fitted
  local info = core.map_info(f.map)
  local handle = core.saved_sums(saved, info.features, f.targets)
  local good = type(said) == "table" and whole_number(said.rows, 0)
    and whole_number(said.forgotten, 0) and type(said.parts) == "table"
  for _, part in ipairs(good and said.parts or {}) do
    good = good and type(part) == "table" and type(part.source) == "table"
      and whole_number(part.source.rows, 1) and whole_number(part.from, 1)
      and whole_number(part.to, part.from) and part.to <= part.source.rows
  end
  if not good then error("its sums do not say which rows they are of", 0) end
  return new{ pipeline = p, handle = handle, rows = said.rows, forgotten = said.forgotten,
    parts = said.parts, partial = said.partial, model = f }
end

--- sums.without_solution(self): its model as a fitted pipeline, with zeros as weights, for a file.
function sums.without_solution(self)
  local f = self.model
  local features = core.map_info(f.map).features
  local p = self.pipeline:clone()
  p.fitted = f:with{ weights = core.zeros(features, f.targets),
    intercept = core.zeros(1, f.targets) }
  return p
end

return sums

--- p:update and p:forget: adds rows to a model that keeps its sums, and takes rows out of it.
local core = require "scullery.core"
local matching = require "scullery.data.matching"
local options = require "scullery.base.options"
local parts = require "scullery.model.sums_parts"
local sums = require "scullery.model.sums"
local target_form = require "scullery.model.target_form"

local changing = {}

local rules = options.declare("pipeline:update", { again = { type = "boolean", default = false } })

-- The sums that a fitted pipeline keeps; raises an error if it is not fitted or keeps none.
local function kept(p, title)
  if not p.fitted then
    error(title .. ": the pipeline is not fitted yet: call p:fit(ds) first", 0)
  end
  if not p.sums_kept then
    error(title .. ": this model keeps no sums: fit it with p:fit(ds, { sums = true }), or save \z
      it with p:save(path, { sums = true })", 0)
  end
  return p.sums_kept
end

-- The sums (the engine's handle) over the rows of a data set, made with the stages and the map of
-- the model, and the part { source, from, to } that they cover. self: the sums of the pipeline p.
-- Raises an error for a data set that does not fit the model.
local function sums_of(p, self, ds, title)
  local f = self.model
  if #ds == 0 then error(title .. ": the data set has no rows", 0) end
  if ds.task ~= f.task then
    error(("%s: a data set for a %s, and the model is a %s"):format(title, ds.task, f.task), 0)
  end
  sums.check_alike(title, self.instruction_set, "the model", core.instruction_set(), "this process")
  local part = { source = parts.source(ds), from = 1, to = #ds }
  ds = matching.known(ds, f)
  ds = target_form.apply(f.form, ds)
  local printed = core.sums_info(self.handle).printed
  return sums.of_rows(p, ds, { stages = f.stages, map = f.map }, { fingerprints = printed,
    like = self.handle }), part
end

-- Adds the sums `handle` to self, or subtracts them, and solves. If the solver raises an error, the
-- change is undone first, so that model and sums are as before.
local function change(p, self, handle, part, subtract)
  local rows = part.to - part.from + 1
  local after = self.rows + (subtract and -rows or rows)
  core.sums_join(self.handle, handle, subtract)
  local ok, fit = options.attempt(sums.solve, self.model, self.handle, after, p.fitted.solver)
  if not ok then
    core.sums_join(self.handle, handle, not subtract)
    error(fit, 0)
  end
  self.rows = after
  if subtract then
    self.forgotten = self.forgotten + rows
  else
    local list = table.move(self.parts, 1, #self.parts, 1, {})
    list[#list + 1] = part
    self.parts = parts.joined(list)
  end
  sums.store(p, self, fit, p.fitted.solver)
  return p
end

-- Raises an error if all rows of an update are in the model already. Fingerprints of rows decide.
-- Sums without fingerprints are compared by their parts, unless rows were forgotten since: then the
-- parts no longer show which rows are in the model, and nothing is checked.
local function check_new(self, handle, part, title)
  local rows = part.to - part.from + 1
  local common = core.sums_common(self.handle, handle)
  if common == nil and self.forgotten == 0 then
    local list = table.move(self.parts, 1, #self.parts, 1, {})
    list[#list + 1] = part
    common = pcall(parts.check_apart, list) and 0 or rows
  end
  if common == rows then
    error(("%s: all %d rows are in the model already: give again = true to count them once \z
      more"):format(title, rows), 0)
  end
end

--- changing.update(p, ds, given): see Pipeline:update.
function changing.update(p, ds, given)
  local title = "pipeline:update"
  local o = options.check(title, given or {}, rules, 0)
  local self = kept(p, title)
  local handle, part = sums_of(p, self, ds, title)
  if not o.again then check_new(self, handle, part, title) end
  return change(p, self, handle, part, false)
end

--- changing.forget(p, ds): see Pipeline:forget.
function changing.forget(p, ds)
  local title = "pipeline:forget"
  local self = kept(p, title)
  if #ds >= self.rows then
    error(("%s: %d rows of %d: none would be left"):format(title, #ds, self.rows), 0)
  end
  local handle, part = sums_of(p, self, ds, title)
  return change(p, self, handle, part, true)
end

return changing

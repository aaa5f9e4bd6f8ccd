--- p:update and p:forget: adds rows to a model that keeps its sums, and takes rows out of it.
local core = require "scullery.core"
local matching = require "scullery.data.matching"
local dataset = require "scullery.data.dataset"
local open_block = require "scullery.model.open_block"
local parts = require "scullery.model.sums_parts"
local recipe = require "scullery.model.recipe"
local sums = require "scullery.model.sums"
local target_form = require "scullery.model.target_form"

local changing = {}

--- changing.kept(p, title): the sums that a fitted pipeline keeps; raises an error if it is not
--- fitted or keeps none.
function changing.kept(p, title)
  if not p.fitted then
    error(title .. ": the pipeline is not fitted yet: call p:fit(ds) first", 0)
  end
  if not p.sums_kept then
    error(title .. ": this model keeps no sums: fit it with p:fit(ds, { sums = true }), or save \z
      it with p:save(path, { sums = true })", 0)
  end
  return p.sums_kept
end

-- A data set as the model of the sums takes it. Raises an error for one that does not fit.
local function matched(self, ds, title)
  local f = self.model
  if #ds == 0 then error(title .. ": the data set has no rows", 0) end
  if ds.task ~= f.task then
    error(("%s: a data set for a %s, and the model is a %s"):format(title, ds.task, f.task), 0)
  end
  sums.check_alike(title, self.instruction_set, "the model", core.instruction_set(), "this process")
  return target_form.apply(f.form, matching.known(ds, f))
end

-- The options of sums that are added to those of the model.
local function like(self)
  return { fingerprints = core.sums_info(self.handle).printed, like = self.handle }
end

--- changing.sums_of(p, s, ds, title): the sums (the engine's handle) over the rows of a data set,
--- made with the stages and the map of the model. s: the sums of the pipeline p. Raises an error
--- for a data set that does not fit the model.
function changing.sums_of(p, self, ds, title)
  return (sums.of_rows(p, matched(self, ds, title), self.model, like(self)))
end

--- changing.sums_after(p, s, ds, title): the same for rows that come after those of the sums. The
--- second result is the open block after them (open_block.lua).
function changing.sums_after(p, self, ds, title)
  if not self.open then return changing.sums_of(p, self, ds, title) end
  local known = matched(self, ds, title)
  local source = dataset.source_of_targets(known)
  local options = recipe.training_options(p, known)
  local done, handle, open = pcall(open_block.continue, self, source, options.weights,
    function(rows, weights)
      return sums.of_source(p, rows, { classes = options.classes, dtype = options.dtype,
        allowance = options.allowance, weights = weights }, self.model, like(self))
    end)
  if done then return handle, open end
  -- an error that names a row counts those of the open block: those of the data set are asked
  changing.sums_of(p, self, ds, title)
  error(handle, 0)
end

-- Takes the sums `handle` (nil: none) out of self, and solves for `after` rows. If the solver
-- raises an error, the sums are as before.
local function take_and_solve(p, self, handle, after)
  if handle then core.sums_join(self.handle, handle, true) end
  local ok, fit = pcall(sums.solve, self.model, self.handle, after, p.fitted.solver)
  if ok then return fit end
  if handle then core.sums_join(self.handle, handle, false) end
  error(fit, 0)
end

--- changing.change(p, s, added, taken): adds sums over rows to the sums s of the pipeline p, takes
--- others out, and solves once. added: { handle, rows, part, open } or nil. taken: { handle, rows,
--- open } or nil; open: the open block afterwards. After an error, model and sums are as before.
function changing.change(p, self, added, taken)
  local after = self.rows + (added and added.rows or 0) - (taken and taken.rows or 0)
  if added then core.sums_join(self.handle, added.handle, false) end
  local ok, fit = pcall(take_and_solve, p, self, taken and taken.handle, after)
  if not ok then
    if added then core.sums_join(self.handle, added.handle, true) end
    error(fit, 0)
  end
  self.rows = after
  if taken then self.forgotten = self.forgotten + taken.rows end
  if added then
    local list = table.move(self.parts, 1, #self.parts, 1, {})
    list[#list + 1] = added.part
    self.parts = parts.joined(list)
  end
  self.open = (added or taken).open
  sums.store(p, self, fit, p.fitted.solver)
  return p
end

--- changing.check_new(s, handle, part, title): raises an error if all rows of an update, a part {
--- source, from, to } with the sums `handle`, are in the model already. Fingerprints of rows
--- decide. Sums without fingerprints are compared by their parts, unless rows were forgotten since:
--- then the parts no longer show which rows are in the model, and nothing is checked.
function changing.check_new(self, handle, part, title)
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

--- changing.update(p, ds, again): adds all rows of a data set at once. again: true if rows that are
--- in the model already are added once more.
function changing.update(p, ds, again)
  local title = "pipeline:update"
  local self = changing.kept(p, title)
  local handle <close>, open = changing.sums_after(p, self, ds, title)
  local part = { source = parts.source(ds), from = 1, to = #ds }
  if not again then changing.check_new(self, handle, part, title) end
  return changing.change(p, self, { handle = handle, rows = #ds, part = part, open = open })
end

--- changing.forget(p, ds): see Pipeline:forget.
function changing.forget(p, ds)
  local title = "pipeline:forget"
  local self = changing.kept(p, title)
  if #ds >= self.rows then
    error(("%s: %d rows of %d: none would be left"):format(title, #ds, self.rows), 0)
  end
  local handle <close> = changing.sums_of(p, self, ds, title)
  local source = dataset.source_of_targets(matched(self, ds, title))
  return changing.change(p, self, nil, { handle = handle, rows = #ds,
    open = open_block.without(self.open, source) })
end

return changing

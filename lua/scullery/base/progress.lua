--- Progress of long work: loops report their finished steps; the terminal or the log file shows
--- them, and a function given as option `progress` receives them.
local core = require "scullery.core"
local options = require "scullery.base.options"

local progress = {}

local level_rules = {
  name = { type = "string", required = true },
  total = { type = "integer", low = 0 },
  unit = { type = "string" },
}

--- sc.progress.level{ name = "fold", total = 5[, unit = "rows"] }: opens a level of progress inside
--- those that are open. `local folds <close> = sc.progress.level{...}` closes it at the end of its
--- block, also after an error or Ctrl-C. folds:step(done[, loss]) reports that `done` of `total`
--- steps are finished; folds:step() adds one; folds:close() closes the level and all levels inside
--- it. Without total, the line shows the number of `unit` that are finished.
function progress.level(given)
  local o = options.check("progress.level", given, level_rules, 0)
  return core.level(o.name, o.total, o.unit)
end

--- progress.rule: the option `progress` of functions that take one.
progress.rule = { type = "function", takes = "a function" }

-- Raises the error of watched work that its progress function stopped. An error object keeps its
-- partial results.
local function end_watched(title, message)
  local sentence = title .. ": stopped: its progress function returned false"
  if type(message) ~= "table" or rawget(message, "message") == nil then error(sentence, 0) end
  message.message = sentence
  error(message, 0)
end

--- progress.watched(title, f, run, ...): calls run(...) while f receives reports of progress. If f
--- returns false, the work stops with an error; an error of f is raised unchanged.
function progress.watched(title, f, run, ...)
  if not f then return run(...) end
  core.watch(f)
  local result = table.pack(pcall(run, ...))
  local stopped, raised = core.unwatch()
  if raised ~= false then error(raised, 0) end
  if stopped then end_watched(title, result[2]) end
  if not result[1] then error(result[2], 0) end
  return table.unpack(result, 2, result.n)
end

local alone = { progress = progress.rule }

--- progress.of(title, given, run, ...): calls run(...); `given` has the option `progress` or is
--- nil.
function progress.of(title, given, run, ...)
  if given == nil then return run(...) end
  local o = options.check(title, given, alone, 0)
  return progress.watched(title, o.progress, run, ...)
end

return progress

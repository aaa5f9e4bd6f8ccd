--- How far long work is: loops tell how many of their steps are done; the terminal or the log file
--- shows it, and a function given as `progress` is told.
local core = require "scullery.core"
local options = require "scullery.base.options"

local progress = {}

local level_rules = {
  name = { type = "string", required = true },
  total = { type = "integer", low = 0 },
  unit = { type = "string" },
}

--- sc.progress.level{ name = "fold", total = 5[, unit = "rows"] }: a level of progress, within
--- those that are open: `local folds <close> = sc.progress.level{...}` ends with its block, also by
--- an error or Ctrl-C. folds:step(done[, loss]) tells how many of total are done; folds:step() one
--- more; folds:close() ends it, and all levels within it. Without total the line shows how many of
--- `unit` were done.
function progress.level(given)
  local o = options.check("progress.level", given, level_rules, 0)
  return core.level(o.name, o.total, o.unit)
end

--- progress.rule: the option `progress` of functions that take one.
progress.rule = { type = "function", takes = "a function" }

-- What ends watched work that failed: where its function stopped it, a sentence that says so, which
-- an error that carries what was finished keeps.
local function end_watched(title, message)
  local sentence = title .. ": stopped: its progress function returned false"
  if type(message) ~= "table" or rawget(message, "message") == nil then error(sentence, 0) end
  message.message = sentence
  error(message, 0)
end

--- progress.watched(title, f, run, ...): run(...), with f told how far it is. Where f returns
--- false: an error; an error of f is raised as it is.
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

--- progress.of(title, given, run, ...): run(...), watched by the only option of `given`.
function progress.of(title, given, run, ...)
  if given == nil then return run(...) end
  local o = options.check(title, given, alone, 0)
  return progress.watched(title, o.progress, run, ...)
end

return progress

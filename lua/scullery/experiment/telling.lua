--- What an experiment says while it runs: sentences, and how far it is.
local core = require "scullery.core"

local telling = {}

--- telling.say(name, format, ...): a line on the standard error.
function telling.say(name, format, ...)
  io.stderr:write(("experiment %s: "):format(name), format:format(...), "\n")
end

--- telling.new(name, done, total): how far a run is, of which `done` cells need no run.
function telling.new(name, done, total)
  local self = { name = name, done = done, total = total }
  core.progress_label(("%s, cell %d of %d: "):format(name, done + 1, total))
  return self
end

--- telling.step(progress, failed): one more cell has ended.
function telling.step(progress)
  progress.done = progress.done + 1
  core.progress_label(("%s, cell %d of %d: "):format(progress.name,
    math.min(progress.done + 1, progress.total), progress.total))
end

--- telling.finish(progress)
function telling.finish() core.progress_label(nil) end

return telling

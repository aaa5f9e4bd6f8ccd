--- Prints a warning on standard error.
local core = require "scullery.core"
local text = require "scullery.base.text"

--- warn(line): prints "scullery: line" in place of the progress line.
return function(line)
  core.hide_progress()
  io.stderr:write("scullery: ", text.shown(line), "\n")
end

--- A line for the user on standard error.
local core = require "scullery.core"
local text = require "scullery.base.text"

--- warn(line): "scullery: line", where a progress line stood.
return function(line)
  core.hide_progress()
  io.stderr:write("scullery: ", text.shown(line), "\n")
end

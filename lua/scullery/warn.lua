--- A line for the user on standard error.
local core = require "scullery.core"

--- warn(text): "scullery: text", where a progress line stood.
return function(text)
  core.hide_progress()
  io.stderr:write("scullery: ", text, "\n")
end

--- Prints a line on standard output.
local text = require "scullery.base.text"

--- say(line): prints the line, escaped for a terminal, because it may contain untrusted text.
return function(line) print(text.shown(tostring(line))) end

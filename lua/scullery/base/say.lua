--- A line for the user on standard output.
local text = require "scullery.base.text"

--- say(line): the line, harmless for a terminal: it may hold names, paths and messages of others.
return function(line) print(text.shown(tostring(line))) end

--- What the checker is made of: the functions of scullery.core, and beside them those of
--- scullery.checker, its own half in C.
local core = require "scullery.core"

core.share_functions() -- scullery.checker calls them
return setmetatable(require "scullery.checker", { __index = core })

--- Plugins in use: processes compare their files before a fit (data/fingerprint.lua).
local core = require "scullery.core"

local used = {}

--- used.names: "KIND NAME" of each plugin that an instance was made of -> true.
used.names = {}

--- used.make(kind, name, given): the engine's instance of options as they are.
function used.make(kind, name, given)
  used.names[kind .. " " .. name] = true
  return core.instance(kind, name, given)
end

return used

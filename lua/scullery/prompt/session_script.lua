--- A session as a script that repeats it.
local core = require "scullery.core"

local script = {}

local heading = [[
-- A session of Scullery %s: the statements that succeeded, in order.
-- _ is the value of the last expression, as at the prompt.
sc, help = require "scullery", require "scullery.help"
]]

--- script.text(session): the text of the script.
function script.text(session)
  local lines = { heading:format(core.version) }
  if session.seeds[1] then
    lines[#lines + 1] = ("math.randomseed(%d, %d)\n"):format(session.seeds[1], session.seeds[2])
  end
  for _, statement in ipairs(session.log) do
    -- a statement that begins with a bracket would go on with the one before
    lines[#lines + 1] = (statement:find("^%s*[%(]") and ";" or "") .. statement .. "\n"
  end
  return table.concat(lines)
end

--- script.save(session, path): writes the script, complete or not at all.
function script.save(session, path) core.write_text(path, script.text(session)) end

return script

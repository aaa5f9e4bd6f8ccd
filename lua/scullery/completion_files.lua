--- Names of files for completion.
local core = require "scullery.core"

local files = {}

--- files.matching(typed): the files and folders whose path begins with what was typed, as a list of
--- { name }; folders end with a slash, files that begin with a dot come only where a dot was typed,
--- and names with control characters, which cannot be typed, never.
function files.matching(typed)
  local folder, partial = typed:match("^(.*/)([^/]*)$")
  folder, partial = folder or "", partial or typed
  local list = {}
  for _, entry in ipairs(core.folder(folder == "" and "." or folder) or {}) do
    local hidden = entry.name:sub(1, 1) == "." and partial:sub(1, 1) ~= "."
    if not hidden and not entry.name:find("%c") and entry.name:sub(1, #partial) == partial then
      list[#list + 1] = { name = folder .. entry.name .. (entry.folder and "/" or "") }
    end
  end
  return list
end

return files

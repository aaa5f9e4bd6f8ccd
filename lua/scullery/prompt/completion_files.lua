--- Names of files for completion.
local core = require "scullery.core"

local files = {}

-- What a text in quotes that is typed so far says; nil where it ends within an escape.
local function said(typed, quote)
  local chunk = load(("return %s%s%s"):format(quote, typed, quote), "=typed", "t", {})
  return chunk and chunk()
end

--- files.matching(typed[, quote]): the files and folders whose path begins with what was typed, as
--- a list of { name }; folders end with a slash, files that begin with a dot come only where a dot
--- was typed, and names with control characters, which cannot be typed, never. quote: the quotation
--- mark before what was typed, which is Lua then, and so are the names.
function files.matching(typed, quote)
  local path = quote and said(typed, quote) or not quote and typed
  if not path then return {} end
  local folder, partial = path:match("^(.*/)([^/]*)$")
  folder, partial = folder or "", partial or path
  local list = {}
  for _, entry in ipairs(core.folder(folder == "" and "." or folder) or {}) do
    local hidden = entry.name:sub(1, 1) == "." and partial:sub(1, 1) ~= "."
    if not hidden and not entry.name:find("%c") and entry.name:sub(1, #partial) == partial then
      local rest = entry.name:sub(#partial + 1) .. (entry.folder and "/" or "")
      list[#list + 1] = { name = typed .. (quote and rest:gsub("[\\" .. quote .. "]", "\\%0")
        or rest) }
    end
  end
  return list
end

return files

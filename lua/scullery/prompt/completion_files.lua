--- Names of files for completion.
local core = require "scullery.core"

local files = {}

-- The value of a quoted text typed so far; nil if it ends within an escape sequence.
local function said(typed, quote)
  local chunk = load(("return %s%s%s"):format(quote, typed, quote), "=typed", "t", {})
  return chunk and chunk()
end

--- files.matching(typed[, quote]): the files and folders whose path begins with the typed text, as
--- a list of { name }. Folders end with a slash; files that begin with a dot are included only
--- after a typed dot, and names with control characters, which cannot be typed, never. quote: the
--- quotation mark before the typed text; typed text and names are then Lua source.
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

--- The list of known plugins, and the search by name.
local core = require "scullery.core"
local options = require "scullery.base.options"

local names = {}

--- names.list(): see sc.plugin.list.
function names.list()
  local probe = require("scullery.plugin.about").probe
  local list, seen = core.plugin_list(), {}
  for _, entry in ipairs(list) do
    seen[entry.kind .. "." .. entry.name] = true
    seen[entry.path] = true
  end
  for _, file in ipairs(core.plugin_files()) do
    local found, refusal = seen[file.path], nil
    for _, kind in ipairs(found and {} or core.plugin_kinds()) do
      local info, message = probe(kind, file.name)
      if info and not seen[kind .. "." .. file.name] then
        list[#list + 1] = { kind = kind, name = file.name, path = file.path, origin = file.origin }
      end
      found, refusal = found or info, message
    end
    if not found then
      list[#list + 1] = { name = file.name, path = file.path, origin = file.origin,
        refusal = refusal }
    end
  end
  return list
end

--- names.find(name): the entries with that name, "NAME" or "KIND.NAME"; raises an error if there
--- are none.
function names.find(name)
  local found, known = {}, {}
  for _, entry in ipairs(names.list()) do
    known[#known + 1] = entry.name
    if entry.name == name or entry.kind and entry.kind .. "." .. entry.name == name then
      found[#found + 1] = entry
    end
  end
  for _, entry in ipairs(found) do
    if not entry.kind then error(entry.refusal, 0) end
  end
  if #found > 0 then return found end
  local near = options.nearest(name:match("[^.]*$"), known)
  error(("no plugin '%s'%s"):format(name, near and " (did you mean '" .. near .. "'?)" or ""), 0)
end

return names

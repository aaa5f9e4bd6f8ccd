--- Plugins: what there is, and loading more.
local core = require "scullery.core"

local plugin = {}

-- f(...), with its error at the line of whoever called the function that calls this one.
local function at_caller(f, ...)
  local ok, result = pcall(f, ...)
  if not ok then error(result, 3) end
  return result
end

--- sc.plugin.list(): a list of all plugins that can be loaded, each { kind, name, path }. A file
--- straight in a folder of SCULLERY_PLUGIN_PATH is opened in a process of its own to find out what
--- it holds; if that fails, kind is nil and `refusal` says why.
function plugin.list()
  local list, seen = core.plugin_list(), {}
  for _, entry in ipairs(list) do
    seen[entry.kind .. "." .. entry.name] = true
    seen[entry.path] = true
  end
  for _, file in ipairs(core.plugin_files()) do
    local found, refusal = seen[file.path], nil
    for _, kind in ipairs(found and {} or { "sampler", "nonlinearity", "kernel", "solver" }) do
      local info, message = core.plugin_probe(kind, file.name)
      if info and not seen[kind .. "." .. file.name] then
        list[#list + 1] = { kind = kind, name = file.name, path = file.path }
      end
      found, refusal = found or info, message
    end
    if not found then
      list[#list + 1] = { name = file.name, path = file.path, refusal = refusal }
    end
  end
  return list
end

--- sc.plugin.load(path): load the plugins of a file. Returns kind and name of the first, and a list
--- of all as sc.plugin.info gives them. They are then members of sc.KIND by their names.
function plugin.load(path)
  if type(path) ~= "string" then
    error("plugin.load: takes the path of a shared object, and got " .. type(path), 2)
  end
  local list = at_caller(core.plugin_load, path)
  return list[1].kind, list[1].name, list
end

--- sc.plugin.info(name) or sc.plugin.info("kind.name"): a table with kind, name, version, author,
--- summary, doc, path and options.
function plugin.info(name)
  if type(name) ~= "string" then
    error("plugin.info: takes a name, as in plugin.info(\"NAME\") or plugin.info(\"KIND.NAME\")", 2)
  end
  local kind, short = name:match("^(%a+)%.([%w_]+)$")
  if kind then return at_caller(core.plugin_info, kind, short) end
  local found, names = {}, {}
  for _, entry in ipairs(plugin.list()) do
    names[#names + 1] = entry.name
    if entry.name == name and entry.kind then found[#found + 1] = entry end
  end
  if #found == 1 then return at_caller(core.plugin_info, found[1].kind, name) end
  if #found > 1 then
    local list = {}
    for _, entry in ipairs(found) do list[#list + 1] = entry.kind .. "." .. name end
    error(("plugin.info: there are several: %s"):format(table.concat(list, ", ")), 2)
  end
  local near = require("scullery.options").nearest(name, names)
  error(("plugin.info: no plugin '%s'%s"):format(name, near and " (did you mean '" .. near
    .. "'?)" or ""), 2)
end

return plugin

--- Plugins: what there is, and loading more.
local core = require "scullery.core"
local names = require "scullery.plugin.names"
local options = require "scullery.base.options"

local plugin = {}

-- f(...), with its error at the line of whoever called the function that calls this one.
local function at_caller(f, ...)
  local results = table.pack(pcall(f, ...))
  if not results[1] then error(results[2], 3) end
  return table.unpack(results, 2, results.n)
end

--- sc.plugin.list(): a list of all plugins that can be loaded, each { kind, name, path, origin,
--- id }; id: of those that are loaded and have one, sc.plugin.info(name).id of any.
--- origin: "built in", "user's folder", "SCULLERY_PLUGIN_PATH", "loaded by path", "compiled" or
--- "defined in Lua". A file straight in a folder of the search is opened in a process of its own to
--- find out what it holds; if that fails, kind is nil and `refusal` says why. The path of a plugin
--- written in Lua is the line where it is defined, "script.lua:12".
function plugin.list() return names.list() end

--- sc.plugin.load(path): load the plugins of a file. Returns kind and name of the first, and a list
--- of all as sc.plugin.info gives them. They are then members of sc.KIND by their names.
function plugin.load(path)
  if type(path) ~= "string" then
    error("plugin.load: takes the path of a shared object, and got " .. type(path), 2)
  end
  local list = at_caller(core.plugin_load, path)
  return list[1].kind, list[1].name, list
end

-- Kind and name of the one plugin that is meant.
local function one_named(title, name)
  if type(name) ~= "string" then
    error(("%s: takes a name, as in %s(\"NAME\") or %s(\"KIND.NAME\")"):format(title, title,
      title), 3)
  end
  local kind, short = name:match("^(%a+)%.([%w_]+)$")
  if kind then return kind, short end
  local ok, found = options.attempt(names.find, name)
  if not ok then error(title .. ": " .. found, 3) end
  if #found == 1 then return found[1].kind, name end
  for i, entry in ipairs(found) do found[i] = entry.kind .. "." .. name end
  error(("%s: there are several: %s"):format(title, table.concat(found, ", ")), 3)
end

--- sc.plugin.info(name) or sc.plugin.info("kind.name"): a table with kind, name, version, author,
--- id, summary, doc, path, origin and options; of a plugin written in Lua also digest, which tells its
--- definition from others. `scullery plugin info` tells more.
function plugin.info(name)
  local kind, short = one_named("plugin.info", name)
  return at_caller(core.plugin_info, kind, short)
end

--- sc.plugin.compile{ source =, kind =, name =, file =, flags =, sanitize =, compiler = }: compile
--- a plugin with the system's compiler and load it: new instances have the new code, also where one
--- of that name was compiled before. Returns what sc.plugin.load gives.
---
--- source: the text of a whole plugin in C; or a formula, with kind and name:
---   kind = "nonlinearity", source = "z > 0 ? z : 0.1 * z"
---   kind = "kernel", source = "1 / (1 + squared_distance)": of one of dot, squared_distance,
---     distance (of absolute values), cosine and angle
---   kind = "sampler", source = "tan(SCL_PI * (u - 0.5))": the coordinates w_j, u uniform on (0, 1)
--- Statements with `return` may stand in place of a formula. file: a source in a file; .cpp, .cc
--- and .cxx are C++. kind and name of a whole plugin are compared with what it holds.
---
--- flags: of the compiler, "-O3 -lfoo" or a list. sanitize: "address,undefined" and the like;
--- Scullery must then run with the sanitizer's runtime (an error says how). compiler: "clang", in
--- place of $CC or cc ($CXX or c++ for C++). Objects are kept in $XDG_CACHE_HOME/scullery/plugins,
--- which may be removed at any time. Warnings are shown when a source is compiled for the first
--- time.
function plugin.compile(given)
  local list = at_caller(require("scullery.plugin.compile").run, given)
  return list[1].kind, list[1].name, list
end

--- sc.plugin.reload(name): the file of a plugin was built again; new instances have the new code,
--- and those that exist keep the old. name: "NAME" or "KIND.NAME". Returns what sc.plugin.info
--- gives, and whether the file had changed. Built-in plugins are refused.
function plugin.reload(name)
  local kind, short = one_named("plugin.reload", name)
  local list, changed = at_caller(core.plugin_reload, kind, short)
  for _, info in ipairs(list) do
    if info.kind == kind and info.name == short then return info, changed end
  end
  error(("plugin.reload: %s now holds the %s '%s', and no %s '%s'"):format(list[1].path,
    list[1].kind, list[1].name, kind, short), 2)
end

--- sc.plugin.check(target, { only =, seed =, seconds =, in_process = false, variants =, report =
--- }): every test of the checker for the components of a file, FILE.so, or for one that is known
--- by its name ("relu", "nonlinearity.relu"). Returns { seed, passed, warned, skipped, failed =
--- numbers, results = a list of { component, name, about, outcome, text, seconds } }; outcome:
--- "pass", "warn", "skip", "fail", "crash" or "timeout". The first result for a file is that of
--- "load"; where it fails, it is the only one, and component is the file. Each test runs in a
--- process of its own, with a limit of seconds (without: 60, or what the test needs; 10 after one
--- that did not end, and after two of those the others are skipped); in_process = true runs them in
--- this one, as for a component that was defined in Lua. variants: a list of tables of options,
--- with which it is tested as well as with its defaults and with each word of its options; it takes
--- in_process = true. only: the name of a test, or a part of it. seed: of all random draws; a fresh
--- one without. report: a function that is given each result when it is
--- there.
function plugin.check(target, given)
  return require("scullery.plugin.checker")().run(target, given)
end

--- sc.plugin.new{ name =, kind =, cpp = false, folder = }: make a folder with a new plugin of the
--- kind "sampler", "nonlinearity", "kernel" or "solver", in C, or with cpp = true in C++: a
--- component that works, its test, CMakeLists.txt, and a README that says how to go on. folder: by
--- default the name, in the current folder; it must not be there yet. Returns the folder.
--- `scullery plugin new NAME --kind KIND` does the same, and prints the commands that build it.
function plugin.new(given)
  return (options.guard("plugin.new", 2, require("scullery.plugin.new").make, given))
end

return plugin

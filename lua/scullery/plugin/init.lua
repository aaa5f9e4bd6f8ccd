--- Plugins: listing, loading, compiling, checking and creating them.
local components = require "scullery.compose.component"
local core = require "scullery.core"
local names = require "scullery.plugin.names"
local options = require "scullery.base.options"

local plugin = {}

-- Calls f(...) and raises its error at the caller of the function that calls this one.
local function at_caller(f, ...)
  local results = table.pack(pcall(f, ...))
  if not results[1] then error(results[2], 3) end
  return table.unpack(results, 2, results.n)
end

--- sc.plugin.list(): a list of all plugins that can be loaded, each { kind, name, path, origin,
--- id }; id: of those that are loaded and have one, sc.plugin.info(name).id of any.
--- origin: "built in", "user's folder", "SCULLERY_PLUGIN_PATH", "loaded by path", "compiled" or
--- "defined in Lua". A file directly in a folder of the search path is opened in a child process to
--- find its contents; if that fails, kind is nil and `refusal` gives the reason. The path of a
--- plugin written in Lua is the line of its definition, "script.lua:12".
function plugin.list() return names.list() end

--- sc.plugin.load(path): loads the plugins of a file. Returns kind and name of the first, and a
--- list of all as sc.plugin.info gives them. They become members of sc.KIND by their names.
function plugin.load(path)
  if type(path) ~= "string" then
    error("plugin.load: takes the path of a shared object, and got " .. type(path), 2)
  end
  local list = at_caller(core.plugin_load, path)
  return list[1].kind, list[1].name, list
end

-- Kind and name of the one plugin with that name; raises an error if there are several.
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
--- id, summary, doc, path, origin and options; for a plugin written in Lua also the digest of its
--- definition. `scullery plugin info` prints more.
function plugin.info(name)
  local kind, short = one_named("plugin.info", name)
  return at_caller(core.plugin_info, kind, short)
end

--- sc.plugin.compile{ source =, kind =, name =, options =, file =, flags =, sanitize =, compiler =
--- }: compiles a plugin with the system's compiler and loads it. New instances use the new code,
--- also if a plugin of that name was compiled before. Returns the same as sc.plugin.load.
---
--- source: the text of a whole plugin in C; or a formula, with kind and name:
---   kind = "nonlinearity", source = "z > 0 ? z : 0.1 * z"
---   kind = "kernel", source = "1 / (1 + squared_distance)": uses one of dot, squared_distance,
---     distance (of absolute values), cosine and angle
---   kind = "sampler", source = "tan(SCL_PI * (u - 0.5))": the coordinates w_j, u uniform on (0, 1)
--- Statements with `return` may take the place of a formula. options = { beta = 1 }: numbers that
--- the formula has by name, as options of the component; an option may also be { default =, low =,
--- high =, help = }. file: a source in a file; .cpp, .cc
--- and .cxx are C++. For a whole plugin, kind and name must match its contents.
---
--- flags: for the compiler, "-O3 -lfoo" or a list. sanitize: "address,undefined" and the like;
--- Scullery must then run with the sanitizer's runtime (an error says how). compiler: "clang", in
--- place of $CC or cc ($CXX or c++ for C++). Objects are stored in
--- $XDG_CACHE_HOME/scullery/plugins, which may be removed at any time. Warnings are shown when a
--- source is compiled for the first time.
function plugin.compile(given)
  local list = at_caller(require("scullery.plugin.compile").run, given)
  return list[1].kind, list[1].name, list
end

--- sc.plugin.reload(name): loads the file of a plugin that was built again; new instances use the
--- new code, existing ones keep the old. name: "NAME" or "KIND.NAME". Returns the same table as
--- sc.plugin.info, and true if the file had changed. Built-in plugins are refused.
function plugin.reload(name)
  local kind, short = one_named("plugin.reload", name)
  local list, changed = at_caller(core.plugin_reload, kind, short)
  for _, info in ipairs(list) do
    if info.kind == kind and info.name == short then return info, changed end
  end
  error(("plugin.reload: %s now holds the %s '%s', and no %s '%s'"):format(list[1].path,
    list[1].kind, list[1].name, kind, short), 2)
end

--- sc.plugin.check(target, { only =, seed =, seconds =, in_process = false, variants =, with =,
--- report = }): runs every test of the checker for the components of a file, FILE.so, or for a
--- component by name ("relu", "nonlinearity.relu"). Returns { seed, passed, warned, skipped, failed
--- = numbers, results = a list of { component, name, about, outcome, text, seconds } }; outcome:
--- "pass", "warn", "skip", "fail", "crash" or "timeout". The first result for a file is that of
--- "load"; if it fails, it is the only one, and component is the file. Each test runs in a child
--- process with a time limit of `seconds` (default: 60, or more if the test needs it; 10 after one
--- timeout; after two more the other tests are skipped). If no instance can be made of the
--- defaults, the other tests are not run. in_process = true runs the tests in this process, as
--- those of a component defined in Lua always do. variants: a list of tables of options to test in
--- addition to the defaults and each word of its options; it needs in_process = true. with: a list
--- of paths FILE.so with components that go with it, by a tag. only: the name of a test, or a part
--- of it. seed: of all random draws; a random seed by default. report: a function that is called
--- with each result.
function plugin.check(target, given)
  return require("scullery.plugin.checker")().run(target, given)
end

--- sc.plugin.definition(component, { seed = 0, stream = 0, dim =, total =, plane =, block = }): the
--- functions that a plugin says it computes (.definition), a table, with the options of the
--- component, as sc.kernel.NAME{ width = 2 }, or the defaults of "NAME" or "KIND.NAME". They take
--- numbers and lists: sc.plugin.definition("kernel.NAME").K({ 0, 1 }, { 1, 1 }). Second result: the
--- argument r that some of them take, with what is given and random numbers of that seed, from that
--- stream on. A function that says nothing there gives nil or false.
function plugin.definition(component, given)
  if type(component) == "string" then
    local kind, short = one_named("plugin.definition", component)
    at_caller(core.plugin_info, kind, short)
    component = components.group(kind)[short]()
  elseif not components.is(component) then
    error(("plugin.definition: takes a component, as sc.kernel.NAME{}, or its name, and got %s")
      :format(options.show(component)), 2)
  end
  return at_caller(require("scullery.plugin.checker") ".definition.calls", component, given)
end

--- sc.plugin.new{ name =, kind =, cpp = false, folder = }: creates a folder with a new plugin of
--- the kind "sampler", "nonlinearity", "kernel", "solver", "transport", "stage", "metric", "loss"
--- or "reader", in C, or with cpp = true in C++: a component that works, its test, CMakeLists.txt,
--- and a README about the next steps. folder: by default the name, in the current folder; it must
--- not exist. Returns the folder. `scullery plugin new NAME --kind KIND` does the same, and prints
--- the commands that build it.
function plugin.new(given)
  return (options.guard("plugin.new", 2, require("scullery.plugin.new").make, given))
end

return plugin

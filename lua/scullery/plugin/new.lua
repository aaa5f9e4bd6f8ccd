--- Creates a folder with a new plugin: a working component, its test and its build, from the files
--- in templates/. The templates are a plugin named my_plugin that compiles as it is; in the files
--- for all kinds, @WORD@ marks the text that depends on kind and language.
local core = require "scullery.core"
local options = require "scullery.base.options"
local say = require "scullery.base.say"

local new = {}

local function fail(...) error("plugin.new: " .. string.format(...), 0) end

local kinds = core.plugin_kinds()

-- The summary of each template.
local abouts = {
  sampler = "rows of products of two normal numbers",
  nonlinearity = "the leaky rectifier",
  kernel = "the rational quadratic kernel",
  solver = "ridge regression by conjugate gradients",
  transport = "processes of this machine, made by fork, joined by sockets",
  stage = "columns cut to their mean +- some standard deviations",
  metric = "the focal loss of probabilities",
  loss = "the logarithm of the hyperbolic cosine",
  reader = "tables of float32 in a file of a few bytes of names and then numbers",
}

-- How the README says that a component is found once it is installed, and without that.
local placed = {
  component = "It is then there in every script of yours, as `sc.@kind@.my_plugin`. Without \z
    installing it, a script loads it by its path:\n`sc.plugin.load \"build/my_plugin.so\"`.",
  transport = "Every script of yours then runs with it by `scullery --transport my_plugin \z
    SCRIPT.lua`. Without installing it, the folder that it\nlies in has to be searched: \z
    `SCULLERY_PLUGIN_PATH=$PWD/build scullery --transport my_plugin SCRIPT.lua`.",
  reader = "`sc.data.read(path)` then reads every file that it recognises. Without installing it, \z
    a script loads it by its path:\n`sc.plugin.load \"build/my_plugin.so\"`.",
}

local languages = {
  c = { called = "C", language = "C", ending = "c", compiler = "cc -std=c11" },
  cpp = { called = "C++", language = "CXX", ending = "cpp", compiler = "c++ -std=c++20" },
}

-- ------------ names

-- The host's rule for names.
local function is_name(text)
  return type(text) == "string" and #text <= 40 and text:find "^[a-z][a-z0-9_]*$" ~= nil
    and load("local " .. text) ~= nil
end

local rules = options.declare("plugin.new", {
  name = { type = "string", required = true, test = is_name,
    takes = "1 to 40 of a-z, 0-9 and _, a letter first, and no keyword of Lua" },
  kind = { type = "string", required = true, choices = kinds },
  cpp = { type = "boolean", default = false },
  folder = { type = "string", takes = "a path",
    test = function(text) return type(text) == "string" and text ~= "" end },
})

-- Targets that CMake defines in every project, which a plugin's target must not be named.
local targets = {}
for name in ("all clean edit_cache help install package package_source preinstall \z
  rebuild_cache test"):gmatch "%S+" do targets[name] = true end

-- Raises an error for names that a new plugin cannot have.
local function check_free(kind, name)
  for _, entry in ipairs(core.plugin_list()) do
    if entry.kind == kind and entry.name == name and entry.origin == "built in" then
      fail("there is a built-in %s '%s'; give another name", kind, name)
    end
  end
  if name == "define" and kind ~= "transport" and kind ~= "reader" then
    fail("sc.%s.define is there already, and defines a %s in Lua; give another name", kind, kind)
  end
  if targets[name] then
    fail("'%s' is a target of CMake itself; give another name", name)
  end
end

-- ------------ files

local templates = (debug.getinfo(1, "S").source:match "^@(.*)plugin/new%.lua$" or "./")
  .. "templates/"

local function read(name)
  local file, message = io.open(templates .. name, "rb")
  if not file then fail("a template is missing: %s", message) end
  local text = file:read "a"
  file:close()
  return text
end

-- A list of { name, text, description }.
local function files_of(o)
  local language = languages[o.cpp and "cpp" or "c"]
  local words = { kind = o.kind, about = abouts[o.kind], version = core.version:match "^%d+%.%d+" }
  for word, value in pairs(language) do words[word] = value end
  words.use = read("use_" .. o.kind .. ".lua")
  words.start = read("start_of_tests.lua"):match "^%-%- (.-)\n$"
  words.placed = (placed[o.kind] or placed.component):gsub("@kind@", o.kind)
  local function made(name)
    return (read(name):gsub("@(%l+)@", words):gsub("my_plugin", o.name))
  end
  local source = o.kind .. "." .. language.ending
  return {
    { o.name .. "." .. language.ending, made(source), "the " .. o.kind .. ": " .. abouts[o.kind] },
    { "test_" .. o.name .. ".lua", made("test_" .. o.kind .. ".lua"), "checks its formulas" },
    { "CMakeLists.txt", made "CMakeLists.txt", "builds and tests it" },
    { "README.md", made "README.md", "how to build, check, install and use it" },
  }
end

local function remove(folder, files)
  for _, file in ipairs(files) do os.remove(folder .. "/" .. file[1]) end
  os.remove(folder)
end

-- Writes the folder under a temporary name and renames it at the end.
local function write(folder, files)
  local process = assert(io.open "/proc/self/stat"):read "n"
  local unfinished = ("%s.unfinished-%d"):format(folder, process)
  local ok, message = pcall(function()
    core.make_folder(unfinished)
    for _, file in ipairs(files) do core.write_text(unfinished .. "/" .. file[1], file[2]) end
    assert(os.rename(unfinished, folder))
  end)
  if ok then return end
  remove(unfinished, files)
  local first, last = tostring(message):find(unfinished, 1, true)
  error(first and message:sub(1, first - 1) .. folder .. message:sub(last + 1) or message, 0)
end

--- new.make(given): creates the folder; given: the options of sc.plugin.new. Returns the folder and
--- a list of its files, each { name, text, description }.
function new.make(given)
  local o = options.check("plugin.new", given, rules, 0)
  check_free(o.kind, o.name)
  local folder = (o.folder or o.name):gsub("(.)/+$", "%1")
  if core.real_path(folder) then fail("'%s' is there already", folder) end
  local parent = folder:match "^(.*)/[^/]*$"
  if parent and parent ~= "" and not core.real_path(parent) then
    fail("there is no folder '%s'", parent)
  end
  local files = files_of(o)
  write(folder, files)
  return folder, files
end

-- ------------ the command

--- new.arguments(parser): adds the arguments of `scullery plugin new` to an argparse parser.
function new.arguments(parser)
  parser:argument("name", "what is typed after sc.KIND.")
  parser:option("--kind", table.concat(kinds, ", ")):choices(kinds):count(1):argname "KIND"
  parser:flag("--cpp", "in C++ in place of C")
  parser:option("--out", "the folder that is made; NAME without"):argname "DIR"
end

-- A word quoted for a shell command.
local function quoted(text)
  return text:find "[^%w_./+=:,@-]" and "'" .. text:gsub("'", "'\\''") .. "'" or text
end

-- The first line that a shell command prints, or nil.
local function line_of(command)
  local pipe = assert(io.popen(command .. " 2>/dev/null"))
  local line = pipe:read "l"
  pipe:close()
  return line
end

-- The option with which CMake finds this Scullery, " -D...", or "" if it does without.
local function hint_for(command)
  local folder = command:match "^(.*)/[^/]*$"
  local prefix = folder:match "^(.*)/bin$"
  if prefix == "/usr" or prefix == "/usr/local" then return "" end
  return prefix and " -DCMAKE_PREFIX_PATH=" .. quoted(prefix) or " -DScullery_DIR="
    .. quoted(folder)
end

-- Prints the commands that build, test, check and install the new plugin.
local function show_next(folder, name, language)
  local command = core.command()
  local found, flags = line_of "command -v scullery", line_of(quoted(command) .. " --cflags")
  -- the name of this command if the shell finds it, else its path
  local word = found and core.real_path(found) == core.real_path(command) and "scullery"
    or quoted(command)
  say(("\nto build and to test it:\n  cd %s\n  cmake -B build%s\n  cmake --build build\n  \z
    ctest --test-dir build --output-on-failure"):format(quoted(folder), hint_for(command)))
  if flags then
    say(("or to build it in one line, to %s.so:\n  %s -O2 -fPIC -shared %s -o %s.so %s.%s -lm")
      :format(name, language.compiler, flags, name, name, language.ending))
  end
  say(("to check it, and to install it for yourself (%s.so without build/ after the one \z
    line):\n  %s plugin check build/%s.so\n  %s plugin install build/%s.so"):format(name, word,
    name, word, name))
end

--- new.run(given): `scullery plugin new`, with the parsed arguments.
function new.run(given)
  local folder, files = new.make{ name = given.name, kind = given.kind, cpp = given.cpp or false,
    folder = given.out }
  local width = 0
  for _, file in ipairs(files) do width = math.max(width, #file[1]) end
  say("made " .. folder .. ":")
  for _, file in ipairs(files) do
    say(("  %s%s  %s"):format(file[1], (" "):rep(width - #file[1]), file[3]))
  end
  show_next(folder, given.name, languages[given.cpp and "cpp" or "c"])
end

return new

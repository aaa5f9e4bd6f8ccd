-- The house rules that a reader of the code relies on: includes run in one direction, the engine
-- knows no plugin by name, shared headers stand alone, and the plugin that the docs print works.
local lu = require "luaunit"
local sc = require "scullery"

local source = os.getenv "SCULLERY_SOURCE" or "."

local function read(path)
  local file = assert(io.open(source .. "/" .. path))
  local text = file:read "a"
  file:close()
  return text
end

local function files(folders, pattern)
  local list = {}
  local pipe = assert(io.popen(("cd '%s' && find %s -type f | sort"):format(source, folders)))
  for path in pipe:lines() do
    if path:find(pattern) then list[#list + 1] = path end
  end
  pipe:close()
  return list
end

local function run(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read "a"
  return pipe:close() ~= nil, text
end

-- The figures of docs/architecture.md: printed where SCULLERY_TABLE is set.
local function figure(...)
  if os.getenv "SCULLERY_TABLE" then print(string.format(...)) end
end

-- ------------ includes

local floor_of = {}
for i, room in ipairs{ "base", "algebra", "plugin", "processes", "map", "rows", "text", "learn",
  "codes", "data/files", "data", "model", "progress", "lua", "define", "module", "session", "host",
  "checker" } do
  floor_of[room] = i
end

-- The innermost folder of a path that is a room: data/csv belongs to data, data/files is a room.
local function room_of(path)
  local folder = path:gsub("^core/", "")
  repeat
    folder = folder:match "^(.*)/"
  until not folder or floor_of[folder]
  return folder
end

local function upward(path, text)
  local room, found = room_of(path), {}
  for included in text:gmatch '#include "([%w_]+/[%w_./]+)"' do
    local other = room_of(included)
    if (floor_of[other] or math.huge) > floor_of[room] then
      found[#found + 1] = ("%s includes %s"):format(path, other or included)
    end
  end
  return found
end

function TestIncludesRunInOneDirection()
  local seen = 0
  for _, path in ipairs(files("core checker", "%.[ch]$")) do
    if not path:find "^core/include/" then
      lu.assertNotNil(floor_of[room_of(path)], path .. " is in no room")
      lu.assertEquals(upward(path, read(path)), {}, path)
      seen = seen + 1
    end
  end
  lu.assertTrue(seen > 100, "the rooms were not found")
  lu.assertEquals(upward("core/base/x.c", '#include "map/map.h"\n'),
    { "core/base/x.c includes map" })
  lu.assertEquals(upward("core/lua/x.c", '#include "checker/blocks.h"\n'),
    { "core/lua/x.c includes checker" })
  lu.assertEquals(upward("core/data/files/x.c", '#include "data/csv/csv.h"\n'),
    { "core/data/files/x.c includes data" })
  lu.assertEquals(upward("core/data/csv/x.c", '#include "data/files/input.h"\n'), {})
end

-- ------------ rooms of Lua

-- Rooms of lua/scullery, each of which requires itself and those before it. The library itself,
-- scullery, stands between "plugin" and "prompt", with scullery.help on it.
local lua_floor_of = {}
for i, room in ipairs{ "base", "plot", "data", "metrics", "compose", "model", "experiment",
  "pictures", "report", "help", "plugin", "library", "prompt", "notebook", "bench", "command" } do
  lua_floor_of[room] = i
end

-- Modules that are files beside the rooms: what scripts require.
local public = { scullery = true, ["scullery.help"] = true }

local function module_of(path)
  return (path:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", "."))
end

local function lua_room_of(module, flat)
  return flat[module] and "library" or module:match "^scullery%.([%w_]+)"
end

-- The modules of the library that a text requires, inside functions too: by name, by a name in a
-- list, or by the beginning of a name. Texts of scripts that the library writes are no requires.
local function required_by(text, known)
  text = text:gsub("%-%-[^\n]*", ""):gsub("%[%[.-%]%]", "")
  local found = { scullery = text:find 'require[%s(]*"scullery"' and true or nil }
  for name in text:gmatch '"(scullery%.[%w_.]+)"' do found[name] = known[name] end
  for beginning in text:gmatch 'require[%s(,]*"(scullery[%w_.]*%.)"%s*%.%.' do
    for name in pairs(known) do
      local rest = name:sub(1, #beginning) == beginning and name:sub(#beginning + 1)
      if rest and not rest:find(".", 1, true) then found[name] = true end
    end
  end
  return found
end

-- graph[module] = the set of modules that it requires. texts: module -> text.
local function graph_of(texts)
  local graph, known = {}, {}
  for module in pairs(texts) do known[module] = true end
  for module, text in pairs(texts) do
    graph[module] = required_by(text, known)
    graph[module][module] = nil
  end
  return graph
end

local function upward_in(graph, flat)
  local found = {}
  for module, needs in pairs(graph) do
    local floor = lua_floor_of[lua_room_of(module, flat)] or -math.huge
    for other in pairs(needs) do
      if (lua_floor_of[lua_room_of(other, flat)] or math.huge) > floor then
        found[#found + 1] = ("%s requires %s"):format(module, other)
      end
    end
  end
  table.sort(found)
  return found
end

-- A circle as a list of modules, or nil.
local function circle_in(graph)
  local state, path = {}, {}
  local function visit(module)
    if state[module] == "done" then return nil end
    path[#path + 1] = module
    if state[module] == "open" then return true end
    state[module] = "open"
    for other in pairs(graph[module]) do if visit(other) then return true end end
    state[module], path[#path] = "done", nil
  end
  for module in pairs(graph) do if visit(module) then return path end end
end

-- Who requires the library as a whole, which is for scripts: help alone, whose topics its members
-- are.
local function users_of_the_library(graph)
  local found = {}
  for module, needs in pairs(graph) do
    if needs.scullery and module ~= "scullery.help" then found[#found + 1] = module end
  end
  return found
end

local function is_flat(path) return path:find "^lua/scullery/[^/]+$" ~= nil end

local function lua_texts()
  local texts, flat = {}, {}
  for _, path in ipairs(files("lua/scullery", "%.lua$")) do
    if not path:find "/templates/" then
      local module = module_of(path)
      lu.assertNil(texts[module], module .. " has two files")
      texts[module] = read(path)
      if is_flat(path) then flat[module] = true end
    end
  end
  return texts, flat
end

function TestLuaModulesStandInRooms()
  local texts, flat = lua_texts()
  lu.assertEquals(flat, public)
  lu.assertEquals({ is_flat "lua/scullery/x.lua", is_flat "lua/scullery/data/x.lua" },
    { true, false })
  local seen = 0
  for module in pairs(texts) do
    lu.assertNotNil(lua_floor_of[lua_room_of(module, flat)], module .. " is in no room")
    seen = seen + 1
  end
  lu.assertTrue(seen > 100, "the rooms were not found")
end

function TestLuaRoomsRequireInOneDirection()
  local texts, flat = lua_texts()
  lu.assertEquals(upward_in(graph_of(texts), flat), {})
  -- what it must find
  local function found(text) return upward_in(graph_of{ ["scullery.data.x"] = text,
    ["scullery.model.y"] = "", ["scullery.help"] = "", ["scullery.base.z"] = "" }, public) end
  local wanted = { "scullery.data.x requires scullery.model.y" }
  lu.assertEquals(found 'local y = require "scullery.model.y"', wanted)
  lu.assertEquals(found 'function f() return require("scullery.model.y").g() end', wanted)
  lu.assertEquals(found 'for _, n in ipairs{ "scullery.model.y" } do require(n) end', wanted)
  lu.assertEquals(found 'return require("scullery.model." .. name)', wanted)
  lu.assertEquals(found 'require "scullery.help"', { "scullery.data.x requires scullery.help" })
  lu.assertEquals(found 'local z = require "scullery.base.z" -- not "scullery.model.y"', {})
end

function TestNoLuaModulesRequireEachOther()
  lu.assertNil(circle_in(graph_of(lua_texts())))
  local graph = graph_of{ ["scullery.a.a"] = 'require "scullery.a.b"',
    ["scullery.a.b"] = 'function f() return require("scullery.a.c") end',
    ["scullery.a.c"] = 'return require("scullery.a." .. name)' }
  lu.assertNotNil(circle_in(graph))
  graph["scullery.a.c"] = {}
  lu.assertNil(circle_in(graph))
end

function TestNoLuaModuleRequiresTheLibrary()
  lu.assertEquals(users_of_the_library(graph_of(lua_texts())), {})
  local function users(text)
    return users_of_the_library(graph_of{ scullery = "", ["scullery.bench.x"] = text })
  end
  lu.assertEquals(users 'function f() return (require "scullery") end', { "scullery.bench.x" })
  lu.assertEquals(users 'local sc = require("scullery")', { "scullery.bench.x" })
  lu.assertEquals(users 'local script = [[\nlocal sc = require "scullery"\n]]', {})
end

-- The checker of plugins is a module of its own: the library works without it, and functions that
-- check plugins load it when they are called, by one file that says where it is missing.
function TestTheCheckerIsLoadedWhenItIsAskedFor()
  for _, path in ipairs(files("core lua plugins", "%.[chl][ua]*$")) do
    lu.assertEquals(read(path):find 'require[%s,]*%(?"scullery[._]checker' ~= nil,
      path == "lua/scullery/plugin/checker.lua", path)
  end
  local binary = os.getenv "SCULLERY_BINARY" or "build/scullery"
  local well, said = run(("'%s' -e 'sc.plugin.list() for name in pairs(package.loaded) do \z
    if name:find \"checker\" then print(name) end end'"):format(binary))
  lu.assertEquals({ well, said }, { true, "" })
end

-- Beside the public header a plugin includes its own files and what several plugins share.
function TestPluginsIncludeThePublicHeaderAlone()
  local function foreign(path, text)
    local found = {}
    for name in text:gmatch '#include "([%w_./]+)"' do
      local own = not name:find "/" and path:find "^plugins/%w+/[%w_]+/" ~= nil
      if not own and not name:find "^shared/" then found[#found + 1] = name end
    end
    return found
  end
  for _, path in ipairs(files("plugins", "%.[ch]$")) do
    lu.assertEquals(foreign(path, read(path)), {}, path)
  end
  -- what it must find
  local text = '#include "solver/svm/svm.h"\n#include "svm.h"\n#include "algebra/matrix.h"\n'
  lu.assertEquals(foreign("plugins/solver/svm/smo.c", text),
    { "solver/svm/svm.h", "algebra/matrix.h" })
  lu.assertEquals(#foreign("plugins/solver/knn.c", text), 3)
end

-- Functions are in files that are compiled once. Headers have tables of numbers, types, macros and
-- inline functions of a few lines; a loop that is compiled for each instruction set is a macro.
function TestHeadersOfPluginsAreSmall()
  for _, path in ipairs(files("plugins", "%.h$")) do
    local _, lines = read(path):gsub("\n", "")
    lu.assertTrue(lines <= 260, ("%s has %d lines"):format(path, lines))
  end
end

-- ------------ grain

-- What a text of C has: its lines, those with a comment, its functions, and the longest of them.
-- In this tree a function begins in the first column and ends with a line that is "}".
local function grain_of_c(text)
  local grain = { lines = 0, comments = 0, functions = 0, longest = 0 }
  local inside, first = false, nil
  for line in text:gmatch "([^\n]*)\n" do
    grain.lines = grain.lines + 1
    local code = inside and "/*" .. line or line
    code = code:gsub('"[^"]*"', '""')
    local bare = code:gsub("/%*.-%*/", "")
    inside = bare:find("/*", 1, true) ~= nil
    if code ~= bare or inside or code:find("//", 1, true) then
      grain.comments = grain.comments + 1
    end
    if line:find "^[%a_]" and not first then first = grain.lines end
    if line == "}" and first then
      grain.functions = grain.functions + 1
      grain.longest = math.max(grain.longest, grain.lines - first + 1)
    end
    if line == "" or line:find "^}" or line:find "^[%a_].*;$" then first = nil end
  end
  return grain
end

-- Lines of the function that begins in line i: to the "end" with its indentation.
local function length_of_lua(lines, i)
  local indentation = lines[i]:match "^ *"
  for j = i + 1, #lines do
    if lines[j]:find("^" .. indentation .. "end%f[^%w_]") then return j - i + 1 end
  end
  return 0
end

local function grain_of_lua(text)
  local grain = { lines = 0, comments = 0, functions = 0, longest = 0 }
  local lines = {}
  for line in text:gmatch "([^\n]*)\n" do
    local code, comments = line:gsub('"[^"]*"', '""'):gsub("%-%-.*", "")
    grain.comments = grain.comments + comments
    lines[#lines + 1] = code
  end
  grain.lines = #lines
  for i, code in ipairs(lines) do
    for _ in code:gmatch "%f[%w_]function%f[^%w_]" do grain.functions = grain.functions + 1 end
    if code:find "function[%w_.:%s]*%([^()]*%)%s*$" then
      grain.longest = math.max(grain.longest, length_of_lua(lines, i))
    end
  end
  return grain
end

local function grain_of(folders, pattern)
  local all = { lines = 0, comments = 0, functions = 0, longest = 0 }
  for _, path in ipairs(files(folders, pattern)) do
    if not path:find "/templates/" then
      local one = (path:find "%.lua$" and grain_of_lua or grain_of_c)(read(path))
      for _, key in ipairs{ "lines", "comments", "functions" } do all[key] = all[key] + one[key] end
      if one.longest > all.longest then all.longest, all.where = one.longest, path end
    end
  end
  return all
end

function TestGrainIsMeasuredRightly()
  local text = '/* one\n * two */\nint f(int a,\n      int b) {\n  return a + b; // sum\n}\n\n' ..
    'static int x = 3;\n\ntypedef struct s {\n  int a; /* a */\n} s;\nconst char *t = "/*";\n'
  lu.assertEquals(grain_of_c(text), { lines = 13, comments = 4, functions = 1, longest = 4 })
  local lua = '-- one\nlocal function f() return function() end end -- two\n' ..
    'local s = "-- function"\ng(function(a)\n  if a then\n    a()\n  end\nend)\n'
  lu.assertEquals(grain_of_lua(lua), { lines = 8, comments = 2, functions = 3, longest = 5 })
end

-- Signs of readable code: a share of comments (lines), functions per 1,000 lines, no function that
-- is longer than a screen. Limits are what the tree has, so that it does not get worse unseen.
function TestGrain()
  for _, room in ipairs{
    { "core", "%.[ch]$", comments = 0.14, functions = 56 },
    { "plugins", "%.[ch]$", comments = 0.14, functions = 49 },
    { "lua/scullery", "%.lua$", comments = 0.15, functions = 80 } } do
    local grain = grain_of(room[1], room[2])
    lu.assertTrue(grain.lines > 10000, room[1])
    local comments, functions = grain.comments / grain.lines, grain.functions / grain.lines * 1000
    figure("%s: %d lines, %.1f functions per 1,000, the longest %d lines, %.1f %% with comments",
      room[1], grain.lines, functions, grain.longest, comments * 100)
    lu.assertTrue(comments >= room.comments, ("%s: %.1f %% of lines have a comment"):format(room[1],
      comments * 100))
    lu.assertTrue(functions <= room.functions, ("%s: %.1f functions per 1,000 lines"):format(
      room[1], functions))
    lu.assertTrue(grain.longest <= 60, ("%s: a function of %d lines"):format(grain.where or "",
      grain.longest))
  end
end

-- ------------ what git keeps

-- What a build or a script can make again is not kept, and records of long runs are packed.
function TestTheTreeIsSmall()
  lu.skipIf(not run(("git -C '%s' rev-parse"):format(source)), "this is no checkout")
  local well, said = run(("cd '%s' && git ls-files -z | xargs -0 stat -c %%s"):format(source))
  lu.skipIf(not well, "files are missing")
  local total = 0
  for size in said:gmatch "%d+" do total = total + tonumber(size) end
  figure("tracked files: %.2f MB", total / 1e6)
  lu.assertTrue(total < 14.42e6, ("%.2f MB of files are tracked"):format(total / 1e6))
end

-- Two versions of a text that a merge left beside each other.
function TestNoMergeIsLeftOpen()
  lu.skipIf(not run(("git -C '%s' rev-parse"):format(source)), "this is no checkout")
  local found, said = run(("cd '%s' && git grep -nE '^(<{7}|>{7}) '"):format(source))
  lu.assertFalse(found, said)
end

-- The scripts of papers are there to be read.
function TestScriptsOfPapersAreShort()
  for _, path in ipairs(files("scripts/rks scripts/maxout scripts/sparse scripts/bases \z
      scripts/rkhsw scripts/mnist", "%.lua$")) do
    local _, lines = read(path):gsub("\n", "")
    lu.assertTrue(lines < 80, ("%s: %d lines"):format(path, lines))
  end
end

-- Lines of the product: how many are mathematics, and how many the binding to Lua.
function TestLinesOfTheProduct()
  local function lines_of(folders)
    return grain_of(folders, "%.[ch]$").lines + grain_of(folders, "%.lua$").lines
  end
  local all = lines_of "core plugins checker lua"
  local mathematics =
    lines_of "core/algebra core/codes core/map core/rows core/text core/learn plugins"
  local binding = lines_of "core/lua"
  figure("product: %d lines, %.0f %% mathematics; core/lua %d lines", all,
    100 * mathematics / all, binding)
  lu.assertTrue(binding <= 10060, binding .. " lines of core/lua")
  lu.assertTrue(mathematics / all > 0.37, ("%.2f of the lines"):format(mathematics / all))
end

-- ------------ tests

-- A folder of tests is named after the folder that they test.
local function tested(folder)
  local room = folder:match "^lua(/.*)$"
  return room and "lua/scullery" .. room or folder
end

function TestTestsMirrorTheTree()
  local seen = {}
  for _, path in ipairs(files("tests", "_test%.[cl][ua]*$")) do
    local folder = path:match "^tests/(.+)/"
    lu.assertNotNil(folder, path .. " is in no folder")
    seen[folder] = true
  end
  local count = 0
  for folder in pairs(seen) do
    if folder:find "^core" or folder:find "^plugins" or folder:find "^lua" then
      count = count + 1
      local there = run(("test -d '%s/%s'"):format(source, tested(folder)))
      lu.assertTrue(there, ("tests/%s: there is no %s"):format(folder, tested(folder)))
    end
  end
  lu.assertTrue(count > 20, "the folders were not found")
end

-- ------------ names of plugins

local function without_comments(path, text)
  if path:find "%.lua$" then
    return (text:gsub("%-%-%[%[.-%]%]", ""):gsub("%-%-[^\n]*", ""))
  end
  return (text:gsub("/%*.-%*/", ""):gsub("//[^\n]*", ""))
end

-- Places of code that know a plugin by its name.
local function named(text, plugins)
  local found = {}
  local function look(pattern, what)
    if text:find(pattern) then found[#found + 1] = what end
  end
  for _, one in ipairs(plugins) do
    local name = one.name
    if text:find(name, 1, true) then -- the patterns take long
      look(one.kind .. "%." .. name .. "%f[^%w_]", one.kind .. "." .. name)
      look('group%s*%(?%s*"' .. one.kind .. '"%s*%)?%s*[.%[]"?' .. name .. "%f[^%w_]",
        "group." .. name)
      look('name%s*[~=]=%s*"' .. name .. '"', "a comparison with " .. name)
      look('strcmp%s*%([^()]*"' .. name .. '"', "strcmp with " .. name)
    end
  end
  return found
end

-- Benchmarks measure plugins by name: that is what they are for. Templates are what users write.
-- The checker tries a component together with built-in ones, and against them.
local function may_name(path)
  return path:find "^lua/scullery/bench/" ~= nil or path:find "^lua/scullery/templates/" ~= nil
    or path:find "^checker/lua/" ~= nil
end

function TestTheEngineKnowsNoPluginByName()
  local plugins = {}
  for _, one in ipairs(sc.plugin.list()) do plugins[#plugins + 1] = one end
  lu.assertTrue(#plugins > 60, "the built-in plugins were not found")
  for _, path in ipairs(files("core lua checker", "%.[chl][ua]*$")) do
    if not may_name(path) then
      lu.assertEquals(named(without_comments(path, read(path)), plugins), {}, path)
    end
  end
  -- what it must find
  for _, text in ipairs{ "sc.sampler.gaussian{}", 'component.group("solver").lasso{}',
    'if phi.name ~= "maxout" then', 'strcmp(name, "fourier") == 0' } do
    lu.assertTrue(#named(text, plugins) > 0, text)
  end
end

-- ------------ headers, docs

local compiler = os.getenv "CC" or "cc"
local flags = ("-std=c11 -Wall -Wextra -Wpedantic -Werror -I'%s/core/include' -I'%s/plugins'")
  :format(source, source)

local function need_compiler()
  lu.skipIf(not run(compiler .. " --version"), "there is no C compiler")
end

function TestHeadersStandAlone()
  need_compiler()
  local list = files("core/include plugins", "%.h$")
  lu.assertTrue(#list > 20)
  -- a header of plugins that are built where there is an MPI
  local without_mpi = not run("echo '#include <mpi.h>' | " .. compiler .. " -x c -fsyntax-only -")
  for _, path in ipairs(list) do
    local needs = read(path):find("#include <mpi.h>", 1, true) and without_mpi
    local well, said = needs, ""
    if not needs then well, said = run(
      ("echo '#include \"%s/%s\"' | %s %s -Wno-unused-function -x c -fsyntax-only -"):format(
        source, path, compiler, flags)) end
    lu.assertTrue(well, path .. "\n" .. said)
  end
end

local function printed_plugin()
  local code = read "docs/interface.md":match "```c\n(/%* The rectifier.-)```"
  lu.assertNotNil(code, "docs/interface.md prints no complete plugin")
  return code
end

function TestThePluginThatTheDocsPrintWorks()
  need_compiler()
  local base = os.tmpname()
  local file = assert(io.open(base .. ".c", "w"))
  file:write(printed_plugin())
  file:close()
  local well, said = run(("%s %s -O2 -fPIC -shared -fvisibility=hidden -o %s.so %s.c -lm"):format(
    compiler, flags, base, base))
  lu.assertTrue(well, said)
  local _, name = sc.plugin.load(base .. ".so")
  lu.assertEquals(name, "rectifier")
  local X = sc.randn{ 7, 4, seed = 1 }
  local function inst(phi, K)
    return sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 }, phi = phi, K = K }
  end
  local printed, built_in = sc.nonlinearity.rectifier(), sc.nonlinearity.relu()
  local function gap(a, b) return (a - b):abs():max() end
  lu.assertTrue(gap(inst(printed):kernel(X), inst(built_in):kernel(X)) < 1e-14)
  local K = sc.kernel.gaussian{ width = 2 }
  for _, kernel in ipairs{ false, K } do
    local function features(phi)
      return inst(phi, kernel or nil):features{ T = 32, seed = 3 }:fit(X):transform(X)
    end
    lu.assertTrue(gap(features(printed), features(built_in)) < 1e-14)
  end
  for _, ending in ipairs{ "", ".c", ".so" } do os.remove(base .. ending) end
end

os.exit(lu.LuaUnit.run())

-- What `scullery plugin new` makes, of each kind in C and in C++: built against an installation in
-- three ways, without a warning, tested by its own test, checked, installed and used.
local lu = require "luaunit"
local support = dofile "tests/helpers/support.lua"
local installed = dofile "tests/helpers/installed.lua"
local quote, read, sh = support.quote, support.read, installed.sh

local root, prefix -- the folder of this run, and the installation in it
local made = {} -- of each kind and language: { name, kind, ending, folder, said }

-- In an environment that knows of this installation alone.
local function environment(place)
  local line = "env -u LUA_PATH -u LUA_CPATH -u SCULLERY_PLUGIN_PATH PATH=%s:\"$PATH\" HOME=%s \z
    XDG_DATA_HOME=%s XDG_CACHE_HOME=%s PKG_CONFIG_PATH=%s CMAKE_PREFIX_PATH=%s "
  return line:format(quote(place .. "/bin"), quote(root), quote(root .. "/data"),
    quote(root .. "/cache"), quote(place .. "/lib/pkgconfig"), quote(place))
end

-- Lines of a shell, in a folder, as a user types them; returns the output.
local function typed(folder, lines, place)
  return sh(environment(place or prefix) .. "sh -ec " .. quote("cd " .. quote(folder) .. "\n"
    .. lines))
end

local function make(folder, name, kind, ending, place)
  local said = typed(root, ("scullery plugin new %s --kind %s%s --out %s"):format(name, kind,
    ending == "cpp" and " --cpp" or "", quote(folder)), place)
  return { name = name, kind = kind, ending = ending, folder = root .. "/" .. folder, said = said }
end

local function setup()
  root = os.tmpname()
  os.remove(root)
  sh("mkdir -m 755 " .. quote(root))
  prefix = root .. "/installation"
  installed.into(prefix)
  for _, kind in ipairs(require("scullery.core").plugin_kinds()) do
    for _, ending in ipairs{ "c", "cpp" } do
      local name = kind .. "_" .. ending
      made[#made + 1] = make(name, name, kind, ending)
    end
  end
end

-- The commands of a README: of "## Build", "## Check", "## Install".
local function commands(one, title)
  local section, lines = read(one.folder .. "/README.md"):match("\n## " .. title .. "\n(.-)\n## "),
    {}
  for line in section:gmatch "    ([^\n]+)\n" do lines[#lines + 1] = line end
  return lines
end

-- The object that the last of the commands makes, built at the first call; returns its name.
local function built(one)
  if not one.object then
    typed(one.folder, commands(one, "Build")[4])
    one.object = one.name .. ".so"
  end
  return one.object
end

local function passes(one, path)
  local out = typed(one.folder, ("scullery test_%s.lua %s"):format(one.name, path))
  lu.assertNotNil(out:find "\nRan %d+ tests [^\n]*, 0 failures\nOK\n$", out)
end

TestMade = { setupClass = setup }
function TestMade.teardownClass() sh("rm -rf " .. quote(root)) end

local strict = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror $(scullery --cflags)"

-- GCC finds some faults only where it optimises, whatever the standard; clang finds none so.
function TestMade.test_no_compiler_warns()
  local compilers = { c = { "cc -std=c11 -O2 -fPIC -c -o strict.o", "cc -std=c17 -fsyntax-only",
    "clang -std=c11 -fsyntax-only", "clang -std=c2x -fsyntax-only" },
    cpp = { "c++ -std=c++20 -O2 -fPIC -c -o strict.o", "clang++ -std=c++20 -fsyntax-only",
      "clang++ -std=c++2b -fsyntax-only" } }
  for _, one in ipairs(made) do
    for _, compiler in ipairs(compilers[one.ending]) do
      if support.shell("command -v " .. compiler:match "%S+") == 0 then
        lu.assertEquals(typed(one.folder, ("%s %s %s.%s 2>&1"):format(compiler, strict,
          one.name, one.ending)), "")
      end
    end
  end
end

-- Nothing but the plugin's symbol is visible, and it needs no library of ours.
function TestMade.test_the_object_exports_one_symbol()
  for _, one in ipairs(made) do
    local symbols = sh("nm -D --defined-only " .. quote(one.folder .. "/" .. built(one)))
    local own = {}
    for symbol in symbols:gmatch "%s[BDR] (%S+)" do own[#own + 1] = symbol end
    lu.assertEquals(own, { "scullery_plugin" })
  end
end

-- The other line for a compiler, which is the same for all kinds, for one kind.
function TestMade.test_each_way_to_build_it_makes_a_plugin_that_passes_its_test()
  for _, one in ipairs(made) do
    lu.assertEquals(#commands(one, "Build"), 4)
    lu.assertEquals(commands(one, "Check")[1], "scullery test_" .. one.name .. ".lua")
    passes(one, built(one))
    if one.kind == "kernel" then
      typed(one.folder, ("rm %s\n%s"):format(one.object, commands(one, "Build")[3]))
      passes(one, one.object)
    end
  end
end

-- CMake builds the other kinds below.
function TestMade.test_cmake_builds_it()
  for _, one in ipairs(made) do
    if one.name == "kernel_c" or one.name == "sampler_cpp" then
      typed(one.folder, table.concat(commands(one, "Build"), "\n", 1, 2))
      lu.assertStrContains(typed(one.folder, "ctest --test-dir build"), "100% tests passed")
      passes(one, "") -- build/NAME.so
    end
  end
end

-- What the command prints can be pasted, from an installation and to a folder with spaces in their
-- names.
function TestMade.test_the_printed_commands_can_be_pasted()
  local spaced = root .. "/an installation"
  sh(("cp -al %s %s"):format(quote(prefix), quote(spaced)))
  for ending, kind in pairs{ c = "nonlinearity", cpp = "solver" } do
    local one, lines = make("my " .. ending, "pasted", kind, ending, spaced), {}
    for line in one.said:match "\n\n(.*)":gmatch "  ([^\n]+)\n" do
      if not line:find " plugin " then lines[#lines + 1] = line end
    end
    lu.assertEquals(#lines, 5)
    lu.assertStrContains(typed(root, table.concat(lines, "\n"), spaced), "100% tests passed")
    passes(one, "pasted.so")
  end
end

-- Those in C are checked when they are installed, below, by a process for each test.
function TestMade.test_the_checker_passes_it()
  for _, one in ipairs(made) do
    if one.ending == "cpp" then
      local out = typed(one.folder, "scullery plugin check --in-process " .. built(one))
      lu.assertStrContains(out, " 0 failed")
    end
  end
end

function TestMade.test_the_readme_leads_to_files_that_are_there()
  local place = typed(root, "pkg-config --variable=prefix scullery"):gsub("\n$", "")
  for _, one in ipairs(made) do
    local seen = 0
    local section = read(one.folder .. "/README.md"):match "\n## Read on\n(.*)$"
    for path in section:gmatch "`(%l+/[%l/._]+)`" do
      lu.assertNotNil(io.open(place .. "/" .. path), path)
      seen = seen + 1
    end
    lu.assertEquals(seen, 2)
  end
end

-- The lines of Lua in its README, with the plugin where a user has it.
local function use(one)
  typed(one.folder, ("mkdir -p build\ncp %s build"):format(built(one)))
  local way = commands(one, "Install")[1]
  local lines = read(one.folder .. "/README.md"):match "```lua\n(.-)```"
  support.write(one.folder .. "/use.lua", lines)
  local installing = typed(one.folder, way .. " 2>&1")
  lu.assertNotNil(installing:find "checked: [1-9]%d* passed", installing)
  local words = one.kind == "transport" and "--transport " .. one.name or ""
  local score = tonumber(typed(one.folder, "scullery " .. words .. " use.lua"):match "([%d.]+)%s*$")
  lu.assertTrue(score > 0.93, one.name)
end

-- Those in C: the rest is the same in C++.
function TestMade.test_it_can_be_installed_and_used()
  for _, one in ipairs(made) do
    if one.ending == "c" then use(one) end
  end
end

os.exit(lu.LuaUnit.run())

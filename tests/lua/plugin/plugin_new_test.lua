-- scullery plugin new: what it writes, and what it refuses. plugin_new_slow_test.lua builds what it
-- makes, and uses it.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local support = dofile("tests/helpers/support.lua")
local quote, read, fails = support.quote, support.read, support.fails

local kinds = core.plugin_kinds()

local function names_in(folder)
  local list = {}
  for _, entry in ipairs(core.folder(folder) or {}) do list[#list + 1] = entry.name end
  table.sort(list)
  return list
end

-- `scullery plugin ...` in that folder.
local function run(folder, arguments)
  return support.shell(("cd %s && %s plugin %s"):format(quote(folder),
    quote(core.real_path(support.binary)), arguments))
end

-- A function of each kind and language, in a folder of its own.
local function each(f)
  for _, kind in ipairs(kinds) do
    for _, ending in ipairs{ "c", "cpp" } do
      support.in_folder(function(folder)
        local path = sc.plugin.new{ name = "of_mine", kind = kind, cpp = ending == "cpp",
          folder = folder .. "/made" }
        f(path, kind, ending)
      end)
    end
  end
end

function TestTheFilesOfEachKind()
  each(function(path, _, ending)
    lu.assertEquals(names_in(path), { "CMakeLists.txt", "README.md", "of_mine." .. ending,
      "test_of_mine.lua" })
  end)
end

function TestTheNameStandsEverywhere()
  each(function(path, kind, ending)
    for _, name in ipairs(names_in(path)) do
      local text = read(path .. "/" .. name)
      lu.assertStrContains(text, "of_mine")
      for _, word in ipairs{ "my_plugin", "@" } do lu.assertNotStrContains(text, word) end
    end
    lu.assertStrContains(read(path .. "/of_mine." .. ending), '.name = "of_mine"')
    lu.assertStrContains(read(path .. "/test_of_mine.lua"), "sc." .. kind .. ".of_mine")
    local build = read(path .. "/CMakeLists.txt")
    lu.assertStrContains(build, ("scullery_add_plugin(of_mine of_mine.%s KIND %s INSTALL)"):format(
      ending, kind))
    lu.assertStrContains(build, "find_package(Scullery " .. core.version:match "^%d+%.%d+")
  end)
end

-- The CMake function that the made CMakeLists.txt calls takes every kind.
function TestTheBuildTakesEachKind()
  local text = read "cmake/SculleryAddPlugin.cmake"
  local taken = {}
  for kind in text:match("set%(kinds ([%a ]+)%)"):gmatch "%a+" do taken[#taken + 1] = kind end
  lu.assertItemsEquals(taken, core.plugin_kinds())
end

-- Lua files are well formed whatever the name, and a source opens with its mathematics.
function TestTheTextsHoldWhatTheyShould()
  each(function(path, kind, ending)
    lu.assertNotNil(loadfile(path .. "/test_of_mine.lua"))
    local use = read(path .. "/README.md"):match "```lua\n(.-)```"
    lu.assertNotNil(load(use), use)
    lu.assertStrContains(use, (kind == "transport" and "--transport 'of_mine{"
      or kind == "reader" and "sc.data.read(" or "sc." .. kind .. ".of_mine{"))
    local opening = read(path .. "/of_mine." .. ending):match "^/%*(.-)%*/\n#%l"
    lu.assertNotNil(opening, "no comment before the code")
    lu.assertStrContains(opening, " = ")
  end)
end

function TestTheCommandSaysWhatItMadeAndHowToGoOn()
  support.in_folder(function(folder)
    local status, out, err = run(folder, "new of_mine --kind kernel --cpp --out 'two words/'")
    lu.assertEquals({ status, err }, { 0, "" })
    lu.assertEquals(names_in(folder), { "two words" })
    for _, words in ipairs{ "made two words:\n", "of_mine.cpp", "test_of_mine.lua", "README.md",
      "cd 'two words'\n", "cmake --build build\n", "plugin check build/of_mine.so\n" } do
      lu.assertStrContains(out, words)
    end
    status = run(folder, "new other --kind sampler")
    lu.assertEquals(status, 0)
    lu.assertEquals(names_in(folder .. "/other")[3], "other.c")
  end)
end

function TestRefusals()
  support.in_folder(function(folder)
    support.write(folder .. "/file", "mine")
    for arguments, words in pairs{
      ["x --kind kernel --out file"] = { "'file' is there already" },
      ["x --kind kernel --out ."] = { "'.' is there already" },
      ["x --kind kernel --out a/b"] = { "there is no folder 'a'" },
      ["x --kind kernel --out ''"] = { "option 'folder' got \"\"" },
      ["x --kind kernel --out /proc/x"] = { "/proc/x: the folder cannot be made" },
      ["define --kind kernel"] = { "sc.kernel.define is there already", "give another name" },
      ["gaussian --kind kernel"] = { "there is a built-in kernel 'gaussian'; give another name" },
      ["Mine --kind kernel"] = { "option 'name' got \"Mine\"", "a-z, 0-9 and _" },
      ["2x --kind kernel"] = { "option 'name' got \"2x\"" },
      ["a/b --kind kernel"] = { "option 'name' got \"a/b\"" },
      ["while --kind kernel"] = { "option 'name' got \"while\"", "no keyword of Lua" },
      [("x"):rep(41) .. " --kind kernel"] = { "1 to 40" },
      ["test --kind kernel"] = { "'test' is a target of CMake itself" },
      ["x --kind kernal"] = { "'--kind' must be one of", "'kernel'" },
      ["x"] = { "missing option '--kind'" },
      ["--kind kernel"] = { "missing argument 'name'" },
    } do
      local status, out, err = run(folder, "new " .. arguments)
      lu.assertEquals({ arguments, status, out }, { arguments, 1, "" })
      for _, word in ipairs(words) do lu.assertStrContains(err, word) end
    end
    lu.assertEquals(names_in(folder), { "file" })
    lu.assertEquals(read(folder .. "/file"), "mine")
  end)
end

function TestANameOfAnotherKindIsFree()
  support.in_folder(function(folder)
    sc.plugin.new{ name = "ridge", kind = "kernel", folder = folder .. "/ridge" }
    sc.plugin.new{ name = ("x"):rep(40), kind = "solver", folder = folder .. "/long" }
    lu.assertEquals(names_in(folder), { "long", "ridge" })
  end)
end

function TestRefusalsOfTheFunction()
  fails({ "plugin_new_test.lua:", "plugin.new: option 'kind' is missing" }, function()
    sc.plugin.new{ name = "x" }
  end)
  fails({ "plugin.new: option 'kind'", "one of sampler" }, sc.plugin.new,
    { name = "x", kind = "x" })
  fails({ "plugin.new: option 'cpp'", "true or false" }, sc.plugin.new,
    { name = "x", kind = "kernel", cpp = 1 })
  fails({ "plugin.new: ", "built-in solver 'ridge'" }, sc.plugin.new,
    { name = "ridge", kind = "solver" })
  fails({ "plugin.new: ", "table" }, sc.plugin.new, "x")
end

-- A folder is there whole or not at all.
function TestNothingStaysWhereAFileCannotBeWritten()
  local write = core.write_text
  support.in_folder(function(folder)
    for fails_at = 1, 4 do
      local calls = 0
      core.write_text = function(path, text)
        calls = calls + 1
        if calls == fails_at then error(path .. ": no space left", 0) end
        write(path, text)
      end
      local ok, message = pcall(sc.plugin.new, { name = "x", kind = "kernel",
        folder = folder .. "/x" })
      core.write_text = write
      lu.assertFalse(ok)
      lu.assertStrContains(message, "plugin.new: " .. folder .. "/x/")
      lu.assertStrContains(message, "no space left")
      lu.assertEquals(names_in(folder), {})
    end
  end)
end

os.exit(lu.LuaUnit.run())

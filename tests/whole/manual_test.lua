-- The manual page scullery(1) tells everything that the command prints about itself, and is a page
-- that man can show. The build makes it.
local lu = require "luaunit"
local support = dofile("tests/helpers/support.lua")

local path = support.build .. "/share/doc/scullery/scullery.1"
local page = support.read(path):gsub("\\%-", "-")

local function help_of(words)
  local status, text = support.scullery(words .. " --help")
  lu.assertEquals(status, 0, words)
  return text
end

-- The command and all subcommands with their verbs: { words -> what --help prints }.
local function all_help()
  local all = { [""] = help_of("") }
  local function add(words)
    all[words] = help_of(words)
    for verb in (all[words]:match("\nCommands:\n(.*)$") or ""):gmatch("\n?   (%l[%w-]*)  +%S") do
      add(words .. " " .. verb)
    end
  end
  for word in all[""]:gmatch("\n       scullery (%l+)") do
    if not all[word] then add(word) end
  end
  return all
end

TestManual = {} -- luacheck: globals TestManual

function TestManual.test_every_command_and_option_is_in_it()
  local commands, options = 0, 0
  for words, text in pairs(all_help()) do
    local title = "\n.SS scullery " .. words .. "\n"
    lu.assertTrue(words == "" or page:find(title, 1, true) ~= nil, words .. " is missing")
    commands = commands + 1
    for option in text:gmatch("%f[^%s%[(|]%-%-?%a[%w-]*") do
      lu.assertNotNil(page:find("%f[%w-]" .. option:gsub("%-", "%%-") .. "%f[^%w-]"),
        ("%s of scullery %s is missing"):format(option, words))
      options = options + 1
    end
  end
  lu.assertTrue(commands > 10 and options > 40, commands .. " commands, " .. options .. " options")
end

function TestManual.test_every_variable_is_in_it()
  local names = {}
  for name in help_of(""):gmatch("\n  ([%u_]+) ") do names[#names + 1] = name end
  for _, one in ipairs(require "scullery.help.environment") do names[#names + 1] = one[1] end
  lu.assertTrue(#names > 20)
  for _, name in ipairs(names) do
    lu.assertNotNil(page:find("\n.B " .. name .. "\n", 1, true), name .. " is missing")
  end
end

function TestManual.test_it_is_well_formed()
  lu.skipIf(support.shell("groff --version") ~= 0, "there is no groff")
  local status, _, warnings = support.shell("groff -man -ww -Tutf8 -z " .. support.quote(path))
  lu.assertEquals({ status, warnings }, { 0, "" })
end

os.exit(lu.LuaUnit.run())

-- The documentation is true: the code of its pages prints what they say, links lead somewhere, and
-- what is named exists. The tools are scripts/documentation/*.lua.
local lu = require "luaunit"

local source = os.getenv "SCULLERY_SOURCE" or "."
package.path = source .. "/scripts/?.lua;" .. source .. "/tests/helpers/?.lua;" .. package.path
local page = require "documentation.page"
local session = require "documentation.session"
local compare = require "documentation.compare"
local support = require "support"

-- A page of that text.
local function page_of(text)
  local path = support.write(support.free_path(".md"), text)
  local one = page.read(path)
  os.remove(path)
  return one
end

local function run(one)
  return session.run(one, { binary = support.binary, source = source, limit = 600 })
end

-- ------------ the pages

TestPages = {}

local made = support.build .. "/share/doc/scullery/" -- by the build

-- Those of the tree, and the reference.
local function pages()
  local list = page.all(source)
  local pipe = assert(io.popen(("find %s -name '*.md' | sort"):format(support.quote(made))))
  for path in pipe:lines() do list[#list + 1] = path end
  pipe:close()
  return list
end

function TestPages:test_code_prints_what_the_page_says()
  lu.skipIf((os.getenv "SCULLERY_SANITIZE" or "") ~= "", "too slow under a sanitizer")
  local ran = 0
  for _, path in ipairs(pages()) do
    local one = page.read(path)
    local failures, skipped = run(one)
    for _, sentence in ipairs(skipped) do
      if sentence:find("needs the data set", 1, true) then print("skipped: " .. sentence) end
    end
    lu.assertEquals(failures, {})
    lu.assertEquals(session.compare(one), {})
    for _, block in ipairs(one.blocks) do ran = ran + (block.ran and 1 or 0) end
  end
  lu.assertTrue(ran >= 10, "the pages have no code")
end

-- Each plugin that the author's guide prints compiles without a warning, and does what every plugin
-- must.
function TestPages:test_the_plugins_of_the_guide_pass_the_checker()
  lu.skipIf((os.getenv "SCULLERY_SANITIZE" or "") ~= "", "too slow under a sanitizer")
  local checked = 0
  for _, block in ipairs(page.read(source .. "/docs/plugins.md").blocks) do
    if block.language == "c" then
      support.in_folder(function(folder)
        local path = folder .. "/plugin.c"
        support.write(path, table.concat(block.lines, "\n") .. "\n")
        local status, _, said = support.shell(("cc -std=c11 -Wall -Wextra -Wpedantic -Wconversion \z
          -Wshadow -Werror -O2 -fPIC -shared $(%s --cflags) -o %s/plugin.so %s -lm"):format(
          support.quote(support.binary), folder, path))
        lu.assertEquals({ status, said }, { 0, "" })
        dofile "tests/helpers/passes.lua"(folder .. "/plugin.so", { seed = 1, in_process = true })
        checked = checked + 1
      end)
    end
  end
  lu.assertTrue(checked >= 8)
end

function TestPages:test_links_lead_somewhere()
  for _, path in ipairs(pages()) do
    lu.assertEquals(require("documentation.links").check(path), {})
  end
end

function TestPages:test_names_exist()
  for _, path in ipairs(pages()) do
    lu.assertEquals(require("documentation.names").check(path, source), {})
  end
end

function TestPages:test_the_reference_is_what_help_says()
  local script = support.quote(source .. "/scripts/reference.lua")
  support.in_folder(function(folder)
    support.shell("mkdir " .. support.quote(folder .. "/reference"))
    lu.assertEquals({ support.scullery(script .. " --to " .. support.quote(folder)) },
      { 0, "", "" })
    local status, said = support.shell(("diff -rq %s %s"):format(support.quote(made),
      support.quote(folder)))
    lu.assertEquals({ status, said }, { 0, "" }) -- cmake --build build makes it
  end)
  lu.assertTrue(#support.read(made .. "reference/functions.md") > 10000)
end

function TestPages:test_the_gallery_is_what_its_scripts_say()
  local status, said = support.scullery(support.quote(source .. "/scripts/reference.lua")
    .. " --check")
  lu.assertEquals({ status, said }, { 0, "" }) -- build/scullery scripts/reference.lua writes it
end

function TestPages:test_the_overview_names_every_plugin()
  local text = support.read(source .. "/docs/overview.md")
  local seen = 0
  for _, one in ipairs(require("scullery.core").plugin_list()) do
    lu.assertStrContains(text, "`" .. one.name .. "`")
    seen = seen + 1
  end
  lu.assertTrue(seen > 50)
end

-- What differs from session to session.
local function without_chance(text)
  return (text:gsub("randomseed%b()", "randomseed()")
    :gsub("pipeline:fit:[^\n]*interrupted!", "pipeline:fit: interrupted!"))
end

function TestPages:test_the_recorded_session_is_what_the_prompt_does()
  lu.skipIf((os.getenv "SCULLERY_SANITIZE" or "") ~= "", "too slow under a sanitizer")
  local python = "/usr/bin/python3"
  lu.skipIf(support.shell(python .. " -c 'import pexpect, pyte'") ~= 0,
    "python3-pexpect or python3-pyte is missing")
  local path = os.tmpname()
  local status, _, said = support.shell(("timeout 600 %s %s %s %s"):format(python,
    support.quote(source .. "/scripts/record_session.py"), path, support.quote(support.binary)))
  lu.assertEquals({ status, said }, { 0, "" })
  local got, want = support.read(path), support.read(source .. "/docs/session.md")
  os.remove(path)
  -- scripts/record_session.py records it anew; memory and the like may differ a little
  lu.assertNil(compare.texts(without_chance(want), without_chance(got), 0.1))
end

-- The variables that the code asks for are those that the reference lists.
function TestPages:test_the_reference_lists_every_environment_variable()
  local listed = {}
  for _, one in ipairs(require "scullery.help.environment") do listed[one[1]] = true end
  local pipe = assert(io.popen(([[cd '%s' &&
    grep -rhoE 'getenv ?\(?"SCULLERY_[A-Z_]+' core lua --include=*.c --include=*.lua]])
    :format(source)))
  local seen = 0
  for line in pipe:lines() do
    local name = line:match("SCULLERY_[%u_]+")
    lu.assertTrue(listed[name], name .. " is not in lua/scullery/help/environment.lua")
    seen = seen + 1
  end
  pipe:close()
  lu.assertTrue(seen >= 5, "no variables were found")
end

-- ------------ the tools find faults

TestTools = {}

local function differs(want, got, tolerance)
  return compare.texts(want, got, tolerance) ~= nil
end

function TestTools:test_texts_are_compared()
  lu.assertFalse(differs("a  b\nc", "a b\n\nc\n"))
  lu.assertTrue(differs("a b", "a c"))
  lu.assertTrue(differs("a b", "a"))
  lu.assertTrue(differs("a", "a b"))
  lu.assertTrue(differs("", "a"))
  lu.assertFalse(differs("a ... d", "a b c d"))
  lu.assertTrue(differs("a ... d", "a b c"))
end

function TestTools:test_numbers_are_compared_to_their_digits()
  lu.assertFalse(differs("x = 0.1234", "x = 0.1235"))
  lu.assertTrue(differs("x = 0.1234", "x = 0.1244"))
  lu.assertTrue(differs("x = 0.5", "x = 0.5234"))
  lu.assertFalse(differs("0.99300699300699", "0.99300699300612"))
  lu.assertFalse(differs("1.2e-08", "1.3e-08"))
  lu.assertTrue(differs("1.2e-08", "1.2e-07"))
  lu.assertTrue(differs("12 iterations", "13 iterations"))
  lu.assertFalse(differs("12 iterations", "13 iterations", 0.1))
  lu.assertTrue(differs("12 iterations", "15 iterations", 0.1))
  lu.assertFalse(differs("in 0.31 s", "in 12 s"))
  lu.assertFalse(differs("0x1.6fd676d00c8dp-1", "0x1.6fd676d00c927p-1"))
  lu.assertTrue(differs("0x1.6fd676d00c8dp-1", "0x1.6fe676d00c8dp-1"))
end

function TestTools:test_blocks_run_in_order_as_one_session()
  local one = page_of("# A page\n\n```lua\nlocal a = 1\nprint(a + 1)\n```\n\n```text\n2\n```\n\n"
    .. "text\n\n```lua\nprint(a + 2)\nio.stderr:write('x\\n')\n```\n\n```text\n4\nx\n```\n\n"
    .. "```sh\nscullery -e 'print(sc.version)'\n```\n\n```text\n" .. require("scullery").version
    .. "\n```\n")
  lu.assertEquals({ run(one) }, { {}, {} })
  local found = session.compare(one)
  lu.assertEquals(#found, 1)
  lu.assertStrContains(found[1], ":14: the page has '4 x', the code printed '3 x'")
end

function TestTools:test_a_page_with_an_error_fails_by_its_line()
  local failures = run(page_of("# A page\n\n```lua\nlocal x = 1\nerror('no ' .. x)\n```\n"))
  lu.assertEquals(#failures, 1)
  lu.assertStrContains(failures[1], ":5: no 1")
end

function TestTools:test_directives()
  local one = page_of("# A page\n\n<!-- file: a.csv -->\n```csv\n1,2\n```\n\n"
    .. "<!-- not run: no such folder -->\n```lua\nerror('x')\n```\n\n"
    .. "<!-- needs: no_such_set -->\n```lua\nerror('x')\n```\n\n```lua\nlocal b = 1\n```\n\n"
    .. "<!-- output: varies -->\n```lua\nprint(os.time())\n```\n\n```text\n1\n```\n\n"
    .. "<!-- new session -->\n<!-- tolerance: 0.5 -->\n```lua\nprint(io.open('a.csv'):read('a'))\n"
    .. "print(b)\n```\n\n```text\n1,3\nnil\n```\n")
  local failures, skipped = run(one)
  lu.assertEquals(failures, {})
  lu.assertEquals(#skipped, 2)
  lu.assertEquals(session.compare(one), {})
end

local function faults(text, what)
  local path = support.write(support.free_path(".md"), text)
  local list = require("documentation." .. what).check(path, source)
  os.remove(path)
  return #list
end

function TestTools:test_links_and_names_that_are_not_there_are_found()
  local good = "# One `two` (x)\n[a](#one-two-x) [b](https://x.y) `[c](nowhere)`"
  lu.assertEquals(faults(good, "links"), 0)
  lu.assertEquals(faults("# One\n[a](#two), [b](nowhere.md), [c\nd](nowhere.png)", "links"), 3)
  lu.assertEquals(faults("`sc.features{}` `sc.sampler.NAME` `p:fit(ds)` `X:rows()`", "names"), 0)
  lu.assertEquals(faults("`sc.feature{}` `sc.sampler.none` `p:fitt(ds)` `rng:nothing()` "
    .. "`lua/nowhere.lua` SCULLERY_" .. "NOTHING", "names"), 6)
end

os.exit(lu.LuaUnit.run())

-- The user's own folder of plugins: where the search looks, `scullery plugin install`, `uninstall`,
-- `list` and `info`.
package.path = "tests/helpers/?.lua;tests/interface/?.lua;" .. package.path
local lu = require "luaunit"
local specimen, support = require "specimen", require "support"

local quote = support.quote
local folder, home

local function sh(line) lu.assertTrue(os.execute(line), line) end

local function set_up()
  folder = os.tmpname()
  os.remove(folder)
  sh("mkdir -m 755 " .. quote(folder))
  home = folder .. "/data/scullery/plugins"
end

local function tear_down() sh("rm -r " .. quote(folder)) end

-- The command with an empty folder of the user's own, unless variables say otherwise.
local function scullery(arguments, variables)
  local line = "umask 002; HOME=%s XDG_DATA_HOME=%s/data SCULLERY_PLUGIN_PATH= %s %s %s"
  return support.shell(line:format(quote(folder), quote(folder), variables or "",
    quote(support.binary), arguments))
end

local function lua(code, variables) return scullery("-e " .. quote(code), variables) end

-- A file with that nonlinearity, which is not of this folder.
local function side(name, summary, ...)
  return specimen.file("v1", "only side", "set side name text " .. name,
    "set side summary text " .. summary, ...)
end

local function place(path, at)
  local line = "mkdir -p %s && cp %s %s && chmod 644 %s && chmod -R g-w %s"
  sh(line:format(quote(at:match("^(.*)/")), quote(path), quote(at), quote(at), quote(folder)))
end

local function mode(path)
  local _, out = support.shell("stat -c %a " .. quote(path))
  return out:match("%d+")
end

-- ------------ the search

TestSearch = { setUp = set_up, tearDown = tear_down } -- luacheck: globals TestSearch

function TestSearch.test_the_users_folder_is_looked_at()
  place(side("mine", "of the user"), home .. "/nonlinearity/mine.so")
  local status, out, err = lua("print(sc.plugin.info('mine').summary, sc.nonlinearity.mine{})")
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertStrContains(out, "of the user\tnonlinearity.mine{")
  lu.assertStrContains(select(2, lua("print(sc.plugin.info('mine').origin)")), "user's folder")
end

function TestSearch.test_its_place_follows_the_variables()
  place(side("mine", "of the user"), folder
    .. "/.local/share/scullery/plugins/nonlinearity/mine.so")
  for variables, found in pairs{ [""] = false, ["XDG_DATA_HOME="] = true,
    ["XDG_DATA_HOME=relative"] = true, ["XDG_DATA_HOME= HOME="] = false,
    ["XDG_DATA_HOME= HOME=relative"] = false } do
    local status, out = lua("print(pcall(sc.plugin.info, 'mine'))", variables)
    lu.assertEquals({ variables, status, out:match("^%a+") }, { variables, 0, tostring(found) })
  end
end

-- The variable's folders come first, and then the user's; nothing stands in the place of a
-- built-in.
function TestSearch.test_the_first_file_of_a_name_is_taken()
  place(side("mine", "of the user"), home .. "/nonlinearity/mine.so")
  place(side("mine", "of the variable"), folder .. "/path/nonlinearity/mine.so")
  place(side("relu", "a rival"), home .. "/nonlinearity/relu.so")
  local path = "SCULLERY_PLUGIN_PATH=" .. quote(folder .. "/path")
  lu.assertStrContains(select(2, lua("print(sc.plugin.info('mine').summary)", path)),
    "of the variable")
  lu.assertStrContains(select(2, lua("print(sc.plugin.info('mine').summary)")), "of the user")
  local status, _, err = lua("sc.nonlinearity.relu()")
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, home .. "/nonlinearity/relu.so: there is a nonlinearity 'relu' "
    .. "already, built in, from")
end

function TestSearch.test_what_others_may_write_is_refused()
  local at = home .. "/nonlinearity/mine.so"
  for _, case in ipairs{ { "664", "755", "a group may write this file" },
    { "666", "755", "every user may write this file" },
    { "644", "775", "a group may write its folder" },
    { "644", "777", "every user may write its folder" } } do
    place(side("mine", "of the user"), at)
    sh(("chmod %s %s && chmod %s %s"):format(case[1], quote(at), case[2], quote(home
      .. "/nonlinearity")))
    local status, _, err = lua("sc.nonlinearity.mine()")
    lu.assertEquals({ case[1], case[2], status }, { case[1], case[2], 1 })
    lu.assertStrContains(err, case[3])
    local _, out = scullery("plugin list")
    lu.assertStrMatches(out, ".*\nnonlinearity +mine +%- +refused: [^\n]*" .. case[3]
      .. "[^\n]* user's folder +/[^\n]*mine.so\n.*")
  end
end

function TestSearch.test_the_list_says_where_each_comes_from()
  place(side("mine", "of the user"), home .. "/nonlinearity/mine.so")
  place(side("yours", "of the variable"), folder .. "/path/nonlinearity/yours.so")
  local path = "SCULLERY_PLUGIN_PATH=" .. quote(folder .. "/path")
  local _, out = scullery("plugin list", path)
  for name, from in pairs{ mine = "user's folder", yours = "SCULLERY_PLUGIN_PATH",
    sign = "built in" } do
    local pattern = ".*\nnonlinearity +%s +[^\n]* %s +/[^\n]*%s.so\n.*"
    lu.assertStrMatches(out, pattern:format(name, from, name))
  end
  local status
  status, out = lua(("sc.plugin.load(%q) for _, one in ipairs(sc.plugin.list()) do if one.name == "
    .. "'theirs' then print(one.origin) end end"):format(side("theirs", "of a path")), path)
  lu.assertEquals({ status, out }, { 0, "loaded by path\n" })
end

-- ------------ install

TestInstall = { setUp = set_up, tearDown = tear_down } -- luacheck: globals TestInstall

local function compiled(name, expression)
  local source = support.write(folder .. "/" .. name .. ".c", ([[
#include <scullery/plugin.h>
#include <stdlib.h>
SCL_LOOPS(%s)
const scl_plugin scullery_plugin = {.name = "%s", .summary = "one of a test", .doc = "%s",
  .version = "1.5", .author = "A. Author", SCL_NONLINEARITY(SCL_RIDGE_LOOPS)};
]]):format(expression, name, expression))
  local object = folder .. "/" .. name .. ".so"
  sh(("cc -std=c11 -O2 -fPIC -shared -fvisibility=hidden -Icore/include -o %s %s -lm"):format(
    quote(object), quote(source)))
  return object
end

function TestInstall.test_a_file_is_checked_copied_and_used()
  local path = compiled("leaky", "z > 0 ? z : z / 10")
  local status, out, err = scullery("plugin install " .. quote(path))
  lu.assertEquals({ status, err }, { 0, "" })
  local at = home .. "/nonlinearity/leaky.so"
  lu.assertStrMatches(out, ".*checked: %d+ passed, %d+ warned, %d+ skipped\n.*")
  lu.assertStrContains(out, "installed: " .. at .. "\n")
  lu.assertStrContains(out, "sc.nonlinearity.leaky{}")
  lu.assertEquals(support.read(at), support.read(path))
  lu.assertEquals({ mode(at), mode(home), mode(home .. "/nonlinearity") },
    { "644", "755", "755" })
  local _, names = support.shell("ls -A " .. quote(home .. "/nonlinearity"))
  lu.assertEquals(names, "leaky.so\n")
  status, out, err = lua("print(sc.nonlinearity.leaky{}, help)")
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertStrContains(out, "nonlinearity.leaky{}")
end

function TestInstall.test_a_file_that_fails_its_checks_is_not_installed()
  specimen.skip_crashes()
  local path, at = compiled("failing", "(abort(), z)"), home .. "/nonlinearity/failing.so"
  local status, out, err = scullery("plugin install " .. quote(path))
  lu.assertEquals(status, 1)
  lu.assertStrContains(out, "crash  ")
  lu.assertStrContains(err, path .. " failed ")
  lu.assertStrContains(err, "was not installed")
  lu.assertNil(io.open(at))
  for _, option in ipairs{ "--force", "--no-check" } do
    status, out, err = scullery("plugin install " .. option .. " " .. quote(path))
    lu.assertEquals({ option, status, err }, { option, 0, "" })
    lu.assertStrContains(out, option)
    lu.assertStrContains(out, option == "--force" and "failed" or "was not checked")
    lu.assertNotNil(io.open(at))
    os.remove(at)
  end
end

function TestInstall.test_another_file_is_replaced_only_by_force()
  local first, second = side("mine", "first"), side("mine", "second")
  local function install(path, option)
    return scullery(("plugin install --no-check %s %s"):format(option or "", quote(path)))
  end
  lu.assertEquals(install(first), 0)
  lu.assertEquals(install(first), 0) -- the same file
  local status, _, err = install(second)
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, home .. "/nonlinearity/mine.so is there already, and is another file: "
    .. "--force replaces it")
  lu.assertStrContains(select(2, lua("print(sc.plugin.info('mine').summary)")), "first")
  lu.assertEquals(install(second, "--force"), 0)
  lu.assertStrContains(select(2, lua("print(sc.plugin.info('mine').summary)")), "second")
end

function TestInstall.test_what_is_no_plugin_is_refused()
  specimen.skip_crashes()
  local crashing = specimen.file("v1", "only side", "at load crash segv")
  for path, said in pairs{ [folder .. "/nosuch.so"] = "no such file",
    [support.write(folder .. "/text.so", "text")] = "it is not an ELF file",
    [support.build .. "/tests/plugins/no_symbol.so"] = "it has no symbol 'scullery_plugin'",
    [support.build .. "/plugins/nonlinearity/relu.so"] = "is built in",
    [side("relu", "a rival")] = "there is a nonlinearity 'relu' already, built in",
    [crashing] = "opening the file of '" .. crashing .. "' ends the process" } do
    local status, out, err = scullery("plugin install --no-check " .. quote(path))
    lu.assertEquals({ path, status, out }, { path, 1, "" })
    lu.assertStrContains(err, said)
  end
  lu.assertNil(io.open(home))
end

function TestInstall.test_a_folder_that_others_may_write_is_refused()
  sh("mkdir -p " .. quote(home .. "/nonlinearity"))
  for _, at in ipairs{ home, home .. "/nonlinearity" } do
    sh("chmod 775 " .. quote(at))
    local status, _, err = scullery("plugin install --no-check " .. quote(side("mine", "x")))
    lu.assertEquals({ at, status }, { at, 1 })
    lu.assertStrContains(err, "others may write to " .. at .. ", where the search then takes "
      .. "nothing: chmod go-w " .. at)
    lu.assertNil(io.open(home .. "/nonlinearity/mine.so"))
    sh("chmod 755 " .. quote(at))
  end
end

function TestInstall.test_a_file_of_several_components()
  local own, path = specimen.prepare("v1", { "side", "bell", "mean" })
  lu.assertEquals(scullery("plugin install --no-check " .. quote(path)), 0)
  local line = "print(sc.nonlinearity.%s{}, sc.kernel.%s{}, sc.solver.%s{})"
  local status, out, err = lua(line:format(own.side, own.bell, own.mean))
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertStrContains(out, "kernel." .. own.bell)
  lu.assertEquals(lua(("print(sc.solver.%s{})"):format(own.mean)), 0)
  status, out = scullery("plugin uninstall " .. own.bell)
  lu.assertEquals(status, 0)
  lu.assertEquals(select(2, out:gsub("removed: ", "")), 3)
  lu.assertEquals(select(2, support.shell("ls " .. quote(folder .. "/data"))), "")
end

function TestInstall.test_a_link_is_not_written_through()
  local other = support.write(folder .. "/other", "text")
  sh(("mkdir -p %s && ln -s %s %s"):format(quote(home .. "/nonlinearity"), quote(other),
    quote(home .. "/nonlinearity/mine.so")))
  lu.assertEquals(scullery("plugin install --no-check --force " .. quote(side("mine", "x"))), 0)
  lu.assertEquals(support.read(other), "text")
  lu.assertEquals(lua("print(sc.nonlinearity.mine{})"), 0)
end

function TestInstall.test_one_that_the_search_does_not_find_is_told()
  place(side("mine", "of the variable"), folder .. "/path/nonlinearity/mine.so")
  local status, out = scullery("plugin install --no-check " .. quote(side("mine", "x")),
    "SCULLERY_PLUGIN_PATH=" .. quote(folder .. "/path"))
  lu.assertEquals(status, 0)
  lu.assertStrContains(out, "but sc.nonlinearity.mine is " .. folder
    .. "/path/nonlinearity/mine.so, which the search finds first")
end

function TestInstall.test_without_a_home_there_is_no_folder()
  local status, _, err = scullery("plugin install --no-check " .. quote(side("mine", "x")),
    "HOME= XDG_DATA_HOME=")
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, "neither XDG_DATA_HOME nor HOME is a full path")
end

function TestInstall.test_uninstall_names_what_is_meant()
  for _, at in ipairs{ "nonlinearity", "kernel" } do
    place(side("mine", "x"), ("%s/%s/mine.so"):format(home, at))
  end
  for name, said in pairs{ mine = "there are several: nonlinearity.mine, kernel.mine",
    mien = "no plugin 'mien' is installed in " .. home .. " (did you mean 'mine'?)",
    ["solver.mine"] = "no plugin 'solver.mine' is installed", relu = "no plugin 'relu'" } do
    local status, _, err = scullery("plugin uninstall " .. name)
    lu.assertEquals({ name, status }, { name, 1 })
    lu.assertStrContains(err, said)
  end
  local status, out = scullery("plugin uninstall kernel.mine")
  lu.assertEquals({ status, out }, { 0, "removed: " .. home .. "/kernel/mine.so\n" })
  lu.assertEquals(select(2, support.shell("ls " .. quote(home))), "nonlinearity\n")
  lu.assertEquals(scullery("plugin uninstall mine"), 0)
end

-- ------------ info

TestInfo = { setUp = set_up, tearDown = tear_down } -- luacheck: globals TestInfo

function TestInfo.test_everything_about_a_file()
  local path = compiled("leaky", "z > 0 ? z : z / 10")
  local status, out, err = scullery("plugin info " .. quote(path))
  lu.assertEquals({ status, err }, { 0, "" })
  for _, pattern in ipairs{ "sc.nonlinearity.leaky{...}: one of a test\n", "Options: none.\n",
    "Version 1.5 by A. Author, /", "\nForm +simple\n", "\nSpaces +dense, sparse, threshold",
    "\nTypes +float64, float32\n", "\nNumbers taken +1\n", "\nInterface +1 ",
    "\nAuthor +A. Author\n",
    "\nAbilities: none.\n", "\nFrom +loaded by path\n", "\nSize +%d+ bytes\n",
    "\nExports +scullery_plugin\n", "\nCompiler +%S+" } do
    lu.assertStrMatches(out, ".*" .. pattern .. ".*")
  end
  local digest = select(2, support.shell("sha256sum " .. quote(path))):match("^%x+")
  lu.assertStrContains(out, digest)
end

function TestInfo.test_everything_about_a_name()
  local _, out = scullery("plugin info relu")
  for _, pattern in ipairs{ "\nFacts +|phi| <= inf; Lipschitz constant 1; breaks at 0\n",
    "\nAbilities:\n  smoothing +E phi", "\n  gaussian%-dual +E phi", "\nFrom +built in\n" } do
    lu.assertStrMatches(out, ".*" .. pattern .. ".*")
  end
  lu.assertStrContains(select(2, scullery("plugin info solver.ridge")), "lambda: regularisation")
  lu.assertStrContains(select(2, scullery("plugin info sampler.gaussian")),
    "sigma: a width (frequency)")
  local _, both = scullery("plugin info arccos") -- of two kinds
  lu.assertStrContains(both, "sc.nonlinearity.arccos{")
  lu.assertStrContains(both, "sc.kernel.arccos{")
end

-- Each ability that the host knows is said in words.
function TestInfo.test_no_ability_is_without_words()
  local seen = 0
  for _, entry in ipairs(require("scullery.core").plugin_list()) do
    local one = require("scullery.plugin.about").component(entry.kind, entry.name)
    local text = require("scullery.plugin.about").text{ one }
    for _, id in ipairs(one.abilities) do
      seen = seen + 1
      lu.assertStrMatches(text, ".*\n  " .. id:match("%.(.*)/"):gsub("%-", "%%-") .. " +%S.*")
    end
  end
  lu.assertTrue(seen > 50)
end

function TestInfo.test_a_file_that_crashes_is_a_sentence()
  specimen.skip_crashes()
  for line, said in pairs{ ["crash segv"] = "ends the process: ",
    ["exit 3"] = "ends the process: exit(", round = "floating-point mode" } do
    local path = specimen.file("v1", "only side", "at load " .. line)
    local status, out, err = scullery("plugin info " .. quote(path))
    lu.assertEquals({ line, status, out }, { line, 1, "" })
    lu.assertStrContains(err, path)
    lu.assertStrContains(err, said)
  end
end

-- Whatever the bytes of a file are, its symbols and its compiler are read without an error.
function TestInfo.test_damaged_files_are_read_as_far_as_they_go()
  local object = require "scullery.plugin.object"
  local good = support.build .. "/tests/plugins/softplus.so"
  local bytes, path = support.read(good), folder .. "/damaged.so"
  lu.assertEquals(object.read(good).exported, { "scullery_plugin" })
  local next_byte = 7
  for size = 0, #bytes, 997 do
    next_byte = (next_byte * 31 + 11) % 251
    support.write(path, bytes:sub(1, size))
    lu.assertEquals(object.read(path).size, size)
    support.write(path, bytes:sub(1, size) .. string.char(next_byte) .. bytes:sub(size + 2))
    lu.assertIsTable(object.read(path).exported)
  end
  for at = 16, 63 do -- the header
    support.write(path, bytes:sub(1, at) .. "\xff" .. bytes:sub(at + 2))
    lu.assertIsTable(object.read(path).exported)
  end
end

local status = lu.LuaUnit.run()
specimen.clear()
os.exit(status, true)

-- Files of plugins that change, hide or crash while they are opened. The plugins are the specimens
-- of tests/interface, with scripts.
package.path = "tests/helpers/?.lua;tests/interface/?.lua;" .. package.path
local lu, sc = require "luaunit", require "scullery"
local specimen, support = require "specimen", require "support"

local X = sc.randn{ 30, 3, seed = 1 }
local fails, write = support.fails, support.write

-- The search takes no file that a group may write, whatever the umask.
local function rename(from, to)
  assert(os.execute(("chmod 644 %s"):format(from)))
  assert(os.rename(from, to))
end

-- A file with one component, a nonlinearity of that name and summary.
local function nonlinearity(name, summary)
  return specimen.file("v1", "only side", "set side name text " .. name,
    "set side summary text " .. summary)
end

local function at_zero(phi)
  return sc.features{ p = sc.sampler.gaussian(), phi = phi, T = 1 }:fit(X):transform(sc.zeros(1, 3))
    :get(1, 1)
end

-- Opening it misbehaves.
local function upset_file(line) return specimen.file("v1", "at load " .. line) end

function TestAChangedFileIsNewCodeForNewInstances()
  local path, other = nonlinearity("changing", "first"), nonlinearity("changing", "second")
  sc.plugin.load(path)
  local old = sc.nonlinearity.changing()
  local before = at_zero(old)
  lu.assertEquals(sc.plugin.info("changing").summary, "first")
  rename(other, path)
  sc.plugin.load(path)
  lu.assertEquals(sc.plugin.info("changing").summary, "second")
  lu.assertEquals({ at_zero(old), at_zero(sc.nonlinearity.changing()) }, { before, before })
  -- and again, to an earlier text
  rename(nonlinearity("changing", "first"), path)
  sc.plugin.load(path)
  lu.assertEquals(sc.plugin.info("changing").summary, "first")
  local _, _, again = sc.plugin.load(path)
  lu.assertEquals(again[1].summary, "first")
  -- a file that is not taken leaves what there is
  rename(upset_file("flush"), path)
  fails({ "floating-point mode", path }, sc.plugin.load, path)
  lu.assertEquals({ sc.plugin.info("changing").summary, at_zero(old) }, { "first", before })
end

-- The old component is no longer made; what was made of it stays.
function TestAChangedFileThatHoldsAnotherComponent()
  local path = nonlinearity("former", "first")
  sc.plugin.load(path)
  local old = sc.nonlinearity.former
  local feats = sc.features{ p = sc.sampler.gaussian(), phi = old(), T = 3 }:fit(X)
  local before = feats:transform(X)
  rename(nonlinearity("latter", "second"), path)
  sc.plugin.load(path)
  for _, f in ipairs{ function() return old() end, function() return sc.nonlinearity.former() end,
    function() return sc.plugin.info("nonlinearity.former") end } do
    fails({ "'former'", path, "the file now holds the nonlinearity 'latter'" }, f)
  end
  lu.assertTrue(feats:transform(X) == before)
  lu.assertEquals(sc.plugin.info("latter").summary, "second")
  for _, entry in ipairs(sc.plugin.list()) do lu.assertNotEquals(entry.name, "former") end
  rename(nonlinearity("former", "third"), path)
  sc.plugin.load(path)
  lu.assertEquals(sc.plugin.info("former").summary, "third")
  lu.assertNotNil(at_zero(old()))
end

-- In a child: what writes to the file of a mapped object takes its memory away too.
function TestAFileThatIsOverwrittenIsRefused()
  local path, other = nonlinearity("overwritten", "first"), nonlinearity("overwritten", "other")
  local _, out = support.scullery(("-e 'sc.plugin.load(%q) os.execute(\"cat %s > %s\") "
    .. "print(pcall(sc.plugin.load, %q)) io.stdout:flush()'"):format(path, other, path, path))
  lu.assertStrContains(out, "false")
  lu.assertStrContains(out, path .. ": it was overwritten")
end

function TestAFileThatWasRefusedIsReadAgain()
  local path = specimen.file("v1", "only side", "set side name text end")
  fails({ "'end'" }, sc.plugin.load, path)
  rename(nonlinearity("mended", "works"), path)
  sc.plugin.load(path)
  lu.assertEquals(sc.plugin.info("mended").path, path)
end

function TestTwoFilesOfOneName()
  local first, second = nonlinearity("rivals", "first"), nonlinearity("rivals", "second")
  sc.plugin.load(first)
  fails({ first, second, "'rivals'" }, sc.plugin.load, second)
  lu.assertEquals(sc.plugin.info("rivals").summary, "first")
end

local function folder(name, mode)
  local path = specimen.folder() .. "/" .. name
  assert(os.execute(("mkdir -p %s/nonlinearity && chmod 755 %s && chmod %s %s/nonlinearity"):format(
    path, path, mode, path)))
  return path
end

-- Whichever loads first.
function TestABuiltInIsNeverShadowed()
  local path, own = nonlinearity("relu", "a rival"), sc.plugin.info("relu").path
  local hidden = folder("hidden", "755")
  rename(nonlinearity("relu", "a rival"), hidden .. "/nonlinearity/relu.so")
  local function said(code)
    local status, _, err = support.shell(("SCULLERY_PLUGIN_PATH=%s %s -e %s"):format(hidden,
      support.quote(support.binary), support.quote(code)))
    lu.assertEquals(status, 1)
    return err
  end
  for _, code in ipairs{ ("sc.plugin.load(%q)"):format(path),
    ("sc.kernel.gaussian() sc.plugin.load(%q)"):format(path) } do
    local message = said(code)
    lu.assertStrContains(message, path)
    lu.assertStrContains(message, "built in, from " .. own)
  end
  -- one that the search finds before the built-in
  local message = said("sc.nonlinearity.relu()")
  lu.assertStrContains(message, hidden .. "/nonlinearity/relu.so")
  lu.assertStrContains(message, "built in, from " .. own)
  -- after the built-in was loaded
  sc.nonlinearity.relu()
  fails({ path, "built in, from " .. own }, sc.plugin.load, path)
end

function TestFoldersThatEveryUserMayWrite()
  local open, sticky = folder("open", "777"), folder("sticky", "1777")
  for _, at in ipairs{ open, sticky } do
    rename(nonlinearity("placed_" .. at:match("%w+$"), "somewhere"), at .. "/nonlinearity/x.so")
  end
  fails({ open .. "/nonlinearity", "every user may write", "chmod o-w" }, sc.plugin.load,
    open .. "/nonlinearity/x.so")
  sc.plugin.load(sticky .. "/nonlinearity/x.so")
  -- through a link from a folder that is none of everybody's
  local link = folder("linked", "755") .. "/nonlinearity/x.so"
  assert(os.execute(("ln -s %s/nonlinearity/x.so %s"):format(open, link)))
  fails({ "every user may write" }, sc.plugin.load, link)
end

function TestFilesThatCrashWhenTheyAreOpened()
  specimen.skip_crashes()
  for line, said in pairs{ ["crash abort"] = "crash (abort", ["crash segv"] = "crash (segmentation",
    ["exit 0"] = "exit()" } do
    local path = upset_file(line)
    local status, _, err = support.scullery(("-e 'sc.plugin.load(%q)'"):format(path))
    lu.assertNotEquals(status, 0)
    lu.assertStrContains(err, said)
    lu.assertStrContains(err, "opened, of " .. path)
  end
  for _, line in ipairs{ "flush", "round" } do
    fails({ "floating-point mode" }, sc.plugin.load, upset_file(line))
  end
end

-- Outside of any slot: what is being done with the file is named, or files that are loaded.
function TestCrashesOutsideOfAnySlot()
  specimen.skip_crashes()
  local function said(...)
    local path = specimen.file("v1", "only side", ...)
    local status, _, err = support.scullery(("-e 'sc.plugin.load(%q)'"):format(path))
    lu.assertNotEquals(status, 0)
    lu.assertStrContains(err, "crash (segmentation fault)")
    lu.assertStrContains(err, path)
    return err
  end
  lu.assertStrContains(said("set list plugins int 8"), "in the reading of its descriptor, of /")
  lu.assertStrContains(said("set side vtable int 8"), "in the check of its tables, of /")
  lu.assertStrContains(said("set side doc null", "at unload crash segv"), "is closed, of /")
  lu.assertStrContains(said("at unload crash segv"), "outside of any slot; loaded from outside: /")
end

-- One line each, whatever opening the file does.
function TestThePluginListOpensEachFileInAChild()
  local path = folder("listed", "755")
  for name, line in pairs{ aborts = "crash abort", segfaults = "crash segv", leaves = "exit 3",
    rounds = "round" } do
    rename(upset_file(line), ("%s/nonlinearity/%s.so"):format(path, name))
  end
  rename(nonlinearity("works", "it works"), path .. "/nonlinearity/works.so")
  rename(nonlinearity("relu", "a rival"), path .. "/nonlinearity/relu.so")
  write(path .. "/text", "no object")
  rename(path .. "/text", path .. "/nonlinearity/text.so")
  local status, out, err = support.shell(("SCULLERY_PLUGIN_PATH=%s %s plugin list"):format(path,
    support.quote(support.binary)))
  lu.assertEquals({ status, err }, { 0, "" })
  local lines, count = {}, 0
  for line in out:gmatch("[^\n]+") do
    local name = line:match("^nonlinearity +(%S+)")
    if name then lines[name] = line end
    count = count + 1
    lu.assertTrue(count == 1 or line:find("%.so$") ~= nil, line)
  end
  for name, said in pairs{ aborts = "refused: .*ends the process", leaves = "refused: .*exit%(",
    segfaults = "refused: .*ends the process", rounds = "refused: .*floating%-point mode",
    works = "it works", relu = "refused: .*built in", text = "refused: .*shared object",
    sign = "/plugins/nonlinearity/" } do
    lu.assertStrMatches(lines[name] or name, ".*" .. said .. ".*")
  end
end

-- Files without a folder for their kind.
function TestFilesStraightInAFolderOfTheSearchPathAreListed()
  local path = folder("straight", "755")
  rename(nonlinearity("loose", "it works"), path .. "/loose.so")
  rename(upset_file("crash segv"), path .. "/dies.so")
  local function command(arguments)
    return support.shell(("SCULLERY_PLUGIN_PATH=%s %s %s"):format(path,
      support.quote(support.binary), arguments))
  end
  local status, out, err = command("plugin list")
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertNotNil(out:find("\nnonlinearity +loose +%S+ +it works +SCULLERY_PLUGIN_PATH +" .. path
    .. "/loose%.so"), out)
  lu.assertNotNil(out:find("\n%- +dies +%- +refused: .-ends the process"), out)
  for _, name in ipairs{ "loose", "nonlinearity.loose" } do
    status, out = command("plugin info " .. name)
    lu.assertEquals(status, 0)
    lu.assertStrContains(out, "it works")
  end
end

local status = lu.LuaUnit.run()
specimen.clear()
os.exit(status, true)

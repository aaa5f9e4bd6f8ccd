-- What belongs to the whole process: opening a plugin that changes it is refused, and the change
-- undone. The plugins are the specimens of tests/interface, with scripts.
package.path = "tests/helpers/?.lua;tests/interface/?.lua;" .. package.path
local lu, checker, sc = require "luaunit", require "scullery_checker.core", require "scullery"
local specimen, support = require "specimen", require "support"

-- What each script changes, as the refusal says it.
local meddlers = {
  locale = "the locale",
  text = "the locale",
  handler = "the handler of signal 10 (User defined signal 1)",
  block = "which signals are blocked",
  folder = "the current folder",
  mask = "the mask of new files",
  set = "the environment",
  unset = "the environment",
}

local function file(...)
  return specimen.file("v1", "only side", "set side name text meddling", ...)
end

local function surroundings()
  local text, about = {}, checker.surroundings()
  about["number of bytes written"] = nil -- the host writes copies of files
  for key, value in pairs(about) do text[#text + 1] = key .. "=" .. value end
  table.sort(text)
  return table.concat(text, "\n") .. "\n" .. tostring(os.getenv "SCULLERY_THREADS")
    .. tostring(os.getenv "PATH")
end

function TestEachChangeIsRefusedAndUndone()
  surroundings() -- counts open files, once opened
  for script, said in pairs(meddlers) do
    local path = file("at load meddle " .. script)
    local before = surroundings()
    support.fails({ path .. ": loading it changes " .. said, "were put back" }, sc.plugin.load,
      path)
    lu.assertEquals({ script, surroundings() }, { script, before })
    support.fails({ "no nonlinearity 'meddling'" }, function() return sc.nonlinearity.meddling end)
  end
end

-- Programs that are started afterwards have the environment and the mask of before.
function TestProgramsAreStartedInTheFormerSurroundings()
  local status, out, err = support.scullery(("-e 'pcall(sc.plugin.load, %q) pcall(sc.plugin.load, "
    .. "%q) os.execute \"umask; command -v cat; pwd; echo [$SCULLERY_THREADS]\"'"):format(
    file("at load meddle mask", "at load meddle unset"),
    file("at load meddle folder", "at load meddle set")))
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertEquals(out, select(2, support.shell(
    "umask; command -v cat; pwd; echo [$SCULLERY_THREADS]")))
end

function TestAllChangesAreNamed()
  local lines = {}
  for _, script in ipairs{ "locale", "handler", "folder", "mask", "set" } do
    lines[#lines + 1] = "at load meddle " .. script
  end
  support.fails({ "changes the locale, the handler of signal 10 (User defined signal 1), the "
    .. "current folder, the mask of new files, the environment;" }, sc.plugin.load,
    file(table.unpack(lines)))
end

-- What runs when a refused object is closed.
function TestClosingAnObjectChangesNothingEither()
  local path = file("set side doc null", "at unload meddle folder", "at unload meddle mask")
  local before = surroundings()
  support.fails({ "summary and doc must be texts" }, sc.plugin.load, path)
  lu.assertEquals(surroundings(), before)
end

function TestAPluginThatChangesNothingIsTaken()
  local before = surroundings()
  sc.plugin.load(specimen.file("v1", "only side", "set side name text peaceful"))
  lu.assertEquals(sc.plugin.info("peaceful").kind, "nonlinearity")
  lu.assertEquals(surroundings(), before)
end

local status = lu.LuaUnit.run()
specimen.clear()
os.exit(status, true)

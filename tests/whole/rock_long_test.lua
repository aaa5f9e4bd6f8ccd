-- luarocks make, in a copy of the source and without network: the module for the stock interpreter,
-- the command and the headers. With a compiler's cache, as optimised as the build, whose objects
-- are in the cache; else not optimised, which takes a third of the time.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")
local installed = dofile("tests/helpers/installed.lua")
local quote, sh = support.quote, installed.sh

local root, tree, missing

local function luarocks(arguments)
  local home = "HOME=" .. quote(root) .. " CMAKE_BUILD_TYPE=Debug"
  if (os.getenv "CMAKE_C_COMPILER_LAUNCHER" or ""):find "ccache$" then
    local cache = sh "ccache --get-config cache_dir":gsub("\n$", "")
    home = ("HOME=%s CCACHE_DIR=%s CCACHE_BASEDIR=%s CCACHE_NOHASHDIR=1"):format(quote(root),
      quote(cache), quote(root .. "/source"))
  end
  return sh(("cd %s/source && %s MAKEFLAGS=-j2 luarocks --lua-version=5.4 --tree %s %s"):format(
    quote(root), home, quote(tree), arguments))
end

local function set_up()
  if installed.sanitized() then missing = "rocks are plain builds" end
  if support.shell("luarocks --version") ~= 0 then missing = "there is no luarocks" end
  if support.shell("lua5.4 -v") ~= 0 then missing = "there is no lua5.4" end
  if missing then return end
  root = os.tmpname()
  os.remove(root)
  tree = root .. "/tree"
  installed.copy_source(root .. "/source")
  luarocks("make")
end

TestRock = { setupClass = set_up } -- luacheck: globals TestRock
function TestRock.setUp() lu.skipIf(missing ~= nil, missing) end
function TestRock.teardownClass() if root then sh("rm -rf " .. quote(root)) end end

function TestRock.test_the_stock_interpreter()
  local code = "local sc = require 'scullery' print(sc.version, #sc.plugin.list() > 60, "
    .. "sc.data.load('wdbc').X:rows())"
  local out = sh(("eval \"$(luarocks --lua-version=5.4 --tree %s path)\" && lua5.4 -e %s"):format(
    quote(tree), quote(code)))
  lu.assertEquals(out, sc.version .. "\ttrue\t569\n")
end

function TestRock.test_the_command()
  local command = quote(tree .. "/bin/scullery")
  lu.assertEquals(sh(command .. " -e 'print(sc.solver.ridge().name)'"), "ridge\n")
  lu.assertStrContains(sh(command .. " plugin list"), tree .. "/lib/luarocks")
  local folder = sh(command .. " --cflags"):match("^%-I(%S+)")
  lu.assertStrContains(support.read(folder .. "/scullery/plugin.h"), "SCULLERY_PLUGIN_H")
end

os.exit(lu.LuaUnit.run())

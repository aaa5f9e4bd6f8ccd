-- bootstrap.sh: a copied tree with an old build folder, and what it says about an installation.
-- It runs with a cmake that builds one plugin only, a ctest that runs nothing, and an apt-get that
-- installs nothing.
local lu = require "luaunit"
local support = dofile("tests/helpers/support.lua")
local installed = dofile("tests/helpers/installed.lua")
local quote, sh = support.quote, installed.sh

local root, tree

local CMAKE = [[
#!/bin/sh
echo "$*" >>CALLS
case "$1" in
--build) exec REAL --build build --target plugin_nonlinearity_relu ;;
--install) mkdir -p "$4" ;;
*) exec REAL "$@" ;;
esac
]]

local function write_tool(name, text)
  support.write(root .. "/bin/" .. name, text)
  sh(("chmod 755 %s/bin/%s"):format(quote(root), name))
end

local missing

local function set_up()
  if installed.sanitized() then missing = "it makes plain builds" end
  if support.shell("dpkg-query --version") ~= 0 then missing = "this is no Debian" end
  if missing then return end
  root = os.tmpname()
  os.remove(root)
  tree = root .. "/a copy"
  sh("mkdir -p " .. quote(root .. "/bin"))
  write_tool("cmake", (CMAKE:gsub("%u%u%u%u+", {
    REAL = sh("command -v cmake"):sub(1, -2), CALLS = quote(root .. "/calls") })))
  write_tool("ctest", "#!/bin/sh\nexit 0\n")
  for _, name in ipairs{ "apt-get", "sudo" } do write_tool(name, "#!/bin/sh\nexit 1\n") end
  installed.copy_source(tree, "with build")
end

local function bootstrap(arguments, folder, before)
  return support.shell(("cd %s && PATH=%s:$PATH %s%s/bootstrap.sh %s"):format(quote(folder or root),
    quote(root .. "/bin"), before or "", quote(tree), arguments))
end

TestBootstrap = { setupClass = set_up } -- luacheck: globals TestBootstrap
function TestBootstrap.setUp() lu.skipIf(missing ~= nil, missing) end
function TestBootstrap.teardownClass() if root then sh("rm -rf " .. quote(root)) end end

function TestBootstrap.test_a_copied_tree_with_an_old_build_folder_builds()
  local plugin = tree .. "/build/plugins/nonlinearity/relu.so"
  sh("touch -d 2020-01-01 " .. quote(plugin))
  local afresh = "build/ was configured for "
  local status, out, err = bootstrap("install --prefix here")
  lu.assertEquals(status, 0, err)
  lu.assertStrContains(out, afresh)
  lu.assertStrContains(out, ": configuring it afresh")
  local cache = support.read(tree .. "/build/CMakeCache.txt")
  lu.assertStrContains(cache, "CMAKE_HOME_DIRECTORY:INTERNAL=" .. tree .. "\n")
  lu.assertEquals(sh("readlink " .. quote(tree .. "/build/share/lua/5.4/scullery")),
    tree .. "/lua/scullery\n")
  lu.assertNotEquals(sh("date -r " .. quote(plugin) .. " +%Y"), "2020\n") -- built again
  -- a second time it is its own
  status, out, err = bootstrap("install --prefix here")
  lu.assertEquals(status, 0, err)
  lu.assertNil(out:find(afresh, 1, true))
end

function TestBootstrap.test_install_says_what_finds_it()
  local status, out, err = bootstrap("install --prefix 'p q'")
  lu.assertEquals(status, 0, err)
  local prefix = root .. "/p q" -- where it was called
  lu.assertStrContains(out, "installed: " .. prefix .. "/bin/scullery")
  lu.assertStrContains(out, "--target uninstall")
  -- the lines are the shell's
  local exports = {}
  for line in out:gmatch("\n(  export [^\n]+)") do exports[#exports + 1] = line end
  local function value(name)
    return sh(table.concat(exports, "\n") .. "\nprintf %s \"$" .. name .. "\"")
  end
  lu.assertEquals(value("LUA_PATH"), prefix .. "/share/lua/5.4/?.lua;" .. prefix
    .. "/share/lua/5.4/?/init.lua;;")
  lu.assertEquals(value("LUA_CPATH"), prefix .. "/lib/lua/5.4/?.so;;")
  lu.assertEquals(value("PATH"):sub(1, #prefix + 5), prefix .. "/bin:")
  lu.assertEquals(value("CMAKE_PREFIX_PATH"), prefix)
  lu.assertEquals(value("PKG_CONFIG_PATH"), prefix .. "/lib/pkgconfig")
end

function TestBootstrap.test_install_builds_the_product_and_test_the_tests()
  local function calls(arguments)
    os.remove(root .. "/calls")
    bootstrap(arguments, nil, "env -u CI -u SCULLERY_CI ")
    return support.read(root .. "/calls")
  end
  local of_install = calls("install --prefix here")
  lu.assertStrContains(of_install, "--build build --target product\n")
  lu.assertNil(of_install:find("BUILD_TESTING", 1, true))
  local of_test = calls("test")
  lu.assertNotNil(of_test:find("%-S %. %-B build [^\n]*%-DBUILD_TESTING=ON\n%-%-build build\n"))
end

-- What a user's first build compiles: nothing of the tests, and few enough objects for a minute.
function TestBootstrap.test_a_build_compiles_the_product_alone()
  local folder = root .. "/fresh"
  sh(("cmake -S %s -B %s -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"):format(
    quote(os.getenv "SCULLERY_SOURCE" or "."), quote(folder)))
  local count = 0
  for file in support.read(folder .. "/compile_commands.json"):gmatch '"file": "([^"]+)"' do
    lu.assertNil(file:find("/tests/", 1, true), file)
    count = count + 1
  end
  lu.assertTrue(count > 200 and count <= 610, count .. " objects")
end

os.exit(lu.LuaUnit.run())

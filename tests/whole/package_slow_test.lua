-- The Debian package: what it says of itself, what it holds, and that it runs, installed by dpkg in
-- an empty root, and goes without a trace.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")
local installed = dofile("tests/helpers/installed.lua")
local quote, sh = support.quote, installed.sh

local source = os.getenv "SCULLERY_SOURCE" or "."
local folder, package, root, missing

-- dpkg in a root of its own. Scripts of the package run here, with an ldconfig that does nothing.
local function dpkg(where, arguments)
  return sh(("PATH=%s:$PATH dpkg --force-not-root --force-depends --force-script-chrootless "
    .. "--instdir=%s --admindir=%s/var/lib/dpkg --log=/dev/null %s"):format(quote(folder .. "/bin"),
    quote(where), quote(where), arguments))
end

-- A root in which the package is installed and nothing else.
local function new_root(name)
  local where = folder .. "/" .. name
  sh(("umask 022; mkdir -p %s/var/lib/dpkg/updates %s/var/lib/dpkg/info && "
    .. "touch %s/var/lib/dpkg/status"):format(quote(where), quote(where), quote(where)))
  dpkg(where, "--install " .. quote(package))
  return where
end

local function set_up()
  for _, tool in ipairs{ "cpack", "dpkg-deb", "dpkg" } do
    if support.shell(tool .. " --version") ~= 0 then missing = "there is no " .. tool end
  end
  if installed.sanitized() then missing = "packages are made of plain builds" end
  if missing then return end
  folder = os.tmpname()
  os.remove(folder)
  sh(("umask 022; mkdir -p %s/bin"):format(quote(folder)))
  support.write(folder .. "/bin/ldconfig", "#!/bin/sh\n")
  sh("chmod 755 " .. quote(folder .. "/bin/ldconfig"))
  package = installed.package(folder .. "/made")
  root = new_root("root")
end

TestPackage = { setupClass = set_up } -- luacheck: globals TestPackage
function TestPackage.setUp() lu.skipIf(missing ~= nil, missing) end
function TestPackage.teardownClass() if folder then sh("rm -rf " .. quote(folder)) end end

local function field(name)
  return sh(("dpkg-deb --field %s %s"):format(quote(package), name)):sub(1, -2)
end

function TestPackage.test_its_fields()
  lu.assertEquals(field("Package"), "scullery")
  lu.assertEquals(field("Version"), sc.version)
  lu.assertStrMatches(field("Maintainer"), "[%w ]+ <[^@]+@[^@]+>")
  local depends = ", " .. field("Depends") .. ","
  -- what is linked, and what is loaded later
  for _, name in ipairs{ "libc6", "zlib1g", "liblua5.4-0", "libedit2", "libopenblas0",
    "lua-argparse" } do
    lu.assertNotNil(depends:find(", " .. name:gsub("%p", "%%%0") .. "[ ,]"), name)
  end
  lu.assertStrContains(field("Recommends"), "gnuplot-nox")
end

function TestPackage.test_its_files()
  local files, seen = sh("dpkg-deb --contents " .. quote(package)), {}
  for mode, owner, path in files:gmatch("(%S+) (%S+) +%d+ %S+ %S+ %./(%S*)[^\n]*\n") do
    lu.assertEquals(owner, "root/root", path)
    lu.assertNotNil((path .. "/"):find("^usr/"), path)
    -- written by root alone; no set-user-id; programs in bin alone
    local is = mode:sub(1, 1)
    local right = { d = "drwxr-xr-x", l = "lrwxrwxrwx" }
    right = right[is] or (path:find("^usr/bin/") and "-rwxr-xr-x") or "-rw-r--r--"
    lu.assertEquals(mode, right, path)
    seen[path] = true
  end
  for _, path in ipairs{ "usr/bin/scullery", "usr/lib/libscullery.so",
    "usr/lib/scullery/plugins/solver/ridge.so", "usr/lib/lua/5.4/scullery/core.so",
    "usr/lib/cmake/Scullery/SculleryConfig.cmake", "usr/lib/pkgconfig/scullery.pc",
    "usr/include/scullery/plugin.h", "usr/share/lua/5.4/scullery/init.lua",
    "usr/share/man/man1/scullery.1.gz", "usr/share/doc/scullery/interface.md",
    "usr/share/doc/scullery/copyright", "usr/share/doc/scullery/changelog.gz" } do
    lu.assertTrue(seen[path], path)
  end
end

function TestPackage.test_lintian_has_nothing_to_say()
  lu.skipIf(support.shell("lintian --version") ~= 0, "there is no lintian")
  lu.assertEquals({ support.shell("lintian --allow-root " .. quote(package)) }, { 0, "", "" })
end

-- Objects look for others beside themselves alone, and nothing names the folders of the build.
function TestPackage.test_its_objects()
  local objects = 0
  for path in sh(("find %s/usr -name '*.so*' -type f -o -path '*/bin/*' -type f"):format(
    quote(root))):gmatch("[^\n]+") do
    local dynamic = sh("readelf -d " .. quote(path))
    local way = dynamic:match("RU?N?PATH%).-%[(.-)%]")
    lu.assertTrue(way == nil or way == "$ORIGIN" or way:find("^%$ORIGIN/[./]+[%w/]*$") ~= nil, way)
    lu.assertStrContains(sh("readelf -S " .. quote(path)), ".dynsym")
    objects = objects + 1
  end
  lu.assertTrue(objects > 60)
  for _, path in ipairs{ support.build, sh("cd " .. quote(source) .. " && pwd -P"):sub(1, -2) } do
    local _, found = support.shell(("grep -rlF %s %s/usr"):format(quote(path), quote(root)))
    lu.assertEquals(found, "")
  end
end

-- In an environment without anything else.
local function run(line)
  local bare = ("env -i PATH=/usr/bin:/bin HOME=%s LC_ALL=C.UTF-8 "):format(quote(folder))
  local status, out, err = support.shell(bare .. line:gsub("ROOT", quote(root)))
  lu.assertEquals({ status, err }, { 0, "" }, line)
  return out
end

function TestPackage.test_it_runs_in_its_root()
  lu.assertEquals(run("ROOT/usr/bin/scullery -e 'print(sc.data.load(\"wdbc\").X:rows())'"), "569\n")
  local list = run("ROOT/usr/bin/scullery plugin list")
  lu.assertStrContains(list, root .. "/usr/lib/scullery/plugins/kernel/gaussian.so")
  lu.assertNil(list:find(support.build .. "/plugins", 1, true))
  lu.assertStrContains(run("ROOT/usr/bin/scullery --cflags"), "-I" .. root .. "/usr/include ")
end

function TestPackage.test_a_stock_interpreter_finds_the_module()
  lu.skipIf(support.shell("lua5.4 -v") ~= 0, "there is no lua5.4")
  local out = run("LUA_PATH=ROOT'/usr/share/lua/5.4/?.lua;'ROOT'/usr/share/lua/5.4/?/init.lua' "
    .. "LUA_CPATH=ROOT'/usr/lib/lua/5.4/?.so' lua5.4 -e 'print(require(\"scullery\").version)'")
  lu.assertEquals(out, sc.version .. "\n")
end

-- dpkg finds its files unchanged, and removes all of them.
function TestPackage.test_it_is_removed_without_a_trace()
  local other = new_root("other")
  lu.assertEquals(dpkg(other, "--verify scullery"), "")
  dpkg(other, "--purge scullery")
  lu.assertEquals(sh(("cd %s && find . -mindepth 1 -not -path './var*'"):format(quote(other))), "")
end

os.exit(lu.LuaUnit.run())

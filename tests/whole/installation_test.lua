-- An installation by the conventions: other projects find it (CMake, pkg-config, one line), build
-- plugins against it and run with them; it can be moved, and removed without a trace.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")
local installed = dofile("tests/helpers/installed.lua")
local models = dofile("tests/helpers/small_models.lua")
local quote, sh = support.quote, installed.sh

local source = os.getenv "SCULLERY_SOURCE" or "."
local root, prefix -- the folder of this run, and the installation in it

-- A folder with a space in its name, which every file and command must bear.
local function install()
  root = os.tmpname()
  os.remove(root)
  sh("mkdir -m 755 " .. quote(root))
  prefix = root .. "/an installation"
  installed.into(prefix)
end

-- A plugin of this name, 2 sin z.
local function c_source(name)
  return ([[
#include <scullery/plugin.h>
static void twice(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++) out[j] = 2 * sin(z[j]);
}
const scl_plugin scullery_plugin = {.name = "%s", .summary = "2 sin z", .doc = "phi(z) = 2 sin z.",
    SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = twice)};
]]):format(name)
end

local function cpp_source(name)
  return ([[
#include <scullery/plugin.h>
#include <cmath>
void twice(const void *, size_t count, const double *z, double *out) {
  for (size_t j = 0; j < count; j++) out[j] = 2 * std::sin(z[j]);
}
static const scl_nonlinearity table = {.head = SCL_HEAD(scl_nonlinearity),
    .kind = SCL_KIND_NONLINEARITY, .spaces = SCL_SPACES_RIDGE, .loop = twice};
const scl_plugin scullery_plugin = {.head = SCL_HEAD(scl_plugin), .kind = SCL_KIND_NONLINEARITY,
    .name = "%s", .summary = "2 sin z", .doc = "phi(z) = 2 sin z.", .vtable = &table};
]]):format(name)
end

-- The command of that installation, with none of the variables that could lead it elsewhere.
local function run(arguments, home)
  return support.shell(("env -u LUA_PATH -u LUA_CPATH -u SCULLERY_PLUGIN_PATH %s/bin/scullery %s")
    :format(quote(home or prefix), arguments))
end

local function prints(want, code, home)
  local status, out, err = run("-e " .. quote(code), home)
  lu.assertEquals({ status, out, err }, { 0, want .. "\n", "" })
end

-- The plugin is loaded by the installed command, computes, and exports its symbol alone.
local CODE = [[%s
local X, one = sc.randn{ 20, 3, seed = 1 }, sc.sampler.gaussian()
local function features(phi) return sc.features{ p = one, phi = phi, T = 5 }:fit(X):transform(X) end
local odd = features(sc.nonlinearity.NAME()) - 2 * features(sc.nonlinearity.sin())
print(odd:abs():max() < 1e-12)]]
local function computes(name, load)
  prints("true", (CODE:format(load or ""):gsub("NAME", name)))
end

local function works(file, name)
  computes(name, ("sc.plugin.load(%q)"):format(file))
  lu.assertStrMatches(sh("nm -D --defined-only " .. quote(file)), "%x+ [DR] scullery_plugin\n")
end

local function folder(name)
  local path = root .. "/" .. name
  sh("mkdir " .. quote(path))
  return path
end

-- A project that makes `name` of its source; returns its folder.
local function project(name, lines, cpp)
  local here = folder(name)
  if cpp then
    support.write(here .. "/plugin.cpp", cpp_source(name))
  else
    support.write(here .. "/plugin.c", c_source(name))
  end
  support.write(here .. "/CMakeLists.txt", ("cmake_minimum_required(VERSION 3.16)\n"
    .. "project(author LANGUAGES %s)\n%s\n"):format(cpp and "CXX" or "C", lines))
  return here
end

local function configure(here, options)
  return support.shell(("cd %s && cmake -S . -B build -Wno-dev %s"):format(quote(here), options))
end

local function build(here, options)
  local status, out, err = configure(here, options)
  lu.assertEquals({ status, err }, { 0, "" }, out)
  sh(("cmake --build %s/build"):format(quote(here)))
end

local function at(place) return "-DCMAKE_PREFIX_PATH=" .. quote(place) end

-- ------------ what is installed

TestInstallation = { setupClass = install } -- luacheck: globals TestInstallation
function TestInstallation.teardownClass() sh("rm -rf " .. quote(root)) end

function TestInstallation.test_the_installed_command_uses_what_is_installed()
  prints("ridge\ttrue", "print(sc.solver.ridge{}.name, #sc.plugin.list() > 60)")
  prints("0", ([[local others = 0
    for _, one in ipairs(sc.plugin.list()) do
      if one.path:find(%q, 1, true) ~= 1 then others = others + 1 end
    end
    print(others)]]):format(prefix))
end

function TestInstallation.test_an_installation_can_be_moved()
  local there = root .. "/moved"
  sh(("cp -a %s %s"):format(quote(prefix), quote(there)))
  prints("ridge", "print(sc.solver.ridge{}.name)", there)
  local _, flags = run("--cflags", there)
  lu.assertStrContains(flags, "-I" .. there .. "/include ")
  local here = project("moved_plugin", "find_package(Scullery REQUIRED)\n"
    .. "message(STATUS \"plugins: ${Scullery_PLUGINS_DIR}\")")
  local _, said = configure(here, at(there))
  lu.assertStrContains(said, "plugins: " .. there .. "/lib/scullery/plugins")
end

-- Nothing that is installed knows the folders of the source or of the build.
function TestInstallation.test_no_file_names_the_build()
  lu.skipIf(installed.sanitized(), "objects with debug information")
  for _, path in ipairs{ support.build, sh("cd " .. quote(source) .. " && pwd -P"):sub(1, -2) } do
    local _, found = support.shell(("grep -rlF %s %s"):format(quote(path), quote(prefix)))
    lu.assertEquals(found, "")
  end
end

function TestInstallation.test_a_stock_interpreter_finds_the_module()
  lu.skipIf(installed.sanitized(), "a stock interpreter has no sanitizer's runtime")
  lu.skipIf(support.shell("lua5.4 -v") ~= 0, "there is no lua5.4")
  local out = sh(("LUA_PATH=%s LUA_CPATH=%s lua5.4 -e %s"):format(
    quote(prefix .. "/share/lua/5.4/?.lua;" .. prefix .. "/share/lua/5.4/?/init.lua"),
    quote(prefix .. "/lib/lua/5.4/?.so"), quote("print(require('scullery').solver.ridge{}.name)")))
  lu.assertEquals(out, "ridge\n")
end

function TestInstallation.test_without_the_checker_a_sentence_says_so()
  local there = prefix .. "/share/lua/5.4/scullery_checker"
  local plugin = quote(prefix .. "/lib/scullery/plugins/nonlinearity/relu.so")
  lu.assertTrue(os.rename(there, there .. ".away"))
  local results = {}
  for k, line in ipairs{ "plugin check " .. plugin .. " --only guard-pages",
    "-e " .. quote("sc.plugin.check('relu')"), "plugin list" } do
    results[k] = table.pack(run(line))
  end
  lu.assertTrue(os.rename(there .. ".away", there))
  for k = 1, 2 do
    local status, out, err = table.unpack(results[k])
    lu.assertEquals({ status, out }, { 1, "" })
    lu.assertStrContains(err, "the checker of plugins is not installed: there is no Lua "
      .. "module scullery_checker")
    lu.assertStrContains(err, "`cmake --install`")
    lu.assertNotStrContains(err, "no file")
  end
  lu.assertEquals(results[3][1], 0, results[3][3])
  lu.assertStrContains(results[3][2], "relu")
end

function TestInstallation.test_the_installed_checker()
  local plugin = prefix .. "/lib/scullery/plugins/nonlinearity/relu.so"
  local status, out, err = run(("plugin check %s --only guard-pages"):format(quote(plugin)))
  lu.assertEquals({ status, err }, { 0, "" }, out)
  lu.assertStrContains(out, "1 passed, 0 warned, 0 skipped, 0 failed")
  lu.skipIf(installed.sanitized(), "a stock interpreter has no sanitizer's runtime")
  lu.skipIf(support.shell("lua5.4 -v") ~= 0, "there is no lua5.4")
  local code = "local all = require('scullery').plugin.check('nonlinearity.relu', "
    .. "{ only = 'shape', seed = 1, in_process = %s }) print(all.passed, all.failed)"
  for _, here in ipairs{ "true", "false" } do
    lu.assertEquals(sh(("LUA_PATH=%s LUA_CPATH=%s lua5.4 -e %s"):format(
      quote(prefix .. "/share/lua/5.4/?.lua;" .. prefix .. "/share/lua/5.4/?/init.lua;;"),
      quote(prefix .. "/lib/lua/5.4/?.so"), quote(code:format(here)))), "1\t0\n")
  end
end

-- ------------ building against it

function TestInstallation.test_a_plugin_by_find_package()
  for language, cpp in pairs{ c = false, cpp = true } do
    local name = "found_" .. language
    local here = project(name, ("find_package(Scullery %s REQUIRED)\n"
      .. "scullery_add_plugin(%s %s INSTALL)"):format(sc.version:match("^%d+%.%d+"), name,
      cpp and "plugin.cpp" or "plugin.c"), cpp)
    build(here, at(prefix))
    works(here .. "/build/" .. name .. ".so", name)
    sh(("cmake --install %s/build"):format(quote(here)))
    computes(name)
    sh(("rm %s/lib/scullery/plugins/%s.so"):format(quote(prefix), name))
  end
end

function TestInstallation.test_a_plugin_goes_to_the_folder_of_its_kind()
  local here = project("of_kind", "find_package(Scullery REQUIRED)\n"
    .. "scullery_add_plugin(of_kind KIND nonlinearity plugin.c INSTALL)")
  build(here, at(prefix) .. " -DScullery_PLUGINS_DIR=" .. quote(here .. "/mine"))
  sh(("cmake --install %s/build"):format(quote(here)))
  works(here .. "/mine/nonlinearity/of_kind.so", "of_kind")
end

function TestInstallation.test_a_plugin_by_find_package_from_the_build_tree()
  lu.skipIf(installed.sanitized(), "the build has a sanitizer's runtime")
  local here = project("from_build", "find_package(Scullery REQUIRED)\n"
    .. "scullery_add_plugin(from_build plugin.c)")
  build(here, "-DScullery_DIR=" .. quote(support.build))
  works(here .. "/build/from_build.so", "from_build")
end

function TestInstallation.test_mistakes_are_sentences()
  local function refused(name, line, ...)
    local here = project(name, "find_package(Scullery REQUIRED)\n" .. line)
    local status, _, said = configure(here, at(prefix))
    lu.assertNotEquals(status, 0)
    for _, word in ipairs{ ... } do lu.assertStrContains(said:gsub("%s+", " "), word) end
  end
  refused("no_source", "scullery_add_plugin(none INSTALL)",
    "scullery_add_plugin(none): names no source file")
  refused("no_kind", "scullery_add_plugin(none plugin.c KIND solvent)", "KIND takes sampler,",
    "got 'solvent'")
end

function TestInstallation.test_versions_that_fit()
  local major, minor, patch = sc.version:match("^(%d+)%.(%d+)%.(%d+)$")
  local function accepted(version)
    local here = project("version_" .. version:gsub("%p", "_"),
      ("find_package(Scullery %s REQUIRED)"):format(version))
    return configure(here, at(prefix)) == 0
  end
  lu.assertTrue(accepted(sc.version))
  lu.assertTrue(accepted(major .. "." .. minor))
  lu.assertFalse(accepted(("%s.%s.%d"):format(major, minor, patch + 1)))
  lu.assertFalse(accepted(("%s.%d"):format(major, minor + 1)))
  lu.assertFalse(accepted(major + 1 .. ".0"))
end

function TestInstallation.test_a_plugin_by_pkg_config()
  local here = folder("by_pkg_config")
  support.write(here .. "/by_pkg_config.c", c_source("by_pkg_config"))
  for place, plugins in pairs{ [prefix .. "/lib/pkgconfig"] = prefix .. "/lib/scullery/plugins",
    [support.build .. "/pkgconfig"] = support.build .. "/plugins" } do
    local ask = "PKG_CONFIG_PATH=" .. quote(place) .. " pkg-config "
    sh(("cd %s && eval \"cc -O2 -fPIC -shared -fvisibility=hidden $(%s --cflags scullery)\" "
      .. "-o by_pkg_config.so by_pkg_config.c -lm"):format(quote(here), ask))
    works(here .. "/by_pkg_config.so", "by_pkg_config")
    lu.assertEquals(sh(("eval \"realpath $(%s --variable=pluginsdir scullery)\""):format(ask)),
      plugins .. "\n")
    lu.assertEquals(sh(ask .. "--modversion scullery"), sc.version .. "\n")
    lu.assertEquals(sh(ask .. "--exists 'scullery >= " .. sc.version .. "'"), "")
  end
end

function TestInstallation.test_a_plugin_by_one_line()
  local here = folder("by_line")
  support.write(here .. "/by_line.c", c_source("by_line"))
  for _, command in ipairs{ prefix .. "/bin/scullery", support.build .. "/scullery" } do
    sh(("cd %s && eval \"cc -O2 -fPIC -shared $(%s --cflags)\" -o by_line.so by_line.c"):format(
      quote(here), quote(command)))
    works(here .. "/by_line.so", "by_line")
    sh("rm " .. quote(here .. "/by_line.so"))
  end
end

function TestInstallation.test_cflags_without_headers_is_an_error()
  local there = root .. "/no_headers"
  sh(("cp -a %s %s && rm -r %s/include"):format(quote(prefix), quote(there), quote(there)))
  local status, out, err = run("--cflags", there)
  lu.assertEquals({ status, out }, { 1, "" })
  lu.assertStrContains(err, "scullery: --cflags: the headers are not installed")
end

-- libscullery for other programs: linking finds it by both, and the library its plugins.
function TestInstallation.test_a_program_links_to_the_library()
  lu.skipIf(installed.sanitized(), "the library needs a sanitizer's runtime")
  local here = folder("embedder")
  local ds = models.classes(30, 3)
  local p = sc.pipeline{ sc.standardize(), sc.solver.ridge() }:fit(ds)
  p:save(here .. "/model.safetensors")
  local x, label = ds.X, p:labels(ds.X:slice(1, 1))[1]
  support.write(here .. "/rows.csv", ("%.17g,%.17g,%.17g\n"):format(x:get(1, 1), x:get(1, 2),
    x:get(1, 3)))
  support.write(here .. "/main.c", support.read(source .. "/scripts/embed/predict.c"))
  support.write(here .. "/CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\n"
    .. "project(embedder LANGUAGES C)\nfind_package(Scullery REQUIRED)\n"
    .. "add_executable(embedder main.c)\n"
    .. "target_link_libraries(embedder PRIVATE Scullery::scullery)\n")
  build(here, at(prefix))
  local said = " model.safetensors rows.csv"
  lu.assertEquals(sh(("cd %s && build/embedder"):format(quote(here)) .. said), label .. "\n")
  local library = quote(prefix .. "/lib")
  lu.assertEquals(sh(("cd %s && export PKG_CONFIG_PATH=%s/pkgconfig && eval \"cc main.c "
    .. "-o by_pc $(pkg-config --cflags --libs scullery)\" && LD_LIBRARY_PATH=%s ./by_pc%s"):format(
    quote(here), library, library, said)), label .. "\n")
end

-- The functions that scullery/scullery.h declares, and no others, have the version that other
-- programs may rely on.
function TestInstallation.test_versions_of_symbols()
  lu.skipIf(installed.sanitized(), "a sanitizer exports symbols of its own")
  local symbols = sh(("nm -D --defined-only %s/lib/libscullery.so"):format(quote(prefix)))
  local public, private = {}, 0
  for name, version in symbols:gmatch(" [TDBRV] ([%w_]+)@+SCULLERY_([%w_.]+)\n") do
    if version:find("^PRIVATE_") then private = private + 1 else public[#public + 1] = name end
  end
  lu.assertTrue(private > 300, "symbols without a version")
  local header = prefix .. "/include/scullery/scullery.h"
  lu.skipIf(not io.open(header), "there is no scullery/scullery.h")
  local declared = {}
  local list = sh(("gcc -fsyntax-only -x c %s -aux-info /dev/stdout"):format(quote(header)))
  for name in list:gmatch("scullery%.h:%d+:[^\n]-[ *](scl_[%w_]+) %(") do
    declared[#declared + 1] = name
  end
  table.sort(declared)
  table.sort(public)
  lu.assertTrue(#declared > 0)
  lu.assertEquals(public, declared)
end

-- ------------ uninstalling

function TestInstallation.test_uninstall_removes_what_was_installed_and_nothing_else()
  local there = root .. "/removed"
  local list = installed.into(there)
  support.write(there .. "/lib/scullery/plugins/solver/mine.so", "")
  local remove = ("cmake -DMANIFEST=%s -P %s/uninstall.cmake"):format(quote(list),
    quote(support.build))
  sh(remove)
  lu.assertEquals(sh(("find %s -type f -o -type l"):format(quote(there))),
    there .. "/lib/scullery/plugins/solver/mine.so\n")
  lu.assertEquals(sh(("find %s -iname '*scullery*' -o -name plugin"):format(quote(there))),
    there .. "/lib/scullery\n")
  lu.assertEquals(sh(("find %s -type d -empty"):format(quote(there))), "")
  lu.assertStrContains(sh(remove), "was not there any more: " .. there .. "/bin/scullery")
  os.remove(there .. "/lib/scullery/plugins/solver/mine.so")
  sh(remove)
  lu.assertNil(io.open(there), "an empty folder is left")
end

function TestInstallation.test_uninstall_without_an_installation_is_an_error()
  local status, _, err = support.shell(("cmake -DMANIFEST=%s/none -P %s/uninstall.cmake"):format(
    quote(root), quote(support.build)))
  lu.assertNotEquals(status, 0)
  lu.assertStrContains(err, "nothing has been installed from this build folder")
end

os.exit(lu.LuaUnit.run())

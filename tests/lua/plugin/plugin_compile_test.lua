-- sc.plugin.compile and sc.plugin.reload: sources become plugins in a cache, and files that were
-- built again become new code. Everything runs in commands of their own, with a cache of their own.
package.path = "tests/helpers/?.lua;tests/interface/?.lua;" .. package.path
local lu = require "luaunit"
local specimen, support = require "specimen", require "support"

local quote = support.quote
local folder, cache

local function sh(line) lu.assertTrue(os.execute(line), line) end

local function set_up()
  folder = os.tmpname()
  os.remove(folder)
  sh("mkdir -m 755 " .. quote(folder))
  cache = folder .. "/cache/scullery/plugins"
end

local function tear_down() sh("rm -rf " .. quote(folder)) end

-- A script with these functions: `compile` prints kind and name, or the error; `at` the values of a
-- nonlinearity's features.
local prelude = [[
local function compile(given)
  local results = table.pack(pcall(sc.plugin.compile, given))
  print(table.unpack(results, 1, math.min(results.n, 3)))
  return results[4]
end
local function near(x, y) return (x - y):abs():max() < 1e-12 end
local function at(phi)
  local map = sc.features{ p = sc.sampler.gaussian(), phi = phi, T = 3, seed = 7 }
  return map:fit(sc.ones(2, 2)):transform(sc.ones(2, 2))
end
]]

-- The script run by a command; its status, output and errors.
local function run(code, variables)
  local path = support.write(folder .. "/script.lua", prelude .. code)
  return support.shell(("umask 002; CC= CXX= XDG_CACHE_HOME=%s %s %s %s"):format(
    quote(folder .. "/cache"), variables or "", quote(support.binary), quote(path)))
end

local function works(code, variables)
  local status, out, err = run(code, variables)
  lu.assertEquals({ status, err }, { 0, "" }, out)
  return out
end

local function contents(path)
  return select(2, support.shell("ls -A " .. quote(path) .. " 2>/dev/null | sort"))
end

local function mode(path)
  return select(2, support.shell("stat -c %a " .. quote(path))):match("%d+")
end

-- A compiler that notes what it is called with.
local function counting_compiler()
  local path = support.write(folder .. "/counting", ([[
#!/bin/sh
echo "$@" >> %s
exec cc "$@"
]]):format(quote(folder .. "/calls")))
  sh("chmod +x " .. quote(path))
  return path
end

-- How often an object was made.
local function count_made()
  local count = 0
  for line in support.read(folder .. "/calls"):gmatch("[^\n]+") do
    if line:find("-shared", 1, true) then count = count + 1 end
  end
  return count
end

local leaky = [[{ kind = "nonlinearity", name = "leaky", source = "z > 0 ? z : 0.1 * z" }]]
local whole = [[
#include <scullery/plugin.h>
SCL_LOOPS(SLOPE * z)
const scl_plugin scullery_plugin = {.name = "sloped", .summary = "a slope", .doc = "SLOPE z",
  SCL_NONLINEARITY(SCL_RIDGE_LOOPS)};
]]

-- ------------ formulas

TestFormulas = { setUp = set_up, tearDown = tear_down } -- luacheck: globals TestFormulas

function TestFormulas.test_a_nonlinearity()
  local out = works("compile" .. leaky .. [[
print(at(sc.nonlinearity.leaky()) == at(sc.nonlinearity.relu()) - 0.1 * at(sc.nonlinearity.relu())
  + 0.1 * at(sc.nonlinearity.identity()))
local d = at(sc.nonlinearity.leaky()) - 0.9 * at(sc.nonlinearity.relu())
print((d - 0.1 * at(sc.nonlinearity.identity())):abs():max() < 1e-15)
compile{ kind = "nonlinearity", name = "bent",
  source = "if (z > 0) return z;\nreturn exp(z) - 1;" }
print(at(sc.nonlinearity.bent()):min() > -1)
print(sc.plugin.info("leaky").summary, sc.plugin.info("leaky").origin)
local f32 = sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.leaky(), T = 3, seed = 7,
  dtype = "float32" }:fit(sc.ones(2, 2)):transform(sc.ones(2, 2))
print((f32 - at(sc.nonlinearity.leaky())):abs():max() < 1e-6)
]])
  lu.assertStrMatches(out, "true\tnonlinearity\tleaky\n%a+\ntrue\ntrue\tnonlinearity\tbent\ntrue\n"
    .. "phi%(z%) = z > 0 %? z : 0.1 %* z\tcompiled\ntrue\n")
end

function TestFormulas.test_options()
  local out = works[[
sc.plugin.compile{ kind = "nonlinearity", name = "soft", source = "tanh(beta * z)",
  options = { beta = 1 } }
sc.plugin.compile{ kind = "sampler", name = "heavy", source = "scale * tan(SCL_PI * (u - 0.5))",
  options = { scale = { default = 2, low = 0.5, help = "the width" } } }
sc.plugin.compile{ kind = "kernel", name = "far", source = "exp(-squared_distance / (2 * w * w))",
  options = { w = { default = 1, above = 0 } } }
local soft = sc.nonlinearity.define("tanh(beta * z)", { beta = 1 })
print(near(at(sc.nonlinearity.soft{ beta = 3 }), at(soft{ beta = 3 })))
local X = sc.randn{ 9, 3, seed = 1 }
local function mapped(p, phi)
  return sc.features{ p = p, phi = phi, T = 5, seed = 2 }:fit(X):transform(X)
end
local id = sc.nonlinearity.identity()
print(near(mapped(sc.sampler.heavy(), id), 2 * mapped(sc.sampler.heavy{ scale = 1 }, id)))
local marks = sc.sampler.landmarks()
print(near(mapped(marks, sc.kernel.far{ w = 2 }), mapped(marks, sc.kernel.gaussian{ width = 2 })))
print(select(2, pcall(sc.sampler.heavy, { scale = 0.1 })))
]]
  lu.assertStrContains(out, "true\ntrue\ntrue\n")
  lu.assertStrContains(out, "'scale'")
end

function TestFormulas.test_kernels_of_each_number_of_a_pair()
  local out = works[[
local X, Y = sc.randn{ 5, 3, seed = 1 }, sc.randn{ 4, 3, seed = 2 }
local function worst(name, source, exact)
  sc.plugin.compile{ kind = "kernel", name = name, source = source }
  print(name, (sc.kernel[name]():gram(X, Y) - exact:gram(X, Y)):abs():max() < 1e-12)
end
worst("k_gauss", "exp(-squared_distance / 2)", sc.kernel.gaussian{ width = 1 })
worst("k_laplace", "exp(-distance)", sc.kernel.laplacian{ gamma = 1 })
worst("k_cubic", "return pow(dot + 1, 3);", sc.kernel.polynomial{ degree = 3, offset = 1 })
worst("k_angle", "1 - 2 * angle / SCL_PI", sc.kernel.angular())
worst("k_cosine", "1 - 2 * acos(cosine) / SCL_PI", sc.kernel.angular())
]]
  lu.assertEquals(out, "k_gauss\ttrue\nk_laplace\ttrue\nk_cubic\ttrue\nk_angle\ttrue\n"
    .. "k_cosine\ttrue\n")
end

-- Cauchy numbers: their median and their quartiles.
function TestFormulas.test_a_sampler()
  local out = works[[
compile{ kind = "sampler", name = "heavy", source = "tan(SCL_PI * (u - 0.5))" }
local z = sc.features{ p = sc.sampler.heavy(), phi = sc.nonlinearity.identity(), T = 4000 }
  :fit(sc.ones(1, 1)):transform(sc.ones(1, 1)) * math.sqrt(4000)
local below, within = 0, 0
for j = 1, 4000 do
  below = below + (z:get(1, j) < 0 and 1 or 0)
  within = within + (math.abs(z:get(1, j)) < 1 and 1 or 0)
end
print(math.abs(below - 2000) < 160, math.abs(within - 2000) < 160)
print(sc.sampler.heavy{ bias = "uniform" })
]] -- 160: five standard errors
  lu.assertEquals(out, "true\tsampler\theavy\ntrue\ttrue\nsampler.heavy{bias = \"uniform\"}\n")
end

function TestFormulas.test_what_is_none_is_a_sentence()
  for given, said in pairs{
    ['{ kind = "solver", name = "x", source = "1" }'] = "a solver has no short form",
    ['{ source = "z" }'] = "plugin (source) has no symbol scullery_plugin: it is a formula, for "
      .. "which 'kind' and 'name' are required",
    ['{ kind = "nonlinearity", name = "x", source = "b * z", options = { beta = 1 } }'] =
      "the formula does not have 'beta'",
    ['{ kind = "nonlinearity", name = "x", source = "b * z", options = { b = "x" } }'] =
      "those of a formula are numbers, and 'b' is not",
    ['{ kind = "nonlinearity", name = "x", source = "2 * z", options = { z = 1 } }'] =
      "'z' is the number that the formula of a nonlinearity is of",
    ['{ kind = "sampler", name = "x", source = "2 * u", options = { u = 1 } }'] =
      "'u' is the number that the formula of a sampler is of",
    ['{ kind = "kernel", name = "x", source = "dot * angle", options = { angle = 1 } }'] =
      "'angle' is a number of a pair",
    ['{ kind = "nonlinearity", name = "x", source = "z + instance", options = { instance = 1 } }'] =
      "'instance' is a name of C or of the library",
    ['{ kind = "nonlinearity", name = "x", source = "z + formula", options = { formula = 1 } }'] =
      "'formula' is a name of C or of the library",
    ['{ kind = "nonlinearity", name = "x", source = "z + SCL_PI", options = { SCL_PI = 1 } }'] =
      "'SCL_PI' is a name of C or of the library",
    ['{ kind = "kernel", name = "x", source = "1" }'] = "the formula of a kernel is one of dot, ",
    ['{ kind = "kernel", name = "x", source = "dot * angle" }'] =
      "the formula of a kernel has one of dot and angle",
    ['{ kind = "nonlinearity", name = "X", source = "z" }'] = "option 'name' takes 1 to 40 of a-z",
    ['{ kind = "nonlinearity", name = "x" }'] = "takes one of the options 'source' and 'file'",
    ['{ file = "x.c", source = "z" }'] = "takes one of the options 'source' and 'file'",
    ['{ file = "nosuch.c" }'] = "nosuch.c: No such file",
    ['{ kind = "maker", source = "z" }'] = "sampler, nonlinearity, kernel, solver",
    ['{ source = "z", flags = { 1 } }'] = "a text of flags, or a list of them",
    ['{ sorce = "z" }'] = "did you mean 'source'",
    ['{ kind = "nonlinearity", name = "relu", source = "z" }'] =
      "relu (source): there is a nonlinearity 'relu' already, built in" } do
    local out = works("compile" .. given)
    lu.assertStrContains(out, "false\t")
    lu.assertStrContains(out, "script.lua:2: plugin.compile: ")
    lu.assertStrContains(out, said)
  end
end

-- ------------ whole plugins

TestWholePlugins = { setUp = set_up, tearDown = tear_down } -- luacheck: globals TestWholePlugins

function TestWholePlugins.test_sources_and_files()
  support.write(folder .. "/sloped.c", whole)
  support.write(folder .. "/twice.cpp", [[
#include <scullery/plugin.h>
static void loop(const void *, size_t count, const double *z, double *out) {
  for (size_t j = 0; j < count; j++) out[j] = 2 * z[j];
}
static const scl_nonlinearity table = {.head = SCL_HEAD(scl_nonlinearity),
  .kind = SCL_KIND_NONLINEARITY, .spaces = SCL_SPACES_RIDGE, .loop = loop};
extern "C" const scl_plugin scullery_plugin = {.head = SCL_HEAD(scl_plugin),
  .kind = SCL_KIND_NONLINEARITY, .name = "twice", .summary = "2 z", .doc = "2 z", .vtable = &table};
]])
  local out = works(([[
local list = compile{ file = %q, flags = "-DSLOPE=2" }
print(#list, list[1].name, list[1].kind)
print(at(sc.nonlinearity.sloped()) == 2 * at(sc.nonlinearity.identity()))
compile{ source = %q, flags = { "-DSLOPE=3" }, kind = "nonlinearity", name = "sloped" }
print(near(at(sc.nonlinearity.sloped()), 3 * at(sc.nonlinearity.identity())))
compile{ file = %q }
print(at(sc.nonlinearity.twice()) == 2 * at(sc.nonlinearity.identity()))
]]):format(folder .. "/sloped.c", whole, folder .. "/twice.cpp"))
  lu.assertEquals(out, "true\tnonlinearity\tsloped\n1\tsloped\tnonlinearity\ntrue\n"
    .. "true\tnonlinearity\tsloped\ntrue\ntrue\tnonlinearity\ttwice\ntrue\n")
end

function TestWholePlugins.test_what_it_holds_is_what_was_asked_for()
  local out = works(([[compile{ kind = "kernel", source = %q, flags = "-DSLOPE=2" }
compile{ name = "steep", source = %q, flags = "-DSLOPE=2" }
print(pcall(function() return sc.nonlinearity.sloped end))]]):format(whole, whole))
  lu.assertStrContains(out, "the source has nonlinearity.sloped, and kernel.* was asked for")
  lu.assertStrContains(out, "the source has nonlinearity.sloped, and *.steep was asked for")
  lu.assertStrContains(out, "no nonlinearity 'sloped'")
end

-- What the loader refuses, and what ends the process that opens it.
function TestWholePlugins.test_what_cannot_be_loaded_is_a_sentence()
  specimen.skip_crashes()
  local out = works(([[
compile{ source = %q }
compile{ source = %q }
print(#sc.plugin.list() > 50)]]):format((whole:gsub('"a slope"', "NULL"):gsub("SLOPE %*", "")),
    "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { abort(); }\n"
    .. whole:gsub("SLOPE %*", "")))
  lu.assertStrContains(out, "plugin (source): nonlinearity 'sloped': summary and doc must be texts")
  lu.assertStrContains(out, "plugin (source): opening it ends the process: Aborted")
  lu.assertStrContains(out, "\ntrue\n")
  lu.assertEquals(contents(cache), "") -- neither is kept
end

-- ------------ messages of the compiler

TestMessages = { setUp = set_up, tearDown = tear_down } -- luacheck: globals TestMessages

function TestMessages.test_errors_have_the_lines_of_the_source()
  support.write(folder .. "/wrong.c", "#include <scullery/plugin.h>\n\nint a = b;\n" .. whole)
  local out = works(([[
compile{ kind = "nonlinearity", name = "wrong", source = "z > 0 ?\n  z :\n  zz * z" }
compile{ source = %q }
compile{ file = %q }
compile{ kind = "nonlinearity", name = "calls", source = "nosuch(z)" }
compile{ kind = "nonlinearity", name = "open", source = "(z" }
]]):format("\n\nint c = d;\n" .. whole, folder .. "/wrong.c"))
  lu.assertStrMatches(out, ".*plugin.compile: wrong %(source%) does not compile:\n.*")
  lu.assertStrMatches(out, ".*\nwrong %(source%):3:3: error: [^\n]*zz[^\n]*\n    zz %* z\n.*")
  lu.assertStrMatches(out, ".*\nplugin %(source%):3:9: error: [^\n]*d[^\n]*\n    int c = d;\n.*")
  lu.assertStrContains(out, folder .. "/wrong.c:3:9: error:")
  lu.assertStrMatches(out, ".*\ncalls %(source%):1:%d+: error: [^\n]*nosuch[^\n]*\n"
    .. "    nosuch%(z%)\n.*")
  lu.assertStrMatches(out, ".*open %(source%) does not compile:\n[^\n]*\n?"
    .. "[^\n]*:%d+:%d+: error: .*")
  lu.assertEquals(contents(cache), "")
end

function TestMessages.test_warnings_are_shown_as_such()
  local status, out, err = run[[compile{ kind = "nonlinearity", name = "warned",
    source = "int k;\nreturn z;" }]]
  lu.assertEquals({ status, out }, { 0, "true\tnonlinearity\twarned\n" })
  lu.assertStrMatches(err, "scullery: plugin.compile: warned %(source%):\n.*"
    .. "warned %(source%):1:5: warning: unused variable .*")
end

function TestMessages.test_a_compiler_that_is_none()
  local slow = support.write(folder .. "/dies", "#!/bin/sh\nkill -KILL $$\n")
  sh("chmod +x " .. quote(slow))
  for compiler, said in pairs{
    nosuchcc = "there is no compiler 'nosuchcc' (Debian: apt-get install gcc libc6-dev); $CC or "
      .. "the option 'compiler' names another",
    ["nosuch-clang"] = "apt-get install clang",
    ["true"] = "'true' is not a compiler: it wrote no file",
    ["false"] = "does not compile", [slow] = "was ended by a signal: Killed" } do
    local given = leaky:gsub("}$", (", compiler = %q }"):format(compiler))
    local out = works("compile" .. given)
    lu.assertStrContains(out, "false\t")
    lu.assertStrContains(out, said)
    lu.assertStrContains(works("compile" .. leaky, "CC=" .. compiler), said)
  end
  lu.assertStrContains(works("compile" .. leaky, "CC='cc -O1'"), "true\tnonlinearity\tleaky")
end

-- ------------ the cache

TestCache = { setUp = set_up, tearDown = tear_down } -- luacheck: globals TestCache

function TestCache.test_a_source_is_compiled_once()
  local compiler = "CC=" .. quote(counting_compiler())
  works("compile" .. leaky .. "compile" .. leaky, compiler)
  works("compile" .. leaky, compiler)
  lu.assertEquals(count_made(), 1)
  works("compile" .. leaky:gsub("0.1", "0.2"), compiler)
  works("compile" .. leaky:gsub("}$", ", flags = '-O3' }"), compiler)
  lu.assertEquals(count_made(), 3)
  local names = contents(cache)
  lu.assertEquals(select(2, names:gsub("%x+%.so\n", "")), 3)
  lu.assertEquals((names:gsub("%x+%.so\n", "")), "")
  lu.assertEquals(mode(cache), "700")
  for name in names:gmatch("[^\n]+") do lu.assertEquals(mode(cache .. "/" .. name), "700") end
end

-- Also a header that the source includes.
function TestCache.test_another_header_is_another_source()
  local compiler = "CC=" .. quote(counting_compiler())
  support.write(folder .. "/sloped.c", '#include "slope.h"\n' .. whole)
  local function slope(value)
    support.write(folder .. "/slope.h", "#define SLOPE " .. value .. "\n")
    return works(([[compile{ file = %q }
print(near(at(sc.nonlinearity.sloped()), %g * at(sc.nonlinearity.identity())))]]):format(
      folder .. "/sloped.c", value), compiler)
  end
  for _, value in ipairs{ 2, 3, 2 } do
    lu.assertEquals(slope(value), "true\tnonlinearity\tsloped\ntrue\n")
  end
  lu.assertEquals(count_made(), 2)
end

function TestCache.test_a_damaged_object_is_made_again()
  works("compile" .. leaky)
  local path = cache .. "/" .. contents(cache):match("[^\n]+")
  local whole_object = support.read(path)
  support.write(path, whole_object:sub(1, 1000))
  lu.assertStrContains(works("compile" .. leaky), "true\tnonlinearity\tleaky")
  lu.assertEquals(support.read(path), whole_object)
end

function TestCache.test_a_folder_that_others_may_write_is_refused()
  works("compile" .. leaky)
  for _, bits in ipairs{ "770", "702", "777" } do
    sh(("chmod %s %s"):format(bits, quote(cache)))
    local out = works("compile" .. leaky)
    lu.assertStrContains(out, "others may write to " .. cache)
    lu.assertStrContains(out, "chmod 700")
  end
  sh("chmod 700 " .. quote(cache))
  sh(("chmod 722 %s/*.so"):format(quote(cache)))
  lu.assertStrContains(works("compile" .. leaky), "true\tnonlinearity") -- made anew
  lu.assertEquals(mode(cache .. "/*.so"), nil)
  lu.assertEquals(mode(cache .. "/" .. contents(cache):match("[^\n]+")), "700")
end

function TestCache.test_without_a_home_there_is_no_cache()
  local path = support.write(folder .. "/script.lua", prelude .. "compile" .. leaky)
  local _, out = support.shell(("HOME= XDG_CACHE_HOME= %s %s"):format(quote(support.binary),
    quote(path)))
  lu.assertStrContains(out, "neither XDG_CACHE_HOME nor HOME is a full path")
end

function TestCache.test_several_processes_at_once()
  local path = support.write(folder .. "/script.lua", prelude .. "compile" .. leaky
    .. "print(at(sc.nonlinearity.leaky()):rows())")
  local line = ("XDG_CACHE_HOME=%s %s %s & "):format(quote(folder .. "/cache"),
    quote(support.binary), quote(path))
  local status, out, err = support.shell(line:rep(4) .. "wait")
  lu.assertEquals({ status, err }, { 0, "" })
  lu.assertEquals(select(2, out:gsub("true\tnonlinearity\tleaky\n", "")), 4)
  lu.assertStrMatches(contents(cache), "%x+%.so\n")
end

-- What a process that was killed left is removed by the next one that compiles.
function TestCache.test_what_was_left_behind_goes()
  sh("mkdir -m 700 -p " .. quote(cache))
  sh(("touch %s/x.so.999999999.part"):format(quote(cache)))
  works("compile" .. leaky)
  lu.assertStrMatches(contents(cache), "%x+%.so\n")
end

-- Ctrl-C ends the compiler and what it started, and nothing stays.
function TestCache.test_an_interrupt_ends_the_compiler()
  local slow = support.write(folder .. "/slow", ([[
#!/bin/sh
case "$*" in *-shared*) echo $$ > %s; sleep 600 & echo $! > %s; wait;; esac
exec cc "$@"
]]):format(quote(folder .. "/shell"), quote(folder .. "/sleep")))
  sh("chmod +x " .. quote(slow))
  local path = support.write(folder .. "/script.lua", "sc.plugin.compile" .. leaky)
  local status, _, err = support.shell(([[
env --default-signal=INT CC=%s XDG_CACHE_HOME=%s %s %s & pid=$!
for i in $(seq 600); do [ -s %s ] && break; sleep 0.05; done
kill -INT $pid; wait $pid]]):format(quote(slow), quote(folder .. "/cache"),
    quote(support.binary), quote(path), quote(folder .. "/sleep")))
  lu.assertNotEquals(status, 0)
  lu.assertStrContains(err, "interrupted!")
  for _, name in ipairs{ "shell", "sleep" } do
    local process = support.read(folder .. "/" .. name):match("%d+")
    local line = "grep -q '^State:[[:space:]][^Z]' /proc/%s/status 2>/dev/null" -- lives
    lu.assertNotEquals(support.shell(line:format(process)), 0)
  end
  lu.assertEquals(contents(cache), "")
end

-- ------------ one in the place of another

TestReplacing = { setUp = set_up, tearDown = tear_down } -- luacheck: globals TestReplacing

function TestReplacing.test_compiling_again_makes_new_instances_new()
  local out = works("compile" .. leaky .. [[
local old = sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.leaky(), T = 3, seed = 7 }
  :fit(sc.ones(2, 2))
local before = at(sc.nonlinearity.leaky())
]] .. "compile" .. leaky:gsub("0.1", "0.2") .. [[
print(sc.plugin.info("leaky").summary, old:transform(sc.ones(2, 2)) == before,
  at(sc.nonlinearity.leaky()) == before)
]] .. "compile" .. leaky .. [[
print(sc.plugin.info("leaky").summary, at(sc.nonlinearity.leaky()) == before)
local count = 0
for _, one in ipairs(sc.plugin.list()) do count = count + (one.name == "leaky" and 1 or 0) end
print(count)
]])
  lu.assertEquals(out, [[
true	nonlinearity	leaky
true	nonlinearity	leaky
phi(z) = z > 0 ? z : 0.2 * z	true	false
true	nonlinearity	leaky
phi(z) = z > 0 ? z : 0.1 * z	true
1
]])
end

function TestReplacing.test_a_name_of_another_file_is_not_taken()
  local path = specimen.file("v1", "only side", "set side name text leaky")
  local out = works(("sc.plugin.load(%q) "):format(path) .. "compile" .. leaky
    .. "print(sc.plugin.info('leaky').path)")
  lu.assertStrContains(out, "leaky (source): there is a nonlinearity 'leaky' already, from "
    .. path)
  lu.assertStrContains(out, "\n" .. path .. "\n")
end

-- A source of two components is replaced as a whole.
function TestReplacing.test_no_component_gets_lost()
  local two = whole:gsub("SLOPE %*", ""):gsub("const scl_plugin scullery_plugin", "static const "
    .. "scl_plugin first") .. [[
static const scl_plugin second = {.name = "second", .summary = "a slope", .doc = "SLOPE z",
  SCL_NONLINEARITY(SCL_RIDGE_LOOPS)};
static const scl_plugin *const list[] = {&first, &second};
const scl_plugin_list scullery_plugins = {SCL_HEAD(scl_plugin_list), 2, 0, list};
]]
  local out = works(("print(#compile{ source = %q })\n"):format(two)
    .. ("compile{ source = %q, flags = '-DSLOPE=1' }\n"):format(whole)
    .. "print(sc.nonlinearity.second{}, sc.plugin.info('sloped').summary)")
  lu.assertStrContains(out, "true\tnonlinearity\tsloped\n2\n")
  lu.assertStrContains(out, "the compiled source that it replaces also has the nonlinearity "
    .. "'second'")
  lu.assertStrContains(out, "nonlinearity.second{}\ta slope\n")
end

-- ------------ reload

TestReload = { setUp = set_up, tearDown = tear_down } -- luacheck: globals TestReload

local function side(name, summary)
  return specimen.file("v1", "only side", "set side name text " .. name,
    "set side summary text " .. summary)
end

function TestReload.test_a_file_that_was_built_again()
  local path, other = side("mine", "first"), side("mine", "second")
  local out = works(([[
local path, other = %q, %q
sc.plugin.load(path)
local function show(info, changed) print(info.summary, changed) end
show(sc.plugin.reload("mine"))
local old = at(sc.nonlinearity.mine())
assert(os.rename(other, path))
show(sc.plugin.reload("nonlinearity.mine"))
show(sc.plugin.reload("mine"))
print(sc.plugin.info("mine").summary, at(sc.nonlinearity.mine()) == old)
os.remove(path)
print(pcall(sc.plugin.reload, "mine"))
print(sc.plugin.info("mine").summary)
]]):format(path, other))
  lu.assertStrMatches(out, "first\tfalse\nsecond\ttrue\nsecond\tfalse\nsecond\ttrue\n"
    .. "false\t[^\n]*no such file\nsecond\n")
end

function TestReload.test_one_that_was_not_loaded_yet()
  local at = folder .. "/path/nonlinearity/mine.so"
  sh(("mkdir -p %s && cp %s %s && chmod -R go-w %s"):format(quote(at:match("^(.*)/")),
    quote(side("mine", "first")), quote(at), quote(folder)))
  local out = works("local info, changed = sc.plugin.reload 'mine' print(info.summary, changed)",
    "SCULLERY_PLUGIN_PATH=" .. quote(folder .. "/path"))
  lu.assertEquals(out, "first\tfalse\n")
end

-- As strictly as it was loaded: the search takes no file that a group may write.
function TestReload.test_who_may_write_is_looked_at_again()
  local at = folder .. "/path/nonlinearity/mine.so"
  sh(("mkdir -p %s && cp %s %s && chmod -R go-w %s"):format(quote(at:match("^(.*)/")),
    quote(side("mine", "first")), quote(at), quote(folder)))
  local out = works(([[sc.nonlinearity.mine() os.execute "chmod 775 %s"
print(pcall(sc.plugin.reload, "mine"))]]):format(at), "SCULLERY_PLUGIN_PATH=" .. quote(folder
    .. "/path"))
  lu.assertStrContains(out, "a group may write this file")
end

function TestReload.test_what_is_not_reloaded_is_a_sentence()
  local path, other = side("mine", "first"), side("other", "second")
  local out = works(("sc.plugin.load(%q) "):format(path) .. "compile" .. leaky .. ([[
for _, name in ipairs{ "relu", "leaky", "nosuch", "solver.mine", "arccos", "solver" } do
  print(pcall(sc.plugin.reload, name))
end
print(pcall(sc.plugin.reload))
assert(os.rename(%q, %q))
print(pcall(sc.plugin.reload, "mine"))
print(sc.plugin.info("other").summary)
]]):format(other, path))
  for _, said in ipairs{ "nonlinearity.relu is built in, from /", "start Scullery again",
    "nonlinearity.leaky was compiled from a source: sc.plugin.compile{...}",
    "plugin.reload: no plugin 'nosuch'", "no solver 'mine'", "plugin.reload: there are several: "
      .. "nonlinearity.arccos, kernel.arccos", "plugin.reload: takes a name",
    path .. " now holds the nonlinearity 'other', and no nonlinearity 'mine'", "\nsecond\n" } do
    lu.assertStrContains(out, said)
  end
end

-- ------------ sanitizers

TestSanitizers = { setUp = set_up, tearDown = tear_down } -- luacheck: globals TestSanitizers

local out_of_bounds = [[{ kind = "nonlinearity", name = "outside", sanitize = "address,undefined",
  source = "double two[2] = { z, z };\nint i = z < 1e9 ? 2 : 0;\nreturn two[i];" }]]

local function skip_without_runtime()
  lu.skipIf((os.getenv "SCULLERY_SANITIZE" or "") ~= "", "a sanitizer runs already")
  local path = select(2, support.shell("cc -print-file-name=libasan.so")):match("^/[^\n]*")
  lu.skipIf(not path, "no libasan.so")
  return path
end

function TestSanitizers.test_a_runtime_that_is_missing_is_a_sentence_with_the_way()
  skip_without_runtime()
  local out = works("compile" .. out_of_bounds)
  lu.assertStrMatches(out, "false\t.*plugin.compile: sanitize = \"address,undefined\": the "
    .. "runtime of "
    .. "\"address\" must be in the process from its beginning: start Scullery as "
    .. "LD_PRELOAD=/[^\n]*asan[^\n]* scullery %.%.%.\n")
end

function TestSanitizers.test_errors_are_found_at_their_lines()
  local path = skip_without_runtime()
  local status, out, err = run("compile" .. leaky:gsub("}$", ', sanitize = "address,undefined" }')
    .. "print(at(sc.nonlinearity.leaky()):rows())\n" .. "compile" .. out_of_bounds
    .. "at(sc.nonlinearity.outside())", "LD_PRELOAD=" .. quote(path))
  lu.assertNotEquals(status, 0)
  lu.assertStrContains(out, "true\tnonlinearity\tleaky\n2\n")
  lu.assertStrContains(err, "AddressSanitizer: stack-buffer-overflow")
  lu.assertStrContains(err, "outside (source):3")
end

function TestSanitizers.test_undefined_behaviour_alone()
  skip_without_runtime()
  local status, out, err = run[[compile{ kind = "nonlinearity", name = "shifts",
    sanitize = "undefined", source = "int n = (int)z * 0 + 40;\nreturn 1 << n;" }
print(at(sc.nonlinearity.shifts()):rows())]]
  lu.assertEquals(status, 0)
  lu.assertStrContains(out, "true\tnonlinearity\tshifts\n2\n")
  lu.assertStrContains(err, "shifts (source):2:10: runtime error: shift exponent 40")
end

local status = lu.LuaUnit.run()
specimen.clear()
os.exit(status, true)

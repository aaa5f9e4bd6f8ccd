-- Plugins of other versions: components of kinds that this host does not know, services and flags
-- that they require, options that have another name now, and components made of others.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")
local quote = support.quote

local include = quote((os.getenv "SCULLERY_SOURCE" or ".") .. "/core/include")

-- Compiles the text to folder/NAME.so.
local function compiled(folder, name, text)
  local source, object = folder .. "/" .. name .. ".c", folder .. "/" .. name .. ".so"
  support.write(source, "#include <scullery/plugin.h>\n" .. text)
  os.remove(object)
  local status, _, err = support.shell(("cc -std=c11 -Wall -shared -fPIC -I %s -o %s %s -lm")
    :format(include, quote(object), quote(source)))
  lu.assertEquals({ status, err }, { 0, "" })
  return object
end

-- Runs a script with the plugins of the folder; its status, output and error output.
local function run(folder, script)
  support.write(folder .. "/script.lua", script)
  return support.shell(("SCULLERY_PLUGIN_PATH=%s %s %s"):format(quote(folder),
    quote(support.binary), quote(folder .. "/script.lua")))
end

-- ------------ later kinds

local phi = [[
static void loop(const void *s, size_t n, const double *z, double *out) {
  (void)s;
  for (size_t j = 0; j < n; j++) out[j] = z[j];
}
]]

local function list_of(kinds)
  local text, names = phi, {}
  for i, kind in ipairs(kinds) do
    text = text .. ([[
static const scl_nonlinearity table_%d = {SCL_TABLE(scl_nonlinearity, %s),
  .spaces = SCL_SPACES_RIDGE, .loop = loop};
static const scl_plugin plugin_%d = {.head = SCL_HEAD(scl_plugin), .kind = %s, .name = "part_%d",
  .summary = "x", .doc = "x", .vtable = &table_%d};
]]):format(i, kind, i, kind, i, i)
    names[i] = "&plugin_" .. i
  end
  return text .. ([[
static const scl_plugin *const all[] = {%s};
const scl_plugin_list scullery_plugins = {SCL_HEAD(scl_plugin_list), %d, 0, all};
]]):format(table.concat(names, ", "), #kinds)
end

function TestAListLoadsWithoutItsComponentOfALaterKind()
  support.in_folder(function(folder)
    local path = compiled(folder, "list", list_of{ "SCL_KIND_NONLINEARITY", "77",
      "SCL_KIND_NONLINEARITY" })
    local status, out, err = run(folder, ([[
      sc.plugin.load(%q)
      print(sc.nonlinearity.part_1(), sc.nonlinearity.part_3())
    ]]):format(path))
    lu.assertEquals({ status, out }, { 0, "nonlinearity.part_1{}\tnonlinearity.part_3{}\n" })
    lu.assertStrContains(err, path .. ": 'part_2' is left out: it is of kind 77, which this \z
      Scullery does not know")
    path = compiled(folder, "none", list_of{ "77", "78" })
    status, out, err = run(folder, ("sc.plugin.load(%q)"):format(path))
    lu.assertEquals({ status, out }, { 1, "" })
    lu.assertStrContains(err, "all of its 2 plugins are of kinds that this Scullery does not know")
    path = compiled(folder, "negative", list_of{ "SCL_KIND_NONLINEARITY", "-1" })
    status, out, err = run(folder, ("sc.plugin.load(%q)"):format(path))
    lu.assertEquals({ status, out }, { 1, "" })
    lu.assertStrContains(err, "'part_2' is of the unknown kind -1")
  end)
end

-- ------------ what is required

local function simple(members, table_members)
  return phi .. ([[
const scl_plugin scullery_plugin = {.name = "simple", .summary = "x", .doc = "x",
  SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = loop%s)%s};
]]):format(table_members or "", members or "")
end

function TestServicesThatAPluginNeeds()
  support.in_folder(function(folder)
    local use = "print(sc.nonlinearity.simple())"
    compiled(folder, "simple", simple ', .needed = SCL_SERVICE_PILOT " " SCL_SERVICE_PILOT')
    lu.assertEquals({ run(folder, use) }, { 0, "nonlinearity.simple{}\n", "" })
    compiled(folder, "simple", simple ', .needed = SCL_SERVICE_PILOT " org.example.moon/1"')
    local status, _, err = run(folder, use)
    lu.assertEquals(status, 1)
    lu.assertStrContains(err, 'it needs the service "org.example.moon/1", which this Scullery \z
      does not have')
  end)
end

function TestFlagsOfTheUpperBitsAreUnderstoodOrRefused()
  support.in_folder(function(folder)
    local use = "sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.simple(), T = 2 }\z
      :fit(sc.randn{ 5, 2, seed = 1 })"
    for _, one in ipairs{ { ", .flags = 0x8000" }, { "", ", .flags = 0x8000" } } do
      compiled(folder, "simple", simple(one[1], one[2]))
      lu.assertEquals({ run(folder, use) }, { 0, "", "" })
    end
    for of, one in pairs{ descriptor = { ", .flags = 0x10000" },
      shape = { "", ", .flags = 0x80000000u" } } do
      compiled(folder, "simple", simple(one[1], one[2]))
      local status, _, err = run(folder, use)
      lu.assertEquals(status, 1)
      lu.assertStrContains(err, ("the flags of its %s require what this Scullery does not know \z
        (0x%s)"):format(of, of == "shape" and "80000000" or "10000"))
    end
  end)
end

-- ------------ options

local function bent(options)
  return [[
typedef struct bent { scl_base base; double bend, old; } bent;
static const scl_option options[] = {]] .. options .. [[};
static void loop(const void *s, size_t n, const double *z, double *out) {
  for (size_t j = 0; j < n; j++) out[j] = tanh(((const bent *)s)->bend * z[j]);
}
const scl_plugin scullery_plugin = {.name = "bent", .summary = "x", .doc = "x",
  SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = loop), SCL_INSTANCE(bent, options)};
]]
end

local earlier = [[{"slope", "x", NULL, "1", SCL_FORM_NUMBER, SCL_AT(bent, bend)}]]
local later = [[SCL_NUMBER(bent, bend, "1", "x", SCL_POSITIVE, .former = "curve|slope")]]

local fitting = [[
  local X = sc.randn{ 60, 2, seed = 1 }
  local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, T = 20,
    phi = sc.nonlinearity.bent{ slope = 0.3 } }, sc.solver.ridge{ lambda = 1e-3 } }
]]

function TestARenamedOption()
  support.in_folder(function(folder)
    compiled(folder, "bent", bent(later))
    local status, out, err = run(folder, [[
      print(sc.nonlinearity.bent{ slope = 2 }, sc.nonlinearity.bent{ slope = 2 },
        sc.nonlinearity.bent{ curve = 3 }, sc.nonlinearity.bent{ bend = 4 })
      print(pcall(sc.nonlinearity.bent, { slope = 2, bend = 3 }))
      print(pcall(sc.nonlinearity.bent, { slop = 2 }))
      print(pcall(sc.nonlinearity.bent, { slope = -2 }))
      print(sc.nonlinearity.bent{ slope = sc.choose{ 1, 2 } })
    ]])
    lu.assertEquals(status, 0)
    lu.assertStrContains(out, "nonlinearity.bent{bend = 2}\tnonlinearity.bent{bend = 2}\t\z
      nonlinearity.bent{bend = 3}\tnonlinearity.bent{bend = 4}")
    lu.assertStrContains(out, "are names of one option, 'bend'")
    lu.assertStrContains(out, "unknown option 'slop'")
    lu.assertStrContains(out, "option 'bend' got -2")
    lu.assertStrContains(out, "nonlinearity.bent{bend = choose{1, 2}}")
    lu.assertEquals(err, "scullery: nonlinearity.bent: option 'slope' is now named 'bend'\n")
  end)
end

function TestAModelOfTheEarlierVersionLoads()
  support.in_folder(function(folder)
    compiled(folder, "bent", bent(earlier))
    local path = folder .. "/m.safetensors"
    local status, before, err = run(folder, fitting .. ([[
      p:fit(X, X:column(1))
      p:save(%q)
      print(p:decision(X):sum())
    ]]):format(path))
    lu.assertEquals({ status, err }, { 0, "" })
    compiled(folder, "bent", bent(later))
    local again, after, told = run(folder, ([[
      local p = sc.load(%q)
      print(p:decision(sc.randn{ 60, 2, seed = 1 }):sum())
      p:fit(sc.randn{ 60, 2, seed = 1 }, sc.randn{ 60, 1, seed = 2 })
    ]]):format(path))
    lu.assertEquals({ again, after, again == 0 and "" or told }, { 0, before, "" })
    lu.assertStrContains(told, "option 'slope' is now named 'bend'")
  end)
end

function TestAnOptionThatGoesAway()
  support.in_folder(function(folder)
    compiled(folder, "bent", bent(later
      .. [[, SCL_NUMBER(bent, old, "1", "x", SCL_POSITIVE, .deprecated = "bend does it")]]))
    local status, _, err = run(folder, "sc.nonlinearity.bent{ bend = 2 } \z
      sc.nonlinearity.bent{ old = 2 } sc.nonlinearity.bent{ old = 3 }")
    lu.assertEquals({ status, err }, { 0, "scullery: nonlinearity.bent: option 'old' goes away: \z
      bend does it\n" })
  end)
end

function TestWrongFormerNames()
  support.in_folder(function(folder)
    for former, words in pairs{
      ["a b"] = "was formerly named 'a b', which is not a name of an option",
      ["old"] = "was formerly named 'old', which is an option now" } do
      compiled(folder, "bent", bent(([[
        SCL_NUMBER(bent, bend, "1", "x", SCL_POSITIVE, .former = "%s"),
        SCL_NUMBER(bent, old, "1", "x", SCL_POSITIVE)]]):format(former)))
      local status, _, err = run(folder, "sc.nonlinearity.bent()")
      lu.assertEquals(status, 1)
      lu.assertStrContains(err, words)
    end
  end)
end

-- ------------ components of components

-- The composition of the author's guide.
local function composed()
  local page = support.read((os.getenv "SCULLERY_SOURCE" or ".") .. "/docs/plugins.md")
  return page:match "<!%-%- file: composed.c %-%->\n```c\n(.-)```"
end

function TestACompositionOfNonlinearities()
  support.in_folder(function(folder)
    support.write(folder .. "/composed.c", composed())
    sc.plugin.compile{ file = folder .. "/composed.c" }
    local make, n = sc.nonlinearity.composed, sc.nonlinearity
    local X = sc.randn{ 40, 3, seed = 1 }
    for _, dtype in ipairs{ "float64", "float32" } do
      local function features(nonlinearity)
        return sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, phi = nonlinearity, T = 30,
          seed = 1, dtype = dtype }:fit(X):transform(X)
      end
      local scale = math.sqrt(30)
      local want = (features(n.tanh()) * scale):map(function(z) return math.max(0, z) end)
      local got = features(make{ outer = n.relu(), inner = n.tanh() }) * scale
      lu.assertTrue((got - want):abs():max() < (dtype == "float64" and 1e-15 or 1e-6))
    end
    local inner = make{ outer = n.abs(), inner = n.tanh() }
    lu.assertStrContains(tostring(make{ outer = n.relu(), inner = inner }), "inner = ")
    support.fails({ "tanh makes 1 of 1 numbers, and maxout takes 2" }, make,
      { outer = n.maxout{ q = 2 }, inner = n.tanh() })
    support.fails({ "bins" }, make, { outer = n.relu(), inner = n.bins() })
  end)
end

os.exit(lu.LuaUnit.run(), true)

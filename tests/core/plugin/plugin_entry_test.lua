-- Objects with scullery_entry: init, a list made at run time, deinit. Ids of plugins, and
-- which plugins a model takes. Slots without a status that fail.
package.path = "tests/helpers/?.lua;" .. package.path
local lu, sc = require "luaunit", require "scullery"
local predictors, support = require "predictors", require "support"
local quote, fails = support.quote, support.fails

local object = (os.getenv("SCULLERY_BUILD") or "build") .. "/tests/plugins/entry.so"
local X = sc.randn{ 20, 3, seed = 1 }

-- What a process prints that loads the object, with that word, and what it says on its standard
-- error.
local function load(word, code)
  local status, out, err = support.shell(("SCULLERY_TEST_ENTRY=%s %s -e %s"):format(quote(word),
    quote(support.binary), quote(("local sc = require 'scullery' sc.plugin.load(%q) %s"):format(
      object, code or ""))))
  return out, err, status
end

-- ------------ the entry

TestEntry = {}

function TestEntry:test_init_then_the_list_then_deinit_at_the_end()
  local out, err = load("", [[print(sc.nonlinearity.doubled_here().name,
    sc.plugin.info("root_here").id)]])
  lu.assertEquals({ out, err },
    { "init of entry.so by scullery\ndoubled_here\torg.example.root\ndeinit\n", "" })
end

function TestEntry:test_loading_twice_is_one_init()
  local out = load("", ("sc.plugin.load(%q)"):format(object))
  lu.assertEquals(out, "init of entry.so by scullery\ndeinit\n")
end

function TestEntry:test_an_init_that_fails_refuses_the_file_and_has_no_deinit()
  local out, err, status = load("refuse")
  lu.assertEquals({ out, status }, { "init of entry.so by scullery\n", 1 })
  lu.assertStrContains(err, "entry.so: init failed: there is no device")
end

function TestEntry:test_an_object_that_is_refused_after_init_is_ended()
  local out, err = load("bad id")
  lu.assertEquals(out, "init of entry.so by scullery\ndeinit\n")
  lu.assertStrContains(err, "its id is 'no_domain'; an id is a domain backwards and a name, such \z
    as org.example.root_here")
end

function TestEntry:test_no_list()
  local out, err = load("empty")
  lu.assertEquals(out, "init of entry.so by scullery\ndeinit\n")
  lu.assertStrContains(err, "slot 'get' of its scullery_entry gave no list")
end

-- ------------ slots without a status

function TestASlotWithoutAStatusFails()
  local out, err = load("", [[
    local features = sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, T = 20, seed = 1,
      phi = sc.nonlinearity.root_here() }
    print(features:fit(sc.zeros(2, 3)):transform(sc.zeros(2, 3)):get(1, 1))
    features:transform(sc.ones(2, 3))]])
  lu.assertStrContains(out, "\n0.0\n")
  lu.assertStrContains(err, "nonlinearity.root_here: it takes no number below 0, and got -")
end

-- ------------ ids

-- A nonlinearity "branded" with that id, compiled and loaded; it takes the place of the last one.
local function branded(id)
  sc.plugin.compile{ source = ([[
    #include <scullery/plugin.h>
    SCL_LOOPS(3 * z)
    const scl_plugin scullery_plugin = { .name = "branded", .summary = "3 z", .doc = "3 z",
      %s SCL_NONLINEARITY(SCL_RIDGE_LOOPS) };]]):format(id and ('.id = "%s",'):format(id) or "") }
end

local function fit()
  return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, T = 4, seed = 1,
    phi = sc.nonlinearity.branded() }, sc.solver.ridge() }:fit(X, X:column(1):copy())
end

TestIds = {}

function TestIds:setUp() self.path = os.tmpname() end
function TestIds:tearDown() os.remove(self.path) end

function TestIds:test_a_model_takes_the_plugin_of_its_id_alone()
  branded "org.example.branded"
  local model = fit()
  model:save(self.path)
  lu.assertTrue(sc.load(self.path):predict(X) == model:predict(X))
  lu.assertStrContains(support.read(self.path), "org.example.branded")
  lu.assertStrContains(support.read(self.path), "org.scullery.ridge")
  for id, here in pairs{ ["com.other.branded"] = "com.other.branded", none = "no id" } do
    branded(id ~= "none" and id or nil)
    fails({ "it needs nonlinearity.branded with the id org.example.branded",
      "another plugin (" .. here .. ")" }, sc.load, self.path)
    fails({ "with the id org.example.branded", here }, predictors.load, self.path)
  end
end

function TestIds:test_models_without_an_id_load_as_before()
  branded()
  local model = fit()
  model:save(self.path)
  branded "org.example.branded"
  lu.assertTrue(sc.load(self.path):predict(X) == model:predict(X))
end

function TestIds:test_where_they_are_shown()
  lu.assertEquals(sc.plugin.info("solver.ridge").id, "org.scullery.ridge")
  lu.assertStrContains(require("scullery.help").plugin("solver", "ridge"), "(org.scullery.ridge)")
  for _, entry in ipairs(sc.plugin.list()) do
    if entry.kind == "solver" and entry.name == "ridge" then
      lu.assertEquals(entry.id, "org.scullery.ridge")
    end
  end
end

function TestIds:test_bad_ids()
  for _, id in ipairs{ "branded", "", ".a", "a.", "a..b", "A.b", "org.example.two words",
    "org." .. ("x"):rep(120) } do
    fails({ "its id is '" .. id:sub(1, 20) }, branded, id)
  end
end

os.exit(lu.LuaUnit.run())

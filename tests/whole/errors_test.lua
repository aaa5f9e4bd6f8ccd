-- Errors that help: whatever a script gets wrong is answered by one sentence that begins with the
-- script's own line, names what was called, and says no line, argument or frame of the library.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

package.path = "tests/helpers/?.lua;" .. package.path
local support = require "support"

local fails = support.fails

local ds = sc.data.load "wdbc"
local X = sc.randn{ 20, 3, seed = 1 }
local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 },
  K = sc.kernel.gaussian{ width = 2 }, phi = sc.nonlinearity.sign() }
local features = inst:features{ T = 8, seed = 1 }:fit(X)
local fitted = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = 1e-3 } }:fit(ds)
local found = sc.pipeline{ sc.solver.ridge{ lambda = sc.choose{ 1e-3, 1e-1 } } }:search(ds,
  { folds = 2 })

-- ------------ everything that can be called

-- One object of each class that scripts meet.
local samples = {
  dataset = ds, pipeline = fitted, component = sc.kernel.gaussian{ width = 1 },
  stage = sc.pca{ k = 2 }, features = features, instantiation = inst, choose = sc.choose{ 1, 2 },
  codes = sc.codes(sc.ones(4, 3)), space = sc.space.dense(), ["search table"] = found.table,
  confusion = sc.metrics.confusion({ 1 }, { 1 }),
  ["cross-validation"] = fitted:cv(ds, { folds = 2 }),
  ["paired comparison"] = sc.compare{ fitted, fitted, on = ds, folds = 2 },
}

local wrong_arguments = {
  {}, { 5 }, { "text" }, { {} }, { true }, { type }, { ds }, { X }, { { unknown = 1 } },
  { fitted, fitted }, { X, 5 }, { ds, 5 }, { ds, { unknown = 1 } }, { -1, -1 },
  { io.stdout }, { setmetatable({}, {}) },
}

-- What may not stand in a message.
local forbidden = { "bad argument", "attempt to", "bug in Scullery", "(not a name)",
  "share/lua/5%.4/scullery", "lua/scullery/", "%f[%w]nil value", "table: 0x", "function: 0x" }

local function check_message(name, message)
  message = tostring(message)
  local sentence = message:match("^[^:\n]*:%d+: (.*)$") or message
  for _, pattern in ipairs(forbidden) do
    lu.assertFalse(message:find(pattern) ~= nil, name .. ": " .. message)
  end
  lu.assertFalse(sentence:find("^[^\n:]*%.lua:%d+:") ~= nil, name .. ": " .. message)
  lu.assertTrue(#sentence > 10, name .. ": " .. message)
end

-- Calls that write, fetch, load or print are left out: what they do wrong has tests of its own.
local left_out = {}
for name in ([[search table:better, data.get, data.load, codes:save, search table:save,
  pipeline:save, features:save, dataset:save_schema, paired comparison:save]]):gmatch "[^,\n]+" do
  left_out[name:match("^%s*(.-)%s*$")] = true
end

-- Methods that the library calls by itself, with arguments that it has checked.
local internal = {}
for name in ([[pipeline:keep pipeline:training_options features:map choose:draw
  component:settled component:instance]]):gmatch "%S+" do internal[name] = true end

local function try(name, f, ...)
  if left_out[name] then return 0 end
  local ok, message = pcall(f, ...)
  if not ok then check_message(name, message) end
  return ok and 0 or 1
end

TestEverything = {}

function TestEverything:test_every_method_checks_its_self()
  local count = 0
  for kind, object in pairs(samples) do
    local class = getmetatable(object)
    for name, method in pairs(class.methods) do
      for _, given in ipairs{ {}, { 5 }, { {} }, { kind == "stage" and ds or sc.normalize() } } do
        local message = fails({ kind .. ":" .. name .. ": call it with a colon, as in "
          .. class.example .. ":" .. name .. "(...)" }, method, table.unpack(given))
        check_message(kind .. ":" .. name, message)
        count = count + 1
      end
    end
  end
  lu.assertTrue(count > 200, "the methods were not found")
end

function TestEverything:test_every_method_answers_wrong_arguments_with_a_sentence()
  local refused = 0
  for kind, object in pairs(samples) do
    for name, method in pairs(getmetatable(object).methods) do
      for _, given in ipairs(internal[kind .. ":" .. name] and {} or wrong_arguments) do
        refused = refused + try(kind .. ":" .. name, method, object, table.unpack(given))
      end
    end
  end
  lu.assertTrue(refused > 200, "hardly anything was refused: " .. refused)
end

function TestEverything:test_every_function_answers_wrong_arguments_with_a_sentence()
  local refused = 0
  local function all(title, module)
    for name, f in pairs(module) do
      if type(f) == "function" then
        for _, given in ipairs(wrong_arguments) do
          refused = refused + try(title .. name, f, table.unpack(given))
        end
      end
    end
  end
  all("", sc)
  for _, name in ipairs{ "metrics", "data", "codes", "choose", "matrix", "plugin" } do
    all(name .. ".", sc[name])
  end
  for _, kind in ipairs(core.plugin_kinds()) do
    all(kind .. ".", sc[kind])
  end
  lu.assertTrue(refused > 500, "hardly anything was refused: " .. refused)
end

function TestEverything:test_every_method_of_matrices_answers_with_a_sentence()
  for class, object in pairs{ matrix = X, sparse = sc.matrix.csr(X) } do
    for name, method in pairs(core[class .. "_methods"]) do
      if name ~= "save" and type(method) == "function" then
        local message = fails({ "matrix:" .. name .. ": call it with a colon" }, method, 5)
        check_message(name, message)
        for _, given in ipairs(wrong_arguments) do
          if name ~= "map" then
            try("matrix:" .. name, method, object:copy(), table.unpack(given))
          end
        end
      end
    end
  end
end

-- ------------ names

TestNames = {}

function TestNames:test_methods_fields_metrics_and_options_offer_the_nearest_name()
  fails({ "dataset: there is no method or field 'splt' (did you mean 'split'?)" }, function()
    return ds:splt{}
  end)
  fails({ "did you mean 'classes'" }, function() return ds.clases end)
  fails({ "did you mean 'predict'" }, function() return fitted:predit(ds) end)
  fails({ "did you mean 'solver'" }, function() return fitted.solvr end)
  fails({ "did you mean 'table'" }, function() return fitted.tabel end) -- neighbours swapped: one
  fails({ "did you mean 'gram'" }, function() return samples.component:gramm(X) end)
  fails({ "sc.metrics has no 'acuracy' (did you mean 'accuracy'?)" }, function()
    return sc.metrics.acuracy({ 1 }, { 1 })
  end)
  fails({ "sc.data has no 'lod' (did you mean 'load'?)" }, function() return sc.data.lod end)
  fails({ "did you mean 'column'" }, function() return X:colum(1) end)
  fails({ "sc has no 'pipelin' (did you mean 'pipeline'?)" }, function() return sc.pipelin end)
end

function TestNames:test_fields_that_nobody_reads_are_refused()
  local function set(object, name)
    return function() object[name] = 5 end
  end
  local p = fitted:clone()
  fails({ "'lambda'", "sc.solver.ridge{ lambda = ... }", "p:clone{ [\"solver.lambda\"] = ... }" },
    set(p.solver, "lambda"))
  fails({ "pipeline: there is no field 'lambda' to set", "p:clone" }, set(p, "lambda"))
  fails({ "'clases'", "did you mean 'classes'" }, set(ds, "clases"))
  fails({ "stage", "sc.pca{ kk = ... }" }, set(samples.stage, "kk"))
  fails({ "features", "p:clone{ [\"features.TT\"]" }, set(features, "TT"))
  lu.assertNil(rawget(p.solver, "lambda"))
  p.block = 64 -- an option that fit reads
  lu.assertEquals(p.block, 64)
end

function TestNames:test_absent_fields_are_nil()
  local p = fitted:clone()
  lu.assertNil(p.fitted)
  lu.assertNil(p.features)
  lu.assertNil(sc.dataset{ X = X }.y)
end

-- ------------ whose mistake it is

TestWhoseMistake = {}

local fault = require "scullery.base.fault"

-- What is said of the error that f(...) raises in Lua's words.
local function said(f, ...)
  local ok, message = pcall(f, ...)
  lu.assertFalse(ok)
  return fault.sentence((message:gsub("^[^\n]-:%d+: ", "")), "dataset:split", f, 0,
    table.pack(...))
end

function TestWhoseMistake:test_a_value_of_the_type_that_lua_blames_explains()
  local function index(given) return given.options.test end
  local function add(a, b) return a + b.of end
  for _, case in ipairs{ { index, 5 }, { index, { options = 5 } }, { add, "x", { of = 1 } },
    { add, 1, { of = {} } }, { function(text) return ("x"):rep(text) end, {} },
    { function(list) return #list.of end, { of = true } },
    { function(a) return a < 1 end, "x" }, { function(n) return n | 1 end, 1.5 },
    { function(n) for i = 1, n do lu.assertEquals(i, 1) end end, "x" },
    { function(list) for _ in pairs(list) do lu.fail "" end end,
      setmetatable({}, { __pairs = function() end }) } } do
    local message = said(table.unpack(case))
    lu.assertNotStrContains(message, "bug in Scullery")
    lu.assertNotStrContains(message, "attempt")
  end
  lu.assertEquals(said(index, 5),
    "it cannot take 5; help \"dataset:split\" says what it takes \z
      (SCULLERY_TRACEBACK=1 shows where it failed)")
end

function TestWhoseMistake:test_an_argument_that_is_missing_explains_nil_of_its_name()
  local function index(_, given) return given.test end
  lu.assertStrContains(said(index, ds), "it cannot take")
  lu.assertStrContains(said(index), "it cannot take nothing")
  lu.assertEquals(said(function(list) return next(list) end), "takes a table, and got nil")
end

function TestWhoseMistake:test_what_no_argument_explains_is_a_fault_of_ours()
  local inner, outer = nil, {}
  for _, case in ipairs{
    { function(given) return given and inner.x end, ds },
    { function(given) return given and outer.x.y end, { test = 0.5 } },
    { function(_) return inner.x end }, -- not the argument, whose name is another
    { function(given) return given + inner end, 5 },
    { function(given) return ("x"):rep(given and inner) end, 5 },
    { function(given) return outer.call(given) end, 5 },
    { function(given) return given and true < outer end, "x" } } do
    local message = said(table.unpack(case))
    lu.assertStrContains(message, "this is a bug in Scullery: ")
    lu.assertStrContains(message, "please report it (SCULLERY_TRACEBACK=1 shows where)")
  end
end

function TestWhoseMistake:test_help_that_does_not_exist_is_not_named()
  local function index(given) return given.x.y end
  local ok, message = pcall(index, 5)
  lu.assertFalse(ok)
  message = fault.sentence(message:gsub("^[^\n]-:%d+: ", "", 1), "component:settled", index, 0,
    table.pack(5))
  lu.assertStrContains(message, "it cannot take 5 (")
end

-- A sentence of ours is left alone.
function TestWhoseMistake:test_sentences_stay()
  lu.assertEquals(fault.sentence("takes a matrix", "x", print, 0, table.pack()), "takes a matrix")
  lu.assertEquals(fault.sentence("bad argument #1 to 'gram' (rows differ)", "x", print, 0,
    table.pack()), "rows differ")
end

-- ------------ places and frames

TestPlaces = {}

local function script(text)
  local path = support.free_path(".lua")
  support.write(path, text)
  local status, out, err = support.scullery(support.quote(path))
  os.remove(path)
  return status, out, err, path
end

function TestPlaces:test_a_message_begins_with_the_line_of_the_script()
  local code = [[
    local sc, ds, fitted = ...
    local cases = {
      function() local a = ds:split{ test = -1 } return a end,
      function() local a = fitted:score(3) return a end,
      function() local a = sc.metrics.f1({ 1 }, { 1, 2 }) return a end,
      function() local a = sc.solver.ridge{ lamda = 1 } return a end,
      function() local a = sc.features{ T = 0 } return a end,
      function() local a = ds.split{ test = 1 } return a end,
      function() local a = ds:splt{ test = 1 } return a end,
      function() fitted.solver.lambda = 5 end,
      function() local a = ds.X:get(0, 0) return a end,
    }
    return cases]]
  for i, f in ipairs(load(code, "=script.lua")(sc, ds, fitted)) do
    local _, message = pcall(f)
    lu.assertEquals(tostring(message):match("^script.lua:%d+: "), ("script.lua:%d: "):format(i + 2),
      message)
    check_message("case " .. i, (tostring(message):gsub("^script.lua:%d+: ", "")))
  end
end

function TestPlaces:test_an_error_of_the_scripts_own_function_stays_as_it_is()
  local f = load("return function() error('mine') end", "=script.lua")()
  local _, message = pcall(ds.filter, ds, f)
  lu.assertStrContains(message, "script.lua:1: mine")
  local object = setmetatable({}, { __tostring = function() return "an object" end })
  _, message = pcall(ds.filter, ds, function() error(object) end)
  lu.assertTrue(rawequal(message, object))
end

function TestPlaces:test_the_traceback_hides_the_librarys_frames()
  local text = [[
local sc = require "scullery"
local ds = sc.data.load "wdbc"
local function learn() sc.pipeline{ sc.solver.ridge{ lambda = sc.choose{ 1, 2 } } }:fit(ds) end
learn()
]]
  local status, _, err = script(text)
  lu.assertEquals(status, 1)
  lu.assertStrContains(err, ":3: pipeline:fit: an option is sc.choose{...}")
  lu.assertStrContains(err, "in local 'learn'")
  lu.assertNotStrContains(err, "scullery/model/pipeline.lua")
  lu.assertNotStrContains(err, "scullery/base/objects.lua")
  lu.assertNotStrContains(err, "[C]")
end

function TestPlaces:test_no_traceback_repeats_the_place_of_the_message()
  local _, _, err = script('local sc = require "scullery"\nsc.data.laod "wdbc"\n')
  lu.assertStrMatches(err, "scullery: [^\n]*:2: sc%.data has no 'laod' [^\n]*\n")
  _, _, err = script("local function f() error('mine', 2) end\nf()\n")
  lu.assertStrMatches(err, "scullery: [^\n]*:2: mine\nstack traceback:\n[^\n]*:1: in local 'f'\n\z
    [^\n]*:2: in main chunk\n")
end

function TestPlaces:test_scullery_traceback_shows_them()
  local path = support.write(support.free_path(".lua"), [[
local sc = require "scullery"
sc.data.load "wdbc":split{ test = -1 }
]])
  local _, _, err = support.shell("SCULLERY_TRACEBACK=1 " .. support.quote(support.binary) .. " "
    .. support.quote(path))
  os.remove(path)
  lu.assertStrContains(err, "scullery/data/parts.lua")
  lu.assertStrContains(err, "stack traceback")
end

function TestAConstructorInThePlaceOfAComponentIsNamed()
  local ok, message = pcall(sc.instantiation, { p = sc.sampler.landmarks(),
    phi = sc.kernel.gaussian })
  lu.assertFalse(ok)
  lu.assertStrContains(message, "the function sc.kernel.gaussian (write sc.kernel.gaussian{})")
end

os.exit(lu.LuaUnit.run(), true)

-- The doors from Lua into the engine hold, whatever a script does: lists that lie, objects that are
-- closed or collected while they are used, calls within calls, values of the wrong kind and shape.
package.path = "tests/?.lua;" .. package.path
local lu, sc, core = require "luaunit", require "scullery", require "scullery.core"
local support = require "support"
local fails = support.fails

local n, d = 60, 3
local X, y = sc.randn{ n, d, seed = 1 }, sc.randn{ n, 1, seed = 2 }
local huge = setmetatable({ 1, 2, 3 }, { __len = function() return 1 << 61 end })
-- Lua tells 2^40 as the length of this one.
local gaps = { 1 }
for k = 1, 40 do gaps[1 << k] = 1 end

local function ridge() return core.instance("solver", "ridge", { lambda = 1e-2 }) end
local function gaussian() return core.instance("sampler", "gaussian", {}) end
local function fourier() return core.instance("nonlinearity", "fourier", {}) end
local function new_map(T)
  return core.map{ sampler = gaussian(), phi = fourier(), dim = d, T = T or 8 }
end

-- A source whose row function calls `during` with the number of the read.
local function rows(during, targets)
  local reads = 0
  return core.generator(n, d, targets or 0, function(first, count)
    reads = reads + 1
    if during then during(reads) end
    local last = first + count - 1
    return X:slice(first, last), targets and y:slice(first, last) or nil
  end)
end

local function close(value) local _ <close> = value end

local function collect() for _ = 1, 3 do collectgarbage() end end

-- ---------------------------------------------------------------- lists

TestLists = {}

function TestLists.test_a_length_that_lies_is_refused()
  local source, map = core.source(X, y), new_map()
  local training <close> = core.training(source, {}, map, {})
  for _, list in ipairs{ huge, gaps } do
    for _, call in ipairs{
      function() core.source_columns(source, list) end,
      function() core.transform(source, list, map) end,
      function() core.map_select(map, list) end,
      function() core.solve(training, ridge(), list) end,
      function() core.solve(training, ridge(), 0, list) end,
      function() core.score(training, list) end,
      function() core.decisions_apart(training, { list }) end,
      function() core.training(source, {}, map, { folds = list }) end,
      function() core.training(source, list, map, {}) end,
      function() core.code_targets(y, list) end,
      function() core.labels_of(y, list) end,
      function() core.coded_source(source, list) end,
      function() core.platt_probabilities(y, list) end,
      function() core.nearest("x", list) end,
      function() core.option_rows(list) end,
      function() core.read_csv(list, {}) end,
      function() core.read_csv("x", { skip = list }) end,
      function() core.read_csv("x", { like = { format = "csv", columns = list } }) end,
      function() core.write_csv(X, list, os.tmpname()) end,
      function() core.model_load(ridge(), { arrays = { a = { dtype = "float64", shape = list,
        bytes = "" } }, features = 1, targets = 1 }) end,
      function() core.row_file(nil, { names = list }) end,
      function() sc.matrix(list) end,
      function() sc.matrix{ list } end,
      function() sc.matrix{ { 1 }, list } end,
      function() X:select(list) end,
      function() X[1] = list end,
    } do
      local message = fails({}, call)
      lu.assertNotStrContains(tostring(message), "attempt to")
    end
  end
end

function TestLists.test_options_are_read_by_raw_access()
  lu.assertErrorMsgContains("mean", sc.sampler.gaussian, { mean = gaps })
  -- a plain list inside, whatever its metatable says
  local mean = setmetatable({ 1, 2, 3 }, { __len = function() return 1 << 61 end })
  lu.assertEquals(core.settings(core.instance("sampler", "gaussian", { mean = mean })).mean,
    { 1, 2, 3 })
  local grows = setmetatable({}, { __index = function(given, key)
    for k = 1, 100 do rawset(given, "x" .. k, k) end
    return rawget(given, key)
  end, __pairs = function() error("pairs was asked") end })
  lu.assertNotNil(core.instance("sampler", "gaussian", grows))
  local choose = setmetatable({}, { __name = "choose", __index = function(given)
    rawset(given, "values", gaps)
    return huge
  end })
  for _ = 1, 3 do pcall(sc.features, { T = choose, seed = choose, dtype = choose }) end
end

function TestLists.test_a_list_that_changes_under_a_finalizer()
  for _, make in ipairs{
    function(list) return core.read_csv(list, {}) end,
    function(list) return sc.matrix(list) end,
    function(list) return core.nearest("x", list) end,
    function(list) return core.instance("kernel", "sum", { parts = list }) end,
    function(list) return core.json_encode(list) end,
  } do
    for _ = 1, 20 do
      local list = {}
      for i = 1, 50 do list[i] = "short" end
      for _ = 1, 20 do
        setmetatable({}, { __gc = function()
          for i = 1, 50 do list[i] = ("long"):rep(1000) .. i end
        end })
      end
      pcall(make, list)
    end
  end
  collect()
end

function TestLists.test_elements_of_the_wrong_type_are_told_by_their_place()
  local source, map = core.source(X, y), new_map()
  local training <close> = core.training(source, {}, map, {})
  fails({ "'columns' has a string at place 2", "numbers" }, core.source_columns, source, { 1, "2" })
  fails({ "'columns' has 9 at place 1", "from 1 to 3" }, core.source_columns, source, { 9 })
  fails({ "takes a scullery.stage, and got a number" }, core.transform, source, { 1 }, map)
  fails({ "takes a scullery.stage, and got a scullery.map" }, core.transform, source, { map })
  fails({ "'values' has a boolean at place 1" }, core.solve, training, ridge(), 0, { true })
  fails({ "'candidates of a fold' got a list without an element at place 2" }, core.score, training,
    { { {}, nil, {}, {} } })
  fails({ "'candidates of a fold' has a number at place 1" }, core.score, training, { { 1 } })
  fails({ "'folds' got a userdata; it takes a list" }, core.training, source, {}, map,
    { folds = sc.ones(n, 1) })
  fails({ "3 fold numbers for 60 rows" }, core.training, source, {}, map, { folds = { 1, 1, 1 } })
end

os.exit(lu.LuaUnit.run())

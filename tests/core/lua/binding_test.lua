-- The doors from Lua into the engine hold, whatever a script does: lists that lie, objects that are
-- closed or collected while they are used, calls within calls, values of the wrong kind and shape.
package.path = "tests/helpers/?.lua;" .. package.path
local lu, sc, core = require "luaunit", require "scullery", require "scullery.core"
local support = require "support"
local component = require "scullery.compose.component"
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
local function standardized(rows_of)
  return (core.fit_stage(core.instance("stage", "standardize", {}), core.source(rows_of), {}))
end
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

-- ------------ lists

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
      function() core.predict(y, { task = "classification", classes = list }, "labels") end,
      function() core.coded_source(source, list) end,
      function() core.predict(y, {}, "probabilities", list) end,
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

function TestLists.test_options_of_matrices_run_no_metamethod()
  local given = setmetatable({}, { __index = function() error "asked" end })
  lu.assertEquals(sc.ones(1, 2, given):rows(), 1)
  lu.assertEquals(sc.eye(2, given):rows(), 2)
  lu.assertEquals(sc.rand(setmetatable({ 2, 3 }, getmetatable(given))):rows(), 2)
end

function TestLists.test_lists_of_which_a_length_is_no_matter()
  local function lies(list) return setmetatable(list, getmetatable(huge)) end
  local stages = { sc.standardize(), sc.solver.ridge() }
  lu.assertNotNil(sc.pipeline(lies(stages)))
  for k = 3, 40 do stages[1 << k] = sc.standardize() end
  fails({ "stage 3 is nil" }, sc.pipeline, stages)
  lu.assertEquals(sc.metrics.log_loss(sc.matrix{ { 0.5, 0.25, 0.25 } }, { 1 },
    { classes = lies{ 1, 2, 3 } }), math.log(2))
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

-- ------------ closing and collecting

TestUses = {}

function TestUses.test_what_a_call_uses_is_closed_in_its_row_function()
  local map, weights, intercept = new_map(), sc.zeros(8, 1), sc.zeros(1, 1)
  local stage = standardized(X)
  local function predict(one)
    return core.predict(one.columns, { stages = { one.stage }, map = one.map, block = 7,
      weights = one.weights, intercept = one.intercept }, "scores")
  end
  for _, victim in ipairs{ "map", "source", "columns", "stage", "weights", "intercept" } do
    local one = { map = new_map(), stage = standardized(X),
      weights = sc.zeros(8, 1), intercept = sc.ones(1, 1) }
    one.source = rows(function() close(one[victim]) collect() end)
    one.columns = core.source_columns(one.source, { 3, 2, 1 })
    local out = predict(one)
    lu.assertEquals(out:rows(), n)
    lu.assertEquals(out:get(n, 1), 1)
    -- the call has ended: the object is gone, but for a source that another reads from
    if victim ~= "source" then
      fails({ "released" }, predict, one)
    end
  end
  lu.assertNotNil(predict{ columns = rows(), stage = stage, map = map,
    weights = weights, intercept = intercept })
end

function TestUses.test_what_is_closed_is_told()
  local map, source = new_map(), core.source(X)
  close(map)
  close(map)
  lu.assertEquals(tostring(map), "scullery.map (released)")
  fails({ "this scullery.map was released" }, core.map_info, map)
  fails({ "this scullery.map was released" }, core.transform, source, {}, map)
  local columns = core.source_columns(source, { 1 })
  close(source)
  lu.assertEquals(core.transform(columns, {}, nil):cols(), 1) -- it holds what it reads from
end

function TestUses.test_arguments_live_in_fields_that_a_call_empties()
  local fit
  fit = { map = new_map(), stages = { standardized(X) },
    weights = sc.zeros(8, 1), intercept = sc.zeros(1, 1) }
  local source = rows(function()
    fit.stages[1], fit.map, fit.weights, fit.intercept = nil, nil, nil, nil
    collect()
  end)
  fit.block = 7
  lu.assertEquals(core.predict(source, fit, "scores"):rows(), n)
end

function TestUses.test_a_training_holds_what_it_walks()
  local source, map = rows(nil, 1), new_map()
  local stages = { standardized(X) }
  local training = core.training(source, stages, map, {})
  for _, one in ipairs{ source, stages[1], map } do close(one) end
  source, stages, map = nil, nil, nil -- luacheck: ignore 311
  collect()
  lu.assertEquals(core.solve(training, ridge())[1].weights:rows(), 8)
  close(training)
end

function TestUses.test_a_training_is_used_by_one_call_at_a_time()
  local training
  local messages = {}
  local source = rows(function()
    for _, call in ipairs{
      function() core.solve(training, ridge()) end,
      function() core.score(training, { { { weights = sc.zeros(8, 1),
        intercept = sc.zeros(1, 1) } } }) end,
      coroutine.wrap(function() core.solve(training, ridge()) end),
    } do messages[#messages + 1] = select(2, pcall(call)) end
    close(training)
  end, 1)
  training = core.training(source, {}, new_map(), { block = 20 })
  lu.assertEquals(core.solve(training, ridge())[1].weights:rows(), 8)
  lu.assertStrContains(messages[1], "this scullery.training is in use by a call that is still")
  lu.assertStrContains(messages[2], "in use")
  lu.assertStrContains(messages[3], "in use")
  fails({ "was released" }, core.solve, training, ridge())
end

function TestUses.test_a_map_that_learns_is_used_by_nobody_else()
  local map = core.map{ sampler = core.instance("sampler", "grid", {}),
    phi = core.instance("nonlinearity", "bins", {}), dim = d, T = 3 }
  local message
  core.learn(rows(function()
    local ok, text = pcall(core.transform, core.source(X), {}, map)
    message = not ok and text
    close(map)
  end), {}, map)
  lu.assertStrContains(message, "in use by a call that is still running")
  fails({ "was released" }, core.map_info, map)
end

function TestUses.test_finalizers_in_any_order()
  for _, script in ipairs{
    -- walks what may have been finalized before
    [[local s = core.source(X); local c = core.source_columns(s, {1}); local t = core.training(
      core.source(X, y), {}, map, {})
    keep = setmetatable({}, { __gc = function()
      for _, f in ipairs{ function() core.transform(c, {}, nil) end,
        function() core.transform(g, {}, map) end, function() core.solve(t, ridge) end,
        function() core.transform(s, { stage }, map) end, function() return tostring(map) end,
        function() return X:sum() end } do pcall(f) end
    end })]],
    -- closes a map that is in use
    [[local rows = core.generator(60, 3, 0, function(first, count)
      setmetatable({}, { __gc = function() local _ <close> = map end })
      setmetatable({}, { __gc = function() pcall(core.transform, g, {}, map) end })
      collectgarbage()
      return X:slice(first, first + count - 1)
    end)
    pcall(core.transform, rows, {}, map, 7)]],
    -- a dead generator, walked by what holds it
    [[local c = core.source_columns(g, {1, 2}); g = nil; collectgarbage()
    print(pcall(core.transform, c, {}, nil))
    keep = setmetatable({}, { __gc = function() pcall(core.transform, c, {}, nil) end })]],
    -- a call that never ends
    [[core.transform(core.generator(60, 3, 0, function() os.exit(0, true) end), {}, map)]],
    -- from __close and on the way of an error
    [[local guard = setmetatable({}, { __close = function() pcall(core.transform, g, {}, map) end })
    pcall(function() local _ <close> = guard; local _ <close> = map; error("x") end)]],
  } do
    -- Lua finalizes nothing that finalizers make while it closes: those are no leaks
    local status, _, err = support.shell("ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 "
      .. support.quote(support.binary) .. " -e "
      .. support.quote([[local core = require "scullery.core"
      local X, y = core.randn{60, 3}, core.ones(60, 1)
      g = core.generator(60, 3, 0, function(first, count)
        return X:slice(first, first + count - 1) end)
      map = core.map{ sampler = core.instance("sampler", "gaussian", {}),
        phi = core.instance("nonlinearity", "fourier", {}), dim = 3, T = 8 }
      stage = core.fit_stage(core.instance("stage", "standardize", {}), core.source(X), {})
      ridge = core.instance("solver", "ridge", {})
      ]] .. script))
    lu.assertEquals(status, 0, script .. "\n" .. err)
  end
end

function TestUses.test_blocks_are_closed_while_they_are_read()
  local path = support.write(nil, "a,b\n1,2\n3,4\n")
  local schema = core.read_csv(path, {}).schema
  local blocks = core.csv_blocks(path, { like = schema }, "a")
  for _ = 1, 50 do setmetatable({}, { __gc = function() close(blocks) end }) end
  local ok, message = pcall(function()
    while core.next_rows(blocks, true) do collectgarbage("step", 1000) end
  end)
  lu.assertTrue(ok or message:find("was released", 1, true) ~= nil, message)
  fails({ "no column of ids" }, core.next_rows, core.csv_blocks(path, { like = schema }), true)
  os.remove(path)
end

-- ------------ calls within calls

TestWithin = {}

function TestWithin.test_a_walk_within_a_walk_in_a_coroutine_that_dies()
  local map, inner = new_map(), nil
  local source
  source = rows(function(reads)
    if reads > 8 then return end
    for _, ending in ipairs{ "return", "error", "suspend" } do
      local co = coroutine.create(function()
        inner = core.transform(source, {}, map, 5)
        if ending == "error" then error("x") end
        if ending == "suspend" then coroutine.yield() end
      end)
      coroutine.resume(co)
    end
    collect()
  end)
  local outer = core.transform(source, {}, map, 20)
  lu.assertEquals(outer, core.transform(core.source(X), {}, map))
  lu.assertEquals(inner, outer)
end

function TestWithin.test_predict_within_predict_of_the_same_data()
  local p, ds, depth = nil, nil, 0
  ds = sc.data.rows{ n = n, d = d, read = function(first, count)
    if p and depth < 3 then
      depth = depth + 1
      local other = coroutine.wrap(function() return p:predict(ds) end)
      lu.assertEquals(other():rows(), n)
      collect()
    end
    local last = first + count - 1
    return X:slice(first, last), y:slice(first, last)
  end }
  local made = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian(),
    phi = sc.nonlinearity.fourier(), T = 8 }, sc.solver.ridge{ lambda = 1e-2 } }:fit(ds)
  local plain = made:predict(X)
  p = made
  lu.assertTrue((made:predict(ds) - plain):abs():max() < 1e-12)
  lu.assertEquals(depth, 3)
end

function TestWithin.test_endless_recursion_is_an_error()
  local source
  source = rows(function() core.transform(source, {}, nil) end)
  fails({ "row function failed" }, core.transform, source, {}, nil)
  local function sink()
    return coroutine.wrap(function() core.transform(source, {}, nil) end)()
  end
  source = rows(sink)
  fails({ "row function failed" }, core.transform, source, {}, nil)
  lu.assertEquals(core.transform(rows(), {}, nil), X)
end

function TestWithin.test_row_functions_that_yield()
  local source = rows(coroutine.yield)
  local co = coroutine.create(function() return core.transform(source, {}, nil) end)
  local ok, message = coroutine.resume(co)
  lu.assertFalse(ok)
  lu.assertStrContains(message, "yield")
  lu.assertEquals(core.transform(rows(), {}, nil), X)
end

function TestWithin.test_sources_of_sources_have_a_limit()
  local source = core.source(X)
  fails({ "objects within objects" }, function()
    for _ = 1, 100000 do source = core.source_columns(source, { 1, 2, 3 }) end
  end)
  lu.assertEquals(core.transform(source, {}, nil), X)
end

-- coroutine.resume leaves what an error ended as it is: nobody closes its variables.
local function die_in_a_call(...)
  local co = coroutine.create(core.solve)
  lu.assertFalse((coroutine.resume(co, ...)))
  return co
end

function TestWithin.test_an_error_in_a_coroutine_ends_its_call()
  local training = core.training(core.source(X, y), {}, new_map(), {})
  for _ = 1, 300 do
    die_in_a_call(training, "no solver", 0)
    collectgarbage("step")
  end
  lu.assertNotNil(core.solve(training, ridge(), 0))
  collect()
  lu.assertNotNil(core.solve(training, ridge(), 0))
end

function TestWithin.test_a_call_that_ended_by_an_error_ends_no_other()
  local training = core.training(core.source(X, y), {}, new_map(), {})
  local before = die_in_a_call(training, "no solver", 0)
  local map, source = new_map()
  source = rows(function(read)
    if read > 1 then return end
    local other = core.training(core.source(X, y), {}, new_map(), {})
    die_in_a_call(other, "no solver", 0)
    coroutine.close(before)
    close(map)
    close(source)
    collect()
  end)
  lu.assertEquals(core.transform(source, {}, map):rows(), n)
end

function TestWithin.test_progress_watched_from_a_coroutine_that_is_gone()
  local calls = 0
  coroutine.wrap(function() core.watch(function() calls = calls + 1 end) end)()
  collect()
  local training <close> = core.training(core.source(X, y), {}, new_map(), {})
  core.solve(training, ridge())
  core.unwatch()
  core.watch(function()
    core.unwatch()
    error("x")
  end)
  pcall(core.solve, training, ridge())
  core.unwatch()
  lu.assertTrue(calls > 0)
  lu.assertNotNil(core.solve(training, ridge()))
end

-- ------------ components within components

TestNesting = {}

local limit = "components within components may be 32 deep and 1000 in all"

function TestNesting.test_depth_has_a_limit()
  local kernel, waiting = sc.kernel.gaussian(), sc.kernel.gaussian{ width = "median" }
  for _ = 1, 31 do
    kernel = sc.kernel.sum{ terms = { kernel } }
    waiting = sc.kernel.sum{ terms = { waiting } }
  end
  lu.assertEquals(kernel:gram(X), sc.kernel.gaussian():gram(X))
  lu.assertEquals(waiting:gram(X), sc.kernel.gaussian{ width = "median" }:gram(X))
  fails({ limit }, sc.kernel.sum, { terms = { kernel } })
  fails({ limit }, sc.kernel.sum, { terms = { waiting } })
  fails({ limit }, sc.kernel.sum, { terms = { sc.kernel.linear(), kernel } })
  fails({ limit }, sc.kernel.sum, { terms = sc.choose{ { kernel } } })
end

function TestNesting.test_depth_has_a_limit_in_the_engine()
  fails({ limit }, function()
    local kernel = core.instance("kernel", "gaussian", {})
    for _ = 1, 20000 do kernel = core.instance("kernel", "sum", { terms = { kernel } }) end
  end)
end

function TestNesting.test_number_has_a_limit()
  fails({ limit }, function()
    local kernel = core.instance("kernel", "gaussian", {})
    for _ = 1, 31 do kernel = core.instance("kernel", "sum", { terms = { kernel, kernel } }) end
  end)
  fails({ limit }, function()
    local kernel = sc.kernel.gaussian()
    for _ = 1, 31 do kernel = sc.kernel.sum{ terms = { kernel, kernel } } end
  end)
end

function TestNesting.test_a_component_within_itself()
  local kernel = sc.kernel.sum{ terms = { sc.kernel.gaussian() } }
  kernel.given.terms[1] = kernel
  for _, call in ipairs{ function() return tostring(kernel) end,
    function() return kernel:label(true) end, function() return component.searched(kernel) end,
    function() return sc.kernel.sum{ terms = { kernel } } end,
    function() return kernel:gram(X) end, function() return component.resolved(kernel, {}) end } do
    pcall(call) -- an error or an answer
  end
end

-- ------------ kinds

TestKinds = {}

function TestKinds.test_an_instance_of_another_kind_is_told()
  local one = { sampler = gaussian(), nonlinearity = fourier(), solver = ridge(),
    kernel = core.instance("kernel", "gaussian", {}) }
  local source, map = core.source(X, y), new_map()
  local training <close> = core.training(source, {}, map, {})
  local weighting = core.map{ sampler = one.sampler, phi = one.nonlinearity, kernel = one.kernel,
    dim = d, T = 8 }
  local pruning = core.pruning(weighting, sc.ones(8, 1))
  local doors = {
    { "sampler", function(i) core.map{ sampler = i, phi = one.nonlinearity, dim = d, T = 2 } end },
    { "kernel", function(i) core.map{ sampler = one.sampler, phi = one.nonlinearity, kernel = i,
      dim = d, T = 2 } end },
    { "sampler", function(i) core.space(i) end },
    { "sampler", function(i) core.space(i, 3) end },
    { "sampler", function(i) core.layout(i, 3) end },
    { "sampler", function(i) core.law(i, 3) end },
    { "sampler", function(i) core.learns(i) end },
    { "sampler", function(i) core.learn_state(source, {}, i, nil, 2, 0) end },
    { "kernel", function(i) core.learn_state(source, {}, one.sampler, i, 2, 0) end },
    { "kernel", function(i) core.gram(i, X) end },
    { "kernel", function(i) core.kernel_spaces(i) end },
    { "nonlinearity", function(i) core.shape(i) end },
    { "nonlinearity", function(i) core.facts(i) end },
    { "nonlinearity", function(i) core.two_valued(i) end },
    { "solver", function(i) core.solve(training, i) end },
    { "solver", function(i) core.objective(training, i, sc.ones(8, 1)) end },
    { "solver", function(i) core.prune_step(pruning, i) end },
    { "solver", function(i) core.loss(i, 1) end },
    { "solver", function(i) core.own_probabilities(i, y) end },
    { "solver", function(i) core.solver_facts(i) end },
    { "solver", function(i) core.model_load(i, { arrays = {}, features = 1, targets = 1 }) end },
  }
  for place, door in ipairs(doors) do
    for kind, instance in pairs(one) do
      if kind ~= door[1] then
        local message = fails({ ("a %s is wanted"):format(door[1]), kind .. "." }, door[2],
          instance)
        lu.assertNotStrContains(message, "bad argument", place)
      end
    end
    for _, other in ipairs{ source, map, training, 1, X, {}, io.stdout, print } do
      fails({ "scullery.instance" }, door[2], other)
    end
  end
  fails({ "a nonlinearity is wanted, and solver.ridge is none" }, core.map, { sampler = one.sampler,
    phi = one.solver, dim = d, T = 2 })
end

os.exit(lu.LuaUnit.run(), true)

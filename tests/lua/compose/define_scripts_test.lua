-- Components written in Lua, where they fail and where they live: errors, interrupts, threads, new
-- definitions, help, saved models, experiments in several processes. define_test.lua has their
-- numbers.
-- luacheck: globals TestErrors TestThreads TestLives TestTexts TestFiles
-- luacheck: ignore 212/self
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local support = dofile("tests/helpers/support.lua")
local fails, quote = support.fails, support.quote

local X = sc.randn{ 60, 4, seed = 1 }
local y = (X * sc.matrix{ 1, -2, 0.5, 0 }):map(function(v) return math.sin(v) end)
local ds = sc.dataset{ X = X, y = y }

local names = 0
-- A name that nothing has yet.
local function fresh()
  names = names + 1
  return "defined_" .. names
end

local function gap(a, b) return (a - b):abs():max() end

local function features(phi, given)
  local all = { p = sc.sampler.gaussian{ sigma = 0.7 }, phi = phi, T = 24, seed = 3 }
  for name, value in pairs(given or {}) do all[name] = value end
  return sc.features(all)
end

local function with(solver)
  return sc.pipeline{ features(sc.nonlinearity.relu()), solver }
end

local rectifier = sc.nonlinearity.define{ name = "lua_relu",
  eval = function(z) return z > 0 and z or 0 end }

-- ------------ errors

TestErrors = {}

local function phi_of(eval) return sc.nonlinearity.define{ name = fresh(), eval = eval } end
local function transform(phi) return features(phi()):fit(X):transform(X) end

function TestErrors:test_definitions()
  local nothing = function() end
  local define = sc.nonlinearity.define
  fails({ "nonlinearity.define", "'name' is missing" }, define, {})
  fails({ "needs the field 'eval'" }, define, { name = "a" })
  fails({ "unknown option 'evl'", "did you mean 'eval'" }, define, { name = "a", evl = nothing })
  fails({ "'eval' got 3", "a function" }, define, { name = "a", eval = 3 })
  fails({ "'relu' already, built in" }, define, { name = "relu", eval = nothing })
  fails({ "named 'Bad'" }, define, { name = "Bad", eval = nothing })
  fails({ "cannot be named 'define'" }, define, { name = "define", eval = nothing })
  fails({ "option 'a'", "did you mean 'high'" }, define, { name = "a", eval = nothing,
    options = { a = { hgh = 1 } } })
  fails({ "option 'a'", "its own default \"3\"" }, define, { name = "a", eval = nothing,
    options = { a = { default = 3, high = 2 } } })
  fails({ "options have names" }, define, { name = "a", eval = nothing, options = { 1 } })
  fails({ "names are 1 to 40" }, define, { name = "a", eval = nothing, options = { ["end"] = 1 } })
  fails({ "low = a" }, define, { name = "a", eval = nothing, two_valued = {} })
  fails({ "'make' or 'draw'" }, sc.sampler.define, { name = "a" })
  fails({ "and got both" }, sc.sampler.define, { name = "a", make = nothing, draw = nothing })
  fails({ "'learn' does not go with 'make'" }, sc.sampler.define, { name = "a", make = nothing,
    learn = nothing })
  fails({ "'degree'" }, sc.sampler.define, { name = "a", draw = nothing, space = "sparse" })
  fails({ "'eval' or 'pair'" }, sc.kernel.define, { name = "a", finish = nothing })
  fails({ "its 'slope' is nil" }, sc.solver.define, { name = "a", solve = nothing,
    loss = { value = nothing } })
  fails({ "table" }, define, 3)
  lu.assertFalse(pcall(function() return sc.nonlinearity.a end)) -- nothing was entered
end

function TestErrors:test_errors_have_the_scripts_line()
  local line = debug.getinfo(1, "l").currentline + 1
  local bad = phi_of(function(z) return z.x end)
  fails({ "features:transform: nonlinearity.", "eval: ",
    ("define_scripts_test.lua:%d: "):format(line), "attempt to index a number" }, transform, bad)
  local odd = phi_of(function() error({}) end)
  fails({ "eval: (error object is a table value)" }, transform, odd)
  local shown = phi_of(function() error(setmetatable({}, { __tostring = error })) end)
  fails({ "eval: " }, transform, shown)
end

function TestErrors:test_results_that_are_none()
  fails({ "eval: the function at ", "define_scripts_test.lua:",
    "returned nil, where a number belongs" }, transform, phi_of(function() end))
  fails({ 'returned "1", where a number belongs' }, transform, phi_of(function() return "1" end))
  fails({ "returned 2 values, where one value belongs" }, transform,
    phi_of(function() return 1, 2 end))
  fails({ "is NaN", "made it so" }, transform, phi_of(function() return 0 / 0 end))
  fails({ "is NaN or too large" }, transform, phi_of(function() return math.huge end))
  fails({ "made it so" }, transform, phi_of(function() return -1e400 end))
  local fan = sc.nonlinearity.define{ name = fresh(), eval = function() return 1 end,
    fan_in = 0.5 }
  fails({ "'fan_in' is 0.5" }, fan)
  local breaks = sc.nonlinearity.define{ name = fresh(), eval = function() return 1 end,
    breaks = { 1, 0 } }
  fails({ "'breaks' are not ascending" }, breaks)
  local bound = sc.nonlinearity.define{ name = fresh(), eval = function() return 1 end,
    bound = function() return "high" end }
  fails({ "returned \"high\", where a number ('bound') belongs" }, bound)
end

-- Slots that cannot fail in C: the call that they belong to fails.
function TestErrors:test_slots_without_a_status()
  local finish = sc.kernel.define{ name = fresh(), pair = "dot",
    finish = function(n) return n.x end }
  fails({ "finish: ", "define_scripts_test.lua:", "index a number" }, function()
    finish():gram(X)
  end)
  local broken = sc.kernel.define{ name = fresh(), pair = "dot", move = function() end }
  fails({ "move: ", "returned nil" }, function() broken():gram(X) end)
  local dual = sc.nonlinearity.define{ name = fresh(), eval = function() return 1 end,
    dual = function(m) return m.nothing.x end }
  fails({ "dual: ", "define_scripts_test.lua:" }, function()
    sc.instantiation{ p = sc.sampler.gaussian{ sigma = 1 }, phi = dual() }:kernel(X)
  end)
  -- what follows is not disturbed
  lu.assertEquals(sc.kernel.gaussian{ width = 1 }:gram(X):rows(), 60)
  lu.assertEquals(transform(rectifier):rows(), 60)
end

function TestErrors:test_options_that_contradict_each_other()
  local made = sc.kernel.define{ name = fresh(), pair = "dot", options = { low = 0, high = 1 },
    check = function(o) if o.low > o.high then error("low is above high", 0) end end }
  lu.assertNotNil(made())
  fails({ "check: low is above high" }, made, { low = 2 })
  fails({ "unknown option 'lo'", "'low'" }, made, { lo = 2 })
end

function TestErrors:test_samplers()
  local function sampled(draw, more)
    local given = { name = fresh(), draw = draw }
    for name, value in pairs(more or {}) do given[name] = value end
    return pcall(function()
      local p = sc.sampler.define(given)()
      return features(sc.nonlinearity.relu(), { p = p }):fit(X):transform(X)
    end)
  end
  local function refuses(words, ...)
    local ok, message = sampled(...)
    lu.assertFalse(ok)
    lu.assertStrContains(message, words)
  end
  refuses("a list of 3 numbers, where 4 belong", function() return { 1, 2, 3 } end)
  refuses("its number 2 is true", function() return { 1, true, 3, 4 } end)
  refuses("returned 7, where", function() return 7 end)
  refuses("not finite", function() return { 1, 2, 0 / 0, 4 } end)
  refuses("column", function() return 5, 1 end, { space = "threshold" })
  refuses("a column and a number", function() return 1 end, { space = "threshold" })
  refuses("not ascending", function() return { 2, 1 }, { 1, 1 } end,
    { space = "sparse", degree = 2 })
  refuses("'degree' says 1 at most", function() return { 1, 2 }, { 1, 1 } end,
    { space = "sparse", degree = 1 })
  refuses("'degree' is 0", function() return { 1 }, { 1 } end, { space = "sparse", degree = 0 })
end

function TestErrors:test_solvers()
  local function refuses(words, result)
    local solver = sc.solver.define{ name = fresh(), solve = function() return result end }
    fails({ words }, function() with(solver()):fit(ds) end)
  end
  local zeros = sc.zeros(24, 1)
  refuses("returned nil, where a table", nil)
  refuses("outcome = nil; it is \"converged\"", { coefficients = zeros })
  refuses("outcome = \"done\"", { coefficients = zeros, outcome = "done" })
  refuses("is a 3 x 1 matrix, where", { coefficients = sc.zeros(3, 1), outcome = "stopped" })
  refuses("a list of 2 numbers, where 24 belong", { coefficients = { 1, 2 }, outcome = "stopped" })
  refuses("iterations = 0.5", { coefficients = zeros, outcome = "stopped", iterations = 0.5 })
  refuses("'gap' = \"no\"", { coefficients = zeros, outcome = "stopped", gap = "no" })
  refuses("not finite", { coefficients = zeros + math.huge, outcome = "stopped" })
  refuses("above its tolerance", { coefficients = zeros, outcome = "converged", residual = 1,
    tolerance = 0.1 })
end

function TestErrors:test_memory_that_runs_out()
  local hungry = phi_of(function() return #("x"):rep(1 << 40) end)
  fails({ "eval: " }, transform, hungry)
  local before = core.memory()
  for _ = 1, 20 do pcall(transform, hungry) end
  collectgarbage()
  collectgarbage()
  lu.assertTrue(core.memory() <= before + 1e6)
end

-- Wherever the engine runs out of memory: an error, and the next try is not disturbed.
function TestErrors:test_every_allocation_may_fail()
  local name, done, count = fresh(), false, 0
  local small = sc.randn{ 5, 2, seed = 1 }
  while not done and count < 3000 do
    core.fail_allocation_after(count)
    local ok, message = pcall(function()
      local phi = sc.nonlinearity.define{ name = name, options = { a = { default = 1, low = 0 } },
        eval = function(z, o) return o.a * z end, breaks = { 0 }, lipschitz = 1 }
      return features(phi{ a = 2 }, { T = 3 }):fit(small):transform(small):rows()
    end)
    core.fail_allocation_after(-1)
    if not ok then lu.assertStrContains(message, "not enough memory") end
    done, count = ok, count + 1
  end
  lu.assertTrue(done and count > 20)
end

function TestErrors:test_coroutines()
  fails({ "attempt to yield" }, transform, phi_of(function() coroutine.yield() return 1 end))
  local made = coroutine.wrap(function()
    coroutine.yield(1)
    return transform(rectifier)
  end)
  lu.assertEquals(made(), 1)
  lu.assertTrue(made() == transform(rectifier))
  local within = phi_of(function(z)
    return coroutine.wrap(function() coroutine.yield(z) end)()
  end)
  lu.assertTrue(transform(within) == features(sc.nonlinearity.identity()):fit(X):transform(X))
end

function TestErrors:test_work_within_a_function()
  local small = sc.matrix{ { 1, 2, 3, 4 } }
  local nested = phi_of(function(z)
    return z + features(sc.nonlinearity.relu(), { T = 2 }):fit(X):transform(small):sum() * 0
  end)
  lu.assertTrue(transform(nested) == features(sc.nonlinearity.identity()):fit(X):transform(X))
  local itself
  itself = phi_of(function() return transform(itself):sum() end)
  fails({ "calls it again, 5 deep" }, transform, itself)
  -- a training is one call's: another on it meanwhile is refused
  lu.assertEquals(transform(rectifier):rows(), 60)
end

function TestErrors:test_interrupts()
  lu.skipIf((os.getenv "SCULLERY_SANITIZE" or ""):find("thread", 1, true),
    "the thread sanitizer keeps signals back until the program calls the system")
  local definition = [[
local slow = sc.nonlinearity.define{ name = "slow", eval = function(z) %s return z end }
local k = sc.kernel.define{ name = "slow", pair = "dot", finish = function(n) %s return n end }
local X = sc.randn{ 4000, 4 }
os.execute("(sleep 0.5; kill -INT $PPID) >/dev/null 2>&1 &")
]]
  local loop = "while true do end"
  local work = "local s = 0 for i = 1, 1e4 do s = s + i end"
  local use = "sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, phi = slow(), T = 4000 }\z
    :fit(X):transform(X)"
  local cases = { { loop, use }, { work, use }, { loop, "k():gram(X)" }, { work, "k():gram(X)" },
    { work, "coroutine.wrap(function() " .. use .. " end)()" } }
  for _, case in ipairs(cases) do
    local script = support.write(nil, definition:format(case[1], case[1]) .. case[2])
    local status, _, err = support.shell(("timeout -k 5 60 %s %s"):format(quote(support.binary),
      script))
    os.remove(script)
    lu.assertEquals({ case[2], status }, { case[2], 1 }, err)
    lu.assertStrContains(err, "interrupted!")
  end
end

-- ------------ threads

local normal = sc.sampler.define{ name = "lua_gaussian", normals = 1, bias = true,
  options = { sigma = { default = 1, above = 0, width = "frequency" } },
  make = function(n) return n end, moments = function(o) return 0, o.sigma end,
  family = "gaussian", factor = function(z) return math.exp(-z * z / 2) end }

local ridge = sc.solver.define{ name = "lua_ridge", penalty = "l2",
  options = { lambda = { default = 1e-6, low = 0, role = "regularisation" },
    intercept = { role = "intercept", default = "auto" } },
  solve = function(problem, o)
    local sums = problem:normal()
    local A = sums.moment + sc.eye(problem.features) * (problem.rows * o.lambda)
    return { coefficients = problem:solve(A, sums.right), outcome = "converged", iterations = 1 }
  end }

TestThreads = {}

function TestThreads:test_results_do_not_depend_on_threads()
  local before = core.threads()
  local results = {}
  local tall = sc.randn{ 3000, 4, seed = 2 }
  local target = tall:slice(1, 3000, 1, 1)
  for i, threads in ipairs{ 1, 2, 4 } do
    core.threads(threads)
    local rows = sc.dataset{ X = tall, y = target }
    local p = sc.pipeline{ features(rectifier(), { T = 60 }), ridge{ lambda = 1e-3 } }
    results[i] = { p:fit(rows):predict(tall), p:cv(rows, { folds = 4 }).mean,
      sc.pipeline{ features(sc.nonlinearity.relu(), { p = normal(), T = 60 }),
        sc.solver.ridge{} }:fit(rows):predict(tall) }
  end
  core.threads(before)
  for i = 2, 3 do
    lu.assertTrue(results[i][1] == results[1][1])
    lu.assertEquals(results[i][2], results[1][2])
    lu.assertTrue(results[i][3] == results[1][3])
  end
end

-- Only work with the component stays in one thread, and what is made of it.
function TestThreads:test_other_work_keeps_its_threads()
  local before, seen = core.threads(), {}
  core.threads(2)
  local watching = phi_of(function(z) seen[core.threads()] = true return z end)
  local fitted = features(watching()):fit(X)
  fitted:transform(X)
  lu.assertEquals(seen, { [1] = true })
  lu.assertEquals(core.threads(), 2)
  pcall(transform, phi_of(function() error "x" end))
  lu.assertEquals(core.threads(), 2)
  local counted = {}
  local rows = sc.data.rows{ n = 60, d = 4, task = "regression", read = function(first, count)
    counted[core.threads()] = true
    return X:slice(first, first + count - 1), y:slice(first, first + count - 1)
  end }
  sc.pipeline{ features(sc.nonlinearity.relu()), sc.solver.ridge{} }:fit(rows)
  lu.assertEquals(counted, { [2] = true })
  core.threads(before)
end

-- ------------ lives of definitions

TestLives = {}

function TestLives:test_a_name_is_defined_anew()
  local name = fresh()
  local function define(factor)
    return sc.nonlinearity.define{ name = name, eval = function(z) return factor * z end }
  end
  local first = features(define(1)()):fit(X)
  local before = first:transform(X)
  local second = features(define(2)()):fit(X)
  lu.assertTrue(first:transform(X) == before) -- made before
  lu.assertTrue(second:transform(X) == 2 * before)
  lu.assertTrue(features(sc.nonlinearity[name]()):fit(X):transform(X) == 2 * before)
  local count = 0
  for _, entry in ipairs(sc.plugin.list()) do count = count + (entry.name == name and 1 or 0) end
  lu.assertEquals(count, 1)
end

function TestLives:test_what_is_replaced_is_collected()
  local name, alive = fresh(), setmetatable({}, { __mode = "k" })
  local function define()
    local weight = {}
    alive[weight] = true
    return sc.nonlinearity.define{ name = name, eval = function(z) return weight and z end }
  end
  for _ = 1, 50 do transform(define()) end
  for _ = 1, 3 do
    collectgarbage()
    transform(rectifier) -- what ended is let go when Lua is entered
  end
  collectgarbage()
  local count = 0
  for _ in pairs(alive) do count = count + 1 end
  lu.assertTrue(count <= 2, count .. " definitions are alive")
end

function TestLives:test_options_are_the_instances_own()
  local seen = {}
  local keeping = sc.nonlinearity.define{ name = fresh(),
    options = { a = 1, b = { default = { 1, 2 } }, c = "x", d = true,
      e = { form = { "number", "word" }, words = { "auto" } } },
    eval = function(z, o)
      o.calls = (o.calls or 0) + 1
      seen[o] = o.calls
      return z
    end }
  local o
  transform(function() return keeping{ a = 2, e = "auto" } end)
  for options in pairs(seen) do o = options end
  lu.assertEquals({ o.a, o.b, o.c, o.d, o.e }, { 2, { 1, 2 }, "x", true, "auto" })
  lu.assertEquals(o.calls, 60 * 24)
end

function TestLives:test_a_file_takes_the_place_of_a_definition()
  local folder = (os.getenv("SCULLERY_BUILD") or "build") .. "/tests/plugins/"
  sc.nonlinearity.define{ name = "softplus",
    eval = function(z) return math.log(1 + math.exp(z)) end }
  local old = features(sc.nonlinearity.softplus()):fit(X):transform(X)
  sc.plugin.load(folder .. "softplus.so")
  lu.assertStrContains(sc.plugin.info("nonlinearity.softplus").path, "softplus.so")
  lu.assertTrue(gap(features(sc.nonlinearity.softplus()):fit(X):transform(X), old) < 1e-14)
  fails({ "'softplus' already, from", "softplus.so" }, sc.nonlinearity.define,
    { name = "softplus", eval = function(z) return z end })
end

-- ------------ texts

TestTexts = {}

function TestTexts:test_help_list_and_completion()
  local help, completion = require "scullery.help", require "scullery.prompt.completion"
  local line = debug.getinfo(1, "l").currentline + 2
  local made = sc.nonlinearity.define{ name = "lua_texts", doc = "phi(z) = slope z, told.",
    author = "A. Nonymous", version = "1.2", eval = function(z, o) return o.slope * z end,
    options = { slope = { default = 0.5, high = 2, help = "of all" } } }
  for _, text in ipairs{ help.text(made), help.text(made()), help.text "nonlinearity.lua_texts" } do
    for _, words in ipairs{ "sc.nonlinearity.lua_texts{...}", "phi(z) = slope z, told.", "slope",
      "a number of at most 2", "default 0.5", "of all", "Version 1.2 by A. Nonymous",
      "Defined in Lua, ", ("define_scripts_test.lua:%d"):format(line) } do
      lu.assertStrContains(text, words)
    end
  end
  lu.assertStrContains(help.text(sc.nonlinearity), "lua_texts")
  lu.assertStrContains(help.text(sc.nonlinearity.define), "sc.nonlinearity.define{")
  lu.assertStrContains(help.text "sampler.define", "sc.sampler.define{")
  lu.assertEquals(tostring(made{ slope = 1 }), "nonlinearity.lua_texts{slope = 1}")
  local info = sc.plugin.info("lua_texts")
  lu.assertEquals({ info.kind, info.version, info.summary },
    { "nonlinearity", "1.2", "phi(z) = slope z, told." })
  lu.assertStrContains(info.path, "define_scripts_test.lua:")
  local listed = {}
  for _, entry in ipairs(sc.plugin.list()) do listed[entry.name] = entry.path end
  lu.assertEquals(listed.lua_texts, info.path)
  local _, list = completion.at("sc.nonlinearity.lua_tex", { sc = sc })
  lu.assertEquals(list, { "lua_texts" })
  _, list = completion.at("sc.nonlinearity.lua_texts{ sl", { sc = sc })
  lu.assertEquals(list, { "slope" })
  _, list = completion.at("sc.nonlinearity.def", { sc = sc })
  lu.assertEquals(list[1], "define")
  _, list = completion.at("sc.kernel.define{ pai", { sc = sc })
  lu.assertEquals(list, { "pair" })
end

-- ------------ files and processes

TestFiles = {}

local library = [[
local function define(slope)
  return sc.nonlinearity.define{ name = "leaky", options = { slope = 0.1 },
    eval = function(z, o) return z > 0 and z or slope * o.slope * z end }
end
local X = sc.randn{ 30, 3, seed = 1 }
local ds = sc.dataset{ X = X, y = X:slice(1, 30, 1, 1) }
]]

local function run(folder, body, before)
  support.write(folder .. "/s.lua", (before or "") .. library .. body)
  return support.shell(("cd %s && timeout 300 %s s.lua"):format(quote(folder), quote(
    support.binary:sub(1, 1) == "/" and support.binary
      or io.popen("pwd"):read("l") .. "/" .. support.binary)))
end

function TestFiles:test_saving_and_loading()
  support.in_folder(function(folder)
    local status, _, err = run(folder, [[
local leaky = define(1)
local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
  phi = leaky{ slope = 0.2 }, T = 9 }, sc.solver.ridge{} }:fit(ds)
p:save("m.safetensors")
p:predict(X):save("y.npy")]])
    lu.assertEquals({ status, err }, { 0, "" })
    status, _, err = run(folder, 'sc.load("m.safetensors")')
    lu.assertEquals(status, 1)
    lu.assertStrContains(err, "it needs nonlinearity.leaky, which was defined in Lua (s.lua:3): "
      .. "define it before loading, with sc.nonlinearity.define")
    _, _, err = run(folder, 'require "scullery.core".share_functions() '
      .. 'require "scullery.predictor".load("m.safetensors")')
    lu.assertStrContains(err, "it needs nonlinearity.leaky, which was defined in Lua: only Lua "
      .. "scripts can use such a model")
    status, _, err = run(folder, [[
define(1)
local p = sc.load("m.safetensors")
assert(p:predict(X) == sc.data.npy("y.npy"), "other predictions")
assert(tostring(p):find("leaky", 1, true))]], "-- the same at other lines\n\n")
    lu.assertEquals({ status, err }, { 0, "" })
    status, _, err = run(folder, 'define(3) sc.load("m.safetensors")')
    lu.assertEquals(status, 1)
    lu.assertStrContains(err, "nonlinearity.leaky is defined otherwise here (s.lua:3) than where "
      .. "this was saved (s.lua:3)")
    lu.assertStrContains(err, "has changed since")
  end)
end

function TestFiles:test_versions_are_compared_in_place_of_code()
  support.in_folder(function(folder)
    local solver = [[
local function fit(version, more)
  sc.solver.define{ name = "mine", version = version, solve = function(problem)
    return { coefficients = sc.ones(problem.features, 1) * more, outcome = "stopped" }
  end }
  return sc.pipeline{ sc.solver.mine() }
end
]]
    local status, _, err = run(folder, solver .. 'fit("1.2", 1):fit(ds):save("m.safetensors")')
    lu.assertEquals(status, 0, err)
    status, _, err = run(folder, solver .. 'fit("1.3", 2) sc.load("m.safetensors")')
    lu.assertEquals({ status, err }, { 0, "" })
    status, _, err = run(folder, solver .. 'fit("1.1", 2) sc.load("m.safetensors")')
    lu.assertEquals(status, 1)
    lu.assertStrContains(err, "older")
  end)
end

function TestFiles:test_experiments_in_several_processes()
  support.in_folder(function(folder)
    local status, out, err = run(folder, [[
local leaky = define(1)
local e = sc.experiment{ name = "e", folder = ".", processes = 2, cells = { slope = { 0, 0.5, 1 } },
  run = function(cell)
    local p = sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
      phi = leaky{ slope = cell.slope }, T = 9 }, sc.solver.ridge{} }
    return { error = p:cv(ds, { folds = 3 }).mean }
  end }
print(e)]])
    lu.assertEquals(status, 0, err)
    lu.assertStrContains(out, "3 cells done, 0 failed")
    local found = support.shell("grep -rq 'defined in Lua, ' " .. quote(folder))
    lu.assertEquals(found, 0) -- the records say by which definition they were made
  end)
end

os.exit(lu.LuaUnit.run())

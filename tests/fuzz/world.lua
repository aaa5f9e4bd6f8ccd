--- What the text of a case uses (api.lua): objects to attack, files to read, and calls whose errors
--- are looked at. Everything is small, so that a case takes milliseconds.
local sc = require "scullery"
local core = require "scullery.core"
local help = require "scullery.help"
local support = require "support"
local objects = require "scullery.base.objects"

require "scullery_checker.core" -- it loads scullery.checker
local w = { sc = sc, core = core, checker = require "scullery.checker", help = help }

-- ------------ what is found

local told = {}

--- w.report: where findings go: function(text). Each kind of finding is told once.
function w.report(text) error("finding: " .. text, 0) end

-- Methods that the library calls by itself, with arguments that it has checked.
local internal = { keep = true, make_solver = true, training_options = true, map = true,
  settled = true, instance = true }

local function finding(kind, title, message)
  local known = kind .. title .. (message:match("attempt to %w+") or message:gsub("%d+", "N"))
  if told[known] then return end
  told[known] = true
  w.report(("%s: %s: %s"):format(kind, title, message))
end

-- A message that a script cannot do anything with. Errors of the case's own lines are its own, and
-- so is what Lua says of an operator that an object lacks (plain).
local function check_message(title, message, plain)
  if plain then return end
  if message:find("this is a bug in Scullery", 1, true) then
    if not w.damaged and not internal[title] then finding("fault", title, message:sub(1, 400)) end
    return
  end
  if message:find("attempt to yield", 1, true) or message:find("for iterator", 1, true) then
    return
  end
  -- a title that the case gave to a function of the library
  message = message:gsub("^[^\n]-%.lua:%d+: [^\n]-%a+: 0x%x+: ", ""):gsub("^%a+: 0x%x+: ", "")
  if message:find("interrupted!", 1, true) and w.on_interrupt then w.on_interrupt() end
  local public = title:sub(1, 3) == "sc."
  local engine = title:find "^core%." or title:find "^checker%."
  if title:sub(1, 4) == "raw." then return end -- Lua calls these, with an object that it checked
  if message:find("scullery[%w_]*/[%w_/]+%.lua:%d+")
    or public and message:find("bad argument", 1, true)
    or message:find("attempt to ", 1, true) and not message:find("case:%d+: attempt to ") then
    finding("message", title, message:sub(1, 400))
  elseif message:find("0x%x%x%x%x%x%x") and not engine and not message:find("case:%d+: ") then
    finding("an address in a message", title, (message:gsub("0x%x+", "ADDRESS")))
  elseif #message > 20000 and not engine then
    finding("long message", title, ("%d bytes: %s"):format(#message, message:sub(1, 200)))
  end
end

local function finish(title, ok, ...)
  if ok then return ... end
  local raised = ...
  if type(raised) == "string" then check_message(title, raised) end
  return nil
end

--- w.raise(...): a function of the script that fails.
function w.raise() error("the script's own error", 0) end

--- w.call(title, f, ...): what f(...) gives; nothing where it raises an error, whose words are
--- checked.
function w.call(title, f, ...) return finish(title, pcall(f, ...)) end

--- w.method(object, name, ...): object:name(...), the same way.
function w.method(object, name, ...)
  local found, f = pcall(function() return object[name] end)
  if not found then check_message("index", tostring(f), true) return nil end
  if type(f) == "function" then return w.call(name, f, object, ...) end
end

--- w.co(title, f, ...): the call in a coroutine, which is given up after some steps.
function w.co(title, f, ...)
  local co = coroutine.create(f)
  local result = table.pack(coroutine.resume(co, ...))
  for _ = 1, 3 do
    if coroutine.status(co) ~= "suspended" then break end
    result = table.pack(coroutine.resume(co, 1))
  end
  coroutine.close(co)
  return finish(title, table.unpack(result, 1, result.n))
end

-- ------------ what is done to objects

local operators = {
  function(a, b) return a + b end, function(a, b) return a - b end, function(a, b) return a * b end,
  function(a, b) return a / b end, function(a) return -a end, function(a) return #a end,
  function(a, b) return a == b end, function(a, b) return a < b end,
  function(a, b) return a .. b end, function(a, b) return a[b] end,
  function(a, b, c) a[b] = c end, function(a) return tostring(a) end, function(a) return a() end,
  function(a, b) return a(b) end, function(a) return pairs(a)(a) end,
  function(a, b) return a & b end, function(a, b) return a // b end,
  function(a, b) return a % b end, function(a, b) return a ^ b end,
}
w.operators = #operators

-- What Lua says of an operator that an object lacks is Lua's own sentence.
--- w.operator(number, a, b, c)
function w.operator(number, a, b, c)
  local ok, result = pcall(operators[number], a, b, c)
  if ok then return result end
  if type(result) == "string" then check_message("operator", result, true) end
end

--- w.set(object, key, value): object[key] = value, where that can be.
function w.set(object, key, value)
  local ok, result = pcall(function() object[key] = value end)
  w.damaged = w.damaged or ok -- what it holds now is no fault of the library
  if not ok and type(result) == "string" then check_message("set", result, true) end
end

--- w.get(object, key, ...): object[key][...], nil where something is missing.
function w.get(object, ...)
  for _, key in ipairs{ ... } do
    local at = object
    local ok, value = pcall(function() return at[key] end)
    object = ok and value or nil
  end
  return object
end

--- w.close(object): closed as the end of a block closes it.
function w.close(object)
  pcall(function()
    local closed <close> = object
    return closed == nil
  end)
end

--- w.collected(f): f is called when a collection meets it.
function w.collected(f) setmetatable({}, { __gc = f }) end

-- ------------ objects

function w.X(n, d) return sc.randn{ n or 12, d or 3, seed = 1 } end

function w.numbers(n)
  local X = w.X(n)
  return sc.dataset{ X = X, y = X:column(1) * 2, task = "regression" }
end

function w.classes(count, n)
  local labels = {}
  for i = 1, n or 12 do labels[i] = ("c%d"):format(i % (count or 2)) end
  return sc.dataset{ X = w.X(n), y = labels }
end

--- w.rows(read, task): a data set of 12 rows that a function makes.
function w.rows(read, task)
  return sc.data.rows{ n = 12, d = 3, read = read, task = task,
    classes = task == "classification" and { 1, 2 } or nil }
end

--- w.read(first, count): rows for w.rows.
function w.read(first, count)
  local y = sc.zeros(count, 1)
  for i = 1, count do y:set(i, 1, (first + i) % 2 + 1) end
  return sc.randn{ count, 3, seed = first }, y
end

function w.features(name, more)
  local given = { seed = 2, T = 5 }
  if name == "sections" then
    given.p, given.phi = sc.sampler.landmarks(), sc.kernel.gaussian{ width = 2 }
  elseif name == "cells" then
    given.p, given.phi = sc.sampler.grid(), sc.nonlinearity.bins()
  elseif name == "weighting" then
    given.p, given.phi = sc.sampler.gaussian(), sc.nonlinearity.sign()
    given.K = sc.kernel.gaussian{ width = 2 }
  elseif name == "codes" then
    given.p, given.phi = sc.sampler.gaussian(), sc.nonlinearity.maxout()
  else
    given.p, given.phi = sc.sampler.gaussian(), sc.nonlinearity.fourier()
  end
  for key, value in pairs(more or {}) do given[key] = value end
  return sc.features(given)
end

--- w.recipe(features, solver, options): a pipeline; features "none": none.
function w.recipe(features, solver, given)
  local stages = { sc.standardize() }
  if features ~= "none" then stages[#stages + 1] = w.features(features) end
  if solver ~= "none" then stages[#stages + 1] = sc.solver[solver](given) end
  return sc.pipeline(stages)
end

--- w.fitted(features, solver, ds): a fitted pipeline, or nil where these do not go together.
function w.fitted(features, solver, ds)
  local ok, p = pcall(function() return w.recipe(features, solver):fit(ds) end)
  return ok and p or nil
end

--- w.nested_kernel(n): sums in sums, n deep.
function w.nested_kernel(n)
  local kernel = sc.kernel.linear()
  for _ = 1, n do kernel = sc.kernel.sum{ terms = { kernel } } end
  return kernel
end

--- w.deep(n): tables in tables, n deep; w.loop(): a table that holds itself.
function w.deep(n)
  local list = {}
  for _ = 1, n do list = { list } end
  return list
end

function w.loop()
  local list = {}
  list[1], list.of = list, list
  return list
end

function w.source(task)
  return objects.call("dataset", require("scullery.data.dataset").source_of_targets,
    task == "classes" and w.classes() or w.numbers())
end

function w.stage(name, given)
  return (core.fit_stage(core.instance("stage", name or "standardize", given or {}),
    core.source(w.X()), {}))
end

--- w.stage_of_map(map): a stage after its features.
function w.stage_of_map(map)
  return (core.fit_stage(core.instance("stage", "standardize", {}), core.source(w.X()), {}, map))
end

--- w.instance(kind, name, options): one, or nil.
function w.instance(kind, name, given)
  local ok, value = pcall(core.instance, kind, name, given or {})
  return ok and value or nil
end

--- w.spec(more): what core.map takes.
function w.spec(more)
  local spec = { sampler = w.instance("sampler", "gaussian"), dim = 3, T = 5, seed = 1,
    phi = w.instance("nonlinearity", "fourier") }
  for key, value in pairs(more or {}) do spec[key] = value end
  return spec
end

--- w.map(features)
function w.map(features)
  local p = sc.pipeline{ w.features(features or "fourier") }:fit(w.X())
  return p.fitted.map
end

function w.training(more)
  local given = { classes = 0 }
  for key, value in pairs(more or {}) do given[key] = value end
  return core.training(w.source(), {}, nil, given)
end

--- w.sums(more, dtype): the engine's sums of a training with a map of that number type.
function w.sums(more, dtype)
  local given = { classes = 0, fingerprints = true }
  for key, value in pairs(more or {}) do given[key] = value end
  return core.sums_take(core.training(w.source(), {}, core.map(w.spec{ dtype = dtype or "int16" }),
    given))
end

--- w.kept(more): sums of a pipeline.
function w.kept(more)
  return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, dtype = "int8", T = 4,
    phi = sc.nonlinearity.fourier() }, sc.solver.ridge{ lambda = 1 } }:sums(w.numbers(), more)
end

function w.experiment()
  return sc.experiment{ name = "w", cells = { T = { 1, 2 }, seed = { 1, 2 } },
    run = function(cell) return { error = cell.T } end }
end

function w.search()
  return w.recipe("fourier", "ridge", { lambda = sc.choose{ 1e-2, 1 } }):search(w.classes(),
    { folds = 2 })
end

-- ------------ files

local contents = {
  csv = "a,b,c,class\n1,2,x,u\n3,4,y,v\n5,?,x,u\n7,8,y,v\n1,0,x,v\n2,2,y,u\n",
  numbers = "a,b,c\n1,2,3\n3,4,1\n5,1,2\n7,8,9\n",
  libsvm = "1 1:2 3:4\n-1 2:1\n1 1:1\n-1 3:7\n",
  idx = "\0\0\8\2\0\0\0\2\0\0\0\3\1\2\3\4\5\6", labels = "\0\0\8\1\0\0\0\2\0\1",
  json = '{"a": [1, 2, {"b": null}]}', junk = "\127ELF\2\1\1", empty = "",
}

local makers = {
  npy = function(path) w.X():save(path) end,
  model = function(path) w.fitted("fourier", "ridge", w.classes()):save(path) end,
  schema = function(path) sc.data.csv(w.file("csv"), { quiet = true }):save_schema(path) end,
  codes = function(path)
    sc.codes(sc.matrix{ { 0, 1, 1 }, { 1, 0, 1 } }):save(path)
  end,
}

local endings = { csv = ".csv", numbers = ".csv", npy = ".npy", libsvm = ".libsvm", junk = ".so" }

--- w.file(kind): the path of a file of that kind, as it should be.
function w.file(kind)
  local path = kind .. (endings[kind] or "")
  if not contents[kind] then
    makers[kind](path)
    contents[kind] = support.read(path)
  end
  return support.write(path, contents[kind])
end
w.files = { "csv", "numbers", "libsvm", "idx", "labels", "json", "junk", "empty", "npy", "model",
  "schema", "codes" }

-- ------------ what must be as before

local one, half_step, tiny, third = 1.0, 2.0 ^ -53, 5e-324, 1 / 3

local function check_machine()
  local nearest = one + half_step == one and -one - half_step == -one
    and one + 1.5 * half_step ~= one and one / 3 == third
  if not nearest then return "the rounding mode was changed" end
  if tiny * one == 0 then return "subnormal numbers are flushed" end
  if ("%.1f"):format(0.5) ~= "0.5" or os.setlocale() ~= "C" then return "the locale was changed" end
  return nil
end

local function walk() return core.walk(core.source(sc.zeros(2, 1)), {}, nil) end

--- w.clean(): undo what a case did to the process; a finding where it cannot be.
function w.clean()
  w.damaged = false
  core.fail_allocation_after(-1)
  for _ = 1, 3 do -- an interrupt that nobody took
    if pcall(walk) then break end
  end
  if not pcall(walk) then
    finding("state", "walk", "nothing can be walked any more")
  end
  pcall(core.unwatch)
  local changed = check_machine()
  if changed then finding("state", "machine", changed) end
end

return w

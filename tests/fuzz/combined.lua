--- What a process of combinations.lua does: combinations first .. first+count-1 of a seed, one
--- after another, each named on the standard output before it begins. A combination depends on the
--- seed and its number alone, but for the plugins, which are those of its hundred.
---
---   scullery combined.lua SEED FIRST COUNT
local source = os.getenv "SCULLERY_SOURCE" or "."
package.path = source .. "/tests/helpers/?.lua;" .. source .. "/tests/interface/?.lua;" .. source
  .. "/tests/fuzz/?.lua;" .. package.path
local attack = require "attack"
local sc = require "scullery"
local specimen = require "specimen"

local seed, first, count = tonumber(arg[1]), tonumber(arg[2]), tonumber(arg[3])
local HUNDRED <const>, LONG <const> = 100, 3 -- the status of an end by Ctrl-C
local random

local function one_of(list) return list[random(#list)] end
local function once_in(n) return random(n) == 1 end

-- ------------ plugins

local names = { "plain", "general", "split", "lattice", "rotated", "few", "shared", "pupil",
  "wrapper", "wave", "waves", "side", "cell", "bell", "long", "twice", "square", "mean", "ramp",
  "normal", "column", "pairs", "pitches", "turned", "taught", "logistic", "descent", "centred",
  "guess", "fitted" }
-- Slots that misbehave, and how: what they return, write and say is wrong; nothing is written
-- outside of the memory that they were given, which a host cannot survive.
local slots = { "bell.finish", "bell.move", "bell.scale", "cell.categories", "cell.key",
  "descent.solve", "few.draw", "few.law", "few.layout", "general.create", "general.draw",
  "general.layout", "general.law", "general.scales", "lattice.draw", "long.bind", "long.diagonal",
  "long.gram", "long.tilt", "mean.decide", "mean.fit", "mean.load", "mean.save", "plain.factor",
  "plain.make", "plain.moments", "pupil.draw", "pupil.learn", "ramp.create", "ramp.loop",
  "rotated.apply", "rotated.draw", "rotated.layout", "rotated.rows", "shared.draw", "shared.pool",
  "side.dual", "side.loop", "split.draw", "square.bound", "square.cost", "square.objective",
  "square.path", "square.penalty", "square.slope", "square.solve", "square.value", "square.walk",
  "twice.bind", "twice.gram", "twice.tilt", "wave.dual", "wave.loop", "wave.smooth",
  "waves.apply", "waves.shape", "waves.smooth", "wrapper.draw", "wrapper.law", "wrapper.layout" }
local ways = { "status 4", "status 7", "status -3", "status 99", "fail 3 it does not like this",
  "fail 6 \27[31mred\7", "number 0 nan", "number -1 inf", "number -1 0", "number 1 -1e300",
  "number -1 1e-320", "integer -1 0", "integer 0 2147483647", "integer 0 -5", "give nan",
  "give -1", "give 1e308", "say %s%n%d", "round", "flush", "stop 1", "stop 1000", "ask normal",
  "ask walk", "ask minibatch", "set reals 0", "set block 0", "set count 3", "set block 1000",
  "set outcome 0", "set outcome 77", "set iterations 5", "set fan_in 0", "set fan_out 70000",
  "set space 17", "set rows 1", "set cols 0" }

-- The specimens of a hundred: some right, some wrong in one to three ways; by name constructors.
local function load_specimens()
  local lines = {}
  for _ = 1, one_of{ 0, 1, 1, 2, 3 } do
    lines[#lines + 1] = ("at %s %s"):format(one_of(slots), one_of(ways))
  end
  local ok, own = pcall(specimen.load, "v1", names, table.unpack(lines))
  return ok and own or {}, lines
end

local bodies = { function(z) return z end, function(z) return z > 0 and 1 or 0 end, math.sin,
  function(z) return 1 / z end, function() return 0 / 0 end, function() return "text" end,
  function() return nil end, function() error("a wrong function", 0) end,
  function() error({}) end, function(z) return z ^ 3 end, function() return math.huge end,
  function() return sc.nonlinearity.relu() end }

-- Components of Lua, some of which cannot be, or go wrong when they are called.
local function define_some(number)
  local own = {}
  local function add(kind, name, given)
    given.name, given.summary = name .. number, "of a script"
    local ok, made = pcall(sc[kind].define, given)
    if ok then own[kind] = own[kind] or {} table.insert(own[kind], made) end
  end
  for k = 1, 3 do
    add("nonlinearity", "phi_" .. k, { eval = one_of(bodies) })
    add("kernel", "k_" .. k, { pair = one_of{ "dot", "squared_distance", "cosine" },
      eval = one_of(bodies) })
    add("loss", "loss_" .. k, { value = function(f, y) return (f - y) ^ 2 + one_of(bodies)(f) end })
    add("stage", "stage_" .. k, { column = function() return one_of(bodies)(1), 1 end })
    add("metric", "metric_" .. k, { needs = one_of{ "values", "labels", "scores" },
      better = "smaller", row = function(a, b) return one_of(bodies)(a - b) end })
  end
  return own
end

local built_in <const> = sc.plugin.list() -- before the first hundred adds its own

-- Specimens and components of Lua by kind: constructors and the kinds that they are of.
local function plugins_of(hundred)
  local all = {}
  for _, entry in ipairs(built_in) do
    if entry.kind ~= "transport" then
      all[entry.kind] = all[entry.kind] or {}
      table.insert(all[entry.kind], entry.kind .. "." .. entry.name)
    end
  end
  local own, lines = load_specimens()
  for _, name in ipairs(names) do -- in one order, so that numbers mean the same in every run
    local made = own[name]
    local ok, info = pcall(sc.plugin.info, made)
    if ok then table.insert(all[info.kind], info.kind .. "." .. made) end
  end
  for kind, list in pairs(define_some(hundred)) do
    for _, made in ipairs(list) do table.insert(all[kind], made) end
  end
  return all, lines
end

-- ------------ components and options

local component

-- A value for an option, of its kind or not.
local function value_of(option, all, depth)
  if once_in(25) then
    return one_of{ -1, 0, 1e300, 0 / 0, math.huge, "x", true, {}, { 1, 2 }, { "a" },
      math.mininteger, "", sc.choose{ 1, 2 } }
  end
  if #(option.words or {}) > 0 and random(2) == 1 then return one_of(option.words) end
  if option.takes_component or option.components then
    return component(one_of{ "kernel", "sampler", "loss", "solver", "nonlinearity" }, all,
      depth + 1)
  end
  local low = option.low and option.low > -math.huge and option.low or 0
  local step = one_of{ 0, 1, 2, 3, 7, 0.5, 1e-3, 20 }
  return option.takes_number and low + step or low + math.ceil(step)
end

-- Options whose defaults take too long here.
local SLOW <const> = " max_iterations rounds stumps iterations cache samples bits projections "

--- A component of the kind with some options given; nil where that is refused.
function component(kind, all, depth)
  local made = one_of(all[kind] or {})
  if not made or depth > 3 then return nil end
  local ok, info = pcall(sc.plugin.info, made)
  if type(made) == "string" then made = sc[kind][made:match "%.(.*)$"] end
  local given = {}
  for _, option in ipairs(ok and info.options or {}) do
    local needed = option.default == nil
    if needed or once_in(5) then
      given[option.name] = value_of(option, all, depth)
    elseif SLOW:find(" " .. option.name .. " ", 1, true) and not once_in(50) then
      given[option.name] = one_of{ 1, 2, 5 }
    end
  end
  local fine, one = pcall(made, given)
  return fine and one or nil
end

-- ------------ data and pipelines

local function data()
  local n, d = one_of{ 1, 2, 3, 10, 30, 31, 64, 100 }, one_of{ 1, 2, 3, 5, 17 }
  local X = sc.randn{ n, d, seed = random(1000) } * one_of{ 1, 1, 1, 1e-3, 1e3, 1e150, 0 }
  if once_in(6) then X = X:abs() end
  if once_in(20) then X:set(random(n), random(d), one_of{ 0 / 0, math.huge, -1e300, 1e-310 }) end
  local task = one_of{ "regression", "classification", "classes" }
  local y = {}
  for i = 1, n do
    local x = X:get(i, 1)
    y[i] = task == "regression" and (once_in(9) and math.floor(x) or x)
      or task == "classification" and (x > 0 and "a" or "b") or ("c%d"):format(i % 3)
  end
  local weights
  if once_in(5) then
    weights = {}
    for i = 1, n do weights[i] = one_of{ 0, 1, 1, 2, 0.5 } end
  end
  if once_in(8) then X = X:astype "float32" end
  return sc.dataset{ X = X, y = y, weights = weights,
    task = task == "regression" and task or "classification" }
end

local function features(all)
  local given = { p = component("sampler", all, 0), seed = random(5), T = one_of{ 1, 2, 7, 20, 33 },
    phi = component(once_in(4) and "kernel" or "nonlinearity", all, 0),
    dtype = once_in(4) and one_of{ "float32", "int16", "int8", "float64", "int4" } or nil }
  if once_in(3) then given.K = component("kernel", all, 0) end
  if once_in(9) then given.T = nil end
  return sc.features(given)
end

local function stage(all) return component("stage", all, 0) end

local function pipeline(all)
  local list = {}
  for _ = 1, random(3) - 1 do list[#list + 1] = stage(all) end
  if not once_in(4) then list[#list + 1] = features(all) end
  if once_in(6) then list[#list + 1] = stage(all) end
  if not once_in(15) then list[#list + 1] = component("solver", all, 0) end
  return sc.pipeline(list)
end

-- What is done with a pipeline and its data; errors are raised.
local actions = {
  function(p, ds) return p:predict(ds) end,
  function(p, ds) return p:score(ds) end,
  function(p, ds) return p:decision(ds.X:slice(1, 1)) end,
  function(p, ds) return p:transform(ds.X) end,
  function(p, ds) return p:probabilities(ds) end,
  function(p, ds, all) return p:score(ds, { metric = component("metric", all, 0) }) end,
  function(p) return tostring(p) end,
  function(p) return p:info() end,
  function(p, ds) return p:plan(ds) end,
  function(p) return p:norm() end,
  function(p) return p:weights() end,
  function(p, ds) return p:cv(ds, { folds = 2 }) end,
  function(p, ds) return p:search(ds, { folds = 2 }) end,
  function(p, ds) return p:predict(sc.randn{ 3, ds.X:cols() + 1, seed = 1 }) end,
  function(p, ds)
    p:save "model.safetensors"
    local again = sc.load "model.safetensors"
    return again:predict(ds)
  end,
  function(p, ds) return p:importance(ds, { repeats = 1 }) end,
  function(p, ds) return p:update(ds) end,
  function(p) return p:bound{ delta = 0.1 } end,
}

-- pcall that Ctrl-C ends, as what follows may take as long.
local function attempt(f, ...)
  local ok, raised = pcall(f, ...)
  if not ok and tostring(raised):find("interrupted!", 1, true) then error(raised, 0) end
  return ok, raised
end

-- What is done with parts alone.
local alone = {
  function(ds, all) return component("kernel", all, 0):gram(ds.X) end,
  function(ds, all) return features(all):fit(ds.X):transform(ds.X) end,
  function(ds, all) return features(all):fit(ds.X):kernel(ds.X) end,
  function(ds, all)
    local inst = sc.instantiation{ p = component("sampler", all, 0),
      K = component("kernel", all, 0), phi = component("nonlinearity", all, 0) }
    local U = inst:sample{ T = 4, seed = 1 }
    return { inst:gram(U, U), attempt(inst.kernel, inst, ds.X, ds.X), attempt(inst.kappa, inst),
      attempt(inst.expectation, inst, U, ds.X) }
  end,
  function(_, all) return tostring(component(one_of{ "loss", "metric", "stage" }, all, 0)) end,
  function(ds, all) return sc.pipeline{ stage(all), stage(all) }:fit(ds):transform(ds.X) end,
}

-- ------------ errors

-- What is wrong with an error as a script gets it; nil: nothing.
local function fault_of(message)
  if type(message) ~= "string" then
    return type(message) == "table" and next(message) == nil and nil -- a script's own error
      or ("an error that is a %s"):format(type(message))
  end
  if message:find("combined.lua", 1, true) then return nil end -- a line of this file
  if message:find("this is a bug in Scullery", 1, true) or message:find("attempt to ", 1, true)
    or message:find("bad argument", 1, true) or message:find("0x%x%x%x%x%x%x%x")
    or message:find("[%z\1-\8\11-\31\127]") or #message > 20000 or #message == 0 then
    return message:sub(1, 500)
  end
end

local function try(number, f, ...)
  local ok, raised = pcall(f, ...)
  if not ok and tostring(raised):find("interrupted!", 1, true) then
    specimen.clear()
    os.exit(LONG)
  end
  local fault = not ok and fault_of(raised)
  if fault then print(("finding %d: %s"):format(number, fault)) end
  return ok, raised
end

local function combine(number, all)
  local made, ds = try(number, data)
  if not made then return false end
  if once_in(4) then return try(number, one_of(alone), ds, all) end
  local ok, p = try(number, pipeline, all)
  if not ok then return false end
  local fitted = try(number, p.fit, p, ds)
  for _ = 1, fitted and random(3) or 1 do try(number, one_of(actions), p, ds, all) end
  return fitted
end

local all, hundred
local fits = 0
for number = first, first + count - 1 do
  if hundred ~= number // HUNDRED then
    hundred = number // HUNDRED
    random = attack.random(seed * 1000003 + hundred)
    local lines
    all, lines = plugins_of(hundred)
    print("plugins: " .. table.concat(lines, "; "))
  end
  random = attack.random((seed << 24) + number)
  io.write(number, "\n")
  io.flush()
  if combine(number, all) then fits = fits + 1 end
  if number % 20 == 0 then collectgarbage() end
end
specimen.clear()
print(("ended %d"):format(fits))

-- Every public function and method, called with too little and with the wrong things, answers with
-- a sentence: no words of Lua's own about our insides, and no place in our files.
local lu = require "luaunit"
local sc = require "scullery"
local support = dofile("tests/helpers/support.lua")

local shown = {
  "attempt to ", "bad argument #", "lua/scullery/", "%[C%]",
  "stack overflow", "'for' ", "invalid order function", "malformed pattern", "too many results",
  "expected, got", "'%?'",
  "table index is",
}

local X = sc.randn{ 12, 2, seed = 1 }
local y = X:column(1)
local ds = sc.dataset{ X = X, y = y, task = "regression" }
local labels = sc.dataset{ X = X, y = { 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2 },
  task = "classification" }
local function recipe()
  return sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.fourier(), T = 8, seed = 1 }, sc.solver.ridge{ lambda = 0.1 } }
end

-- Objects of every class that scripts meet.
local function objects()
  local fitted = recipe():fit(ds)
  local classifier = recipe():fit(labels)
  local features = sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = sc.nonlinearity.sign(), T = 8, seed = 1 }:fit(X)
  local searched = sc.pipeline{ sc.solver.ridge{ lambda = sc.choose{ 0.1, 1 } } }
    :search(ds, { folds = 2 })
  return { matrix = X, dataset = ds, labels = labels, pipeline = recipe(), fitted = fitted,
    classifier = classifier, model = fitted.fitted, features = features,
    codes = features:codes(X), table = searched.table, choose = sc.choose{ 1, 2 },
    sampler = sc.sampler.gaussian{}, kernel = sc.kernel.gaussian{ width = 1 },
    phi = sc.nonlinearity.sign(), solver = sc.solver.ridge{}, stage = sc.standardize(),
    instantiation = sc.instantiation{ p = sc.sampler.gaussian{}, phi = sc.nonlinearity.sign() } }
end

local made = objects()

-- The names of an object's methods.
local function methods(object)
  local meta, names = getmetatable(object), {}
  local index = type(meta) == "table" and (meta.methods or meta.__index)
  if type(index) ~= "table" then index = require("scullery.core").matrix_methods or {} end
  for name in next, index do
    if type(name) == "string" and name:sub(1, 2) ~= "__" then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

-- What would write files, ask the network or change the process.
local left_out = { ["sc.threads"] = true, ["sc.data.get"] = true }

-- { title, function } of everything.
local function everything()
  local list = {}
  local function add(title, f) if not left_out[title] then list[#list + 1] = { title, f } end end
  for name, value in next, sc do
    if type(value) == "function" then add("sc." .. name, value) end
    if type(value) == "table" then
      for inner, f in next, value do
        if type(f) == "function" then add("sc." .. name .. "." .. tostring(inner), f) end
      end
      local meta = getmetatable(value)
      if type(meta) == "table" and meta.kind then
        for _, plugin in ipairs(require("scullery.core").plugin_list()) do
          if plugin.kind == meta.kind then
            add("sc." .. name .. "." .. plugin.name, value[plugin.name])
          end
        end
      end
      if type(meta) == "table" and meta.__call then
        add("sc." .. name, function(...) return value(...) end)
      end
    end
  end
  for kind, object in pairs(made) do
    for _, name in ipairs(methods(object)) do
      local method = object[name]
      if type(method) == "function" then
        add(kind .. "." .. name, method) -- with a dot
        add(kind .. ":" .. name, function(...) return method(object, ...) end)
      end
    end
  end
  add("help", require("scullery.help").text)
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return list
end

local function sequence(...) return table.pack(...) end
local values = {
  {}, { sequence() }, { "no/such/folder" }, { 4 }, { 0 / 0 }, { -1 }, { 1e300 },
  { math.mininteger }, { true },
  { tostring }, { sequence(1) }, { sequence("a") }, { { x = 1 } }, { io.stdout },
  { coroutine.create(tostring) },
  { setmetatable({}, { __index = function() error("own") end }) },
}
for _, object in pairs(made) do values[#values + 1] = { object } end

-- All lists of arguments: one of the values, and each of a few before and after another.
local function argument_lists()
  local list = { table.pack(), table.pack(nil), table.pack(nil, nil, 4) }
  local first = { X, y, ds, { 1, 2 }, { "a", "b" }, "no/such/file", 1 }
  for _, value in ipairs(values) do
    local v = value[1]
    list[#list + 1] = table.pack(v)
    for _, one in ipairs(first) do
      list[#list + 1] = table.pack(one, v)
      list[#list + 1] = table.pack(one, one, v)
    end
    list[#list + 1] = table.pack(v, 1)
    list[#list + 1] = table.pack({ v })
    list[#list + 1] = table.pack({ v, v })
  end
  return list
end

local function faults_of(message)
  if type(message) == "table" then message = rawget(message, "message") end
  if type(message) ~= "string" then return nil end -- what a metamethod of ours raised
  for _, pattern in ipairs(shown) do if message:find(pattern) then return message end end
end

-- What each title shows of our insides, and how many calls there were.
local function attack()
  local found, calls = {}, 0
  local lists = argument_lists()
  for _, one in ipairs(everything()) do
    local title, f = one[1], one[2]
    for _, arguments in ipairs(lists) do
      calls = calls + 1
      local ok, message = pcall(f, table.unpack(arguments, 1, arguments.n))
      local fault = not ok and faults_of(message)
      if fault then
        found[#found + 1] = title .. ": " .. fault
        break
      end
    end
  end
  return found, calls
end

TestMessages = {}

local function fails(words, f, ...) support.fails(words, f, ...) end

-- One by one what once showed words of Lua's own.
function TestMessages.test_sentences()
  local P = sc.matrix{ { 0.5, 0.5 }, { 0.2, 0.8 } }
  fails({ "metrics.log_loss", "4" }, sc.metrics.log_loss, P, { 1, 2 }, 4)
  fails({ "metrics.log_loss", "nan" }, sc.metrics.log_loss, P, { 1, 2 }, { 0 / 0, 1 })
  fails({ "metrics.confusion", "4" }, sc.metrics.confusion, { 1, 2 }, { 1, 2 }, 4)
  fails({ "metrics.confusion", "nan" }, sc.metrics.confusion, { 1, 2 }, { 1, 2 }, { 0 / 0, 1 })
  fails({ "choose", "20000" }, sc.choose, table.pack(("x"):rep(30000):byte(1, -1)))
  fails({ "pipeline:fit", "colon" }, recipe().fit, ds)
  fails({ "matrix" }, X.t)
  local data = sc.dataset{ X = X, y = y }
  fails({ "ds.y is 3" }, function()
    data.y = 3
    recipe():fit(data)
  end)
end

-- Fields of a data set that a script has set.
function TestMessages.test_fields_of_a_data_set()
  local fitted = recipe():fit(ds)
  for _, name in ipairs{ "X", "y", "weights", "names", "classes" } do
    local data = sc.dataset{ X = X, y = y }
    data[name] = 3
    for _, call in ipairs{ function() return #data end, function() return tostring(data) end,
      function() data:describe() end, function() data:labels() end, function() data:select{ 1 } end,
      function() data:split{ test = 0.5 } end, function() fitted:predict(data) end,
      function() fitted:score(data) end, function() recipe():cv(data) end } do
      fails({ ("ds.%s is 3; it takes a "):format(name) }, call)
    end
  end
end

-- Nearest names are sought for names alone: a text of megabytes takes no time.
function TestMessages.test_long_names()
  local help = require "scullery.help"
  local long = { ("y"):rep(7000000), (" "):rep(7000000) .. "y", ("(."):rep(3000000) }
  for _, name in ipairs(long) do
    lu.assertTrue(#help.text(name) < 400)
    for _, f in ipairs{ function() return sc[name] end, function() return X[name] end,
      function() return sc.solver.ridge{ [name] = 1 } end, function() return sc.solver[name] end,
      function() return sc.data[name] end, function() return ds[name] end } do
      lu.assertTrue(#support.fails({}, f) < 1000)
    end
  end
end

function TestMessages.test_no_call_shows_our_insides()
  local found, calls
  support.stderr_of(function() found, calls = attack() end)
  lu.assertTrue(calls > 10000)
  lu.assertEquals(table.concat(found, "\n"), "")
end

os.exit(lu.LuaUnit.run())

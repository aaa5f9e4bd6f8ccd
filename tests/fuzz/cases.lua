--- Cases of the API fuzzer, as texts of Lua: the same text for the same seed and number.
local attack = require "attack"
local catalogue = require "catalogue"
local w = require "world"

local cases = {}

local functions, classes, methods
local random, made, rate -- of the case that is written; how many arguments in 100 are hostile

local function pick(list) return list[random(#list)] end
local function chance(percent) return random(100) <= percent end

-- ------------ hostile values

local numbers = { "0", "1", "-1", "2", "3", "0.5", "1e308", "-1e308", "5e-324", "-0.0", "0/0",
  "1/0", "-1/0", "2^31", "2^32", "2^40", "2^53", "2^61", "2^62", "2^63", "math.maxinteger",
  "math.mininteger", "65537", "1e6", "1e-300", "1000", "7.000001" }

local texts = { '""', '"x"', '"scale"', '"median"', '"\\0"', '"a\\0b"', '("y"):rep(300)', '"1e5"',
  '"auto"', '"float32"', '"float64"', '"gaussian"', '"%s%n"', '"\\xff\\xfe"', '"balanced"',
  '"classification"', '"regression"', '"c1"', '"a"', '"__index"', '"fitted"', '("x"):rep(70000)' }

local tables = { "{}", "{ 1, 2, 3 }", "{ { 1, 2 }, { 3, 4 } }", "{ { 1, 2 }, { 3 } }",
  '{ "a", "b" }', "{ [3] = 1 }", "{ x = 1 }", "{ {}, {} }", "{ 0/0 }", "{ 1, nil, 3 }",
  "{ { { 1 } } }", "sc", "core", "w.v", "{ true }", '{ 1, "a" }', "{ [1.5] = 1 }", "{ -1 }",
  "w.deep(1000)", "w.deep(100000)", "w.loop()", "{ w.loop() }" }

local others = { "nil", "nil", "true", "false", "function() end", "io.stdout", "print",
  "coroutine.create(function() end)", "setmetatable({}, { __index = w.raise })" }

local expression, call -- below

-- What a callback or a metamethod does while the library runs.
local function action()
  local kind = random(16)
  local one = ("v[%d]"):format(random(made + 1))
  if kind <= 2 then return "w.close(" .. one .. ")" end
  if kind <= 4 then return one .. " = nil collectgarbage() collectgarbage()" end
  if kind == 5 then return "coroutine.yield(1)" end
  if kind == 6 then return "error('hostile', 0)" end
  if kind == 7 then return "error({}, 0)" end
  if kind == 8 then return "error(nil)" end
  if kind == 9 then return "core.interrupt()" end
  if kind == 10 then return "collectgarbage()" end
  if kind == 11 then return "for j = 1, 9 do w.close(v[j]) end" end
  if kind == 12 then
    return ("w.set(%s, %q, nil)"):format(one, pick{ "fitted", "X", "y", "source" })
  end
  if kind == 13 then
    return ('w.set(w.get(%s, "fitted"), %q, nil) collectgarbage()'):format(one, pick{ "map",
      "weights", "stages", "learnt", "intercept" })
  end
  if kind == 14 then return 'error(setmetatable({}, { __tostring = w.raise, __name = 3 }))' end
  return call(2)
end

local metamethods = { "__index", "__len", "__pairs", "__tostring", "__eq", "__lt", "__call",
  "__close", "__newindex", "__name", "__concat", "__unm", "__metatable", "__mode" }

local function strange_table()
  local event = pick(metamethods)
  local inner = pick(tables)
  if inner:sub(1, 1) ~= "{" then inner = "{}" end
  if event == "__name" then
    return ("setmetatable(%s, { __name = %s })"):format(inner, pick{ '"x"', "3", '("y"):rep(300)' })
  end
  if event == "__len" and chance(60) then
    return ("setmetatable(%s, { __len = function() return %s end })"):format(inner, pick(numbers))
  end
  if event == "__index" and chance(40) then
    return ("setmetatable(%s, { __index = function(_, k) if k == 1 then %s end return %s end })")
      :format(inner, action(), expression("any", 3))
  end
  if event == "__len" then -- it grows between two traversals
    return ("setmetatable(%s, { __len = function(t) rawset(t, rawlen(t) + 1, %s) return rawlen(t) \z
end })"):format(inner, pick(numbers))
  end
  return ("setmetatable(%s, { %s = function(...) %s return %s end })"):format(inner, event,
    action(), pick{ "1", "nil", "...", '"x"', "next, {}, nil" })
end

local function callback()
  local result = pick{ "nil", "false", "...", "w.read(...)", "sc.ones(12, 1)", "1", '"x"',
    "sc.zeros(0, 0), sc.zeros(0, 0)", "w.read(...)", "w.read(...)" }
  return ("function(...) %s return %s end"):format(action(), result)
end

local function hostile(depth)
  local kind = random(12)
  if kind <= 3 then return pick(numbers) end
  if kind <= 5 then return pick(texts) end
  if kind <= 7 then return pick(tables) end
  if kind <= 8 then return pick(others) end
  if kind <= 9 and depth < 3 then return strange_table() end
  if kind <= 10 and depth < 3 then return callback() end
  return expression(pick(classes), depth + 1)
end

-- ------------ arguments by their names

local small = { "0", "1", "2", "3", "5", "12" }
local lists = { "{ 1, 2, 3 }", "{ 1, 2 }", "{}", "{ 0 }", "{ 3, 2, 1 }", "{ 1, 1 }", "{ 12 }",
  "{ 1e-3, 1 }", '{ "c0", "c1" }', "{ 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2 }" }

local plain = { "0", "1", "2", "3", "0.1", "0.5", "1e-3", "true", "false", "nil", "{ 1, 2 }" }

-- Labels, scores and probabilities of 12 rows.
local labels = { "sc.matrix{ 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0 }",
  "{ 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2 }", "sc.ones(12, 1)", "sc.rand{ 12, 1, seed = 1 }",
  '{ "a", "b", "a", "b", "a", "b", "a", "b", "a", "b", "a", "b" }', "w.X():column(1)" }
local shares = { "sc.rand{ 12, 1, seed = 1 }", "sc.rand{ 12, 2, seed = 3 }", "w.X(12, 2)" }

-- name of an argument or option -> name of a class, or a list of texts
local known = {
  size = { "{ 12, 3, seed = 1 }", "{ 3, 3 }", "{ 0, 3 }", "{ 12 }" },
  list = { "{ { 1, 2 }, { 3, 4 } }", "{ 1, 2, 3 }", "{}", "{ { 1 }, { 2, 3 } }" },
  source = "source", from = "source", map = "map", training = "training", X = "matrix",
  sums = "engine_sums",
  Y = "matrix", y = labels, said = labels, truth = labels, probabilities = shares,
  given_scores = shares, scores = shares,
  U = "matrix", V = "matrix", matrix = "matrix", decisions = "matrix", targets = "matrix",
  mean = "matrix", numbers = "matrix", weights = "matrix", intercept = "matrix",
  vectors = "matrix", parameters = { "w.X(5, 3)", "{ 1, 3 }", "{ 1, 2, 3 }", "{}" },
  state = "matrix", ["matrix or array"] = "matrix", strangers = "matrix",
  stages = { "{}", "nil", "{ w.stage() }", '{ w.stage(), w.stage "add_bias" }',
    '{ w.stage "minmax" }' },
  data = "dataset", ds = "dataset", like = { 'sc.data.csv(w.file "csv", { quiet = true })' },
  features = "features", solver = { "w.instance('solver', 'ridge')", "w.instance('solver', 'cg')",
    "w.instance('solver', 'knn')", "w.instance('solver', 'lasso')", "w.instance('solver', 'svm')",
    "w.instance('solver', 'logistic')", "sc.solver.ridge()" },
  sampler = { "w.instance('sampler', 'gaussian')", "w.instance('sampler', 'grid')",
    "w.instance('sampler', 'landmarks')", "w.instance('sampler', 'qmc')" },
  p = "sampler", phi = "nonlinearity", K = "kernel", kernel = { "w.instance('kernel', 'gaussian')",
    "w.instance('kernel', 'linear')", "w.instance('kernel', 'matern')" },
  nonlinearity = { "w.instance('nonlinearity', 'relu')", "w.instance('nonlinearity', 'bins')",
    "w.instance('nonlinearity', 'step')" },
  instance = "instance", model = "engine_model", spec = { "w.spec()", "w.spec{ bare = true }",
    'w.spec{ kernel = w.instance("kernel", "gaussian") }', "w.spec{ T = 0 }" },
  candidates = { "{ { { weights = sc.ones(3, 1), intercept = sc.ones(1, 1) } } }", "{ {} }",
    "{ { { weights = sc.ones(5, 1), intercept = sc.ones(1, 1) } } }" },
  without = { "nil", "true", "false", "1", "0", "{ 1 }" }, values = lists, places = lists,
  folds = { "2", "3", "12", "{ 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2 }", "sc.ones(12, 1)" },
  pruning = "pruning", blocks = "blocks", file = "row_file", saved = "saved", rows = "rows",
  ["list of rows"] = { '{ { name = "n", form = "number" } }', "{ {} }" },
  dtype = { '"float32"', '"float64"' }, task = { '"classification"', '"regression"' },
  kind = { '"sampler"', '"solver"', '"kernel"', '"nonlinearity"', '"standardize"' },
  name = { '"gaussian"', '"ridge"', '"relu"', '"wdbc"', '"mnist"' }, text = { '"{}"', '"[1, 2]"' },
  path = { 'w.file "csv"', 'w.file "npy"', 'w.file "libsvm"', 'w.file "model"', 'w.file "junk"',
    '"out.csv"', '"out.npy"', '"out"', '"missing"', '"folder/x"',
    '{ w.file "csv", w.file "csv" }' },
  paths = { 'w.file "csv"', 'w.file "libsvm"', '{ w.file "csv", w.file "numbers" }' },
  images = { 'w.file "idx"', '{ w.file "idx", w.file "idx" }' }, labels = { 'w.file "labels"' },
  classes = { "{ 1, 2 }", '{ "c0", "c1" }', "{ 0, 1 }", "2", "{}" },
  f = { "function(...) return ... end" }, read = { "w.read" }, progress = { "function() end" },
  n = small, d = small, k = small, T = { "1", "2", "5", "9", "{ 2, 4 }" }, seed = small,
  count = small, first = small, last = small, levels = { "2", "3", "nil" }, index = small,
  lambda = { "1e-3", "1", "sc.choose{ 1e-3, 1 }", "sc.choose.log{ 1e-4, 1 }" },
  changes = { '{ ["solver.lambda"] = 1 }', '{ ["features.T"] = 3 }' },
  choices = { "{}", '{ ["ridge.lambda"] = 1 }' }, prepared = { "{ stages = {} }" },
  fit = { "{ weights = sc.ones(3, 1), intercept = sc.ones(1, 1), status = 'converged' }" },
  fields = { "{}", "{ X = w.X(3) }" }, stage = "engine_stage", draws = { "2", "3" },
  sigmoids = { "{ { slope = 1, offset = 0 } }" }, ids = { '{ "a" }', "nil" },
  url = { '"http://127.0.0.1:9/"' },
  word = texts, names = { '{ "a", "b", "c" }', "{}" }, reader = { '"csv"', '"libsvm"' },
  widths = { "{ 1, 1, 3 }" }, radius = { "1", "2" }, block = { "1", "5", "256" },
  whiten = { "true" },
  fraction = { "0.5", "0.3" }, part = { '"train"', '"test"' }, target = { '"class"', '"a"', "1" },
  codes = "packed",
  other = "codes", criterion = { '"accuracy"', '"log_loss"', "function() return 1 end" },
  width = { "1", '"scale"', '"median"', "sc.choose{ 1, 2 }" }, terms = { "{ sc.kernel.linear(), \z
    sc.kernel.gaussian() }" }, allowance = { "0", "1e3", "1e9" }, iterations = { "1", "5" },
  passes = { "1", "3" }, batch = { "1", "4" }, neighbours = { "1", "3" }, runs = { "1", "2" },
  class_weights = { '"balanced"', "{ c0 = 2 }" }, options = { "{}" }, show = { "tostring" },
  cells = { "{ T = { 1, 2 }, seed = { 1, 2 } }", '{ { T = 1 }, { s = "x" } }', "{ T = 3 }" },
  run = { "function(cell) return { error = cell.T } end", "function() return {} end" },
  journal = "journal", header = { '"{}\\n"', '"x"' }, line = { '"{}\\n"', '"x\\n"', '"x"' },
  experiment = "experiment", over = { '"seed"', "{}", '{ "T", "seed" }' },
  where = { "{ T = 1 }", "{}" },
  tests = { "{}" }, title = { '"title"' }, self = "pipeline", id = { '"a"' }, npy = { "true" },
}

-- Options in a table by their names; some with values that are none of theirs.
local function option_table(of, depth)
  if #of.options == 0 then return expression("any", depth) end
  local parts = {}
  for _ = 1, random(4) - (chance(30) and 1 or 0) do
    local name = pick(of.options)
    local words = of.words and of.words[name]
    local value
    if words and #words > 0 and chance(60) then
      value = ("%q"):format(pick(words))
    else
      value = expression(name, depth + 1)
    end
    parts[#parts + 1] = name .. " = " .. value
  end
  if chance(rate // 3) then parts[#parts + 1] = "bogus = 1" end
  if chance(rate // 3) then table.insert(parts, 1, expression("any", depth + 1)) end
  local written = "{ " .. table.concat(parts, ", ") .. " }"
  if chance(6) and depth < 3 then
    return ("setmetatable(%s, { __pairs = function(t) %s return next, t, nil end, __index = \z
function(_, k) %s end })"):format(written, action(),
      chance(50) and "error('hostile', 0)" or "return 1")
  end
  return written
end

function expression(name, depth)
  if depth > 3 then return pick(numbers) end
  if chance(rate) or name == "any" and chance(50 + rate) then return hostile(depth) end
  local what = known[name] or catalogue.objects[name] and name
  if type(what) == "table" then return pick(what) end
  if what then
    if made > 0 and chance(50) then
      local fitting = {}
      for i = 1, made do if cases.kinds[i] == what then fitting[#fitting + 1] = i end end
      if #fitting > 0 then return ("v[%d]"):format(pick(fitting)) end
    end
    return pick(catalogue.objects[what])
  end
  return chance(90 - rate) and pick(plain) or hostile(depth)
end

local function arguments_of(f, depth)
  local list, of_options = {}, 100 - rate // 2
  for i, name in ipairs(f.arguments) do
    local fixed = f.fixed and f.fixed[i] or f.bounded and f.bounded[i] and pick(f.bounded[i])
    if fixed and (f.bounded or chance(95)) then
      list[i] = fixed
    elseif name == "given" and chance(of_options) then
      list[i] = option_table(f, depth)
    else
      list[i] = expression(name, depth)
    end
    if chance(4) and not f.bounded then break end
  end
  if f.bounded then
    for i = #list + 1, #f.bounded do list[i] = pick(f.bounded[i]) end
  elseif chance(5) then
    list[#list + 1] = expression("any", depth)
  end
  return table.concat(list, ", ")
end

-- Any function, or a method of an object that there is.
local function pick_function()
  local f
  local class = made > 0 and chance(50) and cases.kinds[random(made)]
  local own = class and methods[class]
  if own and #own > 0 then return pick(own) end
  repeat f = pick(functions) until not f.rare or chance(10)
  return f
end

-- A call under protection: of a function, of a method, or an operator.
function call(depth)
  if chance(6) then
    return ("w.operator(%d, %s, %s, %s)"):format(random(w.operators), expression(pick(classes),
      depth), expression("any", depth), expression("any", depth))
  end
  local f = pick_function()
  local with = arguments_of(f, depth)
  local comma = with == "" and "" or ", "
  if f.method then
    return ("w.method(%s, %q%s%s)"):format(expression(f.class, depth), f.method, comma, with)
  end
  local how = chance(8) and not f.bounded and "co" or "call"
  return ("w.%s(%q, %s%s%s)"):format(how, f.title, f.call, comma, with)
end

-- ------------ a case

local model_fields = { "weights", "intercept", "map", "stages", "learnt", "classes", "targets",
  "dim", "dtype", "block", "task", "schema", "calibration", "components", "solver", "features",
  "map_info", "origin", "names", "n" }

local settings = {
  function(one)
    local field = pick(model_fields)
    return ('w.set(w.get(%s, "fitted"), %q, %s)'):format(one, field, expression(field, 1))
  end,
  function(one)
    return ('w.set(w.get(%s, "fitted", "stages"), 1, %s)'):format(one,
      expression("engine_stage", 1))
  end,
  function(one)
    local field = pick{ "X", "y", "classes", "weights", "source", "task", "names", "schema",
      "codes", "columns" }
    return ("w.set(%s, %q, %s)"):format(one, field, expression(field, 1))
  end,
  function(one)
    local field = pick{ "fitted", "features", "solver", "classes", "block", "data", "choice" }
    return ("w.set(%s, %q, %s)"):format(one, field, expression(field, 1))
  end,
}

local function statement()
  local kind = random(20)
  local one = ("v[%d]"):format(random(made))
  if kind == 1 then return "w.close(" .. one .. ")" end
  if kind == 2 then return one .. " = nil collectgarbage()" end
  if kind == 3 then return ("w.collected(function() %s end)"):format(action()) end
  if kind <= 6 then return pick(settings)(one) end
  if kind == 7 then return "w.call('', core.fail_allocation_after, " .. random(40) .. ")" end
  if kind <= 9 and made < 8 then
    made = made + 1
    return ("v[%d] = %s"):format(made, call(1))
  end
  return call(1)
end

local function object(class)
  local text = pick(catalogue.objects[class])
  if class == "pipeline" and chance(60) then -- any features with any solver
    local solver = pick(catalogue.objects.solver):match("sc%.solver%.([%w_]+)")
    text = ("w.fitted(%q, %q, %s)"):format(pick{ "none", "fourier", "sections", "cells",
      "weighting", "codes" }, solver,
      pick{ "w.classes()", "w.numbers()", "w.classes(3)", "w.rows(w.read)" })
  elseif class == "dataset" and chance(30) then
    text = ("w.rows(%s)"):format(callback())
  elseif class == "source" and chance(30) then
    text = ("core.generator(12, 3, 1, %s)"):format(callback())
  end
  return text
end

--- cases.text(seed, number): the case as Lua, a statement a line.
function cases.text(seed, number)
  if not functions then
    functions, methods = catalogue.functions(), {}
    for _, f in ipairs(functions) do
      if f.class then
        methods[f.class] = methods[f.class] or {}
        table.insert(methods[f.class], f)
      end
    end
    classes = {}
    for class in pairs(catalogue.objects) do classes[#classes + 1] = class end
    table.sort(classes)
  end
  random, made, cases.kinds = attack.random(seed * 1000003 + number), 0, {}
  rate = pick{ 2, 6, 15, 40 }
  local lines = {}
  for i = 1, random(3) do
    local class = chance(40) and pick{ "pipeline", "dataset", "matrix", "source", "map" }
      or pick(classes)
    made = i
    lines[#lines + 1] = ("v[%d] = w.call(%q, function() return %s end)"):format(i, "new " .. class,
      object(class))
    cases.kinds[i] = class
  end
  for _ = 1, random(6) do lines[#lines + 1] = statement() end
  for i = 1, math.min(made, 3) do
    if cases.kinds[i] == "pipeline" then
      lines[#lines + 1] = ('w.method(v[%d], "predict", w.X())'):format(i)
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return cases

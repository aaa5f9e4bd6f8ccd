--- Everything that a script can reach from sc, require "scullery.core" and "scullery.checker":
--- functions, methods of every class of object, and the options that they take, as texts of Lua.
local sc = require "scullery"
local core = require "scullery.core"
local objects = require "scullery.base.objects"
local support = require "support"
local w = require "world"

local catalogue = {}

local source = os.getenv("SCULLERY_SOURCE") or "."

local function sorted(set)
  local list = {}
  for key in pairs(set) do if type(key) == "string" then list[#list + 1] = key end end
  table.sort(list)
  return list
end

-- ------------ what functions take

-- MODULE.NAME(argument, ...) as the comments of the C files in a folder say.
local function module_arguments(module, folder)
  local found = {}
  local pipe = assert(io.popen(("ls %s/%s/*.c"):format(support.quote(source), folder)))
  for path in pipe:lines() do
    for name, arguments in support.read(path):gmatch(module .. "%.([%w_]+)(%b())") do
      local list = {}
      for part in arguments:sub(2, -2):gsub("%b{}", "given"):gsub("[%[%]\n*]", " "):gmatch("[^,]+")
      do
        list[#list + 1] = part:match("^%s*(.-)%s*$")
      end
      if not found[name] or #list > #found[name] then found[name] = list end
    end
  end
  pipe:close()
  return found
end

-- The same of functions whose help stands elsewhere, and of the methods of matrices.
local told = { zeros = { "n", "d", "dtype" }, ones = { "n", "d", "dtype" }, eye = { "n", "dtype" },
  rand = { "size" }, randn = { "size" }, matrix = { "list", "dtype" },
  hcat = { "matrix", "matrix", "matrix" }, vcat = { "matrix", "matrix", "matrix" },
  get = { "n", "d" }, set = { "n", "d", "lambda" }, row = { "n" }, column = { "d" },
  slice = { "n", "n" }, select = { "places" }, map = { "f" }, mul = { "matrix" },
  div = { "matrix" }, dot = { "matrix" }, sum = { "n" }, mean = { "n" }, std = { "n" },
  min = { "n" }, max = { "n" }, argmax = { "n" }, norm = { "n" }, astype = { "dtype" },
  save = { "path" }, counts = { "n" } }

local lines_of = {}

-- The options of a Lua function: the words before "=" in the comment above it and in its first
-- lines.
local function options_of(info)
  local path = info.source:sub(2)
  if not lines_of[path] then
    lines_of[path] = {}
    for line in io.lines(path) do table.insert(lines_of[path], line) end
  end
  local lines, seen = lines_of[path], {}
  local at = info.linedefined - 1
  while lines[at] and lines[at]:sub(1, 2) == "--" do
    for word in lines[at]:gmatch("([%a_]+) =") do seen[word] = true end
    at = at - 1
  end
  return sorted(seen)
end

-- {arguments, options} of a function, by what Lua knows of it or by the comment in C.
local function signature(f, from_c)
  f = objects.original[f] or f
  local info, arguments = debug.getinfo(f, "Su"), {}
  if info.what == "C" then return from_c or { "any", "any", "any" }, {} end
  for i = 1, info.nparams do arguments[i] = debug.getlocal(f, i) end
  if info.isvararg then arguments[#arguments + 1] = "any" end
  return arguments, options_of(info)
end

-- ------------ the list

-- Every object of a class, made as a text; the first is the one whose methods are listed.
catalogue.objects = {
  matrix = { "w.X()", "sc.ones(12, 1)", "sc.zeros(0, 3)", "sc.zeros(3, 0)", "sc.zeros(0, 0)",
    "sc.ones(1, 1)", "w.X():t()", "w.X():slice(2, 5)", 'w.X():astype("float32")',
    "sc.matrix{ { 1, 0/0 }, { 1/0, 2 } }", "sc.eye(3)",
    "sc.matrix{ 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0 }", "sc.rand{ 12, 2, seed = 3 }",
    "sc.ones(1, 3)", "sc.ones(1, 5)", "sc.ones(5, 1)", "sc.ones(3, 1) * 2", "w.X(12, 5)" },
  sparse = { "sc.matrix.csr(w.X())", "sc.matrix.csr(sc.eye(3))", "sc.matrix.csr(w.X()):slice(2, 5)",
    'sc.matrix.csr(w.X(), { dtype = "float32" })',
    "sc.matrix.csr{ columns = 3, starts = { 0 }, indices = {}, values = {} }",
    "sc.matrix.csr{ columns = 2^31, starts = { 0, 1 }, indices = { 2^31 - 1 }, values = { 7 } }" },
  dataset = { "w.classes()", "sc.dataset{ X = sc.matrix.csr(w.X()), y = w.X():column(1) }",
    "w.numbers()", "w.classes(3)", "w.classes(2, 40)", "w.rows(w.read)",
    'w.rows(w.read, "classification")', 'sc.data.csv(w.file "csv", { quiet = true })',
    "sc.dataset{ X = w.X() }", 'sc.data.csv(w.file "csv", { quiet = true, stream = true })' },
  pipeline = { 'w.fitted("fourier", "ridge", w.classes())',
    'w.recipe("fourier", "ridge", { lambda = sc.choose{ 1e-3, 1 } })', "w.search()",
    'w.fitted("none", "none", w.classes())', "sc.pipeline{ w.features() }:fit(w.X())",
    'sc.load(w.file "model")' },
  features = { "w.features()", 'w.features "sections"', 'w.features "cells"',
    'w.features "weighting"', 'w.features "codes"',
    'w.fitted("codes", "ridge", w.classes()).features' },
  instantiation = { "sc.instantiation{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.relu() }",
    "w.features().inst", 'w.features("weighting").inst', 'w.features("sections").inst' },
  sampler = {}, nonlinearity = {}, solver = {},
  kernel = { "sc.kernel.gaussian()", "w.nested_kernel(3)", "w.nested_kernel(20)" },
  stage = { "sc.standardize()", "sc.minmax()", "sc.normalize()", "sc.add_bias()", "sc.relevance()",
    "sc.pca{ k = 2 }", "sc.stage.whiten()", "sc.stage.quantile{ knots = 3 }",
    "sc.stage.random_projection{ k = 2 }", "sc.stage.target_encoding{ columns = { 1 } }" },
  choose = { "sc.choose{ 1, 2 }", "sc.choose.log{ 1e-3, 1 }",
    "sc.choose.range{ 1, 9, count = 3 }" },
  codes = { "sc.codes(sc.matrix{ { 0, 1, 1 }, { 1, 0, 2 } })", 'sc.codes.load(w.file "codes")' },
  model = { 'w.get(w.fitted("fourier", "ridge", w.classes()), "fitted")' },
  judged = { "w.fitted('fourier', 'ridge', w.classes(2, 40)):cv(w.classes(2, 40), { folds = 2 })" },
  table = { 'w.get(w.search(), "table")' },
  calibration = { 'w.get(w.fitted("fourier", "ridge", w.classes(2, 40)):calibrate{ folds = 2 }, \z
    "fitted", "calibration")' },
  confusion = { "sc.metrics.confusion({ 1, 2, 1 }, { 1, 2, 2 })" },
  reliability = { "sc.metrics.calibration({ 0.2, 0.6, 0.9 }, { 0, 1, 1 })" },
  schema = { 'sc.data.csv(w.file "csv", { quiet = true }).schema', 'sc.load(w.file "schema")' },
  space = { "sc.space.dense", "sc.space.grid" },
  kernel_error = { "sc.kernel_error{ inst = w.features().inst, X = w.X(), T = { 2, 4 } }",
    'sc.kernel_error{ inst = w.features("weighting").inst, X = w.X(), T = { 2, 4 }, seeds = 2 }' },
  source = { "w.source()", "core.source(w.X())", "core.generator(12, 3, 1, w.read)",
    'w.source "classes"', 'core.stream_npy(w.file "npy")', "w.rows(w.read).source",
    "core.source_columns(w.source(), { 2, 1 })" },
  engine_stage = { "w.stage()", 'w.stage "minmax"', 'w.stage "normalize"', 'w.stage "add_bias"',
    'w.stage("select", { columns = { 3, 1 } })' },
  map = { "w.map()", 'w.map "sections"', 'w.map "cells"', 'w.map "weighting"', 'w.map "codes"',
    "core.map(w.spec{ bare = true })", "core.map_staged(w.map(), { w.stage_of_map(w.map()) })" },
  training = { "w.training()", "w.training{ folds = { 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2 } }",
    'core.training(w.source "classes", {}, w.map(), { classes = 2 })' },
  engine_sums = { "w.sums()", "w.sums{ folds = { 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2 } }",
    'w.sums({}, "float64")', "w.sums{ weights = w.X():column(1):abs() }",
    "w.sums{ fingerprints = false, from = 3, to = 7 }" },
  sums = { "w.kept()", "w.kept{ folds = 2 }", "w.kept{ part = { 1, 2 } }" },
  engine_model = { 'w.get(w.fitted("none", "knn", w.classes()), "fitted", "learnt")',
    'w.get(w.fitted("none", "svm", w.classes()), "fitted", "learnt")' },
  pruning = { 'core.pruning(w.map "weighting", sc.ones(5, 1))' },
  packed = { "core.codes_pack(sc.matrix{ { 0, 1, 1 }, { 1, 0, 1 } }, 2)" },
  blocks = { 'core.csv_blocks(w.file "csv", { like = sc.data.csv(w.file "csv", { quiet = true })\z
    .schema })', 'core.npy_blocks(w.file "npy", 3)', 'core.libsvm_blocks(w.file "libsvm", 3)' },
  row_file = { 'core.row_file("out.csv", { names = { "a" } })',
    'core.row_file("out.npy", { names = { "a" }, npy = true })' },
  saved = { '(core.saved_open(w.file "model"))' },
  experiment = { "w.experiment()", 'sc.experiment.open(w.experiment().name)' },
  experiment_table = { "w.experiment():table()", 'w.experiment():table{ columns = "seed" }' },
  journal = { 'core.journal_open("out.jsonl", "{}\\n")' },
  rows = { 'core.option_rows{ { name = "n", form = "number", low = 1 } }' },
  instance = { 'w.instance("sampler", "gaussian")', 'w.instance("solver", "ridge")',
    'w.instance("kernel", "gaussian")', 'w.instance("nonlinearity", "relu")',
    'w.instance("solver", "knn")', 'w.instance("nonlinearity", "bins")',
    'w.instance("sampler", "grid")', 'w.instance("stage", "pca")',
    'w.instance("stage", "target_encoding")',
    'w.instance("kernel", "sum", { terms = { sc.kernel.linear() } })' },
}

-- What an option of a component may be, by its declaration.
local function add_components(list)
  for _, entry in ipairs(core.plugin_list()) do
    local expression = ("sc.%s.%s"):format(entry.kind, entry.name)
    local made = catalogue.objects[entry.kind] or {} -- no function takes a transport
    table.insert(made, expression .. "()")
    local names, words = {}, {}
    for _, option in ipairs(core.plugin_info(entry.kind, entry.name).options) do
      names[#names + 1], words[option.name] = option.name, option.words
    end
    list[#list + 1] = { title = expression, call = expression, arguments = { "given" },
      options = names, words = words }
    list[#list + 1] = { title = "core.instance", call = "core.instance", words = words,
      fixed = { ("%q"):format(entry.kind), ("%q"):format(entry.name) },
      arguments = { "kind", "name", "given", "scale", "scale", "count" }, options = names }
  end
end

-- Calls that would touch the machine, or take minutes by what they are asked, with arguments in
-- place of hostile ones.
local url = { '"http://127.0.0.1:9/x"', '"http://127.0.0.1:9/"', "nil", "3", "{}" }
local bounded = {
  ["core.threads"] = { { "1", "2", "3", "0", "nil", "0/0", '"x"' } },
  ["sc.threads"] = { { "1", "2", "3", "0", "nil", "0/0", '"x"' } },
  ["core.ceiling"] = { { '"gemm"', '"syrk"', "3", "nil" }, { '"float32"', "nil", '"x"' },
    { "0", "7", "64", "2^40", "0/0", "nil" } },
  ["core.ceiling_features"] = { { '"float32"', '"x"' }, { "1", "0", "2^40" }, { "3", "-1" },
    { "2", "0/0" }, { "5", "nil" }, { '"cos"', '"none"', '"x"', "3" } },
  ["core.ceiling_rates"] = { { "0", "7", "64", "2^40", "0/0", "nil" } },
  ["core.ceiling_gram"] = { { "1", "0", "2^40" }, { "7", "64", "-1", "2^40" } },
  ["core.fetch"] = { url },
  ["core.in_child"] = { { "1", "0", "nil" }, { "function() return 'x' end",
    "function() error('x') end", "function() os.exit(3) end", "nil" } },
  ["core.run_program"] = { { '{ "true" }', '{ "nosuchprogram" }', "{}", "3" },
    { "1", "0/0", "nil" }, { "nil", '"x"', "3" } },
  ["core.set_mode"] = { { '"x"', "3", "nil" }, { "0", "420", "-1", "nil" } },
  ["core.link"] = { { '"x"', "nil" }, { '"nowhere/x"', "3" } },
  ["core.interrupt"] = {},
  -- it ends the process after so many seconds
  ["checker.report_begin"] = { { "1e6", "nil", '"x"' } },
  ["core.worker_start"] = { { "nil", "3", "{}" }, { "nil", "0", "{}" } },
  ["core.worker_wait"] = { { "{}", "3", "{ 1 }", "nil" }, { "0", "0.1", "-1", "0/0", "nil" } },
  ["core.fail_allocation_after"] = { { "1", "3", "7", "20", "60", "200" } },
}

-- Costly by themselves: called more rarely.
local rare = { ["core.plugin_files"] = true, ["sc.data.list"] = true,
  ["core.plugin_list"] = true, ["sc.plugin.list"] = true, ["sc.kernel_error"] = true }

local function add(list, title, call, f, from_c)
  local arguments, options = signature(f, from_c)
  list[#list + 1] = { title = title, call = call, arguments = arguments, options = options,
    bounded = bounded[title], rare = rare[title] }
end

local component_kinds = { sampler = true, nonlinearity = true, kernel = true, solver = true }

local function add_functions(list)
  local from_c = module_arguments("core", "core/lua")
  for _, name in ipairs(sorted(core)) do
    local f, call = core[name], "core." .. name
    if type(f) == "function" then add(list, call, call, f, told[name] or from_c[name]) end
  end
  from_c = module_arguments("checker", "checker")
  for _, name in ipairs(sorted(w.checker)) do
    if name ~= "leave" then -- which ends the process: what finalizers make then is not destroyed
      add(list, "checker." .. name, "w.checker." .. name, w.checker[name], from_c[name])
    end
  end
  for _, name in ipairs(sorted(sc)) do
    local value, call = sc[name], "sc." .. name
    if type(value) == "function" then add(list, call, call, value, told[name]) end
    local inner = type(value) == "table" and not component_kinds[name] and value or {}
    for _, key in ipairs(sorted(inner)) do
      if type(inner[key]) == "function" then
        add(list, call .. "." .. key, call .. "." .. key, inner[key])
      end
    end
  end
  for _, call in ipairs{ "sc.choose", "sc.codes", "sc.matrix" } do
    list[#list + 1] = { title = call, call = call, arguments = { "numbers", "levels" },
      options = {} }
  end
  list[#list + 1] = { title = "sc.experiment", call = "sc.experiment", arguments = { "given" },
    options = { "name", "cells", "run", "folder", "data", "processes", "allow_failures",
      "retry" } }
  list[#list + 1] = { title = "help", call = "w.help", arguments = { "any" }, options = {} }
end

-- Methods, by the first object of each class; names of its class's functions as well.
local function add_methods(list)
  for _, class in ipairs(sorted(catalogue.objects)) do
    local text = catalogue.objects[class][1]
    local object = load("local w, sc, core = ... return " .. text)(w, sc, core)
    assert(object ~= nil, "no object of " .. class)
    local meta = debug.getmetatable(object)
    local methods = meta and (rawget(meta, "methods")
      or type(meta.__index) == "table" and meta.__index) or {}
    for _, name in ipairs(sorted(methods)) do
      local f = methods[name]
      if type(f) == "function" then
        local arguments, options = signature(f, { "self", table.unpack(told[name]
          or { "any", "any" }) })
        list[#list + 1] = { title = name, class = class, method = name, options = options,
          arguments = { table.unpack(arguments, 2) } }
      end
    end
    for _, name in ipairs(getmetatable(object) and sorted(meta) or {}) do
      if type(meta[name]) == "function" then
        local call = ("getmetatable(%s).%s"):format(text, name)
        list[#list + 1] = { title = "raw." .. class .. "." .. name, call = call, options = {},
          arguments = { class, "any", "any" }, rare = true }
      end
    end
  end
end

--- catalogue.functions(): the list of { title, call = text or class, method; arguments = names;
--- options = names }, in the same order in every run.
function catalogue.functions()
  local list = {}
  add_components(list)
  add_functions(list)
  add_methods(list)
  return list
end

return catalogue

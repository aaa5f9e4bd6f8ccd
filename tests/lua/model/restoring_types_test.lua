--- Headers of saved models with one value replaced by one of each type of JSON: what loads can be
--- printed, asked, used for predictions and reported; all else is refused by a sentence about the
--- file, and nothing ends in a bug in Scullery.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local models, support = require "small_models", require "support"
local model_file = require "model_file"

local path, copy = support.memory_path(), support.memory_path()
local page, rows = path .. ".html", path .. ".csv"

-- ------------ headers

-- The description, and the places where its text begins and ends in the header, quotes included.
local function description_of(header)
  local _, from = header:find('"scullery":"', 1, true)
  local at = from + 1
  while header:sub(at, at) ~= '"' do
    at = at + (header:sub(at, at) == "\\" and 2 or 1)
  end
  return core.json_decode(core.json_decode("[" .. header:sub(from, at) .. "]")[1]), from, at
end

-- f(path of names, value, set) for each value within the table; set(text) gives the JSON with that
-- text in its place.
local function each_value(body, f, node, trail)
  node, trail = node or body, trail or ""
  for key, value in next, node do
    local here = trail .. "." .. tostring(key)
    if type(value) == "table" then each_value(body, f, value, here) end
    f(here, value, function(text)
      node[key] = "VALUE"
      local json = core.json_encode(body)
      node[key] = value
      return (json:gsub('"VALUE"', function() return text end))
    end)
  end
end

local replacements = { "7", '"x"', '{"a":1}', "[1]", "true", "null" }

-- All types for every value in CI, else two of them in turn.
local few, turn = not os.getenv "SCULLERY_CI", 0
local function types()
  if not few then return replacements end
  turn = turn + 1
  return { replacements[turn % 3 + 1], replacements[turn % 3 + 4] }
end

-- Entries whose type alone says whether they are right; others, such as options, are judged by what
-- takes them.
local typed = { "^%.data", "^%.table$", "^%.scullery$", "%.schema%.", "%.calibration%.",
  "%.report%.", "%.weighted$", "%.components", "%.log_scale$", "%.method$", "%.seconds%." }

local function is_typed(trail)
  for _, pattern in ipairs(typed) do if trail:find(pattern) then return true end end
  return false
end

-- ------------ what is done with a model

local function is_fault(message)
  return message:find("bug in Scullery", 1, true) or message:find("^[^\n]*%.lua:%d+: attempt to")
    or message:find("attempt to ", 1, true) or message:find("bad argument", 1, true)
end

local use = {}

function use.pipeline(p, X)
  return { print = function() return tostring(p) end, info = function() return p:info() end,
    shown = function() return tostring(p.table) .. tostring(p.choice and 1) end,
    notes = function() return p.table and p.table:notes() end,
    predict = function() return X and p:predict(X) end,
    labels = function() return X and p:labels(X) end,
    decision = function() return X and p:decision(X) end,
    probabilities = function() return X and p:probabilities(X) end,
    like = function() return sc.data.csv(rows, { like = p }) end,
    report = function() return p:report(page) end,
    plot = function() return p.table and p.table:plot() end,
    deviations = function() return X and p:decision(X, { std = true }) end,
    interval = function() return X and p:interval(X, { level = 0.5 }) end,
    label_sets = function() return X and p:label_sets(X, { level = 0.5 }) end,
    norm = function() return p:norm() end, bound = function() return p:bound() end,
    save = function() return p:save(copy) end, clone = function() return tostring(p:clone()) end }
end

function use.features(p, X)
  return { print = function() return tostring(p) end,
    transform = function() return X and p:transform(X) end }
end

function use.schema(s)
  return { like = function() return sc.data.csv(rows, { like = s }) end }
end

local function check(where, X)
  local ok, value = pcall(sc.load, path)
  if not ok then
    lu.assertTrue(type(value) == "string" and value:find(path, 1, true) ~= nil
      and not is_fault(value), where .. ": load: " .. tostring(value))
    return false
  end
  local kind = getmetatable(value) and getmetatable(value).__name or "schema"
  for what, f in pairs((use[kind] or use.schema)(value, X)) do
    local fine, message = pcall(f)
    if not fine and is_fault(tostring(message)) then
      lu.fail(("%s: %s: %s"):format(where, what, message))
    end
  end
  return true
end

-- Every value of the header of what save() writes to `path`, in turn.
local function try_all(name, save, X)
  save(path)
  local header, data = model_file.parts(support.read(path))
  local body, from, to = description_of(header)
  local loads = 0
  each_value(body, function(trail, value, set)
    for _, text in ipairs(types()) do
      local changed = core.json_encode{ set(text) }:sub(2, -2)
      model_file.write(path, header:sub(1, from - 1) .. changed .. header:sub(to + 1), data)
      local where = ("%s%s = %s"):format(name, trail, text)
      local loaded = check(where, X)
      if loaded and is_typed(trail) then
        local now = core.json_decode("[" .. text .. "]")[1]
        lu.assertEquals(type(now), type(value), where .. " was loaded")
      end
      lu.assertFalse(loaded and text == "null", where .. " was loaded")
      loads = loads + (loaded and 1 or 0)
    end
  end)
  lu.assertTrue(loads > 0)
end

local function saved(value) return function(to) value:save(to) end end

-- ------------ the models

local function table_of_rows()
  support.write(rows, "a,b,c,y\n1,x,2020-01-01,u\n2,y,2020-01-02,v\n,z,2020-01-03,u\n"
    .. "4,x,2020-01-04,v\n5,y,2020-01-05,u\n6,,2020-01-06,v\n")
  return sc.data.csv(rows, { target = "y", quiet = true })
end

local function quietly(f)
  local result
  support.stderr_of(function() result = f() end)
  return result
end

function TestSearchedAndCalibrated()
  local ds = models.classes(30, 3)
  local p = quietly(function()
    return sc.pipeline{ sc.choose{ sc.standardize(), sc.minmax() }, sc.solver.ridge{
      lambda = sc.choose.log{ 1e-4, 1, count = 2 } } }:search(ds, { folds = 2 })
      :calibrate{ folds = 2 }
  end)
  quietly(function() try_all("search", saved(p), ds.X) end)
end

function TestTableOfFields()
  local ds = table_of_rows()
  local p = quietly(function()
    return sc.pipeline{ sc.standardize(), sc.solver.ridge{} }:fit(ds)
  end)
  quietly(function()
    try_all("table", saved(p), ds.X)
    try_all("schema", function(to) ds:save_schema(to) end)
  end)
end

function TestFeaturesAndComponents()
  local ds = models.numbers(20)
  local pipelines = {
    kitchen = { sc.standardize(), sc.features{ p = sc.sampler.gaussian(),
      phi = sc.nonlinearity.fourier(), T = 3, seed = 1 }, sc.solver.ridge{} },
    pca = { sc.pca{ k = 2 }, sc.features{ p = sc.sampler.gaussian(),
      phi = sc.nonlinearity.relu(), T = 3 }, sc.pca{ k = 2 } } }
  quietly(function()
    for name, stages in pairs(pipelines) do
      try_all(name, saved(sc.pipeline(stages):fit(name == "pca" and ds.X or ds)), ds.X)
    end
    try_all("cells", saved(sc.features{ p = sc.sampler.grid(), phi = sc.nonlinearity.bins(),
      T = 2 }:fit(ds.X)), ds.X)
    try_all("svm", saved(sc.pipeline{ sc.solver.svm{ kernel = sc.kernel.gaussian{
      width = "median" } } }:fit(models.classes(20, 3))), ds.X)
  end)
end

-- What models keep for standard deviations, intervals and updates.
function TestKeptNumbers()
  local function stages(solver)
    return { sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.fourier(), T = 3,
      seed = 1 }, solver }
  end
  local numbers, labels = models.numbers(20), models.classes(20, 3)
  quietly(function()
    local p = sc.pipeline(stages(sc.solver.ridge{ lambda = 1e-2 }))
      :fit(numbers, { interval = "loo", sums = true })
    try_all("loo", function(to) p:save(to, { sums = true, std = true }) end, numbers.X)
    for _, method in ipairs{ "folds", "split" } do
      try_all(method, saved(sc.pipeline(stages(sc.solver.logistic{ lambda = 1e-2 }))
        :fit(labels, { interval = method })), labels.X)
    end
  end)
end

function TestTexts()
  support.write(rows, "body,y\nfree prize,a\nlunch report,b\na prize,a\nreport lunch,b\n")
  local ds = sc.data.csv(rows, { text = "body", quiet = true })
  local list = ds.X:totable()
  quietly(function()
    for name, o in pairs{ hashed = { ngrams = { 1, 2 }, bits = 4 },
      named = { vocabulary = true, weight = "tf", sublinear = true } } do
      try_all(name, saved(sc.pipeline{ sc.text(o), sc.normalize(),
        sc.solver.ridge{ lambda = 1 } }:fit(ds)), list)
    end
  end)
end

local status = lu.LuaUnit.run()
for _, one in ipairs{ path, copy, page, rows } do os.remove(one) end
os.exit(status, true)

--- A mutating fuzzer over files of models: it loads altered files, most of them with a digest that
--- fits, so that the checks behind it are reached. What is loaded has to predict; all else has to
--- be refused with a sentence about the file. A crash ends the process, and so the test.
local sc = require "scullery"
local core = require "scullery.core"
local models, support, file = require "small_models", require "support", require "model_file"
local predictors = require "predictors"

local fuzz = {}

-- The same numbers in every run: xorshift by Marsaglia (2003).
local state
local function random(n)
  state = state ~ (state << 13)
  state = state ~ (state >> 7)
  state = state ~ (state << 17)
  return math.tointeger((state >> 1) % n) + 1
end
local function pick(list) return list[random(#list)] end

-- ------------ what is mutated

-- The bytes of models of every solver, of features and of a search, with rows to predict.
local function corpus(path)
  local list = {}
  local function add(value, X)
    local is_pipeline = getmetatable(value).__name == "pipeline"
    local has_map = is_pipeline and value.fitted and value.features
    value:save(path, has_map and { parameters = random(2) == 1 } or nil)
    list[#list + 1] = { bytes = support.read(path), X = X }
  end
  local seen = {}
  for _, one in ipairs(models.all()) do
    local kind = one.name:match("^(.-), [^,]*$")
    if not seen[kind] then add(one.fit()) end
    seen[kind] = true
  end
  local ds = models.classes(30, 3)
  local p = sc.pipeline{ sc.choose{ sc.standardize(), sc.minmax() },
    sc.solver.ridge{ lambda = sc.choose.log{ 1e-4, 1, count = 3 } } }
  add(sc.pipeline{ sc.normalize(), sc.add_bias(), sc.solver.ridge() }:fit(ds), ds.X)
  add(p)
  add(p:search(ds, { folds = 3 }):calibrate{ folds = 3 }, ds.X)
  add(sc.pipeline{ sc.pca{ k = 2 }, sc.features{ p = sc.sampler.gaussian(),
    phi = sc.nonlinearity.relu(), T = 5 }, sc.pca{ k = 2 } }:fit(ds.X), ds.X)
  add(sc.features{ p = sc.sampler.grid(), phi = sc.nonlinearity.bins(), T = 3 }:fit(ds.X), ds.X)
  return list
end

local words = { "0", "-1", "1", "2", "7", "1e308", "-0.0", "9007199254740993", "2147483648",
  "4294967295", "true", "{}", "[]", "[[]]", '\\"\\"', '\\"float32\\"', '\\"x\\"', "null" }

-- Some token of the header as another.
local function change_token(header)
  local at, patterns = random(#header), { "%-?%d[%d.e+-]*", '\\"[^"\\]*\\"', "true", "false",
    "%b[]", "%b{}", "[%[%]{},:]" }
  local from, to = header:find(pick(patterns), at)
  if not from or from < 100 then return header end
  local with = pick(words)
  local kind = random(5)
  if kind == 1 then with = "" end
  if kind == 2 then with = header:sub(from, to):rep(2) end
  if kind == 3 then -- another token of the same kind
    local other, last = header:find(header:sub(from, from) == "\\" and '\\"[^"\\]*\\"'
      or "%-?%d[%d.e+-]*", random(#header))
    if other then with = header:sub(other, last) end
  end
  return header:sub(1, from - 1) .. with .. header:sub(to + 1)
end

local function change_bytes(text)
  local at = random(math.max(1, #text))
  local kind = random(4)
  local flipped = (text:byte(at) or 0) ~ 1 << random(8) - 1
  local with = kind == 1 and string.char(flipped) or kind == 2 and ""
    or kind == 3 and text:sub(at, at + random(8)) or string.char(random(256) - 1)
  return text:sub(1, at - 1) .. with .. text:sub(at + 1)
end

-- Numbers that a check may have forgotten, in place of one of the data.
local doubles = { 0 / 0, 1 / 0, 0.0, -0.0, 1e308, 5e-324, -1.0, 1e15 }
local function change_number(data)
  if #data < 8 then return data end
  local at = 8 * (random(#data // 8) - 1)
  local with = random(2) == 1 and ("<d"):pack(pick(doubles))
    or ("<i4i4"):pack(random(5) - 2, pick{ 0, -1, 1, math.maxinteger >> 32, -(1 << 31) })
  return data:sub(1, at) .. with .. data:sub(at + 9)
end

-- A mutated file at path.
local function mutate(path, bytes)
  if random(6) == 1 then return support.write(path, change_bytes(bytes)) end
  local header, data = file.parts(bytes)
  for _ = 1, random(3) do
    local kind = random(6)
    if kind <= 3 then header = change_token(header)
    elseif kind == 4 then header = change_bytes(header)
    elseif kind == 5 then data = change_number(data)
    else data = change_bytes(data) end
  end
  return file.write(path, header, data)
end

-- ------------ what must hold

local function use(value, X)
  tostring(value)
  if not X or not value.fitted then return end
  if getmetatable(value).__name == "features" then value:transform(X) return end
  value:info()
  if value.solver then
    value:predict(X)
    if value.classes then value:probabilities(X) end
  else
    value:transform(X)
  end
end

-- Whatever is raised is a sentence, not a fault of our own code.
local function check_sentence(message, path, what)
  local faults = { "attempt to", "stack overflow", "bad argument", "%.lua:%d+:.*%.lua:%d+:" }
  for _, fault in ipairs(faults) do
    if message:find(fault) then error(("%s: %s"):format(what, message), 0) end
  end
  if what == "load" and not message:find(path, 1, true) then
    error("a refusal that does not name the file: " .. message, 0)
  end
end

-- Whether two matrices hold the same numbers, NaN for NaN.
local function same(a, b)
  if a:rows() ~= b:rows() or a:cols() ~= b:cols() then return false end
  for i = 1, a:rows() do
    for j = 1, a:cols() do
      local x, y = a:get(i, j), b:get(i, j)
      if x ~= y and (x == x or y == y) then return false end
    end
  end
  return true
end

-- The predictor of other programs (scullery/scullery.h) of the same file: a file that both load
-- predicts the same bits; each refuses with a sentence. Returns whether it loaded.
local function use_predictor(path, value, X)
  local ok, loaded = pcall(predictors.load, path)
  if not ok then
    check_sentence(tostring(loaded), path, "load")
    return false
  end
  local p <close> = loaded
  if not X or predictors.info(p).columns ~= X:cols() then return true end
  for _, kind in ipairs{ "predict", "probabilities", "scores" } do
    local used, found = pcall(predictors.run, p, kind, X)
    if not used then check_sentence(tostring(found), path, "use") end
    if used and kind == "scores" and value and value.solver then
      local wanted_ok, wanted = pcall(value.decision, value, X)
      if wanted_ok and not same(wanted, found) then error("scores differ", 0) end
    end
  end
  return true
end

--- fuzz.run{ seed =, count = or seconds =, path = }: so many mutations. Returns how many files were
--- tried and how many loaded; an error names the seed, and the file stays at path.
function fuzz.run(given)
  state = given.seed * 2 + 88172645463325252
  local list, tried, loaded, began = corpus(given.path), 0, 0, core.now()
  while tried < (given.count or math.huge) and core.now() - began < (given.seconds or math.huge) do
    local one = pick(list)
    mutate(given.path, one.bytes)
    tried = tried + 1
    local ok, value = pcall(sc.load, given.path)
    local also = use_predictor(given.path, ok and value, one.X)
    if given.watch then given.watch(ok, value, also) end
    if ok then
      loaded = loaded + 1
      local used, message = pcall(use, value, one.X)
      if not used then check_sentence(tostring(message), given.path, "use") end
    else
      check_sentence(tostring(value), given.path, "load")
    end
  end
  return tried, loaded
end

return fuzz

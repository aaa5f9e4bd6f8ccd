-- Files of sums that were cut off, altered, or made to do harm: each is refused with a sentence
-- that names the file, or gives sums that work.
local lu = require "luaunit"
local sc = require "scullery"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local model_file, support = require "model_file", require "support"

local sanitized = (os.getenv("SCULLERY_SANITIZE") or "") ~= ""
local path = support.memory_path()
local X = sc.randn{ 40, 2, seed = 1 }

local function pipeline(phi, dtype)
  return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 },
    phi = phi or sc.nonlinearity.fourier(), T = 4, seed = 1, dtype = dtype or "int16" },
    sc.solver.ridge{ lambda = 1e-3 } }
end

local function data(weights)
  return sc.dataset{ X = X, y = X:column(1) * 3, weights = weights }
end

local fractions = {}
for i = 1, 40 do fractions[i] = i / 7 end

-- Saved sums of every form, each with its bytes.
local function each_file(f)
  local list = { pipeline():sums(data()), pipeline(sc.nonlinearity.sign()):sums(data()),
    pipeline(sc.nonlinearity.relu()):sums(data(fractions)), pipeline():sums(data(), { folds = 2 }),
    pipeline():sums(data(), { rows = { 3, 30 }, fingerprints = false }),
    pipeline(nil, "float64"):sums(data()), pipeline(nil, "float32"):sums(data(fractions)) }
  for i, one in ipairs(list) do
    one:save(path)
    f(support.read(path), i)
  end
  pipeline():fit(data(), { sums = true }):save(path, { sums = true })
  f(support.read(path), #list + 1)
end

-- What would be a fault of the program in a message.
local faults = { "attempt to", "stack overflow", "bad argument", "internal" }

local function is_sentence(message, about)
  for _, fault in ipairs(faults) do
    if tostring(message):find(fault, 1, true) then lu.fail(about .. ": " .. tostring(message)) end
  end
end

-- Uses what a file holds; any error has to be a sentence.
local function use(made, about)
  local sums = rawget(made, "sums_kept") or made
  for _, work in ipairs{ function() return sums:solve():predict(X) end,
    function() return sc.merge({ sums }, { partial = true }):solve{ lambda = 1 }:predict(X) end,
    function() return sums:search{ folds = "gcv" } end,
    function() return sums.folds and sums:search() end,
    function() return sums:solve():update(data(), { again = true }):forget(data():subset(3, 5)) end,
    function() return tostring(sums), sums:save(path .. ".again") end } do
    local ok, message = pcall(work)
    if not ok then is_sentence(message, about) end
  end
  os.remove(path .. ".again")
end

-- Loads the file: refused with a sentence, or used. Returns whether it was refused.
local function try(about)
  local ok, made = pcall(sc.load, path)
  if ok then
    use(made, about)
    return false
  end
  lu.assertStrContains(tostring(made), path)
  is_sentence(made, about)
  return true
end

function TestEveryCutAndSomeFlippedBitsAreRefused()
  each_file(function(bytes, i)
    for at = 0, #bytes - 1, sanitized and 97 or 7 do
      support.write(path, bytes:sub(1, at))
      lu.assertTrue(try(("file %d, cut after %d"):format(i, at)))
      support.write(path, bytes:sub(1, at) .. string.char(bytes:byte(at + 1) ~ 1 << at % 8)
        .. bytes:sub(at + 2))
      lu.assertTrue(try(("file %d, byte %d"):format(i, at + 1)))
    end
  end)
end

-- Numbers of 64 bits that are no sums, or hardly.
local numbers = { math.mininteger, math.maxinteger, 1 << 62, -1, 0, 1 << 53, ("<i8"):unpack(
  ("<d"):pack(0 / 0)), ("<i8"):unpack(("<d"):pack(math.huge)), ("<i8"):unpack(("<d"):pack(1e300)) }

-- name -> first and last byte among the data, of the arrays of sums.
local function arrays_of(header)
  local list = {}
  for name, from, to in header:gmatch('"(sums%.[%w.]+)":{"dtype":"[^"]+","shape":%[[%d,]*%],\z
    "data_offsets":%[(%d+),(%d+)%]}') do
    list[#list + 1] = { name = name, from = tonumber(from) + 1, to = tonumber(to) }
  end
  return list
end

-- Numbers that cannot be: a diagonal below 0, sums beyond those of the weights, digits out of
-- range.
function TestChangedNumbersAreRefusedOrHarmless()
  local refused, tried = 0, 0
  each_file(function(bytes, i)
    local header, body = model_file.parts(bytes)
    local arrays = arrays_of(header)
    lu.assertTrue(#arrays >= 5, #arrays)
    for _, array in ipairs(arrays) do
      for at = array.from, array.to, 8 * (sanitized and 5 or 1) do
        for k, number in ipairs(numbers) do
          if (at // 8 + k) % 7 == 0 then
            model_file.write(path, header, body:sub(1, at - 1) .. ("<i8"):pack(number)
              .. body:sub(at + 8))
            tried = tried + 1
            if try(("file %d, %s at %d: %d"):format(i, array.name, at, number)) then
              refused = refused + 1
            end
          end
        end
      end
    end
  end)
  lu.assertTrue(refused > tried // 3, ("%d of %d"):format(refused, tried))
end

-- The first file with one array of the name changed by f(numbers), as int64.
local function with_array(name, f)
  pipeline():sums(data()):save(path)
  local header, body = model_file.parts(support.read(path))
  for _, array in ipairs(arrays_of(header)) do
    if array.name == name then
      local list = {}
      for at = array.from, array.to, 8 do list[#list + 1] = ("<i8"):unpack(body, at) end
      f(list)
      local text = {}
      for k, number in ipairs(list) do text[k] = ("<i8"):pack(number) end
      model_file.write(path, header, body:sub(1, array.from - 1) .. table.concat(text)
        .. body:sub(array.to + 1))
      return
    end
  end
  lu.fail("no array " .. name)
end

local function refused(words)
  local message = support.fails(words, sc.load, path)
  lu.assertStrContains(message, path)
end

function TestSentencesOfForgedNumbers()
  with_array("sums.moment", function(list) list[1] = 1 << 61 end)
  refused{ "sums.moment", "cannot reach" }
  with_array("sums.moment", function(list) list[1] = -1 end)
  refused{ "sums.moment", "cannot reach" }
  with_array("sums.right", function(list) list[#list] = 1 << 40 end)
  refused{ "digit out of range" }
  with_array("sums.right", function(list) list[2] = list[2] + 1 end)
  refused{ "sums.right", "no places" }
  with_array("sums.own", function(list) for i = 1, 3 do list[i] = 3000 end end)
  refused{ "places out of range" }
  with_array("sums.rows", function(list) list[1], list[2] = list[2], list[1] end)
  refused{ "sums.rows", "not in order" }
  with_array("sums.facts", function(list) list[3] = 2 end)
  refused{ "sums.weight", "missing" }
  with_array("sums.facts", function(list) list[1] = 30 end)
  refused{ "sums.facts" }
  with_array("sums.weight", function(list) list[1] = ("<i8"):unpack(("<d"):pack(1)) end)
  refused{ "cannot reach" }
end

function TestSentencesOfForgedHeaders()
  local function changed(from, to, words, count)
    pipeline():sums(data()):save(path)
    local header, body = model_file.parts(support.read(path))
    local new, found = header:gsub(from, to)
    lu.assertTrue(found == (count or 1), from .. " comes " .. found .. " times")
    model_file.write(path, new, body)
    refused(words)
  end
  changed('("sums.moment":{"dtype":"I64","shape":)%[1,10%]', "%1[2,5]", { "sums.moment" })
  changed('("sums.moment":{"dtype":)"I64"', '%1"F64"', { "sums.moment" })
  changed('"sums.moment"', '"sums.lost"', { "sums.moment", "missing" })
  changed('\\"rows\\":40', '\\"rows\\":41', { "fingerprints of 40" }, 2)
end

-- What the description says of the rows: never more or other than there are.
function TestSentencesOfForgedRows()
  local saving = require "scullery.model.sums"
  local made = pipeline():sums(data())
  local real = saving.encode
  local function says(change)
    saving.encode = function(self, arrays)
      local said = real(self, arrays)
      change(said)
      return said
    end
    local ok, message = pcall(made.save, made, path)
    saving.encode = real
    lu.assertTrue(ok, message)
    refused{ "description of its sums is not valid" }
  end
  says(function(s) s.rows = 0 end)
  says(function(s) s.rows = "x" end)
  says(function(s) s.forgotten = -1 end)
  says(function(s) s.parts = nil end)
  says(function(s) s.parts = { 7 } end)
  says(function(s) s.parts = { { source = s.parts[1].source, from = 0, to = 3 } } end)
  says(function(s) s.parts = { { source = s.parts[1].source, from = 9, to = 3 } } end)
  says(function(s) s.parts = { { source = s.parts[1].source, from = 1, to = 41 } } end)
  says(function(s) s.parts = { { source = { rows = 40, cols = 2 }, from = 1, to = 40 } } end)
  says(function(s) s.folds = { 20, 20 } end)
  says(function(s) s.partial = 3 end)
end

os.exit(lu.LuaUnit.run(), true)

-- Files of models that were cut off, altered, or made to do harm: each is refused with a sentence
-- that names the file, and nothing else happens.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local models, support = require "small_models", require "support"
local model_file = require "model_file"

local sanitized = (os.getenv("SCULLERY_SANITIZE") or "") ~= ""
local path = support.memory_path()

local function refused(words)
  local ok, message = pcall(sc.load, path)
  if ok then lu.fail("it was loaded: " .. table.concat(words, ", ")) end
  for _, word in ipairs(words) do lu.assertStrContains(tostring(message), word) end
  lu.assertStrContains(tostring(message), path)
end

-- ------------ every cut, every bit

-- One model of each solver, those with a model of their own and those with weights.
local function each_solver(f)
  local seen = {}
  for _, one in ipairs(models.all()) do
    local name = one.name:match("^[%w_]+")
    if not seen[name] then f(one.fit(), name) end
    seen[name] = true
  end
end

-- Every place of the file, and all bits there; every so many-th place, and one bit in turn, where a
-- sanitizer makes all slow.
local function places(length, step)
  step = sanitized and step or 1
  local at = 1 - step
  return function()
    at = at + step
    if at <= length then return at end
  end
end

local function loads_nothing(f, ...)
  local ok, message = pcall(sc.load, path)
  if ok or not tostring(message):find(path, 1, true) then
    lu.fail(f:format(...) .. (ok and ": it was loaded" or ": " .. tostring(message)))
  end
end

function TestEveryFlippedBitIsRefused()
  each_solver(function(model, name)
    model:save(path)
    local bytes = support.read(path)
    local file = assert(io.open(path, "r+b"))
    file:setvbuf("no")
    for at in places(#bytes, 41) do
      for bit = sanitized and at % 8 or 0, sanitized and at % 8 or 7 do
        file:seek("set", at - 1)
        file:write(string.char(bytes:byte(at) ~ 1 << bit))
        loads_nothing("solver.%s, byte %d, bit %d", name, at, bit)
      end
      file:seek("set", at - 1)
      file:write(bytes:sub(at, at))
    end
    file:close()
    lu.assertNotNil(sc.load(path), "the file as it was")
  end)
end

function TestEveryCutIsRefused()
  each_solver(function(model, name)
    model:save(path)
    local bytes = support.read(path)
    for at in places(#bytes, 97) do
      support.write(path, bytes:sub(1, at - 1))
      loads_nothing("solver.%s, cut after %d", name, at - 1)
    end
    for _, more in ipairs{ "\0", " ", bytes } do
      support.write(path, bytes .. more)
      loads_nothing("solver.%s, with more at its end", name)
    end
  end)
end

-- ------------ files made to do harm

-- A header with these entries, given as JSON, and data behind it; signed.
local function write_header(entries, data, description)
  model_file.write(path, model_file.header(entries, description), data or "")
end

local F64 = '"x":{"dtype":"F64","shape":%s,"data_offsets":%s}'

local function entry(shape, offsets) return F64:format(shape, offsets) end

function TestHostileHeaders()
  local eight = ("\0"):rep(8)
  local cases = {
    { entry("[1]", "[0,16]"), eight, "does not lie" },
    { entry("[2]", "[0,16]"), eight, "outside the file" },
    { entry("[1]", "[-8,0]"), eight, "does not lie" },
    { entry("[1]", "[8,0]"), eight, "does not lie" },
    { entry("[1]", "[0,8.5]"), eight, "does not lie" },
    { entry("[1]", "[0]"), eight, "does not lie" },
    { entry("[1]", "[0,8,8]"), eight, "does not lie" },
    { entry("[1]", "[8,16]"), eight .. eight, "gap" },
    { entry("[0]", "[1,1]"), eight, "does not lie" },
    { entry("[1]", "[0,8]"), eight .. "\0", "do not end" },
    { entry("[4294967296,4294967296]", "[0,0]"), "", "shape" },
    { entry("[3037000500,3037000500,2]", "[0,8]"), eight, "shape" },
    { entry("[2305843009213693953]", "[0,8]"), eight, "shape" },
    { entry("[1e400]", "[0,8]"), eight, "number" },
    { entry("[-1]", "[0,8]"), eight, "shape" },
    { entry("[0.5]", "[0,4]"), eight, "shape" },
    { entry('["1"]', "[0,8]"), eight, "shape" },
    { entry("[1,1,1,1,1]", "[0,8]"), eight, "shape" },
    { entry("1", "[0,8]"), eight, "shape" },
    { '"x":{"dtype":"F16","shape":[4],"data_offsets":[0,8]}', eight, "type" },
    { '"x":{"dtype":7,"shape":[4],"data_offsets":[0,8]}', eight, "type" },
    { '"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8],"more":1}', eight, "type" },
    { '"x":7', eight, "type" },
    { '"a b":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}', eight, "names an array" },
    { '"":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}', eight, "names an array" },
    { ('"%s":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}'):format(("x"):rep(200)), eight,
      "names an array" },
    { entry("[1]", "[0,8]") .. "," .. entry("[1]", "[8,16]"), eight .. eight, "twice" },
    { entry("[1]", "[0,8]") .. "," .. entry("[1]", "[0,8]"):gsub('"x"', '"y"'), eight,
      "overlaps" },
    { entry("[1]", "[0,8]") .. ',"y":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}', eight
      .. "\0\0\0\0", "overlaps" },
    { '"z":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},' .. entry("[1]", "[4,12]"), eight
      .. "\0\0\0\0", "does not lie" },
    { '"x":' .. ("["):rep(2000) .. ("]"):rep(2000), eight, "deep" },
    { '"x":' .. ('{"a":'):rep(100) .. "1" .. ("}"):rep(100), eight, "deep" },
    { '"x":"\\u0000"', eight, "zero" },
    { '"x":"\xff"', eight, "UTF-8" },
    { '"x":"\xc0\x80"', eight, "UTF-8" },
    { '"x":"\xed\xa0\x80"', eight, "UTF-8" },
    { '"x":"\1"', eight, "control" },
    { '"x":01', eight, "number" }, { '"x":-', eight, "number" }, { '"x":1e', eight, "number" },
    { '"x":1' .. ("0"):rep(400), eight, "number" },
    { '"x":nan', eight, "damaged" }, { '"x"', eight, "damaged" }, { '"x":1}{', eight, "damaged" },
  }
  for i, case in ipairs(cases) do
    write_header(case[1], case[2])
    local ok, message = pcall(sc.load, path)
    lu.assertFalse(ok, "case " .. i)
    lu.assertStrContains(tostring(message), case[3], false, ("case %d: %.80s"):format(i, case[1]))
    lu.assertStrContains(tostring(message), path)
  end
  -- the same frame with nothing wrong is read as far as its description
  write_header(entry("[1]", "[0,8]"), eight)
  refused{ "this is not a model of Scullery" }
end

function TestLengthsThatLie()
  local whole = model_file.text(model_file.header(""), "")
  for _, length in ipairs{ 0, 1, #whole - 7, 1 << 20, 100000001, 1 << 40, math.maxinteger, -1 } do
    support.write(path, ("<i8"):pack(length) .. whole:sub(9))
    refused{}
  end
end

function TestHostileDescriptions()
  local function case(text, ...)
    write_header("", "", text)
    refused{ ... }
  end
  local function body(rest) return ('{"format":"scullery","version":1,%s}'):format(rest) end
  case("", "damaged")
  case("[1]", "not a model of Scullery")
  case("null", "null")
  case('{"format":"other","version":1}', "not a model of Scullery")
  case('{"format":"scullery","version":99,"scullery":"9.9"}', "version 99", "9.9", "up to version ")
  case(body '"kind":"virus"', "virus")
  case('{"format":"scullery","version":1}', "does not say what it contains")
  case(body '"kind":"pipeline"', "pipeline")
  case(body '"kind":"pipeline","kind":"features"', "twice")
  case(body '"kind":"features","features":{"@":"system","name":"ls"}', "system")
  case(body '"kind":"features","features":{"@":"component","name":"../../evil.x"}',
    "is not a component")
  case(body '"kind":"features","features":{"@":"component","name":"io.popen"}', "io.popen")
  case(body '"kind":"pipeline","pipeline":{"stages":[],"options":{}}', "at least one stage")
  case(body '"kind":"pipeline","pipeline":{"stages":[5],"options":{}}', "stage 1")
  case(body '"kind":"pipeline","pipeline":{"stages":[],"options":{"x":1}}', "no option")
  local many = ('{"@":"choose","values":[%s1]}'):format(("1,"):rep(3))
  case(body('"kind":"pipeline","pipeline":{"stages":[' .. many .. '],"options":{}}'), "stage 1")
  case(body('"kind":"schema","schema":' .. ("["):rep(64) .. ("]"):rep(64)), "deep")
  case(body '"kind":"schema","schema":{"@":"array","name":"x"}', "no array")
  case(body '"kind":"schema","schema":{"@":"range","law":"log","low":1,"high":9,"count":1e12}')
  case(body '"kind":"schema","schema":{"@":"table","keys":[1,1],"values":[1,1]}', "twice")
  case(body '"kind":"schema","schema":{"@":"object","class":"file","fields":{}}', "file")
end

-- ------------ parts that do not fit together

-- A model's file with its description edited, signed anew.
local function edited(model, ...)
  model:save(path)
  local header, data = model_file.parts(support.read(path))
  for _, pair in ipairs{ ... } do
    local count
    header, count = header:gsub(pair[1], (pair[2]:gsub("%%", "%%%%")))
    lu.assertTrue(count > 0, pair[1])
  end
  model_file.write(path, header, data)
end

function TestModelsThatDoNotFitTogether()
  local model = models.linear().fit()
  local function case(pattern, with, ...)
    edited(model, { pattern, with })
    refused{ ... }
  end
  edited(model, { '"T\\":6', '"T\\":6' })
  lu.assertNotNil(sc.load(path), "edited without a change")
  case('\\"seed\\":0,\\"whiten', '\\"seed\\":1,\\"whiten', "are not those")
  case('\\"dim\\":3,\\"dtype', '\\"dim\\":4,\\"dtype', "rows of 3 reach them")
  case('\\"T\\":6,\\"dim', '\\"T\\":600000000,\\"dim', "make 6 features")
  case('\\"features\\":6', '\\"features\\":7', "features.check")
  case('\\"cols\\":3,\\"constant', '\\"cols\\":9,\\"constant', "columns")
  case('\\"targets\\":1', '\\"targets\\":2', "targets")
  case('\\"class 1\\",\\"class 2\\"', '\\"class 1\\"', "no classes")
  case('\\"class 1\\",\\"class 2\\"', '\\"a\\",\\"b\\",\\"c\\"', "targets of its classes")
  case('\\"class 1\\",', 'true,', "a class is")
  case('solver.ridge', 'solver.fridge', "solver.fridge", "sc.plugin.load")
  case('sampler.gaussian', 'sampler.nosuch', "sampler.nosuch", "sc.plugin.load")
  case('\\"name\\":\\"nonlinearity.fourier\\"',
    '\\"name\\":\\"nonlinearity.fourier\\",\\"version\\":\\"99.1\\"', "fourier", "99.1")
  case('\\"lambda\\":0.01,\\"penalty', '\\"lambda\\":0.02,\\"penalty', "lambda", "0.02", "0.01")
  case('\\"form\\":\\"phase\\"', '\\"former\\":\\"phase\\"', "no option 'former'")
  case('\\"kind\\":\\"standardize\\"', '\\"kind\\":\\"minmax\\"', "standardize", "minmax")
end

function TestNamesOfColumns()
  local rows = sc.dataset{ X = sc.ones(3, 2), y = sc.ones(3, 1), names = { "u", "v" } }
  local features = sc.features{ p = sc.sampler.gaussian(), phi = sc.nonlinearity.sign(), T = 3 }
  local model = sc.pipeline{ sc.solver.ridge() }:fit(rows)
  for _, one in ipairs{ features:fit(rows), model } do
    edited(one, { '%[\\"u\\",\\"v\\"%]', '[\\"u\\"]' })
    refused{ "names of columns" }
    edited(one, { '%[\\"u\\",\\"v\\"%]', '[\\"u\\",7]' })
    refused{ "name of its columns is 7" }
  end
end

function TestNumbersThatAreNotFinite()
  local model = models.linear().fit()
  model:save(path)
  local header, data = model_file.parts(support.read(path))
  for at = 0, #data // 8 - 1 do
    local before, after = data:sub(1, 8 * at), data:sub(8 * at + 9)
    model_file.write(path, header, before .. ("<d"):pack(0 / 0) .. after)
    refused{ "not finite" }
  end
end

-- ------------ JSON of Lua values

function TestJsonKeepsEveryNumber()
  local list = { 0, -1, 1 << 53, (1 << 53) + 1, math.maxinteger, math.mininteger, 0.1, 0.1 + 0.2,
    1.0, -0.0, 1e300, 5e-324, 2 ^ 53, 1e15, 123456789012345680.0, 1 / 3, math.pi }
  local back = core.json_decode(core.json_encode(list))
  for i, value in ipairs(list) do
    lu.assertEquals(math.type(back[i]), math.type(value), tostring(value))
    lu.assertEquals(("%q"):format(back[i]), ("%q"):format(value))
  end
  local u = sc.rand{ 1000, 1, seed = 3 }
  for i = 1, 1000 do
    local value = u:get(i, 1) * 10.0 ^ (i % 600 - 300)
    lu.assertEquals(core.json_decode(core.json_encode(value)), value)
  end
end

function TestJsonOfTexts()
  for _, text in ipairs{ "", "é\u{10FFFF}", '"\\/\b\f\n\r\t\1', "</script>" } do
    lu.assertEquals(core.json_decode(core.json_encode{ [text] = text }), { [text] = text })
  end
  lu.assertEquals(core.json_decode('"\\ud83d\\ude00\\u00e9"'), "\u{1F600}é")
  lu.assertEquals(core.json_encode{ b = 1, a = { 1, 2.5, {} } }, '{"a":[1,2.5,{}],"b":1}')
  local loop = {}
  loop.a = loop
  for _, value in ipairs{ { 0 / 0 }, { 1 / 0 }, { print }, { [0] = 1 }, { 1, a = 2 }, { [1.5] = 1 },
    "\xff", "a\0b", { ["\xff"] = 1 }, loop } do
    lu.assertFalse((pcall(core.json_encode, value)))
  end
  for _, text in ipairs{ "", " ", "nul", "[1,]", "{a:1}", "[1] 2", "'a'", '"\\ud800"', "[1", "+1",
    ".5", "1.", "--1", "1-2", "[null]", '{"a":1,"a":2}', "tru", "[1 2]", "0x10" } do
    lu.assertFalse((pcall(core.json_decode, text)), text)
  end
end

local status = lu.LuaUnit.run()
os.remove(path)
os.exit(status)

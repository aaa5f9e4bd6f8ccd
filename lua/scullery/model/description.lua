--- Encodes options, components, stages, choices and reports as tables that JSON can represent
--- (docs/models.md), and decodes them. Matrices become named arrays.
local core = require "scullery.core"
local choose = require "scullery.compose.choose"
local component = require "scullery.compose.component"
local fail = require "scullery.base.fail"
local instantiation = require "scullery.compose.instantiation"
local options = require "scullery.base.options"
local stages = require "scullery.compose.stages"
local text = require "scullery.compose.text"
local warn = require "scullery.base.warn"
local sorted = require("scullery.base.keys").sorted

local description = {}

-- The key of a table that encodes something else; its value names the decoder.
local MARK = "@"

-- Classes of objects in reports: name of the metatable -> the module with the field `class`. The
-- modules are loaded when such an object is met, because they require this room's other modules.
local classes = {
  ["search table"] = "scullery.model.search_table",
  calibration = "scullery.model.probabilities",
}

local space_class = getmetatable(instantiation.space.dense())

-- ------------ writing

local encode

-- A number or a text, the same if JSON can represent it: JSON has neither NaN nor infinities, and
-- its texts are UTF-8. NUL is encoded too, because the reader takes texts of C.
local function encode_scalar(value)
  if type(value) == "number" then
    if value == value and math.abs(value) < math.huge then return value end
    return { [MARK] = "number", value = value ~= value and "nan" or value > 0 and "inf" or "-inf" }
  end
  if utf8.len(value) and not value:find("\0", 1, true) then return value end
  local hex = value:gsub(".", function(c) return ("%02x"):format(c:byte()) end)
  return { [MARK] = "bytes", hex = hex }
end

-- The fields of a plain table, encoded; path: the name of the table for errors and arrays.
local function encode_fields(value, arrays, path)
  local result = {}
  for key, field in pairs(value) do
    result[key] = encode(field, arrays, ("%s.%s"):format(path, key))
  end
  return result
end

-- A table whose keys are not 1 .. n or plain texts is encoded as a list of keys and one of values.
local function encode_table(value, arrays, path)
  local texts, numbers, others = 0, 0, 0
  for key in pairs(value) do
    local plain = type(key) == "string" and utf8.len(key) and key:sub(1, 1) ~= MARK
      and not key:find("\0", 1, true)
    if plain then texts = texts + 1
    elseif math.type(key) == "integer" and key >= 1 and key <= #value then numbers = numbers + 1
    else others = others + 1 end
  end
  if others == 0 and (texts == 0 or numbers == 0) then
    return encode_fields(value, arrays, path)
  end
  local values, list = {}, sorted(value, function(a, b)
    if type(a) ~= type(b) then return type(a) < type(b) end
    if type(a) == "boolean" then return not a and b end
    return a < b
  end)
  for i, key in ipairs(list) do
    list[i] = encode(key, arrays, path)
    values[i] = encode(value[key], arrays, ("%s.%s"):format(path, key))
  end
  return { [MARK] = "table", keys = list, values = values }
end

-- options: as given. settings: all options in force, including defaults; absent if some depend on
-- data or on a search. defined: place and digest of a definition in a script; absent for a plugin
-- from a file.
local function encode_component(self, arrays, path)
  local depends = #component.searched(self) > 0 or component.waiting(self)
  local settings = not depends and core.settings(component.instance(self)) or nil
  local info = core.plugin_info(self.kind, self.name)
  return { [MARK] = "component", name = self.kind .. "." .. self.name,
    id = info.id, version = info.version,
    defined = info.digest and { place = info.path, digest = info.digest } or nil,
    options = encode_table(self.given, arrays, path),
    settings = settings and encode_table(settings, arrays, path) }
end

-- Features as a recipe: their parts and their own options, without what a fit drew or learnt.
local function encode_features(self, arrays, path)
  if self.parts then
    local list = {}
    for i, part in ipairs(self.parts) do
      list[i] = encode(part, arrays, ("%s.part%d"):format(path, i))
    end
    return { [MARK] = "union", parts = list }
  end
  local own = {}
  for _, name in ipairs(instantiation.own_options) do own[name] = self[name] end
  local inst = self.inst
  local parts = { W = inst.W, K = inst.K, p = inst.p, phi = inst.phi }
  return { [MARK] = "features", parts = encode_fields(parts, arrays, path),
    options = encode_table(own, arrays, path) }
end

local function encode_choose(self, arrays, path)
  if self.law then
    return { [MARK] = "range", law = self.law, low = self.low, high = self.high,
      count = self.count }
  end
  return { [MARK] = "choose", values = encode_table(self.values, arrays, path) }
end

-- Adds the matrix to the arrays of the file, under a valid name that no other array has.
local function encode_matrix(matrix, arrays, path)
  local name = path:gsub("[^%w_.]", "_"):sub(-90)
  while arrays[name] do name = name .. "_" end
  arrays[name] = matrix
  return { [MARK] = "array", name = name }
end

-- sc.text, with the row stages that it stands for (`weighting`), which the engine reads.
local function encode_text(self, arrays, path)
  local weighting = {}
  if #text.searched(self) == 0 then
    for i, stage in ipairs(text.weighting(self)) do
      weighting[i] = encode(stage, arrays, path)
    end
  end
  return { [MARK] = "text", options = encode_table(self.given, arrays, path),
    weighting = weighting }
end

-- An object by its class; raises an error for one that has no encoding, such as a function.
local function encode_object(value, arrays, path)
  local meta = getmetatable(value)
  if core.is_matrix(value) then return encode_matrix(value, arrays, path) end
  if component.is(value) then return encode_component(value, arrays, path) end
  if stages.is(value) then
    -- under the name alone, as files of all versions have it
    local result = value.component and encode_component(value.component, arrays, path)
      or { options = encode_table(value.given, arrays, path) }
    result[MARK], result.name = "stage", value.kind
    return result
  end
  if instantiation.is_features(value) then return encode_features(value, arrays, path) end
  if text.is(value) then return encode_text(value, arrays, path) end
  if choose.is(value) then return encode_choose(value, arrays, path) end
  if meta == space_class then return { [MARK] = "space", name = value.name } end
  local class = type(meta) == "table" and classes[meta.__name]
  if class and require(class).class == meta then
    return { [MARK] = "object", class = meta.__name, fields = encode_table(value, arrays, path) }
  end
  fail("%s is %s, which cannot be saved", path, options.show(value))
end

--- description.encode(value, arrays, path): the value as core.json_encode takes it. Its matrices
--- are added to arrays (name -> matrix), named after path. A function is an error that names its
--- path.
function encode(value, arrays, path)
  local kind = type(value)
  if kind == "boolean" then return value end
  if kind == "number" or kind == "string" then return encode_scalar(value) end
  if kind == "table" and getmetatable(value) == nil then
    return encode_table(value, arrays, path)
  end
  return encode_object(value, arrays, path)
end
description.encode = encode

-- ------------ reading

local decode

-- The value; raises an error unless it has this Lua type. what: its name in the error.
local function expect(value, kind, what)
  if type(value) ~= kind then fail("%s is a %s, where a %s belongs", what, type(value), kind) end
  return value
end

local function decode_fields(value, saved, what)
  local result = {}
  for key, field in pairs(expect(value, "table", what)) do result[key] = decode(field, saved) end
  return result
end

-- By the value of MARK: decoder(value, saved) returns what the table stands for. A file may have
-- been altered, so that each checks the types that it relies on.
local decoders = {}

function decoders.bytes(value)
  local hex = expect(value.hex, "string", "a text")
  if #hex % 2 ~= 0 or hex:find("[^%x]") then fail("a text is not a list of bytes") end
  return (hex:gsub("..", function(pair) return string.char(tonumber(pair, 16)) end))
end

function decoders.number(value)
  local known = { inf = math.huge, ["-inf"] = -math.huge, nan = 0 / 0 }
  return known[value.value] or fail("a number is %s", options.show(value.value))
end

function decoders.table(value, saved)
  local keys = decode_fields(value.keys, saved, "the keys of a table")
  local values = decode_fields(value.values, saved, "the values of a table")
  if #keys ~= #values then fail("a table has %d keys and %d values", #keys, #values) end
  local result = {}
  for i, key in ipairs(keys) do
    if key ~= key or result[key] ~= nil then fail("a table has a key twice, or NaN") end
    result[key] = values[i]
  end
  return result
end

-- A component or row stage. Every option in force when it was saved must have the same value now.
function decoders.component(value, saved)
  local place = value["@place"]
  local kind, name, note = core.saved_component(saved, place)
  if note then warn(note) end
  local given = decode_fields(value.options, saved, "the options of a component")
  local made = kind == "stage" and stages.make(name, given) or component.group(kind)[name](given)
  local part = stages.is(made) and made.component or made
  if value.settings ~= nil then
    core.saved_settings(saved, place, component.instance(part))
  end
  return made
end

function decoders.stage(value, saved)
  if value.name ~= "relevance" then return decoders.component(value, saved) end
  return stages.relevance(decode_fields(value.options, saved, "the options of a stage"))
end

function decoders.text(value, saved)
  return text.new(decode_fields(value.options, saved, "the options of a text stage"))
end

function decoders.features(value, saved)
  local given = decode_fields(value.parts, saved, "the parts of features")
  for name, option in pairs(decode_fields(value.options, saved, "the options of features")) do
    given[name] = option
  end
  for _, name in ipairs{ "W", "K", "p", "phi" } do
    if choose.is(given[name]) then fail("a part of features is a choice") end
  end
  return instantiation.features(given)
end

function decoders.union(value, saved)
  local list = decode_fields(value.parts, saved, "the parts of a union")
  for _, part in ipairs(list) do
    if not instantiation.is_features(part) then fail("a part of a union is not features") end
  end
  if #list == 0 then fail("a union has no parts") end
  return instantiation.union(list)
end

function decoders.space(value)
  return instantiation.space[expect(value.name, "string", "the name of a space")]()
end

function decoders.choose(value, saved)
  return choose(decode_fields(value.values, saved, "the values of a choice"))
end

function decoders.range(value)
  if value.law ~= "log" and value.law ~= "range" then
    fail("there is no choice by %s", options.show(value.law))
  end
  if math.type(value.count or 1) ~= "integer" or (value.count or 1) > 1e6 then
    fail("a choice has %s values", options.show(value.count))
  end
  return choose[value.law]{ value.low, value.high, count = value.count }
end

function decoders.array(value, saved)
  return core.saved_matrix(saved, expect(value.name, "string", "the name of an array"))
end

function decoders.object(value, saved)
  local class = classes[value.class]
  if not class then fail("there is no %s", options.show(value.class)) end
  local fields = decode(expect(value.fields, "table", "an object"), saved)
  if type(fields) ~= "table" or getmetatable(fields) then fail("an object has no fields") end
  return setmetatable(fields, require(class).class)
end

--- description.decode(value, saved): decodes a part of the description of a file. saved: the file,
--- from core.saved_open.
function decode(value, saved)
  if type(value) ~= "table" then return value end
  local mark = value[MARK]
  if mark == nil then return decode_fields(value, saved) end
  local decoder = decoders[mark]
  if not decoder then fail("it holds %s, which this version does not know", options.show(mark)) end
  return decoder(value, saved)
end
description.decode = decode

return description

--- Lines of results.jsonl: JSON with a checksum and typed fields.
---
--- The last field of a line is "checksum": the first 16 hexadecimal digits of the SHA-256 of the
--- line without that field. Old files have lines without checksums; after the first line with a
--- checksum each line must have one.
local core = require "scullery.core"
local options = require "scullery.base.options"
local values = require "scullery.experiment.values"

local lines = {}

local FIELD, DIGITS = ',"checksum":"', 16

-- ------------ checksums

--- lines.seal(text): the line of a JSON object, with its checksum and a newline.
function lines.seal(text)
  return ('%s%s%s"}\n'):format(text:sub(1, -2), FIELD, core.digest(text):sub(1, DIGITS))
end

-- True if the checksum at the end of the line is right; nil if there is none.
local function matches(text, decoded)
  if decoded.checksum == nil then return nil end
  local tail = #FIELD + DIGITS + 2
  return lines.seal(text:sub(1, -tail - 1) .. "}") == text .. "\n"
end

-- ------------ types

local function is_named(value) return type(value) == "table" and not values.is_list(value) end

-- True for the tables of values.encode for infinities and NaN.
local function is_odd_number(value)
  return is_named(value) and next(value) == "number" and next(value, "number") == nil
    and values.decode(value) ~= nil
end

local function is_scalar(value) return values.is_scalar(value) or is_odd_number(value) end

local function is_value(value)
  if not values.is_list(value) then return is_scalar(value) end
  for _, item in ipairs(value) do if not is_value(item) then return false end end
  return true
end

-- A test for tables of named values that all pass the given test.
local function named(test)
  return function(value)
    if not is_named(value) then return false end
    for _, one in next, value do if not test(one) then return false end end
    return true
  end
end

local function is_text(value) return type(value) == "string" end
local function is_count(value) return math.type(value) == "integer" and value >= 0 end
local function is_seconds(value) return type(value) == "number" and value >= 0 end

-- True for { rows, cols[, sha256] }, as fingerprint.of returns them; streams have no sha256.
local function is_fingerprint(value)
  return is_named(value) and is_count(value.rows) and is_count(value.cols)
    and (value.sha256 == nil or is_text(value.sha256))
end

local function is_script(value)
  return is_named(value) and is_text(value.path) and (value.sha256 == nil or is_text(value.sha256))
end

-- For each field: a description of valid values, a test, and true if the field is required.
local fields = {
  cell = { "a table of numbers, texts, booleans and lists of them", named(is_value), true },
  key = { "a text", is_text },
  status = { "'done' or 'failed'", function(value)
    return value == "done" or value == "failed"
  end, true },
  result = { "a table of numbers, texts and booleans", named(is_scalar) },
  message = { "a text", is_text },
  seconds = { "a number of at least 0", is_seconds },
  processor_seconds = { "a number of at least 0", is_seconds },
  memory = { "a whole number of at least 0", is_count },
  seed = { "a whole number of at least 0", is_count },
  threads = { "a whole number of at least 0", is_count },
  time = { "a text", is_text },
  machine = { "a text", is_text },
  instruction_set = { "a text", is_text },
  scullery = { "a text", is_text },
  commit = { "a text", is_text },
  plugins = { "a table of texts", named(is_text) },
  data = { "a table of { rows, cols, sha256 }", named(is_fingerprint) },
  script = { "a table of { path, sha256 }", is_script },
  run = { "a text", is_text },
}

local names = values.sorted(fields)

-- The reason why the decoded line is not a record; nil if it is one.
local function fault_of(line)
  if not is_named(line) then return "it is not the result of a cell" end
  for _, name in ipairs(names) do
    local takes, test, required = table.unpack(fields[name])
    local value = line[name]
    if value == nil and required then return ("it has no '%s'"):format(name) end
    if value ~= nil and not test(value) then
      return ("'%s' takes %s, and got %s"):format(name, takes, options.show(value))
    end
  end
  if line.status == "done" and not line.result then return "it has no 'result'" end
  if line.status == "failed" and not line.message then return "it has no 'message'" end
  return nil
end

-- ------------ reading and writing

--- lines.decode(text, summed): the table of a line, and true if it has a checksum; or nil and the
--- fault of the line. Types are checked unless `is_header`. summed: true if an earlier line has a
--- checksum.
function lines.decode(text, summed, is_header)
  local ok, line = options.attempt(core.json_decode, text, "")
  if not ok then return nil, (line:gsub("^[%s:]*its JSON", "its JSON")) end
  local matching = type(line) == "table" and matches(text, line)
  if matching == false then return nil, "it does not match its checksum" end
  if not matching and summed then return nil, "it has no checksum, and lines before it have" end
  local fault = not is_header and fault_of(line)
  if fault then return nil, fault end
  if matching then line.checksum = nil end
  return line, matching
end

--- lines.record(line): the record of a decoded line; nil if its key is not that of its cell. A line
--- may lack its key and its seed (scripts/pack.lua removes them), because both follow from the
--- cell.
function lines.record(line)
  line.cell = values.each(values.decode, line.cell)
  line.result = values.each(values.decode, line.result or {})
  local key = values.key(values.identity(line.cell))
  if line.key ~= nil and line.key ~= key then return nil end
  line.key, line.seed = key, line.seed or values.seed(key)
  return line
end

--- lines.encode(record): the line of a record.
function lines.encode(record)
  local line = {}
  for name, value in pairs(record) do line[name] = value end
  line.cell = values.each(values.encode, record.cell)
  line.result = record.result and values.each(values.encode, record.result)
  return lines.seal(core.json_encode(line))
end

return lines

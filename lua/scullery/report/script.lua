--- Writes a Lua script that builds a fitted pipeline and fits it again.
local component = require "scullery.compose.component"
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local instantiation = require "scullery.compose.instantiation"
local options = require "scullery.base.options"
local recipe = require "scullery.model.recipe"
local stages = require "scullery.compose.stages"
local sorted = require("scullery.base.keys").sorted

local script = {}

local WIDTH, MOST_DEEP = 96, 40 -- columns of a line, levels of nested values

local keywords = {}
for word in ("and break do else elseif end false for function goto if in local nil not or repeat \z
  return then true until while"):gmatch("%a+") do keywords[word] = true end

local write

-- A number as Lua source that is read back as the same number.
local function number_text(value)
  if math.type(value) == "integer" then return ("%d"):format(value) end
  if value ~= value then return "0/0" end
  if math.abs(value) == math.huge then return value > 0 and "math.huge" or "-math.huge" end
  local short = ("%.15g"):format(value)
  return tonumber(short) == value and short or ("%.17g"):format(value)
end

-- The same, with ".0" after floats that are whole numbers, so that they are read back as floats.
local function float_text(value)
  local text = number_text(value)
  return math.type(value) == "float" and text:find("^%-?%d+$") and text .. ".0" or text
end

-- A key of a table constructor: a name, or an expression in brackets.
local function key_text(key)
  if type(key) == "string" and key:find("^[%a_][%w_]*$") and not keywords[key] then return key end
  return ("[%s]"):format(type(key) == "string" and ("%q"):format(key):gsub("\n", "n")
    or float_text(key))
end

-- The keys outside the list part of a table, in an order that does not depend on the run.
local function sorted_keys(value)
  local keys = {}
  for key in pairs(value) do
    if math.type(key) ~= "integer" or key < 1 or key > #value then keys[#keys + 1] = key end
  end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return type(a) < type(b) end
    return a < b
  end)
  return keys
end

-- The parts between braces: on one line if it fits, otherwise each part on its own line.
local function braces(head, parts, indent)
  if #parts == 0 then return head .. "{}" end
  local line = ("%s{ %s }"):format(head, table.concat(parts, ", "))
  if #line + #indent < WIDTH and not line:find("\n", 1, true) then return line end
  local inner = indent .. "  "
  for i, part in ipairs(parts) do parts[i] = inner .. part .. "," end
  return ("%s{\n%s\n%s}"):format(head, table.concat(parts, "\n"), indent)
end

-- A plain table as a table constructor after `head`, its list part first.
local function write_table(value, head, indent, deep, notes)
  local parts = {}
  for i, one in ipairs(value) do parts[i] = write(one, indent .. "  ", deep + 1, notes) end
  for _, key in ipairs(sorted_keys(value)) do
    parts[#parts + 1] = ("%s = %s"):format(key_text(key), write(value[key], indent .. "  ",
      deep + 1, notes))
  end
  return braces(head, parts, indent)
end

local write_features
function write_features(features, indent, deep, notes)
  if features.parts then
    local list = {}
    for i, part in ipairs(features.parts) do list[i] = write_features(part, indent, deep, notes) end
    return table.concat(list, "\n" .. indent .. "+ ")
  end
  local parts, inst = {}, features.inst
  local inner = indent .. "  "
  local function add(name, value)
    if value ~= nil then
      parts[#parts + 1] = ("%s = %s"):format(name, write(value, inner, deep + 1, notes))
    end
  end
  if inst.W then parts[1] = ("W = sc.%s"):format(tostring(inst.W)) end
  for _, name in ipairs{ "K", "p", "phi" } do add(name, inst[name]) end
  for _, name in ipairs(instantiation.own_options) do add(name, features[name]) end
  return braces("sc.features", parts, indent)
end

-- A value of a recipe as Lua source. A value without a source form, such as a matrix, becomes nil,
-- and a sentence about it is added to notes.
function write(value, indent, deep, notes)
  local kind = type(value)
  if deep > MOST_DEEP then
    notes[#notes + 1] = "values nested too deep were left out"
    return "nil"
  end
  if kind == "string" then return (("%q"):format(value):gsub("\\\n", "\\n")) end
  if kind == "number" then return float_text(value) end
  if kind == "boolean" or value == nil then return tostring(value) end
  if component.is(value) then
    return write_table(value.given, ("sc.%s.%s"):format(value.kind, value.name), indent, deep,
      notes)
  end
  if instantiation.is_features(value) then return write_features(value, indent, deep, notes) end
  if stages.is(value) then
    return next(value.given) and write_table(value.given, stages.call(value), indent, deep, notes)
      or stages.call(value) .. "()"
  end
  if kind == "table" and not getmetatable(value) then
    return write_table(value, "", indent, deep, notes)
  end
  notes[#notes + 1] = ("%s was left out"):format(options.show(value))
  return "nil"
end

--- script.pipeline(p): the text of `sc.pipeline{ ... }` with the recipe of p as it was fitted. The
--- second result is a list of sentences about values that have no source form, such as matrices,
--- and are missing in the text.
function script.pipeline(p)
  local parts, notes = {}, {}
  for i, stage in ipairs(recipe.stages(p)) do parts[i] = write(stage, "  ", 1, notes) end
  for _, name in ipairs(sorted(recipe.own_options)) do
    if p[name] ~= nil then
      parts[#parts + 1] = ("%s = %s"):format(name, write(p[name], "  ", 1, notes))
    end
  end
  for i, part in ipairs(parts) do parts[i] = "  " .. part .. "," end
  return ("sc.pipeline{\n%s\n}"):format(table.concat(parts, "\n")), notes
end

-- The call that reads a file of the rows, with the target, the skipped columns and the task if they
-- are known.
local function reader_text(p)
  local schema = p.fitted and p.fitted.schema
  if schema and schema.format == "libsvm" then
    return schema.base and "sc.data.libsvm(path, { base = 0 })" or "sc.data.libsvm(path)"
  end
  local given, skipped = {}, {}
  for _, column in ipairs(schema and schema.columns or {}) do
    if column.kind == "skipped" or column.helper then skipped[#skipped + 1] = column.name end
  end
  if schema and schema.target then given.target = schema.target.name end
  if #skipped > 0 then given.skip = skipped end
  for _, one in ipairs(schema and schema.derived or {}) do
    given.derive = given.derive or {}
    given.derive[one.name] = one.expression
  end
  if p.fitted and p.fitted.task then given.task = p.fitted.task end
  return ("sc.data.csv(path, %s)"):format(write(given, "", 1, {}))
end

-- The lines that read the training rows if their origin is not known: from a file that is named on
-- the command line.
local function from_file(p)
  local f = p.fitted
  local schema = f.schema
  local form = schema and schema.format == "libsvm"
    and "in LIBSVM's format, a line for each row: label index:value ..."
    or ("as comma-separated text: a line with the names of the columns, then a line for each\n\z
      -- row%s"):format(schema and schema.target and "" or ", the target last")
  return ([[
-- train.csv holds the %d rows of %d columns that the model learnt from, in their order,
-- %s.
local path = arg[1] or error("name the file of the rows: scullery fit.lua train.csv", 0)
local train = %s
]]):format(f.n, f.dim, form, reader_text(p))
end

-- The lines that load the training rows as the script did, by one call and perhaps a split; nil if
-- the origin is not known or has no source form.
local function from_origin(p)
  local origin = p.data and dataset.origin(p.data)
  if not origin then return nil end
  local lines, parts, notes = {}, {}, {}
  for i, value in ipairs(origin.arguments) do parts[i] = write(value, "", 1, notes) end
  if origin.call == "csv" then
    lines[1] = ("local path = arg[1] or %s"):format(parts[1])
    parts[1] = "path"
  end
  local split = origin.split and ":split" .. (write(origin.split, "", 1, notes)) or ""
  if #notes > 0 then return nil end
  table.insert(lines, 1, ("-- The %d rows of %d columns that the model learnt from%s."):format(
    p.fitted.n, p.fitted.dim, origin.split and ": the first part of a split" or ""))
  lines[#lines + 1] = ("local train = sc.data.%s(%s)%s"):format(origin.call,
    table.concat(parts, ", "), split)
  return table.concat(lines, "\n") .. "\n"
end

--- script.fit(p): a complete script that fits the model again. The second result is a list of
--- sentences about values that it lacks; the third is true if it takes the file of the rows as an
--- argument, because the origin of the rows is not known.
function script.fit(p)
  local made, notes = script.pipeline(p)
  local rows = from_origin(p)
  return ([[
local sc = require "scullery" -- version %s

%s
local p = %s
print(p:fit(train))
p:save("model.safetensors")
]]):format(core.version, rows or from_file(p), made), notes, rows == nil
end

return script

--- Printing of values at the prompt and in notebooks: tables with their contents, functions with
--- their parameters, matrices with their shape, objects as their own text.
local options = require "scullery.base.options"
local objects = require "scullery.base.objects"
local tokens = require "scullery.prompt.tokens"
local harmless = require "scullery.base.text"

local display = {}

local MOST_DEEP, MOST_ITEMS, MOST_INNER = 6, 100, 20
local MOST_LINES, MOST_BYTES, MOST_INNER_BYTES = 400, 10000, 200

-- The width of a text in columns, without colour codes and combining characters.
local function columns_of(text)
  text = text:gsub("\27%[%d*m", "")
  return utf8.len(text) or #text
end

-- ------------ plain values

local escapes = { ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r", ["\\"] = "\\\\", ['"'] = '\\"' }

local function escaped(byte) return ("\\x%02x"):format(byte) end

-- A text in quotes with escapes, cut to `most` bytes.
local function quoted(text, most)
  local rest = #text - most
  if rest > 0 then text = text:sub(1, most) end
  text = text:gsub('[%c\\"]', function(c)
    return escapes[c] or escaped(c:byte())
  end)
  local shown = '"' .. harmless.shown(harmless.valid(text, escaped)) .. '"'
  return rest > 0 and ("%s ... %d more bytes"):format(shown, rest) or shown
end

local function number_text(value)
  if math.type(value) == "integer" then return tostring(value) end
  if value ~= value then return "nan" end
  if value == math.huge then return "inf" end
  if value == -math.huge then return "-inf" end
  return tostring(value)
end

-- ------------ functions

-- The names of functions of Lua's standard libraries.
local library_names = {}
for _, name in ipairs{ "_G", "coroutine", "debug", "io", "math", "os", "package", "string", "table",
  "utf8" } do
  for key, value in next, package.loaded[name] do
    if type(value) == "function" then
      library_names[value] = (name == "_G" and "" or name .. ".") .. key
    end
  end
end

local function parameters_of(f, info)
  local names = {}
  for i = 1, info.nparams do names[i] = debug.getlocal(f, i) end
  if info.isvararg then names[#names + 1] = "..." end
  return table.concat(names, ", ")
end

-- The first sentence of the help for functions of the library; name, parameters and place of
-- others.
local function function_text(f)
  local own = require("scullery.help.topics").brief(f)
  if own then return "function: " .. own end
  local inner = objects.original[f] or f
  local info = debug.getinfo(inner, "Su")
  if info.what == "C" then return "function " .. (library_names[f] or "written in C") end
  return ("function(%s), %s:%d"):format(parameters_of(inner, info), info.short_src,
    info.linedefined)
end

-- ------------ objects

local function field_of(meta, name)
  local ok, value = pcall(function() return type(meta) == "table" and rawget(meta, name) end)
  return ok and value or nil
end

-- The text of __display(value, { depth =, width =, colour = }) or of __tostring; inside tables
-- first of __summary(value). nil without such a metamethod; an error of it becomes the text.
local function own_text(value, meta, state)
  local summary = state.depth > 0 and field_of(meta, "__summary")
  local own = summary or field_of(meta, "__display")
  if not own and not field_of(meta, "__tostring") then return nil end
  local ok, text = pcall(own or tostring, value, state)
  if ok and type(text) == "string" then return own == nil and harmless.shown(text) or text end
  if not ok and options.is_interrupt(text) then error(text, 0) end
  if type(text) ~= "string" then text = "it gives a " .. type(text) end -- no text, or an error
  return ("a %s, whose %s fails: %s"):format(type(value),
    summary and "__summary" or own and "__display" or "__tostring", harmless.shown(text))
end

-- The text without the address that Lua's tostring appends to the type.
local function without_address(text) return text:match("^(.-):? %(?0x%x+%)?$") or text end

-- The first line of an object's text, for objects inside tables.
local function first_line(text, state)
  local line = state.depth > 0 and text:match("^([^\n]*)\n")
  return line and (line:find("^matrix") and line or line .. " ...") or text
end

local function userdata_text(value, state)
  if io.type(value) then return io.type(value) end
  local text = own_text(value, debug.getmetatable(value), state) or tostring(value)
  return first_line(without_address(text), state)
end

-- ------------ tables

local order = { number = 1, string = 2, boolean = 3 }

-- Keys outside the list part: numbers, then texts, then the rest in any order.
local function sorted_keys(value, length)
  local keys = {}
  for key in next, value do
    if not (math.type(key) == "integer" and key >= 1 and key <= length) then
      keys[#keys + 1] = key
    end
  end
  table.sort(keys, function(a, b)
    local ka, kb = order[type(a)] or 4, order[type(b)] or 4
    if ka ~= kb then return ka < kb end
    if ka == 1 or ka == 2 then return a < b end
    return ka == 3 and a and not b
  end)
  return keys
end

local show

local function key_text(key, state)
  local text
  if type(key) == "string" and key:find("^[%a_][%w_]*$") and not tokens.keywords[key] then
    text = key
  else
    text = "[" .. show(key, { depth = MOST_DEEP, width = 60, path = "", paths = {} }) .. "]"
  end
  return state.colour and "\27[36m" .. text .. "\27[0m" or text
end

-- The state of a value inside a table, after `taken` columns of its line.
local function within(state, path, taken)
  return { depth = state.depth + 1, width = state.width - 2 - taken - #",", path = path,
    paths = state.paths, colour = state.colour }
end

-- The parts of a table as texts: the list part first, then keys.
local function parts_of(value, state)
  local parts, length = {}, 0
  while rawget(value, length + 1) ~= nil do length = length + 1 end
  local keys = sorted_keys(value, length)
  local most = state.depth == 0 and MOST_ITEMS or MOST_INNER
  for i = 1, math.min(length, most) do
    parts[#parts + 1] = show(value[i], within(state, ("%s[%d]"):format(state.path, i), 0))
  end
  for i = 1, math.min(#keys, math.max(0, most - length)) do
    local text = key_text(keys[i], state)
    local path = type(keys[i]) == "string" and state.path .. "." .. keys[i]
      or state.path .. "[" .. type(keys[i]) .. "]"
    text = text .. " = "
    parts[#parts + 1] = text .. show(rawget(value, keys[i]),
      within(state, path, columns_of(text)))
  end
  local rest = length + #keys - #parts
  if rest > 0 then parts[#parts + 1] = ("... %d more"):format(rest) end
  return parts, length > 0 and #keys == 0
end

-- Lines with several short values each.
local function filled(parts, width)
  local lines, line = {}, ""
  for i, part in ipairs(parts) do
    local piece = part .. (i < #parts and "," or "")
    local longer = line == "" and piece or line .. " " .. piece
    if line ~= "" and columns_of(longer) > width then
      lines[#lines + 1], longer = line, piece
    end
    line = longer
  end
  lines[#lines + 1] = line
  return lines
end

-- A table in braces: on one line if it fits; a table that contains itself is named by its path.
local function table_text(value, state)
  if next(value) == nil then return "{}" end
  if state.paths[value] then
    return ("{ the table %s again }"):format(state.paths[value] == "" and "above"
      or "at " .. state.paths[value])
  end
  if state.depth >= MOST_DEEP then return "{...}" end
  state.paths[value] = state.path
  local parts, is_list = parts_of(value, state)
  state.paths[value] = nil
  local line = "{ " .. table.concat(parts, ", ") .. " }"
  if not line:find("\n", 1, true) and columns_of(line) <= state.width then return line end
  local short = is_list
  for _, part in ipairs(parts) do
    short = short and #part <= 30 and not part:find("[\n{]")
  end
  local lines = short and filled(parts, math.max(10, state.width - 2)) or parts
  local texts = {}
  for i, text in ipairs(lines) do
    texts[i] = "  " .. text:gsub("\n", "\n  ") .. (not short and i < #lines and "," or "")
  end
  return "{\n" .. table.concat(texts, "\n") .. "\n}"
end

-- A table of any class: a namespace of the library, an object with its own text, or a plain table.
local function any_table(value, state)
  local meta = debug.getmetatable(value)
  local namespace = objects.namespaces[value]
  if namespace then
    local help = state.depth == 0 and require("scullery.help.topics")
    return help and help.painted(help.text(value), state.colour) or namespace
  end
  local text = own_text(value, meta, state)
  if text then return first_line(without_address(text), state) end
  local name = field_of(meta, "__name")
  return (type(name) == "string" and harmless.shown(name) .. " " or "") .. table_text(value, state)
end

function show(value, state)
  local kind = type(value)
  if kind == "string" then
    return quoted(value, state.depth == 0 and MOST_BYTES or MOST_INNER_BYTES)
  end
  if kind == "number" then return number_text(value) end
  if kind == "function" then return function_text(value) end
  if kind == "userdata" then return userdata_text(value, state) end
  if kind == "thread" then return "coroutine, " .. coroutine.status(value) end
  if kind == "table" then return any_table(value, state) end
  return tostring(value)
end

-- ------------ texts

-- The first MOST_LINES lines, and the number of the rest.
local function cut(text)
  local lines, at = 0, 0
  while lines < MOST_LINES do
    at = text:find("\n", at + 1, true)
    if not at then return text end
    lines = lines + 1
  end
  local _, rest = text:sub(at + 1):gsub("\n", "\n")
  return ("%s\n... %d more lines"):format(text:sub(1, at - 1), rest + 1)
end

--- display.text(value[, { width =, colour = }]): the text of a value at the prompt. width: columns
--- (80); colour: true to colour the keys of tables.
function display.text(value, given)
  given = given or {}
  return cut(show(value, { depth = 0, width = math.max(10, given.width or 80), path = "",
    paths = {}, colour = given.colour }))
end

--- display.values(list[, { width =, colour = }]): the texts of list[1] .. list[list.n]: on one line
--- if they fit, otherwise one below the other.
function display.values(list, given)
  local texts, short = {}, true
  for i = 1, list.n do
    texts[i] = display.text(list[i], given)
    short = short and not texts[i]:find("\n", 1, true)
  end
  local line = table.concat(texts, "\t")
  short = short and columns_of(line) + 8 * #texts <= (given and given.width or 80)
  return short and line or table.concat(texts, "\n")
end

return display

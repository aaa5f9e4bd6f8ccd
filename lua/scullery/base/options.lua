--- Named options of Lua functions, checked by the validator of plugins' options and refused with
--- its sentences.
local core = require "scullery.core"

local options = {}

--- options.nearest(word, names): the name most like the word, or nil when none is near.
function options.nearest(word, names) return core.nearest(word, names) end

local MOST_SHOWN, MOST_TEXT = 8, 60

--- options.constructors[f] = "sc.KIND.NAME" of functions that make components.
options.constructors = setmetatable({}, { __mode = "k" })

local function shown_key(key)
  return (type(key) == "string" or type(key) == "number") and tostring(key) or "a " .. type(key)
end

local function show(value, depth)
  local kind = type(value)
  local maker = kind == "function" and options.constructors[value]
  if maker then return ("the function %s (write %s{})"):format(maker, maker) end
  if kind == "string" then
    local text = #value > MOST_TEXT and value:sub(1, MOST_TEXT) .. "..." or value
    return ("%q"):format(text):gsub("\\\n", "\\n")
  end
  if kind == "number" then return value ~= value and "nan" or ("%.14g"):format(value) end
  if core.is_matrix(value) then return ("a %d x %d matrix"):format(value:rows(), value:cols()) end
  if kind == "function" or kind == "userdata" or kind == "thread" then return "a " .. kind end
  if kind ~= "table" then return tostring(value) end
  local meta = getmetatable(value)
  if type(meta) == "table" and meta.__tostring then -- a __metatable may be anything
    local text = tostring(value)
    return text:find("\n", 1, true) and "a " .. (meta.__name or "table") or text
  end
  if depth == 0 then return "{...}" end
  local parts = {}
  for k, v in pairs(value) do
    if #parts == MOST_SHOWN then parts[#parts + 1] = "..." break end
    parts[#parts + 1] = (math.type(k) == "integer" and "" or shown_key(k) .. " = ")
      .. show(v, depth - 1)
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

--- options.show(value): a short printable form of any value.
function options.show(value) return (show(value, 2)) end

--- options.expect(ok, takes, value): an error, "takes a data set, and got 3", unless ok.
function options.expect(ok, takes, value)
  if not ok then error("takes " .. takes .. ", and got " .. options.show(value), 0) end
end

--- options.plain(message): an error's sentence without the place in a Lua file that stands before
--- it.
function options.plain(message) return (tostring(message):gsub("^[^:\n]*%.lua:%d+: ", "")) end

-- The sentence of an error: itself, or the field `message` of one that carries what was finished.
local function sentence_of(raised)
  if type(raised) == "table" then raised = rawget(raised, "message") end
  return type(raised) == "string" and raised or ""
end

--- options.is_interrupt(raised): whether an error is that of Ctrl-C: "interrupted!", behind places
--- and titles, or before what was not finished.
function options.is_interrupt(raised)
  local sentence = sentence_of(raised)
  return sentence:find("^interrupted!%f[%z ]") ~= nil
    or sentence:find(": interrupted!$") ~= nil
    or sentence:find(": interrupted! (", 1, true) ~= nil
end

--- options.attempt(f, ...): what pcall(f, ...) gives, to find out whether something can be done. An
--- interrupt, or memory that runs out, tells nothing of that, and goes on as an error.
function options.attempt(f, ...)
  local ok, result = pcall(f, ...)
  if not ok and (options.is_interrupt(result)
    or sentence_of(result):find("not enough memory", 1, true)) then
    error(result, 0)
  end
  return ok, result
end

--- options.guard(title, level, f, ...): f(...), its error raised again as one sentence that begins
--- with the title, with a caller's place in front: level 2 for the caller of the function that
--- calls guard; 1 where that function ends with `return options.guard(...)`, as a tail call leaves
--- no trace of it.
function options.guard(title, level, f, ...)
  local result = table.pack(pcall(f, ...))
  if result[1] then return table.unpack(result, 2, result.n) end
  if type(result[2]) ~= "string" then error(result[2], 0) end -- of the script's own function
  local message = options.plain(result[2])
  if message:sub(1, #title) ~= title then message = title .. ": " .. message end
  error(message, level + 1)
end

-- A value that no form of the engine's options tells about: judged by a function.
local function opaque(rule)
  if rule.test then return rule.test, rule.takes end
  if rule.type == "any" then return nil, "any value" end
  return function(value) return type(value) == rule.type end, rule.takes or "a " .. rule.type
end

local forms = { number = "number", integer = "integer", boolean = "boolean", string = "word" }

-- One rule as the engine takes it, and the function that judges its values where there is one.
local function row_of(name, rule)
  local row = { name = name, low = rule.low, high = rule.high, above = rule.above,
    required = rule.required }
  if rule.choices then
    row.form, row.words = "word", table.concat(rule.choices, "|")
    return row
  end
  row.form = not rule.test and forms[rule.type] or "opaque"
  if row.form ~= "opaque" then return row end
  local test
  test, row.words = opaque(rule)
  return row, test
end

local declared = setmetatable({}, { __mode = "k" }) -- rules -> what the engine made of them

local function declare(rules)
  if declared[rules] then return declared[rules] end
  local list, tests, names, opaques = {}, {}, {}, {}
  for name in pairs(rules) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do
    list[i], tests[name] = row_of(name, rules[name])
    opaques[name] = list[i].form == "opaque"
  end
  declared[rules] = { rows = core.option_rows(list), tests = tests, opaques = opaques }
  return declared[rules]
end

local simple = { number = true, boolean = true, string = true }

-- What core.check_options takes beside a value: false where its row judges it; true where it is
-- taken; a text, how it looks, where it is not.
local function judged(made, name, value)
  if made.opaques[name] then
    local test = made.tests[name]
    return not test or test(value) and true or options.show(value)
  end
  return not simple[type(value)] and options.show(value)
end

-- The values that one stands for: those of an sc.choose where the option may be searched.
local function values_of(rule, value)
  local meta = rule and rule.searchable and type(value) == "table" and debug.getmetatable(value)
  local list = meta and rawget(meta, "__name") == "choose" and rawget(value, "values")
  if type(list) == "table" then return list, rawlen(list) end
  return { value }, 1
end

-- An error where the options are not as the rules say.
local function refuse_wrong(title, given, rules)
  local made, names, values, words = declare(rules), {}, {}, {}
  if given ~= nil and type(given) ~= "table" then
    error(("%s: takes a table of named options, and got %s"):format(title, options.show(given)), 0)
  end
  for name, value in next, given or {} do
    local list, count = values_of(rules[name], value)
    for i = 1, count do
      local one, at = rawget(list, i), #names + 1
      names[at], values[at], words[at] = name, one, judged(made, name, one)
    end
  end
  return core.check_options(title, made.rows, names, values, words) -- leaves no place in its errors
end

local titled = {} -- title -> rules

--- options.declare(title, rules) -> rules: the options of a function, as options.check takes them,
--- for completion. A method's title is that of its class, as in "class:method".
function options.declare(title, rules)
  titled[title] = rules
  return rules
end

--- options.rows(title): the options that were declared under a title, by name: a list of { name,
--- takes, words }; nil where there are none.
function options.rows(title)
  local rules = titled[title]
  if not rules then return nil end
  local list = {}
  for name, rule in pairs(rules) do
    list[#list + 1] = { name = name, words = rule.choices, takes = rule.takes
      or rule.choices and "one of " .. table.concat(rule.choices, ", ")
      or rule.type and rule.type ~= "any" and rule.type or nil }
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

--- options.titles_of_method(method): the titles that were declared for methods of that name.
function options.titles_of_method(method)
  local list = {}
  for title in pairs(titled) do
    if title:match(":([%w_]+)$") == method then list[#list + 1] = title end
  end
  table.sort(list)
  return list
end

local function whole(rule, value)
  if rule.type ~= "integer" or rule.test or type(value) ~= "number" then return value end
  return math.tointeger(value)
end

--- options.check(title, given, rules[, level]): a fresh table of the given values and the defaults.
--- rules[name] = {type = "number" | "integer" | "string" | "boolean" | "table" | "any", default =,
--- low =, high =, above =, choices =, test =, takes =, required =, searchable = whether sc.choose{}
--- may stand for a value}. Errors name the function, the option, what came, what is taken and the
--- nearest name; level as in error(), counted from the caller (2: whoever called it; 0: no place is
--- put).
function options.check(title, given, rules, level)
  local result = {}
  local ok, message = pcall(refuse_wrong, title, given, rules)
  if not ok then
    if type(message) ~= "string" then error(message, 0) end -- of the script's own function
    error(options.plain(message), level == 0 and 0 or (level or 2) + 1)
  end
  for name, value in pairs(given or {}) do result[name] = whole(rules[name], value) end
  for name, rule in pairs(rules) do
    if result[name] == nil then result[name] = rule.default end
  end
  return result
end

return options

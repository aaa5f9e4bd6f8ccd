--- Named options of Lua functions, checked by the validator for options of plugins, with the same
--- error messages.
local core = require "scullery.core"
local keys = require "scullery.base.keys"

local options = {}

--- options.nearest(word, names): the name most similar to the word, or nil if none is similar.
function options.nearest(word, names) return core.nearest(word, names) end

local MOST_SHOWN, MOST_TEXT = 8, 60

--- options.constructors[f] = "sc.KIND.NAME" for functions that make components.
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
  if core.is_texts(value) then return ("%d texts"):format(#value) end
  if core.is_sparse(value) then
    return ("a sparse %d x %d matrix"):format(value:rows(), value:cols())
  end
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

--- options.expect(ok, takes, value): raises "takes a data set, and got 3" unless ok.
function options.expect(ok, takes, value)
  if not ok then error("takes " .. takes .. ", and got " .. options.show(value), 0) end
end

--- options.plain(message): the message without the position in a Lua file at its front.
function options.plain(message) return (tostring(message):gsub("^[^:\n]*%.lua:%d+: ", "")) end

-- The text of an error: the error itself, or the field `message` of an error object.
local function sentence_of(raised)
  if type(raised) == "table" then raised = rawget(raised, "message") end
  return type(raised) == "string" and raised or ""
end

--- options.is_interrupt(raised): true if an error came from Ctrl-C: it contains "interrupted!",
--- after positions and titles, or before a list of unfinished work.
function options.is_interrupt(raised)
  local sentence = sentence_of(raised)
  return sentence:find("^interrupted!%f[%z ]") ~= nil
    or sentence:find(": interrupted!$") ~= nil
    or sentence:find(": interrupted! (", 1, true) ~= nil
end

--- options.attempt(f, ...): as pcall(f, ...), for finding out whether something can be done. An
--- interrupt or a lack of memory does not answer that question and is raised.
function options.attempt(f, ...)
  local results = table.pack(pcall(f, ...))
  local ok, raised = results[1], results[2]
  if not ok and (options.is_interrupt(raised)
    or sentence_of(raised):find("not enough memory", 1, true)) then
    error(raised, 0)
  end
  return table.unpack(results, 1, results.n)
end

--- options.guard(title, level, f, ...): calls f(...). Its error is raised as one sentence that
--- begins with a caller's position and the title. level: 2 for the caller of the function that
--- calls guard; 1 if that function ends with `return options.guard(...)`, because a tail call
--- removes it from the stack.
function options.guard(title, level, f, ...)
  local result = table.pack(pcall(f, ...))
  if result[1] then return table.unpack(result, 2, result.n) end
  if type(result[2]) ~= "string" then error(result[2], 0) end -- an error object of the script
  local message = options.plain(result[2])
  if message:sub(1, #title) ~= title then message = title .. ": " .. message end
  error(message, level + 1)
end

-- A rule for values that the engine's validator has no form for: a test function and a text.
local function opaque(rule)
  if rule.test then return rule.test, rule.takes end
  if rule.type == "any" then return nil, "any value" end
  return function(value) return rule.type:find(type(value), 1, true) ~= nil end,
    rule.takes or "a " .. rule.type
end

local forms = { number = "number", integer = "integer", boolean = "boolean", string = "word" }

-- One rule in the engine's form, and the function that tests its values, if any.
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

local declared = setmetatable({}, { __mode = "k" }) -- rules -> their form for the engine

local function declare(rules)
  if declared[rules] then return declared[rules] end
  local list, tests, opaques = {}, {}, {}
  for i, name in ipairs(keys.sorted(rules)) do
    list[i], tests[name] = row_of(name, rules[name])
    opaques[name] = list[i].form == "opaque"
  end
  declared[rules] = { rows = core.option_rows(list), tests = tests, opaques = opaques }
  return declared[rules]
end

local simple = { number = true, boolean = true, string = true }

-- The verdict that core.check_options takes beside a value: false if the engine's rule decides,
-- true if the value is valid, and the value as a text if it is not.
local function judged(made, name, value)
  if made.opaques[name] then
    local test = made.tests[name]
    return not test or test(value) and true or options.show(value)
  end
  return not simple[type(value)] and options.show(value)
end

-- The values to check for one given value: those of an sc.choose if the option is searchable.
local function values_of(rule, value)
  local meta = rule and rule.searchable and type(value) == "table" and debug.getmetatable(value)
  local list = meta and rawget(meta, "__name") == "choose" and rawget(value, "values")
  if type(list) == "table" then return list, rawlen(list) end
  return { value }, 1
end

-- Raises an error unless the options follow the rules.
local function refuse_wrong(title, given, rules)
  local made, names, values, words = declare(rules), {}, {}, {}
  local object = type(given) == "table" and getmetatable(given)
  if given ~= nil and (type(given) ~= "table" or object) then
    error(("%s: takes a table of named options, and got %s"):format(title, options.show(given)), 0)
  end
  for name, value in next, given or {} do
    local list, count = values_of(rules[name], value)
    for i = 1, count do
      local one, at = rawget(list, i), #names + 1
      names[at], values[at], words[at] = name, one, judged(made, name, one)
    end
  end
  return core.check_options(title, made.rows, names, values, words) -- its errors have no position
end

local titled = {} -- title -> rules

--- options.declare(title, rules) -> rules: registers the options of a function for completion;
--- rules: see options.check. The title of a method is "class:method".
function options.declare(title, rules)
  titled[title] = rules
  return rules
end

--- options.rows(title): the options declared under a title, sorted by name: a list of { name,
--- takes, words }; nil if there are none.
function options.rows(title)
  local rules = titled[title]
  if not rules then return nil end
  local list = {}
  for name, rule in pairs(rules) do
    list[#list + 1] = { name = name, words = rule.choices or rule.words and rule.words(),
      takes = rule.takes
      or rule.choices and "one of " .. table.concat(rule.choices, ", ")
      or rule.type and rule.type ~= "any" and rule.type or nil }
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

--- options.titles_of_method(method): the titles declared for methods of that name.
function options.titles_of_method(method)
  local list = {}
  for title in pairs(titled) do
    if title:match(":([%w_]+)$") == method then list[#list + 1] = title end
  end
  table.sort(list)
  return list
end

--- options.are_options(value): true for a table of options; false for data: a data set, a matrix or
--- a list.
function options.are_options(value) return options.is_list(value) and #value == 0 end

--- options.is_list(value), options.is_share(value): tests of rules: a table without a metatable; a
--- number between 0 and 1.
function options.is_list(value) return type(value) == "table" and not getmetatable(value) end
function options.is_share(value) return type(value) == "number" and value > 0 and value < 1 end

-- The options, each under the name that the rules have where it was given by another one.
local function by_own_names(given, rules)
  if type(given) ~= "table" or getmetatable(given) then return given end
  local copy = {}
  for key, value in next, given do copy[key] = value end
  for name, rule in pairs(rules) do
    for _, other in ipairs(rule.also or {}) do
      if not rules[other] and given[name] == nil and given[other] ~= nil then
        copy[name], copy[other] = given[other], nil
      end
    end
  end
  return copy
end

--- options.check(title, given, rules[, level]): a new table of the given values and the defaults.
--- rules[name] = {type = "number" | "integer" | "string" | "boolean" | "table" | "any", or several
--- as "table or function", default =, low =, high =, above =, choices =, test =, takes =, words = a
--- function that lists words for completion, required =, searchable = true if the value may be an
--- sc.choose{}, also = other names of the option}. An error names the function, the option, the
--- value, the valid values and the nearest name. level: as in error(), counted from the caller (2:
--- the caller of the caller; 0: no position).
function options.check(title, given, rules, level)
  local result = {}
  given = by_own_names(given, rules)
  local ok, message = pcall(refuse_wrong, title, given, rules)
  if not ok then
    if type(message) ~= "string" then error(message, 0) end -- an error object of the script
    error(options.plain(message), level == 0 and 0 or (level or 2) + 1)
  end
  for name, value in pairs(given or {}) do
    local whole = rules[name].type == "integer" and not rules[name].test and math.tointeger(value)
    result[name] = whole or value
  end
  for name, rule in pairs(rules) do
    if result[name] == nil then result[name] = rule.default end
  end
  return result
end

return options

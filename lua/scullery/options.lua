--- Named options of Lua functions: checked in one place, refused with a sentence.
local options = {}

local function distance(a, b)
  local line = {}
  for j = 0, #b do line[j] = j end
  for i = 1, #a do
    local corner = line[0]
    line[0] = i
    for j = 1, #b do
      local change = corner + (a:byte(i) == b:byte(j) and 0 or 1)
      corner = line[j]
      line[j] = math.min(change, line[j] + 1, line[j - 1] + 1)
    end
  end
  return line[#b]
end

--- options.nearest(word, names): the name most like the word, or nil when none is near.
function options.nearest(word, names)
  local best, least = nil, math.max(#word // 2, 1)
  for _, name in ipairs(names) do
    local d = distance(word, name)
    if d < least or (d == least and not best) then best, least = name, d end
  end
  return best
end

local MOST_SHOWN, MOST_TEXT = 8, 60

local function show(value, depth)
  local kind = type(value)
  if kind == "string" then
    local text = #value > MOST_TEXT and value:sub(1, MOST_TEXT) .. "..." or value
    return ("%q"):format(text):gsub("\\\n", "\\n")
  end
  if kind == "number" then return value ~= value and "nan" or ("%.14g"):format(value) end
  if kind ~= "table" or (getmetatable(value) or {}).__tostring then return tostring(value) end
  if depth == 0 then return "{...}" end
  local parts = {}
  for k, v in pairs(value) do
    if #parts == MOST_SHOWN then parts[#parts + 1] = "..." break end
    parts[#parts + 1] = (math.type(k) == "integer" and "" or tostring(k) .. " = ")
      .. show(v, depth - 1)
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

--- options.show(value): a short printable form of any value.
function options.show(value) return (show(value, 2)) end

--- options.plain(message): an error's sentence without the place in a Lua file that stands before
--- it.
function options.plain(message) return (tostring(message):gsub("^[^:\n]*%.lua:%d+: ", "")) end

--- options.guard(title, level, f, ...): f(...), its error raised again as one sentence that begins
--- with the title, with a caller's place in front: level 2 for the caller of the function that
--- calls guard; 1 where that function ends with `return options.guard(...)`, as a tail call leaves
--- no trace of it.
function options.guard(title, level, f, ...)
  local result = table.pack(pcall(f, ...))
  if result[1] then return table.unpack(result, 2, result.n) end
  local message = options.plain(result[2])
  if message:sub(1, #title) ~= title then message = title .. ": " .. message end
  error(message, level + 1)
end

local function takes(rule)
  if rule.choices then return "one of " .. table.concat(rule.choices, ", ") end
  if rule.takes then return rule.takes end
  if rule.type == "integer" or rule.type == "number" then
    local what = rule.type == "integer" and "a whole number" or "a number"
    if rule.low and rule.high then return ("%s from %g to %g"):format(what, rule.low, rule.high) end
    if rule.low then return ("%s of at least %g"):format(what, rule.low) end
    if rule.above and rule.high then
      return ("%s above %g, up to %g"):format(what, rule.above, rule.high)
    end
    if rule.above then return ("%s above %g"):format(what, rule.above) end
    if rule.high then return ("%s of at most %g"):format(what, rule.high) end
    return what
  end
  return rule.type == "any" and "any value" or rule.type == "boolean" and "true or false" or "a "
    .. rule.type
end

local function fits(rule, value)
  if rule.test then return rule.test(value) end
  if rule.choices then
    for _, choice in ipairs(rule.choices) do if choice == value then return true end end
    return false
  end
  if rule.type == "any" then return true end
  if rule.type == "integer" then
    if math.type(value) == "float" and math.tointeger(value) then value = math.tointeger(value) end
    if math.type(value) ~= "integer" then return false end
  elseif type(value) ~= rule.type then
    return false
  end
  if rule.type == "number" or rule.type == "integer" then
    if value ~= value or (rule.low and value < rule.low) or (rule.high and value > rule.high)
      or (rule.above and value <= rule.above) then
      return false
    end
  end
  return true
end

-- A searched option stands for each of its values.
local function fits_all(rule, value)
  local meta = getmetatable(value)
  if not (rule.searchable and type(meta) == "table" and meta.__name == "choose") then
    return fits(rule, value)
  end
  for _, one in ipairs(value.values) do if not fits(rule, one) then return false end end
  return true
end

local function whole(rule, value)
  if rule.type ~= "integer" or rule.test or type(value) ~= "number" then return value end
  return math.tointeger(value)
end

local function names_of(rules)
  local names = {}
  for name in pairs(rules) do names[#names + 1] = name end
  table.sort(names)
  return names
end

local function refuse_unknown(title, name, rules, level)
  local names = names_of(rules)
  local near = options.nearest(name, names)
  error(("%s: unknown option '%s'%s; it takes %s"):format(title, name,
    near and (" (did you mean '" .. near .. "'?)") or "",
    #names > 0 and table.concat(names, ", ") or "none"), level + 1)
end

-- The given names in a fixed order, so that of two mistakes the same one is always named.
local function given_names(given)
  local names = {}
  for name in pairs(given) do names[#names + 1] = name end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  return names
end

--- options.check(title, given, rules[, level]): a fresh table of the given values and the defaults.
--- rules[name] = {type = "number" | "integer" | "string" | "boolean" | "table" | "any", default =,
--- low =, high =, above =, choices =, test =, takes =, required =, searchable = whether sc.choose{}
--- may stand for a value}. Errors name the function, the option, what came, what is taken and the
--- nearest name; level as in error(), counted from the caller (2: whoever called it; 0: no place is
--- put).
function options.check(title, given, rules, level)
  level = level == 0 and -1 or (level or 2)
  if given == nil then given = {} end
  if type(given) ~= "table" then
    error(("%s: takes a table of named options, and got %s"):format(title, options.show(given)),
      level + 1)
  end
  local result = {}
  for _, name in ipairs(given_names(given)) do
    local rule, value = rules[name], given[name]
    if type(name) ~= "string" then
      error(("%s: takes named options, and got %s without a name"):format(title,
        options.show(value)), level + 1)
    end
    if not rule then refuse_unknown(title, name, rules, level == -1 and -1 or level + 1) end
    if not fits_all(rule, value) then
      error(("%s: option '%s' got %s; it takes %s"):format(title, name, options.show(value),
        takes(rule)), level + 1)
    end
    result[name] = whole(rule, value)
  end
  for _, name in ipairs(names_of(rules)) do
    local rule = rules[name]
    if result[name] == nil then
      if rule.required then
        error(("%s: option '%s' is missing; it takes %s"):format(title, name, takes(rule)),
          level + 1)
      end
      result[name] = rule.default
    end
  end
  return result
end

return options

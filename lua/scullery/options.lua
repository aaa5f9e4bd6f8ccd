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
  local best, least = nil, #word // 2 + 1
  for _, name in ipairs(names) do
    local d = distance(word, name)
    if d < least or (d == least and not best) then best, least = name, d end
  end
  return best
end

--- options.show(value): a short printable form of any value.
function options.show(value)
  local kind = type(value)
  if kind == "string" then return ("%q"):format(value) end
  if kind == "number" then return ("%.14g"):format(value) end
  if kind ~= "table" or (getmetatable(value) or {}).__tostring then return tostring(value) end
  local parts = {}
  for k, v in pairs(value) do
    if #parts == 8 then parts[#parts + 1] = "..." break end
    parts[#parts + 1] = (math.type(k) == "integer" and "" or tostring(k) .. " = ") .. options.show(v)
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function takes(rule)
  if rule.choices then return "one of " .. table.concat(rule.choices, ", ") end
  if rule.takes then return rule.takes end
  if rule.type == "integer" or rule.type == "number" then
    local what = rule.type == "integer" and "a whole number" or "a number"
    if rule.low and rule.high then return ("%s from %g to %g"):format(what, rule.low, rule.high) end
    if rule.low then return ("%s of at least %g"):format(what, rule.low) end
    if rule.above then return ("%s above %g"):format(what, rule.above) end
    return what
  end
  return rule.type == "any" and "any value" or "a " .. rule.type
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
    if value ~= value or (rule.low and value < rule.low) or (rule.high and value > rule.high) or (rule.above and value <= rule.above) then
      return false
    end
  end
  return true
end

local function names_of(rules)
  local names = {}
  for name in pairs(rules) do names[#names + 1] = name end
  table.sort(names)
  return names
end

--- options.check(title, given, rules[, level]): a fresh table of the given values and the defaults. rules[name] = {type = "number" | "integer" | "string" |
--- "boolean" | "table" | "any", default =, low =, high =, above =, choices =, test =, takes =, required =}. Errors name the function, the option, what came,
--- what is taken and the nearest name.
function options.check(title, given, rules, level)
  level = (level or 2) + 1
  given = given == nil and {} or given
  if type(given) ~= "table" then
    error(("%s: takes a table of named options, and got %s"):format(title, options.show(given)), level)
  end
  local result = {}
  for name, value in pairs(given) do
    local rule = rules[name]
    if not rule then
      local names = names_of(rules)
      local near = type(name) == "string" and options.nearest(name, names)
      error(("%s: unknown option '%s'%s; it takes %s"):format(title, tostring(name), near and (" (did you mean '" .. near .. "'?)") or "",
        #names > 0 and table.concat(names, ", ") or "none"), level)
    end
    if not fits(rule, value) then
      error(("%s: option '%s' got %s; it takes %s"):format(title, name, options.show(value), takes(rule)), level)
    end
    result[name] = value
  end
  for name, rule in pairs(rules) do
    if result[name] == nil then
      if rule.required then error(("%s: option '%s' is missing; it takes %s"):format(title, name, takes(rule)), level) end
      result[name] = rule.default
    end
  end
  return result
end

return options

--- Definitions that components declare (scl_plugin.definition): functions in Lua of their
--- arguments, options and each other, with which results are compared.
local core = require "scullery_checker.core"
local functions = require "scullery_checker.definition.functions"

local definition = {}

-- The text as a chunk: lines "name(arguments) = expression", each with the lines that continue it.
local function chunk_of(text)
  local parts = {}
  for line in (text .. "\n"):gmatch("(.-)\n") do
    local name, arguments, rest = line:match("^%s*([%a_][%w_]*)%s*(%b())%s*=(.*)$")
    if name and rest:sub(1, 1) ~= "=" then
      parts[#parts + 1] = ("%s%s = function%s return %s"):format(#parts > 0 and "end " or "", name,
        arguments, rest)
    else
      parts[#parts + 1] = line
    end
  end
  return table.concat(parts, "\n") .. " end"
end

--- definition.parse(text): a function that defines its functions in a table; nil and a message.
function definition.parse(text)
  if not text:match("^%s*[%a_][%w_]*%s*%b()%s*=[^=]") then
    return nil, "it begins with no line of the form name(arguments) = expression"
  end
  local chunk, message = load(chunk_of(text), "=definition", "t", {})
  if not chunk then return nil, (message:gsub("^%S+%s", "")) end
  return function(environment)
    return load(chunk_of(text), "=definition", "t", environment)()
  end
end

-- A component as a value of a definition: its own functions, with its options.
local function part_of(component)
  return definition.of(component) or {}
end

-- Values of options as a definition sees them: numbers, words, lists, definitions of parts.
local function options_of(component, info)
  local values, known = {}, core.settings(require("scullery.compose.component").instance(component))
  for _, option in ipairs(info.options) do
    local value = known[option.name]
    if option.takes:find("sc.", 1, true) then
      local given = component.given[option.name] or option.default
      if type(given) == "string" then
        given = require("scullery")[option.words[1]][given]()
      end
      local is_list = option.takes:find("or a list of such", 1, true)
      if is_list and given and given.kind then given = { given } end
      value = given and (is_list and functions.map(given, part_of) or part_of(given))
    end
    values[option.name] = value
  end
  return values
end

--- definition.of(component[, place]): a table of the functions that it declares, with its options
--- as they are; nil where it declares none. place = { number, count }: lists of `count` numbers are
--- the number at that place, of a solver that has a column of scores for each.
function definition.of(component, place)
  local info = core.plugin_info(component.kind, component.name)
  local define = info.definition and definition.parse(info.definition)
  if not define then return nil end
  local declared, values, names = {}, options_of(component, info), {}
  for _, option in ipairs(info.options) do
    local name, value = option.name, values[option.name]
    names[name] = true
    if place and type(value) == "table" and #value == place[2] then
      values[name] = value[place[1]]
    end
  end
  local environment = setmetatable({}, { __newindex = declared })
  define(environment)
  for _, list in ipairs{ functions, declared } do
    for name, value in pairs(list) do rawset(environment, name, value) end
  end
  for name in pairs(names) do rawset(environment, name, values[name]) end
  return declared
end

-- ------------ comparing

-- Instructions of Lua, by which work is limited: alike on every machine.
local EACH <const> = 1000
local ENDLESS <const> = 1e8

--- definition.limited(most, f, ...): f(left, ...), left(): whether fewer instructions than `most`
--- have been spent in it. What takes far more, as a function that calls itself without end, is an
--- error.
function definition.limited(most, f, ...)
  local spent = 0
  local hook, mask, count = debug.gethook()
  debug.sethook(function()
    spent = spent + EACH
    if spent > ENDLESS then
      error(("its definition takes more than %.0f instructions of Lua"):format(spent), 0)
    end
  end, "", EACH)
  local ok, raised = pcall(f, function() return spent < most end, ...)
  debug.sethook(hook, mask, count)
  if not ok then error(raised, 0) end
end

local SHARE <const> = 1e-6 -- by which results may be off: rounding in deep recursions
local STEP <const> = 1e-10 -- by which arguments are changed, to see how much rounding may count

-- Arguments, numbers and lists of them, times a factor.
local function times(value, factor)
  if type(value) == "number" then return value * factor end
  if type(value) ~= "table" then return value end
  return functions.map(value, function(x, j)
    return times(x, 1 + (factor - 1) * (j % 2 == 0 and -1 or 1))
  end)
end

local function as_list(value) return type(value) == "table" and value or { value } end

local function is_finite(x) return x == x and math.abs(x) < math.huge end

--- definition.values(f, ...): the numbers that f gives, a list, and for each how much rounding of
--- the arguments may change it; an empty list where it says nothing (nil or false).
function definition.values(f, ...)
  local arguments, n = { ... }, select("#", ...)
  local first, slack = f(...), {}
  if not first then return {}, {} end
  local wanted = as_list(first)
  for i = 1, #wanted do
    if type(wanted[i]) ~= "number" then
      error("its definition gives " .. type(wanted[i]) .. " in place of a number", 0)
    end
    slack[i] = SHARE * math.abs(wanted[i])
  end
  for k = 1, n do
    local other = table.move(arguments, 1, n, 1, {})
    other[k] = times(other[k], 1 + STEP)
    for i, x in ipairs(as_list(f(table.unpack(other, 1, n)))) do
      local change = math.abs(x - wanted[i])
      slack[i] = slack[i] + (change == change and 8 * change or math.huge)
    end
  end
  return wanted, slack
end

--- definition.number(f, ...): the one number that f gives, and its slack; nil where it says
--- nothing.
function definition.number(f, ...)
  local wanted, slack = definition.values(f, ...)
  if #wanted > 1 then
    error(("its definition gives %d numbers in place of one"):format(#wanted), 0)
  end
  return wanted[1], slack[1] or 0
end

--- definition.expect(t, got, wanted, slack, format, ...): fails where a number differs from the
--- definition by more than `slack`. What overflows in the definition says nothing; t.compared
--- counts the numbers that say something.
function definition.expect(t, got, wanted, slack, format, ...)
  if not wanted or not is_finite(wanted) then return end
  t.compared = (t.compared or 0) + 1
  if math.abs(got - wanted) <= slack then return end
  t:fail("%s is %.12g, and %.12g by its definition", format:format(...), got, wanted)
end

return definition

--- Fields of sc.KIND.define from a formula in Lua: "tanh(beta*z)" with the options { beta = 1 }.
local core = require "scullery.core"
local arithmetic = require "scullery.base.arithmetic"
local fail = require "scullery.base.fail"
local keys = require "scullery.base.keys"
local options = require "scullery.base.options"
local to_c = require "scullery.compose.formula_in_c"

local formula = {}

-- What a formula can use besides its number and its options.
local functions = { tanh = arithmetic.tanh, cosh = arithmetic.cosh, sinh = arithmetic.sinh,
  sign = function(x) return x > 0 and 1 or x < 0 and -1 or 0 end }
for _, name in ipairs{ "abs", "acos", "asin", "atan", "ceil", "cos", "exp", "floor", "fmod", "huge",
  "log", "max", "min", "pi", "sin", "sqrt", "tan" } do
  functions[name] = math[name]
end

-- The field `formula` of a nonlinearity: the statement in C, for the options o.
local function in_c(text)
  return function(o)
    local names = { z = "z[0]" }
    for name, value in pairs(o) do
      -- a double, so that a/b of two whole numbers is no division of whole numbers
      names[name] = type(value) == "number" and ("((double)%.17g)"):format(value) or nil
    end
    local expression = to_c(text, names)
    return expression and ("out[0] = %s;"):format(expression)
  end
end

-- By kind: the fields of a formula f(number, o), by the name of its number.
local kinds = {
  nonlinearity = { z = function(f, text) return { eval = f, formula = in_c(text) } end },
  sampler = { u = function(f) return { make = f } end },
  kernel = {},
}
for name, pair in pairs{ dot = "dot", squared_distance = "squared_distance", cosine = "cosine",
  distance = "absolute_distance", angle = "angle" } do
  kinds.kernel[name] = function(f) return { pair = pair, finish = f } end
end

local function has_word(text, word) return text:find("%f[%w_]" .. word .. "%f[^%w_]") ~= nil end

-- The one of the kind's numbers that a formula uses.
local function number_of(kind, text)
  local found
  for _, name in ipairs(keys.sorted(kinds[kind])) do
    if has_word(text, name) then
      if found then fail("the formula takes one of %s and %s, and has both", found, name) end
      found = name
    end
  end
  return found or fail("the formula of a %s uses %s, and got %s", kind,
    table.concat(keys.sorted(kinds[kind]), " or "), options.show(text))
end

-- A name for a component without one: the words of the formula, and a digest of it.
local function name_of(text)
  local words = {}
  for word in text:gmatch "[%a_][%w_]*" do words[#words + 1] = word end
  return ("%s_%s"):format(table.concat(words, "_"):lower():sub(1, 30):gsub("^_+", "f"),
    core.digest(text):sub(1, 4))
end

-- f(number, o). Names that are neither the number, an option nor a function are errors.
local function compile(text, number, names)
  local lines = { "return function(" .. number .. ", o)" }
  if #names > 0 then -- one statement, since an option may have the name o
    lines[2] = ("local %s = o.%s"):format(table.concat(names, ", "), table.concat(names, ", o."))
  end
  lines[#lines + 1] = "return " .. text .. "\nend"
  local known = setmetatable({}, { __index = function(_, name)
    if functions[name] ~= nil then return functions[name] end
    local all = keys.sorted(functions)
    table.move(names, 1, #names, #all + 1, all)
    local near = core.nearest(name, all)
    return fail("the formula has the name '%s', which is neither %s, an option nor a function%s",
      name, number, near and (" (is it '%s'?)"):format(near) or "")
  end, __metatable = false })
  local made, message = load(table.concat(lines, " "), text, "t", known)
  if not made then fail("the formula %s is not Lua: %s", options.show(text),
    (message:gsub("^.-:%d+: ", ""))) end
  return made()
end

--- formula.fields(kind, text, given): the fields of sc.KIND.define for a formula; given: its
--- options, with `name` and the other fields of define that are texts.
function formula.fields(kind, text, given)
  local title = kind .. ".define"
  if not kinds[kind] then
    fail("%s: a %s has no formula; it takes a table of fields", title, kind)
  end
  if given ~= nil and (type(given) ~= "table" or getmetatable(given)) then
    fail("%s: takes a formula and a table of its options, and got %s", title, options.show(given))
  end
  local own, names = {}, {}
  for name, value in pairs(given or {}) do own[name] = value end
  local number = number_of(kind, text)
  local name = own.name
  own.name = nil
  for option, value in pairs(own) do
    if type(option) ~= "string" or not option:find "^[%a_][%w_]*$" or functions[option]
      or option == number then
      fail("%s: an option is a name that the formula can use, and got %s", title,
        options.show(option))
    end
    if not has_word(text, option) then
      fail("%s: the formula %s does not have the option '%s'", title, options.show(text), option)
    end
    local default = type(value) == "table" and value.default or value
    if type(default) ~= "number" and type(default) ~= "table" then
      fail("%s: the options of a formula are numbers, and '%s' is %s", title, option,
        options.show(default))
    end
    names[#names + 1] = option
  end
  table.sort(names)
  local f = compile(text, number, names)
  local fields = kinds[kind][number](f, text)
  fields.name, fields.options = name or name_of(text), own
  fields.doc = ("%s, with %s%s"):format(text, #names == 0 and "no options" or #names == 1
    and "the option " or "the options ", table.concat(names, ", "))
  -- once, so that a name that is not known is an error here
  local o = {}
  for option, value in pairs(own) do
    o[option] = type(value) == "table" and value.default or type(value) == "number" and value or 1
  end
  local ok, value = pcall(f, 0.5, o)
  if not ok then error(value, 0) end
  if type(value) ~= "number" then
    fail("%s: the formula %s gives %s where a number belongs", title, options.show(text),
      options.show(value))
  end
  return fields
end

return formula

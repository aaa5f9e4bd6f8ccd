--- Checks the options of a component that a script defines, and makes the rows that core.define
--- takes, in the form of an option declaration in C (scullery/plugin/option.h).
local fail = require "scullery.base.fail"
local options = require "scullery.base.options"

local option_rows = {}

local forms = { number = true, integer = true, boolean = true, word = true, list = true,
  named = true }
local form_names = { "number", "integer", "boolean", "word", "list", "named" }

local rules = {
  default = { type = "any" }, help = { type = "string" },
  low = { type = "number" }, high = { type = "number" },
  above = { type = "number" }, below = { type = "number" },
  words = { test = function(value)
    if type(value) ~= "table" or #value == 0 then return false end
    for _, word in ipairs(value) do
      if type(word) ~= "string" or word:find("|", 1, true) then return false end
    end
    return true
  end, takes = "a list of words" },
  form = { test = function(value)
    for _, one in ipairs(type(value) == "table" and value or { value }) do
      if not forms[one] then return false end
    end
    return type(value) == "string" or type(value) == "table" and #value > 0
  end, takes = "one of " .. table.concat(form_names, ", ")
    .. ", or a list of these" },
  width = { choices = { "gamma", "length", "frequency", "rate" } },
  role = { choices = { "regularisation", "capacity", "intercept", "estimate", "tolerance" } },
}

local form_of_type = { number = "number", boolean = "boolean", string = "word", table = "list" }

-- The forms of value that an option takes: `form` if given, else by its role, its words or the type
-- of its default.
local function forms_of(row)
  if row.form then return type(row.form) == "table" and row.form or { row.form } end
  if row.role == "intercept" then return { "boolean", "word" } end
  if row.words then return { "word" } end
  return { form_of_type[type(row.default)] or "number" }
end

-- The number as a text of 14 digits if that reads back as the same number, else of 17.
local function number_text(value)
  local short = ("%.14g"):format(value)
  return tonumber(short) == value and short or ("%.17g"):format(value)
end

-- A default value as a user types it; nil stays nil. Raises an error for a value that is not a
-- number, a boolean, a text or a list with a number.
local function text_of(name, value)
  local kind = type(value)
  if value == nil then return nil end
  if kind == "number" then return number_text(value) end
  if kind == "boolean" or kind == "string" then return tostring(value) end
  local parts = {}
  for i, number in ipairs(kind == "table" and value or {}) do
    parts[i] = type(number) == "number" and number_text(number) or nil
  end
  if #parts == 0 then
    fail("option '%s': its default is %s; it takes a number, true or false, a word or a list of \z
      numbers", name, options.show(value))
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

-- The row of one option; given: its table of fields, or its default value alone.
local function row_of(name, given)
  if type(given) ~= "table" or getmetatable(given) then given = { default = given } end
  local row = options.check("option '" .. name .. "'", given, rules, 0)
  local words = row.words
  if row.role == "intercept" then words = { "auto" } end
  if row.low and row.above or row.high and row.below then
    fail("option '%s': takes either low or above, and either high or below", name)
  end
  local low, high = row.low or row.above or -math.huge, row.high or row.below or math.huge
  return { name = name, help = row.help or "", words = words and table.concat(words, "|"),
    default = text_of(name, row.default), forms = forms_of(row), low = low, high = high,
    low_open = row.low == nil, high_open = row.high == nil, width = row.width, role = row.role }
end

-- The row of SCL_OPTION_BIAS in scullery/plugin/option.h.
local bias = { name = "bias", words = "none|uniform|gaussian", default = "none",
  forms = { "word", "list", "named" }, low = 0, high = 0, role = "bias",
  help = "b in <w, x> + b: none; uniform on [-pi, pi]; gaussian: N(0, 1); {low, high}; \z
    {gaussian = s} or {gaussian = {mean, s}}" }

--- option_rows.of(given, with_bias): the rows of a table of options, sorted by name; with_bias
--- appends the option `bias`. Raises an error that names the option for a declaration that is not
--- valid.
function option_rows.of(given, with_bias)
  local names, rows = {}, {}
  for name in pairs(given) do
    if type(name) ~= "string" then
      fail("option %s: options have names, as in { slope = 0.1 }", options.show(name))
    end
    names[#names + 1] = name
  end
  table.sort(names)
  for i, name in ipairs(names) do rows[i] = row_of(name, given[name]) end
  if with_bias then rows[#rows + 1] = bias end
  return rows
end

return option_rows

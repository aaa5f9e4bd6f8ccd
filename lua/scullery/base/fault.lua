--- Translation of Lua's own error messages ("attempt to index a nil value") raised inside the
--- library. If an argument of the call explains the message, the error names the arguments; if
--- not, it reports a bug of the library.
local options = require "scullery.base.options"

local fault = {}

-- How Lua's own messages begin.
local beginnings = { "attempt to ", "bad argument ", "table index is ", "'for' ",
  "invalid order function", "number has no integer", "invalid value", "wrong number of" }

local function is_luas(message)
  if message:sub(1, 16) == "attempt to yield" then return false end -- raised by a script's function
  for _, words in ipairs(beginnings) do
    if message:sub(1, #words) == words then return true end
  end
  return false
end

-- ------------ what values are to Lua

local MOST_VALUES, MOST_DEPTH = 1000, 3

-- The name of a value's type as Lua's messages print it.
local function type_of(value)
  local meta = (type(value) == "table" or type(value) == "userdata") and debug.getmetatable(value)
  local name = type(meta) == "table" and rawget(meta, "__name")
  return type(name) == "string" and name or type(value)
end

-- The set of types among the arguments and the entries of their tables. It contains "for iterator"
-- if a table has a __pairs metamethod. Large tables are examined in part.
local function types_among(arguments)
  local types, left = {}, MOST_VALUES
  local function look(value, depth)
    types[type_of(value)], left = true, left - 1
    if type(value) ~= "table" or depth == MOST_DEPTH then return end
    local meta = debug.getmetatable(value)
    if meta and rawget(meta, "__pairs") ~= nil then types["for iterator"] = true end
    for key, inner in next, value do
      if left <= 0 then return end
      types[type_of(key)] = true
      look(inner, depth + 1)
    end
  end
  for i = 1, arguments.n do if arguments[i] ~= nil then look(arguments[i], 1) end end
  return types
end

-- The names of the types that a message of Lua complains about; empty if it names none.
local function types_blamed(message)
  local list = { message:match("'(for iterator)'") }
  for _, pattern in ipairs{ " an? (.-) value", "two (.-) values", "compare (.-) with ",
    "compare .- with (.+)$", "got (.-)%)$" } do
    local name = message:match(pattern)
    if name then list[#list + 1] = name == "no value" and "nil" or name end
  end
  if #list == 0 and message:find("number", 1, true) then list[1] = "number" end
  if #list == 0 and message:find("is nil", 1, true) then list[1] = "nil" end
  return list
end

-- ------------ what explains a message

-- True if the nil in the message may be a missing argument: a parameter of the name in the message,
-- or any parameter if the message has no name. C functions have no parameter names.
local function lacks(message, f, skipped, arguments)
  if debug.getinfo(f, "S").what == "C" then return true end
  local kind, name = message:match("%((%a+) '([^']*)'%)$")
  if kind and kind ~= "local" then return false end
  for i = skipped + 1, debug.getinfo(f, "u").nparams do
    local of_that_name = not name or debug.getlocal(f, i) == name
    if of_that_name and arguments[i - skipped] == nil then return true end
  end
  return false
end

-- True if an argument may be the value that the message complains about: it has that type. A
-- message without a type may be about any argument.
local function is_explained(message, f, skipped, arguments)
  local blamed = types_blamed(message)
  if #blamed == 0 then return arguments.n > 0 end
  local among = types_among(arguments)
  for _, name in ipairs(blamed) do
    if name ~= "nil" and among[name] then return true end
    if name == "nil" and lacks(message, f, skipped, arguments) then return true end
  end
  return false
end

-- ------------ sentences

-- The arguments of a call as source text.
local function listed(arguments)
  local list = {}
  for i = 1, arguments.n do
    local ok, text = pcall(options.show, arguments[i])
    list[i] = ok and text or "a " .. type(arguments[i])
  end
  return #list == 0 and "nothing" or table.concat(list, ", ")
end

--- fault.topic(name): the help text about a name, or nil. The library sets this function.
function fault.topic() end

-- A reference to the help topic of a function, "" if there is none.
local function where_told(title)
  local known, text = pcall(fault.topic, title)
  return known and text and ("; help \"%s\" says what it takes"):format(title) or ""
end

--- fault.sentence(message, title, f, skipped, arguments): the error message for the user. message:
--- raised by f, which was called with `skipped` values and then the arguments. title: the name of
--- the function for the user. A message that is not Lua's own is returned unchanged.
function fault.sentence(message, title, f, skipped, arguments)
  local what = message:match("^bad argument #%d+ to '[^\n]-' %((.*)%)$")
  local wanted, got = (what or ""):match("^(.-) expected, got (.*)$")
  if what and not wanted then return what end -- raised by the library
  if not is_luas(message) then return message end
  if not is_explained(message, f, skipped, arguments) then
    return ("this is a bug in Scullery: %s; please report it (SCULLERY_TRACEBACK=1 shows where)")
      :format(message)
  end
  if wanted and not wanted:find("scullery") and got ~= "no value" then
    return ("takes a %s, and got %s"):format(wanted, got)
  end
  return ("it cannot take %s%s (SCULLERY_TRACEBACK=1 shows where it failed)"):format(
    listed(arguments), where_told(title))
end

return fault

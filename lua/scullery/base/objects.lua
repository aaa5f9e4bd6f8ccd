--- Classes, modules and functions of the library, as a script meets them. A name that is not there
--- is answered with the nearest one, a field that nobody reads cannot be set, a dot where a colon
--- belongs is told, and an error is one sentence that begins with the line of the script.
---
--- SCULLERY_TRACEBACK=1: errors keep the library's own lines and frames.
local core = require "scullery.core"
local fault = require "scullery.base.fault"
local text = require "scullery.base.text"

local objects = {}

local own_file = debug.getinfo(1, "S").source
local own_folder = own_file:match("^@(.*/)base/[^/]*$") or "?"
local own_folders = { own_folder, (own_folder:gsub("/$", "_checker/")) } -- beside the library
local verbose = (os.getenv "SCULLERY_TRACEBACK" or "") ~= ""

-- ---------------------------------------------------------------- places in front of messages

-- Whether a file, as messages name it ("...lua/5.4/scullery/x.lua" where it is long), is ours.
local function is_within(file, folder)
  local cut = file:match("^%.%.%.(.*)$")
  if not cut then return file:sub(1, #folder) == folder end
  local first, last = cut:find(folder:match("[^/]*/[^/]*/$") or folder, 1, true)
  return first ~= nil and folder:sub(-last) == cut:sub(1, last)
end

local function is_own(file)
  return is_within(file, own_folders[1]) or is_within(file, own_folders[2])
end

-- A message without the places of ours in front of it; second: whether it begins with a line of
-- someone else's. where: the place of the script's line.
local function without_place(message, where)
  for _ = 1, 10 do
    local file, rest = message:match("^([^\n:]*%.lua):%d+: (.*)$")
    if not file then break end
    if not is_own(file) then return message, true end
    message = rest
  end
  local script = where:match("^(.*):%d+: $")
  local other = message:find("^%[string .-%]:%d+: ")
    or script and message:sub(1, #script) == script and message:find("^:%d+: ", #script + 1)
  return message, other ~= nil and other ~= false
end

-- The place of the first Lua function from `level` on, "" where there is none, nil where it is one
-- of ours.
local function place_above(level)
  for at = level + 1, level + 200 do
    local info = debug.getinfo(at, "Sl")
    if not info then return "" end
    if info.currentline > 0 then
      if info.source:sub(1, 1) == "@" and is_own(info.source:sub(2)) then return nil end
      return ("%s:%d: "):format(info.short_src, info.currentline)
    end
  end
  return ""
end

-- Words of hundreds of bytes are shown by their beginning.
local function shortened(message)
  if #message < 1000 then return message end
  return (message:gsub("%S+", function(word)
    return #word > 300 and word:sub(1, 60) .. "..." or word
  end))
end

-- Raise what f raised, as a sentence under the title with the line that called the library in
-- front; errors of a call by the library itself go on to the call that a script made. The call was
-- f of `skipped` values and the arguments.
local function raise(title, f, skipped, arguments, raised)
  if type(raised) == "string" then raised = shortened(raised) end
  local message = raised
  if type(raised) == "table" then message = rawget(raised, "message") end
  local where = type(message) == "string" and place_above(3)
  if not where or where ~= "" and message:sub(1, #where) == where then error(raised, 0) end
  local rest, foreign = without_place(message, where)
  if foreign then error(raised, 0) end
  rest = fault.sentence(rest, title, f, skipped, arguments)
  if not rest:find(title, 1, true) then rest = title .. ": " .. rest end
  if type(raised) ~= "table" then error(where .. rest, 0) end
  raised.message = where .. rest -- an error that carries what was finished
  error(raised, 0)
end

local function finish(title, f, skipped, arguments, ok, ...)
  if ok then return ... end
  raise(title, f, skipped, arguments, (...))
end

-- ---------------------------------------------------------------- functions

--- objects.original: from a function that scripts call to the one that it guards, for help.
objects.original = setmetatable({}, { __mode = "k" })

local function register(wrapper, f)
  objects.original[wrapper] = f
  return wrapper
end

--- objects.guarded(title, f): f, its errors as sentences under the title.
function objects.guarded(title, f)
  if verbose then return f end
  return register(function(...) return finish(title, f, 0, table.pack(...), pcall(f, ...)) end, f)
end

--- objects.call(title, f, ...): f(...), its errors as sentences under the title.
function objects.call(title, f, ...)
  if verbose then return f(...) end
  return finish(title, f, 0, table.pack(...), pcall(f, ...))
end

--- objects.titled(title, f, ...): f(...), its errors with a title in front (none where it is nil);
--- those that are no text go on as they are.
function objects.titled(title, f, ...)
  if not title then return f(...) end
  local result = table.pack(pcall(f, ...))
  if result[1] then return table.unpack(result, 2, result.n) end
  if type(result[2]) ~= "string" then error(result[2], 0) end
  error(title .. ": " .. without_place(result[2], ""), 0)
end

-- A method of a class: self must be one of its objects, and pass the class's own check.
local function method_of(class, name, f)
  local title, example = class.__name .. ":" .. name, class.example
  local wrong = ("%s: call it with a colon, as in %s:%s(...)"):format(title, example, name)
  local check = class.check
  local run = check and function(self, ...)
    check(self)
    return f(self, ...)
  end or f
  if verbose then
    return register(function(self, ...)
      if getmetatable(self) ~= class then error(wrong, 2) end
      return run(self, ...)
    end, f)
  end
  return register(function(self, ...)
    local arguments = table.pack(...)
    if getmetatable(self) ~= class then return finish(title, f, 1, arguments, false, wrong) end
    return finish(title, f, 1, arguments, pcall(run, self, ...))
  end, f)
end

--- objects.guard_methods(class): guard those of a class that is a plain table with a __name and an
--- example.
function objects.guard_methods(class)
  for name, f in pairs(class) do
    if type(f) == "function" and name:sub(1, 2) ~= "__" then
      class[name] = method_of(class, name, f)
    end
  end
end

-- ---------------------------------------------------------------- names

-- " (did you mean 'x'?)", or what there is where nothing is near.
local function suggestion(name, names)
  table.sort(names)
  local near = type(name) == "string" and core.nearest(name, names)
  return near and (" (did you mean '%s'?)"):format(near) or ""
end
objects.suggestion = suggestion

local function shown(name)
  return type(name) == "string" and ("'%s'"):format(#name > 60 and name:sub(1, 60) .. "..." or name)
    or tostring(name)
end
objects.shown = shown

-- An error at the line that asked; ours is taken off on the way out.
local function refuse(...) error(string.format(...), 3) end

-- ---------------------------------------------------------------- classes

local made = {}

--- objects.classes(): the classes made so far, a list in the order of their names.
function objects.classes()
  local list = { table.unpack(made) }
  table.sort(list, function(a, b) return a.__name < b.__name end)
  return list
end

local function names_of(class)
  local names = {}
  for name in pairs(class.methods) do names[#names + 1] = name end
  for name in pairs(class.fields) do names[#names + 1] = name end
  return names
end

--- objects.class(name, { example = "ds", fields = "X y ...", hidden =, computed =, hint =, list =,
--- check = }): a metatable for objects of that name. Functions set in it are methods, which check
--- their self; names that begin with __ are Lua's own. fields: those that an object may have or
--- lack; others can be neither read nor set. computed: name -> function(object), read like a field.
--- hint(object, field): what to do in place of setting. list: whether places 1, 2, ... can be set
--- as well. check(object): called before each method, an error where a field holds what it cannot.
--- hidden: fields that completion leaves out.
function objects.class(name, given)
  local class = { __name = name, example = given.example or name, methods = {},
    fields = {}, hidden = {}, check = given.check }
  made[#made + 1] = class
  for field in (given.fields or ""):gmatch("%S+") do class.fields[field] = true end
  for field in (given.hidden or ""):gmatch("%S+") do class.hidden[field] = true end
  local computed = given.computed or {}
  local methods, fields, list = class.methods, class.fields, given.list
  for key in pairs(computed) do fields[key] = true end

  function class.__index(object, key)
    local method = methods[key]
    if method ~= nil then return method end
    if computed[key] then return computed[key](object) end
    if fields[key] or type(key) ~= "string" then return nil end
    refuse("%s: there is no method or field %s%s", name, shown(key),
      suggestion(key, names_of(class)))
  end

  function class.__newindex(object, key, value)
    if fields[key] and not computed[key] or list and math.type(key) == "integer" then
      rawset(object, key, value)
      return
    end
    refuse("%s: there is no field %s to set%s%s", name, shown(key),
      suggestion(key, names_of(class)), given.hint and "; " .. given.hint(object, key) or "")
  end

  return setmetatable(class, {
    __index = methods,
    __newindex = function(_, key, f)
      if key == "__tostring" then -- harmless for a terminal: names and labels of data are anyone's
        rawset(class, key, function(object) return text.shown(f(object)) end)
      elseif key:sub(1, 2) == "__" then
        rawset(class, key, f)
      else
        methods[key] = method_of(class, key, f)
      end
    end,
  })
end

-- ---------------------------------------------------------------- modules

--- objects.namespaces[value] = "sc.NAME": tables whose members one looks up by name.
objects.namespaces = setmetatable({}, { __mode = "k" })

--- objects.namespace(path, value): tell that a table with a metatable is one, and let it print as
--- one.
function objects.namespace(path, value)
  objects.namespaces[value] = path
  getmetatable(value).__tostring = function()
    return ("%s: help(%s) lists its members"):format(path, path)
  end
  return value
end

--- objects.module(name, module): its functions guarded, and a name that it lacks answered with the
--- nearest one.
function objects.module(name, module)
  for key, f in pairs(module) do
    if type(f) == "function" then module[key] = objects.guarded(name .. "." .. key, f) end
  end
  local meta = getmetatable(module) or {}
  if meta.__call then meta.__call = objects.guarded(name, meta.__call) end
  meta.__name = meta.__name or "module"
  function meta.__index(_, key)
    local names = {}
    for known in pairs(module) do names[#names + 1] = tostring(known) end
    refuse("sc.%s has no %s%s", name, shown(key), suggestion(key, names))
  end
  return objects.namespace("sc." .. name, setmetatable(module, meta))
end

return objects

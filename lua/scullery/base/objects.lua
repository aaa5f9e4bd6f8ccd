--- Classes, modules and functions of the library as scripts see them. An unknown name is an error
--- that suggests the nearest known one, unknown fields cannot be set, a call with a dot in place of
--- a colon is reported, and an error is one sentence that begins with the line of the script.
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

-- ------------ places in front of messages

-- True if a file, as named in a message (long names are cut: "...lua/5.4/scullery/x.lua"), is in
-- the folder.
local function is_within(file, folder)
  local cut = file:match("^%.%.%.(.*)$")
  if not cut then return file:sub(1, #folder) == folder end
  local first, last = cut:find(folder:match("[^/]*/[^/]*/$") or folder, 1, true)
  return first ~= nil and folder:sub(-last) == cut:sub(1, last)
end

local function is_own(file)
  return is_within(file, own_folders[1]) or is_within(file, own_folders[2])
end

-- The message without the positions in library files at its front; second: true if the rest begins
-- with a position in another file. where: the position of the script's line.
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

-- The position of the first Lua function from `level` on; "" if there is none, nil if it is part of
-- the library.
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

-- Cuts words of more than 300 bytes in long messages.
local function shortened(message)
  if #message < 1000 then return message end
  return (message:gsub("%S+", function(word)
    return #word > 300 and word:sub(1, 60) .. "..." or word
  end))
end

-- Raises the error `raised` of the call of f with `skipped` values and the arguments, as one
-- sentence: the position of the script's call, the title, the message. If the library itself made
-- the call, the error keeps its form until it reaches the call by the script.
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
  raised.message = where .. rest -- the object also carries partial results
  error(raised, 0)
end

local function finish(title, f, skipped, arguments, ok, ...)
  if ok then return ... end
  raise(title, f, skipped, arguments, (...))
end

-- ------------ functions

--- objects.original[guarded] = the function that it wraps; help looks here.
objects.original = setmetatable({}, { __mode = "k" })

local function register(wrapper, f)
  objects.original[wrapper] = f
  return wrapper
end

--- objects.guarded(title, f): f with errors raised as sentences under the title.
function objects.guarded(title, f)
  if verbose then return f end
  return register(function(...) return finish(title, f, 0, table.pack(...), pcall(f, ...)) end, f)
end

--- objects.call(title, f, ...): calls f(...) with errors raised as sentences under the title.
function objects.call(title, f, ...)
  if verbose then return f(...) end
  return finish(title, f, 0, table.pack(...), pcall(f, ...))
end

--- objects.titled(title, f, ...): calls f(...) and puts the title in front of errors that are
--- texts; other errors pass through. title = nil: adds nothing.
function objects.titled(title, f, ...)
  if not title then return f(...) end
  local result = table.pack(pcall(f, ...))
  if result[1] then return table.unpack(result, 2, result.n) end
  if type(result[2]) ~= "string" then error(result[2], 0) end
  error(title .. ": " .. without_place(result[2], ""), 0)
end

-- A method of a class: checks that self is an object of the class and passes the class's check.
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

--- objects.guard_methods(class): guards the methods of a class that is a plain table with __name
--- and example.
function objects.guard_methods(class)
  for name, f in pairs(class) do
    if type(f) == "function" and name:sub(1, 2) ~= "__" then
      class[name] = method_of(class, name, f)
    end
  end
end

-- ------------ names

-- " (did you mean 'x'?)", or a list of the known names if none is near.
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

-- Raises an error at the script's line; objects.raise removes the library's own position.
local function refuse(...) error(string.format(...), 3) end

-- ------------ classes

local made = {}

--- objects.classes(): the classes made so far, a list sorted by name.
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
--- called =, check = }): a metatable for objects of that name. Functions set in it are methods,
--- which check their self; names that begin with __ are Lua's metamethods. fields: the optional
--- fields of an object; other fields can be neither read nor set. computed: name ->
--- function(object), read like a field. hint(object, field): text about an alternative to setting
--- the field. list: true if entries 1, 2, ... can be set too. called: what a name of another
--- library is here, for the error about it. check(object): called before each method; raises an
--- error if a field has a value of the wrong type. hidden: fields that completion leaves out.
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
    local here = given.called and given.called[key]
    refuse("%s: there is no method or field %s%s", name, shown(key),
      here and (" (here it is %s)"):format(here) or suggestion(key, names_of(class)))
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
      if key == "__tostring" then -- labels of data are untrusted: escaped for the terminal
        rawset(class, key, function(object) return text.shown(f(object)) end)
      elseif key:sub(1, 2) == "__" then
        rawset(class, key, f)
      else
        methods[key] = method_of(class, key, f)
      end
    end,
  })
end

-- ------------ modules

--- objects.namespaces[table] = "sc.NAME": tables whose members help and completion list.
objects.namespaces = setmetatable({}, { __mode = "k" })

--- objects.namespace(path, value): registers a table with a metatable as a namespace and sets how
--- it prints.
function objects.namespace(path, value)
  objects.namespaces[value] = path
  getmetatable(value).__tostring = function()
    return ("%s: help(%s) lists its members"):format(path, path)
  end
  return value
end

--- objects.module(name, module): guards the module's functions; an unknown member, which the
--- module's own __index does not find either, is an error that suggests the nearest name.
function objects.module(name, module)
  for key, f in next, module do
    if type(f) == "function" then module[key] = objects.guarded(name .. "." .. key, f) end
  end
  local meta = getmetatable(module) or {}
  if meta.__call then meta.__call = objects.guarded(name, meta.__call) end
  meta.__name = meta.__name or "module"
  local find = meta.__index
  function meta.__index(_, key)
    local found = find and find(module, key)
    if found ~= nil then return found end
    local names = {}
    for known in pairs(module) do names[#names + 1] = tostring(known) end
    refuse("sc.%s has no %s%s", name, shown(key), suggestion(key, names))
  end
  return objects.namespace("sc." .. name, setmetatable(module, meta))
end

return objects

--- Reading values for completion: by raw access and by the library's own metamethods. Metamethods
--- of scripts may have side effects or never return, and are not called.
local values = {}

local MOST_DEEP = 8 -- tables whose __index is a table

local own_files = debug.getinfo(1, "S").source:match("^(.*/)prompt/")

-- The metamethod if it is a Lua function of the library; second: the metamethod in any case.
local function metamethod(value, name)
  local meta = debug.getmetatable(value)
  local f = type(meta) == "table" and rawget(meta, name) or nil
  local is_own = type(f) == "function"
    and debug.getinfo(f, "S").source:sub(1, #own_files) == own_files
  return is_own and f or nil, f
end

-- The table `methods` of a class whose __index is a function.
local function methods_of(value)
  local meta = debug.getmetatable(value)
  local methods = type(meta) == "table" and rawget(meta, "methods")
  return type(methods) == "table" and methods or nil
end

-- Globals of the command, loaded at their first use.
local offered = {
  sc = function() return require("scullery.help").library() end,
  help = function() return require "scullery.help" end,
}

local function inner(value, name, depth)
  if type(value) == "table" then
    local found = rawget(value, name)
    if found ~= nil then return found end
    if value == _G and offered[name] then return offered[name]() end
  end
  local methods = methods_of(value)
  if methods and rawget(methods, name) ~= nil then return rawget(methods, name) end
  local own, index = metamethod(value, "__index")
  if own then
    local ok, found = pcall(own, value, name)
    return ok and found or nil
  end
  if type(index) == "table" and depth < MOST_DEEP then return inner(index, name, depth + 1) end
end

--- values.index(value, name): value[name], or nil.
function values.index(value, name) return inner(value, name, 0) end

local function add(names, name)
  if type(name) == "string" and name:match("^[%a_][%w_]*$") then names[name] = true end
end

--- values.collect(value, names): adds the names that indexing the value can find to the set
--- `names`: its own (the library's __pairs may list more), then those of __index.
function values.collect(value, names, depth)
  depth = depth or 0
  if depth > MOST_DEEP then return end
  local meta = debug.getmetatable(value)
  local hidden = type(meta) == "table" and rawget(meta, "hidden")
  if type(value) == "table" then
    for name in next, value do
      if type(hidden) ~= "table" or not rawget(hidden, name) then add(names, name) end
    end
    if metamethod(value, "__pairs") then
      pcall(function() for name in pairs(value) do add(names, name) end end)
    end
  end
  local _, index = metamethod(value, "__index")
  if type(index) == "table" then values.collect(index, names, depth + 1) end
  local methods = methods_of(value)
  if methods then values.collect(methods, names, depth + 1) end
end

return values

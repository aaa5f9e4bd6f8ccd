--- What is said of a name that has no value: `datset` at the prompt, or an error about it.
local options = require "scullery.base.options"

local unset = {}

-- The path in sc of a member or a component of that name, or nil.
local function path_in_library(name)
  local well, sc = pcall(require, "scullery")
  if not well then return nil end
  if rawget(sc, name) ~= nil then return "sc." .. name end
  for _, entry in ipairs(require("scullery.core").plugin_list()) do
    if entry.name == name then return ("sc.%s.%s"):format(entry.kind, name) end
  end
  return nil
end

-- The names that a text at the prompt can use.
local function names_of(environment)
  local names, seen = {}, {}
  local function add(list)
    for name in next, list do
      if type(name) == "string" and not seen[name] then names[#names + 1] = name end
      seen[name] = true
    end
  end
  add(environment)
  local meta = debug.getmetatable(environment)
  local further = type(meta) == "table" and rawget(meta, "__index")
  if type(further) == "table" then add(further) end
  for _, name in ipairs{ "sc", "help" } do if not seen[name] then names[#names + 1] = name end end
  return names
end

--- unset.sentence(name, environment): "'datset' is not set (did you mean 'dataset'?)": the nearest
--- name that is set, for names of three letters or more, or the member of sc that has this name.
function unset.sentence(name, environment)
  local near = path_in_library(name)
    or #name > 2 and options.nearest(name, names_of(environment))
  return ("'%s' is not set%s"):format(name, near and (" (did you mean '%s'?)"):format(near) or "")
end

--- unset.in_message(message, environment): the message of an error, with such a sentence where it
--- is about a global name without a value.
function unset.in_message(message, environment)
  local first = message:match("^[^\n]*")
  local name = first:match("a nil value %(global '([%a_][%w_]*)'%)$")
  if not name or environment[name] ~= nil then return message end
  return ("%s: %s%s"):format(first, unset.sentence(name, environment), message:sub(#first + 1))
end

--- unset.name(text, environment): the name, where a text is nothing but a name without a value.
function unset.name(text, environment)
  local name = text:match("^%s*([%a_][%w_]*)%s*$")
  local keywords = require("scullery.prompt.tokens").keywords
  return name and not keywords[name] and environment[name] == nil and name or nil
end

return unset

--- The command line of a script.
local keys = require "scullery.base.keys"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local script_header = require "scullery.base.script_header"

local arguments = {}

local function fail(...) error(string.format(...), 0) end

local function flag_of(name) return "--" .. name:gsub("_", "-") end

-- Readers: text -> value of the type; nil where the text is not such a value.
local readers = {
  integer = function(text) return math.tointeger(tonumber(text)) end,
  float = function(text)
    local value = tonumber(text)
    return value and value == value and value + 0.0 or nil
  end,
  string = function(text) return text end,
}
local takes = { integer = "a whole number", float = "a number", string = "a text" }

--- arguments.rule: the rule of an option `args`, which takes the result of sc.arguments.
arguments.rule = { takes = "what sc.arguments returned", test = function(v)
  return type(v) == "table" and not getmetatable(v)
    and (v.quick == nil or type(v.quick) == "boolean") and (v.out == nil or type(v.out) == "string")
end }

-- Options that every script has, whose value sc.experiment reads.
local of_experiments = { ["--set"] = true, ["--part"] = true }

-- The type of an option by its default; raises an error for names and defaults that are not valid.
local function kind_of(name, default)
  if type(name) ~= "string" or not name:find("^%a[%w_]*$") then
    fail("names of options are letters, digits and '_', not %s", options.show(name))
  end
  if of_experiments["--" .. name] or name == "help" then
    fail("every script has the option '--%s'", name)
  end
  local kind = math.type(default) or type(default)
  if kind == "boolean" and default then
    fail("option '%s': a switch must be false by default", name)
  end
  if not readers[kind] and kind ~= "boolean" then
    fail("option '%s': its default takes false, a number or a text, and got %s", name,
      options.show(default))
  end
  return kind
end

-- The text of --help: the comment at the top of the script, then the options.
local function usage(script, defaults)
  local lines = script_header.lines(script)
  if #lines > 0 then lines[#lines + 1] = "" end
  lines[#lines + 1] = "Options:"
  for _, name in ipairs(keys.sorted(defaults)) do
    local default = defaults[name]
    lines[#lines + 1] = default == false and "  " .. flag_of(name)
      or ("  %s %s, %s unless given"):format(flag_of(name), takes[math.type(default)
        or type(default)], options.show(default))
  end
  lines[#lines + 1] = "  --set NAME=VALUE[,VALUE...], other values for the cells of its experiments"
  lines[#lines + 1] = "  --part i/N, a part of the cells of its experiments"
  return table.concat(lines, "\n")
end

-- The option that a word of the command line names: its name, and the value after "=" or nil.
local function named(word, kinds)
  local flag, value = word:match("^(%-%-[^=]+)=(.*)$")
  flag = flag or word
  for name in pairs(kinds) do if flag_of(name) == flag then return name, value end end
  local flags = { "--set", "--part", "--help" }
  for name in pairs(kinds) do flags[#flags + 1] = flag_of(name) end
  fail("there is no option %s%s; it takes %s", objects.shown(flag),
    objects.suggestion(flag, flags), table.concat(flags, ", "))
end

-- True if the word is one of the script's options. It then cannot be the value of the option
-- before it: in `--out --quick`, the value of --out is missing.
local function is_option(word, kinds)
  local flag = word:match("^%-%-[^=]+")
  for name in pairs(kinds) do if flag_of(name) == flag then return true end end
  return of_experiments[flag] ~= nil
end

-- The options of the command line over the defaults; kinds: the type of each.
local function parse(given, defaults, kinds)
  local result, i = {}, 1
  for name, default in pairs(defaults) do result[name] = default end
  while given[i] ~= nil do
    local word = tostring(given[i])
    if of_experiments[word] then
      i = i + 1
    elseif not of_experiments[word:match "^[^=]*"] then
      local name, value = named(word, kinds)
      if kinds[name] ~= "boolean" then
        if value == nil then
          i, value = i + 1, given[i + 1]
          if value and is_option(value, kinds) then
            fail("%s takes %s, and the option %s follows", flag_of(name), takes[kinds[name]],
              objects.shown(value))
          end
        end
        local flag, kind = flag_of(name), kinds[name]
        if value == nil then fail("%s takes %s, and nothing follows", flag, takes[kind]) end
        result[name] = readers[kind](value)
        if result[name] == nil then fail("%s takes %s, and got '%s'", flag, takes[kind], value) end
      elseif value then
        fail("%s takes no value", flag_of(name))
      else
        result[name] = true
      end
    end
    i = i + 1
  end
  return result
end

--- sc.arguments{ name = default, ... }: the options that the script was called with, as a table.
---
---   local args = sc.arguments{ quick = false, seeds = 10, out = "out" }
---
--- accepts `scullery script.lua --quick --seeds 3 --out=results`. A default of false declares a
--- switch; an integer, a number or a text declares an option with a value of that type. "_" in a
--- name is "-" on the command line. --help prints the comment at the top of the script and the
--- options, and ends the script. --set NAME=VALUE and --part i/N are left to sc.experiment. An
--- unknown option, or a value of another type, is an error.
function arguments.parse(defaults)
  if type(defaults) ~= "table" or getmetatable(defaults) then
    fail("takes a table of options and their defaults, and got %s", options.show(defaults))
  end
  local kinds, given = {}, rawget(_G, "arg")
  for name, default in next, defaults do kinds[name] = kind_of(name, default) end
  given = script_header.path() and given or {}
  for _, word in ipairs(given) do
    if word == "--help" then
      print(usage(script_header.path(), defaults))
      os.exit(true, true)
    end
  end
  return parse(given, defaults, kinds)
end

return arguments

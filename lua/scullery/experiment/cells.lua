--- The cells of an experiment: the option `cells` of a script, changed by --set, as a list of
--- { options, identity, key }.
local choose = require "scullery.compose.choose"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local values = require "scullery.experiment.values"

local cells = {}

local MOST = 100000
local DEPTH = 4 -- the most levels of nested lists
local MOST_TEXT = 10000

local function fail(...) error(string.format(...), 0) end

-- ------------ values

local function check_text(text, where)
  if #text > MOST_TEXT then fail("%s is a text of more than %d bytes", where, MOST_TEXT) end
  if not utf8.len(text) or text:find("\0", 1, true) then
    fail("%s is a text that is not UTF-8", where)
  end
  return text
end

-- A checked copy of a value of a cell; `where` names it in errors.
local function copy(value, where, depth)
  if type(value) == "string" then return check_text(value, where) end
  if value ~= value then fail("%s is nan, which equals nothing, not even itself", where) end
  if values.is_scalar(value) then return value end
  if depth > DEPTH or not values.is_list(value) or getmetatable(value) then
    fail("%s is %s; a cell holds numbers, texts, booleans and lists of them", where,
      options.show(value))
  end
  local list = {}
  for i = 1, rawlen(value) do list[i] = copy(rawget(value, i), where, depth + 1) end
  return list
end

-- The name of an option; raises an error unless it is a text that --set can give.
local function check_name(name, where)
  if type(name) ~= "string" or name == "" or name:find("[=%c]") or #name > 100 then
    fail("%s has the option %s; names are texts without '='", where, objects.shown(name))
  end
  return check_text(name, where .. ": an option's name")
end

-- ------------ a grid

-- The values of one option of a grid.
local function alternatives(name, value)
  local where = ("cells.%s"):format(name)
  if choose.is(value) then
    value = rawget(value, "values")
    if not value then fail("%s is a range without a count", where) end
  end
  if values.is_scalar(value) then value = { value } end
  if not values.is_list(value) then
    fail("%s is %s; a grid takes a list of values", where, options.show(value))
  end
  local list, seen = {}, {}
  for i = 1, rawlen(value) do
    list[i] = copy(rawget(value, i), ("%s[%d]"):format(where, i), 1)
    local identity = values.identity{ list[i] }
    if seen[identity] then fail("%s holds %s twice", where, options.show(list[i])) end
    seen[identity] = true
  end
  return list
end

-- All combinations: names in alphabetical order, the last one changing fastest.
local function product(grid)
  local names, count = values.sorted(grid), 1
  for _, name in ipairs(names) do
    count = count * #grid[name]
    if count > MOST then fail("cells is a grid of more than %d cells", MOST) end
  end
  local list = {}
  for i = 0, count - 1 do
    local cell, rest = {}, i
    for j = #names, 1, -1 do
      local of = grid[names[j]]
      cell[names[j]] = of[rest % #of + 1]
      rest = rest // #of
    end
    list[i + 1] = cell
  end
  return list
end

-- ------------ a list

-- Checked copies of the cells of a list; raises an error for other values than tables of options.
local function given_list(given)
  local list = {}
  if rawlen(given) > MOST then fail("cells holds more than %d cells", MOST) end
  for i = 1, rawlen(given) do
    local cell, where, one = rawget(given, i), ("cells[%d]"):format(i), {}
    if type(cell) ~= "table" or getmetatable(cell) or values.is_list(cell) then
      fail("%s is %s; a cell is a table such as { T = 500, seed = 1 }", where, options.show(cell))
    end
    for name, value in next, cell do
      check_name(name, where)
      one[name] = copy(value, where .. "." .. name, 1)
    end
    list[i] = one
  end
  return list
end

-- ------------ --set

-- Reads "name=value,value" of one --set into into[name] = { text, ... }.
local function read_setting(text, into)
  local name, list = text:match("^([^=]+)=(.*)$")
  if not name then fail("--set takes name=value or name=value,value, and got '%s'", text) end
  if into[name] then fail("--set gives '%s' twice", name) end
  into[name] = {}
  for part in (list .. ","):gmatch("([^,]*),") do
    if part == "" then fail("--set %s: a value is missing", text) end
    table.insert(into[name], check_text(part, "--set: a value"))
  end
end

--- cells.settings(arguments): { name = texts } from the --set options of a script's arguments.
function cells.settings(arguments)
  local found, i = {}, 1
  while type(arguments[i]) == "string" do
    local attached = arguments[i]:match("^%-%-set=(.*)$")
    if arguments[i] == "--set" then
      i = i + 1
      if type(arguments[i]) ~= "string" then fail("--set takes name=value, and nothing follows") end
      read_setting(arguments[i], found)
    elseif attached then
      read_setting(attached, found)
    elseif arguments[i] == "--" then
      break
    end
    i = i + 1
  end
  return found
end

-- A text from the command line as a value of the option's type.
local function typed(name, kind, text)
  if kind == "string" then return text end
  local number = tonumber(text)
  if number ~= nil and number == number and kind ~= "boolean" then return number end
  if kind ~= "number" and (text == "true" or text == "false") then return text == "true" end
  if kind == "mixed" then return text end
  return fail("--set: the option '%s' is a %s, and got '%s'", name, kind, text)
end

-- The texts, which were split at their commas, put together where the whole is in the set `known`,
-- as "stumps, hinge".
local function joined(texts, known)
  local list, i = {}, 1
  while texts[i] do
    local last = i
    for k = i + 1, #texts do
      if known[table.concat(texts, ",", i, k)] then last = k end
    end
    list[#list + 1], i = table.concat(texts, ",", i, last), last + 1
  end
  return list
end

local function contains(list, one)
  for _, name in ipairs(list) do if name == one then return true end end
  return false
end

-- name -> values from --set, checked against the options of these cells. others: the names that are
-- for other experiments of the script.
local function typed_settings(list, settings, others)
  local kinds, result, known = {}, {}, {} -- kinds: name -> type of its values, or "mixed"
  for _, cell in ipairs(list) do
    for name, value in pairs(cell) do
      local kind = type(value)
      kinds[name] = (kinds[name] == nil or kinds[name] == kind) and kind or "mixed"
      known[name] = known[name] or {}
      known[name][value] = true
    end
  end
  for name, texts in pairs(settings) do
    local kind, seen = kinds[name], {}
    if not kind and not contains(others, name) then
      fail("--set: the cells have no option %s%s", objects.shown(name),
        objects.suggestion(name, values.sorted(kinds)))
    end
    if kind == "table" then fail("--set: the option '%s' is a list, which it cannot set", name) end
    result[name] = kind and {} or nil
    for _, text in ipairs(kind and joined(texts, known[name]) or {}) do
      local value = typed(name, kind, text)
      if not seen[value] then table.insert(result[name], value) end
      seen[value] = true
    end
  end
  return result
end

-- The cells that have one of the given values, and of a value that no cell has each cell with it in
-- place of its own; cells without the option stay.
local function set_in(list, name, given)
  local result, there = {}, {}
  for _, cell in ipairs(list) do
    if cell[name] ~= nil then there[cell[name]] = true end
  end
  for _, cell in ipairs(list) do
    for _, value in ipairs(cell[name] ~= nil and given or { false }) do
      if cell[name] == nil or cell[name] == value or not there[value] then
        local one = {}
        for key, had in pairs(cell) do one[key] = had end
        if cell[name] ~= nil then one[name] = value end
        result[#result + 1] = one
      end
    end
  end
  return result
end

-- ------------ all of it

-- Adds identities; cells that --set made equal are merged.
local function identified(list, merge)
  local result, seen = {}, {}
  for i, cell in ipairs(list) do
    local identity = values.identity(cell)
    if seen[identity] and not merge then
      fail("cells[%d] is the same as cells[%d]", i, seen[identity])
    end
    if not seen[identity] then
      result[#result + 1] = { options = cell, identity = identity, key = values.key(identity) }
    end
    seen[identity] = seen[identity] or i
  end
  return result
end

-- The options of a grid as lists, with those of --set replaced.
local function grid_of(given, settings, others)
  local grid, sample = {}, {}
  for name, value in next, given do
    check_name(name, "cells")
    grid[name] = alternatives(name, value)
    for i, one in ipairs(grid[name]) do
      sample[i] = sample[i] or {}
      sample[i][name] = one
    end
  end
  for name, list in pairs(typed_settings(sample, settings, others)) do grid[name] = list end
  return grid
end

--- cells.of(given, settings, others): the cells of a script, a grid of lists or a list of tables,
--- with the values of --set. others: names that --set may give and these cells do not have.
function cells.of(given, settings, others)
  if getmetatable(given) then
    fail("option 'cells' takes a grid such as { T = { 100, 200 }, seed = { 1, 2 } } or a list of \z
      tables, and got %s", options.show(given))
  end
  if next(given) == nil then fail("option 'cells' is empty") end
  if not values.is_list(given) then return identified(product(grid_of(given, settings, others))) end
  local list = given_list(given)
  settings = typed_settings(list, settings, others)
  for _, name in ipairs(values.sorted(settings)) do list = set_in(list, name, settings[name]) end
  return identified(list, next(settings) ~= nil)
end

return cells

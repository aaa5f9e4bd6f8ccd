--- Computed columns of a CSV file: the option derive of sc.data.csv, stored in the schema.
---
--- schema.derived: a list of { name, expression (a text) or call (a function of a row), fill (the
--- number for a missing value), missing (missing values in training) }; their columns come after
--- those of the file. A column of the schema with helper = true is read only to compute others, and
--- is not a feature.
local columns = require "scullery.data.columns"
local core = require "scullery.core"
local expression = require "scullery.data.expression"
local fail = require "scullery.base.fail"
local keys = require "scullery.base.keys"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"

local derive = {}

-- ---------------------------------------------------------------- the option

-- f(...) with errors that name the computed column.
local function titled(one, f, ...)
  return objects.titled(("derive: column '%s'%s"):format(one.name, one.expression
    and (" = \"%s\""):format(one.expression) or ""), f, ...)
end

-- The tree of a computed column, nil for a function.
local function tree_of(one)
  return one.expression and titled(one, expression.read, one.expression)
end

--- derive.read(given): the option as a list sorted by name; nil stays nil.
function derive.read(given)
  if given == nil then return nil end
  if type(given) ~= "table" or getmetatable(given) or next(given) == nil then
    fail("option 'derive' takes a table { name = \"a / b\", ... }, and got %s", options.show(given))
  end
  local list = {}
  for name, value in pairs(given) do
    local fine = type(name) == "string" and name ~= ""
      and (type(value) == "string" or type(value) == "function")
    if not fine then
      fail("option 'derive' has %s = %s; it takes names with an expression, as \"a / b\", or a \z
        function of a row", options.show(name), options.show(value))
    end
  end
  for _, name in ipairs(keys.sorted(given)) do
    local value = given[name]
    local one = { name = name, missing = 0, expression = type(value) == "string" and value or nil,
      call = type(value) == "function" and value or nil }
    tree_of(one)
    list[#list + 1] = one
  end
  return list
end

-- name -> true for the columns that expressions take.
local function taken_by(derived)
  local taken = {}
  for _, one in ipairs(derived) do
    local tree = tree_of(one)
    if tree then expression.names(tree, function(name) taken[name] = true end) end
  end
  return taken
end

--- derive.unskip(derived, skip): the option `skip` of sc.data.csv without the columns that
--- expressions use, because these must be read; second: these columns, name -> true.
function derive.unskip(derived, skip)
  if type(skip) ~= "string" and type(skip) ~= "table" then return skip, {} end
  local taken, left, helpers = taken_by(derived), {}, {}
  for _, name in ipairs(type(skip) == "string" and { skip } or skip) do
    if taken[name] then helpers[name] = true else left[#left + 1] = name end
  end
  return left, helpers
end

--- derive.takes_target(schema): true if a computed column uses the target.
function derive.takes_target(schema)
  return schema.target ~= nil and taken_by(schema.derived)[schema.target.name] == true
end

--- derive.takes_rows(schema): true if a computed column uses other rows (lag), or the column of
--- times or weights: then a file cannot be read in blocks.
function derive.takes_rows(schema)
  local taken = taken_by(schema.derived)
  for _, one in ipairs(schema.derived) do
    local tree = tree_of(one)
    if tree and expression.has_lag(tree) then return true end
  end
  return taken[schema.time or false] or taken[schema.weights or false] or false
end

--- derive.check_saved(schema): raises an error if a computed column is a Lua function, which a file
--- cannot hold.
function derive.check_saved(schema)
  for _, one in ipairs(schema and schema.derived or {}) do
    if one.call then
      fail("the computed column '%s' is a Lua function, which cannot be saved; an expression can: \z
        derive = { %s = \"a / b\" }", one.name, one.name)
    end
  end
end

-- ---------------------------------------------------------------- values

-- The columns (see columns.of) of the X of a reader's result, before computed columns are added.
local function raw_columns(result)
  return columns.of({ schema = result.schema, size = function()
    return result.X:rows(), result.X:cols()
  end }, true)
end

-- The columns that expressions and functions may use: name -> { kind, get }, where get(i) is the
-- value of row i. kind: "number", "date", "category" or "target".
local function accessible(result, schema)
  local found, X = {}, result.X
  for _, column in ipairs(raw_columns(result)) do
    local first = column.first
    found[column.name] = { kind = column.kind, get = column.category
      and function(i) return columns.value({ X = X }, column, i) end
      or function(i) return X:get(i, first) end }
  end
  for _, role in ipairs{ "time", "weights" } do
    local matrix = result[role]
    if matrix then
      found[schema[role]] = { kind = "date", get = function(i) return matrix:get(i, 1) end }
    end
  end
  local y = result.y
  if schema.target and y and type((result.classes or {})[1]) ~= "string" then
    found[schema.target.name] = { kind = "target", get = function(i) return y:get(i, 1) end }
  end
  return found
end

-- Raises an error unless an expression may use the column of that name. target: the target of the
-- schema; lagged, dated: see expression.names.
local function check_name(known, target, name, lagged, dated)
  local column = known[name]
  if not column and target and target.name == name then
    fail("it takes the target '%s', %s", name, target.kind == "category" and "which holds texts"
      or "which the file does not have, or which is not read")
  elseif not column then
    fail("there is no column '%s'%s", name, objects.suggestion(name, keys.sorted(known)))
  elseif column.kind == "category" then
    fail("it takes '%s', a column of texts, which has a 0/1 column for each text already", name)
  elseif column.kind == "target" and not lagged then
    fail("it takes the target '%s' of the row itself, which is to be predicted; lag(%s, 1) is \z
      that of the row before", name, name)
  elseif dated and column.kind ~= "date" then
    fail("it takes a part of the date '%s', a column that holds numbers", name)
  end
end

-- A function before(k): for each row, the row k rows before it in time order and within its group.
local function order_of(result, n)
  local rows, time, groups = {}, result.time, result.groups
  for i = 1, n do rows[i] = i end
  if time then
    table.sort(rows, function(a, b)
      local s, t = time:get(a, 1), time:get(b, 1)
      return s < t or s == t and a < b
    end)
  end
  return function(k)
    local list, seen = {}, {}
    for _, i in ipairs(rows) do
      local group = groups and groups:get(i, 1) or 0
      local own = seen[group] or {}
      seen[group], own[#own + 1] = own, i
      list[i] = own[#own - math.tointeger(k)] or false
    end
    return list
  end
end

-- The value of a Lua function for row i, as a function (call, i), NaN for nil. The function gets a
-- view of the row: row.NAME is the field of a column.
local function row_view(known)
  local at = 0
  local view = setmetatable({}, { __index = function(_, name)
    local column = known[name]
    if not column or column.kind == "target" then
      fail("there is no column %s%s", options.show(name), objects.suggestion(name,
        keys.sorted(known)))
    end
    return column.get(at)
  end, __newindex = function() fail("a row cannot be changed") end })
  return function(call, i)
    at = i
    local value = call(view)
    if value ~= nil and type(value) ~= "number" then
      fail("the function gave a %s; it must give a number, or nil if there is none", type(value))
    end
    return value or 0 / 0
  end
end

-- A computed column as a function of a row's number.
local function function_of(one, known, target, before)
  local tree = tree_of(one)
  if not tree then
    local view = row_view(known)
    return function(i) return view(one.call, i) end
  end
  titled(one, expression.names, tree, function(name, lagged, dated)
    check_name(known, target, name, lagged, dated)
  end)
  return expression.compile(tree, function(name) return known[name].get end, before)
end

-- The values of a computed column, n x 1, NaN where they are missing.
local function values_of(one, known, target, before, n)
  local f = function_of(one, known, target, before)
  local out, row = core.zeros(n, 1), 0
  titled(one, function()
    local fine, message = pcall(function()
      for i = 1, n do
        row = i
        local v = f(i)
        if v == math.huge or v == -math.huge then fail("its value is not finite") end
        out:set(i, 1, v)
      end
    end)
    if not fine then
      if type(message) ~= "string" then error(message, 0) end
      error(("row %d: %s"):format(row, options.plain(message)), 0)
    end
  end)
  return out
end

-- ---------------------------------------------------------------- missing values

-- The number of NaN in a column, and the first row with one.
local function count_missing(column)
  local count, first = 0, nil
  for i = 1, column:rows() do
    if column:get(i, 1) ~= column:get(i, 1) then
      count, first = count + 1, first or i
    end
  end
  return count, first
end

-- The column with missing values filled in if the rule is "median"; else raises an error that names
-- the first row without a value.
local function filled(one, column, rule, first)
  if rule ~= "median" or one.fill == nil then
    titled(one, fail, "row %d has no value%s", first, rule == "error"
      and " (missing_values = \"median\" fills it in)" or "")
  end
  return column:map(function(v) return v ~= v and one.fill or v end)
end

-- Removes rows from all matrices of the result that have a row for each row of X, and counts the
-- rows of its files (parts) again. left: row -> true for rows to remove.
local function keep_rows(result, left)
  if not next(left) then return end
  local rows = {}
  for i = 1, result.X:rows() do if not left[i] then rows[#rows + 1] = i end end
  if #rows == 0 then fail("every row has a missing number, and all are left out") end
  local from, to, parts = 0, 0, {}
  for k, count in ipairs(result.parts or {}) do
    from = from + count
    local before = to
    while rows[to + 1] and rows[to + 1] <= from do to = to + 1 end
    parts[k] = to - before
  end
  result.parts = result.parts and parts
  for _, name in ipairs{ "X", "y", "weights", "groups", "time" } do
    if result[name] then result[name] = result[name]:select(rows) end
  end
end

-- Sets X, names and schema of the result: without the columns that are helpers, with the computed
-- columns `made` after the others.
local function put(result, derived, made, given)
  local schema, parts, names = {}, {}, {}
  for key, value in pairs(result.schema) do schema[key] = value end
  schema.columns = {}
  for k, column in ipairs(result.schema.columns) do
    local copy = {}
    for key, value in pairs(column) do copy[key] = value end
    copy.helper = given.helpers[column.name]
    schema.columns[k] = copy
  end
  for _, column in ipairs(raw_columns(result)) do
    if not given.helpers[column.name] then
      parts[#parts + 1] = result.X:slice(1, result.X:rows(), column.first, column.last)
      table.move(result.names, column.first, column.last, #names + 1, names)
    end
  end
  for k, one in ipairs(derived) do parts[#parts + 1], names[#names + 1] = made[k], one.name end
  local X = #parts > 1 and core.hcat(table.unpack(parts)) or parts[1]
  result.X = given.dtype == "float32" and X:astype("float32") or X
  schema.derived, schema.cols = derived, #names
  result.names, result.schema = names, schema
end

--- derive.add(result, derived, given): adds computed columns to the result of a reader, whose
--- columns of roles are fields already. derived: see above; without `fill` if the schema is new.
--- given: { rule = missing_values, fresh = true if the schema is new, dtype, helpers, target =
--- that of the schema that the file is read by }; helpers: name -> true for columns that are not
--- features. Returns notes about missing values that were filled in (see schema.notes).
function derive.add(result, derived, given)
  local n, list, made = result.X:rows(), {}, {}
  local known, before = accessible(result, result.schema), order_of(result, n)
  local notes, left = {}, {}
  for k, one in ipairs(derived) do
    if known[one.name] then titled(one, fail, "the file has a column of that name") end
    made[k] = values_of(one, known, given.target or result.schema.target, before, n)
    local count, first = count_missing(made[k])
    list[k] = { name = one.name, expression = one.expression, call = one.call, fill = one.fill,
      missing = given.fresh and count or one.missing }
    if given.fresh and count < n then list[k].fill = core.quartiles(made[k]):get(2, 1) end
    if given.rule == "row" then
      for i = 1, first and n or 0 do left[i] = left[i] or made[k]:get(i, 1) ~= made[k]:get(i, 1) end
    elseif first then
      made[k] = filled(list[k], made[k], given.rule, first)
      notes[#notes + 1] = { what = "filled", column = one.name, count = count,
        value = list[k].fill }
    end
  end
  put(result, list, made, given)
  keep_rows(result, left)
  return notes
end

return derive

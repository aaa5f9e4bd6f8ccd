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

-- ------------ the option

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

-- ------------ values

-- The columns (see columns.of) of X as a reader makes it, before computed columns are added. cols:
-- the number of columns of X.
local function raw_columns(schema, cols)
  return columns.of({ schema = schema, size = function() return 0, cols end }, true)
end

-- The columns that expressions and functions may use: name -> { kind, get }, where get(i) is the
-- value of row i. kind: "number", "date", "category" or "target". rows: { X, y, schema, classes,
-- time, weights, whole, before }. X and y may be replaced by those of other rows, the first of
-- which is row before + 1. whole: name -> values of all rows, n x 1; so are time and weights.
local function accessible(rows)
  local found, schema = {}, rows.schema
  for _, column in ipairs(raw_columns(schema, rows.X:cols())) do
    local first = column.first
    found[column.name] = { kind = column.kind, get = column.category
      and function(i) return columns.value(rows, column, i - rows.before) end
      or function(i) return rows.X:get(i - rows.before, first) end }
  end
  for _, role in ipairs{ "time", "weights" } do
    local matrix = rows[role]
    if matrix then
      found[schema[role]] = { kind = "date", get = function(i) return matrix:get(i, 1) end }
    end
  end
  if schema.target and rows.y and type((rows.classes or {})[1]) ~= "string" then
    found[schema.target.name] = { kind = "target", get = function(i)
      return rows.y:get(i - rows.before, 1)
    end }
  end
  for name, matrix in pairs(rows.whole or {}) do
    found[name].get = function(i) return matrix:get(i, 1) end
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

-- A function before(k): for each of n rows, the row k rows before it in time order and within its
-- group.
local function order_of(result, n)
  local time, groups, rows = result.time, result.groups, nil
  if not (time or groups) then
    return function(k)
      k = math.tointeger(k)
      return setmetatable({}, { __index = function(_, i) return i > k and i - k end })
    end
  end
  return function(k)
    if not rows then
      rows = {}
      for i = 1, n do rows[i] = i end
      if time then
        table.sort(rows, function(a, b)
          local s, t = time:get(a, 1), time:get(b, 1)
          return s < t or s == t and a < b
        end)
      end
    end
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

-- The computed columns as functions of a row's number, with the columns that `accessible` gives.
local function functions_of(derived, known, target, before)
  local list = {}
  for k, one in ipairs(derived) do
    if known[one.name] then titled(one, fail, "the file has a column of that name") end
    list[k] = function_of(one, known, target, before)
  end
  return list
end

-- The values f(i) of a computed column in rows first .. first+n-1, n x 1, NaN where they are
-- missing.
local function values_of(one, f, first, n)
  local out, row = core.zeros(n, 1), 0
  titled(one, function()
    local fine, message = pcall(function()
      for i = first, first + n - 1 do
        row = i
        local v = f(i)
        if v == math.huge or v == -math.huge then fail("its value is not finite") end
        out:set(i - first + 1, 1, v)
      end
    end)
    if not fine then
      if type(message) ~= "string" then error(message, 0) end
      error(("row %d: %s"):format(row, options.plain(message)), 0)
    end
  end)
  return out
end

-- ------------ missing values

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

-- Raises an error that names the first row without a value, unless it can be filled in.
local function check_fill(one, rule, first)
  if rule == "median" and one.fill ~= nil then return end
  titled(one, fail, "row %d has no value%s", first, rule == "error"
    and " (missing_values = \"median\" fills it in)" or "")
end

-- The column with missing values filled in.
local function filled(one, column)
  return column:map(function(v) return v ~= v and one.fill or v end)
end

-- Removes rows from all matrices of the result that have a row for each of its n rows, and counts
-- the rows of its files (parts) again. left: row -> true for rows to remove. Returns the numbers of
-- the rows that stay, or nil if all do.
local function keep_rows(result, left, n)
  if not next(left) then return nil end
  local rows = {}
  for i = 1, n do if not left[i] then rows[#rows + 1] = i end end
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
  return rows
end

-- ------------ the result of a reader

-- X without the columns that are helpers, with the computed columns `made` after the others.
local function joined(X, raw, made, given)
  local parts = {}
  for _, column in ipairs(raw) do
    if not given.helpers[column.name] then
      parts[#parts + 1] = X:slice(1, X:rows(), column.first, column.last)
    end
  end
  table.move(made, 1, #made, #parts + 1, parts)
  X = #parts > 1 and core.hcat(table.unpack(parts)) or parts[1]
  return given.dtype == "float32" and X:astype("float32") or X
end

-- Sets names and schema of the result to those of that X.
local function describe(result, raw, derived, given)
  local schema, names = {}, {}
  for key, value in pairs(result.schema) do schema[key] = value end
  schema.columns = {}
  for k, column in ipairs(result.schema.columns) do
    local copy = {}
    for key, value in pairs(column) do copy[key] = value end
    copy.helper = given.helpers[column.name]
    schema.columns[k] = copy
  end
  for _, column in ipairs(raw) do
    if not given.helpers[column.name] then
      table.move(result.names, column.first, column.last, #names + 1, names)
    end
  end
  for _, one in ipairs(derived) do names[#names + 1] = one.name end
  schema.derived, schema.cols = derived, #names
  result.names, result.schema = names, schema
end

-- The entry of schema.derived. count: missing values; fill: what a new schema replaces them by.
local function entry_of(one, given, count, fill)
  return { name = one.name, expression = one.expression, call = one.call,
    fill = given.fresh and fill or one.fill, missing = given.fresh and count or one.missing }
end

-- The note about `count` missing values that were filled in (see schema.notes).
local function note_of(one, count)
  return { what = "filled", column = one.name, count = count, value = one.fill }
end

--- derive.add(result, derived, given): adds computed columns to the result of a reader, whose
--- columns of roles are fields already. derived: see above; without `fill` if the schema is new.
--- given: { rule = missing_values, fresh = true if the schema is new, dtype, helpers, target =
--- that of the schema that the file is read by }; helpers: name -> true for columns that are not
--- features. Returns notes about missing values that were filled in (see schema.notes).
function derive.add(result, derived, given)
  local n, list, made = result.X:rows(), {}, {}
  local known = accessible{ X = result.X, y = result.y, schema = result.schema, before = 0,
    classes = result.classes, time = result.time, weights = result.weights }
  local computed = functions_of(derived, known, given.target or result.schema.target,
    order_of(result, n))
  local notes, left = {}, {}
  for k, one in ipairs(derived) do
    local values = values_of(one, computed[k], 1, n)
    local count, first = count_missing(values)
    list[k] = entry_of(one, given, count,
      given.fresh and count < n and core.quartiles(values):get(2, 1) or nil)
    if given.rule == "row" then
      for i = 1, first and n or 0 do left[i] = left[i] or values:get(i, 1) ~= values:get(i, 1) end
    elseif first then
      check_fill(list[k], given.rule, first)
      values = filled(list[k], values)
      notes[#notes + 1] = note_of(list[k], count)
    end
    made[k] = values
  end
  local raw = raw_columns(result.schema, result.X:cols())
  result.X = joined(result.X, raw, made, given)
  describe(result, raw, list, given)
  local rows = keep_rows(result, left, n)
  if rows then notes[#notes + 1] = { what = "dropped", count = n - #rows } end
  return notes
end

-- ------------ streams

local BLOCK = 2048 -- rows of a stream that the first passes read at once

-- Calls visit(first, count) for consecutive blocks of n rows.
local function each_block(n, visit)
  for first = 1, n, BLOCK do visit(first, math.min(BLOCK, n - first + 1)) end
end

-- The columns that occur in lag, and need the values of all rows: name -> n x 1. load: see below.
local function whole_columns(derived, rows, n, load)
  local parts = {}
  for _, one in ipairs(derived) do
    local tree = tree_of(one)
    if tree then
      expression.names(tree, function(name, lagged) if lagged then parts[name] = {} end end)
    end
  end
  local target, raw = rows.schema.target, {}
  for _, column in ipairs(raw_columns(rows.schema, rows.X:cols())) do
    if parts[column.name] and not column.category then raw[column.name] = column.first end
  end
  local lagged_target = target and parts[target.name] and rows.y and not raw[target.name]
    and type((rows.classes or {})[1]) ~= "string"
  if not (next(raw) or lagged_target) then return {} end
  each_block(n, function(first, count)
    load(first, count)
    for name, place in pairs(raw) do
      table.insert(parts[name], rows.X:column(place):copy())
    end
    if lagged_target then table.insert(parts[target.name], rows.y:column(1):copy()) end
  end)
  local whole = {}
  for name, list in pairs(parts) do whole[name] = list[1] and core.vcat(table.unpack(list)) end
  return whole
end

-- One pass over n rows: for each computed column { count (missing values), first (row with one),
-- sum (of the others) }; second: row -> true for rows with a missing value.
local function look(derived, computed, n, load)
  local seen, left = {}, {}
  for k = 1, #derived do seen[k] = { count = 0, sum = 0 } end
  each_block(n, function(first, count)
    load(first, count)
    for k, one in ipairs(derived) do
      local values, own = values_of(one, computed[k], first, count), seen[k]
      local missing, place = count_missing(values)
      own.count = own.count + missing
      own.first = own.first or place and first + place - 1
      for i = 1, count do
        local v = values:get(i, 1)
        if v == v then own.sum = own.sum + v else left[first + i - 1] = true end
      end
    end
  end)
  return seen, left
end

-- read(first, count) of a stream, for some of its rows only: kept is the list of their numbers.
local function reader_of(read, kept)
  return function(first, count)
    local before, list = (kept[first] or 1) - 1, {}
    for i = 1, count do list[i] = kept[first + i - 1] - before end
    local X, y = read(before + 1, list[count] or 0)
    return X:select(list), y and y:select(list)
  end
end

--- derive.stream(source, result, derived, given): derive.add for the rows of a source, which are
--- computed in each pass; sets result.source and result.rows. Columns in lag are kept in memory.
--- A new schema fills missing values by the mean, as the reader of a stream does. given, and what
--- it returns: as of derive.add.
function derive.stream(source, result, derived, given)
  local n, cols, targets = core.source_size(source)
  local rows = { X = core.zeros(0, cols), y = targets > 0 and core.zeros(0, targets) or nil,
    schema = result.schema, classes = result.classes, time = result.time,
    weights = result.weights, before = 0 }
  local function load(first, count)
    rows.X, rows.y = core.read_rows(source, first, count)
    if targets == 0 then rows.y = nil end
    rows.before = first - 1
  end
  rows.whole = whole_columns(derived, rows, n, load)
  local computed = functions_of(derived, accessible(rows), given.target or result.schema.target,
    order_of(result, n))
  local seen, left = look(derived, computed, n, load)
  local list, notes = {}, {}
  for k, one in ipairs(derived) do
    local count, first = seen[k].count, seen[k].first
    list[k] = entry_of(one, given, count, count < n and seen[k].sum / (n - count) or nil)
    if first and given.rule ~= "row" then
      check_fill(list[k], given.rule, first)
      notes[#notes + 1] = note_of(list[k], count)
    end
  end
  local raw = raw_columns(result.schema, cols)
  local function read(first, count)
    local made = {}
    load(first, count)
    for k, one in ipairs(list) do
      made[k] = values_of(one, computed[k], first, count)
      if one.fill and given.rule == "median" then made[k] = filled(one, made[k]) end
    end
    return joined(rows.X, raw, made, given), rows.y
  end
  describe(result, raw, list, given)
  local kept = given.rule == "row" and keep_rows(result, left, n)
  result.rows = kept and #kept or n
  result.source = core.generator(result.rows, #result.names, targets,
    kept and reader_of(read, kept) or read)
  return notes
end

return derive

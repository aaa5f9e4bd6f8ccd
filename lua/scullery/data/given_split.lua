--- Splits that the user gives: the option `rows` of ds:split, as row numbers or as the name of a
--- column that marks the test rows. Such a column is not a feature, and is removed from both parts.
local columns = require "scullery.data.columns"
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local options = require "scullery.base.options"
local schema = require "scullery.data.schema"

local given_split = {}

local TEST = "test" -- the text of test rows in a column of text

given_split.rule = { test = function(v)
  return core.is_matrix(v) or type(v) == "string" or options.is_list(v)
end, takes = "the numbers of the test rows, or the name of the column that says which they are" }

-- Two lists of row numbers in 1 .. n: those for which tested[i] is false or nil, and the others.
local function divide(tested, n)
  local train, test = {}, {}
  for i = 1, n do table.insert(tested[i] and test or train, i) end
  return train, test
end

-- ------------ row numbers

-- The numbers of a list or of a matrix of one row or column.
local function numbers_of(given)
  if not core.is_matrix(given) then return given end
  if given:cols() ~= 1 and given:rows() ~= 1 then
    fail("dataset:split: option 'rows' got %s; a matrix of row numbers has one column",
      options.show(given))
  end
  local list = {}
  for i = 1, given:rows() do
    for j = 1, given:cols() do list[#list + 1] = given:get(i, j) end
  end
  return list
end

-- A table from each row number in a list to its place in the list. Raises an error for a number
-- that is not a row number, and for one that occurs twice.
local function places_of(given, n)
  local place = {}
  for i, value in ipairs(given) do
    local row = type(value) == "number" and math.tointeger(value)
    if not row or row < 1 or row > n then
      fail("dataset:split: option 'rows' holds %s in place %d; it takes row numbers, whole \z
        numbers from 1 to %d", options.show(value), i, n)
    end
    if place[row] then
      fail("dataset:split: option 'rows' holds row %d twice, in places %d and %d", row,
        place[row], i)
    end
    place[row] = i
  end
  for key in pairs(given) do
    if not (math.type(key) == "integer" and key >= 1 and key <= #given) then
      fail("dataset:split: option 'rows' has the key %s; it takes a list of row numbers",
        options.show(key))
    end
  end
  return place
end

-- ------------ a column

-- The column with that name, as columns.of describes it.
local function column_called(ds, name)
  local names = {}
  for k, column in ipairs(columns.of(ds)) do
    if column.name == name then return column end
    names[k] = column.name
  end
  local nearest = options.nearest(name, names)
  fail("dataset:split: option 'rows' names the column '%s', which the data set does not have%s",
    name, nearest and (" (did you mean '%s'?)"):format(nearest) or "")
end

-- The number of the column of X that is 1 in test rows. Raises an error for a column of text that
-- has not exactly two texts, one of them "test".
local function indicator(column)
  if not column.category then return column.first end
  local levels = column.levels
  for k, text in ipairs(levels) do
    if text == TEST and #levels == 2 and column.missing == 0 then return column.first + k - 1 end
  end
  fail("dataset:split: option 'rows' names the column '%s' of the texts %s%s; of text it takes a \z
    column of two texts, \"%s\" in test rows", column.name, table.concat(levels, ", ", 1,
      math.min(#levels, 5)), #levels > 5 and ", ..." or column.missing > 0 and " and missing ones"
      or "", TEST)
end

-- A list with true for each test row; raises an error for a value that is not 0 or 1.
local function tested_by(ds, column)
  local tested, j = {}, indicator(column)
  for i = 1, #ds do
    local value = ds.X:get(i, j)
    if value ~= 0 and value ~= 1 then
      fail("dataset:split: option 'rows' names the column '%s', which holds %s in row %d; of \z
        numbers it takes a column of 1 in test rows and 0 in the others", column.name,
        options.show(value), i)
    end
    tested[i] = value == 1
  end
  return tested
end

-- A list without the elements from first to last.
local function without(list, first, last)
  local left = {}
  for k, value in ipairs(list) do
    if k < first or k > last then left[#left + 1] = value end
  end
  return left
end

-- The schema of the rows without the column. The schema skips it, so that a file read with `like`
-- need not have it; if there are computed columns, which may use it, it is still read (helper).
local function schema_without(ds, column, names)
  local old = ds.schema
  if not (old and old.columns) then
    return schema.plain(old and old.format or "matrix", ds.X:cols() - 1, names)
  end
  local new = {}
  for key, value in pairs(old) do new[key] = value end
  new.columns, new.cols = {}, old.cols - (column.last - column.first + 1)
  for k, one in ipairs(old.columns) do
    local copy = {}
    for key, value in pairs(one) do copy[key] = value end
    if one.name == column.name and old.derived then
      copy.helper = true
    elseif one.name == column.name then
      copy = { name = one.name, kind = "skipped", missing = 0 }
    end
    new.columns[k] = copy
  end
  for k, one in ipairs(old.derived or {}) do
    if one.name == column.name then new.derived = without(old.derived, k, k) end
  end
  return new
end

-- The fields X, names and schema of the data set without the column.
local function fields_without(ds, column)
  local X, parts = ds.X, {}
  local n, d = X:rows(), X:cols()
  if column.first > 1 then parts[1] = X:slice(1, n, 1, column.first - 1) end
  if column.last < d then parts[#parts + 1] = X:slice(1, n, column.last + 1, d) end
  if #parts == 0 then
    fail("dataset:split: no column is left for X without '%s', which option 'rows' names",
      column.name)
  end
  local names = ds.names and without(ds.names, column.first, column.last)
  return { X = core.hcat(table.unpack(parts)), names = names,
    schema = schema_without(ds, column, names) }
end

-- ------------ the split

--- given_split.of(ds, rows): the row numbers of the training part and of the test part, each in the
--- order of the data set; third, fields of the data set that both parts get in place of its own, if
--- rows names a column.
function given_split.of(ds, rows)
  local n = #ds
  local fields, train, test
  if type(rows) == "string" then
    local column = column_called(ds, rows)
    train, test = divide(tested_by(ds, column), n)
    fields = fields_without(ds, column)
  else
    train, test = divide(places_of(numbers_of(rows), n), n)
  end
  if #test == 0 then fail("dataset:split: option 'rows' names no test row") end
  if #train == 0 then
    fail("dataset:split: option 'rows' names all %d rows as test rows; some must be left to train \z
      on", n)
  end
  return train, test, fields
end

--- given_split.refuse_others(given): raises an error if the option rows comes with another one.
function given_split.refuse_others(given)
  local other
  for name in pairs(given) do
    if name ~= "rows" and (not other or name < other) then other = name end
  end
  if other then
    fail("dataset:split: options 'rows' and '%s' were both given; 'rows' alone says which rows \z
      are tested", other)
  end
end

return given_split

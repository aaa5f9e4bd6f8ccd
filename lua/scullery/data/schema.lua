--- Schemas: how the columns of a file become columns of X, so that another file is read in the same
--- way; and the sentences that report guesses and conversions.
---
--- A schema is a plain table. Of a CSV file: { format = "csv", separator, header, missing (texts
--- that mean a missing value), missing_values, categorical, columns, target, cols }. columns: a
--- list in the file's order, without the target, of { name, kind = "number" | "category" | "date" |
--- "skipped", levels (of a category, in the order of its columns of X; where `missing` is not 0,
--- one more column follows for missing fields), fill (what a missing number becomes; nil: it is
--- refused), missing (missing fields in training), loose ("$5" is a number) }. target: { name, kind
--- = "number" | "category", task, place in the file } or nil. cols: columns of X. Of other data: {
--- format = "libsvm" | "npy" | "idx" | "matrix", cols, names or nil }.
local options = require "scullery.base.options"
local warn = require "scullery.base.warn"

local schema = {}

--- schema.of(value): the schema of a data set, a fitted pipeline or a model, or the table itself;
--- nil if it has none.
function schema.of(value)
  if type(value) ~= "table" then return nil end
  if rawget(value, "format") then return value end
  return rawget(value, "schema") or schema.of(rawget(value, "fitted"))
    or schema.of(rawget(value, "model"))
end

--- schema.like(value): the same for option 'like'; raises an error if there is none.
function schema.like(value)
  local found = schema.of(value)
  if found then return found end
  local what = type(value) == "table" and getmetatable(value) and "one without a schema"
    or options.show(value)
  error(("option 'like' takes a data set, a fitted pipeline or a schema, and got %s"):format(what),
    0)
end

--- schema.plain(format, cols, names): the schema of data that are plain numbers.
function schema.plain(format, cols, names)
  return { format = format, cols = cols, names = names }
end

-- ---------------------------------------------------------------- what was guessed and done

local MOST_NAMED = 6

local function listed(items)
  if #items <= MOST_NAMED then return table.concat(items, ", ") end
  return ("%s and %d more"):format(table.concat(items, ", ", 1, MOST_NAMED), #items - MOST_NAMED)
end

local function add(lines, pattern, items)
  if #items > 0 then lines[#lines + 1] = pattern:format(listed(items)) end
end

local function number_of(count, one, many)
  return ("%d %s"):format(count, count == 1 and one or many or one .. "s")
end

local function task_line(result, given)
  if not result.target then return nil end
  local what = result.task
  if what == "classification" then
    what = ("%s of %s"):format(what, number_of(#result.classes, "class", "classes"))
    if result.schema.target.kind == "number" and not given.task then
      what = what .. (", as '%s' holds %s (task = \"regression\" takes them as values)"):format(
        result.target, #result.classes == 2 and "two values" or "few whole numbers")
    end
  elseif result.whole_values then
    what = ("a regression, though '%s' holds only %d whole numbers (task = \"classification\" takes \z
      them as labels)"):format(result.target, result.whole_values)
  end
  local said = given.target ~= nil and "" or " (the last column)"
  return ("target '%s'%s, %s"):format(result.target, said, what)
end

-- show(column) for each column of a kind.
local function columns_of(s, kind, show)
  local items = {}
  for _, column in ipairs(s.columns) do
    if column.kind == kind then items[#items + 1] = show(column) end
  end
  return items
end

local function noted(notes, what, show)
  local items = {}
  for _, note in ipairs(notes) do
    if note.what == what then items[#items + 1] = show(note) end
  end
  return items
end

local function name_of(column) return column.name end

local function guesses(result, given, lines)
  if given.target == nil or given.task == nil then lines[#lines + 1] = task_line(result, given) end
  add(lines, "one column a level: %s", columns_of(result.schema, "category", function(column)
    return ("%s (%d)"):format(column.name, #column.levels + (column.missing > 0 and 1 or 0))
  end))
end

--- schema.notes(notes): sentences for the user about a reader's notes.
function schema.notes(notes)
  local lines = {}
  add(lines, "columns left out because the schema does not have them: %s",
    noted(notes, "extra", function(note) return note.column end))
  add(lines, "unknown categories, whose columns of X are all 0: %s",
    noted(notes, "unknown", function(note)
      return ("%s (%s, such as '%s')"):format(note.column, number_of(note.count, "row"),
        note.example)
    end))
  add(lines, "missing numbers filled in: %s", noted(notes, "filled", function(note)
    return ("%s (%s, by %.6g)"):format(note.column, number_of(note.count, "row"), note.value)
  end))
  add(lines, "whole numbers beyond 2^53, rounded: %s", noted(notes, "large", function(note)
    return ("%s (%s)"):format(note.column, number_of(note.count, "row"))
  end))
  return lines
end

--- schema.report(result, given): sentences about a reader's result: guessed options, then
--- conversions. given: the options of the user. Second: the list without the guesses.
function schema.report(result, given)
  local lines, done = {}, schema.notes(result.notes)
  if not given.like then
    guesses(result, given, lines)
    add(done, "dates as days since 1970-01-01: %s", columns_of(result.schema, "date", name_of))
  end
  return table.move(done, 1, #done, #lines + 1, lines), done
end

--- schema.tell(path, lines): prints the sentences as one line on standard error, if there are any.
function schema.tell(path, lines)
  if #lines == 0 then return end
  local name = type(path) == "table" and path[1] or path
  if type(path) == "table" and #path > 1 then name = ("%s and %d more"):format(name, #path - 1) end
  if name == "-" then name = "standard input" end
  warn(name .. ": " .. table.concat(lines, "; "))
end

return schema

--- Schemas: how the columns of a file become columns of X, so that another file is read in the same
--- way; and the sentences that report guesses and conversions.
---
--- A schema is a plain table. Of a CSV file: { format = "csv", separator, header, missing (texts
--- that mean a missing value), missing_values, categorical, columns, target, cols }. columns: a
--- list in the file's order, without the target, of { name, kind = "number" | "category" | "date" |
--- "skipped", levels (of a category, in the order of its columns of X; where `missing` is not 0,
--- one more column follows for missing fields), fill (what a missing number becomes; nil: it is
--- refused), missing (missing fields in training), loose ("$5" is a number), order ("day" or
--- "month", of dates where it comes first) }. target: { name, kind = "number" | "category", task,
--- place in the file } or nil. cols: columns of X. derived: computed columns (derive.lua). Of other
--- data: { format = "libsvm" | "npy" | "idx" | "matrix", cols, names or nil, base = 0 (of LIBSVM
--- text whose indices count from 0) }. Of texts: { format = "text", cols = 1, text (the columns of
--- a CSV file) and target, or nil }.
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

-- ------------ what was guessed and done

local MOST_NAMED = 6

-- Appends the pattern with the items filled in as a list, at most MOST_NAMED of them; nothing if
-- there are no items.
local function add(lines, pattern, items)
  if #items == 0 then return end
  local text = table.concat(items, ", ", 1, math.min(#items, MOST_NAMED))
  if #items > MOST_NAMED then text = ("%s and %d more"):format(text, #items - MOST_NAMED) end
  lines[#lines + 1] = pattern:format(text)
end

-- "1 row", "2 rows"; many: the plural if it is not `one` with an s.
local function number_of(count, one, many)
  return ("%d %s"):format(count, count == 1 and one or many or one .. "s")
end

-- The sentence about the target and the task; nil without a target. given: the user's options, so
-- that only guesses are explained.
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
    what = ("a regression, though '%s' holds only %d whole numbers (task = \"classification\" \z
      takes them as labels)"):format(result.target, result.whole_values)
  end
  local said = given.target ~= nil and "" or " (the last column)"
  return ("target '%s'%s, %s"):format(result.target, said, what)
end

-- The kinds of a reader's notes, in the order of the report, each with its sentence.
local note_sentences = {
  { "extra", "columns left out because the schema does not have them: %s" },
  { "unknown", "unknown categories, whose columns of X are all 0: %s" },
  { "filled", "missing numbers filled in: %s" },
  { "large", "whole numbers beyond 2^53, rounded: %s" },
}

--- schema.notes(notes): sentences for the user about a reader's notes. A note: { what = "extra" |
--- "unknown" | "filled" | "large" | "dropped", column, count (of rows), example (an unknown text),
--- value (the number that fills) }.
function schema.notes(notes)
  local items, lines, dropped = { extra = {}, unknown = {}, filled = {}, large = {} }, {}, 0
  for _, note in ipairs(notes) do
    local text = note.column
    if note.what ~= "extra" and note.what ~= "dropped" then
      local more = note.what == "unknown" and (", such as '%s'"):format(note.example)
        or note.what == "filled" and (", by %.6g"):format(note.value) or ""
      text = ("%s (%s%s)"):format(text, number_of(note.count, "row"), more)
    end
    if note.what == "dropped" then dropped = dropped + note.count
    else table.insert(items[note.what], text) end
  end
  for _, one in ipairs(note_sentences) do add(lines, one[2], items[one[1]]) end
  if dropped > 0 then
    lines[#lines + 1] = number_of(dropped, "row") .. " left out, as a number is missing"
  end
  return lines
end

--- schema.pool(all, notes): adds the notes about one part of some rows to `all`, those of the parts
--- before it, and returns that list.
function schema.pool(all, notes)
  for _, note in ipairs(notes) do
    local key = note.what .. "\n" .. (note.column or "")
    local one = all[key]
    if one then one.count = one.count and one.count + note.count
    else
      all[key] = setmetatable({ count = note.count }, { __index = note })
      all[#all + 1] = all[key]
    end
  end
  return all
end

--- schema.report(result, given): a list of sentences about a reader's result: guessed options, then
--- conversions. given: the options of the user. Second result: the list without the guesses.
function schema.report(result, given)
  local lines, done = {}, schema.notes(result.notes)
  if not given.like then
    if given.target == nil or given.task == nil then
      lines[#lines + 1] = task_line(result, given)
    end
    local categories, dates = {}, {}
    for _, column in ipairs(result.schema.columns) do
      if column.kind == "date" then dates[#dates + 1] = column.name end
      if column.kind == "category" then
        categories[#categories + 1] = ("%s (%d)"):format(column.name,
          #column.levels + (column.missing > 0 and 1 or 0))
      end
    end
    local computed = {}
    for k, one in ipairs(result.schema.derived or {}) do computed[k] = one.name end
    add(lines, "one column a level: %s", categories)
    add(lines, "computed: %s", computed)
    add(done, "dates as days since 1970-01-01: %s", dates)
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

--- A data set as text: its columns at the prompt, its first rows (ds:head), and the summary of
--- ds:describe.
local core = require "scullery.core"
local columns = require "scullery.data.columns"
local objects = require "scullery.base.objects"
local text = require "scullery.base.text"
local text_table = require "scullery.base.text_table"

local describing = {}

local WIDTH = 80 -- columns of the terminal, if they are not known

local function number_text(value)
  if type(value) ~= "number" then return tostring(value) end
  return math.type(value) == "integer" and ("%d"):format(value) or ("%.5g"):format(value)
end

-- ------------ at the prompt

local MOST_COLUMNS, VALUES = 10, 4

-- The first of `count` values as a text; value(i): that of row i.
local function first_values(count, value)
  local list = {}
  for i = 1, math.min(count, VALUES) do list[i] = number_text(value(i)) end
  if count > VALUES then list[#list + 1] = "..." end
  return table.concat(list, " ")
end

-- ------------ sparse rows and texts

local MOST_STORED, MOST_LISTED = 10, 10 -- numbers of a row that are shown; columns of a summary
local SHORT = 60 -- columns of a text at the prompt, and of a name in a summary

-- What the rows of X are called that are shown as one text each: those of a sparse X, and texts;
-- nil for a matrix.
local function shown_as_text(X)
  return core.is_texts(X) and "text" or X.sparse and "column:value" or nil
end

-- The same for a data set: a sparse X that is described by the columns of a file is shown by them.
local function heading_of(ds)
  if ds.X.sparse and ds.schema and ds.schema.columns then return nil end
  return shown_as_text(ds.X)
end

-- Rows first .. last of texts, at most `most` terminal columns of each; of a sparse X the stored
-- numbers, each row as a text "column:value ...", at most `most` of them.
local function row_texts(X, first, last, most)
  if last < first then return {} end
  if core.is_texts(X) then
    local list = X:slice(first, last):totable()
    for i, one in ipairs(list) do
      list[i] = most < math.huge and text.shorten(one, most) or one
    end
    return list
  end
  local stored, texts = X:slice(first, last):arrays(), {}
  for i = 1, last - first + 1 do
    local from, to = math.tointeger(stored.starts[i]), math.tointeger(stored.starts[i + 1])
    local parts = {}
    for k = from + 1, math.min(to, from + most) do
      parts[#parts + 1] = ("%d:%s"):format(math.tointeger(stored.indices[k]) + 1,
        number_text(math.tointeger(stored.values[k]) or stored.values[k]))
    end
    if to - from > most then parts[#parts + 1] = "..." end
    texts[i] = table.concat(parts, " ")
  end
  return texts
end

-- Lines about how many numbers of a sparse X are stored.
local function stored_lines(X)
  local n, d, nnz = X:rows(), X:cols(), X:nnz()
  local lines = { ("%.3g %% filled: %d numbers are stored of %d x %d"):format(
    n * d > 0 and 100 * nnz / (n * d) or 0, nnz, n, d) }
  if n == 0 or d == 0 then return lines end
  local counts = X:counts(2)
  local quartiles, empty = core.quartiles(counts), 0
  for i = 1, n do if counts[i] == 0 then empty = empty + 1 end end
  lines[2] = ("numbers in a row: %d to %d, median %g, mean %.4g%s"):format(counts:min(),
    counts:max(), quartiles[2], counts:mean(), empty > 0 and (", in %d none"):format(empty) or "")
  return lines
end

-- The columns of a sparse X in which most numbers are stored, at most MOST_LISTED, and how many
-- columns have none.
local function fullest_columns(X)
  local counts, list, unused = X:counts(1), {}, 0
  for j = 1, X:cols() do
    local count = counts:get(1, j)
    if count == 0 then unused = unused + 1 end
    local last = list[MOST_LISTED]
    if count > 0 and (not last or count > last.count) then
      local at = #list + 1
      while at > 1 and list[at - 1].count < count do at = at - 1 end
      table.insert(list, at, { column = j, count = count })
      list[MOST_LISTED + 1] = nil
    end
  end
  return list, unused
end

-- A line about the lengths of texts.
local function length_line(X)
  local lengths = core.texts_lengths(X)
  local quartiles, empty = core.quartiles(lengths), 0
  for i = 1, #X do if lengths[i] == 0 then empty = empty + 1 end end
  return ("%d texts of %d to %d bytes, median %g, mean %.4g%s"):format(#X, lengths:min(),
    lengths:max(), quartiles[2], lengths:mean(), empty > 0 and (", %d are empty"):format(empty)
      or "")
end

-- The text of a data set with a sparse X or texts at the prompt: its size and its first rows.
local function sparse_text(ds, label_at, width)
  local texts_are_rows = core.is_texts(ds.X)
  local lines, texts = { tostring(ds) }, row_texts(ds.X, 1, math.min(#ds, VALUES),
    texts_are_rows and SHORT or MOST_STORED)
  lines[2] = "  " .. (texts_are_rows and length_line(ds.X) or stored_lines(ds.X)[1])
  local single, rows = ds.y and ds.y:cols() == 1, { { "  row", shown_as_text(ds.X) } }
  if single then rows[1][3] = "target " .. (ds.target or "y") end
  for i, line in ipairs(texts) do
    rows[i + 1] = { "  " .. i, line, single and number_text(label_at(ds, i)) or nil }
  end
  table.move(text_table.lines(rows, { sides = { "left", "left", "left" }, width = width or WIDTH }),
    1, #rows, 3, lines)
  if #ds > #texts then lines[#lines + 1] = "  ..." end
  return text.shown(table.concat(lines, "\n"))
end

-- ------------ columns

-- Whether a row has one value or label to show, or a list of labels.
local function has_label(ds) return ds.y and (ds.y:cols() == 1 or ds.task == "multilabel") end

-- The label of a row, or its labels as one text.
local function label_text(ds, label_at, i)
  local label = label_at(ds, i)
  return ds.task == "multilabel" and table.concat(label, " ") or label
end

--- describing.columns(ds, label_at, width): the text of a data set at the prompt: its size, then
--- the name, the kind and the first values of each column. label_at(ds, i): the label of a row.
function describing.columns(ds, label_at, width)
  if ds.X and #ds > 0 and heading_of(ds) then return sparse_text(ds, label_at, width) end
  local lines, all, n = { tostring(ds) }, columns.of(ds), (ds:size())
  local rows = { { "  column", "kind", "values" } }
  for c = 1, math.min(#all, MOST_COLUMNS) do
    local column = all[c]
    local kind = column.category and ("category of %d"):format(column.last - column.first + 1)
      or column.kind
    rows[c + 1] = { "  " .. column.name, kind, ds.X and first_values(n, function(i)
      return columns.value(ds, column, i)
    end) or "" }
  end
  local more = #all - MOST_COLUMNS
  if more > 0 then
    rows[#rows + 1] = { ("  ... %d more"):format(more), "", "" }
  end
  if has_label(ds) then
    rows[#rows + 1] = { "  target " .. (ds.target or "y"), ds.task,
      first_values(n, function(i) return label_text(ds, label_at, i) end) }
  end
  table.move(text_table.lines(rows, { sides = { "left", "left", "left" }, width = width or WIDTH }),
    1, #rows, 2, lines)
  return text.shown(table.concat(lines, "\n"))
end

-- ------------ the first rows

local Head = objects.class("rows", { example = "rows", fields = "names more", list = true })

-- A table with as many columns as fit into WIDTH, and lines about what is left out.
function Head:__tostring()
  local rows, widths = { self.names }, {}
  for i, row in ipairs(self) do
    rows[i + 1] = {}
    for j, value in ipairs(row) do rows[i + 1][j] = number_text(value) end
  end
  for _, row in ipairs(rows) do
    for j, cell in ipairs(row) do widths[j] = math.max(widths[j] or 0, text.width(cell)) end
  end
  local kept, used = 0, 0
  for _, width in ipairs(widths) do
    used = used + math.min(width, WIDTH // 2) + 2
    if used - 2 > WIDTH and kept > 0 then break end
    kept = kept + 1
  end
  local cut = {}
  for i, row in ipairs(rows) do cut[i] = table.move(row, 1, kept, 1, {}) end
  local lines = text_table.lines(cut, { width = WIDTH })
  if kept < #widths then lines[#lines + 1] = ("... %d more columns"):format(#widths - kept) end
  if self.more > 0 then lines[#lines + 1] = ("... %d more rows"):format(self.more) end
  return table.concat(lines, "\n")
end

--- describing.head(ds, n, label_at): see Dataset:head; label_at: as in describing.columns.
function describing.head(ds, n, label_at)
  local heading = heading_of(ds)
  local sparse = heading and row_texts(ds.X, 1, math.min(n, #ds), math.huge)
  local all, names, result = sparse and {} or columns.of(ds), { heading }, {}
  for c, column in ipairs(all) do names[c] = column.name end
  local single = has_label(ds)
  if single then names[#names + 1] = ds.target or "y" end
  for i = 1, math.min(n, #ds) do
    local row = { sparse and sparse[i] }
    for c, column in ipairs(all) do row[c] = columns.value(ds, column, i) end
    if single then row[#row + 1] = label_text(ds, label_at, i) end
    result[i] = row
  end
  result.names, result.more = names, math.max(#ds - n, 0)
  return setmetatable(result, Head)
end

-- ------------ the summary

local Summary = objects.class("summary", { example = "summary", fields = "title lines rows notes",
  list = true })

local heads = { "", "min", "25%", "median", "75%", "max", "mean", "missing", "" }

function Summary:__tostring()
  local parts, rows = { self.title }, { heads }
  for _, line in ipairs(self.lines) do parts[#parts + 1] = "  " .. line end
  for i, one in ipairs(self) do
    local row = { "  " .. text.shorten(one.name, SHORT) }
    for k, name in ipairs{ "min", "q1", "median", "q3", "max", "mean" } do
      row[k + 1] = one.kind == "date" and columns.date(math.floor(one[name]))
        or ("%.5g"):format(one[name])
    end
    row[8], row[9] = one.missing and tostring(one.missing) or "", one.constant and "constant" or ""
    rows[i + 1] = row
  end
  local sides = { "left", "right", "right", "right", "right", "right", "right", "right", "left" }
  if #self > 0 then
    table.move(text_table.lines(rows, { sides = sides }), 1, #rows, #parts + 1, parts)
  end
  for _, note in ipairs(self.notes) do parts[#parts + 1] = "  " .. note end
  return table.concat(parts, "\n")
end

-- A row of the summary for each column of a matrix.
local function rows_of(matrix, name_of)
  if matrix:cols() == 0 then return {} end
  local rows, low, high, mean = {}, matrix:min(1), matrix:max(1), matrix:mean(1)
  local quartiles = core.quartiles(matrix)
  for j = 1, matrix:cols() do
    rows[j] = { name = name_of(j), min = low:get(1, j), max = high:get(1, j),
      mean = mean:get(1, j), q1 = quartiles:get(1, j), median = quartiles:get(2, j),
      q3 = quartiles:get(3, j) }
    rows[j].constant = rows[j].min == rows[j].max or nil
  end
  return rows
end

-- Appends a line for each class with its number of rows.
local function add_classes(ds, lines)
  for k, count in ipairs(ds:class_counts()) do
    lines[#lines + 1] = ("class %-24s %8d rows (%.1f%%)"):format(tostring(ds.classes[k]), count,
      100 * count / #ds)
  end
end

-- Sets `missing` and `kind` in the summary's rows for the columns of X. Missing are numbers that
-- are NaN, numbers that the reader filled in, and fields of categories. filled: as in
-- describing.summary; where numbers were filled in and it is nil, `missing` is nil, unknown.
local function count_missing(ds, rows, filled)
  local X, finite = ds.X, (ds.X:isfinite())
  for j, row in ipairs(rows) do
    local count = 0
    for i = 1, finite and 0 or X:rows() do
      if X:get(i, j) ~= X:get(i, j) then count = count + 1 end
    end
    row.missing = count
  end
  for _, column in ipairs(columns.of(ds)) do
    local row = rows[column.first]
    row.kind = column.kind
    if not column.category and column.missing > 0 then
      row.missing = filled and row.missing + (filled[column.name] or 0)
    elseif column.category and column.last - column.first + 1 > #column.levels then
      local count = math.tointeger(X:column(column.last):sum())
      for j = column.first, column.last do rows[j].missing = count end
    end
  end
end

-- Completes the summary of a data set with a sparse X: how many numbers are stored, and its fullest
-- columns.
local function sparse_summary(ds, result, name_of)
  local lines, notes, X = result.lines, result.notes, ds.X
  table.move(stored_lines(X), 1, 2, #lines + 1, lines)
  if X:cols() == 0 then return setmetatable(result, Summary) end
  local list, unused = fullest_columns(X)
  for _, one in ipairs(list) do
    local row = rows_of(X:column(one.column), function() return name_of(one.column) end)[1]
    row.missing = 0
    result[#result + 1] = row
  end
  notes[1] = ("the %d columns in which most numbers are stored, of %d; %d have none"):format(#list,
    X:cols(), unused)
  return setmetatable(result, Summary)
end

--- describing.summary(ds, said, filled): the object that ds:describe() returns. said: lines about
--- how the file was read; filled: the number of missing numbers that were filled in, by column, if
--- the data set is all of the file.
function describing.summary(ds, said, filled)
  local lines, notes = table.move(said or {}, 1, #(said or {}), 1, {}), {}
  local result = { title = tostring(ds), lines = lines, notes = notes }
  if #ds == 0 then return setmetatable(result, Summary) end
  if ds.y and ds.task == "classification" then
    add_classes(ds, lines)
  elseif ds.task == "multilabel" then
    for k, label in ipairs(ds.classes) do
      local count = ds.y:column(k):sum() // 1 | 0
      lines[#lines + 1] = ("label %-24s %8d rows (%.1f%%)"):format(tostring(label), count,
        100 * count / #ds)
    end
  elseif ds.y then
    for j, row in ipairs(rows_of(ds.y, function(j)
      return "target " .. (ds.y:cols() > 1 and j or ds.target or "y")
    end)) do result[j] = row end
  end
  local function name_of(j) return ds.names and ds.names[j] or "x" .. j end
  if core.is_texts(ds.X) then
    lines[#lines + 1] = length_line(ds.X)
    return setmetatable(result, Summary)
  end
  if ds.X.sparse then return sparse_summary(ds, result, name_of) end
  local rows = rows_of(ds.X, name_of)
  if #rows > 0 then
    count_missing(ds, rows, filled)
    local constant, missing = 0, 0
    for _, row in ipairs(rows) do
      if row.constant then constant = constant + 1 end
      missing = missing + (row.missing or 1)
    end
    local finite, row, col = ds.X:isfinite()
    notes[1] = ("%d constant column%s, %s"):format(constant, constant == 1 and "" or "s",
      not finite and ("not finite first in row %d, column %d"):format(row, col)
        or missing == 0 and "no missing value"
        or "missing fields were filled in, or are the level ?")
  end
  table.move(rows, 1, #rows, #result + 1, result)
  return setmetatable(result, Summary)
end

return describing

--- Values as HTML for a notebook: the first rows of matrices and data sets, and the tables in the
--- texts of results.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local text_table = require "scullery.base.text_table"

local html = {}

local MOST_ROWS, MOST_COLUMNS = 10, 10 -- of a matrix or a data set

local entities = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

local function escaped(text) return (tostring(text):gsub('[&<>"]', entities)) end

local function pre(lines) return "<pre>" .. escaped(table.concat(lines, "\n")) .. "</pre>" end

-- Rows of cells as a table; the first is its heading if has_heading. sides[j]: of column j.
local function table_of(rows, sides, has_heading)
  local parts = { "<table>" }
  for i, row in ipairs(rows) do
    local cells, name = {}, has_heading and i == 1 and "th" or "td"
    for j, cell in ipairs(row) do
      cells[j] = ('<%s style="text-align: %s">%s</%s>'):format(name, sides[j] or "left",
        escaped(cell), name)
    end
    local line = "<tr>" .. table.concat(cells) .. "</tr>"
    if has_heading and i == 1 then line = "<thead>" .. line .. "</thead><tbody>" end
    parts[#parts + 1] = line
  end
  parts[#parts + 1] = (has_heading and "</tbody>" or "") .. "</table>"
  return table.concat(parts, "\n")
end

-- ------------ tables in texts

--- html.with_tables(f, ...): the text f(...), and the tables that were made for it.
function html.with_tables(f, ...)
  local tables = {}
  text_table.watch(function(one) tables[#tables + 1] = one end)
  local ok, text = pcall(f, ...)
  text_table.watch(nil)
  if not ok then error(text, 0) end
  return text, tables
end

-- Whether the lines of a table are lines of the text from place `at` on; words may follow them.
local function stands_at(lines, at, one)
  for i, line in ipairs(one.lines) do
    local shown = lines[at + i - 1]
    if not shown or shown:sub(1, #line) ~= line then return false end
  end
  return #one.lines > 1
end

-- The cells of a table as texts, with what follows its lines in a column of its own.
local function cells_of(lines, at, one)
  local rows, any = {}, false
  for i, row in ipairs(one.rows) do
    rows[i] = {}
    for j, cell in ipairs(row) do
      rows[i][j] = math.type(cell) == "float" and ("%.6g"):format(cell) or tostring(cell)
    end
    local rest = lines[at + i - 1]:sub(#one.lines[i] + 1):match("^%s*(.-)%s*$")
    rows[i][#row + 1] = rest
    any = any or rest ~= ""
  end
  if not any then
    for i, row in ipairs(one.rows) do rows[i][#row + 1] = nil end
  end
  return rows
end

local function table_at(lines, at, tables)
  for _, one in ipairs(tables) do
    if stands_at(lines, at, one) then return one end
  end
end

--- html.of_text(text, tables): the text with its tables as HTML; nil if none of them is in it as
--- it was made.
function html.of_text(text, tables)
  local lines, parts, plain, at, any = {}, {}, {}, 1, false
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do lines[#lines + 1] = line end
  local function flush()
    if plain[1] then parts[#parts + 1] = pre(plain) end
    plain = {}
  end
  while at <= #lines do
    local one = table_at(lines, at, tables)
    if one then
      flush()
      parts[#parts + 1] = table_of(cells_of(lines, at, one), one.sides, true)
      at, any = at + #one.lines, true
    else
      plain[#plain + 1], at = lines[at], at + 1
    end
  end
  flush()
  return any and table.concat(parts, "\n") or nil
end

-- ------------ matrices and data sets

-- Appends the first numbers of a row of X to cells, and "..." for the rest.
local function add_numbers(cells, X, i)
  for j = 1, math.min(X:cols(), MOST_COLUMNS) do
    cells[#cells + 1] = ("%.6g"):format(X:get(i, j))
  end
  if X:cols() > MOST_COLUMNS then cells[#cells + 1] = "…" end
end

-- The names of the columns shown; numbers where they have none.
local function heading_of(X, names)
  local cells = { "" }
  for j = 1, math.min(X:cols(), MOST_COLUMNS) do cells[#cells + 1] = names and names[j] or j end
  if X:cols() > MOST_COLUMNS then cells[#cells + 1] = "…" end
  return cells
end

-- The first rows of a matrix, and a column of labels (a list or nil) behind.
local function head(X, names, label, labels)
  local rows, sides, shown = { heading_of(X, names) }, {}, math.min(X:rows(), MOST_ROWS)
  if labels then table.insert(rows[1], label) end
  for i = 1, shown do
    rows[i + 1] = { i }
    add_numbers(rows[i + 1], X, i)
    if labels then table.insert(rows[i + 1], labels[i]) end
  end
  if X:rows() > shown then rows[#rows + 1] = { "…" } end
  for j in ipairs(rows[1]) do sides[j] = "right" end
  return table_of(rows, sides, true)
end

local function dataset_page(ds, text)
  if not ds.X or core.is_texts(ds.X) or ds.X.sparse or ds.X:rows() == 0 then return nil end
  local labels
  if ds.y and ds.y:cols() == 1 then labels = ds:subset(1, math.min(#ds, MOST_ROWS)):labels() end
  return pre{ text } .. "\n" .. head(ds.X, ds.names, ds.target or "y", labels)
end

-- The first rows of a sparse matrix: the stored numbers of each, with their columns.
local function sparse_head(X)
  local rows, shown = { { "", "column:value" } }, math.min(X:rows(), MOST_ROWS)
  for i = 1, shown do
    local stored, parts = X[i]:arrays(), {}
    for k = 1, math.min(#stored.values, MOST_COLUMNS) do
      parts[k] = ("%d:%.6g"):format(stored.indices[k] + 1, stored.values[k])
    end
    if #stored.values > MOST_COLUMNS then parts[#parts + 1] = "…" end
    rows[i + 1] = { i, table.concat(parts, " ") }
  end
  if X:rows() > shown then rows[#rows + 1] = { "…" } end
  return table_of(rows, { "right", "left" }, true)
end

--- html.of_value(value, text): a matrix or a data set as the first of its rows, below its text or
--- the first line of that; nil for others.
function html.of_value(value, text)
  if core.is_matrix(value) and value:rows() > 0 and value:cols() > 0 then
    return pre{ text:match("^[^\n]*") } .. "\n" .. head(value)
  end
  if core.is_sparse(value) and value:rows() > 0 and value:cols() > 1 then
    return pre{ text:match("^[^\n]*") } .. "\n" .. sparse_head(value)
  end
  if dataset.is(value) then return dataset_page(value, text) end
  return nil
end

return html

--- Tables as aligned text, for a terminal.
local text = require "scullery.base.text"

local text_table = {}

local watcher

local LEAST = 4 -- the least width of a shortened cell, in columns

-- "right" if all cells below the header are numbers or empty and at least one is a number.
local function side_of(rows, j)
  local any = false
  for i = 2, #rows do
    local cell = rows[i][j]
    if cell ~= nil and cell ~= "-" and cell ~= "" and not tonumber(cell) then return "left" end
    any = any or tonumber(cell) ~= nil
  end
  return any and "right" or "left"
end

-- Narrows the widest columns, down to LEAST, until the row fits into `most` columns.
local function narrow(widths, gap, most)
  local total = gap * (#widths - 1)
  for _, width in ipairs(widths) do total = total + width end
  while total > most do
    local widest = 1
    for j, width in ipairs(widths) do if width > widths[widest] then widest = j end end
    if widths[widest] <= LEAST then return end
    widths[widest], total = widths[widest] - 1, total - 1
  end
end

--- text_table.lines(rows[, o]): the rows, lists of texts and numbers, as a list of aligned lines;
--- the first row is the header. Columns of numbers are aligned right, others left. o.sides[j]:
--- "left" or "right" for column j. o.least[j]: its least width. o.gap: spaces between columns (2).
--- o.width: the most columns of a line; longer cells are shortened to no less than 4 columns.
function text_table.lines(rows, o)
  o = o or {}
  local gap, least, sides, widths, cells = o.gap or 2, o.least or {}, {}, {}, {}
  for i, row in ipairs(rows) do
    cells[i] = {}
    for j, cell in ipairs(row) do
      cells[i][j] = math.type(cell) == "float" and ("%.6g"):format(cell)
        or text.clean(tostring(cell))
      widths[j] = math.max(widths[j] or least[j] or 0, text.width(cells[i][j]))
    end
  end
  for j in ipairs(widths) do sides[j] = o.sides and o.sides[j] or side_of(rows, j) end
  if o.width then narrow(widths, gap, o.width) end
  local lines = {}
  for i, row in ipairs(cells) do
    for j, cell in ipairs(row) do
      row[j] = text.pad(o.width and text.shorten(cell, widths[j]) or cell, widths[j], sides[j])
    end
    -- The pattern "%s+$" takes time that is quadratic in the spaces beside a long cell.
    lines[i] = table.concat(row, (" "):rep(gap)):match "^.*%S" or ""
  end
  if watcher then
    watcher{ rows = rows, sides = sides, lines = table.move(lines, 1, #lines, 1, {}) }
  end
  return lines
end

--- text_table.watch(f): makes text_table.lines call f{ rows =, sides =, lines = } for each table;
--- nil ends it. A notebook shows the tables in a text as HTML.
function text_table.watch(f) watcher = f end

--- text_table.text(rows[, o]): text_table.lines as one text.
function text_table.text(rows, o) return table.concat(text_table.lines(rows, o), "\n") end

return text_table

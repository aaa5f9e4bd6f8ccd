--- Writes a table as an SQLite database (https://sqlite.org/fileformat2.html).

local PAGE <const> = 4096

-- A number in 7 bits a byte, the highest first.
local function varint(x)
  local text = string.char(x & 127)
  x = x >> 7
  while x > 0 do
    text = string.char(x & 127 | 128) .. text
    x = x >> 7
  end
  return text
end

-- The serial type of a cell and its bytes.
local function serial(cell)
  if cell == nil then return 0, "" end
  if type(cell) == "string" then return 13 + 2 * #cell, cell end
  if math.type(cell) == "float" then return 7, string.pack(">d", cell) end
  for kind, size in ipairs{ 1, 2, 3, 4, 6, 8 } do
    if size == 8 or cell >= -(1 << 8 * size - 1) and cell < 1 << 8 * size - 1 then
      return kind, string.pack(">i" .. size, cell)
    end
  end
end

local function record(row, columns)
  local head, body = "", ""
  for j = 1, columns do
    local kind, bytes = serial(row[j])
    head, body = head .. varint(kind), body .. bytes
  end
  return varint(#head + 1) .. head .. body
end

-- A page of a table with these cells, the first `before` bytes of which are another's.
local function page(kind, cells, before, right)
  local at, pointers, content = PAGE, {}, {}
  for k, cell in ipairs(cells) do
    at = at - #cell
    pointers[k] = string.pack(">I2", at)
    table.insert(content, 1, cell)
  end
  local head = string.pack(">BI2I2I2B", kind, 0, #cells, at, 0) .. (right or "")
    .. table.concat(pointers)
  return head .. ("\0"):rep(at - before - #head) .. table.concat(content)
end

local function leaf(number, payload) return varint(#payload) .. varint(number) .. payload end

local function quoted(name) return '"' .. name:gsub('"', '""') .. '"' end

--- sqlite(name, names, types, rows): the bytes; names: of the table and of the columns; types: what
--- CREATE TABLE says; rows: lists of integers, floats, texts and nil.
return function(name, names, types, rows)
  local pages, cells, room, tree = {}, {}, PAGE - 8, {}
  local function close(last)
    pages[#pages + 1] = page(13, cells, 0)
    if last < #rows then tree[#tree + 1] = string.pack(">I4", #pages + 2) .. varint(last) end
    cells, room = {}, PAGE - 8
  end
  for i, row in ipairs(rows) do
    local cell = leaf(i, record(row, #names))
    if #cell + 2 > room then close(i - 1) end
    cells[#cells + 1], room = cell, room - #cell - 2
  end
  close(#rows)
  local list = {}
  for j, column in ipairs(names) do list[j] = quoted(column) .. " " .. types[j] end
  local schema = leaf(1, record({ "table", name, name, 2,
    ("CREATE TABLE %s (%s)"):format(quoted(name), table.concat(list, ", ")) }, 5))
  local head = "SQLite format 3\0" .. string.pack(">I2BBBBBBI4I4I4I4I4I4I4I4I4I4I4I4", PAGE, 1, 1,
    0, 64, 32, 32, 1, #pages + 2, 0, 0, 1, 4, 0, 0, 1, 0, 0, 0) .. ("\0"):rep(20)
    .. string.pack(">I4I4", 1, 3040000)
  return head .. page(13, { schema }, #head)
    .. page(5, tree, 0, string.pack(">I4", #pages + 2)) .. table.concat(pages)
end

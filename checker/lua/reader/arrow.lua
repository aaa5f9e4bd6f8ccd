--- Writes columns as an Arrow file or stream (https://arrow.apache.org/docs/format/Columnar.html).
local pack = string.pack

local function padded(bytes) return bytes .. ("\0"):rep(-#bytes % 8) end

-- FlatBuffers: parts { bytes, whole eights, at = the place that others refer to }.
local function vector(count, bytes) return { padded(pack("<I4I4", 0, count) .. bytes), at = 4 } end
local function text(s) return vector(#s, s .. "\0") end

-- Members: false: absent; a text: its bytes; or a part.
local function structure(members)
  local list, inside, behind, size = "", "", "", 8
  for _, member in ipairs(members) do size = size + (member and 8 or 0) end
  for _, member in ipairs(members) do
    list = list .. pack("<I2", member and 8 + #inside or 0)
    if type(member) == "table" then
      inside = inside .. pack("<I8", size - 8 - #inside + #behind + member.at)
      behind = behind .. member[1]
    elseif member then
      inside = inside .. padded(member)
    end
  end
  list = padded(pack("<I2I2", 4 + 2 * #members, size) .. list)
  return { list .. pack("<i4I4", #list, 0) .. inside .. behind, at = #list }
end

local function vector_of(parts)
  local begins, bytes, head = "", "", #parts * 4 + #parts % 2 * 4
  for _, part in ipairs(parts) do
    begins = begins .. pack("<I4", head - #begins + #bytes + part.at)
    bytes = bytes .. part[1]
  end
  return { pack("<I4I4", 0, #parts) .. padded(begins) .. bytes, at = 4 }
end

local function rooted(part) return pack("<I4I4", 8 + part.at, 0) .. part[1] end

local function bits(list, n)
  local bytes = {}
  for i = 1, n do
    local at = (i - 1) // 8 + 1
    bytes[at] = (bytes[at] or 0) | (list[i] and list[i] ~= 0 and 1 << (i - 1) % 8 or 0)
  end
  return string.char(table.unpack(bytes))
end

-- Buffers of texts: the ends, and the bytes, or views of 16 bytes.
local function texts(kind, cells, n)
  local format, parts, bytes, used = kind == 20 and "<i8" or "<i4", {}, {}, 0
  for i = 1, n do
    local s = cells[i] or ""
    local is_short = kind == 24 and #s < 13
    parts[i] = is_short and pack("<i4c12", #s, s) or kind ~= 24 and pack(format, used)
      or pack("<i4c4i4i4", #s, s:sub(1, 4), 0, used)
    bytes[i] = is_short and "" or s
    used = used + #bytes[i]
  end
  parts[n + 1] = kind ~= 24 and pack(format, used) or nil
  return { table.concat(parts), table.concat(bytes) }
end

-- Buffers of cells but for the first one, which says what is there.
local function buffers_of(kind, format, cells, n)
  if kind == 6 then return { bits(cells, n) } end
  if not format then return texts(kind, cells, n) end
  local parts = {}
  for i = 1, n do parts[i] = pack(format, cells[i] or 0) end
  return { table.concat(parts) }
end

-- A buffer in a frame of Zstandard with one block that is no shorter.
local function squeezed(bytes)
  return pack("<i8c4BI4I3", #bytes, "\x28\xb5\x2f\xfd", 0xa0, #bytes, #bytes << 3 | 1) .. bytes
end

-- A record batch of columns { kind, format, cells, n }: its table, and its body.
local function batch(columns, n, is_packed)
  local nodes, places, count, body, views = "", "", 0, "", ""
  for _, column in ipairs(columns) do
    local missing, there, list = 0, {}, buffers_of(column.kind, column.format, column.cells, n)
    for i = 1, n do
      there[i] = column.cells[i] ~= nil
      missing = missing + (there[i] and 0 or 1)
    end
    table.insert(list, 1, missing > 0 and bits(there, n) or "")
    nodes = nodes .. pack("<i8i8", n, missing)
    views = views .. (column.kind == 24 and pack("<i8", 1) or "")
    for _, bytes in ipairs(list) do
      count = count + 1
      bytes = is_packed and #bytes > 0 and squeezed(bytes) or bytes
      places = places .. pack("<i8i8", #body, #bytes)
      body = body .. padded(bytes)
    end
  end
  return structure{ pack("<i8", n), vector(#columns, nodes), vector(count, places),
    is_packed and structure{ "\1" } or false, #views > 0 and vector(#views // 8, views) }, body
end

local function message(kind, head, body)
  local bytes = rooted(structure{ pack("<i2", 4), string.char(kind), head, pack("<i8", #body) })
  return pack("<I4I4", 0xffffffff, #bytes) .. bytes .. body
end

-- The column of places in `words`, of which the first `cut` rows have `first`.
local function coded(column, n, cut)
  local made = { kind = 2, format = column.code, id = column.id, cells = {}, words = {} }
  local places = {}
  for i = 1, n do
    local word = column.cells[i]
    if word ~= nil and not places[word] then
      table.insert(made.words, word)
      places[word] = #made.words - 1
    end
    made.cells[i] = word ~= nil and places[word] or nil
    made.first = i <= cut and #made.words or made.first
  end
  return made
end

local function field(column)
  local coding = column.code and structure{ pack("<i8", column.id), structure{ pack("<i4",
    8 * pack(column.code, 0):len()), column.code:find "i" and "\1" or false } } or false
  return structure{ text(column.name), "\1", string.char(column.kind),
    structure(column.converted), coding }
end

-- Rows from .. to of a column.
local function rows_of(column, from, to, cells)
  return { kind = column.kind, format = column.format,
    cells = table.move(cells or column.cells, from, to, 1, {}) }
end

--- arrow(columns, n, form): the bytes; each column { name, kind = of Schema.fbs, converted =
--- members of its table, format = of string.pack; code = that of places in a dictionary; cells = a
--- list of n, nil: one is missing }; form: "file", else a stream, "packed": compressed.
--- Batches of two thirds and the rest of the rows, behind the dictionaries that they need.
return function(columns, n, form)
  local fields, list, cut, is_packed = {}, {}, 2 * n // 3, form == "packed"
  local bytes, blocks = form == "file" and "ARROW1\0\0" or "", { {}, {} }
  for j, column in ipairs(columns) do
    column.id = 7 + j
    fields[j], list[j] = field(column), column.code and coded(column, n, cut) or column
  end
  local schema = structure{ false, vector_of(fields) }
  local function add(kind, head, body)
    local made = message(kind, head, body)
    table.insert(blocks[kind - 1] or {}, pack("<i8i4i4i8", #bytes, #made - #body, 0, #body))
    bytes = bytes .. made
  end
  add(1, schema, "")
  for k, part in ipairs{ { 1, cut }, { cut + 1, n } } do
    local chosen = {}
    for j, column in ipairs(list) do
      local words, first = column.words or {}, column.first or 0
      local from, to = k == 1 and 1 or first + 1, k == 1 and first or #words
      if to >= from then
        local head, body = batch({ rows_of(columns[j], from, to, words) }, to - from + 1, is_packed)
        add(2, structure{ pack("<i8", column.id), head, k == 2 and "\1" or false }, body)
      end
      chosen[j] = rows_of(column, table.unpack(part))
    end
    add(3, batch(chosen, part[2] - part[1] + 1, is_packed))
  end
  bytes = bytes .. pack("<I4I4", 0xffffffff, 0)
  if form ~= "file" then return bytes end
  local function listed(some) return vector(#some, table.concat(some)) end
  local footer = rooted(structure{ pack("<i2", 4), schema, listed(blocks[1]), listed(blocks[2]) })
  return bytes .. footer .. pack("<I4", #footer) .. "ARROW1"
end

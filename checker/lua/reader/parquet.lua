--- Writes columns as a Parquet file (https://parquet.apache.org/docs/file-format), of pages that
--- are not compressed.

-- Thrift's compact protocol.
local function unsigned(x)
  local text = ""
  repeat
    local low = x & 127
    x = x >> 7
    text = text .. string.char(x > 0 and low | 128 or low)
  until x == 0
  return text
end
local function integer(x) return unsigned((x << 1) ~ -(x >> 63)) end
local function text(s) return unsigned(#s) .. s end
local function list(kind, items)
  return (#items < 15 and string.char(#items << 4 | kind) or string.char(240 | kind)
    .. unsigned(#items)) .. table.concat(items)
end

-- A structure of fields { id, kind, bytes }.
local function structure(fields)
  local parts, last = {}, 0
  for k, field in ipairs(fields) do
    parts[k] = string.char(field[1] - last << 4 | field[2]) .. field[3]
    last = field[1]
  end
  return table.concat(parts) .. "\0"
end

-- How a number of each physical type is stored: BOOLEAN 0, INT32 1, INT64 2, FLOAT 4, DOUBLE 5,
-- BYTE_ARRAY 6, FIXED_LEN_BYTE_ARRAY of 5 bytes 7.
local formats = { [1] = "<i4", [2] = "<i8", [4] = "<f", [5] = "<d", [6] = "<s4", [7] = "c5" }

local function plain(kind, values)
  local parts = {}
  for k, value in ipairs(values) do
    if kind == 0 then
      local byte = (k - 1) // 8 + 1
      parts[byte] = (parts[byte] or 0) | (value << (k - 1) % 8)
    else
      parts[k] = formats[kind]:pack(value)
    end
  end
  if kind == 0 then return string.char(table.unpack(parts)) end
  return table.concat(parts)
end

-- The first bytes of all numbers, then the second ones, ...
local function split(data, width)
  local parts = {}
  for k = 1, width do
    local bytes = {}
    for at = k, #data, width do bytes[#bytes + 1] = data:sub(at, at) end
    parts[k] = table.concat(bytes)
  end
  return table.concat(parts)
end

-- Definition levels, 1 or 0 for each cell, as runs.
local function levels(cells, from, to)
  local runs = ""
  local i = from
  while i <= to do
    local k, there = i, cells[i] ~= nil
    while k < to and (cells[k + 1] ~= nil) == there do k = k + 1 end
    runs = runs .. unsigned(k - i + 1 << 1) .. (there and "\1" or "\0")
    i = k + 1
  end
  return string.pack("<s4", runs)
end

-- Numbers of `width` bits, the least significant first, up to whole bytes.
local function packed(numbers, width)
  local bytes = {}
  for k = 1, (#numbers * width + 7) // 8 do bytes[k] = 0 end
  for k, x in ipairs(numbers) do
    for bit = 0, width - 1 do
      local at = (k - 1) * width + bit
      bytes[at // 8 + 1] = bytes[at // 8 + 1] | (x >> bit & 1) << at % 8
    end
  end
  return string.char(table.unpack(bytes))
end

local function bits_of(numbers)
  local all, width = 0, 0
  for _, x in ipairs(numbers) do all = all | x end
  while width < 64 and all >> width > 0 do width = width + 1 end
  return width
end

-- Differences in blocks of 128, each of four parts that have their own width.
local function differences(values)
  local data = "\x80\1\4" .. unsigned(#values) .. integer(values[1] or 0)
  for from = 2, #values, 128 do
    local least, widths, parts = math.maxinteger, "", {}
    for k = from, math.min(from + 127, #values) do
      least = math.min(least, values[k] - values[k - 1])
    end
    for first = from, from + 96, 32 do
      local numbers = {}
      for k = first, first + 31 do
        numbers[k - first + 1] = values[k] and values[k] - values[k - 1] - least or 0
      end
      local width = bits_of(numbers)
      widths, parts[#parts + 1] = widths .. string.char(width), packed(numbers, width)
    end
    data = data .. integer(least) .. widths .. table.concat(parts)
  end
  return data
end

-- Places in the dictionary from 0 on: the first as a run of one, the others in eights.
local function places(column, values)
  local at, width, run = {}, bits_of{ #column.words }, ""
  for k, value in ipairs(values) do at[k] = column.words[value] - 1 end
  if #at > 0 then run = "\2" .. ("<I" .. (width + 7) // 8):pack(table.remove(at, 1)) end
  while #at % 8 > 0 do at[#at + 1] = 0 end
  return string.char(width) .. run .. unsigned(#at // 8 << 1 | 1) .. packed(at, width)
end

-- A page of the cells of a column.
local function page(column, from, to)
  local values, how = {}, column.encoding or 0
  for i = from, to do values[#values + 1] = column.cells[i] end
  local data = how == 5 and differences(values) or how == 8 and places(column, values)
    or plain(column.kind, values)
  if how == 9 then data = split(data, column.kind == 4 and 4 or 8) end
  data = levels(column.cells, from, to) .. data
  local head = structure{ { 1, 5, integer(to - from + 1) }, { 2, 5, integer(how) },
    { 3, 5, integer(3) }, { 4, 5, integer(3) } }
  return structure{ { 1, 5, integer(0) }, { 2, 5, integer(#data) }, { 3, 5, integer(#data) },
    { 5, 12, head } } .. data
end

-- The page of all different cells.
local function dictionary(column)
  column.words = {}
  for _, value in pairs(column.cells) do
    if not column.words[value] then
      table.insert(column.words, value)
      column.words[value] = #column.words
    end
  end
  local data = plain(column.kind, column.words)
  return structure{ { 1, 5, integer(2) }, { 2, 5, integer(#data) }, { 3, 5, integer(#data) },
    { 7, 12, structure{ { 1, 5, integer(#column.words) }, { 2, 5, integer(0) } } } } .. data
end

-- The chunk of a column in rows from .. to, in two pages, and its description.
local function chunk(column, from, to, offset)
  local middle, how = (from + to) // 2, column.encoding or 0
  local begin = how == 8 and dictionary(column) or ""
  local data = begin .. page(column, from, middle) .. page(column, middle + 1, to)
  local about = structure{ { 1, 5, integer(column.kind) },
    { 2, 9, list(5, { integer(how), integer(3) }) }, { 3, 9, list(8, { text(column.name) }) },
    { 4, 5, integer(0) }, { 5, 6, integer(to - from + 1) }, { 6, 6, integer(#data) },
    { 7, 6, integer(#data) }, { 9, 6, integer(offset + #begin) },
    how == 8 and { 11, 6, integer(offset) } or nil }
  return data, structure{ { 2, 6, integer(offset) }, { 3, 12, about } }
end

local function element(column)
  local fields = { { 1, 5, integer(column.kind) }, { 3, 5, integer(1) },
    { 4, 8, text(column.name) }, column.converted and { 6, 5, integer(column.converted) } or nil }
  if column.kind == 7 then table.insert(fields, 2, { 2, 5, integer(5) }) end
  if column.scale then
    fields[#fields + 1], fields[#fields + 2] = { 7, 5, integer(column.scale) }, { 8, 5, integer(9) }
  end
  return structure(fields)
end

--- parquet(columns, n): the bytes; each column { name, kind = its physical type, converted = its
--- meaning as a ConvertedType, scale = of decimals, encoding = DELTA_BINARY_PACKED 5,
--- RLE_DICTIONARY 8 of texts, BYTE_STREAM_SPLIT 9, cells = a list of n, nil: one is missing }. Row
--- groups of two thirds and the rest of the rows.
return function(columns, n)
  local bytes, groups, elements = "PAR1", {}, {}
  elements[1] = structure{ { 4, 8, text("schema") }, { 5, 5, integer(#columns) } }
  for _, column in ipairs(columns) do elements[#elements + 1] = element(column) end
  local cut = 2 * n // 3
  for k, part in ipairs{ { 1, cut }, { cut + 1, n } } do
    local chunks, begins = {}, #bytes
    for j, column in ipairs(columns) do
      local data, about = chunk(column, part[1], part[2], #bytes)
      bytes, chunks[j] = bytes .. data, about
    end
    groups[k] = structure{ { 1, 9, list(12, chunks) }, { 2, 6, integer(#bytes - begins) },
      { 3, 6, integer(part[2] - part[1] + 1) } }
  end
  local footer = structure{ { 1, 5, integer(1) }, { 2, 9, list(12, elements) },
    { 3, 6, integer(n) }, { 4, 9, list(12, groups) } }
  return bytes .. footer .. string.pack("<I4", #footer) .. "PAR1"
end

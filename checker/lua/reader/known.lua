--- Files whose cells are known, of formats that many programs write: for readers that recognise
--- them.
local choices = require "scullery_checker.choices"
local core = require "scullery_checker.core"
local files = require "scullery_checker.reader.files"
local plain = require("scullery.base.options").plain

local pack = string.pack

-- A drawing function: numbers from 0 to below n.
local function drawing(seed)
  local list, k = choices.draws(997, seed, 91), 0
  return function(n)
    k = k + 1
    return math.floor(list[k % #list + 1] * 7919 * (1 + k // #list)) % n
  end
end

local words <const> = { "", "a", "b c", "ümlaut", "1.5", 'a, "b";\n',
  "a longer text than all the others" }

local function word(draw)
  return words[1 + draw(#words)] .. (draw(3) == 0 and tostring(draw(90000)) or "")
end

-- Names that a query, or a file of text, has in quotes.
local odd <const> = { 'a "b", c', "it's]\n", "", "ümlaut select" }

-- Each format: f(draw, whether names are odd) -> bytes, names, rows of what cells are: numbers,
-- texts, nil.
local formats = {}

function formats.sqlite(draw, is_odd)
  local rows, N <const> = {}, 700
  for i = 1, N do
    local whole = (draw(2) == 0 and -1 or 1) * draw(200)
    local mixed = ({ whole, whole + 0.625, word(draw) })[1 + draw(4)]
    rows[i] = { mixed, draw(7) > 0 and whole * (1 << draw(40)) or nil, draw(5) > 0
      and whole / 7 or nil, draw(5) > 0 and word(draw) or nil }
  end
  local names = is_odd and odd or { "mixed", "whole", "share", "words" }
  return require "scullery_checker.reader.sqlite"(is_odd and "sqlite's \"by\" [ü]" or "t", names,
    { "", "INTEGER", "REAL", "TEXT" }, rows), names, rows
end

-- Times of a day, or dates, `scale` of them a second.
local function time(scale, is_date)
  return function(draw)
    local x = (is_date and (draw(7000) - 2000) * 86400 or draw(86400)) * scale
    x = x + draw(1000) * scale // 1000
    return x, is_date and ("%d/%d"):format(x, scale) or x / scale
  end
end

local function price(draw)
  local x = draw(7919) - 3000
  return x, x / 100
end

local columns = {
  { "unsigned", 1, 13, function(draw)
    local x = draw(7919) * 542000 % (1 << 32)
    return x < 1 << 31 and x or x - (1 << 32), x
  end },
  { "small", 1, 15, function(draw) return draw(200) - 100 end },
  { "large", 2, nil, function(draw) return (draw(200) - 100) * (1 << draw(50)) end },
  { "yes", 0, nil, function(draw) return draw(2) end },
  { "single", 4, nil, function(draw) return (draw(2000) - 1000) / 8 end },
  { "double", 5, nil, function(draw) return (draw(2000) - 1000) / 7 end },
  { "words", 6, 0, word },
  { "day", 1, 6, function(draw) return draw(40000) - 10000 end },
  { "clock_ms", 1, 7, time(1000) }, { "clock_us", 2, 8, time(1000000) },
  { "ms", 2, 9, time(1000, true) }, { "us", 2, 10, time(1000000, true) },
  { "price", 1, 5, price, scale = 2 },
}

-- Decimals in bytes, the most significant first.
local decimals = {}
for k, format in ipairs{ ">i3", ">i5" } do
  decimals[k] = { "price" .. k, 5 + k, 5, function(draw)
    local x, shown = price(draw)
    return format:pack(x), shown
  end, scale = 2 }
end

-- Cells of these columns, some of them missing, and the bytes that write(columns, N, ...) makes.
local function written(write, draw, N, chosen, is_odd, ...)
  local rows, names, list = {}, {}, {}
  for i = 1, N do rows[i] = {} end
  for j, column in ipairs(chosen) do
    local name, kind, converted, make = table.unpack(column, 1, 4)
    name = is_odd and odd[j] or name
    local cells = {}
    for i = 1, N do
      if j % 4 == 3 or draw(6) > 0 then
        local shown
        cells[i], shown = make(draw)
        rows[i][j] = shown or cells[i]
      end
    end
    names[j] = name
    list[j] = { name = name, kind = kind, converted = converted, scale = column.scale,
      encoding = column.encoding, format = column.format, code = column.code, cells = cells }
  end
  return require("scullery_checker.reader." .. write)(list, N, ...), names, rows
end

local function parquet(...) return written("parquet", ...) end

function formats.parquet(draw, is_odd) return parquet(draw, 61, columns, is_odd) end

formats["split parquet"] = function(draw)
  local single, double = table.move(columns[5], 1, 4, 1, { encoding = 9 }),
    table.move(columns[6], 1, 4, 1, { encoding = 9 })
  return parquet(draw, 40001, { single, double })
end

-- Decimals, differences of few bits and of many, and words of a dictionary.
formats["packed parquet"] = function(draw)
  return parquet(draw, 700, { { "wide", 2, nil, function(d)
    return d(7919) - 4000 << 47 * d(2)
  end, encoding = 5 }, { "narrow", 1, nil, function(d) return d(9) - 4 end, encoding = 5 },
    table.move(columns[7], 1, 4, 1, { encoding = 8 }), { "bytes", 6, 0, function(d)
      return "w" .. d(200)
    end, encoding = 8 }, decimals[1], decimals[2] })
end

-- Pages of more rows than a reader holds at once.
formats["long parquet"] = function(draw)
  return parquet(draw, 14001, { columns[4], columns[2], columns[7] })
end

-- Whole numbers of a format, of Arrow.
local function whole(format)
  local is_signed, bits = format:find "i", 8 * format:sub(2)
  return { format, 2, { pack("<i4", bits), is_signed and "\1" }, function(draw)
    local x = draw(200) << draw(bits - 7)
    x = is_signed and (draw(2) == 0 and -x or x) // 2 or x
    return x, x < 0 and not is_signed and x + 2.0 ^ 64 or x
  end, format = "<" .. format }
end

-- Times of that kind and unit, 10^(3 unit) of them a second.
local function times(name, kind, unit, bits)
  return { name .. unit, kind, { pack("<i2", unit), bits and pack("<i4", bits) },
    time(1000 ^ unit // 1 | 0, kind == 10), format = bits == 32 and "<i4" or "<i8" }
end

local function decimal(scale, bits, factor)
  return { "decimal" .. bits, 7, { pack("<i4", 9), pack("<i4", scale), pack("<i4", bits) },
    function(draw)
      local x = (draw(7919) - 3000) * factor
      return x, x / 10.0 ^ scale
    end, format = "<i" .. bits // 8 }
end

local halves <const> = { 0xc000, -2, 1, 2.0 ^ -24, 0x3555, 1365 / 4096 }

local function half(draw)
  local k = 2 * draw(3) + 1
  return halves[k], halves[k + 1]
end

local arrow = { { "words", 5, {}, word, code = "<i1" }, whole "i2",
  { "large", 20, {}, word }, { "views", 24, {}, word }, { "codes", 2, whole("i4")[3],
    function(draw) return draw(50) - 20 end, format = "<i4", code = "<I2" },
  { "yes", 6, {}, function(draw) return draw(2) end }, whole "I1", whole "i1", whole "i8",
  { "half", 3, {}, half, format = "<I2" }, { "single", 3, { pack("<i2", 1) }, columns[5][4],
    format = "<f" }, { "double", 3, { pack("<i2", 2) }, columns[6][4], format = "<d" },
  { "plain", 5, {}, word }, { "day", 8, { "\0\0" }, columns[8][4], format = "<i4" },
  times("stamp", 10, 1), times("stamp", 10, 3), times("clock", 9, 0, 32),
  times("clock", 9, 2, 64), times("span", 18, 3), whole "I2", whole "I4", whole "i4", whole "I8",
  decimal(2, 32, 1), decimal(3, 64, 1), decimal(20, 128, 1 << 48),
  { "views2", 24, {}, word, code = "<i4" }, { "last", 5, {}, word } }

function formats.arrow(draw, is_odd) return written("arrow", draw, 61, arrow, is_odd, "file") end
for _, form in ipairs{ "streamed", "packed" } do
  formats[form .. " arrow"] = function(draw)
    return written("arrow", draw, 61, arrow, false, form)
  end
end
formats["long arrow"] = function(draw)
  return written("arrow", draw, 14001, { arrow[27], arrow[6], arrow[12], arrow[28] }, false, "file")
end

local function expect_cell(t, got, want, what, i, name)
  local shown = got ~= "-" and got:gsub("^%S+ ", "") or nil
  local same = shown == want or want ~= nil and type(want) ~= "string"
    and math.abs((tonumber(shown) or math.huge) - want) <= 1e-12 * math.abs(want)
  t:expect(same, "%s: row %d, column '%s' is read as %s, and it is %s", what, i, name,
    shown and ("'%s'"):format(shown) or "missing", want == nil and "missing"
    or ("'%s'"):format(want))
end

-- Some columns from a part on, which is where reading may begin.
local function check_parts(t, instance, path, names, rows, what)
  local chosen = { #names, 2 }
  local file <close>, _, parts = core.reader_open(instance, path)
  if not core.reader_choose(file, chosen) then return end
  local from = #parts > 1 and parts[1] or 0
  if from > 0 then core.reader_seek(file, 2) end
  local all = files.rest(file)
  t:expect(#all == #rows - from, "%s: %d rows behind row %d", what, #all, from)
  for i, row in ipairs(all) do
    for k, j in ipairs(chosen) do
      expect_cell(t, row[k], rows[from + i][j], what .. ", two columns", from + i, names[j])
    end
  end
end

-- Whether it reads the format; nil where it does not recognise it.
local function check_format(t, instance, format, is_odd)
  local bytes, names, rows = formats[format](drawing(t.seed), is_odd)
  if not core.reader_recognises("reader", t.subject.name, bytes:sub(1, 4096)) then return end
  local path = os.tmpname()
  files.write(path, bytes)
  local what = ("another writer's %s file%s"):format(format, is_odd and ", odd names" or "")
  local ok, all, found = pcall(files.rows, instance, path)
  local fine, raised = true, nil
  if ok then fine, raised = pcall(check_parts, t, instance, path, names, rows, what) end
  os.remove(path)
  local sentence = not ok and plain(tostring(all)) or ""
  local blames = sentence:find "damage" or sentence:find "corrupt" or sentence:find "smaller"
  t:expect(ok or not (is_odd or blames), "%s, which is whole: %s", what, sentence)
  if not ok then return false end -- of a table, or of types, that it does not read
  if not fine then error(raised, 0) end
  t:expect(#all == #rows, "%s: %d rows in place of %d", what, #all, #rows)
  for j, name in ipairs(names) do
    t:expect(found[j] == name, "%s: column %d is named '%s' in place of '%s'", what, j,
      tostring(found[j]), name)
    for i, row in ipairs(rows) do expect_cell(t, all[i][j], row[j], what, i, name) end
  end
  return true
end

local function run(t)
  local any = false
  for _, family in ipairs{ { "parquet", "split parquet", "long parquet", "packed parquet" },
    { "sqlite" }, { "arrow", "streamed arrow", "packed arrow", "long arrow" } } do
    local instance = t:instance(t.subject:make{})
    for k, format in ipairs(family) do
      local known = check_format(t, instance, format)
      if known == nil then break end
      any = any or known
      if known and k == 1 then check_format(t, instance, format, true) end
    end
  end
  if not any then t:skip("it reads none of the formats that are known") end
end

return { name = "known-files", about = "files of other writers have the cells that were written",
  run = run }

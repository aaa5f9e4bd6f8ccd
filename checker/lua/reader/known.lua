--- Files whose cells are known, of formats that many programs write: for readers that recognise
--- them.
local choices = require "scullery_checker.choices"
local core = require "scullery_checker.core"
local files = require "scullery_checker.reader.files"
local plain = require("scullery.base.options").plain

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
      and whole + 0.375 or nil, draw(5) > 0 and word(draw) or nil }
  end
  local names = is_odd and odd or { "mixed", "whole", "share", "words" }
  return require "scullery_checker.reader.sqlite"(is_odd and "group \"by\" it's [ü]" or "t", names,
    { "", "INTEGER", "REAL", "TEXT" }, rows), names, rows
end

-- A day is 86400 seconds; times of day are seconds, times integers per second.
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
  { "clock_ms", 1, 7, function(draw)
    local x = draw(86400) * 1000 + draw(8) * 125
    return x, x / 1000
  end },
  { "clock_us", 2, 8, function(draw)
    local x = draw(86400) * 1000000 + draw(8) * 125000
    return x, x / 1000000
  end },
  { "ms", 2, 9, function(draw)
    local x = (draw(7000) - 2000) * 86400000 + draw(1000)
    return x, ("%d/1000"):format(x)
  end },
  { "us", 2, 10, function(draw)
    local x = (draw(7000) - 2000) * 86400000000 + draw(1000)
    return x, ("%d/1000000"):format(x)
  end },
  { "price", 1, 5, function(draw)
    local x = draw(7919) - 3000
    return x, x / 100
  end, scale = 2 },
}

-- Decimals in bytes, the most significant first.
local decimals = { columns[4] }
for k, format in ipairs{ ">i3", ">i5" } do
  decimals[k + 1] = { "price" .. k, 5 + k, 5, function(draw)
    local x = draw(7919) - 3000
    return format:pack(x), x / 100
  end, scale = 2 }
end

local function parquet(draw, N, chosen, is_odd)
  local rows, names, list = {}, {}, {}
  for i = 1, N do rows[i] = {} end
  for j, column in ipairs(chosen) do
    local name, kind, converted, make = table.unpack(column, 1, 4)
    name = is_odd and odd[j] or name
    local cells = {}
    for i = 1, N do
      if draw(6) > 0 then
        local shown
        cells[i], shown = make(draw)
        rows[i][j] = shown or cells[i]
      end
    end
    names[j] = name
    list[j] = { name = name, kind = kind, converted = converted, scale = column.scale,
      encoding = column.encoding, cells = cells }
  end
  return require "scullery_checker.reader.parquet"(list, N), names, rows
end

function formats.parquet(draw, is_odd) return parquet(draw, 61, columns, is_odd) end

formats["split parquet"] = function(draw)
  local single, double = table.move(columns[5], 1, 4, 1, { encoding = 9 }),
    table.move(columns[6], 1, 4, 1, { encoding = 9 })
  return parquet(draw, 40001, { single, double })
end

formats["decimal parquet"] = function(draw) return parquet(draw, 61, decimals) end

-- Differences of few bits and of many, and words of a dictionary.
formats["packed parquet"] = function(draw)
  return parquet(draw, 700, { { "wide", 2, nil, function(d)
    return d(7919) - 4000 << 47 * d(2)
  end, encoding = 5 }, { "narrow", 1, nil, function(d) return d(9) - 4 end, encoding = 5 },
    table.move(columns[7], 1, 4, 1, { encoding = 8 }), { "bytes", 6, 0, function(d)
      return "w" .. d(200)
    end, encoding = 8 } })
end

-- Pages of more rows than a reader holds at once.
formats["long parquet"] = function(draw)
  return parquet(draw, 14001, { columns[4], columns[2], columns[7] })
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
  local what = ("a %s file of another writer%s"):format(format, is_odd and ", odd names" or "")
  local ok, all, found = pcall(files.rows, instance, path)
  local fine, raised = true, nil
  if ok then fine, raised = pcall(check_parts, t, instance, path, names, rows, what) end
  os.remove(path)
  local sentence = not ok and plain(tostring(all)) or ""
  local blames = sentence:find "damage" or sentence:find "corrupt"
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
  for _, family in ipairs{ { "parquet", "decimal parquet", "split parquet", "long parquet",
    "packed parquet" },
    { "sqlite" } } do
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

-- sc.data.read: formats by their first bytes, as their own readers read them; databases of SQLite.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local source = os.getenv "SCULLERY_SOURCE" or "."
package.path = source .. "/tests/helpers/?.lua;" .. package.path
local support = require "support"
local fails = support.fails

local database = source .. "/tests/fuzz/seeds/read_sqlite/tables.sqlite"
local quiet = { table = "t", quiet = true }

-- The fields of `more` added to those of `given`.
local function with(given, more)
  local copy = {}
  for _, one in ipairs{ given, more or {} } do
    for name, value in pairs(one) do copy[name] = value end
  end
  return copy
end

-- ------------ formats

function TestFormats()
  support.in_folder(function(folder)
    local X, path = sc.randn{ 12, 3, seed = 1 }, folder .. "/file" -- a name without an ending
    local y = {}
    for i = 1, 12 do y[i] = i % 2 end
    local ds = sc.dataset{ X = X, y = y }
    local function moved(ending, save)
      save(path .. ending)
      assert(os.rename(path .. ending, path))
      return sc.data.read(path)
    end
    local function rows(one) lu.assertTrue(one.X == X) lu.assertTrue(one.y == ds.y) end
    rows(moved(".npz", function(to) ds:save(to) end))
    lu.assertTrue(moved(".npy", function(to) X:save(to) end) == X)
    local text = { "# a comment" }
    for i = 1, 12 do
      text[i + 1] = ("%d 1:%.17g 2:%.17g 3:%.17g"):format(y[i], X:get(i, 1), X:get(i, 2),
        X:get(i, 3))
    end
    support.write(path, table.concat(text, "\n") .. "\n")
    lu.assertTrue(sc.data.read(path, { task = "classification" }).X == X)
    support.write(path, "a,y\n0.5,p\n0.25,q\n0.125,p\n1,q\n")
    lu.assertEquals(sc.data.read(path, { quiet = true }).X:totable(),
      { { 0.5 }, { 0.25 }, { 0.125 }, { 1 } })
    support.write(path, "%%MatrixMarket matrix array real general\n2 1\n5\n7\n")
    lu.assertEquals(sc.data.read(path):totable(), { { 5 }, { 7 } })
    support.write(path, ("\0\0\8\3" .. ("\0\0\0\2"):rep(3)) .. "\1\2\3\4\5\6\7\8")
    lu.assertEquals(sc.data.read(path).X:totable(), { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } })
    support.write(path, "1\n-1\n1 2:5\n") -- the first rows are zeros
    lu.assertEquals(sc.data.read(path).X:totable(), { { 0, 0 }, { 0, 0 }, { 0, 5 } })
    support.write(path, "2024-01-01 10:30,y\n1,2\n3,4\n")
    lu.assertEquals(sc.data.read(path, { quiet = true }).names, { "2024-01-01 10:30" })
    support.write(path, "PAR1....")
    fails({ "a Parquet file" }, sc.data.read, path)
    assert(os.execute("gzip -c " .. path .. " > " .. path .. ".gz"))
    fails({ "a Parquet file packed by gzip: gunzip unpacks it" }, sc.data.read, path .. ".gz")
    support.write(path, "PK\3\4" .. ("\0"):rep(22) .. "\11\0\0\0[Types].xml<a/>")
    fails({ 'begins with "[Types].xml"', "a spreadsheet is saved as CSV" }, sc.data.read, path)
    support.write(path, "\xFD7zXZ\0")
    fails({ "is compressed by xz" }, sc.data.read, path)
    support.write(path, "")
    fails({ "file" }, sc.data.read, path)
    sc.pipeline{ sc.solver.ridge{ lambda = 1 } }:fit(ds):save(path)
    fails({ "is a saved model: sc.load" }, sc.data.read, path)
  end)
  fails({ "no such file" }, sc.data.read, "/nowhere/rows")
  fails({ "this is a folder" }, sc.data.read, "/tmp")
  fails({ "standard input" }, sc.data.read, "-")
  fails({ "takes a path" }, sc.data.read, 7)
  fails({ "option 'query' is for a database" }, sc.data.read, source .. "/README.md",
    { query = "select 1" })
end

-- ------------ databases

local function need_sqlite()
  lu.skipIf(core.reader_of(database) == nil, "this build reads no databases of SQLite")
end

function TestRowsOfATable()
  need_sqlite()
  local ds = sc.data.read(database, quiet)
  lu.assertEquals({ ds:size(), ds.task }, { 24, "classification" })
  lu.assertEquals(ds.names, { "a", "b=say \"hi\"", "b=two\nlines", "b=x,y" })
  for i = 0, 23 do -- as the file was made
    local a = i % 2 == 0 and i or i * 0.1
    if i ~= 5 then lu.assertEquals(ds.X:get(i + 1, 1), a) end
    for k = 0, 2 do lu.assertEquals(ds.X:get(i + 1, 2 + k), i % 3 == k and 1 or 0) end
    lu.assertEquals(ds.classes[ds.y:get(i + 1, 1)], i % 4 == 0 and "q" or "p")
  end
  lu.assertEquals(ds.schema.columns[1].name, "a") -- a missing number is filled, as of CSV
end

function TestQueriesAndStreams()
  need_sqlite()
  local query = "select b, a from t where a is not null order by a -- the last\n;"
  local given = { query = query, target = "a", quiet = true }
  local whole = sc.data.read(database, given)
  lu.assertEquals({ whole:size(), whole.task }, { 23, "regression" })
  local stream = sc.data.read(database, with(given, { stream = true }))
  collectgarbage()
  lu.assertTrue(sc.pipeline{ sc.standardize() }:fit(stream):transform(stream)
    == sc.pipeline{ sc.standardize() }:fit(whole):transform(whole))
  collectgarbage()
  local p = sc.pipeline{ sc.solver.ridge{ lambda = 1e-3 } }
  lu.assertAlmostEquals(p:fit(stream):score(stream), p:fit(whole):score(whole), 1e-12)
  local like = sc.data.read(database, { query = "select b from t limit 2", like = whole,
    quiet = true })
  lu.assertEquals(like.X:rows(), 2)
end

function TestRefused()
  need_sqlite()
  local before = support.read(database)
  local function refuses(words, given) fails({ words }, sc.data.read, database, given) end
  refuses("several tables: option 'table' names one of odd \" name, t")
  refuses("no such table: nothere", { table = "nothere" })
  refuses("row 4 has bytes (a BLOB) in column 'y'", { table = 'odd " name' })
  refuses("data.read: unknown option 'tabel'; it takes", { tabel = "t", table = "t" })
  refuses("were both given", { table = "t", query = "select 1" })
  refuses("option 'query' got 7", { query = 7 })
  refuses("'header' and 'separator' are for text", { table = "t", header = true })
  for _, query in ipairs{ "delete from t", "insert into t values (1, 2, 3)", "drop table t",
    "update t set a = 1", "create table z (a)", "pragma journal_mode = wal",
    "attach '/tmp/other' as x", "begin" } do
    refuses("takes one that reads alone", { query = query })
  end
  refuses("one statement", { query = "select a from t; select b from t" })
  refuses("one statement", { query = " -- nothing\n" })
  refuses("gives no rows", { query = "vacuum into '/tmp/scullery_other'" })
  refuses("row 1 has a text with a zero byte in column 'b'",
    { query = "select a, cast(x'610062' as text) as b from t" })
  refuses("row 1, column 2 (b): no UTF-8", { query = "select a, cast(x'e9' as text) as b from t" })
  refuses("row 1, column 2 (b): '5%' is not", { query = "select a, '5%' as b from t" })
  refuses("syntax error", { query = "select from where" })
  refuses("not authorized to use function: load_extension",
    { query = "select load_extension('x'), 1" })
  lu.assertEquals(support.read(database), before)
end

-- Numbers that go to the matrix as they are give what the same cells give as text, or its sentence.
function TestNumbersAreThoseOfText()
  need_sqlite()
  math.randomseed(1)
  local random, path = math.random, support.memory_path()
  local number = {
    function() return ("%.17g"):format(random() * 10.0 ^ random(-310, 15)) end,
    function() return ("%d"):format(random(-1100, 1100)) end,
    function() return ("%d"):format(random(-1, 1) * ((1 << random(20, 53)) + random(-1, 1))) end,
    function() return ("%d"):format(random(10 ^ 14, 9 * 10 ^ 14) * 10) end,
    function() return ("%.2f"):format(random(-3, 3) / 4) end,
    function() return "-0.0" end,
  }
  local odd = { "null", "'x'", "'0.25'", "'2024-02-29'", "9e999", "1e300", "'a \1 b'" }
  local options = { {}, { dtype = "float32" }, { levels = { "b" } }, { missing = { "-9", "0.25" } },
    { weights = "b" }, { groups = "b" }, { time = "b" }, { missing_values = "row" },
    { sparse = true }, { levels = { "y" } }, { skip = { "a" } }, { target = false },
    { numeric = { "a" } }, { target = "b" } }
  for _ = 1, support.sanitized and 60 or 200 do
    local rows, kinds, given = {}, {}, options[random(#options)]
    for j = 1, 3 do kinds[j] = number[random(#number)] end
    for i = 1, random(2, 60) do
      local cells = {}
      for j = 1, 3 do
        local one = random(9) == 1 and number[random(#number)] or kinds[j]
        cells[j] = random(70) == 1 and odd[random(#odd)] or one()
      end
      rows[i] = "(" .. table.concat(cells, ",") .. ")"
    end
    local query = ("with r(a, b, y) as (values %s) select * from r"):format(
      table.concat(rows, ","))
    local reader = core.instance("reader", "sqlite", { query = query })
    local handle, name = core.reader_file(reader, database)
    support.write(path, core.read_text(name))
    local stream = random(3) == 1 or nil
    given = with(given, { quiet = true, stream = stream })
    local function read(from, more) -- what it is, in one table
      local ok, ds = pcall(sc.data.csv, from, with(given, more))
      local file = from:gsub("%p", "%%%0")
      if not ok then return { (ds:gsub(file, "FILE"):gsub(", line %d+", "")) } end
      local X = stream and sc.pipeline{ sc.stage.scale() }:fit(ds):transform(ds) or ds.X
      return { X, ds.y, ds.names, ds.schema, ds.classes, ds.task, ds.weights, ds.groups, ds.time }
    end
    local as_text, as_it_is = read(path), read(name, { header = true, separator = "," })
    lu.assertEquals(as_it_is, as_text, query .. lu.prettystr(given))
    lu.assertNotNil(handle)
  end
  os.remove(path)
end

-- Ids are the decimals of numbers, however long, and texts with any first byte.
function TestIdsAndNames()
  need_sqlite()
  local function open(query)
    return core.reader_file(core.instance("reader", "sqlite", { query = query }), database)
  end
  local function ids(rows)
    local like = sc.data.read(database, { query = "select 1 as x", target = false, quiet = true })
    local handle, name = open("select k, 1 as x from " .. rows)
    local blocks, list = core.csv_blocks(name, { like = like.schema }, "k"), {}
    for _, more in core.next_rows, blocks, true do table.move(more, 1, #more, #list + 1, list) end
    lu.assertNotNil(handle)
    return list
  end
  local long = ids [[(with recursive r(i) as (select 1 union all select i + 1 from r where i < 9000)
    select -i / 7.0 * 1e-9 as k from r)]]
  lu.assertEquals(#long, 9000)
  for i, text in ipairs(long) do lu.assertEquals(tonumber(text), -i / 7.0 * 1e-9) end
  lu.assertEquals(ids [[(select 1000000000000000 as k union all select 1e15 union all
    select char(1) || 'a' union all select 0.5 union all select 7)]],
    { "1000000000000000", "1000000000000000", "\1a", "0.5", "7" })
  -- names that are numbers are names
  local handle, name = open 'select 1.5 as "0", 2.5 as "1"'
  local X = core.next_rows(core.csv_blocks(name, { like = { format = "csv", header = false,
    by_place = true, columns = { { name = "a", kind = "number" }, { name = "b", kind = "number" } },
    cols = 2, missing = core.csv_missing(), missing_values = "error" } }))
  lu.assertEquals({ X:totable(), handle ~= nil }, { { { 1.5, 2.5 } }, true })
end

-- Files with bytes that are cut off or changed give a data set or a sentence.
function TestBentFiles()
  need_sqlite()
  local bytes, seed = support.read(database), 7
  local function random(n)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed // 65536 % n
  end
  local path = support.memory_path()
  for i = 1, support.sanitized and 100 or 300 do
    local bent = bytes
    if i % 4 == 0 then bent = bytes:sub(1, 16 + random(#bytes - 16)) end
    for _ = 1, 1 + random(4) do
      local at = 17 + random(#bent - 16)
      bent = bent:sub(1, at - 1) .. string.char(random(256)) .. bent:sub(at + 1)
    end
    support.write(path, bent)
    local ok, said = pcall(sc.data.read, path, quiet)
    if not ok then lu.assertStrMatches(said, ".*data%.read: .+") end
  end
  os.remove(path)
end

os.exit(lu.LuaUnit.run())

--- CSV files to sparse rows: the same numbers as dense rows, whatever else is asked for.
-- luacheck: globals TestRows TestUse
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local reading = require "reading"

local file, refuses = reading.file, reading.refuses

-- n lines with numbers, zeros, dates, texts of `levels` levels, missing fields, weights and groups.
local function lines_of(n, levels, seed)
  local U = sc.rand{ n, 4, seed = seed }
  local lines = { "size,city,when,weight,shop,group,count,label" }
  for i = 1, n do
    local size = i % 9 == 0 and "" or ("%.5g"):format(U:get(i, 1) - 0.4)
    local city = i % 11 == 0 and "?" or ("c%d"):format(math.floor(levels * U:get(i, 2)))
    local shop = ("\"s, %d\""):format(math.floor(levels * U:get(i, 3) ^ 3))
    lines[i + 1] = table.concat({ size, city, ("2024-01-%02d"):format(i % 28 + 1),
      ("%.3f"):format(U:get(i, 4)), shop, "g" .. i % 5, i % 4, i % 3 == 0 and "yes" or "no" }, ",")
  end
  return lines
end

local function text_of(lines) return table.concat(lines, "\n") .. "\n" end

local function read(path, o, sparse)
  local all = { quiet = true, sparse = sparse }
  for key, value in pairs(o) do all[key] = value end
  return sc.data.csv(path, all)
end

local function same(dense, sparse)
  lu.assertTrue(sparse.X.sparse)
  lu.assertFalse(dense.X.sparse)
  lu.assertTrue(sparse.X == dense.X)
  lu.assertEquals(sparse.X:dtype(), dense.X:dtype())
  lu.assertEquals(sparse.names, dense.names)
  lu.assertEquals(sparse.part_rows, dense.part_rows)
  for _, name in ipairs{ "y", "weights", "groups", "time" } do
    lu.assertTrue(sparse[name] == dense[name], name)
  end
end

TestRows = {}

function TestRows.test_the_same_numbers()
  local path = file(text_of(lines_of(400, 30, 1)))
  local more = file(text_of(lines_of(90, 40, 2)))
  for _, o in ipairs{ {}, { dtype = "float32" }, { weights = "weight", groups = "group" },
    { time = "when" }, { missing_values = "row" },
    { skip = { "city" }, groups = "shop" }, { categorical = "drop" }, { levels = { "count" } } } do
    same(read(path, o, false), read(path, o, true))
    same(read({ path, more }, o, false), read({ path, more }, o, true))
  end
  refuses({ "value is missing" }, read, path, { missing_values = "error" }, true)
  refuses({ "'sparse' got" }, read, path, {}, 3)
  refuses({ "'sparse'", "'derive'" }, read, path, { derive = { a = "size + 1" } }, true)
  local derived = read(path, { derive = { a = "size + 1" } })
  lu.assertFalse(derived.X.sparse)
end

function TestRows.test_like()
  local train = file(text_of(lines_of(300, 20, 3)))
  local other = file(text_of(lines_of(100, 40, 4))) -- with texts that are not known
  local dense, sparse = read(train, {}, false), read(train, {}, true)
  lu.assertEquals(sparse.schema, dense.schema)
  same(read(other, { like = dense }, false), read(other, { like = sparse }, true))
  local at, X = 0, read(other, { like = dense }, false).X
  for rows in sc.data.csv_blocks(other, { like = sparse, sparse = true, quiet = true }) do
    lu.assertTrue(rows.sparse)
    lu.assertTrue(rows == X:slice(at + 1, at + rows:rows()))
    at = at + rows:rows()
  end
  lu.assertEquals(at, 100)
end

function TestRows.test_streams()
  local path = file(text_of(lines_of(500, 30, 5)))
  local function rows(sparse)
    local ds = read(path, { stream = true, weights = "weight" }, sparse)
    return { core.read_rows(ds.source, 1, 500) }, ds
  end
  local dense, one = rows(false)
  local sparse, two = rows(true)
  lu.assertTrue(dense[1] == sparse[1] and dense[2] == sparse[2])
  lu.assertTrue(one.weights == two.weights)
  lu.assertTrue(select(1, core.read_rows(two.source, 1, 9)) == dense[1]:slice(1, 9))
end

-- By itself: above 1000 columns, of which a row fills less than a tenth.
function TestRows.test_by_itself()
  local function texts(count)
    local lines = { "a,b" }
    for i = 1, 2 * count do lines[i + 1] = ("t%d,%d"):format(i % count, i) end
    return read(file(text_of(lines)), { target = "b", levels = { "a" } }).X
  end
  lu.assertTrue(texts(1001).sparse)
  lu.assertFalse(texts(1000).sparse)
  lu.assertEquals(texts(1200):nnz(), 2400)
  lu.assertEquals(texts(30000):cols(), 30000)
end

TestUse = {}

function TestUse.test_described_by_the_columns_of_the_file()
  local ds = read(file(text_of(lines_of(60, 12, 6))), {}, true)
  local dense = ds:dense()
  lu.assertEquals(ds:head(3), dense:head(3))
  lu.assertStrContains(getmetatable(ds).__display(ds, {}), "category of")
  lu.assertStrContains(tostring(ds:describe()), "numbers in a row")
  local train, test = ds:split{ test = 0.3 }
  lu.assertEquals(#train + #test, 60)
end

-- A model of sparse rows predicts what one of dense rows does.
function TestUse.test_models()
  local path = file(text_of(lines_of(300, 20, 7)))
  local other = file(text_of(lines_of(100, 30, 8)))
  local dense, sparse = read(path, {}, false), read(path, {}, true)
  local function fit(ds)
    return sc.pipeline{ sc.solver.ridge{ lambda = 1e-2 } }:fit(ds)
  end
  local one, two = fit(dense), fit(sparse)
  local X = read(other, { like = dense }, false).X
  local gap = (one:decision(X) - two:decision(sc.matrix.csr(X))):abs():max()
  lu.assertTrue(gap < 1e-9, gap)
end

os.exit(lu.LuaUnit.run())

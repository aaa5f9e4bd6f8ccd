--- Schemas: a second file is read as the first was, columns by name; rows that are read once.
-- luacheck: globals TestLike TestBlocks
-- luacheck: ignore 212/self
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local reading = require "reading"

local file, rows, refuses = reading.file, reading.rows, reading.refuses
local read, run = reading.read, reading.shell

local program = arg[-1] or "scullery"

local train = "u,v,shape,colour\n1,2,round,red\n3,,square,blue\n5,6,round,red\n,8,round,blue\n"

-- ------------ reading alike

TestLike = {}

function TestLike:test_columns_are_matched_by_name_and_put_in_order()
  local ds = read(train)
  local new = read("shape,note,v,colour,u\nsquare,n1,7,blue,9\nround,n2,6,red,5\n", { like = ds })
  lu.assertEquals(new.names, ds.names)
  lu.assertEquals(rows(new.X), { { 9, 7, 0, 1 }, { 5, 6, 1, 0 } })
  lu.assertEquals({ new.classes, new:labels() }, { { "blue", "red" }, { "blue", "red" } })
  lu.assertEquals(new.schema.columns, ds.schema.columns)
end

function TestLike:test_a_missing_column_is_named()
  local ds = read(train)
  refuses({ "data.csv: ", "the column 'v' is missing", "'shape', 'u'" }, read, "shape,u\nround,1\n",
    { like = ds, target = false })
  refuses("the columns 'u', 'v' are missing", read, "shape,colour\nround,red\n", { like = ds })
end

function TestLike:test_unknown_categories_are_zero_in_all_columns()
  local ds = read(train)
  lu.assertEquals(rows(read("u,v,shape\n1,2,oval\n3,4,round\n", { like = ds }).X),
    { { 1, 2, 0, 0 }, { 3, 4, 1, 0 } })
  lu.assertEquals(rows(read("u,v,shape\n1,2,\n", { like = ds }).X), { { 1, 2, 0, 0 } })
  local gaps = read("s,y\na,1\n?,2\n")
  lu.assertEquals(rows(read("s,t\n?,1\nb,1\n", { like = gaps }).X), { { 0, 1 }, { 0, 0 } })
end

function TestLike:test_missing_numbers_become_what_they_became_in_training()
  local ds = read(train)
  lu.assertEquals(ds.schema.columns[1].fill, 3)
  lu.assertEquals(rows(read("u,v,shape\n100,200,round\n,,round\n", { like = ds }).X),
    { { 100, 200, 1, 0 }, { 3, 6, 1, 0 } })
  refuses({ "row 2, column 1 (u)", "missing" }, read, "u,v,shape\n1,2,round\n,2,round\n",
    { like = ds, missing_values = "error" })
  local strict = read("a,y\n1,2\n", { missing_values = "error" })
  refuses("the value is missing", read, "a\n?\n", { like = strict })
end

function TestLike:test_number_columns_hold_numbers()
  refuses({ "row 2, column 1 (u), line 3", "'many' is not a number" }, read,
    "u,v,shape\n1,2,round\nmany,2,round\n", { like = read(train) })
end

function TestLike:test_categories_may_look_like_numbers()
  local ds = read("k,y\n1,1\nx,2\n2,3\n")
  lu.assertEquals(rows(read("k\n2\n1\n7\n", { like = ds }).X),
    { { 0, 1, 0 }, { 1, 0, 0 }, { 0, 0, 0 } })
end

function TestLike:test_the_target_may_be_absent_or_another()
  local ds = read(train)
  lu.assertNil(read("u,v,shape\n1,2,round\n", { like = ds }).y)
  lu.assertNil(read(train, { like = ds, target = false }).y)
  local other = read("u,v,shape,hue\n1,2,round,green\n", { like = ds, target = "hue" })
  lu.assertEquals({ other.classes, other.target, other.schema.target.name },
    { { "green" }, "hue", "hue" })
  refuses("'target' names 'colour'", read, "u,v,shape\n1,2,round\n",
    { like = ds, target = "colour" })
end

function TestLike:test_labels_keep_their_task_and_kind()
  local texts = read("a,y\n1,x\n2,7\n")
  lu.assertEquals(read("a,y\n1,7\n2,7\n", { like = texts }).classes, { "7" })
  local numbers = read("a,y\n1,3\n2,4\n", { task = "classification" })
  local new = read("a,y\n1,4\n2,4\n", { like = numbers })
  lu.assertEquals({ new.task, new.classes }, { "classification", { 4 } })
  lu.assertEquals(read("a,class\n1,4\n2,4\n", { like = read("a,class\n1,0.5\n2,4\n") }).task,
    "regression")
end

function TestLike:test_files_without_a_header_go_by_place()
  local ds = read("1,a,5\n2,b,6\n3,a,7\n")
  lu.assertEquals(rows(read("4,b,8\n", { like = ds }).X), { { 4, 0, 1 } })
  lu.assertEquals(rows(read("4,b\n", { like = ds }).X), { { 4, 0, 1 } })
  refuses({ "4 columns and no header", "2 columns and a target" }, read, "4,b,8,9\n", { like = ds })
  lu.assertEquals(rows(read("b,4\n", { like = ds, columns = { "x2", "x1" } }).X), { { 4, 0, 1 } })
  refuses("missing", read, "1,2,round\n", { like = read(train) })
  lu.assertEquals(rows(read("1,2,round\n", { like = read(train), header = false }).X),
    { { 1, 2, 1, 0 } })
end

function TestLike:test_dropped_columns_stay_dropped_and_equal_names_are_refused()
  local ds = read("a,c,b,y\n1,2,x,3\n4,5,y,6\n", { categorical = "drop" })
  lu.assertEquals(rows(read("c,y,a\n7,0,8\n", { like = ds }).X), { { 8, 7 } })
  refuses("columns 1 and 2 are both called 'a'", read, "a,a,y\n1,2,3\n4,5,6\n")
end

function TestLike:test_separator_and_words_for_missing_come_along()
  local ds = read("a|b|y\n1|-9|3\n4|5|6\n7|8|9\n", { separator = "|", missing = "-9" })
  lu.assertEquals(rows(read("b|a\n-9|2\n", { like = ds }).X), { { 2, 6.5 } })
  lu.assertEquals(rows(read("b;a\n1;2\n", { like = ds }).X), { { 2, 1 } })
end

function TestLike:test_a_fitted_pipeline_and_a_table_are_schemas_too()
  local ds = read(train)
  local p = sc.pipeline{ sc.standardize(), sc.solver.ridge{ lambda = 1e-3 } }:fit(ds)
  local text = "v,u,shape\n1,2,round\n"
  lu.assertEquals(rows(read(text, { like = p }).X), { { 2, 1, 1, 0 } })
  lu.assertEquals(rows(read(text, { like = ds.schema }).X), { { 2, 1, 1, 0 } })
  refuses({ "option 'like'", "and got 7" }, read, text, { like = 7 })
  refuses("a schema that is not of a CSV file", read, text, { like = sc.dataset{ X = { { 1 } } } })
  refuses("options 'levels' and 'like' were both given", read, text, { like = ds, levels = "u" })
end

local function copy_of(value)
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, inner in pairs(value) do copy[key] = copy_of(inner) end
  return copy
end

function TestLike:test_a_damaged_schema_is_refused()
  local good = read(train).schema
  for _, change in ipairs{ function(s) s.columns = 5 end, function(s) s.columns[1] = "u" end,
    function(s) s.columns[1].name = nil end, function(s) s.columns[1].kind = "colour" end,
    function(s) s.columns[1].fill = 1 / 0 end, function(s) s.columns[1].fill = {} end,
    function(s) s.columns[3].levels = { {} } end, function(s) s.columns[3].levels = "x" end,
    function(s) s.columns[3].levels = { "a", "a" } end, function(s) s.columns[3].missing = -1 end,
    function(s) s.columns[3].missing = 0.5 end, function(s) s.missing = { {} } end,
    function(s) s.missing_values = 3 end, function(s) s.target = "y" end,
    function(s) s.target = { name = 3 } end, function(s) s.format = "xml" end } do
    local bad = copy_of(good)
    change(bad)
    refuses("option 'like'", read, train, { like = bad })
  end
end

function TestLike:test_lists_gz_and_streams_read_the_same()
  local ds = read(train)
  local a = file "v,u,shape,colour\n1,2,oval,red\n,3,round,blue\n"
  local b = file "v,u,shape,colour\n5,6,square,red\n"
  local both = sc.data.csv({ a, b }, { like = ds, quiet = true })
  lu.assertEquals(rows(both.X), { { 2, 1, 0, 0 }, { 3, 6, 1, 0 }, { 6, 5, 0, 1 } })
  os.execute(("gzip -k '%s'"):format(a))
  reading.remove_later(a .. ".gz")
  lu.assertEquals(rows(sc.data.csv(a .. ".gz", { like = ds, quiet = true }).X),
    { { 2, 1, 0, 0 }, { 3, 6, 1, 0 } })
  local source, s = core.stream_csv(a, { like = ds.schema })
  lu.assertEquals({ s.rows, s.cols, s.classes }, { 2, 4, { "blue", "red" } })
  lu.assertEquals({ s.notes[1].what, s.notes[2].what, s.notes[2].count },
    { "filled", "unknown", 1 })
  collectgarbage()
  for _ = 1, 2 do
    lu.assertEquals(rows((core.read_rows(source, 1, 2))), { { 2, 1, 0, 0 }, { 3, 6, 1, 0 } })
  end
end

function TestLike:test_threads_do_not_change_what_is_told()
  local ds = read("k,y\na,1\nb,2\na,3\n")
  local lines = { "k,y" }
  for i = 1, 200000 do lines[#lines + 1] = (i % 5 == 0 and "n" .. i or "a") .. ",1" end
  local path, before = file(table.concat(lines, "\n")), core.threads()
  for _, threads in ipairs{ 1, 3 } do
    core.threads(threads)
    local note = core.read_csv(path, { like = ds.schema }).notes[1]
    lu.assertEquals({ note.what, note.column, note.count, note.example },
      { "unknown", "k", 40000, "n5" })
  end
  core.threads(before)
end

-- ------------ rows that are read once

TestBlocks = {}

function TestBlocks:test_columns_of_weights_groups_and_time_are_left_out()
  local text = "a,site,w,when,y\n1,s1,2,2024-03-01,3.5\n2,s2,1,2024-03-02,4.5\n"
  local ds = read(text, { groups = "site", weights = "w", time = "when" })
  for X in sc.data.csv_blocks(file(text), { like = ds, quiet = true }) do
    lu.assertEquals(X:totable(), { { 1 }, { 2 } })
  end
end


local function blocks(path, options)
  local X, ids = {}, {}
  for block, texts in sc.data.csv_blocks(path, options) do
    for _, row in ipairs(rows(block)) do X[#X + 1] = row end
    for _, id in ipairs(texts or {}) do ids[#ids + 1] = id end
  end
  return X, ids
end

function TestBlocks:test_rows_come_in_order_with_their_ids()
  local ds = read(train)
  local path = file "name,v,shape,u,colour\nx 1,1,round,2,?\n\"a \"\"b\"\"\",,oval,4,red\n"
  local X, ids = blocks(path, { like = ds, id = "name", quiet = true })
  lu.assertEquals(X, { { 2, 1, 1, 0 }, { 4, 6, 0, 0 } })
  lu.assertEquals(ids, { "x 1", 'a "b"' })
  lu.assertEquals(select(2, blocks(path, { like = ds, id = "u", quiet = true })), { "2", "4" })
end

function TestBlocks:test_many_blocks_are_the_rows_of_reading_at_once()
  local ds = read("a,k,y\n1,s0,1\n2,s1,2\n3,s2,3\n")
  local lines = { "k,id,a" }
  for i = 1, 200000 do lines[#lines + 1] = ("s%d,row %d,%d.5"):format(i % 3, i, i % 97) end
  local path = file(table.concat(lines, "\r\n"))
  local whole = sc.data.csv(path, { like = ds, quiet = true })
  local n, count, longest = 0, 0, 0
  for X, ids in sc.data.csv_blocks(path, { like = ds, id = "id", quiet = true }) do
    lu.assertTrue(X == whole.X:slice(n + 1, n + X:rows()))
    for i = 1, #ids, 999 do lu.assertEquals(ids[i], "row " .. n + i) end
    n, count, longest = n + X:rows(), count + 1, math.max(longest, X:rows())
  end
  lu.assertEquals({ n, count > 1, longest < 200000 }, { 200000, true, true })
end

local reading_blocks = [[
  local ds = sc.data.csv("%s", { quiet = true })
  for X, ids in sc.data.csv_blocks("%s", { like = ds, id = "v" }) do
    print(X:rows(), X:sum(), ids[2])
  end
]]

function TestBlocks:test_pipes_and_the_standard_input_are_read_once()
  local ds, new = file(train), file "v,u,shape\n1,2,round\n3,4,square\n"
  local script = "local sc = require 'scullery'\n" .. reading_blocks
  lu.assertStrContains(run(("cat %s | '%s' %s"):format(new, program,
    file(script:format(ds, "-")))), "2\t12.0\t3")
  local fifo = os.tmpname()
  os.remove(fifo)
  reading.remove_later(fifo)
  if not os.execute(("mkfifo '%s' 2>/dev/null"):format(fifo)) then return end
  lu.assertStrContains(run(("cat %s > %s & '%s' %s"):format(new, fifo, program,
    file(script:format(ds, fifo)))), "2\t12.0\t3")
end

function TestBlocks:test_what_is_wrong_is_said_with_its_place()
  local ds = read(train)
  refuses({ "data.csv_blocks: ", "the column 'v' is missing" }, blocks, file "u,shape\n1,round\n",
    { like = ds })
  refuses("row 2, line 3: it has 2 fields", blocks, file "u,v,shape\n1,2,round\n1,2\n",
    { like = ds, quiet = true })
  refuses("row 1, column 2 (v), line 2", blocks, file "u,v,shape\n1,x,round\n", { like = ds })
  refuses("option 'id' names 'name', which is not a column", blocks, file "u,v,shape\n1,2,round\n",
    { like = ds, id = "name" })
  refuses("option 'target' has no meaning here", blocks, file(train), { like = ds, target = "u" })
  refuses("with 'like'", blocks, file(train), {})
  refuses("the file is empty", blocks, file "", { like = ds })
  refuses("no such file", blocks, "/nowhere.csv", { like = ds })
  local left_out = read(train, { missing_values = "row" })
  refuses("the value is missing", blocks, file "u,v,shape\n,2,round\n", { like = left_out })
end

function TestBlocks:test_a_file_of_a_header_alone_has_no_rows()
  lu.assertEquals((blocks(file "u,v,shape\n", { like = read(train) })), {})
end

reading.run()

--- Named data sets: the one that ships, the catalog, and the larger ones where they are.
-- luacheck: globals TestNamedSets luacheck: ignore 212/self
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

local fails = lu.assertErrorMsgContains

local shared = os.getenv("SCULLERY_DATA")
if shared == "" then shared = nil end

local function need_shared()
  lu.skipIf(not shared, "SCULLERY_DATA names no folder with the larger sets")
end

TestNamedSets = {}

function TestNamedSets:test_wdbc_is_shipped()
  local ds = sc.data.load "wdbc"
  lu.assertEquals({ #ds, ds.X:cols(), ds.classes, ds.task, ds.target },
    { 569, 30, { "B", "M" }, "classification", "diagnosis" })
  lu.assertEquals(ds:class_counts(), { 357, 212 })
  lu.assertEquals(ds.names[1] ~= nil and #ds.names, 30)
end

function TestNamedSets:test_friedman1_is_made_by_its_equation()
  local ds = sc.data.load "friedman1"
  lu.assertEquals({ #ds, ds.X:cols(), ds.task, ds.target, ds.names[10] },
    { 2000, 10, "regression", "y", "x10" })
  lu.assertEquals(ds.X, sc.data.load("friedman1").X)
  lu.assertEquals(ds.y, sc.data.load("friedman1").y)
  local sum, squares = 0, 0
  for i = 1, #ds do
    local x = ds.X:row(i)
    local e = ds.y:get(i, 1) - 10 * math.sin(math.pi * x:get(1, 1) * x:get(1, 2))
      - 20 * (x:get(1, 3) - 0.5) ^ 2 - 10 * x:get(1, 4) - 5 * x:get(1, 5)
    sum, squares = sum + e, squares + e ^ 2
  end
  -- four standard errors of the mean and of the variance of the noise
  lu.assertAlmostEquals(sum / #ds, 0, 4 / math.sqrt(#ds))
  lu.assertAlmostEquals(squares / #ds, 1, 4 * math.sqrt(2 / #ds))
  lu.assertEquals(sc.data.load("friedman1", { dtype = "float32" }).X:dtype(), "float32")
  lu.assertEquals(sc.data.path "friedman1", {})
  fails("option 'stream' is for sets in one .csv file", sc.data.load, "friedman1",
    { stream = true })
  fails("has no official parts", sc.data.load, "friedman1", "train")
end

function TestNamedSets:test_the_catalog_is_whole()
  for name, entry in pairs(require "scullery.data.catalog") do
    lu.assertTrue(entry.rows > 0 and entry.columns > 1 and #entry.about > 0, name)
    for _, file in ipairs(entry.files) do
      lu.assertEquals(#file.sha256:match("^%x+$"), 64, name)
      if file.origin then lu.assertStrMatches(file.origin.url, "https://.*") end
      if file.origin and file.origin.raw then
        lu.assertEquals(#file.content:match("^%x+$"), 64, name)
      end
    end
  end
end

function TestNamedSets:test_every_file_at_hand_is_the_one_that_the_catalog_describes()
  need_shared()
  for name, entry in pairs(require "scullery.data.catalog") do
    for _, file in ipairs(entry.files) do
      local path = shared .. "/" .. file.name
      if io.open(path) then lu.assertEquals(core.sha256(path), file.sha256, name) end
    end
  end
end

function TestNamedSets:test_every_header_of_a_conversion_is_that_of_the_compact_file()
  need_shared()
  for name, entry in pairs(require "scullery.data.catalog") do
    for _, file in ipairs(entry.files) do
      local header = file.origin and file.origin.header
      if header then
        lu.assertEquals(core.read_text(shared .. "/" .. file.name):match("^[^\n]*"), header, name)
      end
    end
  end
end

function TestNamedSets:test_every_small_set_has_the_rows_that_the_catalog_says()
  need_shared()
  for name, entry in pairs(require "scullery.data.catalog") do
    if entry.format ~= "idx" and entry.rows < 50000 then
      local ds = sc.data.load(name)
      lu.assertEquals({ #ds, ds.task }, { entry.rows, entry.task }, name)
    end
  end
end

function TestNamedSets:test_adult_has_its_official_parts_encoded_alike()
  need_shared()
  local train, test = sc.data.load("adult"):parts()
  lu.assertEquals({ #train, #test, train.X:cols(), test.X:cols() }, { 32561, 16281, 108, 108 })
  lu.assertEquals({ train:class_counts(), test:class_counts() },
    { { 24720, 7841 }, { 12435, 3846 } })
  lu.assertEquals(#sc.data.load("adult", "test"), 16281)
end

function TestNamedSets:test_parts_that_leave_rows_out_are_the_ranges_of_the_catalog()
  need_shared()
  local all = sc.data.load "salsa_forestfires"
  local train, test = all:parts()
  lu.assertEquals({ #all, #train, #test }, { 517, 211, 167 })
  lu.assertTrue(train.X == all.X:slice(140, 350) and test.y == all.y:slice(351, 517))
end

function TestNamedSets:test_mnist17_holds_the_digits_1_and_7_with_pixels_in_0_to_1()
  need_shared()
  local train, test = sc.data.load("mnist17", { dtype = "float32" }):parts()
  lu.assertEquals({ train.classes, train:class_counts(), test:class_counts() },
    { { 1, 7 }, { 6742, 6265 }, { 1135, 1028 } })
  lu.assertEquals({ train.X:dtype(), train.X:min(), train.X:max() }, { "float32", 0, 1 })
end

function TestNamedSets:test_a_named_set_streams()
  need_shared()
  local ds = sc.data.load("spambase", { stream = true })
  lu.assertEquals({ { ds:size() }, ds.classes, ds.X }, { { 4601, 57 }, { 0, 1 }, nil })
  fails("option 'stream' is for sets in one .csv file", sc.data.load, "letter", { stream = true })
end

function TestNamedSets:test_the_list_says_what_is_where()
  local list, seen = sc.data.list(), {}
  for _, e in ipairs(list) do seen[e.name] = e end
  lu.assertTrue(seen.wdbc.here)
  lu.assertStrContains(seen.wdbc.path, "wdbc.csv")
  lu.assertEquals({ seen.adult.rows, seen.adult.columns, seen.adult.task },
    { 48842, 15, "classification" })
  lu.assertStrContains(tostring(list), "kddcup10")
end

function TestNamedSets:test_mistakes_are_sentences()
  fails("data.load: no set \"wbdc\" (did you mean 'wdbc'?)", sc.data.load, "wbdc")
  fails("data.load: takes a set's name, and got nil", sc.data.load)
  fails("part got \"validation\"; it takes \"train\" or \"test\"", sc.data.load, "wdbc",
    "validation")
  fails("the set 'wdbc' has no official parts", sc.data.load, "wdbc", "train")
  fails("unknown option 'dtpye' (did you mean 'dtype'?)", sc.data.load, "wdbc",
    { dtpye = "float32" })
  fails("data.path: no set", sc.data.path, "nothing like it")
end

function TestNamedSets:test_a_readers_sentence_comes_once_and_bare()
  local _, message = pcall(sc.data.csv, "/no/such/file.csv")
  lu.assertEquals(message:gsub("^[^:]*:%d+: ", ""), "data.csv: /no/such/file.csv: no such file")
  fails("data.csv: takes a path or a list of paths, and got {}", sc.data.csv, {})
  fails("data.csv: option 'stream' got 1; it takes true or false", sc.data.csv, "a", { stream = 1 })
  fails("data.csv: takes a table of named options, and got 5", sc.data.csv, "a", 5)
  fails("unknown option 'tagret' (did you mean 'target'?)", sc.data.csv, "a", { tagret = 1 })
  fails("data.npy: takes a path, and got nil", sc.data.npy)
  fails("data.npy: options 'task' and 'classes' are about labels", sc.data.npy, "a",
    { task = "regression" })
  fails("data.libsvm: option 'features' got 0", sc.data.libsvm, "a", { features = 0 })
  fails("data.idx: option 'scale' got \"x\"", sc.data.idx, "a", "b", { scale = "x" })
end

os.exit(lu.LuaUnit.run())

--- Data sets with a sparse X: what their methods return is what those of the dense data set return.
-- luacheck: globals TestParts TestText TestErrors
local lu = require "luaunit"
local sc = require "scullery"
local fingerprint = require "scullery.data.fingerprint"
local support = dofile("tests/helpers/support.lua")

local fails = support.fails

-- The same rows as a dense and as a sparse data set, with classes, weights, groups and times.
local function both(n, d)
  local U, X, y, g, t = sc.rand{ n, d, seed = 4 }, sc.zeros(n, d), {}, {}, {}
  for i = 1, n do
    for j = 1, d do if U:get(i, j) < 0.2 then X:set(i, j, 10 * U:get(i, j)) end end
    y[i], g[i], t[i] = i % 3 == 0 and "yes" or "no", i // 4, i
  end
  local function make(rows)
    return sc.dataset{ X = rows, y = y, weights = t, groups = g, time = t }
  end
  return make(X), make(sc.matrix.csr(X))
end

-- All fields of both are the same, and the second is sparse.
local function same(dense, sparse)
  lu.assertTrue(sparse.X.sparse)
  lu.assertTrue(sparse.X == dense.X)
  for _, name in ipairs{ "y", "weights", "groups", "time" } do
    lu.assertTrue(sparse[name] == dense[name], name)
  end
  lu.assertEquals(sparse.classes, dense.classes)
  lu.assertEquals({ sparse:size() }, { dense:size() })
end

TestParts = {}

function TestParts.test_splits_folds_and_selections()
  local dense, sparse = both(60, 8)
  same(dense, sparse)
  for _, options in ipairs{ { test = 0.3, seed = 2 }, { test = 9, groups = false },
    { rows = { 1, 5, 60 } } } do
    local train, test = dense:split(options)
    local sparse_train, sparse_test = sparse:split(options)
    same(train, sparse_train)
    same(test, sparse_test)
  end
  local folds, sparse_folds = dense:folds{ k = 3 }, sparse:folds{ k = 3 }
  for k = 1, 3 do
    for side = 1, 2 do same(folds[k][side], sparse_folds[k][side]) end
  end
  same(dense:select{ 60, 1, 1 }, sparse:select{ 60, 1, 1 })
  same(dense:subset(5, 20), sparse:subset(5, 20))
  same(dense:sample{ rows = 15, seed = 1 }, sparse:sample{ rows = 15, seed = 1 })
  same(dense:relabel{ yes = "a" }, sparse:relabel{ yes = "a" })
  local function some(_, row, label) return label == "no" and row:sum() > 3 end
  same(dense:filter(some), sparse:filter(some))
  lu.assertEquals(sparse:class_counts(), dense:class_counts())
  lu.assertTrue(sparse:dense().X == dense.X)
  lu.assertFalse(sparse:dense().X.sparse)
  lu.assertTrue(rawequal(dense:dense(), dense))
end

function TestParts.test_a_column_says_the_split()
  local X = sc.hcat(sc.matrix.csr(sc.rand{ 10, 3, seed = 1 }),
    sc.matrix{ 0, 1, 0, 0, 1, 0, 0, 0, 0, 1 })
  local ds = sc.dataset{ X = X, y = X:column(1), names = { "a", "b", "c", "test" } }
  local train, test = ds:split{ rows = "test" }
  lu.assertEquals({ train:size() }, { 7, 3 })
  lu.assertTrue(test.X == X:select{ 2, 5, 10 }:slice(1, 3, 1, 3))
  lu.assertTrue(test.X.sparse)
end

-- The fingerprint depends on numbers and places, not on views and stored zeros of other rows.
function TestParts.test_fingerprints()
  local _, ds = both(30, 5)
  local one = fingerprint.of(ds).sha256
  lu.assertEquals(fingerprint.of(ds:select(sc.range(1, 30))).sha256, one)
  lu.assertEquals(fingerprint.of(ds:subset(1, 30)).sha256, one)
  lu.assertNotEquals(fingerprint.of(ds:subset(1, 29)).sha256, one)
  local arrays = ds.X:arrays()
  arrays.values:set(3, 1, arrays.values[3] + 1)
  local other = sc.dataset{ X = sc.matrix.csr(arrays), y = ds.y, classes = { 1, 2 } }
  lu.assertNotEquals(fingerprint.of(other).sha256, one)
  arrays = ds.X:arrays()
  arrays.columns = 6
  other = sc.dataset{ X = sc.matrix.csr(arrays), y = ds.y, classes = { 1, 2 } }
  lu.assertNotEquals(fingerprint.of(other).sha256, one)
end

TestText = {}

local small = sc.matrix.csr{ columns = 4, starts = { 0, 2, 2, 3 }, indices = { 0, 3, 3 },
  values = { 1, 2.5, -4 } }

function TestText.test_printed_and_head()
  local ds = sc.dataset{ X = small, y = { "a", "b", "a" } }
  lu.assertEquals(tostring(ds), "dataset 3 x 4, 2 classes, sparse")
  lu.assertEquals(ds:head(3)[3], { "4:-4", "a" })
  local head = ds:head(2)
  lu.assertEquals(head.names, { "column:value", "y" })
  lu.assertEquals({ head[1], head[2] }, { { "1:1 4:2.5", "a" }, { "", "b" } })
  lu.assertStrContains(tostring(head), "... 1 more rows")
  local shown = getmetatable(ds).__display(ds, {})
  lu.assertStrContains(shown, "25 % filled: 3 numbers are stored of 3 x 4")
  lu.assertStrContains(shown, "1:1 4:2.5")
end

function TestText.test_describe()
  local ds = sc.dataset{ X = small, y = { 0.5, 2, 7 } }
  local summary = ds:describe()
  lu.assertStrContains(tostring(summary),
    "numbers in a row: 0 to 2, median 1, mean 1, in 1 none")
  lu.assertStrContains(tostring(summary), "of 4; 2 have none")
  lu.assertEquals(#summary, 3) -- the target and two columns
  lu.assertEquals({ summary[2].name, summary[2].min, summary[2].max, summary[2].median },
    { "x4", -4, 2.5, 0 })
  local X = sc.matrix.csr{ columns = 2 ^ 31, starts = { 0, 1 }, indices = { 5 }, values = { 1 } }
  lu.assertStrContains(getmetatable(ds).__display(sc.dataset{ X = X }, {}), "6:1")
end

function TestText.test_html()
  local html = require "scullery.notebook.html"
  lu.assertStrContains(html.of_value(small, tostring(small)), "1:1 4:2.5")
end

TestErrors = {}

function TestErrors.test_sentences()
  local ds = sc.dataset{ X = small, y = { 0.5, 2, 7 } }
  fails({ "dataset:discretize", "ds:dense()" }, ds.discretize, ds)
  fails({ "X and y have 3 and 2 rows" }, sc.dataset, { X = small, y = { 1, 2 } })
  fails({ "3 names for 4 columns" }, sc.dataset, { X = small, names = { "a", "b", "c" } })
  local X = sc.matrix.csr{ columns = 2 ^ 30, starts = { 0, 0 }, indices = {}, values = {} }
  local wide = sc.dataset{ X = sc.vcat(X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X) }
  fails({ "memory", "dense matrix", "GB" }, wide.dense, wide)
end

os.exit(lu.LuaUnit.run())

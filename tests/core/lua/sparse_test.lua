--- Sparse matrices in Lua: each method against the same on the dense matrix, and what a user can
--- type wrong.
-- luacheck: globals TestMaking TestAgainstDense TestText TestSafety
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local support = dofile("tests/helpers/support.lua")

local csr, fails = sc.matrix.csr, support.fails

-- A dense n x d matrix of which about `share` is not 0, with an empty first row and last column.
local function scattered(n, d, share, seed)
  local U, V = sc.rand{ n, d, seed = seed }, sc.randn{ n, d, seed = seed + 1 }
  local X = sc.zeros(n, d)
  for i = 2, n do
    for j = 1, d - 1 do if U:get(i, j) < share then X:set(i, j, V:get(i, j)) end end
  end
  return X
end

local function example()
  return csr{ rows = 3, columns = 5, starts = { 0, 2, 2, 4 }, indices = { 1, 4, 0, 2 },
    values = { 0.5, 1, 2, -3 } }
end

TestMaking = {}

function TestMaking.test_places_from_0_and_from_1()
  local X = example()
  lu.assertEquals(X:dense():totable(), { { 0, 0.5, 0, 0, 1 }, { 0, 0, 0, 0, 0 },
    { 2, 0, -3, 0, 0 } })
  lu.assertTrue(X == csr{ columns = 5, starts = { 1, 3, 3, 5 }, indices = { 2, 5, 1, 3 },
    values = { 0.5, 1, 2, -3 }, base = 1 })
  lu.assertTrue(X == csr{ columns = 5, starts = sc.matrix{ 0, 2, 2, 4 },
    indices = sc.matrix{ { 1, 4, 0, 2 } }, values = sc.matrix{ 0.5, 1, 2, -3 } })
  lu.assertTrue(csr(X:arrays()) == X)
  lu.assertTrue(csr(X:slice(2, 3):arrays()) == X:slice(2, 3))
end

function TestMaking.test_kinds()
  local X = example()
  lu.assertTrue(X.sparse)
  lu.assertFalse(sc.ones(2).sparse)
  lu.assertTrue(core.is_sparse(X))
  lu.assertFalse(core.is_matrix(X))
  lu.assertEquals({ X:rows(), X:cols(), #X, X:nnz(), X:dtype() }, { 3, 5, 3, 4, "float64" })
  lu.assertEquals(csr(sc.eye(3), { dtype = "float32" }):dtype(), "float32")
  lu.assertEquals(csr(csr(sc.eye(3)), { dtype = "float32" }):dtype(), "float32")
  lu.assertTrue(rawequal(csr(X), X))
end

function TestMaking.test_limits()
  local wide = csr{ columns = 2 ^ 31, starts = { 0, 1 }, indices = { 2 ^ 31 - 1 }, values = { 7 } }
  lu.assertEquals(wide:get(1, 2 ^ 31), 7)
  fails({ "'columns'", "2147483648" }, csr, { columns = 2 ^ 31 + 1, starts = { 0 }, indices = {},
    values = {} })
  fails({ "too large" }, wide.dense, wide)
  local empty = csr{ columns = 0, starts = { 0 }, indices = {}, values = {} }
  lu.assertEquals({ empty:rows(), empty:cols(), empty:nnz() }, { 0, 0, 0 })
end

function TestMaking.test_bad_arrays_are_sentences()
  local function bad(words, change)
    local given = { rows = 2, columns = 3, starts = { 0, 1, 2 }, indices = { 0, 2 },
      values = { 1, 2 } }
    for key, value in pairs(change) do given[key] = value end
    fails(words, csr, given)
  end
  bad({ "'starts'", "3 numbers", "1 rows take 2" }, { rows = 1 })
  bad({ "'starts'", "-1", "place 1" }, { starts = { -1, 1, 2 } })
  bad({ "'starts'", "0 to 1", "0 to 2" }, { starts = { 0, 1, 1 } })
  bad({ "'starts'", "3", "place 2" }, { starts = { 0, 3, 2 } })
  bad({ "row 2", "starts must ascend" }, { rows = 3, starts = { 0, 2, 1, 2 } })
  bad({ "'indices'", "3", "place 2", "0 to 2" }, { indices = { 0, 3 } })
  bad({ "'indices'", "0.5" }, { indices = { 0.5, 1 } })
  bad({ "'indices'", "string" }, { indices = { "a", 1 } })
  bad({ "3 indices and 2 values" }, { indices = { 0, 1, 2 } })
  bad({ "row 1 has column 2 twice" }, { rows = 1, starts = { 0, 2 }, indices = { 1, 1 } })
  bad({ "row 1", "columns must ascend" }, { rows = 1, starts = { 0, 2 }, indices = { 1, 0 } })
  bad({ "row 2, column 3 is NaN" }, { values = { 1, 0 / 0 } })
  bad({ "row 1, column 1 is infinite" }, { values = { math.huge, 1 } })
  bad({ "row 1, column 1 is infinite" }, { values = { 1e300, 1 }, dtype = "float32" })
  bad({ "'base'" }, { base = 2 })
  bad({ "'valuse'", "values" }, { valuse = {} })
  bad({ "'values'", "string" }, { values = "x" })
  bad({ "no columns" }, { columns = 0 })
  fails({ "'columns' is missing" }, csr, { starts = { 0 }, indices = {}, values = {} })
  fails({ "matrix.csr", "number" }, csr, 3)
  fails({ "unknown option 'indptr'; it takes rows, columns, starts" }, csr, { indptr = { 0 } })
  fails({ "'indices' has 4 at place 1; it takes whole numbers from 0 to 3" }, csr, { columns = 4,
    starts = { 0, 1 }, indices = { 4 }, values = { 1 } })
  fails({ "row 1, column 2 is NaN" }, csr, sc.matrix{ { 1, 0 / 0 } })
end

TestAgainstDense = {}

function TestAgainstDense.test_methods()
  for seed = 1, 5 do
    for _, dtype in ipairs{ "float64", "float32" } do
      local D = scattered(7 * seed, 4 + seed, seed / 8, seed):astype(dtype)
      local S, n, d = csr(D), D:rows(), D:cols()
      lu.assertTrue(S:dense() == D)
      lu.assertTrue(S == D)
      lu.assertTrue(D == S)
      lu.assertEquals(S:dtype(), dtype)
      lu.assertTrue(S:slice(2, n - 1):dense() == D:slice(2, n - 1))
      lu.assertTrue(S:slice(2, n - 1, 2, d - 1):dense() == D:slice(2, n - 1, 2, d - 1))
      lu.assertTrue(S:slice(3, n):slice(2, n - 2, 1, 3) == D:slice(4, n, 1, 3))
      local places = { n, 1, 2, n, n }
      lu.assertTrue(S:select(places) == D:select(places))
      lu.assertTrue(S:slice(2, n):select{ 2, 1 } == D:select{ 3, 2 })
      lu.assertTrue(S:row(n) == D:row(n))
      lu.assertTrue(S[2] == D[2])
      for j = 1, d do lu.assertTrue(S:column(j) == D:column(j)) end
      lu.assertTrue(S:copy() == D)
      lu.assertTrue(S:astype("float32") == D:astype("float32"))
      for _, axis in ipairs{ 1, 2 } do
        for _, name in ipairs{ "sum", "mean" } do
          lu.assertTrue((S[name](S, axis) - D[name](D, axis)):abs():max() < 1e-13)
        end
        for _, name in ipairs{ "min", "max" } do
          lu.assertTrue(S[name](S, axis) == D[name](D, axis))
        end
      end
      lu.assertAlmostEquals(S:sum(), D:sum(), 1e-12)
      lu.assertAlmostEquals(S:mean(), D:mean(), 1e-13)
      lu.assertEquals({ S:min(), S:max() }, { D:min(), D:max() })
      lu.assertAlmostEquals(S:norm(), D:norm(), 1e-12)
      lu.assertTrue(-S * 2 == D * -2)
      lu.assertTrue(S / 3 == D / 3 and S / 49 == D / 49)
    end
  end
end

-- Each number of the product is a sum of at most d products of size 1.
function TestAgainstDense.test_products()
  local D = scattered(40, 30, 0.2, 3)
  local S, B = csr(D), sc.randn{ 30, 4, seed = 9 }
  lu.assertTrue((S * B - D * B):abs():max() < 1e-13)
  lu.assertTrue((S * B:t():copy():t() - D * B):abs():max() < 1e-13)
  lu.assertEquals((S * B:astype "float32"):dtype(), "float64")
  lu.assertEquals((S:astype "float32" * B:astype "float32"):dtype(), "float32")
  local many = csr(scattered(2500, 30, 0.2, 4))
  lu.assertTrue((many * B - many:dense() * B):abs():max() < 1e-13)
  lu.assertTrue(many:slice(1500, 2400) * B == (many * B):slice(1500, 2400))
  fails({ "inner sizes 30 and 4 differ" }, function() return S * sc.ones(4) end)
end

function TestAgainstDense.test_concatenation()
  local A, B = scattered(9, 4, 0.3, 5), scattered(9, 6, 0.3, 7)
  local S, T = csr(A), csr(B)
  lu.assertTrue(sc.hcat(S, T) == sc.hcat(A, B))
  lu.assertTrue(sc.hcat(S, B, S:slice(1, 9)) == sc.hcat(A, B, A))
  lu.assertTrue(sc.vcat(S, A, S:slice(3, 5)) == sc.vcat(A, A, A:slice(3, 5)))
  lu.assertTrue(sc.hcat(A, T).sparse)
  lu.assertEquals(sc.vcat(S:astype "float32", S):dtype(), "float64")
  lu.assertEquals(sc.vcat(S:astype "float32", A:astype "float32"):dtype(), "float32")
  fails({ "hcat", "8 x 4", "9 x 6" }, sc.hcat, T, S:slice(1, 8))
  fails({ "vcat", "9 x 4", "9 x 6" }, sc.vcat, T, S)
  fails({ "takes a matrix" }, sc.vcat, S, 5)
  local wide = csr{ columns = 2 ^ 31, starts = { 0, 0 }, indices = {}, values = {} }
  fails({ "hcat", "columns" }, sc.hcat, wide, wide)
end

function TestAgainstDense.test_counts()
  local D = scattered(9, 4, 0.3, 5)
  local ones = D:map(function(v) return v ~= 0 and 1 or 0 end)
  lu.assertTrue(csr(D):counts(1) == ones:sum(1))
  lu.assertTrue(csr(D):slice(2, 7):counts(2) == ones:slice(2, 7):sum(2))
end

function TestAgainstDense.test_too_large_for_float32()
  fails({ "row 1, column 2", "float32" }, function()
    return csr(sc.matrix{ { 0, 1e300 } }):astype "float32"
  end)
  fails({ "row 1, column 2", "float64" }, function()
    return csr(sc.matrix{ { 0, 1e300 } }) * 1e30
  end)
end

function TestAgainstDense.test_equality()
  local X = example()
  local zeros = csr{ columns = 5, starts = { 0, 3, 3, 5 }, indices = { 0, 1, 4, 0, 2 },
    values = { 0, 0.5, 1, 2, -3 } }
  lu.assertEquals(zeros:nnz(), 5)
  lu.assertTrue(zeros == X)
  lu.assertFalse(X == X:slice(1, 2))
  lu.assertFalse(X == X * 2)
  lu.assertFalse(X == sc.zeros(3, 5))
  lu.assertFalse(sc.zeros(3, 4) == X)
end

TestText = {}

function TestText.test_printed()
  lu.assertEquals(tostring(example()), "sparse matrix 3 x 5 float64, 4 numbers (26.7 % filled)\n\z
    \32 row 1: 2:0.5 5:1\n\z
    \32 row 2:\n\z
    \32 row 3: 1:2 3:-3")
  lu.assertStrContains(tostring(csr(sc.ones(9, 9))), "row 6: 1:1 2:1 3:1 4:1 5:1 6:1 ...\n  ...")
end

function TestText.test_help()
  local help = require "scullery.help.topics"
  for name in pairs(core.sparse_methods) do
    lu.assertStrContains(help.topic("sparse:" .. name) or "", "X", name)
  end
  lu.assertStrContains(help.topic "matrix.csr", "compressed sparse rows")
end

TestSafety = {}

function TestSafety.test_wrong_calls_are_sentences()
  local X, M = example(), sc.ones(3, 5)
  fails({ "colon", "X:nnz" }, function() return X.nnz() end)
  fails({ "no method 'nn'", "nnz" }, function() return X.nn end)
  fails({ "cannot be changed" }, function() X[1] = 2 end)
  fails({ "row 4 is outside", "1 to 3" }, function() return X[4] end)
  fails({ "column 6 is outside" }, function() return X:get(1, 6) end)
  fails({ "row 0 is outside" }, function() return X:select{ 1, 0 } end)
  fails({ "select takes a list" }, function() return X:select(1) end)
  fails({ "before the beginning" }, function() return X:slice(2, 1) end)
  fails({ "'axis'" }, function() return X:sum(3) end)
  fails({ "sparse matrix * a sparse matrix" }, function() return X * X end)
  fails({ "right side is a sparse matrix", "X:dense()" }, function() return M * X end)
  fails({ "not sparse", "X:dense()" }, function() return X + M end)
  fails({ "X:dense()" }, sc.matrix, X)
  fails({ "is empty" }, function()
    return csr{ columns = 2, starts = { 0 }, indices = {}, values = {} }:max()
  end)
end

function TestSafety.test_released()
  local X = example()
  local view = X:slice(1, 2)
  do local closed <close> = X end -- luacheck: ignore 211
  fails({ "released" }, function() return view * 2, X:nnz() end)
  lu.assertEquals(view:nnz(), 2)
  lu.assertStrContains(tostring(X), "released")
  fails({ "released" }, function() return csr(X) end)
end

os.exit(lu.LuaUnit.run())

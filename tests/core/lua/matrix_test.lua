--- The Lua matrix: shapes, views, arithmetic, reductions, and what a user can type wrong.
-- luacheck: globals TestMaking TestRandom TestViews TestArithmetic TestReductions TestEigenvalues
-- TestDistances TestText TestSafety luacheck: ignore 212/self
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"

local M = sc.matrix

--- f(...) fails with a Lua error that contains the plain text.
local function fails(text, f, ...) lu.assertErrorMsgContains(text, f, ...) end

--- A naive product through get, the oracle of A * B.
local function product(A, B)
  local C = sc.zeros(A:rows(), B:cols())
  for i = 1, A:rows() do
    for j = 1, B:cols() do
      local sum = 0
      for k = 1, A:cols() do sum = sum + A:get(i, k) * B:get(k, j) end
      C:set(i, j, sum)
    end
  end
  return C
end

TestMaking = {}

function TestMaking:test_literal_gives_shape_and_entries()
  local X = M { { 1, 2, 3 }, { 4, 5, 6 } }
  lu.assertEquals({ X:rows(), X:cols(), #X, X:dtype(), X:bytes() }, { 2, 3, 2, "float64", 48 })
  lu.assertEquals(X:totable(), { { 1, 2, 3 }, { 4, 5, 6 } })
  lu.assertEquals(M { 7, 8 }:totable(), { { 7 }, { 8 } })
  lu.assertEquals(M({}):rows(), 0)
end

function TestMaking:test_dtype_inside_or_beside()
  lu.assertEquals(M({ { 1, 2 }, dtype = "float32" }):dtype(), "float32")
  lu.assertEquals(M({ { 1, 2 } }, { dtype = "float32" }):dtype(), "float32")
  lu.assertEquals(sc.ones(2, 3, { dtype = "float32" }):bytes(), 24)
  lu.assertEquals(M(sc.ones(2, 2), { dtype = "float32" }):dtype(), "float32")
end

function TestMaking:test_zeros_ones_eye()
  lu.assertEquals(sc.zeros(2, 2):totable(), { { 0, 0 }, { 0, 0 } })
  lu.assertEquals(sc.ones(2):totable(), { { 1 }, { 1 } })
  lu.assertEquals(sc.eye(2):totable(), { { 1, 0 }, { 0, 1 } })
end

function TestMaking:test_concatenation_takes_views_and_mixes_dtypes()
  local A = M { { 1, 2 }, { 3, 4 } }
  lu.assertEquals(sc.hcat(A, A:t()):totable(), { { 1, 2, 1, 3 }, { 3, 4, 2, 4 } })
  lu.assertEquals(sc.vcat(A:slice(2, 2), A):totable(), { { 3, 4 }, { 1, 2 }, { 3, 4 } })
  lu.assertEquals(sc.vcat(A:astype "float32", A):dtype(), "float64")
  fails("hcat: matrix 2 is 3 x 1 where the first is 2 x 2", sc.hcat, A, sc.ones(3))
  fails("vcat takes at least one matrix", sc.vcat)
end

function TestMaking:test_bad_literals_are_sentences()
  fails("row 2 must be a list of 2 numbers", M, { { 1, 2 }, { 3 } })
  fails("row 1, column 2 is string", M, { { 1, "2" } })
  fails("with __len; it takes a plain list", M,
    setmetatable({ 1 }, { __len = function() return 2 end }))
  fails("without an element at place 2", M, { 1, nil, 3 })
  fails("did you mean 'dtype'", M, { { 1 }, dtyp = "float32" })
  fails("'dtype' got \"int\"", M, { { 1 }, dtype = "int" })
  fails("did you mean 'dtype'", sc.zeros, 2, 2, { type = "float32" })
  fails("matrix takes a list of rows", M, 3)
end

function TestMaking:test_absurd_sizes_are_refused_with_their_bytes()
  fails("8 EB", sc.zeros, 1e9, 1e9)
  fails("it takes a whole number", sc.zeros, 2 ^ 52, 0)
  for _, bad in ipairs { -1, 1.5, 0 / 0, math.huge, "3", {} } do
    fails("'n' of 'zeros(n, d)' got", sc.zeros, bad, 1)
  end
  fails("'n' of 'ones(n, d)' got table", sc.ones, { 60, 1 })
  fails("'n' of 'eye(n)' got table", sc.eye, { 3 })
end

TestRandom = {}

function TestRandom:test_first_rows_do_not_depend_on_n()
  lu.assertTrue(sc.randn { 3, 700, seed = 5 } == sc.randn { 200, 700, seed = 5 }:slice(1, 3))
end

function TestRandom:test_seeds_differ_and_any_integer_serves()
  lu.assertFalse(sc.rand { 4, 4, seed = 1 } == sc.rand { 4, 4, seed = 2 })
  lu.assertTrue(sc.rand { 4, 4 } == sc.rand { 4, 4, seed = 0 })
  lu.assertTrue(sc.rand({ 4, 4, seed = math.mininteger }):isfinite())
end

function TestRandom:test_moments_within_five_standard_errors()
  local n = 40000
  local U, Z = sc.rand { n, 1, seed = 3 }, sc.randn { n, 1, seed = 3 }
  lu.assertTrue(math.abs(U:mean() - 0.5) < 5 / math.sqrt(12 * n))
  lu.assertTrue(U:min() > 0 and U:max() < 1)
  lu.assertTrue(math.abs(Z:mean()) < 5 / math.sqrt(n))
  lu.assertTrue(math.abs(Z:mul(Z):mean() - 1) < 5 * math.sqrt(2 / n))
end

function TestRandom:test_numbers_do_not_depend_on_the_number_of_threads()
  local before = core.threads()
  core.threads(1)
  local A, X = sc.randn { 600, 40, seed = 1 }, sc.randn { 40, 700, seed = 2 }
  local P, S = A * X, A:sum(1)
  core.threads(4)
  local same = A == sc.randn { 600, 40, seed = 1 } and P == A * X and S == A:sum(1)
  core.threads(before)
  lu.assertTrue(same)
end

function TestRandom:test_permutation_holds_each_place_once()
  local seen = {}
  for _, place in ipairs(core.permutation(100, 1, 2)) do seen[place] = (seen[place] or 0) + 1 end
  for i = 1, 100 do lu.assertEquals(seen[i], 1) end
  lu.assertEquals(core.permutation(50, 1, 2), core.permutation(50, 1, 2))
  lu.assertNotEquals(core.permutation(50, 1, 2), core.permutation(50, 2, 2))
  lu.assertEquals(core.permutation(0, 1, 2), {})
end

function TestRandom:test_bad_options_are_sentences()
  fails("did you mean 'seed'", sc.rand, { 2, 2, sed = 1 })
  fails("'seed' got 1.5", sc.rand, { 2, 2, seed = 1.5 })
  fails("'seed' got string", sc.randn, { 2, 2, seed = "1" })
  fails("'n' of '{ n, d }' got nil", sc.rand, {})
  fails("got a third", sc.rand, { 2, 2, 2 })
  fails("rand takes a table", sc.rand, 3, 3)
end

TestViews = {}

function TestViews:setUp() self.X = M { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 } } end

function TestViews:test_views_share_and_copies_do_not()
  local X = self.X
  X:slice(2, 3, 2, 3):set(1, 1, 50)
  lu.assertEquals(X:get(2, 2), 50)
  X:t():set(1, 3, 70)
  lu.assertEquals(X:get(3, 1), 70)
  X:column(2):set(1, 1, 20)
  lu.assertEquals(X[1]:get(1, 2), 20)
  X:copy():set(1, 1, -1)
  X:select({ 1 }):set(1, 1, -1)
  lu.assertEquals(X:get(1, 1), 1)
end

function TestViews:test_a_view_outlives_its_matrix()
  local view
  do
    local X = sc.ones(1000, 10)
    view = X:slice(500, 501):t()
  end
  collectgarbage()
  collectgarbage()
  lu.assertEquals(view:sum(), 20)
end

function TestViews:test_index_gives_a_row_or_a_number()
  lu.assertEquals({ self.X[2][3], self.X:row(2)[1]:totable() }, { 6, { { 4, 5, 6 } } })
  lu.assertEquals(self.X[2]:totable(), { { 4, 5, 6 } })
  lu.assertEquals(self.X:column(2)[3], 8)
  lu.assertEquals(self.X:row(3):totable(), { { 7, 8, 9 } })
end

function TestViews:test_a_number_of_a_row_by_two_indices()
  local X = self.X:copy()
  X[2][3] = -1
  lu.assertEquals({ X:get(2, 3), X[2][3], X[2]:sum() }, { -1, -1, 8 })
  lu.assertEquals({ #X[2]:t():slice(1, 2), #X:slice(1, 2)[1], #X:row(2) }, { 2, 3, 1 })
  fails("there are columns 1 to 3", function() return X[1][4] end)
  fails("there are columns 1 to 3", function() X[1][0] = 1 end)
  fails("is string, not a number", function() X[1][2] = "a" end)
end

function TestViews:test_row_assignment()
  local X = self.X
  X[1] = { 10, 20, 30 }
  X[2] = X[1]
  X:column(3)[3] = 0
  lu.assertEquals(X:totable(), { { 10, 20, 30 }, { 10, 20, 30 }, { 7, 8, 0 } })
end

function TestViews:test_row_assignment_from_an_overlapping_view()
  local X = M { { 1, 2 }, { 3, 4 } }
  X[2] = X:t()[1]
  lu.assertEquals(X:totable(), { { 1, 2 }, { 1, 3 } })
end

function TestViews:test_a_bad_list_leaves_the_row_as_it_was()
  fails("column 3 is string", function() self.X[1] = { 10, 20, "x" } end)
  fails("row 1 takes 3 numbers, and got 2", function() self.X[1] = { 1, 2 } end)
  fails("takes a 1 x 3 matrix, and got 3 x 3", function() self.X[1] = self.X end)
  fails("no field 'name'", function() self.X.name = 1 end)
  lu.assertEquals(self.X[1]:totable(), { { 1, 2, 3 } })
end

function TestViews:test_select_repeats_and_takes_a_matrix()
  lu.assertEquals(self.X:select({ 3, 1, 3 }):column(1):totable(), { { 7 }, { 1 }, { 7 } })
  lu.assertEquals(self.X:select(M { 2, 2 }):column(1):totable(), { { 4 }, { 4 } })
  lu.assertEquals(self.X:select({}):rows(), 0)
  fails("row 4 is outside: there are rows 1 to 3", self.X.select, self.X, { 1, 4 })
  fails("got a 3 x 3 matrix", self.X.select, self.X, self.X)
  fails("select takes a list", self.X.select, self.X, 1)
end

function TestViews:test_ipairs_ends_after_the_last_place()
  local function count(list)
    local last = 0
    for i in ipairs(list) do last = i end
    return last
  end
  lu.assertEquals({ count(self.X), count(self.X[1]), count(self.X:column(1)) }, { 3, 3, 3 })
  lu.assertEquals(count(sc.matrix.csr(sc.zeros(2, 4))), 2)
  lu.assertEquals(count(sc.texts{ "a", "b" }), 2)
end

function TestViews:test_places_outside_are_sentences()
  local X = self.X
  for _, bad in ipairs { 0, 4, -1, 1.5, 0 / 0, math.huge, 2 ^ 63 } do
    fails("is outside: there are rows 1 to 3", function() return X[bad] end)
    fails("is outside: there are columns 1 to 3", X.get, X, 1, bad)
    fails("is outside", X.set, X, bad, 1, 0)
    fails("is outside", X.slice, X, 1, bad)
    fails("is outside", X.column, X, bad)
  end
  fails("row got nil", X.get, X, nil, 1)
  fails("the end lies before the beginning", X.slice, X, 3, 2)
  fails("the end lies before the beginning", X.slice, X, 1, 2, 3, 2)
  fails("there are no rows", function() return sc.zeros(0, 3)[1] end)
  fails("column 1 is no value, not a number", X.set, X, 1, 1)
end

TestArithmetic = {}

function TestArithmetic:test_elementwise_and_scalars()
  local A, B = M { { 1, 2 }, { 3, 4 } }, M { { 10, 20 }, { 30, 40 } }
  lu.assertEquals((A + B):totable(), { { 11, 22 }, { 33, 44 } })
  lu.assertEquals((B - A):totable(), { { 9, 18 }, { 27, 36 } })
  lu.assertEquals((1 - A):totable(), { { 0, -1 }, { -2, -3 } })
  lu.assertEquals((2 * A):totable(), (A * 2):totable())
  lu.assertEquals((B / 10):totable(), A:totable())
  lu.assertEquals(A:mul(B):totable(), { { 10, 40 }, { 90, 160 } })
  lu.assertEquals(B:div(A):totable(), { { 10, 10 }, { 10, 10 } })
  lu.assertEquals((-A):abs():totable(), A:totable())
  lu.assertEquals((A + A:t()):totable(), { { 2, 5 }, { 5, 8 } })
end

function TestArithmetic:test_product_equals_the_sum_of_products_in_every_layout()
  local A, B = sc.randn { 9, 7, seed = 1 }, sc.randn { 7, 5, seed = 2 }
  local wide = sc.hcat(A, A)
  local layouts = { { A, B }, { A:t():copy():t(), B }, { A, B:t():copy():t() },
    { wide:slice(1, 9, 8, 14), B }, { A:slice(2, 4), B:column(3) },
    { A:t():copy():t():slice(2, 3), B:slice(1, 7, 2, 2) } }
  for _, pair in ipairs(layouts) do
    local difference = (pair[1] * pair[2] - product(pair[1], pair[2])):abs():max()
    lu.assertTrue(difference <= 7 * 2 ^ -52 * A:norm() * B:norm())
  end
end

function TestArithmetic:test_product_over_more_than_one_tile()
  local A, B = sc.rand { 530, 3, seed = 1 }, sc.rand { 3, 520, seed = 2 }
  lu.assertTrue((A * B - product(A, B)):abs():max() <= 8 * 2 ^ -52)
end

function TestArithmetic:test_products_with_no_numbers()
  lu.assertEquals((sc.zeros(2, 0) * sc.zeros(0, 3)):totable(), { { 0, 0, 0 }, { 0, 0, 0 } })
  lu.assertEquals((sc.zeros(0, 2) * sc.zeros(2, 3)):cols(), 3)
  lu.assertEquals((sc.zeros(3, 2) * sc.zeros(2, 0)):rows(), 3)
end

function TestArithmetic:test_dtype_of_results()
  local single, double = sc.ones(2, 2, { dtype = "float32" }), sc.ones(2, 2)
  lu.assertEquals((single + 1):dtype(), "float32")
  lu.assertEquals((single * single):dtype(), "float32")
  lu.assertEquals((single + double):dtype(), "float64")
  lu.assertEquals((single * double):dtype(), "float64")
  lu.assertEquals(M({ 0.1 }):astype("float32"):get(1, 1), string.unpack("f", string.pack("f", 0.1)))
end

function TestArithmetic:test_errors_name_the_operation_and_both_shapes()
  local A, B = sc.ones(3, 4), sc.ones(5, 2)
  fails("matrix product: 3 x 4 times 5 x 2: inner sizes 4 and 5 differ", function()
    return A * B
  end)
  fails("A + B: 3 x 4 and 5 x 2 have different shapes", function() return A + B end)
  fails("A:dot(B): 3 x 4 and 5 x 2 have different shapes", A.dot, A, B)
  fails("divide by a number", function() return A / B end)
  for _, bad in ipairs { "x", {}, true, print } do
    fails("the right side is " .. type(bad), function() return A + bad end)
    fails("the left side is " .. type(bad), function() return bad * A end)
  end
  fails("matrix:rows: call it with a colon, as in X:rows(...)", A.rows, 3)
  fails("did you mean 'column'?", function() return A:colum(1) end)
  fails("a matrix has no method 'nothing_like_it'", function() return A.nothing_like_it end)
end

function TestArithmetic:test_map_checks_what_the_function_returns()
  local X = M { { 1, 2 }, { 3, 4 } }
  lu.assertEquals(X:map(function(x) return x * x end):totable(), { { 1, 4 }, { 9, 16 } })
  fails("returned nil for row 1, column 1", X.map, X, function() end)
  fails("returned string for row 2, column 1", X.map, X, function(x) return x < 3 and x or "3" end)
  fails("my own", X.map, X, function() error "my own" end)
  fails("map takes a function", X.map, X, 3)
  local Y = X:map(function(x)
    X:set(2, 2, 40)
    return x + X:sum() * 0
  end)
  lu.assertEquals(Y:get(2, 2), 40)
end

function TestArithmetic:test_equality()
  local X = M { { 1, 2 } }
  lu.assertTrue(X == X:astype "float32")
  lu.assertTrue(X == X:t():t():copy())
  lu.assertFalse(X == X:t())
  lu.assertFalse(X == 3)
  lu.assertFalse(M { 0 / 0 } == M { 0 / 0 })
end

TestReductions = {}

function TestReductions:test_axes()
  local X = M { { 1, 5, 3 }, { 4, 2, 6 } }
  lu.assertEquals(X:sum(), 21)
  lu.assertEquals(X:sum(1):totable(), { { 5, 7, 9 } })
  lu.assertEquals(X:sum(2):totable(), { { 9 }, { 12 } })
  lu.assertEquals(X:mean(1):totable(), { { 2.5, 3.5, 4.5 } })
  lu.assertEquals(X:std(1):totable(), { { 1.5, 1.5, 1.5 } })
  lu.assertEquals(X:min(2):totable(), { { 1 }, { 2 } })
  lu.assertEquals(X:max(1):totable(), { { 4, 5, 6 } })
  lu.assertEquals(X:argmax(2):totable(), { { 2 }, { 3 } })
  lu.assertEquals(X:argmax(), 6)
  lu.assertEquals(math.type(X:argmax()), "integer")
  lu.assertEquals(X:t():sum(1):totable(), { { 9, 12 } })
  lu.assertEquals(X:t():argmax(), 6)
  lu.assertEquals(X:dot(X), 91)
end

function TestReductions:test_single_precision_sums_keep_the_digits_of_double()
  local X = sc.zeros(200000, 1, { dtype = "float32" }) + 0.1
  local exact = 200000 * X:get(1, 1)
  lu.assertTrue(math.abs(X:sum() - exact) <= 1e-12 * exact)
  lu.assertTrue(X:std() <= 1e-9)
end

function TestReductions:test_std_of_numbers_far_from_zero()
  lu.assertAlmostEquals((M { 1, 2, 3, 4 } + 1e9):std(), math.sqrt(1.25), 1e-12)
end

function TestReductions:test_norm_does_not_overflow()
  lu.assertAlmostEquals(M({ { 3e200, 4e200 } }):norm() / 5e200, 1, 1e-15)
  lu.assertEquals(sc.zeros(2, 2):norm(), 0)
  lu.assertEquals(M({ 1, math.huge }):norm(), math.huge)
end

function TestReductions:test_nothing_has_a_sum_but_no_mean()
  local none = sc.zeros(0, 3)
  lu.assertEquals(none:sum(), 0)
  lu.assertEquals(none:sum(1):totable(), { { 0, 0, 0 } })
  for _, name in ipairs { "mean", "std", "min", "max", "argmax" } do
    fails(name .. " of a 0 x 3 matrix: there are no numbers", none[name], none)
    fails(name .. " of a 0 x 3 matrix: there are no numbers", none[name], none, 1)
  end
  fails("'axis' got 3; it takes a whole number from 1 to 2", none.sum, none, 3)
  fails("'axis' got \"1\"", none.sum, none, "1")
end

function TestReductions:test_nan_is_found_and_carried()
  local X = M { { 1, 2 }, { 3, 0 / 0 } }
  lu.assertEquals({ X:isfinite() }, { false, 2, 2 })
  lu.assertEquals({ X:slice(1, 1):isfinite() }, { true })
  lu.assertNotEquals(X:max(), X:max())
  lu.assertNotEquals(X:sum(), X:sum())
end

TestEigenvalues = {}

function TestEigenvalues:test_symmetric_ascending()
  local values = M({ { 2, 1 }, { 1, 2 } }):eigvals()
  lu.assertEquals(values:cols(), 1)
  lu.assertAlmostEquals(values[1], 1, 1e-14)
  lu.assertAlmostEquals(values[2], 3, 1e-14)
end

function TestEigenvalues:test_sum_is_the_trace_and_squares_the_norm()
  local A = sc.randn { 20, 20, seed = 1 }
  local S = A + A:t()
  local values, trace = S:eigvals(), 0
  for i = 1, 20 do trace = trace + S:get(i, i) end
  lu.assertAlmostEquals(values:sum(), trace, 1e-11)
  lu.assertAlmostEquals(values:norm(), S:norm(), 1e-11)
end

function TestEigenvalues:test_general_real_and_complex()
  local real = M({ { 1, 5 }, { 0, 2 } }):eigvals()
  lu.assertEquals({ real:cols(), real:min(), real:max() }, { 1, 1, 2 })
  local turn = M({ { 0, 1 }, { -1, 0 } }):eigvals()
  lu.assertEquals(turn:cols(), 2)
  lu.assertEquals(turn:column(2):abs():totable(), { { 1 }, { 1 } })
end

function TestEigenvalues:test_bad_input()
  fails("2 x 3 is not square", sc.ones(2, 3).eigvals, sc.ones(2, 3))
  local X = M { { 1, 2 }, { 0 / 0, 1 } }
  fails("row 2, column 1 is not finite", X.eigvals, X)
  lu.assertEquals(sc.zeros(0, 0):eigvals():rows(), 0)
end

TestDistances = {}

function TestDistances:test_each_pair_term_by_term()
  local X, Y = sc.randn { 300, 3, seed = 1 }, sc.randn { 3, 5, seed = 2, dtype = "float32" }:t()
  local D, E = X:distances(Y), X:distances()
  for i = 1, 300, 7 do
    for j = 1, 5 do lu.assertAlmostEquals(D:get(i, j), (X[i] - Y[j]):norm(), 1e-13) end
    lu.assertAlmostEquals(E:get(i, 290), (X[i] - X[290]):norm(), 1e-13)
    lu.assertEquals(E:get(i, i), 0)
  end
  lu.assertEquals({ D:rows(), D:cols(), D:dtype(), E == E:t() }, { 300, 5, "float64", true })
end

function TestDistances:test_nearly_equal_rows_no_columns_and_no_rows()
  local near = M({ { 1e8, 0 }, { 1e8, 1e-6 } }):distances()
  lu.assertEquals(near:get(1, 2), 1e-6)
  lu.assertEquals(sc.zeros(2, 0):distances():totable(), { { 0, 0 }, { 0, 0 } })
  lu.assertEquals(#sc.zeros(0, 3):distances(), 0)
  lu.assertEquals(sc.ones(4, 3):distances(sc.zeros(0, 3)):cols(), 0)
  fails("rows of 3 and of 2 numbers", sc.ones(1, 3).distances, sc.ones(1, 3), sc.ones(1, 2))
  fails("takes a matrix, and got number", sc.ones(1).distances, sc.ones(1), 3)
end

TestText = {}

function TestText:test_tostring_tells_shape_dtype_and_a_corner()
  local text = tostring(sc.eye(3, { dtype = "float32" }))
  lu.assertStrContains(text, "3 x 3 float32")
  local _, lines = tostring(sc.ones(1000, 1000)):gsub("\n", "\n")
  lu.assertTrue(lines < 10)
  lu.assertStrContains(tostring(sc.ones(1000, 1000)), "...")
  lu.assertEquals(tostring(sc.zeros(3, 0)), "matrix 3 x 0 float64")
end

function TestText:test_every_method_and_function_has_help()
  local help = require "scullery.help.matrix"
  for name in pairs(core.matrix_methods) do lu.assertIsString(help["matrix:" .. name], name) end
  for _, name in ipairs { "matrix", "zeros", "ones", "eye", "rand", "randn", "hcat", "vcat",
    "is_matrix", "permutation" } do
    lu.assertIsString(help[name], name)
  end
end

TestSafety = {}

function TestSafety:test_the_metatable_is_hidden()
  lu.assertFalse(getmetatable(sc.ones(1)))
  lu.assertError(setmetatable, sc.ones(1), {})
end

function TestSafety:test_released_by_hand_is_empty_and_says_so()
  local X = sc.ones(2, 2)
  local view, release = X:t(), debug.getmetatable(X).__gc
  release(X)
  release(X)
  release(io.stdout)
  release(nil)
  fails("this matrix was released", X.rows, X)
  fails("the right side was released", function() return view + X end)
  lu.assertFalse(core.is_matrix(X))
  lu.assertStrContains(tostring(X), "released")
  lu.assertEquals(view:sum(), 4)
end

function TestSafety:test_a_matrix_that_vanishes_in_the_middle_is_an_error()
  local release = debug.getmetatable(sc.ones(1)).__gc
  local X = sc.ones(2, 2)
  fails("was released", X.map, X, function(x)
    release(X)
    return x
  end)
  local Y = sc.ones(2, 2)
  local list = setmetatable({}, {
    __len = function() return 2 end,
    __index = function()
      release(Y)
      return 1
    end,
  })
  fails("'select' got a table with __len", Y.select, Y, list)
  local Z = sc.ones(2, 2)
  local finalizer = setmetatable({}, { __gc = function() release(Z) end })
  lu.assertIsTable(finalizer)
  finalizer = nil -- luacheck: ignore
  local said
  for _ = 1, 40 do
    local ok, message = pcall(function() return Z + sc.zeros(2, 2) end)
    sc.zeros(1000, 1000)
    if not ok then
      said = message
      break
    end
  end
  lu.assertFalse(core.is_matrix(Z))
  lu.assertStrContains(said, "the left side was released")
end

function TestSafety:test_temporaries_are_collected()
  collectgarbage()
  local A = sc.ones(125, 1000)
  local before = core.memory(true)
  for _ = 1, 2000 do
    local _ = A + 1 -- 1 MB
  end
  local _, peak = core.memory()
  lu.assertTrue(peak - before < 100e6, ("2 GB of temporaries held %d bytes at once"):format(
    peak - before))
end

function TestSafety:test_failing_allocations_give_an_error_or_the_right_numbers()
  local A, B = sc.randn { 5, 4, seed = 1 }, sc.randn { 4, 3, seed = 2, dtype = "float32" }
  local function work()
    local C = A:t():copy():t() * B:t():t()
    C[1] = { 1, 2, 3 }
    C[2] = C[1]
    return sc.vcat(C, C:select { 1, 2 }, C:slice(1, 2):astype("float32")):sum(1) + M { { 1, 2, 3 } }
  end
  local expected, count = work(), 0
  local ok
  repeat
    core.fail_allocation_after(count)
    local done, result = pcall(work)
    ok = done
    core.fail_allocation_after(-1)
    if ok then
      lu.assertTrue(result == expected)
    else
      lu.assertStrContains(result, "not enough memory")
    end
    count = count + 1
  until count > 60
  lu.assertTrue(ok)
end

os.exit(lu.LuaUnit.run(), true) -- closing the state lets a leak checker see what is left

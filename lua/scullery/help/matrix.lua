--- What help() says about matrices: a name, as typed, to its text.
local help = {}

-- making

help.matrix = [=[sc.matrix{{1, 2}, {3, 4}[, dtype = "float32"]} -> 2 x 2 matrix; sc.matrix{1, 2, 3}
-> 3 x 1.
Every row needs as many numbers as the first. A matrix comes back as it is (as a copy where another
dtype is asked for).]=]
help.zeros =
  [=[sc.zeros(n[, d[, {dtype = "float64"}]]) -> n x d zeros; d is 1 unless given. Zero rows
or columns are allowed.]=]
help.ones = [=[sc.ones(n[, d[, {dtype = "float64"}]]) -> n x d ones; d is 1 unless given.]=]
help.eye = [=[sc.eye(n[, {dtype = "float64"}]) -> the n x n identity.]=]
help.rand = [=[sc.rand{n, d, seed = 0, dtype = "float64"} -> n x d numbers, uniform on (0, 1).
Row i depends on the seed, i and d alone: more rows leave the first ones as they were, on any
machine and number of threads.]=]
help.randn = [=[sc.randn{n, d, seed = 0, dtype = "float64"} -> n x d numbers from N(0, 1),
  addressed like sc.rand's.]=]
help.hcat =
  [=[sc.hcat(A, B, ...) -> the matrices side by side (
    same number of rows); float64 if any of them is.]=]
help.vcat =
  [=[sc.vcat(A, B, ...) -> the matrices one below the other (
    same number of columns); float64 if any of them is.]=]
help.is_matrix = [=[is_matrix(value) -> whether value is a matrix that holds numbers.]=]
help.permutation =
  [=[permutation(n, seed, stream) -> a list of 1
    .. n in an order that depends on these three alone.]=]

-- shape and entries

help["matrix:rows"] = [=[X:rows() or #X -> number of rows.]=]
help["matrix:cols"] = [=[X:cols() -> number of columns.]=]
help["matrix:dtype"] = [=[X:dtype() -> "float64" or "float32".]=]
help["matrix:bytes"] =
  [=[X:bytes() -> bytes of the storage behind X; a view tells those of the matrix it looks into.]=]
help["matrix:get"] = [=[X:get(i, j) -> the number in row i, column j, both from 1.]=]
help["matrix:set"] =
  [=[X:set(i, j, value) sets one number and returns X. Views of the same storage see it.]=]
help["matrix:row"] = [=[X:row(i) -> row i as a 1 x d view. X[i] is the same, and a number when X
has one column.
X[i] = value sets row i: a list of d numbers, a 1 x d matrix, or a number when X has one column.]=]
help["matrix:column"] = [=[X:column(j) -> column j as an n x 1 view.]=]
help["matrix:slice"] = [=[X:slice(i1, i2[, j1, j2]) -> rows i1 to i2 (and columns j1 to j2),
  both ends included, as a view: writing to it writes to X.]=]
help["matrix:t"] = [=[X:t() -> the transpose, as a view.]=]
help["matrix:select"] = [=[X:select(places) -> a new matrix of these rows in this order; a list
  or n x 1 matrix of row numbers, repeats allowed.]=]
help["matrix:copy"] = [=[X:copy() -> a matrix of its own storage, whatever X is a view of.]=]
help["matrix:astype"] = [=[X:astype("float32") -> a copy in that dtype ("float64" or "float32").]=]
help["matrix:totable"] = [=[X:totable() -> a list of rows, each a list of numbers.]=]
help["matrix:save"] = [=[
X:save("file.npy") writes a NumPy file, X:save("file.csv") comma-separated text without a header;
whole or not at all. Other names are refused.]=]
help["matrix:isfinite"] =
  [=[X:isfinite() -> true, or false, row, column of the first number that is NaN or infinite.]=]

-- arithmetic

help["matrix:mul"] = [=[A:mul(B) -> products of entries, same shape (B may be a number). A * B is
the matrix product, A * s and s * A scale.
float32 with float32 or a number stays float32; float32 with float64 gives float64. The same for +
- /.]=]
help["matrix:div"] =
  [=[A:div(B) -> quotients of entries, same shape (B may be a number). A / s divides by a number.]=]
help["matrix:dot"] = [=[A:dot(B) -> the sum of the products of entries, added in float64,
  pairwise over the rows; same shape.]=]
help["matrix:map"] = [=[X:map(f) -> a matrix of f(x) for every entry x,
  of X's dtype; f must return a number.]=]
help["matrix:abs"] = [=[X:abs() -> absolute values.]=]
help["matrix:=="] =
  [=[A == B -> same shape and values,
    whatever the dtypes; NaN equals nothing (but X == X is true: Lua does not look inside).]=]

-- reductions; axis 1: down the rows, 1 x d; axis 2: along each row, n x 1; none: one number

help["matrix:sum"] = [=[X:sum([axis]) -> sums in float64, added pairwise. axis 1: 1 x d,
  down the rows; 2: n x 1, one a row; none: one number. Of nothing: 0.]=]
help["matrix:mean"] =
  [=[X:mean([axis]) -> means in float64; axis as in X:sum. Of nothing: an error.]=]
help["matrix:std"] =
  [=[X:std([axis]) -> standard deviations,
    divided by n (not n - 1); axis as in X:sum. Of nothing: an error.]=]
help["matrix:min"] =
  [=[X:min([axis]) -> least numbers (
    NaN where there is one); axis as in X:sum. Of nothing: an error.]=]
help["matrix:max"] =
  [=[X:max([axis]) -> greatest numbers (
    NaN where there is one); axis as in X:sum. Of nothing: an error.]=]
help["matrix:argmax"] = [=[X:argmax([axis]) -> the place (from 1) of the greatest number, the first
of equals; axis as in X:sum.
Without an axis: the place counted row by row. A NaN that is not in the first place is passed
over.]=]
help["matrix:norm"] = [=[X:norm() -> the Frobenius norm, without overflow of the squares.]=]
help["matrix:eigvals"] = [=[X:eigvals() -> eigenvalues of a square matrix (LAPACK). Symmetric to
the last bit: n x 1, ascending.
Otherwise n x 1 when all are real, else n x 2 with real and imaginary parts, in LAPACK's order.]=]

return help

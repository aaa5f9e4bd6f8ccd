--- The help texts for matrices: topic name -> text.
local help = {}

-- making

help.matrix = [=[
sc.matrix{{1, 2}, {3, 4}[, dtype = "float64"]}: a matrix from a list of rows, here 2 x 2. A list
of numbers gives one column: sc.matrix{1, 2, 3} is 3 x 1. All rows need the same length. A matrix is
returned as it is, or as a copy if another dtype is asked for.]=]
help["matrix.csr"] = [=[
sc.matrix.csr{ rows =, columns =, starts =, indices =, values =[, base = 0][, dtype = "float64"]}: a
sparse matrix from compressed sparse rows, as scipy's csr_matrix has them. Row i has values[k] in
column indices[k] for k = starts[i] .. starts[i + 1] - 1. Each of starts (rows + 1 numbers), indices
and values is a list or a matrix of one column or row. base: what starts and indices count from, 0
or 1. Columns ascend in a row, and every number is finite. rows may be left out. sc.matrix.csr(X[, {
dtype = }]): the numbers of a matrix that are not 0. A sparse matrix cannot be changed; X.sparse is
true for it, and false for other matrices.]=]
help.zeros = [=[
sc.zeros(n[, d = 1[, {dtype = "float64"}]]): an n x d matrix of zeros. n and d may be 0.]=]
help.ones = [=[sc.ones(n[, d = 1[, {dtype = "float64"}]]): an n x d matrix of ones.]=]
help.eye = [=[sc.eye(n[, {dtype = "float64"}]): the n x n identity matrix.]=]
help.rand = [=[
sc.rand{n, d, seed = 0, dtype = "float64"}: an n x d matrix of random numbers, uniform on (0, 1).
Row i depends only on the seed, i and d: a larger n leaves the first rows as they are. The numbers
are the same on every machine and for any number of threads.]=]
help.randn = [=[
sc.randn{n, d, seed = 0, dtype = "float64"}: an n x d matrix of random numbers from N(0, 1). Row i
depends only on the seed, i and d, as in sc.rand.]=]
help.hcat = [=[
sc.hcat(A, B, ...): the matrices side by side. They need the same number of rows. float64 if one
of them is float64, sparse if one of them is sparse.]=]
help.vcat = [=[
sc.vcat(A, B, ...): the matrices one below the other. They need the same number of columns. float64
if one of them is float64.]=]
help.is_matrix = [=[is_matrix(value): whether the value is a matrix that holds numbers.]=]
help.permutation = [=[
permutation(n, seed, stream): a list of 1 .. n in random order, which depends on these three
alone.]=]

-- shape and entries

help["matrix:rows"] = [=[X:rows() or #X: the number of rows.]=]
help["matrix:cols"] = [=[X:cols() or #X[i]: the number of columns.]=]
help["matrix:dtype"] = [=[X:dtype(): "float64" or "float32".]=]
help["matrix:bytes"] = [=[
X:bytes(): the bytes of the storage behind X. For a view, the storage of the whole matrix.]=]
help["matrix:get"] = [=[X:get(i, j): the number in row i and column j, both from 1.]=]
help["matrix:set"] = [=[
X:set(i, j, value): sets one number and returns X. Views of the same storage change too.]=]
help["matrix:row"] = [=[
X:row(i): row i as a 1 x d view. X[i] is the same, or a number if X has one column; X[i][j] is the
number in row i and column j, as X:get(i, j). X[i] = value sets row i: a list of d numbers, a 1 x d
matrix, or a number if X has one column; X[i][j] = value sets a number.]=]
help["matrix:column"] = [=[X:column(j): column j as an n x 1 view.]=]
help["matrix:slice"] = [=[
X:slice(i1, i2[, j1, j2]): rows i1 to i2 (and columns j1 to j2), both ends included, as a view:
writing to it writes to X.]=]
help["matrix:t"] = [=[X:t(): the transpose, as a view.]=]
help["matrix:select"] = [=[
X:select(places): a new matrix of the rows with these numbers, in this order. places: a list or an
n x 1 matrix; repeats are allowed.]=]
help["matrix:sparse"] = [=[X.sparse: false; true for a sparse matrix (sc.matrix.csr).]=]
help["matrix:dense"] = [=[
X:dense(): X itself; a sparse matrix becomes a matrix with its zeros.]=]
help["matrix:copy"] = [=[X:copy(): a matrix with its own storage, also if X is a view.]=]
help["matrix:astype"] = [=[X:astype(dtype): a copy as "float64" or "float32".]=]
help["matrix:totable"] = [=[X:totable(): a list of rows, each a list of numbers.]=]
help["matrix:save"] = [=[
X:save(path): writes a NumPy file (a path in .npy; .npz: as its array X) or comma-separated text
without a header (.csv), whole or not at all. Other names are refused.]=]
help["matrix:isfinite"] = [=[
X:isfinite(): true; or false and the row and column of the first number that is NaN or infinite.]=]

-- arithmetic

help["matrix:mul"] = [=[
A:mul(B): the products of entries; B has the same shape or is a number. A * B is the matrix
product; A * s and s * A scale. Two float32 matrices, or one and a number, give float32; float32
with float64 gives float64. This holds for + - / too.]=]
help["matrix:div"] = [=[
A:div(B): the quotients of entries; B has the same shape or is a number. A / s divides by a
number.]=]
help["matrix:dot"] = [=[
A:dot(B): the sum of the products of entries, added pairwise in float64. B has the same shape.]=]
help["matrix:map"] = [=[
X:map(f): the matrix of f(x) for every entry x, in X's dtype. f must return a number.]=]
help["matrix:abs"] = [=[X:abs(): the absolute values of the entries.]=]
help["matrix:=="] = [=[
A == B: whether shapes and values are equal, also of different dtypes. NaN equals nothing, but
X == X is true, as Lua does not compare an object with itself.]=]

-- reductions; axis 1: down the rows, 1 x d; axis 2: along each row, n x 1; none: one number

help["matrix:sum"] = [=[
X:sum([axis]): sums, added pairwise in float64. axis = 1: of each column, 1 x d; axis = 2: of each
row, n x 1; without an axis: of all entries, a number. The sum of no entries is 0.]=]
help["matrix:mean"] = [=[
X:mean([axis]): means in float64; axis as in X:sum. The mean of no entries is an error.]=]
help["matrix:std"] = [=[
X:std([axis]): standard deviations, with divisor n; axis as in X:sum. That of no entries is an
error.]=]
help["matrix:min"] = [=[
X:min([axis]): the smallest numbers (NaN if one is NaN); axis as in X:sum. That of no entries is an
error.]=]
help["matrix:max"] = [=[
X:max([axis]): the largest numbers (NaN if one is NaN); axis as in X:sum. That of no entries is an
error.]=]
help["matrix:argmax"] = [=[
X:argmax([axis]): the position (from 1) of the largest number, of equal ones the first; axis as in
X:sum. Without an axis, positions are counted row by row. A NaN is never the largest, unless it
comes first.]=]
help["matrix:norm"] = [=[
X:norm(): the Frobenius norm, computed so that squares do not overflow.]=]
help["matrix:distances"] = [=[
X:distances([Y]): the Euclidean distances between the rows of X and those of Y (by default X), one
row for each row of X, in float64. From products of rows, but term by term where those cancel, so
that nearly equal rows have theirs to full accuracy; inf where the square is above 1e308.]=]
help["matrix:eigvals"] = [=[
X:eigvals(): the eigenvalues of a square matrix, by LAPACK. Of a matrix that is symmetric to the
last bit: n x 1, ascending. Of others: n x 1 if all are real, else n x 2 with real and imaginary
parts, in LAPACK's order.]=]

-- sparse matrices

help["sparse:rows"] = help["matrix:rows"]
help["sparse:cols"] = help["matrix:cols"]
help["sparse:dtype"] = help["matrix:dtype"]
help["sparse:bytes"] = [=[X:bytes(): the bytes of the storage behind X, also if X is a view.]=]
help["sparse:nnz"] = [=[X:nnz(): how many numbers are stored.]=]
help["sparse:sparse"] = [=[X.sparse: true; false for other matrices.]=]
help["sparse:isfinite"] = help["matrix:isfinite"]
help["sparse:get"] = help["matrix:get"]
help["sparse:row"] = [=[
X:row(i): row i as a sparse 1 x d view. X[i] is the same, or a number if X has one column.]=]
help["sparse:column"] = [=[X:column(j): column j as an n x 1 matrix, not sparse.]=]
help["sparse:slice"] = [=[
X:slice(i1, i2[, j1, j2]): rows i1 to i2, both ends included, as a view; with columns j1 to j2 as a
copy.]=]
help["sparse:select"] = [=[
X:select(places): a new sparse matrix of the rows with these numbers, in this order. places: a list
or an n x 1 matrix; repeats are allowed.]=]
help["sparse:dense"] = [=[
X:dense([dtype]): a matrix of all numbers, with the zeros. Where the memory for it is not there, an
error says how many bytes it takes.]=]
help["sparse:copy"] = [=[X:copy(): a sparse matrix with its own storage, also if X is a view.]=]
help["sparse:astype"] = help["matrix:astype"]
help["sparse:arrays"] = [=[
X:arrays(): { rows, columns, starts, indices, values }, which sc.matrix.csr takes back: three n x 1
matrices; starts and indices count from 0.]=]
help["sparse:save"] = [=[
X:save(path): writes a file in .npz as scipy.sparse.save_npz does, whole or not at all.]=]
help["sparse:sum"] = help["matrix:sum"]
help["sparse:mean"] = help["matrix:mean"]
help["sparse:min"] = help["matrix:min"]
help["sparse:max"] = help["matrix:max"]
help["sparse:counts"] = [=[
X:counts(axis): how many numbers are stored, 1: in each column, 1 x d; 2: in each row, n x 1.]=]
help["sparse:norm"] = help["matrix:norm"]

-- texts

help["texts"] = [=[
sc.texts(list): the texts of a list, packed in memory: the rows of a data set of texts (ds.X), for a
pipeline that begins with sc.text{}. t[i] is text i, #t their number. They cannot be changed.]=]
help["texts:rows"] = [=[t:rows(): the number of texts. #t is the same.]=]
help["texts:cols"] = [=[t:cols(): 1, as texts are one column.]=]
help["texts:bytes"] = [=[t:bytes(): the bytes of all texts.]=]
help["texts:slice"] = [=[t:slice(i1, i2): texts i1 to i2, both ends included, as a view.]=]
help["texts:select"] = [=[
t:select(places): new texts with these numbers, in this order. places: a list or an n x 1 matrix;
repeats are allowed.]=]
help["texts:totable"] = [=[t:totable(): a list of the texts, as Lua has them.]=]
help["texts:sparse"] = [=[t.sparse: false.]=]

return help

--- Matrix Market files: every kind of them, and what is wrong in one.
-- luacheck: globals TestKinds TestErrors
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local reading = require "reading"
local support = require "support"

local file, refuses = reading.file, reading.refuses

local function read(text, o) return sc.data.matrix_market(file(text), o) end

TestKinds = {}

function TestKinds.test_coordinate()
  local text = "%%MatrixMarket matrix coordinate real general\n% a comment\n\n3 4 5\n1 1 1.5\n\z
    3 2 -2e-3\r\n 2\t4 7 \n%another\n1 3 0\n1 2 2"
  for _, sparse in ipairs{ true, false } do
    for _, dtype in ipairs{ "float64", "float32" } do
      local X = read(text, { sparse = sparse, dtype = dtype })
      lu.assertEquals(X.sparse, sparse)
      lu.assertTrue(X == sc.matrix({ { 1.5, 2, 0, 0 }, { 0, 0, 0, 7 }, { 0, -2e-3, 0, 0 } },
        { dtype = dtype }))
      lu.assertEquals(X:dtype(), dtype)
    end
  end
  lu.assertEquals(read(text, { sparse = true }):nnz(), 4)
  lu.assertFalse(read(text).sparse)
  local wide = read "%%MatrixMarket matrix coordinate integer general\n2 2147483648 1\n\z
    2 2147483648 9\n"
  lu.assertTrue(wide.sparse)
  lu.assertEquals({ wide:cols(), wide:get(2, 2147483648) }, { 2147483648, 9 })
end

function TestKinds.test_symmetry_and_patterns()
  local entries = "\n3 3 3\n2 1 5\n3 2 -1\n%s\n"
  local head = "%%%%MatrixMarket matrix coordinate integer %s"
  lu.assertTrue(read((head .. entries):format("symmetric", "3 3 4"))
    == sc.matrix{ { 0, 5, 0 }, { 5, 0, -1 }, { 0, -1, 4 } })
  lu.assertTrue(read((head .. entries):format("Skew-Symmetric", "3 1 2"))
    == sc.matrix{ { 0, -5, -2 }, { 5, 0, 1 }, { 2, -1, 0 } })
  lu.assertTrue(read "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 1\n"
    == sc.matrix{ { 0, 0, 1 }, { 1, 0, 0 } })
end

function TestKinds.test_arrays()
  lu.assertTrue(read "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6.5\n"
    == sc.matrix{ { 1, 3, 5 }, { 2, 4, 6.5 } })
  lu.assertTrue(read "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n"
    == sc.matrix{ { 1, 2 }, { 2, 3 } })
  lu.assertTrue(read "%%MatrixMarket matrix array real skew-symmetric\n2 2\n2\n"
    == sc.matrix{ { 0, -2 }, { 2, 0 } })
end

function TestKinds.test_targets_and_gzip()
  local X = file "%%MatrixMarket matrix coordinate real general\n3 40 2\n1 1 1\n3 40 2\n"
  local y = file "%%MatrixMarket matrix array real general\n3 1\n0.5\n2\n7\n"
  assert(os.execute(("gzip -nk '%s'"):format(X)))
  local ds = sc.data.matrix_market(X .. ".gz", { y = y, task = "regression" })
  os.remove(X .. ".gz")
  lu.assertEquals(tostring(ds), "dataset 3 x 40, regression, sparse")
  lu.assertEquals(ds:labels(), { 0.5, 2, 7 })
  refuses({ "option 'y'" }, sc.data.matrix_market, X, { task = "regression" })
end

-- Files of scipy.io.mmwrite, where scipy is there.
function TestKinds.test_scipy()
  local python
  for _, name in ipairs{ "python3", "/usr/bin/python3" } do
    if support.shell(name .. " -c 'import scipy.io'") == 0 then python = name end
  end
  lu.skipIf(not python, "there is no Python with scipy")
  support.in_folder(function(folder)
    local path = support.write(folder .. "/a.py", [[
import sys, numpy as np, scipy.sparse as sp, scipy.io
d = sys.argv[1]
X = sp.random(50, 20, 0.2, random_state=1)
scipy.io.mmwrite(d + "/a.mtx", X)
np.save(d + "/a.npy", X.toarray())
Y = sp.random(20, 20, 0.2, random_state=1)
Y = Y + Y.T
scipy.io.mmwrite(d + "/b.mtx", Y)
np.save(d + "/b.npy", Y.toarray())
Z = np.random.default_rng(1).normal(size=(7, 3))
scipy.io.mmwrite(d + "/c.mtx", Z, precision=17)
np.save(d + "/c.npy", Z)
]])
    lu.assertEquals(support.shell(("%s %s %s"):format(python, path, folder)), 0)
    for _, name in ipairs{ "a", "b", "c" } do
      local X = sc.data.matrix_market(("%s/%s.mtx"):format(folder, name))
      local Y = sc.data.npy(("%s/%s.npy"):format(folder, name))
      lu.assertTrue((X:dense() - Y):abs():max() < 1e-15)
    end
  end)
end

TestErrors = {}

function TestErrors.test_sentences()
  local function bad(words, text, o)
    words[#words + 1] = "data.matrix_market: "
    refuses(words, read, text, o)
  end
  local head = "%%MatrixMarket matrix coordinate real general\n"
  bad({ "not a Matrix Market file" }, "1 1 1\n")
  bad({ "not a Matrix Market file" }, "")
  bad({ "line 1", "complex", "real, integer or pattern" },
    "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n")
  bad({ "line 1", "hermitian" }, "%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n")
  bad({ "line 1", "vector" }, "%%MatrixMarket vector coordinate real general\n1 1 0\n")
  bad({ "ends before its sizes" }, head)
  bad({ "line 2, column 5", "number of entries" }, head .. "2 2 x\n")
  bad({ "line 2", "number of columns from 0 to 2147483648" }, head .. "2 2147483649 1\n")
  bad({ "line 2 ends before its number of entries" }, head .. "2 2\n")
  bad({ "line 3, column 1: '3' is not a row from 1 to 2" }, head .. "2 2 1\n3 1 1\n")
  bad({ "line 3, column 1: '0' is not a row" }, head .. "2 2 1\n0 1 1\n")
  bad({ "line 4, column 3: '1.5' is not a column" }, head .. "2 2 2\n1 1 1\n2 1.5 1\n")
  bad({ "line 3, column 5: 'x' is not a number" }, head .. "2 2 1\n1 1 x\n")
  bad({ "line 3, column 5: 'nan' is not finite" }, head .. "2 2 1\n1 1 nan\n")
  bad({ "'1e300' is too large for float32" }, head .. "2 2 1\n1 1 1e300\n", { dtype = "float32" })
  bad({ "line 3 ends before its number" }, head .. "2 2 1\n1 1\n")
  bad({ "line 3, column 7: '4' is more" }, head .. "2 2 1\n1 1 1 4\n")
  bad({ "ends after 1 of the 2 numbers" }, head .. "2 2 2\n1 1 1\n")
  bad({ "ends after 0 of the 1000000000000 numbers" }, head .. "2 2 1000000000000\n1 1 1\n")
  bad({ "line 4: the file goes on after its 1 numbers" }, head .. "2 2 1\n1 1 1\n2 2 1\n")
  bad({ "row 1 has column 1 twice" }, head .. "2 2 2\n1 1 1\n1 1 2\n")
  bad({ "2 x 3 is not a symmetric" }, "%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n")
  bad({ "line 2", "zero byte" }, head .. "\0")
  bad({ "line 3 ends before its row" }, head .. "2 2 1\n# 1 1 1\n")
  refuses({ "data.matrix_market", "sprase" }, read, head, { sprase = true })
end

os.exit(lu.LuaUnit.run())

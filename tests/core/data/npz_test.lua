--- .npz files: written ones read back, those of scipy and NumPy where these are installed, and what
--- is damaged.
-- luacheck: globals TestRoundTrips TestOfNumpy TestErrors
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local reading = require "reading"
local support = require "support"

local refuses = reading.refuses

-- Sparse rows with an empty first and last row and column.
local function sparse(n, d, seed)
  local U, X = sc.rand{ n, d, seed = seed }, sc.zeros(n, d)
  for i = 2, n - 1 do
    for j = 2, d - 1 do if U:get(i, j) < 0.3 then X:set(i, j, U:get(i, j) - 0.1) end end
  end
  return sc.matrix.csr(X)
end

TestRoundTrips = {}

function TestRoundTrips.test_matrices()
  support.in_folder(function(folder)
    local path = folder .. "/x.npz"
    for _, dtype in ipairs{ "float64", "float32" } do
      local X = sparse(40, 9, 3):astype(dtype)
      X:save(path)
      local read = sc.data.npz(path)
      lu.assertTrue(read.sparse and read == X)
      lu.assertEquals({ read:dtype(), read:nnz() }, { dtype, X:nnz() })
      X:slice(5, 20):save(path)
      lu.assertTrue(sc.data.npz(path) == X:slice(5, 20))
      local D = X:dense()
      D:save(path)
      lu.assertTrue(sc.data.npz(path) == D)
      lu.assertFalse(sc.data.npz(path).sparse)
      D:t():save(path)
      lu.assertTrue(sc.data.npz(path) == D:t())
    end
    local wide = sc.matrix.csr{ columns = 2 ^ 31, starts = { 0, 1, 1 }, indices = { 2 ^ 31 - 1 },
      values = { 7 } }
    wide:save(path)
    lu.assertTrue(sc.data.npz(path) == wide)
    local none = sc.matrix.csr{ columns = 3, starts = { 0 }, indices = {}, values = {} }
    none:save(path)
    lu.assertTrue(sc.data.npz(path) == none)
    lu.assertEquals(sc.data.npz(path, { X = "indptr" }):totable(), { { 0 } })
  end)
end

function TestRoundTrips.test_data_sets()
  support.in_folder(function(folder)
    local path = folder .. "/x.npz"
    for _, y in ipairs{ { "b", "ä€𝄞", "b", "a", "a" }, { 3, 1, 3, 3, 1 }, { 0.5, 1, 2, 3, 9 } } do
      for _, X in ipairs{ sparse(5, 4, 1), sparse(5, 4, 1):dense() } do
        local ds = sc.dataset{ X = X, y = y }
        ds:save(path)
        local read = sc.data.npz(path)
        lu.assertEquals(tostring(read), tostring(ds))
        lu.assertTrue(read.X == ds.X)
        lu.assertEquals(read:labels(), ds:labels())
        lu.assertEquals(read.X.sparse, X.sparse)
        lu.assertTrue(sc.data.npz(path, { y = "y" }).y == ds.y)
      end
    end
    sc.dataset{ X = sparse(5, 4, 1) }:save(path)
    lu.assertTrue(core.is_sparse(sc.data.npz(path)))
  end)
end

function TestRoundTrips.test_libsvm()
  support.in_folder(function(folder)
    local path = folder .. "/x.libsvm"
    local X = sparse(300, 40, 5)
    local y = {}
    for i = 1, 300 do y[i] = i % 3 end
    for _, rows in ipairs{ X, X:dense(), X:astype "float32" } do
      sc.dataset{ X = rows, y = y, task = "classification" }:save(path)
      local o = { features = 40, sparse = true, task = "classification", dtype = rows:dtype() }
      local read = sc.data.libsvm(path, o)
      lu.assertTrue(read.X == rows)
      lu.assertEquals(read:labels(), y)
    end
    local large = sc.vcat(X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X) -- several pieces
    local z = sc.randn{ large:rows(), 1, seed = 3 }
    sc.dataset{ X = large, y = z, task = "regression" }:save(path)
    local read = sc.data.libsvm(path, { features = 40, sparse = true, task = "regression" })
    lu.assertTrue(read.X == large and read.y == z)
    refuses({ "dataset:save", "relabel", '"a"' }, function()
      sc.dataset{ X = X:slice(1, 2), y = { "a", "b" } }:save(path)
    end)
    refuses({ "dataset:save", "no y" }, function() sc.dataset{ X = X }:save(path) end)
    refuses({ "dataset:save", ".npz, .libsvm or .svm" }, function()
      sc.dataset{ X = X }:save(folder .. "/x.csv")
    end)
    refuses({ "sparse:save", ".npz" }, function() X:save(folder .. "/x.npy") end)
  end)
end

-- ------------ scipy and NumPy

TestOfNumpy = {}

-- A Python with scipy; the test is skipped without one.
local function python(program)
  for _, name in ipairs{ "python3", "/usr/bin/python3" } do
    if support.shell(name .. " -c 'import scipy.sparse'") == 0 then
      local path = support.write(nil,
        "import sys, numpy as np, scipy.sparse as sp\nd = sys.argv[1]\n" .. program)
      return function(folder)
        local status, out, err = support.shell(("%s %s %s"):format(name, path, folder))
        os.remove(path)
        lu.assertEquals({ status, err }, { 0, "" })
        return out
      end
    end
  end
  lu.skip("there is no Python with scipy")
end

function TestOfNumpy.test_scipy_writes_what_is_read()
  local run = python[[
rng = np.random.default_rng(1)
for k, kind in enumerate(["csr", "csc", "coo"]):
  for c in [True, False]:
    for t in ["f8", "f4", "i4", "u1", "?", ">f8", "i8"]:
      X = sp.random(60, 17, 0.2, random_state=k, format=kind)
      X.data = np.ceil(X.data * 9).astype(t)
      name = "%s/%s-%d-%s" % (d, kind, c, t.strip("?>") + ("b" if t[0] in "?>" else ""))
      sp.save_npz(name + ".npz", X, c)
      np.savetxt(name + ".csv", X.toarray(), delimiter=",")
X = sp.random(30, 8, 0.4, random_state=3, format="csr")
X.indices[:] = X.indices.copy()
for i in range(30):
  s = slice(X.indptr[i], X.indptr[i + 1])
  X.indices[s], X.data[s] = X.indices[s][::-1].copy(), X.data[s][::-1].copy()
sp.save_npz(d + "/unsorted.npz", X)
np.save(d + "/unsorted.npy", X.toarray())
]]
  support.in_folder(function(folder)
    run(folder)
    for _, kind in ipairs{ "csr", "csc", "coo" } do
      for c = 0, 1 do
        for _, t in ipairs{ "f8", "f4", "i4", "u1", "b", "f8b", "i8" } do
          local name = ("%s/%s-%d-%s"):format(folder, kind, c, t)
          local X = sc.data.npz(name .. ".npz")
          local D = core.read_csv(name .. ".csv", { header = false, target = false }).X
          lu.assertTrue(X.sparse and X:nnz() > 100)
          lu.assertTrue(X == D, name)
          lu.assertEquals(X:dtype(), t == "f4" and "float32" or "float64")
        end
      end
    end
    lu.assertTrue(sc.data.npz(folder .. "/unsorted.npz") == sc.data.npy(folder .. "/unsorted.npy"))
  end)
end

function TestOfNumpy.test_scipy_and_numpy_read_what_is_written()
  local run = python[[
X = sp.load_npz(d + "/s.npz")
Y = np.load(d + "/y.npy")
assert X.format == "csr" and X.shape == Y.shape and X.has_canonical_format, X
assert X.indices.dtype == np.int32 and X.indptr.dtype == np.int32 and X.data.dtype == np.float64
assert (X.toarray() == Y).all()
f = np.load(d + "/s.npz")
assert list(f["y"]) == ["b", "\u00e4\u20ac\U0001d11e", "b", "a", "a"], f["y"]
f = np.load(d + "/d.npz")
assert (f["X"] == Y.astype("f4")).all() and f["X"].dtype == np.float32 and f["y"].shape == (5,)
X = sp.load_npz(d + "/w.npz")
assert X.shape == (2, 2**31) and X[1, 2**31 - 1] == 7
assert sp.load_npz(d + "/none.npz").shape == (0, 3)
print("fine")
]]
  support.in_folder(function(folder)
    local X = sparse(5, 6, 2)
    X:dense():save(folder .. "/y.npy")
    sc.dataset{ X = X, y = { "b", "ä€𝄞", "b", "a", "a" } }:save(folder .. "/s.npz")
    sc.dataset{ X = X:dense "float32", y = { 0.5, 1, 2, 3, 9 } }:save(folder .. "/d.npz")
    sc.matrix.csr{ columns = 2 ^ 31, starts = { 0, 0, 1 }, indices = { 2 ^ 31 - 1 },
      values = { 7 } }:save(folder .. "/w.npz")
    sc.matrix.csr{ columns = 3, starts = { 0 }, indices = {}, values = {} }:save(folder
      .. "/none.npz")
    lu.assertEquals(run(folder), "fine\n")
  end)
end

function TestOfNumpy.test_arrays_of_numpy()
  local run = python[[
np.savez(d + "/a.npz", X_train=np.arange(12.).reshape(4, 3).T, labels=np.array(["x", "yy", "x"]),
  more=np.array([b"q", b"r", b"q"]), big=np.arange(6, dtype=">i4"))
np.savez_compressed(d + "/b.npz", X=np.eye(50), y=np.arange(50) % 2)
np.savez(d + "/c.npz", X=np.zeros((2, 2, 2)), y=np.array([1j, 2]))
sp.save_npz(d + "/bsr.npz", sp.eye(4).tobsr())
X = sp.eye(3, format="csr")
X.data[1] = np.nan
sp.save_npz(d + "/nan.npz", X)
sp.save_npz(d + "/twice.npz", sp.coo_matrix(([1., 2.], ([1, 1], [0, 0]))))
]]
  support.in_folder(function(folder)
    run(folder)
    local path = folder .. "/a.npz"
    local all = sc.data.npz(path)
    lu.assertEquals(all.X_train:totable(), { { 0, 3, 6, 9 }, { 1, 4, 7, 10 }, { 2, 5, 8, 11 } })
    lu.assertEquals({ all.labels, all.more }, { { "x", "yy", "x" }, { "q", "r", "q" } })
    lu.assertEquals(all.big:t():totable(), { { 0, 1, 2, 3, 4, 5 } })
    local ds = sc.data.npz(path, { X = "X_train", y = "labels", dtype = "float32" })
    lu.assertEquals(ds:labels(), { "x", "yy", "x" })
    lu.assertEquals(ds.X:dtype(), "float32")
    refuses({ "no array 'X_trian' (did you mean 'X_train'?)" }, sc.data.npz, path,
      { X = "X_trian" })
    refuses({ "'labels' holds texts" }, sc.data.npz, path, { X = "labels" })
    refuses({ "option 'X' names the array of rows" }, sc.data.npz, path, { y = "labels" })
    refuses({ "unknown option 'z'" }, sc.data.npz, path, { z = 1 })
    ds = sc.data.npz(folder .. "/b.npz", { task = "classification" })
    lu.assertTrue(ds.X == sc.eye(50))
    refuses({ "array 'X'", "3 dimensions" }, sc.data.npz, folder .. "/c.npz")
    refuses({ "format 'bsr'", "tocsr" }, sc.data.npz, folder .. "/bsr.npz")
    refuses({ "nan.npz", "row 2, column 2 is NaN" }, sc.data.npz, folder .. "/nan.npz")
    refuses({ "twice.npz", "row 2 has column 1 twice" }, sc.data.npz, folder .. "/twice.npz")
  end)
end

-- ------------ damaged files

TestErrors = {}

function TestErrors.test_what_is_no_zip_file()
  refuses({ "data.npz", "not a zip file" }, sc.data.npz, reading.file "hello")
  refuses({ "not a zip file" }, sc.data.npz, reading.file "")
  refuses({ "data.npz", "a path" }, sc.data.npz, 5)
  refuses({ "/nowhere.npz" }, sc.data.npz, "/nowhere.npz")
end

-- A file that is cut at any place, or of which a byte differs, is refused or has the same numbers.
function TestErrors.test_cut_and_changed_files()
  support.in_folder(function(folder)
    local path = folder .. "/x.npz"
    local X = sparse(6, 5, 1)
    X:save(path)
    local bytes, refused = support.read(path), 0
    for at = 0, #bytes - 1 do
      support.write(path, bytes:sub(1, at))
      refuses({ "x.npz" }, sc.data.npz, path)
    end
    for at = 1, #bytes do
      support.write(path, bytes:sub(1, at - 1) .. string.char(bytes:byte(at) ~ 0x11)
        .. bytes:sub(at + 1))
      local ok, read = pcall(sc.data.npz, path)
      if not ok then
        lu.assertStrContains(read, "x.npz")
        refused = refused + 1
      elseif core.is_sparse(read) then
        lu.assertTrue(read == X)
      end
    end
    lu.assertTrue(refused > #bytes / 3)
  end)
end

os.exit(lu.LuaUnit.run())
